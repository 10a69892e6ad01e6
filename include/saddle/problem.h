/**
 * @file problem.h
 * @brief Problems: what is optimized.
 *
 *     min over x in X, max over y in Y of  (1/m) sum_i F_i(x, y) + h(x),
 *     F_i(x, y) = (1/n_i) sum_j f_ij(x, y)
 *
 * A problem is a table of functions over agents and samples. Either gradient() and value() are
 * required, or add_samples(), which works on any range of samples: from it the library computes
 * gradients, differences, variances, values and statistics, and several threads can share one
 * agent's batch. The other functions are optional; they make runs faster or more exact. For your
 * own problem, fill in a ::saddle_problem: see examples/.
 *
 * Several threads call the functions at the same time for different agents (add_samples() also for
 * different samples of one agent), each with its own scratch memory: a function must write only to
 * its outputs and its scratch. A function that cannot compute its result writes NaN. The run then
 * ends with SADDLE_STOP_DIVERGED, and saddle_result::fault names the agent, the iteration and the
 * variable; NaN at the starting point is refused with SADDLE_BAD_INPUT. NaN at a point that only the
 * search for the gap visits leaves that gap empty, and the first time a warning says so.
 */
#ifndef SADDLE_PROBLEM_H
#define SADDLE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/data.h>
#include <saddle/graph.h>
#include <saddle/option.h>
#include <saddle/set.h>
#include <saddle/status.h>
#include <saddle/world.h>

/** A batch: the samples to average over. */
typedef struct saddle_batch {
    /** Sample numbers, from 0, possibly repeated; NULL: samples first .. first + count - 1. */
    const uint32_t *index;
    size_t first; /**< The first sample if `index` is NULL; otherwise ignored. */
    size_t count; /**< Number of samples, at least 1. */
    bool repeats; /**< Whether `index` may contain a sample more than once. */
    bool groups;  /**< Whether `first` and `count` count groups: see saddle_problem::groups. */
} saddle_batch;

/** Returns the k-th sample number of a batch. */
static inline size_t saddle_batch_sample(const saddle_batch *batch, size_t k)
{
    return batch->index != NULL ? batch->index[k] : batch->first + k;
}

/**
 * A computation over some samples at a point (x, y), or its difference between two points. To every
 * output that is not NULL, add `scale` times the sum of the samples' terms.
 */
typedef struct saddle_part {
    saddle_batch batch;  /**< The samples. */
    double scale;        /**< The factor of every term. */
    const double *x, *y; /**< The point; y may be NULL if only the statistic is requested. */
    /** NULL, or the point whose gradient is subtracted; gx and gy are then the only outputs. */
    const double *x0, *y0;
    double *gx;    /**< The gradient in x; x_dim numbers. */
    double *gy;    /**< The gradient in y; y_dim numbers. */
    double *value; /**< The value f. */
    /** The squared norm of each sample's term of gx and gy, before `scale`. Only with gx and gy. */
    double *square;
    double *statistic; /**< The statistic for the best response; response_size numbers. */
    /** NULL or, for differences of a problem with add_rows(), the factor of each sample's row: set
     * along[k] for the k-th sample of the batch, and do not change gx. */
    double *along;
    const struct saddle_helpers *helpers; /**< Idle workers, set by the engine. NULL: none. */
} saddle_part;

/**
 * All mean gradients that the agents of a round request. Agents may request different numbers of
 * samples and points, or none, so the samples are listed point by point.
 */
typedef struct saddle_gradient_requests {
    size_t count;        /**< Number of points, at least 1. */
    const size_t *agent; /**< The agent of each point; ascending, possibly repeated. */
    /** The samples of point k are sample[start[k]] .. sample[start[k + 1] - 1]; count + 1
     * entries. */
    const size_t *start;
    const size_t *sample; /**< Sample numbers, from 0. */
    /** The points: count * x_dim and count * y_dim numbers, point by point. */
    const double *x, *y;
    double *gx, *gy; /**< Receive each point's gradient, averaged over its samples. */
} saddle_gradient_requests;

/**
 * The mean gradients that all agents of a round request where the engines `cuda` and `cuda-host` keep
 * the state. Points, samples and gradients are in the memory of the graphics card; with `cuda-host`,
 * in that of the process.
 */
typedef struct saddle_card_requests {
    /** The cudaStream_t in whose order they are read and written; NULL with `cuda-host`. The call may
     * return before that has happened. */
    void *stream;
    const size_t *count; /**< Number of samples of each agent, in the memory of the process. */
    /** The samples of agent i are sample[i * sample_stride] and those after it. NULL: all of its
     * samples, in order. */
    const uint32_t *sample;
    size_t sample_stride;   /**< At least the largest count. */
    size_t points;          /**< Of each agent, over the same samples: 1 or 2. */
    const double *point[2]; /**< x, then y, of agent i: at point[k] + i * stride. */
    size_t stride;          /**< From an agent to the next. */
    /** Receives the gradients in x, then y, of agent i: at gradient[k] + i * (x_dim + y_dim). */
    double *gradient[2];
} saddle_card_requests;

/** The constants of the theory; 0 if unknown. */
typedef struct saddle_constants {
    double lipschitz;        /**< L: every gradient of f_ij is L-Lipschitz over X x Y. */
    double strong_concavity; /**< mu: every F_i(x, .) is mu-strongly concave. */
    double primal_bound;     /**< A lower bound of Q(x) = max_y F(x, y) + h(x) over X. */
    bool has_primal_bound;   /**< Whether primal_bound is known. */
    bool estimated;          /**< Whether L or mu is an estimate, not a bound. */
} saddle_constants;

/** Which values of an outcome are better. */
typedef enum saddle_goal {
    SADDLE_SMALLER, /**< Smaller values, as of a loss or a gap. */
    SADDLE_LARGER   /**< Larger values, as of an accuracy. */
} saddle_goal;

/** A number that measures a solution in the user's terms, such as an accuracy. */
typedef struct saddle_outcome {
    const char *name;   /**< At most SADDLE_OUTCOME_NAME letters, digits and _; such as "auc". */
    double value;       /**< NaN if it is not defined. */
    saddle_goal better; /**< Which values are better. */
} saddle_outcome;

/** The largest length of an outcome's name. */
#define SADDLE_OUTCOME_NAME 60

/** The largest number of outcomes of a problem. */
#define SADDLE_MOST_OUTCOMES 16

/** The rows on which outcomes are measured. */
typedef struct saddle_outcome_rows {
    /** Held-out rows with labels of the kind saddle_problem_class::labels; NULL: the agents' own
     * samples. */
    const saddle_dataset *held_out;
    /** For the agents' own samples: those of agent i count if counted[i] is not 0; NULL: all do.
     * Agents that have left the network do not count. */
    const unsigned char *counted;
} saddle_outcome_rows;

/** Returns whether an agent's own samples count. */
static inline bool saddle_outcome_counts(const saddle_outcome_rows *rows, size_t agent)
{
    return rows->counted == NULL || rows->counted[agent] != 0;
}

struct saddle_device_problem;

/** An instance of a problem. Any change to this struct increases SADDLE_ABI. */
typedef struct saddle_problem saddle_problem;
struct saddle_problem {
    const char *name;      /**< For messages and the trace. */
    void *self;            /**< The instance's own data; the library does not touch it. */
    size_t x_dim;          /**< Length of x. */
    size_t y_dim;          /**< Length of y. */
    size_t agents;         /**< Number of agents m. */
    const size_t *samples; /**< n_i for each agent; each at least 1. */
    /** Functions may be called only for agents that are in this process of the world. NULL: for
     * all. */
    const saddle_world *world;
    size_t scratch;    /**< Number of doubles that the functions below may use as scratch. */
    const char *x_set; /**< The default set X; NULL: "none". */
    const char *y_set; /**< The default set Y; NULL: "none". */
    double tau;        /**< The default proximal weight, for nu = 0.1; 0: from L and mu. */
    double alpha;      /**< The default ascent step, for eta = 0.1; 0: from L. */
    /** Whether F already counts every row once, whatever agent holds it, so that agents cannot be
     * weighted by their samples: --agent-weights by-size has no effect. */
    bool counts_rows;
    /** Optional: one line that begins with an option, such as "--x-set: ". It is reported as a warning
     * if the user left this option to Saddle. NULL: none. */
    const char *note;

    /**
     * Optional: numbers that depend on which agents count and how much, such as the share of
     * positives among all rows. Functions must read them here, not from `self`: if agents are
     * weighted, or leave and join, they are called with a copy of the problem that has its own
     * numbers and the same `self`. On creation they hold for all agents, with the weights
     * saddle_problem_inputs::weight.
     */
    double *shared;
    size_t shared_size; /**< Length of `shared`. */
    /**
     * Required with `shared`. Computes problem->shared, and tau and alpha if they depend on it, for
     * agents that count weight[i] times; 0: not at all. The mean of the weights other than 0 is 1.
     * `problem` is a copy, with memory of its own for the numbers. Collective: called between
     * iterations in every process, and it may fail only after everything is exchanged, unless it
     * fails in all processes.
     */
    saddle_status (*share)(saddle_problem *problem, const double *weight, saddle_error *error);

    /**
     * Evaluates the problem over some of an agent's samples and adds the results to the outputs of
     * `part`. Terms that all samples share may be left to add_common(). The library may divide a
     * batch into several parts and evaluate them in different threads. Required if gradient() is
     * NULL.
     */
    void (*add_samples)(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch);
    /**
     * Optional. Adds part->scale times the terms that are the same for all samples of all agents to
     * gx, gy and value. It must not read the batch or write the other outputs. NULL: no such terms.
     */
    void (*add_common)(const saddle_problem *problem, const saddle_part *part);
    /**
     * Optional, if a sample's gradient in x is a number times its row. Adds along[k] times the row
     * of the k-th sample to gx, in the order of the batch. It allows a mini-batch to be divided
     * between threads although its rows are summed in a fixed order.
     */
    void (*add_rows)(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *along, double *gx);
    /** The approximate cost of one sample, in scalar multiplications. It decides how batches are
     * divided between threads and must be the same in all processes. 0: x_dim + y_dim. */
    double sample_cost;
    /**
     * Optional, for problems with add_samples(): structure in y that saves dense work. If it is
     * above 0, entry j of y (and of the statistic, if any) belongs to sample j, and grad_y f_ij is
     * -y_curvature y + constant, the same for all samples, plus a term that is nonzero in entry j
     * only. add_samples() then writes only the entries of its samples, and add_common() adds the
     * rest. In differences the library itself adds the linear part -y_curvature (y - y0) and calls
     * add_common() without gy. 0: no such structure.
     */
    double y_curvature;
    /**
     * Optional, for problems of one agent with add_samples(): the number of groups of samples such
     * that entry j of y (and of the statistic, if any) belongs to the samples of group j. If it is
     * above 0, add_samples() may be called for a range of groups (saddle_batch::groups). It then
     * writes only the entries of these groups, and add_common(), which must read batch.groups in
     * this case, adds the rest. 0: no groups.
     */
    size_t groups;

    /** Required without add_samples(), otherwise not called. Overwrites gx (x_dim) and gy (y_dim)
     * with the mean over the batch of grad f_ij at (x, y). */
    void (*gradient)(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch);
    /**
     * Optional, with gradient(): computes the gradients for all agents of a round in one call, for
     * code that is faster on many rows at a time. The thread that called the library calls it once
     * after each phase in which agents of this process request gradients or differences. All other
     * requests, such as those of inner loops and trace points, call gradient().
     */
    void (*gradients)(const saddle_problem *problem, const saddle_gradient_requests *requests);
    /**
     * Optional, with gradient(): like gradients(), for the engines `cuda` and `cuda-host`. Between two
     * trace points nothing else is called, and the state stays on the card.
     */
    void (*card_gradients)(const saddle_problem *problem, const saddle_card_requests *requests);
    /** Required without add_samples(), otherwise not called. Returns F_i(x, y) over all samples of
     * the agent. */
    double (*value)(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch);

    /**
     * Optional. Computes the best response y*(x) = argmax over Y of (1/m) sum_i F_i(x, .) from the
     * mean over agents of a statistic that each agent computes from its own samples. Returns
     * whether there is a closed form over this set. NULL or false: a generic solver is used.
     * `scratch` holds saddle_set_scratch(y_set) doubles in addition to the problem's own.
     */
    bool (*response_solve)(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch);
    /** Length of the statistic; may be 0. */
    size_t response_size;
    /** Computes the agent's statistic at x over all its samples. Required without add_samples() if
     * response_size is not 0. */
    void (*response_statistic)(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch);
    /** Optional. Returns (1/m) sum_i F_i(x, y), computed from the mean over agents of the
     * statistics at x, without reading the data again. NULL: the value of every agent is
     * computed. */
    double (*response_value)(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch);

    /** Optional. Fills in the constants that are known over the given sets; all are unknown on
     * entry. */
    saddle_status (*constants)(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error);
    /**
     * Optional. Fills in x and y and returns true if the saddle point without constraints and with
     * h = 0 is known. If it lies in X and Y, it is also the constrained saddle point.
     */
    bool (*solution)(const saddle_problem *problem, double *x, double *y);
    /**
     * Optional. Measures (x, y) on these rows in the user's terms: writes at most
     * SADDLE_MOST_OUTCOMES outcomes, always the same names in the same order, and stores their
     * number in `*count`. It is not part of the algorithm: it may read all agents' data, allocate,
     * and be slow. Without held-out rows it is collective: every process of the world calls it and
     * gets the same result. It may fail only after everything is exchanged, unless it fails in all
     * processes; the caller makes them agree.
     */
    saddle_status (*outcomes)(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error);
    /** Bytes that outcomes() allocates per row, for the estimate of a run's memory; 0: independent
     * of the number of rows. */
    size_t outcome_bytes;
    /**
     * Optional. Computes the score that the model (x, y) gives to each row: out[row]. A score above
     * 0 predicts +1, otherwise -1; the larger its magnitude, the more confident. For real labels it
     * is the prediction. Labels are not read, and neither are the instance's samples: it must work
     * on an instance made for scoring, see saddle_problem_inputs::scoring.
     */
    saddle_status (*scores)(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error);
    /**
     * Optional. If scores() computes w'a + v of a row a, fills in w, an entry per feature, and v
     * after it, and returns true. Otherwise returns false.
     */
    bool (*linear)(const saddle_problem *problem, const double *x, const double *y, double *out);
    /** Optional. Fills in the default starting point, before projection; used for --init auto. */
    void (*start)(const saddle_problem *problem, uint64_t seed, double *x, double *y);
    /** Optional, for built-in problems. Describes the problem to an engine that computes on a
     * graphics card (src/problems/device_problem.h); returns false if it has no code for that. */
    bool (*device)(const saddle_problem *problem, struct saddle_device_problem *out);
    /** Optional, for instances of a class. Frees what init() and join() allocated, but not the
     * instance. */
    void (*release)(saddle_problem *problem);
};

/** What a problem of a class is made from. It lives as long as the problem. */
typedef struct saddle_problem_inputs {
    /** The class's options struct, filled in; init() replaces "auto" by the value in use. NULL for
     * a class without one. */
    void *options;
    const char *argument;  /**< The text after a plug-in's path and colon; "" if there is none. */
    size_t agents;         /**< Number of agents. */
    size_t features;       /**< Number of columns of every agent's rows; 0 without data. */
    const size_t *samples; /**< Number of samples of each agent. */
    /** How much each agent counts in the objective, with mean 1; NULL: all the same. */
    const double *weight;
    /** Each agent's rows, with labels of the kind that the class names; NULL without data. */
    saddle_dataset *const *shard;
    const char *data;              /**< The name of the data; NULL: not known. */
    const saddle_columns *columns; /**< Names of the features; NULL: they have numbers only. */
    /** For SADDLE_LABELS_CLASSES: the label of each class in the file, ascending; otherwise
     * NULL. */
    const double *classes;
    size_t class_count;          /**< Length of `classes`. */
    uint64_t seed;               /**< For generated instances. */
    const saddle_mixing *mixing; /**< The network, for computations that agents do together. */
    const saddle_world *world; /**< Which agents are in this process; shard[i] of others is NULL. */
    /** Whether the instance is only used to compute scores, and outcomes on held-out rows, of a
     * saved model. Every shard is then one row of zeros, and options have the values that the run
     * found for "auto". */
    bool scoring;
} saddle_problem_inputs;

/** Whether the columns of a problem's rows may be scaled. */
typedef enum saddle_row_scaling {
    SADDLE_ROWS_AS_GIVEN, /**< No: the problem depends on the values themselves. */
    SADDLE_ROWS_DIVIDED,  /**< Yes, but not centred, because the model has no intercept. */
    SADDLE_ROWS_CENTRED   /**< Yes: the model has an intercept. */
} saddle_row_scaling;

/** A kind of problem: built in and chosen by name, or your own in a plug-in. */
typedef struct saddle_problem_class {
    const char *name;    /**< Required. Such as "robust-logistic". */
    const char *summary; /**< One line; NULL: none. */
    bool needs_data;     /**< Whether it is made from a data set, given in inputs->shard. */
    saddle_label_kind
        labels; /**< The kind of labels it needs; data with other labels are refused. */
    saddle_row_scaling scaling; /**< Whether columns may be scaled (option scale). */
    /** Optional. The option that lists columns whose values the problem reads itself, such as
     * groups; they are not scaled. */
    const saddle_option *attributes;
    /** Whether init() needs only the shards of the agents in this process, inputs->world->here.
     * Otherwise data in several processes are refused. */
    bool local_data;
    /** Its options, NULL-terminated; they fill inputs->options. Those of a plug-in are given after
     * the colon as name=value,name=value. NULL: init() reads inputs->argument. */
    const saddle_option *const *options;
    size_t options_size; /**< Bytes of the struct that its options fill; 0: none. */
    size_t size; /**< Required. Bytes of an instance, which begins with its saddle_problem. */
    saddle_problem common; /**< What all instances share: functions, and sizes that are fixed. */
    /** Required. Completes an instance from the inputs, without communicating with other processes.
     * Its saddle_problem is a copy of `common` with name, agents, samples and world from the inputs
     * and with self pointing to the instance; the rest of the instance is zero. Inputs are
     * borrowed; they live until after release(), which is also called after a failure. Report
     * errors by saddle_fail(). */
    saddle_status (*init)(void *instance, const saddle_problem_inputs *inputs, saddle_error *error);
    /** Optional. Completes the instance by communication through inputs->world. Called in every
     * process once init() has succeeded in all. It may fail only after everything is exchanged,
     * unless it fails in all processes. */
    saddle_status (*join)(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error);
} saddle_problem_class;

/** Returns all built-in kinds of problem; `*count` receives their number. */
SADDLE_API const saddle_problem_class *const *saddle_problem_list(size_t *count);
/** Finds the problem class of a name; the error for an unknown name lists all names. */
SADDLE_API saddle_status saddle_problem_find(const saddle_problem_class **out, const char *name,
                                             saddle_error *error);
/** Checks that an instance has all required functions and valid sizes. */
SADDLE_API saddle_status saddle_problem_check(const saddle_problem *problem, saddle_error *error);
/** Returns the number of doubles of scratch that the calls below need. */
SADDLE_API size_t saddle_problem_scratch(const saddle_problem *problem);
/** Overwrites gx, gy with the mean over the batch of grad f_ij at (x, y). */
SADDLE_API void saddle_problem_gradient(const saddle_problem *problem, size_t agent,
                                        const saddle_batch *batch, const double *x, const double *y,
                                        double *gx, double *gy, double *scratch);
/** Overwrites dx, dy with the mean over the batch of grad f_ij(x1, y1) - grad f_ij(x0, y0). */
SADDLE_API void saddle_problem_difference(const saddle_problem *problem, size_t agent,
                                          const saddle_batch *batch, const double *x1,
                                          const double *y1, const double *x0, const double *y0,
                                          double *dx, double *dy, double *scratch);
/** Overwrites gx, gy with the mean gradient, and returns the unbiased sample variance of the
 * per-sample gradients (x and y together; 0 for one sample). */
SADDLE_API double saddle_problem_gradient_variance(const saddle_problem *problem, size_t agent,
                                                   const saddle_batch *batch, const double *x,
                                                   const double *y, double *gx, double *gy,
                                                   double *scratch);
/** Returns F_i(x, y) over all samples of the agent. */
SADDLE_API double saddle_problem_value(const saddle_problem *problem, size_t agent, const double *x,
                                       const double *y, double *scratch);
/** Overwrites `statistic` (response_size) with the agent's statistic for the best response at x. */
SADDLE_API void saddle_problem_statistic(const saddle_problem *problem, size_t agent,
                                         const double *x, double *statistic, double *scratch);

/** What an agent can request from its problem. */
typedef enum saddle_request_kind {
    SADDLE_REQUEST_NONE = 0,   /**< Nothing. */
    SADDLE_REQUEST_GRADIENT,   /**< (gx, gy) = mean gradient over the batch at (x, y). */
    SADDLE_REQUEST_VARIANCE,   /**< The same, and the variance of the samples' gradients. */
    SADDLE_REQUEST_DIFFERENCE, /**< (gx, gy) = mean gradient at (x, y) minus that at (x0, y0). */
    /** The same without the linear part in y, and only the entries of gy that belong to the batch;
     * for problems with y_curvature. */
    SADDLE_REQUEST_BATCH_DIFFERENCE,
    SADDLE_REQUEST_VALUE,           /**< Mean of f at (x, y). */
    SADDLE_REQUEST_STATISTIC,       /**< Mean statistic at x, for the best response. */
    SADDLE_REQUEST_SURVEY,          /**< Mean gradient in x at (x, y), and the statistic at x. */
    SADDLE_REQUEST_SURVEY_AND_VALUE /**< The same, and the mean of f at (x, y). */
} saddle_request_kind;

/**
 * A request of one agent. A phase of an algorithm fills it in. Before the next phase runs, the
 * engine evaluates it and counts its IFO calls, one for each sample and point. It is not checked:
 * `kind` must be one of the above, the batch must hold at least one sample and only samples of the
 * agent, and the pointers that the kind uses must be set. Only problems with add_samples() can
 * evaluate a value or a statistic over fewer than all samples.
 */
typedef struct saddle_request {
    saddle_request_kind kind; /**< SADDLE_REQUEST_NONE: there is no request. */
    saddle_batch batch;       /**< The samples. */
    const double *x, *y;      /**< The point. */
    const double *x0, *y0;    /**< For a difference: the point whose gradient is subtracted. */
    double *gx, *gy;   /**< Receive the result, in agent->work or agent->kept, not in a point. */
    double *statistic; /**< Receives the statistic. */
    double variance;   /**< Receives the variance. */
    double value;      /**< Receives the value. */
    const struct saddle_helpers *helpers; /**< Idle workers, set by the engine. NULL: none. */
} saddle_request;

/**
 * Estimates L and mu where they are 0, at random points around (x, y), projected onto the sets. L
 * is the largest |grad f_ij(z + h d) - grad f_ij(z)| / h that power iterations on the direction d
 * find; mu is the smallest -<grad_y F_i(x, y') - grad_y F_i(x, y), y' - y> / |y' - y|^2. L is
 * underestimated and mu overestimated: they are not bounds. An estimate that is not positive is
 * left at 0. Collective if the problem has a world. It fails only when memory is short, possibly in
 * this process only.
 */
SADDLE_API saddle_status saddle_problem_estimate_constants(const saddle_problem *problem,
                                                           const saddle_set *x_set,
                                                           const saddle_set *y_set, const double *x,
                                                           const double *y, uint64_t seed,
                                                           saddle_constants *constants,
                                                           saddle_error *error);

/** The result of a gradient check. Errors are relative to the largest entry of the gradient. */
typedef struct saddle_gradient_check {
    double x_error;          /**< grad_x F_i against central differences of F_i. */
    double y_error;          /**< grad_y F_i against central differences of F_i. */
    double difference_error; /**< A difference against two gradients, on a batch. */
    double variance_error;   /**< The variance against that of one-sample gradients. */
    double batch_error;      /**< Mean of one-sample gradients against the full gradient. */
    bool kinks;              /**< Whether F_i seems to have kinks, where it has no gradient. */
    size_t agent;            /**< The agent with the largest error. */
} saddle_gradient_check;

/**
 * Checks an instance's gradients by finite differences, and its batch functions against each other,
 * at `points` random points of X x Y for every agent. The points depend on `seed` only. Collective
 * if the problem has a world; memory may be short in this process only.
 */
SADDLE_API saddle_status saddle_problem_check_gradient(const saddle_problem *problem,
                                                       const saddle_set *x_set,
                                                       const saddle_set *y_set, size_t points,
                                                       uint64_t seed, saddle_gradient_check *out,
                                                       saddle_error *error);

#endif
