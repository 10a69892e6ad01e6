#include "engines/link_state.h"

#include "algorithms/layout.h"
#include "core/rng.h"
#include "core/vector.h"

/* ---- memory ----------------------------------------------------------------------------------- */

/* Returns the kind of a round's message, that is, which part of the span it is; `kinds` when it is not listed
 * yet. */
static size_t kind_of(const saddle_link_state *s, unsigned round)
{
    saddle_row_block part;
    size_t kind = 0;
    saddle_layout_message(s->layout, round, &part.offset, &part.length);
    while (kind < s->kinds &&
           (s->kind[kind].offset != part.offset || s->kind[kind].length != part.length))
        kind++;
    return kind;
}

static void list_kind(saddle_link_state *s, unsigned round)
{
    size_t kind = kind_of(s, round);
    if (kind == s->kinds) {
        saddle_layout_message(s->layout, round, &s->kind[kind].offset, &s->kind[kind].length);
        s->kinds++;
    }
}

/* Lists the kinds of messages: what is sent changes only where the rounds of a field begin, or after they end. */
static void list_kinds(saddle_link_state *s)
{
    const saddle_layout *layout = s->layout;
    list_kind(s, 0);
    for (size_t f = 0; f < layout->fields; f++) {
        list_kind(s, layout->field[f].first_round);
        if (layout->field[f].last_round + 1 < layout->rounds)
            list_kind(s, layout->field[f].last_round + 1);
    }
}

size_t saddle_link_state_measure(saddle_link_state *state, const saddle_instance *instance,
                                 const saddle_layout *layout)
{
    state->instance = instance;
    state->layout = layout;
    state->row = layout->published;
    if (!saddle_link_state_needed(instance))
        return state->row;
    state->rule = instance->links;
    state->inexact = instance->plan->network.inexact;
    list_kinds(state);
    if (saddle_link_state_has_maps(instance)) {
        saddle_running_sums *sums = &state->sums;
        saddle_running_sums_plan(sums, layout, instance->spectrum.lambda);
        saddle_membership_measure(&state->members, instance, layout,
                                  sums->fields > 0 ? sums->behind + sums->width
                                                   : layout->published);
        state->row = state->members.at + state->members.words;
        state->mixed_stride = saddle_whole_lines(layout->published);
    }
    if (state->rule->kind == SADDLE_LINKS_DELAY)
        state->window = (size_t)state->rule->delay + saddle_larger(layout->rounds, 1) - 1;
    if (state->rule->kind == SADDLE_LINKS_REPLAY)
        state->window = (size_t)state->rule->replay.latest;
    return state->row;
}

static void take_gossip(saddle_link_state *s, saddle_allocator *allocator)
{
    const saddle_graph *graph = s->instance->graph;
    s->pair = saddle_allocator_block(allocator, graph->edges, 2 * sizeof *s->pair);
    s->order = saddle_allocator_block(allocator, graph->edges, sizeof *s->order);
    s->partner = saddle_allocator_block(allocator, graph->agents, sizeof *s->partner);
    size_t e = 0;
    for (size_t i = 0; s->pair != NULL && i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            if (i < graph->neighbour[k]) {
                s->pair[2 * e] = i;
                s->pair[2 * e++ + 1] = graph->neighbour[k];
            }
}

void saddle_link_state_take(saddle_link_state *s, saddle_link_table *table)
{
    size_t sum = s->sums.stride * sizeof(double);
    s->agents = table->agents;
    s->sources = table->sources;
    s->read = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sizeof *s->read, 0);
    s->arrived = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sizeof *s->arrived, 0);
    s->weight = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sizeof *s->weight, 0);
    if (s->rule->kind == SADDLE_LINKS_GOSSIP)
        take_gossip(s, table->allocator);
    saddle_link_table_share(table, &s->messages_sent, 1);
    saddle_link_table_share(table, &s->bytes_sent, 1);
    s->used =
        saddle_link_table_take(table, SADDLE_OF_MESSAGE, s->kinds * sizeof *s->used, s->kinds);
    if (s->rule->burst > 0.0)
        s->failing = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sizeof *s->failing, 1);
    s->sent_round = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sizeof *s->sent_round,
                                           s->members.entries > 0 ? 1 : 0);
    if (s->sums.fields > 0)
        s->received = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sum, s->sums.width);
    if (s->inexact == SADDLE_INEXACT_STALE)
        s->stale =
            saddle_link_table_take(table, SADDLE_OF_MESSAGE, s->row * sizeof *s->stale, s->row);
    if (s->sums.fields > 0) {
        s->held = saddle_link_table_take(table, SADDLE_OF_AGENT, sum, s->sums.width);
        saddle_link_table_row(table, s->sums.behind, s->sums.width);
    }
    if (s->members.entries > 0) {
        s->self_weight = saddle_link_table_take(table, SADDLE_OF_AGENT, sizeof *s->self_weight, 0);
        s->mixed =
            saddle_link_table_take(table, SADDLE_OF_AGENT, s->mixed_stride * sizeof *s->mixed, 0);
        saddle_membership_take(&s->members, s->instance, table);
    }
    if (s->rule->kind == SADDLE_LINKS_REPLAY) {
        s->skipped = saddle_link_table_take(table, SADDLE_OF_AGENT, sizeof *s->skipped, 1);
        s->skips = saddle_link_table_take(table, SADDLE_OF_AGENT, sizeof *s->skips, 0);
    }
    if (s->window > 0)
        s->past = saddle_link_table_take(table, SADDLE_OF_SOURCE,
                                         (s->window + 1) * s->row * sizeof *s->past,
                                         (s->window + 1) * s->row);
}

/* Returns the row that a source published for a round in the window. */
static double *past_row(const saddle_link_state *s, size_t source, uint64_t round)
{
    return s->past + (source * (s->window + 1) + (size_t)(round % (s->window + 1))) * s->row;
}

/* ---- randomness: a function of the seed, the edge and the round -------------------------------- */

/* Returns the random numbers of the edge to i from j in a round. */
static saddle_rng draws_of(const saddle_link_state *state, size_t i, size_t j, uint64_t round)
{
    const saddle_instance *instance = state->instance;
    saddle_rng rng;
    saddle_rng_init(&rng, instance->seed, SADDLE_RNG_LINK,
                    (uint64_t)i * instance->graph->agents + j, round);
    return rng;
}

/* Gilbert-Elliott model: a good link fails with probability P / (LENGTH (1 - P)), and a failing one
 * recovers with probability 1 / LENGTH, so that the long-run share of failures is P. In round 0 a link
 * fails with probability P. */
bool saddle_link_fails(saddle_link_state *state, size_t k, size_t i, size_t j, uint64_t round)
{
    const saddle_link_rule *rule = state->rule;
    /* The two ends of an edge must agree, so they draw the same number. */
    bool swap = rule->kind == SADDLE_LINKS_AGREED && i > j;
    saddle_rng rng = draws_of(state, swap ? j : i, swap ? i : j, round);
    double u = saddle_rng_uniform(&rng);
    if (state->failing == NULL)
        return u < rule->loss;
    double chance = rule->loss;
    if (round > 0)
        chance = state->failing[k] ? 1.0 - 1.0 / rule->burst
                                   : rule->loss / (rule->burst * (1.0 - rule->loss));
    state->failing[k] = u < chance;
    return state->failing[k];
}

/* Returns by how many rounds the message of a round is late. */
static uint64_t draw_delay(const saddle_link_state *state, size_t i, size_t j, uint64_t round)
{
    saddle_rng rng = draws_of(state, i, j, round);
    if (saddle_rng_uniform(&rng) >= state->rule->late)
        return 0;
    return 1 + saddle_rng_below(&rng, state->rule->delay);
}

/* Draws the pairs of a round of gossip: goes through the edges in random order, and an edge with two free ends
 * becomes a pair. Returns their number. */
static size_t draw_pairs(saddle_link_state *state, uint64_t round)
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

/* ---- what is sent ------------------------------------------------------------------------------ */

size_t saddle_link_state_blocks(const saddle_link_state *s, unsigned round,
                                saddle_row_block block[SADDLE_MOST_BLOCKS_SENT])
{
    const saddle_layout *layout = s->layout;
    const saddle_running_sums *sums = &s->sums;
    size_t count = 0;
    size_t sum = 0;
    if (sums->fields == 0)
        saddle_layout_message(layout, round, &block[0].offset, &block[count++].length);
    for (size_t f = 0; sums->fields > 0 && f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        size_t at = field->offset;
        if (field->kind == SADDLE_FIELD_SUM)
            at = sums->behind + sums->field[sum++].at;
        if (saddle_field_is_sent(field, round))
            block[count++] = (saddle_row_block){.offset = at, .length = field->length};
    }
    for (size_t g = 0; g < sums->groups; g++)
        if (saddle_field_is_sent(sums->group[g], round))
            block[count++] =
                (saddle_row_block){.offset = sums->behind + sums->phi + g, .length = 1};
    if (s->members.entries > 0)
        block[count++] = (saddle_row_block){.offset = s->members.at, .length = s->members.words};
    return count;
}

size_t saddle_link_state_length(const saddle_link_state *s, unsigned round)
{
    saddle_row_block block[SADDLE_MOST_BLOCKS_SENT];
    size_t count = saddle_link_state_blocks(s, round, block);
    size_t length = 0;
    for (size_t k = 0; k < count; k++)
        length += block[k].length;
    if (s->members.entries > 0)
        length -= s->members.words - 1;
    return length;
}

/* Returns 1 + the round of the newest message at index k that was used; 0 when none was. */
static uint64_t newest_used(const saddle_link_state *s, size_t k)
{
    uint64_t newest = 0;
    for (size_t kind = 0; kind < s->kinds; kind++)
        if (s->used[k * s->kinds + kind] > newest)
            newest = s->used[k * s->kinds + kind];
    return newest;
}

bool saddle_link_state_waits(const saddle_link_state *s, size_t i, size_t n)
{
    const saddle_instance *e = s->instance;
    size_t agent = e->world->here[i];
    size_t k = s->start[i] + n;
    if (s->members.entries > 0)
        return s->weight[k] != 0.0 &&
               saddle_presence_linked(&s->members.presence, agent, e->graph->start[agent] + n);
    return saddle_link_rule_one_sided(s->rule) || newest_used(s, k) == s->number + 1;
}

uint64_t saddle_link_state_age(const saddle_link_state *s, uint64_t rounds)
{
    uint64_t oldest = rounds;
    for (size_t i = 0; i < s->agents; i++)
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            bool none = s->members.entries > 0 &&
                        (s->members.stage[i] == SADDLE_AGENT_GONE || s->weight[k] == 0.0);
            if (!none && newest_used(s, k) < oldest)
                oldest = newest_used(s, k);
        }
    return rounds - oldest;
}

/* ---- links whose two ends agree --------------------------------------------------------------- */

/* Returns how many edges of a sequence or schedule are used in a round. */
static size_t edges_used(const saddle_link_state *s, uint64_t round)
{
    const saddle_link_rule *rule = s->rule;
    const saddle_graph *graph = s->instance->graph;
    size_t step = saddle_link_rule_step(rule, round);
    if (rule->kind == SADDLE_LINKS_SEQUENCE)
        return rule->graph[step]->edges;
    if (step == rule->steps)
        return graph->edges;
    size_t count = 0;
    for (size_t k = 0; k < 2 * graph->edges; k++)
        count += rule->works[step * 2 * graph->edges + k];
    return count / 2;
}

void saddle_link_state_begin(saddle_link_state *s, uint64_t iteration, unsigned round)
{
    uint64_t number = saddle_round_number(s->layout, iteration, round);
    /* The ghosts' rows of the last round are saved before the next ones arrive. */
    for (size_t source = s->agents; s->window > 0 && s->begun && source < s->sources; source++)
        memcpy(past_row(s, source, number - 1), s->halo + (source - s->agents) * s->halo_stride,
               s->row * sizeof *s->past);
    s->begun = true;
    s->number = number;
    s->iteration = iteration;
    saddle_row_block block;
    size_t edges = 0;
    if (s->rule->kind == SADDLE_LINKS_GOSSIP)
        edges = draw_pairs(s, number);
    else if (s->rule->kind == SADDLE_LINKS_SEQUENCE || s->rule->kind == SADDLE_LINKS_SCHEDULE)
        edges = edges_used(s, number);
    if (round == 0 && s->members.presence.churn != NULL)
        saddle_presence_advance(&s->members.presence, number);
    saddle_layout_message(s->layout, round, &block.offset, &block.length);
    s->messages_sent += 2 * edges;
    s->bytes_sent += 2 * edges * block.length * sizeof(double);
}

/* Returns the weight in a round of agent i's edge at position `at` of the graph; 0 if it fails. `k` is
 * its message. */
static double weight_in_round(saddle_link_state *s, size_t i, size_t at, size_t k, uint64_t round)
{
    const saddle_link_rule *rule = s->rule;
    const saddle_graph *graph = s->instance->graph;
    double weight = s->instance->mixing->weight[at];
    size_t width = 2 * graph->edges;
    switch (rule->kind) {
    case SADDLE_LINKS_GOSSIP:
        return s->partner[i] == graph->neighbour[at] ? 0.5 : 0.0;
    case SADDLE_LINKS_SEQUENCE:
        return rule->weight[saddle_link_rule_step(rule, round) * width + at];
    case SADDLE_LINKS_SCHEDULE: {
        size_t step = saddle_link_rule_step(rule, round);
        return step == rule->steps || rule->works[step * width + at] ? weight : 0.0;
    }
    default:
        return saddle_link_fails(s, k, i, graph->neighbour[at], round) ? 0.0 : weight;
    }
}

/* Returns the agent's own weight; weights have 40 bits, so the differences are exact. */
static double self_weight_in_round(const saddle_link_state *s, size_t i, uint64_t round,
                                   double others)
{
    const saddle_link_rule *rule = s->rule;
    if (rule->kind == SADDLE_LINKS_SEQUENCE)
        return rule
            ->self_weight[saddle_link_rule_step(rule, round) * s->instance->graph->agents + i];
    return 1.0 - others;
}

static void collect_agreed(saddle_link_state *s, saddle_agent *agent, size_t i,
                           const double *const *rows, size_t kind)
{
    uint64_t round = s->number;
    size_t begin = s->start[i];
    size_t at = s->instance->graph->start[agent->id];
    size_t degree = s->start[i + 1] - begin;
    size_t working = 0;
    double others = 0.0;
    for (size_t k = 0; k < degree; k++) {
        double weight = weight_in_round(s, agent->id, at + k, begin + k, round);
        if (weight == 0.0)
            continue;
        s->read[begin + working] = rows[k];
        s->weight[begin + working++] = weight;
        s->used[(begin + k) * s->kinds + kind] = round + 1;
        others += weight;
    }
    agent->degree = working;
    agent->neighbour = s->read + begin;
    agent->weight = s->weight + begin;
    agent->self_weight = self_weight_in_round(s, agent->id, round, others);
}

/* ---- links that fail in one direction ----------------------------------------------------------- */

/* Returns the row of a message sent in a round, which is that of `row` or one before it, and notes the round. */
static const double *sent_in(saddle_link_state *s, size_t k, uint64_t round, const double *row)
{
    s->sent_round[k] = round + 1;
    return round == s->number ? row : past_row(s, s->source[k], round);
}

const double *saddle_link_state_arrived(saddle_link_state *s, size_t k, size_t i, size_t j,
                                        const double *row, size_t kind)
{
    if (i == s->rule->dead_to && j == s->rule->dead_from && i != j)
        return NULL;
    if (s->delivered != NULL && s->delivered[k].sent == 0)
        return NULL;
    if (s->delivered != NULL) {
        s->sent_round[k] = s->delivered[k].sent;
        return row;
    }
    if (s->rule->kind == SADDLE_LINKS_REPLAY) {
        size_t at = saddle_graph_position(s->instance->graph, i, j);
        uint64_t age = saddle_replay_age(&s->rule->replay, at, s->number);
        return age == SADDLE_REPLAY_LOST ? NULL : sent_in(s, k, s->number - age, row);
    }
    if (s->window == 0) {
        if (s->rule->kind != SADDLE_LINKS_RELIABLE && saddle_link_fails(s, k, i, j, s->number))
            return NULL;
        return sent_in(s, k, s->number, row);
    }
    for (uint64_t age = 0; age <= s->window && age <= s->number; age++) {
        uint64_t round = s->number - age;
        if (round < s->used[k * s->kinds + kind])
            break;
        if (kind_of(s, (unsigned)(round % s->layout->rounds)) != kind ||
            draw_delay(s, i, j, round) > age)
            continue;
        return sent_in(s, k, round, row);
    }
    return NULL;
}

/* Returns what an agent reads instead of message k. */
static const double *replacement(saddle_link_state *s, const saddle_agent *agent, size_t k,
                                 unsigned round, size_t kind)
{
    const double *row = s->arrived[k];
    if (s->stale == NULL)
        return row != NULL ? row : agent->now;
    double *last = s->stale + k * s->row;
    size_t offset;
    size_t length;
    saddle_layout_message(s->layout, round, &offset, &length);
    if (row != NULL)
        memcpy(last + offset, row + offset, length * sizeof *last);
    return s->used[k * s->kinds + kind] > 0 ? last : agent->now;
}

/* Collects messages under a rule that is not exact. */
static void collect_inexact(saddle_link_state *s, saddle_agent *agent, size_t i,
                            const double *const *rows, unsigned round, size_t kind)
{
    const saddle_graph *graph = s->instance->graph;
    size_t begin = s->start[i];
    const size_t *neighbour = graph->neighbour + graph->start[agent->id];
    for (size_t k = begin; k < s->start[i + 1]; k++) {
        s->arrived[k] =
            saddle_link_state_arrived(s, k, agent->id, neighbour[k - begin], rows[k - begin], kind);
        if (s->arrived[k] != NULL)
            s->used[k * s->kinds + kind] = s->sent_round[k];
        s->read[k] = replacement(s, agent, k, round, kind);
    }
    agent->neighbour = s->read + begin;
}

/* ---- a round ---------------------------------------------------------------------------------- */

void saddle_link_state_collect(saddle_link_state *s, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round)
{
    size_t kind = kind_of(s, round);
    if (s->skips != NULL && round == 0) {
        s->skips[i] = saddle_replay_skips(&s->rule->replay, agent->id, s->number);
        s->skipped[i] += s->skips[i];
    }
    if (s->skips != NULL && s->skips[i])
        return;
    if (s->members.entries > 0)
        saddle_membership_collect(s, agent, i, rows, round, kind);
    else if (saddle_link_rule_one_sided(s->rule))
        collect_inexact(s, agent, i, rows, round, kind);
    else
        collect_agreed(s, agent, i, rows, kind);
}

void saddle_link_state_publish(saddle_link_state *s, saddle_agent *agent, size_t i, unsigned round)
{
    unsigned next_round = round + 1 < s->layout->rounds ? round + 1 : 0;
    if (s->skips != NULL && s->skips[i])
        memcpy(agent->next, agent->now, s->row * sizeof *agent->next);
    else if (s->members.entries > 0)
        saddle_membership_publish(s, agent, i, round, next_round);
    if (s->window > 0)
        memcpy(past_row(s, i, s->number), agent->now, s->row * sizeof *s->past);
}

void saddle_link_state_start(saddle_link_state *s, saddle_agent *agent, size_t i)
{
    if (s->members.entries > 0)
        saddle_membership_start(s, agent, i);
    if (s->sums.fields > 0)
        saddle_running_sums_start(&s->sums, agent->self_weight, 0, agent->next,
                                  s->held + i * s->sums.stride);
}

void saddle_link_state_defect(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                              const saddle_field *field, double *sum, double *weight)
{
    *sum = *weight = 0.0;
    if (s->members.stage[i] != SADDLE_AGENT_ACTIVE &&
        s->members.stage[i] != SADDLE_AGENT_MIXING_SUMS)
        return;
    *sum = saddle_running_sums_defect(&s->sums, agent, field, s->start[i + 1] - s->start[i],
                                      s->weight + s->start[i], s->self_weight[i],
                                      s->received + s->start[i] * s->sums.stride,
                                      s->held + i * s->sums.stride, weight);
}
