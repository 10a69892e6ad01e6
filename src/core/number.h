/* Fast, correctly rounded numbers within a longer text. <saddle/text.h> converts complete strings. */
#ifndef SADDLE_CORE_NUMBER_H
#define SADDLE_CORE_NUMBER_H

/*
 * Reads a decimal number ([+-] digits [. digits] [e [+-] digits]) at the front of [at, end).
 * Returns the position after it, or NULL when there is no number or it is too large for a
 * double.
 */
const char *saddle_scan_real(const char *at, const char *end, double *out);

#endif
