/* none: the whole space. */
#include <math.h>

#include "sets/interval.h"
#include "sets/parameter.h"

static saddle_status parse(saddle_set *set, saddle_error *error)
{
    saddle_interval *interval = (saddle_interval *)set;
    interval->lower = -INFINITY;
    interval->upper = INFINITY;
    return saddle_read_bare(set->text, set->kind->synopsis, error);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
static void project(const saddle_set *set, double *v, double *scratch)
{
    (void)set;
    (void)v;
    (void)scratch;
}

const saddle_set_class saddle_set_none = {
    .name = "none",
    .synopsis = "none",
    .summary = "the whole space; costs nothing",
    .size = sizeof(saddle_interval),
    .parse = parse,
    .project = project,
    .range = saddle_interval_range,
    .uniform_bounds = saddle_interval_uniform_bounds,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
    .group_rule = SADDLE_PROX_SHRINK_PROJECT,
};
