/* The processes of a demo of peers: starting them, following their traces, killing one, and ending all. */
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "peer_demo.h"

/* Milliseconds between two looks at the agents; seconds in which they may end by themselves; rows after which an agent
 * is killed. */
enum { LOOK = 20, LAST_WAIT = 5, KILL_AFTER = 3 };
/* Bytes of a line of a log. */
enum { WORDS = 1000 };

/* ---- the processes ----------------------------------------------------------------------------- */

/* Runs an agent in a new process: never returns. One that was killed comes back from its checkpoint. */
static void become(const demo *d, const char *agent, const char *log, bool again, pid_t parent)
{
    int out = open(log, O_WRONLY | O_CREAT | (again ? O_APPEND : O_TRUNC), 0666);
    int in = open("/dev/null", O_RDONLY);
    /* It ends with the demo, however that ends. */
    bool good = out >= 0 && in >= 0 && dup2(in, STDIN_FILENO) >= 0 &&
                dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0 &&
                prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent;
    if (good)
        execl(d->program, "saddle", "peer", "run", agent, again ? "--resume" : (char *)NULL, "auto",
              (char *)NULL);
    _exit(127);
}

/* Starts an agent. */
static saddle_status start(demo *d, size_t k, saddle_error *error)
{
    char agent[TRACE_PATH];
    char log[TRACE_PATH];
    pid_t parent = getpid();
    demo_path(d, "agent-#.yml", k, agent);
    demo_path(d, "agent-#.log", k, log);
    pid_t child = fork();
    if (child == 0)
        become(d, agent, log, k == d->killed, parent);
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

/* Kills an agent, as a power failure would, and starts it again. */
static saddle_status kill_one(demo *d, saddle_error *error)
{
    size_t k = d->agents / 2;
    if (d->process[k] == 0)
        return SADDLE_OK;
    kill(d->process[k], SIGKILL);
    while (waitpid(d->process[k], NULL, 0) < 0 && errno == EINTR)
        ;
    d->process[k] = 0;
    d->killed = k;
    cli_progress_clear();
    cli_print("             agent %zu is killed, and started again with --resume auto\n", k);
    return start(d, k, error);
}

/* ---- progress ---------------------------------------------------------------------------------- */

/* Reads the numbers of a line of a trace. */
static bool read_numbers(char *line, double out[4])
{
    char *end = strchr(line, '\n');
    if (end == NULL)
        return false; /* it is being written */
    *end = '\0';
    size_t count = 0;
    while (line != NULL && count < 4) {
        char *comma = strchr(line, ',');
        if (comma != NULL)
            *comma = '\0';
        if (!saddle_parse_real(line, &out[count++]))
            return false;
        line = comma != NULL ? comma + 1 : NULL;
    }
    return line == NULL && count == 4;
}

/* Reads a row of an agent's trace; false if it is not there yet. */
static bool read_row(const demo *d, size_t agent, size_t row, double out[4])
{
    char path[TRACE_PATH];
    char line[256];
    bool found = false;
    FILE *f = fopen(demo_path(d, "agent-#.csv", agent, path), "re");
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
    double row[4] = {0.0};
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
    FILE *f = fopen(demo_path(d, "agent-#.log", agent, path), "re");
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
        if (d->shown > KILL_AFTER && d->killed == d->agents)
            SADDLE_TRY(kill_one(d, error));
        cli_progress("%zu of %zu agents run  %zu iterations done", running, d->agents,
                     d->shown > 0 ? (d->shown - 1) * DEMO_EVERY : 0);
        if (saddle_clock_seconds() - d->moved > DEMO_STALLED)
            return saddle_fail(error, SADDLE_IO, "nothing has happened for %d seconds; see '%s'",
                               DEMO_STALLED, demo_path(d, "agent-0.log", 0, path));
        if (running > 0)
            poll(NULL, 0, LOOK);
    }
    cli_progress_clear();
    if (*d->interrupt != 0)
        return saddle_fail(error, SADDLE_IO, "interrupted");
    return SADDLE_OK;
}

saddle_status demo_run_agents(demo *d, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    d->failed = d->killed = d->agents;
    for (size_t k = 0; k < d->agents; k++)
        SADDLE_THEN(status, start(d, k, error));
    SADDLE_THEN(status, follow(d, error));
    stop(d);
    return status == SADDLE_OK && d->failed < d->agents ? report_failure(d, error) : status;
}
