/* The options of a run that belong to no single problem or algorithm. */
#ifndef SADDLE_INSTANCE_RUN_OPTIONS_H
#define SADDLE_INSTANCE_RUN_OPTIONS_H

#include <saddle/settings.h>

/* Their table; NULL-terminated. */
const saddle_option *const *saddle_run_options(void);

#endif
