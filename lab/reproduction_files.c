/* The results of a reproduction as files: claims.md, claims.json, claims.csv, costs.csv. */
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

const char *saddle_reproduction_reason(const claims_outcome *o)
{
    return o->verdict == CLAIM_FAILS && o->claim->reason != NULL ? o->claim->reason : "";
}

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
    fputs("experiment,source,verdict,statement,numbers,reason\n", f);
    for (size_t k = 0; k < r->claims; k++) {
        const claims_outcome *o = &r->claim[k];
        saddle_fprintf(f, "%s,", o->experiment->name);
        const char *const text[] = {o->claim->source, saddle_claims_verdict_text(o->verdict),
                                    o->statement, o->numbers, saddle_reproduction_reason(o)};
        for (size_t j = 0; j < sizeof text / sizeof *text; j++) {
            write_quoted(f, text[j]);
            fputc(j + 1 < sizeof text / sizeof *text ? ',' : '\n', f);
        }
    }
}

static void add_levels(saddle_json *j, const claims_outcome *o)
{
    saddle_json_array(j, "levels");
    for (size_t k = 0; k < o->levels; k++) {
        const claims_level *level = &o->level[k];
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
                                          : "exact");
        saddle_json_end_object(j);
    }
    saddle_json_end_array(j);
}

static void add_claim(saddle_json *j, const claims_outcome *o)
{
    saddle_json_object(j, NULL);
    saddle_json_text(j, "experiment", o->experiment->name);
    saddle_json_text(j, "source", o->claim->source);
    saddle_json_text(j, "verdict", saddle_claims_verdict_text(o->verdict));
    saddle_json_text(j, "statement", o->statement);
    saddle_json_text(j, "numbers", o->numbers);
    saddle_json_text(j, "reason", saddle_reproduction_reason(o));
    if (o->slope.count > 0) {
        saddle_json_real(j, "slope", o->slope.mean);
        saddle_json_real(j, "slope_low", o->slope.low);
        saddle_json_real(j, "slope_high", o->slope.high);
        saddle_json_real(j, "theory", o->claim->bound);
    } else if (o->levels > 0) {
        add_levels(j, o);
    }
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
    saddle_json_array(&j, "experiments");
    for (size_t p = 0; p < r->parts; p++)
        saddle_json_text(&j, NULL, r->part[p].experiment->name);
    saddle_json_end_array(&j);
    saddle_json_array(&j, "claims");
    for (size_t k = 0; k < r->claims; k++)
        add_claim(&j, &r->claim[k]);
    saddle_json_end_array(&j);
    saddle_json_end(&j);
}

size_t saddle_reproduction_count(const reproduction *r, const paper_experiment *e,
                                 claim_verdict verdict)
{
    size_t count = 0;
    for (size_t k = 0; k < r->claims; k++)
        count += (e == NULL || r->claim[k].experiment == e) && r->claim[k].verdict == verdict;
    return count;
}

/* Text in a cell of a table, where a bar would end it. */
static void write_cell(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', f);
        fputc(*text, f);
    }
}

static void write_markdown_claims(FILE *f, const reproduction *r, const paper_experiment *e)
{
    fputs("| claim | verdict | measured |\n| --- | --- | --- |\n", f);
    for (size_t k = 0; k < r->claims; k++) {
        const claims_outcome *o = &r->claim[k];
        if (o->experiment != e)
            continue;
        fputs("| ", f);
        write_cell(f, saddle_claims_statement(o));
        saddle_fprintf(f, " (%s) | %s | ", o->claim->source,
                       saddle_claims_verdict_text(o->verdict));
        write_cell(f, o->numbers);
        fputs(*saddle_reproduction_reason(o) != '\0' ? ". Likely reason: " : "", f);
        write_cell(f, saddle_reproduction_reason(o));
        fputs(" |\n", f);
    }
}

static void write_markdown(FILE *f, const void *context)
{
    const reproduction *r = context;
    saddle_fprintf(
        f,
        "# Claims\n\n%zu hold, %zu do not, %zu are not decided. saddle %s, %zu seed%s%s.\n\n"
        "A level is a fraction of the start's metric. `1e-2: 1.3x (1.2-1.4), 5 of 5` means: at "
        "that level the other one's cost is 1.3 times as large, geometric mean and range over "
        "seeds, and the claim is true for 5 of 5 seeds; `>=` where a run did not get there "
        "within its budget. 1e-1 is shown but does not decide.\n",
        saddle_reproduction_count(r, NULL, CLAIM_HOLDS),
        saddle_reproduction_count(r, NULL, CLAIM_FAILS),
        saddle_reproduction_count(r, NULL, CLAIM_UNDECIDED), saddle_version(), r->runs.seeds,
        r->runs.seeds == 1 ? "" : "s", r->runs.quick ? ", shortened" : "");
    if (r->parts == r->experiments)
        saddle_fprintf(f, "\nAll %zu experiments are covered.\n", r->experiments);
    else
        saddle_fprintf(
            f,
            "\nOnly %zu of the %zu experiments are covered; there are no finished runs of the "
            "others in this directory.\n",
            r->parts, r->experiments);
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        saddle_fprintf(
            f, "\n## %s\n\nSource: %s. Data: %s%s.\n\n", e->title, e->source, data_name(e),
            saddle_paper_data_is_substitute(e->data) ? " (BUILT-IN, in place of the paper's)" : "");
        if (saddle_reproduction_count(r, e, CLAIM_HOLDS) +
                saddle_reproduction_count(r, e, CLAIM_FAILS) +
                saddle_reproduction_count(r, e, CLAIM_UNDECIDED) >
            0)
            write_markdown_claims(f, r, e);
        else
            fputs("The paper claims nothing here.\n", f);
    }
}

/* ---- costs ----------------------------------------------------------------------------------- */

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
    fputs("experiment,series,seed,level,metric,ifo,rounds\n", f);
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        for (size_t k = 0; k < e->count * r->runs.seeds; k++) {
            const saddle_trace *trace = r->part[p].trace[k];
            const saddle_trace *first = r->part[p].trace[k % r->runs.seeds];
            if (trace == NULL || first == NULL || first->rows == 0)
                continue;
            for (size_t j = 0; j < CLAIMS_LEVELS; j++) {
                double fraction = saddle_claims_fraction(j);
                double level = fraction * saddle_trace_column(first, "metric")[0];
                saddle_fprintf(f, "%s,%s,%zu,%.0e,%.6g", e->name, e->series[k / r->runs.seeds].name,
                               k % r->runs.seeds + 1, fraction, level);
                write_cost(f, saddle_claims_reach(trace, "ifo", level).high);
                write_cost(f, saddle_claims_reach(trace, "rounds", level).high);
                fputc('\n', f);
            }
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
                {"costs.csv", write_costs}};
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < sizeof file / sizeof *file; k++) {
        char path[LAB_PATH];
        saddle_snprintf(path, sizeof path, "%s/%s", r->runs.directory, file[k].name);
        status = saddle_output_save(path, file[k].write, r, error);
    }
    return status;
}
