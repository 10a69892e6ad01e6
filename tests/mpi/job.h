/* Start and end of a test program that runs as an MPI job. */
#pragma once

#include <stddef.h>

/* Starts MPI, which ends with the program, and silences all processes except one. Returns the rank. */
size_t test_mpi_start(void);
