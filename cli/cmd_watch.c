/*
 * `saddle watch`: redraws the trace of a run as it grows.
 *
 * The file is checked a few times a second. It need not exist yet, and if a run starts again it is
 * followed. The view ends when the trace says that its run has ended, or on q or Ctrl-C. If stdout
 * is not a terminal, new rows are printed instead; then, because nobody may be looking, a trace
 * that never begins is given up, and waiting is reported once.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"
#include "core/clock.h"
#include "draw/trace_curves.h"

/* Milliseconds between checks of the file. */
#define INTERVAL 250
/* Seconds without a new row after which this is reported. */
#define QUIET 10.0
/* Seconds to wait for a valid trace, because its head may still be incomplete. */
#define PATIENCE 2.0
/* The default of --wait without a terminal. */
#define WAIT 60.0

typedef struct options {
    cli_common common;
    const char *x;
    const char *y;
    double wait; /* NaN: automatic */
} options;

static const saddle_option x_option =
    SADDLE_TEXT(CLI_OWN_OFFERED(x, CLI_AXES), "x", "Picture", "samples", "AXIS",
                "Horizontal axis. Give samples, rounds, messages, bytes, seconds, iterations or "
                "the name of a column.");
static const saddle_option y_option =
    SADDLE_TEXT(CLI_OWN_OFFERED(y, CLI_COLUMNS), "y", "Picture", "metric", "COLUMN",
                "Vertical axis. Give metric, loss, or another column of the file.");

static const saddle_option *const own[] = {
    &x_option, &y_option,
    CLI_OPTION(REAL, options, wait, "wait", "Waiting", "auto", 0, 1e9, "SECONDS",
               "Give up if the trace has no row after SECONDS. auto: never on a terminal, "
               "otherwise after 60 seconds."),
    NULL};

/* The state of the view. */
typedef struct view {
    const char *path;
    const char *x; /* columns */
    const char *y;
    struct stat last;      /* of the file when it was last checked; zero: it does not exist */
    saddle_trace *trace;   /* as last read; NULL: nothing yet */
    double changed_at;     /* when the file last changed */
    double bad_since;      /* since when it has not been a trace; 0: it is one */
    size_t printed;        /* rows printed, without a terminal */
    double since;          /* since when there has been nothing to show */
    double wait;           /* seconds to wait for a first row */
    bool silence_reported; /* without a terminal */
    struct winsize size;
    struct termios terminal; /* its settings before the view */
    bool screen;             /* whether the view is drawn on a terminal */
} view;

/* ---- the file ------------------------------------------------------------------------------ */

/* Whether the file is another one than at the last check, or has changed. */
static bool has_changed(view *v)
{
    struct stat s;
    const struct stat *l = &v->last;
    if (stat(v->path, &s) != 0)
        s = (struct stat){.st_ino = 0};
    bool same = s.st_dev == l->st_dev && s.st_ino == l->st_ino && s.st_size == l->st_size &&
                s.st_mtim.tv_sec == l->st_mtim.tv_sec && s.st_mtim.tv_nsec == l->st_mtim.tv_nsec;
    v->last = s;
    return !same;
}

/* Seconds since the file last changed. */
static double idle_seconds(const view *v)
{
    return saddle_clock_seconds() - v->changed_at;
}

/* Refuses columns that the trace does not have. */
static saddle_status check_columns(const view *v, saddle_error *error)
{
    SADDLE_OWNED_BY(figure_release) figure_curves curves = {.count = 0};
    const saddle_trace *list[] = {v->trace};
    return figure_group(&curves, list, 1, v->x, v->y, error);
}

/* Reads the file again if it has changed; `*changed`: there is something new to show. A missing
 * file is not a failure, nor, for a short time, one that is not a valid trace. */
static saddle_status refresh(view *v, bool *changed, saddle_error *error)
{
    *changed = has_changed(v) || v->bad_since > 0.0;
    if (!*changed)
        return SADDLE_OK;
    v->changed_at = saddle_clock_seconds();
    saddle_trace_free(v->trace);
    v->trace = NULL;
    if (v->last.st_size == 0)
        return SADDLE_OK;
    saddle_status status = saddle_trace_read(&v->trace, v->path, error);
    if (status == SADDLE_OK) {
        v->bad_since = 0.0;
        return check_columns(v, error);
    }
    v->bad_since = v->bad_since > 0.0 ? v->bad_since : saddle_clock_seconds();
    return saddle_clock_seconds() - v->bad_since < PATIENCE ? SADDLE_OK : status;
}

/* ---- without a terminal -------------------------------------------------------------------- */

/* Prints new rows, with the names of the columns before the first. */
static void print_rows(view *v)
{
    const saddle_trace *t = v->trace;
    if (t == NULL)
        return;
    if (t->rows < v->printed) {
        cli_print("# the run started again\n");
        v->printed = 0;
    }
    if (t->rows > 0 && v->printed == 0)
        cli_print("%s,%s\n", v->x, v->y);
    const double *x = saddle_trace_column(t, v->x);
    const double *y = saddle_trace_column(t, v->y);
    for (; v->printed < t->rows; v->printed++)
        cli_print("%.17g,%.17g\n", x[v->printed], y[v->printed]);
    if (t->end != NULL)
        cli_print("# ended: %s\n", t->end);
}

/* Whether there is something to show. */
static bool begun(const view *v)
{
    return v->trace != NULL && v->trace->rows > 0;
}

/* Why there is nothing to show. */
static const char *what_is_missing(const view *v)
{
    if (v->last.st_ino == 0)
        return "does not exist";
    return v->last.st_size == 0 ? "is empty" : "has no row yet";
}

/* Reports once, on stderr, that no rows arrive. */
static void report_silence(view *v)
{
    if (begun(v) && idle_seconds(v) < QUIET) {
        v->silence_reported = false; /* report the next silence again */
        return;
    }
    if (v->silence_reported)
        return;
    v->silence_reported = true;
    if (begun(v))
        cli_say("'%s': no new row for %.0f seconds; still watching", v->path, idle_seconds(v));
    else if (isfinite(v->wait))
        cli_say("waiting at most %g s (--wait) for '%s', which %s", v->wait, v->path,
                what_is_missing(v));
    else
        cli_say("waiting for '%s', which %s", v->path, what_is_missing(v));
}

/* ---- on a terminal ------------------------------------------------------------------------- */

/* Switches the terminal to the alternate screen, without cursor, line buffering and echo. */
static void take_screen(view *v)
{
    v->screen = v->screen && tcgetattr(STDIN_FILENO, &v->terminal) == 0;
    if (!v->screen)
        return;
    struct termios raw = v->terminal;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", stdout);
}

static void give_back_screen(const view *v)
{
    if (!v->screen)
        return;
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &v->terminal);
}

/* Prints one line about the run, cut to the width of the screen. */
static void print_state(const view *v, int columns)
{
    const saddle_trace *t = v->trace;
    char where[160] = "";
    char how[160] = "";
    const char *name = t != NULL ? saddle_trace_setting(t, "algorithm") : "";
    if (t != NULL && t->rows > 0) {
        const double *iteration = saddle_trace_column(t, "iteration");
        const double *y = saddle_trace_column(t, v->y);
        saddle_snprintf(where, sizeof where, "  iteration %.0f/%.20s  %.40s %.4g",
                        iteration != NULL ? iteration[t->rows - 1] : 0.0,
                        saddle_trace_setting(t, "iterations"), v->y, y[t->rows - 1]);
    }
    if (t != NULL && t->end != NULL)
        saddle_snprintf(how, sizeof how, "  ended: %.100s", t->end);
    else if (idle_seconds(v) >= QUIET)
        saddle_snprintf(how, sizeof how, "  no new row for %.0f s", idle_seconds(v));
    char line[768];
    saddle_snprintf(line, sizeof line, "%s%.200s%s%s", t == NULL ? "waiting for " : "",
                    *name != '\0' ? name : v->path, where, how);
    cli_print("%.*s\n", columns - 1, line);
}

/* Draws state and curve; on a terminal they fill the screen. */
static saddle_status redraw(const view *v, saddle_error *error)
{
    int columns = v->size.ws_col >= 40 ? v->size.ws_col : 80;
    int rows = v->size.ws_row >= 12 ? v->size.ws_row : 24;
    saddle_status status = SADDLE_OK;
    fputs(v->screen ? "\033[H\033[2J" : "", stdout);
    print_state(v, columns);
    if (begun(v)) {
        figure_curves curves;
        const saddle_trace *list[] = {v->trace};
        status = figure_group(&curves, list, 1, v->x, v->y, error);
        figure_panel panel = {.x_label = figure_title(v->x),
                              .y_label = figure_title(v->y),
                              .y_scale = figure_scale_of(v->y),
                              .curves = curves.count,
                              .curve = curves.curve};
        figure one = {.panels = 1, .panel = &panel};
        SADDLE_THEN(status, figure_print(&one, stdout, columns, rows - 4, true, error));
        figure_release(&curves);
    }
    fputs(v->screen && status == SADDLE_OK ? "press q to leave; the run continues" : "", stdout);
    return status;
}

/* Whether the size of the terminal has changed. */
static bool resized(view *v)
{
    struct winsize size = v->size;
    if (!v->screen || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return false;
    bool other = size.ws_col != v->size.ws_col || size.ws_row != v->size.ws_row;
    v->size = size;
    return other;
}

/* Waits for a key or the next check; true: the user leaves. */
static bool wait_for_key(const view *v)
{
    struct pollfd keys = {.fd = v->screen ? STDIN_FILENO : -1, .events = POLLIN};
    if (poll(&keys, 1, INTERVAL) <= 0)
        return false;
    char key = 0;
    ssize_t got = read(STDIN_FILENO, &key, 1);
    return got <= 0 || key == 'q' || key == 'Q' || key == 4; /* 4: Ctrl-D */
}

/* ---- the command --------------------------------------------------------------------------- */

/* Follows the trace until it ends or the user leaves. */
static saddle_status follow(view *v, const volatile sig_atomic_t *interrupt, saddle_error *error)
{
    double updated = 0.0; /* when the seconds without a new row were last updated on the screen */
    for (bool first = true; !*interrupt; first = false) {
        bool changed = false;
        saddle_status status = refresh(v, &changed, error);
        bool stale = resized(v) || first;
        if (idle_seconds(v) >= QUIET && saddle_clock_seconds() - updated >= 1.0) {
            updated = saddle_clock_seconds();
            stale = true;
        }
        if (status == SADDLE_OK && !v->screen) {
            print_rows(v);
            report_silence(v);
        } else if (status == SADDLE_OK && (changed || stale)) {
            status = redraw(v, error);
        }
        if (status != SADDLE_OK)
            return status;
        bool ended = v->trace != NULL && v->trace->end != NULL;
        if (begun(v))
            v->since = saddle_clock_seconds();
        else if (!ended && saddle_clock_seconds() - v->since >= v->wait)
            return saddle_refuse(
                error, "'%.300s' %s after %g s; give the --trace file of a run, or a longer --wait",
                v->path, what_is_missing(v), v->wait);
        if (!cli_flush() || ended || wait_for_key(v))
            break;
    }
    return SADDLE_OK;
}

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    const options *chosen = arguments->own;
    view v = {.path = arguments->operand[0],
              .x = figure_column_of(chosen->x),
              .y = figure_column_of(chosen->y),
              .screen = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO),
              .changed_at = saddle_clock_seconds(),
              .since = saddle_clock_seconds()};
    v.wait = !isnan(chosen->wait) ? chosen->wait : v.screen ? (double)INFINITY : WAIT;
    const volatile sig_atomic_t *interrupt = cli_catch_interrupts();
    take_screen(&v);
    saddle_status status = follow(&v, interrupt, &error);
    give_back_screen(&v);
    /* Leave the last picture on the user's normal screen. */
    if (status == SADDLE_OK && v.screen && v.trace != NULL) {
        v.screen = false;
        status = redraw(&v, &error);
    }
    saddle_trace_free(v.trace);
    if (status != SADDLE_OK)
        return cli_fail(&error);
    return *interrupt ? CLI_INTERRUPTED : CLI_OK;
}

const cli_command cli_watch = {
    .name = "watch",
    .operands = "TRACE",
    .summary = "watch the trace of a run as it grows",
    .details =
        "Redraws the curve whenever the trace grows, and waits for a file that does not exist yet. "
        "It ends when the trace records the end of the run, or on q or Ctrl-C, which do not affect "
        "the run. If standard output is not a terminal, new rows are printed instead, and the "
        "command gives up if there is no row after a minute (--wait).",
    .values = "@FILE",
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
