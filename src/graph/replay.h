/*
 * The logs of a network whose agents did not use every message of every round (peers with a deadline), one after
 * another in a file, so that one process can repeat what they did:
 *
 *     # round  what  agent  neighbour  rounds
 *     120      lost  1      0
 *     125      late  1      0          2
 *     130      late  1      0          0
 *     130      skip  1                 40
 *     900      gone  1      0
 *
 * In rounds 120 to 124 agent 1 used no message of agent 0, from 125 on that of 2 rounds before, from 130 on that of the
 * round itself. From 130 on it left out 40 rounds. In 900 it called agent 0 gone, until a line `back`. Before the first
 * line of a link all its messages were used.
 */
#pragma once

#include <saddle/graph.h>

#include "core/base.h"

/* Instead of rounds: no message was used. */
#define SADDLE_REPLAY_LOST UINT64_MAX

typedef struct saddle_replay_event {
    /* A position in the graph; behind them, an agent that skips; behind these, a position: gone and back. */
    size_t which;
    uint64_t round;
    uint64_t
        rounds; /* by which the message is late, SADDLE_REPLAY_LOST, or that are skipped; 0: back */
} saddle_replay_event;

/* In the order of `which`, then of rounds. */
typedef struct saddle_replay {
    size_t count;
    saddle_replay_event *event;
    size_t positions; /* in the graph */
    size_t agents;
    uint64_t latest; /* the most rounds by which a message is late */
} saddle_replay;

/* Reads a file about a graph. Free the contents with saddle_replay_clear(), which accepts a zeroed struct. */
saddle_status saddle_replay_read(saddle_replay *out, const char *path, const saddle_graph *graph,
                                 saddle_error *error);
void saddle_replay_clear(saddle_replay *replay);

/* Returns how many rounds before `round` the message was sent that is used at a position of the graph, or
 * SADDLE_REPLAY_LOST. */
uint64_t saddle_replay_age(const saddle_replay *replay, size_t position, uint64_t round);
/* Returns whether the neighbour at a position counts as gone in a round. */
bool saddle_replay_silent(const saddle_replay *replay, size_t position, uint64_t round);
/* Returns whether an agent leaves out a round. */
bool saddle_replay_skips(const saddle_replay *replay, size_t agent, uint64_t round);
