/*
 * Announced memory against allocated memory, for various sizes, algorithms and problems.
 *
 * Every run is a separate process, which reports what it announced (the estimate) and the peak of its
 * allocations. The estimate must be between 100% and 125% of the peak. With SADDLE_MEMORY just below the
 * estimate, the run is refused in advance; with it just above, the run succeeds and stays below it.
 * Instances take at least LEAST_BYTES, because in smaller ones blocks of fixed size, such as the settings,
 * matter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zip.h>

#include <saddle/lab.h>
#include <saddle/saddle.h>

#include "core/memory.h"
#include "core/memory_limits.h"
#include "core/print.h"
#include "files/npz.h"
#include "instances.h"
#include "support.h"

#define LEAST_BYTES 8e6
#define MOST_RATIO 1.25

/* The result of a run in a separate process. */
typedef struct outcome {
    saddle_status status;
    double announced;
    double peak;
    double resident; /* largest resident size of the process, according to the system */
    char message[sizeof((saddle_error){0}).message];
} outcome;

/* ---- one run ----------------------------------------------------------------------------------- */

static saddle_status run(const char *const *setting, saddle_error *error)
{
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_plan_defaults(&plan, sizeof plan);
    saddle_status status = SADDLE_OK;
    for (; status == SADDLE_OK && *setting != NULL; setting++) {
        char name[64];
        const char *value = strchr(*setting, '=');
        snprintf(name, sizeof name, "%.*s", (int)(value - *setting), *setting);
        status = saddle_plan_set(&plan, name, value + 1, error);
    }
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_run(instance, &plan, NULL, &result, error);
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

/* Runs in a child process. If `bytes` is above 0, SADDLE_MEMORY is set to it. */
static outcome run_apart(const char *const *setting, double bytes)
{
    outcome out = {.status = SADDLE_CHECK_FAILED};
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        saddle_error error = {.message = ""};
        struct rusage usage;
        char grant[32];
        saddle_snprintf(grant, sizeof grant, "%.9f", bytes / 1e9);
        if (bytes > 0.0)
            setenv("SADDLE_MEMORY", grant, 1);
        out.status = run(setting, &error);
        out.announced = saddle_memory_announced();
        out.peak = saddle_memory_peak();
        getrusage(RUSAGE_SELF, &usage);
        out.resident = 1024.0 * (double)usage.ru_maxrss;
        memcpy(out.message, error.message, sizeof out.message);
        /* Everything was freed, and counted. */
        if (out.status == SADDLE_OK && saddle_memory_used() != 0.0)
            out.status = SADDLE_CHECK_FAILED;
        _exit(write(ends[1], &out, sizeof out) == (ssize_t)sizeof out ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &out, sizeof out);
    close(ends[0]);
    int end;
    ck_assert_int_eq(waitpid(child, &end, 0), child);
    ck_assert_msg(got == (ssize_t)sizeof out && WIFEXITED(end) && WEXITSTATUS(end) == 0,
                  "a run ended with %d", end);
    return out;
}

/* Runs without a limit and compares the estimate with the peak; returns the estimate. */
static double compare(const char *label, const char *const *setting)
{
    outcome free = run_apart(setting, 0.0);
    ck_assert_msg(free.status == SADDLE_OK, "%s: %s", label, free.message);
    double ratio = free.announced / free.peak;
    printf("%-44s %8.1f MB  estimate %5.1f%%  libraries %5.1f MB\n", label, free.peak / 1e6,
           100.0 * ratio, (free.resident - free.peak) / 1e6);
    fflush(stdout);
    ck_assert_msg(free.peak >= LEAST_BYTES, "%s: %.3g bytes are too few", label, free.peak);
    ck_assert_msg(ratio >= 1.0 && ratio <= MOST_RATIO, "%s: estimate %.4g, peak %.4g", label,
                  free.announced, free.peak);
#ifndef __SANITIZE_ADDRESS__
    assert_at_most(free.resident - free.peak, SADDLE_LIBRARY_BYTES);
#endif
    return free.announced;
}

/* Returns the bytes by which the same run may differ: the C library adds up to 40 to a block where a remainder would be
 * too small, which depends on the blocks that were freed before. Agents have blocks of their own. */
static double chance(const char *const *setting)
{
    double agents = 0.0;
    for (; *setting != NULL; setting++)
        if (strncmp(*setting, "agents=", 7) == 0)
            agents = strtod(*setting + 7, NULL);
    return 1e4 + 40.0 * agents;
}

/* The same, and checks that the run is refused with slightly less than the estimate and succeeds with
 * slightly more. */
static void check(const char *label, const char *const *setting)
{
    double estimate = compare(label, setting);
    outcome below = run_apart(setting, estimate + SADDLE_LIBRARY_BYTES - chance(setting));
    ck_assert_msg(below.status == SADDLE_NO_MEMORY && strstr(below.message, " would take about "),
                  "%s: %s", label, below.message);
    assert_at_most(below.peak, estimate);
    outcome above = run_apart(setting, estimate + SADDLE_LIBRARY_BYTES + chance(setting));
    ck_assert_msg(above.status == SADDLE_OK, "%s: %s", label, above.message);
    assert_at_most(above.peak, above.announced);
}

/* ---- files ------------------------------------------------------------------------------------- */

/* Returns a LIBSVM file of a few rows whose highest index is `features`; static. */
static const char *wide_file(size_t features)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/wide.libsvm", saddle_test_directory());
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (size_t row = 0; row < 20; row++)
        fprintf(f, "%d 1:%zu 7:0.5 %zu:1\n", row % 3 == 0 ? 1 : -1, row % 2,
                features - 1 + row % 2);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

/* A CSV file of numbers; static. */
static const char *table_file(size_t rows, size_t features)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/table.csv", saddle_test_directory());
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (size_t row = 0; row < rows; row++) {
        for (size_t k = 0; k < features; k++)
            fprintf(f, "%zu.5,", (row * 7 + k) % 10);
        fprintf(f, "%d\n", row % 3 == 0 ? 1 : 0);
    }
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* The gap is measured where one pass over the rows is cheap. */
static const struct {
    const char *label;
    const char *setting[MOST_SETTINGS];
} shape[] = {
    {"quadratic, 10000 agents",
     {"problem=quadratic", "agents=10000", "topology=ring", "samples=2", "algorithm=precision"}},
    {"quadratic, 6000 agents, 3 threads",
     {"problem=quadratic", "agents=6000", "topology=torus:60x100", "samples=2", "threads=3"}},
    {"quadratic, 5000 agents, regular:10",
     {"problem=quadratic", "agents=5000", "topology=regular:10", "samples=2"}},
    {"quadratic, 800 agents, er:0.5",
     {"problem=quadratic", "agents=800", "topology=er:0.5", "samples=2", "x-dim=2", "y-dim=2",
      "gap=end"}},
    {"quadratic, 1200 agents, complete",
     {"problem=quadratic", "agents=1200", "topology=complete", "samples=2", "x-dim=2", "y-dim=2"}},
    {"quadratic, 20000 x 20000, 5 agents",
     {"problem=quadratic", "agents=5", "samples=4", "x-dim=20000", "y-dim=20000", "gap=end"}},
    {"quadratic, 20000 x 20000, 5 agents, 4 threads",
     {"problem=quadratic", "agents=5", "samples=4", "x-dim=20000", "y-dim=20000", "threads=4",
      "gap=end"}},
    {"quadratic, compressed messages",
     {"problem=quadratic", "agents=5", "samples=4", "x-dim=20000", "y-dim=20000",
      "compress=quantize:4"}},
    {"quadratic, compressed messages of 20000 agents",
     {"problem=quadratic", "agents=20000", "topology=torus:100x200", "samples=2",
      "compress=top:0.1"}},
    {"quadratic, many samples",
     {"problem=quadratic", "agents=10", "samples=2000", "x-dim=100", "y-dim=100"}},
    {"quadratic, 131000 rows of the trace",
     {"problem=quadratic", "agents=1", "samples=2", "x-dim=1", "y-dim=1", "iterations=131000",
      "trace-every=1", "topology=complete"}},
    {"robust-logistic, synthetic:80000", {"problem=robust-logistic", "data=synthetic:80000"}},
    {"robust-logistic, simplex weights",
     {"problem=robust-logistic", "data=synthetic:80000", "weights=simplex"}},
    {"robust-logistic, half of the rows",
     {"problem=robust-logistic", "data=synthetic:100000", "samples=10000"}},
    {"robust-logistic, 500 agents",
     {"problem=robust-logistic", "data=synthetic:80000", "agents=500", "topology=er:0.1"}},
    {"auc, synthetic:100000", {"problem=auc", "data=synthetic:100000"}},
    {"auc, held-out rows", {"problem=auc", "data=synthetic:80000", "test-data=synthetic:60000"}},
    {"auc, mlp:50,25", {"problem=auc", "data=synthetic:300:2000", "score=mlp:50,25", "threads=2"}},
    {"auc, label-skew", {"problem=auc", "data=synthetic:100000", "partition=label-skew:0.5"}},
    {"auc, label-skew, sizes given",
     {"problem=auc", "data=synthetic:100000", "agents=4", "topology=ring",
      "partition=label-skew:0.5", "samples=20000,16000,12000,8000"}},
    {"fair, synthetic:100000", {"problem=fair", "data=synthetic:100000"}},
    {"fair, 12000 features", {"problem=fair", "data=synthetic:200:12000", "gap=end"}},
    {"poisoning, synthetic:60000", {"problem=poisoning", "data=synthetic:60000"}},
    {"poisoning, 12000 features", {"problem=poisoning", "data=synthetic:200:12000"}},
    {"policy-evaluation, 700 states",
     {"problem=policy-evaluation", "mdp-states=700", "mdp-hidden=32", "samples=200"}},
    {"l1-ball, 12000 features",
     {"problem=fair", "data=synthetic:200:12000", "x-set=l1-ball:3", "regularizer=none",
      "gap=end"}},
    {"simplex, 60000 dimensions",
     {"problem=quadratic", "agents=4", "samples=2", "x-dim=60000", "y-dim=5", "x-set=simplex:1",
      "regularizer=none", "threads=2"}},
    {"elastic-net in a box",
     {"problem=quadratic", "agents=4", "samples=2", "x-dim=60000", "y-dim=5", "x-set=box:-1:1",
      "regularizer=elastic-net:0.1:0.2"}},
};
enum { SHAPES = sizeof shape / sizeof *shape };

/* Sizes are counted, not measured, so sanitizers would find the same, only more slowly. They see three shapes that
 * are cheap: long vectors, divided between threads, and compressed. */
TEST_LOOP(shapes, TEST_SLOWDOWN > 1 ? 5 : 0, TEST_SLOWDOWN > 1 ? 8 : SHAPES)
{
    const char *setting[MOST_SETTINGS + 4] = {"iterations=2", "threads=1", "gap=never"};
    size_t count = 3;
    for (size_t k = 0; k < MOST_SETTINGS && shape[_i].setting[k] != NULL; k++)
        setting[count++] = shape[_i].setting[k];
    if (test_chosen((size_t)_i, 0))
        check(shape[_i].label, setting);
    else
        compare(shape[_i].label, setting);
}

/* ---- algorithms -------------------------------------------------------------------------------- */

static size_t algorithm_count(void)
{
    size_t count;
    saddle_algorithm_list(&count);
    return count;
}

/* Every algorithm with many features or with many agents, at night with both; some with dense rows and the gap. */
TEST_LOOP(algorithms, TEST_SLOWDOWN > 1, TEST_SLOWDOWN > 1 ? 2 : (int)algorithm_count())
{
    size_t count;
    const saddle_algorithm *a = saddle_algorithm_list(&count)[_i];
    const bool more = _i == 0 || strcmp(a->name, "gda") == 0;
    const char *gap = more ? "gap=end" : "gap=never";
    char name[96];
    char data[600];
    char label[160];
    snprintf(name, sizeof name, "algorithm=%s", a->name);
    snprintf(data, sizeof data, "data=%s", wide_file(22000));
    const char *wide[] = {
        name,         data,       "threads=1",         "iterations=3", "x-set=none",
        "y-set=none", "agents=5", "problem=poisoning", "max-ifo=300",  "regularizer=none",
        gap,          NULL};
    snprintf(label, sizeof label, "%s, 22000 features", a->name);
    if (_i % 2 == 0 || test_long())
        compare(label, wide);
    const char *many[] = {name,
                          "problem=quadratic",
                          a->traits.centralized ? "agents=25000" : "agents=6000",
                          "topology=ring",
                          "samples=2",
                          "threads=2",
                          "iterations=2",
                          "x-set=none",
                          "y-set=none",
                          "max-ifo=100000",
                          "mixing-rounds=2",
                          "regularizer=none",
                          gap,
                          NULL};
    snprintf(label, sizeof label, "%s, many agents", a->name);
    if (_i % 2 == 1 || more || test_long())
        compare(label, many);
    /* Dense rows reach the peak when they are split, before any algorithm begins. */
    if (!more)
        return;
    snprintf(data, sizeof data, "data=%s", table_file(3000, 400));
    const char *dense[] = {
        name,       data,          "threads=1",     "iterations=2",     "x-set=none", "y-set=none",
        "agents=5", "problem=auc", "max-ifo=20000", "regularizer=none", "gap=never",  NULL};
    snprintf(label, sizeof label, "%s, dense rows", a->name);
    compare(label, dense);
}

/* ---- files that are written -------------------------------------------------------------------- */

TEST(outputs)
{
    const char *directory = saddle_test_directory();
    char checkpoint[600];
    char resume[600];
    char model[600];
    snprintf(checkpoint, sizeof checkpoint, "checkpoint=%s/ckpt", directory);
    snprintf(resume, sizeof resume, "resume=%s/ckpt", directory);
    snprintf(model, sizeof model, "model=%s/model.npz", directory);
    const char *setting[] = {"problem=auc",
                             "data=synthetic:500:15000",
                             "threads=1",
                             "iterations=4",
                             "agents=5",
                             model,
                             "outcomes=always",
                             "test-data=synthetic:500",
                             NULL,
                             NULL};
    check("model and outcomes", setting);
    /* A directory of checkpoints is for one run: write once, then resume. */
    saddle_error error = {.message = ""};
    setting[8] = checkpoint;
    setting[3] = "iterations=3";
    assert_ok(run(setting, &error), error);
    setting[3] = "iterations=4";
    setting[8] = resume;
    check("resumed", setting);
}

/* Without its hub, a star falls into as many components as it has other agents, each with its own objective. */
TEST(components)
{
    char churn[600];
    snprintf(churn, sizeof churn, "churn=%s/events", saddle_test_directory());
    FILE *f = fopen(churn + strlen("churn="), "w");
    ck_assert_ptr_nonnull(f);
    fputs("2 leave 0\n", f);
    ck_assert_int_eq(fclose(f), 0);
    const char *setting[] = {"problem=robust-regression",
                             "data=synthetic:2000",
                             "agents=1000",
                             "topology=star",
                             "threads=1",
                             "iterations=4",
                             "gap=never",
                             churn,
                             NULL};
    double estimate = compare("a network that falls apart", setting);
    outcome below = run_apart(setting, 0.5 * estimate + SADDLE_LIBRARY_BYTES);
    ck_assert_msg(below.status == SADDLE_NO_MEMORY && strstr(below.message, " would take about "),
                  "refused before the first iteration: %s", below.message);
}

/* Checkpoints record the hashes of plug-ins' files instead of their paths. run_apart() checks that
 * nothing is left. */
TEST(plugins_with_checkpoints_leave_nothing)
{
    char checkpoint[600];
    snprintf(checkpoint, sizeof checkpoint, "checkpoint=%s/plugins", saddle_test_directory());
    const char *setting[] = {"problem=" TEST_PROBLEM,
                             "algorithm=" TEST_ALGORITHM,
                             "threads=1",
                             "iterations=6",
                             "checkpoint-every=2",
                             checkpoint,
                             NULL};
    outcome out = run_apart(setting, 0.0);
    ck_assert_msg(out.status == SADDLE_OK, "%s", out.message);
}

/* ---- refusals ---------------------------------------------------------------------------------- */

/* The file is small; nothing of the size of the index is allocated before it is refused. */
TEST(a_huge_index_is_refused_before_memory_is_taken)
{
    char data[600];
    char path[512];
    snprintf(path, sizeof path, "%s/huge.libsvm", saddle_test_directory());
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("1 1:1\n-1 2:1\n1 3:1\n-1 2500000:1\n1 5:1\n", f);
    ck_assert_int_eq(fclose(f), 0);
    snprintf(data, sizeof data, "data=%s", path);
    const char *setting[] = {data,           "algorithm=precision", "agents=5",
                             "iterations=3", "threads=1",           NULL};
    outcome out = run_apart(setting, 0.25e9);
    ck_assert_msg(out.status == SADDLE_NO_MEMORY, "%s", out.message);
    ck_assert_msg(strstr(out.message, "this run would take about ") != NULL &&
                      strstr(out.message,
                             " GB of it for the state of 5 agents, but about 0.25 GB is "
                             "allowed by SADDLE_MEMORY; use fewer agents") != NULL,
                  "%s", out.message);
    /* A starting point and what the estimate of L and mu needs. */
    assert_at_most(out.peak, 0.25e9);
    out = run_apart(setting, 0.09e9);
    ck_assert_msg(out.status == SADDLE_BAD_INPUT &&
                      strstr(out.message, "huge.libsvm:4: index 2500000") != NULL,
                  "%s", out.message);
    assert_at_most(out.peak, 1e6);
}

/* Writes a compressed archive member of `count` zero doubles. */
static void pack_zeros(const char *path, size_t count)
{
    char head[128];
    int length = snprintf(head, sizeof head, "\x93NUMPY");
    const char version[] = {1, 0, (char)(sizeof head - 10), 0};
    memcpy(head + length, version, sizeof version);
    length += (int)sizeof version;
    length += snprintf(head + length, sizeof head - (size_t)length,
                       "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu,), }", count);
    memset(head + length, ' ', sizeof head - (size_t)length);
    head[sizeof head - 1] = '\n';
    size_t bytes = sizeof head + count * sizeof(double);
    char *member = calloc(bytes, 1);
    ck_assert_ptr_nonnull(member);
    memcpy(member, head, sizeof head);
    int code = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    ck_assert_ptr_nonnull(archive);
    zip_source_t *source = zip_source_buffer(archive, member, bytes, 0);
    zip_int64_t index = zip_file_add(archive, "xbar.npy", source, 0);
    ck_assert_int_eq(zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_DEFLATE, 9), 0);
    ck_assert_int_eq(zip_close(archive), 0);
    free(member);
}

/* The expansion of a compressed file is bounded by its size, so that a small model takes little memory. */
TEST(packed_models_are_bounded)
{
    saddle_error error = {.message = ""};
    saddle_predictor *predictor = NULL;
    double *x = NULL;
    size_t rank;
    size_t sizes[2];
    char path[512];
    snprintf(path, sizeof path, "%s/packed.npz", saddle_test_directory());
    pack_zeros(path, 8000000);
    double before = saddle_memory_peak();
    assert_refused(saddle_predictor_load(&predictor, path, NULL, &error), error, SADDLE_BAD_INPUT,
                   "it expands to 64000128 bytes, more than 32 times its ");
    assert_at_most(saddle_memory_peak() - before, 1e6);
    pack_zeros(path, 2000000);
    assert_ok(saddle_numpy_read(path, "xbar", &x, &rank, sizes, &error), error);
    ck_assert_uint_eq(sizes[0], 2000000);
    saddle_free(x);
}

/* A file that announces a network or agents that it does not contain does not make the library allocate
 * memory for them. */
TEST(models_take_no_more_than_they_hold)
{
    static const struct {
        const char *settings;
        const char *part;
    } claim[] = {
        {"problem: auc\nagents: 9000000\npositive-share: 0.5\npositive: 1\n",
         "claims 9000000 agents"},
        {"problem: auc\nagents: 2\nscore: mlp:4000,4000,4000\npositive-share: 0.5\npositive: 1\n",
         "3 entries in xbar"},
    };
    static const double zeros[3] = {0.0};
    static const uint64_t one = 1;
    char path[512];
    snprintf(path, sizeof path, "%s/claims.npz", saddle_test_directory());
    for (size_t k = 0; k < sizeof claim / sizeof *claim; k++) {
        saddle_error error = {.message = ""};
        saddle_predictor *predictor = NULL;
        const saddle_array arrays[] = {
            {"format", SADDLE_ARRAY_WORD, 0, {0}, .data = &one},
            {"xbar", SADDLE_ARRAY_REAL, 1, {3}, .data = zeros},
            {"ybar", SADDLE_ARRAY_REAL, 1, {1}, .data = zeros},
            {"features", SADDLE_ARRAY_WORD, 0, {0}, .data = &one},
            {"settings", SADDLE_ARRAY_TEXT, 0, {0}, .data = claim[k].settings},
        };
        assert_ok(saddle_npz_write(path, arrays, 5, &error), error);
        double before = saddle_memory_peak();
        assert_refused(saddle_predictor_load(&predictor, path, NULL, &error), error,
                       SADDLE_BAD_INPUT, claim[k].part);
        assert_at_most(saddle_memory_peak() - before, 1e6);
    }
}

/* The limit also holds for blocks that were not announced. */
TEST(unannounced_blocks_are_held_to_the_limit)
{
    setenv("SADDLE_MEMORY", "0.1", 1);
    double left = 0.1e9 - SADDLE_LIBRARY_BYTES - saddle_memory_used();
    ck_assert_ptr_null(saddle_alloc((size_t)left + 1, 1));
    void *block = saddle_alloc((size_t)(left / 2.0), 1);
    ck_assert_ptr_nonnull(block);
    ck_assert_ptr_null(saddle_alloc((size_t)(left / 2.0) + 1000000, 1));
    saddle_free(block);
    unsetenv("SADDLE_MEMORY");
    block = saddle_alloc((size_t)left + 1, 1);
    ck_assert_ptr_nonnull(block);
    saddle_free(block);
    /* Small blocks add up. */
    setenv("SADDLE_MEMORY", "0.1", 1);
    enum { BLOCK = 50000, MOST = 2000 };
    static void *small[MOST];
    size_t count = 0;
    while (count < MOST && (small[count] = saddle_alloc(BLOCK, 1)) != NULL)
        count++;
    ck_assert(saddle_memory_used() <= 0.1e9 - SADDLE_LIBRARY_BYTES + (1 << 20));
    ck_assert(count < MOST && (double)count * BLOCK > 0.9 * left - (1 << 20));
    while (count > 0)
        saddle_free(small[--count]);
    unsetenv("SADDLE_MEMORY");
    /* No machine has a petabyte, so it is refused even without SADDLE_MEMORY. */
    ck_assert_ptr_null(saddle_alloc_unset((size_t)1 << 50, 1));
}

/* Blocks of all sizes are counted when they are allocated and freed. */
TEST(blocks_are_counted)
{
    double before = saddle_memory_used();
    void *block[40];
    double expected = 0.0;
    for (size_t k = 0; k < 40; k++) {
        size_t bytes = (size_t)7 << (k % 25);
        block[k] = saddle_alloc_unset(bytes, 1);
        ck_assert_ptr_nonnull(block[k]);
        expected += saddle_block_bytes(bytes, 1);
        double used = saddle_memory_used() - before;
        ck_assert_msg(used <= expected && used >= 0.5 * expected, "%zu: %.0f of %.0f", k, used,
                      expected);
    }
    double peak = saddle_memory_peak();
    for (size_t k = 0; k < 40; k++)
        saddle_free(block[(k * 7) % 40]);
    ck_assert(saddle_memory_used() == before);
    ck_assert(saddle_memory_peak() == peak && peak >= before);
}
