/*
 * The header of a .npy file: a Python dictionary such as
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 * or, for a record,
 *     {'descr': [('x', '<f8', (3,)), ('n', '<u8')], 'fortran_order': False, 'shape': (), }
 *
 * The header may come from anyone: sizes are checked for overflow, nothing is allocated.
 */
#ifndef SADDLE_FILES_NPY_HEADER_H
#define SADDLE_FILES_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/* How every .npy file begins. */
#define SADDLE_NPY_MAGIC "\x93NUMPY"

/* Longest header that is read, and longest name of a field with its end. */
#define SADDLE_NPY_HEADER_MOST (1 << 20)
#define SADDLE_NPY_NAME_SIZE 128

/* Entries that can be read: as double, and one that is a text. */
typedef enum saddle_npy_type {
    SADDLE_NPY_F8,
    SADDLE_NPY_F4,
    SADDLE_NPY_I8,
    SADDLE_NPY_I4,
    SADDLE_NPY_I2,
    SADDLE_NPY_I1,
    SADDLE_NPY_U8,
    SADDLE_NPY_U4,
    SADDLE_NPY_U2,
    SADDLE_NPY_U1,
    SADDLE_NPY_B1,   /* truth values */
    SADDLE_NPY_TEXT, /* '<U', four bytes a letter */
    SADDLE_NPY_BYTES /* '|S', one byte a letter */
} saddle_npy_type;

/* Where the wanted array lies behind the header, and what it is. */
typedef struct saddle_npy_header {
    saddle_npy_type type;
    bool swapped;    /* the bytes of an entry come with the highest first */
    bool fortran;    /* columns follow each other, not rows; of rank 2 only */
    size_t rank;     /* 0, 1 or 2 */
    size_t shape[2]; /* 1 beyond the rank */
    size_t count;    /* of entries */
    uint64_t bytes;  /* of entries */
    uint64_t offset; /* of the first entry, from the end of the header */
    uint64_t total;  /* bytes that follow the header */
} saddle_npy_header;

/* Understand a header of an array of numbers, or of one text if `letters` is set. Of a record, `name`
 * is the field that is wanted. On failure the message of `why` is the reason and what would be right,
 * without the name of the file. */
bool saddle_npy_parse(saddle_npy_header *out, const char *text, const char *name, bool letters,
                      saddle_error *why);

#endif
