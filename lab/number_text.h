/* Numbers as text. */
#ifndef SADDLE_LAB_NUMBER_TEXT_H
#define SADDLE_LAB_NUMBER_TEXT_H

/* Capacity for a number as text. */
#define NUMBER_TEXT 32

/* A finite number with the fewest digits, at least `digits` of them, that read back equal. */
const char *saddle_number_text(double value, int digits, char out[NUMBER_TEXT]);
/* Bytes as "12.3 MB". */
const char *saddle_bytes_text(double bytes, char out[NUMBER_TEXT]);

#endif
