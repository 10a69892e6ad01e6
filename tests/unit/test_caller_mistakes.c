/*
 * Mistakes of callers and the messages they get: algorithms whose view() is incomplete, arrays of the
 * wrong length, plans that contradict themselves or were freed, runs that resume with other objects in
 * memory.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/lab.h>

#include "algorithms/layout.h"
#include "instances.h"
#include "support.h"

enum { DIM = 5, PATH = 4200 };

static saddle_error error;

static const char *path_of(char out[PATH], const char *name)
{
    snprintf(out, PATH, "%s/%s", saddle_test_directory(), name);
    return out;
}

/* x in R^5, y in R^4. */
static saddle_plan *small_plan(void)
{
    static const char *const base[] = {"problem=quadratic", "x-dim=5",       "y-dim=4",
                                       "iterations=6",      "trace-every=2", NULL};
    return test_plan(NULL, base);
}

static void refuse_plan(const saddle_plan *plan, const char *part)
{
    saddle_result *result = (saddle_result *)&error;
    assert_refused(saddle_solve(NULL, plan, &result, &error), error, SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(result);
}

static void accept_plan(const saddle_plan *plan)
{
    saddle_result *result = NULL;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    saddle_result_free(result);
}

/* ---- user-defined algorithms ------------------------------------------------------------------- */

/* Descent ascent with a step that diverges; its view() sets only x and y. */
#define STEP 1e60

static saddle_status leap_init(void *parameters, saddle_configuration *configuration,
                               saddle_error *why)
{
    (void)parameters;
    (void)configuration;
    (void)why;
    return SADDLE_OK;
}

static void leap_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters;
    *out = (saddle_layout){.published = problem->x_dim + problem->y_dim,
                           .work = problem->x_dim + problem->y_dim,
                           .rounds = 1};
}

static void leap_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

static void leap_ask(saddle_agent *agent)
{
    size_t x_dim = agent->problem->x_dim;
    agent->request = (saddle_request){.kind = SADDLE_REQUEST_GRADIENT,
                                      .batch = {.count = agent->problem->samples[agent->id]},
                                      .x = agent->now,
                                      .y = agent->now + x_dim,
                                      .gx = agent->work,
                                      .gy = agent->work + x_dim};
}

static void leap_move(saddle_agent *agent)
{
    const saddle_problem *p = agent->problem;
    for (size_t k = 0; k < p->x_dim + p->y_dim; k++)
        agent->next[k] = agent->now[k] + (k < p->x_dim ? -STEP : STEP) * agent->work[k];
}

static void rest(saddle_agent *agent)
{
    memcpy(agent->next, agent->now,
           (agent->problem->x_dim + agent->problem->y_dim) * sizeof *agent->now);
}

static void leap_view(const saddle_agent *agent, saddle_view *out)
{
    out->x = agent->now;
    out->y = agent->now + agent->problem->x_dim;
}

static void blind_view(const saddle_agent *agent, saddle_view *out)
{
    out->y = agent->now + agent->problem->x_dim;
}

static const saddle_phase leap_phases[] = {
    {"ask", .before = leap_ask}, {"move", .before = leap_move}, {.name = NULL}};

static const saddle_phase rest_phases[] = {{"rest", .before = rest}, {.name = NULL}};

static const saddle_algorithm leap = {.name = "leap",
                                      .size = 1,
                                      .init = leap_init,
                                      .layout = leap_layout,
                                      .start = leap_start,
                                      .phases = leap_phases,
                                      .view = leap_view};

/* What an algorithm does not have is NULL in its view. */
TEST(views_come_zeroed)
{
    saddle_problem problem = {.x_dim = 2};
    double now[3] = {1.0, 2.0, 3.0};
    saddle_agent agent = {.problem = &problem, .now = now};
    saddle_view view;
    memset(&view, 0x5a, sizeof view);
    saddle_agent_view(&leap, &agent, &view);
    ck_assert(view.x == now && view.y == now + 2);
    ck_assert(view.v == NULL && view.u == NULL);
}

TEST(a_view_of_x_and_y_survives_divergence)
{
    saddle_plan *plan = small_plan();
    saddle_result *result = NULL;
    plan->algorithm.own = &leap;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert(strcmp(result->fault.variable, "x") == 0 || strcmp(result->fault.variable, "y") == 0);
    saddle_result_free(result);
    test_plan_free(plan);
}

TEST(a_view_without_x_is_refused)
{
    saddle_plan *plan = small_plan();
    saddle_algorithm mine = leap;
    saddle_result *result = NULL;
    plan->algorithm.own = &mine;
    mine.view = blind_view;
    assert_refused(saddle_solve(NULL, plan, &result, &error), error, SADDLE_CHECK_FAILED,
                   "view() must set x to 5 doubles");
    test_plan_free(plan);
}

static void refuse_algorithm(const saddle_algorithm *mine, saddle_status status, const char *part)
{
    saddle_plan *plan = small_plan();
    saddle_result *result = NULL;
    plan->algorithm.own = mine;
    assert_refused(saddle_solve(NULL, plan, &result, &error), error, status, part);
    test_plan_free(plan);
}

TEST(phases_without_a_function_are_refused)
{
    static const saddle_phase none[] = {{.name = NULL}};
    static const saddle_phase empty[] = {
        {"ask", .before = leap_ask}, {.name = "move"}, {.name = NULL}};
    saddle_algorithm mine = leap;
    mine.phases = none;
    refuse_algorithm(&mine, SADDLE_BAD_INPUT, "'leap' has no phases");
    mine.phases = empty;
    refuse_algorithm(&mine, SADDLE_BAD_INPUT, "'leap' has no function in one of its phases");
}

static void endless_layout(const void *parameters, const saddle_problem *problem,
                           saddle_layout *out)
{
    leap_layout(parameters, problem, out);
    out->rounds = UINT32_MAX;
}

static void crooked_view(const saddle_agent *agent, saddle_view *out)
{
    leap_view(agent, out);
    out->x = (const double *)(const void *)((const char *)agent->now + 3);
}

TEST(endless_rounds_and_wrong_views_are_refused)
{
    saddle_algorithm mine = leap;
    mine.layout = endless_layout;
    refuse_algorithm(&mine, SADDLE_CHECK_FAILED, "4294967295 rounds");
    mine = leap;
    mine.view = crooked_view;
    refuse_algorithm(&mine, SADDLE_CHECK_FAILED, "view() must set x");
}

static saddle_status refuse_silently(void *parameters, saddle_configuration *configuration,
                                     saddle_error *why)
{
    (void)parameters;
    (void)configuration;
    (void)why;
    return SADDLE_UNSUPPORTED;
}

static saddle_status init_silently(void *self, saddle_error *why)
{
    (void)self;
    (void)why;
    return SADDLE_BAD_INPUT;
}

/* Clips to [-c, c], c from the context. */
static void clip(const saddle_set *set, double *v, double *scratch)
{
    double c = *(const double *)set->term.context;
    (void)scratch;
    for (size_t k = 0; k < set->term.dimension; k++)
        v[k] = v[k] < -c ? -c : v[k] > c ? c : v[k];
}

static const saddle_set_class clipped = {.term = {.name = "clipped", .size = sizeof(saddle_set)},
                                         .project = clip};

TEST(a_refusal_without_a_reason_names_who_refused)
{
    saddle_plan *plan = small_plan();
    saddle_algorithm mine = leap;
    saddle_result *result = NULL;
    mine.init = refuse_silently;
    plan->algorithm.own = &mine;
    assert_refused(saddle_solve(NULL, plan, &result, &error), error, SADDLE_UNSUPPORTED,
                   "algorithm leap refused without giving a reason");
    saddle_set_class kind = clipped;
    saddle_set *set = NULL;
    kind.term.init = init_silently;
    assert_refused(saddle_set_from_class(&set, &kind, NULL, NULL, 2, &error), error,
                   SADDLE_BAD_INPUT, "class clipped refused without giving a reason");
    test_plan_free(plan);
}

/* ---- arrays and plans -------------------------------------------------------------------------- */

/* All offsets are checked before any entry is read: the array ends after 4 entries. */
TEST(offsets_that_descend_are_refused_before_entries_are_read)
{
    const size_t row_start[3] = {0, 100, 4};
    uint32_t *column = malloc(4 * sizeof *column);
    double *value = malloc(4 * sizeof *value);
    saddle_dataset *data = (saddle_dataset *)&error;
    ck_assert(column != NULL && value != NULL);
    for (uint32_t k = 0; k < 4; k++) {
        column[k] = k;
        value[k] = 1.0;
    }
    assert_refused(saddle_dataset_from_csr(&data, 2, 200, row_start, column, value, NULL,
                                           SADDLE_BORROW, &error),
                   error, SADDLE_BAD_INPUT, "row_start[2] = 4 is below row_start[1] = 100");
    ck_assert_ptr_null(data);
    free(column);
    free(value);
}

TEST(shares_that_are_not_shares_are_refused)
{
    const struct {
        size_t parts;
        double share[2];
        const char *why; /* NULL: they are good */
    } division[] = {
        {0, {0}, "--parts: give at least 1 (got 0)"},
        {2, {0.5, 0.4}, "the shares of the parts sum to 0.9; give shares that sum to 1"},
        {2, {1.0, 1.0}, "sum to 2;"},
        {2, {1.5, -0.5}, "share: give part 1 a share above 0 (got -0.5)"},
        {2, {0.0, 1.0}, "share: give part 0 a share above 0 (got 0)"},
        {2, {0.5, NAN}, "share: give part 1 a share above 0 (got"},
        {2, {INFINITY, 0.5}, "sum to inf;"},
        {2, {0.25, 0.75}, NULL},
        {1, {1.0}, NULL}};
    double x[8] = {0.0};
    double y[8] = {1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_dense(&data, 8, 1, x, y, SADDLE_COPY, &error), error);
    for (size_t k = 0; k < sizeof division / sizeof *division; k++) {
        saddle_dataset *part[2] = {NULL, NULL};
        saddle_status status =
            saddle_dataset_split(data, division[k].share, division[k].parts, true, 1, part, &error);
        if (division[k].why != NULL)
            assert_refused(status, error, SADDLE_BAD_INPUT, division[k].why);
        else
            assert_ok(status, error);
        for (size_t p = 0; p < division[k].parts; p++) {
            ck_assert((part[p] != NULL) == (division[k].why == NULL));
            saddle_dataset_free(part[p]);
        }
    }
    saddle_dataset_free(data);
}

TEST(arrays_that_are_missing_or_of_unknown_ownership_are_refused)
{
    const size_t row_start[2] = {0, 1};
    const size_t empty[2] = {0, 0};
    const double x[1] = {1.0};
    saddle_dataset *data = NULL;
    saddle_graph *graph = NULL;
    assert_refused(
        saddle_dataset_from_csr(&data, 1, 1, row_start, NULL, x, NULL, SADDLE_COPY, &error), error,
        SADDLE_BAD_INPUT, "column is NULL");
    assert_refused(saddle_dataset_from_dense(&data, 1, 1, x, NULL, (saddle_ownership)7, &error),
                   error, SADDLE_BAD_INPUT, "ownership is 7");
    assert_refused(saddle_graph_from_edges(&graph, 2, 1, NULL, &error), error, SADDLE_BAD_INPUT,
                   "edge is NULL");
    /* Without entries, no arrays are needed. */
    assert_ok(saddle_dataset_from_csr(&data, 1, 1, empty, NULL, NULL, NULL, SADDLE_COPY, &error),
              error);
    ck_assert_uint_eq(data->nonzeros, 0);
    saddle_dataset_free(data);
    assert_ok(saddle_graph_from_edges(&graph, 1, 0, NULL, &error), error);
    saddle_graph_free(graph);
}

TEST(a_plan_without_settings_has_none)
{
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    ck_assert_uint_eq(saddle_plan_option_count(&plan), 0);
    ck_assert_ptr_null(saddle_plan_option(&plan, 0));
    ck_assert_ptr_null(saddle_plan_find(&plan, "seed"));
    saddle_plan_free(&plan);
}

TEST(a_freed_plan_is_refused)
{
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_ok(saddle_plan_set(&plan, "problem", "quadratic", &error), error);
    saddle_plan_free(&plan);
    refuse_plan(&plan, "call saddle_plan_defaults");
    assert_refused(saddle_plan_set(&plan, "seed", "2", &error), error, SADDLE_BAD_INPUT,
                   "call saddle_plan_defaults");
    ck_assert_ptr_null(plan.problem.name);
    saddle_plan_free(&plan);
    saddle_plan_free(NULL);
}

TEST(arrays_of_the_wrong_length_are_refused)
{
    double x[DIM] = {0.0};
    double y[4] = {0.0};
    saddle_plan *plan = small_plan();
    plan->start.x = x;
    refuse_plan(plan, "x_length is 0, but x of this problem has 5 entries");
    plan->start.x_length = 4;
    refuse_plan(plan, "x_length is 4, but x of this problem has 5 entries");
    plan->start.x_length = DIM;
    plan->start.y = y;
    plan->start.y_length = 5;
    refuse_plan(plan, "y_length is 5, but y of this problem has 4 entries");
    plan->start.y_length = 4;
    accept_plan(plan);
    test_plan_free(plan);
}

/* 24 rows of 3 features for each of 3 agents. */
static saddle_dataset *some_rows(double *x, double *label, double sign)
{
    saddle_dataset *rows = NULL;
    for (size_t r = 0; r < 24; r++) {
        for (size_t k = 0; k < 3; k++)
            x[3 * r + k] = sign * (double)((7 * r + 5 * k) % 11) / 11.0;
        label[r] = r % 3 == 0 ? 1.0 : -1.0;
    }
    assert_ok(saddle_dataset_from_dense(&rows, 24, 3, x, label, SADDLE_BORROW, &error), error);
    return rows;
}

static saddle_plan *auc_plan(void)
{
    static const char *const base[] = {"problem=auc",  "agents=3",      "topology=complete",
                                       "iterations=6", "trace-every=2", NULL};
    return test_plan(NULL, base);
}

TEST(shards_are_counted_and_there)
{
    double x[72];
    double label[24];
    saddle_dataset *rows = some_rows(x, label, 1.0);
    const saddle_dataset *shard[3] = {rows, rows, NULL};
    saddle_plan *plan = auc_plan();
    plan->problem.shards = shard;
    refuse_plan(plan, "shard_count is 0, but there are 3 agents");
    plan->problem.shard_count = 3;
    refuse_plan(plan, "shards[2] is NULL");
    shard[2] = rows;
    accept_plan(plan);
    plan->problem.rows = rows;
    refuse_plan(plan, "rows and shards are both given");
    plan->problem.rows = NULL;
    plan->problem.partition = "label-skew:1";
    refuse_plan(plan, "every agent already has its own rows");
    test_plan_free(plan);
    saddle_dataset_free(rows);
}

TEST(weights_on_another_graph_are_refused)
{
    saddle_graph *ring = NULL;
    saddle_graph *same = NULL;
    saddle_graph *star = NULL;
    saddle_mixing *weights = NULL;
    saddle_plan *plan = small_plan();
    assert_ok(saddle_graph_create(&ring, "ring", 5, 0, &error), error);
    assert_ok(saddle_graph_create(&same, "ring", 5, 0, &error), error);
    assert_ok(saddle_graph_create(&star, "star", 5, 0, &error), error);
    assert_ok(saddle_mixing_create(&weights, ring, "metropolis", &error), error);
    plan->network.weights = weights;
    plan->network.graph = star;
    refuse_plan(plan, "the weights are on another graph");
    plan->network.graph = same;
    accept_plan(plan);
    test_plan_free(plan);
    saddle_mixing_free(weights);
    saddle_graph_free(star);
    saddle_graph_free(same);
    saddle_graph_free(ring);
}

TEST(constants_of_a_problem_that_make_no_sense_are_refused)
{
    saddle_problem mine = *test_own_problem();
    mine.tau = -1.0;
    assert_refused(saddle_problem_check(&mine, &error), error, SADDLE_BAD_INPUT, "has tau -1");
    mine.tau = 0.0;
    mine.alpha = (double)NAN;
    assert_refused(saddle_problem_check(&mine, &error), error, SADDLE_BAD_INPUT, "alpha nan");
    mine.alpha = 2.0;
    assert_ok(saddle_problem_check(&mine, &error), error);
}

/* What outcomes() below returns: in the first call, and in later ones. */
typedef struct said {
    size_t count, later;
    const char *name;
    size_t calls;
} said;

static saddle_status say_outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                                  const double *x, const double *y, saddle_outcome *out,
                                  size_t *count, saddle_error *why)
{
    said *s = problem->self;
    (void)rows;
    (void)x;
    (void)y;
    (void)why;
    *count = s->calls++ == 0 ? s->count : s->later;
    static const char *const other[SADDLE_MOST_OUTCOMES] = {"o0",  "o1",  "o2",  "o3", "o4",  "o5",
                                                            "o6",  "o7",  "o8",  "o9", "o10", "o11",
                                                            "o12", "o13", "o14", "o15"};
    for (size_t k = 0; k < *count && k < SADDLE_MOST_OUTCOMES; k++)
        out[k] = (saddle_outcome){k == 0 ? s->name : other[k], 1.0, SADDLE_LARGER};
    return SADDLE_OK;
}

static saddle_status run_outcomes(said s)
{
    saddle_problem mine = *test_own_problem();
    saddle_result *result = NULL;
    saddle_plan *plan = test_plan(NULL, (const char *const[]){"iterations=3", NULL});
    plan->outputs.outcomes = SADDLE_OUTCOMES_ALWAYS;
    mine.self = &s;
    mine.outcomes = say_outcomes;
    saddle_status status = saddle_solve(&mine, plan, &result, &error);
    saddle_result_free(result);
    test_plan_free(plan);
    return status;
}

TEST(outcomes_are_counted_and_named)
{
    static const char *const wrong[] = {
        NULL,
        "",
        "a,b",
        "a\nb",
        "a b",
        "\x1b[31m",
        "a23456789b123456789c123456789d123456789e123456789f123456789g1"};
    assert_ok(run_outcomes((said){16, 16, "share_0", 0}), error);
    assert_ok(run_outcomes((said){0, 0, NULL, 0}), error);
    assert_refused(run_outcomes((said){17, 17, "a", 0}), error, SADDLE_CHECK_FAILED,
                   "outcomes() of problem own gives 17 outcomes; at most 16");
    assert_refused(run_outcomes((said){SIZE_MAX, 0, "a", 0}), error, SADDLE_CHECK_FAILED,
                   "at most 16");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_refused(run_outcomes((said){2, 2, wrong[k], 0}), error, SADDLE_CHECK_FAILED,
                       "letters, digits and _");
    assert_refused(run_outcomes((said){2, 2, "o1", 0}), error, SADDLE_CHECK_FAILED,
                   "calls two outcomes 'o1'");
    assert_refused(run_outcomes((said){1, 16, "a", 0}), error, SADDLE_CHECK_FAILED,
                   "gives other outcomes than the first time");
    assert_refused(run_outcomes((said){16, 1, "a", 0}), error, SADDLE_CHECK_FAILED,
                   "gives other outcomes than the first time");
}

static saddle_constants claimed;

static saddle_status claim(const saddle_problem *problem, const saddle_set *x_set,
                           const saddle_set *y_set, saddle_constants *out, saddle_error *why)
{
    (void)problem;
    (void)x_set;
    (void)y_set;
    (void)why;
    *out = claimed;
    return SADDLE_OK;
}

TEST(constants_of_the_theory_are_checked)
{
    static const saddle_constants wrong[] = {
        {.lipschitz = -3.0, .strong_concavity = 1.0},
        {.lipschitz = (double)NAN, .strong_concavity = 1.0},
        {.lipschitz = 1.0, .strong_concavity = (double)NAN},
        {.lipschitz = 1.0, .strong_concavity = -1.0},
        {.primal_bound = (double)NAN, .has_primal_bound = true}};
    saddle_problem mine = *test_own_problem();
    saddle_plan *plan = test_plan(NULL, (const char *const[]){"iterations=1", NULL});
    saddle_result *result = NULL;
    mine.constants = claim;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        claimed = wrong[k];
        assert_refused(saddle_solve(&mine, plan, &result, &error), error, SADDLE_CHECK_FAILED,
                       "constants() of problem own gives L = ");
    }
    claimed = (saddle_constants){.lipschitz = 1.0};
    assert_ok(saddle_solve(&mine, plan, &result, &error), error);
    saddle_result_free(result);
    test_plan_free(plan);
}

TEST(numbers_without_a_meaning_are_refused)
{
    saddle_plan *plan = small_plan();
    saddle_instance *instance = NULL;
    saddle_theory theory;
    saddle_tuning *tuning = NULL;
    saddle_dataset *data = NULL;
    uint64_t least = 0;
    const saddle_tune_inputs inputs = {.objective = "best"};
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    const double wrong[] = {(double)NAN, -1.0, 0.0, (double)INFINITY};
    for (size_t k = 0; k < 4 * (sizeof wrong / sizeof *wrong); k++) {
        double in[4] = {1.0, 0.1, 1.0, 1.0};
        in[k % 4] = wrong[k / 4];
        assert_refused(
            saddle_theory_evaluate(instance, in[0], in[1], in[2], in[3], &theory, &error), error,
            SADDLE_BAD_INPUT, "is not a finite number above 0");
    }
    assert_refused(saddle_tune(&tuning, instance, plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT,
                   "--objective: 'best' is not an objective of problem quadratic");
    assert_refused(saddle_tune_least_budget(instance, NULL, &inputs, &least, &error), error,
                   SADDLE_BAD_INPUT, "the argument plan is NULL");
    saddle_data_options options = {.abi = SADDLE_ABI, .format = (saddle_data_format)99};
    assert_refused(saddle_dataset_load(&data, "synthetic:10:2", &options, 1, &error), error,
                   SADDLE_BAD_INPUT, "data format 99 is unknown");
    options = (saddle_data_options){.abi = SADDLE_ABI, .header = (saddle_csv_header)-3};
    assert_refused(saddle_dataset_load(&data, "synthetic:10:2", &options, 1, &error), error,
                   SADDLE_BAD_INPUT, "header -3 is unknown");
    const size_t row_start[2] = {0, 0};
    assert_refused(saddle_dataset_from_csr(&data, SIZE_MAX, 1, row_start, NULL, NULL, NULL,
                                           SADDLE_COPY, &error),
                   error, SADDLE_NO_MEMORY, "a data set");
    saddle_instance_free(instance);
    test_plan_free(plan);
}

TEST(null_arguments_are_named)
{
    saddle_plan *plan = small_plan();
    assert_refused(saddle_plan_set(plan, "tau", NULL, &error), error, SADDLE_BAD_INPUT,
                   "saddle_plan_set: the argument text is NULL");
    assert_refused(saddle_set_box(NULL, 2, NULL, NULL, &error), error, SADDLE_BAD_INPUT,
                   "saddle_set_box: the argument out is NULL");
    test_plan_free(plan);
}

TEST(numbers_have_at_most_17_digits)
{
    char text[SADDLE_REAL_SIZE];
    ck_assert_str_eq(saddle_print_real(1.0 / 3.0, 31, text), "0.33333333333333331");
    ck_assert_str_eq(saddle_print_real(1.0 / 3.0, 40, text), "0.33333333333333331");
    ck_assert_str_eq(saddle_print_real(-1e-300 / 3.0, 1000, text), "-3.3333333333333334e-301");
    ck_assert_str_eq(saddle_print_real(0.5, -3, text), "0.5");
}

/* ---- warnings ---------------------------------------------------------------------------------- */

typedef struct heard {
    int count;
    char text[1024];
} heard;

static void listen(void *context, const char *message)
{
    heard *h = context;
    size_t used = strlen(h->text);
    h->count++;
    snprintf(h->text + used, sizeof h->text - used, "%s\n", message);
}

/* Options of an algorithm and of a problem that are given and have no effect: one warning each. */
TEST(unused_options_are_reported_by_the_run)
{
    heard h = {.count = 0};
    saddle_hooks hooks = {.context = &h, .warning = listen};
    saddle_plan *plan = small_plan();
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_plan_set(plan, "nu", "0.01", &error), error);
    assert_ok(saddle_plan_set(plan, "eta", "0.01", &error), error);
    assert_ok(saddle_plan_set(plan, "ppa-lipschitz", "3", &error), error);
    assert_ok(saddle_plan_set(plan, "lambda1", "0.5", &error), error);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, &hooks, &result, &error), error);
    ck_assert_msg(strstr(h.text, "--ppa-lipschitz: not used by precision-auto\n") != NULL, "%s",
                  h.text);
    ck_assert_msg(strstr(h.text, "--lambda1: not used by problem quadratic\n") != NULL, "%s",
                  h.text);
    ck_assert_msg(h.count == 2, "%s", h.text);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

/* The warnings of a run on a small quadratic with the theory's steps. */
static heard theory_warnings(const char *algorithm, const char *c_gamma)
{
    heard h = {.count = 0};
    saddle_hooks hooks = {.context = &h, .warning = listen};
    saddle_plan *plan = small_plan();
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_plan_set(plan, "algorithm", algorithm, &error), error);
    assert_ok(saddle_plan_set(plan, "steps", "theory", &error), error);
    if (c_gamma != NULL)
        assert_ok(saddle_plan_set(plan, "c-gamma", c_gamma, &error), error);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, &hooks, &result, &error), error);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return h;
}

TEST(steps_without_a_guarantee_are_reported)
{
    heard h = theory_warnings("precision", NULL);
    ck_assert_msg(h.count == 0, "%s", h.text);
    h = theory_warnings("precision+", "1e9");
    ck_assert_msg(h.count == 0, "%s", h.text);
    h = theory_warnings("precision+", "0.5");
    ck_assert_msg(h.count == 1 && strncmp(h.text,
                                          "--steps: PRECISION+ has no guarantee with a --c-gamma "
                                          "of 0.5; these steps need one above ",
                                          89) == 0,
                  "%s", h.text);
    h = theory_warnings("prox-gt-sgda", NULL);
    ck_assert_str_eq(
        h.text, "--steps: nothing is proved about Prox-GT-SGDA; these are PRECISION's steps\n");
    ck_assert_int_eq(h.count, 1);
    h = theory_warnings("gda", NULL);
    ck_assert_msg(h.count == 0, "%s", h.text);
}

/* ---- objects in memory ------------------------------------------------------------------------- */

static void assert_setting(const saddle_result *result, const char *name, const char *value)
{
    saddle_trace *trace = NULL;
    assert_ok(saddle_result_trace(result, &trace, &error), error);
    const char *found = saddle_trace_setting(trace, name);
    ck_assert_msg(found != NULL && strcmp(found, value) == 0, "%s is '%s', not '%s'", name, found,
                  value);
    ck_assert_str_eq(test_text(&result->plan, name), value);
    saddle_trace_free(trace);
}

TEST(settings_say_what_was_in_memory)
{
    double x[72];
    double label[24];
    double start[6] = {0.1};
    saddle_dataset *rows = some_rows(x, label, 1.0);
    saddle_plan *plan = auc_plan();
    saddle_result *result = NULL;
    plan->problem.rows = plan->problem.test_rows = rows;
    plan->start.x = start;
    plan->start.x_length = 6;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    assert_setting(result, "data", "in memory");
    assert_setting(result, "test-data", "in memory");
    assert_setting(result, "init-x", "in memory");
    ck_assert_str_ne(test_text(&result->plan, "init-y"), "in memory");
    saddle_result_free(result);
    test_plan_free(plan);
    saddle_dataset_free(rows);
    /* A user-defined problem does not use the library's data. */
    plan = test_plan(NULL, (const char *const[]){"iterations=3", NULL});
    assert_ok(saddle_solve(test_own_problem(), plan, &result, &error), error);
    assert_setting(result, "data", "in memory");
    saddle_result_free(result);
    test_plan_free(plan);
}

/* Runs to iteration 4 with checkpoints, then sets the plan to resume from there to iteration 8. */
static void begin_and_resume(saddle_plan *plan, const char *directory)
{
    plan->outputs.checkpoint = directory;
    plan->limits.iterations = 4;
    accept_plan(plan);
    plan->outputs.resume = directory;
    plan->limits.iterations = 8;
}

static saddle_set *box_of(double bound, double last)
{
    double low[DIM];
    double high[DIM];
    saddle_set *set = NULL;
    for (size_t k = 0; k < DIM; k++) {
        low[k] = -bound;
        high[k] = bound;
    }
    high[DIM - 1] = last;
    assert_ok(saddle_set_box(&set, DIM, low, high, &error), error);
    return set;
}

/* h(v) = c |v|_1 with c from the context. */
static double context_value(const saddle_regularizer *h, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < h->term.dimension; k++)
        sum += fabs(v[k]);
    return *(const double *)h->term.context * sum;
}

static saddle_weights context_weights(const saddle_regularizer *h)
{
    return (saddle_weights){.l1 = *(const double *)h->term.context};
}

static const saddle_regularizer_class context_l1 = {
    .term = {.name = "context-l1", .size = sizeof(saddle_regularizer)},
    .value = context_value,
    .weights = context_weights};

/* Other bounds, another context, another h: each has the same text as the first, and other bits. */
TEST(a_run_does_not_resume_with_other_sets)
{
    char directory[PATH];
    double bound = 0.5;
    double weight = 0.25;
    saddle_set *box = box_of(1.0, 1.0);
    saddle_set *same = box_of(1.0, 1.0);
    saddle_set *other = box_of(1.0, 1.5);
    saddle_set *own = NULL;
    saddle_regularizer *h = NULL;
    saddle_plan *plan = small_plan();
    assert_ok(saddle_set_from_class(&own, &clipped, NULL, &bound, 4, &error), error);
    assert_ok(saddle_regularizer_from_class(&h, &context_l1, NULL, &weight, DIM, &error), error);
    plan->problem.own_x_set = box;
    plan->problem.own_y_set = own;
    plan->problem.own_regularizer = h;
    begin_and_resume(plan, path_of(directory, "sets"));
    plan->problem.own_x_set = other;
    refuse_plan(plan, "or the network, sets, start or a plug-in's files, have changed");
    plan->problem.own_x_set = box;
    bound = 0.5000001;
    refuse_plan(plan, "or the network, sets, start or a plug-in's files, have changed");
    bound = 0.5;
    weight = 0.2500001;
    refuse_plan(plan, "or the network, sets, start or a plug-in's files, have changed");
    weight = 0.25;
    plan->problem.own_x_set = same;
    accept_plan(plan);
    test_plan_free(plan);
    saddle_regularizer_free(h);
    saddle_set_free(own);
    saddle_set_free(other);
    saddle_set_free(same);
    saddle_set_free(box);
}

/* Resumes as the program does, which only has texts. */
TEST(a_run_of_objects_in_memory_resumes_only_with_them)
{
    char directory[PATH];
    double x[72];
    double label[24];
    saddle_dataset *rows = some_rows(x, label, 1.0);
    saddle_plan *plan = auc_plan();
    plan->problem.rows = rows;
    begin_and_resume(plan, path_of(directory, "rows"));
    plan->problem.rows = NULL;
    assert_ok(saddle_plan_resume(plan, NULL, &error), error);
    refuse_plan(plan, "--data: the run of the checkpoint");
    refuse_plan(plan, "can only be resumed from C or Python");
    plan->problem.rows = rows;
    accept_plan(plan);
    test_plan_free(plan);
    saddle_dataset_free(rows);
    /* The same for an algorithm. */
    saddle_algorithm mine = leap;
    mine.phases = rest_phases;
    plan = small_plan();
    plan->algorithm.own = &mine;
    begin_and_resume(plan, path_of(directory, "algorithm"));
    plan->algorithm.own = NULL;
    refuse_plan(plan, "--algorithm: the run of the checkpoint");
    plan->algorithm.own = &mine;
    accept_plan(plan);
    test_plan_free(plan);
}

/* A checkpoint may come from anyone, and name plug-ins and outputs. */
TEST(the_plan_in_a_checkpoint_is_not_run)
{
    char directory[PATH];
    char *path = NULL;
    saddle_checkpoint_info info;
    saddle_plan found;
    saddle_plan copy;
    saddle_plan *plan = small_plan();
    begin_and_resume(plan, path_of(directory, "examined"));
    assert_ok(saddle_checkpoint_newest(&path, directory, &error), error);
    assert_ok(saddle_checkpoint_examine(path, &info, &found, &error), error);
    ck_assert_str_eq(test_text(&found, "problem"), "quadratic");
    ck_assert_str_eq(found.problem.name, "quadratic");
    refuse_plan(&found, "is for inspection only");
    assert_refused(saddle_plan_copy(&copy, &found, &error), error, SADDLE_BAD_INPUT,
                   "set outputs.resume of your own plan");
    assert_refused(saddle_plan_set(&found, "seed", "2", &error), error, SADDLE_BAD_INPUT,
                   "for inspection only");
    saddle_plan_free(&found);
    ck_assert_ptr_null(found.settings);
    free(path);
    test_plan_free(plan);
}

static size_t count_files(const char *directory)
{
    size_t count = 0;
    DIR *list = opendir(directory);
    ck_assert_ptr_nonnull(list);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list))
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* Even without saddle_plan_resume(), further checkpoints go to the same directory. */
TEST(a_run_that_resumes_writes_further_checkpoints)
{
    char directory[PATH];
    saddle_plan *plan = small_plan();
    saddle_result *result = NULL;
    begin_and_resume(plan, path_of(directory, "further"));
    ck_assert_uint_eq(count_files(directory), 1);
    plan->outputs.checkpoint = NULL;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    ck_assert_uint_eq(count_files(directory), 2);
    ck_assert_ptr_nonnull(result->checkpoint);
    ck_assert(strncmp(result->checkpoint, directory, strlen(directory)) == 0);
    saddle_result_free(result);
    test_plan_free(plan);
}

/* A field that has its default value before saddle_plan_resume() counts as not given; if it is set by
 * name or afterwards, it counts. */
TEST(defaults_that_are_meant_are_set_by_name_or_afterwards)
{
    char directory[PATH];
    saddle_plan *first = small_plan();
    begin_and_resume(first, path_of(directory, "defaults"));
    test_plan_free(first);
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.outputs.resume = directory;
    plan.limits.iterations = 2000;
    assert_ok(saddle_plan_resume(&plan, NULL, &error), error);
    ck_assert_uint_eq(plan.limits.iterations, 4);
    ck_assert_str_eq(plan.problem.name, "quadratic");
    plan.limits.iterations = 2000;
    saddle_plan copy;
    assert_ok(saddle_plan_copy(&copy, &plan, &error), error);
    ck_assert_uint_eq(copy.limits.iterations, 2000);
    saddle_plan_free(&copy);
    saddle_plan_free(&plan);
    saddle_plan_defaults(&plan, sizeof plan);
    plan.outputs.resume = directory;
    assert_ok(saddle_plan_set(&plan, "iterations", "2000", &error), error);
    assert_ok(saddle_plan_resume(&plan, NULL, &error), error);
    ck_assert_uint_eq(plan.limits.iterations, 2000);
    saddle_plan_free(&plan);
}
