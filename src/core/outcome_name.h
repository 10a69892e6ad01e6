/*
 * The names of outcome columns: ROWS_MEASURE, such as test_auc, for the mean model, and ROWS_MEASURE_agent_min,
 * _mean and _max over the agents' own models.
 */
#pragma once

#include "core/base.h"

/* The rows that an outcome is measured on, in the order in which a name without rows is looked up. */
typedef enum saddle_measured_rows {
    SADDLE_ROWS_TEST,  /* held-out rows */
    SADDLE_ROWS_TRAIN, /* the agents' data */
    SADDLE_ROWS_NONE   /* the column is not an outcome */
} saddle_measured_rows;

/* The model that is measured, or the statistic over the agents' own models. */
typedef enum saddle_statistic {
    SADDLE_OF_MEAN_MODEL,
    SADDLE_AGENT_MIN,
    SADDLE_AGENT_MEAN,
    SADDLE_AGENT_MAX,
    SADDLE_STATISTICS
} saddle_statistic;

/* What a column of a trace or result measures. */
typedef struct saddle_outcome_name {
    saddle_measured_rows rows;
    saddle_statistic statistic;
    const char *measure; /* such as "auc"; points into the column's name and ends with it */
    int length;          /* of the measure without the statistic */
} saddle_outcome_name;

/* Returns what a column measures, by its name. */
saddle_outcome_name saddle_outcome_name_of(const char *column);
/* Writes the name of a column. */
void saddle_outcome_name_write(char *out, size_t size, saddle_measured_rows rows,
                               const char *measure, saddle_statistic statistic);
/* Returns whether two columns are of the same measure on the same rows. */
bool saddle_outcome_same(const saddle_outcome_name *a, const saddle_outcome_name *b);
