/* The processes of an MPI job: their world, what they know about each other, and how stopped ones are noticed. */
#pragma once

#include <saddle/graph.h>

#include "core/world.h"
#include "engines/engine.h"
#include "engines/transport.h"

/* ---- mpi_world.c ------------------------------------------------------------------------------ */

/* The functions of the module, once saddle_mpi_init() has succeeded; NULL before. */
extern const saddle_transport *saddle_mpi;

/* Places the agents of a graph on the processes of the job; without a graph (NULL), only finds the
 * processes. Collective. */
saddle_status saddle_mpi_connect(const saddle_engine_class *engine, saddle_world **out,
                                 const saddle_graph *graph, saddle_error *error);
/* Returns the group of a world of saddle_mpi_connect(); borrowed. */
saddle_group *saddle_mpi_group(const saddle_world *world);

/* ---- mpi_peers.c ------------------------------------------------------------------------------ */

/*
 * Exchanges the versions and host names of all processes. Fails, with the same message in all processes, if
 * versions differ. Does nothing after the first call that succeeded. Collective.
 */
saddle_status saddle_mpi_compare_peers(const saddle_world *world, saddle_error *error);
/* Returns the host of a rank, once saddle_mpi_compare_peers() has succeeded. */
const char *saddle_mpi_host(size_t rank);
/* Returns whether MPI allows concurrent calls by several threads in every process. */
bool saddle_mpi_all_multiple(size_t ranks);

/* ---- mpi_heartbeat.c: notices stopped processes and ends the job -------------------------------- */

/*
 * Starts the heartbeat of this process, unless it already runs, there is no other process, or MPI does
 * not provide MPI_THREAD_MULTIPLE everywhere. It runs until MPI_Finalize(). Call after
 * saddle_mpi_compare_peers(). Collective.
 */
saddle_status saddle_heartbeat_begin(const saddle_world *world, saddle_error *error);
/* Stops it immediately: for a process that ends without MPI_Finalize(). */
void saddle_heartbeat_stop(void);
/* Implements saddle_engine_class.watch. */
bool saddle_heartbeat_watch(const saddle_world *world, double stall_seconds,
                            const char *checkpoint);
