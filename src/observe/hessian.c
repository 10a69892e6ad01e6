#include "observe/hessian.h"

#include "core/dense.h"
#include "core/sizes.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "observe/observer_state.h"
#include "sets/set.h"

/* The longest x: a matrix of 8 MB. */
#define MOST_COORDINATES 1024
/* Fewer samples are measured if they take more multiplications than this, but some of each agent. */
#define MULTIPLICATIONS 4e9
#define LEAST_PER_AGENT 8
/* Entries that are summed at once, because engines have room for 32,768. */
#define ENTRIES_AT_ONCE 16384
/* Along delta, slopes are to change by this share; by so many attempts. */
#define CHANGE 1e-3
#define ATTEMPTS 6
/* A difference along delta of less than this share of the sum of its terms' sizes is rounding. */
#define ROUNDING 1e-9

/* The longest y whose response is measured. */
#define MOST_RESPONSES 8

typedef struct hessian {
    saddle_observer *o;
    double *delta, *moved;
    double *common;           /* the difference that all samples share */
    double samples;           /* to be measured */
    size_t first, last;       /* rows that are summed */
    double y[MOST_RESPONSES]; /* a move of y* */
} hessian;

size_t saddle_hessian_size(size_t x_dim)
{
    return x_dim <= MOST_COORDINATES ? saddle_triangle_size(x_dim) : 0;
}

/* Returns the number of an agent's samples that are measured. */
static size_t samples_of(const hessian *h, size_t agent)
{
    const saddle_problem *problem = h->o->problem;
    double all = (double)saddle_sizes_sum(problem->agents, problem->samples);
    double entries = (double)saddle_hessian_size(problem->x_dim);
    double share = fmin(fmin(MULTIPLICATIONS / entries, h->samples) / all, 1.0);
    size_t samples = (size_t)ceil(share * (double)problem->samples[agent]);
    return samples > LEAST_PER_AGENT ? samples
                                     : saddle_smaller(LEAST_PER_AGENT, problem->samples[agent]);
}

/* Returns whether each sample has its own entry of y, whose response to a move of x changes its gradient along its own
 * direction. */
static bool has_own_y(const saddle_observer *o)
{
    return o->problem->y_curvature > 0.0 && o->problem->response_solve != NULL &&
           saddle_observer_has_closed_forms(o);
}

/* Computes what the gradient of the k-th of `count` samples, without what all share, changes by along delta. */
static double *difference(const hessian *h, saddle_agent *agent, size_t k, size_t count)
{
    const saddle_observer *o = h->o;
    const double *y = has_own_y(o) ? o->both : o->y_star;
    double *g = saddle_search_sample(o, agent, k, count, h->moved, y);
    saddle_axpy(o->problem->x_dim, -1.0, h->common, g);
    return g;
}

/* The mean over samples of |g'delta|. */
static void change_term(void *context, saddle_agent *agent, double *out)
{
    const hessian *h = context;
    size_t count = saddle_smaller(h->o->problem->samples[agent->id], LEAST_PER_AGENT);
    out[0] = 0.0;
    for (size_t k = 0; k < count; k++)
        out[0] += fabs(saddle_dot(h->o->problem->x_dim, difference(h, agent, k, count), h->delta)) /
                  (double)count;
}

/* An agent's rows of the matrix. */
static void row_term(void *context, saddle_agent *agent, double *out)
{
    const hessian *h = context;
    size_t x_dim = h->o->problem->x_dim;
    size_t count = samples_of(h, agent->id);
    size_t entries = saddle_hessian_size(h->last) - saddle_hessian_size(h->first);
    memset(out, 0, entries * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        const double *g = difference(h, agent, k, count);
        double along = 0.0;
        double size = 0.0;
        for (size_t c = 0; c < x_dim; c++) {
            along += g[c] * h->delta[c];
            size += fabs(g[c] * h->delta[c]);
        }
        if (!(fabs(along) > ROUNDING * size))
            continue;
        double *row = out;
        for (size_t c = h->first; c < h->last; row += ++c)
            if (g[c] != 0.0)
                saddle_axpy(c + 1, g[c] / fabs(along) / (double)count, g, row);
    }
}

/* Computes the mean of a term over the agents. Collective. */
static void average(hessian *h, size_t size, saddle_agent_term *term, double *out)
{
    saddle_engine *engine = h->o->in.engine;
    engine->kind->mean(engine, size, term, h, out);
}

/* Computes the best response to `moved` in o->both. Collective. */
static void respond(const hessian *h)
{
    saddle_observer *o = h->o;
    const double *x = o->x_at;
    double *y = o->y_star;
    saddle_error ignored;
    o->x_at = h->moved;
    o->y_star = o->both;
    saddle_observer_statistic(o);
    if (saddle_observer_best_response(o, 1.0, &ignored) != SADDLE_OK)
        memcpy(o->both, y, o->problem->y_dim * sizeof *y);
    o->x_at = x;
    o->y_star = y;
}

/* Moves by delta within X, and computes the difference that all samples share. Collective. */
static void move(const hessian *h)
{
    const saddle_observer *o = h->o;
    const saddle_problem *problem = o->problem;
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < problem->x_dim; k++)
            if (side == 0)
                h->moved[k] = o->x_at[k] + h->delta[k];
            else if (h->moved[k] == o->x_at[k])
                h->moved[k] = o->x_at[k] - h->delta[k];
        saddle_set_project(o->in.instance->x_set, h->moved, o->scratch);
    }
    for (size_t k = 0; k < problem->x_dim; k++)
        h->delta[k] = h->moved[k] - o->x_at[k];
    memset(h->common, 0, problem->x_dim * sizeof *h->common);
    saddle_part part = {.scale = 1.0,
                        .x = h->moved,
                        .y = o->y_star,
                        .x0 = o->x_at,
                        .y0 = o->y_star,
                        .gx = h->common};
    if (problem->add_samples != NULL && problem->add_common != NULL)
        problem->add_common(problem, &part);
    if (has_own_y(o))
        respond(h);
}

/* Sets delta to entries of sizes length / sqrt(squares) with signs that have no pattern. */
static void set_delta(const hessian *h, const double *squares, double length)
{
    uint32_t bits = 1;
    for (size_t k = 0; k < h->o->problem->x_dim; k++) {
        bits = bits * 1664525U + 1013904223U; /* Knuth's */
        double size = squares[k] > 0.0 ? length / sqrt(squares[k]) : 0.0;
        h->delta[k] = bits >> 31 != 0 ? size : -size;
    }
    move(h);
}

/* Chooses delta such that slopes along it, which are about the root of dim x times the length, change by a small share.
 */
static void choose_delta(hessian *h, const double *squares)
{
    double length = 1.0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double change;
        set_delta(h, squares, length);
        average(h, 1, change_term, &change);
        change /= length * sqrt((double)h->o->problem->x_dim);
        if (change > 0.1 * CHANGE && change < 10.0 * CHANGE)
            return;
        length *= change > 0.0 ? fmin(fmax(CHANGE / change, 1e-6), 1e6) : 1e3;
    }
}

/* Adds to the diagonal what all samples share. Replaces entries that no sample tells if all samples are meant: those
 * coordinates are too rare to matter otherwise, and stay. */
static bool complete(const hessian *h, const double *squares, double *matrix)
{
    size_t x_dim = h->o->problem->x_dim;
    double unit = 0.0;
    double count = 0.0;
    for (size_t k = 0; k < x_dim; k++) {
        double *diagonal = matrix + saddle_hessian_size(k + 1) - 1;
        if (h->delta[k] != 0.0)
            *diagonal += fabs(h->common[k] / h->delta[k]);
        if (*diagonal > 0.0 && squares[k] > 0.0) {
            unit += *diagonal / squares[k];
            count += 1.0;
        }
    }
    const saddle_problem *problem = h->o->problem;
    double all = (double)saddle_sizes_sum(problem->agents, problem->samples);
    double measured =
        fmax(fmin(h->samples, MULTIPLICATIONS / (double)saddle_hessian_size(x_dim)), 1.0);
    double unseen = fmax((double)x_dim / measured - (double)x_dim / all, 0.0);
    for (size_t k = 0; k < x_dim; k++) {
        double *diagonal = matrix + saddle_hessian_size(k + 1) - 1;
        if (!(*diagonal > 0.0) && h->samples >= all)
            *diagonal = squares[k] * unit / count;
        *diagonal *= 1.0 + unseen;
    }
    return isfinite(saddle_norm2(saddle_hessian_size(x_dim), matrix)) && count > 0.0;
}

/* What the gradients change by between y* and h->y. */
static void response_term(void *context, saddle_agent *agent, double *out)
{
    const hessian *h = context;
    const saddle_observer *o = h->o;
    saddle_request r = {.kind = SADDLE_REQUEST_DIFFERENCE,
                        .batch = {.count = o->problem->samples[agent->id]},
                        .x = o->x_at,
                        .y = h->y,
                        .x0 = o->x_at,
                        .y0 = o->y_star,
                        .gx = out,
                        .gy = out + o->problem->x_dim};
    saddle_agent_evaluate_uncounted(agent, &r, agent->scratch);
}

/* Measures column k of F_xy, for coordinates that move; returns -F_yy there, or NaN. */
static double measure_response(hessian *h, size_t k, const double *matrix, double *column)
{
    saddle_observer *o = h->o;
    size_t x_dim = o->problem->x_dim;
    memcpy(h->y, o->y_star, o->problem->y_dim * sizeof *h->y);
    h->y[k] += CHANGE * (1.0 + fabs(h->y[k]));
    double moved = h->y[k] - o->y_star[k];
    average(h, x_dim + o->problem->y_dim, response_term, o->both);
    for (size_t c = 0; c < x_dim; c++)
        column[c] = matrix[saddle_hessian_size(c + 1) - 1] > 0.0 ? o->both[c] / moved : 0.0;
    double bend = -o->both[x_dim + k] / moved;
    return bend > 0.0 && isfinite(saddle_norm2(x_dim, column)) ? bend : (double)NAN;
}

/* Adds the curvature of the best response. `columns` are MOST_RESPONSES of x_dim doubles. */
static void add_response(hessian *h, double *columns, double *matrix)
{
    const saddle_observer *o = h->o;
    size_t x_dim = o->problem->x_dim;
    size_t y_dim = o->problem->y_dim;
    double bend[MOST_RESPONSES];
    double best[MOST_RESPONSES];
    if (y_dim > MOST_RESPONSES || has_own_y(o) || o->problem->response_solve == NULL ||
        !saddle_observer_has_closed_forms(o))
        return;
    for (size_t k = 0; k < y_dim; k++) {
        bend[k] = measure_response(h, k, matrix, columns + k * x_dim);
        if (isnan(bend[k]))
            return;
        best[k] = o->y_star[k] + o->search.y_slope[k] / bend[k];
    }
    for (size_t k = 0; k < y_dim; k++) {
        memcpy(h->y, best, y_dim * sizeof *best);
        double step = CHANGE * (1.0 + fabs(best[k]));
        h->y[k] += step;
        saddle_set_project(o->in.instance->y_set, h->y, o->scratch);
        memset(h->moved, 0, x_dim * sizeof *h->moved);
        for (size_t c = 0; c < y_dim; c++)
            saddle_axpy(x_dim, (h->y[c] - o->y_star[c]) / step / bend[k], columns + c * x_dim,
                        h->moved);
        double *row = matrix;
        for (size_t c = 0; c < x_dim; row += ++c)
            for (size_t e = 0; e <= c; e++)
                row[e] += 0.5 * (h->moved[c] * columns[k * x_dim + e] +
                                 h->moved[e] * columns[k * x_dim + c]);
    }
}

bool saddle_measure_hessian(saddle_observer *o, const double *squares, double samples, double *work,
                            double *matrix)
{
    size_t x_dim = o->problem->x_dim;
    hessian h = {.o = o,
                 .delta = work,
                 .moved = work + x_dim,
                 .common = work + 2 * x_dim,
                 .samples = samples};
    choose_delta(&h, squares);
    for (h.first = 0; h.first < x_dim; h.first = h.last) {
        size_t before = saddle_hessian_size(h.first);
        h.last = h.first + 1;
        while (h.last < x_dim && saddle_hessian_size(h.last + 1) - before <= ENTRIES_AT_ONCE)
            h.last++;
        average(&h, saddle_hessian_size(h.last) - before, row_term, matrix + before);
    }
    bool good = complete(&h, squares, matrix);
    add_response(&h, work + 3 * x_dim, matrix);
    return good;
}
