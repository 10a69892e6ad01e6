/* Lists of numbers in options, such as "72,73". */
#ifndef SADDLE_CORE_INDEX_LIST_H
#define SADDLE_CORE_INDEX_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Sets mark[k - first] for every number k, first <= k < first + count, of a comma-separated
 * list. Returns false when the text is not such a list or names a number that is already marked. */
bool saddle_mark_list(const char *text, size_t first, size_t count, bool *mark);

#endif
