/*
 * Cache-line-aligned memory with checked sizes, counted.
 *
 * Everything of the library that grows with its inputs is allocated here. A block of a megabyte or more is
 * compared with what core/available.h says can be had, and is NULL beyond it.
 */
#ifndef SADDLE_CORE_MEMORY_H
#define SADDLE_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Alignment of every block: one cache line, which is also the widest vector register. */
#define SADDLE_ALIGNMENT 64

/* The most doubles that one vector of a problem, a set or an algorithm can have: sums of a few such
 * sizes, in bytes, do not overflow. */
#define SADDLE_MOST_DOUBLES (SIZE_MAX >> 24)

/* The larger of two sizes. */
static inline size_t saddle_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Zeroed memory for count objects of a size, or NULL when it cannot be had or count * size
 * overflows. A zero count gives a valid block. Free with saddle_free(). */
void *saddle_alloc(size_t count, size_t size);

/* The same, neither zeroed nor otherwise written to: for large arrays that are filled at once, and for
 * memory that belongs near the thread that touches it first. */
void *saddle_alloc_unset(size_t count, size_t size);

/* Zeroed memory for count doubles. */
double *saddle_alloc_doubles(size_t count);

/* Free a block of saddle_alloc(). NULL is allowed. */
void saddle_free(void *block);

/* Bytes that all blocks take now, and the most that they took at any time. */
double saddle_memory_used(void);
double saddle_memory_peak(void);

/* Bytes that a block for count objects of a size takes, with what the allocator adds to it. */
double saddle_block_bytes(size_t count, size_t size);

/*
 * Blocks that are taken together. The code that takes them runs twice: first with `count_only`, when no
 * block is taken and `bytes` adds up what they would take, then in earnest.
 */
typedef struct saddle_claim {
    bool count_only;
    double bytes; /* of the blocks so far */
    bool failed;  /* whether a block could not be had */
} saddle_claim;

/* A block as of saddle_alloc(), or NULL if they are only counted. */
void *saddle_claim_block(saddle_claim *claim, size_t count, size_t size);
/* The same as of saddle_alloc_unset(). */
void *saddle_claim_unset(saddle_claim *claim, size_t count, size_t size);

/* A block with room for one more object behind its `count` of a size: itself, or, where they fill the
 * capacity, a new one of twice as much in its place. NULL when memory is short; the block then stays
 * as it is. Begin with NULL and a capacity of 0. */
static inline void *saddle_grow(void *block, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return block;
    size_t more = *capacity == 0 ? 64 : 2 * *capacity;
    void *grown = saddle_alloc(more, size);
    if (grown == NULL)
        return NULL;
    if (block != NULL)
        memcpy(grown, block, count * size);
    saddle_free(block);
    *capacity = more;
    return grown;
}

/* A copy of a string in saddle_alloc() memory; NULL when text is NULL or memory is short. */
char *saddle_strdup(const char *text);

/* printf into fresh saddle_alloc() memory; NULL when memory is short. */
char *saddle_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
