/* The world of an MPI job: its processes, the placement of the agents, and sums. */
#include "engines/mpi_job.h"

#include <sched.h>

#include "core/clock.h"
#include "engines/engine.h"
#include "engines/placement.h"

/* Seconds that a failed process waits for the others. */
#define PATIENCE 5.0

typedef struct mpi_world {
    saddle_group_world job; /* with a group of its own: no messages of others mix with its */
    struct saddle_world_class class; /* of this kind of world */
    saddle_allocator memory;         /* of the arrays below */
    size_t *here;
    size_t *home;
} mpi_world;

const saddle_transport *saddle_mpi;

saddle_group *saddle_mpi_group(const saddle_world *world)
{
    return ((const saddle_group_world *)world)->group;
}

static void destroy(saddle_world *world)
{
    mpi_world *w = (mpi_world *)world;
    saddle_mpi->free(w->job.group);
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

/* Process 0 places the agents and sends the others the result. */
static saddle_status place_agents(mpi_world *w, const saddle_graph *graph, saddle_error *error)
{
    saddle_world *world = &w->job.base;
    saddle_status status = SADDLE_OK;
    w->home = saddle_allocator_block(&w->memory, world->agents, sizeof *w->home);
    w->here = saddle_allocator_block(&w->memory, world->agents, sizeof *w->here);
    if (w->memory.failed || !saddle_mpi->reserve(w->job.group, world->agents))
        status = saddle_no_memory(error, "the placement of the agents");
    SADDLE_THEN_IF(status, world->rank == 0 && graph != NULL,
                   saddle_place_agents(graph, world->ranks, saddle_mpi->partition, w->home, error));
    SADDLE_TRY(saddle_world_agree(world, status, error));
    world->share(world, 0, world->agents * sizeof *w->home, w->home);
    for (size_t i = 0; i < world->agents; i++)
        if (w->home[i] == world->rank)
            w->here[world->local++] = i;
    world->here = w->here;
    world->home = w->home;
    return SADDLE_OK;
}

saddle_status saddle_mpi_connect(const saddle_engine_class *engine, saddle_world **out,
                                 const saddle_graph *graph, saddle_error *error)
{
    (void)engine;
    size_t rank;
    size_t ranks;
    *out = NULL;
    SADDLE_TRY(begin(&rank, &ranks, error));
    if (graph != NULL && ranks > graph->agents)
        return saddle_refuse(
            error,
            "--engine: %zu processes were started for %zu agent%s, but each process "
            "needs at least one; start at most %zu (mpirun -n %zu)",
            ranks, graph->agents, SADDLE_PLURAL(graph->agents), graph->agents, graph->agents);
    mpi_world *w = saddle_alloc(1, sizeof *w);
    SADDLE_TRY(saddle_check_memory(w, "the placement of the agents", error));
    w->class = (struct saddle_world_class){
        .add_terms = saddle_mpi->add_terms, .join = saddle_mpi->join, .destroy = destroy};
    w->job.base = (saddle_world){.rank = rank,
                                 .ranks = ranks,
                                 .agents = graph != NULL ? graph->agents : 0,
                                 .add_words = saddle_mpi->add_words,
                                 .largest = saddle_mpi->largest,
                                 .share = saddle_mpi->share,
                                 .transfer = saddle_mpi->transfer,
                                 .kind = &w->class};
    w->job.group = saddle_mpi->group();
    saddle_world *world = &w->job.base;
    saddle_status status = saddle_mpi_compare_peers(world, error);
    SADDLE_THEN(status, saddle_heartbeat_begin(world, error));
    if (status == SADDLE_OK) {
        world->ranks_on_machine = saddle_mpi->on_machine(w->job.group);
        status = place_agents(w, graph, error);
    }
    if (status != SADDLE_OK) {
        destroy(world);
        return status;
    }
    *out = world;
    return SADDLE_OK;
}
