/**
 * @file set.h
 * @brief Constraint sets, regularizers, and their joint proximal step.
 *
 * A set or a regularizer is named by a short text:
 *
 *     none | box:LO:HI | nonneg | simplex[:S] | l2-ball:R | l1-ball:R | linf-ball:R
 *     blocks:COUNT*SET,COUNT*SET,...  |  PATH[:ARGUMENT]
 *
 *     none | l1:W | elastic-net:W1:W2 | group-l2:W:SIZE  |  PATH[:ARGUMENT]
 *
 * A bound of a box may be -inf or inf. Blocks are consecutive ranges of the vector, in order; a
 * last `*SET` takes the remaining entries. PATH, which must contain a /, is a shared object
 * (<saddle/plugin.h>).
 *
 * For your own set fill in a ::saddle_set_class, for your own regularizer a
 * ::saddle_regularizer_class, as the built-in ones do. Pass it to saddle_set_from_class() or
 * saddle_regularizer_from_class(), or put it into a plug-in; examples/own_set.c and
 * examples/own_regularizer.c do both.
 *
 * All operations of the built-in sets and regularizers are exact, allocate nothing and can be
 * called from several threads, each with its own scratch memory.
 */
#ifndef SADDLE_SET_H
#define SADDLE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/option.h>
#include <saddle/status.h>

/** A closed convex set in R^dimension. */
typedef struct saddle_set saddle_set;
/** A kind of set: its name and its functions. */
typedef struct saddle_set_class saddle_set_class;
/** A shared object that was loaded. */
struct saddle_plugin_object;

/**
 * How the joint prox of a regularizer over a set is computed from the regularizer's own prox and
 * the projection. Name a rule only if it is exact; a pair with SADDLE_PROX_UNKNOWN is refused.
 */
typedef enum saddle_prox_rule {
    SADDLE_PROX_UNKNOWN = 0,    /**< No rule is known. */
    SADDLE_PROX_SHRINK_PROJECT, /**< The prox, then the projection. */
    SADDLE_PROX_PROJECT_SHRINK, /**< The projection, then the prox. */
    SADDLE_PROX_CONSTANT        /**< The projection alone: |x|_1 is constant on the set. */
} saddle_prox_rule;

/** What classes of sets and of regularizers have in common. Instances are constants with static
 * storage. */
typedef struct saddle_term_class {
    const char *name;     /**< Required. Such as "l2-ball". */
    const char *synopsis; /**< How it is written, such as "l2-ball:R"; NULL: its name. */
    const char *summary;  /**< One line, with the cost of the projection or the prox; NULL: none. */
    /** Options that may follow the colon as name=value,name=value and fill fields of the struct
     * (SADDLE_OWN), NULL-terminated. NULL: init() parses saddle_term::argument itself. */
    const saddle_option *const *options;
    size_t size; /**< Required. Bytes of the struct, which begins with its saddle_term. */
    /** Optional. Completes the struct, which is zero except for its saddle_term and its options.
     * NULL: there is nothing to do, and an argument is refused unless there are options. */
    saddle_status (*init)(void *self, saddle_error *error);
    /** Optional. Frees what init() allocated, also if init() failed, but not the struct. */
    void (*release)(void *self);
} saddle_term_class;

/** The first member of every set and regularizer. The library fills it in before it calls
 * init(). Read only. */
typedef struct saddle_term {
    const saddle_term_class *kind; /**< Its class. Borrowed. */
    const char *text;              /**< The text it was made from, such as "l2-ball:2". */
    const char *argument;          /**< The text after the colon; "" if there is none. */
    void *context;    /**< The context given to saddle_set_from_class() and the like, or NULL. */
    size_t dimension; /**< Length of the vectors; at least 1. */
    char *owned;      /**< Internal: the memory of the texts. */
    struct saddle_plugin_object *plugin; /**< Internal: the shared object that defines `kind`. */
} saddle_term;

/** A set. Your own is a struct whose first member is this. */
struct saddle_set {
    saddle_term term; /**< Its kind is the first member of a saddle_set_class. */
};

/** A kind of set. Several threads call its functions at the same time; they must write only to
 * their outputs and scratch. */
struct saddle_set_class {
    saddle_term_class term; /**< Name, size and so on. Always the first member. */
    /** Required. Does what saddle_set_project() does, with scratch() doubles of scratch. A NaN
     * in v must result in a NaN. */
    void (*project)(const saddle_set *set, double *v, double *scratch);
    /** Optional. Does what saddle_set_range() does. NULL: -inf and inf. */
    void (*range)(const saddle_set *set, double *lower, double *upper);
    /** Optional. Does what saddle_set_norm_bound() does. NULL: the bound follows from the range. */
    double (*norm_bound)(const saddle_set *set);
    /** Optional. Does what saddle_set_uniform_bounds() does. NULL: false. */
    bool (*uniform_bounds)(const saddle_set *set, double *lower, double *upper);
    /** Optional. Returns the number of doubles of scratch that project() needs. NULL: none. */
    size_t (*scratch)(const saddle_set *set);
    /** Whether the set is a product of intervals, one for each coordinate. The gap is then measured
     * in a way that does not depend on the coordinates' units. */
    bool separable;
    saddle_prox_rule l1_rule;    /**< The rule for l1 and elastic-net. */
    saddle_prox_rule group_rule; /**< The rule for group-l2. */
};

/**
 * Makes a set from its text.
 * @param[out] out        the set; NULL on failure. Free with saddle_set_free().
 * @param      text       see the file comment.
 * @param      dimension  length of the vectors.
 */
SADDLE_API saddle_status saddle_set_create(saddle_set **out, const char *text, size_t dimension,
                                           saddle_error *error);
/**
 * Makes a set of your own kind.
 * @param[out] out        NULL on failure. Free with saddle_set_free().
 * @param      kind       borrowed; must outlive the set.
 * @param      argument   what would follow the colon in text; may be NULL.
 * @param      context    anything else that the functions need; becomes saddle_term::context.
 *                        Borrowed.
 * @param      dimension  length of the vectors.
 */
SADDLE_API saddle_status saddle_set_from_class(saddle_set **out, const saddle_set_class *kind,
                                               const char *argument, void *context,
                                               size_t dimension, saddle_error *error);
/**
 * Makes a box with separate bounds for every coordinate: lower[k] <= v[k] <= upper[k].
 * @param[out] out    NULL on failure. Free with saddle_set_free().
 * @param      lower  `dimension` numbers, possibly -inf; copied. NULL: all -inf.
 * @param      upper  `dimension` numbers, possibly inf; copied. NULL: all inf.
 */
SADDLE_API saddle_status saddle_set_box(saddle_set **out, size_t dimension, const double *lower,
                                        const double *upper, saddle_error *error);
/** Frees a set. NULL is allowed. */
SADDLE_API void saddle_set_free(saddle_set *set);

/** Returns the text the set was made from. Borrowed. */
SADDLE_API const char *saddle_set_text(const saddle_set *set);
/** Returns the length of the vectors. */
SADDLE_API size_t saddle_set_dimension(const saddle_set *set);
/** Returns the number of doubles of scratch that project() and distance() need. */
SADDLE_API size_t saddle_set_scratch(const saddle_set *set);
/** Returns whether the set is the whole space. */
SADDLE_API bool saddle_set_is_whole_space(const saddle_set *set);
/**
 * If the set is an interval product with the same bounds in every coordinate (none, box, nonneg,
 * linf-ball), stores the bounds, possibly infinite, and returns true.
 */
SADDLE_API bool saddle_set_uniform_bounds(const saddle_set *set, double *lower, double *upper);
/** Stores the smallest and the largest value, possibly infinite, of any coordinate over the set. */
SADDLE_API void saddle_set_range(const saddle_set *set, double *lower, double *upper);
/** Returns an upper bound, possibly infinite, of the Euclidean norm over the set; exact for
 * balls, boxes and simplices. */
SADDLE_API double saddle_set_norm_bound(const saddle_set *set);

/** Replaces v by its Euclidean projection onto the set. */
SADDLE_API void saddle_set_project(const saddle_set *set, double *v, double *scratch);
/** Returns the Euclidean distance from v to the set; NaN if v contains NaN. Does not change v. */
SADDLE_API double saddle_set_distance(const saddle_set *set, const double *v, double *scratch);

/** Returns all built-in kinds of set; `*count` receives their number. */
SADDLE_API const saddle_set_class *const *saddle_set_list(size_t *count);

/** A convex regularizer h on R^dimension. */
typedef struct saddle_regularizer saddle_regularizer;
/** A kind of regularizer: its name and its functions. */
typedef struct saddle_regularizer_class saddle_regularizer_class;

/** The weights of h(x) = l1 |x|_1 + l2/2 |x|_2^2. */
typedef struct saddle_weights {
    double l1; /**< Weight of the 1-norm; at least 0. */
    double l2; /**< Weight of half the squared 2-norm; at least 0. */
} saddle_weights;

/** A regularizer. Your own is a struct whose first member is this. */
struct saddle_regularizer {
    saddle_term term; /**< Its kind is the first member of a saddle_regularizer_class. */
    bool is_zero;     /**< Whether h is identically zero; init() may set it. */
};

/** A kind of regularizer. Several threads call its functions at the same time; they must write
 * only to their outputs. */
struct saddle_regularizer_class {
    saddle_term_class term; /**< Name, size and so on. Always the first member. */
    /** Required. Returns h(v). */
    double (*value)(const saddle_regularizer *regularizer, const double *v);
    /** Returns the weights, if h has the form of ::saddle_weights. Either this or shrink() is
     * required. */
    saddle_weights (*weights)(const saddle_regularizer *regularizer);
    /** Replaces v by argmin over u in R^n of |u - v|^2 / 2 + step h(u). A NaN in v must result
     * in a NaN. */
    void (*shrink)(const saddle_regularizer *regularizer, double step, double *v);
    /** Optional, with shrink(). Returns the rule for the joint prox over a set, which is never
     * the whole space. NULL: only the whole space is accepted. */
    saddle_prox_rule (*rule)(const saddle_regularizer *regularizer, const saddle_set *set);
};

/** Makes a regularizer from its text, like saddle_set_create(). Free with
 * saddle_regularizer_free(). */
SADDLE_API saddle_status saddle_regularizer_create(saddle_regularizer **out, const char *text,
                                                   size_t dimension, saddle_error *error);
/** Makes a regularizer of your own kind, like saddle_set_from_class(). Free with
 * saddle_regularizer_free(). */
SADDLE_API saddle_status saddle_regularizer_from_class(saddle_regularizer **out,
                                                       const saddle_regularizer_class *kind,
                                                       const char *argument, void *context,
                                                       size_t dimension, saddle_error *error);
/** Frees a regularizer. NULL is allowed. */
SADDLE_API void saddle_regularizer_free(saddle_regularizer *regularizer);
/** Returns the text the regularizer was made from. Borrowed. */
SADDLE_API const char *saddle_regularizer_text(const saddle_regularizer *regularizer);
/** Returns whether h is identically zero. */
SADDLE_API bool saddle_regularizer_is_zero(const saddle_regularizer *regularizer);
/** Returns h(v). */
SADDLE_API double saddle_regularizer_value(const saddle_regularizer *regularizer, const double *v);
/** Returns all built-in kinds of regularizer; `*count` receives their number. */
SADDLE_API const saddle_regularizer_class *const *saddle_regularizer_list(size_t *count);

/** The joint proximal step of a regularizer over a set. */
typedef struct saddle_prox saddle_prox;

/**
 * Combines a set and a regularizer. Both are borrowed and must outlive the result. Free with
 * saddle_prox_free(). Returns SADDLE_UNSUPPORTED, with a message that names the possible pairs, if
 * no exact joint prox is known.
 */
SADDLE_API saddle_status saddle_prox_create(saddle_prox **out, const saddle_set *set,
                                            const saddle_regularizer *regularizer,
                                            saddle_error *error);
/** Frees a prox, but not its set and its regularizer. NULL is allowed. */
SADDLE_API void saddle_prox_free(saddle_prox *prox);
/** Returns the set of the pair. Borrowed. */
SADDLE_API const saddle_set *saddle_prox_set(const saddle_prox *prox);
/** Returns the regularizer of the pair. Borrowed. */
SADDLE_API const saddle_regularizer *saddle_prox_regularizer(const saddle_prox *prox);
/** Returns the number of doubles of scratch that apply() needs. */
SADDLE_API size_t saddle_prox_scratch(const saddle_prox *prox);
/** Replaces v by argmin over u in the set of |u - v|^2 / 2 + step h(u), where step >= 0. */
SADDLE_API void saddle_prox_apply(const saddle_prox *prox, double step, double *v, double *scratch);

#endif
