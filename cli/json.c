#include "json.h"

#include <assert.h>

static void break_line(const saddle_json *j)
{
    saddle_fprintf(j->stream, "\n%*s", 2 * j->depth, "");
}

/* Writes a string; NULL: null. */
static void put_text(FILE *f, const char *text)
{
    if (text == NULL) {
        fputs("null", f);
        return;
    }
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

/* Ends an object, or an array, whose bracket has a line of its own only after an object. */
static void close_with(saddle_json *j, char bracket)
{
    j->depth--;
    if (!j->empty && (bracket == '}' || j->broken))
        break_line(j);
    fputc(bracket, j->stream);
    j->empty = false;
    j->broken = bracket == '}';
}

void saddle_json_begin(saddle_json *j, FILE *stream)
{
    *j = (saddle_json){.stream = stream};
    open_with(j, '{');
}

void saddle_json_end(saddle_json *j)
{
    close_with(j, '}');
    fputc('\n', j->stream);
}

static void put_real(FILE *f, double value)
{
    char number[SADDLE_REAL_SIZE];
    if (!isfinite(value))
        fputs("null", f);
    else if (fabs(value) <= 0x1p53 && value == rint(value))
        /* Readers may read -0 as an integer, which has no sign. */
        saddle_fprintf(f, value == 0.0 && signbit(value) ? "%.1f" : "%.0f", value);
    else /* every decimal of 15 digits survives as a double, except subnormal ones */
        fputs(saddle_print_real(value, fabs(value) < DBL_MIN ? 1 : 15, number), f);
}

/* clang-format off */
static_assert(_Generic((size_t)0, uint64_t: true, default: false), "size_t is uint64_t");
/* clang-format on */

/* Writes the next argument, whose conversion is %s, %g, %d, or PRIu64 and the same type's %zu. */
static void put_argument(FILE *f, char conversion, va_list *list)
{
    if (conversion == 's')
        put_text(f, va_arg(*list, const char *));
    else if (conversion == 'g')
        put_real(f, va_arg(*list, double));
    else if (conversion == 'd')
        fputs(va_arg(*list, int) != 0 ? "true" : "false", f);
    else
        saddle_fprintf(f, "%" PRIu64, va_arg(*list, uint64_t));
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
        bool null = length == 4 && strncmp(at, "null", length) == 0;
        if (!null && strchr("{[}]%", *at) == NULL) {
            saddle_snprintf(word, sizeof word, "%.*s", (int)length, at);
            next = word;
        } else if (*at == '%' && at[length - 1] == ':') {
            next = va_arg(list, const char *);
            next = *next != '\0' ? next : NULL;
        } else if (*at == '}' || *at == ']') {
            close_with(j, *at);
        } else {
            lead(j, name, *at == '{');
            if (null)
                fputs("null", j->stream);
            else if (*at == '%')
                put_argument(j->stream, at[1], &list);
            else
                open_with(j, *at);
        }
        name = next;
        at += length;
    }
    va_end(list);
}
