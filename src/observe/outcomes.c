#include "observe/outcomes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "files/file.h"

/* For messages. */
#define WHAT "the outcomes"

struct saddle_outcome_file {
    saddle_lines lines;
    saddle_outcome_table table; /* its values are `value` */
    size_t rows;
    double *value; /* room for a power of two of rows */
};

saddle_status saddle_outcomes_open(saddle_outcome_file **out, const char *path, saddle_error *error)
{
    *out = NULL;
    saddle_outcome_file *file = saddle_alloc(1, sizeof *file);
    if (file == NULL) {
        saddle_no_memory(error, "the outcomes");
        return SADDLE_NO_MEMORY;
    }
    saddle_status status = saddle_lines_open(&file->lines, path, "outcomes", error);
    if (status != SADDLE_OK) {
        saddle_free(file);
        return status;
    }
    *out = file;
    return SADDLE_OK;
}

static void write_names(FILE *f, const char *prefix, const saddle_outcome *outcome, size_t count)
{
    for (size_t k = 0; k < count; k++)
        fprintf(f, ",%s_%s", prefix, outcome[k].name);
}

/* Nothing where a value is not defined, so that no NaN is taken for a number. */
static void write_values(FILE *f, const saddle_outcome *outcome, size_t count)
{
    char text[SADDLE_REAL_SIZE];
    for (size_t k = 0; k < count; k++)
        fprintf(f, ",%s",
                isnan(outcome[k].value) ? "" : saddle_print_real(outcome[k].value, 17, text));
}

/* Keep a row for the table. */
static saddle_status remember(saddle_outcome_file *file, const saddle_result *result,
                              saddle_error *error)
{
    size_t width = result->train_count + result->test_count;
    size_t count = file->rows;
    /* Room doubles whenever the count reaches a power of two. */
    if ((count & (count - 1)) == 0) {
        double *value = saddle_alloc(count == 0 ? 1 : 2 * count, width * sizeof *value);
        if (value == NULL) {
            saddle_no_memory(error, "the outcomes");
            return SADDLE_NO_MEMORY;
        }
        if (count > 0)
            memcpy(value, file->value, count * width * sizeof *value);
        saddle_free(file->value);
        file->value = value;
    }
    file->table.train = result->train_count;
    file->table.test = result->test_count;
    double *row = file->value + count * width;
    for (size_t k = 0; k < width; k++) {
        bool train = k < result->train_count;
        const saddle_outcome *outcome =
            train ? &result->train[k] : &result->test[k - result->train_count];
        file->table.name[k] = outcome->name;
        row[k] = outcome->value;
    }
    file->rows++;
    return SADDLE_OK;
}

saddle_status saddle_outcomes_write(saddle_outcome_file *file, uint64_t iteration,
                                    const saddle_result *result, saddle_error *error)
{
    FILE *f = file->lines.stream;
    if (file->rows == 0) {
        fprintf(f, "# saddle %s\niteration", saddle_version());
        write_names(f, "train", result->train, result->train_count);
        write_names(f, "test", result->test, result->test_count);
        fputc('\n', f);
    }
    fprintf(f, "%" PRIu64, iteration);
    write_values(f, result->train, result->train_count);
    write_values(f, result->test, result->test_count);
    fputc('\n', f);
    saddle_status status = remember(file, result, error);
    return status == SADDLE_OK ? saddle_lines_flush(&file->lines, WHAT, error) : status;
}

void saddle_outcomes_table(const saddle_outcome_file *file, saddle_outcome_table *out)
{
    *out = file->table;
    out->values = file->value;
}

saddle_status saddle_outcomes_replay(saddle_outcome_file *file, const saddle_outcome_table *table,
                                     const saddle_row *rows, size_t count, saddle_error *error)
{
    saddle_result result = {.train_count = table->train, .test_count = table->test};
    const double *value = table->values;
    saddle_status status = SADDLE_OK;
    for (size_t r = 0; status == SADDLE_OK && r < count; r++) {
        for (size_t k = 0; k < table->train; k++)
            result.train[k] = (saddle_outcome){.name = table->name[k], .value = value[k]};
        value += table->train;
        for (size_t k = 0; k < table->test; k++)
            result.test[k] =
                (saddle_outcome){.name = table->name[table->train + k], .value = value[k]};
        value += table->test;
        status = saddle_outcomes_write(file, rows[r].iteration, &result, error);
    }
    return status;
}

saddle_status saddle_outcomes_close(saddle_outcome_file *file, saddle_error *error)
{
    if (file == NULL)
        return SADDLE_OK;
    saddle_status status = saddle_lines_close(&file->lines, WHAT, error);
    saddle_free(file->value);
    saddle_free(file);
    return status;
}
