/*
 * Reading traces and outcomes back: `# name: value` lines, a line of column names, rows of numbers.
 *
 * Memory grows with what has been read, never with what a file claims, and a line that does not end
 * is given up: a device or a pipe cannot fill the memory with one.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <saddle/text.h>
#include <saddle/trace.h>

#include "core/memory.h"
#include "core/status.h"
#include "files/file.h"

/* The longest line in bytes, and the most columns. */
#define LONGEST_LINE ((size_t)1 << 24)
#define MOST_COLUMNS 1024

typedef struct reader {
    saddle_trace *trace; /* what has been read so far */
    FILE *stream;
    char *line; /* owned; malloc's */
    size_t room;
    size_t number;   /* of the line, from 1 */
    size_t capacity; /* rows that there is room for */
    size_t entry_capacity;
} reader;

/* Where a trace may be. */
#define WANTED "the path of a trace, as --trace wrote it or as DIRECTORY/precision-seed1.csv"

/* ---- lines --------------------------------------------------------------------------------- */

static saddle_status grow_line(reader *in, saddle_error *error)
{
    if (in->room >= LONGEST_LINE)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%.300s', line %zu: the line is longer than %zu bytes; give a trace, "
                           "such as --trace writes",
                           in->trace->path, in->number, LONGEST_LINE);
    size_t room = in->room == 0 ? 4096 : 2 * in->room;
    char *grown = realloc(in->line, room);
    if (grown == NULL) {
        saddle_no_memory(error, "a line of a trace");
        return SADDLE_NO_MEMORY;
    }
    in->line = grown;
    in->room = room;
    return SADDLE_OK;
}

/* Make a line without its end of what was read; a NUL within it would hide what follows. */
static void tidy_line(reader *in, size_t length)
{
    for (size_t k = 0; k < length; k++)
        if (in->line[k] == '\0')
            in->line[k] = '\x01';
    if (length > 0 && in->line[length - 1] == '\r')
        length--;
    in->line[length] = '\0';
    if (in->number == 1 && strncmp(in->line, "\xEF\xBB\xBF", 3) == 0)
        memmove(in->line, in->line + 3, length - 2);
}

static saddle_status unreadable(const reader *in, int reason, saddle_error *error)
{
    return saddle_fail(error, SADDLE_IO,
                       "cannot read '%.300s' beyond line %zu: %s; give the path of a trace",
                       in->trace->path, in->number - 1, strerror(reason != 0 ? reason : EIO));
}

/* Go to the next line; `*more` is false when no whole one is left. */
static saddle_status next_line(reader *in, bool *more, saddle_error *error)
{
    size_t length = 0;
    *more = false;
    in->number++;
    errno = 0;
    for (int c = getc(in->stream);; c = getc(in->stream)) {
        if (length + 1 >= in->room) {
            saddle_status status = grow_line(in, error);
            if (status != SADDLE_OK)
                return status;
        }
        if (c == EOF && ferror(in->stream))
            return unreadable(in, errno, error);
        if (c == EOF)
            return SADDLE_OK;
        if (c == '\n')
            break;
        in->line[length++] = (char)c;
    }
    tidy_line(in, length);
    *more = true;
    return SADDLE_OK;
}

/* Text for a message: short and printable. */
static const char *shown(const char *text, char out[64])
{
    size_t k = 0;
    for (; k < 60 && text[k] != '\0'; k++)
        out[k] = (char)((unsigned char)text[k] >= 0x80 || isprint((unsigned char)text[k]) ? text[k]
                                                                                          : '?');
    out[k] = '\0';
    return out;
}

/* ---- the head ------------------------------------------------------------------------------ */

static saddle_status grow_entries(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    if (trace->entries < in->entry_capacity)
        return SADDLE_OK;
    size_t capacity = in->entry_capacity == 0 ? 64 : 2 * in->entry_capacity;
    saddle_trace_entry *grown = saddle_alloc(capacity, sizeof *grown);
    if (grown == NULL) {
        saddle_no_memory(error, "the head of a trace");
        return SADDLE_NO_MEMORY;
    }
    if (trace->entry != NULL)
        memcpy(grown, trace->entry, trace->entries * sizeof *grown);
    saddle_free(trace->entry);
    trace->entry = grown;
    in->entry_capacity = capacity;
    return SADDLE_OK;
}

/* Replace a text by a copy of another. */
static saddle_status set_text(char **text, const char *value, saddle_error *error)
{
    char *copy = saddle_strdup(value);
    if (copy == NULL) {
        saddle_no_memory(error, "the head of a trace");
        return SADDLE_NO_MEMORY;
    }
    saddle_free(*text);
    *text = copy;
    return SADDLE_OK;
}

static saddle_status add_entry(reader *in, const char *name, const char *value, saddle_error *error)
{
    saddle_status status = grow_entries(in, error);
    if (status != SADDLE_OK)
        return status;
    saddle_trace_entry entry = {NULL, NULL};
    status = set_text(&entry.name, name, error);
    if (status == SADDLE_OK)
        status = set_text(&entry.value, value, error);
    if (status == SADDLE_OK) {
        in->trace->entry[in->trace->entries++] = entry;
        return SADDLE_OK;
    }
    saddle_free(entry.name);
    saddle_free(entry.value);
    return status;
}

/* A line that begins with #: version, setting, end, or a remark that is passed over. */
static saddle_status read_comment(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    char *text = in->line + 1 + strspn(in->line + 1, " \t");
    char *colon = strstr(text, ": ");
    if (trace->entries == 0 && *trace->version == '\0' && strncmp(text, "saddle ", 7) == 0)
        return set_text(&trace->version, text + 7, error);
    if (colon == NULL)
        return SADDLE_OK;
    *colon = '\0';
    const char *value = colon + 2;
    if (strcmp(text, "ended") == 0)
        return set_text(&trace->end, value, error);
    return trace->columns == 0 ? add_entry(in, text, value, error) : SADDLE_OK;
}

/* ---- columns and rows ---------------------------------------------------------------------- */

/* The cell at *at, ended by a NUL of its own, without blanks around it; *at moves behind it, or
 * becomes NULL after the last one. */
static char *next_cell(char **at)
{
    char *cell = *at;
    char *comma = strchr(cell, ',');
    char *end = comma != NULL ? comma : cell + strlen(cell);
    *at = comma != NULL ? comma + 1 : NULL;
    *end = '\0';
    while (end > cell && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return cell + strspn(cell, " \t");
}

/* Make room for one more row. */
static saddle_status grow_rows(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    if (trace->rows < in->capacity)
        return SADDLE_OK;
    size_t capacity = in->capacity == 0 ? 256 : 2 * in->capacity;
    for (size_t c = 0; c < trace->columns; c++) {
        double *grown = saddle_alloc_doubles(capacity);
        if (grown == NULL) {
            saddle_no_memory(error, "the rows of a trace");
            return SADDLE_NO_MEMORY;
        }
        if (trace->value[c] != NULL)
            memcpy(grown, trace->value[c], trace->rows * sizeof *grown);
        saddle_free(trace->value[c]);
        trace->value[c] = grown;
    }
    in->capacity = capacity;
    return SADDLE_OK;
}

static saddle_status read_columns(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    char word[64];
    size_t count = 1;
    for (const char *c = in->line; *c != '\0'; c++)
        count += *c == ',';
    if (count > MOST_COLUMNS)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%.300s', line %zu: %zu columns; a trace has at most %d", trace->path,
                           in->number, count, MOST_COLUMNS);
    trace->column = saddle_alloc(count, sizeof *trace->column);
    trace->value = saddle_alloc(count, sizeof *trace->value);
    if (trace->column == NULL || trace->value == NULL) {
        saddle_no_memory(error, "the columns of a trace");
        return SADDLE_NO_MEMORY;
    }
    for (char *at = in->line; at != NULL;) {
        const char *name = next_cell(&at);
        double number;
        if (*name == '\0' || saddle_parse_real(name, &number))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "'%.300s', line %zu: '%s' is no column name; before the rows of a "
                               "trace there is a line such as iteration,ifo,rounds",
                               trace->path, in->number, shown(name, word));
        saddle_status status = set_text(&trace->column[trace->columns], name, error);
        if (status != SADDLE_OK)
            return status;
        trace->columns++;
    }
    return grow_rows(in, error);
}

/* A cell as a number: nothing is NaN. */
static bool parse_cell(const char *cell, double *out)
{
    *out = (double)NAN;
    if (*cell == '\0' || strcasecmp(cell, "nan") == 0 || strcasecmp(cell, "-nan") == 0)
        return true;
    bool negative = *cell == '-';
    if (strcasecmp(cell + negative, "inf") == 0) {
        *out = negative ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    return saddle_parse_real(cell, out);
}

/* The row just read comes after the one before it. */
static saddle_status check_order(const reader *in, saddle_error *error)
{
    const saddle_trace *trace = in->trace;
    const double *iteration = saddle_trace_column(trace, "iteration");
    size_t row = trace->rows;
    if (iteration == NULL || row == 0 || iteration[row] > iteration[row - 1])
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "'%.300s', line %zu: iteration %.15g after %.15g; iterations must increase",
                       trace->path, in->number, iteration[row], iteration[row - 1]);
}

static saddle_status read_row(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    char word[64];
    saddle_status status = grow_rows(in, error);
    if (status != SADDLE_OK)
        return status;
    size_t c = 0;
    for (char *at = in->line; at != NULL; c++) {
        const char *cell = next_cell(&at);
        double number;
        if (!parse_cell(cell, &number))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "'%.300s', line %zu: '%s' is not a number; rows of a trace are "
                               "numbers separated by commas",
                               trace->path, in->number, shown(cell, word));
        if (c < trace->columns)
            trace->value[c][trace->rows] = number;
    }
    if (c != trace->columns)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%.300s', line %zu: %zu cells; the line of column names has %zu",
                           trace->path, in->number, c, trace->columns);
    status = check_order(in, error);
    if (status != SADDLE_OK)
        return status;
    trace->rows++;
    /* A run that was resumed goes on behind its first end. */
    saddle_free(trace->end);
    trace->end = NULL;
    return SADDLE_OK;
}

static saddle_status read_line(reader *in, saddle_error *error)
{
    if (in->line[0] == '#')
        return read_comment(in, error);
    if (in->line[strspn(in->line, " \t")] == '\0')
        return SADDLE_OK;
    return in->trace->columns == 0 ? read_columns(in, error) : read_row(in, error);
}

static saddle_status read_lines(reader *in, saddle_error *error)
{
    bool more = true;
    saddle_status status = SADDLE_OK;
    while (status == SADDLE_OK && more) {
        status = next_line(in, &more, error);
        if (status == SADDLE_OK && more)
            status = read_line(in, error);
    }
    if (status == SADDLE_OK && in->trace->columns == 0)
        status =
            saddle_fail(error, SADDLE_BAD_INPUT,
                        "'%.300s' holds no line of column names; give a trace, such as --trace "
                        "writes",
                        in->trace->path);
    return status;
}

/* ---- the public part ----------------------------------------------------------------------- */

saddle_status saddle_trace_read(saddle_trace **out, const char *path, saddle_error *error)
{
    *out = NULL;
    reader in = {.trace = saddle_alloc(1, sizeof *in.trace)};
    if (in.trace != NULL) {
        in.trace->path = saddle_strdup(path);
        in.trace->version = saddle_strdup("");
    }
    if (in.trace == NULL || in.trace->path == NULL || in.trace->version == NULL) {
        saddle_trace_free(in.trace);
        saddle_no_memory(error, "a trace");
        return SADDLE_NO_MEMORY;
    }
    saddle_status status = saddle_reading_open(&in.stream, path, WANTED, error);
    if (status == SADDLE_OK)
        status = read_lines(&in, error);
    if (in.stream != NULL)
        fclose(in.stream);
    free(in.line);
    if (status == SADDLE_OK)
        *out = in.trace;
    else
        saddle_trace_free(in.trace);
    return status;
}

void saddle_trace_free(saddle_trace *trace)
{
    if (trace == NULL)
        return;
    for (size_t k = 0; k < trace->entries; k++) {
        saddle_free(trace->entry[k].name);
        saddle_free(trace->entry[k].value);
    }
    /* The line of names may have been cut short: what was not reached is NULL. */
    for (size_t c = 0; c < trace->columns; c++) {
        saddle_free(trace->column[c]);
        saddle_free(trace->value[c]);
    }
    saddle_free(trace->entry);
    saddle_free(trace->column);
    saddle_free(trace->value);
    saddle_free(trace->path);
    saddle_free(trace->version);
    saddle_free(trace->end);
    saddle_free(trace);
}

const char *saddle_trace_setting(const saddle_trace *trace, const char *name)
{
    for (size_t k = 0; k < trace->entries; k++)
        if (strcmp(trace->entry[k].name, name) == 0)
            return trace->entry[k].value;
    return "";
}

const double *saddle_trace_column(const saddle_trace *trace, const char *name)
{
    for (size_t c = 0; c < trace->columns; c++)
        if (strcmp(trace->column[c], name) == 0)
            return trace->value[c];
    return NULL;
}

/* ---- joining ------------------------------------------------------------------------------- */

/* Append a column of `other` to arrays that have room for it. */
static saddle_status join_column(saddle_trace *trace, const saddle_trace *other, size_t c,
                                 const double *mine, const double *theirs, saddle_error *error)
{
    char *name = saddle_strdup(other->column[c]);
    double *value = saddle_alloc_doubles(trace->rows);
    if (name == NULL || value == NULL) {
        saddle_free(name);
        saddle_free(value);
        saddle_no_memory(error, "the columns of a trace");
        return SADDLE_NO_MEMORY;
    }
    size_t k = 0;
    for (size_t r = 0; r < trace->rows; r++) {
        while (k < other->rows && theirs[k] < mine[r])
            k++;
        bool found = k < other->rows && theirs[k] <= mine[r];
        value[r] = found ? other->value[c][k] : (double)NAN;
    }
    trace->column[trace->columns] = name;
    trace->value[trace->columns] = value;
    trace->columns++;
    return SADDLE_OK;
}

saddle_status saddle_trace_join(saddle_trace *trace, const saddle_trace *other, saddle_error *error)
{
    const double *mine = saddle_trace_column(trace, "iteration");
    const double *theirs = saddle_trace_column(other, "iteration");
    if (mine == NULL || theirs == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%.300s' has no column iteration to join the two files by",
                           mine == NULL ? trace->path : other->path);
    size_t most = trace->columns + other->columns;
    char **column = saddle_alloc(most, sizeof *column);
    double **value = saddle_alloc(most, sizeof *value);
    if (column == NULL || value == NULL) {
        saddle_free(column);
        saddle_free(value);
        saddle_no_memory(error, "the columns of a trace");
        return SADDLE_NO_MEMORY;
    }
    memcpy(column, trace->column, trace->columns * sizeof *column);
    memcpy(value, trace->value, trace->columns * sizeof *value);
    saddle_free(trace->column);
    saddle_free(trace->value);
    trace->column = column;
    trace->value = value;
    saddle_status status = SADDLE_OK;
    for (size_t c = 0; status == SADDLE_OK && c < other->columns; c++)
        if (saddle_trace_column(trace, other->column[c]) == NULL)
            status = join_column(trace, other, c, mine, theirs, error);
    return status;
}
