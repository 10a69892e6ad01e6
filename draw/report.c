#include "draw/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/network_drawing.h"
#include "draw/palette.h"
#include "draw/report_assets.h"
#include "draw/report_parts.h"
#include "files/file.h"
#include "lab/paper_comparisons.h"
#include "lab/trace_list.h"

/* Networks of more agents are not drawn on a page, nor are more networks of one section. */
#define MOST_DRAWN 400
#define MOST_NETWORKS 4
/* With fewer seeds all may agree by chance. */
#define FEW_SEEDS 5

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
    size_t k = palette_index(group->algorithm, place);
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
    fputs(":root {", f);
    for (size_t k = 0; k < palette_count(); k++)
        fprintf(f, " --a%zu: %s;", k, palette_look(k)->light);
    fputs(" }\n@media (prefers-color-scheme: dark) { :root {", f);
    for (size_t k = 0; k < palette_count(); k++)
        fprintf(f, " --a%zu: %s;", k, palette_look(k)->dark);
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
        report_text(f, saddle_file_name(data));
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

#define VERDICTS 3
static const struct {
    const char *style;
    const char *text;
} verdicts[VERDICTS] = {[CLAIM_HOLDS] = {"holds", "&#10003; holds"},
                        [CLAIM_FAILS] = {"fails", "&#10007; does not hold"},
                        [CLAIM_UNDECIDED] = {"undecided", "? not decided"}};

report_claim report_claim_of(const claims_outcome *outcome, size_t section)
{
    return (report_claim){.section = section,
                          .theme = outcome->claim->theme,
                          .statement = saddle_claims_statement(outcome),
                          .verdict = outcome->verdict,
                          .numbers = outcome->numbers};
}

/* Which claims are meant. */
typedef struct choice {
    const char *theme; /* NULL: of any */
    size_t section;    /* ANY_SECTION: of any */
} choice;
#define ANY_SECTION SIZE_MAX

static bool is_meant(const report_claim *one, choice which)
{
    return (which.theme == NULL || (one->theme != NULL && strcmp(one->theme, which.theme) == 0)) &&
           (which.section == ANY_SECTION || one->section == which.section);
}

/* How many claims there are of each verdict; returns how many in all. */
static size_t count_claims(const report_page *r, choice which, size_t count[VERDICTS])
{
    size_t all = 0;
    memset(count, 0, VERDICTS * sizeof *count);
    for (size_t k = 0; k < r->claims; k++)
        if (is_meant(&r->claim[k], which)) {
            count[r->claim[k].verdict]++;
            all++;
        }
    return all;
}

/* "38 hold, 31 do not, 7 are not decided". */
static void write_counts(FILE *f, const size_t count[VERDICTS])
{
    fprintf(f,
            "<b class=\"holds\">%zu</b> hold%s, <b class=\"fails\">%zu</b> %s not, "
            "<b class=\"undecided\">%zu</b> %s not decided",
            count[CLAIM_HOLDS], count[CLAIM_HOLDS] == 1 ? "s" : "", count[CLAIM_FAILS],
            count[CLAIM_FAILS] == 1 ? "does" : "do", count[CLAIM_UNDECIDED],
            count[CLAIM_UNDECIDED] == 1 ? "is" : "are");
}

/* The sections where claims of a theme have a verdict, with how many of how many if not all have. */
static void write_places(FILE *f, const report_page *r, const char *theme, claim_verdict verdict)
{
    bool first = true;
    for (size_t s = 0; s < r->sections; s++) {
        size_t count[VERDICTS];
        size_t all = count_claims(r, (choice){theme, s}, count);
        if (count[verdict] == 0)
            continue;
        if (r->sections == 1) {
            fprintf(f, "<a href=\"#section-1\">%zu of %zu</a>", count[verdict], all);
            continue;
        }
        /* Titles may have commas of their own. */
        fprintf(f, "%s<a href=\"#section-%zu\">", first ? "" : "; ", s + 1);
        report_text(f, r->section[s].title != NULL ? r->section[s].title : "");
        fputs("</a>", f);
        if (count[verdict] < all)
            fprintf(f, " (%zu of %zu)", count[verdict], all);
        first = false;
    }
}

/* What is claimed, in a few words, and where it holds. */
static void write_theme(FILE *f, const report_page *r, const char *theme)
{
    size_t count[VERDICTS];
    count_claims(r, (choice){theme, ANY_SECTION}, count);
    fputs("<tr><td>", f);
    report_text(f, theme);
    fputs("</td><td>", f);
    for (size_t v = 0; v < VERDICTS; v++) {
        if (count[v] == 0)
            continue;
        fprintf(f, "<div><span class=\"verdict %s\">%s:</span> ", verdicts[v].style,
                verdicts[v].text);
        write_places(f, r, theme, (claim_verdict)v);
        fputs("</div>", f);
    }
    fputs("</td></tr>\n", f);
}

/* Whether an earlier claim has the theme of claim k, or it has none. */
static bool is_told(const report_page *r, size_t k)
{
    for (size_t j = 0; j < k; j++)
        if (is_meant(&r->claim[j], (choice){r->claim[k].theme, ANY_SECTION}))
            return true;
    return r->claim[k].theme == NULL;
}

/* The verdicts, before anything else. */
static void write_summary(FILE *f, const report_page *r)
{
    size_t count[VERDICTS];
    if (count_claims(r, (choice){NULL, ANY_SECTION}, count) == 0)
        return;
    fputs("<section id=\"claims\">\n<h2>What became of the paper's claims</h2>\n<p>", f);
    report_text(f, r->claims_text != NULL ? r->claims_text : "");
    fprintf(f, " Of %zu claims ", r->claims);
    write_counts(f, count);
    fputs(". They are below the curves, each with its numbers.</p>\n", f);
    fputs("<div class=\"card scroll\"><table class=\"themes\"><tbody>\n", f);
    for (size_t k = 0; k < r->claims; k++)
        if (!is_told(r, k))
            write_theme(f, r, r->claim[k].theme);
    fputs("</tbody></table></div>\n</section>\n", f);
}

static void write_claim(FILE *f, const report_claim *one)
{
    fputs("<tr><td>", f);
    report_text(f, one->statement);
    fprintf(f, "</td><td class=\"verdict %s\">%s</td><td>", verdicts[one->verdict].style,
            verdicts[one->verdict].text);
    report_text(f, one->numbers != NULL ? one->numbers : "");
    if (one->reason != NULL && *one->reason != '\0') {
        fputs("<br><span class=\"soft\">", f);
        report_text(f, one->reason);
        fputs("</span>", f);
    }
    fputs("</td></tr>\n", f);
}

/* The claims about a section, folded. */
static void write_claims(FILE *f, const report_page *r, size_t section)
{
    size_t count[VERDICTS];
    size_t all = count_claims(r, (choice){NULL, section}, count);
    if (all == 0)
        return;
    fprintf(f, "<details class=\"card claims-of\"><summary>%zu claim%s: ", all,
            all == 1 ? "" : "s");
    write_counts(f, count);
    fputs("</summary>\n<div class=\"scroll\"><table "
          "class=\"claims\"><thead><tr><th>claim</th><th>verdict</th><th>measured</th></tr></thead>"
          "<tbody>\n",
          f);
    for (size_t k = 0; k < r->claims; k++)
        if (r->claim[k].section == section)
            write_claim(f, &r->claim[k]);
    fputs("</tbody></table></div></details>\n", f);
}

/* ---- sections ------------------------------------------------------------------------------ */

/* The network of a trace, if it says enough, the graph can be made again and is not too large. */
static saddle_graph *make_network(const saddle_trace *trace)
{
    saddle_graph *graph = NULL;
    uint64_t agents = 0;
    if (!saddle_parse_integer(saddle_trace_setting(trace, "agents"), &agents) ||
        agents > MOST_DRAWN || network_of_trace(&graph, trace, NULL) != SADDLE_OK)
        return NULL;
    return graph;
}

/* Whether the network of trace k has the first seed, and is that of none before it. */
static bool is_another_network(const report_section *section, size_t k)
{
    for (size_t j = 0; j < k; j++)
        if (network_is_same(section->trace[j], section->trace[k]))
            return false;
    return strcmp(saddle_trace_setting(section->trace[k], "seed"),
                  saddle_trace_setting(section->trace[0], "seed")) == 0;
}

/* The networks of the section's runs with its first seed. */
static saddle_status write_networks(FILE *f, const report_section *section, saddle_error *error)
{
    size_t drawn = 0;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < section->traces && drawn < MOST_NETWORKS; k++) {
        saddle_graph *graph =
            is_another_network(section, k) ? make_network(section->trace[k]) : NULL;
        if (graph == NULL)
            continue;
        fputs(drawn++ == 0 ? "<div class=\"card\">\n<h3>Network</h3>\n<div class=\"networks\">\n"
                           : "",
              f);
        fputs("<figure>\n", f);
        status = network_write_svg(graph, f, error);
        fputs("<figcaption class=\"soft\">", f);
        report_text(f, saddle_trace_setting(section->trace[k], "topology"));
        fprintf(f, ": %zu agents, %zu edges, seed ", graph->agents, graph->edges);
        report_text(f, saddle_trace_setting(section->trace[k], "seed"));
        fputs("</figcaption>\n</figure>\n", f);
        saddle_graph_free(graph);
    }
    fputs(drawn > 0 ? "</div>\n</div>\n" : "", f);
    return status;
}

static void write_legend(FILE *f, const trace_groups *g)
{
    fputs("<div class=\"legend\" role=\"group\" aria-label=\"curves\">\n", f);
    for (size_t k = 0; k < g->groups; k++) {
        const trace_group *group = &g->group[k];
        const saddle_look *look = palette_look(palette_index(group->algorithm, k));
        const char *dashes = palette_dashes(look, group->repeat);
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
    for (size_t k = 0; k < r->sections; k++)
        if (r->section[k].title != NULL && *r->section[k].title != '\0') {
            fprintf(f, "<a href=\"#section-%zu\">", k + 1);
            report_text(f, r->section[k].title);
            fputs("</a>\n", f);
        }
    fputs("</nav>\n", f);
}

static saddle_status write_section(FILE *f, const report_page *r, size_t place, saddle_error *error)
{
    trace_groups g;
    const report_section *section = &r->section[place];
    saddle_status status = saddle_trace_groups_make(&g, section->trace, section->traces, error);
    if (status != SADDLE_OK)
        return status;
    fprintf(f, "<section class=\"traces\" id=\"section-%zu\" data-y=\"", place + 1);
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
    write_claims(f, r, place);
    report_costs(f, section, &g);
    fputs("<div class=\"pair uneven\">\n", f);
    status = write_networks(f, section, error);
    report_settings(f, section);
    fputs("</div>\n", f);
    report_runs(f, section, &g);
    fputs("</section>\n", f);
    saddle_trace_groups_release(&g);
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
    write_summary(f, r);
    write_contents(f, r);
    fputs("<div class=\"axes\" role=\"group\" aria-label=\"horizontal axis\"><span "
          "class=\"soft\">against"
          "</span></div>\n<noscript><p>The curves are drawn by a script, which is off; the tables "
          "and "
          "the data below are complete.</p></noscript>\n",
          f);
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < r->sections; k++)
        status = write_section(f, r, k, error);
    fputs("</div>\n<script>\n", f);
    fputs(report_js, f);
    fputs("</script>\n</body>\n</html>\n", f);
    return status;
}

saddle_status report_write(const report_page *r, const char *path, saddle_error *error)
{
    saddle_output file;
    saddle_status status = saddle_output_open(&file, path, error);
    if (status != SADDLE_OK)
        return status;
    status = write_page(file.stream, r, error);
    if (status == SADDLE_OK)
        return saddle_output_commit(&file, error);
    saddle_output_discard(&file);
    return status;
}

/* Refuse a file of which a page could show no curve: what is no trace would make an empty page. */
static saddle_status check_trace(const saddle_trace *trace, saddle_error *error)
{
    static const char *const axis[] = {"iteration", "ifo", "rounds", "bytes", "seconds"};
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

/* Write a page about traces, with the paper's claims if these runs can decide them. */
static saddle_status write_about(const report_section *section, const char *title, const char *path,
                                 saddle_error *error)
{
    paper_comparisons decided;
    char text[256];
    saddle_status status =
        saddle_paper_comparisons_make(&decided, section->trace, section->traces, error);
    report_claim *claim = calloc(decided.claims + 1, sizeof *claim);
    if (status == SADDLE_OK && claim == NULL)
        status = saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the claims");
    if (status == SADDLE_OK) {
        /* Without reasons: the likely ones are those of the paper's experiments. */
        for (size_t k = 0; k < decided.claims; k++)
            claim[k] = report_claim_of(&decided.outcome[k], 0);
        snprintf(text, sizeof text,
                 "Asked of these runs, with %zu seed%s%s, at fractions of the start's metric: "
                 "1.3x means that the other one's cost is 1.3 times as large.",
                 decided.seeds, decided.seeds == 1 ? "" : "s",
                 decided.seeds < FEW_SEEDS ? " (few to decide by)" : "");
        report_page page = {.title = title,
                            .claims_text = text,
                            .claims = decided.claims,
                            .claim = claim,
                            .sections = 1,
                            .section = section};
        status = report_write(&page, path, error);
    }
    free(claim);
    saddle_paper_comparisons_release(&decided);
    return status;
}

saddle_status report_of_files(const char *const *trace, size_t count, report_section section,
                              const char *title, const char *path, saddle_error *error)
{
    trace_list in;
    saddle_status status = saddle_trace_list_read(&in, trace, count, error);
    for (size_t k = 0; status == SADDLE_OK && k < in.count; k++)
        status = check_trace(in.trace[k], error);
    section.traces = in.count;
    section.trace = (const saddle_trace *const *)in.trace;
    if (status == SADDLE_OK)
        status = write_about(&section, title, path, error);
    saddle_trace_list_release(&in);
    return status;
}
