/*
 * A problem of one agent that holds the samples of all agents.
 *
 * Sample g of the pool is sample j of agent i, g = n_1 + ... + n_{i-1} + j. Its function is
 *   w_i f_ij,  w_i = N / (m n_i),  N = sum_i n_i,
 * so that the mean over the pool is F for any local sizes; if all are equal, w_i = 1. A batch is
 * sorted by agent, and each agent's samples in it are one call of the underlying problem. The terms that its
 * samples share count for each sample here, because the samples have different weights; only
 * over all samples do the weights add up to 1. If entry j of y belongs to sample j of every agent,
 * these samples form group j of the pool.
 */
#include "core/vector.h"
#include "problems/evaluate.h"
#include "problems/problem_choice.h"

typedef struct instance {
    saddle_problem problem; /* first: shares the address of the instance */
    const saddle_problem *of;
    size_t *start; /* agent i's samples are start[i] .. start[i + 1] - 1 of the pool */
    size_t total;
} instance;

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

static double weight_of(const instance *self, size_t agent)
{
    return (double)self->total / ((double)self->of->agents * (double)self->of->samples[agent]);
}

/* Adds the terms that all samples of the underlying problem share. */
static void add_shared(const instance *self, const saddle_part *part, double scale)
{
    const saddle_problem *of = self->of;
    saddle_part p = *part;
    bool linear = of->y_curvature > 0.0 && p.x0 != NULL;
    p.scale = scale;
    p.gy = linear ? NULL : p.gy;
    p.square = NULL;
    if (of->add_common != NULL)
        of->add_common(of, &p);
    if (linear)
        saddle_add_linear_term(of->y_dim, -scale * of->y_curvature, p.y, p.y0, part->gy);
}

/* Returns the sum of |w_i grad f_ij|^2 over an agent's samples in a batch. */
static double sum_squares(const instance *self, size_t agent, const saddle_part *part,
                          double *scratch)
{
    const saddle_problem *of = self->of;
    double weight = weight_of(self, agent);
    size_t both = of->x_dim + of->y_dim;
    double sum = 0.0;
    for (size_t k = 0; k < part->batch.count; k++) {
        uint32_t index = (uint32_t)saddle_batch_sample(&part->batch, k);
        saddle_batch one = {.index = &index, .count = 1};
        saddle_problem_gradient(of, agent, &one, part->x, part->y, scratch, scratch + of->x_dim,
                                scratch + both);
        sum += saddle_norm2(both, scratch);
    }
    return weight * weight * sum;
}

/* Adds an agent's samples in a batch; returns the weight with which add_shared() must still be
 * called. */
static double add_agent(const instance *self, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const saddle_problem *of = self->of;
    saddle_part p = *part;
    p.scale = part->scale * weight_of(self, agent);
    p.square = NULL;
    if (part->square != NULL)
        *part->square += part->scale * sum_squares(self, agent, part, scratch);
    double weight = p.scale * (double)p.batch.count;
    if (of->add_samples == NULL) {
        saddle_add_undivided(of, agent, &p, weight, scratch);
        return 0.0;
    }
    of->add_samples(of, agent, &p, scratch);
    return weight;
}

/* Sorts a batch by agent: end[i] is the end of agent i's samples in `sorted`. */
static void sort_batch(const instance *self, const saddle_batch *batch, uint32_t *sorted,
                       uint32_t *end)
{
    size_t agents = self->of->agents;
    memset(end, 0, (agents + 1) * sizeof *end);
    for (size_t k = 0; k < batch->count; k++)
        end[agent_of(self, saddle_batch_sample(batch, k)) + 1]++;
    for (size_t i = 1; i <= agents; i++)
        end[i] += end[i - 1];
    /* Now end[i] is the beginning of agent i's samples; filling moves it to the end. */
    for (size_t k = 0; k < batch->count; k++) {
        size_t sample = saddle_batch_sample(batch, k);
        size_t agent = agent_of(self, sample);
        sorted[end[agent]++] = (uint32_t)(sample - self->start[agent]);
    }
}

/* add_agent() for all agents of a range of samples. */
static double add_range(const instance *self, const saddle_part *part, double *scratch)
{
    size_t begin = part->batch.first;
    size_t end = begin + part->batch.count;
    double weight = 0.0;
    saddle_part p = *part;
    for (size_t i = agent_of(self, begin); begin < end; i++) {
        size_t next = self->start[i + 1] < end ? self->start[i + 1] : end;
        p.batch.first = begin - self->start[i];
        p.batch.count = next - begin;
        weight += add_agent(self, i, &p, scratch);
        begin = next;
    }
    return weight;
}

/* add_agent() for all agents of an index of samples. */
static double add_index(const instance *self, const saddle_part *part, double *scratch)
{
    size_t agents = self->of->agents;
    uint32_t *sorted = (uint32_t *)(void *)scratch;
    uint32_t *end = sorted + self->total;
    double *rest = scratch + (self->total + agents + 2) / 2;
    uint32_t begin = 0;
    double weight = 0.0;
    saddle_part p = *part;
    sort_batch(self, &part->batch, sorted, end);
    for (size_t i = 0; i < agents; i++) {
        p.batch.index = sorted + begin;
        p.batch.count = end[i] - begin;
        begin = end[i];
        if (p.batch.count > 0)
            weight += add_agent(self, i, &p, rest);
    }
    return weight;
}

/* add_agent() for all agents of a range of groups, without add_shared(). */
static void add_groups(const instance *self, const saddle_part *part, double *scratch)
{
    size_t first = part->batch.first;
    saddle_part p = *part;
    for (size_t i = 0; i < self->of->agents; i++) {
        size_t samples = self->of->samples[i];
        size_t rest = samples > first ? samples - first : 0;
        p.batch = (saddle_batch){.first = first, .count = rest};
        if (rest > part->batch.count)
            p.batch.count = part->batch.count;
        if (rest > 0)
            add_agent(self, i, &p, scratch);
    }
}

static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    if (part->batch.groups)
        add_shared(self_of(problem), part, part->scale);
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    (void)agent;
    const instance *self = self_of(problem);
    if (part->batch.groups) {
        add_groups(self, part, scratch);
        return;
    }
    double weight =
        part->batch.index == NULL ? add_range(self, part, scratch) : add_index(self, part, scratch);
    if (weight > 0.0)
        add_shared(self, part, weight);
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
    for (size_t i = 0; i < self->of->agents; i++)
        heaviest = fmax(heaviest, weight_of(self, i));
    SADDLE_TRY(self->of->constants(self->of, x_set, y_set, out, error));
    out->lipschitz *= heaviest;
    return SADDLE_OK;
}

static bool solution(const saddle_problem *problem, double *x, double *y)
{
    const saddle_problem *of = self_of(problem)->of;
    return of->solution(of, x, y);
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const saddle_problem *of = self_of(problem)->of;
    return of->outcomes(of, rows, x, y, out, count, error);
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
        .scratch =
            of->x_dim + of->y_dim + (self->total + of->agents + 2) / 2 + saddle_problem_scratch(of),
        .x_set = of->x_set,
        .y_set = of->y_set,
        .tau = of->tau,
        .alpha = of->alpha,
        .add_samples = add_samples,
        .add_common = add_common,
        .groups = of->add_samples != NULL && of->y_curvature > 0.0 ? of->y_dim : 0,
        /* A cost of almost 0 keeps the batches of a problem without add_samples() in one part. */
        .sample_cost = of->add_samples != NULL ? of->sample_cost : DBL_MIN,
        .response_solve = of->response_solve != NULL ? response_solve : NULL,
        .response_size = of->response_size,
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
