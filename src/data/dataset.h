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
/* Copy `count` rows from `first` on. */
saddle_status saddle_dataset_range(saddle_dataset **out, const saddle_dataset *data, size_t first,
                                   size_t count, saddle_error *error);
/* saddle_dataset_select() by several threads; 0: as many as are worth it. */
saddle_status saddle_dataset_select_by(saddle_dataset **out, const saddle_dataset *data,
                                       const size_t *row, size_t count, uint64_t threads,
                                       saddle_error *error);
/* Bytes that saddle_dataset_select() takes for its answer. */
double saddle_dataset_select_bytes(const saddle_dataset *data, const size_t *row, size_t count);
/* Set `nonzeros` of a dense data set from its entries. */
void saddle_dataset_count_nonzeros(saddle_dataset *data);
/* The distinct labels in ascending order. Free *out with saddle_free(). O(rows log rows). */
saddle_status saddle_dataset_classes(const saddle_dataset *data, double **out, size_t *count,
                                     saddle_error *error);
/* Sort labels and remove repeated ones, in place; how many are left. */
size_t saddle_labels_distinct(double *label, size_t count);
/* Position of a label among the distinct ones. */
size_t saddle_class_of(const double *classes, size_t count, double label);
/* The list that `positive` stands for where these are the distinct labels; see
 * saddle_dataset_positive(). Free *out with saddle_free(). */
saddle_status saddle_labels_rule(const double *classes, size_t count, const char *positive,
                                 char **out, saddle_error *error);
/* Mark the distinct labels that a list names; every item of it must occur and some label must be left,
 * unless `any` is set. */
saddle_status saddle_labels_mark(const char *rule, bool any, const double *classes, size_t count,
                                 bool *positive, saddle_error *error);
/* Turn labels, all of them among the distinct ones, into +1 where marked and -1 elsewhere. */
void saddle_labels_apply(saddle_dataset *data, const double *classes, size_t count,
                         const bool *marked);

#endif
