/* `saddle peer demo`: agents of several owners, as processes of this machine that communicate over the loopback
 * interface. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "files/file.h"
#include "peer_demo.h"
#include "run/run.h"

enum { USUAL_AGENTS = 5, ROWS_PER_AGENT = 400 };

static const char first_line[] = "# Written by `saddle peer demo`, which replaces it.\n";

typedef struct options {
    const char *output;
} options;

static const saddle_option *const own[] = {
    CLI_OPTION(
        TEXT, options, output, "output", "Demo", "saddle-peer-demo", "DIR",
        "Directory for all files. It is created if missing, and replaced if a demo made it."),
    NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(network.agents));

const char *demo_path(const demo *d, const char *name, size_t agent, char out[TRACE_PATH])
{
    const char *place = strchr(name, '#');
    if (place == NULL)
        saddle_snprintf(out, TRACE_PATH, "%s/%s", d->directory, name);
    else
        saddle_snprintf(out, TRACE_PATH, "%s/%.*s%zu%s", d->directory, (int)(place - name), name,
                        agent, place + 1);
    return out;
}

/* ---- the files --------------------------------------------------------------------------------- */

/* Returns whether a directory is missing, empty, or of an earlier demo. */
static bool is_free(const demo *d)
{
    char path[TRACE_PATH];
    char line[sizeof first_line] = "";
    size_t entries = 0;
    DIR *directory = opendir(d->directory);
    if (directory == NULL)
        return true;
    while (entries < 3 && readdir(directory) != NULL)
        entries++;
    closedir(directory);
    FILE *f = fopen(demo_path(d, "network.yml", 0, path), "re");
    bool made = f != NULL && fgets(line, sizeof line, f) != NULL && strcmp(line, first_line) == 0;
    if (f != NULL)
        fclose(f);
    return made || entries < 3; /* "." and ".." */
}

/* Finds ports that are free now. */
static saddle_status find_ports(demo *d, saddle_error *error)
{
    int held[DEMO_MOST_AGENTS];
    bool good = true;
    for (size_t k = 0; k < d->agents; k++) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        held[k] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        good = good && held[k] >= 0 &&
               bind(held[k], (const struct sockaddr *)&address, sizeof address) == 0 &&
               getsockname(held[k], (struct sockaddr *)&address, &size) == 0;
        d->port[k] = ntohs(address.sin_port);
    }
    int reason = errno;
    for (size_t k = 0; k < d->agents; k++)
        if (held[k] >= 0)
            close(held[k]);
    return good ? SADDLE_OK
                : saddle_fail(error, SADDLE_IO, "there is no free port on 127.0.0.1: %s",
                              strerror(reason));
}

static void write_network(FILE *f, const void *context)
{
    const demo *d = context;
    fputs(first_line, f);
    for (size_t k = 0; k < d->agents; k++)
        saddle_fprintf(f, "agent-%zu: tcp://127.0.0.1:%u %s\n", k, d->port[k], d->key[k]);
    fputs("edges: [0-1", f);
    for (size_t k = 1; k < d->agents; k++)
        saddle_fprintf(f, ", %zu-%zu", k, (k + 1) % d->agents);
    saddle_fprintf(f,
                   "]\nproblem: auc\ndata: own\nalgorithm: precision-auto\niterations: %d\n"
                   "seed: 1\ncheckpoint-every: 50\n",
                   DEMO_ITERATIONS);
}

static void write_agent(FILE *f, const void *context)
{
    const demo *d = context;
    size_t k = d->self;
    saddle_fprintf(f,
                   "network: network.yml\nagent: %zu\nkey: agent-%zu.key\ndata: part-%zu.csv\n"
                   "model: agent-%zu.npz\ntrace: agent-%zu.csv\ncheckpoint: agent-%zu.saved\n"
                   "every: %d\nthreads: 1\npatience: %d\n",
                   k, k, k, k, k, k, DEMO_EVERY, DEMO_STALLED / 2);
}

/* Writes what the owners have: keys, the network file, and each agent's file. */
static saddle_status write_files(demo *d, saddle_error *error)
{
    static const char *const old[] = {"agent-#.csv", "agent-#.npz", "agent-#.saved/setup.saddle",
                                      "agent-#.saved/state.saddle"};
    char path[TRACE_PATH];
    bool made;
    for (size_t k = 0; k < d->agents; k++)
        SADDLE_TRY(
            saddle_peer_keygen(demo_path(d, "agent-#.key", k, path), d->key[k], &made, error));
    SADDLE_TRY(find_ports(d, error));
    SADDLE_TRY(saddle_output_save(demo_path(d, "network.yml", 0, path), write_network, d, error));
    for (size_t k = 0; k < d->agents; k++) {
        d->self = k;
        SADDLE_TRY(saddle_output_save(demo_path(d, "agent-#.yml", k, path), write_agent, d, error));
        for (size_t n = 0; n < sizeof old / sizeof *old; n++)
            unlink(demo_path(d, old[n], k, path));
    }
    return SADDLE_OK;
}

/* Prints a command of the program, and runs it. */
static int run_command(const cli_command *command, const char *const *words, int count)
{
    char *argv[32];
    saddle_error error;
    cli_print("saddle %s", command->name);
    for (int k = 0; k < count; k++) {
        argv[k] = (char *)(uintptr_t)words[k];
        cli_print(" %s", words[k]);
    }
    cli_print("\n");
    cli_flush();
    SADDLE_OWNED_BY(cli_release_arguments) cli_arguments arguments = {.command = command};
    CLI_TRY(cli_read_arguments(&arguments, command, count, argv, &error));
    return command->run(&arguments);
}

#define RUN(command, ...)                                    \
    run_command(command, (const char *const[]){__VA_ARGS__}, \
                (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* Makes rows, and gives each agent a part of them. */
static int write_rows(const demo *d)
{
    char all[TRACE_PATH];
    char part[TRACE_PATH];
    char rows[24];
    char agents[24];
    saddle_snprintf(rows, sizeof rows, "%zu", d->agents * ROWS_PER_AGENT);
    saddle_snprintf(agents, sizeof agents, "%zu", d->agents);
    demo_path(d, "rows.csv", 0, all);
    demo_path(d, "part-%d.csv", 0, part);
    int code = RUN(&cli_data_generate, all, "--rows", rows, "--features", "12");
    return code == CLI_OK ? RUN(&cli_data_split, all, "--train", part, "--parts", agents) : code;
}

/* ---- the comparison ---------------------------------------------------------------------------- */

static bool same_doubles(size_t count, const double *a, const double *b)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Fails unless the model of every agent has the bits of that agent in the model of one process. */
static saddle_status compare(const demo *d, const char *all, saddle_error *error)
{
    char path[TRACE_PATH];
    saddle_saved_model *whole = NULL;
    saddle_status status = saddle_saved_model_load(&whole, all, error);
    for (size_t k = 0; status == SADDLE_OK && k < d->agents; k++) {
        saddle_saved_model *part = NULL;
        status = saddle_saved_model_load(&part, demo_path(d, "agent-#.npz", k, path), error);
        if (status == SADDLE_OK &&
            !(part->agents == 1 && part->x_dim == whole->x_dim && part->y_dim == whole->y_dim &&
              part->iteration == whole->iteration && whole->agents == d->agents &&
              same_doubles(part->x_dim, part->x, whole->x + k * whole->x_dim) &&
              same_doubles(part->y_dim, part->y, whole->y + k * whole->y_dim)))
            status = saddle_fail(error, SADDLE_CHECK_FAILED,
                                 "the model '%s' is not that of agent %zu in '%s'", path, k, all);
        saddle_saved_model_free(part);
    }
    saddle_saved_model_free(whole);
    return status;
}

/* Solves the same problem in one process with all data, and compares. */
static int repeat(const demo *d)
{
    char agents[24];
    char iterations[24];
    char model[TRACE_PATH];
    char report[TRACE_PATH];
    char data[TRACE_PATH];
    saddle_error error;
    saddle_snprintf(agents, sizeof agents, "%zu", d->agents);
    saddle_snprintf(iterations, sizeof iterations, "%d", DEMO_ITERATIONS);
    demo_path(d, "part-%d.csv", 0, data);
    demo_path(d, "threads.npz", 0, model);
    demo_path(d, "report.html", 0, report);
    cli_print("\nThe same in one process, with all data:\n");
    int code =
        RUN(&cli_run, "--engine", "threads", "--agents", agents, "--topology", "ring", "--problem",
            "auc", "--data", data, "--algorithm", "precision-auto", "--iterations", iterations,
            "--seed", "1", "--model", model, "--report", report, "--quiet");
    if (code != CLI_OK)
        return code;
    CLI_TRY(compare(d, model, &error));
    cli_print("\n");
    cli_print_field("same bits", "the models of all %zu agents are those of one process%s",
                    d->agents, d->killed < d->agents ? ", although one was killed" : "");
    cli_print_field("report", "%s", report);
    cli_print("\nNext: open %s in a browser; docs/peers.md is about owners on several machines\n",
              report);
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    uint64_t agents = arguments->plan.network.agents;
    demo d = {.directory = chosen->output, .agents = agents > 0 ? (size_t)agents : USUAL_AGENTS};
    saddle_error error;
    if (d.agents < 3 || d.agents > DEMO_MOST_AGENTS)
        return cli_refuse("--agents: a demo has 3 to %d agents, not %" PRIu64, DEMO_MOST_AGENTS,
                          agents);
    if (strchr(d.directory, '%') != NULL || strlen(d.directory) > PATH_MAX / 2)
        return cli_refuse("--output: '%.80s' has a %% or is too long; give another directory",
                          d.directory);
    if (!is_free(&d))
        return cli_refuse("--output: '%s' has files that no demo made; give another directory",
                          d.directory);
    if (realpath("/proc/self/exe", d.program) == NULL)
        return cli_refuse("the path of this program is unknown: %s", strerror(errno));
    CLI_TRY(saddle_make_directory("--output", d.directory, &error));
    cli_print("%zu owners on this machine, each with a key, rows and a process of its own:\n",
              d.agents);
    CLI_TRY(write_files(&d, &error));
    int code = write_rows(&d);
    if (code != CLI_OK)
        return code;
    cli_print("saddle peer run %s/agent-N.yml, for N from 0 to %zu at the same time\n", d.directory,
              d.agents - 1);
    cli_flush();
    d.interrupt = cli_catch_interrupts();
    saddle_status status = demo_run_agents(&d, &error);
    if (status == SADDLE_OK)
        return repeat(&d);
    code = cli_fail(&error);
    return *d.interrupt != 0 ? CLI_INTERRUPTED : code;
}

const cli_command cli_peer_demo = {
    .name = "peer demo",
    .operands = "",
    .summary = "run several owners' agents as processes of this machine",
    .details = "Makes keys, a network file and rows for each agent in a directory, runs the agents "
               "as processes that communicate over 127.0.0.1, kills one, which comes back from "
               "its checkpoint, and checks that all models have the bits of one process with all "
               "data. This takes a few seconds. What an agent prints is in agent-N.log.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
