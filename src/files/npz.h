/*
 * NumPy's files: .npz archives (zip, written here without compression) and .npy files.
 *
 * A .npy file is "\x93NUMPY", a version, the length of a header, the header (a Python dictionary with the
 * keys descr, fortran_order and shape) and the entries. Numbers are little-endian and stored by rows (C
 * order). Format: numpy.lib.format, NEP 1.
 */
#pragma once

#include "core/base.h"
#include "files/file.h"

/* The type of an array's entries. */
typedef enum saddle_array_kind {
    SADDLE_ARRAY_REAL,    /* const double *, '<f8' */
    SADDLE_ARRAY_WORD,    /* const uint64_t *, '<u8' */
    SADDLE_ARRAY_INTEGER, /* const int64_t *, or uint64_t below 2^63, '<i8' */
    SADDLE_ARRAY_TEXT     /* const char *, one UTF-8 text, '<U'; the rank is 0 */
} saddle_array_kind;

/* An array to be written. Everything is borrowed. A matrix need not be in memory: `fetch` then delivers
 * its rows, each once and in order. */
typedef struct saddle_array {
    const char *name; /* letters, digits and _, so that it never needs quoting */
    saddle_array_kind kind;
    size_t rank; /* 0, 1 or 2 */
    size_t shape[2];
    const void *data;
    void (*fetch)(void *context, size_t row,
                  double *out); /* NULL: use data. Only for reals of rank 2 */
    void *context;              /* of fetch */
} saddle_array;

/* Writes a .npz file that appears when `out` is committed. After a failure there is nothing to discard. */
saddle_status saddle_npz_begin(saddle_output *out, const char *path, const saddle_array *array,
                               size_t count, saddle_error *error);
/* Writes a .npz file, completely or not at all: numpy.load(path)[name]. */
saddle_status saddle_npz_write(const char *path, const saddle_array *array, size_t count,
                               saddle_error *error);

/*
 * Reads an array of numbers as doubles, row by row. It may be float64, float32, integer or bool, of
 * either byte order, in C or Fortran order, of rank at most 2. The file may be a .npz or a .npy,
 * which has one array (`name` is ignored); its first bytes show which. shape[k] is 1 for k >= rank.
 * Nothing is allocated before the file's size is known to suffice for the array. The caller frees *out
 * with saddle_free().
 */
saddle_status saddle_numpy_read(const char *path, const char *name, double **out, size_t *rank,
                                size_t shape[2], saddle_error *error);

/* Returns whether a file is an archive with an array of this name. */
bool saddle_numpy_has(const char *path, const char *name);

/* Reads one text ('<U' or '|S', rank 0) as UTF-8, from the same kinds of file and with the same checks.
 * The caller frees *out with saddle_free(). */
saddle_status saddle_numpy_read_text(const char *path, const char *name, char **out,
                                     saddle_error *error);
