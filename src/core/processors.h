/* How many processors a process may count on. */
#ifndef SADDLE_CORE_PROCESSORS_H
#define SADDLE_CORE_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this process may run on some of the machine's processors only. */
bool saddle_processors_are_own(void);
/* The processors that each of `together` processes on this machine may count on, at least 1: those that it may run on, or
 * its share of them, and its share of what its control groups allow, rounded down. */
unsigned saddle_processors(size_t together);
/* The processors' time that control groups allow this process, such as 1.5; infinite without a limit. `root`: see
 * saddle_control_groups(). */
double saddle_processor_quota(const char *root);

#endif
