/*
 * Batches in parts: what problems add up over ranges of samples equals what single samples give, and the
 * parts of a request give the same bits in any order.
 */
#include <stdlib.h>
#include <string.h>

#include "core/sizes.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "problems/part_rows.h"
#include "support.h"

/* Instances large enough to be divided, each as it is and as one pool. */
static const int problems[] = {LOGISTIC_BOX_SPARSE,
                               LOGISTIC_SIMPLEX_SPARSE_UNEQUAL,
                               AUC_LINEAR_SPARSE_UNEQUAL,
                               AUC_MLP_DENSE,
                               FAIR_SPARSE,
                               GROUP_DRO_SPARSE_UNEQUAL,
                               FAIR_MLP_DENSE,
                               GROUP_DRO_MLP_DENSE,
                               REGRESSION_SQUARE_SPARSE_UNEQUAL,
                               REGRESSION_HUBER_DENSE,
                               POISONING_SPARSE,
                               QUADRATIC_NONCONVEX,
                               POLICY_SMALL};
enum { PROBLEMS = sizeof problems / sizeof *problems, CASES = 2 * PROBLEMS, MOST = 520 };

static const saddle_request_kind kinds[] = {
    SADDLE_REQUEST_GRADIENT,   SADDLE_REQUEST_VARIANCE,
    SADDLE_REQUEST_DIFFERENCE, SADDLE_REQUEST_BATCH_DIFFERENCE,
    SADDLE_REQUEST_VALUE,      SADDLE_REQUEST_STATISTIC,
    SADDLE_REQUEST_SURVEY};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The numbers of an answer to a request, in one block: gx, gy, statistic. */
typedef struct answer {
    saddle_request request;
    double *memory;
} answer;

typedef struct bench {
    test_instance instance;
    saddle_instance *pool;
    saddle_problem problem; /* with samples so costly that many parts pay off */
    size_t size;            /* of an answer's block */
    double *x[2], *y[2];
    double *scratch;
    double *partials;
    size_t partials_size;
    uint32_t index[MOST];
    saddle_rng rng;
} bench;

static void bench_open(bench *b, int which)
{
    static const char *const rows[] = {"data=synthetic:700:20", "agents=3", "samples=300,150,70",
                                       "topology=complete", NULL};
    saddle_error error = {.message = ""};
    int kind = problems[which / 2];
    bool drawn = kind == QUADRATIC_NONCONVEX || kind == POLICY_SMALL;
    test_instance_open(&b->instance, kind, drawn ? rows + 1 : rows);
    b->pool = NULL;
    if (which % 2 == 1)
        assert_ok(saddle_instance_pool(&b->pool, b->instance.made, &error), error);
    b->problem = b->pool != NULL ? *b->pool->problem : *b->instance.problem;
    b->problem.sample_cost = 1e12;
    b->size = b->problem.x_dim + b->problem.y_dim + b->problem.response_size;
    saddle_rng_init(&b->rng, 29, SADDLE_RNG_TEST, (uint64_t)which, 0);
    for (int k = 0; k < 2; k++) {
        b->x[k] = test_doubles(b->problem.x_dim);
        b->y[k] = test_doubles(b->problem.y_dim);
        test_point(&b->rng, b->instance.made->x_set, b->x[k]);
        test_point(&b->rng, b->instance.made->y_set, b->y[k]);
    }
    b->scratch = test_doubles(saddle_problem_scratch(&b->problem));
    b->partials_size = saddle_partials_size(
        &b->problem, saddle_sizes_largest(b->problem.agents, b->problem.samples));
    b->partials = test_doubles(b->partials_size);
}

static void bench_close(bench *b)
{
    for (int k = 0; k < 2; k++) {
        free(b->x[k]);
        free(b->y[k]);
    }
    free(b->scratch);
    free(b->partials);
    saddle_instance_free(b->pool);
    test_instance_close(&b->instance);
}

/* Creates a request whose answer is filled with NaN. */
static answer ask(const bench *b, saddle_request_kind kind, const saddle_batch *batch)
{
    answer a = {.memory = test_doubles(b->size)};
    for (size_t k = 0; k < b->size; k++)
        a.memory[k] = NAN;
    double *gy = a.memory + b->problem.x_dim;
    a.request = (saddle_request){.kind = kind,
                                 .batch = *batch,
                                 .x = b->x[0],
                                 .y = b->y[0],
                                 .x0 = b->x[1],
                                 .y0 = b->y[1],
                                 .gx = a.memory,
                                 .gy = gy,
                                 .statistic = gy + b->problem.y_dim,
                                 .variance = NAN,
                                 .value = NAN};
    return a;
}

/* Creates the next batch to test; false when there are no more. */
static bool next_batch(bench *b, size_t agent, int number, saddle_batch *out)
{
    size_t samples = b->problem.samples[agent];
    static uint64_t mark[MOST / 64 + 1];
    switch (number) {
    case 0:
        *out = (saddle_batch){.count = samples};
        return true;
    case 1:
        *out = (saddle_batch){.first = 3, .count = samples - 8};
        return true;
    case 2:
        *out = (saddle_batch){.first = samples - 1, .count = 1};
        return true;
    case 3:
        *out = (saddle_batch){.index = b->index, .count = samples - 1};
        saddle_rng_choose(&b->rng, samples, out->count, b->index, mark);
        return true;
    case 4:
        *out = (saddle_batch){.index = b->index, .count = samples, .repeats = true};
        for (size_t k = 0; k < samples; k++)
            b->index[k] = (uint32_t)saddle_rng_below(&b->rng, samples);
        return true;
    default:
        return false;
    }
}

static bool is_asked(const bench *b, saddle_request_kind kind)
{
    if (kind == SADDLE_REQUEST_BATCH_DIFFERENCE)
        return b->problem.y_curvature > 0.0;
    return kind != SADDLE_REQUEST_STATISTIC || b->problem.response_size > 0;
}

/* Computes an answer as a mean over answers for single samples; the variance in a second pass. */
static answer slow_answer(const bench *b, size_t agent, saddle_request_kind kind,
                          const saddle_batch *batch)
{
    answer mean = ask(b, kind, batch);
    size_t both = b->problem.x_dim + b->problem.y_dim;
    double share = 1.0 / (double)batch->count;
    memset(mean.memory, 0, b->size * sizeof(double));
    mean.request.value = mean.request.variance = 0.0;
    for (int pass = 0; pass < (kind == SADDLE_REQUEST_VARIANCE ? 2 : 1); pass++)
        for (size_t k = 0; k < batch->count; k++) {
            uint32_t j = (uint32_t)saddle_batch_sample(batch, k);
            saddle_batch one = {.index = &j, .count = 1};
            answer a = ask(b, kind, &one);
            saddle_evaluate(&b->problem, agent, &a.request, b->scratch);
            for (size_t c = 0; pass == 0 && c < b->size; c++)
                mean.memory[c] += isnan(a.memory[c]) ? 0.0 : share * a.memory[c];
            for (size_t c = 0; pass == 1 && c < both; c++)
                mean.request.variance += (a.memory[c] - mean.memory[c]) *
                                         (a.memory[c] - mean.memory[c]) /
                                         (double)(batch->count - 1);
            mean.request.value += share * a.request.value;
            free(a.memory);
        }
    return mean;
}

/* Compares answers; what a request does not write stays NaN. */
static void compare(const bench *b, const answer *found, const answer *expected)
{
    const saddle_request *r = &found->request;
    bool slope = r->kind != SADDLE_REQUEST_VALUE && r->kind != SADDLE_REQUEST_STATISTIC;
    bool survey = r->kind == SADDLE_REQUEST_SURVEY;
    bool statistic = (survey || !slope) && r->kind != SADDLE_REQUEST_VALUE;
    size_t length[] = {b->problem.x_dim, b->problem.y_dim, b->problem.response_size};
    bool answered[] = {slope, slope && !survey, statistic};
    size_t c = 0;
    for (size_t part = 0; part < 3; part++) {
        double size = test_largest(length[part], expected->memory + c);
        for (size_t k = 0; k < length[part]; k++, c++) {
            bool drawn = r->kind != SADDLE_REQUEST_BATCH_DIFFERENCE || part != 1;
            for (size_t j = 0; !drawn && j < r->batch.count; j++)
                drawn = saddle_batch_sample(&r->batch, j) == k;
            if (answered[part] && drawn)
                assert_near(found->memory[c], expected->memory[c], 1e-12 * size);
            else
                ck_assert(isnan(found->memory[c]));
        }
    }
    if (r->kind == SADDLE_REQUEST_VALUE)
        assert_near(r->value, expected->request.value,
                    1e-12 * (1.0 + fabs(expected->request.value)));
    double square = saddle_norm2(b->problem.x_dim + b->problem.y_dim, expected->memory);
    if (r->kind == SADDLE_REQUEST_VARIANCE && r->batch.count > 1)
        assert_near(r->variance, expected->request.variance,
                    1e-12 * (expected->request.variance + square));
}

TEST_LOOP(requests_are_means_over_samples, 0, CASES)
{
    bench b;
    bench_open(&b, _i);
    saddle_batch batch;
    for (size_t i = 0; i < b.problem.agents; i++)
        for (int n = 0; next_batch(&b, i, n, &batch); n++)
            for (size_t k = 0; k < KINDS; k++) {
                if (!is_asked(&b, kinds[k]))
                    continue;
                answer found = ask(&b, kinds[k], &batch);
                answer expected = slow_answer(&b, i, kinds[k], &batch);
                saddle_evaluate(&b.problem, i, &found.request, b.scratch);
                compare(&b, &found, &expected);
                free(found.memory);
                free(expected.memory);
            }
    bench_close(&b);
}

/* add_samples() over a batch that is cut anywhere gives the same sum. */
TEST_LOOP(ranges_add_up, 0, CASES)
{
    bench b;
    bench_open(&b, _i);
    const saddle_problem *problem = &b.problem;
    saddle_batch batch;
    for (size_t i = 0; i < problem->agents; i++)
        for (int n = 0; next_batch(&b, i, n, &batch); n++) {
            double value = 0.0;
            double square = 0.0;
            double whole_value = 0.0;
            double whole_square = 0.0;
            answer sum = ask(&b, SADDLE_REQUEST_GRADIENT, &batch);
            answer whole = ask(&b, SADDLE_REQUEST_GRADIENT, &batch);
            memset(sum.memory, 0, b.size * sizeof(double));
            memset(whole.memory, 0, b.size * sizeof(double));
            double *statistic[] = {sum.request.statistic, whole.request.statistic};
            saddle_part p = {.batch = batch,
                             .scale = 0.25,
                             .x = b.x[0],
                             .y = b.y[0],
                             .gx = whole.request.gx,
                             .gy = whole.request.gy,
                             .value = &whole_value,
                             .square = &whole_square,
                             .statistic = problem->response_size > 0 ? statistic[1] : NULL};
            problem->add_samples(problem, i, &p, b.scratch);
            p.gx = sum.request.gx;
            p.gy = sum.request.gy;
            p.value = &value;
            p.square = &square;
            p.statistic = problem->response_size > 0 ? statistic[0] : NULL;
            for (size_t begin = 0; begin < batch.count; begin += p.batch.count) {
                p.batch = batch;
                p.batch.count = 1 + (size_t)saddle_rng_below(&b.rng, batch.count - begin);
                p.batch.first += begin;
                if (batch.index != NULL)
                    p.batch.index += begin;
                problem->add_samples(problem, i, &p, b.scratch);
            }
            double size = test_largest(b.size, whole.memory);
            assert_at_most(test_farthest(b.size, sum.memory, whole.memory), 1e-12 * (1.0 + size));
            assert_near(value, whole_value, 1e-12 * (1.0 + fabs(whole_value)));
            assert_near(square, whole_square, 1e-12 * whole_square);
            free(sum.memory);
            free(whole.memory);
        }
    bench_close(&b);
}

TEST_LOOP(parts_in_any_order_have_the_same_bits, 0, CASES)
{
    bench b;
    bench_open(&b, _i);
    const saddle_problem *problem = &b.problem;
    saddle_batch batch;
    size_t most = 0;
    for (size_t i = 0; i < problem->agents; i++)
        for (int n = 0; next_batch(&b, i, n, &batch); n++)
            for (size_t k = 0; k < KINDS; k++) {
                if (!is_asked(&b, kinds[k]))
                    continue;
                answer one = ask(&b, kinds[k], &batch);
                answer many = ask(&b, kinds[k], &batch);
                saddle_request *r = &many.request;
                saddle_evaluate(problem, i, &one.request, b.scratch);
                size_t parts = saddle_parts_count(problem, &batch);
                size_t stride = saddle_partial_size(problem, r);
                uint32_t order[SADDLE_MOST_PARTS];
                uint64_t mark[2] = {0, 0};
                ck_assert_uint_le(parts, SADDLE_MOST_PARTS);
                ck_assert_uint_le(parts * stride, b.partials_size);
                most = parts > most ? parts : most;
                for (size_t c = 0; c < parts * stride; c++)
                    b.partials[c] = NAN;
                saddle_rng_choose(&b.rng, parts, parts, order, mark);
                saddle_evaluate_begin(problem, r);
                for (size_t p = 0; p < parts; p++)
                    saddle_evaluate_part(problem, i, r, order[p], b.partials + order[p] * stride,
                                         b.scratch);
                for (size_t left = 3; left-- > 0;)
                    saddle_evaluate_add(problem, r, b.partials, left * stride / 3,
                                        (left + 1) * stride / 3);
                saddle_evaluate_end(problem, r);
                ck_assert_mem_eq(one.memory, many.memory, b.size * sizeof(double));
                ck_assert_mem_eq(&one.request.value, &r->value, sizeof r->value);
                ck_assert_mem_eq(&one.request.variance, &r->variance, sizeof r->variance);
                free(one.memory);
                free(many.memory);
            }
    ck_assert_uint_ge(most, 4);
    bench_close(&b);
}

/* ---- how batches are divided ----------------------------------------------------------------- */

TEST(divisions_follow_the_sizes)
{
    static const size_t samples[] = {1000000};
    saddle_problem p = *test_own_problem();
    saddle_batch batch = {.count = 1000000};
    p.samples = samples;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), 1);
    bench b;
    bench_open(&b, 0);
    p = b.problem;
    /* Rows as in a9a: a few hundred make a part, however many workers there are. */
    p.sample_cost = 120.0;
    batch.count = 81;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), 1);
    batch.count = 6512;
    size_t parts = saddle_parts_count(&p, &batch);
    ck_assert_uint_ge(parts, 16);
    ck_assert_uint_le(parts, 6512 * 120 / 20000);
    /* Memory for the largest batch suffices for smaller ones, which may have more parts. */
    size_t falls = 0;
    size_t before = 1;
    for (batch.count = 1; batch.count < 20000; batch.count++) {
        parts = saddle_parts_count(&p, &batch);
        falls += parts < before;
        before = parts;
        ck_assert_uint_le(parts, saddle_parts_bound(&p, batch.count));
        ck_assert_uint_le(saddle_parts_bound(&p, batch.count),
                          saddle_parts_bound(&p, batch.count + 1));
    }
    ck_assert_uint_gt(falls, 0);
    batch.count = 200000;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), SADDLE_MOST_PARTS);
    /* Two parts must not share a sample that has its own entry. */
    ck_assert(p.y_curvature > 0.0);
    batch.repeats = true;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), 1);
    p.y_curvature = 0.0;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), SADDLE_MOST_PARTS);
    /* What is added up afterwards must be small compared with what a part computes. */
    p.y_dim = 1000000;
    batch.count = 50000;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), 1);
    /* Costly samples are divided, but not into single ones. */
    p = b.problem;
    p.sample_cost = 1e9;
    batch = (saddle_batch){.count = 81};
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), 2);
    batch.count = 63;
    ck_assert_uint_eq(saddle_parts_count(&p, &batch), 1);
    bench_close(&b);
}

/* Memory for all samples of a pool, which are processed in groups, suffices for any drawn batch, which is not. */
TEST(partials_fit_every_batch_of_a_pool)
{
    static const size_t samples[] = {10000};
    bench b;
    bench_open(&b, 1);
    saddle_problem p = b.problem;
    ck_assert(p.groups > 0);
    p.samples = samples;
    p.groups = 40;
    p.x_dim = 123;
    p.y_dim = 40;
    p.sample_cost = 120.0;
    size_t room = saddle_partials_size(&p, samples[0]);
    saddle_request r = {.kind = SADDLE_REQUEST_VARIANCE, .batch = {.index = b.index}};
    double out;
    r.gx = r.gy = &out;
    bool more_than_all = false;
    for (r.batch.count = 1; r.batch.count <= samples[0]; r.batch.count++) {
        size_t parts = saddle_parts_count(&p, &r.batch);
        more_than_all |= parts > saddle_parts_count(&p, &(saddle_batch){.count = samples[0]});
        ck_assert_uint_le(parts * saddle_partial_size(&p, &r), room);
    }
    ck_assert(more_than_all);
    bench_close(&b);
}

/* However many coordinates there are, there are few blocks. */
TEST(blocks_are_few)
{
    for (size_t x_dim = 1; x_dim < 20; x_dim++)
        for (size_t y_dim = 1; y_dim < 40000; y_dim++) {
            saddle_problem p = {.x_dim = x_dim, .y_dim = y_dim};
            saddle_blocks blocks = saddle_blocks_of(&p);
            ck_assert_uint_le(saddle_larger(blocks.x_count, blocks.y_count), SADDLE_MOST_BLOCKS);
        }
}

/* ---- a user-defined problem with add_samples() -------------------------------------------------- */

/* f_ij = (x_0 - j) y_0 + x_1 sin(j) - (1 + i) |y|^2 / 2 */
static void own_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    (void)problem, (void)scratch;
    for (size_t k = 0; k < part->batch.count; k++) {
        double j = (double)saddle_batch_sample(&part->batch, k);
        double bend = 1.0 + (double)agent;
        double g[] = {part->y[0], sin(j)};
        double u[] = {part->x[0] - j - bend * part->y[0], -bend * part->y[1]};
        if (part->square != NULL)
            *part->square += part->scale * (saddle_norm2(2, g) + saddle_norm2(2, u));
        if (part->value != NULL)
            *part->value +=
                part->scale * ((part->x[0] - j) * part->y[0] + part->x[1] * sin(j) -
                               0.5 * bend * (part->y[0] * part->y[0] + part->y[1] * part->y[1]));
        if (part->x0 != NULL) {
            g[0] -= part->y0[0];
            g[1] = 0.0;
            u[0] = part->x[0] - part->x0[0] - bend * (part->y[0] - part->y0[0]);
            u[1] = -bend * (part->y[1] - part->y0[1]);
        }
        for (size_t c = 0; c < 2; c++) {
            if (part->gx != NULL)
                part->gx[c] += part->scale * g[c];
            if (part->gy != NULL)
                part->gy[c] += part->scale * u[c];
        }
    }
}

/* The same for complete batches. */
static void own_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                         const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    saddle_part p = {
        .batch = *batch, .scale = 1.0 / (double)batch->count, .x = x, .y = y, .gx = gx, .gy = gy};
    memset(gx, 0, 2 * sizeof *gx);
    memset(gy, 0, 2 * sizeof *gy);
    own_samples(problem, agent, &p, scratch);
}

static double own_value(const saddle_problem *problem, size_t agent, const double *x,
                        const double *y, double *scratch)
{
    double value = 0.0;
    saddle_part p = {.batch = {.count = problem->samples[agent]},
                     .scale = 1.0 / (double)problem->samples[agent],
                     .x = x,
                     .y = y,
                     .value = &value};
    own_samples(problem, agent, &p, scratch);
    return value;
}

/* The same solution, whichever functions the problem has, alone and in a pool. */
TEST(own_problems_may_have_either)
{
    static const size_t samples[] = {200, 90, 41};
    static const char *const algorithms[] = {"precision", "precision+", "gda", "sgda"};
    const char *const more[] = {"iterations=60", "tau=5", "alpha=0.1", "y-set=box:-3:3", NULL};
    saddle_problem divided = {.name = "own",
                              .x_dim = 2,
                              .y_dim = 2,
                              .agents = 3,
                              .samples = samples,
                              .add_samples = own_samples,
                              .sample_cost = 1e6};
    saddle_problem undivided = divided;
    undivided.add_samples = NULL;
    undivided.gradient = own_gradient;
    undivided.value = own_value;
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        double metric[2];
        double loss[2];
        for (int way = 0; way < 2; way++) {
            saddle_error error = {.message = ""};
            saddle_plan *plan = test_plan(NULL, more);
            saddle_instance *instance = NULL;
            saddle_result *result = NULL;
            assert_ok(saddle_plan_set(plan, "algorithm", algorithms[a], &error), error);
            plan->problem.own = way == 0 ? &divided : &undivided;
            assert_ok(saddle_instance_create(&instance, plan, &error), error);
            assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
            metric[way] = result->rows[result->row_count - 1].metric;
            loss[way] = result->rows[result->row_count - 1].loss;
            saddle_result_free(result);
            saddle_instance_free(instance);
            test_plan_free(plan);
        }
        assert_near(metric[0], metric[1], 1e-9 * (1.0 + fabs(metric[1])));
        assert_near(loss[0], loss[1], 1e-9 * (1.0 + fabs(loss[1])));
    }
}
