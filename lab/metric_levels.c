#include "lab/metric_levels.h"

#include <math.h>
#include <stdio.h>

#include <saddle/text.h>

#include "core/print.h"
#include "lab/number_text.h"

size_t saddle_levels_choose(double start, double best, double level[LEVELS_MOST])
{
    if (!(best > 0.0)) {
        level[0] = 0.0;
        return 1;
    }
    int high = (int)ceil(log10(start)) - 1; /* the largest decade below the start */
    int low = (int)ceil(log10(best));       /* the smallest at or above the best */
    if (high < low) {
        /* Less than a decade was gained: use the best itself, rounded up to two digits. */
        double unit = pow(10.0, floor(log10(best)) - 1.0);
        level[0] = ceil(best / unit) * unit;
        return 1;
    }
    int stride = (high - low + LEVELS_MOST) / LEVELS_MOST;
    int top = low + (high - low) / stride * stride;
    size_t count = 0;
    for (int k = top; k >= low; k -= stride) {
        /* Converted from text, so that the level is the double nearest to the decade. */
        char text[NUMBER_TEXT];
        saddle_snprintf(text, sizeof text, "1e%d", k);
        if (saddle_parse_real(text, &level[count]))
            count++;
    }
    return count;
}

size_t saddle_levels_settled(const double *value, size_t rows, double limit, double distance)
{
    size_t k = rows;
    while (k > 0 && fabs(value[k - 1] - limit) <= distance)
        k--;
    return k;
}
