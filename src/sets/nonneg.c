/* nonneg: x_k >= 0. */
#include <math.h>

#include "sets/interval.h"
#include "sets/parameter.h"

static saddle_status parse(saddle_set *set, saddle_error *error)
{
    saddle_interval *interval = (saddle_interval *)set;
    interval->lower = 0.0;
    interval->upper = INFINITY;
    return saddle_read_bare(set->text, set->kind->synopsis, error);
}

const saddle_set_class saddle_set_nonneg = {
    .name = "nonneg",
    .synopsis = "nonneg",
    .summary = "x_k >= 0; O(n)",
    .size = sizeof(saddle_interval),
    .parse = parse,
    .project = saddle_interval_project,
    .range = saddle_interval_range,
    .uniform_bounds = saddle_interval_uniform_bounds,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
    .group_rule = SADDLE_PROX_PROJECT_SHRINK,
};
