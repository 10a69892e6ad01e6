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
    for (size_t k = 0; c->run != NULL && k < saddle_comparison_runs(c); k++)
        saddle_trace_free(c->run[k].trace);
    free(c->run);
    for (size_t a = 0; a < c->names.count; a++)
        saddle_free(c->refused[a]);
    saddle_algorithm_names_release(&c->names);
}

size_t saddle_comparison_runs(const comparison *c)
{
    return c->names.count * c->repeats;
}

const saddle_trace *saddle_comparison_trace(const comparison *c)
{
    for (size_t k = 0; k < saddle_comparison_runs(c); k++)
        if (c->run[k].trace != NULL)
            return c->run[k].trace;
    return NULL;
}

bool saddle_comparison_is_outcome(const char *column)
{
    return saddle_trace_column_find(column) == SADDLE_TRACE_COLUMNS;
}

/* ---- levels -------------------------------------------------------------------------------- */

void saddle_comparison_choose_levels(comparison *c)
{
    saddle_metric_range range = {.runs = 0};
    for (size_t k = 0; k < saddle_comparison_runs(c); k++)
        if (c->run[k].trace != NULL)
            trace_range_add(&range, c->run[k].trace);
    c->levels = saddle_levels_choose(&range, c->level);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* The columns of the summary besides algorithm, seed and level. */
typedef struct summary_columns {
    size_t costs; /* the first of them: of a level that is not reached they are "never" */
    size_t count;
    const char *name[8 + SADDLE_MOST_OUTCOME_COLUMNS];
} summary_columns;

/* Lists costs, metric, gap, and the outcomes of a trace. */
static summary_columns list_columns(const saddle_trace *trace)
{
    static const char *const cost[] = {"ifo", "rounds", "bytes", "seconds", "network_seconds"};
    summary_columns all = {.count = 0};
    for (size_t k = 0; k < sizeof cost / sizeof *cost; k++)
        if (saddle_trace_column(trace, cost[k]) != NULL)
            all.name[all.costs++] = cost[k];
    all.count = all.costs;
    all.name[all.count++] = "metric";
    all.name[all.count++] = "gap";
    for (size_t k = 0; k < trace->columns; k++)
        if (saddle_comparison_is_outcome(trace->column[k]) &&
            all.count < sizeof all.name / sizeof *all.name)
            all.name[all.count++] = trace->column[k];
    return all;
}

/* Writes the numbers of a run at a level. */
static void write_row(FILE *f, const summary_columns *all, const saddle_trace *trace, double level)
{
    char text[SADDLE_REAL_SIZE];
    bool reached = trace_row_at(trace, level) < trace->rows;
    for (size_t k = 0; k < all->count; k++) {
        double value = trace_value_at(trace, all->name[k], level);
        const char *none = reached || k >= all->costs ? "" : "never";
        saddle_fprintf(f, ",%s", isnan(value) ? none : saddle_print_real(value, 17, text));
    }
    fputc('\n', f);
}

static void write_rows(FILE *f, const void *context)
{
    const comparison *c = context;
    const saddle_trace *first = saddle_comparison_trace(c);
    summary_columns all = {.count = 0};
    if (first != NULL)
        all = list_columns(first);
    fputs("algorithm,seed,level", f);
    for (size_t k = 0; k < all.count; k++)
        saddle_fprintf(f, ",%s", all.name[k]);
    fputc('\n', f);
    for (size_t k = 0; k < saddle_comparison_runs(c); k++)
        for (size_t l = 0; c->run[k].trace != NULL && l <= c->levels; l++) {
            bool end = l == c->levels;
            char level[SADDLE_REAL_SIZE];
            saddle_fprintf(f, "%s,%" PRIu64 ",%s", c->names.algorithm[k / c->repeats]->name,
                           c->first_seed + (uint64_t)(k % c->repeats),
                           end ? "end" : saddle_print_real(c->level[l], 15, level));
            write_row(f, &all, c->run[k].trace, end ? TRACE_AT_END : c->level[l]);
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
        if (saddle_comparison_is_outcome(trace->column[k]))
            good = good && ++outcomes <= SADDLE_MOST_OUTCOME_COLUMNS &&
                   strlen(trace->column[k]) < sizeof((saddle_outcome_column *)NULL)->name;
    return good;
}

/* Takes a trace, in the process that has it, if it is that of the run. */
static saddle_status take_trace(const comparison *c, comparison_run *run, saddle_trace **trace,
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
    SADDLE_TRY(saddle_in_field("--output", saddle_trace_check_run(*trace, &wanted, error), error));
    if (find_end(*trace, &run->stop) && is_of_run(*trace)) {
        run->trace = saddle_taken(trace);
        run->done = true;
    }
    return SADDLE_OK;
}

saddle_status saddle_comparison_find(const comparison *c, comparison_run *run,
                                     const saddle_instance *instance, const saddle_plan *plan,
                                     saddle_error *error)
{
    const saddle_world *world = instance->world;
    const char *path = plan->outputs.trace;
    SADDLE_OWNED_BY(saddle_trace_free_at) saddle_trace *trace = NULL;
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
        status = take_trace(c, run, &trace, &forecast, error);
    saddle_plan_free(&forecast.plan);
    SADDLE_TRY(saddle_world_agree(world, status, error));
    world->share(world, 0, sizeof run->done, &run->done);
    world->share(world, 0, sizeof run->stop, &run->stop);
    return SADDLE_OK;
}
