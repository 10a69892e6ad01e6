/* Measures of how well scores rank positives above negatives. */
#pragma once

#include "core/base.h"

/*
 * Computes the area under the ROC curve: the share of pairs (positive, negative) in which the
 * positive has the larger score, where ties count half. Exact, by ranks, in O(n log n). Positive
 * means label > 0. NaN if a score is NaN or one of the classes is empty.
 */
saddle_status saddle_ranking_auc(size_t count, const double *score, const double *label,
                                 double *out, saddle_error *error);

/* Returns the mean of (1 - h(a) + h(a'))^2 over pairs of a positive a and a negative a'; NaN
 * when one of the classes is empty. */
double saddle_ranking_pair_loss(size_t count, const double *score, const double *label);
