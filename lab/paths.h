/* Capacity for paths of the files that experiments, searches and comparisons write. */
#ifndef SADDLE_LAB_PATHS_H
#define SADDLE_LAB_PATHS_H

#include <limits.h>

/* A longer path exceeds the system's limit and is refused where it is used. */
#define LAB_PATH (PATH_MAX + 256)

#endif
