#include "draw/network_layout.h"
#include "core/base.h"

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

/* Computes B, the doubly centred squared distances of classical scaling; returns the mean of the squares. */
static double centre(const float *hops, size_t m, double *row_mean, double *b)
{
    double mean = 0.0;
    for (size_t i = 0; i < m; i++) {
        row_mean[i] = 0.0;
        for (size_t j = 0; j < m; j++)
            row_mean[i] += (double)hops[i * m + j] * (double)hops[i * m + j] / (double)m;
        mean += row_mean[i] / (double)m;
    }
    for (size_t k = 0; k < m * m; k++) {
        double squared = (double)hops[k] * (double)hops[k];
        b[k] = -0.5 * (squared - row_mean[k / m] - row_mean[k % m] + mean);
    }
    return mean;
}

/* Computes a leading eigenvector of B orthogonal to `other` (NULL: none) by the power method. */
static void eigenvector(const double *b, size_t m, const double *other, double *v, double *next)
{
    for (size_t i = 0; i < m; i++) /* a generic start */
        v[i] = sin(1.0 + (other != NULL ? 2.7 : 1.3) * (double)i);
    for (int step = 0; step < POWER_STEPS; step++) {
        double along = 0.0;
        double norm = 0.0;
        for (size_t i = 0; i < m; i++) {
            next[i] = 0.0;
            for (size_t j = 0; j < m; j++)
                next[i] += b[i * m + j] * v[j];
            along += other != NULL ? other[i] * next[i] : 0.0;
        }
        for (size_t i = 0; i < m; i++) {
            next[i] -= other != NULL ? along * other[i] : 0.0;
            norm += next[i] * next[i];
        }
        for (size_t i = 0; i < m; i++)
            v[i] = norm > 0.0 ? next[i] / sqrt(norm) : (double)(i % 2);
    }
}

/* Classical scaling, a start in which the drawing is not folded. */
static void scale_classically(network_layout *l, const float *hops, double *b, double *scratch)
{
    size_t m = l->agents;
    double size = sqrt(centre(hops, m, scratch, b) * (double)m);
    eigenvector(b, m, NULL, l->x, scratch);
    eigenvector(b, m, l->x, l->y, scratch);
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

/* Rotates the drawing so that its longest extent is horizontal. */
static void turn(network_layout *l)
{
    double moment[3] = {0.0}; /* sums of xx, yy and xy */
    double mean[2] = {0.0};
    for (size_t i = 0; i < l->agents; i++) {
        mean[0] += l->x[i] / (double)l->agents;
        mean[1] += l->y[i] / (double)l->agents;
    }
    for (size_t i = 0; i < l->agents; i++) {
        double x = l->x[i] -= mean[0];
        double y = l->y[i] -= mean[1];
        moment[0] += x * x;
        moment[1] += y * y;
        moment[2] += x * y;
    }
    double angle = 0.5 * atan2(2.0 * moment[2], moment[0] - moment[1]);
    for (size_t i = 0; i < l->agents; i++) {
        double x = l->x[i];
        l->x[i] = x * cos(angle) + l->y[i] * sin(angle);
        l->y[i] = l->y[i] * cos(angle) - x * sin(angle);
    }
}

static saddle_status place_by_stress(network_layout *l, const saddle_graph *graph,
                                     saddle_error *error)
{
    size_t m = l->agents;
    SADDLE_OWNED float *hops = saddle_alloc(m, m * sizeof *hops);
    SADDLE_OWNED size_t *queue = saddle_alloc(m, sizeof *queue);
    SADDLE_OWNED double *b = saddle_alloc(m + 1, m * sizeof *b); /* and a row of scratch */
    bool good = hops != NULL && queue != NULL && b != NULL;
    if (good) {
        measure(graph, hops, queue);
        scale_classically(l, hops, b, b + m * m);
        double steps = fmin(3000.0, STRESS_PAIRS / ((double)m * (double)m));
        while (steps-- > 0.0 && majorize(l, hops) > STRESS_CHANGE)
            ;
        turn(l);
    }
    return good ? SADDLE_OK : saddle_no_memory(error, "a drawing");
}

/* ---- layouts ----------------------------------------------------------------------- */

/* Scales the drawing to the unit square, centred, without changing its proportions. */
static void fit(network_layout *l)
{
    double *const axis[] = {l->x, l->y};
    double middle[2];
    double size = 0.0;
    for (int a = 0; a < 2; a++) {
        double low = axis[a][0];
        double high = axis[a][0];
        for (size_t i = 1; i < l->agents; i++) {
            low = fmin(low, axis[a][i]);
            high = fmax(high, axis[a][i]);
        }
        middle[a] = 0.5 * (low + high);
        size = fmax(size, high - low);
    }
    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < l->agents; i++)
            axis[a][i] = 0.5 + (axis[a][i] - middle[a]) / (size > 0.0 ? size : 1.0);
}

saddle_status network_layout_make(network_layout *out, const saddle_graph *graph,
                                  saddle_error *error)
{
    size_t m = graph->agents;
    *out = (network_layout){.agents = m};
    if (m > LAYOUT_MOST_AGENTS)
        return saddle_refuse(error, "%zu agents are too many for a drawing; at most %d are drawn",
                             m, LAYOUT_MOST_AGENTS);
    out->x = saddle_alloc(2 * m, sizeof *out->x);
    SADDLE_TRY(saddle_check_memory(out->x, "a drawing", error));
    out->y = out->x + m;
    saddle_status status = SADDLE_OK;
    switch (graph->shape) {
    case SADDLE_SHAPE_GRID:
        place_on_grid(out, graph->columns);
        break;
    case SADDLE_SHAPE_COMPLETE:
    case SADDLE_SHAPE_CIRCULANT:
    case SADDLE_SHAPE_NEAR_RING:
        place_on_circle(out);
        break;
    case SADDLE_SHAPE_PATH:
    case SADDLE_SHAPE_STAR:
    case SADDLE_SHAPE_HYPERCUBE:
        status = place_by_stress(out, graph, error);
        break;
    case SADDLE_SHAPE_TORUS:
    case SADDLE_SHAPE_IRREGULAR:
        if (m <= SMALL)
            place_on_circle(out);
        else
            status = place_by_stress(out, graph, error);
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
    *l = (network_layout){.agents = 0};
}
