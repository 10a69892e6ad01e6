/* The randomness of links: a function of the seed, the edge and the round. */
#include "core/rng.h"
#include "engines/link_state.h"

/* Returns a number in [0, 1) for the edge to i from j in a round. */
static double draw(const saddle_link_state *state, size_t i, size_t j, uint64_t round)
{
    const saddle_instance *instance = state->instance;
    saddle_rng rng;
    saddle_rng_init(&rng, instance->seed, SADDLE_RNG_LINK,
                    (uint64_t)i * instance->graph->agents + j, round);
    return saddle_rng_uniform(&rng);
}

/* Gilbert-Elliott model: a good link fails with probability P / (LENGTH (1 - P)), and a failing one
 * recovers with probability 1 / LENGTH, so that the long-run share of failures is P. In round 0 a link
 * fails with probability P. */
bool saddle_link_fails(saddle_link_state *state, size_t k, size_t i, size_t j, uint64_t round)
{
    const saddle_link_rule *rule = state->rule;
    /* The two ends of an edge must agree, so they draw the same number. */
    bool swap = rule->kind == SADDLE_LINKS_AGREED && i > j;
    double u = draw(state, swap ? j : i, swap ? i : j, round);
    if (state->failing == NULL)
        return u < rule->loss;
    double chance = rule->loss;
    if (round > 0)
        chance = state->failing[k] ? 1.0 - 1.0 / rule->burst
                                   : rule->loss / (rule->burst * (1.0 - rule->loss));
    state->failing[k] = u < chance;
    return state->failing[k];
}

uint64_t saddle_link_delay(const saddle_link_state *state, size_t i, size_t j, uint64_t round)
{
    const saddle_instance *instance = state->instance;
    saddle_rng rng;
    saddle_rng_init(&rng, instance->seed, SADDLE_RNG_LINK,
                    (uint64_t)i * instance->graph->agents + j, round);
    if (saddle_rng_uniform(&rng) >= state->rule->late)
        return 0;
    return 1 + saddle_rng_below(&rng, state->rule->delay);
}

/* Goes through the edges in random order; an edge with two free ends becomes a pair. */
size_t saddle_link_match(saddle_link_state *state, uint64_t round)
{
    const saddle_graph *graph = state->instance->graph;
    saddle_rng rng;
    size_t pairs = 0;
    for (size_t i = 0; i < graph->agents; i++)
        state->partner[i] = i;
    for (size_t e = 0; e < graph->edges; e++)
        state->order[e] = e;
    saddle_rng_init(&rng, state->instance->seed, SADDLE_RNG_MATCHING, 0, round);
    saddle_rng_shuffle(&rng, state->order, graph->edges);
    for (size_t e = 0; e < graph->edges; e++) {
        size_t a = state->pair[2 * state->order[e]];
        size_t b = state->pair[2 * state->order[e] + 1];
        if (state->partner[a] != a || state->partner[b] != b)
            continue;
        state->partner[a] = b;
        state->partner[b] = a;
        pairs++;
    }
    return pairs;
}
