/* The --samples option of problems that make their own instance. */
#ifndef SADDLE_INSTANCE_SAMPLES_H
#define SADDLE_INSTANCE_SAMPLES_H

#include <stddef.h>

#include <saddle/status.h>

/* n_i from the option's text: "auto", one number for all, or one for each agent. */
saddle_status saddle_read_samples(size_t *samples, size_t agents, const char *text,
                                  saddle_error *error);

#endif
