/* SHA-256 (FIPS 180-4), computed by OpenSSL. */
#ifndef SADDLE_CORE_SHA256_H
#define SADDLE_CORE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SADDLE_SHA256_BYTES 32

/* A sum in progress. A failure, which only a lack of memory can cause, shows at its end. */
typedef struct saddle_sha256 {
    void *context;
    bool bad;
} saddle_sha256;

void saddle_sha256_begin(saddle_sha256 *sum);
/* Add bytes; a NULL block adds nothing. */
void saddle_sha256_add(saddle_sha256 *sum, const void *block, size_t bytes);
/* Give the sum and free what it took; false on failure. */
bool saddle_sha256_end(saddle_sha256 *sum, unsigned char out[SADDLE_SHA256_BYTES]);

/* The sum of the first `bytes` of an open file, or of all of a shorter one. The file's position stays.
 * False, with errno, when the file cannot be read. */
bool saddle_sha256_file(int descriptor, uint64_t bytes, unsigned char out[SADDLE_SHA256_BYTES]);

#endif
