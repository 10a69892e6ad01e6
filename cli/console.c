/* Printing: wrapped text, tables, the progress line, and failures of stdout. */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "instance/plan.h"

/* The most columns of a table. */
#define MOST_COLUMNS 16

static int stdout_error;     /* errno of the first failed write; 0: none */
static size_t progress_size; /* characters of the progress line on the screen */
static bool silent;          /* another process prints */
static char **warning;       /* all that were printed; owned */
static size_t warnings;

/* ---- the streams --------------------------------------------------------------------------- */

void cli_console_open(void)
{
    /* If the caller closed a standard descriptor, the next file that is opened would get its
     * number and receive what is printed. Occupy the number with a descriptor that refuses the
     * wrong direction. */
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
            int opened = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
            if (opened > descriptor)
                close(opened);
        }
    /* A reader that goes away shows up as EPIPE, so that a trace can still be closed properly. */
    signal(SIGPIPE, SIG_IGN);
    /* A file that exceeds `ulimit -f` shows up as EFBIG. */
    signal(SIGXFSZ, SIG_IGN);
    /* Shells make background jobs ignore SIGINT; one that is sent on purpose must take effect. */
    signal(SIGINT, SIG_DFL);
}

void cli_silence(void)
{
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    silent = true;
    fflush(stdout);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        close(nothing);
    }
}

bool cli_flush(void)
{
    errno = 0;
    bool good = fflush(stdout) == 0 && !ferror(stdout);
    /* A stream that failed earlier does not say why; writing one more byte does. */
    if (!good && errno == 0 && write(STDOUT_FILENO, "\n", 1) >= 0)
        errno = EIO;
    if (!good && stdout_error == 0)
        stdout_error = errno;
    return stdout_error == 0;
}

bool cli_reader_gone(void)
{
    return stdout_error == EPIPE;
}

void cli_stop_without_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0 && stdout_error == 0) {
        stdout_error = EPIPE;
        cli_interrupt();
    }
}

void cli_flush_or_stop(void)
{
    if (!cli_flush() && cli_reader_gone())
        cli_interrupt();
}

int cli_console_close(int code)
{
    while (warnings > 0)
        free(warning[--warnings]);
    free((void *)warning);
    warning = NULL;
    if (cli_flush())
        return code;
    if (!cli_reader_gone())
        cli_say("cannot write to standard output: %s", strerror(stdout_error));
    return code == CLI_OK ? CLI_FAILED : code;
}

int cli_width(int descriptor)
{
    struct winsize size;
    if (!isatty(descriptor) || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    if (size.ws_col < 40)
        return 40;
    return size.ws_col > 120 ? 120 : size.ws_col;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* printf into memory, with characters that control a terminal escaped, because file names, trace
 * heads and server replies can contain anything. Newlines are kept if `lines`. NULL: memory is
 * short. */
__attribute__((format(printf, 2, 0))) static char *format_shown(bool lines, const char *format,
                                                                va_list arguments)
{
    SADDLE_MALLOCED char *text = NULL;
    int length = saddle_vasprintf(&text, format, arguments);
    if (length < 0)
        return NULL;
    /* A byte becomes at most four characters, as in \x1b. */
    char *copy = malloc(4 * (size_t)length + SADDLE_SHOWN_SIZE);
    char *to = copy;
    for (const char *at = text, *end = text + length; copy != NULL && at < end;) {
        if (lines && *at == '\n')
            *to++ = *at++;
        else
            to += saddle_show_letter(&at, end, to);
    }
    if (copy != NULL)
        *to = '\0';
    return copy;
}

static void put(FILE *stream, const char *text)
{
    fputs(text != NULL ? text : "(out of memory)", stream);
}

void cli_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    SADDLE_MALLOCED char *text = format_shown(true, format, arguments);
    va_end(arguments);
    put(stdout, text);
}

/* Wraps a text that needs no escaping. */
static void wrap(const char *text, int column, int indent, int width)
{
    text = text != NULL ? text : "(out of memory)";
    bool fresh = true; /* nothing on this line yet, so no space is needed */
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        bool full = !fresh && column + 1 + (int)length > width;
        if (full) {
            saddle_fprintf(stdout, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        if (length > 0) {
            saddle_fprintf(stdout, "%s%.*s", fresh ? "" : " ", (int)length, text);
            column += (int)length + (fresh ? 0 : 1);
            fresh = false;
        }
        text += length;
        if (*text == '\n') {
            bool blank = text[1] == '\n' || text[1] == '\0';
            saddle_fprintf(stdout, "\n%*s", blank ? 0 : indent, "");
            column = indent;
            fresh = true;
        }
        if (*text != '\0')
            text++;
    }
    putchar('\n');
}

void cli_wrap(int column, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    SADDLE_MALLOCED char *text = format_shown(true, format, arguments);
    va_end(arguments);
    wrap(text, column, indent, cli_width(STDOUT_FILENO));
}

/* Prints "saddle: KIND..." on stderr and returns the text after KIND, to be freed. NULL: nothing
 * was printed, or memory is short. */
__attribute__((format(printf, 2, 0))) static char *say(const char *kind, const char *format,
                                                       va_list arguments)
{
    if (silent)
        return NULL;
    cli_progress_clear();
    char *text = format_shown(false, format, arguments);
    saddle_fprintf(stderr, "saddle: %s", kind);
    put(stderr, text);
    fputc('\n', stderr);
    return text;
}

void cli_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    free(say("", format, arguments));
    va_end(arguments);
}

void cli_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = say("warning: ", format, arguments);
    va_end(arguments);
    char **longer =
        text != NULL ? realloc((void *)warning, (warnings + 1) * sizeof *warning) : NULL;
    if (longer == NULL) {
        free(text);
        return;
    }
    warning = longer;
    warning[warnings++] = text;
}

const char *const *cli_warnings(size_t *count)
{
    *count = warnings;
    return (const char *const *)warning;
}

/* ---- the progress line --------------------------------------------------------------------- */

bool cli_has_progress(void)
{
    return !silent && isatty(STDERR_FILENO);
}

void cli_progress(const char *format, ...)
{
    if (!cli_has_progress())
        return;
    va_list arguments;
    va_start(arguments, format);
    SADDLE_MALLOCED char *line = format_shown(false, format, arguments);
    va_end(arguments);
    if (line == NULL)
        return;
    /* Keep one column free: a full line makes some terminals scroll. */
    int width = cli_width(STDERR_FILENO) - 1;
    size_t length = strnlen(line, (size_t)width);
    int blanks = progress_size > length ? (int)(progress_size - length) : 0;
    saddle_fprintf(stderr, "\r%.*s%*s", (int)length, line, blanks, "");
    fflush(stderr);
    progress_size = length;
}

void cli_progress_clear(void)
{
    if (progress_size == 0)
        return;
    saddle_fprintf(stderr, "\r%*s\r", (int)progress_size, "");
    fflush(stderr);
    progress_size = 0;
}

void cli_meter_progress(void *context, uint64_t iteration, double seconds)
{
    const cli_meter *meter = context;
    if (meter->hidden)
        return;
    double rate = seconds > 0.0 ? (double)iteration / seconds : 0.0;
    /* The run has no limit on iterations; another limit ends it. */
    if (meter->iterations >= SADDLE_UNLIMITED_ITERATIONS) {
        cli_progress("%siteration %llu  metric %.4g  %.0f/s", meter->label,
                     (unsigned long long)iteration, meter->metric, rate);
        return;
    }
    char left[CLI_NUMBER] = "?";
    if (rate > 0.0)
        cli_duration((double)(meter->iterations - iteration) / rate, left);
    cli_progress("%siteration %llu/%llu  metric %.4g  %.0f/s  %s left", meter->label,
                 (unsigned long long)iteration, (unsigned long long)meter->iterations,
                 meter->metric, rate, left);
}

static void meter_begin(void *context, const saddle_run_info *info)
{
    cli_meter *meter = context;
    meter->iterations = info->plan->limits.iterations;
}

void cli_meter_row(void *context, const saddle_row *row)
{
    cli_meter *meter = context;
    meter->metric = row->metric;
    cli_meter_progress(meter, row->iteration, row->seconds);
}

static void meter_warning(void *context, const char *message)
{
    const cli_meter *meter = context;
    cli_warn("%s%s", meter->run, message);
}

saddle_hooks cli_meter_hooks(cli_meter *meter, const volatile sig_atomic_t *interrupt)
{
    return (saddle_hooks){.context = meter,
                          .begin = meter_begin,
                          .row = cli_meter_row,
                          .progress = cli_meter_progress,
                          .warning = meter_warning,
                          .interrupt = interrupt};
}

void cli_report_run(const char *label, const saddle_row *last, saddle_stop stop)
{
    char time[CLI_NUMBER];
    cli_print("  %s%llu iteration%s, %s, metric %.4e: %s\n", label,
              (unsigned long long)last->iteration, SADDLE_PLURAL(last->iteration),
              cli_duration(last->seconds, time), last->metric, saddle_stop_text(stop));
    cli_flush_or_stop();
}

/* ---- numbers ------------------------------------------------------------------------------- */

const char *cli_duration(double seconds, char out[CLI_NUMBER])
{
    if (!(seconds < 1e9)) {
        saddle_snprintf(out, CLI_NUMBER, "years");
        return out;
    }
    double minutes = floor(seconds / 60.0);
    double hours = floor(seconds / 3600.0);
    if (seconds < 60.0)
        saddle_snprintf(out, CLI_NUMBER, "%.3g s", seconds);
    else if (hours < 1.0)
        saddle_snprintf(out, CLI_NUMBER, "%.0fm %02.0fs", minutes, floor(seconds - 60.0 * minutes));
    else
        saddle_snprintf(out, CLI_NUMBER, "%.0fh %02.0fm", hours, floor(minutes - 60.0 * hours));
    return out;
}

/* ---- tables -------------------------------------------------------------------------------- */

struct cli_table {
    const char *alignment; /* borrowed */
    FILE *stream;          /* appends to the cells, each of which ends with a NUL */
    char *cells;
    size_t bytes;
    bool broken; /* memory was short */
};

cli_table *cli_table_create(const char *alignment)
{
    cli_table *table = calloc(1, sizeof *table);
    if (table != NULL) {
        table->alignment = alignment;
        table->stream = open_memstream(&table->cells, &table->bytes);
        table->broken = table->stream == NULL;
    }
    return table;
}

void cli_table_add(cli_table *table, const char *format, ...)
{
    if (table == NULL || table->broken)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *cell = format_shown(false, format, arguments);
    va_end(arguments);
    table->broken = cell == NULL || fwrite(cell, strlen(cell) + 1, 1, table->stream) != 1;
    free(cell);
}

void cli_table_add_words(cli_table *table, const char *const *word)
{
    for (; *word != NULL; word++)
        cli_table_add(table, "%s", *word);
}

static void print_rows(const cli_table *table, size_t columns)
{
    int width[MOST_COLUMNS] = {0};
    const char *end = table->cells + table->bytes;
    size_t c = 0;
    for (const char *cell = table->cells; cell < end; cell += strlen(cell) + 1) {
        int length = (int)strlen(cell);
        width[c] = length > width[c] ? length : width[c];
        c = (c + 1) % columns;
    }
    int column = 2;
    c = 0;
    for (const char *cell = table->cells; cell < end; cell += strlen(cell) + 1) {
        bool last = c + 1 == columns;
        if (c == 0)
            fputs("  ", stdout);
        /* The space left for the last column may be too narrow for wrapping. */
        int edge = cli_width(STDOUT_FILENO);
        edge = edge < column + 24 ? column + 24 : edge;
        if (last && table->alignment[c] == 'l')
            wrap(cell, column, column, edge);
        else
            saddle_fprintf(stdout, "%*s%s", table->alignment[c] == 'r' ? width[c] : -width[c], cell,
                           last ? "\n" : "  ");
        column = last ? 2 : column + width[c] + 2;
        c = (c + 1) % columns;
    }
}

void cli_table_print(cli_table *table)
{
    size_t columns = table != NULL ? strlen(table->alignment) : 0;
    bool closed = table != NULL && table->stream != NULL && fclose(table->stream) == 0;
    if (closed && !table->broken && columns <= MOST_COLUMNS)
        print_rows(table, columns);
    else
        cli_warn("out of memory: a table is not shown");
    free(table != NULL ? table->cells : NULL);
    free(table);
}

/* ---- failures ------------------------------------------------------------------------------ */

int cli_exit_code(saddle_status status)
{
    switch (status) {
    case SADDLE_OK:
        return CLI_OK;
    case SADDLE_BAD_INPUT:
    case SADDLE_UNSUPPORTED:
        return CLI_BAD_INPUT;
    case SADDLE_CHECK_FAILED:
        return CLI_CHECK_FAILED;
    case SADDLE_NO_MEMORY:
    case SADDLE_IO:
    case SADDLE_NUMERIC:
        break;
    }
    return CLI_FAILED;
}

int cli_fail(const saddle_error *error)
{
    cli_say("%s", error->message);
    return cli_exit_code(error->status);
}

int cli_refuse(const char *format, ...)
{
    saddle_error error = {.status = SADDLE_BAD_INPUT};
    va_list arguments;
    va_start(arguments, format);
    saddle_vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    return cli_fail(&error);
}
