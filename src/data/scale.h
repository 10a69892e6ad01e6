/* Warns of features whose values are so large that first-order methods learn slowly or not at all. */
#ifndef SADDLE_DATA_SCALE_H
#define SADDLE_DATA_SCALE_H

#include <stdbool.h>

#include <saddle/data.h>

/* The largest absolute value of a data set and the feature that has it. */
typedef struct saddle_feature_value {
    size_t feature; /* from 0 */
    double value;   /* 0: no entry is stored */
} saddle_feature_value;

/* Finds the largest absolute value of a data set. */
saddle_feature_value saddle_largest_value(const saddle_dataset *data);

enum { SADDLE_SCALE_TEXT = 256 };
/* If the largest value is too large, writes a warning that names its column and the remedy, and returns true. */
bool saddle_scale_warning(const saddle_columns *columns, saddle_feature_value largest,
                          char out[SADDLE_SCALE_TEXT]);

#endif
