/*
 * Processes for tests: threads that share only what a world transmits.
 *
 * Every thread creates its own instance on `test_thread_world_engine`, like every process of a run on
 * several machines. The engine is as simple as possible: each thread runs its agents in turn, and all
 * threads meet at a barrier after a round.
 */
#pragma once

#include "engines/engine.h"

/* The most processes of a world. */
enum { MOST_RANKS = 8 };

/* What a process does. */
typedef void test_thread_world_job(void *context, size_t rank);

/* Runs a job in `ranks` processes and waits for them to end. */
void test_thread_world_run(size_t ranks, test_thread_world_job *job, void *context);

/* Agents are distributed from the last process to the first, so that agent 0 is not at process 0. */
extern const saddle_engine_class test_thread_world_engine;
