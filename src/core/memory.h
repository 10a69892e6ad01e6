/*
 * Cache-line-aligned memory with checked sizes. All of it is counted.
 *
 * Everything in the library that grows with its inputs is allocated here. Blocks are refused (NULL)
 * when they, or small ones together, exceed what core/memory_limits.h says is available.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Alignment of every block: one cache line, which is also the widest vector register. */
#define SADDLE_ALIGNMENT 64

/* The largest number of doubles in one vector of a problem, set or algorithm. Sums of a few such
 * sizes, in bytes, do not overflow. */
#define SADDLE_MOST_DOUBLES (SIZE_MAX >> 24)

/* Returns the larger of two sizes. */
static inline size_t saddle_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns the smaller of two sizes. */
static inline size_t saddle_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns zeroed memory for `count` objects of `size` bytes, or NULL when there is not enough or
 * count * size overflows. A count of 0 gives a valid block. Free with saddle_free(). */
void *saddle_alloc(size_t count, size_t size);

/* Like saddle_alloc(), but leaves the memory untouched: for large arrays that are filled at
 * once, and for memory that should be placed near the thread that first writes to it. */
void *saddle_alloc_unset(size_t count, size_t size);

/* Returns zeroed memory for `count` doubles. */
double *saddle_alloc_doubles(size_t count);

/* Frees a block of saddle_alloc(). NULL is allowed. */
void saddle_free(void *block);

/*
 * A local variable that release(&variable) frees when it goes out of scope, on every path. It is initialized where it
 * is declared. SADDLE_OWNED is for blocks of saddle_alloc(), SADDLE_MALLOCED for those of malloc().
 */
#define SADDLE_OWNED_BY(release) __attribute__((cleanup(release)))
#define SADDLE_OWNED SADDLE_OWNED_BY(saddle_free_at)
#define SADDLE_MALLOCED SADDLE_OWNED_BY(saddle_malloc_free_at)
/* Defines release_at(), which applies release() to a pointer at an address, for SADDLE_OWNED_BY(). */
#define SADDLE_RELEASES(type, release)               \
    static inline void release##_at(type *const *at) \
    {                                                \
        release(*at);                                \
    }
/* Returns the pointer, of any type, at an address. */
static inline void *saddle_pointer_at(const void *at)
{
    void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}
/* Returns the pointer at an address and sets it to NULL, because it has another owner from now on. */
static inline void *saddle_taken(void *at)
{
    void *taken = saddle_pointer_at(at);
    memset(at, 0, sizeof taken);
    return taken;
}
static inline void saddle_free_at(const void *at)
{
    saddle_free(saddle_pointer_at(at));
}
static inline void saddle_malloc_free_at(const void *at)
{
    free(saddle_pointer_at(at));
}

/* Bytes in all blocks now, and the most there ever were. */
double saddle_memory_used(void);
double saddle_memory_peak(void);

/* Returns the bytes that a block for `count` objects of `size` bytes takes, including the allocator's overhead. */
double saddle_block_bytes(size_t count, size_t size);

/*
 * Allocates several blocks, counts their bytes, and frees them together. The code that calls it
 * runs twice: first with `count_only`, which only adds up `bytes`, then to allocate them.
 */
enum { SADDLE_MOST_ALLOCATIONS = 80 };
typedef struct saddle_allocator {
    bool count_only;
    double bytes; /* of the blocks so far */
    bool failed; /* whether an allocation failed, or there were more than SADDLE_MOST_ALLOCATIONS */
    size_t count;
    void *block[SADDLE_MOST_ALLOCATIONS];
} saddle_allocator;

/* Like saddle_alloc(); NULL if `count_only`. */
void *saddle_allocator_block(saddle_allocator *allocator, size_t count, size_t size);
/* Like saddle_alloc_unset(); NULL if `count_only`. */
void *saddle_allocator_unset(saddle_allocator *allocator, size_t count, size_t size);
/* Frees all blocks of an allocator, none of which may have been freed already. */
static inline void saddle_allocator_free(saddle_allocator *allocator)
{
    while (allocator->count > 0)
        saddle_free(allocator->block[--allocator->count]);
}

/* Makes room for one more object of `size` bytes after the `count` in a block, doubling the
 * capacity when it is full. Returns the block or the one that replaces it; NULL when memory is
 * short, and the block is unchanged. Begin with NULL and a capacity of 0. */
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

/* Returns a copy of a string in saddle_alloc() memory; NULL when text is NULL or memory is short. */
char *saddle_strdup(const char *text);

/* Formats into new saddle_alloc() memory; NULL when memory is short. */
char *saddle_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
