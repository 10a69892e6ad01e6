/* How many workers run iterations, on simulated machines: a clock that the test advances. */
#include "engines/crew.h"
#include "support.h"

enum { MOST = 16, Q = 20 };

/* A machine: seconds of an iteration, and the part of them that each worker waits. */
typedef struct machine {
    double seconds[MOST + 1];
    double waiting[MOST + 1];
} machine;

typedef struct simulation {
    saddle_crew crew;
    double now;
    double waited;
    double spent[MOST + 1]; /* seconds with each number of workers */
} simulation;

/* Runs for some seconds, with an iteration of 10 times the samples and time in Q. */
static void simulate(simulation *s, const machine *on, double seconds)
{
    double end = s->now + seconds;
    memset(s->spent, 0, sizeof s->spent);
    saddle_crew_resume(&s->crew, s->now);
    for (unsigned k = 0; s->now < end; k++) {
        unsigned size = s->crew.size;
        bool refresh = k % Q == 0;
        double took = on->seconds[size] * (refresh ? 10.0 : 1.0);
        s->now += took;
        s->waited += took * on->waiting[size] * size;
        s->spent[size] += took;
        ck_assert_uint_ge(size, 1);
        ck_assert_uint_le(size, s->crew.most);
        saddle_crew_note(&s->crew, s->now, refresh ? 1000 : 100, s->waited);
    }
}

/* Two workers are twice as fast until another process comes; then one is; then two are again. */
TEST(the_crew_follows_the_load)
{
    static const machine idle = {{0, 1e-4, 6e-5}, {0, 0, 0.05}};
    static const machine busy = {{0, 1e-4, 2.7e-4}, {0, 0, 0.6}};
    simulation s = {.now = 1000.0};
    saddle_crew_make(&s.crew, 2, 2);
    simulate(&s, &idle, 5.0);
    ck_assert_double_eq(s.spent[1], 0.0); /* no trial without a reason */
    simulate(&s, &busy, 5.0);
    ck_assert_double_lt(s.spent[2], 0.5);
    simulate(&s, &busy, 60.0);
    ck_assert_double_lt(s.spent[2], 0.05 * 60.0);
    simulate(&s, &idle, 10.0);
    ck_assert_double_lt(s.spent[1], 4.0);
    simulate(&s, &idle, 10.0);
    ck_assert_double_eq(s.spent[1], 0.0);
}

/* Waiting is no reason to lose speed: a worker that waits half of its time can still help. */
TEST(waiting_workers_that_help_remain)
{
    static const machine uneven = {{0, 1e-4, 8e-5}, {0, 0, 0.4}};
    simulation s = {.now = 1.0};
    saddle_crew_make(&s.crew, 2, 2);
    simulate(&s, &uneven, 60.0);
    ck_assert_double_lt(s.spent[1], 0.05 * 60.0);
}

/* Of many workers, the number is found that is fastest, or nearly. */
TEST(the_best_of_many_is_found)
{
    for (unsigned best = 1; best <= MOST; best++) {
        machine valley = {.seconds = {0}};
        simulation s = {.now = 1.0};
        for (unsigned k = 1; k <= MOST; k++) {
            double ratio = k < best ? (double)best / k : 1.0 + 0.2 * (k - best);
            valley.seconds[k] = 1e-4 * ratio;
            valley.waiting[k] = k > best ? 0.3 : 0.1;
        }
        saddle_crew_make(&s.crew, MOST, MOST);
        simulate(&s, &valley, 10.0);
        simulate(&s, &valley, 20.0);
        double near = 0.0;
        for (unsigned k = 1; k <= MOST; k++)
            near += valley.seconds[k] < 1.35e-4 ? s.spent[k] : 0.0;
        ck_assert_double_gt(near, 0.9 * 20.0);
    }
}
