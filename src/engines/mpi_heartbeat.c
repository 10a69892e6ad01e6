/*
 * A thread of every process sends a beat to the next rank four times a second, whatever the process is
 * doing, and listens for beats from the previous rank. A process that sends none is stopped, or its host
 * is unreachable. After half of stall-seconds without a beat, the listener asks all ranks to answer; after
 * all of it, it names the ranks that did not and aborts the job.
 *
 * Ranks form a ring, so the cost does not grow with their number. If some processes are stopped, the
 * running process that follows them in the ring notices it.
 *
 * Silence is measured in time during which the listener itself runs: if the whole job is suspended and
 * continued later, no process counts as silent. On a busy machine the thread of the previous rank may wait
 * long for a processor. If that rank is on the same host, the listener sees this, and waits as well.
 */
#include "engines/mpi_job.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"

/* Seconds between two beats. */
#define BEAT_SECONDS 0.25
/* Seconds between two checks while the ring dissolves. */
#define LEAVING_SECONDS 0.001
/* The most silence that one check can add: if more time has passed, this process itself did not run. */
#define LONGEST_LOOK (2.0 * BEAT_SECONDS)
/* The name of the thread in every process, of at most 15 characters. */
#define THREAD_NAME "saddle-beat"
/* Checks in a row that must find the previous rank silent, and not waiting for a processor. */
#define SILENT_LOOKS 2
/* The limit until saddle_heartbeat_watch() sets one. */
#define DEFAULT_STALL_SECONDS 60.0
/* The most silent ranks that are listed by name. */
#define NAMED 8

enum { TAG_BEAT = 1, TAG_ASK, TAG_ANSWER, TAG_LEAVE };

/* What the thread is to do. */
typedef enum goal { BEAT, LEAVE, STOP } goal;

/* A process has one MPI and one heartbeat. */
static struct {
    bool begun;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the next four */
    pthread_cond_t wake;
    goal goal;
    double limit;
    char checkpoint[PATH_MAX]; /* "": none */

    /* Only the thread uses these. */
    saddle_group *group;
    int rank;
    int ranks;
    bool *answered; /* per rank, since `asked` */
    bool asked;
    bool heard;       /* the previous rank has sent a beat since the last check */
    bool left;        /* it has left the ring */
    double silence;   /* seconds since its last beat */
    int silent_looks; /* checks since it was last heard, or seen waiting for a processor */
    int64_t process;  /* its number in /proc; 0: it is not visible from here */
    bool leaving;     /* this process has left */
} heart = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static int previous_rank(void)
{
    return (heart.rank + heart.ranks - 1) % heart.ranks;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void send_tag(int to, int tag)
{
    saddle_mpi->signal(heart.group, to, tag);
}

static void take_messages(void)
{
    for (int vain = 0; vain < saddle_mpi->polls; vain++) {
        int from;
        int tag;
        if (!saddle_mpi->poll(heart.group, &from, &tag))
            continue;
        vain = -1;
        if (tag == TAG_ASK)
            send_tag(from, TAG_ANSWER);
        else if (tag == TAG_ANSWER)
            heart.answered[from] = true;
        else
            heart.heard = true;
        if (tag == TAG_LEAVE)
            heart.left = true;
    }
}

/* ---- silent ranks ---------------------------------------------------------------------------- */

static void ask_all(void)
{
    heart.asked = true;
    for (int r = 0; r < heart.ranks; r++) {
        heart.answered[r] = r == heart.rank;
        if (r != heart.rank)
            send_tag(r, TAG_ASK);
    }
}

/* Names the ranks that have not answered, including the previous one, and aborts the job. */
static void abort_job(double limit)
{
    char text[2 * PATH_MAX] = "saddle: ";
    char shown[4 * sizeof text]; /* a byte becomes four at most, as in \x1b */
    char seconds[SADDLE_REAL_SIZE];
    size_t silent = 0;
    for (int r = 0; r < heart.ranks; r++) {
        if (heart.answered[r] && r != previous_rank())
            continue;
        if (silent++ < NAMED)
            saddle_append(text, sizeof text, "%srank %d on %s", silent > 1 ? ", " : "", r,
                          saddle_mpi_host((size_t)r));
    }
    if (silent > NAMED)
        saddle_append(text, sizeof text, " and %zu more", silent - NAMED);
    saddle_print_real(limit, 6, seconds);
    saddle_append(text, sizeof text,
                  " %s not responded for %s s (--stall-seconds): stopped, or cut off from rank %d "
                  "on %s. The job ends; ",
                  silent > 1 ? "have" : "has", seconds, heart.rank,
                  saddle_mpi_host((size_t)heart.rank));
    pthread_mutex_lock(&heart.mutex);
    if (*heart.checkpoint != '\0')
        saddle_append(text, sizeof text, "it can resume from its last checkpoint, '%s'",
                      heart.checkpoint);
    else
        saddle_append(text, sizeof text,
                      "it has written no checkpoint, so run the same command again");
    pthread_mutex_unlock(&heart.mutex);
    size_t length = saddle_show_text(shown, sizeof shown - 1, text);
    memcpy(shown + length, "\n", 2);
    /* Do not use stdio: another thread may hold its lock. */
    ssize_t written = write(STDERR_FILENO, shown, length + 1);
    (void)written;
    saddle_mpi->abort(SADDLE_EXIT_STALLED);
}

/* Reads the beginning of a file of /proc as a text; "" if that fails. */
static void read_start(const char *directory, const char *thread, const char *file, char out[256])
{
    char path[512];
    saddle_snprintf(path, sizeof path, "%s/%s/%s", directory, thread, file);
    FILE *f = fopen(path, "re");
    size_t length = f != NULL ? fread(out, 1, 255, f) : 0;
    out[length] = '\0';
    if (f != NULL)
        fclose(f);
}

/* Returns whether the previous rank's thread runs or waits for a processor; false if it is not visible. */
static bool previous_is_runnable(void)
{
    char tasks[64];
    char text[256];
    bool runnable = false;
    saddle_snprintf(tasks, sizeof tasks, "/proc/%lld/task", (long long)heart.process);
    DIR *directory = heart.process > 0 ? opendir(tasks) : NULL;
    for (struct dirent *task; directory != NULL && (task = readdir(directory)) != NULL;) {
        read_start(tasks, task->d_name, "comm", text);
        if (strcmp(text, THREAD_NAME "\n") != 0)
            continue;
        /* The state follows the name in parentheses. */
        read_start(tasks, task->d_name, "stat", text);
        const char *name_end = strrchr(text, ')');
        runnable = name_end != NULL && strncmp(name_end, ") R", 3) == 0;
    }
    if (directory != NULL)
        closedir(directory);
    return runnable;
}

/* Judges the previous rank, `seconds` after the last check. */
static void judge(double seconds, double limit)
{
    heart.silence = heart.heard ? 0.0 : heart.silence + seconds;
    if (heart.left || heart.silence < limit / 2.0) {
        heart.asked = false;
        heart.silent_looks = 0;
    } else if (previous_is_runnable()) {
        heart.silent_looks = 0;
    } else if (!heart.asked) {
        ask_all();
        heart.silence = limit / 2.0;
    } else if (++heart.silent_looks >= SILENT_LOOKS && heart.silence >= limit) {
        abort_job(limit);
    }
    heart.heard = false;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Sleeps until the next check, or until the goal changes; returns the goal. */
static goal wait_for_look(double *limit)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double seconds = heart.leaving ? LEAVING_SECONDS : BEAT_SECONDS;
    long nanoseconds = until.tv_nsec + (long)(1e9 * seconds);
    until.tv_sec += nanoseconds / 1000000000L;
    until.tv_nsec = nanoseconds % 1000000000L;
    pthread_mutex_lock(&heart.mutex);
    goal before = heart.leaving ? LEAVE : BEAT;
    while (heart.goal == before &&
           pthread_cond_clockwait(&heart.wake, &heart.mutex, CLOCK_MONOTONIC, &until) == 0) {
    }
    goal now = heart.goal;
    *limit = heart.limit;
    pthread_mutex_unlock(&heart.mutex);
    return now;
}

/* Leaves the ring. The ring lasts until all processes have left, so that all questions are answered. */
static void leave_ring(void)
{
    heart.leaving = true;
    send_tag((heart.rank + 1) % heart.ranks, TAG_LEAVE);
}

static void *beat(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), THREAD_NAME);
    double last = saddle_clock_seconds();
    for (;;) {
        double limit;
        goal now = wait_for_look(&limit);
        if (now == STOP)
            return NULL;
        if (now == LEAVE && !heart.leaving)
            leave_ring();
        if (!heart.leaving)
            send_tag((heart.rank + 1) % heart.ranks, TAG_BEAT);
        double moment = saddle_clock_seconds();
        take_messages();
        judge(fmin(moment - last, LONGEST_LOOK), limit);
        last = moment;
        if (heart.leaving && heart.left && saddle_mpi->arrived(heart.group))
            return NULL;
    }
}

static void end_with(goal last)
{
    if (!heart.begun)
        return;
    pthread_mutex_lock(&heart.mutex);
    heart.goal = last;
    pthread_cond_signal(&heart.wake);
    pthread_mutex_unlock(&heart.mutex);
    pthread_join(heart.thread, NULL);
    saddle_free(heart.answered);
    heart.begun = false;
}

static void leave(void)
{
    end_with(LEAVE);
}

/* ---- from the other threads ------------------------------------------------------------------ */

/* Blocks all signals in the thread: they are for the program's own threads. */
static saddle_status start_thread(saddle_error *error)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int reason = pthread_create(&heart.thread, NULL, beat, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    heart.begun = reason == 0;
    if (reason == 0)
        return SADDLE_OK;
    saddle_free(heart.answered);
    return saddle_fail(error, SADDLE_NO_MEMORY, "cannot start the heartbeat's thread: %s",
                       strerror(reason));
}

/* Finds the number of the previous rank's process, if both are on one host and number processes alike. `table` has two
 * elements per rank. Collective. */
static void find_previous(int64_t *table)
{
    struct stat space;
    bool known = stat("/proc/self/ns/pid", &space) == 0;
    const int64_t own[2] = {known ? getpid() : 0, known ? (int64_t)space.st_ino : 0};
    saddle_mpi->gather(heart.group, sizeof own, own, table);
    const int64_t *there = table + 2 * (size_t)previous_rank();
    bool alike = own[1] == there[1] && strcmp(saddle_mpi_host((size_t)heart.rank),
                                              saddle_mpi_host((size_t)previous_rank())) == 0;
    heart.process = alike ? there[0] : 0;
}

saddle_status saddle_heartbeat_begin(const saddle_world *world, saddle_error *error)
{
    if (heart.begun || world->ranks == 1 || !saddle_mpi_all_multiple(world->ranks))
        return SADDLE_OK;
    heart.answered = saddle_alloc(world->ranks, sizeof *heart.answered);
    int64_t *table = saddle_alloc(world->ranks, 2 * sizeof *table);
    saddle_status status = heart.answered != NULL && table != NULL
                               ? SADDLE_OK
                               : saddle_no_memory(error, "the heartbeat");
    status = saddle_world_agree(world, status, error);
    if (status != SADDLE_OK || table == NULL) {
        saddle_free(heart.answered);
        saddle_free(table);
        return status;
    }
    heart.group = saddle_mpi->group();
    heart.rank = (int)world->rank;
    heart.ranks = (int)world->ranks;
    heart.limit = DEFAULT_STALL_SECONDS;
    find_previous(table);
    saddle_free(table);
    status = start_thread(error);
    if (heart.begun)
        saddle_mpi->before_end(leave);
    /* A process without a heartbeat would seem silent to the others. */
    status = saddle_world_agree(world, status, error);
    if (status != SADDLE_OK)
        saddle_heartbeat_stop();
    return status;
}

void saddle_heartbeat_stop(void)
{
    end_with(STOP);
}

bool saddle_heartbeat_watch(const saddle_world *world, double stall_seconds, const char *checkpoint)
{
    if (!heart.begun)
        return world->ranks == 1;
    pthread_mutex_lock(&heart.mutex);
    heart.limit = stall_seconds;
    saddle_snprintf(heart.checkpoint, sizeof heart.checkpoint, "%s",
                    checkpoint != NULL ? checkpoint : "");
    pthread_mutex_unlock(&heart.mutex);
    return true;
}
