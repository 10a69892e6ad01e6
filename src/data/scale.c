#include "data/scale.h"

#include <math.h>

#include "core/print.h"
#include "core/text.h"

/* Columns with larger values should be scaled. */
#define LARGE_VALUE 10.0

saddle_feature_value saddle_largest_value(const saddle_dataset *data)
{
    const double *value = data->dense != NULL ? data->dense : data->value;
    size_t entries = data->dense != NULL ? data->rows * data->features : data->nonzeros;
    size_t at = 0;
    double largest = 0.0;
    if (value == NULL) /* values that are all 1 are not stored */
        return (saddle_feature_value){.value = entries > 0 ? 1.0 : 0.0};
    for (size_t k = 0; k < entries; k++)
        if (fabs(value[k]) > largest) {
            largest = fabs(value[k]);
            at = k;
        }
    if (largest == 0.0)
        return (saddle_feature_value){.value = 0.0};
    return (saddle_feature_value){
        .feature = data->dense != NULL ? at % data->features : data->column[at], .value = largest};
}

/* Returns the column of a feature; `count` when columns have no names. */
static size_t column_of(const saddle_columns *columns, size_t feature)
{
    size_t count = saddle_columns_count(columns);
    for (size_t k = 0; k < count; k++) {
        size_t first;
        size_t features;
        saddle_columns_features(columns, k, &first, &features);
        if (feature - first < features)
            return k;
    }
    return count;
}

bool saddle_scale_warning(const saddle_columns *columns, saddle_feature_value largest,
                          char out[SADDLE_SCALE_TEXT])
{
    size_t column = column_of(columns, largest.feature);
    bool named = column < saddle_columns_count(columns);
    if (!(largest.value > LARGE_VALUE))
        return false;
    if (named)
        saddle_snprintf(out, SADDLE_SCALE_TEXT, "column '%s'",
                        SADDLE_EXCERPT(saddle_columns_name(columns, column)));
    else
        saddle_snprintf(out, SADDLE_SCALE_TEXT, "feature %zu", largest.feature + 1);
    saddle_append(out, SADDLE_SCALE_TEXT,
                  " has absolute values up to %.6g; scale it to about 1, or learning is slow or "
                  "fails",
                  largest.value);
    return true;
}
