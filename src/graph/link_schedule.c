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
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "graph/link_rule.h"
#include "graph/reading.h"

#define FORM "a line is `round i j`, or `round` alone where no edge works"

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

static saddle_status read_line(saddle_line_reader *in, saddle_link_rule *rule, size_t *capacity,
                               const saddle_graph *graph, saddle_error *error)
{
    uint64_t round = 0;
    uint64_t last = rule->steps > 0 ? rule->from[rule->steps - 1] : 0;
    size_t width = 2 * graph->edges;
    size_t agent[2];
    size_t position = 0;
    SADDLE_TRY(saddle_read_round(in, last, FORM, &round, error));
    if ((rule->steps == 0 || round > last) && !add_step(rule, capacity, round, width))
        return saddle_no_memory(error, "the schedule");
    if (in->rest[strspn(in->rest, " \t")] == '\0')
        return SADDLE_OK;
    SADDLE_TRY(saddle_read_link(in, graph, FORM, agent, &position, error));
    unsigned char *works = rule->works + (rule->steps - 1) * width;
    works[position] = works[saddle_graph_position(graph, agent[1], agent[0])] = 1;
    return saddle_read_end(in, FORM, error);
}

saddle_status saddle_link_schedule_read(saddle_link_rule *rule, const saddle_graph *graph,
                                        saddle_error *error)
{
    saddle_line_reader in;
    size_t capacity = 0;
    saddle_status status =
        saddle_line_reader_open(&in, rule->tail, "the path of a text file", error);
    while (status == SADDLE_OK && saddle_line_reader_next_filled(&in, error))
        status = read_line(&in, rule, &capacity, graph, error);
    SADDLE_THEN(status, in.status);
    saddle_line_reader_close(&in);
    return status;
}
