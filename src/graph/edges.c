/* Growing edge lists, their components, and their conversion into a graph. */
#include "graph/edges.h"

#include "core/compare.h"
#include "core/memory_limits.h"

bool saddle_edges_reserve(saddle_edges *edges, size_t count)
{
    if (edges->status != SADDLE_OK || count <= edges->capacity)
        return edges->status == SADDLE_OK;
    if (count > SADDLE_MAX_EDGES) {
        edges->status = saddle_refuse(edges->error,
                                      "the graph would have %zu edges; at most %zu are supported: "
                                      "use fewer agents or a sparser topology",
                                      count, SADDLE_MAX_EDGES);
        return false;
    }
    saddle_edge *grown = saddle_alloc(count, sizeof *grown);
    edges->status = saddle_check_memory(grown, "the graph's edges", edges->error);
    if (grown == NULL)
        return false;
    if (edges->count > 0)
        memcpy(grown, edges->edge, edges->count * sizeof *grown);
    saddle_free(edges->edge);
    edges->edge = grown;
    edges->capacity = count;
    return true;
}

void saddle_edges_add(saddle_edges *edges, size_t a, size_t b)
{
    if (edges->count == edges->capacity) {
        size_t wanted = edges->capacity < 8 ? 16 : 2 * edges->capacity;
        /* The last doubling stops at the limit, so that only an edge beyond it is refused. */
        if (wanted > SADDLE_MAX_EDGES && edges->count < SADDLE_MAX_EDGES)
            wanted = SADDLE_MAX_EDGES;
        if (!saddle_edges_reserve(edges, wanted))
            return;
    }
    edges->edge[edges->count++] = (saddle_edge){(uint32_t)a, (uint32_t)b};
}

void saddle_edges_free(saddle_edges *edges)
{
    saddle_free(edges->edge);
    memset(edges, 0, sizeof *edges);
}

/* ---- components ---- */

static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

size_t saddle_edges_components(const saddle_edges *edges, size_t agents, uint32_t *root)
{
    size_t components = agents;
    for (size_t i = 0; i < agents; i++)
        root[i] = (uint32_t)i;
    for (size_t e = 0; e < edges->count; e++) {
        uint32_t a = find_root(root, edges->edge[e].a);
        uint32_t b = find_root(root, edges->edge[e].b);
        if (a == b)
            continue;
        /* The smaller index becomes the root, so that a component is identified by its first member. */
        root[a < b ? b : a] = a < b ? a : b;
        components--;
    }
    for (size_t i = 0; i < agents; i++)
        root[i] = find_root(root, (uint32_t)i);
    return components;
}

/* How many components and members a message shows. */
enum { SHOWN_COMPONENTS = 6, SHOWN_MEMBERS = 8 };

/* Appends " {0,1,4}" for the component of `leader`. */
static void describe_component(char *list, size_t size, const uint32_t *root, size_t agents,
                               size_t leader)
{
    size_t members = 0;
    for (size_t i = leader; i < agents; i++)
        if (root[i] == leader && members++ < SHOWN_MEMBERS)
            saddle_append(list, size, "%s%zu", i == leader ? " {" : ",", i);
    if (members > SHOWN_MEMBERS)
        saddle_append(list, size, ",... %zu agents", members);
    saddle_append(list, size, "}");
}

void saddle_components_describe(const uint32_t *root, size_t agents, size_t components,
                                char out[SADDLE_COMPONENTS_TEXT])
{
    size_t shown = 0;
    saddle_snprintf(out, SADDLE_COMPONENTS_TEXT, "%zu components:", components);
    for (size_t i = 0; i < agents && shown < SHOWN_COMPONENTS; i++)
        if (root[i] == i) {
            describe_component(out, SADDLE_COMPONENTS_TEXT, root, agents, i);
            shown++;
        }
    if (components > shown)
        saddle_append(out, SADDLE_COMPONENTS_TEXT, " ...");
}

static saddle_status refuse_disconnected(const char *text, size_t agents, const uint32_t *root,
                                         size_t components, saddle_error *error)
{
    char list[SADDLE_COMPONENTS_TEXT];
    saddle_components_describe(root, agents, components, list);
    return saddle_refuse(
        error,
        "the graph is not connected: %s; add edges that join them (topology '%s', %zu agent%s)",
        list, text, agents, SADDLE_PLURAL(agents));
}

static saddle_status check_connected(const saddle_edges *edges, const char *text, size_t agents)
{
    SADDLE_OWNED uint32_t *root = saddle_alloc(agents, sizeof *root);
    SADDLE_TRY(saddle_check_memory(root, "the graph's components", edges->error));
    size_t components = saddle_edges_components(edges, agents, root);
    if (components != 1)
        SADDLE_TRY(refuse_disconnected(text, agents, root, components, edges->error));
    return SADDLE_OK;
}

/* ---- conversion ---- */

/*
 * Fills graph->start and graph->neighbour. Neighbours are first listed in the edges' order; going
 * through the agents in ascending order and entering each at its neighbours then sorts every row without
 * comparisons.
 */
static bool fill_rows(saddle_graph *graph, const saddle_edges *edges)
{
    size_t agents = graph->agents;
    SADDLE_OWNED size_t *unsorted = saddle_alloc(2 * edges->count, sizeof *unsorted);
    SADDLE_OWNED size_t *next = saddle_alloc(agents, sizeof *next);
    bool done = unsorted != NULL && next != NULL;
    if (done) {
        for (size_t e = 0; e < edges->count; e++) {
            graph->start[edges->edge[e].a + 1]++;
            graph->start[edges->edge[e].b + 1]++;
        }
        for (size_t i = 0; i < agents; i++)
            graph->start[i + 1] += graph->start[i];
        memcpy(next, graph->start, agents * sizeof *next);
        for (size_t e = 0; e < edges->count; e++) {
            unsorted[next[edges->edge[e].a]++] = edges->edge[e].b;
            unsorted[next[edges->edge[e].b]++] = edges->edge[e].a;
        }
        memcpy(next, graph->start, agents * sizeof *next);
        for (size_t i = 0; i < agents; i++)
            for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
                graph->neighbour[next[unsorted[k]]++] = i;
    }
    return done;
}

static saddle_status make_graph(const saddle_edges *edges, const char *text, size_t agents,
                                saddle_graph **out)
{
    SADDLE_TRY(edges->status);
    SADDLE_TRY(saddle_need_check_one(2.0 * saddle_block_bytes(2 * edges->count, sizeof(size_t)) +
                                         2.0 * saddle_block_bytes(agents + 1, sizeof(size_t)),
                                     "the graph", "use fewer agents or a sparser topology",
                                     edges->error));
    SADDLE_TRY(check_connected(edges, text, agents));
    SADDLE_OWNED_BY(saddle_graph_free_at) saddle_graph *graph = saddle_alloc(1, sizeof *graph);
    SADDLE_TRY(saddle_check_memory(graph, "a graph", edges->error));
    graph->text = saddle_strdup(text);
    graph->rows = 1;
    graph->columns = agents;
    graph->agents = agents;
    graph->edges = edges->count;
    graph->start = saddle_alloc(agents + 1, sizeof *graph->start);
    graph->neighbour = saddle_alloc(2 * edges->count, sizeof *graph->neighbour);
    if (graph->text == NULL || graph->start == NULL || graph->neighbour == NULL ||
        !fill_rows(graph, edges))
        return saddle_no_memory(edges->error, "a graph");
    *out = saddle_taken(&graph);
    return SADDLE_OK;
}

saddle_status saddle_edges_compress(saddle_edges *edges, const char *text, size_t agents,
                                    saddle_graph **out)
{
    *out = NULL;
    saddle_status status = make_graph(edges, text, agents, out);
    saddle_edges_free(edges);
    return status;
}

size_t saddle_graph_position(const saddle_graph *graph, size_t i, size_t j)
{
    const size_t *found =
        bsearch(&j, graph->neighbour + graph->start[i], graph->start[i + 1] - graph->start[i],
                sizeof j, saddle_compare_sizes);
    return found != NULL ? (size_t)(found - graph->neighbour) : SIZE_MAX;
}

/* ---- edges in memory ---- */

/* Appends edge e of an array, which must be new: `seen` contains those before it. */
static saddle_status take_edge(saddle_edges *edges, saddle_edge_set *seen, size_t agents, size_t e,
                               const size_t *edge)
{
    size_t a = edge[2 * e];
    size_t b = edge[2 * e + 1];
    saddle_error *error = edges->error;
    if (a >= agents || b >= agents)
        return saddle_refuse(error, "edge %zu links agents %zu and %zu; give agents from 0 to %zu",
                             e, a, b, agents - 1);
    if (a == b)
        return saddle_refuse(error, "edge %zu links agent %zu with itself; leave it out", e, a);
    if (!saddle_edge_set_add(seen, a, b))
        return saddle_refuse(
            error, "edge %zu, which links agents %zu and %zu, is given twice; leave one out", e, a,
            b);
    saddle_edges_add(edges, a, b);
    return edges->status;
}

saddle_status saddle_graph_from_edges(saddle_graph **out, size_t agents, size_t count,
                                      const size_t *edge, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    if (count > 0)
        SADDLE_REQUIRE(error, edge);
    if (agents == 0 || agents > SADDLE_MAX_AGENTS)
        return saddle_refuse(error, "a graph cannot have %zu agents; give a number from 1 to %zu",
                             agents, SADDLE_MAX_AGENTS);
    saddle_edges edges = {.error = error};
    saddle_edge_set seen = {0};
    if (saddle_edges_reserve(&edges, count) && !saddle_edge_set_create(&seen, count))
        edges.status = saddle_no_memory(error, "the graph's edges");
    for (size_t e = 0; edges.status == SADDLE_OK && e < count; e++)
        edges.status = take_edge(&edges, &seen, agents, e, edge);
    saddle_edge_set_free(&seen);
    return saddle_edges_compress(&edges, "edges", agents, out);
}

/* ---- sets of edges ---- */

/* Never 0, because the larger end is at least 1. */
static uint64_t edge_key(size_t a, size_t b)
{
    return a < b ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b;
}

/* Returns a key's preferred slot: Fibonacci hashing, whose high bits are well mixed. */
static size_t home_slot(const saddle_edge_set *set, uint64_t key)
{
    uint64_t mixed = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 20) & set->mask;
}

static size_t find_slot(const saddle_edge_set *set, uint64_t key)
{
    size_t place = home_slot(set, key);
    while (set->slot[place] != 0 && set->slot[place] != key)
        place = (place + 1) & set->mask;
    return place;
}

bool saddle_edge_set_create(saddle_edge_set *set, size_t count)
{
    size_t slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    set->mask = slots - 1;
    set->slot = saddle_alloc(slots, sizeof *set->slot);
    return set->slot != NULL;
}

void saddle_edge_set_free(saddle_edge_set *set)
{
    saddle_free(set->slot);
    set->slot = NULL;
}

void saddle_edge_set_clear(saddle_edge_set *set)
{
    memset(set->slot, 0, (set->mask + 1) * sizeof *set->slot);
}

bool saddle_edge_set_has(const saddle_edge_set *set, size_t a, size_t b)
{
    return set->slot[find_slot(set, edge_key(a, b))] != 0;
}

bool saddle_edge_set_add(saddle_edge_set *set, size_t a, size_t b)
{
    uint64_t key = edge_key(a, b);
    size_t place = find_slot(set, key);
    bool fresh = set->slot[place] == 0;
    set->slot[place] = key;
    return fresh;
}

void saddle_edge_set_remove(saddle_edge_set *set, size_t a, size_t b)
{
    size_t hole = find_slot(set, edge_key(a, b));
    /* Move back every later key of the run that would no longer be found past the free slot. */
    for (size_t place = (hole + 1) & set->mask; set->slot[place] != 0;
         place = (place + 1) & set->mask) {
        size_t home = home_slot(set, set->slot[place]);
        if (((place - home) & set->mask) >= ((place - hole) & set->mask)) {
            set->slot[hole] = set->slot[place];
            hole = place;
        }
    }
    set->slot[hole] = 0;
}
