/*
 * Deciding claims from traces.
 *
 * The rules:
 * - Levels are absolute: a metric of 10^-k, k = 1, 2, 3, 4, 6, 8. For the loss, a level is such a distance from its
 *   limit, which is the final loss of the run of that seed whose metric ended lowest. Levels below ten times the change
 *   of that loss in the second half of the run say nothing.
 * - A run is at a level from the trace point on after which it stays there until its end: a noisy method that touches a
 *   level and leaves it again has not converged to it. costs.csv also has the first touch.
 * - The cost at a level lies between those of two neighbouring trace points. A run is ahead of another only if it is
 *   ahead for every choice of costs within these intervals. A run that never reaches a level costs more than it spent;
 *   a run that diverged has infinite cost.
 * - If algorithms were tuned, the cost of an algorithm at a level is that of its best series: with tuned steps, which
 *   suit the end of the run, or with default steps and one of several batches.
 * - At a level a test is true if it is true for every seed and false if it is false for every seed; otherwise, and with
 *   fewer than CLAIMS_FEWEST_SEEDS seeds, it is open. Levels that no run reaches, and those that all runs start below,
 *   say nothing. If fewer than half of the seeds say something at a level, the test is open there if one of them
 *   contradicts it; otherwise the level says nothing.
 * - In an experiment a claim is true at a level if all its tests that say something are true, false if one is false,
 *   and otherwise open. It holds if it is true at all levels that say something, "from 1e-3 down" if it is true at that
 *   level and all finer ones, and does not hold if it is false at some level and true at none. If only one level says
 *   so, the verdict names it. A claim about levels that no run reached is not tested. If experiments differ, each has
 *   its own verdict.
 * - A slope is fitted for every seed. It is above the theory's exponent if its 95% interval over seeds is.
 * - Measurements below a theorem's bound do not prove the theorem: the verdict is "not contradicted". A bound above the
 *   initial metric says nothing.
 * - If no method were better than another, s seeds would still agree on which is first with probability 2^(1 - s). The
 *   results state how many of these tests are expected to be decided by chance.
 */
#ifndef SADDLE_LAB_CLAIMS_H
#define SADDLE_LAB_CLAIMS_H

#include "lab/paper_claims.h"
#include "lab/statistics.h"

#define CLAIMS_LEVELS 6
#define CLAIMS_CONFIDENCE 0.95
/* The most seeds. */
#define CLAIMS_MOST_SEEDS 100
/* The fewest seeds that decide a test. */
#define CLAIMS_FEWEST_SEEDS 5
/* The most points of a fitted line. */
#define CLAIMS_MOST_POINTS 256
/* Capacity of a text. */
#define CLAIMS_TEXT 1024
/* Capacity of a verdict. */
#define CLAIMS_VERDICT 512

/* The cost at which a run reached a level: more than `low`, at most `high`, which is infinite if
 * it never did. */
typedef struct claims_cost {
    double low, high;
} claims_cost;

/* The state of a test, or a claim, at a level. */
typedef enum claims_state { STATE_SILENT, STATE_TRUE, STATE_FALSE, STATE_OPEN } claims_state;

/* A test at one level, over seeds. */
typedef struct claims_level {
    double level; /* 0 for a test without levels */
    claims_state state;
    size_t won, lost, tied; /* seeds; the rest say nothing */
    statistics_mean
        log_ratio; /* cost of the last series to that of the first, or largest to smallest */
    bool at_least; /* some ratio is only a lower bound, because a run never reached the level */
    bool at_most;  /* some ratio is only an upper bound */
} claims_level;

/* Whether a claim holds. */
typedef enum claim_verdict {
    CLAIM_HOLDS,
    CLAIM_HOLDS_BELOW, /* from a level down */
    CLAIM_HOLDS_ABOVE, /* down to a level */
    CLAIM_HOLDS_PARTLY,
    CLAIM_FAILS,
    CLAIM_UNDECIDED,
    CLAIM_UNTESTED,
    CLAIM_NOT_CONTRADICTED, /* a theorem */
    CLAIM_SAYS_NOTHING,     /* a theorem whose bound is vacuous or that does not apply */
    CLAIM_DIFFERS           /* between experiments */
} claim_verdict;
#define CLAIM_VERDICTS (CLAIM_DIFFERS + 1)
/* The most experiments of a claim. */
#define CLAIMS_MOST_PARTS 8

/* The result of one test. */
typedef struct claims_measurement {
    const paper_test *test;
    const paper_experiment *experiment;
    claims_level level[CLAIMS_LEVELS]; /* of TEST_FASTER and TEST_ALIKE; the others have one */
    size_t levels;
    statistics_mean slope;     /* of slopes */
    statistics_mean ifo_slope; /* of TEST_SLOPE_VALUE, shown beside it */
    char statement[CLAIMS_TEXT];
    char numbers[CLAIMS_TEXT]; /* what was measured, if there are no levels */
} claims_measurement;

/* The verdict on a claim in one experiment. */
typedef struct claims_part {
    const paper_experiment *experiment;
    claim_verdict verdict;
    double level; /* of CLAIM_HOLDS_BELOW and CLAIM_HOLDS_ABOVE, and of CLAIM_HOLDS if single */
    bool single;  /* the claim is true at one level only */
    bool open;    /* of CLAIM_HOLDS_ABOVE: at finer levels the claim is open, not false */
} claims_part;

/* The result for one claim. Its tests are consecutive in the list, experiment by experiment. */
typedef struct claims_outcome {
    const paper_claim *claim;
    claims_part whole;
    size_t first, count; /* its tests */
    size_t parts;
    claims_part part[CLAIMS_MOST_PARTS];
} claims_outcome;

/* Claims with their tests. */
typedef struct claims_list {
    size_t seeds; /* number of seeds of the tests */
    size_t tests;
    claims_measurement *measurement; /* owned */
    size_t claims;
    claims_outcome *outcome; /* owned */
} claims_list;

/* Allocates a list for `tests` tests and at most as many claims, without claims yet. Release
 * *out even after a failure. */
saddle_status saddle_claims_list_make(claims_list *out, size_t tests, size_t seeds,
                                      saddle_error *error);
/* Frees what the list owns. Safe on a zeroed struct. */
void saddle_claims_list_release(claims_list *list);

/* Level k, k < CLAIMS_LEVELS. */
double saddle_claims_level(size_t k);
/* The cost from which the metric stays at or below a level. */
claims_cost saddle_claims_stay(const saddle_trace *trace, const char *cost, double level);
/* The cost of the first trace point whose metric is at or below a level. */
claims_cost saddle_claims_reach(const saddle_trace *trace, const char *cost, double level);
/* The limit of the loss for a seed: the final loss of the run that ended with the smallest
 * metric; NaN if there is none. Traces as for saddle_claims_measure(). */
double saddle_claims_loss_limit(const paper_experiment *e, const saddle_trace *const *trace,
                                size_t seeds, size_t seed);
/* The cost from which the loss stays within `distance` of `limit`. */
claims_cost saddle_claims_settle(const saddle_trace *trace, const char *cost, double limit,
                                 double distance);
/* Makes a test. trace[s * seeds + r] is series s of the experiment with seed r; NULL: missing,
 * which leaves the seed out. The traces are not kept. */
void saddle_claims_measure(claims_measurement *out, const paper_test *t, const paper_experiment *e,
                           const saddle_trace *const *trace, size_t seeds);
/* Decides the claims of a list whose tests are made; the tests of a claim are consecutive. */
void saddle_claims_decide(claims_list *list);
/* The number of tests of which method is first, at levels that count; *chance receives how many
 * of them are expected to be decided by chance at most, if no method were better than another. */
size_t saddle_claims_comparisons(const claims_list *list, double *chance);

/* Points through which a line is fitted, in logarithms. */
typedef struct claims_line {
    size_t count;
    size_t fitted_from; /* earlier points are only shown */
    double x[CLAIMS_MOST_POINTS], y[CLAIMS_MOST_POINTS];
} claims_line;

/* The points of a test of a slope for one seed; none if runs are missing or did not reach the
 * level. Traces as for saddle_claims_measure(). */
void saddle_claims_points(claims_line *out, const paper_test *t, const paper_experiment *e,
                          const saddle_trace *const *trace, size_t seeds, size_t seed);

/* "IFO calls" for "ifo", "simulated seconds", "rounds", "bytes". */
const char *saddle_claims_cost_text(const char *cost);
/* "holds", "holds from 1e-03 down", "does not hold". */
const char *saddle_claims_verdict_text(const claims_outcome *o, char out[CLAIMS_VERDICT]);
/* Appends what was measured at a level: "2.9x (2.7-3.1), 10 of 10". */
void saddle_claims_describe_level(char *text, size_t size, const claims_level *level);
/* Appends a sentence with the expected number of tests that are decided by chance. */
void saddle_claims_describe_chance(char *text, size_t size, const claims_list *list);

#endif
