/* box:LO:HI: LO <= x_k <= HI. Either bound may be infinite; the set may not be empty. */
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "sets/interval.h"
#include "sets/parameter.h"

/* A finite number, "inf" or "-inf". */
static bool read_bound(const char *field, double *out)
{
    if (strcmp(field, "inf") == 0)
        *out = INFINITY;
    else if (strcmp(field, "-inf") == 0)
        *out = -INFINITY;
    else
        return saddle_parse_real(field, out);
    return true;
}

static saddle_status parse(saddle_set *set, saddle_error *error)
{
    saddle_interval *interval = (saddle_interval *)set;
    const char *synopsis = set->kind->synopsis;
    saddle_fields fields;
    SADDLE_TRY(saddle_read_fields(&fields, set->text, synopsis, 2, 2, error));
    double *bound[2] = {&interval->lower, &interval->upper};
    for (size_t i = 0; i < 2; i++)
        if (!read_bound(fields.field[i + 1], bound[i]))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "'%.200s': '%.200s' is not a number, inf or -inf; write %s",
                               set->text, fields.field[i + 1], synopsis);
    if (!(interval->lower <= interval->upper))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%.200s': LO is above HI; write %s with LO <= HI", set->text, synopsis);
    if (interval->lower == INFINITY || interval->upper == -INFINITY)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%.200s' holds no finite number; write %s with LO < inf and HI > -inf",
                           set->text, synopsis);
    return SADDLE_OK;
}

const saddle_set_class saddle_set_bounded = {
    .name = "box",
    .synopsis = "box:LO:HI",
    .summary = "LO <= x_k <= HI, either may be infinite; O(n)",
    .size = sizeof(saddle_interval),
    .parse = parse,
    .project = saddle_interval_project,
    .range = saddle_interval_range,
    .uniform_bounds = saddle_interval_uniform_bounds,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
};
