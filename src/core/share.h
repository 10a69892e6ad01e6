/* Work that a worker of an engine can share with the others. */
#ifndef SADDLE_CORE_SHARE_H
#define SADDLE_CORE_SHARE_H

#include <stddef.h>

/* The other workers of an engine. */
typedef struct saddle_helpers saddle_helpers;
/* Does one part. `scratch` belongs to the worker that does it. A part must not share work itself. */
typedef void saddle_shared_part(void *context, size_t part, double *scratch);
struct saddle_helpers {
    /* Does parts 0 .. count - 1, concurrently and in any order; the calling worker uses `scratch`. */
    void (*share)(const saddle_helpers *helpers, size_t count, saddle_shared_part *part,
                  void *context, double *scratch);
    double *partials; /* the parts' partial sums */
};

/* Shares the parts with helpers; without (NULL), does them in order. */
static inline void saddle_share(const saddle_helpers *helpers, size_t count,
                                saddle_shared_part *part, void *context, double *scratch)
{
    if (helpers != NULL)
        helpers->share(helpers, count, part, context, scratch);
    for (size_t k = 0; helpers == NULL && k < count; k++)
        part(context, k, scratch);
}

#endif
