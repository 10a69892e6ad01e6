/* The tables of a report: outcomes, costs at levels, runs with their data. */
#include "core/outcome_name.h"
#include "draw/report_section.h"
#include "draw/trace_costs.h"
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
static bool has_column(const report_section *r, const char *column)
{
    for (size_t k = 0; k < r->traces; k++)
        if (saddle_trace_column(r->trace[k], column) != NULL)
            return true;
    return false;
}

/* A column over the runs of a group that have it. */
static trace_summary summarize(const report_section *r, size_t group, const char *column,
                               double level)
{
    trace_summary s = {.count = 0};
    for (size_t k = 0; k < r->traces; k++)
        if (r->g->of[k] == group)
            trace_summary_add(&s, trace_value_at(r->trace[k], column, level));
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
        report_put(f, "%s", saddle_bytes_text(value, text));
    else if (strcmp(column, "seconds") == 0 || strcmp(column, "network_seconds") == 0)
        report_put(f, "%.3g", value);
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
        report_put(f, "%.3g", level);
}

/* Whether no other group reaches a level at a lower cost. Groups count if all of their runs get there, and if they
 * pay at all: an algorithm without a network has no rounds. */
static bool is_cheapest(const report_section *r, size_t group, const char *column, double level)
{
    const trace_groups *g = r->g;
    trace_summary s = summarize(r, group, column, level);
    double own = trace_summary_mean(&s);
    bool best = s.count == g->group[group].count && g->groups > 1 && own > 0.0;
    for (size_t other = 0; best && other < g->groups; other++) {
        s = summarize(r, other, column, level);
        double mean = trace_summary_mean(&s);
        best = s.count < g->group[other].count || !(mean < own && mean > 0.0);
    }
    return best;
}

static void write_cost_row(const report_section *r, size_t group, const char *column)
{
    size_t runs = r->g->group[group].count;
    report_label(r, "<tr><th scope=\"row\">", group, "</th>");
    for (size_t k = 0; k < r->levels; k++) {
        trace_summary s = summarize(r, group, column, r->level[k]);
        report_put(r->f, "<td class=\"number%s%s\">",
                   is_cheapest(r, group, column, r->level[k]) ? " best" : "",
                   s.count == 0 ? " never" : "");
        if (s.count == 0)
            fputs("never", r->f);
        else
            write_cost(r->f, column, trace_summary_mean(&s));
        if (s.count > 0 && s.count < runs)
            report_put(r->f, " <span class=\"soft\">(%zu of %zu)</span>", s.count, runs);
        fputs("</td>", r->f);
    }
    fputs("</tr>\n", r->f);
}

/* Ends a table and its card; if some groups have several runs, with a note on their numbers. */
static void end_card(const report_section *r, const char *note)
{
    fputs("</tbody></table></div>\n", r->f);
    if (r->traces > r->g->groups)
        report_put(r->f, "<p class=\"soft\">%s</p>\n", note);
    fputs("</div>\n", r->f);
}

/* A table of one kind of cost. */
static void write_costs(const report_section *r, const char *column)
{
    report_put(r->f,
               "<div class=\"card cost\" data-x=\"%s\">\n<h3>Cost until the metric stays at a "
               "level: %s</h3>\n"
               "<div class=\"scroll\"><table><thead><tr><th>metric at most</th>",
               column, figure_title(column));
    for (size_t k = 0; k < r->levels; k++) {
        fputs("<th class=\"number\">", r->f);
        write_level(r->f, r->level[k]);
        fputs("</th>", r->f);
    }
    fputs("</tr></thead><tbody>\n", r->f);
    for (size_t group = 0; group < r->g->groups; group++)
        if (saddle_trace_column(r->trace[r->g->group[group].first], "metric") != NULL)
            write_cost_row(r, group, column);
    end_card(r, "Means over the runs that stay at the level.");
}

void report_costs(const report_section *given)
{
    report_section r = *given;
    double chosen[SADDLE_MOST_LEVELS];
    saddle_metric_range range = {.runs = 0};
    for (size_t k = 0; k < r.traces; k++)
        trace_range_add(&range, r.trace[k]);
    if (range.runs == 0)
        return;
    if (r.levels == 0) {
        r.levels = saddle_levels_choose(&range, chosen);
        r.level = chosen;
    }
    for (size_t c = 0; c < sizeof costs / sizeof *costs; c++)
        if (strcmp(costs[c], "network_seconds") != 0 || has_column(&r, costs[c]))
            write_costs(&r, costs[c]);
}

/* ---- outcomes ------------------------------------------------------------------------------ */

/* A cell with the mean of a group's last values, and their range if they are of several runs. */
static void write_outcome(const report_section *r, size_t group, const char *column)
{
    trace_summary s = summarize(r, group, column, TRACE_AT_END);
    fputs(s.count == 0 ? "<td class=\"number\">&ndash;" : "<td class=\"number\">", r->f);
    if (s.count > 0)
        report_put(r->f, "%.4g", trace_summary_mean(&s));
    if (s.count > 1)
        report_put(r->f, " <span class=\"soft\">(%.4g&ndash;%.4g)</span>", s.least, s.largest);
    fputs("</td>", r->f);
}

/* A row for each outcome on some rows. */
static void write_outcomes(const report_section *r, saddle_measured_rows rows)
{
    const saddle_trace *first = r->trace[0];
    for (size_t c = 0; c < first->columns; c++) {
        if (saddle_outcome_name_of(first->column[c]).rows != rows)
            continue;
        report_put(r->f, "<tr><th scope=\"row\">%s</th>", figure_title(first->column[c]));
        for (size_t group = 0; group < r->g->groups; group++)
            write_outcome(r, group, first->column[c]);
        fputs("</tr>\n", r->f);
    }
}

/* Writes whether a gap is solved. */
static void write_verdict(const report_section *r, const saddle_trace *trace, double gap)
{
    double goal = 0.0;
    if (!saddle_parse_real(saddle_trace_setting(trace, "tolerance"), &goal) || !(goal > 0.0))
        goal = SADDLE_SOLVED_GAP;
    fputs(gap <= goal ? " solved" : " <b>not solved</b>", r->f);
}

/* A row of the gaps at the end. */
static void write_gaps(const report_section *r)
{
    fputs("<tr><th scope=\"row\">gap</th>", r->f);
    for (size_t group = 0; group < r->g->groups; group++) {
        trace_summary s = summarize(r, group, "gap", TRACE_AT_END);
        fputs("<td class=\"number\">", r->f);
        if (s.count == 0)
            fputs("&ndash;", r->f);
        else
            report_put(r->f, "%.2g", trace_summary_mean(&s));
        if (s.count > 0)
            write_verdict(r, r->trace[r->g->group[group].first], s.largest);
        if (s.count > 1)
            report_put(r->f, "<br><span class=\"soft\">(%.2g&ndash;%.2g)</span>", s.least,
                       s.largest);
        fputs("</td>", r->f);
    }
    fputs("</tr>\n", r->f);
}

/* Whether a run of the section has a gap at its end. */
static bool has_gap(const report_section *r)
{
    for (size_t group = 0; group < r->g->groups; group++)
        if (summarize(r, group, "gap", TRACE_AT_END).count > 0)
            return true;
    return false;
}

void report_outcomes(const report_section *r)
{
    const saddle_trace *first = r->trace[0];
    bool gaps = has_gap(r);
    bool any = gaps;
    for (size_t c = 0; c < first->columns; c++)
        any = any || saddle_outcome_name_of(first->column[c]).rows != SADDLE_ROWS_NONE;
    if (!any)
        return;
    fputs("<div class=\"card outcomes\">\n<h3>Outcomes at the end</h3>\n"
          "<div class=\"scroll\"><table><thead><tr><th>outcome</th>",
          r->f);
    for (size_t group = 0; group < r->g->groups; group++)
        report_label(r, "<th class=\"number\">", group, "</th>");
    fputs("</tr></thead><tbody>\n", r->f);
    if (gaps)
        write_gaps(r);
    write_outcomes(r, SADDLE_ROWS_TEST);
    write_outcomes(r, SADDLE_ROWS_TRAIN);
    end_card(r, "Means over the runs (least\xE2\x80\x93largest).");
}

/* ---- runs and their data ------------------------------------------------------------------- */

/* Writes a trace, every stride-th row and the last one. Long settings are cut. */
static void write_trace(FILE *f, const saddle_trace *trace, size_t stride)
{
    char text[SADDLE_REAL_SIZE];
    saddle_fprintf(f, "# saddle %s", trace->version);
    for (size_t k = 0; k < trace->entries; k++) {
        size_t length = strlen(trace->entry[k].value);
        saddle_fprintf(f, "\n# %s: %.*s", trace->entry[k].name, REPORT_MOST_TEXT,
                       trace->entry[k].value);
        if (length > REPORT_MOST_TEXT)
            saddle_fprintf(f, "... (%zu bytes)", length);
    }
    for (size_t c = 0; c < trace->columns; c++)
        saddle_fprintf(f, "%s%s", c == 0 ? "\n" : ",", trace->column[c]);
    for (size_t r = 0; r < trace->rows; r++)
        for (size_t c = 0; c < trace->columns && (r % stride == 0 || r + 1 == trace->rows); c++) {
            double value = trace->value[c][r];
            saddle_fprintf(f, "%s%s", c == 0 ? "\n" : ",",
                           isnan(value) ? "" : saddle_print_real(value, 15, text));
        }
    fputc('\n', f);
    for (size_t i = 0; i < trace->agents; i++)
        saddle_fprintf(f, "%s%s", i == 0 ? "# disagreement: " : " ",
                       saddle_print_real(trace->disagreement[i], 1, text));
    fputs(trace->agents > 0 ? "\n" : "", f);
    if (trace->end != NULL)
        saddle_fprintf(f, "# ended: %s\n", trace->end);
}

/* The trace as a data: address. */
static void write_data(FILE *f, const saddle_trace *trace, size_t stride)
{
    SADDLE_MALLOCED char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    fputs("data:text/csv;charset=utf-8,", f);
    if (memory == NULL)
        return;
    write_trace(memory, trace, stride);
    fclose(memory);
    for (size_t k = 0; text != NULL && k < size; k++) {
        unsigned char c = (unsigned char)text[k];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c != '\0' && strchr("-_.,:/", c) != NULL);
        if (plain)
            fputc(c, f);
        else
            saddle_fprintf(f, "%%%02X", c);
    }
}

/* A cell with the last value of a column. */
static void write_last(FILE *f, const saddle_trace *trace, const char *column, bool count)
{
    double last = trace_value_at(trace, column, TRACE_AT_END);
    fputs("<td class=\"number\">", f);
    if (isnan(last))
        fputs("&ndash;", f);
    else if (count)
        write_count(f, last);
    else
        report_put(f, "%.3e", last);
    fputs("</td>", f);
}

static void write_run(const report_section *r, const saddle_trace *trace, size_t group)
{
    const char *name = saddle_file_name(trace->path);
    size_t stride = trace->rows / MOST_ROWS + 1;
    report_label(r, "<tr><th scope=\"row\">", group, "</th>");
    report_put(r->f, "<td class=\"number\">%s</td>", saddle_trace_setting(trace, "seed"));
    write_last(r->f, trace, "iteration", true);
    write_last(r->f, trace, "ifo", true);
    write_last(r->f, trace, "gap", false);
    write_last(r->f, trace, "metric", false);
    report_put(r->f,
               "<td>%s</td><td class=\"wrap\"><a class=\"data\" data-group=\"%zu\" "
               "download=\"%s\" href=\"",
               trace->end != NULL ? trace->end : "no end recorded (still running, or killed)",
               group, name);
    write_data(r->f, trace, stride);
    report_put(r->f, "\">%s</a>", name);
    if (stride > 1)
        report_put(r->f, " <span class=\"soft\">(1 row in %zu)</span>", stride);
    fputs("</td></tr>\n", r->f);
}

void report_runs(const report_section *r)
{
    bool folded = r->traces > MOST_UNFOLDED;
    if (folded)
        report_put(r->f, "<details class=\"card\"><summary>%zu runs and their data</summary>\n",
                   r->traces);
    else
        fputs("<div class=\"card\">\n<h3>Runs and their data</h3>\n", r->f);
    fputs(
        "<div class=\"scroll\"><table><thead><tr><th>run</th><th class=\"number\">seed</th><th "
        "class=\"number\">iterations</th><th class=\"number\">samples</th><th "
        "class=\"number\">gap</th><th class=\"number\">last metric</th><th>ended</th><th>data</th>"
        "</tr></thead><tbody>\n",
        r->f);
    for (size_t group = 0; group < r->g->groups; group++)
        for (size_t k = 0; k < r->traces; k++)
            if (r->g->of[k] == group)
                write_run(r, r->trace[k], group);
    fputs("</tbody></table></div>\n", r->f);
    fputs(folded ? "</details>\n" : "</div>\n", r->f);
}
