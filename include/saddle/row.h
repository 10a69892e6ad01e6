/**
 * @file row.h
 * @brief A row of a trace: the measurements of a run at one iteration.
 */
#ifndef SADDLE_ROW_H
#define SADDLE_ROW_H

#include <stdint.h>

/** The cost of a run so far, summed over all agents. */
typedef struct saddle_cost {
    uint64_t ifo;      /**< Gradient evaluations (IFO calls): one sample's gradient in x and y. */
    uint64_t rounds;   /**< Communication rounds. */
    uint64_t messages; /**< Messages sent. */
    uint64_t bytes;    /**< Bytes of payload sent. */
    /** Simulated seconds under the plan's link model: the latest of the agents' clocks. NaN without
     * a link model. */
    double network_seconds;
    /** The largest number of rounds since an agent last used a message from one of its neighbours;
     * 0 if all used one in the last round. NaN with reliable links. */
    double age;
} saddle_cost;

/** One row of a trace: the state after some iterations, and the cost of reaching it. */
typedef struct saddle_row {
    uint64_t iteration; /**< t. */
    saddle_cost cost;   /**< The cost so far. */
    double seconds;     /**< Time spent iterating, without the time spent measuring. */
    double present;     /**< Number of agents that are present; NaN without churn. */
    /** Number of connected components of the agents that are present; NaN without churn. The fields
     * below describe the largest component. */
    double components;
    double loss;           /**< F(xbar, ybar) + h(xbar). */
    double primal;         /**< Q(xbar) = max over Y of F(xbar, y) + h(xbar). */
    double metric;         /**< The sum of the next four fields. */
    double x_stationarity; /**< sum_i |x~_i - xbar|^2. */
    double x_consensus;    /**< sum_i |x_i - xbar|^2. */
    double y_consensus;    /**< sum_i |y_i - ybar|^2. */
    double y_gap;          /**< |y*(xbar) - ybar|^2. */
    double stationarity;   /**< The first convergence criterion of the paper's section 2. */
    double potential;      /**< The potential of Theorem 1; NaN when L or mu is unknown. */
    /** What is missing to a solution, relative to what can be gained from a reference; NaN where it
     * was not measured. See ::saddle_gap. */
    double gap;
} saddle_row;

#endif
