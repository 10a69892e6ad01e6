/* SHA-256 of files. */
#ifndef SADDLE_DATA_CHECKSUM_H
#define SADDLE_DATA_CHECKSUM_H

#include <stdbool.h>

/* Room for a sum in hexadecimal and its NUL. */
#define SADDLE_SUM_SIZE 65

/* Sum of an open file from its start, lower-case; false when it cannot be read. */
bool saddle_checksum(int descriptor, char sum[SADDLE_SUM_SIZE]);
/* Whether a text has the form of a sum: 64 hexadecimal digits, of either case. */
bool saddle_is_checksum(const char *text);

#endif
