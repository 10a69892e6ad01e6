#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "core/memory_limits.h"

/* The size of a huge page. Blocks of at least two are aligned to one. */
#define HUGE_PAGE ((size_t)1 << 21)

/* Blocks from this size on are counted by a list; for smaller ones malloc_usable_size() is accurate. */
#define LISTED_BYTES (2 * HUGE_PAGE)
/* The most bytes that the C library adds to a block rather than splitting off a remainder this small. */
#define MOST_SLACK 40
/* From this size on, the C library may map a block's pages separately. */
#define PAGED_BYTES ((size_t)1 << 17)
#define PAGE_BYTES ((size_t)1 << 12)

/* ---- counting -------------------------------------------------------------------------------- */

static atomic_size_t used;
static atomic_size_t peak;

static void count_block(size_t bytes)
{
    size_t now = atomic_fetch_add_explicit(&used, bytes, memory_order_relaxed) + bytes;
    size_t before = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > before && !atomic_compare_exchange_weak_explicit(
                               &peak, &before, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

double saddle_memory_used(void)
{
    return (double)atomic_load_explicit(&used, memory_order_relaxed);
}

double saddle_memory_peak(void)
{
    return (double)atomic_load_explicit(&peak, memory_order_relaxed);
}

/* ---- large blocks ---------------------------------------------------------------------------- */

typedef struct listed {
    void *block;
    size_t bytes;
} listed;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static listed *list;
static size_t list_count;
static size_t list_capacity;

/* Adds a block to the list; false when memory is short. */
static bool enter(void *block, size_t bytes)
{
    pthread_mutex_lock(&list_lock);
    if (list_count == list_capacity) {
        size_t more = list_capacity == 0 ? 64 : 2 * list_capacity;
        listed *grown = realloc(list, more * sizeof *grown);
        if (grown != NULL) {
            list = grown;
            list_capacity = more;
        }
    }
    bool fits = list_count < list_capacity;
    if (fits)
        list[list_count++] = (listed){.block = block, .bytes = bytes};
    pthread_mutex_unlock(&list_lock);
    return fits;
}

/* Removes a block from the list; returns its bytes, or 0 when it is not listed. */
static size_t leave(const void *block)
{
    size_t bytes = 0;
    pthread_mutex_lock(&list_lock);
    for (size_t k = list_count; k > 0 && bytes == 0; k--)
        if (list[k - 1].block == block) {
            bytes = list[k - 1].bytes;
            list[k - 1] = list[--list_count];
        }
    pthread_mutex_unlock(&list_lock);
    return bytes;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Returns the bytes to allocate: a multiple of the alignment, as aligned_alloc() requires, and
 * at least one cache line. 0 means overflow. */
static size_t round_up(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - HUGE_PAGE) / size)
        return 0;
    size_t bytes = count * size;
    bytes = (bytes + SADDLE_ALIGNMENT) / SADDLE_ALIGNMENT * SADDLE_ALIGNMENT;
    return bytes < LISTED_BYTES ? bytes : (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

double saddle_block_bytes(size_t count, size_t size)
{
    size_t bytes = round_up(count, size);
    if (bytes == 0)
        return (double)count * (double)size;
    if (bytes < PAGED_BYTES)
        return (double)(bytes + MOST_SLACK);
    if (bytes < LISTED_BYTES) {
        size_t pages = (bytes + (size_t)2 * SADDLE_ALIGNMENT + PAGE_BYTES - 1) / PAGE_BYTES;
        return (double)(pages * PAGE_BYTES);
    }
    return (double)bytes;
}

static void *alloc_large(size_t bytes)
{
    void *block = aligned_alloc(HUGE_PAGE, bytes);
    if (block == NULL)
        return NULL;
    if (!enter(block, bytes)) {
        free(block);
        return NULL;
    }
    count_block(bytes);
    /* Fewer page faults at first touch and fewer TLB misses when agents are far apart. Only a
     * hint: the kernel may ignore it. */
    madvise(block, bytes, MADV_HUGEPAGE);
    return block;
}

void *saddle_alloc_unset(size_t count, size_t size)
{
    size_t bytes = round_up(count, size);
    if (bytes == 0 || !saddle_available_allows((double)bytes))
        return NULL;
    if (bytes >= LISTED_BYTES)
        return alloc_large(bytes);
    void *block = aligned_alloc(SADDLE_ALIGNMENT, bytes);
    if (block != NULL)
        count_block(malloc_usable_size(block));
    return block;
}

void *saddle_alloc(size_t count, size_t size)
{
    void *block = saddle_alloc_unset(count, size);
    /* saddle_alloc_unset() has checked that count * size does not overflow. */
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

double *saddle_alloc_doubles(size_t count)
{
    return saddle_alloc(count, sizeof(double));
}

void saddle_free(void *block)
{
    if (block == NULL)
        return;
    size_t bytes = (uintptr_t)block % HUGE_PAGE == 0 ? leave(block) : 0;
    if (bytes == 0)
        bytes = malloc_usable_size(block);
    atomic_fetch_sub_explicit(&used, bytes, memory_order_relaxed);
    free(block);
}

void *saddle_allocator_unset(saddle_allocator *allocator, size_t count, size_t size)
{
    allocator->bytes += saddle_block_bytes(count, size);
    if (allocator->count_only)
        return NULL;
    bool full = allocator->count == SADDLE_MOST_ALLOCATIONS;
    void *block = full ? NULL : saddle_alloc_unset(count, size);
    if (block != NULL)
        allocator->block[allocator->count++] = block;
    else
        allocator->failed = true;
    return block;
}

void *saddle_allocator_block(saddle_allocator *allocator, size_t count, size_t size)
{
    void *block = saddle_allocator_unset(allocator, count, size);
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

/* ---- texts ----------------------------------------------------------------------------------- */

char *saddle_strdup(const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = saddle_alloc(size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

char *saddle_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = saddle_vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    char *text = saddle_alloc((size_t)length + 1, 1);
    if (text == NULL)
        return NULL;
    va_start(arguments, format);
    saddle_vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
