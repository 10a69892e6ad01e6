/*
 * `saddle compare`: several algorithms from the same start, network, data and seed.
 *
 * For every seed ONE experiment is set up and all algorithms run on it, so that nothing but the
 * algorithm differs between them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "draw/report.h"
#include "files/file.h"
#include "lab/comparison.h"
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
} options;

static const saddle_option algorithms_option = {
    SADDLE_OWN(options, algorithms, RUN),
    .name = "algorithms",
    .group = GROUP,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = DEFAULT_ALGORITHMS,
    .metavar = "A,B,...",
    .help = "What to compare, separated by commas; all: every algorithm there is."};
static const saddle_option repeats_option = {
    SADDLE_OWN(options, repeats, RUN),
    .name = "repeats",
    .group = GROUP,
    .kind = SADDLE_OPTION_INTEGER,
    .fallback = "1",
    .minimum = 1,
    .maximum = 1e6,
    .metavar = "K",
    .help = "Repeat with seeds seed, seed+1, ..., seed+K-1; mean and range are shown."};
static const saddle_option levels_option = {
    SADDLE_OWN(options, levels, RUN),
    .name = "levels",
    .group = GROUP,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "auto",
    .metavar = "L1,L2,...",
    .help = "Levels of the metric to give the costs of. auto: decades from the start's down to "
            "the best that was reached, at most 6."};
static const saddle_option output_option = {
    SADDLE_OWN(options, output, RUN),
    .name = "output",
    .group = GROUP,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "saddle-compare",
    .metavar = "DIR",
    .help = "Where ALGORITHM-seedN.csv (the traces) and summary.csv go; made when missing."};
static const saddle_option tuned_option = {
    SADDLE_OWN(options, tuned, RUN),
    .name = "tuned",
    .group = GROUP,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "",
    .metavar = "DIR",
    .help = "Take each algorithm's step sizes from DIR/ALGORITHM.yaml, as `saddle tune` leaves "
            "them; one without such a file keeps its defaults, with a warning."};
static const saddle_option quiet_option = {SADDLE_OWN(options, common.quiet, RUN),
                                           .name = "quiet",
                                           .group = CLI_OUTPUT,
                                           .kind = SADDLE_OPTION_FLAG,
                                           .fallback = "no",
                                           .help = "Print only the tables, warnings and errors."};

static const saddle_option *const own[] = {
    &algorithms_option, &repeats_option,    &levels_option,
    &output_option,     &tuned_option,      &cli_option_config,
    &quiet_option,      &cli_option_report, NULL};
static const char *const library[] = {CLI_PROBLEM,  CLI_NETWORK,  CLI_ALGORITHM, "-algorithm",
                                      CLI_START,    CLI_STOPPING, CLI_ENGINE,    "trace-every",
                                      "metric-tau", NULL};

/* A comparison at work. */
typedef struct work {
    const cli_arguments *arguments;
    const saddle_plan *plan;
    const options *chosen;
    const char *directory;
    const char *tuned; /* directory with settings by `saddle tune`; NULL: none */
    double metric_tau; /* one for all, as tuned ones may differ in tau */
    comparison result;
    bool quiet;
    const volatile sig_atomic_t *interrupt;
    bool stopped; /* whether it was seen, in all processes alike */
    cli_meter meter;
    char label[128];   /* of the run going on */
    char place[192];   /* the same with its number among all runs */
    saddle_error loss; /* the first trace that could not be written; SADDLE_OK: none */
} work;

/* ---- options ------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left < right) - (left > right);
}

static saddle_status read_levels(work *w, saddle_error *error)
{
    comparison *c = &w->result;
    if (w->chosen->levels == NULL)
        return SADDLE_OK;
    char *copy = strdup(w->chosen->levels);
    if (copy == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the list of levels");
    char *rest = copy;
    saddle_status status = SADDLE_OK;
    for (char *word = strsep(&rest, ","); status == SADDLE_OK && word != NULL;
         word = strsep(&rest, ",")) {
        double level;
        if (c->levels == COMPARISON_MOST_LEVELS)
            status = saddle_fail(error, SADDLE_BAD_INPUT, "--levels: more than %d levels",
                                 COMPARISON_MOST_LEVELS);
        else if (saddle_parse_real(word, &level) && level >= 0.0)
            c->level[c->levels++] = level;
        else
            status = saddle_fail(error, SADDLE_BAD_INPUT,
                                 "--levels: '%.80s' is not a number of at least 0; give levels of "
                                 "the metric separated by commas, such as 1e-1,1e-2",
                                 word);
    }
    qsort(c->level, c->levels, sizeof *c->level, descending);
    free(copy);
    return status;
}

static saddle_status prepare(work *w, saddle_error *error)
{
    comparison *c = &w->result;
    saddle_status status = cli_read_algorithms(w->chosen->algorithms, c->algorithm,
                                               COMPARISON_MOST_ALGORITHMS, &c->algorithms, error);
    if (status == SADDLE_OK)
        status = read_levels(w, error);
    if (status == SADDLE_OK && cli_leads())
        status = cli_check_directory("--output", w->directory, error);
    status = cli_agree(status, error);
    if (status != SADDLE_OK)
        return status;
    c->repeats = (size_t)w->chosen->repeats;
    c->first_seed = w->plan->start.seed;
    if (c->first_seed > UINT64_MAX - (c->repeats - 1))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--seed: '%" PRIu64
                           "' leaves no room for %zu repeats; give a smaller seed",
                           c->first_seed, c->repeats);
    c->run = calloc(c->algorithms * c->repeats, sizeof *c->run);
    return c->run != NULL ? SADDLE_OK
                          : saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %zu runs",
                                        c->algorithms * c->repeats);
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Set those of an algorithm's options that the file gives and the user did not. */
static saddle_status take_options(saddle_plan *to, const saddle_plan *file,
                                  const saddle_algorithm *algorithm, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (const saddle_option *const *option = algorithm->options;
         status == SADDLE_OK && *option != NULL; option++)
        if (saddle_settings_given(file->settings, *option) &&
            !saddle_settings_given(to->settings, *option))
            status = saddle_plan_set(to, (*option)->name,
                                     saddle_settings_value(file->settings, *option), error);
    return status;
}

/* The file of an algorithm's tuned settings; to be freed. NULL: memory is short. */
static char *tuned_path(const work *w, const saddle_algorithm *algorithm)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s.yaml", w->tuned, algorithm->name) < 0 ? NULL : path;
}

/* Take an algorithm's options from its file of tuned settings, if there is one. */
static saddle_status load_tuned(saddle_plan *plan, const work *w, const saddle_algorithm *algorithm,
                                saddle_error *error)
{
    char *path = tuned_path(w, algorithm);
    if (path == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the path of settings");
    saddle_plan file;
    saddle_status status = SADDLE_OK;
    saddle_plan_defaults(&file, sizeof file);
    if (access(path, F_OK) == 0) {
        status = saddle_plan_load(&file, path, error);
        if (status == SADDLE_OK)
            status = take_options(plan, &file, algorithm, error);
    }
    saddle_plan_free(&file);
    free(path);
    return status;
}

/* Warn about algorithms that run with their defaults although tuned settings were asked for. */
static void warn_untuned(const work *w)
{
    for (size_t a = 0; w->tuned != NULL && a < w->result.algorithms; a++) {
        char *path = tuned_path(w, w->result.algorithm[a]);
        if (path != NULL && access(path, F_OK) != 0)
            cli_warn("--tuned: there is no '%s'; %s runs with its defaults", path,
                     w->result.algorithm[a]->name);
        free(path);
    }
}

/* The plan of one algorithm's run; without a trace's path nothing but a trial of the set-up. */
static saddle_status run_plan(saddle_plan *out, const work *w, const saddle_algorithm *algorithm,
                              const char *trace, saddle_error *error)
{
    saddle_plan defaults;
    saddle_plan_defaults(&defaults, sizeof defaults);
    saddle_status status = saddle_plan_copy(out, w->plan, error);
    if (status == SADDLE_OK && w->tuned != NULL)
        status = load_tuned(out, w, algorithm, error);
    if (status != SADDLE_OK)
        return status;
    /* One file, or one directory of checkpoints, cannot be that of several runs. */
    defaults.outputs.trace_every = out->outputs.trace_every;
    defaults.outputs.metric_tau = out->outputs.metric_tau;
    out->outputs = defaults.outputs;
    out->outputs.trace = trace;
    if (w->tuned != NULL && isnan(out->outputs.metric_tau))
        out->outputs.metric_tau = w->metric_tau;
    out->algorithm.name = algorithm->name;
    /* A budget of IFO calls is the common one unless iterations are given, too. */
    bool by_ifo = w->plan->limits.max_ifo > 0 && !CLI_GIVEN(w->plan, limits.iterations);
    if (trace == NULL || by_ifo)
        out->limits.iterations = trace == NULL ? 0 : UINT64_C(1) << 53;
    return SADDLE_OK;
}

/* Whether an algorithm can be run at all. */
static saddle_status try_one(const work *w, const saddle_instance *instance,
                             const saddle_algorithm *algorithm, saddle_error *error)
{
    saddle_plan plan = {.settings = NULL};
    saddle_result *result = NULL;
    saddle_status status = cli_agree(run_plan(&plan, w, algorithm, NULL, error), error);
    if (status == SADDLE_OK)
        status = saddle_run(instance, &plan, NULL, &result, error);
    saddle_result_free(result);
    saddle_plan_free(&plan);
    return status;
}

/* Go on without an algorithm that refuses the problem, or whose best response could not be found;
 * whatever else is wrong ends the comparison. */
static saddle_status leave_out(comparison *c, size_t a, saddle_status status, saddle_error *error)
{
    if (status != SADDLE_UNSUPPORTED && status != SADDLE_NUMERIC)
        return status;
    c->refused[a] = strdup(error->message);
    c->failed[a] = status == SADDLE_NUMERIC;
    if (c->refused[a] == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a message");
    return SADDLE_OK;
}

/* Try all before anything is written. One that refuses the problem is left out with its reason, as
 * long as another does not. */
static saddle_status try_all(work *w, const saddle_instance *instance, saddle_error *error)
{
    comparison *c = &w->result;
    size_t refused = 0;
    saddle_steps steps = {.tau = 0.0};
    if (w->tuned != NULL) {
        saddle_status status = saddle_instance_steps(instance, w->plan, &steps, error);
        if (status != SADDLE_OK)
            return status;
    }
    w->metric_tau = steps.tau;
    for (size_t a = 0; a < c->algorithms; a++) {
        saddle_status status = try_one(w, instance, c->algorithm[a], error);
        if (status == SADDLE_OK)
            continue;
        status = leave_out(c, a, status, error);
        if (status != SADDLE_OK)
            return status;
        refused++;
    }
    if (refused < c->algorithms)
        return SADDLE_OK;
    saddle_status why = c->failed[0] ? SADDLE_NUMERIC : SADDLE_UNSUPPORTED;
    return refused == 1 ? saddle_fail(error, why, "%s", c->refused[0])
                        : saddle_fail(error, why, "none of the %zu algorithms can be run: %s",
                                      refused, c->refused[0]);
}

/* Where the trace of algorithm a in repeat r goes; to be freed. NULL: memory is short. */
static char *trace_path(const work *w, size_t a, size_t r)
{
    const comparison *c = &w->result;
    char *path = NULL;
    return asprintf(&path, "%s/%s-seed%" PRIu64 ".csv", w->directory, c->algorithm[a]->name,
                    c->first_seed + r) < 0
               ? NULL
               : path;
}

/* Run algorithm a in repeat r. */
static saddle_status run_one(work *w, const saddle_instance *instance, size_t a, size_t r,
                             saddle_error *error)
{
    comparison *c = &w->result;
    comparison_run *run = &c->run[a * c->repeats + r];
    uint64_t seed = c->first_seed + r;
    char *path = trace_path(w, a, r);
    saddle_plan plan = {.settings = NULL};
    saddle_result *result = NULL;
    snprintf(w->label, sizeof w->label, "%s seed %" PRIu64 ": ", c->algorithm[a]->name, seed);
    snprintf(w->place, sizeof w->place, "[%zu/%zu] %s", r * c->algorithms + a + 1,
             c->algorithms * c->repeats, w->label);
    w->meter = (cli_meter){.label = w->place, .run = w->label, .hidden = w->quiet};
    if (path == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the path of a trace");
    saddle_status status = cli_agree(run_plan(&plan, w, c->algorithm[a], path, error), error);
    if (status == SADDLE_OK) {
        saddle_hooks hooks = cli_meter_hooks(&w->meter, w->interrupt);
        status = saddle_run(instance, &plan, &hooks, &result, error);
    }
    if (status == SADDLE_OK)
        status = saddle_comparison_keep(run, result, error);
    if (status == SADDLE_OK && w->loss.status == SADDLE_OK)
        w->loss = result->output_error;
    if (status == SADDLE_OK && run->stop == SADDLE_STOP_DIVERGED)
        cli_report_divergence(result, w->label);
    cli_progress_clear();
    if (status == SADDLE_OK && !w->quiet)
        cli_report_run(w->place, &run->rows[run->row_count - 1], run->stop);
    saddle_result_free(result);
    saddle_plan_free(&plan);
    free(path);
    return status;
}

/* Whether somebody wants an end; what has been heard once stays. */
static bool stopped(work *w)
{
    w->stopped = w->stopped || cli_interrupted(w->interrupt);
    return w->stopped;
}

/* Run it, or say why it is left out from here on. */
static saddle_status run_or_leave_out(work *w, const saddle_instance *instance, size_t a, size_t r,
                                      saddle_error *error)
{
    saddle_status status = run_one(w, instance, a, r, error);
    if (status != SADDLE_NUMERIC)
        return status;
    cli_progress_clear();
    cli_warn("%s%s", w->label, error->message);
    return leave_out(&w->result, a, status, error);
}

/* Refuse a report that could not be written, or that would overwrite an input. */
static saddle_status check_report(const work *w, saddle_error *error)
{
    const char *page = w->chosen->common.report;
    saddle_status status = cli_check_output("--report", page, false, error);
    return status == SADDLE_OK ? cli_check_inputs("--report", page, w->arguments, error) : status;
}

/* All algorithms in repeat r. */
static saddle_status run_repeat(work *w, size_t r, saddle_error *error)
{
    saddle_plan plan = *w->plan;
    saddle_instance *instance = NULL;
    plan.start.seed = w->result.first_seed + r;
    saddle_status status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK && r == 0)
        status = try_all(w, instance, error);
    if (status == SADDLE_OK && r == 0 && cli_leads())
        status = saddle_make_directory("--output", w->directory, error);
    if (status == SADDLE_OK && r == 0 && cli_leads()) /* which may be in that directory */
        status = check_report(w, error);
    status = cli_agree(status, error);
    if (status == SADDLE_OK && r == 0) {
        cli_warn_unused(w->plan, instance, w->result.algorithm, w->result.algorithms);
        warn_untuned(w);
        w->interrupt = cli_catch_interrupts();
    }
    for (size_t a = 0; status == SADDLE_OK && a < w->result.algorithms && !stopped(w); a++)
        if (w->result.refused[a] == NULL)
            status = cli_agree(run_or_leave_out(w, instance, a, r, error), error);
    saddle_instance_free(instance);
    return status;
}

/* ---- the command --------------------------------------------------------------------------- */

static bool all_left_out(const comparison *c)
{
    for (size_t a = 0; a < c->algorithms; a++)
        if (c->refused[a] == NULL)
            return false;
    return true;
}

static bool all_diverged(const comparison *c)
{
    for (size_t k = 0; k < c->algorithms * c->repeats; k++) {
        bool diverged = c->run[k].done && c->run[k].stop == SADDLE_STOP_DIVERGED;
        if (c->refused[k / c->repeats] == NULL && !diverged)
            return false;
    }
    return true;
}

static saddle_status save_summary(const work *w, saddle_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/summary.csv", w->directory) < 0)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the path of the summary");
    saddle_status status = saddle_comparison_save(&w->result, path, error);
    free(path);
    return status;
}

/* A page about the traces of all runs that were made. */
static saddle_status save_report(const work *w, const char *page, saddle_error *error)
{
    const comparison *c = &w->result;
    report_section costs = {.levels = c->levels, .level = c->level};
    size_t runs = c->algorithms * c->repeats;
    char **path = calloc(runs + 1, sizeof *path);
    size_t count = 0;
    bool good = path != NULL;
    for (size_t k = 0; good && k < runs; k++)
        if (c->run[k].done) {
            path[count] = trace_path(w, k / c->repeats, k % c->repeats);
            good = path[count++] != NULL;
        }
    saddle_status status =
        good
            ? report_of_files((const char *const *)path, count, costs, "", page, error)
            : saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the paths of %zu runs", runs);
    for (size_t k = 0; path != NULL && k < count; k++)
        free(path[k]);
    free((void *)path);
    return status;
}

static int conclude(work *w)
{
    saddle_error error;
    const char *page = w->chosen->common.report;
    cli_progress_clear();
    if (w->result.levels == 0)
        saddle_comparison_choose_levels(&w->result);
    cli_print_comparison(&w->result);
    saddle_status status = cli_leads() ? save_summary(w, &error) : SADDLE_OK;
    if (status == SADDLE_OK && page != NULL && cli_leads())
        status = save_report(w, page, &error);
    if (cli_agree(status, &error) != SADDLE_OK)
        return cli_fail(&error);
    if (!w->quiet)
        printf("\ntraces and summary.csv are in %s\n", w->directory);
    if (!w->quiet && page != NULL)
        printf("the report is %s\n", page);
    if (w->loss.status != SADDLE_OK)
        return cli_fail(&w->loss);
    if (cli_reader_gone())
        return CLI_FAILED;
    if (w->stopped)
        return CLI_INTERRUPTED;
    if (all_left_out(&w->result))
        return CLI_FAILED;
    return all_diverged(&w->result) ? CLI_DIVERGED : CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    const options *chosen = arguments->own;
    work w = {.arguments = arguments,
              .plan = &arguments->plan,
              .chosen = chosen,
              .directory = chosen->output,
              .tuned = chosen->tuned,
              .quiet = chosen->common.quiet};
    saddle_status status = prepare(&w, &error);
    for (size_t r = 0; status == SADDLE_OK && r < w.result.repeats; r++) {
        status = run_repeat(&w, r, &error);
        if (status == SADDLE_OK && stopped(&w))
            break;
    }
    int code = status == SADDLE_OK ? conclude(&w) : cli_fail(&error);
    saddle_comparison_release(&w.result);
    return code;
}

const cli_command cli_compare = {
    .name = "compare",
    .operands = "",
    .summary = "run several algorithms from the same start and compare their costs",
    .details = "Prints for each level of the metric the IFO calls, rounds, bytes and seconds that "
               "each algorithm needed to reach it, `never` where it did not. The cost at a level "
               "is that of the first trace point at or below it. An algorithm that diverges is "
               "shown as such and the others go on; the exit status is 3 only when all diverge. So "
               "is one that cannot solve the problem: `refused`, with its reason; `failed`: a best "
               "response could not be computed. --max-ifo gives "
               "all the same budget, whatever their number of iterations.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
