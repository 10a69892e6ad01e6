#include "json.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/print.h"
#include "core/text.h"

static void break_line(const saddle_json *j)
{
    saddle_fprintf(j->stream, "\n%*s", 2 * j->depth, "");
}

static void put_text(FILE *f, const char *text)
{
    const char *end = text + strlen(text);
    fputc('"', f);
    while (text < end) {
        const char *from = text;
        uint32_t letter = saddle_next_letter(&text, end);
        if (letter == '"' || letter == '\\')
            saddle_fprintf(f, "\\%c", (int)letter);
        else if (saddle_is_invisible(letter) || letter == 0xFFFD)
            saddle_fprintf(f, "\\u%04x", (unsigned)letter);
        else
            fwrite(from, 1, (size_t)(text - from), f);
    }
    fputc('"', f);
}

/* Writes what precedes a value: a comma, a new line for members and for objects in arrays, the
 * name. */
static void lead(saddle_json *j, const char *name, bool own_line)
{
    if (!j->empty)
        fputc(',', j->stream);
    if (name != NULL || own_line)
        break_line(j);
    else if (!j->empty)
        fputc(' ', j->stream);
    if (name != NULL) {
        put_text(j->stream, name);
        fputs(": ", j->stream);
    }
    j->empty = false;
    j->broken = false;
}

static void open_with(saddle_json *j, char bracket)
{
    fputc(bracket, j->stream);
    j->depth++;
    j->empty = true;
}

static void close_with(saddle_json *j, bool own_line, char bracket)
{
    j->depth--;
    if (own_line)
        break_line(j);
    fputc(bracket, j->stream);
    j->empty = false;
    j->broken = bracket == '}';
}

static void put_object(saddle_json *j, const char *name)
{
    lead(j, name, true);
    open_with(j, '{');
}

static void put_array(saddle_json *j, const char *name)
{
    lead(j, name, false);
    open_with(j, '[');
}

static void end_object(saddle_json *j)
{
    close_with(j, !j->empty, '}');
}

static void end_array(saddle_json *j)
{
    close_with(j, j->broken && !j->empty, ']');
}

void saddle_json_begin(saddle_json *j, FILE *stream)
{
    *j = (saddle_json){.stream = stream};
    open_with(j, '{');
}

void saddle_json_end(saddle_json *j)
{
    end_object(j);
    fputc('\n', j->stream);
}

static void put_value(saddle_json *j, const char *name, const char *text)
{
    lead(j, name, false);
    if (text != NULL)
        put_text(j->stream, text);
    else
        fputs("null", j->stream);
}

static void put_real(saddle_json *j, const char *name, double value)
{
    char number[SADDLE_REAL_SIZE];
    lead(j, name, false);
    if (!isfinite(value))
        fputs("null", j->stream);
    else if (fabs(value) <= 0x1p53 && value == rint(value))
        /* Readers may read -0 as an integer, which has no sign. */
        saddle_fprintf(j->stream, value == 0.0 && signbit(value) ? "%.1f" : "%.0f", value);
    else /* every decimal of 15 digits survives as a double, except subnormal ones */
        fputs(saddle_print_real(value, fabs(value) < DBL_MIN ? 1 : 15, number), j->stream);
}

static void put_whole(saddle_json *j, const char *name, uint64_t value)
{
    lead(j, name, false);
    saddle_fprintf(j->stream, "%" PRIu64, value);
}

static void put_flag(saddle_json *j, const char *name, bool value)
{
    lead(j, name, false);
    fputs(value ? "true" : "false", j->stream);
}

static_assert(_Generic((size_t)0, uint64_t : true, default : false), "size_t is uint64_t");

/* Writes the next argument, whose conversion begins at `at`. */
static void put_argument(saddle_json *j, const char *name, const char *at, va_list *list)
{
    if (at[1] == 's')
        put_value(j, name, va_arg(*list, const char *));
    else if (at[1] == 'g')
        put_real(j, name, va_arg(*list, double));
    else if (at[1] == 'd')
        put_flag(j, name, va_arg(*list, int) != 0);
    else
        put_whole(j, name, va_arg(*list, uint64_t)); /* PRIu64, or %zu of the same type */
}

void saddle_json_put(saddle_json *j, const char *format, ...)
{
    char word[64];
    const char *name = NULL; /* of the next value */
    va_list list;
    va_start(list, format);
    for (const char *at = format; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        const char *next = NULL;
        if (length == 4 && strncmp(at, "null", length) == 0) {
            put_value(j, name, NULL);
        } else if (strchr("{[}]%", *at) == NULL) {
            saddle_snprintf(word, sizeof word, "%.*s", (int)length, at);
            next = word;
        } else if (*at == '{') {
            put_object(j, name);
        } else if (*at == '[') {
            put_array(j, name);
        } else if (*at == '}') {
            end_object(j);
        } else if (*at == ']') {
            end_array(j);
        } else if (at[length - 1] == ':') {
            next = va_arg(list, const char *);
            next = *next != '\0' ? next : NULL;
        } else {
            put_argument(j, name, at, &list);
        }
        name = next;
        at += length;
    }
    va_end(list);
}
