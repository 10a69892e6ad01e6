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
 * A bound of a box may be -inf or inf. Blocks are consecutive parts of the vector, in order; a
 * last `*SET` takes the rest. PATH, with a / in it, is a shared object (<saddle/plugin.h>).
 *
 * A set of your own is a ::saddle_set_class, a regularizer a ::saddle_regularizer_class: the tables that
 * the built-in ones are made of. Give them to saddle_set_from_class() and saddle_regularizer_from_class(), or
 * put them into a plug-in; examples/own_set.c and examples/own_regularizer.c do both.
 *
 * All operations of the built-in ones are exact, allocate nothing and can be called from several threads,
 * each with its own scratch memory.
 */
#ifndef SADDLE_SET_H
#define SADDLE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/option.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A closed convex set in R^dimension. */
typedef struct saddle_set saddle_set;
/** What a kind of set can do. */
typedef struct saddle_set_class saddle_set_class;
/** A shared object that was loaded. */
struct saddle_plugin_object;

/**
 * How the joint prox of a regularizer over a set follows from the regularizer's own prox and the
 * projection. State a rule only if it is exact; SADDLE_PROX_UNKNOWN refuses the pair.
 */
typedef enum saddle_prox_rule {
    SADDLE_PROX_UNKNOWN = 0,    /**< It does not. */
    SADDLE_PROX_SHRINK_PROJECT, /**< The prox, then the projection. */
    SADDLE_PROX_PROJECT_SHRINK, /**< The projection, then the prox. */
    SADDLE_PROX_CONSTANT        /**< |x|_1 is the same all over the set: only project. */
} saddle_prox_rule;

/** What a kind of set and a kind of regularizer both have. Instances are constants with static storage. */
typedef struct saddle_term_class {
    const char *name;     /**< Required. Such as "l2-ball". */
    const char *synopsis; /**< How it is written, such as "l2-ball:R"; NULL: its name. */
    const char *summary;  /**< One line, with the cost of the projection or the prox; NULL: none. */
    /** Options that may follow the colon as name=value,name=value and fill fields of the struct
     * (SADDLE_OWN), NULL-terminated. NULL: init() reads saddle_term::argument by itself. */
    const saddle_option *const *options;
    size_t size; /**< Required. Bytes of the struct, which begins with its saddle_term. */
    /** Optional. Complete the struct, which is zero but for its saddle_term and the options; NULL: nothing
     * to do, and an argument is refused unless there are options. */
    saddle_status (*init)(void *self, saddle_error *error);
    /** Optional. Free what init() allocated, even if it failed half-way, but not the struct. */
    void (*release)(void *self);
} saddle_term_class;

/** The beginning of every set and regularizer. The library fills it in before init() is called; it is for
 * reading only. */
typedef struct saddle_term {
    const saddle_term_class *kind; /**< Of its class. Borrowed. */
    const char *text;              /**< What it was made from, such as "l2-ball:2". */
    const char *argument;          /**< What followed the name or path and a colon; "": nothing. */
    void *context;    /**< From saddle_set_from_class() and the like; NULL: made from text. */
    size_t dimension; /**< Length of the vectors; at least 1. */
    char *owned;      /**< The library's: memory of the texts. */
    struct saddle_plugin_object *plugin; /**< The library's: where `kind` is from. */
} saddle_term;

/** A set of your own is a struct that starts with this. */
struct saddle_set {
    saddle_term term; /**< Its class is that of a saddle_set_class. */
};

/** A kind of set. Functions are called from several threads at once and write to their outputs and scratch
 * only. */
struct saddle_set_class {
    saddle_term_class term; /**< Name, size and the like. Always the first member. */
    /** Required. As saddle_set_project(); scratch holds scratch() doubles. A NaN in v must leave a NaN. */
    void (*project)(const saddle_set *set, double *v, double *scratch);
    /** Optional. As saddle_set_range(); NULL: not known, -inf and inf. */
    void (*range)(const saddle_set *set, double *lower, double *upper);
    /** Optional. As saddle_set_norm_bound(); NULL: every entry may be as large as the range allows. */
    double (*norm_bound)(const saddle_set *set);
    /** Optional. As saddle_set_uniform_bounds(); NULL: false. */
    bool (*uniform_bounds)(const saddle_set *set, double *lower, double *upper);
    /** Optional. Doubles of scratch that project() needs; NULL: none. */
    size_t (*scratch)(const saddle_set *set);
    saddle_prox_rule l1_rule;    /**< For l1 and elastic-net. */
    saddle_prox_rule group_rule; /**< For group-l2. */
};

/**
 * Make a set from its text.
 * @param[out] out        the set; NULL on failure. Free with saddle_set_free().
 * @param      text       see the file comment.
 * @param      dimension  length of the vectors.
 */
SADDLE_API saddle_status saddle_set_create(saddle_set **out, const char *text, size_t dimension,
                                           saddle_error *error);
/**
 * Make a set of your own kind.
 * @param[out] out        NULL on failure. Free with saddle_set_free().
 * @param      kind       borrowed; must outlive the set.
 * @param      argument   what would follow the colon in text; NULL or "": nothing.
 * @param      context    whatever the functions need besides: saddle_term::context. Borrowed.
 * @param      dimension  length of the vectors.
 */
SADDLE_API saddle_status saddle_set_from_class(saddle_set **out, const saddle_set_class *kind,
                                               const char *argument, void *context,
                                               size_t dimension, saddle_error *error);
/**
 * Make a box with bounds of its own in every coordinate: lower[k] <= v[k] <= upper[k].
 * @param[out] out    NULL on failure. Free with saddle_set_free().
 * @param      lower  `dimension` numbers, perhaps -inf; copied. NULL: -inf throughout.
 * @param      upper  `dimension` numbers, perhaps inf; copied. NULL: inf throughout.
 */
SADDLE_API saddle_status saddle_set_box(saddle_set **out, size_t dimension, const double *lower,
                                        const double *upper, saddle_error *error);
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

/** All built-in kinds of set; `*count` receives their number. */
SADDLE_API const saddle_set_class *const *saddle_set_list(size_t *count);

/** A convex regularizer h on R^dimension. */
typedef struct saddle_regularizer saddle_regularizer;
/** What a kind of regularizer can do. */
typedef struct saddle_regularizer_class saddle_regularizer_class;

/** h(x) = l1 |x|_1 + l2/2 |x|_2^2, a sum over coordinates. */
typedef struct saddle_weights {
    double l1; /**< Weight of the 1-norm; at least 0. */
    double l2; /**< Weight of half the squared 2-norm; at least 0. */
} saddle_weights;

/** A regularizer of your own is a struct that starts with this. */
struct saddle_regularizer {
    saddle_term term; /**< Its class is that of a saddle_regularizer_class. */
    bool is_zero;     /**< Whether h is identically zero; init() may set it. */
};

/** A kind of regularizer; its functions are called like those of sets. */
struct saddle_regularizer_class {
    saddle_term_class term; /**< Name, size and the like. Always the first member. */
    /** Required. h(v). */
    double (*value)(const saddle_regularizer *regularizer, const double *v);
    /** The weights, for an h of that form. Either this or shrink() is required. */
    saddle_weights (*weights)(const saddle_regularizer *regularizer);
    /** Replace v by argmin over u in R^n of |u - v|^2 / 2 + step h(u). A NaN in v must leave a NaN. */
    void (*shrink)(const saddle_regularizer *regularizer, double step, double *v);
    /** Optional, with shrink(). How the joint prox over a set follows from shrink() and the projection;
     * NULL: only the whole space is accepted. It is not asked about the whole space. */
    saddle_prox_rule (*rule)(const saddle_regularizer *regularizer, const saddle_set *set);
};

/** Make a regularizer from its text; as saddle_set_create(). Free with saddle_regularizer_free(). */
SADDLE_API saddle_status saddle_regularizer_create(saddle_regularizer **out, const char *text,
                                                   size_t dimension, saddle_error *error);
/** Make a regularizer of your own kind; as saddle_set_from_class(). Free with saddle_regularizer_free(). */
SADDLE_API saddle_status saddle_regularizer_from_class(saddle_regularizer **out,
                                                       const saddle_regularizer_class *kind,
                                                       const char *argument, void *context,
                                                       size_t dimension, saddle_error *error);
/** Free a regularizer. NULL is allowed. */
SADDLE_API void saddle_regularizer_free(saddle_regularizer *regularizer);
/** The text the regularizer was made from. Borrowed. */
SADDLE_API const char *saddle_regularizer_text(const saddle_regularizer *regularizer);
/** Whether h is identically zero. */
SADDLE_API bool saddle_regularizer_is_zero(const saddle_regularizer *regularizer);
/** h(v). */
SADDLE_API double saddle_regularizer_value(const saddle_regularizer *regularizer, const double *v);
/** All built-in kinds of regularizer; `*count` receives their number. */
SADDLE_API const saddle_regularizer_class *const *saddle_regularizer_list(size_t *count);

/** The joint proximal step of a regularizer over a set. */
typedef struct saddle_prox saddle_prox;

/**
 * Bind a set and a regularizer, both borrowed and to outlive the result. Free with saddle_prox_free().
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
