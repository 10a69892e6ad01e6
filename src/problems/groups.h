/*
 * Groups of rows, for objectives that depend on the worst group: the rows of each agent, or the
 * rows of all agents that have the same values in some columns.
 */
#pragma once

#include <saddle/problem.h>

#include "core/base.h"

/* The largest number of columns that define groups, and of groups defined by columns. */
enum { SADDLE_GROUP_COLUMNS = 16, SADDLE_MOST_GROUPS = 256 };

/* A column that defines groups: one feature, or the one-hot features of its texts. */
typedef struct saddle_group_column {
    size_t first; /* the first feature, from 0; the label if it equals the number of features */
    size_t count;
} saddle_group_column;

/* The options of group-dro that define its groups. */
extern const saddle_option saddle_groups_option;       /* --groups */
extern const saddle_option saddle_group_values_option; /* --group-values */

typedef struct saddle_groups {
    const saddle_problem_inputs *inputs; /* borrowed */
    bool by_agent;
    bool given;   /* the groups' values were given, not found in the data */
    size_t width; /* number of columns that define groups */
    saddle_group_column column[SADDLE_GROUP_COLUMNS];
    size_t count;       /* number of groups */
    double *key;        /* their values, `width` for each group, in ascending order unless given */
    double *received;   /* the keys of another process */
    uint32_t *all_rows; /* the group of every row of the agents in this process */
    uint32_t **row;     /* the groups of each agent's rows; NULL: agent of another process */
    int64_t *size;      /* number of rows of each group, over all agents */
} saddle_groups;

/* Finds the groups of the rows in this process. `*by` is "agents", or a list, separated by
 * commas, of names of columns or features, numbers of features from 1, and "label"; `values` is
 * a list as returned by saddle_groups_list(), or NULL. A `*by` of
 * NULL is replaced by the default of data that Saddle knows. Free with saddle_groups_free() even after
 * a failure. */
saddle_status saddle_groups_read(saddle_groups *out, const saddle_problem_inputs *inputs,
                                 const char **by, const char *values, saddle_error *error);
/* Adds the groups of the other processes, and counts the rows of all groups. Collective. */
saddle_status saddle_groups_join(saddle_groups *groups, saddle_error *error);
/* Counts the rows of each group at the agents whose weight is not 0. Collective. */
void saddle_groups_count(const saddle_groups *groups, const double *weight, int64_t *rows);
void saddle_groups_free(saddle_groups *groups);

/* Returns the groups' values, such as "0:-1,0:1,1:-1,1:1" or "female:-1,female:1"; NULL when
 * memory is short. */
char *saddle_groups_list(const saddle_groups *groups);
/* Returns the group of a row of any data set; groups->count if it belongs to none. */
size_t saddle_groups_find(const saddle_groups *groups, const saddle_dataset *data, size_t row);

/* Returns the group of an agent's row. */
static inline size_t saddle_group_of(const saddle_groups *groups, size_t agent, size_t row)
{
    return groups->by_agent ? agent : groups->row[agent][row];
}
