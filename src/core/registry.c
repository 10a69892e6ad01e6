#include "core/registry.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define MOST_NAMES 64
#define NAME_SIZE 64

/* A name up to its colon. */
static const char *cut(const char *name, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%.*s", (int)strcspn(name, ":"), name);
    return out;
}

saddle_status saddle_registry_find(size_t *index, const char *kind, const char *name,
                                   const char *(*name_of)(size_t), size_t count,
                                   saddle_error *error)
{
    char wanted[NAME_SIZE];
    char words[MOST_NAMES][NAME_SIZE];
    const char *names[MOST_NAMES];
    char list[512] = "";
    size_t used = 0;
    cut(name, wanted);
    for (size_t k = 0; k < count && k < MOST_NAMES; k++) {
        names[k] = cut(name_of(k), words[k]);
        bool fields = strchr(name_of(k), ':') != NULL || strchr(name, ':') == NULL;
        if (fields && strcmp(names[k], wanted) == 0) {
            *index = k;
            return SADDLE_OK;
        }
        int wrote =
            snprintf(list + used, sizeof list - used, "%s%s", k == 0 ? "" : ", ", name_of(k));
        if (wrote > 0 && used + (size_t)wrote < sizeof list)
            used += (size_t)wrote;
    }
    saddle_suggestion meant =
        saddle_suggest(wanted, names, count < MOST_NAMES ? count : MOST_NAMES);
    return saddle_fail(error, SADDLE_BAD_INPUT, "there is no %s '%.100s'%s%s are: %s", kind, name,
                       meant.text, meant.text[0] != '\0' ? " There" : "; there", list);
}
