/* The fields of a CSV line: their positions and kinds. */
#ifndef SADDLE_DATA_CSV_FIELDS_H
#define SADDLE_DATA_CSV_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* A field without the whitespace and quotes around it. */
typedef struct saddle_csv_field {
    const char *begin;
    const char *end;
    const char *after; /* its separator, or the end of the line */
    bool quoted;       /* two double quotes in it stand for one */
} saddle_csv_field;

/* Finds the field at `at`; false when its quotes are malformed, which saddle_csv_field_fault() explains. */
bool saddle_csv_field_next(const char *at, const char *end, char separator, saddle_csv_field *out);
/* Returns what is wrong with a field that saddle_csv_field_next() refused. */
const char *saddle_csv_field_fault(const saddle_csv_field *field);

typedef enum saddle_csv_kind {
    SADDLE_CSV_NUMBER,
    SADDLE_CSV_MISSING, /* empty, NA, N/A, NaN, null, ? */
    SADDLE_CSV_WORD,    /* text */
    SADDLE_CSV_BROKEN   /* a number out of range, an error value such as #DIV/0!, or not UTF-8 */
} saddle_csv_kind;

/* Returns the kind of a field; *value receives a number. */
saddle_csv_kind saddle_csv_field_is(const saddle_csv_field *field, double *value);
/* Returns whether a field can be the name of a column. */
bool saddle_csv_field_is_name(const saddle_csv_field *field);
/* Returns whether [at, end), or a string when `end` is NULL, is a number with a decimal comma, such as
 * -1,5 or 1.234,50. */
bool saddle_has_decimal_comma(const char *at, const char *end);
/* Returns a copy of a field's text; the caller frees it. NULL when memory is short. */
char *saddle_csv_field_text(const saddle_csv_field *field);

/* Returns the end of a line's content. Keeps trailing whitespace, because tabs may separate empty fields. */
const char *saddle_content_end(const char *line, const char *line_end);
bool saddle_is_blank(const char *line, const char *end);
/* Returns the first line that is not blank; adds the lines before it to *number. */
const char *saddle_first_line(const char *at, const char *end, size_t *number);
/* Returns the most frequent of comma, semicolon and tab outside quotes; NUL when there is none. In a line with
 * semicolons or tabs, a comma between digits is a decimal comma. */
char saddle_find_separator(const char *line, const char *end);

#endif
