/*
 * The random topologies. Every attempt draws from its own stream, keyed by (seed, attempt), and the graph
 * is a function of only those draws: the same edges on every machine.
 *
 *   er           geometric skipping from one edge to the next (Batagelj and Brandes, Phys. Rev. E
 *                71, 2005): O(agents + edges).
 *   regular      random pairing of agents * K stubs, whose loops and double edges are then removed
 *                by random switches (a,b),(c,d) -> (a,d),(c,b) (McKay and Wormald, J. Algorithms
 *                11, 1990): O(agents * K), nearly uniform.
 *   small-world  Watts and Strogatz, Nature 393, 1998: O(agents * K).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/elementary.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/status.h"
#include "graph/topology.h"

/* A random topology with its parameters. */
typedef struct plan {
    size_t agents;
    size_t degree;      /* K, if it has one */
    double probability; /* P, if it has one */
    saddle_edge_set set;
    bool stuck; /* the attempt failed */
} plan;

/* Appends one random graph to an empty list, or sets draw->stuck. */
typedef saddle_status (*draw_function)(plan *draw, saddle_rng *rng, saddle_edges *edges,
                                       saddle_error *error);

/* The agents and edges that all attempts together may visit: a few seconds. */
static const double WORK_LIMIT = 5e7;
enum { MOST_TRIES = 1000, FEWEST_TRIES = 5 };

static size_t allowed_tries(const plan *p, double expected_edges)
{
    double tries = WORK_LIMIT / ((double)p->agents + expected_edges);
    if (!(tries < MOST_TRIES))
        return MOST_TRIES;
    return tries < FEWEST_TRIES ? FEWEST_TRIES : (size_t)tries;
}

/* Draws until the graph is connected. `remedy` ends the message if none is. */
static saddle_status draw_connected(plan *p, draw_function draw, double expected_edges,
                                    const saddle_topology_request *request, const char *remedy,
                                    saddle_edges *edges, saddle_error *error)
{
    uint32_t *root = saddle_alloc(p->agents, sizeof *root);
    SADDLE_TRY(saddle_check_memory(root, "the graph's components", error));
    saddle_status status = SADDLE_OK;
    size_t tries = allowed_tries(p, expected_edges);
    size_t components = 0;
    for (size_t t = 0; t < tries && components != 1 && status == SADDLE_OK; t++) {
        saddle_rng rng;
        saddle_rng_init(&rng, request->seed, SADDLE_RNG_TOPOLOGY, t, 0);
        edges->count = 0;
        p->stuck = false;
        status = draw(p, &rng, edges, error);
        if (status == SADDLE_OK)
            components = p->stuck ? 0 : saddle_edges_components(edges, p->agents, root);
    }
    saddle_free(root);
    if (status == SADDLE_OK && components != 1)
        status =
            saddle_fail(error, SADDLE_BAD_INPUT,
                        "topology: '%s' with %zu agents gave no connected graph in %zu attempts "
                        "(the last has %zu components); %s",
                        request->text, p->agents, tries, components, remedy);
    return status;
}

/* ---- er:P ---- */

static saddle_status draw_er(plan *p, saddle_rng *rng, saddle_edges *edges, saddle_error *error)
{
    /* Goes through pairs (w, v), w < v, in the order of v; the distance to the next edge is geometric. */
    double log_absent = saddle_log(1.0 - p->probability);
    if (log_absent == 0.0)
        return SADDLE_OK;
    double pairs = 0.5 * (double)p->agents * (double)(p->agents - 1);
    size_t v = 1;
    uint64_t w = 0;
    while (v < p->agents) {
        double skip = floor(saddle_log(1.0 - saddle_rng_uniform(rng)) / log_absent);
        if (!(skip <= pairs))
            break;
        w += (uint64_t)skip;
        while (v < p->agents && w >= v)
            w -= v++;
        if (v < p->agents) {
            SADDLE_TRY(saddle_edges_add(edges, (size_t)w, v, error));
        }
        w++;
    }
    return SADDLE_OK;
}

saddle_status saddle_build_er(saddle_edges *edges, saddle_topology_request *request,
                              saddle_error *error)
{
    plan p = {.agents = request->agents};
    SADDLE_TRY(saddle_topology_probability(request, 1, &p.probability, error));
    double m = (double)p.agents;
    double expected = 0.5 * p.probability * m * (m - 1.0);
    /* Four standard deviations of spare capacity avoid growing the list in most draws. */
    double room = expected + 4.0 * sqrt(expected) + 16.0;
    if (expected > (double)SADDLE_MAX_EDGES)
        room = expected;
    saddle_status status = saddle_edges_reserve(edges, (size_t)room, error);
    char remedy[96];
    saddle_snprintf(remedy, sizeof remedy,
                    "choose P well above the connectivity threshold ln(m)/m = %.3g",
                    saddle_log(m) / m);
    SADDLE_THEN(status, draw_connected(&p, draw_er, expected, request, remedy, edges, error));
    return status;
}

/* ---- regular:K ---- */

/* Closes a random order of 0 .. m - 1 into a cycle: every Hamiltonian cycle is equally likely. */
static saddle_status draw_cycle(plan *p, saddle_rng *rng, saddle_edges *edges, saddle_error *error)
{
    size_t *order = saddle_alloc(p->agents, sizeof *order);
    SADDLE_TRY(saddle_check_memory(order, "a random order of the agents", error));
    for (size_t i = 0; i < p->agents; i++)
        order[i] = i;
    saddle_rng_shuffle(rng, order, p->agents);
    saddle_status status = SADDLE_OK;
    for (size_t i = 0; i < p->agents && status == SADDLE_OK; i++)
        status = saddle_edges_add(edges, order[i], order[(i + 1) % p->agents], error);
    saddle_free(order);
    return status;
}

/* Pairs the stubs at random into edges->edge, with loops and double edges still among them. */
static saddle_status pair_stubs(const plan *p, saddle_rng *rng, saddle_edges *edges,
                                saddle_error *error)
{
    size_t stubs = p->agents * p->degree;
    size_t *stub = saddle_alloc(stubs, sizeof *stub);
    SADDLE_TRY(saddle_check_memory(stub, "a random pairing", error));
    for (size_t s = 0; s < stubs; s++)
        stub[s] = s / p->degree;
    saddle_rng_shuffle(rng, stub, stubs);
    saddle_status status = SADDLE_OK;
    for (size_t s = 0; s < stubs && status == SADDLE_OK; s += 2)
        status = saddle_edges_add(edges, stub[s], stub[s + 1], error);
    saddle_free(stub);
    return status;
}

/* Switches the bad edge with a random good one so that both become good; false when no partner was
 * found, which happens only in small dense graphs. */
static bool repair_edge(plan *p, saddle_rng *rng, saddle_edges *edges, const bool *bad, size_t e)
{
    enum { PARTNERS = 1000 };
    saddle_edge *broken = &edges->edge[e];
    for (int tries = 0; tries < PARTNERS; tries++) {
        uint64_t pick = saddle_rng_below(rng, 2 * (uint64_t)edges->count);
        size_t f = (size_t)(pick / 2);
        if (f == e || bad[f])
            continue;
        saddle_edge *other = &edges->edge[f];
        uint32_t c = pick % 2 == 0 ? other->a : other->b;
        uint32_t d = pick % 2 == 0 ? other->b : other->a;
        uint32_t a = broken->a;
        uint32_t b = broken->b;
        if (a == d || c == b || saddle_edge_set_has(&p->set, a, d))
            continue;
        saddle_edge_set_add(&p->set, a, d);
        if (!saddle_edge_set_add(&p->set, c, b)) {
            saddle_edge_set_remove(&p->set, a, d);
            continue;
        }
        saddle_edge_set_remove(&p->set, other->a, other->b);
        *broken = (saddle_edge){a, d};
        *other = (saddle_edge){c, b};
        return true;
    }
    return false;
}

static saddle_status draw_regular(plan *p, saddle_rng *rng, saddle_edges *edges,
                                  saddle_error *error)
{
    SADDLE_TRY(pair_stubs(p, rng, edges, error));
    bool *bad = saddle_alloc(edges->count, sizeof *bad);
    SADDLE_TRY(saddle_check_memory(bad, "a random pairing", error));
    saddle_edge_set_clear(&p->set);
    for (size_t e = 0; e < edges->count; e++) {
        saddle_edge edge = edges->edge[e];
        bad[e] = edge.a == edge.b || !saddle_edge_set_add(&p->set, edge.a, edge.b);
    }
    for (size_t e = 0; e < edges->count && !p->stuck; e++) {
        if (!bad[e])
            continue;
        p->stuck = !repair_edge(p, rng, edges, bad, e);
        bad[e] = p->stuck;
    }
    saddle_free(bad);
    return SADDLE_OK;
}

/* A dense regular graph is the complement of a sparse one, which is much easier to draw. */
static saddle_status draw_dense_regular(plan *p, saddle_rng *rng, saddle_edges *edges,
                                        saddle_error *error)
{
    plan sparse = *p;
    sparse.degree = p->agents - 1 - p->degree;
    saddle_edges absent = {0};
    saddle_status status = SADDLE_OK;
    if (sparse.degree > 0)
        status = draw_regular(&sparse, rng, &absent, error);
    p->stuck = sparse.stuck;
    saddle_edges_free(&absent);
    for (size_t i = 1; i < p->agents && !p->stuck; i++)
        for (size_t j = 0; j < i && status == SADDLE_OK; j++)
            if (!saddle_edge_set_has(&p->set, i, j))
                status = saddle_edges_add(edges, j, i, error);
    return status;
}

static saddle_status check_degree(const saddle_topology_request *request, size_t degree,
                                  saddle_error *error)
{
    size_t m = request->agents;
    if (degree >= m || (m * degree) % 2 != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "topology: '%s' is impossible with %zu agent%s; K must be below the "
                           "number of agents and "
                           "agents * K even",
                           request->text, m, SADDLE_PLURAL(m));
    if ((degree == 0 && m > 1) || (degree == 1 && m > 2))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "topology: '%s' cannot connect %zu agents; K must be at least 2",
                           request->text, m);
    return SADDLE_OK;
}

saddle_status saddle_build_regular(saddle_edges *edges, saddle_topology_request *request,
                                   saddle_error *error)
{
    plan p = {.agents = request->agents};
    saddle_status status = saddle_topology_integer(request, 1, "K", &p.degree, error);
    SADDLE_THEN(status, check_degree(request, p.degree, error));
    SADDLE_THEN(status, saddle_edges_reserve(edges, p.agents * p.degree / 2, error));
    if (status != SADDLE_OK || p.degree == 0)
        return status;
    bool dense = 2 * p.degree > p.agents - 1;
    size_t kept = dense ? p.agents - 1 - p.degree : p.degree;
    if (!saddle_edge_set_create(&p.set, p.agents * kept / 2 + 2))
        return saddle_no_memory(error, "the graph's edges");
    draw_function draw = p.degree == 2 ? draw_cycle : dense ? draw_dense_regular : draw_regular;
    status = draw_connected(&p, draw, 0.5 * (double)p.agents * (double)p.degree, request,
                            "choose another seed or a larger K", edges, error);
    saddle_edge_set_free(&p.set);
    return status;
}

/* ---- small-world:K:P ---- */

/* Draws an agent that is neither i nor its neighbour; i has fewer than m - 1 neighbours. */
static size_t draw_stranger(const plan *p, saddle_rng *rng, size_t i)
{
    for (;;) {
        size_t j = (size_t)saddle_rng_below(rng, p->agents);
        if (j != i && !saddle_edge_set_has(&p->set, i, j))
            return j;
    }
}

/* Rewires edge e, which starts at i, unless i is already linked with all agents. */
static void rewire(plan *p, saddle_rng *rng, saddle_edges *edges, size_t *degree, size_t e)
{
    saddle_edge *edge = &edges->edge[e];
    if (!(saddle_rng_uniform(rng) < p->probability) || degree[edge->a] == p->agents - 1)
        return;
    size_t target = draw_stranger(p, rng, edge->a);
    saddle_edge_set_remove(&p->set, edge->a, edge->b);
    saddle_edge_set_add(&p->set, edge->a, target);
    degree[edge->b]--;
    degree[target]++;
    edge->b = (uint32_t)target;
}

static saddle_status draw_small_world(plan *p, saddle_rng *rng, saddle_edges *edges,
                                      saddle_error *error)
{
    size_t *degree = saddle_alloc(p->agents, sizeof *degree);
    SADDLE_TRY(saddle_check_memory(degree, "the agents' degrees", error));
    saddle_edge_set_clear(&p->set);
    saddle_status status = SADDLE_OK;
    for (size_t offset = 1; offset <= p->degree / 2; offset++)
        for (size_t i = 0; i < p->agents && status == SADDLE_OK; i++) {
            size_t j = (i + offset) % p->agents;
            saddle_edge_set_add(&p->set, i, j);
            status = saddle_edges_add(edges, i, j, error);
        }
    for (size_t i = 0; i < p->agents; i++)
        degree[i] = p->degree;
    for (size_t e = 0; e < edges->count && status == SADDLE_OK; e++)
        rewire(p, rng, edges, degree, e);
    saddle_free(degree);
    return status;
}

saddle_status saddle_build_small_world(saddle_edges *edges, saddle_topology_request *request,
                                       saddle_error *error)
{
    plan p = {.agents = request->agents};
    saddle_status status = saddle_topology_integer(request, 1, "K", &p.degree, error);
    SADDLE_THEN(status, saddle_topology_probability(request, 2, &p.probability, error));
    if (status != SADDLE_OK)
        return status;
    bool lone = p.agents == 1 && p.degree == 0;
    if (p.degree >= p.agents || p.degree % 2 != 0 || (p.degree < 2 && !lone))
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "topology: '%s' is impossible with %zu agent%s; K must be even, at least "
            "2 and below the "
            "number of agents",
            request->text, p.agents, SADDLE_PLURAL(p.agents));
    size_t count = p.agents * (p.degree / 2);
    status = saddle_edges_reserve(edges, count, error);
    if (status != SADDLE_OK || lone)
        return status;
    if (!saddle_edge_set_create(&p.set, count + 1))
        return saddle_no_memory(error, "the graph's edges");
    status = draw_connected(&p, draw_small_world, (double)count, request,
                            "choose a larger K or a smaller P", edges, error);
    saddle_edge_set_free(&p.set);
    return status;
}
