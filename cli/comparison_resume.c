/* Finished runs of an interrupted comparison: their traces are read back instead of running
 * again. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "comparison.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/world.h"
#include "instance/fingerprint.h"
#include "lab/trace_build.h"
#include "observe/trace.h"
#include "run/run.h"

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
    const saddle_wanted_run wanted = {.what = "comparison",
                                      .remedy =
                                          "give another directory, or set overwrite to replace it",
                                      .plan = &forecast.plan,
                                      .values = saddle_values_of_plan(&forecast.plan),
                                      .may_differ = SADDLE_EFFECTS(ENGINE) | SADDLE_EFFECTS(OUTPUT),
                                      .fingerprint = forecast.fingerprint};
    SADDLE_THEN(status,
                saddle_in_field("output", saddle_trace_check_run(trace, &wanted, error), error));
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
    size_t rows = run->row_count * sizeof *run->rows;
    size_t outcomes = run->row_count * c->outcome_count * sizeof *run->outcomes;
    void *block[] = {run->rows, run->outcomes};
    world->share(world, 0, sizeof run->stop, &run->stop);
    world->share(world, 0, sizeof c->outcome_count, &c->outcome_count);
    world->share(world, 0, sizeof c->outcome, c->outcome);
    saddle_status status = saddle_world_copy(world, &block[0], &rows, "the rows of a trace", error);
    SADDLE_THEN(status,
                saddle_world_copy(world, &block[1], &outcomes, "the rows of a trace", error));
    run->rows = block[0];
    run->outcomes = block[1];
    run->row_count = rows / sizeof *run->rows;
    return status;
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
