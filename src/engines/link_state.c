#include "engines/link_state.h"

#include <string.h>

#include "algorithms/layout.h"
#include "core/memory.h"
#include "core/vector.h"

/* ---- memory ----------------------------------------------------------------------------------- */

/* Returns the kind of a round's message; `kinds` when it is not listed yet. */
static size_t kind_of(const saddle_link_state *s, unsigned round)
{
    size_t offset;
    size_t length;
    size_t kind = 0;
    saddle_layout_message(s->layout, round, &offset, &length);
    while (kind < s->kinds && s->kind[kind] != offset)
        kind++;
    return kind;
}

/* Lists the kinds of messages: what is sent changes only where the rounds of a field begin or end. */
static void list_kinds(saddle_link_state *s)
{
    const saddle_layout *layout = s->layout;
    for (size_t f = 0; f < layout->fields; f++)
        for (int end = 0; end < 2; end++) {
            size_t length;
            unsigned round = end ? layout->field[f].last_round : layout->field[f].first_round;
            size_t kind = kind_of(s, round);
            if (kind == s->kinds)
                saddle_layout_message(layout, round, &s->kind[s->kinds++], &length);
        }
    if (s->kinds == 0)
        s->kinds = 1;
}

size_t saddle_link_state_measure(saddle_link_state *state, const saddle_instance *instance,
                                 const saddle_layout *layout, size_t extra)
{
    state->instance = instance;
    state->rule = instance->links;
    state->layout = layout;
    state->inexact = instance->plan->network.inexact;
    state->agents = instance->world->local;
    state->stride = saddle_whole_lines(layout->published + extra);
    list_kinds(state);
    if (saddle_link_state_has_maps(instance)) {
        saddle_running_sums *sums = &state->sums;
        saddle_running_sums_plan(sums, layout, instance->spectrum.lambda);
        saddle_membership_measure(&state->members, instance, layout,
                                  sums->fields > 0 ? sums->behind + sums->width
                                                   : layout->published);
        state->stride = saddle_whole_lines(state->members.at + state->members.words + extra);
        state->mixed_stride = saddle_whole_lines(layout->published);
    }
    if (state->rule->kind == SADDLE_LINKS_DELAY)
        state->window = (size_t)state->rule->delay + saddle_larger(layout->rounds, 1) - 1;
    return state->stride;
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

void saddle_link_state_take(saddle_link_state *s, size_t messages, size_t sources,
                            saddle_allocator *allocator)
{
    s->messages = messages;
    s->sources = sources;
    s->read = saddle_allocator_block(allocator, messages, sizeof *s->read);
    s->arrived = saddle_allocator_block(allocator, messages, sizeof *s->arrived);
    s->weight = saddle_allocator_block(allocator, messages, sizeof *s->weight);
    s->used = saddle_allocator_block(allocator, messages, s->kinds * sizeof *s->used);
    if (s->rule->burst > 0.0)
        s->failing = saddle_allocator_block(allocator, messages, sizeof *s->failing);
    if (s->rule->kind == SADDLE_LINKS_GOSSIP)
        take_gossip(s, allocator);
    if (s->sums.fields > 0) {
        s->kept = saddle_allocator_block(allocator, s->agents, s->sums.stride * sizeof(double));
        s->received = saddle_allocator_block(allocator, messages, s->sums.stride * sizeof(double));
    }
    if (s->members.entries > 0) {
        s->self_weight = saddle_allocator_block(allocator, s->agents, sizeof *s->self_weight);
        s->mixed = saddle_allocator_block(allocator, s->agents, s->mixed_stride * sizeof(double));
    }
    saddle_membership_take(s, allocator);
    if (s->window > 0)
        s->past = saddle_allocator_block(allocator, (s->window + 1) * sources,
                                         s->stride * sizeof(double));
    if (s->inexact == SADDLE_INEXACT_STALE)
        s->stale = saddle_allocator_block(allocator, messages, s->stride * sizeof(double));
}

void saddle_link_state_clear(saddle_link_state *s)
{
    saddle_free((void *)s->read);
    saddle_free((void *)s->arrived);
    saddle_free(s->weight);
    saddle_free(s->used);
    saddle_free(s->failing);
    saddle_free(s->pair);
    saddle_free(s->order);
    saddle_free(s->partner);
    saddle_free(s->self_weight);
    saddle_free(s->kept);
    saddle_free(s->received);
    saddle_free(s->mixed);
    saddle_free(s->past);
    saddle_free(s->stale);
    saddle_membership_clear(&s->members);
}

size_t saddle_link_state_blocks(const saddle_link_state *s, const saddle_layout *layout,
                                unsigned round, saddle_row_block *block)
{
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
        if (round >= sums->first_round[g] && round <= sums->last_round[g])
            block[count++] =
                (saddle_row_block){.offset = sums->behind + sums->phi + g, .length = 1};
    if (s->members.entries > 0)
        block[count++] = (saddle_row_block){.offset = s->members.at, .length = s->members.words};
    return count;
}

size_t saddle_link_state_length(const saddle_link_state *s, const saddle_layout *layout,
                                unsigned round)
{
    saddle_row_block block[SADDLE_MOST_BLOCKS_SENT];
    size_t count = saddle_link_state_blocks(s, layout, round, block);
    size_t length = 0;
    for (size_t k = 0; k < count; k++)
        length += block[k].length;
    if (s->members.entries > 0)
        length -= s->members.words - 1;
    return length;
}

uint64_t saddle_link_state_newest(const saddle_link_state *s, size_t k)
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
    return saddle_link_rule_one_sided(s->rule) || saddle_link_state_newest(s, k) == s->number + 1;
}

uint64_t saddle_link_state_age(const saddle_link_state *s, uint64_t rounds)
{
    uint64_t oldest = rounds;
    for (size_t i = 0; i < s->agents; i++)
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            bool none = s->members.entries > 0 &&
                        (s->members.stage[i] == SADDLE_AGENT_GONE || s->weight[k] == 0.0);
            if (!none && saddle_link_state_newest(s, k) < oldest)
                oldest = saddle_link_state_newest(s, k);
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

static uint64_t round_number(const saddle_link_state *s, uint64_t iteration, unsigned round)
{
    return iteration * s->layout->rounds + round;
}

/* Saves the ghosts' rows of the last round before the next ones arrive. */
static void keep_ghosts(saddle_link_state *s, uint64_t last)
{
    size_t ghosts = s->sources - s->agents;
    size_t slot = (size_t)(last % (s->window + 1));
    if (ghosts > 0)
        memcpy(s->past + (slot * s->sources + s->agents) * s->stride, s->halo,
               ghosts * s->stride * sizeof *s->past);
}

void saddle_link_state_begin(saddle_link_state *s, uint64_t iteration, unsigned round)
{
    uint64_t number = round_number(s, iteration, round);
    if (s->window > 0 && s->begun)
        keep_ghosts(s, number - 1);
    s->begun = true;
    s->number = number;
    saddle_row_block block;
    size_t edges = 0;
    if (s->rule->kind == SADDLE_LINKS_GOSSIP)
        edges = saddle_link_match(s, number);
    else if (s->rule->kind == SADDLE_LINKS_SEQUENCE || s->rule->kind == SADDLE_LINKS_SCHEDULE)
        edges = edges_used(s, number);
    if (round == 0 && s->members.presence.churn != NULL)
        saddle_presence_advance(&s->members.presence, number);
    saddle_layout_message(s->layout, round, &block.offset, &block.length);
    s->sent += 2 * edges;
    s->bytes += 2 * edges * block.length * sizeof(double);
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
                           const double *const *rows, uint64_t round, size_t kind)
{
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

const double *saddle_link_state_arrived(saddle_link_state *s, size_t k, size_t i, size_t j,
                                        const double *row, uint64_t number, size_t kind,
                                        uint64_t *sent)
{
    if (i == s->rule->dead_to && j == s->rule->dead_from && i != j)
        return NULL;
    if (s->window == 0) {
        if (s->rule->kind != SADDLE_LINKS_RELIABLE && saddle_link_fails(s, k, i, j, number))
            return NULL;
        *sent = number + 1;
        return row;
    }
    for (uint64_t age = 0; age <= s->window && age <= number; age++) {
        uint64_t round = number - age;
        if (round < s->used[k * s->kinds + kind])
            break;
        if (kind_of(s, (unsigned)(round % s->layout->rounds)) != kind ||
            saddle_link_delay(s, i, j, round) > age)
            continue;
        *sent = round + 1;
        size_t slot = (size_t)(round % (s->window + 1));
        return age == 0 ? row : s->past + (slot * s->sources + s->source[k]) * s->stride;
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
    double *last = s->stale + k * s->stride;
    size_t offset;
    size_t length;
    saddle_layout_message(s->layout, round, &offset, &length);
    if (row != NULL)
        memcpy(last + offset, row + offset, length * sizeof *last);
    return s->used[k * s->kinds + kind] > 0 ? last : agent->now;
}

/* Collects messages under a rule that is not exact. */
static void collect_inexact(saddle_link_state *s, saddle_agent *agent, size_t i,
                            const double *const *rows, uint64_t number, unsigned round, size_t kind)
{
    const saddle_graph *graph = s->instance->graph;
    size_t begin = s->start[i];
    const size_t *neighbour = graph->neighbour + graph->start[agent->id];
    for (size_t k = begin; k < s->start[i + 1]; k++) {
        uint64_t sent = 0;
        s->arrived[k] = saddle_link_state_arrived(s, k, agent->id, neighbour[k - begin],
                                                  rows[k - begin], number, kind, &sent);
        if (s->arrived[k] != NULL)
            s->used[k * s->kinds + kind] = sent;
        s->read[k] = replacement(s, agent, k, round, kind);
    }
    agent->neighbour = s->read + begin;
}

/* ---- a round ---------------------------------------------------------------------------------- */

void saddle_link_state_collect(saddle_link_state *s, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round)
{
    uint64_t number = round_number(s, agent->iteration, round);
    size_t kind = kind_of(s, round);
    if (s->members.entries > 0)
        saddle_membership_collect(s, agent, i, rows, round, kind);
    else if (saddle_link_rule_one_sided(s->rule))
        collect_inexact(s, agent, i, rows, number, round, kind);
    else
        collect_agreed(s, agent, i, rows, number, kind);
}

void saddle_link_state_publish(saddle_link_state *s, saddle_agent *agent, size_t i, unsigned round)
{
    unsigned next_round = round + 1 < s->layout->rounds ? round + 1 : 0;
    if (s->members.entries > 0)
        saddle_membership_publish(s, agent, i, round, next_round);
    if (s->window > 0) {
        size_t slot = (size_t)(round_number(s, agent->iteration, round) % (s->window + 1));
        memcpy(s->past + (slot * s->sources + i) * s->stride, agent->now,
               s->stride * sizeof(double));
    }
}

void saddle_link_state_start(saddle_link_state *s, saddle_agent *agent, size_t i)
{
    if (s->members.entries > 0)
        saddle_membership_start(s, agent, i);
    if (s->sums.fields > 0)
        saddle_running_sums_start(&s->sums, agent->self_weight, 0, agent->next,
                                  s->kept + i * s->sums.stride);
}

void saddle_link_state_defect(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                              const saddle_field *field, double *sum, double *weight)
{
    *sum = *weight = 0.0;
    if (s->members.stage[i] != SADDLE_AGENT_ACTIVE && s->members.stage[i] != SADDLE_AGENT_SETTLING)
        return;
    *sum = saddle_running_sums_defect(&s->sums, agent, field, s->start[i + 1] - s->start[i],
                                      s->weight + s->start[i], s->self_weight[i],
                                      s->received + s->start[i] * s->sums.stride,
                                      s->kept + i * s->sums.stride, weight);
}
