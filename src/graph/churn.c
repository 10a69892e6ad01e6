#include "graph/churn.h"

#include "graph/reading.h"

/* The most events of one agent or edge: a byte of a map counts them, and edges that agents find dead. */
#define MOST_EVENTS 100

#define FORM "a line is `round leave|return|join AGENT` or `round cut|heal I J`"

/* ---- edges -------------------------------------------------------------------------------------- */

void saddle_number_edges(const saddle_graph *graph, size_t *number)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
            size_t j = graph->neighbour[k];
            number[k] = i < j ? count++ : number[saddle_graph_position(graph, j, i)];
        }
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* A file that is being read, and the state after the events so far. */
typedef struct reading {
    saddle_churn *churn;
    const saddle_graph *graph;
    size_t capacity;       /* of the list of events */
    size_t *edge;          /* per position in the graph */
    unsigned char *gone;   /* per agent */
    unsigned char *cut;    /* per edge */
    unsigned char *events; /* per agent, then per edge */
} reading;

/* The kinds of events by name, and the state that each requires: whether the agent is gone, or the edge cut. */
static const struct {
    const char *name;
    bool edge;
    bool off;            /* before */
    const char *refusal; /* where that is not so */
} kinds[] = {
    [SADDLE_CHURN_LEAVE] = {"leave", false, false, "is gone already"},
    [SADDLE_CHURN_RETURN] = {"return", false, true,
                             "is present; it can return only after a `leave`"},
    [SADDLE_CHURN_JOIN] = {"join", false, true,
                           "already has an event; use `return` for an agent that comes back"},
    [SADDLE_CHURN_CUT] = {"cut", true, false, "is cut already"},
    [SADDLE_CHURN_HEAL] = {"heal", true, true, "is not cut"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns whether an agent is gone, or an edge cut, after an event. */
static bool turns_off(saddle_churn_kind kind)
{
    return kind == SADDLE_CHURN_LEAVE || kind == SADDLE_CHURN_CUT;
}

static saddle_status read_kind(saddle_line_reader *in, saddle_churn_kind *out, saddle_error *error)
{
    const char *word = saddle_line_reader_field(in, " \t");
    if (word == NULL)
        return saddle_line_reader_refuse(in, in->rest, error,
                                         "the line ends before what happens; " FORM);
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(word, kinds[k].name) == 0) {
            *out = (saddle_churn_kind)k;
            return SADDLE_OK;
        }
    return saddle_line_reader_refuse(
        in, word, error, "'%s' is not leave, return, join, cut or heal", SADDLE_EXCERPT(word));
}

/* Fails if an event, which names its agents at `word`, cannot happen after the events before it. */
static saddle_status check_event(reading *r, const saddle_line_reader *in, const char *word,
                                 const saddle_churn_event *event, const size_t agent[2],
                                 saddle_error *error)
{
    bool edge = kinds[event->kind].edge;
    unsigned char *events = &r->events[(edge ? r->graph->agents : 0) + event->which];
    unsigned char *off = &(edge ? r->cut : r->gone)[event->which];
    bool joins = event->kind == SADDLE_CHURN_JOIN;
    /* An agent that joins was taken for present until now. */
    if (joins ? *events > 0 : (*off != 0) != kinds[event->kind].off)
        return edge
                   ? saddle_line_reader_refuse(in, word, error, "the edge of agents %zu and %zu %s",
                                               agent[0], agent[1], kinds[event->kind].refusal)
                   : saddle_line_reader_refuse(in, word, error, "agent %zu %s", agent[0],
                                               kinds[event->kind].refusal);
    if (*events == MOST_EVENTS)
        return saddle_line_reader_refuse(in, word, error,
                                         "this is event %d of one agent or edge; at most %d are "
                                         "possible",
                                         MOST_EVENTS + 1, MOST_EVENTS);
    ++*events;
    *off = turns_off(event->kind);
    return SADDLE_OK;
}

static saddle_status read_event(saddle_line_reader *in, void *context, saddle_error *error)
{
    reading *r = context;
    saddle_churn *churn = r->churn;
    saddle_churn_event event = {.round = 0};
    size_t agent[2] = {0, 0};
    uint64_t last = churn->count > 0 ? churn->event[churn->count - 1].round : 0;
    SADDLE_TRY(saddle_read_round(in, last, FORM, &event.round, error));
    SADDLE_TRY(read_kind(in, &event.kind, error));
    const char *at = in->rest;
    if (kinds[event.kind].edge) {
        size_t position = 0;
        SADDLE_TRY(saddle_read_link(in, r->graph, FORM, agent, &position, error));
        event.which = r->edge[position];
    } else {
        SADDLE_TRY(saddle_read_agent(in, r->graph->agents, FORM, &agent[0], error));
        event.which = agent[0];
    }
    SADDLE_TRY(check_event(r, in, at, &event, agent, error));
    SADDLE_TRY(saddle_read_end(in, FORM, error));
    saddle_churn_event *grown =
        saddle_grow(churn->event, churn->count, &r->capacity, sizeof *grown);
    SADDLE_TRY(saddle_check_memory(grown, "the churn", error));
    churn->event = grown;
    churn->event[churn->count++] = event;
    return SADDLE_OK;
}

/* Fails for events after which no agent is left. Agents that join were absent before. */
static saddle_status check_presence(const reading *r, const char *path, saddle_error *error)
{
    size_t present = r->graph->agents;
    for (size_t k = 0; k < r->churn->count; k++)
        present -= r->churn->event[k].kind == SADDLE_CHURN_JOIN;
    for (size_t k = 0; k < r->churn->count && present > 0; k++) {
        saddle_churn_kind kind = r->churn->event[k].kind;
        present += kind == SADDLE_CHURN_RETURN || kind == SADDLE_CHURN_JOIN;
        present -= kind == SADDLE_CHURN_LEAVE;
        if (present == 0)
            return saddle_refuse(
                error, "'%.300s': in round %" PRIu64 " the last agent leaves; keep at least one",
                path, r->churn->event[k].round);
    }
    if (present > 0)
        return SADDLE_OK;
    return saddle_refuse(
        error, "'%.300s': every agent joins later; keep at least one from the start", path);
}

saddle_status saddle_churn_read(saddle_churn **out, const char *path, const saddle_graph *graph,
                                saddle_error *error)
{
    saddle_allocator allocator = {0};
    reading r = {.graph = graph, .churn = saddle_alloc(1, sizeof *r.churn)};
    *out = NULL;
    r.edge = saddle_allocator_block(&allocator, 2 * graph->edges, sizeof *r.edge);
    r.gone = saddle_allocator_block(&allocator, graph->agents, 1);
    r.cut = saddle_allocator_block(&allocator, graph->edges, 1);
    r.events = saddle_allocator_block(&allocator, graph->agents + graph->edges, 1);
    bool good = r.churn != NULL && !allocator.failed;
    saddle_status status = good ? SADDLE_OK : saddle_no_memory(error, "the churn");
    if (good) {
        saddle_number_edges(graph, r.edge);
        status = saddle_read_lines(path, SADDLE_WANTED_TEXT_FILE, read_event, &r, error);
    }
    SADDLE_THEN(status, check_presence(&r, path, error));
    saddle_allocator_free(&allocator);
    if (status == SADDLE_OK)
        *out = r.churn;
    else
        saddle_churn_free(r.churn);
    return status;
}

void saddle_churn_free(saddle_churn *churn)
{
    if (churn == NULL)
        return;
    saddle_free(churn->event);
    saddle_free(churn);
}

/* ---- who is present ---------------------------------------------------------------------------- */

static void apply(saddle_presence *p, const saddle_churn_event *event)
{
    size_t k = event->which;
    bool edge = kinds[event->kind].edge;
    bool off = turns_off(event->kind);
    (edge ? p->cut : p->gone)[k] = off;
    (edge ? p->healed : p->back)[k] = !off;
}

/* Numbers the agents that can be reached from an agent; returns how many there are. */
static size_t fill(saddle_presence *p, size_t from, size_t number)
{
    size_t count = 1;
    p->queue[0] = from;
    p->component[from] = number;
    for (size_t at = 0; at < count; at++) {
        size_t i = p->queue[at];
        for (size_t k = p->graph->start[i]; k < p->graph->start[i + 1]; k++) {
            size_t j = p->graph->neighbour[k];
            if (p->component[j] == number || !saddle_presence_linked(p, i, k))
                continue;
            p->component[j] = number;
            p->queue[count++] = j;
        }
    }
    return count;
}

/* Finds the components of the agents that are present. */
static void find_components(saddle_presence *p)
{
    size_t agents = p->graph->agents;
    memset(p->component, 0, agents * sizeof *p->component);
    p->present = p->members = p->components = 0;
    for (size_t i = 0; i < agents; i++) {
        p->present += !p->gone[i];
        if (p->gone[i] || p->component[i] > 0)
            continue;
        size_t size = fill(p, i, ++p->components);
        if (size > p->members) {
            p->members = size;
            p->largest = p->components;
        }
    }
    for (size_t i = 0; i < agents; i++)
        p->counted[i] = p->members > 0 && p->component[i] == p->largest;
}

void saddle_presence_take(saddle_presence *p, const saddle_churn *churn, const saddle_graph *graph,
                          const size_t *edge, saddle_allocator *allocator)
{
    *p = (saddle_presence){.graph = graph, .edge = edge};
    if (churn == NULL)
        return;
    p->gone = saddle_allocator_block(allocator, graph->agents, 1);
    p->back = saddle_allocator_block(allocator, graph->agents, 1);
    p->counted = saddle_allocator_block(allocator, graph->agents, 1);
    p->component = saddle_allocator_block(allocator, graph->agents, sizeof *p->component);
    p->cut = saddle_allocator_block(allocator, graph->edges, 1);
    p->healed = saddle_allocator_block(allocator, graph->edges, 1);
    p->queue = saddle_allocator_block(allocator, graph->agents, sizeof *p->queue);
    if (allocator->failed || allocator->count_only)
        return;
    p->churn = churn;
    for (size_t k = 0; k < churn->count; k++)
        if (churn->event[k].kind == SADDLE_CHURN_JOIN)
            p->gone[churn->event[k].which] = 1;
    find_components(p);
}

bool saddle_presence_advance(saddle_presence *p, uint64_t round)
{
    const saddle_churn_event *event = p->churn->event;
    for (size_t k = p->first; k < p->next; k++)
        (kinds[event[k].kind].edge ? p->healed : p->back)[event[k].which] = 0;
    p->first = p->next;
    while (p->next < p->churn->count && event[p->next].round <= round)
        apply(p, &event[p->next++]);
    if (p->first < p->next)
        find_components(p);
    return p->first < p->next;
}
