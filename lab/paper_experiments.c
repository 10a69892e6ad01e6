/*
 * The experiments of Liu, Zhang, Lu, Liu, "PRECISION" (MobiHoc 2023), section 4 and appendix B, and some of ours.
 *
 * The paper gives nu (called gamma in its experiments) and eta, both 0.1, |S| = q = ceil(sqrt(n)) in appendices B.2 to
 * B.4, and a start "from the normal distribution". Its experiments are repeated as literally as possible: tau = alpha =
 * 1, so that PRECISION's step with nu = 0.1 is the baselines' -gamma g with gamma = 0.1, and a standard normal start
 * (LITERAL). It does not give the lengths of runs or the values of the step-size study.
 */
#include "lab/paper_experiments.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- series ---------------------------------------------------------------------------------- */

/* The paper's comparison. The distance of trace points in IFO calls is about the same for all. */
static const experiment_series compared[] = {
    {"precision", "PRECISION", "precision", "trace-every=5", 0, false, NULL},
    {"precision+", "PRECISION+", "precision+", "trace-every=5", 0, false, NULL},
    {"prox-gt-sgda", "Prox-GT-SGDA", "prox-gt-sgda", "trace-every=10", 0, false, NULL},
    {"prox-dsgda", "Prox-DSGDA", "prox-dsgda", "trace-every=10", 0, false, NULL},
};
/* An algorithm with its default steps and a batch. */
#define BATCH(which, title, batch_size, every)                            \
    {                                                                     \
        which "-batch-" #batch_size, title ", |S| = " #batch_size, which, \
            "batch=" #batch_size " trace-every=" #every, 0, false, NULL   \
    }
/* Every algorithm at its best. Tuning for the length of the run may slow a method down on the
 * way, so each also runs with its default steps, with several batches; these series are not
 * drawn. Claims use the best series at every level. Trace points are about 1000 IFO calls apart
 * for all. */
#define TUNED_DRAWN 8
static const experiment_series tuned[] = {
    {"precision", "PRECISION", "precision", "", 0, true, NULL},
    {"precision+", "PRECISION+", "precision+", "", 0, true, NULL},
    {"prox-gt-sgda", "Prox-GT-SGDA", "prox-gt-sgda", "", 0, true, NULL},
    {"prox-dsgda", "Prox-DSGDA", "prox-dsgda", "", 0, true, NULL},
    {"precision-default", "PRECISION, default", "precision", "trace-every=2", 0, false, NULL},
    {"precision+-default", "PRECISION+, default", "precision+", "trace-every=8", 0, false, NULL},
    {"prox-gt-sgda-default", "Prox-GT-SGDA, default", "prox-gt-sgda", "trace-every=3", 0, false,
     NULL},
    {"prox-dsgda-default", "Prox-DSGDA, default", "prox-dsgda", "trace-every=3", 0, false, NULL},
    BATCH("precision", "PRECISION", 2, 2),
    BATCH("precision", "PRECISION", 6, 2),
    BATCH("precision", "PRECISION", 60, 1),
    BATCH("precision+", "PRECISION+", 2, 20),
    BATCH("precision+", "PRECISION+", 6, 12),
    BATCH("precision+", "PRECISION+", 40, 3),
    BATCH("prox-gt-sgda", "Prox-GT-SGDA", 2, 100),
    BATCH("prox-gt-sgda", "Prox-GT-SGDA", 6, 33),
    BATCH("prox-gt-sgda", "Prox-GT-SGDA", 20, 10),
    BATCH("prox-dsgda", "Prox-DSGDA", 2, 100),
    BATCH("prox-dsgda", "Prox-DSGDA", 6, 33),
    BATCH("prox-dsgda", "Prox-DSGDA", 20, 10),
};
static const experiment_series steps_x[] = {
    {"nu-0.1", "nu = 0.1", "precision", "nu=0.1 eta=0.1", 0.1, false, NULL},
    {"nu-0.03", "nu = 0.03", "precision", "nu=0.03 eta=0.1", 0.03, false, NULL},
    {"nu-0.01", "nu = 0.01", "precision", "nu=0.01 eta=0.1", 0.01, false, NULL},
};
static const experiment_series steps_y[] = {
    {"eta-0.1", "eta = 0.1", "precision", "nu=0.1 eta=0.1", 0.1, false, NULL},
    {"eta-0.03", "eta = 0.03", "precision", "nu=0.1 eta=0.03", 0.03, false, NULL},
    {"eta-0.01", "eta = 0.01", "precision", "nu=0.1 eta=0.01", 0.01, false, NULL},
};
static const experiment_series networks[] = {
    {"er-0.9", "p_c = 0.9", "precision", "topology=er:0.9", 0.9, false, NULL},
    {"er-0.6", "p_c = 0.6", "precision", "topology=er:0.6", 0.6, false, NULL},
    {"er-0.3", "p_c = 0.3", "precision", "topology=er:0.3", 0.3, false, NULL},
};
/* The metric with the exact direction of the network's gradient, and with the algorithm's own
 * noisy one. */
static const experiment_series directions[] = {
    {"precision", "PRECISION, exact direction", "precision", "trace-every=10", 0, false, NULL},
    {"precision-own", "PRECISION, own direction", "precision",
     "trace-every=10 metric-direction=own", 0, false, NULL},
    {"prox-gt-sgda", "Prox-GT-SGDA, exact direction", "prox-gt-sgda", "trace-every=20", 0, false,
     NULL},
    {"prox-gt-sgda-own", "Prox-GT-SGDA, own direction", "prox-gt-sgda",
     "trace-every=20 metric-direction=own", 0, false, NULL},
};
/* Batches and refreshes of PRECISION and PRECISION+ at n = 2025: the paper's, ours, and values
 * near them. */
static const experiment_series rules[] = {
    {"plus-paper", "PRECISION+, |S| = q = sqrt(n)", "precision+", "batch=45 q=45", 0, false, NULL},
    {"plus-default", "PRECISION+, |S| = sqrt(n)/8, q = 2 sqrt(R)", "precision+", "", 0, false,
     NULL},
    {"plus-fixed", "PRECISION+, |S| = sqrt(n)/8, q = sqrt(n)", "precision+", "batch=6 q=45", 0,
     false, NULL},
    {"plus-long", "PRECISION+, |S| = sqrt(n)/8, q = 4 sqrt(n)", "precision+", "batch=6 q=180", 0,
     false, NULL},
    {"plus-tiny", "PRECISION+, |S| = 2, q = 2 sqrt(R)", "precision+", "batch=2", 0, false, NULL},
    {"plus-large", "PRECISION+, |S| = sqrt(n)/2, q = 2 sqrt(R)", "precision+", "batch=23", 0, false,
     NULL},
    {"precision-paper", "PRECISION, |S| = q = sqrt(n)", "precision", "batch=45 q=45", 0, false,
     NULL},
    {"precision-default", "PRECISION, |S| = sqrt(n)/4, q = sqrt(n)", "precision", "", 0, false,
     NULL},
};
static const experiment_series refreshes[] = {
    {"c-gamma-100", "c_gamma = 100", "precision+", "c-gamma=100", 100, false, NULL},
    {"c-gamma-10", "c_gamma = 10", "precision+", "c-gamma=10", 10, false, NULL},
    {"c-gamma-1", "c_gamma = 1", "precision+", "c-gamma=1", 1, false, NULL},
    {"c-gamma-0.1", "c_gamma = 0.1", "precision+", "c-gamma=0.1", 0.1, false, NULL},
};
/* With |S| = q = sqrt(n), which the corollary assumes. */
static const experiment_series sizes[] = {
    {"n-100", "n = 100", "precision", "samples=100 batch=10 q=10", 100, false, NULL},
    {"n-400", "n = 400", "precision", "samples=400 batch=20 q=20", 400, false, NULL},
    {"n-1600", "n = 1600", "precision", "samples=1600 batch=40 q=40", 1600, false, NULL},
    {"n-6400", "n = 6400", "precision", "samples=6400 batch=80 q=80", 6400, false, NULL},
};
/* Theorem 2 assumes that gamma and a bound on the variance are known; the largest measured
 * variance is 12.7. */
static const experiment_series theorems[] = {
    {"precision", "PRECISION", "precision", "", 0, false, NULL},
    {"precision+", "PRECISION+", "precision+",
     "c-gamma=100 c-epsilon=1e4 epsilon=0.1 gamma=exact sigma2=15", 0, false, NULL},
};
/* Rules for lost messages, by the fraction that is lost. The series that lose a fifth are drawn
 * over rounds, in an order in which the dashes of coinciding curves differ. */
#define LOST(rule, title, percent, share, given)                                                \
    {                                                                                           \
        rule "-" #share, title ", " #percent "% lost", "precision", given #share, share, false, \
            NULL                                                                                \
    }
#define LOSSES(percent, share)                                                         \
    LOST("agreed", "agreed: both ends know", percent, share, "links=agreed:"),         \
        LOST("own", "inexact: own state", percent, share, "inexact=own links=lossy:"), \
        LOST("lossy", "lossy: running sums", percent, share, "links=lossy:"),          \
        LOST("stale", "inexact: last copy", percent, share, "inexact=stale links=lossy:")
#define LOSSES_DRAWN 5
static const experiment_series losses[] = {
    {"reliable", "reliable", "precision", "links=reliable", 0, false, NULL},
    LOSSES(20, 0.2),
    LOSSES(2, 0.02),
    LOSSES(10, 0.1),
    LOSSES(30, 0.3),
    LOSSES(50, 0.5),
};
/* An algorithm over links of several kinds. */
#define LINKED(which, title, name, kind)                                      \
    {                                                                         \
        which "-" name, title ", " kind, which, "links=" kind, 0, false, NULL \
    }
#define OVER_LINKS(which, title)                                                                  \
    LINKED(which, title, "reliable", "reliable"), LINKED(which, title, "lossy-0.2", "lossy:0.2"), \
        LINKED(which, title, "lossy-0.5", "lossy:0.5"),                                           \
        LINKED(which, title, "burst", "burst:0.2:20"), LINKED(which, title, "delay", "delay:5")
static const experiment_series over_links[] = {
    OVER_LINKS("precision", "PRECISION"),
    OVER_LINKS("precision+", "PRECISION+"),
    OVER_LINKS("gt-gda", "GT-GDA"),
    OVER_LINKS("prox-gt-sgda", "Prox-GT-SGDA"),
};
/* Compressed messages, on the link whose time is simulated. */
#define COMPRESSED(name, title, rule)                              \
    {                                                              \
        name, title, "precision", "compress=" rule, 0, false, NULL \
    }
static const experiment_series compressions[] = {
    COMPRESSED("doubles", "doubles", "none"),
    COMPRESSED("bits-8", "8 bits", "quantize:8"),
    COMPRESSED("bits-4", "4 bits", "quantize:4"),
    COMPRESSED("bits-2", "2 bits", "quantize:2"),
    COMPRESSED("top", "the largest 10%", "top:0.1"),
    COMPRESSED("random", "a random 10%", "random:0.1"),
};
/* Agents 3 and 7 leave, and 3 returns, against a run without 7 from the start. */
#define CHURNED(which, title, name, kind, links, events)                         \
    {                                                                            \
        which "-" name, title ", " kind, which, "links=" links, 0, false, events \
    }
#define LEAVE_AND_RETURN "500 leave 3\n500 leave 7\n1000 return 3\n"
#define NEVER_JOINS "9007199254740991 join 7\n"
#define WITH_CHURN(which, title)                                                                \
    CHURNED(which, title, "fresh", "nine from the start", "reliable", NEVER_JOINS),             \
        CHURNED(which, title, "churn", "two leave, one returns", "reliable", LEAVE_AND_RETURN), \
        CHURNED(which, title, "fresh-lossy", "nine from the start, lossy:0.2", "lossy:0.2",     \
                NEVER_JOINS),                                                                   \
        CHURNED(which, title, "churn-lossy", "two leave, one returns, lossy:0.2", "lossy:0.2",  \
                LEAVE_AND_RETURN)
static const experiment_series with_churn[] = {
    WITH_CHURN("precision", "PRECISION"),
    WITH_CHURN("precision+", "PRECISION+"),
    WITH_CHURN("gt-gda", "GT-GDA"),
    WITH_CHURN("prox-gt-sgda", "Prox-GT-SGDA"),
};
/* A ring that is cut into two halves. */
#define CUT_AND_HEAL "500 cut 0 9\n500 cut 4 5\n1000 heal 0 9\n1000 heal 4 5\n"
static const experiment_series partitions[] = {
    {"never", "never cut", "precision", "links=reliable", 0, false, NULL},
    {"healed", "cut in two and healed", "precision", "links=reliable", 0, false, CUT_AND_HEAL},
    {"never-lossy", "never cut, lossy:0.2", "precision", "links=lossy:0.2", 0, false, NULL},
    {"healed-lossy", "cut in two and healed, lossy:0.2", "precision", "links=lossy:0.2", 0, false,
     CUT_AND_HEAL},
};

/* ---- experiments ------------------------------------------------------------------------------ */

/* The paper's settings, taken literally; those of our own comparisons; and lengths in IFO calls
 * or rounds. */
#define LITERAL "steps=paper init=normal:1 "
#define STEPS "nu=0.1 eta=0.1 "
#define LENGTH(ifo) "iterations=9007199254740992 max-ifo=" ifo " "
#define ROUNDS(count) "iterations=9007199254740992 max-rounds=" count " "
#define REGRESSION "problem=robust-logistic "
#define AUC "problem=auc "
#define FAIR "problem=fair sensitive=72 "
#define NETWORK "agents=5 topology=er:0.6 "
#define TEN "agents=10 topology=er:0.6 "
#define TWENTY "agents=20 topology=er:0.5 "
#define FOUR_PANELS "ifo:loss_gap ifo:metric rounds:loss_gap rounds:metric"
#define TWO_PANELS "ifo:metric rounds:metric"
#define AUC_PANELS "ifo:metric rounds:metric ifo:train_auc rounds:train_auc"

#define SERIES(list) .count = COUNT(list), .series = (list)
/* An experiment of the paper, with its settings taken literally. */
#define LITERALLY(id, heading, where, on, given, few, pictures, list)                 \
    {                                                                                 \
        .name = (id), .title = (heading), .source = (where), .data = (on),            \
        .settings = LITERAL given, .quick = (few), .panels = (pictures), SERIES(list) \
    }
/* One of ours. */
#define OURS(id, heading, why, on, given, few, pictures, list)                         \
    {                                                                                  \
        .name = (id), .title = (heading), .source = (why), .ours = true, .data = (on), \
        .settings = given, .quick = (few), .panels = (pictures), SERIES(list)          \
    }
/* Every method with the best steps and batch of a search: its IFO calls, those of a quick
 * search, and the batches that it tries. */
#define TUNED(id, heading, on, given, few, pictures, all, quick_all, which)                        \
    {                                                                                              \
        .name = (id), .title = (heading),                                                          \
        .source = "ours: tau, alpha and the batch searched for each algorithm; and default steps " \
                  "with four batches",                                                             \
        .ours = true, .data = (on), .settings = given, .quick = (few), .tuning = (all),            \
        .quick_tuning = (quick_all), .batches = (which), .panels = (pictures), SERIES(tuned),      \
        .drawn = TUNED_DRAWN                                                                       \
    }
#define RULES(id, heading, given)                                                          \
    OURS(id, heading, "ours: how large mini-batches and how frequent refreshes should be", \
         EXPERIMENT_A9A, given NETWORK "samples=2025 " LENGTH("600000") "trace-every=2",   \
         "max-ifo=60000", TWO_PANELS, rules)

static const paper_experiment experiments[] = {
    LITERALLY("regression", "Regression on a9a", "section 4, figure 1", EXPERIMENT_A9A,
              REGRESSION NETWORK "samples=6512 " LENGTH("800000"), "samples=400 max-ifo=100000",
              FOUR_PANELS, compared),
    LITERALLY("auc-a9a", "AUC on a9a", "appendix B.1, figure 3(a), with a linear score",
              EXPERIMENT_A9A, AUC NETWORK "samples=6512 " LENGTH("1500000"),
              "samples=400 max-ifo=150000", AUC_PANELS, compared),
    /* With the literal settings all four algorithms diverge on pixels. */
    {.name = "auc-mnist",
     .title = "AUC on MNIST",
     .source = "appendix B.1, figure 3(b), with a linear score, digits 5-9 against 0-4; tau and "
               "alpha are those of the problem, since with tau = 1 all four diverge",
     .data = EXPERIMENT_MNIST,
     .settings = AUC NETWORK STEPS "init=normal:1 samples=2000 batch=45 q=45 " LENGTH("1000000"),
     .quick = "samples=200 batch=15 q=15 max-ifo=60000",
     .panels = AUC_PANELS,
     SERIES(compared)},
    LITERALLY("steps-x-regression", "Steps in x, regression", "appendix B.2, figure 4(a)",
              EXPERIMENT_A9A, REGRESSION NETWORK "samples=2000 " LENGTH("1000000") "trace-every=2",
              "samples=400 max-ifo=100000", TWO_PANELS, steps_x),
    LITERALLY("steps-y-regression", "Steps in y, regression", "appendix B.2, figure 4(a)",
              EXPERIMENT_A9A, REGRESSION NETWORK "samples=2000 " LENGTH("1000000") "trace-every=2",
              "samples=400 max-ifo=100000", TWO_PANELS, steps_y),
    LITERALLY("steps-x-auc", "Steps in x, AUC", "appendix B.2, figure 4(b)", EXPERIMENT_A9A,
              AUC NETWORK "samples=2000 " LENGTH("2000000") "trace-every=5",
              "samples=400 max-ifo=200000", TWO_PANELS, steps_x),
    LITERALLY("steps-y-auc", "Steps in y, AUC", "appendix B.2, figure 4(b)", EXPERIMENT_A9A,
              AUC NETWORK "samples=2000 " LENGTH("2000000") "trace-every=5",
              "samples=400 max-ifo=200000", TWO_PANELS, steps_y),
    LITERALLY("topology-regression", "Networks, regression", "appendix B.3, figure 6(a)",
              EXPERIMENT_A9A, REGRESSION "agents=5 samples=100 " LENGTH("100000") "trace-every=1",
              "max-ifo=40000", TWO_PANELS, networks),
    LITERALLY("topology-auc", "Networks, AUC", "appendix B.3, figure 6(b)", EXPERIMENT_A9A,
              AUC "agents=5 samples=100 " LENGTH("400000") "trace-every=1", "max-ifo=60000",
              TWO_PANELS, networks),
    LITERALLY("agents-regression", "20 agents, regression", "appendix B.4, figure 6(c)",
              EXPERIMENT_A9A, REGRESSION TWENTY "samples=1628 " LENGTH("800000"),
              "samples=100 max-ifo=100000", FOUR_PANELS, compared),
    /* Appendix B.4 compares with section 4, which is about regression. */
    OURS("agents-auc", "20 agents, AUC", "ours: appendix B.4 on AUC", EXPERIMENT_A9A,
         LITERAL AUC TWENTY "samples=1628 " LENGTH("1500000"), "samples=100 max-ifo=150000",
         AUC_PANELS, compared),
    TUNED("tuned-regression", "Every method at its best, regression", EXPERIMENT_A9A,
          REGRESSION NETWORK STEPS "samples=6512 " LENGTH("1000000"), "samples=400 max-ifo=50000",
          FOUR_PANELS, 42000000, 800000, "batch=5,20,81"),
    TUNED("tuned-auc-a9a", "Every method at its best, AUC on a9a", EXPERIMENT_A9A,
          AUC NETWORK STEPS "samples=6512 " LENGTH("1500000"), "samples=400 max-ifo=50000",
          AUC_PANELS, 42000000, 800000, "batch=5,20,81"),
    TUNED("tuned-auc-mnist", "Every method at its best, AUC on MNIST", EXPERIMENT_MNIST,
          AUC NETWORK STEPS "samples=2000 " LENGTH("1000000"), "samples=200 max-ifo=30000",
          AUC_PANELS, 14000000, 400000, "batch=3,11,45"),
    OURS("direction-auc", "Two directions of the metric, AUC on a9a",
         "ours: what the metric makes of a noisy direction", EXPERIMENT_A9A,
         AUC NETWORK LITERAL "samples=6512 " LENGTH("600000"), "samples=400 max-ifo=60000",
         TWO_PANELS, directions),
    RULES("rule-regression", "Batches and refreshes, regression", REGRESSION),
    RULES("rule-auc", "Batches and refreshes, AUC", AUC),
    RULES("rule-fair", "Batches and refreshes, fairness", FAIR),
    OURS("refresh-regression", "c_gamma of PRECISION+, regression",
         "ours: the paper gives no c_gamma", EXPERIMENT_A9A,
         REGRESSION NETWORK STEPS "samples=6512 " LENGTH("300000") "trace-every=2",
         "samples=400 max-ifo=30000", TWO_PANELS, refreshes),
    OURS("refresh-auc", "c_gamma of PRECISION+, AUC", "ours: the paper gives no c_gamma",
         EXPERIMENT_A9A, AUC NETWORK STEPS "samples=6512 " LENGTH("500000") "trace-every=5",
         "samples=400 max-ifo=50000", TWO_PANELS, refreshes),
    {.name = "complexity-quadratic",
     .title = "Complexity, quadratic",
     .source = "corollary 1, with mu = 1 and L = 10",
     .data = EXPERIMENT_OWN,
     .settings = "problem=quadratic " NETWORK STEPS
                 "iterations=20000 tolerance=1e-8 trace-every=1 threads=1",
     .quick = "tolerance=1e-4 trace-every=2",
     .panels = TWO_PANELS,
     SERIES(sizes)},
    {.name = "complexity-regression",
     .title = "Complexity, regression",
     .source = "corollary 1, on a9a",
     .data = EXPERIMENT_A9A,
     .settings = REGRESSION NETWORK STEPS "iterations=3000 tolerance=1e-8 trace-every=1",
     .quick = "tolerance=1e-4 trace-every=2",
     .panels = TWO_PANELS,
     SERIES(sizes)},
    {.name = "theorem",
     .title = "Theorems 1 and 2, quadratic",
     .source = "ours: theorems 1 and 2, corrected, with mu = 1.05, L = 3.16 and the theory's steps",
     .ours = true,
     .data = EXPERIMENT_OWN,
     .settings = "problem=quadratic agents=20 topology=complete samples=10000 x-dim=6 y-dim=4 "
                 "mu=1.05 lipschitz=3.16 tau=20 steps=theory iterations=60000 trace-every=30 "
                 "metric-direction=own",
     .quick = "iterations=1000 samples=1000 trace-every=5",
     .panels = "iteration:mean_metric iteration:metric",
     SERIES(theorems)},
    {.name = "networks-loss",
     .title = "Lost messages, PRECISION on a9a",
     .source = "ours: what is done about lost messages",
     .ours = true,
     .data = EXPERIMENT_A9A,
     .settings = REGRESSION TEN "samples=200 batch=15 q=15 " ROUNDS("1000") "trace-every=5",
     .quick = "samples=50 batch=8 q=8 max-rounds=150",
     .panels = "rounds:y_gap value:y_gap rounds:metric value:metric",
     .varied = "share of the messages that are lost",
     SERIES(losses),
     .drawn = LOSSES_DRAWN},
    OURS("networks-algorithms", "Losses, bursts and delays on a9a",
         "ours: the algorithms that stay exact when messages are lost", EXPERIMENT_A9A,
         REGRESSION TEN "samples=200 " ROUNDS("2000") "trace-every=5", "samples=50 max-rounds=150",
         "rounds:metric@PRECISION rounds:metric@PRECISION+ rounds:metric@GT-GDA "
         "rounds:metric@Prox-GT-SGDA",
         over_links),
    OURS("networks-compression", "Compressed messages, PRECISION on a9a",
         "ours: links of 1 Mbit/s and 20 ms, a microsecond for each IFO call", EXPERIMENT_A9A,
         REGRESSION TEN "samples=200 batch=15 q=15 iterations=9007199254740992 "
                        "link-model=latency:0.02,bandwidth:125000,compute:1e-6 "
                        "max-network-seconds=30 trace-every=1",
         "samples=50 batch=8 q=8 max-network-seconds=3", "bytes:metric network_seconds:metric",
         compressions),
    OURS("networks-churn", "Agents leave and return, a9a",
         "ours: after 500 rounds two agents leave, after 1000 one of them returns", EXPERIMENT_A9A,
         REGRESSION TEN "samples=200 " ROUNDS("3000") "trace-every=5", "samples=50 max-rounds=1200",
         "rounds:metric@PRECISION rounds:metric@PRECISION+ rounds:metric@GT-GDA "
         "rounds:metric@Prox-GT-SGDA",
         with_churn),
    OURS("networks-partition", "A network that falls in two, PRECISION on a9a",
         "ours: a ring is cut in two after 500 rounds and healed after 1000", EXPERIMENT_A9A,
         REGRESSION "agents=10 topology=ring samples=200 " ROUNDS("3000") "trace-every=5",
         "samples=50 max-rounds=1200", "rounds:metric rounds:x_consensus", partitions),
};

const paper_experiment *saddle_paper_experiments(size_t *count)
{
    *count = COUNT(experiments);
    return experiments;
}

const experiment_series *saddle_paper_algorithms(size_t *count)
{
    *count = COUNT(compared);
    return compared;
}

const experiment_series *saddle_paper_series(const paper_experiment *e, const char *name,
                                             size_t length)
{
    for (size_t s = 0; s < e->count; s++)
        if (strlen(e->series[s].name) == length && strncmp(e->series[s].name, name, length) == 0)
            return &e->series[s];
    return NULL;
}
