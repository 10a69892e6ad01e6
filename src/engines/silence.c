/* When an agent calls an edge down because its other end is silent, and up again. */
#include "engines/link_state.h"

/* Returns whether an engine, or a log, says that the sender of message k has been silent for too long. */
static bool is_silent(const saddle_link_state *s, size_t k, size_t at)
{
    if (s->delivered != NULL)
        return s->delivered[k].silent;
    return saddle_replay_silent(&s->rule->replay, at, s->number);
}

/* Marks edges as down whose other end has become silent, and as up again where this agent has marked them and hears the
 * other end; returns whether that changed the map. */
static bool watch_silence(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                          unsigned char *map)
{
    const saddle_membership *m = &s->members;
    const saddle_graph *graph = s->instance->graph;
    uint64_t own = saddle_row_hash(m, agent->now);
    bool change = false;
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        size_t at = graph->start[agent->id] + k - s->start[i];
        unsigned char *edge = &map[graph->agents + m->edge[at]];
        const double *row = s->arrived[k];
        if (is_silent(s, k, at)) {
            bool down = saddle_map_take_off(edge);
            change |= down;
            if (down)
                m->dead[k] = SADDLE_SILENT;
        } else if (row != NULL && m->dead[k] == SADDLE_SILENT && saddle_map_is_off(*edge)) {
            saddle_map_renew(edge);
            m->dead[k] = 0;
            change = true;
        } else if (row != NULL && saddle_row_hash(m, row) == own) {
            m->dead[k] = 0; /* both ends know that the edge is up: the other end has called it so */
        }
    }
    return change;
}

/* Marks edges as down over which nothing has arrived for too long; returns whether that changed the map. */
static bool drop_silent(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                        unsigned char *map)
{
    const saddle_membership *m = &s->members;
    const saddle_graph *graph = s->instance->graph;
    bool change = false;
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        if (s->weight[k] == 0.0 || s->number < s->rule->patience ||
            s->sent_round[k] > s->number - s->rule->patience)
            continue;
        size_t at = graph->start[agent->id] + k - s->start[i];
        if (saddle_map_take_off(&map[graph->agents + m->edge[at]])) {
            m->dead[k] = SADDLE_DEAD;
            change = true;
        }
    }
    return change;
}

bool saddle_membership_watch(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                             unsigned char *map, bool back)
{
    if (s->delivered != NULL || s->rule->kind == SADDLE_LINKS_REPLAY)
        return watch_silence(s, agent, i, map);
    return !back && drop_silent(s, agent, i, map);
}
