/* `saddle plot`: draws curves of traces, in the terminal or into a file. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "core/outcome_name.h"
#include "draw/gnuplot.h"
#include "draw/trace_curves.h"
#include "draw/trace_list.h"

#define GROUP "Picture"
/* The most names in --x and in --y. */
#define MOST_WORDS 8

typedef struct options {
    cli_common common;
    const char *output; /* NULL: the terminal */
    const char *x;
    const char *y;
    int x_scale; /* X_LINEAR or X_LOG */
    int y_scale; /* Y_AUTO, Y_LINEAR or Y_LOG */
    const char *title;
} options;

/* The choices of --x-scale and --y-scale. */
enum { X_LINEAR, X_LOG };
enum { Y_AUTO, Y_LINEAR, Y_LOG };

static const saddle_option x_option =
    SADDLE_TEXT(CLI_OWN_OFFERED(x, CLI_AXES), "x", GROUP, "samples", "AXIS",
                "Horizontal axis. Give samples, rounds, messages, bytes, seconds, iterations or "
                "the name of a column. Several, separated by commas, make several panels.");
static const saddle_option y_option = SADDLE_TEXT(
    CLI_OWN_OFFERED(y, CLI_COLUMNS), "y", GROUP, "auto", "COLUMN",
    "Vertical axis. Give metric, loss, an outcome such as accuracy (on held-out rows, if there are "
    "any), or another column of the files. Several, separated by commas, make several panels: --x "
    "samples,rounds --y metric,loss draws 2 x 2. "
    "auto: the metric and, if the traces have them, up to three outcomes.");
static const saddle_option *const own[] = {
    CLI_FILES(
        OUTPUT, options, output, "output", GROUP, "", "FILE",
        "Draw into a .svg, .png or .pdf file; -o is the same. Not given: draw in the terminal."),
    &x_option,
    &y_option,
    CLI_OPTION(CHOICE, options, x_scale, "x-scale", GROUP, "linear", "linear|log", "SCALE",
               "Scale of the horizontal axis."),
    CLI_OPTION(
        CHOICE, options, y_scale, "y-scale", GROUP, "auto", "auto|linear|log", "SCALE",
        "Scale of the vertical axis. auto: logarithmic for the metric and similar quantities."),
    CLI_OPTION(TEXT, options, title, "title", GROUP, "", "TEXT",
               "Title above the picture. Not given: none."),
    NULL};

/* The picture. */
typedef struct plot {
    const options *chosen;
    trace_list in;
    size_t columns; /* of a grid; 0: one row of pictures, wrapped if it is long */
    size_t panels;
    figure_panel panel[MOST_WORDS * MOST_WORDS];
    figure_curves curves[MOST_WORDS * MOST_WORDS];
} plot;

/* Splits "a,b" into names within a copy, which the caller frees. */
static saddle_status read_list(const char *name, const char *text, char **copy,
                               const char *word[MOST_WORDS], size_t *count, saddle_error *error)
{
    *count = 0;
    *copy = saddle_strdup(text);
    if (*copy == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for --%s", name);
    char *rest = *copy;
    for (char *at = strsep(&rest, ","); at != NULL; at = strsep(&rest, ",")) {
        if (*at == '\0' || *count == MOST_WORDS)
            return saddle_refuse(error,
                                 "--%s: '%.80s' is not a list of 1 to %d names separated by commas",
                                 name, text, MOST_WORDS);
        word[(*count)++] = figure_column_of(at);
    }
    return SADDLE_OK;
}

/* Whether all traces have a column. */
static bool all_have(const trace_list *in, const char *column)
{
    for (size_t k = 0; k < in->count; k++)
        if (saddle_trace_column(in->trace[k], column) == NULL)
            return false;
    return in->count > 0;
}

/* The column for a name of --y: an outcome may be given without test_ or train_. Names are
 * borrowed from a trace. */
static const char *outcome_column(const trace_list *in, const char *name)
{
    const char *found = name;
    saddle_measured_rows rows = SADDLE_ROWS_NONE;
    for (size_t c = 0; !all_have(in, name) && in->count > 0 && c < in->trace[0]->columns; c++) {
        saddle_outcome_name column = saddle_outcome_name_of(in->trace[0]->column[c]);
        if (column.rows < rows && strcmp(column.measure, name) == 0 &&
            all_have(in, in->trace[0]->column[c])) {
            rows = column.rows;
            found = in->trace[0]->column[c];
        }
    }
    return found;
}

/* The default of --y: the metric, and outcomes of the mean model, on held-out rows if there are
 * some. */
static size_t choose_columns(const trace_list *in, const char *word[MOST_WORDS])
{
    size_t count = 0;
    word[count++] = "metric";
    for (int rows = 0; count == 1 && rows < SADDLE_ROWS_NONE; rows++)
        for (size_t c = 0; in->count > 0 && c < in->trace[0]->columns && count < 4; c++) {
            const char *column = in->trace[0]->column[c];
            saddle_outcome_name name = saddle_outcome_name_of(column);
            if ((int)name.rows == rows && name.statistic == SADDLE_OF_MEAN_MODEL &&
                all_have(in, column))
                word[count++] = column;
        }
    return count;
}

static figure_scale vertical_scale(const plot *p, const char *column)
{
    if (p->chosen->y_scale == Y_AUTO)
        return figure_scale_of(column);
    return p->chosen->y_scale == Y_LOG ? FIGURE_LOG : FIGURE_LINEAR;
}

static saddle_status add_panel(plot *p, const char *x, const char *y, saddle_error *error)
{
    figure_curves *curves = &p->curves[p->panels];
    SADDLE_TRY(
        figure_group(curves, (const saddle_trace *const *)p->in.trace, p->in.count, x, y, error));
    bool log_x = p->chosen->x_scale == X_LOG;
    p->panel[p->panels++] = (figure_panel){.x_label = figure_title(x),
                                           .y_label = figure_title(y),
                                           .x_scale = log_x ? FIGURE_LOG : FIGURE_LINEAR,
                                           .y_scale = vertical_scale(p, y),
                                           .y_from = FIGURE_STEEP_START,
                                           .curves = curves->count,
                                           .curve = curves->curve};
    return SADDLE_OK;
}

/* The height of a picture: that of the terminal, at most 40 lines; 24 without a terminal. */
static int screen_rows(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 12)
        return 24;
    return size.ws_row > 40 ? 40 : size.ws_row - 1;
}

static saddle_status draw(const plot *p, saddle_error *error)
{
    const char *path = p->chosen->output;
    const char *title = p->chosen->title;
    figure all = {.title = title, .columns = p->columns, .panels = p->panels, .panel = p->panel};
    if (path != NULL)
        return figure_draw(&all, path, error);
    if (title != NULL)
        cli_print("%s\n", title);
    for (size_t k = 0; k < p->panels; k++) {
        figure one = {.panels = 1, .panel = &p->panel[k]};
        SADDLE_TRY(figure_print(&one, stdout, cli_width(STDOUT_FILENO), screen_rows(),
                                isatty(STDOUT_FILENO), error));
    }
    return SADDLE_OK;
}

/* Refuses a file that cannot be written, or that is one of the traces. */
static saddle_status check_output(const cli_arguments *arguments, saddle_error *error)
{
    const options *chosen = arguments->own;
    const char *path = chosen->output;
    if (path == NULL)
        return SADDLE_OK;
    SADDLE_TRY(gnuplot_kind_of("--output", path, GNUPLOT_PDF, NULL, error));
    return cli_check_trace_output(arguments, "--output", path, error);
}

static void release(plot *p)
{
    for (size_t k = 0; k < p->panels; k++)
        figure_release(&p->curves[k]);
    saddle_trace_list_release(&p->in);
}

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    SADDLE_OWNED_BY(release) plot p = {.chosen = arguments->own};
    SADDLE_OWNED char *x_copy = NULL;
    SADDLE_OWNED char *y_copy = NULL;
    const char *x[MOST_WORDS];
    const char *y[MOST_WORDS];
    size_t across = 0;
    size_t down = 0;
    CLI_TRY(check_output(arguments, &error));
    CLI_TRY(read_list("x", p.chosen->x, &x_copy, x, &across, &error));
    if (p.chosen->y != NULL)
        CLI_TRY(read_list("y", p.chosen->y, &y_copy, y, &down, &error));
    CLI_TRY(saddle_trace_list_read(&p.in, arguments->operand, arguments->count, &error));
    CLI_TRY(saddle_trace_list_check_one(&p.in, &error));
    if (p.chosen->y == NULL)
        down = choose_columns(&p.in, y);
    for (size_t k = 0; k < down; k++)
        y[k] = outcome_column(&p.in, y[k]);
    p.columns = across > 1 && down > 1 ? across : 0;
    for (size_t k = 0; across > 0 && k < across * down; k++)
        CLI_TRY(add_panel(&p, x[k % across], y[k / across], &error));
    CLI_TRY(draw(&p, &error));
    return CLI_OK;
}

const cli_command cli_plot = {
    .name = "plot",
    .operands = "TRACE|DIR...",
    .summary = "plot traces, in the terminal or into a picture file",
    .details =
        "Traces of one algorithm that differ only in their seed become one curve: their mean (the "
        "geometric mean on a logarithmic axis), with a band from the 10th to the 90th percentile "
        "(for up to 10 seeds, from the smallest to the largest value). Each algorithm has the same "
        "colour in every picture. Needs gnuplot.",
    .values = "@FILE",
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
