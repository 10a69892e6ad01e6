/* Work that a worker of an engine can share with the others. */
#pragma once

#include "core/base.h"

/* The other workers of an engine. */
typedef struct saddle_helpers saddle_helpers;
/* Does one piece. `scratch` belongs to the worker that does it. A piece must not share work itself. */
typedef void saddle_shared_piece(void *context, size_t piece, double *scratch);
struct saddle_helpers {
    /* Does pieces 0 .. count - 1, concurrently and in any order; the calling worker uses `scratch`. */
    void (*share)(const saddle_helpers *helpers, size_t count, saddle_shared_piece *piece,
                  void *context, double *scratch);
    double *partials; /* capacity for the partial sums of pieces */
};

/* Shares the pieces with helpers; without (NULL), does them in order. */
static inline void saddle_share(const saddle_helpers *helpers, size_t count,
                                saddle_shared_piece *piece, void *context, double *scratch)
{
    if (helpers != NULL)
        helpers->share(helpers, count, piece, context, scratch);
    for (size_t k = 0; helpers == NULL && k < count; k++)
        piece(context, k, scratch);
}
