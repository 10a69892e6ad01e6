/*
 * Processes for tests: threads that share nothing but what a world carries.
 *
 * Every thread makes an instance of its own on `test_thread_world_engine`, as every process of a run on
 * several machines does. The engine is the plainest there is: each thread steps its agents in
 * turn, and all meet after a round.
 */
#ifndef SADDLE_TESTS_THREAD_WORLD_H
#define SADDLE_TESTS_THREAD_WORLD_H

#include "engines/engine.h"

/* The most processes of a thread_world. */
enum { MOST_RANKS = 8 };

/* What a process does. */
typedef void test_thread_world_job(void *context, size_t rank);

/* Run a job in `ranks` processes and wait for their end. */
void test_thread_world_run(size_t ranks, test_thread_world_job *job, void *context);

/* Agents are dealt out from the last process to the first, so that agent 0 is not at process 0. */
extern const saddle_engine_class test_thread_world_engine;

#endif
