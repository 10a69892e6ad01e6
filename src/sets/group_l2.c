/*
 * group-l2:W:SIZE: W times the sum of the Euclidean norms of consecutive groups of SIZE entries,
 * the last of which may be shorter (Yuan and Lin, JRSS B 68, 2006). Its prox scales each group by
 * max(0, 1 - step W / |v_g|).
 */
#include "core/vector.h"
#include "sets/kernel.h"
#include "sets/set.h"
#include "sets/term.h"

typedef struct group_l2 {
    saddle_regularizer base;
    double weight;
    size_t size; /* at least 1, at most the dimension */
} group_l2;

static saddle_status init(void *self, saddle_error *error)
{
    group_l2 *h = self;
    const saddle_term *term = &h->base.term;
    saddle_fields fields;
    SADDLE_TRY(saddle_term_fields(&fields, term, error));
    SADDLE_TRY(saddle_term_number(&h->weight, term, &fields, 1, SADDLE_NONNEGATIVE, error));
    uint64_t size;
    if (!saddle_parse_integer(fields.field[2], &size) || size == 0)
        return saddle_refuse(error, "'%.200s': SIZE must be a whole number of at least 1; write %s",
                             term->text, term->kind->synopsis);
    h->size = size < term->dimension ? (size_t)size : term->dimension;
    h->base.is_zero = h->weight == 0.0;
    return SADDLE_OK;
}

double saddle_group_weight(const saddle_regularizer *regularizer, size_t *size)
{
    if (saddle_regularizer_kind(regularizer) != &saddle_regularizer_group_l2)
        return 0.0;
    const group_l2 *self = (const group_l2 *)regularizer;
    *size = self->size;
    return self->weight;
}

/* Returns the length of the group that begins at an entry. */
static size_t group_length(const group_l2 *self, size_t start)
{
    size_t left = self->base.term.dimension - start;
    return self->size < left ? self->size : left;
}

static double value(const saddle_regularizer *regularizer, const double *v)
{
    const group_l2 *self = (const group_l2 *)regularizer;
    double sum = 0.0;
    size_t length;
    for (size_t start = 0; start < regularizer->term.dimension; start += length) {
        length = group_length(self, start);
        sum += saddle_norm(length, v + start);
    }
    return self->weight * sum;
}

static void shrink(const saddle_regularizer *regularizer, double step, double *v)
{
    const group_l2 *self = (const group_l2 *)regularizer;
    double threshold = step * self->weight;
    size_t length;
    for (size_t start = 0; start < regularizer->term.dimension; start += length) {
        length = group_length(self, start);
        double norm = saddle_norm(length, v + start);
        if (norm <= threshold) {
            for (size_t k = start; k < start + length; k++)
                v[k] = 0.0;
        } else if (threshold > 0.0) {
            saddle_scale(length, (norm - threshold) / norm, v + start);
        }
    }
}

static saddle_prox_rule rule(const saddle_regularizer *regularizer, const saddle_set *set)
{
    (void)regularizer;
    return saddle_set_kind(set)->group_rule;
}

const saddle_regularizer_class saddle_regularizer_group_l2 = {
    .term = {.name = "group-l2",
             .synopsis = "group-l2:W:SIZE",
             .summary =
                 "W times the sum of the Euclidean norms of groups of SIZE consecutive entries",
             .size = sizeof(group_l2),
             .init = init},
    .value = value,
    .shrink = shrink,
    .rule = rule,
};
