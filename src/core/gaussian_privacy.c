#include "core/gaussian_privacy.h"

#include "core/elementary.h"

/* The orders that are tried: all up to the first, then multiples of it up to the second. */
enum { ALL_ORDERS = 64, MOST_ORDER = 4096 };

/* Returns e(a). */
static double whole(double noise, double order)
{
    return 2.0 * order / (noise * noise);
}

/* Returns log(exp(a) + exp(b)). */
static double add_logs(double a, double b)
{
    double larger = fmax(a, b);
    return larger + saddle_log(1.0 + saddle_exp(fmin(a, b) - larger));
}

double saddle_gaussian_divergence(double noise, double share, unsigned order)
{
    double most = whole(noise, order);
    if (share >= 1.0)
        return most;
    double two = whole(noise, 2.0);
    double step = saddle_log(share);
    /* The logarithm of q^j C(a, j), here for j = 2. */
    double term = 2.0 * step + saddle_log(0.5 * order * (order - 1.0));
    double least = fmin(
        saddle_log(4.0) + (two < 1e-8 ? saddle_log(two) + two : saddle_log(saddle_exp(two) - 1.0)),
        saddle_log(2.0) + two);
    double sum = add_logs(0.0, term + least);
    for (unsigned j = 3; j <= order; j++) {
        term += step + saddle_log((order - j + 1.0) / j);
        sum = add_logs(sum, saddle_log(2.0) + term + (j - 1.0) * whole(noise, j));
    }
    return fmin(most, sum / (order - 1.0));
}

double saddle_gaussian_epsilon(double noise, double share, double count, double delta)
{
    double best = INFINITY;
    if (!(noise > 0.0))
        return best;
    for (unsigned a = 2; a <= MOST_ORDER; a += a < ALL_ORDERS ? 1 : ALL_ORDERS) {
        double order = a;
        double epsilon = count * saddle_gaussian_divergence(noise, share, a) +
                         saddle_log((order - 1.0) / order) -
                         (saddle_log(delta) + saddle_log(order)) / (order - 1.0);
        best = fmin(best, epsilon);
    }
    return fmax(best, 0.0);
}
