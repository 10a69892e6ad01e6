/**
 * @file saddle.h
 * @brief Saddle: decentralized constrained min-max learning. The one header to include.
 */
#ifndef SADDLE_SADDLE_H
#define SADDLE_SADDLE_H

#include <saddle/algorithm.h>
#include <saddle/checkpoint.h>
#include <saddle/data.h>
#include <saddle/graph.h>
#include <saddle/instance.h>
#include <saddle/option.h>
#include <saddle/plan.h>
#include <saddle/plugin.h>
#include <saddle/predictor.h>
#include <saddle/problem.h>
#include <saddle/run.h>
#include <saddle/set.h>
#include <saddle/status.h>
#include <saddle/text.h>
#include <saddle/trace.h>
#include <saddle/tune.h>
#include <saddle/world.h>

#endif
