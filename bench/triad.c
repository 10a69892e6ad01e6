/*
 * The yardstick: a[k] = b[k] + s c[k], over three arrays of BYTES together, split between THREADS
 * threads that each pass over a part of their own again and again. 24 bytes count per element; what
 * a cache reads before it writes does not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/memory.h"
#include "core/vector.h"

enum { MOST_THREADS = 64, MOST_REPEATS = 1000 };

/* Bytes that a thread moves in one repeat, if one pass is not more: enough to time, and few enough
 * that a busy machine leaves some repeats alone. */
#define MOVED_PER_REPEAT ((size_t)1 << 26)

typedef struct lane {
    double *a, *b, *c;
    size_t elements;
    size_t passes;
    size_t repeats;
    pthread_barrier_t *barrier;
    double seconds[MOST_REPEATS];
} lane;

SADDLE_KERNEL static void triad(size_t count, double s, double *restrict a,
                                const double *restrict b, const double *restrict c)
{
    for (size_t k = 0; k < count; k++)
        a[k] = b[k] + s * c[k];
}

/* Passes over the arrays, their roles exchanged so that no pass can be left out. */
static void pass(lane *l)
{
    for (size_t k = 0; k < l->passes; k++) {
        triad(l->elements, 0.5, l->a, l->b, l->c);
        double *a = l->a;
        l->a = l->b;
        l->b = l->c;
        l->c = a;
    }
}

static void *work(void *argument)
{
    lane *l = argument;
    l->a = saddle_alloc_doubles(l->elements);
    l->b = saddle_alloc_doubles(l->elements);
    l->c = saddle_alloc_doubles(l->elements);
    if (l->a == NULL || l->b == NULL || l->c == NULL) {
        fprintf(stderr, "saddle_bench: out of memory for the triad's arrays\n");
        exit(1);
    }
    for (size_t k = 0; k < l->elements; k++)
        l->b[k] = l->c[k] = 1.0;
    pass(l);
    for (size_t k = 0; k < l->repeats; k++) {
        pthread_barrier_wait(l->barrier);
        double begin = bench_clock();
        pass(l);
        l->seconds[k] = bench_clock() - begin;
    }
    saddle_free(l->a);
    saddle_free(l->b);
    saddle_free(l->c);
    return NULL;
}

int bench_triad(int count, char **argument)
{
    (void)count;
    static lane lanes[MOST_THREADS];
    static pthread_t thread[MOST_THREADS];
    static double rate[MOST_REPEATS];
    size_t bytes = bench_count("BYTES", argument[0]);
    size_t threads = bench_count("THREADS", argument[1]);
    size_t repeats = bench_count("REPEATS", argument[2]);
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    repeats = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
    size_t elements = bytes / threads / 24 + 1;
    size_t passes = MOVED_PER_REPEAT / (24 * elements) + 1;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (size_t t = 0; t < threads; t++) {
        lanes[t] =
            (lane){.elements = elements, .passes = passes, .repeats = repeats, .barrier = &barrier};
        if (pthread_create(&thread[t], NULL, work, &lanes[t]) != 0) {
            fprintf(stderr, "saddle_bench: cannot start thread %zu\n", t);
            exit(1);
        }
    }
    for (size_t t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
    for (size_t k = 0; k < repeats; k++) {
        double slowest = 0.0;
        for (size_t t = 0; t < threads; t++)
            slowest = lanes[t].seconds[k] > slowest ? lanes[t].seconds[k] : slowest;
        rate[k] = 24.0 * (double)(elements * passes * threads) / slowest;
    }
    printf("{\"bytes\": %zu, \"threads\": %zu, \"bytes_per_second\": %.9g, ", bytes, threads,
           bench_median(repeats, rate));
    printf("\"best_bytes_per_second\": %.9g}\n", rate[repeats - 1]);
    pthread_barrier_destroy(&barrier);
    return 0;
}
