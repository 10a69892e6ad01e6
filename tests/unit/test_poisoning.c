/*
 * The problem poisoning: its outcomes against a slow recount, which agents are poisoned, and what the
 * adversary achieves on the real a9a.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

static double entry(const saddle_dataset *data, size_t row, size_t column)
{
    if (data->dense != NULL)
        return data->dense[row * data->features + column];
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        if (data->column[k] == column)
            return saddle_entry_value(data, k);
    return 0.0;
}

/* Computes mean loss and accuracy over the rows of the marked data sets, shifted by x (NULL: not shifted). */
static void recount(const saddle_dataset *const *data, size_t count, const bool *mark,
                    const double *x, const double *y, double out[2])
{
    double rows = 0.0;
    double loss = 0.0;
    double correct = 0.0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; mark[i] && j < data[i]->rows; j++) {
            double score = y[data[i]->features];
            for (size_t k = 0; k < data[i]->features; k++)
                score += y[k] * (entry(data[i], j, k) + (x != NULL ? x[k] : 0.0));
            rows += 1.0;
            loss += log1p(exp(-data[i]->label[j] * score));
            correct += data[i]->label[j] * score > 0.0;
        }
    out[0] = loss / rows;
    out[1] = correct / rows;
}

TEST_LOOP(outcomes_are_what_a_recount_finds, POISONING_SPARSE, POISONING_DENSE_UNEQUAL + 1)
{
    static const bool everyone[4] = {true, true, true, true};
    static const bool some[2][4] = {{true, true, false, false}, {false, true, false, true}};
    static const char *const names[] = {"clean_loss",        "clean_accuracy",
                                        "poisoned_loss",     "poisoned_accuracy",
                                        "perturbation_norm", "perturbation_bound"};
    test_instance instance;
    test_instance_open(&instance, _i, NULL);
    const saddle_problem *problem = instance.problem;
    const saddle_dataset *const *shard = (const saddle_dataset *const *)instance.made->parts->shard;
    saddle_rng rng;
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    double *x = test_doubles(problem->x_dim);
    double *y = test_doubles(problem->y_dim);
    for (int round = 0; round < 6; round++) {
        double expected[6];
        double square = 0.0;
        for (size_t k = 0; k < problem->x_dim; k++) {
            x[k] = saddle_rng_normal(&rng);
            square += x[k] * x[k];
        }
        for (size_t k = 0; k < problem->y_dim; k++)
            y[k] = saddle_rng_normal(&rng);
        /* Every other time on held-out rows, for which agent 0's are used. */
        bool held_out = round % 2 == 1;
        size_t count = held_out ? 1 : 4;
        recount(shard, count, everyone, NULL, y, expected);
        recount(shard, count, held_out ? everyone : some[_i - POISONING_SPARSE], x, y,
                expected + 2);
        expected[4] = sqrt(square);
        expected[5] = test_number(instance.plan, "perturbation");
        saddle_outcome out[SADDLE_MOST_OUTCOMES];
        ck_assert_uint_eq(test_outcomes(problem, held_out ? shard[0] : NULL, x, y, out), 6);
        for (size_t k = 0; k < 6; k++) {
            ck_assert_str_eq(out[k].name, names[k]);
            assert_near(out[k].value, expected[k], 1e-12);
        }
    }
    free(y);
    free(x);
    test_instance_close(&instance);
}

TEST(the_given_agents_are_poisoned)
{
    static const struct {
        const char *text;
        const char *poisoned;
    } list[] = {{"poisoned=0", "----"},
                {"poisoned=3", "+++-"},
                {"poisoned=4", "++++"},
                {"poisoned=agents:2", "--+-"},
                {"poisoned=agents:3,0", "+--+"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const char *more[] = {list[k].text, NULL};
        test_instance instance;
        test_instance_open(&instance, POISONING_SPARSE, more);
        const saddle_problem *problem = instance.problem;
        double *x = test_doubles(problem->x_dim);
        double *y = test_doubles(problem->y_dim);
        double *gx = test_doubles(problem->x_dim);
        double *gy = test_doubles(problem->y_dim);
        double *scratch = test_doubles(saddle_problem_scratch(problem));
        y[0] = 1.0;
        for (size_t i = 0; i < 4; i++) {
            saddle_batch all = {.index = NULL, .count = problem->samples[i]};
            saddle_problem_gradient(problem, i, &all, x, y, gx, gy, scratch);
            ck_assert_msg((gx[0] != 0.0) == (list[k].poisoned[i] == '+'), "%s, agent %zu",
                          list[k].text, i);
        }
        saddle_outcome out[SADDLE_MOST_OUTCOMES];
        test_outcomes(problem, NULL, x, y, out);
        ck_assert_int_eq(isnan(out[3].value), k == 0);
        ck_assert_str_eq(saddle_set_text(instance.made->x_set), problem->x_set);
        free(scratch);
        free(gy);
        free(gx);
        free(y);
        free(x);
        test_instance_close(&instance);
    }
}

TEST(bad_settings_are_refused)
{
    static const char *const bad[] = {"5",       "-1",         "1.5",         "",
                                      "agents:", "agents:4",   "agents:1,,2", "agents:1,",
                                      "some",    "agents:1,1", "agents:2,0,2"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[64];
        saddle_snprintf(text, sizeof text, "poisoned=%s", bad[k]);
        const char *assignment[] = {"problem=poisoning", "data=synthetic:60:20", "agents=4", text,
                                    NULL};
        saddle_plan *plan = test_plan(NULL, assignment);
        char part[64];
        saddle_snprintf(part, sizeof part, "'%s' is not valid", bad[k]);
        assert_plan_refused(plan, part);
    }
}

/* ---- the real a9a ---------------------------------------------------------------------------- */

/* Held-out outcomes after 2000 iterations of PRECISION on a9a with one agent of five poisoned. */
static void train(const char *perturbation, const char *poisoned, double out[6])
{
    const char *assignment[] = {"problem=poisoning",
                                "algorithm=precision",
                                "data=a9a",
                                "test-data=a9a.t",
                                "agents=5",
                                "topology=er:0.6",
                                "iterations=2000",
                                "trace-every=1000",
                                perturbation,
                                poisoned,
                                NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    ck_assert_uint_eq(result->outcome_count, 12);
    ck_assert_str_eq(result->outcome[6].name, "test_clean_loss");
    for (size_t k = 0; k < 6; k++)
        out[k] = saddle_result_outcome(result, result->outcome[6 + k].name);
    saddle_fprintf(
        stdout, "%-16s %s: held-out clean accuracy %.4f, poisoned %.4f, perturbation %.6g of %g\n",
        perturbation, poisoned, out[1], out[3], out[4], out[5]);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

TEST(the_adversary_harms_a9a_the_more_the_farther_it_reaches)
{
    static const char *const reach[] = {"perturbation=0.5", "perturbation=1", "perturbation=2"};
    if (saddle_test_data("a9a") == NULL || saddle_test_data("a9a.t") == NULL) {
        saddle_test_skip("a9a and a9a.t are not in $SADDLE_DATA");
        return;
    }
    double before[6];
    train("perturbation=1", "poisoned=0", before);
    ck_assert(before[1] > 0.84);
    for (size_t k = 0; k < sizeof reach / sizeof *reach; k++) {
        double now[6];
        train(reach[k], "poisoned=1", now);
        ck_assert(now[1] < before[1]);
        ck_assert(now[0] > before[0]);
        ck_assert(now[3] < now[1]);
        assert_near(now[4], now[5], 1e-9);
        memcpy(before, now, sizeof before);
    }
}
