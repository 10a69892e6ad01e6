/* Cache-line-aligned memory with checked sizes. */
#ifndef SADDLE_CORE_MEMORY_H
#define SADDLE_CORE_MEMORY_H

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
 * memory that belongs near whoever touches it first. */
void *saddle_alloc_unset(size_t count, size_t size);

/* Zeroed memory for count doubles. */
double *saddle_alloc_doubles(size_t count);

/* Free a block of saddle_alloc(). NULL is allowed. */
void saddle_free(void *block);

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
