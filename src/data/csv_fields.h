/* Fields of a CSV line: where they are and what they can be. */
#ifndef SADDLE_DATA_CSV_FIELDS_H
#define SADDLE_DATA_CSV_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* A field without the blanks and quotes around it. */
typedef struct saddle_field {
    const char *begin;
    const char *end;
    const char *after; /* its separator, or the end of the line */
    bool quoted;       /* a doubled quote in it stands for one */
} saddle_field;

/* The field at `at`; false when its quotes are wrong. */
bool saddle_field_next(const char *at, const char *end, char separator, saddle_field *out);

typedef enum saddle_field_kind {
    SADDLE_FIELD_NUMBER,
    SADDLE_FIELD_MISSING, /* empty, NA, N/A, NaN, null, ? */
    SADDLE_FIELD_WORD,    /* text */
    SADDLE_FIELD_BROKEN /* a number out of range, an error mark such as #DIV/0!, or bytes that are no text */
} saddle_field_kind;

/* What a field is; *value receives a number. */
saddle_field_kind saddle_field_is(const saddle_field *field, double *value);
/* Whether a field can be the name of a column. */
bool saddle_field_is_name(const saddle_field *field);
/* The text of a field, to be freed; NULL when memory is short. */
char *saddle_field_text(const saddle_field *field);

/* End of a line's content; blanks stay, as trailing tabs may separate empty fields. */
const char *saddle_content_end(const char *line, const char *line_end);
bool saddle_is_blank(const char *line, const char *end);
/* The first line that is not blank; its number is counted into *number. */
const char *saddle_first_line(const char *at, const char *end, size_t *number);
/* The most frequent of comma, semicolon and tab outside quotes; NUL when there is none. */
char saddle_find_separator(const char *line, const char *end);

#endif
