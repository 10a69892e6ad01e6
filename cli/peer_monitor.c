#include "peer_monitor.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Seconds of silence after which a neighbour counts as late, and is shown. */
#define LATE 2.0
/* Milliseconds between two looks at the neighbours; bytes of a state; neighbours that it lists. */
enum { LOOK = 1000, STATE = 8192, LISTED = 100 };

struct peer_monitor {
    const saddle_session *session;
    uint64_t iterations;
    struct sockaddr_un address;
    int listener; /* -1: none */
    int stop[2];  /* a pipe that is closed at the end */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of stderr */
    bool begun;           /* whether there is a row */
    saddle_own_row last;
};

/* ---- the state as text ------------------------------------------------------------------------- */

/* Writes how a neighbour is; returns whether it is late. */
static bool describe(const saddle_neighbour_view *of, char *out, size_t size)
{
    bool late = !of->done && of->silence > LATE;
    if (of->done)
        saddle_snprintf(out, size, "has finished");
    else if (!of->met)
        saddle_snprintf(out, size, "has not been met yet");
    else if (of->silent)
        saddle_snprintf(out, size, "gone: silent for %.0f seconds", of->silence);
    else if (late)
        saddle_snprintf(out, size, "late: silent for %.0f seconds", of->silence);
    else
        saddle_snprintf(out, size, "present");
    return late && !of->silent;
}

static size_t neighbours_of(const saddle_session *session)
{
    const saddle_graph *graph = saddle_session_graph(session);
    size_t self = saddle_session_self(session);
    return graph->start[self + 1] - graph->start[self];
}

/* Writes a line "NAME\tTEXT" for each field. Called with the lock. */
static void write_state(const peer_monitor *m, char out[STATE])
{
    char how[64];
    char time[CLI_NUMBER];
    size_t count = neighbours_of(m->session);
    saddle_snprintf(out, STATE, "agent\t%zu of %zu\n", saddle_session_self(m->session),
                    saddle_session_graph(m->session)->agents);
    if (m->begun)
        saddle_append(
            out, STATE,
            "run\titeration %llu of %llu after %s: own loss %.10g, distance to neighbours "
            "%.3g\n",
            (unsigned long long)m->last.iteration, (unsigned long long)m->iterations,
            cli_duration(m->last.seconds, time), m->last.loss, m->last.distance);
    else
        saddle_append(out, STATE, "run\tnot yet: setting up with all agents\n");
    saddle_append(out, STATE, "rounds\t%llu\n",
                  (unsigned long long)saddle_session_rounds(m->session));
    for (size_t k = 0; k < count && k < LISTED; k++) {
        saddle_neighbour_view of = saddle_session_neighbour(m->session, k);
        describe(&of, how, sizeof how);
        saddle_append(out, STATE, "agent %zu\t%s\n", of.agent, how);
    }
    saddle_refused_peer refused = saddle_session_refused(m->session);
    if (refused.count > 0)
        saddle_append(out, STATE, "refused\t%llu connections, the last from %s\n",
                      (unsigned long long)refused.count, refused.address);
}

/* Shows on the progress line for whom the run waits. Called with the lock. */
static void show_late(const peer_monitor *m)
{
    char how[64];
    for (size_t k = 0; k < neighbours_of(m->session); k++) {
        saddle_neighbour_view of = saddle_session_neighbour(m->session, k);
        if (!describe(&of, how, sizeof how))
            continue;
        cli_progress("round %llu  waiting for agent %zu, %s",
                     (unsigned long long)saddle_session_rounds(m->session), of.agent, how);
        return;
    }
}

/* ---- the thread -------------------------------------------------------------------------------- */

static void *watch(void *argument)
{
    peer_monitor *m = argument;
    char state[STATE];
    struct pollfd wait[2] = {{.fd = m->stop[0], .events = POLLIN},
                             {.fd = m->listener, .events = POLLIN}};
    while (poll(wait, 2, LOOK) >= 0 || errno == EINTR) {
        if (wait[0].revents != 0)
            break;
        int client = (wait[1].revents & POLLIN) != 0 ? accept(m->listener, NULL, NULL) : -1;
        pthread_mutex_lock(&m->lock);
        if (client >= 0)
            write_state(m, state);
        else
            show_late(m);
        pthread_mutex_unlock(&m->lock);
        /* A state fits into the socket's buffer: this does not wait for a reader. */
        if (client >= 0 && send(client, state, strlen(state), MSG_DONTWAIT) < 0)
            errno = 0;
        if (client >= 0)
            close(client);
    }
    return NULL;
}

void peer_monitor_row(void *context, const saddle_own_row *row)
{
    peer_monitor *m = context;
    char time[CLI_NUMBER];
    pthread_mutex_lock(&m->lock);
    m->begun = true;
    m->last = *row;
    cli_progress("iteration %llu of %llu  loss %.6g  distance to neighbours %.3g  %s",
                 (unsigned long long)row->iteration, (unsigned long long)m->iterations, row->loss,
                 row->distance, cli_duration(row->seconds, time));
    pthread_mutex_unlock(&m->lock);
}

void peer_monitor_warn(void *context, const char *message)
{
    peer_monitor *m = context;
    pthread_mutex_lock(&m->lock);
    cli_progress_clear();
    cli_warn("%s", message);
    pthread_mutex_unlock(&m->lock);
}

saddle_own_row peer_monitor_last(const peer_monitor *m)
{
    return m->last;
}

/* ---- the socket -------------------------------------------------------------------------------- */

/* Fails if the path is too long for the address of a socket. */
static saddle_status address_of(const char *agent_file, struct sockaddr_un *out,
                                saddle_error *error)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t length = strlen(agent_file) + sizeof ".socket";
    if (length > sizeof out->sun_path)
        return saddle_refuse(
            error, "'%s.socket' is too long for a socket, by %zu bytes; give a shorter path",
            SADDLE_EXCERPT(agent_file), length - sizeof out->sun_path);
    saddle_snprintf(out->sun_path, sizeof out->sun_path, "%s.socket", agent_file);
    return SADDLE_OK;
}

/* Returns a connection with the process that listens there; -1 if there is none. */
static int dial(const struct sockaddr_un *address)
{
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connection >= 0 &&
        connect(connection, (const struct sockaddr *)address, sizeof *address) != 0) {
        close(connection);
        connection = -1;
    }
    return connection;
}

/* Listens; a socket that a process has left behind is replaced, and nothing else. */
static saddle_status listen_at(peer_monitor *m, saddle_error *error)
{
    const char *path = m->address.sun_path;
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISSOCK(info.st_mode))
        unlink(path);
    mode_t before = umask(S_IRWXG | S_IRWXO);
    m->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bool good = m->listener >= 0 &&
                bind(m->listener, (struct sockaddr *)&m->address, sizeof m->address) == 0 &&
                listen(m->listener, 4) == 0 && fcntl(m->listener, F_SETFL, O_NONBLOCK) == 0;
    umask(before);
    if (good)
        return SADDLE_OK;
    saddle_refuse(error, "cannot listen at '%s': %s", path, strerror(errno));
    if (m->listener >= 0)
        close(m->listener);
    m->listener = -1;
    return error->status;
}

saddle_status peer_monitor_start(peer_monitor **out, const char *agent_file,
                                 const saddle_session *session, uint64_t iterations,
                                 saddle_error *error)
{
    saddle_error why;
    *out = NULL;
    peer_monitor *m = saddle_alloc(1, sizeof *m);
    SADDLE_TRY(saddle_check_memory(m, "the state of the run", error));
    m->session = session;
    m->iterations = iterations;
    m->listener = -1;
    saddle_status status = address_of(agent_file, &m->address, &why);
    SADDLE_THEN(status, listen_at(m, &why));
    if (status != SADDLE_OK)
        cli_warn("%s; `saddle peer status` cannot read the state of this run", why.message);
    pthread_mutex_init(&m->lock, NULL);
    if (pipe(m->stop) != 0 || pthread_create(&m->thread, NULL, watch, m) != 0) {
        saddle_free(m);
        return saddle_fail(error, SADDLE_IO, "cannot start a thread: %s", strerror(errno));
    }
    *out = m;
    return SADDLE_OK;
}

void peer_monitor_stop(peer_monitor *m)
{
    if (m == NULL)
        return;
    close(m->stop[1]);
    pthread_join(m->thread, NULL);
    close(m->stop[0]);
    if (m->listener >= 0) {
        close(m->listener);
        unlink(m->address.sun_path);
    }
    pthread_mutex_destroy(&m->lock);
    saddle_free(m);
}

bool peer_monitor_runs(const char *agent_file)
{
    struct sockaddr_un address;
    saddle_error error;
    int connection = address_of(agent_file, &address, &error) == SADDLE_OK ? dial(&address) : -1;
    if (connection >= 0)
        close(connection);
    return connection >= 0;
}

saddle_status peer_monitor_print(const char *agent_file, saddle_error *error)
{
    struct sockaddr_un address;
    char state[STATE];
    size_t size = 0;
    ssize_t got;
    SADDLE_TRY(address_of(agent_file, &address, error));
    int connection = dial(&address);
    if (connection < 0)
        return saddle_fail(error, SADDLE_IO,
                           "no agent runs with '%s', or it is not yours; `saddle peer run` starts "
                           "it",
                           agent_file);
    while (size < sizeof state - 1 &&
           (got = read(connection, state + size, sizeof state - 1 - size)) > 0)
        size += (size_t)got;
    close(connection);
    state[size] = '\0';
    for (char *line = state, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        char *tab = strchr(line, '\t');
        if (tab == NULL)
            continue;
        *tab = '\0';
        cli_print_field(line, "%s", tab + 1);
    }
    return SADDLE_OK;
}
