/* The memory of the agents of one process: measuring, allocating and freeing it. */
#include "algorithms/layout.h"
#include "core/rng.h"
#include "core/vector.h"
#include "engines/local_agents.h"

/* How many agents' contributions of the longest vectors to a mean are in memory at once, and the least
 * capacity in doubles. */
#define MEAN_BLOCK 16
#define MEAN_ROOM 32768

/* With this many agents per worker, loads are nearly equal and rounds need not be divided. */
#define MANY_AGENTS 8

/* The doubles that a worker should process in an iteration; a barrier costs about a tenth of that. */
#define LEAST_WORK 1e4
/* The samples that an agent uses in most iterations, if it has as many. */
#define USUAL_BATCH 128
#define MOST_WORKERS 1024

static size_t most_samples(const saddle_instance *instance)
{
    size_t most = 0;
    for (size_t k = 0; k < instance->world->local; k++)
        most = saddle_larger(most, instance->problem->samples[instance->world->here[k]]);
    return most;
}

size_t saddle_worker_count(const saddle_instance *instance, size_t published)
{
    const saddle_problem *problem = instance->problem;
    size_t agents = instance->world->local;
    double doubles = 0.0;
    for (size_t k = 0; k < agents; k++) {
        size_t i = instance->world->here[k];
        size_t degree = instance->graph->start[i + 1] - instance->graph->start[i];
        size_t batch = problem->samples[i] < USUAL_BATCH ? problem->samples[i] : USUAL_BATCH;
        /* An agent mixes spans and reads samples, each at most as long as x. */
        doubles +=
            (double)published * (double)(degree + 2) + (double)batch * (double)problem->x_dim;
    }
    double workers = doubles / LEAST_WORK;
    return workers < MOST_WORKERS ? (size_t)workers + 1 : MOST_WORKERS;
}

/* Returns whether dividing rounds can help: not if the algorithm is a single before() that evaluates its
 * own requests. The other workers help with such requests anyway. */
static bool has_more_than_a_loop(const saddle_algorithm *algorithm)
{
    const saddle_phase *phases = algorithm->phases;
    return phases[0].blocks != NULL || phases[1].name != NULL;
}

bool saddle_local_divides(const saddle_local *e, size_t workers)
{
    return workers > 1 && e->agents < MANY_AGENTS * workers;
}

size_t saddle_local_measure(saddle_local *e, const saddle_engine_inputs *inputs,
                            unsigned processors)
{
    const saddle_instance *instance = inputs->instance;
    const saddle_problem *problem = instance->problem;
    size_t longest = problem->x_dim + saddle_larger(problem->y_dim, problem->response_size + 1);
    size_t block = problem->agents < MEAN_BLOCK ? problem->agents : MEAN_BLOCK;
    e->inputs = *inputs;
    e->agents = instance->world->local;
    saddle_algorithm_layout(inputs->algorithm, inputs->parameters, problem, &e->layout);
    e->oracle = inputs->algorithm->wants_oracle != NULL &&
                inputs->algorithm->wants_oracle(inputs->parameters);
    longest = saddle_larger(longest, saddle_layout_longest(&e->layout));
    e->stride = saddle_whole_lines(saddle_links_measure(&e->links, instance, &e->layout) +
                                   (inputs->link_model != NULL ? 1 : 0));
    e->links.state.members.algorithm = inputs->algorithm;
    e->kept_stride = saddle_whole_lines(e->layout.kept);
    e->mean_room = saddle_larger(block * saddle_whole_lines(longest), MEAN_ROOM);
    e->work_stride = saddle_whole_lines(e->layout.work);
    e->index_stride = most_samples(instance);
    e->blocks = saddle_blocks_of(problem);
    e->sums_stride = saddle_whole_lines(saddle_blocks_sums(&e->blocks));
    e->partials_stride =
        saddle_larger(saddle_partials_size(problem, e->index_stride), SADDLE_MOST_ALONG);
    saddle_batch all = {.count = e->index_stride};
    size_t blocks = saddle_larger(e->blocks.x_count, e->blocks.y_count);
    size_t shares = saddle_larger(blocks, saddle_parts_count(problem, &all));
    size_t useful = saddle_worker_count(instance, e->layout.published);
    size_t threads = processors < useful ? processors : useful;
    if (inputs->threads > 0)
        threads = inputs->threads;
    if (threads > e->agents * shares)
        threads = e->agents * shares;
    e->gathered = problem->gradients != NULL;
    e->divided = !e->gathered && shares > 1 && saddle_local_divides(e, threads) &&
                 has_more_than_a_loop(inputs->algorithm);
    e->areas = e->divided || e->gathered ? e->agents : threads;
    return threads;
}

/* Returns the scratch for a step of the algorithm or for a task, whichever needs more. */
static size_t scratch_size(const saddle_local *e)
{
    size_t inner = saddle_larger(saddle_problem_scratch(e->inputs.instance->problem),
                                 saddle_larger(saddle_prox_scratch(e->inputs.instance->x_prox),
                                               saddle_set_scratch(e->inputs.instance->y_set)));
    size_t step = saddle_larger(e->layout.scratch + inner, saddle_blocks_sums(&e->blocks));
    if (e->inputs.row_clip > 0.0)
        step = saddle_larger(step, saddle_row_noise_scratch(e->inputs.instance->problem));
    return saddle_larger(step, e->inputs.scratch);
}

static void take_workers(saddle_local *e, size_t pool, saddle_allocator *allocator)
{
    const saddle_problem *problem = e->inputs.instance->problem;
    size_t scratch_stride = saddle_whole_lines(scratch_size(e));
    size_t partials_stride = saddle_whole_lines(saddle_partials_size(problem, e->index_stride));
    size_t mark_stride = saddle_whole_lines(saddle_rng_mark_words(e->index_stride));
    double *partials = NULL;
    e->worker = saddle_allocator_block(allocator, pool, sizeof *e->worker);
    double *scratch = saddle_allocator_block(allocator, pool, scratch_stride * sizeof *scratch);
    if (pool > 1)
        partials = saddle_allocator_block(allocator, pool, partials_stride * sizeof *partials);
    uint64_t *mark = saddle_allocator_block(allocator, pool, mark_stride * sizeof *mark);
    saddle_block_share *share = NULL;
    if (e->divided)
        share = saddle_allocator_block(allocator, pool, e->agents * sizeof *share);
    for (size_t w = 0; !allocator->failed && !allocator->count_only && w < pool; w++) {
        e->worker[w].scratch = scratch + w * scratch_stride;
        e->worker[w].helpers.partials = partials != NULL ? partials + w * partials_stride : NULL;
        e->worker[w].mark = mark + w * mark_stride;
        e->worker[w].share = share != NULL ? share + w * e->agents : NULL;
    }
    e->work = saddle_allocator_block(allocator, e->areas, e->work_stride * sizeof(double));
    e->index = saddle_allocator_block(allocator, e->areas, e->index_stride * sizeof *e->index);
    if (e->divided) {
        e->sums = saddle_allocator_block(allocator, e->agents, e->sums_stride * sizeof(double));
        e->partials =
            saddle_allocator_block(allocator, e->agents, e->partials_stride * sizeof(double));
        e->division = saddle_allocator_block(allocator, e->agents, sizeof *e->division);
    }
    if (e->gathered)
        saddle_gathered_take(e, allocator);
}

static void take_agents(saddle_local *e, saddle_allocator *allocator)
{
    e->agent = saddle_allocator_block(allocator, e->agents, sizeof *e->agent);
    if (e->inputs.link_model != NULL)
        e->timed = saddle_allocator_block(allocator, e->agents, sizeof *e->timed);
    e->mean_terms = saddle_allocator_block(allocator, e->mean_room, sizeof(double));
    e->oracle_mean =
        saddle_allocator_block(allocator, e->inputs.instance->problem->x_dim, sizeof(double));
    e->kept = saddle_allocator_unset(allocator, e->agents, e->kept_stride * sizeof(double));
    for (int parity = 0; parity < 2; parity++)
        e->span[parity] = saddle_allocator_unset(allocator, e->agents, e->stride * sizeof(double));
}

bool saddle_local_allocate(saddle_local *e)
{
    take_workers(e, saddle_thread_pool_size(e->pool), &e->memory);
    if (!e->memory.failed)
        take_agents(e, &e->memory);
    const double *const spans[2] = {e->span[0], e->span[1]};
    return !e->memory.failed &&
           saddle_links_open(&e->links, e->inputs.instance, spans, e->stride, &e->memory);
}

double saddle_local_bytes(const saddle_engine_inputs *inputs, unsigned processors)
{
    saddle_local e = {.agent = NULL};
    saddle_allocator allocator = {.count_only = true};
    size_t threads = saddle_local_measure(&e, inputs, processors);
    take_workers(&e, threads, &allocator);
    take_agents(&e, &allocator);
    return allocator.bytes + saddle_links_bytes(&e.links, inputs->instance, e.stride);
}

void saddle_local_clear(saddle_local *e)
{
    saddle_thread_pool_destroy(e->pool);
    saddle_allocator_free(&e->memory);
}
