#include "engines/cuda/tables.h"

#include "algorithms/sampling.h"
#include "core/base.h"
#include "core/rng.h"

/* A table in the making. */
typedef struct maker {
    const saddle_card_inputs *in;
    saddle_card_plan *plan;
    uint64_t rows;
    uint64_t entries; /* stored; 0 if the rows are dense */
    bool values;      /* some entry is not 1 */
    double bytes;     /* of all blocks so far */
    bool count_only;
    bool failed;
} maker;

static const saddle_dataset *rows_of(const maker *m, size_t i)
{
    return m->in->problem->shard[m->in->local->agent[i].id];
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *take(maker *m, double count, size_t size)
{
    m->bytes += count * (double)size;
    if (m->count_only || m->failed)
        return NULL;
    void *block = m->in->module->take(m->in->card, (size_t)count * size + size);
    m->failed = block == NULL;
    return block;
}

#define TAKE(field, count) (m->plan->field = take(m, (double)(count), sizeof *m->plan->field))

static bool measures_variance(const maker *m)
{
    return m->plan->steps.scheduled && !(m->plan->steps.refresh.sigma2 > 0.0);
}

static void take_tables(maker *m)
{
    saddle_card_plan *c = m->plan;
    const saddle_links *links = &m->in->local->links;
    double agents = (double)c->agents;
    TAKE(start, agents + 1);
    TAKE(neighbour, links->start[c->agents]);
    TAKE(weight, links->start[c->agents]);
    TAKE(self_weight, agents);
    TAKE(first_row, agents + 1);
    TAKE(label, m->rows);
    if (m->entries == 0) {
        TAKE(dense, (double)m->rows * c->features);
    } else {
        TAKE(row_start, m->rows + 1);
        TAKE(column, m->entries);
        TAKE(list_start, (double)c->lists + 1);
        TAKE(list_row, m->entries);
    }
    if (m->values) {
        TAKE(value, m->entries);
        TAKE(list_value, m->entries);
    }
    if (measures_variance(m))
        TAKE(row_norm, m->rows);
    TAKE(part_rows, agents);
    TAKE(batch_size, agents);
    TAKE(batch_part, agents);
    TAKE(agent_weight, agents);
}

static void take_state(maker *m)
{
    saddle_card_plan *c = m->plan;
    double agents = (double)c->agents;
    double window = (double)SADDLE_CARD_WINDOW;
    TAKE(span[0], agents * (double)c->stride);
    TAKE(span[1], agents * (double)c->stride);
    TAKE(kept, agents * (double)c->kept_stride);
    TAKE(moved_at, 2 * agents);
    TAKE(state, 1);
    TAKE(batch, 2 * window * agents * (double)c->batch_stride);
    TAKE(mark, window * agents * (double)c->mark_stride);
    TAKE(change, agents * (double)c->change_stride);
    if (c->steps.scheduled) {
        TAKE(refresh_batch, agents * (double)c->change_stride);
        TAKE(refresh_count, agents);
        TAKE(refresh_mark, agents * (double)c->mark_stride);
        TAKE(spent, agents);
    }
    TAKE(sum, agents * c->columns);
    TAKE(total, c->lists);
    TAKE(along, (c->auc ? 4.0 : 1.0) * (double)m->rows);
    TAKE(gy, agents * c->y_dim);
    TAKE(point, (double)c->x_dim + c->y_dim);
    TAKE(result, fmax(fmax(c->columns, c->x_dim) + c->y_dim, 2.0 * agents));
    if (c->answers)
        TAKE(answer, (c->steps.recursive ? 2.0 : 1.0) * agents * ((double)c->x_dim + c->y_dim));
    if (!c->steps.x.clips || !c->steps.y.clips) {
        TAKE(target, agents * ((double)c->x_dim + c->y_dim));
        TAKE(scratch, 3.0 * agents * ((double)c->x_dim + c->y_dim));
    }
}

static void take_all(maker *m)
{
    take_tables(m);
    take_state(m);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void measure_rows(maker *m)
{
    for (size_t i = 0; i < m->plan->agents && !m->plan->answers; i++) {
        const saddle_dataset *data = rows_of(m, i);
        m->rows += data->rows;
        m->entries += data->dense == NULL ? data->nonzeros : 0;
        m->values |= data->dense == NULL && data->value != NULL;
    }
}

static void measure_agents(maker *m)
{
    saddle_card_plan *c = m->plan;
    for (size_t i = 0; i < c->agents; i++) {
        const saddle_problem *problem = m->in->local->agent[i].problem;
        size_t rows = problem->samples[m->in->local->agent[i].id];
        size_t batch = saddle_batch_size(rows, m->in->steps->batch);
        saddle_batch all = {.count = rows};
        c->parts = (uint32_t)saddle_larger(c->parts, saddle_parts_count(problem, &all));
        c->row_blocks = (uint32_t)saddle_larger(c->row_blocks, rows / SADDLE_CARD_THREADS + 1);
        c->batch_stride = saddle_larger(c->batch_stride, batch);
        c->change_stride = saddle_larger(c->change_stride, c->steps.scheduled ? rows : batch);
        c->mark_stride = saddle_larger(c->mark_stride, saddle_rng_mark_words(rows));
    }
    c->lists = (uint64_t)c->agents * c->parts * c->columns;
}

/* Blocks that fill any card several times over. Where there are more tiles, a block moves those of several agents: it
 * then waits only once for their lists of neighbours, and neighbours with near numbers share what they read. */
enum { MANY_BLOCKS = 2048 };

static uint32_t group_of(uint32_t agents, uint32_t tiles)
{
    uint64_t group = (uint64_t)agents * tiles / MANY_BLOCKS;
    return group < 1                        ? 1
           : group < SADDLE_CARD_MOST_GROUP ? (uint32_t)group
                                            : SADDLE_CARD_MOST_GROUP;
}

/* Few agents have a multiprocessor each, so that latency counts; of many, more fit if their blocks are smaller. */
enum { FEW_AGENTS = 256 };

static uint32_t batch_threads_of(const saddle_card_plan *c)
{
    size_t samples = saddle_smaller(c->batch_stride, SADDLE_CARD_CHUNK);
    size_t columns = saddle_smaller(c->x_dim, SADDLE_CARD_CHUNK);
    size_t threads = (saddle_larger(2 * samples, columns) + 31) / 32 * 32;
    return c->agents <= FEW_AGENTS ? SADDLE_CARD_BATCH_THREADS : (uint32_t)threads;
}

static void measure(maker *m)
{
    saddle_card_plan *c = m->plan;
    const saddle_local *local = m->in->local;
    const saddle_problem *problem = local->inputs.instance->problem;
    c->agents = (uint32_t)local->agents;
    c->x_dim = (uint32_t)problem->x_dim;
    c->y_dim = (uint32_t)problem->y_dim;
    c->features = c->x_dim - (m->in->problem->intercept ? 1 : 0);
    c->columns = c->answers ? 0 : c->x_dim;
    if (m->in->problem->auc) {
        c->features = c->x_dim - SADDLE_AUC_Y;
        c->columns = c->features + SADDLE_AUC_REST + 1;
    }
    c->stride = local->stride;
    c->kept_stride = local->kept_stride;
    c->x_tiles = (c->x_dim + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS;
    c->tiles = c->x_tiles + (c->y_dim + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS;
    c->group = group_of(c->agents, c->tiles);
    c->groups = (c->agents + c->group - 1) / c->group;
    c->seed = local->inputs.instance->seed;
    c->purpose = SADDLE_RNG_BATCH;
    c->refresh_purpose = SADDLE_RNG_REFRESH;
    c->sample_cost = saddle_sample_cost(problem);
    c->x_block = (uint32_t)local->blocks.x.block;
    measure_rows(m);
    measure_agents(m);
    c->batch_threads = batch_threads_of(c);
}

static void copy_constants(saddle_card_plan *c, const saddle_device_steps *steps,
                           const saddle_device_problem *problem)
{
    c->steps = *steps;
    c->loss_weight = problem->loss_weight;
    c->huber = problem->huber;
    c->regularizer = problem->regularizer;
    c->bend = problem->bend;
    c->penalty_slope = problem->penalty_slope;
    c->penalty_length = problem->penalty_length;
    c->auc = problem->auc;
    c->share = problem->share;
    c->ridge = problem->ridge;
    c->answers = problem->answers;
}

/* Whether a factor or a bound is neither so small nor so large that products with it can be too small to be
 * normal; bounds may be infinite. */
static bool is_plain(double v)
{
    return v == 0.0 || isinf(v) || (fabs(v) > 0x1p-60 && fabs(v) < 0x1p60);
}

static bool are_plain(const maker *m)
{
    const saddle_card_plan *c = m->plan;
    const saddle_device_steps *s = &c->steps;
    const double factor[] = {s->tau,     s->alpha,   s->nu,      s->eta,      s->x.lower,
                             s->x.upper, s->y.lower, s->y.upper, s->curvature};
    bool plain = true;
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++)
        plain &= is_plain(factor[k]);
    for (size_t i = 0; i < c->agents; i++) {
        const saddle_agent *agent = &m->in->local->agent[i];
        plain &= is_plain(agent->self_weight);
        for (size_t k = 0; k < agent->degree; k++)
            plain &= is_plain(agent->weight[k]);
    }
    return plain;
}

/* ---- contents -------------------------------------------------------------------------------- */

static void put(maker *m, const void *to, const void *from, size_t count, size_t size)
{
    if (!m->failed && !m->in->module->put(m->in->card, (void *)(uintptr_t)to, from, count * size))
        m->failed = true;
}

#define PUT(field, from, count) put(m, m->plan->field, from, count, sizeof *(m->plan->field))

/* The numbers of all agents. */
typedef struct agent_numbers {
    uint32_t *start;
    uint32_t *neighbour;
    uint32_t *part_rows;
    uint32_t *batch_size;
    uint32_t *batch_part;
    double *weight;
    double *self_weight;
    double *agent_weight;
    uint64_t *first_row;
} agent_numbers;

static bool take_numbers(agent_numbers *n, size_t agents, size_t neighbours,
                         saddle_allocator *memory)
{
    n->start = saddle_allocator_block(memory, agents + 1, sizeof *n->start);
    n->neighbour = saddle_allocator_block(memory, neighbours, sizeof *n->neighbour);
    n->part_rows = saddle_allocator_block(memory, agents, sizeof *n->part_rows);
    n->batch_size = saddle_allocator_block(memory, agents, sizeof *n->batch_size);
    n->batch_part = saddle_allocator_block(memory, agents, sizeof *n->batch_part);
    n->weight = saddle_allocator_block(memory, neighbours, sizeof *n->weight);
    n->self_weight = saddle_allocator_block(memory, agents, sizeof *n->self_weight);
    n->agent_weight = saddle_allocator_block(memory, agents, sizeof *n->agent_weight);
    n->first_row = saddle_allocator_block(memory, agents + 1, sizeof *n->first_row);
    return !memory->failed;
}

/* Fills in the numbers of agent i, whose neighbours are in this process like all agents. */
static void number_agent(const maker *m, size_t i, agent_numbers *n)
{
    const saddle_agent *agent = &m->in->local->agent[i];
    const saddle_graph *graph = m->in->local->inputs.instance->graph;
    const double *weight = m->in->problem->agent_weight;
    size_t rows = agent->problem->samples[agent->id];
    size_t size = saddle_batch_size(rows, m->in->steps->batch);
    bool drawn = size < rows || m->plan->steps.replacement;
    const uint32_t any = 0; /* the division of a batch does not depend on its samples */
    saddle_batch all = {.count = rows};
    saddle_batch batch = {
        .index = drawn ? &any : NULL, .count = size, .repeats = m->plan->steps.replacement};
    n->part_rows[i] = (uint32_t)saddle_part_samples(agent->problem, &all);
    n->batch_size[i] = (uint32_t)size;
    n->batch_part[i] = (uint32_t)saddle_part_samples(agent->problem, &batch);
    n->self_weight[i] = agent->self_weight;
    n->agent_weight[i] = weight != NULL ? weight[agent->id] : 1.0;
    n->first_row[i + 1] = n->first_row[i] + rows;
    n->start[i + 1] = n->start[i] + (uint32_t)agent->degree;
    for (size_t k = 0; k < agent->degree; k++) {
        n->neighbour[n->start[i] + k] = (uint32_t)graph->neighbour[graph->start[agent->id] + k];
        n->weight[n->start[i] + k] = agent->weight[k];
    }
}

static bool put_agents(maker *m)
{
    size_t agents = m->plan->agents;
    size_t neighbours = m->in->local->links.start[agents];
    saddle_allocator memory = {.count = 0};
    agent_numbers n;
    bool taken = take_numbers(&n, agents, neighbours, &memory);
    for (size_t i = 0; taken && i < agents; i++)
        number_agent(m, i, &n);
    if (taken) {
        PUT(start, n.start, agents + 1);
        PUT(neighbour, n.neighbour, neighbours);
        PUT(weight, n.weight, neighbours);
        PUT(self_weight, n.self_weight, agents);
        PUT(agent_weight, n.agent_weight, agents);
        PUT(part_rows, n.part_rows, agents);
        PUT(batch_size, n.batch_size, agents);
        PUT(batch_part, n.batch_part, agents);
        PUT(first_row, n.first_row, agents + 1);
    }
    saddle_allocator_free(&memory);
    return taken;
}

/* The entries of an agent's rows by part and column, and where its rows begin among those of all agents. */
typedef struct lists {
    uint64_t *row_start;
    uint64_t *start; /* per list, and one more */
    uint32_t *row;
    double *value;
} lists;

static bool take_lists(const maker *m, size_t rows, size_t entries, lists *l,
                       saddle_allocator *memory)
{
    size_t count = (size_t)m->plan->parts * m->plan->columns;
    l->row_start = saddle_allocator_block(memory, rows + 1, sizeof *l->row_start);
    l->start = saddle_allocator_block(memory, count + 1, sizeof *l->start);
    l->row = saddle_allocator_block(memory, entries, sizeof *l->row);
    l->value = saddle_allocator_block(memory, m->values ? entries : 0, sizeof *l->value);
    return !memory->failed;
}

/* Returns the list of an entry of a row. */
static size_t list_of(const maker *m, const saddle_dataset *data, size_t row, size_t entry,
                      size_t part_rows)
{
    return row / part_rows * m->plan->columns + data->column[entry];
}

/* Sorts the entries of an agent; `first` entries of other agents come before them. */
static void sort_entries(const maker *m, const saddle_dataset *data, size_t part_rows,
                         uint64_t first, lists *l)
{
    size_t count = (size_t)m->plan->parts * m->plan->columns;
    for (size_t j = 0; j < data->rows; j++)
        for (size_t e = data->row_start[j]; e < data->row_start[j + 1]; e++)
            l->start[list_of(m, data, j, e, part_rows)]++;
    uint64_t end = 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t own = l->start[k];
        l->start[k] = end;
        end += own;
    }
    for (size_t j = 0; j < data->rows; j++)
        for (size_t e = data->row_start[j]; e < data->row_start[j + 1]; e++) {
            uint64_t at = l->start[list_of(m, data, j, e, part_rows)]++;
            l->row[at] = (uint32_t)j;
            if (m->values)
                l->value[at] = saddle_entry_value(data, e);
        }
    /* Every start is now that of the next list. */
    for (size_t k = count; k > 0; k--)
        l->start[k] = first + l->start[k - 1];
    l->start[0] = first;
    for (size_t j = 0; j <= data->rows; j++)
        l->row_start[j] = first + data->row_start[j];
}

/* Copies an agent's sparse rows. */
static bool put_entries(maker *m, size_t i, uint64_t row, uint64_t entry)
{
    const saddle_dataset *data = rows_of(m, i);
    const saddle_agent *agent = &m->in->local->agent[i];
    size_t count = (size_t)m->plan->parts * m->plan->columns;
    size_t part_rows = saddle_part_samples(agent->problem, &(saddle_batch){.count = data->rows});
    saddle_allocator memory = {.count = 0};
    lists l;
    bool taken = take_lists(m, data->rows, data->nonzeros, &l, &memory);
    if (taken) {
        sort_entries(m, data, part_rows, entry, &l);
        PUT(row_start + row, l.row_start, data->rows + 1);
        PUT(column + entry, data->column, data->nonzeros);
        PUT(list_start + i * count, l.start, count + 1);
        PUT(list_row + entry, l.row, data->nonzeros);
        if (m->values)
            PUT(list_value + entry, l.value, data->nonzeros);
        /* An agent whose values are all 1 among others: its lists have them in the order of columns, but ones
         * are the same in any order. */
        if (m->values)
            PUT(value + entry, data->value != NULL ? data->value : l.value, data->nonzeros);
    }
    saddle_allocator_free(&memory);
    return taken;
}

static bool put_norms(maker *m, const saddle_dataset *data, uint64_t row)
{
    double *norm = saddle_alloc_doubles(data->rows);
    for (size_t j = 0; norm != NULL && j < data->rows; j++)
        norm[j] = m->in->problem->row_norm2(data, j) + (m->in->problem->intercept ? 1.0 : 0.0);
    if (norm != NULL)
        PUT(row_norm + row, norm, data->rows);
    saddle_free(norm);
    return norm != NULL;
}

static bool put_rows(maker *m)
{
    uint64_t row = 0;
    uint64_t entry = 0;
    bool taken = true;
    for (size_t i = 0; taken && i < m->plan->agents && !m->plan->answers; i++) {
        const saddle_dataset *data = rows_of(m, i);
        PUT(label + row, data->label, data->rows);
        if (m->plan->row_norm != NULL)
            taken = put_norms(m, data, row);
        if (m->entries == 0)
            PUT(dense + row * m->plan->features, data->dense, data->rows * m->plan->features);
        else
            taken = put_entries(m, i, row, entry) && taken;
        row += data->rows;
        entry += m->entries == 0 ? 0 : data->nonzeros;
    }
    return taken;
}

static saddle_status copy_tables(maker *m, saddle_error *error)
{
    const saddle_card_state state = {.stop_at = UINT64_MAX};
    if (!put_agents(m) || !put_rows(m))
        return saddle_no_memory(error, "the tables of the card");
    PUT(state, &state, 1);
    return SADDLE_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Whether agents have dense rows and others sparse ones, which happens only to data in memory. */
static bool is_mixed(const maker *m)
{
    bool mixed = false;
    for (size_t i = 1; i < m->plan->agents && !m->plan->answers; i++)
        mixed |= (rows_of(m, i)->dense != NULL) != (rows_of(m, 0)->dense != NULL);
    return mixed;
}

static saddle_status check_size(const maker *m, saddle_error *error)
{
    double free_bytes = m->in->module->free_bytes(m->in->card);
    const saddle_card_plan *c = m->plan;
    if ((double)c->agents * c->tiles > INT32_MAX ||
        (double)c->lists / SADDLE_CARD_THREADS > INT32_MAX)
        return saddle_refuse(error,
                             "--engine: %u agents with %u and %u variables are too many for one "
                             "card; use threads",
                             c->agents, c->x_dim, c->y_dim);
    if (m->bytes > free_bytes)
        return saddle_refuse(error,
                             "--engine: the run needs %.2f GB of memory of %s, of which %.2f GB "
                             "are free; give it fewer agents or rows, or use threads",
                             m->bytes / 1e9, m->in->module->name(m->in->card), free_bytes / 1e9);
    return SADDLE_OK;
}

saddle_status saddle_card_prepare(saddle_card_plan *out, const saddle_card_inputs *inputs,
                                  saddle_error *error)
{
    maker m = {.in = inputs, .plan = out, .count_only = true};
    memset(out, 0, sizeof *out);
    copy_constants(out, inputs->steps, inputs->problem);
    measure(&m);
    out->plain = are_plain(&m);
    if (is_mixed(&m))
        return saddle_refuse(error, "--engine: rows of some agents are dense and those of others "
                                    "are not; give all in one form, or use threads");
    take_all(&m);
    SADDLE_TRY(check_size(&m, error));
    m.count_only = false;
    take_all(&m);
    if (m.failed)
        return saddle_no_memory(error, "the agents on the card");
    SADDLE_TRY(copy_tables(&m, error));
    return m.failed ? saddle_fail(error, SADDLE_UNSUPPORTED, "--engine: %s failed: %s",
                                  inputs->module->name(inputs->card),
                                  inputs->module->error(inputs->card))
                    : SADDLE_OK;
}
