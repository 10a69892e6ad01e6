#include "core/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a block: aligned_alloc wants a multiple of the alignment, and a zero-byte block still
 * gets one line. 0: too many. */
static size_t block_size(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - SADDLE_ALIGNMENT) / size)
        return 0;
    return (count * size + SADDLE_ALIGNMENT) / SADDLE_ALIGNMENT * SADDLE_ALIGNMENT;
}

void *saddle_alloc_untouched(size_t count, size_t size)
{
    size_t bytes = block_size(count, size);
    return bytes > 0 ? aligned_alloc(SADDLE_ALIGNMENT, bytes) : NULL;
}

void *saddle_alloc(size_t count, size_t size)
{
    void *block = saddle_alloc_untouched(count, size);
    if (block != NULL)
        memset(block, 0, block_size(count, size));
    return block;
}

double *saddle_alloc_doubles(size_t count)
{
    return saddle_alloc(count, sizeof(double));
}

void saddle_free(void *block)
{
    free(block);
}

char *saddle_strdup(const char *text)
{
    if (text == NULL)
        return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = saddle_alloc(bytes, 1);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

char *saddle_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    char *text = saddle_alloc((size_t)length + 1, 1);
    if (text == NULL)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
