#include "result_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instance/settings.h"
#include "json_output.h"

/* ---- comparisons --------------------------------------------------------------------------- */

/* Mean and range of a quantity over the repeats. */
typedef struct seed_range {
    size_t count;
    double sum, low, high;
} seed_range;

/* The numbers of a run at its end, and its costs. The last cost exists only with a link model. */
#define END_NUMBERS 4
#define MOST_COSTS 5
/* Follows the name of an algorithm that runs with default step sizes. */
#define UNTUNED_MARK " *"

static void range_add(seed_range *s, double value)
{
    s->low = s->count == 0 ? value : fmin(s->low, value);
    s->high = s->count == 0 ? value : fmax(s->high, value);
    s->sum += value;
    s->count++;
}

/* Adds the values of a repeat to the ranges of a row. */
static void range_add_all(seed_range *s, size_t count, const double *value)
{
    for (size_t k = 0; k < count; k++)
        range_add(&s[k], value[k]);
}

/* Formats a quantity. */
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

/* Adds a cell: "12" or, for several repeats, "12 (10-15)" or "2e-06 (1e-06 to 3e-06)"; `none` without any value. */
static void add_range(cli_table *table, const seed_range *s, size_t repeats, writer *write,
                      const char *none)
{
    char mean[CLI_NUMBER];
    char low[CLI_NUMBER];
    char high[CLI_NUMBER];
    if (s->count == 0) {
        cli_table_add(table, "%s", none);
    } else if (repeats == 1) {
        cli_table_add(table, "%s", write(s->sum, mean));
    } else {
        write(s->low, low);
        cli_table_add(table, "%s (%s%s%s)", write(s->sum / (double)s->count, mean), low,
                      strpbrk(low, "e-") != NULL ? " to " : "-", write(s->high, high));
    }
}

/* Adds the row of an algorithm that was not run. */
static void add_dashes(cli_table *table, const saddle_algorithm *algorithm, size_t columns)
{
    cli_table_add(table, "%s", algorithm->name);
    for (size_t k = 0; k < columns; k++)
        cli_table_add(table, "-");
}

/* Adds the name of an algorithm, with a mark if it runs with default step sizes. */
static void add_name(cli_table *table, const comparison *c, size_t algorithm)
{
    cli_table_add(table, "%s%s", c->names.algorithm[algorithm]->name,
                  c->untuned[algorithm] ? UNTUNED_MARK : "");
}

/* Explains the mark, if there is one. */
static void explain_mark(const comparison *c)
{
    bool marked = false;
    for (size_t a = 0; a < c->names.count; a++)
        marked = marked || (c->untuned[a] && c->refused[a] == NULL);
    if (marked)
        cli_print("\n * untuned: default step sizes, neither given nor from --tuned; `saddle tune` "
                  "searches for better ones\n");
}

/* The number of costs that runs have. */
static size_t cost_count(const comparison *c)
{
    return saddle_comparison_is_simulated(c) ? MOST_COSTS : MOST_COSTS - 1;
}

/* Collects IFO calls, rounds, bytes, seconds and simulated seconds of the repeats that reached a
 * level. */
static void add_costs(seed_range cost[MOST_COSTS], const comparison *c, size_t algorithm,
                      double level)
{
    for (size_t r = 0; r < c->repeats; r++) {
        const saddle_row *row =
            saddle_comparison_reached(&c->run[algorithm * c->repeats + r], level);
        if (row != NULL)
            range_add_all(cost, MOST_COSTS,
                          (double[]){(double)row->cost.ifo, (double)row->cost.rounds,
                                     (double)row->cost.bytes, row->seconds,
                                     row->cost.network_seconds});
    }
}

/* Collects iterations, IFO calls, seconds and metric at the end of the repeats that were made. */
static void add_ends(seed_range end[END_NUMBERS], const comparison *c, size_t algorithm)
{
    for (size_t r = 0; r < c->repeats; r++) {
        const comparison_run *run = &c->run[algorithm * c->repeats + r];
        if (run->row_count == 0)
            continue;
        const saddle_row *row = &run->rows[run->row_count - 1];
        range_add_all(
            end, END_NUMBERS,
            (double[]){(double)row->iteration, (double)row->cost.ifo, row->seconds, row->metric});
    }
}

/* The number of an algorithm's repeats that were run. */
static size_t count_made(const comparison *c, size_t algorithm)
{
    size_t made = 0;
    for (size_t r = 0; r < c->repeats; r++)
        made += c->run[algorithm * c->repeats + r].row_count > 0;
    return made;
}

static void print_level(const comparison *c, double level)
{
    static writer *const write[MOST_COSTS] = {write_count, write_count, saddle_bytes_text,
                                              write_seconds, write_seconds};
    static const char *const alignment[] = {"lrrrr", "lrrrrr", "lrrrrrr"};
    bool several = c->repeats > 1;
    size_t costs = cost_count(c);
    cli_table *table = cli_table_create(alignment[costs + several - 4]);
    cli_table_words(table, "algorithm", "IFO", "rounds", "bytes", "seconds");
    if (costs == MOST_COSTS)
        cli_table_add(table, "simulated");
    if (several)
        cli_table_add(table, "reached");
    for (size_t a = 0; a < c->names.count; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->names.algorithm[a], costs + several);
            continue;
        }
        seed_range cost[MOST_COSTS] = {{0}};
        size_t made = count_made(c, a);
        add_costs(cost, c, a, level);
        add_name(table, c, a);
        for (size_t k = 0; k < costs; k++)
            add_range(table, &cost[k], c->repeats, write[k], made > 0 ? "never" : "-");
        if (several && made > 0)
            cli_table_add(table, "%zu of %zu", cost[0].count, made);
        else if (several)
            cli_table_add(table, "-");
    }
    cli_print("\ncost until the metric stays at or below %g\n", level);
    cli_table_print(table);
}

/* Adds how the runs of an algorithm ended: one reason, or how many diverged. */
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
    static writer *const write[END_NUMBERS] = {write_count, write_count, write_seconds,
                                               write_metric};
    cli_table *table = cli_table_create("lrrrrl");
    cli_table_words(table, "algorithm", "iterations", "IFO", "seconds", "metric", "ended");
    for (size_t a = 0; a < c->names.count; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->names.algorithm[a], 4);
            cli_table_add(table, "%s: %s", c->failed[a] ? "failed" : "refused", c->refused[a]);
            continue;
        }
        seed_range end[END_NUMBERS] = {{0}};
        add_ends(end, c, a);
        add_name(table, c, a);
        /* All but the metric are sums over the repeats. */
        for (size_t k = 0; k < END_NUMBERS; k++)
            add_range(table, &end[k], k + 1 < END_NUMBERS ? 1 : c->repeats, write[k], "-");
        add_ending(table, c, a);
    }
    cli_print("\nat the end");
    if (c->repeats > 1)
        cli_print(" (iterations, IFO and seconds: sums over the %zu repeats)", c->repeats);
    cli_print("\n");
    cli_table_print(table);
}

/* An outcome over repeats, at the end of the runs where it is defined. */
static seed_range outcome_range(const comparison *c, size_t algorithm, size_t column)
{
    seed_range s = {0};
    for (size_t r = 0; r < c->repeats; r++) {
        const comparison_run *run = &c->run[algorithm * c->repeats + r];
        if (run->row_count == 0 || run->stop == SADDLE_STOP_DIVERGED)
            continue;
        double value = run->outcomes[(run->row_count - 1) * c->outcome_count + column];
        if (!isnan(value))
            range_add(&s, value);
    }
    return s;
}

static const char *write_outcome(double value, char out[CLI_NUMBER])
{
    saddle_snprintf(out, CLI_NUMBER, "%.5g", value);
    return out;
}

/* Adds a cell: "0.85 (0.84-0.86)", or for an outcome per agent "0.81 to 0.87". */
static void add_outcome(cli_table *table, const comparison *c, size_t algorithm, size_t column,
                        bool agents)
{
    char least[CLI_NUMBER];
    char largest[CLI_NUMBER];
    seed_range s = outcome_range(c, algorithm, column);
    seed_range high = outcome_range(c, algorithm, column + (agents ? 2 : 0));
    if (s.count == 0)
        cli_table_add(table, "-");
    else if (agents)
        cli_table_add(table, "%s to %s", write_outcome(s.sum / (double)s.count, least),
                      write_outcome(high.sum / (double)high.count, largest));
    else
        add_range(table, &s, c->repeats, write_outcome, "-");
}

/* Finds the outcome columns with a prefix: those of the mean model or, with `agents`, the minimum of each range
 * over agents. */
static size_t find_columns(const comparison *c, const char *prefix, bool agents, size_t *out)
{
    static const char least[] = "_agent_min";
    size_t count = 0;
    for (size_t k = 0; k < c->outcome_count; k++) {
        const char *name = c->outcome[k].name;
        size_t length = strlen(name);
        bool is_least = length > strlen(least) && strcmp(name + length - strlen(least), least) == 0;
        bool is_per_agent = strstr(name, "_agent_") != NULL;
        if (strncmp(name, prefix, strlen(prefix)) == 0 && (agents ? is_least : !is_per_agent))
            out[count++] = k;
    }
    return count;
}

static void add_mean_metric(cli_table *table, const comparison *c, size_t algorithm)
{
    double sum = 0.0;
    size_t runs = 0;
    for (size_t r = 0; r < c->repeats; r++) {
        const comparison_run *run = &c->run[algorithm * c->repeats + r];
        if (run->row_count == 0)
            continue;
        sum += run->rows[run->row_count - 1].metric;
        runs++;
    }
    if (runs == 0)
        cli_table_add(table, "-");
    else
        cli_table_add(table, "%.3e", sum / (double)runs);
}

static void print_outcomes(const comparison *c, const char *prefix, bool agents, const char *title)
{
    size_t column[SADDLE_MOST_OUTCOME_COLUMNS];
    char alignment[SADDLE_MOST_OUTCOME_COLUMNS + 3] = "lr";
    size_t count = find_columns(c, prefix, agents, column);
    if (count == 0)
        return;
    memset(alignment + 2, 'r', count);
    cli_table *table = cli_table_create(alignment);
    cli_table_words(table, "algorithm", "metric");
    for (size_t k = 0; k < count; k++) {
        const char *name = c->outcome[column[k]].name + strlen(prefix);
        cli_table_add(table, "%.*s", (int)(strlen(name) - (agents ? strlen("_agent_min") : 0)),
                      name);
    }
    for (size_t a = 0; a < c->names.count; a++) {
        if (c->refused[a] != NULL) {
            add_dashes(table, c->names.algorithm[a], count + 1);
            continue;
        }
        add_name(table, c, a);
        add_mean_metric(table, c, a);
        for (size_t k = 0; k < count; k++)
            add_outcome(table, c, a, column[k], agents);
    }
    const char *seeds = agents ? ", means over seeds" : ", mean over seeds (smallest to largest)";
    cli_print("\n%s%s\n", title, c->repeats > 1 ? seeds : "");
    cli_table_print(table);
}

/* How messages travel in all runs, if that was given. */
static void print_network(const saddle_plan *plan)
{
    static const char *const name[] = {"links",       "inexact", "compress",
                                       "mixing-rate", "churn",   "link-model"};
    size_t printed = 0;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        const saddle_option *option = saddle_settings_find(plan->settings, name[k]);
        if (option != NULL && saddle_settings_given(plan->settings, option))
            cli_print("%s%s %s", printed++ == 0 ? "\nnetwork of all runs: " : ", ", name[k],
                      saddle_settings_value(plan->settings, option));
    }
    if (printed > 0)
        cli_print("\n");
}

void cli_print_comparison(const comparison *c, const saddle_plan *plan)
{
    print_network(plan);
    for (size_t k = 0; k < c->levels; k++)
        print_level(c, c->level[k]);
    print_ends(c);
    print_outcomes(c, "train_", false, "outcomes on the agents' data, at the end");
    print_outcomes(c, "train_", true,
                   "outcomes of the agents' own models on their own data: smallest to largest");
    print_outcomes(c, "test_", false, "outcomes on held-out data, at the end");
    print_outcomes(c, "test_", true,
                   "outcomes of the agents' own models on the held-out data: smallest to largest");
    explain_mark(c);
}

/* ---- comparisons as JSON ------------------------------------------------------------------- */

/* Adds mean and range of a quantity; nulls if there is no value. */
static void put_range(saddle_json *j, const char *name, const seed_range *s)
{
    bool none = s->count == 0;
    saddle_json_put(j, "%s: { mean %g min %g max %g }", name,
                    none ? (double)NAN : s->sum / (double)s->count, none ? (double)NAN : s->low,
                    none ? (double)NAN : s->high);
}

/* Adds a row of a run; null if it is NULL. */
static void put_row(saddle_json *j, const char *name, const comparison *c,
                    const comparison_run *run, const saddle_row *row)
{
    if (row == NULL)
        saddle_json_put(j, "%s: null", name);
    else
        cli_json_row(j, name, row, c->outcome_count, c->outcome,
                     run->outcomes + (size_t)(row - run->rows) * c->outcome_count);
}

/* Adds the rows of summary.csv for one run; null for a level that it did not reach. */
static void put_run(saddle_json *j, const comparison *c, const comparison_inputs *in, size_t a,
                    size_t r)
{
    const comparison_run *run = &c->run[a * c->repeats + r];
    if (!run->done)
        return;
    char *path = saddle_comparison_trace_path(c, in, a, r);
    saddle_json_put(j, "{ seed %" PRIu64, c->first_seed + r);
    cli_json_stop(j, run->stop);
    saddle_json_put(j, "trace %s levels [", path);
    for (size_t k = 0; k < c->levels; k++)
        put_row(j, "", c, run, saddle_comparison_reached(run, c->level[k]));
    saddle_json_put(j, "]");
    put_row(j, "final", c, run, &run->rows[run->row_count - 1]);
    saddle_json_put(j, "}");
    free(path);
}

/* Adds the numbers of an algorithm in the tables. */
static void put_summary(saddle_json *j, const comparison *c, size_t a)
{
    static const char *const cost_name[MOST_COSTS] = {"ifo", "rounds", "bytes", "seconds",
                                                      "network_seconds"};
    static const char *const end_name[END_NUMBERS] = {"iterations", "ifo", "seconds", "metric"};
    saddle_json_put(j, "levels [");
    for (size_t l = 0; l < c->levels; l++) {
        seed_range cost[MOST_COSTS] = {{0}};
        add_costs(cost, c, a, c->level[l]);
        saddle_json_put(j, "{ level %g reached %zu", c->level[l], cost[0].count);
        for (size_t k = 0; k < MOST_COSTS; k++)
            put_range(j, cost_name[k], &cost[k]);
        saddle_json_put(j, "}");
    }
    seed_range end[END_NUMBERS] = {{0}};
    add_ends(end, c, a);
    saddle_json_put(j, "] final {");
    for (size_t k = 0; k < END_NUMBERS; k++)
        put_range(j, end_name[k], &end[k]);
    for (size_t k = 0; k < c->outcome_count; k++) {
        seed_range s = outcome_range(c, a, k);
        put_range(j, c->outcome[k].name, &s);
    }
    saddle_json_put(j, "}");
}

void cli_json_comparison(saddle_json *j, const comparison *c, const comparison_inputs *in)
{
    saddle_json_put(j, "levels [");
    for (size_t k = 0; k < c->levels; k++)
        saddle_json_put(j, "%g", c->level[k]);
    saddle_json_put(j, "] algorithms [");
    for (size_t a = 0; a < c->names.count; a++) {
        saddle_json_put(j, "{ name %s status %s reason %s untuned %d", c->names.algorithm[a]->name,
                        c->refused[a] == NULL ? "run"
                        : c->failed[a]        ? "failed"
                                              : "refused",
                        c->refused[a], c->untuned[a]);
        put_summary(j, c, a);
        saddle_json_put(j, "runs [");
        for (size_t r = 0; r < c->repeats; r++)
            put_run(j, c, in, a, r);
        saddle_json_put(j, "] }");
    }
    saddle_json_put(j, "]");
}
