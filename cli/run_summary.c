/* The summary at the end of `saddle run`. */
#include "core/outcome_name.h"
#include "run_display.h"

/* A stage of the set-up is listed if it takes at least this fraction of it. */
#define LISTED_FRACTION 0.1

/* Appends "0.849", or "not defined". */
static void append_outcome(char *text, size_t size, const char *before, double value)
{
    if (isnan(value))
        saddle_append(text, size, "%snot defined", before);
    else
        saddle_append(text, size, "%s%.6g", before, value);
}

/* Appends " (agents 0.81 to 0.87, mean 0.85)" if the outcome was measured for each agent. */
static void append_agent_range(char *text, size_t size, const saddle_result *result,
                               const saddle_outcome_name *of)
{
    static const saddle_statistic order[] = {SADDLE_AGENT_MIN, SADDLE_AGENT_MAX, SADDLE_AGENT_MEAN};
    static const char *const before[] = {" (agents ", " to ", ", mean "};
    bool found = false;
    for (size_t s = 0; s < sizeof order / sizeof *order; s++)
        for (size_t k = 0; k < result->outcome_count; k++) {
            saddle_outcome_name name = saddle_outcome_name_of(result->outcome[k].name);
            if (name.statistic != order[s] || !saddle_outcome_same(&name, of))
                continue;
            append_outcome(text, size, before[s],
                           saddle_result_outcome(result, result->outcome[k].name));
            found = true;
        }
    if (found)
        saddle_append(text, size, ")");
}

/* Prints "accuracy 0.849, gap 0.18": the outcomes on some rows. */
static void print_outcomes(const char *title, saddle_measured_rows rows,
                           const saddle_result *result)
{
    char text[4096] = "";
    for (size_t k = 0; k < result->outcome_count; k++) {
        saddle_outcome_name name = saddle_outcome_name_of(result->outcome[k].name);
        if (name.rows != rows || name.statistic != SADDLE_OF_MEAN_MODEL)
            continue;
        saddle_append(text, sizeof text, "%s%s", *text == '\0' ? "" : ", ", name.measure);
        append_outcome(text, sizeof text, " ",
                       saddle_result_outcome(result, result->outcome[k].name));
        append_agent_range(text, sizeof text, result, &name);
    }
    if (*text != '\0')
        cli_print_field(title, "%s", text);
}

/* The gap's part of the time is named if it is larger than this part of iterating, and measuring takes this many
 * seconds. */
#define NAMED_SHARE 0.2
#define NAMED_SECONDS 0.5

/* Prints "0.62 s iterating, 0.14 s measuring, 0.31 s setting up (reading 0.28 s), 0.01 s for the
 * rest". */
static void print_times(const saddle_run_times *times)
{
    const saddle_setup_times *setup = &times->setup;
    const struct {
        const char *name;
        double seconds;
    } stage[] = {{"network", setup->network},
                 {"reading", setup->reading},
                 {"splitting", setup->splitting},
                 {"problem", setup->problem},
                 {"constants", setup->constants}};
    double total = 0.0;
    for (size_t k = 0; k < sizeof stage / sizeof *stage; k++)
        total += stage[k].seconds;
    char stages[256] = "";
    char text[CLI_NUMBER];
    for (size_t k = 0; k < sizeof stage / sizeof *stage; k++)
        if (stage[k].seconds >= LISTED_FRACTION * total)
            saddle_append(stages, sizeof stages, "%s%s %s", *stages != '\0' ? ", " : "",
                          stage[k].name, cli_duration(stage[k].seconds, text));
    char gap[80] = "";
    if (times->gap > NAMED_SHARE * times->iterating && times->measuring >= NAMED_SECONDS)
        saddle_append(gap, sizeof gap, " (%s of it for the gap; --gap never saves that)",
                      cli_duration(times->gap, text));
    char number[4][CLI_NUMBER];
    cli_print_field("time", "%s iterating, %s measuring%s, %s setting up (%s), %s for the rest",
                    cli_duration(times->iterating, number[0]),
                    cli_duration(times->measuring, number[1]), gap, cli_duration(total, number[2]),
                    stages, cli_duration(times->rest, number[3]));
}

bool run_display_is_advised(const saddle_result *result)
{
    return result->stop == SADDLE_STOP_STALLED || result->stop == SADDLE_STOP_OSCILLATES;
}

void run_display_remedy(const saddle_result *result, char *out, size_t size)
{
    static const char *const limit[] = {[SADDLE_STOP_ITERATIONS] = "iterations",
                                        [SADDLE_STOP_IFO] = "max-ifo",
                                        [SADDLE_STOP_ROUNDS] = "max-rounds",
                                        [SADDLE_STOP_SECONDS] = "max-seconds",
                                        [SADDLE_STOP_NETWORK_SECONDS] = "max-network-seconds"};
    size_t stop = (size_t)result->stop;
    if (run_display_is_advised(result)) {
        saddle_snprintf(out, size, "%s", result->remedy);
        return;
    }
    bool spent = stop < sizeof limit / sizeof *limit && limit[stop] != NULL;
    bool automatic = strcmp(result->plan.algorithm.name, "precision-auto") == 0;
    saddle_snprintf(out, size, "%s%s%stry --algorithm %s", spent ? "raise --" : "",
                    spent ? limit[stop] : "", spent ? ", or " : "",
                    automatic ? "precision" : "precision-auto");
}

/* Suggests what helps if the run has not solved its problem, and what to do with the files that were written, or how
 * to get them written. */
static void print_next(const saddle_result *result, const saddle_row *row, bool scores)
{
    const char *trace = result->plan.outputs.trace;
    const char *model = result->saved ? result->plan.outputs.model : NULL;
    const char *title = "next";
    char remedy[sizeof result->remedy];
    if (row->gap > saddle_result_goal(result)) {
        run_display_remedy(result, remedy, sizeof remedy);
        cli_print_field(title, "%s: the problem is not solved", remedy);
        title = "";
    }
    if (trace != NULL && strcmp(trace, "-") != 0)
        cli_print_field(title, "`saddle plot %s` draws it, `saddle report %s` makes a page", trace,
                        trace);
    if (model != NULL && scores)
        cli_print_field(trace != NULL ? "" : title,
                        "`saddle eval --model %s --data FILE` measures the model on other rows",
                        model);
    if (trace == NULL && model == NULL)
        cli_print_field(title, "--trace FILE.csv saves these rows, --model FILE.npz the solution; "
                               "`saddle compare` compares algorithms");
}

/* Prints how far from solved the run is. */
static void print_gap(const saddle_result *result, const saddle_row *row)
{
    const saddle_gap *gap = &result->gap;
    if (isnan(row->gap) || !(gap->scale > 0.0))
        return;
    double goal = saddle_result_goal(result);
    char judged[CLI_NUMBER + 32] = "solved";
    bool solved = row->gap <= goal;
    if (!solved)
        saddle_snprintf(judged, sizeof judged, "NOT SOLVED (above %.15g)", goal);
    /* A search that finds more than the goal ends early: it does not know how much more there is. */
    cli_print_field("gap",
                    "%s%.3e, %s; of it x %.2e, y %.2e, agents apart %.2e; relative to %.6g, what "
                    "can be gained from the reference",
                    solved ? "" : "at least ", row->gap, judged, gap->x / gap->scale,
                    gap->y / gap->scale, gap->agents / gap->scale, gap->scale);
}

void run_display_summary(const saddle_result *result, bool scores)
{
    const saddle_row *row = &result->rows[result->row_count - 1];
    char bytes[CLI_NUMBER];
    char time[CLI_NUMBER];
    cli_print("\nSummary\n");
    double tolerance = result->plan.limits.tolerance;
    if (tolerance > 0.0 && result->stop != SADDLE_STOP_TOLERANCE)
        cli_print_field("ended", "%s; tolerance %.15g not reached", saddle_stop_text(result->stop),
                        tolerance);
    else
        cli_print_field("ended", "%s%s%s", saddle_stop_text(result->stop),
                        run_display_is_advised(result) ? "; " : "",
                        run_display_is_advised(result) ? result->remedy : "");
    if (result->stop == SADDLE_STOP_DIVERGED)
        cli_print_field("", "the values below are from the last row before that");
    cli_print_field("cost",
                    "%" PRIu64 " iteration%s, %" PRIu64 " IFO call%s, %" PRIu64 " round%s, %" PRIu64
                    " message%s, %s sent, %s",
                    row->iteration, SADDLE_PLURAL(row->iteration), row->cost.ifo,
                    SADDLE_PLURAL(row->cost.ifo), row->cost.rounds, SADDLE_PLURAL(row->cost.rounds),
                    row->cost.messages, SADDLE_PLURAL(row->cost.messages),
                    saddle_bytes_text((double)row->cost.bytes, bytes),
                    cli_duration(row->seconds, time));
    if (!isnan(row->cost.network_seconds))
        cli_print_field("", "%.6g simulated seconds on the network", row->cost.network_seconds);
    print_times(&result->times);
    if (result->plan.limits.stop_after > 0) {
        row = &result->rows[result->solution_row];
        cli_print_field("solution",
                        "from iteration %" PRIu64 ", the best; the values below are from there",
                        row->iteration);
    }
    print_gap(result, row);
    cli_print_field("loss", "%.10g   (primal %.10g)", row->loss, row->primal);
    cli_print_field(
        "metric",
        "%.6e, the sum of x_stationarity %.4e, x_consensus %.4e, y_consensus %.4e, y_gap %.4e",
        row->metric, row->x_stationarity, row->x_consensus, row->y_consensus, row->y_gap);
    if (result->stop != SADDLE_STOP_DIVERGED) {
        print_outcomes("training", SADDLE_ROWS_TRAIN, result);
        print_outcomes("held out", SADDLE_ROWS_TEST, result);
    }
    const char *trace = result->plan.outputs.trace;
    const char *model = result->plan.outputs.model;
    if (trace != NULL)
        cli_print_field("trace", "%s", trace);
    if (result->checkpoint != NULL)
        cli_print_field("checkpoint", "%s", result->checkpoint);
    if (model != NULL && result->stop == SADDLE_STOP_DIVERGED)
        cli_print_field("model", "not written: the run diverged");
    else if (model != NULL)
        cli_print_field("model", "%s", result->saved ? model : "not written");
    if (result->output_error.status != SADDLE_OK)
        cli_print_field("lost", "%s", result->output_error.message);
    else if (result->stop != SADDLE_STOP_DIVERGED && result->stop != SADDLE_STOP_INTERRUPTED)
        print_next(result, row, scores);
}
