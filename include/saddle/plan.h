/**
 * @file plan.h
 * @brief Plans: what to solve, on which network, by which algorithm and for how long.
 *
 *     saddle_plan plan;
 *     saddle_plan_defaults(&plan, sizeof plan);
 *     plan.network.agents = 10;
 *     plan.network.topology = "ring";
 *     plan.limits.iterations = 500;
 *     saddle_plan_set(&plan, "tau", "0.1", &error);    // from text
 *     ...
 *     saddle_plan_free(&plan);
 *
 * Assign the fields directly, or use saddle_plan_set() as the program, configuration files and
 * other languages do; the comment of a field begins with the name of its option. Either way values
 * are checked when the plan is used. Texts and objects that are assigned directly are borrowed:
 * they must outlive the call that takes the plan, and objects also the instance made from it.
 *
 * An object in memory replaces the option that it is listed with; the settings of a run, its trace
 * and its checkpoints then say "in memory" or contain the object's own text.
 *
 * A field counts as given if it was set by saddle_plan_set() or saddle_plan_load(), or if it
 * differs from its default. saddle_plan_load() and saddle_plan_resume() overwrite only fields that
 * are not given. To keep a default there, set it by saddle_plan_set(), or assign it after the call.
 */
#ifndef SADDLE_PLAN_H
#define SADDLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/data.h>
#include <saddle/option.h>
#include <saddle/status.h>

struct saddle_problem;
struct saddle_graph;
struct saddle_mixing;
struct saddle_set;
struct saddle_regularizer;
struct saddle_algorithm;

/** How step sizes that are not given are chosen: the choices of the option steps. */
typedef enum saddle_step_rule {
    SADDLE_STEPS_PRACTICAL, /**< Values that work well on the problem. */
    SADDLE_STEPS_PAPER,     /**< The values of the paper's experiments. */
    SADDLE_STEPS_THEORY     /**< The values with the best guarantee. */
} saddle_step_rule;
/** How a mini-batch is drawn: the choices of the option sampling. */
typedef enum saddle_sampling {
    SADDLE_WITHOUT_REPLACEMENT, /**< Without replacement. */
    SADDLE_WITH_REPLACEMENT     /**< With replacement. */
} saddle_sampling;

/** At which trace points outcomes are measured: the choices of the option outcomes. */
typedef enum saddle_outcome_points {
    /** At all of them if a stop rule needs outcomes. Also if a trace is written, unless each
     * agent has its own rows and outcomes need every row's score (saddle_problem::outcome_bytes
     * is not 0). Otherwise at the first and the last. */
    SADDLE_OUTCOMES_AUTO,
    SADDLE_OUTCOMES_ALWAYS, /**< At all of them. */
    SADDLE_OUTCOMES_ENDS    /**< At the first and the last. */
} saddle_outcome_points;

/** At which trace points the gap is measured: the choices of the option gap. */
typedef enum saddle_gap_points {
    SADDLE_GAP_END,    /**< At the last, and where it is compared with limits.tolerance. */
    SADDLE_GAP_ALWAYS, /**< At all of them. */
    SADDLE_GAP_NEVER   /**< At none. */
} saddle_gap_points;

/** Which proximal point x~ the metric uses: the choices of the option metric-direction. */
typedef enum saddle_metric_direction {
    SADDLE_DIRECTION_EXACT, /**< That of the gradient of the network's loss at (xbar, ybar). */
    SADDLE_DIRECTION_OWN /**< Each agent's, computed from its tracker if the algorithm has one. */
} saddle_metric_direction;

/** Whether columns of the data are scaled: the choices of the option scale. */
typedef enum saddle_scale_rule {
    SADDLE_SCALE_AUTO,     /**< An instance replaces it by one of the others. */
    SADDLE_SCALE_STANDARD, /**< They are, except columns of -1, 0 and 1 and constant ones. */
    SADDLE_SCALE_NONE      /**< They are used as they are. */
} saddle_scale_rule;

/** How the agents are weighted: the choices of the option agent-weights. */
typedef enum saddle_agent_weights {
    SADDLE_WEIGHTS_EQUAL,  /**< The objective is (1/m) sum_i F_i. */
    SADDLE_WEIGHTS_BY_SIZE /**< The objective is sum_i (n_i / N) F_i, N = sum_i n_i. */
} saddle_agent_weights;

/** What replaces a lost message if a rule that is not exact is allowed: the choices of the
 * option inexact. */
typedef enum saddle_inexact {
    SADDLE_INEXACT_NO,    /**< Only exact rules are used. */
    SADDLE_INEXACT_STALE, /**< The last copy that arrived. */
    SADDLE_INEXACT_OWN    /**< The receiver's own state. */
} saddle_inexact;

/** Step sizes and batch sizes. In a plan NaN (for q and batch 0) means automatic; a run resolves
 * it. */
typedef struct saddle_steps {
    saddle_step_rule rule;    /**< steps: the rule for values that are not given. */
    saddle_sampling sampling; /**< sampling: how mini-batches are drawn. */
    double nu;                /**< nu: step towards the proximal point in x. */
    double eta;               /**< eta: step towards the projected point in y. */
    double tau;               /**< tau: proximal weight in x, the inverse of a gradient step. */
    double alpha;             /**< alpha: gradient step in y. */
    /** q: number of iterations from one refresh to the next. 0 in a run: q depends on the size
     * of the last refresh. */
    uint64_t q;
    uint64_t batch; /**< batch: size of a mini-batch. 0 in a run: ceil(sqrt(n_i)) at agent i. */
    double eta_x;   /**< eta-x: gradient step in x of methods that take one. */
    double eta_y;   /**< eta-y: gradient step in y of methods that take one. */
    double epsilon; /**< epsilon: target accuracy. */
    /** c-gamma: constant of Theorem 2 and of the paper's rule of PRECISION+. NaN in a run of PRECISION+: it
     * measures its batches. */
    double c_gamma;
    double c_epsilon; /**< c-epsilon: the same. */
} saddle_steps;

/** The options of ::saddle_steps, to be listed by algorithms that read them. Constants. */
SADDLE_API const saddle_option saddle_option_steps;
SADDLE_API const saddle_option saddle_option_nu;
SADDLE_API const saddle_option saddle_option_eta;
SADDLE_API const saddle_option saddle_option_tau;
SADDLE_API const saddle_option saddle_option_alpha;
SADDLE_API const saddle_option saddle_option_q;
SADDLE_API const saddle_option saddle_option_batch;
SADDLE_API const saddle_option saddle_option_sampling;
SADDLE_API const saddle_option saddle_option_eta_x;
SADDLE_API const saddle_option saddle_option_eta_y;
SADDLE_API const saddle_option saddle_option_epsilon;
SADDLE_API const saddle_option saddle_option_c_gamma;
SADDLE_API const saddle_option saddle_option_c_epsilon;

/** What a plan keeps beside its fields. */
typedef struct saddle_settings saddle_settings;

/** A plan. Initialize it with saddle_plan_defaults(). */
typedef struct saddle_plan {
    size_t size;  /**< sizeof(saddle_plan), from saddle_plan_defaults(). */
    uint32_t abi; /**< SADDLE_ABI, from saddle_plan_defaults(). */

    /** The problem and its data. */
    struct {
        const char *name; /**< problem: such as "robust-logistic", or the path of a plug-in. */
        const struct saddle_problem *own;  /**< Your own problem instead; NULL: none. */
        const char *data;                  /**< data: a file or name. */
        const char *data_name;             /**< data-name: for titles; NULL: that of the file. */
        const struct saddle_dataset *rows; /**< Rows in memory instead, split between the agents. */
        /** Or each agent's own rows in memory, not with `rows`. NULL for an agent of another
         * process. */
        const struct saddle_dataset *const *shards;
        /** The file of this process's only agent, in place of the one that `data`, then a pattern with %d, names;
         * NULL: that one. */
        const char *own_file;
        size_t shard_count;           /**< Length of `shards`: the number of agents. */
        saddle_data_format format;    /**< format: of the data file. */
        saddle_csv_header header;     /**< header: whether a CSV file has one. */
        const char *label_column;     /**< label-column: a name or number. */
        const char *labels;           /**< labels: a file; NULL: found by name. */
        saddle_categories categories; /**< categories: how text becomes numbers. */
        saddle_missing missing;       /**< missing: how missing values are treated. */
        const char *category_columns; /**< category-columns: numbers that are text; NULL: none. */
        const char *drop_columns;     /**< drop-columns: columns to ignore; NULL: none. */
        const char *positive;         /**< positive: labels that count as +1; NULL: automatic. */
        /** classes: labels of the classes; NULL: those that occur. For two classes, an instance sets it to
         * all labels of its data. */
        const char *classes;
        const char *test_data;                  /**< test-data: held-out rows; NULL: none. */
        const struct saddle_dataset *test_rows; /**< Held-out rows in memory instead. */
        const char *samples;                /**< samples: "N" or "N,N,..."; NULL: split evenly. */
        const char *partition;              /**< partition: which agent gets which rows. */
        saddle_scale_rule scale;            /**< scale: whether columns are scaled. */
        saddle_agent_weights agent_weights; /**< agent-weights: how agents are weighted. */
        const char *x_set;                  /**< x-set: X; NULL: the problem's default. */
        const char *y_set;                  /**< y-set: Y; NULL: the problem's default. */
        const char *regularizer;            /**< regularizer: h. */
        const struct saddle_set *own_x_set; /**< Your own X instead. */
        const struct saddle_set *own_y_set; /**< Your own Y instead. */
        const struct saddle_regularizer *own_regularizer; /**< Your own h instead. */
    } problem;

    /** The agents and their network. */
    struct {
        uint64_t agents;         /**< agents: their number; 0: as the topology says, or 5. */
        const char *topology;    /**< topology: see <saddle/graph.h>. */
        const char *mixing;      /**< mixing: the rule for the weights. */
        const char *links;       /**< links: which messages arrive. */
        saddle_inexact inexact;  /**< inexact: whether rules that are not exact are allowed. */
        const char *compress;    /**< compress: how messages are compressed. */
        double mixing_rate;      /**< mixing-rate: weight of compressed messages; NaN: automatic. */
        const char *clip_mixing; /**< clip-mixing: how agents clip what they receive. */
        const char *churn;       /**< churn: a file that lists who leaves and joins; NULL: none. */
        const struct saddle_graph *graph; /**< A graph in memory instead of `topology`. */
        /** Weights in memory instead of `mixing` and a graph; `graph` must be NULL or their
         * graph. */
        const struct saddle_mixing *weights;
        /** link-model: what computing and messages cost in simulated seconds; NULL: no
         * simulation. */
        const char *link_model;
    } network;

    /** The starting point and the seed. */
    struct {
        const char *init;   /**< init: a rule for x and y; NULL: the problem's default. */
        const char *init_x; /**< init-x: a rule for x only; NULL: as init. */
        const char *init_y; /**< init-y: a rule for y only; NULL: as init. */
        const double *x;    /**< x0 in memory instead. */
        size_t x_length;    /**< Length of `x`; must be that of the problem's x. */
        const double *y;    /**< y0 in memory instead. */
        size_t y_length;    /**< Length of `y`; must be that of the problem's y. */
        uint64_t seed;      /**< seed: of all random numbers. */
    } start;

    /** The algorithm. Options of a single algorithm or problem are set by saddle_plan_set(). */
    struct {
        const char *name; /**< algorithm: a name or the path of a plug-in; NULL: auto. */
        const struct saddle_algorithm *own; /**< Your own algorithm instead. */
    } algorithm;
    saddle_steps steps; /**< Step sizes and batches. */

    /** Noise on gradients, so that messages say little about single rows. */
    struct {
        double row_clip; /**< row-clip: the largest norm of a row's gradient; 0: any. */
        double
            row_noise; /**< row-noise: deviation of the noise, relative to the clipped sum; 0: none. */
        double row_delta; /**< row-delta: for which epsilon is computed. */
    } privacy;

    /** When a run ends. */
    struct {
        /** iterations: the largest number of iterations; unlimited if it has its default and
         * max_ifo is set. */
        uint64_t iterations;
        double tolerance;           /**< tolerance: gap at which to stop; 0: never. */
        uint64_t max_ifo;           /**< max-ifo: budget of gradient evaluations; 0: none. */
        uint64_t max_rounds;        /**< max-rounds: budget of communication rounds; 0: none. */
        double max_seconds;         /**< max-seconds: budget of seconds; 0: none. */
        double max_network_seconds; /**< max-network-seconds: of simulated seconds; 0: none. */
        const char *stop_when;      /**< stop-when: a condition such as "auc>=0.9"; NULL: none. */
        uint64_t stop_after;        /**< stop-after: trace points without improvement; 0: never. */
        const char *stop_on; /**< stop-on: the outcome to improve; NULL: the first held-out one. */
    } limits;

    /** The engine that computes. */
    struct {
        const char *name;     /**< engine: "threads", "mpi", "cuda" or "cuda-host". */
        uint64_t threads;     /**< threads: per process; 0 ("auto" as text): as many as pay off. */
        bool pin;             /**< pin: whether each thread stays on one processor. */
        double stall_seconds; /**< stall-seconds: silence of a process after which a job ends. */
    } engine;

    /** What is measured, and the files that are written. NULL: not written. */
    struct {
        uint64_t trace_every; /**< trace-every: iterations between rows; 0: automatic. */
        /** Whether automatic means 200 rows whatever they cost, as in all runs of a comparison. */
        bool compared;
        saddle_gap_points gap; /**< gap: at which rows the gap is measured. */
        /** Whether y and agents of saddle_result::gap are measured if gap is never, as in searches. */
        bool gap_parts;
        double metric_tau; /**< metric-tau: tau of the metric; NaN: the run's own. */
        saddle_metric_direction metric_direction; /**< metric-direction: which x~ it uses. */
        saddle_outcome_points outcomes; /**< outcomes: at which rows outcomes are measured. */
        bool outcomes_per_agent;        /**< outcomes-per-agent: also their range over agents. */
        const char *trace;              /**< trace: a CSV file. */
        const char *model;              /**< model: a .npz file. */
        const char *checkpoint;         /**< checkpoint: a directory. */
        const char *checkpoint_every;   /**< checkpoint-every: "500" or "30s"; NULL: 60s. */
        const char *resume; /**< resume: a checkpoint, its directory, "yes" or "auto". */
    } outputs;

    /** The list of options, which of them were given, the values of those of a single algorithm or
     * problem, and texts; owned. NULL until an option is set, or the plan is loaded or a copy. */
    saddle_settings *settings;
} saddle_plan;

/** Fills in the defaults; `size` is sizeof(saddle_plan). Free with saddle_plan_free(). The plan
 * records the version of the headers, also for the structs used with it or with an instance made
 * from it, such as ::saddle_problem, ::saddle_hooks and ::saddle_tune_inputs: the library
 * refuses the plan of a program compiled with the headers of another version. */
#define saddle_plan_defaults(plan, size) saddle_plan_defaults_for((plan), (size), SADDLE_ABI)
/** Implements saddle_plan_defaults(). */
SADDLE_API void saddle_plan_defaults_for(saddle_plan *plan, size_t size, uint32_t abi);
/** Frees what saddle_plan_set(), _load() and _copy() allocated and clears the struct, which must
 * be filled by saddle_plan_defaults() before it is used again. NULL is allowed. */
SADDLE_API void saddle_plan_free(saddle_plan *plan);
/** Sets an option from text. Refuses and names a value of the wrong kind or out of range. "" and
 * "auto" restore the default of options that have this default. Own options of plug-ins can be set
 * after saddle_plan_load_plugins(). */
SADDLE_API saddle_status saddle_plan_set(saddle_plan *plan, const char *name, const char *text,
                                         saddle_error *error);
/** Loads the plug-ins that the caller, not a file, named in a plan, and adds their own options to it.
 * The plan keeps the objects loaded. An option whose name the plan already has can only be given in
 * the text of its plug-in. */
SADDLE_API saddle_status saddle_plan_load_plugins(saddle_plan *plan, saddle_error *error);
/** Sets options from a YAML file of `name: value` lines. Options that are already given keep
 * their value. */
SADDLE_API saddle_status saddle_plan_load(saddle_plan *plan, const char *path, saddle_error *error);
/** Copies a plan with all its texts; objects stay borrowed. Free with saddle_plan_free(). `out`
 * need not be initialized. */
SADDLE_API saddle_status saddle_plan_copy(saddle_plan *out, const saddle_plan *plan,
                                          saddle_error *error);

/** Returns the number of options of a plan; 0 if saddle_plan::settings is NULL. */
SADDLE_API size_t saddle_plan_option_count(const saddle_plan *plan);
/** Returns the option at an index, in the order of the help; NULL beyond the last. */
SADDLE_API const saddle_option *saddle_plan_option(const saddle_plan *plan, size_t index);
/** Returns the option of a name; NULL if the plan has none. */
SADDLE_API const saddle_option *saddle_plan_find(const saddle_plan *plan, const char *name);
/** Returns the value of an option as text; "" if the plan does not have the option. The text is in
 * `buffer` or belongs to the plan or to the option. */
SADDLE_API const char *saddle_plan_text(const saddle_plan *plan, const saddle_option *option,
                                        char buffer[SADDLE_VALUE_SIZE]);

#endif
