/*
 * Graphs against brute force: adjacency from each topology's definition, breadth-first searches
 * from every agent, and eigenvalues by a Jacobi method written here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <saddle/graph.h>

#include "core/elementary.h"
#include "core/print.h"
#include "graph/edges.h"
#include "graph/search.h"
#include "graph/spectrum.h"
#include "support.h"

/* ---- helpers ---- */

static saddle_graph *make(const char *text, size_t agents, uint64_t seed)
{
    saddle_error error;
    saddle_graph *graph = NULL;
    assert_ok(saddle_graph_create(&graph, text, agents, seed, &error), error);
    return graph;
}

static saddle_mixing *mix(const saddle_graph *graph, const char *text)
{
    saddle_error error;
    saddle_mixing *mixing = NULL;
    assert_ok(saddle_mixing_create(&mixing, graph, text, &error), error);
    return mixing;
}

/* Asserts that a topology is refused with a message that contains `part`, and that no graph is returned. */
static void refuse(const char *text, size_t agents, const char *part)
{
    saddle_error error;
    saddle_graph *graph = (saddle_graph *)&error;
    assert_refused(saddle_graph_create(&graph, text, agents, 1, &error), error, SADDLE_BAD_INPUT,
                   part);
    ck_assert_ptr_null(graph);
    ck_assert_ptr_null(strchr(error.message, '\n'));
}

static size_t degree(const saddle_graph *graph, size_t i)
{
    return graph->start[i + 1] - graph->start[i];
}

static bool linked(const saddle_graph *graph, size_t i, size_t j)
{
    for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
        if (graph->neighbour[k] == j)
            return true;
    return false;
}

/* Returns the eccentricity, by a plain queue; SIZE_MAX when some agent is unreachable. */
static size_t eccentricity(const saddle_graph *graph, size_t origin)
{
    size_t m = graph->agents;
    size_t *distance = malloc(m * sizeof *distance);
    size_t *queue = malloc(m * sizeof *queue);
    for (size_t i = 0; i < m; i++)
        distance[i] = SIZE_MAX;
    size_t tail = 0;
    distance[origin] = 0;
    queue[tail++] = origin;
    for (size_t head = 0; head < tail; head++)
        for (size_t k = graph->start[queue[head]]; k < graph->start[queue[head] + 1]; k++)
            if (distance[graph->neighbour[k]] == SIZE_MAX) {
                distance[graph->neighbour[k]] = distance[queue[head]] + 1;
                queue[tail++] = graph->neighbour[k];
            }
    size_t result = tail == m ? distance[queue[tail - 1]] : SIZE_MAX;
    free(distance);
    free(queue);
    return result;
}

/* Asserts that a graph is simple, symmetric, ascending, connected, and consistent in its counts. */
static void check_graph(const saddle_graph *graph, const char *text)
{
    ck_assert_str_eq(graph->text, text);
    ck_assert_uint_eq(graph->start[0], 0);
    ck_assert_uint_eq(graph->start[graph->agents], 2 * graph->edges);
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
            size_t j = graph->neighbour[k];
            ck_assert_uint_lt(j, graph->agents);
            ck_assert_uint_ne(j, i);
            ck_assert(k == graph->start[i] || graph->neighbour[k - 1] < j);
            ck_assert_msg(linked(graph, j, i), "%s: %zu %zu one way", text, i, j);
        }
    ck_assert_uint_ne(eccentricity(graph, 0), SIZE_MAX);
}

static const char *write_file(const char *name, const char *contents, size_t length)
{
    static char path[8192];
    saddle_snprintf(path, sizeof path, "%s/%s", saddle_test_directory(), name);
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(contents, 1, length, stream), length);
    ck_assert_int_eq(fclose(stream), 0);
    return path;
}

/* Returns "file:" and the path of a new file with the given contents. */
static const char *file_text(const char *contents)
{
    static char text[8300];
    saddle_snprintf(text, sizeof text, "file:%s",
                    write_file("edges.txt", contents, strlen(contents)));
    return text;
}

/* ---- deterministic topologies ---- */

/* Returns whether the definition links i and j. `rows` and `columns` are for lattices. */
typedef bool (*definition)(size_t m, size_t rows, size_t columns, size_t i, size_t j);

static size_t gap_between(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

static bool adjacent_on(size_t a, size_t b, size_t side, bool wrap)
{
    size_t gap = gap_between(a, b);
    return gap == 1 || (wrap && gap != 0 && gap == side - 1);
}

static bool in_lattice(size_t columns, size_t rows, bool wrap, size_t i, size_t j)
{
    size_t r[2] = {i / columns, j / columns};
    size_t c[2] = {i % columns, j % columns};
    return (r[0] == r[1] && adjacent_on(c[0], c[1], columns, wrap)) ||
           (c[0] == c[1] && adjacent_on(r[0], r[1], rows, wrap));
}

static bool in_ring(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)rows;
    (void)columns;
    return i != j && ((i + 1) % m == j || (j + 1) % m == i);
}

static bool in_path(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)m;
    (void)rows;
    (void)columns;
    return gap_between(i, j) == 1;
}

static bool in_star(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)m;
    (void)rows;
    (void)columns;
    return (i == 0) != (j == 0);
}

static bool in_complete(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)m;
    (void)rows;
    (void)columns;
    return i != j;
}

static bool in_grid(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)m;
    return in_lattice(columns, rows, false, i, j);
}

static bool in_torus(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)m;
    return in_lattice(columns, rows, true, i, j);
}

static bool in_hypercube(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)m;
    (void)rows;
    (void)columns;
    return __builtin_popcountll(i ^ j) == 1;
}

static bool in_exponential(size_t m, size_t rows, size_t columns, size_t i, size_t j)
{
    (void)rows;
    (void)columns;
    for (size_t power = 1; power < m; power *= 2)
        if ((i + power) % m == j || (j + power) % m == i)
            return true;
    return false;
}

static void check_definition(const char *text, size_t agents, size_t rows, size_t columns,
                             definition defined)
{
    saddle_graph *graph = make(text, agents, 0);
    check_graph(graph, text);
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t j = 0; j < graph->agents; j++)
            ck_assert_msg(linked(graph, i, j) == defined(graph->agents, rows, columns, i, j),
                          "%s with %zu agents: %zu %zu", text, graph->agents, i, j);
    saddle_graph_free(graph);
}

TEST(structured_topologies_follow_their_definitions)
{
    for (size_t m = 1; m <= 34; m++) {
        check_definition("ring", m, 0, 0, in_ring);
        check_definition("path", m, 0, 0, in_path);
        check_definition("star", m, 0, 0, in_star);
        check_definition("complete", m, 0, 0, in_complete);
        check_definition("exponential", m, 0, 0, in_exponential);
        if ((m & (m - 1)) == 0)
            check_definition("hypercube", m, 0, 0, in_hypercube);
    }
    for (size_t rows = 1; rows <= 5; rows++)
        for (size_t columns = 1; columns <= 5; columns++) {
            char text[64];
            saddle_snprintf(text, sizeof text, "grid:%zux%zu", rows, columns);
            check_definition(text, 0, rows, columns, in_grid);
            check_definition(text, rows * columns, rows, columns, in_grid);
            saddle_snprintf(text, sizeof text, "torus:%zux%zu", rows, columns);
            check_definition(text, 0, rows, columns, in_torus);
            check_definition(text, rows * columns, rows, columns, in_torus);
        }
}

/* ---- random topologies ---- */

TEST(er_links_every_pair_equally_often)
{
    enum { AGENTS = 24, DRAWS = 2000 };
    static double hits[AGENTS][AGENTS];
    const double p =
        0.4; /* disconnected only once in ten thousand, so that redrawing introduces no bias */
    double edges = 0.0;
    memset(hits, 0, sizeof hits);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        saddle_graph *graph = make("er:0.4", AGENTS, seed);
        check_graph(graph, "er:0.4");
        edges += (double)graph->edges;
        for (size_t i = 0; i < AGENTS; i++)
            for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
                hits[i][graph->neighbour[k]] += 1.0;
        saddle_graph_free(graph);
    }
    double spread = sqrt(DRAWS * p * (1.0 - p));
    double pairs = AGENTS * (AGENTS - 1) / 2.0;
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < i; j++)
            assert_near(hits[i][j], DRAWS * p, 5.0 * spread);
    assert_near(edges, DRAWS * p * pairs, 5.0 * spread * sqrt(pairs));
}

TEST(er_is_redrawn_and_bounded)
{
    /* At the threshold about a third of the draws are connected: some seeds need a second one. */
    for (uint64_t seed = 0; seed < 50; seed++) {
        saddle_graph *graph = make("er:0.046", 100, seed);
        check_graph(graph, "er:0.046");
        saddle_graph_free(graph);
    }
    saddle_graph *complete = make("er:1", 9, 3);
    ck_assert_uint_eq(complete->edges, 36);
    saddle_graph_free(complete);
    saddle_graph *lone = make("er:0", 1, 3);
    ck_assert_uint_eq(lone->edges, 0);
    saddle_graph_free(lone);
    char threshold[64];
    saddle_snprintf(threshold, sizeof threshold, "ln(m)/m = %.3g", log(100.0) / 100.0);
    refuse("er:0.001", 100, threshold);
    refuse("er:0.001", 100, "'er:0.001' with 100 agents");
    refuse("er:0", 2, "2 components");
    refuse("er:1e-300", 2, "2 components");
    refuse("er:0.00001", 100000, "components");
    refuse("er:0.9", 1000000, "edges");
}

TEST(regular_graphs_are_regular)
{
    for (size_t m = 1; m <= 14; m++)
        for (size_t k = 0; k <= m; k++) {
            char text[64];
            saddle_snprintf(text, sizeof text, "regular:%zu", k);
            bool possible = k < m && m * k % 2 == 0 && (k >= 2 || m == k + 1);
            if (!possible) {
                refuse(text, m, text);
                continue;
            }
            for (uint64_t seed = 0; seed < 20; seed++) {
                saddle_graph *graph = make(text, m, seed);
                check_graph(graph, text);
                for (size_t i = 0; i < m; i++)
                    ck_assert_uint_eq(degree(graph, i), k);
                saddle_graph_free(graph);
            }
        }
}

TEST(regular_graphs_link_every_pair_equally_often)
{
    enum { AGENTS = 16, DRAWS = 3000 };
    const char *const text[] = {"regular:2", "regular:5", "regular:11"};
    const double k[] = {2.0, 5.0, 11.0};
    for (size_t t = 0; t < 3; t++) {
        static double hits[AGENTS][AGENTS];
        memset(hits, 0, sizeof hits);
        for (uint64_t seed = 0; seed < DRAWS; seed++) {
            saddle_graph *graph = make(text[t], AGENTS, seed);
            for (size_t i = 0; i < AGENTS; i++)
                for (size_t e = graph->start[i]; e < graph->start[i + 1]; e++)
                    hits[i][graph->neighbour[e]] += 1.0;
            saddle_graph_free(graph);
        }
        double p = k[t] / (AGENTS - 1);
        for (size_t i = 0; i < AGENTS; i++)
            for (size_t j = 0; j < i; j++)
                assert_near(hits[i][j], DRAWS * p, 5.0 * sqrt(DRAWS * p * (1.0 - p)));
    }
}

TEST(small_worlds_keep_their_edges_and_rewire_as_often_as_given)
{
    enum { AGENTS = 200, K = 6, DRAWS = 50 };
    const double p[] = {0.0, 0.2, 1.0};
    const char *const text[] = {"small-world:6:0", "small-world:6:0.2", "small-world:6:1"};
    for (size_t t = 0; t < 3; t++) {
        double moved = 0.0;
        for (uint64_t seed = 0; seed < DRAWS; seed++) {
            saddle_graph *graph = make(text[t], AGENTS, seed);
            check_graph(graph, text[t]);
            ck_assert_uint_eq(graph->edges, AGENTS * K / 2);
            for (size_t i = 0; i < AGENTS; i++) {
                ck_assert_uint_ge(degree(graph, i), K / 2);
                for (size_t offset = 1; offset <= K / 2; offset++)
                    moved += linked(graph, i, (i + offset) % AGENTS) ? 0.0 : 1.0;
            }
            saddle_graph_free(graph);
        }
        /* A rewired edge leaves its old position empty unless another lands there, which has probability
         * K / (agents - 1 - K) at most. */
        double links = (double)DRAWS * AGENTS * K / 2.0;
        double spread = 5.0 * sqrt(links * p[t] * (1.0 - p[t]));
        assert_at_most(moved, links * p[t] + spread);
        assert_at_most(links * p[t] * (1.0 - (double)K / (AGENTS - 1 - K)) - spread, moved);
    }
    /* Nearly and fully complete: nowhere to rewire to. */
    saddle_graph *graph = make("small-world:8:1", 9, 5);
    ck_assert_uint_eq(graph->edges, 36);
    saddle_graph_free(graph);
    graph = make("small-world:8:1", 10, 5);
    check_graph(graph, "small-world:8:1");
    saddle_graph_free(graph);
    graph = make("small-world:0:0.5", 1, 5);
    ck_assert_uint_eq(graph->edges, 0);
    saddle_graph_free(graph);
}

TEST(random_graphs_are_functions_of_their_seed)
{
    const char *const text[] = {"er:0.2", "regular:4", "regular:2", "small-world:4:0.3"};
    for (size_t t = 0; t < 4; t++) {
        saddle_graph *a = make(text[t], 60, 7);
        saddle_graph *b = make(text[t], 60, 7);
        saddle_graph *c = make(text[t], 60, 8);
        size_t bytes = 2 * a->edges * sizeof *a->neighbour;
        ck_assert_uint_eq(a->edges, b->edges);
        ck_assert_int_eq(memcmp(a->neighbour, b->neighbour, bytes), 0);
        ck_assert(a->edges != c->edges || memcmp(a->neighbour, c->neighbour, bytes) != 0);
        saddle_graph_free(a);
        saddle_graph_free(b);
        saddle_graph_free(c);
    }
}

TEST(edge_sets_hold_what_was_added)
{
    enum { AGENTS = 40, STEPS = 20000 };
    static bool truth[AGENTS][AGENTS];
    memset(truth, 0, sizeof truth);
    saddle_edge_set set;
    ck_assert(saddle_edge_set_create(&set, AGENTS * AGENTS / 4));
    size_t held = 0;
    uint64_t state = 1;
    for (int t = 0; t < STEPS; t++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
        size_t i = (size_t)(state >> 33) % AGENTS;
        size_t j = (size_t)(state >> 43) % AGENTS;
        if (i == j)
            continue;
        size_t low = i < j ? i : j;
        size_t high = i < j ? j : i;
        ck_assert_int_eq(saddle_edge_set_has(&set, i, j), truth[low][high]);
        if (truth[low][high]) {
            saddle_edge_set_remove(&set, i, j);
            truth[low][high] = false;
            held--;
        } else if (held < AGENTS * AGENTS / 4) {
            ck_assert(saddle_edge_set_add(&set, i, j));
            ck_assert(!saddle_edge_set_add(&set, j, i));
            truth[low][high] = true;
            held++;
        }
    }
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = i + 1; j < AGENTS; j++)
            ck_assert_int_eq(saddle_edge_set_has(&set, j, i), truth[i][j]);
    saddle_edge_set_clear(&set);
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = i + 1; j < AGENTS; j++)
            ck_assert(!saddle_edge_set_has(&set, i, j));
    saddle_edge_set_free(&set);
}

TEST(wrong_texts_are_refused)
{
    refuse("", 5, "there is no topology ''");
    refuse("rings", 5, "did you mean 'ring'?");
    refuse("zzzzzzzz", 5, "small-world:K:P");
    refuse("ring:3", 5, "did you mean 'ring'?");
    refuse("er", 5, "not of the form er:P");
    refuse("er:0.5:1", 5, "not of the form er:P");
    refuse("er:1.5", 5, "'1.5'");
    refuse("er:-0.1", 5, "from 0 to 1");
    refuse("er:nan", 5, "'nan'");
    refuse("er:", 5, "''");
    refuse("regular:x", 5, "'x'");
    refuse("regular:99999999999999999999", 5, "whole number");
    refuse("small-world:3:0.5", 9, "K must be even");
    refuse("small-world:0:0.5", 9, "at least 2");
    refuse("small-world:10:0.5", 9, "below the number of agents");
    refuse("small-world:2:2", 9, "'2'");
    refuse("hypercube", 12, "8 or 16");
    refuse("grid:3", 0, "'3'");
    refuse("grid:0x3", 0, "at least 1");
    refuse("grid:3x4x5", 0, "'3x4x5'");
    refuse("grid:-3x4", 0, "'-3x4'");
    refuse("grid:4294967296x4294967296", 0, "product");
    refuse("torus:3x4", 11, "has 12 agents, but 11");
    refuse("ring", 0, "from 1 to");
    refuse("path", SIZE_MAX, "from 1 to");
    refuse("complete", 100000, "4999950000 edges");
    refuse("file:", 5, "not of the form file:PATH");
    refuse("file:/no/such/file", 5, "'/no/such/file'");
    refuse("file:/tmp", 5, "'/tmp'");
}

TEST(lists_name_every_topology_and_rule)
{
    size_t count = 0;
    const saddle_network_info *const *list = saddle_topology_list(&count);
    ck_assert_uint_eq(count, 12);
    for (size_t t = 0; t < count; t++)
        ck_assert(list[t]->synopsis[0] != '\0' && list[t]->summary[0] != '\0');
    ck_assert_str_eq(list[0]->synopsis, "er:P");
    ck_assert(saddle_topology_sets_agents("grid:2x3") && saddle_topology_sets_agents("torus:3x3"));
    ck_assert(saddle_topology_sets_agents("file:edges.txt"));
    ck_assert(!saddle_topology_sets_agents("ring") && !saddle_topology_sets_agents("gridlock"));
    list = saddle_mixing_list(&count);
    ck_assert_uint_eq(count, 6);
    ck_assert_str_eq(list[0]->synopsis, "laplacian");
}

/* ---- files ---- */

TEST(edge_lists_are_read_and_written)
{
    saddle_error error;
    const char *text =
        file_text("# five agents\r\n\r\n 4\t0 # out of order\n1 0\n\n2 1\r\n3 2\n3 4");
    saddle_graph *graph = make(text, 0, 0);
    check_graph(graph, text);
    ck_assert_uint_eq(graph->agents, 5);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            ck_assert_int_eq(linked(graph, i, j), in_ring(5, 0, 0, i, j));
    saddle_graph_free(graph);
    graph = make(text, 5, 0);
    saddle_graph_free(graph);
    graph = make(file_text("# nobody to talk to\n"), 1, 0);
    ck_assert_uint_eq(graph->edges, 0);
    saddle_graph_free(graph);
    /* A path with a colon, and a random graph saved and loaded. */
    char path[8192];
    char again_text[8300];
    saddle_snprintf(path, sizeof path, "%s/with:colon.txt", saddle_test_directory());
    saddle_snprintf(again_text, sizeof again_text, "file:%s", path);
    graph = make("er:0.1", 80, 4);
    assert_ok(saddle_graph_save(graph, path, &error), error);
    saddle_graph *again = make(again_text, 80, 0);
    ck_assert_uint_eq(again->edges, graph->edges);
    ck_assert_int_eq(
        memcmp(again->neighbour, graph->neighbour, 2 * graph->edges * sizeof *graph->neighbour), 0);
    saddle_graph_free(again);
    assert_refused(saddle_graph_save(graph, "/no/such/directory/x", &error), error,
                   SADDLE_BAD_INPUT, "/no/such/directory/x");
    saddle_graph_free(graph);
}

TEST(bad_edge_lists_are_refused_by_place_and_value)
{
    refuse(file_text("0 1\n1 x2\n"), 0, ":2:3: 'x2'");
    refuse(file_text("0 1\n-1 2\n"), 0, ":2:1: '-1'");
    refuse(file_text("0 1\n\n1 2.0\n"), 0, ":3:3: '2.0'");
    refuse(file_text("0 1\n1 1e1\n"), 0, "'1e1'");
    refuse(file_text("0 1\n  1   5\n"), 4, ":2:7: '5' is not an agent");
    refuse(file_text("0 1\n1 99999999999\n"), 0, "'99999999999' is not an agent");
    refuse(file_text("0 1\n1 99999999999999999999999\n"), 0, "'99999999999999999999999'");
    refuse(file_text("0 1\n1 2 3\n"), 0, ":2:5: '3' is left over");
    refuse(file_text("0 1\n1 2 junk # comment\n"), 0, "'junk'");
    refuse(file_text("0 1\n2\n"), 0, ":2:2: the line ends");
    refuse(file_text("0 1\n1 # 2\n"), 0, "the line ends");
    refuse(file_text("0 1\n2 2\n"), 0, "agent 2 is linked with itself");
    refuse(file_text("0 1\n1 2\n2 3\n2 1\n1 0\n"), 0,
           ":4:1: the edge 1 2 was already given on line 2");
    refuse(file_text(""), 0, "has no edges");
    refuse(file_text("0 99999999\n"), 0, "1 edge, too few for each of the agents 0 to 99999999");
    refuse(file_text("0 1\n2 4\n"), 0, "number the agents without gaps");
    refuse(file_text("0 1\n2 3\n"), 0, "not connected: 2 components: {0,1} {2,3}");
    refuse(file_text("0,1\n"), 0, "'0,1'");
    char digits[100];
    memset(digits, '1', sizeof digits);
    digits[99] = '\0';
    refuse(file_text(digits), 0, "...'");
    char text[8300];
    saddle_snprintf(text, sizeof text, "file:%s", write_file("nul.txt", "0 1\0002\n", 6));
    refuse(text, 0, "'1\\x012'");
}

TEST(disconnected_graphs_are_refused_by_component)
{
    refuse(file_text("0 1\n4 1\n2 3\n"), 0, "2 components: {0,1,4} {2,3};");
    refuse(file_text("0 1\n"), 4, "3 components: {0,1} {2} {3};");
    refuse(file_text("0 1\n"), 100000, "99999 components: {0,1} {2} {3} {4} {5} {6} ...;");
    refuse(file_text("1 2\n1 3\n1 4\n1 5\n1 6\n1 7\n1 8\n1 9\n1 10\n"), 0,
           "2 components: {0} {1,2,3,4,5,6,7,8,... 10 agents};");
}

/* ---- diameter ---- */

static void check_diameter(const char *text, size_t agents, uint64_t seed)
{
    saddle_error error;
    saddle_graph *graph = make(text, agents, seed);
    size_t truth = 0;
    for (size_t i = 0; i < graph->agents; i++) {
        size_t e = eccentricity(graph, i);
        truth = e > truth ? e : truth;
    }
    size_t found = SIZE_MAX;
    assert_ok(saddle_graph_diameter(graph, &found, &error), error);
    ck_assert_msg(found == truth, "%s with %zu agents: diameter %zu, searched %zu", text,
                  graph->agents, found, truth);
    const size_t singles[] = {0, 1, 5, SIZE_MAX};
    for (size_t k = 0; k < 4; k++) {
        found = SIZE_MAX;
        assert_ok(saddle_graph_search_diameter(graph, singles[k], &found, &error), error);
        ck_assert_msg(found == truth, "%s with %zu agents, %zu singles: diameter %zu, searched %zu",
                      text, graph->agents, singles[k], found, truth);
    }
    saddle_graph_free(graph);
}

TEST(diameters_agree_with_searches_from_everywhere)
{
    const char *const plain[] = {"ring", "path", "star", "complete", "exponential"};
    for (size_t m = 1; m <= 40; m++)
        for (size_t t = 0; t < 5; t++)
            check_diameter(plain[t], m, 0);
    const char *const lattice[] = {"grid:1x1",  "grid:1x7",  "grid:4x6",  "grid:2x2",
                                   "torus:5x4", "torus:2x6", "torus:1x5", "torus:7x3"};
    for (size_t t = 0; t < 8; t++)
        check_diameter(lattice[t], 0, 0);
    check_diameter("hypercube", 64, 0);
    for (uint64_t seed = 0; seed < 100; seed++) {
        check_diameter("er:0.15", 40, seed);
        check_diameter("regular:3", 50, seed);
        check_diameter("small-world:4:0.05", 60, seed);
    }
    /* Enough agents for several batches, one of them partial; and a long thin graph. */
    check_diameter("regular:4", 1500, 1);
    check_diameter("er:0.006", 1400, 1);
    check_diameter("small-world:4:0.002", 1200, 1);
}

TEST(a_long_path_in_a_file_has_its_diameter)
{
    enum { AGENTS = 3000 };
    saddle_error error;
    char path[8192];
    char text[8300];
    saddle_snprintf(path, sizeof path, "%s/path.txt", saddle_test_directory());
    saddle_snprintf(text, sizeof text, "file:%s", path);
    saddle_graph *graph = make("path", AGENTS, 0);
    assert_ok(saddle_graph_save(graph, path, &error), error);
    saddle_graph *again = make(text, 0, 0);
    size_t found = 0;
    assert_ok(saddle_graph_diameter(again, &found, &error), error);
    ck_assert_uint_eq(found, AGENTS - 1);
    saddle_graph_free(graph);
    saddle_graph_free(again);
}

/* ---- mixing ---- */

/* Returns M as a dense matrix, row by row. Free with free(). */
static double *densify(const saddle_mixing *mixing)
{
    const saddle_graph *graph = mixing->graph;
    size_t m = graph->agents;
    double *dense = calloc(m * m, sizeof *dense);
    for (size_t i = 0; i < m; i++) {
        dense[i * m + i] = mixing->self_weight[i];
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            dense[i * m + graph->neighbour[k]] = mixing->weight[k];
    }
    return dense;
}

static double *densify_laplacian(const saddle_graph *graph)
{
    size_t m = graph->agents;
    double *dense = calloc(m * m, sizeof *dense);
    for (size_t i = 0; i < m; i++) {
        dense[i * m + i] = (double)degree(graph, i);
        for (size_t j = 0; j < m; j++)
            if (linked(graph, i, j))
                dense[i * m + j] = -1.0;
    }
    return dense;
}

static int compare_doubles(const void *left, const void *right)
{
    double l = *(const double *)left;
    double r = *(const double *)right;
    return (l > r) - (l < r);
}

/* Rotates rows and columns p and q so that a[p][q] becomes 0. */
static void rotate(double *a, size_t m, size_t p, size_t q)
{
    double apq = a[p * m + q];
    if (apq == 0.0)
        return;
    double theta = (a[q * m + q] - a[p * m + p]) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0);
    double s = t * c;
    for (size_t k = 0; k < m; k++) {
        double x = a[k * m + p];
        double y = a[k * m + q];
        a[k * m + p] = c * x - s * y;
        a[k * m + q] = s * x + c * y;
    }
    for (size_t k = 0; k < m; k++) {
        double x = a[p * m + k];
        double y = a[q * m + k];
        a[p * m + k] = c * x - s * y;
        a[q * m + k] = s * x + c * y;
    }
}

/* Computes ascending eigenvalues by cyclic Jacobi sweeps; destroys and frees a. */
static void jacobi(double *a, size_t m, double *value)
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p < m; p++)
            for (size_t q = p + 1; q < m; q++)
                rotate(a, m, p, q);
    for (size_t i = 0; i < m; i++) {
        value[i] = a[i * m + i];
        for (size_t j = 0; j < i; j++)
            assert_near(a[i * m + j], 0.0, 1e-14 * (double)m);
    }
    qsort(value, m, sizeof *value, compare_doubles);
    free(a);
}

enum { SMALL = 64 };

static const struct {
    const char *text;
    size_t agents;
} sample[] = {{"ring", 2},
              {"ring", 3},
              {"ring", 8},
              {"ring", 9},
              {"path", 2},
              {"path", 3},
              {"path", 10},
              {"star", 2},
              {"star", 3},
              {"star", 9},
              {"complete", 2},
              {"complete", 7},
              {"grid:1x6", 0},
              {"grid:3x4", 0},
              {"grid:2x2", 0},
              {"torus:1x6", 0},
              {"torus:2x5", 0},
              {"torus:4x4", 0},
              {"torus:3x5", 0},
              {"hypercube", 2},
              {"hypercube", 16},
              {"exponential", 4},
              {"exponential", 13},
              {"exponential", 16},
              {"er:0.4", 20},
              {"regular:3", 14},
              {"regular:9", 12},
              {"small-world:4:0.3", 20},
              {"small-world:2:0", 45}};

enum { SAMPLES = sizeof sample / sizeof *sample };

static const char *const rule[] = {"laplacian", "metropolis", "lazy-metropolis", "max-degree",
                                   "best-constant"};

enum { RULES = sizeof rule / sizeof *rule };

/* Returns the off-diagonal weight that the rule's definition gives to the edge i j. */
static double defined_weight(const saddle_graph *graph, size_t r, const double *laplacian, size_t i,
                             size_t j)
{
    size_t most = 0;
    for (size_t k = 0; k < graph->agents; k++)
        most = degree(graph, k) > most ? degree(graph, k) : most;
    double pair =
        (double)(degree(graph, i) > degree(graph, j) ? degree(graph, i) : degree(graph, j));
    switch (r) {
    case 0:
        return 2.0 / (3.0 * laplacian[graph->agents - 1]);
    case 1:
        return 1.0 / (1.0 + pair);
    case 2:
        return 0.5 / pair;
    case 3:
        return 1.0 / (1.0 + (double)most);
    default:
        return 2.0 / (laplacian[1] + laplacian[graph->agents - 1]);
    }
}

/* Asserts that weights are symmetric to the bit, positive, of 40 bits and as defined, and that rows sum
 * to exactly 1. */
static void check_weights(const saddle_mixing *mixing, size_t r, const double *laplacian)
{
    const saddle_graph *graph = mixing->graph;
    size_t m = graph->agents;
    double *dense = densify(mixing);
    double least = INFINITY;
    for (size_t i = 0; i < m; i++) {
        int64_t sum = 0; /* in units of 2^-60, so that nothing is rounded */
        for (size_t j = 0; j < m; j++) {
            double entry = dense[i * m + j];
            ck_assert(ldexp(entry, 60) == (double)(int64_t)ldexp(entry, 60));
            sum += (int64_t)ldexp(entry, 60);
            ck_assert(entry == dense[j * m + i]);
            ck_assert_int_eq(entry > 0.0, i == j || linked(graph, i, j));
            int exponent = 0;
            double bits = ldexp(frexp(entry, &exponent), 40);
            ck_assert(i == j || bits == rint(bits));
            if (i != j && entry > 0.0)
                assert_near(entry, defined_weight(graph, r, laplacian, i, j), 1e-12 * entry);
        }
        ck_assert_int_eq(sum, INT64_C(1) << 60);
        least = fmin(least, dense[i * m + i]);
    }
    ck_assert(saddle_mixing_min_self_weight(mixing) == least);
    free(dense);
}

static void check_spectrum(const saddle_mixing *mixing, size_t r)
{
    static const char *const name[] = {"", "closed form", "LAPACK", "ARPACK"};
    saddle_error error;
    size_t m = mixing->graph->agents;
    double value[SMALL];
    jacobi(densify(mixing), m, value);
    assert_near(value[m - 1], 1.0, 1e-14);
    double lambda = fmax(fabs(value[0]), fabs(value[m - 2]));
    for (int method = SADDLE_SPECTRUM_AUTO; method <= SADDLE_SPECTRUM_ARPACK; method++) {
        saddle_spectrum found;
        saddle_status status =
            saddle_mixing_spectrum_by(mixing, (saddle_spectrum_method)method, &found, &error);
        if (method == SADDLE_SPECTRUM_CLOSED && status == SADDLE_UNSUPPORTED)
            continue;
        ck_assert_msg(status == SADDLE_OK, "%s", error.message);
        if (method != SADDLE_SPECTRUM_AUTO)
            ck_assert_str_eq(found.method, name[method]);
        assert_near(found.lambda2, value[m - 2], 1e-13);
        assert_near(found.lambda_m, value[0], 1e-13);
        assert_near(found.lambda, lambda, 1e-13);
        assert_near(found.gap, 1.0 - lambda, 1e-13);
    }
    /* The paper's rule stays within [1/3, 1] up to the rounding of lambda_max. */
    if (r == 0)
        assert_at_most(1.0 / 3.0 - 1e-12, value[0]);
    if (r == 2)
        assert_at_most(-1e-13, value[0]);
}

static void check_laplacian(const saddle_graph *graph, const double *truth)
{
    saddle_error error;
    size_t m = graph->agents;
    for (int method = SADDLE_SPECTRUM_AUTO; method <= SADDLE_SPECTRUM_ARPACK; method++) {
        double second = NAN;
        double largest = NAN;
        saddle_status status =
            saddle_laplacian_ends(graph, (saddle_spectrum_method)method, &second, &largest, &error);
        if (method == SADDLE_SPECTRUM_CLOSED && status == SADDLE_UNSUPPORTED)
            continue;
        ck_assert_msg(status == SADDLE_OK, "%s", error.message);
        assert_near(second, truth[1], 1e-14 * truth[m - 1]);
        assert_near(largest, truth[m - 1], 1e-14 * truth[m - 1]);
    }
}

TEST(weights_and_spectra_agree_with_dense_algebra)
{
    for (size_t t = 0; t < SAMPLES; t++) {
        saddle_graph *graph = make(sample[t].text, sample[t].agents, 5);
        double laplacian[SMALL];
        jacobi(densify_laplacian(graph), graph->agents, laplacian);
        check_laplacian(graph, laplacian);
        for (size_t r = 0; r < RULES; r++) {
            saddle_error error;
            saddle_mixing *mixing = NULL;
            saddle_status status = saddle_mixing_create(&mixing, graph, rule[r], &error);
            if (status != SADDLE_OK) {
                /* Only best-constant may fail, and only where its diagonal is not positive. */
                ck_assert_uint_eq(r, 4);
                size_t most = 0;
                for (size_t i = 0; i < graph->agents; i++)
                    most = degree(graph, i) > most ? degree(graph, i) : most;
                double w = defined_weight(graph, r, laplacian, 0, 0);
                assert_at_most(1.0 - w * (double)most, 2e-12);
                ck_assert_ptr_nonnull(strstr(error.message, "use metropolis"));
                ck_assert_ptr_null(mixing);
                continue;
            }
            assert_ok(saddle_mixing_check(mixing, &error), error);
            check_weights(mixing, r, laplacian);
            check_spectrum(mixing, r);
            saddle_mixing_free(mixing);
        }
        saddle_graph_free(graph);
    }
}

TEST(closed_forms_are_used_where_there_are_any)
{
    const struct {
        const char *topology;
        size_t agents;
        const char *rule;
        const char *method;
    } wanted[] = {{"ring", 50, "metropolis", "closed form"},
                  {"star", 50, "metropolis", "closed form"},
                  {"path", 50, "lazy-metropolis", "closed form"},
                  {"torus:5x6", 0, "laplacian", "closed form"},
                  {"grid:5x6", 0, "max-degree", "closed form"},
                  {"grid:5x6", 0, "metropolis", "LAPACK"},
                  {"exponential", 50, "metropolis", "closed form"},
                  {"regular:3", 50, "metropolis", "LAPACK"},
                  {"regular:3", 2002, "metropolis", "ARPACK"}};
    for (size_t t = 0; t < sizeof wanted / sizeof *wanted; t++) {
        saddle_error error;
        saddle_spectrum found;
        saddle_graph *graph = make(wanted[t].topology, wanted[t].agents, 1);
        saddle_mixing *mixing = mix(graph, wanted[t].rule);
        assert_ok(saddle_mixing_spectrum(mixing, &found, &error), error);
        ck_assert_str_eq(found.method, wanted[t].method);
        saddle_mixing_free(mixing);
        saddle_graph_free(graph);
    }
}

TEST(the_three_methods_agree_on_middling_graphs)
{
    const char *const text[] = {"er:0.03",    "regular:4",   "small-world:6:0.1",
                                "grid:15x20", "torus:15x20", "ring"};
    for (size_t t = 0; t < 6; t++) {
        saddle_graph *graph = make(text[t], 300, 2);
        for (size_t r = 0; r < 3; r++) {
            saddle_error error;
            saddle_spectrum dense;
            saddle_spectrum sparse;
            saddle_spectrum chosen;
            saddle_mixing *mixing = mix(graph, rule[r]);
            assert_ok(saddle_mixing_spectrum_by(mixing, SADDLE_SPECTRUM_LAPACK, &dense, &error),
                      error);
            assert_ok(saddle_mixing_spectrum_by(mixing, SADDLE_SPECTRUM_ARPACK, &sparse, &error),
                      error);
            assert_ok(saddle_mixing_spectrum(mixing, &chosen, &error), error);
            assert_near(sparse.lambda2, dense.lambda2, 1e-13);
            assert_near(sparse.lambda_m, dense.lambda_m, 1e-13);
            assert_near(chosen.lambda2, dense.lambda2, 1e-13);
            assert_near(chosen.lambda_m, dense.lambda_m, 1e-13);
            saddle_mixing_free(mixing);
        }
        /* The same 40-bit weights, by whichever method the Laplacian's ends were found. */
        double ends[2][2];
        saddle_error error;
        for (int k = 0; k < 2; k++)
            assert_ok(saddle_laplacian_ends(
                          graph, k == 0 ? SADDLE_SPECTRUM_LAPACK : SADDLE_SPECTRUM_ARPACK,
                          &ends[k][0], &ends[k][1], &error),
                      error);
        double own[2];
        double both[2];
        for (int k = 0; k < 2; k++) {
            own[k] = saddle_round_significant(2.0 / (3.0 * ends[k][1]));
            both[k] = saddle_round_significant(2.0 / (ends[k][0] + ends[k][1]));
        }
        ck_assert(own[0] == own[1]);
        ck_assert(both[0] == both[1]);
        saddle_graph_free(graph);
    }
}

TEST(one_agent_mixes_with_itself)
{
    const char *const text[] = {"ring",      "complete",  "hypercube",
                                "torus:1x1", "regular:0", "er:0.5"};
    for (size_t t = 0; t < 6; t++)
        for (size_t r = 0; r < RULES; r++) {
            saddle_error error;
            saddle_spectrum found;
            saddle_graph *graph = make(text[t], 1, 0);
            saddle_mixing *mixing = mix(graph, rule[r]);
            ck_assert(mixing->self_weight[0] == 1.0);
            assert_ok(saddle_mixing_spectrum(mixing, &found, &error), error);
            ck_assert(found.lambda == 0.0 && found.lambda2 == 0.0 && found.lambda_m == 0.0);
            ck_assert(found.gap == 1.0);
            saddle_mixing_free(mixing);
            saddle_graph_free(graph);
        }
}

TEST(a_broken_matrix_is_found)
{
    saddle_error error;
    saddle_graph *graph = make("ring", 6, 0);
    saddle_mixing *mixing = mix(graph, "metropolis");
    double kept = mixing->weight[4]; /* row 2, column 1 */
    mixing->weight[4] = kept + 1e-9;
    mixing->self_weight[2] -= 1e-9;
    /* Row 1 is checked before row 2 and has the same pair. */
    assert_refused(saddle_mixing_check(mixing, &error), error, SADDLE_CHECK_FAILED, "symmetric");
    ck_assert_ptr_nonnull(strstr(error.message, "row 1 "));
    mixing->weight[4] = kept;
    assert_refused(saddle_mixing_check(mixing, &error), error, SADDLE_CHECK_FAILED,
                   "row 2 of the mixing matrix sums to 0.99999999");
    mixing->self_weight[2] = NAN;
    assert_refused(saddle_mixing_check(mixing, &error), error, SADDLE_CHECK_FAILED,
                   "diagonal entry nan");
    mixing->self_weight[2] = 1.0 / 3.0;
    mixing->weight[4] = -kept;
    mixing->weight[3] = -kept;
    assert_refused(saddle_mixing_check(mixing, &error), error, SADDLE_CHECK_FAILED,
                   "row 1 of the mixing matrix has -0.33");
    mixing->weight[4] = kept;
    mixing->weight[3] = kept;
    assert_ok(saddle_mixing_check(mixing, &error), error);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
}

TEST(a_matrix_without_eigenvalues_is_a_numerical_failure)
{
    saddle_error error;
    saddle_spectrum found;
    saddle_graph *graph = make("regular:3", 60, 0);
    saddle_mixing *mixing = mix(graph, "metropolis");
    assert_refused(saddle_mixing_spectrum_by(mixing, SADDLE_SPECTRUM_CLOSED, &found, &error), error,
                   SADDLE_UNSUPPORTED, "regular:3");
    mixing->self_weight[7] = NAN;
    assert_refused(saddle_mixing_spectrum(mixing, &found, &error), error, SADDLE_NUMERIC, "row 7 ");
    mixing->self_weight[7] = 0.25;
    mixing->weight[3 * 59 + 2] = INFINITY;
    assert_refused(saddle_mixing_spectrum(mixing, &found, &error), error, SADDLE_NUMERIC,
                   "row 59 ");
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
}

/* Asserts that a matrix is refused on a path of three agents. */
static void refuse_matrix(const char *contents, const char *part)
{
    saddle_error error;
    saddle_graph *graph = make("path", 3, 0);
    saddle_mixing *mixing = (saddle_mixing *)&error;
    assert_refused(saddle_mixing_create(&mixing, graph, file_text(contents), &error), error,
                   SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(mixing);
    saddle_graph_free(graph);
}

TEST(matrices_are_read_from_files)
{
    saddle_graph *graph = make("path", 3, 0);
    saddle_mixing *mixing =
        mix(graph, file_text("# a matrix\r\n0.75, 0.25 ,0\r\n0.25 0.5\t0.25\n\n0,0.25,0.75"));
    double *dense = densify(mixing);
    const double truth[9] = {0.75, 0.25, 0.0, 0.25, 0.5, 0.25, 0.0, 0.25, 0.75};
    for (size_t k = 0; k < 9; k++)
        ck_assert(dense[k] == truth[k]);
    free(dense);
    saddle_mixing_free(mixing);
    /* Decimal thirds become symmetric, with sum 1 to the bit. */
    mixing = mix(graph, file_text("0.6666666666666 0.3333333333334 0\n"
                                  "0.3333333333333 0.3333333333333 0.3333333333333\n"
                                  "0 0.3333333333333 0.6666666666667\n"));
    ck_assert(mixing->weight[0] == mixing->weight[1]);
    ck_assert(mixing->weight[0] + mixing->self_weight[0] == 1.0);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
    graph = make("path", 1, 0);
    mixing = mix(graph, file_text("1\n"));
    ck_assert(mixing->self_weight[0] == 1.0);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
    refuse_matrix(
        "0.5 0.5 0\n0.5 0 0.5\n0 0.5 0.5\n",
        ":2:5: the weight of agent 1 for itself (on the diagonal) is 0; it must be positive");
    refuse_matrix("0.5 0.4 0.1\n", ":1:9: weight 0.1 between agents 0 and 2");
    refuse_matrix("1 0 0\n", ":1:3: weight 0 on the edge");
    refuse_matrix("0.5 0.5\n", ":1:8: the row ends after 2");
    refuse_matrix("0.5 0.5 0 0\n", ":1:11: '0' follows");
    refuse_matrix("0.5 abc 0\n", "'abc' is not a finite number");
    refuse_matrix("0.5 nan 0\n", "'nan'");
    refuse_matrix("0.5 1e999 0\n", "'1e999'");
    refuse_matrix("0.5,,0.5 0\n", ":1:5: '' is not");
    refuse_matrix("0.5 0.5,\n", "''");
    refuse_matrix("0.5 0.5 0\n0.5 0.25 0.25\n", "has 2 rows");
    refuse_matrix("0.75 0.25 0\n0.25 0.5 0.25\n0 0.25 0.75\n0 0 1\n", ":4:1: a row after");
    refuse_matrix("0.75 0.25 0\n0.2 0.55 0.25\n0 0.25 0.75\n", "symmetric");
    refuse_matrix("0.8 0.25 0\n0.25 0.5 0.25\n0 0.25 0.75\n", "row 0 of the mixing matrix sums to");
    refuse_matrix(
        "0.50000000000005 0.49999999999995 0\n"
        "0.49999999999995 1e-13 0.49999999999995\n"
        "0 0.49999999999995 0.50000000000005\n",
        "its weights rounded to 40 bits: row 1 of the mixing matrix has the diagonal entry 0");
    refuse_matrix("", "has 0 rows");
}

TEST(wrong_rules_are_refused)
{
    saddle_error error;
    saddle_graph *graph = make("star", 5, 0);
    saddle_mixing *mixing = NULL;
    const char *const wrong[] = {"metropoliss", "file", "file:", "laplacian:2", ""};
    for (size_t t = 0; t < 5; t++)
        assert_refused(saddle_mixing_create(&mixing, graph, wrong[t], &error), error,
                       SADDLE_BAD_INPUT,
                       t == 1 || t == 2 ? "--mixing: '" : "there is no mixing rule '");
    assert_refused(saddle_mixing_create(&mixing, graph, wrong[0], &error), error, SADDLE_BAD_INPUT,
                   "did you mean 'metropolis'?");
    assert_refused(saddle_mixing_create(&mixing, graph, "file:/no/such", &error), error,
                   SADDLE_BAD_INPUT, "/no/such");
    /* 1 - 2 (m - 1) / (m + 1) at the hub. */
    assert_refused(saddle_mixing_create(&mixing, graph, "best-constant", &error), error,
                   SADDLE_BAD_INPUT, "agent 0 the self-weight -0.333333");
    ck_assert_ptr_null(mixing);
    saddle_graph_free(graph);
}

/* ---- size ---- */

/* Returns the processor time that this thread has used, which other programs do not affect. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the least time, of three attempts, to make a network; with spectrum and diameter if it is a ring. */
static double seconds_to_make(const char *topology, size_t agents)
{
    saddle_error error;
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        double begun = seconds();
        saddle_graph *graph = make(topology, agents, 1);
        if (strcmp(topology, "ring") == 0) {
            saddle_spectrum spectrum;
            size_t diameter;
            saddle_mixing *mixing = mix(graph, "laplacian");
            assert_ok(saddle_mixing_spectrum(mixing, &spectrum, &error), error);
            assert_ok(saddle_graph_diameter(graph, &diameter, &error), error);
            saddle_mixing_free(mixing);
        }
        saddle_graph_free(graph);
        least = fmin(least, seconds() - begun);
    }
    return least;
}

/* The work is linear in the agents: 16 times as many take about 16 times as long, not 256 times. */
TEST_LOOP(work_grows_with_the_agents, 0, TEST_SLOWDOWN == 1 ? 2 : 0)
{
    static const char *const topology[] = {"ring", "regular:10"};
    double few = seconds_to_make(topology[_i], 6250);
    double many = seconds_to_make(topology[_i], 100000);
    ck_assert_msg(many < 100.0 * few, "%s: %g s for 6250 agents, %g s for 100000", topology[_i],
                  few, many);
}

/* A sanitizer sees the same code with fewer agents. */
TEST_LOOP(a_hundred_thousand_agents_work, 0, TEST_SLOWDOWN == 1)
{
    enum { AGENTS = 100000, FEWER = 20000 };
    const double pi = 3.14159265358979323846;
    saddle_error error;
    saddle_spectrum found;
    saddle_graph *graph = make("ring", AGENTS, 0);
    saddle_mixing *mixing = mix(graph, "laplacian");
    assert_ok(saddle_mixing_spectrum(mixing, &found, &error), error);
    double s = sin(pi / AGENTS);
    assert_near(found.gap, 4.0 * s * s / 6.0, 1e-15);
    assert_near(found.lambda_m, 1.0 / 3.0, 1e-12);
    size_t diameter = 0;
    assert_ok(saddle_graph_diameter(graph, &diameter, &error), error);
    ck_assert_uint_eq(diameter, AGENTS / 2);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);

    /* Er well above its threshold, and random regular graphs, one with its spectrum, whose ends are near
     * 10 -+ 2 sqrt(9) on the Laplacian (Friedman). ARPACK takes seconds for all agents. */
    graph = make("er:0.0002", AGENTS, 1);
    assert_near((double)graph->edges, 0.0001 * AGENTS * (AGENTS - 1.0), 5.0 * sqrt(1e6));
    saddle_graph_free(graph);
    graph = make("regular:10", AGENTS, 1);
    for (size_t i = 0; i < AGENTS; i++)
        ck_assert_uint_eq(degree(graph, i), 10);
    saddle_graph_free(graph);
    graph = make("regular:10", FEWER, 1);
    mixing = mix(graph, "lazy-metropolis");
    assert_ok(saddle_mixing_spectrum(mixing, &found, &error), error);
    ck_assert_str_eq(found.method, "ARPACK");
    assert_near(found.lambda2, 1.0 - (10.0 - 6.0) / 20.0, 2e-3);
    assert_near(found.lambda_m, 1.0 - (10.0 + 6.0) / 20.0, 2e-3);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
}
