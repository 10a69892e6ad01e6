/* The report of a reproduction: a section for each experiment, with its claims. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "core/status.h"
#include "draw/report.h"
#include "draw/reproduction_drawing.h"
#include "lab/paths.h"

/* Hundreds of complete traces would make a page of many megabytes, so it has only these columns,
 * and at most SHOWN_ROWS rows of each. */
static const char *const shown[] = {"iteration", "ifo",       "rounds",   "bytes",
                                    "loss",      "metric",    "loss_gap", "mean_metric",
                                    "potential", "train_auc", "y_gap",    "network_seconds"};
#define SHOWN (sizeof shown / sizeof *shown)
#define SHOWN_ROWS 100

/* A thinned trace for the page. Its texts belong to the original trace. */
typedef struct excerpt {
    saddle_trace trace;
    char *column[SHOWN];
    double *value[SHOWN];
    double number[SHOWN][SHOWN_ROWS];
} excerpt;

/* Whether a column is shown; some make sense only beside others. */
static bool is_shown(const paper_experiment *e, const saddle_trace *from, const char *column)
{
    if (strcmp(column, "potential") == 0) /* beside its bound */
        return saddle_trace_column(from, "mean_metric") != NULL;
    if (strcmp(column, "y_gap") == 0 || strcmp(column, "network_seconds") == 0)
        return strstr(e->panels, column) != NULL;
    return true;
}

static void take_excerpt(excerpt *out, const paper_experiment *e, const saddle_trace *from)
{
    size_t rows = from->rows < SHOWN_ROWS ? from->rows : SHOWN_ROWS;
    out->trace = *from;
    out->trace.columns = 0;
    out->trace.column = out->column;
    out->trace.value = out->value;
    out->trace.rows = rows;
    for (size_t c = 0; c < from->columns; c++)
        for (size_t k = 0; k < SHOWN; k++) {
            if (strcmp(from->column[c], shown[k]) != 0 || !is_shown(e, from, shown[k]))
                continue;
            size_t index = out->trace.columns++;
            out->column[index] = from->column[c];
            out->value[index] = out->number[index];
            /* The first and the last row, and evenly spaced ones between them. */
            for (size_t r = 0; r < rows; r++)
                out->number[index][r] =
                    from->value[c][rows > 1 ? r * (from->rows - 1) / (rows - 1) : 0];
        }
}

/* Appends excerpts of a part's traces, or bounds, that its figure shows; returns the new number
 * of excerpts. */
static size_t gather(excerpt *out, const saddle_trace **pointer, size_t count,
                     const reproduction *r, const reproduction_part *part,
                     saddle_trace *const *trace)
{
    for (size_t s = 0; trace != NULL && s < part->experiment->count; s++)
        for (size_t k = 0; k < r->runs.seeds && reproduction_is_drawn(r, part, s); k++) {
            if (trace[s * r->runs.seeds + k] == NULL)
                continue;
            take_excerpt(&out[count], part->experiment, trace[s * r->runs.seeds + k]);
            pointer[count] = &out[count].trace;
            count++;
        }
    return count;
}

/* The columns that a section shows first, if its figure shows more than the metric. */
static const char *first_columns(const paper_experiment *e)
{
    if (strstr(e->panels, "loss_gap") != NULL)
        return "loss_gap,metric";
    if (strstr(e->panels, "y_gap") != NULL)
        return "y_gap,metric";
    return strstr(e->panels, "mean_metric") != NULL ? "mean_metric,potential" : NULL;
}

/* The contents of the page. */
typedef struct sheet {
    report_section *section;
    char (*text)[CLAIMS_TEXT]; /* of each section */
    excerpt *excerpt;
    const saddle_trace **trace;
} sheet;

static void fill_sheet(sheet *t, const reproduction *r)
{
    size_t used = 0;
    for (size_t p = 0; p < r->parts; p++) {
        const paper_experiment *e = r->part[p].experiment;
        saddle_experiment_describe(&r->runs, e, t->text[p], sizeof t->text[p]);
        t->section[p] = (report_section){
            .title = e->title, .text = t->text[p], .y = first_columns(e), .trace = t->trace + used};
        size_t runs = gather(t->excerpt, t->trace, used, r, &r->part[p], r->part[p].trace);
        size_t end = gather(t->excerpt, t->trace, runs, r, &r->part[p], r->part[p].bound);
        t->section[p].traces = end - used;
        used = end;
    }
}

saddle_status reproduction_write_page(const reproduction *r, saddle_error *error)
{
    size_t traces = 0;
    bool substitute = false;
    for (size_t p = 0; p < r->parts; p++) {
        traces += 2 * r->part[p].experiment->count * r->runs.seeds; /* with bounds */
        substitute = substitute || saddle_paper_data_is_substitute(r->part[p].experiment->data);
    }
    sheet t = {.section = calloc(r->parts + 1, sizeof *t.section),
               .text = calloc(r->parts + 1, sizeof *t.text),
               .excerpt = calloc(traces + 1, sizeof *t.excerpt),
               .trace = (const saddle_trace **)calloc(traces + 1, sizeof *t.trace)};
    saddle_status status = SADDLE_OK;
    if (t.section == NULL || t.text == NULL || t.excerpt == NULL || t.trace == NULL) {
        status = saddle_no_memory(error, "the report");
    } else {
        char text[512];
        char path[LAB_PATH];
        saddle_snprintf(path, sizeof path, "%s/report.html", r->runs.directory);
        fill_sheet(&t, r);
        saddle_snprintf(text, sizeof text,
                        "docs/reproduction.md has the rules. Every curve is shown with at most %d "
                        "of its points; the complete traces are in traces/.%s%s",
                        SHOWN_ROWS,
                        substitute ? "\n\nBUILT-IN DATA replace data that were not found." : "",
                        r->runs.quick ? "\n\nShortened by --quick, too short to decide much." : "");
        report_page page = {.title = "PRECISION's experiments, repeated",
                            .text = text,
                            .claims = &r->claims,
                            .sections = r->parts,
                            .section = t.section};
        status = report_write(&page, path, error);
    }
    free((void *)t.trace);
    free(t.excerpt);
    free(t.text);
    free(t.section);
    return status;
}
