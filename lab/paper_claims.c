/*
 * The claims of Liu, Zhang, Lu, Liu, "PRECISION" (MobiHoc 2023) that runs can contradict, and claims of ours, with the
 * tests of each. Section and remark numbers are those of the paper.
 */
#include "lab/paper_claims.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define RESULTS "section 4, Results"

static const paper_claim claims[] = {
    {"plus-much-faster", RESULTS,
     "PRECISION+ converges much faster than PRECISION, Prox-GT-SGDA and Prox-DSGDA in IFO calls",
     "much faster: in at most half the calls, by the metric and, in `reproduce`, by the loss"},
    {"fewer-samples", RESULTS,
     "PRECISION and PRECISION+ have lower sample complexities than Prox-GT-SGDA and Prox-DSGDA",
     "fewer IFO calls, by the metric and, in `reproduce`, by the loss"},
    {"less-communication", RESULTS,
     "PRECISION and PRECISION+ have much lower communication costs than Prox-GT-SGDA and "
     "Prox-DSGDA",
     "much lower: at most half the rounds, by the metric and, in `reproduce`, by the loss"},
    {"plus-saves", "section 3.3, last remark",
     "PRECISION+ uses significantly fewer samples than PRECISION in practice",
     "fewer IFO calls, by the metric; any saving counts as significant that all seeds show"},
    {"auc-low", "appendix B.1",
     "on AUC, PRECISION and PRECISION+ enjoy low sample and communication complexities on a9a and "
     "MNIST",
     "low: fewer IFO calls and rounds than Prox-GT-SGDA and Prox-DSGDA; the paper does not say "
     "than what"},
    {"smaller-steps", "appendix B.2", "smaller learning rates lead to slower convergence",
     "nu and eta of 0.1, 0.03 and 0.01 cost more IFO calls in this order"},
    {"insensitive", "appendix B.3", "the metric is insensitive to the network topology",
     "rounds differ by less than a factor of 1.5 between p_c = 0.9, 0.6 and 0.3"},
    {"sparser", "appendix B.3", "the metric increases slightly as p_c decreases",
     "at equal iterations, in the geometric mean over the run"},
    {"twenty-agents", "appendix B.4", "with 20 agents results are similar to those of section 4",
     "PRECISION and PRECISION+ need fewer IFO calls and rounds than Prox-GT-SGDA and Prox-DSGDA, "
     "by the metric"},
    {"rounds-rate", "corollary 1", "communication rounds are O(1/epsilon^2)",
     "the fitted exponent of 1/epsilon^2 is not above 1"},
    {"samples-rate", "corollary 1", "samples are O(m sqrt(n) / epsilon^2)",
     "refresh 0 costs n and an iteration at most 3 sqrt(n) per agent, so: the fitted exponent of n "
     "in the number of rounds is not above 0; on `quadratic`, whose constants do not depend on n"},
    {"time-rate", "theorem 1", "the mean metric over T iterations falls like 1/T",
     "the exponent of T, fitted from half of the run to its end, is -1.00: at most -0.995; it "
     "cannot be below -1"},
    {"theorem-1", NULL, "the mean metric of PRECISION is below the corrected bound of theorem 1",
     "docs/theory.md has the correction; with its steps"},
    {"theorem-2", NULL, "the mean metric of PRECISION+ is below the corrected bound of theorem 2",
     "with its steps and partial refreshes"},
    {"twenty-agents-auc", NULL,
     "with 20 agents, PRECISION and PRECISION+ also need fewer IFO calls and rounds than "
     "Prox-GT-SGDA and Prox-DSGDA on AUC",
     "by the metric; appendix B.4 refers to section 4, which is about regression"},
    {"regression-rounds", NULL, "on regression, the number of rounds does not grow with n",
     "the fitted exponent of n is not above 0; each n is a different problem"},
    {"best-plus", NULL,
     "with every method at its best, PRECISION+ needs fewer IFO calls than Prox-GT-SGDA and "
     "Prox-DSGDA",
     "at each level the best of tuned steps and batch, and of default steps with four batches"},
    {"best-precision", NULL,
     "with every method at its best, PRECISION needs fewer IFO calls than Prox-GT-SGDA and "
     "Prox-DSGDA",
     NULL},
    {"best-saves", NULL,
     "with every method at its best, PRECISION+ needs fewer IFO calls than PRECISION", NULL},
    {"best-rounds", NULL,
     "with every method at its best, PRECISION and PRECISION+ need fewer rounds than "
     "Prox-GT-SGDA and Prox-DSGDA",
     NULL},
    {"rule-samples", NULL,
     "PRECISION+ with |S| = sqrt(n)/8 and q = 2 sqrt(R) needs at most a third of the IFO calls "
     "that it needs with |S| = q = sqrt(n)",
     NULL},
    {"rule-rounds", NULL,
     "PRECISION+ with |S| = sqrt(n)/8 and q = 2 sqrt(R) needs at most 1.3 times as many rounds",
     NULL},
    {"rule-precision", NULL,
     "PRECISION with |S| = sqrt(n)/4 needs fewer IFO calls than with |S| = sqrt(n)", NULL},
    {"loss-exact", NULL,
     "when 20% of the messages are lost, PRECISION needs as many rounds as with reliable links, by "
     "either exact rule",
     "within a factor of 1.1"},
    {"loss-half", NULL,
     "when 50% of the messages are lost, PRECISION needs at most twice as many rounds",
     "the messages that arrive in these rounds are as many as without losses"},
    {"loss-inexact", NULL,
     "with running sums and 50% of the messages lost, PRECISION needs fewer rounds than with 2% "
     "lost and replaced by the last copy or by the receiver's own state",
     NULL},
    {"loss-algorithms", NULL,
     "when 20% of the messages are lost, PRECISION, PRECISION+, GT-GDA and Prox-GT-SGDA need at "
     "most 1.25 times as many rounds",
     "the messages that arrive in these rounds are as many as without losses"},
    {"bits-rounds", NULL,
     "with 8, 4 or 2 bits for each number of a message, PRECISION needs as many rounds as with "
     "doubles",
     "within a factor of 1.1"},
    {"bits-bytes", NULL, "with 2 bits, PRECISION needs at most a twentieth of the bytes", NULL},
    {"bits-seconds", NULL,
     "with 2 bits, PRECISION needs at most half of the time on links of 1 Mbit/s and 20 ms", NULL},
    {"churn", NULL,
     "after two agents have left and one has returned, PRECISION, PRECISION+, GT-GDA and "
     "Prox-GT-SGDA need at most 1.5 times the rounds of a run that begins with the agents present",
     "counted from the return, as 1 where the metric stays at the level throughout; with reliable "
     "links and with 20% of the messages lost"},
    {"partition", NULL,
     "after a ring that was cut in two is healed, PRECISION needs at most 1.5 times the rounds of "
     "a run on a ring that was never cut",
     "counted from the healing in the same way; with reliable links and with 20% of the messages "
     "lost"},
};

/* ---- tests ------------------------------------------------------------------------------------ */

/* `first` reaches a level of `what` at 1/by of the cost of `second` or less. */
#define FASTER(of, where, first, second, price, what, by)                                      \
    {                                                                                          \
        .claim = (of), .experiment = (where), .kind = TEST_FASTER, .series = first " " second, \
        .cost = (price), .quantity = (what), .factor = (by)                                    \
    }
/* One algorithm against both baselines. */
#define BASELINES(of, where, which, price, what, by)           \
    FASTER(of, where, which, "prox-gt-sgda", price, what, by), \
        FASTER(of, where, which, "prox-dsgda", price, what, by)
#define BOTH(of, where, price, what, by)                \
    BASELINES(of, where, "precision", price, what, by), \
        BASELINES(of, where, "precision+", price, what, by)
/* The three claims of section 4, by one quantity. */
#define MUCH_FASTER(where, what)                                                  \
    FASTER("plus-much-faster", where, "precision+", "precision", "ifo", what, 2), \
        BASELINES("plus-much-faster", where, "precision+", "ifo", what, 2)
#define FEWER_SAMPLES(where, what) BOTH("fewer-samples", where, "ifo", what, 1)
#define LESS_COMMUNICATION(where, what) BOTH("less-communication", where, "rounds", what, 2)
#define STEPS(where, largest, others) \
    FASTER("smaller-steps", where, largest, others, "ifo", "metric", 1)
/* Series that are about equally fast, or one below the other. */
#define COMPARED(of, where, what, runs, by)                                                       \
    {                                                                                             \
        .claim = (of), .experiment = (where), .kind = (what), .series = (runs), .cost = "rounds", \
        .quantity = "metric", .factor = (by)                                                      \
    }
#define NETWORKS(of, where, what, by) COMPARED(of, where, what, "er-0.9 er-0.6 er-0.3", by)
/* An algorithm after the last change of membership against itself from the start. */
#define AFTER_CHURN(which)                                                                      \
    FASTER("churn", "networks-churn", which "-churn", which "-fresh", "rounds_after", "metric", \
           1 / 1.5),                                                                            \
        FASTER("churn", "networks-churn", which "-churn-lossy", which "-fresh-lossy",           \
               "rounds_after", "metric", 1 / 1.5)
/* An algorithm on lossy links against itself on reliable ones. */
#define LOSSY(which)                                                                        \
    FASTER("loss-algorithms", "networks-algorithms", which "-lossy-0.2", which "-reliable", \
           "rounds", "metric", 1 / 1.25)
#define RATE(of, where, what, runs, price, at, power)                                            \
    {                                                                                            \
        .claim = (of), .experiment = (where), .kind = (what), .series = (runs), .cost = (price), \
        .quantity = "metric", .level = (at), .bound = (power)                                    \
    }
#define THEOREM(of, which)                                                              \
    {                                                                                   \
        .claim = (of), .experiment = "theorem", .kind = TEST_THEOREM, .series = (which) \
    }
/* One test per experiment with tuned methods, or per experiment on batches and refreshes. */
#define TUNED(macro, ...)                                                        \
    macro("tuned-regression", __VA_ARGS__), macro("tuned-auc-a9a", __VA_ARGS__), \
        macro("tuned-auc-mnist", __VA_ARGS__)
#define BEST(where, of, which) BASELINES(of, where, which, "ifo", "metric", 1)
#define BEST_SAVES(where, of) FASTER(of, where, "precision+", "precision", "ifo", "metric", 1)
#define BEST_ROUNDS(where, of) BOTH(of, where, "rounds", "metric", 1)
#define RULE(of, first, second, price, by)                             \
    FASTER(of, "rule-regression", first, second, price, "metric", by), \
        FASTER(of, "rule-auc", first, second, price, "metric", by),    \
        FASTER(of, "rule-fair", first, second, price, "metric", by)

static const paper_test tests[] = {
    MUCH_FASTER("regression", "metric"),
    MUCH_FASTER("regression", "loss"),
    FEWER_SAMPLES("regression", "metric"),
    FEWER_SAMPLES("regression", "loss"),
    LESS_COMMUNICATION("regression", "metric"),
    LESS_COMMUNICATION("regression", "loss"),
    FASTER("plus-saves", "regression", "precision+", "precision", "ifo", "metric", 1),
    FASTER("plus-saves", "auc-a9a", "precision+", "precision", "ifo", "metric", 1),
    FASTER("plus-saves", "auc-mnist", "precision+", "precision", "ifo", "metric", 1),
    FASTER("plus-saves", "agents-regression", "precision+", "precision", "ifo", "metric", 1),
    BOTH("auc-low", "auc-a9a", "ifo", "metric", 1),
    BOTH("auc-low", "auc-a9a", "rounds", "metric", 1),
    BOTH("auc-low", "auc-mnist", "ifo", "metric", 1),
    BOTH("auc-low", "auc-mnist", "rounds", "metric", 1),
    STEPS("steps-x-regression", "nu-0.1", "nu-0.03 nu-0.01"),
    STEPS("steps-y-regression", "eta-0.1", "eta-0.03 eta-0.01"),
    STEPS("steps-x-auc", "nu-0.1", "nu-0.03 nu-0.01"),
    STEPS("steps-y-auc", "eta-0.1", "eta-0.03 eta-0.01"),
    NETWORKS("insensitive", "topology-regression", TEST_ALIKE, 1.5),
    NETWORKS("insensitive", "topology-auc", TEST_ALIKE, 1.5),
    NETWORKS("sparser", "topology-regression", TEST_BELOW, 1),
    NETWORKS("sparser", "topology-auc", TEST_BELOW, 1),
    BOTH("twenty-agents", "agents-regression", "ifo", "metric", 1),
    BOTH("twenty-agents", "agents-regression", "rounds", "metric", 1),
    RATE("rounds-rate", "complexity-quadratic", TEST_SLOPE_EPSILON, "n-1600", "rounds", 0, 1),
    RATE("rounds-rate", "complexity-regression", TEST_SLOPE_EPSILON, "n-1600", "rounds", 0, 1),
    RATE("samples-rate", "complexity-quadratic", TEST_SLOPE_VALUE, "n-100 n-400 n-1600 n-6400",
         "rounds", 1e-8, 0),
    RATE("time-rate", "complexity-quadratic", TEST_SLOPE_TIME, "n-1600", "rounds", 0, -1),
    RATE("time-rate", "complexity-regression", TEST_SLOPE_TIME, "n-1600", "rounds", 0, -1),
    THEOREM("theorem-1", "precision"),
    THEOREM("theorem-2", "precision+"),
    BOTH("twenty-agents-auc", "agents-auc", "ifo", "metric", 1),
    BOTH("twenty-agents-auc", "agents-auc", "rounds", "metric", 1),
    RATE("regression-rounds", "complexity-regression", TEST_SLOPE_VALUE,
         "n-100 n-400 n-1600 n-6400", "rounds", 1e-8, 0),
    TUNED(BEST, "best-plus", "precision+"),
    TUNED(BEST, "best-precision", "precision"),
    TUNED(BEST_SAVES, "best-saves"),
    TUNED(BEST_ROUNDS, "best-rounds"),
    RULE("rule-samples", "plus-default", "plus-paper", "ifo", 3),
    RULE("rule-rounds", "plus-default", "plus-paper", "rounds", 1 / 1.3),
    RULE("rule-precision", "precision-default", "precision-paper", "ifo", 1),
    COMPARED("loss-exact", "networks-loss", TEST_ALIKE, "reliable agreed-0.2 lossy-0.2", 1.1),
    FASTER("loss-half", "networks-loss", "agreed-0.5", "reliable", "rounds", "metric", 1 / 2.0),
    FASTER("loss-half", "networks-loss", "lossy-0.5", "reliable", "rounds", "metric", 1 / 2.0),
    FASTER("loss-inexact", "networks-loss", "lossy-0.5", "stale-0.02", "rounds", "metric", 1),
    FASTER("loss-inexact", "networks-loss", "lossy-0.5", "own-0.02", "rounds", "metric", 1),
    LOSSY("precision"),
    LOSSY("precision+"),
    LOSSY("gt-gda"),
    LOSSY("prox-gt-sgda"),
    COMPARED("bits-rounds", "networks-compression", TEST_ALIKE, "doubles bits-8 bits-4 bits-2",
             1.1),
    FASTER("bits-bytes", "networks-compression", "bits-2", "doubles", "bytes", "metric", 20),
    FASTER("bits-seconds", "networks-compression", "bits-2", "doubles", "network_seconds", "metric",
           2),
    AFTER_CHURN("precision"),
    AFTER_CHURN("precision+"),
    AFTER_CHURN("gt-gda"),
    AFTER_CHURN("prox-gt-sgda"),
    FASTER("partition", "networks-partition", "healed", "never", "rounds_after", "metric", 1 / 1.5),
    FASTER("partition", "networks-partition", "healed-lossy", "never-lossy", "rounds_after",
           "metric", 1 / 1.5),
};

const paper_claim *saddle_paper_claims(size_t *count)
{
    *count = COUNT(claims);
    return claims;
}

const paper_test *saddle_paper_tests(size_t *count)
{
    *count = COUNT(tests);
    return tests;
}

const paper_test *saddle_paper_comparison_tests(size_t *count)
{
    static const paper_test list[] = {MUCH_FASTER("", "metric"), FEWER_SAMPLES("", "metric"),
                                      LESS_COMMUNICATION("", "metric")};
    *count = COUNT(list);
    return list;
}

const paper_claim *saddle_paper_claim(const char *name)
{
    for (size_t k = 0; k < COUNT(claims); k++)
        if (strcmp(claims[k].name, name) == 0)
            return &claims[k];
    return NULL;
}

bool saddle_claim_is_ours(const paper_claim *claim)
{
    return claim->source == NULL;
}

const char *saddle_claim_source(const paper_claim *claim)
{
    return saddle_claim_is_ours(claim) ? "ours" : claim->source;
}
