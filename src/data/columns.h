/*
 * The columns of a file: names, and how text and missing values in them become numbers.
 *
 * A reader that is given none makes them: it observes every value, then settles which features there are. Given some, it
 * reads by them. Columns are shared by the data sets made from a file and by the saved model.
 */
#ifndef SADDLE_DATA_COLUMNS_H
#define SADDLE_DATA_COLUMNS_H

#include <stdbool.h>

#include <saddle/data.h>

/* More texts than this are names rather than categories. */
#define SADDLE_MOST_CATEGORIES 10000

typedef enum saddle_column_kind {
    SADDLE_COLUMN_UNKNOWN, /* no value has been seen */
    SADDLE_COLUMN_NUMBER,
    SADDLE_COLUMN_TEXT
} saddle_column_kind;

typedef struct saddle_column {
    char *name;
    saddle_column_kind kind;
    bool forced;     /* numbers are text, too */
    char **text;     /* different ones, ascending */
    size_t *times;   /* how often each was seen */
    size_t texts;    /* their number */
    size_t capacity; /* of both arrays */
    size_t seen;     /* values */
    double sum;      /* of numbers */
    bool filled;     /* missing values have a substitute: */
    double fill;     /* a number, or the index of a text */
    size_t first;    /* feature */
    size_t features; /* how many */
} saddle_column;

struct saddle_columns {
    unsigned references;
    bool named;   /* the file has names; otherwise they are numbers from 0 */
    bool one_hot; /* texts have a feature each */
    size_t count;
    saddle_column *column;
    saddle_column label;
    size_t features; /* of all columns */
};

/* Columns without names, values or features; NULL when memory is short. */
saddle_columns *saddle_columns_new(size_t count);
/* Another reference; NULL is allowed. */
saddle_columns *saddle_columns_share(const saddle_columns *columns);
/* Drop a reference. NULL is allowed. */
void saddle_columns_free(saddle_columns *columns);

/* Observe a text; false when memory is short or there are SADDLE_MOST_CATEGORIES already. */
bool saddle_column_observe(saddle_column *column, const char *text, size_t length, size_t times);
/* The index of a text; `texts`: it is not there. */
size_t saddle_column_find(const saddle_column *column, const char *text, size_t length);
/* Decide on features, and on substitutes if wanted, from what was observed. A column without a value is refused. */
saddle_status saddle_columns_settle(saddle_columns *columns, saddle_categories categories,
                                    bool impute, saddle_error *error);
/* Add what was observed in another file with the same columns. Messages speak of that file as "it". */
saddle_status saddle_columns_merge(saddle_columns *into, const saddle_columns *from,
                                   saddle_error *error);
/* The column of a name, probably the one at `guess`; `count`: there is none. */
size_t saddle_columns_find_near(const saddle_columns *columns, const char *name, size_t guess);

/* Mark the features of a list of names of columns or features and of numbers of features from 1; false, with the
 * item at fault in an error, when there is none such or it was marked before. `columns` may be NULL. */
saddle_status saddle_columns_mark(const saddle_columns *columns, size_t features, const char *list,
                                  bool *mark, saddle_error *error);
/* The features that a text of `length` letters stands for: those of the column of this name, several if its texts have
 * a feature each, or the one of this name or number from 1. `columns` may be NULL. */
saddle_status saddle_columns_features_of(const saddle_columns *columns, size_t features,
                                         const char *which, size_t length, size_t *first,
                                         size_t *count, saddle_error *error);
/* Whether it is the name of the label's column. */
bool saddle_columns_is_label(const saddle_columns *columns, const char *which, size_t length);
/* The feature of a name or number from 1. The name of a column of two texts stands for the second. */
saddle_status saddle_columns_feature(const saddle_columns *columns, size_t features,
                                     const char *which, size_t *out, saddle_error *error);
/* A list of labels in which texts of the label column are replaced by their numbers; NULL when memory is short. */
char *saddle_columns_label_list(const saddle_columns *columns, const char *list);

/* As lines of text, without line ends in names, with or without what was observed. NULL when memory is short. */
char *saddle_columns_print(const saddle_columns *columns, bool observed);
/* The reverse. The text may come from anywhere. */
saddle_status saddle_columns_parse(saddle_columns **out, const char *text, saddle_error *error);

#endif
