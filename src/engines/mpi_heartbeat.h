/* Detects stopped processes of an MPI job and ends the job. */
#ifndef SADDLE_ENGINES_MPI_HEARTBEAT_H
#define SADDLE_ENGINES_MPI_HEARTBEAT_H

#include <stdbool.h>

#include <saddle/world.h>

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

#endif
