/* Programs that have changed the floating-point mode: results have the same bits, and their mode is kept. */
#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <saddle/lab.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

static saddle_error error;

/* The bytes that calls of the library compute. */
typedef struct answers {
    double x_mean[64];
    double y_mean[64];
    double metric[32];
    double row[2];
    double lambda;
    double parsed;
    char printed[SADDLE_REAL_SIZE];
} answers;

static void solve(answers *out, const char *const *settings)
{
    saddle_plan *plan = test_plan(NULL, settings);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    ck_assert_uint_le(result->x_dim, 64);
    ck_assert_uint_le(result->y_dim, 64);
    ck_assert_uint_le(result->row_count, 32);
    memcpy(out->x_mean, result->x_mean, result->x_dim * sizeof(double));
    memcpy(out->y_mean, result->y_mean, result->y_dim * sizeof(double));
    for (size_t k = 0; k < result->row_count; k++)
        out->metric[k] = result->rows[k].metric;
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

static answers compute(const char *threads)
{
    answers out;
    memset(&out, 0, sizeof out);
    char count[32];
    saddle_graph *graph = NULL;
    saddle_mixing *mixing = NULL;
    saddle_spectrum spectrum;
    saddle_dataset *data = NULL;
    saddle_snprintf(count, sizeof count, "threads=%s", threads);
    solve(&out, (const char *[]){"problem=quadratic", "iterations=30", "agents=4", count, NULL});
    assert_ok(saddle_graph_create(&graph, "er:0.5", 9, 3, &error), error);
    assert_ok(saddle_mixing_create(&mixing, graph, "metropolis", &error), error);
    assert_ok(saddle_mixing_spectrum(mixing, &spectrum, &error), error);
    out.lambda = spectrum.lambda;
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
    FILE *file = fopen("rows.csv", "w");
    ck_assert_ptr_nonnull(file);
    fputs("0.1,0.12345678901234567890123,1\n", file);
    ck_assert_int_eq(fclose(file), 0);
    assert_ok(saddle_dataset_load(&data, "rows.csv", NULL, 1, &error), error);
    memcpy(out.row, data->dense, sizeof out.row);
    saddle_dataset_free(data);
    ck_assert(saddle_parse_real("0.1", &out.parsed));
    saddle_print_real(1.0 / 3.0, 3, out.printed);
    return out;
}

static void assert_same(const answers *a, const answers *b, const char *mode)
{
    const void *left = a;
    const void *right = b;
    ck_assert_msg(memcmp(left, right, sizeof *a) == 0, "rounding %s changes bits", mode);
}

TEST(rounding_of_the_caller_changes_nothing)
{
    static const struct {
        int mode;
        const char *name;
    } rounding[] = {{FE_UPWARD, "up"}, {FE_DOWNWARD, "down"}, {FE_TOWARDZERO, "to zero"}};
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    for (size_t t = 0; t < 2; t++) {
        const char *threads = t == 0 ? "1" : "2";
        answers expected = compute(threads);
        ck_assert_double_eq(expected.parsed, 0.1);
        for (size_t k = 0; k < sizeof rounding / sizeof *rounding; k++) {
            ck_assert_int_eq(fesetround(rounding[k].mode), 0);
            answers found = compute(threads);
            int after = fegetround();
            fesetround(FE_TONEAREST);
            ck_assert_int_eq(after, rounding[k].mode);
            assert_same(&expected, &found, rounding[k].name);
        }
    }
}

/* Flushing to zero, as in programs compiled with -ffast-math. */
#if defined(__SSE2__)
#define FLUSHING 0x8040u
static unsigned float_mode(void)
{
    return _mm_getcsr();
}
static void set_float_mode(unsigned mode)
{
    _mm_setcsr(mode);
}
#elif defined(__aarch64__)
#define FLUSHING 0x1000000u
static unsigned float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}
static void set_float_mode(unsigned mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
#endif

/* arm64 processors need not have traps. */
TEST(flushing_and_traps_of_the_caller_change_nothing)
{
#if defined(FLUSHING)
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    answers expected = compute("2");
    set_float_mode(float_mode() | FLUSHING);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    int traps_before = fegetexcept();
    answers found = compute("2");
    unsigned mode = float_mode();
    int traps = fegetexcept();
    fesetenv(FE_DFL_ENV);
    ck_assert_uint_eq(mode & FLUSHING, FLUSHING);
#if defined(__SSE2__)
    ck_assert_int_eq(traps_before, FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
#endif
    ck_assert_int_eq(traps, traps_before);
    assert_same(&expected, &found, "with flushing and traps");
#endif
}
