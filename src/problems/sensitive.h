/*
 * A sensitive attribute S, 0 or 1, that a feature of the agents' rows holds, and the features that a
 * model may not see because they give S away.
 */
#ifndef SADDLE_PROBLEMS_SENSITIVE_H
#define SADDLE_PROBLEMS_SENSITIVE_H

#include <stdbool.h>

#include <saddle/problem.h>

/* The feature unless one is named: that of a9a, 1 for men. */
#define SADDLE_DEFAULT_SENSITIVE "73"

typedef struct saddle_sensitive {
    saddle_dataset *const *shard; /* borrowed */
    const saddle_world *world;    /* borrowed */
    size_t features;
    size_t column;     /* the feature that holds S, from 0 */
    double *all_signs; /* s = 2 S - 1 of every row of the agents here */
    double **sign;     /* where each agent's begin; NULL: elsewhere */
    bool *hidden;      /* per feature: the model may not see it */
} saddle_sensitive;

/* Reads the attribute of the rows here from a feature, given by name or number from 1, and hides the features of a
 * list; NULL: hides that feature. Free with saddle_sensitive_free() even after a failure. */
saddle_status saddle_sensitive_read(saddle_sensitive *out, const saddle_problem_inputs *inputs,
                                    const char *feature, const char *excluded, saddle_error *error);
void saddle_sensitive_free(saddle_sensitive *sensitive);

/* Hides every feature that is 1 - S in all agents' rows. Collective. */
void saddle_sensitive_hide_opposites(saddle_sensitive *sensitive);
/* The hidden features, from 1, separated by commas, or "none"; NULL when memory is short. */
char *saddle_sensitive_list(const saddle_sensitive *sensitive);

/* |a|^2 over the features that the model sees. */
double saddle_visible_norm2(const saddle_sensitive *sensitive, const saddle_dataset *data,
                            size_t row);

/* Decisions about groups of rows, which differ in attribute (0 or 1) and label (0: -1, 1: +1). */
typedef struct saddle_decisions {
    double group[2][2];    /* rows of the group */
    double positive[2][2]; /* those decided positively */
    double strange;        /* rows whose attribute is neither 0 nor 1 */
} saddle_decisions;

void saddle_count_decision(const saddle_sensitive *sensitive, const saddle_dataset *data,
                           size_t row, bool positive, saddle_decisions *counts);
/* |P(positive | S = 1) - P(positive | S = 0)|; NaN if a group is empty or a row strange. */
double saddle_parity_gap(const saddle_decisions *counts);
/* The larger over labels b of |P(positive | S = 1, b) - P(positive | S = 0, b)|; NaN likewise. */
double saddle_odds_gap(const saddle_decisions *counts);

#endif
