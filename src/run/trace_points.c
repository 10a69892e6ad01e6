/* Trace points: measuring, checking and recording a row; and the files of a run. A file that cannot be
 * written does not end a run. */
#include "run/run.h"

#include "algorithms/layout.h"
#include "core/clock.h"
#include "files/file.h"
#include "run/plan_files.h"
#include "run/result.h"

/* The number of iterations between two self-checks, which cost about as much as one iteration. */
#define CHECK_EVERY 64

saddle_status saddle_run_measure(saddle_run_state *r, bool *diverged, saddle_error *error)
{
    double begin = saddle_clock_seconds();
    r->row = (saddle_row){.seconds = r->seconds};
    saddle_status status = saddle_observe(r->observer, &r->row, error);
    r->times.measuring += saddle_clock_seconds() - begin;
    size_t agent;
    *diverged = !isfinite(r->row.metric) || !isfinite(r->row.loss) || !isfinite(r->row.primal) ||
                saddle_observer_returned_nan(r->observer, &agent) != NULL;
    return status;
}

/* Returns how many times iterations have grown by a quarter. */
static unsigned growth(uint64_t iteration)
{
    unsigned times = 0;
    double at = 1.0;
    while (at <= (double)iteration) {
        at *= 1.25;
        times++;
    }
    return times;
}

/* Returns whether the gap of r->row is compared with the level at which a rule ends the run: whenever iterations have
 * grown by a quarter. */
static bool is_compared(const saddle_run_state *r)
{
    const saddle_result *result = r->result;
    return r->rules.gap > 0.0 &&
           (result->row_count == 0 ||
            growth(r->row.iteration) > growth(result->rows[result->row_count - 1].iteration));
}

void saddle_run_measure_gap(saddle_run_state *r, bool last)
{
    saddle_gap_points when = r->given.outputs.gap;
    bool all = last || when == SADDLE_GAP_ALWAYS;
    if (when == SADDLE_GAP_NEVER && last && r->given.outputs.gap_parts)
        saddle_observe_gap_parts(r->observer, &r->row);
    if (when == SADDLE_GAP_NEVER || !isnan(r->row.gap) || !(all || is_compared(r)))
        return;
    double begin = saddle_clock_seconds();
    double goal = all ? fmax(r->rules.gap, saddle_result_goal(r->result)) : r->rules.gap;
    saddle_observe_gap(r->observer, goal, saddle_gap_evaluations(r), all, &r->row);
    double seconds = saddle_clock_seconds() - begin;
    r->times.gap += seconds;
    r->times.measuring += seconds;
    size_t agent;
    const char *function = saddle_observer_returned_nan(r->observer, &agent);
    if (function != NULL && !r->gap_failed)
        saddle_run_warn(r,
                        "the gap of iteration %" PRIu64 " was not measured: %s of agent %zu is NaN "
                        "near the mean of the agents",
                        r->row.iteration, function, agent);
    r->gap_failed = r->gap_failed || function != NULL;
}

saddle_status saddle_run_evaluate(saddle_run_state *r, bool last, saddle_error *error)
{
    const saddle_result *result = r->result;
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
    return saddle_run_agree(r, status, error);
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

void saddle_run_keep_solution(saddle_run_state *r)
{
    saddle_result *result = r->result;
    memcpy(result->x_mean, saddle_observer_x_mean(r->observer), result->x_dim * sizeof(double));
    memcpy(result->y_mean, saddle_observer_y_mean(r->observer), result->y_dim * sizeof(double));
    r->engine->kind->for_each(r->engine, copy_task, r);
}

/* Records that a file could not be written, and warns. */
static saddle_status record_failure(saddle_run_state *r, saddle_status status,
                                    const saddle_error *reason)
{
    saddle_error *first = &r->result->output_error;
    if (status != SADDLE_IO)
        return status;
    if (first->status == SADDLE_OK)
        *first = *reason;
    saddle_run_warn(r, "%s; the run continues without it", reason->message);
    return SADDLE_OK;
}

/* Writes the last row of the result to the trace. A failure to write does not end the run. */
static saddle_status write_row(saddle_run_state *r, saddle_error *error)
{
    saddle_error reason = {.message = ""};
    if (r->trace.stream == NULL)
        return SADDLE_OK;
    saddle_status status = record_failure(
        r, saddle_trace_write(&r->trace, r->result, r->result->row_count - 1, &reason), &reason);
    if (status != SADDLE_OK && error != NULL)
        *error = reason;
    return status;
}

saddle_status saddle_run_check(saddle_run_state *r, uint64_t iteration, bool last,
                               saddle_error *error)
{
    if (!last && iteration != 0 && iteration < r->last_check + CHECK_EVERY)
        return SADDLE_OK;
    double begin = saddle_clock_seconds();
    SADDLE_TRY(saddle_observer_check(r->observer, error));
    r->last_check = iteration;
    r->times.measuring += saddle_clock_seconds() - begin;
    return SADDLE_OK;
}

saddle_status saddle_run_record(saddle_run_state *r, bool last, saddle_error *error)
{
    const saddle_row *row = &r->row;
    const saddle_result *result = r->result;
    size_t count = result->outcome_count;
    bool again =
        result->row_count > 0 && result->rows[result->row_count - 1].iteration == row->iteration;
    saddle_status status = saddle_run_check(r, row->iteration, last, error);
    if (status != SADDLE_OK)
        return status;
    if (again) {
        memcpy(result->outcomes + (result->row_count - 1) * count, r->outcome,
               count * sizeof *r->outcome);
        return SADDLE_OK;
    }
    bool gains =
        r->given.limits.stop_after > 0 && saddle_run_gains(r, result->row_count, r->outcome);
    SADDLE_THEN(status, saddle_result_append(r->result, row, r->outcome, error));
    if (status == SADDLE_OK && gains) {
        saddle_run_keep_solution(r);
        r->result->solution_row = result->row_count - 1;
    }
    SADDLE_THEN(status, write_row(r, error));
    status = saddle_run_agree(r, status, error);
    if (status == SADDLE_OK && r->hooks->row != NULL)
        r->hooks->row(r->hooks->context, row);
    return status;
}

saddle_status saddle_run_measure_start(saddle_run_state *r, saddle_error *error)
{
    bool diverged = false;
    SADDLE_TRY(saddle_run_measure(r, &diverged, error));
    return diverged ? saddle_run_explain_start(r, error) : saddle_run_evaluate(r, false, error);
}

saddle_status saddle_run_explain_start(saddle_run_state *r, saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    SADDLE_TRY(saddle_run_locate(r, &fault, error));
    SADDLE_TRY(saddle_run_explain(r, &fault, error));
    if (r->result->cause[0] != '\0')
        return saddle_refuse(error, "at the starting point %s", r->result->cause);
    return saddle_run_refuse_start(r, error);
}

/* ---- files ----------------------------------------------------------------------------------- */

saddle_status saddle_run_open_files(saddle_run_state *r, saddle_error *error)
{
    if (r->info.network->world->rank > 0)
        return SADDLE_OK;
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_plan_add_outputs(&r->given, &outputs);
    saddle_plan_add_inputs(r->info.network->plan, &inputs);
    saddle_plan_add_inputs(&r->given, &inputs);
    saddle_status status = saddle_path_lists_check(&outputs, &inputs, error);
    SADDLE_THEN(status, saddle_plan_check_names(&r->given, error));
    SADDLE_THEN_IF(status, r->given.outputs.model != NULL,
                   saddle_check_unlocked(r->given.outputs.model, "--model", error));
    SADDLE_THEN_IF(
        status, r->given.outputs.trace != NULL,
        saddle_trace_open(&r->trace, r->given.outputs.trace, &r->info, r->result, error));
    return status;
}

saddle_status saddle_run_recall_rows(saddle_run_state *r, saddle_error *error)
{
    const saddle_checkpoint *from = r->resumed.from;
    const saddle_row *rows = r->resumed.rows;
    const double *outcomes = r->resumed.outcomes;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < from->number.rows; k++) {
        bool gains = r->given.limits.stop_after > 0 && saddle_run_gains(r, k, outcomes);
        status = saddle_result_append(r->result, &rows[k], outcomes, error);
        if (gains)
            r->result->solution_row = k;
        SADDLE_THEN_IF(status, r->trace.stream != NULL,
                       saddle_trace_write(&r->trace, r->result, k, error));
        outcomes += from->number.outcomes;
    }
    saddle_resume_solution(&r->resumed, r->result);
    r->row = rows[from->number.rows - 1];
    r->seconds = from->number.seconds;
    r->last_check = from->number.last_check;
    saddle_resume_forget(&r->resumed);
    return status;
}

void saddle_run_save_model(saddle_run_state *r)
{
    saddle_result *result = r->result;
    saddle_error reason = {.message = ""};
    if (r->given.outputs.model == NULL || result->stop == SADDLE_STOP_DIVERGED)
        return;
    saddle_status status =
        saddle_result_write(result, r->info.instance->world, r->given.outputs.model, &reason);
    result->saved = status == SADDLE_OK;
    if (status == SADDLE_OK || result->output_error.status != SADDLE_OK)
        return;
    result->output_error = reason;
    /* The path was checked when the run began, so this is a failure to write. */
    if (status == SADDLE_BAD_INPUT)
        result->output_error.status = SADDLE_IO;
}

void saddle_run_close_files(saddle_run_state *r, saddle_status outcome)
{
    const saddle_world *world = r->info.network->world;
    saddle_error reason = {.message = ""};
    bool good = outcome == SADDLE_OK;
    saddle_status trace = SADDLE_OK;
    if (r->trace.stream != NULL)
        trace = saddle_trace_end(
            &r->trace, good ? r->result : NULL,
            good ? saddle_stop_text(r->result->stop) : saddle_status_text(outcome), &reason);
    if (!good || r->result == NULL)
        return;
    saddle_error *first = &r->result->output_error;
    if (first->status == SADDLE_OK && trace != SADDLE_OK)
        *first = reason;
    world->share(world, 0, sizeof *first, first);
}
