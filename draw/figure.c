#include "draw/figure.h"

#include "draw/figure_data.h"
#include "draw/gnuplot.h"
#include "draw/palette.h"

/* Pixels of a panel without its legend, of a line of the legend, and of the title. Panels in rows of three or more are
 * narrow, so that texts remain readable where the picture is as wide as a page. */
#define PANEL_WIDTH 560
#define NARROW_PANEL_WIDTH 400
#define PANEL_HEIGHT 380
#define LEGEND_HEIGHT 24
#define TITLE_HEIGHT 30
/* The most characters of a label and of a title. */
#define LABEL_LENGTH ((size_t)48)
#define TITLE_LENGTH ((size_t)90)
/* The most characters of a label in one line. */
#define LINE_LENGTH ((size_t)44)
/* Capacity for a title in the legend: two labels and some words. */
#define TITLE_SIZE 512

/* A figure being drawn. */
typedef struct drawing {
    FILE *script; /* of gnuplot */
    const figure *f;
    bool text;           /* drawn with characters */
    size_t title_length; /* the most characters of a title in the legend of a text */
    bool shared;         /* one legend for all panels */
} drawing;

/* ---- axes ---------------------------------------------------------------------------------- */

/* Writes the label of an axis: its unit on a line of its own if both together are longer than a panel is high. */
static void write_label(drawing *d, const char *axis_name, const char *label, const char *unit)
{
    char text[256];
    FILE *f = d->script;
    const char *first = label != NULL ? label : "";
    bool two_lines = *unit != '\0' && strlen(first) + strlen(unit) > LINE_LENGTH;
    saddle_snprintf(text, sizeof text, "%.200s%s", first, two_lines ? "" : unit);
    saddle_fprintf(f, "set %slabel ", axis_name);
    gnuplot_text(d->script, text, TITLE_LENGTH);
    if (two_lines) {
        fputs(" . \"\\n\" . ", f);
        gnuplot_text(d->script, unit + strspn(unit, " "), TITLE_LENGTH);
        fputs(*axis_name == 'y' ? " offset -0.7,0" : "", f);
    }
    fputs(" noenhanced\n", f);
}

static void write_axis(drawing *d, const figure_axis *a, char name)
{
    FILE *f = d->script;
    saddle_fprintf(f, "unset m%ctics\n", name);
    if (!a->logarithmic) {
        saddle_fprintf(f, "unset logscale %c\nset format %c '%%g'\n", name, name);
        if (name == 'x' && a->high > a->low)
            saddle_fprintf(f, "set xrange [%.17g:%.17g]\n", fmin(a->low, 0.0) / a->unit,
                           1.01 * a->high / a->unit); /* space for the last number */
        else if (a->fixed)
            saddle_fprintf(f, "set %crange [%.17g:%.17g]\n", name, a->low, a->high);
        else
            saddle_fprintf(f, "set %crange [*:*]\n", name);
        return;
    }
    saddle_fprintf(f, "set logscale %c\nset %crange [%.17g:%.17g]\n", name, name, a->low, a->high);
    saddle_fprintf(f, "set format %c '%s'\n", name, d->text ? "%.0e" : "10^{%T}");
}

/* ---- curves -------------------------------------------------------------------------------- */

/* Writes "dt (6,3)" for "6 3". */
static void write_dashes(FILE *f, const char *dashes)
{
    if (*dashes == '\0') {
        fputs(" dt solid", f);
        return;
    }
    fputs(" dt (", f);
    for (const char *c = dashes; *c != '\0'; c++)
        fputc(*c == ' ' ? ',' : *c, f);
    fputc(')', f);
}

static size_t points_of(const figure_curve *curve)
{
    size_t most = 0;
    for (size_t r = 0; r < curve->runs; r++)
        most = curve->run[r].count > most ? curve->run[r].count : most;
    return most;
}

/* The number of earlier curves of a panel that belong to the same algorithm. */
static size_t repeats_before(const figure_panel *panel, size_t c)
{
    size_t count = 0;
    const char *algorithm = panel->curve[c].algorithm;
    for (size_t k = 0; algorithm != NULL && k < c; k++)
        count +=
            panel->curve[k].algorithm != NULL && strcmp(panel->curve[k].algorithm, algorithm) == 0;
    return count;
}

/* Writes a colour "#rrggbb" mixed with white; `strength` percent of the colour remain. */
static void write_paler(const char *colour, int strength, char out[8])
{
    unsigned long rgb = strtoul(colour + 1, NULL, 16);
    unsigned channel[3];
    for (int k = 0; k < 3; k++) {
        unsigned full = (unsigned)(rgb >> (16 - 8 * k)) & 0xFF;
        channel[k] = 255 - (255 - full) * (unsigned)strength / 100;
    }
    saddle_snprintf(out, 8, "#%02x%02x%02x", channel[0] & 0xFF, channel[1] & 0xFF,
                    channel[2] & 0xFF);
}

static const saddle_look *look_of(const figure_curve *curve, size_t index)
{
    return palette_look(palette_index(curve->algorithm, index));
}

/* Writes the colour of a curve; terminals are assumed to be dark. */
static void write_colour(const drawing *d, size_t p, size_t c, char out[8])
{
    const saddle_look *look = look_of(&d->f->panel[p].curve[c], c);
    size_t repeat = repeats_before(&d->f->panel[p], c);
    write_paler(d->text ? look->dark : look->light, palette_strength(repeat), out);
}

/* The first earlier curve of a panel that looks the same as curve c, or c itself. */
static size_t covers(const drawing *d, size_t p, size_t c)
{
    const figure_panel *panel = &d->f->panel[p];
    figure_axis y = figure_axis_make(panel, true);
    size_t below = 0;
    while (below < c && !figure_same_curve(&panel->curve[below], &panel->curve[c], &y))
        below++;
    return below;
}

/* The number of later curves that lie on top of this one. */
static size_t covered_by(const drawing *d, size_t p, size_t c)
{
    size_t count = 0;
    for (size_t k = c + 1; k < d->f->panel[p].curves; k++)
        count += covers(d, p, k) == covers(d, p, c) && covers(d, p, k) < k;
    return count;
}

/* Writes the title of a curve in the legend of a panel, or in the common legend. */
static void make_title(const drawing *d, size_t p, size_t c, char *out, size_t size)
{
    const figure_panel *panel = &d->f->panel[p];
    size_t panels = d->shared ? d->f->panels : 1;
    size_t first = covers(d, p, c);
    size_t where = 0;
    for (size_t k = 0; d->shared && k < panels; k++) {
        size_t other = covers(d, k, c);
        where += other < c;
        first = other < first ? other : first;
    }
    saddle_snprintf(out, size, "%.*s", (int)LABEL_LENGTH, panel->curve[c].label);
    if (first < c && d->shared && where < panels)
        saddle_append(out, size, " (same as %.*s in %zu of %zu)", (int)LABEL_LENGTH,
                      panel->curve[first].label, where, panels);
    else if (first < c)
        saddle_append(out, size, " (same as %.*s)", (int)LABEL_LENGTH, panel->curve[first].label);
}

static void write_title(drawing *d, size_t p, size_t c)
{
    char title[TITLE_SIZE];
    make_title(d, p, c, title, sizeof title);
    fputs(" title ", d->script);
    gnuplot_text(d->script, title, d->text ? d->title_length : sizeof title);
}

/* Writes how a curve's line is drawn. */
static void write_look(drawing *d, size_t p, size_t c)
{
    FILE *f = d->script;
    const figure_curve *curve = &d->f->panel[p].curve[c];
    bool line = points_of(curve) != 1;
    char colour[8];
    write_colour(d, p, c, colour);
    saddle_fprintf(f, " with %s lt %zu lc rgb '%s' lw %.1f", line ? "lines" : "points pt 7 ps 0.8",
                   c + 1, colour, 2.2 + 2.4 * (double)covered_by(d, p, c));
    if (line && !d->text)
        write_dashes(f, palette_dashes(look_of(curve, c), repeats_before(&d->f->panel[p], c)));
}

/* Writes one curve of the plot command: band, tails, line. */
static void write_curve(drawing *d, size_t p, size_t c)
{
    FILE *f = d->script;
    const figure_curve *curve = &d->f->panel[p].curve[c];
    char colour[8];
    write_colour(d, p, c, colour);
    if (curve->runs > 1 && !d->text)
        saddle_fprintf(f,
                       "$P%zuC%zu using 1:3:4 with filledcurves fs transparent solid 0.16 noborder "
                       "lc rgb '%s' notitle, ",
                       p, c, colour);
    for (size_t r = 0; curve->runs > 1 && r < curve->runs; r++)
        saddle_fprintf(f, "$P%zuC%zuR%zu using 1:2 with lines lw 0.7 lc rgb '%s' notitle, ", p, c,
                       r, colour);
    saddle_fprintf(f, "$P%zuC%zu using 1:2", p, c);
    write_look(d, p, c);
    if (d->shared) {
        fputs(" notitle", f);
        return;
    }
    write_title(d, p, c);
}

static bool has_points(const figure_panel *panel)
{
    for (size_t c = 0; c < panel->curves; c++)
        for (size_t r = 0; r < panel->curve[c].runs; r++)
            for (size_t k = 0; k < panel->curve[c].run[r].count; k++)
                if (isfinite(panel->curve[c].run[r].x[k]) && isfinite(panel->curve[c].run[r].y[k]))
                    return true;
    return false;
}

static saddle_status write_panel(drawing *d, size_t p, saddle_error *error)
{
    const figure_panel *panel = &d->f->panel[p];
    FILE *f = d->script;
    figure_axis x = figure_axis_make(panel, false);
    figure_axis y = figure_axis_make(panel, true);
    saddle_status status = SADDLE_OK;
    for (size_t c = 0; status == SADDLE_OK && c < panel->curves; c++) {
        char name[64];
        saddle_snprintf(name, sizeof name, "$P%zuC%zu", p, c);
        status = figure_write_data(f, &panel->curve[c], name, &x, &y, error);
    }
    if (status != SADDLE_OK)
        return status;
    write_label(d, "x", panel->x_label, x.unit_text);
    fputs("set ylabel offset 0,0\n", f);
    if (!d->text) /* text output has no vertical labels */
        write_label(d, "y", panel->y_label, y.unit_text);
    write_axis(d, &x, 'x');
    write_axis(d, &y, 'y');
    if (!has_points(panel)) { /* gnuplot refuses an empty plot */
        fputs("set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n", f);
        return SADDLE_OK;
    }
    fputs("plot ", f);
    for (size_t c = 0; c < panel->curves; c++) {
        fputs(c == 0 ? "" : ", ", f);
        write_curve(d, p, c);
    }
    fputc('\n', f);
    return SADDLE_OK;
}

/* ---- pictures ------------------------------------------------------------------------------ */

/* The number of legend entries that fit side by side. */
static size_t legend_columns(const drawing *d, int width)
{
    size_t longest = 1;
    for (size_t c = 0; c < d->f->panel[0].curves; c++) {
        char title[TITLE_SIZE];
        make_title(d, 0, c, title, sizeof title);
        size_t length = strlen(title);
        longest = length > longest ? length : longest;
    }
    /* At least what gnuplot takes: 8 pixels a character, 52 for the sample of the line, 130 for all. Were it less,
     * gnuplot would put fewer side by side, and there would be no room for the lines that this makes. */
    size_t across = (size_t)(width - 130) / (8 * longest + 52);
    return across > 0 ? across : 1;
}

/* The height of the legend. */
static int legend_height(const drawing *d, int width)
{
    size_t across = legend_columns(d, width);
    return LEGEND_HEIGHT * (int)((d->f->panel[0].curves + across - 1) / across);
}

static void write_style(drawing *d)
{
    fputs("set datafile missing NaN\n"
          "set border 3 lc rgb '#555555'\n"
          "set tics nomirror out tc rgb '#333333'\n"
          "set grid ytics xtics lc rgb '#e4e4e8' lw 1 lt 1 dt solid\n"
          "set key outside below center horizontal Left reverse noenhanced samplen 2.6 spacing 1.2 "
          "height 0.7\n"
          "set xlabel offset 0,0.2\n",
          d->script);
    if (d->shared) /* gnuplot's own margin depends on the label, which would make panels unequal */
        fputs("set bmargin 3.7\n", d->script);
}

/* The layout of a picture, in pixels. */
typedef struct sheet {
    size_t columns, rows; /* of panels */
    int width, height;    /* of a panel, with its own legend if it has one */
    int title;            /* above all panels */
    int legend;           /* below all panels */
} sheet;

static sheet lay_out(const drawing *d)
{
    const figure *f = d->f;
    bool shared = d->shared;
    size_t columns = f->columns > 0 ? f->columns : f->panels == 4 ? 2 : 3;
    columns = columns < f->panels ? columns : f->panels;
    columns = columns > 0 ? columns : 1;
    int width = columns > 2 ? NARROW_PANEL_WIDTH : PANEL_WIDTH;
    int whole = width * (int)columns;
    return (sheet){.columns = columns,
                   .rows = (f->panels + columns - 1) / columns,
                   .width = width,
                   .height = PANEL_HEIGHT + (shared ? 0 : legend_height(d, width)),
                   .title = f->title != NULL && *f->title != '\0' ? TITLE_HEIGHT : 0,
                   .legend = shared ? LEGEND_HEIGHT + legend_height(d, whole) : 0};
}

/* Sets the position of the next plot: that of panel p. */
static void place_panel(drawing *d, const sheet *at, size_t p)
{
    double width = (double)at->width * (double)at->columns;
    double height = at->title + at->legend + (double)at->height * (double)at->rows;
    size_t rows_below = at->rows - 1 - p / at->columns;
    double below = at->legend + (double)at->height * (double)rows_below;
    saddle_fprintf(d->script, "set size %.6f,%.6f\nset origin %.6f,%.6f\n", at->width / width,
                   at->height / height, at->width * (double)(p % at->columns) / width,
                   below / height);
}

/* Writes the common legend: an empty plot below all panels. */
static void write_legend(drawing *d, const sheet *at)
{
    FILE *f = d->script;
    const figure_panel *panel = &d->f->panel[0];
    double height = at->title + at->legend + (double)at->height * (double)at->rows;
    saddle_fprintf(
        f,
        "set size 1,%.6f\nset origin 0,0\nunset border\nunset tics\n"
        "unset xlabel\nunset ylabel\nunset logscale\nset xrange [0:1]\nset yrange [0:1]\n"
        "set margins 0,0,0,0\n"
        "set key inside center center horizontal Left reverse noenhanced samplen 2.6 "
        "spacing 1.2 maxcols %zu\nplot ",
        at->legend / height, legend_columns(d, at->width * (int)at->columns));
    for (size_t c = 0; c < panel->curves; c++) {
        fputs(c == 0 ? "NaN" : ", NaN", f);
        write_look(d, 0, c);
        write_title(d, 0, c);
    }
    fputc('\n', f);
}

saddle_status figure_draw(const figure *f, const char *path, saddle_error *error)
{
    gnuplot_kind kind = GNUPLOT_SVG;
    drawing d = {.f = f, .shared = f->panels > 1};
    SADDLE_TRY(gnuplot_kind_of("figure", path, GNUPLOT_PDF, &kind, error));
    SADDLE_TRY(gnuplot_open(&d.script, error));
    saddle_status status = SADDLE_OK;
    sheet at = lay_out(&d);
    gnuplot_terminal(d.script, kind, at.width * (int)at.columns,
                     at.title + at.legend + at.height * (int)at.rows);
    write_style(&d);
    fputs("set multiplot", d.script);
    if (at.title > 0) {
        fputs(" title ", d.script);
        gnuplot_text(d.script, f->title, 2 * TITLE_LENGTH);
        fputs(" noenhanced", d.script);
    }
    fputc('\n', d.script);
    for (size_t p = 0; status == SADDLE_OK && p < f->panels; p++) {
        place_panel(&d, &at, p);
        status = write_panel(&d, p, error);
    }
    if (status == SADDLE_OK && d.shared)
        write_legend(&d, &at);
    if (status == SADDLE_OK)
        return gnuplot_save(d.script, path, error);
    fclose(d.script);
    return status;
}

saddle_status figure_print(const figure *f, FILE *stream, int columns, int rows, bool colour,
                           saddle_error *error)
{
    /* Gnuplot overprints a legend that is wider than the plot, or that leaves it too few lines. */
    const int beside = 18; /* columns beside a title: the margins and the sample of the line */
    const int lines = 12;  /* of the plot and its labels */
    drawing d = {.f = f, .text = true};
    d.title_length = (size_t)(columns > 2 * beside ? columns - beside : beside);
    if (rows < (int)f->panel[0].curves + lines)
        rows = (int)f->panel[0].curves + lines;
    SADDLE_TRY(gnuplot_open(&d.script, error));
    saddle_fprintf(d.script,
                   "set encoding utf8\nset terminal dumb size %d,%d noenhanced %s\n"
                   "set key outside below center horizontal Left reverse samplen 2\n"
                   "set border 3\nset tics nomirror\nset lmargin 10\n",
                   columns, rows, colour ? "ansirgb" : "mono");
    saddle_put_shown(stream, f->panel[0].y_label != NULL ? f->panel[0].y_label : "");
    fputc('\n', stream);
    saddle_status status = write_panel(&d, 0, error);
    if (status == SADDLE_OK)
        return gnuplot_print(d.script, stream, error);
    fclose(d.script);
    return status;
}
