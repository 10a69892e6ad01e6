/* The settings of a report: those that differ between runs, side by side; those that do not, folded away. */
#include <stdio.h>
#include <string.h>

#include "core/print.h"
#include "draw/report_parts.h"

/* The most values of one setting in one cell. */
#define MOST_VALUES 8

/* How the runs of a section stand to a setting. */
typedef enum sameness { SAME, LACKING, DIFFERENT, PATHS } sameness;

static bool same_text(const report_section *section, size_t a, size_t b, const char *name)
{
    return strcmp(saddle_trace_setting(section->trace[a], name),
                  saddle_trace_setting(section->trace[b], name)) == 0;
}

/* Whether a setting only says where the run wrote its files. */
static bool is_output(const trace_groups *g, const char *name)
{
    for (size_t k = 0; k < saddle_plan_option_count(&g->options); k++) {
        const saddle_option *option = saddle_plan_option(&g->options, k);
        if (strcmp(option->name, name) == 0)
            return option->effect == SADDLE_EFFECT_OUTPUT;
    }
    return false;
}

/* Whether a line of the head follows from the settings, such as the number of edges. */
static bool is_derived(const char *name)
{
    return strchr(name, '_') != NULL || strcmp(name, "edges") == 0 ||
           strcmp(name, "fingerprint") == 0;
}

/* Whether all runs have the same value, some have none, there are several values, or it does not matter. */
static sameness compare_runs(const report_section *section, const trace_groups *g, const char *name)
{
    sameness found = is_output(g, name) && section->traces > 1 ? PATHS : SAME;
    size_t first = section->traces;
    for (size_t k = 0; found != PATHS && k < section->traces; k++) {
        if (*saddle_trace_setting(section->trace[k], name) == '\0')
            found = LACKING;
        else if (first == section->traces)
            first = k;
        else if (!same_text(section, first, k, name))
            return is_derived(name) ? LACKING : DIFFERENT;
    }
    return found;
}

/* Whether an earlier run of the same group, SIZE_MAX: of any, has the same value. */
static bool repeated(const report_section *section, const trace_groups *g, size_t group,
                     size_t trace, const char *name)
{
    for (size_t k = 0; k < trace; k++)
        if ((group == SIZE_MAX || g->of[k] == group) && same_text(section, k, trace, name))
            return true;
    return false;
}

/* A value; of a number with many digits nine, and all of them in its tooltip. "(estimated)" may follow it. */
static void write_value(FILE *f, const char *value)
{
    double number;
    char digits[SADDLE_REAL_SIZE];
    char brief[SADDLE_REAL_SIZE];
    size_t length = strcspn(value, " ");
    saddle_snprintf(digits, sizeof digits, "%.*s", (int)length, value);
    if (length <= 12 || length >= sizeof digits || !saddle_parse_real(digits, &number)) {
        report_text(f, value);
        return;
    }
    saddle_snprintf(brief, sizeof brief, "%.9g", number);
    report_html(f, "<span title=\"%s\">%s</span>%s", digits, brief, value + length);
}

/* The different values of a setting in a group, or in all of them, at most a handful. */
static void write_values(FILE *f, const report_section *section, const trace_groups *g,
                         size_t group, const char *name)
{
    size_t shown = 0;
    for (size_t k = 0; k < section->traces; k++) {
        const char *value = saddle_trace_setting(section->trace[k], name);
        if ((group != SIZE_MAX && g->of[k] != group) || *value == '\0' ||
            repeated(section, g, group, k, name))
            continue;
        if (shown == MOST_VALUES)
            fputs(", \xE2\x80\xA6", f);
        if (shown++ >= MOST_VALUES)
            continue;
        fputs(shown > 1 ? ", " : "", f);
        write_value(f, value);
    }
    fputs(shown == 0 ? "&ndash;" : "", f);
}

/* Calls for the settings of all runs, each once, in the order in which traces have them. */
#define FOR_SETTINGS(section, name)                                       \
    for (size_t t_ = 0; t_ < (section)->traces; t_++)                     \
        for (size_t k_ = 0; k_ < (section)->trace[t_]->entries; k_++)     \
            for (const char *name = (section)->trace[t_]->entry[k_].name; \
                 name != NULL && !has_before((section), t_, name); name = NULL)

/* Whether one of the first `count` runs has a setting. */
static bool has_before(const report_section *section, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (*saddle_trace_setting(section->trace[k], name) != '\0')
            return true;
    return false;
}

static size_t count_settings(const report_section *section, const trace_groups *g, sameness wanted)
{
    size_t count = 0;
    FOR_SETTINGS(section, name)
    count += compare_runs(section, g, name) == wanted;
    return count;
}

/* A row with one cell for all runs. */
static void write_common(FILE *f, const report_section *section, const trace_groups *g,
                         const char *name)
{
    report_html(f, "<tr><th scope=\"row\">%s</th><td>", name);
    write_values(f, section, g, SIZE_MAX, name);
    fputs("</td></tr>\n", f);
}

/* A row with a cell for each group. */
static void write_differing(FILE *f, const report_section *section, const trace_groups *g,
                            const char *name, bool marked)
{
    report_html(f,
                marked ? "<tr class=\"differs\"><th scope=\"row\"><span class=\"mark\" "
                         "title=\"differs\" role=\"img\" aria-label=\"differs\">&ne;</span> "
                         "%s</th>"
                       : "<tr><th scope=\"row\">%s</th>",
                name);
    for (size_t group = 0; group < g->groups; group++) {
        fputs("<td>", f);
        write_values(f, section, g, group, name);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

/* Rows of the settings in which runs differ, marked, and of those that only some of them have. */
static void write_differences(FILE *f, const report_section *section, const trace_groups *g)
{
    fputs(
        "<h3>Settings that differ</h3>\n<div class=\"scroll\"><table class=\"settings\"><thead><tr>"
        "<th scope=\"col\">setting</th>",
        f);
    for (size_t group = 0; group < g->groups; group++)
        report_label(f, "<th scope=\"col\">", g, group, "</th>");
    fputs("</tr></thead><tbody>\n", f);
    FOR_SETTINGS(section, name)
    if (compare_runs(section, g, name) == DIFFERENT)
        write_differing(f, section, g, name, true);
    FOR_SETTINGS(section, name)
    if (compare_runs(section, g, name) == LACKING)
        write_differing(f, section, g, name, false);
    fputs("</tbody></table></div>\n", f);
    if (count_settings(section, g, LACKING) > 0)
        fputs("<p class=\"soft\">&ne; marks settings with several values; the others belong to "
              "some of the runs only, or follow from others.</p>\n",
              f);
}

/* The settings that all runs share, those that matter most for one run alone in sight. */
static void write_shared(FILE *f, const report_section *section, const trace_groups *g)
{
    static const char *const first[] = {"problem", "data",  "samples",     "agents", "topology",
                                        "mixing",  "links", "compress",    "churn",  "link-model",
                                        "x-set",   "y-set", "regularizer", "seed"};
    size_t shared = count_settings(section, g, SAME);
    if (section->traces == 1) {
        fputs("<h3>Settings</h3>\n<table class=\"settings\"><tbody>\n", f);
        for (size_t k = 0; k < sizeof first / sizeof *first; k++)
            if (has_before(section, section->traces, first[k]))
                write_common(f, section, g, first[k]);
        fputs("</tbody></table>\n", f);
    }
    saddle_fprintf(f,
                   section->traces == 1 ? "<details><summary>All %zu settings</summary>"
                                        : "<details><summary>%zu settings that all runs "
                                          "share</summary>",
                   shared);
    fputs("<table class=\"settings\"><tbody>\n", f);
    FOR_SETTINGS(section, name)
    if (compare_runs(section, g, name) == SAME)
        write_common(f, section, g, name);
    fputs("</tbody></table></details>\n", f);
}

void report_settings(FILE *f, const report_section *section, const trace_groups *g)
{
    fputs("<div class=\"card\">\n", f);
    if (section->traces > 1)
        write_differences(f, section, g);
    write_shared(f, section, g);
    fputs("</div>\n", f);
}
