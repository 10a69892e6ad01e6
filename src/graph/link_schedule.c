/*
 * Schedules of when each edge works.
 *
 *     # round  i j
 *     0  0 1
 *     0  2 3
 *     5  1 2
 *     9
 *
 * From round 0 on, edges 0-1 and 2-3 work; from round 5 on, only 1-2; from round 9 on, none. Before the
 * first round in the file, all edges work.
 */
#include <inttypes.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "files/line_reader.h"
#include "graph/link_rule.h"

/* Parses a whole number below a bound. `what` names it in messages. */
static saddle_status read_number(saddle_line_reader *in, const char *word, const char *what,
                                 uint64_t bound, uint64_t *out, saddle_error *error)
{
    if (word == NULL)
        return saddle_line_reader_refuse(
            in, in->rest, error,
            "the line ends before %s; a line is `round i j`, or `round` "
            "alone where no edge works",
            what);
    if (word[strspn(word, "0123456789")] == '\0' && saddle_parse_integer(word, out) && *out < bound)
        return SADDLE_OK;
    return saddle_line_reader_refuse(in, word, error,
                                     "'%s' is not %s; it must be a whole number from 0 to %" PRIu64,
                                     SADDLE_EXCERPT(word), what, bound - 1);
}

/* Returns the position of neighbour j of agent i in the graph; SIZE_MAX when there is no such edge. */
static size_t position_of(const saddle_graph *graph, size_t i, size_t j)
{
    for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
        if (graph->neighbour[k] == j)
            return k;
    return SIZE_MAX;
}

/* Begins a step in which no edge works. */
static bool add_step(saddle_link_rule *rule, size_t *capacity, uint64_t round, size_t width)
{
    if (rule->steps == *capacity) {
        size_t wanted = *capacity > 0 ? 2 * *capacity : 16;
        uint64_t *from = saddle_alloc(wanted, sizeof *from);
        unsigned char *works = saddle_alloc(wanted, width);
        if (from == NULL || works == NULL) {
            saddle_free(from);
            saddle_free(works);
            return false;
        }
        if (rule->steps > 0) {
            memcpy(from, rule->from, rule->steps * sizeof *from);
            memcpy(works, rule->works, rule->steps * width);
        }
        saddle_free(rule->from);
        saddle_free(rule->works);
        rule->from = from;
        rule->works = works;
        *capacity = wanted;
    }
    rule->from[rule->steps++] = round;
    return true;
}

static saddle_status read_edge(saddle_line_reader *in, const saddle_graph *graph, char *word,
                               unsigned char *works, saddle_error *error)
{
    uint64_t i = 0;
    uint64_t j = 0;
    SADDLE_TRY(read_number(in, word, "an agent", graph->agents, &i, error));
    word = saddle_line_reader_field(in, " \t");
    SADDLE_TRY(read_number(in, word, "an agent", graph->agents, &j, error));
    size_t there = position_of(graph, (size_t)i, (size_t)j);
    if (there == SIZE_MAX)
        return saddle_line_reader_refuse(in, word, error,
                                         "agents %" PRIu64 " and %" PRIu64
                                         " are not linked; add the edge to the topology",
                                         i, j);
    works[there] = works[position_of(graph, (size_t)j, (size_t)i)] = 1;
    word = saddle_line_reader_field(in, " \t");
    return word == NULL ? SADDLE_OK
                        : saddle_line_reader_refuse(in, word, error,
                                                    "'%s' follows the edge; a line is `round i j`",
                                                    SADDLE_EXCERPT(word));
}

static saddle_status read_line(saddle_line_reader *in, saddle_link_rule *rule, size_t *capacity,
                               const saddle_graph *graph, saddle_error *error)
{
    uint64_t round = 0;
    size_t width = 2 * graph->edges;
    char *word = saddle_line_reader_field(in, " \t");
    SADDLE_TRY(read_number(in, word, "a round", UINT64_C(1) << 53, &round, error));
    if (rule->steps > 0 && round < rule->from[rule->steps - 1])
        return saddle_line_reader_refuse(in, word, error,
                                         "round %" PRIu64 " follows round %" PRIu64
                                         "; put the lines in the order of their rounds",
                                         round, rule->from[rule->steps - 1]);
    if ((rule->steps == 0 || round > rule->from[rule->steps - 1]) &&
        !add_step(rule, capacity, round, width))
        return saddle_no_memory(error, "the schedule");
    word = saddle_line_reader_field(in, " \t");
    return word != NULL ? read_edge(in, graph, word, rule->works + (rule->steps - 1) * width, error)
                        : SADDLE_OK;
}

saddle_status saddle_link_schedule_read(saddle_link_rule *rule, const saddle_graph *graph,
                                        saddle_error *error)
{
    saddle_line_reader in;
    size_t capacity = 0;
    saddle_status status =
        saddle_line_reader_open(&in, rule->tail, "the path of a text file", error);
    while (status == SADDLE_OK && saddle_line_reader_next(&in, error)) {
        in.line[strcspn(in.line, "#")] = '\0';
        if (in.line[strspn(in.line, " \t")] != '\0')
            status = read_line(&in, rule, &capacity, graph, error);
    }
    SADDLE_THEN(status, in.status);
    saddle_line_reader_close(&in);
    return status;
}
