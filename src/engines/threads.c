/* The engine `threads`: all agents in one process, on a pool of worker threads. */
#include "core/processors.h"
#include "engines/local_agents.h"

static void destroy(saddle_engine *engine)
{
    if (engine == NULL)
        return;
    saddle_local_clear((saddle_local *)engine);
    saddle_free(engine);
}

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    *out = NULL;
    saddle_local *local = saddle_alloc(1, sizeof *local);
    SADDLE_TRY(saddle_check_memory(local, "the engine", error));
    local->base.kind = &saddle_threads_engine;
    saddle_status status = saddle_local_make(local, inputs, saddle_processors(1), error);
    if (status != SADDLE_OK) {
        destroy(&local->base);
        return status;
    }
    local->recruits = inputs->threads == 0 && saddle_thread_pool_size(local->pool) > 1;
    saddle_local_start(local);
    *out = &local->base;
    return SADDLE_OK;
}

static double bytes(const saddle_engine_inputs *inputs)
{
    return saddle_local_bytes(inputs, saddle_processors(1));
}

static void advance(saddle_engine *engine, const saddle_limits *limits, saddle_fault *fault)
{
    saddle_first_fault first;
    saddle_local_run((saddle_local *)engine, limits, NULL, &first);
    if (first.fault.kind != SADDLE_FAULT_NONE)
        *fault = first.fault;
}

const saddle_engine_class saddle_threads_engine = {
    .name = "threads",
    .summary = "all agents in one process, on any number of threads",
    .create = create,
    .bytes = bytes,
    .destroy = destroy,
    .advance = advance,
    SADDLE_LOCAL_FUNCTIONS,
};
