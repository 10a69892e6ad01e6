/*
 * A sensitive attribute S, 0 or 1, stored in a feature of the agents' rows, and the features that
 * are hidden from the model because they reveal S.
 */
#pragma once

#include <saddle/problem.h>

#include "core/base.h"

/* The default feature of a9a and generated data; in a9a it is 1 for men. */
#define SADDLE_DEFAULT_SENSITIVE "73"

typedef struct saddle_sensitive {
    saddle_dataset *const *shard; /* borrowed */
    const saddle_world *world;    /* borrowed */
    size_t features;
    size_t column;     /* the feature that holds S, from 0 */
    double *all_signs; /* s = 2 S - 1 of every row of the agents in this process */
    double **sign;     /* the signs of each agent's rows; NULL: agent of another process */
    bool *hidden;      /* per feature: whether it is hidden from the model */
} saddle_sensitive;

/* Reads the attribute of the rows in this process from a feature, given by name or number from 1,
 * and hides the features of the list `excluded`; NULL: hides that feature. A `*feature` of NULL is
 * replaced by the default of data that Saddle knows. Free with saddle_sensitive_free() even after a
 * failure. */
saddle_status saddle_sensitive_read(saddle_sensitive *out, const saddle_problem_inputs *inputs,
                                    const char **feature, const char *excluded,
                                    saddle_error *error);
void saddle_sensitive_free(saddle_sensitive *sensitive);

/* Hides every feature that is 1 - S in all agents' rows. Collective. */
void saddle_sensitive_hide_opposites(saddle_sensitive *sensitive);
/* Returns the numbers of the hidden features, from 1, separated by commas, or "none"; NULL if
 * memory is short. */
char *saddle_sensitive_list(const saddle_sensitive *sensitive);

/* Returns |a|^2 over the features that are not hidden. */
double saddle_visible_norm2(const saddle_sensitive *sensitive, const saddle_dataset *data,
                            size_t row);

/* Counts of decisions per group: by attribute (0 or 1) and label (0: -1, 1: +1). */
typedef struct saddle_decisions {
    double group[2][2];    /* rows of the group */
    double positive[2][2]; /* rows with a positive decision */
    double strange;        /* rows whose attribute is neither 0 nor 1 */
} saddle_decisions;

/* Counts the decision about a row. */
void saddle_count_decision(const saddle_sensitive *sensitive, const saddle_dataset *data,
                           size_t row, bool positive, saddle_decisions *counts);
/* Returns |P(positive | S = 1) - P(positive | S = 0)|; NaN if a group is empty or `strange` is
 * not 0. */
double saddle_parity_gap(const saddle_decisions *counts);
/* Returns the maximum over labels b of |P(positive | S = 1, b) - P(positive | S = 0, b)|; NaN in
 * the same cases. */
double saddle_odds_gap(const saddle_decisions *counts);
