/*
 * Columns as text, for saved models and for agents that build them together. The first line, then one line
 * each for the label and the columns:
 *
 *   names|numbers TAB one-hot|codes
 *   KIND TAB name TAB fill TAB seen TAB sum [TAB text TAB times]...
 *
 * KIND is number, text or none. In names and texts, tabs, line ends and backslashes are written as \t, \n
 * and \\.
 */
#include "data/columns.h"

static const char *const kind_name[] = {[SADDLE_COLUMN_UNKNOWN] = "none",
                                        [SADDLE_COLUMN_NUMBER] = "number",
                                        [SADDLE_COLUMN_TEXT] = "text"};

/* ---- printing ---- */

static void print_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\t' || *text == '\n' || *text == '\\') {
            fputc('\\', out);
            fputc(*text == '\t' ? 't' : *text == '\n' ? 'n' : '\\', out);
        } else {
            fputc(*text, out);
        }
    }
}

static void print_column(FILE *out, const saddle_column *column, bool observed)
{
    char number[SADDLE_REAL_SIZE];
    saddle_fprintf(out, "%s\t", kind_name[column->kind]);
    print_text(out, column->name != NULL ? column->name : "");
    saddle_fprintf(out, "\t%s", column->filled ? saddle_print_real(column->fill, 15, number) : "");
    saddle_fprintf(out, "\t%zu", observed ? column->seen : 0);
    saddle_fprintf(out, "\t%s", saddle_print_real(observed ? column->sum : 0.0, 15, number));
    for (size_t k = 0; k < column->texts; k++) {
        fputc('\t', out);
        print_text(out, column->text[k]);
        saddle_fprintf(out, "\t%zu", observed ? column->times[k] : 0);
    }
    fputc('\n', out);
}

char *saddle_columns_print(const saddle_columns *columns, bool observed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    saddle_fprintf(out, "%s\t%s\n", columns->named ? "names" : "numbers",
                   columns->one_hot ? "one-hot" : "codes");
    print_column(out, &columns->label, observed);
    for (size_t k = 0; k < columns->count; k++)
        print_column(out, &columns->column[k], observed);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- parsing ---- */

/* Replaces escapes by what they stand for; false when one is unknown. */
static bool unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        char letter = *at;
        if (letter == '\\') {
            at++;
            letter = (char)(*at == 't' ? '\t' : *at == 'n' ? '\n' : *at == '\\' ? '\\' : '\0');
            if (letter == '\0')
                return false;
        }
        *to++ = letter;
    }
    *to = '\0';
    return true;
}

static bool parse_count(const char *text, size_t *out)
{
    uint64_t value = 0;
    bool good = text != NULL && saddle_parse_integer(text, &value);
    *out = (size_t)value;
    return good;
}

/* Reads texts and how often each was seen; texts must be in ascending order. */
static bool parse_texts(saddle_column *column, char *rest)
{
    while (rest != NULL) {
        char *text = strsep(&rest, "\t");
        size_t times = 0;
        size_t seen = column->seen;
        size_t before = column->texts;
        if (!parse_count(strsep(&rest, "\t"), &times) || !unescape(text) ||
            !saddle_column_observe(column, text, strlen(text), times) ||
            column->texts != before + 1 || strcmp(column->text[before], text) != 0)
            return false;
        column->seen = seen;
    }
    return true;
}

static bool parse_column(saddle_column *column, char *line)
{
    const char *kind = strsep(&line, "\t");
    char *name = strsep(&line, "\t");
    const char *fill = strsep(&line, "\t");
    const char *seen = strsep(&line, "\t");
    const char *sum = strsep(&line, "\t");
    if (sum == NULL || !unescape(name) || !parse_count(seen, &column->seen) ||
        !saddle_parse_real(sum, &column->sum))
        return false;
    column->name = saddle_strdup(name);
    column->filled = *fill != '\0';
    if (column->name == NULL || (column->filled && !saddle_parse_real(fill, &column->fill)) ||
        !parse_texts(column, line))
        return false;
    size_t which = 0;
    while (which < 3 && strcmp(kind, kind_name[which]) != 0)
        which++;
    column->kind = (saddle_column_kind)which;
    bool text = which == SADDLE_COLUMN_TEXT;
    return which < 3 && (column->texts > 0) == text &&
           (!text || !column->filled ||
            (column->fill >= 0.0 && column->fill < (double)column->texts &&
             column->fill == floor(column->fill)));
}

/* Parses all lines. Modifies `text`. */
static bool parse_lines(saddle_columns *columns, char *text)
{
    char *first = strsep(&text, "\n");
    const char *named = strsep(&first, "\t");
    columns->named = strcmp(named, "names") == 0;
    columns->one_hot = first != NULL && strcmp(first, "one-hot") == 0;
    bool good = (columns->named || strcmp(named, "numbers") == 0) &&
                (columns->one_hot || (first != NULL && strcmp(first, "codes") == 0));
    good = good && text != NULL && parse_column(&columns->label, strsep(&text, "\n"));
    for (size_t k = 0; good && k < columns->count; k++)
        good = text != NULL && parse_column(&columns->column[k], strsep(&text, "\n"));
    if (good)
        saddle_columns_number(columns);
    return good;
}

saddle_status saddle_columns_parse(saddle_columns **out, const char *text, saddle_error *error)
{
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    *out = NULL;
    SADDLE_OWNED char *copy = saddle_strdup(text);
    SADDLE_OWNED_BY(saddle_columns_free_at)
    saddle_columns *columns = lines > 2 ? saddle_columns_new(lines - 2) : NULL;
    if (copy == NULL || (columns == NULL && lines > 2))
        return saddle_no_memory(error, "the columns");
    if (columns == NULL || !parse_lines(columns, copy))
        return saddle_refuse(error,
                             "the description of the columns is damaged; save the model again");
    *out = saddle_taken(&columns);
    return SADDLE_OK;
}
