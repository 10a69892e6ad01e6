/**
 * @file tune.h
 * @brief Searching for good step sizes within a stated number of IFO calls.
 *
 * Successive halving (Karnin, Koren, Somekh, ICML 2013; Jamieson, Talwalkar, AISTATS 2016) over a
 * log grid around an algorithm's default step sizes. In the first rung every candidate gets the
 * same small allotment of IFO calls; the better half goes on to the next rung with at least twice
 * as many, from the start again, until two are left. The default is a candidate and stays to the
 * last rung, so that the answer is never worse than it there. Every evaluation counts against the
 * budget, which is never exceeded: an allotment leaves room for the iteration that a run finishes.
 *
 *     saddle_tuning *tuning;
 *     saddle_tune_inputs inputs = {.budget = 1000000};
 *     saddle_tune(&tuning, experiment, settings, &inputs, NULL, &error);
 *     saddle_tuning_save(tuning, "best.yaml", &error);
 */
#ifndef SADDLE_TUNE_H
#define SADDLE_TUNE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/algorithm.h>
#include <saddle/plan.h>
#include <saddle/run.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** IFO calls for every sample of the problem when no budget is given. */
#define SADDLE_TUNE_PASSES 2000
/** The most candidates of a search. */
#define SADDLE_TUNE_MOST_CANDIDATES 4096
/** The most rungs: 2^12 candidates are halved 11 times. */
#define SADDLE_TUNE_MOST_RUNGS 12
/** Room for the value of an option as text. */
#define SADDLE_TUNE_TEXT 32

/** What is to be small at the end of a candidate's run. */
typedef enum saddle_objective {
    SADDLE_OBJECTIVE_METRIC,      /**< saddle_row::metric */
    SADDLE_OBJECTIVE_PRIMAL,      /**< saddle_row::primal; the loss itself a bad y makes small */
    SADDLE_OBJECTIVE_STATIONARITY /**< saddle_row::stationarity */
} saddle_objective;

/** "metric", "primal", "stationarity". */
SADDLE_API const char *saddle_objective_text(saddle_objective objective);

/** What a search is made from; zeros are sensible. */
typedef struct saddle_tune_inputs {
    uint64_t budget;   /**< IFO calls in all; 0: SADDLE_TUNE_PASSES for every sample. */
    size_t candidates; /**< How many to try, the default among them; 0: what the grid has and the
                            budget can pay for. */
    saddle_objective objective; /**< What is to be small. */
    const char *hold;           /**< Options that keep their value, "nu,eta"; NULL: none. */
    const char *log;            /**< A CSV file that gets every evaluation; NULL: none. */
    bool resume; /**< Go on from the log, if there is one; otherwise it must not exist yet. */
} saddle_tune_inputs;

/** One evaluation: a run of one candidate. */
typedef struct saddle_trial {
    size_t rung;         /**< From 0. */
    size_t candidate;    /**< Its number. */
    uint64_t allotment;  /**< The most IFO calls it might make. */
    uint64_t ifo;        /**< Those it made. */
    uint64_t iterations; /**< How far it came. */
    bool diverged;       /**< A value was not finite, or the objective grew tenfold. */
    double value;        /**< The objective at the end; infinite when it diverged. */
} saddle_trial;

/** A search and its answer. Free with saddle_tuning_free(). */
typedef struct saddle_tuning {
    const saddle_algorithm *algorithm;      /**< Whose step sizes. */
    struct saddle_algorithm_choice *choice; /**< Where it is from. The library's. */
    saddle_objective objective;             /**< What is to be small. */
    uint64_t budget;                        /**< IFO calls that may be made. */
    uint64_t spent;                         /**< IFO calls that were made. */
    char *hold;                             /**< Options that keep their value; NULL: none. */
    size_t option_count;                    /**< How many options are searched. */
    const saddle_option **option;           /**< Which. */
    size_t candidates;                      /**< How many candidates; number 0 is the default. */
    char (*value)[SADDLE_TUNE_TEXT];        /**< See saddle_tuning_value(). */
    size_t rungs;                           /**< How many rungs. */
    size_t field[SADDLE_TUNE_MOST_RUNGS];   /**< Candidates that take part in each rung. */
    saddle_trial *trials;                   /**< All evaluations so far, in their order. */
    size_t trial_count;                     /**< How many. */
    size_t resumed;                         /**< How many of them were read from the log. */
    bool finished;                          /**< False: interrupted before the last evaluation. */
    size_t *ranking;  /**< Candidates, best first: by rung reached, then by value. */
    saddle_plan plan; /**< What the user gave, with the best candidate's values. */
} saddle_tuning;

/** What a caller may want to see of a search. Any function may be NULL. */
typedef struct saddle_tune_hooks {
    void *context; /**< Handed to every function. */
    /** Before the first evaluation. */
    void (*begin)(void *context, const saddle_tuning *tuning);
    /** After every evaluation that was not read from the log. */
    void (*trial)(void *context, const saddle_tuning *tuning, const saddle_trial *trial);
    /** After a rung; its best evaluation. */
    void (*rung)(void *context, const saddle_tuning *tuning, const saddle_trial *best);
    /** The search ends soon after this becomes non-zero; NULL: never. */
    const volatile sig_atomic_t *interrupt;
} saddle_tune_hooks;

/**
 * Search for good step sizes of one algorithm. The same inputs give the same answer, for any number
 * of threads and however often the search was interrupted and resumed.
 *
 * @param[out] out        NULL on failure. An interrupted search is a result: see `finished`.
 * @param      plan    as for saddle_run(); it names the algorithm; limits and outputs are not used. NULL:
 *                     the instance's. Values of step sizes that are given take the place of the
 *                     defaults.
 * @param      inputs  NULL: all zeros.
 * @param      hooks   NULL: none.
 */
SADDLE_API saddle_status saddle_tune(saddle_tuning **out, const saddle_instance *instance,
                                     const saddle_plan *plan, const saddle_tune_inputs *inputs,
                                     const saddle_tune_hooks *hooks, saddle_error *error);
/**
 * The least budget that saddle_tune() would accept for as many candidates as it would choose: no IFO
 * call is made. Parameters as there; none may be NULL.
 */
SADDLE_API saddle_status saddle_tune_least_budget(const saddle_instance *instance,
                                                  const saddle_plan *plan,
                                                  const saddle_tune_inputs *inputs, uint64_t *out,
                                                  saddle_error *error);
/** Free a search. NULL is allowed. */
SADDLE_API void saddle_tuning_free(saddle_tuning *tuning);

/** The value of a searched option in a candidate, as text. Borrowed. */
SADDLE_API const char *saddle_tuning_value(const saddle_tuning *tuning, size_t candidate,
                                           size_t option);
/** A candidate's last evaluation; NULL: none yet. Borrowed. */
SADDLE_API const saddle_trial *saddle_tuning_last(const saddle_tuning *tuning, size_t candidate);
/** Write the settings, as a configuration file for `saddle run --config`. Atomic. */
SADDLE_API saddle_status saddle_tuning_save(const saddle_tuning *tuning, const char *path,
                                            saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
