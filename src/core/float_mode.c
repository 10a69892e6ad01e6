#include "core/float_mode.h"

fenv_t saddle_float_mode_set(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

void saddle_float_mode_restore(const fenv_t *before)
{
    fesetenv(before);
}
