/*
 * A preloaded library that stops the process, or makes the computing thread sleep, at a given call, so
 * that the moment does not depend on the speed of the machine.
 *
 * MOMENT_RANKS=12: in ranks 1 and 2. MOMENT_CALL=NAME: at a call of MPI_Bcast, which setting up an
 * instance makes often; MPI_Startall, one per communication round; MPI_Send, which sends an agent's state
 * to rank 0 for a checkpoint; or rename, which ends a checkpoint. MOMENT_COUNT=N: at call number N.
 * MOMENT_CALL=beat: before a heartbeat, in its thread. MOMENT_SLEEP=S: sleep for S seconds instead of
 * stopping; with MOMENT_SPIN=yes compute meanwhile, which to others looks like waiting for a processor.
 * MOMENT_CALL=MPI_Init_thread: provide only MPI_THREAD_FUNNELED.
 *
 * A file reached-RANK is created when the moment has come.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? text : "";
}

/* Returns this process's rank, from the environment that mpirun sets. */
static const char *own_rank(void)
{
    const char *rank = variable("OMPI_COMM_WORLD_RANK");
    return *rank != '\0' ? rank : variable("PMI_RANK");
}

static bool is_meant(const char *call)
{
    return strcmp(variable("MOMENT_CALL"), call) == 0 &&
           strstr(variable("MOMENT_RANKS"), own_rank()) != NULL;
}

static void pass(const char *call)
{
    static long calls;
    char path[64];
    if (!is_meant(call) || ++calls != strtol(variable("MOMENT_COUNT"), NULL, 10))
        return;
    snprintf(path, sizeof path, "reached-%s", own_rank());
    close(open(path, O_WRONLY | O_CREAT, 0666));
    unsigned seconds = (unsigned)strtoul(variable("MOMENT_SLEEP"), NULL, 10);
    if (seconds == 0)
        raise(SIGSTOP);
    time_t end = time(NULL) + seconds;
    while (*variable("MOMENT_SPIN") != '\0' && time(NULL) <= end) {
    }
    while (*variable("MOMENT_SPIN") == '\0' && seconds > 0)
        seconds = sleep(seconds);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return PMPI_Init_thread(argc, argv,
                            is_meant("MPI_Init_thread") ? MPI_THREAD_FUNNELED : required, provided);
}

int MPI_Bcast(void *block, int count, MPI_Datatype type, int from, MPI_Comm comm)
{
    pass("MPI_Bcast");
    return PMPI_Bcast(block, count, type, from, comm);
}

int MPI_Startall(int count, MPI_Request request[])
{
    pass("MPI_Startall");
    return PMPI_Startall(count, request);
}

int MPI_Send(const void *block, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    pass("MPI_Send");
    return PMPI_Send(block, count, type, to, tag, comm);
}

int MPI_Isend(const void *block, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (count == 0)
        pass("beat");
    return PMPI_Isend(block, count, type, to, tag, comm, request);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "rename");
    pass("rename");
    return real(from, to);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    int (*real)(int, const char *, int, const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "renameat");
    pass("rename");
    return real(from_directory, from, to_directory, to);
}
