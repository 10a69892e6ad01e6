#include "data/pattern.h"

#include <string.h>

#include "core/memory.h"
#include "core/status.h"

/* The widest number that a pattern asks for. */
#define MOST_WIDTH 9

bool saddle_is_pattern(const char *name)
{
    return strchr(name, '%') != NULL;
}

/* Length of the %d or %0Nd at `at`, and its N; 0: it is none. */
static size_t read_place(const char *at, int *width)
{
    *width = 0;
    if (at[1] == 'd')
        return 2;
    if (at[1] != '0' || at[2] < '1' || at[2] > '0' + MOST_WIDTH || at[3] != 'd')
        return 0;
    *width = at[2] - '0';
    return 4;
}

saddle_status saddle_pattern_check(const char *pattern, saddle_error *error)
{
    int width;
    const char *place = strchr(pattern, '%');
    if (place != NULL && read_place(place, &width) > 0 && strchr(place + 1, '%') == NULL)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "'%s' has a %% in it; %%d or %%02d, once, stands for the number of an agent "
                       "from 0, as in part-%%d.libsvm, and nothing else is understood",
                       pattern);
}

char *saddle_pattern_name(const char *pattern, size_t number)
{
    int width;
    const char *place = strchr(pattern, '%');
    const char *rest = place + read_place(place, &width);
    return saddle_format("%.*s%0*zu%s", (int)(place - pattern), pattern, width, number, rest);
}
