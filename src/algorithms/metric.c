#include "algorithms/metric.h"

#include "core/dense.h"
#include "core/vector.h"
#include "core/world.h"

/* Correlations are made positive definite by this part of the sum of their eigenvalues, which is the dimension. It
 * bounds the ratio of H's largest to its least eigenvalue, in the units of D, by a million. */
#define RIDGE 1e-6

/* Returns row i of a lower triangle that is stored row by row. */
static double *row(double *triangle, size_t i)
{
    return triangle + saddle_triangle_size(i);
}

double saddle_metric_bytes(size_t dimension, bool may_be_full)
{
    return saddle_block_bytes(dimension * (2 + (may_be_full ? dimension + 1 : 0)), sizeof(double));
}

saddle_status saddle_metric_open(saddle_metric *metric, size_t dimension, bool may_be_full,
                                 saddle_error *error)
{
    size_t entries = may_be_full ? saddle_triangle_size(dimension) : 0;
    double *memory = saddle_alloc_doubles(2 * dimension + 2 * entries);
    *metric = (saddle_metric){.dimension = dimension, .diagonal = memory, .bound = 1.0};
    SADDLE_TRY(saddle_check_memory(memory, "the metric of steps", error));
    metric->root = memory + dimension;
    metric->factor = metric->root + dimension;
    metric->inverse = metric->factor + entries;
    saddle_metric_reset(metric);
    return SADDLE_OK;
}

void saddle_metric_close(saddle_metric *metric)
{
    saddle_free(metric->diagonal);
    metric->diagonal = NULL;
}

void saddle_metric_reset(saddle_metric *metric)
{
    metric->full = false;
    metric->bound = 1.0;
    for (size_t k = 0; k < metric->dimension; k++)
        metric->diagonal[k] = metric->root[k] = 1.0;
}

bool saddle_metric_set_diagonal(saddle_metric *metric, const double *diagonal)
{
    double most = 0.0;
    saddle_metric_reset(metric);
    for (size_t k = 0; k < metric->dimension; k++)
        most = fmax(most, diagonal[k]);
    if (!(most > 0.0) || !isfinite(saddle_sum(metric->dimension, diagonal)))
        return false;
    for (size_t k = 0; k < metric->dimension; k++) {
        metric->diagonal[k] = diagonal[k] > 0.0 ? diagonal[k] : most;
        metric->root[k] = sqrt(metric->diagonal[k]);
    }
    return true;
}

/* Replaces a matrix with the diagonal D by its correlations, and returns the largest sum of the sizes of a row's
 * entries, which bounds the eigenvalues. */
static double correlate(size_t dimension, const double *root, double *triangle)
{
    double largest = 0.0;
    for (size_t i = 0; i < dimension; i++) {
        for (size_t j = 0; j < i; j++)
            row(triangle, i)[j] /= root[i] * root[j];
        row(triangle, i)[i] = 1.0;
    }
    for (size_t i = 0; i < dimension; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < dimension; j++)
            sum += fabs(j <= i ? row(triangle, i)[j] : row(triangle, j)[i]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* Computes the inverse of a lower triangle. */
static void invert(size_t dimension, double *l, double *out)
{
    memset(out, 0, saddle_triangle_size(dimension) * sizeof *out);
    for (size_t i = 0; i < dimension; i++) {
        double *to = row(out, i);
        const double *from = row(l, i);
        to[i] = 1.0;
        for (size_t j = 0; j < i; j++)
            saddle_axpy(j + 1, -from[j], row(out, j), to);
        saddle_scale(i + 1, 1.0 / from[i], to);
    }
}

/* Sets H to a matrix, which is overwritten, and a ridge. Returns false, and H = D or I, if that is not finite. */
static bool set_full(saddle_metric *metric, double *triangle)
{
    size_t n = metric->dimension;
    double ridge = RIDGE * (double)n;
    for (size_t i = 0; i < n; i++)
        metric->factor[i] = row(triangle, i)[i];
    if (!saddle_metric_set_diagonal(metric, metric->factor))
        return false;
    double bound = correlate(n, metric->root, triangle) + ridge;
    for (size_t i = 0; i < n; i++)
        row(triangle, i)[i] += ridge;
    if (!isfinite(bound) || !saddle_factor_dense(n, triangle))
        return false;
    invert(n, triangle, metric->inverse);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            row(metric->factor, i)[j] = metric->root[i] * row(triangle, i)[j];
            row(metric->inverse, i)[j] /= metric->root[j];
        }
    metric->bound = bound;
    metric->full = true;
    return true;
}

/* ---- a mean over agents ----------------------------------------------------------------------- */

typedef struct mean {
    const saddle_metric *metric; /* R R' = M */
    double *matrices;
    size_t entries;
    double *columns; /* a column of H_i, then those of R^-1 H_i */
} mean;

static void add_matrix(void *context, size_t agent, double *out)
{
    const mean *m = context;
    memcpy(out, m->matrices + agent * m->entries, m->entries * sizeof *out);
}

/* H_i M^-1 H_i = (R^-1 H_i)'(R^-1 H_i) */
static void add_sandwich(void *context, size_t agent, double *out)
{
    const mean *m = context;
    size_t n = m->metric->dimension;
    double *triangle = m->matrices + agent * m->entries;
    double *column = m->columns;
    double *whitened = column + n;
    for (size_t k = 0; k < n; k++, whitened += n) {
        for (size_t i = 0; i < n; i++)
            column[i] = i <= k ? row(triangle, k)[i] : row(triangle, i)[k];
        saddle_metric_whiten(m->metric, column, whitened);
    }
    whitened = column + n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            row(out, i)[j] = saddle_dot(n, whitened + i * n, whitened + j * n);
}

/* Computes M in `sum`, then H in it and `other`. */
static saddle_status average(mean *m, const saddle_world *world, saddle_metric *metric, double *sum,
                             double *other, saddle_error *error)
{
    double agents = (double)world->agents;
    double c = sqrt(agents);
    SADDLE_TRY(saddle_world_sum(world, m->entries, add_matrix, m, sum, error));
    saddle_scale(m->entries, 1.0 / agents, sum);
    memcpy(other, sum, m->entries * sizeof *sum);
    if (!set_full(metric, other) || world->agents == 1)
        return SADDLE_OK;
    SADDLE_TRY(saddle_world_sum(world, m->entries, add_sandwich, m, other, error));
    for (size_t k = 0; k < m->entries; k++)
        sum[k] = (other[k] / agents + c * sum[k]) / (2.0 * sqrt(c));
    set_full(metric, sum);
    return SADDLE_OK;
}

double saddle_metric_mean_bytes(size_t dimension, size_t agents)
{
    size_t twice = dimension * (dimension + 1);
    size_t terms = saddle_world_sum_rows(agents) * (twice / 2);
    return saddle_metric_bytes(dimension, true) +
           saddle_block_bytes(2 * twice + terms, sizeof(double));
}

saddle_status saddle_metric_set_mean(saddle_metric *metric, const saddle_world *world,
                                     double *matrices, saddle_error *error)
{
    size_t n = metric->dimension;
    size_t entries = saddle_triangle_size(n);
    double *memory = saddle_alloc_doubles(2 * entries + n * (n + 1));
    saddle_metric found; /* replaces *metric when it is complete */
    saddle_status status = saddle_metric_open(&found, n, true, error);
    if (status == SADDLE_OK)
        status = saddle_check_memory(memory, "the metric of steps", error);
    status = saddle_world_agree(world, status, error);
    if (status == SADDLE_OK) {
        mean m = {.metric = &found,
                  .matrices = matrices,
                  .entries = entries,
                  .columns = memory + 2 * entries};
        status = average(&m, world, &found, memory, memory + entries, error);
    }
    if (status == SADDLE_OK && found.full) {
        saddle_metric before = *metric;
        *metric = found;
        found = before;
    }
    saddle_metric_close(&found);
    saddle_free(memory);
    return status;
}

/* ---- lengths ---------------------------------------------------------------------------------- */

void saddle_metric_whiten(const saddle_metric *metric, const double *g, double *out)
{
    for (size_t i = 0; i < metric->dimension; i++)
        out[i] =
            metric->full ? saddle_dot(i + 1, row(metric->inverse, i), g) : g[i] / metric->root[i];
}

/* out = T'v for a lower triangle T */
static void multiply_transposed(size_t dimension, double *triangle, const double *v, double *out)
{
    memset(out, 0, dimension * sizeof *out);
    for (size_t i = 0; i < dimension; i++)
        saddle_axpy(i + 1, v[i], row(triangle, i), out);
}

void saddle_metric_finish_solve(const saddle_metric *metric, const double *whitened, double *out)
{
    if (metric->full)
        multiply_transposed(metric->dimension, metric->inverse, whitened, out);
    for (size_t k = 0; k < metric->dimension && !metric->full; k++)
        out[k] = whitened[k] / metric->root[k];
}

/* Computes R'(a - b) in the second half of `work`. */
static const double *lengths(const saddle_metric *metric, const double *a, const double *b,
                             double *work)
{
    size_t n = metric->dimension;
    for (size_t k = 0; k < n; k++)
        work[k] = b != NULL ? a[k] - b[k] : a[k];
    if (metric->full)
        multiply_transposed(n, metric->factor, work, work + n);
    for (size_t k = 0; k < n && !metric->full; k++)
        work[n + k] = metric->root[k] * work[k];
    return work + n;
}

void saddle_metric_multiply(const saddle_metric *metric, const double *a, const double *b,
                            double *work, double *out)
{
    const double *length = lengths(metric, a, b, work);
    for (size_t i = 0; i < metric->dimension; i++)
        out[i] = metric->full ? saddle_dot(i + 1, row(metric->factor, i), length)
                              : metric->root[i] * length[i];
}

double saddle_metric_distance2(const saddle_metric *metric, const double *a, const double *b,
                               double *work)
{
    return saddle_norm2(metric->dimension, lengths(metric, a, b, work));
}
