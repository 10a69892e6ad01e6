/* Creating data sets, for the readers and the generator. */
#pragma once

#include <saddle/data.h>

#include "core/base.h"
#include "files/file.h"

/* Creates a data set with a name, which is copied, and labels to be filled in, but no features yet. NULL
 * when memory is short. */
saddle_dataset *saddle_dataset_new_head(const char *name, size_t rows, size_t features);
/* As the number of entries: features are stored dense. */
#define SADDLE_DENSE SIZE_MAX
/* Creates a data set with a name, which is copied. Dense ones consist of zeros, labels included; those with
 * `nonzeros` entries are to be filled in, and only row_start[0] is set, to 0. `unit`: all values are 1 and
 * not stored. */
saddle_status saddle_dataset_new(saddle_dataset **out, const char *name, size_t rows,
                                 size_t features, size_t nonzeros, bool unit, saddle_error *error);
/* Copies all rows of a data set into another one of the same kind, after its first `row` rows and `entry`
 * entries. */
void saddle_dataset_put(saddle_dataset *to, const saddle_dataset *from, size_t row, size_t entry);
/* Ends the creation of a data set: if it failed, frees what there is of it. Returns the status. */
saddle_status saddle_dataset_finish(saddle_dataset **data, saddle_status status);
/* Drops the array of values if all of them are 1. */
void saddle_dataset_forget_ones(saddle_dataset *data);
/* Creates a data set that borrows the features of another one and has its own labels. */
saddle_status saddle_dataset_view(saddle_dataset **out, const saddle_dataset *data,
                                  saddle_error *error);
/* Fails if data in memory have named features that are not the columns of the training data, in this
 * order. */
saddle_status saddle_dataset_check_names(const saddle_dataset *data, const saddle_columns *of,
                                         saddle_error *error);
/* Returns whether data of this name are generated: it begins with `synthetic`, and there is no such file. */
bool saddle_data_is_generated(const char *name);
/* Returns whether data of this name are generated or those of a9a, so that their columns are known. Other
 * data are the user's. */
bool saddle_data_is_known(const char *name);
/* Observes the columns of a file without settling them; NULL for a format without names. */
saddle_status saddle_dataset_scan(saddle_columns **out, const char *name,
                                  const saddle_data_options *options, saddle_error *error);
/* Copies `count` rows from `first` on. */
saddle_status saddle_dataset_range(saddle_dataset **out, const saddle_dataset *data, size_t first,
                                   size_t count, saddle_error *error);
/* Like saddle_dataset_select(), with a number of threads; 0: as many as pay off. */
saddle_status saddle_dataset_select_by(saddle_dataset **out, const saddle_dataset *data,
                                       const size_t *row, size_t count, uint64_t threads,
                                       saddle_error *error);
/* Returns the bytes that the result of saddle_dataset_select() takes. */
double saddle_dataset_select_bytes(const saddle_dataset *data, const size_t *row, size_t count);
/* Checks offsets, columns and values of compressed rows, as saddle_dataset_from_csr() requires them. */
saddle_status saddle_csr_check(size_t rows, size_t features, const size_t *row_start,
                               const uint32_t *column, const double *value, saddle_error *error);
/* Counts the `nonzeros` of a dense data set. */
void saddle_dataset_count_nonzeros(saddle_dataset *data);
/* Labels with more distinct values than this are measurements, not classes. */
#define SADDLE_MOST_CLASSES 1000
/* Finds the distinct labels, in ascending order. Free *out with saddle_free(). O(rows log rows). */
saddle_status saddle_dataset_classes(const saddle_dataset *data, double **out, size_t *count,
                                     saddle_error *error);
/* Sorts labels in place and removes duplicates; returns how many are left. */
size_t saddle_labels_distinct(double *label, size_t count);
/* Returns the index of a label among the distinct ones, or `count` when it is not there. */
size_t saddle_class_of(const double *classes, size_t count, double label);
/*
 * Determines how a problem reads labels, from the distinct labels of all its data: *rule becomes the
 * list of positive labels, or of classes, that `wanted` (NULL: "auto") stands for. Fails if the labels
 * do not suit the kind. For signs, *known becomes the list of all labels, unless there are more than
 * SADDLE_MOST_CLASSES. Both are NULL otherwise; free them with saddle_free(), even after a failure.
 */
saddle_status saddle_labels_settle(saddle_label_kind kind, const char *wanted,
                                   const double *classes, size_t count, char **rule, char **known,
                                   saddle_error *error);
/* How labels are read. */
typedef struct saddle_label_rule {
    saddle_label_kind kind;
    const char *positive; /* for signs: the positive labels */
    /* For classes: their labels. For signs: all labels of the training; NULL or "auto": not known, and
     * every label that is not positive is negative. */
    const char *classes;
} saddle_label_rule;
/* Replaces labels by signs or class indices according to a settled rule; refuses labels that it does not know.
 * Listed labels need not occur. */
saddle_status saddle_labels_apply(const saddle_label_rule *rule, saddle_dataset *data,
                                  saddle_error *error);
/* Parses a list of classes: distinct labels in ascending order. Free *out with saddle_free(). */
saddle_status saddle_labels_parse(const char *list, double **out, size_t *count,
                                  saddle_error *error);
/* Parses the samples per agent: one number for all agents, or one for each, separated by commas. */
saddle_status saddle_read_samples(size_t *samples, size_t agents, const char *text,
                                  saddle_error *error);

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
 * If data of a name are read from one CSV file, and all paths are names of CSV files, divides its rows and
 * copies them as they are in the file, with its header line, to path[0], path[1], ... Reads labels only, and
 * these only to stratify; refuses options that would change rows. size[p] receives the number of rows of
 * part p, and *copied whether this is the case.
 */
saddle_status saddle_csv_split(const char *name, const saddle_data_options *options,
                               const saddle_division *how, char *const *path, size_t *size,
                               bool *copied, saddle_error *error);
/* Writes a data set to a file that appears when `out` is committed, in the format of saddle_dataset_save().
 * After a failure there is nothing to discard. */
saddle_status saddle_dataset_begin(saddle_output *out, const saddle_dataset *data, const char *path,
                                   saddle_error *error);
SADDLE_RELEASES(saddle_dataset, saddle_dataset_free)
