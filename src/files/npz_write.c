/* Writing .npz files. */
#include <zlib.h>

#include "files/file.h"
#include "files/npy_header.h"
#include "files/npz.h"
#include "files/zip.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they lie in memory");
_Static_assert(sizeof(double) == 8, "'<f8' is a double");

/* The bytes of one array: borrowed numbers, fetched rows, or the code points of a text. Read once, from
 * beginning to end. */
typedef struct payload {
    const void *data;
    size_t bytes;
    uint32_t *letters; /* owned */
    char type[32];     /* such as <f8 */
    char *head;        /* the .npy header; owned */
    size_t head_bytes;
    const saddle_array *array;
    double *row;  /* the last row fetched, if rows are fetched; owned */
    size_t taken; /* bytes read so far, including the head */
} payload;

static saddle_status prepare_text(payload *out, const char *text, saddle_error *error)
{
    /* NumPy pads with zeros and has no empty text. */
    size_t most = strlen(text) + 1;
    size_t count = 0;
    out->letters = saddle_alloc(most, sizeof *out->letters);
    SADDLE_TRY(saddle_check_memory(out->letters, "a text in a NumPy file", error));
    for (const char *at = text, *end = text + most - 1; at < end;)
        out->letters[count++] = saddle_next_letter(&at, end);
    count = count > 0 ? count : 1;
    saddle_snprintf(out->type, sizeof out->type, "<U%zu", count);
    out->data = out->letters;
    out->bytes = count * sizeof *out->letters;
    return SADDLE_OK;
}

static bool plain_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return name != NULL && *name != '\0' && name[strspn(name, allowed)] == '\0' &&
           strlen(name) + sizeof ".npy" <= sizeof((saddle_zip_member *)NULL)->name;
}

static saddle_status prepare(payload *out, const saddle_array *array, saddle_error *error)
{
    if (!plain_name(array->name) || array->rank > 2 ||
        (array->kind == SADDLE_ARRAY_TEXT && array->rank != 0) ||
        (array->fetch != NULL && (array->kind != SADDLE_ARRAY_REAL || array->rank != 2)))
        return saddle_fail(
            error, SADDLE_CHECK_FAILED,
            "array '%.80s' of rank %zu cannot be written; names consist of letters, "
            "digits and _, and ranks are at most 2, 0 for texts and 2 for fetched rows",
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
        SADDLE_TRY(saddle_check_memory(out->row, "a row of a NumPy file", error));
    }
    saddle_snprintf(out->type, sizeof out->type, "%s",
                    array->kind == SADDLE_ARRAY_REAL   ? "<f8"
                    : array->kind == SADDLE_ARRAY_WORD ? "<u8"
                                                       : "<i8");
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

/* Prepares the payloads of all arrays. Free with release(), also after a failure. */
static saddle_status prepare_all(payload **out, const saddle_array *array, size_t count,
                                 saddle_error *error)
{
    *out = NULL;
    if (count == 0)
        return saddle_fail(error, SADDLE_CHECK_FAILED, "a NumPy file needs at least one array");
    *out = saddle_alloc(count, sizeof **out);
    SADDLE_TRY(saddle_check_memory(*out, "a NumPy file", error));
    for (size_t k = 0; k < count; k++) {
        SADDLE_TRY(prepare(&(*out)[k], &array[k], error));
        for (size_t other = 0; other < k; other++)
            if (strcmp(array[other].name, array[k].name) == 0)
                return saddle_fail(error, SADDLE_CHECK_FAILED,
                                   "two arrays are named '%s'; give each its own name",
                                   array[k].name);
    }
    return SADDLE_OK;
}

/* Formats a shape as Python does: "(3, 4)". */
static void shape_text(char text[64], const saddle_array *array)
{
    if (array->rank == 0)
        saddle_snprintf(text, 64, "()");
    else if (array->rank == 1)
        saddle_snprintf(text, 64, "(%zu,)", array->shape[0]);
    else
        saddle_snprintf(text, 64, "(%zu, %zu)", array->shape[0], array->shape[1]);
}

/*
 * Returns everything that precedes the entries of a .npy file, in newly allocated memory, or NULL.
 * Padded with spaces to a multiple of 64 bytes, so that the entries can be mapped into memory.
 */
static char *preamble(const char *type, const char *shape, size_t *bytes)
{
    enum { FIXED = 10 };
    char body[160];
    int length = saddle_snprintf(
        body, sizeof body, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    size_t total = (FIXED + (size_t)length + 1 + 63) / 64 * 64;
    char *text = saddle_alloc(total + 1, 1);
    if (text != NULL) {
        size_t header = total - FIXED;
        memcpy(text, SADDLE_NPY_MAGIC, sizeof SADDLE_NPY_MAGIC - 1);
        text[6] = 1;
        text[8] = (char)(header & 0xFF);
        text[9] = (char)(header >> 8 & 0xFF);
        saddle_snprintf(text + FIXED, header + 1, "%-*s\n", (int)(header - 1), body);
        *bytes = total;
    }
    return text;
}

/* Returns the next bytes of a payload's array, at most `most`: a piece of memory, or of one row. */
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

/* Reads at most `most` bytes of a payload, its head first; 0 at its end. */
static size_t read_payload(payload *body, char *to, size_t most)
{
    size_t done = 0;
    while (done < most) {
        const char *piece = body->head + body->taken;
        size_t count = body->taken < body->head_bytes ? body->head_bytes - body->taken : 0;
        count = count < most - done ? count : most - done;
        if (count == 0)
            count = next_piece(body, most - done, &piece);
        if (count == 0 || piece == NULL)
            break;
        memcpy(to + done, piece, count);
        body->taken += count;
        done += count;
    }
    return done;
}

/* Copies a payload to a stream and returns its checksum. saddle_output_commit() notices a short write. */
static uint32_t copy_payload(payload *body, FILE *stream)
{
    char piece[16384];
    uLong checksum = 0;
    for (size_t count; (count = read_payload(body, piece, sizeof piece)) > 0;) {
        fwrite(piece, 1, count, stream);
        checksum = crc32_z(checksum, (unsigned char *)piece, count);
    }
    return (uint32_t)checksum;
}

/* Writes an array as a member of an archive; false without memory. */
static bool write_member(FILE *stream, const saddle_array *array, payload *body,
                         saddle_zip_member *out)
{
    char shape[64];
    shape_text(shape, array);
    body->head = preamble(body->type, shape, &body->head_bytes);
    if (body->head == NULL)
        return false;
    out->name_bytes = (size_t)saddle_snprintf(out->name, sizeof out->name, "%s.npy", array->name);
    out->bytes = body->head_bytes + body->bytes;
    out->offset = (uint64_t)ftello(stream);
    saddle_zip_write_header(stream, out);
    out->checksum = copy_payload(body, stream);
    saddle_zip_set_checksum(stream, out);
    return true;
}

static saddle_status write_archive(FILE *stream, const saddle_array *array, payload *body,
                                   size_t count, saddle_error *error)
{
    SADDLE_OWNED saddle_zip_member *member = saddle_alloc(count, sizeof *member);
    bool done = member != NULL;
    for (size_t k = 0; done && k < count; k++)
        done = write_member(stream, &array[k], &body[k], &member[k]);
    if (!done)
        return saddle_no_memory(error, "a NumPy file");
    saddle_zip_write_directory(stream, member, count);
    return SADDLE_OK;
}

saddle_status saddle_npz_begin(saddle_output *out, const char *path, const saddle_array *array,
                               size_t count, saddle_error *error)
{
    payload *body;
    *out = (saddle_output){.stream = NULL};
    saddle_status status = prepare_all(&body, array, count, error);
    SADDLE_THEN(status, saddle_output_open(out, path, error));
    SADDLE_THEN(status, write_archive(out->stream, array, body, count, error));
    if (status != SADDLE_OK)
        saddle_output_discard(out);
    release(body, count);
    return status;
}

saddle_status saddle_npz_write(const char *path, const saddle_array *array, size_t count,
                               saddle_error *error)
{
    saddle_output out;
    SADDLE_TRY(saddle_npz_begin(&out, path, array, count, error));
    return saddle_output_commit(&out, error);
}
