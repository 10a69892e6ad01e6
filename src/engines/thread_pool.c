#include "engines/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clock.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Iterations of the spin loop before a waiting worker sleeps: some tens of microseconds. The system
 * wakes a worker on a free processor, whereas a spinning one stays where it is. Each sleep halves a
 * worker's number, down to the second one, and each wait without sleep doubles it. */
#define SPINS 2000
#define LEAST_SPINS 125

/* Iterations after which it yields: the thread that it waits for may be on the same processor. */
#define SPINS_TO_YIELD 512

typedef struct worker {
    saddle_thread_pool *pool;
    unsigned number;
    pthread_t thread;
    /* The work it shares: pieces first, first + 1, ... The ticket contains, from the low bits up, the
     * number of pieces taken (16 bits), the number of pieces (16 bits) and a serial number that changes
     * with every ticket. A worker takes a piece by incrementing the ticket with compare-and-exchange. If
     * that succeeds, the ticket was current, and the other fields do not change until the piece is
     * finished. */
    _Alignas(SADDLE_ALIGNMENT) atomic_uint_fast64_t ticket;
    _Alignas(SADDLE_ALIGNMENT) atomic_uint_fast32_t finished; /* number of pieces */
    saddle_thread_pool_piece *piece;
    void *context;
    size_t first;
    unsigned spins;        /* before it sleeps */
    _Atomic double waited; /* seconds */
    atomic_uint parked;    /* 1: it runs no jobs; also the futex that it sleeps on */
} worker;

struct saddle_thread_pool {
    unsigned size;    /* of those that run jobs; changes when all have ended a job */
    unsigned next;    /* the same from the end of this job on */
    unsigned started; /* threads that exist */
    unsigned most;
    worker *workers;
    saddle_thread_pool_job *job; /* NULL: the threads are to end */
    void *context;
    bool pin;
    cpu_set_t processors; /* those that workers are pinned to */
    unsigned spins; /* 0 with more workers than processors: spinning would only delay the others */
    _Alignas(SADDLE_ALIGNMENT) atomic_uint arrived;
    _Alignas(SADDLE_ALIGNMENT) atomic_uint phase; /* also the futex that late workers sleep on */
    _Alignas(SADDLE_ALIGNMENT) atomic_uint sleepers;
};

/* Flush to zero, denormals are zero; round to nearest; no traps. Denormal numbers are ten times slower, and iterates
 * that decay to zero are full of them. Rounding and traps are the standard ones, whatever the program has set. */
#if defined(__SSE2__)
#define WORKER_FLOAT_MODE 0x9FC0u
#else
#define WORKER_FLOAT_MODE 0x1000000u /* the bit FZ of arm64's FPCR */
#endif

/* Sets the floating-point mode of this thread; returns the mode before. */
static unsigned switch_float_mode(unsigned mode)
{
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(mode);
    return before;
#elif defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr\n\tmsr fpcr, %1" : "=&r"(before) : "r"((uint64_t)mode));
    return (unsigned)before;
#else
    return mode;
#endif
}

static void relax(void)
{
#if defined(__SSE2__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Pins the calling thread, a worker's, to its processor. If the system refuses, because the processor is
 * gone, the thread runs anywhere. */
static void pin_thread(const saddle_thread_pool *pool, unsigned number)
{
    cpu_set_t own;
    unsigned left = number;
    CPU_ZERO(&own);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &pool->processors) && left-- == 0)
            CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
}

/* ---- sharing --------------------------------------------------------------------------------- */

#define PIECE_BITS 16
#define PIECE_MASK ((UINT64_C(1) << PIECE_BITS) - 1)

/* Takes and does a piece of a worker's shared work; false when no piece is left. */
static bool take_piece(worker *of, unsigned by)
{
    uint64_t ticket = atomic_load_explicit(&of->ticket, memory_order_acquire);
    uint64_t piece;
    do {
        piece = ticket & PIECE_MASK;
        if (piece >= (ticket >> PIECE_BITS & PIECE_MASK))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&of->ticket, &ticket, ticket + 1,
                                                    memory_order_acq_rel, memory_order_acquire));
    of->piece(of->context, of->first + piece, by);
    atomic_fetch_add_explicit(&of->finished, 1, memory_order_release);
    return true;
}

/* Does a piece of any shared work; false when there is none. */
static bool help(saddle_thread_pool *pool, unsigned by)
{
    for (unsigned w = 0; w < pool->most; w++)
        if (take_piece(&pool->workers[w], by))
            return true;
    return false;
}

static void wake_sleepers(saddle_thread_pool *pool)
{
    if (atomic_load(&pool->sleepers) > 0)
        syscall(SYS_futex, &pool->phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Shares as many pieces as a ticket can count. */
static void share_ticket(saddle_thread_pool *pool, unsigned number, size_t first, size_t count)
{
    worker *self = &pool->workers[number];
    uint64_t last = atomic_load_explicit(&self->ticket, memory_order_relaxed) >> 2 * PIECE_BITS;
    self->first = first;
    atomic_store_explicit(&self->finished, 0, memory_order_relaxed);
    atomic_store(&self->ticket, (last + 1) << 2 * PIECE_BITS | (uint64_t)count << PIECE_BITS);
    wake_sleepers(pool);
    while (take_piece(self, number))
        ;
    for (unsigned spin = 1; atomic_load_explicit(&self->finished, memory_order_acquire) < count;
         spin++) {
        if (pool->spins == 0 || spin % SPINS_TO_YIELD == 0)
            sched_yield();
        relax();
    }
}

void saddle_thread_pool_share(saddle_thread_pool *pool, unsigned number, size_t count,
                              saddle_thread_pool_piece *piece, void *context)
{
    if (pool->size == 1 || count < 2) {
        for (size_t k = 0; k < count; k++)
            piece(context, k, number);
        return;
    }
    pool->workers[number].piece = piece;
    pool->workers[number].context = context;
    for (size_t first = 0; first < count; first += PIECE_MASK)
        share_ticket(pool, number, first, count - first < PIECE_MASK ? count - first : PIECE_MASK);
}

/* ---- the barrier ------------------------------------------------------------------------------ */

/* Sleeps until the phase is no longer `phase`; does shared pieces before it sleeps. */
static void sleep_through(saddle_thread_pool *pool, unsigned number, unsigned phase)
{
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->phase) == phase)
        if (!help(pool, number))
            syscall(SYS_futex, &pool->phase, FUTEX_WAIT_PRIVATE, phase, NULL, NULL, 0);
    atomic_fetch_sub(&pool->sleepers, 1);
}

/* Waits until the phase is no longer `phase`, for as long as it is worth spinning. Returns whether it
 * has changed. Sets *since to the time when waiting became worth counting. */
static bool spin_through(saddle_thread_pool *pool, worker *self, unsigned phase, double *since)
{
    for (unsigned spin = 1; spin <= self->spins; spin++) {
        if (atomic_load_explicit(&pool->phase, memory_order_acquire) != phase)
            return true;
        if (help(pool, self->number))
            spin = 0;
        if (spin % SPINS_TO_YIELD == 0) {
            if (*since == 0.0)
                *since = saddle_clock_seconds();
            sched_yield();
        }
        relax();
    }
    return false;
}

static void wait_for_others(saddle_thread_pool *pool, worker *self, unsigned phase)
{
    double since = 0.0;
    if (spin_through(pool, self, phase, &since)) {
        if (self->spins < pool->spins)
            self->spins *= 2;
    } else {
        if (since == 0.0)
            since = saddle_clock_seconds();
        if (self->spins > LEAST_SPINS)
            self->spins /= 2;
        sleep_through(pool, self->number, phase);
    }
    if (since > 0.0) {
        double before = atomic_load_explicit(&self->waited, memory_order_relaxed);
        atomic_store_explicit(&self->waited, before + saddle_clock_seconds() - since,
                              memory_order_relaxed);
    }
}

void saddle_thread_pool_barrier(saddle_thread_pool *pool, unsigned number)
{
    unsigned size = pool->size; /* changes as soon as all have arrived */
    if (size == 1)
        return;
    unsigned phase = atomic_load_explicit(&pool->phase, memory_order_relaxed);
    unsigned arrived = atomic_fetch_add_explicit(&pool->arrived, 1, memory_order_acq_rel) + 1;
    if (arrived == size) {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        if (pool->next != size)
            pool->size = pool->next;
        /* Either this thread sees a sleeper, or the sleeper sees the new phase: both accesses are
         * sequentially consistent, and the kernel compares the phase before it lets a worker sleep. */
        atomic_store(&pool->phase, phase + 1);
        wake_sleepers(pool);
        return;
    }
    wait_for_others(pool, &pool->workers[number], phase);
}

/* Sleeps until the worker is to run jobs. */
static void park(worker *self)
{
    while (atomic_load(&self->parked) == 1)
        syscall(SYS_futex, &self->parked, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

/* Between jobs a worker waits as it does inside them, so jobs in quick succession need no system call. */
static void *work(void *argument)
{
    worker *self = argument;
    saddle_thread_pool *pool = self->pool;
    switch_float_mode(WORKER_FLOAT_MODE);
    if (pool->pin)
        pin_thread(pool, self->number);
    for (;;) {
        saddle_thread_pool_barrier(pool, self->number);
        if (pool->job == NULL)
            return NULL;
        pool->job(pool->context, self->number);
        saddle_thread_pool_barrier(pool, self->number);
        park(self);
    }
}

saddle_status saddle_thread_pool_create(saddle_thread_pool **out, unsigned size,
                                        unsigned processors, bool pin, saddle_error *error)
{
    *out = NULL;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (pin && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
        CPU_COUNT(&allowed) < (int)size)
        return saddle_refuse(error,
                             "--pin: there are %u threads, but processors for only %d; give fewer "
                             "threads, or leave --pin out",
                             size, CPU_COUNT(&allowed));
    saddle_thread_pool *pool = saddle_alloc(1, sizeof *pool);
    worker *workers = saddle_alloc(size, sizeof *workers);
    if (pool == NULL || workers == NULL) {
        saddle_free(pool);
        saddle_free(workers);
        return saddle_no_memory(error, "worker threads");
    }
    pool->size = size;
    pool->next = size;
    pool->most = size;
    pool->workers = workers;
    pool->pin = pin;
    pool->processors = allowed;
    pool->spins = size <= processors ? SPINS : 0;
    workers[0].spins = pool->spins;
    for (unsigned w = 1; w < size; w++) {
        workers[w].pool = pool;
        workers[w].number = w;
        workers[w].spins = pool->spins;
        int reason = pthread_create(&workers[w].thread, NULL, work, &workers[w]);
        if (reason != 0) {
            saddle_thread_pool_destroy(pool);
            return saddle_fail(error, SADDLE_NO_MEMORY,
                               "--threads: cannot start thread %u of %u: %s; give a smaller number",
                               w + 1, size, strerror(reason));
        }
        pool->started = w;
    }
    *out = pool;
    return SADDLE_OK;
}

void saddle_thread_pool_destroy(saddle_thread_pool *pool)
{
    if (pool == NULL)
        return;
    saddle_thread_pool_resize(pool, pool->most);
    pool->job = NULL;
    /* Count the workers that could not be started as arrived. */
    atomic_fetch_add(&pool->arrived, pool->size - 1 - pool->started);
    saddle_thread_pool_barrier(pool, 0);
    for (unsigned w = 1; w <= pool->started; w++)
        pthread_join(pool->workers[w].thread, NULL);
    saddle_free(pool->workers);
    saddle_free(pool);
}

unsigned saddle_thread_pool_size(const saddle_thread_pool *pool)
{
    return pool->size;
}

void saddle_thread_pool_run(saddle_thread_pool *pool, saddle_thread_pool_job *job, void *context)
{
    unsigned before = switch_float_mode(WORKER_FLOAT_MODE);
    cpu_set_t places;
    bool pinned = pool->pin && sched_getaffinity(0, sizeof places, &places) == 0;
    if (pinned)
        pin_thread(pool, 0);
    pool->job = job;
    pool->context = context;
    saddle_thread_pool_barrier(pool, 0);
    job(context, 0);
    saddle_thread_pool_barrier(pool, 0);
    if (pinned)
        sched_setaffinity(0, sizeof places, &places);
    switch_float_mode(before);
}

typedef struct resizing {
    saddle_thread_pool *pool;
    unsigned size;
} resizing;

/* Sets what takes effect at the end of this job. Not before it, when workers may be on their way from the
 * last one. */
static void set_next(void *context, unsigned number)
{
    const resizing *to = context;
    saddle_thread_pool *pool = to->pool;
    if (number > 0)
        return;
    pool->next = to->size;
    for (unsigned w = to->size; w < pool->size; w++)
        atomic_store(&pool->workers[w].parked, 1);
}

void saddle_thread_pool_resize(saddle_thread_pool *pool, unsigned size)
{
    unsigned before = pool->size;
    if (size == before)
        return;
    resizing to = {pool, size};
    saddle_thread_pool_run(pool, set_next, &to);
    if (before == 1)
        pool->size = size; /* otherwise done at the end of the job */
    for (unsigned w = before; w < size; w++) {
        atomic_store(&pool->workers[w].parked, 0);
        syscall(SYS_futex, &pool->workers[w].parked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

double saddle_thread_pool_waited(const saddle_thread_pool *pool)
{
    double waited = 0.0;
    for (unsigned w = 0; w < pool->most; w++)
        waited += atomic_load_explicit(&pool->workers[w].waited, memory_order_relaxed);
    return waited;
}
