#include "files/line_reader.h"

#include "files/file.h"

#define LONGEST_LINE ((size_t)1 << 24)
#define BLANKS " \t"

saddle_status saddle_line_reader_open(saddle_line_reader *in, const char *path, const char *wanted,
                                      saddle_error *error)
{
    *in = (saddle_line_reader){.path = path, .wanted = wanted};
    return saddle_reading_open(&in->stream, path, wanted, error);
}

/* Reads a line unchanged; *length receives its bytes without the newline. */
static saddle_status read_line(saddle_line_reader *in, size_t *length, saddle_error *error)
{
    int byte;
    errno = 0;
    for (*length = 0;; ++*length) {
        if (*length == LONGEST_LINE)
            return saddle_fail_at(error, in->path, in->number, 1,
                                  "the line is longer than %zu bytes; give %s", LONGEST_LINE,
                                  in->wanted);
        char *line = saddle_grow(in->line, *length, &in->capacity, 1);
        SADDLE_TRY(saddle_check_memory(line, "a line of a file", error));
        in->line = line;
        byte = getc_unlocked(in->stream);
        if (byte == EOF || byte == '\n')
            break;
        /* A NUL would hide what follows it. */
        in->line[*length] = (char)(byte != '\0' ? byte : '\x01');
    }
    if (ferror(in->stream))
        return saddle_fail(error, SADDLE_IO, "cannot read '%.300s' after line %zu: %s; give %s",
                           in->path, in->number - 1, strerror(errno != 0 ? errno : EIO),
                           in->wanted);
    in->line[*length] = '\0';
    in->ended = byte == '\n';
    in->bytes += *length + in->ended;
    return SADDLE_OK;
}

bool saddle_line_reader_next(saddle_line_reader *in, saddle_error *error)
{
    size_t length = 0;
    in->number++;
    in->status = read_line(in, &length, error);
    if (in->status != SADDLE_OK || (length == 0 && !in->ended))
        return false;
    if (length > 0 && in->line[length - 1] == '\r')
        in->line[--length] = '\0';
    if (in->number == 1 && strncmp(in->line, "\xef\xbb\xbf", 3) == 0)
        memmove(in->line, in->line + 3, length - 2);
    in->rest = in->line;
    in->comma = false;
    return true;
}

bool saddle_line_reader_next_filled(saddle_line_reader *in, saddle_error *error)
{
    while (saddle_line_reader_next(in, error)) {
        in->line[strcspn(in->line, "#")] = '\0';
        if (in->line[strspn(in->line, BLANKS)] != '\0')
            return true;
    }
    return false;
}

char *saddle_line_reader_field(saddle_line_reader *in, const char *separators)
{
    char *field = in->rest + strspn(in->rest, BLANKS);
    in->rest = field;
    if (*field == '\0' && !in->comma)
        return NULL;
    char *end = field + strcspn(field, separators);
    in->rest = end + strspn(end, BLANKS);
    in->comma = *in->rest == ',' && strchr(separators, ',') != NULL;
    in->rest += in->comma;
    while (end > field && strchr(BLANKS, end[-1]) != NULL)
        end--;
    *end = '\0';
    return field;
}

void saddle_line_reader_close(saddle_line_reader *in)
{
    if (in->stream != NULL)
        fclose(in->stream);
    saddle_free(in->line);
    memset(in, 0, sizeof *in);
}
