/*
 * The memory estimate against the memory of each process of a job: tests/unit/test_memory.c for the engine
 * `mpi`, under mpirun with any number of processes.
 *
 * Estimate and peak are those of the process so far, so each run takes more than the one before.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <saddle/saddle.h>

#include "core/memory.h"
#include "core/memory_limits.h"
#include "job.h"
#include "support.h"

static const char *const shape[][13] = {
    {"problem=quadratic", "agents=8000", "topology=ring", "samples=2", "x-set=none",
     "regularizer=none", "gap=never"},
    {"problem=fair", "data=synthetic:500:20000", "agents=10", "topology=er:0.6", "threads=1"},
    {"problem=quadratic", "agents=10", "topology=complete", "samples=4", "x-dim=100000", "y-dim=9",
     "threads=2", "algorithm=gt-gda", "x-set=none", "y-set=none", "regularizer=none", "gap=never"},
};
enum { SHAPES = sizeof shape / sizeof *shape };

/* Runs on all processes; *wrong receives what this one finds wrong. */
static void run_shape(const char *const *setting, char *wrong, size_t size)
{
    saddle_error error = {.message = ""};
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    struct rusage usage;
    saddle_plan_defaults(&plan, sizeof plan);
    for (size_t k = 0; k < sizeof shape[0] / sizeof *shape[0] && setting[k] != NULL; k++) {
        char name[64];
        const char *value = strchr(setting[k], '=');
        snprintf(name, sizeof name, "%.*s", (int)(value - setting[k]), setting[k]);
        assert_ok(saddle_plan_set(&plan, name, value + 1, &error), error);
    }
    assert_ok(saddle_plan_set(&plan, "engine", "mpi", &error), error);
    assert_ok(saddle_plan_set(&plan, "iterations", "3", &error), error);
    assert_ok(saddle_instance_create(&instance, &plan, &error), error);
    assert_ok(saddle_run(instance, &plan, NULL, &result, &error), error);
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    double peak = saddle_memory_peak();
    double ratio = saddle_memory_announced() / peak;
    getrusage(RUSAGE_SELF, &usage);
    double libraries = 1024.0 * (double)usage.ru_maxrss - peak;
    printf("%s, %s: %.1f MB, estimate %.1f%%, libraries %.1f MB\n", setting[0], setting[1],
           peak / 1e6, 100.0 * ratio, libraries / 1e6);
    if (!(ratio >= 1.0 && ratio <= 1.25))
        snprintf(wrong, size, "%s: the estimate is %.4g of the peak, %.4g", setting[0], ratio,
                 peak);
#ifndef __SANITIZE_ADDRESS__
    if (!(libraries <= SADDLE_LIBRARY_BYTES))
        snprintf(wrong, size, "%s: libraries take %.4g", setting[0], libraries);
#endif
}

static void start(void)
{
    test_mpi_start();
}
TEST_FIXTURE(false, start, NULL)

TEST(estimates_hold_in_every_process)
{
    char wrong[256] = "";
    for (size_t k = 0; k < SHAPES; k++)
        run_shape(shape[k], wrong, sizeof wrong);
    int found = wrong[0] != '\0';
    int all = 0;
    MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ck_assert_msg(all == 0, "%s", found ? wrong : "wrong in another process");
}
