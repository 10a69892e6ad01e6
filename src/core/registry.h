/* Lookup of implementations by name. */
#pragma once

#include "core/base.h"

/*
 * Finds a name in a list.
 * @param out   receives the entry of that name; NULL on failure.
 * @param what  the kind of thing, for the message, which names the closest entry and lists all.
 * @param name  an entry "grid:RxC" is found as "grid" and as anything that begins with "grid:".
 * @param list  an array of `count` pointers to structs whose first member is their name.
 */
saddle_status saddle_registry_find(const void **out, const char *what, const char *name,
                                   const void *list, size_t count, saddle_error *error);
