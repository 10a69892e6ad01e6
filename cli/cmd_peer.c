/* `saddle peer`: one process for each agent, at its owner's. */
#include <math.h>

#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "core/clock.h"
#include "files/file.h"
#include "lab/peer_run.h"
#include "peer_monitor.h"

/* ---- keygen ----------------------------------------------------------------------------------- */

static int run_keygen(const cli_arguments *arguments)
{
    const char *path = arguments->operand[0];
    char key[SADDLE_PEER_KEY_SIZE];
    bool made;
    saddle_error error;
    CLI_TRY(saddle_peer_keygen(path, key, &made, &error));
    cli_print(made ? "%s: a new secret key, which only you can read; never send it\n"
                   : "%s: the secret key that was there; it is not replaced\n",
              path);
    cli_print("public key, for the network file:\n%s\n", key);
    return CLI_OK;
}

const cli_command cli_peer_keygen = {
    .name = "peer keygen",
    .operands = "PATH",
    .summary = "make an agent's secret key, and print its public key",
    .details =
        "PATH receives the secret key; only its owner can read it. If there is a key already, "
        "its public key is printed. The public key belongs into the network file of all "
        "owners.",
    .values = "@FILE",
    .run = run_keygen,
};

/* ---- init ------------------------------------------------------------------------------------- */

static CLI_PLAN_FIELDS(init_library, CLI_FIELDS(network.agents));
enum { USUAL_AGENTS = 3 };

static void write_network(FILE *f, const void *context)
{
    const saddle_plan *plan = context;
    size_t agents = plan->network.agents > 0 ? (size_t)plan->network.agents : USUAL_AGENTS;
    fputs("# The run that all owners have agreed on. Every owner has the same file; agents with "
          "other files\n"
          "# do not talk to each other. docs/peers.md explains it.\n\n"
          "# Each agent's address and public key, which `saddle peer keygen` prints. An agent that "
          "others\n"
          "# cannot reach, behind a firewall, has `none` instead of an address, and dials its "
          "neighbours.\n",
          f);
    for (size_t i = 0; i < agents; i++)
        saddle_fprintf(f, "agent-%zu: tcp://HOST-%zu:7400 PUBLIC-KEY-%zu\n", i, i, i);
    fputs("\n# Who communicates with whom; or a topology, such as `topology: ring`.\nedges: [", f);
    for (size_t i = 0; i + 1 < agents; i++)
        saddle_fprintf(f, "%s%zu-%zu", i > 0 ? ", " : "", i, i + 1);
    fputs("]\n\n"
          "# The problem and the algorithm: options of `saddle run`.\n"
          "problem: auc\n"
          "data: own            # every agent has its own file, which its agent.yml names\n"
          "algorithm: precision-auto\n"
          "iterations: 500\n"
          "seed: 1\n"
          "checkpoint-every: 50 # iterations; an agent that dies can come back (docs/peers.md)\n"
          "# deadline: 2        # seconds that a round waits for a neighbour; the run continues\n"
          "                     # without an agent that stays away. Not given: it waits for all\n",
          f);
}

static int run_init(const cli_arguments *arguments)
{
    const char *path = arguments->operand[0];
    saddle_error error;
    uint64_t agents = arguments->plan.network.agents;
    if (agents == 1 || agents > SADDLE_MOST_PEERS)
        CLI_TRY(saddle_refuse(&error, "--agents: a network of peers has 2 to %d agents, not %llu",
                              SADDLE_MOST_PEERS, (unsigned long long)agents));
    if (access(path, F_OK) == 0)
        CLI_TRY(saddle_refuse(&error, "'%s' is there already; give another path", path));
    CLI_TRY(saddle_output_save(path, write_network, &arguments->plan, &error));
    cli_print("%s: fill in addresses and public keys, agree on the rest, and give every owner the "
              "same file.\nEach owner then writes an agent.yml:\n\n"
              "  network: %s\n  agent: 0                 # this agent's number\n"
              "  key: agent.key           # made by saddle peer keygen\n"
              "  data: rows.csv           # this owner's rows\n  model: model.npz\n"
              "  checkpoint: saved        # a directory, to come back after a failure\n\n"
              "and runs `saddle peer run agent.yml --resume auto`.\n",
              path, saddle_file_name(path));
    return CLI_OK;
}

const cli_command cli_peer_init = {
    .name = "peer init",
    .operands = "PATH",
    .summary = "write a network file, to be filled in",
    .details = "PATH receives a commented network file for a run of several owners.",
    .values = "@FILE",
    .library = init_library,
    .run = run_init,
};

/* ---- run -------------------------------------------------------------------------------------- */

typedef struct run_options {
    cli_common common;
} run_options;

static const saddle_option *const run_own[] = {&cli_option_quiet, NULL};
static CLI_PLAN_FIELDS(run_library, CLI_FIELDS(outputs.resume));

static void print_begin(const peer_files *files, const saddle_session *session)
{
    const saddle_graph *graph = saddle_session_graph(session);
    size_t first = graph->start[files->self];
    char list[256] = "";
    for (size_t k = first; k < graph->start[files->self + 1]; k++)
        saddle_append(list, sizeof list, "%s%zu", k > first ? ", " : "", graph->neighbour[k]);
    cli_print_field("agent", "%zu of %zu; neighbours %s", files->self, graph->agents, list);
    cli_flush();
}

static void print_end(const peer_files *files, const saddle_own_row *last)
{
    char time[CLI_NUMBER];
    cli_print_field("end", "%llu iterations in %s: own loss %.10g, distance to neighbours %.3g",
                    (unsigned long long)last->iteration, cli_duration(last->seconds, time),
                    last->loss, last->distance);
    if (files->model != NULL)
        cli_print_field("model", "%s", files->model);
    if (files->trace != NULL)
        cli_print_field("trace", "%s", files->trace);
}

static saddle_status check_outputs(const peer_files *files, saddle_error *error)
{
    SADDLE_TRY(cli_check_output("model", files->model, false, error));
    return cli_check_output("trace", files->trace, true, error);
}

/* Prints a warning of a session; from when there is a monitor, whose thread prints too, it does so. */
static void warn(void *context, const char *message)
{
    peer_monitor *const *monitor = context;
    if (*monitor != NULL)
        peer_monitor_warn(*monitor, message);
    else
        cli_warn("%s", message);
}

static void show_row(void *context, const saddle_own_row *row)
{
    peer_monitor *const *monitor = context;
    peer_monitor_row(*monitor, row);
}

/* Reads an agent's file, and opens its session, unless the agent is running. */
static saddle_status open_agent(peer_files *files, const char *path, bool checks,
                                const saddle_peer_options *with, saddle_session **out,
                                saddle_error *error)
{
    SADDLE_TRY(peer_files_read(files, path, with, error));
    if (peer_monitor_runs(path))
        return saddle_refuse(error,
                             "'%s': this agent is running already; `saddle peer status %s` shows "
                             "its state",
                             path, path);
    if (!checks)
        SADDLE_TRY(check_outputs(files, error));
    return peer_session_open(files, checks, with, out, error);
}

/* Raises the number of files that the process may open: connections of strangers, which end after seconds without a
 * key, must not leave none for the model. */
static void allow_files(void)
{
    const rlim_t most = 65536;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= most)
        return;
    limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int run_run(const cli_arguments *arguments)
{
    const run_options *own = arguments->own;
    const char *path = arguments->operand[0];
    const volatile sig_atomic_t *interrupt = cli_catch_interrupts();
    peer_files files;
    saddle_session *session = NULL;
    peer_monitor *monitor = NULL;
    const saddle_peer_options with = {.context = &monitor,
                                      .row = show_row,
                                      .warning = warn,
                                      .interrupt = interrupt,
                                      .resume = arguments->plan.outputs.resume};
    saddle_error error = {.message = ""};
    allow_files();
    saddle_status status = open_agent(&files, path, false, &with, &session, &error);
    if (status == SADDLE_OK && !own->common.quiet)
        print_begin(&files, session);
    SADDLE_THEN(status,
                peer_monitor_start(&monitor, path, session, files.plan.limits.iterations, &error));
    SADDLE_THEN(status, peer_session_solve(&files, &with, session, &error));
    saddle_own_row last = {.iteration = 0};
    if (monitor != NULL)
        last = peer_monitor_last(monitor);
    peer_monitor_stop(monitor);
    saddle_session_close(session, status);
    cli_progress_clear();
    if (status == SADDLE_OK && !own->common.quiet)
        print_end(&files, &last);
    peer_files_free(&files);
    if (status == SADDLE_OK)
        return CLI_OK;
    int code = cli_fail(&error);
    return *interrupt != 0 ? CLI_INTERRUPTED : code;
}

const cli_command cli_peer_run = {
    .name = "peer run",
    .operands = "PATH",
    .summary = "run one agent of a network of several owners",
    .details =
        "PATH is the agent's file, agent.yml. The process waits for its neighbours, sets up with "
        "them, and runs the agent. It ends when all iterations are done, or with a message that "
        "says why when a neighbour, or with a deadline every neighbour, ends or does not answer "
        "for `patience` seconds.",
    .values = "@FILE",
    .library = run_library,
    .own = run_own,
    .own_bytes = sizeof(run_options),
    .run = run_run,
};

/* ---- status ----------------------------------------------------------------------------------- */

static int run_status(const cli_arguments *arguments)
{
    saddle_error error;
    CLI_TRY(peer_monitor_print(arguments->operand[0], &error));
    return CLI_OK;
}

const cli_command cli_peer_status = {
    .name = "peer status",
    .operands = "PATH",
    .summary = "show the state of a running agent",
    .details = "PATH is the agent's file, agent.yml. The running `saddle peer run PATH` answers at "
               "PATH.socket, which only its owner can open, with its iteration, its own loss, its "
               "distance to its neighbours, and which neighbours are present or late.",
    .values = "@FILE",
    .run = run_status,
};

/* ---- check ------------------------------------------------------------------------------------ */

typedef struct check_options {
    double wait;
} check_options;

static const saddle_option *const check_own[] = {
    CLI_OPTION(REAL, check_options, wait, "wait", "Waiting", "10", 1, 1e6, "SECONDS",
               "Seconds in which neighbours may answer."),
    NULL};

/* Clocks that differ by more make logs of several owners hard to compare. */
#define CLOCKS_AGREE 5.0

/* Prints what was found out about a neighbour, and what to do. */
static void print_check(const peer_files *files, const saddle_check *check)
{
    const char *own = files->listen != NULL ? files->listen : files->member[files->self].endpoint;
    char name[32];
    char text[800];
    saddle_snprintf(name, sizeof name, "agent %zu", check->agent);
    if (check->answered)
        saddle_snprintf(text, sizeof text, "good: answers after %.2g s, clock %s by %.2g s%s",
                        check->delay, check->clock < 0.0 ? "behind" : "ahead", fabs(check->clock),
                        fabs(check->clock) > CLOCKS_AGREE
                            ? "; set one of the clocks, or times in logs will not fit together"
                            : "");
    else if (check->problem[0] != '\0')
        saddle_snprintf(text, sizeof text, "%s", check->problem);
    else if (check->heard)
        saddle_snprintf(text, sizeof text,
                        "it was heard, but did not answer; give more time by --wait");
    else if (check->dialled == NULL)
        saddle_snprintf(text, sizeof text,
                        "it has not connected. It dials this agent at %s: ask its owner to run "
                        "`saddle peer check` too, and see that firewalls let it through",
                        own);
    else if (check->link == SADDLE_LINK_TRYING)
        saddle_snprintf(text, sizeof text,
                        "nothing answers at %s. Ask its owner to run `saddle peer check` too, and "
                        "see that firewalls let this through",
                        check->dialled);
    else if (check->link == SADDLE_LINK_OPEN)
        saddle_snprintf(text, sizeof text,
                        "it is connected, but silent: another run of the agent may be at %s",
                        check->dialled);
    else if (check->link == SADDLE_LINK_REFUSED)
        saddle_snprintf(text, sizeof text,
                        "it refuses the key of this agent: compare agent-%zu in its network file "
                        "with yours",
                        files->self);
    else
        saddle_snprintf(text, sizeof text,
                        "what answers at %s does not have the key of the network file: compare "
                        "agent-%zu with what its owner's `saddle peer keygen` printed",
                        check->dialled, check->agent);
    cli_print_field(name, "%s", text);
}

static int run_check(const cli_arguments *arguments)
{
    const check_options *own = arguments->own;
    peer_files files;
    saddle_session *session = NULL;
    peer_monitor *monitor = NULL;
    const saddle_peer_options with = {
        .context = &monitor, .warning = warn, .interrupt = cli_catch_interrupts()};
    saddle_error error = {.message = ""};
    bool good = false;
    saddle_status status = open_agent(&files, arguments->operand[0], true, &with, &session, &error);
    if (status == SADDLE_OK) {
        size_t first = files.graph->start[files.self];
        size_t count = files.graph->start[files.self + 1] - first;
        SADDLE_OWNED saddle_check *list = saddle_alloc(count, sizeof *list);
        status = saddle_check_memory(list, "the check", &error);
        if (status == SADDLE_OK) {
            print_begin(&files, session);
            good = saddle_session_check_all(session, own->wait, list);
            status = saddle_session_check(session, &error);
        }
        for (size_t k = 0; status == SADDLE_OK && k < count; k++)
            print_check(&files, &list[k]);
    }
    saddle_session_close(session, SADDLE_OK);
    peer_files_free(&files);
    if (status != SADDLE_OK) {
        int code = cli_fail(&error);
        return *cli_catch_interrupts() != 0 ? CLI_INTERRUPTED : code;
    }
    return good ? CLI_OK : CLI_FAILED;
}

const cli_command cli_peer_check = {
    .name = "peer check",
    .operands = "PATH",
    .summary = "check the connections of an agent with its neighbours",
    .details =
        "PATH is the agent's file, agent.yml. Says of each neighbour whether it can be reached, "
        "has "
        "the key of the network file, the same version of saddle and the same network file, and "
        "how its clock differs; and if not, what to do. Neighbours answer while they run `saddle "
        "peer check` too, or wait in `saddle peer run`. Exit code 1 if a neighbour has not "
        "answered.",
    .values = "@FILE",
    .own = check_own,
    .own_bytes = sizeof(check_options),
    .run = run_check,
};
