/*
 * The experiments of Liu, Zhang, Lu, Liu, "PRECISION" (MobiHoc 2023), section 5 and appendix B, and
 * what the paper concludes from them; then the checks of its theory.
 *
 * nu (the paper writes gamma in its experiments) and eta are 0.1 as there. tau and alpha, which it
 * does not give, are searched for every algorithm with the same number of IFO calls where algorithms
 * are compared, and are the problem's defaults where one algorithm is studied. Lengths of runs and
 * the values of the step-size study are not in the paper either.
 */
#include "lab/paper_experiments.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- series ---------------------------------------------------------------------------------- */

/* Trace points are about as far apart in IFO calls for all.
 * Tuned for the length of the run, which may cost a method time on the way; so once more with the
 * problem's tau and alpha, and claims take the better of the two at every level. */
static const experiment_series algorithms[] = {
    {"precision", "PRECISION", "precision", "trace-every=5", 0, true},
    {"precision+", "PRECISION+", "precision+", "trace-every=5", 0, true},
    {"prox-gt-sgda", "Prox-GT-SGDA", "prox-gt-sgda", "trace-every=20", 0, true},
    {"prox-dsgda", "Prox-DSGDA", "prox-dsgda", "trace-every=20", 0, true},
    {"precision-default", "PRECISION, default", "precision", "trace-every=5", 0, false},
    {"precision+-default", "PRECISION+, default", "precision+", "trace-every=5", 0, false},
    {"prox-gt-sgda-default", "Prox-GT-SGDA, default", "prox-gt-sgda", "trace-every=20", 0, false},
    {"prox-dsgda-default", "Prox-DSGDA, default", "prox-dsgda", "trace-every=20", 0, false},
};
#define COMPARED 4 /* of them, once each */
static const experiment_series steps_x[] = {
    {"nu-0.1", "nu = 0.1", "precision", "nu=0.1 eta=0.1", 0.1, false},
    {"nu-0.03", "nu = 0.03", "precision", "nu=0.03 eta=0.1", 0.03, false},
    {"nu-0.01", "nu = 0.01", "precision", "nu=0.01 eta=0.1", 0.01, false},
};
static const experiment_series steps_y[] = {
    {"eta-0.1", "eta = 0.1", "precision", "nu=0.1 eta=0.1", 0.1, false},
    {"eta-0.03", "eta = 0.03", "precision", "nu=0.1 eta=0.03", 0.03, false},
    {"eta-0.01", "eta = 0.01", "precision", "nu=0.1 eta=0.01", 0.01, false},
};
static const experiment_series networks[] = {
    {"er-0.9", "p_c = 0.9", "precision", "topology=er:0.9", 0.9, false},
    {"er-0.6", "p_c = 0.6", "precision", "topology=er:0.6", 0.6, false},
    {"er-0.3", "p_c = 0.3", "precision", "topology=er:0.3", 0.3, false},
};
static const experiment_series refreshes[] = {
    {"precision", "PRECISION", "precision", "", 0, false},
    {"c-gamma-100", "PRECISION+, c_gamma = 100", "precision+", "c-gamma=100", 100, false},
    {"c-gamma-10", "PRECISION+, c_gamma = 10", "precision+", "c-gamma=10", 10, false},
    {"c-gamma-1", "PRECISION+, c_gamma = 1", "precision+", "c-gamma=1", 1, false},
    {"c-gamma-0.1", "PRECISION+, c_gamma = 0.1", "precision+", "c-gamma=0.1", 0.1, false},
};
static const experiment_series sizes[] = {
    {"n-100", "n = 100", "precision", "samples=100", 100, false},
    {"n-400", "n = 400", "precision", "samples=400", 400, false},
    {"n-1600", "n = 1600", "precision", "samples=1600", 1600, false},
    {"n-6400", "n = 6400", "precision", "samples=6400", 6400, false},
};
static const experiment_series theorems[] = {
    {"precision", "PRECISION", "precision", "", 0, false},
    {"precision+", "PRECISION+", "precision+", "c-gamma=100 c-epsilon=1e4 epsilon=0.1", 0, false},
};

/* ---- experiments ------------------------------------------------------------------------------ */

/* The paper's steps, and a length in IFO calls. */
#define STEPS "nu=0.1 eta=0.1 "
#define LENGTH(ifo) "iterations=9007199254740992 max-ifo=" ifo " "
#define REGRESSION "problem=robust-logistic "
#define AUC "problem=auc "
#define NETWORK "agents=5 topology=er:0.6 "
#define FOUR_PANELS "ifo:loss_gap ifo:metric rounds:loss_gap rounds:metric"
#define TWO_PANELS "ifo:metric rounds:metric"
#define AUC_PANELS "ifo:loss ifo:metric rounds:loss rounds:metric ifo:train_auc rounds:train_auc"

#define SERIES(list) .count = COUNT(list), .series = (list)
/* IFO calls of a search, and of a quick one. */
#define TUNING(all, few) .tuning = (all), .quick_tuning = (few)

/* A study of one algorithm on a9a, at the problem's tau and alpha. */
#define STUDY(id, heading, where, given, few, list)                                  \
    {                                                                                \
        .name = (id), .title = (heading), .source = (where), .data = EXPERIMENT_A9A, \
        .settings = given, .quick = (few), .panels = TWO_PANELS, SERIES(list)        \
    }

static const paper_experiment experiments[] = {
    {.name = "regression",
     .title = "Regression on a9a",
     .source = "section 5, figure 1: 5 agents, er:0.6, n = 6512, |S| = q = 81",
     .data = EXPERIMENT_A9A,
     .settings = REGRESSION NETWORK STEPS "samples=6512 " LENGTH("1000000"),
     .quick = "samples=400 max-ifo=100000",
     TUNING(21000000, 1500000),
     .panels = FOUR_PANELS,
     SERIES(algorithms)},
    {.name = "auc-a9a",
     .title = "AUC on a9a",
     .source = "appendix B.1, figure 3(a): linear score, n = 6512",
     .data = EXPERIMENT_A9A,
     .settings = AUC NETWORK STEPS "samples=6512 " LENGTH("1500000"),
     .quick = "samples=400 max-ifo=150000",
     TUNING(21000000, 1500000),
     .panels = AUC_PANELS,
     SERIES(algorithms)},
    {.name = "auc-mnist",
     .title = "AUC on MNIST",
     .source = "appendix B.1, figure 3(b): linear score, digits 5-9 against 0-4, n = 2000",
     .data = EXPERIMENT_MNIST,
     .settings = AUC NETWORK STEPS "samples=2000 " LENGTH("1000000"),
     .quick = "samples=200 max-ifo=60000",
     TUNING(8000000, 1000000),
     .panels = AUC_PANELS,
     SERIES(algorithms)},
    STUDY("steps-x-regression", "Steps in x, regression",
          "appendix B.2, figure 4(a): PRECISION, n = 2000, eta = 0.1",
          REGRESSION NETWORK "samples=2000 " LENGTH("1000000") "trace-every=2",
          "samples=400 max-ifo=100000", steps_x),
    STUDY("steps-y-regression", "Steps in y, regression",
          "appendix B.2, figure 4(a): PRECISION, n = 2000, nu = 0.1",
          REGRESSION NETWORK "samples=2000 " LENGTH("1000000") "trace-every=2",
          "samples=400 max-ifo=100000", steps_y),
    STUDY("steps-x-auc", "Steps in x, AUC",
          "appendix B.2, figure 4(b): PRECISION, a9a, n = 2000, eta = 0.1",
          AUC NETWORK "samples=2000 " LENGTH("2000000") "trace-every=5",
          "samples=400 max-ifo=200000", steps_x),
    STUDY("steps-y-auc", "Steps in y, AUC",
          "appendix B.2, figure 4(b): PRECISION, a9a, n = 2000, nu = 0.1",
          AUC NETWORK "samples=2000 " LENGTH("2000000") "trace-every=5",
          "samples=400 max-ifo=200000", steps_y),
    STUDY("topology-regression", "Networks, regression",
          "appendix B.3, figure 6(a): PRECISION, 5 agents, n = 100",
          REGRESSION STEPS "agents=5 samples=100 " LENGTH("100000") "trace-every=1",
          "max-ifo=40000", networks),
    STUDY("topology-auc", "Networks, AUC",
          "appendix B.3, figure 6(b): PRECISION, a9a, 5 agents, n = 100",
          AUC STEPS "agents=5 samples=100 " LENGTH("600000") "trace-every=1", "max-ifo=60000",
          networks),
    {.name = "agents-regression",
     .title = "20 agents, regression",
     .source = "appendix B.4, figure 6(c): 20 agents, er:0.5, a9a, n = 1628",
     .data = EXPERIMENT_A9A,
     .settings = REGRESSION STEPS "agents=20 topology=er:0.5 samples=1628 " LENGTH("1000000"),
     .quick = "samples=100 max-ifo=100000",
     TUNING(21000000, 1500000),
     .panels = FOUR_PANELS,
     SERIES(algorithms)},
    {.name = "agents-auc",
     .title = "20 agents, AUC",
     .source = "appendix B.4, figure 6(c): 20 agents, er:0.5, a9a, n = 1628",
     .data = EXPERIMENT_A9A,
     .settings = AUC STEPS "agents=20 topology=er:0.5 samples=1628 " LENGTH("1500000"),
     .quick = "samples=100 max-ifo=150000",
     TUNING(21000000, 1500000),
     .panels = AUC_PANELS,
     SERIES(algorithms)},
    STUDY("refresh-regression", "Refreshes of PRECISION+, regression",
          "not in the paper, which gives no c_gamma: n = 6512",
          REGRESSION NETWORK STEPS "samples=6512 " LENGTH("1000000") "trace-every=2",
          "samples=400 max-ifo=100000", refreshes),
    STUDY("refresh-auc", "Refreshes of PRECISION+, AUC",
          "not in the paper, which gives no c_gamma: n = 6512",
          AUC NETWORK STEPS "samples=6512 " LENGTH("1000000") "trace-every=5",
          "samples=400 max-ifo=150000", refreshes),
    {.name = "complexity-quadratic",
     .title = "Complexity, quadratic",
     .source = "corollary 1: mu = 1, L = 10, n = 100 to 6400, until metric <= 1e-8",
     .data = EXPERIMENT_OWN,
     .settings = "problem=quadratic " NETWORK STEPS
                 "iterations=20000 tolerance=1e-8 trace-every=1 threads=1",
     .quick = "tolerance=1e-4 trace-every=2",
     .panels = TWO_PANELS,
     SERIES(sizes)},
    STUDY("complexity-regression", "Complexity, regression",
          "corollary 1: a9a, n = 100 to 6400, until metric <= 1e-8",
          REGRESSION NETWORK STEPS "iterations=3000 tolerance=1e-8 trace-every=1",
          "tolerance=1e-4 trace-every=2", sizes),
    {.name = "theorem",
     .title = "Theorems 1 and 2, quadratic",
     .source = "theorems 1 and 2, corrected: mu = 1.05, L = 3.16, 20 agents, complete network, n = "
               "10,000, the theory's steps",
     .data = EXPERIMENT_OWN,
     .settings = "problem=quadratic agents=20 topology=complete samples=10000 x-dim=6 y-dim=4 "
                 "mu=1.05 lipschitz=3.16 tau=20 steps=theory iterations=60000 trace-every=30 "
                 "metric-direction=own",
     .quick = "iterations=1000 samples=1000 trace-every=5",
     .panels = "iteration:mean_metric iteration:metric",
     SERIES(theorems)},
};

const paper_experiment *saddle_paper_experiments(size_t *count)
{
    *count = COUNT(experiments);
    return experiments;
}

/* ---- claims ----------------------------------------------------------------------------------- */

#define FIGURE_1 "section 5, Results"
#define AUC_TEXT "appendix B.1"
#define STEPS_TEXT "appendix B.2"
#define AGENTS_TEXT "appendix B.4"

/* What claims say, for those who do not want to read all of them. */
#define PLUS "PRECISION+ needs fewer samples than PRECISION"
#define AHEAD "PRECISION and PRECISION+ need fewer samples than Prox-GT-SGDA and Prox-DSGDA"
#define TALKS "PRECISION and PRECISION+ need at most half the rounds of Prox-GT-SGDA and Prox-DSGDA"
#define MUCH "PRECISION+ needs at most half the samples of the others (\"much\")"
#define SLOWER "smaller steps are slower"
#define INSENSITIVE "the network hardly matters"
#define SPARSER "the metric rises as the network gets sparser"
#define IN_N "samples grow at most like n^0.5"
#define IN_EPSILON "rounds grow at most like 1/epsilon^2"
#define IN_TIME "the metric falls at least like 1/T"

/* `first` is faster than `second`: reaches a level of `quantity` in 1/factor of its cost or less. */
#define FASTER(where, text, says, first, second, what, of, by, why)                     \
    {                                                                                   \
        .experiment = (where), .source = (text), .theme = (says), .kind = CLAIM_FASTER, \
        .series = first " " second, .cost = (what), .quantity = (of), .factor = (by),   \
        .reason = (why)                                                                 \
    }

#define A_THIRD                                                                                    \
    "with |S| = q = sqrt(n) the refreshes after the first are a third of PRECISION's samples, so " \
    "that even refreshes for nothing would save a third; and they grow to n once the iterates "    \
    "slow "                                                                                        \
    "down"
#define REFRESHES                                                                                 \
    "a refresh grows to n samples once the iterates slow down, so that what was saved before is " \
    "a "                                                                                          \
    "constant, and a poorer refresh may cost a few iterations more than it saved"
#define SCALAR                                                                                     \
    "y is one number here, which follows x quickly at any of these steps; what is left after the " \
    "start is the descent in x, which eta does not speed up"
#define FLOOR                                                                                     \
    "an iteration of PRECISION costs three times a baseline's IFO calls, and refresh 0 costs n: " \
    "until the baselines come to the floor of their noise they are ahead; below it they never "   \
    "come"
#define ROUNDS                                                                                    \
    "until the baselines come to the floor of their noise they need about as many rounds; below " \
    "it "                                                                                         \
    "they never come"
/* Which algorithm needs fewer IFO calls or rounds than which: everywhere the same statements. "much
 * lower communication costs" are taken to be half. */
#define COMPARISON(where, text, of)                                                        \
    FASTER(where, text, PLUS, "precision+", "precision", "ifo", of, 1, REFRESHES),         \
        FASTER(where, text, AHEAD, "precision+", "prox-gt-sgda", "ifo", of, 1, FLOOR),     \
        FASTER(where, text, AHEAD, "precision+", "prox-dsgda", "ifo", of, 1, FLOOR),       \
        FASTER(where, text, AHEAD, "precision", "prox-gt-sgda", "ifo", of, 1, FLOOR),      \
        FASTER(where, text, AHEAD, "precision", "prox-dsgda", "ifo", of, 1, FLOOR),        \
        FASTER(where, text, TALKS, "precision", "prox-gt-sgda", "rounds", of, 2, ROUNDS),  \
        FASTER(where, text, TALKS, "precision", "prox-dsgda", "rounds", of, 2, ROUNDS),    \
        FASTER(where, text, TALKS, "precision+", "prox-gt-sgda", "rounds", of, 2, ROUNDS), \
        FASTER(where, text, TALKS, "precision+", "prox-dsgda", "rounds", of, 2, ROUNDS)
/* "much faster" is taken to be half. */
#define MUCH_FASTER(where, text, of)                                                  \
    FASTER(where, text, MUCH, "precision+", "precision", "ifo", of, 2, A_THIRD),      \
        FASTER(where, text, MUCH, "precision+", "prox-gt-sgda", "ifo", of, 2, FLOOR), \
        FASTER(where, text, MUCH, "precision+", "prox-dsgda", "ifo", of, 2, FLOOR)
/* A step and smaller ones. */
#define STEPS_IN(where, largest, others, why) \
    FASTER(where, STEPS_TEXT, SLOWER, largest, others, "ifo", "metric", 1, why)

/* A claim about networks from dense to sparse. */
#define NETWORKS_CLAIM(where, says, what, by)                                                    \
    {                                                                                            \
        .experiment = (where), .source = "appendix B.3", .theme = (says), .kind = (what),        \
        .series = "er-0.9 er-0.6 er-0.3", .cost = "rounds", .quantity = "metric", .factor = (by) \
    }
#define NETWORKS_IN(where)                                \
    NETWORKS_CLAIM(where, INSENSITIVE, CLAIM_ALIKE, 1.5), \
        NETWORKS_CLAIM(where, SPARSER, CLAIM_BELOW, 1)
/* A cost, or the metric, grows at most like a power. */
#define RATE(where, text, says, what, runs, of, at, power)                                    \
    {                                                                                         \
        .experiment = (where), .source = (text), .theme = (says), .kind = (what),             \
        .series = (runs), .cost = (of), .quantity = "metric", .level = (at), .bound = (power) \
    }
#define RATES_IN(where)                                                                           \
    RATE(where, "corollary 1", IN_N, CLAIM_SLOPE_VALUE, "n-100 n-400 n-1600 n-6400", "ifo", 1e-8, \
         0.5),                                                                                    \
        RATE(where, "corollary 1", IN_EPSILON, CLAIM_SLOPE_EPSILON, "n-1600", "rounds", 0, 1),    \
        RATE(where, "theorem 1", IN_TIME, CLAIM_SLOPE_TIME, "n-1600", "rounds", 0, -1)

static const paper_claim claims[] = {
    COMPARISON("regression", FIGURE_1, "metric"),
    MUCH_FASTER("regression", FIGURE_1, "metric"),
    COMPARISON("regression", FIGURE_1, "loss"),
    MUCH_FASTER("regression", FIGURE_1, "loss"),
    COMPARISON("auc-a9a", AUC_TEXT, "metric"),
    COMPARISON("auc-mnist", AUC_TEXT, "metric"),
    STEPS_IN("steps-x-regression", "nu-0.1", "nu-0.03 nu-0.01", NULL),
    STEPS_IN("steps-y-regression", "eta-0.1", "eta-0.03 eta-0.01", NULL),
    STEPS_IN("steps-x-auc", "nu-0.1", "nu-0.03 nu-0.01", NULL),
    STEPS_IN("steps-y-auc", "eta-0.1", "eta-0.03 eta-0.01", SCALAR),
    NETWORKS_IN("topology-regression"),
    NETWORKS_IN("topology-auc"),
    COMPARISON("agents-regression", AGENTS_TEXT, "metric"),
    COMPARISON("agents-auc", AGENTS_TEXT, "metric"),
    RATES_IN("complexity-quadratic"),
    RATES_IN("complexity-regression"),
};

const paper_claim *saddle_paper_claims(size_t *count)
{
    *count = COUNT(claims);
    return claims;
}

const experiment_series *saddle_paper_algorithms(size_t *count)
{
    *count = COMPARED;
    return algorithms;
}

const paper_claim *saddle_paper_comparison_claims(size_t *count)
{
    static const paper_claim list[] = {COMPARISON("", "", "metric")};
    *count = COUNT(list);
    return list;
}

const experiment_series *saddle_paper_series(const paper_experiment *e, const char *name,
                                             size_t length)
{
    for (size_t s = 0; s < e->count; s++)
        if (strlen(e->series[s].name) == length && strncmp(e->series[s].name, name, length) == 0)
            return &e->series[s];
    return NULL;
}
