/* Sessions: opening, waiting, exchanges and rounds, and closing. */
#include <sodium/crypto_scalarmult.h>
#include <sodium/utils.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "peers/session_state.h"

/* Seconds after which what is waited for is asked for again, and for which the neighbours are waited for at the end. */
#define ASK_AGAIN 0.5
#define LAST_WAIT 5.0
/* Milliseconds in which the last messages are sent, messages that wait for a neighbour, and bytes that encryption adds
 * to a message, at most. */
enum { GOODBYE = 1000, QUEUE_PER_AGENT = 4, QUEUE = 64, ENCRYPTION = 64 };

static const saddle_module_name module = {.name = "peer",
                                          .user = "the engine peer",
                                          .other = "",
                                          .needs = "ZeroMQ (Debian: libzmq3-dev)"};

/* ---- waiting ---------------------------------------------------------------------------------- */

static size_t unmet(const saddle_session *s, uint64_t step)
{
    (void)step;
    for (size_t k = 0; k < s->neighbours; k++)
        if (!s->neighbour[k].met)
            return s->neighbour[k].agent;
    return s->with.graph->agents;
}

void saddle_session_greet(saddle_session *s)
{
    for (size_t k = 0; k < s->neighbours; k++)
        if (!s->neighbour[k].met)
            saddle_session_hello(s, k);
}

/* What is waited for; `asked`, if it is not NULL, says again what it needs. Returns the first agent that it still
 * waits for, or the number of agents. */
typedef size_t awaited(const saddle_session *s, uint64_t step);
typedef void asked(saddle_session *s, uint64_t step);

/* Returns the seconds after which to ask again. What takes twice as long as recent waits is probably lost;
 * asking sooner for what is under way on a slow link would fill the link with repetitions. */
static double ask_after(const saddle_session *s)
{
    return fmin(fmax(ASK_AGAIN, 2.0 * s->waited), fmax(ASK_AGAIN, 0.25 * s->with.patience));
}

/* Waits; returns whether all came. Without `what`, nothing fails if they do not. */
static bool wait_for(saddle_session *s, awaited *missing, asked *ask, uint64_t step,
                     const char *what, double patience)
{
    double now = saddle_clock_seconds();
    double again = unmet(s, 0) < s->with.graph->agents ? now : now + ask_after(s);
    double begin = now;
    size_t agents = s->with.graph->agents;
    size_t before = SIZE_MAX;
    char number[24] = "";
    if (step > 0)
        saddle_snprintf(number, sizeof number, " %llu", (unsigned long long)step);
    double since = now;
    size_t agent;
    while (!s->failed && (agent = missing(s, step)) < agents) {
        saddle_session_look(s, SADDLE_LOOK);
        now = saddle_clock_seconds();
        if (agent != before)
            since = now;
        before = agent;
        if (now > again) {
            saddle_session_greet(s);
            if (ask != NULL)
                ask(s, step);
            s->waited = now - begin;
            again = now + ask_after(s);
        }
        if (now - since > patience && what == NULL)
            return false;
        if (now - since > patience)
            SADDLE_SESSION_FAIL(
                s, SADDLE_IO,
                "nothing from agent %zu for %g seconds, %s%s; is its process running, and can "
                "its address be reached?",
                agent, patience, what, number);
    }
    s->waited = fmax(now - begin, 0.9 * s->waited);
    return !s->failed;
}

saddle_status saddle_session_meet(saddle_session *s, saddle_error *error)
{
    if (s->with.store != NULL && saddle_store_returns(s->with.store))
        return SADDLE_OK;
    saddle_session_greet(s);
    wait_for(s, unmet, NULL, 0, "before the run", s->with.patience);
    return saddle_session_check(s, error);
}

static size_t missing_record(const saddle_session *s, uint64_t step)
{
    (void)step;
    return saddle_flood_missing(s->flood);
}

static void ask_records(saddle_session *s, uint64_t step)
{
    (void)step;
    saddle_flood_ask(s->flood);
}

static size_t missing_round(const saddle_session *s, uint64_t round)
{
    for (size_t k = 0; k < s->neighbours; k++) {
        const saddle_round_message *m = &s->neighbour[k].round[round % 2];
        if (!m->held || m->round != round)
            return s->neighbour[k].agent;
    }
    return s->with.graph->agents;
}

static void ask_round(saddle_session *s, uint64_t round)
{
    for (size_t k = 0; k < s->neighbours; k++)
        if (!s->neighbour[k].round[round % 2].held)
            saddle_session_say(s, k, SADDLE_MESSAGE_AGAIN, round, NULL, 0);
}

static size_t busy(const saddle_session *s, uint64_t step)
{
    (void)step;
    for (size_t k = 0; k < s->neighbours; k++)
        if (!s->neighbour[k].done && !s->neighbour[k].silent)
            return s->neighbour[k].agent;
    return s->with.graph->agents;
}

static void say_done(saddle_session *s, uint64_t step)
{
    (void)step;
    for (size_t k = 0; k < s->neighbours; k++)
        saddle_session_say_done(s, k);
}

void saddle_session_finish(saddle_session *s)
{
    double patience = s->with.patience;
    s->finished = true;
    say_done(s, 0);
    wait_for(s, busy, say_done, 0, NULL,
             s->with.repeat > 0 ? patience : fmin(LAST_WAIT, 0.5 * patience));
}

/* ---- exchanges and rounds --------------------------------------------------------------------- */

void saddle_session_exchange(saddle_session *s, size_t from, const void *own, size_t bytes,
                             saddle_take_record *take, void *context)
{
    size_t agents = s->with.graph->agents;
    bool all = from == agents;
    for (size_t offset = 0; offset < bytes && !s->failed;) {
        size_t piece = bytes - offset < SADDLE_MOST_RECORD ? bytes - offset : SADDLE_MOST_RECORD;
        bool gives = all || from == s->with.self;
        size_t size = 0;
        const unsigned char *known =
            s->with.store != NULL ? saddle_store_next(s->with.store, &size) : NULL;
        s->replaying = known != NULL;
        if (saddle_flood_begin(s->flood, (const unsigned char *)own + offset, gives ? piece : 0,
                               &s->reason) != SADDLE_OK) {
            s->failed = 1;
            return;
        }
        if (known != NULL)
            saddle_session_replay(s, known, size);
        else
            wait_for(s, missing_record, ask_records, saddle_flood_step(s->flood), "in exchange",
                     s->with.patience);
        s->replaying = false;
        saddle_session_note_exchange(s, known != NULL);
        if (s->failed)
            return;
        for (size_t i = 0; i < agents; i++) {
            const void *record = saddle_flood_record(s->flood, i, &size);
            if (size != (all || i == from ? piece : 0)) {
                SADDLE_SESSION_FAIL(
                    s, SADDLE_BAD_INPUT,
                    "agent %zu gave %zu bytes in exchange %llu, and %zu were due; give all "
                    "agents the same build of saddle and the same network file",
                    i, size, (unsigned long long)saddle_flood_step(s->flood),
                    all || i == from ? piece : 0);
                return;
            }
            if (size > 0)
                take(context, i, offset, record, size);
        }
        offset += piece;
    }
}

void saddle_session_send_round(saddle_session *s, uint64_t round, const void *bytes, size_t size)
{
    if (s->failed)
        return;
    if (!saddle_session_keep(&s->sent[round % s->kept], round, bytes, size)) {
        SADDLE_SESSION_FAIL(s, SADDLE_NO_MEMORY, "memory for the messages of a round is short");
        return;
    }
    s->rounds = round + 1;
    for (size_t k = 0; k < s->neighbours; k++) {
        saddle_session_say_round(s, k, round);
        /* What was sent while no process of this agent was there. */
        if (s->with.deadline <= 0.0 && s->neighbour[k].met && round <= s->neighbour[k].ahead &&
            s->neighbour[k].ahead > 0)
            saddle_session_say(s, k, SADDLE_MESSAGE_AGAIN, round, NULL, 0);
    }
}

void saddle_session_take_round(saddle_session *s, uint64_t round, size_t size,
                               saddle_take_message *take, void *context)
{
    if (s->with.deadline > 0.0) {
        saddle_session_take_by_deadline(s, round, size, take, context);
        return;
    }
    if (!wait_for(s, missing_round, ask_round, round, "in round", s->with.patience))
        return;
    for (size_t k = 0; k < s->neighbours; k++) {
        saddle_round_message *m = &s->neighbour[k].round[round % 2];
        m->held = false;
        s->neighbour[k].next = round + 1;
        if (m->size == size)
            take(context, k, round, m->bytes, size);
        else
            SADDLE_SESSION_FAIL(
                s, SADDLE_BAD_INPUT,
                "agent %zu sent %zu bytes in round %llu, and %zu were due; give all agents the "
                "same build of saddle",
                s->neighbour[k].agent, m->size, (unsigned long long)round, size);
    }
    s->taken = round + 1;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

const saddle_graph *saddle_session_graph(const saddle_session *s)
{
    return s->with.graph;
}

size_t saddle_session_self(const saddle_session *s)
{
    return s->with.self;
}

uint64_t saddle_session_rounds(const saddle_session *s)
{
    return s->rounds;
}

saddle_neighbour_view saddle_session_neighbour(const saddle_session *s, size_t k)
{
    const saddle_neighbour *of = &s->neighbour[k];
    return (saddle_neighbour_view){.agent = of->agent,
                                   .met = of->met,
                                   .done = of->done,
                                   .late = of->late,
                                   .silent = of->silent,
                                   .silence = saddle_clock_seconds() - fmax(of->heard, s->begin)};
}

saddle_refused_peer saddle_session_refused(const saddle_session *s)
{
    saddle_refused_peer last;
    s->table->refused(s->sockets, &last);
    return last;
}

void saddle_session_endpoint(saddle_session *s, char out[SADDLE_ENDPOINT_SIZE])
{
    s->table->endpoint(s->sockets, out);
}

const char *saddle_session_dialled(const saddle_session_options *with, size_t agent)
{
    const saddle_member *member = with->member;
    bool dials = member[with->self].endpoint == NULL ||
                 (with->self > agent && member[agent].endpoint != NULL);
    return dials ? member[agent].endpoint : NULL;
}

bool saddle_is_endpoint(const char *text, size_t length)
{
    enum { SCHEME = sizeof "tcp://" - 1 };
    uint64_t port;
    if (length > SCHEME && strncmp(text, "ipc://", SCHEME) == 0)
        return length - SCHEME < sizeof((struct sockaddr_un *)NULL)->sun_path;
    size_t colon = length;
    while (colon > 0 && text[colon - 1] != ':')
        colon--;
    if (colon <= SCHEME + 1 || strncmp(text, "tcp://", SCHEME) != 0)
        return false;
    size_t host = colon - 1 - SCHEME;
    bool named = text[SCHEME] == '[' ? text[colon - 2] == ']' && host > 2
                                     : memchr(text + SCHEME, ':', host) == NULL;
    return named && saddle_parse_integer_in(text + colon, length - colon, &port) && port > 0 &&
           port <= UINT16_MAX;
}

/* ZeroMQ removes a file at the path of a socket before it listens there: fails if it is not a socket. */
static saddle_status check_listen(const char *address, saddle_error *error)
{
    struct stat info;
    if (address == NULL || strncmp(address, "ipc://", 6) != 0 || lstat(address + 6, &info) != 0 ||
        S_ISSOCK(info.st_mode))
        return SADDLE_OK;
    return saddle_refuse(error, "'%s' is there already, and is not a socket; give another address",
                         address + 6);
}

static saddle_status connect_neighbours(saddle_session *s, saddle_error *error)
{
    const saddle_session_options *with = &s->with;
    const char *listen = with->listen != NULL ? with->listen : with->member[with->self].endpoint;
    SADDLE_TRY(check_listen(listen, error));
    char reason[256];
    saddle_socket_peer *list = saddle_alloc(s->neighbours, sizeof *list);
    SADDLE_TRY(saddle_check_memory(list, "the connections", error));
    saddle_sockets_options options = {.listen = listen,
                                      .peers = s->neighbours,
                                      .peer = list,
                                      .watch = with->checks,
                                      .most_bytes =
                                          SADDLE_MESSAGE_HEADER + SADDLE_MOST_BODY + ENCRYPTION,
                                      .queue = QUEUE + QUEUE_PER_AGENT * (int)with->graph->agents};
    memcpy(options.public_key, with->member[with->self].key, SADDLE_KEY_BYTES);
    memcpy(options.secret_key, with->secret_key, SADDLE_KEY_BYTES);
    for (size_t k = 0; k < s->neighbours; k++) {
        size_t agent = with->graph->neighbour[s->first + k];
        s->neighbour[k].agent = agent;
        memcpy(list[k].key, with->member[agent].key, SADDLE_KEY_BYTES);
        list[k].dial = saddle_session_dialled(with, agent);
    }
    saddle_status status = SADDLE_OK;
    if (!s->table->open(&s->sockets, &options, reason, sizeof reason))
        status = saddle_refuse(error,
                               "cannot connect: %s; check the addresses of the network and "
                               "listen",
                               reason);
    sodium_memzero(options.secret_key, sizeof options.secret_key);
    saddle_free(list);
    return status;
}

/* Checks that the keys belong together. */
static saddle_status check_keys(const saddle_session_options *with, saddle_error *error)
{
    unsigned char key[SADDLE_KEY_BYTES];
    if (crypto_scalarmult_base(key, with->secret_key) == 0 &&
        memcmp(key, with->member[with->self].key, sizeof key) == 0)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "the secret key is not that of agent %zu, whose public key is in the "
                         "network file; give the file that belongs to it",
                         with->self);
}

saddle_status saddle_session_open(saddle_session **out, const saddle_session_options *options,
                                  saddle_error *error)
{
    const saddle_module *found = NULL;
    const saddle_graph *graph = options->graph;
    *out = NULL;
    SADDLE_TRY(check_keys(options, error));
    SADDLE_TRY(saddle_module_open(&found, &module, sizeof(saddle_sockets_table), error));
    saddle_session *s = saddle_alloc(1, sizeof *s);
    SADDLE_TRY(saddle_check_memory(s, "the session", error));
    s->with = *options;
    s->begin = saddle_clock_seconds();
    s->table = (const saddle_sockets_table *)found;
    s->first = graph->start[options->self];
    s->neighbours = graph->start[options->self + 1] - s->first;
    s->neighbour = saddle_alloc(s->neighbours, sizeof *s->neighbour);
    s->slots = 2;
    bool room = s->neighbour != NULL;
    for (size_t k = 0; room && k < s->neighbours; k++)
        room =
            (s->neighbour[k].round = saddle_alloc(s->slots, sizeof(saddle_round_message))) != NULL;
    s->incarnation =
        options->store != NULL ? saddle_store_incarnation(options->store) : saddle_store_clock();
    s->rule.agents = graph->agents;
    memcpy(s->rule.fingerprint, options->fingerprint, sizeof s->rule.fingerprint);
    const saddle_flood_rule rule = {.agents = graph->agents,
                                    .self = options->self,
                                    .incarnation = s->incarnation,
                                    .neighbours = s->neighbours,
                                    .neighbour = graph->neighbour + s->first,
                                    .send = saddle_session_pass_on,
                                    .context = s};
    saddle_status status = room ? SADDLE_OK : saddle_no_memory(error, "the session");
    SADDLE_THEN(status, saddle_flood_create(&s->flood, &rule, error));
    SADDLE_THEN(status, connect_neighbours(s, error));
    if (status == SADDLE_OK && options->log != NULL)
        status = saddle_lines_open(&s->log, options->log, "log", false, error);
    sodium_memzero(s->with.secret_key, sizeof s->with.secret_key);
    if (status == SADDLE_OK)
        *out = s;
    else
        saddle_session_close(s, SADDLE_OK);
    return status;
}

void saddle_session_close(saddle_session *s, saddle_status status)
{
    if (s == NULL)
        return;
    /* One that is interrupted may come back. */
    bool leaves = status != SADDLE_OK && s->sockets != NULL &&
                  (s->with.store == NULL || s->with.interrupt == NULL || *s->with.interrupt == 0);
    for (size_t k = 0; leaves && k < s->neighbours; k++)
        saddle_session_say(s, k, SADDLE_MESSAGE_LEFT, (uint64_t)status, NULL, 0);
    saddle_error error = {.message = ""};
    if (saddle_lines_close(&s->log, "the log", &error) != SADDLE_OK)
        saddle_warn(s->with.warning, s->with.warning_context, "%s", error.message);
    if (s->sockets != NULL)
        s->table->close(s->sockets, GOODBYE);
    for (size_t k = 0; s->neighbour != NULL && k < s->neighbours; k++) {
        for (size_t n = 0; s->neighbour[k].round != NULL && n < s->slots; n++)
            saddle_free(s->neighbour[k].round[n].bytes);
        saddle_free(s->neighbour[k].round);
    }
    for (size_t n = 0; n < s->kept; n++)
        saddle_free(s->sent[n].bytes);
    saddle_free(s->sent);
    saddle_flood_free(s->flood);
    saddle_free(s->neighbour);
    saddle_free(s);
}
