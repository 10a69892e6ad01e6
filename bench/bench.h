/*
 * What the parts of saddle_bench share. Each part measures one kind of thing and prints one JSON
 * object; bench/bench.py runs them, sets peers beside them and makes the table.
 */
#pragma once

#include <stddef.h>

#include <saddle/saddle.h>

/* A part's body: arguments without its name; returns the exit status. */
typedef int bench_part(int count, char **argument);

bench_part bench_iterate; /* iterate.c */
bench_part bench_triad;   /* triad.c */
bench_part bench_load;    /* load.c */
bench_part bench_kernels; /* kernels.c */
bench_part bench_many;    /* many.c */

/* Seconds on a clock that never runs backwards. */
double bench_clock(void);
/* Sort `value` and return its median. */
double bench_median(size_t count, double *value);
/* Print `"name": [v, ...]`. */
void bench_print_list(const char *name, size_t count, const double *value);
/* The most memory that this process ever held, in bytes. */
double bench_peak_bytes(void);

/* A number of at least 1; anything else ends the program with a message. */
size_t bench_count(const char *what, const char *text);
/* End the program unless the call worked. */
void bench_require(saddle_status status, const saddle_error *error);
/* A plan from NAME=VALUE words; free with saddle_plan_free(). */
void bench_plan(saddle_plan *out, int count, char **word);
