/* Training rows that are held out to rank candidates, so that the test rows are used only once. */
#pragma once

#include <saddle/saddle.h>

typedef struct validation {
    saddle_dataset *train;
    saddle_dataset *held_out;
} validation;

/*
 * Splits the plan's training rows by its seed: a fraction of them, at least one, becomes the
 * held-out rows instead of the test rows, the others become its rows. The plan borrows both; keep
 * `out` as long as the plan.
 */
saddle_status saddle_validation_split(validation *out, saddle_plan *plan, double fraction,
                                      saddle_error *error);
/* Frees the rows. Safe on a zeroed struct. */
void saddle_validation_release(validation *v);
