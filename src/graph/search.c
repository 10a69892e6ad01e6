/*
 * Breadth-first searches: the mean over a spanning tree, and the exact diameter, in most cases without a search
 * from every agent:
 *
 *   1. Where the topology shows that agent 0's eccentricity is the largest (vertex-transitive graphs,
 *      the end of a path, the corner of a grid), one breadth-first search: O(edges).
 *   2. Otherwise, searches that bound all eccentricities at once (Takes and Kosters, Algorithms 6,
 *      2013): from v, every w has max(d(v,w), e(v) - d(v,w)) <= e(w) <= e(v) + d(v,w). Agents
 *      whose upper bound does not exceed the largest eccentricity found are finished.
 *   3. In graphs of small diameter, such as random ones, these bounds are too loose. The remaining
 *      agents are searched from in batches of 512, one bit each: O(diameter * edges) per batch.
 *
 * Worst case O(agents * edges); a random regular graph of 10^5 agents takes seconds.
 */
#include "graph/search.h"

#include "core/vector.h"

/* The number of searches before step 3, and the diameter from which step 3 does not pay off. */
enum { SINGLE_SEARCHES = 32, BATCH_DIAMETER = 128 };

typedef struct search {
    const saddle_graph *graph;
    saddle_allocator memory; /* of the arrays below */
    uint32_t *distance;      /* from the origin of the last search */
    uint32_t *queue;         /* agents in the order in which it met them */
    uint32_t *parent;        /* the agent from which it met each; the origin's own is not set */
    uint32_t *lower;         /* bounds of the eccentricity; lower == upper == 0 when finished */
    uint32_t *upper;
    uint32_t diameter; /* the largest eccentricity found */
    size_t left;       /* agents that are not finished */
} search;

/* On failure, s->left is 0, so that no search follows. */
static saddle_status search_create(search *s, const saddle_graph *graph, saddle_error *error)
{
    size_t m = graph->agents;
    *s = (search){.graph = graph};
    s->distance = saddle_allocator_block(&s->memory, m, sizeof *s->distance);
    s->queue = saddle_allocator_block(&s->memory, m, sizeof *s->queue);
    s->parent = saddle_allocator_block(&s->memory, m, sizeof *s->parent);
    s->lower = saddle_allocator_block(&s->memory, m, sizeof *s->lower);
    s->upper = saddle_allocator_block(&s->memory, m, sizeof *s->upper);
    if (s->memory.failed)
        return saddle_no_memory(error, "searches of the graph");
    for (size_t i = 0; i < m; i++)
        s->upper[i] = UINT32_MAX;
    s->left = m;
    return SADDLE_OK;
}

/* Computes the distances from an agent; returns its eccentricity. */
static uint32_t search_from(search *s, size_t origin)
{
    const saddle_graph *graph = s->graph;
    memset(s->distance, 0xff, graph->agents * sizeof *s->distance);
    size_t head = 0;
    size_t tail = 0;
    s->distance[origin] = 0;
    s->queue[tail++] = (uint32_t)origin;
    while (head < tail) {
        size_t v = s->queue[head++];
        for (size_t k = graph->start[v]; k < graph->start[v + 1]; k++) {
            size_t w = graph->neighbour[k];
            if (s->distance[w] != UINT32_MAX)
                continue;
            s->distance[w] = s->distance[v] + 1;
            s->parent[w] = (uint32_t)v;
            s->queue[tail++] = (uint32_t)w;
        }
    }
    return s->distance[s->queue[tail - 1]];
}

/* Finishes agents whose upper bound does not exceed the largest eccentricity found, and counts the others. */
static void drop_bounded(search *s)
{
    s->left = 0;
    for (size_t w = 0; w < s->graph->agents; w++) {
        if (s->upper[w] <= s->diameter)
            s->upper[w] = 0;
        s->left += s->upper[w] != 0;
    }
}

/* Searches from v and tightens all agents' bounds. */
static void bound_from(search *s, size_t v)
{
    uint32_t e = search_from(s, v);
    s->diameter = e > s->diameter ? e : s->diameter;
    for (size_t w = 0; w < s->graph->agents; w++) {
        uint32_t d = s->distance[w];
        if (s->upper[w] > e + d)
            s->upper[w] = e + d;
        uint32_t least = d > e - d ? d : e - d;
        if (s->lower[w] < least)
            s->lower[w] = least;
    }
    drop_bounded(s);
}

/* Returns the unfinished agent with the largest upper bound, or with the smallest lower bound. */
static size_t choose_origin(const search *s, bool far)
{
    size_t best = s->graph->agents;
    for (size_t w = 0; w < s->graph->agents; w++) {
        if (s->upper[w] == 0)
            continue;
        bool better = best == s->graph->agents ||
                      (far ? s->upper[w] > s->upper[best] : s->lower[w] < s->lower[best]);
        if (better)
            best = w;
    }
    return best;
}

/* ---- many searches at once ---- */

enum { BATCH_WORDS = 8, BATCH = 64 * BATCH_WORDS };

/* Which of a batch's searches have reached an agent. */
typedef struct reached {
    uint64_t word[BATCH_WORDS];
} reached;

/* Does one step of all searches of a batch; false once every search (`all`) has reached every agent. */
SADDLE_KERNEL static bool spread(const saddle_graph *graph, const reached *all,
                                 const reached *before, reached *after)
{
    uint64_t missing = 0;
    for (size_t v = 0; v < graph->agents; v++) {
        reached r = before[v];
        if (memcmp(&r, all, sizeof r) != 0) {
            for (size_t k = graph->start[v]; k < graph->start[v + 1]; k++)
                for (size_t b = 0; b < BATCH_WORDS; b++)
                    r.word[b] |= before[graph->neighbour[k]].word[b];
            for (size_t b = 0; b < BATCH_WORDS; b++)
                missing |= r.word[b] ^ all->word[b];
        }
        after[v] = r;
    }
    return missing != 0;
}

/* Searches from the next batch of unfinished agents, which are then finished. */
static void search_batch(search *s, reached *before, reached *after)
{
    size_t m = s->graph->agents;
    memset(before, 0, m * sizeof *before);
    reached all = {{0}};
    size_t taken = 0;
    for (size_t w = 0; w < m && taken < BATCH; w++) {
        if (s->upper[w] == 0)
            continue;
        uint64_t bit = UINT64_C(1) << (taken % 64);
        before[w].word[taken / 64] |= bit;
        all.word[taken / 64] |= bit;
        taken++;
        s->upper[w] = 0;
    }
    /* The last step is the one after which all agents are reached; a single agent needs none. */
    uint32_t steps = m > 1 ? 1 : 0;
    while (spread(s->graph, &all, before, after)) {
        steps++;
        reached *swapped = before;
        before = after;
        after = swapped;
    }
    s->diameter = steps > s->diameter ? steps : s->diameter;
    drop_bounded(s);
}

static saddle_status search_rest(search *s, saddle_error *error)
{
    size_t m = s->graph->agents;
    reached *before = saddle_allocator_block(&s->memory, m, sizeof *before);
    reached *after = saddle_allocator_block(&s->memory, m, sizeof *after);
    if (s->memory.failed)
        return saddle_no_memory(error, "searches of the graph");
    while (s->left > 0)
        search_batch(s, before, after);
    return SADDLE_OK;
}

/* Returns whether agent 0's eccentricity is the diameter by construction. */
static bool agent_0_is_outermost(const saddle_graph *graph)
{
    return graph->shape != SADDLE_SHAPE_IRREGULAR && graph->shape != SADDLE_SHAPE_STAR &&
           graph->shape != SADDLE_SHAPE_NEAR_RING;
}

saddle_status saddle_graph_search_diameter(const saddle_graph *graph, size_t singles,
                                           size_t *diameter, saddle_error *error)
{
    search s;
    saddle_status status = search_create(&s, graph, error);
    for (size_t t = 0; s.left > 0 && (t < singles || s.diameter > BATCH_DIAMETER); t++)
        bound_from(&s, choose_origin(&s, t % 2 == 0));
    SADDLE_THEN(status, search_rest(&s, error));
    if (status == SADDLE_OK)
        *diameter = s.diameter;
    saddle_allocator_free(&s.memory);
    return status;
}

saddle_status saddle_graph_diameter(const saddle_graph *graph, size_t *diameter,
                                    saddle_error *error)
{
    SADDLE_REQUIRE(error, graph, diameter);
    if (!agent_0_is_outermost(graph))
        return saddle_graph_search_diameter(graph, SINGLE_SEARCHES, diameter, error);
    search s;
    saddle_status status = search_create(&s, graph, error);
    if (status == SADDLE_OK)
        *diameter = search_from(&s, 0);
    saddle_allocator_free(&s.memory);
    return status;
}

saddle_status saddle_consensus_mean(const saddle_graph *graph, const double *value, double *mean,
                                    size_t *rounds, saddle_error *error)
{
    search s;
    saddle_status status = search_create(&s, graph, error);
    double *sum = saddle_allocator_block(&s.memory, graph->agents, sizeof *sum);
    SADDLE_THEN(status, saddle_check_memory(sum, "searches of the graph", error));
    if (status == SADDLE_OK) {
        size_t depth = search_from(&s, 0);
        memcpy(sum, value, graph->agents * sizeof *sum);
        for (size_t k = graph->agents - 1; k > 0; k--)
            sum[s.parent[s.queue[k]]] += sum[s.queue[k]];
        *mean = sum[0] / (double)graph->agents;
        if (rounds != NULL)
            *rounds = 2 * depth;
    }
    saddle_allocator_free(&s.memory);
    return status;
}
