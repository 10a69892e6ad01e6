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

/** What a field of the published span is. */
typedef enum saddle_field_kind {
    SADDLE_FIELD_ITERATE, /**< Averaged with the neighbours; its mean need not be conserved. */
    SADDLE_FIELD_SUM /**< Its sum over agents equals that of the estimates it tracks, whenever an
                               iteration begins. Runs check it. */
} saddle_field_kind;

/** For saddle_field::estimate: there is none. */
#define SADDLE_NO_ESTIMATE SIZE_MAX

/** One field of the published span, such as x or the tracker p. */
typedef struct saddle_field {
    const char *name;       /**< The paper's name. */
    size_t offset;          /**< In the span; saddle_layout_add() fills it in. */
    size_t length;          /**< In doubles. */
    saddle_field_kind kind; /**< How links that lose messages may treat it. */
    size_t estimate; /**< Of a sum: where in the kept state the estimate is that it tracks. */
    double shift; /**< Entry k of the estimate is kept[estimate + k] - shift now[shift_offset + k]:
                            an algorithm may keep it in that form. 0: as it is. */
    size_t shift_offset;  /**< Where in the span the shift is; unused when `shift` is 0. */
    unsigned first_round; /**< It is sent from this round of an iteration on ... */
    unsigned last_round;  /**< ... to this one. Fields with the same rounds are mixed together. */
} saddle_field;

/** The most fields of a span. */
#define SADDLE_MOST_FIELDS 8
/** The most communication rounds of an iteration. */
#define SADDLE_MOST_ROUNDS 1000000

/**
 * What an algorithm asks for, sizes in doubles. The published span is a table of fields; an algorithm
 * without one gives `published` alone and is limited to links that lose nothing.
 */
typedef struct saddle_layout {
    size_t fields;                          /**< How many fields there are. */
    saddle_field field[SADDLE_MOST_FIELDS]; /**< In their order in the span. */
    size_t published;                       /**< Length of the span. */
    size_t kept;                            /**< State that stays with the agent. */
    size_t work;     /**< Memory that lasts from the first phase of a round to the last. */
    size_t scratch;  /**< Length of saddle_agent::scratch, besides the problem's and the sets'. */
    unsigned rounds; /**< Communication rounds per iteration, at most SADDLE_MOST_ROUNDS; 0: it does
                          not communicate. */
} saddle_layout;

/** Append a field to a layout whose `rounds` are set; it is sent in all of them. A run refuses a layout
 * with more than SADDLE_MOST_FIELDS of them. */
SADDLE_API void saddle_layout_add(saddle_layout *layout, const char *name, size_t length,
                                  saddle_field_kind kind, size_t estimate);

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

/** Everything one agent sees. The engine fills it; phases write `next`, `kept`, `work`, `request` and
 * `fault`. */
typedef struct saddle_agent {
    size_t id;                     /**< Its number, from 0. */
    size_t agents;                 /**< How many there are. */
    uint64_t iteration;            /**< t: `now` holds the state of iteration t. */
    uint64_t seed;                 /**< The run's seed. */
    const saddle_problem *problem; /**< Only this agent's samples may be used. */
    const saddle_prox *x_prox;     /**< h over X. */
    const saddle_set *y_set;       /**< Y. */
    const void *parameters;        /**< What the algorithm's init() made. */
    const double *now;             /**< Own published span of the last round. */
    double *next;                  /**< Own published span to be filled in. */
    double *kept;                  /**< Own private state. */
    size_t degree;                 /**< Number of neighbours. */
    const double *const
        *neighbour;       /**< Their published spans of the last round, by agent number. */
    const double *weight; /**< M_ij of each neighbour. */
    double self_weight;   /**< M_ii. */
    /** The fields of kind ::SADDLE_FIELD_SUM after mixing, laid out like the span, where links lose messages: what
     * arrived of a sum is not what neighbours have in their spans. NULL: sums are mixed like iterates.
     * saddle_agent_mix() reads it. */
    const double *mixed;
    const saddle_layout *layout; /**< The fields of the span. */
    unsigned round;              /**< Of the iteration, from 0. */
    double *work;                /**< Memory that lasts until the last phase of the round. */
    double *scratch; /**< Memory that lasts for one call of start(), run() or finish(). */
    uint32_t *index; /**< Capacity for n_i sample numbers, as long as `work`. */
    uint64_t *mark;  /**< All-zero marks for sampling; to be left all zero. */
    double oracle;   /**< See saddle_algorithm::oracle. */
    const struct saddle_helpers
        *helpers;           /**< The engine's: who helps with requests. NULL: nobody. */
    saddle_request request; /**< What the phase asks of the problem; the next one has the answer. */
    uint64_t ifo; /**< IFO calls so far; inner loops that call the problem themselves add theirs. */
    uint64_t ifo_limit; /**< Inner loops end once `ifo` has reached it; 0: no limit. */
    saddle_fault fault; /**< Set by a phase when the agent cannot continue. */
    double clock; /**< Simulated seconds until the end of its last round; the engine's. 0 without a
                       link model. */
} saddle_agent;

/** Where an agent's variables are; NULL for those an algorithm does not have. Borrowed. */
typedef struct saddle_view {
    const double *x; /**< The iterate. */
    const double *y; /**< The iterate. */
    const double
        *v; /**< Estimate of the local x-gradient, as it is kept: see saddle_field::shift. */
    const double *u; /**< Estimate of the local y-gradient, likewise. */
} saddle_view;

/** What an algorithm is configured from. */
typedef struct saddle_configuration {
    const saddle_instance
        *instance; /**< What it will run on. Borrowed for the length of the run. */
    /** As in the plan: NaN or 0 where a step is automatic. So are nu, eta, tau, alpha and their rule unless `options` lists them. */
    const saddle_steps *given;
    saddle_steps steps; /**< The same with nu, eta, tau, alpha and q resolved by the general rules;
                             init() fills in what the algorithm has its own rule for. */
} saddle_configuration;

/** The fewest coordinates of x, or of y, that belong together when a phase is divided: a block. Blocks are twice as long, or
 * more, where there would be more than SADDLE_MOST_BLOCKS. The first block of y is shorter, by x_dim mod 8, so that the others
 * begin on cache lines where y follows x. */
#define SADDLE_LEAST_BLOCK 256
/** The most blocks of x, or of y. */
#define SADDLE_MOST_BLOCKS 32
/** Sums over the coordinates of a block that a divided phase can make. */
#define SADDLE_BLOCK_SUMS 2

/** Some coordinates of x or y: whole blocks. */
typedef struct saddle_range {
    size_t first; /**< Where a block begins. */
    size_t last;  /**< One behind the last coordinate, where a block ends. */
    size_t block; /**< Coordinates of a block. */
    size_t shift; /**< Coordinate k is in block (k + shift) / block. */
    double *sums; /**< SADDLE_BLOCK_SUMS numbers for each block of the range, to be added to. */
} saddle_range;

/**
 * One phase of a round, such as PRECISION's move, estimate and track. It sees its own state and what its
 * neighbours published in the last round, and leaves what the next phase needs in agent->work.
 *
 * Most phases are one function, run(). Where work is done coordinate by coordinate, `divided` may do it: several
 * workers then call it at the same time, each for other blocks of coordinates. Sums over coordinates are made block by
 * block, and finish() gets them added in the order of the blocks, so that they have the same bits whoever made them.
 */
typedef struct saddle_phase {
    const char *name; /**< Such as "move". NULL ends a list. */
    /** The phase, or what comes before its divided part; NULL: nothing. */
    void (*run)(saddle_agent *agent);
    /** Optional, beside a divided part: whether run() has anything to do in this round, which is the same for all
     * agents. NULL: it has. */
    bool (*runs)(const saddle_agent *agent);
    /** Optional. Some coordinates of x and some of y; either may be none. It may write those entries of agent->next, kept
     * and work, and their sums. It must not use agent->scratch or mark. Of the last phase's request it may read the batch, and of
     * the answer only the entries of gx and gy for its own coordinates: another worker may still be computing gx while y is
     * done. */
    void (*divided)(const saddle_agent *agent, const saddle_range *x, const saddle_range *y);
    /** Optional. What comes after the divided part, with the sums over all blocks of x and of y. */
    void (*finish)(saddle_agent *agent, const double *x_sums, const double *y_sums);
} saddle_phase;

/** What an algorithm can do and what it costs: for `saddle algorithms`, and for refusals. */
typedef struct saddle_traits {
    bool centralized;   /**< It runs at one agent that holds all data; the library arranges that. */
    bool x_set;         /**< It handles a constraint on x. */
    bool y_set;         /**< It handles a constraint on y. */
    bool regularizer;   /**< It handles a nonsmooth h. */
    bool stochastic;    /**< It draws samples; otherwise it uses full local gradients. */
    bool feasible;      /**< Every iterate is in X and Y, whatever the step sizes. */
    bool potential;     /**< It has the nu and eta of the paper's Theorem 1, whose potential its
                             traces record. */
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
    size_t size;          /**< Bytes of its parameters struct. */
    saddle_traits traits; /**< What it can do. */
    bool heeds_limit; /**< Its phases read saddle_agent::ifo_limit: a budget changes its steps. */

    /** Check the combination and complete the parameters shared by all agents: they come zeroed but for
     * the fields of its own options, in which "auto" is to be replaced by the value in use. */
    saddle_status (*init)(void *parameters, saddle_configuration *configuration,
                          saddle_error *error);
    /** Optional. Free what init() allocated, but not the parameters themselves. */
    void (*release)(void *parameters);
    /** The sizes it needs; `out` comes zeroed. */
    void (*layout)(const void *parameters, const saddle_problem *problem, saddle_layout *out);
    /** Optional. The most IFO calls of the start, and of an iteration beyond saddle_agent::ifo_limit,
     * at all agents together; NULL: at most two for every sample. */
    uint64_t (*most_ifo)(const void *parameters, const saddle_problem *problem);
    /** Fill agent->next and agent->kept at t = agent->iteration, with x = x0 and y = y0. That is 0, but for an agent that
     * starts anew because others have come or gone: what it draws, and counts in iterations, must then follow it. */
    void (*start)(saddle_agent *agent, const double *x0, const double *y0);
    /** What one round of an iteration consists of; ends with a phase without a name. */
    const saddle_phase *phases;
    /** Where the variables are in agent->now and agent->kept; `out` comes zeroed, and what it
     * does not set stays NULL. x and y are required. */
    void (*view)(const saddle_agent *agent, saddle_view *out);
    /** Optional. The proximal point x~ at the current state, for a proximal weight tau. NULL: the network
     * gradient's is used. */
    void (*prox_point)(const saddle_agent *agent, double tau, double *x_tilde, double *scratch);
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

/** Evaluate agent->request, if there is one, count its IFO calls, and leave none. */
SADDLE_API void saddle_agent_evaluate(saddle_agent *agent);
/** Evaluate a request at once, as an inner loop needs it, and count its IFO calls. The engine's other workers help if they have
 * nothing to do. `scratch` is saddle_problem_scratch() doubles. */
SADDLE_API void saddle_agent_ask(saddle_agent *agent, saddle_request *request, double *scratch);

/**
 * Draw a mini-batch of the agent's samples into agent->index: `count` of them, or ceil(sqrt(n_i)) where that is 0; at most n_i.
 * It is a function of the run's seed, the agent and `iteration`, the same that built-in algorithms draw: those that draw one
 * mini-batch for each iterate name the iteration of that iterate. The next draw overwrites it.
 */
SADDLE_API saddle_batch saddle_agent_draw(saddle_agent *agent, uint64_t iteration, uint64_t count,
                                          bool replacement);

/** out[k] = M_ii now[offset + k] + sum_j M_ij neighbour_j[offset + k], k < count, in that order. */
SADDLE_API void saddle_agent_mix(const saddle_agent *agent, size_t offset, size_t count,
                                 double *out);

#ifdef __cplusplus
}
#endif
#endif
