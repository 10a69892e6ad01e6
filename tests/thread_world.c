#include "thread_world.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/status.h"
#include "core/vector.h"
#include "core/world.h"
#include "engines/agent.h"
#include "graph/link_model.h"

/* ---- threads as processes --------------------------------------------------------------------- */

/* A message that was sent but not received yet. */
typedef struct message {
    struct message *next;
    size_t bytes;
    char text[];
} message;

typedef struct thread_world {
    size_t ranks;
    pthread_barrier_t barrier;
    void *block[MOST_RANKS]; /* what every process publishes */
    pthread_mutex_t mutex;
    pthread_cond_t arrival;
    message *queue[MOST_RANKS][MOST_RANKS]; /* from, to; the oldest first */
    double *span[2];                        /* of the engine */
    double *clock[2];                       /* of the engine, of all agents */
} thread_world;

typedef struct rank_thread {
    thread_world *at;
    size_t rank;
    test_thread_world_job *job;
    void *context;
} rank_thread;

/* The rank of the calling thread. */
static _Thread_local const rank_thread *current;

static void wait_for_all(thread_world *c)
{
    pthread_barrier_wait(&c->barrier);
}

static void *run_rank(void *argument)
{
    current = argument;
    current->job(current->context, current->rank);
    return NULL;
}

void test_thread_world_run(size_t ranks, test_thread_world_job *job, void *context)
{
    thread_world c = {
        .ranks = ranks, .mutex = PTHREAD_MUTEX_INITIALIZER, .arrival = PTHREAD_COND_INITIALIZER};
    pthread_t thread[MOST_RANKS];
    rank_thread threads[MOST_RANKS];
    ck_assert_uint_le(ranks, MOST_RANKS);
    ck_assert_int_eq(pthread_barrier_init(&c.barrier, NULL, (unsigned)ranks), 0);
    for (size_t r = 0; r < ranks; r++) {
        threads[r] = (rank_thread){.at = &c, .rank = r, .job = job, .context = context};
        ck_assert_int_eq(pthread_create(&thread[r], NULL, run_rank, &threads[r]), 0);
    }
    for (size_t r = 0; r < ranks; r++)
        ck_assert_int_eq(pthread_join(thread[r], NULL), 0);
    for (size_t from = 0; from < ranks; from++)
        for (size_t to = 0; to < ranks; to++)
            ck_assert_msg(c.queue[from][to] == NULL, "a message from %zu to %zu was never read",
                          from, to);
    pthread_barrier_destroy(&c.barrier);
}

/* ---- the world -------------------------------------------------------------------------------- */

typedef struct rank_world {
    saddle_world base;
    thread_world *at;
    size_t *here;
    size_t *home;
} rank_world;

static thread_world *world_of(const saddle_world *world)
{
    return ((const rank_world *)world)->at;
}

/* Publishes a block to all processes, and waits until all have published theirs. */
static void publish(const saddle_world *world, void *what)
{
    thread_world *c = world_of(world);
    c->block[world->rank] = what;
    wait_for_all(c);
}

static void add_terms(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum)
{
    thread_world *c = world_of(world);
    size_t low = size * world->rank / world->ranks;
    size_t high = size * (world->rank + 1) / world->ranks;
    publish(world, terms);
    for (size_t k = 0; k < count; k++) {
        const double *from = c->block[world->home[first + k]];
        saddle_axpy(high - low, 1.0, from + k * stride + low, sum + low);
    }
    wait_for_all(c);
}

static void join(const saddle_world *world, size_t size, double *sum)
{
    thread_world *c = world_of(world);
    publish(world, sum);
    for (size_t r = 0; r < world->ranks; r++) {
        size_t low = size * r / world->ranks;
        size_t high = size * (r + 1) / world->ranks;
        const double *from = c->block[r];
        if (r != world->rank)
            memcpy(sum + low, from + low, (high - low) * sizeof *sum);
    }
    wait_for_all(c);
}

static void add_words(const saddle_world *world, size_t count, int64_t *words)
{
    thread_world *c = world_of(world);
    uint64_t *sum = calloc(count + 1, sizeof *sum);
    ck_assert_ptr_nonnull(sum);
    publish(world, words);
    for (size_t r = 0; r < world->ranks; r++)
        for (size_t k = 0; k < count; k++)
            sum[k] += (uint64_t)((const int64_t *)c->block[r])[k];
    wait_for_all(c);
    memcpy(words, sum, count * sizeof *words);
    free(sum);
}

static void largest(const saddle_world *world, size_t count, double *values)
{
    thread_world *c = world_of(world);
    double *most = calloc(count + 1, sizeof *most);
    ck_assert_ptr_nonnull(most);
    publish(world, values);
    for (size_t k = 0; k < count; k++) {
        most[k] = values[k];
        for (size_t r = 0; r < world->ranks; r++) {
            double other = ((const double *)c->block[r])[k];
            ck_assert_msg(other == other, "a NaN was given to largest()");
            most[k] = other > most[k] ? other : most[k];
        }
    }
    wait_for_all(c);
    memcpy(values, most, count * sizeof *values);
    free(most);
}

static void share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    thread_world *c = world_of(world);
    publish(world, block);
    if (world->rank != from)
        memcpy(block, c->block[from], bytes);
    wait_for_all(c);
}

static void transfer(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block)
{
    thread_world *c = world_of(world);
    if (from == to)
        return;
    ck_assert(world->rank == from || world->rank == to);
    pthread_mutex_lock(&c->mutex);
    message **queue = &c->queue[from][to];
    if (world->rank == from) {
        message *sent = malloc(sizeof *sent + bytes);
        ck_assert_ptr_nonnull(sent);
        sent->next = NULL;
        sent->bytes = bytes;
        memcpy(sent->text, block, bytes);
        while (*queue != NULL)
            queue = &(*queue)->next;
        *queue = sent;
        pthread_cond_broadcast(&c->arrival);
    } else {
        while (*queue == NULL)
            pthread_cond_wait(&c->arrival, &c->mutex);
        message *got = *queue;
        *queue = got->next;
        ck_assert_uint_eq(got->bytes, bytes);
        memcpy(block, got->text, bytes);
        free(got);
    }
    pthread_mutex_unlock(&c->mutex);
}

static void leave(saddle_world *world)
{
    rank_world *self = (rank_world *)world;
    free(self->here);
    free(self->home);
    free(self);
}

static const struct saddle_world_class class = {
    .add_terms = add_terms, .join = join, .destroy = leave};

static saddle_status connect(const saddle_engine_class *engine, saddle_world **out,
                             const saddle_graph *graph, saddle_error *error)
{
    (void)engine;
    (void)error;
    size_t agents = graph != NULL ? graph->agents : 0;
    rank_world *self = calloc(1, sizeof *self);
    ck_assert_ptr_nonnull(self);
    self->at = current->at;
    self->here = calloc(agents + 1, sizeof *self->here);
    self->home = calloc(agents + 1, sizeof *self->home);
    ck_assert(self->here != NULL && self->home != NULL);
    size_t local = 0;
    for (size_t i = 0; i < agents; i++) {
        self->home[i] = current->at->ranks - 1 - i % current->at->ranks;
        if (self->home[i] == current->rank)
            self->here[local++] = i;
    }
    self->base = (saddle_world){.rank = current->rank,
                                .ranks = current->at->ranks,
                                .agents = agents,
                                .local = local,
                                .here = self->here,
                                .home = self->home,
                                .add_words = add_words,
                                .largest = largest,
                                .share = share,
                                .transfer = transfer,
                                .kind = &class};
    *out = &self->base;
    return SADDLE_OK;
}

/* ---- the engine ------------------------------------------------------------------------------- */

typedef struct engine {
    saddle_engine base;
    saddle_engine_inputs in;
    thread_world *at;
    saddle_layout layout;
    saddle_blocks blocks;
    saddle_agent *agent; /* of this process */
    const double **neighbour;
    double *kept;
    double *scratch;
    size_t scratch_size;
    double *work; /* of every agent of this process */
    size_t most;  /* largest number of samples of an agent */
    uint32_t *index;
    uint64_t *mark;
    uint64_t *timed; /* IFO calls that the clocks of this process's agents include */
    uint64_t iteration;
    unsigned parity;
} engine;

static engine *engine_of(saddle_engine *base)
{
    return (engine *)base;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Points an agent of this process at the spans of a round. */
static saddle_agent *lend(engine *e, size_t k)
{
    const saddle_graph *graph = e->in.instance->mixing->graph;
    saddle_agent *agent = &e->agent[k];
    const double *const *span = (const double *const *)e->at->span;
    size_t stride = e->layout.published;
    agent->iteration = e->iteration;
    agent->now = span[e->parity] + agent->id * stride;
    agent->next = e->at->span[1 - e->parity] + agent->id * stride;
    for (size_t n = 0; n < agent->degree; n++)
        e->neighbour[n] = span[e->parity] + graph->neighbour[graph->start[agent->id] + n] * stride;
    agent->neighbour = e->neighbour;
    agent->work = e->work + k * e->layout.work;
    agent->scratch = e->scratch;
    agent->index = e->index + k * e->most;
    agent->mark = e->mark;
    return agent;
}

static uint64_t all_ifo(const engine *e)
{
    int64_t ifo = 0;
    for (size_t k = 0; k < e->in.instance->world->local; k++)
        ifo += (int64_t)e->agent[k].ifo;
    e->in.instance->world->add_words(e->in.instance->world, 1, &ifo);
    return (uint64_t)ifo;
}

/* Finds the fault of the lowest faulty agent of any process, in all of them. */
static void agree_on_fault(const engine *e, saddle_fault *fault)
{
    const saddle_world *world = e->in.instance->world;
    double first = -(double)world->agents;
    saddle_fault own = {.kind = SADDLE_FAULT_NONE};
    for (size_t k = world->local; k-- > 0;)
        if (e->agent[k].fault.kind != SADDLE_FAULT_NONE) {
            own = e->agent[k].fault;
            first = -(double)world->here[k];
        }
    world->largest(world, 1, &first);
    if (first == -(double)world->agents)
        return;
    world->share(world, world->home[(size_t)-first], sizeof own, &own);
    *fault = own;
}

/* Returns the clock of an agent of this process after a round: it waits for its neighbours, then computes. */
static double time_of(const engine *e, size_t k, unsigned round)
{
    const saddle_graph *graph = e->in.instance->graph;
    const saddle_link_model *model = e->in.link_model;
    const double *before = e->at->clock[e->parity];
    size_t i = e->agent[k].id;
    size_t offset;
    size_t doubles;
    double begin = before[i];
    saddle_layout_message(&e->layout, round, &offset, &doubles);
    for (size_t n = graph->start[i]; e->layout.rounds > 0 && n < graph->start[i + 1]; n++)
        begin = fmax(begin, before[graph->neighbour[n]] +
                                saddle_link_seconds(model, n, 8.0 * (double)doubles));
    return begin + model->compute[i] * (double)(e->agent[k].ifo - e->timed[k]);
}

static void set_clock(engine *e, size_t k, double seconds)
{
    saddle_agent *agent = &e->agent[k];
    agent->clock = seconds;
    e->at->clock[1 - e->parity][agent->id] = seconds;
    e->timed[k] = agent->ifo;
}

/* Returns the latest clock of all processes; NaN without clocks. */
static double latest_clock(const engine *e)
{
    const saddle_world *world = e->in.instance->world;
    double latest = 0.0;
    if (e->in.link_model == NULL)
        return (double)NAN;
    for (size_t k = 0; k < world->local; k++)
        latest = fmax(latest, e->agent[k].clock);
    world->largest(world, 1, &latest);
    return latest;
}

/* Overwrites scratch, which lasts for one phase only: what a later phase needs must be in `work`. */
static void spoil_scratch(engine *e)
{
    for (size_t k = 0; k < e->scratch_size; k++)
        e->scratch[k] = (double)NAN;
}

/* Runs phase after phase of all agents, as engines that divide phases among workers may do. */
static void iterate(engine *e, uint64_t allowed)
{
    unsigned rounds = e->layout.rounds > 0 ? e->layout.rounds : 1;
    for (unsigned round = 0; round < rounds; round++) {
        for (const saddle_phase *phase = e->in.algorithm->phases; phase->name != NULL; phase++)
            for (size_t k = 0; k < e->in.instance->world->local; k++) {
                saddle_agent *agent = lend(e, k);
                if (round == 0 && phase == e->in.algorithm->phases)
                    agent->ifo_limit = allowed > 0 ? agent->ifo + allowed : 0;
                agent->round = round;
                saddle_agent_phase(phase, agent);
                spoil_scratch(e);
                saddle_agent_evaluate(agent);
                spoil_scratch(e);
            }
        for (size_t k = 0; e->in.link_model != NULL && k < e->in.instance->world->local; k++)
            set_clock(e, k, time_of(e, k, round));
        wait_for_all(e->at);
        e->parity = 1 - e->parity;
    }
    e->iteration++;
}

static void advance(saddle_engine *base, const saddle_limits *limits, saddle_fault *fault)
{
    engine *e = engine_of(base);
    const saddle_world *world = e->in.instance->world;
    uint64_t ifo = all_ifo(e);
    for (uint64_t done = 0; done < limits->iterations; done++) {
        uint64_t left = limits->ifo_budget > ifo ? limits->ifo_budget - ifo : 0;
        uint64_t allowed = limits->ifo_budget > 0 ? larger(left / world->agents, 1) : 0;
        iterate(e, allowed);
        ifo = all_ifo(e);
        agree_on_fault(e, fault);
        double stop = limits->interrupt != NULL && *limits->interrupt != 0 ? 1.0 : 0.0;
        if (limits->deadline > 0.0 && saddle_clock_seconds() >= limits->deadline)
            stop = 1.0;
        world->largest(world, 1, &stop);
        double seconds = latest_clock(e);
        if (stop > 0.0 || fault->kind != SADDLE_FAULT_NONE ||
            (limits->max_ifo > 0 && ifo >= limits->max_ifo) ||
            (limits->max_network_seconds > 0.0 && seconds >= limits->max_network_seconds))
            break;
    }
    for (size_t k = 0; k < world->local; k++)
        lend(e, k);
}

static uint64_t iteration_of(const saddle_engine *base)
{
    return ((const engine *)base)->iteration;
}

static void cost(const saddle_engine *base, saddle_cost *out)
{
    const engine *e = (const engine *)base;
    uint64_t edges = 2 * (uint64_t)e->in.instance->mixing->graph->edges;
    out->ifo = all_ifo(e);
    out->network_seconds = latest_clock(e);
    out->age = (double)NAN;
    out->rounds = e->iteration * e->layout.rounds;
    out->messages = out->rounds * edges;
    out->bytes = 0;
    for (unsigned round = 0; round < e->layout.rounds; round++) {
        size_t offset;
        size_t doubles;
        saddle_layout_message(&e->layout, round, &offset, &doubles);
        out->bytes += e->iteration * edges * doubles * sizeof(double);
    }
}

static void for_each(saddle_engine *base, saddle_agent_task *task, void *context)
{
    engine *e = engine_of(base);
    for (size_t k = 0; k < e->in.instance->world->local; k++)
        task(context, lend(e, k));
}

/* One agent at a time. */
static void mean(saddle_engine *base, size_t size, saddle_agent_term *term, void *context,
                 double *out)
{
    engine *e = engine_of(base);
    const saddle_world *world = e->in.instance->world;
    double *terms = saddle_alloc_doubles(size);
    ck_assert_ptr_nonnull(terms);
    memset(out, 0, size * sizeof *out);
    for (size_t i = 0; i < world->agents; i++) {
        if (saddle_world_has(world, i))
            term(context, lend(e, saddle_world_place(world, i)), terms);
        world->kind->add_terms(world, i, 1, size, size, terms, out);
    }
    world->kind->join(world, size, out);
    saddle_free(terms);
    saddle_scale(size, 1.0 / (double)world->agents, out);
}

static void destroy(saddle_engine *base)
{
    engine *e = engine_of(base);
    wait_for_all(e->at);
    if (e->in.instance->world->rank == 0)
        for (int parity = 0; parity < 2; parity++) {
            saddle_free(e->at->span[parity]);
            saddle_free(e->at->clock[parity]);
        }
    void *const memory[] = {
        e->agent, (void *)e->neighbour, e->kept, e->scratch, e->work, e->index, e->mark, e->timed,
        e};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; k++)
        saddle_free(memory[k]);
}

static void allocate(engine *e)
{
    const saddle_problem *problem = e->in.instance->problem;
    const saddle_world *world = e->in.instance->world;
    size_t most = 0;
    for (size_t i = 0; i < problem->agents; i++)
        most = larger(most, problem->samples[i]);
    size_t inner =
        larger(saddle_problem_scratch(problem), larger(saddle_prox_scratch(e->in.instance->x_prox),
                                                       saddle_set_scratch(e->in.instance->y_set)));
    e->agent = saddle_alloc(world->local, sizeof *e->agent);
    e->neighbour = saddle_alloc(world->agents, sizeof *e->neighbour);
    e->kept = saddle_alloc_doubles(world->local * e->layout.kept);
    e->scratch_size = larger(e->layout.scratch + inner, e->in.scratch);
    e->most = most;
    e->scratch = saddle_alloc_doubles(e->scratch_size);
    e->work = saddle_alloc_doubles(world->local * e->layout.work);
    e->index = saddle_alloc(world->local * most, sizeof *e->index);
    e->mark = saddle_alloc(saddle_rng_mark_words(most), sizeof *e->mark);
    for (int parity = 0; world->rank == 0 && parity < 2; parity++) {
        e->at->span[parity] = saddle_alloc_doubles(world->agents * e->layout.published);
        e->at->clock[parity] = saddle_alloc_doubles(world->agents);
        ck_assert(e->at->span[parity] != NULL && e->at->clock[parity] != NULL);
    }
    e->timed = saddle_alloc(world->local, sizeof *e->timed);
    ck_assert_ptr_nonnull(e->timed);
    ck_assert(e->agent != NULL && e->neighbour != NULL && e->kept != NULL && e->scratch != NULL &&
              e->work != NULL && e->index != NULL && e->mark != NULL);
}

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    (void)error;
    const saddle_mixing *mixing = inputs->instance->mixing;
    engine *e = saddle_alloc(1, sizeof *e);
    ck_assert_ptr_nonnull(e);
    e->base.kind = &test_thread_world_engine;
    e->in = *inputs;
    e->at = world_of(inputs->instance->world);
    e->iteration = inputs->iteration;
    saddle_algorithm_layout(inputs->algorithm, inputs->parameters, inputs->instance->problem,
                            &e->layout);
    e->blocks = saddle_blocks_of(inputs->instance->problem);
    allocate(e);
    wait_for_all(e->at);
    for (size_t k = 0; k < inputs->instance->world->local; k++) {
        size_t i = inputs->instance->world->here[k];
        e->agent[k] = (saddle_agent){
            .id = i,
            .agents = inputs->instance->world->agents,
            .seed = inputs->instance->seed,
            .problem = inputs->instance->problem,
            .x_prox = inputs->instance->x_prox,
            .y_set = inputs->instance->y_set,
            .parameters = inputs->parameters,
            .kept = e->kept + k * e->layout.kept,
            .degree = mixing->graph->start[i + 1] - mixing->graph->start[i],
            .weight = mixing->weight + mixing->graph->start[i],
            .self_weight = mixing->self_weight[i],
            .blocks = &e->blocks,
        };
        /* The start is written to `next`, which then becomes `now`. */
        e->parity = 1;
        saddle_agent *agent = lend(e, k);
        if (inputs->restore != NULL)
            inputs->restore(inputs->restore_context, agent);
        else
            inputs->algorithm->start(agent, inputs->instance->x0, inputs->instance->y0);
        if (inputs->link_model != NULL)
            set_clock(e, k,
                      inputs->restore != NULL
                          ? agent->clock
                          : inputs->link_model->compute[i] * (double)agent->ifo);
        e->parity = 0;
    }
    wait_for_all(e->at);
    for (size_t k = 0; k < inputs->instance->world->local; k++)
        lend(e, k);
    *out = &e->base;
    return SADDLE_OK;
}

const saddle_engine_class test_thread_world_engine = {
    .name = "thread_world",
    .summary = "threads that are processes to each other",
    .connect = connect,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .iteration = iteration_of,
    .cost = cost,
    .for_each = for_each,
    .mean = mean,
};
