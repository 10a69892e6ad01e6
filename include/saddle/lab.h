/**
 * @file lab.h
 * @brief What is done with runs: traces, saved models, tuning and the theory's bounds.
 *
 * <saddle/saddle.h> solves; this header, which includes it, is for what comes before and after:
 *
 *     saddle_trace *trace;                         // reading back what a run has written
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

#ifdef __cplusplus
extern "C" {
#endif

/* ---- traces ---------------------------------------------------------------------------------- */

/** A line `# name: value` of a trace's head. */
typedef struct saddle_trace_entry {
    char *name;  /**< Such as "algorithm". */
    char *value; /**< Such as "precision". */
} saddle_trace_entry;

/** A trace in memory. Fields are for reading only. Free with saddle_trace_free(). */
typedef struct saddle_trace {
    char *path;                /**< Where it was read from. */
    char *version;             /**< Of the program that wrote it; "" when the file does not say. */
    size_t entries;            /**< Lines of the head. */
    saddle_trace_entry *entry; /**< In the order of the file. */
    size_t columns;            /**< At least 1. */
    char **column;             /**< Their names. */
    double **value;            /**< value[c][r]; NaN where a cell is empty. */
    size_t rows;               /**< May be 0: a run has only begun. */
    char *end; /**< Why the run ended; NULL: no end is recorded (still running, or killed). */
} saddle_trace;

/**
 * Read a trace, also one that a run is writing at the moment: a last line
 * that is not complete yet is left out. A line that is not a row of numbers is refused with its number.
 * @param[out] out  NULL on failure.
 */
SADDLE_API saddle_status saddle_trace_read(saddle_trace **out, const char *path,
                                           saddle_error *error);
/** Free a trace. NULL is allowed. */
SADDLE_API void saddle_trace_free(saddle_trace *trace);

/** What the head says about a name; "" when it says nothing. Borrowed. */
SADDLE_API const char *saddle_trace_setting(const saddle_trace *trace, const char *name);
/** The `rows` values of a column; NULL: there is none of this name. Borrowed. */
SADDLE_API const double *saddle_trace_column(const saddle_trace *trace, const char *name);

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
SADDLE_API saddle_status saddle_model_consensus_distance(const char *path, size_t agents,
                                                         double *distance, saddle_error *error);

/* ---- saved models ---------------------------------------------------------------------------- */

/** A saved model, ready for use. */
typedef struct saddle_predictor saddle_predictor;

/**
 * Read a model file. Refused with the reason: a file that is not a model, one without the settings or from a
 * later version, a problem that scores no data.
 * @param[out] out     NULL on failure. Free with saddle_predictor_free().
 * @param      plugin  PATH[:OPTIONS] of the shared object of a plug-in's model: a path in a file is not
 *                     followed, because anybody may have written it. NULL for built-in problems.
 */
SADDLE_API saddle_status saddle_predictor_load(saddle_predictor **out, const char *path,
                                               const char *plugin, saddle_error *error);
/** Free. NULL is allowed. */
SADDLE_API void saddle_predictor_free(saddle_predictor *predictor);

/** The plan of the run that made the model, nothing automatic. Borrowed. */
SADDLE_API const saddle_plan *saddle_predictor_plan(const saddle_predictor *predictor);
/** The problem, without samples. Borrowed. */
SADDLE_API const saddle_problem *saddle_predictor_problem(const saddle_predictor *predictor);
/** Features of the rows it was made from. */
SADDLE_API size_t saddle_predictor_features(const saddle_predictor *predictor);

/**
 * Load rows for the model, by name as saddle_dataset_load(): LIBSVM rows are padded with zeros to its
 * features; data with more of them are refused. Labels stay as they are read.
 * @param options  how to read a file; NULL, NULL label_column, automatic header: as the run did.
 */
SADDLE_API saddle_status saddle_predictor_data(const saddle_predictor *predictor,
                                               saddle_dataset **out, const char *name,
                                               const saddle_data_options *options,
                                               saddle_error *error);

/** The score of every row: out[row], above 0 for +1. Labels do not matter. */
SADDLE_API saddle_status saddle_predictor_scores(const saddle_predictor *predictor,
                                                 const saddle_dataset *data, double *out,
                                                 saddle_error *error);

/** The most that saddle_predictor_evaluate() finds. */
#define SADDLE_MOST_MEASURES (SADDLE_MOST_OUTCOMES + 4)

/**
 * Measures the model on labelled rows: the problem's own outcomes, and those of `accuracy` (share
 * of rows whose score has the sign of the label), `auc`, `loss` (mean of log(1 + exp(-label score))) and
 * `positive_share` (of the rows' labels) that are not among them.
 * @param positive  which labels are positive, as for saddle_dataset_label(); NULL or "auto": as the run
 *                  decided.
 * @param[out] out  capacity for SADDLE_MOST_MEASURES; NaN where one is not defined, such as the auc of one
 *                  class.
 */
SADDLE_API saddle_status saddle_predictor_evaluate(const saddle_predictor *predictor,
                                                   const saddle_dataset *data, const char *positive,
                                                   saddle_outcome *out, size_t *count,
                                                   saddle_error *error);

/** Write numbers to a file, one per line, so that they read back equal. Atomic. */
SADDLE_API saddle_status saddle_save_numbers(const double *number, size_t count, const char *path,
                                             saddle_error *error);

/* ---- tuning ---------------------------------------------------------------------------------- */

/*
 * Successive halving (Karnin, Koren, Somekh, ICML 2013; Jamieson, Talwalkar, AISTATS 2016) over a log grid
 * around an algorithm's default step sizes, and over the values that the caller lists for other options. In the first rung every candidate gets the same small allotment
 * of IFO calls; the better half continues to the next rung with at least twice as many, from the start
 * again, until two are left. The default is a candidate and stays to the last rung, so that the answer is
 * never worse than it there. Every evaluation counts against the budget, which is never exceeded: an
 * allotment includes the iteration that a run finishes.
 */

/** IFO calls for every sample of the problem when no budget is given. */
#define SADDLE_TUNE_PASSES 2000
/** The most candidates of a search. */
#define SADDLE_TUNE_MOST_CANDIDATES 4096
/** With fewer candidates than this a search finds good settings by luck: one of 16 points that are drawn is
 * among the best tenth of a grid with probability 0.81. */
#define SADDLE_TUNE_FEW 16
/** The most rungs: 2^12 candidates are halved 11 times. */
#define SADDLE_TUNE_MOST_RUNGS 12
/** Room for the value of an option as text. */
#define SADDLE_TUNE_TEXT 32

/** What a search is made from; zeros are sensible. */
typedef struct saddle_tune_inputs {
    uint64_t budget;   /**< IFO calls in all; 0: SADDLE_TUNE_PASSES for every sample. */
    size_t candidates; /**< How many to try, the default among them; 0: what the grid has and the
                            budget can pay for. */
    const char
        *objective;   /**< What is to be good at the end of a candidate's run: "metric", "loss",
                                "primal", "stationarity", or an outcome of the problem, such as "accuracy": on the
                                instance's held-out rows if it has some, unless "train_accuracy" is given. NULL:
                                the metric. The loss itself a bad y makes small. */
    const char *hold; /**< Options that keep their value, "nu,eta", or "all"; NULL: none. */
    const char *log;  /**< A CSV file that gets every evaluation; NULL: none. */
    bool resume;      /**< Go on from the log, if there is one; otherwise it must not exist yet. */
    const char
        *search; /**< Further options of the algorithm or the problem, and the values that each may
                            take, separated by spaces: "batch=10,20,40 fairness=0.1:10:log:5". NULL: none.
                            Candidates whose problem options differ have different problems, made from the
                            plan that the instance was made from; only an outcome can compare them. */
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
    double cost; /**< The value, or minus it where larger ones are better; the smallest wins. */
} saddle_trial;

/** A search and its answer. Free with saddle_tuning_free(). */
typedef struct saddle_tuning {
    const saddle_algorithm *algorithm;      /**< Whose step sizes. */
    struct saddle_algorithm_choice *choice; /**< Where it is from. The library's. */
    saddle_outcome_column objective;        /**< The column that decides. */
    uint64_t budget;                        /**< IFO calls that may be made. */
    uint64_t spent;                         /**< IFO calls that were made. */
    char *hold;                             /**< Options that keep their value; NULL: none. */
    char *search;                           /**< Options with listed values; NULL: none. */
    struct saddle_tune_axes *listed;        /**< These. The library's. */
    size_t option_count;                    /**< How many options are searched. */
    const saddle_option **option;           /**< Which. */
    size_t candidates;                      /**< How many candidates; number 0 is the default. */
    size_t points;                          /**< How many the grid has. */
    size_t affordable; /**< How many the budget can pay for, at most SADDLE_TUNE_MOST_CANDIDATES. */
    uint64_t least_allotment;    /**< IFO calls that a candidate must get at least. */
    uint64_t recommended_budget; /**< What SADDLE_TUNE_FEW candidates cost, or the whole grid if it
                                      has fewer, where the budget pays for fewer; 0: it does not. */
    char (*value)[SADDLE_TUNE_TEXT];      /**< See saddle_tuning_value(). */
    size_t rungs;                         /**< How many rungs. */
    size_t field[SADDLE_TUNE_MOST_RUNGS]; /**< Candidates that take part in each rung. */
    saddle_trial *trials;                 /**< All evaluations so far, in their order. */
    size_t trial_count;                   /**< How many. */
    size_t resumed;                       /**< How many of them were read from the log. */
    bool finished;                        /**< False: interrupted before the last evaluation. */
    size_t *ranking; /**< Candidates, best first: by rung reached, then by value. */
    /** What was given, objects in memory included (they stay borrowed), with the best candidate's values and
     * the metric-tau of the search. Limits, engine and files are at their defaults. */
    saddle_plan plan;
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
    /** What the first evaluation warns of, such as messages that give away private data. */
    void (*warning)(void *context, const char *message);
    /** Now and then during an evaluation: several times a second. */
    void (*progress)(void *context, uint64_t iteration, double seconds);
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

/* ---- theory ---------------------------------------------------------------------------------- */

/**
 * Evaluate Theorems 1 and 2 (::saddle_theory in <saddle/instance.h>). SADDLE_UNSUPPORTED when L or mu is neither known nor could be estimated.
 * @param tau      the proximal weight to assume.
 * @param epsilon  target accuracy.
 */
SADDLE_API saddle_status saddle_theory_evaluate(const saddle_instance *instance, double tau,
                                                double epsilon, double c_epsilon, double c_gamma,
                                                saddle_theory *out, saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
