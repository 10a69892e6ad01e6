#include "instance/samples.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/status.h"
#include "core/text.h"

/* Samples per agent when the user does not say. */
#define DEFAULT_SAMPLES 100

saddle_status saddle_read_samples(size_t *samples, size_t agents, const char *text,
                                  saddle_error *error)
{
    if (text == NULL) {
        for (size_t i = 0; i < agents; i++)
            samples[i] = DEFAULT_SAMPLES;
        return SADDLE_OK;
    }
    const char *rest = text;
    size_t given = 0;
    for (;;) {
        size_t length = strcspn(rest, ",");
        char number[32];
        uint64_t value = 0;
        bool good = length < sizeof number;
        if (good) {
            memcpy(number, rest, length);
            number[length] = '\0';
            good = saddle_parse_integer(number, &value) && value >= 1 && value <= UINT32_MAX;
        }
        if (!good || given == agents)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "samples: '%s' is not right; give one whole number of at least 1, "
                               "or %zu of them separated by commas, one per agent",
                               text, agents);
        samples[given++] = (size_t)value;
        if (rest[length] == '\0')
            break;
        rest += length + 1;
    }
    if (given != 1 && given != agents)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "samples: '%s' has %zu numbers for %zu agents; give one, or one each",
                           text, given, agents);
    for (size_t i = given; i < agents; i++)
        samples[i] = samples[0];
    return SADDLE_OK;
}
