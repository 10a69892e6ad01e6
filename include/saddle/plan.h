/**
 * @file plan.h
 * @brief What to solve, on which network, by which algorithm, for how long: one typed struct.
 *
 *     saddle_plan plan;
 *     saddle_plan_defaults(&plan, sizeof plan);
 *     plan.network.agents = 10;
 *     plan.network.topology = "ring";
 *     plan.limits.iterations = 500;
 *     saddle_plan_set(&plan, "tau", "0.1", &error);    // the same from text
 *     ...
 *     saddle_plan_free(&plan);
 *
 * Fields can be assigned by hand or through saddle_plan_set(), which the program, configuration files
 * and other languages use; the name of a field's option stands beside it. Values are checked when the
 * plan is used, by the same rules whichever way they came. Texts and objects assigned by hand are
 * borrowed: they must outlive the call that takes the plan, and objects also the instance made from it.
 *
 * An object in memory takes the place of the option that it stands beside; the settings of a run, its trace and
 * its checkpoints then say "in memory" or the object's own text.
 *
 * A field counts as given if it was set by saddle_plan_set() or saddle_plan_load(), or if it differs from its
 * default: a default that is assigned by hand is not seen. It matters where another source fills in what
 * is not given, in saddle_plan_load() and saddle_plan_resume(). To insist on a default there, set it by
 * saddle_plan_set(), or assign it afterwards.
 */
#ifndef SADDLE_PLAN_H
#define SADDLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/data.h>
#include <saddle/option.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct saddle_problem;
struct saddle_graph;
struct saddle_mixing;
struct saddle_set;
struct saddle_regularizer;
struct saddle_algorithm;

/** Where step sizes that are not given come from: the choices of the option steps. */
typedef enum saddle_step_rule {
    SADDLE_STEPS_PRACTICAL, /**< What works on the problem at hand. */
    SADDLE_STEPS_PAPER,     /**< The literal ones of the paper's experiments. */
    SADDLE_STEPS_THEORY     /**< Those with the best guarantee. */
} saddle_step_rule;
/** How a mini-batch is drawn: the choices of the option sampling. */
typedef enum saddle_sampling {
    SADDLE_WITHOUT_REPLACEMENT,
    SADDLE_WITH_REPLACEMENT
} saddle_sampling;

/** At which trace points outcomes are measured: the choices of the option outcomes. */
typedef enum saddle_outcome_points {
    SADDLE_OUTCOMES_AUTO, /**< All if a stop rule needs them or a trace is written; otherwise ends, and also where
                             a trace is written, each agent has rows of its own, and outcomes are
                             computed from every row's score (saddle_problem::outcome_bytes is not 0). */
    SADDLE_OUTCOMES_ALWAYS, /**< At all. */
    SADDLE_OUTCOMES_ENDS    /**< At the first and the last. */
} saddle_outcome_points;

/** Which proximal point x~ the metric looks at: the choices of the option metric-direction. */
typedef enum saddle_metric_direction {
    SADDLE_DIRECTION_EXACT, /**< That of the network's gradient at (xbar, ybar). */
    SADDLE_DIRECTION_OWN    /**< Each agent's, of its tracker, where the algorithm has one. */
} saddle_metric_direction;

/** How much each agent counts: the choices of the option agent-weights. */
typedef enum saddle_agent_weights {
    SADDLE_WEIGHTS_EQUAL,  /**< The objective is (1/m) sum_i F_i. */
    SADDLE_WEIGHTS_BY_SIZE /**< The objective is sum_i (n_i / N) F_i, N = sum_i n_i. */
} saddle_agent_weights;

/** What a lost message is replaced by where a rule that is not exact is asked for: the choices of the option
 * inexact. */
typedef enum saddle_inexact {
    SADDLE_INEXACT_NO,    /**< Only exact rules are used. */
    SADDLE_INEXACT_STALE, /**< The last copy that arrived. */
    SADDLE_INEXACT_OWN    /**< The receiver's own state. */
} saddle_inexact;

/** Step sizes and batch sizes. In a plan NaN (for q and batch 0) means automatic; a run resolves it. */
typedef struct saddle_steps {
    saddle_step_rule rule;    /**< steps. */
    saddle_sampling sampling; /**< sampling. */
    double nu;                /**< nu: step towards the proximal point in x. */
    double eta;               /**< eta: step towards the projected point in y. */
    double tau;               /**< tau: proximal weight in x, the inverse of a gradient step. */
    double alpha;             /**< alpha: gradient step in y. */
    uint64_t
        q; /**< q: a refresh every q iterations; 0 after it is resolved: q follows the size of the last refresh. */
    uint64_t
        batch; /**< batch: samples of a mini-batch; 0 after it is resolved: ceil(sqrt(n_i)) at agent i. */
    double eta_x;     /**< eta-x: gradient step in x of methods that take one. */
    double eta_y;     /**< eta-y: gradient step in y of methods that take one. */
    double epsilon;   /**< epsilon: target accuracy. */
    double c_gamma;   /**< c-gamma: of PRECISION+ and Theorem 2. */
    double c_epsilon; /**< c-epsilon: of PRECISION+ and Theorem 2. */
} saddle_steps;

/** The options of ::saddle_steps, for the tables of algorithms that read them. Constants. */
extern SADDLE_API const saddle_option saddle_option_steps;
extern SADDLE_API const saddle_option saddle_option_nu;
extern SADDLE_API const saddle_option saddle_option_eta;
extern SADDLE_API const saddle_option saddle_option_tau;
extern SADDLE_API const saddle_option saddle_option_alpha;
extern SADDLE_API const saddle_option saddle_option_q;
extern SADDLE_API const saddle_option saddle_option_batch;
extern SADDLE_API const saddle_option saddle_option_sampling;
extern SADDLE_API const saddle_option saddle_option_eta_x;
extern SADDLE_API const saddle_option saddle_option_eta_y;
extern SADDLE_API const saddle_option saddle_option_epsilon;
extern SADDLE_API const saddle_option saddle_option_c_gamma;
extern SADDLE_API const saddle_option saddle_option_c_epsilon;

/** The values of all options as text. */
typedef struct saddle_settings saddle_settings;

/** What to do. Make one with saddle_plan_defaults(). */
typedef struct saddle_plan {
    size_t size;  /**< sizeof(saddle_plan), from saddle_plan_defaults(). */
    uint32_t abi; /**< SADDLE_ABI, from saddle_plan_defaults(). */

    /** The problem and its data. */
    struct {
        const char *name; /**< problem: such as "robust-logistic", or the path of a plug-in. */
        const struct saddle_problem *own; /**< A problem of the caller's instead; NULL: none. */
        const char *data;                 /**< data: a file or name. */
        const struct saddle_dataset
            *rows; /**< Rows in memory instead, shared out between agents. */
        const struct saddle_dataset *const *shards; /**< Or each agent's own rows in memory; not
                                                         both. NULL for an agent of another process. */
        size_t shard_count;           /**< Length of `shards`: the number of agents. */
        saddle_data_format format;    /**< format. */
        saddle_csv_header header;     /**< header. */
        const char *label_column;     /**< label-column. */
        const char *labels;           /**< labels: a file; NULL: found by name. */
        saddle_categories categories; /**< categories. */
        saddle_missing missing;       /**< missing. */
        const char *category_columns; /**< category-columns; NULL: none. */
        const char *drop_columns;     /**< drop-columns; NULL: none. */
        const char *positive;         /**< positive: labels that count as +1; NULL: automatic. */
        const char *classes;   /**< classes: labels of the classes; NULL: those that occur. */
        const char *test_data; /**< test-data: held-out rows; NULL: none. */
        const struct saddle_dataset *test_rows; /**< Held-out rows in memory instead. */
        const char *samples;                /**< samples: "N" or "N,N,..."; NULL: split evenly. */
        const char *partition;              /**< partition: which agent gets which rows. */
        saddle_agent_weights agent_weights; /**< agent-weights. */
        const char *x_set;                  /**< x-set: X; NULL: the problem's own. */
        const char *y_set;                  /**< y-set: Y; NULL: the problem's own. */
        const char *regularizer;            /**< regularizer: h. */
        const struct saddle_set *own_x_set; /**< X made by the caller instead. */
        const struct saddle_set *own_y_set; /**< Y made by the caller instead. */
        const struct saddle_regularizer *own_regularizer; /**< h made by the caller instead. */
    } problem;

    /** The agents and which of them communicate. */
    struct {
        uint64_t agents;        /**< agents: how many; 0: what the topology says, or 5. */
        const char *topology;   /**< topology. */
        const char *mixing;     /**< mixing: rule of the weights. */
        const char *links;      /**< links: which messages arrive. */
        saddle_inexact inexact; /**< inexact: whether wrong rules are allowed. */
        const char *compress;   /**< compress: how messages are packed. */
        double mixing_rate;     /**< mixing-rate: weight of compressed messages; NaN: automatic. */
        const char *churn;      /**< churn: a file of who leaves and joins; NULL: none. */
        const struct saddle_graph *graph; /**< A graph in memory instead of `topology`. */
        const struct saddle_mixing
            *weights; /**< Weights in memory instead of graph and `mixing`; a graph beside them must
                           be theirs. */
        const char *link_model; /**< link-model: what computing and messages cost in simulated
                                     seconds; NULL: nothing is simulated. */
    } network;

    /** The starting point and the seed. */
    struct {
        const char *init;   /**< init: a rule for both; NULL: the problem's own. */
        const char *init_x; /**< init-x: for x alone; NULL: as init. */
        const char *init_y; /**< init-y: for y alone; NULL: as init. */
        const double *x;    /**< x0 in memory instead. */
        size_t x_length;    /**< Length of `x`: that of the problem's x. */
        const double *y;    /**< y0 in memory instead. */
        size_t y_length;    /**< Length of `y`: that of the problem's y. */
        uint64_t seed;      /**< seed. */
    } start;

    /** The algorithm. Options of one algorithm or problem alone are set by saddle_plan_set(). */
    struct {
        const char *name;                   /**< algorithm: a name or the path of a plug-in. */
        const struct saddle_algorithm *own; /**< An algorithm of the caller's instead. */
    } algorithm;
    saddle_steps steps; /**< Its step sizes and batches. */

    /** When a run ends. */
    struct {
        uint64_t
            iterations; /**< iterations: at most this many; left at its default and with max_ifo set, any number. */
        double tolerance;    /**< tolerance: metric at which to stop; 0: never. */
        uint64_t max_ifo;    /**< max-ifo: budget of gradient evaluations; 0: none. */
        uint64_t max_rounds; /**< max-rounds: budget of communication rounds; 0: none. */
        double max_seconds;  /**< max-seconds: budget of seconds; 0: none. */
        double
            max_network_seconds; /**< max-network-seconds: budget of simulated seconds; 0: none. */
        const char *stop_when;   /**< stop-when: a condition such as "auc>=0.9"; NULL: none. */
        uint64_t stop_after;     /**< stop-after: trace points without gain; 0: never. */
        const char *stop_on; /**< stop-on: gain in which outcome; NULL: the first held-out one. */
    } limits;

    /** What computes. */
    struct {
        const char *name; /**< engine: "threads" or "mpi". */
        uint64_t threads; /**< threads: of each process; 0, as text "auto": as many as pay off. */
        bool pin;         /**< pin: whether each thread stays on one processor. */
        double stall_seconds; /**< stall-seconds: silence of a process that ends a job. */
    } engine;

    /** What is measured, and the files that are written. NULL: not written. */
    struct {
        uint64_t trace_every; /**< trace-every: iterations between rows; 0: automatic. */
        double metric_tau;    /**< metric-tau: tau of the metric; NaN: the run's own. */
        saddle_metric_direction metric_direction; /**< metric-direction: of which x~. */
        saddle_outcome_points outcomes; /**< outcomes: at which rows outcomes are measured. */
        bool outcomes_per_agent;        /**< outcomes-per-agent: also their spread over agents. */
        const char *trace;              /**< trace: CSV. */
        const char *model;              /**< model: .npz or .npy. */
        const char *checkpoint;         /**< checkpoint: a directory. */
        const char *checkpoint_every;   /**< checkpoint-every: "500" or "30s"; NULL: 60s. */
        const char *resume; /**< resume: a checkpoint, its directory, "yes" or "auto". */
    } outputs;

    saddle_settings *settings; /**< Values set from text; owned, NULL until there are any. */
} saddle_plan;

/** Fill in the defaults; `size` is sizeof(saddle_plan). Free with saddle_plan_free(). A plan vouches for all
 * structs that are filled in beside it or beside an instance made from it, such as ::saddle_problem,
 * ::saddle_hooks and ::saddle_tune_inputs: a program that was compiled
 * with the headers of another version is refused when the plan is used. */
#define saddle_plan_defaults(plan, size) saddle_plan_defaults_for((plan), (size), SADDLE_ABI)
/** What saddle_plan_defaults() calls. */
SADDLE_API void saddle_plan_defaults_for(saddle_plan *plan, size_t size, uint32_t abi);
/** Free what saddle_plan_set(), _load() and _copy() allocated, and clear the struct, which is the caller's: it is
 * refused until saddle_plan_defaults() fills it again. NULL is allowed. */
SADDLE_API void saddle_plan_free(saddle_plan *plan);
/** Set an option from text. A value of the wrong kind or out of range is refused and named; "" and
 * "auto" set the options back that have such a default. */
SADDLE_API saddle_status saddle_plan_set(saddle_plan *plan, const char *name, const char *text,
                                         saddle_error *error);
/** Set options from a YAML file of `name: value` lines; options set before keep their value. */
SADDLE_API saddle_status saddle_plan_load(saddle_plan *plan, const char *path, saddle_error *error);
/** Copy a plan with all its texts; objects stay borrowed. Free with saddle_plan_free(). `out` need not
 * be initialised. */
SADDLE_API saddle_status saddle_plan_copy(saddle_plan *out, const saddle_plan *plan,
                                          saddle_error *error);

/** How many settings there are; 0 for NULL, which is what a plan has that nothing was set in. */
SADDLE_API size_t saddle_settings_count(const saddle_settings *settings);
/** The option at an index, in the order of the help; NULL beyond the last. */
SADDLE_API const saddle_option *saddle_settings_option(const saddle_settings *settings,
                                                       size_t index);
/** The value of an option of the settings as text. Borrowed until the next change. */
SADDLE_API const char *saddle_settings_value(const saddle_settings *settings,
                                             const saddle_option *option);
/** The same by the option's name. NULL: there is no such option. */
SADDLE_API const char *saddle_settings_text(const saddle_settings *settings, const char *name);

#ifdef __cplusplus
}
#endif
#endif
