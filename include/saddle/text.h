/**
 * @file text.h
 * @brief Strict reading and exact writing of numbers, and suggestions for misspelt words.
 *
 * The library reads its own options with these functions. Programs can use them for theirs.
 */
#ifndef SADDLE_TEXT_H
#define SADDLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/** Parses the entire text as a finite number, independent of the locale. Returns false if it is not
 * one. */
SADDLE_API bool saddle_parse_real(const char *text, double *out);
/**
 * Parses the entire text as an integer from 0 to 2^64 - 1. Accepts "2000" and "1e6"; returns false
 * for "1.5" and "-1".
 */
SADDLE_API bool saddle_parse_integer(const char *text, uint64_t *out);
/** The buffer size that saddle_print_real() needs. */
#define SADDLE_REAL_SIZE 32
/**
 * Writes the shortest decimal with at least `digits` and at most 17 significant digits that reads
 * back as the same number, independent of the locale. Returns `out`.
 */
SADDLE_API const char *saddle_print_real(double value, int digits, char out[SADDLE_REAL_SIZE]);
/** Returns the candidate closest to `word` by edit distance, or NULL if none is close. */
SADDLE_API const char *saddle_closest(const char *word, const char *const *candidate, size_t count);

#endif
