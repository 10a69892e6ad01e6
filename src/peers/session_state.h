/* The state of a session, and what its two files use of each other. */
#pragma once

#include <stdatomic.h>

#include <sodium/crypto_generichash.h>

#include "core/clock.h"
#include "files/file.h"
#include "graph/replay.h"
#include "peers/session.h"

/* How far a process has come, in a hello: the exchanges and the rounds that it has done, and a digest of the records of
 * those exchanges. Each has 8 bytes. */
enum { SADDLE_POSITION = 24 };

/* A message of a round. */
typedef struct saddle_round_message {
    bool held;
    uint64_t round;
    unsigned char *bytes;
    size_t size;
    size_t room;
} saddle_round_message;

/* What is atomic is read by other threads (saddle_session_neighbour). */
typedef struct saddle_neighbour {
    size_t agent;
    atomic_bool met;
    atomic_bool done;
    atomic_bool late; /* see saddle_neighbour_view */
    atomic_bool silent;
    _Atomic double heard; /* when the last message came; 0: none has */
    uint32_t incarnation;
    uint64_t next;               /* the round whose message is used next */
    uint64_t ahead;              /* rounds that it had done when it said hello */
    uint64_t newest;             /* 1 + the last round of which a message has come; 0: none has */
    saddle_round_message *round; /* by round % slots */
    uint64_t logged;             /* the last age in the log */
    bool logged_gone;
} saddle_neighbour;

struct saddle_session {
    saddle_session_options with;
    const saddle_sockets_table *table;
    saddle_sockets *sockets;
    saddle_message_rule rule;
    saddle_flood *flood;
    uint32_t incarnation;
    double begin;                /* when it was opened */
    double greeted;              /* when neighbours that have not been met were last greeted */
    atomic_uint_fast64_t rounds; /* that have begun */
    saddle_check *check;         /* per neighbour; NULL unless this is a check */
    size_t first;                /* of this agent's neighbours, in the graph */
    size_t neighbours;
    saddle_neighbour *neighbour;
    size_t
        slots; /* messages that are held of a neighbour; without a deadline, it is at most one round ahead */
    unsigned per_iteration;     /* rounds */
    saddle_round_message *sent; /* the messages of the last rounds, by round % kept */
    size_t kept;
    uint64_t taken;                                     /* rounds whose messages were used */
    double waited;                                      /* seconds, the longest of recent waits */
    uint64_t exchanges;                                 /* that are done */
    unsigned char digest[crypto_generichash_BYTES_MIN]; /* of their records */
    saddle_lines log;                                   /* no stream: none */
    bool finished;                                      /* all rounds are done */
    bool replaying;   /* an exchange that an earlier process has done: nothing is sent */
    bool unsaved;     /* the last state could not be saved */
    uint64_t refused; /* attempts to connect that were reported */
    unsigned notes;
    volatile sig_atomic_t failed;
    volatile sig_atomic_t pause;
    saddle_error reason;
};

/* Makes a session fail, with a message. */
#define SADDLE_SESSION_FAIL(s, status, ...) \
    (saddle_fail(&(s)->reason, (status), __VA_ARGS__), (void)((s)->failed = (s)->pause = 1))

/* Returns the address that this process dials to reach a neighbour; NULL if the neighbour dials. Of the two ends of an
 * edge, the one with the larger number dials, unless the other cannot be dialled. */
const char *saddle_session_dialled(const saddle_session_options *with, size_t agent);

/* session_return.c */

/* Writes this process's position. */
void saddle_session_position(const saddle_session *session, unsigned char out[SADDLE_POSITION]);
/* Returns why this agent does not have what a process at a position needs; NULL if it has. */
const char *saddle_session_cannot_follow(const saddle_session *session,
                                         const unsigned char position[SADDLE_POSITION],
                                         uint64_t *round);
/* Gives the exchange that has begun the records with which an earlier process has done it. */
void saddle_session_replay(saddle_session *session, const unsigned char *bytes, size_t size);
/* Notes that the exchange is done; `known`: an earlier process has noted it. */
void saddle_session_note_exchange(saddle_session *session, bool known);

/* session_deadline.c */

/* Holds the messages of more rounds; false if memory is short. */
bool saddle_session_hold(saddle_session *session, size_t slots);
/* Forgets the messages of a neighbour's process that another one has followed. */
void saddle_session_forget(saddle_session *session, size_t k);
/* Calls a neighbour gone, which says why it has ended. */
void saddle_session_call_gone(saddle_session *session, size_t k, const char *why);
/* Keeps a message for a round, unless a newer one is in its place. */
void saddle_session_take_early(saddle_session *session, size_t k, const saddle_message *message);
/* Implements saddle_session_take_round() with a deadline. */
void saddle_session_take_by_deadline(saddle_session *session, uint64_t round, size_t size,
                                     saddle_take_message *take, void *context);

/* session_check.c */

/* Uses a message in a session that checks. */
void saddle_session_take_check(saddle_session *session, size_t k, const saddle_message *message);
/* Answers a question. */
void saddle_session_answer(saddle_session *session, size_t k, uint64_t question);

/* session_messages.c */

/* Sends a neighbour, by its number in the list, a message of this agent's own. One that is lost is asked for again. */
void saddle_session_say(saddle_session *session, size_t k, saddle_message_kind kind, uint64_t step,
                        const void *body, size_t length);
void saddle_session_hello(saddle_session *session, size_t k);
/* Says that all rounds are done. */
void saddle_session_say_done(saddle_session *session, size_t k);
/* Sends the message of a round if it is kept. */
void saddle_session_say_round(saddle_session *session, size_t k, uint64_t round);
/* Implements saddle_flood_rule.send. */
void saddle_session_pass_on(void *session, size_t to, const saddle_message *message);
/* Keeps the bytes of a round; false if memory is short. */
bool saddle_session_keep(saddle_round_message *message, uint64_t round, const void *bytes,
                         size_t size);
/* Receives and uses a message, if one comes within SADDLE_LOOK or fewer milliseconds; returns whether one came. */
enum { SADDLE_LOOK = 50 };
bool saddle_session_look(saddle_session *session, int milliseconds);
/* Says hello to the neighbours that have not been met. */
void saddle_session_greet(saddle_session *session);
