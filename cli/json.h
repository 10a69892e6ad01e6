/*
 * JSON (RFC 8259), written piece by piece.
 *
 *     saddle_json j;
 *     saddle_json_begin(&j, stdout);
 *     saddle_json_put(&j, "loss %g levels [", loss);
 *     saddle_json_put(&j, "%g", 0.1);      an element has no name
 *     saddle_json_put(&j, "]");
 *     saddle_json_end(&j);
 *
 * Numbers do not depend on the locale and read back as the same doubles. Write errors stay on the stream.
 */
#pragma once

#include "core/base.h"

/* A writer: one object or array is open at each depth. */
typedef struct saddle_json {
    FILE *stream; /* borrowed */
    int depth;    /* number of open objects and arrays */
    bool empty;   /* the innermost one is still empty */
    bool broken;  /* its last element was an object, after which a new line begins */
} saddle_json;

/* Begins a document, which is an object. */
void saddle_json_begin(saddle_json *j, FILE *stream);
/* Ends the document and its line. */
void saddle_json_end(saddle_json *j);

/*
 * Writes members, or elements of an array, as a format says:
 *
 *     saddle_json_put(&j, "agents %zu degrees { mean %g } files [ %s %s ] ok %d", ...);
 *
 * A name is a word or %s: ("": none). A value is null, %s (a text, or NULL for null), %g (a double), %zu or PRIu64,
 * %d (a bool), or an object or array, which another call may end.
 *
 * Bytes of texts that are not UTF-8 become U+FFFD; characters that control a terminal are escaped. A double is the
 * shortest decimal that reads back equal, null for NaN and infinities; integers up to 2^53 have no exponent.
 */
void saddle_json_put(saddle_json *j, const char *format, ...) SADDLE_PRINTF(2, 3);
