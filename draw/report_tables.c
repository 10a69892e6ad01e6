/* The tables of a report: outcomes, costs at levels, runs with their data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/outcome_name.h"
#include "core/print.h"
#include "core/text.h"
#include "draw/report_parts.h"
#include "draw/trace_curves.h"
#include "files/file.h"

/* Longer traces are thinned to about so many rows on the page. */
#define MOST_ROWS 4000
/* A longer table of runs is folded. */
#define MOST_UNFOLDED 12

/* ---- costs --------------------------------------------------------------------------------- */

/* Columns of costs, each with a table. */
static const char *const costs[] = {"ifo", "rounds", "bytes", "seconds", "network_seconds"};

/* Whether a trace of the section has a column. */
static bool has_column(const report_section *section, const char *column)
{
    for (size_t k = 0; k < section->traces; k++)
        if (saddle_trace_column(section->trace[k], column) != NULL)
            return true;
    return false;
}

/* The cost of the row from which on the metric stays at or below a level; NaN: never. */
static double cost_at(const saddle_trace *trace, const char *column, double level)
{
    const double *metric = saddle_trace_column(trace, "metric");
    const double *cost = saddle_trace_column(trace, column);
    if (metric == NULL || cost == NULL)
        return (double)NAN;
    size_t row = saddle_levels_reached(metric, sizeof *metric, trace->rows, level);
    return row < trace->rows ? cost[row] : (double)NAN;
}

/* The mean over the runs of a group that reach a level; NaN: none does. */
static double mean_cost(const report_section *section, const trace_groups *g, size_t group,
                        const char *column, double level, size_t *reached)
{
    double sum = 0.0;
    *reached = 0;
    for (size_t k = 0; k < section->traces; k++) {
        double cost = g->of[k] == group ? cost_at(section->trace[k], column, level) : (double)NAN;
        if (!isnan(cost)) {
            sum += cost;
            (*reached)++;
        }
    }
    return *reached > 0 ? sum / (double)*reached : (double)NAN;
}

/* 1234567 as "1 234 567", with blanks that do not break. */
static void write_count(FILE *f, double value)
{
    char digits[SADDLE_REAL_SIZE];
    int length = saddle_snprintf(digits, sizeof digits, "%.0f", value);
    for (int k = 0; k < length && k < (int)sizeof digits - 1; k++) {
        if (k > 0 && (length - k) % 3 == 0)
            fputs("&#8239;", f);
        fputc(digits[k], f);
    }
}

static void write_cost(FILE *f, const char *column, double value)
{
    char text[SADDLE_REAL_SIZE];
    if (strcmp(column, "bytes") == 0)
        fputs(saddle_bytes_text(value, text), f);
    else if (strcmp(column, "seconds") == 0 || strcmp(column, "network_seconds") == 0)
        saddle_fprintf(f, "%.3g", value);
    else
        write_count(f, value);
}

/* "10<sup>-4</sup>" for a decade. */
static void write_level(FILE *f, double level)
{
    double power = level > 0.0 ? round(log10(level)) : 0.0;
    char decade[SADDLE_REAL_SIZE];
    double back = 0.0;
    saddle_snprintf(decade, sizeof decade, "1e%.0f", power);
    if (level > 0.0 && saddle_parse_real(decade, &back) && back <= level && back >= level)
        saddle_fprintf(f, "10<sup>%s%.0f</sup>", power < 0.0 ? "&minus;" : "", fabs(power));
    else
        saddle_fprintf(f, "%.3g", level);
}

static void write_cost_row(FILE *f, const report_section *section, const trace_groups *g,
                           size_t group, const char *column, const double *level, size_t levels)
{
    fputs("<tr><th scope=\"row\">", f);
    report_label(f, &g->group[group], group);
    fputs("</th>", f);
    for (size_t k = 0; k < levels; k++) {
        size_t reached;
        double mine = mean_cost(section, g, group, column, level[k], &reached);
        /* The cheapest of those whose runs all get there, and that pay at all: one without a network
         * has no rounds. */
        bool best = reached == g->group[group].count && g->groups > 1 && mine > 0.0;
        for (size_t other = 0; best && other < g->groups; other++) {
            size_t there;
            double theirs = mean_cost(section, g, other, column, level[k], &there);
            best = there < g->group[other].count || !(theirs < mine && theirs > 0.0);
        }
        saddle_fprintf(f, "<td class=\"number%s%s\">", best ? " best" : "",
                       isnan(mine) ? " never" : "");
        if (isnan(mine))
            fputs("never", f);
        else
            write_cost(f, column, mine);
        if (reached > 0 && reached < g->group[group].count)
            saddle_fprintf(f, " <span class=\"soft\">(%zu of %zu)</span>", reached,
                           g->group[group].count);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

void report_costs(FILE *f, const report_section *section, const trace_groups *g)
{
    double chosen[SADDLE_MOST_LEVELS];
    const double *level = section->level;
    size_t levels = section->levels;
    saddle_metric_range range = {.runs = 0};
    for (size_t k = 0; k < section->traces; k++) {
        const double *metric = saddle_trace_column(section->trace[k], "metric");
        size_t rows = section->trace[k]->rows;
        if (metric != NULL && rows > 0)
            saddle_metric_range_add(&range, metric[0], metric[rows - 1]);
    }
    if (range.runs == 0)
        return;
    if (levels == 0) {
        levels = saddle_levels_choose(&range, chosen);
        level = chosen;
    }
    for (size_t c = 0; c < sizeof costs / sizeof *costs; c++) {
        if (strcmp(costs[c], "network_seconds") == 0 && !has_column(section, costs[c]))
            continue;
        saddle_fprintf(
            f,
            "<div class=\"card cost\" data-x=\"%s\">\n<h3>Cost until the metric stays at a "
            "level: %s</h3>\n"
            "<div class=\"scroll\"><table><thead><tr><th>metric at most</th>",
            costs[c], figure_title(costs[c]));
        for (size_t k = 0; k < levels; k++) {
            fputs("<th class=\"number\">", f);
            write_level(f, level[k]);
            fputs("</th>", f);
        }
        fputs("</tr></thead><tbody>\n", f);
        for (size_t group = 0; group < g->groups; group++)
            if (saddle_trace_column(section->trace[g->group[group].first], "metric") != NULL)
                write_cost_row(f, section, g, group, costs[c], level, levels);
        fputs("</tbody></table></div>\n", f);
        if (section->traces > g->groups)
            fputs("<p class=\"soft\">Means over the runs that stay at the level.</p>\n", f);
        fputs("</div>\n", f);
    }
}

/* ---- outcomes ------------------------------------------------------------------------------ */

static double last_of(const saddle_trace *trace, const char *column)
{
    const double *value = saddle_trace_column(trace, column);
    return value != NULL && trace->rows > 0 ? value[trace->rows - 1] : (double)NAN;
}

/* A cell with the mean of a group's last values, and their range if they are of several runs. */
static void write_outcome(FILE *f, const report_section *section, const trace_groups *g,
                          size_t group, const char *column)
{
    size_t count = 0;
    double sum = 0.0;
    double least = (double)INFINITY;
    double largest = -(double)INFINITY;
    for (size_t k = 0; k < section->traces; k++) {
        double last = g->of[k] == group ? last_of(section->trace[k], column) : (double)NAN;
        if (isnan(last))
            continue;
        count++;
        sum += last;
        least = fmin(least, last);
        largest = fmax(largest, last);
    }
    fputs("<td class=\"number\">", f);
    if (count == 0)
        fputs("&ndash;", f);
    else
        saddle_fprintf(f, "%.4g", sum / (double)count);
    if (count > 1)
        saddle_fprintf(f, " <span class=\"soft\">(%.4g&ndash;%.4g)</span>", least, largest);
    fputs("</td>", f);
}

/* A row for each outcome on some rows. */
static void write_outcomes(FILE *f, const report_section *section, const trace_groups *g,
                           saddle_measured_rows rows)
{
    const saddle_trace *first = section->trace[0];
    for (size_t c = 0; c < first->columns; c++) {
        if (saddle_outcome_name_of(first->column[c]).rows != rows)
            continue;
        report_html(f, "<tr><th scope=\"row\">%s</th>", figure_title(first->column[c]));
        for (size_t group = 0; group < g->groups; group++)
            write_outcome(f, section, g, group, first->column[c]);
        fputs("</tr>\n", f);
    }
}

void report_outcomes(FILE *f, const report_section *section, const trace_groups *g)
{
    const saddle_trace *first = section->trace[0];
    bool any = false;
    for (size_t c = 0; c < first->columns; c++)
        any = any || saddle_outcome_name_of(first->column[c]).rows != SADDLE_ROWS_NONE;
    if (!any)
        return;
    fputs("<div class=\"card outcomes\">\n<h3>Outcomes at the end</h3>\n"
          "<div class=\"scroll\"><table><thead><tr><th>outcome</th>",
          f);
    for (size_t group = 0; group < g->groups; group++) {
        fputs("<th class=\"number\">", f);
        report_label(f, &g->group[group], group);
        fputs("</th>", f);
    }
    fputs("</tr></thead><tbody>\n", f);
    write_outcomes(f, section, g, SADDLE_ROWS_TEST);
    write_outcomes(f, section, g, SADDLE_ROWS_TRAIN);
    fputs("</tbody></table></div>\n", f);
    if (section->traces > g->groups)
        fputs("<p class=\"soft\">Means over the runs (least&ndash;largest).</p>\n", f);
    fputs("</div>\n", f);
}

/* ---- runs and their data ------------------------------------------------------------------- */

/* One character of a data: address. */
static void write_encoded(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     strchr("-_.,:/", c) != NULL;
        if (plain)
            fputc(c, f);
        else
            saddle_fprintf(f, "%%%02X", c);
    }
}

/* The beginning of a long setting. */
static void write_cut(FILE *f, const char *text)
{
    char start[REPORT_MOST_TEXT + 64];
    size_t length = strlen(text);
    if (length > REPORT_MOST_TEXT) {
        saddle_snprintf(start, sizeof start, "%.*s... (%zu bytes)", REPORT_MOST_TEXT, text, length);
        text = start;
    }
    write_encoded(f, text);
}

/* A number that reads back equal; nothing for NaN. */
static void write_number(FILE *f, double value)
{
    char text[SADDLE_REAL_SIZE];
    write_encoded(f, isnan(value) ? "" : saddle_print_real(value, 15, text));
}

/* The trace as a data: address; every stride-th row and the last one. */
static void write_data(FILE *f, const saddle_trace *trace, size_t stride)
{
    fputs("data:text/csv;charset=utf-8,", f);
    write_encoded(f, "# saddle ");
    write_encoded(f, trace->version);
    for (size_t k = 0; k < trace->entries; k++) {
        write_encoded(f, "\n# ");
        write_encoded(f, trace->entry[k].name);
        write_encoded(f, ": ");
        write_cut(f, trace->entry[k].value);
    }
    for (size_t c = 0; c < trace->columns; c++) {
        write_encoded(f, c == 0 ? "\n" : ",");
        write_encoded(f, trace->column[c]);
    }
    for (size_t r = 0; r < trace->rows; r++) {
        if (r % stride != 0 && r + 1 != trace->rows)
            continue;
        for (size_t c = 0; c < trace->columns; c++) {
            write_encoded(f, c == 0 ? "\n" : ",");
            write_number(f, trace->value[c][r]);
        }
    }
    write_encoded(f, "\n");
    for (size_t i = 0; i < trace->agents; i++) {
        char text[SADDLE_REAL_SIZE];
        write_encoded(f, i == 0 ? "# disagreement: " : " ");
        write_encoded(f, saddle_print_real(trace->disagreement[i], 1, text));
    }
    write_encoded(f, trace->agents > 0 ? "\n" : "");
    if (trace->end != NULL) {
        write_encoded(f, "# ended: ");
        write_encoded(f, trace->end);
        write_encoded(f, "\n");
    }
}

/* A cell with the last value of a column. */
static void write_last(FILE *f, const saddle_trace *trace, const char *column, bool count)
{
    double last = last_of(trace, column);
    fputs("<td class=\"number\">", f);
    if (isnan(last))
        fputs("&ndash;", f);
    else if (count)
        write_count(f, last);
    else
        saddle_fprintf(f, "%.3e", last);
    fputs("</td>", f);
}

static void write_run(FILE *f, const saddle_trace *trace, const trace_groups *g, size_t group)
{
    const char *name = saddle_file_name(trace->path);
    size_t stride = trace->rows / MOST_ROWS + 1;
    fputs("<tr><th scope=\"row\">", f);
    report_label(f, &g->group[group], group);
    report_html(f, "</th><td class=\"number\">%s</td>", saddle_trace_setting(trace, "seed"));
    write_last(f, trace, "iteration", true);
    write_last(f, trace, "ifo", true);
    write_last(f, trace, "metric", false);
    report_html(f,
                "<td>%s</td><td class=\"wrap\"><a class=\"data\" data-group=\"%zu\" "
                "download=\"%s\" href=\"",
                trace->end != NULL ? trace->end : "no end recorded (still running, or killed)",
                group, name);
    write_data(f, trace, stride);
    report_html(f, "\">%s</a>", name);
    if (stride > 1)
        saddle_fprintf(f, " <span class=\"soft\">(1 row in %zu)</span>", stride);
    fputs("</td></tr>\n", f);
}

void report_runs(FILE *f, const report_section *section, const trace_groups *g)
{
    bool folded = section->traces > MOST_UNFOLDED;
    if (folded)
        saddle_fprintf(f,
                       "<details class=\"card\"><summary>%zu runs and their data</summary>\n<div "
                       "class=\"scroll\">",
                       section->traces);
    else
        fputs("<div class=\"card\">\n<h3>Runs and their data</h3>\n<div class=\"scroll\">", f);
    fputs("<table><thead><tr><th>run</th><th class=\"number\">seed</th><th "
          "class=\"number\">iterations</th><th class=\"number\">samples</th><th "
          "class=\"number\">last metric</th><th>ended</th><th>data</th></tr></thead><tbody>\n",
          f);
    for (size_t group = 0; group < g->groups; group++)
        for (size_t k = 0; k < section->traces; k++)
            if (g->of[k] == group)
                write_run(f, section->trace[k], g, group);
    fputs(folded ? "</tbody></table></div>\n</details>\n" : "</tbody></table></div>\n</div>\n", f);
}
