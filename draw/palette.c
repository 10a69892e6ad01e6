#include "draw/palette.h"
#include "core/base.h"

size_t palette_count(void)
{
    size_t count;
    saddle_algorithm_list(&count);
    return count;
}

const saddle_look *palette_look(size_t index)
{
    size_t count;
    return &saddle_algorithm_list(&count)[index]->look;
}

size_t palette_index(const char *algorithm, size_t index)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t k = 0; algorithm != NULL && k < count; k++)
        if (strcmp(list[k]->name, algorithm) == 0)
            return k;
    if (count == 0 || algorithm == NULL)
        return count > 0 ? index % count : 0;
    /* From the end of the list, where a look is least likely to be used. */
    return count - 1 - index % count;
}

const char *palette_dashes(const saddle_look *look, size_t repeat)
{
    static const char *const other[] = {"", "8 5", "3 6", "9 4 3 4", "14 4"};
    const size_t count = sizeof other / sizeof *other;
    if (repeat == 0)
        return look->dashes;
    size_t own = 0;
    while (own < count && strcmp(other[own], look->dashes) != 0)
        own++;
    return other[(own + repeat) % count];
}

int palette_strength(size_t repeat)
{
    static const int strength[] = {100, 82, 70, 60};
    const size_t count = sizeof strength / sizeof *strength;
    return strength[repeat < count ? repeat : count - 1];
}
