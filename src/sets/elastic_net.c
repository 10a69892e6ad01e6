/* elastic-net:W1:W2: W1 sum_k |x_k| + W2/2 sum_k x_k^2 (Zou and Hastie, JRSS B 67, 2005). */
#include "core/status.h"
#include "core/vector.h"
#include "sets/kernel.h"
#include "sets/parameter.h"
#include "sets/regularizer.h"

typedef struct elastic_net {
    saddle_regularizer base;
    saddle_weights weight;
} elastic_net;

static saddle_status parse(saddle_regularizer *regularizer, saddle_error *error)
{
    saddle_weights *weight = &((elastic_net *)regularizer)->weight;
    const char *text = regularizer->text;
    const char *synopsis = regularizer->kind->synopsis;
    saddle_fields fields;
    saddle_status status = saddle_read_fields(&fields, text, synopsis, 2, 2, error);
    SADDLE_THEN(status, saddle_read_parameter(&weight->l1, fields.field[1], SADDLE_NONNEGATIVE,
                                              text, synopsis, "W1", error));
    SADDLE_THEN(status, saddle_read_parameter(&weight->l2, fields.field[2], SADDLE_NONNEGATIVE,
                                              text, synopsis, "W2", error));
    regularizer->is_zero = weight->l1 == 0.0 && weight->l2 == 0.0;
    return status;
}

static double value(const saddle_regularizer *regularizer, const double *v)
{
    const saddle_weights *weight = &((const elastic_net *)regularizer)->weight;
    double h = 0.0;
    /* A part without weight is left out, for its norm may overflow. */
    if (weight->l1 > 0.0)
        h += weight->l1 * saddle_norm1(regularizer->dimension, v);
    if (weight->l2 > 0.0)
        h += 0.5 * weight->l2 * saddle_norm2(regularizer->dimension, v);
    return h;
}

static saddle_weights weights(const saddle_regularizer *regularizer)
{
    return ((const elastic_net *)regularizer)->weight;
}

const saddle_regularizer_class saddle_regularizer_elastic_net = {
    .name = "elastic-net",
    .synopsis = "elastic-net:W1:W2",
    .summary = "W1 sum_k |x_k| + W2/2 sum_k x_k^2; O(n)",
    .size = sizeof(elastic_net),
    .parse = parse,
    .value = value,
    .weights = weights,
};
