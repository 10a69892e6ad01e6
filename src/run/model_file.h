/* Model files, for results, which write them, and predictors, which read part of them. */
#pragma once

#include <saddle/run.h>

#include "core/base.h"

/* The format of models whose columns were scaled. It was 1 before, and still is for other models;
 * readers of 1 would ignore the scaling. */
#define SADDLE_SCALED_FORMAT 2

/* Reads what is needed to use a model: its settings, features, columns and means. */
saddle_status saddle_saved_model_read_solution(saddle_saved_model **out, const char *path,
                                               saddle_error *error);

/* Refuses a name that ends in .npy, as models are .npz files. NULL is allowed. */
saddle_status saddle_model_check_name(const char *path, saddle_error *error);

/* Delivers a row of the copies of x or y. */
typedef void saddle_fetch_row(void *context, size_t row, double *out);
/* Writes a model file. If `fetch` is not NULL, it delivers the copies: first all rows of x, then those
 * of y. */
saddle_status saddle_saved_model_write(const saddle_saved_model *model, saddle_fetch_row *fetch,
                                       void *x_context, void *y_context, const char *path,
                                       saddle_error *error);
SADDLE_RELEASES(saddle_saved_model, saddle_saved_model_free)
