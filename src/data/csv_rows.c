/* Reading the rows of a CSV file: values are observed, checked or stored. */
#include "data/csv_table.h"

#include <string.h>

#include "core/memory.h"
#include "core/text.h"

/* Splits a row into fields. [line, end) does not include the line end. */
static bool split_row(saddle_csv *table, const char *line, const char *end)
{
    const char *at = line;
    for (size_t k = 0;; k++) {
        if (k == table->fields)
            return saddle_parse_fail(&table->failure, line, at,
                                     "more fields than the %zu of the first line", table->fields);
        saddle_csv_field *field = &table->field[k];
        if (!saddle_csv_field_next(at, end, table->separator, field))
            return saddle_parse_fail(&table->failure, line, field->begin, "%s",
                                     saddle_csv_field_fault(field));
        if (field->after == end)
            return k + 1 == table->fields ||
                   saddle_parse_fail(&table->failure, line, end,
                                     "%zu fields; the first line has %zu", k + 1, table->fields);
        at = field->after + 1;
    }
}

static size_t text_length(const saddle_csv_field *field, const char *text)
{
    return field->quoted ? strlen(text) : (size_t)(field->end - field->begin);
}

/* Returns advice to append to an error in one of the first rows. */
static const char *hint(const saddle_csv *table)
{
    return table->header_end == NULL && table->all <= 1
               ? "; if the first line holds names, set header to yes"
               : "";
}

/* Records a text in a column, with doubled quotes replaced by single ones. */
static bool observe_text(saddle_csv *table, const char *line, const saddle_csv_field *field,
                         saddle_column *column)
{
    char *copy = field->quoted ? saddle_csv_field_text(field) : NULL;
    const char *text = copy != NULL ? copy : field->begin;
    bool good = (copy != NULL || !field->quoted) &&
                saddle_column_observe(column, text, text_length(field, text), 1);
    saddle_free(copy);
    return good ||
           saddle_parse_fail(&table->failure, line, field->begin,
                             "column '%s' has more than %d categories, or memory "
                             "is short; %s",
                             SADDLE_EXCERPT(column->name), SADDLE_MOST_CATEGORIES,
                             column == &table->columns->label ? "choose another label-column"
                                                              : "leave it out with drop-columns");
}

/* Advice for numbers with a decimal comma. */
#define WRITE_POINTS "write numbers with a decimal point, "

/* Records a value in a column that is not settled yet. */
static bool observe(saddle_csv *table, const char *line, const saddle_csv_field *field,
                    saddle_column *column)
{
    double value = 0.0;
    saddle_csv_kind kind = saddle_csv_field_is(field, &value);
    if (kind == SADDLE_CSV_MISSING)
        return true;
    if (column->forced || (kind == SADDLE_CSV_WORD && column->kind != SADDLE_COLUMN_NUMBER))
        return observe_text(table, line, field, column);
    saddle_excerpt excerpt = saddle_excerpt_of(field->begin, field->end);
    if (kind == SADDLE_CSV_NUMBER && column->kind == SADDLE_COLUMN_TEXT)
        return saddle_parse_fail(
            &table->failure, line, field->begin,
            "column '%s' has text above, such as '%s', and the number %s here; %s"
            "name it in category-columns to treat both as text%s",
            SADDLE_EXCERPT(column->name), SADDLE_EXCERPT(column->text[0]), excerpt.text,
            saddle_has_decimal_comma(column->text[0], NULL) ? WRITE_POINTS "or " : "", hint(table));
    if (kind != SADDLE_CSV_NUMBER)
        return saddle_parse_fail(
            &table->failure, line, field->begin,
            "'%s' in column '%s' is not a %snumber; %sleave the column "
            "out with drop-columns, or name it in category-columns to treat "
            "it as text%s",
            excerpt.text, SADDLE_EXCERPT(column->name), kind == SADDLE_CSV_WORD ? "" : "finite ",
            saddle_has_decimal_comma(field->begin, field->end) ? WRITE_POINTS : "correct it, ",
            hint(table));
    column->kind = SADDLE_COLUMN_NUMBER;
    column->sum += value;
    column->seen++;
    return true;
}

/* Fails because a field's text is not one of the column's categories, which are listed if they are few. */
static bool refuse_category(saddle_csv *table, const char *line, const saddle_csv_field *field,
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
        &table->failure, line, field->begin,
        "column '%s' had no category '%s' in the training data; it had %s; correct it or leave the "
        "row out",
        SADDLE_EXCERPT(column->name), saddle_excerpt_of(field->begin, field->end).text, known);
}

/* Converts a field to the number that a settled column assigns to it: its value, or the index of its text. */
static bool encode(saddle_csv *table, const char *line, const saddle_csv_field *field,
                   const saddle_column *column, double *out)
{
    saddle_csv_kind kind = saddle_csv_field_is(field, out);
    saddle_excerpt excerpt = saddle_excerpt_of(field->begin, field->end);
    if (kind == SADDLE_CSV_MISSING) {
        table->imputed += table->data != NULL;
        *out = column->fill;
        return column->filled ||
               saddle_parse_fail(
                   &table->failure, line, field->begin,
                   "missing value in column '%s', and the training data have no substitute "
                   "for it; train with missing set to impute",
                   SADDLE_EXCERPT(column->name));
    }
    if (column->kind == SADDLE_COLUMN_NUMBER)
        return kind == SADDLE_CSV_NUMBER ||
               saddle_parse_fail(&table->failure, line, field->begin,
                                 "'%s' in column '%s' is not a %snumber", excerpt.text,
                                 SADDLE_EXCERPT(column->name),
                                 kind == SADDLE_CSV_WORD ? "" : "finite ");
    char *copy = field->quoted ? saddle_csv_field_text(field) : NULL;
    const char *text = copy != NULL ? copy : field->begin;
    size_t index = saddle_column_find(column, text, text_length(field, text));
    saddle_free(copy);
    *out = (double)index;
    return index < column->texts || refuse_category(table, line, field, column);
}

/* Stores a column's number in the column's features. */
static void store(saddle_csv *table, const saddle_column *column, double value)
{
    saddle_dataset *data = table->data;
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
static bool take_row(saddle_csv *table, const char *line)
{
    double value = 0.0;
    saddle_columns *columns = table->columns;
    for (size_t k = 0; k < columns->count; k++) {
        const saddle_csv_field *field = &table->field[table->field_of[k]];
        saddle_column *column = &columns->column[k];
        if (!(table->settled ? encode(table, line, field, column, &value)
                             : observe(table, line, field, column)))
            return false;
        if (table->data != NULL)
            store(table, column, value);
    }
    if (table->label < table->fields) {
        const saddle_csv_field *field = &table->field[table->label];
        if (!(table->settled ? encode(table, line, field, &columns->label, &value)
                             : observe(table, line, field, &columns->label)))
            return false;
        if (table->data != NULL)
            table->data->label[table->rows] = value;
    }
    if (table->offset != NULL)
        table->offset[table->rows] = (size_t)(line - table->begin);
    table->rows++;
    if (table->data != NULL && table->data->dense == NULL)
        table->data->row_start[table->rows] = table->entries;
    return true;
}

/* Returns whether a field of the current row has no value. */
static bool is_missing(const saddle_csv *table, size_t field)
{
    double value;
    return saddle_csv_field_is(&table->field[field], &value) == SADDLE_CSV_MISSING;
}

/* Checks a row for missing values. *keep receives whether the row is used. */
static bool check_missing(saddle_csv *table, const char *line, bool *keep)
{
    size_t labels = table->label < table->fields;
    *keep = true;
    if (table->missing == SADDLE_MISSING_IMPUTE && labels > 0 && is_missing(table, table->label))
        return saddle_parse_fail(&table->failure, line, table->field[table->label].begin,
                                 "missing label; labels are not filled in: correct it, or set "
                                 "missing to drop");
    if (table->missing == SADDLE_MISSING_IMPUTE)
        return true;
    for (size_t k = 0; *keep && k < table->columns->count + labels; k++) {
        bool label = k == table->columns->count;
        size_t field = label ? table->label : table->field_of[k];
        *keep = !is_missing(table, field);
        if (!*keep && table->labels_only)
            return saddle_parse_fail(&table->failure, line, table->field[field].begin,
                                     "missing label in column '%s'; fill it in, or set stratify to "
                                     "no to split without regard to labels%s",
                                     SADDLE_EXCERPT(table->columns->label.name), hint(table));
        if (!*keep && table->missing == SADDLE_MISSING_REFUSE)
            return saddle_parse_fail(
                &table->failure, line, table->field[field].begin,
                "missing value in column '%s'; fill it in, or set missing to drop or impute%s",
                SADDLE_EXCERPT(label ? table->columns->label.name : table->columns->column[k].name),
                hint(table));
    }
    return true;
}

bool saddle_csv_read_rows(saddle_csv *table)
{
    size_t number = table->first_line;
    table->all = 0;
    table->rows = 0;
    for (const char *line = table->begin; line < table->end; number++) {
        const char *line_end = saddle_line_end(line, table->end);
        const char *end = saddle_content_end(line, line_end);
        if (!saddle_is_blank(line, end)) {
            bool keep = false;
            if (!split_row(table, line, end) || !check_missing(table, line, &keep) ||
                (keep && !take_row(table, line))) {
                table->failure.line = number;
                return false;
            }
            table->all++;
        }
        line = line_end < table->end ? line_end + 1 : table->end;
    }
    return true;
}

/* Returns whether every value of a text column is a number with a decimal comma. */
static bool holds_decimal_commas(const saddle_column *column)
{
    bool all = column->kind == SADDLE_COLUMN_TEXT && !column->forced;
    for (size_t k = 0; all && k < column->texts; k++)
        all = saddle_has_decimal_comma(column->text[k], NULL);
    return all;
}

/* Fails at the first value of a column, whose field is given, because of its decimal comma. */
static bool refuse_decimal_comma(saddle_csv *table, const saddle_column *column, size_t field)
{
    table->failure.line = table->first_line;
    for (const char *line = table->begin; line < table->end; table->failure.line++) {
        const char *line_end = saddle_line_end(line, table->end);
        const char *end = saddle_content_end(line, line_end);
        if (!saddle_is_blank(line, end) && split_row(table, line, end) && !is_missing(table, field))
            return saddle_parse_fail(
                &table->failure, line, table->field[field].begin,
                "column '%s' has decimal commas, as in '%s'; " WRITE_POINTS
                "or name the column in category-columns to treat it as text",
                SADDLE_EXCERPT(column->name),
                saddle_excerpt_of(table->field[field].begin, table->field[field].end).text);
        line = line_end < table->end ? line_end + 1 : table->end;
    }
    return false;
}

bool saddle_csv_check_decimals(saddle_csv *table)
{
    const saddle_columns *columns = table->columns;
    if (table->settled || table->labels_only || table->separator == ',')
        return true;
    for (size_t k = 0; k < columns->count; k++)
        if (holds_decimal_commas(&columns->column[k]))
            return refuse_decimal_comma(table, &columns->column[k], table->field_of[k]);
    return table->label == table->fields || !holds_decimal_commas(&columns->label) ||
           refuse_decimal_comma(table, &columns->label, table->label);
}
