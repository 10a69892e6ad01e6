/*
 * Sample g of the pool is sample j of agent i, g = n_1 + ... + n_{i-1} + j. Its function is
 *   w_i f_ij,  w_i = N / (m n_i),  N = sum_i n_i,
 * so that the mean over the pool is F whatever the local sizes; with equal ones w_i = 1. A batch is
 * sorted into agents, and each agent's part is one call of the problem below.
 */
#include "problems/pooled.h"

#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"

typedef struct instance {
    saddle_problem problem; /* first: the two addresses are one */
    const saddle_problem *of;
    size_t *start; /* agent i's samples are start[i] .. start[i + 1] - 1 of the pool */
    size_t total;
} instance;

/* A point, or two of them whose gradients are to be subtracted. */
typedef struct points {
    const double *x1, *y1;
    const double *x0, *y0; /* NULL: one point only */
} points;

static const instance *self_of(const saddle_problem *problem)
{
    return problem->self;
}

static size_t agent_of(const instance *self, size_t sample)
{
    size_t low = 0;
    size_t high = self->of->agents;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (self->start[middle] <= sample)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* gx, gy += weight times the agent's mean over its part of a batch. */
static void add_part(const instance *self, size_t agent, const saddle_batch *part, double weight,
                     const points *at, double *gx, double *gy, double *scratch)
{
    const saddle_problem *of = self->of;
    double *px = scratch;
    double *py = px + of->x_dim;
    double *rest = py + of->y_dim;
    if (at->x0 != NULL)
        saddle_problem_difference(of, agent, part, at->x1, at->y1, at->x0, at->y0, px, py, rest);
    else
        saddle_problem_gradient(of, agent, part, at->x1, at->y1, px, py, rest);
    saddle_axpy(of->x_dim, weight, px, gx);
    saddle_axpy(of->y_dim, weight, py, gy);
}

/* Sort a batch into agents: end[i] bounds agent i's part of `sorted` from above. */
static void sort_batch(const instance *self, const saddle_batch *batch, uint32_t *sorted,
                       uint32_t *end)
{
    size_t agents = self->of->agents;
    memset(end, 0, (agents + 1) * sizeof *end);
    for (size_t k = 0; k < batch->count; k++)
        end[agent_of(self, saddle_batch_sample(batch, k)) + 1]++;
    for (size_t i = 1; i <= agents; i++)
        end[i] += end[i - 1];
    /* Now end[i] is where agent i's part begins; filling moves it to where the part ends. */
    for (size_t k = 0; k < batch->count; k++) {
        size_t sample = saddle_batch_sample(batch, k);
        size_t agent = agent_of(self, sample);
        sorted[end[agent]++] = (uint32_t)(sample - self->start[agent]);
    }
}

static void sum_parts(const saddle_problem *problem, const saddle_batch *batch, const points *at,
                      double *gx, double *gy, double *scratch)
{
    const instance *self = self_of(problem);
    size_t agents = self->of->agents;
    double share = (double)self->total / ((double)agents * (double)batch->count);
    memset(gx, 0, problem->x_dim * sizeof *gx);
    memset(gy, 0, problem->y_dim * sizeof *gy);
    if (batch->index == NULL && batch->count == self->total) {
        for (size_t i = 0; i < agents; i++) {
            saddle_batch all = {.index = NULL, .count = self->of->samples[i]};
            add_part(self, i, &all, 1.0 / (double)agents, at, gx, gy, scratch);
        }
        return;
    }
    uint32_t *sorted = (uint32_t *)(void *)scratch;
    uint32_t *end = sorted + self->total;
    double *rest = scratch + (self->total + agents + 2) / 2;
    uint32_t begin = 0;
    sort_batch(self, batch, sorted, end);
    for (size_t i = 0; i < agents; i++) {
        saddle_batch part = {.index = sorted + begin, .count = end[i] - begin};
        begin = end[i];
        double weight = share * (double)part.count / (double)self->of->samples[i];
        if (part.count > 0)
            add_part(self, i, &part, weight, at, gx, gy, rest);
    }
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)agent;
    points at = {.x1 = x, .y1 = y};
    sum_parts(problem, batch, &at, gx, gy, scratch);
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)agent;
    const saddle_problem *of = self_of(problem)->of;
    double sum = 0.0;
    for (size_t i = 0; i < of->agents; i++)
        sum += saddle_problem_value(of, i, x, y, scratch);
    return sum / (double)of->agents;
}

static void response_statistic(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch)
{
    (void)agent;
    const saddle_problem *of = self_of(problem)->of;
    double *one = scratch;
    memset(statistic, 0, of->response_size * sizeof *statistic);
    for (size_t i = 0; i < of->agents; i++) {
        saddle_problem_statistic(of, i, x, one, scratch + of->response_size);
        saddle_axpy(of->response_size, 1.0, one, statistic);
    }
    saddle_scale(of->response_size, 1.0 / (double)of->agents, statistic);
}

static double response_value(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch)
{
    const saddle_problem *of = self_of(problem)->of;
    return of->response_value(of, x, statistic, y, scratch);
}

static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    const saddle_problem *of = self_of(problem)->of;
    return of->response_solve(of, x, statistic, y_set, y, scratch);
}

static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    const instance *self = self_of(problem);
    double heaviest = 0.0;
    for (size_t i = 0; i < self->of->agents; i++) {
        double weight =
            (double)self->total / ((double)self->of->agents * (double)self->of->samples[i]);
        heaviest = weight > heaviest ? weight : heaviest;
    }
    saddle_status status = self->of->constants(self->of, x_set, y_set, out, error);
    out->lipschitz *= heaviest;
    return status;
}

static bool solution(const saddle_problem *problem, double *x, double *y)
{
    const saddle_problem *of = self_of(problem)->of;
    return of->solution(of, x, y);
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_dataset *held_out,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const saddle_problem *of = self_of(problem)->of;
    return of->outcomes(of, held_out, x, y, out, count, error);
}

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_free(self->start);
}

saddle_status saddle_pooled_create(saddle_problem **out, const saddle_problem *of,
                                   saddle_error *error)
{
    *out = NULL;
    instance *self = saddle_alloc(1, sizeof *self);
    size_t *start = saddle_alloc(of->agents + 1, sizeof *start);
    if (self == NULL || start == NULL) {
        saddle_free(self);
        saddle_free(start);
        return saddle_no_memory(error, "the pooled problem");
    }
    for (size_t i = 0; i < of->agents; i++)
        start[i + 1] = start[i] + of->samples[i];
    self->of = of;
    self->start = start;
    self->total = start[of->agents];
    self->problem = (saddle_problem){
        .name = of->name,
        .self = self,
        .x_dim = of->x_dim,
        .y_dim = of->y_dim,
        .agents = 1,
        .samples = &self->total,
        .scratch = of->x_dim + of->y_dim + of->response_size + (self->total + of->agents + 2) / 2 +
                   saddle_problem_scratch(of),
        .x_set = of->x_set,
        .y_set = of->y_set,
        .tau = of->tau,
        .alpha = of->alpha,
        .gradient = gradient,
        .value = value,
        .response_solve = of->response_solve != NULL ? response_solve : NULL,
        .response_size = of->response_size,
        .response_statistic = of->response_size > 0 ? response_statistic : NULL,
        .response_value = of->response_value != NULL ? response_value : NULL,
        .constants = of->constants != NULL ? constants : NULL,
        .solution = of->solution != NULL ? solution : NULL,
        .outcomes = of->outcomes != NULL ? outcomes : NULL,
        .outcome_bytes = of->outcome_bytes,
        .release = release,
    };
    *out = &self->problem;
    return SADDLE_OK;
}
