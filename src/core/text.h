/* Strict reading of numbers and of the short texts that name sets, graphs and the like. */
#ifndef SADDLE_CORE_TEXT_H
#define SADDLE_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text as a finite number, in the C locale whatever the user's; false otherwise. */
bool saddle_parse_real(const char *text, double *out);
/* The whole text as a whole number of at most 2^64 - 1; "1e6" and "2000" are, "1.5" and "-1" are
 * not. */
bool saddle_parse_integer(const char *text, uint64_t *out);

/* The most fields a short text has. */
#define SADDLE_MAX_FIELDS 8

/* A text of the form NAME:A:B, cut at its colons. */
typedef struct saddle_fields {
    char buffer[512];                     /* owns the characters */
    const char *field[SADDLE_MAX_FIELDS]; /* field[0] is the name */
    size_t count;                         /* at least 1 */
} saddle_fields;

/* Cut a text at its colons; false when it is too long or has too many fields. */
bool saddle_split(saddle_fields *out, const char *text);

/* Of several words the one closest to `word` by edit distance, or NULL when none is close. */
const char *saddle_closest(const char *word, const char *const *candidate, size_t count);

#endif
