/* SHA-256 (FIPS 180-4), computed by libsodium. */
#pragma once

#include <sodium/crypto_hash_sha256.h>

#include "core/base.h"

#define SADDLE_SHA256_BYTES 32

/* A hash in progress. */
typedef crypto_hash_sha256_state saddle_sha256;

/* Begins a hash. */
void saddle_sha256_begin(saddle_sha256 *sum);
/* Adds bytes; a NULL block adds nothing. */
void saddle_sha256_add(saddle_sha256 *sum, const void *block, size_t bytes);
/* Stores the hash in `out`. */
void saddle_sha256_end(saddle_sha256 *sum, unsigned char out[SADDLE_SHA256_BYTES]);

/* Hashes the first `bytes` of an open file, or all of a shorter one, and keeps the file's
 * position. Returns false, with errno set, when the file cannot be read. */
bool saddle_sha256_file(int descriptor, uint64_t bytes, unsigned char out[SADDLE_SHA256_BYTES]);
