#include "checkpoint/checkpoint_file.h"

#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "checkpoints are written as they lie in memory");
_Static_assert(sizeof(saddle_checkpoint_numbers) % 8 == 0, "all numbers have 8 bytes");
_Static_assert(sizeof(saddle_row) % 8 == 0, "all columns have 8 bytes");

/* Saddle 0.1 wrote format 2. */
#define FORMAT 3

static const unsigned char magic[8] = {'S', 'A', 'D', 'D', 'L', 'E', 'C', 'K'};

/* The beginning of a file. Magic and format are at the same place in every format. */
typedef struct head {
    unsigned char magic[8];
    uint64_t format;
    uint64_t file;  /* bytes of the file */
    uint64_t texts; /* bytes of the texts that follow */
    saddle_checkpoint_numbers number;
} head;

size_t saddle_checkpoint_record(const saddle_checkpoint_numbers *n)
{
    return 8 * (size_t)(SADDLE_RECORD_WORDS + n->published + n->kept + n->solution);
}

/* Returns the file size that a head implies; 0 when it is impossible. */
static uint64_t file_bytes(const head *start)
{
    const saddle_checkpoint_numbers *n = &start->number;
    double words = (double)n->memory + (double)n->solution + (double)n->links +
                   (double)n->rows * ((double)n->row_words + (double)n->outcomes) +
                   (double)n->agents * (SADDLE_RECORD_WORDS + (double)n->published +
                                        (double)n->kept + (double)n->solution);
    /* If this estimate is below 2^62, the exact sizes do not overflow. */
    if (!(8.0 * words + (double)start->texts < 0x1p62))
        return 0;
    return sizeof *start + start->texts + SADDLE_SHA256_BYTES +
           8 * (n->memory + n->solution + n->links + n->rows * (n->row_words + n->outcomes)) +
           n->agents * saddle_checkpoint_record(n);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Returns the texts of a head; free with free(). NULL when memory is short. */
static char *make_texts(const saddle_checkpoint *c, size_t *bytes)
{
    char *texts = NULL;
    FILE *f = open_memstream(&texts, bytes);
    if (f == NULL)
        return NULL;
    saddle_fprintf(f, "%s%c", c->version, '\0');
    fwrite(c->settings.text, 1, c->settings.bytes, f);
    for (size_t k = 0; k < c->number.outcomes; k++)
        saddle_fprintf(f, "%c%s%c", c->outcome[k].better == SADDLE_LARGER ? '+' : '-',
                       c->outcome[k].name, '\0');
    bool bad = ferror(f) != 0;
    if (fclose(f) == 0 && !bad)
        return texts;
    free(texts);
    return NULL;
}

void saddle_checkpoint_put(saddle_checkpoint_stream *writer, const void *block, size_t bytes)
{
    /* A short write sets the stream's error flag, which saddle_output_commit() checks. */
    fwrite(block, 1, bytes, writer->output.stream);
    saddle_sha256_add(&writer->sum, block, bytes);
}

saddle_status saddle_checkpoint_begin(saddle_checkpoint_stream *writer, const char *path,
                                      const saddle_checkpoint *checkpoint, saddle_error *error)
{
    head start = {.format = FORMAT, .number = checkpoint->number};
    size_t bytes = 0;
    memset(writer, 0, sizeof *writer);
    memcpy(start.magic, magic, sizeof magic);
    SADDLE_MALLOCED char *texts = make_texts(checkpoint, &bytes);
    start.texts = bytes;
    start.file = file_bytes(&start);
    SADDLE_TRY(texts != NULL && start.file != 0 ? saddle_output_open(&writer->output, path, error)
                                                : saddle_no_memory(error, "a checkpoint"));
    saddle_sha256_begin(&writer->sum);
    saddle_checkpoint_put(writer, &start, sizeof start);
    saddle_checkpoint_put(writer, texts, bytes);
    return SADDLE_OK;
}

saddle_status saddle_checkpoint_end(saddle_checkpoint_stream *writer, saddle_error *error)
{
    unsigned char sum[SADDLE_SHA256_BYTES];
    saddle_sha256_end(&writer->sum, sum);
    fwrite(sum, 1, sizeof sum, writer->output.stream);
    return saddle_output_commit(&writer->output, error);
}

/* ---- reading ------------------------------------------------------------------------------- */

static saddle_status contradiction(const saddle_checkpoint *c, saddle_error *error)
{
    return saddle_refuse(error, "the checkpoint '%s' is damaged: its head is inconsistent",
                         c->path);
}

/* Returns whether there are as many texts as the numbers say. */
static bool has_texts(const saddle_checkpoint_numbers *n, const char *texts, size_t bytes)
{
    size_t ends = 0;
    for (size_t k = 0; k < bytes; k++)
        ends += texts[k] == '\0';
    return bytes > 0 && texts[bytes - 1] == '\0' && n->settings < bytes &&
           ends == 1 + 3 * n->settings + n->outcomes;
}

/* Decodes c->head into the other fields; fails when it is inconsistent. */
static saddle_status decode(saddle_checkpoint *c, saddle_error *error)
{
    head start;
    if (c->head_bytes < sizeof start)
        return contradiction(c, error);
    memcpy(&start, c->head, sizeof start);
    const saddle_checkpoint_numbers *n = &start.number;
    char *at = (char *)c->head + sizeof start;
    if (start.texts != c->head_bytes - sizeof start || start.file == 0 ||
        start.file != file_bytes(&start) || n->outcomes > SADDLE_MOST_OUTCOME_COLUMNS ||
        n->rows == 0 || n->agents == 0 ||
        (n->solution != 0 && n->solution != n->x_dim + n->y_dim) ||
        n->row_words != sizeof(saddle_row) / 8 || !has_texts(n, at, (size_t)start.texts))
        return contradiction(c, error);
    c->number = *n;
    c->bytes = start.file;
    c->version = at;
    at += strlen(at) + 1;
    c->settings.count = (size_t)n->settings;
    c->settings.setting = saddle_recorded_index(&at, c->settings.count);
    c->column = saddle_alloc((size_t)n->outcomes, sizeof *c->column);
    c->outcome = c->column;
    if (c->settings.setting == NULL || c->column == NULL)
        return saddle_no_memory(error, "a checkpoint");
    for (size_t k = 0; k < n->outcomes; k++, at += strlen(at) + 1) {
        const char *name = at;
        saddle_outcome_column *column = &c->column[k];
        if (*name == '\0' || strlen(name) > sizeof column->name)
            return contradiction(c, error);
        column->better = *name == '+' ? SADDLE_LARGER : SADDLE_SMALLER;
        saddle_snprintf(column->name, sizeof column->name, "%s", name + 1);
    }
    return SADDLE_OK;
}

static saddle_status read_failed(const saddle_checkpoint *c, saddle_error *error)
{
    return saddle_fail(error, SADDLE_IO, "cannot read the checkpoint '%s': %s", c->path,
                       strerror(errno != 0 ? errno : EIO));
}

/* Reads the head without its texts; fails if the magic, the format or the size of the file is wrong. */
static saddle_status read_start(saddle_checkpoint *c, head *out, uint64_t bytes,
                                saddle_error *error)
{
    memset(out, 0, sizeof *out);
    size_t got = fread(out, 1, sizeof *out, c->stream);
    if (ferror(c->stream))
        return read_failed(c, error);
    if (bytes == 0)
        return saddle_refuse(error, "the checkpoint '%s' is empty", c->path);
    if (memcmp(out->magic, magic, got < sizeof magic ? got : sizeof magic) != 0)
        return saddle_refuse(error, "'%s' is not a checkpoint of saddle", c->path);
    if (got >= offsetof(head, file) && out->format != FORMAT)
        return saddle_refuse(error,
                             "the checkpoint '%s' has format %" PRIu64
                             "%s; this version of saddle reads format %d; resume with the version "
                             "that wrote it, or start again in another directory",
                             c->path, out->format, out->format == 2 ? ", that of saddle 0.1" : "",
                             FORMAT);
    if (got < sizeof *out)
        return saddle_refuse(error, "the checkpoint '%s' is cut short: it has only %zu bytes",
                             c->path, got);
    if (bytes < out->file)
        return saddle_refuse(
            error, "the checkpoint '%s' is cut short: it has %" PRIu64 " bytes of %" PRIu64,
            c->path, bytes, out->file);
    if (bytes > out->file)
        return saddle_refuse(error,
                             "the checkpoint '%s' is damaged: it has %" PRIu64
                             " bytes, but its head says %" PRIu64,
                             c->path, bytes, out->file);
    return out->file == file_bytes(out) ? SADDLE_OK : contradiction(c, error);
}

/* Compares the file with its SHA-256. */
static saddle_status check_sum(const saddle_checkpoint *c, uint64_t bytes, saddle_error *error)
{
    unsigned char found[SADDLE_SHA256_BYTES];
    unsigned char wanted[SADDLE_SHA256_BYTES];
    int file = fileno(c->stream);
    uint64_t summed = bytes - sizeof wanted;
    if (!saddle_sha256_file(file, summed, found) ||
        pread(file, wanted, sizeof wanted, (off_t)summed) != sizeof wanted)
        return read_failed(c, error);
    if (memcmp(found, wanted, sizeof wanted) == 0)
        return SADDLE_OK;
    return saddle_refuse(
        error, "the checkpoint '%s' is damaged: its contents do not match its SHA-256 sum",
        c->path);
}

/* Checks an open file and reads everything before its body. */
static saddle_status read_head(saddle_checkpoint *c, uint64_t bytes, saddle_error *error)
{
    head start;
    SADDLE_TRY(read_start(c, &start, bytes, error));
    SADDLE_TRY(check_sum(c, bytes, error));
    c->head_bytes = sizeof start + (size_t)start.texts;
    c->head = saddle_alloc(c->head_bytes, 1);
    SADDLE_TRY(saddle_check_memory(c->head, "a checkpoint", error));
    memcpy(c->head, &start, sizeof start);
    SADDLE_TRY(saddle_checkpoint_get(c, c->head + sizeof start, (size_t)start.texts, error));
    return decode(c, error);
}

/* Creates a checkpoint with only its path. */
static saddle_status make(saddle_checkpoint **out, const char *path, saddle_error *error)
{
    *out = saddle_alloc(1, sizeof **out);
    if (*out != NULL)
        (*out)->path = saddle_strdup(path);
    return *out != NULL && (*out)->path != NULL ? SADDLE_OK
                                                : saddle_no_memory(error, "a checkpoint");
}

/* On failure, closes the checkpoint. */
static saddle_status finish(saddle_checkpoint **c, saddle_status status)
{
    if (status != SADDLE_OK) {
        saddle_checkpoint_close(*c);
        *c = NULL;
    }
    return status;
}

saddle_status saddle_checkpoint_open(saddle_checkpoint **out, const char *path, saddle_error *error)
{
    size_t bytes = 0;
    errno = 0;
    saddle_status status = make(out, path, error);
    SADDLE_THEN(status, saddle_reading_open_regular(&(*out)->stream, path,
                                                    "the path of a checkpoint", &bytes, error));
    SADDLE_THEN(status, read_head(*out, bytes, error));
    return finish(out, status);
}

saddle_status saddle_checkpoint_get(saddle_checkpoint *checkpoint, void *block, size_t bytes,
                                    saddle_error *error)
{
    errno = 0;
    return fread(block, 1, bytes, checkpoint->stream) == bytes ? SADDLE_OK
                                                               : read_failed(checkpoint, error);
}

saddle_status saddle_checkpoint_decode(saddle_checkpoint **out, const char *path,
                                       const unsigned char *block, size_t bytes,
                                       saddle_error *error)
{
    saddle_status status = make(out, path, error);
    if (status == SADDLE_OK) {
        (*out)->head = saddle_alloc(bytes, 1);
        status = (*out)->head != NULL ? SADDLE_OK : saddle_no_memory(error, "a checkpoint");
    }
    if (status == SADDLE_OK) {
        memcpy((*out)->head, block, bytes);
        (*out)->head_bytes = bytes;
        status = decode(*out, error);
    }
    return finish(out, status);
}

void saddle_checkpoint_close(saddle_checkpoint *c)
{
    if (c == NULL)
        return;
    if (c->stream != NULL)
        fclose(c->stream);
    saddle_free(c->path);
    saddle_free(c->head);
    saddle_recorded_free(&c->settings);
    saddle_free(c->column);
    saddle_free(c);
}
