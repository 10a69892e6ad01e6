#include "lab/trace_build.h"

#include <string.h>

#include "core/memory.h"

saddle_trace *saddle_trace_create(const char *path, const char *version, const char *end,
                                  size_t rows)
{
    saddle_trace *trace = saddle_alloc(1, sizeof *trace);
    if (trace == NULL)
        return NULL;
    trace->path = saddle_strdup(path);
    trace->version = saddle_strdup(version);
    trace->end = saddle_strdup(end);
    trace->rows = rows;
    if (trace->path != NULL && trace->version != NULL && (trace->end != NULL || end == NULL))
        return trace;
    saddle_trace_free(trace);
    return NULL;
}

/* Returns an array with one more element, which is zero; NULL if memory is short, and then the
 * array is unchanged. */
static void *lengthen(void *array, size_t count, size_t size)
{
    void *longer = saddle_alloc(count + 1, size);
    if (longer != NULL && count > 0)
        memcpy(longer, array, count * size);
    if (longer != NULL)
        saddle_free(array);
    return longer;
}

bool saddle_trace_add_entry(saddle_trace *trace, const char *name, const char *value)
{
    saddle_trace_entry *list = lengthen(trace->entry, trace->entries, sizeof *list);
    if (list == NULL)
        return false;
    trace->entry = list;
    saddle_trace_entry *entry = &list[trace->entries++];
    entry->name = saddle_strdup(name);
    entry->value = saddle_strdup(value);
    return entry->name != NULL && entry->value != NULL;
}

double *saddle_trace_add_column(saddle_trace *trace, const char *name)
{
    size_t c = trace->columns;
    char **column = lengthen(trace->column, c, sizeof *column);
    trace->column = column != NULL ? column : trace->column;
    double **value = lengthen(trace->value, c, sizeof *value);
    trace->value = value != NULL ? value : trace->value;
    if (column == NULL || value == NULL)
        return NULL;
    trace->columns++;
    column[c] = saddle_strdup(name);
    value[c] = column[c] != NULL ? saddle_alloc_doubles(trace->rows) : NULL;
    if (value[c] != NULL)
        return value[c];
    saddle_free(column[c]);
    trace->columns--;
    return NULL;
}
