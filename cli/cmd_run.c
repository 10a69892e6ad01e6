/* `saddle run`: runs one algorithm on one problem, and writes trace, model and summary. */
#include <unistd.h>

#include "algorithm_names.h"
#include "draw/report.h"
#include "instance/instance.h"
#include "run/plan_files.h"
#include "run_display.h"

/* Unlike other commands, it then prints no results. */
static const saddle_option *const own[] = {&cli_option_config,
                                           CLI_OPTION(FLAG, cli_common, quiet, "quiet",
                                                      SADDLE_OUTPUT_HEADING, "no",
                                                      "Print only warnings and errors."),
                                           &cli_option_report, &cli_option_json, NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(problem), CLI_FIELDS(network), CLI_FIELDS(start),
                       CLI_FIELDS(algorithm), CLI_FIELDS(privacy), CLI_FIELDS(steps),
                       CLI_FIELDS(limits), CLI_FIELDS(engine), CLI_FIELDS(outputs));

static const char *const examples[] = {
    "saddle run", "saddle run --problem auc --data train.csv --test-data test.csv --agents 20",
    "saddle run --problem fair --data a9a --trace trace.csv --model model.npz", NULL};

/* Writes a report about the run. */
static saddle_status write_report(const saddle_result *result, const char *path,
                                  saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_trace_free_at) saddle_trace *trace = NULL;
    SADDLE_TRY(saddle_result_trace(result, &trace, error));
    const saddle_trace *const list[] = {trace};
    report_page page = {.traces = 1, .trace = list};
    return report_write(&page, path, error);
}

/* Whether a path is a file in the checkpoint directory, which does not exist yet but which the
 * run will create. */
static bool will_be_made(const char *directory, const char *path)
{
    size_t length = directory != NULL ? strlen(directory) : 0;
    return length > 0 && path != NULL && access(directory, F_OK) != 0 &&
           strncmp(path, directory, length) == 0 && path[length] == '/' &&
           strchr(path + length + 1, '/') == NULL && path[length + 1] != '\0';
}

/* Refuses, before the work begins, outputs that would fail at its end. */
static saddle_status check_outputs(const cli_arguments *arguments, saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    const cli_common *common = arguments->own;
    const struct {
        const char *option;
        const char *path;
        bool stream;
    } output[] = {{"--trace", plan->outputs.trace, true},
                  {"--model", plan->outputs.model, false},
                  {"--report", common->report, false}};
    for (size_t k = 0; k < sizeof output / sizeof *output; k++) {
        if (!will_be_made(plan->outputs.checkpoint, output[k].path))
            SADDLE_TRY(cli_check_output(output[k].option, output[k].path, output[k].stream, error));
        if (common->json)
            SADDLE_TRY(cli_check_not_stdout(output[k].option, output[k].path, error));
    }
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_plan_add_outputs(plan, &outputs);
    saddle_plan_add_inputs(plan, &inputs);
    SADDLE_TRY(saddle_path_lists_check(&outputs, &inputs, error));
    SADDLE_TRY(saddle_plan_check_names(plan, error));
    if (plan->outputs.checkpoint != NULL)
        SADDLE_TRY(cli_check_directory("--checkpoint", plan->outputs.checkpoint, error));
    return SADDLE_OK;
}

/*
 * If a process of an MPI job dies, mpirun reports it and terminates the others. They can no longer
 * write a checkpoint, but they can print how to resume. Ranks 0 and 1 both print it, because one of
 * them may be the process that died.
 */
static void prepare_termination_message(const saddle_plan *plan)
{
    size_t rank;
    if (strcmp(plan->engine.name, "mpi") != 0 || saddle_mpi_init(&rank, NULL) != SADDLE_OK ||
        rank > 1)
        return;
    const char *directory = plan->outputs.checkpoint;
    char text[900];
    if (directory != NULL)
        saddle_snprintf(
            text, sizeof text,
            "rank %zu was told to end; if another rank has failed, resume from the last checkpoint "
            "with --checkpoint %.500s --resume and the same other options",
            rank, directory);
    else
        saddle_snprintf(text, sizeof text,
                        "rank %zu was told to end; if another rank has failed, start the job "
                        "again: without --checkpoint there is nothing to resume from",
                        rank);
    cli_say_on_termination(text);
}

static int run(const cli_arguments *given)
{
    cli_arguments arguments = *given;
    saddle_plan *plan = &arguments.plan;
    const cli_common *common = arguments.own;
    saddle_error error;
    saddle_algorithm_choice *choice = NULL;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    bool terminal = isatty(STDOUT_FILENO) && cli_has_progress();
    bool quiet = common->quiet || common->json;
    run_display d = {.quiet = quiet,
                     .table = !quiet && !terminal,
                     .meter = {.label = "", .hidden = common->quiet},
                     .stride = 1,
                     .printed = UINT64_MAX};
    saddle_status status = saddle_plan_copy(plan, &given->plan, &error);
    status = cli_agree(status, &error);
    SADDLE_THEN(status, saddle_plan_resume(plan, cli_world(), &error));
    SADDLE_THEN(status, saddle_algorithm_choose(&choice, plan, NULL, NULL, &error));
    SADDLE_THEN_IF(status, cli_leads(), check_outputs(&arguments, &error));
    status = cli_agree(status, &error);
    SADDLE_THEN(status, saddle_instance_create(&instance, plan, &error));
    if (status == SADDLE_OK) {
        /* The report shows curves of outcomes, which are measured here under the same condition
         * as for a trace. */
        if (common->report != NULL && !saddle_scores_are_private(instance) &&
            plan->outputs.outcomes == SADDLE_OUTCOMES_AUTO && plan->outputs.resume == NULL &&
            instance->problem->outcomes != NULL)
            plan->outputs.outcomes = SADDLE_OUTCOMES_ALWAYS;
        d.kind = instance->kind;
        d.scores = instance->problem->scores != NULL;
        d.given = plan;
        prepare_termination_message(plan);
        saddle_hooks hooks = run_display_hooks(&d);
        status = saddle_run(instance, plan, &hooks, &result, &error);
        /* The end of the run is known: a signal from now on needs no message. */
        cli_say_on_termination("");
    }
    int code = status == SADDLE_OK ? run_display_end(&d, result) : cli_fail(&error);
    const char *report = NULL; /* once it is written */
    if (status == SADDLE_OK && common->report != NULL) {
        status = cli_leads() ? write_report(result, common->report, &error) : SADDLE_OK;
        if (cli_agree(status, &error) != SADDLE_OK)
            code = cli_fail(&error);
        else
            report = common->report;
    }
    if (report != NULL && !quiet)
        cli_print_field("report", "%s", report);
    if (result != NULL && common->json)
        run_display_json(&d, arguments.command, instance, result, report);
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_algorithm_release(choice);
    saddle_plan_free(plan);
    return code;
}

const cli_command cli_run = {
    .name = "run",
    .operands = "",
    .summary = "solve a problem with one algorithm",
    .details =
        "Prints a progress line on a terminal, or a table of rows elsewhere, and then a summary. "
        "Without options it runs PRECISION-auto on the problem of the PRECISION paper, with "
        "built-in "
        "data and 5 agents. Ctrl-C ends a run cleanly; a second Ctrl-C kills it. If the trace or "
        "the model cannot be written, the run continues, a warning is printed, and the exit status "
        "is 1. With --checkpoint DIR an interrupted run loses nothing: `saddle run --resume DIR` "
        "continues with the options of that run and computes bit-identical results to those of an "
        "uninterrupted one, on any number of threads. Output files outside DIR must be given "
        "again; --iterations and other limits may be changed.",
    .basics = cli_run_basics,
    .examples = examples,
    .library = library,
    .own = own,
    .own_bytes = sizeof(cli_common),
    .run = run,
};
