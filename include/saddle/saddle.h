/**
 * @file saddle.h
 * @brief Saddle: decentralized constrained min-max learning. The header to include.
 *
 *     plan.h       what to do: problem, network, algorithm, limits, outputs     run.h     saddle_solve()
 *     instance.h   a problem on a network, made once for any number of runs     data.h    data sets
 *     problem.h    what is optimized           set.h     constraint sets and regularizers
 *     algorithm.h  what one agent does         graph.h   topologies and mixing weights
 *     option.h     options of your own         plugin.h  your own code in shared objects
 *     status.h     errors                      text.h    strict reading of numbers
 *     world.h      processes that share the agents
 *
 * <saddle/lab.h> adds traces, saved models, tuning and the theory's bounds.
 */
#ifndef SADDLE_SADDLE_H
#define SADDLE_SADDLE_H

#include <saddle/algorithm.h>
#include <saddle/data.h>
#include <saddle/graph.h>
#include <saddle/instance.h>
#include <saddle/option.h>
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
