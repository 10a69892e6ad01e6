/* What the processes of an MPI job know about each other: their host names, and that all run the same version. */
#ifndef SADDLE_ENGINES_MPI_PEERS_H
#define SADDLE_ENGINES_MPI_PEERS_H

#include <mpi.h>
#include <stdbool.h>

#include <saddle/world.h>

/*
 * Exchanges the versions and host names of all processes over `comm`, the communicator of `world`.
 * Fails, with the same message in all processes, if versions differ. Does nothing after the first call
 * that succeeded. Collective.
 */
saddle_status saddle_mpi_compare_peers(const saddle_world *world, MPI_Comm comm,
                                       saddle_error *error);
/* Returns the host of a rank, once saddle_mpi_compare_peers() has succeeded. */
const char *saddle_mpi_host(size_t rank);
/* Returns whether MPI allows concurrent calls by several threads in every process. */
bool saddle_mpi_all_multiple(size_t ranks);

#endif
