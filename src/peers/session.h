/*
 * A session: what one process of a network of peers does with its connections. It meets its neighbours, exchanges
 * records with all agents while it sets up, and then messages with its neighbours round by round.
 *
 * With a deadline, what has not arrived in time is lost for a round, and nothing is sent again: the links of the engine
 * make up for it (engines/running_sums.h). A neighbour that is silent for too long counts as gone until it is heard
 * again, from the same process or from one that follows it (engines/membership.h).
 *
 * Without one, nothing is lost while a neighbour's process runs: after a broken connection, what did not arrive is
 * asked for again. A process that dies can be followed by another one that resumes from its checkpoint (peers/store.h):
 * it repeats the rounds since then with the messages that its neighbours have kept, and they drop what they have from
 * it already. All agents save their state after the same iterations, which says how many messages are kept. A session
 * fails when a neighbour ends or is silent for too long; from then on its functions return at once.
 */
#pragma once

#include <signal.h>

#include "engines/engine.h"
#include "peers/flood.h"
#include "peers/sockets.h"
#include "peers/store.h"

/* An agent of the network. */
typedef struct saddle_member {
    unsigned char key[SADDLE_KEY_BYTES]; /* public */
    const char *endpoint; /* where it can be dialled; NULL: it dials all its neighbours */
} saddle_member;

/* Borrowed for the lifetime of a session, except for the secret key. */
typedef struct saddle_session_options {
    const saddle_member *member; /* of all agents */
    const saddle_graph *graph;   /* whose edges are connections */
    size_t self;
    unsigned char secret_key[SADDLE_KEY_BYTES];
    const char *listen; /* NULL: the endpoint of this member */
    unsigned char fingerprint[SADDLE_RUN_FINGERPRINT];
    saddle_store *store; /* where this agent's checkpoints are; NULL: it has none */
    uint64_t repeat;     /* iterations between two checkpoints of all agents; 0: nobody has them */
    uint64_t last;       /* the last iteration, after which there is one, too */
    bool checks;         /* this session only checks its neighbours */
    double
        patience; /* seconds without a message that is waited for, after which the session fails */
    double deadline; /* seconds that a round waits for a neighbour; 0: until its message is there */
    const char *log; /* the file that says which messages were used (graph/replay.h); NULL: none */
    const volatile sig_atomic_t
        *interrupt;          /* the session fails soon after it is set; NULL: it is not */
    saddle_warning *warning; /* about what was refused; NULL: none */
    void *warning_context;
} saddle_session_options;

typedef struct saddle_session saddle_session;

/* What a session knows of a neighbour. */
typedef struct saddle_neighbour_view {
    size_t agent;
    bool met;
    bool done;
    bool late; /* it has missed a deadline, and is not waited for until its next message */
    bool
        silent; /* it has been late for longer than the patience, and counts as gone until its next message */
    double silence; /* seconds since its last message; since the beginning if there was none */
} saddle_neighbour_view;

/* What a check finds out about a neighbour. */
typedef struct saddle_check {
    size_t agent;
    const char *dialled;     /* the address that this process dials; NULL: the neighbour dials */
    saddle_socket_link link; /* of that connection */
    bool heard;              /* a message came that this agent can use */
    bool answered;           /* and an answer, for which these are known: */
    double delay;            /* seconds between a question and its answer, at best */
    double clock;            /* seconds by which its clock is ahead of this one */
    char problem[256];       /* with what came; "": nothing */
} saddle_check;

/* Returns whether a text's first characters are tcp://HOST:PORT, with an address of IPv6 in brackets and a port that
 * can be dialled, or ipc://PATH, with a path that a socket can have. */
bool saddle_is_endpoint(const char *text, size_t length);
/* Opens the module, listens, and begins to dial. Free with saddle_session_close(). */
saddle_status saddle_session_open(saddle_session **out, const saddle_session_options *options,
                                  saddle_error *error);
/* Checks the neighbours of an open session, which then can only be closed, for at most so many seconds: whether they
 * can be reached and run the same version and the same network. A neighbour that waits for this agent, or is checking
 * too, answers. Writes one entry per neighbour; returns whether all are as they should be. */
bool saddle_session_check_all(saddle_session *session, double seconds, saddle_check *out);
/* Waits until all neighbours have said hello; they must run the same version and the same network. A process that
 * takes the place of an earlier one does not wait. */
saddle_status saddle_session_meet(saddle_session *session, saddle_error *error);
/* Waits until all neighbours have done all rounds, so that none misses a message of this agent. A neighbour that is
 * then silent is not waited for long, unless it may come back from a checkpoint. */
void saddle_session_finish(saddle_session *session);
/* Closes the connections. `status`, if it is not SADDLE_OK, tells the neighbours why this process ends early. NULL for
 * the session is allowed. */
void saddle_session_close(saddle_session *session, saddle_status status);

/* Returns the number of rounds that have begun, and what is known of a neighbour, by its number in the list. Any thread
 * may call these. */
uint64_t saddle_session_rounds(const saddle_session *session);
saddle_neighbour_view saddle_session_neighbour(const saddle_session *session, size_t k);
/* Returns the last attempt to connect that was refused; its count is 0 if there was none. Any thread may call this. */
saddle_refused_peer saddle_session_refused(const saddle_session *session);

/* Fails with the reason if the session has failed. */
saddle_status saddle_session_check(const saddle_session *session, saddle_error *error);
/* Returns a flag that is set when the session has failed, and when this agent should call saddle_session_skip(). */
const volatile sig_atomic_t *saddle_session_pause(const saddle_session *session);
/* Returns how many iterations to leave out after `done` of them, because a neighbour is far ahead; clears the flag and
 * logs it. */
uint64_t saddle_session_skip(saddle_session *session, uint64_t done);
/* Writes where this process can be dialled. */
void saddle_session_endpoint(saddle_session *session, char out[SADDLE_ENDPOINT_SIZE]);
/* Returns the graph, and the agent of this process. */
const saddle_graph *saddle_session_graph(const saddle_session *session);
size_t saddle_session_self(const saddle_session *session);

/* Takes the record of an agent in an exchange, or a piece of it that begins at `offset`. */
typedef void saddle_take_record(void *context, size_t agent, size_t offset, const void *bytes,
                                size_t size);
/* Exchanges records of `bytes` bytes, except that only agent `from` has one unless it is the number of agents. */
void saddle_session_exchange(saddle_session *session, size_t from, const void *own, size_t bytes,
                             saddle_take_record *take, void *context);

/* Prepares for rounds, of which there are so many in an iteration, and continues those of the saved state. */
saddle_status saddle_session_begin_rounds(saddle_session *session, unsigned per_iteration,
                                          saddle_error *error);
/* Returns the agent's state that was saved; borrowed. NULL: the run begins. */
const void *saddle_session_state(const saddle_session *session, size_t *bytes);
/* Returns whether this agent has checkpoints. */
bool saddle_session_saves(const saddle_session *session);
/* Returns the iteration, after this one, at whose end the agent's state is to be saved. */
uint64_t saddle_session_next_save(const saddle_session *session, uint64_t iteration);
/* Saves the agent's state after an iteration. A failure is a warning, or the session fails if it `must` be saved. */
void saddle_session_save(saddle_session *session, const void *state, size_t bytes, bool must);

/* Begins a round, counted from 0, by sending a message to all neighbours. */
void saddle_session_send_round(saddle_session *session, uint64_t round, const void *bytes,
                               size_t size);
/* Takes the message that a neighbour, by its number in the list of this agent's neighbours, has sent for a round. */
typedef void saddle_take_message(void *context, size_t k, uint64_t round, const void *bytes,
                                 size_t size);
/* Reports a neighbour whose message of a round has something that cannot be used. With a deadline, the message then
 * counts as lost; otherwise the session fails. */
void saddle_session_reject(saddle_session *session, size_t k, uint64_t round, const char *what);
/* Waits for the messages of the round of all neighbours, and gives them to `take`. With a deadline, a message of an
 * earlier round may take the place of one that has not arrived, there may be none, and one may be longer. */
void saddle_session_take_round(saddle_session *session, uint64_t round, size_t size,
                               saddle_take_message *take, void *context);

/* Waits, in a process that follows an earlier one, until all neighbours have been heard, but not for long. */
void saddle_session_catch_up(saddle_session *session);
/* Logs that the message of a neighbour that was used in a round was sent so many rounds before; SADDLE_REPLAY_LOST:
 * none was used. `gone`: the neighbour counts as gone. */
void saddle_session_log_used(saddle_session *session, size_t k, uint64_t round, uint64_t age,
                             bool gone);

/*
 * The engine of a session: an instance that is made with it has one agent here and one at each peer. Sums of set-up
 * are exchanges; in iterations there are only messages with neighbours. saddle_world_agree() and
 * saddle_world_check() report a session that has failed.
 */
typedef struct saddle_peer_engine {
    saddle_engine_class kind; /* must be first */
    saddle_session *session;
} saddle_peer_engine;
saddle_peer_engine saddle_peer_engine_of(saddle_session *session);

/* The world of a session: peer_world.c. */
saddle_status saddle_peer_connect(const saddle_engine_class *engine, saddle_world **out,
                                  const saddle_graph *graph, saddle_error *error);
saddle_session *saddle_peer_session(const saddle_world *world);
