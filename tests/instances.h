/*
 * Small instances that several test files use: every problem, with equal and unequal local sizes, sparse
 * and dense data, and a user-defined problem with only gradient and value.
 */
#pragma once

#include <saddle/run.h>

#include "core/rng.h"
#include "engines/engine.h"
#include "instance/instance.h"

/* The instances. */
enum {
    LOGISTIC_BOX_SPARSE,
    LOGISTIC_BOX_DENSE_UNEQUAL,
    LOGISTIC_SIMPLEX_SPARSE_UNEQUAL,
    LOGISTIC_SIMPLEX_DENSE,
    QUADRATIC_CONVEX_ODD,
    QUADRATIC_NONCONVEX,
    QUADRATIC_TINY,
    QUADRATIC_BALL,
    AUC_LINEAR_SPARSE_UNEQUAL,
    AUC_MLP_DENSE,
    OWN_PROBLEM,
    POLICY_SMALL,
    POLICY_UNEQUAL,
    FAIR_SPARSE,
    FAIR_DENSE_UNEQUAL,
    POISONING_SPARSE,
    POISONING_DENSE_UNEQUAL,
    GROUP_DRO_SPARSE_UNEQUAL,
    GROUP_DRO_MLP_DENSE,
    REGRESSION_SQUARE_SPARSE_UNEQUAL,
    REGRESSION_HUBER_DENSE,
    FAIR_MLP_DENSE,
    INSTANCES
};

typedef struct test_instance {
    int which;
    const char *label;
    saddle_plan *plan;
    saddle_instance *made;
    const saddle_problem *problem;
} test_instance;

/* Returns a plan from NULL-terminated "name=value" texts on top of `base` (NULL: the defaults, but gap=never, because
 * the gap costs more than a short run). The test fails if one is refused. */
saddle_plan *test_plan(const saddle_plan *base, const char *const *assignment);
void test_plan_free(saddle_plan *plan);
/* Asserts that no instance is created from a plan and that the message contains `part`; frees the plan. */
void assert_plan_refused(saddle_plan *plan, const char *part);
/* Return the value of an existing option as text, and as a number (NaN when it is automatic). */
const char *test_text(const saddle_plan *plan, const char *name);
double test_number(const saddle_plan *plan, const char *name);

/* Returns the plan of an instance, with further settings. */
saddle_plan *test_instance_plan(int which, const char *const *more);
/* Creates an instance, with further "name=value" settings (NULL: none). */
void test_instance_open(test_instance *out, int which, const char *const *more);
void test_instance_close(test_instance *instance);

/* Collects settings that an algorithm supports: `more`, then those that switch off constraints and h if
 * it handles none. `out` has capacity for MOST_SETTINGS. */
enum { MOST_SETTINGS = 20 };
void test_relax(const saddle_algorithm *algorithm, const char *const *more,
                const char *out[MOST_SETTINGS]);

/* An engine on an instance, for running it step by step. */
typedef struct test_rig {
    test_instance instance;
    saddle_instance
        target; /* what the algorithm runs on: the network, or one agent that has all data */
    saddle_instance *pooled; /* owned; NULL: the target is the network */
    saddle_plan *plan;       /* a copy of the instance's */
    const saddle_algorithm *algorithm;
    void *parameters;
    saddle_engine *engine;
    saddle_steps steps;
} test_rig;

/* Sets *out to what an algorithm runs on: the network, or one agent that has all data. */
void test_target(const saddle_instance *network, const saddle_algorithm *algorithm,
                 saddle_instance **pooled, saddle_instance *out);
/* Returns the parameters of an algorithm before init(); free with test_release(). */
void *test_parameters(const saddle_algorithm *algorithm, const saddle_plan *plan);
void test_release(const saddle_algorithm *algorithm, void *parameters);

/* Sets up `algorithm` on an instance, with test_relax(). `wrapped` (NULL: the algorithm itself) is what
 * the engine runs with the algorithm's parameters, and `problem` (NULL: the target's) what it runs on. */
void test_rig_open(test_rig *out, int which, const char *algorithm, const char *const *more,
                   unsigned threads, const saddle_algorithm *wrapped,
                   const saddle_problem *problem);
void test_rig_close(test_rig *rig);
/* Runs this many more iterations; returns the fault. */
saddle_fault test_rig_advance(test_rig *rig, uint64_t iterations);
/* Returns the largest defect of any agent's sums over lossy links. */
double test_rig_defect(test_rig *rig);

/* Copies of every agent's variables, agent after agent; p and d are zero if there are none. */
typedef struct test_state {
    size_t agents, x_dim, y_dim;
    double *x, *y, *p, *d, *v, *u;
    uint64_t *ifo; /* per agent */
} test_state;

void test_state_make(test_state *out, const saddle_problem *problem);
void test_state_free(test_state *state);
void test_state_copy(test_rig *rig, test_state *out);
/* The same for one agent. */
void test_copy_agent(const saddle_algorithm *algorithm, const saddle_agent *agent, test_state *out);

/* A user-defined problem: 3 agents with 6, 4 and 9 samples, x in R^2, y in R^3, only gradient and value;
 * nonconvex in x, strongly concave in y with mu = 1. Static. */
const saddle_problem *test_own_problem(void);
/* Its f_ij, for independent checks. */
long double test_own_value(size_t agent, size_t sample, const long double *x, const long double *y);

/* Computes a problem's outcomes at (x, y), which must exist; returns their number. */
size_t test_outcomes(const saddle_problem *problem, const saddle_dataset *held_out, const double *x,
                     const double *y, saddle_outcome *out);

/* Draws a random point of X (or Y): normal numbers, projected. */
void test_point(saddle_rng *rng, const saddle_set *set, double *out);
/* Returns `count` zeroed doubles; the test fails without memory. Free with free(). */
double *test_doubles(size_t count);
/* Returns the largest |v[k]|; NaN if there is one. */
double test_largest(size_t count, const double *v);
/* Returns the larger of two numbers; NaN if one is. */
double test_larger(double a, double b);
/* Returns the largest |a[k] - b[k]|; NaN if there is one. */
double test_farthest(size_t count, const double *a, const double *b);
/* Returns whether two runs cost the same; NaN equals NaN. */
bool test_same_cost(const saddle_cost *a, const saddle_cost *b);
/* Asserts that two runs have the same final state, costs and last row, bit for bit; `what` names them in
 * the message. */
void test_assert_same_result(const saddle_result *a, const saddle_result *b, const char *what);

/* Runs a plan of settings "name=value"; the test fails if the run does. `problem`: NULL for the plan's
 * own. Free with saddle_result_free(). */
saddle_result *test_solve(const saddle_problem *problem, const char *const *setting);
/* The same with hooks, on the plan's own problem. */
saddle_result *test_run(const char *const *setting, const saddle_hooks *hooks);

/* Returns M_ij, M_ii for j = i, and 0 where there is no edge. */
double test_weight(const saddle_mixing *mixing, size_t i, size_t j);
