/* Layouts: the table of fields describes every algorithm correctly, and an impossible one is refused. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/layout.h"
#include "engines/agent.h"
#include "instances.h"
#include "support.h"

/* ---- conserved sums -------------------------------------------------------------------------- */

/* Sums of one field over the agents' spans. */
typedef struct totals {
    const saddle_field *field;
    const double
        *kept_like;   /* NULL, or the full gradients that the estimates must be, a row per agent */
    long double *sum; /* of the field over agents */
    long double *estimate; /* of its estimates */
    double size;           /* largest entry of either */
    double off;            /* largest difference of an estimate from kept_like */
} totals;

/* Returns the estimate that the table describes, by its definition. */
static double denoted(const saddle_field *field, const saddle_agent *agent, size_t k)
{
    return agent->kept[field->estimate + k] - field->shift * agent->now[field->shift_offset + k];
}

/* Workers call this for their agents at the same time. */
static void add_agent(void *context, saddle_agent *agent)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    totals *t = context;
    const saddle_field *field = t->field;
    pthread_mutex_lock(&one_at_a_time);
    for (size_t k = 0; k < field->length; k++) {
        double sum = agent->now[field->offset + k];
        double estimate = denoted(field, agent, k);
        t->sum[k] += sum;
        t->estimate[k] += estimate;
        t->size = fmax(t->size, fmax(fabs(sum), fabs(agent->kept[field->estimate + k])));
        if (t->kept_like != NULL) {
            double off = fabs(estimate - t->kept_like[agent->id * field->length + k]);
            t->off = off <= t->off ? t->off : off;
        }
    }
    pthread_mutex_unlock(&one_at_a_time);
}

/* Checks a sum in the current state. `truth`: see totals::kept_like. */
static void check_sum(test_rig *rig, const saddle_field *field, const double *truth)
{
    totals t = {.field = field, .kept_like = truth};
    t.sum = calloc(field->length, sizeof *t.sum);
    t.estimate = calloc(field->length, sizeof *t.estimate);
    ck_assert(t.sum != NULL && t.estimate != NULL);
    rig->engine->kind->for_each(rig->engine, add_agent, &t);
    double agents = (double)rig->target.problem->agents;
    for (size_t k = 0; k < field->length; k++)
        ck_assert_msg(fabsl(t.sum[k] - t.estimate[k]) <= 1e-10L * agents * (t.size + 1e-300),
                      "%s on %s: field %s[%zu] has the sum %Lg, its estimates %Lg",
                      rig->algorithm->name, rig->instance.label, field->name, k, t.sum[k],
                      t.estimate[k]);
    ck_assert_msg(t.off <= 1e-10 * (t.size + 1e-300),
                  "%s on %s: the estimate of field %s is %g off the gradient", rig->algorithm->name,
                  rig->instance.label, field->name, t.off);
    free(t.sum);
    free(t.estimate);
}

typedef struct gradients {
    const saddle_algorithm *algorithm;
    double *gx, *gy; /* a row per agent */
} gradients;

static void take_gradient(void *context, saddle_agent *agent)
{
    const gradients *g = context;
    const saddle_problem *problem = agent->problem;
    saddle_batch all = {.count = problem->samples[agent->id]};
    saddle_view view;
    g->algorithm->view(agent, &view);
    saddle_problem_gradient(problem, agent->id, &all, view.x, view.y,
                            g->gx + agent->id * problem->x_dim, g->gy + agent->id * problem->y_dim,
                            agent->scratch);
}

/* The mean of every conserved sum over agents is that of the estimates that the table names. PRECISION's
 * estimates are the full gradients whenever it refreshes. */
TEST_LOOP(sums_are_those_of_their_estimates, 0, INSTANCES)
{
    enum { REFRESH = 3, ITERATIONS = 8 };
    size_t algorithms;
    size_t checked = 0;
    size_t shifted = 0;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    for (size_t a = 0; a < algorithms; a++) {
        test_rig rig;
        saddle_layout layout;
        test_rig_open(&rig, _i, list[a]->name, (const char *[]){"q=3", NULL}, 2, NULL, NULL);
        const saddle_problem *problem = rig.target.problem;
        saddle_algorithm_layout(rig.algorithm, rig.parameters, problem, &layout);
        gradients g = {.algorithm = rig.algorithm,
                       .gx = test_doubles(problem->agents * problem->x_dim),
                       .gy = test_doubles(problem->agents * problem->y_dim)};
        bool refreshes = strcmp(list[a]->name, "precision") == 0;
        for (int t = 0; t < ITERATIONS; t++) {
            bool full = refreshes && t % REFRESH == 0;
            rig.engine->kind->for_each(rig.engine, take_gradient, &g);
            for (size_t f = 0; f < layout.fields; f++) {
                const saddle_field *field = &layout.field[f];
                if (field->kind != SADDLE_FIELD_SUM)
                    continue;
                bool of_x = strcmp(field->name, "p") == 0;
                check_sum(&rig, field, !full ? NULL : of_x ? g.gx : g.gy);
                checked++;
                shifted += field->shift != 0.0;
            }
            ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        }
        free(g.gx);
        free(g.gy);
        test_rig_close(&rig);
    }
    /* PRECISION, PRECISION+, PRECISION-auto, Prox-GT-SGDA, GT-GDA, DGDA-VR, DM-HSGD, DREAM and K-GT-Minimax track two
     * gradients each, VRLM one, and PRECISION+ and PRECISION-auto numbers. */
    ck_assert_uint_eq(checked, (size_t)21 * ITERATIONS);
    ck_assert(shifted > 0 || _i != LOGISTIC_BOX_SPARSE);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The algorithm whose phases are watched. */
static const saddle_algorithm *watched;

static bool within(const double *part, size_t length, const double *whole, size_t size)
{
    return part >= whole && part + length <= whole + size;
}

static void check_request(const saddle_agent *agent)
{
    const saddle_request *r = &agent->request;
    saddle_layout layout;
    if (r->kind == SADDLE_REQUEST_NONE)
        return;
    saddle_algorithm_layout(watched, agent->parameters, agent->problem, &layout);
    const double *answer[] = {r->gx, r->gy};
    const double *point[] = {r->x, r->y, r->x0, r->y0};
    size_t length[] = {agent->problem->x_dim, agent->problem->y_dim};
    for (size_t k = 0; k < 2; k++) {
        ck_assert_msg(within(answer[k], length[k], agent->work, layout.work) ||
                          within(answer[k], length[k], agent->kept, layout.kept),
                      "%s: answer %zu is in foreign memory", watched->name, k);
        for (size_t p = 0; p < 4; p++)
            ck_assert_msg(point[p] == NULL || point[p] + length[p % 2] <= answer[k] ||
                              answer[k] + length[k] <= point[p],
                          "%s: answer %zu overwrites point %zu", watched->name, k, p);
    }
}

static void watched_round(saddle_agent *agent)
{
    for (const saddle_phase *phase = watched->phases; phase->name != NULL; phase++) {
        saddle_agent_phase(phase, agent);
        check_request(agent);
        saddle_agent_evaluate(agent);
    }
}

/* Results go to the agent's own memory and overwrite no point, so that an engine may evaluate the
 * requests of all agents at once. */
TEST(requests_are_apart)
{
    static const saddle_phase phases[] = {{"watched", .before = watched_round}, {.name = NULL}};
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    for (size_t a = 0; a < algorithms; a++) {
        test_rig rig;
        saddle_algorithm wrapped = *list[a];
        watched = list[a];
        wrapped.phases = phases;
        test_rig_open(&rig, LOGISTIC_BOX_DENSE_UNEQUAL, list[a]->name,
                      (const char *[]){"q=3", NULL}, 1, &wrapped, NULL);
        ck_assert_int_eq(test_rig_advance(&rig, 4).kind, SADDLE_FAULT_NONE);
        test_rig_close(&rig);
    }
}

/* ---- wrong layouts --------------------------------------------------------------------------- */

enum {
    RIGHT,
    LONG_SUM, /* not wrong, but longer than anything else that is averaged over agents */
    TOO_MANY_FIELDS,
    NO_SUCH_ROUND,
    ROUNDS_IN_REVERSE,
    PARTED_MESSAGE,
    NO_ESTIMATE,
    ESTIMATE_OUTSIDE,
    SHIFT_OUTSIDE,
    SHIFT_NAN,
    GAP,
    NAMELESS,
    SPAN_TOO_SHORT,
    VIEW_OUTSIDE,
    VIEW_WITHOUT_Y,
    MISTAKES
};

static int mistake;

static size_t p_length(const saddle_problem *problem)
{
    return mistake == LONG_SUM ? 1000000 : problem->x_dim;
}

static void mistaken_layout(const void *parameters, const saddle_problem *problem,
                            saddle_layout *out)
{
    (void)parameters;
    size_t x_dim = problem->x_dim;
    size_t p_dim = p_length(problem);
    out->rounds = 2;
    out->kept = p_dim;
    saddle_layout_add(out, "x", x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "p", p_dim, SADDLE_FIELD_SUM,
                      mistake == NO_ESTIMATE        ? SADDLE_NO_ESTIMATE
                      : mistake == ESTIMATE_OUTSIDE ? 1
                                                    : 0);
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    for (int k = 0; mistake == TOO_MANY_FIELDS && k < 9; k++)
        saddle_layout_add(out, "more", 1, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    if (mistake == NO_SUCH_ROUND)
        out->field[2].last_round = 2;
    if (mistake == ROUNDS_IN_REVERSE) {
        out->field[2].first_round = 1;
        out->field[2].last_round = 0;
    }
    if (mistake == PARTED_MESSAGE)
        out->field[1].first_round = 1;
    if (mistake == SHIFT_OUTSIDE || mistake == SHIFT_NAN) {
        out->field[1].shift = mistake == SHIFT_NAN ? NAN : 1.0;
        out->field[1].shift_offset = mistake == SHIFT_NAN ? 0 : out->published - x_dim + 1;
    }
    if (mistake == GAP)
        out->field[2].offset++;
    if (mistake == NAMELESS)
        out->field[1].name = NULL;
    if (mistake == SPAN_TOO_SHORT)
        out->published--;
}

static void mistaken_view(const saddle_agent *agent, saddle_view *out)
{
    size_t x_dim = agent->problem->x_dim;
    *out = (saddle_view){
        .x = agent->now, .y = agent->now + x_dim + p_length(agent->problem), .v = agent->kept};
    if (mistake == VIEW_OUTSIDE)
        out->v++;
    if (mistake == VIEW_WITHOUT_Y)
        out->y = NULL;
}

static saddle_status mistaken_init(void *parameters, saddle_configuration *configuration,
                                   saddle_error *error)
{
    (void)parameters;
    (void)configuration;
    (void)error;
    return SADDLE_OK;
}

static void mistaken_start(saddle_agent *agent, const double *x0, const double *y0)
{
    size_t x_dim = agent->problem->x_dim;
    size_t p_dim = p_length(agent->problem);
    memset(agent->next, 0, (x_dim + p_dim) * sizeof *agent->next);
    memset(agent->kept, 0, p_dim * sizeof *agent->kept);
    memcpy(agent->next, x0, x_dim * sizeof *x0);
    memcpy(agent->next + x_dim + p_dim, y0, agent->problem->y_dim * sizeof *y0);
}

static void mistaken_round(saddle_agent *agent)
{
    const saddle_problem *problem = agent->problem;
    saddle_agent_mix(agent, 0, problem->x_dim + p_length(problem) + problem->y_dim, agent->next);
}

/* A user-defined algorithm with each mistake in turn. None gets as far as its first agent. */
TEST(a_wrong_layout_is_refused)
{
    static const char *const reason[MISTAKES] = {
        [TOO_MANY_FIELDS] = "its layout has 12 fields; at most 8",
        [NO_SUCH_ROUND] =
            "field y is sent in rounds 0 to 2, but an iteration has only rounds 0 to 1",
        [ROUNDS_IN_REVERSE] = "field y is sent in rounds 1 to 0",
        [PARTED_MESSAGE] = "field p is not sent in round 0",
        [NO_ESTIMATE] =
            "field p tracks an estimate of 3 doubles that lies outside the kept state of 3",
        [ESTIMATE_OUTSIDE] = "field p tracks an estimate of 3 doubles",
        [SHIFT_OUTSIDE] = "the estimate of field p is shifted by 1 times 3",
        [SHIFT_NAN] = "the estimate of field p is shifted by nan",
        [GAP] = "field y has offset 7, but the field before it ends at 6",
        [NAMELESS] = "field (without a name)",
        [SPAN_TOO_SHORT] = "its fields have 12 doubles in all, but published is 11",
        [VIEW_OUTSIDE] = "view() must set v to 3 doubles",
        [VIEW_WITHOUT_Y] = "view() must set y to 6 doubles"};
    static const saddle_option *const options[] = {NULL};
    static const saddle_phase phases[] = {{"mix", .before = mistaken_round}, {.name = NULL}};
    static const saddle_algorithm mistaken = {.name = "mistaken",
                                              .options = options,
                                              .size = 8,
                                              .traits = {.x_set = true, .y_set = true},
                                              .init = mistaken_init,
                                              .layout = mistaken_layout,
                                              .start = mistaken_start,
                                              .phases = phases,
                                              .view = mistaken_view};
    for (mistake = RIGHT; mistake < MISTAKES; mistake++) {
        test_instance instance;
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        test_instance_open(&instance, QUADRATIC_NONCONVEX, NULL);
        saddle_plan *plan = test_plan(instance.plan, (const char *[]){"iterations=3", NULL});
        plan->algorithm.own = &mistaken;
        saddle_status status = saddle_run(instance.made, plan, NULL, &result, &error);
        if (mistake <= LONG_SUM) {
            assert_ok(status, error);
        } else {
            assert_refused(status, error, SADDLE_CHECK_FAILED, reason[mistake]);
            ck_assert_ptr_nonnull(strstr(error.message, "mistaken"));
        }
        saddle_result_free(result);
        test_plan_free(plan);
        test_instance_close(&instance);
    }
}
