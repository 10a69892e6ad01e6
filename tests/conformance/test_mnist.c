/*
 * AUC on MNIST itself, digits 5-9 against 0-4: a network ranks held-out images better than a linear
 * score does. Needs the 10,000-image part in $SADDLE_DATA; skipped without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

/* Five agents train on the first 8,000 images; the other 2,000 are held out. */
enum { IMAGES = 10000, TRAIN = 8000, HELD_OUT = IMAGES - TRAIN };

/* Returns the share of pairs in the right order, ties counted half, pair by pair. */
static double count_pairs(const saddle_dataset *data, const double *score)
{
    double won = 0.0;
    double pairs = 0.0;
    for (size_t p = 0; p < data->rows; p++)
        for (size_t n = 0; n < data->rows; n++)
            if (data->label[p] > 0.0 && data->label[n] < 0.0) {
                pairs += 1.0;
                won += score[p] > score[n] ? 1.0 : score[p] == score[n] ? 0.5 : 0.0;
            }
    return won / pairs;
}

static saddle_dataset *held_out_images(const char *path)
{
    saddle_error error = {.message = ""};
    saddle_dataset *all = NULL;
    saddle_dataset *rest = NULL;
    size_t row[HELD_OUT];
    assert_ok(saddle_dataset_load(&all, path, NULL, 0, &error), error);
    ck_assert_uint_eq(all->rows, IMAGES);
    ck_assert_uint_eq(all->features, 784);
    for (size_t k = 0; k < HELD_OUT; k++)
        row[k] = TRAIN + k;
    assert_ok(saddle_dataset_select(&rest, all, row, HELD_OUT, &error), error);
    assert_ok(saddle_dataset_label(rest, "5-9", &error), error);
    saddle_dataset_free(all);
    return rest;
}

/* Returns the AUC of PRECISION's score on the held-out images after some passes over the data. */
static double held_out_auc(const char *path, const char *score, const char *tau,
                           const saddle_dataset *images)
{
    char data[4200];
    char model[64];
    char budget[64];
    saddle_error error = {.message = ""};
    saddle_snprintf(data, sizeof data, "data=%s", path);
    saddle_snprintf(model, sizeof model, "score=%s", score);
    saddle_snprintf(budget, sizeof budget, "max-ifo=%d", 25 * TRAIN);
    const char *const assignment[] = {
        "problem=auc",       data, model,  "partition=contiguous", "agents=5",      "samples=1600",
        "iterations=100000", tau,  budget, "trace-every=100000",   "positive=auto", NULL};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    ck_assert_ptr_null(instance->mean); /* its columns stay as they are */
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_IFO);
    ck_assert_str_eq(test_text(&result->plan, "positive"), "5-9");
    const saddle_problem *problem = instance->problem;
    double *scores = test_doubles(images->rows);
    assert_ok(problem->scores(problem, images, result->x_mean, result->y_mean, scores, &error),
              error);
    double auc = count_pairs(images, scores);
    saddle_fprintf(stdout, "MNIST, %s: held-out AUC %.4f after %llu IFO calls, %.1f s\n", score,
                   auc, (unsigned long long)result->cost.ifo,
                   result->rows[result->row_count - 1].seconds);
    free(scores);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return auc;
}

TEST(a_network_ranks_unseen_digits_better_than_a_line)
{
    const char *found = saddle_test_data("t10k-images-idx3-ubyte.gz");
    if (found == NULL)
        found = saddle_test_data("t10k-images-idx3-ubyte");
    if (found == NULL) {
        saddle_test_skip("MNIST's t10k-images-idx3-ubyte is not in $SADDLE_DATA");
        return;
    }
    char path[4096];
    saddle_snprintf(path, sizeof path, "%s", found);
    saddle_dataset *images = held_out_images(path);
    double linear = held_out_auc(path, "linear", "tau=20", images);
    double network = held_out_auc(path, "mlp:64", "tau=5", images);
    /* Both have learned something, and the difference is not a coincidence of 2,000 images. */
    assert_at_most(0.85, linear);
    assert_at_most(linear + 0.02, network);
    saddle_dataset_free(images);
}
