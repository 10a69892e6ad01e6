#include "observe/observer_state.h"

#include "algorithms/layout.h"
#include "core/scalar.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "observe/response.h"
#include "problems/evaluate.h"

/* The generic best response for the metric has converged if its last step is at most this long, relative to y: the
 * square is far below any metric of interest. */
#define RESPONSE_CONVERGED 1e-12
/* The generic best response is accepted if its last step is at most this long, relative to y. */
#define RESPONSE_ACCEPTED 1e-8

size_t saddle_observer_scratch(const saddle_instance *instance)
{
    const saddle_problem *problem = instance->problem;
    return problem->x_dim + problem->y_dim + saddle_problem_scratch(problem) +
           saddle_larger(saddle_prox_scratch(instance->x_prox),
                         saddle_set_scratch(instance->y_set));
}

/* Returns the doubles of a point, or of the longest sum that is checked. */
static size_t both_size(const saddle_layout *layout, const saddle_problem *problem)
{
    return saddle_larger(problem->x_dim + problem->y_dim, saddle_layout_longest(layout));
}

/* Returns the doubles of all vectors of an observer. */
static size_t vectors_size(const saddle_instance *instance, const saddle_layout *layout, bool gap)
{
    const saddle_problem *problem = instance->problem;
    return both_size(layout, problem) + 3 * problem->x_dim + 2 * problem->y_dim +
           problem->response_size + 1 + 3 * problem->agents +
           (gap ? saddle_search_lay_out(instance, NULL, &(saddle_gap_search){0}) : 0) +
           saddle_maximize_scratch(problem->y_dim) + saddle_observer_scratch(instance);
}

double saddle_observer_bytes(const saddle_instance *instance, const saddle_layout *layout, bool gap)
{
    return saddle_block_bytes(1, sizeof(saddle_observer)) +
           saddle_block_bytes(vectors_size(instance, layout, gap), sizeof(double));
}

saddle_status saddle_observer_create(saddle_observer **out, const saddle_observer_inputs *inputs,
                                     saddle_error *error)
{
    *out = NULL;
    saddle_observer *o = saddle_alloc(1, sizeof *o);
    SADDLE_TRY(saddle_check_memory(o, "the observer", error));
    const saddle_problem *problem = inputs->instance->problem;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    o->in = *inputs;
    o->problem = problem;
    o->ascent_step = 1.0;
    size_t both = both_size(inputs->layout, problem);
    o->x_mean = saddle_alloc_doubles(vectors_size(inputs->instance, inputs->layout, inputs->gap));
    if (o->x_mean == NULL) {
        saddle_free(o);
        return saddle_no_memory(error, "the observer");
    }
    o->y_mean = o->x_mean + x_dim;
    o->both = o->y_mean + y_dim;
    o->slope = o->both + both;
    o->statistic = o->slope + x_dim;
    o->x_tilde = o->statistic + problem->response_size + 1;
    o->y_star = o->x_tilde + x_dim;
    o->per_agent = o->y_star + y_dim;
    o->returned_nan = o->per_agent + 2 * problem->agents;
    o->scratch = o->returned_nan + problem->agents;
    if (inputs->gap)
        o->scratch += saddle_search_lay_out(inputs->instance, o->scratch, &o->search);
    *out = o;
    return SADDLE_OK;
}

void saddle_observer_free(saddle_observer *o)
{
    if (o == NULL)
        return;
    saddle_free(o->x_mean);
    saddle_free(o);
}

size_t saddle_observer_memory(const saddle_problem *problem)
{
    return 4 + SADDLE_WATCHED_SIZES + problem->y_dim;
}

void saddle_observer_remember(const saddle_observer *o, double *memory)
{
    memory[0] = o->ascent_step;
    memory[1] = o->tracked_size;
    memory[2] = o->gap.scale;
    memory[3] = o->watched;
    memcpy(memory + 4, o->sizes, sizeof o->sizes);
    memcpy(memory + 4 + SADDLE_WATCHED_SIZES, o->y_star, o->problem->y_dim * sizeof *memory);
}

void saddle_observer_recall(saddle_observer *o, const double *memory)
{
    o->ascent_step = memory[0];
    o->tracked_size = memory[1];
    o->gap.scale = memory[2];
    o->watched = memory[3];
    memcpy(o->sizes, memory + 4, sizeof o->sizes);
    memcpy(o->y_star, memory + 4 + SADDLE_WATCHED_SIZES, o->problem->y_dim * sizeof *memory);
}

const double *saddle_observer_x_mean(const saddle_observer *observer)
{
    return observer->x_mean;
}

const double *saddle_observer_y_mean(const saddle_observer *observer)
{
    return observer->y_mean;
}

/* ---- growing iterates ------------------------------------------------------------------------ */

/* Sizes below this many times that of the start (or 1) are not suspect: iterates a thousand times as large. */
#define SUSPECT 1e6

static void size_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    *out = saddle_norm2(o->problem->x_dim, view.x) + saddle_norm2(o->problem->y_dim, view.y);
}

bool saddle_observer_is_growing(saddle_observer *o)
{
    const saddle_instance *e = o->in.instance;
    double start = saddle_norm2(o->problem->x_dim, e->x0) + saddle_norm2(o->problem->y_dim, e->y0);
    double size;
    if (!saddle_observer_measure(o, (saddle_measurement){.kind = SADDLE_MEASURE_SIZE}, &size))
        saddle_observer_average(o, 1, size_term, &size);
    bool grows = size > SUSPECT * fmax(start, 1.0);
    double later = size;
    for (size_t k = 0; k < SADDLE_WATCHED_SIZES; k++) {
        double earlier = o->sizes[k];
        grows = grows && earlier < later;
        o->sizes[k] = later;
        later = earlier;
    }
    o->watched = (double)o->in.engine->kind->iteration(o->in.engine);
    return grows;
}

uint64_t saddle_observer_watched(const saddle_observer *o)
{
    return (uint64_t)o->watched;
}

/* ---- contributions of one agent ------------------------------------------------------------ */

/* The problem's functions. */
enum { NO_FUNCTION, GRADIENT, STATISTIC, VALUE, FUNCTIONS };
static const char *const function_name[FUNCTIONS] = {"", "an entry of gradient()",
                                                     "response_statistic()", "value()"};

static bool has_nan(const double *v, size_t count)
{
    return isnan(saddle_norm2(count, v));
}

/* Notes a function that returned NaN at (x_at, y), unless x_at or y has one: projections and comparisons may hide
 * it. */
static void note_nan(const saddle_observer *o, size_t agent, int function, const double *y,
                     const double *returned, size_t count)
{
    const saddle_problem *problem = o->problem;
    if (o->returned_nan[agent] == NO_FUNCTION && has_nan(returned, count) &&
        !has_nan(o->x_at, problem->x_dim) && !has_nan(y, problem->y_dim))
        o->returned_nan[agent] = function;
}

void saddle_observer_note_gradient(const saddle_observer *o, size_t agent, const double *gradient)
{
    note_nan(o, agent, GRADIENT, o->y_star, gradient, o->problem->x_dim);
}

const char *saddle_observer_returned_nan(saddle_observer *o, size_t *agent)
{
    saddle_world_fill(o->in.instance->world, 1, o->returned_nan);
    for (size_t i = 0; i < o->problem->agents; i++)
        if (o->returned_nan[i] > NO_FUNCTION) {
            *agent = i;
            return function_name[(int)o->returned_nan[i]];
        }
    return NULL;
}

static void iterate_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    memcpy(out, view.x, o->problem->x_dim * sizeof *out);
    memcpy(out + o->problem->x_dim, view.y, o->problem->y_dim * sizeof *out);
}

/* grad F_i at (x_at, response_y). */
static void gradient_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                        .batch = {.count = o->problem->samples[agent->id]},
                        .x = o->x_at,
                        .y = o->response_y,
                        .gx = out,
                        .gy = out + o->problem->x_dim};
    saddle_agent_evaluate_uncounted(agent, &r, agent->scratch);
    note_nan(o, agent->id, GRADIENT, o->response_y, out, o->problem->x_dim + o->problem->y_dim);
}

/* Returns the length of the statistic that the problem uses for its best response. */
static size_t statistic_size(const saddle_problem *problem)
{
    return problem->response_solve != NULL ? problem->response_size : 0;
}

bool saddle_observer_has_closed_forms(const saddle_observer *o)
{
    return o->members.count == o->problem->agents;
}

/* Returns whether the values F(x_at, .) come from the statistic, without a pass over the samples. */
static bool has_closed_values(const saddle_observer *o)
{
    return o->problem->response_value != NULL && saddle_observer_has_closed_forms(o);
}

/* grad_x F_i at (x_at, ybar), the statistic at x_at and, where samples have to be read for it, F_i(x_at, ybar). */
static void survey_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    const saddle_problem *problem = o->problem;
    saddle_request r = {.kind = has_closed_values(o) ? SADDLE_REQUEST_SURVEY
                                                     : SADDLE_REQUEST_SURVEY_AND_VALUE,
                        .batch = {.count = problem->samples[agent->id]},
                        .x = o->x_at,
                        .y = o->y_mean,
                        .gx = out,
                        .statistic = statistic_size(problem) > 0 ? out + problem->x_dim : NULL};
    saddle_agent_evaluate_uncounted(agent, &r, agent->scratch);
    out[problem->x_dim + statistic_size(problem)] = r.value;
    note_nan(o, agent->id, GRADIENT, o->y_mean, out, problem->x_dim);
    note_nan(o, agent->id, STATISTIC, o->y_mean, out + problem->x_dim, statistic_size(problem));
    note_nan(o, agent->id, VALUE, o->y_mean, &r.value, 1);
}

/* F_i(x_at, y) */
static double value_at(const saddle_observer *o, const saddle_agent *agent, const double *y,
                       double *scratch)
{
    saddle_request r = {.kind = SADDLE_REQUEST_VALUE,
                        .batch = {.count = o->problem->samples[agent->id]},
                        .x = o->x_at,
                        .y = y};
    saddle_agent_evaluate_uncounted(agent, &r, scratch);
    note_nan(o, agent->id, VALUE, y, &r.value, 1);
    return r.value;
}

/* Numbers that are summed over agents. */
enum { X_STATIONARITY, X_CONSENSUS, Y_CONSENSUS, PRIMAL, NUMBERS };

static void number_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    const saddle_problem *problem = o->problem;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    double *x_tilde = agent->scratch;
    double *rest = agent->scratch + problem->x_dim;
    if (o->in.metric_direction == SADDLE_DIRECTION_OWN && o->in.algorithm->prox_point != NULL)
        o->in.algorithm->prox_point(agent, o->in.metric_tau, x_tilde, rest);
    else
        memcpy(x_tilde, o->x_tilde, problem->x_dim * sizeof *x_tilde);
    out[X_STATIONARITY] = saddle_distance2(problem->x_dim, x_tilde, o->x_mean);
    out[X_CONSENSUS] = saddle_distance2(problem->x_dim, view.x, o->x_mean);
    out[Y_CONSENSUS] = saddle_distance2(problem->y_dim, view.y, o->y_mean);
    out[PRIMAL] = has_closed_values(o) ? 0.0 : value_at(o, agent, o->y_star, rest);
}

/* ---- the metric ---------------------------------------------------------------------------- */

void saddle_observer_gradient(saddle_observer *o, const double *y)
{
    o->response_y = y;
    saddle_observer_average(o, o->problem->x_dim + o->problem->y_dim, gradient_term, o->both);
}

static void response_gradient(void *context, const double *y, double *gradient)
{
    saddle_observer *o = context;
    saddle_observer_gradient(o, y);
    memcpy(gradient, o->both + o->problem->x_dim, o->problem->y_dim * sizeof *gradient);
}

saddle_status saddle_observer_best_response(saddle_observer *o, double tolerance,
                                            saddle_error *error)
{
    const saddle_problem *problem = o->problem;
    if (saddle_observer_has_closed_forms(o) && problem->response_solve != NULL &&
        problem->response_solve(problem, o->x_at, o->statistic, o->in.instance->y_set, o->y_star,
                                o->scratch))
        return SADDLE_OK;
    double length = saddle_maximize(o->in.instance->y_set, response_gradient, o, tolerance,
                                    &o->ascent_step, o->y_star, o->scratch);
    /* Leave NaN to the divergence check, which can name its origin. */
    if (length > fmax(tolerance, RESPONSE_ACCEPTED))
        return saddle_fail(
            error, SADDLE_NUMERIC,
            "the best response y*(xbar) of %s was not found: after %d ascent steps "
            "the last one still has relative length %.3g; check that F is strongly concave in y",
            saddle_shown_name(problem->name), SADDLE_MAXIMIZE_STEPS, length);
    return SADDLE_OK;
}

static void statistic_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    saddle_request r = {.kind = SADDLE_REQUEST_STATISTIC,
                        .batch = {.count = o->problem->samples[agent->id]},
                        .x = o->x_at,
                        .statistic = out};
    saddle_agent_evaluate_uncounted(agent, &r, agent->scratch);
    note_nan(o, agent->id, STATISTIC, o->y_star, out, o->problem->response_size);
}

void saddle_observer_statistic(saddle_observer *o)
{
    if (statistic_size(o->problem) > 0 && saddle_observer_has_closed_forms(o))
        saddle_observer_average(o, statistic_size(o->problem), statistic_term, o->statistic);
}

static void value_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    out[0] = value_at(o, agent, o->response_y, agent->scratch);
}

double saddle_observer_value(saddle_observer *o, const double *y)
{
    const saddle_problem *problem = o->problem;
    double value;
    if (has_closed_values(o))
        return problem->response_value(problem, o->x_at, o->statistic, y, o->scratch);
    o->response_y = y;
    saddle_observer_average(o, 1, value_term, &value);
    return value;
}

/* Computes the proximal point of the network gradient. */
static void network_prox_point(saddle_observer *o)
{
    double tau = o->in.metric_tau;
    memcpy(o->x_tilde, o->x_mean, o->problem->x_dim * sizeof *o->x_tilde);
    saddle_axpy(o->problem->x_dim, -1.0 / tau, o->slope, o->x_tilde);
    saddle_prox_apply(o->in.instance->x_prox, 1.0 / tau, o->x_tilde, o->scratch);
}

/* Returns Theorem 1's p_t; NaN when L or mu is not known. */
static double potential(const saddle_observer *o, const saddle_row *row)
{
    double L = o->in.potential ? o->in.instance->constants.lipschitz : 0.0;
    double mu = o->in.potential ? o->in.instance->constants.strong_concavity : 0.0;
    if (!(L > 0.0) || !(mu > 0.0))
        return NAN;
    const saddle_steps *steps = &o->in.steps;
    double beta = fmin(steps->tau / 12.0, 1.0 / 3.0);
    double weight = 4.0 * steps->nu * L * L / (beta * mu * steps->eta * steps->eta);
    double agents = (double)(o->members.count * o->in.instance->copies);
    return row->primal + weight * row->y_gap + (row->x_consensus + row->y_consensus) / agents;
}

/* Determines which agents are measured. */
static void count_members(saddle_observer *o, saddle_row *row)
{
    const saddle_engine_class *kind = o->in.engine->kind;
    o->members = (saddle_members){.count = o->problem->agents};
    if (kind->membership != NULL)
        kind->membership(o->in.engine, &o->members);
    bool churn = o->in.instance->churn != NULL;
    row->present = churn ? (double)o->members.present : (double)NAN;
    row->components = churn ? (double)o->members.components : (double)NAN;
}

/* Computes the mean of the iterates, and the network's gradient and statistic there. */
static void survey(saddle_observer *o)
{
    const saddle_problem *problem = o->problem;
    size_t size = problem->x_dim + statistic_size(problem) + 1;
    saddle_measurement what = {.kind = SADDLE_MEASURE_ITERATES};
    o->x_at = o->x_mean;
    if (!saddle_observer_measure(o, what, o->x_mean))
        saddle_observer_average(o, problem->x_dim + problem->y_dim, iterate_term, o->x_mean);
    what.kind = SADDLE_MEASURE_SURVEY;
    if (!has_closed_values(o) || !saddle_observer_measure(o, what, o->slope) ||
        has_nan(o->slope, size))
        saddle_observer_average(o, size, survey_term, o->slope);
}

/* Computes the means of the numbers. */
static void average_numbers(saddle_observer *o, double *number)
{
    const saddle_measurement what = {.kind = SADDLE_MEASURE_DISTANCE};
    double agents = (double)o->members.count;
    if (o->in.metric_direction == SADDLE_DIRECTION_OWN || !has_closed_values(o) ||
        !saddle_observer_measure(o, what, &number[X_CONSENSUS])) {
        saddle_observer_average(o, NUMBERS, number_term, number);
        return;
    }
    /* As the threads of an engine compute it, which replace numbers that are not normal by 0. */
    for (size_t k = 0; k < o->problem->x_dim; k++) {
        double far = saddle_subtract(o->x_tilde[k], o->x_mean[k]);
        o->scratch[k] = saddle_multiply(far, far);
    }
    double same = saddle_sum(o->problem->x_dim, o->scratch);
    number[X_STATIONARITY] = 0.0;
    for (size_t i = 0; i < o->members.count; i++)
        number[X_STATIONARITY] += same;
    number[X_STATIONARITY] *= 1.0 / agents;
}

saddle_status saddle_observe(saddle_observer *o, saddle_row *row, saddle_error *error)
{
    const saddle_problem *problem = o->problem;
    saddle_engine *engine = o->in.engine;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    count_members(o, row);
    memset(o->returned_nan, 0, problem->agents * sizeof *o->returned_nan);
    double agents = (double)(o->members.count * o->in.instance->copies);

    survey(o);
    double loss = o->slope[x_dim + statistic_size(problem)];
    network_prox_point(o);
    SADDLE_TRY(saddle_observer_best_response(o, RESPONSE_CONVERGED, error));
    double number[NUMBERS];
    average_numbers(o, number);
    if (has_closed_values(o)) {
        loss = saddle_observer_value(o, o->y_mean);
        number[PRIMAL] = saddle_observer_value(o, o->y_star);
    }

    row->iteration = engine->kind->iteration(engine);
    engine->kind->cost(engine, &row->cost);
    double h = saddle_regularizer_value(saddle_prox_regularizer(o->in.instance->x_prox), o->x_mean);
    row->loss = loss + h;
    row->primal = number[PRIMAL] + h;
    row->x_stationarity = agents * number[X_STATIONARITY];
    row->x_consensus = agents * number[X_CONSENSUS];
    row->y_consensus = agents * number[Y_CONSENSUS];
    row->y_gap = saddle_distance2(y_dim, o->y_star, o->y_mean);
    row->metric = row->x_stationarity + row->x_consensus + row->y_consensus + row->y_gap;
    row->stationarity =
        number[X_CONSENSUS] + number[Y_CONSENSUS] + row->y_gap + saddle_norm2(x_dim, o->slope);
    row->potential = potential(o, row);
    row->gap = (double)NAN;
    return SADDLE_OK;
}
