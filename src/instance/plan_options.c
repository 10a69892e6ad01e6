/* The options that fill a plan, except the step sizes. */
#include "instance/plan_options.h"

#include "algorithms/step_options.h"

/* The field that an option fills, the stage at which it is used, and what it can change. */
#define PLAN(field, when, what)                                       \
    .home = SADDLE_HOME_PLAN, .offset = offsetof(saddle_plan, field), \
    .stage = SADDLE_STAGE_##when, .effect = SADDLE_EFFECT_##what
/* The same with the values that completion offers. */
#define PLAN_OF(field, when, what, kind) PLAN(field, when, what), .values = (kind)
/* The same for an option that only problems made from data use. */
#define PLAN_DATA(field, what) PLAN(problem.field, INSTANCE, what), .users = SADDLE_USERS_DATA
/* The same for an option for reading data files of some formats. */
#define PLAN_READING(field, what, which) PLAN_DATA(field, what), .formats = (which)
#define CSV SADDLE_FORMAT_BIT(SADDLE_FORMAT_CSV)
#define IDX SADDLE_FORMAT_BIT(SADDLE_FORMAT_IDX)
#define NUMPY SADDLE_FORMAT_BIT(SADDLE_FORMAT_NUMPY)
#define ANY_FORMAT (CSV | IDX | NUMPY | SADDLE_FORMAT_BIT(SADDLE_FORMAT_LIBSVM))
/* The same for an option that only some problems use. */
#define PLAN_OF_PROBLEMS(field, who) PLAN(problem.field, INSTANCE, RESULT), .users = (who)
/* The same for an option of the network that only algorithms that communicate use. */
#define PLAN_NETWORK(field, who, kind) \
    PLAN_OF(network.field, INSTANCE, RESULT, kind), .users = SADDLE_USERS_##who
/* The same for an option whose value can be the path of a plug-in. */
#define PLAN_CODE(field, when, kind) PLAN_OF(field, when, RESULT, kind), .files = SADDLE_FILES_CODE
/* The same for an option whose value names files of another kind. */
#define PLAN_FILES(field, when, what, kind) PLAN(field, when, what), .files = SADDLE_FILES_##kind

/* Options that decide whether others have an effect. */
#define LINKS                                                                                      \
    PLAN_NETWORK(                                                                                  \
        links, MESSAGES,                                                                           \
        "reliable|agreed:|agreed-burst:|gossip|sequence:|schedule:|lossy:|burst:|delay:|replay:"), \
        .files = SADDLE_FILES_RULE
static const saddle_option links = SADDLE_TEXT(
    LINKS, "links", SADDLE_LINKS_HEADING, "reliable", "KIND",
    "Which messages arrive.\n"
    "reliable: all.\n"
    "agreed:P: each link is down in a fraction P of the rounds, and both ends know.\n"
    "agreed-burst:P:LENGTH: the same, for LENGTH rounds at a time on average.\n"
    "gossip: neighbours communicate in random pairs, each agent with at most one.\n"
    "sequence:TOPOLOGY,...: the topologies take turns, one per round.\n"
    "schedule:FILE: the file says which links work in which round.\n"
    "lossy:P: a fraction P of the messages is lost, and the sender does not know.\n"
    "burst:P:LENGTH: the same, for LENGTH rounds at a time on average.\n"
    "delay:K[:P]: messages, or a fraction P of them, arrive 1 to K rounds late.\n"
    "Append :I-J to one of the last three if nothing from agent I is ever to reach agent J.\n"
    "replay:FILE: as in the logs of a run of `saddle peer`.");
static const saddle_option compress =
    SADDLE_TEXT(PLAN_NETWORK(compress, MESSAGES, "none|quantize:|top:|random:"), "compress",
                SADDLE_LINKS_HEADING, "none", "RULE",
                "How to compress messages.\n"
                "none: not at all.\n"
                "quantize:BITS: send each entry with 2 to 16 bits.\n"
                "top:FRACTION: send this fraction of the entries, the largest ones.\n"
                "random:FRACTION: send this fraction of the entries, drawn at random.");
static const saddle_option clip_mixing =
    SADDLE_TEXT(PLAN_NETWORK(clip_mixing, MESSAGES, "none|liars:|radius:"), "clip-mixing",
                SADDLE_LINKS_HEADING, "none", "RULE",
                "How far a neighbour's state may be from the agent's own when it is mixed.\n"
                "none: it is mixed as it is.\n"
                "liars:F: as far as that of its neighbour with the F+1-th largest distance.\n"
                "radius:R: at most R, in the 2-norm of each variable.");

/* Fields of single options. */
#define LABELS PLAN_READING(labels, SOURCE, IDX | NUMPY), .files = SADDLE_FILES_INPUT
/* clang-format off */
#define TOPOLOGY                                                               \
    PLAN_NETWORK(topology, TOPOLOGY, "@TOPOLOGY"), .files = SADDLE_FILES_RULE, \
                                                   .used_with = {&links, "sequence", true}
/* clang-format on */
#define MIXING PLAN_NETWORK(mixing, NETWORK, "@MIXING"), .files = SADDLE_FILES_RULE
#define CHURN PLAN_NETWORK(churn, MESSAGES, NULL), .files = SADDLE_FILES_INPUT
#define MIXING_RATE PLAN_NETWORK(mixing_rate, NETWORK, NULL), .used_with = {&compress, "none", true}
#define ROUNDS PLAN(limits.max_rounds, RUN, LENGTH), .users = SADDLE_USERS_MESSAGES
#define RESUME PLAN_FILES(outputs.resume, RUN, OUTPUT, CHECKPOINT), .alone = "yes"
#define WEIGHTS PLAN(problem.agent_weights, INSTANCE, RESULT), .users = SADDLE_USERS_WEIGHTS
#define STALL PLAN(engine.stall_seconds, INSTANCE, ENGINE), .users = SADDLE_USERS_PROCESSES

/* Entries of the table. Names without parameters, so that their arguments are expanded only once. */
#define TEXT &(const saddle_option)SADDLE_TEXT
#define CHOICE &(const saddle_option)SADDLE_CHOICE
#define INTEGER &(const saddle_option)SADDLE_INTEGER
#define REAL &(const saddle_option)SADDLE_REAL
#define REAL_ABOVE &(const saddle_option)SADDLE_REAL_ABOVE
#define FLAG &(const saddle_option)SADDLE_FLAG

const saddle_option *const saddle_plan_options[] = {
    TEXT(PLAN_CODE(problem.name, INSTANCE, "@PROBLEM"), "problem", SADDLE_PROBLEM_HEADING,
         "robust-logistic", "NAME",
         "Problem to solve. `saddle problems` lists them. A value with a / is the path of your own "
         "plug-in (a shared object): ./mine.so[:OPTIONS]. `saddle eval` and `saddle predict` need "
         "it only for the model of a plug-in."),
    TEXT(PLAN_FILES(problem.data, INSTANCE, SOURCE, DATA), "data", SADDLE_DATA_HEADING, "synthetic",
         "NAME",
         "Data file or data set name. Files are LIBSVM, CSV, IDX, .npy or .npz; text may be "
         "compressed (.gz). Names are looked up in $SADDLE_DATA and the data directory; "
         "synthetic[:ROWS[:FEATURES]] generates data. A path with %d or %02d, such as "
         "part-%d.libsvm, names files numbered from 0: in a run one per agent, each opened only "
         "where its agent runs; in `saddle eval` and `saddle predict` the rows of all of them, in "
         "this order."),
    TEXT(PLAN(problem.data_name, INSTANCE, OUTPUT), "data-name", SADDLE_DATA_HEADING, "", "NAME",
         "What titles and reports call the data. Not given: the name of the file."),
    CHOICE(PLAN_READING(format, RESULT, ANY_FORMAT), "format", SADDLE_READING_HEADING, "auto",
           "auto|libsvm|csv|idx|numpy", "FORMAT",
           "Format of the data file. auto: detected from its content and name."),
    CHOICE(PLAN_READING(header, RESULT, CSV), "header", SADDLE_READING_HEADING, "auto",
           "auto|yes|no", "WHETHER",
           "CSV: whether the first line holds column names. auto: yes if it contains text and no "
           "numbers, or has text in a column in which the second line has a number."),
    TEXT(PLAN_READING(label_column, RESULT, CSV | NUMPY), "label-column", SADDLE_READING_HEADING,
         "last", "WHICH",
         "CSV and .npy: column of the label. Give first, last, its number from 1 or its name. "
         "none: the data have no labels, which only `saddle predict` accepts."),
    TEXT(LABELS, "labels", SADDLE_READING_HEADING, "", "PATH",
         "IDX and NumPy: file of the labels. none: the data have no labels, which only `saddle "
         "predict` accepts. Not given: for images, the label file beside them with the matching "
         "name; in an .npz file, the array y or labels."),
    CHOICE(PLAN_READING(categories, RESULT, CSV), "categories", SADDLE_READING_HEADING, "one-hot",
           "one-hot|codes", "CODING",
           "CSV: how text columns become features.\n"
           "one-hot: one feature of 0 and 1 for each category, that is, each different text value "
           "of the column.\n"
           "codes: one feature, with the categories numbered from 0."),
    CHOICE(
        PLAN_READING(missing, RESULT, CSV), "missing", SADDLE_READING_HEADING, "refuse",
        "refuse|drop|impute", "RULE",
        "CSV: what to do with missing values. These are empty fields, NA, N/A, NaN, null and ?.\n"
        "refuse: report an error.\n"
        "drop: leave out the rows that contain them.\n"
        "impute: fill in the column's mean, or its most frequent category."),
    TEXT(PLAN_READING(category_columns, RESULT, CSV), "category-columns", SADDLE_READING_HEADING,
         "", "LIST",
         "CSV: columns of numbers to treat as categories. Give column names or numbers from 1, "
         "separated by commas."),
    TEXT(PLAN_READING(drop_columns, RESULT, CSV), "drop-columns", SADDLE_READING_HEADING, "",
         "LIST",
         "CSV: columns to leave out. Give column names or numbers from 1, separated by commas."),
    TEXT(PLAN_OF_PROBLEMS(positive, SADDLE_USERS_DATA | SADDLE_USERS_SIGNS), "positive",
         SADDLE_DATA_HEADING, "auto", "LABELS",
         "Labels of the positive class, such as 1, 5-9 or 2,4,7. auto: the larger of two labels; "
         "5-9 if the labels are digits."),
    TEXT(PLAN_OF_PROBLEMS(classes, SADDLE_USERS_DATA | SADDLE_USERS_CLASSES), "classes",
         SADDLE_DATA_HEADING, "auto", "LABELS",
         "Labels of the classes, such as 0,1,2. Only for problems with more than two classes. "
         "auto: the labels that occur."),
    TEXT(PLAN_FILES(problem.test_data, INSTANCE, SOURCE, DATA), "test-data", SADDLE_DATA_HEADING,
         "", "NAME",
         "Held-out data to measure outcomes on. Named as for --data. Not given: outcomes are "
         "measured on the agents' data only."),
    TEXT(PLAN_OF_PROBLEMS(samples, SADDLE_USERS_NAMED), "samples", SADDLE_DATA_HEADING, "auto",
         "N[,N...]",
         "Samples per agent. One number for all agents, or one per agent, separated by commas. "
         "auto: all rows, divided as evenly as possible; 100 for problems without data."),
    TEXT(PLAN_DATA(partition, RESULT), "partition", SADDLE_DATA_HEADING, "iid", "RULE",
         "How the rows are divided among the agents.\n"
         "iid: at random.\n"
         "contiguous: in the order of the file.\n"
         "label-skew:ALPHA: unevenly by label (Dirichlet distribution); the smaller ALPHA, the "
         "more uneven."),
    CHOICE(
        PLAN_DATA(scale, RESULT), "scale", SADDLE_DATA_HEADING, "auto", "auto|standard|none",
        "RULE",
        "Whether to scale the columns of the data. Sets and h apply to the scaled columns; `saddle "
        "eval` and `saddle predict` scale as the run did.\n"
        "standard: scale every column to mean 0 and deviation 1 over all agents, except columns "
        "of only -1, 0 and 1, and those that the problem reads itself (--sensitive, --groups); a "
        "column of one value becomes 0. For sparse data (at most a quarter is not 0) and problems "
        "without an intercept: divide a column by the root mean square of its values that are "
        "not 0.\n"
        "none: use the columns as they are.\n"
        "auto: standard if one of these columns has a deviation below 1/5 or above 5, or a mean "
        "of more than 5 deviations (sparse data: above 5 only), unless all columns have one "
        "unit, as pixels do: at least half of four or more have the same smallest and largest "
        "value, to within a tenth. Never with --steps paper."),
    CHOICE(WEIGHTS, "agent-weights", SADDLE_PROBLEM_HEADING, "equal", "equal|by-size", "RULE",
           "How much each agent counts in the objective.\n"
           "equal: all the same, (1/m) sum_i F_i for m agents.\n"
           "by-size: in proportion to its n_i samples, sum_i (n_i/N) F_i, as if all N rows were in "
           "one place. No effect on group-dro, which counts every row once in either case."),
    TEXT(PLAN_CODE(problem.x_set, INSTANCE, "@SET"), "x-set", SADDLE_PROBLEM_HEADING, "auto", "SET",
         "Constraint set X of x. `saddle sets` lists the sets. ./mine.so[:OPTIONS] is your own "
         "plug-in. auto: the problem's own set."),
    TEXT(PLAN_CODE(problem.y_set, INSTANCE, "@SET"), "y-set", SADDLE_PROBLEM_HEADING, "auto", "SET",
         "Constraint set Y of y. `saddle sets` lists the sets. ./mine.so[:OPTIONS] is your own "
         "plug-in. auto: the problem's own set."),
    TEXT(PLAN_CODE(problem.regularizer, INSTANCE, "@REGULARIZER"), "regularizer",
         SADDLE_PROBLEM_HEADING, "none", "H",
         "Nonsmooth regularizer h(x). Give none, l1:W, elastic-net:W1:W2 or group-l2:W:SIZE; "
         "`saddle sets` explains them. ./mine.so[:OPTIONS] is your own plug-in."),
    INTEGER(PLAN(network.agents, INSTANCE, RESULT), "agents", SADDLE_NETWORK_HEADING, "auto", 1,
            1e7, "M",
            "Number of agents. auto: as many as the topology has if it is a grid, torus or file, "
            "or as there are data files if there is one per agent; otherwise 5."),
    TEXT(TOPOLOGY, "topology", SADDLE_NETWORK_HEADING, "er:0.6", "GRAPH",
         "Network of the agents. `saddle topologies` lists the graphs. file:PATH reads one edge "
         "per line, `i j`, with agents numbered from 0."),
    TEXT(MIXING, "mixing", SADDLE_NETWORK_HEADING, "laplacian", "RULE",
         "Rule for the weights of the mixing matrix. `saddle topologies` lists the rules."),
    &links,
    CHOICE(
        PLAN_NETWORK(inexact, NETWORK, NULL), "inexact", SADDLE_LINKS_HEADING, "no", "no|stale|own",
        "RULE",
        "With lossy links: replace lost messages by a substitute.\n"
        "no: use the exact rule; the run converges to the same solution as with reliable links.\n"
        "stale: use the last message that arrived.\n"
        "own: use the receiver's own state.\n"
        "With stale and own the solution is wrong; they show what the exact rule is worth."),
    TEXT(CHURN, "churn", SADDLE_LINKS_HEADING, "", "FILE",
         "File that says which agents leave and join, and when. Its lines are `ROUND "
         "leave|return|join AGENT` and `ROUND cut|heal I J`. The objective is the mean over the "
         "agents that are present. Not given: all agents stay."),
    &compress,
    &clip_mixing,
    REAL_ABOVE(
        MIXING_RATE, "mixing-rate", SADDLE_LINKS_HEADING, "auto", 0.0, 1.0, "RATE",
        "Weight of compressed messages in mixing, from 0 to 1. auto: a rate that suits --compress, "
        "halved whenever neighbours' copies of an agent's state fall too far behind it."),
    TEXT(PLAN_FILES(network.link_model, RUN, METRIC, INPUT), "link-model", SADDLE_LINKS_HEADING, "",
         "MODEL",
         "Simulate the time that messages take, in column network_seconds. Give any of "
         "latency:S,bandwidth:B,compute:C: S seconds per message, B bytes per second on a link, C "
         "seconds per IFO call. Or give a file with values for each agent and edge. Not given: no "
         "time is simulated."),
    REAL(PLAN(privacy.row_clip, RUN, RESULT), "row-clip", SADDLE_PRIVACY_HEADING, "0", 0,
         SADDLE_UNBOUNDED, "C",
         "Shorten the gradient of each row, x and y together, to a norm of at most C. 0: no."),
    REAL(PLAN(privacy.row_noise, RUN, RESULT), "row-noise", SADDLE_PRIVACY_HEADING, "0", 0,
         SADDLE_UNBOUNDED, "S",
         "Add normal noise to every gradient over B rows, with the standard deviation S C / B, C "
         "being --row-clip. A warning says which differential privacy this gives. 0: no noise."),
    REAL_ABOVE(PLAN(privacy.row_delta, RUN, RESULT), "row-delta", SADDLE_PRIVACY_HEADING, "1e-6",
               0.0, 0.5, "DELTA", "The delta for which the epsilon of --row-noise is computed."),
    TEXT(PLAN_CODE(algorithm.name, RUN, "@ALGORITHM"), "algorithm", SADDLE_ALGORITHM_HEADING,
         "auto", "NAME",
         "Algorithm to use. `saddle algorithms` lists them. Your own plug-in: ./mine.so[:OPTIONS]. "
         "auto: precision-auto, which needs no tuning; precision if you give an option of it that "
         "precision-auto does not have, such as --tau or --batch, or if --compress is top or "
         "random."),
    TEXT(PLAN_FILES(start.init, INSTANCE, RESULT, START), "init", SADDLE_START_HEADING, "auto",
         "RULE",
         "Starting point, projected onto X and Y. Give zeros, constant:V, normal:S (normally "
         "distributed entries with standard deviation S) or file:PATH (.npz with xbar and ybar, as "
         "--model writes). auto: the problem's own start, or normal:0.1."),
    TEXT(PLAN_FILES(start.init_x, INSTANCE, RESULT, START), "init-x", SADDLE_START_HEADING, "auto",
         "RULE", "Starting point of x, if it differs from --init. auto: as --init."),
    TEXT(PLAN_FILES(start.init_y, INSTANCE, RESULT, START), "init-y", SADDLE_START_HEADING, "auto",
         "RULE", "Starting point of y, if it differs from --init. auto: as --init."),
    INTEGER(PLAN(start.seed, INSTANCE, RESULT), "seed", SADDLE_START_HEADING, "1", 0,
            SADDLE_UNBOUNDED, "N",
            "Seed of all random choices. The same seed gives the same bits."),
    INTEGER(PLAN(limits.iterations, RUN, LENGTH), "iterations", SADDLE_STOPPING_HEADING, "2000", 0,
            0x1p53, "N",
            "Stop after N iterations. If --max-ifo is given and --iterations is not, only "
            "--max-ifo limits the run."),
    REAL(PLAN(limits.tolerance, RUN, LENGTH), "tolerance", SADDLE_STOPPING_HEADING, "0", 0,
         SADDLE_UNBOUNDED, "E",
         "Stop once the gap is at most E: 1e-4 is good, 1e-8 precise. It is compared with E at "
         "trace points (--trace-every), each time the iterations have grown by a quarter; with "
         "--churn, only after the last event. Until 0.2 this was about the metric: --stop-when "
         "'metric<=E'. 0: never."),
    INTEGER(PLAN(limits.max_ifo, RUN, LENGTH), "max-ifo", SADDLE_STOPPING_HEADING, "0", 0,
            SADDLE_UNBOUNDED, "N",
            "Stop after N gradient evaluations (IFO calls) of all agents together. The run ends "
            "after the iteration in which N is reached; inner loops of that iteration are cut "
            "short. 0: no limit."),
    INTEGER(ROUNDS, "max-rounds", SADDLE_STOPPING_HEADING, "0", 0, SADDLE_UNBOUNDED, "N",
            "Stop before exceeding N communication rounds. 0: no limit."),
    REAL(PLAN(limits.max_seconds, RUN, LENGTH), "max-seconds", SADDLE_STOPPING_HEADING, "0", 0,
         SADDLE_UNBOUNDED, "S",
         "Stop after S seconds of computing. Time spent on measuring does not count. 0: no limit."),
    REAL(PLAN(limits.max_network_seconds, RUN, LENGTH), "max-network-seconds",
         SADDLE_STOPPING_HEADING, "0", 0, SADDLE_UNBOUNDED, "S",
         "Stop after S simulated seconds of --link-model. The run ends with the iteration that "
         "reaches S. 0: no limit."),
    TEXT(PLAN(limits.stop_when, RUN, LENGTH), "stop-when", SADDLE_STOPPING_HEADING, "", "CONDITION",
         "Stop once a condition such as 'auc>=0.9' holds. It compares a column of the trace with a "
         "number by >=, <=, > or <, at every trace point. auc means test_auc if there are held-out "
         "rows, otherwise train_auc; likewise for other outcomes. The exit status is 6 if the run "
         "ends before the condition holds. Not given, or none: no condition."),
    INTEGER(PLAN(limits.stop_after, RUN, LENGTH), "stop-after", SADDLE_STOPPING_HEADING, "0", 0,
            0x1p53, "N",
            "Stop after N trace points at which an outcome has not improved. The outcome is "
            "measured on held-out rows (--stop-on says which one), and the solution is that of the "
            "best trace point. 0: never."),
    TEXT(PLAN(limits.stop_on, RUN, LENGTH), "stop-on", SADDLE_STOPPING_HEADING, "", "OUTCOME",
         "Outcome that --stop-after watches. Not given: the problem's first outcome."),
    TEXT(PLAN_OF(engine.name, INSTANCE, ENGINE, "threads|mpi|cuda|cuda-host"), "engine",
         SADDLE_ENGINE_HEADING, "threads", "NAME",
         "What runs the agents. threads: the threads of one process; mpi: the processes that "
         "mpirun starts; cuda: a graphics card of NVIDIA, for what docs/gpu.md lists; cuda-host: "
         "what cuda does as loops on one processor, for tests. Results do not depend on it."),
    INTEGER(
        PLAN(engine.threads, RUN, ENGINE), "threads", SADDLE_ENGINE_HEADING, "auto", 1, 4096, "N",
        "Threads per process. Results do not depend on it. auto: as many as speed up the work."),
    FLAG(PLAN(engine.pin, RUN, ENGINE), "pin", SADDLE_ENGINE_HEADING, "no",
         "Keep each thread on one processor. This helps if the system moves threads around, and "
         "hurts if other programs use the same processors."),
    REAL(STALL, "stall-seconds", SADDLE_ENGINE_HEADING, "60", 1, SADDLE_UNBOUNDED, "S",
         "With --engine mpi: end the job if a process does not respond for S seconds. A process "
         "that is merely busy (computing, reading or writing) still responds, however long it "
         "takes; one that is stopped or unreachable does not. The exit status is 5."),
    TEXT(PLAN_FILES(outputs.trace, RUN, OUTPUT, OUTPUT), "trace", SADDLE_OUTPUT_HEADING, "", "PATH",
         "Write the trace to a CSV file. Not given: no trace is written."),
    INTEGER(PLAN(outputs.trace_every, RUN, RECORD), "trace-every", SADDLE_MEASURING_HEADING, "auto",
            1, 0x1p53, "N",
            "Measure the metric every N iterations. auto: 20 to 200 times per run, as often as "
            "measuring reads at most a fifth of the memory that iterating reads; more often if the "
            "run may stop by what is measured (--tolerance, --stop-when, --stop-after)."),
    CHOICE(PLAN(outputs.gap, RUN, RECORD), "gap", SADDLE_MEASURING_HEADING, "end",
           "end|always|never", "WHEN",
           "When to measure the gap: what is missing to a solution, relative to what can be gained "
           "from x = 0. It costs 20 to 60 passes over all data, up to 2000 where it is small.\n"
           "end: at the last trace point.\n"
           "always: at every trace point."),
    REAL_ABOVE(PLAN(outputs.metric_tau, RUN, METRIC), "metric-tau", SADDLE_MEASURING_HEADING,
               "auto", 0, SADDLE_UNBOUNDED, "WEIGHT",
               "Value of tau in the metric. Set it to compare runs with different --tau. auto: the "
               "tau of the run."),
    CHOICE(PLAN(outputs.metric_direction, RUN, METRIC), "metric-direction",
           SADDLE_MEASURING_HEADING, "exact", "exact|own", "WHICH",
           "Which gradient the metric uses to measure how far x is from being stationary.\n"
           "exact: that of the network's loss at xbar, ybar. The metric then depends only on the "
           "point and means the same for all algorithms.\n"
           "own: each agent's tracker, if the algorithm has one. The metric then includes the "
           "noise of the trackers."),
    CHOICE(PLAN(outputs.outcomes, RUN, RECORD), "outcomes", SADDLE_MEASURING_HEADING, "auto",
           "auto|always|ends", "WHEN",
           "When to measure outcomes such as accuracy.\n"
           "always: at every trace point.\n"
           "ends: at the first and the last trace point.\n"
           "auto: always if a trace is written, otherwise ends. With one data file per agent, auto "
           "means ends if the outcomes need the scores of all rows."),
    FLAG(PLAN(outputs.outcomes_per_agent, RUN, RECORD), "outcomes-per-agent",
         SADDLE_MEASURING_HEADING, "no",
         "Also measure the outcomes of each agent's own model. The smallest, mean and largest over "
         "the agents are reported, on their own rows and on --test-data."),
    TEXT(PLAN_FILES(outputs.model, RUN, OUTPUT, OUTPUT), "model", SADDLE_OUTPUT_HEADING, "", "PATH",
         "Model file: written by `saddle run`, read by `saddle eval` and `saddle predict`. It is "
         "an .npz file and holds xbar, ybar, every agent's x and y, and what is needed to score "
         "rows."),
    TEXT(PLAN_FILES(outputs.checkpoint, RUN, OUTPUT, CHECKPOINT), "checkpoint",
         SADDLE_CHECKPOINTS_HEADING, "", "DIR",
         "Write checkpoints into a directory. It is created if missing; the last two checkpoints "
         "are kept. One is also written at the end, and after Ctrl-C or a termination signal. Not "
         "given: none."),
    TEXT(PLAN(outputs.checkpoint_every, RUN, OUTPUT), "checkpoint-every",
         SADDLE_CHECKPOINTS_HEADING, "", "K|Ts",
         "How often to write a checkpoint: every K iterations or T seconds. For example 500 or "
         "30s. Not given: 60s."),
    TEXT(RESUME, "resume", SADDLE_CHECKPOINTS_HEADING, "", "[PATH|auto]",
         "Continue a run from a checkpoint. The result is bit-identical to that of an "
         "uninterrupted run. PATH is a checkpoint, or a directory whose newest one is used. "
         "Options that you leave out are taken from that run, except output files outside the "
         "checkpoint directory, which you must give again. Without PATH: the newest checkpoint in "
         "--checkpoint. auto: the newest valid one there, or a new run if there is none. `saddle "
         "tune`: continue from its logs. `saddle peer run`: without PATH or with auto, from the "
         "directory that the agent's file names."),
    NULL};
