#include "draw/trace_list.h"

#include <dirent.h>
#include <sys/stat.h>

#include "files/file.h"
#include "instance/plan.h"

/* Whether the first line of a file that is not a comment begins with a text. */
static bool begins_with(const char *path, const char *text)
{
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    bool more = true;
    while ((more = getline(&line, &size, f) >= 0) && *line == '#')
        continue;
    bool found = more && strncmp(line, text, strlen(text)) == 0;
    free(line);
    fclose(f);
    return found;
}

/* Whether a file is the summary.csv that `saddle compare` writes beside its traces. */
static bool is_summary(const char *path)
{
    return strcmp(saddle_file_name(path), "summary.csv") == 0 &&
           begins_with(path, "algorithm,seed,level,");
}

static saddle_status read_one(trace_list *out, const char *path, saddle_error *error)
{
    saddle_trace **list = realloc((void *)out->trace, (out->count + 1) * sizeof *list);
    if (list == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the traces");
    out->trace = list;
    SADDLE_TRY(saddle_trace_read(&list[out->count], path, error));
    out->count++;
    return SADDLE_OK;
}

static int is_csv(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0;
}

static saddle_status read_directory(trace_list *out, const char *path, saddle_error *error)
{
    struct dirent **entry = NULL;
    int count = scandir(path, &entry, is_csv, alphasort);
    size_t before = out->count;
    saddle_status status = SADDLE_OK;
    for (int k = 0; k < count; k++) {
        char file[TRACE_PATH];
        saddle_snprintf(file, sizeof file, "%s/%s", path, entry[k]->d_name);
        /* The log of a search begins with its rungs. */
        if (status == SADDLE_OK && !is_summary(file) && !begins_with(file, "rung,"))
            status = read_one(out, file, error);
        free(entry[k]);
    }
    free((void *)entry);
    if (status == SADDLE_OK && out->count == before)
        status = saddle_refuse(error,
                               "there is no trace in '%.300s'; give trace files, or a directory "
                               "with traces that end in .csv",
                               path);
    return status;
}

saddle_status saddle_trace_list_read(trace_list *out, const char *const *path, size_t count,
                                     saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    *out = (trace_list){.count = 0};
    for (size_t k = 0; status == SADDLE_OK && k < count; k++) {
        struct stat file;
        if (stat(path[k], &file) == 0 && S_ISDIR(file.st_mode))
            status = read_directory(out, path[k], error);
        else if (!is_summary(path[k]))
            status = read_one(out, path[k], error);
    }
    if (status == SADDLE_OK && out->count == 0)
        status = saddle_refuse(error,
                               "'%.300s' is the summary of a comparison, not a trace; give the "
                               "traces beside it, or their directory",
                               path[0]);
    if (status != SADDLE_OK)
        saddle_trace_list_release(out);
    return status;
}

const char *saddle_trace_experiment(const saddle_trace *trace, char out[TRACE_EXPERIMENT])
{
    const char *problem = saddle_trace_setting(trace, "problem");
    const char *name = saddle_trace_setting(trace, "data-name");
    const char *data = saddle_trace_setting(trace, "data");
    if (*name == '\0')
        name = strcmp(data, SADDLE_IN_MEMORY) == 0 ? "data in memory" : saddle_file_name(data);
    saddle_snprintf(out, TRACE_EXPERIMENT, "%.80s%s%.120s", problem, *name != '\0' ? " on " : "",
                    name);
    return out;
}

saddle_status saddle_trace_list_check_one(const trace_list *t, saddle_error *error)
{
    char list[700] = "";
    char name[TRACE_EXPERIMENT];
    char other[TRACE_EXPERIMENT];
    size_t experiments = 0;
    for (size_t k = 0; k < t->count; k++) {
        bool first = true;
        size_t count = 0;
        saddle_trace_experiment(t->trace[k], name);
        for (size_t j = 0; j < t->count; j++) {
            bool same = strcmp(saddle_trace_experiment(t->trace[j], other), name) == 0;
            first = first && !(same && j < k);
            count += same;
        }
        if (first)
            saddle_append(list, sizeof list, "%s%s (%zu, such as '%.80s')",
                          experiments++ == 0 ? "" : ", ", name, count, t->trace[k]->path);
    }
    if (experiments < 2)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "these traces are from %zu experiments: %s; draw them separately, or make "
                         "a report, which has a section for each",
                         experiments, list);
}

void saddle_trace_list_release(trace_list *t)
{
    for (size_t k = 0; k < t->count; k++)
        saddle_trace_free(t->trace[k]);
    free((void *)t->trace);
    *t = (trace_list){.count = 0};
}

saddle_status saddle_trace_missing_column(const saddle_trace *trace, const char *column,
                                          saddle_error *error)
{
    char names[512] = "";
    for (size_t c = 0; c < trace->columns && strlen(names) + 80 < sizeof names; c++)
        saddle_append(names, sizeof names, "%s%.60s", c == 0 ? "" : ", ", trace->column[c]);
    return saddle_refuse(error, "'%.200s' has no column %s; it has %s", trace->path, column, names);
}
