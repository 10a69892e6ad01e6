/* The output of `saddle run --json`. */
#include "core/sizes.h"
#include "json_output.h"
#include "run_display.h"

static void add_problem(saddle_json *j, const saddle_instance *e)
{
    const saddle_problem *problem = e->problem;
    const size_t *samples = problem->samples;
    const saddle_constants *known = &e->constants;
    saddle_json_put(j, "problem { name %s x_dim %zu y_dim %zu features %zu", problem->name,
                    problem->x_dim, problem->y_dim, e->features);
    saddle_json_put(j, "samples %" PRIu64 " samples_min %zu samples_max %zu",
                    saddle_sizes_sum(problem->agents, samples),
                    saddle_sizes_smallest(problem->agents, samples),
                    saddle_sizes_largest(problem->agents, samples));
    saddle_json_put(j, "x_set %s y_set %s regularizer %s", saddle_set_text(e->x_set),
                    saddle_set_text(e->y_set), saddle_regularizer_text(e->regularizer));
    saddle_json_put(j, "lipschitz %g strong_concavity %g estimated %d }",
                    known->lipschitz > 0.0 ? known->lipschitz : (double)NAN,
                    known->strong_concavity > 0.0 ? known->strong_concavity : (double)NAN,
                    known->estimated);
}

static void add_network(saddle_json *j, const saddle_instance *e)
{
    saddle_json_put(j,
                    "network { agents %zu edges %zu lambda_2 %g lambda_m %g lambda %g "
                    "spectral_gap %g }",
                    e->problem->agents, e->graph->edges, e->spectrum.lambda2, e->spectrum.lambda_m,
                    e->spectrum.lambda, e->spectrum.gap);
}

static void add_divergence(saddle_json *j, const saddle_result *result)
{
    const saddle_fault *fault = &result->fault;
    if (result->stop != SADDLE_STOP_DIVERGED) {
        saddle_json_put(j, "divergence null");
        return;
    }
    bool named = result->cause[0] == '\0';
    saddle_json_put(j,
                    "divergence { iteration %" PRIu64
                    " cause %s variable %s agent %g index %g value %g remedy %s }",
                    fault->iteration, named ? NULL : result->cause, named ? fault->variable : NULL,
                    named ? (double)fault->agent : (double)NAN,
                    named ? (double)fault->index : (double)NAN, named ? fault->value : (double)NAN,
                    named ? result->remedy : NULL);
}

static void add_advice(saddle_json *j, const saddle_result *result)
{
    saddle_json_put(j, "advice %s", run_display_is_advised(result) ? result->remedy : NULL);
}

static void add_costs(saddle_json *j, const saddle_result *result)
{
    const saddle_row *last = &result->rows[result->row_count - 1];
    const saddle_cost *cost = &result->cost;
    bool diverged = result->stop == SADDLE_STOP_DIVERGED;
    saddle_json_put(j,
                    "cost { iterations %" PRIu64 " ifo %" PRIu64 " rounds %" PRIu64
                    " messages %" PRIu64 " bytes %" PRIu64 " network_seconds %g }",
                    diverged ? result->fault.iteration : last->iteration, cost->ifo, cost->rounds,
                    cost->messages, cost->bytes, cost->network_seconds);
}

static void add_times(saddle_json *j, const saddle_run_times *times)
{
    const saddle_setup_times *setup = &times->setup;
    saddle_json_put(
        j,
        "times { iterating %g measuring %g gap %g rest %g setup { network %g reading %g "
        "splitting %g problem %g constants %g } }",
        times->iterating, times->measuring, times->gap, times->rest, setup->network, setup->reading,
        setup->splitting, setup->problem, setup->constants);
}

/* Adds the solution, and its outcomes unless the run diverged, when they mean nothing. */
static void add_solution(saddle_json *j, const saddle_result *result)
{
    bool diverged = result->stop == SADDLE_STOP_DIVERGED;
    saddle_json_put(
        j, "solution { iteration %" PRIu64 " agents %zu x_dim %zu y_dim %zu } outcomes {",
        result->rows[result->solution_row].iteration, result->agents, result->x_dim, result->y_dim);
    for (size_t k = 0; k < result->outcome_count && !diverged; k++)
        saddle_json_put(j, "%s: %g", result->outcome[k].name,
                        saddle_result_outcome(result, result->outcome[k].name));
    saddle_json_put(j, "}");
}

/* Adds all rows, column by column. */
static void add_trace(saddle_json *j, const saddle_result *result)
{
    saddle_json_put(j, "trace {");
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++) {
        saddle_json_put(j, "%s: [", saddle_trace_column_name(k));
        for (size_t r = 0; r < result->row_count; r++)
            saddle_json_put(j, "%g", saddle_row_cell(&result->rows[r], k));
        saddle_json_put(j, "]");
    }
    for (size_t k = 0; k < result->outcome_count; k++) {
        saddle_json_put(j, "%s: [", result->outcome[k].name);
        for (size_t r = 0; r < result->row_count; r++)
            saddle_json_put(j, "%g", result->outcomes[r * result->outcome_count + k]);
        saddle_json_put(j, "]");
    }
    saddle_json_put(j, "}");
}

static void add_files(saddle_json *j, const saddle_result *result, const char *report)
{
    bool lost = result->output_error.status != SADDLE_OK;
    saddle_json_put(j, "files { trace %s model %s checkpoint %s report %s lost %s }",
                    result->plan.outputs.trace, result->saved ? result->plan.outputs.model : NULL,
                    result->checkpoint, report, lost ? result->output_error.message : NULL);
}

void run_display_json(const run_display *d, const cli_command *command,
                      const saddle_instance *instance, const saddle_result *result,
                      const char *report)
{
    saddle_json j;
    size_t count = result->outcome_count;
    size_t last = result->row_count - 1;
    cli_json_begin(&j, command);
    cli_json_settings(&j, &result->plan);
    add_problem(&j, instance);
    add_network(&j, instance);
    saddle_json_put(&j, "start_iteration %" PRIu64 " resumed_from %s", d->start,
                    *d->resumed != '\0' ? d->resumed : NULL);
    cli_json_stop(&j, result->stop);
    add_divergence(&j, result);
    add_advice(&j, result);
    saddle_json_put(&j, "gap { scale %g x %g y %g agents %g }", result->gap.scale, result->gap.x,
                    result->gap.y, result->gap.agents);
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
