/* How many processors a process can use. */
#pragma once

#include "core/base.h"

/* Returns whether this process is bound to some of the machine's processors. */
bool saddle_processors_are_own(void);
/* Returns the number of processors for each of `together` processes on this machine, at least 1:
 * those that it is bound to, or its share of all, limited by its share of the control groups'
 * quota, rounded down. */
unsigned saddle_processors(size_t together);
/* Returns how many processors' time the control groups allow this process, such as 1.5; infinite
 * without a limit. `root`: see saddle_control_groups(). */
double saddle_processor_quota(const char *root);
