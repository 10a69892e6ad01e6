/* Notices processes of an MPI job that are stopped, and ends the job. */
#ifndef SADDLE_ENGINES_MPI_HEARTBEAT_H
#define SADDLE_ENGINES_MPI_HEARTBEAT_H

#include <stdbool.h>

#include <saddle/world.h>

/*
 * Start the heartbeat of this process, unless it beats already, there is no other process, or MPI does not
 * give MPI_THREAD_MULTIPLE everywhere. It beats until MPI_Finalize(). Call after saddle_mpi_compare_peers(). Collective.
 */
saddle_status saddle_heartbeat_begin(const saddle_world *world, saddle_error *error);
/* Stop it at once: for a process that ends without MPI_Finalize(). */
void saddle_heartbeat_stop(void);
/* See saddle_engine_class.watch. */
bool saddle_heartbeat_watch(const saddle_world *world, double stall_seconds,
                            const char *checkpoint);

#endif
