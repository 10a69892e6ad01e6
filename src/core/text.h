/* Strict reading of numbers and of the short texts that name sets, graphs and the like. */
#ifndef SADDLE_CORE_TEXT_H
#define SADDLE_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <saddle/text.h>

/* The next letter of a UTF-8 text that ends at `end`; U+FFFD for a byte that is not part of one. */
uint32_t saddle_next_letter(const char **at, const char *end);

/* Whether a letter acts on a terminal or a page instead of being seen: control characters (C0, DEL, C1), and
 * those that turn the direction of text or end a line (U+202E and the like). */
bool saddle_is_invisible(uint32_t letter);

/* Capacity for one letter as saddle_show_letter() writes it, with its NUL. */
#define SADDLE_SHOWN_SIZE 12
/*
 * Writes the next letter of a text so that it can be shown: invisible ones and bytes that are not UTF-8 as
 * \x1b, \u202e, \xff; all other letters as they are. `out` gets a NUL; returns the bytes before it.
 */
size_t saddle_show_letter(const char **at, const char *end, char out[SADDLE_SHOWN_SIZE]);

/* Writes all letters of a text so. */
void saddle_put_shown(FILE *out, const char *text);
/* Writes as many of them as fit into `size` bytes, with a NUL; returns the bytes before it. */
size_t saddle_show_text(char *out, size_t size, const char *text);

/* A text as a message shows it: its letters as above, at most 76 bytes. */
typedef struct saddle_excerpt {
    char text[80];
} saddle_excerpt;

/* The words in [at, end); end NULL: up to the NUL. */
saddle_excerpt saddle_excerpt_of(const char *at, const char *end);
/* A whole text as an argument of a message. */
#define SADDLE_EXCERPT(whole) saddle_excerpt_of((whole), NULL).text

/* Append to a text with capacity for `size` characters; what does not fit is cut off. */
void saddle_append(char *text, size_t size, const char *format, ...) SADDLE_PRINTF(3, 4);

/* "; did you mean 'NAME'?" with the name closest to a word; "" when none is close. */
typedef struct saddle_suggestion {
    char text[96];
} saddle_suggestion;

saddle_suggestion saddle_suggest(const char *word, const char *const *name, size_t count);

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

#endif
