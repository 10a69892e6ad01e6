/*
 * Distribution of the rows over the agents.
 *
 *   iid          a random permutation of the rows, dealt out in order
 *   contiguous   the rows in their order
 *   label-skew   Dirichlet(ALPHA): the smaller ALPHA, the fewer agents share a class (Hsu, Qi and
 *                Brown 2019, arXiv:1909.06335). Without a list of sizes, each class is divided among
 *                the agents, whose sizes differ; with a list, each agent draws its rows by its own
 *                mix of classes.
 *
 * Every row belongs to at most one agent. Cost: O(rows log rows), and O(rows * classes) for label-skew.
 */
#include "core/float_mode.h"
#include "core/memory_limits.h"
#include "core/rng.h"
#include "data/dataset.h"

#define REMEDY "use fewer rows or agents"

enum kind { IID, CONTIGUOUS, LABEL_SKEW };

struct plan {
    enum kind kind;
    double alpha;
    size_t agents;
    size_t total;   /* rows to distribute */
    bool exact;     /* whether each agent's size was given */
    saddle_rng rng; /* the source of all randomness, in order of use */
};

static saddle_status parse_kind(struct plan *plan, const char *text, saddle_error *error)
{
    static const char skew[] = "label-skew:";
    if (strcmp(text, "iid") == 0)
        plan->kind = IID;
    else if (strcmp(text, "contiguous") == 0)
        plan->kind = CONTIGUOUS;
    else if (strncmp(text, skew, sizeof skew - 1) == 0) {
        plan->kind = LABEL_SKEW;
        if (!saddle_parse_real(text + sizeof skew - 1, &plan->alpha) ||
            !(plan->alpha >= 1e-6 && plan->alpha <= 1e6))
            return saddle_refuse(
                error, "--partition: '%s': ALPHA must be a number from 1e-6 to 1e6", text);
    } else
        return saddle_refuse(
            error, "--partition: there is no rule '%s'; give iid, contiguous or label-skew:ALPHA",
            text);
    return SADDLE_OK;
}

saddle_status saddle_read_samples(size_t *samples, size_t agents, const char *text,
                                  saddle_error *error)
{
    size_t given = 0;
    size_t length;
    bool good = true;
    const char *rest = text;
    for (const char *item; good && (item = saddle_next_item(&rest, &length)) != NULL; given++) {
        uint64_t value = 0;
        good = saddle_parse_integer_in(item, length, &value) && value >= 1 && value <= UINT32_MAX;
        if (good && given < agents)
            samples[given] = (size_t)value;
    }
    if (!good)
        return saddle_refuse(error,
                             "--samples: '%s' is not valid; give one whole number of at least 1, "
                             "or %zu of them separated by commas, one per agent",
                             text, agents);
    if (given != 1 && given != agents)
        return saddle_refuse(error,
                             "--samples: '%s' has %zu number%s for %zu agent%s; give one number "
                             "for all agents, or one for each",
                             text, given, SADDLE_PLURAL(given), agents, SADDLE_PLURAL(agents));
    for (size_t i = given; i < agents; i++)
        samples[i] = samples[0];
    return SADDLE_OK;
}

/* Fills size[0 .. agents - 1] and checks that there are enough rows. */
static saddle_status parse_samples(struct plan *plan, const char *text, size_t rows, size_t *size,
                                   saddle_error *error)
{
    bool automatic = text == NULL || strcmp(text, "auto") == 0;
    plan->exact = !automatic && strchr(text, ',') != NULL;
    for (size_t i = 0; i < plan->agents; i++)
        size[i] = rows / plan->agents + (i < rows % plan->agents);
    if (!automatic)
        SADDLE_TRY(saddle_read_samples(size, plan->agents, text, error));
    for (size_t i = 0; i < plan->agents; i++)
        plan->total += size[i];
    if (plan->total > rows)
        return saddle_refuse(error,
                             "--samples: '%s' for %zu agent%s needs %zu rows, but there are only "
                             "%zu; give a smaller number",
                             text, plan->agents, SADDLE_PLURAL(plan->agents), plan->total, rows);
    return SADDLE_OK;
}

static void set_starts(saddle_partition *partition, const size_t *size)
{
    for (size_t i = 0; i < partition->agents; i++)
        partition->start[i + 1] = partition->start[i] + size[i];
}

/* ---- label-skew ---- */

/* The rows to distribute, sorted by class. */
struct pools {
    size_t classes;
    size_t *start; /* classes + 1 entries: bounds of each class in row */
    size_t *row;
};

/* Sorts the given rows by class; within a class they keep their random order. */
static void fill_pools(struct pools *pools, const double *classes, const saddle_dataset *data,
                       const size_t *row, size_t count)
{
    for (size_t k = 0; k < count; k++)
        pools->start[saddle_class_of(classes, pools->classes, data->label[row[k]]) + 1]++;
    for (size_t c = 0; c < pools->classes; c++)
        pools->start[c + 1] += pools->start[c];
    for (size_t k = 0; k < count; k++) {
        size_t c = saddle_class_of(classes, pools->classes, data->label[row[k]]);
        pools->row[pools->start[c]++] = row[k];
    }
    for (size_t c = pools->classes; c > 0; c--)
        pools->start[c] = pools->start[c - 1];
    pools->start[0] = 0;
}

/* Draws Dirichlet shares from gamma variables; when all underflow, one of them takes everything. */
static void draw_shares(saddle_rng *rng, size_t count, const double *shape, double *share)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        share[k] = saddle_rng_gamma(rng, shape[k]);
        sum += share[k];
    }
    if (!(sum > 0.0)) {
        share[saddle_rng_below(rng, count)] = 1.0;
        sum = 1.0;
    }
    for (size_t k = 0; k < count; k++)
        share[k] /= sum;
}

/* Computes taken[c * agents + i], how many rows of class c agent i gets. Every agent gets at least one row. */
static void share_classes(struct plan *plan, const struct pools *pools, const double *shape,
                          double *share, size_t *taken, size_t *size)
{
    size_t agents = plan->agents;
    memset(size, 0, agents * sizeof *size);
    for (size_t c = 0; c < pools->classes; c++) {
        size_t count = pools->start[c + 1] - pools->start[c];
        double sum = 0.0;
        size_t given = 0;
        draw_shares(&plan->rng, agents, shape, share);
        for (size_t i = 0; i < agents; i++) {
            sum += share[i];
            size_t upto = i + 1 < agents ? (size_t)(sum * (double)count) : count;
            upto = upto > count ? count : upto < given ? given : upto;
            taken[c * agents + i] = upto - given;
            size[i] += upto - given;
            given = upto;
        }
    }
    for (size_t poor = 0; poor < agents; poor++) {
        if (size[poor] > 0)
            continue;
        size_t rich = 0;
        for (size_t i = 1; i < agents; i++)
            if (size[i] > size[rich])
                rich = i;
        size_t most = 0;
        for (size_t c = 1; c < pools->classes; c++)
            if (taken[c * agents + rich] > taken[most * agents + rich])
                most = c;
        taken[most * agents + rich]--;
        taken[most * agents + poor]++;
        size[rich]--;
        size[poor]++;
    }
}

static void hand_out(const struct pools *pools, size_t agents, const size_t *taken,
                     saddle_partition *partition)
{
    size_t *place = pools->start;
    size_t at = 0;
    for (size_t i = 0; i < agents; i++) {
        for (size_t c = 0; c < pools->classes; c++) {
            size_t count = taken[c * agents + i];
            memcpy(partition->row + at, pools->row + place[c], count * sizeof *partition->row);
            place[c] += count;
            at += count;
        }
    }
}

/* Draws a class by the mix among those with rows left; if the mix has none of these, by the rows left. */
static size_t draw_class(saddle_rng *rng, const struct pools *pools, const double *mix,
                         const size_t *left)
{
    double sum = 0.0;
    size_t rows = 0;
    for (size_t c = 0; c < pools->classes; c++) {
        sum += left[c] > 0 ? mix[c] : 0.0;
        rows += left[c];
    }
    double u = saddle_rng_uniform(rng) * (sum > 0.0 ? sum : (double)rows);
    size_t chosen = pools->classes;
    for (size_t c = 0; c < pools->classes; c++) {
        double weight = left[c] == 0 ? 0.0 : sum > 0.0 ? mix[c] : (double)left[c];
        if (weight > 0.0)
            chosen = c;
        if (weight > 0.0 && u < weight)
            break;
        u -= weight;
    }
    return chosen;
}

/* With given sizes, agents take turns of one row each, so that no agent is left with the remainder. */
static void draw_by_mix(struct plan *plan, const struct pools *pools, const double *mix,
                        size_t *left, const size_t *size, size_t *taken)
{
    size_t given = 0;
    for (size_t round = 0; given < plan->total; round++) {
        for (size_t i = 0; i < plan->agents; i++) {
            if (round >= size[i])
                continue;
            size_t c = draw_class(&plan->rng, pools, mix + i * pools->classes, left);
            left[c]--;
            taken[c * plan->agents + i]++;
            given++;
        }
    }
}

/* The mixes average to the data's frequencies: Dirichlet(ALPHA * classes * frequency of the class). */
static void draw_mixes(struct plan *plan, const struct pools *pools, size_t rows, double *shape,
                       double *mix)
{
    for (size_t c = 0; c < pools->classes; c++) {
        double frequency = (double)(pools->start[c + 1] - pools->start[c]) / (double)rows;
        shape[c] = plan->alpha * (double)pools->classes * frequency;
    }
    for (size_t i = 0; i < plan->agents; i++)
        draw_shares(&plan->rng, pools->classes, shape, mix + i * pools->classes);
}

/* Chooses the counts per class and agent, then distributes the rows. */
static saddle_status split_pools(struct plan *plan, struct pools *pools, size_t rows, size_t *size,
                                 saddle_partition *partition, saddle_error *error)
{
    size_t agents = plan->agents;
    size_t classes = pools->classes;
    size_t wide = agents > classes ? agents : classes;
    saddle_need need = {0};
    saddle_need_add(&need, saddle_block_bytes(agents * classes, plan->exact ? 16 : 8), REMEDY,
                    "the rows of %zu classes for each of %zu agents", classes, agents);
    SADDLE_TRY(saddle_need_check(&need, 1, "the partition", error));
    SADDLE_OWNED_BY(saddle_allocator_free) saddle_allocator memory = {0};
    double *shape = saddle_allocator_block(&memory, wide, sizeof *shape);
    double *share =
        saddle_allocator_block(&memory, plan->exact ? agents * classes : agents, sizeof *share);
    size_t *taken = saddle_allocator_block(&memory, agents * classes, sizeof *taken);
    size_t *left = saddle_allocator_block(&memory, classes, sizeof *left);
    if (memory.failed)
        return saddle_no_memory(error, "the partition");
    if (plan->exact) {
        for (size_t c = 0; c < classes; c++)
            left[c] = pools->start[c + 1] - pools->start[c];
        draw_mixes(plan, pools, rows, shape, share);
        draw_by_mix(plan, pools, share, left, size, taken);
    } else {
        for (size_t i = 0; i < agents; i++)
            shape[i] = plan->alpha;
        share_classes(plan, pools, shape, share, taken, size);
    }
    hand_out(pools, agents, taken, partition);
    set_starts(partition, size);
    return SADDLE_OK;
}

/* Distributes by label-skew. `order` has all rows in random order. */
static saddle_status skew(struct plan *plan, const saddle_dataset *data, const size_t *order,
                          size_t *size, saddle_partition *partition, saddle_error *error)
{
    SADDLE_OWNED double *classes = NULL;
    struct pools pools = {0};
    saddle_status status = saddle_dataset_classes(data, &classes, &pools.classes, error);
    if (classes == NULL)
        return status;
    /* With given sizes, agents choose among all rows; otherwise exactly `total` rows are distributed. */
    size_t offered = plan->exact ? data->rows : plan->total;
    pools.start = saddle_alloc(pools.classes + 1, sizeof *pools.start);
    pools.row = saddle_alloc(offered, sizeof *pools.row);
    if (pools.start == NULL || pools.row == NULL) {
        status = saddle_no_memory(error, "the partition");
    } else if (pools.classes > SADDLE_MOST_CLASSES) {
        status = saddle_refuse(
            error,
            "label-skew needs classes, but there are %zu different labels; at most %d are possible",
            pools.classes, SADDLE_MOST_CLASSES);
    } else {
        fill_pools(&pools, classes, data, order, offered);
        status = split_pools(plan, &pools, offered, size, partition, error);
    }
    saddle_free(pools.row);
    saddle_free(pools.start);
    return status;
}

/* ---- all kinds ---- */

static saddle_status split(struct plan *plan, const saddle_dataset *data, size_t *size,
                           saddle_partition *partition, saddle_error *error)
{
    SADDLE_OWNED size_t *order = saddle_alloc(data->rows, sizeof *order);
    SADDLE_TRY(saddle_check_memory(order, "the partition", error));
    for (size_t k = 0; k < data->rows; k++)
        order[k] = k;
    if (plan->kind != CONTIGUOUS)
        saddle_rng_shuffle(&plan->rng, order, data->rows);
    if (plan->kind == LABEL_SKEW) {
        SADDLE_TRY(skew(plan, data, order, size, partition, error));
    } else {
        memcpy(partition->row, order, plan->total * sizeof *order);
        set_starts(partition, size);
    }
    return SADDLE_OK;
}

SADDLE_RELEASES(saddle_partition, saddle_partition_free)

saddle_status saddle_partition_create(saddle_partition **out, const saddle_dataset *data,
                                      const char *text, size_t agents, const char *samples,
                                      uint64_t seed, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, data, text);
    struct plan plan = {.agents = agents};
    saddle_rng_init(&plan.rng, seed, SADDLE_RNG_PARTITION, 0, 0);
    SADDLE_TRY(parse_kind(&plan, text, error));
    if (agents == 0)
        return saddle_refuse(error, "--agents: 0 is too few; give at least 1");
    if (agents > data->rows)
        return saddle_refuse(error,
                             "--agents: %zu are too many for %zu row%s, as every agent needs at "
                             "least one; give at most %zu, or more data",
                             agents, data->rows, SADDLE_PLURAL(data->rows), data->rows);
    SADDLE_OWNED_BY(saddle_partition_free_at)
    saddle_partition *partition = saddle_alloc(1, sizeof *partition);
    SADDLE_OWNED size_t *size = saddle_alloc(agents, sizeof *size);
    if (partition == NULL || size == NULL)
        return saddle_no_memory(error, "the partition");
    SADDLE_TRY(parse_samples(&plan, samples, data->rows, size, error));
    /* Row numbers: those of the partition in order, and for label-skew also by class with a copy of the labels. */
    SADDLE_TRY(saddle_need_check_one(saddle_block_bytes(plan.total, sizeof *size) +
                                         (plan.kind == LABEL_SKEW ? 3.0 : 1.0) *
                                             saddle_block_bytes(data->rows, sizeof *size) +
                                         saddle_block_bytes(agents + 1, sizeof *size),
                                     "the partition", REMEDY, error));
    partition->agents = agents;
    partition->start = saddle_alloc(agents + 1, sizeof *partition->start);
    partition->row = saddle_alloc(plan.total, sizeof *partition->row);
    if (partition->start == NULL || partition->row == NULL)
        return saddle_no_memory(error, "the partition");
    SADDLE_TRY(split(&plan, data, size, partition, error));
    *out = saddle_taken(&partition);
    return SADDLE_OK;
}

void saddle_partition_free(saddle_partition *partition)
{
    if (partition == NULL)
        return;
    saddle_free(partition->start);
    saddle_free(partition->row);
    saddle_free(partition);
}
