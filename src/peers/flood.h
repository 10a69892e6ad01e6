/*
 * Exchanges of records: every agent contributes one, and every agent gets all of them, in the order of agents,
 * although it has connections with its neighbours only.
 *
 * A record is sent to all neighbours; an agent that receives one for the first time passes it on to its other
 * neighbours. The records of neighbours are taken from themselves only. So each record crosses an edge at most once
 * in each direction, and all agents have it after as many hops as the network's diameter. Exchanges are numbered
 * from 1 and happen in the same order everywhere. As an agent completes exchange k only with the records of all
 * others, none is ahead of another by more than one: an agent keeps the records of the exchange before, which a
 * neighbour may have missed, of its own, and of the next one.
 *
 * This is a state machine: it sends by a function of the caller, and never waits.
 */
#pragma once

#include "peers/message.h"

/* The longest record. Callers divide what is longer. */
#define SADDLE_MOST_RECORD ((size_t)256 << 10)
/* The most agents: a network file has a line for each (files/yaml.h). */
#define SADDLE_MOST_PEERS 4000

/* Sends a message to a neighbour; its agent is the record's origin, not the sender, for RECORD. */
typedef void saddle_flood_send(void *context, size_t neighbour, const saddle_message *message);

/* Borrowed for the lifetime of a flood. */
typedef struct saddle_flood_rule {
    size_t agents;
    size_t self;
    uint32_t incarnation; /* of this agent */
    size_t neighbours;
    const size_t *neighbour; /* ascending */
    saddle_flood_send *send;
    void *context;
} saddle_flood_rule;

typedef struct saddle_flood saddle_flood;

/* Creates the state before the first exchange. Free with saddle_flood_free(), which accepts NULL. */
saddle_status saddle_flood_create(saddle_flood **out, const saddle_flood_rule *rule,
                                  saddle_error *error);
void saddle_flood_free(saddle_flood *flood);

/* Begins the next exchange with this agent's record, of at most SADDLE_MOST_RECORD bytes. The one before must be
 * complete. */
saddle_status saddle_flood_begin(saddle_flood *flood, const void *bytes, size_t size,
                                 saddle_error *error);
/* Takes a message of kind RECORD or MISSING. Fails without a change: with SADDLE_BAD_INPUT for one that no honest peer
 * sends, and with SADDLE_CHECK_FAILED for another record than before, as then agents may use different ones. */
saddle_status saddle_flood_take(saddle_flood *flood, size_t from, const saddle_message *message,
                                saddle_error *error);
/* Asks all neighbours for the records that are missing: after a connection was lost, and with it messages. */
void saddle_flood_ask(const saddle_flood *flood);

/* Returns whether the exchange has all records. */
bool saddle_flood_complete(const saddle_flood *flood);
/* Returns the number of the exchange; 0 before the first. */
uint64_t saddle_flood_step(const saddle_flood *flood);
/* Returns an agent's record, which is there once the exchange is complete, until the next one is; borrowed. */
const void *saddle_flood_record(const saddle_flood *flood, size_t agent, size_t *bytes);
/* Returns the lowest agent whose record is missing; the number of agents if none is. */
size_t saddle_flood_missing(const saddle_flood *flood);
