/* The claims of a report: the sentences with their verdicts, each with its numbers folded up. */
#include <stdio.h>

#include "core/print.h"
#include "draw/report_parts.h"

/* How a verdict looks. */
static const struct {
    const char *style;
    const char *mark;
} looks[CLAIM_VERDICTS] = {
    [CLAIM_HOLDS] = {"holds", "&#10003;"},     [CLAIM_HOLDS_BELOW] = {"holds", "&#10003;"},
    [CLAIM_HOLDS_ABOVE] = {"undecided", "~"},  [CLAIM_HOLDS_PARTLY] = {"undecided", "~"},
    [CLAIM_FAILS] = {"fails", "&#10007;"},     [CLAIM_UNDECIDED] = {"undecided", "?"},
    [CLAIM_UNTESTED] = {"undecided", "?"},     [CLAIM_NOT_CONTRADICTED] = {"holds", "&#10003;"},
    [CLAIM_SAYS_NOTHING] = {"undecided", "?"}, [CLAIM_DIFFERS] = {"undecided", "~"}};

static void write_levels_head(FILE *f)
{
    fputs("<tr><th>test</th>", f);
    for (size_t k = 0; k < CLAIMS_LEVELS; k++)
        saddle_fprintf(f, "<th>%.0e</th>", saddle_claims_level(k));
    fputs("</tr>", f);
}

/* A cell is marked where a test is true or false. */
static void write_level(FILE *f, const claims_level *level)
{
    char text[CLAIMS_TEXT] = "";
    const char *style = level->state == STATE_TRUE    ? "holds"
                        : level->state == STATE_FALSE ? "fails"
                                                      : "soft";
    saddle_claims_describe_level(text, sizeof text, level);
    report_html(f, "<td class=\"%s\">%s</td>", style, text);
}

static void write_test(FILE *f, const claims_measurement *m)
{
    report_html(f, "<tr><td>%s: %s</td>", m->experiment->title, m->statement);
    for (size_t k = 0; m->levels == CLAIMS_LEVELS && k < CLAIMS_LEVELS; k++)
        write_level(f, &m->level[k]);
    if (m->levels != CLAIMS_LEVELS)
        report_html(f, "<td>%s</td>", m->numbers);
    fputs("</tr>\n", f);
}

static void write_claim(FILE *f, const claims_list *list, const claims_outcome *o)
{
    char verdict[CLAIMS_VERDICT];
    bool levels = list->measurement[o->first].levels == CLAIMS_LEVELS;
    saddle_fprintf(f, "<details class=\"card claims-of\"><summary><b class=\"%s\">%s ",
                   looks[o->whole.verdict].style, looks[o->whole.verdict].mark);
    report_html(f, "%s</b>: %s <span class=\"soft\">(%s)</span></summary>\n",
                saddle_claims_verdict_text(o, verdict), o->claim->says,
                saddle_claim_source(o->claim));
    if (o->claim->reading != NULL)
        report_html(f, "<p>Read as: %s.</p>\n", o->claim->reading);
    fputs("<div class=\"scroll\"><table class=\"claims\"><thead>", f);
    if (levels)
        write_levels_head(f);
    else
        fputs("<tr><th>test</th><th>measured</th></tr>", f);
    fputs("</thead><tbody>\n", f);
    for (size_t k = 0; k < o->count; k++)
        write_test(f, &list->measurement[o->first + k]);
    fputs("</tbody></table></div></details>\n", f);
}

/* The claims of the paper, or ours; nothing where there are none. */
static void write_group(FILE *f, const claims_list *list, bool ours, const char *heading)
{
    size_t count = 0;
    for (size_t k = 0; k < list->claims; k++) {
        if (saddle_claim_is_ours(list->outcome[k].claim) != ours)
            continue;
        if (count++ == 0)
            saddle_fprintf(f, "<h3>%s</h3>\n", heading);
        write_claim(f, list, &list->outcome[k]);
    }
}

void report_claims(FILE *f, const report_page *r)
{
    char chance[CLAIMS_TEXT] = "";
    if (r->claims == NULL || r->claims->claims == 0)
        return;
    saddle_claims_describe_chance(chance, sizeof chance, r->claims);
    report_html(f,
                "<section id=\"claims\">\n<h2>What the paper says, and what was measured</h2>\n"
                "<p>%s Levels are values of the metric, or distances of the loss from its limit; "
                "1.3x means that the last series named costs 1.3 times as much as the first. "
                "%s</p>\n",
                r->claims_text, chance);
    write_group(f, r->claims, false, "The paper's sentences");
    write_group(f, r->claims, true, "Ours");
    fputs("</section>\n", f);
}
