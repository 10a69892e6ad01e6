/*
 * blocks:COUNT*SET,COUNT*SET,...: consecutive blocks of the vector, each with its own set. The last
 * block may be written *SET and takes the rest. Each block is projected onto its set.
 */
#include "core/base.h"
#include "sets/set.h"

typedef struct block_set {
    saddle_set base;
    size_t count;
    saddle_set_block *block; /* owned, with the sets in it */
} block_set;

/* One COUNT*SET of the text. */
typedef struct written {
    bool rest;        /* no COUNT: takes the rest */
    size_t count;     /* COUNT */
    const char *text; /* SET */
} written;

static size_t count_blocks(const char *list)
{
    size_t count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* Parses one block, whose comma has been replaced by a terminator. */
static saddle_status read_block(written *out, char *item, bool last, const saddle_set *set,
                                saddle_error *error)
{
    char *star = strchr(item, '*');
    if (star == NULL)
        return saddle_refuse(error,
                             "'%.200s': the block '%.200s' is not of the form COUNT*SET; write %s",
                             set->term.text, item, set->term.kind->synopsis);
    *star = '\0';
    out->text = star + 1;
    out->rest = star == item;
    uint64_t count = 0;
    if (out->rest && !last)
        return saddle_refuse(
            error,
            "'%.200s': '*%.200s' has no COUNT, but only the last block may take the rest; write %s",
            set->term.text, out->text, set->term.kind->synopsis);
    if (!out->rest && (!saddle_parse_integer(item, &count) || count == 0 || count > SIZE_MAX))
        return saddle_refuse(
            error, "'%.200s': the COUNT '%.200s' is not a whole number of at least 1; write %s",
            set->term.text, item, set->term.kind->synopsis);
    if (strncmp(out->text, "blocks", 6) == 0 && (out->text[6] == ':' || out->text[6] == '\0'))
        return saddle_refuse(error,
                             "'%.200s': blocks cannot be nested; write all blocks in one list, %s",
                             set->term.text, set->term.kind->synopsis);
    out->count = (size_t)count;
    return SADDLE_OK;
}

/* Checks that the counts add up to the dimension, and gives the rest to a last block without
 * COUNT. */
static saddle_status fill_counts(written *item, size_t count, const saddle_set *set,
                                 saddle_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total = item[i].count > SIZE_MAX - total ? SIZE_MAX : total + item[i].count;
    written *last = &item[count - 1];
    if (last->rest && total < set->term.dimension)
        last->count = set->term.dimension - total;
    else if (last->rest)
        return saddle_refuse(error,
                             "'%.200s': the counts add up to %zu and the dimension is %zu, so that "
                             "nothing is left for '*%.200s'",
                             set->term.text, total, set->term.dimension, last->text);
    else if (total != set->term.dimension)
        return saddle_refuse(error,
                             "'%.200s': the counts add up to %zu but the dimension is %zu; make "
                             "them equal, or end with *SET to take the rest",
                             set->term.text, total, set->term.dimension);
    return SADDLE_OK;
}

/* Makes the sets of all blocks. */
static saddle_status make_blocks(block_set *blocks, const written *item, size_t count,
                                 saddle_error *error)
{
    blocks->block = saddle_alloc(count, sizeof *blocks->block);
    SADDLE_TRY(saddle_check_memory(blocks->block, "the blocks of a set", error));
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        saddle_error inner = {SADDLE_OK, ""};
        saddle_status status =
            saddle_set_create(&blocks->block[i].set, item[i].text, item[i].count, &inner);
        if (status != SADDLE_OK)
            return saddle_fail(error, status, "in '%.200s': %.780s", blocks->base.term.text,
                               inner.message);
        blocks->block[i].offset = offset;
        blocks->count = i + 1;
        offset += item[i].count;
    }
    return SADDLE_OK;
}

static saddle_status init(void *self, saddle_error *error)
{
    const saddle_set *set = self;
    const char *colon = strchr(set->term.text, ':');
    if (colon == NULL)
        return saddle_refuse(error, "'%.200s' names no blocks; write %s", set->term.text,
                             set->term.kind->synopsis);
    size_t count = count_blocks(colon + 1);
    SADDLE_OWNED written *item = saddle_alloc(count, sizeof *item);
    SADDLE_OWNED char *list = saddle_strdup(colon + 1);
    if (item == NULL || list == NULL)
        return saddle_no_memory(error, "the blocks of a set");
    char *rest = list;
    for (size_t i = 0; i < count; i++) {
        char *start = rest;
        rest += strcspn(rest, ",");
        *rest++ = '\0';
        SADDLE_TRY(read_block(&item[i], start, i + 1 == count, set, error));
    }
    SADDLE_TRY(fill_counts(item, count, set, error));
    return make_blocks(self, item, count, error);
}

const saddle_set_block *saddle_set_block_list(const saddle_set *set, size_t *count)
{
    const block_set *blocks = (const block_set *)set;
    *count = blocks->count;
    return blocks->block;
}

static void project(const saddle_set *set, double *v, double *scratch)
{
    const block_set *blocks = (const block_set *)set;
    for (size_t i = 0; i < blocks->count; i++)
        saddle_set_project(blocks->block[i].set, v + blocks->block[i].offset, scratch);
}

static void range(const saddle_set *set, double *lower, double *upper)
{
    const block_set *blocks = (const block_set *)set;
    *lower = INFINITY;
    *upper = -INFINITY;
    for (size_t i = 0; i < blocks->count; i++) {
        double low;
        double high;
        saddle_set_range(blocks->block[i].set, &low, &high);
        *lower = low < *lower ? low : *lower;
        *upper = high > *upper ? high : *upper;
    }
}

static bool uniform_bounds(const saddle_set *set, double *lower, double *upper)
{
    const block_set *blocks = (const block_set *)set;
    range(set, lower, upper);
    for (size_t i = 0; i < blocks->count; i++) {
        double low;
        double high;
        if (!saddle_set_uniform_bounds(blocks->block[i].set, &low, &high) || low != *lower ||
            high != *upper)
            return false;
    }
    return true;
}

static size_t scratch_size(const saddle_set *set)
{
    const block_set *blocks = (const block_set *)set;
    size_t most = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        size_t size = saddle_set_scratch(blocks->block[i].set);
        most = size > most ? size : most;
    }
    return most;
}

static void release(void *self)
{
    block_set *blocks = self;
    for (size_t i = 0; i < blocks->count; i++)
        saddle_set_free(blocks->block[i].set);
    saddle_free(blocks->block);
}

const saddle_set_class saddle_set_blocks = {
    .term = {.name = "blocks",
             .synopsis = "blocks:COUNT*SET,...,*SET",
             .summary = "the first COUNT entries in one set, the next in another, and so on; the "
                        "last *SET, without a count, takes the remaining entries",
             .size = sizeof(block_set),
             .init = init,
             .release = release},
    .project = project,
    .range = range,
    .uniform_bounds = uniform_bounds,
    .scratch = scratch_size,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT, /* in every block, by the block's own rule */
};
