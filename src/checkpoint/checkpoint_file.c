#include "checkpoint/checkpoint_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "core/memory.h"
#include "core/status.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "checkpoints are written as they lie in memory");
_Static_assert(sizeof(saddle_checkpoint_numbers) % 8 == 0, "all numbers have 8 bytes");
_Static_assert(sizeof(saddle_row) % 8 == 0, "all columns have 8 bytes");

static const unsigned char magic[8] = {'S', 'A', 'D', 'D', 'L', 'E', 'C', 'K'};

#define FORMAT 2
#define SUM_BYTES 32
/* Far above any head: the longest setting is a list of local sizes. */
#define MOST_HEAD ((uint64_t)1 << 28)
/* Bytes that are read at once to be summed. */
#define BLOCK 65536

/* How a file begins. */
typedef struct prologue {
    unsigned char magic[8];
    uint64_t format;
    uint64_t head; /* bytes up to the head's sum, these included */
    uint64_t file; /* bytes of the whole file */
} prologue;

size_t saddle_checkpoint_record(const saddle_checkpoint_numbers *n)
{
    return 8 * (size_t)(SADDLE_RECORD_WORDS + n->published + n->kept);
}

/* total += a * b * c; false when it does not fit. */
static bool add_product(uint64_t *total, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_add_overflow(*total, product, total);
}

/* Bytes of the file that a head of `head` bytes announces; false when no file is so large. */
static bool file_size(const saddle_checkpoint_numbers *n, uint64_t head, uint64_t *out)
{
    uint64_t words = SADDLE_RECORD_WORDS;
    *out = head + (uint64_t)2 * SUM_BYTES;
    return n->train <= SADDLE_MOST_OUTCOMES && n->test <= SADDLE_MOST_OUTCOMES &&
           add_product(&words, n->published, 1, 1) && add_product(&words, n->kept, 1, 1) &&
           add_product(out, n->memory, 8, 1) && add_product(out, n->rows, n->row_words, 8) &&
           add_product(out, n->rows, n->train + n->test, 8) &&
           add_product(out, n->agents, words, 8);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* A text with its length before and a zero behind, so that it can be used where it was read. */
static void write_text(FILE *f, const char *text)
{
    uint64_t length = strlen(text);
    fwrite(&length, sizeof length, 1, f);
    fwrite(text, 1, length + 1, f);
}

static void write_head(FILE *f, const saddle_checkpoint *c)
{
    const prologue empty = {.format = FORMAT};
    uint64_t count = c->setting_count;
    fwrite(&empty, sizeof empty, 1, f);
    write_text(f, c->version);
    fwrite(&c->number, sizeof c->number, 1, f);
    fwrite(&count, sizeof count, 1, f);
    for (size_t k = 0; k < c->setting_count; k++) {
        uint64_t given = c->setting[k].is_given;
        write_text(f, c->setting[k].name);
        write_text(f, c->setting[k].effective);
        write_text(f, c->setting[k].given);
        fwrite(&given, sizeof given, 1, f);
    }
    for (size_t k = 0; k < c->number.train + c->number.test; k++)
        write_text(f, c->outcome[k]);
}

/* The head in memory, to be freed with free(); NULL when memory is short. */
static unsigned char *make_head(const saddle_checkpoint *c, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);
    if (f == NULL)
        return NULL;
    write_head(f, c);
    prologue start = {.format = FORMAT};
    memcpy(start.magic, magic, sizeof magic);
    bool bad = ferror(f) != 0;
    bad = fclose(f) != 0 || bad;
    start.head = *bytes;
    if (bad || !file_size(&c->number, start.head, &start.file)) {
        free(text);
        return NULL;
    }
    memcpy(text, &start, sizeof start);
    return (unsigned char *)text;
}

/* The sum so far; the summing can go on. */
static bool sum_so_far(EVP_MD_CTX *sum, unsigned char out[SUM_BYTES])
{
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    bool good = copy != NULL && EVP_MD_CTX_copy_ex(copy, sum) == 1 &&
                EVP_DigestFinal_ex(copy, out, NULL) == 1;
    EVP_MD_CTX_free(copy);
    return good;
}

static EVP_MD_CTX *start_sum(void)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    if (sum != NULL && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1)
        return sum;
    EVP_MD_CTX_free(sum);
    return NULL;
}

void saddle_checkpoint_put(saddle_checkpoint_stream *writer, const void *block, size_t bytes)
{
    writer->bad = writer->bad || fwrite(block, 1, bytes, writer->output.stream) != bytes ||
                  EVP_DigestUpdate(writer->sum, block, bytes) != 1;
}

static void put_sum(saddle_checkpoint_stream *writer)
{
    unsigned char sum[SUM_BYTES] = {0};
    writer->bad = writer->bad || !sum_so_far(writer->sum, sum);
    saddle_checkpoint_put(writer, sum, sizeof sum);
}

saddle_status saddle_checkpoint_begin(saddle_checkpoint_stream *writer, const char *path,
                                      const saddle_checkpoint *checkpoint, saddle_error *error)
{
    size_t bytes = 0;
    memset(writer, 0, sizeof *writer);
    unsigned char *head = make_head(checkpoint, &bytes);
    writer->sum = start_sum();
    saddle_status status = SADDLE_OK;
    if (head == NULL || writer->sum == NULL)
        status = saddle_no_memory(error, "a checkpoint");
    SADDLE_THEN(status, saddle_output_open(&writer->output, path, error));
    if (status == SADDLE_OK) {
        saddle_checkpoint_put(writer, head, bytes);
        put_sum(writer);
    } else {
        EVP_MD_CTX_free(writer->sum);
        writer->sum = NULL;
    }
    free(head);
    return status;
}

saddle_status saddle_checkpoint_end(saddle_checkpoint_stream *writer, saddle_error *error)
{
    put_sum(writer);
    EVP_MD_CTX_free(writer->sum);
    writer->sum = NULL;
    if (!writer->bad)
        return saddle_output_commit(&writer->output, error);
    saddle_status status = saddle_fail(error, SADDLE_IO, "cannot write '%s': %s; is the disk full?",
                                       writer->output.name, strerror(errno != 0 ? errno : EIO));
    saddle_output_discard(&writer->output);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A place in a head. */
typedef struct cursor {
    const unsigned char *at;
    size_t left;
    bool bad; /* more was asked for than there is */
    bool short_of_memory;
} cursor;

static void take(cursor *c, void *out, size_t bytes)
{
    c->bad = c->bad || bytes > c->left;
    memset(out, 0, bytes);
    if (c->bad)
        return;
    memcpy(out, c->at, bytes);
    c->at += bytes;
    c->left -= bytes;
}

static const char *take_text(cursor *c)
{
    uint64_t length = 0;
    take(c, &length, sizeof length);
    c->bad = c->bad || length >= c->left ||
             memchr(c->at, '\0', (size_t)length + 1) != (const void *)(c->at + length);
    if (c->bad)
        return "";
    const char *text = (const char *)c->at;
    c->at += length + 1;
    c->left -= (size_t)length + 1;
    return text;
}

static void take_settings(saddle_checkpoint *out, cursor *c)
{
    uint64_t count = 0;
    take(c, &count, sizeof count);
    /* A setting takes at least its three lengths. */
    c->bad = c->bad || count > c->left / 24;
    if (c->bad)
        return;
    out->setting = saddle_alloc((size_t)count, sizeof *out->setting);
    c->bad = c->short_of_memory = out->setting == NULL;
    for (uint64_t k = 0; !c->bad && k < count; k++) {
        saddle_checkpoint_setting *setting = &out->setting[k];
        uint64_t given = 0;
        setting->name = take_text(c);
        setting->effective = take_text(c);
        setting->given = take_text(c);
        take(c, &given, sizeof given);
        setting->is_given = given != 0;
        out->setting_count++;
    }
}

/* Read out->head into the other fields; refused when it contradicts itself. */
static saddle_status decode(saddle_checkpoint *out, saddle_error *error)
{
    cursor c = {.at = out->head, .left = out->head_bytes};
    prologue start;
    uint64_t bytes = 0;
    take(&c, &start, sizeof start);
    out->version = take_text(&c);
    take(&c, &out->number, sizeof out->number);
    take_settings(out, &c);
    const saddle_checkpoint_numbers *n = &out->number;
    if (c.short_of_memory)
        return saddle_no_memory(error, "a checkpoint");
    bool good = !c.bad && file_size(n, out->head_bytes, &bytes) && bytes == start.file;
    for (uint64_t k = 0; good && k < n->train + n->test; k++)
        out->outcome[k] = take_text(&c);
    out->bytes = start.file;
    if (good && !c.bad && c.left == 0 && n->rows > 0 && n->agents > 0 &&
        n->row_words == sizeof(saddle_row) / 8)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "the checkpoint '%s' is damaged: its head contradicts itself", out->path);
}

static saddle_status read_failed(const char *path, saddle_error *error)
{
    return saddle_fail(error, SADDLE_IO, "cannot read the checkpoint '%s': %s", path,
                       strerror(errno != 0 ? errno : EIO));
}

static saddle_status damaged(const char *path, const char *what, saddle_error *error)
{
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "the checkpoint '%s' is damaged: %s does not match its SHA-256 sum", path,
                       what);
}

/* Read the first bytes and refuse what is of another kind or of another size. */
static saddle_status read_prologue(saddle_checkpoint *c, prologue *out, uint64_t bytes,
                                   saddle_error *error)
{
    memset(out, 0, sizeof *out);
    size_t got = fread(out, 1, sizeof *out, c->stream);
    if (ferror(c->stream))
        return read_failed(c->path, error);
    if (bytes == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT, "the checkpoint '%s' is empty", c->path);
    size_t seen = got < sizeof magic ? got : sizeof magic;
    if (memcmp(out->magic, magic, seen) != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT, "'%s' is no checkpoint of saddle", c->path);
    if (got == sizeof *out && out->format != FORMAT)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the checkpoint '%s' has format %" PRIu64
                           "; this version of saddle reads format %d: go on with the version "
                           "that wrote it, or begin anew in another directory",
                           c->path, out->format, FORMAT);
    if (got == sizeof *out && bytes > out->file)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the checkpoint '%s' is damaged: it has %" PRIu64
                           " bytes where its head says %" PRIu64,
                           c->path, bytes, out->file);
    if (got < sizeof *out)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the checkpoint '%s' is cut short: it has only %zu bytes", c->path, got);
    if (bytes < out->file)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the checkpoint '%s' is cut short: it has %" PRIu64 " bytes of %" PRIu64,
                           c->path, bytes, out->file);
    if (out->head < sizeof *out || out->head > MOST_HEAD ||
        out->head + (uint64_t)2 * SUM_BYTES > out->file)
        return damaged(c->path, "the size of its head", error);
    return SADDLE_OK;
}

/* Read the head and compare it with its sum. */
static saddle_status read_head(saddle_checkpoint *c, const prologue *start, EVP_MD_CTX *sum,
                               saddle_error *error)
{
    unsigned char found[SUM_BYTES];
    unsigned char wanted[SUM_BYTES];
    c->head_bytes = (size_t)start->head;
    c->head = saddle_alloc(c->head_bytes, 1);
    if (c->head == NULL)
        return saddle_no_memory(error, "a checkpoint");
    memcpy(c->head, start, sizeof *start);
    size_t rest = c->head_bytes - sizeof *start;
    if (fread(c->head + sizeof *start, 1, rest, c->stream) != rest ||
        fread(wanted, 1, sizeof wanted, c->stream) != sizeof wanted)
        return read_failed(c->path, error);
    if (EVP_DigestUpdate(sum, c->head, c->head_bytes) != 1 || !sum_so_far(sum, found))
        return saddle_no_memory(error, "a checkpoint");
    if (memcmp(found, wanted, SUM_BYTES) != 0)
        return damaged(c->path, "its head", error);
    if (EVP_DigestUpdate(sum, wanted, sizeof wanted) != 1)
        return saddle_no_memory(error, "a checkpoint");
    return SADDLE_OK;
}

/* Read the body, compare the whole with its sum, and go back to the body. */
static saddle_status check_body(saddle_checkpoint *c, EVP_MD_CTX *sum, saddle_error *error)
{
    unsigned char block[BLOCK];
    unsigned char found[SUM_BYTES];
    uint64_t body = c->head_bytes + SUM_BYTES;
    for (uint64_t left = c->bytes - body - SUM_BYTES; left > 0;) {
        size_t wanted = left < sizeof block ? (size_t)left : sizeof block;
        if (fread(block, 1, wanted, c->stream) != wanted)
            return read_failed(c->path, error);
        if (EVP_DigestUpdate(sum, block, wanted) != 1)
            return saddle_no_memory(error, "a checkpoint");
        left -= wanted;
    }
    if (fread(block, 1, SUM_BYTES, c->stream) != SUM_BYTES)
        return read_failed(c->path, error);
    if (!sum_so_far(sum, found))
        return saddle_no_memory(error, "a checkpoint");
    if (memcmp(found, block, SUM_BYTES) != 0)
        return damaged(c->path, "its contents", error);
    return fseeko(c->stream, (off_t)body, SEEK_SET) == 0 ? SADDLE_OK : read_failed(c->path, error);
}

/* All that is said by the contents of an open file. */
static saddle_status read_all(saddle_checkpoint *c, uint64_t bytes, saddle_error *error)
{
    prologue start;
    saddle_status status = read_prologue(c, &start, bytes, error);
    if (status != SADDLE_OK)
        return status;
    EVP_MD_CTX *sum = start_sum();
    if (sum == NULL) {
        saddle_no_memory(error, "a checkpoint");
        return SADDLE_NO_MEMORY;
    }
    status = read_head(c, &start, sum, error);
    SADDLE_THEN(status, decode(c, error));
    SADDLE_THEN(status, check_body(c, sum, error));
    EVP_MD_CTX_free(sum);
    return status;
}

/* A checkpoint with nothing but its path. */
static saddle_checkpoint *make(const char *path)
{
    saddle_checkpoint *c = saddle_alloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->path = saddle_strdup(path);
    if (c->path != NULL)
        return c;
    saddle_free(c);
    return NULL;
}

saddle_status saddle_checkpoint_open(saddle_checkpoint **out, const char *path, saddle_error *error)
{
    *out = NULL;
    size_t bytes = 0;
    saddle_checkpoint *c = make(path);
    if (c == NULL) {
        saddle_no_memory(error, "a checkpoint");
        return SADDLE_NO_MEMORY;
    }
    errno = 0;
    saddle_status status =
        saddle_reading_open_regular(&c->stream, path, "the path of a checkpoint", &bytes, error);
    SADDLE_THEN(status, read_all(c, bytes, error));
    if (status == SADDLE_OK)
        *out = c;
    else
        saddle_checkpoint_close(c);
    return status;
}

saddle_status saddle_checkpoint_get(saddle_checkpoint *checkpoint, void *block, size_t bytes,
                                    saddle_error *error)
{
    errno = 0;
    return fread(block, 1, bytes, checkpoint->stream) == bytes
               ? SADDLE_OK
               : read_failed(checkpoint->path, error);
}

saddle_status saddle_checkpoint_decode(saddle_checkpoint **out, const char *path,
                                       const unsigned char *head, size_t bytes, saddle_error *error)
{
    *out = NULL;
    saddle_checkpoint *c = make(path);
    if (c != NULL)
        c->head = saddle_alloc(bytes, 1);
    if (c == NULL || c->head == NULL) {
        saddle_checkpoint_close(c);
        saddle_no_memory(error, "a checkpoint");
        return SADDLE_NO_MEMORY;
    }
    memcpy(c->head, head, bytes);
    c->head_bytes = bytes;
    saddle_status status = decode(c, error);
    if (status == SADDLE_OK)
        *out = c;
    else
        saddle_checkpoint_close(c);
    return status;
}

void saddle_checkpoint_close(saddle_checkpoint *c)
{
    if (c == NULL)
        return;
    if (c->stream != NULL)
        fclose(c->stream);
    saddle_free(c->path);
    saddle_free(c->head);
    saddle_free(c->setting);
    saddle_free(c);
}
