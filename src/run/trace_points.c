/* Trace points: measuring, checking and recording a row. */
#include "run/run.h"

#include <math.h>
#include <string.h>

#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/status.h"
#include "run/result.h"

/* The number of iterations between two self-checks, which cost about as much as one iteration. */
#define CHECK_EVERY 64

saddle_status saddle_run_measure(saddle_run_state *r, bool *diverged, saddle_error *error)
{
    double begin = saddle_clock_seconds();
    r->row = (saddle_row){.seconds = r->seconds};
    saddle_status status = saddle_observe(r->observer, &r->row, error);
    r->times.measuring += saddle_clock_seconds() - begin;
    *diverged = !isfinite(r->row.metric) || !isfinite(r->row.loss) || !isfinite(r->row.primal);
    return status;
}

saddle_status saddle_run_evaluate(saddle_run_state *r, bool last, saddle_error *error)
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

void saddle_run_keep_solution(saddle_run_state *r)
{
    saddle_result *result = r->result;
    memcpy(result->x_mean, saddle_observer_x_mean(r->observer), result->x_dim * sizeof(double));
    memcpy(result->y_mean, saddle_observer_y_mean(r->observer), result->y_dim * sizeof(double));
    r->engine->kind->for_each(r->engine, copy_task, r);
}

saddle_status saddle_run_record(saddle_run_state *r, bool last, saddle_error *error)
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
        saddle_run_keep_solution(r);
        r->result->solution_row = result->row_count - 1;
    }
    SADDLE_THEN(status, saddle_run_write_row(r, error));
    status = saddle_run_agree(r, status, error);
    if (status == SADDLE_OK && r->hooks->row != NULL)
        r->hooks->row(r->hooks->context, row);
    return status;
}

saddle_status saddle_run_measure_start(saddle_run_state *r, saddle_error *error)
{
    bool diverged = false;
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    SADDLE_TRY(saddle_run_measure(r, &diverged, error));
    if (!diverged)
        return saddle_run_evaluate(r, false, error);
    SADDLE_TRY(saddle_run_locate(r, &fault, error));
    SADDLE_TRY(saddle_run_explain(r, &fault, error));
    if (r->result->cause[0] != '\0')
        return saddle_fail(error, SADDLE_BAD_INPUT, "at the starting point %s", r->result->cause);
    return saddle_run_refuse_start(r, error);
}
