/* Running one agent's round: its phases, the evaluation of their requests, and mixing. */
#include "engines/agent.h"

#include "core/vector.h"
#include "engines/row_noise.h"
#include "problems/evaluate.h"

/* Number of entries that are mixed at a time, so that `out` stays in the cache. */
#define BLOCK 512
/* Number of entries of the partial results that a worker adds up at a time. */
#define SUM_BLOCK 1024

SADDLE_KERNEL static void mix_block(const saddle_agent *agent, size_t offset, size_t count,
                                    double *restrict out)
{
    const double *own = agent->now + offset;
    double weight = agent->self_weight;
    for (size_t k = 0; k < count; k++)
        out[k] = weight * own[k];
    for (size_t j = 0; j < agent->degree; j++) {
        const double *other = agent->neighbour[j] + offset;
        weight = agent->weight[j];
        for (size_t k = 0; k < count; k++)
            out[k] += weight * other[k];
    }
}

/* Returns whether the field of the span that contains `offset` is a sum. */
static bool is_sum(const saddle_layout *layout, size_t offset)
{
    size_t f = 0;
    while (f + 1 < layout->fields && layout->field[f + 1].offset <= offset)
        f++;
    return f < layout->fields && layout->field[f].kind == SADDLE_FIELD_SUM;
}

void saddle_agent_mix(const saddle_agent *agent, size_t offset, size_t count, double *out)
{
    if (agent->mixed != NULL && is_sum(agent->layout, offset)) {
        memcpy(out, agent->mixed + offset, count * sizeof *out);
        return;
    }
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t length = count - begin < BLOCK ? count - begin : BLOCK;
        mix_block(agent, offset + begin, length, out + begin);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

size_t saddle_partials_size(const saddle_problem *problem, size_t samples)
{
    return saddle_parts_bound(problem, samples) * saddle_largest_partial(problem);
}

typedef struct shared_request {
    const saddle_agent *agent;
    saddle_request *request;
    double *partials;
    size_t stride;
} shared_request;

static void evaluate_part(void *context, size_t part, double *scratch)
{
    const shared_request *s = context;
    saddle_evaluate_part(s->agent->problem, s->agent->id, s->request, part,
                         s->partials + part * s->stride, scratch);
}

static void add_partials(void *context, size_t block, double *scratch)
{
    (void)scratch;
    const shared_request *s = context;
    saddle_evaluate_add(s->agent->problem, s->request, s->partials, block * SUM_BLOCK,
                        (block + 1) * SUM_BLOCK);
}

void saddle_agent_sum(const saddle_agent *agent, saddle_request *request, double *partials)
{
    size_t size = saddle_partial_size(agent->problem, request);
    shared_request s = {agent, request, partials, size};
    agent->helpers->share(agent->helpers, (size + SUM_BLOCK - 1) / SUM_BLOCK, add_partials, &s,
                          NULL);
    saddle_evaluate_end(agent->problem, request);
}

void saddle_agent_evaluate_uncounted(const saddle_agent *agent, saddle_request *request,
                                     double *scratch)
{
    const saddle_problem *problem = agent->problem;
    if (request->kind == SADDLE_REQUEST_NONE)
        return;
    size_t parts = agent->helpers != NULL ? saddle_parts_count(problem, &request->batch) : 1;
    if (parts == 1) {
        request->helpers = agent->helpers;
        saddle_evaluate(problem, agent->id, request, scratch);
        return;
    }
    shared_request s = {agent, request, agent->helpers->partials,
                        saddle_partial_size(problem, request)};
    saddle_evaluate_begin(problem, request);
    agent->helpers->share(agent->helpers, parts, evaluate_part, &s, scratch);
    saddle_agent_sum(agent, request, s.partials);
}

void saddle_agent_evaluate_now(saddle_agent *agent, saddle_request *request, double *scratch)
{
    if (agent->row_noise != NULL && request->kind != SADDLE_REQUEST_NONE)
        saddle_noisy_gradient(agent, request, scratch);
    else
        saddle_agent_evaluate_uncounted(agent, request, scratch);
    agent->ifo += saddle_request_ifo(request);
}

void saddle_agent_evaluate(saddle_agent *agent)
{
    saddle_agent_evaluate_now(agent, &agent->request, agent->scratch);
    agent->request.kind = SADDLE_REQUEST_NONE;
}

size_t saddle_block_count(const saddle_range *range)
{
    size_t first = (range->first + range->shift) / range->block;
    return (range->last + range->shift + range->block - 1) / range->block - first;
}

/* Returns the length of a block for this number of coordinates, including the shift. */
static size_t block_length(size_t coordinates)
{
    size_t length = SADDLE_LEAST_BLOCK;
    while (coordinates / length >= SADDLE_MOST_BLOCKS)
        length *= 2;
    return length;
}

saddle_blocks saddle_blocks_of(const saddle_problem *problem)
{
    size_t shift = problem->x_dim % SADDLE_LANES;
    saddle_blocks all = {
        .x = {.last = problem->x_dim, .block = block_length(problem->x_dim)},
        .y = {.last = problem->y_dim,
              .block = block_length(problem->y_dim + shift),
              .shift = shift},
    };
    all.x_count = saddle_block_count(&all.x);
    all.y_count = saddle_block_count(&all.y);
    return all;
}

/* Adds up the sums of blocks, in their order. */
static void add_blocks(size_t count, const double *sums, double *total)
{
    memcpy(total, sums, SADDLE_BLOCK_SUMS * sizeof *total);
    for (size_t b = 1; b < count; b++)
        for (size_t s = 0; s < SADDLE_BLOCK_SUMS; s++)
            total[s] += sums[b * SADDLE_BLOCK_SUMS + s];
}

void saddle_agent_after(const saddle_phase *phase, saddle_agent *agent, const double *sums)
{
    double x_total[SADDLE_BLOCK_SUMS];
    double y_total[SADDLE_BLOCK_SUMS];
    if (phase->after == NULL)
        return;
    const saddle_blocks *all = agent->blocks;
    add_blocks(all->x_count, sums, x_total);
    add_blocks(all->y_count, sums + all->x_count * SADDLE_BLOCK_SUMS, y_total);
    phase->after(agent, x_total, y_total);
}

bool saddle_phase_has_before(const saddle_phase *phase, const saddle_agent *agent)
{
    return phase->before != NULL && (phase->has_before == NULL || phase->has_before(agent));
}

void saddle_agent_phase(const saddle_phase *phase, saddle_agent *agent)
{
    if (saddle_phase_has_before(phase, agent))
        phase->before(agent);
    if (phase->blocks != NULL) {
        double *sums = agent->scratch; /* before() no longer needs it */
        saddle_range x = agent->blocks->x;
        saddle_range y = agent->blocks->y;
        x.sums = sums;
        y.sums = sums + agent->blocks->x_count * SADDLE_BLOCK_SUMS;
        memset(sums, 0, saddle_blocks_sums(agent->blocks) * sizeof *sums);
        phase->blocks(agent, &x, &y);
        saddle_agent_after(phase, agent, sums);
    }
}

void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round)
{
    agent->round = round;
    for (const saddle_phase *phase = algorithm->phases; phase->name != NULL; phase++) {
        saddle_agent_phase(phase, agent);
        saddle_agent_evaluate(agent);
    }
}
