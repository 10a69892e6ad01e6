/*
 * Every algorithm makes progress on every built-in problem with its default step sizes; short tests choose.
 *
 * Progress is measured by Q(xbar) = max over Y of F(xbar, .) + h(xbar), the function that is minimized:
 * each algorithm must lower it by at least a third of what PRECISION does. The metric is not suitable:
 * methods without gradient tracking end with agents that disagree about y where their data differ
 * (group-dro, whose groups are the agents), so their metric grows while Q falls.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/algorithms.h"
#include "core/print.h"
#include "instances.h"
#include "run/run.h"
#include "support.h"

/* The required share of PRECISION's progress; the smallest one reached is 0.46, by Prox-DSGDA on poisoning. */
#define SHARE (1.0 / 3.0)
/* Passes over the data; more if one iteration takes several. */
#define PASSES 300
#define MORE_PASSES 1000

typedef struct setting {
    const char *name;
    const char *assignment[7];
    bool needs_set; /* without X, Q has no minimum */
} setting;

static const setting settings[] = {
    {"robust-logistic", {"data=synthetic:300:40", NULL}, false},
    {"robust-logistic, simplex",
     {"data=synthetic:300:40", "weights=simplex", "lambda1=0.5", NULL},
     false},
    {"auc", {"problem=auc", "data=synthetic:300:40", NULL}, false},
    {"auc, network", {"problem=auc", "score=mlp:6", "data=synthetic:300:40", NULL}, false},
    {"fair", {"problem=fair", "sensitive=3", "data=synthetic:300:40", NULL}, false},
    {"fair, network",
     {"problem=fair", "score=mlp:4", "sensitive=3", "data=synthetic:300:40", NULL},
     false},
    {"group-dro", {"problem=group-dro", "data=synthetic:300:40", NULL}, false},
    {"robust-regression", {"problem=robust-regression", "data=synthetic:300:40", NULL}, false},
    {"poisoning", {"problem=poisoning", "data=synthetic:300:40", NULL}, true},
    {"policy-evaluation", {"problem=policy-evaluation", "samples=60", NULL}, false},
    {"quadratic", {"problem=quadratic", "samples=60", "x-dim=8", "y-dim=6", NULL}, false},
    {"quadratic, convex",
     {"problem=quadratic", "curvature=convex", "samples=60", "x-dim=8", "y-dim=6", NULL},
     false},
};

/* Returns by how much a run lowers Q; NaN when it diverges or the algorithm refuses the problem. */
static double progress(const setting *s, const saddle_algorithm *algorithm, const char *x_set)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, s->assignment);
    assert_ok(saddle_plan_set(plan, "algorithm", algorithm->name, &error), error);
    if (x_set != NULL)
        assert_ok(saddle_plan_set(plan, "x-set", x_set, &error), error);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    uint64_t rows = 0;
    for (size_t i = 0; i < instance->problem->agents; i++)
        rows += instance->problem->samples[i];
    plan->limits.iterations = UINT64_C(1) << 53;
    plan->limits.max_ifo = rows * (algorithm->traits.stochastic ? PASSES : MORE_PASSES);
    plan->outputs.trace_every = UINT64_C(1) << 53;
    double lowered = NAN;
    saddle_status status = saddle_run(instance, plan, NULL, &result, &error);
    ck_assert_msg(status == SADDLE_OK || status == SADDLE_UNSUPPORTED, "%s", error.message);
    if (status == SADDLE_OK && result->stop != SADDLE_STOP_DIVERGED)
        lowered = result->rows[0].primal - result->rows[result->row_count - 1].primal;
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return lowered;
}

/* A sanitizer sees the same code with fewer of them. */
TEST_LOOP(defaults_make_progress, 0, TEST_SLOWDOWN > 1 ? 3 : sizeof settings / sizeof *settings)
{
    size_t count;
    const setting *s = &settings[_i];
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    const double constrained = progress(s, &saddle_precision, NULL);
    const double free = s->needs_set ? NAN : progress(s, &saddle_precision, "none");
    ck_assert(constrained > 0.0 && (s->needs_set || free > 0.0));
    for (size_t a = 0; a < count; a++) {
        if (!test_chosen((size_t)_i, a) || (s->needs_set && !list[a]->traits.x_set))
            continue;
        const char *x_set = list[a]->traits.x_set ? NULL : "none";
        double share = progress(s, list[a], x_set) / (list[a]->traits.x_set ? constrained : free);
        if (getenv("SADDLE_TEST_VERBOSE") != NULL)
            saddle_fprintf(stdout, "%s: %s %.3f\n", s->name, list[a]->name, share);
        ck_assert_msg(share >= SHARE, "%s: %s makes %.3f of PRECISION's progress", s->name,
                      list[a]->name, share);
    }
}

/* If L and mu are known, the papers' rules can still be chosen. */
TEST(theory_has_its_own_steps)
{
    static const char *const rules[] = {"practical", "theory"};
    static const char *const names[] = {"gda", "sgda", "sreda", "sreda-boost", "minimax-ppa"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double step[2];
        for (size_t r = 0; r < 2; r++) {
            saddle_error error = {.message = ""};
            const char *const assignment[] = {"problem=quadratic", "samples=20", "x-set=none",
                                              "iterations=1", NULL};
            saddle_plan *plan = test_plan(NULL, assignment);
            assert_ok(saddle_plan_set(plan, "algorithm", names[k], &error), error);
            assert_ok(saddle_plan_set(plan, "steps", rules[r], &error), error);
            saddle_instance *instance = NULL;
            saddle_forecast forecast = {0};
            assert_ok(saddle_instance_create(&instance, plan, &error), error);
            assert_ok(saddle_run_forecast(instance, plan, &forecast, &error), error);
            step[r] = test_number(&forecast.plan, k < 4 ? "eta-x" : "ppa-lipschitz");
            saddle_plan_free(&forecast.plan);
            saddle_instance_free(instance);
            test_plan_free(plan);
        }
        /* L = 10, mu = 1, tau = L^2 / (2 mu) = 50. */
        static const double practical[] = {0.3 / 50.0, 0.1 / 50.0, 0.3 / 50.0, 0.3 / 50.0, 100.0};
        static const double theory[] = {1.0 / (16.0 * 121.0 * 10.0), 1.0 / (16.0 * 121.0 * 10.0),
                                        1.0 / (10.0 * 10.0 * 10.0), 1.0 / (24.0 * 11.0 * 10.0),
                                        10.0};
        assert_near(step[0], practical[k], 1e-15);
        assert_near(step[1], theory[k], 1e-15);
    }
}
