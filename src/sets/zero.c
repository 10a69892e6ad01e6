/* none: the regularizer that is zero everywhere. */
#include "sets/parameter.h"
#include "sets/regularizer.h"

static saddle_status parse(saddle_regularizer *regularizer, saddle_error *error)
{
    regularizer->is_zero = true;
    return saddle_read_bare(regularizer->text, regularizer->kind->synopsis, error);
}

static double value(const saddle_regularizer *regularizer, const double *v)
{
    (void)regularizer;
    (void)v;
    return 0.0;
}

static saddle_weights weights(const saddle_regularizer *regularizer)
{
    (void)regularizer;
    return (saddle_weights){0.0, 0.0};
}

const saddle_regularizer_class saddle_regularizer_zero = {
    .name = "none",
    .synopsis = "none",
    .summary = "no regularizer; costs nothing",
    .size = sizeof(saddle_regularizer),
    .parse = parse,
    .value = value,
    .weights = weights,
};
