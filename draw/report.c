#include "draw/report.h"

#include "draw/palette.h"
#include "draw/report_section.h"
#include "draw/trace_curves.h"
#include "draw/trace_list.h"
#include "files/file.h"
#include "files/path_list.h"

/* ---- small things -------------------------------------------------------------------------- */

static void put_text(FILE *f, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    size_t length = text != NULL ? strlen(text) : 0;
    const char *end = length > 0 ? text + length : text;
    const char *cut = length > REPORT_MOST_TEXT ? text + REPORT_MOST_TEXT : end;
    while (text < cut) {
        char shown[SADDLE_SHOWN_SIZE];
        const char *place = strchr(special, *text);
        saddle_show_letter(&text, end, shown);
        fputs(place != NULL ? entity[place - special] : shown, f);
    }
    if (text < end)
        saddle_fprintf(f, "\xE2\x80\xA6 (%zu bytes)", length);
}

void report_put(FILE *f, const char *html, ...)
{
    va_list list;
    va_start(list, html);
    for (const char *c = html; *c != '\0'; c++) {
        if (*c != '%') {
            fputc(*c, f);
            continue;
        }
        c++;
        int precision = *c == '.' ? c[1] - '0' : 6;
        c += *c == '.' ? 2 : *c == 'z';
        if (*c == 's')
            put_text(f, va_arg(list, const char *));
        else if (*c == 'u')
            saddle_fprintf(f, "%zu", va_arg(list, size_t));
        else if (*c == 'e')
            saddle_fprintf(f, "%.*e", precision, va_arg(list, double));
        else
            saddle_fprintf(f, "%.*g", precision, va_arg(list, double));
    }
    va_end(list);
}

/* The colour of a group as CSS says it. */
static void write_colour(FILE *f, const trace_group *group, size_t place)
{
    size_t k = palette_index(group->algorithm, place);
    if (group->repeat == 0)
        saddle_fprintf(f, "var(--a%zu)", k);
    else
        saddle_fprintf(f, "color-mix(in srgb, var(--a%zu) %d%%, var(--card))", k,
                       palette_strength(group->repeat));
}

void report_label(const report_section *r, const char *before, size_t group, const char *after)
{
    const trace_group *of = &r->g->group[group];
    saddle_fprintf(r->f, "%s<span class=\"swatch\" style=\"background:", before);
    write_colour(r->f, of, group);
    report_put(r->f, "\"></span>%s%s", of->label, of->untuned ? " *" : "");
    fputs(after, r->f);
}

/* ---- the head ------------------------------------------------------------------------------ */

static void write_colours(FILE *f)
{
    fputs(":root {", f);
    for (size_t k = 0; k < palette_count(); k++)
        saddle_fprintf(f, " --a%zu: %s;", k, palette_look(k)->light);
    fputs(" }\n@media screen and (prefers-color-scheme: dark) { :root {", f);
    for (size_t k = 0; k < palette_count(); k++)
        saddle_fprintf(f, " --a%zu: %s;", k, palette_look(k)->dark);
    fputs(" } }\n", f);
}

/* The title: what the caller says, or problem and data of the first trace. */
static void write_title(FILE *f, const report_page *r)
{
    const saddle_trace *first = r->traces > 0 ? r->trace[0] : NULL;
    char name[TRACE_EXPERIMENT] = "";
    if (r->title != NULL && *r->title != '\0')
        report_put(f, "%s", r->title);
    else if (first != NULL && *saddle_trace_setting(first, "problem") != '\0')
        report_put(f, "%s", saddle_trace_experiment(first, name));
    else
        fputs("saddle report", f);
}

static void write_head(FILE *f, const report_page *r)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          f);
    write_title(f, r);
    fputs("</title>\n<style>\n", f);
    fputs(report_css, f);
    write_colours(f);
    fputs("</style>\n</head>\n", f);
}

/* ---- sections ------------------------------------------------------------------------------ */

static void write_legend(FILE *f, const trace_groups *g)
{
    bool untuned = false;
    fputs("<div class=\"legend\" role=\"group\" aria-label=\"curves\">\n", f);
    for (size_t k = 0; k < g->groups; k++) {
        const trace_group *group = &g->group[k];
        const saddle_look *look = palette_look(palette_index(group->algorithm, k));
        const char *dashes = palette_dashes(look, group->repeat);
        report_put(f,
                   "<button type=\"button\" aria-pressed=\"true\" data-label=\"%s\" "
                   "data-colour=\"",
                   group->label);
        write_colour(f, group, k);
        saddle_fprintf(
            f,
            "\" data-dashes=\"%s\"><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\"><path "
            "d=\"M1 5H29\" fill=\"none\" stroke-width=\"2.5\" stroke-dasharray=\"%s\" "
            "style=\"stroke:",
            dashes, dashes);
        write_colour(f, group, k);
        report_put(f, "\"/></svg><span>%s%s</span>", group->label, group->untuned ? " *" : "");
        if (group->count > 1)
            saddle_fprintf(f, "<span class=\"soft\">%zu runs</span>", group->count);
        fputs("</button>\n", f);
        untuned = untuned || group->untuned;
    }
    fputs("</div>\n", f);
    if (untuned)
        fputs("<p class=\"soft\">* untuned: default step sizes, neither given nor from a "
              "search; <code>saddle tune</code> searches better ones.</p>\n",
              f);
}

/* Copies the traces of the experiment of trace k, and returns their number; 0 if an earlier trace belongs to it. */
static size_t take_experiment(const report_page *r, size_t k, const saddle_trace **out)
{
    char name[TRACE_EXPERIMENT];
    char other[TRACE_EXPERIMENT];
    size_t count = 0;
    saddle_trace_experiment(r->trace[k], name);
    for (size_t j = 0; j < r->traces; j++) {
        if (strcmp(saddle_trace_experiment(r->trace[j], other), name) != 0)
            continue;
        if (j < k)
            return 0;
        out[count++] = r->trace[j];
    }
    return count;
}

/* Links to the sections of a page that has several; returns whether it has. */
static bool write_contents(FILE *f, const report_page *r, const saddle_trace **trace)
{
    char name[TRACE_EXPERIMENT];
    size_t sections = 0;
    if (r->traces == 0 || take_experiment(r, 0, trace) == r->traces)
        return false;
    fputs("<nav aria-label=\"contents\">\n", f);
    for (size_t k = 0; k < r->traces; k++) {
        bool begins = take_experiment(r, k, trace) > 0;
        sections += begins;
        if (begins && *saddle_trace_experiment(r->trace[k], name) != '\0')
            report_put(f, "<a href=\"#section-%zu\">%s</a>\n", sections, name);
    }
    fputs("</nav>\n", f);
    return true;
}

/* Writes a section; `titled`: with the name of its experiment. */
static saddle_status write_section(report_section section, bool titled, saddle_error *error)
{
    trace_groups g;
    FILE *f = section.f;
    char name[TRACE_EXPERIMENT];
    SADDLE_TRY(saddle_trace_groups_make(&g, section.trace, section.traces, error));
    section.g = &g;
    report_put(f, "<section class=\"traces\" id=\"section-%zu\">\n", section.place + 1);
    if (titled && *saddle_trace_experiment(section.trace[0], name) != '\0')
        report_put(f, "<h2>%s</h2>\n", name);
    else /* for those who go from heading to heading */
        fputs("<h2 class=\"unseen\">Results</h2>\n", f);
    write_legend(f, &g);
    fputs(
        "<div class=\"pair\">\n<div class=\"card chart\"></div>\n<div class=\"card chart\"></div>\n"
        "</div>\n",
        f);
    report_outcomes(&section);
    report_costs(&section);
    bool alone = section.traces == 1;
    fputs(alone ? "<div class=\"pair uneven\">\n" : "", f);
    saddle_status status = report_networks(&section, error);
    report_settings(&section);
    fputs(alone ? "</div>\n" : "", f);
    report_runs(&section);
    fputs("</section>\n", f);
    saddle_trace_groups_release(&g);
    return status;
}

/* ---- the page ------------------------------------------------------------------------------ */

/* The scripts, after what they know about columns: [name, word, title, whether logarithmic]. */
static void write_script(FILE *f)
{
    size_t count;
    const figure_column *column = figure_columns(&count);
    fputs("<script>\nconst COLUMNS = [\n", f);
    for (size_t k = 0; k < count; k++)
        saddle_fprintf(f, "[\"%s\", \"%s\", \"%s\", %s],\n", column[k].name, column[k].word,
                       column[k].title, column[k].scale == FIGURE_LOG ? "true" : "false");
    fputs("];\n", f);
    fputs(report_curves_js, f);
    fputs(report_chart_js, f);
    fputs(report_page_js, f);
    fputs("</script>\n", f);
}

/* Writes the page; `trace` is room for the traces of a section. */
static saddle_status write_page(FILE *f, const report_page *r, const saddle_trace **trace,
                                saddle_error *error)
{
    write_head(f, r);
    fputs("<body>\n<main class=\"page\">\n<header>\n<h1>", f);
    write_title(f, r);
    saddle_fprintf(f, "</h1>\n<p class=\"soft\">Made by saddle %s.</p>\n</header>\n",
                   saddle_version());
    bool titled = write_contents(f, r, trace);
    fputs("<div class=\"axes\" role=\"group\" aria-label=\"horizontal axis\"><span "
          "class=\"soft\">against</span></div>\n<noscript><p>The curves are drawn by a script, "
          "which is off; the tables and the data below are complete.</p></noscript>\n",
          f);
    report_section section = {.f = f, .trace = trace, .levels = r->levels, .level = r->level};
    for (size_t k = 0; k < r->traces; k++) {
        section.traces = take_experiment(r, k, trace);
        if (section.traces > 0)
            SADDLE_TRY(write_section(section, titled, error));
        section.place += section.traces > 0;
    }
    fputs("</main>\n", f);
    write_script(f);
    fputs("</body>\n</html>\n", f);
    return SADDLE_OK;
}

/* Refuses a page that would replace the edges of a network that it draws. */
static saddle_status check_edges(const report_page *r, const char *path, saddle_error *error)
{
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_path_list_add(&outputs, "--output", path);
    for (size_t k = 0; k < r->traces; k++)
        saddle_path_list_add_rule(&inputs, "the topology of a trace",
                                  saddle_trace_setting(r->trace[k], "topology"));
    return saddle_path_lists_check(&outputs, &inputs, error);
}

saddle_status report_write(const report_page *r, const char *path, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_output_discard) saddle_output file = {.stream = NULL};
    SADDLE_TRY(check_edges(r, path, error));
    SADDLE_OWNED const saddle_trace **trace = saddle_alloc(r->traces, sizeof *trace);
    SADDLE_TRY(saddle_check_memory((void *)trace, "the sections", error));
    SADDLE_TRY(saddle_output_open(&file, path, error));
    SADDLE_TRY(write_page(file.stream, r, trace, error));
    return saddle_output_commit(&file, error);
}

/* Refuse a file of which a page could show no curve: what is no trace would make an empty page. */
static saddle_status check_trace(const saddle_trace *trace, saddle_error *error)
{
    static const char *const axis[] = {"iteration", "ifo",     "rounds",
                                       "bytes",     "seconds", "network_seconds"};
    size_t axes = 0;
    for (size_t k = 0; k < sizeof axis / sizeof *axis; k++)
        axes += saddle_trace_column(trace, axis[k]) != NULL;
    if (axes == 0)
        return saddle_trace_missing_column(
            trace, "iteration, ifo, rounds, bytes or seconds, as a trace has", error);
    if (axes == trace->columns)
        return saddle_trace_missing_column(trace, "such as metric or loss to draw over these",
                                           error);
    return SADDLE_OK;
}

saddle_status report_of_files(const char *const *trace, size_t count, report_page page,
                              const char *path, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_trace_list_release) trace_list in = {.count = 0};
    SADDLE_TRY(saddle_trace_list_read(&in, trace, count, error));
    for (size_t k = 0; k < in.count; k++)
        SADDLE_TRY(check_trace(in.trace[k], error));
    page.traces = in.count;
    page.trace = (const saddle_trace *const *)in.trace;
    return report_write(&page, path, error);
}
