/*
 * Groups of rows, for objectives that look at the worst of them: each agent's rows, or the rows that have
 * the same values in some columns, wherever they are.
 */
#ifndef SADDLE_PROBLEMS_GROUPS_H
#define SADDLE_PROBLEMS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include <saddle/problem.h>

/* The most columns that tell groups apart, and the most groups by columns. */
enum { SADDLE_GROUP_COLUMNS = 16, SADDLE_MOST_GROUPS = 256 };

/* A column that tells groups apart: a feature, or the features of its texts. */
typedef struct saddle_group_column {
    size_t first; /* from 0; the number of features stands for the label */
    size_t count;
} saddle_group_column;

typedef struct saddle_groups {
    const saddle_problem_inputs *inputs; /* borrowed */
    bool by_agent;
    bool given;   /* the groups' values were given, not found */
    size_t width; /* columns that tell groups apart */
    saddle_group_column column[SADDLE_GROUP_COLUMNS];
    size_t count;       /* groups */
    double *key;        /* their values, `width` of each, in ascending order unless given */
    double *received;   /* those of another process */
    uint32_t *all_rows; /* the group of every row of the agents here */
    uint32_t **row;     /* where each agent's begin; NULL: elsewhere */
    int64_t *size;      /* rows of each group, over all agents */
} saddle_groups;

/* Reads which groups there are among the rows here. `by` is "agents", or names of columns or features, numbers of
 * features from 1, and "label", separated by commas; `values` is a list as saddle_groups_list() gives, or NULL. Free with
 * saddle_groups_free() even after a failure. */
saddle_status saddle_groups_read(saddle_groups *out, const saddle_problem_inputs *inputs,
                                 const char *by, const char *values, saddle_error *error);
/* Completes the groups by those of the other processes, and counts their rows. Collective. */
saddle_status saddle_groups_join(saddle_groups *groups, saddle_error *error);
void saddle_groups_free(saddle_groups *groups);

/* The groups' values, such as "0:-1,0:1,1:-1,1:1" or "female:-1,female:1"; NULL when memory is short. */
char *saddle_groups_list(const saddle_groups *groups);
/* The group of a row of any data set; groups->count: none. */
size_t saddle_groups_find(const saddle_groups *groups, const saddle_dataset *data, size_t row);

/* The group of an agent's row. */
static inline size_t saddle_group_of(const saddle_groups *groups, size_t agent, size_t row)
{
    return groups->by_agent ? agent : groups->row[agent][row];
}

#endif
