/* Warns of features whose values are so large that first-order methods learn slowly or not at all. */
#ifndef SADDLE_DATA_SCALE_H
#define SADDLE_DATA_SCALE_H

#include <stdbool.h>

#include <saddle/data.h>

/* Returns whether a data set has a value that is too large. */
bool saddle_has_large_values(const saddle_dataset *data);
/* Raises largest[k] to the largest absolute value of feature k, where that is larger. */
void saddle_raise_to_values(const saddle_dataset *data, double *largest);

enum { SADDLE_SCALE_TEXT = 768 };
/* Writes a warning that names the columns with too large values, the largest first, and the remedy. Writes
 * "" if there are none. `largest` has the largest absolute value of each feature. */
void saddle_scale_warning(const saddle_columns *columns, size_t features, const double *largest,
                          char out[SADDLE_SCALE_TEXT]);
/* The same for the rows of one data set. */
saddle_status saddle_scale_warning_of(const saddle_dataset *data, char out[SADDLE_SCALE_TEXT],
                                      saddle_error *error);

#endif
