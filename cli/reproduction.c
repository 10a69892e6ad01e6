/* Tables and the report of `saddle reproduce`. */
#include "reproduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"

const char *reproduction_data(const reproduction_part *part)
{
    const char *data = study_data(part->experiment->data);
    return *data != '\0' ? data : "of the problem's own";
}

void reproduction_release(reproduction *r)
{
    for (size_t p = 0; p < r->parts; p++) {
        const reproduction_part *part = &r->part[p];
        size_t count = part->experiment->count * r->seeds;
        for (size_t k = 0; part->bound != NULL && k < count; k++)
            derive_free(part->bound[k]);
        for (size_t k = 0; part->trace != NULL && k < count; k++)
            saddle_trace_free(part->trace[k]);
        free((void *)part->bound);
        free((void *)part->trace);
    }
    free(r->part);
    free(r->claim);
}

bool reproduction_said(const reproduction *r, const char *what)
{
    char *path = NULL;
    char head[512] = "";
    if (asprintf(&path, "%s/claims.json", r->directory) < 0)
        return false;
    FILE *f = fopen(path, "r");
    free(path);
    if (f == NULL)
        return false;
    bool said = fgets(head, sizeof head, f) != NULL && strstr(head, what) != NULL;
    fclose(f);
    return said;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *reason_of(const claims_outcome *o)
{
    return o->verdict == REPORT_FAILS && o->claim->reason != NULL ? o->claim->reason : "";
}

static void write_quoted(FILE *f, const char *text, char quote, const char *escape)
{
    fputc(quote, f);
    for (; *text != '\0'; text++) {
        if (*text == '"' || (*text == '\\' && *escape == '\\'))
            fputs(escape, f);
        fputc(*text, f);
    }
    fputc(quote, f);
}

static void write_csv(FILE *f, const void *context)
{
    const reproduction *r = context;
    fputs("experiment,source,verdict,statement,numbers,reason\n", f);
    for (size_t k = 0; k < r->claims; k++) {
        const claims_outcome *o = &r->claim[k];
        fprintf(f, "%s,", o->experiment->name);
        const char *const text[] = {o->claim->source, claims_verdict_text(o->verdict), o->statement,
                                    o->numbers, reason_of(o)};
        for (size_t j = 0; j < sizeof text / sizeof *text; j++) {
            write_quoted(f, text[j], '"', "\"");
            fputc(j + 1 < sizeof text / sizeof *text ? ',' : '\n', f);
        }
    }
}

static void write_json_number(FILE *f, const char *name, double value)
{
    if (isfinite(value))
        fprintf(f, ", \"%s\": %.6g", name, value);
    else
        fprintf(f, ", \"%s\": null", name);
}

static void write_json_levels(FILE *f, const claims_outcome *o)
{
    fputs(", \"levels\": [", f);
    for (size_t k = 0; k < o->levels; k++) {
        const claims_level *level = &o->level[k];
        fprintf(f, "%s{\"level\": %.3g, \"won\": %zu, \"lost\": %zu, \"tied\": %zu",
                k > 0 ? ", " : "", level->level, level->won, level->lost, level->tied);
        write_json_number(f, "ratio", exp(level->log_ratio.mean));
        write_json_number(f, "least_ratio", exp(level->log_ratio.least));
        write_json_number(f, "most_ratio", exp(level->log_ratio.most));
        fprintf(f, ", \"ratio_is\": \"%s\"}",
                level->at_least  ? "at least"
                : level->at_most ? "at most"
                                 : "exact");
    }
    fputc(']', f);
}

static void write_json(FILE *f, const void *context)
{
    const reproduction *r = context;
    fprintf(f, "{\"version\": \"%s\", \"seeds\": %zu, \"quick\": %s, ", saddle_version(), r->seeds,
            r->quick ? "true" : "false");
    fprintf(f, "\"a9a\": \"%s\", \"mnist\": \"%s\", \"experiments\": [",
            study_is_substitute(EXPERIMENT_A9A) ? "built-in" : "file",
            study_is_substitute(EXPERIMENT_MNIST) ? "built-in" : "file");
    for (size_t p = 0; p < r->parts; p++)
        fprintf(f, "%s\"%s\"", p > 0 ? ", " : "", r->part[p].experiment->name);
    fputs("], \"claims\": [", f);
    for (size_t k = 0; k < r->claims; k++) {
        const claims_outcome *o = &r->claim[k];
        const char *const text[][2] = {{"experiment", o->experiment->name},
                                       {"source", o->claim->source},
                                       {"verdict", claims_verdict_text(o->verdict)},
                                       {"statement", o->statement},
                                       {"numbers", o->numbers},
                                       {"reason", reason_of(o)}};
        fputs(k > 0 ? ",\n  {" : "\n  {", f);
        for (size_t j = 0; j < sizeof text / sizeof *text; j++) {
            fprintf(f, "%s\"%s\": ", j > 0 ? ", " : "", text[j][0]);
            write_quoted(f, text[j][1], '"', "\\");
        }
        if (o->slope.count > 0) {
            write_json_number(f, "slope", o->slope.mean);
            write_json_number(f, "slope_low", o->slope.low);
            write_json_number(f, "slope_high", o->slope.high);
            write_json_number(f, "theory", o->claim->bound);
        } else if (o->levels > 0) {
            write_json_levels(f, o);
        }
        fputc('}', f);
    }
    fputs("\n]}\n", f);
}

/* How many claims of an experiment, or of all when it is NULL, have a verdict. */
static size_t count_claims(const reproduction *r, const experiment *e, report_verdict verdict)
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

static void write_markdown_claims(FILE *f, const reproduction *r, const experiment *e)
{
    fputs("| claim | verdict | measured |\n| --- | --- | --- |\n", f);
    for (size_t k = 0; k < r->claims; k++) {
        const claims_outcome *o = &r->claim[k];
        if (o->experiment != e)
            continue;
        fputs("| ", f);
        write_cell(f, claims_statement(o));
        fprintf(f, " (%s) | %s | ", o->claim->source, claims_verdict_text(o->verdict));
        write_cell(f, o->numbers);
        fputs(*reason_of(o) != '\0' ? ". Likely reason: " : "", f);
        write_cell(f, reason_of(o));
        fputs(" |\n", f);
    }
}

static void write_markdown(FILE *f, const void *context)
{
    const reproduction *r = context;
    fprintf(f,
            "# Claims\n\n%zu hold, %zu do not, %zu are not decided. saddle %s, %zu seed%s%s.\n\n"
            "A level is a fraction of the start's metric. `1e-2: 1.3x (1.2-1.4), 5 of 5` means: at "
            "that level the other one's cost is 1.3 times as large, geometric mean and range over "
            "seeds, and the claim is true for 5 of 5 seeds; `>=` where a run did not get there "
            "within its budget. 1e-1 is shown but does not decide.\n",
            count_claims(r, NULL, REPORT_HOLDS), count_claims(r, NULL, REPORT_FAILS),
            count_claims(r, NULL, REPORT_UNDECIDED), saddle_version(), r->seeds,
            r->seeds == 1 ? "" : "s", r->quick ? ", shortened by --quick" : "");
    if (r->parts == r->experiments)
        fprintf(f, "\nAll %zu experiments are covered.\n", r->experiments);
    else
        fprintf(f,
                "\nOnly %zu of the %zu experiments are covered; there are no finished runs of the "
                "others in this directory.\n",
                r->parts, r->experiments);
    for (size_t p = 0; p < r->parts; p++) {
        const reproduction_part *part = &r->part[p];
        const experiment *e = part->experiment;
        fprintf(f, "\n## %s\n\nSource: %s. Data: %s%s.\n\n", e->title, e->source,
                reproduction_data(part),
                study_is_substitute(e->data) ? " (BUILT-IN, in place of the paper's)" : "");
        if (count_claims(r, e, REPORT_HOLDS) + count_claims(r, e, REPORT_FAILS) +
                count_claims(r, e, REPORT_UNDECIDED) >
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
        fprintf(f, ",%.0f", cost);
}

static void write_costs(FILE *f, const void *context)
{
    const reproduction *r = context;
    fputs("experiment,series,seed,level,metric,ifo,rounds\n", f);
    for (size_t p = 0; p < r->parts; p++) {
        const experiment *e = r->part[p].experiment;
        for (size_t k = 0; k < e->count * r->seeds; k++) {
            const saddle_trace *trace = r->part[p].trace[k];
            const saddle_trace *first = r->part[p].trace[k % r->seeds];
            if (trace == NULL || first == NULL || first->rows == 0)
                continue;
            for (size_t j = 0; j < CLAIMS_LEVELS; j++) {
                double fraction = claims_fraction(j);
                double level = fraction * saddle_trace_column(first, "metric")[0];
                fprintf(f, "%s,%s,%zu,%.0e,%.6g", e->name, e->series[k / r->seeds].name,
                        k % r->seeds + 1, fraction, level);
                write_cost(f, claims_reach(trace, "ifo", level).high);
                write_cost(f, claims_reach(trace, "rounds", level).high);
                fputc('\n', f);
            }
        }
    }
}

saddle_status reproduction_save(const reproduction *r, saddle_error *error)
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
        char *path = NULL;
        if (asprintf(&path, "%s/%s", r->directory, file[k].name) < 0)
            return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a path");
        status = cli_save(path, file[k].write, r, error);
        free(path);
    }
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Hundreds of whole traces would make a page of many megabytes: it gets these columns, and at most
 * so many rows of each. */
static const char *const shown[] = {"iteration", "ifo",      "rounds",   "bytes",
                                    "loss",      "metric",   "loss_gap", "mean_metric",
                                    "potential", "train_auc"};
#define SHOWN (sizeof shown / sizeof *shown)
#define SHOWN_ROWS 100

/* A trace for the page. Texts are those of the trace it was made from. */
typedef struct excerpt {
    saddle_trace trace;
    char *column[SHOWN];
    double *value[SHOWN];
    double number[SHOWN][SHOWN_ROWS];
} excerpt;

static void take_excerpt(excerpt *out, const saddle_trace *from)
{
    size_t rows = from->rows < SHOWN_ROWS ? from->rows : SHOWN_ROWS;
    out->trace = *from;
    out->trace.columns = 0;
    out->trace.column = out->column;
    out->trace.value = out->value;
    out->trace.rows = rows;
    for (size_t c = 0; c < from->columns; c++)
        for (size_t k = 0; k < SHOWN; k++) {
            if (strcmp(from->column[c], shown[k]) != 0)
                continue;
            /* The potential says something beside its bound. */
            if (strcmp(shown[k], "potential") == 0 &&
                saddle_trace_column(from, "mean_metric") == NULL)
                continue;
            size_t place = out->trace.columns++;
            out->column[place] = from->column[c];
            out->value[place] = out->number[place];
            /* The first and the last row, and evenly between them. */
            for (size_t r = 0; r < rows; r++)
                out->number[place][r] =
                    from->value[c][rows > 1 ? r * (from->rows - 1) / (rows - 1) : 0];
        }
}

/* Append excerpts of those of a part's traces, or bounds, that its figure shows; how many there are then. */
static size_t gather(excerpt *out, const saddle_trace **pointer, size_t count,
                     const reproduction *r, const reproduction_part *part,
                     saddle_trace *const *trace)
{
    for (size_t s = 0; trace != NULL && s < part->experiment->count; s++)
        for (size_t k = 0; k < r->seeds && reproduction_is_drawn(r, part, s); k++) {
            if (trace[s * r->seeds + k] == NULL)
                continue;
            take_excerpt(&out[count], trace[s * r->seeds + k]);
            pointer[count] = &out[count].trace;
            count++;
        }
    return count;
}

/* What a section shows first, where its figure is about more than the metric. */
static const char *first_columns(const experiment *e)
{
    if (strstr(e->panels, "loss_gap") != NULL)
        return "loss_gap,metric";
    return strstr(e->panels, "mean_metric") != NULL ? "mean_metric,potential" : NULL;
}

/* What the page is made of. */
typedef struct sheet {
    report_section *section;
    report_claim *claim;
    excerpt *excerpt;
    const saddle_trace **trace;
    char *path;
} sheet;

static void fill_sheet(sheet *t, const reproduction *r)
{
    size_t used = 0;
    for (size_t p = 0; p < r->parts; p++) {
        const experiment *e = r->part[p].experiment;
        t->section[p] = (report_section){
            .title = e->title, .text = e->source, .y = first_columns(e), .trace = t->trace + used};
        size_t runs = gather(t->excerpt, t->trace, used, r, &r->part[p], r->part[p].trace);
        size_t end = gather(t->excerpt, t->trace, runs, r, &r->part[p], r->part[p].bound);
        t->section[p].traces = end - used;
        used = end;
    }
    for (size_t k = 0; k < r->claims; k++) {
        const claims_outcome *o = &r->claim[k];
        size_t section = 0;
        while (r->part[section].experiment != o->experiment)
            section++;
        t->claim[k] = (report_claim){.section = section,
                                     .theme = o->claim->theme,
                                     .statement = claims_statement(o),
                                     .verdict = o->verdict,
                                     .numbers = o->numbers,
                                     .reason = reason_of(o)};
    }
}

saddle_status reproduction_report(const reproduction *r, saddle_error *error)
{
    size_t traces = 0;
    bool substitute = false;
    for (size_t p = 0; p < r->parts; p++) {
        traces += 2 * r->part[p].experiment->count * r->seeds; /* with bounds */
        substitute = substitute || study_is_substitute(r->part[p].experiment->data);
    }
    sheet t = {.section = calloc(r->parts + 1, sizeof *t.section),
               .claim = calloc(r->claims + 1, sizeof *t.claim),
               .excerpt = calloc(traces + 1, sizeof *t.excerpt),
               .trace = (const saddle_trace **)calloc(traces + 1, sizeof *t.trace)};
    saddle_status status = SADDLE_OK;
    if (t.section == NULL || t.claim == NULL || t.excerpt == NULL || t.trace == NULL ||
        asprintf(&t.path, "%s/report.html", r->directory) < 0) {
        saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the report");
        status = SADDLE_NO_MEMORY;
    }
    if (status == SADDLE_OK) {
        char text[512];
        fill_sheet(&t, r);
        snprintf(text, sizeof text,
                 "Levels are fractions of the start's metric; docs/reproduction.md has the rules. "
                 "Every curve is shown by at most %d of its points; the whole traces are in "
                 "traces/.%s%s",
                 SHOWN_ROWS,
                 substitute ? "\n\nBUILT-IN DATA stand in for data that were not found." : "",
                 r->quick ? "\n\nShortened by --quick, and too short to decide much." : "");
        report_page page = {.title = "PRECISION's experiments, repeated",
                            .text = text,
                            .claims = r->claims,
                            .claim = t.claim,
                            .sections = r->parts,
                            .section = t.section};
        status = report_write(&page, t.path, error);
    }
    free(t.path);
    free((void *)t.trace);
    free(t.excerpt);
    free(t.claim);
    free(t.section);
    return status;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

void reproduction_print(const reproduction *r)
{
    cli_table *table = cli_table_create("lrrr");
    cli_table_add(table, "experiment");
    cli_table_add(table, "hold");
    cli_table_add(table, "do not");
    cli_table_add(table, "not decided");
    for (size_t p = 0; p < r->parts; p++) {
        const experiment *e = r->part[p].experiment;
        cli_table_add(table, "%s", e->name);
        for (int verdict = REPORT_HOLDS; verdict <= REPORT_UNDECIDED; verdict++)
            cli_table_add(table, "%zu", count_claims(r, e, (report_verdict)verdict));
    }
    printf("\nclaims\n");
    cli_table_print(table);
    for (size_t k = 0; k < r->claims; k++)
        if (r->claim[k].verdict == REPORT_FAILS) {
            printf("\ndoes not hold: ");
            cli_wrap(stdout, r->claim[k].statement, 15, 2, cli_width(1));
            printf("  ");
            cli_wrap(stdout, r->claim[k].numbers, 2, 2, cli_width(1));
        }
}
