/*
 * Means and their confidence intervals.
 *
 * Student's distribution has an elementary form for an integer number f of degrees of freedom: with
 * theta = atan(t / sqrt(f)), P(|T| <= t) is
 *   f odd:   2/pi (theta + sin theta (cos theta + 2/3 cos^3 theta + (2 4)/(3 5) cos^5 theta + ...))
 *   f even:  sin theta (1 + 1/2 cos^2 theta + (1 3)/(2 4) cos^4 theta + ...)
 * with the last power f - 2 (Abramowitz, Stegun 26.7.3-4). The quantile is found by bisection of
 * theta in (0, pi/2).
 */
#include "statistics.h"

#define BISECTIONS 200

/* P(|T| <= sqrt(f) tan theta). */
static double student(double theta, size_t freedom)
{
    double c = cos(theta);
    double term = freedom % 2 == 1 ? c : 1.0;
    double sum = freedom == 1 ? 0.0 : term;
    for (size_t power = freedom % 2 == 1 ? 3 : 2; power + 2 <= freedom; power += 2) {
        term *= (double)(power - 1) / (double)power * c * c;
        sum += term;
    }
    double tail = sin(theta) * sum;
    return freedom % 2 == 1 ? 2.0 / M_PI * (theta + tail) : tail;
}

double saddle_statistics_student(double confidence, size_t freedom)
{
    if (!(confidence > 0.0 && confidence < 1.0) || freedom == 0)
        return NAN;
    double low = 0.0;
    double high = M_PI / 2.0;
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = 0.5 * (low + high);
        if (student(middle, freedom) < confidence)
            low = middle;
        else
            high = middle;
    }
    return sqrt((double)freedom) * tan(0.5 * (low + high));
}

statistics_mean saddle_statistics_summarize(const double *value, size_t count, double confidence)
{
    statistics_mean s = {.count = count, .mean = NAN, .least = NAN, .most = NAN};
    s.low = s.high = NAN;
    if (count == 0)
        return s;
    double sum = 0.0;
    s.least = s.most = value[0];
    for (size_t k = 0; k < count; k++) {
        sum += value[k];
        s.least = fmin(s.least, value[k]);
        s.most = fmax(s.most, value[k]);
    }
    s.mean = sum / (double)count;
    double half = (double)INFINITY;
    if (count > 1) {
        double squares = 0.0;
        for (size_t k = 0; k < count; k++)
            squares += (value[k] - s.mean) * (value[k] - s.mean);
        half = saddle_statistics_student(confidence, count - 1) *
               sqrt(squares / (double)(count - 1) / (double)count);
    }
    s.low = s.mean - half;
    s.high = s.mean + half;
    return s;
}
