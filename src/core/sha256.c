#include "core/sha256.h"

#include <unistd.h>

void saddle_sha256_begin(saddle_sha256 *sum)
{
    crypto_hash_sha256_init(sum);
}

void saddle_sha256_add(saddle_sha256 *sum, const void *block, size_t bytes)
{
    if (block != NULL)
        crypto_hash_sha256_update(sum, block, bytes);
}

void saddle_sha256_end(saddle_sha256 *sum, unsigned char out[SADDLE_SHA256_BYTES])
{
    crypto_hash_sha256_final(sum, out);
}

bool saddle_sha256_file(int descriptor, uint64_t bytes, unsigned char out[SADDLE_SHA256_BYTES])
{
    unsigned char block[65536];
    saddle_sha256 sum;
    ssize_t got = 1;
    saddle_sha256_begin(&sum);
    for (uint64_t done = 0; done < bytes && got != 0; done += (uint64_t)got) {
        size_t wanted = bytes - done < sizeof block ? (size_t)(bytes - done) : sizeof block;
        do
            got = pread(descriptor, block, wanted, (off_t)done);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            break;
        saddle_sha256_add(&sum, block, (size_t)got);
    }
    saddle_sha256_end(&sum, out);
    return got >= 0;
}
