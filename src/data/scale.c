#include "data/scale.h"

#include <math.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"

/* Columns with larger values should be scaled. */
#define LARGE_VALUE 10.0
/* A warning names at most this many columns. */
#define MOST_NAMES 5

static void raise_to(double *largest, double value)
{
    if (fabs(value) > *largest)
        *largest = fabs(value);
}

bool saddle_has_large_values(const saddle_dataset *data)
{
    const double *value = data->dense != NULL ? data->dense : data->value;
    size_t entries = data->dense != NULL ? data->rows * data->features : data->nonzeros;
    double largest = 0.0;
    for (size_t k = 0; value != NULL && k < entries; k++) /* NULL: all values are 1 */
        raise_to(&largest, value[k]);
    return largest > LARGE_VALUE;
}

void saddle_raise_to_values(const saddle_dataset *data, double *largest)
{
    if (data->dense != NULL) {
        for (size_t row = 0; row < data->rows; row++)
            for (size_t k = 0; k < data->features; k++)
                raise_to(&largest[k], data->dense[row * data->features + k]);
        return;
    }
    for (size_t k = 0; k < data->nonzeros; k++)
        raise_to(&largest[data->column[k]], data->value != NULL ? data->value[k] : 1.0);
}

/* The largest absolute value of a column, or of a feature without a name. */
typedef struct column_value {
    size_t index; /* of the column or feature */
    double value;
} column_value;

/* Returns the value of a column, or of a feature if there are no columns. */
static column_value value_of(const saddle_columns *columns, const double *largest, size_t index)
{
    column_value found = {.index = index};
    size_t first = index;
    size_t count = 1;
    if (saddle_columns_count(columns) > 0)
        saddle_columns_features(columns, index, &first, &count);
    for (size_t k = first; k < first + count; k++)
        raise_to(&found.value, largest[k]);
    return found;
}

/* Inserts a value into the largest ones, of which there are `count`: the largest first, equal ones from left to
 * right. */
static void rank(column_value top[MOST_NAMES], size_t count, column_value own)
{
    size_t at = count < MOST_NAMES ? count : MOST_NAMES;
    for (; at > 0 && top[at - 1].value < own.value; at--)
        if (at < MOST_NAMES)
            top[at] = top[at - 1];
    if (at < MOST_NAMES)
        top[at] = own;
}

void saddle_scale_warning(const saddle_columns *columns, size_t features, const double *largest,
                          char out[SADDLE_SCALE_TEXT])
{
    size_t named = saddle_columns_count(columns);
    size_t count = 0;
    column_value top[MOST_NAMES];
    out[0] = '\0';
    for (size_t k = 0; k < (named > 0 ? named : features); k++) {
        column_value own = value_of(columns, largest, k);
        if (own.value > LARGE_VALUE)
            rank(top, count++, own);
    }
    if (count == 0)
        return;
    const char *what = named > 0 ? "column" : "feature";
    saddle_append(out, SADDLE_SCALE_TEXT, count > 1 ? "%ss have large absolute values: " : "%s ",
                  what);
    for (size_t k = 0; k < MOST_NAMES && k < count; k++) {
        saddle_append(out, SADDLE_SCALE_TEXT, "%s", k > 0 ? ", " : "");
        if (named > 0)
            saddle_append(out, SADDLE_SCALE_TEXT, "'%s'",
                          SADDLE_EXCERPT(saddle_columns_name(columns, top[k].index)));
        else
            saddle_append(out, SADDLE_SCALE_TEXT, "%zu", top[k].index + 1);
        saddle_append(out, SADDLE_SCALE_TEXT, "%s up to %.6g",
                      count > 1 ? "" : " has absolute values", top[k].value);
    }
    if (count > MOST_NAMES)
        saddle_append(out, SADDLE_SCALE_TEXT, ", and %zu more", count - MOST_NAMES);
    saddle_append(out, SADDLE_SCALE_TEXT,
                  "; scale %s to values around 1, otherwise learning may be slow or fail",
                  count > 1 ? "them" : "it");
}

saddle_status saddle_scale_warning_of(const saddle_dataset *data, char out[SADDLE_SCALE_TEXT],
                                      saddle_error *error)
{
    out[0] = '\0';
    if (!saddle_has_large_values(data))
        return SADDLE_OK;
    double *largest = saddle_alloc_doubles(data->features);
    SADDLE_TRY(saddle_check_memory(largest, "the largest values", error));
    saddle_raise_to_values(data, largest);
    saddle_scale_warning(data->columns, data->features, largest, out);
    saddle_free(largest);
    return SADDLE_OK;
}
