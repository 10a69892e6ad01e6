/*
 * CSV with numbers: fields cut at commas, semicolons or tabs (whichever the first line has most
 * of), optionally quoted ("a ""b"""), optionally under a line of names (saddle_csv_header). One column is the label.
 *
 * Read twice by the same code, first to check and count, then to fill arrays of the right size.
 * Stored dense.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "core/number.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
#include "data/dataset.h"
#include "data/readers.h"

/* How a file is laid out, and how far reading has come. */
struct table {
    const char *begin; /* of the rows, after the header */
    const char *end;
    size_t first_line; /* number of the line at begin, from 1 */
    const char *header;
    const char *header_end; /* NULL: there is no header */
    bool guessed;           /* nobody said whether there is a header */
    char separator;
    size_t fields;
    size_t label; /* which field; as many as there are fields: none */
    size_t rows;
    saddle_dataset *data; /* NULL: only check and count */
    saddle_parse_error failure;
};

/* A field without the blanks and quotes around it. */
struct field {
    const char *begin;
    const char *end;
    const char *after; /* its separator, or the end of the line */
    bool quoted;
};

/* One past the closing quote of the quoted text that starts at `at`; NULL: it is not closed. */
static const char *skip_quoted(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at != '"')
            continue;
        if (at + 1 < end && at[1] == '"')
            at++;
        else
            return at + 1;
    }
    return NULL;
}

/* Blanks around a field, but not a tab that separates. */
static bool is_padding(char c, char separator)
{
    return c == ' ' || (c == '\t' && separator != '\t');
}

/* The field at `at`; false when its quotes are wrong. */
static bool next_field(const char *at, const char *end, char separator, struct field *out)
{
    while (at < end && is_padding(*at, separator))
        at++;
    out->begin = at;
    out->quoted = at < end && *at == '"';
    if (out->quoted) {
        const char *after = skip_quoted(at, end);
        if (after == NULL)
            return false;
        out->begin = at + 1;
        out->end = after - 1;
        while (after < end && is_padding(*after, separator))
            after++;
        out->after = after;
        return after == end || *after == separator;
    }
    const char *after = memchr(at, separator, (size_t)(end - at));
    out->after = out->end = after != NULL ? after : end;
    while (out->end > at && is_padding(out->end[-1], separator))
        out->end--;
    return true;
}

static bool is_number(const struct field *field, double *value)
{
    return field->begin < field->end &&
           saddle_scan_real(field->begin, field->end, value) == field->end;
}

/* Skip signs that names and values may begin with, such as # < ( $ and those between U+2000 and U+2FFF. */
static const char *skip_signs(const char *at, const char *end)
{
    while (at < end && (ispunct_l((unsigned char)*at, saddle_c_locale()) || *at == '\xe2')) {
        if (*at == '_')
            break;
        at += *at == '\xe2' && end - at >= 3 ? 3 : 1;
    }
    return at;
}

/* Whether a field can only be the name of a column: neither a number, in range or not, nor a mark for a
 * missing one, such as #N/A, <NA>, nan(ind) or #DIV/0!, nor a truth value. */
static bool is_name(const struct field *field)
{
    static const char *const not_name[] = {"nan",  "inf", "infinity", "na",   "n/a",
                                           "null", "nil", "none",     "true", "false"};
    const char *begin = skip_signs(field->begin, field->end);
    const char *end = begin;
    while (end < field->end && strchr("(>!?)", *end) == NULL)
        end++;
    size_t length = (size_t)(end - begin);
    bool error_mark = begin < field->end && *field->begin == '#' && strchr("!?", field->end[-1]);
    if (length == 0 || error_mark || strchr("0123456789+-.", *field->begin) != NULL ||
        strchr("0123456789", *begin) != NULL)
        return false;
    for (size_t k = 0; k < sizeof not_name / sizeof *not_name; k++)
        if (strlen(not_name[k]) == length &&
            strncasecmp_l(begin, not_name[k], length, saddle_c_locale()) == 0)
            return false;
    return true;
}

/* End of a line's content; blanks stay, as trailing tabs may separate empty fields. */
static const char *content_end(const char *line, const char *line_end)
{
    return line_end > line && line_end[-1] == '\r' ? line_end - 1 : line_end;
}

static bool is_blank(const char *line, const char *end)
{
    return saddle_skip_blanks(line, end) == end;
}

/* The first line that is not blank; its number is counted into *number. */
static const char *first_line(const char *at, const char *end, size_t *number)
{
    *number = 1;
    while (at < end) {
        const char *line_end = saddle_line_end(at, end);
        if (!is_blank(at, content_end(at, line_end)))
            return at;
        at = line_end < end ? line_end + 1 : end;
        ++*number;
    }
    return end;
}

/* The most frequent of comma, semicolon and tab outside quotes; NUL when there is none. */
static char most_frequent_separator(const char *line, const char *end)
{
    static const char separator[] = ",;\t";
    size_t count[3] = {0};
    bool quoted = false;
    for (const char *at = line; at < end; at++) {
        quoted ^= *at == '"';
        for (size_t k = 0; !quoted && k < 3; k++)
            count[k] += *at == separator[k];
    }
    size_t best = 0;
    for (size_t k = 1; k < 3; k++)
        if (count[k] > count[best])
            best = k;
    return (char)(count[best] > 0 ? separator[best] : '\0');
}

bool saddle_looks_like_csv(const saddle_input *in)
{
    size_t number = 0;
    const char *end = in->bytes + in->size;
    const char *line = first_line(saddle_skip_mark(in), end, &number);
    const char *line_end = saddle_line_end(line, end);
    line_end = saddle_trim_end(line, line_end);
    const char *comment = memchr(line, '#', (size_t)(line_end - line));
    line_end = saddle_trim_end(line, comment != NULL ? comment : line_end);
    return memchr(line, ':', (size_t)(line_end - line)) == NULL &&
           most_frequent_separator(line, line_end) != '\0';
}

/* Read one row; `line` to `end` without the line's end. */
static bool read_row(struct table *table, const char *line, const char *end)
{
    double *row =
        table->data != NULL ? table->data->dense + table->rows * table->data->features : NULL;
    const char *at = line;
    for (size_t k = 0;; k++) {
        struct field field;
        double value = 0.0;
        if (k == table->fields)
            return saddle_parse_fail(&table->failure, line, at,
                                     "more fields than the %zu of the first line", table->fields);
        if (!next_field(at, end, table->separator, &field))
            return saddle_parse_fail(&table->failure, line, field.begin,
                                     "quotes are not closed before the next separator");
        if (field.begin == field.end)
            return saddle_parse_fail(&table->failure, line, field.begin,
                                     "missing value in field %zu; fill it in", k + 1);
        if (!is_number(&field, &value))
            return saddle_parse_fail(&table->failure, line, field.begin,
                                     "'%s' is not a finite number%s",
                                     saddle_excerpt_of(field.begin, field.end).text,
                                     line == table->begin && table->guessed
                                         ? "; if this line holds names, set header to yes"
                                         : "");
        if (table->data != NULL && k == table->label)
            table->data->label[table->rows] = value;
        else if (row != NULL)
            row[k - (k > table->label)] = value;
        if (field.after == end) {
            table->rows++;
            return k + 1 == table->fields ||
                   saddle_parse_fail(&table->failure, line, end,
                                     "%zu fields; the first line has %zu", k + 1, table->fields);
        }
        at = field.after + 1;
    }
}

static bool read_rows(struct table *table)
{
    size_t number = table->first_line;
    table->rows = 0;
    for (const char *line = table->begin; line < table->end; number++) {
        const char *line_end = saddle_line_end(line, table->end);
        const char *end = content_end(line, line_end);
        if (!is_blank(line, end) && !read_row(table, line, end)) {
            table->failure.line = number;
            return false;
        }
        line = line_end < table->end ? line_end + 1 : table->end;
    }
    return true;
}

/* Count the fields of the first line and see whether it is one of names. */
static bool read_layout(struct table *table, const char *line, const char *end,
                        saddle_csv_header header)
{
    bool named = header == SADDLE_HEADER_YES;
    table->separator = most_frequent_separator(line, end);
    if (table->separator == '\0')
        table->separator = ',';
    const char *at = line;
    for (;;) {
        struct field field;
        if (!next_field(at, end, table->separator, &field))
            return saddle_parse_fail(&table->failure, line, field.begin,
                                     "quotes are not closed before the next separator");
        table->fields++;
        named = named || (header == SADDLE_HEADER_AUTO && is_name(&field));
        if (field.after == end)
            break;
        at = field.after + 1;
    }
    table->header = line;
    table->header_end = named ? end : NULL;
    table->guessed = header == SADDLE_HEADER_AUTO && !named;
    return table->fields >= 2 ||
           saddle_parse_fail(&table->failure, line, line,
                             "one field only; a label and at least one feature are needed, "
                             "separated by ',', ';' or tab");
}

/* Whether a header field says `name`; a doubled quote stands for one. */
static bool field_is(const struct field *field, const char *name)
{
    const char *at = field->begin;
    for (; at < field->end && *name != '\0'; at++, name++) {
        if (*at != *name)
            return false;
        if (field->quoted && *at == '"')
            at++;
    }
    return at == field->end && *name == '\0';
}

/* How many columns have a name; *out receives the last of them. */
static size_t find_name(const struct table *table, const char *name, size_t *out)
{
    const char *at = table->header;
    size_t found = 0;
    for (size_t k = 0; table->header_end != NULL && k < table->fields; k++) {
        struct field field;
        if (!next_field(at, table->header_end, table->separator, &field))
            break;
        if (field_is(&field, name)) {
            *out = k;
            found++;
        }
        at = field.after + 1;
    }
    return found;
}

static saddle_status choose_label_by_name(struct table *table, const char *wanted, const char *path,
                                          saddle_error *error)
{
    size_t found = find_name(table, wanted, &table->label);
    if (found == 1)
        return SADDLE_OK;
    if (table->header_end == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "label column '%s': '%s' has no line of names; use first, last, none or "
                           "a number from 0",
                           wanted, path);
    return saddle_fail(
        error, SADDLE_BAD_INPUT,
        found == 0 ? "label column '%s' is not in '%s', whose names are: %s"
                   : "label column '%s' is in '%s' more than once; give its number, from 0, "
                     "among: %s",
        wanted, path, saddle_excerpt_of(table->header, table->header_end).text);
}

static saddle_status choose_label(struct table *table, const char *wanted, const char *path,
                                  saddle_error *error)
{
    uint64_t number = 0;
    if (wanted == NULL || strcmp(wanted, "last") == 0) {
        table->label = table->fields - 1;
    } else if (strcmp(wanted, "first") == 0) {
        table->label = 0;
    } else if (strcmp(wanted, "none") == 0) {
        table->label = table->fields;
    } else if (saddle_parse_integer(wanted, &number)) {
        if (number >= table->fields)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "label column %llu of '%s' does not exist; columns are 0 to %zu",
                               (unsigned long long)number, path, table->fields - 1);
        table->label = (size_t)number;
    } else {
        return choose_label_by_name(table, wanted, path, error);
    }
    return SADDLE_OK;
}

saddle_status saddle_read_csv(saddle_dataset **out, const char *name, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error)
{
    *out = NULL;
    struct table table = {.end = in->bytes + in->size};
    const char *line = first_line(saddle_skip_mark(in), table.end, &table.first_line);
    const char *line_end = saddle_line_end(line, table.end);
    table.begin = line;
    table.failure.line = table.first_line;
    if (line == table.end)
        return saddle_fail(error, SADDLE_BAD_INPUT, "'%s' holds no rows", in->path);
    if (!read_layout(&table, line, content_end(line, line_end), options->header))
        return saddle_parse_refuse(&table.failure, in->path, error);
    if (table.header_end != NULL) {
        table.begin = line_end < table.end ? line_end + 1 : table.end;
        table.first_line++;
    }
    SADDLE_TRY(choose_label(&table, options->label_column, in->path, error));
    if (!read_rows(&table))
        return saddle_parse_refuse(&table.failure, in->path, error);
    if (table.rows == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT, "'%s' holds names but no rows", in->path);
    saddle_status status = saddle_dataset_new_dense(
        &table.data, name, table.rows, table.fields - (table.label < table.fields), error);
    if (table.data == NULL)
        return status;
    read_rows(&table);
    saddle_dataset_count_nonzeros(table.data);
    *out = table.data;
    return SADDLE_OK;
}
