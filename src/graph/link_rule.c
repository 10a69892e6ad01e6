#include "graph/link_rule.h"

#include "core/elementary.h"
#include "core/registry.h"
#include "graph/reading.h"

/* The most rounds that a message can be late: this many copies of all messages are kept. */
#define MOST_DELAY 1000
/* See saddle_link_rule::patience. */
#define LEAST_PATIENCE 200.0

typedef struct link_form {
    const char *synopsis; /* must be first: the registry finds it by this */
    saddle_link_kind kind;
    size_t least; /* fewest fields after the name */
    size_t most;
    bool bursts;
} link_form;

#define FORM(...)      \
    &(const link_form) \
    {                  \
        __VA_ARGS__    \
    }
static const link_form *const forms[] = {
    FORM("reliable", SADDLE_LINKS_RELIABLE, 0, 0, false),
    FORM("agreed:P", SADDLE_LINKS_AGREED, 1, 1, false),
    FORM("agreed-burst:P:LENGTH", SADDLE_LINKS_AGREED, 2, 2, true),
    FORM("gossip", SADDLE_LINKS_GOSSIP, 0, 0, false),
    FORM("sequence:TOPOLOGY,...", SADDLE_LINKS_SEQUENCE, 1, SIZE_MAX, false),
    FORM("schedule:FILE", SADDLE_LINKS_SCHEDULE, 1, SIZE_MAX, false),
    FORM("lossy:P[:I-J]", SADDLE_LINKS_LOSSY, 1, 2, false),
    FORM("burst:P:LENGTH[:I-J]", SADDLE_LINKS_LOSSY, 2, 3, true),
    FORM("delay:K[:P][:I-J]", SADDLE_LINKS_DELAY, 1, 3, false),
    FORM("replay:FILE", SADDLE_LINKS_REPLAY, 1, SIZE_MAX, false),
};

static saddle_status read_probability(const char *text, const char *what, double most, double *out,
                                      saddle_error *error)
{
    if (saddle_parse_real(text, out) && *out >= 0.0 && *out <= most)
        return SADDLE_OK;
    return saddle_refuse(error, "%s must be a number from 0 to %g (got '%s')", what, most,
                         SADDLE_EXCERPT(text));
}

/* Removes a last field I-J. The agents are checked once the network is known. */
static saddle_status read_dead(saddle_link_rule *rule, saddle_fields *fields, saddle_error *error)
{
    uint64_t from;
    uint64_t to;
    const char *text = fields->field[fields->count - 1];
    const char *dash = strchr(text, '-');
    if (dash == NULL || dash == text || dash - text > 31 ||
        strspn(text, "0123456789-") != strlen(text))
        return SADDLE_OK;
    if (!saddle_parse_integer_in(text, (size_t)(dash - text), &from) ||
        !saddle_parse_integer(dash + 1, &to) || from == to || from >= SADDLE_MAX_AGENTS ||
        to >= SADDLE_MAX_AGENTS)
        return saddle_refuse(error,
                             "I-J, the dead direction, must be two different agents (got '%s')",
                             SADDLE_EXCERPT(text));
    rule->dead_from = (size_t)from;
    rule->dead_to = (size_t)to;
    fields->count--;
    return SADDLE_OK;
}

/* Returns how many rounds without a message occur with probability 1e-9 on a working link, at least
 * LEAST_PATIENCE. */
static uint64_t patience_of(const saddle_link_rule *rule)
{
    double rounds = (double)(2 * rule->delay);
    if (rule->loss > 0.0)
        rounds = rule->burst > 0.0 ? rule->burst * saddle_log(1e9)
                                   : saddle_log(1e-9) / saddle_log(rule->loss);
    return (uint64_t)fmax(LEAST_PATIENCE, ceil(rounds));
}

/* Reads the share of failures, and the mean length of a burst. */
static saddle_status read_loss(saddle_link_rule *rule, const saddle_fields *fields, bool bursts,
                               saddle_error *error)
{
    SADDLE_TRY(read_probability(fields->field[1], "P, the share of lost messages,", 0.99,
                                &rule->loss, error));
    if (!bursts)
        return SADDLE_OK;
    double least = fmax(1.0, rule->loss / (1.0 - rule->loss));
    if (!saddle_parse_real(fields->field[2], &rule->burst) || !(rule->burst >= least) ||
        !(rule->burst <= 1e6))
        return saddle_refuse(error,
                             "with P = %g, LENGTH, the mean number of rounds of a burst, must be "
                             "at least %g%s and at most 1e6 (got '%s')",
                             rule->loss, least, least > 1.0 ? ", that is P / (1 - P)," : "",
                             SADDLE_EXCERPT(fields->field[2]));
    return SADDLE_OK;
}

static saddle_status read_delay(saddle_link_rule *rule, const saddle_fields *fields,
                                saddle_error *error)
{
    if (!saddle_parse_integer(fields->field[1], &rule->delay) || rule->delay < 1 ||
        rule->delay > MOST_DELAY)
        return saddle_refuse(
            error, "K, the largest delay in rounds, must be a whole number from 1 to %d (got '%s')",
            MOST_DELAY, SADDLE_EXCERPT(fields->field[1]));
    rule->late = 1.0;
    return fields->count > 2 ? read_probability(fields->field[2], "P, the share of late messages,",
                                                1.0, &rule->late, error)
                             : SADDLE_OK;
}

static saddle_status read_fields(saddle_link_rule *rule, const link_form *form, const char *text,
                                 saddle_error *error)
{
    saddle_fields fields = {.count = 1, .field = {text}};
    const char *colon = strchr(text, ':');
    bool cut = form->most == SIZE_MAX || saddle_split(&fields, text);
    bool one_sided = form->kind == SADDLE_LINKS_LOSSY || form->kind == SADDLE_LINKS_DELAY;
    size_t most = form->most;
    if (cut && one_sided) {
        SADDLE_TRY(read_dead(rule, &fields, error));
        most--;
    }
    bool complete = form->most == SIZE_MAX
                        ? colon != NULL && colon[1] != '\0'
                        : cut && fields.count - 1 >= form->least && fields.count - 1 <= most;
    if (!complete)
        return saddle_refuse(error, "'%s' is not of the form %s", SADDLE_EXCERPT(text),
                             form->synopsis);
    rule->kind = form->kind;
    rule->tail = colon != NULL ? colon + 1 : NULL;
    if (form->kind == SADDLE_LINKS_AGREED || form->kind == SADDLE_LINKS_LOSSY)
        SADDLE_TRY(read_loss(rule, &fields, form->bursts, error));
    if (form->kind == SADDLE_LINKS_DELAY)
        SADDLE_TRY(read_delay(rule, &fields, error));
    /* The agents of a replay did not call directions dead. */
    rule->patience = form->kind == SADDLE_LINKS_REPLAY ? UINT64_MAX : patience_of(rule);
    return SADDLE_OK;
}

SADDLE_RELEASES(saddle_link_rule, saddle_link_rule_free)

saddle_status saddle_link_rule_create(saddle_link_rule **out, const char *text, saddle_error *error)
{
    const void *form;
    *out = NULL;
    SADDLE_TRY(saddle_registry_find(&form, "kind of links", text, forms,
                                    sizeof forms / sizeof *forms, error));
    SADDLE_OWNED_BY(saddle_link_rule_free_at)
    saddle_link_rule *rule = saddle_alloc(1, sizeof *rule);
    SADDLE_TRY(saddle_check_memory(rule, "the links", error));
    SADDLE_TRY(read_fields(rule, form, text, error));
    *out = saddle_taken(&rule);
    return SADDLE_OK;
}

void saddle_link_rule_free(saddle_link_rule *rule)
{
    if (rule == NULL)
        return;
    for (size_t k = 0; rule->graph != NULL && k < rule->steps; k++)
        saddle_graph_free(rule->graph[k]);
    saddle_free((void *)rule->graph);
    saddle_free(rule->weight);
    saddle_free(rule->self_weight);
    saddle_free(rule->from);
    saddle_free(rule->works);
    saddle_replay_clear(&rule->replay);
    saddle_free(rule);
}

/* ---- a sequence ------------------------------------------------------------------------------- */

/* Returns the next topology of a list, to be freed; NULL if memory is short. */
static char *take_next(const char **list)
{
    size_t length;
    const char *item = saddle_next_item(list, &length);
    return saddle_format("%.*s", (int)length, item);
}

/* Takes the next topology of a list; finds its number of agents if it determines one. */
static saddle_status read_agents(const char **list, uint64_t seed, size_t *out, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_graph_free_at) saddle_graph *graph = NULL;
    SADDLE_OWNED char *text = take_next(list);
    SADDLE_TRY(saddle_check_memory(text, "the links", error));
    if (saddle_topology_sets_agents(text)) {
        SADDLE_TRY(saddle_graph_create(&graph, text, 0, seed, error));
        *out = graph->agents;
    }
    return SADDLE_OK;
}

/* Finds the number of agents of the first topology that determines it; 0 when none does. */
static saddle_status find_agents(const char *list, uint64_t seed, size_t *out, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    while (status == SADDLE_OK && *out == 0 && list != NULL)
        status = read_agents(&list, seed, out, error);
    return status;
}

/* Draws random topologies once, each from its own seed. */
static saddle_status make_graphs(saddle_link_rule *rule, size_t agents, uint64_t seed,
                                 saddle_error *error)
{
    size_t count = 1;
    for (const char *at = rule->tail; *at != '\0'; at++)
        count += *at == ',';
    rule->graph = saddle_alloc(count, sizeof *rule->graph);
    SADDLE_TRY(saddle_check_memory(rule->graph, "the links", error));
    const char *list = rule->tail;
    for (size_t k = 0; k < count; k++) {
        rule->steps = k + 1;
        SADDLE_OWNED char *text = take_next(&list);
        SADDLE_TRY(saddle_check_memory(text, "the links", error));
        SADDLE_TRY(saddle_graph_create(&rule->graph[k], text, agents, seed + k, error));
    }
    return SADDLE_OK;
}

/* Lists the edges of all graphs, each once. */
static void unite(const saddle_link_rule *rule, saddle_edges *edges)
{
    saddle_edge_set set = {.slot = NULL};
    size_t most = 0;
    for (size_t s = 0; s < rule->steps; s++)
        most += rule->graph[s]->edges;
    if (!saddle_edge_set_create(&set, most))
        edges->status = saddle_no_memory(edges->error, "the links");
    for (size_t s = 0; edges->status == SADDLE_OK && s < rule->steps; s++) {
        const saddle_graph *g = rule->graph[s];
        for (size_t i = 0; i < g->agents; i++)
            for (size_t k = g->start[i]; k < g->start[i + 1]; k++)
                if (i < g->neighbour[k] && saddle_edge_set_add(&set, i, g->neighbour[k]))
                    saddle_edges_add(edges, i, g->neighbour[k]);
    }
    saddle_edge_set_free(&set);
}

saddle_status saddle_link_rule_union(saddle_link_rule *rule, size_t agents, size_t otherwise,
                                     uint64_t seed, saddle_graph **out, saddle_error *error)
{
    saddle_edges edges = {.error = error};
    *out = NULL;
    if (agents == 0)
        SADDLE_TRY(find_agents(rule->tail, seed, &agents, error));
    SADDLE_TRY(make_graphs(rule, agents > 0 ? agents : otherwise, seed, error));
    unite(rule, &edges);
    return saddle_edges_compress(&edges, "sequence", rule->graph[0]->agents, out);
}

/* Copies the weights of one graph of a sequence to the positions of its edges in the union. */
static void place_weights(const saddle_mixing *own, const saddle_graph *all, double *weight,
                          double *self_weight)
{
    const saddle_graph *g = own->graph;
    for (size_t i = 0; i < all->agents; i++) {
        size_t at = g->start[i];
        self_weight[i] = own->self_weight[i];
        for (size_t k = all->start[i]; k < all->start[i + 1]; k++)
            if (at < g->start[i + 1] && g->neighbour[at] == all->neighbour[k])
                weight[k] = own->weight[at++];
    }
}

static saddle_status weigh_sequence(saddle_link_rule *rule, const saddle_mixing *mixing,
                                    saddle_error *error)
{
    const saddle_graph *all = mixing->graph;
    rule->weight = saddle_alloc(rule->steps, 2 * all->edges * sizeof *rule->weight);
    rule->self_weight = saddle_alloc(rule->steps, all->agents * sizeof *rule->self_weight);
    if (rule->weight == NULL || rule->self_weight == NULL)
        return saddle_no_memory(error, "the links");
    for (size_t s = 0; s < rule->steps; s++) {
        SADDLE_OWNED_BY(saddle_mixing_free_at) saddle_mixing *own = NULL;
        saddle_status status = saddle_mixing_create(&own, rule->graph[s], mixing->text, error);
        if (status != SADDLE_OK)
            return saddle_in_field("--mixing", status, error);
        place_weights(own, all, rule->weight + s * 2 * all->edges,
                      rule->self_weight + s * all->agents);
        rule->least_self_weight = fmin(rule->least_self_weight, saddle_mixing_min_self_weight(own));
    }
    return SADDLE_OK;
}

/* ---- a schedule ------------------------------------------------------------------------------- */

/*
 * A schedule lists the rounds in which edges work, such as
 *
 *     # round  i j
 *     0  0 1
 *     0  2 3
 *     5  1 2
 *     9
 *
 * From round 0 on, edges 0-1 and 2-3 work; from round 5 on, only 1-2; from round 9 on, none. Before the
 * first round in the file, all edges work.
 */
#define SCHEDULE_FORM "a line is `round i j`, or `round` alone where no edge works"

typedef struct schedule {
    saddle_link_rule *rule;
    const saddle_graph *graph;
    size_t from_capacity;
    size_t works_capacity;
} schedule;

/* Begins a step in which no edge works. */
static saddle_status add_step(schedule *s, uint64_t round, saddle_error *error)
{
    saddle_link_rule *rule = s->rule;
    uint64_t *from = saddle_grow(rule->from, rule->steps, &s->from_capacity, sizeof *from);
    rule->from = from != NULL ? from : rule->from;
    unsigned char *works =
        saddle_grow(rule->works, rule->steps, &s->works_capacity, 2 * s->graph->edges);
    rule->works = works != NULL ? works : rule->works;
    if (from == NULL || works == NULL)
        return saddle_no_memory(error, "the schedule");
    rule->from[rule->steps++] = round;
    return SADDLE_OK;
}

static saddle_status read_step(saddle_line_reader *in, void *context, saddle_error *error)
{
    schedule *s = context;
    saddle_link_rule *rule = s->rule;
    uint64_t round = 0;
    uint64_t last = rule->steps > 0 ? rule->from[rule->steps - 1] : 0;
    size_t agent[2];
    size_t position = 0;
    SADDLE_TRY(saddle_read_round(in, last, SCHEDULE_FORM, &round, error));
    if (rule->steps == 0 || round > last)
        SADDLE_TRY(add_step(s, round, error));
    if (in->rest[strspn(in->rest, " \t")] == '\0')
        return SADDLE_OK;
    SADDLE_TRY(saddle_read_link(in, s->graph, SCHEDULE_FORM, agent, &position, error));
    unsigned char *works = rule->works + (rule->steps - 1) * 2 * s->graph->edges;
    works[position] = works[saddle_graph_position(s->graph, agent[1], agent[0])] = 1;
    return saddle_read_end(in, SCHEDULE_FORM, error);
}

/* Finds the components that the edges leave which work in any of the steps [first, end). */
static saddle_status find_components(const saddle_link_rule *rule, const saddle_graph *graph,
                                     size_t first, size_t end, uint32_t *root, size_t *components,
                                     saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_edges_free) saddle_edges edges = {.error = error};
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
            size_t s = first;
            while (s < end && !rule->works[s * 2 * graph->edges + k])
                s++;
            if (s < end && i < graph->neighbour[k])
                saddle_edges_add(&edges, i, graph->neighbour[k]);
        }
    if (edges.status == SADDLE_OK)
        *components = saddle_edges_components(&edges, graph->agents, root);
    return edges.status;
}

saddle_status saddle_link_rule_parted(const saddle_link_rule *rule, const saddle_graph *graph,
                                      uint64_t rounds, uint64_t *from,
                                      char out[SADDLE_COMPONENTS_TEXT], saddle_error *error)
{
    size_t end = 0;
    out[0] = '\0';
    while (end < rule->steps && rule->from[end] < rounds)
        end++;
    SADDLE_OWNED uint32_t *root = saddle_alloc(graph->agents, sizeof *root);
    SADDLE_TRY(saddle_check_memory(root, "the components of the schedule", error));
    size_t parted = end; /* from this step on the agents are not connected */
    size_t low = 0;      /* whether those from here to `parted` connect them is not known */
    size_t components = 1;
    while (low < parted) {
        size_t middle = low + (parted - low) / 2;
        SADDLE_TRY(find_components(rule, graph, middle, end, root, &components, error));
        if (components > 1)
            parted = middle;
        else
            low = middle + 1;
    }
    if (parted < end) {
        SADDLE_TRY(find_components(rule, graph, parted, end, root, &components, error));
        *from = rule->from[parted];
        saddle_components_describe(root, graph->agents, components, out);
    }
    return SADDLE_OK;
}

/* ---- a dead direction ------------------------------------------------------------------------- */

/* Fails for a direction that is not an edge, or whose removal would disconnect the network. */
static saddle_status check_dead(const saddle_link_rule *rule, const saddle_graph *graph,
                                saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_edges_free) saddle_edges left = {.error = error};
    size_t low = rule->dead_from < rule->dead_to ? rule->dead_from : rule->dead_to;
    size_t high = rule->dead_from + rule->dead_to - low;
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            if (i < graph->neighbour[k] && (i != low || graph->neighbour[k] != high))
                saddle_edges_add(&left, i, graph->neighbour[k]);
    SADDLE_OWNED uint32_t *root = saddle_alloc(graph->agents, sizeof *root);
    SADDLE_TRY(left.status);
    SADDLE_TRY(saddle_check_memory(root, "the links", error));
    if (high >= graph->agents)
        return saddle_refuse(error, "there is no agent %zu; give numbers from 0 to %zu", high,
                             graph->agents - 1);
    if (left.count == graph->edges)
        return saddle_refuse(
            error, "agents %zu and %zu are not linked; name an edge of the topology", low, high);
    if (saddle_edges_components(&left, graph->agents, root) > 1)
        return saddle_refuse(error,
                             "without the edge of agents %zu and %zu the network is not connected; "
                             "name another direction, or use a topology with more edges",
                             low, high);
    return SADDLE_OK;
}

/* ---- all rules -------------------------------------------------------------------------------- */

saddle_status saddle_link_rule_complete(saddle_link_rule *rule, const saddle_mixing *mixing,
                                        saddle_error *error)
{
    rule->least_self_weight = saddle_mixing_min_self_weight(mixing);
    if (rule->dead_from != rule->dead_to)
        return check_dead(rule, mixing->graph, error);
    if (rule->kind == SADDLE_LINKS_GOSSIP)
        rule->least_self_weight = mixing->graph->edges > 0 ? 0.5 : 1.0;
    if (rule->kind == SADDLE_LINKS_SEQUENCE) {
        rule->least_self_weight = 1.0;
        return weigh_sequence(rule, mixing, error);
    }
    if (rule->kind == SADDLE_LINKS_REPLAY)
        return saddle_replay_read(&rule->replay, rule->tail, mixing->graph, error);
    schedule s = {.rule = rule, .graph = mixing->graph};
    return rule->kind == SADDLE_LINKS_SCHEDULE
               ? saddle_read_lines(rule->tail, SADDLE_WANTED_TEXT_FILE, read_step, &s, error)
               : SADDLE_OK;
}

size_t saddle_link_rule_step(const saddle_link_rule *rule, uint64_t round)
{
    if (rule->kind == SADDLE_LINKS_SEQUENCE)
        return (size_t)(round % rule->steps);
    size_t low = 0; /* steps before `low` have begun, those from `high` on have not */
    size_t high = rule->steps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rule->from[middle] <= round)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : rule->steps;
}
