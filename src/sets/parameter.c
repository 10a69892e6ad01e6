/* Reading the texts that name sets and regularizers. */
#include "sets/parameter.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/option_value.h"
#include "core/status.h"

/* Longest part of a user's text that a message repeats, so that the remedy always fits. */
#define SHOWN "%.200s"

/* "a, b, c" into a buffer, cut short if need be. */
static void join(char *out, size_t size, const char *const *name, size_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        int length = snprintf(out + used, size - used, "%s%s", i == 0 ? "" : ", ", name[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

saddle_status saddle_find_name(const char *what, const char *text, const char *const *name,
                               size_t count, size_t *index, saddle_plugin_object **plugin,
                               saddle_error *error)
{
    *plugin = NULL;
    if (text == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "the text of the %s is NULL; give a name",
                           what);
    if (saddle_plugin_named(text))
        return saddle_plugin_open(plugin, text, error);
    SADDLE_TRY(saddle_plugin_check_name(what, text, error));
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < count; i++)
        if (strlen(name[i]) == length && memcmp(name[i], text, length) == 0) {
            *index = i;
            return SADDLE_OK;
        }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             text);
    char all[256];
    join(all, sizeof all, name, count);
    const char *closest = saddle_closest(word, name, count);
    if (closest == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "unknown %s '" SHOWN "'; write one of: %s",
                           what, text, all);
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "unknown %s '" SHOWN "'; did you mean '%s'? All of them: %s", what, text,
                       closest, all);
}

char *saddle_copy_text(const char *from, const char **text, const char **argument, char **options)
{
    size_t bytes = strlen(from) + 1;
    size_t name = strcspn(from, ":");
    size_t after = name + (from[name] == ':' ? 1 : 0);
    char *copy = saddle_alloc(2 * bytes, 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, from, bytes);
    memcpy(copy + bytes, from, bytes);
    *text = copy;
    *argument = copy + after;
    *options = copy + bytes + after;
    return copy;
}

char *saddle_class_text(const char *name, const char *argument)
{
    bool bare = argument == NULL || *argument == '\0';
    return saddle_format("%s%s%s", name, bare ? "" : ":", bare ? "" : argument);
}

saddle_status saddle_read_options(const saddle_option *const *options, bool parses,
                                  const char *name, char *list, void *target, saddle_error *error)
{
    if (options != NULL)
        return saddle_options_parse(options, list, target, error);
    if (parses || *list == '\0')
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT, "%s takes no options, but '" SHOWN "' is given",
                       name, list);
}

saddle_status saddle_read_fields(saddle_fields *out, const char *text, const char *synopsis,
                                 size_t least, size_t most, saddle_error *error)
{
    if (saddle_split(out, text) && out->count > least && out->count <= most + 1)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "'" SHOWN "' has the wrong number of fields; write %s", text, synopsis);
}

saddle_status saddle_read_parameter(double *out, const char *field, saddle_sign sign,
                                    const char *text, const char *synopsis, const char *name,
                                    saddle_error *error)
{
    double value;
    if (!saddle_parse_real(field, &value))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'" SHOWN "': '" SHOWN "' is not a finite number; write %s", text, field,
                           synopsis);
    if (sign == SADDLE_POSITIVE && !(value > 0.0))
        return saddle_fail(error, SADDLE_BAD_INPUT, "'" SHOWN "': %s must be above 0; write %s",
                           text, name, synopsis);
    if (!(value >= 0.0))
        return saddle_fail(error, SADDLE_BAD_INPUT, "'" SHOWN "': %s must be at least 0; write %s",
                           text, name, synopsis);
    *out = value;
    return SADDLE_OK;
}

saddle_status saddle_read_bare(const char *text, const char *synopsis, saddle_error *error)
{
    saddle_fields fields;
    return saddle_read_fields(&fields, text, synopsis, 0, 0, error);
}
