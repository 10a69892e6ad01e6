/* Creating data sets, for the readers and the generator. */
#ifndef SADDLE_DATA_DATASET_H
#define SADDLE_DATA_DATASET_H

#include <saddle/data.h>

/* Creates a data set with a name, which is copied, and labels to be filled in, but no features yet. NULL
 * when memory is short. */
saddle_dataset *saddle_dataset_new_head(const char *name, size_t rows, size_t features);
/* Creates a sparse data set whose arrays have the given sizes and are to be filled in; only row_start[0]
 * is set, to 0. `unit`: all values are 1 and not stored. `name` is copied. */
saddle_status saddle_dataset_new_sparse(saddle_dataset **out, const char *name, size_t rows,
                                        size_t features, size_t nonzeros, bool unit,
                                        saddle_error *error);
/* Drops the array of values if all of them are 1. */
void saddle_dataset_forget_ones(saddle_dataset *data);
/* Creates a dense data set of zeros, labels included. */
saddle_status saddle_dataset_new_dense(saddle_dataset **out, const char *name, size_t rows,
                                       size_t features, saddle_error *error);
/* Creates a data set that borrows the features of another one and has its own labels. */
saddle_status saddle_dataset_view(saddle_dataset **out, const saddle_dataset *data,
                                  saddle_error *error);
/* Returns whether data of this name are generated: it begins with `synthetic`, and there is no such file. */
bool saddle_data_is_generated(const char *name);
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
 * do not suit the kind. *rule is NULL for real labels; free it with saddle_free().
 */
saddle_status saddle_labels_settle(saddle_label_kind kind, const char *wanted,
                                   const double *classes, size_t count, char **rule,
                                   saddle_error *error);
/* Replaces labels by signs or class indices according to a settled rule. Listed labels need not occur. */
saddle_status saddle_labels_apply(saddle_label_kind kind, const char *rule, saddle_dataset *data,
                                  saddle_error *error);
/* Parses a list of classes: distinct labels in ascending order. Free *out with saddle_free(). */
saddle_status saddle_labels_parse(const char *list, double **out, size_t *count,
                                  saddle_error *error);

#endif
