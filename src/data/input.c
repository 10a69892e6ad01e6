/* Mapping files into memory, where gzip'd ones (RFC 1952) are decompressed with zlib; and what the readers of text
 * share: lines, whitespace, and errors with a position. */
#include "data/readers.h"

#include <sys/mman.h>

#include <zlib.h>

#include "core/memory_limits.h"
#include "files/file.h"

static saddle_status is_empty(const char *path, saddle_error *error)
{
    return saddle_refuse(error, "'%s' is empty; give a file with at least one row", path);
}

static saddle_status map(saddle_input *in, int descriptor, size_t size, saddle_error *error)
{
    if (size == 0)
        return is_empty(in->path, error);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return saddle_fail(error, SADDLE_IO, "cannot read '%s': %s", in->path, strerror(errno));
    in->bytes = bytes;
    in->size = size;
    return SADDLE_OK;
}

/* ---- gzip ---- */

/* Bytes decompressed at a time. */
enum { STEP = 1 << 16 };

/* Gives zlib, whose counts are 32 bits wide, more of the mapping. */
static void feed(const saddle_input *in, z_stream *z)
{
    if (z->avail_in > 0)
        return;
    size_t used = (size_t)((const char *)z->next_in - in->bytes);
    size_t left = in->size - used;
    z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
}

/* Decompresses up to STEP bytes to `to` and returns zlib's code. A gzip file may have several members. */
static int unpack_step(const saddle_input *in, z_stream *z, unsigned char *to, size_t room,
                       size_t *got)
{
    size_t most = room < STEP ? room : STEP;
    z->next_out = to;
    z->avail_out = (uInt)most;
    feed(in, z);
    int code = inflate(z, Z_NO_FLUSH);
    *got = most - z->avail_out;
    feed(in, z);
    return code == Z_STREAM_END && z->avail_in > 0 ? inflateReset(z) : code;
}

/* Decompresses everything to `to`, which has `room` bytes; if `to` is NULL, only counts the bytes, and stops when
 * there are too many for the size of the file. */
static saddle_status unpack_to(const saddle_input *in, unsigned char *to, size_t room, size_t *size,
                               saddle_error *error)
{
    unsigned char scratch[STEP];
    z_stream z = {.next_in = (Bytef *)(size_t)in->bytes};
    /* 15: the largest window; + 16: a gzip header and checksum, nothing else. */
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return saddle_no_memory(error, "unpacking a file");
    saddle_status status = SADDLE_OK;
    int code = Z_OK;
    *size = 0;
    while (code == Z_OK && !saddle_expands_too_far(in->size, *size)) {
        size_t got = 0;
        code = to != NULL ? unpack_step(in, &z, to + *size, room - *size, &got)
                          : unpack_step(in, &z, scratch, sizeof scratch, &got);
        *size += got;
    }
    if (code == Z_OK)
        status = saddle_refuse(error,
                               "'%s' expands to more than %d times its %zu bytes; if you trust it, "
                               "unpack it with gunzip and give the unpacked file",
                               in->path, SADDLE_MOST_EXPANSION, in->size);
    else if (code == Z_BUF_ERROR)
        status = saddle_refuse(error, "'%s' is cut short within its gzip data; download it again",
                               in->path);
    else if (code != Z_STREAM_END)
        status = saddle_refuse(error, "'%s' has damaged gzip data (%s); download it again",
                               in->path, z.msg != NULL ? z.msg : "zlib");
    inflateEnd(&z);
    return status;
}

/* Replaces the mapping by the decompressed bytes. Counts them first, so that a damaged or malicious file
 * cannot exhaust memory. */
static saddle_status unpack(saddle_input *in, saddle_error *error)
{
    size_t size = 0;
    char what[320];
    saddle_snprintf(what, sizeof what, "'%.200s', unpacked,", in->path);
    SADDLE_TRY(unpack_to(in, NULL, 0, &size, error));
    if (size == 0)
        return is_empty(in->path, error);
    SADDLE_TRY(saddle_need_check_one(saddle_block_bytes(size + 1, 1), what, "split it", error));
    /* One extra byte, so that zlib has output space until it has read the checksum. */
    SADDLE_OWNED unsigned char *bytes = saddle_alloc_unset(size + 1, 1);
    SADDLE_TRY(saddle_check_memory(bytes, "an unpacked file", error));
    SADDLE_TRY(unpack_to(in, bytes, size + 1, &size, error));
    munmap((void *)(size_t)in->bytes, in->size);
    in->bytes = in->unpacked = saddle_taken(&bytes);
    in->size = size;
    return SADDLE_OK;
}

/* ---- both ---- */

saddle_status saddle_input_open(saddle_input *in, const char *path, saddle_error *error)
{
    FILE *file;
    size_t size;
    memset(in, 0, sizeof *in);
    in->path = path;
    SADDLE_TRY(
        saddle_reading_open_regular(&file, path, "the path of a regular file", &size, error));
    saddle_status status = map(in, fileno(file), size, error);
    fclose(file);
    SADDLE_THEN_IF(status, saddle_input_begins(in, "\x1f\x8b"), unpack(in, error));
    if (status == SADDLE_OK &&
        (saddle_input_begins(in, "\xff\xfe") || saddle_input_begins(in, "\xfe\xff")))
        status = saddle_refuse(
            error, "'%.300s' is text in UTF-16; save it as UTF-8, as by `iconv -f UTF-16 -t UTF-8`",
            path);
    if (status != SADDLE_OK)
        saddle_input_close(in);
    return status;
}

void saddle_input_close(saddle_input *in)
{
    if (in->unpacked != NULL)
        saddle_free(in->unpacked);
    else if (in->bytes != NULL)
        munmap((void *)(size_t)in->bytes, in->size);
    memset(in, 0, sizeof *in);
}

bool saddle_input_begins(const saddle_input *in, const char *text)
{
    size_t length = strlen(text);
    return in->size >= length && memcmp(in->bytes, text, length) == 0;
}

/* ---- text ---- */

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
