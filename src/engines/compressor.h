/*
 * How a field of a message is packed into bytes. Pure functions: the same bits at both ends.
 *
 *   quantize  a scale, the largest magnitude, then B bits for each entry: the nearest of the 2^B - 1 levels
 *             scale * l / (2^(B-1) - 1), l = -(2^(B-1) - 1) ... 2^(B-1) - 1
 *   top       the k = ceil(F n) entries of largest magnitude, the lower index first among equals, then their
 *             indices, ceil(log2 n) bits each
 *   random    k entries whose indices both ends draw
 *
 * A field that would not become shorter is sent as it is. Entries that are not finite arrive as such: those of
 * top and random by themselves, those of quantize by a scale that is not finite.
 */
#ifndef SADDLE_ENGINES_COMPRESSOR_H
#define SADDLE_ENGINES_COMPRESSOR_H

#include "core/rng.h"
#include "graph/compression.h"

/* Returns the number of entries of a field of a length that are sent. */
size_t saddle_compressed_entries(const saddle_compression *rule, size_t length);
/* Bytes of a packed field of a length. */
size_t saddle_compressed_bytes(const saddle_compression *rule, size_t length);
/* Pack a field; `draw` is a fresh stream of (sender, field, round), which only random reads. */
void saddle_compress(const saddle_compression *rule, saddle_rng *draw, size_t length,
                     const double *field, unsigned char *out);
/* Add a packed field to `sum`. */
void saddle_compressed_add(const saddle_compression *rule, saddle_rng *draw, size_t length,
                           const unsigned char *packed, double *sum);

#endif
