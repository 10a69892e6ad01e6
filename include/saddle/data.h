/**
 * @file data.h
 * @brief Data sets: reading, making, finding, downloading, splitting between agents.
 */
#ifndef SADDLE_DATA_H
#define SADDLE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Names of a file's columns, and how text and missing values in them become numbers. Reference counted. */
typedef struct saddle_columns saddle_columns;

/** Formats of files: the choices of the option format. */
typedef enum saddle_data_format {
    SADDLE_FORMAT_AUTO, /**< By content and name. */
    SADDLE_FORMAT_LIBSVM,
    SADDLE_FORMAT_CSV,
    SADDLE_FORMAT_IDX,
    SADDLE_FORMAT_NUMPY
} saddle_data_format;
/** The bit of a format in a set of formats. */
#define SADDLE_FORMAT_BIT(format) (1U << (format))

/**
 * Labelled rows, sparse (row_start, column, value) or dense. Exactly one of the two forms is
 * present: `dense` is NULL for sparse data, and the three sparse arrays are NULL for dense data.
 */
typedef struct saddle_dataset {
    char *name;              /**< The text it was loaded by. */
    size_t rows;             /**< Number of samples. */
    size_t features;         /**< Number of columns. */
    size_t nonzeros;         /**< Stored entries (sparse) or entries that are not 0 (dense). */
    double *label;           /**< One per row, as read. */
    size_t *row_start;       /**< rows + 1 entries. */
    uint32_t *column;        /**< nonzeros entries, from 0, ascending within a row. */
    double *value;           /**< nonzeros entries; NULL: all are 1. */
    double *dense;           /**< rows * features, row by row. */
    saddle_columns *columns; /**< Of the file; NULL: features have numbers only. */
    size_t dropped;          /**< Rows of the file that were left out because a value is missing. */
    size_t imputed;          /**< Missing values that were filled in. */
    bool unlabelled;         /**< The CSV file has no label column: every label is 0. */
    unsigned
        formats;   /**< Of the files it was read from: SADDLE_FORMAT_BIT() of each; 0: of none. */
    bool borrowed; /**< The arrays of features belong to the caller; name and labels do not. */
} saddle_dataset;

/** The value of a stored entry of sparse data. */
static inline double saddle_entry_value(const saddle_dataset *data, size_t entry)
{
    return data->value != NULL ? data->value[entry] : 1.0;
}

/** Whether arrays are copied or used where they are, for the lifetime of what is made from them. */
typedef enum saddle_ownership { SADDLE_COPY, SADDLE_BORROW } saddle_ownership;

/**
 * A data set from dense rows in memory.
 * @param[out] out       NULL on failure. Free with saddle_dataset_free().
 * @param      x         rows * features numbers, row by row; all finite.
 * @param      label     one per row, always copied; NULL: every label is 0.
 * @param      ownership SADDLE_BORROW: x must outlive the data set and what is made from it.
 */
SADDLE_API saddle_status saddle_dataset_from_dense(saddle_dataset **out, size_t rows,
                                                   size_t features, const double *x,
                                                   const double *label, saddle_ownership ownership,
                                                   saddle_error *error);
/**
 * A data set from sparse rows in memory, in compressed form (CSR).
 * @param row_start  rows + 1 offsets, from 0, ascending; row r has the entries row_start[r] ..
 *                   row_start[r + 1] - 1.
 * @param column     of every entry, below `features`, ascending within a row; NULL if there are none.
 * @param value      of every entry; all finite. NULL: all are 1.
 */
SADDLE_API saddle_status saddle_dataset_from_csr(saddle_dataset **out, size_t rows, size_t features,
                                                 const size_t *row_start, const uint32_t *column,
                                                 const double *value, const double *label,
                                                 saddle_ownership ownership, saddle_error *error);

/** Whether a CSV file begins with a line of names: the choices of the option header. */
typedef enum saddle_csv_header {
    /**
     * It does if some field is a name (begins with neither digit, sign nor point, and is not nan, inf, infinity,
     * na, n/a, null, none or ?, in upper or lower case), and either none is a number or the next line has a number
     * below a name.
     */
    SADDLE_HEADER_AUTO,
    SADDLE_HEADER_YES,
    SADDLE_HEADER_NO
} saddle_csv_header;

/** What text in a CSV file becomes: the choices of the option categories. */
typedef enum saddle_categories {
    SADDLE_ONE_HOT, /**< A feature for every text of the column, 1 where the row has it and 0 elsewhere. */
    SADDLE_CODES /**< One feature: the index of the text among the column's, in ascending order. */
} saddle_categories;

/** What becomes of missing values in a CSV file (empty, NA, N/A, NaN, null, ?): the choices of the option missing. */
typedef enum saddle_missing {
    SADDLE_MISSING_REFUSE, /**< The file is refused, with line and column. */
    SADDLE_MISSING_DROP,   /**< Their rows are left out. */
    SADDLE_MISSING_IMPUTE /**< The column's mean, or its most frequent text, takes their place; labels
                                must be there. */
} saddle_missing;

/** How to read a file whose format leaves questions open: {.abi = SADDLE_ABI} for the defaults. */
typedef struct saddle_data_options {
    uint32_t abi;              /**< SADDLE_ABI; another number is refused. */
    saddle_data_format format; /**< Of the file. */
    saddle_csv_header header;  /**< CSV: whether there is a line of names. */
    /** CSV and .npy: "first", "last", a number from 0, a header name; "none": every label is 0. NULL: "last". */
    const char *label_column;
    /** IDX, .npy, .npz: path of the label file; "none": every label is 0. NULL: found beside the images by
     * name, in the label column of the .npy, or as y or labels in the .npz. */
    const char *labels;
    saddle_categories categories; /**< CSV: what text becomes. */
    saddle_missing missing;       /**< CSV: what becomes of missing values. */
    const char *category_columns; /**< CSV: columns, by name or number from 0, separated by commas,
                                         whose numbers are to be taken for text; NULL: none. */
    const char *drop_columns;     /**< CSV: columns to leave out, likewise; NULL: none. */
    const saddle_columns
        *columns; /**< CSV: read by the names and codings of other data, such as those that a
                                         model was trained on; NULL: by the file's own. */
    /** CSV: the label is the column with the name that the label has in `columns`; a file without it has no labels.
     * Without names, here or there, label_column counts. */
    bool label_by_name;
    size_t features;  /**< LIBSVM: at least this many features. 0: as many as seen. */
    uint64_t threads; /**< Threads for parsing. 0: all processors. */
} saddle_data_options;

/** Rows of `synthetic` when none are named: as many as 5 agents with 6512 each hold. */
#define SADDLE_SYNTHETIC_ROWS 32560

/**
 * Load a data set by name: the path of a file if one is there; otherwise a name looked up in
 * `$SADDLE_DATA` and then in the data directory; with a `%d` or `%02d` in it, several files, part-0, part-1, ..., whose
 * rows follow each other; or `synthetic[:ROWS[:FEATURES]]`, the built-in
 * a9a-like generator. A malformed line is refused with file, line and column. Entries that LIBSVM
 * text gives as 0 count towards the number of features and are not stored.
 *
 * @param[out] out      the data; NULL on failure. Free with saddle_dataset_free().
 * @param      name     see above.
 * @param      options  NULL for the defaults.
 * @param      seed     for the generator.
 */
SADDLE_API saddle_status saddle_dataset_load(saddle_dataset **out, const char *name,
                                             const saddle_data_options *options, uint64_t seed,
                                             saddle_error *error);
/** Free a data set. NULL is allowed. */
SADDLE_API void saddle_dataset_free(saddle_dataset *data);

/**
 * The a9a-like generator: one-hot groups, about 14 of 123 features set, about 24% positive,
 * learnable. `features` 0 means 123.
 */
SADDLE_API saddle_status saddle_dataset_generate(saddle_dataset **out, size_t rows, size_t features,
                                                 uint64_t seed, saddle_error *error);
/** Write as LIBSVM text, numbers so that they read back equal. Atomic. */
SADDLE_API saddle_status saddle_dataset_save_libsvm(const saddle_dataset *data, const char *path,
                                                    saddle_error *error);
/** Write as the name ends: .npz (X and y, or compressed rows as scipy saves them, with y), .csv (features, then the label,
 * under a line of names), otherwise LIBSVM text. Atomic. */
SADDLE_API saddle_status saddle_dataset_save(const saddle_dataset *data, const char *path,
                                             saddle_error *error);
/** Copy the given rows, in the given order, into a data set of their own. Dense rows of data of which
 * at most a quarter is not 0 are copied in sparse form. */
SADDLE_API saddle_status saddle_dataset_select(saddle_dataset **out, const saddle_dataset *data,
                                               const size_t *row, size_t count,
                                               saddle_error *error);
/**
 * Turn labels into +1 / -1 in place. `positive` lists the labels that count as positive, such as
 * "1" or "5-9" or "2,4,7"; NULL or "auto": with two distinct labels the larger one, with the ten
 * digits 5-9; otherwise refused.
 */
SADDLE_API saddle_status saddle_dataset_make_binary(saddle_dataset *data, const char *positive,
                                                    saddle_error *error);
/**
 * The list that `positive` stands for on these data: itself, or what "auto" chooses. Other rows of the
 * same kind can then be labelled alike. Free the result with free().
 */
SADDLE_API saddle_status saddle_dataset_positive(const saddle_dataset *data, const char *positive,
                                                 char **out, saddle_error *error);
/** Turn labels into +1 / -1 in place by a list as above; one class may be missing from the data. */
SADDLE_API saddle_status saddle_dataset_label(saddle_dataset *data, const char *positive,
                                              saddle_error *error);

/**
 * Divide rows at random into parts, each in the order of the data.
 * @param share     of every part; they sum to 1.
 * @param stratify  every label is divided in the same shares, to within two rows; otherwise rows are, whatever their labels.
 * @param[out] out  `parts` data sets, NULL on failure; free each with saddle_dataset_free().
 */
SADDLE_API saddle_status saddle_dataset_split(const saddle_dataset *data, const double *share,
                                              size_t parts, bool stratify, uint64_t seed,
                                              saddle_dataset **out, saddle_error *error);

/** What labels are to a problem. Data sets hold them as the file's numbers; an instance turns them into this. */
typedef enum saddle_label_kind {
    SADDLE_LABELS_SIGNS, /**< Two classes: +1 for the labels of the option positive, -1 for others. */
    SADDLE_LABELS_CLASSES, /**< Classes: 0, 1, ..., indices into the labels of the option classes. */
    SADDLE_LABELS_REAL     /**< Real numbers, as in the file. */
} saddle_label_kind;

/** How many columns of the file became features; 0 for NULL. */
SADDLE_API size_t saddle_columns_count(const saddle_columns *columns);
/** A column's name, or its number if the file has no names. Borrowed. */
SADDLE_API const char *saddle_columns_name(const saddle_columns *columns, size_t column);
/** The texts of a column in ascending order, `*count` of them; NULL, and 0, for a column of numbers. Borrowed. */
SADDLE_API const char *const *saddle_columns_texts(const saddle_columns *columns, size_t column,
                                                   size_t *count);
/** The features that a column became: from `*first` on, `*count` of them. */
SADDLE_API void saddle_columns_features(const saddle_columns *columns, size_t column, size_t *first,
                                        size_t *count);
/** The texts of the label column in ascending order, which became the labels 0, 1, ...; NULL: labels are numbers. */
SADDLE_API const char *const *saddle_columns_label_texts(const saddle_columns *columns,
                                                         size_t *count);
/**
 * What a column holds in every row: its number, or the index of its text among the column's. `which` is the name of
 * a column, or of a feature ("color=red"), or the number of a feature from 1; all rows must be here.
 * @param[out] out  one number per row.
 */
SADDLE_API saddle_status saddle_dataset_column(const saddle_dataset *data, const char *which,
                                               double *out, saddle_error *error);

/** Which rows each agent holds. Fields are for reading only. */
typedef struct saddle_partition {
    size_t agents; /**< Number of agents. */
    size_t *start; /**< start[i] .. start[i + 1] bounds agent i's rows in `row`. */
    size_t *row;   /**< Row numbers of the data set. */
} saddle_partition;

/**
 * Split rows between agents.
 * @param text     "iid", "contiguous" (agents hold the rows in their order) or "label-skew:ALPHA".
 * @param samples  "auto" or NULL (all rows, the first rows % agents agents with one more than the others), "N" (N each), or one number per agent,
 *                 separated by commas, for unequal sizes. With label-skew only a list fixes each
 *                 agent's size: "N" shares out agents * N rows and "auto" all of them.
 */
SADDLE_API saddle_status saddle_partition_create(saddle_partition **out, const saddle_dataset *data,
                                                 const char *text, size_t agents,
                                                 const char *samples, uint64_t seed,
                                                 saddle_error *error);
/** Free a partition. NULL is allowed. */
SADDLE_API void saddle_partition_free(saddle_partition *partition);

/** A data set that saddle_data_fetch() knows. */
typedef struct saddle_data_source {
    const char *name;    /**< Such as "a9a". */
    const char *file;    /**< File name in the data directory. */
    const char *url;     /**< Its official home. */
    const char *sha256;  /**< Expected sum, lower-case hexadecimal. */
    const char *summary; /**< One line. */
    bool verified;       /**< Whether the sum was compared with one published at the home. */
} saddle_data_source;

/** All known sources; `*count` receives their number. MNIST is several files of one name. */
SADDLE_API const saddle_data_source *saddle_data_sources(size_t *count);

/** Called during a download. Return true to end it. `total` 0: not known. */
typedef bool saddle_fetch_progress(void *context, const char *file, uint64_t done, uint64_t total);

/** How to fetch: {.abi = SADDLE_ABI} for the defaults. */
typedef struct saddle_fetch_options {
    uint32_t abi;          /**< SADDLE_ABI; another number is refused. */
    const char *mirror;    /**< Take files from MIRROR/FILE instead of their home. NULL: home. */
    const char *directory; /**< Where to put them. NULL: saddle_data_directory(). */
    const char *accept;    /**< A SHA-256 to accept in place of the expected one. */
    bool force;            /**< Download even when a file with the right sum is there. */
    saddle_fetch_progress *progress; /**< May be NULL. */
    void *context;                   /**< Handed to progress. */
} saddle_fetch_options;

/**
 * Download a data set by name, verify it, and only then move it into place. "mnist" brings
 * "mnist.t" as well.
 */
SADDLE_API saddle_status saddle_data_fetch(const char *name, const saddle_fetch_options *options,
                                           saddle_error *error);

/** The data directory: `$XDG_DATA_HOME/saddle` or `~/.local/share/saddle`. Free the result with free(). */
SADDLE_API saddle_status saddle_data_directory(char **out, saddle_error *error);

/**
 * Where the file of a name is: the path itself, `$SADDLE_DATA`, the data directory, in that order.
 * SADDLE_BAD_INPUT, with how to get it, when it is nowhere. Free the result with free().
 */
SADDLE_API saddle_status saddle_data_find(const char *name, char **path, saddle_error *error);
/**
 * How many files a name with a %d or %02d stands for: one more than the highest number, which says nothing about those
 * between; 0: there are none. They are looked for where saddle_data_find() does.
 */
SADDLE_API saddle_status saddle_data_count_files(const char *pattern, size_t *out,
                                                 saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
