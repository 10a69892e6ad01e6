/*
 * LIBSVM text: one sample per line, `LABEL INDEX:VALUE INDEX:VALUE ... # comment`, with ascending indices
 * from 1. Entries that are written but zero count towards the number of features and are not stored.
 *
 * The file is cut at newlines into one chunk per thread. Every chunk is read twice: first its colons and
 * newlines are counted, which bounds its entries and rows and so determines where they are stored; then it
 * is parsed. Where there were fewer than the bound (zeros, comments, empty lines), the gaps between the
 * chunks are closed. The result does not depend on the cuts, and of several malformed lines the first is
 * reported.
 */
#include <endian.h>

#include "core/memory_limits.h"
#include "core/parallel.h"
#include "core/vector.h"
#include "data/dataset.h"
#include "data/readers.h"

/* Below this many bytes per thread, starting one costs more than it saves. */
#define WORTH_A_THREAD ((size_t)1 << 18)

/* A range of complete lines, read by one thread. */
struct chunk {
    const char *begin;
    const char *end;
    /* Set by counting: upper bounds, and where the chunk stores its entries. */
    size_t most_rows;
    size_t most_entries;
    bool comments; /* whether there is a '#' */
    size_t row_place;
    size_t entry_place;
    /* Set by reading. */
    size_t rows;
    size_t entries;
    bool valued;              /* whether values are stored, because one is not 1 */
    size_t features;          /* the highest index */
    size_t widest;            /* the first line that has it, counted within the chunk */
    saddle_parse_error parse; /* the current line, counted within the chunk, and its error */
    saddle_dataset *data;
};

/* ---- counting ------------------------------------------------------------------------------- */

/* So many bytes that a count of them fits into the one byte that holds it. */
#define COUNTED_AT_ONCE 255

/* Counts ':', '\n' and '#' in [at, at + size). */
SADDLE_KERNEL static void count_marks(const char *at, size_t size, size_t count[3])
{
    for (size_t begin = 0; begin < size; begin += COUNTED_AT_ONCE) {
        size_t span = size - begin < COUNTED_AT_ONCE ? size - begin : COUNTED_AT_ONCE;
        const char *from = at + begin;
        uint8_t colons = 0;
        uint8_t newlines = 0;
        uint8_t hashes = 0;
        for (size_t k = 0; k < span; k++) {
            colons = (uint8_t)(colons + (from[k] == ':'));
            newlines = (uint8_t)(newlines + (from[k] == '\n'));
            hashes = (uint8_t)(hashes + (from[k] == '#'));
        }
        count[0] += colons;
        count[1] += newlines;
        count[2] += hashes;
    }
}

static void count_chunk(void *chunks, size_t number)
{
    struct chunk *chunk = (struct chunk *)chunks + number;
    size_t count[3] = {0, 0, 0};
    count_marks(chunk->begin, (size_t)(chunk->end - chunk->begin), count);
    chunk->most_entries = count[0];
    chunk->most_rows = count[1] + 1; /* the last line may lack its newline */
    chunk->comments = count[2] > 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Returns the end of the token at `at`. */
static const char *token_end(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    return at;
}

/* Reads a number that ends with its token; NULL, with the failure recorded, if it does not. */
static const char *read_number(saddle_parse_error *parse, const char *at, const char *end,
                               const char *what, double *out)
{
    const char *stop = saddle_scan_real(at, end, out);
    if (stop != NULL && (stop == end || *stop == ' ' || *stop == '\t'))
        return stop;
    saddle_parse_fail(parse, at, "%s '%s' is not a finite number", what,
                      saddle_excerpt_of(at, token_end(at, end)).text);
    return NULL;
}

/* Reports what is wrong with the index at `at`. */
static void explain_index(saddle_parse_error *parse, const char *at, const char *end,
                          uint64_t previous, uint64_t index)
{
    const char *stop = token_end(at, end);
    saddle_excerpt token = saddle_excerpt_of(at, stop);
    size_t digits = 0;
    while (at + digits < stop && at[digits] >= '0' && at[digits] <= '9')
        digits++;
    if (memchr(at, ':', (size_t)(stop - at)) == NULL)
        saddle_parse_fail(parse, at, "'%s' has no ':'; write INDEX:VALUE", token.text);
    else if (digits == 0 || at[digits] != ':')
        saddle_parse_fail(parse, at, "index of '%s' is not a whole number; write INDEX:VALUE",
                          token.text);
    else if (index > UINT32_MAX)
        saddle_parse_fail(parse, at, "index of '%s' is above %lu, the maximum", token.text,
                          (unsigned long)UINT32_MAX);
    else if (index == 0)
        saddle_parse_fail(parse, at, "index 0 is not valid; indices start at 1");
    else
        saddle_parse_fail(parse, at, "index %lu after %lu; indices must increase",
                          (unsigned long)index, (unsigned long)previous);
}

/* Reads INDEX and its colon; returns what follows, or NULL with the failure recorded. */
static const char *read_index(saddle_parse_error *parse, const char *at, const char *end,
                              uint64_t previous, uint64_t *out)
{
    uint64_t index = 0;
    const char *stop = at;
    for (; stop < end && *stop >= '0' && *stop <= '9' && index <= UINT32_MAX; stop++)
        index = index * 10 + (uint64_t)(*stop - '0');
    /* Greater than `previous`, so it has digits and is not 0. */
    if (stop < end && *stop == ':' && index > previous && index <= UINT32_MAX) {
        *out = index;
        return stop + 1;
    }
    explain_index(parse, at, end, previous, index);
    return NULL;
}

/* Returns the number whose digits are the bytes of `text`, the first digit in the lowest byte; zero
 * bytes in front count as digits 0. Joins neighbours three times: to 2, 4, then 8 digits. */
static uint64_t join_digits(uint64_t text)
{
    const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);
    const uint64_t quads = UINT64_C(0x0000ffff0000ffff);
    text = (text & pairs) * 10 + (text >> 8 & pairs);
    text = (text & quads) * 100 + (text >> 16 & quads);
    return (text & UINT32_MAX) * 10000 + (text >> 32);
}

/*
 * Reads `INDEX:D` followed by a blank or the end of its line, where D is one digit and INDEX has at most
 * 7: nearly every entry of one-hot data. Examines eight bytes at once. Returns what follows, or NULL
 * when the entry has another form, valid or not.
 */
static const char *read_plain_entry(const char *at, const char *line_end, const char *file_end,
                                    uint64_t *index, double *value)
{
    if (file_end - at < 16)
        return NULL;
    uint64_t text;
    memcpy(&text, at, sizeof text);
    text = le64toh(text) ^ UINT64_C(0x3030303030303030);
    /* Finds the high bit of the lowest byte that is not a digit: digits are now 0 .. 9, and adding 0x76
     * to one neither sets its high bit nor carries. */
    uint64_t other = ((text + UINT64_C(0x7676767676767676)) | text) & UINT64_C(0x8080808080808080);
    if (other == 0 || (other & 0xff) != 0)
        return NULL;
    int digits = __builtin_ctzll(other) / 8;
    const char *colon = at + digits;
    unsigned digit = (unsigned char)colon[1] - (unsigned)'0';
    if (*colon != ':' || digit > 9 || !(colon + 2 == line_end || colon[2] == ' '))
        return NULL;
    *index = join_digits(text << (64 - 8 * digits));
    *value = digit;
    return colon + 2;
}

/* Reads an entry of any form; NULL, with the failure recorded, when it is malformed. */
static const char *read_entry(struct chunk *chunk, const char *at, const char *end, uint64_t *index,
                              double *value)
{
    uint64_t plain = 0;
    const char *stop = read_plain_entry(at, end, chunk->end, &plain, value);
    if (stop != NULL && plain > *index) {
        *index = plain;
        return stop;
    }
    at = read_index(&chunk->parse, at, end, *index, index);
    return at != NULL ? read_number(&chunk->parse, at, end, "value", value) : NULL;
}

/* Writes ones up to entry `end`, because a value other than 1 follows and values are stored from now on.
 * Until then, the array of values is not touched and takes no memory. */
static double *store_ones(struct chunk *chunk, size_t end)
{
    for (size_t k = chunk->entry_place; k < end; k++)
        chunk->data->value[k] = 1.0;
    chunk->valued = true;
    return chunk->data->value;
}

/* Reads a line without its end and comment; false when it is malformed. */
static bool read_line(struct chunk *chunk, const char *line, const char *end)
{
    const char *at = saddle_skip_blanks(line, end);
    if (at == end)
        return true;
    double number = 0.0;
    at = read_number(&chunk->parse, at, end, "label", &number);
    if (at == NULL)
        return false;
    size_t row = chunk->row_place + chunk->rows++;
    chunk->data->label[row] = number;
    chunk->data->row_start[row] = chunk->entry_place + chunk->entries;
    size_t place = chunk->entry_place + chunk->entries;
    uint32_t *column = chunk->data->column;
    double *value = chunk->valued ? chunk->data->value : NULL;
    uint64_t index = 0;
    while ((at = saddle_skip_blanks(at, end)) < end) {
        at = read_entry(chunk, at, end, &index, &number);
        if (at == NULL)
            return false;
        if (number != 0.0) {
            column[place] = (uint32_t)(index - 1);
            if (value == NULL && number != 1.0)
                value = store_ones(chunk, place);
            if (value != NULL)
                value[place] = number;
            place++;
        }
    }
    chunk->entries = place - chunk->entry_place;
    if (index > chunk->features) {
        chunk->features = (size_t)index;
        chunk->widest = chunk->parse.line;
    }
    return true;
}

/* Reads a chunk up to its end or its first failure. */
static void read_chunk(void *chunks, size_t number)
{
    struct chunk *chunk = (struct chunk *)chunks + number;
    for (const char *line = chunk->begin; line < chunk->end;) {
        const char *newline = saddle_line_end(line, chunk->end);
        const char *comment = chunk->comments ? memchr(line, '#', (size_t)(newline - line)) : NULL;
        chunk->parse.begin = line;
        chunk->parse.line++;
        if (!read_line(chunk, line, saddle_trim_end(line, comment != NULL ? comment : newline)))
            break;
        line = newline < chunk->end ? newline + 1 : chunk->end;
    }
}

/* ---- all chunks ------------------------------------------------------------------------------ */

/* Cuts [begin, end) after newlines into chunks of about equal size; some may be empty. */
static void cut(struct chunk *chunk, size_t count, const char *begin, const char *end)
{
    size_t size = (size_t)(end - begin);
    const char *at = begin;
    for (size_t k = 0; k < count; k++) {
        chunk[k].begin = at;
        const char *target = k + 1 < count ? begin + size / count * (k + 1) : end;
        if (target > at && target < end) {
            at = saddle_line_end(target, end);
            at = at < end ? at + 1 : end;
        } else if (target >= end) {
            at = end;
        }
        chunk[k].end = at;
    }
}

/* Allocates as much as the chunks may need, and assigns each its range. */
static saddle_status make_room(saddle_dataset **out, const char *name, struct chunk *chunk,
                               size_t count, saddle_error *error)
{
    size_t rows = 0;
    size_t entries = 0;
    for (size_t k = 0; k < count; k++) {
        chunk[k].row_place = rows;
        chunk[k].entry_place = entries;
        rows += chunk[k].most_rows;
        entries += chunk[k].most_entries;
    }
    SADDLE_TRY(saddle_dataset_new(out, name, rows, 0, entries, false, error));
    for (size_t k = 0; k < count; k++)
        chunk[k].data = *out;
    return SADDLE_OK;
}

/* Adds up the chunks; stops at the first failure of the file. */
static saddle_status add_up(const struct chunk *chunk, size_t count, struct chunk *total,
                            const char *path, saddle_error *error)
{
    size_t lines = 0;
    memset(total, 0, sizeof *total);
    for (size_t k = 0; k < count; k++) {
        const saddle_parse_error *found = &chunk[k].parse;
        if (found->column != 0)
            return saddle_fail_at(error, path, lines + found->line, found->column, "%s",
                                  found->text);
        if (chunk[k].features > total->features) {
            total->features = chunk[k].features;
            total->widest = lines + chunk[k].widest;
        }
        lines += found->line;
        total->valued |= chunk[k].valued;
        total->rows += chunk[k].rows;
        total->entries += chunk[k].entries;
    }
    if (total->rows == 0)
        return saddle_refuse(error, "'%s' has no rows; write one LABEL INDEX:VALUE ... per line",
                             path);
    return SADDLE_OK;
}

/* Checks that a dense point and gradient of this size fit into memory, because all further work needs
 * them. Otherwise a single line with a huge index would exhaust it; the message therefore blames the
 * file. */
static saddle_status check_features(const struct chunk *total, const char *path,
                                    saddle_error *error)
{
    char what[512];
    saddle_error why;
    saddle_snprintf(what, sizeof what,
                    "%.300s:%zu: index %zu; a point and a gradient with this many features", path,
                    total->widest, total->features);
    double bytes = 2.0 * sizeof(double) * (double)total->features;
    if (saddle_need_check_one(bytes, what, "correct the index", &why) == SADDLE_OK)
        return SADDLE_OK;
    return saddle_refuse(error, "%s", why.message);
}

/* If any chunk stores values, writes ones in the chunks that store none; if no chunk does, drops the array. */
static void settle_values(saddle_dataset *data, struct chunk *chunk, size_t count, bool valued)
{
    for (size_t k = 0; valued && k < count; k++)
        if (!chunk[k].valued)
            store_ones(&chunk[k], chunk[k].entry_place + chunk[k].entries);
    if (valued)
        return;
    saddle_free(data->value);
    data->value = NULL;
}

/* Moves the chunks together. Nothing moves if all bounds were reached. */
static void close_gaps(saddle_dataset *data, const struct chunk *chunk, size_t count)
{
    size_t row = 0;
    size_t entry = 0;
    for (size_t k = 0; k < count; k++) {
        size_t from = chunk[k].row_place;
        size_t rows = chunk[k].rows;
        size_t entries = chunk[k].entries;
        size_t shift = chunk[k].entry_place - entry;
        if (from != row) {
            memmove(data->label + row, data->label + from, rows * sizeof *data->label);
            memmove(data->row_start + row, data->row_start + from, rows * sizeof *data->row_start);
        }
        if (shift > 0) {
            memmove(data->column + entry, data->column + entry + shift,
                    entries * sizeof *data->column);
            if (data->value != NULL)
                memmove(data->value + entry, data->value + entry + shift,
                        entries * sizeof *data->value);
            for (size_t i = row; i < row + rows; i++)
                data->row_start[i] -= shift;
        }
        row += rows;
        entry += entries;
    }
    data->rows = row;
    data->nonzeros = entry;
    data->row_start[row] = entry;
}

/* Reads all chunks into *out. On failure *out is NULL. */
static saddle_status read_chunks(saddle_dataset **out, const char *name, struct chunk *chunk,
                                 size_t count, const char *path, size_t least_features,
                                 saddle_error *error)
{
    struct chunk total;
    saddle_parallel(count, count_chunk, chunk);
    SADDLE_TRY(make_room(out, name, chunk, count, error));
    saddle_parallel(count, read_chunk, chunk);
    saddle_status status = add_up(chunk, count, &total, path, error);
    size_t features = total.features > least_features ? total.features : least_features;
    SADDLE_THEN(status, check_features(&total, path, error));
    if (status == SADDLE_OK && (features == 0 || features > UINT32_MAX))
        status = saddle_refuse(error, "'%s' has %zu features; give data with 1 to %lu", path,
                               features, (unsigned long)UINT32_MAX);
    if (status != SADDLE_OK)
        return saddle_dataset_finish(out, status);
    (*out)->features = features;
    settle_values(*out, chunk, count, total.valued);
    close_gaps(*out, chunk, count);
    return SADDLE_OK;
}

saddle_status saddle_read_libsvm(saddle_dataset **out, const char *name, const saddle_input *in,
                                 const saddle_data_options *options, saddle_error *error)
{
    *out = NULL;
    /* An explicit number of threads applies to files of any size. */
    size_t least = options->threads > 0 ? 1 : WORTH_A_THREAD;
    size_t count = saddle_parallel_chunks(options->threads, in->size, least);
    SADDLE_OWNED struct chunk *chunk = saddle_alloc(count, sizeof *chunk);
    SADDLE_TRY(saddle_check_memory(chunk, "reading a file", error));
    cut(chunk, count, saddle_skip_mark(in), in->bytes + in->size);
    return read_chunks(out, name, chunk, count, in->path, options->features, error);
}
