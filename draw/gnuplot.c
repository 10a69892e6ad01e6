#include "draw/gnuplot.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/file.h"
#include "files/program.h"

saddle_status gnuplot_kind_of(const char *what, const char *path, gnuplot_kind last,
                              gnuplot_kind *out, saddle_error *error)
{
    static const char *const ending[] = {".svg", ".png", ".pdf", ".dot"};
    size_t length = strlen(path);
    for (gnuplot_kind kind = GNUPLOT_SVG; length > 4 && kind <= last; kind++)
        if (strcasecmp_l(path + length - 4, ending[kind], saddle_c_locale()) == 0) {
            if (out != NULL)
                *out = kind;
            return SADDLE_OK;
        }
    return saddle_refuse(error, "%s: '%.200s' must end in .svg, .png%s, which decides the format",
                         what, path, last == GNUPLOT_DOT ? ", .pdf or .dot" : " or .pdf");
}

/* ---- the script ---------------------------------------------------------------------------- */

saddle_status gnuplot_open(FILE **script, saddle_error *error)
{
    int descriptor = memfd_create("saddle-gnuplot", MFD_CLOEXEC);
    *script = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (*script != NULL)
        return SADDLE_OK;
    int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    return saddle_fail(error, SADDLE_IO, "cannot create a temporary file for gnuplot: %s",
                       strerror(reason));
}

/* Characters with a meaning in gnuplot's double quotes are written in octal. (In single quotes gnuplot
 * 5.4 cannot read two quotes in a row.) A control character could end the line, so it is escaped; a text that is cut
 * ends in dots. */
void gnuplot_text(FILE *script, const char *text, size_t most)
{
    const char *end = text + strlen(text);
    fputc('"', script);
    for (size_t count = 0; text < end; count++) {
        char shown[SADDLE_SHOWN_SIZE];
        if (count == most) {
            fputs("\xE2\x80\xA6", script);
            break;
        }
        saddle_show_letter(&text, end, shown);
        for (const char *at = shown; *at != '\0'; at++)
            saddle_fprintf(script, strchr("\"\\`'", *at) != NULL ? "\\%03o" : "%c",
                           (unsigned char)*at);
    }
    fputc('"', script);
}

void gnuplot_terminal(FILE *f, gnuplot_kind kind, int width, int height)
{
    fputs("set encoding utf8\n", f);
    switch (kind) {
    case GNUPLOT_SVG:
        saddle_fprintf(f,
                       "set terminal svg size %d,%d enhanced font 'Helvetica,Arial,sans-serif,13' "
                       "background '#ffffff' linewidth 1\n",
                       width, height);
        break;
    case GNUPLOT_PNG: /* two dots per pixel: sharp on paper and on high-resolution screens */
        saddle_fprintf(
            f,
            "set terminal pngcairo size %d,%d enhanced font 'sans,10' fontscale 2 linewidth 2 "
            "background '#ffffff'\n",
            2 * width, 2 * height);
        break;
    case GNUPLOT_PDF:
        saddle_fprintf(
            f,
            "set terminal pdfcairo size %.3fin,%.3fin enhanced font 'sans,9' linewidth 1 "
            "background '#ffffff'\n",
            width / 96.0, height / 96.0);
        break;
    case GNUPLOT_DOT:
        break;
    }
}

/* ---- the program --------------------------------------------------------------------------- */

/* Reads gnuplot's message: the last line of its errors that is not blank. */
static void last_line(int errors, char *out, size_t size)
{
    char text[2048];
    ssize_t got = pread(errors, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    saddle_snprintf(out, size, "no reason given");
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        line += strspn(line, " \t^");
        if (*line != '\0')
            saddle_snprintf(out, size, "%s", line);
    }
}

static saddle_status missing(int reason, saddle_error *error)
{
    if (reason == ENOENT)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "pictures need the program gnuplot, which is not installed; on Debian: "
                           "apt-get install gnuplot-nox");
    return saddle_fail(error, SADDLE_IO, "cannot start gnuplot: %s", strerror(reason));
}

/* Starts gnuplot; *picture receives the end of a pipe that it draws to. Returns 0 or an errno. */
static int start_gnuplot(pid_t *child, int script, int errors, int *picture)
{
    /* -d: ignore start-up files of the user and the system. */
    static const char *const argv[] = {"gnuplot", "-d", NULL};
    int end[2];
    if (pipe2(end, O_CLOEXEC) != 0)
        return errno;
    int reason = saddle_start_program(child, argv, script, end[1], errors);
    close(end[1]);
    *picture = end[0];
    if (reason != 0)
        close(end[0]);
    return reason;
}

/* Copies a picture to a stream, whose errors its owner checks, and closes the picture. */
static void copy_picture(int picture, FILE *stream)
{
    char bytes[65536];
    ssize_t got;
    do {
        got = read(picture, bytes, sizeof bytes);
        if (got > 0)
            fwrite(bytes, 1, (size_t)got, stream);
    } while (got > 0 || (got < 0 && errno == EINTR));
    close(picture);
}

/* Runs the script, with the picture going to `output`, and closes the script. gnuplot does not check
 * that what it draws can be written, so it draws to a pipe. */
static saddle_status run_script(FILE *stream, FILE *output, saddle_error *error)
{
    bool good = fflush(stream) == 0 && !ferror(stream);
    int script = fileno(stream);
    int errors = memfd_create("saddle-gnuplot-errors", MFD_CLOEXEC);
    int picture = -1;
    pid_t child = 0;
    int reason = good && errors >= 0 && lseek(script, 0, SEEK_SET) == 0 ? 0 : errno;
    if (reason == 0)
        reason = start_gnuplot(&child, script, errors, &picture);
    saddle_status status = SADDLE_OK;
    if (reason != 0) {
        status = missing(reason, error);
    } else {
        copy_picture(picture, output);
        int ending = saddle_wait_for_program(child);
        char message[512];
        last_line(errors, message, sizeof message);
        if (WIFSIGNALED(ending))
            status =
                saddle_fail(error, SADDLE_IO, "gnuplot was killed by signal %d", WTERMSIG(ending));
        else if (WEXITSTATUS(ending) != 0)
            status = saddle_fail(error, SADDLE_IO, "gnuplot cannot draw this: %s", message);
    }
    if (errors >= 0)
        close(errors);
    fclose(stream);
    return status;
}

saddle_status gnuplot_save(FILE *script, const char *path, saddle_error *error)
{
    saddle_output file;
    saddle_status status = saddle_output_open(&file, path, error);
    if (status != SADDLE_OK) {
        fclose(script);
        return status;
    }
    status = run_script(script, file.stream, error);
    if (status == SADDLE_OK)
        return saddle_output_commit(&file, error);
    saddle_output_discard(&file);
    return status;
}

/* Copies lines of characters without the form feed and empty lines at the beginning and without
 * spaces at the ends of lines. */
static void copy_text(FILE *in, FILE *stream)
{
    SADDLE_MALLOCED char *line = NULL;
    size_t room = 0;
    rewind(in);
    for (ssize_t length = getline(&line, &room, in); length >= 0;
         length = getline(&line, &room, in)) {
        while (length > 0 && strchr(" \n\f", line[length - 1]) != NULL)
            line[--length] = '\0';
        if (length > 0)
            saddle_fprintf(stream, "%s\n", line + strspn(line, "\f"));
    }
}

saddle_status gnuplot_print(FILE *script, FILE *stream, saddle_error *error)
{
    FILE *picture;
    saddle_status status = gnuplot_open(&picture, error);
    if (picture == NULL) {
        fclose(script);
        return status;
    }
    status = run_script(script, picture, error);
    if (status == SADDLE_OK)
        copy_text(picture, stream);
    fclose(picture);
    return status;
}
