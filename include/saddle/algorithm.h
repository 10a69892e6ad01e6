/**
 * @file algorithm.h
 * @brief Algorithms: what one agent does in one communication round.
 *
 * An algorithm is a vertex program, written from the point of view of one agent, as in the paper's
 * "Algorithm 1 at Agent i": from its own state and what its neighbours published in the last round
 * it computes and publishes the next state. It does not know whether a neighbour is in the same
 * process or on another machine.
 *
 * The published part of the state, the span, is a contiguous array of doubles. The span of a
 * neighbour in the same process is read in place; that of a remote neighbour arrives as one
 * message.
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

/** How a field of the published span behaves under mixing. */
typedef enum saddle_field_kind {
    SADDLE_FIELD_ITERATE, /**< Averaged with the neighbours; its mean need not be conserved. */
    /** At the start of every iteration, its sum over agents equals that of the estimates it
     * tracks. Runs check this. */
    SADDLE_FIELD_SUM
} saddle_field_kind;

/** Value of saddle_field::estimate for a field that tracks no estimate. */
#define SADDLE_NO_ESTIMATE SIZE_MAX

/** One field of the published span, such as x or the tracker p. */
typedef struct saddle_field {
    const char *name;       /**< The paper's name. */
    size_t offset;          /**< Offset in the span; saddle_layout_add() fills it in. */
    size_t length;          /**< In doubles. */
    saddle_field_kind kind; /**< How links that lose messages may treat it. */
    size_t estimate; /**< Of a sum: offset in the kept state of the estimate that it tracks. */
    /** Entry k of the estimate is kept[estimate + k] - shift * now[shift_offset + k]: an
     * algorithm may store it in this form. 0: entry k is kept[estimate + k]. */
    double shift;
    size_t shift_offset;  /**< Offset in the span; unused if `shift` is 0. */
    unsigned first_round; /**< The first round of an iteration in which the field is sent. */
    unsigned last_round;  /**< The last one. Fields with the same rounds are mixed together. */
} saddle_field;

/** The largest number of fields in a span. */
#define SADDLE_MOST_FIELDS 8
/** The largest number of communication rounds per iteration. */
#define SADDLE_MOST_ROUNDS 1000000

/**
 * The memory that an algorithm needs per agent, in doubles. The published span is described by a
 * table of fields; an algorithm that sets only `published` is limited to links that lose no
 * messages.
 */
typedef struct saddle_layout {
    size_t fields;                          /**< Number of fields. */
    saddle_field field[SADDLE_MOST_FIELDS]; /**< The fields, in the order of the span. */
    size_t published;                       /**< Length of the span. */
    size_t kept;                            /**< Length of the agent's private state. */
    size_t work;     /**< Memory that lasts from the first phase of a round to the last. */
    size_t scratch;  /**< Length of saddle_agent::scratch, without the problem's and the sets'. */
    unsigned rounds; /**< Communication rounds per iteration; 0: it does not communicate. */
} saddle_layout;

/** Appends a field to a layout whose `rounds` is set. The field is sent in all rounds. A run
 * refuses a layout with more than SADDLE_MOST_FIELDS fields. */
SADDLE_API void saddle_layout_add(saddle_layout *layout, const char *name, size_t length,
                                  saddle_field_kind kind, size_t estimate);

/** Why an agent could not continue. */
typedef enum saddle_fault_kind {
    SADDLE_FAULT_NONE = 0,  /**< No fault. */
    SADDLE_FAULT_NONFINITE, /**< A variable is not finite. */
    SADDLE_FAULT_RUNAWAY, /**< The metric grows without bound; the fault names the largest entry. */
    SADDLE_FAULT_STALLED, /**< Recursive differences stay zero although gradients change. */
    SADDLE_FAULT_DEVICE   /**< A graphics card failed; the variable is the name of the error. */
} saddle_fault_kind;

/** What went wrong, where and when. */
typedef struct saddle_fault {
    saddle_fault_kind kind; /**< SADDLE_FAULT_NONE: nothing went wrong. */
    char variable[24];      /**< The paper's name of the variable, such as "x". */
    size_t agent;           /**< The agent. */
    size_t index;           /**< The entry of the variable. */
    uint64_t iteration;     /**< The iteration that computed it. */
    double value;           /**< The entry's value: not finite, or very large. */
} saddle_fault;

/** Everything that one agent sees. The engine fills it in; phases write `next`, `kept`, `work`,
 * `request` and `fault`. */
typedef struct saddle_agent {
    size_t id;                      /**< The agent's number, from 0. */
    size_t agents;                  /**< Number of agents. */
    uint64_t iteration;             /**< t: `now` holds the state of iteration t. */
    uint64_t seed;                  /**< The run's seed. */
    const saddle_problem *problem;  /**< Only this agent's samples may be used. */
    const saddle_prox *x_prox;      /**< h over X. */
    const saddle_set *y_set;        /**< Y. */
    const void *parameters;         /**< The parameters completed by the algorithm's init(). */
    const double *now;              /**< The agent's span of the last round. */
    double *next;                   /**< The agent's span of this round, to be filled in. */
    double *kept;                   /**< The agent's private state. */
    size_t degree;                  /**< Number of neighbours. */
    const double *const *neighbour; /**< Their spans of the last round, ordered by agent number. */
    const double *weight;           /**< M_ij of each neighbour. */
    double self_weight;             /**< M_ii. */
    /** With links that lose messages: the fields of kind ::SADDLE_FIELD_SUM after mixing, laid
     * out like the span, because what arrived of a sum differs from what neighbours have in
     * their spans. NULL: sums are mixed like iterates. saddle_agent_mix() reads it. */
    const double *mixed;
    const saddle_layout *layout; /**< The fields of the span. */
    unsigned round;              /**< The round of the iteration, from 0. */
    double *work;                /**< Memory that lasts until the last phase of the round. */
    double *scratch; /**< Memory that lasts for one call of start(), before() or after(). */
    uint32_t *index; /**< Capacity for n_i sample numbers; lasts as long as `work`. */
    uint64_t *mark;  /**< A bitmap for sampling, all zero; must be all zero again after use. */
    double oracle;   /**< See saddle_algorithm::oracle. */
    const struct saddle_row_noise *row_noise; /**< Set by the engine; NULL: exact gradients. */
    const struct saddle_helpers *helpers;     /**< Idle workers, set by the engine. NULL: none. */
    const struct saddle_blocks *blocks;       /**< All blocks of x and y, set by the engine. */
    saddle_request request; /**< The phase's request; the next phase finds the result in it. */
    uint64_t ifo; /**< IFO calls so far. Code that calls the problem directly must add its own. */
    uint64_t ifo_limit; /**< Inner loops end once `ifo` has reached it; 0: no limit. */
    saddle_fault fault; /**< Set by a phase if the agent cannot continue. */
    double clock; /**< Set by the engine: simulated time at the end of its last round, in seconds; 0
                       without a link model. */
} saddle_agent;

/** Pointers to an agent's variables; NULL for those that an algorithm does not have. Borrowed. */
typedef struct saddle_view {
    const double *x; /**< The iterate x. */
    const double *y; /**< The iterate y. */
    const double *v; /**< Estimate of the local x-gradient, as stored: see saddle_field::shift. */
    const double *u; /**< Estimate of the local y-gradient, as stored. */
    /** What a built-in algorithm knows of the noise of its estimates: src/algorithms/noise.h. */
    const double *noise;
} saddle_view;

/** What an algorithm is configured from. */
typedef struct saddle_configuration {
    const saddle_instance *instance; /**< The instance. Borrowed until the run ends. */
    /** The steps as in the plan: NaN or 0 where automatic. nu, eta, tau, alpha and `rule` also
     * are automatic unless the algorithm's options list them. */
    const saddle_steps *given;
    /** The same with nu, eta, tau, alpha and q resolved by the general rules. init() resolves
     * the others by the algorithm's own rules. */
    saddle_steps steps;
} saddle_configuration;

/** The smallest number of coordinates in a block, the unit in which workers share a phase's
 * blocks(). Blocks are longer, by powers of two, if there would be more than
 * SADDLE_MOST_BLOCKS of them. The first block of y is shorter by x_dim mod 8, so that the others
 * begin on cache lines if y follows x. */
#define SADDLE_LEAST_BLOCK 256
/** The largest number of blocks of x, or of y. */
#define SADDLE_MOST_BLOCKS 32
/** The number of sums over the coordinates of a block that a phase can compute. */
#define SADDLE_BLOCK_SUMS 2

/** A range of coordinates of x or y that consists of complete blocks. */
typedef struct saddle_range {
    size_t first; /**< The first coordinate, where a block begins. */
    size_t last;  /**< One past the last coordinate, where a block ends. */
    size_t block; /**< Number of coordinates of a block. */
    size_t shift; /**< Coordinate k is in block (k + shift) / block. */
    double *sums; /**< SADDLE_BLOCK_SUMS numbers for each block of the range, to add to. */
} saddle_range;

/**
 * One phase of a round, such as PRECISION's move, estimate and track. It reads the agent's own
 * state and what its neighbours published in the last round, and leaves what the next phase needs
 * in agent->work.
 *
 * Most phases are one function, before(). Work that is done coordinate by coordinate can be put
 * into blocks(), which runs after it: several workers call blocks() at the same time, each for
 * different blocks of coordinates. Sums over coordinates are computed per block and added in the
 * order of the blocks before after() gets them, so that their bits do not depend on the workers.
 */
typedef struct saddle_phase {
    const char *name; /**< Such as "move". NULL ends a list. */
    /** The complete phase, or what precedes its blocks(); NULL: nothing. */
    void (*before)(saddle_agent *agent);
    /** Optional, with blocks(). Returns whether before() has anything to do in this round, the
     * same for all agents. NULL: it always has. */
    bool (*has_before)(const saddle_agent *agent);
    /** Optional. Processes some coordinates of x and some of y; either range may be empty. It
     * may write these entries of agent->next, kept and work, and the sums of the ranges. It must
     * not use agent->scratch or mark. Of the previous phase's request it may read the batch and
     * its own coordinates of gx and gy, but nothing else: another worker may still be computing
     * gx while y is processed. */
    void (*blocks)(const saddle_agent *agent, const saddle_range *x, const saddle_range *y);
    /** Optional, with blocks(). What follows them; gets the sums over all blocks of x and of y. */
    void (*after)(saddle_agent *agent, const double *x_sums, const double *y_sums);
} saddle_phase;

/** What an algorithm can do and what it costs. `saddle algorithms` prints it, and runs check it. */
typedef struct saddle_traits {
    bool centralized;   /**< It runs at one agent that holds all data, which the library creates. */
    bool x_set;         /**< It supports a constraint on x. */
    bool y_set;         /**< It supports a constraint on y. */
    bool regularizer;   /**< It supports a nonsmooth h. */
    bool stochastic;    /**< It draws samples; otherwise it uses full local gradients. */
    bool feasible;      /**< Every iterate is in X and Y for all step sizes. */
    bool settles;       /**< The noise of its estimates vanishes as it converges. */
    bool fresh_batches; /**< The start and each iteration use one new batch, for one gradient. */
    bool potential;     /**< It has the nu and eta of Theorem 1; its traces record the potential. */
    /** Optional. What its theorem assumes, and what Saddle adds to the method. */
    const char *assumes;
    const char *ifo;           /**< IFO calls of one iteration at one agent, as a formula. */
    const char *rounds;        /**< Communication rounds of one iteration, as a formula. */
    const char *message;       /**< Number of doubles in one message, as a formula. */
    const char *samples;       /**< Published sample complexity. */
    const char *communication; /**< Published communication complexity. */
} saddle_traits;

/**
 * How an algorithm's curve is drawn in all pictures. The built-in colours are those of Okabe and
 * Ito and of Tol, which readers with any common kind of colour blindness can distinguish;
 * algorithms with similar colours have different dashes.
 */
typedef struct saddle_look {
    const char *light;  /**< Colour on a white background, "#rrggbb". */
    const char *dark;   /**< Colour on a black background. */
    const char *dashes; /**< Lengths of dashes and gaps, such as "6 3"; "" for a solid line. */
} saddle_look;

/** How an algorithm chooses the value of an option that is not given. */
typedef struct saddle_automatic {
    const saddle_option *option;
    const char *rule; /**< Such as "0.3/tau". */
} saddle_automatic;

/** How an option is chosen: SADDLE_AUTOMATIC(saddle_option_eta_x, "0.3/tau"). */
/* clang-format off */
#define SADDLE_AUTOMATIC(of, words_) {.option = &(of), .rule = (words_)}
/* clang-format on */

struct saddle_device_steps;

/** An algorithm. */
typedef struct saddle_algorithm {
    const char *name;     /**< Such as "precision". */
    const char *title;    /**< As papers write it, such as "PRECISION+"; NULL: the name. */
    saddle_look look;     /**< How its curve is drawn. */
    const char *summary;  /**< One line. */
    const char *citation; /**< Where it was published. */
    /** The options it reads, NULL-terminated. Its own options have fields in its parameters. */
    const saddle_option *const *options;
    /** Optional. How init() chooses values of options that are not given, where it does not do what
     * the help of the option says; ends with an entry without an option. */
    const saddle_automatic *automatic;
    size_t size;          /**< Bytes of its parameters struct. */
    saddle_traits traits; /**< What it can do. */
    /** Its phases read saddle_agent::ifo_limit: a budget changes its steps. */
    bool respects_limit;

    /** Checks the combination and completes the parameters, which all agents share. They are
     * zero on entry, except for the fields of the algorithm's own options; replace "auto" in
     * these by the value in use. */
    saddle_status (*init)(void *parameters, saddle_configuration *configuration,
                          saddle_error *error);
    /** Optional. Frees what init() allocated, but not the parameters themselves. */
    void (*release)(void *parameters);
    /** Fills in the memory it needs; `out` is zero on entry. */
    void (*layout)(const void *parameters, const saddle_problem *problem, saddle_layout *out);
    /** Optional. Returns an upper bound, over all agents together, on the IFO calls of start()
     * and on those of an iteration beyond saddle_agent::ifo_limit. NULL: two for every sample. */
    uint64_t (*most_ifo)(const void *parameters, const saddle_problem *problem);
    /** Fills agent->next and agent->kept at t = agent->iteration, with x = x0 and y = y0. t is
     * 0, unless the agent starts anew because agents have left or joined; batches and iteration
     * counts must follow t. */
    void (*start)(saddle_agent *agent, const double *x0, const double *y0);
    /** The phases of one round; the list ends with a phase without a name. */
    const saddle_phase *phases;
    /** Sets pointers to the variables in agent->now and agent->kept. All are NULL on entry; x
     * and y are required. */
    void (*view)(const saddle_agent *agent, saddle_view *out);
    /** Optional. Computes the proximal point x~ at the current state for a proximal weight tau.
     * NULL: it is computed from the gradient of the network's loss. */
    void (*prox_point)(const saddle_agent *agent, double tau, double *x_tilde, double *scratch);
    /**
     * Optional, for simulations only. Returns whether oracle() is to be called before each
     * iteration, to compute from all agents a number that no single agent can know and to store it
     * in every agent's `oracle`. NULL: no. Engines whose processes hold only some of the agents
     * refuse such parameters.
     */
    bool (*wants_oracle)(const void *parameters);
    /** See wants_oracle(). `x_mean` has x_dim doubles, `scratch` those of the layout. */
    double (*oracle)(saddle_agent *agents, size_t count, double *x_mean, double *scratch);
    /** Optional, for built-in algorithms. Describes the algorithm to an engine that computes on a
     * graphics card (src/algorithms/device_steps.h). Returns false if it has no code for that, and in
     * `*option` the option whose value is the reason; NULL: the algorithm itself is. */
    bool (*device)(const void *parameters, const saddle_instance *instance,
                   struct saddle_device_steps *out, const char **option);
} saddle_algorithm;

/** Returns all built-in algorithms; `*count` receives their number. */
SADDLE_API const saddle_algorithm *const *saddle_algorithm_list(size_t *count);
/** Writes the help of an option, and the saddle_algorithm::automatic of it on lines of their own: that
 * of one algorithm, or (NULL) those of all built-in ones. Returns `out`. */
SADDLE_API const char *saddle_option_help(const saddle_option *option,
                                          const saddle_algorithm *algorithm, char *out,
                                          size_t size);
/** Finds the algorithm of a name; the error for an unknown name lists all names. */
SADDLE_API saddle_status saddle_algorithm_find(const saddle_algorithm **out, const char *name,
                                               saddle_error *error);

/** Evaluates agent->request, if there is one, counts its IFO calls, and clears it. */
SADDLE_API void saddle_agent_evaluate(saddle_agent *agent);
/** Evaluates a request at once instead of after the phase, for inner loops, and counts its IFO
 * calls. Idle workers of the engine help. `scratch` has saddle_problem_scratch() doubles. */
SADDLE_API void saddle_agent_evaluate_now(saddle_agent *agent, saddle_request *request,
                                          double *scratch);

/**
 * Draws a mini-batch of the agent's samples into agent->index: `count` samples, or ceil(sqrt(n_i))
 * if `count` is 0; at most n_i. It depends only on the run's seed, the agent and `iteration`, and
 * equals what the built-in algorithms draw, which pass the iteration of the iterate that the batch
 * is for. The next draw overwrites it.
 */
SADDLE_API saddle_batch saddle_agent_draw(saddle_agent *agent, uint64_t iteration, uint64_t count,
                                          bool replacement);

/** Sets agent->request to the mean gradient over a batch at `point`, which is x followed by y;
 * `gradient` receives gx followed by gy. */
SADDLE_API void saddle_agent_request(saddle_agent *agent, saddle_batch batch, const double *point,
                                     double *gradient);
/** Computes out[k] = M_ii now[offset + k] + sum_j M_ij neighbour_j[offset + k] for k < count,
 * adding the terms in this order. */
SADDLE_API void saddle_agent_mix(const saddle_agent *agent, size_t offset, size_t count,
                                 double *out);
/**
 * Computes out = (the mixed field at `offset`) + new_estimate - old_estimate and sets old_estimate =
 * new_estimate: gradient tracking. The field is of kind ::SADDLE_FIELD_SUM, `old_estimate` is the
 * estimate in agent->kept that it tracks, and `out` the field in agent->next.
 */
SADDLE_API void saddle_agent_track(const saddle_agent *agent, size_t offset, size_t count,
                                   const double *new_estimate, double *old_estimate, double *out);
/** Computes out = prox of (step h) over X at x - step g; `scratch` may be agent->scratch. */
SADDLE_API void saddle_agent_descend(const saddle_agent *agent, double step, const double *x,
                                     const double *g, double *out, double *scratch);
/** Computes out = projection onto Y of y + step g; `scratch` may be agent->scratch. */
SADDLE_API void saddle_agent_ascend(const saddle_agent *agent, double step, const double *y,
                                    const double *g, double *out, double *scratch);
/** Checks that a variable of agent->next or agent->kept is finite; otherwise its first entry that is
 * not becomes the agent's fault, which ends the run with a message. */
SADDLE_API void saddle_agent_check_finite(saddle_agent *agent, const char *variable, size_t count,
                                          const double *values);

#endif
