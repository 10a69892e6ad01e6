/*
 * JSON (RFC 8259), written piece by piece.
 *
 *     saddle_json j;
 *     saddle_json_begin(&j, stdout);
 *     saddle_json_real(&j, "loss", loss);
 *     saddle_json_array(&j, "levels");
 *     saddle_json_real(&j, NULL, 0.1);      an element has no name
 *     saddle_json_end_array(&j);
 *     saddle_json_end(&j);
 *
 * Numbers do not depend on the locale, and read back as the same doubles. Failures show on the stream.
 */
#ifndef SADDLE_LAB_JSON_H
#define SADDLE_LAB_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A writer: one object or array is open at each depth. */
typedef struct saddle_json {
    FILE *stream; /* borrowed */
    int depth;    /* how many objects and arrays are open */
    bool empty;   /* nothing is in the innermost one yet */
    bool broken;  /* its last element was an object, which ends its line */
} saddle_json;

/* Begin a document, which is an object. */
void saddle_json_begin(saddle_json *j, FILE *stream);
/* End it, and its line. */
void saddle_json_end(saddle_json *j);

/* Begin an object or an array; `name` is NULL in an array, here and below. */
void saddle_json_object(saddle_json *j, const char *name);
void saddle_json_array(saddle_json *j, const char *name);
/* End the innermost one. */
void saddle_json_end_object(saddle_json *j);
void saddle_json_end_array(saddle_json *j);

/* Write a text; NULL: null. Bytes that are not UTF-8 become U+FFFD; letters that act on a terminal are escaped. */
void saddle_json_text(saddle_json *j, const char *name, const char *text);
/* Write the shortest decimal that reads back equal; null for NaN and infinities. Whole numbers up to 2^53 have no
 * exponent. */
void saddle_json_real(saddle_json *j, const char *name, double value);
void saddle_json_whole(saddle_json *j, const char *name, uint64_t value);
void saddle_json_flag(saddle_json *j, const char *name, bool value);

#endif
