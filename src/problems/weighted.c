/*
 * A problem in which agents have weights: its objective is (1/m) sum_i w_i F_i instead of (1/m)
 * sum_i F_i, over the m agents that count. For weights by size, w_i = m n_i / N with N = sum_i n_i,
 * it is sum_i (n_i / N) F_i.
 *
 * Agent i's samples are multiplied by w_i. The terms that all samples of all agents share
 * (add_common) are not weighted: the w_i have mean 1, so these terms contribute the same to the
 * objective, and best responses still follow from the mean over agents of their statistics.
 *
 * The weighted problem is a copy of the other one, `self` included, in which the functions that compute an agent's
 * own terms are replaced. They call those of the other problem or, if that has numbers that depend on
 * the weights (saddle_problem::shared), with a second copy of it that has the numbers for these weights. Outcomes are
 * those of the other problem in the same way.
 */
#include "problems/device_problem.h"
#include "problems/problem_choice.h"

typedef struct instance {
    saddle_problem problem;   /* first: shares the address of the instance */
    const saddle_problem *of; /* the other problem, or `with` */
    saddle_problem with;      /* the other problem with the numbers for these weights */
    const double *weight;     /* w_i; borrowed */
} instance;

static const instance *instance_of(const saddle_problem *problem)
{
    return (const instance *)(const void *)problem;
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = instance_of(problem);
    double square = 0.0;
    saddle_part p = *part;
    p.scale = part->scale * self->weight[agent];
    p.square = part->square != NULL ? &square : NULL;
    self->of->add_samples(self->of, agent, &p, scratch);
    /* The scale already contains one factor w_i. */
    if (part->square != NULL)
        *part->square += self->weight[agent] * square;
}

static void scale(size_t count, double by, double *v)
{
    for (size_t k = 0; k < count; k++)
        v[k] *= by;
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const instance *self = instance_of(problem);
    self->of->gradient(self->of, agent, batch, x, y, gx, gy, scratch);
    scale(problem->x_dim, self->weight[agent], gx);
    scale(problem->y_dim, self->weight[agent], gy);
}

static void gradients(const saddle_problem *problem, const saddle_gradient_requests *requests)
{
    const instance *self = instance_of(problem);
    self->of->gradients(self->of, requests);
    for (size_t k = 0; k < requests->count; k++) {
        double weight = self->weight[requests->agent[k]];
        scale(problem->x_dim, weight, requests->gx + k * problem->x_dim);
        scale(problem->y_dim, weight, requests->gy + k * problem->y_dim);
    }
}

/* The engine multiplies them by the weights of device(). */
static void card_gradients(const saddle_problem *problem, const saddle_card_requests *requests)
{
    const instance *self = instance_of(problem);
    self->of->card_gradients(self->of, requests);
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const instance *self = instance_of(problem);
    return self->weight[agent] * self->of->value(self->of, agent, x, y, scratch);
}

static void response_statistic(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch)
{
    const instance *self = instance_of(problem);
    self->of->response_statistic(self->of, agent, x, statistic, scratch);
    scale(problem->response_size, self->weight[agent], statistic);
}

/* The Lipschitz constant grows at most by the largest w_i. mu shrinks at most by min(1, w_i),
 * since both the weighted and the common terms are concave in y. A bound of Q with equal weights
 * does not carry over. */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    const instance *self = instance_of(problem);
    double most = 1.0;
    double least = 1.0;
    SADDLE_TRY(self->of->constants(self->of, x_set, y_set, out, error));
    for (size_t i = 0; i < problem->agents; i++) {
        most = fmax(most, self->weight[i]);
        least = fmin(least, self->weight[i]);
    }
    out->lipschitz *= most;
    /* With y_curvature, all of the concavity is in the common terms. */
    out->strong_concavity *= problem->y_curvature > 0.0 ? 1.0 : least;
    out->has_primal_bound = false;
    return SADDLE_OK;
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const saddle_problem *of = instance_of(problem)->of;
    return of->outcomes(of, rows, x, y, out, count, error);
}

static bool device(const saddle_problem *problem, saddle_device_problem *out)
{
    const instance *self = instance_of(problem);
    bool known = saddle_describe_device(self->of, out);
    out->agent_weight = self->weight;
    return known;
}

static void release(saddle_problem *problem)
{
    saddle_free(problem->shared);
}

void saddle_weigh_agents(size_t agents, const size_t *samples, bool by_size,
                         const unsigned char *counted, double *weight)
{
    double count = 0.0;
    double total = 0.0;
    for (size_t i = 0; i < agents; i++)
        if (counted == NULL || counted[i]) {
            count += 1.0;
            total += (double)samples[i];
        }
    for (size_t i = 0; i < agents; i++)
        if (counted != NULL && !counted[i])
            weight[i] = 0.0;
        else
            weight[i] = by_size ? count * (double)samples[i] / total : 1.0;
}

saddle_status saddle_weighted_share(saddle_problem *problem, const double *weight,
                                    saddle_error *error)
{
    instance *self = (instance *)(void *)problem;
    if (problem->share == NULL)
        return SADDLE_OK;
    SADDLE_TRY(self->with.share(&self->with, weight, error));
    problem->tau = self->with.tau;
    problem->alpha = self->with.alpha;
    return SADDLE_OK;
}

double saddle_weighted_bytes(const saddle_problem *of)
{
    return saddle_block_bytes(1, sizeof(instance)) +
           saddle_block_bytes(of->shared_size, sizeof(double));
}

saddle_status saddle_weighted_create(saddle_problem **out, const saddle_problem *of,
                                     const double *weight, saddle_error *error)
{
    *out = NULL;
    instance *self = saddle_alloc(1, sizeof *self);
    double *shared = saddle_alloc_doubles(of->shared_size);
    if (self == NULL || shared == NULL) {
        saddle_free(self);
        saddle_free(shared);
        return saddle_no_memory(error, "the weights of agents");
    }
    if (of->shared_size > 0)
        memcpy(shared, of->shared, of->shared_size * sizeof *shared);
    self->with = *of;
    self->with.shared = shared;
    self->of = of->share != NULL ? &self->with : of;
    self->weight = weight;
    saddle_problem *problem = &self->problem;
    *problem = self->with;
    /* The known solution is for equal weights. */
    problem->solution = NULL;
    problem->release = release;
#define REPLACE(function) problem->function = of->function != NULL ? (function) : NULL
    REPLACE(add_samples);
    REPLACE(gradient);
    REPLACE(gradients);
    REPLACE(card_gradients);
    REPLACE(value);
    REPLACE(response_statistic);
    REPLACE(constants);
    REPLACE(outcomes);
#undef REPLACE
    problem->device = device;
    /* Without a statistic the best response uses means that the problem computed with equal
     * weights. */
    if (of->response_size == 0)
        problem->response_solve = NULL;
    *out = problem;
    return SADDLE_OK;
}
