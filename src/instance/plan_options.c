/* The options that fill a plan, besides those of step sizes, and the store of all options. */
#include "instance/plan_options.h"

#include <saddle/algorithm.h>
#include <saddle/problem.h>

#include "algorithms/step_options.h"
#include "core/status.h"
#include "instance/settings.h"

/* The field of an option, what is made from it, and what it can change. */
#define PLAN(field, when, what)                                       \
    .home = SADDLE_HOME_PLAN, .offset = offsetof(saddle_plan, field), \
    .stage = SADDLE_STAGE_##when, .effect = SADDLE_EFFECT_##what
/* The same with what its value can be, for completion. */
#define PLAN_OF(field, when, what, kind) PLAN(field, when, what), .words = (kind)
/* The same for what only a problem made from data uses. */
#define PLAN_DATA(field, what) PLAN(problem.field, INSTANCE, what), .of_data = true
/* The same for what can be the path of a plug-in. */
#define PLAN_CODE(field, when, kind) PLAN_OF(field, when, RESULT, kind), .no_path_in_file = true

static const saddle_option problem = SADDLE_TEXT(
    PLAN_CODE(problem.name, INSTANCE, "@PROBLEM"), "problem", SADDLE_PROBLEM_HEADING,
    "robust-logistic", "NAME",
    "What to solve; `saddle problems` lists them. With a / in it, the path of a shared object of "
    "your own: ./mine.so[:OPTIONS].");
static const saddle_option data =
    SADDLE_TEXT(PLAN_OF(problem.data, INSTANCE, SOURCE, "@FILE"), "data", SADDLE_PROBLEM_HEADING,
                "synthetic", "NAME",
                "A file (LIBSVM, CSV, IDX, .npy or .npz; text also .gz), a name to be looked up "
                "in $SADDLE_DATA and the data directory, or "
                "synthetic[:ROWS[:FEATURES]]. With a %d or %02d in it, a file for each "
                "agent, numbered from 0, such as part-%d.libsvm, which is opened only where its "
                "agent is.");
static const saddle_option format =
    SADDLE_CHOICE(PLAN_DATA(format, RESULT), "format", SADDLE_PROBLEM_HEADING, "auto",
                  "auto|libsvm|csv|idx|numpy", "FORMAT",
                  "Format of the data file. auto: by its content and name.");
static const saddle_option header = SADDLE_CHOICE(
    PLAN_DATA(header, RESULT), "header", SADDLE_PROBLEM_HEADING, "auto", "auto|yes|no", "WHETHER",
    "CSV: whether the first line holds names. auto: if it has text and no numbers, or text above a "
    "number of the next line.");
static const saddle_option label_column = SADDLE_TEXT(
    PLAN_DATA(label_column, RESULT), "label-column", SADDLE_PROBLEM_HEADING, "last", "WHICH",
    "CSV and .npy: the column of the label: first, last, a number from 0 or a header's name; none: "
    "there is none, which only predict can do with.");
#define LABELS PLAN_DATA(labels, SOURCE), .words = "@FILE"
static const saddle_option labels =
    SADDLE_TEXT(LABELS, "labels", SADDLE_PROBLEM_HEADING, "", "PATH",
                "IDX and NumPy: the file of labels; none: there is none, which only predict can do "
                "with. Not given: found beside the images by its name; y or labels in an .npz.");
static const saddle_option categories =
    SADDLE_CHOICE(PLAN_DATA(categories, RESULT), "categories", SADDLE_PROBLEM_HEADING, "one-hot",
                  "one-hot|codes", "CODING",
                  "CSV: what text becomes: a feature of 0 and 1 for each text of a column, or one "
                  "feature with the texts' numbers from 0.");
static const saddle_option missing =
    SADDLE_CHOICE(PLAN_DATA(missing, RESULT), "missing", SADDLE_PROBLEM_HEADING, "refuse",
                  "refuse|drop|impute", "RULE",
                  "CSV: what becomes of missing values (empty, NA, NaN, null or ?): refused, their "
                  "rows left out, or filled in by the column's mean or most frequent text.");
static const saddle_option category_columns = SADDLE_TEXT(
    PLAN_DATA(category_columns, RESULT), "category-columns", SADDLE_PROBLEM_HEADING, "", "LIST",
    "CSV: columns whose numbers are categories, by name or number from 0, separated by commas.");
static const saddle_option drop_columns =
    SADDLE_TEXT(PLAN_DATA(drop_columns, RESULT), "drop-columns", SADDLE_PROBLEM_HEADING, "", "LIST",
                "CSV: columns to leave out, by name or number from 0, separated by commas.");
static const saddle_option positive =
    SADDLE_TEXT(PLAN_DATA(positive, RESULT), "positive", SADDLE_PROBLEM_HEADING, "auto", "LABELS",
                "Labels that count as positive, such as 1 or 5-9 "
                "or 2,4,7. auto: the larger of two; digits 5-9.");
static const saddle_option classes = SADDLE_TEXT(
    PLAN_DATA(classes, RESULT), "classes", SADDLE_PROBLEM_HEADING, "auto", "LABELS",
    "Labels of the classes, such as 0,1,2, for a problem with more than two. auto: those that "
    "occur.");
static const saddle_option test_data =
    SADDLE_TEXT(PLAN_OF(problem.test_data, INSTANCE, SOURCE, "@FILE"), "test-data",
                SADDLE_PROBLEM_HEADING, "", "NAME",
                "Held-out data, named as for --data, on which the problem's outcomes are reported "
                "too. Not given: none.");
static const saddle_option samples = SADDLE_TEXT(
    PLAN(problem.samples, INSTANCE, RESULT), "samples", SADDLE_PROBLEM_HEADING, "auto", "N[,N...]",
    "Samples per agent: one number for all, or one for each agent, separated by commas. "
    "auto: all rows, some agents with one more than others; 100 for problems without data.");
static const saddle_option partition = SADDLE_TEXT(
    PLAN_DATA(partition, RESULT), "partition", SADDLE_PROBLEM_HEADING, "iid", "RULE",
    "Which agent gets which rows: iid, contiguous (agents hold rows in the order of the "
    "file) or label-skew:ALPHA (Dirichlet).");
static const saddle_option agent_weights = SADDLE_CHOICE(
    PLAN(problem.agent_weights, INSTANCE, RESULT), "agent-weights", SADDLE_PROBLEM_HEADING, "equal",
    "equal|by-size", "RULE",
    "How much an agent counts. equal: all alike, the objective is (1/m) sum_i F_i. by-size: by its "
    "samples, sum_i (n_i/N) F_i, as if all rows were in one place.");
static const saddle_option x_set = SADDLE_TEXT(
    PLAN_CODE(problem.x_set, INSTANCE, "@SET"), "x-set", SADDLE_PROBLEM_HEADING, "auto", "SET",
    "The set X; `saddle sets` lists them. auto: the problem's own. Or ./mine.so[:OPTIONS].");
static const saddle_option y_set = SADDLE_TEXT(
    PLAN_CODE(problem.y_set, INSTANCE, "@SET"), "y-set", SADDLE_PROBLEM_HEADING, "auto", "SET",
    "The set Y; `saddle sets` lists them. auto: the problem's own. Or ./mine.so[:OPTIONS].");
static const saddle_option regularizer =
    SADDLE_TEXT(PLAN_CODE(problem.regularizer, INSTANCE, "@REGULARIZER"), "regularizer",
                SADDLE_PROBLEM_HEADING, "none", "H",
                "The nonsmooth h(x): none, l1:W, elastic-net:W1:W2 or group-l2:W:SIZE. Or "
                "./mine.so[:OPTIONS].");

static const saddle_option agents = SADDLE_INTEGER(
    PLAN(network.agents, INSTANCE, RESULT), "agents", SADDLE_NETWORK_HEADING, "auto", 1, 1e7, "M",
    "Number of agents. auto: what a grid, torus or file says, as many as there are files of "
    "--data part-%d, otherwise 5.");
static const saddle_option topology =
    SADDLE_TEXT(PLAN_OF(network.topology, INSTANCE, RESULT, "@TOPOLOGY"), "topology",
                SADDLE_NETWORK_HEADING, "er:0.6", "GRAPH",
                "Which agents communicate; `saddle topologies` lists the graphs. file:PATH reads "
                "`i j` lines, agents numbered from 0.");
static const saddle_option mixing = SADDLE_TEXT(
    PLAN_OF(network.mixing, INSTANCE, RESULT, "@MIXING"), "mixing", SADDLE_NETWORK_HEADING,
    "laplacian", "RULE", "Weights of the mixing matrix; `saddle topologies` lists the rules.");
static const saddle_option link_model = SADDLE_TEXT(
    PLAN_OF(network.link_model, RUN, METRIC, "@FILE"), "link-model", SADDLE_NETWORK_HEADING, "",
    "MODEL",
    "Count simulated seconds, the column network_seconds: latency:S,bandwidth:B,compute:C, any of "
    "them, are seconds of a message, bytes per second of a link and seconds of an IFO call; or a "
    "file with values for each agent and edge. Not given: they are not counted.");
#define LINKS                                \
    PLAN_OF(network.links, INSTANCE, RESULT, \
            "reliable|agreed:|agreed-burst:|gossip|sequence:|schedule:|lossy:|burst:|delay:")
static const saddle_option links = SADDLE_TEXT(
    LINKS, "links", SADDLE_NETWORK_HEADING, "reliable", "KIND",
    "Which messages arrive: reliable, agreed:P, agreed-burst:P:LENGTH, gossip, "
    "sequence:TOPOLOGY,..., schedule:FILE, lossy:P, burst:P:LENGTH or delay:K[:P]. P is the share "
    "that is lost, LENGTH the mean rounds of a burst, K the most rounds of a delay. With agreed "
    "links both ends know of a loss; with lossy ones the sender does not.");
static const saddle_option inexact = SADDLE_CHOICE(
    PLAN(network.inexact, INSTANCE, RESULT), "inexact", SADDLE_NETWORK_HEADING, "no",
    "no|stale|own", "RULE",
    "With lossy links: replace a lost message by the last one that arrived (stale) or by the "
    "receiver's own state (own). The result is wrong; it shows how much the exact rule matters.");
static const saddle_option churn = SADDLE_TEXT(
    PLAN_OF(network.churn, INSTANCE, RESULT, "@FILE"), "churn", SADDLE_NETWORK_HEADING, "", "FILE",
    "Agents that come and go: lines `round leave|return|join AGENT` and `round cut|heal I J`. The "
    "objective is that of those present. Not given: all stay.");

static const saddle_option compress =
    SADDLE_TEXT(PLAN_OF(network.compress, INSTANCE, RESULT, "none|quantize:|top:|random:"),
                "compress", SADDLE_NETWORK_HEADING, "none", "RULE",
                "Compress what agents send: quantize:BITS sends 2 to 16 bits for each entry, "
                "top:FRACTION the largest entries, random:FRACTION random ones.");
static const saddle_option mixing_rate = SADDLE_REAL_ABOVE(
    PLAN(network.mixing_rate, INSTANCE, RESULT), "mixing-rate", SADDLE_NETWORK_HEADING, "auto", 0.0,
    1.0, "RATE",
    "How much compressed messages count in mixing. auto: what suits --compress, and less where "
    "messages do not keep up.");

static const saddle_option algorithm =
    SADDLE_TEXT(PLAN_CODE(algorithm.name, RUN, "@ALGORITHM"), "algorithm", SADDLE_ALGORITHM_HEADING,
                "precision", "NAME",
                "How to solve it; `saddle algorithms` lists them. Or ./mine.so[:OPTIONS].");

static const saddle_option init = SADDLE_TEXT(
    PLAN(start.init, INSTANCE, RESULT), "init", SADDLE_START_HEADING, "auto", "RULE",
    "Starting point, projected onto X and Y: zeros, constant:V, normal:S or file:PATH (.npy or "
    ".npz with xbar and ybar, such as --model writes). auto: the problem's own, or normal:0.1.");
static const saddle_option init_x =
    SADDLE_TEXT(PLAN(start.init_x, INSTANCE, RESULT), "init-x", SADDLE_START_HEADING, "auto",
                "RULE", "The same for x alone. auto: as --init.");
static const saddle_option init_y =
    SADDLE_TEXT(PLAN(start.init_y, INSTANCE, RESULT), "init-y", SADDLE_START_HEADING, "auto",
                "RULE", "The same for y alone. auto: as --init.");
static const saddle_option seed = SADDLE_INTEGER(
    PLAN(start.seed, INSTANCE, RESULT), "seed", SADDLE_START_HEADING, "1", 0, SADDLE_UNBOUNDED, "N",
    "What everything random follows from. The same seed gives the same bits.");

static const saddle_option iterations = SADDLE_INTEGER(
    PLAN(limits.iterations, RUN, LENGTH), "iterations", SADDLE_STOPPING_HEADING, "2000", 0, 0x1p53,
    "N", "Stop after N iterations. Not given: with --max-ifo, only that budget counts.");
static const saddle_option tolerance =
    SADDLE_REAL(PLAN(limits.tolerance, RUN, LENGTH), "tolerance", SADDLE_STOPPING_HEADING, "0", 0,
                SADDLE_UNBOUNDED, "E",
                "Stop at the first trace point where the metric is at most E; with --churn, the "
                "first after the last event. 0: never.");
static const saddle_option max_ifo = SADDLE_INTEGER(
    PLAN(limits.max_ifo, RUN, LENGTH), "max-ifo", SADDLE_STOPPING_HEADING, "0", 0, SADDLE_UNBOUNDED,
    "N",
    "Stop after the iteration in which all agents together have made N IFO calls; inner loops end "
    "there, too. 0: never.");
static const saddle_option max_rounds =
    SADDLE_INTEGER(PLAN(limits.max_rounds, RUN, LENGTH), "max-rounds", SADDLE_STOPPING_HEADING, "0",
                   0, SADDLE_UNBOUNDED, "N",
                   "Stop before the iteration that would exceed N communication rounds. 0: never.");
static const saddle_option max_seconds = SADDLE_REAL(
    PLAN(limits.max_seconds, RUN, LENGTH), "max-seconds", SADDLE_STOPPING_HEADING, "0", 0,
    SADDLE_UNBOUNDED, "S", "Stop after S seconds of computing, measuring left out. 0: never.");
static const saddle_option max_network_seconds =
    SADDLE_REAL(PLAN(limits.max_network_seconds, RUN, LENGTH), "max-network-seconds",
                SADDLE_STOPPING_HEADING, "0", 0, SADDLE_UNBOUNDED, "S",
                "Stop after the iteration in which the simulated seconds of --link-model reach S. "
                "0: never.");

static const saddle_option stop_when = SADDLE_TEXT(
    PLAN(limits.stop_when, RUN, LENGTH), "stop-when", SADDLE_STOPPING_HEADING, "", "CONDITION",
    "Stop at the first trace point where a column of the trace satisfies it: 'auc>=0.9', or <=, > "
    "or <. An outcome without test_ or train_ is the one on held-out rows, if there are any. The "
    "exit status is 6 if it never does. Not given, or none: there is no condition.");
static const saddle_option stop_after = SADDLE_INTEGER(
    PLAN(limits.stop_after, RUN, LENGTH), "stop-after", SADDLE_STOPPING_HEADING, "0", 0, 0x1p53,
    "N",
    "Stop when an outcome on held-out rows has not improved for N trace points; the solution is "
    "that of the best one. 0: never.");
static const saddle_option stop_on =
    SADDLE_TEXT(PLAN(limits.stop_on, RUN, LENGTH), "stop-on", SADDLE_STOPPING_HEADING, "",
                "OUTCOME", "The outcome of --stop-after. Not given: the problem's first.");

static const saddle_option engine = SADDLE_TEXT(
    PLAN_OF(engine.name, INSTANCE, ENGINE, "threads|mpi"), "engine", SADDLE_ENGINE_HEADING,
    "threads", "NAME",
    "What runs the agents: threads (all in this process) or mpi (on as many processes as "
    "mpirun starts). Results do not depend on it.");
static const saddle_option threads = SADDLE_INTEGER(
    PLAN(engine.threads, RUN, ENGINE), "threads", SADDLE_ENGINE_HEADING, "auto", 1, 4096, "N",
    "Threads of each process; results do not depend on it. auto: as many as pay off.");
static const saddle_option pin = SADDLE_FLAG(
    PLAN(engine.pin, RUN, ENGINE), "pin", SADDLE_ENGINE_HEADING, "no",
    "Keep each thread on one processor. It helps where the system moves them about, and "
    "harms where others use the same processors.");
static const saddle_option stall_seconds = SADDLE_REAL(
    PLAN(engine.stall_seconds, INSTANCE, ENGINE), "stall-seconds", SADDLE_ENGINE_HEADING, "60", 1,
    SADDLE_UNBOUNDED, "S",
    "mpi: end the job, with exit code 5, when a process has been stopped or unreachable for S "
    "seconds. A process that computes, reads or writes may take any time.");

static const saddle_option trace =
    SADDLE_TEXT(PLAN_OF(outputs.trace, RUN, OUTPUT, "@FILE"), "trace", SADDLE_OUTPUT_HEADING, "",
                "PATH", "Write the trace as CSV. Not given: none.");
static const saddle_option trace_every = SADDLE_INTEGER(
    PLAN(outputs.trace_every, RUN, RECORD), "trace-every", SADDLE_OUTPUT_HEADING, "auto", 1, 0x1p53,
    "N", "Measure the metric every N iterations. auto: about 200 times in the run.");
static const saddle_option metric_tau = SADDLE_REAL_ABOVE(
    PLAN(outputs.metric_tau, RUN, METRIC), "metric-tau", SADDLE_OUTPUT_HEADING, "auto", 0,
    SADDLE_UNBOUNDED, "WEIGHT",
    "tau of the proximal point in the metric, so that runs with different --tau can be compared. "
    "auto: the run's own.");
static const saddle_option metric_direction = SADDLE_CHOICE(
    PLAN(outputs.metric_direction, RUN, METRIC), "metric-direction", SADDLE_OUTPUT_HEADING, "exact",
    "exact|own", "WHICH",
    "Which gradient the proximal point in the metric is made of. exact: that of the network at the "
    "mean iterate, so that the metric judges the point and means the same for all algorithms. own: "
    "each agent's tracker, where the algorithm has one; its noise then counts, too.");
static const saddle_option outcomes = SADDLE_CHOICE(
    PLAN(outputs.outcomes, RUN, RECORD), "outcomes", SADDLE_OUTPUT_HEADING, "auto",
    "auto|always|ends", "WHEN",
    "Measure the problem's outcomes, such as accuracy, at every trace point (always) or at the "
    "first and the last (ends). auto: always if a trace is written, otherwise ends; with a file "
    "for each agent, always only for outcomes that do not need every row's score.");
static const saddle_option outcomes_per_agent = SADDLE_FLAG(
    PLAN(outputs.outcomes_per_agent, RUN, RECORD), "outcomes-per-agent", SADDLE_OUTPUT_HEADING,
    "no",
    "Also the least, mean and largest over agents of each outcome: every agent's model on its own "
    "rows, and on the rows of --test-data.");
static const saddle_option model = SADDLE_TEXT(
    PLAN_OF(outputs.model, RUN, OUTPUT, "@FILE"), "model", SADDLE_OUTPUT_HEADING, "", "PATH",
    "The file of the model, NumPy .npz (or one .npy record). It holds xbar, ybar, every agent's "
    "copy and what it takes to use them. `run` writes it if asked to, `eval` and `predict` read "
    "it.");

static const saddle_option checkpoint = SADDLE_TEXT(
    PLAN_OF(outputs.checkpoint, RUN, OUTPUT, "@DIRECTORY"), "checkpoint",
    SADDLE_CHECKPOINTS_HEADING, "", "DIR",
    "Write checkpoints into this directory. It is made when missing; the last two are kept. One "
    "is written at the end, too, also after Ctrl-C or a termination signal. Not given: none.");
static const saddle_option checkpoint_every = SADDLE_TEXT(
    PLAN(outputs.checkpoint_every, RUN, OUTPUT), "checkpoint-every", SADDLE_CHECKPOINTS_HEADING, "",
    "K|Ts",
    "A checkpoint every K iterations, such as 500, or every T seconds, such as 30s. Not "
    "given: 60s.");
static const saddle_option resume = {
    PLAN_OF(outputs.resume, RUN, OUTPUT, "@FILE"),
    .name = "resume",
    .group = SADDLE_CHECKPOINTS_HEADING,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "",
    .metavar = "[PATH|auto]",
    .help =
        "Continue where a run ended, bit for bit, from a checkpoint or the newest of a directory; "
        "options that are not given are those of that run, but files to write outside its "
        "directory must be given again. Without a PATH: the newest in "
        "--checkpoint. auto: the newest valid one there, or from the start if there is none. "
        "`saddle tune`: from its logs.",
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
