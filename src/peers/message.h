/*
 * Messages between peers: processes of different owners, each with one agent.
 *
 * A message is a header of 56 bytes and a body. All numbers are little-endian:
 *
 *      0  "SDLP"
 *      4  2 bytes  version of the protocol
 *      6  1 byte   kind
 *      7  1 byte   0
 *      8  16 bytes fingerprint of the run
 *     24  4 bytes  the agent that made the body, which others may forward
 *     28  4 bytes  incarnation: which process of the agent; a later one has a larger number
 *     32  8 bytes  step: the number of an exchange of records, or of a round
 *     40  8 bytes  length of the body
 *     48  8 bytes  checksum of the first 48 bytes and the body
 *
 * Doubles in a body are as in memory, little-endian on every platform of Saddle. The transport authenticates the
 * process that a message comes from; the checksum finds faults of programs and memory, not attacks.
 */
#pragma once

#include "core/base.h"

#define SADDLE_PEER_PROTOCOL 2

enum {
    SADDLE_MESSAGE_HEADER = 56,
    SADDLE_RUN_FINGERPRINT = 16,
};

/* The longest body. */
#define SADDLE_MOST_BODY ((size_t)64 << 20)

typedef enum saddle_message_kind {
    SADDLE_MESSAGE_HELLO =
        1, /* the first of a process: step is the incarnation of the other that it has met, or 0,
                                 body its position (session_state.h) and its version of Saddle */
    SADDLE_MESSAGE_RECORD,  /* an agent's record of an exchange (flood.h) */
    SADDLE_MESSAGE_MISSING, /* asks for records: body is a bitmap of those that are held */
    SADDLE_MESSAGE_ROUND,   /* what an agent publishes for a round */
    SADDLE_MESSAGE_AGAIN,   /* asks for the message of a round */
    SADDLE_MESSAGE_DONE, /* the agent has done all rounds; step is 1 if it knows this of the other */
    SADDLE_MESSAGE_LEFT,  /* the agent's process ends early: step is the status, no body */
    SADDLE_MESSAGE_CHECK, /* asks for an answer: step is the time, body the version */
    SADDLE_MESSAGE_ANSWER, /* step is that of the question, body the time (8 bytes) and the version */
    SADDLE_MESSAGE_REFUSED, /* a process cannot take part: step is its incarnation */
    SADDLE_MESSAGE_KINDS
} saddle_message_kind;

/* A message. */
typedef struct saddle_message {
    saddle_message_kind kind;
    uint32_t agent;
    uint32_t incarnation;
    uint64_t step;
    const unsigned char *body; /* borrowed; NULL if it is empty */
    size_t length;
} saddle_message;

/* What a process expects of all messages. */
typedef struct saddle_message_rule {
    unsigned char fingerprint[SADDLE_RUN_FINGERPRINT];
    size_t agents;
} saddle_message_rule;

/* Writes the header of a message. */
void saddle_message_seal(const saddle_message_rule *rule, const saddle_message *message,
                         unsigned char header[SADDLE_MESSAGE_HEADER]);

/* Reads a message; the body is borrowed from `bytes`. Fails with SADDLE_BAD_INPUT for bytes that are not a
 * message, and with SADDLE_UNSUPPORTED for messages of another version or run. */
saddle_status saddle_message_read(const saddle_message_rule *rule, const unsigned char *bytes,
                                  size_t size, saddle_message *out, saddle_error *error);
