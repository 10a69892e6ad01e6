/* A network of peers on the loopback interface, each in a thread of this process. */
#pragma once

#include <pthread.h>

#include "peers/session.h"
#include "run/run.h"

enum { MOST_TEST_PEERS = 6 };

typedef struct test_peer peer;
typedef void peer_job(peer *self);

/* A network of threads. */
typedef struct peer_network {
    saddle_graph *graph;
    const saddle_plan *plan;
    unsigned char secret[MOST_TEST_PEERS][SADDLE_KEY_BYTES];
    struct test_peer {
        struct peer_network *network;
        peer_job *job;
        size_t number;
        saddle_member member[MOST_TEST_PEERS]; /* as this peer knows them */
        char endpoint[MOST_TEST_PEERS][SADDLE_ENDPOINT_SIZE];
        saddle_session_options options;
        saddle_session *session;
        saddle_status status;
        saddle_error error;
        char warning[1024]; /* the last */
        char model[64];
        pthread_t thread;
    } peer[MOST_TEST_PEERS];
} peer_network;

/* Makes a network with new keys; its graph is freed by the caller. */
void make_network(peer_network *n, const char *topology, size_t agents);
/* Opens the session of a peer, which learns the addresses of those before it. */
void open_session(peer_network *n, size_t i);
/* Does the work of all peers, each in a thread, and closes their sessions. */
void run_network(peer_network *n, peer_job *work);
/* Runs the network's plan on a peer's session. */
void solve_peer(peer *self, const saddle_own_outputs *outputs);
/* Fails unless all have succeeded. */
void check_all_good(const peer_network *n);
