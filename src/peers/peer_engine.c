/* The engine of a session: this process's agent on a pool of threads, and rounds with its neighbours only. */
#include <sodium/randombytes.h>

#include "algorithms/layout.h"
#include "core/processors.h"
#include "engines/local_agents.h"
#include "graph/replay.h"
#include "peers/session.h"

/* The largest magnitude of a number of a message. */
#define MOST_SIZE 1e150
/* The last iteration in which an agent may start over. */
#define MOST_START 0x1p53
/* Numbers of a message that are about the map of who is present, at its end: its hash and when the agent starts over.
 * While a neighbour has another map, words follow with the entries that are not 0: their index times 256 plus
 * the entry. */
enum { MAP_WORDS = 2, ENTRY = 256 };
/* The most processes of an agent that come back: an entry of a map counts them. */
enum { MOST_RETURNS = 120 };

/* What is sent in a round of an iteration: these blocks of the agent's row. */
typedef struct round_blocks {
    size_t count;
    saddle_row_block block[SADDLE_MOST_BLOCKS_SENT];
    size_t doubles;
} round_blocks;

typedef struct engine {
    saddle_local local; /* must be first: its functions are this engine's */
    saddle_exchange exchange;
    saddle_session *session;
    round_blocks *message;      /* per round of an iteration */
    double *packed;             /* the longest of them, and a map */
    uint64_t *state;            /* for a checkpoint: numbers, then the agent's vectors */
    unsigned round;             /* of the iteration */
    uint64_t number;            /* of the round, over all iterations */
    saddle_delivery *delivered; /* per neighbour, if there is a deadline */
    uint64_t skipped;           /* iterations that this agent has left out */
    bool begun;                 /* rounds have begun in this process */
} engine;

static engine *engine_with(saddle_exchange *exchange)
{
    return (engine *)((char *)exchange - offsetof(engine, exchange));
}

/* Appends this agent's map to a message if the last map of some neighbour was another one; returns the words. */
static size_t append_map(const engine *e, const double *row, double *at)
{
    const saddle_membership *m = &e->local.links.state.members;
    const double *halo = e->local.links.halo;
    size_t differ = 0;
    size_t words = 0;
    for (size_t k = 0; m->entries > 0 && k < e->local.links.ghosts; k++)
        differ += saddle_row_hash(m, halo + k * e->local.stride) != saddle_row_hash(m, row);
    for (uint64_t n = 0; differ > 0 && n < m->entries; n++) {
        unsigned char entry = saddle_row_map(m, row)[n];
        const uint64_t word[] = {n * ENTRY + entry};
        if (entry > 0)
            memcpy(&at[words++], word, sizeof word);
    }
    return words;
}

/* Takes the map after a message into a neighbour's row; false if an entry is of no agent and no edge. */
static bool take_map(const engine *e, const char *at, size_t words, double *row)
{
    const saddle_membership *m = &e->local.links.state.members;
    unsigned char *map = (unsigned char *)(row + m->at + MAP_WORDS);
    for (size_t k = 0; k < words; k++) {
        uint64_t word;
        memcpy(&word, at + k * sizeof word, sizeof word);
        if (word / ENTRY >= m->entries)
            return false;
        map[word / ENTRY] = (unsigned char)(word % ENTRY);
    }
    return true;
}

static void send_round(saddle_exchange *exchange, unsigned parity, unsigned round)
{
    engine *e = engine_with(exchange);
    const round_blocks *m = &e->message[round];
    const double *row = e->local.span[parity];
    double *at = e->packed;
    for (size_t k = 0; k < m->count; at += m->block[k++].length)
        memcpy(at, row + m->block[k].offset, m->block[k].length * sizeof *at);
    e->round = round;
    saddle_session_send_round(e->session, e->number, e->packed,
                              (m->doubles + append_map(e, row, at)) * sizeof *at);
}

/* Returns the first number that is not finite or whose square is close to the largest double; 0 if there is none. */
static double find_unusable(const char *bytes, size_t count)
{
    double number;
    for (size_t k = 0; k < count; k++) {
        memcpy(&number, bytes + k * sizeof number, sizeof number);
        if (!(fabs(number) <= MOST_SIZE))
            return number;
    }
    return 0.0;
}

/* Returns the first unusable number of a message of the present round; 0 if there is none. */
static double unusable(const engine *e, const char *bytes, size_t doubles)
{
    const saddle_links *links = &e->local.links;
    if (links->compressed)
        return saddle_replicas_unusable(&links->replicas, (const unsigned char *)bytes, e->round,
                                        MOST_SIZE);
    if (links->state.members.entries == 0)
        return find_unusable(bytes, doubles);
    /* The hash of a map is not a number; the iteration after it is. */
    double start;
    memcpy(&start, bytes + (doubles - 1) * sizeof start, sizeof start);
    return start >= 0.0 && start <= MOST_START ? find_unusable(bytes, doubles - MAP_WORDS) : start;
}

static void take_message(void *context, size_t neighbour, uint64_t round, const void *bytes,
                         size_t size)
{
    engine *e = context;
    const round_blocks *m = &e->message[e->round];
    double *row = e->local.links.halo + neighbour * e->local.stride;
    const char *at = bytes;
    size_t more = size - m->doubles * sizeof *row;
    double number = unusable(e, at, m->doubles);
    if (number != 0.0) {
        char what[48];
        saddle_snprintf(what, sizeof what, "the number %g", number);
        saddle_session_reject(e->session, neighbour, round, what);
        return;
    }
    if (more % sizeof *row != 0 ||
        !take_map(e, at + m->doubles * sizeof *row, more / sizeof *row, row)) {
        saddle_session_reject(e->session, neighbour, round, "a map of other agents");
        return;
    }
    if (e->delivered != NULL)
        e->delivered[neighbour].sent = round + 1;
    for (size_t k = 0; k < m->count; at += m->block[k++].length * sizeof *row)
        memcpy(row + m->block[k].offset, at, m->block[k].length * sizeof *row);
}

static void take_round(saddle_exchange *exchange)
{
    engine *e = engine_with(exchange);
    if (e->delivered != NULL)
        memset(e->delivered, 0, e->local.links.ghosts * sizeof *e->delivered);
    uint64_t round = e->number++;
    saddle_session_take_round(e->session, round, e->message[e->round].doubles * sizeof(double),
                              take_message, e);
    for (size_t k = 0; e->delivered != NULL && k < e->local.links.ghosts; k++) {
        uint64_t sent = e->delivered[k].sent;
        e->delivered[k].silent = saddle_session_neighbour(e->session, k).silent;
        saddle_session_log_used(e->session, k, round,
                                sent > 0 ? round + 1 - sent : SADDLE_REPLAY_LOST,
                                e->delivered[k].silent);
    }
}

/* ---- checkpoints ------------------------------------------------------------------------------ */

/* The numbers of a state. */
enum { ITERATION, CALLS, CLOCK, PUBLISHED, KEPT, SKIPPED, RETURNS, NUMBERS };

static size_t state_words(const saddle_local *local)
{
    return NUMBERS + local->layout.published + local->layout.kept;
}

static void save_state(engine *e, bool must)
{
    const saddle_local *local = &e->local;
    const saddle_agent *agent = local->agent;
    size_t published = local->layout.published;
    size_t kept = local->layout.kept;
    e->state[ITERATION] = local->iteration;
    e->state[CALLS] = agent->ifo;
    memcpy(&e->state[CLOCK], &agent->clock, sizeof agent->clock);
    e->state[PUBLISHED] = published;
    e->state[KEPT] = kept;
    e->state[SKIPPED] = e->skipped;
    e->state[RETURNS] = local->links.state.members.returns;
    memcpy(e->state + NUMBERS, agent->now, published * sizeof *agent->now);
    memcpy(e->state + NUMBERS + published, agent->kept, kept * sizeof *agent->kept);
    saddle_session_save(e->session, e->state, state_words(local) * sizeof *e->state, must);
}

/* Restores the agent's state. Implements saddle_engine_inputs::restore. */
static void restore_agent(void *context, saddle_agent *agent)
{
    const engine *e = context;
    size_t published = e->local.layout.published;
    agent->ifo = e->state[CALLS];
    memcpy(&agent->clock, &e->state[CLOCK], sizeof agent->clock);
    memcpy(agent->next, e->state + NUMBERS, published * sizeof *agent->next);
    memcpy(agent->kept, e->state + NUMBERS + published, e->local.layout.kept * sizeof *agent->kept);
}

/* Continues from the state that the session has, if it has one. */
static saddle_status continue_state(engine *e, saddle_error *error)
{
    saddle_local *local = &e->local;
    size_t bytes;
    size_t words = state_words(local);
    e->state = saddle_allocator_block(&local->memory, words, sizeof *e->state);
    if (local->memory.failed)
        return saddle_no_memory(error, "a checkpoint");
    SADDLE_TRY(saddle_session_begin_rounds(e->session, local->layout.rounds, error));
    const void *state = saddle_session_state(e->session, &bytes);
    if (state == NULL)
        return SADDLE_OK;
    if (bytes == words * sizeof *e->state)
        memcpy(e->state, state, bytes);
    if (bytes != words * sizeof *e->state || e->state[PUBLISHED] != local->layout.published ||
        e->state[KEPT] != local->layout.kept)
        return saddle_refuse(error, "the checkpoint of this agent is of another problem or "
                                    "algorithm; start all agents again");
    if (local->links.changing && e->state[RETURNS] >= MOST_RETURNS)
        return saddle_refuse(error,
                             "this agent has come back %d times, and its neighbours count no "
                             "further; start all agents again",
                             MOST_RETURNS);
    if (local->links.changing)
        local->links.state.members.returns = (unsigned char)(e->state[RETURNS] + 1);
    e->skipped = e->state[SKIPPED];
    local->inputs.iteration = e->state[ITERATION];
    local->inputs.restore = restore_agent;
    local->inputs.restore_context = e;
    e->number = e->state[ITERATION] * local->layout.rounds;
    return SADDLE_OK;
}

/* ---- creating --------------------------------------------------------------------------------- */

/* Returns the most numbers that a round sends. */
static size_t longest(const engine *e)
{
    size_t most = 0;
    for (unsigned round = 0; round < e->local.layout.rounds; round++)
        most = e->message[round].doubles > most ? e->message[round].doubles : most;
    return most;
}

/* Lists what is sent in each round. */
static void find_messages(engine *e)
{
    saddle_local *local = &e->local;
    e->message = saddle_allocator_block(&local->memory, local->layout.rounds, sizeof *e->message);
    for (unsigned round = 0; e->message != NULL && round < local->layout.rounds; round++) {
        round_blocks *m = &e->message[round];
        m->count = saddle_links_blocks(&local->links, round, m->block);
        /* Maps of who is present are empty: their hash and the start are sent. */
        if (local->links.state.members.entries > 0)
            m->block[m->count - 1].length = MAP_WORDS;
        for (size_t k = 0; k < m->count; k++)
            m->doubles += m->block[k].length;
    }
    if (e->message != NULL)
        e->packed = saddle_allocator_block(
            &local->memory, longest(e) + local->links.state.members.entries, sizeof(double));
}

/* Messages may be lost: the links learn from the session which ones have arrived. */
static void deliver_by_session(engine *e)
{
    saddle_local *local = &e->local;
    e->delivered =
        saddle_allocator_block(&local->memory, local->links.ghosts, sizeof *e->delivered);
    local->links.state.delivered = e->delivered;
    local->links.state.skipped = &e->skipped;
}

/* Leaves out iterations that neighbours have made meanwhile. */
static void leave_out(engine *e)
{
    uint64_t more = saddle_session_skip(e->session, e->local.iteration);
    e->skipped += more;
    e->local.iteration += more;
    e->number += more * e->local.layout.rounds;
}

/* With a deadline, a process that follows an earlier one first learns how far the run is. That it does, and that it may
 * be followed by another one, is on the disk before it sends its first message. */
static void begin_or_return(engine *e)
{
    e->begun = true;
    if (e->delivered == NULL || !saddle_session_saves(e->session))
        return;
    save_state(e, true);
    if (e->local.links.state.members.returns > 0) {
        saddle_session_catch_up(e->session);
        leave_out(e);
    }
}

static void destroy(saddle_engine *base)
{
    if (base == NULL)
        return;
    saddle_local_clear((saddle_local *)base);
    saddle_free(base);
}

/* Returns why an instance cannot run on peers; NULL if it can. */
static const char *why_not(const saddle_local *local)
{
    const saddle_engine_inputs *in = &local->inputs;
    if (local->oracle)
        return "a number that is computed from all agents at once (gamma exact)";
    if (in->link_model != NULL)
        return "simulated time (--link-model)";
    if (in->restore != NULL)
        return "a checkpoint to resume from";
    return NULL;
}

/* Noise and batches must not follow from the common seed, which neighbours know: they could subtract the noise, and
 * know in which messages a row is. */
static void draw_own_seed(saddle_local *local)
{
    uint64_t seed;
    randombytes_buf(&seed, sizeof seed);
    local->row_noise.seed = seed;
    local->agent[0].seed = seed;
}

static const saddle_engine_class functions;

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    *out = NULL;
    engine *e = saddle_alloc(1, sizeof *e);
    SADDLE_TRY(saddle_check_memory(e, "the engine", error));
    saddle_local *local = &e->local;
    e->session = saddle_peer_session(inputs->instance->world);
    saddle_status status = saddle_local_make(local, inputs, saddle_processors(1), error);
    if (status == SADDLE_OK && inputs->row_noise > 0.0)
        draw_own_seed(local);
    const char *needs = status == SADDLE_OK ? why_not(local) : NULL;
    if (needs != NULL)
        status = saddle_fail(error, SADDLE_UNSUPPORTED,
                             "%s with these options needs %s, which peers do not have yet; leave "
                             "it out of the network file",
                             inputs->algorithm->name, needs);
    if (status == SADDLE_OK) {
        find_messages(e);
        if (local->links.changing)
            deliver_by_session(e);
        if (local->memory.failed)
            status = saddle_no_memory(error, "the messages of a round");
        else if (longest(e) + local->links.state.members.entries >
                 SADDLE_MOST_BODY / sizeof(double))
            status = saddle_fail(error, SADDLE_UNSUPPORTED,
                                 "a round sends %zu numbers, and a message of peers has at most "
                                 "%zu; give a smaller problem",
                                 longest(e), SADDLE_MOST_BODY / sizeof(double));
    }
    SADDLE_THEN(status, continue_state(e, error));
    if (status != SADDLE_OK) {
        destroy(&local->base);
        return status;
    }
    local->base.kind = &functions;
    if (local->links.ghosts > 0 && local->layout.rounds > 0) {
        e->exchange = (saddle_exchange){.send = send_round, .receive = take_round};
        local->exchange = &e->exchange;
    }
    saddle_local_start(local);
    *out = &local->base;
    return SADDLE_OK;
}

static double bytes(const saddle_engine_inputs *inputs)
{
    return saddle_local_bytes(inputs, saddle_processors(1));
}

/* Ends early when the session fails: it also knows of interrupts. */
static void advance(saddle_engine *base, const saddle_limits *limits, saddle_fault *fault)
{
    engine *e = (engine *)base;
    saddle_limits own = *limits;
    saddle_first_fault first = {.fault = {.kind = SADDLE_FAULT_NONE}};
    uint64_t end = e->local.iteration + limits->iterations;
    own.interrupt = saddle_session_pause(e->session);
    if (!e->begun)
        begin_or_return(e);
    while (e->local.iteration < end && first.fault.kind == SADDLE_FAULT_NONE && !*own.interrupt) {
        uint64_t saved = saddle_session_next_save(e->session, e->local.iteration);
        own.iterations = (saved < end ? saved : end) - e->local.iteration;
        saddle_local_run(&e->local, &own, NULL, &first);
        uint64_t done = e->local.iteration;
        leave_out(e);
        if (first.fault.kind == SADDLE_FAULT_NONE && !*own.interrupt && done == saved)
            save_state(e, false);
    }
    if (first.fault.kind != SADDLE_FAULT_NONE)
        *fault = first.fault;
}

static const saddle_engine_class functions = {
    .name = "peer",
    .summary = "one agent here, and one at each peer",
    .connect = saddle_peer_connect,
    .create = create,
    .bytes = bytes,
    .destroy = destroy,
    .advance = advance,
    SADDLE_LOCAL_FUNCTIONS,
};

saddle_peer_engine saddle_peer_engine_of(saddle_session *session)
{
    return (saddle_peer_engine){.kind = functions, .session = session};
}
