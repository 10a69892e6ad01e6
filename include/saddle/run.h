/**
 * @file run.h
 * @brief Runs: one algorithm on an instance, from a plan to a result.
 *
 *     saddle_solve(&my_problem, &plan, &result, &error);           // your own problem
 *
 *     saddle_instance_create(&instance, &plan, &error);            // or in two steps
 *     saddle_run(instance, &plan, NULL, &result, &error);
 *
 *     plan.outputs.resume = "my-checkpoints";                      // or resume a run, bit for bit,
 *     saddle_plan_resume(&plan, NULL, &error);                     // with the plan that it had
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

/** The largest number of columns in a trace, without outcomes. */
#define SADDLE_TRACE_COLUMNS 20
/** Returns the name of a trace column; `column` is below SADDLE_TRACE_COLUMNS. */
SADDLE_API const char *saddle_trace_column_name(size_t column);
/** Returns the value of a row in that column. */
SADDLE_API double saddle_row_cell(const saddle_row *row, size_t column);
/** Returns whether the trace of the row's run has that column. Optional are network_seconds (only
 * with a link model), age (not with reliable links), present and components (only with churn). */
SADDLE_API bool saddle_row_has(const saddle_row *row, size_t column);

/** Why a run ended. */
typedef enum saddle_stop {
    SADDLE_STOP_ITERATIONS,      /**< All iterations are done. */
    SADDLE_STOP_TOLERANCE,       /**< The gap fell to the tolerance. */
    SADDLE_STOP_IFO,             /**< The budget of gradient evaluations (IFO calls) is spent. */
    SADDLE_STOP_ROUNDS,          /**< The budget of communication rounds is spent. */
    SADDLE_STOP_SECONDS,         /**< The budget of seconds is spent. */
    SADDLE_STOP_NETWORK_SECONDS, /**< The budget of simulated seconds is spent. */
    SADDLE_STOP_CONDITION,       /**< The condition of stop-when holds. */
    SADDLE_STOP_NO_GAIN,         /**< An outcome has not improved for stop-after trace points. */
    /** A limit ended the run, which stalls at the noise of its gradient estimates: saddle_result::remedy. */
    SADDLE_STOP_STALLED,
    /** A limit ended the run, whose x and y oscillate because its steps are too long: saddle_result::remedy. */
    SADDLE_STOP_OSCILLATES,
    SADDLE_STOP_INTERRUPTED, /**< saddle_hooks::interrupt was set. */
    /** A value is not finite, or grows so fast that it soon will not be: see
     * saddle_result::fault. */
    SADDLE_STOP_DIVERGED
} saddle_stop;

/** Returns a short text for a stop reason. */
SADDLE_API const char *saddle_stop_text(saddle_stop stop);

/** A run, as saddle_hooks::begin() sees it. Everything is borrowed until the run ends. */
typedef struct saddle_run_info {
    const saddle_instance *network; /**< The instance that was given. */
    /** The instance that the algorithm runs on: the given one or, for a centralized algorithm, one
     * with a single agent that holds all data. */
    const saddle_instance *instance;
    const saddle_plan *given; /**< The plan that was given. */
    const saddle_plan *plan;  /**< The effective plan, with all automatic values resolved. */
    const saddle_algorithm *algorithm; /**< The algorithm. */
    /** Name of the option because of which an algorithm that was left to Saddle is not
     * precision-auto; NULL: none. */
    const char *because;
    const char *title;      /**< The algorithm's name in traces; NULL if it is built in. */
    const void *parameters; /**< The algorithm's parameters. */
    saddle_steps steps;     /**< Resolved step sizes. */
    double mixing_rate;     /**< The mixing rate of compressed messages; NaN if they are not. */
    const struct saddle_result *result; /**< The result so far, with the rows recorded. */
    const char *resumed; /**< Path of the checkpoint that the run resumes from; NULL: none. */
    uint64_t start;      /**< The first iteration. */
    /** Hash of the contents of data, network, link model, sets, start, plug-ins and files that
     * options of plug-ins name; 0 if neither a trace nor a checkpoint is written or read. */
    uint64_t fingerprint;
} saddle_run_info;

/** Functions that a run calls to report what it does. Any of them may be NULL. With several
 * processes only those of process 0 are called; the interrupt of any process ends the run in all of
 * them. */
typedef struct saddle_hooks {
    void *context; /**< Passed to every function. */
    /** Called before the first iteration. */
    void (*begin)(void *context, const saddle_run_info *info);
    /** Called at every trace point. */
    void (*row)(void *context, const saddle_row *row);
    /** Called several times a second between trace points. */
    void (*progress)(void *context, uint64_t iteration, double seconds);
    /** Called with a one-line warning, once per cause. An option that was given although neither
     * the problem nor the algorithm uses it causes a warning that begins with the option's name. */
    void (*warning)(void *context, const char *message);
    /** The run ends soon after this becomes non-zero. NULL: the run cannot be interrupted. */
    const volatile sig_atomic_t *interrupt;
} saddle_hooks;

/** Wall-clock seconds that this process has spent on a run since it was started or resumed. */
typedef struct saddle_run_times {
    saddle_setup_times setup; /**< Making the instance, which several runs may share. */
    double iterating; /**< Iterations and the first gradients: the trace's column seconds. */
    double measuring; /**< Trace points: metric, losses, outcomes, self-checks and the gap. */
    double gap;       /**< The part of measuring that the gap takes. */
    double rest;      /**< Preparing agents, calling hooks, and writing files. */
} saddle_run_times;

/** The largest number of outcome columns: on the agents' data and on held-out rows, for the mean
 * and over agents. */
#define SADDLE_MOST_OUTCOME_COLUMNS ((size_t)8 * SADDLE_MOST_OUTCOMES)

/** A trace column that holds an outcome. */
typedef struct saddle_outcome_column {
    char name[SADDLE_OUTCOME_NAME + 28]; /**< Such as "train_auc", "test_auc_agent_min". */
    saddle_goal better;                  /**< Which values are better. */
} saddle_outcome_column;

/** A run without a tolerance whose gap is at most this has solved its problem. */
#define SADDLE_SOLVED_GAP 1e-4

/** The parts of the last gap that was measured, in the units of the objective: the row's gap is the
 * sum of x, y and agents, divided by the scale (docs/trace-format.md). */
typedef struct saddle_gap {
    double scale;  /**< What can be gained from the reference; 0 if no gap was measured. */
    double x;      /**< By how much a search decreases Q from xbar. */
    double y;      /**< Q(xbar) - F(xbar, ybar) - h(xbar). */
    double agents; /**< What the agents furthest from the means lack. */
} saddle_gap;

/** The result of a run. Free with saddle_result_free(). */
typedef struct saddle_result {
    saddle_stop stop;   /**< Why the run ended. */
    saddle_fault fault; /**< What diverged, if something did. */
    /** What is not finite, and the remedy, if the cause is not a variable, such as "the regularizer
     * l1:1e308 is inf ..."; otherwise "". */
    char cause[200];
    /** Which steps to change, from what to what, if a variable diverged, such as "raise --tau from
     * 0.97 to 29"; if the run stalled or oscillates, such as "try --batch 41 --q 41"; otherwise "". */
    char remedy[240];
    saddle_row *rows; /**< The trace. */
    size_t row_count; /**< Number of rows, at least 1. */
    saddle_gap gap;   /**< The parts of the last row's gap. */
    /** The row that x, y and their means belong to: the last one or, with stop-after, the best. */
    size_t solution_row;
    saddle_run_times times;  /**< How long the run took. */
    saddle_cost cost;        /**< Total cost, including iterations after the last row. */
    size_t agents;           /**< m. */
    size_t x_dim;            /**< Length of x. */
    size_t y_dim;            /**< Length of y. */
    size_t features;         /**< Number of features of the data; 0 without data. */
    saddle_columns *columns; /**< Names of the data's columns; NULL: none. */
    /** How columns were scaled, an entry per feature: a value a became (a - mean) / deviation. NULL:
     * they were not. */
    double *mean;
    double *deviation;    /**< NULL: columns were not scaled. */
    double *x_mean;       /**< xbar. */
    double *y_mean;       /**< ybar. */
    size_t local;         /**< Number of agents in this process; m if there is only one process. */
    size_t *here;         /**< The numbers of these agents, ascending. */
    double *x;            /**< x of these agents, one row each. */
    double *y;            /**< y of these agents, one row each. */
    double *disagreement; /**< |x_i - xbar|^2 + |y_i - ybar|^2 of all m agents, in every process. */
    /** Whether the algorithm has step sizes that a search can vary, and none of them was given. */
    bool untuned;
    size_t outcome_count; /**< Number of outcomes per row; 0 if the problem has none. */
    saddle_outcome_column outcome[SADDLE_MOST_OUTCOME_COLUMNS]; /**< Their columns. */
    double *outcomes; /**< outcome_count numbers per row; NaN if not measured or not defined. */
    saddle_plan plan; /**< The effective plan: the options in use, with nothing automatic. */
    char *title;      /**< The algorithm's name in traces; NULL if it is built in. */
    char *checkpoint; /**< Path of the newest checkpoint, in process 0; NULL: none. */
    bool saved;       /**< Whether the plan names a model file and it was written. */
    /** SADDLE_OK, or why the trace or model that the plan names is missing or incomplete. A run
     * continues without these files, and its result is valid. */
    saddle_error output_error;
} saddle_result;

/** Frees a result. NULL is allowed. */
SADDLE_API void saddle_result_free(saddle_result *result);
/** Returns an outcome of the solution (xbar, ybar) by the name of its column, such as "test_auc";
 * NaN if there is no such column. */
SADDLE_API double saddle_result_outcome(const saddle_result *result, const char *column);

/** Returns the largest gap at which the run has solved its problem: its tolerance or, without one,
 * SADDLE_SOLVED_GAP. */
SADDLE_API double saddle_result_goal(const saddle_result *result);

/**
 * Runs one algorithm on an instance. Algorithm, steps, limits, threads and outputs come from
 * `plan`; problem, data, network, start and seed come from the instance. Process 0 writes the
 * files. A failed self-check ends the run with SADDLE_CHECK_FAILED. A run that diverges, or whose
 * files cannot be written completely (saddle_result::output_error), still returns SADDLE_OK and a
 * result.
 *
 * @param      plan   NULL: the plan that the instance was made from.
 * @param      hooks  NULL: none.
 * @param[out] out    NULL on failure. Free with saddle_result_free().
 */
SADDLE_API saddle_status saddle_run(const saddle_instance *instance, const saddle_plan *plan,
                                    const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error);

/**
 * Solves a problem: makes an instance from it and the plan, runs, and frees the instance.
 * @param      problem  your own problem; NULL: the one that the plan names.
 * @param[out] out      NULL on failure. Free with saddle_result_free().
 */
SADDLE_API saddle_status saddle_solve(const saddle_problem *problem, const saddle_plan *plan,
                                      saddle_result **out, saddle_error *error);

/** Writes a model file: xbar, ybar, all copies, and what ::saddle_predictor (<saddle/lab.h>) needs
 * to use them. The format is .npz. The file appears
 * complete or not at all, and replaces none that the run has read, except the model that it started
 * from. Returns SADDLE_UNSUPPORTED if there are several processes, each of which has only some of
 * the copies; set outputs.model of the plan instead. */
SADDLE_API saddle_status saddle_result_save(const saddle_result *result, const char *path,
                                            saddle_error *error);

/* ---- models ---------------------------------------------------------------------------------- */

/** A model file in memory (docs/models.md). */
typedef struct saddle_saved_model {
    size_t agents;      /**< Number of copies: m, or 1 if the algorithm is centralized. */
    size_t x_dim;       /**< Length of x. */
    size_t y_dim;       /**< Length of y. */
    size_t features;    /**< Number of features of the data; 0 without data. */
    uint64_t iteration; /**< Number of iterations made. */
    double *x_mean;     /**< xbar. */
    double *y_mean;     /**< ybar. */
    double *x;          /**< x of all agents, one row each. */
    double *y;          /**< y of all agents, one row each. */
    bool
        borrowed; /**< Whether these, mean and deviation belong to the result that the model is of. */
    char *problem;     /**< Name of the problem. */
    char *algorithm;   /**< Name of the algorithm. */
    char *version;     /**< Version of the library that made it. */
    char *settings;    /**< Settings of the run that matter, as lines "name: value". */
    char *columns;     /**< Names and codings of the data's columns as text; NULL: none. */
    double *mean;      /**< How columns were scaled, as in ::saddle_result; NULL: they were not. */
    double *deviation; /**< NULL: columns were not scaled. */
} saddle_saved_model;

/**
 * Reads a model file. Refuses, with the reason, a file that is not a model, is cut short or from a
 * later version, whose arrays do not fit together, or that has a number that is not finite.
 * @param[out] out  NULL on failure. Free with saddle_saved_model_free().
 */
SADDLE_API saddle_status saddle_saved_model_load(saddle_saved_model **out, const char *path,
                                                 saddle_error *error);
/** Makes the model of a result, which must outlive it. Fails like saddle_result_save(). */
SADDLE_API saddle_status saddle_result_model(const saddle_result *result, saddle_saved_model **out,
                                             saddle_error *error);
/** Writes a model file as saddle_result_save() does. */
SADDLE_API saddle_status saddle_saved_model_save(const saddle_saved_model *model, const char *path,
                                                 saddle_error *error);
/** Frees a model. NULL is allowed. */
SADDLE_API void saddle_saved_model_free(saddle_saved_model *model);

/* ---- checkpoints ----------------------------------------------------------------------------- */

/*
 * A checkpoint is a file with the complete state of a run, from which the run resumes bit for bit.
 * saddle_plan::outputs says where a run writes checkpoints and which one it resumes from. Any
 * engine, with any number of threads or processes, can resume a checkpoint.
 */

/** The properties of a checkpoint. */
typedef struct saddle_checkpoint_info {
    uint64_t iteration; /**< The iteration at which the run resumes. */
    uint64_t bytes;     /**< Size of the file. */
    double seconds;     /**< Time spent iterating so far. */
    size_t rows;        /**< Number of trace rows so far. */
    size_t agents;      /**< m; 1 for a centralized algorithm. */
    char version[32];   /**< Version of the library that wrote it. */
} saddle_checkpoint_info;

/**
 * Finds a checkpoint in a directory by the file names alone; no file is opened.
 * @param[out] path  free with free(); NULL if there are no more than `age` checkpoints, or on
 *                   failure.
 * @param      age   0: the newest, 1: the one before it, and so on.
 */
SADDLE_API saddle_status saddle_checkpoint_find(char **path, const char *directory, size_t age,
                                                saddle_error *error);
/** Finds the newest valid checkpoint in a directory, checking every byte. Returns SADDLE_BAD_INPUT
 * with the reason if there is none. Free `*path` with free(). */
SADDLE_API saddle_status saddle_checkpoint_newest(char **path, const char *directory,
                                                  saddle_error *error);
/**
 * Checks every byte of a checkpoint and returns its properties. Refuses, with the reason, a file
 * that is incomplete, damaged, of another format or not a checkpoint.
 * @param[out] plan  receives the plan of the run that wrote it; may be NULL. Free with
 *                   saddle_plan_free(). It is for inspection only: other calls refuse it, because
 *                   the file may be from an untrusted source and can name plug-ins and output
 *                   files. To resume, set outputs.resume of your own plan.
 */
SADDLE_API saddle_status saddle_checkpoint_examine(const char *path, saddle_checkpoint_info *out,
                                                   saddle_plan *plan, saddle_error *error);

/**
 * Completes `plan` from the checkpoint named by plan->outputs.resume: takes every value that was
 * given to the run that wrote it and is not given in `plan`, and its checkpoint directory. Engine
 * and threads are not taken. Does nothing if plan->outputs.resume is not set. <saddle/plan.h> says
 * which fields count as given; values assigned after this call take effect. A checkpoint does not
 * contain objects in memory: set the same ones in `plan`.
 * @param plan   replaced on success.
 * @param world  the processes of the run; rank 0 reads the checkpoint and sends it to the others.
 *               Collective. NULL: there is only this process.
 */
SADDLE_API saddle_status saddle_plan_resume(saddle_plan *plan, const saddle_world *world,
                                            saddle_error *error);

#endif
