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
#include "core/elementary.h"
#include "core/rng.h"
#include "graph/topology.h"

/* A random topology with its parameters, and the attempt that is being made. */
typedef struct plan {
    saddle_topology_request *request;
    saddle_edges *edges; /* the request's, or those that a complement leaves out */
    size_t agents;
    size_t degree;      /* K, if it has one */
    double probability; /* P, if it has one */
    saddle_edge_set set;
    saddle_rng rng;
    bool stuck; /* the attempt failed */
} plan;

static plan plan_of(saddle_topology_request *request)
{
    return (plan){.request = request, .edges = &request->edges, .agents = request->agents};
}

/* Returns memory for a draw; NULL, with the status of the edges set, when it is short. */
static size_t *take(const plan *p, size_t count, const char *what)
{
    size_t *block = saddle_alloc(count, sizeof *block);
    if (block == NULL)
        p->edges->status = saddle_no_memory(p->edges->error, what);
    return block;
}

/* Appends one random graph to p->edges, which are empty, or sets p->stuck. */
typedef void draw_function(plan *p);

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
static void draw_connected(plan *p, draw_function *draw, double expected_edges, const char *remedy)
{
    uint32_t *root = saddle_alloc(p->agents, sizeof *root);
    size_t tries = allowed_tries(p, expected_edges);
    size_t components = 0;
    if (root == NULL)
        p->edges->status = saddle_no_memory(p->edges->error, "the graph's components");
    for (size_t t = 0; t < tries && components != 1 && p->edges->status == SADDLE_OK; t++) {
        saddle_rng_init(&p->rng, p->request->seed, SADDLE_RNG_TOPOLOGY, t, 0);
        p->edges->count = 0;
        p->stuck = false;
        draw(p);
        components = p->stuck ? 0 : saddle_edges_components(p->edges, p->agents, root);
    }
    saddle_free(root);
    if (p->edges->status == SADDLE_OK && components != 1)
        saddle_topology_refuse(p->request,
                               " with %zu agents gave no connected graph in %zu attempts (the last "
                               "has %zu components); %s",
                               p->agents, tries, components, remedy);
}

/* ---- er:P ---- */

static void draw_er(plan *p)
{
    /* Goes through pairs (w, v), w < v, in the order of v; the distance to the next edge is geometric. */
    double log_absent = saddle_log(1.0 - p->probability);
    double pairs = 0.5 * (double)p->agents * (double)(p->agents - 1);
    size_t v = 1;
    uint64_t w = 0;
    while (log_absent != 0.0 && v < p->agents && p->edges->status == SADDLE_OK) {
        double skip = floor(saddle_log(1.0 - saddle_rng_uniform(&p->rng)) / log_absent);
        if (!(skip <= pairs))
            break;
        w += (uint64_t)skip;
        while (v < p->agents && w >= v)
            w -= v++;
        if (v < p->agents)
            saddle_edges_add(p->edges, (size_t)w, v);
        w++;
    }
}

void saddle_build_er(saddle_topology_request *request)
{
    plan p = plan_of(request);
    p.probability = saddle_topology_probability(request, 1);
    double m = (double)p.agents;
    double expected = 0.5 * p.probability * m * (m - 1.0);
    /* Four standard deviations of spare capacity avoid growing the list in most draws. */
    double room = expected + 4.0 * sqrt(expected) + 16.0;
    if (expected > (double)SADDLE_MAX_EDGES)
        room = expected;
    char remedy[96];
    saddle_snprintf(remedy, sizeof remedy,
                    "choose P well above the connectivity threshold ln(m)/m = %.3g",
                    saddle_log(m) / m);
    if (saddle_edges_reserve(p.edges, (size_t)room))
        draw_connected(&p, draw_er, expected, remedy);
}

/* ---- regular:K ---- */

/* Closes a random order of 0 .. m - 1 into a cycle: every Hamiltonian cycle is equally likely. */
static void draw_cycle(plan *p)
{
    SADDLE_OWNED size_t *order = take(p, p->agents, "a random order of the agents");
    if (order == NULL)
        return;
    for (size_t i = 0; i < p->agents; i++)
        order[i] = i;
    saddle_rng_shuffle(&p->rng, order, p->agents);
    for (size_t i = 0; i < p->agents; i++)
        saddle_edges_add(p->edges, order[i], order[(i + 1) % p->agents]);
}

/* Pairs the stubs at random into p->edges, with loops and double edges still among them. */
static void pair_stubs(plan *p)
{
    size_t stubs = p->agents * p->degree;
    SADDLE_OWNED size_t *stub = take(p, stubs, "a random pairing");
    if (stub == NULL)
        return;
    for (size_t s = 0; s < stubs; s++)
        stub[s] = s / p->degree;
    saddle_rng_shuffle(&p->rng, stub, stubs);
    for (size_t s = 0; s < stubs; s += 2)
        saddle_edges_add(p->edges, stub[s], stub[s + 1]);
}

/* Switches the bad edge with a random good one so that both become good; false when no partner was
 * found, which happens only in small dense graphs. */
static bool repair_edge(plan *p, const bool *bad, size_t e)
{
    enum { PARTNERS = 1000 };
    saddle_edges *edges = p->edges;
    saddle_edge *broken = &edges->edge[e];
    for (int tries = 0; tries < PARTNERS; tries++) {
        uint64_t pick = saddle_rng_below(&p->rng, 2 * (uint64_t)edges->count);
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

/* Replaces loops and double edges, which `bad` marks afterwards only if the attempt is stuck. */
static void repair_edges(plan *p, bool *bad)
{
    saddle_edge_set_clear(&p->set);
    for (size_t e = 0; e < p->edges->count; e++) {
        saddle_edge edge = p->edges->edge[e];
        bad[e] = edge.a == edge.b || !saddle_edge_set_add(&p->set, edge.a, edge.b);
    }
    for (size_t e = 0; e < p->edges->count && !p->stuck; e++) {
        if (!bad[e])
            continue;
        p->stuck = !repair_edge(p, bad, e);
        bad[e] = p->stuck;
    }
}

static void draw_regular(plan *p)
{
    pair_stubs(p);
    SADDLE_OWNED bool *bad = saddle_alloc(p->edges->count, sizeof *bad);
    if (bad == NULL)
        p->edges->status = saddle_no_memory(p->edges->error, "a random pairing");
    if (p->edges->status == SADDLE_OK)
        repair_edges(p, bad);
}

/* A dense regular graph is the complement of a sparse one, which is much easier to draw. */
static void draw_dense_regular(plan *p)
{
    saddle_edges absent = {.error = p->edges->error};
    plan sparse = *p;
    sparse.degree = p->agents - 1 - p->degree;
    sparse.edges = &absent;
    if (sparse.degree > 0)
        draw_regular(&sparse);
    p->stuck = sparse.stuck;
    p->edges->status = absent.status;
    saddle_edges_free(&absent);
    for (size_t i = 1; i < p->agents && !p->stuck && p->edges->status == SADDLE_OK; i++)
        for (size_t j = 0; j < i; j++)
            if (!saddle_edge_set_has(&p->set, i, j))
                saddle_edges_add(p->edges, j, i);
}

void saddle_build_regular(saddle_topology_request *request)
{
    plan p = plan_of(request);
    size_t m = p.agents;
    p.degree = saddle_topology_integer(request, 1, "K");
    if (p.edges->status != SADDLE_OK)
        return;
    if (p.degree >= m || (m * p.degree) % 2 != 0)
        saddle_topology_refuse(request,
                               " is impossible with %zu agent%s; K must be below the number of "
                               "agents and agents * K even",
                               m, SADDLE_PLURAL(m));
    else if ((p.degree == 0 && m > 1) || (p.degree == 1 && m > 2))
        saddle_topology_refuse(request, " cannot connect %zu agents; K must be at least 2", m);
    if (!saddle_edges_reserve(p.edges, m * p.degree / 2) || p.degree == 0)
        return;
    bool dense = 2 * p.degree > m - 1;
    size_t kept = dense ? m - 1 - p.degree : p.degree;
    draw_function *draw = p.degree == 2 ? draw_cycle : dense ? draw_dense_regular : draw_regular;
    if (saddle_edge_set_create(&p.set, m * kept / 2 + 2))
        draw_connected(&p, draw, 0.5 * (double)m * (double)p.degree,
                       "choose another seed or a larger K");
    else
        p.edges->status = saddle_no_memory(p.edges->error, "the graph's edges");
    saddle_edge_set_free(&p.set);
}

/* ---- small-world:K:P ---- */

/* Draws an agent that is neither i nor its neighbour; i has fewer than m - 1 neighbours. */
static size_t draw_stranger(plan *p, size_t i)
{
    for (;;) {
        size_t j = (size_t)saddle_rng_below(&p->rng, p->agents);
        if (j != i && !saddle_edge_set_has(&p->set, i, j))
            return j;
    }
}

/* Rewires edge e, which starts at i, unless i is already linked with all agents. */
static void rewire(plan *p, size_t *degree, size_t e)
{
    saddle_edge *edge = &p->edges->edge[e];
    if (!(saddle_rng_uniform(&p->rng) < p->probability) || degree[edge->a] == p->agents - 1)
        return;
    size_t target = draw_stranger(p, edge->a);
    saddle_edge_set_remove(&p->set, edge->a, edge->b);
    saddle_edge_set_add(&p->set, edge->a, target);
    degree[edge->b]--;
    degree[target]++;
    edge->b = (uint32_t)target;
}

static void draw_small_world(plan *p)
{
    SADDLE_OWNED size_t *degree = take(p, p->agents, "the agents' degrees");
    if (degree == NULL)
        return;
    saddle_edge_set_clear(&p->set);
    for (size_t offset = 1; offset <= p->degree / 2; offset++)
        for (size_t i = 0; i < p->agents; i++) {
            size_t j = (i + offset) % p->agents;
            saddle_edge_set_add(&p->set, i, j);
            saddle_edges_add(p->edges, i, j);
        }
    for (size_t i = 0; i < p->agents; i++)
        degree[i] = p->degree;
    for (size_t e = 0; e < p->edges->count; e++)
        rewire(p, degree, e);
}

void saddle_build_small_world(saddle_topology_request *request)
{
    plan p = plan_of(request);
    p.degree = saddle_topology_integer(request, 1, "K");
    if (p.edges->status == SADDLE_OK)
        p.probability = saddle_topology_probability(request, 2);
    if (p.edges->status != SADDLE_OK)
        return;
    bool lone = p.agents == 1 && p.degree == 0;
    if (p.degree >= p.agents || p.degree % 2 != 0 || (p.degree < 2 && !lone))
        saddle_topology_refuse(request,
                               " is impossible with %zu agent%s; K must be even, at least 2 and "
                               "below the number of agents",
                               p.agents, SADDLE_PLURAL(p.agents));
    size_t count = p.agents * (p.degree / 2);
    if (!saddle_edges_reserve(p.edges, count) || lone)
        return;
    if (saddle_edge_set_create(&p.set, count + 1))
        draw_connected(&p, draw_small_world, (double)count, "choose a larger K or a smaller P");
    else
        p.edges->status = saddle_no_memory(p.edges->error, "the graph's edges");
    saddle_edge_set_free(&p.set);
}
