/**
 * @file algorithm.h
 * @brief What ONE agent does in one communication round.
 *
 * An algorithm is a vertex program, written from the point of view of one agent, as in the paper's
 * "Algorithm 1 at Agent i": given its own state and what its neighbours published in the last
 * round, it computes and publishes the next state. It does not know whether a neighbour is in the
 * same process, in another process or in another building.
 *
 * The published part of the state is one contiguous span of doubles: an in-process neighbour is
 * read in place, a remote one is one message.
 */
#ifndef SADDLE_ALGORITHM_H
#define SADDLE_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/instance.h>
#include <saddle/option.h>
#include <saddle/problem.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes an algorithm asks for, in doubles. */
typedef struct saddle_layout {
    size_t published; /**< The span that neighbours read. */
    size_t kept;      /**< State that stays with the agent. */
    size_t scratch;   /**< Scratch besides the problem's and the sets'. */
    unsigned rounds;  /**< Communication rounds per iteration; 0: it does not communicate. */
} saddle_layout;

/** Why an agent could not go on. */
typedef enum saddle_fault_kind {
    SADDLE_FAULT_NONE = 0,  /**< All is well. */
    SADDLE_FAULT_NONFINITE, /**< A variable is not finite. */
    SADDLE_FAULT_RUNAWAY, /**< The metric grows without bound; the entry is the largest there is. */
    SADDLE_FAULT_STALLED  /**< Recursive differences stay zero though the iterate moves. */
} saddle_fault_kind;

/** What went wrong, where and when. */
typedef struct saddle_fault {
    saddle_fault_kind kind; /**< SADDLE_FAULT_NONE: nothing. */
    char variable[24];      /**< The paper's name of it, such as "x". */
    size_t agent;           /**< At which agent. */
    size_t index;           /**< At which entry of the variable. */
    uint64_t iteration;     /**< The iteration that made it. */
    double value;           /**< The entry: not finite, or so large that the loss soon is not. */
} saddle_fault;

/** Everything one agent sees. The engine fills it; step() writes `next`, `kept`, `ifo`, `fault`. */
typedef struct saddle_agent {
    size_t id;                     /**< Its number, from 0. */
    size_t agents;                 /**< How many there are. */
    uint64_t iteration;            /**< t: `now` holds the state of iteration t. */
    uint64_t seed;                 /**< The run's seed. */
    const saddle_problem *problem; /**< Only this agent's samples may be used. */
    const saddle_prox *x_prox;     /**< h over X. */
    const saddle_set *y_set;       /**< Y. */
    const void *parameters;        /**< What the algorithm's configure() made. */
    const double *now;             /**< Own published span of the last round. */
    double *next;                  /**< Own published span to be filled in. */
    double *kept;                  /**< Own private state. */
    size_t degree;                 /**< Number of neighbours. */
    const double *const
        *neighbour;       /**< Their published spans of the last round, by agent number. */
    const double *weight; /**< M_ij of each neighbour. */
    double self_weight;   /**< M_ii. */
    double *scratch;      /**< Memory that lasts for one call. */
    uint32_t *index;      /**< Room for n_i sample numbers that lasts for one call. */
    uint64_t *mark;       /**< All-zero marks for sampling; to be left all zero. */
    double oracle;        /**< See saddle_algorithm::oracle. */
    uint64_t ifo;         /**< IFO calls so far; step() adds its own. */
    uint64_t ifo_limit;   /**< Inner loops end once `ifo` has reached it; 0: no limit. */
    saddle_fault fault;   /**< Set by step() when it cannot go on. */
} saddle_agent;

/** Where an agent's variables are; NULL for those an algorithm does not have. Borrowed. */
typedef struct saddle_view {
    const double *x; /**< The iterate. */
    const double *y; /**< The iterate. */
    const double *p; /**< Tracker of the x-gradient. */
    const double *d; /**< Tracker of the y-gradient. */
    const double *v; /**< Estimate of the local x-gradient. */
    const double *u; /**< Estimate of the local y-gradient, if u_shift is 0. */
    double u_shift;  /**< The estimate is u - u_shift y: an algorithm may keep it in that form. */
} saddle_view;

/** What an algorithm is configured from. */
typedef struct saddle_configuration {
    const saddle_instance
        *instance;             /**< What it will run on. Borrowed for the length of the run. */
    const saddle_steps *given; /**< As in the plan: NaN or 0 where a step is automatic. */
    saddle_steps steps; /**< The same with nu, eta, tau, alpha and q resolved by the general rules;
                             configure() fills in what the algorithm has its own rule for. */
} saddle_configuration;

/** What an algorithm can do and what it costs: for `saddle algorithms`, and for refusals. */
typedef struct saddle_traits {
    bool centralized;   /**< It runs at one agent that holds all data; the library arranges that. */
    bool x_set;         /**< It handles a constraint on x. */
    bool y_set;         /**< It handles a constraint on y. */
    bool regularizer;   /**< It handles a nonsmooth h. */
    bool stochastic;    /**< It draws samples; otherwise it uses full local gradients. */
    bool feasible;      /**< Every iterate is in X and Y, whatever the step sizes. */
    const char *ifo;    /**< IFO calls of one iteration at one agent, as a formula. */
    const char *rounds; /**< Communication rounds of one iteration, as a formula. */
    const char *message;       /**< Doubles of one message, as a formula. */
    const char *samples;       /**< Published sample complexity. */
    const char *communication; /**< Published communication complexity. */
} saddle_traits;

/**
 * How pictures draw an algorithm: the same colour and dashes everywhere. The built-in colours are those of
 * Okabe and Ito and of Tol, which readers with any common kind of colour blindness can tell apart;
 * algorithms whose colours are close differ in their dashes.
 */
typedef struct saddle_look {
    const char *light;  /**< Colour on a white background, "#rrggbb". */
    const char *dark;   /**< Colour on a black background. */
    const char *dashes; /**< Lengths of strokes and gaps, "6 3"; "" for a solid line. */
} saddle_look;

/** A kind of algorithm that can be asked for by name. */
typedef struct saddle_algorithm {
    const char *name;     /**< Such as "precision". */
    const char *title;    /**< As papers write it: "PRECISION+"; NULL: the name. */
    saddle_look look;     /**< Its curves in pictures. */
    const char *summary;  /**< One line. */
    const char *citation; /**< Where it was published. */
    const saddle_option *const
        *options;         /**< The options it reads; NULL-terminated. Those of its own
                                              have fields in its parameters. */
    size_t parameters;    /**< Bytes of its parameters struct. */
    saddle_traits traits; /**< What it can do. */
    bool heeds_limit;     /**< step() reads saddle_agent::ifo_limit. */
    bool tracks; /**< view() gives p, d, v, u, and the means of p and v, d and u over agents agree.
                  */

    /** Check the combination and complete the parameters shared by all agents: they come zeroed but for
     * the fields of its own options, in which "auto" is to be replaced by the value in use. */
    saddle_status (*configure)(void *parameters, saddle_configuration *configuration,
                               saddle_error *error);
    /** Optional. Free what configure() allocated, but not the parameters themselves. */
    void (*release)(void *parameters);
    /** The sizes it needs. */
    void (*layout)(const void *parameters, const saddle_problem *problem, saddle_layout *out);
    /** Optional. The most IFO calls of the start, and of an iteration beyond saddle_agent::ifo_limit,
     * at all agents together; NULL: at most two for every sample. */
    uint64_t (*most_ifo)(const void *parameters, const saddle_problem *problem);
    /** Doubles sent to each neighbour in a round of an iteration; NULL: the published span. */
    size_t (*message)(const void *parameters, const saddle_layout *layout, unsigned round);
    /** Fill agent->next and agent->kept at t = 0; next starts with x = x0, y = y0. */
    void (*start)(saddle_agent *agent, const double *x0, const double *y0);
    /** Go from iteration t to t + 1, or through one round of it. */
    void (*step)(saddle_agent *agent, unsigned round);
    /** Where the variables are in agent->now and agent->kept. */
    void (*view)(const saddle_agent *agent, saddle_view *out);
    /** Optional. The proximal point x~ at the current state. NULL: the network gradient's is used.
     */
    void (*prox_point)(const saddle_agent *agent, double *x_tilde, double *scratch);
    /**
     * Optional, for simulations only: a number that no agent can know, computed from all agents
     * before each iteration and put into every agent's `oracle`. NULL: none. Engines that cannot
     * see all agents refuse parameters that want it.
     */
    bool (*wants_oracle)(const void *parameters);
    /** See wants_oracle. `x_mean` and `scratch` are scratch: x_dim doubles, and layout's. */
    double (*oracle)(saddle_agent *agents, size_t count, double *x_mean, double *scratch);
} saddle_algorithm;

/** All algorithms; `*count` receives their number. */
SADDLE_API const saddle_algorithm *const *saddle_algorithm_list(size_t *count);
/** The algorithm of a name; an unknown name is refused with the list. */
SADDLE_API saddle_status saddle_algorithm_find(const saddle_algorithm **out, const char *name,
                                               saddle_error *error);

/** out[k] = M_ii now[offset + k] + sum_j M_ij neighbour_j[offset + k], k < count, in that order. */
SADDLE_API void saddle_agent_mix(const saddle_agent *agent, size_t offset, size_t count,
                                 double *out);

#ifdef __cplusplus
}
#endif
#endif
