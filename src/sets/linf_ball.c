/* linf-ball:R: every |x_k| at most R. */
#include "core/status.h"
#include "sets/interval.h"
#include "sets/parameter.h"

static saddle_status parse(saddle_set *set, saddle_error *error)
{
    saddle_interval *interval = (saddle_interval *)set;
    const char *synopsis = set->kind->synopsis;
    saddle_fields fields;
    saddle_status status = saddle_read_fields(&fields, set->text, synopsis, 1, 1, error);
    SADDLE_THEN(status, saddle_read_parameter(&interval->upper, fields.field[1], SADDLE_POSITIVE,
                                              set->text, synopsis, "R", error));
    interval->lower = -interval->upper;
    return status;
}

const saddle_set_class saddle_set_linf_ball = {
    .name = "linf-ball",
    .synopsis = "linf-ball:R",
    .summary = "every |x_k| at most R; O(n)",
    .size = sizeof(saddle_interval),
    .parse = parse,
    .project = saddle_interval_project,
    .range = saddle_interval_range,
    .uniform_bounds = saddle_interval_uniform_bounds,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
};
