/*
 * Long runs: memory does not grow, and rounding errors do not accumulate.
 *
 * The mean of the trackers equals the mean of the estimators exactly, up to rounding: every iteration adds
 * its own error. SADDLE_SOAK=1000000 makes the runs longer than a test has time for.
 */
#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "engines/thread_pool.h"
#include "instances.h"
#include "support.h"

/*
 * How far apart the means may be after `done` iterations, relative to the largest size of trackers and
 * estimators: two hundred rounding errors of the same sign, as on the way to a limit where all
 * iterations are alike (178 with GT-GDA), and five thousandths of one per iteration. docs/reliability.md
 * states this bound.
 */
static double drift_bound(uint64_t done)
{
    return DBL_EPSILON * (200.0 + 5e-3 * (double)done);
}

static uint64_t iterations(void)
{
    const char *wanted = getenv("SADDLE_SOAK");
    return wanted != NULL ? strtoull(wanted, NULL, 10) : 30000 / TEST_SLOWDOWN;
}

/* Returns the largest entry of | mean of trackers - mean of estimators |; *size receives the largest of either. */
static double drift(const test_state *s, double *size)
{
    double worst = 0.0;
    for (size_t part = 0; part < 2; part++) {
        size_t dim = part == 0 ? s->x_dim : s->y_dim;
        const double *tracker = part == 0 ? s->p : s->d;
        const double *estimator = part == 0 ? s->v : s->u;
        for (size_t k = 0; k < dim; k++) {
            long double off = 0.0L;
            for (size_t i = 0; i < s->agents; i++) {
                off += (long double)tracker[i * dim + k] - (long double)estimator[i * dim + k];
                *size = fmax(*size, fmax(fabs(tracker[i * dim + k]), fabs(estimator[i * dim + k])));
            }
            worst = fmax(worst, fabs((double)(off / (long double)s->agents)));
        }
    }
    return worst;
}

static const char *const tracking[] = {"precision", "precision+", "precision-auto", "prox-gt-sgda",
                                       "gt-gda"};
enum { TRACKING = sizeof tracking / sizeof *tracking };
static const int soaked[] = {QUADRATIC_BALL, LOGISTIC_BOX_SPARSE, LOGISTIC_BOX_DENSE_UNEQUAL};
enum { SOAKED = sizeof soaked / sizeof *soaked };

TEST_LOOP(trackers_do_not_drift_away, 0, TRACKING *SOAKED)
{
    const char *algorithm = tracking[_i % TRACKING];
    test_rig rig;
    test_state state;
    test_rig_open(&rig, soaked[_i / TRACKING], algorithm, NULL, 1, NULL, NULL);
    test_state_make(&state, rig.target.problem);
    uint64_t all = iterations();
    double size = 0.0;
    saddle_fprintf(stdout, "%s, %s: trackers off by", rig.instance.label, algorithm);
    for (uint64_t done = 0, next = 0, shown = 1000; done < all; done = next) {
        /* Every iteration at first, where sizes are largest; then about 25 times per decade. */
        next = done < 20 ? done + 1 : done + done / 10;
        next = done < shown && next > shown ? shown : next;
        ck_assert_int_eq(test_rig_advance(&rig, next - done).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &state);
        double off = drift(&state, &size);
        ck_assert_msg(off <= drift_bound(next) * size, "%s: off by %.3g of %.3g after %llu",
                      algorithm, off, size, (unsigned long long)next);
        if (next == shown) {
            saddle_fprintf(stdout, " %.2g of their size after %llu,", off / size,
                           (unsigned long long)next);
            shown *= 10;
        }
    }
    saddle_fprintf(stdout, " by at most %.2g then\n", drift_bound(all));
    test_state_free(&state);
    test_rig_close(&rig);
}

TEST(iterations_take_no_memory)
{
    test_rig rig;
    test_rig_open(&rig, QUADRATIC_BALL, "precision", NULL, 2, NULL, NULL);
    test_rig_advance(&rig, 10);
    size_t before = mallinfo2().uordblks;
    test_rig_advance(&rig, iterations());
    ck_assert_uint_eq(mallinfo2().uordblks, before);
    test_rig_close(&rig);
}

/* Each worker halves the smallest normal number. */
static void halve(void *context, unsigned worker)
{
    volatile double *number = context;
    number[worker] = number[worker] / 2.0;
}

TEST(denormals_are_flushed_in_every_worker)
{
    saddle_thread_pool *pool = NULL;
    saddle_error error = {.message = ""};
    double number[3] = {0x1p-1022, 0x1p-1022, 0x1p-1022};
    assert_ok(saddle_thread_pool_create(&pool, 3, 1, false, &error), error);
    saddle_thread_pool_run(pool, halve, number);
    for (size_t k = 0; k < 3; k++)
        ck_assert(number[k] == 0.0);
    /* The caller's own arithmetic is unchanged. */
    volatile double own = 0x1p-1022;
    own = own / 2.0;
    ck_assert(own == 0x1p-1023);
    saddle_thread_pool_destroy(pool);
}
