/*
 * Models: scores recomputed in extended precision with separate loops, gradients by central differences
 * of those scores, sparse rows against the same rows in dense form, and AUC by counting pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "graph/search.h"
#include "instances.h"
#include "models/model.h"
#include "models/ranking.h"
#include "support.h"

enum { FEATURES = 9, ROWS = 300 };

static const struct {
    const char *score;
    const char *activation;
    size_t widths[4]; /* hidden layers, then 0 */
} kinds[] = {
    {"score=linear", "activation=relu", {0}},
    {"score=mlp:1", "activation=sigmoid", {1, 0}},
    {"score=mlp:7", "activation=relu", {7, 0}},
    {"score=mlp:5,3", "activation=tanh", {5, 3, 0}},
    {"score=mlp:4,6,2", "activation=elu", {4, 6, 2, 0}},
    {"score=mlp:3,8", "activation=sigmoid", {3, 8, 0}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct bench {
    saddle_plan *plan;
    saddle_model *model;
    saddle_dataset *data[2]; /* the same rows, sparse and dense */
    double *w[2];
    double *g[2];
    double *scratch;
    saddle_rng rng;
} bench;

static saddle_dataset *make_dense(const saddle_dataset *sparse)
{
    saddle_dataset *dense = calloc(1, sizeof *dense);
    ck_assert_ptr_nonnull(dense);
    *dense = (saddle_dataset){.rows = sparse->rows, .features = sparse->features};
    dense->label = sparse->label;
    dense->dense = test_doubles(sparse->rows * sparse->features);
    for (size_t row = 0; row < sparse->rows; row++)
        for (size_t e = sparse->row_start[row]; e < sparse->row_start[row + 1]; e++)
            dense->dense[row * sparse->features + sparse->column[e]] =
                saddle_entry_value(sparse, e);
    return dense;
}

/* Creates a model as problems do from their options. */
static saddle_status make_model(saddle_model **out, const saddle_plan *plan, size_t inputs,
                                saddle_error *error)
{
    static const saddle_option *const options[] = {&saddle_score_option, &saddle_activation_option,
                                                   NULL};
    saddle_model_choice choice;
    saddle_plan_read_own(plan, options, &choice);
    return saddle_model_create(out, &choice, inputs, error);
}

static void bench_open(bench *b, int kind)
{
    saddle_error error = {.message = ""};
    const char *const assignment[] = {kinds[kind].score, kinds[kind].activation, NULL};
    *b = (bench){.plan = test_plan(NULL, assignment)};
    assert_ok(saddle_dataset_generate(&b->data[0], ROWS, FEATURES, 4, &error), error);
    saddle_rng_init(&b->rng, 8, SADDLE_RNG_TEST, (uint64_t)kind, 0);
    b->data[0]->value = saddle_alloc_doubles(b->data[0]->nonzeros);
    for (size_t e = 0; e < b->data[0]->nonzeros; e++)
        b->data[0]->value[e] = saddle_rng_normal(&b->rng);
    b->data[1] = make_dense(b->data[0]);
    assert_ok(make_model(&b->model, b->plan, FEATURES, &error), error);
    for (int k = 0; k < 2; k++) {
        b->w[k] = test_doubles(b->model->parameters);
        b->g[k] = test_doubles(b->model->parameters);
        for (size_t p = 0; p < b->model->parameters; p++)
            b->w[k][p] = 0.7 * saddle_rng_normal(&b->rng);
    }
    b->scratch = test_doubles(b->model->scratch);
}

static void bench_close(bench *b)
{
    for (int k = 0; k < 2; k++) {
        free(b->w[k]);
        free(b->g[k]);
    }
    free(b->scratch);
    free(b->data[1]->dense);
    free(b->data[1]);
    saddle_dataset_free(b->data[0]);
    saddle_model_free(b->model);
    test_plan_free(b->plan);
}

static long double slow_activation(const char *name, long double z)
{
    if (strcmp(name, "activation=relu") == 0)
        return z > 0.0L ? z : 0.0L;
    if (strcmp(name, "activation=tanh") == 0)
        return tanhl(z);
    if (strcmp(name, "activation=elu") == 0)
        return z > 0.0L ? z : expm1l(z);
    return 1.0L / (1.0L + expl(-z));
}

/* h(w; a) of a dense row, unit by unit: (W_1, b_1, ...), W_l[in][out]. */
static long double slow_score(int kind, const long double *w, const double *row)
{
    long double in[16] = {0.0L};
    size_t inputs = FEATURES;
    for (size_t k = 0; k < FEATURES; k++)
        in[k] = row[k];
    for (size_t l = 0;; l++) {
        size_t width = kinds[kind].widths[l];
        size_t outputs = width > 0 ? width : 1;
        long double out[16] = {0.0L};
        for (size_t o = 0; o < outputs; o++) {
            out[o] = w[inputs * outputs + o];
            for (size_t k = 0; k < inputs; k++)
                out[o] += in[k] * w[k * outputs + o];
        }
        if (width == 0)
            return out[0];
        for (size_t o = 0; o < outputs; o++)
            in[o] = slow_activation(kinds[kind].activation, out[o]);
        w += (inputs + 1) * outputs;
        inputs = outputs;
    }
}

/* dh/dw[p] by central differences. */
static double slow_slope(int kind, long double *w, size_t p, const double *row)
{
    const long double step = 0x1p-22L;
    long double kept = w[p];
    w[p] = kept + step;
    long double above = slow_score(kind, w, row);
    w[p] = kept - step;
    long double below = slow_score(kind, w, row);
    w[p] = kept;
    return (double)((above - below) / (2.0L * step));
}

static long double *widen(size_t count, const double *v)
{
    long double *wide = calloc(count, sizeof *wide);
    ck_assert_ptr_nonnull(wide);
    for (size_t k = 0; k < count; k++)
        wide[k] = v[k];
    return wide;
}

TEST_LOOP(scores_are_the_formula, 0, KINDS)
{
    bench b;
    bench_open(&b, _i);
    long double *wide = widen(b.model->parameters, b.w[0]);
    double score[ROWS];
    for (int form = 0; form < 2; form++) {
        saddle_error error = {.message = ""};
        assert_ok(saddle_model_score(b.model, b.data[form], b.w[0], score, &error), error);
        for (size_t row = 0; row < ROWS; row++) {
            double expected = (double)slow_score(_i, wide, b.data[1]->dense + row * FEATURES);
            assert_near(score[row], expected, 1e-14 * (1.0 + fabs(expected)) * 10.0);
        }
    }
    free(wide);
    bench_close(&b);
}

/* Returns a block of rows, some of them repeated, or consecutive ones. */
static saddle_rows_block draw_block(bench *b, int form, bool gathered, uint32_t *index,
                                    size_t count)
{
    for (size_t k = 0; k < count; k++)
        index[k] = gathered ? (uint32_t)saddle_rng_below(&b->rng, ROWS) : (uint32_t)(k + 5);
    return (saddle_rows_block){.data = b->data[form],
                               .index = gathered ? index : NULL,
                               .first = gathered ? 0 : 5,
                               .count = count};
}

TEST_LOOP(gradients_are_slopes, 0, KINDS)
{
    bench b;
    bench_open(&b, _i);
    size_t parameters = b.model->parameters;
    long double *wide = widen(parameters, b.w[0]);
    for (int round = 0; round < 4; round++) {
        uint32_t index[SADDLE_MODEL_BLOCK];
        double h[SADDLE_MODEL_BLOCK];
        double c[SADDLE_MODEL_BLOCK];
        double square[SADDLE_MODEL_BLOCK];
        size_t count = round < 2 ? 6 : 1;
        saddle_rows_block block = draw_block(&b, round % 2, round >= 1, index, count);
        double *expected = test_doubles(parameters);
        for (size_t k = 0; k < count; k++)
            c[k] = saddle_rng_normal(&b.rng);
        for (size_t p = 0; p < parameters; p++)
            b.g[0][p] = expected[p] = saddle_rng_normal(&b.rng); /* backward() adds */
        b.model->forward(b.model, &block, b.w[0], h, b.scratch);
        b.model->backward(b.model, &block, b.w[0], c, b.g[0], square, b.scratch);
        for (size_t k = 0; k < count; k++) {
            double norm2 = 0.0;
            for (size_t p = 0; p < parameters; p++) {
                double slope =
                    c[k] * slow_slope(_i, wide, p, b.data[1]->dense + (size_t)index[k] * FEATURES);
                expected[p] += slope;
                norm2 += slope * slope;
            }
            assert_near(square[k], norm2, 1e-9 * norm2);
        }
        assert_at_most(test_farthest(parameters, b.g[0], expected),
                       1e-10 * (1.0 + test_largest(parameters, expected)));
        free(expected);
    }
    free(wide);
    bench_close(&b);
}

TEST_LOOP(two_points_are_two_calls, 0, KINDS)
{
    bench b;
    bench_open(&b, _i);
    size_t parameters = b.model->parameters;
    for (int round = 0; round < 4; round++) {
        uint32_t index[SADDLE_MODEL_BLOCK];
        double h[2][SADDLE_MODEL_BLOCK];
        double one[SADDLE_MODEL_BLOCK];
        double c[2][SADDLE_MODEL_BLOCK];
        saddle_rows_block block =
            draw_block(&b, round % 2, round >= 2, index, round == 0 ? 1 : SADDLE_MODEL_BLOCK);
        for (int point = 0; point < 2; point++) {
            memset(b.g[point], 0, parameters * sizeof(double));
            for (size_t k = 0; k < block.count; k++)
                c[point][k] = saddle_rng_normal(&b.rng);
        }
        double negative[SADDLE_MODEL_BLOCK];
        for (size_t k = 0; k < block.count; k++)
            negative[k] = -c[0][k];
        b.model->forward2(b.model, &block, b.w[1], b.w[0], h[1], h[0], b.scratch);
        b.model->backward2(b.model, &block, b.w[1], b.w[0], c[1], c[0], b.g[0], b.scratch);
        for (int point = 0; point < 2; point++) {
            b.model->forward(b.model, &block, b.w[point], one, b.scratch);
            assert_at_most(test_farthest(block.count, one, h[point]), 1e-14);
            b.model->backward(b.model, &block, b.w[point], point == 1 ? c[1] : negative, b.g[1],
                              NULL, b.scratch);
        }
        assert_at_most(test_farthest(parameters, b.g[0], b.g[1]),
                       1e-13 * (1.0 + test_largest(parameters, b.g[1])));
    }
    bench_close(&b);
}

TEST(initial_weights_follow_the_seed)
{
    static const char *const assignment[] = {"score=mlp:200,50", "activation=relu", NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_model *model = NULL;
    assert_ok(make_model(&model, plan, 100, &error), error);
    ck_assert_uint_eq(model->parameters, (size_t)101 * 200 + (size_t)201 * 50 + 51);
    double *w = test_doubles(model->parameters);
    double *again = test_doubles(model->parameters);
    model->initialize(model, 3, w);
    model->initialize(model, 3, again);
    ck_assert_mem_eq(w, again, model->parameters * sizeof *w);
    model->initialize(model, 4, again);
    ck_assert(memcmp(w, again, model->parameters * sizeof *w) != 0);
    double square = 0.0;
    for (size_t k = 0; k < (size_t)100 * 200; k++)
        square += w[k] * w[k];
    /* 20,000 squares of normal numbers: one standard deviation of their mean is 1%. */
    assert_near(square / (100.0 * 200.0) / (2.0 / 100.0), 1.0, 0.05);
    assert_near(test_largest(200, w + (size_t)100 * 200), 0.0, 0.0);
    free(again);
    free(w);
    saddle_model_free(model);
    test_plan_free(plan);
}

TEST(bad_models_are_refused)
{
    static const struct {
        const char *text;
        const char *part;
    } bad[] = {{"score=cubic", "cubic"},     {"score=mlp", "mlp"},
               {"score=mlp:", "mlp:"},       {"score=mlp:0", "mlp:0"},
               {"score=mlp:4,,5", "4,,5"},   {"score=mlp:4,", "mlp:4,"},
               {"score=mlp:x", "mlp:x"},     {"score=mlp:-3", "mlp:-3"},
               {"score=mlp:70000", "65536"}, {"score=mlp:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "16"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *const assignment[] = {bad[k].text, NULL};
        saddle_plan *plan = test_plan(NULL, assignment);
        saddle_error error = {.message = ""};
        saddle_model *model = NULL;
        assert_refused(make_model(&model, plan, 3, &error), error, SADDLE_BAD_INPUT, bad[k].part);
        ck_assert_ptr_null(model);
        test_plan_free(plan);
    }
}

TEST_LOOP(rows_may_lack_features_but_not_have_more, 0, KINDS)
{
    bench b;
    bench_open(&b, _i);
    saddle_error error = {.message = ""};
    double score[ROWS];
    double padded[ROWS];
    saddle_model *larger = NULL;
    assert_ok(make_model(&larger, b.plan, FEATURES + 2, &error), error);
    double *w = test_doubles(larger->parameters);
    /* The same weights, with two extra rows of W_1 that no entry uses. */
    size_t width = kinds[_i].widths[0] > 0 ? kinds[_i].widths[0] : 1;
    size_t common = FEATURES * width;
    for (size_t k = 0; k < larger->parameters; k++)
        w[k] = k < common ? b.w[0][k] : k < common + 2 * width ? 1e9 : b.w[0][k - 2 * width];
    for (int form = 0; form < 2; form++) {
        assert_ok(saddle_model_score(b.model, b.data[form], b.w[0], score, &error), error);
        assert_ok(saddle_model_score(larger, b.data[form], w, padded, &error), error);
        assert_at_most(test_farthest(ROWS, score, padded), 1e-14);
    }
    saddle_model *smaller = NULL;
    assert_ok(make_model(&smaller, b.plan, FEATURES - 1, &error), error);
    assert_refused(saddle_model_score(smaller, b.data[0], b.w[0], score, &error), error,
                   SADDLE_BAD_INPUT, "9 features");
    saddle_model_free(smaller);
    saddle_model_free(larger);
    free(w);
    bench_close(&b);
}

/* ---- ranking --------------------------------------------------------------------------------- */

static double auc_of(size_t count, const double *score, const double *label)
{
    double auc = 0.0;
    saddle_error error = {.message = ""};
    assert_ok(saddle_ranking_auc(count, score, label, &auc, &error), error);
    return auc;
}

TEST(auc_counts_pairs)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 2, SADDLE_RNG_TEST, 0, 0);
    for (size_t count = 2; count < 60; count++) {
        double score[60];
        double label[60];
        for (size_t k = 0; k < count; k++) {
            /* Few distinct scores: many ties. */
            score[k] = (double)saddle_rng_below(&rng, count % 2 == 0 ? 5 : 1000) - 2.0;
            label[k] = k == 0 || (k > 1 && saddle_rng_below(&rng, 3) == 0) ? 1.0 : -1.0;
        }
        double won = 0.0;
        double pairs = 0.0;
        for (size_t p = 0; p < count; p++)
            for (size_t n = 0; n < count; n++)
                if (label[p] > 0.0 && label[n] < 0.0) {
                    pairs += 1.0;
                    won += score[p] > score[n] ? 1.0 : score[p] == score[n] ? 0.5 : 0.0;
                }
        assert_near(auc_of(count, score, label), won / pairs, 0.0);
    }
}

TEST(auc_is_not_defined_everywhere)
{
    static const double score[] = {1.0, 2.0, 3.0};
    static const double broken[] = {1.0, (double)NAN, 3.0};
    static const double both[] = {1.0, -1.0, 1.0};
    static const double one[] = {1.0, 1.0, 1.0};
    static const double other[] = {-1.0, -1.0, -1.0};
    assert_near(auc_of(3, score, both), 0.5, 0.0);
    ck_assert(isnan(auc_of(3, broken, both)));
    ck_assert(isnan(auc_of(3, score, one)));
    ck_assert(isnan(auc_of(3, score, other)));
    ck_assert(isnan(auc_of(0, score, both)));
}

/* ---- averaging in the network ---------------------------------------------------------------- */

TEST(consensus_finds_the_mean)
{
    static const struct {
        const char *topology;
        size_t agents;
        size_t rounds; /* from agent 0 to the farthest one and back */
    } network[] = {{"complete", 1, 0}, {"complete", 9, 2}, {"path", 1000, 1998},
                   {"star", 17, 2},    {"ring", 25, 24},   {"grid:5x7", 35, 20}};
    for (size_t t = 0; t < sizeof network / sizeof *network; t++) {
        saddle_error error = {.message = ""};
        saddle_graph *graph = NULL;
        size_t agents = network[t].agents;
        double *value = test_doubles(agents);
        long double sum = 0.0L;
        double mean = NAN;
        size_t rounds = 0;
        assert_ok(saddle_graph_create(&graph, network[t].topology, agents, 1, &error), error);
        for (size_t i = 0; i < agents; i++) {
            value[i] = (double)((7 * i) % 11) / 11.0 + 0.01;
            sum += value[i];
        }
        assert_ok(saddle_consensus_mean(graph, value, &mean, &rounds, &error), error);
        assert_near(mean, (double)(sum / (long double)agents), 1e-14);
        ck_assert_uint_eq(rounds, network[t].rounds);
        saddle_graph_free(graph);
        free(value);
    }
}
