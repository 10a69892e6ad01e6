#include "draw/trace_costs.h"

#include "core/base.h"

size_t trace_row_at(const saddle_trace *trace, double level)
{
    const double *metric = saddle_trace_column(trace, "metric");
    if (isnan(level))
        return trace->rows > 0 ? trace->rows - 1 : 0;
    return metric != NULL ? saddle_levels_reached(metric, sizeof *metric, trace->rows, level)
                          : trace->rows;
}

double trace_value_at(const saddle_trace *trace, const char *column, double level)
{
    const double *value = saddle_trace_column(trace, column);
    size_t row = trace_row_at(trace, level);
    return value != NULL && row < trace->rows ? value[row] : (double)NAN;
}

void trace_summary_add(trace_summary *s, double value)
{
    if (isnan(value))
        return;
    s->least = s->count == 0 ? value : fmin(s->least, value);
    s->largest = s->count == 0 ? value : fmax(s->largest, value);
    s->sum += value;
    s->count++;
}

double trace_summary_mean(const trace_summary *s)
{
    return s->count > 0 ? s->sum / (double)s->count : (double)NAN;
}

void trace_range_add(saddle_metric_range *range, const saddle_trace *trace)
{
    const double *metric = saddle_trace_column(trace, "metric");
    if (metric != NULL && trace->rows > 0)
        saddle_metric_range_add(range, metric[0], metric[trace->rows - 1]);
}
