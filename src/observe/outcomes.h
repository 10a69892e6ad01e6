/* Outcomes of a run at its trace points: of the mean model, and their statistics over agents. */
#pragma once

#include <saddle/run.h>

#include "engines/engine.h"

/* Computes and checks the outcomes of a problem that has some. SADDLE_CHECK_FAILED when there are more
 * than SADDLE_MOST_OUTCOMES, a name has characters other than letters, digits and _, or two names are
 * equal. */
saddle_status saddle_outcomes_of(const saddle_problem *problem, const saddle_outcome_rows *rows,
                                 const double *x, const double *y, saddle_outcome *out,
                                 size_t *count, saddle_error *error);

typedef struct saddle_outcomes saddle_outcomes;

/* What is measured. All borrowed. */
typedef struct saddle_outcomes_inputs {
    const saddle_instance *network;  /* whose problem has outcomes */
    const saddle_instance *instance; /* what the algorithm runs on */
    const saddle_algorithm *algorithm;
    saddle_engine *engine;
    saddle_dataset *const
        *shard;     /* per agent, NULL if it is in another process; NULL without data */
    bool per_agent; /* also measure the statistics over agents */
    /* Receives the columns with the first measurement, in order: those on the agents' data, those on
     * held-out rows, and for each of these the minimum, mean and maximum over agents. */
    saddle_result *result;
} saddle_outcomes_inputs;

/* Prepares the measuring of outcomes. Collective. */
saddle_status saddle_outcomes_create(saddle_outcomes **out, const saddle_outcomes_inputs *inputs,
                                     saddle_error *error);
/* Returns the bytes that outcomes take. */
double saddle_outcomes_bytes(const saddle_instance *network, const saddle_instance *instance,
                             bool per_agent);
/* NULL is allowed. */
void saddle_outcomes_free(saddle_outcomes *outcomes);

/* Takes over the columns of the run that is resumed; later measurements must give the same. */
void saddle_outcomes_recall(saddle_outcomes *outcomes, const saddle_outcome_column *column,
                            size_t count);
/* Measures at the means x and y, and at every agent's model. `out` has capacity for all columns and gets
 * the same numbers in every process. Collective; may fail in one process only. */
saddle_status saddle_outcomes_measure(saddle_outcomes *outcomes, const double *x, const double *y,
                                      double *out, saddle_error *error);
