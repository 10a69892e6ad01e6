/*
 * The joint proximal step of a regularizer h over a set X: argmin over u in X of |u - v|^2 / 2 + t
 * h(u). Only pairs for which it is exactly a composition of the prox of h and the projection P onto
 * X are accepted; the class names the rule, which is proved here.
 *
 * Elastic net, any X: by completing the square, the quadratic term only divides by 1 + t W2:
 *   |u - v|^2 / 2 + t W2/2 |u|^2 = (1 + t W2)/2 |u - v / (1 + t W2)|^2 + constant,
 *   and soft(v, t W1) / (1 + t W2) = soft(v / (1 + t W2), t W1 / (1 + t W2)). What remains is l1:
 * - intervals, SHRINK_PROJECT: coordinates separate, and the minimum of a convex function of one
 *   variable over an interval is its unconstrained minimum, clipped.
 * - l2 ball, SHRINK_PROJECT (Yu, NIPS 2013), for any h with h(c u) = c h(u), c > 0: let u be the
 *   prox of h and c u = P u. The subdifferential of h is the same at u and c u, so that v - c u =
 *   (v - u) + (1 - c) u is in t dh(c u) + N(c u), N being the normal cone of the ball.
 * - l1 ball, SHRINK_PROJECT: with a multiplier m for |u|_1 <= R the solution is soft(v, t W + m) =
 *   soft(soft(v, t W), m), where m is the multiplier of the projection of soft(v, t W).
 * - simplex, CONSTANT: |u|_1 = S everywhere on the set.
 * - blocks, each by its own rule: h is a sum over coordinates, hence over blocks.
 * Group l2:
 * - the whole space: its own prox; l2 ball: as above, since h(c u) = c h(u).
 * - nonneg, PROJECT_SHRINK: for u >= 0, |u - v|^2 = |u - v+|^2 + 2 <u, v-> + |v-|^2, where v = v+ -
 *   v-. Without the middle term, which is never negative, the minimum is the prox of v+; this only
 *   scales the groups of v+, so it is feasible and its middle term is zero.
 */
#include "core/float_mode.h"
#include "sets/kernel.h"
#include "sets/set.h"

struct saddle_prox {
    const saddle_set *set;
    const saddle_regularizer *regularizer;
    saddle_prox_rule rule; /* for a regularizer that is not separable */
};

/* Returns whether a separable h has a rule on the set. */
static bool is_known_separable(const saddle_set *set, saddle_weights weights)
{
    if (weights.l1 == 0.0)
        return true;
    if (saddle_set_kind(set) != &saddle_set_blocks)
        return saddle_set_kind(set)->l1_rule != SADDLE_PROX_UNKNOWN;
    size_t count;
    const saddle_set_block *block = saddle_set_block_list(set, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_known_separable(block[i].set, weights))
            return false;
    return true;
}

/* Returns the rule for a regularizer that is not separable. */
static saddle_prox_rule rule_of(const saddle_set *set, const saddle_regularizer *regularizer)
{
    if (regularizer->is_zero || saddle_set_is_whole_space(set))
        return SADDLE_PROX_SHRINK_PROJECT;
    const saddle_regularizer_class *kind = saddle_regularizer_kind(regularizer);
    return kind->rule != NULL ? kind->rule(regularizer, set) : SADDLE_PROX_UNKNOWN;
}

/* Refuses a pair; the message names the built-in sets that are possible with a built-in
 * regularizer. */
static saddle_status refuse(const saddle_set *set, const saddle_regularizer *regularizer,
                            saddle_error *error)
{
    size_t count;
    const saddle_set_class *const *list = saddle_set_list(&count);
    const saddle_regularizer_class *kind = saddle_regularizer_kind(regularizer);
    bool separable = kind->weights != NULL;
    bool own = !separable && kind != &saddle_regularizer_group_l2;
    char works[256] = "none";
    for (size_t i = 0; !own && i < count; i++)
        if (list[i] != &saddle_set_none &&
            (separable ? list[i]->l1_rule : list[i]->group_rule) != SADDLE_PROX_UNKNOWN)
            saddle_append(works, sizeof works, " or %s", list[i]->term.name);
    return saddle_fail(error, SADDLE_UNSUPPORTED,
                       "--regularizer: no exact joint prox of '%.200s' and the set '%.200s' is "
                       "known; set --x-set to %s, or choose another regularizer%s",
                       regularizer->term.text, set->term.text, works,
                       own ? ", or give its class a rule() that accepts the set" : "");
}

saddle_status saddle_prox_create(saddle_prox **out, const saddle_set *set,
                                 const saddle_regularizer *regularizer, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, set, regularizer);
    if (set->term.dimension != regularizer->term.dimension)
        return saddle_refuse(error,
                             "the set '%.200s' has dimension %zu but the regularizer '%.200s' has "
                             "%zu; make both for the same dimension",
                             set->term.text, set->term.dimension, regularizer->term.text,
                             regularizer->term.dimension);
    const saddle_regularizer_class *kind = saddle_regularizer_kind(regularizer);
    saddle_prox_rule rule = SADDLE_PROX_UNKNOWN;
    if (kind->weights == NULL)
        rule = rule_of(set, regularizer);
    else if (is_known_separable(set, kind->weights(regularizer)))
        rule = SADDLE_PROX_SHRINK_PROJECT;
    if (rule == SADDLE_PROX_UNKNOWN)
        return refuse(set, regularizer, error);
    saddle_prox *prox = saddle_alloc(1, sizeof *prox);
    SADDLE_TRY(saddle_check_memory(prox, "a proximal step", error));
    prox->set = set;
    prox->regularizer = regularizer;
    prox->rule = rule;
    *out = prox;
    return SADDLE_OK;
}

void saddle_prox_free(saddle_prox *prox)
{
    saddle_free(prox);
}

const saddle_set *saddle_prox_set(const saddle_prox *prox)
{
    return prox->set;
}

const saddle_regularizer *saddle_prox_regularizer(const saddle_prox *prox)
{
    return prox->regularizer;
}

size_t saddle_prox_scratch(const saddle_prox *prox)
{
    return saddle_set_scratch(prox->set);
}

/* Applies the prox of weights.l1 |u|_1 + weights.l2/2 |u|^2 over a set. */
static void apply_separable(const saddle_set *set, saddle_weights weights, double *v,
                            double *scratch)
{
    if (saddle_set_kind(set) == &saddle_set_blocks) {
        size_t count;
        const saddle_set_block *block = saddle_set_block_list(set, &count);
        for (size_t i = 0; i < count; i++)
            apply_separable(block[i].set, weights, v + block[i].offset, scratch);
        return;
    }
    double threshold = saddle_set_kind(set)->l1_rule == SADDLE_PROX_CONSTANT ? 0.0 : weights.l1;
    if (threshold > 0.0 || weights.l2 > 0.0)
        saddle_soft_threshold(set->term.dimension, threshold, 1.0 + weights.l2, v);
    saddle_set_project(set, v, scratch);
}

void saddle_prox_apply(const saddle_prox *prox, double step, double *v, double *scratch)
{
    const saddle_set *set = prox->set;
    const saddle_regularizer *regularizer = prox->regularizer;
    const saddle_regularizer_class *kind = saddle_regularizer_kind(regularizer);
    bool separable = kind->weights != NULL;
    if (regularizer->is_zero || (!separable && prox->rule == SADDLE_PROX_CONSTANT)) {
        saddle_set_project(set, v, scratch);
    } else if (separable) {
        saddle_weights weights = kind->weights(regularizer);
        weights.l1 *= step;
        weights.l2 *= step;
        apply_separable(set, weights, v, scratch);
    } else if (prox->rule == SADDLE_PROX_PROJECT_SHRINK) {
        saddle_set_project(set, v, scratch);
        kind->shrink(regularizer, step, v);
    } else {
        kind->shrink(regularizer, step, v);
        saddle_set_project(set, v, scratch);
    }
}

/* ---- in a diagonal metric -------------------------------------------------------------------- */

/* Returns whether a set is a product of intervals. */
static bool is_product(const saddle_set *set)
{
    if (saddle_set_kind(set) != &saddle_set_blocks)
        return saddle_set_kind(set)->separable;
    size_t count;
    const saddle_set_block *block = saddle_set_block_list(set, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_product(block[i].set))
            return false;
    return true;
}

bool saddle_prox_has_metric(const saddle_prox *prox)
{
    if (is_product(prox->set))
        return saddle_regularizer_kind(prox->regularizer)->weights != NULL;
    return saddle_set_kind(prox->set) == &saddle_set_l2_ball && prox->regularizer->is_zero;
}

/* Coordinates separate: each is the prox of (step / metric[k]) h, clipped. */
void saddle_prox_apply_metric(const saddle_prox *prox, double step, const double *metric, double *v,
                              double *scratch)
{
    if (!is_product(prox->set)) {
        saddle_ball_project_metric(prox->set, metric, v);
        return;
    }
    saddle_weights weights = saddle_regularizer_kind(prox->regularizer)->weights(prox->regularizer);
    for (size_t k = 0; k < prox->set->term.dimension && !prox->regularizer->is_zero; k++)
        saddle_soft_threshold(1, step * weights.l1 / metric[k], 1.0 + step * weights.l2 / metric[k],
                              v + k);
    saddle_set_project(prox->set, v, scratch);
}
