/* Dividing rows at random into parts. */
#ifndef SADDLE_DATA_SPLIT_H
#define SADDLE_DATA_SPLIT_H

#include <saddle/data.h>

/* How rows are divided; the members are those of saddle_dataset_split(). */
typedef struct saddle_division {
    const double *share; /* per part; borrowed */
    size_t parts;
    bool stratify;
    uint64_t seed;
} saddle_division;

/*
 * Lists the rows of part 0 in ascending order, then those of part 1, and so on; size[p] receives the
 * number of rows of part p. `row` has an element per row. Fails, naming `name`, if a part gets no row.
 */
saddle_status saddle_split_rows(const saddle_division *how, const char *name, const double *label,
                                size_t rows, size_t *row, size_t *size, saddle_error *error);
/* Returns whether a name has the ending of a CSV file that is written: .csv or .tsv. */
bool saddle_is_csv_name(const char *path);
/*
 * If data of a name are read from one CSV file, divides its rows and copies them as they are in the file,
 * with its header line, to path[0], path[1], ... Reads labels only, and these only to stratify; refuses
 * options that would change rows. size[p] receives the number of rows of part p, and *copied whether the
 * data are such a file.
 */
saddle_status saddle_csv_split(const char *name, const saddle_data_options *options,
                               const saddle_division *how, char *const *path, size_t *size,
                               bool *copied, saddle_error *error);

#endif
