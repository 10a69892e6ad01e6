/*
 * The registry of topologies and the generators that need no random numbers.
 *
 * Each generator appends every edge once, in O(edges). Agents are numbered row by row in grids and tori,
 * by bits in the hypercube, and around the circle elsewhere.
 */
#include "graph/topology.h"

#include "core/float_mode.h"
#include "core/registry.h"
#include "graph/reading.h"

/* ---- fields of the text ---- */

size_t saddle_topology_integer(saddle_topology_request *request, size_t index, const char *what)
{
    uint64_t value;
    const char *field = request->fields->field[index];
    if (saddle_parse_integer(field, &value) && value <= SADDLE_MAX_AGENTS)
        return (size_t)value;
    saddle_topology_refuse(request, ": %s is '%s'; it must be a whole number up to %zu", what,
                           field, SADDLE_MAX_AGENTS);
    return 0;
}

double saddle_topology_probability(saddle_topology_request *request, size_t index)
{
    double value;
    const char *field = request->fields->field[index];
    if (saddle_parse_real(field, &value) && value >= 0.0 && value <= 1.0)
        return value;
    saddle_topology_refuse(request, ": the probability is '%s'; it must be a number from 0 to 1",
                           field);
    return 0.0;
}

/* Parses "RxC" as two positive sides whose product is a possible number of agents. */
static bool parse_sides(const char *field, size_t *rows, size_t *columns)
{
    const char *cross = strchr(field, 'x');
    uint64_t r;
    uint64_t c;
    if (cross == NULL || !saddle_parse_integer_in(field, (size_t)(cross - field), &r) ||
        !saddle_parse_integer(cross + 1, &c) || r < 1 || c < 1 || r > SADDLE_MAX_AGENTS / c)
        return false;
    *rows = (size_t)r;
    *columns = (size_t)c;
    return true;
}

/* ---- generators ---- */

static void build_path(saddle_topology_request *request)
{
    saddle_edges_reserve(&request->edges, request->agents - 1);
    for (size_t i = 1; i < request->agents; i++)
        saddle_edges_add(&request->edges, i - 1, i);
}

static void build_ring(saddle_topology_request *request)
{
    build_path(request);
    /* With two agents, there is only one edge. */
    if (request->agents > 2)
        saddle_edges_add(&request->edges, 0, request->agents - 1);
}

static void build_star(saddle_topology_request *request)
{
    saddle_edges_reserve(&request->edges, request->agents - 1);
    for (size_t i = 1; i < request->agents; i++)
        saddle_edges_add(&request->edges, 0, i);
}

static void build_complete(saddle_topology_request *request)
{
    size_t m = request->agents;
    if (!saddle_edges_reserve(&request->edges, m * (m - 1) / 2))
        return;
    for (size_t i = 1; i < m; i++)
        for (size_t j = 0; j < i; j++)
            saddle_edges_add(&request->edges, j, i);
}

/* Finds the neighbour that follows index `i` of a side; the last is followed by the first if the side
 * wraps. A side of two has one edge either way, a side of one has none. */
static bool next_on_side(size_t i, size_t side, bool wrap, size_t *next)
{
    *next = i + 1 < side ? i + 1 : 0;
    return i + 1 < side || (wrap && side > 2);
}

static void build_lattice(saddle_topology_request *request)
{
    bool wrap = request->shape == SADDLE_SHAPE_TORUS;
    size_t rows;
    size_t columns;
    size_t next;
    const char *field = request->fields->field[1];
    if (!parse_sides(field, &rows, &columns)) {
        saddle_topology_refuse(request,
                               ": '%s' is not a size; write ROWSxCOLUMNS, such as 4x5, both at "
                               "least 1 and their product at most %zu",
                               field, SADDLE_MAX_AGENTS);
        return;
    }
    if (request->agents != 0 && request->agents != rows * columns)
        saddle_topology_refuse(request,
                               " has %zu agent%s, but %zu are wanted; give sides whose product is "
                               "%zu, or leave --agents out",
                               rows * columns, SADDLE_PLURAL(rows * columns), request->agents,
                               request->agents);
    request->agents = rows * columns;
    request->rows = rows;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns && request->edges.status == SADDLE_OK; c++) {
            if (next_on_side(c, columns, wrap, &next))
                saddle_edges_add(&request->edges, r * columns + c, r * columns + next);
            if (next_on_side(r, rows, wrap, &next))
                saddle_edges_add(&request->edges, r * columns + c, next * columns + c);
        }
}

static void build_hypercube(saddle_topology_request *request)
{
    size_t m = request->agents;
    size_t below = 1;
    while (2 * below <= m)
        below *= 2;
    if (below != m)
        saddle_topology_refuse(request,
                               " is impossible with %zu agents; their number must be a power of "
                               "two, such as %zu or %zu",
                               m, below, 2 * below);
    for (size_t i = 0; i < m && request->edges.status == SADDLE_OK; i++)
        for (size_t bit = 1; bit < m; bit *= 2)
            if ((i & bit) == 0)
                saddle_edges_add(&request->edges, i, i | bit);
}

static void build_exponential(saddle_topology_request *request)
{
    size_t m = request->agents;
    /* Offsets 2^k < m, reduced to at most m / 2, each once. */
    size_t offset[64];
    size_t offsets = 0;
    for (size_t power = 1; power < m; power *= 2) {
        size_t folded = power <= m - power ? power : m - power;
        bool known = false;
        for (size_t k = 0; k < offsets; k++)
            known = known || offset[k] == folded;
        if (!known)
            offset[offsets++] = folded;
    }
    for (size_t k = 0; k < offsets && request->edges.status == SADDLE_OK; k++) {
        /* An offset of half the circle is its own opposite: only the first half starts an edge. */
        size_t starts = 2 * offset[k] == m ? m / 2 : m;
        for (size_t i = 0; i < starts; i++)
            saddle_edges_add(&request->edges, i, (i + offset[k]) % m);
    }
}

static void build_file(saddle_topology_request *request)
{
    saddle_edges_read(&request->edges, request->tail, &request->agents);
}

/* ---- registry ---- */

typedef struct topology {
    saddle_network_info info;
    saddle_topology_build *build;
    saddle_graph_shape shape;
    bool chooses_agents; /* whether it determines the number of agents */
} topology;

#define TOPOLOGY(...) &(const topology){__VA_ARGS__}.info
static const saddle_network_info *const topologies[] = {
    TOPOLOGY({"er:P", "Erdos-Renyi random graph: an edge joins each pair of agents with "
                      "probability P; redrawn until connected"},
             saddle_build_er, SADDLE_SHAPE_IRREGULAR, false),
    TOPOLOGY({"ring", "agents in a circle, each joined to the two beside it"}, build_ring,
             SADDLE_SHAPE_CIRCULANT, false),
    TOPOLOGY({"path", "agents in a line, each joined to those beside it"}, build_path,
             SADDLE_SHAPE_PATH, false),
    TOPOLOGY({"star", "agent 0 is joined to all others"}, build_star, SADDLE_SHAPE_STAR, false),
    TOPOLOGY({"complete", "every pair of agents is joined"}, build_complete, SADDLE_SHAPE_COMPLETE,
             false),
    TOPOLOGY({"grid:RxC", "R rows of C agents, each joined to those beside, above and below it"},
             build_lattice, SADDLE_SHAPE_GRID, true),
    TOPOLOGY({"torus:RxC", "a grid whose rows and columns are closed into rings"}, build_lattice,
             SADDLE_SHAPE_TORUS, true),
    TOPOLOGY({"hypercube", "agents whose numbers differ in one bit are joined; the number "
                           "of agents must be a power of two"},
             build_hypercube, SADDLE_SHAPE_HYPERCUBE, false),
    TOPOLOGY(
        {"exponential", "agents in a circle, each joined to those 1, 2, 4, 8, ... places away"},
        build_exponential, SADDLE_SHAPE_CIRCULANT, false),
    TOPOLOGY({"regular:K",
              "random graph in which every agent has K neighbours; agents * K must be even"},
             saddle_build_regular, SADDLE_SHAPE_IRREGULAR, false),
    TOPOLOGY({"small-world:K:P",
              "Watts-Strogatz random graph: agents in a circle, each joined to its K "
              "nearest, and each edge rewired with probability P"},
             saddle_build_small_world, SADDLE_SHAPE_NEAR_RING, false),
    TOPOLOGY({"file:PATH",
              "edges read from a file: one `i j` per line, agents numbered from 0, # for comments"},
             build_file, SADDLE_SHAPE_IRREGULAR, true),
};

#undef TOPOLOGY

enum { TOPOLOGIES = sizeof topologies / sizeof *topologies };

const saddle_network_info *const *saddle_topology_list(size_t *count)
{
    *count = TOPOLOGIES;
    return topologies;
}

static saddle_status find_topology(const char *text, const topology **out, saddle_error *error)
{
    const void *found;
    SADDLE_TRY(saddle_registry_find(&found, "topology", text, topologies, TOPOLOGIES, error));
    *out = found;
    return SADDLE_OK;
}

/* Splits the text into fields and checks their number; a path keeps its colons. */
static saddle_status cut_fields(const topology *kind, const char *text, saddle_fields *fields,
                                saddle_error *error)
{
    const char *colon = strchr(text, ':');
    saddle_fields wanted;
    saddle_split(&wanted, kind->info.synopsis);
    bool right = kind->build == build_file
                     ? colon != NULL && colon[1] != '\0'
                     : saddle_split(fields, text) && fields->count == wanted.count;
    if (!right)
        return saddle_refuse(error, "'%.100s' is not of the form %s", text, kind->info.synopsis);
    return SADDLE_OK;
}

saddle_status saddle_graph_create(saddle_graph **out, const char *text, size_t agents,
                                  uint64_t seed, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, text);
    const topology *kind;
    saddle_fields fields;
    SADDLE_TRY(find_topology(text, &kind, error));
    SADDLE_TRY(cut_fields(kind, text, &fields, error));
    if ((agents == 0 && !kind->chooses_agents) || agents > SADDLE_MAX_AGENTS)
        return saddle_refuse(error,
                             "'%s' is impossible with %zu agents; give a number from 1 to %zu",
                             text, agents, SADDLE_MAX_AGENTS);
    const char *colon = strchr(text, ':');
    saddle_topology_request request = {.text = text,
                                       .tail = colon != NULL ? colon + 1 : NULL,
                                       .fields = &fields,
                                       .agents = agents,
                                       .shape = kind->shape,
                                       .seed = seed,
                                       .edges = {.error = error}};
    kind->build(&request);
    SADDLE_TRY(saddle_edges_compress(&request.edges, text, request.agents, out));
    (*out)->shape = kind->shape;
    (*out)->rows = request.rows > 0 ? request.rows : 1;
    (*out)->columns = request.agents / (*out)->rows;
    return SADDLE_OK;
}

bool saddle_topology_sets_agents(const char *text)
{
    const topology *kind;
    return find_topology(text, &kind, NULL) == SADDLE_OK && kind->chooses_agents;
}

void saddle_graph_free(saddle_graph *graph)
{
    if (graph == NULL)
        return;
    saddle_free(graph->text);
    saddle_free(graph->start);
    saddle_free(graph->neighbour);
    saddle_free(graph);
}
