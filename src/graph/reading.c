/* Strict reading of edge lists and mixing matrices, and writing of edge lists. */
#include "graph/reading.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "files/file.h"

/* ---- a file as lines of words ---- */

typedef struct reader {
    const char *path;
    FILE *stream;
    char *line; /* owned; grown by getline */
    size_t capacity;
    size_t number; /* of the line, from 1 */
    char *rest;    /* what is left of the line */
    /* The word last read, ended by a NUL of its own, and its column from 1. */
    char word[64];
    size_t column;
    bool first; /* no word of the line has been read */
    bool commas;
} reader;

static saddle_status reader_open(reader *in, const char *path, bool commas, saddle_error *error)
{
    memset(in, 0, sizeof *in);
    in->path = path;
    in->commas = commas;
    return saddle_reading_open(&in->stream, path, "the path of a text file", error);
}

static void reader_close(reader *in)
{
    if (in->stream != NULL)
        fclose(in->stream);
    /* getline's memory is the C library's. */
    free(in->line);
}

/* Go to the next line; `*more` is false at the end of the file. */
static saddle_status next_line(reader *in, bool *more, saddle_error *error)
{
    errno = 0;
    ssize_t length = getline(&in->line, &in->capacity, in->stream);
    *more = length >= 0;
    if (length < 0) {
        if (feof(in->stream) && !ferror(in->stream))
            return SADDLE_OK;
        int reason = errno;
        return saddle_fail(error, SADDLE_IO,
                           "cannot read '%s' beyond line %zu: %s; give the path of a text file",
                           in->path, in->number, strerror(reason));
    }
    in->number++;
    if (in->number == 1 && length >= 3 && memcmp(in->line, "\xef\xbb\xbf", 3) == 0) {
        length -= 3;
        memmove(in->line, in->line + 3, (size_t)length + 1);
    }
    /* A NUL would hide what follows it. */
    for (ssize_t k = 0; k < length; k++)
        if (in->line[k] == '\0')
            in->line[k] = '\x01';
    if (length > 0 && in->line[length - 1] == '\n')
        in->line[--length] = '\0';
    if (length > 0 && in->line[length - 1] == '\r')
        in->line[--length] = '\0';
    char *comment = strchr(in->line, '#');
    if (comment != NULL)
        *comment = '\0';
    in->rest = in->line;
    in->first = true;
    return SADDLE_OK;
}

static void skip_blanks(reader *in)
{
    in->rest += strspn(in->rest, " \t");
}

/* Read the next word; false at the end of the line. A comma with nothing after it gives an empty
 * word. A word too long for a number is cut to one that is none. */
static bool next_word(reader *in)
{
    skip_blanks(in);
    if (*in->rest == '\0')
        return false;
    if (in->commas && !in->first && *in->rest == ',') {
        in->rest++;
        skip_blanks(in);
    }
    in->first = false;
    in->column = (size_t)(in->rest - in->line) + 1;
    size_t length = strcspn(in->rest, in->commas ? " \t," : " \t");
    size_t kept = length < sizeof in->word ? length : sizeof in->word - 1;
    for (size_t k = 0; k < kept; k++)
        in->word[k] = (char)(isprint((unsigned char)in->rest[k]) ? in->rest[k] : '?');
    in->word[kept] = '\0';
    if (kept < length)
        memcpy(in->word + kept - 3, "...", 3);
    in->rest += length;
    return true;
}

/* Refuse the word last read, or the end of the line when there was none. */
#define refuse_word(in, error, ...) \
    refuse_at((in), (in)->number, (in)->column, (error), __VA_ARGS__)

static saddle_status refuse_at(const reader *in, size_t line, size_t column, saddle_error *error,
                               const char *format, ...) SADDLE_PRINTF(5, 6);

static saddle_status refuse_at(const reader *in, size_t line, size_t column, saddle_error *error,
                               const char *format, ...)
{
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return saddle_fail(error, SADDLE_BAD_INPUT, "'%s', line %zu, column %zu: %s", in->path, line,
                       column, reason);
}

/* ---- edge lists ---- */

/* One end of an edge. */
static saddle_status read_agent(reader *in, size_t agents, size_t *out, saddle_error *error)
{
    if (!next_word(in)) {
        in->column = strlen(in->line) + 1;
        return refuse_word(in, error,
                           "the line ends after one number; an edge is two agents `i j`");
    }
    uint64_t value;
    if (in->word[strspn(in->word, "0123456789")] != '\0' || !saddle_parse_integer(in->word, &value))
        return refuse_word(in, error, "'%s' is not an agent; agents are whole numbers from 0",
                           in->word);
    size_t most = agents != 0 ? agents : SADDLE_MAX_AGENTS;
    if (value >= most)
        return refuse_word(in, error, "agent %" PRIu64 " is out of range; agents go from 0 to %zu",
                           value, most - 1);
    *out = (size_t)value;
    return SADDLE_OK;
}

/* The edge of the current line; `*found` is false when the line is blank. */
static saddle_status read_edge(reader *in, size_t agents, saddle_edge *edge, bool *found,
                               saddle_error *error)
{
    skip_blanks(in);
    *found = *in->rest != '\0';
    if (!*found)
        return SADDLE_OK;
    size_t a = 0;
    size_t b = 0;
    saddle_status status = read_agent(in, agents, &a, error);
    if (status == SADDLE_OK)
        status = read_agent(in, agents, &b, error);
    if (status != SADDLE_OK)
        return status;
    if (a == b)
        return refuse_word(in, error, "agent %zu is linked with itself; remove the line", a);
    if (next_word(in))
        return refuse_word(in, error, "'%s' follows the edge; a line holds two agents `i j` only",
                           in->word);
    *edge =
        a < b ? (saddle_edge){(uint32_t)a, (uint32_t)b} : (saddle_edge){(uint32_t)b, (uint32_t)a};
    return SADDLE_OK;
}

/* An edge and where it was read. */
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

static saddle_status append_located(located_edges *list, saddle_edge edge, size_t line,
                                    saddle_error *error)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        located_edge *grown = saddle_alloc(capacity, sizeof *grown);
        if (grown == NULL)
            return saddle_no_memory(error, "the graph's edges");
        if (list->edge != NULL)
            memcpy(grown, list->edge, list->count * sizeof *grown);
        saddle_free(list->edge);
        list->edge = grown;
        list->capacity = capacity;
    }
    list->edge[list->count++] = (located_edge){edge, line};
    return SADDLE_OK;
}

/* All edges of the file, in its order. */
static saddle_status read_located(reader *in, size_t agents, located_edges *list,
                                  saddle_error *error)
{
    for (;;) {
        bool more = false;
        bool found = false;
        saddle_edge edge = {0, 0};
        saddle_status status = next_line(in, &more, error);
        if (status != SADDLE_OK || !more)
            return status;
        status = read_edge(in, agents, &edge, &found, error);
        if (status == SADDLE_OK && found)
            status = append_located(list, edge, in->number, error);
        if (status != SADDLE_OK)
            return status;
    }
}

/* Refuse the first line that repeats an edge. Sorts the list. */
static saddle_status check_distinct(const reader *in, located_edges *list, saddle_error *error)
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
    return refuse_at(in, again->line, 1, error,
                     "the edge %u %u was given on line %zu already; remove one of the two",
                     again->edge.a, again->edge.b, again[-1].line);
}

saddle_status saddle_edges_read(saddle_edges *edges, const char *path, size_t *agents,
                                saddle_error *error)
{
    reader in;
    located_edges list = {0};
    saddle_status status = reader_open(&in, path, false, error);
    if (status == SADDLE_OK)
        status = read_located(&in, *agents, &list, error);
    if (status == SADDLE_OK)
        status = check_distinct(&in, &list, error);
    if (status == SADDLE_OK && *agents == 0 && list.count == 0)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "'%s' holds no edge; write one `i j` per line", path);
    size_t largest = 0;
    for (size_t e = 0; e < list.count && status == SADDLE_OK; e++) {
        saddle_edge edge = list.edge[e].edge;
        largest = edge.b > largest ? edge.b : largest;
        status = saddle_edges_add(edges, edge.a, edge.b, error);
    }
    if (status == SADDLE_OK && *agents == 0)
        *agents = largest + 1;
    reader_close(&in);
    saddle_free(list.edge);
    return status;
}

saddle_status saddle_graph_save(const saddle_graph *graph, const char *path, saddle_error *error)
{
    saddle_output out;
    saddle_status status = saddle_output_open(&out, path, error);
    if (status != SADDLE_OK)
        return status;
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            if (i < graph->neighbour[k])
                fprintf(out.stream, "%zu %zu\n", i, graph->neighbour[k]);
    /* A failed fprintf marks the stream, which commit looks at. */
    return saddle_output_commit(&out, error);
}

/* ---- matrices ---- */

/* Entry (i, j); k runs along agent i's neighbours. */
static saddle_status take_entry(const reader *in, const saddle_graph *graph, size_t i, size_t j,
                                double tolerance, size_t *k, double *weight, double *diagonal,
                                saddle_error *error)
{
    double value;
    if (!saddle_parse_real(in->word, &value))
        return refuse_word(in, error, "'%s' is not a finite number", in->word);
    bool edge = *k < graph->start[i + 1] && graph->neighbour[*k] == j;
    if (i == j)
        diagonal[i] = value;
    else if (edge)
        weight[(*k)++] = value;
    else if (!(fabs(value) <= tolerance))
        return refuse_word(in, error,
                           "weight %s between agents %zu and %zu, which no edge links; "
                           "it must be 0",
                           in->word, i, j);
    if ((i == j || edge) && !(value > 0.0))
        return refuse_word(in, error, "weight %s %s agents %zu and %zu; it must be positive",
                           in->word, edge ? "on the edge of" : "on the diagonal, of", i, j);
    return SADDLE_OK;
}

static saddle_status read_row(reader *in, const saddle_graph *graph, size_t i, double tolerance,
                              double *weight, double *diagonal, saddle_error *error)
{
    size_t k = graph->start[i];
    size_t j = 0;
    while (next_word(in)) {
        if (j == graph->agents)
            return refuse_word(in, error,
                               "'%s' follows the row's %zu entries; rows have one per "
                               "agent",
                               in->word, graph->agents);
        saddle_status status = take_entry(in, graph, i, j, tolerance, &k, weight, diagonal, error);
        if (status != SADDLE_OK)
            return status;
        j++;
    }
    if (j < graph->agents) {
        in->column = strlen(in->line) + 1;
        return refuse_word(in, error,
                           "the row ends after %zu entries; rows have one per agent, %zu", j,
                           graph->agents);
    }
    return SADDLE_OK;
}

saddle_status saddle_matrix_read(const saddle_graph *graph, const char *path, double tolerance,
                                 double *weight, double *diagonal, saddle_error *error)
{
    reader in;
    saddle_status status = reader_open(&in, path, true, error);
    bool more = status == SADDLE_OK;
    size_t row = 0;
    while (more && status == SADDLE_OK) {
        status = next_line(&in, &more, error);
        if (status != SADDLE_OK || !more)
            break;
        skip_blanks(&in);
        if (*in.rest == '\0')
            continue;
        if (row == graph->agents)
            status = refuse_at(&in, in.number, 1, error, "a row beyond the matrix's %zu", row);
        else
            status = read_row(&in, graph, row++, tolerance, weight, diagonal, error);
    }
    if (status == SADDLE_OK && row < graph->agents)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "'%s' has %zu rows; the matrix must have one per agent, %zu", path,
                             row, graph->agents);
    reader_close(&in);
    return status;
}
