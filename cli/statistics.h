/* Means and their confidence intervals. */
#pragma once

#include "core/base.h"

/* A quantity that was measured several times. */
typedef struct statistics_mean {
    size_t count;
    double mean;
    double least, most;
    double low, high; /* two-sided confidence interval; infinite for fewer than two values */
} statistics_mean;

/* Student's quantile: the t with P(|T| <= t) = confidence for this many degrees of freedom. NaN
 * for a confidence outside (0, 1) or no degrees of freedom. */
double saddle_statistics_student(double confidence, size_t freedom);
/* Mean, range and interval of `count` values; all NaN if there are none. */
statistics_mean saddle_statistics_summarize(const double *value, size_t count, double confidence);
