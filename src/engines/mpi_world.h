/* The world of an MPI job. */
#ifndef SADDLE_ENGINES_MPI_WORLD_H
#define SADDLE_ENGINES_MPI_WORLD_H

#include <mpi.h>

#include "core/world.h"
#include <saddle/graph.h>

/* Places the agents of a graph on the processes of the job; without a graph (NULL), only finds the
 * processes. Collective. */
saddle_status saddle_mpi_connect(saddle_world **out, const saddle_graph *graph,
                                 saddle_error *error);
/* Returns the communicator of a world of saddle_mpi_connect(); borrowed. */
MPI_Comm saddle_mpi_comm(const saddle_world *world);
/* Returns the type of `count` consecutive elements, for any count; the caller frees it. */
MPI_Datatype saddle_mpi_run_of(size_t count, MPI_Datatype element);

#endif
