/* The state of a running agent: on the progress line, and to `saddle peer status` over a socket beside the agent's
 * file, which only its owner can open. */
#pragma once

#include "cli.h"
#include "peers/session.h"
#include "run/run.h"

typedef struct peer_monitor peer_monitor;

/* Returns whether an agent runs with a file. */
bool peer_monitor_runs(const char *agent_file);
/* Begins to answer; the session is borrowed. Where no socket can be made, there is a warning. Stop with
 * peer_monitor_stop(), which accepts NULL. */
saddle_status peer_monitor_start(peer_monitor **out, const char *agent_file,
                                 const saddle_session *session, uint64_t iterations,
                                 saddle_error *error);
/* Implements saddle_own_outputs::row. */
void peer_monitor_row(void *monitor, const saddle_own_row *row);
/* Prints a warning of the run. */
void peer_monitor_warn(void *monitor, const char *message);
/* Returns the last row. */
saddle_own_row peer_monitor_last(const peer_monitor *monitor);
void peer_monitor_stop(peer_monitor *monitor);

/* Prints the state of the agent that runs with a file. */
saddle_status peer_monitor_print(const char *agent_file, saddle_error *error);
