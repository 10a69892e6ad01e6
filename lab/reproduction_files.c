/* The results of a reproduction as files: claims.md, claims.json, claims.csv, costs.csv, ends.csv. */
#include <math.h>
#include <stdio.h>

#include "core/print.h"
#include "files/file.h"
#include "lab/json.h"
#include "lab/paths.h"
#include "lab/reproduction.h"

/* The name of an experiment's data, for headings. */
static const char *data_name(const paper_experiment *e)
{
    const char *data = saddle_paper_data(e->data);
    return *data != '\0' ? data : "of the problem's own";
}

/* ---- claims.csv ------------------------------------------------------------------------------ */

static void write_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void write_csv(FILE *f, const void *context)
{
    const reproduction *r = context;
    fputs("claim,source,verdict,says,reading\n", f);
    for (size_t k = 0; k < r->claims.claims; k++) {
        const claims_outcome *o = &r->claims.outcome[k];
        char verdict[CLAIMS_VERDICT];
        const char *const text[] = {saddle_claim_source(o->claim),
                                    saddle_claims_verdict_text(o, verdict), o->claim->says,
                                    o->claim->reading != NULL ? o->claim->reading : ""};
        saddle_fprintf(f, "%s", o->claim->name);
        for (size_t j = 0; j < sizeof text / sizeof *text; j++) {
            fputc(',', f);
            write_quoted(f, text[j]);
        }
        fputc('\n', f);
    }
}

/* ---- claims.json ----------------------------------------------------------------------------- */

static void add_levels(saddle_json *j, const claims_measurement *m)
{
    saddle_json_array(j, "levels");
    for (size_t k = 0; k < m->levels; k++) {
        const claims_level *level = &m->level[k];
        saddle_json_object(j, NULL);
        saddle_json_real(j, "level", level->level);
        saddle_json_whole(j, "won", level->won);
        saddle_json_whole(j, "lost", level->lost);
        saddle_json_whole(j, "tied", level->tied);
        saddle_json_real(j, "ratio", exp(level->log_ratio.mean));
        saddle_json_real(j, "least_ratio", exp(level->log_ratio.least));
        saddle_json_real(j, "most_ratio", exp(level->log_ratio.most));
        saddle_json_text(j, "ratio_is",
                         level->at_least  ? "at least"
                         : level->at_most ? "at most"
                                          : "of trace points");
        saddle_json_end_object(j);
    }
    saddle_json_end_array(j);
}

static void add_test(saddle_json *j, const claims_measurement *m)
{
    saddle_json_object(j, NULL);
    saddle_json_text(j, "experiment", m->experiment->name);
    saddle_json_text(j, "statement", m->statement);
    saddle_json_text(j, "numbers", m->numbers);
    if (m->slope.count > 0) {
        saddle_json_real(j, "slope", m->slope.mean);
        saddle_json_real(j, "slope_low", m->slope.low);
        saddle_json_real(j, "slope_high", m->slope.high);
        saddle_json_real(j, "theory", m->test->bound);
    } else if (m->test->kind != TEST_THEOREM) {
        add_levels(j, m);
    }
    saddle_json_end_object(j);
}

static void add_claim(saddle_json *j, const claims_list *list, const claims_outcome *o)
{
    char verdict[CLAIMS_VERDICT];
    saddle_json_object(j, NULL);
    saddle_json_text(j, "claim", o->claim->name);
    saddle_json_text(j, "source", saddle_claim_source(o->claim));
    saddle_json_text(j, "says", o->claim->says);
    saddle_json_text(j, "reading", o->claim->reading != NULL ? o->claim->reading : "");
    saddle_json_text(j, "verdict", saddle_claims_verdict_text(o, verdict));
    saddle_json_array(j, "tests");
    for (size_t k = 0; k < o->count; k++)
        add_test(j, &list->measurement[o->first + k]);
    saddle_json_end_array(j);
    saddle_json_end_object(j);
}

static const char *data_source(experiment_data data)
{
    return saddle_paper_data_is_substitute(data) ? "built-in" : "file";
}

static void write_json(FILE *f, const void *context)
{
    const reproduction *r = context;
    saddle_json j;
    saddle_json_begin(&j, f);
    saddle_json_text(&j, "version", saddle_version());
    saddle_json_whole(&j, "seeds", r->runs.seeds);
    saddle_json_flag(&j, "quick", r->runs.quick);
    saddle_json_text(&j, "a9a", data_source(EXPERIMENT_A9A));
    saddle_json_text(&j, "mnist", data_source(EXPERIMENT_MNIST));
    double chance;
    saddle_json_whole(&j, "comparisons", saddle_claims_comparisons(&r->claims, &chance));
    saddle_json_real(&j, "decided_by_chance", chance);
    saddle_json_array(&j, "experiments");
    for (size_t p = 0; p < r->parts; p++)
        saddle_json_text(&j, NULL, r->part[p].experiment->name);
    saddle_json_end_array(&j);
    saddle_json_array(&j, "claims");
    for (size_t k = 0; k < r->claims.claims; k++)
        add_claim(&j, &r->claims, &r->claims.outcome[k]);
    saddle_json_end_array(&j);
    saddle_json_end(&j);
}

/* ---- claims.md ------------------------------------------------------------------------------- */

/* Text in a cell of a table, where a bar would end it. */
static void write_cell(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', f);
        fputc(*text, f);
    }
}

/* A claim has the same number whichever experiments are covered. */
static size_t claim_number(const claims_outcome *o)
{
    size_t count;
    return (size_t)(o->claim - saddle_paper_claims(&count)) + 1;
}

/* The sentences with their verdicts, under a heading; nothing where there are none. */
static void write_sentences(FILE *f, const claims_list *list, bool ours, const char *heading)
{
    bool any = false;
    for (size_t k = 0; k < list->claims; k++) {
        const claims_outcome *o = &list->outcome[k];
        char verdict[CLAIMS_VERDICT];
        if (saddle_claim_is_ours(o->claim) != ours)
            continue;
        if (!any)
            saddle_fprintf(f,
                           "\n## %s\n\n| | claim | where | verdict |\n| ---: | --- | --- | --- |\n",
                           heading);
        any = true;
        saddle_fprintf(f, "| [%zu](#%s) | ", claim_number(o), o->claim->name);
        write_cell(f, o->claim->says);
        saddle_fprintf(f, " | %s | **%s** |\n", saddle_claim_source(o->claim),
                       saddle_claims_verdict_text(o, verdict));
    }
}

static void write_test(FILE *f, const claims_measurement *m, bool levels)
{
    saddle_fprintf(f, "| %s: ", m->experiment->name);
    write_cell(f, m->statement);
    for (size_t k = 0; levels && k < CLAIMS_LEVELS; k++) {
        char text[CLAIMS_TEXT] = "";
        saddle_claims_describe_level(text, sizeof text, &m->level[k]);
        saddle_fprintf(f, " | %s", *text != '\0' ? text : "-");
    }
    if (!levels) {
        fputs(" | ", f);
        write_cell(f, m->numbers);
    }
    fputs(" |\n", f);
}

/* The numbers behind a verdict. */
static void write_numbers(FILE *f, const claims_list *list, size_t k)
{
    const claims_outcome *o = &list->outcome[k];
    const claims_measurement *m = list->measurement + o->first;
    char verdict[CLAIMS_VERDICT];
    bool levels = m->levels == CLAIMS_LEVELS;
    saddle_fprintf(f, "\n### <a id=\"%s\"></a>%zu. %s\n\n", o->claim->name, claim_number(o),
                   o->claim->says);
    saddle_fprintf(f, "%s: **%s**.", saddle_claim_source(o->claim),
                   saddle_claims_verdict_text(o, verdict));
    if (o->claim->reading != NULL)
        saddle_fprintf(f, " Read as: %s.", o->claim->reading);
    fputs("\n\n| test |", f);
    for (size_t j = 0; levels && j < CLAIMS_LEVELS; j++)
        saddle_fprintf(f, " %.0e |", saddle_claims_level(j));
    fputs(levels ? "\n| --- |" : " measured |\n| --- | --- |\n", f);
    for (size_t j = 0; levels && j < CLAIMS_LEVELS; j++)
        fputs(" ---: |", f);
    fputs(levels ? "\n" : "", f);
    for (size_t j = 0; j < o->count; j++)
        write_test(f, &m[j], levels);
}

static void write_coverage(FILE *f, const reproduction *r)
{
    if (r->parts == r->experiments)
        saddle_fprintf(f, "\nAll %zu experiments are covered:\n\n", r->experiments);
    else
        saddle_fprintf(
            f,
            "\nOnly %zu of the %zu experiments are covered; there are no finished runs of the "
            "others in this directory:\n\n",
            r->parts, r->experiments);
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        char text[CLAIMS_TEXT];
        saddle_experiment_describe(&r->runs, e, text, sizeof text);
        saddle_fprintf(
            f, "- %s: %s. Data: %s%s.\n", e->name, text, data_name(e),
            saddle_paper_data_is_substitute(e->data) ? " (BUILT-IN, in place of the paper's)" : "");
    }
}

static void write_markdown(FILE *f, const void *context)
{
    const reproduction *r = context;
    const claims_list *list = &r->claims;
    char chance[CLAIMS_TEXT] = "";
    saddle_claims_describe_chance(chance, sizeof chance, list);
    saddle_fprintf(f, "# Claims\n\nMade by saddle %s with %zu seed%s%s.\n", saddle_version(),
                   r->runs.seeds, r->runs.seeds == 1 ? "" : "s",
                   r->runs.quick ? ", shortened" : "");
    write_sentences(f, list, false, "The paper's sentences");
    write_sentences(f, list, true, "Ours");
    saddle_fprintf(f,
                   "\n## Numbers\n\nLevels are values of the metric, or distances of the loss from "
                   "where it settles; a run is at a level once it stays there. `1.3x (1.2-1.4), 10 "
                   "of 10` means: at that level the cost of "
                   "the last one named is 1.3 times that of the first, geometric mean and range "
                   "over seeds, and the test is true for 10 of 10 seeds; `>=` where a run did not "
                   "get there within its budget; `-` where nobody did, or all were there from the "
                   "start. Costs are those of the first trace point at a level; where the points "
                   "are too far apart "
                   "to tell who is first, the seed does not count as true. %s\n",
                   chance);
    for (size_t k = 0; k < list->claims; k++)
        write_numbers(f, list, k);
    fputs("\n## Experiments\n", f);
    write_coverage(f, r);
}

/* ---- costs.csv ------------------------------------------------------------------------------- */

static void write_cost(FILE *f, double cost)
{
    if (isinf(cost))
        fputs(",never", f);
    else
        saddle_fprintf(f, ",%.0f", cost);
}

static void write_costs(FILE *f, const void *context)
{
    const reproduction *r = context;
    fputs("experiment,series,seed,metric,ifo,rounds,first_ifo,first_rounds\n", f);
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        for (size_t k = 0; k < e->count * r->runs.seeds; k++) {
            const saddle_trace *trace = r->part[p].trace[k];
            for (size_t j = 0; trace != NULL && j < CLAIMS_LEVELS; j++) {
                double level = saddle_claims_level(j);
                saddle_fprintf(f, "%s,%s,%zu,%.0e", e->name, e->series[k / r->runs.seeds].name,
                               k % r->runs.seeds + 1, level);
                write_cost(f, saddle_claims_stay(trace, "ifo", level).high);
                write_cost(f, saddle_claims_stay(trace, "rounds", level).high);
                write_cost(f, saddle_claims_reach(trace, "ifo", level).high);
                write_cost(f, saddle_claims_reach(trace, "rounds", level).high);
                fputc('\n', f);
            }
        }
    }
}

/* ---- ends.csv -------------------------------------------------------------------------------- */

/* What the last row of a trace says; nothing where the trace has no such column. */
static void write_end(FILE *f, const saddle_trace *trace, const char *column)
{
    const double *value = saddle_trace_column(trace, column);
    fputc(',', f);
    if (value != NULL && trace->rows > 0)
        saddle_fprintf(f, "%.17g", value[trace->rows - 1]);
}

static void write_ends(FILE *f, const void *context)
{
    static const char *const column[] = {"iteration",       "ifo",  "rounds", "bytes",
                                         "network_seconds", "loss", "metric", "y_gap"};
    const reproduction *r = context;
    fputs("experiment,series,seed", f);
    for (size_t c = 0; c < sizeof column / sizeof *column; c++)
        saddle_fprintf(f, ",%s", column[c]);
    fputc('\n', f);
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        for (size_t k = 0; k < e->count * r->runs.seeds; k++) {
            if (r->part[p].trace[k] == NULL)
                continue;
            saddle_fprintf(f, "%s,%s,%zu", e->name, e->series[k / r->runs.seeds].name,
                           k % r->runs.seeds + 1);
            for (size_t c = 0; c < sizeof column / sizeof *column; c++)
                write_end(f, r->part[p].trace[k], column[c]);
            fputc('\n', f);
        }
    }
}

saddle_status saddle_reproduction_save(const reproduction *r, saddle_error *error)
{
    const struct {
        const char *name;
        void (*write)(FILE *f, const void *context);
    } file[] = {{"claims.md", write_markdown},
                {"claims.json", write_json},
                {"claims.csv", write_csv},
                {"costs.csv", write_costs},
                {"ends.csv", write_ends}};
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < sizeof file / sizeof *file; k++) {
        char path[LAB_PATH];
        saddle_snprintf(path, sizeof path, "%s/%s", r->runs.directory, file[k].name);
        status = saddle_output_save(path, file[k].write, r, error);
    }
    return status;
}
