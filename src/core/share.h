/*
 * Work that other workers of an engine can help with.
 */
#ifndef SADDLE_CORE_SHARE_H
#define SADDLE_CORE_SHARE_H

#include <stddef.h>

/* Other workers of an engine. */
typedef struct saddle_helpers saddle_helpers;
/* One part of something; scratch is of the worker that does it. A part must not share anything itself. */
typedef void saddle_shared_part(void *context, size_t part, double *scratch);
struct saddle_helpers {
    /* Do parts 0 .. count - 1, in any order and at the same time; this worker uses `scratch`. */
    void (*share)(const saddle_helpers *helpers, size_t count, saddle_shared_part *part,
                  void *context, double *scratch);
    double *partials; /* sums of the parts of a request */
};

/* The same with helpers, or without (NULL). */
static inline void saddle_share(const saddle_helpers *helpers, size_t count,
                                saddle_shared_part *part, void *context, double *scratch)
{
    if (helpers != NULL)
        helpers->share(helpers, count, part, context, scratch);
    for (size_t k = 0; helpers == NULL && k < count; k++)
        part(context, k, scratch);
}

#endif
