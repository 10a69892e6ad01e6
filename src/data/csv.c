/*
 * CSV: fields separated by commas, semicolons or tabs (whichever is most frequent in the first line),
 * optionally quoted ("a ""b"""), with or without a header line (saddle_csv_header). One column is the
 * label. A column holds numbers or text; columns.h says what text and missing values become.
 *
 * The same code reads the file twice: first to check, count and observe, then to fill arrays of the right
 * size. Data are stored sparse if texts have a feature each, otherwise dense.
 */
#include "data/csv_table.h"
#include "data/dataset.h"

/* ---- the first line ---- */

/* Returns whether the second line has a number where the first has a name. */
static bool number_below_name(const saddle_csv *table)
{
    const char *at = table->first.begin;
    saddle_csv_line second = table->first;
    saddle_csv_line_next(&second, table->end);
    for (const char *next = second.begin;;) {
        saddle_csv_field above;
        saddle_csv_field below;
        double value;
        if (!saddle_csv_field_next(at, table->first.end, table->separator, &above) ||
            !saddle_csv_field_next(next, second.end, table->separator, &below))
            return false;
        if (saddle_csv_field_is_name(&above) &&
            saddle_csv_field_is(&below, &value) == SADDLE_CSV_NUMBER)
            return true;
        if (above.after == table->first.end || below.after == second.end)
            return false;
        at = above.after + 1;
        next = below.after + 1;
    }
}

/* Counts the fields of the first line and decides whether it is a header. */
static bool read_layout(saddle_csv *table, const saddle_data_options *options)
{
    const char *line = table->first.begin;
    const char *end = table->first.end;
    bool unlabelled = options->label_by_name ||
                      (options->label_column != NULL && strcmp(options->label_column, "none") == 0);
    bool names = false;
    bool numbers = false;
    table->separator = saddle_find_separator(line, end);
    if (table->separator == '\0')
        table->separator = ',';
    saddle_csv_field field;
    const char *at = line;
    do {
        double value;
        if (!saddle_csv_field_next(at, end, table->separator, &field))
            return saddle_parse_fail(&table->parse, field.begin, "%s",
                                     saddle_csv_field_fault(&field));
        table->fields++;
        names = names || saddle_csv_field_is_name(&field);
        numbers = numbers || saddle_csv_field_is(&field, &value) == SADDLE_CSV_NUMBER;
        at = field.after + 1;
    } while (field.after < end);
    table->header = options->header == SADDLE_HEADER_AUTO
                        ? names && (!numbers || number_below_name(table))
                        : options->header == SADDLE_HEADER_YES;
    return table->fields >= 2 || unlabelled ||
           saddle_parse_fail(&table->parse, line,
                             "one field only; a label and at least one feature are needed, "
                             "separated by ',', ';' or tab");
}

/* ---- columns by name ---- */

static saddle_status read_names(saddle_csv *table, saddle_error *error)
{
    const char *at = table->first.begin;
    for (size_t k = 0; k < table->fields; k++) {
        saddle_csv_field field;
        bool named =
            table->header && saddle_csv_field_next(at, table->first.end, table->separator, &field);
        table->head[k].name = named ? saddle_csv_field_text(&field) : saddle_format("%zu", k + 1);
        SADDLE_TRY(saddle_check_memory(table->head[k].name, "the columns", error));
        at = named ? field.after + 1 : at;
    }
    return SADDLE_OK;
}

/* Returns how many fields have a name; *out receives the last of them. */
static size_t count_named(const saddle_csv *table, const char *name, size_t length, size_t *out)
{
    size_t found = 0;
    for (size_t k = 0; k < table->fields; k++) {
        const char *own = table->head[k].name;
        if (strncmp(own, name, length) == 0 && own[length] == '\0') {
            *out = k;
            found++;
        }
    }
    return found;
}

/* Finds a field by name or by number from 1. */
static saddle_status find_field(const saddle_csv *table, const char *option, const char *wanted,
                                size_t length, size_t *out, saddle_error *error)
{
    const char *path = table->in->path;
    uint64_t value = 0;
    int shown = (int)(length < 100 ? length : 100);
    if (saddle_parse_integer_in(wanted, length, &value)) {
        *out = (size_t)value - 1;
        return value >= 1 && value <= table->fields
                   ? SADDLE_OK
                   : saddle_refuse(error, "--%s: '%s' has no column %llu; columns are 1 to %zu",
                                   option, path, (unsigned long long)value, table->fields);
    }
    if (!table->header)
        return saddle_refuse(
            error, "--%s: '%.*s' is a name, but '%s' has no line of names; use a number from 1%s",
            option, shown, wanted, path,
            strcmp(option, "label-column") == 0 ? ", first, last or none" : "");
    size_t found = count_named(table, wanted, length, out);
    if (found == 1)
        return SADDLE_OK;
    return saddle_refuse(
        error,
        found == 0 ? "--%s: '%s' has no column '%.*s'; its columns are: %s"
                   : "--%s: '%s' has several columns '%.*s'; give its number, from 1, among: %s",
        option, path, shown, wanted, saddle_excerpt_of(table->first.begin, table->first.end).text);
}

/* Returns the label's name in the given columns, if the label is to be found by it; otherwise NULL. */
static const char *label_name(const saddle_csv *table, const saddle_data_options *options)
{
    const saddle_columns *columns = options->columns;
    bool named = options->label_by_name && table->header && columns != NULL && columns->named &&
                 columns->label.name != NULL && *columns->label.name != '\0';
    return named ? columns->label.name : NULL;
}

static saddle_status choose_label(saddle_csv *table, const saddle_data_options *options,
                                  saddle_error *error)
{
    const char *wanted = options->label_column;
    const char *name = label_name(table, options);
    if (name != NULL) {
        table->label = table->fields;
        count_named(table, name, strlen(name), &table->label);
        return SADDLE_OK;
    }
    if (wanted == NULL || strcmp(wanted, "last") == 0)
        table->label = table->fields - 1;
    else if (strcmp(wanted, "first") == 0)
        table->label = 0;
    else if (strcmp(wanted, "none") == 0)
        table->label = table->fields;
    else
        return find_field(table, "label-column", wanted, strlen(wanted), &table->label, error);
    return SADDLE_OK;
}

/* Marks the fields of the lists of columns. Lists from a model may name fields that the file lacks. */
static saddle_status mark_fields(saddle_csv *table, const saddle_data_options *options,
                                 saddle_error *error)
{
    size_t length;
    size_t field = 0;
    const char *list = options->drop_columns;
    for (const char *name; (name = saddle_next_item(&list, &length)) != NULL;) {
        saddle_status status = find_field(table, "drop-columns", name, length, &field, error);
        if (status == SADDLE_OK)
            table->head[field].dropped = true;
        else if (options->columns == NULL)
            return status;
    }
    list = options->columns == NULL ? options->category_columns : NULL;
    for (const char *name; (name = saddle_next_item(&list, &length)) != NULL;) {
        SADDLE_TRY(find_field(table, "category-columns", name, length, &field, error));
        table->head[field].forced = true;
    }
    return SADDLE_OK;
}

/* ---- which field is which column ---- */

/* Returns whether a field is neither the label nor left out. */
static bool is_feature(const saddle_csv *table, size_t field)
{
    return !table->labels_only && field != table->label && !table->head[field].dropped;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const saddle_csv_head *)a)->name, ((const saddle_csv_head *)b)->name);
}

/* Determines whether all field names are distinct; if not, fields are matched by their order. */
static saddle_status check_twins(const saddle_csv *table, bool *unique, saddle_error *error)
{
    SADDLE_OWNED saddle_csv_head *sorted = saddle_alloc(table->fields, sizeof *sorted);
    SADDLE_TRY(saddle_check_memory(sorted, "the columns", error));
    memcpy(sorted, table->head, table->fields * sizeof *sorted);
    qsort(sorted, table->fields, sizeof *sorted, by_name);
    *unique = true;
    for (size_t k = 1; k < table->fields; k++)
        *unique = *unique && by_name(&sorted[k - 1], &sorted[k]) != 0;
    return SADDLE_OK;
}

/* Fails if a dropped column is also the label or in category-columns, or if a listed column is not read. */
static saddle_status check_lists(const saddle_csv *table, saddle_error *error)
{
    for (size_t k = 0; k < table->fields; k++) {
        const saddle_csv_head *head = &table->head[k];
        bool label = k == table->label;
        if (head->dropped && (label || head->forced))
            return saddle_refuse(error, "--drop-columns: '%s' is %s; remove it from this list",
                                 SADDLE_EXCERPT(head->name),
                                 label ? "the label column" : "also in --category-columns");
        if (table->labels_only && head->forced && !label)
            return saddle_refuse(error,
                                 "--category-columns: '%s' is not the label column, and all others "
                                 "are copied as they are; remove it from this list",
                                 SADDLE_EXCERPT(head->name));
    }
    return SADDLE_OK;
}

/* Names a column after its field; NULL: there is none. False when memory is short. */
static bool name_column(saddle_column *column, const saddle_csv_head *head)
{
    column->forced = head != NULL && head->forced;
    column->name = saddle_strdup(head != NULL ? head->name : "");
    return column->name != NULL;
}

/* Builds columns from the file's own fields. */
static saddle_status make_columns(saddle_csv *table, saddle_error *error)
{
    size_t count = 0;
    SADDLE_TRY(check_lists(table, error));
    for (size_t k = 0; k < table->fields; k++)
        if (is_feature(table, k))
            table->field_of[count++] = k;
    if (count == 0 && !table->labels_only)
        return saddle_refuse(error, "--drop-columns: no feature is left; keep at least one column");
    saddle_columns *columns = table->columns = saddle_columns_new(count);
    SADDLE_TRY(saddle_check_memory(columns, "the columns", error));
    bool unique = false;
    SADDLE_TRY(check_twins(table, &unique, error));
    columns->named = table->header && unique;
    bool good = name_column(&columns->label,
                            table->label < table->fields ? &table->head[table->label] : NULL);
    for (size_t c = 0; good && c < count; c++)
        good = name_column(&columns->column[c], &table->head[table->field_of[c]]);
    return good ? SADDLE_OK : saddle_no_memory(error, "the columns");
}

/* Fails, naming the columns of the training data that a file with `count` feature columns lacks. */
static saddle_status refuse_columns(const saddle_csv *table, size_t count, saddle_error *error)
{
    const char *path = table->in->path;
    const saddle_columns *columns = table->columns;
    bool label_wanted =
        table->label < table->fields &&
        saddle_columns_find_near(columns, table->head[table->label].name, 0) < columns->count;
    const char *remedy =
        label_wanted ? ", or set --label-column to none if no column is a label" : "";
    const char *label = columns->label.name;
    char missing[256] = "";
    size_t field = 0;
    size_t lacking = 0;
    if (!columns->named || !table->header)
        return saddle_refuse(
            error,
            "'%s' has %s columns of features than the training data, which have %zu; give rows of "
            "the same kind, or set --label-column to none if no column is a label",
            path, count < columns->count ? "fewer" : "more", columns->count);
    if (label_wanted && label != NULL && *label != '\0' &&
        count_named(table, label, strlen(label), &field) == 0)
        return saddle_refuse(error,
                             "'%s' has no column '%s', the label of the training data; give rows "
                             "with labels, or, to predict without them, set --label-column to none",
                             path, SADDLE_EXCERPT(label));
    for (size_t c = 0; c < columns->count; c++)
        if (table->field_of[c] == SIZE_MAX)
            saddle_append(missing, sizeof missing, "%s'%s'", lacking++ == 0 ? "" : ", ",
                          SADDLE_EXCERPT(columns->column[c].name));
    return saddle_refuse(
        error, "'%s' lacks %s of the training data: %s; give rows with the same columns%s", path,
        lacking == 1 ? "a column" : "columns", missing, remedy);
}

/* Fails because a column is not among the given columns, or occurs twice. */
static saddle_status refuse_column(const saddle_csv *table, const char *name, bool twice,
                                   saddle_error *error)
{
    const char *path = table->in->path;
    const char *label = table->columns->label.name;
    if (!twice && label != NULL && strcmp(name, label) == 0)
        return saddle_refuse(error,
                             "column '%s' of '%s' is the label of the training data, but the label "
                             "is taken from another column; set --label-column to '%s'",
                             SADDLE_EXCERPT(name), path, SADDLE_EXCERPT(name));
    return saddle_refuse(error, "column '%s' of '%s' %s; leave it out with --drop-columns%s",
                         SADDLE_EXCERPT(name), path,
                         twice ? "occurs twice" : "is not in the training data",
                         !twice && table->label == table->fields
                             ? ", or name it as --label-column if it is the label"
                             : "");
}

/* Matches the given columns to fields, by name, or by order if there are no names. */
static saddle_status match_columns(saddle_csv *table, saddle_error *error)
{
    const saddle_columns *columns = table->columns;
    bool named = columns->named && table->header;
    size_t count = 0;
    for (size_t c = 0; c < columns->count; c++)
        table->field_of[c] = SIZE_MAX;
    for (size_t k = 0; k < table->fields && count <= columns->count; k++) {
        if (!is_feature(table, k))
            continue;
        const char *name = table->head[k].name;
        size_t c = named ? saddle_columns_find_near(columns, name, count) : count;
        if (named && (c == columns->count || table->field_of[c] != SIZE_MAX))
            return refuse_column(table, name, c < columns->count, error);
        if (c < columns->count)
            table->field_of[c] = k;
        count++;
    }
    return count == columns->count ? SADDLE_OK : refuse_columns(table, count, error);
}

/* ---- a file ---- */

void saddle_csv_close(saddle_csv *table)
{
    for (size_t k = 0; table->head != NULL && k < table->fields; k++)
        saddle_free(table->head[k].name);
    saddle_free(table->head);
    saddle_columns_free(table->columns);
    saddle_free(table->field);
    saddle_free(table->field_of);
}

static saddle_status choose_columns(saddle_csv *table, const saddle_data_options *options,
                                    saddle_error *error)
{
    size_t given = saddle_columns_count(options->columns);
    table->head = saddle_alloc(table->fields, sizeof *table->head);
    table->field = saddle_alloc(table->fields, sizeof *table->field);
    table->field_of =
        saddle_alloc(given > table->fields ? given : table->fields, sizeof *table->field_of);
    if (table->head == NULL || table->field == NULL || table->field_of == NULL)
        return saddle_no_memory(error, "reading a file");
    SADDLE_TRY(read_names(table, error));
    SADDLE_TRY(choose_label(table, options, error));
    SADDLE_TRY(mark_fields(table, options, error));
    table->columns = saddle_columns_share(options->columns);
    table->settled = options->columns != NULL;
    return table->settled ? match_columns(table, error) : make_columns(table, error);
}

saddle_status saddle_csv_open(saddle_csv *table, const saddle_input *in,
                              const saddle_data_options *options, bool labels_only,
                              saddle_error *error)
{
    *table = (saddle_csv){.in = in,
                          .end = in->bytes + in->size,
                          .first = saddle_csv_first_line(in),
                          .missing = options->missing,
                          .labels_only = labels_only};
    table->parse.begin = table->first.begin;
    table->parse.line = table->first.number;
    if (table->first.begin == table->end)
        return saddle_refuse(error, "'%s' has no rows", in->path);
    if (!read_layout(table, options))
        return saddle_parse_refuse(&table->parse, in->path, error);
    SADDLE_TRY(choose_columns(table, options, error));
    if (!saddle_csv_read_rows(table) || !saddle_csv_check_decimals(table))
        return saddle_parse_refuse(&table->parse, in->path, error);
    if (table->rows == 0)
        return saddle_refuse(error,
                             table->all == 0
                                 ? "'%s' has a header but no rows"
                                 : "every row of '%s' lacks a value; set --missing to impute",
                             in->path);
    return SADDLE_OK;
}

saddle_status saddle_scan_csv(saddle_columns **out, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_csv_close) saddle_csv table = {.in = in};
    *out = NULL;
    SADDLE_TRY(saddle_csv_open(&table, in, options, false, error));
    *out = saddle_columns_share(table.columns);
    return SADDLE_OK;
}

/* Allocates the rows, which have been counted. */
static saddle_status make_rows(saddle_csv *table, const char *name, saddle_error *error)
{
    const saddle_columns *columns = table->columns;
    bool sparse = columns->features > columns->count;
    return saddle_dataset_new(&table->data, name, table->rows, columns->features,
                              sparse ? table->rows * columns->count : SADDLE_DENSE, false, error);
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
    SADDLE_OWNED_BY(saddle_csv_close) saddle_csv table = {.in = in};
    *out = NULL;
    SADDLE_TRY(saddle_csv_open(&table, in, options, false, error));
    if (!table.settled)
        SADDLE_TRY(saddle_columns_settle(table.columns, options->categories,
                                         options->missing == SADDLE_MISSING_IMPUTE, error));
    table.settled = true;
    SADDLE_TRY(make_rows(&table, name, error));
    fill_rows(&table);
    *out = table.data;
    return SADDLE_OK;
}
