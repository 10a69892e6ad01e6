#include "engines/crew.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "core/memory.h"
#include "core/status.h"

/* Turns of the spin loop before a waiting worker goes to sleep: some tens of microseconds. Who is woken is
 * put on a free processor; who goes on waiting stays where it is. */
#define SPINS 2000

/* Turns after which it lets another thread run: that may be the one it waits for, when the system has put
 * both on one processor. */
#define SPINS_TO_YIELD 64

typedef struct worker {
    saddle_crew *crew;
    unsigned number;
    pthread_t thread;
} worker;

struct saddle_crew {
    unsigned size;
    unsigned started; /* threads that exist */
    worker *workers;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t done;
    unsigned long generation; /* counts jobs; guarded by mutex */
    unsigned running;         /* workers still in the job; guarded by mutex */
    bool leave;               /* guarded by mutex */
    saddle_crew_job *job;
    void *context;
    unsigned
        spins; /* 0 when there are more workers than processors: spinning would only delay them */
    _Alignas(SADDLE_ALIGNMENT) atomic_uint arrived;
    _Alignas(SADDLE_ALIGNMENT) atomic_uint phase; /* also the word that late workers sleep on */
    _Alignas(SADDLE_ALIGNMENT) atomic_uint sleepers;
};

/* Denormal numbers cost ten times as much; iterates that decay to zero are full of them. */
static unsigned flush_denormals(void)
{
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u); /* flush to zero, denormals are zero */
    return before;
#else
    return 0;
#endif
}

static void restore_denormals(unsigned before)
{
#if defined(__SSE2__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

static void relax(void)
{
#if defined(__SSE2__)
    _mm_pause();
#endif
}

/* Sleep until the phase is no longer `phase`. */
static void sleep_through(saddle_crew *crew, unsigned phase)
{
    atomic_fetch_add(&crew->sleepers, 1);
    while (atomic_load(&crew->phase) == phase)
        syscall(SYS_futex, &crew->phase, FUTEX_WAIT_PRIVATE, phase, NULL, NULL, 0);
    atomic_fetch_sub(&crew->sleepers, 1);
}

void saddle_crew_meet(saddle_crew *crew)
{
    if (crew->size == 1)
        return;
    unsigned phase = atomic_load_explicit(&crew->phase, memory_order_relaxed);
    unsigned arrived = atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel) + 1;
    if (arrived == crew->size) {
        atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed);
        /* Either this sees a sleeper, or the sleeper sees the new phase: both are sequentially
         * consistent, and the kernel compares the phase before it lets a worker sleep. */
        atomic_store(&crew->phase, phase + 1);
        if (atomic_load(&crew->sleepers) > 0)
            syscall(SYS_futex, &crew->phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
        return;
    }
    for (unsigned spin = 0; spin < crew->spins; spin++) {
        if (atomic_load_explicit(&crew->phase, memory_order_acquire) != phase)
            return;
        if (spin % SPINS_TO_YIELD == SPINS_TO_YIELD - 1)
            sched_yield();
        relax();
    }
    sleep_through(crew, phase);
}

static void *work(void *argument)
{
    worker *self = argument;
    saddle_crew *crew = self->crew;
    unsigned long seen = 0;
    flush_denormals();
    for (;;) {
        pthread_mutex_lock(&crew->mutex);
        while (crew->generation == seen && !crew->leave)
            pthread_cond_wait(&crew->wake, &crew->mutex);
        bool leave = crew->leave;
        seen = crew->generation;
        pthread_mutex_unlock(&crew->mutex);
        if (leave)
            return NULL;
        crew->job(crew->context, self->number);
        pthread_mutex_lock(&crew->mutex);
        if (--crew->running == 0)
            pthread_cond_signal(&crew->done);
        pthread_mutex_unlock(&crew->mutex);
    }
}

unsigned saddle_processors_online(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

unsigned saddle_processors(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (unsigned)CPU_COUNT(&allowed);
    return saddle_processors_online();
}

saddle_status saddle_crew_create(saddle_crew **out, unsigned size, unsigned processors,
                                 saddle_error *error)
{
    *out = NULL;
    saddle_crew *crew = saddle_alloc(1, sizeof *crew);
    worker *workers = saddle_alloc(size, sizeof *workers);
    if (crew == NULL || workers == NULL) {
        saddle_free(crew);
        saddle_free(workers);
        return saddle_no_memory(error, "worker threads");
    }
    crew->size = size;
    crew->workers = workers;
    crew->spins = size <= processors ? SPINS : 0;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->wake, NULL);
    pthread_cond_init(&crew->done, NULL);
    for (unsigned w = 1; w < size; w++) {
        workers[w].crew = crew;
        workers[w].number = w;
        int reason = pthread_create(&workers[w].thread, NULL, work, &workers[w]);
        if (reason != 0) {
            saddle_crew_destroy(crew);
            return saddle_fail(error, SADDLE_NO_MEMORY,
                               "cannot start thread %u of %u: %s; give a smaller --threads", w + 1,
                               size, strerror(reason));
        }
        crew->started = w;
    }
    *out = crew;
    return SADDLE_OK;
}

void saddle_crew_destroy(saddle_crew *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->mutex);
    crew->leave = true;
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->mutex);
    for (unsigned w = 1; w <= crew->started; w++)
        pthread_join(crew->workers[w].thread, NULL);
    pthread_cond_destroy(&crew->wake);
    pthread_cond_destroy(&crew->done);
    pthread_mutex_destroy(&crew->mutex);
    saddle_free(crew->workers);
    saddle_free(crew);
}

unsigned saddle_crew_size(const saddle_crew *crew)
{
    return crew->size;
}

void saddle_crew_run(saddle_crew *crew, saddle_crew_job *job, void *context)
{
    unsigned before = flush_denormals();
    if (crew->size > 1) {
        pthread_mutex_lock(&crew->mutex);
        crew->job = job;
        crew->context = context;
        crew->running = crew->size - 1;
        crew->generation++;
        pthread_cond_broadcast(&crew->wake);
        pthread_mutex_unlock(&crew->mutex);
    }
    job(context, 0);
    if (crew->size > 1) {
        pthread_mutex_lock(&crew->mutex);
        while (crew->running > 0)
            pthread_cond_wait(&crew->done, &crew->mutex);
        pthread_mutex_unlock(&crew->mutex);
    }
    restore_denormals(before);
}
