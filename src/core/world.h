/* Worlds from the inside: how one is made, and what only the library calls of it. */
#ifndef SADDLE_CORE_WORLD_H
#define SADDLE_CORE_WORLD_H

#include <saddle/world.h>

/* The functions of a kind of world that are not for problems. The first two are collective. */
struct saddle_world_class {
    /*
     * Part of a sum over agents, in the order of their numbers whatever their homes. `terms` has
     * `count` rows of `stride` doubles, for agents first, first + 1, ...: those that are here are
     * filled in, the others are for the call's use. The entries that this process adds up,
     * [size rank / ranks, size (rank + 1) / ranks), of all rows are added to `sum`.
     */
    void (*add_terms)(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum);
    /* Complete a sum: every process gets the entries that the others have added up. */
    void (*join)(const saddle_world *world, size_t size, double *sum);
    /* Free it. */
    void (*destroy)(saddle_world *world);
};

/* Agents whose contributions to a sum saddle_world_sum() holds at once. */
size_t saddle_world_sum_rows(size_t agents);

/* The world of one process that holds all agents. Free with saddle_world_free(). */
saddle_status saddle_world_alone(saddle_world **out, size_t agents, saddle_error *error);
/* Free a world through its destroy(). NULL is allowed. */
void saddle_world_free(saddle_world *world);

#endif
