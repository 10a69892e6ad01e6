/* SHA-256 (FIPS 180-4), computed by OpenSSL. */
#include "data/checksum.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

static bool digest_file(EVP_MD_CTX *context, int descriptor, unsigned char *digest)
{
    unsigned char block[65536];
    off_t place = 0;
    if (EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
        return false;
    for (;;) {
        ssize_t got = pread(descriptor, block, sizeof block, place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            return EVP_DigestFinal_ex(context, digest, NULL) == 1;
        if (EVP_DigestUpdate(context, block, (size_t)got) != 1)
            return false;
        place += got;
    }
}

bool saddle_checksum(int descriptor, char sum[SADDLE_SUM_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && digest_file(context, descriptor, digest);
    EVP_MD_CTX_free(context);
    for (size_t k = 0; k < 32; k++)
        snprintf(sum + 2 * k, 3, "%02x", digest[k]);
    return good;
}

bool saddle_is_checksum(const char *text)
{
    return strlen(text) == SADDLE_SUM_SIZE - 1 &&
           strspn(text, "0123456789abcdefABCDEF") == SADDLE_SUM_SIZE - 1;
}
