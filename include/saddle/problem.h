/**
 * @file problem.h
 * @brief What is optimized.
 *
 *     min over x in X, max over y in Y of  (1/m) sum_i F_i(x, y) + h(x),
 *     F_i(x, y) = (1/n_i) sum_j f_ij(x, y)
 *
 * A problem is a table of functions over agents and samples. Required are gradient() and value(), or
 * add_samples(), which works on any range of samples: the library makes gradients, differences,
 * variances, values and statistics from it, and several threads can share one agent's batch. The other
 * functions make things faster or exact where the problem has more to say. A user's own problem is an
 * instance of ::saddle_problem filled in by hand: see examples/.
 *
 * Every function is called from several threads at once, for different agents (add_samples() also for
 * different samples of one agent), with scratch memory of its own: it must not write to anything but
 * its outputs and its scratch. A function that
 * cannot deliver writes NaN. The run then ends with SADDLE_STOP_DIVERGED, and saddle_result::fault names agent,
 * iteration and variable; at the starting point the run is refused with SADDLE_BAD_INPUT instead.
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

#ifdef __cplusplus
extern "C" {
#endif

/** Samples to average over. */
typedef struct saddle_batch {
    const uint32_t *index; /**< Sample numbers, from 0, perhaps repeated; NULL: samples first ..
                                first + count - 1. */
    size_t first;          /**< The first sample where `index` is NULL; otherwise not read. */
    size_t count;          /**< How many; at least 1. */
    bool repeats;          /**< The index may hold a sample twice. */
    bool groups;           /**< `first` and `count` are of groups, see saddle_problem::groups. */
} saddle_batch;

/** The k-th sample number of a batch. */
static inline size_t saddle_batch_sample(const saddle_batch *batch, size_t k)
{
    return batch->index != NULL ? batch->index[k] : batch->first + k;
}

/**
 * What is to be computed over some samples at a point (x, y), or as the difference between two points.
 * Every output that is not NULL is added to: `scale` times the sum of the samples' terms.
 */
typedef struct saddle_part {
    saddle_batch batch;  /**< The samples. */
    double scale;        /**< The factor of every term. */
    const double *x, *y; /**< Where; y may be NULL where only a statistic is wanted. */
    const double *x0,
        *y0;        /**< NULL, or: minus the gradient here. There are gx and gy then, and no other
                                outputs. */
    double *gx;     /**< x_dim: the gradient in x. */
    double *gy;     /**< y_dim: the gradient in y. */
    double *value;  /**< f. */
    double *square; /**< The squared norm of what a sample adds to gx and gy, before `scale`. Only
                                together with gx and gy. */
    double *statistic; /**< response_size: the statistic of the best response. */
    double *
        along; /**< Of differences, with add_rows(): NULL, or one number for each sample of the batch,
                                which multiplies its row: it is put here, and gx is left alone. */
    const struct saddle_helpers
        *helpers; /**< The engine's: workers that help with one part. NULL: nobody. */
} saddle_part;

/**
 * Mean gradients that the agents of a round ask for, all at once. Agents ask for different numbers of samples and
 * of points, or for none, so samples are listed one point after the other.
 */
typedef struct saddle_gradient_requests {
    size_t count;        /**< Points; at least 1. */
    const size_t *agent; /**< Whose samples, for each point; ascending, perhaps repeated. */
    const size_t
        *start; /**< Samples start[k] .. start[k + 1] - 1 of the list are point k's; count + 1
                               entries. */
    const size_t *sample; /**< Sample numbers, from 0. */
    const double *x,
        *y;          /**< The points: count * x_dim and count * y_dim numbers, point by point. */
    double *gx, *gy; /**< Receive the mean over its samples of the gradient at each point. */
} saddle_gradient_requests;

/** Constants of the theory; 0 where one is not known. */
typedef struct saddle_constants {
    double lipschitz;        /**< L: every gradient of f_ij is L-Lipschitz over X x Y. */
    double strong_concavity; /**< mu: every F_i(x, .) is mu-strongly concave. */
    double primal_bound;     /**< A lower bound of Q(x) = max_y F(x, y) + h(x) over X. */
    bool has_primal_bound;   /**< Whether primal_bound is known. */
    bool estimated;          /**< Whether L or mu is an estimate, not a bound. */
} saddle_constants;

/** Which values of an outcome are better. */
typedef enum saddle_goal {
    SADDLE_SMALLER, /**< Such as those of a loss or a gap. */
    SADDLE_LARGER   /**< Such as those of an accuracy. */
} saddle_goal;

/** A number that means something to a problem's user, such as an accuracy. */
typedef struct saddle_outcome {
    const char *name;   /**< At most SADDLE_OUTCOME_NAME letters, digits and _; such as "auc". */
    double value;       /**< NaN where it is not defined. */
    saddle_goal better; /**< Which values are better. */
} saddle_outcome;

/** The longest name of an outcome. */
#define SADDLE_OUTCOME_NAME 60

/** The most outcomes a problem has. */
#define SADDLE_MOST_OUTCOMES 16

/** The rows on which outcomes are computed. */
typedef struct saddle_outcome_rows {
    const saddle_dataset
        *held_out; /**< These, with the labels that saddle_problem_class::labels says;
                                         NULL: the agents' own samples. */
    const unsigned char
        *counted; /**< Own samples: those of agent i count where counted[i] is not 0;
                                         NULL: all. Agents that have left the network do not count. */
} saddle_outcome_rows;

/** Whether an agent's own samples count. */
static inline bool saddle_outcome_counts(const saddle_outcome_rows *rows, size_t agent)
{
    return rows->counted == NULL || rows->counted[agent] != 0;
}

/** An instance of a problem. A change of this struct is one of SADDLE_ABI. */
typedef struct saddle_problem saddle_problem;
struct saddle_problem {
    const char *name;          /**< For messages and the trace. */
    void *self;                /**< The instance's own data; the library does not touch it. */
    size_t x_dim;              /**< Length of x. */
    size_t y_dim;              /**< Length of y. */
    size_t agents;             /**< Number of agents m. */
    const size_t *samples;     /**< n_i for each agent; each at least 1. */
    const saddle_world *world; /**< Whose functions may be called here: those of agents that are in
                                    this process. NULL: all agents'. */
    size_t scratch;            /**< Doubles of scratch the functions below may use. */
    const char *x_set;         /**< The set X used when the user names none; NULL: "none". */
    const char *y_set;         /**< The set Y used when the user names none; NULL: "none". */
    double tau;                /**< Proximal weight that suits it with nu = 0.1; 0: 1. */
    double alpha;              /**< Ascent step that suits it with eta = 0.1; 0: 1. */

    /**
     * The problem over some of an agent's samples: adds to the outputs of `part`. What all samples share may
     * be left to add_common(). The library calls it with parts of a batch, perhaps from several threads
     * at once. Required where gradient() is NULL.
     */
    void (*add_samples)(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch);
    /**
     * Optional. Adds part->scale times the terms that are the same for all samples of all agents to
     * gx, gy and value; the batch and the other outputs are not looked at. NULL: there are none.
     */
    void (*add_common)(const saddle_problem *problem, const saddle_part *part);
    /**
     * Optional, where a sample's gradient in x is a number times its row: gx += sum over the batch, in its order, of
     * along[k] times the row of the k-th sample. Mini-batches can then be divided by samples, though their rows are
     * added up in one order.
     */
    void (*add_rows)(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *along, double *gx);
    /** Roughly what one sample costs, in multiplications done one at a time. It decides how batches are
     * divided between threads and is the same in all processes. 0: x_dim + y_dim. */
    double sample_cost;
    /**
     * Optional: structure that lets dense work be skipped, for problems with add_samples(). Above 0, entry j
     * of y, and of the statistic if there is one, belongs to sample j, and grad_y f_ij is
     * -y_curvature y + constant, the same for all samples, and something of its own in entry j alone.
     * add_samples() then touches only the entries of its samples, and add_common() adds the rest; in
     * differences the library adds the linear part -y_curvature (y - y0) itself and gives add_common() no
     * gy. 0: no such thing.
     */
    double y_curvature;
    /**
     * Optional, for problems of one agent with add_samples(): how many groups its samples form, such that of y, and of the
     * statistic if there is one, entry j belongs to the samples of group j. Above 0, all samples may be given to add_samples()
     * in ranges of groups (saddle_batch::groups), for which it touches only the entries of these groups, and add_common(),
     * which then looks at batch.groups, adds what is left. 0: there are none.
     */
    size_t groups;

    /** Required without add_samples(), otherwise not called. Mean over the batch of grad f_ij at (x, y):
     * overwrites gx (x_dim), gy (y_dim). */
    void (*gradient)(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch);
    /**
     * Optional, beside gradient(): what it says of all agents of a round at once, for code that works on many rows at a
     * time. It is called on the thread that called the library, once after each phase in which agents of this process ask
     * for gradients or differences of them; whatever else is asked for, such as in inner loops and at trace points, is gradient()'s.
     */
    void (*gradients)(const saddle_problem *problem, const saddle_gradient_requests *requests);
    /** Required without add_samples(), otherwise not called. F_i(x, y) over all samples of the agent. */
    double (*value)(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch);

    /**
     * Optional: the best response y*(x) = argmax over Y of (1/m) sum_i F_i(x, .), from the mean
     * over agents of a statistic that each agent computes alone. Returns whether
     * there is a closed form over this set. NULL or false: a generic solver takes over. scratch has
     * capacity for saddle_set_scratch(y_set) doubles besides the problem's own.
     */
    bool (*response_solve)(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch);
    /** Length of the statistic; may be 0. */
    size_t response_size;
    /** The agent's statistic at x over all its samples. Required without add_samples() when response_size
     * is not 0. */
    void (*response_statistic)(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch);
    /** Optional: (1/m) sum_i F_i(x, y) from the mean over agents of the statistics at x, without
     * another look at the data. NULL: the value of every agent is computed. */
    double (*response_value)(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch);

    /** Optional. Constants over the given sets; `out` comes with none known. NULL: none known. */
    saddle_status (*constants)(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error);
    /**
     * Optional. The saddle point without constraints and with h = 0, if known: fills x and y and
     * returns true. It is the constrained one too where X and Y hold it.
     */
    bool (*solution)(const saddle_problem *problem, double *x, double *y);
    /**
     * Optional. Measures (x, y) in the user's terms: writes at most SADDLE_MOST_OUTCOMES, and to `*count`
     * how many, always the same names in the same order. It is not part of the algorithm: it may look at
     * all agents, allocate, and take its time. Without held-out rows it is collective: every process of
     * the world calls it and gets the same answer. A failure must come after everything that is exchanged, or be the same in all
     * processes; the caller lets them agree.
     */
    saddle_status (*outcomes)(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error);
    /** Bytes that outcomes() takes for every row that it looks at, for the estimate of a run's memory; 0: what
     * it takes does not grow with them. */
    size_t outcome_bytes;
    /**
     * Optional. The score that the model in (x, y) gives every row of a data set: out[row]. Above 0
     * it says +1, otherwise -1; the larger, the more confident. For real labels it is the prediction.
     * Labels are not read. It needs no samples of the instance: it works on one made for scoring, see
     * saddle_problem_inputs.
     */
    saddle_status (*scores)(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error);
    /** Optional. The starting point that suits it, before projection; used for --init auto. */
    void (*start)(const saddle_problem *problem, uint64_t seed, double *x, double *y);
    /** Optional, for instances of a class. Frees what init() and join() allocated, but not the instance. */
    void (*release)(saddle_problem *problem);
};

/** What a problem of a class is made from. It lives as long as the problem. */
typedef struct saddle_problem_inputs {
    void *options; /**< The class's options struct, filled in; init() replaces "auto" by the value
                                in use. NULL for a class without one. */
    const char *argument;  /**< What followed a plug-in's path and colon; "": nothing. */
    size_t agents;         /**< Number of agents. */
    size_t features;       /**< Columns of every agent's rows; 0 if it needs none. */
    const size_t *samples; /**< How many samples each agent has. */
    saddle_dataset *const
        *shard; /**< Each agent's rows with the labels that the class asks for; NULL
                                if it needs none. */
    const saddle_columns *columns; /**< Names of the features; NULL: they have numbers only. */
    const double *classes;         /**< For SADDLE_LABELS_CLASSES: the file's label of every class,
                                ascending; NULL for other kinds. */
    size_t class_count;            /**< Length of `classes`. */
    uint64_t seed;                 /**< For generated instances. */
    const saddle_mixing *mixing;   /**< The network, for what agents find out together. */
    const saddle_world *world;     /**< Which agents are here: shard[i] is NULL for the others. */
    bool
        scoring; /**< The instance is only used for scores and for outcomes on held-out rows, to use a
                       saved model. Every shard is then one row of zeros in place of the samples; options
                       have the values that the run found for "auto". */
} saddle_problem_inputs;

/** A kind of problem: built in and chosen by name, or of your own, in a plug-in. */
typedef struct saddle_problem_class {
    const char *name;    /**< Required. Such as "robust-logistic". */
    const char *summary; /**< One line; NULL: none. */
    bool needs_data;     /**< Whether it is made from a data set: inputs->shard is there. */
    saddle_label_kind
        labels;      /**< What it takes labels for; data that do not have such are refused. */
    bool local_data; /**< Whether init() needs only the shards of the agents in this process,
                              inputs->world->here. Otherwise data in several processes are refused. */
    const saddle_option *const
        *options;        /**< Its options, NULL-terminated: they fill inputs->options. Those
                              of a plug-in are given after the colon as name=value,name=value; NULL: init()
                              reads inputs->argument. */
    size_t options_size; /**< Bytes of the struct that its options fill; 0: none. */
    size_t size; /**< Required. Bytes of an instance, which begins with its saddle_problem. */
    saddle_problem
        common; /**< What all instances have in common: functions, and sizes that are fixed. */
    /** Required. Complete an instance from what this process has: nothing is exchanged with the others. Its
     * saddle_problem is `common` with name, agents, samples and world from the inputs, and self pointing to
     * the instance; what follows is zero. Inputs are borrowed; they live until after release(), which is
     * also called after a failure. What is wrong is reported through saddle_fail(). */
    saddle_status (*init)(void *instance, const saddle_problem_inputs *inputs, saddle_error *error);
    /** Optional. Complete the instance by what agents find out together through inputs->world. Called in
     * every process once all have made theirs; a failure must come after everything that is exchanged,
     * or be the same in all processes. */
    saddle_status (*join)(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error);
} saddle_problem_class;

/** All built-in kinds of problem; `*count` receives their number. */
SADDLE_API const saddle_problem_class *const *saddle_problem_list(size_t *count);
/** The kind of a name; an unknown name is refused with the list. */
SADDLE_API saddle_status saddle_problem_find(const saddle_problem_class **out, const char *name,
                                             saddle_error *error);
/** Refuse an instance with a required part missing, a zero size or the like. */
SADDLE_API saddle_status saddle_problem_check(const saddle_problem *problem, saddle_error *error);
/** Doubles of scratch that the calls below need. */
SADDLE_API size_t saddle_problem_scratch(const saddle_problem *problem);
/** Mean over the batch of grad f_ij at (x, y): overwrites gx, gy. */
SADDLE_API void saddle_problem_gradient(const saddle_problem *problem, size_t agent,
                                        const saddle_batch *batch, const double *x, const double *y,
                                        double *gx, double *gy, double *scratch);
/** Mean over the batch of grad f_ij(x1, y1) - grad f_ij(x0, y0): overwrites dx, dy. */
SADDLE_API void saddle_problem_difference(const saddle_problem *problem, size_t agent,
                                          const saddle_batch *batch, const double *x1,
                                          const double *y1, const double *x0, const double *y0,
                                          double *dx, double *dy, double *scratch);
/** The gradient, and the unbiased sample variance of the per-sample gradients (x and y together; 0 for
 * one sample). */
SADDLE_API double saddle_problem_gradient_variance(const saddle_problem *problem, size_t agent,
                                                   const saddle_batch *batch, const double *x,
                                                   const double *y, double *gx, double *gy,
                                                   double *scratch);
/** F_i(x, y), over all samples of the agent. */
SADDLE_API double saddle_problem_value(const saddle_problem *problem, size_t agent, const double *x,
                                       const double *y, double *scratch);
/** The agent's statistic for the best response at x: overwrites `statistic` (response_size). */
SADDLE_API void saddle_problem_statistic(const saddle_problem *problem, size_t agent,
                                         const double *x, double *statistic, double *scratch);

/** What can be asked of a problem. */
typedef enum saddle_request_kind {
    SADDLE_REQUEST_NONE = 0,         /**< Nothing. */
    SADDLE_REQUEST_GRADIENT,         /**< (gx, gy) = mean gradient over the batch at (x, y). */
    SADDLE_REQUEST_VARIANCE,         /**< The same, and the variance of the samples' gradients. */
    SADDLE_REQUEST_DIFFERENCE,       /**< (gx, gy) = that at (x, y) minus that at (x0, y0). */
    SADDLE_REQUEST_BATCH_DIFFERENCE, /**< The same without the linear part in y, and of gy only the
                                          entries of the batch: for problems with y_curvature. */
    SADDLE_REQUEST_VALUE,            /**< Mean of f at (x, y). */
    SADDLE_REQUEST_STATISTIC,        /**< Mean statistic at x, for the best response. */
    SADDLE_REQUEST_SURVEY            /**< Mean gradient in x at (x, y), and the statistic at x. */
} saddle_request_kind;

/**
 * A request of one agent. A phase of an algorithm states it; the engine evaluates it and counts its IFO
 * calls, one for each sample and point, before the next phase runs. It is evaluated without checks: `kind` is one of
 * the above, the batch has at least one sample, all of them the agent's, and the pointers that the kind uses are set. A
 * value or a statistic over fewer than all samples is for problems with add_samples().
 */
typedef struct saddle_request {
    saddle_request_kind kind; /**< SADDLE_REQUEST_NONE: there is none. */
    saddle_batch batch;       /**< Over which samples. */
    const double *x, *y;      /**< Where. */
    const double *x0, *y0;    /**< Of a difference: minus the gradient here. */
    double *gx, *gy;          /**< Receive the answer; in agent->work or agent->kept, apart from the
                                   points. */
    double *statistic;        /**< Receives the statistic. */
    double variance;          /**< Receives the variance. */
    double value;             /**< Receives the value. */
    const struct saddle_helpers *helpers; /**< The engine's: who helps. NULL: nobody. */
} saddle_request;

/**
 * Estimate those of L and mu that are 0, at random points around (x, y), projected onto the sets: L
 * as the largest |grad f_ij(z + h d) - grad f_ij(z)| / h that power iterations on the direction d
 * find, mu as the smallest -<grad_y F_i(x, y') - grad_y F_i(x, y), y' - y> / |y' - y|^2. L comes out
 * too small and mu too large: they are estimates, not bounds. One that comes out not positive
 * stays 0. Collective where the problem has a world; a failure, which can only be one of memory, may
 * be this process's alone.
 */
SADDLE_API saddle_status saddle_problem_estimate_constants(const saddle_problem *problem,
                                                           const saddle_set *x_set,
                                                           const saddle_set *y_set, const double *x,
                                                           const double *y, uint64_t seed,
                                                           saddle_constants *constants,
                                                           saddle_error *error);

/** What a gradient check found; errors are relative to the largest entry of the gradient. */
typedef struct saddle_gradient_check {
    double x_error;          /**< grad_x F_i against central differences of F_i. */
    double y_error;          /**< grad_y F_i against central differences of F_i. */
    double difference_error; /**< A difference against two gradients, on a batch. */
    double variance_error;   /**< The variance against that of one-sample gradients. */
    double batch_error;      /**< Mean of one-sample gradients against the full gradient. */
    bool kinks;              /**< Whether F_i seems to have kinks, where it has no gradient. */
    size_t agent;            /**< Where the worst of them was. */
} saddle_gradient_check;

/**
 * Check an instance's gradients by finite differences and its batch functions against each other,
 * at `points` random points of X x Y (seeded) for every agent. Collective where the problem has a
 * world; memory may be short in one process alone.
 */
SADDLE_API saddle_status saddle_problem_check_gradient(const saddle_problem *problem,
                                                       const saddle_set *x_set,
                                                       const saddle_set *y_set, size_t points,
                                                       uint64_t seed, saddle_gradient_check *out,
                                                       saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
