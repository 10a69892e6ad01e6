/* Connects the rounds of the agents of one process with links that have a state. */
#include "engines/local_agents.h"

void saddle_local_enter(saddle_local *e, unsigned worker, size_t i, const saddle_round *round)
{
    saddle_agent *agent = &e->agent[i];
    const double *const *rows = saddle_links_received(&e->links, round->parity, i);
    if (round->number == 0)
        agent->ifo_limit = round->allowed > 0 ? agent->ifo + round->allowed : 0;
    e->worker[worker].ifo -= agent->ifo; /* saddle_local_leave() adds what it is then */
    if (e->links.changing)
        saddle_link_state_collect(&e->links.state, agent, i, rows, round->number);
    if (e->links.compressed)
        saddle_replicas_collect(&e->links.replicas, agent, i, rows, round->number);
    if (e->links.clipper.rule != NULL)
        saddle_clipper_collect(&e->links.clipper, agent, e->links.start[i], rows, round->number);
}

void saddle_local_leave(saddle_local *e, unsigned worker, size_t i, const saddle_round *round)
{
    saddle_agent *agent = &e->agent[i];
    if (e->links.changing)
        saddle_link_state_publish(&e->links.state, agent, i, round->number);
    if (e->links.compressed)
        saddle_replicas_publish(&e->links.replicas, agent, i, round->number);
    e->worker[worker].ifo += agent->ifo;
    if (agent->fault.kind != SADDLE_FAULT_NONE)
        saddle_local_note_fault(e, worker, agent, round->iteration);
}

/* Each worker unpacks some of the ghosts' messages. A resumed run has the replicas after the first ones. */
static void unpack_ghosts(saddle_local *e, unsigned worker, const saddle_round *round)
{
    saddle_replicas *r = &e->links.replicas;
    bool there = r->resumed && round->iteration == e->inputs.iteration && round->number == 0;
    for (size_t g = worker; !there && g < e->links.ghosts; g += saddle_thread_pool_size(e->pool))
        saddle_replicas_receive(r, e->links.ghost[g], e->links.halo + g * e->stride,
                                round->iteration, round->number, e->worker[worker].scratch);
    saddle_thread_pool_barrier(e->pool, worker);
}

void saddle_local_receive(saddle_local *e, unsigned worker, const saddle_round *round)
{
    if (e->exchange == NULL)
        return;
    if (worker == 0)
        e->exchange->receive(e->exchange);
    saddle_thread_pool_barrier(e->pool, worker);
    if (e->links.compressed)
        unpack_ghosts(e, worker, round);
}

void saddle_local_prepare_links(saddle_local *e)
{
    saddle_replicas *r = &e->links.replicas;
    if (!e->links.compressed || e->agents == 0)
        return;
    saddle_replicas_describe(r, e->inputs.algorithm, saddle_local_lend(e, 0, 0, 0, e->iteration));
    r->resumed = e->inputs.restore != NULL;
    for (size_t g = 0; g < e->links.ghosts; g++)
        saddle_replicas_begin(r, e->links.halo + g * e->stride);
    for (size_t i = 0; i < e->agents; i++)
        saddle_replicas_begin(r, e->span[1] + i * e->stride);
}

void saddle_local_start_links(saddle_local *e, saddle_agent *agent, size_t i)
{
    if (e->links.changing)
        saddle_link_state_start(&e->links.state, agent, i);
    if (e->links.compressed)
        saddle_replicas_start(&e->links.replicas, agent, i);
}

void saddle_local_begin_round(saddle_local *e, unsigned worker, const saddle_round *round)
{
    if (!e->links.changing)
        return;
    if (worker == 0)
        saddle_link_state_begin(&e->links.state, round->iteration, round->number);
    saddle_thread_pool_barrier(e->pool, worker);
}

void saddle_local_restore_links(saddle_local *e)
{
    const saddle_engine_inputs *in = &e->inputs;
    saddle_link_state *state = &e->links.state;
    if (!e->links.changing && !e->links.compressed)
        return;
    for (size_t i = 0; state->members.returns > 0 && i < e->agents; i++) {
        saddle_link_state_start(state, &e->agent[i], i);
        saddle_membership_return(state, &e->agent[i], i);
    }
    if (state->members.returns > 0)
        return;
    for (size_t s = 0; s < e->agents + e->links.ghosts; s++) {
        bool ghost = s >= e->agents;
        size_t id = ghost ? e->links.ghost[s - e->agents] : e->agent[s].id;
        double *row = ghost ? e->links.halo + (s - e->agents) * e->stride : e->agent[s].next;
        saddle_link_table_load(&e->links.table, s, id, row,
                               in->link_record(in->restore_context, id));
        if (e->links.compressed)
            saddle_replicas_restore(&e->links.replicas, s, row);
        else if (state->members.entries > 0 && !ghost)
            saddle_membership_weigh(state, &e->agent[s], s, row);
    }
    if (state->members.presence.churn != NULL && e->iteration > 0)
        saddle_presence_advance(&state->members.presence, (e->iteration - 1) * e->layout.rounds);
}

void saddle_local_link_costs(const saddle_local *e, saddle_cost *cost)
{
    const saddle_link_state *state = &e->links.state;
    const saddle_membership *m = &state->members;
    const saddle_world *world = e->inputs.instance->world;
    int64_t more[2] = {0, 0};
    cost->age = (double)NAN;
    if (!e->links.changing)
        return;
    cost->age = (double)saddle_link_state_age(state, e->iteration * e->layout.rounds);
    world->largest(world, 1, &cost->age);
    if (saddle_link_state_counts(state)) {
        cost->messages = state->messages_sent;
        cost->bytes = state->bytes_sent;
    } else if (m->entries > 0) {
        for (size_t i = 0; i < e->agents; i++) {
            more[0] += m->extra_messages[i];
            more[1] += m->extra_bytes[i];
        }
        world->add_words(world, 2, more);
        cost->messages += (uint64_t)more[0];
        cost->bytes += (uint64_t)more[1];
    }
}

void saddle_local_membership(const saddle_engine *base, saddle_members *out)
{
    const saddle_local *e = (const saddle_local *)base;
    const saddle_presence *p = &e->links.state.members.presence;
    size_t agents = e->inputs.instance->world->agents;
    *out = (saddle_members){.count = agents, .present = agents, .components = 1};
    if (e->links.changing && p->churn != NULL)
        *out = (saddle_members){.counted = p->counted,
                                .count = p->members,
                                .present = p->present,
                                .components = p->components,
                                .events = p->churn->count - p->next};
}

/* Finds the first dead direction, ordered by receiver, then by sender. */
bool saddle_local_dead_direction(saddle_engine *base, size_t *from, size_t *to)
{
    saddle_local *e = (saddle_local *)base;
    const saddle_world *world = e->inputs.instance->world;
    const saddle_graph *graph = e->inputs.instance->graph;
    saddle_link_state *state = &e->links.state;
    double all = (double)graph->agents * (double)graph->agents;
    double first =
        0.0; /* the number of pairs minus the pair's index, so that the first is the largest */
    if (!e->links.changing || state->members.entries == 0)
        return false;
    for (size_t i = 0; i < e->agents; i++)
        for (size_t k = state->start[i]; k < state->start[i + 1]; k++) {
            size_t j = graph->neighbour[graph->start[e->agent[i].id] + k - state->start[i]];
            if (state->members.dead[k] == SADDLE_DEAD)
                first =
                    fmax(first, all - (double)e->agent[i].id * (double)graph->agents - (double)j);
        }
    world->largest(world, 1, &first);
    if (first == 0.0)
        return false;
    uint64_t pair = (uint64_t)(all - first);
    *to = (size_t)(pair / graph->agents);
    *from = (size_t)(pair % graph->agents);
    if (saddle_world_has(world, *to)) {
        size_t i = saddle_world_place(world, *to);
        for (size_t k = state->start[i]; k < state->start[i + 1]; k++)
            if (graph->neighbour[graph->start[*to] + k - state->start[i]] == *from)
                state->members.dead[k] = SADDLE_DEAD_REPORTED;
    }
    return true;
}

void saddle_local_defect(const saddle_engine *base, const saddle_agent *agent,
                         const saddle_field *field, double *sum, double *weight)
{
    const saddle_local *e = (const saddle_local *)base;
    saddle_link_state_defect(&e->links.state, agent, (size_t)(agent - e->agent), field, sum,
                             weight);
}

unsigned saddle_local_level(const saddle_engine *base)
{
    const saddle_local *e = (const saddle_local *)base;
    const saddle_world *world = e->inputs.instance->world;
    double level = 0.0;
    if (!e->links.compressed)
        return 0;
    for (size_t i = 0; i < e->agents; i++)
        level = fmax(level, (double)e->links.replicas.watch[i].level);
    world->largest(world, 1, &level);
    return (unsigned)level;
}

void saddle_local_save_links(const saddle_engine *base, const saddle_agent *agent, uint64_t *words)
{
    const saddle_local *e = (const saddle_local *)base;
    size_t i = (size_t)(agent - e->agent);
    double *row = e->span[e->parity] + i * e->stride;
    saddle_link_table_save(&e->links.table, i, agent->id, row, words);
}
