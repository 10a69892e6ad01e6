/* The tables of a report: outcomes, costs at levels, runs with their data. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
/* In place of a level: the last row. */
#define AT_END ((double)NAN)

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

/* The cost of the row from which on the metric stays at or below a level, or with NaN the last value; NaN: none. */
static double value_at(const saddle_trace *trace, const char *column, double level)
{
    const double *metric = saddle_trace_column(trace, "metric");
    const double *value = saddle_trace_column(trace, column);
    if (value == NULL || (metric == NULL && !isnan(level)))
        return (double)NAN;
    size_t row = isnan(level) ? trace->rows - 1
                              : saddle_levels_reached(metric, sizeof *metric, trace->rows, level);
    return row < trace->rows ? value[row] : (double)NAN;
}

/* A number over the runs of a group that have it. */
typedef struct summary {
    size_t count;
    double sum, least, largest;
} summary;

static summary summarize(const report_section *section, const trace_groups *g, size_t group,
                         const char *column, double level)
{
    summary s = {.least = (double)INFINITY, .largest = -(double)INFINITY};
    for (size_t k = 0; k < section->traces; k++) {
        double value = value_at(section->trace[k], column, level);
        if (g->of[k] != group || isnan(value))
            continue;
        s.count++;
        s.sum += value;
        s.least = fmin(s.least, value);
        s.largest = fmax(s.largest, value);
    }
    return s;
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
    report_label(f, "<tr><th scope=\"row\">", g, group, "</th>");
    for (size_t k = 0; k < levels; k++) {
        summary own = summarize(section, g, group, column, level[k]);
        size_t reached = own.count;
        double mine = own.sum / (double)reached;
        /* The cheapest of those whose runs all get there, and that pay at all: one without a network
         * has no rounds. */
        bool best = reached == g->group[group].count && g->groups > 1 && mine > 0.0;
        for (size_t other = 0; best && other < g->groups; other++) {
            summary s = summarize(section, g, other, column, level[k]);
            double theirs = s.sum / (double)s.count;
            best = s.count < g->group[other].count || !(theirs < mine && theirs > 0.0);
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

/* A cell with the mean of a group's last values, and their range if they are of several runs. */
static void write_outcome(FILE *f, const report_section *section, const trace_groups *g,
                          size_t group, const char *column)
{
    summary s = summarize(section, g, group, column, AT_END);
    fputs("<td class=\"number\">", f);
    if (s.count == 0)
        fputs("&ndash;", f);
    else
        saddle_fprintf(f, "%.4g", s.sum / (double)s.count);
    if (s.count > 1)
        saddle_fprintf(f, " <span class=\"soft\">(%.4g&ndash;%.4g)</span>", s.least, s.largest);
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
    for (size_t group = 0; group < g->groups; group++)
        report_label(f, "<th class=\"number\">", g, group, "</th>");
    fputs("</tr></thead><tbody>\n", f);
    write_outcomes(f, section, g, SADDLE_ROWS_TEST);
    write_outcomes(f, section, g, SADDLE_ROWS_TRAIN);
    fputs("</tbody></table></div>\n", f);
    if (section->traces > g->groups)
        fputs("<p class=\"soft\">Means over the runs (least&ndash;largest).</p>\n", f);
    fputs("</div>\n", f);
}

/* ---- runs and their data ------------------------------------------------------------------- */

/* Writes a formatted text as a part of a data: address. */
static void write_encoded(FILE *f, const char *format, ...) SADDLE_PRINTF(2, 3);
static void write_encoded(FILE *f, const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    bool made = saddle_vasprintf(&text, format, list) >= 0;
    va_end(list);
    for (const char *at = text; made && *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     strchr("-_.,:/", c) != NULL;
        if (plain)
            fputc(c, f);
        else
            saddle_fprintf(f, "%%%02X", c);
    }
    free(made ? text : NULL);
}

/* The trace as a data: address; every stride-th row and the last one. Long settings are cut. */
static void write_data(FILE *f, const saddle_trace *trace, size_t stride)
{
    char text[SADDLE_REAL_SIZE];
    fputs("data:text/csv;charset=utf-8,", f);
    write_encoded(f, "# saddle %s", trace->version);
    for (size_t k = 0; k < trace->entries; k++) {
        size_t length = strlen(trace->entry[k].value);
        write_encoded(f, "\n# %s: %.*s", trace->entry[k].name, REPORT_MOST_TEXT,
                      trace->entry[k].value);
        if (length > REPORT_MOST_TEXT)
            write_encoded(f, "... (%zu bytes)", length);
    }
    for (size_t c = 0; c < trace->columns; c++)
        write_encoded(f, "%s%s", c == 0 ? "\n" : ",", trace->column[c]);
    for (size_t r = 0; r < trace->rows; r++)
        for (size_t c = 0; c < trace->columns && (r % stride == 0 || r + 1 == trace->rows); c++) {
            double value = trace->value[c][r];
            write_encoded(f, "%s%s", c == 0 ? "\n" : ",",
                          isnan(value) ? "" : saddle_print_real(value, 15, text));
        }
    write_encoded(f, "\n");
    for (size_t i = 0; i < trace->agents; i++)
        write_encoded(f, "%s%s", i == 0 ? "# disagreement: " : " ",
                      saddle_print_real(trace->disagreement[i], 1, text));
    write_encoded(f, "%s", trace->agents > 0 ? "\n" : "");
    if (trace->end != NULL)
        write_encoded(f, "# ended: %s\n", trace->end);
}

/* A cell with the last value of a column. */
static void write_last(FILE *f, const saddle_trace *trace, const char *column, bool count)
{
    double last = value_at(trace, column, AT_END);
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
    report_label(f, "<tr><th scope=\"row\">", g, group, "</th>");
    report_html(f, "<td class=\"number\">%s</td>", saddle_trace_setting(trace, "seed"));
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
