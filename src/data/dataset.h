/* Making data sets, for the readers and the generator. */
#ifndef SADDLE_DATA_DATASET_H
#define SADDLE_DATA_DATASET_H

#include <saddle/data.h>

/* A data set that has a name, which is copied, and labels to be filled, but no features yet. NULL when
 * memory is short. */
saddle_dataset *saddle_dataset_new_head(const char *name, size_t rows, size_t features);
/* A sparse data set with arrays of the given sizes, to be filled: only row_start[0] is set, to 0. `unit`: all values are 1
 * and not stored. `name` is copied. */
saddle_status saddle_dataset_new_sparse(saddle_dataset **out, const char *name, size_t rows,
                                        size_t features, size_t nonzeros, bool unit,
                                        saddle_error *error);
/* Do not keep values that are all 1. */
void saddle_dataset_forget_ones(saddle_dataset *data);
/* A dense data set of zeros; rows that have no label keep a 0. */
saddle_status saddle_dataset_new_dense(saddle_dataset **out, const char *name, size_t rows,
                                       size_t features, saddle_error *error);
/* A data set that borrows the features of another one and has labels of its own. */
saddle_status saddle_dataset_view(saddle_dataset **out, const saddle_dataset *data,
                                  saddle_error *error);
/* Whether data of this name are made on the spot: it begins with `synthetic`, and there is no such file. */
bool saddle_data_is_generated(const char *name);
/* What the columns of a file hold, observed but not settled; NULL for a format without names. */
saddle_status saddle_dataset_scan(saddle_columns **out, const char *name,
                                  const saddle_data_options *options, saddle_error *error);
/* Copy `count` rows from `first` on. */
saddle_status saddle_dataset_range(saddle_dataset **out, const saddle_dataset *data, size_t first,
                                   size_t count, saddle_error *error);
/* saddle_dataset_select() by several threads; 0: as many as are worth it. */
saddle_status saddle_dataset_select_by(saddle_dataset **out, const saddle_dataset *data,
                                       const size_t *row, size_t count, uint64_t threads,
                                       saddle_error *error);
/* Bytes that saddle_dataset_select() takes for its answer. */
double saddle_dataset_select_bytes(const saddle_dataset *data, const size_t *row, size_t count);
/* Refuse compressed rows whose offsets, columns or values are not as saddle_dataset_from_csr() takes them. */
saddle_status saddle_csr_check(size_t rows, size_t features, const size_t *row_start,
                               const uint32_t *column, const double *value, saddle_error *error);
/* Set `nonzeros` of a dense data set from its entries. */
void saddle_dataset_count_nonzeros(saddle_dataset *data);
/* More classes than this are measurements rather than labels. */
#define SADDLE_MOST_CLASSES 1000
/* The distinct labels in ascending order. Free *out with saddle_free(). O(rows log rows). */
saddle_status saddle_dataset_classes(const saddle_dataset *data, double **out, size_t *count,
                                     saddle_error *error);
/* Sort labels and remove repeated ones, in place; how many are left. */
size_t saddle_labels_distinct(double *label, size_t count);
/* Index of a label among the distinct ones; `count`: it is not there. */
size_t saddle_class_of(const double *classes, size_t count, double label);
/*
 * Settles how a problem reads labels, from the distinct ones of all its data: the list of the labels that are
 * positive, or of the classes, that `wanted`, NULL for "auto", stands for. Labels that do not suit the kind
 * are refused. *rule is NULL for real labels; free it with saddle_free().
 */
saddle_status saddle_labels_settle(saddle_label_kind kind, const char *wanted,
                                   const double *classes, size_t count, char **rule,
                                   saddle_error *error);
/* Replaces labels by signs or by indices of classes, as a settled rule says. Not every listed label need occur. */
saddle_status saddle_labels_apply(saddle_label_kind kind, const char *rule, saddle_dataset *data,
                                  saddle_error *error);
/* Reads a list of classes: distinct labels in ascending order. Free *out with saddle_free(). */
saddle_status saddle_labels_parse(const char *list, double **out, size_t *count,
                                  saddle_error *error);

#endif
