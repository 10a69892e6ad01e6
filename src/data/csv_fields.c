/* The lines and fields of CSV text. */
#include "data/csv_table.h"

#include <ctype.h>
#include <strings.h>

/* Longer texts are not treated as categories. */
#define LONGEST_TEXT 4096

/* Returns the position after the closing quote of the quoted text at `at`; NULL when it is not closed. */
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

/* Returns whether a character is a space or tab around a field, not a tab that separates fields. */
static bool is_padding(char c, char separator)
{
    return c == ' ' || (c == '\t' && separator != '\t');
}

bool saddle_csv_field_next(const char *at, const char *end, char separator, saddle_csv_field *out)
{
    while (at < end && is_padding(*at, separator))
        at++;
    out->begin = at;
    out->after = NULL;
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

const char *saddle_csv_field_fault(const saddle_csv_field *field)
{
    return field->after == NULL ? "the quote that opens here is not closed in this line; fields "
                                  "cannot hold line ends"
                                : "text follows the closing quote of this field; put a separator "
                                  "between, or write a quote inside a field twice";
}

/* Returns whether a field is one of some words, ignoring case. */
static bool is_among(const char *begin, const char *end, const char *const *word, size_t count)
{
    size_t length = (size_t)(end - begin);
    for (size_t k = 0; k < count; k++)
        if (strlen(word[k]) == length &&
            strncasecmp_l(begin, word[k], length, saddle_c_locale()) == 0)
            return true;
    return false;
}

static bool has_digit(const saddle_csv_field *field)
{
    for (const char *at = field->begin; at < field->end; at++)
        if (*at >= '0' && *at <= '9')
            return true;
    return false;
}

/* Returns whether a field that is not a number looks like a malformed number or an error value. */
static bool is_broken(const saddle_csv_field *field)
{
    static const char *const infinite[] = {"inf", "infinity"};
    const char *begin = field->begin;
    const char *end = field->end;
    size_t length = (size_t)(end - begin);
    if (length > LONGEST_TEXT || memchr(begin, '\0', length) != NULL)
        return true;
    if (*begin == '#' && (end[-1] == '!' || end[-1] == '?'))
        return true;
    begin += *begin == '+' || *begin == '-';
    if (is_among(begin, end, infinite, 2))
        return true;
    while (begin < end && strchr("0123456789+-.eE", *begin) != NULL)
        begin++;
    return begin == end && has_digit(field);
}

saddle_csv_kind saddle_csv_field_is(const saddle_csv_field *field, double *value)
{
    static const char *const missing[] = {"na", "n/a", "nan", "null", "?", "#n/a", "<na>"};
    if (field->begin == field->end)
        return SADDLE_CSV_MISSING;
    if (saddle_scan_real(field->begin, field->end, value) == field->end)
        return SADDLE_CSV_NUMBER;
    if (is_among(field->begin, field->end, missing, 7))
        return SADDLE_CSV_MISSING;
    return is_broken(field) ? SADDLE_CSV_BROKEN : SADDLE_CSV_WORD;
}

/* Skips digits; *count receives their number. */
static const char *skip_digits(const char *at, const char *end, size_t *count)
{
    const char *begin = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    *count = (size_t)(at - begin);
    return at;
}

bool saddle_has_decimal_comma(const char *at, const char *end)
{
    size_t whole = 0;
    size_t group = 3;
    size_t decimals = 0;
    end = end != NULL ? end : at + strlen(at);
    at += at < end && (*at == '+' || *at == '-');
    at = skip_digits(at, end, &whole);
    /* thousands: 1.234,50 or 1 234,50 */
    while (whole > 0 && group == 3 && at < end && (*at == '.' || *at == ' '))
        at = skip_digits(at + 1, end, &group);
    if (group != 3 || at == end || *at != ',')
        return false;
    return skip_digits(at + 1, end, &decimals) == end && decimals > 0;
}

char *saddle_csv_field_text(const saddle_csv_field *field)
{
    size_t length = (size_t)(field->end - field->begin);
    char *text = saddle_alloc(length + 1, 1);
    char *to = text;
    for (const char *at = field->begin; text != NULL && at < field->end; at++) {
        *to++ = *at;
        if (field->quoted && *at == '"')
            at++;
    }
    return text;
}

/* Skips punctuation that names and values may begin with, such as # < ( $ and U+2000 to U+2FFF. */
static const char *skip_signs(const char *at, const char *end)
{
    while (at < end && (ispunct_l((unsigned char)*at, saddle_c_locale()) || *at == '\xe2')) {
        if (*at == '_')
            break;
        at += *at == '\xe2' && end - at >= 3 ? 3 : 1;
    }
    return at;
}

/* A name is not a number (even out of range), not a value for missing data such as #N/A, <NA>, nan(ind)
 * or #DIV/0!, and not a truth value. */
bool saddle_csv_field_is_name(const saddle_csv_field *field)
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
    return !is_among(begin, end, not_name, sizeof not_name / sizeof *not_name);
}

bool saddle_csv_line_next(saddle_csv_line *line, const char *end)
{
    while (line->next < end) {
        const char *newline = saddle_line_end(line->next, end);
        line->begin = line->next;
        line->next = newline < end ? newline + 1 : end;
        line->end = newline > line->begin && newline[-1] == '\r' ? newline - 1 : newline;
        line->number++;
        if (saddle_skip_blanks(line->begin, line->end) < line->end)
            return true;
    }
    line->begin = line->end = end;
    return false;
}

saddle_csv_line saddle_csv_first_line(const saddle_input *in)
{
    saddle_csv_line line = {.next = saddle_skip_mark(in)};
    saddle_csv_line_next(&line, in->bytes + in->size);
    return line;
}

/* Whether the character at `at` is a comma between two digits. */
static bool may_be_decimal(const char *line, const char *at, const char *end)
{
    return *at == ',' && at > line && at + 1 < end && at[-1] >= '0' && at[-1] <= '9' &&
           at[1] >= '0' && at[1] <= '9';
}

char saddle_find_separator(const char *line, const char *end)
{
    static const char separator[] = ",;\t";
    size_t count[3] = {0};
    size_t decimal = 0;
    bool quoted = false;
    for (const char *at = line; at < end; at++) {
        quoted ^= *at == '"';
        decimal += !quoted && may_be_decimal(line, at, end);
        for (size_t k = 0; !quoted && k < 3; k++)
            count[k] += *at == separator[k];
    }
    if (count[1] + count[2] > 0)
        count[0] -= decimal; /* as in 1,5;2,5 */
    size_t best = 0;
    for (size_t k = 1; k < 3; k++)
        if (count[k] > count[best])
            best = k;
    return (char)(count[best] > 0 ? separator[best] : '\0');
}

bool saddle_looks_like_csv(const saddle_input *in)
{
    saddle_csv_line line = saddle_csv_first_line(in);
    const char *end = saddle_trim_end(line.begin, line.end);
    const char *comment = memchr(line.begin, '#', (size_t)(end - line.begin));
    end = saddle_trim_end(line.begin, comment != NULL ? comment : end);
    return memchr(line.begin, ':', (size_t)(end - line.begin)) == NULL &&
           saddle_find_separator(line.begin, end) != '\0';
}
