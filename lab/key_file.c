/* Files of secret keys: 64 hexadecimal digits, readable by their owner only. */
#include <fcntl.h>
#include <sodium/crypto_box.h>
#include <sodium/crypto_scalarmult.h>
#include <sodium/utils.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file.h"
#include "lab/key_file.h"

#include <saddle/peer.h>

enum { DIGITS = 2 * SADDLE_KEY_BYTES };

/* Fails unless only the owner of a file can read it. */
static saddle_status check_mode(int descriptor, const char *path, saddle_error *error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return saddle_refuse(error, "key: '%s' is not a file; make one with keygen", path);
    if ((info.st_mode & 077) != 0)
        return saddle_refuse(
            error,
            "key: others than its owner can read '%s' (mode %03o); make a new key, "
            "or if nobody has, `chmod 600` it",
            path, (unsigned)info.st_mode & 0777);
    return SADDLE_OK;
}

saddle_status saddle_key_read(const char *path, unsigned char out[SADDLE_KEY_BYTES],
                              saddle_error *error)
{
    char text[DIGITS + 2] = "";
    /* A pipe, which is refused, would otherwise wait for somebody who writes. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return saddle_refuse(error, "key: cannot read '%s': %s; make one with keygen", path,
                             strerror(errno));
    saddle_status status = check_mode(descriptor, path, error);
    size_t bytes = 0;
    ssize_t got = 1;
    while (status == SADDLE_OK && got > 0 && bytes < sizeof text) {
        got = read(descriptor, text + bytes, sizeof text - bytes);
        bytes += got > 0 ? (size_t)got : 0;
    }
    close(descriptor);
    size_t length = 0;
    bool good = bytes == DIGITS + 1 && text[DIGITS] == '\n' &&
                sodium_hex2bin(out, SADDLE_KEY_BYTES, text, DIGITS, NULL, &length, NULL) == 0 &&
                length == SADDLE_KEY_BYTES;
    sodium_memzero(text, sizeof text);
    if (status == SADDLE_OK && !good)
        status = saddle_refuse(error, "key: '%s' is not a secret key that keygen made", path);
    if (status != SADDLE_OK)
        sodium_memzero(out, SADDLE_KEY_BYTES);
    return status;
}

/* Writes a new key to an open file; false with errno on failure. */
static bool write_key(int descriptor, const unsigned char *secret)
{
    char text[DIGITS + 2];
    sodium_bin2hex(text, DIGITS + 1, secret, SADDLE_KEY_BYTES);
    text[DIGITS] = '\n';
    ssize_t written = write(descriptor, text, DIGITS + 1);
    sodium_memzero(text, sizeof text);
    if (written >= 0 && written != DIGITS + 1)
        errno = ENOSPC;
    return written == DIGITS + 1 && saddle_sync_file(descriptor);
}

static saddle_status make_key(const char *path, int descriptor, saddle_error *error)
{
    unsigned char key[SADDLE_KEY_BYTES];
    unsigned char secret[SADDLE_KEY_BYTES];
    crypto_box_keypair(key, secret);
    bool good = write_key(descriptor, secret);
    int reason = errno;
    sodium_memzero(secret, sizeof secret);
    good = close(descriptor) == 0 && good;
    if (good && saddle_sync_directory_of(path))
        return SADDLE_OK;
    unlink(path);
    return saddle_fail(error, SADDLE_IO, "cannot write '%s': %s; is the disk full?", path,
                       strerror(reason));
}

saddle_status saddle_peer_keygen(const char *path, char out[SADDLE_PEER_KEY_SIZE], bool *made,
                                 saddle_error *error)
{
    SADDLE_REQUIRE(error, path, out, made);
    _Static_assert(SADDLE_PEER_KEY_SIZE == DIGITS + 1, "the digits of a key");
    unsigned char secret[SADDLE_KEY_BYTES];
    unsigned char key[SADDLE_KEY_BYTES];
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    *made = descriptor >= 0;
    if (descriptor < 0 && errno != EEXIST)
        return saddle_refuse(error,
                             "cannot write '%s': %s; give a path in a directory that exists and "
                             "can be written to",
                             path, strerror(errno));
    if (*made)
        SADDLE_TRY(make_key(path, descriptor, error));
    SADDLE_TRY(saddle_key_read(path, secret, error));
    crypto_scalarmult_base(key, secret);
    sodium_memzero(secret, sizeof secret);
    sodium_bin2hex(out, SADDLE_PEER_KEY_SIZE, key, sizeof key);
    return SADDLE_OK;
}
