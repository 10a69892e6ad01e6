/* Names of the features of data in memory. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "data/columns.h"
#include "data/dataset.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fails if two names are the same. `sorted` receives the names in order. */
static saddle_status check_distinct(size_t count, const char *const *name, const char **sorted,
                                    saddle_error *error)
{
    memcpy((void *)sorted, (const void *)name, count * sizeof *sorted);
    qsort((void *)sorted, count, sizeof *sorted, by_text);
    for (size_t k = 1; k < count; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "two features are called '%s'; give them different names",
                               SADDLE_EXCERPT(sorted[k]));
    return SADDLE_OK;
}

/* Makes columns of one feature each; NULL if memory is short. */
static saddle_columns *make_columns(size_t count, const char *const *name)
{
    saddle_columns *columns = saddle_columns_new(count);
    if (columns == NULL)
        return NULL;
    columns->named = true;
    columns->label = (saddle_column){.name = saddle_strdup(""), .kind = SADDLE_COLUMN_NUMBER};
    bool complete = columns->label.name != NULL;
    for (size_t k = 0; k < count; k++) {
        columns->column[k].name = saddle_strdup(name[k]);
        columns->column[k].kind = SADDLE_COLUMN_NUMBER;
        complete = complete && columns->column[k].name != NULL;
    }
    saddle_columns_number(columns);
    if (complete)
        return columns;
    saddle_columns_free(columns);
    return NULL;
}

saddle_status saddle_dataset_name_features(saddle_dataset *data, const char *const *name,
                                           saddle_error *error)
{
    SADDLE_REQUIRE(error, data, name);
    if (data->columns != NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "the features of '%.300s' have names already",
                           data->name);
    const char **sorted = saddle_alloc(data->features, sizeof *sorted);
    SADDLE_TRY(saddle_check_memory((void *)sorted, "the names", error));
    saddle_status status = check_distinct(data->features, name, sorted, error);
    saddle_free((void *)sorted);
    if (status != SADDLE_OK)
        return status;
    data->columns = make_columns(data->features, name);
    return saddle_check_memory(data->columns, "the names", error);
}

saddle_status saddle_dataset_check_names(const saddle_dataset *data, const saddle_columns *of,
                                         saddle_error *error)
{
    const saddle_columns *own = data->columns;
    if (data->formats != 0 || own == NULL || of == NULL || !of->named ||
        of->count != of->features || own->count != of->count)
        return SADDLE_OK;
    for (size_t k = 0; k < of->count; k++)
        if (strcmp(own->column[k].name, of->column[k].name) != 0)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "column %zu of '%.300s' is '%s', but '%s' in the training data; "
                               "give the same columns in the same order (numbers begin at 1)",
                               k + 1, data->name, SADDLE_EXCERPT(own->column[k].name),
                               SADDLE_EXCERPT(of->column[k].name));
    return SADDLE_OK;
}
