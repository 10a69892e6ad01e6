/* Lists of numbers in options, such as "72,73". */
#ifndef SADDLE_CORE_INDEX_LIST_H
#define SADDLE_CORE_INDEX_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Set mark[k - first] for every number k of a list separated by commas, first <= k < first + count;
 * false when the text is anything else or a mark is set already. */
bool saddle_mark_list(const char *text, size_t first, size_t count, bool *mark);

#endif
