/* Starts other programs, without a shell. */
#pragma once

#include <sys/types.h>

/* Starts the program argv[0], looked up on the PATH, with three descriptors as its standard input, output and
 * errors; returns 0, or an errno: ENOENT if the program is not installed. */
int saddle_start_program(pid_t *child, const char *const *argv, int input, int output, int errors);
/* Waits for a program to end; returns its status as waitpid() does, 0 if another thread took it. */
int saddle_wait_for_program(pid_t child);
