/**
 * @file instance.h
 * @brief Instances: a problem on a network with its sets and a starting point, for any number of
 * runs.
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

/** The number of agents if neither the user nor the topology says: that of the paper. */
#define SADDLE_DEFAULT_AGENTS 5

/** Wall-clock seconds that this process spent on making an instance, including waiting for
 * others. */
typedef struct saddle_setup_times {
    double network;   /**< Graph, weights, spectrum, and placing the agents on processes. */
    double reading;   /**< Reading or generating data, including held-out data. */
    double splitting; /**< Splitting rows between agents, and converting labels. */
    double problem;   /**< The problem, its sets and the starting point. */
    double constants; /**< Estimating L and mu, if necessary. */
} saddle_setup_times;

/** An instance. Read only. */
typedef struct saddle_instance {
    const saddle_world *world;            /**< Which agents are in this process. */
    const saddle_problem *problem;        /**< The problem. */
    const saddle_graph *graph;            /**< The network. */
    const saddle_mixing *mixing;          /**< The mixing weights. */
    const struct saddle_link_rule *links; /**< Which messages arrive, and how they are mixed. */
    const struct saddle_compression *compression; /**< How messages are compressed; NULL: not. */
    const struct saddle_clip_rule *clipping; /**< How received messages are clipped; NULL: not. */
    const struct saddle_churn *churn;        /**< Which agents leave and join when; NULL: none. */
    saddle_spectrum spectrum;              /**< Of the weights; NaN if it could not be computed. */
    const saddle_set *x_set;               /**< X. */
    const saddle_set *y_set;               /**< Y. */
    const saddle_regularizer *regularizer; /**< h. */
    const saddle_prox *x_prox;             /**< h over X. */
    saddle_constants constants;    /**< L and mu, known or estimated; 0 if the estimate failed. */
    const double *x0;              /**< The starting point in x, the same for all agents. */
    const double *y0;              /**< The starting point in y, the same for all agents. */
    uint64_t seed;                 /**< The seed of all random numbers. */
    size_t features;               /**< Number of features of the data; 0 without data. */
    const saddle_columns *columns; /**< Names of the data's columns; NULL: none. */
    /** How columns were scaled, an entry per feature: a value a became (a - mean) / deviation. NULL:
     * they were not. */
    const double *mean;
    const double *deviation;        /**< NULL: columns were not scaled. */
    const saddle_dataset *held_out; /**< Held-out rows, in process 0; NULL: none. */
    const saddle_problem_class
        *kind; /**< The problem's class; NULL for the caller's own problem. */
    /** The plan it was made from, with those automatic values resolved that concern the
     * instance. */
    const saddle_plan *plan;
    saddle_setup_times times; /**< How long it took to make it. */
    size_t copies;            /**< How many agents each agent counts as in sums over agents. */
    struct saddle_instance_parts *parts; /**< Internal: what it owns. */
    double sent; /**< The share of their entries that messages contain; 1: all. */
} saddle_instance;

/**
 * Makes an instance from a plan. If the engine has several processes, this call and all calls that
 * take the instance are collective: every process calls them with the same plan and holds the data
 * of its own agents, and all of them get the same error.
 * @param[out] out   NULL on failure. Free with saddle_instance_free().
 * @param      plan  copied; the objects that it points to are borrowed for the instance's lifetime.
 */
SADDLE_API saddle_status saddle_instance_create(saddle_instance **out, const saddle_plan *plan,
                                                saddle_error *error);
/** Frees an instance. NULL is allowed. */
SADDLE_API void saddle_instance_free(saddle_instance *instance);
/** Returns the rows of an agent, scaled, with labels as the problem needs them. NULL: the problem
 * is not made from data, or the agent is in another process. Borrowed. */
SADDLE_API const saddle_dataset *saddle_instance_rows(const saddle_instance *instance,
                                                      size_t agent);

/**
 * Resolves the step sizes of a plan on this instance by the general rules, which choose nu, eta,
 * tau, alpha and q. Those for which algorithms have their own rules, such as eta_x and eta_y, stay
 * NaN; the values that a run used are in saddle_run_info::steps and in saddle_result::plan.
 */
SADDLE_API saddle_status saddle_instance_steps(const saddle_instance *instance,
                                               const saddle_plan *plan, saddle_steps *out,
                                               saddle_error *error);

/**
 * A bound that is proved for given steps (docs/theory.md): the sum of the expected metric over any
 * T iterations is at most
 *
 *     value (Q(xbar_0) - Q*) + y_gap |ybar_0 - y*|^2 + trackers S_0 + refresh A_0
 *         + level T epsilon / c_epsilon.
 *
 * S_0 is the squared distance of the first trackers from their means, A_0 the squared error of the
 * first refreshes.
 */
typedef struct saddle_guarantee {
    bool holds;      /**< Whether the steps are small enough; otherwise the factors are infinite. */
    double value;    /**< Factor of Q(xbar_0) - Q*. */
    double y_gap;    /**< Factor of |ybar_0 - y*|^2. */
    double trackers; /**< Factor of S_0. */
    double refresh;  /**< Factor of A_0. */
    double level;    /**< Factor of T epsilon / c_epsilon; 0 for PRECISION. */
    double total; /**< The bound at the instance's start, without the level term; NaN: unknown. */
    double iterations; /**< T after which the mean metric is at most epsilon^2; NaN: unknown. */
} saddle_guarantee;

/** The constants of Theorems 1 and 2 as the paper prints them. docs/theory.md lists their
 * errors. */
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
    double C2_carried;    /**< C2 with the factor that the paper drops between its lemma and C2. */
    double rate;          /**< min(C1, C2, C3, nu L^2 / 2). */
    double c_gamma_bound; /**< Theorem 2's lower bound on c_gamma. */
} saddle_printed_theorems;

/** What is proved about PRECISION and PRECISION+ on an instance. */
typedef struct saddle_theory {
    double lipschitz;           /**< L. */
    double strong_concavity;    /**< mu. */
    bool estimated;             /**< Whether L or mu is an estimate. */
    double lambda;              /**< lambda of the mixing matrix: see ::saddle_spectrum. */
    double tau;                 /**< The tau that was given. */
    double alpha;               /**< 1 / L. */
    double eta;                 /**< Step in y; (nu, eta) is the pair with the best guarantee. */
    double nu;                  /**< Step in x. */
    uint64_t q;                 /**< ceil(sqrt(n)) for the largest n_i. */
    uint64_t batch;             /**< ceil(sqrt(n)) for the smallest n_i: the smallest mini-batch. */
    double epsilon;             /**< The target: a mean metric of at most epsilon^2. */
    saddle_guarantee precision; /**< For PRECISION with these steps. */
    saddle_guarantee
        precision_plus;   /**< For PRECISION+; its first refresh has `batch` samples or more. */
    double least_c_gamma; /**< PRECISION+ has a guarantee for every c_gamma above this. */
    double value_gap;     /**< Q(xbar_0) - Q*; NaN if no lower bound of Q is known. */
    double start_metric;  /**< The metric at the start; NaN if value_gap is. */
    saddle_printed_theorems printed; /**< The paper's constants, for comparison. */
} saddle_theory;

#endif
