/*
 * Requests and how they are divided: a batch is cut into parts, whose sums are added in the order of
 * their numbers. Parts depend on sizes alone, so that the sums have the same bits whichever workers
 * compute them.
 */
#ifndef SADDLE_PROBLEMS_EVALUATE_H
#define SADDLE_PROBLEMS_EVALUATE_H

#include <saddle/problem.h>

/* The most parts of a batch. */
enum { SADDLE_MOST_PARTS = 64 };

/* How many parts a batch has; 1 where the problem cannot work on part of an agent's samples. */
size_t saddle_parts_count(const saddle_problem *problem, const saddle_batch *batch);
/* The most parts that batches of at most `samples` samples have. (Rounded to cache lines, a larger batch can have fewer
 * parts than a smaller one.) */
size_t saddle_parts_bound(const saddle_problem *problem, size_t samples);
/* Doubles of what a part of a request sums up, in whole cache lines. */
size_t saddle_partial_size(const saddle_problem *problem, saddle_request *request);
/* The most of it, whatever is asked. */
size_t saddle_largest_partial(const saddle_problem *problem);
/* How workers can divide a request; one that asks nothing is not divided. */
typedef enum saddle_request_division {
    SADDLE_UNDIVIDED,
    SADDLE_BY_PARTS,
    SADDLE_BY_SAMPLES
} saddle_request_division;
saddle_request_division saddle_division_of(const saddle_problem *problem,
                                           const saddle_request *request);
/* IFO calls of a request. */
uint64_t saddle_request_ifo(const saddle_request *request);

/*
 * One request: begin once, then every part, in any order and by any worker; when all are done, add up their partials, by
 * ranges of entries, again in any order; then end once. What a part
 * sums up goes to `partial`; entries of gy and of the statistic that belong to single samples go to
 * the request's own arrays. saddle_problem_scratch() doubles of scratch are enough for a part. The partials of
 * parts 0, 1, ... are saddle_partial_size() doubles apart.
 */
void saddle_evaluate_begin(const saddle_problem *problem, saddle_request *request);
void saddle_evaluate_part(const saddle_problem *problem, size_t agent, saddle_request *request,
                          size_t part, double *partial, double *scratch);
void saddle_evaluate_add(const saddle_problem *problem, saddle_request *request,
                         const double *partials, size_t first, size_t last);
void saddle_evaluate_end(const saddle_problem *problem, saddle_request *request);

/*
 * A request with one part whose entries belong to samples, divided by samples: first those in ranges of numbers, at
 * the same time, each by saddle_evaluate_samples(), then the end. `along` has a place for each sample of the batch, at
 * most SADDLE_MOST_ALONG. The bits are those of saddle_evaluate().
 */
enum { SADDLE_MOST_ALONG = 1024 };
void saddle_evaluate_samples(const saddle_problem *problem, size_t agent, saddle_request *request,
                             size_t first, size_t last, double *along, double *scratch);
void saddle_evaluate_rows(const saddle_problem *problem, size_t agent, saddle_request *request,
                          const double *along);

/* All of it by one worker, with the same bits; saddle_problem_scratch() doubles of scratch. */
void saddle_evaluate(const saddle_problem *problem, size_t agent, saddle_request *request,
                     double *scratch);

/* out += slope (y1 - y0) */
void saddle_add_linear_part(size_t count, double slope, const double *restrict y1,
                            const double *restrict y0, double *restrict out);

/* add_samples() for a problem without it, by its gradient(), value() and response_statistic(). `weight` is
 * part->scale times the number of samples; a value or a statistic is that of all samples. */
void saddle_add_undivided(const saddle_problem *problem, size_t agent, const saddle_part *part,
                          double weight, double *scratch);

#endif
