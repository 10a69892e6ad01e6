/**
 * @file run.h
 * @brief Runs: one algorithm on an instance, from a plan to a result.
 *
 *     saddle_solve(&my_problem, &plan, &result, &error);           // a problem of the caller's own
 *
 *     saddle_instance_create(&instance, &plan, &error);            // or in two steps
 *     saddle_run(instance, &plan, NULL, &result, &error);
 *
 *     plan.outputs.resume = "my-checkpoints";                      // resuming a run, bit for bit
 *     saddle_plan_resume(&plan, NULL, &error);                     // takes over the plan that wrote them
 *     saddle_solve(NULL, &plan, &result, &error);
 */
#ifndef SADDLE_RUN_H
#define SADDLE_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/algorithm.h>
#include <saddle/instance.h>
#include <saddle/plan.h>
#include <saddle/row.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of columns that a trace can have, besides outcomes. */
#define SADDLE_TRACE_COLUMNS 19
/** The name of a column of a trace, from 0, below SADDLE_TRACE_COLUMNS. */
SADDLE_API const char *saddle_trace_column_name(size_t column);
/** What a row has in that column. */
SADDLE_API double saddle_row_cell(const saddle_row *row, size_t column);
/** Whether the trace of a row's run has that column: all but network_seconds, which only runs with a link model
 * have, and age, which runs with reliable links do not have. */
SADDLE_API bool saddle_row_has(const saddle_row *row, size_t column);

/** Why a run ended. */
typedef enum saddle_stop {
    SADDLE_STOP_ITERATIONS,      /**< All iterations done. */
    SADDLE_STOP_TOLERANCE,       /**< The metric fell to the tolerance. */
    SADDLE_STOP_IFO,             /**< The budget of IFO calls is spent. */
    SADDLE_STOP_ROUNDS,          /**< The budget of rounds is spent. */
    SADDLE_STOP_SECONDS,         /**< The budget of seconds is spent. */
    SADDLE_STOP_NETWORK_SECONDS, /**< The budget of simulated seconds (max-network-seconds) is spent. */
    SADDLE_STOP_CONDITION,       /**< The condition of stop-when holds. */
    SADDLE_STOP_NO_GAIN,         /**< An outcome has not improved for stop-after trace points. */
    SADDLE_STOP_INTERRUPTED,     /**< The caller asked for it. */
    SADDLE_STOP_DIVERGED /**< A value is not finite or about to be: see saddle_result::fault. */
} saddle_stop;

/** A few words for a stop reason. */
SADDLE_API const char *saddle_stop_text(saddle_stop stop);

/** A run. Everything is borrowed for its length. */
typedef struct saddle_run_info {
    const saddle_instance *network; /**< The instance that was given. */
    const saddle_instance
        *instance;            /**< What the algorithm runs on: the same, or, for a centralized
                                            algorithm, one agent with all data in its place. */
    const saddle_plan *given; /**< The plan as it was given. */
    const saddle_plan *plan;  /**< The effective plan: nothing is automatic any more. */
    const saddle_algorithm *algorithm; /**< The algorithm. */
    const char *title; /**< What traces call it, of one that is not built in; NULL: built in. */
    const void *parameters; /**< Its parameters. */
    saddle_steps steps;     /**< Resolved step sizes. */
    const char *resumed;    /**< The checkpoint it resumes from; NULL: none. */
    uint64_t start;         /**< The iteration it begins at. */
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
    /** A warning of one line, once per cause: also for every option that was given and that neither the problem
     * nor the algorithm uses, beginning with its name. */
    void (*warning)(void *context, const char *message);
    /** The run ends soon after this becomes non-zero; NULL: never. */
    const volatile sig_atomic_t *interrupt;
} saddle_hooks;

/** Seconds by the clock that a run took in this process since it was started or resumed. */
typedef struct saddle_run_times {
    saddle_setup_times setup; /**< Making the instance, which several runs may share. */
    double iterating;         /**< Iterations and the first gradients, as in a trace's column. */
    double measuring;         /**< Trace points: metric, losses, outcomes and self-checks. */
    double rest;              /**< Preparing agents, hooks, and writing files. */
} saddle_run_times;

/** The most columns of outcomes: on the agents' data and on held-out rows, with their spread. */
#define SADDLE_MOST_OUTCOME_COLUMNS ((size_t)8 * SADDLE_MOST_OUTCOMES)

/** A column of a trace with an outcome. */
typedef struct saddle_outcome_column {
    char name[SADDLE_OUTCOME_NAME + 28]; /**< Such as "train_auc", "test_auc_agent_min". */
    saddle_goal better;                  /**< Which values are better. */
} saddle_outcome_column;

/** What a run leaves. Free with saddle_result_free(). */
typedef struct saddle_result {
    saddle_stop stop;   /**< Why it ended. */
    saddle_fault fault; /**< What diverged, when it did. */
    char cause[200];  /**< What is not finite and what to do, where no variable is to blame, such as
                             "the regularizer l1:1e308 is inf ..."; "" otherwise. */
    saddle_row *rows; /**< The trace. */
    size_t row_count; /**< Its length: at least 1. */
    size_t
        solution_row; /**< The row that x, y and their means are of: the last, or with stop-after the
                              best. */
    saddle_run_times times;  /**< How long it took. */
    saddle_cost cost;        /**< Of the whole run, also of what diverged after the last row. */
    size_t agents;           /**< m. */
    size_t x_dim;            /**< Length of x. */
    size_t y_dim;            /**< Length of y. */
    size_t features;         /**< Of the data; 0 without. */
    saddle_columns *columns; /**< Names of the data's columns; NULL: none. */
    double *x_mean;          /**< xbar. */
    double *y_mean;          /**< ybar. */
    size_t local;            /**< Agents of this process: m when it is alone. */
    size_t *here;            /**< Their numbers, ascending. */
    double *x;               /**< Their x, a row each. */
    double *y;               /**< Their y, a row each. */
    size_t outcome_count;    /**< Outcomes of a row; 0: the problem has none. */
    saddle_outcome_column outcome[SADDLE_MOST_OUTCOME_COLUMNS]; /**< Which: their columns. */
    double
        *outcomes; /**< outcome_count numbers for every row; NaN where they were not measured or are
                           not defined. */
    saddle_plan
        plan;    /**< The effective plan; plan.settings are the settings that mattered, as text. */
    char *title; /**< What traces call the algorithm; NULL: it is built in. */
    char *checkpoint;          /**< The newest one, at the process that writes files; NULL: none. */
    bool saved;                /**< Whether the plan names a model file and it was written. */
    saddle_error output_error; /**< SADDLE_OK, or why a trace or model that the plan names is
                                    missing or incomplete: a run continues without them, and its result is
                                    valid. */
} saddle_result;

/** Free a result. NULL is allowed. */
SADDLE_API void saddle_result_free(saddle_result *result);
/** An outcome of the solution (xbar, ybar), by the name of its column, such as "test_auc"; NaN: there is none. */
SADDLE_API double saddle_result_outcome(const saddle_result *result, const char *column);

/**
 * Run one algorithm on an instance. What concerns algorithm, steps, limits, threads and outputs is read
 * from `plan`; problem, data, network, start and seed are the instance's. Files are written by process 0. A
 * failed self-check ends the run with SADDLE_CHECK_FAILED; divergence is a result, and so is a run whose
 * files could not be written to the end: see saddle_result::output_error.
 *
 * @param      plan   NULL: the one that the instance was made from.
 * @param      hooks  NULL: none.
 * @param[out] out    NULL on failure. Free with saddle_result_free().
 */
SADDLE_API saddle_status saddle_run(const saddle_instance *instance, const saddle_plan *plan,
                                    const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error);

/**
 * Solve a problem of the caller's own: make an instance from it and the plan, run, free the instance.
 * @param      problem  NULL: the one that the plan names.
 * @param[out] out      NULL on failure. Free with saddle_result_free().
 */
SADDLE_API saddle_status saddle_solve(const saddle_problem *problem, const saddle_plan *plan,
                                      saddle_result **out, saddle_error *error);

/** Write xbar, ybar and all copies, with what it takes to use them (::saddle_predictor in <saddle/lab.h>), as .npz, or
 * as one record if the name ends in .npy. Atomic. SADDLE_UNSUPPORTED for one of several processes,
 * which has only some of the copies: there the run itself writes the model. */
SADDLE_API saddle_status saddle_result_save(const saddle_result *result, const char *path,
                                            saddle_error *error);

/* ---- checkpoints ----------------------------------------------------------------------------- */

/*
 * A checkpoint is a run's complete state in a file, from which it resumes bit for bit. saddle_plan::outputs
 * says where a run writes them and which one it resumes from. A checkpoint does not depend on the number of
 * threads or processes, or on the engine: any other can resume it.
 */

/** What a checkpoint says of itself. */
typedef struct saddle_checkpoint_info {
    uint64_t iteration; /**< Where the run resumes. */
    uint64_t bytes;     /**< Size of the file. */
    double seconds;     /**< Spent iterating so far. */
    size_t rows;        /**< Rows of the trace so far. */
    size_t agents;      /**< m; 1 for a centralized algorithm. */
    char version[32];   /**< Of the library that wrote it. */
} saddle_checkpoint_info;

/**
 * Where a checkpoint of a directory is.
 * @param[out] path  free with free(); NULL when there are no more than `age`, or on failure.
 * @param      age   0: the newest, 1: the one before it, ... by their names; they are not opened.
 */
SADDLE_API saddle_status saddle_checkpoint_find(char **path, const char *directory, size_t age,
                                                saddle_error *error);
/** The newest valid checkpoint of a directory, every byte of it checked. SADDLE_BAD_INPUT, with the
 * reason, when there is none. Free the result with free(). */
SADDLE_API saddle_status saddle_checkpoint_newest(char **path, const char *directory,
                                                  saddle_error *error);
/**
 * Check every byte of a checkpoint and say what it is. What is torn, damaged, of another format or
 * no checkpoint at all is refused with the reason.
 * @param[out] plan  the plan of the run that wrote it; NULL: not wanted. Free with saddle_plan_free(). It is to be
 *                   looked at: calls that would use it refuse it, because a file may name plug-ins and outputs
 *                   and be anybody's. To run it, set outputs.resume of a plan of your own.
 */
SADDLE_API saddle_status saddle_checkpoint_examine(const char *path, saddle_checkpoint_info *out,
                                                   saddle_plan *plan, saddle_error *error);

/**
 * Take over the plan of the run that is to be resumed: whatever was given to it and is not given in
 * `plan`, and its directory for further checkpoints. The engine and its threads are not taken over.
 * Nothing happens when plan->outputs.resume asks for nothing. A field counts as given as <saddle/plan.h> says;
 * what is assigned after this call holds. Objects in memory are not in a checkpoint: the plan of the run must
 * have the same ones.
 * @param plan   replaced on success.
 * @param world  the processes of the run, whose rank 0 reads the checkpoint and sends it to the others;
 *               collective. NULL: this one is alone.
 */
SADDLE_API saddle_status saddle_plan_resume(saddle_plan *plan, const saddle_world *world,
                                            saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
