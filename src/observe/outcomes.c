#include "observe/outcomes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"

struct saddle_outcome_file {
    FILE *stream;
    char *path;
    bool headed;
};

static saddle_status failed(const saddle_outcome_file *file, saddle_error *error)
{
    return saddle_fail(error, SADDLE_IO, "cannot write the outcomes '%s': %s; is the disk full?",
                       file->path, strerror(errno != 0 ? errno : EIO));
}

saddle_status saddle_outcomes_open(saddle_outcome_file **out, const char *path, saddle_error *error)
{
    *out = NULL;
    saddle_outcome_file *file = saddle_alloc(1, sizeof *file);
    char *copy = saddle_strdup(path);
    if (file == NULL || copy == NULL) {
        saddle_free(file);
        saddle_free(copy);
        saddle_no_memory(error, "the outcomes");
        return SADDLE_NO_MEMORY;
    }
    file->path = copy;
    file->stream = fopen(path, "we");
    if (file->stream == NULL) {
        saddle_status status =
            saddle_fail(error, SADDLE_BAD_INPUT,
                        "--outcomes: cannot write '%s': %s; give a path in a directory that exists "
                        "and can be written to",
                        path, strerror(errno));
        saddle_free(copy);
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
    for (size_t k = 0; k < count; k++) {
        if (isnan(outcome[k].value))
            fputc(',', f);
        else
            fprintf(f, ",%.17g", outcome[k].value);
    }
}

saddle_status saddle_outcomes_write(saddle_outcome_file *file, uint64_t iteration,
                                    const saddle_result *result, saddle_error *error)
{
    FILE *f = file->stream;
    errno = 0;
    if (!file->headed) {
        fprintf(f, "# saddle %s\niteration", saddle_version());
        write_names(f, "train", result->train, result->train_count);
        write_names(f, "test", result->test, result->test_count);
        fputc('\n', f);
        file->headed = true;
    }
    fprintf(f, "%" PRIu64, iteration);
    write_values(f, result->train, result->train_count);
    write_values(f, result->test, result->test_count);
    fputc('\n', f);
    return fflush(f) == 0 && !ferror(f) ? SADDLE_OK : failed(file, error);
}

saddle_status saddle_outcomes_close(saddle_outcome_file *file, saddle_error *error)
{
    if (file == NULL)
        return SADDLE_OK;
    errno = 0;
    bool bad = ferror(file->stream) != 0;
    bad = fclose(file->stream) != 0 || bad;
    saddle_status status = bad ? failed(file, error) : SADDLE_OK;
    saddle_free(file->path);
    saddle_free(file);
    return status;
}
