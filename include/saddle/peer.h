/**
 * @file peer.h
 * @brief Peers: one agent of a network of several owners (docs/peers.md).
 *
 *     saddle_peer_run("agent.yml", NULL, &error);
 */
#ifndef SADDLE_PEER_H
#define SADDLE_PEER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <saddle/status.h>

struct saddle_problem;

/** Characters of a public key as text, with the NUL. */
#define SADDLE_PEER_KEY_SIZE 65

/**
 * Makes a secret key in a file that only its owner can read. A key that is there stays.
 * @param[out] out   The public key, in hexadecimal digits.
 * @param[out] made  Whether the key is new.
 */
SADDLE_API saddle_status saddle_peer_keygen(const char *path, char out[SADDLE_PEER_KEY_SIZE],
                                            bool *made, saddle_error *error);

/** What an agent sees at a point of its trace. */
typedef struct saddle_own_row {
    uint64_t iteration; /**< The number of iterations made. */
    double seconds;     /**< The time that they took. */
    double loss;        /**< The mean loss over its own samples, at its own x and y. */
    /** Mean over its neighbours of |x - x_j|^2 + |y - y_j|^2, with what they sent last; NaN if the algorithm does not
     * send x and y. */
    double distance;
} saddle_own_row;

/** What an agent has besides its file. All zero: nothing. */
typedef struct saddle_peer_options {
    const char
        *data; /**< Its data file, instead of the one that agent.yml names; NULL: that one. */
    /** Your own problem, for a network file without problem and data, with the same sizes and constants at all agents;
     * NULL: the problem of the network file. If its constants are unknown, it is asked for gradients of all agents. */
    const struct saddle_problem *problem;
    /** Whether to resume from the checkpoint in the directory that agent.yml names: "auto", if it has one; "yes"; NULL:
     * begin a run, in a directory that has none. */
    const char *resume;
    const char *copy; /**< A second file that receives the model; NULL: none. */
    void *context;    /**< Passed to every function. */
    /** Called at every point of the trace; NULL: nothing is. */
    void (*row)(void *context, const saddle_own_row *row);
    /** Called with a one-line warning; NULL: nothing is. */
    void (*warning)(void *context, const char *message);
    /** The run ends soon after it becomes non-zero. NULL: it cannot be interrupted. */
    const volatile sig_atomic_t *interrupt;
} saddle_peer_options;

/**
 * Runs one agent: waits for its neighbours, sets up with them, makes all iterations, and writes the outputs that the
 * agent's file names. Fails, and says why, when a neighbour, or with a deadline every neighbour, ends or does not
 * answer for `patience` seconds.
 * @param agent_file  Path of agent.yml. Paths in it are relative to its directory.
 * @param options     NULL: none.
 */
SADDLE_API saddle_status saddle_peer_run(const char *agent_file, const saddle_peer_options *options,
                                         saddle_error *error);

#endif
