/* The steps of running one agent of a network of several owners. */
#pragma once

#include "lab/peer_files.h"
#include "run/run.h"

/* Opens the session of an agent, which may only check its neighbours, and clears its secret key. The session borrows
 * the files. */
saddle_status peer_session_open(peer_files *files, bool checks, const saddle_peer_options *with,
                                saddle_session **out, saddle_error *error);
/* Meets the neighbours, sets up and iterates, and waits until the neighbours have all messages. */
saddle_status peer_session_solve(const peer_files *files, const saddle_peer_options *with,
                                 saddle_session *session, saddle_error *error);
