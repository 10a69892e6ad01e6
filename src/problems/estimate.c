/* Estimating L and mu, if a problem does not know them, by difference quotients over random
 * pairs of points. */
#include <saddle/problem.h>

#include "core/elementary.h"
#include "core/float_mode.h"
#include "core/rng.h"
#include "core/vector.h"

/* The number of pairs of points, each at a random agent. */
#define PAIRS 64
/* The number of power iterations for L at each pair. */
#define POWER_STEPS 8
/* At points that are larger, losses may overflow. */
#define LARGE 1e60

typedef struct work {
    const saddle_problem *problem;
    const saddle_set *x_set;
    const saddle_set *y_set;
    size_t both;    /* x_dim + y_dim */
    double *first;  /* a point, x and y */
    double *second; /* another one */
    double *g1;     /* gradients there */
    double *g2;
    double *scratch;
    bool knows_mu; /* mu, whose quotients take gradients over all samples, is not estimated */
    bool failed;   /* whether a gradient in X and Y had an entry that is NaN */
} work;

/* Draws a point at a random relative distance between 1e-3 and 1 from `from`, and projects it. */
static void draw_point(work *w, saddle_rng *rng, const double *from, double *out)
{
    size_t x_dim = w->problem->x_dim;
    double size = 1.0 + sqrt(saddle_norm2(w->both, from) / (double)w->both);
    double scale = size * saddle_exp(-7.0 * saddle_rng_uniform(rng));
    for (size_t k = 0; k < w->both; k++)
        out[k] = from[k] + scale * saddle_rng_normal(rng);
    saddle_set_project(w->x_set, out, w->scratch);
    saddle_set_project(w->y_set, out + x_dim, w->scratch);
}

/* Returns whether no entry of the gradient is NaN, or the point is so large that this explains it. */
static bool gradient_at(work *w, size_t agent, const saddle_batch *batch, const double *z,
                        double *g)
{
    size_t x_dim = w->problem->x_dim;
    saddle_problem_gradient(w->problem, agent, batch, z, z + x_dim, g, g + x_dim, w->scratch);
    bool good = true;
    for (size_t k = 0; k < w->both; k++)
        good = good && !isnan(g[k]);
    for (size_t k = 0; k < w->both && !good; k++)
        good = !(fabs(z[k]) < LARGE);
    return good;
}

/* Returns whether `second` is in X and Y, where the problem's functions must be defined. Overwrites g1. */
static bool is_inside(work *w)
{
    memcpy(w->g1, w->second, w->both * sizeof *w->g1);
    saddle_set_project(w->x_set, w->g1, w->scratch);
    saddle_set_project(w->y_set, w->g1 + w->problem->x_dim, w->scratch);
    return memcmp(w->g1, w->second, w->both * sizeof *w->g1) == 0;
}

/* Returns the largest |grad f(z + h d) - grad f(z)| / h of one sample that a few power
 * iterations find from a random direction d. Random directions alone would miss a curvature that
 * is large in only a few of many coordinates. */
static double lipschitz_quotient(work *w, saddle_rng *rng, size_t agent, uint32_t sample)
{
    saddle_batch one = {.index = &sample, .count = 1};
    double step = 1e-5 * (1.0 + sqrt(saddle_norm2(w->both, w->first)));
    double most = 0.0;
    for (size_t k = 0; k < w->both; k++)
        w->g2[k] = saddle_rng_normal(rng);
    w->failed = !gradient_at(w, agent, &one, w->first, w->g1);
    for (int k = 0; k < POWER_STEPS && !w->failed; k++) {
        double length = sqrt(saddle_norm2(w->both, w->g2));
        if (!(length > 0.0))
            break;
        memcpy(w->second, w->first, w->both * sizeof *w->second);
        saddle_axpy(w->both, step / length, w->g2, w->second);
        if (!gradient_at(w, agent, &one, w->second, w->g2)) {
            w->failed = is_inside(w);
            break;
        }
        saddle_axpy(w->both, -1.0, w->g1, w->g2);
        double quotient = sqrt(saddle_norm2(w->both, w->g2)) / step;
        if (quotient > most)
            most = quotient;
    }
    return most;
}

/* -<grad_y F_i(x, y2) - grad_y F_i(x, y1), y2 - y1> / |y2 - y1|^2 */
static double concavity_quotient(work *w, size_t agent)
{
    size_t x_dim = w->problem->x_dim;
    size_t y_dim = w->problem->y_dim;
    saddle_batch all = {.index = NULL, .count = w->problem->samples[agent]};
    memcpy(w->second, w->first, x_dim * sizeof *w->second);
    w->failed = !gradient_at(w, agent, &all, w->first, w->g1) || w->failed;
    w->failed = !gradient_at(w, agent, &all, w->second, w->g2) || w->failed;
    double along = 0.0;
    for (size_t k = x_dim; k < w->both; k++)
        along -= (w->g2[k] - w->g1[k]) * (w->second[k] - w->first[k]);
    return along / saddle_distance2(y_dim, w->second + x_dim, w->first + x_dim);
}

/* Computes the largest L, the largest -mu and the largest -i of agents i that failed over the pairs whose
 * agents are in this process. Pairs whose points are projected onto the same point (quotient 0/0) are
 * skipped. */
static void scan_pairs(work *w, const double *centre, uint64_t seed, double extreme[3])
{
    const saddle_world *world = w->problem->world;
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        saddle_rng rng;
        saddle_rng_init(&rng, seed, SADDLE_RNG_ESTIMATE, pair, 0);
        size_t agent = (size_t)saddle_rng_below(&rng, w->problem->agents);
        if (world != NULL && !saddle_world_has(world, agent))
            continue;
        uint32_t sample = (uint32_t)saddle_rng_below(&rng, w->problem->samples[agent]);
        draw_point(w, &rng, centre, w->first);
        extreme[0] = fmax(extreme[0], lipschitz_quotient(w, &rng, agent, sample));
        if (!w->knows_mu) {
            draw_point(w, &rng, w->first, w->second);
            extreme[1] = fmax(extreme[1], -concavity_quotient(w, agent));
        }
        if (w->failed)
            extreme[2] = fmax(extreme[2], -(double)agent);
    }
}

saddle_status saddle_problem_estimate_constants(const saddle_problem *problem,
                                                const saddle_set *x_set, const saddle_set *y_set,
                                                const double *x, const double *y, uint64_t seed,
                                                saddle_constants *constants, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, problem, x_set, y_set, x, y, constants);
    if (constants->lipschitz > 0.0 && constants->strong_concavity > 0.0)
        return SADDLE_OK;
    size_t both = problem->x_dim + problem->y_dim;
    size_t scratch =
        saddle_larger(saddle_problem_scratch(problem),
                      saddle_larger(saddle_set_scratch(x_set), saddle_set_scratch(y_set)));
    double extreme[3] = {0.0, -INFINITY, -INFINITY};
    double *centre = saddle_alloc_doubles(5 * both + scratch);
    if (centre != NULL) {
        memcpy(centre, x, problem->x_dim * sizeof *centre);
        memcpy(centre + problem->x_dim, y, problem->y_dim * sizeof *centre);
        work w = {.problem = problem,
                  .x_set = x_set,
                  .y_set = y_set,
                  .both = both,
                  .first = centre + both,
                  .second = centre + 2 * both,
                  .g1 = centre + 3 * both,
                  .g2 = centre + 4 * both,
                  .scratch = centre + 5 * both,
                  .knows_mu = constants->strong_concavity > 0.0};
        scan_pairs(&w, centre, seed, extreme);
    }
    if (problem->world != NULL)
        problem->world->largest(problem->world, 3, extreme);
    SADDLE_TRY(saddle_check_memory(centre, "the estimate of L and mu", error));
    saddle_free(centre);
    if (extreme[2] > -INFINITY)
        return saddle_refuse(
            error,
            "an entry of gradient() of problem %.60s is nan at agent %.0f, at a point of X and Y "
            "around the start, where L and mu are estimated; check its functions",
            saddle_shown_name(problem->name), -extreme[2]);
    double lipschitz = extreme[0];
    double concavity = -extreme[1];
    if (!(constants->lipschitz > 0.0) && isfinite(lipschitz))
        constants->lipschitz = lipschitz;
    if (!(constants->strong_concavity > 0.0) && concavity > 0.0 && isfinite(concavity))
        constants->strong_concavity = concavity;
    constants->estimated = 1;
    return SADDLE_OK;
}
