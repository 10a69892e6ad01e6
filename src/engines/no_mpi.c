/* The engine `mpi` in a build without MPI: it exists, and its errors say what is missing. */
#include "core/status.h"
#include "engines/engine.h"

static saddle_status refuse(saddle_error *error)
{
    return saddle_fail(error, SADDLE_UNSUPPORTED,
                       "--engine: this build of saddle has no MPI; install an MPI such as "
                       "libopenmpi-dev and build again with -DSADDLE_MPI=ON, or use threads");
}

saddle_status saddle_mpi_init(size_t *rank, saddle_error *error)
{
    SADDLE_REQUIRE(error, rank);
    *rank = 0;
    return refuse(error);
}

void saddle_mpi_finalize(bool failed)
{
    (void)failed;
}

static saddle_status connect(saddle_world **out, const saddle_graph *graph, saddle_error *error)
{
    (void)graph;
    *out = NULL;
    return refuse(error);
}

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    (void)inputs;
    *out = NULL;
    return refuse(error);
}

const saddle_engine_class saddle_mpi_engine = {
    .name = "mpi",
    .summary = "agents on the processes of an MPI job (not in this build: see -DSADDLE_MPI)",
    .connect = connect,
    .create = create,
};
