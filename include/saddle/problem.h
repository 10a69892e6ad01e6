/**
 * @file problem.h
 * @brief What is optimized.
 *
 *     min over x in X, max over y in Y of  (1/m) sum_i F_i(x, y) + h(x),
 *     F_i(x, y) = (1/n_i) sum_j f_ij(x, y)
 *
 * A problem is a table of functions over agents and samples. Two are required; the others make
 * things faster or exact where the problem has more to say. A user's own problem is an instance of
 * ::saddle_problem filled in by hand: see examples/.
 *
 * Every function is called from several threads at once, for different agents, with scratch memory
 * of its own: it must not write to anything but its outputs and its scratch. A function that
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
    const uint32_t
        *index;   /**< Sample numbers, from 0, perhaps repeated; NULL: samples 0 .. count - 1. */
    size_t count; /**< How many; at least 1. */
} saddle_batch;

/** The k-th sample number of a batch. */
static inline size_t saddle_batch_sample(const saddle_batch *batch, size_t k)
{
    return batch->index != NULL ? batch->index[k] : k;
}

/** Constants of the theory; 0 where one is not known. */
typedef struct saddle_constants {
    double lipschitz;        /**< L: every gradient of f_ij is L-Lipschitz over X x Y. */
    double strong_concavity; /**< mu: every F_i(x, .) is mu-strongly concave. */
    double primal_bound;     /**< A lower bound of Q(x) = max_y F(x, y) + h(x) over X. */
    bool has_primal_bound;   /**< Whether primal_bound is known. */
    bool estimated;          /**< Whether L or mu is an estimate, not a bound. */
} saddle_constants;

/** A number that means something to a problem's user, such as an accuracy. */
typedef struct saddle_outcome {
    const char *name; /**< Letters, digits and _; such as "auc". Static. */
    double value;     /**< NaN where it is not defined. */
} saddle_outcome;

/** The most outcomes a problem has. */
#define SADDLE_MOST_OUTCOMES 16

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

    /** Required. Mean over the batch of grad f_ij at (x, y): overwrites gx (x_dim), gy (y_dim). */
    void (*gradient)(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch);
    /** Required. F_i(x, y) over all samples of the agent. */
    double (*value)(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch);

    /**
     * Optional. Mean over the batch of grad f_ij(x1, y1) - grad f_ij(x0, y0) in one pass over the
     * data: overwrites dx, dy (but see y_curvature). NULL: two calls of gradient().
     */
    void (*difference)(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                       const double *x1, const double *y1, const double *x0, const double *y0,
                       double *dx, double *dy, double *scratch);
    /**
     * Optional: structure that lets dense work be skipped. Above 0, entry j of y belongs to sample j,
     * and grad_y f_ij is -y_curvature y + constant, the same for all samples, and something of its own
     * in entry j alone. Then difference() leaves the linear part -y_curvature (y1 - y0) to
     * saddle_problem_difference(): it writes the entries of dy that belong to the batch, without that
     * part, and no others. 0: no such thing.
     */
    double y_curvature;
    /**
     * Optional. gradient() that also returns the unbiased sample variance of the per-sample
     * gradients (x and y parts together; 0 for one sample). NULL: sample by sample.
     */
    double (*gradient_variance)(const saddle_problem *problem, size_t agent,
                                const saddle_batch *batch, const double *x, const double *y,
                                double *gx, double *gy, double *scratch);

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
    /** The agent's statistic at x. Required when response_size is not 0. */
    void (*response_statistic)(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch);
    /** Optional: grad_x F_i(x, y) and the statistic at x in one pass over the agent's data, for trace
     * points: overwrites gx, statistic. NULL: gradient() and response_statistic(). */
    void (*survey)(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                   double *gx, double *statistic, double *scratch);
    /** Optional: (1/m) sum_i F_i(x, y) from the mean over agents of the statistics at x, without
     * another look at the data. NULL: value() of every agent. */
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
     * how many, always the same names in the same order. `held_out` NULL: on all agents' own samples;
     * otherwise on these rows, whose labels are +1 / -1; 0 where the problem has no use for them.
     * It is not part of the algorithm: it may look at all agents, allocate, and take its time.
     * Without held-out rows it is collective: every process of the world calls it and gets the
     * same answer. A failure must come after everything that is exchanged, or be the same in all
     * processes; the caller lets them agree.
     */
    saddle_status (*outcomes)(const saddle_problem *problem, const saddle_dataset *held_out,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error);
    /** Bytes that outcomes() takes for every row that it looks at, for the estimate of a run's memory; 0: what
     * it takes does not grow with them. */
    size_t outcome_bytes;
    /**
     * Optional. The score that the model in (x, y) gives every row of a data set: out[row]. Above 0
     * it says +1, otherwise -1; the larger, the more confident. Labels are not read. It needs no samples
     * of the instance: it works on one made for scoring, see saddle_problem_inputs.
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
    const char *argument;         /**< What followed a plug-in's path and colon; "": nothing. */
    size_t agents;                /**< Number of agents. */
    size_t features;              /**< Columns of every agent's rows; 0 if it needs none. */
    const size_t *samples;        /**< How many samples each agent has. */
    saddle_dataset *const *shard; /**< Each agent's rows, labels +1 / -1; NULL if it needs none. */
    uint64_t seed;                /**< For generated instances. */
    const saddle_mixing *mixing;  /**< The network, for what agents find out together. */
    const saddle_world *world;    /**< Which agents are here: shard[i] is NULL for the others. */
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
    bool local_data;     /**< Whether init() needs only the shards of the agents in this process,
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
/** problem->gradient. */
SADDLE_API void saddle_problem_gradient(const saddle_problem *problem, size_t agent,
                                        const saddle_batch *batch, const double *x, const double *y,
                                        double *gx, double *gy, double *scratch);
/** problem->difference, or its two-call equivalent. */
SADDLE_API void saddle_problem_difference(const saddle_problem *problem, size_t agent,
                                          const saddle_batch *batch, const double *x1,
                                          const double *y1, const double *x0, const double *y0,
                                          double *dx, double *dy, double *scratch);
/** problem->gradient_variance, or its sample-by-sample equivalent. */
SADDLE_API double saddle_problem_gradient_variance(const saddle_problem *problem, size_t agent,
                                                   const saddle_batch *batch, const double *x,
                                                   const double *y, double *gx, double *gy,
                                                   double *scratch);

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
    double difference_error; /**< difference() against two gradients, on a batch. */
    double variance_error;   /**< gradient_variance() against the sample-by-sample value. */
    double batch_error;      /**< Mean of one-sample gradients against the full gradient. */
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
