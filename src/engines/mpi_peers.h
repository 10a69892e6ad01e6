/*
 * What the processes of an MPI job know about each other: host names, and that all of them run the same
 * version.
 */
#ifndef SADDLE_ENGINES_MPI_PEERS_H
#define SADDLE_ENGINES_MPI_PEERS_H

#include <mpi.h>
#include <stdbool.h>

#include <saddle/world.h>

/*
 * Exchange the versions and host names of all processes over the communicator `comm` of `world`. Different
 * versions are refused, with the same message in all processes. The first call that succeeds does this,
 * later ones do nothing. Collective.
 */
saddle_status saddle_mpi_compare_peers(const saddle_world *world, MPI_Comm comm,
                                       saddle_error *error);
/* The host of a rank, once saddle_mpi_compare_peers() has succeeded. */
const char *saddle_mpi_host(size_t rank);
/* Whether MPI lets several threads of every process call it at once. */
bool saddle_mpi_all_multiple(size_t ranks);

#endif
