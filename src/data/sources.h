/* Looking known data sets up by name. */
#ifndef SADDLE_DATA_SOURCES_H
#define SADDLE_DATA_SOURCES_H

#include <saddle/data.h>

/* The first file of a known name, or NULL. */
const saddle_data_source *saddle_source_of(const char *name);
/* Whether fetching `name` brings this file. */
bool saddle_source_belongs(const saddle_data_source *source, const char *name);
/* The known name that a mistyped one is closest to, or NULL. */
const char *saddle_closest_source(const char *name);

/* The known names, for messages. */
#define SADDLE_SOURCE_NAMES "a9a, a9a.t, mnist, mnist.t"

#endif
