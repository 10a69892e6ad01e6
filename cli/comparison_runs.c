/* Makes the runs of a comparison. All algorithms run on one instance per seed, so that nothing
 * but the algorithm differs between them. */
#include <dirent.h>
#include <unistd.h>

#include "comparison.h"
#include "files/file.h"
#include "instance/plan.h"
#include "instance/plan_plugins.h"
#include "run/plan_files.h"
#include "run/result.h"
#include "run/run.h"

/* ---- settings ------------------------------------------------------------------------------ */

const char *saddle_comparison_tuned_path(const comparison *c, const saddle_algorithm *algorithm,
                                         char out[TRACE_PATH])
{
    saddle_snprintf(out, TRACE_PATH, "%s/%s.yaml", c->tuned, algorithm->name);
    return out;
}

const char *saddle_comparison_summary_path(const comparison *c, char out[TRACE_PATH])
{
    saddle_snprintf(out, TRACE_PATH, "%s/summary.csv", c->directory);
    return out;
}

char *saddle_comparison_trace_path(const comparison *c, size_t a, size_t r)
{
    char *path = NULL;
    return saddle_asprintf(&path, "%s/%s-seed%" PRIu64 ".csv", c->directory,
                           c->names.algorithm[a]->name, c->first_seed + r) < 0
               ? NULL
               : path;
}

/* Sets the options of an algorithm that the file gives and the user did not. */
static saddle_status take_options(saddle_plan *to, const saddle_plan *file,
                                  const saddle_algorithm_choice *choice, saddle_error *error)
{
    SADDLE_TRY(saddle_plan_load_plugins(to, error));
    for (const saddle_option *const *option = choice->algorithm->options; *option != NULL; option++)
        if (saddle_plan_given(file, *option) && !saddle_plan_given(to, *option))
            SADDLE_TRY(
                saddle_plan_set(to, (*option)->name, SADDLE_PLAN_TEXT(file, *option), error));
    return SADDLE_OK;
}

/* Reads an algorithm's options from its file of tuned settings, if there is one. */
static saddle_status load_tuned(saddle_plan *plan, const comparison *c,
                                const saddle_algorithm_choice *choice, saddle_error *error)
{
    const saddle_algorithm *algorithm = choice->algorithm;
    char room[TRACE_PATH];
    const char *path = saddle_comparison_tuned_path(c, algorithm, room);
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan file = {.settings = NULL};
    saddle_plan_defaults(&file, sizeof file);
    /* The file may name a plug-in that the user has named. */
    file.algorithm.name = choice->text;
    file.problem.name = plan->problem.name;
    file.problem.x_set = plan->problem.x_set;
    file.problem.y_set = plan->problem.y_set;
    file.problem.regularizer = plan->problem.regularizer;
    if (access(path, F_OK) != 0)
        return SADDLE_OK;
    SADDLE_TRY(saddle_plan_load(&file, path, error));
    return take_options(plan, &file, choice, error);
}

/* The plan of one algorithm's run; `trace` NULL: none is written. */
static saddle_status run_plan(saddle_plan *out, const comparison *c,
                              const saddle_algorithm_choice *choice, const char *trace,
                              saddle_error *error)
{
    saddle_plan defaults;
    saddle_plan_defaults(&defaults, sizeof defaults);
    SADDLE_TRY(saddle_plan_copy(out, &c->arguments->plan, error));
    if (c->tuned != NULL)
        SADDLE_TRY(load_tuned(out, c, choice, error));
    /* Several runs cannot share one file or one checkpoint directory. */
    defaults.outputs.trace_every = out->outputs.trace_every;
    defaults.outputs.metric_tau = out->outputs.metric_tau;
    defaults.outputs.metric_direction = out->outputs.metric_direction;
    defaults.outputs.outcomes = out->outputs.outcomes;
    defaults.outputs.outcomes_per_agent = out->outputs.outcomes_per_agent;
    out->outputs = defaults.outputs;
    out->outputs.trace = trace;
    out->outputs.compared = true;
    if (isnan(out->outputs.metric_tau))
        out->outputs.metric_tau = c->metric_tau;
    out->algorithm.name = choice->text;
    return SADDLE_OK;
}

/* ---- whether algorithms can be run --------------------------------------------------------- */

/* Whether an algorithm can be run at all: its set-up and the metric at the start. */
static saddle_status try_one(comparison *c, const saddle_instance *instance, size_t a,
                             saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *result = NULL;
    saddle_status status = cli_agree(run_plan(&plan, c, c->names.choice[a], NULL, error), error);
    plan.limits.iterations = 0;
    SADDLE_THEN(status, saddle_run(instance, &plan, NULL, &result, error));
    c->untuned[a] = status == SADDLE_OK && result->untuned;
    return status;
}

/* Continues without an algorithm that refuses the problem, or whose best response could not be
 * found; any other failure ends the comparison. */
static saddle_status leave_out(comparison *c, size_t a, saddle_status status, saddle_error *error)
{
    if (status != SADDLE_UNSUPPORTED && status != SADDLE_NUMERIC)
        return status;
    c->refused[a] = saddle_strdup(error->message);
    c->failed[a] = status == SADDLE_NUMERIC;
    return c->refused[a] != NULL ? SADDLE_OK : saddle_no_memory(error, "a message");
}

/* Tries all algorithms before anything is written. One that refuses the problem is left out with
 * the reason, as long as another does not. */
static saddle_status try_all(comparison *c, const saddle_instance *instance, saddle_error *error)
{
    size_t refused = 0;
    saddle_steps steps;
    saddle_plan plan = c->arguments->plan;
    plan.steps.rule = SADDLE_STEPS_PRACTICAL; /* tau is the same, and theory may not apply */
    SADDLE_TRY(saddle_instance_steps(instance, &plan, &steps, error));
    c->metric_tau = steps.tau;
    for (size_t a = 0; a < c->names.count; a++) {
        saddle_status status = try_one(c, instance, a, error);
        if (status == SADDLE_OK)
            continue;
        SADDLE_TRY(leave_out(c, a, status, error));
        refused++;
    }
    if (refused < c->names.count)
        return SADDLE_OK;
    saddle_status why = c->failed[0] ? SADDLE_NUMERIC : SADDLE_UNSUPPORTED;
    return refused == 1 ? saddle_fail(error, why, "%s", c->refused[0])
                        : saddle_fail(error, why, "none of the %zu algorithms can be run: %s",
                                      refused, c->refused[0]);
}

/* ---- reports ------------------------------------------------------------------------------- */

/* Labels algorithm a's run in repeat r; returns its hooks. */
static saddle_hooks begin_run(comparison *c, size_t a, size_t r)
{
    saddle_snprintf(c->label, sizeof c->label, "%s seed %" PRIu64 ": ", c->names.algorithm[a]->name,
                    c->first_seed + r);
    saddle_snprintf(c->numbered_label, sizeof c->numbered_label, "[%zu/%zu] %s",
                    r * c->names.count + a + 1, saddle_comparison_runs(c), c->label);
    c->meter = (cli_meter){.label = c->numbered_label, .run = c->label, .hidden = c->hidden};
    return cli_meter_hooks(&c->meter, c->interrupt);
}

static void report_kept(const comparison *c, const comparison_run *run)
{
    cli_progress_clear();
    if (!c->quiet)
        cli_print("  %skept: %s\n", c->numbered_label, saddle_stop_text(run->stop));
}

static void report_end(const comparison *c, const comparison_run *run, const saddle_result *result)
{
    if (run->stop == SADDLE_STOP_DIVERGED)
        cli_report_divergence(result, c->label);
    cli_progress_clear();
    if (!c->quiet)
        cli_report_run(c->numbered_label, &result->rows[result->row_count - 1], run->stop);
}

/* Whether an interrupt has been seen; once seen, it stays. */
static bool is_stopped(comparison *c)
{
    c->stopped = c->stopped || cli_interrupted(c->interrupt);
    return c->stopped;
}

/* Warns about algorithms that run with their defaults because --tuned has no file for them. */
static void warn_untuned(const comparison *c)
{
    for (size_t a = 0; c->tuned != NULL && a < c->names.count; a++) {
        char path[TRACE_PATH];
        saddle_comparison_tuned_path(c, c->names.algorithm[a], path);
        if (access(path, F_OK) != 0)
            cli_warn("--tuned: '%s' does not exist; %s runs with its defaults", path,
                     c->names.algorithm[a]->name);
    }
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Runs algorithm a in repeat r. */
static saddle_status run_one(comparison *c, const saddle_instance *instance, size_t a, size_t r,
                             saddle_error *error)
{
    comparison_run *run = &c->run[a * c->repeats + r];
    SADDLE_MALLOCED char *path = saddle_comparison_trace_path(c, a, r);
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *result = NULL;
    saddle_hooks hooks = begin_run(c, a, r);
    SADDLE_TRY(saddle_check_memory(path, "the path of a trace", error));
    saddle_status status = cli_agree(run_plan(&plan, c, c->names.choice[a], path, error), error);
    SADDLE_THEN_IF(status, !c->overwrite, saddle_comparison_find(c, run, instance, &plan, error));
    if (status == SADDLE_OK && run->done)
        report_kept(c, run);
    SADDLE_THEN_IF(status, !run->done,
                   saddle_run_of_several(instance, &plan, false, &hooks, &result, error));
    SADDLE_THEN_IF(status, result != NULL, saddle_result_trace(result, &run->trace, error));
    if (status == SADDLE_OK && result != NULL) {
        run->stop = result->stop;
        run->done = true;
        if (c->output_error.status == SADDLE_OK)
            c->output_error = result->output_error;
        report_end(c, run, result);
    }
    return status;
}

/* Runs it, or leaves it out from now on. */
static saddle_status run_or_leave_out(comparison *c, const saddle_instance *instance, size_t a,
                                      size_t r, saddle_error *error)
{
    saddle_status status = run_one(c, instance, a, r, error);
    if (status != SADDLE_NUMERIC)
        return status;
    cli_progress_clear();
    cli_warn("%s%s", c->label, error->message);
    return leave_out(c, a, status, error);
}

/* Whether a directory entry is the trace of a comparison. */
static int is_trace(const struct dirent *entry)
{
    const char *seed = strstr(entry->d_name, "-seed");
    size_t digits = seed != NULL ? strspn(seed + 5, "0123456789") : 0;
    return digits > 0 && strcmp(seed + 5 + digits, ".csv") == 0;
}

/* Whether a name is that of a trace of this comparison. */
static bool is_ours(const comparison *c, const char *name)
{
    bool found = false;
    for (size_t k = 0; !found && k < saddle_comparison_runs(c); k++) {
        SADDLE_MALLOCED char *path =
            saddle_comparison_trace_path(c, k / c->repeats, k % c->repeats);
        found = path != NULL && strcmp(saddle_file_name(path), name) == 0;
    }
    return found;
}

/* Refuses a directory with traces of other algorithms or seeds, which would be mixed with ours.
 * Our own traces are checked when their run comes. */
static saddle_status check_directory(const comparison *c, saddle_error *error)
{
    struct dirent **entry = NULL;
    if (c->overwrite || !cli_leads())
        return SADDLE_OK;
    int count = scandir(c->directory, &entry, is_trace, alphasort);
    saddle_status status = SADDLE_OK;
    for (int k = 0; k < count; k++) {
        if (status == SADDLE_OK && !is_ours(c, entry[k]->d_name))
            status = saddle_refuse(
                error,
                "--output: '%.300s' already has results of another comparison, such as '%.200s'; "
                "give another directory, or set --overwrite to replace them",
                c->directory, entry[k]->d_name);
        free(entry[k]);
    }
    free((void *)entry);
    return status;
}

/* Refuses output files that cannot be written, or that would overwrite an input or each other. */
static saddle_status check_files(const comparison *c, saddle_error *error)
{
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    char path[TRACE_PATH];
    SADDLE_TRY(cli_check_output("--report", c->report, false, error));
    if (c->json)
        SADDLE_TRY(cli_check_not_stdout("--report", c->report, error));
    for (size_t k = 0; k < saddle_comparison_runs(c); k++) {
        SADDLE_MALLOCED char *trace =
            saddle_comparison_trace_path(c, k / c->repeats, k % c->repeats);
        outputs.short_of_memory = outputs.short_of_memory || trace == NULL;
        saddle_path_list_add(&outputs, "--output", trace);
    }
    saddle_path_list_add(&outputs, "--output", saddle_comparison_summary_path(c, path));
    saddle_path_list_add(&outputs, "--report", c->report);
    for (size_t a = 0; c->tuned != NULL && a < c->names.count; a++)
        saddle_path_list_add(&inputs, "--tuned",
                             saddle_comparison_tuned_path(c, c->names.algorithm[a], path));
    saddle_plan_add_inputs(&c->arguments->plan, &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

/* Before the first run: tries all algorithms, creates the directory, checks files and warns. */
static saddle_status begin(comparison *c, const saddle_instance *instance, saddle_error *error)
{
    saddle_status status = try_all(c, instance, error);
    SADDLE_THEN_IF(status, cli_leads(), saddle_make_directory("--output", c->directory, error));
    SADDLE_THEN_IF(status, cli_leads(),
                   saddle_lock_directory(&c->held, c->directory, "--output", error));
    SADDLE_THEN(status, check_directory(c, error));
    SADDLE_THEN_IF(status, cli_leads(), check_files(c, error));
    SADDLE_TRY(cli_agree(status, error));
    cli_warn_unused(&c->arguments->plan, instance, c->names.algorithm, c->names.count);
    warn_untuned(c);
    c->interrupt = cli_catch_interrupts();
    return SADDLE_OK;
}

/* Runs all algorithms in repeat r. */
static saddle_status run_repeat(comparison *c, size_t r, saddle_error *error)
{
    saddle_plan plan = c->arguments->plan;
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *instance = NULL;
    plan.start.seed = c->first_seed + r;
    SADDLE_TRY(saddle_instance_create(&instance, &plan, error));
    if (r == 0)
        SADDLE_TRY(begin(c, instance, error));
    for (size_t a = 0; a < c->names.count; a++)
        if (c->refused[a] == NULL && !is_stopped(c))
            SADDLE_TRY(cli_agree(run_or_leave_out(c, instance, a, r, error), error));
    return SADDLE_OK;
}

saddle_status saddle_comparison_make(comparison *c, saddle_error *error)
{
    c->run = calloc(saddle_comparison_runs(c), sizeof *c->run);
    SADDLE_TRY(saddle_check_memory(c->run, "the runs", error));
    SADDLE_TRY(cli_agree(check_directory(c, error), error));
    for (size_t r = 0; r < c->repeats; r++) {
        SADDLE_TRY(run_repeat(c, r, error));
        if (is_stopped(c))
            break;
    }
    return SADDLE_OK;
}
