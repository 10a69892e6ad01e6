/* The explicit list of engines, in the order they are shown. */
#include "core/registry.h"
#include "engines/engines.h"

static const saddle_engine_class *const engines[] = {
    &saddle_threads_engine,
    &saddle_mpi_engine,
};

static const char *name_of(size_t index)
{
    return engines[index]->name;
}

const saddle_engine_class *const *saddle_engine_list(size_t *count)
{
    *count = sizeof engines / sizeof *engines;
    return engines;
}

saddle_status saddle_engine_find(const saddle_engine_class **out, const char *name,
                                 saddle_error *error)
{
    size_t index = 0;
    *out = NULL;
    saddle_status status = saddle_registry_find(&index, "engine", name, name_of,
                                                sizeof engines / sizeof *engines, error);
    if (status == SADDLE_OK)
        *out = engines[index];
    return status;
}

saddle_status saddle_engine_connect(const saddle_engine_class *engine, saddle_world **out,
                                    const saddle_graph *graph, saddle_error *error)
{
    return engine->connect != NULL
               ? engine->connect(out, graph, error)
               : saddle_world_alone(out, graph != NULL ? graph->agents : 0, error);
}
