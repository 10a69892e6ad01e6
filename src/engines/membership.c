/* Maps, and what an agent does with them at the beginning of an iteration. */
#include "engines/membership.h"

#include "algorithms/layout.h"
#include "core/elementary.h"
#include "core/vector.h"
#include "engines/link_state.h"

/* The most rounds in which agents only average their iterates, and their sums. */
#define MOST_ITERATE_ROUNDS 20.0
#define MOST_SUM_ROUNDS 80.0
/* Averaging the sums reduces their differences by this factor, unless that takes too many rounds. Iterates hardly
 * differ, unless two components of a network are joined: a quarter of the rounds is enough. */
#define REDUCTION 1e-5
#define ITERATE_SHARE 0.25

/* ---- maps -------------------------------------------------------------------------------------- */

uint64_t saddle_map_hash(size_t entries, const unsigned char *map)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t k = 0; k < entries; k += sizeof hash) {
        uint64_t eight = 0;
        memcpy(&eight, map + k, entries - k < sizeof eight ? entries - k : sizeof eight);
        hash = (hash ^ eight) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash | 1;
}

bool saddle_map_merge(size_t entries, unsigned char *map, const unsigned char *other)
{
    unsigned change = 0;
    for (size_t k = 0; k < entries; k++) {
        unsigned char larger = other[k] > map[k] ? other[k] : map[k];
        change |= (unsigned)(larger ^ map[k]);
        map[k] = larger;
    }
    return change != 0;
}

static unsigned char *map_of(const saddle_membership *m, double *row)
{
    return (unsigned char *)(row + m->at + 2);
}

static void set_hash(const saddle_membership *m, double *row)
{
    uint64_t hash = saddle_map_hash(m->entries, saddle_row_map(m, row));
    memcpy(row + m->at, &hash, sizeof hash);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Returns the rounds after which averaging has reduced differences by REDUCTION. */
static double averaging_rounds(const saddle_instance *instance)
{
    double lambda = instance->spectrum.lambda;
    return lambda >= 0.0 && lambda < 1.0 ? saddle_log(REDUCTION) / saddle_log(fmax(lambda, 1e-3))
                                         : MOST_SUM_ROUNDS;
}

static uint64_t iterations_of(double rounds, unsigned per_iteration)
{
    return (uint64_t)fmax(1.0, ceil(rounds / per_iteration));
}

/* Returns the fewest rounds of an iteration in which a field of a kind is sent; 0: there is none. */
static unsigned fewest_rounds(const saddle_layout *layout, saddle_field_kind kind)
{
    unsigned fewest = 0;
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        unsigned rounds = field->last_round - field->first_round + 1;
        if (field->kind == kind && (fewest == 0 || rounds < fewest))
            fewest = rounds;
    }
    return fewest;
}

void saddle_membership_measure(saddle_membership *m, const saddle_instance *instance,
                               const saddle_layout *layout, size_t at)
{
    unsigned iterates = fewest_rounds(layout, SADDLE_FIELD_ITERATE);
    unsigned sums = fewest_rounds(layout, SADDLE_FIELD_SUM);
    m->entries = instance->graph->agents + instance->graph->edges;
    m->at = at;
    m->words = 2 + (m->entries + sizeof(double) - 1) / sizeof(double);
    double wanted = averaging_rounds(instance);
    if (iterates > 0)
        m->iterate_mixing =
            iterations_of(fmin(ITERATE_SHARE * wanted, MOST_ITERATE_ROUNDS), iterates);
    if (sums > 0)
        m->sum_mixing = iterations_of(fmin(wanted, MOST_SUM_ROUNDS), sums);
    for (size_t f = 0; f < layout->fields; f++) {
        if (strcmp(layout->field[f].name, "x") == 0)
            m->x = layout->field[f].offset;
        if (strcmp(layout->field[f].name, "y") == 0)
            m->y = layout->field[f].offset;
    }
}

void saddle_membership_take(saddle_membership *m, const saddle_instance *instance,
                            saddle_link_table *table)
{
    const saddle_graph *graph = instance->graph;
    m->edge = saddle_allocator_block(table->allocator, 2 * graph->edges, sizeof *m->edge);
    m->dead = saddle_link_table_take(table, SADDLE_OF_MESSAGE, sizeof *m->dead,
                                     instance->links->kind == SADDLE_LINKS_REPLAY);
    m->stage = saddle_link_table_take(table, SADDLE_OF_AGENT, sizeof *m->stage, 1);
    m->extra_messages =
        saddle_link_table_take(table, SADDLE_OF_AGENT, sizeof *m->extra_messages, 1);
    m->extra_bytes = saddle_link_table_take(table, SADDLE_OF_AGENT, sizeof *m->extra_bytes, 1);
    saddle_link_table_row(table, m->at, m->words);
    saddle_presence_take(&m->presence, instance->churn, graph, m->edge, table->allocator);
    if (m->edge != NULL)
        saddle_number_edges(graph, m->edge);
}

/* ---- weights and the start ----------------------------------------------------------------------- */

static bool is_gone(const saddle_membership *m, size_t agent)
{
    return m->presence.churn != NULL && m->presence.gone[agent];
}

void saddle_membership_weigh(saddle_link_state *s, saddle_agent *agent, size_t i, const double *row)
{
    const saddle_membership *m = &s->members;
    const saddle_mixing *mixing = s->instance->mixing;
    const saddle_graph *graph = mixing->graph;
    const unsigned char *map = saddle_row_map(m, row);
    agent->self_weight = mixing->self_weight[agent->id];
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        size_t at = graph->start[agent->id] + k - s->start[i];
        bool out = saddle_map_is_off(map[graph->neighbour[at]]) ||
                   saddle_map_is_off(map[graph->agents + m->edge[at]]);
        s->weight[k] = out ? 0.0 : mixing->weight[at];
        /* Weights have 40 bits, so that this is exact. */
        agent->self_weight += out ? mixing->weight[at] : 0.0;
    }
    agent->weight = s->weight + s->start[i];
    s->self_weight[i] = agent->self_weight;
}

void saddle_membership_start(saddle_link_state *s, saddle_agent *agent, size_t i)
{
    saddle_membership *m = &s->members;
    unsigned char *map = map_of(m, agent->next);
    size_t agents = s->instance->graph->agents;
    memset(map, 0, m->entries);
    for (size_t j = 0; m->presence.churn != NULL && j < agents; j++)
        map[j] = m->presence.gone[j];
    set_hash(m, agent->next);
    agent->next[m->at + 1] = 0.0;
    m->stage[i] = SADDLE_AGENT_ACTIVE;
    saddle_membership_weigh(s, agent, i, agent->next);
    if (is_gone(m, agent->id)) {
        m->stage[i] = SADDLE_AGENT_GONE;
        agent->ifo = 0; /* it has computed nothing */
    }
}

void saddle_membership_return(saddle_link_state *s, saddle_agent *agent, size_t i)
{
    saddle_membership *m = &s->members;
    const uint64_t none = 0;
    map_of(m, agent->next)[agent->id] = (unsigned char)(2 * (m->returns - 1));
    memcpy(agent->next + m->at, &none, sizeof none);
    m->stage[i] = SADDLE_AGENT_GONE;
    /* It does not know which edges the process before it has called down. */
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++)
        m->dead[k] = SADDLE_SILENT;
}

/* ---- the beginning of an iteration ------------------------------------------------------------------ */

/* Copies the map to the next row unless it is there already. */
static void carry_map(const saddle_membership *m, const saddle_agent *agent)
{
    size_t words = saddle_row_hash(m, agent->next) == saddle_row_hash(m, agent->now) ? 2 : m->words;
    memcpy(agent->next + m->at, agent->now + m->at, words * sizeof(double));
}

/* Gives an agent that is back its next incarnation, and tries all its edges again. */
static void come_back(const saddle_link_state *s, const saddle_agent *agent, unsigned char *map)
{
    const saddle_membership *m = &s->members;
    const saddle_graph *graph = s->instance->graph;
    saddle_map_renew(&map[agent->id]);
    for (size_t at = graph->start[agent->id]; at < graph->start[agent->id + 1]; at++) {
        unsigned char *edge = &map[graph->agents + m->edge[at]];
        if (m->presence.churn != NULL && !m->presence.cut[m->edge[at]] && saddle_map_is_off(*edge))
            saddle_map_renew(edge);
    }
}

/* Adds what an agent sees of its neighbours and edges to its map; returns whether that changed the map. */
static bool apply_events(const saddle_link_state *s, size_t agent, unsigned char *map)
{
    const saddle_membership *m = &s->members;
    const saddle_presence *p = &m->presence;
    const saddle_graph *graph = s->instance->graph;
    bool change = false;
    for (size_t at = graph->start[agent]; at < graph->start[agent + 1]; at++) {
        size_t j = graph->neighbour[at];
        size_t e = m->edge[at];
        unsigned char *edge = &map[graph->agents + e];
        if (p->gone[j] && saddle_map_take_off(&map[j]))
            change = true;
        if (p->cut[e] && saddle_map_take_off(edge))
            change = true;
        if (p->healed[e] && saddle_map_is_off(*edge)) {
            saddle_map_renew(edge);
            change = true;
        }
    }
    return change;
}

/* Merges the maps that have arrived into the agent's; returns whether that changed it. */
static bool merge_received(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                           unsigned char *map)
{
    const saddle_membership *m = &s->members;
    uint64_t own = saddle_row_hash(m, agent->now);
    bool change = false;
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        const double *row = s->arrived[k];
        if (row != NULL && saddle_row_hash(m, row) != own &&
            saddle_map_merge(m->entries, map, saddle_row_map(m, row)))
            change = true;
    }
    return change;
}

/* Sets the iteration in which an agent starts over: that of neighbours with the same map that have not started yet, or
 * one of its own. */
static void choose_start(const saddle_link_state *s, const saddle_agent *agent, size_t i,
                         bool changed)
{
    const saddle_membership *m = &s->members;
    uint64_t hash = saddle_row_hash(m, agent->next);
    uint64_t start = changed ? 0 : saddle_row_start(m, agent->next);
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        const double *row = s->arrived[k];
        if (row != NULL && saddle_row_hash(m, row) == hash && saddle_row_start(m, row) > start)
            start = saddle_row_start(m, row);
    }
    if (start <= s->iteration)
        start = s->iteration + m->iterate_mixing;
    agent->next[m->at + 1] = (double)start;
}

/* Starts over under another map. */
static void reset(saddle_link_state *s, saddle_agent *agent, size_t i, bool back)
{
    saddle_membership *m = &s->members;
    set_hash(m, agent->next);
    saddle_membership_weigh(s, agent, i, agent->next);
    m->stage[i] = back ? SADDLE_AGENT_JOINING : SADDLE_AGENT_MIXING_ITERATES;
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        if (s->sums.fields > 0)
            memset(s->received + k * s->sums.stride, 0, s->sums.stride * sizeof *s->received);
        for (size_t kind = 0; kind < s->kinds; kind++)
            s->used[k * s->kinds + kind] = s->number;
        s->sent_round[k] = s->number;
    }
    choose_start(s, agent, i, true);
}

static void begin_iteration(saddle_link_state *s, saddle_agent *agent, size_t i)
{
    saddle_membership *m = &s->members;
    unsigned char *map = map_of(m, agent->next);
    bool churn = m->presence.churn != NULL;
    bool back = m->stage[i] == SADDLE_AGENT_GONE || (churn && m->presence.back[agent->id]);
    bool change = back;
    if (back)
        come_back(s, agent, map);
    if (churn && apply_events(s, agent->id, map))
        change = true;
    if (merge_received(s, agent, i, map))
        change = true;
    if (saddle_membership_watch(s, agent, i, map, back))
        change = true;
    if (saddle_map_is_off(map[agent->id])) {
        saddle_map_renew(&map[agent->id]);
        change = true;
    }
    if (change)
        reset(s, agent, i, back);
    else if (m->stage[i] == SADDLE_AGENT_MIXING_ITERATES)
        choose_start(s, agent, i, false);
}

/* ---- a round ---------------------------------------------------------------------------------------- */

/* Counts messages that were not sent to an agent, and maps that were. */
static void count_messages(saddle_link_state *s, const saddle_agent *agent, size_t i,
                           const double *const *rows, unsigned round)
{
    saddle_membership *m = &s->members;
    size_t first = s->instance->graph->start[agent->id];
    uint64_t own = saddle_row_hash(m, agent->now);
    for (size_t k = 0; k < s->start[i + 1] - s->start[i]; k++) {
        bool linked = saddle_presence_linked(&m->presence, agent->id, first + k);
        bool down = s->weight[s->start[i] + k] == 0.0;
        if (linked && round == 0 && saddle_row_hash(m, rows[k]) != own)
            m->extra_bytes[i] += (int64_t)m->entries;
        if (linked && !down)
            continue;
        int64_t usual = (int64_t)(saddle_link_state_length(s, round) * sizeof(double));
        /* Over an edge that is marked as down, hashes are still exchanged. */
        m->extra_bytes[i] -= linked ? usual - (int64_t)sizeof own : usual;
        m->extra_messages[i] -= !linked;
    }
}

/* Points an agent at the messages that it may use: those with an equal map. An agent that joins reads all that
 * arrived. */
static void choose_messages(saddle_link_state *s, const saddle_agent *agent, size_t i, size_t kind)
{
    const saddle_membership *m = &s->members;
    const saddle_graph *graph = s->instance->graph;
    bool joins = m->stage[i] == SADDLE_AGENT_JOINING;
    uint64_t hash = saddle_row_hash(m, agent->next);
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
        size_t at = graph->start[agent->id] + k - s->start[i];
        const double *row = s->arrived[k];
        bool use = row != NULL && s->weight[k] != 0.0 && saddle_row_hash(m, row) == hash;
        if (use)
            s->used[k * s->kinds + kind] = s->sent_round[k];
        else
            s->arrived[k] = NULL;
        s->read[k] = use ? row : agent->now;
        /* The state of a neighbour that has just come back is old. */
        if (joins)
            s->read[k] =
                m->presence.churn != NULL && m->presence.back[graph->neighbour[at]] ? NULL : row;
    }
}

void saddle_membership_collect(saddle_link_state *s, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round, size_t kind)
{
    saddle_membership *m = &s->members;
    const saddle_graph *graph = s->instance->graph;
    size_t begin = s->start[i];
    size_t degree = s->start[i + 1] - begin;
    count_messages(s, agent, i, rows, round);
    if (is_gone(m, agent->id)) {
        m->stage[i] = SADDLE_AGENT_GONE;
        return;
    }
    carry_map(m, agent);
    for (size_t k = 0; k < degree; k++) {
        size_t at = graph->start[agent->id] + k;
        s->arrived[begin + k] = NULL;
        if (saddle_presence_linked(&m->presence, agent->id, at))
            s->arrived[begin + k] = saddle_link_state_arrived(s, begin + k, agent->id,
                                                              graph->neighbour[at], rows[k], kind);
    }
    if (round == 0)
        begin_iteration(s, agent, i);
    choose_messages(s, agent, i, kind);
    agent->neighbour = s->read + begin;
    bool sums = m->stage[i] == SADDLE_AGENT_ACTIVE || m->stage[i] == SADDLE_AGENT_MIXING_SUMS;
    if (s->sums.fields == 0 || !sums)
        return;
    double *mixed = s->mixed + i * s->mixed_stride;
    saddle_running_sums_collect(&s->sums, round, degree, s->arrived + begin, agent->weight,
                                s->received + begin * s->sums.stride, s->held + i * s->sums.stride,
                                mixed);
    agent->mixed = mixed;
}

/* ---- rounds without the algorithm --------------------------------------------------------------------- */

/* Computes the mean of the rows that an agent reads and that are not NULL; if all are, returns false and copies its own
 * row. */
static bool average(const saddle_agent *agent, const saddle_field *field, double *out)
{
    double count = 0.0;
    memset(out, 0, field->length * sizeof *out);
    for (size_t j = 0; j < agent->degree; j++) {
        if (agent->neighbour[j] == NULL)
            continue;
        saddle_axpy(field->length, 1.0, agent->neighbour[j] + field->offset, out);
        count += 1.0;
    }
    if (count > 0.0)
        saddle_scale(field->length, 1.0 / count, out);
    else
        memcpy(out, agent->now + field->offset, field->length * sizeof *out);
    return count > 0.0;
}

/* Starts the algorithm from a point, in the next iteration. */
static void start_over(saddle_link_state *s, saddle_agent *agent, size_t i, const double *span)
{
    saddle_membership *m = &s->members;
    agent->iteration++;
    m->algorithm->start(agent, span + m->x, span + m->y);
    agent->iteration--;
    m->stage[i] = m->sum_mixing > 0 ? SADDLE_AGENT_MIXING_SUMS : SADDLE_AGENT_ACTIVE;
    if (s->sums.fields > 0)
        saddle_running_sums_start(&s->sums, agent->self_weight, 0, agent->next,
                                  s->held + i * s->sums.stride);
}

/* Averages the iterates; sums push nothing. */
static void mix_iterates(saddle_link_state *s, saddle_agent *agent, size_t i, unsigned round,
                         bool last)
{
    saddle_membership *m = &s->members;
    double *span = s->mixed + i * s->mixed_stride;
    bool received = true;
    memcpy(span, agent->now, s->layout->published * sizeof *span);
    for (size_t f = 0; f < s->layout->fields; f++) {
        const saddle_field *field = &s->layout->field[f];
        if (field->kind != SADDLE_FIELD_ITERATE || !saddle_field_is_sent(field, round))
            continue;
        if (m->stage[i] == SADDLE_AGENT_JOINING)
            received = average(agent, field, span + field->offset) && received;
        else
            saddle_agent_mix(agent, field->offset, field->length, span + field->offset);
    }
    memcpy(agent->next, span, s->layout->published * sizeof *span);
    if (s->sums.fields > 0)
        memset(agent->next + s->sums.behind, 0, s->sums.width * sizeof *span);
    if (!last)
        return;
    /* An agent that joins and has received nothing keeps trying until it starts. */
    if (received)
        m->stage[i] = SADDLE_AGENT_MIXING_ITERATES;
    if (s->iteration + 1 >= saddle_row_start(m, agent->next))
        start_over(s, agent, i, span);
}

/* Averages the sums; iterates stay as they are. */
static void mix_sums(saddle_link_state *s, saddle_agent *agent, size_t i, unsigned round,
                     unsigned next_round)
{
    saddle_membership *m = &s->members;
    memcpy(agent->next, agent->now, s->layout->published * sizeof *agent->next);
    for (size_t f = 0; f < s->layout->fields; f++) {
        const saddle_field *field = &s->layout->field[f];
        if (field->kind == SADDLE_FIELD_SUM && saddle_field_is_sent(field, round))
            memcpy(agent->next + field->offset, agent->mixed + field->offset,
                   field->length * sizeof *agent->next);
    }
    saddle_running_sums_publish(&s->sums, agent, round, next_round, s->held + i * s->sums.stride);
    if (next_round == 0 && s->iteration + 1 >= saddle_row_start(m, agent->next) + m->sum_mixing)
        m->stage[i] = SADDLE_AGENT_ACTIVE;
}

void saddle_membership_publish(saddle_link_state *s, saddle_agent *agent, size_t i, unsigned round,
                               unsigned next_round)
{
    switch ((saddle_stage_of_agent)s->members.stage[i]) {
    case SADDLE_AGENT_ACTIVE:
        if (s->sums.fields > 0)
            saddle_running_sums_publish(&s->sums, agent, round, next_round,
                                        s->held + i * s->sums.stride);
        return;
    case SADDLE_AGENT_GONE:
        memcpy(agent->next, agent->now, s->row * sizeof *agent->next);
        return;
    case SADDLE_AGENT_JOINING:
    case SADDLE_AGENT_MIXING_ITERATES:
        mix_iterates(s, agent, i, round, next_round == 0);
        return;
    case SADDLE_AGENT_MIXING_SUMS:
        mix_sums(s, agent, i, round, next_round);
        return;
    }
}
