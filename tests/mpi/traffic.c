#include "traffic.h"

/* The module finds these functions in the program; not every mpi.h exports what it declares. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"

enum { MOST_REQUESTS = 4096 };

static test_traffic traffic;
static struct {
    MPI_Request request;
    uint64_t bytes;
} persistent[MOST_REQUESTS];
static size_t persistents;

test_traffic test_traffic_take(void)
{
    test_traffic result = traffic;
    traffic = (test_traffic){.rounds = 0};
    return result;
}

/* Returns whether the computing thread makes a call; the other thread is the heartbeat's. */
static bool is_counted(void)
{
    return gettid() == getpid();
}

static uint64_t payload(int count, MPI_Datatype type)
{
    MPI_Count size = 0;
    MPI_Type_size_x(type, &size);
    return (uint64_t)count * (uint64_t)size;
}

int MPI_Send_init(const void *block, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int outcome = PMPI_Send_init(block, count, type, to, tag, comm, request);
    ck_assert_uint_lt(persistents, MOST_REQUESTS);
    persistent[persistents].request = *request;
    persistent[persistents++].bytes = payload(count, type);
    return outcome;
}

int MPI_Request_free(MPI_Request *request)
{
    for (size_t k = 0; is_counted() && k < persistents; k++)
        if (persistent[k].request == *request)
            persistent[k--] = persistent[--persistents];
    return PMPI_Request_free(request);
}

int MPI_Startall(int count, MPI_Request request[])
{
    traffic.rounds++;
    for (int r = 0; r < count; r++)
        for (size_t k = 0; k < persistents; k++)
            if (persistent[k].request == request[r]) {
                traffic.messages++;
                traffic.message_bytes += persistent[k].bytes;
            }
    return PMPI_Startall(count, request);
}

static void count_send(int count, MPI_Datatype type)
{
    traffic.sends++;
    traffic.send_bytes += payload(count, type);
}

int MPI_Send(const void *block, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count_send(count, type);
    return PMPI_Send(block, count, type, to, tag, comm);
}

int MPI_Isend(const void *block, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (is_counted())
        count_send(count, type);
    else if (count != 0) /* a heartbeat has no contents */
        abort();
    return PMPI_Isend(block, count, type, to, tag, comm, request);
}

static void count_collective(uint64_t bytes)
{
    traffic.collectives++;
    traffic.collective_bytes += bytes;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    count_collective(payload(count, type));
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Bcast(void *block, int count, MPI_Datatype type, int from, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    count_collective(rank == from ? payload(count, type) : 0);
    return PMPI_Bcast(block, count, type, from, comm);
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[],
                   const int offsets[], MPI_Datatype received, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    count_collective(payload(counts[rank], received));
    return PMPI_Allgatherv(from, count, type, to, counts, offsets, received, comm);
}

/* Calls that the library must not make, because they would not be counted. */
#define FORBIDDEN(name, ...)                  \
    int name(__VA_ARGS__);                    \
    int name(__VA_ARGS__)                     \
    {                                         \
        ck_abort_msg("%s was called", #name); \
        return MPI_ERR_OTHER;                 \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
FORBIDDEN(MPI_Start, MPI_Request *request)
FORBIDDEN(MPI_Alltoall, const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f,
          MPI_Comm g)
FORBIDDEN(MPI_Gather, const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g,
          MPI_Comm h)
FORBIDDEN(MPI_Scatter, const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g,
          MPI_Comm h)
FORBIDDEN(MPI_Sendrecv, const void *a, int b, MPI_Datatype c, int d, int e, void *f, int g,
          MPI_Datatype h, int i, int j, MPI_Comm k, MPI_Status *l)
#pragma GCC diagnostic pop
