/**
 * @file run.h
 * @brief Runs: everything the program does, in a few calls.
 *
 *     saddle_settings *settings;                 // all options at their defaults
 *     saddle_settings_create(&settings, &error);
 *     saddle_settings_set(settings, "agents", "10", &error);
 *     saddle_experiment *experiment;             // data, network, problem, starting point
 *     saddle_experiment_create(&experiment, settings, NULL, &error);
 *     saddle_result *result;                     // one algorithm on it
 *     saddle_experiment_run(experiment, settings, NULL, &result, &error);
 */
#ifndef SADDLE_RUN_H
#define SADDLE_RUN_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/algorithm.h>
#include <saddle/engine.h>
#include <saddle/graph.h>
#include <saddle/problem.h>
#include <saddle/settings.h>
#include <saddle/status.h>
#include <saddle/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Agents when neither the user nor the topology says: the paper's number. */
#define SADDLE_DEFAULT_AGENTS 5

/** One row of a trace: the state after so many iterations, and what it cost to get there. */
typedef struct saddle_row {
    uint64_t iteration;    /**< t. */
    saddle_cost cost;      /**< IFO calls, rounds, messages, bytes so far. */
    double seconds;        /**< Time spent iterating; time spent measuring is left out. */
    double loss;           /**< F(xbar, ybar) + h(xbar). */
    double primal;         /**< Q(xbar) = max over Y of F(xbar, y) + h(xbar). */
    double metric;         /**< The sum of the next four. */
    double x_stationarity; /**< sum_i |x~_i - xbar|^2. */
    double x_consensus;    /**< sum_i |x_i - xbar|^2. */
    double y_consensus;    /**< sum_i |y_i - ybar|^2. */
    double y_gap;          /**< |y*(xbar) - ybar|^2. */
    double stationarity;   /**< The paper's first criterion, in its section 2. */
    double potential;      /**< Theorem 1's potential; NaN when L or mu is not known. */
} saddle_row;

/** Number of columns of a trace. */
#define SADDLE_TRACE_COLUMNS 15
/** The trace's columns, in order. */
SADDLE_API const char *const *saddle_trace_columns(void);

/** Why a run ended. */
typedef enum saddle_stop {
    SADDLE_STOP_ITERATIONS,  /**< All iterations done. */
    SADDLE_STOP_TOLERANCE,   /**< The metric fell to the tolerance. */
    SADDLE_STOP_IFO,         /**< The budget of IFO calls is spent. */
    SADDLE_STOP_ROUNDS,      /**< The budget of rounds is spent. */
    SADDLE_STOP_SECONDS,     /**< The budget of seconds is spent. */
    SADDLE_STOP_INTERRUPTED, /**< The caller asked for it. */
    SADDLE_STOP_DIVERGED     /**< A value is not finite or about to be: see saddle_result::fault. */
} saddle_stop;

/** A few words for a stop reason. */
SADDLE_API const char *saddle_stop_text(saddle_stop stop);

/** What a run is about to do. Borrowed. */
typedef struct saddle_run_info {
    const saddle_settings *settings;   /**< Effective settings: no "auto" is left. */
    const saddle_algorithm *algorithm; /**< The algorithm. */
    const saddle_problem *problem;     /**< The problem. */
    const saddle_mixing *mixing;       /**< The network. */
    saddle_spectrum spectrum;          /**< Of the mixing matrix. */
    saddle_constants constants;        /**< L, mu; 0 where unknown. */
    saddle_steps steps;                /**< Resolved step sizes. */
    const char *x_set;                 /**< X. */
    const char *y_set;                 /**< Y. */
    uint64_t iterations;               /**< The most there will be. */
    const char *resumed;               /**< The checkpoint it goes on from; NULL: none. */
    uint64_t start;                    /**< The iteration it begins at. */
} saddle_run_info;

/** What a caller may want to see of a run. Any function may be NULL. Of several processes only
 * process 0's functions are called; the interrupt of any ends the run in all. */
typedef struct saddle_hooks {
    void *context; /**< Handed to every function. */
    /** Before the first iteration. */
    void (*begin)(void *context, const saddle_run_info *info);
    /** At every trace point. */
    void (*row)(void *context, const saddle_row *row);
    /** Now and then between trace points: several times a second. */
    void (*progress)(void *context, uint64_t iteration, double seconds);
    /** Something worth knowing, once per matter; one line. */
    void (*warning)(void *context, const char *message);
    /** The run ends soon after this becomes non-zero; NULL: never. */
    const volatile sig_atomic_t *interrupt;
} saddle_hooks;

/** What a run leaves. Free with saddle_result_free(). */
typedef struct saddle_result {
    saddle_stop stop;   /**< Why it ended. */
    saddle_fault fault; /**< What diverged, when it did. */
    saddle_row *rows;   /**< The trace. */
    size_t row_count;   /**< Its length: at least 1. */
    saddle_cost cost;   /**< Of the whole run, also of what diverged after the last row. */
    size_t agents;      /**< m. */
    size_t x_dim;       /**< Length of x. */
    size_t y_dim;       /**< Length of y. */
    size_t features;    /**< Of the data; 0 without. */
    double *x_mean;     /**< xbar. */
    double *y_mean;     /**< ybar. */
    size_t local;       /**< Agents of this process: m when it is alone. */
    size_t *here;       /**< Their numbers, ascending. */
    double *x;          /**< Their x, a row each. */
    double *y;          /**< Their y, a row each. */
    saddle_outcome
        train[SADDLE_MOST_OUTCOMES]; /**< What (xbar, ybar) is worth on the agents' data. */
    size_t train_count;              /**< How many; 0: the problem has none. */
    saddle_outcome test[SADDLE_MOST_OUTCOMES]; /**< The same on held-out data, at process 0. */
    size_t test_count;                         /**< How many; 0: no held-out data. */
    saddle_settings *settings;                 /**< Effective settings. */
    char *checkpoint;  /**< The newest one, at the process that writes files; NULL: none. */
    bool saved;        /**< Whether the model was asked for and written. */
    saddle_error loss; /**< SADDLE_OK, or why a trace, outcomes or model that were asked for are not
                            (all) there: a run goes on without them, and is a whole result. */
} saddle_result;

/** Free a result. NULL is allowed. */
SADDLE_API void saddle_result_free(saddle_result *result);

/** Data, network, problem and starting point: what several algorithms can be run on. */
typedef struct saddle_experiment saddle_experiment;

/**
 * Set up an experiment from the settings. With an engine of several processes it is collective, as
 * are the calls below that take an experiment which is not const: all processes call them with the
 * same settings, each holds the data of its own agents, and an error is the same in all.
 * @param[out] out       NULL on failure. Free with saddle_experiment_free().
 * @param      settings  copied.
 * @param      problem   a user's own problem, borrowed for the experiment's lifetime; NULL: the one
 *                       that the settings name.
 */
SADDLE_API saddle_status saddle_experiment_create(saddle_experiment **out,
                                                  const saddle_settings *settings,
                                                  const saddle_problem *problem,
                                                  saddle_error *error);
/** Free an experiment. NULL is allowed. */
SADDLE_API void saddle_experiment_free(saddle_experiment *experiment);

/** Which agents are in this process. Borrowed. */
SADDLE_API const saddle_world *saddle_experiment_world(const saddle_experiment *experiment);

/** The network. Borrowed. */
SADDLE_API const saddle_mixing *saddle_experiment_mixing(const saddle_experiment *experiment);
/** The problem. Borrowed. */
SADDLE_API const saddle_problem *saddle_experiment_problem(const saddle_experiment *experiment);
/** The kind of problem it was made as; NULL for a problem given to saddle_experiment_create(). */
SADDLE_API const saddle_problem_class *saddle_experiment_kind(const saddle_experiment *experiment);
/** X with h. Borrowed. */
SADDLE_API const saddle_prox *saddle_experiment_x(const saddle_experiment *experiment);
/** Y. Borrowed. */
SADDLE_API const saddle_set *saddle_experiment_y(const saddle_experiment *experiment);
/** Constants over X and Y: known, or estimated around the start; 0 where even that failed. */
SADDLE_API saddle_constants saddle_experiment_constants(const saddle_experiment *experiment);
/** Eigenvalues of the mixing matrix; NaN when they could not be found. */
SADDLE_API saddle_spectrum saddle_experiment_spectrum(const saddle_experiment *experiment);

/**
 * The step sizes that a run with these settings would use.
 * @param settings  NULL: those of the experiment.
 */
SADDLE_API saddle_status saddle_experiment_steps(saddle_experiment *experiment,
                                                 const saddle_settings *settings, saddle_steps *out,
                                                 saddle_error *error);

/**
 * Run one algorithm. What concerns algorithm, steps, stopping, threads, trace and model is read from
 * `settings`; problem, data, network, start, seed and engine are the experiment's. The trace and
 * the model go to the files that the settings name, written by process 0. A failed self-check ends the run with
 * SADDLE_CHECK_FAILED; divergence is a result, and so is a run whose files could not be written to the
 * end: see saddle_result::loss.
 *
 * @param settings  NULL: those of the experiment.
 * @param hooks     NULL: none.
 */
SADDLE_API saddle_status saddle_experiment_run(saddle_experiment *experiment,
                                               const saddle_settings *settings,
                                               const saddle_hooks *hooks, saddle_result **out,
                                               saddle_error *error);

/** Write xbar, ybar and all copies, with what it takes to use them (<saddle/predictor.h>), as .npz, or
 * as one record if the name ends in .npy. Atomic. SADDLE_UNSUPPORTED for one of several processes,
 * which has only some of the copies: there the run itself writes the model. */
SADDLE_API saddle_status saddle_result_save(const saddle_result *result, const char *path,
                                            saddle_error *error);

/**
 * The trace of a result, as saddle_trace_read() would read it, without a file: settings, lengths of x
 * and y, rows, why it ended. Its path is "ALGORITHM-seedN.csv".
 */
SADDLE_API saddle_status saddle_result_trace(const saddle_result *result, saddle_trace **out,
                                             saddle_error *error);

/**
 * How far each agent is from consensus in a model that saddle_result_save() wrote:
 * |x_i - xbar|^2 + |y_i - ybar|^2, xbar and ybar being the means of the copies in the file.
 * @param distance  receives `agents` numbers; a model with another number of copies is refused.
 */
SADDLE_API saddle_status saddle_model_spread(const char *path, size_t agents, double *distance,
                                             saddle_error *error);

/** What the paper's theorems say about an experiment. */
typedef struct saddle_theory {
    double lipschitz;        /**< L. */
    double strong_concavity; /**< mu. */
    int estimated;           /**< Whether L or mu is an estimate. */
    double lambda;           /**< Of the mixing matrix. */
    double c1;               /**< (1 - lambda^2) / (1 + lambda^2). */
    double beta;             /**< min(tau / 12, 1/3). */
    double tau;              /**< The tau that was used. */
    double alpha;            /**< 1 / (4 L). */
    double eta_bound;        /**< Theorem 1's bound on eta. */
    double nu_bound;         /**< Theorem 1's bound on nu, at `eta`. */
    double eta;              /**< Half the bound: at the bounds themselves the C may vanish. */
    double nu;               /**< Half the bound. */
    uint64_t q;              /**< ceil(sqrt(n)). */
    double C1;               /**< Coefficient of x consensus. */
    double C2;               /**< Coefficient of x stationarity. */
    double C2_plus;          /**< Theorem 2's C2'. */
    double C3;               /**< Coefficient of y consensus. */
    double C4;               /**< Coefficient of |y~ - ybar|^2. */
    double rate;             /**< min(C1, C2, C3, nu L^2 / 2). */
    double rate_plus;        /**< The same with C2'. */
    double c_gamma_bound;    /**< Theorem 2's lower bound on c_gamma. */
    double error_factor;     /**< Theorem 2's floor is this times epsilon / c_epsilon. */
    double gap;              /**< p_0 - Q*; NaN when no lower bound of Q is known. */
    double epsilon;          /**< Asked for: mean metric at most epsilon^2. */
    double iterations;       /**< Guaranteed by Theorem 1 for epsilon; NaN when unknown. */
    double iterations_plus;  /**< Guaranteed by Theorem 2; NaN when unknown or out of reach. */
} saddle_theory;

/**
 * Evaluate Theorems 1 and 2. SADDLE_UNSUPPORTED when L or mu is neither known nor could be
 * estimated.
 * @param tau      the proximal weight to assume.
 * @param epsilon  target accuracy.
 */
SADDLE_API saddle_status saddle_experiment_theory(saddle_experiment *experiment, double tau,
                                                  double epsilon, double c_epsilon, double c_gamma,
                                                  saddle_theory *out, saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
