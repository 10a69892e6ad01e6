/*
 * Memory that runs out at any moment: the k-th allocation fails, for every k that a short piece of
 * work makes. Each time the call must say so, give everything back and not crash.
 *
 * The program is linked so that the library's aligned_alloc() and saddle_free() come through here.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saddle/saddle.h>

#include "core/memory.h"
#include "instances.h"
#include "support.h"

/* ---- the allocator --------------------------------------------------------------------------- */

static atomic_long asked;   /* allocations so far */
static atomic_long failing; /* the one that fails, from 1; 0: none */
static atomic_long living;  /* blocks taken and not given back */

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_saddle_free(void *block);
void __wrap_saddle_free(void *block);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (atomic_fetch_add(&asked, 1) + 1 == atomic_load(&failing))
        return NULL;
    void *block = __real_aligned_alloc(alignment, size);
    if (block != NULL)
        atomic_fetch_add(&living, 1);
    return block;
}

void __wrap_saddle_free(void *block)
{
    if (block != NULL)
        atomic_fetch_sub(&living, 1);
    __real_saddle_free(block);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Something that takes memory and gives it all back, whatever happens. */
typedef saddle_status work(const void *what, saddle_error *error);

/* Do it with the k-th allocation failing, for k = 1, 2, ... until it makes fewer. */
static void starve(work *task, const void *what, const char *label)
{
    saddle_error error = {.message = ""};
    atomic_store(&failing, 0);
    atomic_store(&asked, 0);
    atomic_store(&living, 0);
    assert_ok(task(what, &error), error);
    ck_assert_msg(atomic_load(&living) == 0, "%s: %ld blocks are left behind", label,
                  atomic_load(&living));
    long needed = atomic_load(&asked);
    ck_assert_msg(needed > 0, "%s: takes no memory through the library", label);
    for (long k = 1; k <= needed; k++) {
        error.message[0] = '\0';
        atomic_store(&failing, k);
        atomic_store(&asked, 0);
        saddle_status status = task(what, &error);
        atomic_store(&failing, 0);
        ck_assert_msg(status == SADDLE_NO_MEMORY,
                      "%s: allocation %ld of %ld failed, and the call returned '%s' (%s)", label, k,
                      needed, saddle_status_text(status), error.message);
        ck_assert_msg(strstr(error.message, "memory") != NULL, "%s: allocation %ld: '%s'", label, k,
                      error.message);
        ck_assert_msg(atomic_load(&living) == 0,
                      "%s: allocation %ld failed, and %ld blocks are left behind", label, k,
                      atomic_load(&living));
    }
}

/* A list of name=value, NULL-terminated, as settings. */
static saddle_status settings_of(const char *const *assignment, saddle_settings **out,
                                 saddle_error *error)
{
    saddle_status status = saddle_settings_create(out, error);
    for (; status == SADDLE_OK && *assignment != NULL; assignment++) {
        char name[64];
        const char *equals = strchr(*assignment, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *assignment), *assignment);
        status = saddle_settings_set(*out, name, equals + 1, error);
    }
    return status;
}

/* An experiment and one run of it, all outputs included. */
static saddle_status whole_run(const void *what, saddle_error *error)
{
    saddle_settings *settings = NULL;
    saddle_experiment *experiment = NULL;
    saddle_result *result = NULL;
    saddle_status status = settings_of(what, &settings, error);
    if (status == SADDLE_OK)
        status = saddle_experiment_create(&experiment, settings, NULL, error);
    if (status == SADDLE_OK)
        status = saddle_experiment_run(experiment, NULL, NULL, &result, error);
    saddle_result_free(result);
    saddle_experiment_free(experiment);
    saddle_settings_free(settings);
    return status;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Every problem under an algorithm, and every algorithm on some problem. */
static const char *const combination[][2] = {
    {"robust-logistic", "precision"},
    {"robust-logistic", "precision+"},
    {"auc", "prox-gt-sgda"},
    {"fair", "prox-dsgda"},
    {"poisoning", "gt-gda"},
    {"policy-evaluation", "dposg"},
    {"quadratic", "dppsp"},
    {"robust-logistic", "cspsg"},
    {"quadratic", "gda"},
    {"auc", "sgda"},
    {"quadratic", "minimax-ppa"},
    {"quadratic", "sreda"},
    {"quadratic", "sreda-boost"},
};
enum { COMBINATIONS = sizeof combination / sizeof *combination };

/* Whether a problem is made from data. */
static bool takes_data(const char *problem)
{
    const saddle_problem_class *kind = NULL;
    ck_assert_int_eq(saddle_problem_find(&kind, problem, NULL), SADDLE_OK);
    return kind->needs_data != 0;
}

START_TEST(a_run_survives_every_failed_allocation)
{
    const char *problem = combination[_i][0];
    const char *algorithm = combination[_i][1];
    char text[8][256];
    const char *list[9] = {0};
    snprintf(text[0], sizeof *text, "problem=%s", problem);
    snprintf(text[1], sizeof *text, "algorithm=%s", algorithm);
    snprintf(text[2], sizeof *text, "trace=%s/t.csv", saddle_test_directory());
    snprintf(text[3], sizeof *text, "model=%s/m.npz", saddle_test_directory());
    int count = 4;
    snprintf(text[count++], sizeof *text, "iterations=2");
    snprintf(text[count++], sizeof *text, "threads=2");
    if (takes_data(problem)) {
        snprintf(text[count++], sizeof *text, "data=synthetic:60");
        if (has_outcomes(problem))
            snprintf(text[count++], sizeof *text, "test-data=synthetic:20");
    } else {
        snprintf(text[count++], sizeof *text, "samples=4");
        snprintf(text[count++], sizeof *text,
                 strcmp(problem, "quadratic") == 0 ? "x-set=none" : "agents=3");
    }
    for (int k = 0; k < count; k++)
        list[k] = text[k];
    char label[128];
    snprintf(label, sizeof label, "%s with %s", problem, algorithm);
    starve(whole_run, list, label);
}
END_TEST

Suite *saddle_test_suite(void)
{
    Suite *suite = suite_create("allocation");
    TCase *tests = tcase_create("allocation");
    tcase_add_loop_test(tests, a_run_survives_every_failed_allocation, 0, COMBINATIONS);
    suite_add_tcase(suite, tests);
    return suite;
}
