/* The figures of `saddle reproduce`: curves, slopes, networks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "core/status.h"
#include "draw/figure.h"
#include "draw/network_drawing.h"
#include "draw/reproduction_drawing.h"
#include "draw/trace_curves.h"
#include "lab/paths.h"

/* The most panels of a figure. */
#define MOST_PANELS 6

/* ---- figures --------------------------------------------------------------------------------- */

/* A step size of a series' first run; NaN if it is not known. */
static double step_of(const reproduction *r, const reproduction_part *part, size_t s,
                      const char *name)
{
    const saddle_trace *trace = part->trace[s * r->runs.seeds];
    double value = NAN;
    if (trace == NULL || !saddle_parse_real(saddle_trace_setting(trace, name), &value))
        return NAN;
    return value;
}

/* Whether two series ran with the same steps, so that their curves would hide each other.
 * Defaults may depend slightly on the seed; the search's candidates are half decades apart. */
static bool same_steps(const reproduction *r, const reproduction_part *part, size_t a, size_t b)
{
    static const char *const step[] = {"nu", "eta", "tau", "alpha"};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        double ratio = step_of(r, part, a, step[k]) / step_of(r, part, b, step[k]);
        if (!(ratio > 0.8 && ratio < 1.25))
            return false;
    }
    return true;
}

bool reproduction_is_drawn(const reproduction *r, const reproduction_part *part, size_t s)
{
    const paper_experiment *e = part->experiment;
    if (e->drawn > 0 && s >= e->drawn)
        return false;
    for (size_t k = 0; !e->series[s].tuned && k < s; k++)
        if (e->series[k].tuned && strcmp(e->series[k].algorithm, e->series[s].algorithm) == 0 &&
            same_steps(r, part, k, s))
            return false;
    return true;
}

/* The algorithm whose colour a series has; NULL: its own colour, if all series of an experiment
 * have one algorithm. */
static const char *colour_of(const paper_experiment *e, size_t s)
{
    size_t alike = 0;
    for (size_t k = 0; k < e->count; k++)
        alike += strcmp(e->series[k].algorithm, e->series[s].algorithm) == 0;
    return alike == 1 || e->tuning > 0 ? e->series[s].algorithm : NULL;
}

/* The most curves of a panel: with a theorem, each series and its bound. */
#define MOST_CURVES (2 * EXPERIMENT_MOST_SERIES)

/* A figure and its parts. */
typedef struct canvas {
    char x[MOST_PANELS][32];
    char y[MOST_PANELS][32];
    char only[MOST_PANELS][32]; /* the A of "A, B" whose series a panel shows; "": all */
    figure_panel panel[MOST_PANELS];
    figure_curve curve[MOST_PANELS][MOST_CURVES];
    figure_run run[MOST_PANELS][MOST_CURVES][CLAIMS_MOST_SEEDS];
    /* For panels against values: the values of series, and the end of each of their runs. */
    double value[MOST_PANELS][EXPERIMENT_MOST_SERIES];
    double end[MOST_PANELS][CLAIMS_MOST_SEEDS][EXPERIMENT_MOST_SERIES];
    char label[EXPERIMENT_MOST_SERIES][64]; /* the A of "A, B" */
} canvas;

/* Adds a curve to panel p: the runs of one series, or their bounds. */
static void add_curve(canvas *c, size_t p, size_t seeds, saddle_trace *const *trace,
                      const char *label, const char *algorithm, size_t from)
{
    size_t index = c->panel[p].curves++;
    size_t runs = 0;
    for (size_t k = 0; k < seeds; k++) {
        const double *x = trace[k] != NULL ? saddle_trace_column(trace[k], c->x[p]) : NULL;
        const double *y = trace[k] != NULL ? saddle_trace_column(trace[k], c->y[p]) : NULL;
        if (x != NULL && y != NULL && trace[k]->rows > from)
            c->run[p][index][runs++] =
                (figure_run){.count = trace[k]->rows - from, .x = x + from, .y = y + from};
    }
    c->curve[p][index] = (figure_curve){
        .label = label, .algorithm = algorithm, .runs = runs, .run = c->run[p][index]};
}

/* The A of a label "A, B", stored for the curve at an index, which is the same in all panels of
 * a figure. */
static const char *head_of(canvas *c, size_t index, const char *label)
{
    saddle_snprintf(c->label[index], sizeof c->label[index], "%.*s", (int)strcspn(label, ","),
                    label);
    return c->label[index];
}

/* The B of a label "A, B", or "". */
static const char *tail_of(const char *label)
{
    const char *comma = strchr(label, ',');
    return comma != NULL ? comma + 2 : "";
}

/* Whether a panel shows a series: all, or those of one A. */
static bool has_series(const canvas *c, size_t p, const char *label)
{
    size_t length = strcspn(label, ",");
    return *c->only[p] == '\0' ||
           (strlen(c->only[p]) == length && strncmp(label, c->only[p], length) == 0);
}

/* The label of a series in a panel: A beside series of other values, B among those of one A. */
static const char *label_in(canvas *c, size_t p, const paper_experiment *e, const char *label)
{
    if (*c->only[p] != '\0')
        return tail_of(label);
    if (e->varied == NULL)
        return label;
    if (*tail_of(label) != '\0')
        c->panel[p].title = tail_of(label);
    return head_of(c, c->panel[p].curves, label);
}

static void add_series(canvas *c, size_t p, const reproduction *r, const reproduction_part *part)
{
    const paper_experiment *e = part->experiment;
    /* With two logarithmic axes, which have no 0, a bound in 1/T is a line; bytes differ by
     * orders of magnitude. */
    bool logarithmic = part->bound != NULL || strcmp(c->x[p], "bytes") == 0;
    size_t from = logarithmic ? 1 : 0;
    if (logarithmic)
        c->panel[p].x_scale = FIGURE_LOG;
    for (size_t s = 0; s < e->count; s++)
        if (has_series(c, p, e->series[s].label) && reproduction_is_drawn(r, part, s))
            add_curve(c, p, r->runs.seeds, part->trace + s * r->runs.seeds,
                      label_in(c, p, e, e->series[s].label), colour_of(e, s), from);
    for (size_t s = 0; part->bound != NULL && s < e->count; s++) {
        const saddle_trace *first = part->bound[s * r->runs.seeds];
        if (first != NULL)
            add_curve(c, p, r->runs.seeds, part->bound + s * r->runs.seeds,
                      saddle_trace_setting(first, "algorithm"), colour_of(e, s), from);
    }
}

/* ---- against values --------------------------------------------------------------------------- */

/* Whether two labels "A, B" have the same A. */
static bool same_curve(const char *left, const char *right)
{
    size_t length = strcspn(left, ",");
    return length == strcspn(right, ",") && strncmp(left, right, length) == 0;
}

/* The last value of a trace's column, or NaN. */
static double end_of(const saddle_trace *trace, const char *column)
{
    const double *value = trace != NULL ? saddle_trace_column(trace, column) : NULL;
    return value != NULL && trace->rows > 0 ? value[trace->rows - 1] : (double)NAN;
}

/* Finds the series of a curve, by ascending value; returns their number. */
static size_t order_series(size_t out[EXPERIMENT_MOST_SERIES], const paper_experiment *e,
                           const char *label)
{
    size_t count = 0;
    for (size_t s = 0; s < e->count; s++) {
        if (!same_curve(e->series[s].label, label))
            continue;
        size_t k = count++;
        for (; k > 0 && e->series[out[k - 1]].value > e->series[s].value; k--)
            out[k] = out[k - 1];
        out[k] = s;
    }
    return count;
}

/* Adds the curve of a label: the ends of the runs of its series, against the series' values.
 * `used` series are in other curves. */
static size_t add_values(canvas *c, size_t p, const reproduction *r, const reproduction_part *part,
                         const char *label, size_t used)
{
    size_t order[EXPERIMENT_MOST_SERIES];
    size_t count = order_series(order, part->experiment, label);
    size_t index = c->panel[p].curves++;
    for (size_t j = 0; j < count; j++) {
        c->value[p][used + j] = part->experiment->series[order[j]].value;
        for (size_t k = 0; k < r->runs.seeds; k++)
            c->end[p][k][used + j] = end_of(part->trace[order[j] * r->runs.seeds + k], c->y[p]);
    }
    for (size_t k = 0; k < r->runs.seeds; k++)
        c->run[p][index][k] =
            (figure_run){.count = count, .x = c->value[p] + used, .y = c->end[p][k] + used};
    saddle_snprintf(c->label[index], sizeof c->label[index], "%.*s", (int)strcspn(label, ","),
                    label);
    c->curve[p][index] =
        (figure_curve){.label = c->label[index], .runs = r->runs.seeds, .run = c->run[p][index]};
    return used + count;
}

static void add_all_values(canvas *c, size_t p, const reproduction *r,
                           const reproduction_part *part)
{
    const paper_experiment *e = part->experiment;
    size_t used = 0;
    c->panel[p].title = "at the end of the runs";
    c->panel[p].x_label = e->varied;
    for (size_t s = 0; s < e->count; s++) {
        size_t first = 0;
        while (!same_curve(e->series[first].label, e->series[s].label))
            first++;
        if (first == s)
            used = add_values(c, p, r, part, e->series[s].label, used);
    }
}

/* ---- panels ----------------------------------------------------------------------------------- */

static void fill_panel(canvas *c, size_t p, const reproduction *r, const reproduction_part *part)
{
    c->panel[p] = (figure_panel){.title = c->only[p],
                                 .x_label = figure_title(c->x[p]),
                                 .y_label = figure_title(c->y[p]),
                                 .x_scale = figure_scale_of(c->x[p]),
                                 .y_scale = figure_scale_of(c->y[p]),
                                 .y_from = FIGURE_STEEP_START,
                                 .curve = c->curve[p]};
    if (strcmp(c->x[p], "value") == 0)
        add_all_values(c, p, r, part);
    else
        add_series(c, p, r, part);
}

/* Copies a text up to one of some characters; returns a pointer to that character. */
static const char *take(char out[32], const char *text, const char *ends)
{
    size_t length = strcspn(text, ends);
    saddle_snprintf(out, 32, "%.*s", (int)length, text);
    return text + length;
}

/* Reads "x:y x:y@A" and fills in the panels; returns their number. */
static size_t fill_canvas(canvas *c, const reproduction *r, const reproduction_part *part)
{
    size_t panels = 0;
    for (const char *word = part->experiment->panels; *word != '\0' && panels < MOST_PANELS;) {
        word = take(c->x[panels], word, ":") + 1;
        word = take(c->y[panels], word, "@ ");
        if (*word == '@')
            word = take(c->only[panels], word + 1, " ");
        fill_panel(c, panels++, r, part);
        word += *word == ' ';
    }
    return panels;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes the path figures/STEM.KIND in the output directory. */
static const char *picture_path(const reproduction *r, const char *stem, const char *kind,
                                char out[LAB_PATH])
{
    saddle_snprintf(out, LAB_PATH, "%s/figures/%s.%s", r->runs.directory, stem, kind);
    return out;
}

static const char *const kinds[] = {"svg", "png", "pdf"};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Draws a figure as files of all formats. */
static saddle_status draw_all(const reproduction *r, const figure *f, const char *stem,
                              saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < KINDS; k++) {
        char path[LAB_PATH];
        status = figure_draw(f, picture_path(r, stem, kinds[k], path), error);
    }
    return status;
}

/* ---- slopes ---------------------------------------------------------------------------------- */

/* The most slopes of an experiment. */
#define MOST_SLOPES 4

/* A slope with its points: measured for each seed, and the line of the theory. */
typedef struct slope {
    claims_line line[CLAIMS_MOST_SEEDS + 1]; /* not logarithms; the last one is the theory's */
    figure_run run[CLAIMS_MOST_SEEDS + 1];
    figure_curve curve[2];
    char title[128];
    char y_label[64];
} slope;

/* Replaces the logarithms of a line's points by the values. */
static void undo_logarithms(claims_line *l)
{
    for (size_t k = 0; k < l->count; k++) {
        l->x[k] = exp(l->x[k]);
        l->y[k] = exp(l->y[k]);
    }
}

/* Computes the theory's line, which begins at the mean of the first points of the seeds' lines. */
static void draw_theory(claims_line *out, const claims_line *measured, size_t runs, double exponent)
{
    double start = 0.0;
    for (size_t k = 0; k < runs; k++)
        start += measured[k].y[0] / (double)runs;
    *out = measured[0];
    for (size_t k = 0; k < out->count; k++)
        out->y[k] = start + exponent * (out->x[k] - out->x[0]);
}

static void name_axes(figure_panel *panel, slope *s, const claims_measurement *o)
{
    const paper_test *c = o->test;
    const char *cost = saddle_claims_cost_text(c->cost);
    if (o->slope.count > 1)
        saddle_snprintf(s->title, sizeof s->title,
                        "exponent %.3f (%.3f to %.3f), theory: at most %g", o->slope.mean,
                        o->slope.low, o->slope.high, c->bound);
    else
        saddle_snprintf(s->title, sizeof s->title, "exponent %.3f, theory: at most %g",
                        o->slope.mean, c->bound);
    switch (c->kind) {
    case TEST_SLOPE_VALUE:
        panel->x_label = "samples per agent";
        saddle_snprintf(s->y_label, sizeof s->y_label, "%s to metric <= %g", cost, c->level);
        break;
    case TEST_SLOPE_EPSILON:
        panel->x_label = "1 / epsilon^2";
        saddle_snprintf(s->y_label, sizeof s->y_label, "%s to metric <= epsilon^2", cost);
        break;
    default:
        panel->x_label = "iterations";
        saddle_snprintf(s->y_label, sizeof s->y_label, "mean metric so far");
    }
    panel->title = s->title;
    panel->y_label = s->y_label;
}

static figure_panel fill_slope(slope *s, const reproduction *r, const reproduction_part *part,
                               const claims_measurement *o)
{
    size_t runs = 0;
    for (size_t k = 0; k < r->runs.seeds && k < CLAIMS_MOST_SEEDS; k++) {
        claims_line *l = &s->line[runs];
        saddle_claims_points(l, o->test, part->experiment, (const saddle_trace *const *)part->trace,
                             r->runs.seeds, k);
        runs += l->count > 1;
    }
    if (runs > 0)
        draw_theory(&s->line[runs], s->line, runs, o->test->bound);
    for (size_t k = 0; k < runs + (runs > 0); k++) {
        undo_logarithms(&s->line[k]);
        s->run[k] = (figure_run){.count = s->line[k].count, .x = s->line[k].x, .y = s->line[k].y};
    }
    s->curve[0] =
        (figure_curve){.label = "measured", .algorithm = "precision", .runs = runs, .run = s->run};
    s->curve[1] = (figure_curve){
        .label = "the theory's exponent", .runs = runs > 0 ? 1 : 0, .run = s->run + runs};
    figure_panel panel = {
        .x_scale = FIGURE_LOG, .y_scale = FIGURE_LOG, .curves = 2, .curve = s->curve};
    name_axes(&panel, s, o);
    return panel;
}

static bool is_slope(const paper_test *t)
{
    return t->kind == TEST_SLOPE_VALUE || t->kind == TEST_SLOPE_EPSILON ||
           t->kind == TEST_SLOPE_TIME;
}

/* Draws figures/NAME-slopes for the slopes that were fitted, if there are any. */
static saddle_status draw_slopes(const reproduction *r, const reproduction_part *part,
                                 saddle_error *error)
{
    figure_panel panel[MOST_SLOPES];
    slope *list = calloc(MOST_SLOPES, sizeof *list);
    char stem[128];
    if (list == NULL)
        return saddle_no_memory(error, "slopes");
    figure f = {.title = part->experiment->title, .panel = panel};
    size_t tests;
    const paper_test *test = saddle_paper_tests(&tests);
    for (size_t k = 0; k < tests && f.panels < MOST_SLOPES; k++) {
        if (!is_slope(&test[k]) || strcmp(test[k].experiment, part->experiment->name) != 0)
            continue;
        claims_measurement m;
        saddle_claims_measure(&m, &test[k], part->experiment,
                              (const saddle_trace *const *)part->trace, r->runs.seeds);
        if (m.slope.count > 0) {
            panel[f.panels] = fill_slope(&list[f.panels], r, part, &m);
            f.panels++;
        }
    }
    saddle_snprintf(stem, sizeof stem, "%s-slopes", part->experiment->name);
    saddle_status status = f.panels > 0 ? draw_all(r, &f, stem, error) : SADDLE_OK;
    free(list);
    return status;
}

/* ---- networks -------------------------------------------------------------------------------- */

/* Writes "network-5-er-0.6" for 5 agents on er:0.6, for a file name. */
static void name_network(const saddle_trace *trace, char *out, size_t size)
{
    saddle_snprintf(out, size, "network-%.20s-%.60s", saddle_trace_setting(trace, "agents"),
                    saddle_trace_setting(trace, "topology"));
    for (char *c = out; *c != '\0'; c++)
        *c = *c == ':' || *c == '/' ? '-' : *c;
}

/* Draws the network of a run. */
static saddle_status draw_network(const reproduction *r, const saddle_trace *trace,
                                  saddle_error *error)
{
    saddle_graph *graph = NULL;
    char stem[128];
    name_network(trace, stem, sizeof stem);
    saddle_status status = network_of_trace(&graph, trace, error);
    for (size_t k = 0; status == SADDLE_OK && k < KINDS; k++) {
        char path[LAB_PATH];
        status = network_draw(graph, NULL, picture_path(r, stem, kinds[k], path), error);
    }
    saddle_graph_free(graph);
    return status;
}

/* Whether the network of a series has been drawn for an earlier one. */
static bool network_is_drawn(const reproduction *r, const reproduction_part *part, size_t s)
{
    const saddle_trace *trace = part->trace[s * r->runs.seeds];
    for (const reproduction_part *p = r->part; p <= part; p++)
        for (size_t k = 0; p->chosen && k < (p < part ? p->experiment->count : s); k++)
            if (p->trace[k * r->runs.seeds] != NULL &&
                network_is_same(p->trace[k * r->runs.seeds], trace))
                return true;
    return false;
}

/* Draws the networks of a part's runs with the first seed. */
static saddle_status draw_networks(const reproduction *r, const reproduction_part *part,
                                   saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t s = 0; status == SADDLE_OK && s < part->experiment->count; s++)
        if (part->trace[s * r->runs.seeds] != NULL && !network_is_drawn(r, part, s))
            status = draw_network(r, part->trace[s * r->runs.seeds], error);
    return status;
}

saddle_status reproduction_draw(const reproduction *r, const reproduction_part *part,
                                saddle_error *error)
{
    canvas *c = calloc(1, sizeof *c);
    if (c == NULL)
        return saddle_no_memory(error, "a figure");
    figure f = {.title = part->experiment->title, .columns = 2, .panel = c->panel};
    f.panels = fill_canvas(c, r, part);
    saddle_status status = draw_all(r, &f, part->experiment->name, error);
    free(c);
    SADDLE_THEN(status, draw_slopes(r, part, error));
    return status == SADDLE_OK ? draw_networks(r, part, error) : status;
}
