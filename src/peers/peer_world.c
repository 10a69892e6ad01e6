/* The world of a session: one agent in each process. Every collective operation is an exchange of records, which every
 * process adds up in the order of agents. */
#include "core/vector.h"
#include "core/world.h"
#include "peers/session.h"

typedef struct peer_world {
    saddle_world base;
    saddle_session *session;
    size_t list
        []; /* the agent of this process; then the process of each agent, which has its number */
} peer_world;

saddle_session *saddle_peer_session(const saddle_world *world)
{
    return ((const peer_world *)world)->session;
}

/* Exchanges what this process has, and gives all to `take`. */
static void exchange(const saddle_world *world, const void *own, size_t bytes,
                     saddle_take_record *take, void *context)
{
    saddle_session_exchange(saddle_peer_session(world), world->ranks, own, bytes, take, context);
}

/* Where the numbers of all processes come together. Those of this process are not overwritten before all have come:
 * they are in the exchange. */
typedef struct gathered {
    void *out;
    size_t first; /* of the agents whose terms are wanted */
    size_t count;
} gathered;

static void add_word(void *context, size_t agent, size_t offset, const void *bytes, size_t size)
{
    uint64_t *sum = (uint64_t *)((gathered *)context)->out + offset / sizeof *sum;
    for (size_t k = 0; k < size / sizeof *sum; k++) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + k * sizeof word, sizeof word);
        sum[k] = agent == 0 ? word : sum[k] + word;
    }
}

static void add_words(const saddle_world *world, size_t count, int64_t *words)
{
    gathered all = {.out = words};
    exchange(world, words, count * sizeof *words, add_word, &all);
}

static void keep_largest(void *context, size_t agent, size_t offset, const void *bytes, size_t size)
{
    double *most = (double *)((gathered *)context)->out + offset / sizeof *most;
    for (size_t k = 0; k < size / sizeof *most; k++) {
        double value;
        memcpy(&value, (const char *)bytes + k * sizeof value, sizeof value);
        most[k] = agent == 0 || value > most[k] ? value : most[k];
    }
}

static void largest(const saddle_world *world, size_t count, double *values)
{
    gathered all = {.out = values};
    exchange(world, values, count * sizeof *values, keep_largest, &all);
}

static void keep_bytes(void *context, size_t agent, size_t offset, const void *bytes, size_t size)
{
    (void)agent;
    memcpy((char *)context + offset, bytes, size);
}

static void share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    saddle_session_exchange(saddle_peer_session(world), from, block, bytes, keep_bytes, block);
}

/* Peers do nothing that one process does for another: no such thing is called. */
static void transfer(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block)
{
    (void)world;
    (void)from;
    (void)to;
    (void)bytes;
    (void)block;
}

static void add_term(void *context, size_t agent, size_t offset, const void *bytes, size_t size)
{
    gathered *all = context;
    double *sum = (double *)all->out + offset / sizeof *sum;
    for (size_t k = 0; agent - all->first < all->count && k < size / sizeof *sum; k++) {
        double value;
        memcpy(&value, (const char *)bytes + k * sizeof value, sizeof value);
        sum[k] += value;
    }
}

/* All processes give their rows, and the sum has those of the agents first, ..., first + count - 1. */
static void add_terms(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum)
{
    gathered all = {.out = sum, .first = first, .count = count};
    size_t self = world->rank;
    bool counts = self >= first && self - first < count;
    /* Others must not learn what is in a row that does not count. */
    double *own = counts ? terms + (self - first) * stride : terms;
    if (!counts)
        memset(own, 0, size * sizeof *own);
    exchange(world, own, size * sizeof *own, add_term, &all);
}

/* Every process has added up all entries. */
static void join(const saddle_world *world, size_t size, double *sum)
{
    (void)world;
    (void)size;
    (void)sum;
}

static saddle_status check(const saddle_world *world, saddle_error *error)
{
    return saddle_session_check(saddle_peer_session(world), error);
}

static void destroy(saddle_world *world)
{
    saddle_free(world);
}

static const struct saddle_world_class class = {.add_terms = add_terms,
                                                .join = join,
                                                .check = check,
                                                .member = "agent",
                                                .own_texts = true,
                                                .destroy = destroy};

saddle_status saddle_peer_connect(const saddle_engine_class *engine, saddle_world **out,
                                  const saddle_graph *graph, saddle_error *error)
{
    saddle_session *session = ((const saddle_peer_engine *)engine)->session;
    size_t ranks = saddle_session_graph(session)->agents;
    *out = NULL;
    if (graph != NULL && graph->agents != ranks)
        return saddle_refuse(error,
                             "the data or the problem are for %zu agents, and the network has %zu",
                             graph->agents, ranks);
    peer_world *w = saddle_alloc(1, sizeof *w + (ranks + 1) * sizeof *w->list);
    SADDLE_TRY(saddle_check_memory(w, "the world of peers", error));
    w->session = session;
    w->list[0] = saddle_session_self(session);
    for (size_t i = 0; i < ranks; i++)
        w->list[1 + i] = i;
    w->base = (saddle_world){.rank = w->list[0],
                             .ranks = ranks,
                             .agents = graph != NULL ? ranks : 0,
                             .local = graph != NULL,
                             .here = w->list,
                             .home = w->list + 1,
                             .add_words = add_words,
                             .largest = largest,
                             .share = share,
                             .transfer = transfer,
                             .ranks_on_machine = 1,
                             .kind = &class};
    *out = &w->base;
    return SADDLE_OK;
}
