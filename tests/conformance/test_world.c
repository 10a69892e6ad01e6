/*
 * Instances in several processes: the same bits as in one, no data of other processes' agents, and the
 * same error everywhere. The processes are threads that share only a world.
 */
#include <saddle/saddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/print.h"
#include "core/world.h"
#include "instances.h"
#include "support.h"
#include "thread_world.h"

enum { PATH = 4200 };

/* Returns a path in the test's own directory. */
static const char *path_of(char out[PATH], const char *name)
{
    saddle_snprintf(out, PATH, "%s/%s", saddle_test_directory(), name);
    return out;
}

/* Returns whether two objects are equal, with -0 and NaN distinguished. */
static bool same_bits(const void *one, const void *other, size_t bytes)
{
    return memcmp(one, other, bytes) == 0;
}

/* Returns a file's text, which the caller frees; NULL when it does not exist. */
static char *read_text(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    *bytes = 0;
    if (file == NULL)
        return NULL;
    struct stat facts;
    ck_assert_int_eq(fstat(fileno(file), &facts), 0);
    char *text = calloc((size_t)facts.st_size + 1, 1);
    ck_assert_ptr_nonnull(text);
    *bytes = fread(text, 1, (size_t)facts.st_size, file);
    ck_assert_uint_eq(*bytes, (size_t)facts.st_size);
    fclose(file);
    return text;
}

static void assert_same_files(const char *path, const char *other)
{
    size_t bytes;
    size_t more;
    char *text = read_text(path, &bytes);
    char *same = read_text(other, &more);
    ck_assert_msg(text != NULL && same != NULL, "'%s' or '%s' is not there", path, other);
    ck_assert_msg(bytes == more && same_bits(text, same, bytes), "'%s' differs from '%s'", path,
                  other);
    free(text);
    free(same);
}

/* ---- a run in several processes ---------------------------------------------------------------- */

/* What one process ends with. */
typedef struct outcome_of_rank {
    saddle_status status;
    saddle_error error;
    saddle_result *result;
    saddle_constants constants;
    saddle_gradient_check check;
    size_t foreign; /* shards of other processes' agents */
    size_t rows;    /* calls of the hook */
} rank_end;

/* What all processes do. */
typedef struct task {
    const saddle_plan *plan;
    const saddle_plan *other; /* of the last process; NULL: the same */
    size_t ranks;
    const volatile sig_atomic_t *told; /* the interrupt of the last process; NULL: none */
    bool check_gradients;
    rank_end end[MOST_RANKS];
} task;

static void count_row(void *context, const saddle_row *row)
{
    (void)row;
    ++*(size_t *)context;
}

static void run_rank(void *context, size_t rank)
{
    task *p = context;
    rank_end *end = &p->end[rank];
    saddle_instance *e = NULL;
    const saddle_plan *own = p->other != NULL && rank + 1 == p->ranks ? p->other : p->plan;
    end->status = saddle_instance_create_on(&e, &test_thread_world_engine, own, &end->error);
    if (end->status == SADDLE_OK) {
        const saddle_world *world = e->world;
        bool last = rank + 1 == world->ranks;
        saddle_hooks hooks = {
            .context = &end->rows, .row = count_row, .interrupt = last ? p->told : NULL};
        end->constants = e->constants;
        for (size_t i = 0; e->parts->shard != NULL && i < world->agents; i++)
            end->foreign += e->parts->shard[i] != NULL && !saddle_world_has(world, i);
        if (p->check_gradients)
            end->status = saddle_problem_check_gradient(e->problem, e->x_set, e->y_set, 1, 3,
                                                        &end->check, &end->error);
        if (end->status == SADDLE_OK)
            end->status = saddle_run(e, NULL, &hooks, &end->result, &end->error);
    }
    saddle_instance_free(e);
}

static void forget(task *p)
{
    for (size_t r = 0; r < MOST_RANKS; r++)
        saddle_result_free(p->end[r].result);
}

/* Runs in several processes; all must end with the same status and message. */
static void run_in(task *p, size_t ranks)
{
    memset(p->end, 0, sizeof p->end);
    p->ranks = ranks;
    test_thread_world_run(ranks, run_rank, p);
    for (size_t r = 1; r < ranks; r++) {
        ck_assert_int_eq(p->end[r].status, p->end[0].status);
        ck_assert_str_eq(p->end[r].error.message, p->end[0].error.message);
    }
}

/* Compares the rows of a trace except for the seconds. */
static void assert_same_rows(const saddle_result *one, const saddle_result *other)
{
    ck_assert_int_eq(one->stop, other->stop);
    ck_assert_uint_eq(one->row_count, other->row_count);
    for (size_t k = 0; k < one->row_count; k++) {
        saddle_row left = one->rows[k];
        saddle_row right = other->rows[k];
        left.seconds = right.seconds = 0.0;
        ck_assert_msg(same_bits(&left, &right, sizeof left),
                      "row %zu: metric %.17g and %.17g, loss %.17g and %.17g", k, left.metric,
                      right.metric, left.loss, right.loss);
    }
}

static void assert_same_outcomes(const saddle_result *one, const saddle_result *other)
{
    size_t count = one->outcome_count;
    ck_assert_uint_eq(count, other->outcome_count);
    for (size_t k = 0; k < count; k++)
        ck_assert_str_eq(one->outcome[k].name, other->outcome[k].name);
    for (size_t k = 0; k < one->row_count * count; k++)
        ck_assert_msg(same_bits(&one->outcomes[k], &other->outcomes[k], sizeof(double)),
                      "%s is %.17g and %.17g", one->outcome[k % count].name, one->outcomes[k],
                      other->outcomes[k]);
}

/* Asserts that every process has the copies of its agents, as the single process of `alone` has them. */
static void assert_same_copies(const saddle_result *alone, const saddle_result *part)
{
    ck_assert_uint_eq(part->agents, alone->agents);
    ck_assert(same_bits(part->x_mean, alone->x_mean, alone->x_dim * sizeof(double)));
    ck_assert(same_bits(part->y_mean, alone->y_mean, alone->y_dim * sizeof(double)));
    for (size_t k = 0; k < part->local; k++) {
        const double *x = alone->x + part->here[k] * alone->x_dim;
        const double *y = alone->y + part->here[k] * alone->y_dim;
        ck_assert(same_bits(part->x + k * alone->x_dim, x, alone->x_dim * sizeof(double)));
        ck_assert(same_bits(part->y + k * alone->y_dim, y, alone->y_dim * sizeof(double)));
    }
}

/* Compares a run in several processes with one in a single process. */
static void assert_same_run(const saddle_result *alone, const task *p, size_t ranks)
{
    size_t copies = 0;
    for (size_t r = 0; r < ranks; r++) {
        const saddle_result *part = p->end[r].result;
        ck_assert_msg(p->end[r].status == SADDLE_OK, "%s", p->end[r].error.message);
        assert_same_rows(alone, part);
        assert_same_copies(alone, part);
        assert_same_outcomes(alone, part);
        ck_assert_uint_eq(p->end[r].foreign, 0);
        ck_assert_uint_eq(p->end[r].rows, r == 0 ? alone->row_count : 0);
        copies += part->local;
    }
    ck_assert_uint_eq(copies, alone->agents);
}

/* Returns settings whose outputs go to files with this prefix. */
static saddle_plan *with_outputs(const saddle_plan *base, const char *prefix, bool outcomes)
{
    char text[2][PATH + 32];
    const char *kind[] = {"trace", "model"};
    const char *ending[] = {"csv", "npz"};
    for (size_t k = 0; k < 2; k++)
        saddle_snprintf(text[k], sizeof text[k], "%s=%s/%s-%s.%s", kind[k], saddle_test_directory(),
                        prefix, kind[k], ending[k]);
    return test_plan(
        base, (const char *[]){text[0], text[1], outcomes ? "outcomes-per-agent=yes" : NULL, NULL});
}

/* ---- the same bits ------------------------------------------------------------------------------ */

static const size_t rank_counts[] = {1, 2, 3, 5};

/* Every problem, with everything that it derives from its data. */
TEST_LOOP(same_bits_in_any_number_of_processes, 0, INSTANCES)
{
    saddle_error error = {.message = ""};
    saddle_plan *base =
        test_instance_plan(_i, (const char *[]){"iterations=7", "trace-every=2", NULL});
    saddle_instance *e = NULL;
    saddle_result *alone = NULL;
    saddle_gradient_check check;
    char path[PATH];
    char other[PATH];
    assert_ok(saddle_instance_create(&e, base, &error), error);
    bool outcomes = e->problem->outcomes != NULL;
    saddle_plan *plan = with_outputs(base, "alone", outcomes);
    saddle_plan *apart = with_outputs(base, "apart", outcomes);
    assert_ok(saddle_run(e, plan, NULL, &alone, &error), error);
    assert_ok(saddle_problem_check_gradient(e->problem, e->x_set, e->y_set, 1, 3, &check, &error),
              error);
    saddle_constants constants = e->constants;
    for (size_t k = 0; k < sizeof rank_counts / sizeof *rank_counts; k++) {
        size_t ranks = rank_counts[k];
        if (ranks > e->problem->agents)
            continue;
        task p = {.plan = apart, .check_gradients = true};
        run_in(&p, ranks);
        assert_same_run(alone, &p, ranks);
        assert_same_files(path_of(path, "alone-model.npz"), path_of(other, "apart-model.npz"));
        for (size_t r = 0; r < ranks; r++) {
            ck_assert(same_bits(&p.end[r].constants, &constants, sizeof constants));
            ck_assert(same_bits(&p.end[r].check, &check, sizeof check));
        }
        forget(&p);
    }
    saddle_result_free(alone);
    saddle_instance_free(e);
    test_plan_free(apart);
    test_plan_free(plan);
    test_plan_free(base);
}

/* Held-out rows are evaluated at process 0; all processes receive the outcomes. */
TEST_LOOP(held_out_rows, 0, 5)
{
    static const char *const problem[] = {"problem=auc", "problem=fair", "problem=group-dro",
                                          "problem=robust-regression", "problem=poisoning"};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(
        NULL, (const char *[]){problem[_i], "data=synthetic:90:12", "test-data=synthetic:25:12",
                               "sensitive=2", "groups=2,label", "agents=6", "topology=ring",
                               "iterations=3", "outcomes-per-agent=yes", NULL});
    saddle_instance *e = NULL;
    saddle_result *alone = NULL;
    assert_ok(saddle_instance_create(&e, plan, &error), error);
    assert_ok(saddle_run(e, NULL, NULL, &alone, &error), error);
    ck_assert_int_eq(strncmp(alone->outcome[alone->outcome_count - 1].name, "test_", 5), 0);
    task p = {.plan = plan};
    run_in(&p, 3);
    assert_same_run(alone, &p, 3);
    forget(&p);
    saddle_result_free(alone);
    saddle_instance_free(e);
    test_plan_free(plan);
}

static int algorithm_count(void)
{
    size_t count;
    saddle_algorithm_list(&count);
    return (int)count;
}

/* Every decentralized algorithm that needs no oracle, on unequal data. */
TEST_LOOP(all_algorithms, 0, algorithm_count())
{
    size_t count;
    const saddle_algorithm *algorithm = saddle_algorithm_list(&count)[_i];
    saddle_error error = {.message = ""};
    char name[64];
    const char *relaxed[MOST_SETTINGS];
    if (algorithm->traits.centralized)
        return;
    saddle_snprintf(name, sizeof name, "algorithm=%s", algorithm->name);
    test_relax(algorithm,
               (const char *[]){name, "iterations=9",
                                "link-model=latency:0.01,bandwidth:1000,compute:1e-3", NULL},
               relaxed);
    saddle_plan *plan = test_instance_plan(LOGISTIC_BOX_DENSE_UNEQUAL, relaxed);
    saddle_instance *e = NULL;
    saddle_result *alone = NULL;
    assert_ok(saddle_instance_create(&e, plan, &error), error);
    assert_ok(saddle_run(e, NULL, NULL, &alone, &error), error);
    task p = {.plan = plan};
    run_in(&p, 3);
    assert_same_run(alone, &p, 3);
    forget(&p);
    saddle_result_free(alone);
    saddle_instance_free(e);
    test_plan_free(plan);
}

/* What a caller saves from a result is what the run wrote; one of several processes cannot. */
TEST(model_from_a_result)
{
    saddle_error error = {.message = ""};
    char alone[PATH];
    char apart[PATH];
    char text[2][PATH + 16];
    saddle_instance *e = NULL;
    saddle_result *result = NULL;
    saddle_snprintf(text[0], sizeof text[0], "model=%s", path_of(alone, "alone.npz"));
    saddle_snprintf(text[1], sizeof text[1], "model=%s", path_of(apart, "apart.npz"));
    saddle_plan *plan =
        test_instance_plan(QUADRATIC_NONCONVEX, (const char *[]){"iterations=3", text[0], NULL});
    saddle_plan *other = test_plan(plan, (const char *[]){text[1], NULL});
    assert_ok(saddle_instance_create(&e, plan, &error), error);
    assert_ok(saddle_run(e, NULL, NULL, &result, &error), error);
    task p = {.plan = other};
    run_in(&p, 2);
    ck_assert_msg(p.end[0].status == SADDLE_OK, "%s", p.end[0].error.message);
    assert_same_files(alone, apart);
    assert_ok(saddle_result_save(result, apart, &error), error);
    assert_same_files(alone, apart);
    assert_refused(saddle_result_save(p.end[0].result, apart, &error), error, SADDLE_UNSUPPORTED,
                   "set outputs.model of the plan");
    forget(&p);
    saddle_result_free(result);
    saddle_instance_free(e);
    test_plan_free(other);
    test_plan_free(plan);
}

/* ---- one file per agent ------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* Agents' rows: the first agent has the fewest features, the second only one of three labels. */
static const char *const part[] = {"0 1:1\n2 2:1\n1 1:0.5 2:2\n", "2 3:1\n2 1:4 3:-1\n",
                                   "0 5:1\n1 4:2\n0 1:1 2:1 3:1\n2 1:-1\n",
                                   "1 2:3\n0 1:2 5:0.25\n"};
enum { PARTS = sizeof part / sizeof *part };

static void write_parts(void)
{
    char path[PATH];
    char name[32];
    char all[512] = "";
    size_t used = 0;
    for (size_t k = 0; k < PARTS; k++) {
        saddle_snprintf(name, sizeof name, "part-%zu.libsvm", k);
        write_text(path_of(path, name), part[k]);
        used += (size_t)saddle_snprintf(all + used, sizeof all - used, "%s", part[k]);
    }
    write_text(path_of(path, "all.libsvm"), all);
}

/* Settings of a run on the parts. */
static saddle_plan *part_plan(const char *data, const char *const *more)
{
    char text[PATH + 64];
    saddle_snprintf(text, sizeof text, "data=%s/%s", saddle_test_directory(), data);
    saddle_plan *base =
        test_plan(NULL, (const char *[]){text, "positive=1-2", "agents=4", "topology=ring",
                                         "iterations=4", "trace-every=1", NULL});
    saddle_plan *plan = test_plan(base, more);
    test_plan_free(base);
    return plan;
}

/* The files concatenated and cut at the same rows give the same run. */
TEST_LOOP(a_file_per_agent, 0, 2)
{
    static const char *const samples[2][2] = {{"samples=3,2,4,2", NULL}, {"samples=2,1,3,2", NULL}};
    saddle_error error = {.message = ""};
    char path[PATH];
    write_parts();
    if (_i == 1)
        write_text(path_of(path, "all.libsvm"),
                   "0 1:1\n2 2:1\n2 3:1\n0 5:1\n1 4:2\n0 1:1 2:1 3:1\n1 2:3\n0 1:2 5:0.25\n");
    saddle_plan *whole =
        part_plan("all.libsvm", (const char *[]){"partition=contiguous", samples[_i][0], NULL});
    saddle_plan *parts = part_plan("part-%d.libsvm", _i == 1 ? samples[1] : NULL);
    saddle_instance *e = NULL;
    saddle_instance *split = NULL;
    saddle_result *one = NULL;
    saddle_result *threads = NULL;
    assert_ok(saddle_instance_create(&e, whole, &error), error);
    assert_ok(saddle_run(e, NULL, NULL, &one, &error), error);
    assert_ok(saddle_instance_create(&split, parts, &error), error);
    assert_ok(saddle_run(split, NULL, NULL, &threads, &error), error);
    assert_same_rows(one, threads);
    assert_same_copies(one, threads);
    ck_assert_str_eq(test_text(&threads->plan, "partition"), "contiguous");
    for (size_t ranks = 1; ranks <= PARTS; ranks++) {
        task p = {.plan = parts};
        run_in(&p, ranks);
        assert_same_run(one, &p, ranks);
        forget(&p);
    }
    saddle_result_free(one);
    saddle_result_free(threads);
    saddle_instance_free(split);
    saddle_instance_free(e);
    test_plan_free(parts);
    test_plan_free(whole);
}

/* What is refused, in one process and in three, and what the message names. */
static const struct {
    const char *data;
    const char *more[3];
    const char *part;
} bad_part[] = {
    {"none-%d.libsvm", {NULL}, "agent 0 has no file '"},
    {"part-%d.libsvm", {"agents=5", NULL}, "part-4.libsvm"},
    {"part-%s.libsvm", {NULL}, "%d or %02d, once"},
    {"part-%d-%d.libsvm", {NULL}, "%d or %02d, once"},
    {"part-%2d.libsvm", {NULL}, "%d or %02d, once"},
    {"part-%d.libsvm", {"partition=iid", NULL}, "leave --partition out"},
    {"part-%d.libsvm", {"labels=all.idx", NULL}, "--labels: 'all.idx'"},
    {"part-%d.libsvm", {"samples=3", NULL}, "--samples: 3 for agent 1"},
    {"part-%d.libsvm", {"samples=1,2,3", NULL}, "3 numbers for 4 agents"},
    {"part-%d.libsvm", {"positive=auto", NULL}, "3 different labels (0, 1, 2)"},
    {"part-%d.libsvm", {"positive=0-2", NULL}, "cover every row"},
    {"wide-%d.csv", {NULL}, "it has 3 columns of features, but the files before have 2"},
};
enum { BAD_PARTS = sizeof bad_part / sizeof *bad_part };

TEST_LOOP(parts_that_are_refused, 0, BAD_PARTS)
{
    char path[PATH];
    write_parts();
    for (size_t k = 0; k < PARTS; k++) {
        char name[32];
        saddle_snprintf(name, sizeof name, "wide-%zu.csv", k);
        write_text(path_of(path, name), k == 2 ? "1,2,3,1\n3,2,1,0\n" : "1,2,1\n2,1,0\n");
    }
    saddle_error error = {.message = ""};
    saddle_instance *e = NULL;
    saddle_plan *plan = part_plan(bad_part[_i].data, bad_part[_i].more);
    assert_refused(saddle_instance_create(&e, plan, &error), error, SADDLE_BAD_INPUT,
                   bad_part[_i].part);
    task p = {.plan = plan};
    run_in(&p, 3);
    ck_assert_int_eq(p.end[0].status, SADDLE_BAD_INPUT);
    /* Which agent's file is found missing first depends on where agents are. */
    if (_i > 0)
        ck_assert_msg(strstr(p.end[0].error.message, bad_part[_i].part) != NULL, "'%s'",
                      p.end[0].error.message);
    test_plan_free(plan);
}

/* ---- the same end in all processes ---------------------------------------------------------------- */

/* An output that cannot be written ends all processes, and none waits forever. */
static const struct {
    const char *setting;
    saddle_status status;
    const char *part;
} bad_output[] = {
    {"trace=/nonexistent/trace.csv", SADDLE_BAD_INPUT, "trace:"},
    {"trace=/dev/full", SADDLE_IO, "is the disk full?"},
    {"algorithm=sgda", SADDLE_UNSUPPORTED, "sgda is centralized"},
    {"init=file:/nonexistent", SADDLE_BAD_INPUT, "/nonexistent"},
    {"test-data=/nonexistent", SADDLE_BAD_INPUT, "/nonexistent"},
    {"data=/nonexistent", SADDLE_BAD_INPUT, "/nonexistent"},
    {"sensitive=77", SADDLE_BAD_INPUT, "sensitive:"},
    {"mixing=file:/nonexistent", SADDLE_BAD_INPUT, "/nonexistent"},
    {"x-set=nothing", SADDLE_BAD_INPUT, "nothing"},
};
enum { BAD_OUTPUTS = sizeof bad_output / sizeof *bad_output };

TEST_LOOP(outputs_that_fail, 0, BAD_OUTPUTS)
{
    saddle_plan *plan = test_instance_plan(
        FAIR_SPARSE, (const char *[]){"iterations=3", bad_output[_i].setting, NULL});
    task p = {.plan = plan};
    run_in(&p, 3);
    ck_assert_int_eq(p.end[0].status, bad_output[_i].status);
    ck_assert_msg(strstr(p.end[0].error.message, bad_output[_i].part) != NULL, "'%s'",
                  p.end[0].error.message);
    test_plan_free(plan);
}

/* If a model cannot be written, only the model is lost, and all processes know. */
TEST(models_that_fail)
{
    saddle_plan *plan = test_instance_plan(
        FAIR_SPARSE, (const char *[]){"iterations=3", "model=/nonexistent/model.npz", NULL});
    task p = {.plan = plan};
    run_in(&p, 3);
    ck_assert_int_eq(p.end[0].status, SADDLE_OK);
    for (size_t r = 0; r < 3; r++) {
        const saddle_result *result = p.end[r].result;
        ck_assert_int_eq(result->output_error.status, SADDLE_IO);
        ck_assert_msg(strstr(result->output_error.message, "cannot write '/nonexistent") != NULL,
                      "'%s'", result->output_error.message);
        ck_assert(!result->saved);
        ck_assert_uint_gt(result->row_count, 1);
    }
    forget(&p);
    test_plan_free(plan);
}

/* Processes with different options would wait for each other; the number of threads may differ. */
TEST(processes_that_differ)
{
    saddle_plan *plan =
        test_instance_plan(QUADRATIC_NONCONVEX, (const char *[]){"iterations=2", NULL});
    saddle_plan *steps = test_plan(plan, (const char *[]){"nu=0.01", NULL});
    saddle_plan *threads = test_plan(plan, (const char *[]){"threads=1", NULL});
    task p = {.plan = plan, .other = steps};
    run_in(&p, 3);
    ck_assert_int_eq(p.end[0].status, SADDLE_BAD_INPUT);
    ck_assert_msg(strstr(p.end[0].error.message, "--nu: process 2 has '0.01'") != NULL, "'%s'",
                  p.end[0].error.message);
    p.other = threads;
    run_in(&p, 3);
    ck_assert_msg(p.end[0].status == SADDLE_OK, "%s", p.end[0].error.message);
    forget(&p);
    test_plan_free(threads);
    test_plan_free(steps);
    test_plan_free(plan);
}

/* Interrupting one process interrupts all. */
TEST(interrupted_together)
{
    static const volatile sig_atomic_t told = 1;
    saddle_plan *plan =
        test_instance_plan(LOGISTIC_BOX_SPARSE, (const char *[]){"iterations=100000000", NULL});
    task p = {.plan = plan, .told = &told};
    run_in(&p, 3);
    for (size_t r = 0; r < 3; r++)
        ck_assert_int_eq(p.end[r].result->stop, SADDLE_STOP_INTERRUPTED);
    forget(&p);
    test_plan_free(plan);
}

/* A limit on seconds ends all processes at the same iteration. */
TEST(out_of_time_together)
{
    saddle_plan *plan = test_instance_plan(
        LOGISTIC_BOX_SPARSE,
        (const char *[]){"iterations=100000000", "max-seconds=0.05", "trace-every=50", NULL});
    task p = {.plan = plan};
    run_in(&p, 3);
    for (size_t r = 0; r < 3; r++) {
        const saddle_result *result = p.end[r].result;
        ck_assert_msg(result != NULL, "%s", p.end[r].error.message);
        ck_assert_int_eq(result->stop, SADDLE_STOP_SECONDS);
        ck_assert_uint_eq(result->row_count, p.end[0].result->row_count);
        ck_assert(same_bits(result->rows, p.end[0].result->rows,
                            result->row_count * sizeof *result->rows));
    }
    forget(&p);
    test_plan_free(plan);
}

/* Divergence is found at the same agent, entry and iteration. */
TEST_LOOP(diverged_together, 0, 2)
{
    static const char *const wild[2] = {"alpha=1e9", "alpha=1e290"};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_instance_plan(
        QUADRATIC_NONCONVEX, (const char *[]){"iterations=2000", wild[_i], "trace-every=1", NULL});
    saddle_instance *e = NULL;
    saddle_result *alone = NULL;
    assert_ok(saddle_instance_create(&e, plan, &error), error);
    assert_ok(saddle_run(e, NULL, NULL, &alone, &error), error);
    ck_assert_int_eq(alone->stop, SADDLE_STOP_DIVERGED);
    task p = {.plan = plan};
    run_in(&p, 3);
    for (size_t r = 0; r < 3; r++) {
        const saddle_fault *fault = &p.end[r].result->fault;
        assert_same_rows(alone, p.end[r].result);
        ck_assert_str_eq(fault->variable, alone->fault.variable);
        ck_assert_uint_eq(fault->agent, alone->fault.agent);
        ck_assert_uint_eq(fault->index, alone->fault.index);
        ck_assert_uint_eq(fault->iteration, alone->fault.iteration);
        ck_assert(same_bits(&fault->value, &alone->fault.value, sizeof fault->value));
    }
    forget(&p);
    saddle_result_free(alone);
    saddle_instance_free(e);
    test_plan_free(plan);
}

/* ---- worlds ------------------------------------------------------------------------------------- */

static void term(void *context, size_t agent, double *out)
{
    const double *table = context;
    memcpy(out, table + 3 * agent, 3 * sizeof *out);
}

/* 37 agents with numbers of very different magnitudes, so that another order of addition would show. */
#define MANY ((size_t)37)

static double table_entry(size_t k)
{
    return (k % 3 == 0 ? 1e16 : 1.0 / 3.0) * (k % 2 == 0 ? 1.0 : -1.0) * (double)(k + 1);
}

static void use_world(void *context, size_t rank)
{
    (void)context;
    saddle_error error = {.message = ""};
    saddle_graph *graph = NULL;
    saddle_world *world = NULL;
    saddle_world *alone = NULL;
    double table[3 * MANY];
    double filled[3 * MANY];
    double sum[3];
    double expected[3];
    assert_ok(saddle_graph_create(&graph, "ring", MANY, 1, &error), error);
    assert_ok(saddle_engine_connect(&test_thread_world_engine, &world, graph, &error), error);
    assert_ok(saddle_world_alone(&alone, MANY, &error), error);
    for (size_t k = 0; k < 3 * MANY; k++) {
        table[k] = table_entry(k);
        filled[k] = saddle_world_has(world, k / 3) ? table[k] : NAN;
    }
    assert_ok(saddle_world_sum(alone, 3, term, table, expected, &error), error);
    assert_ok(saddle_world_sum(world, 3, term, table, sum, &error), error);
    ck_assert(same_bits(sum, expected, sizeof sum));
    saddle_world_fill(world, 3, filled);
    ck_assert(same_bits(filled, table, sizeof table));
    for (size_t k = 0; k < world->local; k++)
        ck_assert_uint_eq(saddle_world_place(world, world->here[k]), k);
    ck_assert_int_eq(saddle_world_agree(world, SADDLE_OK, &error), SADDLE_OK);
    /* The lowest rank that fails provides the error. */
    saddle_status own = SADDLE_OK;
    if (rank > 0)
        own = saddle_fail(&error, rank == 1 ? SADDLE_IO : SADDLE_NUMERIC, "process %zu", rank);
    ck_assert_int_eq(saddle_world_agree(world, own, &error), SADDLE_IO);
    ck_assert_str_eq(error.message, "rank 1: process 1");
    saddle_world_free(alone);
    saddle_world_free(world);
    saddle_graph_free(graph);
}

TEST(collective_calls)
{
    test_thread_world_run(3, use_world, NULL);
}

/* Checks that the test's placement is useful: agent 0 is not at process 0. */
static void look_around(void *context, size_t rank)
{
    (void)context;
    saddle_error error = {.message = ""};
    saddle_world *world = NULL;
    assert_ok(saddle_engine_connect(&test_thread_world_engine, &world, NULL, &error), error);
    ck_assert_uint_eq(world->rank, rank);
    ck_assert_uint_eq(world->agents, 0);
    double largest = (double)rank;
    world->largest(world, 1, &largest);
    ck_assert(largest == 2.0);
    saddle_world_free(world);
}

TEST(world_without_agents)
{
    saddle_error error = {.message = ""};
    const saddle_engine_class *threads = NULL;
    saddle_world *world = NULL;
    test_thread_world_run(3, look_around, NULL);
    assert_ok(saddle_engine_find(&threads, "threads", &error), error);
    assert_ok(saddle_engine_connect(threads, &world, NULL, &error), error);
    ck_assert_uint_eq(world->ranks, 1);
    ck_assert_uint_eq(world->local, 0);
    saddle_world_free(world);
}
