/* The control groups that limit this process: what containers and job schedulers allow it. */
#ifndef SADDLE_CORE_CONTROL_GROUPS_H
#define SADDLE_CORE_CONTROL_GROUPS_H

#include <stdbool.h>

/* A group's directory. `unified`: of version 2, whose files have other names than those of version 1. */
typedef void saddle_control_group_visit(void *context, const char *directory, bool unified);

/* Visit the groups of this process and those above them that have a say in `controller`, "memory" or "cpu". `root` is "",
 * or, in tests, what stands for the system's root. A directory that is visited need not exist: in a container the path of a
 * group may be the host's, and only the uppermost one is there. */
void saddle_control_groups(const char *root, const char *controller,
                           saddle_control_group_visit *visit, void *context);

#endif
