/* The thread pool: every shared part is done once, by any worker that has time, and the barrier works. */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/parallel.h"
#include "core/processors.h"
#include "engines/thread_pool.h"
#include "instances.h"
#include "support.h"

enum { MOST_PARTS = 300, ROUNDS = 400 / TEST_SLOWDOWN };

/* Shared work. */
typedef struct shared_work {
    saddle_thread_pool *pool;
    unsigned size;
    atomic_uint done[MOST_PARTS]; /* how often each part has been done */
    atomic_uint helped;           /* parts done by workers other than the owner */
    unsigned owner;
    size_t count;
    unsigned wrong; /* parts that were not done exactly once; written by the owner */
} shared_work;

static void do_part(void *context, size_t part, unsigned worker)
{
    shared_work *s = context;
    atomic_fetch_add(&s->done[part], 1);
    if (worker != s->owner)
        atomic_fetch_add(&s->helped, 1);
}

/* Workers take turns sharing, with a different number of parts each time, and meet at a barrier after each turn. */
static void take_turns(void *context, unsigned worker)
{
    shared_work *s = context;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round % s->size == worker) {
            s->owner = worker;
            s->count = round % MOST_PARTS;
            for (unsigned again = 0; again < 3; again++) {
                memset(s->done, 0, sizeof s->done);
                saddle_thread_pool_share(s->pool, worker, s->count, do_part, s);
                for (size_t k = 0; k < MOST_PARTS; k++)
                    s->wrong += atomic_load(&s->done[k]) != (k < s->count ? 1 : 0);
            }
        }
        saddle_thread_pool_barrier(s->pool, worker);
    }
}

TEST_LOOP(shared_parts_are_done_once, 0, 4)
{
    static const unsigned sizes[] = {1, 2, 3, 7};
    static shared_work s;
    saddle_error error = {.message = ""};
    s = (shared_work){.size = sizes[_i]};
    assert_ok(saddle_thread_pool_create(&s.pool, s.size, saddle_processors(1), false, &error),
              error);
    saddle_thread_pool_run(s.pool, take_turns, &s);
    saddle_thread_pool_destroy(s.pool);
    ck_assert_uint_eq(s.wrong, 0);
    if (s.size == 1)
        ck_assert_uint_eq(atomic_load(&s.helped), 0);
}

/* All workers share at the same time, each its own parts. */
typedef struct own_parts {
    saddle_thread_pool *pool;
    atomic_uint done[7][MOST_PARTS];
} own_parts;

typedef struct own_turn {
    own_parts *all;
    unsigned owner;
} own_turn;

static void do_own_part(void *context, size_t part, unsigned worker)
{
    const own_turn *turn = context;
    (void)worker;
    atomic_fetch_add(&turn->all->done[turn->owner][part], 1);
}

static void share_at_once(void *context, unsigned worker)
{
    own_turn turn = {.all = context, .owner = worker};
    for (unsigned round = 0; round < ROUNDS; round++) {
        saddle_thread_pool_share(turn.all->pool, worker, MOST_PARTS, do_own_part, &turn);
        if (round % 5 == worker % 5)
            saddle_thread_pool_share(turn.all->pool, worker, 2, do_own_part, &turn);
        saddle_thread_pool_barrier(turn.all->pool, worker);
    }
}

TEST(several_workers_share_at_once)
{
    enum { WORKERS = 7 };
    static own_parts parts;
    saddle_error error = {.message = ""};
    assert_ok(saddle_thread_pool_create(&parts.pool, WORKERS, saddle_processors(1), false, &error),
              error);
    saddle_thread_pool_run(parts.pool, share_at_once, &parts);
    saddle_thread_pool_destroy(parts.pool);
    for (unsigned w = 0; w < WORKERS; w++) {
        unsigned twice = 0;
        for (unsigned round = 0; round < ROUNDS; round++)
            twice += round % 5 == w % 5;
        for (size_t k = 0; k < MOST_PARTS; k++)
            ck_assert_uint_eq(atomic_load(&parts.done[w][k]), ROUNDS + (k < 2 ? twice : 0));
    }
}

/* More parts than a ticket can count. */
enum { VERY_MANY = 2 * 65535 + 1 };

typedef struct many_parts {
    saddle_thread_pool *pool;
    atomic_uchar done[VERY_MANY];
} many_parts;

static void do_one_of_many(void *context, size_t part, unsigned worker)
{
    (void)worker;
    atomic_fetch_add(&((many_parts *)context)->done[part], 1);
}

static void share_many(void *context, unsigned worker)
{
    const many_parts *many = context;
    if (worker == 1)
        saddle_thread_pool_share(many->pool, worker, VERY_MANY, do_one_of_many, context);
}

TEST(any_number_of_parts_is_shared)
{
    static many_parts many;
    saddle_error error = {.message = ""};
    assert_ok(saddle_thread_pool_create(&many.pool, 3, saddle_processors(1), false, &error), error);
    saddle_thread_pool_run(many.pool, share_many, &many);
    saddle_thread_pool_destroy(many.pool);
    for (size_t k = 0; k < VERY_MANY; k++)
        ck_assert_uint_eq(atomic_load(&many.done[k]), 1);
}

/* The number of workers changes between jobs: as many run as there are to be, and meet at barriers. */
typedef struct roll {
    saddle_thread_pool *pool;
    atomic_uint present[2];
    unsigned wrong;
} roll;

static void call_roll(void *context, unsigned worker)
{
    roll *r = context;
    for (unsigned round = 0; round < 4; round++) {
        atomic_fetch_add(&r->present[round % 2], 1);
        saddle_thread_pool_barrier(r->pool, worker);
        if (worker == 0)
            r->wrong +=
                atomic_exchange(&r->present[round % 2], 0) != saddle_thread_pool_size(r->pool);
    }
}

/* With fewer processors than workers, and with enough. */
TEST_LOOP(the_number_of_workers_changes, 6, 8)
{
    enum { WORKERS = 7 };
    saddle_error error = {.message = ""};
    roll r = {.wrong = 0};
    assert_ok(saddle_thread_pool_create(&r.pool, WORKERS, (unsigned)_i, false, &error), error);
    for (unsigned k = 0; k < ROUNDS; k++) {
        unsigned size = 1 + 3 * k % WORKERS;
        saddle_thread_pool_resize(r.pool, size);
        ck_assert_uint_eq(saddle_thread_pool_size(r.pool), size);
        for (unsigned again = 0; again < k % 3; again++)
            saddle_thread_pool_run(r.pool, call_roll, &r);
    }
    ck_assert_uint_eq(r.wrong, 0);
    ck_assert_double_ge(saddle_thread_pool_waited(r.pool), 0.0);
    saddle_thread_pool_destroy(r.pool);
}

/* A part has enough work to be worth a thread, however many threads are allowed. */
TEST(parts_are_worth_their_threads)
{
    ck_assert_uint_eq(saddle_parallel_chunks(16, 20, 20000), 1);
    ck_assert_uint_eq(saddle_parallel_chunks(16, 40000, 20000), 3);
    ck_assert_uint_eq(saddle_parallel_chunks(2, 1000000, 20000), 2);
    ck_assert_uint_eq(saddle_parallel_chunks(1, 1000000, 20000), 1);
    ck_assert_uint_eq(saddle_parallel_chunks(UINT64_MAX, 1000000000, 20000), SADDLE_MOST_PARALLEL);
    ck_assert_uint_eq(saddle_parallel_chunks(0, 20, 20000), 1);
    size_t processors = saddle_processors(1);
    ck_assert_uint_eq(saddle_parallel_chunks(0, 1000000000, 20000),
                      processors < SADDLE_MOST_PARALLEL ? processors : SADDLE_MOST_PARALLEL);
}

/* ---- where workers run ----------------------------------------------------------------------- */

enum { MOST_PINNED = 2 };

typedef struct places {
    int count[MOST_PINNED]; /* number of processors that each worker may run on */
    int place[MOST_PINNED]; /* the processor that it runs on */
} places;

static void note_place(void *context, unsigned worker)
{
    places *found = context;
    cpu_set_t set;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    found->count[worker] = CPU_COUNT(&set);
    found->place[worker] = sched_getcpu();
}

/* Each worker has its own processor inside a job; after it, the caller has all of its processors again. */
TEST(pinned_workers_stay_apart)
{
    saddle_error error = {.message = ""};
    saddle_thread_pool *pool = NULL;
    cpu_set_t before;
    cpu_set_t after;
    places found;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    int allowed = CPU_COUNT(&before);
    unsigned size = allowed < MOST_PINNED ? (unsigned)allowed : MOST_PINNED;
    assert_ok(saddle_thread_pool_create(&pool, size, size, true, &error), error);
    for (int again = 0; again < 3; again++) {
        saddle_thread_pool_run(pool, note_place, &found);
        for (unsigned w = 0; w < size; w++)
            ck_assert_int_eq(found.count[w], 1);
        if (size == 2)
            ck_assert_int_ne(found.place[0], found.place[1]);
        ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
        ck_assert(CPU_EQUAL(&before, &after));
    }
    saddle_thread_pool_destroy(pool);
    ck_assert_int_eq(saddle_thread_pool_create(&pool, (unsigned)allowed + 1, 1, true, &error),
                     SADDLE_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "give fewer threads"));
    ck_assert_ptr_null(pool);
}

/* Writes a file below "root", which stands for the system's root. */
static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "root/%s", path);
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    saddle_test_write(name, text);
}

/* Quotas of control groups of both versions, at any level, are found; "max" and -1 mean no limit. */
TEST(quotas_of_control_groups_are_found)
{
    const char *const dir = "root";
    saddle_test_enter_directory();
    ck_assert_double_infinite(saddle_processor_quota(dir));
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    ck_assert_double_infinite(saddle_processor_quota(dir));
    put("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    ck_assert_double_eq(saddle_processor_quota(dir), 2.5);
    put("sys/fs/cgroup/cpu.max", "150000 50000\n");
    ck_assert_double_eq(saddle_processor_quota(dir), 2.5);
    put("sys/fs/cgroup/a/b/cpu.max", "75000 100000\n");
    ck_assert_double_eq(saddle_processor_quota(dir), 0.75);
    put("sys/fs/cgroup/a/b/cpu.max", "no number\n");
    ck_assert_double_eq(saddle_processor_quota(dir), 2.5);
    put("proc/self/cgroup", "3:memory:/m\n4:cpu,cpuacct:/docker/c\n");
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    ck_assert_double_infinite(saddle_processor_quota(dir));
    put("sys/fs/cgroup/cpu/docker/c/cpu.cfs_quota_us", "400000\n");
    put("sys/fs/cgroup/cpu/docker/c/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(saddle_processor_quota(dir), 4.0);
    put("sys/fs/cgroup/cpu/docker/c/cpu.cfs_quota_us", "-1\n");
    ck_assert_double_infinite(saddle_processor_quota(dir));
}

/* Processes on one machine share its processors, and each has at least one. */
TEST(processors_are_shared)
{
    unsigned all = saddle_processors(1);
    ck_assert_uint_ge(all, 1);
    ck_assert_uint_eq(saddle_processors(1000000),
                      saddle_processors_are_own() && isinf(saddle_processor_quota("")) ? all : 1);
}
