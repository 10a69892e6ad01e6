/* Strict parsing of edge lists and mixing matrices, and writing of edge lists. */
#include "graph/reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
#include "files/file.h"

#define WANTED "the path of a text file"

/* ---- fields of a line ---- */

saddle_status saddle_read_number(saddle_line_reader *in, const char *what, uint64_t bound,
                                 const char *form, uint64_t *out, saddle_error *error)
{
    const char *word = saddle_line_reader_field(in, " \t");
    if (word == NULL)
        return saddle_line_reader_refuse(in, in->rest, error, "the line ends before %s; %s", what,
                                         form);
    if (word[strspn(word, "0123456789")] == '\0' && saddle_parse_integer(word, out) && *out < bound)
        return SADDLE_OK;
    return saddle_line_reader_refuse(in, word, error,
                                     "'%s' is not %s; it must be a whole number from 0 to %" PRIu64,
                                     SADDLE_EXCERPT(word), what, bound - 1);
}

saddle_status saddle_read_round(saddle_line_reader *in, uint64_t last, const char *form,
                                uint64_t *out, saddle_error *error)
{
    const char *at = in->rest + strspn(in->rest, " \t");
    SADDLE_TRY(saddle_read_number(in, "a round", UINT64_C(1) << 53, form, out, error));
    if (*out >= last)
        return SADDLE_OK;
    return saddle_line_reader_refuse(in, at, error,
                                     "round %" PRIu64 " follows round %" PRIu64
                                     "; put the lines in the order of their rounds",
                                     *out, last);
}

saddle_status saddle_read_agent(saddle_line_reader *in, size_t agents, const char *form,
                                size_t *out, saddle_error *error)
{
    uint64_t number = 0;
    SADDLE_TRY(saddle_read_number(in, "an agent", agents, form, &number, error));
    *out = (size_t)number;
    return SADDLE_OK;
}

saddle_status saddle_read_link(saddle_line_reader *in, const saddle_graph *graph, const char *form,
                               size_t agent[2], size_t *position, saddle_error *error)
{
    SADDLE_TRY(saddle_read_agent(in, graph->agents, form, &agent[0], error));
    const char *at = in->rest;
    SADDLE_TRY(saddle_read_agent(in, graph->agents, form, &agent[1], error));
    *position = saddle_graph_position(graph, agent[0], agent[1]);
    if (*position != SIZE_MAX)
        return SADDLE_OK;
    return saddle_line_reader_refuse(in, at, error,
                                     "agents %zu and %zu are not linked in this graph; remove the "
                                     "line or add the edge to the topology",
                                     agent[0], agent[1]);
}

saddle_status saddle_read_end(saddle_line_reader *in, const char *form, saddle_error *error)
{
    const char *word = saddle_line_reader_field(in, " \t");
    return word == NULL ? SADDLE_OK
                        : saddle_line_reader_refuse(in, word, error, "'%s' is left over; %s",
                                                    SADDLE_EXCERPT(word), form);
}

/* ---- edge lists ---- */

/* Reads the edge of the current line. */
static saddle_status read_edge(saddle_line_reader *in, size_t agents, saddle_edge *edge,
                               saddle_error *error)
{
    static const char form[] = "a line is two agents `i j`";
    size_t bound = agents != 0 ? agents : SADDLE_MAX_AGENTS;
    size_t a = 0;
    size_t b = 0;
    SADDLE_TRY(saddle_read_agent(in, bound, form, &a, error));
    const char *at = in->rest;
    SADDLE_TRY(saddle_read_agent(in, bound, form, &b, error));
    if (a == b)
        return saddle_line_reader_refuse(in, at, error,
                                         "agent %zu is linked with itself; remove the line", a);
    *edge =
        a < b ? (saddle_edge){(uint32_t)a, (uint32_t)b} : (saddle_edge){(uint32_t)b, (uint32_t)a};
    return saddle_read_end(in, form, error);
}

/* An edge and its position in the file. */
typedef struct located_edge {
    saddle_edge edge;
    size_t line;
} located_edge;

static int compare_located(const void *left, const void *right)
{
    const located_edge *l = left;
    const located_edge *r = right;
    if (l->edge.a != r->edge.a)
        return l->edge.a < r->edge.a ? -1 : 1;
    if (l->edge.b != r->edge.b)
        return l->edge.b < r->edge.b ? -1 : 1;
    return l->line < r->line ? -1 : l->line > r->line;
}

typedef struct located_edges {
    located_edge *edge;
    size_t count;
    size_t capacity;
} located_edges;

/* Reads all edges of the file, in its order. */
static saddle_status read_located(saddle_line_reader *in, size_t agents, located_edges *list,
                                  saddle_error *error)
{
    while (saddle_line_reader_next_filled(in, error)) {
        located_edge *grown = saddle_grow(list->edge, list->count, &list->capacity, sizeof *grown);
        SADDLE_TRY(saddle_check_memory(grown, "the graph's edges", error));
        list->edge = grown;
        located_edge *here = &grown[list->count++];
        here->line = in->number;
        saddle_status status = read_edge(in, agents, &here->edge, error);
        if (status != SADDLE_OK)
            return status;
    }
    return in->status;
}

/* Fails at the first line that repeats an edge. Sorts the list. */
static saddle_status check_distinct(const char *path, located_edges *list, saddle_error *error)
{
    if (list->count == 0)
        return SADDLE_OK;
    qsort(list->edge, list->count, sizeof *list->edge, compare_located);
    const located_edge *again = NULL;
    for (size_t e = 1; e < list->count; e++) {
        const located_edge *here = &list->edge[e];
        bool same = here->edge.a == here[-1].edge.a && here->edge.b == here[-1].edge.b;
        if (same && (again == NULL || here->line < again->line))
            again = here;
    }
    if (again == NULL)
        return SADDLE_OK;
    return saddle_fail_at(error, path, again->line, 1,
                          "the edge %u %u was already given on line %zu; remove one of the two",
                          again->edge.a, again->edge.b, again[-1].line);
}

saddle_status saddle_edges_read(saddle_edges *edges, const char *path, size_t *agents,
                                saddle_error *error)
{
    saddle_line_reader in;
    located_edges list = {0};
    saddle_status status = saddle_line_reader_open(&in, path, WANTED, error);
    SADDLE_THEN(status, read_located(&in, *agents, &list, error));
    SADDLE_THEN(status, check_distinct(path, &list, error));
    if (status == SADDLE_OK && *agents == 0 && list.count == 0)
        status = saddle_fail(error, SADDLE_BAD_INPUT, "'%s' has no edges; write one `i j` per line",
                             path);
    size_t largest = 0;
    for (size_t e = 0; e < list.count && status == SADDLE_OK; e++) {
        saddle_edge edge = list.edge[e].edge;
        largest = edge.b > largest ? edge.b : largest;
        status = saddle_edges_add(edges, edge.a, edge.b, error);
    }
    /* A single large number must not allocate memory for millions of agents. */
    if (status == SADDLE_OK && *agents == 0 && largest >= 2 * list.count)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "'%s' has %zu edge%s, too few for each of the agents 0 to %zu to have "
                             "one; number the agents without gaps",
                             path, list.count, SADDLE_PLURAL(list.count), largest);
    if (status == SADDLE_OK && *agents == 0)
        *agents = largest + 1;
    saddle_line_reader_close(&in);
    saddle_free(list.edge);
    return status;
}

static void write_edges(FILE *f, const void *context)
{
    const saddle_graph *graph = context;
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            if (i < graph->neighbour[k])
                saddle_fprintf(f, "%zu %zu\n", i, graph->neighbour[k]);
}

saddle_status saddle_graph_save(const saddle_graph *graph, const char *path, saddle_error *error)
{
    SADDLE_REQUIRE(error, graph, path);
    return saddle_output_save(path, write_edges, graph, error);
}

/* ---- matrices ---- */

/* Reads entry (i, j), written as `word`; k runs along agent i's neighbours. */
static saddle_status take_entry(const saddle_line_reader *in, const char *word,
                                const saddle_graph *graph, size_t i, size_t j, double tolerance,
                                size_t *k, double *weight, double *diagonal, saddle_error *error)
{
    double value;
    if (!saddle_parse_real(word, &value))
        return saddle_line_reader_refuse(in, word, error, "'%s' is not a finite number",
                                         SADDLE_EXCERPT(word));
    bool edge = *k < graph->start[i + 1] && graph->neighbour[*k] == j;
    if (i == j)
        diagonal[i] = value;
    else if (edge)
        weight[(*k)++] = value;
    else if (!(fabs(value) <= tolerance))
        return saddle_line_reader_refuse(
            in, word, error,
            "weight %s between agents %zu and %zu, which are not linked; it must be 0",
            SADDLE_EXCERPT(word), i, j);
    if (i == j && !(value > 0.0))
        return saddle_line_reader_refuse(
            in, word, error,
            "the weight of agent %zu for itself (on the diagonal) is %s; it must be positive", i,
            SADDLE_EXCERPT(word));
    if (edge && !(value > 0.0))
        return saddle_line_reader_refuse(
            in, word, error, "weight %s on the edge of agents %zu and %zu; it must be positive",
            SADDLE_EXCERPT(word), i, j);
    return SADDLE_OK;
}

static saddle_status read_row(saddle_line_reader *in, const saddle_graph *graph, size_t i,
                              double tolerance, double *weight, double *diagonal,
                              saddle_error *error)
{
    size_t k = graph->start[i];
    size_t j = 0;
    const char *word;
    for (; (word = saddle_line_reader_field(in, " \t,")) != NULL; j++) {
        if (j == graph->agents)
            return saddle_line_reader_refuse(
                in, word, error, "'%s' follows the row's %zu %s; give one per agent",
                SADDLE_EXCERPT(word), graph->agents, graph->agents == 1 ? "entry" : "entries");
        SADDLE_TRY(take_entry(in, word, graph, i, j, tolerance, &k, weight, diagonal, error));
    }
    if (j < graph->agents)
        return saddle_line_reader_refuse(in, in->rest, error,
                                         "the row ends after %zu %s; give one per agent, %zu", j,
                                         j == 1 ? "entry" : "entries", graph->agents);
    return SADDLE_OK;
}

static saddle_status read_rows(saddle_line_reader *in, const saddle_graph *graph, double tolerance,
                               double *weight, double *diagonal, saddle_error *error)
{
    size_t row = 0;
    for (; saddle_line_reader_next_filled(in, error); row++) {
        if (row == graph->agents)
            return saddle_line_reader_refuse(in, in->line, error, "a row after the matrix's %zu",
                                             row);
        saddle_status status = read_row(in, graph, row, tolerance, weight, diagonal, error);
        if (status != SADDLE_OK)
            return status;
    }
    if (in->status == SADDLE_OK && row < graph->agents)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' has %zu row%s; the matrix must have one per agent, %zu", in->path,
                           row, SADDLE_PLURAL(row), graph->agents);
    return in->status;
}

saddle_status saddle_matrix_read(const saddle_graph *graph, const char *path, double tolerance,
                                 double *weight, double *diagonal, saddle_error *error)
{
    saddle_line_reader in;
    saddle_status status = saddle_line_reader_open(&in, path, WANTED, error);
    SADDLE_THEN(status, read_rows(&in, graph, tolerance, weight, diagonal, error));
    saddle_line_reader_close(&in);
    return status;
}
