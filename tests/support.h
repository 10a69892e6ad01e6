/*
 * What all test files share: a runner that prints how many checks passed, and comparisons that fail on
 * NaN. A program whose tests are all skipped exits with 77.
 *
 * TEST(name) { ... } defines a test, and TEST_LOOP(name, first, end) { ... } one that runs with every _i from first to
 * end - 1. Defining a test registers it with main(), in support.c.
 */
#pragma once

#include <math.h>
#include <stdbool.h>

#include <check.h>

#include <saddle/status.h>

/* Check tells its parent about every assertion that holds, for the case that the next line crashes, which would take
 * most of the time of tests with one for each number. All its other assertions use this one. */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
    ((expr) ? (void)0            \
            : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", __VA_ARGS__))

#define TEST(name) TEST_LOOP(name, 0, 1)
#define TEST_LOOP(name, first, end)                           \
    static const TTest *name;                                 \
    __attribute__((constructor)) static void add_##name(void) \
    {                                                         \
        test_add(name, first, end);                           \
    }                                                         \
    START_TEST(name)
void test_add(const TTest *test, int first, int end);

/* Calls `before` and `after` around every test, in its process, or, if `every` is false, once around all. */
#define TEST_FIXTURE(every, before, after)                     \
    __attribute__((constructor)) static void add_fixture(void) \
    {                                                          \
        test_add_fixture(every, before, after);                \
    }
void test_add_fixture(bool every, void (*before)(void), void (*after)(void));

/* Asserts that |actual - expected| <= tolerance; fails for NaN anywhere. */
#define assert_near(actual, expected, tolerance)                                                   \
    do {                                                                                           \
        double near_actual = (actual);                                                             \
        double near_expected = (expected);                                                         \
        double near_tolerance = (tolerance);                                                       \
        ck_assert_msg(fabs(near_actual - near_expected) <= near_tolerance,                         \
                      "%s = %.17g, expected %.17g within %g", #actual, near_actual, near_expected, \
                      near_tolerance);                                                             \
    } while (0)

/* Asserts that actual <= bound; fails for NaN. */
#define assert_at_most(actual, bound)                                                           \
    do {                                                                                        \
        double most_actual = (actual);                                                          \
        double most_bound = (bound);                                                            \
        ck_assert_msg(most_actual <= most_bound, "%s = %.17g, expected at most %.17g", #actual, \
                      most_actual, most_bound);                                                 \
    } while (0)

/* Asserts that the call returns SADDLE_OK; shows its message if not. `error` is the saddle_error given to it. */
#define assert_ok(call, error)                                                   \
    do {                                                                         \
        saddle_status ok_status = (call);                                        \
        ck_assert_msg(ok_status == SADDLE_OK, "%s: %s", #call, (error).message); \
    } while (0)

/* Asserts that the call returns the status `wanted` and that its message contains `part`. */
#define assert_refused(call, error, wanted, part)                                            \
    do {                                                                                     \
        saddle_status refused_status = (call);                                               \
        ck_assert_msg(refused_status == (wanted), "%s returned '%s', expected '%s'", #call,  \
                      saddle_status_text(refused_status), saddle_status_text(wanted));       \
        ck_assert_msg(strstr((error).message, (part)) != NULL, "'%s' does not mention '%s'", \
                      (error).message, (part));                                              \
    } while (0)

/* Returns the path of a file of real data in $SADDLE_DATA, or NULL when it does not exist; static. */
const char *saddle_test_data(const char *file);

/* Switches to a locale with a decimal comma and dots between thousands, made by localedef; false when
 * none can be made. With SADDLE_TEST_COMMA in the environment, every test program does this before its
 * first test. */
bool saddle_test_take_comma(void);

/* Sanitizers are ten times slower; long tests divide their work by this. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SLOWDOWN 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SLOWDOWN 10
#endif
#endif
#ifndef TEST_SLOWDOWN
#define TEST_SLOWDOWN 1
#endif

/* True if every case of a large table should run (SADDLE_TEST_LONG in the environment), and not a choice of them. */
bool test_long(void);
/* Chooses every third column of a table, others from row to row; in long tests all of them. */
bool test_chosen(size_t row, size_t column);

/* Reports why a test cannot run here. The test then returns and counts as skipped, not as passed. */
void saddle_test_skip(const char *why);

/* Returns a new directory under $TMPDIR, removed when the test process exits; static. */
const char *saddle_test_directory(void);
/* Makes it the working directory. */
void saddle_test_enter_directory(void);
/* Writes a text to a file. */
void saddle_test_write(const char *path, const char *text);
/* Asserts that the file contains exactly this text of fewer than 256 bytes. */
void assert_file_holds(const char *path, const char *expected);
/* Uses a directory that another process created and will remove. */
void saddle_test_use_directory(const char *path);
