#include "lab/trace_build.h"

#include "core/float_mode.h"
#include "files/plugin.h"
#include "instance/fingerprint.h"
#include "observe/trace.h"

saddle_trace *saddle_trace_create(const char *path, const char *version, const char *end,
                                  size_t rows)
{
    saddle_trace *trace = saddle_alloc(1, sizeof *trace);
    if (trace == NULL)
        return NULL;
    trace->path = saddle_strdup(path);
    trace->version = saddle_strdup(version);
    trace->end = saddle_strdup(end);
    trace->rows = rows;
    if (trace->path != NULL && trace->version != NULL && (trace->end != NULL || end == NULL))
        return trace;
    saddle_trace_free(trace);
    return NULL;
}

/* Returns an array with one more element, which is zero; NULL if memory is short, and then the
 * array is unchanged. */
static void *lengthen(void *array, size_t count, size_t size)
{
    void *longer = saddle_alloc(count + 1, size);
    if (longer != NULL && count > 0)
        memcpy(longer, array, count * size);
    if (longer != NULL)
        saddle_free(array);
    return longer;
}

bool saddle_trace_add_entry(saddle_trace *trace, const char *name, const char *value)
{
    saddle_trace_entry *list = lengthen(trace->entry, trace->entries, sizeof *list);
    if (list == NULL)
        return false;
    trace->entry = list;
    saddle_trace_entry *entry = &list[trace->entries++];
    entry->name = saddle_strdup(name);
    entry->value = saddle_strdup(value);
    return entry->name != NULL && entry->value != NULL;
}

double *saddle_trace_add_column(saddle_trace *trace, const char *name)
{
    size_t c = trace->columns;
    char **column = lengthen(trace->column, c, sizeof *column);
    trace->column = column != NULL ? column : trace->column;
    double **value = lengthen(trace->value, c, sizeof *value);
    trace->value = value != NULL ? value : trace->value;
    if (column == NULL || value == NULL)
        return NULL;
    trace->columns++;
    column[c] = saddle_strdup(name);
    value[c] = saddle_alloc_doubles(trace->rows);
    return column[c] != NULL ? value[c] : NULL;
}

/* ---- whether a trace is of the same run ----------------------------------------------------- */

const char *saddle_trace_value(const void *trace, const saddle_option *option,
                               char buffer[SADDLE_VALUE_SIZE])
{
    (void)buffer;
    return saddle_trace_setting(trace, option->name);
}

static saddle_status refuse(const saddle_trace *trace, const saddle_wanted_run *wanted,
                            const char *dashes, const char *name, const char *here,
                            const char *there, saddle_error *error)
{
    return saddle_refuse(
        error, "'%.300s' belongs to another %s: %s%s is '%s' there and '%s' here; %s", trace->path,
        wanted->what, dashes, name, saddle_excerpt_of(there, NULL).text,
        saddle_excerpt_of(here, NULL).text, wanted->remedy);
}

saddle_status saddle_trace_check_run(const saddle_trace *trace, const saddle_wanted_run *wanted,
                                     saddle_error *error)
{
    if (strcmp(trace->version, saddle_version()) != 0)
        return saddle_refuse(
            error,
            "'%.300s' belongs to another %s: it was written by %s%.40s, but this is saddle %s; %s",
            trace->path, wanted->what, *trace->version != '\0' ? "saddle " : "another program",
            trace->version, saddle_version(), wanted->remedy);
    const saddle_difference all = {.options = wanted->plan,
                                   .here = wanted->values,
                                   .there = {trace, saddle_trace_value},
                                   .may_differ = wanted->may_differ};
    saddle_difference d = all;
    /* Given options first: others, such as metric-tau after tau, may differ because these do. */
    while (saddle_next_difference(&d))
        if (saddle_plan_given(wanted->given, d.option))
            return refuse(trace, wanted, "--", d.option->name, d.value_here, d.value_there, error);
    d = all;
    char fingerprint[32];
    saddle_snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, wanted->fingerprint);
    bool changed = strcmp(saddle_trace_setting(trace, "fingerprint"), fingerprint) != 0;
    char counted[400] = ""; /* what is computed from the rows and differs */
    while (saddle_next_difference(&d)) {
        /* What is computed from data differs because their contents do. */
        bool of_rows = SADDLE_IS_FIELD(d.option, problem.samples) ||
                       SADDLE_IS_FIELD(d.option, problem.positive) ||
                       SADDLE_IS_FIELD(d.option, problem.classes);
        bool computed =
            of_rows || d.option->stage == SADDLE_STAGE_RUN || d.option->kind == SADDLE_OPTION_REAL;
        if (changed && computed && strcmp(d.option->fallback, "auto") == 0 &&
            !saddle_plan_given(wanted->given, d.option)) {
            if (of_rows)
                saddle_snprintf(counted, sizeof counted,
                                "--%s is '%s' there and '%s' here, because", d.option->name,
                                saddle_excerpt_of(d.value_there, NULL).text,
                                saddle_excerpt_of(d.value_here, NULL).text);
            continue;
        }
        bool follows = SADDLE_IS_FIELD(d.option, outputs.metric_tau);
        return refuse(trace, wanted, "--", follows ? "tau or --metric-tau" : d.option->name,
                      d.value_here, d.value_there, error);
    }
    for (size_t k = 0; k < wanted->extras; k++) {
        const char *name = wanted->extra[k][0];
        const char *there = saddle_trace_setting(trace, name + strspn(name, "-"));
        if (strcmp(there, wanted->extra[k][1]) != 0)
            return refuse(trace, wanted, "", name, wanted->extra[k][1], there, error);
    }
    if (!changed)
        return SADDLE_OK;
    char files[300] = "";
    saddle_append_inputs(wanted->given, files, sizeof files);
    return saddle_refuse(
        error,
        "'%.300s' belongs to another %s: %s the contents of the data, the network, the link model "
        "or a plug-in's files have changed%s; restore the files%s%s, or %s",
        trace->path, wanted->what, counted[0] != '\0' ? counted : "its options are the same, but",
        counted[0] != '\0' ? ", unless it was given there" : "", *files != '\0' ? ":" : "", files,
        wanted->remedy);
}

/* ---- the trace of a result ------------------------------------------------------------------- */

static bool copy_settings(saddle_trace *trace, const saddle_result *result)
{
    const saddle_plan *plan = &result->plan;
    size_t count = saddle_plan_option_count(plan);
    bool good = true;
    for (size_t k = 0; good && k < count; k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        const char *value = SADDLE_PLAN_TEXT(plan, option);
        good = *value == '\0' || saddle_trace_add_entry(trace, option->name, value);
    }
    good = good && (result->title == NULL || saddle_trace_add_entry(trace, "title", result->title));
    good = good && saddle_trace_add_entry(trace, "untuned", result->untuned ? "yes" : "no");
    SADDLE_OWNED char *x_dim = saddle_format("%zu", result->x_dim);
    SADDLE_OWNED char *y_dim = saddle_format("%zu", result->y_dim);
    good = good && x_dim != NULL && y_dim != NULL &&
           saddle_trace_add_entry(trace, "x_dim", x_dim) &&
           saddle_trace_add_entry(trace, "y_dim", y_dim);
    return good;
}

static bool copy_disagreement(saddle_trace *trace, const saddle_result *result)
{
    if (!saddle_result_lists_disagreement(result))
        return true;
    trace->disagreement = saddle_alloc_doubles(result->agents);
    if (trace->disagreement == NULL)
        return false;
    trace->agents = result->agents;
    memcpy(trace->disagreement, result->disagreement, trace->agents * sizeof *trace->disagreement);
    return true;
}

static bool copy_rows(saddle_trace *trace, const saddle_result *result)
{
    for (size_t c = 0; c < SADDLE_TRACE_COLUMNS; c++) {
        if (!saddle_row_has(&result->rows[0], c))
            continue;
        double *value = saddle_trace_add_column(trace, saddle_trace_column_name(c));
        if (value == NULL)
            return false;
        for (size_t r = 0; r < result->row_count; r++)
            value[r] = saddle_row_cell(&result->rows[r], c);
    }
    for (size_t k = 0; k < result->outcome_count; k++) {
        double *value = saddle_trace_add_column(trace, result->outcome[k].name);
        if (value == NULL)
            return false;
        for (size_t r = 0; r < result->row_count; r++)
            value[r] = result->outcomes[r * result->outcome_count + k];
    }
    return true;
}

saddle_status saddle_result_trace(const saddle_result *result, saddle_trace **out,
                                  saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, result);
    const char *name = saddle_plugin_label(result->plan.algorithm.name);
    char *path = saddle_format("%.*s-seed%llu.csv", (int)strcspn(name, ":"), name,
                               (unsigned long long)result->plan.start.seed);
    saddle_trace *trace =
        path != NULL ? saddle_trace_create(path, saddle_version(), saddle_stop_text(result->stop),
                                           result->row_count)
                     : NULL;
    saddle_free(path);
    if (trace != NULL && copy_settings(trace, result) && copy_rows(trace, result) &&
        copy_disagreement(trace, result)) {
        *out = trace;
        return SADDLE_OK;
    }
    saddle_trace_free(trace);
    return saddle_no_memory(error, "the trace of a result");
}
