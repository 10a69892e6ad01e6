/*
 * What a constraint set is made of. One file per set: it defines a struct that begins with
 * saddle_set and one const table of functions; SADDLE_SETS below is the list of them all.
 */
#ifndef SADDLE_SETS_SET_H
#define SADDLE_SETS_SET_H

#include <saddle/set.h>

/*
 * How the joint prox of a regularizer over the set follows from the regularizer's own prox
 * ("shrink") and the projection. Each set states the rule for a family of regularizers; prox.c
 * holds the proofs. No rule means that the pair is refused.
 */
typedef enum saddle_prox_rule {
    SADDLE_PROX_UNKNOWN = 0,
    SADDLE_PROX_SHRINK_PROJECT, /* shrink, then project */
    SADDLE_PROX_PROJECT_SHRINK, /* project, then shrink */
    SADDLE_PROX_CONSTANT,       /* |x|_1 is the same all over the set: leave it out, project */
    SADDLE_PROX_BLOCKWISE       /* by the rule of each block */
} saddle_prox_rule;

/* The functions of one kind of set. */
typedef struct saddle_set_class {
    size_t size; /* bytes of the struct that begins with saddle_set */
    /* Read set->text into the struct, which is zero but for the base. */
    saddle_status (*parse)(saddle_set *set, saddle_error *error);
    /* As saddle_set_project(); scratch holds scratch() doubles. A NaN in v must leave a NaN. */
    void (*project)(const saddle_set *set, double *v, double *scratch);
    /* As saddle_set_range(). */
    void (*range)(const saddle_set *set, double *lower, double *upper);
    /* As saddle_set_norm_bound(); NULL: every entry may be as large as the range allows. */
    double (*norm_bound)(const saddle_set *set);
    /* As saddle_set_uniform_bounds(); NULL: never an interval product. */
    bool (*uniform_bounds)(const saddle_set *set, double *lower, double *upper);
    /* Doubles of scratch that project() needs; NULL: none. */
    size_t (*scratch)(const saddle_set *set);
    /* Free what parse() has allocated, even if it failed half-way; NULL: nothing. */
    void (*free)(saddle_set *set);
    saddle_prox_rule l1_rule;    /* for l1 and elastic-net */
    saddle_prox_rule group_rule; /* for group-l2 */
} saddle_set_class;

/* The beginning of every set. */
struct saddle_set {
    const saddle_set_class *class;
    const saddle_set_info *info; /* borrowed from the list of sets */
    char *text;                  /* owned */
    size_t dimension;            /* at least 1 */
};

/* Every kind of set: X(identifier, name, synopsis, summary). */
#define SADDLE_SETS(X)                                                                          \
    X(none, "none", "none", "the whole space; costs nothing")                                   \
    X(box, "box", "box:LO:HI", "LO <= x_k <= HI, either may be infinite; O(n)")                 \
    X(nonneg, "nonneg", "nonneg", "x_k >= 0; O(n)")                                             \
    X(simplex, "simplex", "simplex[:S]", "x_k >= 0 with sum S (default 1); at most O(n log n)") \
    X(l2_ball, "l2-ball", "l2-ball:R", "Euclidean norm at most R; O(n)")                        \
    X(l1_ball, "l1-ball", "l1-ball:R", "sum of |x_k| at most R; at most O(n log n)")            \
    X(linf_ball, "linf-ball", "linf-ball:R", "every |x_k| at most R; O(n)")                     \
    X(blocks, "blocks", "blocks:COUNT*SET,...,*SET",                                            \
      "consecutive parts in sets of their own, the last *SET takes the rest; cost of the parts")

#define SADDLE_SET_DECLARE(identifier, name, synopsis, summary) \
    extern const saddle_set_class saddle_set_##identifier;
SADDLE_SETS(SADDLE_SET_DECLARE)
#undef SADDLE_SET_DECLARE

/* A part of the vector and the set it must lie in. */
typedef struct saddle_set_part {
    size_t offset;   /* where the part begins; its length is the set's dimension */
    saddle_set *set; /* owned by the set of blocks */
} saddle_set_part;

/* The blocks of a set of class saddle_set_blocks. Borrowed. */
const saddle_set_part *saddle_set_block_list(const saddle_set *set, size_t *count);

#endif
