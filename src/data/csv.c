/*
 * CSV: fields separated by commas, semicolons or tabs (whichever is most frequent in the first line),
 * optionally quoted ("a ""b"""), with or without a header line (saddle_csv_header). One column is the
 * label. A column holds numbers or text; columns.h says what text and missing values become.
 *
 * The same code reads the file twice: first to check, count and observe, then to fill arrays of the right
 * size. Data are stored sparse if texts have a feature each, otherwise dense.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "data/csv_table.h"
#include "data/dataset.h"

/* ---- the first line ---- */

/* Returns whether the second line has a number where the first has a name. */
static bool number_below_name(const saddle_csv *table, const char *line, const char *end)
{
    const char *next_end = saddle_line_end(end, table->end);
    const char *next = next_end < table->end ? next_end + 1 : table->end;
    size_t number = 0;
    next = saddle_first_line(next, table->end, &number);
    next_end = saddle_content_end(next, saddle_line_end(next, table->end));
    for (;;) {
        saddle_csv_field above;
        saddle_csv_field below;
        double value;
        if (!saddle_csv_field_next(line, end, table->separator, &above) ||
            !saddle_csv_field_next(next, next_end, table->separator, &below))
            return false;
        if (saddle_csv_field_is_name(&above) &&
            saddle_csv_field_is(&below, &value) == SADDLE_CSV_NUMBER)
            return true;
        if (above.after == end || below.after == next_end)
            return false;
        line = above.after + 1;
        next = below.after + 1;
    }
}

/* Counts the fields of the first line and decides whether it is a header. */
static bool read_layout(saddle_csv *table, const char *line, const char *end,
                        const saddle_data_options *options)
{
    saddle_csv_header header = options->header;
    bool unlabelled = options->label_by_name ||
                      (options->label_column != NULL && strcmp(options->label_column, "none") == 0);
    bool names = false;
    bool numbers = false;
    table->separator = saddle_find_separator(line, end);
    if (table->separator == '\0')
        table->separator = ',';
    const char *at = line;
    for (;;) {
        saddle_csv_field field;
        double value;
        if (!saddle_csv_field_next(at, end, table->separator, &field))
            return saddle_parse_fail(&table->failure, line, field.begin, "%s",
                                     saddle_csv_field_fault(&field));
        table->fields++;
        names = names || saddle_csv_field_is_name(&field);
        numbers = numbers || saddle_csv_field_is(&field, &value) == SADDLE_CSV_NUMBER;
        if (field.after == end)
            break;
        at = field.after + 1;
    }
    bool named = header == SADDLE_HEADER_AUTO
                     ? names && (!numbers || number_below_name(table, line, end))
                     : header == SADDLE_HEADER_YES;
    table->header = line;
    table->header_end = named ? end : NULL;
    return table->fields >= 2 || unlabelled ||
           saddle_parse_fail(&table->failure, line, line,
                             "one field only; a label and at least one feature are needed, "
                             "separated by ',', ';' or tab");
}

/* ---- columns by name ---- */

/* The names of all fields, from the header or numbers from 0. */
typedef struct names {
    char **name;
    size_t count;
    bool *dropped; /* per field: it is left out */
    bool *forced;  /* per field: its numbers are treated as text */
} names;

static void free_names(names *of)
{
    for (size_t k = 0; of->name != NULL && k < of->count; k++)
        saddle_free(of->name[k]);
    saddle_free((void *)of->name);
    saddle_free(of->dropped);
    saddle_free(of->forced);
}

static saddle_status read_names(const saddle_csv *table, names *out, saddle_error *error)
{
    const char *at = table->header;
    *out = (names){.count = table->fields,
                   .name = saddle_alloc(table->fields, sizeof *out->name),
                   .dropped = saddle_alloc(table->fields, sizeof *out->dropped),
                   .forced = saddle_alloc(table->fields, sizeof *out->forced)};
    if (out->name == NULL || out->dropped == NULL || out->forced == NULL)
        return saddle_no_memory(error, "the columns");
    for (size_t k = 0; k < table->fields; k++) {
        saddle_csv_field field = {.begin = at, .end = at};
        bool named = table->header_end != NULL &&
                     saddle_csv_field_next(at, table->header_end, table->separator, &field);
        out->name[k] = named ? saddle_csv_field_text(&field) : saddle_format("%zu", k);
        SADDLE_TRY(saddle_check_memory(out->name[k], "the columns", error));
        at = named ? field.after + 1 : at;
    }
    return SADDLE_OK;
}

/* Returns how many fields have a name; *out receives the last of them. */
static size_t count_named(const names *of, const char *name, size_t length, size_t *out)
{
    size_t found = 0;
    for (size_t k = 0; k < of->count; k++)
        if (strncmp(of->name[k], name, length) == 0 && of->name[k][length] == '\0') {
            *out = k;
            found++;
        }
    return found;
}

/* Finds a field by name or by number from 0. */
static saddle_status find_field(const saddle_csv *table, const names *of, const char *option,
                                const char *wanted, size_t length, const char *path, size_t *out,
                                saddle_error *error)
{
    uint64_t value = 0;
    int shown = (int)(length < 100 ? length : 100);
    if (saddle_parse_integer_in(wanted, length, &value)) {
        *out = (size_t)value;
        return value < of->count
                   ? SADDLE_OK
                   : saddle_fail(error, SADDLE_BAD_INPUT,
                                 "%s: '%s' has no column %llu; columns are 0 to %zu", option, path,
                                 (unsigned long long)value, of->count - 1);
    }
    if (table->header_end == NULL)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "%s: '%.*s' is a name, but '%s' has no line of names; use a number from 0%s", option,
            shown, wanted, path,
            strcmp(option, "label-column") == 0 ? ", first, last or none" : "");
    size_t found = count_named(of, wanted, length, out);
    if (found == 1)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       found == 0 ? "%s: '%s' has no column '%.*s'; its columns are: %s"
                                  : "%s: '%s' has several columns '%.*s'; give its number, from 0, "
                                    "among: %s",
                       option, path, shown, wanted,
                       saddle_excerpt_of(table->header, table->header_end).text);
}

/* Returns the label's name in the given columns, if the label is to be found by it; otherwise NULL. */
static const char *label_name(const saddle_csv *table, const saddle_data_options *options)
{
    const saddle_columns *columns = options->columns;
    bool named = options->label_by_name && table->header_end != NULL && columns != NULL &&
                 columns->named && columns->label.name != NULL && *columns->label.name != '\0';
    return named ? columns->label.name : NULL;
}

static saddle_status choose_label(saddle_csv *table, const names *of,
                                  const saddle_data_options *options, const char *path,
                                  saddle_error *error)
{
    const char *wanted = options->label_column;
    const char *name = label_name(table, options);
    if (name != NULL) {
        table->label = table->fields;
        count_named(of, name, strlen(name), &table->label);
        return SADDLE_OK;
    }
    if (wanted == NULL || strcmp(wanted, "last") == 0)
        table->label = table->fields - 1;
    else if (strcmp(wanted, "first") == 0)
        table->label = 0;
    else if (strcmp(wanted, "none") == 0)
        table->label = table->fields;
    else
        return find_field(table, of, "label-column", wanted, strlen(wanted), path, &table->label,
                          error);
    return SADDLE_OK;
}

/* Marks the fields of a list. A list from a model may name fields that the file lacks. */
static saddle_status mark_fields(const saddle_csv *table, const names *of, const char *option,
                                 const char *list, bool lenient, const char *path, bool *mark,
                                 saddle_error *error)
{
    size_t length;
    for (const char *name; (name = saddle_next_item(&list, &length)) != NULL;) {
        size_t field = 0;
        saddle_status status = find_field(table, of, option, name, length, path, &field, error);
        if (status == SADDLE_OK)
            mark[field] = true;
        else if (!lenient)
            return status;
    }
    return SADDLE_OK;
}

/* ---- which field is which column ---- */

/* Returns whether a field is neither the label nor left out. */
static bool is_feature(const saddle_csv *table, const names *of, size_t field)
{
    return !table->labels_only && field != table->label && !of->dropped[field];
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Determines whether all field names are distinct; if not, fields are matched by their order. */
static saddle_status check_twins(const names *of, bool *unique, saddle_error *error)
{
    char **sorted = saddle_alloc(of->count, sizeof *sorted);
    SADDLE_TRY(saddle_check_memory(sorted, "the columns", error));
    memcpy((void *)sorted, (void *)of->name, of->count * sizeof *sorted);
    qsort((void *)sorted, of->count, sizeof *sorted, by_text);
    *unique = true;
    for (size_t k = 1; k < of->count; k++)
        *unique = *unique && strcmp(sorted[k - 1], sorted[k]) != 0;
    saddle_free((void *)sorted);
    return SADDLE_OK;
}

/* Fails if a dropped column is also the label or in category-columns, or if a listed column is not read. */
static saddle_status check_lists(const saddle_csv *table, const names *of, saddle_error *error)
{
    for (size_t k = 0; k < table->fields; k++)
        if (of->dropped[k] && (k == table->label || of->forced[k]))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "drop-columns: '%s' is %s; remove it from this list",
                               SADDLE_EXCERPT(of->name[k]),
                               k == table->label ? "the label column" : "also in category-columns");
    for (size_t k = 0; table->labels_only && k < table->fields; k++)
        if (of->forced[k] && k != table->label)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "category-columns: '%s' is not the label column, and all others are "
                               "copied as they are; remove it from this list",
                               SADDLE_EXCERPT(of->name[k]));
    return SADDLE_OK;
}

/* Builds columns from the file's own fields. */
static saddle_status make_columns(saddle_csv *table, const names *of, saddle_error *error)
{
    size_t count = 0;
    SADDLE_TRY(check_lists(table, of, error));
    for (size_t k = 0; k < table->fields; k++)
        count += is_feature(table, of, k);
    if (count == 0 && !table->labels_only)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "drop-columns: no feature is left; keep at least one column");
    table->columns = saddle_columns_new(count);
    SADDLE_TRY(saddle_check_memory(table->columns, "the columns", error));
    bool unique = false;
    SADDLE_TRY(check_twins(of, &unique, error));
    table->columns->named = table->header_end != NULL && unique;
    saddle_column *column = table->columns->column;
    bool good = true;
    for (size_t k = 0, c = 0; k < table->fields; k++)
        if (is_feature(table, of, k)) {
            column[c].name = saddle_strdup(of->name[k]);
            column[c].forced = of->forced[k];
            good = good && column[c].name != NULL;
            table->field_of[c++] = k;
        }
    bool labelled = table->label < table->fields;
    table->columns->label.forced = labelled && of->forced[table->label];
    table->columns->label.name = saddle_strdup(labelled ? of->name[table->label] : "");
    return good && table->columns->label.name != NULL ? SADDLE_OK
                                                      : saddle_no_memory(error, "the columns");
}

/* Fails, naming the columns of the training data that a file with `count` feature columns lacks. */
static saddle_status refuse_columns(const saddle_csv *table, const names *of, size_t count,
                                    const char *path, saddle_error *error)
{
    const saddle_columns *columns = table->columns;
    bool label_wanted =
        table->label < table->fields &&
        saddle_columns_find_near(columns, of->name[table->label], 0) < columns->count;
    const char *remedy =
        label_wanted ? ", or set label-column to none if no column is a label" : "";
    const char *label = columns->label.name;
    char missing[256] = "";
    size_t field = 0;
    size_t lacking = 0;
    if (!columns->named || table->header_end == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' has %s columns of features than the training data, which have "
                           "%zu; give rows of the same kind, or set label-column to none if no "
                           "column is a label",
                           path, count < columns->count ? "fewer" : "more", columns->count);
    if (label_wanted && label != NULL && *label != '\0' &&
        count_named(of, label, strlen(label), &field) == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' has no column '%s', the label of the training data; give rows "
                           "with labels, or, to predict without them, set label-column to none",
                           path, SADDLE_EXCERPT(label));
    for (size_t c = 0; c < columns->count; c++)
        if (table->field_of[c] == SIZE_MAX)
            saddle_append(missing, sizeof missing, "%s'%s'", lacking++ == 0 ? "" : ", ",
                          SADDLE_EXCERPT(columns->column[c].name));
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "'%s' lacks %s of the training data: %s; give rows with the same columns%s",
                       path, lacking == 1 ? "a column" : "columns", missing, remedy);
}

/* Fails because a column is not among the given columns, or occurs twice. */
static saddle_status refuse_column(const saddle_csv *table, const char *name, bool twice,
                                   const char *path, saddle_error *error)
{
    const char *label = table->columns->label.name;
    if (!twice && label != NULL && strcmp(name, label) == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "column '%s' of '%s' is the label of the training data, but the label "
                           "is taken from another column; set label-column to '%s'",
                           SADDLE_EXCERPT(name), path, SADDLE_EXCERPT(name));
    return saddle_fail(
        error, SADDLE_BAD_INPUT, "column '%s' of '%s' %s; leave it out with drop-columns%s",
        SADDLE_EXCERPT(name), path, twice ? "occurs twice" : "is not in the training data",
        !twice && table->label == table->fields ? ", or name it as label-column if it is the label"
                                                : "");
}

/* Matches the given columns to fields, by name, or by order if there are no names. */
static saddle_status match_columns(saddle_csv *table, const names *of, const char *path,
                                   saddle_error *error)
{
    const saddle_columns *columns = table->columns;
    bool by_name = columns->named && table->header_end != NULL;
    size_t count = 0;
    for (size_t c = 0; c < columns->count; c++)
        table->field_of[c] = SIZE_MAX;
    for (size_t k = 0; k < table->fields && count <= columns->count; k++) {
        if (!is_feature(table, of, k))
            continue;
        size_t c = by_name ? saddle_columns_find_near(columns, of->name[k], count) : count;
        if (by_name && (c == columns->count || table->field_of[c] != SIZE_MAX))
            return refuse_column(table, of->name[k], c < columns->count, path, error);
        if (c < columns->count)
            table->field_of[c] = k;
        count++;
    }
    return count == columns->count ? SADDLE_OK : refuse_columns(table, of, count, path, error);
}

/* ---- a file ---- */

void saddle_csv_close(saddle_csv *table)
{
    saddle_columns_free(table->columns);
    saddle_free(table->field);
    saddle_free(table->field_of);
}

static saddle_status choose_columns(saddle_csv *table, const char *path,
                                    const saddle_data_options *options, saddle_error *error)
{
    names of = {.name = NULL};
    bool given = options->columns != NULL;
    saddle_status status = read_names(table, &of, error);
    SADDLE_THEN(status, choose_label(table, &of, options, path, error));
    SADDLE_THEN(status, mark_fields(table, &of, "drop-columns", options->drop_columns, given, path,
                                    of.dropped, error));
    SADDLE_THEN_IF(status, !given,
                   mark_fields(table, &of, "category-columns", options->category_columns, false,
                               path, of.forced, error));
    table->settled = given;
    table->columns = saddle_columns_share(options->columns);
    SADDLE_THEN(status,
                given ? match_columns(table, &of, path, error) : make_columns(table, &of, error));
    free_names(&of);
    return status;
}

saddle_status saddle_csv_open(saddle_csv *table, const saddle_input *in,
                              const saddle_data_options *options, bool labels_only,
                              saddle_error *error)
{
    *table = (saddle_csv){
        .end = in->bytes + in->size, .missing = options->missing, .labels_only = labels_only};
    const char *line = saddle_first_line(saddle_skip_mark(in), table->end, &table->first_line);
    const char *line_end = saddle_line_end(line, table->end);
    table->begin = line;
    table->failure.line = table->first_line;
    if (line == table->end)
        return saddle_fail(error, SADDLE_BAD_INPUT, "'%s' has no rows", in->path);
    if (!read_layout(table, line, saddle_content_end(line, line_end), options))
        return saddle_parse_refuse(&table->failure, in->path, error);
    if (table->header_end != NULL) {
        table->begin = line_end < table->end ? line_end + 1 : table->end;
        table->first_line++;
    }
    table->field = saddle_alloc(table->fields, sizeof *table->field);
    size_t given = saddle_columns_count(options->columns);
    table->field_of =
        saddle_alloc(given > table->fields ? given : table->fields, sizeof *table->field_of);
    if (table->field == NULL || table->field_of == NULL)
        return saddle_no_memory(error, "reading a file");
    SADDLE_TRY(choose_columns(table, in->path, options, error));
    if (!saddle_csv_read_rows(table) || !saddle_csv_check_decimals(table))
        return saddle_parse_refuse(&table->failure, in->path, error);
    if (table->rows == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           table->all == 0 ? "'%s' has a header but no rows"
                                           : "every row of '%s' lacks a value; set missing to "
                                             "impute",
                           in->path);
    return SADDLE_OK;
}

saddle_status saddle_scan_csv(saddle_columns **out, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error)
{
    saddle_csv table;
    saddle_status status = saddle_csv_open(&table, in, options, false, error);
    *out = status == SADDLE_OK ? saddle_columns_share(table.columns) : NULL;
    saddle_csv_close(&table);
    return status;
}

/* Allocates the rows, which have been counted. */
static saddle_status make_rows(saddle_csv *table, const char *name, saddle_error *error)
{
    const saddle_columns *columns = table->columns;
    bool sparse = columns->features > columns->count;
    return sparse ? saddle_dataset_new_sparse(&table->data, name, table->rows, columns->features,
                                              table->rows * columns->count, false, error)
                  : saddle_dataset_new_dense(&table->data, name, table->rows, columns->features,
                                             error);
}

/* Fills the rows. */
static void fill_rows(saddle_csv *table)
{
    saddle_dataset *data = table->data;
    memset(data->label, 0, table->rows * sizeof *data->label);
    saddle_csv_read_rows(table);
    if (data->dense != NULL) {
        saddle_dataset_count_nonzeros(data);
    } else {
        data->nonzeros = table->entries;
        saddle_dataset_forget_ones(data);
    }
    data->columns = saddle_columns_share(table->columns);
    data->dropped = table->all - table->rows;
    data->imputed = table->imputed;
    data->unlabelled = table->label == table->fields;
}

saddle_status saddle_read_csv(saddle_dataset **out, const char *name, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error)
{
    saddle_csv table;
    *out = NULL;
    saddle_status status = saddle_csv_open(&table, in, options, false, error);
    SADDLE_THEN_IF(status, !table.settled,
                   saddle_columns_settle(table.columns, options->categories,
                                         options->missing == SADDLE_MISSING_IMPUTE, error));
    table.settled = true;
    SADDLE_THEN(status, make_rows(&table, name, error));
    if (status == SADDLE_OK) {
        fill_rows(&table);
        *out = table.data;
    }
    saddle_csv_close(&table);
    return status;
}
