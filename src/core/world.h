/* Internals of worlds: how they are created, and functions that only the library calls. */
#pragma once

#include <saddle/world.h>

/* The functions of a kind of world that problems do not call. The first two are collective. */
struct saddle_world_class {
    /*
     * Adds a block of agents' terms to a sum, in the order of the agents' numbers, wherever they
     * are. `terms` has `count` rows of `stride` doubles, for agents first, first + 1, ...; the
     * rows of this process's agents are filled in, the others are scratch. Each process adds up
     * only the entries [size rank / ranks, size (rank + 1) / ranks) of all rows into `sum`.
     */
    void (*add_terms)(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum);
    /* Completes a sum: every process receives the entries that the others have added up. */
    void (*join)(const saddle_world *world, size_t size, double *sum);
    /* Fails if processes cannot communicate any more; other operations then return at once, without a result.
     * NULL: never. */
    saddle_status (*check)(const saddle_world *world, saddle_error *error);
    const char *member; /* what messages call a process; NULL: "rank" */
    bool own_texts;     /* the text of an error stays in its process */
    void (*destroy)(saddle_world *world);
};

/* Calls check() if there is one. */
saddle_status saddle_world_check(const saddle_world *world, saddle_error *error);

/* Gives every process a copy of a block of process 0, of any length: in the others, *block is
 * allocated, to be freed with saddle_free(). `what` is for the message if memory is short. Collective. */
saddle_status saddle_world_copy(const saddle_world *world, void **block, size_t *bytes,
                                const char *what, saddle_error *error);

/* Returns how many agents' contributions saddle_world_sum() holds in memory at once. */
size_t saddle_world_sum_rows(size_t agents);

/* Creates the world of one process that holds all agents. Free with saddle_world_free(). */
saddle_status saddle_world_alone(saddle_world **out, size_t agents, saddle_error *error);
/* Frees a world. NULL is allowed. */
void saddle_world_free(saddle_world *world);
