/* The links' state in checkpoints: a number of words per agent that depends on its degree. */
#include "algorithms/layout.h"
#include "checkpoint/checkpoint.h"
#include "core/world.h"
#include "engines/links.h"

uint64_t saddle_checkpoint_link_words(const saddle_run_info *info, const saddle_layout *layout)
{
    uint64_t words = 0;
    for (size_t i = 0; i < info->instance->graph->agents; i++)
        words += saddle_links_words(info->instance, layout, i);
    return words;
}

size_t saddle_checkpoint_agent_words(const saddle_run_info *info, size_t agent)
{
    saddle_layout layout;
    saddle_algorithm_layout(info->algorithm, info->parameters, info->instance->problem, &layout);
    return saddle_links_words(info->instance, &layout, agent);
}

size_t saddle_checkpoint_most_link_words(const saddle_run_info *info)
{
    size_t most = 0;
    for (size_t i = 0; i < info->instance->graph->agents; i++)
        most = saddle_larger(most, saddle_checkpoint_agent_words(info, i));
    return most;
}

void saddle_checkpoint_put_links(const saddle_run_info *info, saddle_engine *engine,
                                 const saddle_agent *agent, size_t i, uint64_t *words,
                                 saddle_checkpoint_stream *writer)
{
    const saddle_world *world = info->instance->world;
    size_t bytes = saddle_checkpoint_agent_words(info, i) * sizeof *words;
    if (agent != NULL)
        engine->kind->save_links(engine, agent, words);
    if (world->home[i] != 0 && (agent != NULL || world->rank == 0))
        world->transfer(world, world->home[i], 0, bytes, words);
    if (writer != NULL)
        saddle_checkpoint_put(writer, words, bytes);
}
