/* The memory of the agents of one process: measured, taken, freed. */
#include "algorithms/layout.h"
#include "core/rng.h"
#include "core/vector.h"
#include "engines/local_agents.h"
#include "engines/worker_count.h"

/* Agents of the longest vectors whose contributions to a mean are held at once, and the doubles
 * that there is room for at least. */
#define MEAN_BLOCK 16
#define MEAN_ROOM 32768

size_t saddle_local_measure(saddle_local *e, const saddle_engine_inputs *inputs,
                            unsigned processors)
{
    const saddle_instance *instance = inputs->instance;
    const saddle_problem *problem = instance->problem;
    size_t longest = problem->x_dim + saddle_larger(problem->y_dim, problem->response_size);
    size_t block = problem->agents < MEAN_BLOCK ? problem->agents : MEAN_BLOCK;
    e->inputs = *inputs;
    e->agents = instance->world->local;
    saddle_algorithm_layout(inputs->algorithm, inputs->parameters, problem, &e->layout);
    e->oracle = inputs->algorithm->wants_oracle != NULL &&
                inputs->algorithm->wants_oracle(inputs->parameters);
    longest = saddle_larger(longest, saddle_layout_longest(&e->layout));
    e->stride = saddle_whole_lines(e->layout.published);
    e->kept_stride = saddle_whole_lines(e->layout.kept);
    e->mean_room = saddle_larger(block * saddle_whole_lines(longest), MEAN_ROOM);
    size_t most = saddle_worker_count(instance, e->layout.published);
    size_t threads = processors < most ? processors : most;
    if (inputs->threads > 0)
        threads = inputs->threads < e->agents ? inputs->threads : e->agents;
    return threads;
}

/* Scratch for a step of the algorithm or for a task, whichever needs more. */
static size_t scratch_size(const saddle_local *e)
{
    size_t inner = saddle_larger(saddle_problem_scratch(e->inputs.instance->problem),
                                 saddle_larger(saddle_prox_scratch(e->inputs.instance->x_prox),
                                               saddle_set_scratch(e->inputs.instance->y_set)));
    return saddle_larger(e->layout.scratch + inner, e->inputs.scratch);
}

static void take_workers(saddle_local *e, size_t pool, saddle_claim *claim)
{
    const saddle_instance *instance = e->inputs.instance;
    size_t most = 0;
    for (size_t i = 0; i < e->agents; i++)
        most = saddle_larger(most, instance->problem->samples[instance->world->here[i]]);
    e->worker = saddle_claim_block(claim, pool, sizeof *e->worker);
    for (size_t w = 0; !claim->failed && w < pool; w++) {
        saddle_worker counted = {.work = NULL};
        saddle_worker *memory = e->worker != NULL ? &e->worker[w] : &counted;
        memory->work = saddle_claim_block(claim, e->layout.work, sizeof(double));
        memory->scratch = saddle_claim_block(claim, scratch_size(e), sizeof(double));
        memory->index = saddle_claim_block(claim, most, sizeof *memory->index);
        memory->mark = saddle_claim_block(claim, saddle_rng_mark_words(most), sizeof *memory->mark);
    }
}

static void take_agents(saddle_local *e, saddle_claim *claim)
{
    e->agent = saddle_claim_block(claim, e->agents, sizeof *e->agent);
    e->mean_terms = saddle_claim_block(claim, e->mean_room, sizeof(double));
    e->oracle_mean = saddle_claim_block(claim, e->inputs.instance->problem->x_dim, sizeof(double));
    e->kept = saddle_claim_unset(claim, e->agents, e->kept_stride * sizeof(double));
    for (int parity = 0; parity < 2; parity++)
        e->span[parity] = saddle_claim_unset(claim, e->agents, e->stride * sizeof(double));
}

bool saddle_local_allocate(saddle_local *e)
{
    saddle_claim claim = {0};
    take_workers(e, saddle_thread_pool_size(e->pool), &claim);
    if (!claim.failed)
        take_agents(e, &claim);
    const double *const spans[2] = {e->span[0], e->span[1]};
    return !claim.failed &&
           saddle_links_open(&e->links, e->inputs.instance, &e->layout, spans, e->stride);
}

double saddle_local_bytes(const saddle_engine_inputs *inputs, unsigned processors)
{
    saddle_local e = {.agent = NULL};
    saddle_claim claim = {.count_only = true};
    size_t threads = saddle_local_measure(&e, inputs, processors);
    take_workers(&e, threads, &claim);
    take_agents(&e, &claim);
    return claim.bytes + saddle_links_bytes(inputs->instance, e.stride);
}

void saddle_local_clear(saddle_local *e)
{
    for (unsigned w = 0; e->worker != NULL && w < saddle_thread_pool_size(e->pool); w++) {
        saddle_free(e->worker[w].work);
        saddle_free(e->worker[w].scratch);
        saddle_free(e->worker[w].index);
        saddle_free(e->worker[w].mark);
    }
    saddle_thread_pool_destroy(e->pool);
    saddle_free(e->worker);
    saddle_free(e->agent);
    for (int parity = 0; parity < 2; parity++)
        saddle_free(e->span[parity]);
    saddle_links_clear(&e->links);
    saddle_free(e->kept);
    saddle_free(e->oracle_mean);
    saddle_free(e->mean_terms);
}
