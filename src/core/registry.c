#include "core/registry.h"

#define MOST_NAMES 64
#define NAME_SIZE 64

/* Returns entry k of a list of pointers; `name` receives its first member. */
static const void *entry_of(const void *list, size_t k, const char **name)
{
    const void *entry;
    memcpy(&entry, (const char *)list + k * sizeof entry, sizeof entry);
    memcpy(name, entry, sizeof *name);
    return entry;
}

/* Copies a name up to its colon. */
static const char *cut(const char *name, char out[NAME_SIZE])
{
    saddle_snprintf(out, NAME_SIZE, "%.*s", (int)strcspn(name, ":"), name);
    return out;
}

saddle_status saddle_registry_find(const void **out, const char *what, const char *name,
                                   const void *list, size_t count, saddle_error *error)
{
    char wanted[NAME_SIZE];
    char words[MOST_NAMES][NAME_SIZE];
    const char *names[MOST_NAMES];
    char all[512] = "";
    cut(name, wanted);
    count = count < MOST_NAMES ? count : MOST_NAMES;
    for (size_t k = 0; k < count; k++) {
        const char *full;
        *out = entry_of(list, k, &full);
        names[k] = cut(full, words[k]);
        bool fields = strchr(full, ':') != NULL || strchr(name, ':') == NULL;
        if (fields && strcmp(names[k], wanted) == 0)
            return SADDLE_OK;
        saddle_append(all, sizeof all, "%s%s", k == 0 ? "" : ", ", full);
    }
    *out = NULL;
    saddle_suggestion meant = saddle_suggest(wanted, names, count);
    return saddle_refuse(error, "there is no %s '%.100s'%s%s are: %s", what, name, meant.text,
                         meant.text[0] != '\0' ? " There" : "; there", all);
}
