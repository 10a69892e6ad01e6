/* Features whose values are so large that first-order methods learn slowly or not at all. */
#ifndef SADDLE_DATA_SCALE_H
#define SADDLE_DATA_SCALE_H

#include <stdbool.h>

#include <saddle/data.h>

/* A value of some feature; the largest of a data set has the largest absolute value. */
typedef struct saddle_feature_value {
    size_t feature; /* from 0 */
    double value;   /* absolute; 0: no entry is stored */
} saddle_feature_value;

/* The largest value of a data set. */
saddle_feature_value saddle_largest_value(const saddle_dataset *data);

enum { SADDLE_SCALE_TEXT = 256 };
/* If a largest value is too large, writes a warning that names its column and the remedy, and returns true. */
bool saddle_scale_warning(const saddle_columns *columns, saddle_feature_value largest,
                          char out[SADDLE_SCALE_TEXT]);

#endif
