/*
 * Simulated clocks of the agents under a link model. Nothing waits; the clocks are computed alongside the
 * run.
 *
 * In a round, an agent waits for the messages of its neighbours, each of which carries its sender's clock
 * at the time of sending, and then computes. Its clock becomes
 *
 *   max(own, max over j of (clock of j + latency + bytes / bandwidth)) + compute * IFO calls of the round
 *
 * where j runs over the neighbours that it waits for: those over working edges of links whose two ends
 * agree, and otherwise all that are present, because nobody knows that a message will not come.
 */
#include "engines/local_agents.h"
#include "graph/link_model.h"

/* Returns the seconds for the IFO calls that an agent's clock does not include yet, and marks them as included. */
static double take_computing(saddle_local *e, size_t i)
{
    const saddle_agent *agent = &e->agent[i];
    uint64_t calls = agent->ifo - e->timed[i];
    e->timed[i] = agent->ifo;
    return e->inputs.link_model->compute[agent->id] * (double)calls;
}

void saddle_clocks_start(saddle_local *e)
{
    if (e->timed == NULL)
        return;
    for (size_t i = 0; i < e->agents; i++) {
        saddle_agent *agent = &e->agent[i];
        double computing = take_computing(e, i);
        if (e->inputs.restore == NULL)
            agent->clock = computing;
        e->span[0][i * e->stride + saddle_clock_offset(e)] = agent->clock;
    }
}

/* Returns when the last message of a round, of `bytes` each, has arrived at an agent. */
static double arrival(const saddle_local *e, unsigned parity, size_t i, double bytes)
{
    const saddle_graph *graph = e->inputs.instance->graph;
    const double *const *neighbour = saddle_links_received(&e->links, parity, i);
    size_t first = graph->start[e->agent[i].id];
    size_t degree = e->links.start[i + 1] - e->links.start[i];
    double last = 0.0;
    for (size_t n = 0; n < degree; n++)
        if (!e->links.changing || saddle_link_state_waits(&e->links.state, i, n))
            last = fmax(last, neighbour[n][saddle_clock_offset(e)] +
                                  saddle_link_seconds(e->inputs.link_model, first + n, bytes));
    return last;
}

double saddle_clocks_advance(saddle_local *e, unsigned worker, const saddle_round *round)
{
    saddle_agent_range own = saddle_local_range(e, worker);
    size_t length = 0;
    double latest = 0.0;
    if (e->layout.rounds > 0)
        length = saddle_links_length(&e->links, round->number);
    for (size_t i = own.first; i < own.last; i++) {
        saddle_agent *agent = &e->agent[i];
        if (e->layout.rounds > 0)
            agent->clock =
                fmax(agent->clock, arrival(e, round->parity, i, (double)length * sizeof(double)));
        agent->clock += take_computing(e, i);
        e->span[1 - round->parity][i * e->stride + saddle_clock_offset(e)] = agent->clock;
        latest = fmax(latest, agent->clock);
    }
    return latest;
}

double saddle_clocks_latest(const saddle_local *e)
{
    double latest = 0.0;
    if (e->timed == NULL)
        return (double)NAN;
    for (size_t i = 0; i < e->agents; i++)
        latest = fmax(latest, e->agent[i].clock);
    return latest;
}
