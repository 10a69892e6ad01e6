/**
 * @file data.h
 * @brief Data sets: reading, generating, finding, downloading, splitting between agents.
 */
#ifndef SADDLE_DATA_H
#define SADDLE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/** The names of a file's columns, and how their text and missing values become numbers.
 * Reference counted. */
typedef struct saddle_columns saddle_columns;

/** File formats: the choices of the option format. */
typedef enum saddle_data_format {
    SADDLE_FORMAT_AUTO,   /**< Detected from content and name. */
    SADDLE_FORMAT_LIBSVM, /**< LIBSVM text. */
    SADDLE_FORMAT_CSV,    /**< Comma-separated values. */
    SADDLE_FORMAT_IDX,    /**< The format of MNIST. */
    SADDLE_FORMAT_NUMPY   /**< .npy or .npz. */
} saddle_data_format;
/** The bit of a format in a set of formats. */
#define SADDLE_FORMAT_BIT(format) (1U << (format))

/**
 * Labelled rows, either sparse (row_start, column, value) or dense: `dense` is NULL for sparse
 * data, and the three sparse arrays are NULL for dense data.
 */
typedef struct saddle_dataset {
    char *name;              /**< The name it was loaded by. */
    size_t rows;             /**< Number of samples. */
    size_t features;         /**< Number of columns. */
    size_t nonzeros;         /**< Stored entries (sparse) or entries that are not 0 (dense). */
    double *label;           /**< One per row, as read. */
    size_t *row_start;       /**< rows + 1 entries. */
    uint32_t *column;        /**< nonzeros entries, from 0, ascending within a row. */
    double *value;           /**< nonzeros entries; NULL: all are 1. */
    double *dense;           /**< rows * features, row by row. */
    saddle_columns *columns; /**< The file's columns; NULL: features have numbers only. */
    size_t dropped;          /**< Rows of the file that were dropped because a value is missing. */
    size_t imputed;          /**< Missing values that were filled in. */
    bool unlabelled;         /**< The CSV file has no label column: every label is 0. */
    unsigned formats;        /**< SADDLE_FORMAT_BIT() of each file it was read from; 0: no file. */
    bool borrowed; /**< The arrays of features belong to the caller; name and labels do not. */
} saddle_dataset;

/** Returns the value of a stored entry of sparse data. */
static inline double saddle_entry_value(const saddle_dataset *data, size_t entry)
{
    return data->value != NULL ? data->value[entry] : 1.0;
}

/** Whether arrays are copied, or borrowed for the lifetime of what is made from them. */
typedef enum saddle_ownership { SADDLE_COPY, SADDLE_BORROW } saddle_ownership;

/**
 * Makes a data set from dense rows in memory.
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
 * Makes a data set from sparse rows in memory, in compressed form (CSR). The other parameters are
 * those of saddle_dataset_from_dense().
 * @param row_start  rows + 1 offsets, from 0, ascending; row r has the entries row_start[r] ..
 *                   row_start[r + 1] - 1.
 * @param column     the column of every entry, below `features`, ascending within a row; may be
 *                   NULL if there are no entries.
 * @param value      the value of every entry, finite. NULL: all are 1.
 */
SADDLE_API saddle_status saddle_dataset_from_csr(saddle_dataset **out, size_t rows, size_t features,
                                                 const size_t *row_start, const uint32_t *column,
                                                 const double *value, const double *label,
                                                 saddle_ownership ownership, saddle_error *error);
/** A column of data in memory, or its label, as a user knows it. */
typedef struct saddle_column_names {
    const char *name; /**< NULL: columns have numbers only. */
    /** Its categories, different and in ascending order of bytes; NULL: a column of numbers. */
    const char *const *text;
    size_t texts; /**< Their number. */
} saddle_column_names;

/**
 * Names the columns of a data set in memory, so that options can name them and models keep them. A
 * column of numbers is one feature; one of categories is a feature of 0 and 1 for each of them.
 * @param count   the number of columns.
 * @param column  their names, all different or all NULL; copied.
 * @param label   the label's; its categories became the labels 0, 1, ... NULL: no name, and numbers.
 */
SADDLE_API saddle_status saddle_dataset_name_columns(saddle_dataset *data, size_t count,
                                                     const saddle_column_names *column,
                                                     const saddle_column_names *label,
                                                     saddle_error *error);

/** Whether a CSV file begins with a line of names: the choices of the option header. */
typedef enum saddle_csv_header {
    /**
     * It does if some field is a name, and either no field is a number or the next line has a
     * number below a name. A name begins with neither digit, sign nor point, and is not nan, inf,
     * infinity, na, n/a, null, none or ?, in upper or lower case.
     */
    SADDLE_HEADER_AUTO,
    SADDLE_HEADER_YES, /**< It does. */
    SADDLE_HEADER_NO   /**< It does not. */
} saddle_csv_header;

/** How a column of text in a CSV file becomes features; its categories are its different
 * text values. The choices of the option categories. */
typedef enum saddle_categories {
    SADDLE_ONE_HOT, /**< One feature per category of the column: 1 in its rows, else 0. */
    SADDLE_CODES    /**< One feature: the index of the category in ascending order. */
} saddle_categories;

/** How missing values in a CSV file (empty, NA, N/A, NaN, null, ?) are treated: the choices of
 * the option missing. */
typedef enum saddle_missing {
    SADDLE_MISSING_REFUSE, /**< The file is refused, with line and column. */
    SADDLE_MISSING_DROP,   /**< Their rows are dropped. */
    /** They are replaced by the column's mean or most frequent text. Labels must not be missing. */
    SADDLE_MISSING_IMPUTE
} saddle_missing;

/** How to read a file: {.abi = SADDLE_ABI} for the defaults. */
typedef struct saddle_data_options {
    uint32_t abi;              /**< SADDLE_ABI; another number is refused. */
    saddle_data_format format; /**< The format of the file. */
    saddle_csv_header header;  /**< CSV: whether the first line has names. */
    /** CSV and .npy: "first", "last", a number from 1, a header name; "none": every label is 0.
     * NULL: "last". */
    const char *label_column;
    /** IDX, .npy, .npz: path of the label file; "none": every label is 0. NULL: found next to
     * the images by name, in the label column of the .npy, or as y or labels in the .npz. */
    const char *labels;
    saddle_categories categories; /**< CSV: how text becomes numbers. */
    saddle_missing missing;       /**< CSV: how missing values are treated. */
    /** CSV: columns whose numbers are treated as text, by name or number from 1, separated by
     * commas; NULL: none. */
    const char *category_columns;
    const char *drop_columns; /**< CSV: columns to ignore, in the same form; NULL: none. */
    /** CSV: use the names and codings of other data, such as the training data of a model; NULL:
     * those of the file. */
    const saddle_columns *columns;
    /** CSV: the label is the column that has the name of the label in `columns`; a file without
     * such a column has no labels. If the file or `columns` has no names, label_column is used. */
    bool label_by_name;
    size_t features;  /**< LIBSVM: at least this many features; 0: as many as occur. */
    uint64_t threads; /**< Threads for parsing; 0: one per processor. */
} saddle_data_options;

/** The default number of rows of `synthetic`: 6512 for each of 5 agents. */
#define SADDLE_SYNTHETIC_ROWS 32560

/**
 * Loads a data set by name. The name is one of
 * - the path of a file, or a name to look up in `$SADDLE_DATA` and then in the data directory;
 * - a pattern with `%d` or `%02d`: several files, part-0, part-1, ..., whose rows are concatenated;
 * - `synthetic[:ROWS[:FEATURES]]`: the built-in generator of data like a9a.
 *
 * A malformed line is refused with file, line and column. Entries that a LIBSVM file gives as 0
 * count towards the number of features but are not stored.
 *
 * @param[out] out      the data; NULL on failure. Free with saddle_dataset_free().
 * @param      name     see above.
 * @param      options  NULL for the defaults.
 * @param      seed     for the generator.
 */
SADDLE_API saddle_status saddle_dataset_load(saddle_dataset **out, const char *name,
                                             const saddle_data_options *options, uint64_t seed,
                                             saddle_error *error);
/** Frees a data set. NULL is allowed. */
SADDLE_API void saddle_dataset_free(saddle_dataset *data);

/**
 * Generates data that resemble a9a: one-hot groups, about 14 of 123 features nonzero, about 24%
 * positive labels that depend on the features. `features` 0 means 123.
 */
SADDLE_API saddle_status saddle_dataset_generate(saddle_dataset **out, size_t rows, size_t features,
                                                 uint64_t seed, saddle_error *error);
/** Writes LIBSVM text whose numbers read back equal. The file appears complete or not at all. */
SADDLE_API saddle_status saddle_dataset_save_libsvm(const saddle_dataset *data, const char *path,
                                                    saddle_error *error);
/** Writes a data set in the format that the path's ending says: .npz (X and y; sparse rows as
 * SciPy saves them, with y), .csv (a line of names, then features and label), otherwise LIBSVM
 * text. The file appears complete or not at all. */
SADDLE_API saddle_status saddle_dataset_save(const saddle_dataset *data, const char *path,
                                             saddle_error *error);
/** Copies the given rows, in the given order, into a new data set. If at most a quarter of dense
 * data is not 0, the copy is sparse. */
SADDLE_API saddle_status saddle_dataset_select(saddle_dataset **out, const saddle_dataset *data,
                                               const size_t *row, size_t count,
                                               saddle_error *error);
/**
 * Converts labels to +1 and -1 in place. `positive` lists the labels that count as positive, such
 * as "1", "5-9" or "2,4,7". NULL or "auto" means the larger of two distinct labels, or 5-9 for the
 * ten digits; other labels are refused.
 */
SADDLE_API saddle_status saddle_dataset_make_binary(saddle_dataset *data, const char *positive,
                                                    saddle_error *error);
/**
 * Stores in `*out` the list of positive labels: `positive` itself, or what "auto" chooses on these
 * data. With it other rows of the same kind can be labelled in the same way. Free it with free().
 */
SADDLE_API saddle_status saddle_dataset_positive(const saddle_dataset *data, const char *positive,
                                                 char **out, saddle_error *error);
/** Converts labels to +1 and -1 in place by such a list. One of the two classes may be absent. */
SADDLE_API saddle_status saddle_dataset_label(saddle_dataset *data, const char *positive,
                                              saddle_error *error);

/**
 * Divides rows into random parts. Each part keeps the order of the data.
 * @param share     the share of every part: above 0; they sum to 1 to within 1e-9.
 * @param parts     their number, at least 1.
 * @param stratify  whether the rows of each label are divided in these shares, to within two rows;
 *                  otherwise labels are ignored.
 * @param[out] out  `parts` data sets, all NULL on failure. Free each with saddle_dataset_free().
 */
SADDLE_API saddle_status saddle_dataset_split(const saddle_dataset *data, const double *share,
                                              size_t parts, bool stratify, uint64_t seed,
                                              saddle_dataset **out, saddle_error *error);

/** The labels that a problem needs. Data sets hold them as in the file; an instance converts
 * them. */
typedef enum saddle_label_kind {
    SADDLE_LABELS_SIGNS,   /**< Two classes: +1 for the labels of the option positive, else -1. */
    SADDLE_LABELS_CLASSES, /**< Classes 0, 1, ...: indices into the labels of the option classes. */
    SADDLE_LABELS_REAL     /**< Real numbers, as in the file. */
} saddle_label_kind;

/** Returns the number of columns of the file that became features; 0 for NULL. */
SADDLE_API size_t saddle_columns_count(const saddle_columns *columns);
/** Returns a column's name, or its number if the file has no names. Borrowed. */
SADDLE_API const char *saddle_columns_name(const saddle_columns *columns, size_t column);
/** Returns the categories of a column in ascending order, and their number in `*count`; NULL and 0
 * for a column of numbers. Borrowed. */
SADDLE_API const char *const *saddle_columns_texts(const saddle_columns *columns, size_t column,
                                                   size_t *count);
/** Finds the features that a column became: `*count` features from `*first` on. */
SADDLE_API void saddle_columns_features(const saddle_columns *columns, size_t column, size_t *first,
                                        size_t *count);
/** Returns the name of a feature: that of its column, COLUMN=CATEGORY if each category has a feature,
 * or its number from 1 if there are no names. `columns` may be NULL. Free it with free(); NULL if
 * memory is short. */
SADDLE_API char *saddle_columns_feature_name(const saddle_columns *columns, size_t feature);
/** Returns the categories of the label column in ascending order, which became the labels 0, 1, ...;
 * NULL if labels are numbers. Borrowed. */
SADDLE_API const char *const *saddle_columns_label_texts(const saddle_columns *columns,
                                                         size_t *count);
/**
 * Reads a column of all rows: its numbers, or the indices of its categories in ascending
 * order. `which` is the name of a column or of a feature ("color=red"), or the number of a feature
 * from 1. This process must hold all rows.
 * @param[out] out  one number per row.
 */
SADDLE_API saddle_status saddle_dataset_column(const saddle_dataset *data, const char *which,
                                               double *out, saddle_error *error);

/** Which rows each agent holds. Read only. */
typedef struct saddle_partition {
    size_t agents; /**< Number of agents. */
    size_t *start; /**< start[i] .. start[i + 1] bounds agent i's rows in `row`. */
    size_t *row;   /**< Row numbers of the data set. */
} saddle_partition;

/**
 * Splits rows between agents.
 * @param[out] out  NULL on failure. Free with saddle_partition_free().
 * @param text      "iid", "contiguous" (in the order of the rows) or "label-skew:ALPHA".
 * @param samples   NULL or "auto" (all rows, split evenly), "N" (N rows each), or one number per
 *                  agent, separated by commas. With label-skew only a list fixes each agent's
 *                  number of rows: "N" distributes agents * N rows, and "auto" all rows.
 */
SADDLE_API saddle_status saddle_partition_create(saddle_partition **out, const saddle_dataset *data,
                                                 const char *text, size_t agents,
                                                 const char *samples, uint64_t seed,
                                                 saddle_error *error);
/** Frees a partition. NULL is allowed. */
SADDLE_API void saddle_partition_free(saddle_partition *partition);

/** A data set that saddle_data_fetch() knows. */
typedef struct saddle_data_source {
    const char *name;    /**< Such as "a9a". */
    const char *file;    /**< File name in the data directory. */
    const char *url;     /**< Its official address. */
    const char *sha256;  /**< Expected checksum, lower-case hexadecimal. */
    const char *summary; /**< One line. */
    bool verified;       /**< Whether the checksum equals one published with the file. */
} saddle_data_source;

/** Returns all known sources; `*count` receives their number. MNIST is several files of one
 * name. */
SADDLE_API const saddle_data_source *saddle_data_sources(size_t *count);

/** Called during a download; returns true to abort it. `total` is 0 if unknown. */
typedef bool saddle_fetch_progress(void *context, const char *file, uint64_t done, uint64_t total);

/** How to fetch: {.abi = SADDLE_ABI} for the defaults. */
typedef struct saddle_fetch_options {
    uint32_t abi;       /**< SADDLE_ABI; another number is refused. */
    const char *mirror; /**< Download MIRROR/FILE instead of the official address, if not NULL. */
    const char *directory; /**< Where to put the files. NULL: saddle_data_directory(). */
    const char *accept;    /**< A SHA-256 to accept instead of the expected one. */
    bool force;            /**< Download even if a file with the right checksum is there. */
    saddle_fetch_progress *progress; /**< May be NULL. */
    void *context;                   /**< Passed to progress. */
} saddle_fetch_options;

/**
 * Downloads a data set by name, verifies it, and only then moves it into place. "mnist" also
 * downloads "mnist.t".
 */
SADDLE_API saddle_status saddle_data_fetch(const char *name, const saddle_fetch_options *options,
                                           saddle_error *error);

/** Finds the data directory: `$XDG_DATA_HOME/saddle` or `~/.local/share/saddle`. Free `*out`
 * with free(). */
SADDLE_API saddle_status saddle_data_directory(char **out, saddle_error *error);

/**
 * Finds the file of a name: as a path, in `$SADDLE_DATA`, in the data directory, in that order.
 * Returns SADDLE_BAD_INPUT, with a message that says how to get it, if it is not there. Free
 * `*path` with free().
 */
SADDLE_API saddle_status saddle_data_find(const char *name, char **path, saddle_error *error);
/**
 * Counts the files of a pattern with %d or %02d, where saddle_data_find() looks: one more than the
 * highest number, even if files in between are missing; 0 if there are none.
 */
SADDLE_API saddle_status saddle_data_count_files(const char *pattern, size_t *out,
                                                 saddle_error *error);

#endif
