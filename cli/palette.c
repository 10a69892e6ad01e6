#include "palette.h"

#include <string.h>

/* The paper's four first, with dashes that let both of two equal curves be seen; the centralized ones
 * are dotted or dash-dotted. */
static const palette_entry entries[] = {
    {"precision", "PRECISION", "#0072b2", "#4ea8de", ""},
    {"precision+", "PRECISION+", "#d55e00", "#ff8c4b", "8 5"},
    {"prox-gt-sgda", "Prox-GT-SGDA", "#009e73", "#2ecc9f", ""},
    {"prox-dsgda", "Prox-DSGDA", "#cc79a7", "#e8a3c8", "3 6"},
    {"gt-gda", "GT-GDA", "#56b4e9", "#8fd0f7", "8 5"},
    {"dposg", "DPOSG", "#e69f00", "#f7b93e", ""},
    {"dppsp", "DPPSP", "#882255", "#d4709f", "8 5"},
    {"cspsg", "C-SP-SG", "#767676", "#b0b0b0", ""},
    {"gda", "GDA", "#44aa99", "#6cd0bf", "3 6"},
    {"sgda", "SGDA", "#8a8a2c", "#c9c95e", "3 6"},
    {"minimax-ppa", "Minimax-PPA", "#4b3fb0", "#a296f2", "3 6"},
    {"sreda", "SREDA", "#aa4499", "#e083d0", "9 4 3 4"},
    {"sreda-boost", "SREDA-Boost", "#8c510a", "#d09a57", "9 4 3 4"},
};

#define ENTRIES (sizeof entries / sizeof *entries)

const palette_entry *palette_find(const char *algorithm, size_t place)
{
    for (size_t k = 0; algorithm != NULL && k < ENTRIES; k++)
        if (strcmp(entries[k].algorithm, algorithm) == 0)
            return &entries[k];
    /* From the end, where a look is least likely to be taken. */
    return &entries[ENTRIES - 1 - place % ENTRIES];
}

const char *palette_dashes(const palette_entry *entry, size_t repeat)
{
    static const char *const other[] = {"", "8 5", "3 6", "9 4 3 4", "14 4"};
    const size_t count = sizeof other / sizeof *other;
    if (repeat == 0)
        return entry->dashes;
    size_t own = 0;
    while (own < count && strcmp(other[own], entry->dashes) != 0)
        own++;
    return other[(own + repeat) % count];
}

int palette_strength(size_t repeat)
{
    static const int strength[] = {100, 82, 70, 60};
    const size_t count = sizeof strength / sizeof *strength;
    return strength[repeat < count ? repeat : count - 1];
}

const palette_entry *palette_list(size_t *count)
{
    *count = ENTRIES;
    return entries;
}
