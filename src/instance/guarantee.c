#include "instance/guarantee.h"

#include <math.h>

/* The unknowns: sums over t < T, with the names of docs/theory.md. */
enum { U, G, X, Y, S, V, R, M, A, SUMS };
/* The sources that bound them: the right-hand sides. */
enum { VALUE = SUMS, Y_GAP, TRACKERS, REFRESH, LEVEL, WIDTH };

/* Fills in I - K and b. Returns false if nu is too large for (1). */
static bool fill(const saddle_guarantee_inputs *in, double a[SUMS][WIDTH], double *of_D)
{
    double L = in->lipschitz;
    double L2 = L * L;
    double mu = in->strong_concavity;
    double m = in->agents;
    double nu = in->nu;
    double eta = in->eta;
    double alpha = in->alpha;
    double gap = 1.0 - in->lambda;
    double beta = in->tau / 4.0;
    double theta = eta * alpha * mu;
    double root = sqrt(in->batch);
    double spread = (1.0 + 1.0 / root) * (1.0 + 1.0 / root);
    double reach = 2.0 * (1.0 + in->lambda) * (1.0 + in->lambda);
    double of_W = nu * in->tau / (2.0 * m);
    *of_D = nu * (in->tau - beta - nu * (L + L2 / mu)) / (2.0 * m);
    if (!(*of_D > 0.0))
        return false;
    for (int r = 0; r < SUMS; r++)
        for (int c = 0; c < WIDTH; c++)
            a[r][c] = r == c ? 1.0 : 0.0;
    /* (1), with (2) */
    a[U][X] = -(nu * in->tau / (2.0 * m) + nu * L2 / (beta * m));
    a[U][Y] = -nu * L2 / (beta * m);
    a[U][G] = -nu * L2 / beta;
    a[U][S] = -nu / (2.0 * beta * m);
    a[U][A] = -nu / (beta * m * m);
    a[U][VALUE] = 1.0;
    /* (3) */
    a[G][R] = -3.0 * eta / (alpha * mu * m * theta);
    a[G][U] = -6.0 * L2 * nu * nu / (mu * mu * theta * theta * m * *of_D);
    a[G][Y_GAP] = 2.0 / theta;
    /* (4) */
    a[R][X] = -2.0 * alpha * alpha * L2;
    a[R][Y] = -2.0 - 2.0 * alpha * alpha * L2;
    a[R][S] = -2.0 * alpha * alpha;
    a[R][A] = -2.0 * alpha * alpha / m;
    /* (5) */
    a[V][R] = -3.0;
    a[V][G] = -6.0 * m;
    a[V][Y] = -3.0;
    /* (6) */
    a[X][U] = -nu * nu / (gap * gap * of_W);
    a[Y][V] = -eta * eta / (gap * gap);
    /* (7) */
    a[M][X] = a[M][Y] = -reach;
    a[M][U] = -2.0 * nu * nu / of_W;
    a[M][V] = -2.0 * eta * eta;
    /* (8) */
    a[A][M] = -L2 * (in->q - 1.0) / in->batch;
    a[A][U] = -m / (in->c_gamma * *of_D);
    a[A][REFRESH] = in->q;
    a[A][LEVEL] = m;
    /* (9) */
    a[S][M] = -L2 * spread / (gap * gap);
    a[S][U] = -(2.0 + root) * m / (in->c_gamma * in->q * gap * gap * *of_D);
    a[S][TRACKERS] = 1.0 / gap;
    a[S][REFRESH] = (1.0 + root) / (gap * gap);
    a[S][LEVEL] = (2.0 + root) * m / (in->q * gap * gap);
    return true;
}

/* Solves by Gaussian elimination. Since no entry off the diagonal is positive, the inverse of I
 * - K exists and is nonnegative exactly if every pivot is positive. */
static bool solve(double a[SUMS][WIDTH])
{
    for (int k = 0; k < SUMS; k++) {
        if (!(a[k][k] > 0.0))
            return false;
        for (int r = 0; r < SUMS; r++) {
            double factor = r == k ? 0.0 : a[r][k] / a[k][k];
            for (int c = k; c < WIDTH && factor != 0.0; c++)
                a[r][c] -= factor * a[k][c];
        }
    }
    for (int r = 0; r < SUMS; r++)
        for (int c = SUMS; c < WIDTH; c++)
            a[r][c] /= a[r][r];
    return true;
}

/* Returns the factor of a source in the bound of the sum of the metric, D + X + Y + G. */
static double metric_of(double a[SUMS][WIDTH], double of_D, int source)
{
    return a[U][source] / of_D + a[X][source] + a[Y][source] + a[G][source];
}

saddle_guarantee saddle_guarantee_at(const saddle_guarantee_inputs *inputs)
{
    double a[SUMS][WIDTH];
    double of_D;
    saddle_guarantee none = {.value = INFINITY,
                             .y_gap = INFINITY,
                             .trackers = INFINITY,
                             .refresh = INFINITY,
                             .level = INFINITY,
                             .total = NAN,
                             .iterations = NAN};
    if (!fill(inputs, a, &of_D) || !solve(a))
        return none;
    return (saddle_guarantee){.holds = true,
                              .value = metric_of(a, of_D, VALUE),
                              .y_gap = metric_of(a, of_D, Y_GAP),
                              .trackers = metric_of(a, of_D, TRACKERS),
                              .refresh = metric_of(a, of_D, REFRESH),
                              .level = metric_of(a, of_D, LEVEL),
                              .total = NAN,
                              .iterations = NAN};
}

/* Searches the best pair around the present one: both steps multiplied and divided by `ratio` up
 * to `steps` times. */
static void search_around(saddle_guarantee_inputs *in, double most, double ratio, int steps)
{
    saddle_guarantee_inputs best = *in;
    saddle_guarantee_inputs there = *in;
    double low = 1.0;
    for (int k = 0; k < steps; k++)
        low /= ratio;
    double least = saddle_guarantee_at(in).value;
    there.nu = in->nu * low;
    for (int i = 0; i <= 2 * steps && there.nu <= most; i++, there.nu *= ratio) {
        there.eta = in->eta * low;
        for (int j = 0; j <= 2 * steps && there.eta <= most; j++, there.eta *= ratio) {
            double value = saddle_guarantee_at(&there).value;
            if (value < least) {
                least = value;
                best = there;
            }
        }
    }
    *in = best;
}

void saddle_guarantee_best_steps(saddle_guarantee_inputs *inputs, double most)
{
    inputs->nu = inputs->eta = most * 1e-30;
    static const struct {
        double ratio;
        int steps;
    } search[] = {{10.0, 30}, {1.5, 6}, {1.15, 6}, {1.05, 6}, {1.02, 6}};
    for (size_t k = 0; k < sizeof search / sizeof *search; k++)
        search_around(inputs, most, search[k].ratio, search[k].steps);
}

double saddle_guarantee_least_c_gamma(const saddle_guarantee_inputs *inputs)
{
    saddle_guarantee_inputs in = *inputs;
    in.c_gamma = INFINITY;
    if (!saddle_guarantee_at(&in).holds)
        return INFINITY;
    /* Bisection, because a larger c_gamma never hurts. */
    double low = 1e-300;
    double high = 1e300;
    while (high > 1.001 * low) {
        in.c_gamma = sqrt(low) * sqrt(high);
        if (saddle_guarantee_at(&in).holds)
            high = in.c_gamma;
        else
            low = in.c_gamma;
    }
    return high;
}
