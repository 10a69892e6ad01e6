/*
 * The auc problem: its primal function against the loss over all pairs, its share of positives, its
 * outcomes against counting, and the AUC on real data if they are available.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "core/vector.h"
#include "instances.h"
#include "support.h"

/* The scores and labels of all agents' rows, and the weight of a row within F. */
typedef struct rows {
    size_t count;
    double *score;
    double *label;
    double *weight;
} rows;

static rows all_rows(const saddle_instance *e, const double *x)
{
    const saddle_problem *problem = e->problem;
    rows r = {.count = 0};
    for (size_t i = 0; i < problem->agents; i++)
        r.count += problem->samples[i];
    r.score = test_doubles(r.count);
    r.label = test_doubles(r.count);
    r.weight = test_doubles(r.count);
    size_t k = 0;
    for (size_t i = 0; i < problem->agents; i++) {
        saddle_error error = {.message = ""};
        assert_ok(problem->scores(problem, e->parts->shard[i], x, NULL, r.score + k, &error),
                  error);
        /* Scores are h from the middle between c1 and c2. */
        for (size_t j = 0; j < problem->samples[i]; j++)
            r.score[k + j] += 0.5 * (x[problem->x_dim - 2] + x[problem->x_dim - 1]);
        for (size_t j = 0; j < problem->samples[i]; j++, k++) {
            r.label[k] = e->parts->shard[i]->label[j];
            r.weight[k] = 1.0 / (double)(problem->agents * problem->samples[i]);
        }
    }
    return r;
}

static void rows_free(rows *r)
{
    free(r->score);
    free(r->label);
    free(r->weight);
}

/* The share of the pairs' weight, pair loss and AUC, pair by pair; all weights are one if `flat`. */
typedef struct pairs {
    double loss;
    double auc;
    double share; /* of positives */
} pairs;

static pairs count_pairs(const rows *r, bool flat)
{
    pairs p = {.loss = 0.0};
    double weight = 0.0;
    double all = 0.0;
    for (size_t a = 0; a < r->count; a++) {
        double wa = flat ? 1.0 : r->weight[a];
        all += wa;
        p.share += r->label[a] > 0.0 ? wa : 0.0;
        for (size_t b = 0; r->label[a] > 0.0 && b < r->count; b++) {
            if (r->label[b] > 0.0)
                continue;
            double w = wa * (flat ? 1.0 : r->weight[b]);
            double margin = 1.0 - r->score[a] + r->score[b];
            weight += w;
            p.loss += w * margin * margin;
            p.auc += w * (r->score[a] > r->score[b] ? 1.0 : r->score[a] == r->score[b] ? 0.5 : 0.0);
        }
    }
    p.loss /= weight;
    p.auc /= weight;
    p.share /= all;
    return p;
}

/* Sets c1 and c2 in x to the weighted class means, where F is smallest in them. */
static void set_centers(const rows *r, size_t x_dim, double *x)
{
    for (int side = 0; side < 2; side++) {
        double sum = 0.0;
        double weight = 0.0;
        for (size_t k = 0; k < r->count; k++)
            if ((r->label[k] > 0.0) == (side == 0)) {
                sum += r->weight[k] * r->score[k];
                weight += r->weight[k];
            }
        x[x_dim - 2 + (size_t)side] = sum / weight;
    }
}

/* The maximum of F(x, .) over y in R, with y* from the agents' mean statistic. */
static double primal_value(const saddle_instance *e, const double *x, double *scratch)
{
    const saddle_problem *problem = e->problem;
    saddle_error error = {.message = ""};
    saddle_set *line = NULL;
    double *own = test_doubles(problem->response_size);
    double *mean = test_doubles(problem->response_size);
    double sum = 0.0;
    double y;
    memset(mean, 0, problem->response_size * sizeof *mean);
    assert_ok(saddle_set_create(&line, "none", 1, &error), error);
    for (size_t i = 0; i < problem->agents; i++) {
        saddle_problem_statistic(problem, i, x, own, scratch);
        saddle_axpy(problem->response_size, 1.0 / (double)problem->agents, own, mean);
    }
    ck_assert(problem->response_solve(problem, x, mean, line, &y, scratch));
    for (size_t i = 0; i < problem->agents; i++)
        sum += saddle_problem_value(problem, i, x, &y, scratch);
    saddle_set_free(line);
    free(mean);
    free(own);
    return sum / (double)problem->agents;
}

TEST_LOOP(the_primal_is_the_loss_over_pairs, 0, 2)
{
    static const int instances[] = {AUC_LINEAR_SPARSE_UNEQUAL, AUC_MLP_DENSE};
    test_instance instance;
    test_instance_open(&instance, instances[_i], NULL);
    const saddle_problem *problem = instance.problem;
    double *x = test_doubles(problem->x_dim);
    double *scratch = test_doubles(saddle_problem_scratch(problem));
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, (uint64_t)_i, 0);
    for (int round = 0; round < 5; round++) {
        for (size_t k = 0; k < problem->x_dim; k++)
            x[k] = saddle_rng_normal(&rng);
        rows r = all_rows(instance.made, x);
        set_centers(&r, problem->x_dim, x);
        pairs p = count_pairs(&r, false);
        double expected = p.share * (1.0 - p.share) * (p.loss - 1.0);
        assert_near(primal_value(instance.made, x, scratch), expected,
                    1e-13 * (1.0 + fabs(expected)));
        rows_free(&r);
    }
    free(scratch);
    free(x);
    test_instance_close(&instance);
}

TEST(outcomes_count_pairs)
{
    test_instance instance;
    test_instance_open(&instance, AUC_LINEAR_SPARSE_UNEQUAL, NULL);
    const saddle_problem *problem = instance.problem;
    double *x = test_doubles(problem->x_dim);
    double y = 0.0;
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    saddle_rng rng;
    saddle_rng_init(&rng, 6, SADDLE_RNG_TEST, 0, 0);
    for (int round = 0; round < 5; round++) {
        /* In the first round all scores are equal. */
        for (size_t k = 0; round > 0 && k < problem->x_dim; k++)
            x[k] = saddle_rng_normal(&rng);
        rows r = all_rows(instance.made, x);
        pairs p = count_pairs(&r, true);
        ck_assert_uint_eq(test_outcomes(problem, NULL, x, &y, out), 2);
        ck_assert_str_eq(out[0].name, "auc");
        ck_assert_str_eq(out[1].name, "pair_loss");
        assert_near(out[0].value, p.auc, 1e-14);
        assert_near(out[1].value, p.loss, 1e-12 * (1.0 + p.loss));
        rows_free(&r);

        /* Held-out rows: those of one agent. */
        const saddle_dataset *held_out = instance.made->parts->shard[1];
        r = (rows){.count = held_out->rows, .label = held_out->label};
        r.score = test_doubles(r.count);
        saddle_error error = {.message = ""};
        assert_ok(problem->scores(problem, held_out, x, NULL, r.score, &error), error);
        p = count_pairs(&r, true);
        ck_assert_uint_eq(test_outcomes(problem, held_out, x, &y, out), 2);
        assert_near(out[0].value, p.auc, 1e-14);
        assert_near(out[1].value, p.loss, 1e-12 * (1.0 + p.loss));
        free(r.score);
    }
    saddle_dataset wide = *instance.made->parts->shard[1];
    wide.features++;
    size_t count = 1;
    saddle_error error = {.message = ""};
    assert_refused(problem->outcomes(problem, &(saddle_outcome_rows){.held_out = &wide}, x, &y, out,
                                     &count, &error),
                   error, SADDLE_BAD_INPUT, "features");
    ck_assert_uint_eq(count, 0);
    free(x);
    test_instance_close(&instance);
}

TEST(the_start_is_that_of_the_model)
{
    test_instance instance;
    test_instance_open(&instance, AUC_MLP_DENSE, NULL);
    const saddle_problem *problem = instance.problem;
    double *x[3];
    double y = 1.0;
    for (int k = 0; k < 3; k++) {
        x[k] = test_doubles(problem->x_dim);
        problem->start(problem, k == 2 ? 8 : 7, x[k], &y);
        assert_near(y, 0.0, 0.0);
        assert_near(test_largest(2, x[k] + problem->x_dim - 2), 0.0, 0.0);
    }
    ck_assert(test_largest(problem->x_dim, x[0]) > 0.0);
    ck_assert_mem_eq(x[0], x[1], problem->x_dim * sizeof(double));
    ck_assert(test_farthest(problem->x_dim, x[0], x[2]) > 0.0);
    for (int k = 0; k < 3; k++)
        free(x[k]);
    test_instance_close(&instance);
}

static saddle_instance *make_instance(const char *const *assignment)
{
    saddle_error error = {.message = ""};
    saddle_instance *instance = NULL;
    saddle_plan *plan = test_plan(NULL, assignment);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    test_plan_free(plan);
    return instance;
}

TEST(the_share_can_be_given)
{
    static const char *const assignment[] = {"problem=auc",   "data=synthetic:60:20",
                                             "agents=3",      "positive-share=0.125",
                                             "topology=path", NULL};
    saddle_instance *e = make_instance(assignment);
    assert_near(e->constants.strong_concavity, 2.0 * 0.125 * 0.875, 0.0);
    saddle_instance_free(e);
}

TEST(bad_shares_and_scores_are_refused)
{
    static const struct {
        const char *assignment[7];
        const char *part;
    } bad[] = {
        {{"problem=auc", "data=synthetic:60:20", "positive-share=1"}, "share of positives is 1"},
        {{"problem=auc", "data=synthetic:60:20", "score=mlp:4,0"}, "mlp:4,0"},
        {{"problem=auc", "data=synthetic:60:20", "score=tree"}, "tree"},
        {{"problem=auc", "data=@dense", "agents=1", "samples=1", "topology=complete",
          "partition=contiguous"},
         "both classes"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_plan *plan = test_plan(NULL, bad[k].assignment);
        assert_plan_refused(plan, bad[k].part);
    }
}

/* ---- AUC after training ------------------------------------------------------------------------ */

/* Runs, and computes the AUC on the agents' rows and on held-out ones. */
static void train(const char *const *assignment, const saddle_dataset *held_out, double *own,
                  double *other)
{
    saddle_error error = {.message = ""};
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    saddle_result *result = NULL;
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *e = make_instance(assignment);
    assert_ok(saddle_run(e, plan, NULL, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
    test_outcomes(e->problem, NULL, result->x_mean, result->y_mean, out);
    *own = out[0].value;
    test_outcomes(e->problem, held_out, result->x_mean, result->y_mean, out);
    *other = out[0].value;
    saddle_result_free(result);
    saddle_instance_free(e);
    test_plan_free(plan);
}

TEST(a9a_is_ranked)
{
    static const char *const assignment[] = {
        "problem=auc",     "data=a9a",     "agents=5",         "topology=er:0.6",
        "iterations=2000", "init-x=zeros", "trace-every=2000", NULL};
    if (saddle_test_data("a9a") == NULL || saddle_test_data("a9a.t") == NULL) {
        saddle_test_skip("a9a and a9a.t are not in $SADDLE_DATA");
        return;
    }
    saddle_error error = {.message = ""};
    saddle_dataset *held_out = NULL;
    double own;
    double other;
    assert_ok(saddle_dataset_load(&held_out, "a9a.t", NULL, 0, &error), error);
    assert_ok(saddle_dataset_make_binary(held_out, NULL, &error), error);
    train(assignment, held_out, &own, &other);
    saddle_fprintf(stdout, "a9a, linear: AUC %.4f, held out %.4f\n", own, other);
    assert_at_most(0.895, own);
    assert_at_most(0.895, other);
    saddle_dataset_free(held_out);
}

/*
 * Two features; positive where their signs agree. Every point comes with its reflections, so that the
 * scores of both classes are symmetric about the bias and any linear score has an AUC of one half.
 */
TEST(networks_rank_what_lines_cannot)
{
    char path[4096];
    char data[4200];
    saddle_snprintf(path, sizeof path, "%s/signs.csv", saddle_test_directory());
    saddle_snprintf(data, sizeof data, "data=%s", path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    saddle_rng rng;
    saddle_rng_init(&rng, 12, SADDLE_RNG_TEST, 0, 0);
    for (int row = 0; row < 100; row++) {
        double a = saddle_rng_normal(&rng);
        double b = saddle_rng_normal(&rng);
        for (int k = 0; k < 4; k++, b = -b) {
            a = k == 2 ? -a : a;
            saddle_fprintf(file, "%.17g,%.17g,%d\n", a, b, a * b > 0.0 ? 1 : -1);
        }
    }
    ck_assert_int_eq(fclose(file), 0);
    double auc[2];
    double same;
    for (int k = 0; k < 2; k++) {
        const char *const assignment[] = {"problem=auc",
                                          data,
                                          k == 0 ? "score=linear" : "score=mlp:16",
                                          "agents=4",
                                          "topology=ring",
                                          "iterations=2000",
                                          "init-x=normal:0.5",
                                          "trace-every=2000",
                                          NULL};
        saddle_instance *e = make_instance(assignment);
        train(assignment, e->parts->shard[0], &auc[k], &same);
        saddle_instance_free(e);
    }
    saddle_fprintf(stdout, "signs: AUC %.4f linear, %.4f mlp:16\n", auc[0], auc[1]);
    assert_near(auc[0], 0.5, 1e-12);
    assert_at_most(0.95, auc[1]);
}
