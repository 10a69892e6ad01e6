/* Makes the runs of an experiment, or reads those that were made before. */
#include "lab/experiment_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/print.h"
#include "core/status.h"
#include "files/file.h"
#include "instance/settings.h"
#include "lab/paths.h"
#include "run/run.h"

/* Candidates of a search, the same number for every algorithm. */
#define CANDIDATES 24
#define QUICK_CANDIDATES 6
/* Trace points of a run with tuned settings. */
#define TUNED_POINTS 1000.0
#define QUICK_TUNED_POINTS 100.0
/* Options that a search does not vary: steps that the paper gives, and those of a single
 * algorithm. */
#define HELD "nu,eta,c-gamma"

/* ---- data ------------------------------------------------------------------------------------ */

static bool found(const char *name)
{
    char *path = NULL;
    bool good = saddle_data_find(name, &path, NULL) == SADDLE_OK;
    free(path);
    return good;
}

const char *saddle_paper_data(experiment_data data)
{
    switch (data) {
    case EXPERIMENT_A9A:
        return found("a9a") ? "a9a" : "synthetic";
    case EXPERIMENT_MNIST:
        return found("mnist") ? "mnist" : found("mnist.t") ? "mnist.t" : "synthetic:10000:784";
    case EXPERIMENT_OWN:
        break;
    }
    return "";
}

bool saddle_paper_data_is_substitute(experiment_data data)
{
    return strncmp(saddle_paper_data(data), "synthetic", strlen("synthetic")) == 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Sets options from "name=value name=value". */
static saddle_status apply(saddle_plan *plan, const char *text, saddle_error *error)
{
    char *copy = text != NULL ? strdup(text) : strdup("");
    if (copy == NULL)
        return saddle_no_memory(error, "the settings of a run");
    saddle_status status = SADDLE_OK;
    char *rest = copy;
    for (char *word = strsep(&rest, " "); status == SADDLE_OK && word != NULL;
         word = strsep(&rest, " ")) {
        if (*word == '\0')
            continue;
        char *value = strchr(word, '=');
        if (value == NULL) {
            status = saddle_fail(error, SADDLE_CHECK_FAILED, "'%s' sets no option", word);
            break;
        }
        *value++ = '\0';
        status = saddle_plan_set(plan, word, value, error);
    }
    free(copy);
    return status;
}

saddle_status saddle_experiment_runs_plan(saddle_plan *out, const experiment_runs *w,
                                          const paper_experiment *e,
                                          const experiment_series *series, saddle_error *error)
{
    const char *data = saddle_paper_data(e->data);
    saddle_plan_defaults(out, sizeof *out);
    saddle_status status = apply(out, e->settings, error);
    SADDLE_THEN(status, apply(out, series->settings, error));
    SADDLE_THEN_IF(status, w->quick, apply(out, e->quick, error));
    SADDLE_THEN_IF(status, *data != '\0', saddle_plan_set(out, "data", data, error));
    SADDLE_THEN(status, saddle_plan_set(out, "algorithm", series->algorithm, error));
    out->engine.threads = w->threads;
    return status;
}

/* The value of a setting; NULL if it is not given, or differs between series. */
static const char *common_setting(const paper_experiment *e, const saddle_settings *settings,
                                  const char *name)
{
    char given[64];
    saddle_snprintf(given, sizeof given, "%s=", name);
    for (size_t k = 0; k < saddle_settings_count(settings); k++) {
        const saddle_option *option = saddle_settings_option(settings, k);
        if (strcmp(option->name, name) == 0 && saddle_settings_given(settings, option) &&
            strstr(e->series[0].settings, given) == NULL)
            return saddle_settings_value(settings, option);
    }
    return NULL;
}

void saddle_experiment_describe(const experiment_runs *w, const paper_experiment *e, char *out,
                                size_t size)
{
    static const struct {
        const char *name, *before, *after;
    } shown[] = {{"agents", "; ", " agents"},
                 {"topology", ", ", ""},
                 {"samples", ", n = ", ""},
                 {"max-ifo", ", ", " IFO calls"},
                 {"max-rounds", ", ", " rounds"},
                 {"max-network-seconds", ", ", " simulated seconds"},
                 {"tolerance", ", until the metric is ", ""}};
    saddle_plan plan;
    saddle_plan all = {.size = 0};
    saddle_snprintf(out, size, "%s", e->source);
    if (saddle_experiment_runs_plan(&plan, w, e, &e->series[0], NULL) == SADDLE_OK &&
        saddle_plan_copy(&all, &plan, NULL) == SADDLE_OK) {
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            const char *value = common_setting(e, all.settings, shown[k].name);
            if (value != NULL)
                saddle_append(out, size, "%s%s%s", shown[k].before, value, shown[k].after);
        }
        saddle_plan_free(&all);
    }
    saddle_plan_free(&plan);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

static void on_trial(void *context, const saddle_tuning *tuning, const saddle_trial *trial)
{
    const experiment_runs *w = context;
    w->hooks.trial(w->hooks.context, w->label, tuning, trial);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Creates DIR/KIND/EXPERIMENT unless it exists. */
static saddle_status make_folder(const experiment_runs *w, const char *kind,
                                 const paper_experiment *e, saddle_error *error)
{
    char path[LAB_PATH];
    saddle_snprintf(path, sizeof path, "%s/%s", w->directory, kind);
    saddle_status status = saddle_make_directory("output", path, error);
    saddle_snprintf(path, sizeof path, "%s/%s/%s", w->directory, kind, e->name);
    SADDLE_THEN(status, saddle_make_directory("output", path, error));
    return status;
}

/* Whether a trace records another value of a setting. A trace does not record settings that its
 * algorithm does not read. */
static bool differs(const saddle_trace *trace, const saddle_settings *settings,
                    const saddle_option *option)
{
    const char *recorded = saddle_trace_setting(trace, option->name);
    return option->effect != SADDLE_EFFECT_ENGINE && option->effect != SADDLE_EFFECT_OUTPUT &&
           saddle_settings_given(settings, option) && *recorded != '\0' &&
           strcmp(recorded, saddle_settings_value(settings, option)) != 0;
}

/* Whether a trace is complete and comes from a run with this plan and version. */
static bool is_wanted(const saddle_trace *trace, const saddle_plan *plan)
{
    saddle_plan all;
    if (trace->end == NULL || strcmp(trace->end, saddle_stop_text(SADDLE_STOP_INTERRUPTED)) == 0 ||
        strcmp(trace->version, saddle_version()) != 0)
        return false;
    bool wanted = saddle_plan_copy(&all, plan, NULL) == SADDLE_OK;
    for (size_t k = 0; wanted && k < saddle_settings_count(all.settings); k++)
        wanted = !differs(trace, all.settings, saddle_settings_option(all.settings, k));
    saddle_plan_free(&all);
    return wanted;
}

/* Writes the path of a run's trace. */
static const char *trace_path(char out[LAB_PATH], const experiment_runs *w,
                              const paper_experiment *e, const experiment_series *series,
                              uint64_t seed)
{
    saddle_snprintf(out, LAB_PATH, "%s/traces/%s/%s-seed%" PRIu64 ".csv", w->directory, e->name,
                    series->name, seed);
    return out;
}

/* Reads a run that was made before; NULL if there is none with this plan. */
static saddle_trace *find_run(const char *path, const saddle_plan *plan)
{
    saddle_trace *trace = NULL;
    if (access(path, F_OK) != 0 || saddle_trace_read(&trace, path, NULL) != SADDLE_OK)
        return NULL;
    if (is_wanted(trace, plan))
        return trace;
    saddle_trace_free(trace);
    return NULL;
}

/* ---- tuning ---------------------------------------------------------------------------------- */

/* Searches: continues from the log if it belongs to this search, starts again otherwise. */
static saddle_status search(saddle_tuning **out, experiment_runs *w,
                            const saddle_instance *instance, const saddle_plan *plan,
                            uint64_t budget, const char *batches, const char *log,
                            saddle_error *error)
{
    saddle_tune_inputs inputs = {.budget = budget,
                                 .candidates = w->quick ? QUICK_CANDIDATES : CANDIDATES,
                                 .hold = HELD,
                                 .search = batches,
                                 .log = log,
                                 .resume = true};
    saddle_tune_hooks hooks = {.context = w, .trial = on_trial, .interrupt = w->interrupt};
    saddle_status status = saddle_tune(out, instance, plan, &inputs, &hooks, error);
    if (status == SADDLE_BAD_INPUT && remove(log) == 0)
        status = saddle_tune(out, instance, plan, &inputs, &hooks, error);
    return status;
}

/* Puts the best tau, alpha and batch, and the common tau of the metrics, into the plan. The
 * number of trace points does not depend on the cost of an iteration. */
static void use_best_settings(saddle_plan *plan, const saddle_tuning *tuning, double points)
{
    const saddle_trial *best = saddle_tuning_last(tuning, tuning->ranking[0]);
    double iterations = (double)plan->limits.max_ifo * (double)best->iterations / (double)best->ifo;
    plan->outputs.trace_every = (uint64_t)fmax(1.0, floor(iterations / points));
    plan->steps.tau = tuning->plan.steps.tau;
    plan->steps.alpha = tuning->plan.steps.alpha;
    plan->steps.batch = tuning->plan.steps.batch;
    plan->outputs.metric_tau = tuning->plan.outputs.metric_tau;
}

static saddle_status tune_series(experiment_runs *w, const paper_experiment *e,
                                 const experiment_series *series, saddle_plan *plan,
                                 saddle_error *error)
{
    char log[LAB_PATH];
    char answer[LAB_PATH];
    saddle_plan own = *plan;
    saddle_instance *instance = NULL;
    saddle_tuning *tuning = NULL;
    saddle_snprintf(w->label, sizeof w->label, "%s, tuning %s: ", e->name, series->name);
    own.start.seed = EXPERIMENT_TUNING_SEED;
    saddle_snprintf(log, sizeof log, "%s/tuned/%s/%s.csv", w->directory, e->name, series->name);
    saddle_snprintf(answer, sizeof answer, "%s/tuned/%s/%s.yaml", w->directory, e->name,
                    series->name);
    saddle_status status = saddle_instance_create(&instance, &own, error);
    SADDLE_THEN(status, search(&tuning, w, instance, &own, w->quick ? e->quick_tuning : e->tuning,
                               e->batches, log, error));
    SADDLE_THEN_IF(status, tuning->finished, saddle_tuning_save(tuning, answer, error));
    if (status == SADDLE_OK && tuning->finished)
        use_best_settings(plan, tuning, w->quick ? QUICK_TUNED_POINTS : TUNED_POINTS);
    saddle_tuning_free(tuning);
    saddle_instance_free(instance);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void write_text(FILE *f, const void *text)
{
    fputs(text, f);
}

static const char *churn_path(char out[LAB_PATH], const experiment_runs *w,
                              const paper_experiment *e, const experiment_series *series)
{
    saddle_snprintf(out, LAB_PATH, "%s/traces/%s/%s.churn", w->directory, e->name, series->name);
    return out;
}

/* Returns whether the churn file of a series has its events, or it has none. */
static bool has_churn(const experiment_runs *w, const paper_experiment *e,
                      const experiment_series *series)
{
    char path[LAB_PATH];
    char text[256] = "";
    FILE *f = series->churn != NULL ? fopen(churn_path(path, w, e, series), "r") : NULL;
    if (f != NULL) {
        size_t length = fread(text, 1, sizeof text - 1, f);
        text[length] = '\0';
        fclose(f);
    }
    return series->churn == NULL || strcmp(text, series->churn) == 0;
}

/* Writes the churn events of a series to a file beside the traces and names it in the plan. The
 * path is not compared with that of existing runs, so that a directory can be moved. */
static saddle_status set_churn(saddle_plan *plan, char path[LAB_PATH], const experiment_runs *w,
                               const paper_experiment *e, const experiment_series *series,
                               saddle_error *error)
{
    if (series->churn == NULL)
        return SADDLE_OK;
    plan->network.churn = churn_path(path, w, e, series);
    return saddle_output_save(path, write_text, series->churn, error);
}

static saddle_status make_run(experiment_runs *w, saddle_plan *plan, const char *trace,
                              saddle_error *error)
{
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_hooks hooks = w->hooks.begin(w->hooks.context, w->label);
    plan->outputs.trace = trace;
    saddle_status status = saddle_instance_create(&instance, plan, error);
    SADDLE_THEN(status, saddle_run_of_several(instance, plan, false, &hooks, &result, error));
    if (status == SADDLE_OK)
        w->hooks.end(w->hooks.context, w->label, result);
    /* Claims need complete traces; stop now rather than run for hours in vain. */
    if (status == SADDLE_OK && result->output_error.status != SADDLE_OK)
        status = saddle_fail(error, result->output_error.status,
                             "%.700s; finished runs are kept, and the same command continues",
                             result->output_error.message);
    w->made++;
    saddle_result_free(result);
    saddle_instance_free(instance);
    return status;
}

/* Reads a series with one seed from its files, if `find`, or makes the run first. */
static saddle_status run_one(experiment_runs *w, const paper_experiment *e,
                             const experiment_series *series, const saddle_plan *common,
                             size_t seed, bool find, saddle_trace **out, saddle_error *error)
{
    char path[LAB_PATH];
    char churn[LAB_PATH];
    saddle_plan plan = *common;
    plan.start.seed = seed;
    saddle_snprintf(w->label, sizeof w->label, "[%zu/%zu] %s %s seed %zu: ", w->current, w->runs,
                    e->name, series->name, seed);
    trace_path(path, w, e, series, seed);
    *out = find ? find_run(path, &plan) : NULL;
    if (*out != NULL)
        return SADDLE_OK;
    saddle_status status = set_churn(&plan, churn, w, e, series, error);
    SADDLE_THEN(status, make_run(w, &plan, path, error));
    /* An interrupted run is not a result. */
    SADDLE_THEN_IF(status, !*w->interrupt, saddle_trace_read(out, path, error));
    return status;
}

static saddle_status run_series(experiment_runs *w, const paper_experiment *e, size_t s,
                                saddle_trace **trace, saddle_error *error)
{
    saddle_plan plan;
    saddle_status status = saddle_experiment_runs_plan(&plan, w, e, &e->series[s], error);
    SADDLE_THEN_IF(status, e->series[s].tuned, tune_series(w, e, &e->series[s], &plan, error));
    if (status == SADDLE_OK && e->series[s].tuned)
        w->metric_tau = plan.outputs.metric_tau;
    else if (!isnan(w->metric_tau))
        plan.outputs.metric_tau = w->metric_tau;
    bool find = has_churn(w, e, &e->series[s]);
    for (size_t r = 0; status == SADDLE_OK && r < w->seeds && !*w->interrupt; r++) {
        w->current++;
        status = run_one(w, e, &e->series[s], &plan, r + 1, find, &trace[s * w->seeds + r], error);
    }
    saddle_plan_free(&plan);
    return status;
}

saddle_status saddle_experiment_runs_make(experiment_runs *w, const paper_experiment *e,
                                          saddle_trace **trace, saddle_error *error)
{
    w->metric_tau = NAN;
    saddle_status status = make_folder(w, "traces", e, error);
    SADDLE_THEN_IF(status, e->tuning > 0, make_folder(w, "tuned", e, error));
    for (size_t s = 0; status == SADDLE_OK && s < e->count && !*w->interrupt; s++)
        status = run_series(w, e, s, trace, error);
    return status;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Reads the runs of a series; false: one is missing. */
static bool find_series(const experiment_runs *w, const paper_experiment *e,
                        const experiment_series *series, saddle_trace **trace)
{
    saddle_plan plan;
    bool found_all = saddle_experiment_runs_plan(&plan, w, e, series, NULL) == SADDLE_OK &&
                     has_churn(w, e, series);
    for (size_t r = 0; found_all && r < w->seeds; r++) {
        char path[LAB_PATH];
        plan.start.seed = r + 1;
        trace[r] = find_run(trace_path(path, w, e, series, r + 1), &plan);
        found_all = trace[r] != NULL;
    }
    saddle_plan_free(&plan);
    return found_all;
}

bool saddle_experiment_runs_find(const experiment_runs *w, const paper_experiment *e,
                                 saddle_trace **trace)
{
    bool found_all = true;
    for (size_t s = 0; found_all && s < e->count; s++)
        found_all = find_series(w, e, &e->series[s], trace + s * w->seeds);
    for (size_t k = 0; !found_all && k < e->count * w->seeds; k++) {
        saddle_trace_free(trace[k]);
        trace[k] = NULL;
    }
    return found_all;
}
