/* A CSV file that is being read: csv.c finds out how it is laid out, csv_rows.c reads its rows. */
#ifndef SADDLE_DATA_CSV_TABLE_H
#define SADDLE_DATA_CSV_TABLE_H

#include "data/columns.h"
#include "data/csv_fields.h"
#include "data/readers.h"

/* How a file is laid out, and how far reading has come. */
typedef struct saddle_csv {
    const char *begin; /* of the rows, after the header */
    const char *end;
    size_t first_line; /* number of the line at begin, from 1 */
    const char *header;
    const char *header_end; /* NULL: there is no header */
    bool guessed;           /* no option said whether there is a header */
    char separator;
    size_t fields;
    size_t label;        /* which field; as many as there are fields: none */
    saddle_field *field; /* of the row at hand */
    size_t *field_of;    /* every column's field */
    saddle_columns *columns;
    bool settled; /* the columns are known: read by them */
    saddle_missing missing;
    size_t rows;
    size_t entries;       /* of sparse rows */
    saddle_dataset *data; /* NULL: only check, count and observe */
    size_t all;           /* rows, with those that are left out */
    size_t imputed;       /* values that were filled in */
    saddle_parse_error failure;
} saddle_csv;

/* Read all rows: observe or check their values, or store them if there is a data set. False at the first line that
 * is malformed. */
bool saddle_csv_read_rows(saddle_csv *table);

#endif
