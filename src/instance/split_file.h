/* Dividing a file of rows as `saddle data split` does. */
#ifndef SADDLE_INSTANCE_SPLIT_FILE_H
#define SADDLE_INSTANCE_SPLIT_FILE_H

#include <saddle/plan.h>

#include "data/split.h"

/*
 * If the data of a name are one CSV file and all paths end in .csv or .tsv, divides the rows and copies
 * them as they are in the file, with its header line; the plan says how to read the labels. size[p]
 * receives the number of rows of part p, and *copied whether this is the case.
 */
saddle_status saddle_split_csv_file(const saddle_plan *plan, const char *name,
                                    const saddle_division *how, char *const *path, size_t *size,
                                    bool *copied, saddle_error *error);

#endif
