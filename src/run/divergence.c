/* Runs that diverge: finding the agent and the entry, or the function, that is not finite, and
 * metrics that grow without bound. */
#include "algorithms/layout.h"
#include "core/clock.h"
#include "run/run.h"

/* A run counts as diverged if its metric is this many times that of the start (or 1) and grew at
 * each of the last RUNAWAY_POINTS trace points, or if the iterates grow between trace points. The
 * metric is a sum of squares, so the iterates are a million times off. */
#define RUNAWAY 1e12
#define RUNAWAY_POINTS 4
/* With compressed messages the metric swings as it grows, and agents that lower their mixing rates may still
 * recover. Such a run counts as diverged if its metric is this many times that of the start (or 1) at the last
 * RUNAWAY_POINTS trace points, or at its end. */
#define SWINGING 1e9
#define SWINGING_AT_END 1e6
/* Variables below this do not explain a loss that overflows: even their fifth power does not. */
#define LARGE 1e60

/* The variables in which a divergence may show. */
static const char *const variable_name[] = {"x", "y", "v (x-gradient)", "u (y-gradient)"};
/* The numbers recorded for an agent: the variable, the entry, and its value. */
enum { VARIABLE, ENTRY, VALUE, WIDTH };

/* Finds an agent's entry that is not finite or, because a loss may overflow before the iterate
 * does, its largest entry. */
static void locate_task(void *context, saddle_agent *agent)
{
    const saddle_run_search *s = context;
    const saddle_problem *problem = s->run->info.instance->problem;
    double *found = s->found + agent->id * WIDTH;
    saddle_view view;
    saddle_agent_view(s->run->info.algorithm, agent, &view);
    const struct {
        const double *values;
        size_t count;
    } variable[] = {{view.x, problem->x_dim},
                    {view.y, problem->y_dim},
                    {view.v, problem->x_dim},
                    {view.u, problem->y_dim}};
    double most = -1.0;
    for (size_t k = 0; k < sizeof variable / sizeof *variable; k++)
        for (size_t c = 0; variable[k].values != NULL && c < variable[k].count; c++) {
            double size = fabs(variable[k].values[c]);
            /* Gradients count only if they are not finite: they are larger than iterates. */
            if (size <= most || (k >= 2 && isfinite(size)))
                continue;
            found[VARIABLE] = (double)k;
            found[ENTRY] = (double)c;
            found[VALUE] = variable[k].values[c];
            if (!isfinite(size))
                return;
            most = size;
        }
}

saddle_status saddle_run_search_agents(const saddle_run_state *r, saddle_agent_task *task,
                                       size_t width, double **out, saddle_error *error)
{
    const saddle_world *world = r->info.instance->world;
    saddle_run_search s = {.run = r, .found = saddle_alloc(world->agents, width * sizeof *s.found)};
    *out = s.found;
    saddle_status status = saddle_check_memory(s.found, "the search for a fault", error);
    SADDLE_TRY(saddle_run_agree(r, status, error));
    r->engine->kind->for_each(r->engine, task, &s);
    saddle_world_fill(world, width, s.found);
    return SADDLE_OK;
}

saddle_status saddle_run_locate(saddle_run_state *r, saddle_fault *fault, saddle_error *error)
{
    SADDLE_OWNED double *found = NULL;
    SADDLE_TRY(saddle_run_search_agents(r, locate_task, WIDTH, &found, error));
    const double *worst = found;
    const double *end = found + r->info.instance->world->agents * WIDTH;
    for (const double *at = found + WIDTH; at < end && isfinite(worst[VALUE]); at += WIDTH)
        if (!(fabs(at[VALUE]) <= fabs(worst[VALUE])))
            worst = at;
    *fault = (saddle_fault){.kind = SADDLE_FAULT_NONFINITE,
                            .agent = (size_t)(worst - found) / WIDTH,
                            .index = (size_t)worst[ENTRY],
                            .iteration = r->engine->kind->iteration(r->engine),
                            .value = worst[VALUE]};
    saddle_snprintf(fault->variable, sizeof fault->variable, "%s",
                    variable_name[(size_t)worst[VARIABLE]]);
    return SADDLE_OK;
}

/* ---- when no variable is the cause ----------------------------------------------------------- */

/* The numbers computed for an agent: F_i at the means; an entry of its gradient, there or at the
 * agent's iterate, that is not finite, or 0; the largest entry of the iterate. */
enum { LOSS, SLOPE, SIZE, CHECKS };

/* Returns an entry that is not finite, or the largest. */
static double worst_of(const double *v, size_t count)
{
    double worst = 0.0;
    for (size_t k = 0; k < count && isfinite(worst); k++)
        worst = fabs(v[k]) <= worst ? worst : fabs(v[k]);
    return worst;
}

/* Returns an entry of the agent's full gradient that is not finite, or 0. */
static double slope_at(const saddle_problem *problem, saddle_agent *agent, const double *x,
                       const double *y)
{
    size_t size = problem->x_dim + problem->y_dim;
    double *slope = agent->scratch;
    saddle_batch all = {.index = NULL, .count = problem->samples[agent->id]};
    saddle_problem_gradient(problem, agent->id, &all, x, y, slope, slope + problem->x_dim,
                            slope + size);
    double worst = worst_of(slope, size);
    return isfinite(worst) ? 0.0 : worst;
}

static void evaluate_task(void *context, saddle_agent *agent)
{
    const saddle_run_search *s = context;
    const saddle_problem *problem = s->run->info.instance->problem;
    const double *x = saddle_observer_x_mean(s->run->observer);
    const double *y = saddle_observer_y_mean(s->run->observer);
    double *found = s->found + agent->id * CHECKS;
    saddle_view view;
    saddle_agent_view(s->run->info.algorithm, agent, &view);
    double in_y = worst_of(view.y, problem->y_dim);
    found[SIZE] = worst_of(view.x, problem->x_dim);
    found[SIZE] = in_y <= found[SIZE] ? found[SIZE] : in_y;
    found[LOSS] = saddle_problem_value(problem, agent->id, x, y, agent->scratch);
    found[SLOPE] = slope_at(problem, agent, x, y);
    if (isfinite(found[SLOPE]))
        found[SLOPE] = slope_at(problem, agent, view.x, view.y);
}

/* Returns the remedy for a function that is not finite. */
static const char *what_to_check(const saddle_run_state *r)
{
    const struct saddle_instance_parts *parts = r->info.network->parts;
    bool built_in = parts->choice.kind != NULL && parts->choice.plugin == NULL;
    return parts->shard != NULL ? "check the data"
           : built_in           ? "choose its options closer to 1"
                                : "check its functions";
}

/* Sets a fault whose cause is not an entry of the iterate. */
static void set_fault(saddle_fault *fault, const char *what, size_t agent, double value)
{
    fault->agent = agent;
    fault->index = 0;
    fault->value = value;
    saddle_snprintf(fault->variable, sizeof fault->variable, "%s", what);
}

/* Names the first agent with a function that is not finite; returns false if there is none. */
static bool name_function(const saddle_run_state *r, const double *found, saddle_fault *fault,
                          char *out, size_t size)
{
    const saddle_problem *problem = r->info.instance->problem;
    for (size_t i = 0; i < problem->agents; i++)
        for (int k = LOSS; k <= SLOPE; k++) {
            double value = found[i * CHECKS + (size_t)k];
            if (isfinite(value))
                continue;
            saddle_snprintf(out, size, "%s() of problem %.60s is %g at agent %zu; %s",
                            k == LOSS ? "value" : "an entry of gradient",
                            saddle_shown_name(problem->name), value, i, what_to_check(r));
            set_fault(fault, k == LOSS ? "value()" : "gradient()", i, value);
            return true;
        }
    return false;
}

/* Names the function that returned NaN when the row was measured, or the estimate of a gradient that is not finite,
 * if the functions are now; false: there is none. */
static bool name_passing(const saddle_run_state *r, saddle_fault *fault, char *out, size_t size)
{
    size_t agent = fault->agent;
    double value = fault->value;
    const char *function = saddle_observer_returned_nan(r->observer, &agent);
    const char *problem = saddle_shown_name(r->info.instance->problem->name);
    bool estimate = fault->variable[0] == 'v' || fault->variable[0] == 'u';
    if (function != NULL) {
        value = (double)NAN;
        saddle_snprintf(out, size,
                        "%s of problem %.60s was nan at agent %zu, although it is not if it is "
                        "called again; %s",
                        function, problem, agent, what_to_check(r));
    } else if (estimate && !isfinite(value)) {
        saddle_snprintf(out, size,
                        "the estimate %.23s[%zu] of agent %zu is %g, although gradient() of "
                        "problem %.60s is finite now; %s",
                        fault->variable, fault->index, agent, value, problem, what_to_check(r));
    } else {
        return false;
    }
    set_fault(fault,
              function != NULL && strcmp(function, "value()") == 0 ? "value()" : "gradient()",
              agent, value);
    return true;
}

static void name_cause(const saddle_run_state *r, const double *found, saddle_fault *fault,
                       char *out, size_t size)
{
    const saddle_regularizer *h = saddle_prox_regularizer(r->info.instance->x_prox);
    const saddle_row *row = &r->row;
    double weight = saddle_regularizer_value(h, saddle_observer_x_mean(r->observer));
    if (!isfinite(weight)) {
        saddle_snprintf(out, size,
                        "the regularizer %.60s is %g at the mean of x; give it a smaller weight",
                        saddle_regularizer_text(h), weight);
        set_fault(fault, "h", 0, weight);
    } else if (name_function(r, found, fault, out, size) || name_passing(r, fault, out, size)) {
        return;
    } else if (!isfinite(row->x_stationarity)) {
        saddle_snprintf(out, size,
                        "the distance to the proximal point with tau %g is %g; raise --tau, or "
                        "--metric-tau if it is given",
                        r->result->plan.outputs.metric_tau, row->x_stationarity);
        set_fault(fault, "x_stationarity", 0, row->x_stationarity);
    } else if (!isfinite(row->loss + row->primal + row->y_gap)) {
        saddle_snprintf(
            out, size,
            "the loss %g, the loss %g at the best response y* or the distance %g to it is not "
            "finite with problem %.60s; %s",
            row->loss, row->primal, row->y_gap, saddle_shown_name(r->info.instance->problem->name),
            what_to_check(r));
        set_fault(fault, "loss", 0, row->loss);
    } else {
        saddle_snprintf(out, size,
                        "algorithm %.60s reports a fault of agent %zu: variable %.23s[%zu] is %g, "
                        "although its iterate and the problem's functions are finite",
                        r->info.algorithm->name, fault->agent, fault->variable, fault->index,
                        fault->value);
    }
}

/* Returns whether some agent's iterate is so large that it explains a function that is not
 * finite. */
static bool is_large(const saddle_run_state *r, const double *found)
{
    for (size_t i = 0; i < r->info.instance->world->agents; i++)
        if (!(found[i * CHECKS + SIZE] < LARGE))
            return true;
    return false;
}

saddle_status saddle_run_explain(saddle_run_state *r, saddle_fault *fault, saddle_error *error)
{
    bool iterate = strcmp(fault->variable, "x") == 0 || strcmp(fault->variable, "y") == 0;
    if (iterate && !(fabs(fault->value) < LARGE))
        return SADDLE_OK;
    char cause[sizeof r->result->cause] = "";
    SADDLE_OWNED double *found = NULL;
    SADDLE_TRY(saddle_run_search_agents(r, evaluate_task, CHECKS, &found, error));
    if (!is_large(r, found))
        name_cause(r, found, fault, cause, sizeof cause);
    saddle_show_text(r->result->cause, sizeof r->result->cause, cause);
    return SADDLE_OK;
}

/* ---- the starting point ---------------------------------------------------------------------- */

/* Returns the index of the largest entry. */
static size_t largest_entry(const double *v, size_t count)
{
    size_t largest = 0;
    for (size_t k = 1; k < count; k++)
        if (fabs(v[k]) > fabs(v[largest]))
            largest = k;
    return largest;
}

/* Finds out whether even the point of a set that is closest to zero is too large. */
static saddle_status is_far(const saddle_set *set, bool *far, saddle_error *error)
{
    size_t count = saddle_set_dimension(set);
    SADDLE_OWNED double *point = saddle_alloc_doubles(count);
    SADDLE_OWNED double *scratch = saddle_alloc_doubles(saddle_set_scratch(set));
    if (point == NULL || scratch == NULL)
        return saddle_no_memory(error, "a point of a set");
    saddle_set_project(set, point, scratch);
    *far = !(worst_of(point, count) < LARGE);
    return SADDLE_OK;
}

saddle_status saddle_run_refuse_start(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.network;
    const saddle_plan *plan = e->plan;
    size_t in_x = largest_entry(e->x0, e->problem->x_dim);
    size_t in_y = largest_entry(e->y0, e->problem->y_dim);
    bool y = fabs(e->y0[in_y]) > fabs(e->x0[in_x]);
    const char *name = y ? "y" : "x";
    const saddle_set *set = y ? e->y_set : e->x_set;
    size_t entry = y ? in_y : in_x;
    double value = y ? e->y0[in_y] : e->x0[in_x];
    bool own = (y ? plan->start.y : plan->start.x) != NULL;
    bool by_itself = (y ? plan->start.init_y : plan->start.init_x) != NULL;
    bool far = false;
    SADDLE_TRY(is_far(set, &far, error));
    if (far)
        return saddle_refuse(
            error,
            "--%s-set: every point of '%.200s' is so far from zero that the losses are not finite, "
            "such as %s[%zu] = %g at the start; give a set closer to zero",
            name, saddle_set_text(set), name, entry, value);
    const char *field = "--init";
    if (own)
        field = y ? "start.y" : "start.x";
    else if (by_itself)
        field = y ? "--init-y" : "--init-x";
    return saddle_refuse(error,
                         "%s: the losses at the starting point are not finite: variable %s[%zu] is "
                         "%g; start closer to zero",
                         field, name, entry, value);
}

saddle_status saddle_run_watch(saddle_run_state *r, bool *diverged, saddle_error *error)
{
    double begin = saddle_clock_seconds();
    r->grows = saddle_observer_is_growing(r->observer);
    r->times.measuring += saddle_clock_seconds() - begin;
    if (!r->grows)
        return SADDLE_OK;
    saddle_row last = r->row;
    SADDLE_TRY(saddle_run_measure(r, diverged, error));
    *diverged = *diverged || saddle_run_runs_away(r);
    if (!*diverged) {
        r->row = last;
        r->grows = false;
    }
    return SADDLE_OK;
}

/* Returns whether agents that exchange compressed messages have lost each other. */
static bool swings_away(const saddle_run_state *r, double start)
{
    const saddle_row *rows = r->result->rows;
    size_t count = r->result->row_count;
    if (r->info.instance->compression == NULL || r->layout.rounds == 0)
        return false;
    double least = count < RUNAWAY_POINTS ? 0.0 : r->row.metric;
    for (size_t k = 1; least > 0.0 && k < RUNAWAY_POINTS; k++)
        least = fmin(least, rows[count - k].metric);
    return least > SWINGING * start || (r->last && r->row.metric > SWINGING_AT_END * start);
}

bool saddle_run_runs_away(const saddle_run_state *r)
{
    const saddle_row *rows = r->result->rows;
    size_t count = r->result->row_count;
    double start = fmax(rows[0].metric, 1.0);
    if (swings_away(r, start))
        return true;
    if (!(r->row.metric > RUNAWAY * start))
        return false;
    if (r->grows)
        return true;
    if (count < RUNAWAY_POINTS)
        return false;
    double later = r->row.metric;
    for (size_t k = 1; k < RUNAWAY_POINTS; k++) {
        if (!(rows[count - k].metric < later))
            return false;
        later = rows[count - k].metric;
    }
    return true;
}

saddle_status saddle_run_diverge(saddle_run_state *r, saddle_fault *fault, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (fault->kind == SADDLE_FAULT_NONE)
        status = saddle_run_locate(r, fault, error);
    if (status == SADDLE_OK && saddle_run_runs_away(r) && isfinite(fault->value))
        fault->kind = SADDLE_FAULT_RUNAWAY;
    else if (status == SADDLE_OK)
        status = saddle_run_explain(r, fault, error);
    saddle_run_name_rate(r, fault);
    if (status == SADDLE_OK && r->result->cause[0] == '\0')
        status =
            saddle_run_name_steps(r, fault, r->result->remedy, sizeof r->result->remedy, error);
    r->result->stop = SADDLE_STOP_DIVERGED;
    r->result->fault = *fault;
    return status;
}
