/*
 * Deciding claims from traces.
 *
 * The rules:
 * - A level is a fraction 10^-k, k = 1, 2, 3, 4, 6, 8, of the metric that the experiment's first series has at
 *   the start, seed by seed. The tenth is shown; the others decide, because convergence is
 *   about what comes after the first digit. For the loss it is that fraction of the distance between
 *   the start's loss and the final loss of the run whose metric ended lowest.
 * - The cost at a level lies between those of two neighbouring trace points. A run is ahead of
 *   another only if it is whichever costs one takes within these intervals. A run that never reaches a
 *   level costs more than it spent; one that diverged has infinite cost.
 * - Where algorithms were tuned, an algorithm's cost at a level is that of its best series: with tuned
 *   steps, which suit the end of the run, or with the problem's default ones.
 * - At a level a claim holds if it does for every seed and fails if it does for every seed; otherwise
 *   it is not decided there. (Five seeds that agree by chance, either way: one in 16.) Levels that none of the
 *   runs reach say nothing.
 * - A claim does not hold if it fails at a level that decides; it holds if it does at all of those
 *   that say something, and at least one does; otherwise it is not decided.
 * - A slope is fitted for every seed; its 95% interval over seeds is compared with the theory's exponent
 *   plus CLAIMS_TOLERANCE, since an exponent says nothing about rounded batches and lower-order terms.
 */
#ifndef SADDLE_LAB_CLAIMS_H
#define SADDLE_LAB_CLAIMS_H

#include "lab/paper_experiments.h"
#include "lab/statistics.h"

#define CLAIMS_LEVELS 6
#define CLAIMS_FIRST_DECIDING 1 /* the place of 10^-2 */
#define CLAIMS_CONFIDENCE 0.95
#define CLAIMS_TOLERANCE 0.05
/* The most seeds. */
#define CLAIMS_MOST_SEEDS 100
/* The most points of a fitted line. */
#define CLAIMS_MOST_POINTS 256
/* Room for a text. */
#define CLAIMS_TEXT 1024

/* What a run paid to reach a level: more than `low` and at most `high`, which is infinite when it
 * never did. */
typedef struct claims_cost {
    double low, high;
} claims_cost;

/* A claim at one level, over seeds. */
typedef struct claims_level {
    double level;
    size_t won, lost, tied; /* seeds; the rest say nothing */
    statistics_mean
        log_ratio; /* of the last series' cost to the first one's, or largest to smallest */
    bool at_least; /* some ratio is only a lower bound: a run never reached the level */
    bool at_most;  /* some ratio is only an upper bound */
} claims_level;

/* Whether a claim holds. */
typedef enum claim_verdict { CLAIM_HOLDS, CLAIM_FAILS, CLAIM_UNDECIDED } claim_verdict;

/* The result for one claim. */
typedef struct claims_outcome {
    const paper_claim *claim;
    const paper_experiment *experiment;
    claim_verdict verdict;
    size_t seeds;
    claims_level level[CLAIMS_LEVELS]; /* CLAIM_FASTER, CLAIM_ALIKE; one of CLAIM_BELOW */
    size_t levels;
    statistics_mean slope; /* the others */
    char statement[CLAIMS_TEXT];
    char numbers[CLAIMS_TEXT];
} claims_outcome;

/* Level k, k < CLAIMS_LEVELS, as a fraction of the start's metric. */
double saddle_claims_fraction(size_t k);
/* The cost of the first trace point whose metric is at most a level. */
claims_cost saddle_claims_reach(const saddle_trace *trace, const char *cost, double level);
/* What the loss of a seed's runs settles at: the final loss of the one that ended with the least
 * metric; NaN: none. Traces as for saddle_claims_decide(). */
double saddle_claims_loss_limit(const paper_experiment *e, const saddle_trace *const *trace,
                                size_t seeds, size_t seed);
/* The cost from which on the loss stays within `distance` of `limit`. */
claims_cost saddle_claims_settle(const saddle_trace *trace, const char *cost, double limit,
                                 double distance);
/* Decide a claim. trace[s * seeds + r] is series s of the experiment with seed r; NULL: missing,
 * which leaves the seed out. Nothing is kept of the traces. */
void saddle_claims_decide(claims_outcome *out, const paper_claim *c, const paper_experiment *e,
                          const saddle_trace *const *trace, size_t seeds);
/* Points through which a line is fitted, in logarithms. */
typedef struct claims_line {
    size_t count;
    double x[CLAIMS_MOST_POINTS], y[CLAIMS_MOST_POINTS];
} claims_line;

/* The points of a claim about a slope for one seed; none where runs are missing or did not get there.
 * Traces as for saddle_claims_decide(). */
void saddle_claims_points(claims_line *out, const paper_claim *c, const paper_experiment *e,
                          const saddle_trace *const *trace, size_t seeds, size_t seed);
/* What is claimed, without the experiment's title before it. */
const char *saddle_claims_statement(const claims_outcome *o);
/* "IFO calls" for "ifo", "rounds". */
const char *saddle_claims_cost_text(const char *cost);
/* "holds", "does not hold", "not decided". */
const char *saddle_claims_verdict_text(claim_verdict verdict);

#endif
