/* `saddle peer`: one process for each agent, at its owner's. */
#include <sodium/utils.h>
#include <unistd.h>

#include "cli.h"
#include "core/clock.h"
#include "files/file.h"
#include "key_file.h"
#include "peer_files.h"
#include "run/run.h"

/* ---- keygen ----------------------------------------------------------------------------------- */

static int run_keygen(const cli_arguments *arguments)
{
    const char *path = arguments->operand[0];
    char key[2 * SADDLE_KEY_BYTES + 1];
    bool made;
    saddle_error error;
    CLI_TRY(saddle_key_make(path, key, &made, &error));
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
          "seed: 1\n",
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
              "  data: rows.csv           # this owner's rows\n  model: model.npz\n\n"
              "and runs `saddle peer run agent.yml`.\n",
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

/* What is shown of a run. */
typedef struct display {
    uint64_t iterations;
    saddle_own_row last;
} display;

static void show_row(void *context, const saddle_own_row *row)
{
    display *d = context;
    char time[CLI_NUMBER];
    d->last = *row;
    cli_progress("iteration %llu of %llu  loss %.6g  distance to neighbours %.3g  %s",
                 (unsigned long long)row->iteration, (unsigned long long)d->iterations, row->loss,
                 row->distance, cli_duration(row->seconds, time));
}

static void warn(void *context, const char *message)
{
    (void)context;
    cli_progress_clear();
    cli_warn("%s", message);
}

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

static void print_end(const peer_files *files, const display *d)
{
    char time[CLI_NUMBER];
    cli_print_field("end", "%llu iterations in %s: own loss %.10g, distance to neighbours %.3g",
                    (unsigned long long)d->last.iteration, cli_duration(d->last.seconds, time),
                    d->last.loss, d->last.distance);
    if (files->model != NULL)
        cli_print_field("model", "%s", files->model);
    if (files->trace != NULL)
        cli_print_field("trace", "%s", files->trace);
}

/* Does everything with an open session. */
static saddle_status solve(const peer_files *files, saddle_session *session, display *d,
                           saddle_error *error)
{
    saddle_peer_engine engine = saddle_peer_engine_of(session);
    saddle_instance *instance = NULL;
    const saddle_own_outputs outputs = {
        .model = files->model, .trace = files->trace, .row = show_row, .context = d};
    SADDLE_TRY(saddle_session_meet(session, error));
    saddle_status status = saddle_instance_create_on(&instance, &engine.kind, &files->plan, error);
    SADDLE_THEN(status, saddle_run_own(instance, &files->plan, &outputs, warn, NULL, error));
    saddle_instance_free(instance);
    if (status == SADDLE_OK)
        saddle_session_finish(session);
    return status;
}

static saddle_status check_outputs(const peer_files *files, saddle_error *error)
{
    SADDLE_TRY(cli_check_output("model", files->model, false, error));
    return cli_check_output("trace", files->trace, true, error);
}

static int run_files(peer_files *files, bool quiet)
{
    const volatile sig_atomic_t *interrupt = cli_catch_interrupts();
    saddle_session *session = NULL;
    saddle_error error = {.message = ""};
    saddle_session_options options = {.member = files->member,
                                      .graph = files->graph,
                                      .self = files->self,
                                      .listen = files->listen,
                                      .patience = files->patience,
                                      .interrupt = interrupt,
                                      .warning = warn};
    display d = {.iterations = files->plan.limits.iterations};
    memcpy(options.secret_key, files->secret_key, sizeof options.secret_key);
    memcpy(options.fingerprint, files->fingerprint, sizeof options.fingerprint);
    saddle_status status = check_outputs(files, &error);
    SADDLE_THEN(status, saddle_session_open(&session, &options, &error));
    sodium_memzero(options.secret_key, sizeof options.secret_key);
    sodium_memzero(files->secret_key, sizeof files->secret_key);
    if (status == SADDLE_OK && !quiet)
        print_begin(files, session);
    SADDLE_THEN(status, solve(files, session, &d, &error));
    saddle_session_close(session, status == SADDLE_OK ? NULL : error.message);
    cli_progress_clear();
    if (status != SADDLE_OK) {
        int code = cli_fail(&error);
        return *interrupt != 0 ? CLI_INTERRUPTED : code;
    }
    if (!quiet)
        print_end(files, &d);
    return CLI_OK;
}

static int run_run(const cli_arguments *arguments)
{
    const run_options *own = arguments->own;
    peer_files files;
    saddle_error error;
    saddle_status status = peer_files_read(&files, arguments->operand[0], &error);
    int code = status == SADDLE_OK ? run_files(&files, own->common.quiet) : cli_fail(&error);
    peer_files_free(&files);
    return code;
}

const cli_command cli_peer_run = {
    .name = "peer run",
    .operands = "PATH",
    .summary = "run one agent of a network of several owners",
    .details =
        "PATH is the agent's file, agent.yml. The process waits for its neighbours, sets up with "
        "them, and runs the agent. It ends when all iterations are done, or with a message that "
        "says why when a neighbour ends or does not answer for `patience` seconds.",
    .values = "@FILE",
    .own = run_own,
    .own_bytes = sizeof(run_options),
    .run = run_run,
};
