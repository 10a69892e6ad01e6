#include "result_tables.h"

#include <math.h>
#include <stdio.h>

#include "cli.h"
#include "core/print.h"

/* ---- comparisons --------------------------------------------------------------------------- */

/* A quantity over repeats. */
typedef struct spread {
    size_t count;
    double sum, low, high;
} spread;

/* The columns of a table that have a spread. */
#define SPREADS 4

/* Add a repeat's values to the spreads of a row. */
static void spread_add(spread s[SPREADS], const double value[SPREADS])
{
    for (size_t k = 0; k < SPREADS; k++) {
        s[k].low = s[k].count == 0 ? value[k] : fmin(s[k].low, value[k]);
        s[k].high = s[k].count == 0 ? value[k] : fmax(s[k].high, value[k]);
        s[k].sum += value[k];
        s[k].count++;
    }
}

/* How a quantity is written. */
typedef const char *writer(double value, char out[CLI_NUMBER]);

static const char *write_count(double value, char out[CLI_NUMBER])
{
    saddle_snprintf(out, CLI_NUMBER, "%.0f", value);
    return out;
}

static const char *write_metric(double value, char out[CLI_NUMBER])
{
    saddle_snprintf(out, CLI_NUMBER, "%.4e", value);
    return out;
}

static const char *write_seconds(double value, char out[CLI_NUMBER])
{
    saddle_snprintf(out, CLI_NUMBER, "%.3f", value);
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
    static writer *const write[SPREADS] = {write_count, write_count, saddle_bytes_text,
                                           write_seconds};
    bool several = c->repeats > 1;
    cli_table *table = cli_table_create(several ? "lrrrrr" : "lrrrr");
    cli_table_words(table, "algorithm", "IFO", "rounds", "bytes", "seconds");
    if (several)
        cli_table_add(table, "reached");
    for (size_t a = 0; a < c->names.count; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->names.algorithm[a], several ? 5 : 4);
            continue;
        }
        spread cost[SPREADS] = {{0}};
        for (size_t r = 0; r < c->repeats; r++) {
            const saddle_row *row = saddle_comparison_reached(&c->run[a * c->repeats + r], level);
            if (row != NULL)
                spread_add(cost, (double[]){(double)row->cost.ifo, (double)row->cost.rounds,
                                            (double)row->cost.bytes, row->seconds});
        }
        cli_table_add(table, "%s", c->names.algorithm[a]->name);
        for (size_t k = 0; k < SPREADS; k++)
            add_spread(table, &cost[k], c->repeats, write[k]);
        if (several)
            cli_table_add(table, "%zu of %zu", cost[0].count, c->repeats);
    }
    cli_print("\nto reach metric <= %g\n", level);
    cli_table_print(table);
}

/* How the runs of an algorithm ended: one reason, or how many diverged. */
static void add_ending(cli_table *table, const comparison *c, size_t algorithm)
{
    const comparison_run *run = &c->run[algorithm * c->repeats];
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
    static writer *const write[SPREADS] = {write_count, write_count, write_seconds, write_metric};
    cli_table *table = cli_table_create("lrrrrl");
    cli_table_words(table, "algorithm", "iterations", "IFO", "seconds", "metric", "ended");
    for (size_t a = 0; a < c->names.count; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->names.algorithm[a], 4);
            cli_table_add(table, "%s: %s", c->failed[a] ? "failed" : "refused", c->refused[a]);
            continue;
        }
        spread end[SPREADS] = {{0}};
        for (size_t r = 0; r < c->repeats; r++) {
            const comparison_run *run = &c->run[a * c->repeats + r];
            if (run->row_count == 0)
                continue;
            const saddle_row *row = &run->rows[run->row_count - 1];
            spread_add(end, (double[]){(double)row->iteration, (double)row->cost.ifo, row->seconds,
                                       row->metric});
        }
        cli_table_add(table, "%s", c->names.algorithm[a]->name);
        /* All but the metric are sums over the repeats. */
        for (size_t k = 0; k < SPREADS; k++)
            add_spread(table, &end[k], k + 1 < SPREADS ? 1 : c->repeats, write[k]);
        add_ending(table, c, a);
    }
    cli_print("\nat the end%s\n",
              c->repeats > 1 ? " (iterations, IFO and seconds of all repeats)" : "");
    cli_table_print(table);
}

void cli_print_comparison(const comparison *c)
{
    for (size_t k = 0; k < c->levels; k++)
        print_level(c, c->level[k]);
    print_ends(c);
}

/* ---- theorems ------------------------------------------------------------------------------ */

static double seed_mean(const double *value, size_t count)
{
    return saddle_statistics_summarize(value, count, THEOREM_CONFIDENCE).mean;
}

void cli_print_theorem(const theorem_check *v)
{
    cli_table *table = cli_table_create("rrrrrr");
    cli_table_words(table, "T", "mean metric", "bound", "potential", "bound", "worst seed");
    for (size_t p = 0; p < THEOREM_POINTS; p++) {
        const theorem_point *point = &v->point[p];
        statistics_mean excess =
            saddle_statistics_summarize(point->average_excess, v->seeds, THEOREM_CONFIDENCE);
        cli_table_add(table, "%.0f", point->iterations);
        cli_table_add(table, "%.4g", seed_mean(point->average, v->seeds));
        cli_table_add(table, "%.4g", seed_mean(point->average_bound, v->seeds));
        cli_table_add(table, "%.5g", seed_mean(point->potential, v->seeds));
        cli_table_add(table, "%.5g", seed_mean(point->potential_bound, v->seeds));
        cli_table_add(table, "%.3g of the bound", excess.most + 1.0);
    }
    cli_print("\nTheorem %d (%s), means over %zu seed%s: %s\n", v->plus ? 2 : 1,
              v->plus ? "PRECISION+" : "PRECISION", v->seeds, v->seeds == 1 ? "" : "s",
              saddle_theorem_violated(v) ? "VIOLATED" : "respected");
    cli_table_print(table);
}

/* ---- claims -------------------------------------------------------------------------------- */

void cli_print_claims(const reproduction *r)
{
    cli_table *table = cli_table_create("lrrr");
    cli_table_words(table, "experiment", "hold", "do not", "not decided");
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        cli_table_add(table, "%s", e->name);
        for (int verdict = CLAIM_HOLDS; verdict <= CLAIM_UNDECIDED; verdict++)
            cli_table_add(table, "%zu", saddle_reproduction_count(r, e, (claim_verdict)verdict));
    }
    cli_print("\nclaims\n");
    cli_table_print(table);
    for (size_t k = 0; k < r->claims; k++)
        if (r->claim[k].verdict == CLAIM_FAILS) {
            cli_print("\ndoes not hold: ");
            cli_wrap(stdout, r->claim[k].statement, 15, 2, cli_width(1));
            cli_print("  ");
            cli_wrap(stdout, r->claim[k].numbers, 2, 2, cli_width(1));
        }
}
