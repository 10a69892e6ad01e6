#include "engines/crew.h"

/* Some time slices of the system. */
#define PERIOD 0.016
#define LEAST_ITERATIONS 4
/* In periods: from a failed trial to the next one. */
#define FIRST_DELAY 12.0
#define LAST_DELAY 200.0
/* The part of the workers' time, spent waiting, from which fewer workers are tried. */
#define MUCH_WAITING 0.25
/* Trials must lower the time of an iteration to this part, if fewer workers are not to save waiting. */
#define CLEARLY 0.9
/* With so many workers, a trial with fewer costs so little that it needs no reason. Waits of a few
 * microseconds, which the pool does not count, may be what bounds them. */
#define MANY_WORKERS 5

enum { FEWER, MORE };

static unsigned fewer(unsigned size)
{
    return size > 4 ? size - size / 4 : size - 1;
}

/* The number from which fewer() leads to `size`, if there is one, or the next one below it. */
static unsigned more(const saddle_crew *c)
{
    unsigned size = c->size + 1;
    while (size < c->most && fewer(size) < c->size)
        size++;
    return size;
}

static void clear_period(saddle_crew *c, bool fresh)
{
    c->begin = 0.0;
    c->seconds = 0.0;
    c->iterations = 0;
    c->fresh = fresh;
}

void saddle_crew_make(saddle_crew *c, unsigned size, unsigned most)
{
    *c = (saddle_crew){.most = most,
                       .size = size,
                       .home = size,
                       .period = PERIOD,
                       .delay = {FIRST_DELAY * PERIOD, FIRST_DELAY * PERIOD},
                       .least = UINT64_MAX,
                       .fresh = true};
}

void saddle_crew_resume(saddle_crew *c, double now)
{
    if (c->begin > 0.0)
        c->begin += now - c->last;
    c->last = now;
}

/* Counts an iteration, unless it is an expensive one: those are too rare for each period to have as many. */
static void count(saddle_crew *c, double seconds, uint64_t samples)
{
    if (samples < c->least)
        c->least = samples;
    if (samples / 2 > c->least)
        return;
    c->seconds += seconds;
    c->iterations++;
}

static bool change(saddle_crew *c, unsigned size)
{
    c->size = size;
    clear_period(c, true);
    return true;
}

/* A trial has ended: keeps its number of workers or returns to `home`. */
static bool judge(saddle_crew *c, double now, double cost)
{
    int direction = c->size < c->home ? FEWER : MORE;
    double bound = direction == FEWER && c->waiting ? c->cost : CLEARLY * c->cost;
    if (!(cost <= bound)) {
        c->next[direction] = now + c->delay[direction];
        c->delay[direction] = fmin(2.0 * c->delay[direction], LAST_DELAY * c->period);
        return change(c, c->home);
    }
    c->home = c->size;
    c->cost = cost;
    c->next[direction] = now;
    c->next[1 - direction] = now + c->delay[1 - direction];
    c->delay[direction] = FIRST_DELAY * c->period;
    clear_period(c, false);
    return false;
}

bool saddle_crew_note(saddle_crew *c, double now, uint64_t samples, double waited)
{
    double seconds = now - c->last;
    c->last = now;
    if (c->fresh || c->begin == 0.0) {
        /* Workers' caches are not filled yet, or the period begins here. */
        c->begin = now;
        c->waited_begin = waited;
        c->fresh = false;
        return false;
    }
    count(c, seconds, samples);
    if (c->seconds < c->period || c->iterations < LEAST_ITERATIONS)
        return false;
    double cost = c->seconds / (double)c->iterations;
    double waiting = (waited - c->waited_begin) / ((double)c->size * (now - c->begin));
    if (c->size != c->home)
        return judge(c, now, cost);
    c->cost = c->cost > 0.0 ? 0.5 * (c->cost + cost) : cost;
    clear_period(c, false);
    c->waiting = waiting > MUCH_WAITING;
    if (c->size > 1 && (c->waiting || c->size >= MANY_WORKERS) && now >= c->next[FEWER])
        return change(c, fewer(c->size));
    if (c->size < c->most && now >= c->next[MORE])
        return change(c, more(c));
    return false;
}
