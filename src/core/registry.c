#include "core/registry.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define MOST_NAMES 64

saddle_status saddle_registry_find(size_t *index, const char *kind, const char *name,
                                   const char *(*name_of)(size_t), size_t count,
                                   saddle_error *error)
{
    const char *names[MOST_NAMES];
    char list[512] = "";
    size_t used = 0;
    for (size_t k = 0; k < count && k < MOST_NAMES; k++) {
        names[k] = name_of(k);
        if (strcmp(names[k], name) == 0) {
            *index = k;
            return SADDLE_OK;
        }
        int wrote = snprintf(list + used, sizeof list - used, "%s%s", k == 0 ? "" : ", ", names[k]);
        if (wrote > 0 && used + (size_t)wrote < sizeof list)
            used += (size_t)wrote;
    }
    const char *close = saddle_closest(name, names, count < MOST_NAMES ? count : MOST_NAMES);
    if (close != NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "there is no %s '%s'; did you mean '%s'? There are: %s", kind, name,
                           close, list);
    return saddle_fail(error, SADDLE_BAD_INPUT, "there is no %s '%s'; there are: %s", kind, name,
                       list);
}
