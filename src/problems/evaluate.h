/*
 * Evaluating requests, possibly by several workers. A batch is divided into parts, whose sums are
 * added in the order of their numbers. The division depends only on sizes, so that the sums have
 * the same bits whichever workers compute them.
 */
#pragma once

#include <saddle/problem.h>

/* Returns the number of parts of a batch; 1 for a problem that cannot evaluate a part of a
 * batch. */
size_t saddle_parts_count(const saddle_problem *problem, const saddle_batch *batch);
/* Returns the number of samples of a part; the last one may have fewer. */
size_t saddle_part_samples(const saddle_problem *problem, const saddle_batch *batch);
/* Returns the largest number of parts of any batch of at most `samples` samples. (Because parts
 * are rounded to cache lines, a larger batch can have fewer parts than a smaller one.) */
size_t saddle_parts_bound(const saddle_problem *problem, size_t samples);
/* Returns the number of doubles of the sums of one part of a request, rounded up to whole cache
 * lines. */
size_t saddle_partial_size(const saddle_problem *problem, saddle_request *request);
/* Returns saddle_problem::sample_cost, or its default. */
static inline double saddle_sample_cost(const saddle_problem *problem)
{
    return problem->sample_cost > 0.0 ? problem->sample_cost
                                      : (double)problem->x_dim + (double)problem->y_dim;
}
/* Returns the largest saddle_partial_size() of any request. */
size_t saddle_largest_partial(const saddle_problem *problem);
/* How workers can divide a request; SADDLE_REQUEST_NONE is not divided. */
typedef enum saddle_request_division {
    SADDLE_UNDIVIDED,
    SADDLE_BY_PARTS,
    SADDLE_BY_SAMPLES
} saddle_request_division;
saddle_request_division saddle_division_of(const saddle_problem *problem,
                                           const saddle_request *request);
/* Returns the number of IFO calls of a request. */
uint64_t saddle_request_ifo(const saddle_request *request);

/*
 * To evaluate a request in parts: call begin() once, then part() for every part, in any order and
 * by any worker; when all parts are done, add() for ranges of entries, again in any order; then
 * end() once. The sums of a part are stored in `partial`; entries of gy and of the statistic that
 * belong to single samples are written to the request's own arrays. part() needs
 * saddle_problem_scratch() doubles of scratch. The partials of parts 0, 1, ... are
 * saddle_partial_size() doubles apart.
 */
void saddle_evaluate_begin(const saddle_problem *problem, saddle_request *request);
void saddle_evaluate_part(const saddle_problem *problem, size_t agent, saddle_request *request,
                          size_t part, double *partial, double *scratch);
void saddle_evaluate_add(const saddle_problem *problem, saddle_request *request,
                         const double *partials, size_t first, size_t last);
void saddle_evaluate_end(const saddle_problem *problem, saddle_request *request);

/*
 * To divide a request with one part by samples, if its entries belong to samples: workers call
 * saddle_evaluate_samples() for ranges of sample numbers at the same time; then one calls
 * saddle_evaluate_rows(). `along` has an entry for each sample of the batch, at most
 * SADDLE_MOST_ALONG. The result has the same bits as that of saddle_evaluate().
 */
enum { SADDLE_MOST_ALONG = 1024 };
void saddle_evaluate_samples(const saddle_problem *problem, size_t agent, saddle_request *request,
                             size_t first, size_t last, double *along, double *scratch);
void saddle_evaluate_rows(const saddle_problem *problem, size_t agent, saddle_request *request,
                          const double *along);

/* Evaluates a request in the calling thread, with the same bits. Needs saddle_problem_scratch()
 * doubles of scratch. */
void saddle_evaluate(const saddle_problem *problem, size_t agent, saddle_request *request,
                     double *scratch);

/* out += slope (y1 - y0) */
void saddle_add_linear_term(size_t count, double slope, const double *restrict y1,
                            const double *restrict y0, double *restrict out);

/* Implements add_samples() for a problem without it, by its gradient(), value() and
 * response_statistic(). `weight` is part->scale times the number of samples; values and
 * statistics are always over all samples. */
void saddle_add_undivided(const saddle_problem *problem, size_t agent, const saddle_part *part,
                          double weight, double *scratch);
