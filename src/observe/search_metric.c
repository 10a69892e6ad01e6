#include "observe/search_metric.h"

#include "core/sizes.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "observe/descent.h"
#include "observe/hessian.h"
#include "observe/observer_state.h"
#include "sets/set.h"

/* The accuracy of the generic best response in a search. The error of Q is its square. */
#define RESPONSE_TOLERANCE 1e-7
/* Samples, of all agents together, whose squared gradients make the search's metric; at least so many per agent. */
#define METRIC_SAMPLES 1024
#define METRIC_SAMPLES_PER_AGENT 8
/* A first search takes the curvature from this many samples per coordinate, if their matrices take at most this many
 * multiplications, besides those of this many passes over all samples. */
#define FEW_PER_COORDINATE 8.0
#define CHEAP 1e7
#define CHEAP_PASSES 10.0
/* Samples' curvature is measured by a move that changes their losses by about this part. */
#define CHANGE 1e-3

static bool is_dense(const saddle_instance *instance)
{
    return saddle_hessian_size(instance->problem->x_dim) > 0;
}

size_t saddle_search_lay_out(const saddle_instance *instance, double *block, saddle_gap_search *out)
{
    const saddle_problem *problem = instance->problem;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    size_t kept = is_dense(instance) ? x_dim : 0;
    const struct {
        double **vector;
        size_t size;
    } all[] = {{&out->point, x_dim},
               {&out->metric, x_dim},
               {&out->reference, x_dim},
               {&out->saved_y, y_dim},
               {&out->agent_y, y_dim},
               {&out->base, kept},
               {&out->last, kept},
               {&out->last_gradient, kept},
               {&out->y_slope, y_dim},
               {&out->matrix, saddle_hessian_size(x_dim)},
               {&out->scratch, saddle_descent_scratch(instance->x_prox)}};
    size_t used = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; used += all[k++].size)
        *all[k].vector = block != NULL ? block + used : NULL;
    /* Where x is long, nothing is kept: the base is made anew, in memory that the descent needs later. */
    if (kept == 0 && block != NULL)
        out->base = out->scratch + x_dim;
    return used;
}

void saddle_search_remember(saddle_observer *o, const double *x, double value)
{
    o->search.value = value;
    o->search.known = is_dense(o->in.instance);
    o->search.has_gradient = false;
    if (o->search.known)
        memcpy(o->search.last, x, o->problem->x_dim * sizeof *x);
}

double saddle_search_primal(void *context, const double *x)
{
    saddle_observer *o = context;
    saddle_error ignored;
    o->x_at = x;
    if (o->search.known && memcmp(o->search.last, x, o->problem->x_dim * sizeof *x) == 0)
        return o->search.value;
    saddle_observer_statistic(o);
    bool found = saddle_observer_best_response(o, RESPONSE_TOLERANCE, &ignored) == SADDLE_OK;
    saddle_search_remember(o, x, found ? saddle_observer_value(o, o->y_star) : (double)NAN);
    return o->search.value;
}

void saddle_search_gradient(void *context, double *gradient)
{
    saddle_observer *o = context;
    size_t x_dim = o->problem->x_dim;
    if (!o->search.has_gradient) {
        saddle_observer_gradient(o, o->y_star);
        memcpy(gradient, o->both, x_dim * sizeof *gradient);
        memcpy(o->search.y_slope, o->both + x_dim, o->problem->y_dim * sizeof *gradient);
    }
    if (!o->search.known)
        return;
    memcpy(o->search.has_gradient ? gradient : o->search.last_gradient,
           o->search.has_gradient ? o->search.last_gradient : gradient, x_dim * sizeof *gradient);
    o->search.has_gradient = true;
}

void saddle_search_reference(saddle_observer *o, double *x)
{
    const saddle_problem *problem = o->problem;
    memset(x, 0, problem->x_dim * sizeof *x);
    if (problem->start != NULL)
        problem->start(problem, 1, x, o->both);
    saddle_set_project(o->in.instance->x_set, x, o->scratch);
}

/* Returns the number of an agent's samples that make the metric. */
static size_t metric_samples(const saddle_observer *o, size_t agent)
{
    size_t samples = METRIC_SAMPLES / o->problem->agents;
    if (samples < METRIC_SAMPLES_PER_AGENT)
        samples = METRIC_SAMPLES_PER_AGENT;
    return samples < o->problem->samples[agent] ? samples : o->problem->samples[agent];
}

double *saddle_search_sample(const saddle_observer *o, saddle_agent *agent, size_t k, size_t count,
                             const double *moved, const double *y)
{
    size_t x_dim = o->problem->x_dim;
    uint32_t sample = (uint32_t)(k * o->problem->samples[agent->id] / count);
    double *g = agent->scratch;
    saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                        .batch = {.index = &sample, .count = 1},
                        .x = o->x_at,
                        .y = o->y_star,
                        .gx = g,
                        .gy = g + x_dim};
    if (moved != NULL) {
        r.kind = SADDLE_REQUEST_DIFFERENCE;
        r.x0 = r.x;
        r.y0 = r.y;
        r.x = moved;
        r.y = y;
    }
    saddle_agent_evaluate_uncounted(agent, &r, g + x_dim + o->problem->y_dim);
    saddle_observer_note_gradient(o, agent->id, g);
    return g;
}

/* The mean of the squares of single samples' gradients in x at (x_at, y*). */
static void square_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    size_t x_dim = o->problem->x_dim;
    size_t count = metric_samples(o, agent->id);
    memset(out, 0, x_dim * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        const double *g = saddle_search_sample(o, agent, k, count, NULL, NULL);
        for (size_t c = 0; c < x_dim; c++)
            out[c] += g[c] * g[c] / (double)count;
    }
}

void saddle_search_squares(saddle_observer *o, const double *x, double *metric)
{
    size_t x_dim = o->problem->x_dim;
    double *gradient = o->search.scratch;
    saddle_search_primal(o, x);
    saddle_search_gradient(o, gradient);
    saddle_observer_average(o, x_dim, square_term, metric);
    for (size_t k = 0; k < x_dim; k++) {
        if (!(metric[k] > 0.0))
            metric[k] = METRIC_SAMPLES * gradient[k] * gradient[k];
        if (!isfinite(metric[k]))
            metric[k] = 0.0;
    }
}

/* Computes the metric at x: the squares there or at the reference, whichever are larger, because gradients that vanish
 * at x, as at a solution, are rounding errors and tell no units. */
static void find_metric(saddle_observer *o, const double *x)
{
    double *metric = o->search.metric;
    if (!o->search.has_base || o->in.instance->churn != NULL) {
        saddle_search_reference(o, o->search.reference);
        saddle_search_squares(o, o->search.reference, o->search.base);
        o->search.has_base = is_dense(o->in.instance);
    }
    saddle_search_squares(o, x, metric);
    for (size_t k = 0; k < o->problem->x_dim; k++)
        metric[k] = fmax(metric[k], o->search.base[k]);
}

/* The diagonal of the mean over samples of the matrix of rank one that maps a move from x_at to the change of the
 * sample's gradient. */
static void curvature_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_observer *o = context;
    size_t x_dim = o->problem->x_dim;
    size_t count = metric_samples(o, agent->id);
    const double *moved = o->search.reference;
    memset(out, 0, x_dim * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        const double *g = saddle_search_sample(o, agent, k, count, moved, o->y_star);
        double along = 0.0;
        for (size_t c = 0; c < x_dim; c++)
            along += g[c] * (moved[c] - o->x_at[c]);
        for (size_t c = 0; c < x_dim && fabs(along) > 0.0; c++)
            out[c] += g[c] * g[c] / fabs(along) / (double)count;
    }
}

void saddle_search_diagonal(saddle_observer *o, const double *x)
{
    size_t x_dim = o->problem->x_dim;
    double *metric = o->search.metric;
    double *moved = o->search.reference;
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

bool saddle_search_curvature(saddle_observer *o, double samples, const double *x)
{
    find_metric(o, x);
    if (!(samples > 0.0) ||
        !saddle_measure_hessian(o, o->search.metric, samples, o->search.scratch, o->search.matrix))
        return false;
    for (size_t k = 0; k < o->problem->x_dim; k++)
        o->search.metric[k] = o->search.matrix[saddle_hessian_size(k + 1) - 1];
    return true;
}

double saddle_search_all(const saddle_observer *o)
{
    return (double)saddle_sizes_sum(o->problem->agents, o->problem->samples);
}

/* Returns whether X is a product of intervals, or its boundary is far from x: along other boundaries, the first steps
 * with a matrix are shorter than those without. */
static bool is_free(const saddle_observer *o, const double *x)
{
    const saddle_set *set = o->in.instance->x_set;
    for (size_t k = 0; k < o->problem->x_dim; k++)
        o->both[k] = 2.0 * x[k];
    return saddle_set_kind(set)->separable || saddle_set_distance(set, o->both, o->scratch) <= 0.0;
}

double saddle_search_few(const saddle_observer *o, const double *x)
{
    double x_dim = (double)o->problem->x_dim;
    double entries = (double)saddle_hessian_size(o->problem->x_dim);
    double few = fmin(FEW_PER_COORDINATE * (x_dim + FEW_PER_COORDINATE), saddle_search_all(o));
    bool cheap = few * entries <= CHEAP + CHEAP_PASSES * saddle_search_all(o) * x_dim;
    return entries > 0.0 && cheap && is_free(o, x) ? few : 0.0;
}
