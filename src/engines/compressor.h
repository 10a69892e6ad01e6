/*
 * Packs the fields of a message into bytes and unpacks them. These are pure functions: both ends of a link
 * compute the same bits.
 *
 *   quantize  a scale, which is the largest magnitude, then B bits for each entry: the nearest of the 2^B - 1
 *             levels scale * l / (2^(B-1) - 1), l = -(2^(B-1) - 1) ... 2^(B-1) - 1
 *   top       the k = ceil(F n) entries of largest magnitude (of equal ones, those of lower index), then
 *             their indices, ceil(log2 n) bits each
 *   random    k entries, whose indices both ends draw
 *
 * A field that would not become shorter is sent as it is. An entry that is not finite arrives as one: top
 * and random send it like any other, and quantize sends a scale that is not finite.
 */
#pragma once

#include "core/rng.h"
#include "graph/compression.h"

/* Returns how many entries of a field of `length` entries are sent. */
size_t saddle_compressed_entries(const saddle_compression *rule, size_t length);
/* Returns the bytes of a packed field of `length` entries. */
size_t saddle_compressed_bytes(const saddle_compression *rule, size_t length);
/* Returns the doubles at the beginning of a packed field. */
size_t saddle_compressed_numbers(const saddle_compression *rule, size_t length);
/* Packs a field; `draw` is a fresh random stream of (sender, field, round), which only `random` uses. */
void saddle_compress(const saddle_compression *rule, saddle_rng *draw, size_t length,
                     const double *field, unsigned char *out);
/* Unpacks a field and adds it to `sum`; `draw` is the stream that it was packed with, from its start. */
void saddle_compressed_add(const saddle_compression *rule, saddle_rng *draw, size_t length,
                           const unsigned char *packed, double *sum);
