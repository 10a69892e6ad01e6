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

/* Returns whether this process needs the links' state of an agent: because it holds the agent or a neighbour. */
static bool is_needed(const saddle_instance *e, size_t agent)
{
    if (saddle_world_has(e->world, agent))
        return true;
    for (size_t k = e->graph->start[agent]; k < e->graph->start[agent + 1]; k++)
        if (saddle_world_has(e->world, e->graph->neighbour[k]))
            return true;
    return false;
}

/* Rank 0 reads the state of all agents and shares it; each process keeps what it needs. If rank 0 cannot
 * read on, it still sends what the others wait for. */
static saddle_status share_links(saddle_resumption *r, const saddle_run_info *info,
                                 uint64_t *passing, saddle_error *error)
{
    const saddle_world *world = info->instance->world;
    saddle_status status = SADDLE_OK;
    for (size_t i = 0; i < world->agents; i++) {
        size_t bytes = words_of(info, i) * sizeof *passing;
        if (world->rank == 0 && status == SADDLE_OK)
            status = saddle_checkpoint_get(r->from, passing, bytes, error);
        world->share(world, 0, bytes, passing);
        if (r->links[i] != NULL)
            memcpy(r->links[i], passing, bytes);
    }
    return saddle_world_agree(world, status, error);
}

saddle_status saddle_resume_load_links(saddle_resumption *r, const saddle_run_info *info,
                                       saddle_error *error)
{
    const saddle_world *world = info->instance->world;
    uint64_t *passing = saddle_alloc(saddle_checkpoint_most_link_words(info), sizeof *passing);
    r->links = saddle_alloc(world->agents, sizeof *r->links);
    bool good = passing != NULL && r->links != NULL;
    for (size_t i = 0; good && i < world->agents; i++)
        if (is_needed(info->instance, i)) {
            r->links[i] = saddle_alloc(words_of(info, i), sizeof **r->links);
            good = r->links[i] != NULL;
        }
    saddle_status status = good ? SADDLE_OK : saddle_no_memory(error, "the state of the links");
    status = saddle_world_agree(world, status, error);
    if (status == SADDLE_OK && passing != NULL && r->links != NULL)
        status = share_links(r, info, passing, error);
    saddle_free(passing);
    return status;
}

const uint64_t *saddle_resume_links(void *resumption, size_t agent)
{
    return ((const saddle_resumption *)resumption)->links[agent];
}
