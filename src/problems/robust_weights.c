/* The weights of samples: which entry of y belongs to which sample, the penalty V on unequal
 * weights, and the best response: robust.h. */
#include "problems/robust.h"

#include "core/sizes.h"
#include "core/vector.h"
#include "problems/evaluate.h"

/* The numbers in problem->shared, with one weight per sample. */
enum {
    AGENTS, /* m: how many agents are present */
    ROWS,   /* N: their samples */
    PRESENT /* of each agent: 1 if it is present, otherwise 0 */
};

/* ---- the penalty ----------------------------------------------------------------------------- */

/* Entries of y with the same entry of e. */
typedef struct span {
    size_t first;
    size_t count;
    double center;
} span;

static size_t count_spans(const saddle_problem *problem)
{
    const saddle_robust *self = problem->self;
    return self->first == NULL ? 1 : problem->agents;
}

static span span_at(const saddle_problem *problem, size_t k)
{
    const saddle_robust *self = problem->self;
    if (self->first == NULL)
        return (span){.count = problem->y_dim, .center = 1.0};
    return (span){self->first[k], problem->samples[k], problem->shared[PRESENT + k]};
}

/* Returns n. */
static double length_of(const saddle_problem *problem)
{
    const saddle_robust *self = problem->self;
    return self->first == NULL ? (double)problem->y_dim : problem->shared[ROWS];
}

/* Returns lambda1. */
static double penalty_weight(const saddle_problem *problem)
{
    const saddle_robust *self = problem->self;
    return self->lambda1 * ((double)problem->y_dim / length_of(problem));
}

double saddle_penalty_curvature(const saddle_problem *problem)
{
    double n = length_of(problem);
    return penalty_weight(problem) * n * n;
}

double saddle_penalty(const saddle_problem *problem, const double *y)
{
    double n = length_of(problem);
    double sum = 0.0;
    for (size_t s = 0; s < count_spans(problem); s++) {
        span own = span_at(problem, s);
        for (size_t k = own.first; k < own.first + own.count; k++)
            sum += (n * y[k] - own.center) * (n * y[k] - own.center);
    }
    return 0.5 * penalty_weight(problem) * sum;
}

/* gy -= slope (n y - center) */
SADDLE_KERNEL static void add_slope(size_t count, double slope, double n, double center,
                                    const double *restrict y, double *restrict gy)
{
    for (size_t k = 0; k < count; k++)
        gy[k] -= slope * (n * y[k] - center);
}

void saddle_penalty_add_slope(const saddle_problem *problem, double scale, const double *y,
                              const double *y0, double *gy)
{
    double n = length_of(problem);
    if (y0 != NULL) {
        double curvature = saddle_penalty_curvature(problem);
        saddle_add_linear_term(problem->y_dim, -scale * curvature, y, y0, gy);
        return;
    }
    for (size_t s = 0; s < count_spans(problem); s++) {
        span own = span_at(problem, s);
        add_slope(own.count, scale * penalty_weight(problem) * n, n, own.center, y + own.first,
                  gy + own.first);
    }
}

bool saddle_robust_response(const saddle_problem *problem, const double *x, const double *statistic,
                            const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    double n = length_of(problem);
    double curvature = saddle_penalty_curvature(problem);
    for (size_t s = 0; s < count_spans(problem); s++) {
        span own = span_at(problem, s);
        for (size_t k = own.first; k < own.first + own.count; k++)
            y[k] = own.center / n + statistic[k] / curvature;
    }
    saddle_set_project(y_set, y, scratch);
    return true;
}

/* The default alpha, times mu, with one weight per sample. The gradients of agents in y differ more
 * than those of slots, because each concerns only its own samples: with 1, C-SP-SG overshoots. */
#define OWN_ALPHA 0.5

/* ---- one weight per sample ------------------------------------------------------------------- */

double saddle_sample_weight(const saddle_problem *problem, size_t agent)
{
    const saddle_robust *self = problem->self;
    return self->first == NULL ? self->weight
                               : problem->shared[AGENTS] * (double)problem->samples[agent];
}

/* Weights other than 0 are all the same to it: every sample counts once. */
static saddle_status share(saddle_problem *problem, const double *weight, saddle_error *error)
{
    (void)error;
    double *shared = problem->shared;
    shared[AGENTS] = shared[ROWS] = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        bool present = weight == NULL || weight[i] > 0.0;
        shared[PRESENT + i] = present ? 1.0 : 0.0;
        shared[AGENTS] += shared[PRESENT + i];
        shared[ROWS] += shared[PRESENT + i] * (double)problem->samples[i];
    }
    problem->alpha = OWN_ALPHA / saddle_penalty_curvature(problem);
    return SADDLE_OK;
}

saddle_status saddle_robust_own_weights(saddle_robust *self, const saddle_problem_inputs *inputs,
                                        saddle_error *error)
{
    saddle_problem *problem = &self->problem;
    problem->shared_size = PRESENT + inputs->agents;
    problem->shared = saddle_alloc_doubles(problem->shared_size);
    self->first = saddle_alloc(inputs->agents, sizeof *self->first);
    if (problem->shared == NULL || self->first == NULL)
        return saddle_no_memory(error, "the weights of samples");
    for (size_t i = 1; i < inputs->agents; i++)
        self->first[i] = self->first[i - 1] + inputs->samples[i - 1];
    problem->share = share;
    problem->counts_rows = true;
    return SADDLE_OK;
}

void saddle_robust_release(saddle_problem *problem)
{
    saddle_robust *self = problem->self;
    saddle_free(self->first);
    saddle_free(problem->shared);
}

saddle_status saddle_robust_prepare(saddle_robust *self, const saddle_problem_inputs *inputs,
                                    size_t most, saddle_error *error)
{
    double n = (double)most;
    double concavity = self->lambda1 * n * n;
    if (isinf(concavity) && self->loss == SADDLE_ROBUST_LOGISTIC)
        return saddle_refuse(
            error, "--lambda1: %g times n^2, with n = %zu, overflows; give a smaller value",
            self->lambda1, most);
    if (isinf(concavity))
        return saddle_refuse(error,
                             "--divergence: %g times n = %zu overflows; give a smaller value, or "
                             "labels on a smaller scale",
                             self->lambda1 * n, most);
    self->shard = inputs->shard;
    self->problem.x_dim = inputs->features + (self->intercept ? 1 : 0);
    self->problem.y_dim = most;
    self->problem.scratch = 2 * self->problem.x_dim;
    self->problem.response_size = most;
    /* Its entries belong to the same samples of all agents. */
    self->problem.y_curvature = self->first == NULL ? concavity : 0.0;
    self->problem.alpha = 1.0 / concavity;
    return self->first != NULL ? share(&self->problem, NULL, error) : SADDLE_OK;
}
