/* The world of an MPI job: its processes, the placement of the agents, and sums. */
#include "engines/mpi_job.h"

#include <math.h>
#include <sched.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "core/vector.h"
#include "engines/engine.h"
#include "engines/placement.h"

/* Seconds that a failed process waits for the others. */
#define PATIENCE 5.0

typedef struct mpi_world {
    saddle_world base;
    saddle_allocator memory; /* of the arrays below */
    saddle_group *group; /* its own, so that its messages never mix with those of another world */
    size_t *here;
    size_t *home;
} mpi_world;

const saddle_transport *saddle_mpi;

static const mpi_world *world_of(const saddle_world *world)
{
    return (const mpi_world *)world;
}

saddle_group *saddle_mpi_group(const saddle_world *world)
{
    return world_of(world)->group;
}

/* ---- collective operations --------------------------------------------------------------------- */

static void add_terms(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum)
{
    saddle_mpi->exchange_terms(world_of(world)->group, world->home, first, count, size, stride,
                               terms);
    size_t low = saddle_slice(size, world->rank, world->ranks);
    size_t high = saddle_slice(size, world->rank + 1, world->ranks);
    for (size_t k = 0; k < count; k++)
        saddle_axpy(high - low, 1.0, terms + k * stride + low, sum + low);
}

static void join(const saddle_world *world, size_t size, double *sum)
{
    saddle_mpi->join(world_of(world)->group, size, sum);
}

static void add_words(const saddle_world *world, size_t count, int64_t *words)
{
    saddle_mpi->add_words(world_of(world)->group, count, words);
}

static void largest(const saddle_world *world, size_t count, double *values)
{
    saddle_mpi->largest(world_of(world)->group, count, values);
}

static void share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    saddle_mpi->share(world_of(world)->group, from, bytes, block);
}

static void transfer(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block)
{
    if (from == to)
        return;
    if (world->rank == from)
        saddle_mpi->send(world_of(world)->group, to, bytes, block);
    else if (world->rank == to)
        saddle_mpi->receive(world_of(world)->group, from, bytes, block);
}

static void destroy(saddle_world *world)
{
    mpi_world *w = (mpi_world *)world;
    saddle_mpi->free(w->group);
    saddle_allocator_free(&w->memory);
    saddle_free(w);
}

/* ---- connecting ------------------------------------------------------------------------------- */

/* Opens the module and begins MPI; both leave signal dispositions as they are. */
static saddle_status begin(size_t *rank, size_t *ranks, saddle_error *error)
{
    const saddle_module *module = saddle_mpi != NULL ? &saddle_mpi->module : NULL;
    saddle_signals signals;
    SADDLE_TRY(saddle_module_open(&module, &saddle_mpi_engine.module, sizeof *saddle_mpi, error));
    saddle_mpi = (const saddle_transport *)module;
    saddle_signals_save(&signals);
    saddle_transport_state state = saddle_mpi->begin(rank, ranks);
    saddle_signals_restore(&signals);
    if (state == SADDLE_TRANSPORT_OVER)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--engine: MPI has been finalized in this process and cannot be "
                           "initialised again; use threads");
    if (state == SADDLE_TRANSPORT_SINGLE)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--engine: MPI was initialised without support for threads; initialise "
                           "it with MPI_Init_thread and MPI_THREAD_FUNNELED or more");
    return SADDLE_OK;
}

saddle_status saddle_mpi_init(size_t *rank, saddle_error *error)
{
    size_t ranks;
    SADDLE_REQUIRE(error, rank);
    *rank = 0;
    return begin(rank, &ranks, error);
}

/* Returns whether all processes arrive here within a time. */
static bool all_arrive(double seconds)
{
    double deadline = saddle_clock_seconds() + seconds;
    while (!saddle_mpi->arrived(NULL)) {
        if (!(saddle_clock_seconds() < deadline))
            return false;
        sched_yield();
    }
    return true;
}

void saddle_mpi_finalize(bool failed)
{
    /* Successful processes also wait here, because another may have failed at the very end. */
    if (saddle_mpi == NULL || !saddle_mpi->running())
        return;
    if (all_arrive(failed ? PATIENCE : INFINITY))
        saddle_mpi->end();
    else
        saddle_heartbeat_stop();
}

static saddle_status allocate(mpi_world *w, saddle_error *error)
{
    size_t agents = w->base.agents;
    w->home = saddle_allocator_block(&w->memory, agents, sizeof *w->home);
    w->here = saddle_allocator_block(&w->memory, agents, sizeof *w->here);
    if (w->memory.failed || !saddle_mpi->reserve(w->group, agents))
        return saddle_no_memory(error, "the placement of the agents");
    return SADDLE_OK;
}

/* Process 0 places the agents and sends the others the result. */
static saddle_status place_agents(mpi_world *w, const saddle_graph *graph, saddle_error *error)
{
    saddle_status status = allocate(w, error);
    SADDLE_THEN_IF(
        status, w->base.rank == 0 && graph != NULL,
        saddle_place_agents(graph, w->base.ranks, saddle_mpi->partition, w->home, error));
    SADDLE_TRY(saddle_world_agree(&w->base, status, error));
    share(&w->base, 0, w->base.agents * sizeof *w->home, w->home);
    for (size_t i = 0; i < w->base.agents; i++)
        if (w->home[i] == w->base.rank)
            w->here[w->base.local++] = i;
    w->base.here = w->here;
    w->base.home = w->home;
    return SADDLE_OK;
}

static const struct saddle_world_class class = {
    .add_terms = add_terms, .join = join, .destroy = destroy};

saddle_status saddle_mpi_connect(saddle_world **out, const saddle_graph *graph, saddle_error *error)
{
    size_t rank;
    size_t ranks;
    *out = NULL;
    SADDLE_TRY(begin(&rank, &ranks, error));
    if (graph != NULL && ranks > graph->agents)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--engine: %zu processes were started for %zu agent%s, but each process "
                           "needs at least one; start at most %zu (mpirun -n %zu)",
                           ranks, graph->agents, SADDLE_PLURAL(graph->agents), graph->agents,
                           graph->agents);
    mpi_world *w = saddle_alloc(1, sizeof *w);
    SADDLE_TRY(saddle_check_memory(w, "the placement of the agents", error));
    w->base = (saddle_world){.rank = rank,
                             .ranks = ranks,
                             .agents = graph != NULL ? graph->agents : 0,
                             .add_words = add_words,
                             .largest = largest,
                             .share = share,
                             .transfer = transfer,
                             .kind = &class};
    w->group = saddle_mpi->group();
    saddle_status status = saddle_mpi_compare_peers(&w->base, error);
    SADDLE_THEN(status, saddle_heartbeat_begin(&w->base, error));
    if (status == SADDLE_OK) {
        w->base.ranks_on_machine = saddle_mpi->on_machine(w->group);
        status = place_agents(w, graph, error);
    }
    if (status != SADDLE_OK) {
        destroy(&w->base);
        return status;
    }
    *out = &w->base;
    return SADDLE_OK;
}
