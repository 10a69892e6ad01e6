/* What the balls of radius R around 0 share. */
#include "sets/ball.h"

#include "core/status.h"
#include "sets/parameter.h"

saddle_status saddle_ball_parse(saddle_set *set, saddle_error *error)
{
    saddle_ball *ball = (saddle_ball *)set;
    const char *synopsis = set->kind->synopsis;
    saddle_fields fields;
    SADDLE_TRY(saddle_read_fields(&fields, set->text, synopsis, 1, 1, error));
    return saddle_read_parameter(&ball->radius, fields.field[1], SADDLE_POSITIVE, set->text,
                                 synopsis, "R", error);
}

void saddle_ball_range(const saddle_set *set, double *lower, double *upper)
{
    const saddle_ball *ball = (const saddle_ball *)set;
    *lower = -ball->radius;
    *upper = ball->radius;
}

double saddle_ball_norm_bound(const saddle_set *set)
{
    return ((const saddle_ball *)set)->radius;
}
