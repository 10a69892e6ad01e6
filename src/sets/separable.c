/*
 * h(x) = W1 sum_k |x_k| + W2/2 sum_k x_k^2: none, l1:W and elastic-net:W1:W2 (Zou and Hastie, JRSS
 * B 67, 2005).
 */
#include "core/vector.h"
#include "sets/kernel.h"
#include "sets/set.h"
#include "sets/term.h"

typedef struct separable {
    saddle_regularizer base;
    saddle_weights weight;
} separable;

static saddle_status init(void *self, saddle_error *error)
{
    separable *h = self;
    SADDLE_TRY(saddle_term_numbers(&h->base.term, SADDLE_NONNEGATIVE,
                                   (double *[]){&h->weight.l1, &h->weight.l2}, error));
    h->base.is_zero = h->weight.l1 == 0.0 && h->weight.l2 == 0.0;
    return SADDLE_OK;
}

static double value(const saddle_regularizer *regularizer, const double *v)
{
    const saddle_weights *weight = &((const separable *)regularizer)->weight;
    double h = 0.0;
    /* Terms with weight 0 are skipped, because their norm may overflow. */
    if (weight->l1 > 0.0)
        h += weight->l1 * saddle_norm1(regularizer->term.dimension, v);
    if (weight->l2 > 0.0)
        h += 0.5 * weight->l2 * saddle_norm2(regularizer->term.dimension, v);
    return h;
}

static saddle_weights weights(const saddle_regularizer *regularizer)
{
    return ((const separable *)regularizer)->weight;
}

/* clang-format off */
#define SEPARABLE(id, form, words)          \
    {                                       \
        .term = {.name = (id),              \
                 .synopsis = (form),        \
                 .summary = (words),        \
                 .size = sizeof(separable), \
                 .init = init},             \
        .value = value, .weights = weights, \
    }
/* clang-format on */

const saddle_regularizer_class saddle_regularizer_zero =
    SEPARABLE("none", "none", "no regularizer: h = 0");
const saddle_regularizer_class saddle_regularizer_l1 = SEPARABLE("l1", "l1:W", "W sum_k |x_k|");
const saddle_regularizer_class saddle_regularizer_elastic_net =
    SEPARABLE("elastic-net", "elastic-net:W1:W2", "W1 sum_k |x_k| + (W2/2) sum_k x_k^2");
