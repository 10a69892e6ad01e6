/* Gradients of all agents of a round at once: the same bits as gradient(), one call per round, on the
 * caller's thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instances.h"
#include "support.h"

/* What the problem has observed. */
typedef struct seen {
    pthread_t caller;
    size_t calls;
    size_t points;
    bool elsewhere; /* a call came from another thread */
} seen;

/* Computes mean gradients point by point, with the problem without gradients(). */
static void gradients(const saddle_problem *problem, const saddle_gradient_requests *requests)
{
    seen *s = problem->self;
    s->calls++;
    s->points += requests->count;
    s->elsewhere = s->elsewhere || !pthread_equal(pthread_self(), s->caller);
    for (size_t k = 0; k < requests->count; k++) {
        size_t agent = requests->agent[k];
        size_t count = requests->start[k + 1] - requests->start[k];
        uint32_t index[64];
        ck_assert(k == 0 || requests->agent[k - 1] <= agent);
        ck_assert(count >= 1 && count <= sizeof index / sizeof *index);
        for (size_t j = 0; j < count; j++) {
            size_t sample = requests->sample[requests->start[k] + j];
            ck_assert_uint_lt(sample, problem->samples[agent]);
            index[j] = (uint32_t)sample;
        }
        saddle_batch batch = {.index = index, .count = count};
        problem->gradient(problem, agent, &batch, requests->x + k * problem->x_dim,
                          requests->y + k * problem->y_dim, requests->gx + k * problem->x_dim,
                          requests->gy + k * problem->y_dim, NULL);
    }
}

/* The same for requests in the memory of the engine cuda-host. */
static void card_gradients(const saddle_problem *problem, const saddle_card_requests *requests)
{
    seen *s = problem->self;
    size_t both = problem->x_dim + problem->y_dim;
    s->calls++;
    ck_assert(requests->stream == NULL && requests->points >= 1 && requests->points <= 2);
    for (size_t k = 0; k < requests->points * problem->agents; k++) {
        size_t i = k % problem->agents;
        const double *x = requests->point[k / problem->agents] + i * requests->stride;
        double *gx = requests->gradient[k / problem->agents] + i * both;
        saddle_batch batch = {.count = requests->count[i]};
        if (requests->sample != NULL)
            batch.index = requests->sample + i * requests->sample_stride;
        else
            ck_assert_uint_eq(batch.count, problem->samples[i]);
        problem->gradient(problem, i, &batch, x, x + problem->x_dim, gx, gx + problem->x_dim, NULL);
    }
}

static saddle_result *solve(const saddle_problem *problem, const char *algorithm,
                            const char *threads, const char *weights)
{
    saddle_plan plan;
    saddle_result *result;
    saddle_error error = {.message = ""};
    saddle_plan_defaults(&plan, sizeof plan);
    const char *const settings[][2] = {
        {threads != NULL ? "threads" : "engine", threads != NULL ? threads : "cuda-host"},
        {"algorithm", algorithm},
        {"agent-weights", weights},
        {"topology", "ring"},
        {"iterations", "40"},
        {"trace-every", "20"}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    assert_ok(saddle_solve(problem, &plan, &result, &error), error);
    saddle_plan_free(&plan);
    return result;
}

static void assert_same(const saddle_result *a, const saddle_result *b, const char *algorithm)
{
    bool same = a->local == b->local && a->row_count == b->row_count &&
                memcmp(a->x, b->x, a->local * a->x_dim * sizeof *a->x) == 0 &&
                memcmp(a->y, b->y, a->local * a->y_dim * sizeof *a->y) == 0 &&
                test_same_cost(&a->cost, &b->cost);
    ck_assert_msg(same, "%s: results differ", algorithm);
}

TEST(all_agents_at_once_have_the_bits_of_one_at_a_time)
{
    static const char *const threads[] = {"1", "3"};
    static const char *const weights[] = {"equal", "by-size"};
    size_t count;
    const saddle_algorithm *const *algorithm = saddle_algorithm_list(&count);
    for (size_t k = 0; k < 4 * count; k++) {
        const char *name = algorithm[k / 4]->name;
        const char *workers = threads[k % 2];
        const char *by = weights[k / 2 % 2];
        saddle_problem one = *test_own_problem();
        saddle_problem all = one;
        seen s = {.caller = pthread_self()};
        all.self = &s;
        all.gradients = gradients;
        saddle_result *expected = solve(&one, name, workers, by);
        saddle_result *result = solve(&all, name, workers, by);
        assert_same(result, expected, name);
        ck_assert(!s.elsewhere);
        saddle_result_free(expected);
        saddle_result_free(result);
    }
}

TEST(there_is_one_call_per_round)
{
    saddle_problem all = *test_own_problem();
    seen s = {.caller = pthread_self()};
    all.self = &s;
    all.gradients = gradients;
    /* The first gradients are requested at the start, agent by agent. */
    saddle_result_free(solve(&all, "prox-dsgda", "2", "equal"));
    ck_assert_uint_eq(s.calls, 40);
    ck_assert_uint_eq(s.points, 40 * all.agents);
    /* A recursive estimate requests differences, of two points each, except in every q-th iteration. */
    s = (seen){.caller = pthread_self()};
    saddle_result_free(solve(&all, "precision", "2", "equal"));
    ck_assert_uint_eq(s.calls, 40);
    ck_assert_uint_gt(s.points, 40 * all.agents);
    ck_assert_uint_lt(s.points, 80 * all.agents);
}

TEST(cards_have_the_bits_of_threads)
{
    static const char *const algorithm[] = {"precision", "prox-gt-sgda", "prox-dsgda"};
    static const char *const weights[] = {"equal", "by-size"};
    for (size_t k = 0; k < 6; k++) {
        saddle_problem one = *test_own_problem();
        saddle_problem card = one;
        seen s = {.caller = pthread_self()};
        card.self = &s;
        card.card_gradients = card_gradients;
        saddle_result *expected = solve(&one, algorithm[k / 2], "1", weights[k % 2]);
        saddle_result *result = solve(&card, algorithm[k / 2], NULL, weights[k % 2]);
        assert_same(result, expected, algorithm[k / 2]);
        ck_assert_uint_eq(s.calls, 40);
        saddle_result_free(expected);
        saddle_result_free(result);
    }
}

TEST(gradients_go_with_gradient)
{
    saddle_error error = {.message = ""};
    test_instance quadratic;
    test_instance_open(&quadratic, QUADRATIC_TINY, NULL);
    saddle_problem both = *quadratic.problem;
    both.gradients = gradients;
    ck_assert(both.add_samples != NULL);
    assert_refused(saddle_problem_check(&both, &error), error, SADDLE_BAD_INPUT, "gradients");
    both.gradients = NULL;
    both.card_gradients = card_gradients;
    assert_refused(saddle_problem_check(&both, &error), error, SADDLE_BAD_INPUT, "card_gradients");
    test_instance_close(&quadratic);
}
