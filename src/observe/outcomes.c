#include "observe/outcomes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "files/file.h"
#include "observe/trace.h"

/* For messages. */
#define WHAT "the outcomes"

struct saddle_outcome_file {
    saddle_lines lines;
    saddle_outcome_table table; /* its values are `value` */
    size_t rows;
    size_t capacity; /* rows that there is memory for */
    double *value;
};

/* ---- what a problem says --------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return name != NULL && *name != '\0' && name[strspn(name, allowed)] == '\0';
}

static saddle_status check(const saddle_problem *problem, const saddle_outcome *out, size_t count,
                           saddle_error *error)
{
    if (count > SADDLE_MOST_OUTCOMES)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "outcomes() of problem %.200s gives %zu outcomes; at most %d are "
                           "possible",
                           saddle_shown_name(problem->name), count, SADDLE_MOST_OUTCOMES);
    for (size_t k = 0; k < count; k++)
        if (!is_name(out[k].name))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "outcomes() of problem %.200s calls outcome %zu '%.80s'; use "
                               "letters, digits and _",
                               saddle_shown_name(problem->name), k,
                               out[k].name != NULL ? out[k].name : "");
    return SADDLE_OK;
}

saddle_status saddle_outcomes_measure(const saddle_problem *problem, const saddle_dataset *held_out,
                                      const double *x, const double *y, saddle_outcome *out,
                                      size_t *count, saddle_error *error)
{
    saddle_error said = {.message = ""};
    *count = 0;
    saddle_status status =
        saddle_pass_on(error, problem->outcomes(problem, held_out, x, y, out, count, &said), &said,
                       "problem", problem->name);
    SADDLE_THEN(status, check(problem, out, *count, error));
    if (status != SADDLE_OK)
        *count = 0;
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

saddle_status saddle_outcomes_open(saddle_outcome_file **out, const char *path, saddle_error *error)
{
    *out = NULL;
    saddle_outcome_file *file = saddle_alloc(1, sizeof *file);
    if (file == NULL)
        return saddle_no_memory(error, "the outcomes");
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
        saddle_fprintf(f, ",%s_%s", prefix, outcome[k].name);
}

static void write_values(FILE *f, const saddle_outcome *outcome, size_t count)
{
    for (size_t k = 0; k < count; k++)
        saddle_write_field(f, outcome[k].value);
}

static const saddle_outcome *outcome_of(const saddle_result *result, size_t k)
{
    return k < result->train_count ? &result->train[k] : &result->test[k - result->train_count];
}

/* Every row has the columns of the first. */
static saddle_status check_columns(const saddle_outcome_file *file, const saddle_result *result,
                                   saddle_error *error)
{
    const saddle_outcome_table *table = &file->table;
    bool same = file->rows == 0 ||
                (table->train == result->train_count && table->test == result->test_count);
    for (size_t k = 0; same && file->rows > 0 && k < table->train + table->test; k++) {
        const char *name = outcome_of(result, k)->name;
        same = name != NULL && strcmp(table->name[k], name) == 0;
    }
    if (same)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_CHECK_FAILED,
                       "outcomes() of the problem gives other outcomes than at first; give the "
                       "same names in the same order");
}

/* Keep a row for the table. */
static saddle_status remember(saddle_outcome_file *file, const saddle_result *result,
                              saddle_error *error)
{
    size_t width = result->train_count + result->test_count;
    double *value =
        saddle_grow(file->value, file->rows, &file->capacity, width * sizeof *file->value);
    if (value == NULL)
        return saddle_no_memory(error, "the outcomes");
    file->value = value;
    file->table.train = result->train_count;
    file->table.test = result->test_count;
    double *row = value + file->rows * width;
    for (size_t k = 0; k < width; k++) {
        file->table.name[k] = outcome_of(result, k)->name;
        row[k] = outcome_of(result, k)->value;
    }
    file->rows++;
    return SADDLE_OK;
}

saddle_status saddle_outcomes_write(saddle_outcome_file *file, uint64_t iteration,
                                    const saddle_result *result, saddle_error *error)
{
    FILE *f = file->lines.stream;
    SADDLE_TRY(check_columns(file, result, error));
    if (file->rows == 0) {
        saddle_fprintf(f, "# saddle %s\niteration", saddle_version());
        write_names(f, "train", result->train, result->train_count);
        write_names(f, "test", result->test, result->test_count);
        fputc('\n', f);
    }
    saddle_fprintf(f, "%" PRIu64, iteration);
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
        for (size_t k = 0; k < table->train + table->test; k++, value++) {
            saddle_outcome outcome = {.name = table->name[k], .value = *value};
            if (k < table->train)
                result.train[k] = outcome;
            else
                result.test[k - table->train] = outcome;
        }
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
