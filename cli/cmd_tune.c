/*
 * `saddle tune`: searches good step sizes, and other options on request, for one or several
 * algorithms, each with the same budget.
 *
 * DIR/ALGORITHM.csv is the log of a search, from which --resume continues; DIR/ALGORITHM.yaml is
 * its result.
 */
#include <unistd.h>

#include "algorithm_names.h"
#include "cli.h"
#include "core/outcome_name.h"
#include "draw/trace_list.h"
#include "files/file.h"
#include "instance/plan.h"
#include "lab/tune.h"
#include "run/plan_files.h"
#include "tune_display.h"
#include "validation.h"

#define GROUP "Search"

typedef struct options {
    cli_common common;
    const char *algorithms;
    uint64_t budget;     /* 0: automatic */
    uint64_t candidates; /* 0: automatic */
    const char *objective;
    double validation_fraction;
    const char *hold;   /* NULL: none */
    const char *search; /* NULL: none */
    const char *output;
} options;

/* A path in the list names code that will run, so a configuration file must not contain one. */
#define ALGORITHMS \
    SADDLE_OWN(options, algorithms, RUN), .files = SADDLE_FILES_CODE, .values = "@ALGORITHMS"
static const saddle_option algorithms_option = SADDLE_TEXT(
    ALGORITHMS, "algorithms", GROUP, "precision", "A,B,...",
    "Algorithms to tune, separated by commas. all: every algorithm. Each gets the full budget.");
#define OBJECTIVE                        \
    SADDLE_OWN(options, objective, RUN), \
        .values = "attained|metric|loss|primal|stationarity|accuracy|auc"
static const saddle_option objective_option = SADDLE_TEXT(
    OBJECTIVE, "objective", GROUP, "attained", "WHAT",
    "Quantity by which candidates are ranked, at equal IFO calls. attained: the objective at the "
    "mean x, against the best y, plus what y and the agents lack: the gap, up to a number that is "
    "the same for all. Or give metric, loss, primal or stationarity (columns of the trace), or an "
    "outcome of the problem, such as accuracy, measured on rows that --validation-fraction holds "
    "out.");
static const saddle_option validation_option = SADDLE_REAL_ABOVE(
    SADDLE_OWN(options, validation_fraction, RUN), "validation-fraction", GROUP, "0.2", 0, 0.9, "F",
    "Fraction of the training rows held out to rank candidates by an outcome. It applies if "
    "--objective is an outcome; the rows are drawn by --seed. Rows of --test-data are used only "
    "once, to measure the result.");
static const saddle_option search_option = SADDLE_TEXT(
    SADDLE_OWN(options, search, RUN), "search", GROUP, "", "NAME=VALUES",
    "Also search an option, such as batch=10,20,40. It may belong to the algorithm or to the "
    "problem, as in fairness=0.1:10. FROM:TO, FROM:TO:log:N and FROM:TO:linear:N mean N (default "
    "5) values, evenly spaced on a logarithmic or linear scale. May be repeated. An option of the "
    "problem needs an outcome as --objective.");
static const saddle_option *const own[] = {
    &algorithms_option,
    CLI_OPTION(
        INTEGER, options, budget, "budget", GROUP, "auto", 1, SADDLE_UNBOUNDED, "N",
        "IFO calls that the search may use for each algorithm. auto: 2000 times the number of "
        "samples of the problem."),
    CLI_OPTION(INTEGER, options, candidates, "candidates", GROUP, "auto", 2,
               SADDLE_TUNE_MOST_CANDIDATES, "K",
               "Number of grid points to try, including the default. auto: as many as the grid "
               "has and the budget allows, at most 128."),
    &objective_option,
    &validation_option,
    &search_option,
    CLI_OPTION(TEXT, options, hold, "hold", GROUP, "", "A,B,...",
               "Step sizes that are not searched, such as nu,eta, or all."),
    CLI_OPTION(TEXT, options, output, "output", GROUP, "saddle-tune", "DIR",
               "Directory for logs and best settings. It is created if missing. The log is "
               "ALGORITHM.csv, the settings are ALGORITHM.yaml."),
    &cli_option_config,
    &cli_option_quiet,
    NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(problem), CLI_FIELDS(network), CLI_FIELDS(start),
                       CLI_FIELDS(algorithm.own), CLI_FIELDS(steps), CLI_FIELDS(engine),
                       CLI_FIELDS(outputs.metric_tau), CLI_FIELDS(outputs.metric_direction),
                       CLI_FIELDS(outputs.resume));

/* The state of the command. */
typedef struct work {
    const saddle_plan *plan;
    const options *chosen;
    const char *directory;
    bool quiet;
    algorithm_names names;
    const volatile sig_atomic_t *interrupt;
    validation validation; /* rows of the search, if the objective is an outcome */
    saddle_instance *full; /* all training rows, and the test rows; NULL: not created yet */
    bool stopped;          /* whether an interrupt was seen; the same in all processes */
    size_t found;          /* algorithms with a result */
    size_t diverged;       /* algorithms all of whose candidates diverged */
    size_t refused;        /* algorithms that cannot solve the problem */
} work;

static bool wants_resume(const saddle_plan *plan)
{
    return plan->outputs.resume != NULL && strcmp(plan->outputs.resume, "yes") == 0;
}

/* ---- one algorithm ------------------------------------------------------------------------- */

/* Runs the best settings on all training rows, for as many IFO calls as they were tuned for, and
 * prints the outcomes on the test rows. This is the only use of the test rows. */
static saddle_status test_best(work *w, const saddle_tuning *t, const saddle_trial *best,
                               saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *result = NULL;
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *changed = NULL;
    char text[1024] = "";
    saddle_hooks hooks = {.interrupt = w->interrupt};
    saddle_status status = saddle_plan_copy(&plan, &t->plan, error);
    plan.limits.iterations = SADDLE_UNLIMITED_ITERATIONS;
    plan.limits.max_ifo = best->allotment;
    plan.engine = w->plan->engine;
    status = cli_agree(status, error);
    /* Settings that include problem options need their own instance. */
    saddle_instance **instance = t->listed->changes_problem ? &changed : &w->full;
    SADDLE_THEN_IF(status, *instance == NULL, saddle_instance_create(instance, &plan, error));
    SADDLE_THEN(status, saddle_run(*instance, &plan, &hooks, &result, error));
    for (size_t k = 0; result != NULL && k < result->outcome_count; k++) {
        const char *name = result->outcome[k].name;
        saddle_outcome_name column = saddle_outcome_name_of(name);
        if (column.rows == SADDLE_ROWS_TEST)
            saddle_append(text, sizeof text, "%s%s %.6g", *text == '\0' ? "" : ", ", column.measure,
                          saddle_result_outcome(result, name));
    }
    if (status == SADDLE_OK)
        cli_print("on the test data, after training on all rows: %s\n", text);
    return status;
}

/* Prints and saves the best settings. */
static saddle_status report_best(work *w, const saddle_tuning *t, const char *path,
                                 saddle_error *error)
{
    const char *name = t->algorithm->name;
    char text[TUNE_SETTINGS];
    cli_progress_clear();
    if (!w->quiet)
        tune_print_ranking(t);
    const saddle_trial *best = saddle_tuning_last(t, t->ranking[0]);
    if (best == NULL || best->diverged) {
        w->diverged++;
        if (w->validation.held_out != NULL)
            cli_say(
                "every candidate of %s diverged, or its %s on %zu held-out rows is undefined; "
                "start the search from smaller step sizes, or give a larger --validation-fraction",
                name, saddle_outcome_name_of(t->objective.name).measure,
                w->validation.held_out->rows);
        else
            cli_say("every candidate of %s diverged; start the search from smaller step sizes",
                    name);
        return SADDLE_OK;
    }
    saddle_status status = cli_leads() ? saddle_tuning_save(t, path, error) : SADDLE_OK;
    SADDLE_TRY(cli_agree(status, error));
    w->found++;
    cli_print("%s--algorithm %s %s\n", w->quiet ? "" : "\nbest: ", t->plan.algorithm.name,
              tune_settings_text(t, t->ranking[0], text));
    /* A configuration file cannot name a plug-in, so the command must. */
    bool plugin = strchr(t->plan.algorithm.name, '/') != NULL;
    if (!w->quiet)
        cli_print("tuned for runs of about %" PRIu64 " IFO calls; the search used %" PRIu64
                  " of %" PRIu64 "\n`saddle run --config %s%s%s` runs with these settings\n",
                  best->allotment, t->spent, t->budget, path, plugin ? " --algorithm " : "",
                  plugin ? t->plan.algorithm.name : "");
    if (w->plan->problem.test_data != NULL)
        SADDLE_TRY(test_best(w, t, best, error));
    cli_flush_or_stop();
    return SADDLE_OK;
}

static saddle_tune_inputs inputs_of(const work *w, const char *log)
{
    return (saddle_tune_inputs){.budget = w->chosen->budget,
                                .candidates = (size_t)w->chosen->candidates,
                                .objective = w->chosen->objective,
                                .hold = w->chosen->hold,
                                .search = w->chosen->search,
                                .log = log,
                                .resume = wants_resume(w->plan)};
}

/* Refuses, before any search begins, a budget that is too small for some algorithms, and names
 * them all. An algorithm that cannot solve the problem is reported when its turn comes. */
static saddle_status check_budget(const work *w, const saddle_instance *instance,
                                  saddle_error *error)
{
    char names[512] = "";
    saddle_tune_inputs inputs = inputs_of(w, NULL);
    saddle_plan plan = *w->plan;
    saddle_status status = SADDLE_OK;
    /* The automatic budget is large enough for every algorithm. */
    for (size_t a = 0; status == SADDLE_OK && inputs.budget > 0 && a < w->names.count; a++) {
        uint64_t least = 0;
        plan.algorithm.name = w->names.choice[a]->text;
        status = saddle_tune_least_budget(instance, &plan, &inputs, &least, error);
        if (status == SADDLE_UNSUPPORTED && w->names.count > 1)
            status = SADDLE_OK;
        if (status == SADDLE_OK && least > inputs.budget)
            saddle_append(names, sizeof names, "%s%" PRIu64 " for %s", *names == '\0' ? "" : ", ",
                          least, w->names.algorithm[a]->name);
    }
    if (status == SADDLE_OK && *names != '\0')
        status =
            saddle_refuse(error, "--budget: %" PRIu64 " IFO calls are too few; give at least %s",
                          inputs.budget, names);
    return status;
}

static saddle_status search(work *w, const saddle_instance *instance, const saddle_plan *plan,
                            const char *log, const char *path, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_tuning_free_at) saddle_tuning *tuning = NULL;
    saddle_tune_inputs inputs = inputs_of(w, log);
    tune_display display = {.quiet = w->quiet, .rows = &w->validation};
    saddle_tune_hooks hooks = tune_display_hooks(&display, w->interrupt);
    SADDLE_TRY(saddle_tune(&tuning, instance, plan, &inputs, &hooks, error));
    if (tuning->finished)
        SADDLE_TRY(report_best(w, tuning, path, error));
    return SADDLE_OK;
}

/* Refuses a path: a search resumes only from its own logs. */
static saddle_status check_resume(const saddle_plan *plan, saddle_error *error)
{
    const char *text = plan->outputs.resume;
    if (text == NULL || strcmp(text, "no") == 0 || wants_resume(plan))
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--resume: a search resumes from the logs in --output, not from '%.80s'; "
                         "give --resume without a value",
                         text);
}

static saddle_status tune_one(work *w, const saddle_instance *instance,
                              const saddle_algorithm_choice *choice, saddle_error *error)
{
    char log[TRACE_PATH];
    char path[TRACE_PATH];
    const saddle_algorithm *algorithm = choice->algorithm;
    saddle_plan plan = *w->plan;
    plan.algorithm.name = choice->text;
    /* --resume refers to the search, not to its runs. */
    plan.outputs.resume = NULL;
    saddle_snprintf(log, sizeof log, "%s/%s.csv", w->directory, algorithm->name);
    saddle_snprintf(path, sizeof path, "%s/%s.yaml", w->directory, algorithm->name);
    saddle_status status = search(w, instance, &plan, log, path, error);
    /* One of several algorithms that cannot solve the problem does not stop the others. */
    if (status == SADDLE_UNSUPPORTED && w->names.count > 1) {
        cli_warn("refused: %s", error->message);
        w->refused++;
        status = SADDLE_OK;
    }
    return status;
}

/* Refuses logs and results that would overwrite an input. */
static saddle_status check_files(const work *w, const cli_arguments *arguments, saddle_error *error)
{
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    for (size_t a = 0; a < w->names.count; a++) {
        char path[TRACE_PATH];
        saddle_snprintf(path, sizeof path, "%s/%s.csv", w->directory, w->names.algorithm[a]->name);
        saddle_path_list_add(&outputs, "--output", path);
        saddle_snprintf(path, sizeof path, "%s/%s.yaml", w->directory, w->names.algorithm[a]->name);
        saddle_path_list_add(&outputs, "--output", path);
    }
    saddle_plan_add_inputs(&arguments->plan, &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

/* ---- the command --------------------------------------------------------------------------- */

static int conclude(const work *w)
{
    cli_progress_clear();
    if (cli_reader_gone())
        return CLI_FAILED;
    if (w->stopped) {
        cli_say("interrupted; the same command with --resume continues from '%s'", w->directory);
        return CLI_INTERRUPTED;
    }
    if (w->refused == w->names.count)
        return CLI_BAD_INPUT;
    return w->found == 0 ? CLI_DIVERGED : CLI_OK;
}

/* Whether an objective is measured on rows that the search holds out. */
static bool holds_out(const char *objective)
{
    return saddle_tune_is_outcome(objective) &&
           saddle_outcome_name_of(objective).rows != SADDLE_ROWS_TRAIN;
}

/* Creates the instance that candidates run on. If it does not read the test data, also creates
 * the one that tests the result, so that errors in the test data are found before the search. */
static saddle_status make_instance(work *w, saddle_instance **out, saddle_error *error)
{
    saddle_plan plan = *w->plan;
    const saddle_problem_class *kind = NULL;
    bool split = holds_out(w->chosen->objective);
    saddle_status status = SADDLE_OK;
    /* A problem that is not made from data has nothing to split, and one without outcomes nothing to measure. */
    if (split && saddle_problem_find(&kind, plan.problem.name, NULL) == SADDLE_OK &&
        kind->needs_data && kind->common.outcomes != NULL)
        status =
            saddle_validation_split(&w->validation, &plan, w->chosen->validation_fraction, error);
    status = cli_agree(status, error);
    SADDLE_THEN(status, saddle_instance_create(out, &plan, error));
    SADDLE_THEN_IF(status, w->validation.held_out != NULL && w->plan->problem.test_data != NULL,
                   saddle_instance_create(&w->full, w->plan, error));
    return status;
}

/* Refuses --validation-fraction if no rows are held out. */
static saddle_status check_fraction(const cli_arguments *arguments, saddle_error *error)
{
    const options *chosen = arguments->own;
    if (holds_out(chosen->objective) || !saddle_plan_given(&arguments->plan, &validation_option))
        return SADDLE_OK;
    return saddle_refuse(
        error,
        "--validation-fraction: --objective '%s' is measured on the agents' rows, so no rows are "
        "held out; leave out --validation-fraction, or give an outcome on held-out rows",
        chosen->objective);
}

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    const options *chosen = arguments->own;
    saddle_instance *instance = NULL;
    work w = {.plan = &arguments->plan,
              .chosen = chosen,
              .directory = chosen->output,
              .quiet = chosen->common.quiet};
    saddle_status status = saddle_algorithm_names_read(&w.names, chosen->algorithms, &error);
    SADDLE_THEN(status, check_resume(w.plan, &error));
    SADDLE_THEN(status, check_fraction(arguments, &error));
    SADDLE_THEN_IF(status, cli_leads(), cli_check_directory("--output", w.directory, &error));
    SADDLE_THEN_IF(status, cli_leads(), check_files(&w, arguments, &error));
    status = cli_agree(status, &error);
    SADDLE_THEN(status, make_instance(&w, &instance, &error));
    SADDLE_THEN(status, check_budget(&w, instance, &error));
    bool made = cli_leads() && access(w.directory, F_OK) != 0;
    SADDLE_THEN_IF(status, cli_leads(), saddle_make_directory("--output", w.directory, &error));
    status = cli_agree(status, &error);
    if (status == SADDLE_OK) {
        cli_warn_unused(w.plan, instance, w.names.algorithm, w.names.count);
        w.interrupt = cli_catch_interrupts();
    }
    for (size_t a = 0; status == SADDLE_OK && a < w.names.count; a++) {
        if (a > 0 && !w.quiet)
            cli_print("\n");
        status = cli_agree(tune_one(&w, instance, w.names.choice[a], &error), &error);
        w.stopped = cli_interrupted(w.interrupt);
        if (w.stopped)
            break;
    }
    /* After a refusal, remove the directory that was created if it is still empty. */
    if (status != SADDLE_OK && made)
        rmdir(w.directory);
    int code = status == SADDLE_OK ? conclude(&w) : cli_fail(&error);
    saddle_instance_free(instance);
    saddle_instance_free(w.full);
    saddle_validation_release(&w.validation);
    saddle_algorithm_names_release(&w.names);
    return code;
}

static const char *const examples[] = {
    "saddle tune --algorithms precision --data a9a --budget 3000000",
    "saddle tune --problem fair --objective accuracy --search fairness=1:100", NULL};

const cli_command cli_tune = {
    .name = "tune",
    .operands = "",
    .summary = "search for good step sizes within a budget of gradient evaluations",
    .details =
        "Tries step sizes on a logarithmic grid around the default or given ones, and the values "
        "of --search, by successive halving: all candidates run for a few IFO calls, the better "
        "half for twice as many, and so on. The default settings stay in the search to the end. "
        "Prints the best settings as options to paste and saves them as a configuration file. The "
        "same seed gives the same result. With --test-data, the best settings are run once more on "
        "all training rows, and the outcomes on the test rows are printed. After Ctrl-C or a "
        "crash, continue with the same command and --resume.",
    .basics = cli_run_basics,
    .examples = examples,
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .joined = &search_option,
    .run = run,
};
