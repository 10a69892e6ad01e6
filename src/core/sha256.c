#include "core/sha256.h"

#include <errno.h>
#include <unistd.h>

#include <openssl/evp.h>

void saddle_sha256_begin(saddle_sha256 *sum)
{
    sum->context = EVP_MD_CTX_new();
    sum->bad = sum->context == NULL || EVP_DigestInit_ex(sum->context, EVP_sha256(), NULL) != 1;
}

void saddle_sha256_add(saddle_sha256 *sum, const void *block, size_t bytes)
{
    if (!sum->bad && block != NULL)
        sum->bad = EVP_DigestUpdate(sum->context, block, bytes) != 1;
}

bool saddle_sha256_end(saddle_sha256 *sum, unsigned char out[SADDLE_SHA256_BYTES])
{
    bool good = !sum->bad && EVP_DigestFinal_ex(sum->context, out, NULL) == 1;
    EVP_MD_CTX_free(sum->context);
    return good;
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
    return saddle_sha256_end(&sum, out) && got >= 0;
}
