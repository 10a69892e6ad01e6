/*
 * Reads traces: `# name: value` lines, a line of column names, rows of numbers.
 *
 * Memory grows with what has been read, never with what a file claims. An incomplete last line is
 * left out, because a run may still be writing it.
 */
#include <strings.h>

#include <saddle/lab.h>

#include "core/float_mode.h"
#include "lab/trace_build.h"

#define MOST_COLUMNS 1024
/* Many times the number that a run writes. The work grows with its square. */
#define MOST_ENTRIES 1024
/* Names and remarks are short; values, such as a list of samples per agent, may be longer. */
#define MOST_NAME 4096
#define WANTED "the path of a trace that a run wrote, such as DIRECTORY/precision-seed1.csv"

typedef struct reader {
    saddle_line_reader *file;
    saddle_trace *trace; /* what has been read so far */
    size_t capacity;     /* of rows */
} reader;

/* Refuses the text at `at` in the current line. */
#define refuse(in, at, ...) saddle_line_reader_refuse((in)->file, (at), error, __VA_ARGS__)

/* ---- the head ------------------------------------------------------------------------------ */

static saddle_status check_name(const reader *in, const char *name, saddle_error *error)
{
    if (strlen(name) <= MOST_NAME)
        return SADDLE_OK;
    return refuse(in, name, "%zu bytes; a name in a trace has at most %d", strlen(name), MOST_NAME);
}

/* Replaces a text by a copy of another. */
static saddle_status set_text(const reader *in, char **text, const char *value, saddle_error *error)
{
    SADDLE_TRY(check_name(in, value, error));
    char *copy = saddle_strdup(value);
    SADDLE_TRY(saddle_check_memory(copy, "the head of a trace", error));
    saddle_free(*text);
    *text = copy;
    return SADDLE_OK;
}

/* The numbers of each agent at the end of a run; `value` is the rest of the line. */
static saddle_status read_disagreement(reader *in, char *value, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    size_t capacity = 0;
    saddle_free(trace->disagreement);
    trace->disagreement = NULL;
    trace->agents = 0;
    in->file->rest = value;
    const char *field;
    while ((field = saddle_line_reader_field(in->file, " ")) != NULL) {
        double *grown = saddle_grow(trace->disagreement, trace->agents, &capacity, sizeof *grown);
        SADDLE_TRY(saddle_check_memory(grown, "the end of a trace", error));
        trace->disagreement = grown;
        if (!saddle_parse_real(field, &grown[trace->agents++]))
            return refuse(in, field, "'%s' is not a number; there is one for each agent here",
                          SADDLE_EXCERPT(field));
    }
    return SADDLE_OK;
}

/* A line that begins with #: version, setting, end, or a remark that is passed over. */
static saddle_status read_comment(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    char *text = in->file->line + 1 + strspn(in->file->line + 1, " \t");
    char *colon = strstr(text, ": ");
    if (trace->entries == 0 && *trace->version == '\0' && strncmp(text, "saddle ", 7) == 0)
        return set_text(in, &trace->version, text + 7, error);
    if (colon == NULL)
        return SADDLE_OK;
    if (trace->entries == MOST_ENTRIES && trace->columns == 0)
        return refuse(in, in->file->line, "more than %d settings; a trace has at most that many",
                      MOST_ENTRIES);
    *colon = '\0';
    const char *value = colon + 2;
    SADDLE_TRY(check_name(in, text, error));
    if (strcmp(text, "ended") == 0)
        return set_text(in, &trace->end, value, error);
    if (strcmp(text, "disagreement") == 0 && trace->columns > 0)
        return read_disagreement(in, colon + 2, error);
    if (trace->columns > 0 || saddle_trace_add_entry(trace, text, value))
        return SADDLE_OK;
    return saddle_no_memory(error, "the head of a trace");
}

/* ---- columns and rows ---------------------------------------------------------------------- */

/* Makes space for one more row. */
static saddle_status grow_rows(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    size_t capacity = in->capacity;
    for (size_t c = 0; c < trace->columns; c++) {
        capacity = in->capacity;
        double *grown = saddle_grow(trace->value[c], trace->rows, &capacity, sizeof *grown);
        SADDLE_TRY(saddle_check_memory(grown, "the rows of a trace", error));
        trace->value[c] = grown;
    }
    in->capacity = capacity;
    return SADDLE_OK;
}

static saddle_status read_columns(reader *in, saddle_error *error)
{
    size_t count = 1;
    for (const char *c = in->file->line; *c != '\0'; c++)
        count += *c == ',';
    if (count > MOST_COLUMNS)
        return refuse(in, in->file->line, "%zu columns; a trace has at most %d", count,
                      MOST_COLUMNS);
    const char *name;
    while ((name = saddle_line_reader_field(in->file, ",")) != NULL) {
        double number;
        if (*name == '\0' || saddle_parse_real(name, &number))
            return refuse(in, name,
                          "'%s' is not a column name; the rows of a trace follow a line of names "
                          "such as iteration,ifo,rounds",
                          SADDLE_EXCERPT(name));
        SADDLE_TRY(check_name(in, name, error));
        if (saddle_trace_add_column(in->trace, name) == NULL)
            return saddle_no_memory(error, "the columns of a trace");
    }
    return grow_rows(in, error);
}

/* Reads a cell as a number; an empty one is NaN. */
static bool parse_cell(const char *cell, double *out)
{
    *out = (double)NAN;
    if (*cell == '\0' || strcasecmp_l(cell, "nan", saddle_c_locale()) == 0 ||
        strcasecmp_l(cell, "-nan", saddle_c_locale()) == 0)
        return true;
    bool negative = *cell == '-';
    if (strcasecmp_l(cell + negative, "inf", saddle_c_locale()) == 0) {
        *out = negative ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    return saddle_parse_real(cell, out);
}

static saddle_status read_row(reader *in, saddle_error *error)
{
    saddle_trace *trace = in->trace;
    size_t row = trace->rows;
    SADDLE_TRY(grow_rows(in, error));
    size_t c = 0;
    const char *cell;
    for (; (cell = saddle_line_reader_field(in->file, ",")) != NULL; c++) {
        double number;
        if (!parse_cell(cell, &number))
            return refuse(in, cell,
                          "'%s' is not a number; rows of a trace are numbers separated by commas",
                          SADDLE_EXCERPT(cell));
        if (c < trace->columns)
            trace->value[c][row] = number;
    }
    if (c != trace->columns)
        return refuse(in, in->file->line, "%zu cells; the line of column names has %zu", c,
                      trace->columns);
    const double *iteration = saddle_trace_column(trace, "iteration");
    if (iteration != NULL && row > 0 && !(iteration[row] > iteration[row - 1]))
        return refuse(in, in->file->line, "iteration %.15g after %.15g; iterations must increase",
                      iteration[row], iteration[row - 1]);
    trace->rows++;
    /* A resumed run continues after the end that was recorded. */
    saddle_free(trace->end);
    trace->end = NULL;
    trace->agents = 0;
    return SADDLE_OK;
}

static saddle_status read_line(reader *in, saddle_error *error)
{
    if (in->file->line[0] == '#')
        return read_comment(in, error);
    if (in->file->line[strspn(in->file->line, " \t")] == '\0')
        return SADDLE_OK;
    return in->trace->columns == 0 ? read_columns(in, error) : read_row(in, error);
}

/* Reads all lines, or only the head. */
static saddle_status read_lines(saddle_trace **out, saddle_line_reader *file, bool head_only,
                                saddle_error *error)
{
    reader in = {.file = file, .trace = saddle_trace_create(file->path, "", NULL, 0)};
    saddle_status status = saddle_check_memory(in.trace, "a trace", error);
    while (status == SADDLE_OK && !(head_only && in.trace->columns > 0) &&
           saddle_line_reader_next(file, error) && file->ended)
        status = read_line(&in, error);
    SADDLE_THEN(status, file->status);
    if (status == SADDLE_OK && in.trace->columns == 0)
        status = saddle_refuse(error, "'%.300s' holds no line of column names; give %s", file->path,
                               file->wanted);
    if (status == SADDLE_OK)
        *out = in.trace;
    else
        saddle_trace_free(in.trace);
    return status;
}

saddle_status saddle_trace_read_head(saddle_trace **out, saddle_line_reader *file,
                                     saddle_error *error)
{
    return read_lines(out, file, true, error);
}

saddle_status saddle_trace_read(saddle_trace **out, const char *path, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, path);
    SADDLE_OWNED_BY(saddle_line_reader_close) saddle_line_reader file = {.path = path};
    SADDLE_TRY(saddle_line_reader_open(&file, path, WANTED, error));
    return read_lines(out, &file, false, error);
}

/* ---- traces in memory ------------------------------------------------------------------------ */

void saddle_trace_free(saddle_trace *trace)
{
    if (trace == NULL)
        return;
    for (size_t k = 0; k < trace->entries; k++) {
        saddle_free(trace->entry[k].name);
        saddle_free(trace->entry[k].value);
    }
    /* The line of names may be incomplete: names that were not reached are NULL. */
    for (size_t c = 0; c < trace->columns; c++) {
        saddle_free(trace->column[c]);
        saddle_free(trace->value[c]);
    }
    saddle_free(trace->entry);
    saddle_free(trace->column);
    saddle_free(trace->value);
    saddle_free(trace->path);
    saddle_free(trace->version);
    saddle_free(trace->disagreement);
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
