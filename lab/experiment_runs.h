/*
 * Making the runs of an experiment, and finding those that were made before.
 *
 *   DIR/tuned/EXPERIMENT/SERIES.csv    the log of a search for step sizes; .yaml is its result
 *   DIR/traces/EXPERIMENT/SERIES-seedN.csv
 *   DIR/traces/EXPERIMENT/SERIES.churn  events of a series in which agents leave and join
 *
 * A complete trace of the same version with the same settings is not made again; an incomplete one is started again,
 * and a search continues from its log. Except for seconds, the files are the same however often the work was
 * interrupted.
 */
#ifndef SADDLE_LAB_EXPERIMENT_RUNS_H
#define SADDLE_LAB_EXPERIMENT_RUNS_H

#include <signal.h>

#include "lab/number_text.h"
#include "lab/paper_experiments.h"

/* The seed of searches, which no run of an experiment uses. */
#define EXPERIMENT_TUNING_SEED 1000

/* Callbacks. `label` says which search or run it is about. */
typedef struct experiment_runs_hooks {
    void *context;
    /* A trial of a search has ended. */
    void (*trial)(void *context, const char *label, const saddle_tuning *tuning,
                  const saddle_trial *trial);
    /* A run is about to begin: returns its hooks. The label is valid until the run has ended. */
    saddle_hooks (*begin)(void *context, const char *label);
    /* A run has ended. */
    void (*end)(void *context, const char *label, const saddle_result *result);
} experiment_runs_hooks;

/* Settings and progress that all experiments share. */
typedef struct experiment_runs {
    const char *directory;
    uint64_t threads; /* 0: all processors */
    size_t seeds;     /* 1 .. seeds */
    bool quick;
    const volatile sig_atomic_t *interrupt; /* the work ends soon after this is set */
    experiment_runs_hooks hooks;
    size_t runs;    /* of all chosen experiments */
    size_t current; /* number of the current run */
    size_t made;    /* runs that had to be made */
    char label[192];
    /* Of the current experiment: the tau of all its metrics, taken from the searches; NaN if
     * nothing is searched and every run uses its own. */
    double metric_tau;
} experiment_runs;

/* The name of an experiment's data for the settings: the real data if they can be found,
 * otherwise built-in data. */
const char *saddle_paper_data(experiment_data data);
/* Whether built-in data replace the real ones. */
bool saddle_paper_data_is_substitute(experiment_data data);
/* Creates the plan of a series, without seed and files. Free with saddle_plan_free(), even after
 * a failure. */
saddle_status saddle_experiment_runs_plan(saddle_plan *out, const experiment_runs *w,
                                          const paper_experiment *e,
                                          const experiment_series *series, saddle_error *error);
/* Describes an experiment: where it is in the paper and the sizes of its runs, so that the
 * effect of `quick` shows. */
void saddle_experiment_describe(const experiment_runs *w, const paper_experiment *e, char *out,
                                size_t size);
/*
 * Makes the runs of an experiment. trace[s * seeds + r] receives series s with seed r + 1, to be
 * freed with saddle_trace_free(); NULL if the work was interrupted before.
 */
saddle_status saddle_experiment_runs_make(experiment_runs *w, const paper_experiment *e,
                                          saddle_trace **trace, saddle_error *error);

/*
 * Reads the runs of an experiment that were all made before, as by saddle_experiment_runs_make().
 * Returns false, and all traces NULL, if one is missing or has other settings. Nothing is computed;
 * tuned steps are taken from the traces.
 */
bool saddle_experiment_runs_find(const experiment_runs *w, const paper_experiment *e,
                                 saddle_trace **trace);

#endif
