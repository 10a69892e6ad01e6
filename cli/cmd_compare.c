/* `saddle compare`: several algorithms from the same start, network, data and seed. */
#include <unistd.h>

#include "cli.h"
#include "comparison.h"
#include "core/compare.h"
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
    SADDLE_OWN(options, algorithms, RUN), .files = SADDLE_FILES_CODE, .values = "@ALGORITHMS"
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
               "the start down to the best level reached or to rounding errors, at most 6, most of "
               "them among those that all runs reach."),
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

/* ---- options ------------------------------------------------------------------------------- */

static saddle_status read_levels(comparison *c, const char *levels, saddle_error *error)
{
    if (levels == NULL)
        return SADDLE_OK;
    SADDLE_OWNED char *copy = saddle_strdup(levels);
    SADDLE_TRY(saddle_check_memory(copy, "the list of levels", error));
    for (char *rest = copy; rest != NULL; c->levels++) {
        const char *word = strsep(&rest, ",");
        if (c->levels == COMPARISON_MOST_LEVELS)
            return saddle_refuse(error, "--levels: at most %d levels are allowed",
                                 COMPARISON_MOST_LEVELS);
        if (!saddle_parse_real(word, &c->level[c->levels]) || !(c->level[c->levels] >= 0.0))
            return saddle_refuse(error,
                                 "--levels: '%.80s' is not a level; give finite numbers of at "
                                 "least 0, separated by commas, such as 1e-1,1e-2",
                                 word);
    }
    qsort(c->level, c->levels, sizeof *c->level, saddle_compare_reals_down);
    return SADDLE_OK;
}

static saddle_status prepare(comparison *c, const options *chosen, saddle_error *error)
{
    saddle_status status = saddle_algorithm_names_read(&c->names, chosen->algorithms, error);
    SADDLE_THEN(status, read_levels(c, chosen->levels, error));
    SADDLE_THEN_IF(status, cli_leads(), cli_check_directory("--output", c->directory, error));
    if (status == SADDLE_OK && c->tuned != NULL && access(c->tuned, X_OK) != 0)
        status = saddle_refuse(
            error, "--tuned: cannot read '%s': %s; give a directory that `saddle tune` wrote",
            c->tuned, strerror(errno));
    SADDLE_TRY(cli_agree(status, error));
    c->repeats = (size_t)chosen->repeats;
    c->first_seed = c->arguments->plan.start.seed;
    if (c->first_seed > UINT64_MAX - (c->repeats - 1))
        return saddle_refuse(
            error, "--seed: '%" PRIu64 "' is too large for %zu repeats; give a smaller seed",
            c->first_seed, c->repeats);
    return SADDLE_OK;
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
    for (size_t k = 0; k < saddle_comparison_runs(c); k++) {
        bool diverged = c->run[k].done && c->run[k].stop == SADDLE_STOP_DIVERGED;
        if (c->refused[k / c->repeats] == NULL && !diverged)
            return false;
    }
    return true;
}

/* Writes a report about the traces of all runs that were made. */
static saddle_status save_report(const comparison *c, saddle_error *error)
{
    report_page about = {.levels = c->levels, .level = c->level};
    size_t runs = saddle_comparison_runs(c);
    char **path = calloc(runs + 1, sizeof *path);
    size_t count = 0;
    bool good = path != NULL;
    for (size_t k = 0; good && k < runs; k++)
        if (c->run[k].done) {
            path[count] = saddle_comparison_trace_path(c, k / c->repeats, k % c->repeats);
            good = path[count++] != NULL;
        }
    saddle_status status =
        good
            ? report_of_files((const char *const *)path, count, about, c->report, error)
            : saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the paths of %zu runs", runs);
    for (size_t k = 0; path != NULL && k < count; k++)
        free(path[k]);
    free((void *)path);
    return status;
}

/* Prints the JSON object; `saved`: summary and report were written. */
static void print_json(const comparison *c, const char *summary, bool saved)
{
    saddle_json j;
    cli_json_begin(&j, c->arguments->command);
    cli_json_given(&j, c->arguments);
    saddle_json_put(&j, "interrupted %d", c->stopped);
    cli_json_comparison(&j, c);
    saddle_json_put(&j, "files { directory %s summary %s report %s lost %s }", c->directory,
                    saved ? summary : NULL, saved ? c->report : NULL,
                    c->output_error.status != SADDLE_OK ? c->output_error.message : NULL);
    cli_json_end(&j);
}

static int conclude(comparison *c)
{
    saddle_error error;
    char room[TRACE_PATH];
    const char *summary = saddle_comparison_summary_path(c, room);
    cli_progress_clear();
    if (c->levels == 0)
        saddle_comparison_choose_levels(c);
    if (!c->json && cli_leads())
        cli_print_comparison(c, &c->arguments->plan);
    saddle_status status = cli_leads() ? saddle_comparison_save(c, summary, &error) : SADDLE_OK;
    SADDLE_THEN_IF(status, c->report != NULL && cli_leads(), save_report(c, &error));
    status = cli_agree(status, &error);
    if (c->json && cli_leads())
        print_json(c, summary, status == SADDLE_OK);
    if (status != SADDLE_OK)
        return cli_fail(&error);
    if (!c->quiet)
        cli_print("\ntraces and summary.csv are in %s\n", c->directory);
    if (!c->quiet && c->report != NULL)
        cli_print("the report is %s\n", c->report);
    if (c->output_error.status != SADDLE_OK)
        return cli_fail(&c->output_error);
    if (cli_reader_gone())
        return CLI_FAILED;
    if (c->stopped) {
        cli_say("interrupted; the same command continues from '%s'", c->directory);
        return CLI_INTERRUPTED;
    }
    if (all_left_out(c))
        return CLI_FAILED;
    return all_diverged(c) ? CLI_DIVERGED : CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    const options *chosen = arguments->own;
    SADDLE_OWNED_BY(saddle_comparison_release)
    comparison c = {.arguments = arguments,
                    .directory = chosen->output,
                    .tuned = chosen->tuned,
                    .report = chosen->common.report,
                    .overwrite = chosen->overwrite,
                    .json = chosen->common.json,
                    .hidden = chosen->common.quiet,
                    .quiet = chosen->common.quiet || chosen->common.json};
    CLI_TRY(prepare(&c, chosen, &error));
    CLI_TRY(saddle_comparison_make(&c, &error));
    return conclude(&c);
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
