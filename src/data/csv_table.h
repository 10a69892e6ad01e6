/* A CSV file that is being read: csv_fields.c finds lines and fields, csv.c determines the layout, csv_rows.c
 * reads the rows. */
#pragma once

#include "data/columns.h"
#include "data/readers.h"

/* ---- lines ---- */

typedef struct saddle_csv_line {
    const char *begin;
    /* Without CR and LF; trailing tabs are kept, because they may separate empty fields. */
    const char *end;
    const char *next; /* where the next line begins; set this to start reading */
    size_t number;    /* from 1; 0 before the first line */
} saddle_csv_line;

/* Moves to the next line that is not blank; false at the end of the file. */
bool saddle_csv_line_next(saddle_csv_line *line, const char *end);
/* Moves to the first line of a file that is not blank; if there is none, the line is empty. */
saddle_csv_line saddle_csv_first_line(const saddle_input *in);
/* Returns the most frequent of comma, semicolon and tab outside quotes; NUL when there is none. In a line with
 * semicolons or tabs, a comma between digits is a decimal comma. */
char saddle_find_separator(const char *line, const char *end);

/* ---- fields ---- */

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

/* ---- the file ---- */

/* What the first line and the options say about a field of every row. */
typedef struct saddle_csv_head {
    char *name;   /* from the header, or its number from 1 */
    bool dropped; /* it is left out */
    bool forced;  /* its numbers are treated as text */
} saddle_csv_head;

/* The layout of a file, and the state of reading it. */
typedef struct saddle_csv {
    const saddle_input *in;
    const char *end;       /* of the file */
    saddle_csv_line first; /* the first line of the file */
    bool header;           /* it holds names */
    char separator;
    size_t fields;
    saddle_csv_head *head;   /* of each field */
    size_t label;            /* index of its field; `fields`: none */
    bool labels_only;        /* no column is a feature: rows are copied as text */
    const char **row;        /* receives where each row begins; NULL: not wanted */
    saddle_csv_field *field; /* of the current row */
    size_t *field_of;        /* per column: index of its field */
    saddle_columns *columns;
    bool settled; /* the columns are known, so read by them */
    saddle_missing missing;
    size_t rows;
    size_t entries;           /* of sparse rows */
    saddle_dataset *data;     /* NULL: only check, count and observe */
    size_t all;               /* rows, including those left out */
    size_t imputed;           /* values that were filled in */
    saddle_parse_error parse; /* the current line, and what is wrong with it */
} saddle_csv;

/* Determines a file's layout and reads its rows once. `labels_only`: see the member. Close the table even
 * after a failure. */
saddle_status saddle_csv_open(saddle_csv *table, const saddle_input *in,
                              const saddle_data_options *options, bool labels_only,
                              saddle_error *error);
void saddle_csv_close(saddle_csv *table);
/* Reads all rows: observes or checks their values, or stores them if there is a data set. Returns false
 * at the first malformed line. */
bool saddle_csv_read_rows(saddle_csv *table);
/* Returns false if all values of a column that was observed as text are numbers with a decimal comma, which
 * are hardly meant as categories. Does not check files separated by commas, where 1,5 is two fields. */
bool saddle_csv_check_decimals(saddle_csv *table);
