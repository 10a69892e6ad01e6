#include "instances.h"

#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/layout.h"
#include "core/memory.h"
#include "core/print.h"
#include "observe/observer.h"
#include "support.h"

#define MOST_ASSIGNMENTS 12

static const struct {
    const char *label;
    const char *assignment[MOST_ASSIGNMENTS];
} table[INSTANCES] = {
    [LOGISTIC_BOX_SPARSE] = {"robust-logistic box, sparse",
                             {"data=synthetic:60:20", "agents=4", "topology=ring"}},
    [LOGISTIC_BOX_DENSE_UNEQUAL] = {"robust-logistic box, dense, unequal",
                                    {"data=@dense", "agents=4", "samples=7,20,11,3",
                                     "topology=path", "lambda1=0.01", "lambda2=0.1",
                                     "g-curvature=3"}},
    [LOGISTIC_SIMPLEX_SPARSE_UNEQUAL] = {"robust-logistic simplex, sparse, unequal",
                                         {"data=synthetic:60:30", "weights=simplex", "agents=3",
                                          "samples=12,25,1", "topology=complete", "lambda1=0.004"}},
    /* The only one with unequal weights in its mixing matrix. */
    [LOGISTIC_SIMPLEX_DENSE] = {"robust-logistic simplex, dense",
                                {"data=@dense", "weights=simplex", "agents=6", "samples=8",
                                 "topology=grid:2x3", "mixing=metropolis", "lambda1=0.05"}},
    [QUADRATIC_CONVEX_ODD] = {"quadratic convex, odd counts",
                              {"problem=quadratic", "curvature=convex", "agents=3", "samples=5,1,8",
                               "x-dim=7", "y-dim=4", "topology=path"}},
    [QUADRATIC_NONCONVEX] = {"quadratic nonconvex",
                             {"problem=quadratic", "agents=4", "samples=10", "x-dim=3", "y-dim=6",
                              "mu=0.5", "lipschitz=8", "topology=ring"}},
    [QUADRATIC_TINY] = {"quadratic with one of everything",
                        {"problem=quadratic", "agents=1", "samples=1", "x-dim=1", "y-dim=1",
                         "topology=complete"}},
    [QUADRATIC_BALL] = {"quadratic in balls",
                        {"problem=quadratic", "agents=4", "samples=9", "x-dim=5", "y-dim=5",
                         "x-set=l2-ball:2", "y-set=l1-ball:1.5", "topology=complete"}},
    [AUC_LINEAR_SPARSE_UNEQUAL] = {"auc linear, sparse, unequal",
                                   {"problem=auc", "data=synthetic:60:20", "agents=3",
                                    "samples=12,25,9", "topology=path"}},
    [AUC_MLP_DENSE] = {"auc mlp, dense",
                       {"problem=auc", "data=@dense", "score=mlp:3,2", "activation=tanh",
                        "agents=4", "samples=12", "topology=ring", "y-set=box:-1.5:0.5"}},
    [OWN_PROBLEM] = {"a user's own problem",
                     {"topology=path", "x-set=box:-2:2", "y-set=l2-ball:3"}},
    [POLICY_SMALL] = {"policy-evaluation",
                      {"problem=policy-evaluation", "agents=4", "samples=12", "mdp-states=5",
                       "mdp-features=2", "mdp-hidden=2", "topology=ring"}},
    [POLICY_UNEQUAL] = {"policy-evaluation, unequal, in a box",
                        {"problem=policy-evaluation", "agents=3", "samples=9,1,20", "mdp-states=7",
                         "mdp-features=3", "mdp-hidden=1", "discount=0.5", "dual-ridge=0.7",
                         "x-set=box:-3:3", "topology=path"}},
    [FAIR_SPARSE] = {"fair, sparse",
                     {"problem=fair", "data=synthetic:60:20", "sensitive=2", "fairness=2",
                      "agents=4", "topology=ring"}},
    /* The only one whose bound of mu is not trivial. */
    [FAIR_DENSE_UNEQUAL] = {"fair, dense, unequal",
                            {"problem=fair", "data=@groups", "sensitive=3", "fairness=0.7",
                             "fairness-ridge=0.1", "x-set=l2-ball:0.5", "agents=4",
                             "samples=7,20,11,3", "topology=path"}},
    /* Groups span agents, with a different share at each. */
    [GROUP_DRO_SPARSE_UNEQUAL] = {"group-dro, sparse, unequal",
                                  {"problem=group-dro", "data=synthetic:60:20", "groups=2,label",
                                   "agents=3", "samples=15,25,14", "topology=path"}},
    [GROUP_DRO_MLP_DENSE] = {"group-dro by agents, mlp, dense, unequal",
                             {"problem=group-dro", "data=@dense", "score=mlp:3,2",
                              "activation=tanh", "agents=4", "samples=7,20,11,3", "topology=ring",
                              "groups=agents", "group-ridge=1", "x-set=l2-ball:1"}},

    [REGRESSION_SQUARE_SPARSE_UNEQUAL] = {"robust-regression square, sparse, unequal",
                                          {"problem=robust-regression", "data=synthetic:60:20",
                                           "agents=3", "samples=12,25,9", "topology=path"}},
    /* The only one whose L is known. */
    [REGRESSION_HUBER_DENSE] = {"robust-regression huber, dense, per slot",
                                {"problem=robust-regression", "weights-per=slot", "data=@dense",
                                 "loss=huber", "huber-delta=0.8", "divergence=2", "y-set=box:0:0.3",
                                 "agents=4", "samples=12", "topology=ring"}},

    [FAIR_MLP_DENSE] = {"fair mlp, dense, unequal",
                        {"problem=fair", "data=@groups", "sensitive=3", "fairness=0.7",
                         "fairness-ridge=0.1", "score=mlp:3,2", "activation=tanh", "agents=4",
                         "samples=7,20,11,3", "topology=path"}},
    [POISONING_SPARSE] = {"poisoning, sparse",
                          {"problem=poisoning", "data=synthetic:60:20", "poisoned=2",
                           "perturbation=0.8", "ridge=0.2", "agents=4", "topology=ring"}},
    /* The only one whose L is known. */
    [POISONING_DENSE_UNEQUAL] = {"poisoning, dense, unequal",
                                 {"problem=poisoning", "data=@dense", "poisoned=agents:1,3",
                                  "perturbation=2", "ridge=0.3", "y-set=l2-ball:1.5", "agents=4",
                                  "samples=7,20,11,3", "topology=path"}},
};

double *test_doubles(size_t count)
{
    double *result = calloc(count > 0 ? count : 1, sizeof *result);
    ck_assert_ptr_nonnull(result);
    return result;
}

double test_larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

double test_largest(size_t count, const double *v)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++)
        most = test_larger(most, fabs(v[k]));
    return most;
}

double test_farthest(size_t count, const double *a, const double *b)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++)
        most = test_larger(most, fabs(a[k] - b[k]));
    return most;
}

void test_point(saddle_rng *rng, const saddle_set *set, double *out)
{
    double *scratch = test_doubles(saddle_set_scratch(set));
    for (size_t k = 0; k < saddle_set_dimension(set); k++)
        out[k] = saddle_rng_normal(rng);
    saddle_set_project(set, out, scratch);
    free(scratch);
}

/* Returns a CSV of 50 rows: 6 dense features, then a label of +1 or -1. With `groups`, feature 3 (from
 * 1) is 0 or 1 and feature 5 its opposite. */
static const char *dense_data(bool groups)
{
    static char path[5000];
    char draft[5100];
    saddle_snprintf(path, sizeof path, "%s/%s.csv", saddle_test_directory(),
                    groups ? "groups" : "dense");
    /* Several processes may share the directory; each writes the same file. */
    saddle_snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(draft, "w");
    ck_assert_ptr_nonnull(file);
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    for (int row = 0; row < 50; row++) {
        int group = row % 5 < 2 ? 1 : 0;
        for (int k = 0; k < 6; k++)
            if (groups && (k == 2 || k == 4))
                saddle_fprintf(file, "%d,", k == 2 ? group : 1 - group);
            else
                saddle_fprintf(file, "%.17g,", saddle_rng_normal(&rng));
        saddle_fprintf(file, "%d\n", row % 3 == 0 ? 1 : -1);
    }
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(rename(draft, path), 0);
    return path;
}

static void assign(saddle_plan *plan, const char *assignment)
{
    char text[5120];
    saddle_error error = {.message = ""};
    ck_assert_uint_lt(strlen(assignment), sizeof text);
    memcpy(text, assignment, strlen(assignment) + 1);
    char *value = strchr(text, '=');
    ck_assert_ptr_nonnull(value);
    *value++ = '\0';
    bool groups = strcmp(value, "@groups") == 0;
    const char *given = groups || strcmp(value, "@dense") == 0 ? dense_data(groups) : value;
    assert_ok(saddle_plan_set(plan, text, given, &error), error);
}

saddle_plan *test_plan(const saddle_plan *base, const char *const *assignment)
{
    saddle_error error = {.message = ""};
    saddle_plan defaults;
    saddle_plan *plan = malloc(sizeof *plan);
    ck_assert_ptr_nonnull(plan);
    saddle_plan_defaults(&defaults, sizeof defaults);
    assert_ok(saddle_plan_copy(plan, base != NULL ? base : &defaults, &error), error);
    if (base == NULL)
        plan->outputs.gap = SADDLE_GAP_NEVER;
    for (; assignment != NULL && *assignment != NULL; assignment++)
        assign(plan, *assignment);
    return plan;
}

void test_plan_free(saddle_plan *plan)
{
    if (plan != NULL)
        saddle_plan_free(plan);
    free(plan);
}

void assert_plan_refused(saddle_plan *plan, const char *part)
{
    saddle_error error = {.message = ""};
    saddle_instance *instance = NULL;
    assert_refused(saddle_instance_create(&instance, plan, &error), error, SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(instance);
    test_plan_free(plan);
}

const char *test_text(const saddle_plan *plan, const char *name)
{
    static char buffer[4][SADDLE_VALUE_SIZE];
    static size_t next;
    const saddle_option *option = saddle_plan_find(plan, name);
    ck_assert_msg(option != NULL, "there is no option %s", name);
    return saddle_plan_text(plan, option, buffer[next++ % 4]);
}

double test_number(const saddle_plan *plan, const char *name)
{
    const saddle_option *option = saddle_plan_find(plan, name);
    ck_assert_msg(option != NULL, "there is no option %s", name);
    return saddle_plan_number(plan, option);
}

saddle_plan *test_instance_plan(int which, const char *const *more)
{
    saddle_plan *base = test_plan(NULL, table[which].assignment);
    if (which == OWN_PROBLEM)
        base->problem.own = test_own_problem();
    saddle_plan *plan = test_plan(base, more);
    test_plan_free(base);
    return plan;
}

void test_instance_open(test_instance *out, int which, const char *const *more)
{
    saddle_error error = {.message = ""};
    *out = (test_instance){.which = which, .label = table[which].label};
    out->plan = test_instance_plan(which, more);
    assert_ok(saddle_instance_create(&out->made, out->plan, &error), error);
    out->problem = out->made->problem;
}

void test_instance_close(test_instance *instance)
{
    saddle_instance_free(instance->made);
    test_plan_free(instance->plan);
}

void test_relax(const saddle_algorithm *algorithm, const char *const *more,
                const char *out[MOST_SETTINGS])
{
    size_t count = 0;
    for (; more != NULL && *more != NULL; more++) {
        ck_assert_uint_lt(count, MOST_SETTINGS - 4);
        out[count++] = *more;
    }
    if (!algorithm->traits.x_set)
        out[count++] = "x-set=none";
    if (!algorithm->traits.y_set)
        out[count++] = "y-set=none";
    if (!algorithm->traits.regularizer)
        out[count++] = "regularizer=none";
    out[count] = NULL;
}

/* ---- engines, step by step ------------------------------------------------------------------- */

void test_target(const saddle_instance *network, const saddle_algorithm *algorithm,
                 saddle_instance **pooled, saddle_instance *out)
{
    saddle_error error = {.message = ""};
    *pooled = NULL;
    if (algorithm->traits.centralized && network->problem->agents > 1)
        assert_ok(saddle_instance_pool(pooled, network, &error), error);
    *out = *pooled != NULL ? **pooled : *network;
}

void *test_parameters(const saddle_algorithm *algorithm, const saddle_plan *plan)
{
    void *parameters = saddle_alloc(1, algorithm->size);
    ck_assert_ptr_nonnull(parameters);
    saddle_plan_read_own(plan, algorithm->options, parameters);
    return parameters;
}

void test_release(const saddle_algorithm *algorithm, void *parameters)
{
    if (algorithm->release != NULL)
        algorithm->release(parameters);
    saddle_free(parameters);
}

void test_rig_open(test_rig *out, int which, const char *algorithm, const char *const *more,
                   unsigned threads, const saddle_algorithm *wrapped, const saddle_problem *problem)
{
    saddle_error error = {.message = ""};
    const char *relaxed[MOST_SETTINGS];
    const saddle_algorithm *found = NULL;
    *out = (test_rig){.engine = NULL};
    assert_ok(saddle_algorithm_find(&found, algorithm, &error), error);
    test_relax(found, more, relaxed);
    test_instance_open(&out->instance, which, relaxed);
    out->plan = test_plan(out->instance.plan, NULL);
    test_target(out->instance.made, found, &out->pooled, &out->target);
    if (problem != NULL)
        out->target.problem = problem;
    assert_ok(saddle_instance_steps(out->instance.made, out->plan, &out->steps, &error), error);
    out->algorithm = wrapped != NULL ? wrapped : found;
    saddle_configuration configured = {
        .instance = &out->target, .given = &out->instance.plan->steps, .steps = out->steps};
    out->parameters = test_parameters(found, out->plan);
    assert_ok(found->init(out->parameters, &configured, &error), error);
    out->steps = configured.steps; /* with what init() chose */
    saddle_engine_inputs inputs = {
        .instance = &out->target,
        .algorithm = out->algorithm,
        .parameters = out->parameters,
        .threads = threads,
        .scratch = saddle_observer_scratch(&out->target),
    };
    const saddle_engine_class *kind = NULL;
    assert_ok(saddle_engine_find(&kind, out->plan->engine.name, &error), error);
    assert_ok(kind->create(&out->engine, &inputs, &error), error);
}

void test_rig_close(test_rig *rig)
{
    rig->engine->kind->destroy(rig->engine);
    test_release(rig->algorithm, rig->parameters);
    saddle_instance_free(rig->pooled);
    test_plan_free(rig->plan);
    test_instance_close(&rig->instance);
}

saddle_fault test_rig_advance(test_rig *rig, uint64_t iterations)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    saddle_limits limits = {.iterations = iterations};
    rig->engine->kind->advance(rig->engine, &limits, &fault);
    return fault;
}

void test_state_make(test_state *out, const saddle_problem *problem)
{
    size_t m = problem->agents;
    *out = (test_state){.agents = m, .x_dim = problem->x_dim, .y_dim = problem->y_dim};
    double **of_x[3] = {&out->x, &out->p, &out->v};
    double **of_y[3] = {&out->y, &out->d, &out->u};
    for (int k = 0; k < 3; k++) {
        *of_x[k] = test_doubles(m * problem->x_dim);
        *of_y[k] = test_doubles(m * problem->y_dim);
    }
    out->ifo = calloc(m + 1, sizeof *out->ifo);
    ck_assert_ptr_nonnull(out->ifo);
}

void test_state_free(test_state *state)
{
    double *const vector[] = {state->x, state->y, state->p, state->d, state->v, state->u};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    free(state->ifo);
}

typedef struct copy_context {
    const saddle_algorithm *algorithm;
    test_state *out;
} copy_context;

static void copy_part(size_t dim, size_t agent, const double *from, double *to)
{
    if (from != NULL)
        memcpy(to + agent * dim, from, dim * sizeof *to);
}

void test_copy_agent(const saddle_algorithm *algorithm, const saddle_agent *agent, test_state *out)
{
    size_t id = agent->id;
    saddle_view view;
    saddle_layout layout;
    saddle_agent_view(algorithm, agent, &view);
    saddle_algorithm_layout(algorithm, agent->parameters, agent->problem, &layout);
    copy_part(out->x_dim, id, view.x, out->x);
    copy_part(out->y_dim, id, view.y, out->y);
    copy_part(out->x_dim, id, view.v, out->v);
    copy_part(out->y_dim, id, view.u, out->u);
    for (size_t f = 0; f < layout.fields; f++) {
        const saddle_field *field = &layout.field[f];
        bool of_x = strcmp(field->name, "p") == 0;
        if (!of_x && strcmp(field->name, "d") != 0)
            continue;
        copy_part(field->length, id, agent->now + field->offset, of_x ? out->p : out->d);
        for (size_t k = 0; k < field->length; k++)
            (of_x ? out->v : out->u)[id * field->length + k] =
                saddle_field_estimate(field, agent, k);
    }
    out->ifo[id] = agent->ifo;
}

static void copy_agent(void *context, saddle_agent *agent)
{
    const copy_context *copy = context;
    test_copy_agent(copy->algorithm, agent, copy->out);
}

void test_state_copy(test_rig *rig, test_state *out)
{
    copy_context context = {.algorithm = rig->algorithm, .out = out};
    rig->engine->kind->for_each(rig->engine, copy_agent, &context);
}

/* ---- a user's own problem -------------------------------------------------------------------- */

/*
 * f_ij = sin(s x0) + s x1 y0 + y1 cos(x1) + c y2 x0 - (1 + i) |y|^2 / 2,
 * s = 1 + j/10 - i/5, c = (-1)^j.
 */
static long double frequency(size_t agent, size_t sample)
{
    return 1.0L + (long double)sample / 10.0L - (long double)agent / 5.0L;
}

static long double parity(size_t sample)
{
    return sample % 2 == 0 ? 1.0L : -1.0L;
}

long double test_own_value(size_t agent, size_t sample, const long double *x, const long double *y)
{
    long double s = frequency(agent, sample);
    return sinl(s * x[0]) + s * x[1] * y[0] + y[1] * cosl(x[1]) + parity(sample) * y[2] * x[0] -
           (1.0L + (long double)agent) * (y[0] * y[0] + y[1] * y[1] + y[2] * y[2]) / 2.0L;
}

static void own_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                         const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)problem;
    (void)scratch;
    gx[0] = gx[1] = 0.0;
    gy[0] = gy[1] = gy[2] = 0.0;
    for (size_t k = 0; k < batch->count; k++) {
        size_t j = saddle_batch_sample(batch, k);
        double s = (double)frequency(agent, j);
        gx[0] += s * cos(s * x[0]) + (double)parity(j) * y[2];
        gx[1] += s * y[0] - y[1] * sin(x[1]);
        gy[0] += s * x[1] - (1.0 + (double)agent) * y[0];
        gy[1] += cos(x[1]) - (1.0 + (double)agent) * y[1];
        gy[2] += (double)parity(j) * x[0] - (1.0 + (double)agent) * y[2];
    }
    for (size_t k = 0; k < 2; k++)
        gx[k] /= (double)batch->count;
    for (size_t k = 0; k < 3; k++)
        gy[k] /= (double)batch->count;
}

static double own_value(const saddle_problem *problem, size_t agent, const double *x,
                        const double *y, double *scratch)
{
    (void)scratch;
    long double wide_x[2] = {x[0], x[1]};
    long double wide_y[3] = {y[0], y[1], y[2]};
    long double sum = 0.0L;
    for (size_t j = 0; j < problem->samples[agent]; j++)
        sum += test_own_value(agent, j, wide_x, wide_y);
    return (double)(sum / (long double)problem->samples[agent]);
}

const saddle_problem *test_own_problem(void)
{
    static const size_t samples[3] = {6, 4, 9};
    static const saddle_problem own = {.name = "own",
                                       .x_dim = 2,
                                       .y_dim = 3,
                                       .agents = 3,
                                       .samples = samples,
                                       .gradient = own_gradient,
                                       .value = own_value};
    return &own;
}

size_t test_outcomes(const saddle_problem *problem, const saddle_dataset *held_out, const double *x,
                     const double *y, saddle_outcome *out)
{
    size_t count = 0;
    saddle_error error = {.message = ""};
    saddle_outcome_rows rows = {.held_out = held_out};
    assert_ok(problem->outcomes(problem, &rows, x, y, out, &count, &error), error);
    return count;
}

/* Equal, or both NaN. */
static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool test_same_cost(const saddle_cost *a, const saddle_cost *b)
{
    return a->ifo == b->ifo && a->rounds == b->rounds && a->messages == b->messages &&
           a->bytes == b->bytes && same_number(a->network_seconds, b->network_seconds) &&
           same_number(a->age, b->age);
}

void test_assert_same_result(const saddle_result *a, const saddle_result *b, const char *what)
{
    const saddle_row *last_a = &a->rows[a->row_count - 1];
    const saddle_row *last_b = &b->rows[b->row_count - 1];
    bool same = a->local == b->local && a->row_count == b->row_count &&
                memcmp(a->x, b->x, a->local * a->x_dim * sizeof *a->x) == 0 &&
                memcmp(a->y, b->y, a->local * a->y_dim * sizeof *a->y) == 0 &&
                test_same_cost(&a->cost, &b->cost) && last_a->metric == last_b->metric &&
                same_number(last_a->present, last_b->present) &&
                same_number(last_a->components, last_b->components);
    ck_assert_msg(same, "%s: results differ", what);
}

saddle_result *test_solve(const saddle_problem *problem, const char *const *setting)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_result *result;
    assert_ok(saddle_solve(problem, plan, &result, &error), error);
    test_plan_free(plan);
    return result;
}

saddle_result *test_run(const char *const *setting, const saddle_hooks *hooks)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_instance *made = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&made, plan, &error), error);
    assert_ok(saddle_run(made, plan, hooks, &result, &error), error);
    saddle_instance_free(made);
    test_plan_free(plan);
    return result;
}

double test_weight(const saddle_mixing *mixing, size_t i, size_t j)
{
    const saddle_graph *g = mixing->graph;
    for (size_t k = g->start[i]; k < g->start[i + 1]; k++)
        if (g->neighbour[k] == j)
            return mixing->weight[k];
    return i == j ? mixing->self_weight[i] : 0.0;
}

typedef struct defects {
    test_rig *rig;
    saddle_layout layout;
    double worst;
} defects;

static void defect_task(void *context, saddle_agent *agent)
{
    defects *d = context;
    for (size_t f = 0; f < d->layout.fields; f++) {
        double sum;
        double weight;
        if (d->layout.field[f].kind != SADDLE_FIELD_SUM)
            continue;
        d->rig->engine->kind->defect(d->rig->engine, agent, &d->layout.field[f], &sum, &weight);
        d->worst = test_larger(d->worst, sum);
        d->worst = test_larger(d->worst, weight);
    }
}

double test_rig_defect(test_rig *rig)
{
    defects d = {.rig = rig};
    rig->algorithm->layout(rig->parameters, rig->target.problem, &d.layout);
    rig->engine->kind->for_each(rig->engine, defect_task, &d);
    return d.worst;
}
