/* The samples option: how many samples each agent has. */
#ifndef SADDLE_DATA_SAMPLES_H
#define SADDLE_DATA_SAMPLES_H

#include <stddef.h>

#include <saddle/status.h>

/* Parses one whole number for all agents, or one per agent, separated by commas. */
saddle_status saddle_read_samples(size_t *samples, size_t agents, const char *text,
                                  saddle_error *error);

#endif
