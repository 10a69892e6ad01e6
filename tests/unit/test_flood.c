/*
 * Messages between peers, and exchanges of records over the edges of any network: a simulation that delivers messages
 * in any order, and loses some, must give every agent the records of all, and the sums of one process.
 */
#include <stdlib.h>
#include <string.h>

#include <saddle/graph.h>

#include "core/rng.h"
#include "peers/flood.h"
#include "support.h"

enum { MOST_AGENTS = 40, EXCHANGES_MADE = 12, ENTRIES = 5 };

static const saddle_message_rule rule = {.fingerprint = "a run's identity", .agents = MOST_AGENTS};

/* ---- messages --------------------------------------------------------------------------------- */

static unsigned char *write_message(const saddle_message *message, size_t *size)
{
    unsigned char *bytes = malloc(SADDLE_MESSAGE_HEADER + message->length);
    ck_assert_ptr_nonnull(bytes);
    saddle_message_seal(&rule, message, bytes);
    if (message->length > 0)
        memcpy(bytes + SADDLE_MESSAGE_HEADER, message->body, message->length);
    *size = SADDLE_MESSAGE_HEADER + message->length;
    return bytes;
}

static const saddle_message example = {.kind = SADDLE_MESSAGE_ROUND,
                                       .agent = 7,
                                       .incarnation = 0xfedcba98,
                                       .step = 0x123456789abcdef0,
                                       .body = (const unsigned char *)"what it publishes",
                                       .length = 17};

TEST(a_message_is_read_as_it_was_written)
{
    size_t size;
    unsigned char *bytes = write_message(&example, &size);
    saddle_message read;
    saddle_error error = {.message = ""};
    /* The format, independently of the code that writes it. */
    ck_assert_uint_eq(size, 56 + 17);
    ck_assert_mem_eq(bytes,
                     "SDLP\x02\x00\x04\x00"
                     "a run's identity"
                     "\x07\0\0\0\x98\xba\xdc\xfe",
                     32);
    ck_assert_mem_eq(bytes + 32, "\xf0\xde\xbc\x9a\x78\x56\x34\x12\x11\0\0\0\0\0\0\0", 16);
    /* The checksum, computed in Python. */
    ck_assert_mem_eq(bytes + 48, "\x09\xa4\x00\xab\x71\x3e\x43\xa7", 8);
    assert_ok(saddle_message_read(&rule, bytes, size, &read, &error), error);
    ck_assert_int_eq(read.kind, example.kind);
    ck_assert_uint_eq(read.agent, 7);
    ck_assert_uint_eq(read.incarnation, example.incarnation);
    ck_assert_uint_eq(read.step, example.step);
    ck_assert_uint_eq(read.length, 17);
    ck_assert_mem_eq(read.body, example.body, 17);
    free(bytes);
}

TEST(a_changed_or_cut_message_is_refused)
{
    size_t size;
    unsigned char *bytes = write_message(&example, &size);
    saddle_message read = {.length = 99};
    saddle_error error = {.message = ""};
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        saddle_status status = saddle_message_read(&rule, bytes, size, &read, &error);
        bool of_another = (bit >= 32 && bit < 48) || (bit >= 64 && bit < 192);
        ck_assert_int_eq(status, of_another ? SADDLE_UNSUPPORTED : SADDLE_BAD_INPUT);
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    for (size_t cut = 0; cut < size; cut++)
        ck_assert_int_eq(saddle_message_read(&rule, bytes, cut, &read, &error), SADDLE_BAD_INPUT);
    ck_assert_uint_eq(read.length, 99);
    /* An agent that the network does not have, with a right checksum. */
    saddle_message other = example;
    other.agent = MOST_AGENTS;
    unsigned char *foreign = write_message(&other, &size);
    assert_refused(saddle_message_read(&rule, foreign, size, &read, &error), error,
                   SADDLE_BAD_INPUT, "of agent 40 of 40");
    free(foreign);
    free(bytes);
}

/* ---- a simulated network ---------------------------------------------------------------------- */

/* A message under way. */
typedef struct flight {
    size_t from;
    size_t to;
    size_t size;
    unsigned char *bytes;
} flight;

typedef struct network {
    saddle_graph *graph;
    saddle_flood *flood[MOST_AGENTS];
    struct node {
        struct network *network;
        size_t self;
    } node[MOST_AGENTS];
    double sum[MOST_AGENTS][EXCHANGES_MADE][ENTRIES];
    uint64_t done[MOST_AGENTS]; /* exchanges */
    flight *list;
    size_t count;
    size_t room;
    uint64_t sent; /* records */
    double loss;
    saddle_rng rng;
} network;

static double draw(network *n)
{
    return saddle_rng_uniform(&n->rng);
}

static void deliver_later(void *context, size_t to, const saddle_message *message)
{
    struct node *node = context;
    network *n = node->network;
    n->sent += message->kind == SADDLE_MESSAGE_RECORD;
    if (draw(n) < n->loss)
        return;
    if (n->count == n->room) {
        n->room = 2 * n->room + 64;
        n->list = realloc(n->list, n->room * sizeof *n->list);
        ck_assert_ptr_nonnull(n->list);
    }
    flight *f = &n->list[n->count++];
    f->from = node->self;
    f->to = to;
    f->bytes = write_message(message, &f->size);
}

/* The record of an agent: some agents have none in some exchanges. */
static size_t record_of(size_t agent, uint64_t step, double out[ENTRIES])
{
    for (size_t k = 0; k < ENTRIES; k++)
        out[k] = 1.0 / (double)(3 + agent * 17 + step * 5 + k * k);
    return (agent + step) % 4 == 0 ? 0 : ENTRIES * sizeof *out;
}

/* What one process computes. */
static void sum_directly(size_t agents, uint64_t step, double out[ENTRIES])
{
    double record[ENTRIES];
    memset(out, 0, ENTRIES * sizeof *out);
    for (size_t i = 0; i < agents; i++)
        if (record_of(i, step, record) > 0)
            for (size_t k = 0; k < ENTRIES; k++)
                out[k] += record[k];
}

static void begin(network *n, size_t i)
{
    double record[ENTRIES];
    saddle_error error = {.message = ""};
    size_t bytes = record_of(i, n->done[i] + 1, record);
    assert_ok(saddle_flood_begin(n->flood[i], record, bytes, &error), error);
}

/* Adds up the records of a complete exchange, and begins the next. */
static void finish(network *n, size_t i)
{
    while (n->done[i] < EXCHANGES_MADE && saddle_flood_complete(n->flood[i])) {
        double *sum = n->sum[i][n->done[i]];
        ck_assert_uint_eq(saddle_flood_step(n->flood[i]), n->done[i] + 1);
        for (size_t from = 0; from < n->graph->agents; from++) {
            double record[ENTRIES];
            size_t bytes;
            const void *got = saddle_flood_record(n->flood[i], from, &bytes);
            ck_assert_uint_eq(bytes, record_of(from, n->done[i] + 1, record));
            for (size_t k = 0; bytes > 0 && k < ENTRIES; k++)
                sum[k] += ((const double *)got)[k];
        }
        if (++n->done[i] < EXCHANGES_MADE)
            begin(n, i);
    }
}

/* Delivers a message, any of those under way. */
static void deliver_one(network *n)
{
    size_t k = (size_t)(draw(n) * (double)n->count);
    flight f = n->list[k];
    n->list[k] = n->list[--n->count];
    saddle_message message;
    saddle_error error = {.message = ""};
    assert_ok(saddle_message_read(&rule, f.bytes, f.size, &message, &error), error);
    assert_ok(saddle_flood_take(n->flood[f.to], f.from, &message, &error), error);
    free(f.bytes);
    finish(n, f.to);
}

static void make_network(network *n, const char *topology, size_t agents, double loss,
                         uint64_t seed)
{
    saddle_error error = {.message = ""};
    memset(n, 0, sizeof *n);
    n->loss = loss;
    saddle_rng_init(&n->rng, seed, SADDLE_RNG_TEST, 0, 0);
    assert_ok(saddle_graph_create(&n->graph, topology, agents, seed, &error), error);
    for (size_t i = 0; i < agents; i++) {
        size_t first = n->graph->start[i];
        n->node[i] = (struct node){n, i};
        const saddle_flood_rule own = {.agents = agents,
                                       .self = i,
                                       .incarnation = (uint32_t)(100 + i),
                                       .neighbours = n->graph->start[i + 1] - first,
                                       .neighbour = n->graph->neighbour + first,
                                       .send = deliver_later,
                                       .context = &n->node[i]};
        assert_ok(saddle_flood_create(&n->flood[i], &own, &error), error);
    }
}

static bool all_done(const network *n)
{
    for (size_t i = 0; i < n->graph->agents; i++)
        if (n->done[i] < EXCHANGES_MADE)
            return false;
    return true;
}

static void run_network(network *n)
{
    /* They start one after the other, while messages already arrive. */
    for (size_t i = 0; i < n->graph->agents; i++) {
        for (size_t k = 0; k < 3 && n->count > 0; k++)
            deliver_one(n);
        begin(n, i);
        finish(n, i);
    }
    for (unsigned turn = 0; !all_done(n); turn++) {
        ck_assert_uint_lt(turn, 2000000);
        if (n->count > 0)
            deliver_one(n);
        else
            for (size_t i = 0; i < n->graph->agents; i++)
                if (n->done[i] < EXCHANGES_MADE)
                    saddle_flood_ask(n->flood[i]);
    }
}

static void free_network(network *n)
{
    for (size_t k = 0; k < n->count; k++)
        free(n->list[k].bytes);
    free(n->list);
    for (size_t i = 0; i < n->graph->agents; i++)
        saddle_flood_free(n->flood[i]);
    saddle_graph_free(n->graph);
}

static const struct {
    const char *topology;
    size_t agents;
    double loss;
} cases[] = {{"path", 2, 0.0},    {"ring", 9, 0.0},      {"star", 12, 0.0},    {"complete", 7, 0.0},
             {"er:0.4", 20, 0.0}, {"grid:5x8", 40, 0.0}, {"path", 12, 0.3},    {"star", 9, 0.3},
             {"er:0.4", 20, 0.3}, {"ring", 25, 0.6},     {"complete", 6, 0.5}, {"path", 1, 0.0}};

TEST_LOOP(every_agent_gets_all_records_on_any_network, 0, (int)(sizeof cases / sizeof *cases))
{
    network *n = malloc(sizeof *n);
    ck_assert_ptr_nonnull(n);
    make_network(n, cases[_i].topology, cases[_i].agents, cases[_i].loss, 11 + (uint64_t)_i);
    run_network(n);
    for (size_t i = 0; i < n->graph->agents; i++)
        for (uint64_t step = 0; step < EXCHANGES_MADE; step++) {
            double direct[ENTRIES];
            sum_directly(n->graph->agents, step + 1, direct);
            ck_assert_mem_eq(n->sum[i][step], direct, sizeof direct);
        }
    /* Without loss, a record crosses an edge at most once each way, and at least as often as a tree has edges. */
    uint64_t records = (uint64_t)n->graph->agents * EXCHANGES_MADE;
    if (cases[_i].loss == 0.0) {
        ck_assert_uint_le(n->sent, records * 2 * n->graph->edges);
        ck_assert_uint_ge(n->sent, records * (n->graph->agents - 1));
    }
    free_network(n);
    free(n);
}

/* ---- dishonest peers -------------------------------------------------------------------------- */

TEST(what_no_honest_peer_sends_is_refused)
{
    network *n = malloc(sizeof *n);
    ck_assert_ptr_nonnull(n);
    make_network(n, "complete", 3, 0.0, 1);
    saddle_flood *flood = n->flood[0];
    saddle_error error = {.message = ""};
    static unsigned char large[SADDLE_MOST_RECORD + 1];
    saddle_message m = {
        .kind = SADDLE_MESSAGE_RECORD, .agent = 1, .step = 3, .body = large, .length = 4};
    assert_refused(saddle_flood_take(flood, 1, &m, &error), error, SADDLE_BAD_INPUT, "exchange 3");
    /* Nothing of this exchange can be kept yet. */
    m.step = 2;
    assert_ok(saddle_flood_take(flood, 1, &m, &error), error);
    m.step = 0;
    assert_refused(saddle_flood_take(flood, 1, &m, &error), error, SADDLE_BAD_INPUT, "exchange 0");
    m.step = 1;
    m.length = sizeof large;
    assert_refused(saddle_flood_take(flood, 1, &m, &error), error, SADDLE_BAD_INPUT, "the most");
    m.length = 4;
    m.agent = 0;
    assert_refused(saddle_flood_take(flood, 1, &m, &error), error, SADDLE_BAD_INPUT, "not made");
    m.agent = 1;
    assert_ok(saddle_flood_take(flood, 1, &m, &error), error);
    assert_ok(saddle_flood_take(flood, 2, &m, &error), error);
    m.body = (const unsigned char *)"else";
    assert_refused(saddle_flood_take(flood, 2, &m, &error), error, SADDLE_CHECK_FAILED,
                   "agent 1 has two different records in exchange 1");
    m.kind = SADDLE_MESSAGE_MISSING;
    assert_refused(saddle_flood_take(flood, 2, &m, &error), error, SADDLE_BAD_INPUT, "3 agents");
    assert_ok(saddle_flood_begin(flood, "own", 3, &error), error);
    ck_assert(!saddle_flood_complete(flood));
    ck_assert_uint_eq(saddle_flood_missing(flood), 2);
    m = (saddle_message){.kind = SADDLE_MESSAGE_RECORD, .agent = 2, .step = 1};
    /* Nobody speaks for a neighbour. */
    assert_ok(saddle_flood_take(flood, 1, &m, &error), error);
    ck_assert_uint_eq(saddle_flood_missing(flood), 2);
    assert_ok(saddle_flood_take(flood, 2, &m, &error), error);
    ck_assert(saddle_flood_complete(flood));
    ck_assert_uint_eq(saddle_flood_missing(flood), 3);
    free_network(n);
    free(n);
}
