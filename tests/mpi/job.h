/* Start and end of a test program that runs as an MPI job. */
#ifndef SADDLE_TEST_JOB_H
#define SADDLE_TEST_JOB_H

#include <stddef.h>

/* Starts MPI, which ends with the program, and silences all processes except one. Returns the rank. */
size_t test_mpi_start(void);

#endif
