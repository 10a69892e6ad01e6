/* Evaluating requests part by part, through the problem's add_samples() and add_common(). */
#include "problems/evaluate.h"

#include "core/vector.h"
#include "problems/part_rows.h"

/* Returns a batch of all samples as a range of groups if there are groups, else the batch itself. */
static saddle_batch in_groups(const saddle_problem *problem, const saddle_batch *batch)
{
    bool all = batch->index == NULL && batch->count == problem->samples[0];
    return problem->groups > 0 && all ? (saddle_batch){.count = problem->groups, .groups = true}
                                      : *batch;
}

/* Returns whether entries of gy and of the statistic belong to samples or to groups of samples,
 * so that parts write to them directly. */
static bool has_own_entries(const saddle_problem *problem, const saddle_batch *batch)
{
    return problem->add_samples != NULL && (problem->y_curvature > 0.0 || batch->groups);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A division into parts with equal numbers of samples (or of groups); the last may be smaller. */
typedef struct division {
    size_t parts;
    size_t samples;
} division;

/* Returns the largest number of parts that pays off; it never decreases as batches grow. */
static size_t worth_parts(const saddle_problem *problem, const saddle_batch *given)
{
    saddle_batch batch = in_groups(problem, given);
    bool own = has_own_entries(problem, &batch);
    /* Two parts with the same sample would add to the same entry. */
    if (problem->add_samples == NULL || (own && batch.repeats))
        return 1;
    size_t entries = own ? 0 : saddle_larger(problem->y_dim, problem->response_size);
    double sums = (double)problem->x_dim + (double)entries;
    return saddle_worth_parts((double)given->count, saddle_sample_cost(problem), sums);
}

static division divide(const saddle_problem *problem, const saddle_batch *given)
{
    size_t count = in_groups(problem, given).count;
    size_t parts = worth_parts(problem, given);
    size_t samples = saddle_part_rows(count, parts);
    return (division){.parts = parts == 1 ? 1 : (count + samples - 1) / samples,
                      .samples = samples};
}

size_t saddle_parts_bound(const saddle_problem *problem, size_t samples)
{
    return worth_parts(problem, &(saddle_batch){.count = samples});
}

size_t saddle_parts_count(const saddle_problem *problem, const saddle_batch *batch)
{
    return divide(problem, batch).parts;
}

size_t saddle_part_samples(const saddle_problem *problem, const saddle_batch *batch)
{
    return divide(problem, batch).samples;
}

saddle_request_division saddle_division_of(const saddle_problem *problem,
                                           const saddle_request *request)
{
    const saddle_batch *batch = &request->batch;
    if (request->kind == SADDLE_REQUEST_NONE)
        return SADDLE_UNDIVIDED;
    if (divide(problem, batch).parts > 1)
        return SADDLE_BY_PARTS;
    bool samples = request->kind == SADDLE_REQUEST_BATCH_DIFFERENCE && problem->add_rows != NULL &&
                   batch->index != NULL && batch->count <= SADDLE_MOST_ALONG;
    return samples ? SADDLE_BY_SAMPLES : SADDLE_UNDIVIDED;
}

/* Returns the request as a single part that writes to the request's own outputs. */
static saddle_part whole_part(const saddle_problem *problem, saddle_request *r)
{
    saddle_part p = {.batch = in_groups(problem, &r->batch),
                     .scale = 1.0 / (double)r->batch.count,
                     .x = r->x,
                     .y = r->y,
                     .helpers = r->helpers};
    bool slope = r->kind != SADDLE_REQUEST_VALUE && r->kind != SADDLE_REQUEST_STATISTIC;
    bool both = r->kind == SADDLE_REQUEST_SURVEY_AND_VALUE;
    bool survey = both || r->kind == SADDLE_REQUEST_SURVEY;
    if (r->kind == SADDLE_REQUEST_DIFFERENCE || r->kind == SADDLE_REQUEST_BATCH_DIFFERENCE) {
        p.x0 = r->x0;
        p.y0 = r->y0;
    }
    p.gx = slope ? r->gx : NULL;
    p.gy = slope && !survey ? r->gy : NULL;
    p.value = both || r->kind == SADDLE_REQUEST_VALUE ? &r->value : NULL;
    p.square = r->kind == SADDLE_REQUEST_VARIANCE ? &r->variance : NULL;
    p.statistic = survey || r->kind == SADDLE_REQUEST_STATISTIC ? r->statistic : NULL;
    return p;
}

/* The sums of a part: all outputs except those whose entries belong to single samples. */
enum { MOST_SUMS = 5 };
typedef struct sums {
    size_t count;
    size_t length[MOST_SUMS];
    double **at[MOST_SUMS]; /* the members of the part */
} sums;

static void list_sum(sums *list, size_t length, double **at)
{
    if (*at == NULL)
        return;
    list->length[list->count] = length;
    list->at[list->count++] = at;
}

static sums list_sums(const saddle_problem *problem, saddle_part *p)
{
    sums list = {.count = 0};
    list_sum(&list, problem->x_dim, &p->gx);
    list_sum(&list, 1, &p->value);
    list_sum(&list, 1, &p->square);
    if (!has_own_entries(problem, &p->batch)) {
        list_sum(&list, problem->y_dim, &p->gy);
        list_sum(&list, problem->response_size, &p->statistic);
    }
    return list;
}

size_t saddle_partial_size(const saddle_problem *problem, saddle_request *request)
{
    saddle_part p = whole_part(problem, request);
    sums list = list_sums(problem, &p);
    size_t size = 0;
    for (size_t k = 0; k < list.count; k++)
        size += list.length[k];
    return saddle_whole_lines(size);
}

size_t saddle_largest_partial(const saddle_problem *problem)
{
    size_t entries = has_own_entries(problem, &(saddle_batch){.count = 1})
                         ? 0
                         : saddle_larger(problem->y_dim, problem->response_size);
    return saddle_whole_lines(problem->x_dim + entries + 1);
}

/* sums += a partial */
static void take_partial(const sums *list, const double *partial)
{
    for (size_t k = 0; k < list->count; k++) {
        saddle_axpy(list->length[k], 1.0, partial, *list->at[k]);
        partial += list->length[k];
    }
}

static void clear_sums(const sums *list)
{
    for (size_t k = 0; k < list->count; k++)
        memset(*list->at[k], 0, list->length[k] * sizeof(double));
}

/* Adds at most `most` samples of p's batch, from index `begin` on, to p's outputs. */
static void add_part(const saddle_problem *problem, size_t agent, saddle_part *p, size_t begin,
                     size_t most, double *scratch)
{
    if (problem->add_samples == NULL) {
        saddle_add_undivided(problem, agent, p, 1.0, scratch);
        return;
    }
    saddle_batch whole = p->batch;
    size_t rest = whole.count - begin;
    p->batch.count = rest < most ? rest : most;
    if (whole.index != NULL) {
        p->batch.index += begin;
    } else {
        p->batch.first += begin;
        bool own = has_own_entries(problem, &p->batch);
        if (own && p->gy != NULL)
            memset(p->gy + p->batch.first, 0, p->batch.count * sizeof *p->gy);
        if (own && p->statistic != NULL)
            memset(p->statistic + p->batch.first, 0, p->batch.count * sizeof *p->statistic);
    }
    problem->add_samples(problem, agent, p, scratch);
    p->batch = whole;
}

/* ---- requests -------------------------------------------------------------------------------- */

uint64_t saddle_request_ifo(const saddle_request *request)
{
    switch (request->kind) {
    case SADDLE_REQUEST_NONE:
        return 0;
    case SADDLE_REQUEST_DIFFERENCE:
    case SADDLE_REQUEST_BATCH_DIFFERENCE:
        return 2 * request->batch.count;
    default:
        return request->batch.count;
    }
}

/* Clears entries that belong to single samples, except in a range: its parts clear their own. */
static void clear_entries(const saddle_batch *batch, bool batch_only, size_t count, double *out)
{
    if (out == NULL)
        return;
    size_t end = batch->first + batch->count;
    if (batch->index != NULL && batch_only) {
        for (size_t k = 0; k < batch->count; k++)
            out[batch->index[k]] = 0.0;
    } else if (batch->index != NULL) {
        memset(out, 0, count * sizeof *out);
    } else if (!batch_only) {
        memset(out, 0, batch->first * sizeof *out);
        memset(out + end, 0, (count - end) * sizeof *out);
    }
}

static void begin_entries(const saddle_problem *problem, const saddle_request *r,
                          const saddle_part *p)
{
    bool batch_only = r->kind == SADDLE_REQUEST_BATCH_DIFFERENCE;
    if (!has_own_entries(problem, &p->batch))
        return;
    clear_entries(&p->batch, batch_only, problem->y_dim, p->gy);
    clear_entries(&p->batch, batch_only, problem->response_size, p->statistic);
}

void saddle_evaluate_begin(const saddle_problem *problem, saddle_request *request)
{
    saddle_part p = whole_part(problem, request);
    begin_entries(problem, request, &p);
}

/* Computes the sums of part `part` of a request in `partial`. */
static void sum_part(const saddle_problem *problem, size_t agent, saddle_part p, const division *d,
                     size_t part, double *partial, double *scratch)
{
    sums list = list_sums(problem, &p);
    for (size_t k = 0; k < list.count; k++) {
        *list.at[k] = partial;
        partial += list.length[k];
    }
    clear_sums(&list);
    p.helpers = NULL; /* they work on other parts */
    add_part(problem, agent, &p, part * d->samples, d->samples, scratch);
}

void saddle_evaluate_part(const saddle_problem *problem, size_t agent, saddle_request *request,
                          size_t part, double *partial, double *scratch)
{
    division d = divide(problem, &request->batch);
    sum_part(problem, agent, whole_part(problem, request), &d, part, partial, scratch);
}

/* Returns the unbiased variance of the samples' gradients, from the mean of their squared norms
 * and their mean. Terms that all samples share do not change it; they are added later. */
static double sample_variance(const saddle_problem *problem, const saddle_request *r,
                              const saddle_part *p)
{
    double count = (double)r->batch.count;
    double mean = saddle_norm2(problem->x_dim, p->gx) + saddle_norm2(problem->y_dim, p->gy);
    if (r->batch.count < 2)
        return 0.0;
    double variance = (*p->square - mean) * (count / (count - 1.0));
    return variance < 0.0 ? 0.0 : variance;
}

SADDLE_KERNEL void saddle_add_linear_term(size_t count, double slope, const double *restrict y1,
                                          const double *restrict y0, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] += slope * (y1[k] - y0[k]);
}

/* Completes the request's outputs after all samples have been added. */
static void finish(const saddle_problem *problem, const saddle_request *r, saddle_part *p)
{
    bool linear = problem->add_samples != NULL && problem->y_curvature > 0.0 && p->x0 != NULL;
    if (p->square != NULL && !p->batch.groups)
        *p->square = sample_variance(problem, r, p);
    p->scale = 1.0;
    p->gy = linear ? NULL : p->gy;
    if (problem->add_samples != NULL && problem->add_common != NULL &&
        r->kind != SADDLE_REQUEST_STATISTIC)
        problem->add_common(problem, p);
    if (linear && r->kind == SADDLE_REQUEST_DIFFERENCE)
        saddle_add_linear_term(problem->y_dim, -problem->y_curvature, r->y, r->y0, r->gy);
    if (p->square != NULL && p->batch.groups)
        *p->square = sample_variance(problem, r, p);
}

void saddle_evaluate_add(const saddle_problem *problem, saddle_request *request,
                         const double *partials, size_t first, size_t last)
{
    saddle_part p = whole_part(problem, request);
    sums list = list_sums(problem, &p);
    size_t parts = divide(problem, &request->batch).parts;
    size_t stride = saddle_partial_size(problem, request);
    size_t begin = 0;
    for (size_t k = 0; k < list.count; k++) {
        size_t end = begin + list.length[k];
        size_t low = saddle_larger(first, begin);
        size_t high = last < end ? last : end;
        double *out = *list.at[k] + (low - begin);
        begin = end;
        if (low >= high)
            continue;
        memcpy(out, partials + low, (high - low) * sizeof *out);
        for (size_t part = 1; part < parts; part++)
            saddle_axpy(high - low, 1.0, partials + part * stride + low, out);
    }
}

void saddle_evaluate_end(const saddle_problem *problem, saddle_request *request)
{
    saddle_part p = whole_part(problem, request);
    finish(problem, request, &p);
}

void saddle_evaluate(const saddle_problem *problem, size_t agent, saddle_request *request,
                     double *scratch)
{
    if (request->kind == SADDLE_REQUEST_NONE)
        return;
    saddle_part p = whole_part(problem, request);
    sums list = list_sums(problem, &p);
    division d = divide(problem, &request->batch);
    double *rest = d.parts > 1 ? scratch + saddle_partial_size(problem, request) : scratch;
    begin_entries(problem, request, &p);
    clear_sums(&list);
    add_part(problem, agent, &p, 0, d.samples, rest);
    for (size_t part = 1; part < d.parts; part++) {
        sum_part(problem, agent, p, &d, part, scratch, rest);
        take_partial(&list, scratch);
    }
    finish(problem, request, &p);
}

/* ---- by samples ------------------------------------------------------------------------------ */

void saddle_evaluate_samples(const saddle_problem *problem, size_t agent, saddle_request *request,
                             size_t first, size_t last, double *along, double *scratch)
{
    uint32_t sample[SADDLE_MOST_ALONG];
    uint32_t place[SADDLE_MOST_ALONG];
    double found[SADDLE_MOST_ALONG];
    saddle_part p = whole_part(problem, request);
    size_t count = 0;
    for (size_t k = 0; k < request->batch.count; k++) {
        size_t j = request->batch.index[k];
        sample[count] = (uint32_t)j;
        place[count] = (uint32_t)k;
        count += j >= first && j < last;
    }
    if (count == 0)
        return;
    p.batch.index = sample;
    p.batch.count = count;
    p.along = found;
    for (size_t k = 0; k < count; k++)
        request->gy[sample[k]] = 0.0;
    problem->add_samples(problem, agent, &p, scratch);
    for (size_t k = 0; k < count; k++)
        along[place[k]] = found[k];
}

void saddle_evaluate_rows(const saddle_problem *problem, size_t agent, saddle_request *request,
                          const double *along)
{
    saddle_part p = whole_part(problem, request);
    memset(request->gx, 0, problem->x_dim * sizeof *request->gx);
    problem->add_rows(problem, agent, &p.batch, along, request->gx);
    finish(problem, request, &p);
}

/* ---- problems without add_samples() ---------------------------------------------------------- */

/* Returns the mean of the squared norms of one-sample gradients. */
static double mean_square(const saddle_problem *problem, size_t agent, const saddle_part *part,
                          double *sample, double *scratch)
{
    double sum = 0.0;
    for (size_t k = 0; k < part->batch.count; k++) {
        uint32_t index = (uint32_t)saddle_batch_sample(&part->batch, k);
        saddle_batch one = {.index = &index, .count = 1};
        problem->gradient(problem, agent, &one, part->x, part->y, sample, sample + problem->x_dim,
                          scratch);
        sum += saddle_norm2(problem->x_dim + problem->y_dim, sample);
    }
    return sum / (double)part->batch.count;
}

/* gx, gy += weight times the mean gradient at a point */
static void add_gradient(const saddle_problem *problem, size_t agent, const saddle_part *part,
                         const double *x, const double *y, double weight, double *scratch)
{
    double *gx = scratch;
    double *gy = gx + problem->x_dim;
    problem->gradient(problem, agent, &part->batch, x, y, gx, gy, gy + problem->y_dim);
    if (part->gx != NULL)
        saddle_axpy(problem->x_dim, weight, gx, part->gx);
    if (part->gy != NULL)
        saddle_axpy(problem->y_dim, weight, gy, part->gy);
}

void saddle_add_undivided(const saddle_problem *problem, size_t agent, const saddle_part *part,
                          double weight, double *scratch)
{
    if (part->gx != NULL || part->gy != NULL)
        add_gradient(problem, agent, part, part->x, part->y, weight, scratch);
    if (part->x0 != NULL)
        add_gradient(problem, agent, part, part->x0, part->y0, -weight, scratch);
    if (part->square != NULL)
        *part->square += weight * mean_square(problem, agent, part, scratch,
                                              scratch + problem->x_dim + problem->y_dim);
    if (part->value != NULL)
        *part->value += weight * problem->value(problem, agent, part->x, part->y, scratch);
    if (part->statistic != NULL && problem->response_size > 0) {
        problem->response_statistic(problem, agent, part->x, scratch,
                                    scratch + problem->response_size);
        saddle_axpy(problem->response_size, weight, scratch, part->statistic);
    }
}

/* ---- the public functions -------------------------------------------------------------------- */

size_t saddle_problem_scratch(const saddle_problem *problem)
{
    /* The sums of a part, or a gradient or statistic of a problem without add_samples(). */
    return problem->scratch + saddle_largest_partial(problem);
}

void saddle_problem_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                             const double *x, const double *y, double *gx, double *gy,
                             double *scratch)
{
    saddle_request r = {
        .kind = SADDLE_REQUEST_GRADIENT, .batch = *batch, .x = x, .y = y, .gx = gx, .gy = gy};
    saddle_evaluate(problem, agent, &r, scratch);
}

void saddle_problem_difference(const saddle_problem *problem, size_t agent,
                               const saddle_batch *batch, const double *x1, const double *y1,
                               const double *x0, const double *y0, double *dx, double *dy,
                               double *scratch)
{
    saddle_request r = {.kind = SADDLE_REQUEST_DIFFERENCE,
                        .batch = *batch,
                        .x = x1,
                        .y = y1,
                        .x0 = x0,
                        .y0 = y0,
                        .gx = dx,
                        .gy = dy};
    saddle_evaluate(problem, agent, &r, scratch);
}

double saddle_problem_gradient_variance(const saddle_problem *problem, size_t agent,
                                        const saddle_batch *batch, const double *x, const double *y,
                                        double *gx, double *gy, double *scratch)
{
    saddle_request r = {
        .kind = SADDLE_REQUEST_VARIANCE, .batch = *batch, .x = x, .y = y, .gx = gx, .gy = gy};
    saddle_evaluate(problem, agent, &r, scratch);
    return r.variance;
}

double saddle_problem_value(const saddle_problem *problem, size_t agent, const double *x,
                            const double *y, double *scratch)
{
    saddle_request r = {
        .kind = SADDLE_REQUEST_VALUE, .batch = {.count = problem->samples[agent]}, .x = x, .y = y};
    saddle_evaluate(problem, agent, &r, scratch);
    return r.value;
}

void saddle_problem_statistic(const saddle_problem *problem, size_t agent, const double *x,
                              double *statistic, double *scratch)
{
    saddle_request r = {.kind = SADDLE_REQUEST_STATISTIC,
                        .batch = {.count = problem->samples[agent]},
                        .x = x,
                        .statistic = statistic};
    saddle_evaluate(problem, agent, &r, scratch);
}
