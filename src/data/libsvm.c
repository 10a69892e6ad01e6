/*
 * LIBSVM text: one sample per line, `LABEL INDEX:VALUE INDEX:VALUE ... # comment`, indices from 1
 * and ascending. Entries that are written but zero count towards the number of features and are
 * not stored.
 *
 * The file is cut at newlines into one part per thread. Every part is read twice by the same code:
 * first to check and count, then, into arrays of exactly the right size, to fill. What comes out
 * does not depend on where the cuts are, and of several malformed lines the first is reported.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/status.h"
#include "data/dataset.h"
#include "data/number.h"
#include "data/readers.h"

/* Below this many bytes per thread, starting one costs more than it saves. */
#define WORTH_A_THREAD ((size_t)1 << 18)
#define MOST_THREADS 256

/* A run of whole lines, read by one thread. */
struct part {
    const char *begin;
    const char *end;
    size_t lines;
    size_t rows;
    size_t entries;
    size_t features;      /* the highest index */
    saddle_fault fault;   /* the first; its line counted within the part */
    saddle_dataset *data; /* where to put what is read; NULL: only check and count */
    size_t first_row;     /* rows in the parts before */
    size_t first_entry;   /* entries in the parts before */
};

/* One past the token at `at`. */
static const char *token_end(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    return at;
}

/* A number that ends where its token does; NULL, with the fault, otherwise. */
static const char *read_number(saddle_fault *fault, const char *line, const char *at,
                               const char *end, const char *what, double *out)
{
    const char *stop = saddle_scan_real(at, end, out);
    if (stop != NULL && (stop == end || *stop == ' ' || *stop == '\t'))
        return stop;
    saddle_fault_set(fault, line, at, "%s '%s' is not a finite number", what,
                     saddle_excerpt_of(at, token_end(at, end)).text);
    return NULL;
}

/* What is wrong with the index at `at`. */
static void explain_index(saddle_fault *fault, const char *line, const char *at, const char *end,
                          uint64_t previous, uint64_t index)
{
    const char *stop = token_end(at, end);
    saddle_excerpt token = saddle_excerpt_of(at, stop);
    size_t digits = 0;
    while (at + digits < stop && at[digits] >= '0' && at[digits] <= '9')
        digits++;
    if (memchr(at, ':', (size_t)(stop - at)) == NULL)
        saddle_fault_set(fault, line, at, "'%s' has no ':'; write INDEX:VALUE", token.text);
    else if (digits == 0 || at[digits] != ':')
        saddle_fault_set(fault, line, at, "index of '%s' is not a whole number; write INDEX:VALUE",
                         token.text);
    else if (index > UINT32_MAX)
        saddle_fault_set(fault, line, at, "index of '%s' is above %lu, the highest there can be",
                         token.text, (unsigned long)UINT32_MAX);
    else if (index == 0)
        saddle_fault_set(fault, line, at, "index 0; indices start at 1");
    else
        saddle_fault_set(fault, line, at, "index %lu after %lu; indices must increase",
                         (unsigned long)index, (unsigned long)previous);
}

/* INDEX and its colon; returns what follows, NULL with the fault otherwise. */
static const char *read_index(saddle_fault *fault, const char *line, const char *at,
                              const char *end, uint64_t previous, uint64_t *out)
{
    uint64_t index = 0;
    const char *stop = at;
    for (; stop < end && *stop >= '0' && *stop <= '9' && index <= UINT32_MAX; stop++)
        index = index * 10 + (uint64_t)(*stop - '0');
    /* Above `previous`, so not 0 and not without digits. */
    if (stop < end && *stop == ':' && index > previous && index <= UINT32_MAX) {
        *out = index;
        return stop + 1;
    }
    explain_index(fault, line, at, end, previous, index);
    return NULL;
}

static void store_entry(struct part *part, uint64_t index, double value)
{
    if (part->data != NULL) {
        size_t place = part->first_entry + part->entries;
        part->data->column[place] = (uint32_t)(index - 1);
        part->data->value[place] = value;
    }
    part->entries++;
}

static void store_row(struct part *part, double label)
{
    if (part->data != NULL) {
        size_t row = part->first_row + part->rows;
        part->data->label[row] = label;
        part->data->row_start[row] = part->first_entry + part->entries;
    }
    part->rows++;
}

/* One line without its end and comment; false when it is malformed. */
static bool read_line(struct part *part, const char *line, const char *end)
{
    const char *at = saddle_skip_blanks(line, end);
    if (at == end)
        return true;
    double number = 0.0;
    at = read_number(&part->fault, line, at, end, "label", &number);
    if (at == NULL)
        return false;
    store_row(part, number);
    uint64_t index = 0;
    while ((at = saddle_skip_blanks(at, end)) < end) {
        at = read_index(&part->fault, line, at, end, index, &index);
        if (at != NULL)
            at = read_number(&part->fault, line, at, end, "value", &number);
        if (at == NULL)
            return false;
        if (number != 0.0)
            store_entry(part, index, number);
    }
    if (index > part->features)
        part->features = (size_t)index;
    return true;
}

/* Read a part up to its end or its first fault. A thread's body. */
static void *read_part(void *argument)
{
    struct part *part = argument;
    part->lines = part->rows = part->entries = 0;
    for (const char *line = part->begin; line < part->end;) {
        const char *newline = saddle_line_end(line, part->end);
        const char *comment = memchr(line, '#', (size_t)(newline - line));
        part->lines++;
        if (!read_line(part, line, saddle_trim_end(line, comment != NULL ? comment : newline))) {
            part->fault.line = part->lines;
            break;
        }
        line = newline < part->end ? newline + 1 : part->end;
    }
    return NULL;
}

static void read_parts(struct part *part, size_t count)
{
    pthread_t thread[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    for (size_t k = 1; k < count; k++)
        started[k] = pthread_create(&thread[k], NULL, read_part, &part[k]) == 0;
    /* What could not be given to a thread is read here. */
    for (size_t k = 0; k < count; k++)
        if (!started[k])
            read_part(&part[k]);
    for (size_t k = 1; k < count; k++)
        if (started[k])
            pthread_join(thread[k], NULL);
}

static size_t part_count(const saddle_data_options *options, size_t size)
{
    if (options->threads > 0)
        return options->threads < MOST_THREADS ? (size_t)options->threads : MOST_THREADS;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = size / WORTH_A_THREAD + 1;
    if (processors > 0 && (size_t)processors < count)
        count = (size_t)processors;
    return count < MOST_THREADS ? count : MOST_THREADS;
}

/* Cut [begin, end) after newlines into parts of about equal size; some may be empty. */
static void cut(struct part *part, size_t count, const char *begin, const char *end)
{
    size_t size = (size_t)(end - begin);
    const char *at = begin;
    for (size_t k = 0; k < count; k++) {
        part[k].begin = at;
        const char *target = k + 1 < count ? begin + size / count * (k + 1) : end;
        if (target > at && target < end) {
            at = saddle_line_end(target, end);
            at = at < end ? at + 1 : end;
        } else if (target >= end) {
            at = end;
        }
        part[k].end = at;
    }
}

/* Add the parts up, tell each where its rows go, and stop at the first fault of the file. */
static saddle_status add_up(struct part *part, size_t count, struct part *total, const char *path,
                            saddle_error *error)
{
    memset(total, 0, sizeof *total);
    for (size_t k = 0; k < count; k++) {
        if (part[k].fault.line != 0) {
            saddle_fault fault = part[k].fault;
            fault.line += total->lines;
            return saddle_fault_report(&fault, path, error);
        }
        part[k].first_row = total->rows;
        part[k].first_entry = total->entries;
        total->lines += part[k].lines;
        total->rows += part[k].rows;
        total->entries += part[k].entries;
        if (part[k].features > total->features)
            total->features = part[k].features;
    }
    if (total->rows == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' holds no rows; write one LABEL INDEX:VALUE ... per line", path);
    return SADDLE_OK;
}

saddle_status saddle_read_libsvm(saddle_dataset **out, const char *name, const saddle_input *in,
                                 const saddle_data_options *options, saddle_error *error)
{
    *out = NULL;
    size_t count = part_count(options, in->size);
    struct part *part = saddle_alloc(count, sizeof *part);
    if (part == NULL)
        return saddle_no_memory(error, "reading a file");
    cut(part, count, saddle_skip_mark(in), in->bytes + in->size);
    read_parts(part, count);
    struct part total;
    saddle_dataset *data = NULL;
    saddle_status status = add_up(part, count, &total, in->path, error);
    if (status != SADDLE_OK)
        goto cleanup;
    size_t features = total.features > options->features ? total.features : options->features;
    if (features == 0 || features > UINT32_MAX) {
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "'%s' has %zu features; between 1 and %lu are possible", in->path,
                             features, (unsigned long)UINT32_MAX);
        goto cleanup;
    }
    status = saddle_dataset_new_sparse(&data, name, total.rows, features, total.entries, error);
    if (status != SADDLE_OK)
        goto cleanup;
    for (size_t k = 0; k < count; k++)
        part[k].data = data;
    read_parts(part, count);
    data->row_start[total.rows] = total.entries;
    *out = data;
cleanup:
    saddle_free(part);
    return status;
}
