/* The floating-point mode inside the library: rounding to nearest, no traps, whatever mode the caller uses. */
#pragma once

#include <fenv.h>

/* Switches to the standard mode and returns the caller's. */
static inline fenv_t saddle_float_mode_set(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

/* Switches back to the caller's mode. */
static inline void saddle_float_mode_restore(const fenv_t *before)
{
    fesetenv(before);
}

/* The first declaration in a public function that computes. Until the function returns, its
 * thread and the threads that it starts use the standard mode. */
#define SADDLE_STANDARD_FLOATS                                                              \
    __attribute__((cleanup(saddle_float_mode_restore), unused)) const fenv_t caller_mode_ = \
        saddle_float_mode_set()
