/*
 * The module of peers: connections by ZeroMQ.
 *
 * Neighbours that dial this process share one ROUTER socket; for each neighbour that it dials, there is a DEALER
 * socket. The thread `gate` answers ZeroMQ's question (ZAP, RFC 27) whether a key may connect, with the number of the
 * neighbour, which ZeroMQ then attaches to each of its messages. A connection's address within the ROUTER changes when
 * it comes back, so the one of the last message counts.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "peers/sockets.h"

/* Milliseconds: heartbeats, silence after which a connection is broken, the longest handshake, and how soon and how
 * late a broken connection is tried again. */
enum { HEARTBEAT = 2000, SILENCE = 10000, HANDSHAKE = 10000, RETRY = 100, RETRY_MOST = 2000 };
/* Bytes of an address within the ROUTER, and of its number as text. */
enum { ROUTE = 8, NUMBER = 24 };
/* Frames of a question of ZAP, and the place of the key. */
enum { VERSION, REQUEST, DOMAIN_NAME, ADDRESS, IDENTITY, MECHANISM, KEY, FRAMES };

typedef struct neighbour {
    unsigned char key[SADDLE_KEY_BYTES];
    void *dealer; /* NULL: it dials this process */
    void *events; /* of the dealer; NULL: not watched */
    saddle_socket_link link;
    unsigned char route[ROUTE];
    size_t route_bytes; /* 0: it has not connected yet */
} neighbour;

struct saddle_sockets {
    void *context;
    void *router; /* NULL: nobody dials */
    void *zap;    /* used by the gate only */
    size_t peers;
    neighbour *peer;
    zmq_pollitem_t *poll;
    size_t turn; /* the socket that is looked at first */
    zmq_msg_t message;
    bool open; /* whether there is a message */
    pthread_t gate;
    bool guarded; /* whether the gate runs */
    pthread_mutex_t lock;
    saddle_refused_peer refused; /* under the lock */
};

/* ---- who may connect -------------------------------------------------------------------------- */

/* Returns the neighbour that dials with a key; the number of neighbours if none does. */
static size_t find_key(const saddle_sockets *s, const unsigned char *key)
{
    size_t k = 0;
    while (k < s->peers &&
           (s->peer[k].dealer != NULL || memcmp(s->peer[k].key, key, SADDLE_KEY_BYTES) != 0))
        k++;
    return k;
}

static void note_refused(saddle_sockets *s, const unsigned char *key, const char *address)
{
    pthread_mutex_lock(&s->lock);
    s->refused.count++;
    memcpy(s->refused.key, key, SADDLE_KEY_BYTES);
    snprintf(s->refused.address, sizeof s->refused.address, "%.63s", address);
    pthread_mutex_unlock(&s->lock);
}

static void reply(saddle_sockets *s, const char *request, size_t bytes, const char *code,
                  const char *user)
{
    zmq_send(s->zap, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(s->zap, request, bytes, ZMQ_SNDMORE);
    zmq_send(s->zap, code, 3, ZMQ_SNDMORE);
    zmq_send(s->zap, "", 0, ZMQ_SNDMORE);
    zmq_send(s->zap, user, strlen(user), ZMQ_SNDMORE);
    zmq_send(s->zap, "", 0, 0);
}

/* Answers questions until the context ends. */
static void *guard(void *argument)
{
    saddle_sockets *s = argument;
    for (;;) {
        char frame[FRAMES][256] = {{0}};
        int bytes[FRAMES] = {0};
        int more = 1;
        size_t size = sizeof more;
        for (int k = 0; more != 0; k++) {
            char rest[256];
            int got = zmq_recv(s->zap, k < FRAMES ? frame[k] : rest, sizeof rest - 1, 0);
            if (got < 0 && zmq_errno() == ETERM) {
                zmq_close(s->zap);
                return NULL;
            }
            if (got < 0)
                break;
            if (k < FRAMES)
                bytes[k] = got;
            zmq_getsockopt(s->zap, ZMQ_RCVMORE, &more, &size);
        }
        if (more != 0)
            continue; /* interrupted by a signal */
        const unsigned char *key = (const unsigned char *)frame[KEY];
        bool curve = strcmp(frame[MECHANISM], "CURVE") == 0 && bytes[KEY] == SADDLE_KEY_BYTES;
        size_t k = curve ? find_key(s, key) : s->peers;
        char user[NUMBER] = "";
        if (k < s->peers)
            snprintf(user, sizeof user, "%zu", k);
        else
            note_refused(s, key, frame[ADDRESS]);
        reply(s, frame[REQUEST], (size_t)bytes[REQUEST] % sizeof frame[REQUEST],
              k < s->peers ? "200" : "400", user);
    }
}

static bool start_gate(saddle_sockets *s)
{
    sigset_t all;
    sigset_t before;
    s->zap = zmq_socket(s->context, ZMQ_REP);
    if (s->zap == NULL || zmq_bind(s->zap, "inproc://zeromq.zap.01") != 0)
        return false;
    /* Signals are for the threads of the program. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->guarded = pthread_create(&s->gate, NULL, guard, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->guarded;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

static bool set(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

/* Makes a socket with this process's keys and the bounds of all connections. */
static void *make_socket(saddle_sockets *s, int type, const saddle_sockets_options *options)
{
    void *socket = zmq_socket(s->context, type);
    int64_t most = (int64_t)options->most_bytes;
    if (socket == NULL)
        return NULL;
    if (set(socket, ZMQ_SNDHWM, options->queue) && set(socket, ZMQ_RCVHWM, options->queue) &&
        zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most) == 0 &&
        set(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT) && set(socket, ZMQ_HEARTBEAT_TIMEOUT, SILENCE) &&
        set(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE) && set(socket, ZMQ_RECONNECT_IVL, RETRY) &&
        set(socket, ZMQ_RECONNECT_IVL_MAX, RETRY_MOST) && set(socket, ZMQ_LINGER, 0) &&
        zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, options->public_key, SADDLE_KEY_BYTES) == 0 &&
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, options->secret_key, SADDLE_KEY_BYTES) == 0)
        return socket;
    zmq_close(socket);
    return NULL;
}

/* Returns whether a socket may use an address: one of IPv6 is in brackets; names stand for addresses of IPv4. */
static bool set_family(void *socket, const char *address)
{
    return set(socket, ZMQ_IPV6, strncmp(address, "tcp://[", 7) == 0);
}

static bool listen_at(saddle_sockets *s, const saddle_sockets_options *options)
{
    s->router = make_socket(s, ZMQ_ROUTER, options);
    return s->router != NULL && set_family(s->router, options->listen) &&
           set(s->router, ZMQ_CURVE_SERVER, 1) && set(s->router, ZMQ_ROUTER_MANDATORY, 1) &&
           zmq_setsockopt(s->router, ZMQ_ZAP_DOMAIN, "saddle", 6) == 0 &&
           zmq_bind(s->router, options->listen) == 0;
}

static bool watch(saddle_sockets *s, size_t k)
{
    neighbour *of = &s->peer[k];
    char name[40];
    snprintf(name, sizeof name, "inproc://events-%zu", k);
    of->link = SADDLE_LINK_TRYING;
    of->events = zmq_socket(s->context, ZMQ_PAIR);
    return of->events != NULL && zmq_socket_monitor(of->dealer, name, ZMQ_EVENT_ALL) == 0 &&
           set(of->events, ZMQ_LINGER, 0) && zmq_connect(of->events, name) == 0;
}

static bool dial(saddle_sockets *s, size_t k, const saddle_sockets_options *options)
{
    neighbour *to = &s->peer[k];
    to->dealer = make_socket(s, ZMQ_DEALER, options);
    return to->dealer != NULL && set_family(to->dealer, options->peer[k].dial) &&
           zmq_setsockopt(to->dealer, ZMQ_CURVE_SERVERKEY, to->key, SADDLE_KEY_BYTES) == 0 &&
           (!options->watch || watch(s, k)) && zmq_connect(to->dealer, options->peer[k].dial) == 0;
}

static void close_all(saddle_sockets *s, int milliseconds)
{
    if (s == NULL)
        return;
    if (s->open)
        zmq_msg_close(&s->message);
    for (size_t k = 0; s->peer != NULL && k <= s->peers; k++) {
        void *socket = k < s->peers ? s->peer[k].dealer : s->router;
        if (k < s->peers && s->peer[k].events != NULL)
            zmq_close(s->peer[k].events);
        if (socket == NULL)
            continue;
        set(socket, ZMQ_LINGER, milliseconds);
        zmq_close(socket);
    }
    if (s->zap != NULL && !s->guarded)
        zmq_close(s->zap);
    if (s->context != NULL) {
        zmq_ctx_shutdown(s->context);
        if (s->guarded)
            pthread_join(s->gate, NULL);
        while (zmq_ctx_term(s->context) != 0 && zmq_errno() == EINTR)
            ;
    }
    pthread_mutex_destroy(&s->lock);
    free(s->peer);
    free(s->poll);
    free(s);
}

static bool open_all(saddle_sockets **out, const saddle_sockets_options *options, char *reason,
                     size_t reason_size)
{
    const char *what = "memory is short";
    saddle_sockets *s = calloc(1, sizeof *s);
    *out = NULL;
    snprintf(reason, reason_size, "%s", what);
    if (s == NULL)
        return false;
    pthread_mutex_init(&s->lock, NULL);
    s->peers = options->peers;
    s->peer = calloc(options->peers + 1, sizeof *s->peer);
    s->poll = calloc(options->peers + 1, sizeof *s->poll);
    s->context = zmq_ctx_new();
    bool good = s->peer != NULL && s->poll != NULL && s->context != NULL;
    for (size_t k = 0; good && k < s->peers; k++)
        memcpy(s->peer[k].key, options->peer[k].key, SADDLE_KEY_BYTES);
    /* The gate is there before anything can connect, and learns first who is dialled. */
    for (size_t k = 0; good && k < s->peers; k++)
        if (options->peer[k].dial != NULL) {
            what = options->peer[k].dial;
            good = dial(s, k, options);
        }
    good = good && start_gate(s);
    if (good && options->listen != NULL) {
        what = options->listen;
        good = listen_at(s, options);
    }
    if (!good) {
        snprintf(reason, reason_size, "%s: %s", what, zmq_strerror(zmq_errno()));
        close_all(s, 0);
        return false;
    }
    *out = s;
    return true;
}

static void endpoint(saddle_sockets *s, char out[SADDLE_ENDPOINT_SIZE])
{
    size_t size = SADDLE_ENDPOINT_SIZE;
    out[0] = '\0';
    if (s->router != NULL && zmq_getsockopt(s->router, ZMQ_LAST_ENDPOINT, out, &size) != 0)
        out[0] = '\0';
}

/* ---- messages --------------------------------------------------------------------------------- */

static bool send_parts(saddle_sockets *s, size_t k, const void *head, size_t head_bytes,
                       const void *body, size_t body_bytes)
{
    neighbour *to = &s->peer[k];
    void *socket = to->dealer != NULL ? to->dealer : s->router;
    zmq_msg_t message;
    if (socket == NULL || (to->dealer == NULL && to->route_bytes == 0) ||
        zmq_msg_init_size(&message, head_bytes + body_bytes) != 0)
        return false;
    memcpy(zmq_msg_data(&message), head, head_bytes);
    if (body_bytes > 0)
        memcpy((char *)zmq_msg_data(&message) + head_bytes, body, body_bytes);
    bool routed = to->dealer != NULL ||
                  zmq_send(socket, to->route, to->route_bytes, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0;
    if (routed && zmq_msg_send(&message, socket, ZMQ_DONTWAIT) >= 0)
        return true;
    zmq_msg_close(&message);
    return false;
}

/* Drops the parts of a message that remain; a message of this protocol has none. Returns whether there were any. */
static bool drop_rest(void *socket, zmq_msg_t *message)
{
    bool any = false;
    while (zmq_msg_more(message) != 0) {
        any = true;
        if (zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0)
            break;
    }
    return any;
}

/* Takes a message from the ROUTER: an address within it, then the message, which carries the neighbour's number. */
static bool take_routed(saddle_sockets *s, size_t *peer)
{
    unsigned char route[ROUTE];
    int bytes = zmq_recv(s->router, route, sizeof route, ZMQ_DONTWAIT);
    if (bytes < 0 || zmq_msg_recv(&s->message, s->router, ZMQ_DONTWAIT) < 0)
        return false;
    const char *user = zmq_msg_gets(&s->message, "User-Id");
    char *end = NULL;
    unsigned long k = user != NULL && *user != '\0' ? strtoul(user, &end, 10) : s->peers;
    if (drop_rest(s->router, &s->message) || end == NULL || *end != '\0' || k >= s->peers ||
        (size_t)bytes > sizeof route)
        return false;
    memcpy(s->peer[k].route, route, (size_t)bytes);
    s->peer[k].route_bytes = (size_t)bytes;
    *peer = k;
    return true;
}

static bool take_dialled(saddle_sockets *s, size_t k, size_t *peer)
{
    *peer = k;
    return zmq_msg_recv(&s->message, s->peer[k].dealer, ZMQ_DONTWAIT) >= 0 &&
           !drop_rest(s->peer[k].dealer, &s->message);
}

static bool receive(saddle_sockets *s, int milliseconds, size_t *peer, const unsigned char **bytes,
                    size_t *size)
{
    size_t sockets = s->peers + 1;
    if (s->open)
        zmq_msg_close(&s->message);
    s->open = zmq_msg_init(&s->message) == 0;
    for (size_t k = 0; k < sockets; k++)
        s->poll[k] = (zmq_pollitem_t){
            .socket = k < s->peers ? s->peer[k].dealer : s->router, .fd = -1, .events = ZMQ_POLLIN};
    /* Those without a socket would be taken for the descriptor -1. */
    size_t count = 0;
    for (size_t k = 0; k < sockets; k++)
        if (s->poll[k].socket != NULL)
            s->poll[count++] = s->poll[k];
    if (zmq_poll(s->poll, (int)count, milliseconds) <= 0)
        return false;
    for (size_t n = 0; n < sockets; n++) {
        size_t k = (s->turn + n) % sockets;
        bool there = k < s->peers ? s->peer[k].dealer != NULL && take_dialled(s, k, peer)
                                  : s->router != NULL && take_routed(s, peer);
        if (!there)
            continue;
        s->turn = k + 1;
        *bytes = zmq_msg_data(&s->message);
        *size = zmq_msg_size(&s->message);
        return true;
    }
    return false;
}

static saddle_socket_link link_of(saddle_sockets *s, size_t k)
{
    neighbour *of = &s->peer[k];
    uint16_t event;
    char frame[6]; /* the event's number and a value; a frame with the address follows */
    char rest[8];
    while (of->events != NULL &&
           zmq_recv(of->events, frame, sizeof frame, ZMQ_DONTWAIT) == (int)sizeof frame) {
        zmq_recv(of->events, rest, sizeof rest, 0);
        memcpy(&event, frame, sizeof event);
        if (event == ZMQ_EVENT_CONNECTED)
            of->link = SADDLE_LINK_REACHED;
        else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
            of->link = SADDLE_LINK_OPEN;
        else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
            of->link = SADDLE_LINK_REFUSED;
    }
    return of->link;
}

static void refused(saddle_sockets *s, saddle_refused_peer *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->refused;
    pthread_mutex_unlock(&s->lock);
}

__attribute__((visibility("default"))) extern const saddle_sockets_table saddle_module_table;
const saddle_sockets_table saddle_module_table = {
    .module = {.version = SADDLE_VERSION, .bytes = sizeof(saddle_sockets_table)},
    .open = open_all,
    .endpoint = endpoint,
    .send = send_parts,
    .receive = receive,
    .link = link_of,
    .refused = refused,
    .close = close_all,
};
