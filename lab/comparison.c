#include "lab/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/print.h"
#include "files/file.h"
#include "lab/metric_levels.h"
#include "lab/number_text.h"

void saddle_comparison_release(comparison *c)
{
    saddle_let_go(c->held);
    for (size_t k = 0; c->run != NULL && k < c->names.count * c->repeats; k++)
        saddle_free(c->run[k].rows);
    free(c->run);
    for (size_t a = 0; a < c->names.count; a++)
        saddle_free(c->refused[a]);
    saddle_algorithm_names_release(&c->names);
}

const saddle_row *saddle_comparison_reached(const comparison_run *run, double level)
{
    for (size_t k = 0; k < run->row_count; k++)
        if (run->rows[k].metric <= level)
            return &run->rows[k];
    return NULL;
}

/* ---- levels -------------------------------------------------------------------------------- */

/* The largest first and the smallest metric of all runs. */
static bool metric_range(const comparison *c, double *start, double *best)
{
    *start = 0.0;
    *best = (double)INFINITY;
    for (size_t k = 0; k < c->names.count * c->repeats; k++)
        for (size_t j = 0; j < c->run[k].row_count; j++) {
            double metric = c->run[k].rows[j].metric;
            if (j == 0)
                *start = fmax(*start, metric);
            *best = fmin(*best, metric);
        }
    return isfinite(*best);
}

void saddle_comparison_choose_levels(comparison *c)
{
    double start;
    double best;
    c->levels = metric_range(c, &start, &best) ? saddle_levels_choose(start, best, c->level) : 0;
}

/* ---- the file ------------------------------------------------------------------------------ */

static void write_rows(FILE *f, const void *context)
{
    const comparison *c = context;
    fputs("algorithm,seed,level,ifo,rounds,bytes,seconds\n", f);
    for (size_t a = 0; a < c->names.count; a++)
        for (size_t r = 0; r < c->repeats; r++) {
            const comparison_run *run = &c->run[a * c->repeats + r];
            for (size_t k = 0; run->done && k < c->levels; k++) {
                const saddle_row *row = saddle_comparison_reached(run, c->level[k]);
                char level[NUMBER_TEXT];
                saddle_fprintf(f, "%s,%" PRIu64 ",%s,", c->names.algorithm[a]->name,
                               c->first_seed + (uint64_t)r,
                               saddle_print_real(c->level[k], 15, level));
                if (row == NULL)
                    fputs("never,never,never,never\n", f);
                else
                    saddle_fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g\n", row->cost.ifo,
                                   row->cost.rounds, row->cost.bytes, row->seconds);
            }
        }
}

saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error)
{
    return saddle_output_save(path, write_rows, c, error);
}
