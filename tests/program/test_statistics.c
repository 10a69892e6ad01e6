/* Student's quantiles, means and slopes, each against another method. */
#include <math.h>

#include "statistics.h"
#include "support.h"

/* Computes P(|T| <= t) by Simpson's rule on the density. */
static double student_probability(double t, double freedom)
{
    int steps = 20000;
    double scale =
        exp(lgamma(0.5 * (freedom + 1.0)) - lgamma(0.5 * freedom)) / sqrt(freedom * acos(-1.0));
    double width = t / steps;
    double sum = 0.0;
    for (int k = 0; k <= steps; k++) {
        double x = k * width;
        double weight = k == 0 || k == steps ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        sum += weight * pow(1.0 + x * x / freedom, -0.5 * (freedom + 1.0));
    }
    return 2.0 * scale * sum * width / 3.0;
}

TEST(student_quantiles_have_their_probability)
{
    const double confidence[] = {0.5, 0.9, 0.95, 0.99};
    for (size_t f = 1; f <= 30; f++)
        for (size_t k = 0; k < sizeof confidence / sizeof *confidence; k++) {
            double t = saddle_statistics_student(confidence[k], f);
            assert_near(student_probability(t, (double)f), confidence[k], 1e-9);
        }
}

TEST(student_refuses_what_has_no_quantile)
{
    ck_assert(isnan(saddle_statistics_student(0.95, 0)));
    ck_assert(isnan(saddle_statistics_student(0.0, 5)));
    ck_assert(isnan(saddle_statistics_student(1.0, 5)));
    ck_assert(isnan(saddle_statistics_student(NAN, 5)));
}

TEST(means_and_intervals)
{
    const double value[] = {3.0, -1.0, 4.0, 1.5, 9.25};
    size_t count = sizeof value / sizeof *value;
    /* The variance by pairs: the sum over pairs of squared differences / (n (n - 1)). */
    double pairs = 0.0;
    double sum = 0.0;
    for (size_t j = 0; j < count; j++) {
        sum += value[j];
        for (size_t k = 0; k < j; k++)
            pairs += (value[j] - value[k]) * (value[j] - value[k]);
    }
    double n = (double)count;
    double half = saddle_statistics_student(0.9, count - 1) * sqrt(pairs / (n * (n - 1.0)) / n);
    statistics_mean s = saddle_statistics_summarize(value, count, 0.9);
    ck_assert_uint_eq(s.count, count);
    assert_near(s.mean, sum / n, 1e-14);
    assert_near(s.least, -1.0, 0.0);
    assert_near(s.most, 9.25, 0.0);
    assert_near(s.high - s.mean, half, 1e-12);
    assert_near(s.mean - s.low, half, 1e-12);
}

TEST(few_values)
{
    const double value[] = {2.5};
    statistics_mean one = saddle_statistics_summarize(value, 1, 0.95);
    assert_near(one.mean, 2.5, 0.0);
    ck_assert(isinf(one.low) && one.low < 0.0);
    ck_assert(isinf(one.high) && one.high > 0.0);
    statistics_mean none = saddle_statistics_summarize(value, 0, 0.95);
    ck_assert(isnan(none.mean) && isnan(none.low) && isnan(none.high));
}
