/*
 * Every algorithm on every problem, stopped somewhere and resumed from its checkpoint with another
 * number of threads, reaches the same bits as an uninterrupted run: rows, means, all copies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/lab.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"
#include "thread_world.h"

#define ITERATIONS 40

/* Returns a new name for a directory of checkpoints. */
static const char *fresh_directory(void)
{
    static char path[5000];
    static int count;
    saddle_snprintf(path, sizeof path, "%s/checkpoints-%d", saddle_test_directory(), count++);
    return path;
}

/* Runs an instance with its own settings and `extra`. */
static saddle_result *run_instance(int which, const saddle_algorithm *algorithm,
                                   const char *const *extra, const saddle_hooks *hooks)
{
    char name[64];
    const char *more[MOST_SETTINGS] = {name, "trace-every=7", "q=6", "c-gamma=0.3"};
    const char *relaxed[MOST_SETTINGS];
    saddle_error error = {.message = ""};
    test_instance instance;
    saddle_result *result = NULL;
    saddle_snprintf(name, sizeof name, "algorithm=%s", algorithm->name);
    for (size_t k = 0; extra[k] != NULL; k++)
        more[4 + k] = extra[k];
    test_relax(algorithm, more, relaxed);
    test_instance_open(&instance, which, relaxed);
    assert_ok(saddle_run(instance.made, NULL, hooks, &result, &error), error);
    test_instance_close(&instance);
    return result;
}

/* Resumes from a directory with only its settings and some "name=value" texts. */
static saddle_status resume(int which, const char *directory, const char *const *extra,
                            saddle_result **out, saddle_error *error)
{
    saddle_instance *instance = NULL;
    saddle_plan defaults;
    *out = NULL;
    saddle_plan_defaults(&defaults,
                         sizeof defaults); /* what the checkpoint says is not overridden */
    saddle_plan *plan = test_plan(&defaults, extra);
    assert_ok(saddle_plan_set(plan, "resume", directory, error), *error);
    assert_ok(saddle_plan_resume(plan, NULL, error), *error);
    plan->problem.own = which == OWN_PROBLEM ? test_own_problem() : NULL;
    assert_ok(saddle_instance_create(&instance, plan, error), *error);
    saddle_status status = saddle_run(instance, NULL, NULL, out, error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return status;
}

static void assert_same(const saddle_result *a, const saddle_result *b)
{
    ck_assert_int_eq(a->stop, b->stop);
    ck_assert_uint_eq(a->row_count, b->row_count);
    for (size_t k = 0; k < a->row_count; k++) {
        saddle_row one = a->rows[k];
        saddle_row other = b->rows[k];
        one.seconds = 0.0;
        other.seconds = 0.0;
        const void *left = &one;
        const void *right = &other;
        ck_assert_msg(memcmp(left, right, sizeof one) == 0, "row of iteration %llu",
                      (unsigned long long)one.iteration);
    }
    ck_assert_int_eq(memcmp(a->x_mean, b->x_mean, a->x_dim * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(a->y_mean, b->y_mean, a->y_dim * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(a->x, b->x, a->agents * a->x_dim * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(a->y, b->y, a->agents * a->y_dim * sizeof(double)), 0);
    ck_assert_uint_eq(a->cost.ifo, b->cost.ifo);
    ck_assert_uint_eq(a->cost.bytes, b->cost.bytes);
}

static void free_all(saddle_result *a, saddle_result *b, saddle_result *c)
{
    saddle_result_free(a);
    saddle_result_free(b);
    saddle_result_free(c);
}

/* Stopped at a random iteration, twice. */
TEST_LOOP(a_resumed_run_has_the_same_bits, 0, INSTANCES)
{
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    saddle_rng rng;
    saddle_rng_init(&rng, 11, SADDLE_RNG_TEST, (uint64_t)_i, 0);
    for (size_t a = 0; a < algorithms; a++) {
        if (!test_chosen((size_t)_i, a))
            continue;
        saddle_error error = {.message = ""};
        const char *directory = fresh_directory();
        char place[5100];
        char first[64];
        char second[64];
        uint64_t stop = 1 + saddle_rng_below(&rng, ITERATIONS - 2);
        uint64_t later = stop + saddle_rng_below(&rng, ITERATIONS - stop);
        saddle_result *alone;
        saddle_result *begun;
        saddle_result *later_one;
        saddle_result *whole;
        saddle_snprintf(place, sizeof place, "checkpoint=%s", directory);
        saddle_snprintf(first, sizeof first, "iterations=%llu", (unsigned long long)stop);
        saddle_snprintf(second, sizeof second, "iterations=%llu", (unsigned long long)later);
        alone =
            run_instance(_i, list[a], (const char *[]){"threads=1", "iterations=40", NULL}, NULL);
        begun = run_instance(_i, list[a], (const char *[]){"threads=2", first, place, NULL}, NULL);
        assert_ok(
            resume(_i, directory, (const char *[]){"threads=3", second, NULL}, &later_one, &error),
            error);
        assert_ok(resume(_i, directory, (const char *[]){"threads=1", "iterations=40", NULL},
                         &whole, &error),
                  error);
        ck_assert_ptr_nonnull(strstr(whole->checkpoint, "0000000000000040.saddle"));
        assert_same(alone, whole);
        saddle_result_free(alone);
        free_all(begun, later_one, whole);
    }
}

/* Interrupts a run while it reports a row. */
typedef struct interrupter {
    uint64_t at;
    volatile sig_atomic_t flag;
} interrupter;

static void on_row(void *context, const saddle_row *row)
{
    interrupter *self = context;
    self->flag = row->iteration >= self->at;
}

TEST(an_interrupt_while_measuring_repeats_no_row)
{
    const saddle_algorithm *algorithm = NULL;
    saddle_error error = {.message = ""};
    const char *directory = fresh_directory();
    char place[5100];
    saddle_snprintf(place, sizeof place, "checkpoint=%s", directory);
    assert_ok(saddle_algorithm_find(&algorithm, "precision", &error), error);
    interrupter self = {.at = 14};
    saddle_hooks hooks = {.context = &self, .row = on_row, .interrupt = &self.flag};
    saddle_result *alone =
        run_instance(QUADRATIC_NONCONVEX, algorithm, (const char *[]){"iterations=40", NULL}, NULL);
    saddle_result *part = run_instance(QUADRATIC_NONCONVEX, algorithm,
                                       (const char *[]){"iterations=40", place, NULL}, &hooks);
    saddle_result *whole = NULL;
    ck_assert_int_eq(part->stop, SADDLE_STOP_INTERRUPTED);
    ck_assert_uint_eq(part->row_count, 3);
    ck_assert_uint_eq(part->rows[2].iteration, 14);
    assert_ok(resume(QUADRATIC_NONCONVEX, directory, (const char *[]){NULL}, &whole, &error),
              error);
    assert_same(alone, whole);
    free_all(alone, part, whole);
}

/* Returns whether a limit on IFO calls cuts this algorithm's inner loops short. */
static bool has_inner_loops(const saddle_algorithm *algorithm)
{
    static const char *const names[] = {"dppsp", "minimax-ppa", "sreda", "sreda-boost"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], algorithm->name) == 0)
            return true;
    return false;
}

/* A limit on IFO calls cuts inner loops short and determines automatic trace points. Without inner
 * loops, a run resumed with a larger limit equals a run that had it from the start. */
TEST(budgets_may_grow_where_they_cut_nothing)
{
    size_t algorithms;
    size_t refused = 0;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    for (size_t a = 0; a < algorithms; a++) {
        saddle_error error = {.message = ""};
        const char *directory = fresh_directory();
        char place[5100];
        saddle_result *whole = NULL;
        saddle_snprintf(place, sizeof place, "checkpoint=%s", directory);
        saddle_result *part = run_instance(
            QUADRATIC_NONCONVEX, list[a],
            (const char *[]){"iterations=4000", "trace-every=auto", "max-ifo=3000", place, NULL},
            NULL);
        ck_assert_int_eq(part->stop, SADDLE_STOP_IFO);
        assert_ok(resume(QUADRATIC_NONCONVEX, directory, (const char *[]){NULL}, &whole, &error),
                  error);
        assert_same(part, whole);
        free_all(part, whole, NULL);

        directory = fresh_directory();
        saddle_snprintf(place, sizeof place, "checkpoint=%s", directory);
        part = run_instance(QUADRATIC_NONCONVEX, list[a],
                            (const char *[]){"iterations=4000", "max-ifo=3000", place, NULL}, NULL);
        saddle_status status = resume(QUADRATIC_NONCONVEX, directory,
                                      (const char *[]){"max-ifo=4000", NULL}, &whole, &error);
        if (has_inner_loops(list[a])) {
            ck_assert_msg(status == SADDLE_BAD_INPUT, "%s", list[a]->name);
            ck_assert_ptr_nonnull(
                strstr(error.message, "cannot change --max-ifo: it is '3000' in the checkpoint"));
            free_all(part, NULL, NULL);
            refused++;
            continue;
        }
        ck_assert_msg(status == SADDLE_OK, "%s: %s", list[a]->name, error.message);
        saddle_result *alone =
            run_instance(QUADRATIC_NONCONVEX, list[a],
                         (const char *[]){"iterations=4000", "max-ifo=4000", NULL}, NULL);
        assert_same(alone, whole);
        free_all(part, whole, alone);
    }
    ck_assert_uint_ge(refused, 4);
}

/* The gap of the last row is at the tolerance: the run ends there again, or continues below it. */
TEST(a_tolerance_may_shrink)
{
    const saddle_algorithm *algorithm = NULL;
    saddle_error error = {.message = ""};
    const char *directory = fresh_directory();
    char place[5100];
    saddle_snprintf(place, sizeof place, "checkpoint=%s", directory);
    assert_ok(saddle_algorithm_find(&algorithm, "precision", &error), error);
    const char *coarse[] = {"iterations=4000",     "gap=end", "tolerance=1e-2",
                            "checkpoint-every=20", place,     NULL};
    const char *fine[] = {"iterations=4000", "gap=end", "tolerance=1e-3", NULL};
    saddle_result *part = run_instance(QUADRATIC_CONVEX_ODD, algorithm, coarse, NULL);
    saddle_result *again = NULL;
    saddle_result *lower = NULL;
    saddle_result *alone = run_instance(QUADRATIC_CONVEX_ODD, algorithm, fine, NULL);
    ck_assert_int_eq(part->stop, SADDLE_STOP_TOLERANCE);
    ck_assert_ptr_nonnull(part->checkpoint);
    assert_ok(resume(QUADRATIC_CONVEX_ODD, directory, (const char *[]){NULL}, &again, &error),
              error);
    assert_same(part, again);
    assert_ok(resume(QUADRATIC_CONVEX_ODD, directory, (const char *[]){"tolerance=1e-3", NULL},
                     &lower, &error),
              error);
    assert_same(alone, lower);
    free_all(part, again, lower);
    saddle_result_free(alone);
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* What every process of a thread_world does, and how it ended in each. */
typedef struct joint_run {
    const saddle_plan *plan;
    const saddle_hooks *hooks; /* NULL: none */
    saddle_status status[MOST_RANKS];
    saddle_error error[MOST_RANKS];
} joint_run;

static void run_rank(void *context, size_t rank)
{
    joint_run *joint = context;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_error *error = &joint->error[rank];
    saddle_status status =
        saddle_instance_create_on(&instance, &test_thread_world_engine, joint->plan, error);
    if (status == SADDLE_OK)
        status = saddle_run(instance, NULL, joint->hooks, &result, error);
    joint->status[rank] = status;
    saddle_result_free(result);
    saddle_instance_free(instance);
}

/* Runs some settings in several processes; all must end alike. */
static saddle_status run_jointly(size_t ranks, const saddle_plan *plan, const saddle_hooks *hooks,
                                 saddle_error *error)
{
    joint_run joint = {.plan = plan, .hooks = hooks};
    test_thread_world_run(ranks, run_rank, &joint);
    for (size_t r = 1; r < ranks; r++) {
        ck_assert_int_eq(joint.status[r], joint.status[0]);
        if (joint.status[0] != SADDLE_OK)
            ck_assert_str_eq(joint.error[r].message, joint.error[0].message);
    }
    *error = joint.error[0];
    return joint.status[0];
}

/* Resumes in several processes, only from a directory and some "name=value" texts. */
static saddle_status resume_jointly(size_t ranks, const char *directory, const char *const *extra,
                                    saddle_error *error)
{
    saddle_plan *plan = test_plan(NULL, extra);
    assert_ok(saddle_plan_set(plan, "resume", directory, error), *error);
    assert_ok(saddle_plan_resume(plan, NULL, error), *error);
    saddle_status status = run_jointly(ranks, plan, NULL, error);
    test_plan_free(plan);
    return status;
}

/* Started by three processes, continued by two, ended by one. */
TEST(the_number_of_processes_may_change)
{
    static const int instances[] = {LOGISTIC_BOX_DENSE_UNEQUAL, QUADRATIC_NONCONVEX,
                                    POISONING_SPARSE};
    static const char *const algorithms[] = {"precision", "gt-gda", "dppsp"};
    for (size_t k = 0; k < 3; k++) {
        saddle_error error = {.message = ""};
        const saddle_algorithm *algorithm = NULL;
        const char *directory = fresh_directory();
        char place[5100];
        char name[64];
        const char *relaxed[MOST_SETTINGS];
        test_instance instance;
        saddle_result *whole = NULL;
        int which = instances[k];
        assert_ok(saddle_algorithm_find(&algorithm, algorithms[k], &error), error);
        saddle_result *alone =
            run_instance(which, algorithm, (const char *[]){"iterations=40", NULL}, NULL);
        saddle_snprintf(place, sizeof place, "checkpoint=%s", directory);
        saddle_snprintf(name, sizeof name, "algorithm=%s", algorithms[k]);
        const char *more[] = {name,
                              "trace-every=7",
                              "q=6",
                              "c-gamma=0.3",
                              "iterations=17",
                              "checkpoint-every=5",
                              place,
                              NULL};
        test_relax(algorithm, more, relaxed);
        test_instance_open(&instance, which, relaxed);
        assert_ok(run_jointly(3, instance.plan, NULL, &error), error);
        assert_refused(resume_jointly(2, directory, (const char *[]){"seed=9", NULL}, &error),
                       error, SADDLE_BAD_INPUT,
                       "cannot change --seed: it is '1' in the checkpoint");
        assert_ok(resume_jointly(2, directory, (const char *[]){"iterations=30", NULL}, &error),
                  error);
        assert_ok(resume(which, directory, (const char *[]){"iterations=40", NULL}, &whole, &error),
                  error);
        assert_same(alone, whole);
        test_instance_close(&instance);
        free_all(alone, whole, NULL);
    }
}

/* A directory that is moved away for a while. */
typedef struct mover {
    const char *directory;
    char elsewhere[5100];
    size_t warnings;
    char last[2000]; /* warning */
} mover;

static void move_on_row(void *context, const saddle_row *row)
{
    const mover *self = context;
    if (row->iteration == 7)
        ck_assert_int_eq(rename(self->directory, self->elsewhere), 0);
    if (row->iteration == 21)
        ck_assert_int_eq(rename(self->elsewhere, self->directory), 0);
}

static void on_warning(void *context, const char *message)
{
    mover *self = context;
    self->warnings++;
    saddle_snprintf(self->last, sizeof self->last, "%s", message);
}

TEST(a_checkpoint_that_cannot_be_written_ends_no_run)
{
    saddle_error error = {.message = ""};
    test_instance instance;
    char place[5100];
    char *newest = NULL;
    mover self = {.directory = fresh_directory()};
    saddle_hooks hooks = {.context = &self, .row = move_on_row, .warning = on_warning};
    saddle_snprintf(self.elsewhere, sizeof self.elsewhere, "%s-away", self.directory);
    saddle_snprintf(place, sizeof place, "checkpoint=%s", self.directory);
    const char *more[] = {"trace-every=7", "iterations=40", "checkpoint-every=3", place, NULL};
    test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
    assert_ok(run_jointly(3, instance.plan, &hooks, &error), error);
    ck_assert_uint_eq(self.warnings, 1);
    ck_assert_msg(strncmp(self.last, "no checkpoint: cannot write '", 29) == 0, "%s", self.last);
    ck_assert_ptr_nonnull(strstr(self.last, "the run continues without it"));
    assert_ok(saddle_checkpoint_newest(&newest, self.directory, &error), error);
    ck_assert_ptr_nonnull(strstr(newest, "0040.saddle"));
    free(newest);
    test_instance_close(&instance);
}
