/* Functions shared by sets and regularizers: making one from its text or its class, and parsing
 * its parameters. */
#pragma once

#include <saddle/set.h>

#include "core/base.h"
#include "files/plugin.h"

/* Makes a term from its text; NULL on failure. Free with saddle_term_free(). */
saddle_status saddle_term_create(saddle_term **out, const saddle_catalog *catalog, const char *text,
                                 size_t dimension, saddle_error *error);
/* Makes a term of a class, like saddle_set_from_class(). */
saddle_status saddle_term_from_class(saddle_term **out, const saddle_catalog *catalog,
                                     const saddle_term_class *kind, const char *argument,
                                     void *context, size_t dimension, saddle_error *error);
/* Frees a term. NULL is allowed. */
void saddle_term_free(saddle_term *term);

/* Splits the text of a term at its colons into as many fields as its synopsis has. */
saddle_status saddle_term_fields(saddle_fields *out, const saddle_term *term, saddle_error *error);

/* The allowed sign of a number. */
typedef enum saddle_sign { SADDLE_POSITIVE, SADDLE_NONNEGATIVE } saddle_sign;

/* Parses one field as a finite number with the given sign. */
saddle_status saddle_term_number(double *out, const saddle_term *term, const saddle_fields *fields,
                                 size_t index, saddle_sign sign, saddle_error *error);
/* Parses all fields after the name as numbers into out[0], out[1] ... */
saddle_status saddle_term_numbers(const saddle_term *term, saddle_sign sign, double *const *out,
                                  saddle_error *error);
