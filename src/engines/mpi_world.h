/* The world of an MPI job. */
#ifndef SADDLE_ENGINES_MPI_WORLD_H
#define SADDLE_ENGINES_MPI_WORLD_H

#include <mpi.h>

#include "core/world.h"
#include <saddle/graph.h>

/* Place the agents of a graph on the processes of the job; without one (NULL), find the processes.
 * Collective. */
saddle_status saddle_mpi_connect(saddle_world **out, const saddle_graph *graph,
                                 saddle_error *error);
/* The communicator of a world of saddle_mpi_connect(); borrowed. */
MPI_Comm saddle_mpi_comm(const saddle_world *world);
/* The type of `count` elements one after another, however many; to be freed. */
MPI_Datatype saddle_mpi_run_of(size_t count, MPI_Datatype element);

#endif
