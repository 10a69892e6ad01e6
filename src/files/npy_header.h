/*
 * The header of a .npy file: a Python dictionary such as
 *   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The header may come from an untrusted file: sizes are checked for overflow, and nothing is allocated.
 */
#pragma once

#include "core/base.h"

/* The first bytes of every .npy file. */
#define SADDLE_NPY_MAGIC "\x93NUMPY"

/* The longest header that is read. */
#define SADDLE_NPY_HEADER_MOST (1 << 20)

/* The type and shape of the array. */
typedef struct saddle_npy_header {
    char kind;       /* 'f' float, 'i' integer, 'u' unsigned, 'b' bool; of a text 'U' or 'S' */
    bool swapped;    /* big-endian */
    bool fortran;    /* stored by columns; rank 2 only */
    size_t rank;     /* 0, 1 or 2 */
    size_t shape[2]; /* 1 for indices from the rank on */
    size_t count;    /* of entries */
    uint64_t bytes;  /* of entries */
} saddle_npy_header;

/* Parses the header of an array of numbers, or of one text if `letters` is set. On failure `why` gets the reason and
 * the remedy, without the file's name. */
bool saddle_npy_parse(saddle_npy_header *out, const char *text, bool letters, saddle_error *why);
