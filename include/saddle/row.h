/**
 * @file row.h
 * @brief What is measured of a run at one iteration: a row of its trace.
 */
#ifndef SADDLE_ROW_H
#define SADDLE_ROW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What has been spent so far, over all agents. */
typedef struct saddle_cost {
    uint64_t ifo;      /**< Evaluations of one sample's gradient pair (IFO calls). */
    uint64_t rounds;   /**< Communication rounds. */
    uint64_t messages; /**< Messages sent. */
    uint64_t bytes;    /**< Bytes of payload sent. */
    /** Simulated seconds under the plan's link model: the clock of the agent that is furthest. NaN
     * without a link model. */
    double network_seconds;
    /** The most rounds since an agent last used a message of one of its neighbours; 0: all were used in the last
     * round. NaN with reliable links. */
    double age;
} saddle_cost;

/** One row of a trace: the state after some iterations, and what it cost to get there. */
typedef struct saddle_row {
    uint64_t iteration; /**< t. */
    saddle_cost cost;   /**< IFO calls, rounds, messages, bytes, simulated seconds so far. */
    double seconds;     /**< Time spent iterating; time spent measuring is left out. */
    double present;     /**< Agents that are present; NaN without churn. */
    double
        components; /**< Parts into which those present have fallen; what follows is of the largest. NaN without churn. */
    double loss;    /**< F(xbar, ybar) + h(xbar). */
    double primal;  /**< Q(xbar) = max over Y of F(xbar, y) + h(xbar). */
    double metric;  /**< The sum of the next four. */
    double x_stationarity; /**< sum_i |x~_i - xbar|^2. */
    double x_consensus;    /**< sum_i |x_i - xbar|^2. */
    double y_consensus;    /**< sum_i |y_i - ybar|^2. */
    double y_gap;          /**< |y*(xbar) - ybar|^2. */
    double stationarity;   /**< The paper's first criterion, in its section 2. */
    double potential;      /**< Theorem 1's potential; NaN when L or mu is not known. */
} saddle_row;

#ifdef __cplusplus
}
#endif
#endif
