/* `saddle compare`: several algorithms from the same start, network, data and seed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "comparison.h"
#include "core/compare.h"
#include "core/print.h"
#include "core/status.h"
#include "draw/report.h"
#include "files/file.h"
#include "json_output.h"
#include "result_tables.h"

#define GROUP "Comparison"
#define DEFAULT_ALGORITHMS "precision,precision+,prox-gt-sgda,prox-dsgda"

typedef struct options {
    cli_common common;
    const char *algorithms;
    uint64_t repeats;
    const char *levels; /* NULL: automatic */
    const char *output;
    const char *tuned; /* NULL: none */
    bool overwrite;
} options;

/* A path in the list names code that will run, so a configuration file must not contain one. */
#define ALGORITHMS \
    SADDLE_OWN(options, algorithms, RUN), .no_path_in_file = true, .values = "@ALGORITHMS"
static const saddle_option algorithms_option =
    SADDLE_TEXT(ALGORITHMS, "algorithms", GROUP, DEFAULT_ALGORITHMS, "A,B,...",
                "Algorithms to compare, separated by commas. all: every algorithm. A name with a / "
                "is the path of your own plug-in (a shared object).");
static const saddle_option *const own[] = {
    &algorithms_option,
    CLI_OPTION(INTEGER, options, repeats, "repeats", GROUP, "1", 1, 1e6, "K",
               "Repeat with seeds seed, seed+1, ..., seed+K-1. Tables then show mean and range."),
    CLI_OPTION(TEXT, options, levels, "levels", GROUP, "auto", "L1,L2,...",
               "Levels of the metric at which the costs are reported. auto: powers of ten, from "
               "the start down to the best level reached, at most 6."),
    CLI_OPTION(TEXT, options, output, "output", GROUP, "saddle-compare", "DIR",
               "Directory for the traces and summary.csv. It is created if missing. The traces "
               "are named ALGORITHM-seedN.csv."),
    CLI_OPTION(FLAG, options, overwrite, "overwrite", GROUP, "no",
               "Replace results of another comparison in --output. Files of the same names are "
               "replaced, others stay. Not given: finished runs of the same comparison are kept, "
               "and a directory with results of another comparison is refused."),
    CLI_OPTION(TEXT, options, tuned, "tuned", GROUP, "", "DIR",
               "Take step sizes from DIR/ALGORITHM.yaml. `saddle tune` writes these files; an "
               "algorithm without one keeps its defaults, with a warning."),
    &cli_option_config,
    &cli_option_quiet,
    &cli_option_report,
    &cli_option_json,
    NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(problem), CLI_FIELDS(network), CLI_FIELDS(start),
                       CLI_FIELDS(algorithm.own), CLI_FIELDS(steps), CLI_FIELDS(limits),
                       CLI_FIELDS(engine), CLI_FIELDS(outputs.trace_every),
                       CLI_FIELDS(outputs.metric_tau), CLI_FIELDS(outputs.metric_direction),
                       CLI_FIELDS(outputs.outcomes), CLI_FIELDS(outputs.outcomes_per_agent));

/* The state of the command. */
typedef struct work {
    const cli_arguments *arguments;
    const options *chosen;
    comparison_inputs inputs;
    comparison result;
    bool quiet; /* print only warnings and errors and, without --json, the tables */
    const volatile sig_atomic_t *interrupt;
    bool stopped; /* whether an interrupt was seen; the same in all processes */
    cli_meter meter;
    char label[128];          /* of the current run */
    char numbered_label[192]; /* the same with its number among all runs */
} work;

/* ---- options ------------------------------------------------------------------------------- */

static saddle_status read_levels(work *w, saddle_error *error)
{
    comparison *c = &w->result;
    if (w->chosen->levels == NULL)
        return SADDLE_OK;
    char *copy = strdup(w->chosen->levels);
    SADDLE_TRY(saddle_check_memory(copy, "the list of levels", error));
    char *rest = copy;
    saddle_status status = SADDLE_OK;
    for (char *word = strsep(&rest, ","); status == SADDLE_OK && word != NULL;
         word = strsep(&rest, ",")) {
        double level;
        if (c->levels == COMPARISON_MOST_LEVELS)
            status = saddle_fail(error, SADDLE_BAD_INPUT, "--levels: at most %d levels are allowed",
                                 COMPARISON_MOST_LEVELS);
        else if (saddle_parse_real(word, &level) && level >= 0.0)
            c->level[c->levels++] = level;
        else
            status =
                saddle_fail(error, SADDLE_BAD_INPUT,
                            "--levels: '%.80s' is not a level; give finite numbers of at least "
                            "0, separated by commas, such as 1e-1,1e-2",
                            word);
    }
    qsort(c->level, c->levels, sizeof *c->level, saddle_compare_reals_down);
    free(copy);
    return status;
}

static saddle_status prepare(work *w, saddle_error *error)
{
    comparison *c = &w->result;
    saddle_status status = saddle_algorithm_names_read(&c->names, w->chosen->algorithms, error);
    SADDLE_THEN(status, read_levels(w, error));
    SADDLE_THEN_IF(status, cli_leads(),
                   cli_check_directory("--output", w->inputs.directory, error));
    if (status == SADDLE_OK && w->inputs.tuned != NULL && access(w->inputs.tuned, X_OK) != 0)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "--tuned: cannot read '%s': %s; give a directory that `saddle tune` "
                             "wrote",
                             w->inputs.tuned, strerror(errno));
    SADDLE_TRY(cli_agree(status, error));
    c->repeats = (size_t)w->chosen->repeats;
    c->first_seed = w->arguments->plan.start.seed;
    if (c->first_seed > UINT64_MAX - (c->repeats - 1))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--seed: '%" PRIu64
                           "' is too large for %zu repeats; give a smaller seed",
                           c->first_seed, c->repeats);
    return SADDLE_OK;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Warns about algorithms that run with their defaults because --tuned has no file for them. */
static void warn_untuned(const work *w)
{
    for (size_t a = 0; w->inputs.tuned != NULL && a < w->result.names.count; a++) {
        char path[TRACE_PATH];
        saddle_comparison_tuned_path(&w->inputs, w->result.names.algorithm[a], path);
        if (access(path, F_OK) != 0)
            cli_warn("--tuned: '%s' does not exist; %s runs with its defaults", path,
                     w->result.names.algorithm[a]->name);
    }
}

/* Refuses output files that cannot be written, or that would overwrite an input or each other. */
static saddle_status check_files(const work *w, saddle_error *error)
{
    const comparison *c = &w->result;
    const char *page = w->chosen->common.report;
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    char path[TRACE_PATH];
    SADDLE_TRY(cli_check_output("--report", page, false, error));
    if (w->chosen->common.json)
        SADDLE_TRY(cli_check_not_stdout("--report", page, error));
    for (size_t k = 0; k < c->names.count * c->repeats; k++) {
        char *trace = saddle_comparison_trace_path(c, &w->inputs, k / c->repeats, k % c->repeats);
        outputs.short_of_memory = outputs.short_of_memory || trace == NULL;
        saddle_path_list_add(&outputs, "output", trace);
        free(trace);
    }
    saddle_snprintf(path, sizeof path, "%s/summary.csv", w->inputs.directory);
    saddle_path_list_add(&outputs, "output", path);
    saddle_path_list_add(&outputs, "report", page);
    for (size_t a = 0; w->inputs.tuned != NULL && a < c->names.count; a++)
        saddle_path_list_add(&inputs, "tuned",
                             saddle_comparison_tuned_path(&w->inputs, c->names.algorithm[a], path));
    cli_add_inputs(w->arguments, &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

static saddle_status on_ready(void *context, const saddle_instance *instance, saddle_error *error)
{
    work *w = context;
    saddle_status status = cli_leads() ? check_files(w, error) : SADDLE_OK;
    SADDLE_TRY(cli_agree(status, error));
    cli_warn_unused(&w->arguments->plan, instance, w->result.names.algorithm,
                    w->result.names.count);
    warn_untuned(w);
    w->interrupt = cli_catch_interrupts();
    return SADDLE_OK;
}

static saddle_hooks on_begin(void *context, size_t a, size_t r)
{
    work *w = context;
    const comparison *c = &w->result;
    saddle_snprintf(w->label, sizeof w->label, "%s seed %" PRIu64 ": ", c->names.algorithm[a]->name,
                    c->first_seed + r);
    saddle_snprintf(w->numbered_label, sizeof w->numbered_label, "[%zu/%zu] %s",
                    r * c->names.count + a + 1, c->names.count * c->repeats, w->label);
    w->meter =
        (cli_meter){.label = w->numbered_label, .run = w->label, .hidden = w->chosen->common.quiet};
    return cli_meter_hooks(&w->meter, w->interrupt);
}

static void on_kept(void *context, const comparison_run *run)
{
    const work *w = context;
    cli_progress_clear();
    if (!w->quiet)
        cli_print("  %skept: %s\n", w->numbered_label, saddle_stop_text(run->stop));
}

static void on_end(void *context, const comparison_run *run, const saddle_result *result)
{
    const work *w = context;
    if (run->stop == SADDLE_STOP_DIVERGED)
        cli_report_divergence(result, w->label);
    cli_progress_clear();
    if (!w->quiet)
        cli_report_run(w->numbered_label, &run->rows[run->row_count - 1], run->stop);
}

static void on_left_out(void *context, const char *why)
{
    const work *w = context;
    cli_progress_clear();
    cli_warn("%s%s", w->label, why);
}

/* Whether an interrupt has been seen; once seen, it stays. */
static bool on_stopped(void *context)
{
    work *w = context;
    w->stopped = w->stopped || cli_interrupted(w->interrupt);
    return w->stopped;
}

/* ---- the command --------------------------------------------------------------------------- */

static bool all_left_out(const comparison *c)
{
    for (size_t a = 0; a < c->names.count; a++)
        if (c->refused[a] == NULL)
            return false;
    return true;
}

static bool all_diverged(const comparison *c)
{
    for (size_t k = 0; k < c->names.count * c->repeats; k++) {
        bool diverged = c->run[k].done && c->run[k].stop == SADDLE_STOP_DIVERGED;
        if (c->refused[k / c->repeats] == NULL && !diverged)
            return false;
    }
    return true;
}

static saddle_status save_summary(const work *w, saddle_error *error)
{
    char path[TRACE_PATH];
    saddle_snprintf(path, sizeof path, "%s/summary.csv", w->inputs.directory);
    return saddle_comparison_save(&w->result, path, error);
}

/* Writes a report about the traces of all runs that were made. */
static saddle_status save_report(const work *w, const char *page, saddle_error *error)
{
    const comparison *c = &w->result;
    report_page about = {.levels = c->levels, .level = c->level};
    size_t runs = c->names.count * c->repeats;
    char **path = calloc(runs + 1, sizeof *path);
    size_t count = 0;
    bool good = path != NULL;
    for (size_t k = 0; good && k < runs; k++)
        if (c->run[k].done) {
            path[count] =
                saddle_comparison_trace_path(c, &w->inputs, k / c->repeats, k % c->repeats);
            good = path[count++] != NULL;
        }
    saddle_status status =
        good
            ? report_of_files((const char *const *)path, count, about, page, error)
            : saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the paths of %zu runs", runs);
    for (size_t k = 0; path != NULL && k < count; k++)
        free(path[k]);
    free((void *)path);
    return status;
}

/* Prints the JSON object; `saved`: summary and report were written. */
static void print_json(const work *w, bool saved)
{
    saddle_json j;
    char path[TRACE_PATH];
    saddle_snprintf(path, sizeof path, "%s/summary.csv", w->inputs.directory);
    bool lost = w->result.output_error.status != SADDLE_OK;
    cli_json_begin(&j, w->arguments->command);
    cli_json_given(&j, w->arguments);
    saddle_json_put(&j, "interrupted %d", w->stopped);
    cli_json_comparison(&j, &w->result, &w->inputs);
    saddle_json_put(&j, "files { directory %s summary %s report %s lost %s }", w->inputs.directory,
                    saved ? path : NULL, saved ? w->chosen->common.report : NULL,
                    lost ? w->result.output_error.message : NULL);
    cli_json_end(&j);
}

static int conclude(work *w)
{
    saddle_error error;
    const char *page = w->chosen->common.report;
    bool json = w->chosen->common.json;
    cli_progress_clear();
    if (w->result.levels == 0)
        saddle_comparison_choose_levels(&w->result);
    if (!json)
        cli_print_comparison(&w->result, &w->arguments->plan);
    saddle_status status = cli_leads() ? save_summary(w, &error) : SADDLE_OK;
    SADDLE_THEN_IF(status, page != NULL && cli_leads(), save_report(w, page, &error));
    status = cli_agree(status, &error);
    if (json)
        print_json(w, status == SADDLE_OK);
    if (status != SADDLE_OK)
        return cli_fail(&error);
    if (!w->quiet)
        cli_print("\ntraces and summary.csv are in %s\n", w->inputs.directory);
    if (!w->quiet && page != NULL)
        cli_print("the report is %s\n", page);
    if (w->result.output_error.status != SADDLE_OK)
        return cli_fail(&w->result.output_error);
    if (cli_reader_gone())
        return CLI_FAILED;
    if (w->stopped) {
        cli_say("interrupted; the same command continues from '%s'", w->inputs.directory);
        return CLI_INTERRUPTED;
    }
    if (all_left_out(&w->result))
        return CLI_FAILED;
    return all_diverged(&w->result) ? CLI_DIVERGED : CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    const options *chosen = arguments->own;
    work w = {
        .arguments = arguments,
        .chosen = chosen,
        .inputs = {.plan = &arguments->plan,
                   .directory = chosen->output,
                   .overwrite = chosen->overwrite,
                   .tuned = chosen->tuned,
                   .world = cli_world(),
                   .hooks = {&w, on_ready, on_begin, on_kept, on_end, on_left_out, on_stopped}},
        .quiet = chosen->common.quiet || chosen->common.json};
    saddle_status status = prepare(&w, &error);
    SADDLE_THEN(status, saddle_comparison_make(&w.result, &w.inputs, &error));
    int code = status == SADDLE_OK ? conclude(&w) : cli_fail(&error);
    saddle_comparison_release(&w.result);
    return code;
}

static const char *const examples[] = {
    "saddle compare --algorithms precision,prox-dsgda --max-ifo 1000000",
    "saddle compare --algorithms all --data a9a --repeats 3 --report page.html", NULL};

const cli_command cli_compare = {
    .name = "compare",
    .operands = "",
    .summary = "compare the costs of several algorithms from the same start",
    .details =
        "For each level of the metric, prints the gradient evaluations (IFO calls), rounds, bytes "
        "and seconds that each algorithm needed until its metric stayed at or below that level, or "
        "`never`. Then prints the final metric and outcomes, on the agents' data and on "
        "--test-data. An algorithm that diverges is marked and the others continue; the exit "
        "status is 3 only if all diverge. `refused` marks an algorithm that cannot solve the "
        "problem, with the reason, and `failed` one for which the y that maximizes the loss at "
        "xbar could not be computed. --max-ifo gives all algorithms the same budget of gradient "
        "evaluations, whatever their number of iterations. After an interrupt, the same command "
        "keeps the finished runs and makes the others.",
    .basics = cli_run_basics,
    .examples = examples,
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
