/* The links' state in checkpoints: a number of words per agent that depends on its degree. */
#include "algorithms/layout.h"
#include "checkpoint/checkpoint.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/world.h"
#include "engines/links.h"

uint64_t saddle_checkpoint_link_words(const saddle_run_info *info, const saddle_layout *layout)
{
    uint64_t words = 0;
    for (size_t i = 0; i < info->instance->graph->agents; i++)
        words += saddle_links_words(info->instance, layout, i);
    return words;
}

/* Returns the number of words of one agent. */
static size_t words_of(const saddle_run_info *info, size_t agent)
{
    saddle_layout layout;
    saddle_algorithm_layout(info->algorithm, info->parameters, info->instance->problem, &layout);
    return saddle_links_words(info->instance, &layout, agent);
}

size_t saddle_checkpoint_most_link_words(const saddle_run_info *info)
{
    size_t most = 0;
    for (size_t i = 0; i < info->instance->graph->agents; i++)
        most = saddle_larger(most, words_of(info, i));
    return most;
}

void saddle_checkpoint_put_links(const saddle_run_info *info, saddle_engine *engine,
                                 const saddle_agent *agent, size_t i, uint64_t *words,
                                 saddle_checkpoint_stream *writer)
{
    const saddle_world *world = info->instance->world;
    size_t bytes = words_of(info, i) * sizeof *words;
    if (agent != NULL)
        engine->kind->save_links(engine, agent, words);
    if (world->home[i] != 0 && (agent != NULL || world->rank == 0))
        world->transfer(world, world->home[i], 0, bytes, words);
    if (writer != NULL)
        saddle_checkpoint_put(writer, words, bytes);
}

/* Every process gets the state of all agents, which is freed as soon as the engine has its own. */
saddle_status saddle_resume_load_links(saddle_resumption *r, const saddle_run_info *info,
                                       saddle_error *error)
{
    const saddle_world *world = info->instance->world;
    size_t bytes = (size_t)r->from->number.links * sizeof *r->links;
    r->links = saddle_alloc(bytes, 1);
    r->link_start = saddle_alloc(world->agents + 1, sizeof *r->link_start);
    bool good = r->links != NULL && r->link_start != NULL;
    saddle_status status = good ? SADDLE_OK : saddle_no_memory(error, "the state of the links");
    for (size_t i = 0; good && i < world->agents; i++)
        r->link_start[i + 1] = r->link_start[i] + words_of(info, i);
    SADDLE_THEN_IF(status, world->rank == 0,
                   saddle_checkpoint_get(r->from, r->links, bytes, error));
    SADDLE_TRY(saddle_world_agree(world, status, error));
    world->share(world, 0, bytes, r->links);
    return SADDLE_OK;
}

const uint64_t *saddle_resume_links(void *resumption, size_t agent)
{
    const saddle_resumption *r = resumption;
    return r->links + r->link_start[agent];
}
