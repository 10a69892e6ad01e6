/* What solutions are worth, at every trace point, as CSV: iteration, train_NAME..., test_NAME... */
#ifndef SADDLE_OBSERVE_OUTCOMES_H
#define SADDLE_OBSERVE_OUTCOMES_H

#include <saddle/run.h>

typedef struct saddle_outcome_file saddle_outcome_file;

/* Open the file; the head is written with the first row. SADDLE_BAD_INPUT when it cannot be. */
saddle_status saddle_outcomes_open(saddle_outcome_file **out, const char *path,
                                   saddle_error *error);
/* Append a row; it is in the file when this returns. */
saddle_status saddle_outcomes_write(saddle_outcome_file *file, uint64_t iteration,
                                    const saddle_result *result, saddle_error *error);
/* Close. NULL is allowed. */
saddle_status saddle_outcomes_close(saddle_outcome_file *file, saddle_error *error);

#endif
