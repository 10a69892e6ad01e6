/* A CSV file that is being read: csv.c determines its layout, csv_rows.c reads its rows. */
#ifndef SADDLE_DATA_CSV_TABLE_H
#define SADDLE_DATA_CSV_TABLE_H

#include "data/columns.h"
#include "data/csv_fields.h"
#include "data/readers.h"

/* The layout of a file, and the state of reading it. */
typedef struct saddle_csv {
    const char *begin; /* first row, after the header */
    const char *end;
    size_t first_line; /* number of the line at begin, from 1 */
    const char *header;
    const char *header_end; /* NULL: no header */
    char separator;
    size_t fields;
    size_t label;            /* index of its field; `fields`: none */
    bool labels_only;        /* no column is a feature: rows are copied as text */
    size_t *offset;          /* receives where each row begins, from `begin`; NULL: not wanted */
    saddle_csv_field *field; /* of the current row */
    size_t *field_of;        /* per column: index of its field */
    saddle_columns *columns;
    bool settled; /* the columns are known, so read by them */
    saddle_missing missing;
    size_t rows;
    size_t entries;       /* of sparse rows */
    saddle_dataset *data; /* NULL: only check, count and observe */
    size_t all;           /* rows, including those left out */
    size_t imputed;       /* values that were filled in */
    saddle_parse_error failure;
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

#endif
