/*
 * A random quadratic with a known saddle point (x*, y*), for tests and for comparison with the
 * theory.
 *
 * With the reflected coordinates s = H (x - x*), r = H' (y - y*) (H, H' Householder reflections),
 *
 *   f_ij = 1/2 sum_k A_k (1 + D e_ij) s_k^2 + sum_k B_k (1 + D e'_ij) s_k r_k
 *          - 1/2 sum_k C_k (1 + D e''_ij) r_k^2 + (a_i + a_ij)'(x - x*) + (b_i + b_ij)'(y - y*)
 *
 * The sum over k of the coupling runs to min(dim x, dim y). Samples come in pairs with opposite
 * deviations e in [-1, 1] and opposite noise a_ij, b_ij (an odd last sample has none), and agents
 * in pairs with opposite offsets a_i, b_i, so that these cancel exactly in F_i and in F:
 *   F = 1/2 s'As + s'Br - 1/2 r'Cr,  whose saddle point is (x*, y*), with
 *   y*(x) = y* + H' (B s / C),   Q(x) = 1/2 sum_k (A_k + B_k^2 / C_k) s_k^2.
 *
 * mu <= C_k <= K/2, |A_k| <= K/2, |B_k| <= K/2 with K = L / (1 + D): every 2x2 block of the Hessian
 * of f_ij has norm at most L, and F_i is mu-strongly concave in y. Curvature `nonconvex` makes
 * every other A_k negative while A_k + B_k^2 / C_k stays positive.
 */
#include "problems/problems.h"

#include "core/elementary.h"
#include "core/memory_limits.h"
#include "core/rng.h"
#include "core/vector.h"

#define GROUP "Problem quadratic"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)
/* D above: the largest relative deviation of a sample's Hessian. */
#define DEVIATION 0.5

typedef struct choices {
    uint64_t x_dim;
    uint64_t y_dim;
    double mu;
    double lipschitz;
    int curvature; /* CONVEX or NONCONVEX */
    double noise;
    double heterogeneity;
} choices;

/* The choices of --curvature. */
enum { CONVEX, NONCONVEX };

static const saddle_option *const options[] = {
    &(const saddle_option)SADDLE_INTEGER(OWN(x_dim), "x-dim", GROUP, "20", 1.0, 1e7, "N",
                                         "Dimension of x."),
    &(const saddle_option)SADDLE_INTEGER(OWN(y_dim), "y-dim", GROUP, "10", 1.0, 1e7, "N",
                                         "Dimension of y."),
    &(const saddle_option)SADDLE_REAL_ABOVE(OWN(mu), "mu", GROUP, "1", 0.0, SADDLE_UNBOUNDED, "MU",
                                            "Strong concavity mu of F in y."),
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(lipschitz), "lipschitz", GROUP, "10", 0.0, SADDLE_UNBOUNDED, "L",
        "Lipschitz constant L of every sample's gradient. It must be at least 3 mu."),
    &(const saddle_option)SADDLE_CHOICE(
        OWN(curvature), "curvature", GROUP, "nonconvex", "convex|nonconvex", "KIND",
        "Curvature of F in x.\n"
        "convex: F is strongly convex in x.\n"
        "nonconvex: F is nonconvex in x, but its maximum over y is strongly convex."),
    &(const saddle_option)SADDLE_REAL(
        OWN(noise), "noise", GROUP, "1", 0.0, SADDLE_UNBOUNDED, "S",
        "Size of the random linear terms by which samples of an agent differ."),
    &(const saddle_option)SADDLE_REAL(OWN(heterogeneity), "heterogeneity", GROUP, "1", 0.0,
                                      SADDLE_UNBOUNDED, "S",
                                      "Size of the random linear terms by which agents differ."),
    NULL};

/* One agent's terms. */
typedef struct share {
    double *offset;    /* a_i | b_i; the other arrays follow in the same block */
    double *deviation; /* e, e', e'' of every pair of samples */
    double *noise;     /* a_ij | b_ij of every pair of samples */
} share;

typedef struct instance {
    saddle_problem problem;  /* first: shares the address of the instance */
    share *agent;            /* filled in for the agents in this process */
    double *a, *b, *c;       /* A (x_dim), B (coupled), C (y_dim); one block begins at a */
    double *x_axis, *y_axis; /* unit normals of the reflections */
    double *x_star, *y_star;
    size_t coupled; /* min(x_dim, y_dim) */
    double mu;
    double lipschitz;
    bool convex;
} instance;

/* v -= 2 (axis'v) axis */
static void reflect(size_t count, const double *axis, double *v)
{
    saddle_axpy(count, -2.0 * saddle_dot(count, axis, v), axis, v);
}

/* (s | r) = (H (x - x0) | H' (y - y0)) */
static void to_axes(const instance *self, const double *x, const double *y, const double *x0,
                    const double *y0, double *s)
{
    size_t x_dim = self->problem.x_dim;
    size_t y_dim = self->problem.y_dim;
    double *r = s + x_dim;
    for (size_t k = 0; k < x_dim; k++)
        s[k] = x[k] - x0[k];
    for (size_t k = 0; k < y_dim; k++)
        r[k] = y[k] - y0[k];
    reflect(x_dim, self->x_axis, s);
    reflect(y_dim, self->y_axis, r);
}

/* Returns +1 and -1 for the two of a pair, 0 for an odd last one. */
static double pair_sign(size_t index, size_t count)
{
    if (index % 2 == 0 && index + 1 == count)
        return 0.0;
    return index % 2 == 0 ? 1.0 : -1.0;
}

/* Returns whether a range of samples also contains the other sample of the pair. */
static bool is_paired(const saddle_batch *batch, size_t sample)
{
    size_t other = sample % 2 == 0 ? sample + 1 : sample - 1;
    return batch->index == NULL && other - batch->first < batch->count;
}

/* Computes the gradient of the quadratic terms, given their factors f = 1 + D e:
 * out = (H (f0 A s + f1 B r) | H' (f1 B s - f2 C r)) */
static void curve_gradient(const instance *self, const double f[3], const double *s, double *out)
{
    size_t x_dim = self->problem.x_dim;
    size_t y_dim = self->problem.y_dim;
    const double *r = s + x_dim;
    double *gy = out + x_dim;
    for (size_t k = 0; k < x_dim; k++)
        out[k] = f[0] * self->a[k] * s[k];
    for (size_t k = 0; k < y_dim; k++)
        gy[k] = -f[2] * self->c[k] * r[k];
    for (size_t k = 0; k < self->coupled; k++) {
        out[k] += f[1] * self->b[k] * r[k];
        gy[k] += f[1] * self->b[k] * s[k];
    }
    reflect(x_dim, self->x_axis, out);
    reflect(y_dim, self->y_axis, gy);
}

/* Returns the value of the quadratic terms. */
static double curve_value(const instance *self, const double f[3], const double *s)
{
    const double *r = s + self->problem.x_dim;
    double sum = 0.0;
    for (size_t k = 0; k < self->problem.x_dim; k++)
        sum += 0.5 * f[0] * self->a[k] * s[k] * s[k];
    for (size_t k = 0; k < self->coupled; k++)
        sum += f[1] * self->b[k] * s[k] * r[k];
    for (size_t k = 0; k < self->problem.y_dim; k++)
        sum -= 0.5 * f[2] * self->c[k] * r[k] * r[k];
    return sum;
}

/* For each sample, adds weight (1 + D e) to the three factors and
 * weight (a_i + a_ij | b_i + b_ij) to `linear`. Terms that cancel within a pair are skipped. */
static void add_terms(const instance *self, size_t agent, const saddle_batch *batch, double weight,
                      double f[3], double *linear)
{
    size_t both = self->problem.x_dim + self->problem.y_dim;
    const share *own = &self->agent[agent];
    double total = weight * (double)batch->count;
    for (size_t c = 0; c < 3; c++)
        f[c] += total;
    saddle_axpy(both, total, own->offset, linear);
    for (size_t k = 0; k < batch->count; k++) {
        size_t j = saddle_batch_sample(batch, k);
        double sign = weight * pair_sign(j, self->problem.samples[agent]);
        if (sign == 0.0 || is_paired(batch, j))
            continue;
        for (size_t c = 0; c < 3; c++)
            f[c] += DEVIATION * sign * own->deviation[3 * (j / 2) + c];
        saddle_axpy(both, sign, own->noise + j / 2 * both, linear);
    }
}

/* Returns the sum of the squared norms of the samples' gradients; scratch: twice both
 * dimensions. */
static double sum_squares(const instance *self, size_t agent, const saddle_batch *batch,
                          const double *s, double *scratch)
{
    size_t both = self->problem.x_dim + self->problem.y_dim;
    double *linear = scratch;
    double *g = linear + both;
    double sum = 0.0;
    for (size_t k = 0; k < batch->count; k++) {
        saddle_batch one = {.first = saddle_batch_sample(batch, k), .count = 1};
        double f[3] = {0.0, 0.0, 0.0};
        memset(linear, 0, both * sizeof *linear);
        add_terms(self, agent, &one, 1.0, f, linear);
        curve_gradient(self, f, s, g);
        saddle_axpy(both, 1.0, linear, g);
        sum += saddle_norm2(both, g);
    }
    return sum;
}

/* The gradient is affine, so a difference is the quadratic terms' gradient at (x - x0, y - y0). */
static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = problem->self;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    double *s = scratch;
    double *linear = s + x_dim + y_dim;
    double *g = linear + x_dim + y_dim;
    double f[3] = {0.0, 0.0, 0.0};
    const double *x0 = part->x0 != NULL ? part->x0 : self->x_star;
    const double *y0 = part->x0 != NULL ? part->y0 : self->y_star;
    to_axes(self, part->x, part->y, x0, y0, s);
    if (part->square != NULL)
        *part->square += part->scale * sum_squares(self, agent, &part->batch, s, linear);
    memset(linear, 0, (x_dim + y_dim) * sizeof *linear);
    add_terms(self, agent, &part->batch, part->scale, f, linear);
    if (part->value != NULL) {
        double sum = curve_value(self, f, s);
        for (size_t k = 0; k < x_dim; k++)
            sum += linear[k] * (part->x[k] - self->x_star[k]);
        for (size_t k = 0; k < y_dim; k++)
            sum += linear[x_dim + k] * (part->y[k] - self->y_star[k]);
        *part->value += sum;
    }
    if (part->gx == NULL && part->gy == NULL)
        return;
    curve_gradient(self, f, s, g);
    if (part->x0 == NULL)
        saddle_axpy(x_dim + y_dim, 1.0, linear, g);
    if (part->gx != NULL)
        saddle_axpy(x_dim, 1.0, g, part->gx);
    if (part->gy != NULL)
        saddle_axpy(y_dim, 1.0, g + x_dim, part->gy);
}

static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    (void)statistic;
    if (!saddle_set_is_whole_space(y_set))
        return false;
    const instance *self = problem->self;
    to_axes(self, x, self->y_star, self->x_star, self->y_star, scratch);
    for (size_t k = 0; k < self->coupled; k++)
        y[k] = self->b[k] * scratch[k] / self->c[k];
    for (size_t k = self->coupled; k < problem->y_dim; k++)
        y[k] = 0.0;
    reflect(problem->y_dim, self->y_axis, y);
    saddle_axpy(problem->y_dim, 1.0, self->y_star, y);
    return true;
}

static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)x_set;
    (void)error;
    const instance *self = problem->self;
    out->lipschitz = self->lipschitz;
    out->strong_concavity = self->mu;
    /* Without a constraint on y, Q is known: 1/2 sum_k (A_k + B_k^2 / C_k) s_k^2. */
    if (saddle_set_is_whole_space(y_set)) {
        out->primal_bound = 0.0;
        out->has_primal_bound = true;
    }
    return SADDLE_OK;
}

static bool solution(const saddle_problem *problem, double *x, double *y)
{
    const instance *self = problem->self;
    memcpy(x, self->x_star, problem->x_dim * sizeof *x);
    memcpy(y, self->y_star, problem->y_dim * sizeof *y);
    return true;
}

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    for (size_t i = 0; self->agent != NULL && i < problem->agents; i++)
        saddle_free(self->agent[i].offset);
    saddle_free(self->agent);
    saddle_free(self->a);
}

static void fill_normal(saddle_rng *rng, size_t count, double scale, double *out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = scale * saddle_rng_normal(rng);
}

/* Draws what all agents share, from the stream of agent number SIZE_MAX. */
static void draw_shape(instance *self, uint64_t seed)
{
    size_t x_dim = self->problem.x_dim;
    size_t y_dim = self->problem.y_dim;
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_INSTANCE, SIZE_MAX, 0);
    fill_normal(&rng, x_dim, 1.0, self->x_axis);
    fill_normal(&rng, y_dim, 1.0, self->y_axis);
    saddle_scale(x_dim, 1.0 / sqrt(saddle_norm2(x_dim, self->x_axis)), self->x_axis);
    saddle_scale(y_dim, 1.0 / sqrt(saddle_norm2(y_dim, self->y_axis)), self->y_axis);
    fill_normal(&rng, x_dim, 1.0, self->x_star);
    fill_normal(&rng, y_dim, 1.0, self->y_star);

    double top = self->lipschitz / (1.0 + DEVIATION) / 2.0;
    double range = saddle_log(top / self->mu);
    for (size_t k = 0; k < y_dim; k++)
        self->c[k] =
            self->mu * saddle_exp(range * (y_dim > 1 ? (double)k / (double)(y_dim - 1) : 0));
    for (size_t k = 0; k < self->coupled; k++)
        self->b[k] = top * (0.5 + 0.5 * saddle_rng_uniform(&rng));
    for (size_t k = 0; k < x_dim; k++) {
        self->a[k] = self->mu * saddle_exp(range * saddle_rng_uniform(&rng));
        if (!self->convex && k < self->coupled && k % 2 == 0)
            self->a[k] = -0.5 * fmin(top, self->b[k] * self->b[k] / self->c[k]);
    }
}

/* Returns the number of doubles of an agent's terms. */
static size_t share_size(const instance *self, size_t agent)
{
    size_t both = self->problem.x_dim + self->problem.y_dim;
    size_t pairs = self->problem.samples[agent] / 2;
    return pairs < SIZE_MAX / (both + 4) ? both + pairs * (3 + both) : SIZE_MAX;
}

/* Draws an agent's terms; returns false if memory is short. */
static bool draw_share(instance *self, size_t agent, uint64_t seed, const choices *chosen)
{
    size_t both = self->problem.x_dim + self->problem.y_dim;
    size_t pairs = self->problem.samples[agent] / 2;
    share *own = &self->agent[agent];
    own->offset = saddle_alloc_doubles(share_size(self, agent));
    if (own->offset == NULL)
        return false;
    own->deviation = own->offset + both;
    own->noise = own->deviation + 3 * pairs;
    saddle_rng rng;
    /* Both agents of a pair draw the same offset and give it opposite signs. */
    saddle_rng_init(&rng, seed, SADDLE_RNG_INSTANCE, agent / 2, 1);
    fill_normal(&rng, both, chosen->heterogeneity * pair_sign(agent, self->problem.agents),
                own->offset);
    saddle_rng_init(&rng, seed, SADDLE_RNG_INSTANCE, agent, 2);
    for (size_t k = 0; k < 3 * pairs; k++)
        own->deviation[k] = 2.0 * saddle_rng_uniform(&rng) - 1.0;
    fill_normal(&rng, pairs * both, chosen->noise, own->noise);
    return true;
}

/* Allocates the memory of what all agents share. */
static void take_common(instance *self, saddle_allocator *allocator)
{
    size_t both = self->problem.x_dim + self->problem.y_dim;
    self->agent = saddle_allocator_block(allocator, self->problem.agents, sizeof *self->agent);
    self->a = saddle_allocator_block(allocator, 3 * both + self->coupled, sizeof *self->a);
}

/* Refuses sizes for which there is not enough memory. */
static saddle_status check_memory(instance *self, const saddle_world *world, saddle_error *error)
{
    saddle_allocator allocator = {.count_only = true};
    take_common(self, &allocator);
    for (size_t k = 0; k < world->local; k++)
        allocator.bytes += saddle_block_bytes(share_size(self, world->here[k]), sizeof *self->a);
    return saddle_need_check_one(allocator.bytes, "the agents' samples",
                                 "use fewer agents, samples or dimensions", error);
}

static saddle_status allocate(instance *self, saddle_error *error)
{
    size_t x_dim = self->problem.x_dim;
    size_t y_dim = self->problem.y_dim;
    saddle_allocator allocator = {0};
    take_common(self, &allocator);
    if (allocator.failed)
        return saddle_no_memory(error, "the problem");
    self->b = self->a + x_dim;
    self->c = self->b + self->coupled;
    self->x_axis = self->c + y_dim;
    self->y_axis = self->x_axis + x_dim;
    self->x_star = self->y_axis + y_dim;
    self->y_star = self->x_star + x_dim;
    return SADDLE_OK;
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    const choices *chosen = inputs->options;
    double mu = chosen->mu;
    double lipschitz = chosen->lipschitz;
    if (!(lipschitz >= 2.0 * (1.0 + DEVIATION) * mu))
        return saddle_refuse(error, "--lipschitz: %g is too small for mu = %g; give at least %g",
                             lipschitz, mu, 2.0 * (1.0 + DEVIATION) * mu);
    size_t x_dim = (size_t)chosen->x_dim;
    size_t y_dim = (size_t)chosen->y_dim;
    self->coupled = x_dim < y_dim ? x_dim : y_dim;
    self->mu = mu;
    self->lipschitz = lipschitz;
    self->convex = chosen->curvature == CONVEX;
    self->problem.x_dim = x_dim;
    self->problem.y_dim = y_dim;
    self->problem.scratch = 3 * (x_dim + y_dim);
    /* With negative curvature in x, y must move faster than x by half the condition number for
     * descent-ascent to be stable. */
    self->problem.tau = self->convex ? lipschitz : 0.5 * lipschitz * lipschitz / mu;
    self->problem.alpha = 1.0 / lipschitz;
    SADDLE_TRY(check_memory(self, inputs->world, error));
    SADDLE_TRY(allocate(self, error));
    draw_shape(self, inputs->seed);
    for (size_t k = 0; k < inputs->world->local; k++)
        if (!draw_share(self, inputs->world->here[k], inputs->seed, chosen))
            return saddle_no_memory(error, "the agents' samples");
    return SADDLE_OK;
}

const saddle_problem_class saddle_quadratic = {
    .name = "quadratic",
    .summary = "random quadratic function with a known saddle point and given mu and L, for tests",
    .needs_data = false,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .common = {.add_samples = add_samples,
               .response_solve = response_solve,
               .constants = constants,
               .solution = solution,
               .release = release},
};
