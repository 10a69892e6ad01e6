#include "files/zip.h"

#include <zlib.h>

#include "core/memory.h"

/* What records begin with, and their sizes without names and other fields of variable length. */
enum { HEADER = 0x04034b50, ENTRY = 0x02014b50, END = 0x06054b50 };
enum { END_64 = 0x06064b50, PLACE_64 = 0x07064b50 };
enum {
    HEADER_BYTES = 30,
    ENTRY_BYTES = 46,
    END_BYTES = 22,
    END_64_BYTES = 56,
    PLACE_64_BYTES = 20
};
enum { CHECKSUM_AT = 14, STORED = 0, DEFLATED = 8 };

/* From this value on, a field of 4 bytes is in a field of 8 bytes elsewhere. */
static const uint64_t LARGE = UINT32_MAX;

/* ---- reading --------------------------------------------------------------------------------- */

static uint64_t get(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t k = 0; k < bytes; k++)
        value |= (uint64_t)at[k] << 8 * k;
    return value;
}

static bool seek(FILE *file, uint64_t offset)
{
    return offset <= INT64_MAX && fseeko(file, (off_t)offset, SEEK_SET) == 0;
}

/* Reads `bytes` bytes at an offset. */
static bool take(FILE *file, uint64_t offset, unsigned char *to, size_t bytes)
{
    return seek(file, offset) && fread(to, 1, bytes, file) == bytes;
}

/* Finds the record that ends an archive; a comment of up to 65535 bytes follows it, and possibly other bytes. */
static bool find_end(FILE *file, uint64_t bytes, uint64_t *offset, unsigned char end[END_BYTES])
{
    unsigned char tail[END_BYTES + UINT16_MAX];
    size_t count = bytes < sizeof tail ? (size_t)bytes : sizeof tail;
    if (count < END_BYTES || !take(file, bytes - count, tail, count))
        return false;
    for (size_t k = count - END_BYTES + 1; k-- > 0;)
        if (get(tail + k, 4) == END && get(tail + k + 20, 2) <= count - END_BYTES - k) {
            memcpy(end, tail + k, END_BYTES);
            *offset = bytes - count + k;
            return true;
        }
    return false;
}

bool saddle_zip_open(saddle_zip *out, FILE *file, uint64_t bytes)
{
    unsigned char end[END_BYTES];
    unsigned char place[PLACE_64_BYTES];
    unsigned char large[END_64_BYTES];
    uint64_t at;
    *out = (saddle_zip){.file = file};
    if (!find_end(file, bytes, &at, end))
        return false;
    uint64_t first = get(end + 16, 4);
    uint64_t size = get(end + 12, 4);
    out->count = get(end + 10, 2);
    if (at >= PLACE_64_BYTES && take(file, at - PLACE_64_BYTES, place, sizeof place) &&
        get(place, 4) == PLACE_64) {
        if (!take(file, get(place + 8, 8), large, sizeof large) || get(large, 4) != END_64)
            return false;
        out->count = get(large + 32, 8);
        size = get(large + 40, 8);
        first = get(large + 48, 8);
    }
    return first <= at && size <= at - first && out->count <= size / ENTRY_BYTES &&
           seek(file, first);
}

/* Takes the fields of 8 bytes that replace those of 4 bytes from what follows a name. */
static bool take_large(saddle_zip_member *out, const unsigned char *extra, size_t bytes)
{
    uint64_t *field[] = {&out->bytes, &out->packed, &out->offset};
    size_t k = 0;
    while (bytes >= 4) {
        size_t length = (size_t)get(extra + 2, 2);
        if (length > bytes - 4)
            return false;
        for (size_t at = 4; get(extra, 2) == 1 && at + 8 <= 4 + length; at += 8) {
            while (k < 3 && *field[k] != LARGE)
                k++;
            if (k < 3)
                *field[k++] = get(extra + at, 8);
        }
        extra += 4 + length;
        bytes -= 4 + length;
    }
    return true;
}

bool saddle_zip_next(saddle_zip *zip, saddle_zip_member *out)
{
    unsigned char entry[ENTRY_BYTES];
    unsigned char rest[2 * UINT16_MAX];
    *out = (saddle_zip_member){.name = ""};
    if (zip->count == 0 || fread(entry, 1, sizeof entry, zip->file) != sizeof entry ||
        get(entry, 4) != ENTRY)
        return false;
    zip->count--;
    uint64_t method = get(entry + 10, 2);
    size_t name = (size_t)get(entry + 28, 2);
    size_t extra = (size_t)get(entry + 30, 2);
    out->name_bytes = name;
    out->checksum = (uint32_t)get(entry + 16, 4);
    out->packed = get(entry + 20, 4);
    out->bytes = get(entry + 24, 4);
    out->offset = get(entry + 42, 4);
    out->deflated = method == DEFLATED;
    out->readable = (method == STORED || method == DEFLATED) && (entry[8] & 1) == 0;
    if (fread(rest, 1, name + extra, zip->file) != name + extra ||
        fseeko(zip->file, (off_t)get(entry + 32, 2), SEEK_CUR) != 0)
        return false;
    memcpy(out->name, rest, name < sizeof out->name ? name : sizeof out->name - 1);
    return take_large(out, rest + name, extra);
}

bool saddle_zip_is(const saddle_zip_member *member, const char *name)
{
    return member->name_bytes < sizeof member->name && strlen(name) == member->name_bytes &&
           memcmp(name, member->name, member->name_bytes) == 0;
}

/* A member that is read. */
typedef struct reading {
    FILE *file;
    uint64_t packed; /* bytes that have not been read */
    uint64_t bytes;  /* bytes that have not been delivered */
    uint32_t checksum;
    uint32_t wanted;
    bool deflated;
    z_stream stream;
    unsigned char input[4096];
} reading;

/* Reads at most `most` bytes of what is in the archive. */
static size_t read_packed(reading *of, void *to, size_t most)
{
    size_t count = fread(to, 1, of->packed < most ? (size_t)of->packed : most, of->file);
    of->packed -= count;
    return count;
}

/* Unpacks at most `most` bytes; fewer if the member ends or is damaged. */
static size_t unpack(reading *of, char *to, size_t most)
{
    of->stream.next_out = (unsigned char *)to;
    of->stream.avail_out = (unsigned)most;
    for (int code = Z_OK; code == Z_OK && of->stream.avail_out > 0;) {
        if (of->stream.avail_in == 0) {
            of->stream.next_in = of->input;
            of->stream.avail_in = (unsigned)read_packed(of, of->input, sizeof of->input);
        }
        code = inflate(&of->stream, Z_NO_FLUSH);
    }
    return most - of->stream.avail_out;
}

static ssize_t read_member(void *state, char *to, size_t bytes)
{
    reading *of = state;
    size_t most = bytes < UINT_MAX ? bytes : UINT_MAX;
    most = of->bytes < most ? (size_t)of->bytes : most;
    size_t count = of->deflated ? unpack(of, to, most) : read_packed(of, to, most);
    of->bytes -= count;
    of->checksum = (uint32_t)crc32_z(of->checksum, (unsigned char *)to, count);
    bool damaged = of->bytes > 0;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* there, contents are changed, and still to be read */
    damaged = damaged || of->checksum != of->wanted;
#endif
    if (count == 0 && damaged)
        return -1;
    return (ssize_t)count;
}

static int close_member(void *state)
{
    reading *of = state;
    if (of->deflated)
        inflateEnd(&of->stream);
    saddle_free(of);
    return 0;
}

FILE *saddle_zip_member_open(FILE *file, const saddle_zip_member *member)
{
    unsigned char header[HEADER_BYTES];
    reading *of = saddle_alloc(1, sizeof *of);
    if (of == NULL)
        return NULL;
    *of = (reading){.file = file, .bytes = member->bytes, .wanted = member->checksum};
    if (take(file, member->offset, header, sizeof header) && get(header, 4) == HEADER &&
        fseeko(file, (off_t)(get(header + 26, 2) + get(header + 28, 2)), SEEK_CUR) == 0)
        of->packed = member->packed;
    of->deflated = member->deflated && inflateInit2(&of->stream, -MAX_WBITS) == Z_OK;
    FILE *out =
        of->deflated == member->deflated
            ? fopencookie(of, "r",
                          (cookie_io_functions_t){.read = read_member, .close = close_member})
            : NULL;
    if (out == NULL)
        close_member(of);
    return out;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct field {
    uint64_t value;
    size_t bytes;
} field;

static void put(FILE *stream, const field *fields, size_t count)
{
    for (size_t k = 0; k < count; k++)
        for (size_t byte = 0; byte < fields[k].bytes; byte++)
            putc((int)(fields[k].value >> 8 * byte & 0xFF), stream);
}
#define PUT(stream, ...) \
    put(stream, (const field[]){__VA_ARGS__}, sizeof(const field[]){__VA_ARGS__} / sizeof(field))

static uint64_t least(uint64_t value)
{
    return value < LARGE ? value : LARGE;
}

/* The fields that headers and entries share. Members have a fixed date, 1980-01-01 (the earliest), so that the same
 * arrays give the same bytes. */
static void put_facts(FILE *stream, const saddle_zip_member *of, bool large, size_t extra)
{
    PUT(stream, {large ? 45 : 10, 2}, {0, 2}, {STORED, 2}, {0, 2}, {0x21, 2}, {of->checksum, 4},
        {least(of->bytes), 4}, {least(of->bytes), 4}, {of->name_bytes, 2}, {extra, 2});
}

void saddle_zip_write_header(FILE *stream, const saddle_zip_member *member)
{
    bool large = member->bytes >= LARGE;
    PUT(stream, {HEADER, 4});
    put_facts(stream, member, large, large ? 20 : 0);
    fwrite(member->name, 1, member->name_bytes, stream);
    if (large)
        PUT(stream, {1, 2}, {16, 2}, {member->bytes, 8}, {member->bytes, 8});
}

void saddle_zip_set_checksum(FILE *stream, const saddle_zip_member *member)
{
    /* A failure leaves the stream's error flag set, or a wrong checksum, which readers find. */
    if (seek(stream, member->offset + CHECKSUM_AT))
        PUT(stream, {member->checksum, 4});
    fseeko(stream, 0, SEEK_END);
}

static void put_entry(FILE *stream, const saddle_zip_member *of)
{
    size_t extra = (of->bytes >= LARGE ? 16U : 0) + (of->offset >= LARGE ? 8U : 0);
    PUT(stream, {ENTRY, 4}, {0x033F, 2}); /* version 6.3 of the format, on Unix */
    put_facts(stream, of, extra > 0, extra > 0 ? extra + 4 : 0);
    PUT(stream, {0, 2}, {0, 2}, {0, 2}, {UINT32_C(0100666) << 16, 4}, {least(of->offset), 4});
    fwrite(of->name, 1, of->name_bytes, stream);
    if (extra > 0)
        PUT(stream, {1, 2}, {(uint64_t)extra, 2});
    if (of->bytes >= LARGE)
        PUT(stream, {of->bytes, 8}, {of->bytes, 8});
    if (of->offset >= LARGE)
        PUT(stream, {of->offset, 8});
}

void saddle_zip_write_directory(FILE *stream, const saddle_zip_member *member, size_t count)
{
    uint64_t first = (uint64_t)ftello(stream);
    for (size_t k = 0; k < count; k++)
        put_entry(stream, &member[k]);
    uint64_t end = (uint64_t)ftello(stream);
    uint64_t few = count < UINT16_MAX ? count : UINT16_MAX;
    if (count >= UINT16_MAX || first >= LARGE || end - first >= LARGE) {
        PUT(stream, {END_64, 4}, {END_64_BYTES - 12, 8}, {45, 2}, {45, 2}, {0, 4}, {0, 4},
            {count, 8}, {count, 8}, {end - first, 8}, {first, 8});
        PUT(stream, {PLACE_64, 4}, {0, 4}, {end, 8}, {1, 4});
    }
    PUT(stream, {END, 4}, {0, 2}, {0, 2}, {few, 2}, {few, 2}, {least(end - first), 4},
        {least(first), 4}, {0, 2});
}
