/* `saddle peer demo`: agents of several owners, as processes of this machine that communicate over the loopback
 * interface. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "core/clock.h"
#include "draw/trace_list.h"
#include "files/file.h"
#include "run/run.h"

enum {
    USUAL_AGENTS = 5,
    MOST_AGENTS = 20,
    ROWS_PER_AGENT = 400,
    ITERATIONS = 400,
    EVERY = ITERATIONS / 10
};
/* Milliseconds between two looks at the agents; seconds after which a demo in which nothing happens ends, and in which
 * agents may end by themselves. */
enum { LOOK = 50, STALLED = 60, LAST_WAIT = 5 };
/* Bytes of a line of a log. */
enum { WORDS = 1000 };

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

typedef struct demo {
    const char *directory;
    size_t agents;
    char program[PATH_MAX];
    char key[MOST_AGENTS][SADDLE_PEER_KEY_SIZE];
    unsigned port[MOST_AGENTS];
    pid_t process[MOST_AGENTS]; /* 0: it has ended */
    size_t failed;              /* the first agent that did; their number: none */
    size_t self;                /* the agent whose file is written */
    const volatile sig_atomic_t *interrupt;
    double moved; /* when something happened last */
    size_t shown; /* rows */
} demo;

/* Writes the path of a file of the demo, whose name may have the number of an agent. */
static const char *path_of(const demo *d, const char *name, size_t agent, char out[TRACE_PATH])
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
    FILE *f = fopen(path_of(d, "network.yml", 0, path), "re");
    bool made = f != NULL && fgets(line, sizeof line, f) != NULL && strcmp(line, first_line) == 0;
    if (f != NULL)
        fclose(f);
    return made || entries < 3; /* "." and ".." */
}

/* Finds ports that are free now. */
static saddle_status find_ports(demo *d, saddle_error *error)
{
    int held[MOST_AGENTS];
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
                   "seed: 1\n",
                   ITERATIONS);
}

static void write_agent(FILE *f, const void *context)
{
    const demo *d = context;
    size_t k = d->self;
    saddle_fprintf(f,
                   "network: network.yml\nagent: %zu\nkey: agent-%zu.key\ndata: part-%zu.csv\n"
                   "model: agent-%zu.npz\ntrace: agent-%zu.csv\nevery: %d\nthreads: 1\n"
                   "patience: %d\n",
                   k, k, k, k, k, EVERY, STALLED / 2);
}

/* Writes what the owners have: keys, the network file, and each agent's file. */
static saddle_status write_files(demo *d, saddle_error *error)
{
    char path[TRACE_PATH];
    bool made;
    for (size_t k = 0; k < d->agents; k++)
        SADDLE_TRY(saddle_peer_keygen(path_of(d, "agent-#.key", k, path), d->key[k], &made, error));
    SADDLE_TRY(find_ports(d, error));
    SADDLE_TRY(saddle_output_save(path_of(d, "network.yml", 0, path), write_network, d, error));
    for (size_t k = 0; k < d->agents; k++) {
        d->self = k;
        SADDLE_TRY(saddle_output_save(path_of(d, "agent-#.yml", k, path), write_agent, d, error));
        unlink(path_of(d, "agent-#.csv", k, path));
        unlink(path_of(d, "agent-#.npz", k, path));
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
    path_of(d, "rows.csv", 0, all);
    path_of(d, "part-%d.csv", 0, part);
    int code = RUN(&cli_data_generate, all, "--rows", rows, "--features", "12");
    return code == CLI_OK ? RUN(&cli_data_split, all, "--train", part, "--parts", agents) : code;
}

/* ---- the processes ----------------------------------------------------------------------------- */

/* Runs an agent in a new process: never returns. */
static void become(const demo *d, const char *agent, const char *log, pid_t parent)
{
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int in = open("/dev/null", O_RDONLY);
    /* It ends with the demo, however that ends. */
    bool good = out >= 0 && in >= 0 && dup2(in, STDIN_FILENO) >= 0 &&
                dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0 &&
                prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent;
    if (good)
        execl(d->program, "saddle", "peer", "run", agent, (char *)NULL);
    _exit(127);
}

/* Starts an agent. */
static saddle_status start(demo *d, size_t k, saddle_error *error)
{
    char agent[TRACE_PATH];
    char log[TRACE_PATH];
    pid_t parent = getpid();
    path_of(d, "agent-#.yml", k, agent);
    path_of(d, "agent-#.log", k, log);
    pid_t child = fork();
    if (child == 0)
        become(d, agent, log, parent);
    if (child < 0)
        return saddle_fail(error, SADDLE_IO, "cannot start a process: %s", strerror(errno));
    d->process[k] = child;
    return SADDLE_OK;
}

/* Notes which agents have ended; returns the number of those that run. */
static size_t look(demo *d)
{
    size_t running = 0;
    for (size_t k = 0; k < d->agents; k++) {
        int how = 0;
        if (d->process[k] != 0 && waitpid(d->process[k], &how, WNOHANG) == d->process[k]) {
            d->process[k] = 0;
            d->moved = saddle_clock_seconds();
            if (how != 0 && d->failed == d->agents)
                d->failed = k;
        }
        running += d->process[k] != 0;
    }
    return running;
}

static void kill_all(const demo *d, int number)
{
    for (size_t k = 0; k < d->agents; k++)
        if (d->process[k] != 0)
            kill(d->process[k], number);
}

/* Ends all agents that run. */
static void stop(demo *d)
{
    double end = saddle_clock_seconds() + LAST_WAIT;
    kill_all(d, SIGTERM);
    while (look(d) > 0) {
        if (saddle_clock_seconds() > end)
            kill_all(d, SIGKILL);
        poll(NULL, 0, LOOK);
    }
}

/* ---- progress ---------------------------------------------------------------------------------- */

/* Reads the numbers of a line of a trace. */
static bool read_numbers(char *line, double out[4])
{
    char *end = strchr(line, '\n');
    if (end == NULL)
        return false; /* it is being written */
    *end = '\0';
    for (size_t k = 0; k < 4; k++) {
        char *comma = strchr(line, ',');
        if (comma != NULL)
            *comma = '\0';
        if (!saddle_parse_real(line, &out[k]) || (comma == NULL) != (k == 3))
            return false;
        line = comma + (comma != NULL);
    }
    return true;
}

/* Reads a row of an agent's trace; false if it is not there yet. */
static bool read_row(const demo *d, size_t agent, size_t row, double out[4])
{
    char path[TRACE_PATH];
    char line[256];
    bool found = false;
    FILE *f = fopen(path_of(d, "agent-#.csv", agent, path), "re");
    if (f == NULL)
        return false;
    for (size_t seen = 0; !found && seen <= row && fgets(line, sizeof line, f) != NULL;)
        if (*line >= '0' && *line <= '9' && seen++ == row)
            found = read_numbers(line, out);
    fclose(f);
    return found;
}

/* Prints the next row once all agents have it. */
static bool show_row(demo *d)
{
    double row[4];
    double loss = 0.0;
    double distance = 0.0;
    double seconds = 0.0;
    for (size_t k = 0; k < d->agents; k++) {
        if (!read_row(d, k, d->shown, row))
            return false;
        seconds = fmax(seconds, row[1]);
        loss += row[2] / (double)d->agents;
        distance = fmax(distance, row[3]);
    }
    cli_progress_clear();
    if (d->shown++ == 0)
        cli_print("\n  iteration   seconds  mean own loss  largest distance of neighbours\n");
    cli_print("  %9.0f  %8.2f  %13.6f  %10.2e\n", row[0], seconds, loss, distance);
    cli_flush_or_stop();
    return true;
}

/* Writes the last message in an agent's log; "" if there is none. */
static void last_words(const demo *d, size_t agent, char out[WORDS])
{
    static const char begin[] = "saddle: ";
    char path[TRACE_PATH];
    char line[WORDS];
    *out = '\0';
    FILE *f = fopen(path_of(d, "agent-#.log", agent, path), "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, begin, sizeof begin - 1) == 0) {
            line[strcspn(line, "\n")] = '\0';
            saddle_snprintf(out, WORDS, "%s", line + sizeof begin - 1);
        }
    if (f != NULL)
        fclose(f);
}

/* Fails with what the agent says that failed first; one that ended because another did names that one. */
static saddle_status report_failure(const demo *d, saddle_error *error)
{
    char why[WORDS];
    size_t agent = d->failed;
    uint64_t other;
    last_words(d, agent, why);
    for (size_t hops = 0; hops < d->agents && strncmp(why, "agent ", 6) == 0; hops++) {
        if (!saddle_parse_integer_in(why + 6, strcspn(why + 6, " :"), &other) || other >= d->agents)
            break;
        agent = (size_t)other;
        last_words(d, agent, why);
    }
    return saddle_fail(error, SADDLE_IO, "agent %zu has failed: %s", agent,
                       *why != '\0' ? why : "it does not say why");
}

/* Waits until all agents have ended, and shows how they proceed. */
static saddle_status follow(demo *d, saddle_error *error)
{
    char path[TRACE_PATH];
    size_t running = d->agents;
    d->moved = saddle_clock_seconds();
    while (running > 0 && d->failed == d->agents && *d->interrupt == 0) {
        running = look(d);
        while (show_row(d))
            d->moved = saddle_clock_seconds();
        cli_progress("%zu of %zu agents run  %zu iterations done", running, d->agents,
                     d->shown > 0 ? (d->shown - 1) * EVERY : 0);
        if (saddle_clock_seconds() - d->moved > STALLED)
            return saddle_fail(error, SADDLE_IO, "nothing has happened for %d seconds; see '%s'",
                               STALLED, path_of(d, "agent-0.log", 0, path));
        if (running > 0)
            poll(NULL, 0, LOOK);
    }
    cli_progress_clear();
    if (*d->interrupt != 0)
        return saddle_fail(error, SADDLE_IO, "interrupted");
    return SADDLE_OK;
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
        status = saddle_saved_model_load(&part, path_of(d, "agent-#.npz", k, path), error);
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
    saddle_snprintf(iterations, sizeof iterations, "%d", ITERATIONS);
    path_of(d, "part-%d.csv", 0, data);
    path_of(d, "threads.npz", 0, model);
    path_of(d, "report.html", 0, report);
    cli_print("\nThe same in one process, with all data:\n");
    int code =
        RUN(&cli_run, "--engine", "threads", "--agents", agents, "--topology", "ring", "--problem",
            "auc", "--data", data, "--algorithm", "precision-auto", "--iterations", iterations,
            "--seed", "1", "--model", model, "--report", report, "--quiet");
    if (code != CLI_OK)
        return code;
    CLI_TRY(compare(d, model, &error));
    cli_print("\n");
    cli_print_field("same bits", "the models of all %zu agents are those of one process",
                    d->agents);
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
    d.failed = d.agents;
    if (d.agents < 3 || d.agents > MOST_AGENTS)
        return cli_refuse("--agents: a demo has 3 to %d agents, not %" PRIu64, MOST_AGENTS, agents);
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
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; k < d.agents; k++)
        SADDLE_THEN(status, start(&d, k, &error));
    SADDLE_THEN(status, follow(&d, &error));
    stop(&d);
    if (status == SADDLE_OK && d.failed < d.agents)
        status = report_failure(&d, &error);
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
               "as processes that communicate over 127.0.0.1, and checks that their models have "
               "the bits of one process with all data. This takes a few seconds. What an agent "
               "prints is in agent-N.log.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
