/* The engine `cuda-host`: the plan of a card as loops on the processor. Blocks run from the last to the first, so that
 * a block that reads what another one of its step writes shows in the results. */
#include "engines/cuda/kernels.h"

#include "core/base.h"

struct saddle_card {
    saddle_allocator memory;
    saddle_card_shared shared;
    saddle_card_near near;
    saddle_card_pool pool;
};

static saddle_card *open_card(size_t size, char *why)
{
    saddle_card *card = saddle_alloc(1, sizeof *card);
    if (card == NULL)
        saddle_snprintf(why, size, "there is not enough memory");
    return card;
}

static void close_card(saddle_card *card)
{
    if (card != NULL)
        saddle_allocator_free(&card->memory);
    saddle_free(card);
}

static double free_bytes(saddle_card *card)
{
    (void)card;
    return (double)INFINITY; /* saddle_alloc() refuses what does not fit */
}

static void *take(saddle_card *card, size_t bytes)
{
    return saddle_allocator_block(&card->memory, bytes, 1);
}

static bool copy(saddle_card *card, void *to, const void *from, size_t bytes)
{
    (void)card;
    memcpy(to, from, bytes);
    return true;
}

static void pin(saddle_card *card, void *block, size_t bytes)
{
    (void)card;
    (void)block;
    (void)bytes;
}

static void sum_rows(const saddle_card_plan *c, unsigned parity)
{
    uint64_t lists = (c->lists + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS;
    for (uint32_t b = c->agents * c->row_blocks; b-- > 0;)
        saddle_card_rows(c, parity, b / c->row_blocks, b % c->row_blocks);
    for (uint64_t b = lists; b-- > 0;)
        saddle_card_columns(c, parity, (uint32_t)b);
}

static void settle(const saddle_card_plan *c, unsigned parity)
{
    for (uint32_t b = c->agents * c->tiles; b-- > 0;)
        saddle_card_settle(c, parity, b % c->agents, b / c->agents);
}

static bool move(saddle_card *card, const saddle_card_plan *c, uint64_t iteration, unsigned parity,
                 bool refreshes)
{
    for (uint32_t i = c->agents; i-- > 0;)
        saddle_card_draw(c, iteration, i);
    for (uint32_t i = 2 * c->agents; i-- > 0 && c->target != NULL;)
        saddle_card_target(c, parity, i / 2, i % 2 == 0, &card->pool);
    for (uint32_t i = c->steps.scheduled ? c->agents : 0; i-- > 0;)
        saddle_card_schedule(c, parity, i, &card->pool);
    for (uint32_t b = c->groups * c->tiles; b-- > 0;)
        saddle_card_move(c, parity, refreshes || !c->steps.recursive, b % c->groups, b / c->groups,
                         &card->near);
    return true;
}

static bool follow(saddle_card *card, const saddle_card_plan *c, uint64_t iteration,
                   unsigned parity, bool refreshes)
{
    (void)card;
    (void)iteration;
    for (uint32_t b = c->agents * c->tiles; b-- > 0;)
        saddle_card_answer(c, parity, refreshes || !c->steps.recursive, b % c->agents,
                           b / c->agents);
    return true;
}

static bool begin(saddle_card *card, const saddle_card_plan *c, uint64_t iteration, unsigned parity,
                  uint64_t count)
{
    for (uint64_t t = iteration; t < iteration + count; t++, parity = 1 - parity) {
        bool refreshes = (t + 1) % c->steps.q == 0;
        bool recursive = c->steps.recursive;
        move(card, c, t, parity, refreshes);
        if (refreshes)
            sum_rows(c, parity);
        for (uint32_t i = c->agents; !refreshes && i-- > 0;)
            if (c->steps.scheduled)
                saddle_card_estimate(c, parity, i, &card->shared, &card->pool);
            else
                saddle_card_batch_step(c, parity, i, recursive, &card->shared);
        if (refreshes || !recursive || c->steps.scheduled)
            settle(c, parity);
    }
    return true;
}

static void *stream(const saddle_card *card)
{
    (void)card;
    return NULL;
}

static bool measure(saddle_card *card, const saddle_card_plan *c, const saddle_card_measure *w)
{
    uint32_t blocks = (w->piece[0].count + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS;
    if (w->kind == SADDLE_CARD_SURVEY)
        sum_rows(c, SADDLE_CARD_POINT);
    for (uint32_t i = w->kind == SADDLE_CARD_SURVEY ? c->agents : 0; i-- > 0;)
        saddle_card_slope(c, i);
    for (uint32_t b = w->kind == SADDLE_CARD_NORMS ? 0 : blocks; b-- > 0;)
        saddle_card_mean(c, w, b);
    for (uint32_t b = w->kind == SADDLE_CARD_NORMS ? 2 * c->agents : 0; b-- > 0;)
        saddle_card_norm(c, w, b % 2, b / 2, &card->pool);
    return true;
}

static bool wait(saddle_card *card, const saddle_card_plan *c, saddle_card_state *out)
{
    (void)card;
    *out = *c->state;
    return true;
}

static const char *name(const saddle_card *card)
{
    (void)card;
    return "the processor";
}

static const char *error_of(const saddle_card *card)
{
    (void)card;
    return "";
}

const saddle_card_module saddle_card_on_host = {
    .open = open_card,
    .close = close_card,
    .free_bytes = free_bytes,
    .take = take,
    .put = copy,
    .get = copy,
    .pin = pin,
    .begin = begin,
    .move = move,
    .follow = follow,
    .stream = stream,
    .wait = wait,
    .measure = measure,
    .name = name,
    .error = error_of,
};
