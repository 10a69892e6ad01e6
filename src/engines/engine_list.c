/* The list of engines, in the order in which they are shown. */
#include "core/registry.h"
#include "core/world.h"
#include "engines/engine.h"

static const saddle_engine_class *const engines[] = {
    &saddle_threads_engine,
    &saddle_mpi_engine,
    &saddle_cuda_engine,
    &saddle_cuda_host_engine,
};

saddle_status saddle_engine_find(const saddle_engine_class **out, const char *name,
                                 saddle_error *error)
{
    const void *found;
    saddle_status status = saddle_registry_find(&found, "engine", name, engines,
                                                sizeof engines / sizeof *engines, error);
    *out = found;
    return status;
}

saddle_status saddle_engine_connect(const saddle_engine_class *engine, saddle_world **out,
                                    const saddle_graph *graph, saddle_error *error)
{
    return engine->connect != NULL
               ? engine->connect(engine, out, graph, error)
               : saddle_world_alone(out, graph != NULL ? graph->agents : 0, error);
}

bool saddle_engine_watch(const saddle_engine_class *engine, const saddle_world *world,
                         double stall_seconds, const char *checkpoint)
{
    return engine->watch == NULL || engine->watch(world, stall_seconds, checkpoint);
}
