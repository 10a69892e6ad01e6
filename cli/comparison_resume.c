/* Finished runs of an interrupted comparison: their traces are read back instead of running
 * again. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "comparison.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "instance/fingerprint.h"
#include "instance/plan.h"
#include "observe/trace.h"
#include "run/run.h"

/* Refuses a trace of another version, with a setting that differs from the run's, or of files with
 * other contents. */
static saddle_status check_settings(const saddle_trace *trace, const saddle_forecast *run,
                                    saddle_error *error)
{
    const saddle_plan *effective = &run->plan;
    char fingerprint[32];
    if (strcmp(trace->version, saddle_version()) != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--output: '%.300s' was written by saddle %.40s, but this is %s; give "
                           "another directory, or set --overwrite to replace it",
                           trace->path, trace->version, saddle_version());
    for (size_t k = 0; k < saddle_plan_option_count(effective); k++) {
        const saddle_option *option = saddle_plan_option(effective, k);
        const char *here = SADDLE_PLAN_TEXT(effective, option);
        const char *there = saddle_trace_setting(trace, option->name);
        if (option->effect == SADDLE_EFFECT_ENGINE || option->effect == SADDLE_EFFECT_OUTPUT ||
            strcmp(here, there) == 0)
            continue;
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "--output: '%.300s' belongs to another comparison: --%s is '%.100s' there and '%.100s' "
            "here; give another directory, or set --overwrite to replace it",
            trace->path, option->name, there, here);
    }
    saddle_snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, run->fingerprint);
    if (strcmp(saddle_trace_setting(trace, "fingerprint"), fingerprint) == 0)
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_BAD_INPUT,
        "--output: '%.300s' belongs to another comparison: its settings are the same, "
        "but the contents of the data, the network or the link model have changed; "
        "restore the files, give another directory, or set --overwrite to replace it",
        trace->path);
}

/* Finds why the run of a trace ended; false: it did not end. */
static bool find_end(const saddle_trace *trace, saddle_stop *out)
{
    for (int stop = 0; trace->end != NULL && stop <= SADDLE_STOP_DIVERGED; stop++)
        if (stop != SADDLE_STOP_INTERRUPTED &&
            strcmp(trace->end, saddle_stop_text((saddle_stop)stop)) == 0) {
            *out = (saddle_stop)stop;
            return true;
        }
    return false;
}

/* Finds the columns of a run in a trace: index[k], or SIZE_MAX for a column that such a run does
 * not have. Returns their number; 0: it is not the trace of a run. The outcomes follow them. */
static size_t find_columns(const saddle_trace *trace, size_t index[SADDLE_TRACE_COLUMNS])
{
    const saddle_row without = {.cost = {.network_seconds = (double)NAN, .age = (double)NAN},
                                .present = (double)NAN,
                                .components = (double)NAN};
    size_t found = 0;
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++) {
        bool here = found < trace->columns &&
                    strcmp(trace->column[found], saddle_trace_column_name(k)) == 0;
        if (!here && saddle_row_has(&without, k))
            return 0;
        index[k] = here ? found++ : SIZE_MAX;
    }
    if (trace->columns > found + SADDLE_MOST_OUTCOME_COLUMNS || trace->rows == 0)
        return 0;
    for (size_t k = found; k < trace->columns; k++)
        if (strlen(trace->column[k]) >= sizeof((saddle_outcome_column *)0)->name)
            return 0;
    return found;
}

static bool is_of_run(const saddle_trace *trace)
{
    size_t index[SADDLE_TRACE_COLUMNS];
    return find_columns(trace, index) > 0;
}

static saddle_status take_rows(comparison *c, comparison_run *run, const saddle_trace *trace,
                               saddle_error *error)
{
    size_t index[SADDLE_TRACE_COLUMNS];
    size_t first = find_columns(trace, index);
    size_t width = trace->columns - first;
    run->rows = saddle_alloc(trace->rows, sizeof *run->rows);
    run->outcomes = saddle_alloc(trace->rows, width * sizeof *run->outcomes);
    if (run->rows == NULL || run->outcomes == NULL)
        return saddle_no_memory(error, "the rows of a trace");
    run->row_count = trace->rows;
    for (size_t r = 0; r < trace->rows; r++) {
        for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++)
            saddle_row_set_cell(&run->rows[r], k,
                                index[k] < first ? trace->value[index[k]][r] : (double)NAN);
        for (size_t k = 0; k < width; k++)
            run->outcomes[r * width + k] = trace->value[first + k][r];
    }
    c->outcome_count = width;
    for (size_t k = 0; k < width; k++)
        memcpy(c->outcome[k].name, trace->column[first + k], strlen(trace->column[first + k]) + 1);
    return SADDLE_OK;
}

/* In the process that has the files. */
static saddle_status find(comparison *c, comparison_run *run, const saddle_instance *instance,
                          const saddle_plan *plan, saddle_error *error)
{
    saddle_trace *trace = NULL;
    saddle_forecast forecast = {.most_ifo = 0};
    const char *path = plan->outputs.trace;
    /* A file that ends before its first row, or is not a trace, is written again. */
    if (access(path, F_OK) != 0 || saddle_trace_read(&trace, path, NULL) != SADDLE_OK)
        return SADDLE_OK;
    saddle_status status = saddle_run_forecast(instance, plan, &forecast, error);
    SADDLE_THEN(status, check_settings(trace, &forecast, error));
    if (status == SADDLE_OK && find_end(trace, &run->stop) && is_of_run(trace)) {
        status = take_rows(c, run, trace, error);
        run->done = status == SADDLE_OK;
    }
    saddle_plan_free(&forecast.plan);
    saddle_trace_free(trace);
    return status;
}

/* Sends what process 0 found to all processes. */
static saddle_status share(const saddle_world *world, comparison *c, comparison_run *run,
                           saddle_error *error)
{
    size_t sizes[] = {run->row_count, c->outcome_count};
    world->share(world, 0, sizeof run->stop, &run->stop);
    world->share(world, 0, sizeof sizes, sizes);
    world->share(world, 0, sizeof c->outcome, c->outcome);
    if (world->rank > 0) {
        run->rows = saddle_alloc(sizes[0], sizeof *run->rows);
        run->outcomes = saddle_alloc(sizes[0], sizes[1] * sizeof *run->outcomes);
    }
    saddle_status status = run->rows != NULL && run->outcomes != NULL
                               ? SADDLE_OK
                               : saddle_no_memory(error, "the rows of a trace");
    SADDLE_TRY(saddle_world_agree(world, status, error));
    run->row_count = sizes[0];
    c->outcome_count = sizes[1];
    world->share(world, 0, sizes[0] * sizeof *run->rows, run->rows);
    world->share(world, 0, sizes[0] * sizes[1] * sizeof *run->outcomes, run->outcomes);
    return SADDLE_OK;
}

saddle_status saddle_comparison_find(comparison *c, comparison_run *run,
                                     const saddle_instance *instance, const saddle_plan *plan,
                                     saddle_error *error)
{
    const saddle_world *world = instance->world;
    uint64_t fingerprint; /* which the forecast then has */
    SADDLE_TRY(saddle_fingerprint_instance(instance, &fingerprint, error));
    saddle_status status = world->rank == 0 ? find(c, run, instance, plan, error) : SADDLE_OK;
    SADDLE_TRY(saddle_world_agree(world, status, error));
    unsigned char done = run->done;
    world->share(world, 0, sizeof done, &done);
    run->done = done != 0;
    return run->done && world->ranks > 1 ? share(world, c, run, error) : SADDLE_OK;
}
