/* How many threads a run uses by default. */
#include "engines/local_agents.h"
#include "instances.h"
#include "support.h"

static size_t count_of(const char *const *settings, size_t published)
{
    saddle_error error;
    saddle_plan *plan = test_plan(NULL, settings);
    saddle_instance *instance = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    size_t count = saddle_worker_count(instance, published);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return count;
}

/* Doubles divided by 10,000, rounded up: agents x (span x (degree + 2) + samples x dim x). */
TEST(workers_have_enough_to_do)
{
    static const char *const tiny[] = {"problem=quadratic", "agents=4", "samples=12", "x-dim=4",
                                       NULL};
    ck_assert_uint_eq(count_of(tiny, 14), 1);
    /* 6 x (1000 x 4 + 12 x 10) = 24,720 */
    static const char *const medium[] = {"problem=quadratic", "agents=6",      "samples=12",
                                         "x-dim=10",          "topology=ring", NULL};
    ck_assert_uint_eq(count_of(medium, 1000), 3);
    /* Of 500 samples, 128 count: 6 x (100 x 4 + 128 x 50) = 40,800. */
    static const char *const many[] = {"problem=quadratic", "agents=6",      "samples=500",
                                       "x-dim=50",          "topology=ring", NULL};
    ck_assert_uint_eq(count_of(many, 100), 5);
    /* More than agents: 4 x (1,000,000 x 5 + 12 x 4) = 20,000,192 with the complete graph of 4 agents. */
    ck_assert_uint_eq(count_of(tiny, 1000000), 1024);
}
