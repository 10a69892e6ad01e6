/* The world of a single process, and functions common to all worlds. */
#include "core/world.h"

#include <stdlib.h>
#include <string.h>

#include "core/compare.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"

/* Agents whose terms of a sum are in memory at once. */
#define SUM_BLOCK 16

/* ---- one process ---------------------------------------------------------------------------- */

typedef struct alone {
    saddle_world base;
    size_t list[]; /* the agents 0, 1, ..., then the rank of each: all zero */
} alone;

static void alone_add_terms(const saddle_world *world, size_t first, size_t count, size_t size,
                            size_t stride, double *terms, double *sum)
{
    (void)world;
    (void)first;
    for (size_t k = 0; k < count; k++)
        saddle_axpy(size, 1.0, terms + k * stride, sum);
}

/* With one process, its sums and maxima are already complete. */
static void alone_keep(const saddle_world *world, size_t count, double *values)
{
    (void)world;
    (void)count;
    (void)values;
}

static void alone_add_words(const saddle_world *world, size_t count, int64_t *words)
{
    (void)world;
    (void)count;
    (void)words;
}

static void alone_share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    (void)world;
    (void)from;
    (void)bytes;
    (void)block;
}

static void alone_transfer(const saddle_world *world, size_t from, size_t to, size_t bytes,
                           void *block)
{
    (void)world;
    (void)from;
    (void)to;
    (void)bytes;
    (void)block;
}

static void alone_destroy(saddle_world *world)
{
    saddle_free(world);
}

static const struct saddle_world_class alone_class = {
    .add_terms = alone_add_terms, .join = alone_keep, .destroy = alone_destroy};

saddle_status saddle_world_alone(saddle_world **out, size_t agents, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    /* One block holds the struct and both lists. */
    alone *self = saddle_alloc(1, sizeof *self + 2 * agents * sizeof *self->list);
    SADDLE_TRY(saddle_check_memory(self, "the list of agents", error));
    for (size_t i = 0; i < agents; i++)
        self->list[i] = i;
    self->base = (saddle_world){.ranks = 1,
                                .agents = agents,
                                .local = agents,
                                .here = self->list,
                                .home = self->list + agents,
                                .add_words = alone_add_words,
                                .largest = alone_keep,
                                .share = alone_share,
                                .transfer = alone_transfer,
                                .kind = &alone_class};
    *out = &self->base;
    return SADDLE_OK;
}

/* ---- all worlds ------------------------------------------------------------------------------ */

void saddle_world_free(saddle_world *world)
{
    if (world != NULL)
        world->kind->destroy(world);
}

bool saddle_world_has(const saddle_world *world, size_t agent)
{
    return world->home[agent] == world->rank;
}

size_t saddle_world_place(const saddle_world *world, size_t agent)
{
    const size_t *found =
        bsearch(&agent, world->here, world->local, sizeof agent, saddle_compare_sizes);
    return found != NULL ? (size_t)(found - world->here) : 0;
}

saddle_status saddle_world_check(const saddle_world *world, saddle_error *error)
{
    return world->kind->check != NULL ? world->kind->check(world, error) : SADDLE_OK;
}

/* Puts the failed process in front of a message. */
static void name_rank(const saddle_world *world, saddle_error *error, size_t rank)
{
    saddle_error said = *error;
    saddle_fail(error, said.status, "%s %zu: %.*s",
                world->kind->member != NULL ? world->kind->member : "rank", rank,
                (int)sizeof said.message - 32, said.message);
}

/* Returns what another process says of its failure, or a status that it can have. */
static saddle_status failure_said(int64_t status)
{
    bool good = status > SADDLE_OK && status <= SADDLE_UNSUPPORTED;
    return good ? (saddle_status)status : SADDLE_BAD_INPUT;
}

/* Every process keeps its own message; others learn the status only. */
static saddle_status agree_privately(const saddle_world *world, saddle_status status, size_t first,
                                     saddle_error *error)
{
    int64_t said = status;
    world->share(world, first, sizeof said, &said);
    SADDLE_TRY(saddle_world_check(world, error));
    if (status != SADDLE_OK)
        return status;
    status = failure_said(said);
    return saddle_fail(error, status, "%s %zu ended: %s; its owner knows more", world->kind->member,
                       first, saddle_status_text(status));
}

saddle_status saddle_world_agree(const saddle_world *world, saddle_status status,
                                 saddle_error *error)
{
    SADDLE_REQUIRE(error, world);
    if (world->ranks == 1)
        return status;
    /* The lowest failed rank maximizes the number of ranks from it to the last. */
    double left = status == SADDLE_OK ? 0.0 : (double)(world->ranks - world->rank);
    world->largest(world, 1, &left);
    SADDLE_TRY(saddle_world_check(world, error));
    if (left == 0.0)
        return SADDLE_OK;
    /* A peer may say anything: its numbers and text are used only as far as they can be true. */
    bool good = left >= 1.0 && left <= (double)world->ranks;
    size_t first = good ? world->ranks - (size_t)left : 0;
    int64_t failed = status != SADDLE_OK;
    world->add_words(world, 1, &failed);
    if (world->kind->own_texts)
        return agree_privately(world, status, first, error);
    /* Nothing of earlier messages, which may be behind the end of this one, is sent. */
    saddle_error said = {.message = ""};
    if (error != NULL && status != SADDLE_OK)
        saddle_fail(&said, status, "%s", error->message);
    said.status = status;
    world->share(world, first, sizeof said, &said);
    SADDLE_TRY(saddle_world_check(world, error));
    said.message[sizeof said.message - 1] = '\0';
    said.status = failure_said(said.status);
    if ((size_t)failed < world->ranks)
        name_rank(world, &said, first);
    return saddle_fail(error, said.status, "%s", said.message);
}

saddle_status saddle_world_copy(const saddle_world *world, void **block, size_t *bytes,
                                const char *what, saddle_error *error)
{
    if (world->ranks == 1)
        return SADDLE_OK;
    world->share(world, 0, sizeof *bytes, bytes);
    saddle_status status = SADDLE_OK;
    if (world->rank > 0) {
        *block = saddle_alloc(*bytes, 1);
        status = saddle_check_memory(*block, what, error);
    }
    status = saddle_world_agree(world, status, error);
    if (status == SADDLE_OK && *bytes > 0)
        world->share(world, 0, *bytes, *block);
    return status;
}

size_t saddle_world_sum_rows(size_t agents)
{
    return agents < SUM_BLOCK ? agents : SUM_BLOCK;
}

saddle_status saddle_world_sum(const saddle_world *world, size_t size, saddle_world_term *term,
                               void *context, double *out, saddle_error *error)
{
    SADDLE_REQUIRE(error, world, out);
    if (term == NULL)
        return saddle_require(error, __func__, "term", &(const void *){NULL}, 1);
    double *terms = saddle_alloc(saddle_world_sum_rows(world->agents), size * sizeof *terms);
    saddle_status status = saddle_check_memory(terms, "a sum over the agents", error);
    status = saddle_world_agree(world, status, error);
    memset(out, 0, size * sizeof *out);
    for (size_t first = 0; status == SADDLE_OK && first < world->agents; first += SUM_BLOCK) {
        size_t count = saddle_world_sum_rows(world->agents - first);
        for (size_t k = 0; k < count; k++)
            if (saddle_world_has(world, first + k))
                term(context, first + k, terms + k * size);
        world->kind->add_terms(world, first, count, size, size, terms, out);
    }
    if (status == SADDLE_OK)
        world->kind->join(world, size, out);
    saddle_free(terms);
    return status == SADDLE_OK ? saddle_world_check(world, error) : status;
}

void saddle_world_fill(const saddle_world *world, size_t width, double *numbers)
{
    if (world->ranks == 1)
        return;
    /* Adding the bits of a number, as an integer, to zeros gives its bits in every process. */
    for (size_t i = 0; i < world->agents; i++)
        if (!saddle_world_has(world, i))
            memset(numbers + i * width, 0, width * sizeof *numbers);
    world->add_words(world, world->agents * width, (int64_t *)(void *)numbers);
}
