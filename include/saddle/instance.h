/**
 * @file instance.h
 * @brief What algorithms run on: a problem, a network, sets, and a starting point.
 *
 *     saddle_instance *instance;
 *     saddle_instance_create(&instance, &plan, &error);            // once
 *     saddle_run(instance, &plan, NULL, &result, &error);          // any number of algorithms
 *     saddle_instance_free(instance);
 */
#ifndef SADDLE_INSTANCE_H
#define SADDLE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/graph.h>
#include <saddle/plan.h>
#include <saddle/problem.h>
#include <saddle/set.h>
#include <saddle/status.h>
#include <saddle/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Agents when neither the user nor the topology says: the paper's number. */
#define SADDLE_DEFAULT_AGENTS 5

/** Seconds by the clock that making an instance took in this process, with waiting for others. */
typedef struct saddle_setup_times {
    double network;   /**< Graph, weights, spectrum, and placing the agents. */
    double reading;   /**< Reading or generating data, those held out too. */
    double splitting; /**< Giving rows to agents, and making labels. */
    double problem;   /**< The problem, its sets and the starting point. */
    double constants; /**< L and mu where they must be estimated. */
} saddle_setup_times;

/** An instance. Everything is for reading only. */
typedef struct saddle_instance {
    const saddle_world *world;            /**< Which agents are in this process. */
    const saddle_problem *problem;        /**< What is optimized. */
    const saddle_graph *graph;            /**< Which agents communicate. */
    const saddle_mixing *mixing;          /**< With which weights. */
    const struct saddle_link_rule *links; /**< Which messages arrive, and how they are mixed. */
    const struct saddle_compression
        *compression;                      /**< How messages are compressed; NULL: they are not. */
    const struct saddle_churn *churn;      /**< Who leaves and joins when; NULL: nobody. */
    saddle_spectrum spectrum;              /**< Of the weights; NaN when it could not be found. */
    const saddle_set *x_set;               /**< X. */
    const saddle_set *y_set;               /**< Y. */
    const saddle_regularizer *regularizer; /**< h. */
    const saddle_prox *x_prox;             /**< h over X. */
    saddle_constants constants;     /**< L and mu, known or estimated; 0 where even that failed. */
    const double *x0;               /**< Starting point, the same at all agents. */
    const double *y0;               /**< Starting point, the same at all agents. */
    uint64_t seed;                  /**< For everything random. */
    size_t features;                /**< Columns of the data; 0 without data. */
    const saddle_columns *columns;  /**< Names of the data's columns; NULL: none. */
    const saddle_dataset *held_out; /**< Held-out rows, at process 0; NULL: none. */
    const saddle_problem_class *kind; /**< Of a problem made here; NULL for the caller's own. */
    const saddle_plan *plan;  /**< The plan it was made from, with its automatic values filled
                                              in where they concern the instance. */
    saddle_setup_times times; /**< How long it took to make it. */
    size_t copies;            /**< Agents that each agent stands for in sums over agents. */
    struct saddle_instance_parts *parts; /**< What it owns. */
} saddle_instance;

/**
 * Make an instance from a plan. With an engine of several processes it is collective, as are the calls
 * that take the instance: all processes call them with the same plan, each holds the data of its own
 * agents, and an error is the same in all.
 * @param[out] out   NULL on failure. Free with saddle_instance_free().
 * @param      plan  copied; the objects that it points to are borrowed for the instance's lifetime.
 */
SADDLE_API saddle_status saddle_instance_create(saddle_instance **out, const saddle_plan *plan,
                                                saddle_error *error);
/** Free an instance. NULL is allowed. */
SADDLE_API void saddle_instance_free(saddle_instance *instance);

/**
 * The step sizes that a plan has on this instance by the general rules: what it gives, and nu, eta, tau, alpha and
 * q where it gives none. An algorithm may have its own rules for others, such as eta_x and eta_y, which stay NaN here:
 * those of a run are in saddle_run_info::steps and in saddle_result::plan.
 */
SADDLE_API saddle_status saddle_instance_steps(const saddle_instance *instance,
                                               const saddle_plan *plan, saddle_steps *out,
                                               saddle_error *error);

/**
 * What is proved about a run with given steps (docs/theory.md): the sum of the expected metric over any T iterations is
 * at most value (Q(xbar_0) - Q*) + y_gap |ybar_0 - y*|^2 + trackers S_0 + refresh A_0 + level T epsilon / c_epsilon. S_0 is
 * the squared distance of the first trackers from their means, A_0 the squared error of the first refreshes.
 */
typedef struct saddle_guarantee {
    bool holds;      /**< Whether the steps are short enough; otherwise the factors are infinite. */
    double value;    /**< Factor of Q(xbar_0) - Q*. */
    double y_gap;    /**< Factor of |ybar_0 - y*|^2. */
    double trackers; /**< Factor of S_0. */
    double refresh;  /**< Factor of A_0. */
    double level;    /**< Factor of T epsilon / c_epsilon; 0 for PRECISION. */
    double total;    /**< The bound but for the level, at the instance's start; NaN: unknown. */
    double iterations; /**< T after which the mean metric is at most epsilon^2; NaN: unknown. */
} saddle_guarantee;

/** Theorems 1 and 2 as the paper prints them. docs/theory.md says where they go wrong. */
typedef struct saddle_printed_theorems {
    double c1;            /**< (1 - lambda^2) / (1 + lambda^2). */
    double beta;          /**< min(tau / 12, 1/3). */
    double alpha;         /**< 1 / (4 L). */
    double eta_bound;     /**< Bound on eta. */
    double nu_bound;      /**< Bound on nu, at half the bound on eta. */
    double C1;            /**< Coefficients at half of both bounds: of x consensus, */
    double C2;            /**< of x stationarity, */
    double C2_plus;       /**< the same in Theorem 2, */
    double C3;            /**< of y consensus, */
    double C4;            /**< and of |y~ - ybar|^2. */
    double C2_carried;    /**< C2 with the factor that the paper loses between its lemma and C2. */
    double rate;          /**< min(C1, C2, C3, nu L^2 / 2). */
    double c_gamma_bound; /**< Theorem 2's lower bound on c_gamma. */
} saddle_printed_theorems;

/** What is proved about PRECISION and PRECISION+ on an instance. */
typedef struct saddle_theory {
    double lipschitz;           /**< L. */
    double strong_concavity;    /**< mu. */
    bool estimated;             /**< Whether L or mu is an estimate. */
    double lambda;              /**< Of the mixing matrix. */
    double tau;                 /**< The tau that was used. */
    double alpha;               /**< 1 / L. */
    double eta;                 /**< Step in y; with nu, the pair with the best guarantee. */
    double nu;                  /**< Step in x. */
    uint64_t q;                 /**< ceil(sqrt(n)), and the mini-batch. */
    double epsilon;             /**< Asked for: mean metric at most epsilon^2. */
    saddle_guarantee precision; /**< For PRECISION with these steps. */
    saddle_guarantee
        precision_plus;   /**< For PRECISION+, whose first refresh has a mini-batch at least. */
    double least_c_gamma; /**< Above it PRECISION+ has a guarantee. */
    double value_gap;     /**< Q(xbar_0) - Q*; NaN: no lower bound of Q is known. */
    double start_metric;  /**< The metric at the start; NaN with it. */
    saddle_printed_theorems printed; /**< For comparison. */
} saddle_theory;

#ifdef __cplusplus
}
#endif
#endif
