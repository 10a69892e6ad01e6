/* A demo of peers: the files of agents in a directory, and their processes. */
#pragma once

#include <sys/types.h>

#include <saddle/peer.h>

#include "cli.h"
#include "draw/trace_list.h"

enum { DEMO_MOST_AGENTS = 20, DEMO_ITERATIONS = 2000, DEMO_EVERY = DEMO_ITERATIONS / 10 };
/* Seconds after which a demo in which nothing happens ends. */
enum { DEMO_STALLED = 60 };

typedef struct demo {
    const char *directory;
    size_t agents;
    char program[PATH_MAX];
    char key[DEMO_MOST_AGENTS][SADDLE_PEER_KEY_SIZE];
    unsigned port[DEMO_MOST_AGENTS];
    pid_t process[DEMO_MOST_AGENTS]; /* 0: it has ended */
    size_t failed;                   /* the first agent that did; their number: none */
    size_t self;                     /* the agent whose file is written */
    size_t killed;                   /* the agent that was, and came back; their number: none */
    const volatile sig_atomic_t *interrupt;
    double moved; /* when something happened last */
    size_t shown; /* rows */
} demo;

/* Writes the path of a file of the demo, whose name may have # for the number of an agent. */
const char *demo_path(const demo *d, const char *name, size_t agent, char out[TRACE_PATH]);
/* Runs all agents to their end, shows how they proceed, kills one of them and starts it again. No process is left. */
saddle_status demo_run_agents(demo *d, saddle_error *error);
