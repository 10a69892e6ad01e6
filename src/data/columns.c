/* Names of columns, and how text and missing values in them become numbers. */
#include "data/columns.h"

#include "data/rows.h"

/* ---- memory ---- */

saddle_columns *saddle_columns_new(size_t count)
{
    saddle_columns *columns = saddle_alloc(1, sizeof *columns);
    if (columns == NULL)
        return NULL;
    columns->references = 1;
    columns->count = count;
    columns->column = saddle_alloc(count, sizeof *columns->column);
    if (columns->column != NULL)
        return columns;
    saddle_free(columns);
    return NULL;
}

saddle_columns *saddle_columns_share(const saddle_columns *columns)
{
    saddle_columns *shared = (saddle_columns *)(size_t)columns;
    if (shared != NULL)
        __atomic_add_fetch(&shared->references, 1, __ATOMIC_RELAXED);
    return shared;
}

static void release(saddle_column *column)
{
    for (size_t k = 0; k < column->texts; k++)
        saddle_free(column->text[k]);
    saddle_free((void *)column->text);
    saddle_free(column->times);
    saddle_free(column->name);
}

void saddle_columns_free(saddle_columns *columns)
{
    if (columns == NULL || __atomic_sub_fetch(&columns->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t k = 0; k < columns->count; k++)
        release(&columns->column[k]);
    release(&columns->label);
    saddle_free(columns->column);
    saddle_free(columns);
}

/* ---- texts ---- */

/* Compares a text of `length` bytes with a string: negative, 0 or positive, by bytes. */
static int compare(const char *text, size_t length, const char *other)
{
    size_t size = strlen(other);
    int order = memcmp(text, other, length < size ? length : size);
    return order != 0 ? order : (length > size) - (length < size);
}

/* Returns the index of a text in the sorted list, or the index where it would be inserted. */
static size_t place(const saddle_column *column, const char *text, size_t length, bool *found)
{
    size_t low = 0;
    size_t high = column->texts;
    *found = false;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int order = compare(text, length, column->text[middle]);
        *found = order == 0;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

size_t saddle_column_find(const saddle_column *column, const char *text, size_t length)
{
    bool found;
    size_t index = place(column, text, length, &found);
    return found ? index : column->texts;
}

/* Makes room for one more text. */
static bool grow(saddle_column *column)
{
    size_t capacity = column->capacity;
    char **text = saddle_grow((void *)column->text, column->texts, &capacity, sizeof *text);
    if (text == NULL)
        return false;
    column->text = text;
    size_t *times = saddle_grow(column->times, column->texts, &column->capacity, sizeof *times);
    if (times == NULL)
        return false;
    column->times = times;
    return true;
}

bool saddle_column_observe(saddle_column *column, const char *text, size_t length, size_t times)
{
    bool found;
    size_t index = place(column, text, length, &found);
    column->kind = SADDLE_COLUMN_TEXT;
    column->seen += times;
    if (found) {
        column->times[index] += times;
        return true;
    }
    if (column->texts == SADDLE_MOST_CATEGORIES || !grow(column))
        return false;
    char *copy = saddle_format("%.*s", (int)length, text);
    if (copy == NULL)
        return false;
    size_t behind = column->texts - index;
    memmove((void *)(column->text + index + 1), (void *)(column->text + index),
            behind * sizeof *column->text);
    memmove(column->times + index + 1, column->times + index, behind * sizeof *column->times);
    column->text[index] = copy;
    column->times[index] = times;
    column->texts++;
    return true;
}

/* ---- settling ---- */

/* Returns the substitute for missing values: the mean, or the most frequent text (the first of several). */
static double substitute(const saddle_column *column)
{
    size_t best = 0;
    if (column->kind == SADDLE_COLUMN_NUMBER)
        return column->sum / (double)column->seen;
    for (size_t k = 1; k < column->texts; k++)
        if (column->times[k] > column->times[best])
            best = k;
    return (double)best;
}

saddle_status saddle_columns_settle(saddle_columns *columns, saddle_categories categories,
                                    bool impute, saddle_error *error)
{
    columns->one_hot = categories == SADDLE_ONE_HOT;
    for (size_t k = 0; k < columns->count; k++) {
        saddle_column *column = &columns->column[k];
        if (column->kind == SADDLE_COLUMN_UNKNOWN)
            return saddle_refuse(
                error, "column '%s' has no value in any row; leave it out with --drop-columns",
                SADDLE_EXCERPT(column->name));
        column->filled = impute;
        column->fill = impute ? substitute(column) : 0.0;
    }
    saddle_columns_number(columns);
    return SADDLE_OK;
}

void saddle_columns_number(saddle_columns *columns)
{
    columns->features = 0;
    for (size_t k = 0; k < columns->count; k++) {
        saddle_column *column = &columns->column[k];
        bool hot = column->kind == SADDLE_COLUMN_TEXT && columns->one_hot;
        column->first = columns->features;
        column->features = hot ? column->texts : 1;
        columns->features += column->features;
    }
}

/* Returns the index of the column of a name, or `count` when there is none. */
static size_t find_column(const saddle_columns *columns, const char *name, size_t length)
{
    for (size_t k = 0; k < columns->count; k++)
        if (compare(name, length, columns->column[k].name) == 0)
            return k;
    return columns->count;
}

size_t saddle_columns_find_near(const saddle_columns *columns, const char *name, size_t guess)
{
    if (guess < columns->count && strcmp(columns->column[guess].name, name) == 0)
        return guess;
    return find_column(columns, name, strlen(name));
}

/* Adds one column's observations to another's. */
static saddle_status merge(saddle_column *into, const saddle_column *from, saddle_error *error)
{
    if (from->kind == SADDLE_COLUMN_UNKNOWN)
        return SADDLE_OK;
    if (into->kind != SADDLE_COLUMN_UNKNOWN && into->kind != from->kind) {
        bool text = from->kind == SADDLE_COLUMN_TEXT;
        return saddle_refuse(error,
                             "column '%s' holds %s, but %s in the files before; name it in "
                             "--category-columns to treat both as text",
                             SADDLE_EXCERPT(from->name), text ? "text" : "numbers",
                             text ? "numbers" : "text");
    }
    into->kind = from->kind;
    into->sum += from->sum;
    if (from->kind == SADDLE_COLUMN_NUMBER)
        into->seen += from->seen;
    for (size_t k = 0; k < from->texts; k++)
        if (!saddle_column_observe(into, from->text[k], strlen(from->text[k]), from->times[k]))
            return saddle_refuse(error,
                                 "column '%s' has more than %d categories in all files together, "
                                 "or memory is short; leave it out with --drop-columns",
                                 SADDLE_EXCERPT(from->name), SADDLE_MOST_CATEGORIES);
    return SADDLE_OK;
}

/* Writes the names in `of` that `in` lacks, such as "'age', 'sex'", or "none". Returns their number. */
static size_t lacking(const saddle_columns *of, const saddle_columns *in, char out[256])
{
    size_t count = 0;
    out[0] = '\0';
    for (size_t k = 0; k < of->count; k++)
        if (saddle_columns_find_near(in, of->column[k].name, k) == in->count)
            saddle_append(out, 256, "%s'%s'", count++ == 0 ? "" : ", ",
                          SADDLE_EXCERPT(of->column[k].name));
    if (count == 0)
        saddle_append(out, 256, "none");
    return count;
}

/* Fails if a file's columns differ from those of the files before it. */
static saddle_status compare_names(const saddle_columns *before, const saddle_columns *own,
                                   saddle_error *error)
{
    char missing[256] = "";
    char extra[256] = "";
    if (before->named != own->named)
        return saddle_refuse(error,
                             "it has %s line of names, but the files before have %s; give all "
                             "files one, or none, or set --header to yes or no",
                             own->named ? "a" : "no", own->named ? "none" : "one");
    if (own->named && lacking(before, own, missing) + lacking(own, before, extra) > 0)
        return saddle_refuse(error,
                             "its columns differ from those of the files before: missing %s; "
                             "additional %s; give all files the same columns",
                             missing, extra);
    if (before->count != own->count)
        return saddle_refuse(error,
                             "it has %zu column%s of features, but the files before have %zu; give "
                             "all files the same columns",
                             own->count, SADDLE_PLURAL(own->count), before->count);
    return SADDLE_OK;
}

saddle_status saddle_columns_merge(saddle_columns *into, const saddle_columns *from,
                                   saddle_error *error)
{
    SADDLE_TRY(compare_names(into, from, error));
    for (size_t k = 0; k < from->count; k++) {
        const char *name = from->column[k].name;
        size_t at = into->named ? saddle_columns_find_near(into, name, k) : k;
        SADDLE_TRY(merge(&into->column[at], &from->column[k], error));
    }
    return merge(&into->label, &from->label, error);
}

/* ---- features by name ---- */

/* Returns whether `which` has the form "COLUMN=TEXT" with this column's name and one of its texts; *out
 * receives the feature. */
static bool names_text(const saddle_column *column, const char *which, size_t length, size_t *out)
{
    size_t name = strlen(column->name);
    if (column->features != column->texts || length <= name || which[name] != '=' ||
        strncmp(which, column->name, name) != 0)
        return false;
    size_t index = saddle_column_find(column, which + name + 1, length - name - 1);
    *out = column->first + index;
    return index < column->texts;
}

/* Fails with the closest column's name and as many of the others as fit. */
static saddle_status no_feature(const saddle_columns *columns, size_t features, const char *which,
                                size_t length, saddle_error *error)
{
    bool named = columns != NULL && columns->named;
    saddle_excerpt shown = saddle_excerpt_of(which, which + length);
    if (!named)
        return saddle_refuse(error,
                             "'%s' is not a feature; give a number from 1 to %zu; the features of "
                             "these data have no names",
                             shown.text, features);
    char list[500] = "";
    const char **name = saddle_alloc(columns->count, sizeof *name);
    size_t count = name != NULL ? columns->count : 0;
    for (size_t k = 0; k < count; k++) {
        name[k] = columns->column[k].name;
        saddle_append(list, sizeof list, "%s%s", k > 0 ? ", " : ": ", SADDLE_EXCERPT(name[k]));
    }
    saddle_suggestion meant = saddle_suggest(shown.text, name, count);
    saddle_free((void *)name);
    return saddle_refuse(error,
                         "'%s' is not a feature; give a number from 1 to %zu, or the name of a "
                         "column or feature%s%s%s",
                         shown.text, features, list, strlen(list) + 1 == sizeof list ? "..." : "",
                         meant.text);
}

saddle_status saddle_columns_features_of(const saddle_columns *columns, size_t features,
                                         const char *which, size_t length, size_t *first,
                                         size_t *count, saddle_error *error)
{
    uint64_t value = 0;
    size_t column = columns != NULL ? find_column(columns, which, length) : 0;
    if (columns != NULL && columns->named && column < columns->count) {
        *first = columns->column[column].first;
        *count = columns->column[column].features;
        return SADDLE_OK;
    }
    *count = 1;
    for (size_t k = 0; columns != NULL && k < columns->count; k++)
        if (names_text(&columns->column[k], which, length, first))
            return SADDLE_OK;
    if (!saddle_parse_integer_in(which, length, &value) || value < 1 || value > features)
        return no_feature(columns, features, which, length, error);
    *first = (size_t)value - 1;
    return SADDLE_OK;
}

bool saddle_columns_is_label(const saddle_columns *columns, const char *which, size_t length)
{
    return columns != NULL && columns->named && columns->label.name != NULL && length > 0 &&
           compare(which, length, columns->label.name) == 0;
}

saddle_status saddle_columns_feature(const saddle_columns *columns, size_t features,
                                     const char *which, size_t *out, saddle_error *error)
{
    size_t count = 0;
    size_t length = strlen(which);
    SADDLE_TRY(saddle_columns_features_of(columns, features, which, length, out, &count, error));
    if (count > 2)
        return saddle_refuse(
            error,
            "column '%s' has %zu categories, but two are needed; name one category, such as "
            "'%s=%s', to compare it with the others",
            which, count, which,
            SADDLE_EXCERPT(columns->column[find_column(columns, which, length)].text[0]));
    *out += count - 1;
    return SADDLE_OK;
}

saddle_status saddle_columns_mark(const saddle_columns *columns, size_t features, const char *list,
                                  bool *mark, saddle_error *error)
{
    size_t length;
    for (const char *item; (item = saddle_next_item(&list, &length)) != NULL;) {
        size_t first = 0;
        size_t count = 0;
        SADDLE_TRY(
            saddle_columns_features_of(columns, features, item, length, &first, &count, error));
        for (size_t k = first; k < first + count; k++) {
            if (mark[k])
                return saddle_refuse(error, "'%.*s' is listed twice",
                                     (int)(length < 100 ? length : 100), item);
            mark[k] = true;
        }
    }
    return SADDLE_OK;
}

/* ---- public functions ---- */

size_t saddle_columns_count(const saddle_columns *columns)
{
    return columns != NULL ? columns->count : 0;
}

const char *saddle_columns_name(const saddle_columns *columns, size_t column)
{
    return columns->column[column].name;
}

static const char *const *texts_of(const saddle_column *column, size_t *count)
{
    *count = column->texts;
    return column->texts > 0 ? (const char *const *)column->text : NULL;
}

const char *const *saddle_columns_texts(const saddle_columns *columns, size_t column, size_t *count)
{
    return texts_of(&columns->column[column], count);
}

void saddle_columns_features(const saddle_columns *columns, size_t column, size_t *first,
                             size_t *count)
{
    *first = columns->column[column].first;
    *count = columns->column[column].features;
}

char *saddle_columns_feature_name(const saddle_columns *columns, size_t feature)
{
    size_t k = 0;
    if (columns == NULL || !columns->named || feature >= columns->features)
        return saddle_format("%zu", feature + 1);
    while (feature >= columns->column[k].first + columns->column[k].features)
        k++;
    const saddle_column *column = &columns->column[k];
    bool hot = column->kind == SADDLE_COLUMN_TEXT && columns->one_hot;
    return hot ? saddle_format("%s=%s", column->name, column->text[feature - column->first])
               : saddle_strdup(column->name);
}

const char *const *saddle_columns_label_texts(const saddle_columns *columns, size_t *count)
{
    *count = 0;
    return columns != NULL ? texts_of(&columns->label, count) : NULL;
}

saddle_status saddle_dataset_column(const saddle_dataset *data, const char *which, double *out,
                                    saddle_error *error)
{
    SADDLE_REQUIRE(error, data, which, out);
    size_t first = 0;
    size_t count = 0;
    size_t length = strlen(which);
    SADDLE_TRY(saddle_columns_features_of(data->columns, data->features, which, length, &first,
                                          &count, error));
    const saddle_columns *columns = data->columns;
    size_t column = columns != NULL && columns->named ? find_column(columns, which, length) : 0;
    bool hot = columns != NULL && columns->named && columns->one_hot && column < columns->count &&
               columns->column[column].kind == SADDLE_COLUMN_TEXT;
    for (size_t row = 0; row < data->rows; row++) {
        out[row] = hot ? 0.0 : saddle_row_entry(data, row, first);
        for (size_t k = 1; hot && k < count; k++)
            if (saddle_row_entry(data, row, first + k) != 0.0)
                out[row] = (double)k;
    }
    return SADDLE_OK;
}

char *saddle_columns_label_list(const saddle_columns *columns, const char *list)
{
    char *out = saddle_strdup("");
    const char *rest = list;
    size_t length;
    for (const char *item; out != NULL && (item = saddle_next_item(&rest, &length)) != NULL;) {
        size_t index = columns != NULL ? saddle_column_find(&columns->label, item, length) : 0;
        bool known = columns != NULL && index < columns->label.texts;
        const char *comma = item == list ? "" : ",";
        char *longer = known ? saddle_format("%s%s%zu", out, comma, index)
                             : saddle_format("%s%s%.*s", out, comma, (int)length, item);
        saddle_free(out);
        out = longer;
    }
    return out;
}
