/*
 * A round of few agents with much work each: every phase is divided among all workers.
 *
 * The work per agent (a phase's before() and after()) is done by the worker that owns the agent. Its
 * blocks() are split by coordinates: a worker takes the same blocks of all agents, so that what
 * neighbours published there is in its own cache. There is a barrier between the two.
 */
#include "engines/local_agents.h"

/* Cuts a range of agent i to a worker's share, if the blocks of all agents, taken block by block, are
 * divided equally. */
static void cut(const saddle_local *e, unsigned worker, size_t i, saddle_range *range)
{
    size_t total = saddle_block_count(range) * e->agents;
    size_t size = saddle_thread_pool_size(e->pool);
    size_t low = total * worker / size;
    size_t high = total * (worker + 1) / size;
    size_t first = low > i ? (low - i + e->agents - 1) / e->agents : 0;
    size_t last = high > i ? (high - i + e->agents - 1) / e->agents : 0;
    size_t end = last * range->block > range->shift ? last * range->block - range->shift : 0;
    range->first = first > 0 ? first * range->block - range->shift : 0;
    range->last = end < range->last ? end : range->last;
    range->last = first < last ? range->last : range->first;
    range->sums += first * SADDLE_BLOCK_SUMS;
}

/* Returns whether x is a single block. The agent's own worker does it, because it also sums the gradient in x. */
static bool has_short_x(const saddle_local *e)
{
    return e->inputs.instance->problem->x_dim <= SADDLE_LEAST_BLOCK;
}

/* Returns the blocks of agent i that a worker does. */
static saddle_block_share share_of(const saddle_local *e, unsigned worker, size_t i)
{
    saddle_block_share share = {.x = e->blocks.x, .y = e->blocks.y};
    saddle_agent_range own = saddle_local_range(e, worker);
    share.x.sums = e->sums + i * e->sums_stride;
    share.y.sums = share.x.sums + e->blocks.x_count * SADDLE_BLOCK_SUMS;
    cut(e, worker, i, &share.y);
    if (!has_short_x(e))
        cut(e, worker, i, &share.x);
    else if (i < own.first || i >= own.last)
        share.x.last = 0;
    return share;
}

void saddle_divide_blocks(saddle_local *e)
{
    for (unsigned w = 0; w < saddle_thread_pool_size(e->pool); w++)
        for (size_t i = 0; i < e->agents; i++)
            e->worker[w].share[i] = share_of(e, w, i);
}

static void clear(const saddle_range *range)
{
    if (range->first < range->last)
        memset(range->sums, 0, saddle_block_count(range) * SADDLE_BLOCK_SUMS * sizeof(double));
}

static void do_blocks(const saddle_local *e, unsigned worker, const saddle_phase *phase)
{
    for (size_t i = 0; i < e->agents; i++) {
        const saddle_block_share *own = &e->worker[worker].share[i];
        if ((own->x.first == own->x.last && own->y.first == own->y.last) || saddle_local_idle(e, i))
            continue;
        clear(&own->x);
        clear(&own->y);
        phase->blocks(&e->agent[i], &own->x, &own->y);
    }
}

/* Does a worker's share of the requests of all agents: parts of the batch by number, or the samples whose entries of y
 * are in its blocks. Requests that cannot be divided are left to the end. */
static void do_requests(saddle_local *e, unsigned worker)
{
    size_t size = saddle_thread_pool_size(e->pool);
    double *scratch = e->worker[worker].scratch;
    for (size_t i = 0; i < e->agents; i++) {
        saddle_agent *agent = &e->agent[i];
        const saddle_problem *problem = agent->problem;
        saddle_request *r = &agent->request;
        double *partials = e->partials + i * e->partials_stride;
        if (e->division[i] == SADDLE_BY_PARTS) {
            size_t parts = saddle_parts_count(problem, &r->batch);
            size_t stride = saddle_partial_size(problem, r);
            for (size_t k = parts * worker / size; k < parts * (worker + 1) / size; k++)
                saddle_evaluate_part(problem, agent->id, r, k, partials + k * stride, scratch);
        } else if (e->division[i] == SADDLE_BY_SAMPLES) {
            const saddle_range *y = &e->worker[worker].share[i].y;
            saddle_evaluate_samples(problem, agent->id, r, y->first, y->last, partials, scratch);
        }
    }
}

/* Begins the request of an agent, if it has one, whose parts other workers will do. */
static bool begin_request(saddle_local *e, size_t i)
{
    saddle_request *r = &e->agent[i].request;
    e->division[i] = e->agent[i].row_noise != NULL ? SADDLE_UNDIVIDED
                                                   : saddle_division_of(e->agent[i].problem, r);
    if (e->division[i] == SADDLE_BY_PARTS)
        saddle_evaluate_begin(e->agent[i].problem, r);
    return r->kind != SADDLE_REQUEST_NONE;
}

static void end_request(saddle_local *e, size_t i)
{
    saddle_agent *agent = &e->agent[i];
    saddle_request *r = &agent->request;
    double *partials = e->partials + i * e->partials_stride;
    if (e->division[i] == SADDLE_BY_PARTS)
        saddle_agent_sum(agent, r, partials);
    else if (e->division[i] == SADDLE_BY_SAMPLES)
        saddle_evaluate_rows(agent->problem, agent->id, r, partials);
    else
        saddle_agent_evaluate_now(agent, r, agent->scratch);
    if (e->division[i] != SADDLE_UNDIVIDED)
        agent->ifo += saddle_request_ifo(r);
    r->kind = SADDLE_REQUEST_NONE;
}

/* Returns whether any agent has a request. If none has, a fast worker may enter the next phase while a
 * slow one is still here, which is why phases alternate between two slots. */
static bool has_requests(const saddle_local *e, size_t parity)
{
    for (unsigned w = 0; w < saddle_thread_pool_size(e->pool); w++)
        if (e->worker[w].has_request[parity])
            return true;
    return false;
}

/* Returns whether the entries of gy are complete when do_requests() returns and only the agent's own worker
 * reads gx: all requests are divided by samples, and x is short. The next blocks() then needs no
 * barrier before it. */
static bool only_samples(const saddle_local *e)
{
    for (size_t i = 0; i < e->agents; i++)
        if (e->division[i] != SADDLE_BY_SAMPLES)
            return false;
    return has_short_x(e);
}

/* Evaluates the requests of a phase that is not divided. Returns whether the agents' workers have written
 * something that needs a barrier before others read it. */
static bool evaluate_requests(saddle_local *e, unsigned worker, const saddle_phase *phase)
{
    size_t parity = (size_t)(phase - e->inputs.algorithm->phases) % 2;
    bool any = false;
    saddle_agent_range own = saddle_local_range(e, worker);
    for (size_t i = own.first; i < own.last; i++)
        any |= begin_request(e, i);
    e->worker[worker].has_request[parity] = any;
    saddle_thread_pool_barrier(e->pool, worker);
    if (!has_requests(e, parity))
        return false;
    bool pending = !only_samples(e);
    do_requests(e, worker);
    saddle_thread_pool_barrier(e->pool, worker);
    for (size_t i = own.first; i < own.last; i++)
        end_request(e, i);
    return pending;
}

/* Ends a round for a worker's agents, and prepares what they read in the next one. */
static void leave_round(saddle_local *e, unsigned worker, const saddle_round *round)
{
    bool last = round->number + 1 >= e->layout.rounds;
    saddle_agent_range own = saddle_local_range(e, worker);
    for (size_t i = own.first; i < own.last; i++) {
        saddle_local_leave(e, worker, i, round);
        saddle_local_lend(e, worker, i, 1 - round->parity, round->iteration + last);
        e->agent[i].round = last ? 0 : round->number + 1;
    }
}

void saddle_divided_round(saddle_local *e, unsigned worker, const saddle_round *round)
{
    /* Whether agents' workers have written something that needs a barrier before others read it. The
     * same in all workers. */
    bool pending = e->links.changing || e->links.compressed || e->links.clipper.rule != NULL;
    saddle_agent_range own = saddle_local_range(e, worker);
    saddle_local_receive(e, worker, round);
    for (size_t i = own.first; i < own.last; i++)
        saddle_local_enter(e, worker, i, round);
    for (const saddle_phase *phase = e->inputs.algorithm->phases; phase->name != NULL; phase++) {
        if (saddle_phase_has_before(phase, &e->agent[0])) {
            for (size_t i = own.first; i < own.last; i++)
                if (!saddle_local_idle(e, i))
                    phase->before(&e->agent[i]);
            pending = true;
        }
        if (phase->blocks != NULL) {
            if (pending)
                saddle_thread_pool_barrier(e->pool, worker);
            do_blocks(e, worker, phase);
            saddle_thread_pool_barrier(e->pool, worker);
            for (size_t i = own.first; i < own.last; i++) {
                if (saddle_local_idle(e, i))
                    continue;
                saddle_agent_after(phase, &e->agent[i], e->sums + i * e->sums_stride);
                saddle_agent_evaluate(&e->agent[i]);
            }
            pending = true;
        } else {
            pending = evaluate_requests(e, worker, phase);
        }
    }
    leave_round(e, worker, round);
}
