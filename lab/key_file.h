/* Files of secret keys: 64 hexadecimal digits, readable by their owner only. */
#pragma once

#include "core/base.h"
#include "peers/sockets.h"

/* Reads a secret key; the caller clears it after use. Refuses a file that others can read. */
saddle_status saddle_key_read(const char *path, unsigned char out[SADDLE_KEY_BYTES],
                              saddle_error *error);
