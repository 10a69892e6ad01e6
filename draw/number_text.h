/* Numbers and lists as text. */
#ifndef SADDLE_DRAW_NUMBER_TEXT_H
#define SADDLE_DRAW_NUMBER_TEXT_H

#include "core/text.h"

/* Capacity for a number as text, also one of saddle_print_real(). */
#define NUMBER_TEXT SADDLE_REAL_SIZE

/* Bytes as "12.3 MB". */
const char *saddle_bytes_text(double bytes, char out[NUMBER_TEXT]);

#endif
