/*
 * Extreme eigenvalues of L and M on the complement of the all-ones vector.
 *
 * Both matrices are symmetric and have the all-ones vector as an eigenvector: with eigenvalue 0, the
 * smallest of L, and 1, the largest of M. What matters are the two ends of the remaining spectrum.
 *
 *   Closed forms of L: a path of n has 4 sin^2(pi k / 2n), a circle 4 sin^2(pi k / n), a star 1
 *   and n, a complete graph n; grids, tori and hypercubes are Cartesian products, whose
 *   eigenvalues are the sums of their factors'; a circulant graph with offsets S has
 *   sum_{s in S} 2 sin^2(pi k s / n), in O(n |S|). When all weights of M are equal to w,
 *   M = I - w L.
 *   LAPACK: all eigenvalues of the dense matrix, O(m^3); at 2000 agents 0.6 s with OpenBLAS,
 *   about 4 s with the reference BLAS.
 *   ARPACK: implicitly restarted Lanczos on the sparse matrix, with the all-ones vector deflated
 *   to an eigenvalue inside the range of the others.
 */
#include "graph/spectrum.h"

#include <arpack/arpack.h>
#include <lapacke.h>
#include <pthread.h>

#include "core/elementary.h"
#include "core/float_mode.h"
#include "core/memory_limits.h"
#include "core/rng.h"
#include "core/vector.h"
#include "graph/edges.h"

/* Largest graph for the dense method. */
enum { DENSE_AGENTS = 2000 };

/* Vectors ARPACK keeps between restarts. */
enum { LANCZOS_VECTORS = 40 };
#define REMEDY "use fewer agents"

/* The two ends of a spectrum without the eigenvalue of the all-ones vector. */
typedef struct ends {
    double low;
    double high;
} ends;

/* L when weight is NULL, M otherwise. */
typedef struct matrix {
    const saddle_graph *graph;
    const double *weight;
    const double *self_weight;
} matrix;

/* ---- closed forms ---- */

static double sin_squared_pi(double v)
{
    double s = saddle_sinpi(v);
    return s * s;
}

/* Returns the ends of L of a path or circle; a circle of two is a path. n >= 2. */
static ends side_ends(size_t n, bool circle)
{
    double size = (double)n;
    size_t half = n / 2;
    if (circle && n > 2)
        return (ends){4.0 * sin_squared_pi(1.0 / size), 4.0 * sin_squared_pi((double)half / size)};
    return (ends){4.0 * sin_squared_pi(0.5 / size),
                  4.0 * sin_squared_pi(0.5 * (size - 1.0) / size)};
}

/* Returns the ends of the product of two sides, one of which may have length 1. */
static ends lattice_ends(size_t rows, size_t columns, bool circle)
{
    if (rows == 1 || columns == 1)
        return side_ends(rows * columns, circle);
    ends r = side_ends(rows, circle);
    ends c = side_ends(columns, circle);
    return (ends){fmin(r.low, c.low), r.high + c.high};
}

/* Agent 0's neighbours are the offsets. Eigenvalue m - k equals eigenvalue k. */
static ends circulant_ends(const saddle_graph *graph)
{
    size_t m = graph->agents;
    ends found = {INFINITY, 0.0};
    for (size_t k = 1; k <= m / 2; k++) {
        double value = 0.0;
        for (size_t s = graph->start[0]; s < graph->start[1]; s++)
            value += 2.0 * sin_squared_pi((double)(k * graph->neighbour[s] % m) / (double)m);
        found.low = fmin(found.low, value);
        found.high = fmax(found.high, value);
    }
    return found;
}

/* Returns false when the graph has no closed form. At least two agents. */
static bool closed_laplacian_ends(const saddle_graph *graph, ends *out)
{
    double m = (double)graph->agents;
    switch (graph->shape) {
    case SADDLE_SHAPE_PATH:
    case SADDLE_SHAPE_GRID:
    case SADDLE_SHAPE_TORUS:
        *out = lattice_ends(graph->rows, graph->columns, graph->shape == SADDLE_SHAPE_TORUS);
        return true;
    case SADDLE_SHAPE_STAR:
        *out = (ends){graph->agents == 2 ? 2.0 : 1.0, m};
        return true;
    case SADDLE_SHAPE_COMPLETE:
        *out = (ends){m, m};
        return true;
    case SADDLE_SHAPE_HYPERCUBE:
        *out = (ends){2.0, 2.0 * (double)graph->start[1]};
        return true;
    case SADDLE_SHAPE_CIRCULANT:
        *out = circulant_ends(graph);
        return true;
    case SADDLE_SHAPE_IRREGULAR:
    case SADDLE_SHAPE_NEAR_RING:
        break;
    }
    return false;
}

/* Uses M = I - w L if all weights of M equal w; false if they do not, or if L has no closed form. */
static bool closed_ends(const matrix *a, ends *out)
{
    for (size_t k = 1; a->weight != NULL && k < 2 * a->graph->edges; k++)
        if (a->weight[k] != a->weight[0])
            return false;
    if (!closed_laplacian_ends(a->graph, out))
        return false;
    if (a->weight != NULL)
        *out = (ends){1.0 - a->weight[0] * out->high, 1.0 - a->weight[0] * out->low};
    return true;
}

/* ---- the matrices ---- */

static double diagonal_entry(const matrix *a, size_t i)
{
    return a->weight != NULL ? a->self_weight[i]
                             : (double)(a->graph->start[i + 1] - a->graph->start[i]);
}

/* y = A x */
static void multiply(const matrix *a, const double *restrict x, double *restrict y)
{
    const saddle_graph *graph = a->graph;
    for (size_t i = 0; i < graph->agents; i++) {
        double sum = 0.0;
        if (a->weight != NULL) {
            for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
                sum += a->weight[k] * x[graph->neighbour[k]];
        } else {
            for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
                sum -= x[graph->neighbour[k]];
        }
        y[i] = diagonal_entry(a, i) * x[i] + sum;
    }
}

/* ---- LAPACK ---- */

static saddle_status dense_ends(const matrix *a, ends *out, saddle_error *error)
{
    const saddle_graph *graph = a->graph;
    size_t m = graph->agents;
    SADDLE_TRY(saddle_need_check_one(saddle_block_bytes(m + 1, m * sizeof(double)),
                                     "the matrix for its eigenvalues", REMEDY, error));
    /* The matrix, then its eigenvalues. */
    double *dense = saddle_alloc(m + 1, m * sizeof *dense);
    SADDLE_TRY(saddle_check_memory(dense, "a dense matrix", error));
    double *value = dense + m * m;
    for (size_t i = 0; i < m; i++) {
        dense[i * m + i] = diagonal_entry(a, i);
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            dense[i * m + graph->neighbour[k]] = a->weight != NULL ? a->weight[k] : -1.0;
    }
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', (lapack_int)m, dense, (lapack_int)m, value);
    /* In ascending order; the all-ones vector's is M's last and L's first. */
    bool top = a->weight != NULL;
    *out = (ends){value[top ? 0 : 1], value[top ? m - 2 : m - 1]};
    saddle_free(dense);
    if (info == 0)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_NUMERIC,
                       "LAPACK's dsyevd found no eigenvalues of the %zu-agent matrix (info %d)", m,
                       (int)info);
}

/* ---- ARPACK ---- */

/* ARPACK keeps its state between calls in static variables, so only one solve can run at a time. */
static pthread_mutex_t arpack_turn = PTHREAD_MUTEX_INITIALIZER;

/* One solve's memory; see dsaupd's manual for the names. */
typedef struct lanczos {
    saddle_allocator memory; /* of the arrays below */
    a_int size;
    a_int vectors; /* ncv */
    a_int work;    /* lworkl */
    double *basis;
    double *workd;
    double *workl;
    double *residual; /* the start vector on entry */
} lanczos;

static void lanczos_take(lanczos *l, size_t m)
{
    saddle_allocator *allocator = &l->memory;
    size_t vectors = m < LANCZOS_VECTORS ? m : LANCZOS_VECTORS;
    l->size = (a_int)m;
    l->vectors = (a_int)vectors;
    l->work = (a_int)(vectors * (vectors + 8));
    l->basis = saddle_allocator_block(allocator, m * vectors, sizeof(double));
    l->workd = saddle_allocator_block(allocator, 3 * m, sizeof(double));
    l->workl = saddle_allocator_block(allocator, (size_t)l->work, sizeof(double));
    l->residual = saddle_allocator_block(allocator, m, sizeof(double));
}

static saddle_status lanczos_create(lanczos *l, size_t m, saddle_error *error)
{
    l->memory.count_only = true;
    lanczos_take(l, m);
    SADDLE_TRY(saddle_need_check_one(l->memory.bytes, "the Lanczos vectors", REMEDY, error));
    l->memory.count_only = false;
    lanczos_take(l, m);
    return l->memory.failed ? saddle_no_memory(error, "the Lanczos vectors") : SADDLE_OK;
}

static void subtract_mean(double *v, size_t m)
{
    double mean = saddle_sum(m, v) / (double)m;
    for (size_t i = 0; i < m; i++)
        v[i] -= mean;
}

/*
 * The matrix that ARPACK sees for one end: B = sign (A - origin I) on the complement of the all-ones
 * vector, with sign and origin such that the wanted eigenvalue is B's largest and all are at least 1.
 * ARPACK's tolerance is relative to the eigenvalue, and that of A itself might be zero.
 */
typedef struct shifted {
    const matrix *a;
    double origin;
    double sign;
    double inner; /* replaces A's eigenvalue of the all-ones vector */
} shifted;

/* y = B x */
static void multiply_shifted(const shifted *b, const double *x, double *y)
{
    size_t m = b->a->graph->agents;
    double mean = saddle_sum(m, x) / (double)m;
    /* A x minus its mean is A times (x minus its mean), because A maps the complement to itself. */
    multiply(b->a, x, y);
    subtract_mean(y, m);
    for (size_t i = 0; i < m; i++)
        y[i] = b->sign * (y[i] + b->inner * mean - b->origin * x[i]);
}

/* Returns a point one beyond A's eigenvalues; by Gershgorin, M's are in [-1, 1] and L's in [0, 2 d_max]. */
static double outer_point(const matrix *a, bool high)
{
    if (a->weight != NULL)
        return high ? 2.0 : -2.0;
    double most = 0.0;
    for (size_t i = 0; i < a->graph->agents; i++)
        most = fmax(most, diagonal_entry(a, i));
    return high ? 2.0 * most + 1.0 : -1.0;
}

/* Sets a fixed random start in the complement; returns its Rayleigh quotient, which is inside the spectrum. */
static double start_vector(const matrix *a, lanczos *l)
{
    size_t m = a->graph->agents;
    saddle_rng rng;
    saddle_rng_init(&rng, 0, SADDLE_RNG_TOPOLOGY, UINT64_MAX, 0);
    for (size_t i = 0; i < m; i++)
        l->residual[i] = saddle_rng_uniform(&rng) - 0.5;
    subtract_mean(l->residual, m);
    multiply(a, l->residual, l->workd);
    return saddle_dot(m, l->residual, l->workd) / saddle_norm2(m, l->residual);
}

/* Returns the number of restarts that keep a solve within some minutes. */
static a_int allowed_restarts(const matrix *a, const lanczos *l)
{
    double per_step = 2.0 * (double)a->graph->edges + 4.0 * (double)l->vectors * (double)l->size;
    double restarts = 2e11 / (per_step * (double)l->vectors);
    return restarts > 10000.0 ? 10000 : restarts < 100.0 ? 100 : (a_int)restarts;
}

/* Computes the largest or the smallest eigenvalue. */
static saddle_status sparse_end(const matrix *a, lanczos *l, bool high, double *out,
                                saddle_error *error)
{
    /* The error of an eigenvalue is about the square of this residual divided by the gap to the next one. */
    const double tolerance = 1e-10;
    a_int ido = 0;
    a_int info = 1;
    a_int pointer[14] = {0};
    a_int parameter[11] = {[0] = 1, [2] = allowed_restarts(a, l), [3] = 1, [6] = 1};
    double theta = NAN;
    shifted b = {.a = a, .origin = outer_point(a, !high), .sign = high ? 1.0 : -1.0};
    b.inner = start_vector(a, l);
    for (;;) {
        dsaupd_c(&ido, "I", l->size, "LA", 1, tolerance, l->residual, l->vectors, l->basis, l->size,
                 parameter, pointer, l->workd, l->workl, l->work, &info);
        if (ido != -1 && ido != 1)
            break;
        multiply_shifted(&b, l->workd + pointer[0] - 1, l->workd + pointer[1] - 1);
    }
    if (info == 0) {
        a_int select[LANCZOS_VECTORS] = {0};
        dseupd_c(0, "A", select, &theta, l->basis, l->size, 0.0, "I", l->size, "LA", 1, tolerance,
                 l->residual, l->vectors, l->basis, l->size, parameter, pointer, l->workd, l->workl,
                 l->work, &info);
    }
    if (info != 0 || !isfinite(theta))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "ARPACK did not find the %s eigenvalue of the %zu-agent %s in %d "
                           "restarts (info %d): it lies too close to the next one; use %sfewer "
                           "agents or more edges",
                           high ? "largest" : "smallest", a->graph->agents,
                           a->weight != NULL ? "mixing matrix" : "Laplacian", (int)parameter[2],
                           (int)info, a->weight != NULL ? "" : "metropolis weights, ");
    *out = b.origin + b.sign * theta;
    return SADDLE_OK;
}

/* Computes by ARPACK only the ends that are wanted. */
static saddle_status sparse_ends(const matrix *a, bool low, bool high, ends *out,
                                 saddle_error *error)
{
    lanczos l = {0};
    saddle_status status = lanczos_create(&l, a->graph->agents, error);
    pthread_mutex_lock(&arpack_turn);
    SADDLE_THEN_IF(status, low, sparse_end(a, &l, false, &out->low, error));
    SADDLE_THEN_IF(status, high, sparse_end(a, &l, true, &out->high, error));
    pthread_mutex_unlock(&arpack_turn);
    saddle_allocator_free(&l.memory);
    return status;
}

/* ---- L and M ---- */

/* Computes the ends that are wanted; *used receives the name of the method. */
static saddle_status find_ends(const matrix *a, saddle_spectrum_method method, bool low, bool high,
                               ends *out, const char **used, saddle_error *error)
{
    size_t agents = a->graph->agents;
    bool any = method == SADDLE_SPECTRUM_AUTO;
    *out = (ends){0.0, 0.0};
    *used = "closed form";
    if (agents == 1 || ((any || method == SADDLE_SPECTRUM_CLOSED) && closed_ends(a, out)))
        return SADDLE_OK;
    if (method == SADDLE_SPECTRUM_CLOSED)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the %s on topology '%s' has no closed-form eigenvalues",
                           a->weight != NULL ? "mixing matrix" : "Laplacian", a->graph->text);
    bool dense = method == SADDLE_SPECTRUM_LAPACK || (any && agents <= DENSE_AGENTS);
    *used = dense ? "LAPACK" : "ARPACK";
    return dense ? dense_ends(a, out, error) : sparse_ends(a, low, high, out, error);
}

saddle_status saddle_laplacian_ends(const saddle_graph *graph, saddle_spectrum_method method,
                                    double *second, double *largest, saddle_error *error)
{
    ends found;
    matrix laplacian = {.graph = graph};
    const char *used;
    SADDLE_TRY(
        find_ends(&laplacian, method, second != NULL, largest != NULL, &found, &used, error));
    if (second != NULL)
        *second = found.low;
    if (largest != NULL)
        *largest = found.high;
    return SADDLE_OK;
}

/* Checks first, because LAPACK and ARPACK print to the terminal when they find a NaN. */
static saddle_status check_finite(const saddle_mixing *mixing, saddle_error *error)
{
    const saddle_graph *graph = mixing->graph;
    size_t place = saddle_first_nonfinite(2 * graph->edges, mixing->weight);
    size_t agent = saddle_first_nonfinite(graph->agents, mixing->self_weight);
    if (place < 2 * graph->edges) {
        agent = 0;
        while (graph->start[agent + 1] <= place)
            agent++;
    }
    if (agent == graph->agents)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_NUMERIC,
                       "row %zu of the mixing matrix is not finite; it has no eigenvalues", agent);
}

saddle_status saddle_mixing_spectrum_by(const saddle_mixing *mixing, saddle_spectrum_method method,
                                        saddle_spectrum *out, saddle_error *error)
{
    matrix m = {
        .graph = mixing->graph, .weight = mixing->weight, .self_weight = mixing->self_weight};
    ends found;
    const char *used;
    SADDLE_TRY(check_finite(mixing, error));
    SADDLE_TRY(find_ends(&m, method, true, true, &found, &used, error));
    double lambda = fmax(fabs(found.high), fabs(found.low));
    *out = (saddle_spectrum){.lambda2 = found.high,
                             .lambda_m = found.low,
                             .lambda = lambda,
                             .gap = 1.0 - lambda,
                             .method = used};
    return SADDLE_OK;
}

saddle_status saddle_mixing_spectrum(const saddle_mixing *mixing, saddle_spectrum *out,
                                     saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, mixing, out);
    return saddle_mixing_spectrum_by(mixing, SADDLE_SPECTRUM_AUTO, out, error);
}
