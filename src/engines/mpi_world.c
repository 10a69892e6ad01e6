/*
 * The world of an MPI job: its processes, the placement of the agents, and sums.
 *
 * When an MPI call fails, MPI ends the whole job with a message that names the process, so no call here
 * returns an error.
 */
#include "engines/mpi_job.h"

#include <limits.h>
#include <math.h>
#include <sched.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "core/vector.h"
#include "engines/placement.h"
#include "engines/thread_pool.h"

/* Seconds that a failed process waits for the others. */
#define PATIENCE 5.0

enum { TAG_TERMS = 1, TAG_CARRY };

typedef struct mpi_world {
    saddle_world base;
    saddle_allocator memory; /* of the arrays below */
    MPI_Comm
        comm; /* its own, so that its messages never mix with those of another world or the program */
    size_t *here;
    size_t *home;
    MPI_Aint
        *row; /* offsets in bytes of the rows of a block that one process holds; capacity for all
                    * agents */
    MPI_Request *request; /* two per process */
    MPI_Status *status;   /* of them; gcc warns about MPI_STATUSES_IGNORE */
    int *count;           /* per process: entries of a sum */
    int *offset;
} mpi_world;

static mpi_world *world_of(const saddle_world *world)
{
    /* The functions of a world take it as const, but its message buffers do not belong to its value. */
    return (mpi_world *)(void *)(uintptr_t)world;
}

MPI_Comm saddle_mpi_comm(const saddle_world *world)
{
    return world_of(world)->comm;
}

/* ---- types ----------------------------------------------------------------------------------- */

MPI_Datatype saddle_mpi_run_of(size_t count, MPI_Datatype element)
{
    MPI_Datatype run;
    if (count <= INT_MAX) {
        MPI_Type_contiguous((int)count, element, &run);
        MPI_Type_commit(&run);
        return run;
    }
    /* Pieces of INT_MAX elements, and the rest. */
    MPI_Datatype piece;
    MPI_Datatype pieces;
    MPI_Datatype rest;
    MPI_Aint low;
    MPI_Aint extent;
    MPI_Type_contiguous(INT_MAX, element, &piece);
    MPI_Type_contiguous((int)(count / INT_MAX), piece, &pieces);
    MPI_Type_contiguous((int)(count % INT_MAX), element, &rest);
    MPI_Type_get_extent(pieces, &low, &extent);
    MPI_Type_create_struct(2, (int[2]){1, 1}, (MPI_Aint[2]){0, extent},
                           (MPI_Datatype[2]){pieces, rest}, &run);
    MPI_Type_commit(&run);
    MPI_Type_free(&piece);
    MPI_Type_free(&pieces);
    MPI_Type_free(&rest);
    return run;
}

/* ---- sums over agents ------------------------------------------------------------------------ */

/* Returns the first entry of a sum that process r adds up. */
static size_t slice(size_t size, size_t r, size_t ranks)
{
    return size / ranks * r + size % ranks * r / ranks;
}

/* Returns, as a type relative to `terms`, the entries of process r's rows of a block that process s adds
 * up; MPI_DATATYPE_NULL when there are none. */
static MPI_Datatype terms_of(mpi_world *w, size_t first, size_t count, size_t size, size_t stride,
                             size_t r, size_t s)
{
    size_t low = slice(size, s, w->base.ranks);
    size_t length = slice(size, s + 1, w->base.ranks) - low;
    int rows = 0;
    for (size_t k = 0; k < count; k++)
        if (w->base.home[first + k] == r)
            w->row[rows++] = (MPI_Aint)((k * stride + low) * sizeof(double));
    if (rows == 0 || length == 0)
        return MPI_DATATYPE_NULL;
    MPI_Datatype entries = saddle_mpi_run_of(length, MPI_DOUBLE);
    MPI_Datatype terms;
    MPI_Type_create_hindexed_block(rows, 1, w->row, entries, &terms);
    MPI_Type_commit(&terms);
    MPI_Type_free(&entries);
    return terms;
}

/* Sends every process its entries of all rows. */
static void exchange_terms(mpi_world *w, size_t first, size_t count, size_t size, size_t stride,
                           double *terms)
{
    int requests = 0;
    for (size_t r = 0; r < w->base.ranks; r++) {
        if (r == w->base.rank)
            continue;
        MPI_Datatype theirs = terms_of(w, first, count, size, stride, r, w->base.rank);
        if (theirs != MPI_DATATYPE_NULL) {
            MPI_Irecv(terms, 1, theirs, (int)r, TAG_TERMS, w->comm, &w->request[requests++]);
            MPI_Type_free(&theirs);
        }
        MPI_Datatype mine = terms_of(w, first, count, size, stride, w->base.rank, r);
        if (mine != MPI_DATATYPE_NULL) {
            MPI_Isend(terms, 1, mine, (int)r, TAG_TERMS, w->comm, &w->request[requests++]);
            MPI_Type_free(&mine);
        }
    }
    MPI_Waitall(requests, w->request, w->status);
}

static void add_terms(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum)
{
    mpi_world *w = world_of(world);
    exchange_terms(w, first, count, size, stride, terms);
    size_t low = slice(size, world->rank, world->ranks);
    size_t high = slice(size, world->rank + 1, world->ranks);
    for (size_t k = 0; k < count; k++)
        saddle_axpy(high - low, 1.0, terms + k * stride + low, sum + low);
}

static void share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    MPI_Datatype run = saddle_mpi_run_of(bytes, MPI_BYTE);
    MPI_Bcast(block, 1, run, (int)from, world_of(world)->comm);
    MPI_Type_free(&run);
}

static void join(const saddle_world *world, size_t size, double *sum)
{
    mpi_world *w = world_of(world);
    if (size > INT_MAX) {
        for (size_t r = 0; r < world->ranks; r++) {
            size_t low = slice(size, r, world->ranks);
            share(world, r, (slice(size, r + 1, world->ranks) - low) * sizeof *sum, sum + low);
        }
        return;
    }
    for (size_t r = 0; r < world->ranks; r++) {
        w->offset[r] = (int)slice(size, r, world->ranks);
        w->count[r] = (int)slice(size, r + 1, world->ranks) - w->offset[r];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sum, w->count, w->offset, MPI_DOUBLE,
                   w->comm);
}

/* ---- everything else ------------------------------------------------------------------------- */

/* Reduces in place, in pieces that MPI can count. */
static void reduce(const saddle_world *world, size_t count, char *values, MPI_Datatype type,
                   MPI_Op operation)
{
    const size_t size = 8;
    for (size_t done = 0; done < count; done += INT_MAX) {
        size_t piece = count - done < INT_MAX ? count - done : INT_MAX;
        MPI_Allreduce(MPI_IN_PLACE, values + done * size, (int)piece, type, operation,
                      world_of(world)->comm);
    }
}

static void add_words(const saddle_world *world, size_t count, int64_t *words)
{
    reduce(world, count, (char *)words, MPI_INT64_T, MPI_SUM);
}

static void largest(const saddle_world *world, size_t count, double *values)
{
    reduce(world, count, (char *)values, MPI_DOUBLE, MPI_MAX);
}

static void transfer(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block)
{
    mpi_world *w = world_of(world);
    if (from == to || (world->rank != from && world->rank != to))
        return;
    MPI_Datatype run = saddle_mpi_run_of(bytes, MPI_BYTE);
    if (world->rank == from)
        MPI_Send(block, 1, run, (int)to, TAG_CARRY, w->comm);
    else
        MPI_Recv(block, 1, run, (int)from, TAG_CARRY, w->comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&run);
}

static void destroy(saddle_world *world)
{
    mpi_world *w = world_of(world);
    int over = 0;
    MPI_Finalized(&over);
    if (!over && w->comm != MPI_COMM_NULL)
        MPI_Comm_free(&w->comm);
    saddle_allocator_free(&w->memory);
    saddle_free(w);
}

/* ---- connecting ------------------------------------------------------------------------------- */

saddle_status saddle_mpi_init(size_t *rank, saddle_error *error)
{
    SADDLE_REQUIRE(error, rank);
    int begun = 0;
    int over = 0;
    int level = MPI_THREAD_SINGLE;
    int number = 0;
    *rank = 0;
    MPI_Finalized(&over);
    if (over)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--engine: MPI has been finalized in this process and cannot be "
                           "initialised again; use threads");
    MPI_Initialized(&begun);
    if (!begun)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Query_thread(&level);
    if (level < MPI_THREAD_FUNNELED)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--engine: MPI was initialised without support for threads; initialise "
                           "it with MPI_Init_thread and MPI_THREAD_FUNNELED or more");
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    *rank = (size_t)number;
    return SADDLE_OK;
}

/* Returns whether all processes arrive here within a time. */
static bool all_arrive(double seconds)
{
    int come = 0;
    MPI_Request request;
    double deadline = saddle_clock_seconds() + seconds;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &come, MPI_STATUS_IGNORE);
        if (come || !(saddle_clock_seconds() < deadline))
            return come;
        sched_yield();
    }
}

void saddle_mpi_finalize(bool failed)
{
    int begun = 0;
    int over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    /* Successful processes also wait here, because another may have failed at the very end. */
    if (!begun || over)
        return;
    if (all_arrive(failed ? PATIENCE : INFINITY))
        MPI_Finalize();
    else
        saddle_heartbeat_stop();
}

/* Returns how many processes of the job are on this machine. */
static size_t count_ranks_on_machine(MPI_Comm comm)
{
    MPI_Comm machine;
    int ranks = 1;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &ranks);
    MPI_Comm_free(&machine);
    return (size_t)ranks;
}

static saddle_status allocate(mpi_world *w, saddle_error *error)
{
    size_t agents = w->base.agents;
    size_t ranks = w->base.ranks;
    w->home = saddle_allocator_block(&w->memory, agents, sizeof *w->home);
    w->here = saddle_allocator_block(&w->memory, agents, sizeof *w->here);
    w->row = saddle_allocator_block(&w->memory, agents, sizeof *w->row);
    w->request = saddle_allocator_block(&w->memory, 2 * ranks, sizeof *w->request);
    w->status = saddle_allocator_block(&w->memory, 2 * ranks, sizeof *w->status);
    w->count = saddle_allocator_block(&w->memory, ranks, sizeof *w->count);
    w->offset = saddle_allocator_block(&w->memory, ranks, sizeof *w->offset);
    return w->memory.failed ? saddle_no_memory(error, "the placement of the agents") : SADDLE_OK;
}

/* Process 0 places the agents and sends the others the result. */
static saddle_status place_agents(mpi_world *w, const saddle_graph *graph, saddle_error *error)
{
    saddle_status status = allocate(w, error);
    SADDLE_THEN_IF(status, w->base.rank == 0 && graph != NULL,
                   saddle_place_agents(graph, w->base.ranks, w->home, error));
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
    int ranks = 0;
    *out = NULL;
    SADDLE_TRY(saddle_mpi_init(&rank, error));
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (graph != NULL && (size_t)ranks > graph->agents)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--engine: %d processes were started for %zu agent%s, but each process "
                           "needs at least one; start at most %zu (mpirun -n %zu)",
                           ranks, graph->agents, SADDLE_PLURAL(graph->agents), graph->agents,
                           graph->agents);
    mpi_world *w = saddle_alloc(1, sizeof *w);
    SADDLE_TRY(saddle_check_memory(w, "the placement of the agents", error));
    w->base = (saddle_world){.rank = rank,
                             .ranks = (size_t)ranks,
                             .agents = graph != NULL ? graph->agents : 0,
                             .add_words = add_words,
                             .largest = largest,
                             .share = share,
                             .transfer = transfer,
                             .kind = &class};
    MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
    saddle_status status = saddle_mpi_compare_peers(&w->base, w->comm, error);
    SADDLE_THEN(status, saddle_heartbeat_begin(&w->base, error));
    if (status == SADDLE_OK) {
        w->base.ranks_on_machine = count_ranks_on_machine(w->comm);
        status = place_agents(w, graph, error);
    }
    if (status != SADDLE_OK) {
        destroy(&w->base);
        return status;
    }
    *out = &w->base;
    return SADDLE_OK;
}
