/* The output of `saddle run --json`. */
#include <math.h>

#include "core/sizes.h"
#include "json_output.h"
#include "run_display.h"

static void add_problem(saddle_json *j, const saddle_instance *e)
{
    const saddle_problem *problem = e->problem;
    const size_t *samples = problem->samples;
    saddle_json_object(j, "problem");
    saddle_json_text(j, "name", problem->name);
    saddle_json_whole(j, "x_dim", problem->x_dim);
    saddle_json_whole(j, "y_dim", problem->y_dim);
    saddle_json_whole(j, "features", e->features);
    saddle_json_whole(j, "samples", saddle_sizes_sum(problem->agents, samples));
    saddle_json_whole(j, "samples_min", saddle_sizes_smallest(problem->agents, samples));
    saddle_json_whole(j, "samples_max", saddle_sizes_largest(problem->agents, samples));
    saddle_json_text(j, "x_set", saddle_set_text(e->x_set));
    saddle_json_text(j, "y_set", saddle_set_text(e->y_set));
    saddle_json_text(j, "regularizer", saddle_regularizer_text(e->regularizer));
    const saddle_constants *known = &e->constants;
    saddle_json_real(j, "lipschitz", known->lipschitz > 0.0 ? known->lipschitz : (double)NAN);
    saddle_json_real(j, "strong_concavity",
                     known->strong_concavity > 0.0 ? known->strong_concavity : (double)NAN);
    saddle_json_flag(j, "estimated", known->estimated);
    saddle_json_end_object(j);
}

static void add_network(saddle_json *j, const saddle_instance *e)
{
    saddle_json_object(j, "network");
    saddle_json_whole(j, "agents", e->problem->agents);
    saddle_json_whole(j, "edges", e->graph->edges);
    saddle_json_real(j, "lambda_2", e->spectrum.lambda2);
    saddle_json_real(j, "lambda_m", e->spectrum.lambda_m);
    saddle_json_real(j, "lambda", e->spectrum.lambda);
    saddle_json_real(j, "spectral_gap", e->spectrum.gap);
    saddle_json_end_object(j);
}

static void add_divergence(saddle_json *j, const saddle_result *result)
{
    const saddle_fault *fault = &result->fault;
    if (result->stop != SADDLE_STOP_DIVERGED) {
        saddle_json_text(j, "divergence", NULL);
        return;
    }
    bool named = result->cause[0] == '\0';
    saddle_json_object(j, "divergence");
    saddle_json_whole(j, "iteration", fault->iteration);
    saddle_json_text(j, "cause", named ? NULL : result->cause);
    saddle_json_text(j, "variable", named ? fault->variable : NULL);
    saddle_json_real(j, "agent", named ? (double)fault->agent : (double)NAN);
    saddle_json_real(j, "index", named ? (double)fault->index : (double)NAN);
    saddle_json_real(j, "value", named ? fault->value : (double)NAN);
    saddle_json_end_object(j);
}

static void add_costs(saddle_json *j, const saddle_result *result)
{
    const saddle_row *last = &result->rows[result->row_count - 1];
    bool diverged = result->stop == SADDLE_STOP_DIVERGED;
    saddle_json_object(j, "cost");
    saddle_json_whole(j, "iterations", diverged ? result->fault.iteration : last->iteration);
    saddle_json_whole(j, "ifo", result->cost.ifo);
    saddle_json_whole(j, "rounds", result->cost.rounds);
    saddle_json_whole(j, "messages", result->cost.messages);
    saddle_json_whole(j, "bytes", result->cost.bytes);
    saddle_json_real(j, "network_seconds", result->cost.network_seconds);
    saddle_json_end_object(j);
}

static void add_times(saddle_json *j, const saddle_run_times *times)
{
    const saddle_setup_times *setup = &times->setup;
    saddle_json_object(j, "times");
    saddle_json_real(j, "iterating", times->iterating);
    saddle_json_real(j, "measuring", times->measuring);
    saddle_json_real(j, "rest", times->rest);
    saddle_json_object(j, "setup");
    saddle_json_real(j, "network", setup->network);
    saddle_json_real(j, "reading", setup->reading);
    saddle_json_real(j, "splitting", setup->splitting);
    saddle_json_real(j, "problem", setup->problem);
    saddle_json_real(j, "constants", setup->constants);
    saddle_json_end_object(j);
    saddle_json_end_object(j);
}

/* Adds the solution, and its outcomes unless the run diverged, when they mean nothing. */
static void add_solution(saddle_json *j, const saddle_result *result)
{
    bool diverged = result->stop == SADDLE_STOP_DIVERGED;
    saddle_json_object(j, "solution");
    saddle_json_whole(j, "iteration", result->rows[result->solution_row].iteration);
    saddle_json_whole(j, "agents", result->agents);
    saddle_json_whole(j, "x_dim", result->x_dim);
    saddle_json_whole(j, "y_dim", result->y_dim);
    saddle_json_end_object(j);
    saddle_json_object(j, "outcomes");
    for (size_t k = 0; k < result->outcome_count && !diverged; k++)
        saddle_json_real(j, result->outcome[k].name,
                         saddle_result_outcome(result, result->outcome[k].name));
    saddle_json_end_object(j);
}

/* Adds all rows, column by column. */
static void add_trace(saddle_json *j, const saddle_result *result)
{
    saddle_json_object(j, "trace");
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++) {
        saddle_json_array(j, saddle_trace_column_name(k));
        for (size_t r = 0; r < result->row_count; r++)
            saddle_json_real(j, NULL, saddle_row_cell(&result->rows[r], k));
        saddle_json_end_array(j);
    }
    for (size_t k = 0; k < result->outcome_count; k++) {
        saddle_json_array(j, result->outcome[k].name);
        for (size_t r = 0; r < result->row_count; r++)
            saddle_json_real(j, NULL, result->outcomes[r * result->outcome_count + k]);
        saddle_json_end_array(j);
    }
    saddle_json_end_object(j);
}

static void add_files(saddle_json *j, const saddle_result *result, const char *report)
{
    bool lost = result->output_error.status != SADDLE_OK;
    saddle_json_object(j, "files");
    saddle_json_text(j, "trace", result->plan.outputs.trace);
    saddle_json_text(j, "model", result->saved ? result->plan.outputs.model : NULL);
    saddle_json_text(j, "checkpoint", result->checkpoint);
    saddle_json_text(j, "report", report);
    saddle_json_text(j, "lost", lost ? result->output_error.message : NULL);
    saddle_json_end_object(j);
}

void run_display_json(const run_display *d, const cli_command *command,
                      const saddle_instance *instance, const saddle_result *result,
                      const char *report)
{
    saddle_json j;
    size_t count = result->outcome_count;
    size_t last = result->row_count - 1;
    cli_json_begin(&j, command);
    cli_json_settings(&j, result->plan.settings);
    add_problem(&j, instance);
    add_network(&j, instance);
    saddle_json_whole(&j, "start_iteration", d->start);
    saddle_json_text(&j, "resumed_from", *d->resumed != '\0' ? d->resumed : NULL);
    cli_json_stop(&j, result->stop);
    add_divergence(&j, result);
    add_costs(&j, result);
    add_times(&j, &result->times);
    cli_json_row(&j, "first", &result->rows[0], count, result->outcome, result->outcomes);
    cli_json_row(&j, "final", &result->rows[last], count, result->outcome,
                 result->outcomes + last * count);
    add_solution(&j, result);
    add_trace(&j, result);
    add_files(&j, result, report);
    cli_json_end(&j);
}
