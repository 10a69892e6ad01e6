#include "comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/text.h"
#include "files/file.h"

void saddle_comparison_release(comparison *c)
{
    saddle_unlock_directory(c->held);
    for (size_t k = 0; c->run != NULL && k < c->names.count * c->repeats; k++) {
        saddle_free(c->run[k].rows);
        saddle_free(c->run[k].outcomes);
    }
    free(c->run);
    for (size_t a = 0; a < c->names.count; a++)
        saddle_free(c->refused[a]);
    saddle_algorithm_names_release(&c->names);
}

const saddle_row *saddle_comparison_reached(const comparison_run *run, double level)
{
    size_t k = run->row_count > 0 ? saddle_levels_reached(&run->rows->metric, sizeof *run->rows,
                                                          run->row_count, level)
                                  : 0;
    return k < run->row_count ? &run->rows[k] : NULL;
}

bool saddle_comparison_is_simulated(const comparison *c)
{
    for (size_t k = 0; k < c->names.count * c->repeats; k++)
        if (c->run[k].row_count > 0)
            return !isnan(c->run[k].rows[0].cost.network_seconds);
    return false;
}

/* ---- levels -------------------------------------------------------------------------------- */

void saddle_comparison_choose_levels(comparison *c)
{
    saddle_metric_range range = {.runs = 0};
    for (size_t k = 0; k < c->names.count * c->repeats; k++) {
        const comparison_run *run = &c->run[k];
        if (run->row_count > 0)
            saddle_metric_range_add(&range, run->rows[0].metric,
                                    run->rows[run->row_count - 1].metric);
    }
    c->levels = saddle_levels_choose(&range, c->level);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Writes the costs, metric and outcomes of a run at a row; NULL: it never came there. */
static void write_row(FILE *f, const comparison *c, const comparison_run *run,
                      const saddle_row *row)
{
    char number[SADDLE_REAL_SIZE];
    bool simulated = saddle_comparison_is_simulated(c);
    if (row == NULL) {
        fputs(simulated ? "never,never,never,never,never," : "never,never,never,never,", f);
        for (size_t k = 0; k < c->outcome_count; k++)
            fputc(',', f);
    } else {
        const double *outcomes = run->outcomes + (size_t)(row - run->rows) * c->outcome_count;
        saddle_fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g", row->cost.ifo,
                       row->cost.rounds, row->cost.bytes, row->seconds);
        if (simulated)
            saddle_fprintf(f, ",%.17g", row->cost.network_seconds);
        saddle_fprintf(f, ",%.17g", row->metric);
        for (size_t k = 0; k < c->outcome_count; k++)
            saddle_fprintf(f, ",%s",
                           isnan(outcomes[k]) ? "" : saddle_print_real(outcomes[k], 17, number));
    }
    fputc('\n', f);
}

static void write_rows(FILE *f, const void *context)
{
    const comparison *c = context;
    saddle_fprintf(f, "algorithm,seed,level,ifo,rounds,bytes,seconds%s,metric",
                   saddle_comparison_is_simulated(c) ? ",network_seconds" : "");
    for (size_t k = 0; k < c->outcome_count; k++)
        saddle_fprintf(f, ",%s", c->outcome[k].name);
    fputc('\n', f);
    for (size_t a = 0; a < c->names.count; a++)
        for (size_t r = 0; r < c->repeats; r++) {
            const comparison_run *run = &c->run[a * c->repeats + r];
            for (size_t k = 0; run->done && k <= c->levels; k++) {
                bool end = k == c->levels;
                char level[SADDLE_REAL_SIZE];
                saddle_fprintf(f, "%s,%" PRIu64 ",%s,", c->names.algorithm[a]->name,
                               c->first_seed + (uint64_t)r,
                               end ? "end" : saddle_print_real(c->level[k], 15, level));
                write_row(f, c, run,
                          end ? &run->rows[run->row_count - 1]
                              : saddle_comparison_reached(run, c->level[k]));
            }
        }
}

saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error)
{
    return saddle_output_save(path, write_rows, c, error);
}
