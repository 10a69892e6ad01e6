#include "lab/trace_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/print.h"

saddle_status saddle_trace_list_read(trace_list *out, const char *const *path, size_t count,
                                     saddle_error *error)
{
    *out = (trace_list){.trace = calloc(count + 1, sizeof(saddle_trace *))};
    if (out->trace == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %zu traces", count);
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < count; k++) {
        status = saddle_trace_read(&out->trace[k], path[k], error);
        out->count += status == SADDLE_OK;
    }
    if (status != SADDLE_OK)
        saddle_trace_list_release(out);
    return status;
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
    size_t used = 0;
    for (size_t c = 0; c < trace->columns && used + 80 < sizeof names; c++)
        used += (size_t)saddle_snprintf(names + used, sizeof names - used, "%s%.60s",
                                        c == 0 ? "" : ", ", trace->column[c]);
    return saddle_fail(error, SADDLE_BAD_INPUT, "'%.200s' has no column %s; it has %s", trace->path,
                       column, names);
}
