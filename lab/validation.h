/* A part of the training rows, held out to choose by, so that the test rows are not used twice. */
#ifndef SADDLE_LAB_VALIDATION_H
#define SADDLE_LAB_VALIDATION_H

#include <saddle/saddle.h>

typedef struct validation {
    saddle_dataset *train;
    saddle_dataset *held_out;
} validation;

/*
 * Split the plan's training rows by its seed: a share `fraction` of them, at least one, becomes the held-out
 * rows in place of its test rows, the others its rows. The plan borrows both; keep `out` as long as it.
 */
saddle_status saddle_validation_split(validation *out, saddle_plan *plan, double fraction,
                                      saddle_error *error);
/* Free. Safe on a zeroed struct. */
void saddle_validation_release(validation *v);

#endif
