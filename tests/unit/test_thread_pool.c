/* The pool: every part of what is shared is done once, by whoever has time, and the barrier holds. */
#include <stdatomic.h>
#include <string.h>

#include "engines/thread_pool.h"
#include "instances.h"
#include "support.h"

enum { MOST_PARTS = 300, ROUNDS = 400 / TEST_SLOWDOWN };

/* What the workers of a job do together. */
typedef struct scene {
    saddle_thread_pool *pool;
    unsigned size;
    atomic_uint done[MOST_PARTS]; /* how often each part has been done */
    atomic_uint helped;           /* parts that other workers than the owner did */
    unsigned owner;
    size_t count;
    unsigned wrong; /* parts that were not done once; written by the owner */
} scene;

static void do_part(void *context, size_t part, unsigned worker)
{
    scene *s = context;
    atomic_fetch_add(&s->done[part], 1);
    if (worker != s->owner)
        atomic_fetch_add(&s->helped, 1);
}

/* Workers take turns to share, with other numbers of parts each time, and all meet after each turn. */
static void take_turns(void *context, unsigned worker)
{
    scene *s = context;
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

START_TEST(shared_parts_are_done_once)
{
    static const unsigned sizes[] = {1, 2, 3, 7};
    static scene s;
    saddle_error error = {.message = ""};
    s = (scene){.size = sizes[_i]};
    assert_ok(saddle_thread_pool_create(&s.pool, s.size, saddle_processors(), &error), error);
    saddle_thread_pool_run(s.pool, take_turns, &s);
    saddle_thread_pool_destroy(s.pool);
    ck_assert_uint_eq(s.wrong, 0);
    if (s.size == 1)
        ck_assert_uint_eq(atomic_load(&s.helped), 0);
}
END_TEST

/* All workers share at the same time, each parts of its own. */
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

START_TEST(several_workers_share_at_once)
{
    enum { WORKERS = 7 };
    static own_parts parts;
    saddle_error error = {.message = ""};
    assert_ok(saddle_thread_pool_create(&parts.pool, WORKERS, saddle_processors(), &error), error);
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
END_TEST

Suite *saddle_test_suite(void)
{
    Suite *suite = suite_create("thread pool");
    TCase *tests = tcase_create("sharing");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, shared_parts_are_done_once, 0, 4);
    tcase_add_test(tests, several_workers_share_at_once);
    suite_add_tcase(suite, tests);
    return suite;
}
