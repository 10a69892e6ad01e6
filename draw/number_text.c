#include "draw/number_text.h"

#include <stdio.h>

#include "core/print.h"

const char *saddle_bytes_text(double bytes, char out[NUMBER_TEXT])
{
    static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000.0) {
        saddle_snprintf(out, NUMBER_TEXT, "%.0f B", bytes);
        return out;
    }
    size_t k = 0;
    for (bytes /= 1000.0; bytes >= 999.5 && k + 1 < sizeof unit / sizeof *unit; k++)
        bytes /= 1000.0;
    int decimals = bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0;
    saddle_snprintf(out, NUMBER_TEXT, "%.*f %s", decimals, bytes, unit[k]);
    return out;
}
