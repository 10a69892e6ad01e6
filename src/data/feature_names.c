/* Names of the columns of data in memory, and their categories. */
#include "data/columns.h"
#include "data/dataset.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fails if two names are the same. `sorted` receives the names in order. */
static saddle_status check_distinct(size_t count, const saddle_column_names *column,
                                    const char **sorted, saddle_error *error)
{
    for (size_t k = 0; k < count; k++)
        sorted[k] = column[k].name;
    qsort((void *)sorted, count, sizeof *sorted, by_text);
    for (size_t k = 1; k < count; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0)
            return saddle_refuse(error, "two columns are called '%s'; give them different names",
                                 SADDLE_EXCERPT(sorted[k]));
    return SADDLE_OK;
}

/* Sets a column's name, or its number, and its categories. */
static saddle_status describe(saddle_column *out, const saddle_column_names *from, size_t number,
                              saddle_error *error)
{
    out->name = from->name != NULL ? saddle_strdup(from->name) : saddle_format("%zu", number);
    SADDLE_TRY(saddle_check_memory(out->name, "the names", error));
    out->kind = SADDLE_COLUMN_NUMBER;
    for (size_t k = 0; k < from->texts; k++) {
        if (from->text == NULL || from->text[k] == NULL)
            return saddle_refuse(error,
                                 "category %zu of %zu of column '%s' is NULL; give a text for each",
                                 k + 1, from->texts, SADDLE_EXCERPT(out->name));
        if (k > 0 && strcmp(from->text[k - 1], from->text[k]) >= 0)
            return saddle_refuse(error,
                                 "the categories '%s' and '%s' of column '%s' do not ascend; sort "
                                 "them, and give each once",
                                 SADDLE_EXCERPT(from->text[k - 1]), SADDLE_EXCERPT(from->text[k]),
                                 SADDLE_EXCERPT(out->name));
        if (!saddle_column_observe(out, from->text[k], strlen(from->text[k]), 0))
            return saddle_refuse(
                error, "column '%s' has more than %d categories, or memory is short; leave it out",
                SADDLE_EXCERPT(out->name), SADDLE_MOST_CATEGORIES);
    }
    return SADDLE_OK;
}

/* Fails unless all columns have names or none has, and all names differ. */
static saddle_status check_names(size_t count, const saddle_column_names *column,
                                 saddle_error *error)
{
    for (size_t k = 1; k < count; k++)
        if ((column[k].name == NULL) != (column[0].name == NULL))
            return saddle_refuse(
                error, "column %zu has %s name, but column 1 has %s; name all or none", k + 1,
                column[k].name == NULL ? "no" : "a", column[k].name == NULL ? "one" : "none");
    if (column[0].name == NULL)
        return SADDLE_OK;
    SADDLE_OWNED const char **sorted = saddle_alloc(count, sizeof *sorted);
    SADDLE_TRY(saddle_check_memory((void *)sorted, "the names", error));
    return check_distinct(count, column, sorted, error);
}

saddle_status saddle_dataset_name_columns(saddle_dataset *data, size_t count,
                                          const saddle_column_names *column,
                                          const saddle_column_names *label, saddle_error *error)
{
    SADDLE_REQUIRE(error, data, column);
    if (data->columns != NULL || count == 0)
        return saddle_refuse(error, "the columns of '%.300s' %s", data->name,
                             count == 0 ? "are 0; give at least 1" : "have names already");
    SADDLE_TRY(check_names(count, column, error));
    SADDLE_OWNED_BY(saddle_columns_free_at) saddle_columns *columns = saddle_columns_new(count);
    SADDLE_TRY(saddle_check_memory(columns, "the names", error));
    columns->named = column[0].name != NULL;
    columns->one_hot = true;
    const saddle_column_names none = {.name = ""};
    SADDLE_TRY(describe(&columns->label, label != NULL ? label : &none, 0, error));
    for (size_t k = 0; k < count; k++)
        SADDLE_TRY(describe(&columns->column[k], &column[k], k + 1, error));
    saddle_columns_number(columns);
    if (columns->features != data->features)
        return saddle_refuse(error,
                             "the columns have %zu feature%s, but '%.300s' has %zu; a column of "
                             "categories has a feature for each of them",
                             columns->features, SADDLE_PLURAL(columns->features), data->name,
                             data->features);
    data->columns = saddle_taken(&columns);
    return SADDLE_OK;
}

/* Returns whether two columns have the same categories, or none. */
static bool same_texts(const saddle_column *a, const saddle_column *b)
{
    bool same = a->texts == b->texts;
    for (size_t k = 0; same && k < a->texts; k++)
        same = strcmp(a->text[k], b->text[k]) == 0;
    return same;
}

saddle_status saddle_dataset_check_names(const saddle_dataset *data, const saddle_columns *of,
                                         saddle_error *error)
{
    const saddle_columns *own = data->columns;
    if (data->formats != 0 || own == NULL || of == NULL || !of->named || !own->named ||
        own->count != of->count)
        return SADDLE_OK;
    for (size_t k = 0; k < of->count; k++) {
        if (strcmp(own->column[k].name, of->column[k].name) != 0)
            return saddle_refuse(error,
                                 "column %zu of '%.300s' is '%s', but '%s' in the training data; "
                                 "give the same columns in the same order (numbers begin at 1)",
                                 k + 1, data->name, SADDLE_EXCERPT(own->column[k].name),
                                 SADDLE_EXCERPT(of->column[k].name));
        if (!same_texts(&own->column[k], &of->column[k]))
            return saddle_refuse(error,
                                 "column '%s' of '%.300s' does not have the categories of the "
                                 "training data; give all data the same, in ascending order",
                                 SADDLE_EXCERPT(own->column[k].name), data->name);
    }
    return SADDLE_OK;
}
