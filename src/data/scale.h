/*
 * Scaling of columns: a value a becomes (a - mean) / deviation, with statistics of all agents' rows.
 *
 * Columns that hold only -1, 0 and 1 are never scaled. A column with one value becomes 0: left alone, a
 * large one would dominate all others. Data of which at most a quarter is not 0 are sparse: their columns,
 * and those of models without an intercept, are not centred. Their mean counts as 0, and their deviation is
 * the root mean square of the values that are not 0, which leaves a column of 0 and 1 as it is.
 */
#pragma once

#include <saddle/data.h>
#include <saddle/world.h>

#include "core/base.h"

/* Statistics of the columns of all agents' rows; the arrays have an entry per feature. */
typedef struct saddle_column_statistics {
    size_t features;
    double rows;
    bool sparse;     /* at most a quarter of all values is not 0 */
    bool centred;    /* columns are to be centred */
    double *most;    /* largest value; all arrays are in one block, which begins here */
    double *least;   /* smallest value */
    double *other;   /* 1: has a value besides -1, 0 and 1 */
    double *nonzero; /* number of values that are not 0 */
    double *mean;
    double *deviation;
    double *sums; /* two per feature, for the second pass */
} saddle_column_statistics;

/* Computes statistics of the rows of all agents; `intercept`: the model has one. If there are only values
 * of -1, 0 and 1, there are no statistics: `features` is 0. Free with
 * saddle_statistics_free() even after a failure. Collective; fails in all processes or in none. */
saddle_status saddle_statistics_find(saddle_column_statistics *out, const saddle_world *world,
                                     saddle_dataset *const *shard, size_t features, bool intercept,
                                     saddle_error *error);
void saddle_statistics_free(saddle_column_statistics *statistics);

/* Returns whether the rule `auto` scales: a column that can be scaled, and is not to be `left`, has a
 * deviation outside of [1/5, 5] or, if it is centred, a mean of more than 5 deviations, unless all
 * columns have one unit. Sparse data may have smaller deviations, and a constant above 5 counts as well. */
bool saddle_statistics_uneven(const saddle_column_statistics *s, const bool *left);
/* Returns whether the columns have one unit, as pixels do: there are at least four that are not
 * constant, and at least half of these have the same smallest and largest value, to within a tenth
 * of the range of all. */
bool saddle_statistics_one_unit(const saddle_column_statistics *s);

enum { SADDLE_SCALE_TEXT = 768 };
/* Writes which columns are the reason that saddle_statistics_uneven() holds, and a remedy; "" if there
 * are none. For columns of one unit, it says so if the unit is large. */
void saddle_scale_warning(const saddle_column_statistics *s, const bool *left,
                          const saddle_columns *columns, const char *remedy,
                          char out[SADDLE_SCALE_TEXT]);

/* How columns are scaled; those that are not have mean 0 and deviation 1. Borrowed arrays. */
typedef struct saddle_scaling {
    size_t features;
    const double *mean;
    const double *deviation;
} saddle_scaling;

/* Overwrites the statistics' means and deviations by those that columns are scaled by. Returns the
 * number of columns that are. */
size_t saddle_statistics_settle(saddle_column_statistics *s, const bool *left);
/* Returns the number of columns that are scaled, and in *centred how many of them are centred. */
size_t saddle_scaling_count(const saddle_scaling *scaling, size_t *centred);
/* Scales rows in place, or replaces them by a copy if they are borrowed or must become dense. */
saddle_status saddle_dataset_scale(saddle_dataset **data, const saddle_scaling *scaling,
                                   saddle_error *error);
