/* The run's loop: advance, measure, check, record. */
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/agent.h"
#include "core/clock.h"
#include "core/float_mode.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "run/result.h"

/* Iterations between two self-checks; they cost about as much as one iteration. */
#define CHECK_EVERY 64

void saddle_run_warn(const saddle_run_state *r, const char *message)
{
    if (r->hooks->warning != NULL)
        r->hooks->warning(r->hooks->context, message);
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Measure into r->row. Sets *diverged when the metric or a loss is not finite. */
static saddle_status measure(saddle_run_state *r, bool *diverged, saddle_error *error)
{
    double begin = saddle_clock_seconds();
    r->row = (saddle_row){.seconds = r->seconds};
    saddle_status status = saddle_observe(r->observer, &r->row, error);
    r->times.measuring += saddle_clock_seconds() - begin;
    *diverged = !isfinite(r->row.metric) || !isfinite(r->row.loss) || !isfinite(r->row.primal);
    return status;
}

/* The outcomes of r->row, at the ends of a run and where they are wanted at every row. */
static saddle_status evaluate(saddle_run_state *r, bool last, saddle_error *error)
{
    saddle_result *result = r->result;
    size_t count;
    for (size_t k = 0; k < SADDLE_MOST_OUTCOME_COLUMNS; k++)
        r->outcome[k] = (double)NAN;
    if (r->outcomes == NULL || !(last || result->row_count == 0 ||
                                 result->plan.outputs.outcomes == SADDLE_OUTCOMES_ALWAYS))
        return SADDLE_OK;
    double begin = saddle_clock_seconds();
    saddle_status status =
        saddle_outcomes_measure(r->outcomes, saddle_observer_x_mean(r->observer),
                                saddle_observer_y_mean(r->observer), r->outcome, error);
    r->times.measuring += saddle_clock_seconds() - begin;
    SADDLE_TRY(saddle_run_agree(r, status, error));
    const saddle_outcome_column *column = saddle_outcomes_columns(r->outcomes, &count);
    memcpy(result->outcome, column, count * sizeof *column);
    result->outcome_count = count;
    return SADDLE_OK;
}

static void copy_task(void *context, saddle_agent *agent)
{
    const saddle_run_state *r = context;
    saddle_result *result = r->result;
    saddle_view view;
    saddle_agent_view(r->info.algorithm, agent, &view);
    size_t place = saddle_world_place(r->info.instance->world, agent->id);
    memcpy(result->x + place * result->x_dim, view.x, result->x_dim * sizeof(double));
    memcpy(result->y + place * result->y_dim, view.y, result->y_dim * sizeof(double));
}

/* Make the present iterate, of which a row has just been measured, the result's solution. */
static void keep_solution(saddle_run_state *r)
{
    saddle_result *result = r->result;
    memcpy(result->x_mean, saddle_observer_x_mean(r->observer), result->x_dim * sizeof(double));
    memcpy(result->y_mean, saddle_observer_y_mean(r->observer), result->y_dim * sizeof(double));
    r->engine->kind->for_each(r->engine, copy_task, r);
}

/* Check the state, if it is time to, and record r->row, unless nothing has moved since the last one:
 * a run may be interrupted while it measures. */
static saddle_status record(saddle_run_state *r, bool last, saddle_error *error)
{
    const saddle_row *row = &r->row;
    const saddle_result *result = r->result;
    size_t count = result->outcome_count;
    bool again =
        result->row_count > 0 && result->rows[result->row_count - 1].iteration == row->iteration;
    saddle_status status = SADDLE_OK;
    double begin = saddle_clock_seconds();
    if (last || row->iteration == 0 || row->iteration >= r->last_check + CHECK_EVERY) {
        status = saddle_observer_check(r->observer, error);
        r->last_check = row->iteration;
    }
    if (status != SADDLE_OK)
        return status;
    r->times.measuring += saddle_clock_seconds() - begin;
    if (again) {
        memcpy(result->outcomes + (result->row_count - 1) * count, r->outcome,
               count * sizeof *r->outcome);
        return SADDLE_OK;
    }
    bool gains =
        r->given.limits.stop_after > 0 && saddle_run_gains(r, result->row_count, r->outcome);
    SADDLE_THEN(status, saddle_result_append(r->result, row, r->outcome, error));
    if (status == SADDLE_OK && gains) {
        keep_solution(r);
        r->result->solution_row = result->row_count - 1;
    }
    SADDLE_THEN(status, saddle_run_write_row(r, error));
    status = saddle_run_agree(r, status, error);
    if (status == SADDLE_OK && r->hooks->row != NULL)
        r->hooks->row(r->hooks->context, row);
    return status;
}

/* The first row. A start where the losses are not finite is refused before anything is written. */
static saddle_status measure_start(saddle_run_state *r, saddle_error *error)
{
    bool diverged = false;
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    SADDLE_TRY(measure(r, &diverged, error));
    if (!diverged)
        return evaluate(r, false, error);
    SADDLE_TRY(saddle_run_locate(r, &fault, error));
    SADDLE_TRY(saddle_run_explain(r, &fault, error));
    if (r->result->cause[0] != '\0')
        return saddle_fail(error, SADDLE_BAD_INPUT, "at the starting point %s", r->result->cause);
    return saddle_run_refuse_start(r, error);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static saddle_status begin(saddle_run_state *r, saddle_error *error)
{
    saddle_status status = saddle_run_prepare(r, error);
    if (status != SADDLE_OK)
        return status;
    saddle_run_share_progress(r);
    if (r->resumed.from == NULL)
        SADDLE_TRY(measure_start(r, error));
    status = saddle_run_resolve_rules(r, error);
    status =
        saddle_run_agree(r, status == SADDLE_OK ? saddle_run_open_files(r, error) : status, error);
    SADDLE_THEN_IF(status, r->resumed.from != NULL,
                   saddle_run_agree(r, saddle_run_recall_rows(r, error), error));
    if (status == SADDLE_OK && r->hooks->begin != NULL)
        r->hooks->begin(r->hooks->context, &r->info);
    return status;
}

/* Write a checkpoint if one is due. One that cannot be written does not end the run: the last one
 * is still there. */
static void write_checkpoint(saddle_run_state *r, bool last)
{
    saddle_error error = {.message = ""};
    const saddle_checkpoint_moment moment = {.seconds = r->seconds,
                                             .last_check = r->last_check,
                                             .trace_ifo = r->trace_ifo,
                                             .observer = r->observer,
                                             .result = r->result};
    char message[sizeof error.message + 64];
    if (r->writer == NULL ||
        saddle_checkpoint_write_due(r->writer, &moment, last, &error) == SADDLE_OK)
        return;
    saddle_snprintf(message, sizeof message, "no checkpoint: %s%s", error.message,
                    last ? "" : "; the run continues without it");
    saddle_run_warn(r, message);
}

/* Advance to the next trace point or stop; calls the progress hook on the way. */
static void advance(saddle_run_state *r, saddle_fault *fault, int *stop)
{
    uint64_t iteration = r->engine->kind->iteration(r->engine);
    uint64_t target = (r->row.iteration / r->trace_every + 1) * r->trace_every;
    uint64_t ifo_target =
        r->trace_ifo > 0 ? (r->row.cost.ifo / r->trace_ifo + 1) * r->trace_ifo : UINT64_MAX;
    saddle_cost cost;
    for (;;) {
        r->engine->kind->cost(r->engine, &cost);
        saddle_run_share_progress(r);
        *stop = saddle_run_stop_reason(r, iteration, &cost);
        if (fault->kind == SADDLE_FAULT_NONE)
            write_checkpoint(r, *stop >= 0);
        if (*stop >= 0 || iteration >= target || cost.ifo >= ifo_target ||
            fault->kind != SADDLE_FAULT_NONE)
            return;
        saddle_limits limits = saddle_run_limits(r, iteration, target, ifo_target, &cost);
        double now = saddle_clock_seconds();
        r->engine->kind->advance(r->engine, &limits, fault);
        r->unshared += saddle_clock_seconds() - now;
        iteration = r->engine->kind->iteration(r->engine);
        if (r->hooks->progress != NULL)
            r->hooks->progress(r->hooks->context, iteration, r->seconds + r->unshared);
    }
}

static saddle_status stalled(const saddle_fault *fault, saddle_error *error)
{
    return saddle_fail(error, SADDLE_CHECK_FAILED,
                       "self-check at iteration %llu: agent %zu's recursive differences of %s have "
                       "been exactly zero for many iterations although its iterate moves; the "
                       "problem's difference() or gradient() does not depend on the point",
                       (unsigned long long)fault->iteration, fault->agent, fault->variable);
}

/* Why the run ends at r->row, or -1, as far as that is known without its outcomes. `stop` is what its limits
 * say. */
static int reached(const saddle_run_state *r, int stop)
{
    double tolerance = r->given.limits.tolerance;
    if (tolerance > 0.0 && r->row.metric <= tolerance)
        stop = SADDLE_STOP_TOLERANCE;
    return r->rules.outcomes ? stop : saddle_run_apply_rules(r, stop);
}

/* Record r->row; *ended is set when it is the last one. */
static saddle_status arrive(saddle_run_state *r, int stop, bool *ended, saddle_error *error)
{
    *ended = stop >= 0;
    if (*ended)
        r->result->stop = (saddle_stop)stop;
    return record(r, *ended, error);
}

static saddle_status loop(saddle_run_state *r, saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    saddle_cost cost;
    saddle_status status = SADDLE_OK;
    bool ended = false;
    r->engine->kind->cost(r->engine, &cost);
    saddle_run_share_progress(r);
    int stop = saddle_run_stop_reason(r, 0, &cost);
    if (r->resumed.from == NULL)
        status = arrive(r, saddle_run_apply_rules(r, reached(r, stop)), &ended, error);
    while (status == SADDLE_OK && !ended) {
        advance(r, &fault, &stop);
        if (fault.kind == SADDLE_FAULT_STALLED)
            return stalled(&fault, error);
        if (fault.kind != SADDLE_FAULT_NONE)
            return saddle_run_diverge(r, &fault, error);
        bool diverged = false;
        status = measure(r, &diverged, error);
        if (status == SADDLE_OK && (diverged || saddle_run_runs_away(r)))
            return saddle_run_diverge(r, &fault, error);
        stop = reached(r, stop);
        SADDLE_THEN(status, evaluate(r, stop >= 0, error));
        SADDLE_THEN(status, arrive(r, saddle_run_apply_rules(r, stop), &ended, error));
    }
    return status;
}

/* ---- the end -------------------------------------------------------------------------------- */

static saddle_status conclude(saddle_run_state *r, saddle_error *error)
{
    saddle_result *result = r->result;
    if (r->given.limits.stop_after == 0) {
        keep_solution(r);
        result->solution_row = result->row_count - 1;
    }
    r->engine->kind->cost(r->engine, &result->cost);
    const char *newest = r->writer != NULL ? saddle_checkpoint_writer_newest(r->writer) : NULL;
    result->checkpoint = saddle_strdup(newest);
    if (newest != NULL && result->checkpoint == NULL) {
        saddle_no_memory(error, "the checkpoint's path");
        return SADDLE_NO_MEMORY;
    }
    return SADDLE_OK;
}

saddle_status saddle_run_of_several(const saddle_instance *instance, const saddle_plan *plan,
                                    bool alone, const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    static const saddle_hooks no_hooks = {.context = NULL};
    saddle_run_state r = {.info = {.network = instance, .instance = instance, .given = &r.given},
                          .hooks = hooks != NULL ? hooks : &no_hooks,
                          .times = {.setup = instance->times},
                          .begin = saddle_clock_seconds(),
                          .alone = alone};
    /* Only process 0 calls hooks. */
    saddle_hooks silent = {.interrupt = r.hooks->interrupt};
    if (instance->world->rank > 0)
        r.hooks = &silent;
    saddle_status status = saddle_plan_copy(&r.given, plan != NULL ? plan : instance->plan, error);
    status = saddle_run_agree(&r, status, error);
    SADDLE_THEN(status, begin(&r, error));
    SADDLE_THEN(status, loop(&r, error));
    SADDLE_THEN(status, conclude(&r, error));
    status = saddle_run_agree(&r, status, error);
    if (status == SADDLE_OK)
        saddle_run_save_model(&r);
    saddle_run_close_files(&r, status);
    r.times.rest = saddle_clock_seconds() - r.begin - r.times.iterating - r.times.measuring;
    if (status == SADDLE_OK) {
        r.result->times = r.times;
        *out = r.result;
    } else {
        saddle_result_free(r.result);
    }
    saddle_run_release(&r);
    return status;
}

saddle_status saddle_run(const saddle_instance *instance, const saddle_plan *plan,
                         const saddle_hooks *hooks, saddle_result **out, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, instance);
    return saddle_run_of_several(instance, plan, true, hooks, out, error);
}

saddle_status saddle_solve(const saddle_problem *problem, const saddle_plan *plan,
                           saddle_result **out, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, plan);
    saddle_instance *instance = NULL;
    saddle_plan with;
    SADDLE_TRY(saddle_plan_copy(&with, plan, error));
    if (problem != NULL)
        with.problem.own = problem;
    saddle_status status = saddle_instance_create(&instance, &with, error);
    SADDLE_THEN(status, saddle_run(instance, &with, NULL, out, error));
    saddle_instance_free(instance);
    saddle_plan_free(&with);
    return status;
}
