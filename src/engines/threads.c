/*
 * The engine `threads`: all agents in one process, stepped by a crew of worker threads.
 *
 * Every agent's published span exists twice, for the last round and for the next; a round reads the
 * one and writes the other, so that neighbours are read in place and no agent waits for another
 * inside a round. Workers own contiguous ranges of agents and meet at a barrier after each round.
 * What an agent computes does not depend on who runs it: the bits are the same for any number of
 * threads.
 */
#include "engines/engines.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/status.h"
#include "core/vector.h"
#include "engines/crew.h"

/* Agents whose contributions to a mean are held at once. */
#define MEAN_BLOCK 16

/* What a worker has to itself. Padded so that two workers never share a cache line. */
typedef struct worker_memory {
    double *scratch;
    uint32_t *index;
    uint64_t *mark;
    _Alignas(
        SADDLE_ALIGNMENT) uint64_t ifo[2]; /* IFO calls of its agents, by parity of iteration */
} worker_memory;

typedef struct engine {
    saddle_engine base;
    saddle_engine_inputs inputs;
    saddle_layout layout;
    saddle_crew *crew;
    worker_memory *worker;
    size_t agents;
    size_t stride; /* doubles between two agents' spans */
    saddle_agent *agent;
    double *span[2];             /* published spans; parity says which one is `now` */
    const double **neighbour[2]; /* per parity, all agents' neighbour lists one after another */
    double *kept;
    size_t kept_stride;
    uint64_t iteration;
    unsigned parity;
    uint64_t messages_per_round;
    uint64_t bytes_per_iteration;
    bool oracle;
    double *oracle_mean;
    /* A job's state. */
    const saddle_limits *limits;
    uint64_t ifo;                 /* IFO calls before it */
    uint64_t done;                /* iterations of this advance(); written by worker 0 */
    atomic_uint_fast64_t stop_at; /* iteration after which all workers leave; UINT64_MAX: none */
    double *mean_terms;           /* MEAN_BLOCK contributions */
    size_t mean_size;
} engine;

static engine *engine_of(saddle_engine *base)
{
    return (engine *)base;
}

/* The agents of a worker: [first, last). */
static void range_of(const engine *e, unsigned worker, size_t *first, size_t *last)
{
    size_t size = saddle_crew_size(e->crew);
    *first = e->agents * worker / size;
    *last = e->agents * (worker + 1) / size;
}

/* Lend a worker's memory to an agent and point it at the current spans. */
static saddle_agent *lend(engine *e, unsigned worker, size_t i, unsigned parity, uint64_t iteration)
{
    saddle_agent *agent = &e->agent[i];
    agent->iteration = iteration;
    agent->now = e->span[parity] + i * e->stride;
    agent->next = e->span[1 - parity] + i * e->stride;
    agent->neighbour = e->neighbour[parity] + e->inputs.mixing->graph->start[i];
    agent->scratch = e->worker[worker].scratch;
    agent->index = e->worker[worker].index;
    agent->mark = e->worker[worker].mark;
    return agent;
}

/* ---- advancing ---------------------------------------------------------------------------- */

/* Lower the iteration after which everybody leaves. */
static void ask_to_stop(engine *e, uint64_t iteration)
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

/* The number that only a simulation can know, given to all agents by worker 0. */
static void consult_oracle(engine *e, unsigned worker, unsigned parity, uint64_t iteration)
{
    if (!e->oracle)
        return;
    if (worker == 0) {
        for (size_t i = 0; i < e->agents; i++)
            lend(e, 0, i, parity, iteration);
        double number =
            e->inputs.algorithm->oracle(e->agent, e->agents, e->oracle_mean, e->worker[0].scratch);
        for (size_t i = 0; i < e->agents; i++)
            e->agent[i].oracle = number;
    }
    saddle_crew_meet(e->crew);
}

/* What each agent may add to its IFO calls before its inner loops end; 0: whatever it likes. */
static uint64_t allowance(const engine *e, uint64_t ifo)
{
    uint64_t budget = e->limits->ifo_budget;
    if (budget == 0)
        return 0;
    uint64_t share = budget > ifo ? (budget - ifo) / e->agents : 0;
    return share > 0 ? share : 1;
}

/* One iteration of a worker's agents: all its rounds. `allowed`: see allowance(). */
static void iterate(engine *e, unsigned worker, unsigned *parity, uint64_t iteration,
                    uint64_t allowed)
{
    size_t first;
    size_t last;
    range_of(e, worker, &first, &last);
    unsigned rounds = e->layout.rounds > 0 ? e->layout.rounds : 1;
    uint64_t ifo = 0;
    consult_oracle(e, worker, *parity, iteration);
    for (unsigned round = 0; round < rounds; round++) {
        bool last_round = round + 1 == rounds;
        for (size_t i = first; i < last; i++) {
            saddle_agent *agent = lend(e, worker, i, *parity, iteration);
            if (round == 0)
                agent->ifo_limit = allowed > 0 ? agent->ifo + allowed : 0;
            e->inputs.algorithm->step(agent, round);
            if (agent->fault.kind != SADDLE_FAULT_NONE)
                ask_to_stop(e, iteration);
            ifo += last_round ? agent->ifo : 0;
        }
        if (last_round) {
            e->worker[worker].ifo[iteration % 2] = ifo;
            if (worker == 0 && out_of_time(e->limits))
                ask_to_stop(e, iteration);
        }
        saddle_crew_meet(e->crew);
        *parity = 1 - *parity;
    }
}

/* IFO calls of all agents until the end of an iteration. */
static uint64_t ifo_after(const engine *e, uint64_t iteration)
{
    uint64_t ifo = 0;
    for (unsigned w = 0; w < saddle_crew_size(e->crew); w++)
        ifo += e->worker[w].ifo[iteration % 2];
    return ifo;
}

/* Whether all workers leave after this iteration: each computes the same answer from what was
 * written before the barrier. A faster worker may already have asked to stop after the next
 * iteration, which is why the iteration is compared; IFO counts alternate between two slots. */
static bool finished(const engine *e, uint64_t iteration)
{
    if (atomic_load_explicit(&e->stop_at, memory_order_relaxed) <= iteration)
        return true;
    return e->limits->max_ifo > 0 && ifo_after(e, iteration) >= e->limits->max_ifo;
}

static void advance_job(void *context, unsigned worker)
{
    engine *e = context;
    unsigned parity = e->parity;
    uint64_t iteration = e->iteration;
    uint64_t done = 0;
    uint64_t allowed = allowance(e, e->ifo);
    while (done < e->limits->iterations) {
        iterate(e, worker, &parity, iteration, allowed);
        done++;
        if (finished(e, iteration))
            break;
        if (allowed > 0)
            allowed = allowance(e, ifo_after(e, iteration));
        iteration++;
    }
    if (worker == 0)
        e->done = done;
}

static void advance(saddle_engine *base, const saddle_limits *limits, saddle_fault *fault)
{
    engine *e = engine_of(base);
    unsigned rounds = e->layout.rounds > 0 ? e->layout.rounds : 1;
    e->limits = limits;
    e->done = 0;
    e->ifo = 0;
    for (size_t i = 0; i < e->agents; i++)
        e->ifo += e->agent[i].ifo;
    atomic_store(&e->stop_at, UINT64_MAX);
    saddle_crew_run(e->crew, advance_job, e);
    e->iteration += e->done;
    if (e->done * rounds % 2 == 1)
        e->parity = 1 - e->parity;
    for (size_t i = 0; i < e->agents; i++)
        lend(e, 0, i, e->parity, e->iteration);
    for (size_t i = 0; i < e->agents && fault->kind == SADDLE_FAULT_NONE; i++)
        *fault = e->agent[i].fault;
}

static uint64_t iteration_of(const saddle_engine *base)
{
    return ((const engine *)base)->iteration;
}

static void cost(const saddle_engine *base, saddle_cost *out)
{
    const engine *e = (const engine *)base;
    out->ifo = 0;
    for (size_t i = 0; i < e->agents; i++)
        out->ifo += e->agent[i].ifo;
    out->rounds = e->iteration * e->layout.rounds;
    out->messages = out->rounds * e->messages_per_round;
    out->bytes = e->iteration * e->bytes_per_iteration;
}

/* ---- tasks and means ---------------------------------------------------------------------- */

typedef struct task_job {
    engine *e;
    saddle_agent_task *task;
    void *context;
} task_job;

static void run_tasks(void *context, unsigned worker)
{
    task_job *job = context;
    size_t first;
    size_t last;
    range_of(job->e, worker, &first, &last);
    for (size_t i = first; i < last; i++)
        job->task(job->context, lend(job->e, worker, i, job->e->parity, job->e->iteration));
}

static void for_each(saddle_engine *base, saddle_agent_task *task, void *context)
{
    task_job job = {.e = engine_of(base), .task = task, .context = context};
    saddle_crew_run(job.e->crew, run_tasks, &job);
}

typedef struct mean_job {
    engine *e;
    saddle_agent_term *term;
    void *context;
    size_t size;
    double *out;
} mean_job;

/* Blocks of agents contribute in parallel; then each worker adds its coordinates, agent by agent.
 */
static void run_mean(void *context, unsigned worker)
{
    mean_job *job = context;
    engine *e = job->e;
    unsigned crew = saddle_crew_size(e->crew);
    size_t low = job->size * worker / crew;
    size_t high = job->size * (worker + 1) / crew;
    memset(job->out + low, 0, (high - low) * sizeof *job->out);
    for (size_t begin = 0; begin < e->agents; begin += MEAN_BLOCK) {
        size_t count = e->agents - begin < MEAN_BLOCK ? e->agents - begin : MEAN_BLOCK;
        for (size_t k = worker; k < count; k += crew)
            job->term(job->context, lend(e, worker, begin + k, e->parity, e->iteration),
                      e->mean_terms + k * e->mean_size);
        saddle_crew_meet(e->crew);
        for (size_t k = 0; k < count; k++)
            saddle_axpy(high - low, 1.0, e->mean_terms + k * e->mean_size + low, job->out + low);
        saddle_crew_meet(e->crew);
    }
    saddle_scale(high - low, 1.0 / (double)e->agents, job->out + low);
}

static void mean(saddle_engine *base, size_t size, saddle_agent_term *term, void *context,
                 double *out)
{
    mean_job job = {
        .e = engine_of(base), .term = term, .context = context, .size = size, .out = out};
    saddle_crew_run(job.e->crew, run_mean, &job);
}

/* ---- making and freeing ------------------------------------------------------------------- */

static void destroy(saddle_engine *base)
{
    engine *e = engine_of(base);
    if (e == NULL)
        return;
    for (unsigned w = 0; e->worker != NULL && w < saddle_crew_size(e->crew); w++) {
        saddle_free(e->worker[w].scratch);
        saddle_free(e->worker[w].index);
        saddle_free(e->worker[w].mark);
    }
    saddle_crew_destroy(e->crew);
    saddle_free(e->worker);
    saddle_free(e->agent);
    for (int parity = 0; parity < 2; parity++) {
        saddle_free(e->span[parity]);
        saddle_free(e->neighbour[parity]);
    }
    saddle_free(e->kept);
    saddle_free(e->oracle_mean);
    saddle_free(e->mean_terms);
    saddle_free(e);
}

static unsigned crew_size(const saddle_engine_inputs *inputs)
{
    size_t agents = inputs->problem->agents;
    size_t threads = inputs->threads;
    if (threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        threads = processors > 0 ? (size_t)processors : 1;
    }
    return (unsigned)(threads < agents ? threads : agents);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Scratch for a step of the algorithm or for a task, whichever needs more. */
static size_t scratch_size(const engine *e)
{
    size_t inner =
        larger(saddle_problem_scratch(e->inputs.problem),
               larger(saddle_prox_scratch(e->inputs.x_prox), saddle_set_scratch(e->inputs.y_set)));
    return larger(e->layout.scratch + inner, e->inputs.scratch);
}

static bool allocate_workers(engine *e)
{
    size_t most = 0;
    for (size_t i = 0; i < e->agents; i++)
        most = larger(most, e->inputs.problem->samples[i]);
    unsigned crew = saddle_crew_size(e->crew);
    e->worker = saddle_alloc(crew, sizeof *e->worker);
    for (unsigned w = 0; e->worker != NULL && w < crew; w++) {
        worker_memory *memory = &e->worker[w];
        memory->scratch = saddle_alloc_doubles(scratch_size(e));
        memory->index = saddle_alloc(most, sizeof *memory->index);
        memory->mark = saddle_alloc(saddle_rng_mark_words(most), sizeof *memory->mark);
        if (memory->scratch == NULL || memory->index == NULL || memory->mark == NULL)
            return false;
    }
    return e->worker != NULL;
}

static bool allocate_agents(engine *e)
{
    const saddle_graph *graph = e->inputs.mixing->graph;
    const size_t line = SADDLE_ALIGNMENT / sizeof(double);
    const saddle_problem *problem = e->inputs.problem;
    e->stride = (e->layout.published + line - 1) / line * line;
    e->kept_stride = (e->layout.kept + line - 1) / line * line;
    e->mean_size = larger(larger(problem->x_dim + problem->y_dim, problem->response_size), line);
    e->mean_size = (e->mean_size + line) / line * line;
    e->agent = saddle_alloc(e->agents, sizeof *e->agent);
    e->kept = saddle_alloc(e->agents, e->kept_stride * sizeof(double));
    e->mean_terms = saddle_alloc_doubles(MEAN_BLOCK * e->mean_size);
    e->oracle_mean = saddle_alloc_doubles(problem->x_dim);
    bool whole =
        e->agent != NULL && e->kept != NULL && e->mean_terms != NULL && e->oracle_mean != NULL;
    for (int parity = 0; parity < 2; parity++) {
        e->span[parity] = saddle_alloc(e->agents, e->stride * sizeof(double));
        e->neighbour[parity] = saddle_alloc(2 * graph->edges, sizeof *e->neighbour[parity]);
        whole = whole && e->span[parity] != NULL && e->neighbour[parity] != NULL;
    }
    return whole;
}

static void wire_agents(engine *e)
{
    const saddle_mixing *mixing = e->inputs.mixing;
    const saddle_graph *graph = mixing->graph;
    for (unsigned parity = 0; parity < 2; parity++)
        for (size_t k = 0; k < 2 * graph->edges; k++)
            e->neighbour[parity][k] = e->span[parity] + graph->neighbour[k] * e->stride;
    for (size_t i = 0; i < e->agents; i++)
        e->agent[i] = (saddle_agent){
            .id = i,
            .agents = e->agents,
            .seed = e->inputs.seed,
            .problem = e->inputs.problem,
            .x_prox = e->inputs.x_prox,
            .y_set = e->inputs.y_set,
            .parameters = e->inputs.parameters,
            .kept = e->kept + i * e->kept_stride,
            .degree = graph->start[i + 1] - graph->start[i],
            .weight = mixing->weight + graph->start[i],
            .self_weight = mixing->self_weight[i],
        };
}

static void start_job(void *context, unsigned worker)
{
    engine *e = context;
    size_t first;
    size_t last;
    range_of(e, worker, &first, &last);
    for (size_t i = first; i < last; i++)
        e->inputs.algorithm->start(lend(e, worker, i, 1, 0), e->inputs.x0, e->inputs.y0);
}

/* Bring the agents to where they begin: at the algorithm's start, or where they once were. */
static void start_agents(engine *e)
{
    e->iteration = e->inputs.iteration;
    if (e->inputs.restore == NULL)
        saddle_crew_run(e->crew, start_job, e);
    for (size_t i = 0; e->inputs.restore != NULL && i < e->agents; i++)
        e->inputs.restore(e->inputs.restore_context, lend(e, 0, i, 1, e->iteration));
    for (size_t i = 0; i < e->agents; i++)
        lend(e, 0, i, 0, e->iteration);
}

static void count_messages(engine *e)
{
    const saddle_algorithm *algorithm = e->inputs.algorithm;
    e->messages_per_round = 2 * (uint64_t)e->inputs.mixing->graph->edges;
    for (unsigned round = 0; round < e->layout.rounds; round++) {
        size_t doubles = algorithm->message != NULL
                             ? algorithm->message(e->inputs.parameters, &e->layout, round)
                             : e->layout.published;
        e->bytes_per_iteration += e->messages_per_round * doubles * sizeof(double);
    }
}

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    *out = NULL;
    engine *e = saddle_alloc(1, sizeof *e);
    if (e == NULL)
        return saddle_no_memory(error, "the engine");
    e->base.kind = &saddle_threads_engine;
    e->inputs = *inputs;
    e->agents = inputs->problem->agents;
    inputs->algorithm->layout(inputs->parameters, inputs->problem, &e->layout);
    e->oracle = inputs->algorithm->wants_oracle != NULL &&
                inputs->algorithm->wants_oracle(inputs->parameters);
    saddle_status status = saddle_crew_create(&e->crew, crew_size(inputs), error);
    if (status != SADDLE_OK) {
        saddle_free(e);
        return status;
    }
    if (!allocate_workers(e) || !allocate_agents(e)) {
        destroy(&e->base);
        return saddle_no_memory(error, "the agents' state");
    }
    wire_agents(e);
    count_messages(e);
    start_agents(e);
    *out = &e->base;
    return SADDLE_OK;
}

const saddle_engine_class saddle_threads_engine = {
    .name = "threads",
    .summary = "all agents in one process, on any number of threads",
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .iteration = iteration_of,
    .cost = cost,
    .for_each = for_each,
    .mean = mean,
};
