/*
 * The gap: how far a run is from solved, in the units of the objective.
 *
 *     gap = (Q(xbar) - Q(x') + Q(xbar) - F(xbar, ybar) - h(xbar) + agents) / scale
 *
 * x' is the best point that a search from xbar finds (descent.h), so that the first part is a lower bound of what is
 * missing to the nearest minimum, close to it where the gap is small: there the search uses the curvature (hessian.h),
 * and a part counts of what it cannot exclude. `agents` is what the agents furthest from the means lack:
 * |Q(x_i) - Q(xbar)| + |F(xbar, y_j) - F(xbar, ybar)|. The scale is what the same search gains from a reference point
 * that only the problem determines: its own start, or 0, projected onto X. A constant that is added to the objective,
 * and a factor, change nothing; neither do the coordinates' units where X is a product of intervals.
 */
#include <math.h>
#include <string.h>

#include "algorithms/layout.h"
#include "core/status.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "observe/descent.h"
#include "observe/hessian.h"
#include "observe/observer_parts.h"

/* Evaluations of Q in the search from the reference, and the most of them in one from xbar, while the gap may be called
 * small and is not known well. */
#define SCALE_EVALUATIONS 20
#define MOST_EVALUATIONS 1000
/* The most of them if each needs a search for y*. */
#define MOST_WITH_ASCENT 60
/* The part of what can be left that counts as missing: a gap is too small by at most its inverse. */
#define COUNTED 0.1
/* The accuracy of the generic best response in a search. The error of Q is its square. */
#define RESPONSE_TOLERANCE 1e-7
/* Samples, of all agents together, whose squared gradients make the search's metric; at least so many per agent. */
#define METRIC_SAMPLES 1024
#define METRIC_SAMPLES_PER_AGENT 8
/* Samples' curvature is measured by a move that changes their losses by about this part. */
#define CHANGE 1e-3
/* The scale is at least this part of |Q|, below which differences of Q are mostly rounding errors. */
#define SMALLEST_SCALE 1e-10
/* The squares of rounding errors, relative to those of numbers. */
#define SQUARED_ROUNDING 1e-28
/* The part of what y gains from the reference that is a scale where x gains less. */
#define Y_SHARE 1e-3
/* A search that may last longer ends when at most this part of the scale, or the goal, can be left. */
#define IGNORED 1e-5
/* A search ends when it predicts a decrease of less than this part of the scale. */
#define NEGLIGIBLE 1e-13

/* The vectors in o->search. */
static double *point_of(const saddle_observer *o)
{
    return o->search;
}
static double *metric_of(const saddle_observer *o)
{
    return o->search + o->problem->x_dim;
}
static double *saved_y_of(const saddle_observer *o)
{
    return o->search + 2 * o->problem->x_dim;
}
static double *agent_y_of(const saddle_observer *o)
{
    return saved_y_of(o) + o->problem->y_dim;
}
static double *reference_of(const saddle_observer *o)
{
    return agent_y_of(o) + o->problem->y_dim;
}
static double *matrix_of(const saddle_observer *o)
{
    return reference_of(o) + o->problem->x_dim;
}
static double *descent_scratch_of(const saddle_observer *o)
{
    return matrix_of(o) + saddle_hessian_size(o->problem->x_dim);
}

size_t saddle_gap_scratch(const saddle_instance *instance)
{
    const saddle_problem *problem = instance->problem;
    return 3 * problem->x_dim + 2 * problem->y_dim + saddle_hessian_size(problem->x_dim) +
           saddle_descent_scratch(instance->x_prox);
}

/* ---- Q and its gradient ---------------------------------------------------------------------- */

static double h_at(const saddle_observer *o, const double *x)
{
    return saddle_regularizer_value(saddle_prox_regularizer(o->in.instance->x_prox), x);
}

/* Returns Q(x) - h(x); NaN if y*(x) is not found. */
static double primal_at(void *context, const double *x)
{
    saddle_observer *o = context;
    saddle_error ignored;
    o->x_at = x;
    saddle_observer_statistic(o);
    if (saddle_observer_best_response(o, RESPONSE_TOLERANCE, &ignored) != SADDLE_OK)
        return (double)NAN;
    return saddle_observer_value(o, o->y_star);
}

/* Computes the gradient of Q - h, that of F at y*, at the point of the last call of primal_at(). */
static void primal_gradient(void *context, double *gradient)
{
    saddle_observer *o = context;
    saddle_observer_gradient(o, o->y_star);
    memcpy(gradient, o->both, o->problem->x_dim * sizeof *gradient);
}

/* Returns the number of an agent's samples that make the metric. */
static size_t metric_samples(const saddle_observer *o, size_t agent)
{
    size_t samples = METRIC_SAMPLES / o->problem->agents;
    if (samples < METRIC_SAMPLES_PER_AGENT)
        samples = METRIC_SAMPLES_PER_AGENT;
    return samples < o->problem->samples[agent] ? samples : o->problem->samples[agent];
}

/* The mean of the squares of single samples' gradients in x at (x_at, y*). */
static void square_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    size_t x_dim = o->problem->x_dim;
    size_t count = metric_samples(o, agent->id);
    double *gradient = agent->scratch;
    double *rest = gradient + x_dim + o->problem->y_dim;
    memset(out, 0, x_dim * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        uint32_t sample = (uint32_t)(k * o->problem->samples[agent->id] / count);
        saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                            .batch = {.index = &sample, .count = 1},
                            .x = o->x_at,
                            .y = o->y_star,
                            .gx = gradient,
                            .gy = gradient + x_dim};
        saddle_agent_evaluate_uncounted(agent, &r, rest);
        saddle_observer_note_gradient(o, agent->id, gradient);
        for (size_t c = 0; c < x_dim; c++)
            out[c] += gradient[c] * gradient[c] / (double)count;
    }
}

/*
 * Computes the metric at x: mean squares of the samples' gradients. For linear models these are mean squares of the
 * features, up to a factor. A coordinate that no chosen sample has belongs to fewer than one in so many of them, so
 * that its mean square is at least their number times the square of the mean.
 */
static void find_metric(saddle_observer *o, const double *x)
{
    size_t x_dim = o->problem->x_dim;
    double *metric = metric_of(o);
    primal_at(o, x);
    saddle_observer_gradient(o, o->y_star);
    saddle_observer_average(o, x_dim, square_term, metric);
    for (size_t k = 0; k < x_dim; k++) {
        if (!(metric[k] > 0.0))
            metric[k] = METRIC_SAMPLES * o->both[k] * o->both[k];
        if (!isfinite(metric[k]))
            metric[k] = 0.0;
    }
}

/* The diagonal of the mean over samples of the matrix of rank one that maps a move from x_at to the change of the
 * sample's gradient. */
static void curvature_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    size_t x_dim = o->problem->x_dim;
    size_t count = metric_samples(o, agent->id);
    const double *moved = reference_of(o);
    double *g = agent->scratch;
    memset(out, 0, x_dim * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        uint32_t sample = (uint32_t)(k * o->problem->samples[agent->id] / count);
        saddle_request r = {.kind = SADDLE_REQUEST_DIFFERENCE,
                            .batch = {.index = &sample, .count = 1},
                            .x = moved,
                            .y = o->y_star,
                            .x0 = o->x_at,
                            .y0 = o->y_star,
                            .gx = g,
                            .gy = g + x_dim};
        saddle_agent_evaluate_uncounted(agent, &r, g + x_dim + o->problem->y_dim);
        saddle_observer_note_gradient(o, agent->id, g);
        double along = 0.0;
        for (size_t c = 0; c < x_dim; c++)
            along += g[c] * (moved[c] - o->x_at[c]);
        for (size_t c = 0; c < x_dim && fabs(along) > 0.0; c++)
            out[c] += g[c] * g[c] / fabs(along) / (double)count;
    }
}

/*
 * Computes the metric at x as the diagonal of the samples' curvature, where they tell it. Squares of gradients do not
 * show the curvature along a coordinate in which x is at rest, such as the centres of auc while nothing is learned.
 */
static void find_diagonal(saddle_observer *o, const double *x)
{
    size_t x_dim = o->problem->x_dim;
    double *metric = metric_of(o);
    double *moved = reference_of(o);
    find_metric(o, x);
    for (size_t k = 0; k < x_dim; k++) {
        double size = metric[k] > 0.0 ? CHANGE / sqrt((double)x_dim * metric[k]) : 0.0;
        moved[k] = x[k] + (k % 2 == 0 ? size : -size);
    }
    saddle_set_project(o->in.instance->x_set, moved, o->scratch);
    saddle_observer_average(o, x_dim, curvature_term, o->both);
    double squares = 0.0;
    double curvature = 0.0;
    for (size_t k = 0; k < x_dim; k++)
        if (o->both[k] > 0.0 && metric[k] > 0.0) {
            squares += metric[k];
            curvature += o->both[k];
        }
    if (!(squares > 0.0) || !isfinite(curvature))
        return;
    for (size_t k = 0; k < x_dim; k++)
        metric[k] = o->both[k] > 0.0 ? o->both[k] : metric[k] * (curvature / squares);
}

/* Stores the reference point: the problem's own start, or 0. */
static void find_reference(saddle_observer *o, double *x)
{
    const saddle_problem *problem = o->problem;
    memset(x, 0, problem->x_dim * sizeof *x);
    if (problem->start != NULL)
        problem->start(problem, 1, x, o->both);
    saddle_set_project(o->in.instance->x_set, x, o->scratch);
}

/* Moves x downhill. */
static saddle_decrease descend(saddle_observer *o, const saddle_descent *limits, double *x)
{
    saddle_descent descent = *limits;
    descent.prox = o->in.instance->x_prox;
    descent.metric = metric_of(o);
    descent.value = primal_at;
    descent.gradient = primal_gradient;
    descent.context = o;
    descent.reference = reference_of(o);
    descent.gain = o->gap.scale;
    descent.negligible = NEGLIGIBLE * o->gap.scale;
    find_reference(o, reference_of(o));
    return saddle_descend(&descent, x, descent_scratch_of(o));
}

/* Finds the curvature at x, whose diagonal becomes the metric. Returns false if it is of no use. */
static bool find_curvature(saddle_observer *o, const double *x)
{
    size_t x_dim = o->problem->x_dim;
    if (saddle_hessian_size(x_dim) == 0)
        return false;
    find_metric(o, x);
    if (!saddle_measure_hessian(o, metric_of(o), descent_scratch_of(o), matrix_of(o)))
        return false;
    for (size_t k = 0; k < x_dim; k++)
        metric_of(o)[k] = matrix_of(o)[saddle_hessian_size(k + 1) - 1];
    return true;
}

/* Returns what counts as missing at x. What a few evaluations do not find to be larger than the goal is searched for in
 * the metric of the curvature. If that does not show that little is left, a part of it counts. */
static double search(saddle_observer *o, double goal, int evaluations, double enough, double *x)
{
    int most = o->problem->response_solve != NULL ? MOST_EVALUATIONS : MOST_WITH_ASCENT;
    bool dense = saddle_hessian_size(o->problem->x_dim) > 0;
    saddle_descent limits = {.evaluations = dense ? evaluations : most,
                             .least = evaluations,
                             .plenty = goal * o->gap.scale,
                             .ignored = fmin(IGNORED, goal) * o->gap.scale,
                             .enough = enough};
    if (dense)
        find_metric(o, x);
    else
        find_diagonal(o, x);
    saddle_decrease end = descend(o, &limits, x);
    if (dense && end.found <= fmin(limits.plenty, enough)) {
        limits.matrix = find_curvature(o, x) ? matrix_of(o) : NULL;
        limits.evaluations = most;
        limits.least = 0;
        limits.before = end.found;
        end = descend(o, &limits, x);
    }
    bool known = end.known || end.found > limits.plenty;
    return known ? end.found : fmax(end.found, COUNTED * (end.found + end.left));
}

/* ---- the scale -------------------------------------------------------------------------------- */

/* Returns how much Q changes if the entries of the reference are doubled and 1 is added; 0 if that is not known. */
static double growth(saddle_observer *o, double start)
{
    double *x = point_of(o);
    find_reference(o, x);
    for (size_t k = 0; k < o->problem->x_dim; k++)
        x[k] += x[k] + 1.0;
    saddle_set_project(o->in.instance->x_set, x, o->scratch);
    double change = fabs(primal_at(o, x) + h_at(o, x) - start);
    return isfinite(change) ? change : 0.0;
}

/* Returns what y gains at the reference x from 0; 0 if that is rounding, compared with what y loses far away. */
static double y_gain(saddle_observer *o, const double *x)
{
    double *y = agent_y_of(o);
    size_t y_dim = o->problem->y_dim;
    memset(y, 0, y_dim * sizeof *y);
    saddle_set_project(o->in.instance->y_set, y, o->scratch);
    double best = primal_at(o, x);
    double gained = best - saddle_observer_value(o, y);
    for (size_t k = 0; k < y_dim; k++)
        y[k] = o->y_star[k] + (k % 2 == 0 ? 1.0 : -1.0);
    saddle_set_project(o->in.instance->y_set, y, o->scratch);
    double lost = best - saddle_observer_value(o, y);
    return gained <= SQUARED_ROUNDING * lost ? 0.0 : gained;
}

/*
 * Finds the scale: what x gains from the reference. If that is little, because the reference is almost a solution, it
 * is a part of what y gains there from 0. If both are rounding errors, nothing can be learned, and the scale is the
 * growth of Q around the reference, in the units that the problem has.
 */
static void find_scale(saddle_observer *o)
{
    double *x = point_of(o);
    find_reference(o, x);
    double y_gained = y_gain(o, x);
    find_metric(o, x);
    const saddle_descent limits = {
        .evaluations = SCALE_EVALUATIONS, .least = SCALE_EVALUATIONS, .enough = INFINITY};
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
    const double *metric = metric_of(o);
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
    find_metric(o, o->x_mean);
    memset(o->per_agent, 0, 2 * problem->agents * sizeof *o->per_agent);
    saddle_observer_average(o, 1, distance_term, &none);
    saddle_world_fill(o->in.instance->world, 2, o->per_agent);
    size_t first = 0;
    while (o->members.counted != NULL && !o->members.counted[first])
        first++;
    for (size_t part = 0; part < 2; part++) {
        o->chosen[part] = first;
        for (size_t i = first + 1; i < problem->agents; i++)
            if (o->per_agent[2 * i + part] > o->per_agent[2 * o->chosen[part] + part])
                o->chosen[part] = i;
    }
    double *x = point_of(o);
    double *y = agent_y_of(o);
    saddle_observer_average(o, problem->x_dim + problem->y_dim, chosen_term, o->both);
    memcpy(x, o->both, problem->x_dim * sizeof *x);
    memcpy(y, o->both + problem->x_dim, problem->y_dim * sizeof *y);
    double lost = primal_at(o, x) + h_at(o, x) - row->primal;
    o->x_at = o->x_mean;
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
    double *x = point_of(o);
    double most = all ? INFINITY : goal * o->gap.scale;
    o->gap.x = 0.0;
    o->gap.agents = 0.0;
    o->gap.y = fmax(row->primal - row->loss, 0.0);
    if (o->gap.y > most)
        return false;
    memcpy(x, o->x_mean, o->problem->x_dim * sizeof *x);
    o->gap.x = search(o, goal, evaluations, most - o->gap.y, x);
    if (o->gap.x + o->gap.y > most)
        return false;
    o->gap.agents = agents_part(o, row);
    return true;
}

/* What the generic best response starts from must not depend on the gap: keeps it, and returns the step. */
static double keep_response(const saddle_observer *o)
{
    memcpy(saved_y_of(o), o->y_star, o->problem->y_dim * sizeof *o->y_star);
    return o->ascent_step;
}

static void restore_response(saddle_observer *o, double step)
{
    o->x_at = o->x_mean;
    o->ascent_step = step;
    memcpy(o->y_star, saved_y_of(o), o->problem->y_dim * sizeof *o->y_star);
}

void saddle_observe_gap_parts(saddle_observer *o, const saddle_row *row)
{
    double step = keep_response(o);
    o->gap.y = fmax(row->primal - row->loss, 0.0);
    o->gap.agents = agents_part(o, row);
    restore_response(o, step);
}

void saddle_observe_gap(saddle_observer *o, double goal, int evaluations, bool all, saddle_row *row)
{
    double step = keep_response(o);
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
