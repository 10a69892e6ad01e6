#include "engines/local_agents.h"

#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/world.h"

saddle_agent_range saddle_local_range(const saddle_local *e, unsigned worker)
{
    size_t size = saddle_thread_pool_size(e->pool);
    return (saddle_agent_range){.first = e->agents * worker / size,
                                .last = e->agents * (worker + 1) / size};
}

/* Points an agent at the spans that it reads and writes. */
static saddle_agent *point_at_spans(saddle_local *e, size_t i, unsigned parity, uint64_t iteration)
{
    saddle_agent *agent = &e->agent[i];
    const uint64_t *skipped = e->links.state.skipped;
    agent->iteration = iteration - (skipped != NULL ? skipped[i] : 0);
    agent->now = e->span[parity] + i * e->stride;
    agent->next = e->span[1 - parity] + i * e->stride;
    agent->neighbour = saddle_links_received(&e->links, parity, i);
    return agent;
}

saddle_agent *saddle_local_lend(saddle_local *e, unsigned worker, size_t i, unsigned parity,
                                uint64_t iteration)
{
    saddle_agent *agent = point_at_spans(e, i, parity, iteration);
    size_t area = e->divided || e->gathered ? i : worker;
    agent->work = e->work + area * e->work_stride;
    agent->index = e->index + area * e->index_stride;
    agent->scratch = e->worker[worker].scratch;
    agent->helpers = saddle_thread_pool_size(e->pool) > 1 ? &e->worker[worker].helpers : NULL;
    agent->mark = e->worker[worker].mark;
    return agent;
}

/* ---- sharing ------------------------------------------------------------------------------- */

/* Work of which a worker shares pieces with waiting workers. */
typedef struct shared {
    const saddle_worker *owner;
    saddle_shared_piece *piece;
    void *context;
    double *scratch; /* the owner's */
} shared;

static void do_piece(void *context, size_t piece, unsigned worker)
{
    const shared *s = context;
    double *scratch =
        worker == s->owner->number ? s->scratch : s->owner->local->worker[worker].scratch;
    s->piece(s->context, piece, scratch);
}

static void share(const saddle_helpers *helpers, size_t count, saddle_shared_piece *piece,
                  void *context, double *scratch)
{
    const saddle_worker *owner = (const saddle_worker *)helpers;
    shared s = {owner, piece, context, scratch};
    saddle_thread_pool_share(owner->local->pool, owner->number, count, do_piece, &s);
}

/* ---- advancing ---------------------------------------------------------------------------- */

/* Lowers the iteration after which all workers stop. */
static void ask_to_stop(saddle_local *e, uint64_t iteration)
{
    uint_fast64_t before = atomic_load_explicit(&e->stop_at, memory_order_relaxed);
    while (iteration < before &&
           !atomic_compare_exchange_weak_explicit(&e->stop_at, &before, iteration,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

static bool out_of_time(const saddle_limits *limits)
{
    if (limits->interrupt != NULL && *limits->interrupt != 0)
        return true;
    return limits->deadline > 0.0 && saddle_clock_seconds() >= limits->deadline;
}

/* Computes the value that only a simulation can know; worker 0 gives it to all agents. The agents keep
 * the memory that their own workers lent them, because a divided round does not lend it again. */
static void consult_oracle(saddle_local *e, unsigned worker, unsigned parity, uint64_t iteration)
{
    if (!e->oracle)
        return;
    if (worker == 0) {
        for (size_t i = 0; i < e->agents; i++)
            point_at_spans(e, i, parity, iteration);
        double number =
            e->inputs.algorithm->oracle(e->agent, e->agents, e->oracle_mean, e->worker[0].scratch);
        for (size_t i = 0; i < e->agents; i++)
            e->agent[i].oracle = number;
    }
    saddle_thread_pool_barrier(e->pool, worker);
}

/* Returns how many IFO calls each agent may add before its inner loops must end; 0: no limit. */
static uint64_t allowance(const saddle_local *e, uint64_t ifo)
{
    uint64_t budget = e->limits->ifo_budget;
    if (budget == 0)
        return 0;
    uint64_t share = budget > ifo ? (budget - ifo) / e->inputs.instance->world->agents : 0;
    return share > 0 ? share : 1;
}

void saddle_local_note_fault(saddle_local *e, unsigned worker, const saddle_agent *agent,
                             uint64_t iteration)
{
    saddle_worker *self = &e->worker[worker];
    bool earlier = self->fault_iteration == iteration && agent->id < self->fault.agent;
    if (self->fault.kind == SADDLE_FAULT_NONE || earlier) {
        self->fault = agent->fault;
        self->fault_iteration = iteration;
    }
    if (e->log == NULL)
        ask_to_stop(e, iteration);
}

/* Does one round of those of a worker's agents that have a ghost as a neighbour, or of those that have none. */
static void step_agents(saddle_local *e, unsigned worker, const saddle_round *round, bool remote)
{
    saddle_agent_range own = saddle_local_range(e, worker);
    for (size_t i = own.first; i < own.last; i++) {
        if (e->links.remote[i] != remote)
            continue;
        saddle_agent *agent = saddle_local_lend(e, worker, i, round->parity, round->iteration);
        saddle_local_enter(e, worker, i, round);
        if (!saddle_local_idle(e, i))
            saddle_agent_round(e->inputs.algorithm, agent, round->number);
        saddle_local_leave(e, worker, i, round);
    }
}

/* Does one iteration of a worker's agents: all its rounds. `allowed`: see allowance(). */
static void iterate(saddle_local *e, unsigned worker, unsigned *parity, uint64_t iteration,
                    uint64_t allowed)
{
    unsigned rounds = e->layout.rounds > 0 ? e->layout.rounds : 1;
    consult_oracle(e, worker, *parity, iteration);
    for (unsigned number = 0; number < rounds; number++) {
        const saddle_round round = {iteration, number, *parity, allowed};
        saddle_local_begin_round(e, worker, &round);
        if (e->exchange != NULL && worker == 0)
            e->exchange->send(e->exchange, *parity, number);
        if (e->dividing) {
            saddle_divided_round(e, worker, &round);
        } else if (e->gathered) {
            saddle_gathered_round(e, worker, &round);
        } else {
            step_agents(e, worker, &round, false);
            if (e->exchange != NULL) {
                saddle_local_receive(e, worker, &round);
                step_agents(e, worker, &round, true);
            }
        }
        double clock = e->timed != NULL ? saddle_clocks_advance(e, worker, &round) : 0.0;
        if (number + 1 == rounds) {
            e->worker[worker].ifo_after[iteration % 2] = e->worker[worker].ifo;
            e->worker[worker].clock_after[iteration % 2] = clock;
            if (worker == 0 && out_of_time(e->limits))
                ask_to_stop(e, iteration);
        }
        saddle_thread_pool_barrier(e->pool, worker);
        *parity = 1 - *parity;
    }
}

/* Returns the IFO calls of all agents of this process up to the end of an iteration. */
static uint64_t ifo_after(const saddle_local *e, uint64_t iteration)
{
    uint64_t ifo = 0;
    for (unsigned w = 0; w < saddle_thread_pool_size(e->pool); w++)
        ifo += e->worker[w].ifo_after[iteration % 2];
    return ifo;
}

/* Returns the latest clock in this process at the end of an iteration; NaN without clocks. */
static double clock_after(const saddle_local *e, uint64_t iteration)
{
    double latest = e->timed != NULL ? 0.0 : (double)NAN;
    for (unsigned w = 0; e->timed != NULL && w < saddle_thread_pool_size(e->pool); w++)
        latest = fmax(latest, e->worker[w].clock_after[iteration % 2]);
    return latest;
}

/* Returns whether all workers stop after this iteration. Each computes the same answer from what was
 * written before the barrier. A faster worker may already have asked to stop after the next iteration,
 * hence the comparison of iterations; IFO counts alternate between two slots. */
static bool finished(const saddle_local *e, uint64_t iteration)
{
    if (atomic_load_explicit(&e->stop_at, memory_order_relaxed) <= iteration)
        return true;
    if (e->limits->max_ifo > 0 && ifo_after(e, iteration) >= e->limits->max_ifo)
        return true;
    return e->limits->max_network_seconds > 0.0 &&
           clock_after(e, iteration) >= e->limits->max_network_seconds;
}

/* Returns the first worker that owns an agent. */
static unsigned first_worker(const saddle_local *e)
{
    unsigned w = 0;
    while (saddle_local_range(e, w).last == 0)
        w++;
    return w;
}

/* Tells the crew of an iteration. If another number of workers is to continue, the job ends after the next
 * iteration, because workers may have begun it. */
static void note_iteration(saddle_local *e, uint64_t iteration)
{
    uint64_t before = e->counted;
    e->counted = e->worker[first_worker(e)].ifo_after[iteration % 2];
    if (saddle_crew_note(&e->crew, saddle_clock_seconds(), e->counted - before,
                         saddle_thread_pool_waited(e->pool)))
        atomic_store_explicit(&e->pause_at, iteration + 1, memory_order_relaxed);
}

static void advance_job(void *context, unsigned worker)
{
    saddle_local *e = context;
    unsigned parity = e->parity;
    uint64_t iteration = e->iteration;
    uint64_t done = 0;
    uint64_t allowed = allowance(e, e->ifo);
    bool ended = e->todo == 0;
    bool paused = false;
    while (!ended && !paused) {
        iterate(e, worker, &parity, iteration, allowed);
        if (e->log != NULL && worker == 0)
            e->log[done] = (saddle_iteration_log){.ifo = ifo_after(e, iteration),
                                                  .network_seconds = clock_after(e, iteration)};
        done++;
        ended = done == e->todo || finished(e, iteration);
        paused = atomic_load_explicit(&e->pause_at, memory_order_relaxed) <= iteration;
        if (e->recruits && worker == 0 && !paused)
            note_iteration(e, iteration);
        if (allowed > 0)
            allowed = allowance(e, ifo_after(e, iteration));
        iteration++;
    }
    if (worker == 0) {
        e->done = done;
        e->ended = ended;
    }
}

/* Finds the first of the workers' faults: that of the lowest agent in the first faulty iteration. */
static void find_first(const saddle_local *e, saddle_first_fault *first)
{
    *first = (saddle_first_fault){.fault = {.kind = SADDLE_FAULT_NONE}};
    for (unsigned w = 0; w < saddle_thread_pool_size(e->pool); w++) {
        const saddle_worker *worker = &e->worker[w];
        if (worker->fault.kind == SADDLE_FAULT_NONE)
            continue;
        if (first->fault.kind == SADDLE_FAULT_NONE || worker->fault_iteration < first->iteration)
            *first =
                (saddle_first_fault){.fault = worker->fault, .iteration = worker->fault_iteration};
    }
}

static void prepare(saddle_local *e, unsigned worker)
{
    saddle_agent_range own = saddle_local_range(e, worker);
    e->worker[worker].fault.kind = SADDLE_FAULT_NONE;
    e->worker[worker].ifo = 0;
    for (size_t i = own.first; i < own.last; i++) {
        e->worker[worker].ifo += e->agent[i].ifo;
        saddle_local_lend(e, worker, i, e->parity, e->iteration)->round = 0;
    }
}

/* Divides the work among the crew, before a job. */
static void assemble(saddle_local *e)
{
    unsigned before = saddle_thread_pool_size(e->pool);
    saddle_thread_pool_resize(e->pool, e->crew.size);
    e->dividing = e->divided && saddle_local_divides(e, e->crew.size);
    if (e->dividing && e->crew.size != before)
        saddle_divide_blocks(e);
    for (unsigned w = 0; w < saddle_thread_pool_size(e->pool); w++)
        prepare(e, w);
    e->counted = e->agents > 0 ? e->worker[first_worker(e)].ifo : 0;
    saddle_crew_resume(&e->crew, saddle_clock_seconds());
}

void saddle_local_run(saddle_local *e, const saddle_limits *limits, saddle_iteration_log *log,
                      saddle_first_fault *first)
{
    unsigned rounds = e->layout.rounds > 0 ? e->layout.rounds : 1;
    e->limits = limits;
    e->log = log;
    e->todo = limits->iterations;
    atomic_store(&e->stop_at, UINT64_MAX);
    do {
        assemble(e);
        atomic_store(&e->pause_at, UINT64_MAX);
        saddle_thread_pool_run(e->pool, advance_job, e);
        e->iteration += e->done;
        e->todo -= e->done;
        if (e->done * rounds % 2 == 1)
            e->parity = 1 - e->parity;
        e->ifo = saddle_local_ifo(e);
    } while (!e->ended);
    for (size_t i = 0; i < e->agents; i++)
        saddle_local_lend(e, 0, i, e->parity, e->iteration);
    e->network_seconds = saddle_clocks_latest(e);
    find_first(e, first);
}

uint64_t saddle_local_ifo(const saddle_local *e)
{
    uint64_t ifo = 0;
    for (size_t i = 0; i < e->agents; i++)
        ifo += e->agent[i].ifo;
    return ifo;
}

uint64_t saddle_local_iteration(const saddle_engine *base)
{
    return ((const saddle_local *)base)->iteration;
}

void saddle_local_cost(const saddle_engine *base, saddle_cost *out)
{
    const saddle_local *e = (const saddle_local *)base;
    out->ifo = e->ifo;
    out->rounds = e->iteration * e->layout.rounds;
    out->messages = out->rounds * e->links.messages_per_round;
    out->bytes = e->iteration * e->links.bytes_per_iteration;
    out->network_seconds = e->network_seconds;
    saddle_local_link_costs(e, out);
}

/* ---- creating and freeing ----------------------------------------------------------------- */

/* Clears the memory of each worker's agents in that worker, because pages are placed near the processor
 * that first writes to them. */
static void touch_job(void *context, unsigned worker)
{
    saddle_local *e = context;
    saddle_agent_range own = saddle_local_range(e, worker);
    double *const block[] = {e->span[0], e->span[1], e->kept};
    const size_t stride[] = {e->stride, e->stride, e->kept_stride};
    for (size_t k = 0; k < sizeof block / sizeof *block; k++)
        memset(block[k] + own.first * stride[k], 0,
               (own.last - own.first) * stride[k] * sizeof(double));
}

static void introduce_agents(saddle_local *e)
{
    const saddle_mixing *mixing = e->inputs.instance->mixing;
    const saddle_world *world = e->inputs.instance->world;
    const saddle_problem *const *problems = e->inputs.problem;
    e->row_noise = (saddle_row_noise){
        .clip = e->inputs.row_clip, .noise = e->inputs.row_noise, .seed = e->inputs.instance->seed};
    for (size_t i = 0; i < e->agents; i++) {
        size_t id = world->here[i];
        e->agent[i] = (saddle_agent){
            .id = id,
            .agents = world->agents,
            .seed = e->inputs.instance->seed,
            .problem = problems != NULL ? problems[id] : e->inputs.instance->problem,
            .x_prox = e->inputs.instance->x_prox,
            .y_set = e->inputs.instance->y_set,
            .parameters = e->inputs.parameters,
            .kept = e->kept + i * e->kept_stride,
            .degree = e->links.start[i + 1] - e->links.start[i],
            .weight = mixing->weight + mixing->graph->start[id],
            .self_weight = mixing->self_weight[id],
            .layout = &e->layout,
            .blocks = &e->blocks,
            .row_noise = e->row_noise.clip > 0.0 ? &e->row_noise : NULL,
        };
    }
}

saddle_status saddle_local_make(saddle_local *e, const saddle_engine_inputs *inputs,
                                unsigned processors, saddle_error *error)
{
    size_t threads = saddle_local_measure(e, inputs, processors);
    SADDLE_TRY(
        saddle_thread_pool_create(&e->pool, (unsigned)threads, processors, inputs->pin, error));
    if (!saddle_local_allocate(e))
        return saddle_no_memory(error, "the agents' state");
    for (unsigned w = 0; w < saddle_thread_pool_size(e->pool); w++) {
        e->worker[w].helpers.share = share;
        e->worker[w].local = e;
        e->worker[w].number = w;
    }
    saddle_thread_pool_run(e->pool, touch_job, e);
    introduce_agents(e);
    saddle_crew_make(&e->crew, (unsigned)threads, (unsigned)threads);
    e->dividing = e->divided;
    if (e->divided)
        saddle_divide_blocks(e);
    return SADDLE_OK;
}

static void start_job(void *context, unsigned worker)
{
    saddle_local *e = context;
    saddle_agent_range own = saddle_local_range(e, worker);
    for (size_t i = own.first; i < own.last; i++) {
        saddle_agent *agent = saddle_local_lend(e, worker, i, 1, 0);
        e->inputs.algorithm->start(agent, e->inputs.instance->x0, e->inputs.instance->y0);
        saddle_local_start_links(e, agent, i);
    }
}

void saddle_local_start(saddle_local *e)
{
    e->iteration = e->inputs.iteration;
    saddle_local_prepare_links(e);
    if (e->inputs.restore == NULL)
        saddle_thread_pool_run(e->pool, start_job, e);
    for (size_t i = 0; e->inputs.restore != NULL && i < e->agents; i++)
        e->inputs.restore(e->inputs.restore_context, saddle_local_lend(e, 0, i, 1, e->iteration));
    if (e->inputs.restore != NULL)
        saddle_local_restore_links(e);
    for (size_t i = 0; i < e->agents; i++)
        saddle_local_lend(e, 0, i, 0, e->iteration);
    saddle_clocks_start(e);
    e->ifo = saddle_local_ifo(e);
    e->network_seconds = saddle_clocks_latest(e);
}
