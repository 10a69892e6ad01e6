/*
 * The engine `mpi`: agents on the processes of an MPI job, in each on a pool of threads.
 *
 * Before a round, neighbouring processes exchange what their agents have published for it: one message
 * each way, which contains every span that the other side reads, once. Nothing else is sent during
 * iterations, except that the processes agree from time to time on whether to continue: after a stretch of
 * iterations, which has the same length in all of them. MPI itself is in a module (module_mpi.c).
 */
#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/processors.h"
#include "engines/local_agents.h"
#include "engines/mpi_job.h"
#include "graph/link_model.h"

/* The most iterations of a stretch. */
#define LONGEST 4096
/* A stretch should take this long: rarely enough to cost nothing, often enough to stop in time. */
#define SHORT_SECONDS 0.01
#define LONG_SECONDS 0.04

typedef struct engine {
    saddle_local local; /* must be first: its functions are this engine's */
    saddle_exchange exchange;
    saddle_peers all;
    saddle_channels *channels; /* to them; NULL if there is only this process */
    uint64_t most_ifo;         /* most IFO calls of an iteration */
    double most_seconds;       /* most simulated seconds of an iteration */
    uint64_t stretch;          /* iterations until the processes agree again */
    saddle_iteration_log *log;
} engine;

static engine *engine_of(saddle_engine *base)
{
    return (engine *)base;
}

/* ---- a round --------------------------------------------------------------------------------- */

static engine *engine_with(saddle_exchange *exchange)
{
    return (engine *)((char *)exchange - offsetof(engine, exchange));
}

static void begin_round(saddle_exchange *exchange, unsigned parity, unsigned round)
{
    saddle_mpi->start(engine_with(exchange)->channels, parity, round);
}

static void end_round(saddle_exchange *exchange)
{
    saddle_mpi->wait(engine_with(exchange)->channels);
}

/* ---- stretches of iterations ----------------------------------------------------------------- */

/* Returns how many iterations, at most `count`, certainly do not reach the limit of simulated seconds
 * before the last one. */
static uint64_t within_seconds(const engine *e, const saddle_limits *limits, uint64_t count)
{
    double left = limits->max_network_seconds - e->local.network_seconds;
    if (!(limits->max_network_seconds > 0.0))
        return count;
    /* Its inner loops have no fixed length. */
    if (e->local.inputs.algorithm->respects_limit || !(left > e->most_seconds))
        return 1;
    return left < e->most_seconds * (double)count ? (uint64_t)(left / e->most_seconds) : count;
}

/* Returns how many iterations all processes can make before they must check the limits together. */
static uint64_t stretch_of(const engine *e, const saddle_limits *limits, uint64_t left)
{
    uint64_t count = within_seconds(e, limits, e->stretch < left ? e->stretch : left);
    if (limits->max_ifo == 0 && limits->ifo_budget == 0)
        return count;
    /* The IFO calls of all agents determine where its inner loops end. */
    if (e->local.inputs.algorithm->respects_limit)
        return 1;
    if (limits->max_ifo == 0)
        return count;
    /* This many iterations certainly stay within the limit; the next one is checked. */
    uint64_t calls = limits->max_ifo > e->local.ifo ? limits->max_ifo - e->local.ifo : 1;
    uint64_t safe = (calls - 1) / e->most_ifo + 1;
    return safe < count ? safe : count;
}

/* What processes exchange after a stretch, as sums over all of them. */
enum { IFO, STOPS, FAULTS, NANOSECONDS, NANOSECONDS_LEFT, WORDS };

static void report(const engine *e, const saddle_limits *limits, const saddle_first_fault *first,
                   double seconds, int64_t *word)
{
    double left = 1.0;
    bool stop = limits->interrupt != NULL && *limits->interrupt != 0;
    if (limits->deadline > 0.0)
        left = limits->deadline - saddle_clock_seconds();
    word[IFO] = (int64_t)saddle_local_ifo(&e->local);
    word[STOPS] = stop || left <= 0.0;
    word[FAULTS] = first->fault.kind != SADDLE_FAULT_NONE;
    word[NANOSECONDS] = (int64_t)(1e9 * (seconds < 1e3 ? seconds : 1e3));
    word[NANOSECONDS_LEFT] = (int64_t)(1e9 * (left < 1.0 ? left : 1.0));
}

/* Adapts the length of the next stretch to its target time and to the deadline. */
static void adapt(engine *e, uint64_t count, const int64_t *word)
{
    double ranks = (double)e->local.inputs.instance->world->ranks;
    double seconds = 1e-9 * (double)word[NANOSECONDS] / ranks;
    double left = 1e-9 * (double)word[NANOSECONDS_LEFT] / ranks;
    if (seconds > LONG_SECONDS || seconds > left)
        e->stretch = count > 1 ? count / 2 : 1;
    else if (seconds < SHORT_SECONDS && count == e->stretch)
        e->stretch = count < LONGEST / 2 ? 2 * count : LONGEST;
}

/* Sets the latest clock to the latest of all processes. */
static void share_clock(engine *e)
{
    const saddle_world *world = e->local.inputs.instance->world;
    if (e->local.timed != NULL)
        world->largest(world, 1, &e->local.network_seconds);
}

/* Finds the fault of the lowest agent in the first faulty iteration, and shares it with all processes. */
static void share_fault(engine *e, const saddle_first_fault *first, uint64_t begin,
                        saddle_fault *fault)
{
    const saddle_world *world = e->local.inputs.instance->world;
    bool mine = first->fault.kind != SADDLE_FAULT_NONE;
    double latest = (double)(begin + LONGEST);
    double iteration = mine ? latest - (double)first->iteration : 0.0;
    double earliest = iteration;
    world->largest(world, 1, &earliest);
    double lowest =
        mine && iteration == earliest ? (double)(world->agents - first->fault.agent) : 0.0;
    world->largest(world, 1, &lowest);
    *fault = first->fault;
    world->share(world, world->home[world->agents - (size_t)lowest], sizeof *fault, fault);
    /* The others learn of it late: set the counts back to the faulty iteration. */
    uint64_t done = (uint64_t)(latest - earliest) - begin + 1;
    int64_t ifo = (int64_t)e->log[done - 1].ifo;
    world->add_words(world, 1, &ifo);
    e->local.iteration = begin + done;
    e->local.ifo = (uint64_t)ifo;
    e->local.network_seconds = e->log[done - 1].network_seconds;
    share_clock(e);
}

/* Makes a stretch of iterations; returns whether to continue. */
static bool run_stretch(engine *e, const saddle_limits *limits, uint64_t count, saddle_fault *fault)
{
    const saddle_world *world = e->local.inputs.instance->world;
    uint64_t begin = e->local.iteration;
    bool limited = e->local.inputs.algorithm->respects_limit;
    saddle_limits plain = {.iterations = count, .ifo_budget = limited ? limits->ifo_budget : 0};
    saddle_first_fault first;
    int64_t word[WORDS];
    double clock = saddle_clock_seconds();
    saddle_local_run(&e->local, &plain, e->log, &first);
    report(e, limits, &first, saddle_clock_seconds() - clock, word);
    world->add_words(world, WORDS, word);
    e->local.ifo = (uint64_t)word[IFO];
    share_clock(e);
    adapt(e, count, word);
    if (word[FAULTS] > 0) {
        share_fault(e, &first, begin, fault);
        return false;
    }
    return word[STOPS] == 0 && !(limits->max_ifo > 0 && e->local.ifo >= limits->max_ifo) &&
           !(limits->max_network_seconds > 0.0 &&
             e->local.network_seconds >= limits->max_network_seconds);
}

static void advance(saddle_engine *base, const saddle_limits *limits, saddle_fault *fault)
{
    engine *e = engine_of(base);
    if (e->local.inputs.instance->world->ranks == 1) {
        saddle_threads_engine.advance(base, limits, fault);
        return;
    }
    uint64_t left = limits->iterations;
    while (left > 0) {
        uint64_t count = stretch_of(e, limits, left);
        if (!run_stretch(e, limits, count, fault))
            break;
        left -= count;
    }
}

/* ---- which processes exchange messages ----------------------------------------------------------------------- */

/* Lists the agents of this process that process `rank` reads. */
static size_t spans_for(const engine *e, size_t rank, size_t *out)
{
    const saddle_world *world = e->local.inputs.instance->world;
    const saddle_graph *graph = e->local.inputs.instance->mixing->graph;
    size_t count = 0;
    for (size_t i = 0; i < e->local.agents; i++)
        for (size_t k = graph->start[world->here[i]]; k < graph->start[world->here[i] + 1]; k++)
            if (world->home[graph->neighbour[k]] == rank) {
                if (out != NULL)
                    out[count] = i;
                count++;
                break;
            }
    return count;
}

/* Ghosts are ordered by rank, so each range with the same rank is a peer. */
static void find_peers(engine *e)
{
    const saddle_local *local = &e->local;
    const size_t *home = local->inputs.instance->world->home;
    saddle_peers *all = &e->all;
    size_t spans = 0;
    for (size_t g = 0; g < local->links.ghosts; g++)
        all->peers += g == 0 || home[local->links.ghost[g]] != home[local->links.ghost[g - 1]];
    all->peer = saddle_allocator_block(&e->local.memory, all->peers, sizeof *all->peer);
    if (all->peer == NULL)
        return;
    saddle_peer *at = all->peer;
    for (size_t g = 0; g < local->links.ghosts; g += at++->ghosts) {
        size_t rank = home[local->links.ghost[g]];
        at->rank = (int)rank;
        at->ghost = g;
        while (g + at->ghosts < local->links.ghosts &&
               home[local->links.ghost[g + at->ghosts]] == rank)
            at->ghosts++;
        at->span = spans;
        at->spans = spans_for(e, rank, NULL);
        spans += at->spans;
    }
    all->published = saddle_allocator_block(&e->local.memory, spans, sizeof *all->published);
    for (size_t k = 0; all->published != NULL && k < all->peers; k++)
        spans_for(e, (size_t)all->peer[k].rank, all->published + all->peer[k].span);
}

/* Lists what a row sends in every round, including the clock if there are clocks. */
static void find_messages(engine *e)
{
    const saddle_local *local = &e->local;
    saddle_peers *all = &e->all;
    all->rounds = local->layout.rounds;
    all->span[0] = local->span[0];
    all->span[1] = local->span[1];
    all->halo = local->links.halo;
    all->stride = local->stride;
    all->message = saddle_allocator_block(&e->local.memory, all->rounds, sizeof *all->message);
    for (unsigned round = 0; all->message != NULL && round < all->rounds; round++) {
        saddle_round_blocks *message = &all->message[round];
        message->count = saddle_links_blocks(&local->links, round, message->block);
        if (local->timed != NULL)
            message->block[message->count++] =
                (saddle_row_block){.offset = saddle_clock_offset(local), .length = 1};
    }
}

/* ---- creating and freeing ---------------------------------------------------------------------- */

static void destroy(saddle_engine *base)
{
    engine *e = engine_of(base);
    if (e == NULL)
        return;
    if (e->channels != NULL)
        saddle_mpi->close(e->channels);
    saddle_local_clear(&e->local);
    saddle_free(e);
}

/* Ignores the messages' few hundred bytes per peer, which matter only if agents are few and small. */
static double bytes(const saddle_engine_inputs *inputs)
{
    return saddle_local_bytes(inputs,
                              saddle_processors(inputs->instance->world->ranks_on_machine)) +
           saddle_block_bytes(LONGEST, sizeof(saddle_iteration_log));
}

/* Returns by how much an iteration can advance the latest clock at most: each round waits for the slowest link. */
static double most_seconds(const engine *e)
{
    const saddle_link_model *model = e->local.inputs.link_model;
    const saddle_graph *graph = e->local.inputs.instance->graph;
    double seconds = 0.0;
    double compute = 0.0;
    if (model == NULL)
        return 0.0;
    for (unsigned round = 0; round < e->local.layout.rounds; round++) {
        double slowest = 0.0;
        size_t length = saddle_links_length(&e->local.links, round);
        for (size_t k = 0; k < 2 * graph->edges; k++)
            slowest = fmax(slowest, saddle_link_seconds(model, k, 8.0 * (double)length));
        seconds += slowest;
    }
    for (size_t i = 0; i < graph->agents; i++)
        compute = fmax(compute, model->compute[i]);
    return seconds + compute * (double)e->most_ifo;
}

/* Does everything that a process can do, and fail at, on its own. */
static saddle_status prepare(engine *e, const saddle_engine_inputs *inputs, saddle_error *error)
{
    const saddle_world *world = inputs->instance->world;
    bool alone = world->ranks == 1;
    if (inputs->pin && world->ranks_on_machine > 1 && !saddle_processors_are_own())
        return saddle_refuse(
            error,
            "--pin: %zu processes share the processors of this machine; let mpirun "
            "bind each to its own, or leave --pin out",
            world->ranks_on_machine);
    saddle_status status =
        saddle_local_make(&e->local, inputs, saddle_processors(world->ranks_on_machine), error);
    if (status != SADDLE_OK || alone)
        return status;
    if (e->local.oracle)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s with these options needs a number that is computed from all agents "
                           "at once (gamma exact), but none of the %zu processes has all agents; "
                           "set --engine to threads, or use one process",
                           inputs->algorithm->name, world->ranks);
    find_peers(e);
    find_messages(e);
    e->log = saddle_allocator_block(&e->local.memory, LONGEST, sizeof *e->log);
    if (!e->local.memory.failed)
        e->channels = saddle_mpi->channels(&e->all);
    if (e->channels == NULL)
        return saddle_no_memory(error, "the messages between processes");
    return SADDLE_OK;
}

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    *out = NULL;
    engine *e = saddle_alloc(1, sizeof *e);
    saddle_status status = saddle_check_memory(e, "the engine", error);
    if (e != NULL) {
        e->local.base.kind = &saddle_mpi_engine;
        e->stretch = 1;
        e->most_ifo = saddle_algorithm_most_ifo(inputs->algorithm, inputs->parameters,
                                                inputs->instance->problem);
        status = prepare(e, inputs, error);
        e->most_seconds = most_seconds(e);
    }
    status = saddle_world_agree(inputs->instance->world, status, error);
    if (status != SADDLE_OK || e == NULL) {
        destroy(e != NULL ? &e->local.base : NULL);
        return status;
    }
    if (e->channels != NULL)
        saddle_mpi->open(e->channels, saddle_mpi_group(inputs->instance->world));
    if (e->all.peers > 0 && e->all.rounds > 0) {
        e->exchange = (saddle_exchange){.send = begin_round, .receive = end_round};
        e->local.exchange = &e->exchange;
    }
    saddle_local_start(&e->local);
    int64_t ifo = (int64_t)e->local.ifo;
    inputs->instance->world->add_words(inputs->instance->world, 1, &ifo);
    e->local.ifo = (uint64_t)ifo;
    share_clock(e);
    *out = &e->local.base;
    return SADDLE_OK;
}

const saddle_engine_class saddle_mpi_engine = {
    .name = "mpi",
    .summary = "agents on the processes of an MPI job, each with any number of threads",
    .module = {.name = "mpi",
               .user = "--engine: mpi",
               .other = ", or use threads",
               .needs = "an MPI such as Open MPI (Debian: libopenmpi-dev)"},
    .connect = saddle_mpi_connect,
    .watch = saddle_heartbeat_watch,
    .create = create,
    .bytes = bytes,
    .destroy = destroy,
    .advance = advance,
    SADDLE_LOCAL_FUNCTIONS,
};
