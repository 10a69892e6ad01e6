/* One data set from several files, such as part-%d.csv: their rows in the order of the files' numbers. */
#include "data/columns.h"
#include "data/dataset.h"
#include "data/readers.h"
#include "files/pattern.h"

/* The files of a data set. */
typedef struct several {
    const char *pattern;
    const saddle_data_options *options;
    size_t count;
    saddle_columns *columns; /* of all files; NULL: none, or given by the options */
    saddle_dataset **file;
} several;

/* Does something with one file. */
typedef saddle_status with_file(several *s, size_t number, const char *name, saddle_error *error);

static saddle_status for_files(several *s, with_file *body, saddle_error *error)
{
    for (size_t k = 0; k < s->count; k++) {
        SADDLE_OWNED char *name = saddle_pattern_name(s->pattern, k);
        SADDLE_TRY(name != NULL ? body(s, k, name, error) : saddle_no_memory(error, "a file name"));
    }
    return SADDLE_OK;
}

/* Adds the observations of a file's columns to those of the files before. */
static saddle_status scan(several *s, size_t number, const char *name, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_columns_free_at) saddle_columns *columns = NULL;
    SADDLE_TRY(saddle_dataset_scan(&columns, name, s->options, error));
    if (number > 0 && (columns == NULL) != (s->columns == NULL))
        return saddle_refuse(
            error, "'%s': some files are CSV and others are not; give files of one format", name);
    if (number == 0)
        s->columns = saddle_taken(&columns);
    saddle_error why = {.message = ""};
    saddle_status status =
        columns != NULL ? saddle_columns_merge(s->columns, columns, &why) : SADDLE_OK;
    return status == SADDLE_OK
               ? SADDLE_OK
               : saddle_fail(error, status, "'%s': %s", SADDLE_EXCERPT(name), why.message);
}

static saddle_status load(several *s, size_t number, const char *name, saddle_error *error)
{
    saddle_data_options options = *s->options;
    bool each = options.labels != NULL && saddle_is_pattern(options.labels);
    SADDLE_OWNED char *labels = each ? saddle_pattern_name(options.labels, number) : NULL;
    if (each && labels == NULL)
        return saddle_no_memory(error, "a file name");
    options.labels = each ? labels : options.labels;
    options.columns = s->columns != NULL ? s->columns : options.columns;
    return saddle_dataset_load(&s->file[number], name, &options, 0, error);
}

/* Fails if the files' rows do not go together; adds up their rows and entries. */
static saddle_status add_up(const several *s, saddle_dataset *sum, saddle_error *error)
{
    const saddle_dataset *first = s->file[0];
    *sum = (saddle_dataset){.features = first->features};
    for (size_t k = 0; k < s->count; k++) {
        const saddle_dataset *one = s->file[k];
        if ((one->dense == NULL) != (first->dense == NULL) ||
            (one->dense != NULL && one->features != first->features))
            return saddle_refuse(
                error,
                "'%s' has %zu feature%s, '%s' %zu, dense or sparse; give files of the same kind",
                first->name, first->features, SADDLE_PLURAL(first->features), one->name,
                one->features);
        sum->features = one->features > sum->features ? one->features : sum->features;
        sum->rows += one->rows;
        sum->nonzeros += one->nonzeros;
        sum->dropped += one->dropped;
        sum->imputed += one->imputed;
        sum->formats |= one->formats;
        sum->unlabelled = sum->unlabelled || one->unlabelled;
    }
    return SADDLE_OK;
}

static saddle_status join(const several *s, saddle_dataset **out, saddle_error *error)
{
    saddle_dataset sum;
    SADDLE_TRY(add_up(s, &sum, error));
    bool dense = s->file[0]->dense != NULL;
    SADDLE_TRY(saddle_dataset_new(out, s->pattern, sum.rows, sum.features,
                                  dense ? SADDLE_DENSE : sum.nonzeros, false, error));
    size_t row = 0;
    size_t entry = 0;
    for (size_t k = 0; k < s->count; k++) {
        saddle_dataset_put(*out, s->file[k], row, entry);
        row += s->file[k]->rows;
        entry += s->file[k]->nonzeros;
    }
    (*out)->nonzeros = sum.nonzeros;
    (*out)->dropped = sum.dropped;
    (*out)->imputed = sum.imputed;
    (*out)->formats = sum.formats;
    (*out)->unlabelled = sum.unlabelled;
    (*out)->columns = saddle_columns_share(s->file[0]->columns);
    if (!dense)
        saddle_dataset_forget_ones(*out);
    return SADDLE_OK;
}

saddle_status saddle_load_several(saddle_dataset **out, const char *pattern,
                                  const saddle_data_options *options, saddle_error *error)
{
    several s = {.pattern = pattern, .options = options};
    SADDLE_TRY(saddle_data_count_files(pattern, &s.count, error));
    if (s.count == 0)
        return saddle_no_first_file(pattern, error);
    if (options->labels != NULL && saddle_is_pattern(options->labels))
        SADDLE_TRY(saddle_pattern_check(options->labels, error));
    s.file = saddle_alloc(s.count, sizeof *s.file);
    saddle_status status = saddle_check_memory(s.file, "the files", error);
    SADDLE_THEN_IF(status, options->columns == NULL, for_files(&s, scan, error));
    SADDLE_THEN_IF(status, s.columns != NULL,
                   saddle_columns_settle(s.columns, options->categories,
                                         options->missing == SADDLE_MISSING_IMPUTE, error));
    SADDLE_THEN(status, for_files(&s, load, error));
    SADDLE_THEN(status, join(&s, out, error));
    for (size_t k = 0; s.file != NULL && k < s.count; k++)
        saddle_dataset_free(s.file[k]);
    saddle_free((void *)s.file);
    saddle_columns_free(s.columns);
    return status;
}
