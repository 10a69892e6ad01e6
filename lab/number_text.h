/* Numbers and lists as text. */
#ifndef SADDLE_LAB_NUMBER_TEXT_H
#define SADDLE_LAB_NUMBER_TEXT_H

#include <stddef.h>

#include <saddle/status.h>
#include <saddle/text.h>

/* Capacity for a number as text, also one of saddle_print_real(). */
#define NUMBER_TEXT SADDLE_REAL_SIZE

/* Bytes as "12.3 MB". */
const char *saddle_bytes_text(double bytes, char out[NUMBER_TEXT]);
/* Append to a text that has room for `size` characters; what does not fit is cut off. */
void saddle_append(char *text, size_t size, const char *format, ...) SADDLE_PRINTF(3, 4);

#endif
