/*
 * Printing that does not depend on the locale of the calling program: numbers have a decimal
 * point.
 *
 * The library, lab/, draw/ and cli/ use only these functions to print; a test checks it.
 */
#pragma once

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

#include <saddle/status.h>

/* Returns the C locale, for strtod_l(), strcasecmp_l() and so on. Do not free it. */
locale_t saddle_c_locale(void);

/* Like the C library's functions of the same names. */
int saddle_snprintf(char *out, size_t size, const char *format, ...) SADDLE_PRINTF(3, 4);
int saddle_vsnprintf(char *out, size_t size, const char *format, va_list arguments)
    SADDLE_PRINTF(3, 0);
int saddle_fprintf(FILE *stream, const char *format, ...) SADDLE_PRINTF(2, 3);
int saddle_asprintf(char **out, const char *format, ...) SADDLE_PRINTF(2, 3);
int saddle_vasprintf(char **out, const char *format, va_list arguments) SADDLE_PRINTF(2, 0);
