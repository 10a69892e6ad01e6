#include "comparison.h"

#include <unistd.h>

#include "core/world.h"
#include "files/file.h"
#include "instance/fingerprint.h"
#include "lab/trace_build.h"
#include "observe/trace.h"
#include "run/run.h"

void saddle_comparison_release(comparison *c)
{
    saddle_unlock_directory(c->held);
    for (size_t k = 0; c->run != NULL && k < c->names.count * c->repeats; k++) {
        saddle_free(c->run[k].rows);
        saddle_free(c->run[k].outcomes);
    }
    free(c->run);
    for (size_t a = 0; a < c->names.count; a++)
        saddle_free(c->refused[a]);
    saddle_algorithm_names_release(&c->names);
}

const saddle_row *saddle_comparison_reached(const comparison_run *run, double level)
{
    size_t k = run->row_count > 0 ? saddle_levels_reached(&run->rows->metric, sizeof *run->rows,
                                                          run->row_count, level)
                                  : 0;
    return k < run->row_count ? &run->rows[k] : NULL;
}

bool saddle_comparison_is_simulated(const comparison *c)
{
    for (size_t k = 0; k < c->names.count * c->repeats; k++)
        if (c->run[k].row_count > 0)
            return !isnan(c->run[k].rows[0].cost.network_seconds);
    return false;
}

/* ---- levels -------------------------------------------------------------------------------- */

void saddle_comparison_choose_levels(comparison *c)
{
    saddle_metric_range range = {.runs = 0};
    for (size_t k = 0; k < c->names.count * c->repeats; k++) {
        const comparison_run *run = &c->run[k];
        if (run->row_count > 0)
            saddle_metric_range_add(&range, run->rows[0].metric,
                                    run->rows[run->row_count - 1].metric);
    }
    c->levels = saddle_levels_choose(&range, c->level);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Writes the costs, metric, gap and outcomes of a run at a row; NULL: it never came there. */
static void write_row(FILE *f, const comparison *c, const comparison_run *run,
                      const saddle_row *row)
{
    char number[SADDLE_REAL_SIZE];
    bool simulated = saddle_comparison_is_simulated(c);
    if (row == NULL) {
        fputs(simulated ? "never,never,never,never,never,," : "never,never,never,never,,", f);
        for (size_t k = 0; k < c->outcome_count; k++)
            fputc(',', f);
    } else {
        const double *outcomes = run->outcomes + (size_t)(row - run->rows) * c->outcome_count;
        saddle_fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g", row->cost.ifo,
                       row->cost.rounds, row->cost.bytes, row->seconds);
        if (simulated)
            saddle_fprintf(f, ",%.17g", row->cost.network_seconds);
        saddle_fprintf(f, ",%.17g,%s", row->metric,
                       isnan(row->gap) ? "" : saddle_print_real(row->gap, 17, number));
        for (size_t k = 0; k < c->outcome_count; k++)
            saddle_fprintf(f, ",%s",
                           isnan(outcomes[k]) ? "" : saddle_print_real(outcomes[k], 17, number));
    }
    fputc('\n', f);
}

static void write_rows(FILE *f, const void *context)
{
    const comparison *c = context;
    saddle_fprintf(f, "algorithm,seed,level,ifo,rounds,bytes,seconds%s,metric,gap",
                   saddle_comparison_is_simulated(c) ? ",network_seconds" : "");
    for (size_t k = 0; k < c->outcome_count; k++)
        saddle_fprintf(f, ",%s", c->outcome[k].name);
    fputc('\n', f);
    for (size_t a = 0; a < c->names.count; a++)
        for (size_t r = 0; r < c->repeats; r++) {
            const comparison_run *run = &c->run[a * c->repeats + r];
            for (size_t k = 0; run->done && k <= c->levels; k++) {
                bool end = k == c->levels;
                char level[SADDLE_REAL_SIZE];
                saddle_fprintf(f, "%s,%" PRIu64 ",%s,", c->names.algorithm[a]->name,
                               c->first_seed + (uint64_t)r,
                               end ? "end" : saddle_print_real(c->level[k], 15, level));
                write_row(f, c, run,
                          end ? &run->rows[run->row_count - 1]
                              : saddle_comparison_reached(run, c->level[k]));
            }
        }
}

saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error)
{
    return saddle_output_save(path, write_rows, c, error);
}

/* ---- finished runs of an interrupted comparison, read back from their traces ----------------- */

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

static bool is_outcome(const char *column)
{
    return saddle_trace_column_find(column) == SADDLE_TRACE_COLUMNS;
}

/* Whether a trace has rows and all columns of a run. */
static bool is_of_run(const saddle_trace *trace)
{
    const saddle_row without = {.cost = {.network_seconds = (double)NAN, .age = (double)NAN},
                                .present = (double)NAN,
                                .components = (double)NAN};
    bool good = trace->rows > 0;
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++)
        good = good && (!saddle_row_has(&without, k) ||
                        saddle_trace_column(trace, saddle_trace_column_name(k)) != NULL);
    size_t outcomes = 0;
    for (size_t k = 0; k < trace->columns; k++)
        if (is_outcome(trace->column[k]))
            good = good && ++outcomes <= SADDLE_MOST_OUTCOME_COLUMNS &&
                   strlen(trace->column[k]) < sizeof((saddle_outcome_column *)NULL)->name;
    return good;
}

static saddle_status take_rows(comparison *c, comparison_run *run, const saddle_trace *trace,
                               saddle_error *error)
{
    c->outcome_count = 0;
    for (size_t k = 0; k < trace->columns; k++)
        if (is_outcome(trace->column[k]))
            saddle_snprintf(c->outcome[c->outcome_count++].name, sizeof c->outcome->name, "%s",
                            trace->column[k]);
    SADDLE_TRY(saddle_comparison_allocate(c, run, trace->rows, error));
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++) {
        const double *value = saddle_trace_column(trace, saddle_trace_column_name(k));
        for (size_t r = 0; r < trace->rows; r++)
            saddle_row_set_cell(&run->rows[r], k, value != NULL ? value[r] : (double)NAN);
    }
    for (size_t k = 0; k < c->outcome_count; k++) {
        const double *value = saddle_trace_column(trace, c->outcome[k].name);
        for (size_t r = 0; r < trace->rows; r++)
            run->outcomes[r * c->outcome_count + k] = value[r];
    }
    return SADDLE_OK;
}

/* Takes the rows of a trace, in the process that has it, if they are those of the run. */
static saddle_status take_trace(comparison *c, comparison_run *run, const saddle_trace *trace,
                                const saddle_forecast *forecast, saddle_error *error)
{
    const saddle_wanted_run wanted = {
        .what = "comparison",
        .remedy = "give another directory, or set --overwrite to replace it",
        .plan = &forecast->plan,
        .given = &c->arguments->plan,
        .values = {&forecast->plan, saddle_plan_value},
        .may_differ = SADDLE_EFFECTS(ENGINE) | SADDLE_EFFECTS(OUTPUT),
        .fingerprint = forecast->fingerprint};
    SADDLE_TRY(saddle_in_field("--output", saddle_trace_check_run(trace, &wanted, error), error));
    if (!find_end(trace, &run->stop) || !is_of_run(trace))
        return SADDLE_OK;
    SADDLE_TRY(take_rows(c, run, trace, error));
    run->done = true;
    return SADDLE_OK;
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
    const char *path = plan->outputs.trace;
    saddle_trace *trace = NULL;
    saddle_forecast forecast = {.most_ifo = 0};
    uint64_t fingerprint; /* which the forecast then has */
    SADDLE_TRY(saddle_fingerprint_instance(instance, &fingerprint, error));
    /* A file that ends before its first row, or is not a trace, is written again. */
    if (world->rank == 0 && access(path, F_OK) == 0 &&
        saddle_trace_read(&trace, path, NULL) != SADDLE_OK)
        trace = NULL;
    unsigned char found = trace != NULL;
    world->share(world, 0, sizeof found, &found);
    if (found == 0)
        return SADDLE_OK;
    saddle_status status = saddle_run_forecast(instance, plan, &forecast, error); /* collective */
    if (status == SADDLE_OK && trace != NULL)
        status = take_trace(c, run, trace, &forecast, error);
    saddle_plan_free(&forecast.plan);
    saddle_trace_free(trace);
    SADDLE_TRY(saddle_world_agree(world, status, error));
    unsigned char done = run->done;
    world->share(world, 0, sizeof done, &done);
    run->done = done != 0;
    return run->done && world->ranks > 1 ? share(world, c, run, error) : SADDLE_OK;
}
