/* Making data sets, for the readers and the generator. */
#ifndef SADDLE_DATA_DATASET_H
#define SADDLE_DATA_DATASET_H

#include <saddle/data.h>

/* A sparse data set with arrays of the given sizes, to be filled: only row_start[0] is set, to 0.
 * `name` is copied. */
saddle_status saddle_dataset_new_sparse(saddle_dataset **out, const char *name, size_t rows,
                                        size_t features, size_t nonzeros, saddle_error *error);
/* A dense data set of zeros, its labels to be filled. */
saddle_status saddle_dataset_new_dense(saddle_dataset **out, const char *name, size_t rows,
                                       size_t features, saddle_error *error);
/* Set `nonzeros` of a dense data set from its entries. */
void saddle_dataset_count_nonzeros(saddle_dataset *data);
/* The distinct labels in ascending order. Free *out with saddle_free(). O(rows log rows). */
saddle_status saddle_dataset_classes(const saddle_dataset *data, double **out, size_t *count,
                                     saddle_error *error);
/* Position of a label among the distinct ones. */
size_t saddle_class_of(const double *classes, size_t count, double label);

#endif
