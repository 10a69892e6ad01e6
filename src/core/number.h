/* Numbers within a longer text, fast and correctly rounded; <saddle/text.h> has those that are a text. */
#ifndef SADDLE_CORE_NUMBER_H
#define SADDLE_CORE_NUMBER_H

/*
 * Read a decimal number ([+-] digits [. digits] [e [+-] digits]) at the front of [at, end).
 * Returns one past its last character, or NULL when there is none or it is too large for a double.
 */
const char *saddle_scan_real(const char *at, const char *end, double *out);

#endif
