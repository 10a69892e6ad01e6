/* Files of secret keys: 64 hexadecimal digits, readable by their owner only. */
#pragma once

#include "core/base.h"
#include "peers/sockets.h"

/* Reads a secret key; the caller clears it after use. Refuses a file that others can read. */
saddle_status saddle_key_read(const char *path, unsigned char out[SADDLE_KEY_BYTES],
                              saddle_error *error);
/* Writes a new secret key, and its public key to `out` in hexadecimal digits. A key that exists stays; *made is then
 * false. */
saddle_status saddle_key_make(const char *path, char out[2 * SADDLE_KEY_BYTES + 1], bool *made,
                              saddle_error *error);
