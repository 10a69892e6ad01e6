/* Finding an implementation by name, with a helpful refusal. */
#ifndef SADDLE_CORE_REGISTRY_H
#define SADDLE_CORE_REGISTRY_H

#include <stddef.h>

#include <saddle/status.h>

/*
 * The index of `name` among count entries whose names are at name_of(k). An entry "grid:RxC" is that of all
 * names that begin with "grid:", and of "grid". SADDLE_BAD_INPUT names the kind of thing, the closest name
 * and the complete list otherwise.
 */
saddle_status saddle_registry_find(size_t *index, const char *kind, const char *name,
                                   const char *(*name_of)(size_t), size_t count,
                                   saddle_error *error);

#endif
