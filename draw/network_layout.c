#include "draw/network_layout.h"

#include <math.h>

#include "core/memory.h"

/* Irregular graphs with at most this many agents are drawn on a circle. */
#define SMALL 8
/* Steps of the power method; total number of pairs that majorization visits, and the change at
 * which it ends. */
#define POWER_STEPS 60
#define STRESS_PAIRS 4e8
#define STRESS_CHANGE 1e-5

/* ---- circle and grid ----------------------------------------------------------------------- */

static void place_on_circle(network_layout *l)
{
    const double turn = 2.0 * acos(-1.0);
    for (size_t i = 0; i < l->agents; i++) {
        double angle = turn * (double)i / (double)l->agents;
        l->x[i] = sin(angle);
        l->y[i] = cos(angle);
    }
}

/* Places the agents row by row. */
static void place_on_grid(network_layout *l, size_t columns)
{
    for (size_t i = 0; i < l->agents; i++) {
        size_t row = i / columns;
        l->x[i] = (double)(i - row * columns);
        l->y[i] = -(double)row;
    }
}

/* ---- by distances -------------------------------------------------------------------------- */

/* Computes the hops between all pairs, by a breadth-first search from each agent. */
static void measure(const saddle_graph *graph, float *hops, size_t *queue)
{
    size_t m = graph->agents;
    for (size_t k = 0; k < m * m; k++)
        hops[k] = -1.0f;
    for (size_t source = 0; source < m; source++) {
        float *from = hops + source * m;
        size_t head = 0;
        size_t tail = 0;
        from[source] = 0.0f;
        queue[tail++] = source;
        while (head < tail) {
            size_t i = queue[head++];
            for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
                size_t j = graph->neighbour[k];
                if (from[j] < 0.0f) {
                    from[j] = from[i] + 1.0f;
                    queue[tail++] = j;
                }
            }
        }
    }
}

/* out = B v, where B are the doubly centred squared distances of classical scaling. */
static void apply(const float *hops, size_t m, const double *row_mean, double mean, const double *v,
                  double *out)
{
    for (size_t i = 0; i < m; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < m; j++) {
            double squared = (double)hops[i * m + j] * (double)hops[i * m + j];
            sum -= 0.5 * (squared - row_mean[i] - row_mean[j] + mean) * v[j];
        }
        out[i] = sum;
    }
}

/* Computes a leading eigenvector of B orthogonal to `other` (NULL: none) by the power method. */
static void eigenvector(const float *hops, size_t m, const double *row_mean, double mean,
                        const double *other, double *v, double *next)
{
    for (size_t i = 0; i < m; i++) /* a generic start */
        v[i] = sin(1.0 + (other != NULL ? 2.7 : 1.3) * (double)i);
    for (int step = 0; step < POWER_STEPS; step++) {
        apply(hops, m, row_mean, mean, v, next);
        double along = 0.0;
        for (size_t i = 0; other != NULL && i < m; i++)
            along += other[i] * next[i];
        double norm = 0.0;
        for (size_t i = 0; i < m; i++) {
            next[i] -= other != NULL ? along * other[i] : 0.0;
            norm += next[i] * next[i];
        }
        norm = sqrt(norm);
        for (size_t i = 0; i < m; i++)
            v[i] = norm > 0.0 ? next[i] / norm : (double)(i % 2);
    }
}

/* Classical scaling, a start in which the drawing is not folded. */
static void scale_classically(network_layout *l, const float *hops, double *row_mean,
                              double *scratch)
{
    size_t m = l->agents;
    double mean = 0.0;
    for (size_t i = 0; i < m; i++) {
        row_mean[i] = 0.0;
        for (size_t j = 0; j < m; j++)
            row_mean[i] += (double)hops[i * m + j] * (double)hops[i * m + j] / (double)m;
        mean += row_mean[i] / (double)m;
    }
    eigenvector(hops, m, row_mean, mean, NULL, l->x, scratch);
    eigenvector(hops, m, row_mean, mean, l->x, l->y, scratch);
    double size = sqrt(mean * (double)m);
    for (size_t i = 0; i < m; i++) {
        /* Move agents apart that classical scaling puts at the same point. */
        l->x[i] = l->x[i] * size + 0.01 * sin(12.9898 * (double)i);
        l->y[i] = l->y[i] * size + 0.01 * sin(78.233 * (double)i);
    }
}

/* One sweep: moves every agent to the weighted mean of its best positions relative to the
 * others. Returns the largest move. */
static double majorize(network_layout *l, const float *hops)
{
    size_t m = l->agents;
    double largest = 0.0;
    for (size_t i = 0; i < m; i++) {
        double x = 0.0;
        double y = 0.0;
        double weights = 0.0;
        for (size_t j = 0; j < m; j++) {
            if (j == i)
                continue;
            double wanted = (double)hops[i * m + j];
            double weight = 1.0 / (wanted * wanted);
            double dx = l->x[i] - l->x[j];
            double dy = l->y[i] - l->y[j];
            double distance = sqrt(dx * dx + dy * dy);
            double ratio = distance > 1e-9 ? wanted / distance : 0.0;
            x += weight * (l->x[j] + dx * ratio);
            y += weight * (l->y[j] + dy * ratio);
            weights += weight;
        }
        x /= weights;
        y /= weights;
        largest = fmax(largest, fabs(x - l->x[i]) + fabs(y - l->y[i]));
        l->x[i] = x;
        l->y[i] = y;
    }
    return largest;
}

static saddle_status place_by_stress(network_layout *l, const saddle_graph *graph,
                                     saddle_error *error)
{
    size_t m = l->agents;
    float *hops = saddle_alloc(m, m * sizeof *hops);
    size_t *queue = saddle_alloc(m, sizeof *queue);
    double *row_mean = saddle_alloc(m, sizeof *row_mean);
    double *scratch = saddle_alloc(m, sizeof *scratch);
    saddle_status status = SADDLE_OK;
    if (hops == NULL || queue == NULL || row_mean == NULL || scratch == NULL) {
        status =
            saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a drawing of %zu agents", m);
    } else {
        measure(graph, hops, queue);
        scale_classically(l, hops, row_mean, scratch);
        double steps = fmin(3000.0, STRESS_PAIRS / ((double)m * (double)m));
        while (steps-- > 0.0 && majorize(l, hops) > STRESS_CHANGE)
            ;
    }
    saddle_free(hops);
    saddle_free(queue);
    saddle_free(row_mean);
    saddle_free(scratch);
    return status;
}

/* ---- the public part ----------------------------------------------------------------------- */

/* Rotates the drawing so that its longest extent is horizontal. */
static void turn(network_layout *l)
{
    double xx = 0.0;
    double yy = 0.0;
    double xy = 0.0;
    double mx = 0.0;
    double my = 0.0;
    for (size_t i = 0; i < l->agents; i++) {
        mx += l->x[i] / (double)l->agents;
        my += l->y[i] / (double)l->agents;
    }
    for (size_t i = 0; i < l->agents; i++) {
        xx += (l->x[i] - mx) * (l->x[i] - mx);
        yy += (l->y[i] - my) * (l->y[i] - my);
        xy += (l->x[i] - mx) * (l->y[i] - my);
    }
    double angle = 0.5 * atan2(2.0 * xy, xx - yy);
    for (size_t i = 0; i < l->agents; i++) {
        double x = l->x[i] - mx;
        double y = l->y[i] - my;
        l->x[i] = x * cos(angle) + y * sin(angle);
        l->y[i] = y * cos(angle) - x * sin(angle);
    }
}

/* Scales the drawing to the unit square, centred, without changing its proportions. */
static void fit(network_layout *l)
{
    double low[2] = {(double)INFINITY, (double)INFINITY};
    double high[2] = {-(double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < l->agents; i++) {
        low[0] = fmin(low[0], l->x[i]);
        high[0] = fmax(high[0], l->x[i]);
        low[1] = fmin(low[1], l->y[i]);
        high[1] = fmax(high[1], l->y[i]);
    }
    double size = fmax(high[0] - low[0], high[1] - low[1]);
    size = size > 0.0 ? size : 1.0;
    for (size_t i = 0; i < l->agents; i++) {
        l->x[i] = 0.5 + (l->x[i] - 0.5 * (low[0] + high[0])) / size;
        l->y[i] = 0.5 + (l->y[i] - 0.5 * (low[1] + high[1])) / size;
    }
}

typedef enum placement { ON_GRID, ON_CIRCLE, BY_STRESS } placement;

static placement placement_of(const saddle_graph *graph)
{
    switch (graph->shape) {
    case SADDLE_SHAPE_GRID:
        return ON_GRID;
    case SADDLE_SHAPE_COMPLETE:
    case SADDLE_SHAPE_CIRCULANT:
    case SADDLE_SHAPE_NEAR_RING:
        return ON_CIRCLE;
    case SADDLE_SHAPE_PATH:
    case SADDLE_SHAPE_STAR:
    case SADDLE_SHAPE_HYPERCUBE:
        return BY_STRESS;
    case SADDLE_SHAPE_TORUS:
    case SADDLE_SHAPE_IRREGULAR:
        break;
    }
    return graph->agents <= SMALL ? ON_CIRCLE : BY_STRESS;
}

saddle_status network_layout_make(network_layout *out, const saddle_graph *graph,
                                  saddle_error *error)
{
    size_t m = graph->agents;
    *out = (network_layout){.agents = m};
    if (m > LAYOUT_MOST_AGENTS)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%zu agents are too many for a drawing; at most %d are drawn", m,
                           LAYOUT_MOST_AGENTS);
    out->x = saddle_alloc(m, sizeof *out->x);
    out->y = saddle_alloc(m, sizeof *out->y);
    if (out->x == NULL || out->y == NULL) {
        network_layout_release(out);
        saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a drawing of %zu agents", m);
        return SADDLE_NO_MEMORY;
    }
    saddle_status status = SADDLE_OK;
    switch (placement_of(graph)) {
    case ON_GRID:
        place_on_grid(out, graph->columns);
        break;
    case ON_CIRCLE:
        place_on_circle(out);
        break;
    case BY_STRESS:
        status = place_by_stress(out, graph, error);
        turn(out);
        break;
    }
    if (status == SADDLE_OK)
        fit(out);
    else
        network_layout_release(out);
    return status;
}

void network_layout_release(network_layout *l)
{
    saddle_free(l->x);
    saddle_free(l->y);
    *l = (network_layout){.agents = 0};
}
