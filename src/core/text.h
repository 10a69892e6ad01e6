/* Characters as messages show them, suggestions for mistyped names, texts of the form NAME:A:B and lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <saddle/text.h>

/* Decodes the next character of a UTF-8 text that ends at `end`; U+FFFD for an invalid byte. */
uint32_t saddle_next_letter(const char **at, const char *end);

/* Returns whether a character acts on a terminal or page instead of being visible: control
 * characters (C0, DEL, C1) and those that change the direction of text or end a line, such as
 * U+202E. */
bool saddle_is_invisible(uint32_t letter);

/* Size of one character as saddle_show_letter() writes it, including the NUL. */
#define SADDLE_SHOWN_SIZE 12
/*
 * Writes the next character of a text in a form that can be displayed: invisible characters and
 * bytes that are not UTF-8 as \x1b, \u202e, \xff, all others unchanged. `out` is NUL-terminated;
 * returns its length.
 */
size_t saddle_show_letter(const char **at, const char *end, char out[SADDLE_SHOWN_SIZE]);

/* Writes a text to a stream in that form. */
void saddle_put_shown(FILE *out, const char *text);
/* Writes as much of a text in that form as fits into `size` bytes, with a NUL; returns the length. */
size_t saddle_show_text(char *out, size_t size, const char *text);

/* A text as messages show it: in that form, at most 76 bytes, shortened with "...". */
typedef struct saddle_excerpt {
    char text[80];
} saddle_excerpt;

/* Returns the excerpt of [at, end), or of a string when `end` is NULL. */
saddle_excerpt saddle_excerpt_of(const char *at, const char *end);
/* The excerpt of a string as an argument of a message. */
#define SADDLE_EXCERPT(whole) saddle_excerpt_of((whole), NULL).text

/* The ending of a noun after a count: "1 row", "2 rows". */
#define SADDLE_PLURAL(count) ((count) == 1 ? "" : "s")

/* Appends to a string in a buffer of `size` bytes; truncates what does not fit. */
void saddle_append(char *text, size_t size, const char *format, ...) SADDLE_PRINTF(3, 4);

/* "; did you mean 'NAME'?" with the name closest to a word, or "" when none is close. */
typedef struct saddle_suggestion {
    char text[96];
} saddle_suggestion;

/* Returns what to append to a message about an unknown word, given the names that are known. */
saddle_suggestion saddle_suggest(const char *word, const char *const *name, size_t count);

/* Writes a number of bytes as "12.3 MB"; returns `out`. */
const char *saddle_bytes_text(double bytes, char out[SADDLE_REAL_SIZE]);

/* The most fields of a text. */
#define SADDLE_MAX_FIELDS 8

/* A text of the form NAME:A:B, split at its colons. */
typedef struct saddle_fields {
    char buffer[512];                     /* owns the characters */
    const char *field[SADDLE_MAX_FIELDS]; /* field[0] is the name */
    size_t count;                         /* at least 1 */
} saddle_fields;

/* Splits a text at its colons; false when it is too long or has too many fields. */
bool saddle_split(saddle_fields *out, const char *text);

/* Returns the next item of a comma-separated list and its length; NULL after the last. `*rest` is the list at first;
 * NULL is a list without items, "" one of an empty item. */
const char *saddle_next_item(const char **rest, size_t *length);
/*
 * Reads a decimal number ([+-] digits [. digits] [e [+-] digits]) at the front of [at, end), fast and correctly
 * rounded. Returns the position after it, or NULL when there is no number or it is too large for a double.
 */
const char *saddle_scan_real(const char *at, const char *end, double *out);
/* Parses the first `length` bytes of a text as saddle_parse_integer() does. */
bool saddle_parse_integer_in(const char *text, size_t length, uint64_t *out);

/* Sets mark[k - first] for every number k, first <= k < first + count, of a comma-separated list such as
 * "72,73". Returns false when the text is not such a list or names a number that is already marked. */
bool saddle_mark_list(const char *text, size_t first, size_t count, bool *mark);
