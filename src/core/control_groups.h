/* The control groups (cgroups) of this process, through which containers and job schedulers limit it. */
#pragma once

#include "core/base.h"

/* Called with a group's directory. `unified`: version 2, whose files have other names than version 1's. */
typedef void saddle_control_group_visit(void *context, const char *directory, bool unified);

/* Visits the groups of this process and their ancestors for `controller`, "memory" or "cpu".
 * `root` is "", or in tests a directory that stands for "/". A visited directory need not exist:
 * in a container, the path of a group may be the host's, and only the root of the hierarchy is
 * there. */
void saddle_control_groups(const char *root, const char *controller,
                           saddle_control_group_visit *visit, void *context);
