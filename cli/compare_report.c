/*
 * Costs at metric levels: tables and summary.csv of `saddle compare`.
 *
 * The cost at a level is that of the first row of the trace whose metric is at most the level; it
 * is therefore as fine as --trace-every.
 */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

saddle_status compare_keep(compare_run *run, const saddle_result *result, saddle_error *error)
{
    run->rows = malloc(result->row_count * sizeof *run->rows);
    if (run->rows == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %zu rows of a trace",
                           result->row_count);
    memcpy(run->rows, result->rows, result->row_count * sizeof *run->rows);
    run->row_count = result->row_count;
    run->stop = result->stop;
    run->done = true;
    return SADDLE_OK;
}

void compare_release(comparison *c)
{
    for (size_t k = 0; c->run != NULL && k < c->algorithms * c->repeats; k++)
        free(c->run[k].rows);
    free(c->run);
    for (size_t a = 0; a < c->algorithms; a++)
        free(c->refused[a]);
}

const saddle_row *compare_reached(const compare_run *run, double level)
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
    for (size_t k = 0; k < c->algorithms * c->repeats; k++)
        for (size_t j = 0; j < c->run[k].row_count; j++) {
            double metric = c->run[k].rows[j].metric;
            if (j == 0)
                *start = fmax(*start, metric);
            *best = fmin(*best, metric);
        }
    return isfinite(*best);
}

void compare_choose_levels(comparison *c)
{
    double start;
    double best;
    c->levels = metric_range(c, &start, &best) ? levels_choose(start, best, c->level) : 0;
}

/* ---- tables -------------------------------------------------------------------------------- */

/* A quantity over repeats. */
typedef struct spread {
    size_t count;
    double sum, low, high;
} spread;

static void spread_add(spread *s, double value)
{
    s->low = s->count == 0 ? value : fmin(s->low, value);
    s->high = s->count == 0 ? value : fmax(s->high, value);
    s->sum += value;
    s->count++;
}

/* How a quantity is written. */
typedef const char *writer(double value, char out[CLI_NUMBER]);

static const char *write_count(double value, char out[CLI_NUMBER])
{
    snprintf(out, CLI_NUMBER, "%.0f", value);
    return out;
}

static const char *write_metric(double value, char out[CLI_NUMBER])
{
    snprintf(out, CLI_NUMBER, "%.4e", value);
    return out;
}

static const char *write_seconds(double value, char out[CLI_NUMBER])
{
    snprintf(out, CLI_NUMBER, "%.3f", value);
    return out;
}

/* "12" or, over several, "12 (10-15)". */
static void add_spread(cli_table *table, const spread *s, size_t repeats, writer *write)
{
    char mean[CLI_NUMBER];
    char low[CLI_NUMBER];
    char high[CLI_NUMBER];
    if (s->count == 0)
        cli_table_add(table, "never");
    else if (repeats == 1)
        cli_table_add(table, "%s", write(s->sum, mean));
    else
        cli_table_add(table, "%s (%s-%s)", write(s->sum / (double)s->count, mean),
                      write(s->low, low), write(s->high, high));
}

/* An algorithm that was not run. */
static void add_dashes(cli_table *table, const saddle_algorithm *algorithm, size_t columns)
{
    cli_table_add(table, "%s", algorithm->name);
    for (size_t k = 0; k < columns; k++)
        cli_table_add(table, "-");
}

static void print_level(const comparison *c, double level)
{
    bool several = c->repeats > 1;
    cli_table *table = cli_table_create(several ? "lrrrrr" : "lrrrr");
    cli_table_add(table, "algorithm");
    cli_table_add(table, "IFO");
    cli_table_add(table, "rounds");
    cli_table_add(table, "bytes");
    cli_table_add(table, "seconds");
    if (several)
        cli_table_add(table, "reached");
    for (size_t a = 0; a < c->algorithms; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->algorithm[a], several ? 5 : 4);
            continue;
        }
        spread ifo = {0};
        spread rounds = {0};
        spread bytes = {0};
        spread seconds = {0};
        for (size_t r = 0; r < c->repeats; r++) {
            const saddle_row *row = compare_reached(&c->run[a * c->repeats + r], level);
            if (row == NULL)
                continue;
            spread_add(&ifo, (double)row->cost.ifo);
            spread_add(&rounds, (double)row->cost.rounds);
            spread_add(&bytes, (double)row->cost.bytes);
            spread_add(&seconds, row->seconds);
        }
        cli_table_add(table, "%s", c->algorithm[a]->name);
        add_spread(table, &ifo, c->repeats, write_count);
        add_spread(table, &rounds, c->repeats, write_count);
        add_spread(table, &bytes, c->repeats, cli_bytes);
        add_spread(table, &seconds, c->repeats, write_seconds);
        if (several)
            cli_table_add(table, "%zu of %zu", ifo.count, c->repeats);
    }
    printf("\nto reach metric <= %g\n", level);
    cli_table_print(table);
}

/* How the runs of an algorithm ended: one reason, or how many diverged. */
static void add_ending(cli_table *table, const comparison *c, size_t algorithm)
{
    const compare_run *run = &c->run[algorithm * c->repeats];
    size_t diverged = 0;
    size_t done = 0;
    bool same = true;
    for (size_t r = 0; r < c->repeats; r++) {
        done += run[r].done;
        diverged += run[r].done && run[r].stop == SADDLE_STOP_DIVERGED;
        same = same && run[r].done == run[0].done && run[r].stop == run[0].stop;
    }
    if (done == 0)
        cli_table_add(table, "not run");
    else if (same)
        cli_table_add(table, "%s", saddle_stop_text(run[0].stop));
    else if (diverged > 0)
        cli_table_add(table, "diverged in %zu of %zu runs", diverged, done);
    else
        cli_table_add(table, "%zu of %zu runs made", done, c->repeats);
}

static void print_ends(const comparison *c)
{
    cli_table *table = cli_table_create("lrrrrl");
    const char *const heading[] = {"algorithm", "iterations", "IFO", "seconds", "metric", "ended"};
    for (size_t k = 0; k < sizeof heading / sizeof *heading; k++)
        cli_table_add(table, "%s", heading[k]);
    for (size_t a = 0; a < c->algorithms; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->algorithm[a], 4);
            cli_table_add(table, "%s: %s", c->failed[a] ? "failed" : "refused", c->refused[a]);
            continue;
        }
        spread iterations = {0};
        spread ifo = {0};
        spread seconds = {0};
        spread metric = {0};
        for (size_t r = 0; r < c->repeats; r++) {
            const compare_run *run = &c->run[a * c->repeats + r];
            if (run->row_count == 0)
                continue;
            const saddle_row *row = &run->rows[run->row_count - 1];
            spread_add(&iterations, (double)row->iteration);
            spread_add(&ifo, (double)row->cost.ifo);
            spread_add(&seconds, row->seconds);
            spread_add(&metric, row->metric);
        }
        cli_table_add(table, "%s", c->algorithm[a]->name);
        add_spread(table, &iterations, 1, write_count);
        add_spread(table, &ifo, 1, write_count);
        add_spread(table, &seconds, 1, write_seconds);
        add_spread(table, &metric, c->repeats, write_metric);
        add_ending(table, c, a);
    }
    printf("\nat the end%s\n",
           c->repeats > 1 ? " (iterations, IFO and seconds of all repeats)" : "");
    cli_table_print(table);
}

void compare_print(const comparison *c)
{
    for (size_t k = 0; k < c->levels; k++)
        print_level(c, c->level[k]);
    print_ends(c);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* With as many digits as it takes to read back equal. */
static const char *write_level(double level, char out[CLI_NUMBER])
{
    double back = -1.0;
    for (int digits = 15; digits <= 17 && back != level; digits++) {
        snprintf(out, CLI_NUMBER, "%.*g", digits, level);
        if (!saddle_parse_real(out, &back))
            back = -1.0;
    }
    return out;
}

static void write_rows(FILE *f, const void *context)
{
    const comparison *c = context;
    fputs("algorithm,seed,level,ifo,rounds,bytes,seconds\n", f);
    for (size_t a = 0; a < c->algorithms; a++)
        for (size_t r = 0; r < c->repeats; r++) {
            const compare_run *run = &c->run[a * c->repeats + r];
            for (size_t k = 0; run->done && k < c->levels; k++) {
                const saddle_row *row = compare_reached(run, c->level[k]);
                char level[CLI_NUMBER];
                fprintf(f, "%s,%" PRIu64 ",%s,", c->algorithm[a]->name, c->first_seed + (uint64_t)r,
                        write_level(c->level[k], level));
                if (row == NULL)
                    fputs("never,never,never,never\n", f);
                else
                    fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g\n", row->cost.ifo,
                            row->cost.rounds, row->cost.bytes, row->seconds);
            }
        }
}

saddle_status compare_save(const comparison *c, const char *path, saddle_error *error)
{
    return cli_save(path, write_rows, c, error);
}
