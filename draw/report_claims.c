/* The claims of a report: a summary by themes, and a table for each section. */
#include <stdio.h>
#include <string.h>

#include "core/print.h"
#include "draw/report_parts.h"

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
    saddle_fprintf(f,
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
            saddle_fprintf(f, "<a href=\"#section-1\">%zu of %zu</a>", count[verdict], all);
            continue;
        }
        /* Titles may have commas of their own. */
        report_html(f, "%s<a href=\"#section-%zu\">%s</a>", first ? "" : "; ", s + 1,
                    r->section[s].title);
        if (count[verdict] < all)
            saddle_fprintf(f, " (%zu of %zu)", count[verdict], all);
        first = false;
    }
}

/* What is claimed, in a few words, and where it holds. */
static void write_theme(FILE *f, const report_page *r, const char *theme)
{
    size_t count[VERDICTS];
    count_claims(r, (choice){theme, ANY_SECTION}, count);
    report_html(f, "<tr><td>%s</td><td>", theme);
    for (size_t v = 0; v < VERDICTS; v++) {
        if (count[v] == 0)
            continue;
        saddle_fprintf(f, "<div><span class=\"verdict %s\">%s:</span> ", verdicts[v].style,
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

void report_summary(FILE *f, const report_page *r)
{
    size_t count[VERDICTS];
    if (count_claims(r, (choice){NULL, ANY_SECTION}, count) == 0)
        return;
    report_html(f,
                "<section id=\"claims\">\n<h2>Which of the paper's claims hold</h2>\n"
                "<p>%s Of %zu claims ",
                r->claims_text, r->claims);
    write_counts(f, count);
    fputs(". Each is below the curves, with its numbers.</p>\n"
          "<div class=\"card scroll\"><table class=\"themes\"><tbody>\n",
          f);
    for (size_t k = 0; k < r->claims; k++)
        if (!is_told(r, k))
            write_theme(f, r, r->claim[k].theme);
    fputs("</tbody></table></div>\n</section>\n", f);
}

static void write_claim(FILE *f, const report_claim *one)
{
    report_html(f, "<tr><td>%s</td>", one->statement);
    saddle_fprintf(f, "<td class=\"verdict %s\">%s</td>", verdicts[one->verdict].style,
                   verdicts[one->verdict].text);
    report_html(f, "<td>%s", one->numbers);
    if (one->reason != NULL && *one->reason != '\0')
        report_html(f, "<br><span class=\"soft\">%s</span>", one->reason);
    fputs("</td></tr>\n", f);
}

void report_claims(FILE *f, const report_page *r, size_t section)
{
    size_t count[VERDICTS];
    size_t all = count_claims(r, (choice){NULL, section}, count);
    if (all == 0)
        return;
    saddle_fprintf(f, "<details class=\"card claims-of\"><summary>%zu claim%s: ", all,
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
