/*
 * The columns of a file: their names, and how text and missing values in them become numbers.
 *
 * A reader that is given no columns builds them: it observes every value, then settles which features
 * there are. A reader that is given columns reads by them. Data sets made from a file and its saved model
 * share the columns.
 */
#pragma once

#include <saddle/data.h>

#include "core/base.h"

/* A column with more different texts than this holds names, not categories. */
#define SADDLE_MOST_CATEGORIES 10000

typedef enum saddle_column_kind {
    SADDLE_COLUMN_UNKNOWN, /* no value seen yet */
    SADDLE_COLUMN_NUMBER,
    SADDLE_COLUMN_TEXT
} saddle_column_kind;

typedef struct saddle_column {
    char *name;
    saddle_column_kind kind;
    bool forced;     /* treat numbers as text */
    char **text;     /* the distinct texts, ascending */
    size_t *times;   /* how often each was seen */
    size_t texts;    /* their number */
    size_t capacity; /* of both arrays */
    size_t seen;     /* number of values seen */
    double sum;      /* of the numbers seen */
    bool filled;     /* missing values are replaced by `fill` */
    double fill;     /* a number, or the index of a text */
    size_t first;    /* index of the first feature */
    size_t features; /* number of features */
} saddle_column;

struct saddle_columns {
    unsigned references;
    bool named;   /* the file has a header; otherwise names are numbers from 1 */
    bool one_hot; /* each text has its own feature */
    size_t count;
    saddle_column *column;
    saddle_column label;
    size_t features; /* of all columns */
};

/* Creates columns without names, values or features; NULL when memory is short. */
saddle_columns *saddle_columns_new(size_t count);
/* Returns another reference. NULL is allowed. */
saddle_columns *saddle_columns_share(const saddle_columns *columns);
/* Releases a reference. NULL is allowed. */
void saddle_columns_free(saddle_columns *columns);

/* Records a text; false when memory is short or the column already has SADDLE_MOST_CATEGORIES texts. */
bool saddle_column_observe(saddle_column *column, const char *text, size_t length, size_t times);
/* Returns the index of a text, or `texts` when the column does not have it. */
size_t saddle_column_find(const saddle_column *column, const char *text, size_t length);
/* Decides on features, and if wanted on substitutes, from what was observed. Fails if a column has no value. */
saddle_status saddle_columns_settle(saddle_columns *columns, saddle_categories categories,
                                    bool impute, saddle_error *error);
/* Assigns the features to the columns, whose kinds and texts are known. */
void saddle_columns_number(saddle_columns *columns);
/* Adds the observations of another file with the same columns. Messages call that file "it". */
saddle_status saddle_columns_merge(saddle_columns *into, const saddle_columns *from,
                                   saddle_error *error);
/* Returns the column of a name, trying `guess` first; `count` when there is none. */
size_t saddle_columns_find_near(const saddle_columns *columns, const char *name, size_t guess);

/* Marks the features of a list of names of columns or features and of numbers of features from 1. Fails,
 * naming the item, when it does not exist or is already marked. `columns` may be NULL. */
saddle_status saddle_columns_mark(const saddle_columns *columns, size_t features, const char *list,
                                  bool *mark, saddle_error *error);
/* Finds the features that a text of `length` bytes names: all features of a column, or the one of this
 * name or number from 1. `columns` may be NULL. */
saddle_status saddle_columns_features_of(const saddle_columns *columns, size_t features,
                                         const char *which, size_t length, size_t *first,
                                         size_t *count, saddle_error *error);
/* Returns whether a text is the name of the label's column. */
bool saddle_columns_is_label(const saddle_columns *columns, const char *which, size_t length);
/* Finds a feature by name or number from 1. The name of a column of two texts means the second. */
saddle_status saddle_columns_feature(const saddle_columns *columns, size_t features,
                                     const char *which, size_t *out, saddle_error *error);
/* Returns a list of labels with the texts of the label column replaced by their numbers; NULL when
 * memory is short. */
char *saddle_columns_label_list(const saddle_columns *columns, const char *list);

/* Formats columns as lines of text, optionally with the observations. Line ends in names are escaped.
 * NULL when memory is short. */
char *saddle_columns_print(const saddle_columns *columns, bool observed);
/* Parses the output of saddle_columns_print(). The text need not be trusted. */
saddle_status saddle_columns_parse(saddle_columns **out, const char *text, saddle_error *error);
SADDLE_RELEASES(saddle_columns, saddle_columns_free)
