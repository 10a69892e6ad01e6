/* What solutions are worth, at every trace point, as CSV: iteration, train_NAME..., test_NAME... */
#ifndef SADDLE_OBSERVE_OUTCOMES_H
#define SADDLE_OBSERVE_OUTCOMES_H

#include <saddle/run.h>

/* The outcomes of a problem that has some, with what they must be checked: SADDLE_CHECK_FAILED when there are
 * more than SADDLE_MOST_OUTCOMES or a name is not of letters, digits and _. */
saddle_status saddle_outcomes_measure(const saddle_problem *problem, const saddle_dataset *held_out,
                                      const double *x, const double *y, saddle_outcome *out,
                                      size_t *count, saddle_error *error);

typedef struct saddle_outcome_file saddle_outcome_file;

/* Open the file; the head is written with the first row. SADDLE_BAD_INPUT when it cannot be. */
saddle_status saddle_outcomes_open(saddle_outcome_file **out, const char *path,
                                   saddle_error *error);
/* Append a row; it is in the file when this returns. SADDLE_IO, once, when the file cannot be written
 * any more: rows are kept for the table all the same. */
saddle_status saddle_outcomes_write(saddle_outcome_file *file, uint64_t iteration,
                                    const saddle_result *result, saddle_error *error);
/* All rows so far: their values, train then test, row after row. Borrowed until the next one. */
typedef struct saddle_outcome_table {
    size_t train;
    size_t test;
    const char *name[2 * SADDLE_MOST_OUTCOMES]; /* train, then test */
    const double *values;                       /* NULL: no row yet */
} saddle_outcome_table;
void saddle_outcomes_table(const saddle_outcome_file *file, saddle_outcome_table *out);
/* Append rows of an earlier run, whose iterations `rows` say. The names are borrowed. */
saddle_status saddle_outcomes_replay(saddle_outcome_file *file, const saddle_outcome_table *table,
                                     const saddle_row *rows, size_t count, saddle_error *error);
/* Close. NULL is allowed. */
saddle_status saddle_outcomes_close(saddle_outcome_file *file, saddle_error *error);

#endif
