/* Reading the rows of a CSV file: values are observed, checked or stored. */
#include "data/csv_table.h"

/* Splits the current row into fields. */
static bool split_row(saddle_csv *table, const saddle_csv_line *line)
{
    const char *at = line->begin;
    for (size_t k = 0;; k++) {
        if (k == table->fields)
            return saddle_parse_fail(&table->parse, at,
                                     "more fields than the %zu of the first line", table->fields);
        saddle_csv_field *field = &table->field[k];
        if (!saddle_csv_field_next(at, line->end, table->separator, field))
            return saddle_parse_fail(&table->parse, field->begin, "%s",
                                     saddle_csv_field_fault(field));
        if (field->after == line->end)
            return k + 1 == table->fields ||
                   saddle_parse_fail(&table->parse, line->end, "%zu fields; the first line has %zu",
                                     k + 1, table->fields);
        at = field->after + 1;
    }
}

/* Moves to the next row and splits it; false at the end of the file, or with an error. */
static bool next_row(saddle_csv *table, saddle_csv_line *line)
{
    if (!saddle_csv_line_next(line, table->end))
        return false;
    table->parse.begin = line->begin;
    table->parse.line = line->number;
    return split_row(table, line);
}

/* Returns where to start reading so that the first row is the next line. */
static saddle_csv_line before_rows(const saddle_csv *table)
{
    saddle_csv_line line = table->first;
    if (!table->header) {
        line.next = line.begin;
        line.number--;
    }
    return line;
}

/* Returns the number of columns that are read: those of features, and after them the label if there is one. */
static size_t columns_read(const saddle_csv *table)
{
    return table->columns->count + (table->label < table->fields);
}

static saddle_column *column_at(const saddle_csv *table, size_t k)
{
    saddle_columns *columns = table->columns;
    return k < columns->count ? &columns->column[k] : &columns->label;
}

static const saddle_csv_field *field_at(const saddle_csv *table, size_t k)
{
    return &table->field[k < table->columns->count ? table->field_of[k] : table->label];
}

/* Returns a field's text, with doubled quotes replaced by single ones; NULL when memory is short. The caller
 * frees *copy. */
static const char *text_of(const saddle_csv_field *field, char **copy, size_t *length)
{
    *copy = field->quoted ? saddle_csv_field_text(field) : NULL;
    *length = *copy != NULL ? strlen(*copy) : (size_t)(field->end - field->begin);
    return field->quoted ? *copy : field->begin;
}

/* Returns advice to append to an error in one of the first rows. */
static const char *hint(const saddle_csv *table)
{
    return !table->header && table->all <= 1
               ? "; if the first line holds names, set --header to yes"
               : "";
}

static bool observe_text(saddle_csv *table, const saddle_csv_field *field, saddle_column *column)
{
    SADDLE_OWNED char *copy = NULL;
    size_t length;
    const char *text = text_of(field, &copy, &length);
    bool good = text != NULL && saddle_column_observe(column, text, length, 1);
    return good ||
           saddle_parse_fail(&table->parse, field->begin,
                             "column '%s' has more than %d categories, or memory is short; %s",
                             SADDLE_EXCERPT(column->name), SADDLE_MOST_CATEGORIES,
                             column == &table->columns->label ? "choose another --label-column"
                                                              : "leave it out with --drop-columns");
}

/* Advice for numbers with a decimal comma. */
#define WRITE_POINTS "write numbers with a decimal point, "

/* Records a value in a column that is not settled yet. */
static bool observe(saddle_csv *table, const saddle_csv_field *field, saddle_column *column)
{
    double value = 0.0;
    saddle_csv_kind kind = saddle_csv_field_is(field, &value);
    if (kind == SADDLE_CSV_MISSING)
        return true;
    if (column->forced || (kind == SADDLE_CSV_WORD && column->kind != SADDLE_COLUMN_NUMBER))
        return observe_text(table, field, column);
    saddle_excerpt excerpt = saddle_excerpt_of(field->begin, field->end);
    if (kind == SADDLE_CSV_NUMBER && column->kind == SADDLE_COLUMN_TEXT)
        return saddle_parse_fail(
            &table->parse, field->begin,
            "column '%s' has text above, such as '%s', and the number %s here; %sname it in "
            "--category-columns to treat both as text%s",
            SADDLE_EXCERPT(column->name), SADDLE_EXCERPT(column->text[0]), excerpt.text,
            saddle_has_decimal_comma(column->text[0], NULL) ? WRITE_POINTS "or " : "", hint(table));
    if (kind != SADDLE_CSV_NUMBER)
        return saddle_parse_fail(
            &table->parse, field->begin,
            "'%s' in column '%s' is not a %snumber; %sleave the column out with --drop-columns, or "
            "name it in --category-columns to treat it as text%s",
            excerpt.text, SADDLE_EXCERPT(column->name), kind == SADDLE_CSV_WORD ? "" : "finite ",
            saddle_has_decimal_comma(field->begin, field->end) ? WRITE_POINTS : "correct it, ",
            hint(table));
    column->kind = SADDLE_COLUMN_NUMBER;
    column->sum += value;
    column->seen++;
    return true;
}

/* Fails because a field's text is not one of the column's categories, which are listed if they are few. */
static bool refuse_category(saddle_csv *table, const saddle_csv_field *field,
                            const saddle_column *column)
{
    char known[256] = "";
    size_t shown = 0;
    for (; shown < column->texts && strlen(known) < sizeof known / 2; shown++)
        saddle_append(known, sizeof known, "%s'%.40s'", shown > 0 ? ", " : "",
                      SADDLE_EXCERPT(column->text[shown]));
    if (shown < column->texts)
        saddle_append(known, sizeof known, " and %zu more", column->texts - shown);
    return saddle_parse_fail(
        &table->parse, field->begin,
        "column '%s' had no category '%s' in the training data; it had %s; correct it or leave the "
        "row out",
        SADDLE_EXCERPT(column->name), saddle_excerpt_of(field->begin, field->end).text, known);
}

/* Converts a field to the number that a settled column assigns to it: its value, or the index of its text. */
static bool encode(saddle_csv *table, const saddle_csv_field *field, const saddle_column *column,
                   double *out)
{
    saddle_csv_kind kind = saddle_csv_field_is(field, out);
    saddle_excerpt excerpt = saddle_excerpt_of(field->begin, field->end);
    if (kind == SADDLE_CSV_MISSING) {
        table->imputed += table->data != NULL;
        *out = column->fill;
        return column->filled ||
               saddle_parse_fail(&table->parse, field->begin,
                                 "missing value in column '%s', and the training data have no "
                                 "substitute for it; train with --missing set to impute",
                                 SADDLE_EXCERPT(column->name));
    }
    if (column->kind == SADDLE_COLUMN_NUMBER)
        return kind == SADDLE_CSV_NUMBER ||
               saddle_parse_fail(&table->parse, field->begin,
                                 "'%s' in column '%s' is not a %snumber", excerpt.text,
                                 SADDLE_EXCERPT(column->name),
                                 kind == SADDLE_CSV_WORD ? "" : "finite ");
    char *copy;
    size_t length;
    const char *text = text_of(field, &copy, &length);
    size_t index = text != NULL ? saddle_column_find(column, text, length) : column->texts;
    saddle_free(copy);
    *out = (double)index;
    return index < column->texts || refuse_category(table, field, column);
}

/* Stores a column's number as the label, or in the column's features. */
static void store(saddle_csv *table, const saddle_column *column, double value)
{
    saddle_dataset *data = table->data;
    if (column == &table->columns->label) {
        data->label[table->rows] = value;
        return;
    }
    bool hot = column->kind == SADDLE_COLUMN_TEXT && table->columns->one_hot;
    size_t feature = column->first + (hot ? (size_t)value : 0);
    value = hot ? 1.0 : value;
    if (data->dense != NULL) {
        data->dense[table->rows * data->features + feature] = value;
    } else if (value != 0.0) {
        data->column[table->entries] = (uint32_t)feature;
        data->value[table->entries++] = value;
    }
}

/* Observes, checks or stores the fields of a row. */
static bool take_row(saddle_csv *table)
{
    double value = 0.0;
    for (size_t k = 0; k < columns_read(table); k++) {
        saddle_column *column = column_at(table, k);
        if (!(table->settled ? encode(table, field_at(table, k), column, &value)
                             : observe(table, field_at(table, k), column)))
            return false;
        if (table->data != NULL)
            store(table, column, value);
    }
    if (table->row != NULL)
        table->row[table->rows] = table->parse.begin;
    table->rows++;
    if (table->data != NULL && table->data->dense == NULL)
        table->data->row_start[table->rows] = table->entries;
    return true;
}

static bool is_missing(const saddle_csv_field *field)
{
    double value;
    return saddle_csv_field_is(field, &value) == SADDLE_CSV_MISSING;
}

/* Checks a row for missing values. *keep receives whether the row is used. */
static bool check_missing(saddle_csv *table, bool *keep)
{
    bool impute = table->missing == SADDLE_MISSING_IMPUTE;
    *keep = true;
    for (size_t k = impute ? table->columns->count : 0; *keep && k < columns_read(table); k++) {
        const saddle_csv_field *field = field_at(table, k);
        const char *name = column_at(table, k)->name;
        *keep = !is_missing(field);
        if (!*keep && impute)
            return saddle_parse_fail(
                &table->parse, field->begin,
                "missing label; labels are not filled in: correct it, or set --missing to drop");
        if (!*keep && table->labels_only)
            return saddle_parse_fail(&table->parse, field->begin,
                                     "missing label in column '%s'; fill it in, or set --stratify "
                                     "to no to split without regard to labels%s",
                                     SADDLE_EXCERPT(name), hint(table));
        if (!*keep && table->missing == SADDLE_MISSING_REFUSE)
            return saddle_parse_fail(
                &table->parse, field->begin,
                "missing value in column '%s'; fill it in, or set --missing to drop or impute%s",
                SADDLE_EXCERPT(name), hint(table));
    }
    return true;
}

bool saddle_csv_read_rows(saddle_csv *table)
{
    table->all = 0;
    table->rows = 0;
    for (saddle_csv_line line = before_rows(table); next_row(table, &line); table->all++) {
        bool keep = false;
        if (!check_missing(table, &keep) || (keep && !take_row(table)))
            return false;
    }
    return table->parse.column == 0;
}

/* Returns whether every value of a text column is a number with a decimal comma. */
static bool holds_decimal_commas(const saddle_column *column)
{
    bool all = column->kind == SADDLE_COLUMN_TEXT && !column->forced;
    for (size_t k = 0; all && k < column->texts; k++)
        all = saddle_has_decimal_comma(column->text[k], NULL);
    return all;
}

bool saddle_csv_check_decimals(saddle_csv *table)
{
    size_t bad = 0;
    if (table->settled || table->labels_only || table->separator == ',')
        return true;
    while (bad < columns_read(table) && !holds_decimal_commas(column_at(table, bad)))
        bad++;
    if (bad == columns_read(table))
        return true;
    /* Show the first value of the column. */
    const saddle_csv_field *field = field_at(table, bad);
    saddle_csv_line line = before_rows(table);
    while (next_row(table, &line) && is_missing(field))
        ;
    return saddle_parse_fail(&table->parse, field->begin,
                             "column '%s' has decimal commas, as in '%s'; " WRITE_POINTS
                             "or name the column in --category-columns to treat it as text",
                             SADDLE_EXCERPT(column_at(table, bad)->name),
                             saddle_excerpt_of(field->begin, field->end).text);
}
