/*
 * The files of an owner: network.yml, which all owners share, agent.yml, which is private, and the secret key.
 *
 *     network.yml                                     agent.yml
 *     agent-0: tcp://10.0.0.1:7400 PUBLIC-KEY         network: network.yml
 *     agent-1: tcp://10.0.0.2:7400 PUBLIC-KEY         agent: 1
 *     agent-2: none PUBLIC-KEY                        key: agent-1.key
 *     edges: [0-1, 1-2]                               data: rows.csv
 *     problem: auc                                    model: model.npz
 *     data: own                                       trace: trace.csv
 *
 * All other names of network.yml are options of `saddle run` that decide what is computed.
 */
#pragma once

#include <saddle/graph.h>
#include <saddle/peer.h>

#include "peers/session.h"

/* What the files say. Free with peer_files_free(). */
typedef struct peer_files {
    saddle_plan plan; /* what all agents compute, and with how many threads this one does */
    saddle_graph *graph;
    saddle_member *member; /* of all agents; owns the endpoints */
    unsigned char fingerprint[SADDLE_RUN_FINGERPRINT];
    size_t self;
    unsigned char secret_key[SADDLE_KEY_BYTES];
    /* Paths; NULL if they are not given. */
    char *listen;
    char *data;
    char *model;
    char *trace;
    char *log;
    char *checkpoint;
    double patience;
    double deadline; /* seconds that a round waits for a neighbour; 0: until its message is there */
    uint64_t every;  /* iterations between two rows of the trace; 0: automatic */
    uint64_t repeat; /* iterations between two checkpoints of all agents; 0: there are none */
    saddle_store *store; /* this agent's, once its session is open; NULL: none */
} peer_files;

/* Reads an agent.yml, and the files that it names: their paths are relative to its directory. */
saddle_status peer_files_read(peer_files *out, const char *path, const saddle_peer_options *with,
                              saddle_error *error);
/* Frees the contents and clears the secret key. Safe after a failure. */
void peer_files_free(peer_files *files);
