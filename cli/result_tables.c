#include "result_tables.h"

#include "core/outcome_name.h"
#include "instance/plan.h"
#include "json_output.h"

/* ---- comparisons --------------------------------------------------------------------------- */

/* How a number is written. */
typedef enum notation { COUNT, BYTES, SECONDS, METRIC, OUTCOME } notation;

/* A column of the tables, and member of the JSON object: a column of the traces. */
typedef struct quantity {
    const char *heading;
    const char *name;
    const char *column;
    notation how;
} quantity;

/* The costs of a level. The last one exists only with a link model. */
static const quantity costs[] = {{"IFO", "ifo", "ifo", COUNT},
                                 {"rounds", "rounds", "rounds", COUNT},
                                 {"bytes", "bytes", "bytes", BYTES},
                                 {"seconds", "seconds", "seconds", SECONDS},
                                 {"simulated", "network_seconds", "network_seconds", SECONDS}};
#define MOST_COSTS (sizeof costs / sizeof *costs)

/* The numbers of a run at its end. */
static const quantity ends[] = {{"iterations", "iterations", "iteration", COUNT},
                                {"IFO", "ifo", "ifo", COUNT},
                                {"seconds", "seconds", "seconds", SECONDS},
                                {"gap", "gap", "gap", METRIC},
                                {"metric", "metric", "metric", METRIC}};
#define END_NUMBERS (sizeof ends / sizeof *ends)
static const quantity *const end_metric = &ends[END_NUMBERS - 1];
static const quantity *const end_gap = &ends[END_NUMBERS - 2];

/* The trace of an algorithm in a repeat; NULL: it was not run. */
static const saddle_trace *trace_of(const comparison *c, size_t algorithm, size_t repeat)
{
    return c->run[algorithm * c->repeats + repeat].trace;
}

/* The number of an algorithm's runs that were made. */
static size_t runs_made(const comparison *c, size_t algorithm)
{
    size_t made = 0;
    for (size_t r = 0; r < c->repeats; r++)
        made += trace_of(c, algorithm, r) != NULL;
    return made;
}

/* A quantity over the repeats of an algorithm that reached a level, or at the end of those that were made. */
static trace_summary range_of(const comparison *c, size_t algorithm, const quantity *q,
                              double level)
{
    trace_summary s = {.count = 0};
    for (size_t r = 0; r < c->repeats; r++)
        if (trace_of(c, algorithm, r) != NULL)
            trace_summary_add(&s, trace_value_at(trace_of(c, algorithm, r), q->column, level));
    return s;
}

static const char *write_number(double value, notation how, char out[CLI_NUMBER])
{
    if (how == BYTES)
        return saddle_bytes_text(value, out);
    if (how == METRIC)
        saddle_snprintf(out, CLI_NUMBER, "%.4e", value);
    else if (how == OUTCOME)
        saddle_snprintf(out, CLI_NUMBER, "%.5g", value);
    else
        saddle_snprintf(out, CLI_NUMBER, "%.*f", how == SECONDS ? 3 : 0, value);
    return out;
}

/* Adds a cell: "12" or, for several repeats, "12 (10-15)" or "2e-06 (1e-06 to 3e-06)"; `none` without any value. */
static void add_range(cli_table *table, trace_summary s, size_t repeats, notation how,
                      const char *none)
{
    char mean[CLI_NUMBER];
    char low[CLI_NUMBER];
    char high[CLI_NUMBER];
    if (s.count == 0) {
        cli_table_add(table, "%s", none);
    } else if (repeats == 1) {
        cli_table_add(table, "%s", write_number(s.sum, how, mean));
    } else {
        write_number(s.least, how, low);
        cli_table_add(table, "%s (%s%s%s)", write_number(trace_summary_mean(&s), how, mean), low,
                      strpbrk(low, "e-") != NULL ? " to " : "-",
                      write_number(s.largest, how, high));
    }
}

/* Begins the row of an algorithm: its name, marked if it runs with default step sizes. If it was refused, the
 * `columns` others are dashes; returns whether it was not. */
static bool begin_row(cli_table *table, const comparison *c, size_t algorithm, size_t columns)
{
    bool ran = c->refused[algorithm] == NULL;
    cli_table_add(table, "%s%s", c->names.algorithm[algorithm]->name,
                  ran && c->untuned[algorithm] ? " *" : "");
    for (size_t k = 0; !ran && k < columns; k++)
        cli_table_add(table, "-");
    return ran;
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

static void print_level(const comparison *c, double level)
{
    bool several = c->repeats > 1;
    const saddle_trace *first = saddle_comparison_trace(c);
    bool simulated = first != NULL && saddle_trace_column(first, "network_seconds") != NULL;
    size_t count = MOST_COSTS - !simulated;
    char alignment[MOST_COSTS + 3] = "lrrrrrr";
    alignment[1 + count + several] = '\0';
    cli_table *table = cli_table_create(alignment);
    cli_table_add(table, "algorithm");
    for (size_t k = 0; k < count; k++)
        cli_table_add(table, "%s", costs[k].heading);
    if (several)
        cli_table_add(table, "reached");
    for (size_t a = 0; a < c->names.count; a++) {
        if (!begin_row(table, c, a, count + several))
            continue;
        size_t made = runs_made(c, a);
        for (size_t k = 0; k < count; k++)
            add_range(table, range_of(c, a, &costs[k], level), c->repeats, costs[k].how,
                      made > 0 ? "never" : "-");
        if (several && made > 0)
            cli_table_add(table, "%zu of %zu", range_of(c, a, &costs[0], level).count, made);
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
    if (c->refused[algorithm] != NULL)
        cli_table_add(table, "%s: %s", c->failed[algorithm] ? "failed" : "refused",
                      c->refused[algorithm]);
    else if (done == 0)
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
    cli_table *table = cli_table_create("lrrrrrl");
    cli_table_add(table, "algorithm");
    for (size_t k = 0; k < END_NUMBERS; k++)
        cli_table_add(table, "%s", ends[k].heading);
    cli_table_add(table, "ended");
    for (size_t a = 0; a < c->names.count; a++) {
        bool ran = begin_row(table, c, a, END_NUMBERS);
        /* All but the gap, a mean, and the metric are sums over the repeats. */
        for (size_t k = 0; ran && k < END_NUMBERS; k++) {
            trace_summary s = range_of(c, a, &ends[k], TRACE_AT_END);
            if (&ends[k] == end_gap && s.count > 0)
                s.sum = trace_summary_mean(&s);
            add_range(table, s, &ends[k] == end_metric ? c->repeats : 1, ends[k].how, "-");
        }
        add_ending(table, c, a);
    }
    cli_print("\nat the end");
    if (c->repeats > 1)
        cli_print(" (iterations, IFO and seconds: sums over the %zu repeats)", c->repeats);
    cli_print("\n");
    cli_table_print(table);
}

/* An outcome over repeats, at the end of the runs where it is defined. */
static trace_summary outcome_range(const comparison *c, size_t algorithm, const char *outcome)
{
    trace_summary s = {.count = 0};
    for (size_t r = 0; r < c->repeats; r++) {
        const comparison_run *run = &c->run[algorithm * c->repeats + r];
        if (run->trace != NULL && run->stop != SADDLE_STOP_DIVERGED)
            trace_summary_add(&s, trace_value_at(run->trace, outcome, TRACE_AT_END));
    }
    return s;
}

/* Adds a cell: "0.85 (0.84-0.86)", or for an outcome per agent, whose column is followed by those of the mean and of
 * the maximum, "0.81 to 0.87". */
static void add_outcome(cli_table *table, const comparison *c, size_t algorithm,
                        char *const *column, bool agents)
{
    char least[CLI_NUMBER];
    char largest[CLI_NUMBER];
    trace_summary s = outcome_range(c, algorithm, column[0]);
    trace_summary high = outcome_range(c, algorithm, column[agents ? 2 : 0]);
    if (s.count > 0 && agents)
        cli_table_add(table, "%s to %s", write_number(trace_summary_mean(&s), OUTCOME, least),
                      write_number(trace_summary_mean(&high), OUTCOME, largest));
    else
        add_range(table, s, c->repeats, OUTCOME, "-");
}

/* Finds the outcome columns on some rows: those of the mean model or, with `agents`, the minimum of each range
 * over agents. */
static size_t find_columns(const saddle_trace *trace, saddle_measured_rows rows, bool agents,
                           char *const **out)
{
    size_t count = 0;
    for (size_t k = 0; trace != NULL && k < trace->columns; k++) {
        saddle_outcome_name name = saddle_outcome_name_of(trace->column[k]);
        if (name.rows == rows &&
            name.statistic == (agents ? SADDLE_AGENT_MIN : SADDLE_OF_MEAN_MODEL))
            out[count++] = &trace->column[k];
    }
    return count;
}

static void print_outcomes(const comparison *c, saddle_measured_rows rows, bool agents,
                           const char *title)
{
    char *const *column[SADDLE_MOST_OUTCOME_COLUMNS];
    char alignment[SADDLE_MOST_OUTCOME_COLUMNS + 3] = "lr";
    size_t count = find_columns(saddle_comparison_trace(c), rows, agents, column);
    if (count == 0)
        return;
    memset(alignment + 2, 'r', count);
    cli_table *table = cli_table_create(alignment);
    cli_table_words(table, "algorithm", "gap");
    for (size_t k = 0; k < count; k++) {
        saddle_outcome_name name = saddle_outcome_name_of(*column[k]);
        cli_table_add(table, "%.*s", name.length, name.measure);
    }
    for (size_t a = 0; a < c->names.count; a++) {
        if (!begin_row(table, c, a, count + 1))
            continue;
        trace_summary gap = range_of(c, a, end_gap, TRACE_AT_END);
        if (gap.count > 0)
            cli_table_add(table, "%.3e", trace_summary_mean(&gap));
        else
            cli_table_add(table, "-");
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
    static CLI_PLAN_FIELDS(fields, CLI_FIELDS(network.links), CLI_FIELDS(network.inexact),
                           CLI_FIELDS(network.compress), CLI_FIELDS(network.mixing_rate),
                           CLI_FIELDS(network.clip_mixing), CLI_FIELDS(network.churn),
                           CLI_FIELDS(network.link_model));
    size_t printed = 0;
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (cli_has_option(fields, option) && saddle_plan_given(plan, option))
            cli_print("%s%s %s", printed++ == 0 ? "\nnetwork of all runs: " : ", ", option->name,
                      SADDLE_PLAN_TEXT(plan, option));
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
    print_outcomes(c, SADDLE_ROWS_TRAIN, false, "outcomes on the agents' data, at the end");
    print_outcomes(c, SADDLE_ROWS_TRAIN, true,
                   "outcomes of the agents' own models on their own data: smallest to largest");
    print_outcomes(c, SADDLE_ROWS_TEST, false, "outcomes on held-out data, at the end");
    print_outcomes(c, SADDLE_ROWS_TEST, true,
                   "outcomes of the agents' own models on the held-out data: smallest to largest");
    explain_mark(c);
}

/* ---- comparisons as JSON ------------------------------------------------------------------- */

/* Adds mean and range of a quantity; nulls if there is no value. */
static void put_range(saddle_json *j, const char *name, trace_summary s)
{
    bool none = s.count == 0;
    saddle_json_put(j, "%s: { mean %g min %g max %g }", name, trace_summary_mean(&s),
                    none ? (double)NAN : s.least, none ? (double)NAN : s.largest);
}

/* Adds all columns of a trace in the row of a level; null if it was not reached. */
static void put_row(saddle_json *j, const char *name, const saddle_trace *trace, double level)
{
    if (trace_row_at(trace, level) >= trace->rows) {
        saddle_json_put(j, "%s: null", name);
        return;
    }
    saddle_json_put(j, "%s: {", name);
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++)
        saddle_json_put(j, "%s: %g", saddle_trace_column_name(k),
                        trace_value_at(trace, saddle_trace_column_name(k), level));
    for (size_t k = 0; k < trace->columns; k++)
        if (saddle_comparison_is_outcome(trace->column[k]))
            saddle_json_put(j, "%s: %g", trace->column[k],
                            trace_value_at(trace, trace->column[k], level));
    saddle_json_put(j, "}");
}

/* Adds the rows of summary.csv for one run; null for a level that it did not reach. */
static void put_run(saddle_json *j, const comparison *c, size_t a, size_t r)
{
    const comparison_run *run = &c->run[a * c->repeats + r];
    if (run->trace == NULL)
        return;
    SADDLE_MALLOCED char *path = saddle_comparison_trace_path(c, a, r);
    saddle_json_put(j, "{ seed %" PRIu64, c->first_seed + r);
    cli_json_stop(j, run->stop);
    saddle_json_put(j, "trace %s levels [", path);
    for (size_t k = 0; k < c->levels; k++)
        put_row(j, "", run->trace, c->level[k]);
    saddle_json_put(j, "]");
    put_row(j, "final", run->trace, TRACE_AT_END);
    saddle_json_put(j, "}");
}

/* Adds the numbers of an algorithm in the tables. */
static void put_summary(saddle_json *j, const comparison *c, size_t a)
{
    saddle_json_put(j, "levels [");
    for (size_t l = 0; l < c->levels; l++) {
        saddle_json_put(j, "{ level %g reached %zu", c->level[l],
                        range_of(c, a, &costs[0], c->level[l]).count);
        for (size_t k = 0; k < MOST_COSTS; k++)
            put_range(j, costs[k].name, range_of(c, a, &costs[k], c->level[l]));
        saddle_json_put(j, "}");
    }
    saddle_json_put(j, "] final {");
    for (size_t k = 0; k < END_NUMBERS; k++)
        put_range(j, ends[k].name, range_of(c, a, &ends[k], TRACE_AT_END));
    const saddle_trace *first = saddle_comparison_trace(c);
    for (size_t k = 0; first != NULL && k < first->columns; k++)
        if (saddle_comparison_is_outcome(first->column[k]))
            put_range(j, first->column[k], outcome_range(c, a, first->column[k]));
    saddle_json_put(j, "}");
}

void cli_json_comparison(saddle_json *j, const comparison *c)
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
            put_run(j, c, a, r);
        saddle_json_put(j, "] }");
    }
    saddle_json_put(j, "]");
}
