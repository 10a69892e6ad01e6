/* Mapping of files and unpacking of gzip'd ones (RFC 1952, by zlib). */
#include "data/input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/status.h"
#include "files/file.h"

static saddle_status map(saddle_input *in, int descriptor, size_t size, saddle_error *error)
{
    if (size == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' is empty; a data file has at least one row", in->path);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return saddle_fail(error, SADDLE_IO, "cannot read '%s': %s", in->path, strerror(errno));
    in->bytes = bytes;
    in->size = size;
    return SADDLE_OK;
}

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
    return status;
}

void saddle_input_close(saddle_input *in)
{
    if (in->bytes != NULL)
        munmap((void *)(size_t)in->bytes, in->size);
    memset(in, 0, sizeof *in);
}

bool saddle_input_is_gzip(const saddle_input *in)
{
    return in->size >= 2 && memcmp(in->bytes, "\x1f\x8b", 2) == 0;
}

saddle_status saddle_stream_open(saddle_stream *stream, const saddle_input *in, saddle_error *error)
{
    memset(stream, 0, sizeof *stream);
    stream->in = in;
    if (!saddle_input_is_gzip(in))
        return SADDLE_OK;
    /* 15: the largest window; + 16: a gzip header and checksum, nothing else. */
    if (inflateInit2(&stream->inflate, 15 + 16) != Z_OK)
        return saddle_no_memory(error, "unpacking a file");
    stream->packed = true;
    stream->inflate.next_in = (Bytef *)(size_t)in->bytes;
    return SADDLE_OK;
}

/* Give zlib, whose counts are 32 bits wide, more of the mapping. */
static void feed(saddle_stream *stream)
{
    if (stream->inflate.avail_in > 0)
        return;
    size_t used = (size_t)((const char *)stream->inflate.next_in - stream->in->bytes);
    size_t left = stream->in->size - used;
    stream->inflate.avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
}

/* Unpack until `room` bytes are written or the stream ends; zlib's code. */
static int unpack(saddle_stream *stream, unsigned char *to, size_t room, size_t *got)
{
    z_stream *z = &stream->inflate;
    z->next_out = to;
    z->avail_out = (uInt)room;
    int code = Z_OK;
    while (code == Z_OK && z->avail_out > 0) {
        feed(stream);
        code = inflate(z, Z_NO_FLUSH);
        feed(stream);
        /* A gzip file may consist of several members, one after the other. */
        if (code == Z_STREAM_END && z->avail_in > 0)
            code = inflateReset(z);
    }
    *got = room - z->avail_out;
    return code;
}

static saddle_status read_packed(saddle_stream *stream, void *buffer, size_t wanted, size_t *got,
                                 saddle_error *error)
{
    unsigned char scratch[16384];
    while (*got < wanted && !stream->ended) {
        size_t room = wanted - *got < sizeof scratch ? wanted - *got : sizeof scratch;
        /* cppcheck-suppress legacyUninitvar; it is written to */
        unsigned char *to = buffer != NULL ? (unsigned char *)buffer + *got : scratch;
        size_t written = 0;
        int code = unpack(stream, to, room, &written);
        *got += written;
        stream->ended = code == Z_STREAM_END;
        if (code == Z_BUF_ERROR)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "'%s' is cut short within its gzip data; get it again",
                               stream->in->path);
        if (code != Z_OK && code != Z_STREAM_END)
            return saddle_fail(error, SADDLE_BAD_INPUT, "'%s' has damaged gzip data (%s)",
                               stream->in->path,
                               stream->inflate.msg != NULL ? stream->inflate.msg : "zlib");
    }
    return SADDLE_OK;
}

saddle_status saddle_stream_read(saddle_stream *stream, void *buffer, size_t wanted, size_t *got,
                                 saddle_error *error)
{
    *got = 0;
    if (stream->packed)
        return read_packed(stream, buffer, wanted, got, error);
    size_t left = stream->in->size - stream->place;
    *got = wanted < left ? wanted : left;
    if (buffer != NULL)
        memcpy(buffer, stream->in->bytes + stream->place, *got);
    stream->place += *got;
    return SADDLE_OK;
}

void saddle_stream_close(saddle_stream *stream)
{
    if (stream->packed)
        inflateEnd(&stream->inflate);
    memset(stream, 0, sizeof *stream);
}
