/* Bounds over sets and of block matrices. */
#include "problems/bounds.h"

#include <math.h>
#include <string.h>

double saddle_set_norm_bound(const saddle_set *set)
{
    /* In these the longest vectors have a single entry; in others all entries may be extreme. */
    static const char *const single[] = {"l2-ball", "l1-ball", "simplex"};
    const char *text = saddle_set_text(set);
    double lower;
    double upper;
    saddle_set_range(set, &lower, &upper);
    double most = fmax(fabs(lower), fabs(upper));
    for (size_t k = 0; k < sizeof single / sizeof *single; k++)
        if (strncmp(text, single[k], strlen(single[k])) == 0)
            return most;
    return most * sqrt((double)saddle_set_dimension(set));
}

double saddle_block_norm(double xx, double xy, double yy)
{
    return 0.5 * (xx + yy) + sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy);
}
