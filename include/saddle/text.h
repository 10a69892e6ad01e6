/**
 * @file text.h
 * @brief Strict reading and exact writing of numbers, and guessing which word was meant.
 *
 * What every option of the library is read with, for programs that have options of their own.
 */
#ifndef SADDLE_TEXT_H
#define SADDLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The whole text as a finite number, in the C locale whatever the user's; false otherwise. */
SADDLE_API bool saddle_parse_real(const char *text, double *out);
/**
 * The whole text as a whole number of at most 2^64 - 1; "1e6" and "2000" are, "1.5" and "-1" are
 * not.
 */
SADDLE_API bool saddle_parse_integer(const char *text, uint64_t *out);
/** The capacity that saddle_print_real() needs. */
#define SADDLE_REAL_SIZE 32
/**
 * Writes the shortest decimal of at least `digits` and at most 17 significant digits that reads back
 * as the same number, in the C locale whatever the user's. Returns `out`.
 */
SADDLE_API const char *saddle_print_real(double value, int digits, char out[SADDLE_REAL_SIZE]);
/** Of several words the one closest to `word` by edit distance, or NULL when none is close. */
SADDLE_API const char *saddle_closest(const char *word, const char *const *candidate, size_t count);

#ifdef __cplusplus
}
#endif
#endif
