/* The state of a session, and what its two files use of each other. */
#pragma once

#include <stdatomic.h>

#include "core/clock.h"
#include "peers/session.h"

/* A message of a round; a neighbour is at most one round ahead. */
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
    _Atomic double heard; /* when the last message came; 0: none has */
    uint32_t incarnation;
    uint64_t next; /* the round whose message is used next */
    saddle_round_message round[2];
} saddle_neighbour;

struct saddle_session {
    saddle_session_options with;
    const saddle_sockets_table *table;
    saddle_sockets *sockets;
    saddle_message_rule rule;
    saddle_flood *flood;
    uint32_t incarnation;
    double begin;                /* when it was opened */
    atomic_uint_fast64_t rounds; /* that have begun */
    saddle_check *check;         /* per neighbour; NULL unless this is a check */
    size_t first;                /* of this agent's neighbours, in the graph */
    size_t neighbours;
    saddle_neighbour *neighbour;
    saddle_round_message sent[2]; /* the messages of the last two rounds */
    uint64_t refused;             /* attempts to connect that were reported */
    unsigned notes;
    volatile sig_atomic_t failed;
    saddle_error reason;
};

/* Makes a session fail, with a message. */
#define SADDLE_SESSION_FAIL(s, status, ...) \
    (saddle_fail(&(s)->reason, (status), __VA_ARGS__), (void)((s)->failed = 1))

/* Returns the address that this process dials to reach a neighbour; NULL if the neighbour dials. Of the two ends of an
 * edge, the one with the larger number dials, unless the other cannot be dialled. */
const char *saddle_session_dialled(const saddle_session_options *with, size_t agent);

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
/* Sends the message of a round if it is one of the last two. */
void saddle_session_say_round(saddle_session *session, size_t k, uint64_t round);
/* Implements saddle_flood_rule.send. */
void saddle_session_pass_on(void *session, size_t to, const saddle_message *message);
/* Keeps the bytes of a round; false if memory is short. */
bool saddle_session_keep(saddle_round_message *message, uint64_t round, const void *bytes,
                         size_t size);
/* Receives and uses a message, if one comes soon. */
void saddle_session_look(saddle_session *session);
