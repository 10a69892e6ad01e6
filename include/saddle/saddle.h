/**
 * @file saddle.h
 * @brief Saddle: decentralized constrained min-max learning. Programs include this header.
 *
 *     plan.h       what to do: problem, network, algorithm, limits, outputs
 *     run.h        saddle_solve() and its result
 *     instance.h   a problem on a network, shared by any number of runs
 *     problem.h    problems                    set.h     constraint sets and regularizers
 *     algorithm.h  algorithms                  graph.h   topologies and mixing weights
 *     data.h       data sets                   world.h   processes that share the agents
 *     option.h     your own options            plugin.h  your own code in shared objects
 *     status.h     errors                      text.h    strict reading of numbers
 *     peer.h       agents of several owners
 *
 * <saddle/lab.h> adds traces, saved models, tuning and the bounds of the theory.
 */
#ifndef SADDLE_SADDLE_H
#define SADDLE_SADDLE_H

#include <saddle/algorithm.h>
#include <saddle/data.h>
#include <saddle/graph.h>
#include <saddle/instance.h>
#include <saddle/option.h>
#include <saddle/peer.h>
#include <saddle/plan.h>
#include <saddle/plugin.h>
#include <saddle/problem.h>
#include <saddle/row.h>
#include <saddle/run.h>
#include <saddle/set.h>
#include <saddle/status.h>
#include <saddle/text.h>
#include <saddle/world.h>

#endif
