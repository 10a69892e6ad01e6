#include "files/npz.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <zip.h>

#include "core/memory.h"
#include "core/status.h"
#include "files/file.h"
#include "files/npy_header.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they lie in memory");
_Static_assert(sizeof(double) == 8, "'<f8' is a double");

/* How every .npy file begins. */
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* ---------------------------------------------------------------- writing */

/* What is written for one array: borrowed numbers, rows that are fetched, or the code points of a
 * text. It is read once, from its begin to its end. */
typedef struct payload {
    const void *data;
    size_t bytes;
    uint32_t *letters; /* owned */
    char type[32];     /* such as <f8 */
    char *head;        /* what comes before it in a .npy file; owned */
    size_t head_bytes;
    const saddle_array *array;
    double *row;  /* the row fetched last, where rows are fetched; owned */
    size_t taken; /* bytes read so far, those of the head included */
} payload;

/* The next code point of a UTF-8 text; U+FFFD for a byte that is not part of any. */
static uint32_t next_letter(const unsigned char **text)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = *text;
    unsigned more = at[0] >= 0xF0 ? 3 : at[0] >= 0xE0 ? 2 : at[0] >= 0xC0 ? 1 : 0;
    uint32_t letter = more == 0 ? at[0] : at[0] & (0x3Fu >> more);
    unsigned k = 1;
    while (k <= more && (at[k] & 0xC0) == 0x80)
        letter = letter << 6 | (at[k++] & 0x3F);
    bool surrogate = letter >= 0xD800 && letter < 0xE000;
    bool whole = k == more + 1 && at[0] < 0xF8 && (at[0] < 0x80 || more > 0);
    *text = at + (whole ? k : 1);
    return whole && letter >= least[more] && letter <= 0x10FFFF && !surrogate ? letter : 0xFFFD;
}

static saddle_status prepare_text(payload *out, const char *text, saddle_error *error)
{
    /* NumPy pads with zeros and has no text of length 0. */
    size_t most = strlen(text) + 1;
    size_t count = 0;
    out->letters = saddle_alloc(most, sizeof *out->letters);
    if (out->letters == NULL)
        return saddle_no_memory(error, "a text in a NumPy file");
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';)
        out->letters[count++] = next_letter(&at);
    count = count > 0 ? count : 1;
    snprintf(out->type, sizeof out->type, "<U%zu", count);
    out->data = out->letters;
    out->bytes = count * sizeof *out->letters;
    return SADDLE_OK;
}

static bool plain_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return name != NULL && *name != '\0' && name[strspn(name, allowed)] == '\0' &&
           strlen(name) < SADDLE_NPY_NAME_SIZE;
}

static saddle_status prepare(payload *out, const saddle_array *array, saddle_error *error)
{
    if (!plain_name(array->name) || array->rank > 2 ||
        (array->kind == SADDLE_ARRAY_TEXT && array->rank != 0) ||
        (array->fetch != NULL && (array->kind != SADDLE_ARRAY_REAL || array->rank != 2)))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "array '%.80s' of rank %zu cannot be written; names are of letters, "
                           "digits and _, ranks at most 2, 0 for texts and 2 for fetched rows",
                           array->name != NULL ? array->name : "", array->rank);
    if (array->kind == SADDLE_ARRAY_TEXT)
        return prepare_text(out, array->data, error);
    size_t count = 1;
    for (size_t k = 0; k < array->rank; k++)
        count *= array->shape[k];
    out->array = array;
    out->data = array->data;
    out->bytes = count * 8;
    if (array->fetch != NULL) {
        out->row = saddle_alloc_doubles(array->shape[1]);
        if (out->row == NULL)
            return saddle_no_memory(error, "a row of a NumPy file");
    }
    snprintf(out->type, sizeof out->type, "%s", array->kind == SADDLE_ARRAY_REAL ? "<f8" : "<u8");
    return SADDLE_OK;
}

static void release(payload *all, size_t count)
{
    for (size_t k = 0; all != NULL && k < count; k++) {
        saddle_free(all[k].letters);
        saddle_free(all[k].head);
        saddle_free(all[k].row);
    }
    saddle_free(all);
}

/* The payloads of all arrays, or NULL. Free with release(). */
static payload *prepare_all(const saddle_array *array, size_t count, saddle_status *status,
                            saddle_error *error)
{
    *status = SADDLE_OK;
    if (count == 0) {
        *status = saddle_fail(error, SADDLE_CHECK_FAILED, "a NumPy file needs at least one array");
        return NULL;
    }
    payload *all = saddle_alloc(count, sizeof *all);
    if (all == NULL) {
        *status = saddle_no_memory(error, "a NumPy file");
        return NULL;
    }
    for (size_t k = 0; k < count; k++) {
        *status = prepare(&all[k], &array[k], error);
        for (size_t other = 0; *status == SADDLE_OK && other < k; other++)
            if (strcmp(array[other].name, array[k].name) == 0)
                *status =
                    saddle_fail(error, SADDLE_CHECK_FAILED,
                                "two arrays are named '%s'; give each its own name", array[k].name);
        if (*status != SADDLE_OK) {
            release(all, count);
            return NULL;
        }
    }
    return all;
}

/* "(3, 4)" as Python writes it. */
static void shape_text(char text[64], const saddle_array *array)
{
    if (array->rank == 0)
        snprintf(text, 64, "()");
    else if (array->rank == 1)
        snprintf(text, 64, "(%zu,)", array->shape[0]);
    else
        snprintf(text, 64, "(%zu, %zu)", array->shape[0], array->shape[1]);
}

/*
 * All that comes before the entries of a .npy file, in fresh memory, or NULL. It is padded with
 * blanks to a multiple of 64 bytes so that the entries can be mapped into memory.
 */
static char *preamble(const char *descr, const char *shape, size_t *bytes)
{
    char *body =
        saddle_format("{'descr': %s, 'fortran_order': False, 'shape': %s, }", descr, shape);
    if (body == NULL)
        return NULL;
    size_t length = strlen(body);
    bool large = length > UINT16_MAX - 2 * SADDLE_ALIGNMENT;
    size_t fixed = large ? 12 : 10;
    size_t total = (fixed + length + 1 + 63) / 64 * 64;
    char *text = saddle_alloc(total + 1, 1);
    if (text != NULL) {
        size_t header = total - fixed;
        memcpy(text, magic, sizeof magic);
        text[6] = large ? 2 : 1;
        for (size_t k = 8; k < fixed; k++)
            text[k] = (char)(header >> 8 * (k - 8) & 0xFF);
        snprintf(text + fixed, header + 1, "%-*s\n", (int)(header - 1), body);
        *bytes = total;
    }
    saddle_free(body);
    return text;
}

/* The next bytes of what a payload's array holds, at most `most`: a piece of what is in memory, or of
 * one row. */
static size_t next_piece(payload *body, size_t most, const char **piece)
{
    size_t at = body->taken - body->head_bytes;
    size_t left = body->bytes - at;
    if (body->row == NULL) {
        *piece = left > 0 ? (const char *)body->data + at : NULL;
    } else {
        size_t width = body->array->shape[1] * sizeof(double);
        if (left > 0 && at % width == 0)
            body->array->fetch(body->array->context, at / width, body->row);
        left = left > 0 ? width - at % width : 0;
        *piece = left > 0 ? (const char *)body->row + at % width : NULL;
    }
    return left < most ? left : most;
}

/* Read a payload, its head first: at most `most` bytes; 0 at its end. */
static size_t read_payload(payload *body, char *to, size_t most)
{
    size_t done = 0;
    while (done < most) {
        const char *piece = body->head + body->taken;
        size_t count = body->taken < body->head_bytes ? body->head_bytes - body->taken : 0;
        count = count < most - done ? count : most - done;
        if (count == 0)
            count = next_piece(body, most - done, &piece);
        if (count == 0)
            break;
        memcpy(to + done, piece, count);
        body->taken += count;
        done += count;
    }
    return done;
}

/* What libzip asks of a member while the archive is written. */
static zip_int64_t answer(void *state, void *to, zip_uint64_t bytes, zip_source_cmd_t command)
{
    payload *body = state;
    zip_stat_t *facts = to;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        /* A second reading could not fetch the rows again. */
        return body->taken == 0 ? 0 : -1;
    case ZIP_SOURCE_READ:
        return (zip_int64_t)read_payload(body, to, (size_t)bytes);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_STAT:
        zip_stat_init(facts);
        facts->valid = ZIP_STAT_SIZE;
        facts->size = body->head_bytes + body->bytes;
        return (zip_int64_t)sizeof *facts;
    case ZIP_SOURCE_ERROR: {
        const int code[2] = {ZIP_ER_INTERNAL, 0};
        memcpy(to, code, sizeof code);
        return (zip_int64_t)sizeof code;
    }
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    default:
        return -1;
    }
}

/* Add one array to an archive; the payload must live until the archive is closed. */
static bool add_member(zip_t *archive, payload *body, const char *name)
{
    char *member = saddle_format("%s.npy", name);
    zip_source_t *source = zip_source_function(archive, answer, body);
    zip_int64_t index = -1;
    if (member != NULL && source != NULL)
        index = zip_file_add(archive, member, source, ZIP_FL_ENC_UTF_8);
    if (index < 0)
        zip_source_free(source);
    saddle_free(member);
    /* A fixed date (1980-01-01, the first there is) lets the same arrays give the same bytes. */
    return index >= 0 &&
           zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(archive, (zip_uint64_t)index, 0, 0x21, 0) == 0;
}

static bool add_members(zip_t *archive, const saddle_array *array, payload *body, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        char descr[40];
        char shape[64];
        snprintf(descr, sizeof descr, "'%s'", body[k].type);
        shape_text(shape, &array[k]);
        body[k].head = preamble(descr, shape, &body[k].head_bytes);
        if (body[k].head == NULL || !add_member(archive, &body[k], array[k].name))
            return false;
    }
    return true;
}

/* Why an archive could not be written. Without a reason of libzip's it was our memory. */
static saddle_status archive_failed(const char *path, zip_error_t *why, saddle_error *error)
{
    int code = zip_error_code_zip(why);
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) {
        saddle_no_memory(error, "a NumPy file");
        return SADDLE_NO_MEMORY;
    }
    return saddle_fail(error, SADDLE_IO, "cannot write '%s': %s; is the disk full?", path,
                       zip_error_strerror(why));
}

/* Fill the file at `place`, which is to become `path`, with an archive of the arrays. */
static saddle_status write_archive(const char *place, const char *path, const saddle_array *array,
                                   payload *body, size_t count, saddle_error *error)
{
    int code = ZIP_ER_MEMORY;
    zip_t *archive = zip_open(place, ZIP_CREATE | ZIP_TRUNCATE, &code);
    saddle_status status = SADDLE_OK;
    if (archive == NULL) {
        zip_error_t why;
        zip_error_init_with_code(&why, code);
        status = archive_failed(path, &why, error);
        zip_error_fini(&why);
    } else if (!add_members(archive, array, body, count) || zip_close(archive) != 0) {
        status = archive_failed(path, zip_get_error(archive), error);
        zip_discard(archive);
    }
    return status;
}

/* Copy a payload without a head to a stream; a short write shows when the stream is committed. */
static void copy_payload(payload *body, FILE *stream)
{
    const char *piece;
    for (size_t count = next_piece(body, SIZE_MAX, &piece); count > 0;
         count = next_piece(body, SIZE_MAX, &piece)) {
        fwrite(piece, 1, count, stream);
        body->taken += count;
    }
}

saddle_status saddle_npz_write(const char *path, const saddle_array *array, size_t count,
                               saddle_error *error)
{
    saddle_output out = {0};
    saddle_status status;
    payload *body = prepare_all(array, count, &status, error);
    if (body == NULL)
        return status;
    status = saddle_output_open(&out, path, error);
    if (status == SADDLE_OK)
        status = write_archive(out.temporary, path, array, body, count, error);
    /* libzip has put a new file in place of ours: hold on to that one, so that it is synced. */
    if (status == SADDLE_OK) {
        out.stream = freopen(out.temporary, "r+e", out.stream);
        if (out.stream == NULL)
            status = saddle_fail(error, SADDLE_IO, "cannot write '%s': %s; is the disk full?", path,
                                 strerror(errno));
    }
    if (status == SADDLE_OK)
        status = saddle_output_commit(&out, error);
    saddle_output_discard(&out);
    release(body, count);
    return status;
}

/* "[('x', '<f8', (3,)), ('seed', '<u8')]"; NULL when memory is short. */
static char *record_descr(const saddle_array *array, const payload *body, size_t count)
{
    char *all = saddle_strdup("[");
    for (size_t k = 0; all != NULL && k < count; k++) {
        char shape[64] = "";
        if (array[k].rank > 0)
            shape_text(shape, &array[k]);
        char *longer =
            saddle_format("%s('%s', '%s'%s%s)%s", all, array[k].name, body[k].type,
                          array[k].rank > 0 ? ", " : "", shape, k + 1 < count ? ", " : "");
        saddle_free(all);
        all = longer;
    }
    char *closed = all != NULL ? saddle_format("%s]", all) : NULL;
    saddle_free(all);
    return closed;
}

saddle_status saddle_npy_write_record(const char *path, const saddle_array *array, size_t count,
                                      saddle_error *error)
{
    saddle_output out = {0};
    saddle_status status;
    size_t bytes = 0;
    char *head = NULL;
    payload *body = prepare_all(array, count, &status, error);
    if (body == NULL)
        return status;
    char *descr = record_descr(array, body, count);
    if (descr != NULL)
        head = preamble(descr, "()", &bytes);
    if (head == NULL)
        status = saddle_no_memory(error, "a NumPy file");
    if (status == SADDLE_OK)
        status = saddle_output_open(&out, path, error);
    if (status == SADDLE_OK) {
        fwrite(head, 1, bytes, out.stream);
        for (size_t k = 0; k < count; k++)
            copy_payload(&body[k], out.stream);
        status = saddle_output_commit(&out, error);
    }
    saddle_output_discard(&out);
    saddle_free(head);
    saddle_free(descr);
    release(body, count);
    return status;
}

/* ---------------------------------------------------------------- reading */

/* A .npy file on its own or inside an archive, as a stream of known length. */
typedef struct stream {
    const char *path;
    const char *name;
    bool letters;       /* whether a text is wanted, not numbers */
    FILE *file;         /* one of the two */
    zip_file_t *member; /* is NULL */
    uint64_t bytes;     /* its length */
} stream;

/* Every refusal begins alike. */
__attribute__((format(printf, 3, 4))) static saddle_status
refuse(const stream *in, saddle_error *error, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    /* Names and types from the file may hold anything; a message is one line. */
    for (char *at = why; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    return saddle_fail(error, SADDLE_BAD_INPUT, "cannot read '%.80s' from '%.300s': %s", in->name,
                       in->path, why);
}

/* Exactly so many bytes; false at the end of the stream and on errors, a wrong checksum too. */
static bool take(const stream *in, void *to, size_t bytes)
{
    if (in->file != NULL)
        return fread(to, 1, bytes, in->file) == bytes;
    for (size_t done = 0; done < bytes;) {
        zip_int64_t got = zip_fread(in->member, (char *)to + done, bytes - done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool skip(const stream *in, uint64_t bytes)
{
    char waste[4096];
    while (bytes > 0) {
        size_t part = bytes < sizeof waste ? (size_t)bytes : sizeof waste;
        if (!take(in, waste, part))
            return false;
        bytes -= part;
    }
    return true;
}

/* Whether the stream ends here; libzip compares the checksum of a member only at its end. */
static bool ended(const stream *in)
{
    char byte;
    if (in->file != NULL)
        return fread(&byte, 1, 1, in->file) == 0 && !ferror(in->file);
    return zip_fread(in->member, &byte, 1) == 0;
}

/* Read the numbers; false when the stream ends early. *bad is an entry that no double holds. */
static bool take_numbers(const stream *in, saddle_npy_type type, size_t count, double *out,
                         size_t *bad)
{
    *bad = count;
    if (type == SADDLE_NPY_F8)
        return take(in, out, count * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        float single;
        int32_t narrow;
        int64_t wide;
        uint64_t natural;
        switch (type) {
        case SADDLE_NPY_F4:
            if (!take(in, &single, sizeof single))
                return false;
            out[k] = (double)single;
            break;
        case SADDLE_NPY_I4:
            if (!take(in, &narrow, sizeof narrow))
                return false;
            out[k] = (double)narrow;
            break;
        case SADDLE_NPY_U8:
            if (!take(in, &natural, sizeof natural))
                return false;
            out[k] = (double)natural;
            if (*bad == count && natural > UINT64_C(1) << 53)
                *bad = k;
            break;
        default:
            if (!take(in, &wide, sizeof wide))
                return false;
            out[k] = (double)wide;
            if (*bad == count && (wide > INT64_C(1) << 53 || wide < -(INT64_C(1) << 53)))
                *bad = k;
        }
    }
    return true;
}

/* The fixed first bytes and the header, as a text of its own. */
static saddle_status take_header(const stream *in, char **out, uint64_t *used, saddle_error *error)
{
    unsigned char fixed[12];
    *out = NULL;
    if (in->bytes < sizeof fixed || !take(in, fixed, 10) || memcmp(fixed, magic, sizeof magic) != 0)
        return refuse(in, error,
                      "it is no NumPy array; give a file that saddle run --model, numpy.save "
                      "or numpy.savez wrote");
    if (fixed[6] < 1 || fixed[6] > 3 || fixed[7] != 0)
        return refuse(in, error, "its format is %d.%d; 1.0, 2.0 and 3.0 can be read", fixed[6],
                      fixed[7]);
    uint64_t length = fixed[8] | (uint64_t)fixed[9] << 8;
    *used = 10;
    if (fixed[6] > 1) {
        if (!take(in, fixed + 10, 2))
            return refuse(in, error, "it ends within its header; the file is cut short");
        length |= (uint64_t)fixed[10] << 16 | (uint64_t)fixed[11] << 24;
        *used = 12;
    }
    if (length > in->bytes - *used || length > SADDLE_NPY_HEADER_MOST)
        return refuse(in, error,
                      "its header claims %llu bytes but %llu follow (and at most %d are read)",
                      (unsigned long long)length, (unsigned long long)(in->bytes - *used),
                      SADDLE_NPY_HEADER_MOST);
    char *text = saddle_alloc((size_t)length + 1, 1);
    if (text == NULL)
        return saddle_no_memory(error, "the header of a NumPy file");
    *used += length;
    if (!take(in, text, (size_t)length) || strlen(text) != length) {
        saddle_free(text);
        return refuse(in, error, "its header is damaged");
    }
    *out = text;
    return SADDLE_OK;
}

/* What is read: numbers with their shape, or a text. */
typedef struct content {
    double *numbers;
    char *text;
    size_t rank;
    size_t shape[2];
} content;

/* Append a code point to a text; NULL when it is none that a text may hold. */
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

/* From code points, padded with zeros, to UTF-8 in the same memory: no letter takes more than its
 * four bytes, so that what is written never overtakes what is read. False when it is no text. */
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

/* Read the entries, which have been found to be there, into whichever of the two has memory. */
static saddle_status take_entries(const stream *in, const saddle_npy_header *header, content *out,
                                  saddle_error *error)
{
    static const char damaged[] = "its entries are damaged; the file is not as it was written";
    uint64_t behind = header->total - header->offset - header->bytes;
    size_t bad = header->count;
    bool whole = skip(in, header->offset);
    if (out->numbers == NULL)
        whole = whole && take(in, out->text, (size_t)header->bytes);
    else
        whole = whole && take_numbers(in, header->type, header->count, out->numbers, &bad);
    if (!whole || !skip(in, behind) || !ended(in))
        return refuse(in, error, "%s", damaged);
    if (out->numbers == NULL && !pack_letters(out->text, (size_t)header->bytes))
        return refuse(in, error, "it holds what is no letter; save numpy.array('...')");
    if (bad < header->count)
        return refuse(in, error, "entry %zu is beyond 2^53 and no double; save it as float64", bad);
    return SADDLE_OK;
}

/* Read the array whose header is known; `used` bytes of the stream lie behind. */
static saddle_status take_array(const stream *in, const saddle_npy_header *header, uint64_t used,
                                content *out, saddle_error *error)
{
    uint64_t left = in->bytes - used;
    if (header->total != left)
        return refuse(in, error, "its header announces %llu bytes of entries but the file has %llu",
                      (unsigned long long)header->total, (unsigned long long)left);
    if (in->letters)
        out->text = saddle_alloc((size_t)header->bytes + 1, 1);
    else
        out->numbers = saddle_alloc_doubles(header->count);
    if (out->text == NULL && out->numbers == NULL) {
        saddle_no_memory(error, "an array of a NumPy file");
        return SADDLE_NO_MEMORY;
    }
    saddle_status status = take_entries(in, header, out, error);
    if (status != SADDLE_OK) {
        saddle_free(out->text);
        saddle_free(out->numbers);
        *out = (content){.text = NULL};
    }
    return status;
}

static saddle_status read_stream(const stream *in, content *out, saddle_error *error)
{
    uint64_t used = 0;
    char *text = NULL;
    saddle_error why = {0};
    saddle_npy_header header;
    saddle_status status = take_header(in, &text, &used, error);
    if (status != SADDLE_OK)
        return status;
    if (!saddle_npy_parse(&header, text, in->name, in->letters, &why))
        status = refuse(in, error, "%s", why.message);
    else
        status = take_array(in, &header, used, out, error);
    if (status == SADDLE_OK) {
        out->rank = header.rank;
        out->shape[0] = header.shape[0];
        out->shape[1] = header.shape[1];
    }
    saddle_free(text);
    return status;
}

/* Say what an archive holds instead. */
static saddle_status refuse_missing(const stream *in, zip_t *archive, saddle_error *error)
{
    char list[256] = "";
    size_t used = 0;
    zip_int64_t count = zip_get_num_entries(archive, 0);
    for (zip_int64_t k = 0; k < count && used < sizeof list; k++) {
        const char *member = zip_get_name(archive, (zip_uint64_t)k, 0);
        size_t length = member != NULL ? strlen(member) : 0;
        if (length > 4 && strcmp(member + length - 4, ".npy") == 0)
            length -= 4;
        int more = snprintf(list + used, sizeof list - used, "%s%.*s", used > 0 ? ", " : "",
                            length < 64 ? (int)length : 64, member != NULL ? member : "");
        used += more > 0 ? (size_t)more : 0;
    }
    return refuse(in, error, "there is no such array; the file holds %s",
                  list[0] != '\0' ? list : "none");
}

/*
 * The length an archive claims for a member is only believed as far as its packed bytes, which lie
 * in the file, can bear it: deflate turns one byte into 1032 at the very most.
 */
static bool believable(const zip_stat_t *member, uint64_t file_bytes)
{
    if (member->comp_size > file_bytes)
        return false;
    return member->comp_method == ZIP_CM_STORE ? member->size == member->comp_size
                                               : member->size / 1032 <= member->comp_size;
}

static saddle_status read_member(stream *in, zip_t *archive, const char *member_name,
                                 uint64_t file_bytes, content *out, saddle_error *error)
{
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t member;
    if (zip_stat(archive, member_name, 0, &member) != 0)
        return refuse_missing(in, archive, error);
    if ((member.valid & wanted) != wanted ||
        (member.comp_method != ZIP_CM_STORE && member.comp_method != ZIP_CM_DEFLATE))
        return refuse(in, error,
                      "it is packed by a method other than deflate; save it with numpy.savez or "
                      "numpy.savez_compressed");
    if (!believable(&member, file_bytes))
        return refuse(in, error,
                      "the archive claims %llu bytes for it, more than the file can hold",
                      (unsigned long long)member.size);
    in->bytes = member.size;
    in->member = zip_fopen_index(archive, member.index, 0);
    if (in->member == NULL)
        return refuse(in, error, "%s", zip_strerror(archive));
    saddle_status status = read_stream(in, out, error);
    zip_fclose(in->member);
    return status;
}

static saddle_status read_archive(stream *in, uint64_t file_bytes, content *out,
                                  saddle_error *error)
{
    int code = 0;
    zip_t *archive = zip_open(in->path, ZIP_RDONLY, &code);
    if (archive == NULL) {
        zip_error_t reason;
        zip_error_init_with_code(&reason, code);
        /* It begins like an archive: without the directory at its end it is a part of one. */
        saddle_status status =
            refuse(in, error, "%s; the file is cut short or damaged", zip_error_strerror(&reason));
        zip_error_fini(&reason);
        return status;
    }
    saddle_status status = SADDLE_NO_MEMORY;
    char *member_name = saddle_format("%s.npy", in->name);
    if (member_name == NULL)
        saddle_no_memory(error, "a name");
    else
        status = read_member(in, archive, member_name, file_bytes, out, error);
    saddle_free(member_name);
    zip_discard(archive);
    return status;
}

static saddle_status read_file(const char *path, const char *name, bool letters, content *out,
                               saddle_error *error)
{
    stream in = {.path = path, .name = name != NULL ? name : "", .letters = letters};
    FILE *file;
    size_t bytes;
    char first[4] = {0};
    *out = (content){.text = NULL};
    saddle_status status =
        saddle_reading_open_regular(&file, path, "an .npz or .npy file", &bytes, error);
    if (status != SADDLE_OK)
        return status;
    if (fread(first, 1, 4, file) == 4 && memcmp(first, "PK", 2) == 0) {
        status = read_archive(&in, bytes, out, error);
    } else {
        rewind(file);
        in.file = file;
        in.bytes = bytes;
        status = read_stream(&in, out, error);
    }
    fclose(file);
    return status;
}

saddle_status saddle_numpy_read(const char *path, const char *name, double **out, size_t *rank,
                                size_t shape[2], saddle_error *error)
{
    content found;
    saddle_status status = read_file(path, name, false, &found, error);
    *out = found.numbers;
    if (status == SADDLE_OK) {
        *rank = found.rank;
        shape[0] = found.shape[0];
        shape[1] = found.shape[1];
    }
    return status;
}

saddle_status saddle_numpy_read_text(const char *path, const char *name, char **out,
                                     saddle_error *error)
{
    content found;
    saddle_status status = read_file(path, name, true, &found, error);
    *out = found.text;
    return status;
}
