/*
 * The gap: how far a run is from solved, in the units of the objective.
 *
 *     gap = (Q(xbar) - Q(x') + Q(xbar) - F(xbar, ybar) - h(xbar) + agents) / scale
 *
 * x' is the best point that a search from xbar finds (descent.h), so that the first part is a lower bound of what is
 * missing to the nearest minimum, close to it where the gap is small: there the search uses the curvature (hessian.h),
 * and a share counts of what it cannot exclude. `agents` is what the agents furthest from the means lack:
 * |Q(x_i) - Q(xbar)| + |F(xbar, y_j) - F(xbar, ybar)|. The scale is what the same search gains from a reference point
 * that only the problem determines: its own start, or 0, projected onto X. A constant that is added to the objective,
 * and a factor, change nothing; neither do the coordinates' units where X is a product of intervals.
 */
#include "algorithms/layout.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "observe/descent.h"
#include "observe/hessian.h"
#include "observe/observer_state.h"
#include "observe/search_metric.h"

/* The search from the reference ends when at most this share of what it found can be left, so that the scale hardly
 * depends on the samples that its metric is made of; or after this many evaluations of Q. */
#define SCALE_UNKNOWN 0.1
#define SCALE_EVALUATIONS 40
/* The most evaluations of Q in the search from xbar, while the gap may be called small and is not known well. */
#define MOST_EVALUATIONS 1000
/* The most of both if each needs a search for y*. */
#define SCALE_WITH_ASCENT 20
#define MOST_WITH_ASCENT 60
/* The share of what can be left that counts as missing: a gap is too small by at most its inverse. */
#define COUNTED 0.1
/* A search from xbar that found something worth mentioning ends when the next step is to add at most this share. */
#define PRECISE 0.02
/* The scale is at least this share of |Q|, below which differences of Q are mostly rounding errors. */
#define SMALLEST_SCALE 1e-10
/* The squares of rounding errors, relative to those of numbers. */
#define SQUARED_ROUNDING 1e-28
/* The share of what y gains from the reference that is a scale where x gains less. */
#define Y_SHARE 1e-3
/* A search that may last longer ends when at most this share of the scale, or the goal, can be left. */
#define IGNORED 1e-5
/* A search that may find the rest ends when at most this many times what it found can be left. */
#define UNKNOWN 4.0
/* A search ends when it predicts a decrease of less than this share of the scale. */
#define NEGLIGIBLE 1e-13

static double h_at(const saddle_observer *o, const double *x)
{
    return saddle_regularizer_value(saddle_prox_regularizer(o->in.instance->x_prox), x);
}

/* Moves x downhill. */
static saddle_decrease descend(saddle_observer *o, const saddle_descent *limits, double *x)
{
    saddle_descent descent = *limits;
    descent.prox = o->in.instance->x_prox;
    descent.metric = o->search.metric;
    descent.value = saddle_search_primal;
    descent.gradient = saddle_search_gradient;
    descent.context = o;
    descent.reference = o->search.reference;
    descent.gain = o->gap.scale;
    descent.negligible = NEGLIGIBLE * o->gap.scale;
    saddle_search_reference(o, o->search.reference);
    return saddle_descend(&descent, x, o->search.scratch);
}

/* Returns a bound of what can be missing at xbar, if the reference lacks at most twice the scale. */
static double most_missing(saddle_observer *o, const saddle_row *row)
{
    saddle_search_reference(o, o->search.reference);
    double reference = saddle_search_primal(o, o->search.reference) + h_at(o, o->search.reference);
    return o->gap.scale + fmax(row->primal - reference + o->gap.scale, 0.0);
}

/* Returns what counts as missing at x. What a few evaluations do not find to be larger than the goal is searched for in
 * the metric of the curvature of all samples. If that does not show that little is left, a share of it counts. */
static double search(saddle_observer *o, double goal, int evaluations, double enough,
                     const saddle_row *row, double *x)
{
    int most = o->problem->response_solve != NULL ? MOST_EVALUATIONS : MOST_WITH_ASCENT;
    bool dense = saddle_hessian_size(o->problem->x_dim) > 0;
    double few = saddle_search_few(o, x);
    bool once = !dense || few == saddle_search_all(o);
    saddle_descent limits = {.evaluations = once ? most : evaluations,
                             .least = evaluations,
                             .plenty = goal * o->gap.scale,
                             .ignored = fmin(IGNORED, goal) * o->gap.scale,
                             .unknown = UNKNOWN,
                             .precise = PRECISE,
                             .enough = enough};
    if (!dense)
        saddle_search_diagonal(o, x);
    else if (saddle_search_curvature(o, few, x))
        limits.matrix = o->search.matrix;
    saddle_decrease end = descend(o, &limits, x);
    if (!once && end.found <= fmin(limits.plenty, enough)) {
        limits.matrix =
            saddle_search_curvature(o, saddle_search_all(o), x) ? o->search.matrix : NULL;
        limits.evaluations = most;
        limits.least = 0;
        limits.before = end.found;
        end = descend(o, &limits, x);
    }
    if (end.known || end.found > limits.plenty)
        return end.found;
    return fmax(end.found, fmin(COUNTED * (end.found + end.left), most_missing(o, row)));
}

/* ---- the scale -------------------------------------------------------------------------------- */

/* Returns how much Q changes if the entries of the reference are doubled and 1 is added; 0 if that is not known. */
static double growth(saddle_observer *o, double start)
{
    double *x = o->search.point;
    saddle_search_reference(o, x);
    for (size_t k = 0; k < o->problem->x_dim; k++)
        x[k] += x[k] + 1.0;
    saddle_set_project(o->in.instance->x_set, x, o->scratch);
    double change = fabs(saddle_search_primal(o, x) + h_at(o, x) - start);
    return isfinite(change) ? change : 0.0;
}

/* Returns what y gains at the reference x from 0; 0 if that is rounding, compared with what y loses far away. */
static double y_gain(saddle_observer *o, const double *x)
{
    double *y = o->search.agent_y;
    size_t y_dim = o->problem->y_dim;
    memset(y, 0, y_dim * sizeof *y);
    saddle_set_project(o->in.instance->y_set, y, o->scratch);
    double best = saddle_search_primal(o, x);
    double gained = best - saddle_observer_value(o, y);
    for (size_t k = 0; k < y_dim; k++)
        y[k] = o->y_star[k] + (k % 2 == 0 ? 1.0 : -1.0);
    saddle_set_project(o->in.instance->y_set, y, o->scratch);
    double lost = best - saddle_observer_value(o, y);
    return gained <= SQUARED_ROUNDING * lost ? 0.0 : gained;
}

/*
 * Finds the scale: what x gains from the reference. If that is little, because the reference is almost a solution, it
 * is a share of what y gains there from 0. If both are rounding errors, nothing can be learned, and the scale is the
 * growth of Q around the reference, in the units that the problem has.
 */
static void find_scale(saddle_observer *o)
{
    double *x = o->search.point;
    saddle_search_reference(o, x);
    double y_gained = y_gain(o, x);
    double few = saddle_search_few(o, x);
    const saddle_descent limits = {
        .evaluations = o->problem->response_solve != NULL ? SCALE_EVALUATIONS : SCALE_WITH_ASCENT,
        .least = 2,
        .plenty = INFINITY,
        .unknown = SCALE_UNKNOWN,
        .matrix = saddle_search_curvature(o, few, x) ? o->search.matrix : NULL,
        .enough = INFINITY};
    saddle_decrease end = descend(o, &limits, x);
    /* fmax() ignores a NaN. */
    o->gap.scale = fmax(end.found, Y_SHARE * y_gained);
    double grown = growth(o, end.start);
    double least = SMALLEST_SCALE * fabs(end.start);
    if (!(o->gap.scale > fmax(least, SQUARED_ROUNDING * grown)))
        o->gap.scale = fmax(grown, least);
}

/* ---- agents ----------------------------------------------------------------------------------- */

/* The distances of an agent's x, in the metric, and y from the means. */
static void distance_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    const double *metric = o->search.metric;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    double sum = 0.0;
    for (size_t k = 0; k < o->problem->x_dim; k++)
        sum += metric[k] * (view.x[k] - o->x_mean[k]) * (view.x[k] - o->x_mean[k]);
    o->per_agent[2 * agent->id] = sum;
    o->per_agent[2 * agent->id + 1] = saddle_distance2(o->problem->y_dim, view.y, o->y_mean);
    out[0] = 0.0;
}

/* x and y of the chosen agents, times the number of agents, so that their mean is these. */
static void chosen_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    size_t x_dim = o->problem->x_dim;
    size_t y_dim = o->problem->y_dim;
    double count = (double)o->members.count;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    for (size_t k = 0; k < x_dim; k++)
        out[k] = agent->id == o->chosen[0] ? count * view.x[k] : 0.0;
    for (size_t k = 0; k < y_dim; k++)
        out[x_dim + k] = agent->id == o->chosen[1] ? count * view.y[k] : 0.0;
}

/* Returns what the agents furthest from the means lack. */
static double agents_part(saddle_observer *o, const saddle_row *row)
{
    const saddle_problem *problem = o->problem;
    double none;
    if (o->members.count < 2)
        return 0.0;
    memset(o->per_agent, 0, 2 * problem->agents * sizeof *o->per_agent);
    saddle_observer_average(o, 1, distance_term, &none);
    saddle_world_fill(o->in.instance->world, 2, o->per_agent);
    size_t first = 0;
    while (o->members.counted != NULL && !o->members.counted[first])
        first++;
    for (size_t point = 0; point < 2; point++) {
        o->chosen[point] = first;
        for (size_t i = first + 1; i < problem->agents; i++)
            if (o->per_agent[2 * i + point] > o->per_agent[2 * o->chosen[point] + point])
                o->chosen[point] = i;
    }
    double *x = o->search.point;
    double *y = o->search.agent_y;
    saddle_observer_average(o, problem->x_dim + problem->y_dim, chosen_term, o->both);
    memcpy(x, o->both, problem->x_dim * sizeof *x);
    memcpy(y, o->both + problem->x_dim, problem->y_dim * sizeof *y);
    double lost = saddle_search_primal(o, x) + h_at(o, x) - row->primal;
    o->x_at = o->x_mean;
    o->search.known = false;
    saddle_observer_statistic(o);
    double short_of = saddle_observer_value(o, y) + h_at(o, o->x_mean) - row->loss;
    return fabs(lost) + fabs(short_of);
}

/* ---- the gap ---------------------------------------------------------------------------------- */

const saddle_gap *saddle_observer_gap(const saddle_observer *o)
{
    return &o->gap;
}

/* Measures the parts of the gap one after the other; unless `all` are needed, as long as their sum is at most the goal.
 * Returns whether all of them are complete. */
static bool find_parts(saddle_observer *o, double goal, int evaluations, bool all,
                       const saddle_row *row)
{
    double *x = o->search.point;
    double most = all ? INFINITY : goal * o->gap.scale;
    o->gap.x = 0.0;
    o->gap.agents = 0.0;
    o->gap.y = fmax(row->primal - row->loss, 0.0);
    if (o->gap.y > most)
        return false;
    memcpy(x, o->x_mean, o->problem->x_dim * sizeof *x);
    o->gap.x = search(o, goal, evaluations, most - o->gap.y, row, x);
    if (o->gap.x + o->gap.y > most)
        return false;
    o->gap.agents = agents_part(o, row);
    return true;
}

/* What the generic best response starts from must not depend on the gap: keeps it, and returns the step. The last row
 * was measured at xbar. */
static double keep_response(saddle_observer *o, const saddle_row *row)
{
    o->x_at = o->x_mean;
    saddle_search_remember(o, o->x_mean, row->primal - h_at(o, o->x_mean));
    memcpy(o->search.saved_y, o->y_star, o->problem->y_dim * sizeof *o->y_star);
    return o->ascent_step;
}

static void restore_response(saddle_observer *o, double step)
{
    o->x_at = o->x_mean;
    o->ascent_step = step;
    memcpy(o->y_star, o->search.saved_y, o->problem->y_dim * sizeof *o->y_star);
}

void saddle_observe_gap_parts(saddle_observer *o, const saddle_row *row)
{
    double step = keep_response(o, row);
    o->gap.y = fmax(row->primal - row->loss, 0.0);
    saddle_search_squares(o, o->x_mean, o->search.metric);
    o->gap.agents = agents_part(o, row);
    restore_response(o, step);
}

void saddle_observe_gap(saddle_observer *o, double goal, int evaluations, bool all, saddle_row *row)
{
    double step = keep_response(o, row);
    if (o->gap.scale == 0.0)
        find_scale(o);
    bool complete = find_parts(o, goal, evaluations, all, row);
    row->gap = complete ? (o->gap.x + o->gap.y + o->gap.agents) / o->gap.scale : (double)NAN;
    /* The problem could not be evaluated somewhere near. */
    size_t agent;
    if (saddle_observer_returned_nan(o, &agent) != NULL)
        row->gap = (double)NAN;
    restore_response(o, step);
}
