/* The options that fill a plan, except the step sizes, and the table of all options. */
#include "instance/plan_options.h"

#include <saddle/algorithm.h>
#include <saddle/problem.h>

#include "algorithms/step_options.h"
#include "core/status.h"
#include "instance/settings.h"

/* The field that an option fills, the stage at which it is used, and what it can change. */
#define PLAN(field, when, what)                                       \
    .home = SADDLE_HOME_PLAN, .offset = offsetof(saddle_plan, field), \
    .stage = SADDLE_STAGE_##when, .effect = SADDLE_EFFECT_##what
/* The same with the values that completion offers. */
#define PLAN_OF(field, when, what, kind) PLAN(field, when, what), .values = (kind)
/* The same for an option that only problems made from data use. */
#define PLAN_DATA(field, what) PLAN(problem.field, INSTANCE, what), .of_data = true
/* The same for an option whose value can be the path of a plug-in. */
#define PLAN_CODE(field, when, kind) PLAN_OF(field, when, RESULT, kind), .no_path_in_file = true

static const saddle_option problem =
    SADDLE_TEXT(PLAN_CODE(problem.name, INSTANCE, "@PROBLEM"), "problem", SADDLE_PROBLEM_HEADING,
                "robust-logistic", "NAME",
                "Problem to solve. `saddle problems` lists them. A value with a / is the path of "
                "your own plug-in (a shared object): ./mine.so[:OPTIONS].");
static const saddle_option data = SADDLE_TEXT(
    PLAN_OF(problem.data, INSTANCE, SOURCE, "@FILE"), "data", SADDLE_DATA_HEADING, "synthetic",
    "NAME",
    "Data file or data set name. Files are LIBSVM, CSV, IDX, .npy or .npz; text may be compressed "
    "(.gz). Names are looked up in $SADDLE_DATA and the data directory; "
    "synthetic[:ROWS[:FEATURES]] generates data. A path with %d or %02d, such as part-%d.libsvm, "
    "names one file per agent, numbered from 0; each is opened only where its agent runs.");
static const saddle_option format =
    SADDLE_CHOICE(PLAN_DATA(format, RESULT), "format", SADDLE_READING_HEADING, "auto",
                  "auto|libsvm|csv|idx|numpy", "FORMAT",
                  "Format of the data file. auto: detected from its content and name.");
static const saddle_option header = SADDLE_CHOICE(
    PLAN_DATA(header, RESULT), "header", SADDLE_READING_HEADING, "auto", "auto|yes|no", "WHETHER",
    "CSV: whether the first line holds column names. auto: yes if it has text and no numbers, or "
    "text above a number of the next line.");
static const saddle_option label_column = SADDLE_TEXT(
    PLAN_DATA(label_column, RESULT), "label-column", SADDLE_READING_HEADING, "last", "WHICH",
    "CSV and .npy: column of the label. Give first, last, a number from 0 or a column name. none: "
    "the data have no labels, which only predict accepts.");
#define LABELS PLAN_DATA(labels, SOURCE), .values = "@FILE"
static const saddle_option labels =
    SADDLE_TEXT(LABELS, "labels", SADDLE_READING_HEADING, "", "PATH",
                "IDX and NumPy: file of the labels. none: the data have no labels, which only "
                "predict accepts. Not given: for images, the file beside them whose name matches; "
                "in an .npz, the array y or labels.");
static const saddle_option categories =
    SADDLE_CHOICE(PLAN_DATA(categories, RESULT), "categories", SADDLE_READING_HEADING, "one-hot",
                  "one-hot|codes", "CODING",
                  "CSV: how text becomes numbers. one-hot: a feature of 0 and 1 for each text of a "
                  "column; codes: one feature that numbers the texts from 0.");
static const saddle_option missing =
    SADDLE_CHOICE(PLAN_DATA(missing, RESULT), "missing", SADDLE_READING_HEADING, "refuse",
                  "refuse|drop|impute", "RULE",
                  "CSV: what to do with missing values. These are empty fields, NA, NaN, null and "
                  "?. refuse: report an error; drop: leave out their rows; impute: fill in the "
                  "column's mean or most frequent text.");
static const saddle_option category_columns = SADDLE_TEXT(
    PLAN_DATA(category_columns, RESULT), "category-columns", SADDLE_READING_HEADING, "", "LIST",
    "CSV: columns whose numbers are categories. Names or numbers from 0, separated by commas.");
static const saddle_option drop_columns =
    SADDLE_TEXT(PLAN_DATA(drop_columns, RESULT), "drop-columns", SADDLE_READING_HEADING, "", "LIST",
                "CSV: columns to leave out. Names or numbers from 0, separated by commas.");
static const saddle_option positive =
    SADDLE_TEXT(PLAN_DATA(positive, RESULT), "positive", SADDLE_DATA_HEADING, "auto", "LABELS",
                "Labels of the positive class, such as 1, 5-9 or 2,4,7. auto: the larger of two "
                "labels; 5-9 if the labels are digits.");
static const saddle_option classes =
    SADDLE_TEXT(PLAN_DATA(classes, RESULT), "classes", SADDLE_DATA_HEADING, "auto", "LABELS",
                "Labels of the classes, such as 0,1,2. Only for problems with more than two "
                "classes. auto: the labels that occur.");
static const saddle_option test_data =
    SADDLE_TEXT(PLAN_OF(problem.test_data, INSTANCE, SOURCE, "@FILE"), "test-data",
                SADDLE_DATA_HEADING, "", "NAME",
                "Held-out data to measure outcomes on. Named as for --data. Not given: outcomes "
                "are measured on the agents' data only.");
static const saddle_option samples = SADDLE_TEXT(
    PLAN(problem.samples, INSTANCE, RESULT), "samples", SADDLE_DATA_HEADING, "auto", "N[,N...]",
    "Samples per agent. One number for all agents, or one per agent, separated by commas. auto: "
    "all rows, divided as evenly as possible; 100 for problems without data.");
static const saddle_option partition = SADDLE_TEXT(
    PLAN_DATA(partition, RESULT), "partition", SADDLE_DATA_HEADING, "iid", "RULE",
    "Which agent gets which rows. iid: at random; contiguous: in the order of the file; "
    "label-skew:ALPHA: unevenly by label (Dirichlet), more so the smaller ALPHA is.");
static const saddle_option agent_weights = SADDLE_CHOICE(
    PLAN(problem.agent_weights, INSTANCE, RESULT), "agent-weights", SADDLE_PROBLEM_HEADING, "equal",
    "equal|by-size", "RULE",
    "How much each agent counts. equal: all the same, the objective is (1/m) sum_i F_i. by-size: "
    "by its samples, sum_i (n_i/N) F_i, as if all rows were in one place.");
static const saddle_option x_set = SADDLE_TEXT(
    PLAN_CODE(problem.x_set, INSTANCE, "@SET"), "x-set", SADDLE_PROBLEM_HEADING, "auto", "SET",
    "Constraint set X of x. `saddle sets` lists them. auto: the problem's own. Your own plug-in: "
    "./mine.so[:OPTIONS].");
static const saddle_option y_set = SADDLE_TEXT(
    PLAN_CODE(problem.y_set, INSTANCE, "@SET"), "y-set", SADDLE_PROBLEM_HEADING, "auto", "SET",
    "Constraint set Y of y. `saddle sets` lists them. auto: the problem's own. Your own plug-in: "
    "./mine.so[:OPTIONS].");
static const saddle_option regularizer =
    SADDLE_TEXT(PLAN_CODE(problem.regularizer, INSTANCE, "@REGULARIZER"), "regularizer",
                SADDLE_PROBLEM_HEADING, "none", "H",
                "Nonsmooth regularizer h(x). Give none, l1:W, elastic-net:W1:W2 or "
                "group-l2:W:SIZE. Your own plug-in: ./mine.so[:OPTIONS].");

static const saddle_option agents = SADDLE_INTEGER(
    PLAN(network.agents, INSTANCE, RESULT), "agents", SADDLE_NETWORK_HEADING, "auto", 1, 1e7, "M",
    "Number of agents. auto: that of the topology if it is a grid, torus or file, or the number of "
    "files of --data part-%d; otherwise 5.");
static const saddle_option topology =
    SADDLE_TEXT(PLAN_OF(network.topology, INSTANCE, RESULT, "@TOPOLOGY"), "topology",
                SADDLE_NETWORK_HEADING, "er:0.6", "GRAPH",
                "Network of the agents. `saddle topologies` lists the graphs. file:PATH reads one "
                "edge per line, `i j`, with agents numbered from 0.");
static const saddle_option mixing = SADDLE_TEXT(
    PLAN_OF(network.mixing, INSTANCE, RESULT, "@MIXING"), "mixing", SADDLE_NETWORK_HEADING,
    "laplacian", "RULE", "Weights of the mixing matrix. `saddle topologies` lists the rules.");
static const saddle_option link_model = SADDLE_TEXT(
    PLAN_OF(network.link_model, RUN, METRIC, "@FILE"), "link-model", SADDLE_LINKS_HEADING, "",
    "MODEL",
    "Simulate network time, in column network_seconds. latency:S,bandwidth:B,compute:C, or any of "
    "these: seconds per message, bytes per second of a link, seconds per IFO call. Or a file with "
    "values for each agent and edge. Not given: no simulated time.");
#define LINKS                                \
    PLAN_OF(network.links, INSTANCE, RESULT, \
            "reliable|agreed:|agreed-burst:|gossip|sequence:|schedule:|lossy:|burst:|delay:")
static const saddle_option links =
    SADDLE_TEXT(LINKS, "links", SADDLE_LINKS_HEADING, "reliable", "KIND",
                "Which messages arrive. Give reliable, agreed:P, agreed-burst:P:LENGTH, gossip, "
                "sequence:TOPOLOGY,..., schedule:FILE, lossy:P, burst:P:LENGTH or delay:K[:P]. P "
                "is the fraction of messages that is lost or late, LENGTH the mean length of a "
                "burst and K the longest delay, both in rounds. With agreed links both ends know "
                "of a loss; with lossy links the sender does not. The last three can end in :I-J: "
                "nothing from agent I arrives at agent J.");
static const saddle_option inexact =
    SADDLE_CHOICE(PLAN(network.inexact, INSTANCE, RESULT), "inexact", SADDLE_LINKS_HEADING, "no",
                  "no|stale|own", "RULE",
                  "With lossy links: replace lost messages inexactly. stale: by the last message "
                  "that arrived; own: by the receiver's own state. The result is wrong; it shows "
                  "how much the exact rule matters.");
static const saddle_option churn = SADDLE_TEXT(
    PLAN_OF(network.churn, INSTANCE, RESULT, "@FILE"), "churn", SADDLE_LINKS_HEADING, "", "FILE",
    "File that says which agents leave and join, and when. Lines: `round leave|return|join AGENT` "
    "and `round cut|heal I J`. The objective is that of the agents present. Not given: all agents "
    "stay.");

static const saddle_option compress =
    SADDLE_TEXT(PLAN_OF(network.compress, INSTANCE, RESULT, "none|quantize:|top:|random:"),
                "compress", SADDLE_LINKS_HEADING, "none", "RULE",
                "How to compress messages. quantize:BITS sends 2 to 16 bits per entry, "
                "top:FRACTION the largest entries, random:FRACTION random ones.");
static const saddle_option mixing_rate =
    SADDLE_REAL_ABOVE(PLAN(network.mixing_rate, INSTANCE, RESULT), "mixing-rate",
                      SADDLE_LINKS_HEADING, "auto", 0.0, 1.0, "RATE",
                      "How much compressed messages count in mixing. auto: a rate that suits "
                      "--compress, halved if the copies that neighbours hold fall behind.");

static const saddle_option algorithm = SADDLE_TEXT(
    PLAN_CODE(algorithm.name, RUN, "@ALGORITHM"), "algorithm", SADDLE_ALGORITHM_HEADING,
    "precision", "NAME",
    "Algorithm to use. `saddle algorithms` lists them. Your own plug-in: ./mine.so[:OPTIONS].");

static const saddle_option init = SADDLE_TEXT(
    PLAN(start.init, INSTANCE, RESULT), "init", SADDLE_START_HEADING, "auto", "RULE",
    "Starting point, projected onto X and Y. Give zeros, constant:V, normal:S or file:PATH (.npy "
    "or .npz with xbar and ybar, as written by --model). auto: the problem's own, or normal:0.1.");
static const saddle_option init_x =
    SADDLE_TEXT(PLAN(start.init_x, INSTANCE, RESULT), "init-x", SADDLE_START_HEADING, "auto",
                "RULE", "Starting point of x only. auto: as --init.");
static const saddle_option init_y =
    SADDLE_TEXT(PLAN(start.init_y, INSTANCE, RESULT), "init-y", SADDLE_START_HEADING, "auto",
                "RULE", "Starting point of y only. auto: as --init.");
static const saddle_option seed = SADDLE_INTEGER(
    PLAN(start.seed, INSTANCE, RESULT), "seed", SADDLE_START_HEADING, "1", 0, SADDLE_UNBOUNDED, "N",
    "Seed of all random choices. The same seed gives the same bits.");

static const saddle_option iterations =
    SADDLE_INTEGER(PLAN(limits.iterations, RUN, LENGTH), "iterations", SADDLE_STOPPING_HEADING,
                   "2000", 0, 0x1p53, "N",
                   "Stop after N iterations. If --max-ifo is given and --iterations is not, only "
                   "--max-ifo limits the run.");
static const saddle_option tolerance =
    SADDLE_REAL(PLAN(limits.tolerance, RUN, LENGTH), "tolerance", SADDLE_STOPPING_HEADING, "0", 0,
                SADDLE_UNBOUNDED, "E",
                "Stop once the metric is at most E. It is checked at trace points, with --churn "
                "only after the last event. 0: never.");
static const saddle_option max_ifo =
    SADDLE_INTEGER(PLAN(limits.max_ifo, RUN, LENGTH), "max-ifo", SADDLE_STOPPING_HEADING, "0", 0,
                   SADDLE_UNBOUNDED, "N",
                   "Stop after N gradient evaluations (IFO calls). Those of all agents count. The "
                   "run ends after the iteration in which N is reached; inner loops of that "
                   "iteration are cut short. 0: no limit.");
static const saddle_option max_rounds = SADDLE_INTEGER(
    PLAN(limits.max_rounds, RUN, LENGTH), "max-rounds", SADDLE_STOPPING_HEADING, "0", 0,
    SADDLE_UNBOUNDED, "N", "Stop before exceeding N communication rounds. 0: no limit.");
static const saddle_option max_seconds =
    SADDLE_REAL(PLAN(limits.max_seconds, RUN, LENGTH), "max-seconds", SADDLE_STOPPING_HEADING, "0",
                0, SADDLE_UNBOUNDED, "S",
                "Stop after S seconds of computing. Measuring does not count. 0: no limit.");
static const saddle_option max_network_seconds =
    SADDLE_REAL(PLAN(limits.max_network_seconds, RUN, LENGTH), "max-network-seconds",
                SADDLE_STOPPING_HEADING, "0", 0, SADDLE_UNBOUNDED, "S",
                "Stop after S simulated seconds of --link-model. The run ends with the iteration "
                "that reaches S. 0: no limit.");

static const saddle_option stop_when = SADDLE_TEXT(
    PLAN(limits.stop_when, RUN, LENGTH), "stop-when", SADDLE_STOPPING_HEADING, "", "CONDITION",
    "Stop once a condition such as 'auc>=0.9' holds. It compares a column of the trace by >=, <=, "
    "> or <, at trace points. An outcome without test_ or train_ is the one on held-out rows if "
    "there are any. The exit status is 6 if the condition is never met. Not given, or none: no "
    "condition.");
static const saddle_option stop_after = SADDLE_INTEGER(
    PLAN(limits.stop_after, RUN, LENGTH), "stop-after", SADDLE_STOPPING_HEADING, "0", 0, 0x1p53,
    "N",
    "Stop after N trace points without improvement. What must improve is an outcome on held-out "
    "rows (see --stop-on); the solution is that of the best trace point. 0: never.");
static const saddle_option stop_on =
    SADDLE_TEXT(PLAN(limits.stop_on, RUN, LENGTH), "stop-on", SADDLE_STOPPING_HEADING, "",
                "OUTCOME", "Outcome that --stop-after watches. Not given: the problem's first.");

static const saddle_option engine =
    SADDLE_TEXT(PLAN_OF(engine.name, INSTANCE, ENGINE, "threads|mpi"), "engine",
                SADDLE_ENGINE_HEADING, "threads", "NAME",
                "What runs the agents. threads: threads of this process; mpi: the processes that "
                "mpirun starts. Results do not depend on it.");
static const saddle_option threads = SADDLE_INTEGER(
    PLAN(engine.threads, RUN, ENGINE), "threads", SADDLE_ENGINE_HEADING, "auto", 1, 4096, "N",
    "Threads per process. Results do not depend on it. auto: as many as make the run faster.");
static const saddle_option pin =
    SADDLE_FLAG(PLAN(engine.pin, RUN, ENGINE), "pin", SADDLE_ENGINE_HEADING, "no",
                "Keep each thread on one processor. This helps where the system moves threads "
                "around, and hurts where other programs use the same processors.");
static const saddle_option stall_seconds =
    SADDLE_REAL(PLAN(engine.stall_seconds, INSTANCE, ENGINE), "stall-seconds",
                SADDLE_ENGINE_HEADING, "60", 1, SADDLE_UNBOUNDED, "S",
                "mpi: end the job if a process is silent for S seconds. A process is silent if it "
                "has been stopped or is unreachable; computing, reading and writing may take any "
                "time. The exit status is 5.");

static const saddle_option trace =
    SADDLE_TEXT(PLAN_OF(outputs.trace, RUN, OUTPUT, "@FILE"), "trace", SADDLE_OUTPUT_HEADING, "",
                "PATH", "Write the trace to a CSV file. Not given: no trace is written.");
static const saddle_option trace_every = SADDLE_INTEGER(
    PLAN(outputs.trace_every, RUN, RECORD), "trace-every", SADDLE_MEASURING_HEADING, "auto", 1,
    0x1p53, "N", "Measure the metric every N iterations. auto: about 200 times per run.");
static const saddle_option metric_tau =
    SADDLE_REAL_ABOVE(PLAN(outputs.metric_tau, RUN, METRIC), "metric-tau", SADDLE_MEASURING_HEADING,
                      "auto", 0, SADDLE_UNBOUNDED, "WEIGHT",
                      "tau that the metric uses. Set it to compare runs with different --tau. "
                      "auto: the run's own tau.");
static const saddle_option metric_direction = SADDLE_CHOICE(
    PLAN(outputs.metric_direction, RUN, METRIC), "metric-direction", SADDLE_MEASURING_HEADING,
    "exact", "exact|own", "WHICH",
    "Gradient that the metric's proximal point uses. exact: the network's gradient at the mean "
    "iterate, so that the metric depends on the point only and means the same for all algorithms. "
    "own: each agent's tracker, if the algorithm has one, so that its noise counts too.");
static const saddle_option outcomes = SADDLE_CHOICE(
    PLAN(outputs.outcomes, RUN, RECORD), "outcomes", SADDLE_MEASURING_HEADING, "auto",
    "auto|always|ends", "WHEN",
    "When to measure outcomes such as accuracy. always: at every trace point; ends: at the first "
    "and the last. auto: always if a trace is written, otherwise ends; with one file per agent, "
    "always only for outcomes that do not need every row's score.");
static const saddle_option outcomes_per_agent =
    SADDLE_FLAG(PLAN(outputs.outcomes_per_agent, RUN, RECORD), "outcomes-per-agent",
                SADDLE_MEASURING_HEADING, "no",
                "Also measure outcomes of each agent's own model. Reports the least, mean and "
                "largest over the agents, on their own rows and on those of --test-data.");
static const saddle_option model = SADDLE_TEXT(
    PLAN_OF(outputs.model, RUN, OUTPUT, "@FILE"), "model", SADDLE_OUTPUT_HEADING, "", "PATH",
    "Model file that run writes and eval and predict read. It is .npz, or .npy with one record, "
    "and holds xbar, ybar, every agent's copy and what is needed to use them.");

static const saddle_option checkpoint =
    SADDLE_TEXT(PLAN_OF(outputs.checkpoint, RUN, OUTPUT, "@DIRECTORY"), "checkpoint",
                SADDLE_CHECKPOINTS_HEADING, "", "DIR",
                "Write checkpoints into a directory. It is created if missing; the last two "
                "checkpoints are kept. One is also written at the end, and after Ctrl-C or a "
                "termination signal. Not given: none.");
static const saddle_option checkpoint_every = SADDLE_TEXT(
    PLAN(outputs.checkpoint_every, RUN, OUTPUT), "checkpoint-every", SADDLE_CHECKPOINTS_HEADING, "",
    "K|Ts",
    "Checkpoint every K iterations or every T seconds. For example 500 or 30s. Not given: 60s.");
static const saddle_option resume = {
    PLAN_OF(outputs.resume, RUN, OUTPUT, "@FILE"),
    .name = "resume",
    .group = SADDLE_CHECKPOINTS_HEADING,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "",
    .metavar = "[PATH|auto]",
    .help = "Continue a run from a checkpoint, with the same bits. PATH is a checkpoint, or a "
            "directory whose newest one is used. Options that are not given are those of that run, "
            "but output files outside its directory must be given again. Without PATH: the newest "
            "checkpoint in --checkpoint. auto: the newest valid one there, or a new run if there "
            "is none. `saddle tune`: continue from its logs.",
    .alone = "yes"};

static const saddle_option *const plan_options[] = {&problem,
                                                    &data,
                                                    &format,
                                                    &header,
                                                    &label_column,
                                                    &labels,
                                                    &categories,
                                                    &missing,
                                                    &category_columns,
                                                    &drop_columns,
                                                    &positive,
                                                    &classes,
                                                    &test_data,
                                                    &samples,
                                                    &partition,
                                                    &agent_weights,
                                                    &x_set,
                                                    &y_set,
                                                    &regularizer,
                                                    &agents,
                                                    &topology,
                                                    &mixing,
                                                    &links,
                                                    &inexact,
                                                    &churn,
                                                    &compress,
                                                    &mixing_rate,
                                                    &link_model,
                                                    &algorithm,
                                                    &init,
                                                    &init_x,
                                                    &init_y,
                                                    &seed,
                                                    &iterations,
                                                    &tolerance,
                                                    &max_ifo,
                                                    &max_rounds,
                                                    &max_seconds,
                                                    &max_network_seconds,
                                                    &stop_when,
                                                    &stop_after,
                                                    &stop_on,
                                                    &engine,
                                                    &threads,
                                                    &pin,
                                                    &stall_seconds,
                                                    &trace,
                                                    &trace_every,
                                                    &metric_tau,
                                                    &metric_direction,
                                                    &outcomes,
                                                    &outcomes_per_agent,
                                                    &model,
                                                    &checkpoint,
                                                    &checkpoint_every,
                                                    &resume,
                                                    NULL};

const saddle_option *const *saddle_plan_options(void)
{
    return plan_options;
}

saddle_status saddle_settings_create(saddle_settings **out, saddle_error *error)
{
    size_t algorithms;
    size_t problems;
    const saddle_algorithm *const *algorithm_list = saddle_algorithm_list(&algorithms);
    const saddle_problem_class *const *problem_list = saddle_problem_list(&problems);
    const saddle_option *const *const own[] = {plan_options};
    saddle_status status = saddle_settings_build(out, own, 1, error);
    for (size_t k = 0; status == SADDLE_OK && k < algorithms; k++)
        status = saddle_settings_add(*out, algorithm_list[k]->options, error);
    for (size_t k = 0; status == SADDLE_OK && k < problems; k++)
        status = saddle_settings_add(*out, problem_list[k]->options, error);
    if (status != SADDLE_OK) {
        saddle_settings_free(*out);
        *out = NULL;
    }
    return status;
}
