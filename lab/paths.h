/* Room for paths of the files that experiments, searches and comparisons leave. */
#ifndef SADDLE_LAB_PATHS_H
#define SADDLE_LAB_PATHS_H

#include <limits.h>

/* What does not fit is longer than the system allows, and is refused where it is used. */
#define LAB_PATH (PATH_MAX + 256)

#endif
