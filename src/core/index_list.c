#include "core/index_list.h"

#include <stdint.h>
#include <string.h>

#include "core/text.h"

bool saddle_mark_list(const char *text, size_t first, size_t count, bool *mark)
{
    for (const char *rest = text;;) {
        char number[32];
        uint64_t value = 0;
        size_t length = strcspn(rest, ",");
        if (length >= sizeof number)
            return false;
        memcpy(number, rest, length);
        number[length] = '\0';
        if (!saddle_parse_integer(number, &value) || value < first || value - first >= count ||
            mark[value - first])
            return false;
        mark[value - first] = true;
        if (rest[length] == '\0')
            return true;
        rest += length + 1;
    }
}
