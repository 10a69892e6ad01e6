/* Shorthands over <saddle/status.h> for use inside the library. */
#ifndef SADDLE_CORE_STATUS_H
#define SADDLE_CORE_STATUS_H

#include <saddle/status.h>

/* The one message for a failed allocation: what the memory was for. */
#define saddle_no_memory(error, what)                                                             \
    saddle_fail((error), SADDLE_NO_MEMORY, "out of memory for %s; use fewer agents or less data", \
                (what))

#endif
