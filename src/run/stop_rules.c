/* Rules that end a run depending on its measurements: stop-when, and stop-after, which keeps the
 * best solution. */
#include "core/outcome_name.h"
#include "run/run.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* Parses a condition such as "auc>=0.9". */
static saddle_status read_condition(saddle_stop_condition *out, const char *text,
                                    saddle_error *error)
{
    static const char *const sign[] = {">=", "<=", ">", "<"};
    const char *at = text + strcspn(text, "<>");
    size_t length = (size_t)(at - text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (memchr(text, '=', length) != NULL)
        length = 0;
    for (size_t k = 0; k < sizeof sign / sizeof *sign; k++) {
        size_t bytes = strlen(sign[k]);
        if (strncmp(at, sign[k], bytes) != 0)
            continue;
        const char *number = at + bytes + strspn(at + bytes, " ");
        if (length == 0 || length >= sizeof out->column || !saddle_parse_real(number, &out->bound))
            break;
        saddle_snprintf(out->column, sizeof out->column, "%.*s", (int)length, text);
        out->place = saddle_trace_column_find(out->column);
        out->upper = *at == '<';
        out->strict = bytes == 1;
        return SADDLE_OK;
    }
    return saddle_refuse(
        error,
        "--stop-when: '%s' is not COLUMN>=NUMBER, COLUMN<=NUMBER, COLUMN>NUMBER or "
        "COLUMN<NUMBER, such as auc>=0.9",
        SADDLE_EXCERPT(text));
}

saddle_status saddle_run_read_rules(saddle_run_state *r, saddle_error *error)
{
    saddle_plan *plan = &r->given;
    saddle_stop_rules *rules = &r->rules;
    if (plan->limits.stop_when != NULL && strcmp(plan->limits.stop_when, "none") == 0)
        plan->limits.stop_when = NULL;
    bool when = plan->limits.stop_when != NULL;
    if (when)
        SADDLE_TRY(read_condition(&rules->when, plan->limits.stop_when, error));
    if (when && rules->when.place < SADDLE_TRACE_COLUMNS) {
        const char *why = saddle_trace_lacks(&r->info, rules->when.place);
        if (why != NULL)
            return saddle_refuse(error, "--stop-when: there is no column %s %s", rules->when.column,
                                 why);
    }
    rules->gap = plan->limits.tolerance;
    if (when && strcmp(rules->when.column, "gap") == 0)
        rules->gap = fmax(rules->gap, rules->when.bound);
    if (rules->gap > 0.0 && plan->outputs.gap == SADDLE_GAP_NEVER)
        return saddle_refuse(error, "--gap: never, but %s needs it; leave one of them out",
                             plan->limits.tolerance > 0.0 ? "--tolerance" : "--stop-when");
    rules->outcomes =
        plan->limits.stop_after > 0 || (when && rules->when.place == SADDLE_TRACE_COLUMNS);
    if (plan->limits.stop_on != NULL && plan->limits.stop_after == 0)
        return saddle_refuse(error,
                             "--stop-on: it needs --stop-after, the number of trace points without "
                             "improvement; give both");
    if (rules->outcomes && plan->outputs.outcomes == SADDLE_OUTCOMES_ENDS)
        return saddle_refuse(
            error, "--outcomes: --%s needs outcomes at every trace point; set --outcomes to always",
            plan->limits.stop_after > 0 ? "stop-after" : "stop-when");
    return SADDLE_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Returns the index of an outcome by its name with or without "test_" or "train_", preferring
 * held-out rows; outcome_count if there is none. */
static size_t find_outcome(const saddle_result *result, const char *name)
{
    size_t found = result->outcome_count;
    saddle_measured_rows rows = SADDLE_ROWS_NONE;
    for (size_t k = 0; k < result->outcome_count; k++) {
        saddle_outcome_name column = saddle_outcome_name_of(result->outcome[k].name);
        if (strcmp(result->outcome[k].name, name) == 0)
            return k;
        if (column.rows < rows && strcmp(column.measure, name) == 0) {
            rows = column.rows;
            found = k;
        }
    }
    return found;
}

static saddle_status unknown_column(const saddle_result *result, const char *option,
                                    const char *name, saddle_error *error)
{
    if (result->outcome_count == 0)
        return saddle_refuse(error,
                             "--%s: '%s' is not a column of the trace, and this problem has no "
                             "outcomes; give a column such as metric or loss",
                             option, SADDLE_EXCERPT(name));
    const char *known[SADDLE_MOST_OUTCOME_COLUMNS];
    char list[512] = "";
    for (size_t k = 0; k < result->outcome_count; k++) {
        known[k] = result->outcome[k].name;
        saddle_append(list, sizeof list, "%s%s", k == 0 ? "" : ", ", known[k]);
    }
    return saddle_refuse(error, "--%s: '%s' is not %s; this run's outcomes are %s%s", option,
                         SADDLE_EXCERPT(name),
                         strcmp(option, "stop-on") == 0 ? "an outcome" : "a column of the trace",
                         list, saddle_suggest(name, known, result->outcome_count).text);
}

/* Chooses the outcome of stop-after: by default the first on held-out rows. */
static saddle_status choose_outcome(saddle_run_state *r, saddle_error *error)
{
    const saddle_result *result = r->result;
    const char *name = r->given.limits.stop_on;
    size_t k = 0;
    if (name != NULL)
        k = find_outcome(result, name);
    else
        while (k < result->outcome_count &&
               saddle_outcome_name_of(result->outcome[k].name).rows != SADDLE_ROWS_TEST)
            k++;
    r->rules.on = k;
    if (k < result->outcome_count)
        return SADDLE_OK;
    if (result->outcome_count == 0)
        return saddle_refuse(error,
                             "--stop-after: this problem has no outcomes; leave it out, or stop by "
                             "--tolerance or --stop-when");
    if (name != NULL)
        return unknown_column(result, "stop-on", name, error);
    return saddle_refuse(error,
                         "--stop-after: there is no outcome on held-out rows; give --test-data, or "
                         "name an outcome on the agents' data as --stop-on");
}

saddle_status saddle_run_resolve_rules(saddle_run_state *r, saddle_error *error)
{
    saddle_stop_rules *rules = &r->rules;
    const saddle_result *result = r->result;
    const char *name = rules->when.column;
    if (rules->outcomes && result->plan.outputs.outcomes != SADDLE_OUTCOMES_ALWAYS)
        return saddle_refuse(
            error, "--%s: the run to be resumed measured outcomes only at its ends; leave it out",
            r->given.limits.stop_after > 0 ? "stop-after" : "stop-when");
    if (r->given.limits.stop_when != NULL && rules->when.place == SADDLE_TRACE_COLUMNS) {
        rules->when.place += find_outcome(result, name);
        if (rules->when.place == SADDLE_TRACE_COLUMNS + result->outcome_count)
            return unknown_column(result, "stop-when", name, error);
    }
    return r->given.limits.stop_after > 0 ? choose_outcome(r, error) : SADDLE_OK;
}

/* ---- applying -------------------------------------------------------------------------------- */

/* Returns whether the condition of stop-when holds; never for NaN. */
static bool holds(const saddle_run_state *r)
{
    const saddle_stop_condition *when = &r->rules.when;
    if (r->given.limits.stop_when == NULL)
        return false;
    double value = when->place < SADDLE_TRACE_COLUMNS
                       ? saddle_row_cell(&r->row, when->place)
                       : r->outcome[when->place - SADDLE_TRACE_COLUMNS];
    if (when->upper)
        return when->strict ? value < when->bound : value <= when->bound;
    return when->strict ? value > when->bound : value >= when->bound;
}

bool saddle_run_gains(const saddle_run_state *r, size_t row, const double *outcomes)
{
    const saddle_result *result = r->result;
    size_t on = r->rules.on;
    if (row == 0)
        return true;
    double best = result->outcomes[result->solution_row * result->outcome_count + on];
    double value = outcomes[on];
    bool better = result->outcome[on].better == SADDLE_LARGER ? value > best : value < best;
    return better || (isnan(best) && !isnan(value));
}

int saddle_run_apply_rules(const saddle_run_state *r, int stop)
{
    const saddle_result *result = r->result;
    uint64_t after = r->given.limits.stop_after;
    /* The measured row has not been appended to the result yet. */
    size_t row = result->row_count;
    if (holds(r))
        return SADDLE_STOP_CONDITION;
    if (stop < 0 && after > 0 && !saddle_run_gains(r, row, r->outcome) &&
        row - result->solution_row >= after)
        return SADDLE_STOP_NO_GAIN;
    return stop;
}
