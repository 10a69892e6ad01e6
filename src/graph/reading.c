/* Strict parsing of edge lists and mixing matrices, and writing of edge lists. */
#include "graph/reading.h"

#include "files/file.h"

/* ---- fields of a line ---- */

saddle_status saddle_read_lines(const char *path, const char *wanted, saddle_read_line *read_line,
                                void *context, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_line_reader_close) saddle_line_reader in = {.path = path};
    SADDLE_TRY(saddle_line_reader_open(&in, path, wanted, error));
    while (saddle_line_reader_next_filled(&in, error))
        SADDLE_TRY(read_line(&in, context, error));
    return in.status;
}

/* Reads the next field as a whole number below a bound; `what` names it in messages. */
static saddle_status read_number(saddle_line_reader *in, const char *what, uint64_t bound,
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
    SADDLE_TRY(read_number(in, "a round", UINT64_C(1) << 53, form, out, error));
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
    SADDLE_TRY(read_number(in, "an agent", agents, form, &number, error));
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

/* The edges of a file, in its order. */
typedef struct located_edges {
    size_t agents; /* 0: any number */
    located_edge *edge;
    size_t count;
    size_t capacity;
} located_edges;

static saddle_status read_located(saddle_line_reader *in, void *context, saddle_error *error)
{
    located_edges *list = context;
    located_edge *grown = saddle_grow(list->edge, list->count, &list->capacity, sizeof *grown);
    SADDLE_TRY(saddle_check_memory(grown, "the graph's edges", error));
    list->edge = grown;
    located_edge *here = &grown[list->count++];
    here->line = in->number;
    return read_edge(in, list->agents, &here->edge, error);
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

/* Finds the number of agents where it is not given. */
static saddle_status count_agents(const char *path, const located_edges *list, size_t *agents,
                                  saddle_error *error)
{
    size_t largest = 0;
    for (size_t e = 0; e < list->count; e++)
        largest = saddle_larger(largest, list->edge[e].edge.b);
    if (list->count == 0)
        return saddle_refuse(error, "'%s' has no edges; write one `i j` per line", path);
    /* A single large number must not allocate memory for millions of agents. */
    if (largest >= 2 * list->count)
        return saddle_refuse(error,
                             "'%s' has %zu edge%s, too few for each of the agents 0 to %zu to have "
                             "one; number the agents without gaps",
                             path, list->count, SADDLE_PLURAL(list->count), largest);
    *agents = largest + 1;
    return SADDLE_OK;
}

void saddle_edges_read(saddle_edges *edges, const char *path, size_t *agents)
{
    located_edges list = {.agents = *agents};
    saddle_status status =
        saddle_read_lines(path, SADDLE_WANTED_TEXT_FILE, read_located, &list, edges->error);
    SADDLE_THEN(status, check_distinct(path, &list, edges->error));
    SADDLE_THEN_IF(status, *agents == 0, count_agents(path, &list, agents, edges->error));
    edges->status = status;
    for (size_t e = 0; e < list.count && edges->status == SADDLE_OK; e++)
        saddle_edges_add(edges, list.edge[e].edge.a, list.edge[e].edge.b);
    saddle_free(list.edge);
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

/* A matrix that is being read, row by row. */
typedef struct matrix {
    const saddle_graph *graph;
    double tolerance;
    double *weight;
    double *diagonal;
    size_t row;
} matrix;

/* Reads entry (i, j), written as `word`; k runs along agent i's neighbours. */
static saddle_status take_entry(matrix *m, const saddle_line_reader *in, const char *word, size_t j,
                                size_t *k, saddle_error *error)
{
    double value;
    size_t i = m->row;
    if (!saddle_parse_real(word, &value))
        return saddle_line_reader_refuse(in, word, error, "'%s' is not a finite number",
                                         SADDLE_EXCERPT(word));
    bool edge = *k < m->graph->start[i + 1] && m->graph->neighbour[*k] == j;
    if (i == j)
        m->diagonal[i] = value;
    else if (edge)
        m->weight[(*k)++] = value;
    else if (!(fabs(value) <= m->tolerance))
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

static saddle_status read_row(saddle_line_reader *in, void *context, saddle_error *error)
{
    matrix *m = context;
    size_t agents = m->graph->agents;
    if (m->row == agents)
        return saddle_line_reader_refuse(in, in->line, error, "a row after the matrix's %zu",
                                         agents);
    size_t k = m->graph->start[m->row];
    size_t j = 0;
    const char *word;
    for (; (word = saddle_line_reader_field(in, " \t,")) != NULL; j++) {
        if (j == agents)
            return saddle_line_reader_refuse(
                in, word, error, "'%s' follows the row's %zu %s; give one per agent",
                SADDLE_EXCERPT(word), agents, agents == 1 ? "entry" : "entries");
        SADDLE_TRY(take_entry(m, in, word, j, &k, error));
    }
    if (j < agents)
        return saddle_line_reader_refuse(in, in->rest, error,
                                         "the row ends after %zu %s; give one per agent, %zu", j,
                                         j == 1 ? "entry" : "entries", agents);
    m->row++;
    return SADDLE_OK;
}

saddle_status saddle_matrix_read(const saddle_graph *graph, const char *path, double tolerance,
                                 double *weight, double *diagonal, saddle_error *error)
{
    matrix m = {.graph = graph, .tolerance = tolerance, .weight = weight, .diagonal = diagonal};
    SADDLE_TRY(saddle_read_lines(path, SADDLE_WANTED_TEXT_FILE, read_row, &m, error));
    if (m.row == graph->agents)
        return SADDLE_OK;
    return saddle_refuse(error, "'%s' has %zu row%s; the matrix must have one per agent, %zu", path,
                         m.row, SADDLE_PLURAL(m.row), graph->agents);
}
