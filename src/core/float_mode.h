/* The floating-point mode of calls into the library: rounding to nearest, no traps, whatever the caller's. */
#ifndef SADDLE_CORE_FLOAT_MODE_H
#define SADDLE_CORE_FLOAT_MODE_H

#include <fenv.h>

/* Switches to the standard mode and returns the caller's. */
fenv_t saddle_float_mode_set(void);
/* Switches back. */
void saddle_float_mode_restore(const fenv_t *before);

/* The first declaration of a public function that computes: everything up to its return, on this thread
 * and on threads that it starts, is done in the standard mode. */
#define SADDLE_STANDARD_FLOATS                                                              \
    __attribute__((cleanup(saddle_float_mode_restore), unused)) const fenv_t caller_mode_ = \
        saddle_float_mode_set()

#endif
