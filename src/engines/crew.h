/*
 * How many workers run iterations: as many as make them fastest, which on a busy machine may be one.
 *
 * Iterations are timed in periods of some milliseconds. After a period in which workers waited for a
 * quarter of their time, the next one is a trial with fewer workers, which remain if it was no slower.
 * From time to time there is a trial with more, and of many workers one with fewer, which remain if it
 * was clearly faster. A trial that fails is repeated after twice as long.
 */
#pragma once

#include "core/base.h"

typedef struct saddle_crew {
    unsigned most;
    unsigned size;   /* workers that are to run now */
    unsigned home;   /* the best known number; `size` is another during a trial */
    double period;   /* seconds */
    double cost;     /* seconds of an iteration with `home` workers; 0: not known */
    double next[2];  /* the earliest times of trials with fewer workers and with more */
    double delay[2]; /* from a failed trial to the next one */
    bool waiting;    /* that `home` workers waited much in their last period */
    bool fresh;      /* the next iteration is not counted: `size` has just changed */
    /* The present period. */
    double begin;        /* its first moment; 0: not begun */
    double waited_begin; /* the pool's waiting then */
    double last;         /* the end of the last iteration */
    double seconds;      /* of the iterations counted */
    unsigned iterations; /* counted */
    uint64_t least;      /* samples of the cheapest iteration */
} saddle_crew;

/* `size` workers of `most` begin. */
void saddle_crew_make(saddle_crew *crew, unsigned size, unsigned most);
/* Says that iterations begin, after a time in which there were none. */
void saddle_crew_resume(saddle_crew *crew, double now);
/* Says that an iteration has ended, which used `samples`; `waited`: the seconds that the pool's workers have
 * waited in all so far. Returns whether `size` has changed. */
bool saddle_crew_note(saddle_crew *crew, double now, uint64_t samples, double waited);
