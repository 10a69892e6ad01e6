/*
 * Making the runs of an experiment, and finding those that were made before.
 *
 *   DIR/tuned/EXPERIMENT/SERIES.csv    the log of a search for step sizes; .yaml its answer
 *   DIR/traces/EXPERIMENT/SERIES-seedN.csv
 *   DIR/traces/EXPERIMENT/SERIES.churn  events of the runs of a series, where agents come and go
 *
 * A trace that ended, of the same version and with the same settings, is not made again; one that
 * was cut short is begun anew, and a search goes on where it stopped. The files are the same however
 * often the work was interrupted, but for seconds.
 */
#ifndef SADDLE_LAB_EXPERIMENT_RUNS_H
#define SADDLE_LAB_EXPERIMENT_RUNS_H

#include <signal.h>

#include "lab/number_text.h"
#include "lab/paper_experiments.h"

/* The seed of searches, which no run of an experiment has. */
#define EXPERIMENT_TUNING_SEED 1000

/* What the caller is told. `label` says which search or run it is about. */
typedef struct experiment_runs_hooks {
    void *context;
    /* A trial of a search has ended. */
    void (*trial)(void *context, const char *label, const saddle_tuning *tuning,
                  const saddle_trial *trial);
    /* A run is about to begin: returns its hooks. The label lasts until the run has ended. */
    saddle_hooks (*begin)(void *context, const char *label);
    /* A run has ended. */
    void (*end)(void *context, const char *label, const saddle_result *result);
} experiment_runs_hooks;

/* What all experiments share. */
typedef struct experiment_runs {
    const char *directory;
    uint64_t threads; /* 0: all processors */
    size_t seeds;     /* 1 .. seeds */
    bool quick;
    const volatile sig_atomic_t *interrupt; /* the work ends soon after it is set */
    experiment_runs_hooks hooks;
    size_t runs;  /* of all experiments that were asked for */
    size_t place; /* of the run at hand */
    size_t made;  /* runs that had to be made */
    char label[192];
    /* Of the experiment at hand: the tau of all its metrics, as the searches had it; NaN where nothing is
     * searched, and every run has its own. */
    double metric_tau;
} experiment_runs;

/* What an experiment's data are called in the settings: their name where they can be found, or else
 * built-in data. */
const char *saddle_paper_data(experiment_data data);
/* Whether these are built-in data in place of real ones. */
bool saddle_paper_data_is_substitute(experiment_data data);
/* The plan of a series, without seed and files. Free with saddle_plan_free(), also after a failure. */
saddle_status saddle_experiment_runs_plan(saddle_plan *out, const experiment_runs *w,
                                          const paper_experiment *e,
                                          const experiment_series *series, saddle_error *error);
/* Where an experiment is in the paper, and the sizes that its runs have: all that `quick` changes shows. */
void saddle_experiment_describe(const experiment_runs *w, const paper_experiment *e, char *out,
                                size_t size);
/*
 * Make the runs of an experiment. trace[s * seeds + r] receives series s with seed r + 1, to be
 * freed with saddle_trace_free(); NULL where the work was interrupted before.
 */
saddle_status saddle_experiment_runs_make(experiment_runs *w, const paper_experiment *e,
                                          saddle_trace **trace, saddle_error *error);

/*
 * Read the runs of an experiment that were all made before, as saddle_experiment_runs_make() leaves them; false, and all
 * NULL, where one is missing or was made with other settings. Nothing is made, and steps that were
 * searched are taken as they are.
 */
bool saddle_experiment_runs_find(const experiment_runs *w, const paper_experiment *e,
                                 saddle_trace **trace);

#endif
