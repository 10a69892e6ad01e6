/* What the readers of text formats share: lines, whitespace, and errors with a position. */
#include "data/readers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/print.h"

bool saddle_parse_fail(saddle_parse_error *parse, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    saddle_vsnprintf(parse->text, sizeof parse->text, format, arguments);
    va_end(arguments);
    parse->column = (size_t)(at - parse->begin) + 1;
    return false;
}

const char *saddle_skip_mark(const saddle_input *in)
{
    bool marked = in->size >= 3 && memcmp(in->bytes, "\xef\xbb\xbf", 3) == 0;
    return in->bytes + (marked ? 3 : 0);
}

const char *saddle_line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline != NULL ? newline : end;
}

const char *saddle_trim_end(const char *at, const char *line_end)
{
    if (line_end > at && line_end[-1] == '\r')
        line_end--;
    while (line_end > at && (line_end[-1] == ' ' || line_end[-1] == '\t'))
        line_end--;
    return line_end;
}
