#include "job.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <saddle/saddle.h>

/* MPI unloads parts of itself at its beginning and end, which looks like leaks. */
static void finalize(void)
{
#ifdef __SANITIZE_ADDRESS__
    __lsan_do_leak_check();
#endif
    saddle_mpi_finalize(false);
}

size_t test_mpi_start(void)
{
    size_t rank = 0;
#ifdef __SANITIZE_ADDRESS__
    __lsan_disable();
#endif
    if (saddle_mpi_init(&rank, NULL) != SADDLE_OK)
        exit(EXIT_FAILURE);
#ifdef __SANITIZE_ADDRESS__
    __lsan_enable();
#endif
    atexit(finalize);
    /* Under the launcher of another MPI, each process would be alone and pass. */
    int processes = 0;
    const char *wanted = getenv("TEST_PROCESSES");
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (wanted != NULL && processes != (int)strtol(wanted, NULL, 10)) {
        fprintf(stderr, "%d processes know of each other; %s were started\n", processes, wanted);
        exit(EXIT_FAILURE);
    }
    /* Only one process prints. */
    if (rank > 0 && freopen("/dev/null", "w", stdout) == NULL)
        exit(EXIT_FAILURE);
    return rank;
}
