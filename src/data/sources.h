/* Lookup of known data sets by name (locate.c). */
#pragma once

#include <saddle/data.h>

/* Returns the first file of a known name, or NULL. */
const saddle_data_source *saddle_source_of(const char *name);
/* Returns whether fetching `name` downloads this file. */
bool saddle_source_belongs(const saddle_data_source *source, const char *name);
/* Returns the known name closest to a mistyped one, or NULL. */
const char *saddle_closest_source(const char *name);

/* The known names, for messages. */
#define SADDLE_SOURCE_NAMES "a9a, a9a.t, mnist, mnist.t"
