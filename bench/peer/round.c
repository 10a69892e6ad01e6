/*
 * bench_peer_round AGENTS DOUBLES ROUNDS TURNS: what a round of peers costs, on a ring of processes that exchange
 * messages of so many doubles over 127.0.0.1:
 *
 * - sessions, as `saddle peer run` has them: encrypted and authenticated, with checksums, deadlines and repetitions;
 * - a bare exchange of the same bytes by ZeroMQ, encrypted, with one socket per edge: send to all, receive from all;
 * - the same in the clear.
 *
 * They take turns of ROUNDS rounds each. Prints one JSON object: of all turns, the rounds per second, and the rounds
 * per second of one agent's processor time, which other work on the machine disturbs less.
 */
#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <saddle/saddle.h>

#include "core/clock.h"
#include "core/status.h"
#include "peers/session.h"

enum { MOST_AGENTS = 64, MOST_TURNS = 100, ENDPOINT = 64, PATIENCE = 60 };
enum { SESSION, ENCRYPTED, CLEAR, KINDS };
static const char *const kind_name[KINDS] = {"session", "encrypted", "clear"};

static size_t agents, doubles, rounds, turns;
static saddle_graph *graph;
static unsigned char key[MOST_AGENTS][SADDLE_KEY_BYTES], secret[MOST_AGENTS][SADDLE_KEY_BYTES];
static unsigned port[KINDS][MOST_AGENTS]; /* of an agent, or of the edge from it to the next */

static void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_peer_round: %s\n", what);
    _exit(EXIT_FAILURE);
}

static size_t read_number(const char *text, size_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    require(*end == '\0' && value >= 1 && value <= most, "usage: AGENTS DOUBLES ROUNDS TURNS");
    return value;
}

static void find_ports(void)
{
    int held[KINDS][MOST_AGENTS];
    for (size_t n = 0; n < KINDS; n++)
        for (size_t i = 0; i < agents; i++) {
            struct sockaddr_in address = {.sin_family = AF_INET,
                                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
            socklen_t size = sizeof address;
            held[n][i] = socket(AF_INET, SOCK_STREAM, 0);
            require(bind(held[n][i], (struct sockaddr *)&address, sizeof address) == 0 &&
                        getsockname(held[n][i], (struct sockaddr *)&address, &size) == 0,
                    "no port is free");
            port[n][i] = ntohs(address.sin_port);
        }
    for (size_t n = 0; n < KINDS; n++)
        for (size_t i = 0; i < agents; i++)
            close(held[n][i]);
}

/* ---- the exchanges ---------------------------------------------------------------------------- */

/* The sockets of a bare exchange: to the agent before, and to the next one. */
typedef struct bare {
    void *context;
    void *socket[2];
} bare;

static void set(void *socket, int option, const void *value, size_t size)
{
    require(zmq_setsockopt(socket, option, value, size) == 0, "an option of a socket is refused");
}

static void open_bare(bare *b, size_t self, unsigned kind)
{
    b->context = zmq_ctx_new();
    for (size_t k = 0; k < 2; k++) {
        size_t edge = k == 0 ? (self + agents - 1) % agents : self;
        int server = k == 1;
        char endpoint[ENDPOINT];
        b->socket[k] = zmq_socket(b->context, ZMQ_PAIR);
        if (kind == ENCRYPTED) {
            set(b->socket[k], ZMQ_CURVE_SERVER, &server, sizeof server);
            set(b->socket[k], ZMQ_CURVE_PUBLICKEY, key[self], SADDLE_KEY_BYTES);
            set(b->socket[k], ZMQ_CURVE_SECRETKEY, secret[self], SADDLE_KEY_BYTES);
            if (!server)
                set(b->socket[k], ZMQ_CURVE_SERVERKEY, key[edge], SADDLE_KEY_BYTES);
        }
        int wait = PATIENCE * 1000;
        set(b->socket[k], ZMQ_RCVTIMEO, &wait, sizeof wait);
        snprintf(endpoint, sizeof endpoint, "tcp://127.0.0.1:%u", port[kind][edge]);
        require((server ? zmq_bind : zmq_connect)(b->socket[k], endpoint) == 0,
                "a socket cannot be opened");
    }
}

static void exchange_bare(const bare *b, const double *out, double *in)
{
    size_t bytes = doubles * sizeof *out;
    for (size_t k = 0; k < 2; k++)
        require(zmq_send(b->socket[k], out, bytes, 0) == (int)bytes, "a message is not sent");
    for (size_t k = 0; k < 2; k++)
        require(zmq_recv(b->socket[k], in + k * doubles, bytes, 0) == (int)bytes,
                "a message does not come");
}

static void close_bare(bare *b)
{
    int wait = 1000;
    for (size_t k = 0; k < 2; k++) {
        set(b->socket[k], ZMQ_LINGER, &wait, sizeof wait);
        zmq_close(b->socket[k]);
    }
    zmq_ctx_term(b->context);
}

static saddle_session *open_session(size_t self)
{
    static char endpoint[MOST_AGENTS][ENDPOINT];
    static saddle_member member[MOST_AGENTS];
    saddle_session_options options = {.member = member,
                                      .graph = graph,
                                      .self = self,
                                      .fingerprint = "bench",
                                      .patience = PATIENCE};
    saddle_session *session;
    saddle_error error = {.message = ""};
    for (size_t i = 0; i < agents; i++) {
        snprintf(endpoint[i], ENDPOINT, "tcp://127.0.0.1:%u", port[SESSION][i]);
        member[i].endpoint = endpoint[i];
        memcpy(member[i].key, key[i], SADDLE_KEY_BYTES);
    }
    memcpy(options.secret_key, secret[self], SADDLE_KEY_BYTES);
    saddle_status status = saddle_session_open(&session, &options, &error);
    SADDLE_THEN(status, saddle_session_meet(session, &error));
    SADDLE_THEN(status, saddle_session_begin_rounds(session, 1, &error));
    require(status == SADDLE_OK, error.message);
    return session;
}

static void take(void *in, size_t neighbour, uint64_t round, const void *bytes, size_t size)
{
    (void)round;
    memcpy((double *)in + neighbour * doubles, bytes, size);
}

/* ---- the turns -------------------------------------------------------------------------------- */

/* Returns the seconds of processor time of this process. */
static double used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void print_list(const char *name, const char *what, const double *value)
{
    printf(", \"%s%s\": [", name, what);
    for (size_t t = 0; t < turns; t++)
        printf("%s%.6g", t > 0 ? ", " : "", value[t]);
    printf("]");
}

static void print(double rate[KINDS][MOST_TURNS], double cpu[KINDS][MOST_TURNS])
{
    printf("{\"agents\": %zu, \"doubles\": %zu, \"rounds\": %zu", agents, doubles, rounds);
    for (size_t n = 0; n < KINDS; n++) {
        print_list(kind_name[n], "", rate[n]);
        print_list(kind_name[n], "_cpu", cpu[n]);
    }
    printf("}\n");
}

/* What each process does; the first turn of each exchange is not counted. */
static void be_agent(size_t self)
{
    static double rate[KINDS][MOST_TURNS];
    static double cpu[KINDS][MOST_TURNS];
    saddle_error error = {.message = ""};
    bare open[KINDS];
    uint64_t round = 0;
    double *out = calloc(3 * doubles, sizeof *out);
    require(out != NULL, "memory is short");
    for (size_t k = 0; k < doubles; k++)
        out[k] = 1.0 / (double)(k + self + 1);
    for (unsigned n = ENCRYPTED; n < KINDS; n++)
        open_bare(&open[n], self, n);
    saddle_session *session = open_session(self);
    for (size_t t = 0; t <= turns; t++)
        for (unsigned n = 0; n < KINDS; n++) {
            double begin = saddle_clock_seconds();
            double spent = used();
            for (size_t r = 0; r < rounds; r++)
                if (n == SESSION) {
                    saddle_session_send_round(session, round, out, doubles * sizeof *out);
                    saddle_session_take_round(session, round++, doubles * sizeof *out, take,
                                              out + doubles);
                } else {
                    exchange_bare(&open[n], out, out + doubles);
                }
            if (t == 0)
                continue;
            rate[n][t - 1] = (double)rounds / (saddle_clock_seconds() - begin);
            cpu[n][t - 1] = (double)rounds / (used() - spent);
        }
    require(saddle_session_check(session, &error) == SADDLE_OK, error.message);
    saddle_session_finish(session);
    saddle_session_close(session, SADDLE_OK);
    for (unsigned n = ENCRYPTED; n < KINDS; n++)
        close_bare(&open[n]);
    if (self == 0)
        print(rate, cpu);
    free(out);
}

int main(int count, char **argument)
{
    saddle_error error = {.message = ""};
    require(count == 5, "usage: AGENTS DOUBLES ROUNDS TURNS");
    agents = read_number(argument[1], MOST_AGENTS);
    doubles = read_number(argument[2], (size_t)1 << 20);
    rounds = read_number(argument[3], (size_t)1 << 20);
    turns = read_number(argument[4], MOST_TURNS);
    require(agents >= 3 && sodium_init() >= 0, "a ring has at least 3 agents");
    require(saddle_graph_create(&graph, "ring", agents, 1, &error) == SADDLE_OK, error.message);
    for (size_t i = 0; i < agents; i++)
        crypto_box_keypair(key[i], secret[i]);
    find_ports();
    for (size_t i = 0; i < agents; i++) {
        pid_t child = fork();
        require(child >= 0, "a process cannot be started");
        if (child == 0) {
            be_agent(i);
            exit(EXIT_SUCCESS);
        }
    }
    int failed = 0;
    for (int how; wait(&how) > 0;)
        failed |= how;
    saddle_graph_free(graph);
    return failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
