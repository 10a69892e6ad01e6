/* l1:W: W sum_k |x_k|. */
#include "core/status.h"
#include "sets/kernel.h"
#include "sets/parameter.h"
#include "sets/regularizer.h"

typedef struct l1 {
    saddle_regularizer base;
    double weight;
} l1;

static saddle_status parse(saddle_regularizer *regularizer, saddle_error *error)
{
    l1 *self = (l1 *)regularizer;
    const char *synopsis = regularizer->kind->synopsis;
    saddle_fields fields;
    saddle_status status = saddle_read_fields(&fields, regularizer->text, synopsis, 1, 1, error);
    SADDLE_THEN(status, saddle_read_parameter(&self->weight, fields.field[1], SADDLE_NONNEGATIVE,
                                              regularizer->text, synopsis, "W", error));
    regularizer->is_zero = self->weight == 0.0;
    return status;
}

static double value(const saddle_regularizer *regularizer, const double *v)
{
    return ((const l1 *)regularizer)->weight * saddle_norm1(regularizer->dimension, v);
}

static saddle_weights weights(const saddle_regularizer *regularizer)
{
    return (saddle_weights){.l1 = ((const l1 *)regularizer)->weight};
}

const saddle_regularizer_class saddle_regularizer_l1 = {
    .name = "l1",
    .synopsis = "l1:W",
    .summary = "W sum_k |x_k|; O(n)",
    .size = sizeof(l1),
    .parse = parse,
    .value = value,
    .weights = weights,
};
