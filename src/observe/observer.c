#include "observe/observer.h"

#include <math.h>
#include <string.h>

#include "algorithms/layout.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "engines/link_state.h"
#include "observe/response.h"
#include "problems/evaluate.h"

/* The generic best response is accepted if its last step is at most this long, relative to y. */
#define RESPONSE_ACCEPTED 1e-8
/* Rounding error allowed in the self-checks, relative to the largest size seen in the run. */
#define CHECK_TOLERANCE 1e-9

struct saddle_observer {
    saddle_observer_inputs in;
    const saddle_problem *problem; /* the instance's */
    saddle_members members;        /* of the last row */
    double *x_mean;                /* x_dim doubles; the block of all vectors begins here */
    double *y_mean;                /* y_dim doubles, follows x_mean */
    double *both;                  /* x_dim + y_dim, or the size of the longest sum */
    double *slope;                 /* x_dim: the network's grad_x at (xbar, ybar) */
    double *statistic;             /* follows slope */
    double *x_tilde;               /* prox point of the network gradient */
    double *y_star;                /* kept between calls as the generic solver's starting point */
    double *per_agent;             /* one number per agent, for messages that name an agent */
    double *scratch;
    double ascent_step;
    double tracked_size;       /* the largest size seen of all sums and their estimates */
    const saddle_field *field; /* the sum being checked */
    double defect_allowed;     /* for an agent's own sums */
    const double *response_y;  /* where the generic solver needs the gradient */
};

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
static size_t vectors_size(const saddle_instance *instance, const saddle_layout *layout)
{
    const saddle_problem *problem = instance->problem;
    return both_size(layout, problem) + 3 * problem->x_dim + 2 * problem->y_dim +
           problem->response_size + problem->agents + saddle_maximize_scratch(problem->y_dim) +
           saddle_observer_scratch(instance);
}

double saddle_observer_bytes(const saddle_instance *instance, const saddle_layout *layout)
{
    return saddle_block_bytes(1, sizeof(saddle_observer)) +
           saddle_block_bytes(vectors_size(instance, layout), sizeof(double));
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
    o->x_mean = saddle_alloc_doubles(vectors_size(inputs->instance, inputs->layout));
    if (o->x_mean == NULL) {
        saddle_free(o);
        return saddle_no_memory(error, "the observer");
    }
    o->y_mean = o->x_mean + x_dim;
    o->both = o->y_mean + y_dim;
    o->slope = o->both + both;
    o->statistic = o->slope + x_dim;
    o->x_tilde = o->statistic + problem->response_size;
    o->y_star = o->x_tilde + x_dim;
    o->per_agent = o->y_star + y_dim;
    o->scratch = o->per_agent + problem->agents;
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
    return 2 + problem->y_dim;
}

void saddle_observer_remember(const saddle_observer *o, double *memory)
{
    memory[0] = o->ascent_step;
    memory[1] = o->tracked_size;
    memcpy(memory + 2, o->y_star, o->problem->y_dim * sizeof *memory);
}

void saddle_observer_recall(saddle_observer *o, const double *memory)
{
    o->ascent_step = memory[0];
    o->tracked_size = memory[1];
    memcpy(o->y_star, memory + 2, o->problem->y_dim * sizeof *memory);
}

const double *saddle_observer_x_mean(const saddle_observer *observer)
{
    return observer->x_mean;
}

const double *saddle_observer_y_mean(const saddle_observer *observer)
{
    return observer->y_mean;
}

static void average(saddle_observer *o, size_t size, saddle_agent_term *term, double *out)
{
    o->in.engine->kind->mean(o->in.engine, size, term, o, out);
}

/* ---- contributions of one agent ------------------------------------------------------------ */

static void iterate_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    memcpy(out, view.x, o->problem->x_dim * sizeof *out);
    memcpy(out + o->problem->x_dim, view.y, o->problem->y_dim * sizeof *out);
}

/* grad F_i at (xbar, response_y). */
static void gradient_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                        .batch = {.count = o->problem->samples[agent->id]},
                        .x = o->x_mean,
                        .y = o->response_y,
                        .gx = out,
                        .gy = out + o->problem->x_dim};
    saddle_agent_evaluate_uncounted(agent, &r, agent->scratch);
}

/* Returns the length of the statistic that the problem uses for its best response. */
static size_t statistic_size(const saddle_problem *problem)
{
    return problem->response_solve != NULL ? problem->response_size : 0;
}

/* grad_x F_i at (xbar, ybar), and the statistic at xbar. */
static void survey_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    const saddle_problem *problem = o->problem;
    saddle_request r = {.kind = SADDLE_REQUEST_SURVEY,
                        .batch = {.count = problem->samples[agent->id]},
                        .x = o->x_mean,
                        .y = o->y_mean,
                        .gx = out,
                        .statistic = statistic_size(problem) > 0 ? out + problem->x_dim : NULL};
    saddle_agent_evaluate_uncounted(agent, &r, agent->scratch);
}

/* F_i(xbar, y) */
static double value_at(const saddle_observer *o, const saddle_agent *agent, const double *y,
                       double *scratch)
{
    saddle_request r = {.kind = SADDLE_REQUEST_VALUE,
                        .batch = {.count = o->problem->samples[agent->id]},
                        .x = o->x_mean,
                        .y = y};
    saddle_agent_evaluate_uncounted(agent, &r, scratch);
    return r.value;
}

/* Numbers that are summed over agents. */
enum { X_STATIONARITY, X_CONSENSUS, Y_CONSENSUS, LOSS, PRIMAL, NUMBERS };

/* Returns whether the problem's closed forms apply: not if an agent is missing, because they may assume all agents. */
static bool has_closed_forms(const saddle_observer *o)
{
    return o->members.count == o->problem->agents;
}

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
    if (problem->response_value != NULL && has_closed_forms(o)) {
        out[LOSS] = 0.0;
        out[PRIMAL] = 0.0;
        return;
    }
    out[LOSS] = value_at(o, agent, o->y_mean, rest);
    out[PRIMAL] = value_at(o, agent, o->y_star, rest);
}

/* ---- the metric ---------------------------------------------------------------------------- */

static void response_gradient(void *context, const double *y, double *gradient)
{
    saddle_observer *o = context;
    o->response_y = y;
    average(o, o->problem->x_dim + o->problem->y_dim, gradient_term, o->both);
    memcpy(gradient, o->both + o->problem->x_dim, o->problem->y_dim * sizeof *gradient);
}

/* Computes y*(xbar), in closed form where the problem has one. */
static saddle_status best_response(saddle_observer *o, saddle_error *error)
{
    const saddle_problem *problem = o->problem;
    if (has_closed_forms(o) && problem->response_solve != NULL &&
        problem->response_solve(problem, o->x_mean, o->statistic, o->in.instance->y_set, o->y_star,
                                o->scratch))
        return SADDLE_OK;
    double length = saddle_maximize(o->in.instance->y_set, response_gradient, o, &o->ascent_step,
                                    o->y_star, o->scratch);
    /* Leave NaN to the divergence check, which can name its origin. */
    if (length > RESPONSE_ACCEPTED)
        return saddle_fail(
            error, SADDLE_NUMERIC,
            "the best response y*(xbar) of %s was not found: after %d ascent steps "
            "the last one still has relative length %.3g; check that F is strongly concave in y",
            saddle_shown_name(problem->name), SADDLE_MAXIMIZE_STEPS, length);
    return SADDLE_OK;
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

saddle_status saddle_observe(saddle_observer *o, saddle_row *row, saddle_error *error)
{
    const saddle_problem *problem = o->problem;
    saddle_engine *engine = o->in.engine;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    count_members(o, row);
    double agents = (double)(o->members.count * o->in.instance->copies);

    average(o, x_dim + y_dim, iterate_term, o->x_mean);
    average(o, x_dim + statistic_size(problem), survey_term, o->slope);
    network_prox_point(o);
    SADDLE_TRY(best_response(o, error));
    double number[NUMBERS];
    average(o, NUMBERS, number_term, number);
    if (problem->response_value != NULL && has_closed_forms(o)) {
        const double *x = o->x_mean;
        number[LOSS] = problem->response_value(problem, x, o->statistic, o->y_mean, o->scratch);
        number[PRIMAL] = problem->response_value(problem, x, o->statistic, o->y_star, o->scratch);
    }

    row->iteration = engine->kind->iteration(engine);
    engine->kind->cost(engine, &row->cost);
    double h = saddle_regularizer_value(saddle_prox_regularizer(o->in.instance->x_prox), o->x_mean);
    row->loss = number[LOSS] + h;
    row->primal = number[PRIMAL] + h;
    row->x_stationarity = agents * number[X_STATIONARITY];
    row->x_consensus = agents * number[X_CONSENSUS];
    row->y_consensus = agents * number[Y_CONSENSUS];
    row->y_gap = saddle_distance2(y_dim, o->y_star, o->y_mean);
    row->metric = row->x_stationarity + row->x_consensus + row->y_consensus + row->y_gap;
    row->stationarity =
        number[X_CONSENSUS] + number[Y_CONSENSUS] + row->y_gap + saddle_norm2(x_dim, o->slope);
    row->potential = potential(o, row);
    return SADDLE_OK;
}

/* ---- self-checks --------------------------------------------------------------------------- */

/* A sum minus its estimate, such as p - v: its mean over agents must be 0. */
static void sum_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_field *field = ((const saddle_observer *)context)->field;
    const double *sum = agent->now + field->offset;
    for (size_t k = 0; k < field->length; k++)
        out[k] = sum[k] - saddle_field_estimate(field, agent, k);
}

/* The squared size of a sum and its estimate together: the scale of their rounding errors. */
static void sum_size_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_field *field = ((const saddle_observer *)context)->field;
    out[0] = saddle_norm2(field->length, agent->now + field->offset) +
             saddle_norm2(field->length, agent->kept + field->estimate);
}

/* Sets o->field to the next sum of the table, from *f on. */
static bool next_sum(saddle_observer *o, size_t *f)
{
    while (*f < o->in.layout->fields && o->in.layout->field[*f].kind != SADDLE_FIELD_SUM)
        ++*f;
    if (*f == o->in.layout->fields)
        return false;
    o->field = &o->in.layout->field[(*f)++];
    return true;
}

/* Returns whether the links use running sums, which conserve each agent's sums separately. */
static bool has_running_sums(const saddle_observer *o)
{
    return saddle_link_state_has_maps(o->in.instance);
}

/* 0 if an agent's sum and its weight are conserved; otherwise by how much they are not. */
static void defect_task(void *context, saddle_agent *agent)
{
    saddle_observer *o = context;
    double sum;
    double weight;
    o->in.engine->kind->defect(o->in.engine, agent, o->field, &sum, &weight);
    bool good = sum <= o->defect_allowed && weight <= CHECK_TOLERANCE;
    o->per_agent[agent->id] = good ? 0.0 : sum + weight;
}

/* Checks each agent's running sums separately: their entries may be as large as all agents' together. */
static saddle_status check_running_sums(saddle_observer *o, double allowed, saddle_error *error)
{
    o->defect_allowed = allowed * sqrt((double)o->problem->agents);
    for (size_t f = 0; next_sum(o, &f);) {
        o->in.engine->kind->for_each(o->in.engine, defect_task, o);
        saddle_world_fill(o->in.instance->world, 1, o->per_agent);
        for (size_t i = 0; i < o->problem->agents; i++)
            if (!(o->per_agent[i] == 0.0))
                return saddle_fail(error, SADDLE_CHECK_FAILED,
                                   "self-check at iteration %llu: agent %zu's part of the tracker "
                                   "%s, together with "
                                   "what it sent and received, differs from the estimate that it "
                                   "tracks by %.3g (at "
                                   "most %.3g is rounding); an algorithm must mix its sums with "
                                   "saddle_agent_mix()",
                                   (unsigned long long)o->in.engine->kind->iteration(o->in.engine),
                                   i, o->field->name, o->per_agent[i], o->defect_allowed);
    }
    return SADDLE_OK;
}

static saddle_status check_sums(saddle_observer *o, saddle_error *error)
{
    /* Inexact rules lose part of the sums. */
    if (o->in.instance->plan->network.inexact != SADDLE_INEXACT_NO)
        return SADDLE_OK;
    /* One scale for all checks, because a sum may have been largest between two of them. */
    double size = 0.0;
    for (size_t f = 0; next_sum(o, &f);) {
        double more;
        average(o, 1, sum_size_term, &more);
        size += more;
    }
    o->tracked_size = fmax(o->tracked_size, sqrt(size));
    double allowed = CHECK_TOLERANCE * o->tracked_size;
    if (has_running_sums(o))
        return check_running_sums(o, allowed, error);
    for (size_t f = 0; next_sum(o, &f);) {
        average(o, o->field->length, sum_term, o->both);
        double off = sqrt(saddle_norm2(o->field->length, o->both));
        if (!(off <= allowed))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "self-check at iteration %llu: the mean of the trackers %s over "
                               "agents differs from the mean of the estimates that they track by "
                               "%.3g (at most %.3g is rounding); gradient tracking is broken",
                               (unsigned long long)o->in.engine->kind->iteration(o->in.engine),
                               o->field->name, off, allowed);
    }
    return SADDLE_OK;
}

/* The distance of the agent's iterate from X and Y, relative to its size. */
static void feasibility_task(void *context, saddle_agent *agent)
{
    saddle_observer *o = context;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    double x_off =
        saddle_set_distance(saddle_prox_set(o->in.instance->x_prox), view.x, agent->scratch);
    double y_off = saddle_set_distance(o->in.instance->y_set, view.y, agent->scratch);
    double x_size = 1.0 + sqrt(saddle_norm2(o->problem->x_dim, view.x));
    double y_size = 1.0 + sqrt(saddle_norm2(o->problem->y_dim, view.y));
    double worst = x_off / x_size;
    /* Keep a NaN from either. */
    if (!isnan(worst) && !(y_off / y_size <= worst))
        worst = y_off / y_size;
    o->per_agent[agent->id] = worst;
}

static saddle_status check_feasibility(saddle_observer *o, saddle_error *error)
{
    o->in.engine->kind->for_each(o->in.engine, feasibility_task, o);
    saddle_world_fill(o->in.instance->world, 1, o->per_agent);
    for (size_t i = 0; i < o->problem->agents; i++)
        if (!(o->per_agent[i] <= CHECK_TOLERANCE))
            return saddle_fail(
                error, SADDLE_CHECK_FAILED,
                "self-check at iteration %llu: agent %zu's iterate is outside X or Y by %.3g "
                "(relative; at most %.3g is rounding)",
                (unsigned long long)o->in.engine->kind->iteration(o->in.engine), i, o->per_agent[i],
                CHECK_TOLERANCE);
    return SADDLE_OK;
}

saddle_status saddle_observer_check(saddle_observer *o, saddle_error *error)
{
    saddle_status status = saddle_mixing_check(o->in.instance->mixing, error);
    SADDLE_THEN_IF(status, o->in.feasible, check_feasibility(o, error));
    SADDLE_THEN(status, check_sums(o, error));
    return status;
}
