/* Where the rounds of the agents of one process meet links that have a state. */
#include <math.h>

#include "engines/local_agents.h"

void saddle_local_collect(saddle_local *e, size_t i, unsigned parity, unsigned round)
{
    if (e->links.changing)
        saddle_link_state_collect(&e->links.state, &e->agent[i], i,
                                  saddle_links_received(&e->links, parity, i), round);
}

void saddle_local_publish(saddle_local *e, size_t i, unsigned round)
{
    if (e->links.changing)
        saddle_link_state_publish(&e->links.state, &e->agent[i], i, round);
}

/* Begin the sums of an agent anew. */
static void reset(saddle_local *e, size_t i, unsigned parity, uint64_t iteration, unsigned round)
{
    double *row = e->span[parity] + i * e->stride;
    e->agent[i].now = row;
    saddle_link_state_reset(&e->links.state, &e->agent[i], i, row, iteration, round);
}

void saddle_local_begin_round(saddle_local *e, unsigned worker, unsigned parity, uint64_t iteration,
                              unsigned round)
{
    saddle_link_state *state = &e->links.state;
    if (!e->links.changing)
        return;
    if (worker == 0) {
        saddle_link_state_begin(state, iteration, round);
        for (size_t i = 0; saddle_link_state_resets(state, iteration, round) && i < e->agents; i++)
            reset(e, i, parity, iteration, round);
    }
    saddle_thread_pool_barrier(e->pool, worker);
}

/* The agents here, then what late messages need of their neighbours elsewhere. */
void saddle_local_restore_links(saddle_local *e)
{
    const saddle_engine_inputs *in = &e->inputs;
    saddle_link_state *state = &e->links.state;
    for (size_t i = 0; i < e->agents; i++)
        saddle_link_record_load(state, i, e->agent[i].next,
                                in->link_record(in->restore_context, e->agent[i].id));
    for (size_t g = 0; state->window > 0 && g < e->links.ghosts; g++)
        saddle_link_record_load_ghost(state, e->agents + g, e->links.ghost[g],
                                      in->link_record(in->restore_context, e->links.ghost[g]));
}

double saddle_local_age(const saddle_local *e)
{
    const saddle_world *world = e->inputs.instance->world;
    if (!e->links.changing)
        return (double)NAN;
    double age = (double)saddle_link_state_age(&e->links.state, e->iteration * e->layout.rounds);
    world->largest(world, 1, &age);
    return age;
}

void saddle_local_defect(const saddle_engine *base, const saddle_agent *agent,
                         const saddle_field *field, double *sum, double *weight)
{
    const saddle_local *e = (const saddle_local *)base;
    saddle_link_state_defect(&e->links.state, agent, (size_t)(agent - e->agent), field, sum,
                             weight);
}

void saddle_local_save_links(const saddle_engine *base, const saddle_agent *agent, uint64_t *words)
{
    const saddle_local *e = (const saddle_local *)base;
    size_t i = (size_t)(agent - e->agent);
    saddle_link_state state = e->links.state;
    saddle_link_record_save(&state, i, e->span[e->parity] + i * e->stride, words);
}
