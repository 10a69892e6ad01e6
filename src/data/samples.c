#include "data/samples.h"

#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"

saddle_status saddle_read_samples(size_t *samples, size_t agents, const char *text,
                                  saddle_error *error)
{
    char *copy = saddle_strdup(text);
    SADDLE_TRY(saddle_check_memory(copy, "the samples", error));
    size_t given = 0;
    bool good = true;
    for (char *rest = copy; good && rest != NULL; given++) {
        uint64_t value = 0;
        good =
            saddle_parse_integer(strsep(&rest, ","), &value) && value >= 1 && value <= UINT32_MAX;
        if (good && given < agents)
            samples[given] = (size_t)value;
    }
    saddle_free(copy);
    if (!good)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "samples: '%s' is not valid; give one whole number of at least 1, or "
                           "%zu of them separated by commas, one per agent",
                           text, agents);
    if (given != 1 && given != agents)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "samples: '%s' has %zu number%s for %zu agent%s; give one number for "
                           "all agents, or one for each",
                           text, given, SADDLE_PLURAL(given), agents, SADDLE_PLURAL(agents));
    for (size_t i = given; i < agents; i++)
        samples[i] = samples[0];
    return SADDLE_OK;
}
