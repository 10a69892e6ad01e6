/**
 * @file lab.h
 * @brief Tools around runs: traces, saved models, tuning and the bounds of the theory.
 *
 * This header includes <saddle/saddle.h>.
 *
 *     saddle_trace *trace;                         // reading a trace that a run wrote
 *     saddle_trace_read(&trace, "trace.csv", &error);
 *     const double *samples = saddle_trace_column(trace, "ifo");
 *     const double *metric = saddle_trace_column(trace, "metric");
 *
 *     saddle_predictor *predictor;                 // using a model that saddle_result_save() wrote
 *     saddle_dataset *data;
 *     saddle_outcome outcome[SADDLE_MOST_MEASURES];
 *     saddle_predictor_load(&predictor, "model.npz", NULL, &error);
 *     saddle_predictor_data(predictor, &data, "a9a.t", NULL, &error);
 *     saddle_predictor_evaluate(predictor, data, NULL, outcome, &count, &error);
 *
 *     saddle_tuning *tuning;                       // searching for good step sizes
 *     saddle_tune_inputs inputs = {.budget = 1000000};
 *     saddle_tune(&tuning, instance, &plan, &inputs, NULL, &error);
 *     saddle_tuning_save(tuning, "best.yaml", &error);
 */
#ifndef SADDLE_LAB_H
#define SADDLE_LAB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/saddle.h>

/* ---- traces ---------------------------------------------------------------------------------- */

/** A line `# name: value` at the head of a trace. */
typedef struct saddle_trace_entry {
    char *name;  /**< Such as "algorithm". */
    char *value; /**< Such as "precision". */
} saddle_trace_entry;

/** A trace in memory. Read only. Free with saddle_trace_free(). */
typedef struct saddle_trace {
    char *path;                /**< The file it was read from. */
    char *version;             /**< Version of the program that wrote it; "" if not recorded. */
    size_t entries;            /**< Number of lines in the head. */
    saddle_trace_entry *entry; /**< These lines, in the order of the file. */
    size_t columns;            /**< Number of columns, at least 1. */
    char **column;             /**< Their names. */
    double **value;            /**< value[c][r]; NaN if the cell is empty. */
    size_t rows;               /**< Number of rows; 0 if the run has only begun. */
    size_t agents;             /**< Length of `disagreement`; 0: none is recorded. */
    double *disagreement;      /**< |x_i - xbar|^2 + |y_i - ybar|^2 of each agent at the end. */
    char *end; /**< Why the run ended; NULL: no end recorded (still running, or killed). */
} saddle_trace;

/**
 * Reads a trace, even while a run is writing it: an incomplete last line is ignored. Refuses a line
 * that is not a row of numbers, with its line number.
 * @param[out] out  NULL on failure. Free with saddle_trace_free().
 */
SADDLE_API saddle_status saddle_trace_read(saddle_trace **out, const char *path,
                                           saddle_error *error);
/** Frees a trace. NULL is allowed. */
SADDLE_API void saddle_trace_free(saddle_trace *trace);

/** Returns the value of a name in the head; "" if the name is not there. Borrowed. */
SADDLE_API const char *saddle_trace_setting(const saddle_trace *trace, const char *name);
/** Returns the `rows` values of a column; NULL if there is no such column. Borrowed. */
SADDLE_API const double *saddle_trace_column(const saddle_trace *trace, const char *name);

/**
 * Makes the trace of a result without a file: settings, lengths of x and y, rows, and why the run
 * ended. Its path is "ALGORITHM-seedN.csv". Free with saddle_trace_free().
 */
SADDLE_API saddle_status saddle_result_trace(const saddle_result *result, saddle_trace **out,
                                             saddle_error *error);

/* ---- levels of the metric -------------------------------------------------------------------- */

/** The most levels that saddle_levels_choose() chooses. */
#define SADDLE_MOST_LEVELS 6

/** The range of the metric in several runs. Begin with zeros and add every run. */
typedef struct saddle_metric_range {
    double start; /**< The largest finite metric at the start of a run. */
    double best;  /**< The smallest positive metric at the end of a run; 0 if there is none. */
    double worst; /**< The largest finite metric at the end of a run. */
    size_t runs;  /**< The number of runs whose metric is finite at the end. */
} saddle_metric_range;

/** Adds a run, by its metric in the first and in the last row. */
SADDLE_API void saddle_metric_range_add(saddle_metric_range *range, double first, double last);
/**
 * Chooses levels of the metric at which the costs of the runs are compared, in descending order:
 * decades from `start` to `best`, or to 1e-24 times the start, where rounding begins. If there are too
 * many, most of the levels are decades that all runs reach. If there is none, it is the best itself,
 * rounded up. Returns their number, 0 if no run has a finite metric at the end.
 */
SADDLE_API size_t saddle_levels_choose(const saddle_metric_range *range,
                                       double level[SADDLE_MOST_LEVELS]);
/**
 * Returns the row from which the metric stays at or below a level until the end; `rows` if there is
 * none. The cost of a level is the cost in this row: a run that reaches a level by chance and leaves
 * it again has not arrived.
 * @param metric  the metric in the first row.
 * @param stride  the distance to that in the next row, in bytes; sizeof(double) for an array.
 */
SADDLE_API size_t saddle_levels_reached(const double *metric, size_t stride, size_t rows,
                                        double level);

/* ---- saved models ---------------------------------------------------------------------------- */

/** A saved model, ready for use. */
typedef struct saddle_predictor saddle_predictor;

/**
 * Reads a model file. Refuses, with the reason, a file that is not a model, that has no settings or
 * is from a later version, and a model of a problem without scores.
 * @param[out] out     NULL on failure. Free with saddle_predictor_free().
 * @param      plugin  PATH[:OPTIONS] of the shared object if the problem is a plug-in: the path in
 *                     the file is not used, because the file may be from an untrusted source. NULL
 *                     for built-in problems.
 */
SADDLE_API saddle_status saddle_predictor_load(saddle_predictor **out, const char *path,
                                               const char *plugin, saddle_error *error);
/** Frees a predictor. NULL is allowed. */
SADDLE_API void saddle_predictor_free(saddle_predictor *predictor);

/** Returns the plan of the run that made the model, with all automatic values resolved.
 * Borrowed. */
SADDLE_API const saddle_plan *saddle_predictor_plan(const saddle_predictor *predictor);
/** Returns the problem, without samples. Borrowed. */
SADDLE_API const saddle_problem *saddle_predictor_problem(const saddle_predictor *predictor);
/** Returns the names of the training rows' columns; NULL: they had none. Borrowed. */
SADDLE_API const saddle_columns *saddle_predictor_columns(const saddle_predictor *predictor);
/** Returns the number of features of the training rows. */
SADDLE_API size_t saddle_predictor_features(const saddle_predictor *predictor);

/**
 * Loads rows for the model, by name like saddle_dataset_load(). LIBSVM rows are padded with zeros
 * to the model's number of features; rows with more features are refused. Labels are not changed.
 * @param options  how to read the file. NULL, a NULL label_column and an automatic header mean: as
 *                 the run read its data.
 */
SADDLE_API saddle_status saddle_predictor_data(const saddle_predictor *predictor,
                                               saddle_dataset **out, const char *name,
                                               const saddle_data_options *options,
                                               saddle_error *error);

/** Computes the score of every row: out[row], above 0 for +1. Labels are ignored. */
SADDLE_API saddle_status saddle_predictor_scores(const saddle_predictor *predictor,
                                                 const saddle_dataset *data, double *out,
                                                 saddle_error *error);

/**
 * Computes the coefficients of a linear model in the units of the data: the score of a row a is
 * w'a + v. Returns SADDLE_UNSUPPORTED for another model.
 * @param[out] out  w, an entry per feature, and v after it.
 */
SADDLE_API saddle_status saddle_predictor_coefficients(const saddle_predictor *predictor,
                                                       double *out, saddle_error *error);

/** The largest number of outcomes that saddle_predictor_evaluate() computes. */
#define SADDLE_MOST_MEASURES (SADDLE_MOST_OUTCOMES + 4)

/**
 * Measures the model on labelled rows: computes the problem's own outcomes and, if they are not
 * among them, `accuracy` (share of rows whose score has the sign of the label), `auc`, `loss` (mean
 * of log(1 + exp(-label score))) and `positive_share` (share of rows with a positive label).
 * @param positive  which labels are positive, as for saddle_dataset_label(); NULL or "auto": as in
 *                  the run.
 * @param[out] out  SADDLE_MOST_MEASURES entries; NaN for one that is not defined, such as the AUC
 *                  of rows of a single class.
 */
SADDLE_API saddle_status saddle_predictor_evaluate(const saddle_predictor *predictor,
                                                   const saddle_dataset *data, const char *positive,
                                                   saddle_outcome *out, size_t *count,
                                                   saddle_error *error);

/** Writes numbers to a file, one per line, so that they read back equal. The file appears
 * complete or not at all. */
SADDLE_API saddle_status saddle_save_numbers(const double *number, size_t count, const char *path,
                                             saddle_error *error);

/* ---- tuning ---------------------------------------------------------------------------------- */

/*
 * Successive halving (Karnin, Koren, Somekh, ICML 2013; Jamieson, Talwalkar, AISTATS 2016) over a
 * log grid around an algorithm's default step sizes, and over the values that the caller lists for
 * other options. In the first rung every candidate gets the same small allotment of IFO calls. The
 * better half enters the next rung, where each starts again with at least twice as many, until two
 * are left. The default settings are a candidate that stays to the last rung, so that the result is
 * never worse than the default there. Every evaluation counts against the budget, which is never
 * exceeded: an allotment includes the iteration in which it ends.
 */

/** IFO calls for every sample of the problem if no budget is given. */
#define SADDLE_TUNE_PASSES 2000
/** The largest number of candidates in a search. */
#define SADDLE_TUNE_MOST_CANDIDATES 4096
/** A search with fewer candidates than this finds good settings only by luck: with 16 random
 * points, the probability that one is among the best tenth of a grid is 0.81. */
#define SADDLE_TUNE_FEW 16
/** The largest number of rungs: 2^12 candidates are halved 11 times. */
#define SADDLE_TUNE_MOST_RUNGS 12
/** Buffer size for the value of an option as text. */
#define SADDLE_TUNE_TEXT 32

/** The inputs of a search. Zeros are sensible defaults. */
typedef struct saddle_tune_inputs {
    uint64_t budget; /**< Total IFO calls; 0: SADDLE_TUNE_PASSES for every sample. */
    /** Number of candidates, including the default; 0: as many as the grid has and the budget
     * allows. */
    size_t candidates;
    /** What decides at the end of a candidate's run: "attained", that is Q(xbar) and what y and the
     * agents furthest from the means lack (saddle_gap), "metric", "loss", "primal", "stationarity"
     * or an outcome of the problem, such as "accuracy". An outcome is measured on held-out rows
     * if the instance has any, unless "train_accuracy" is given. NULL: "attained". "loss" is
     * rarely useful: a bad y makes it small. */
    const char *objective;
    const char *hold; /**< Options that keep their value, such as "nu,eta", or "all"; NULL: none. */
    const char *log;  /**< A CSV file to which every evaluation is written; NULL: none. */
    bool resume;      /**< Continue from the log if it exists; if false, it must not exist. */
    /** Further options of the algorithm or the problem with the values to try, separated by
     * spaces, such as "batch=10,20,40 fairness=0.1:10:log:5". NULL: none. Candidates with
     * different problem options solve different problems, made from the plan of the instance;
     * only an outcome can compare them. */
    const char *search;
} saddle_tune_inputs;

/** One evaluation: a run of one candidate. */
typedef struct saddle_trial {
    size_t rung;         /**< The rung, from 0. */
    size_t candidate;    /**< The candidate's number. */
    uint64_t allotment;  /**< The largest number of IFO calls it could make. */
    uint64_t ifo;        /**< The number of IFO calls it made. */
    uint64_t iterations; /**< The number of iterations it made. */
    bool diverged;       /**< A value was not finite, or the objective grew tenfold. */
    double value;        /**< The objective at the end; infinite if it diverged. */
    double cost;         /**< The value, negated if larger is better; the smallest cost wins. */
} saddle_trial;

/** A search and its result. Free with saddle_tuning_free(). */
typedef struct saddle_tuning {
    const saddle_algorithm *algorithm;      /**< The algorithm that is tuned. */
    struct saddle_algorithm_choice *choice; /**< Internal: where the algorithm is from. */
    saddle_outcome_column objective;        /**< The column that decides. */
    uint64_t budget;                        /**< IFO calls that may be made. */
    uint64_t spent;                         /**< IFO calls that were made. */
    char *hold;                             /**< Options that keep their value; NULL: none. */
    char *search;                           /**< Options with listed values; NULL: none. */
    struct saddle_tune_axes *listed;        /**< Internal: `search`, parsed. */
    size_t option_count;                    /**< Number of options that are searched. */
    const saddle_option **option;           /**< These options. */
    size_t candidates;                      /**< Number of candidates; 0 is the default's number. */
    size_t points;                          /**< Number of points of the grid. */
    size_t
        affordable; /**< Candidates that the budget allows, at most SADDLE_TUNE_MOST_CANDIDATES. */
    uint64_t least_allotment; /**< The fewest IFO calls that a candidate must get. */
    /** If the budget allows fewer than SADDLE_TUNE_FEW candidates, or fewer than a smaller grid
     * has: the budget that would allow them. Otherwise 0. */
    uint64_t recommended_budget;
    char (*value)[SADDLE_TUNE_TEXT];      /**< See saddle_tuning_value(). */
    size_t rungs;                         /**< Number of rungs. */
    size_t field[SADDLE_TUNE_MOST_RUNGS]; /**< Number of candidates in each rung. */
    saddle_trial *trials;                 /**< All evaluations so far, in order. */
    size_t trial_count;                   /**< Number of evaluations. */
    size_t resumed;                       /**< How many of them were read from the log. */
    bool finished;                        /**< False if interrupted before the last evaluation. */
    size_t *ranking; /**< Candidates, best first: by rung reached, then by value. */
    /** The given plan, including objects in memory (still borrowed), with the values of the best
     * candidate and the metric-tau of the search. Limits, engine and files have their defaults. */
    saddle_plan plan;
} saddle_tuning;

/** Functions that a search calls to report what it does. Any of them may be NULL. */
typedef struct saddle_tune_hooks {
    void *context; /**< Passed to every function. */
    /** Called before the first evaluation. */
    void (*begin)(void *context, const saddle_tuning *tuning);
    /** Called after every evaluation that was not read from the log. */
    void (*trial)(void *context, const saddle_tuning *tuning, const saddle_trial *trial);
    /** Called after a rung with its best evaluation. */
    void (*rung)(void *context, const saddle_tuning *tuning, const saddle_trial *best);
    /** Called with the warnings of the first evaluation, such as that messages reveal private
     * data. */
    void (*warning)(void *context, const char *message);
    /** Called several times a second during an evaluation. */
    void (*progress)(void *context, uint64_t iteration, double seconds);
    /** The search ends soon after this becomes non-zero. NULL: it cannot be interrupted. */
    const volatile sig_atomic_t *interrupt;
} saddle_tune_hooks;

/**
 * Searches for good step sizes of one algorithm. The same inputs give the same result for any
 * number of threads, and no matter how often the search was interrupted and resumed.
 *
 * @param[out] out     NULL on failure. An interrupted search returns a result: see `finished`. Free
 *                     with saddle_tuning_free().
 * @param      plan    as for saddle_run(); limits and outputs are ignored. Step sizes that are
 *                     given replace the defaults. NULL: the instance's plan.
 * @param      inputs  NULL: all zeros.
 * @param      hooks   NULL: none.
 */
SADDLE_API saddle_status saddle_tune(saddle_tuning **out, const saddle_instance *instance,
                                     const saddle_plan *plan, const saddle_tune_inputs *inputs,
                                     const saddle_tune_hooks *hooks, saddle_error *error);
/**
 * Computes the smallest budget that saddle_tune() would accept for the number of candidates that it
 * would choose, without any IFO call. The parameters are those of saddle_tune(); none may be NULL.
 */
SADDLE_API saddle_status saddle_tune_least_budget(const saddle_instance *instance,
                                                  const saddle_plan *plan,
                                                  const saddle_tune_inputs *inputs, uint64_t *out,
                                                  saddle_error *error);
/** Frees a search. NULL is allowed. */
SADDLE_API void saddle_tuning_free(saddle_tuning *tuning);

/** Returns a candidate's value of a searched option, as text. Borrowed. */
SADDLE_API const char *saddle_tuning_value(const saddle_tuning *tuning, size_t candidate,
                                           size_t option);
/** Returns a candidate's last evaluation; NULL if it has none yet. Borrowed. */
SADDLE_API const saddle_trial *saddle_tuning_last(const saddle_tuning *tuning, size_t candidate);
/** Writes the best settings as a configuration file for `saddle run --config`. The file appears
 * complete or not at all, and replaces none that the search has read. */
SADDLE_API saddle_status saddle_tuning_save(const saddle_tuning *tuning, const char *path,
                                            saddle_error *error);

/* ---- theory ---------------------------------------------------------------------------------- */

/**
 * Computes what is proved about PRECISION and PRECISION+ on an instance. Returns SADDLE_UNSUPPORTED
 * if L or mu is unknown and could not be estimated.
 * @param tau        the proximal weight.
 * @param epsilon    the target accuracy.
 * @param c_epsilon  constant of PRECISION+ and Theorem 2.
 * @param c_gamma    constant of PRECISION+ and Theorem 2.
 */
SADDLE_API saddle_status saddle_theory_evaluate(const saddle_instance *instance, double tau,
                                                double epsilon, double c_epsilon, double c_gamma,
                                                saddle_theory *out, saddle_error *error);

#endif
