/* Placing agents on processes: each gets some, about equally many, and few edges cross. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "engines/placement.h"
#include "instances.h"
#include "support.h"

static const struct {
    const char *topology;
    size_t agents;
} network[] = {{"ring", 12},       {"path", 7},      {"star", 9},
               {"complete", 6},    {"grid:6x8", 48}, {"torus:9x10", 90},
               {"hypercube", 64},  {"er:0.3", 40},   {"small-world:6:0.1", 200},
               {"regular:4", 1000}};
enum { NETWORKS = sizeof network / sizeof *network };

static saddle_graph *make(size_t k)
{
    saddle_graph *graph = NULL;
    saddle_error error = {.message = ""};
    assert_ok(saddle_graph_create(&graph, network[k].topology, network[k].agents, 3, &error),
              error);
    return graph;
}

#ifdef SADDLE_METIS
extern saddle_partitioner saddle_metis_partition;
static saddle_partitioner *const partition = saddle_metis_partition;
#else
static saddle_partitioner *const partition = NULL;
#endif

static size_t *place(const saddle_graph *graph, size_t ranks)
{
    saddle_error error = {.message = ""};
    size_t *home = calloc(graph->agents + 1, sizeof *home);
    ck_assert_ptr_nonnull(home);
    memset(home, 255, graph->agents * sizeof *home);
    assert_ok(saddle_place_agents(graph, ranks, partition, home, &error), error);
    return home;
}

TEST_LOOP(every_process_has_agents, 0, NETWORKS)
{
    saddle_graph *graph = make((size_t)_i);
    size_t m = graph->agents;
    for (size_t ranks = 1; ranks <= m; ranks = ranks < 8 ? ranks + 1 : ranks * 3) {
        size_t *home = place(graph, ranks);
        size_t *again = place(graph, ranks);
        size_t *count = calloc(ranks, sizeof *count);
        ck_assert_ptr_nonnull(count);
        ck_assert_int_eq(memcmp(home, again, m * sizeof *home), 0);
        for (size_t i = 0; i < m; i++) {
            ck_assert_uint_lt(home[i], ranks);
            count[home[i]]++;
        }
        /* The slowest process determines the speed: none has many more than its share. */
        size_t share = (m + ranks - 1) / ranks;
        for (size_t r = 0; r < ranks; r++) {
            ck_assert_uint_ge(count[r], 1);
            ck_assert_msg(count[r] <= share + share / 16, "%s, %zu processes: %zu of %zu",
                          graph->text, ranks, count[r], m);
        }
        free(count);
        free(again);
        free(home);
    }
    /* With one agent each, agent i is at process i. */
    size_t *home = place(graph, m);
    for (size_t i = 0; i < m; i++)
        ck_assert_uint_eq(home[i], i);
    free(home);
    saddle_graph_free(graph);
}

TEST(crossing_edges_are_counted)
{
    saddle_graph *graph = make(0);
    size_t home[12] = {0};
    ck_assert_uint_eq(saddle_crossing_edges(graph, home), 0);
    home[4] = 1;
    ck_assert_uint_eq(saddle_crossing_edges(graph, home), 2);
    home[5] = 1;
    home[6] = 2;
    ck_assert_uint_eq(saddle_crossing_edges(graph, home), 3);
    saddle_graph_free(graph);
}

/* Never more crossing edges than with ranges of consecutive numbers. */
TEST_LOOP(few_edges_cross, 0, NETWORKS)
{
    saddle_graph *graph = make((size_t)_i);
    for (size_t ranks = 2; ranks < graph->agents && ranks < 40; ranks = ranks * 2 + 1) {
        size_t *home = place(graph, ranks);
        size_t *piece = calloc(graph->agents, sizeof *piece);
        ck_assert_ptr_nonnull(piece);
        for (size_t r = 0; r < ranks; r++)
            for (size_t i = graph->agents * r / ranks; i < graph->agents * (r + 1) / ranks; i++)
                piece[i] = r;
        ck_assert_uint_le(saddle_crossing_edges(graph, home), saddle_crossing_edges(graph, piece));
        free(piece);
        free(home);
    }
    saddle_graph_free(graph);
}

#ifdef SADDLE_METIS
/* Two cliques whose numbers alternate, joined by one edge: METIS finds them. */
TEST(agent_numbers_do_not_matter)
{
    enum { AGENTS = 20 };
    char path[5000];
    saddle_snprintf(path, sizeof path, "%s/cliques.txt", saddle_test_directory());
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < AGENTS; i++)
        for (int j = i + 2; j < AGENTS; j += 2)
            saddle_fprintf(file, "%d %d\n", i, j);
    saddle_fprintf(file, "6 7\n");
    ck_assert_int_eq(fclose(file), 0);
    char topology[5100];
    saddle_snprintf(topology, sizeof topology, "file:%s", path);
    saddle_graph *graph = NULL;
    saddle_error error = {.message = ""};
    assert_ok(saddle_graph_create(&graph, topology, 0, 1, &error), error);
    size_t *home = place(graph, 2);
    ck_assert_uint_eq(saddle_crossing_edges(graph, home), 1);
    free(home);
    saddle_graph_free(graph);
}
#endif
