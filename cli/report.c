#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "network.h"
#include "palette.h"
#include "report_assets.h"
#include "report_parts.h"
#include "traces.h"

/* Networks of more agents are not drawn on a page. */
#define MOST_DRAWN 400

/* ---- small things -------------------------------------------------------------------------- */

void report_text(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", f);
            break;
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        case '\'':
            fputs("&#39;", f);
            break;
        default: /* control characters are not allowed on a page */
            fputc((unsigned char)*text < 0x20 || *text == 0x7F ? ' ' : *text, f);
        }
    }
}

void report_colour(FILE *f, const trace_group *group, size_t place)
{
    size_t count;
    size_t k = (size_t)(palette_find(group->algorithm, place) - palette_list(&count));
    if (group->repeat == 0)
        fprintf(f, "var(--a%zu)", k);
    else
        fprintf(f, "color-mix(in srgb, var(--a%zu) %d%%, var(--card))", k,
                palette_strength(group->repeat));
}

void report_label(FILE *f, const trace_group *group, size_t place)
{
    fputs("<span class=\"swatch\" style=\"background:", f);
    report_colour(f, group, place);
    fputs("\"></span>", f);
    report_text(f, group->label);
}

/* Paragraphs, which empty lines part. */
static void write_paragraphs(FILE *f, const char *text)
{
    bool open = false;
    for (const char *c = text; c != NULL && *c != '\0'; c++) {
        if (*c == '\n' && c[1] == '\n') {
            fputs(open ? "</p>\n" : "", f);
            open = false;
            continue;
        }
        if (*c == '\n' && !open)
            continue;
        if (!open)
            fputs("<p>", f);
        open = true;
        char letter[2] = {*c, '\0'};
        report_text(f, letter);
    }
    fputs(open ? "</p>\n" : "", f);
}

/* ---- the head ------------------------------------------------------------------------------ */

static void write_colours(FILE *f)
{
    size_t count;
    const palette_entry *look = palette_list(&count);
    fputs(":root {", f);
    for (size_t k = 0; k < count; k++)
        fprintf(f, " --a%zu: %s;", k, look[k].light);
    fputs(" }\n@media (prefers-color-scheme: dark) { :root {", f);
    for (size_t k = 0; k < count; k++)
        fprintf(f, " --a%zu: %s;", k, look[k].dark);
    fputs(" } }\n", f);
}

/* The title: what the caller says, or problem and data of the first trace. */
static void write_title(FILE *f, const report_page *r)
{
    const saddle_trace *first =
        r->sections > 0 && r->section[0].traces > 0 ? r->section[0].trace[0] : NULL;
    const char *problem = first != NULL ? saddle_trace_setting(first, "problem") : "";
    const char *data = first != NULL ? saddle_trace_setting(first, "data") : "";
    if (r->title != NULL && *r->title != '\0') {
        report_text(f, r->title);
    } else if (*problem != '\0') {
        report_text(f, problem);
        fputs(*data != '\0' ? " on " : "", f);
        report_text(f, cli_file_name(data));
    } else {
        fputs("saddle report", f);
    }
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

/* ---- claims -------------------------------------------------------------------------------- */

static void write_claims(FILE *f, const report_page *r)
{
    static const struct {
        const char *style;
        const char *text;
    } verdict[] = {[REPORT_HOLDS] = {"holds", "&#10003; holds"},
                   [REPORT_FAILS] = {"fails", "&#10007; does not hold"},
                   [REPORT_UNDECIDED] = {"undecided", "? not decided"}};
    if (r->claims == 0)
        return;
    size_t count[sizeof verdict / sizeof *verdict] = {0};
    for (size_t k = 0; k < r->claims; k++)
        count[r->claim[k].verdict]++;
    fputs("<section id=\"claims\">\n<h2>Claims</h2>\n", f);
    fprintf(f,
            "<p>Of %zu: <b class=\"holds\">%zu</b> hold, <b class=\"fails\">%zu</b> not, <b "
            "class=\"undecided\">%zu</b> not decided.</p>\n",
            r->claims, count[REPORT_HOLDS], count[REPORT_FAILS], count[REPORT_UNDECIDED]);
    fputs("<div class=\"card scroll\"><table "
          "class=\"claims\"><thead><tr><th>claim</th><th>verdict</th><th>measured</th></tr></thead>"
          "<tbody>\n",
          f);
    for (size_t k = 0; k < r->claims; k++) {
        const report_claim *claim = &r->claim[k];
        fputs("<tr><td>", f);
        report_text(f, claim->statement);
        fprintf(f, "</td><td class=\"verdict %s\">%s</td><td>", verdict[claim->verdict].style,
                verdict[claim->verdict].text);
        report_text(f, claim->numbers != NULL ? claim->numbers : "");
        if (claim->reason != NULL && *claim->reason != '\0') {
            fputs("<br><span class=\"soft\">", f);
            report_text(f, claim->reason);
            fputs("</span>", f);
        }
        fputs("</td></tr>\n", f);
    }
    fputs("</tbody></table></div>\n</section>\n", f);
}

/* ---- sections ------------------------------------------------------------------------------ */

/* The network of the section's first trace, if it says enough and the graph can be made again. */
static saddle_graph *make_network(const report_section *section)
{
    saddle_graph *graph = NULL;
    const saddle_trace *trace = section->traces > 0 ? section->trace[0] : NULL;
    const char *topology = trace != NULL ? saddle_trace_setting(trace, "topology") : "";
    uint64_t agents = 0;
    uint64_t seed = 0;
    bool said = *topology != '\0' &&
                saddle_parse_integer(saddle_trace_setting(trace, "agents"), &agents) &&
                saddle_parse_integer(saddle_trace_setting(trace, "seed"), &seed);
    /* A file of edges may have changed or gone; then there is no drawing. */
    if (!said || agents > MOST_DRAWN ||
        saddle_graph_create(&graph, topology, (size_t)agents, seed, NULL) != SADDLE_OK)
        return NULL;
    return graph;
}

static saddle_status write_network(FILE *f, const report_section *section, saddle_error *error)
{
    saddle_graph *graph = make_network(section);
    if (graph == NULL)
        return SADDLE_OK;
    fputs("<div class=\"card\">\n<h3>Network</h3>\n", f);
    saddle_status status = network_write_svg(graph, f, error);
    fprintf(f, "<p class=\"soft\">%zu agents, %zu edges, seed ", graph->agents, graph->edges);
    report_text(f, saddle_trace_setting(section->trace[0], "seed"));
    fputs("</p>\n</div>\n", f);
    saddle_graph_free(graph);
    return status;
}

static void write_legend(FILE *f, const grouping *g)
{
    fputs("<div class=\"legend\" role=\"group\" aria-label=\"curves\">\n", f);
    for (size_t k = 0; k < g->groups; k++) {
        const trace_group *group = &g->group[k];
        const char *dashes = palette_dashes(palette_find(group->algorithm, k), group->repeat);
        fputs("<button type=\"button\" aria-pressed=\"true\" data-label=\"", f);
        report_text(f, group->label);
        fputs("\" data-colour=\"", f);
        report_colour(f, group, k);
        fprintf(f,
                "\" data-dashes=\"%s\"><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\"><path "
                "d=\"M1 5H29\" fill=\"none\" stroke-width=\"2.5\" stroke-dasharray=\"%s\" "
                "style=\"stroke:",
                dashes, dashes);
        report_colour(f, group, k);
        fputs("\"/></svg><span>", f);
        report_text(f, group->label);
        fputs("</span>", f);
        if (group->count > 1)
            fprintf(f, "<span class=\"soft\">%zu runs</span>", group->count);
        fputs("</button>\n", f);
    }
    fputs("</div>\n", f);
}

/* Links to the chapters of a page that has several. */
static void write_contents(FILE *f, const report_page *r)
{
    if (r->sections < 2)
        return;
    fputs("<nav aria-label=\"contents\">\n", f);
    if (r->claims > 0)
        fputs("<a href=\"#claims\">Claims</a>\n", f);
    for (size_t k = 0; k < r->sections; k++)
        if (r->section[k].title != NULL && *r->section[k].title != '\0') {
            fprintf(f, "<a href=\"#section-%zu\">", k + 1);
            report_text(f, r->section[k].title);
            fputs("</a>\n", f);
        }
    fputs("</nav>\n", f);
}

static saddle_status write_section(FILE *f, const report_section *section, size_t number,
                                   saddle_error *error)
{
    grouping g;
    saddle_status status = grouping_make(&g, section->trace, section->traces, error);
    if (status != SADDLE_OK)
        return status;
    fprintf(f, "<section class=\"traces\" id=\"section-%zu\" data-y=\"", number);
    report_text(f, section->y != NULL ? section->y : "");
    fputs("\">\n", f);
    if (section->title != NULL && *section->title != '\0') {
        fputs("<h2>", f);
        report_text(f, section->title);
        fputs("</h2>\n", f);
    }
    write_paragraphs(f, section->text);
    write_legend(f, &g);
    fputs(
        "<div class=\"pair\">\n<div class=\"card chart\"></div>\n<div class=\"card chart\"></div>\n"
        "</div>\n",
        f);
    report_costs(f, section, &g);
    fputs("<div class=\"pair uneven\">\n", f);
    status = write_network(f, section, error);
    report_settings(f, section);
    fputs("</div>\n", f);
    report_runs(f, section, &g);
    fputs("</section>\n", f);
    grouping_release(&g);
    return status;
}

/* ---- the page ------------------------------------------------------------------------------ */

static saddle_status write_page(FILE *f, const report_page *r, saddle_error *error)
{
    write_head(f, r);
    fputs("<body>\n<div class=\"page\">\n<header>\n<h1>", f);
    write_title(f, r);
    fprintf(f, "</h1>\n<p class=\"soft\">Made by saddle %s.</p>\n</header>\n", saddle_version());
    write_paragraphs(f, r->text);
    write_contents(f, r);
    write_claims(f, r);
    fputs("<div class=\"axes\" role=\"group\" aria-label=\"horizontal axis\"><span "
          "class=\"soft\">against"
          "</span></div>\n<noscript><p>The curves are drawn by a script, which is off; the tables "
          "and "
          "the data below are complete.</p></noscript>\n",
          f);
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < r->sections; k++)
        status = write_section(f, &r->section[k], k + 1, error);
    fputs("</div>\n<script>\n", f);
    fputs(report_js, f);
    fputs("</script>\n</body>\n</html>\n", f);
    return status;
}

saddle_status report_write(const report_page *r, const char *path, saddle_error *error)
{
    cli_output file;
    saddle_status status = cli_output_open(&file, path, error);
    if (status != SADDLE_OK)
        return status;
    status = write_page(file.stream, r, error);
    return cli_output_close(&file, status, error);
}

saddle_status report_of_files(const char *const *trace, size_t count, report_section section,
                              const char *title, const char *path, saddle_error *error)
{
    traces in;
    saddle_status status = traces_read(&in, trace, count, error);
    if (status != SADDLE_OK)
        return status;
    section.traces = in.count;
    section.trace = (const saddle_trace *const *)in.trace;
    report_page page = {.title = title, .sections = 1, .section = &section};
    status = report_write(&page, path, error);
    traces_release(&in);
    return status;
}
