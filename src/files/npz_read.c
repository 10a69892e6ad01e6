/* Reading .npz and .npy files. */
#include "core/memory_limits.h"
#include "files/file.h"
#include "files/npy_header.h"
#include "files/npz.h"
#include "files/zip.h"

/* A .npy file, alone or inside an archive, as a stream of known length. */
typedef struct stream {
    const char *path;
    const char *name;
    bool letters; /* whether text is expected, not numbers */
    FILE *file;
    uint64_t bytes; /* its length */
} stream;

/* Fails with the common beginning of all messages. */
__attribute__((format(printf, 3, 4))) static saddle_status
refuse(const stream *in, saddle_error *error, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    saddle_vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    /* Names and types from the file may contain control characters. */
    for (char *at = why; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    return saddle_refuse(error, "cannot read '%.80s' from '%.300s': %s", in->name, in->path, why);
}

/* Reads exactly `bytes` bytes; false at the end of the stream and on errors, including a wrong checksum. */
static bool take(const stream *in, void *to, size_t bytes)
{
    return fread(to, 1, bytes, in->file) == bytes;
}

/* Returns whether the stream ends here. A member's checksum is verified only at its end. */
static bool ended(const stream *in)
{
    return fgetc(in->file) == EOF && !ferror(in->file);
}

/* Converts a little-endian integer to double; false when no double represents it exactly. */
static bool convert_integer(const unsigned char *byte, size_t bytes, bool is_signed, double *out)
{
    const uint64_t most = UINT64_C(1) << 53;
    uint64_t value = 0;
    for (size_t k = 0; k < bytes; k++)
        value |= (uint64_t)byte[k] << 8 * k;
    bool negative = is_signed && (byte[bytes - 1] & 0x80) != 0;
    if (negative) /* two's complement */
        value = (~value + 1) & (UINT64_MAX >> (64 - 8 * bytes));
    *out = negative ? -(double)value : (double)value;
    return value <= most;
}

/* Converts an entry to double; false when no double represents it exactly. */
static bool convert(const saddle_npy_header *header, const char *entry, size_t bytes, double *out)
{
    unsigned char byte[8] = {0};
    float single;
    for (size_t k = 0; k < bytes; k++)
        byte[k] = (unsigned char)entry[header->swapped ? bytes - 1 - k : k];
    if (header->kind != 'f')
        return convert_integer(byte, bytes, header->kind == 'i', out);
    memcpy(&single, byte, sizeof single);
    memcpy(out, byte, sizeof *out);
    if (bytes == sizeof single)
        *out = (double)single;
    return true;
}

/* Reads the numbers; false when the stream ends early. *bad is the first entry that no double
 * represents. Narrower entries are read into the end of the memory and converted from its front, so that
 * writing never overtakes reading. */
static bool take_numbers(const stream *in, const saddle_npy_header *header, double *out,
                         size_t *bad)
{
    size_t bytes = (size_t)header->bytes;
    char *from = (char *)out + (header->count * sizeof *out - bytes);
    *bad = header->count;
    if (!take(in, from, bytes))
        return false;
    if (header->kind == 'f' && bytes == header->count * sizeof *out && !header->swapped)
        return true;
    size_t each = header->count > 0 ? bytes / header->count : 0;
    for (size_t k = 0; k < header->count; k++, from += each)
        if (!convert(header, from, each, &out[k]) && *bad == header->count)
            *bad = k;
    return true;
}

/* Reads the fixed first bytes and the header, as a string. */
static saddle_status take_header(const stream *in, char **out, uint64_t *used, saddle_error *error)
{
    unsigned char fixed[12];
    *out = NULL;
    if (in->bytes < sizeof fixed || !take(in, fixed, 10) ||
        memcmp(fixed, SADDLE_NPY_MAGIC, sizeof SADDLE_NPY_MAGIC - 1) != 0)
        return refuse(in, error,
                      "it is not a NumPy array; give a saved model, or a file that "
                      "numpy.save or numpy.savez wrote");
    if (fixed[6] < 1 || fixed[6] > 3 || fixed[7] != 0)
        return refuse(in, error,
                      "its format is %d.%d, not 1.0, 2.0 or 3.0; save it again with numpy.save",
                      fixed[6], fixed[7]);
    uint64_t length = fixed[8] | (uint64_t)fixed[9] << 8;
    *used = 10;
    if (fixed[6] > 1) {
        if (!take(in, fixed + 10, 2))
            return refuse(in, error, "the file is cut short within its header");
        length |= (uint64_t)fixed[10] << 16 | (uint64_t)fixed[11] << 24;
        *used = 12;
    }
    if (length > in->bytes - *used || length > SADDLE_NPY_HEADER_MOST)
        return refuse(in, error,
                      "its header claims %llu bytes but %llu follow (and at most %d are read)",
                      (unsigned long long)length, (unsigned long long)(in->bytes - *used),
                      SADDLE_NPY_HEADER_MOST);
    SADDLE_OWNED char *text = saddle_alloc((size_t)length + 1, 1);
    SADDLE_TRY(saddle_check_memory(text, "the header of a NumPy file", error));
    *used += length;
    if (!take(in, text, (size_t)length) || strlen(text) != length)
        return refuse(in, error, "its header is damaged");
    *out = saddle_taken(&text);
    return SADDLE_OK;
}

/* The result. */
typedef struct content {
    void *entries; /* double *, or char * of a text */
    saddle_npy_header header;
} content;

/* Appends a code point as UTF-8; NULL when it is invalid in a text. */
static char *put_letter(char *to, uint32_t letter)
{
    bool surrogate = letter >= 0xD800 && letter < 0xE000;
    if (letter == 0 || letter > 0x10FFFF || surrogate)
        return NULL;
    unsigned more = letter >= 0x10000 ? 3 : letter >= 0x800 ? 2 : letter >= 0x80 ? 1 : 0;
    static const unsigned char lead[] = {0x00, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | letter >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (letter >> 6 * more & 0x3F));
    return to;
}

/* Converts zero-padded code points to UTF-8 in place: no character takes more than four bytes, so
 * writing never overtakes reading. False when it is not valid text. */
static bool pack_letters(char *text, size_t bytes)
{
    char *end = text;
    size_t count = bytes / sizeof(uint32_t);
    uint32_t letter;
    for (; count > 0; count--) {
        memcpy(&letter, text + (count - 1) * sizeof letter, sizeof letter);
        if (letter != 0)
            break;
    }
    for (size_t k = 0; end != NULL && k < count; k++) {
        memcpy(&letter, text + k * sizeof letter, sizeof letter);
        end = put_letter(end, letter);
    }
    if (end != NULL)
        *end = '\0';
    return end != NULL;
}

/* Trims the padding of a byte string; the rest must be printable. */
static bool trim_bytes(char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == '\0')
        bytes--;
    for (size_t k = 0; k < bytes; k++)
        if (text[k] < ' ' || text[k] > '~')
            return false;
    return true;
}

/* Reads the entries, which the stream is known to have and which are allocated. */
static saddle_status take_entries(const stream *in, const content *out, saddle_error *error)
{
    const saddle_npy_header *header = &out->header;
    size_t bytes = (size_t)header->bytes;
    size_t bad = header->count;
    bool whole =
        in->letters ? take(in, out->entries, bytes) : take_numbers(in, header, out->entries, &bad);
    if (!whole || !ended(in))
        return refuse(in, error, "its entries are damaged; use an undamaged copy of the file");
    bool (*trim)(char *, size_t) = header->kind == 'S' ? trim_bytes : pack_letters;
    if (in->letters && !trim(out->entries, bytes))
        return refuse(in, error, "it contains invalid characters; save numpy.array('...')");
    if (bad < header->count)
        return refuse(in, error,
                      "entry %zu is above 2^53 and not exactly a double; save it as float64", bad);
    return SADDLE_OK;
}

/* Reads the array after its header; `left` bytes of the stream remain. */
static saddle_status take_array(const stream *in, uint64_t left, content *out, saddle_error *error)
{
    const saddle_npy_header *header = &out->header;
    if (header->bytes != left)
        return refuse(in, error, "its header announces %llu bytes of entries but the file has %llu",
                      (unsigned long long)header->bytes, (unsigned long long)left);
    double bytes = in->letters ? saddle_block_bytes((size_t)header->bytes + 1, 1)
                               : saddle_block_bytes(header->count, sizeof(double));
    char what[200];
    saddle_snprintf(what, sizeof what, "'%.40s' of '%.140s'", in->name, in->path);
    SADDLE_TRY(saddle_need_check_one(bytes, what, "save less", error));
    out->entries = in->letters ? saddle_alloc((size_t)header->bytes + 1, 1)
                               : saddle_alloc_doubles(header->count);
    SADDLE_TRY(saddle_check_memory(out->entries, "an array of a NumPy file", error));
    return take_entries(in, out, error);
}

static saddle_status read_stream(const stream *in, content *out, saddle_error *error)
{
    uint64_t used = 0;
    SADDLE_OWNED char *text = NULL;
    saddle_error why = {0};
    SADDLE_TRY(take_header(in, &text, &used, error));
    if (!saddle_npy_parse(&out->header, text, in->letters, &why))
        SADDLE_TRY(refuse(in, error, "%s", why.message));
    else
        SADDLE_TRY(take_array(in, in->bytes - used, out, error));
    return SADDLE_OK;
}

/* Appends the name of a member to a list of arrays. */
static void list_member(char list[256], const saddle_zip_member *member)
{
    size_t used = strlen(list);
    size_t length = strlen(member->name);
    if (saddle_has_ending(member->name, ".npy"))
        length -= 4;
    saddle_snprintf(list + used, 256 - used, "%s%.*s", used > 0 ? ", " : "",
                    length < 64 ? (int)length : 64, member->name);
}

/*
 * Returns whether the length that an archive claims for a member is possible: deflate expands one byte
 * to 1032 at most, and the compressed bytes must fit into the file.
 */
static bool believable(const saddle_zip_member *member, uint64_t file_bytes)
{
    if (member->packed > file_bytes)
        return false;
    return member->deflated ? member->bytes / 1032 <= member->packed
                            : member->bytes == member->packed;
}

/* Finds the member of an array. */
static saddle_status find_member(const stream *in, saddle_zip *archive, saddle_zip_member *out,
                                 saddle_error *error)
{
    char list[256] = "";
    size_t found = 0;
    saddle_zip_member member;
    SADDLE_OWNED char *name = saddle_format("%s.npy", in->name);
    SADDLE_TRY(saddle_check_memory(name, "a name", error));
    while (saddle_zip_next(archive, &member)) {
        list_member(list, &member);
        if (saddle_zip_is(&member, name) && found++ == 0)
            *out = member;
    }
    /* Readers differ in which of several they take. */
    if (found > 1)
        return refuse(in, error,
                      "the archive contains more than one array of this name; save it again with "
                      "one");
    if (found == 0)
        return refuse(in, error, "there is no such array; the file contains %s",
                      list[0] != '\0' ? list : "none");
    return SADDLE_OK;
}

static saddle_status check_member(const stream *in, const saddle_zip_member *member,
                                  uint64_t file_bytes, saddle_error *error)
{
    if (!member->readable)
        return refuse(in, error,
                      "it is encrypted, or compressed by a method other than deflate; save it with "
                      "numpy.savez or numpy.savez_compressed");
    if (!believable(member, file_bytes))
        return refuse(in, error,
                      "the archive claims %llu bytes for it, more than the file can hold",
                      (unsigned long long)member->bytes);
    if (saddle_expands_too_far(member->packed, member->bytes))
        return refuse(in, error,
                      "it expands to %llu bytes, more than %d times its %llu in the file; save it "
                      "uncompressed, with numpy.savez",
                      (unsigned long long)member->bytes, SADDLE_MOST_EXPANSION,
                      (unsigned long long)member->packed);
    return SADDLE_OK;
}

static saddle_status read_archive(stream *in, FILE *file, uint64_t file_bytes, content *out,
                                  saddle_error *error)
{
    saddle_zip archive;
    saddle_zip_member member;
    /* It begins like an archive, so without the directory at its end it is only part of one. */
    if (!saddle_zip_open(&archive, file, file_bytes))
        return refuse(in, error,
                      "it has no directory at its end; the file is cut short or damaged");
    SADDLE_TRY(find_member(in, &archive, &member, error));
    SADDLE_TRY(check_member(in, &member, file_bytes, error));
    in->bytes = member.bytes;
    in->file = saddle_zip_member_open(file, &member);
    SADDLE_TRY(saddle_check_memory(in->file, "a NumPy file", error));
    saddle_status status = read_stream(in, out, error);
    fclose(in->file);
    return status;
}

/* Reads the wanted array or text; on failure *out is empty. */
static saddle_status read_file(const char *path, const char *name, bool letters, content *out,
                               saddle_error *error)
{
    stream in = {.path = path, .name = name != NULL ? name : "", .letters = letters};
    FILE *file;
    size_t bytes;
    char first[4] = {0};
    *out = (content){.entries = NULL};
    SADDLE_TRY(saddle_reading_open_regular(&file, path, "an .npz or .npy file", &bytes, error));
    saddle_status status;
    if (fread(first, 1, 4, file) == 4 && memcmp(first, "PK", 2) == 0) {
        status = read_archive(&in, file, bytes, out, error);
    } else {
        rewind(file);
        in.file = file;
        in.bytes = bytes;
        status = read_stream(&in, out, error);
    }
    fclose(file);
    if (status != SADDLE_OK) {
        saddle_free(out->entries);
        out->entries = NULL;
    }
    return status;
}

/* Converts an array from column order to row order. */
static saddle_status transpose(content *of, saddle_error *error)
{
    size_t rows = of->header.shape[0];
    size_t columns = of->header.shape[1];
    SADDLE_TRY(saddle_need_check_one(saddle_block_bytes(of->header.count, sizeof(double)),
                                     "an array in Fortran order",
                                     "save numpy.ascontiguousarray of it", error));
    double *by_row = saddle_alloc_doubles(of->header.count);
    SADDLE_TRY(saddle_check_memory(by_row, "an array of a NumPy file", error));
    const double *by_column = of->entries;
    for (size_t column = 0; column < columns; column++)
        for (size_t row = 0; row < rows; row++)
            by_row[row * columns + column] = by_column[column * rows + row];
    saddle_free(of->entries);
    of->entries = by_row;
    return SADDLE_OK;
}

saddle_status saddle_numpy_read(const char *path, const char *name, double **out, size_t *rank,
                                size_t shape[2], saddle_error *error)
{
    content found;
    saddle_status status = read_file(path, name, false, &found, error);
    SADDLE_THEN_IF(status, found.header.fortran, transpose(&found, error));
    *out = NULL;
    if (status != SADDLE_OK) {
        saddle_free(found.entries);
        return status;
    }
    *out = found.entries;
    *rank = found.header.rank;
    memcpy(shape, found.header.shape, sizeof found.header.shape);
    return SADDLE_OK;
}

saddle_status saddle_numpy_read_text(const char *path, const char *name, char **out,
                                     saddle_error *error)
{
    content found;
    *out = NULL;
    SADDLE_TRY(read_file(path, name, true, &found, error));
    *out = found.entries;
    return SADDLE_OK;
}

bool saddle_numpy_has(const char *path, const char *name)
{
    FILE *file;
    size_t bytes;
    saddle_zip archive;
    saddle_zip_member member;
    bool found = false;
    char wanted[64];
    saddle_snprintf(wanted, sizeof wanted, "%s.npy", name);
    if (saddle_reading_open_regular(&file, path, "an .npz file", &bytes, NULL) != SADDLE_OK)
        return false;
    if (saddle_zip_open(&archive, file, bytes))
        while (!found && saddle_zip_next(&archive, &member))
            found = saddle_zip_is(&member, wanted);
    fclose(file);
    return found;
}
