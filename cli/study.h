/*
 * Making the runs of an experiment, and finding those that were made before.
 *
 *   DIR/tuned/EXPERIMENT/SERIES.csv    the log of a search for step sizes; .yaml its answer
 *   DIR/traces/EXPERIMENT/SERIES-seedN.csv
 *
 * A trace that ended, of the same version and with the same settings, is not made again; one that
 * was cut short is begun anew, and a search goes on where it stopped. The files are the same however
 * often the work was interrupted, but for seconds.
 */
#ifndef SADDLE_CLI_STUDY_H
#define SADDLE_CLI_STUDY_H

#include "experiments.h"

/* The seed of searches, which no run of an experiment has. */
#define STUDY_TUNING_SEED 1000

/* What all experiments share. */
typedef struct study {
    const char *directory;
    const char *threads; /* the value of --threads */
    size_t seeds;        /* 1 .. seeds */
    bool quick;
    bool quiet;
    const volatile sig_atomic_t *interrupt;
    size_t runs;  /* of all experiments that were asked for */
    size_t place; /* of the run at hand */
    size_t made;  /* runs that had to be made */
    char label[192];
    /* Of the experiment at hand: the tau of all its metrics, as the searches had it; "" where nothing is
     * searched, and every run has its own. */
    char metric_tau[CLI_NUMBER];
    cli_meter meter;
} study;

/* What an experiment's data are called in the settings: their name where they can be found, or else
 * built-in data. */
const char *study_data(experiment_data data);
/* Whether these are built-in data in place of real ones. */
bool study_is_substitute(experiment_data data);
/* The settings of a series, without seed and files. */
saddle_status study_settings(saddle_settings **out, const study *w, const experiment *e,
                             const experiment_series *series, saddle_error *error);
/*
 * Make the runs of an experiment. trace[s * seeds + r] receives series s with seed r + 1, to be
 * freed with saddle_trace_free(); NULL where the work was interrupted before.
 */
saddle_status study_run(study *w, const experiment *e, saddle_trace **trace, saddle_error *error);

/*
 * Read the runs of an experiment that were all made before, as study_run() leaves them; false, and all
 * NULL, where one is missing or was made with other settings. Nothing is made, and steps that were
 * searched are taken as they are.
 */
bool study_find(const study *w, const experiment *e, saddle_trace **trace);

#endif
