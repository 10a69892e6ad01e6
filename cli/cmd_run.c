/* `saddle run`: one algorithm on one problem, from options to trace, model and summary. */
#include <string.h>
#include <unistd.h>

#include "core/print.h"
#include "core/status.h"
#include "draw/report.h"
#include "instance/instance.h"
#include "lab/algorithm_names.h"
#include "run/plan_files.h"
#include "run_display.h"

static const saddle_option *const own[] = {&cli_option_config, &cli_option_quiet,
                                           &cli_option_report, &cli_option_json, NULL};
static const cli_fields library[] = {CLI_FIELDS(problem),   CLI_FIELDS(network), CLI_FIELDS(start),
                                     CLI_FIELDS(algorithm), CLI_FIELDS(steps),   CLI_FIELDS(limits),
                                     CLI_FIELDS(engine),    CLI_FIELDS(outputs), CLI_NO_FIELDS};

static const char *const examples[] = {
    "saddle run", "saddle run --problem auc --data train.csv --test-data test.csv --agents 20",
    "saddle run --problem fair --data a9a --trace trace.csv --model model.npz", NULL};

/* The run's trace as a page. */
static saddle_status write_report(const saddle_result *result, const char *path,
                                  saddle_error *error)
{
    saddle_trace *trace = NULL;
    saddle_status status = saddle_result_trace(result, &trace, error);
    const saddle_trace *const list[] = {trace};
    report_section section = {.traces = 1, .trace = list};
    report_page page = {.sections = 1, .section = &section};
    SADDLE_THEN(status, report_write(&page, path, error));
    saddle_trace_free(trace);
    return status;
}

/* Whether a path is that of a file in the directory of checkpoints, which the run is going to make. */
static bool will_be_made(const char *directory, const char *path)
{
    size_t length = directory != NULL ? strlen(directory) : 0;
    return length > 0 && path != NULL && access(directory, F_OK) != 0 &&
           strncmp(path, directory, length) == 0 && path[length] == '/' &&
           strchr(path + length + 1, '/') == NULL && path[length + 1] != '\0';
}

/* Refuse, before the work begins, what would fail at its end. */
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
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < sizeof output / sizeof *output; k++) {
        if (!will_be_made(plan->outputs.checkpoint, output[k].path))
            status = cli_check_output(output[k].option, output[k].path, output[k].stream, error);
        SADDLE_THEN_IF(status, common->json,
                       cli_check_not_stdout(output[k].option, output[k].path, error));
    }
    if (status != SADDLE_OK)
        return status;
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_plan_add_outputs(plan, &outputs);
    saddle_path_list_add(&outputs, "report", common->report);
    cli_add_inputs(arguments, &inputs);
    status = saddle_path_lists_check(&outputs, &inputs, error);
    SADDLE_THEN(status, saddle_plan_check_names(plan, error));
    SADDLE_THEN_IF(status, plan->outputs.checkpoint != NULL,
                   cli_check_directory("--checkpoint", plan->outputs.checkpoint, error));
    return status;
}

/*
 * When a process of an MPI job dies, whoever started the job names it and tells the others to end:
 * they cannot write a checkpoint any more, but they can say how to go on. Two of them, for the one
 * that died may be the first.
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
            "rank %zu is asked to end; if another rank has failed, the job continues from its last "
            "checkpoint with --checkpoint %.500s --resume and the same other options",
            rank, directory);
    else
        saddle_snprintf(
            text, sizeof text,
            "rank %zu is asked to end; if another rank has failed, the job must start anew: it "
            "keeps no checkpoint to resume from",
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
    SADDLE_THEN(status, saddle_algorithm_choose(&choice, plan, &error));
    SADDLE_THEN_IF(status, cli_leads(), check_outputs(&arguments, &error));
    status = cli_agree(status, &error);
    SADDLE_THEN(status, saddle_instance_create(&instance, plan, &error));
    if (status == SADDLE_OK) {
        /* A report shows curves, as those that are made from a trace do, and of no more than such a trace would have. */
        if (common->report != NULL && !saddle_scores_are_private(instance) &&
            plan->outputs.outcomes == SADDLE_OUTCOMES_AUTO && plan->outputs.resume == NULL &&
            instance->problem->outcomes != NULL)
            plan->outputs.outcomes = SADDLE_OUTCOMES_ALWAYS;
        d.kind = instance->kind;
        d.problem = plan->problem.name;
        prepare_termination_message(plan);
        saddle_hooks hooks = run_display_hooks(&d);
        status = saddle_run(instance, plan, &hooks, &result, &error);
        /* How it ended is known here: a signal from now on only clears away. */
        cli_say_on_termination("");
    }
    int code = status == SADDLE_OK ? run_display_end(&d, result) : cli_fail(&error);
    const char *report = NULL; /* that was written */
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
        "Prints a progress line on a terminal and a table of rows otherwise, then a summary. With "
        "no option at all it runs PRECISION on the paper's problem with built-in data and 5 "
        "agents. Ctrl-C ends a run cleanly; a second one kills it. A trace or a model that cannot "
        "be written any more does not end a run: a warning is printed, and the exit code is 1. "
        "With --checkpoint DIR nothing is lost when a run ends before its time: `saddle run "
        "--resume DIR` goes on where it was and comes to the same bits as if it had not ended, "
        "with the options of that run (files to write outside DIR are to be given again) and on "
        "any number of threads. Its --iterations and budgets may be given anew.",
    .basics = cli_run_basics,
    .examples = examples,
    .library = library,
    .own = own,
    .own_bytes = sizeof(cli_common),
    .run = run,
};
