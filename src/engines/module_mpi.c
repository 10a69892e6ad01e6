/*
 * The module of the engine `mpi`: a transport over MPI.
 *
 * When an MPI call fails, MPI ends the whole job with a message that names the process, so no call here
 * returns an error.
 */
#include "engines/module_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TAG_TERMS = 1, TAG_BLOCK };

/* ---- the job --------------------------------------------------------------------------------- */

static bool running(void)
{
    int begun = 0;
    int over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    return begun && !over;
}

static saddle_transport_state begin(size_t *rank, size_t *ranks)
{
    int over = 0;
    int level = MPI_THREAD_SINGLE;
    int number = 0;
    int count = 1;
    MPI_Finalized(&over);
    if (over)
        return SADDLE_TRANSPORT_OVER;
    if (!running())
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Query_thread(&level);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    *rank = (size_t)number;
    *ranks = (size_t)count;
    if (level < MPI_THREAD_FUNNELED)
        return SADDLE_TRANSPORT_SINGLE;
    return level < MPI_THREAD_MULTIPLE ? SADDLE_TRANSPORT_FUNNEL : SADDLE_TRANSPORT_ALL;
}

static void end(void)
{
    MPI_Finalize();
}

static int call_before_end(MPI_Comm comm, int key, void *value, void *state)
{
    void (*function)(void);
    (void)comm;
    (void)key;
    (void)state;
    memcpy(&function, value, sizeof function);
    function();
    return MPI_SUCCESS;
}

/* MPI_Finalize() first deletes the attributes of MPI_COMM_SELF. */
static void before_end(void (*function)(void))
{
    static void (*kept)(void);
    int key;
    kept = function;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_before_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &kept);
    MPI_Comm_free_keyval(&key);
}

/* Waits, for a second at most, until the launcher has read what this process printed: that of MPICH may end the job
 * first, and the message would be lost. */
static void let_launcher_read(void)
{
    struct stat file;
    int unread = 0;
    if (fstat(STDERR_FILENO, &file) != 0 || !S_ISFIFO(file.st_mode))
        return;
    for (int k = 0; k < 100 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; k++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void abort_job(int code)
{
    let_launcher_read();
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void host(size_t size, char *out)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    size_t kept = (size_t)length < size ? (size_t)length : size - 1;
    memcpy(out, name, kept);
    out[kept] = '\0';
}

/* ---- groups ---------------------------------------------------------------------------------- */

static saddle_group *make_group(void)
{
    saddle_group *g = calloc(1, sizeof *g);
    if (g == NULL) {
        fputs("saddle: there is not enough memory for a communicator\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort(); /* not reached */
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &g->comm);
    g->arrival = MPI_REQUEST_NULL;
    return g;
}

static bool reserve(saddle_group *g, size_t agents)
{
    int ranks = 1;
    MPI_Comm_size(g->comm, &ranks);
    g->row = calloc(agents + 1, sizeof *g->row);
    g->request = calloc(2 * (size_t)ranks, sizeof *g->request);
    g->status = calloc(2 * (size_t)ranks, sizeof *g->status);
    g->count = calloc(2 * (size_t)ranks, sizeof *g->count);
    g->offset = g->count + ranks;
    return g->row != NULL && g->request != NULL && g->status != NULL && g->count != NULL;
}

static void free_group(saddle_group *g)
{
    if (running())
        MPI_Comm_free(&g->comm);
    free(g->row);
    free(g->request);
    free(g->status);
    free(g->count);
    free(g);
}

static size_t on_machine(saddle_group *g)
{
    MPI_Comm machine;
    int ranks = 1;
    MPI_Comm_split_type(g->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &ranks);
    MPI_Comm_free(&machine);
    return (size_t)ranks;
}

static bool arrived(saddle_group *g)
{
    static MPI_Request of_job = MPI_REQUEST_NULL;
    MPI_Request *arrival = g != NULL ? &g->arrival : &of_job;
    int all = 0;
    if (*arrival == MPI_REQUEST_NULL)
        MPI_Ibarrier(g != NULL ? g->comm : MPI_COMM_WORLD, arrival);
    MPI_Test(arrival, &all, MPI_STATUS_IGNORE);
    return all;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

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

static void gather(saddle_group *g, size_t bytes, const void *own, void *all)
{
    MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, g->comm);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static saddle_group *group_of(const saddle_world *world)
{
    return ((const saddle_group_world *)world)->group;
}

/* Reduces in place, in pieces that MPI can count. */
static void reduce(const saddle_world *world, size_t count, char *values, MPI_Datatype type,
                   MPI_Op operation)
{
    const size_t size = 8;
    for (size_t done = 0; done < count; done += INT_MAX) {
        size_t piece = count - done < INT_MAX ? count - done : INT_MAX;
        MPI_Allreduce(MPI_IN_PLACE, values + done * size, (int)piece, type, operation,
                      group_of(world)->comm);
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

static void share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    MPI_Datatype run = saddle_mpi_run_of(bytes, MPI_BYTE);
    MPI_Bcast(block, 1, run, (int)from, group_of(world)->comm);
    MPI_Type_free(&run);
}

static void transfer(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block)
{
    MPI_Comm comm = group_of(world)->comm;
    if (from == to || (world->rank != from && world->rank != to))
        return;
    MPI_Datatype run = saddle_mpi_run_of(bytes, MPI_BYTE);
    if (world->rank == from)
        MPI_Send(block, 1, run, (int)to, TAG_BLOCK, comm);
    else
        MPI_Recv(block, 1, run, (int)from, TAG_BLOCK, comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&run);
}

/* ---- sums over agents ------------------------------------------------------------------------ */

/* Returns the first entry of a sum that process r adds up. */
static size_t slice(size_t size, size_t r, size_t ranks)
{
    return size / ranks * r + size % ranks * r / ranks;
}

/* A block of agents' rows. */
typedef struct rows {
    const saddle_world *world;
    size_t first;
    size_t count;
    size_t size;
    size_t stride;
} rows;

/* Returns, as a type relative to the first row, the entries of process r's rows that process s adds up;
 * MPI_DATATYPE_NULL when there are none. */
static MPI_Datatype terms_of(const rows *block, size_t r, size_t s)
{
    MPI_Aint *row = group_of(block->world)->row;
    size_t low = slice(block->size, s, block->world->ranks);
    size_t length = slice(block->size, s + 1, block->world->ranks) - low;
    int count = 0;
    for (size_t k = 0; k < block->count; k++)
        if (block->world->home[block->first + k] == r)
            row[count++] = (MPI_Aint)((k * block->stride + low) * sizeof(double));
    if (count == 0 || length == 0)
        return MPI_DATATYPE_NULL;
    MPI_Datatype entries = saddle_mpi_run_of(length, MPI_DOUBLE);
    MPI_Datatype terms;
    MPI_Type_create_hindexed_block(count, 1, row, entries, &terms);
    MPI_Type_commit(&terms);
    MPI_Type_free(&entries);
    return terms;
}

/* Sends every process its entries of all rows. */
static void exchange_terms(const rows *block, double *terms)
{
    const saddle_group *g = group_of(block->world);
    size_t own = block->world->rank;
    int requests = 0;
    for (size_t r = 0; r < block->world->ranks; r++) {
        if (r == own)
            continue;
        MPI_Datatype theirs = terms_of(block, r, own);
        if (theirs != MPI_DATATYPE_NULL) {
            MPI_Irecv(terms, 1, theirs, (int)r, TAG_TERMS, g->comm, &g->request[requests++]);
            MPI_Type_free(&theirs);
        }
        MPI_Datatype mine = terms_of(block, own, r);
        if (mine != MPI_DATATYPE_NULL) {
            MPI_Isend(terms, 1, mine, (int)r, TAG_TERMS, g->comm, &g->request[requests++]);
            MPI_Type_free(&mine);
        }
    }
    MPI_Waitall(requests, g->request, g->status);
}

static void add_terms(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum)
{
    exchange_terms(&(rows){world, first, count, size, stride}, terms);
    size_t high = slice(size, world->rank + 1, world->ranks);
    for (size_t k = 0; k < count; k++)
        for (size_t i = slice(size, world->rank, world->ranks); i < high; i++)
            sum[i] += terms[k * stride + i];
}

static void join(const saddle_world *world, size_t size, double *sum)
{
    const saddle_group *g = group_of(world);
    for (size_t r = 0; r < world->ranks; r++) {
        size_t low = slice(size, r, world->ranks);
        size_t length = slice(size, r + 1, world->ranks) - low;
        if (size > INT_MAX) {
            share(world, r, length * sizeof *sum, sum + low);
        } else {
            g->offset[r] = (int)low;
            g->count[r] = (int)length;
        }
    }
    if (size <= INT_MAX)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sum, g->count, g->offset, MPI_DOUBLE,
                       g->comm);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* An empty message needs no buffer and no wait. */
static void signal_rank(saddle_group *g, int to, int tag)
{
    MPI_Request request;
    MPI_Isend(NULL, 0, MPI_BYTE, to, tag, g->comm, &request);
    MPI_Request_free(&request);
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): a request that is freed needs no wait */
}

static bool poll_ranks(saddle_group *g, int *from, int *tag)
{
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, g->comm, &there, &status);
    if (!there)
        return false;
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    MPI_Recv(NULL, 0, MPI_BYTE, *from, *tag, g->comm, MPI_STATUS_IGNORE);
    return true;
}

__attribute__((visibility("default"))) extern const saddle_transport saddle_module_table;
const saddle_transport saddle_module_table = {
    .module = {.version = SADDLE_VERSION, .bytes = sizeof(saddle_transport)},
    .begin = begin,
    .running = running,
    .end = end,
    .before_end = before_end,
    .abort = abort_job,
    .host = host,
    .group = make_group,
    .reserve = reserve,
    .free = free_group,
    .on_machine = on_machine,
    .arrived = arrived,
    .gather = gather,
    .add_words = add_words,
    .largest = largest,
    .share = share,
    .transfer = transfer,
    .add_terms = add_terms,
    .join = join,
    .signal = signal_rank,
    .poll = poll_ranks,
    .polls = 16, /* MPI checks some transports only at every eighth */
    .channels = saddle_mpi_make_channels,
    .open = saddle_mpi_open_channels,
    .start = saddle_mpi_start_round,
    .wait = saddle_mpi_wait_for_round,
    .close = saddle_mpi_close_channels,
#ifdef SADDLE_METIS
    .partition = saddle_metis_partition,
#endif
};
