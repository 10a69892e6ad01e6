/**
 * @file set.h
 * @brief Constraint sets, regularizers, and their joint proximal step.
 *
 * A set or a regularizer is named by a short text:
 *
 *     none | box:LO:HI | nonneg | simplex[:S] | l2-ball:R | l1-ball:R | linf-ball:R
 *     blocks:COUNT*SET,COUNT*SET,...
 *
 *     none | l1:W | elastic-net:W1:W2 | group-l2:W:SIZE
 *
 * A bound of a box may be -inf or inf. Blocks are consecutive parts of the vector, in order; a
 * last `*SET` takes the rest.
 *
 * All operations are exact, allocate nothing and are safe to call from several threads, each with
 * its own scratch memory.
 */
#ifndef SADDLE_SET_H
#define SADDLE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A closed convex set in R^dimension. */
typedef struct saddle_set saddle_set;

/** One row of the list of sets or regularizers that `saddle sets` prints. */
typedef struct saddle_set_info {
    const char *synopsis; /**< How it is written, such as "box:LO:HI". */
    const char *summary;  /**< What it is, in one line, with the cost of its projection. */
} saddle_set_info;

/**
 * Make a set from its text.
 * @param[out] out        the set; NULL on failure. Free with saddle_set_free().
 * @param      text       see the file comment.
 * @param      dimension  length of the vectors.
 */
SADDLE_API saddle_status saddle_set_create(saddle_set **out, const char *text, size_t dimension,
                                           saddle_error *error);
/** Free a set. NULL is allowed. */
SADDLE_API void saddle_set_free(saddle_set *set);

/** The text the set was made from. Borrowed. */
SADDLE_API const char *saddle_set_text(const saddle_set *set);
/** Length of the vectors. */
SADDLE_API size_t saddle_set_dimension(const saddle_set *set);
/** Doubles of scratch that project() and distance() need. */
SADDLE_API size_t saddle_set_scratch(const saddle_set *set);
/** Whether the set is the whole space. */
SADDLE_API bool saddle_set_is_whole_space(const saddle_set *set);
/**
 * If the set is an interval product with the same bounds in every coordinate (none, box, nonneg,
 * linf-ball), store the bounds (perhaps infinite) and return true.
 */
SADDLE_API bool saddle_set_uniform_bounds(const saddle_set *set, double *lower, double *upper);
/** The smallest and the largest value any coordinate takes over the set (perhaps infinite). */
SADDLE_API void saddle_set_range(const saddle_set *set, double *lower, double *upper);
/** An upper bound of the Euclidean norm over the set: exact for balls, boxes and simplices; perhaps
 * infinite. */
SADDLE_API double saddle_set_norm_bound(const saddle_set *set);

/** Replace v by its Euclidean projection onto the set. */
SADDLE_API void saddle_set_project(const saddle_set *set, double *v, double *scratch);
/** Euclidean distance from v to the set; NaN when v holds one. v is left alone. */
SADDLE_API double saddle_set_distance(const saddle_set *set, const double *v, double *scratch);

/** All kinds of set; `*count` receives their number. */
SADDLE_API const saddle_set_info *saddle_set_list(size_t *count);

/** A convex regularizer h on R^dimension. */
typedef struct saddle_regularizer saddle_regularizer;

/** Make a regularizer from its text; as saddle_set_create(). */
SADDLE_API saddle_status saddle_regularizer_create(saddle_regularizer **out, const char *text,
                                                   size_t dimension, saddle_error *error);
/** Free a regularizer. NULL is allowed. */
SADDLE_API void saddle_regularizer_free(saddle_regularizer *regularizer);
/** The text the regularizer was made from. Borrowed. */
SADDLE_API const char *saddle_regularizer_text(const saddle_regularizer *regularizer);
/** Whether h is identically zero. */
SADDLE_API bool saddle_regularizer_is_zero(const saddle_regularizer *regularizer);
/** h(v). */
SADDLE_API double saddle_regularizer_value(const saddle_regularizer *regularizer, const double *v);
/** All kinds of regularizer; `*count` receives their number. */
SADDLE_API const saddle_set_info *saddle_regularizer_list(size_t *count);

/** The joint proximal step of a regularizer over a set. */
typedef struct saddle_prox saddle_prox;

/**
 * Bind a set and a regularizer, both borrowed and to outlive the result.
 * Pairs whose joint prox is not exactly known are refused with SADDLE_UNSUPPORTED and a message
 * that names the pairs that work.
 */
SADDLE_API saddle_status saddle_prox_create(saddle_prox **out, const saddle_set *set,
                                            const saddle_regularizer *regularizer,
                                            saddle_error *error);
/** Free a prox; the set and the regularizer stay. NULL is allowed. */
SADDLE_API void saddle_prox_free(saddle_prox *prox);
/** The set of the pair. Borrowed. */
SADDLE_API const saddle_set *saddle_prox_set(const saddle_prox *prox);
/** The regularizer of the pair. Borrowed. */
SADDLE_API const saddle_regularizer *saddle_prox_regularizer(const saddle_prox *prox);
/** Doubles of scratch that apply() needs. */
SADDLE_API size_t saddle_prox_scratch(const saddle_prox *prox);
/** Replace v by argmin over u in the set of  |u - v|^2 / 2 + step h(u);  step >= 0. */
SADDLE_API void saddle_prox_apply(const saddle_prox *prox, double step, double *v, double *scratch);

#ifdef __cplusplus
}
#endif
#endif
