/* What a run leaves: rows, means and copies; saving them as NumPy files. */
#include "run/result.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/npz.h"
#include "core/status.h"

const char *saddle_stop_text(saddle_stop stop)
{
    switch (stop) {
    case SADDLE_STOP_ITERATIONS:
        return "all iterations done";
    case SADDLE_STOP_TOLERANCE:
        return "metric at or below the tolerance";
    case SADDLE_STOP_IFO:
        return "IFO budget spent";
    case SADDLE_STOP_ROUNDS:
        return "budget of rounds spent";
    case SADDLE_STOP_SECONDS:
        return "time budget spent";
    case SADDLE_STOP_INTERRUPTED:
        return "interrupted";
    case SADDLE_STOP_DIVERGED:
        return "diverged";
    }
    return "unknown";
}

saddle_status saddle_result_create(saddle_result **out, const saddle_problem *problem,
                                   saddle_error *error)
{
    *out = NULL;
    saddle_result *result = saddle_alloc(1, sizeof *result);
    if (result == NULL)
        return saddle_no_memory(error, "the result");
    result->agents = problem->agents;
    result->x_dim = problem->x_dim;
    result->y_dim = problem->y_dim;
    result->x_mean = saddle_alloc_doubles(problem->x_dim);
    result->y_mean = saddle_alloc_doubles(problem->y_dim);
    result->x = saddle_alloc(problem->agents, problem->x_dim * sizeof(double));
    result->y = saddle_alloc(problem->agents, problem->y_dim * sizeof(double));
    if (result->x_mean == NULL || result->y_mean == NULL || result->x == NULL ||
        result->y == NULL) {
        saddle_result_free(result);
        return saddle_no_memory(error, "the result");
    }
    *out = result;
    return SADDLE_OK;
}

void saddle_result_free(saddle_result *result)
{
    if (result == NULL)
        return;
    saddle_free(result->rows);
    saddle_free(result->x_mean);
    saddle_free(result->y_mean);
    saddle_free(result->x);
    saddle_free(result->y);
    saddle_settings_free(result->settings);
    saddle_free(result);
}

saddle_status saddle_result_append(saddle_result *result, const saddle_row *row,
                                   saddle_error *error)
{
    /* Room doubles whenever the count reaches a power of two. */
    size_t count = result->row_count;
    if ((count & (count - 1)) == 0) {
        saddle_row *rows = saddle_alloc(count == 0 ? 1 : 2 * count, sizeof *rows);
        if (rows == NULL)
            return saddle_no_memory(error, "the trace");
        if (count > 0)
            memcpy(rows, result->rows, count * sizeof *rows);
        saddle_free(result->rows);
        result->rows = rows;
    }
    result->rows[result->row_count++] = *row;
    return SADDLE_OK;
}

/* All settings that have a value, as "name: value" lines; no value has a line end in it. NULL when
 * memory is short. */
static char *settings_text(const saddle_settings *settings)
{
    size_t bytes = 1;
    size_t count = saddle_settings_count(settings);
    for (size_t k = 0; k < count; k++) {
        const char *name = saddle_settings_option(settings, k)->name;
        bytes += strlen(name) + strlen(saddle_settings_text(settings, name)) + sizeof ": \n";
    }
    char *text = saddle_alloc(bytes, 1);
    char *end = text;
    for (size_t k = 0; text != NULL && k < count; k++) {
        const char *name = saddle_settings_option(settings, k)->name;
        const char *value = saddle_settings_text(settings, name);
        if (*value != '\0')
            end += snprintf(end, bytes - (size_t)(end - text), "%s: %s\n", name, value);
    }
    return text;
}

saddle_status saddle_result_save(const saddle_result *result, const char *path, saddle_error *error)
{
    uint64_t iterations = result->rows[result->row_count - 1].iteration;
    uint64_t format = SADDLE_MODEL_FORMAT;
    uint64_t features = result->features;
    char *settings = settings_text(result->settings);
    if (settings == NULL) {
        saddle_no_memory(error, "the model's settings");
        return SADDLE_NO_MEMORY;
    }
    const saddle_array arrays[] = {
        {.name = "format", .kind = SADDLE_ARRAY_WORD, .rank = 0, .data = &format},
        {.name = "xbar",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 1,
         .shape = {result->x_dim},
         .data = result->x_mean},
        {.name = "ybar",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 1,
         .shape = {result->y_dim},
         .data = result->y_mean},
        {.name = "x",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 2,
         .shape = {result->agents, result->x_dim},
         .data = result->x},
        {.name = "y",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 2,
         .shape = {result->agents, result->y_dim},
         .data = result->y},
        {.name = "iteration", .kind = SADDLE_ARRAY_WORD, .rank = 0, .data = &iterations},
        {.name = "problem",
         .kind = SADDLE_ARRAY_TEXT,
         .rank = 0,
         .data = saddle_settings_text(result->settings, "problem")},
        {.name = "algorithm",
         .kind = SADDLE_ARRAY_TEXT,
         .rank = 0,
         .data = saddle_settings_text(result->settings, "algorithm")},
        {.name = "version", .kind = SADDLE_ARRAY_TEXT, .rank = 0, .data = saddle_version()},
        {.name = "features", .kind = SADDLE_ARRAY_WORD, .rank = 0, .data = &features},
        {.name = "settings", .kind = SADDLE_ARRAY_TEXT, .rank = 0, .data = settings},
    };
    size_t count = sizeof arrays / sizeof *arrays;
    size_t length = strlen(path);
    bool record = length >= 4 && strcmp(path + length - 4, ".npy") == 0;
    saddle_status status = record ? saddle_npy_write_record(path, arrays, count, error)
                                  : saddle_npz_write(path, arrays, count, error);
    saddle_free(settings);
    return status;
}
