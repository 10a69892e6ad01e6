/*
 * What is different for --problem auc with a linear score: x ends with the bias, c1 and c2, and y is one number, so
 * that sums over rows have c->columns entries: those of x, that of y, and one more at trace points. Those behind the
 * features are sums over blocks of SADDLE_CARD_CHUNK rows, which are added up, as in auc.c.
 */
#ifndef SADDLE_ENGINES_CUDA_CARD_AUC_H
#define SADDLE_ENGINES_CUDA_CARD_AUC_H

#include "engines/cuda/card_code.h"

/* A row's derivatives in its score, in c1 or c2, and in y; or, in place of the last one, the factor of 2 (1 + y) in f,
 * and the rest of f. */
typedef struct saddle_card_pulls {
    double h;
    double c;
    double y;
    double rest;
} saddle_card_pulls;

/* find_slopes() of auc.c; `label` is negated. */
SADDLE_STEP saddle_card_pulls saddle_card_pull(const saddle_card_plan *c, double label, double h,
                                               const double *x, double y, double scale)
{
    bool positive = label < 0.0;
    double side = positive ? -(1.0 - c->share) : c->share;
    double center = x[c->features + (positive ? SADDLE_AUC_POSITIVE : SADDLE_AUC_NEGATIVE)];
    double pull = saddle_multiply(2.0 * fabs(side), saddle_subtract(h, center));
    double lift = saddle_multiply(saddle_multiply(2.0, saddle_add(1.0, y)), side);
    saddle_card_pulls out;
    out.h = saddle_multiply(scale, saddle_add(pull, lift));
    out.c = saddle_multiply(-scale, pull);
    out.y = saddle_multiply(saddle_multiply(saddle_multiply(scale, 2.0), side), h);
    out.rest = 0.0;
    return out;
}

/* add_values() of auc.c for a row: what takes the place of out->y, and out->rest. */
SADDLE_STEP void saddle_card_value_of_row(const saddle_card_plan *c, double label, double h,
                                          const double *x, saddle_card_pulls *out)
{
    bool positive = label < 0.0;
    double side = positive ? -(1.0 - c->share) : c->share;
    double center = x[c->features + (positive ? SADDLE_AUC_POSITIVE : SADDLE_AUC_NEGATIVE)];
    double off = saddle_subtract(h, center);
    out->y = saddle_multiply(side, h);
    out->rest = saddle_multiply(saddle_multiply(fabs(side), off), off);
}

/* Whether a row counts in a column behind the features. */
SADDLE_STEP bool saddle_card_counts(uint32_t kind, double label)
{
    return kind == SADDLE_AUC_POSITIVE   ? label < 0.0
           : kind == SADDLE_AUC_NEGATIVE ? !(label < 0.0)
                                         : true;
}

/* -r (1-r) y^2: its change from y0 to y. */
SADDLE_STEP double saddle_card_ridge(const saddle_card_plan *c, double y, double y0)
{
    return -saddle_multiply(c->ridge, saddle_subtract(y, y0));
}

#endif
