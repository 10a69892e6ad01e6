/* What the files of the module for MPI share: the only ones that need its libraries. */
#pragma once

#include <mpi.h>

#include "engines/transport.h"

struct saddle_group {
    MPI_Comm comm;
    MPI_Request arrival; /* of the barrier that arrived() has begun */
    /* For sums over agents. */
    MPI_Aint *row;        /* per agent: offset in bytes of a row that a process holds */
    MPI_Request *request; /* two per process */
    MPI_Status *status;   /* of them; gcc warns about MPI_STATUSES_IGNORE */
    int *count;           /* per process: entries of a sum */
    int *offset;
};

/* Returns the type of `count` consecutive elements, for any count; the caller frees it. */
MPI_Datatype saddle_mpi_run_of(size_t count, MPI_Datatype element);

/* Implement the functions of channels in saddle_transport: module_rounds.c. */
saddle_channels *saddle_mpi_make_channels(const saddle_peers *peers);
void saddle_mpi_open_channels(saddle_channels *channels, saddle_group *group);
void saddle_mpi_start_round(saddle_channels *channels, unsigned parity, unsigned round);
void saddle_mpi_wait_for_round(saddle_channels *channels);
void saddle_mpi_close_channels(saddle_channels *channels);

/* Implements saddle_transport.partition by METIS: module_metis.c. */
bool saddle_metis_partition(unsigned method, size_t vertices, const size_t *start,
                            const size_t *neighbour, size_t parts, size_t *part);
