/* The settings of a report: those that differ between runs, side by side; those that do not, folded away. */
#include "draw/report_section.h"

/* The most values of one setting in one cell. */
#define MOST_VALUES 8

/* How the runs of a section stand to a setting. */
typedef enum sameness { SAME, LACKING, DIFFERENT, PATHS } sameness;

static bool same_text(const report_section *r, size_t a, size_t b, const char *name)
{
    return strcmp(saddle_trace_setting(r->trace[a], name),
                  saddle_trace_setting(r->trace[b], name)) == 0;
}

/* Whether a setting only says where the run wrote its files. */
static bool is_output(const trace_groups *g, const char *name)
{
    const saddle_option *option = saddle_plan_find(&g->options, name);
    return option != NULL && option->effect == SADDLE_EFFECT_OUTPUT;
}

/* Whether a line of the head follows from the settings, such as the number of edges. */
static bool is_derived(const char *name)
{
    return strchr(name, '_') != NULL || strcmp(name, "edges") == 0 ||
           strcmp(name, "fingerprint") == 0;
}

/* Whether all runs have the same value, some have none, there are several values, or it does not matter. */
static sameness compare_runs(const report_section *r, const char *name)
{
    sameness found = is_output(r->g, name) && r->traces > 1 ? PATHS : SAME;
    size_t first = r->traces;
    for (size_t k = 0; found != PATHS && k < r->traces; k++) {
        if (*saddle_trace_setting(r->trace[k], name) == '\0')
            found = LACKING;
        else if (first == r->traces)
            first = k;
        else if (!same_text(r, first, k, name))
            return is_derived(name) ? LACKING : DIFFERENT;
    }
    return found;
}

/* Whether an earlier run of the same group, SIZE_MAX: of any, has the same value. */
static bool repeated(const report_section *r, size_t group, size_t trace, const char *name)
{
    for (size_t k = 0; k < trace; k++)
        if ((group == SIZE_MAX || r->g->of[k] == group) && same_text(r, k, trace, name))
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
        report_put(f, "%s", value);
        return;
    }
    saddle_snprintf(brief, sizeof brief, "%.9g", number);
    report_put(f, "<span title=\"%s\">%s</span>%s", digits, brief, value + length);
}

/* The different values of a setting in a group, or in all of them, at most a handful. */
static void write_values(const report_section *r, size_t group, const char *name)
{
    size_t shown = 0;
    for (size_t k = 0; k < r->traces; k++) {
        const char *value = saddle_trace_setting(r->trace[k], name);
        if ((group != SIZE_MAX && r->g->of[k] != group) || *value == '\0' ||
            repeated(r, group, k, name))
            continue;
        if (shown == MOST_VALUES)
            fputs(", \xE2\x80\xA6", r->f);
        if (shown++ >= MOST_VALUES)
            continue;
        fputs(shown > 1 ? ", " : "", r->f);
        write_value(r->f, value);
    }
    fputs(shown == 0 ? "&ndash;" : "", r->f);
}

/* Calls for the settings of all runs, each once, in the order in which traces have them. */
#define FOR_SETTINGS(r, name)                                       \
    for (size_t t_ = 0; t_ < (r)->traces; t_++)                     \
        for (size_t k_ = 0; k_ < (r)->trace[t_]->entries; k_++)     \
            for (const char *name = (r)->trace[t_]->entry[k_].name; \
                 name != NULL && !has_before((r), t_, name); name = NULL)

/* Whether one of the first `count` runs has a setting. */
static bool has_before(const report_section *r, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (*saddle_trace_setting(r->trace[k], name) != '\0')
            return true;
    return false;
}

static size_t count_settings(const report_section *r, sameness wanted)
{
    size_t count = 0;
    FOR_SETTINGS(r, name)
    count += compare_runs(r, name) == wanted;
    return count;
}

/* A row with one cell for all runs. */
static void write_common(const report_section *r, const char *name)
{
    report_put(r->f, "<tr><th scope=\"row\">%s</th><td>", name);
    write_values(r, SIZE_MAX, name);
    fputs("</td></tr>\n", r->f);
}

/* A row with a cell for each group. */
static void write_differing(const report_section *r, const char *name, bool marked)
{
    report_put(r->f,
               marked ? "<tr class=\"differs\"><th scope=\"row\"><span class=\"mark\" "
                        "title=\"differs\" role=\"img\" aria-label=\"differs\">&ne;</span> "
                        "%s</th>"
                      : "<tr><th scope=\"row\">%s</th>",
               name);
    for (size_t group = 0; group < r->g->groups; group++) {
        fputs("<td>", r->f);
        write_values(r, group, name);
        fputs("</td>", r->f);
    }
    fputs("</tr>\n", r->f);
}

/* Rows of the settings in which runs differ, marked, and of those that only some of them have. */
static void write_differences(const report_section *r)
{
    fputs(
        "<h3>Settings that differ</h3>\n<div class=\"scroll\"><table class=\"settings\"><thead><tr>"
        "<th scope=\"col\">setting</th>",
        r->f);
    for (size_t group = 0; group < r->g->groups; group++)
        report_label(r, "<th scope=\"col\">", group, "</th>");
    fputs("</tr></thead><tbody>\n", r->f);
    FOR_SETTINGS(r, name)
    if (compare_runs(r, name) == DIFFERENT)
        write_differing(r, name, true);
    FOR_SETTINGS(r, name)
    if (compare_runs(r, name) == LACKING)
        write_differing(r, name, false);
    fputs("</tbody></table></div>\n", r->f);
    if (count_settings(r, LACKING) > 0)
        fputs("<p class=\"soft\">&ne; marks settings with several values; the others belong to "
              "some of the runs only, or follow from others.</p>\n",
              r->f);
}

/* The settings that all runs share, those that matter most for one run alone in sight. */
static void write_shared(const report_section *r)
{
    static const char *const first[] = {"problem", "data",  "samples",     "agents", "topology",
                                        "mixing",  "links", "compress",    "churn",  "link-model",
                                        "x-set",   "y-set", "regularizer", "seed"};
    size_t shared = count_settings(r, SAME);
    if (r->traces == 1) {
        fputs("<h3>Settings</h3>\n<table class=\"settings\"><tbody>\n", r->f);
        for (size_t k = 0; k < sizeof first / sizeof *first; k++)
            if (has_before(r, r->traces, first[k]))
                write_common(r, first[k]);
        fputs("</tbody></table>\n", r->f);
    }
    report_put(r->f,
               r->traces == 1 ? "<details><summary>All %zu settings</summary>"
                              : "<details><summary>%zu settings that all runs "
                                "share</summary>",
               shared);
    fputs("<table class=\"settings\"><tbody>\n", r->f);
    FOR_SETTINGS(r, name)
    if (compare_runs(r, name) == SAME)
        write_common(r, name);
    fputs("</tbody></table></details>\n", r->f);
}

void report_settings(const report_section *r)
{
    fputs("<div class=\"card\">\n", r->f);
    if (r->traces > 1)
        write_differences(r);
    write_shared(r);
    fputs("</div>\n", r->f);
}
