/* The files of a run: trace, model. A file that cannot be written does not end a run. */
#include <stdio.h>

#include "core/print.h"
#include "core/status.h"
#include "files/file.h"
#include "run/plan_files.h"
#include "run/result.h"
#include "run/run.h"

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
                   saddle_check_unlocked(r->given.outputs.model, "model", error));
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

saddle_status saddle_run_write_row(saddle_run_state *r, saddle_error *error)
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
