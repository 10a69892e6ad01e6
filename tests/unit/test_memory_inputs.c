/*
 * Inputs that a caller has in memory instead of in files and texts: rows, graphs, weights, points, sets,
 * problems and algorithms. Each gives the same bits as the equivalent text.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/lab.h>

#include "core/print.h"
#include "instances.h"
#include "sets/kernel.h"
#include "support.h"

enum { ROWS = 60, FEATURES = 12, PARTS = 4, PATH = 4200 };

static saddle_error error;

static const char *path_of(char out[PATH], const char *name)
{
    saddle_snprintf(out, PATH, "%s/%s", saddle_test_directory(), name);
    return out;
}

/* ---- runs and their comparison ----------------------------------------------------------------- */

static saddle_result *solve(const saddle_plan *plan)
{
    saddle_result *result = NULL;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    return result;
}

static void refuse(const saddle_plan *plan, const char *part)
{
    saddle_instance *instance = NULL;
    assert_refused(saddle_instance_create(&instance, plan, &error), error, SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(instance);
}

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* Asserts that two runs are the same, bit for bit. */
static void assert_same(const saddle_result *a, const saddle_result *b)
{
    size_t x_bytes = a->x_dim * sizeof *a->x;
    size_t y_bytes = a->y_dim * sizeof *a->y;
    ck_assert_uint_eq(a->agents, b->agents);
    ck_assert(a->x_dim == b->x_dim && a->y_dim == b->y_dim && a->features == b->features);
    ck_assert_uint_eq(a->row_count, b->row_count);
    ck_assert_uint_gt(a->row_count, 1);
    for (size_t k = 0; k < a->row_count; k++) {
        saddle_row one = a->rows[k];
        saddle_row other = b->rows[k];
        one.seconds = other.seconds = 0.0;
        ck_assert_msg(same_bits(&one, &other, sizeof one), "row %zu differs", k);
    }
    ck_assert(same_bits(a->x_mean, b->x_mean, x_bytes));
    ck_assert(same_bits(a->y_mean, b->y_mean, y_bytes));
    ck_assert(same_bits(a->x, b->x, a->local * x_bytes));
    ck_assert(same_bits(a->y, b->y, a->local * y_bytes));
    ck_assert_uint_eq(a->outcome_count, b->outcome_count);
    for (size_t k = 0; k < a->outcome_count; k++)
        ck_assert_str_eq(a->outcome[k].name, b->outcome[k].name);
    ck_assert(
        same_bits(a->outcomes, b->outcomes, a->row_count * a->outcome_count * sizeof *a->outcomes));
}

static void assert_same_plans(const saddle_plan *a, const saddle_plan *b)
{
    saddle_result *one = solve(a);
    saddle_result *other = solve(b);
    assert_same(one, other);
    saddle_result_free(one);
    saddle_result_free(other);
}

/* Different seeds give different runs, so the comparison above can fail. */
TEST(columns_in_memory_have_names)
{
    static const double x[] = {1.5, 1, 0, -2, 0, 1};
    static const char *const sex[] = {"f", "m"};
    static const char *const backwards[] = {"m", "f"};
    static const char *const missing[] = {"f", NULL};
    const saddle_column_names label = {.name = "paid", .text = sex, .texts = 2};
    const struct {
        const char *part;
        saddle_column_names column[2];
    } wrong[] = {
        {"two columns are called 'age'", {{.name = "age"}, {.name = "age"}}},
        {"column 2 has no name, but column 1 has one", {{.name = "age"}, {.name = NULL}}},
        {"'m' and 'f' of column 'sex' do not ascend",
         {{.name = "age"}, {.name = "sex", .text = backwards, .texts = 2}}},
        {"category 1 of 2 of column 'sex' is NULL", {{.name = "age"}, {.name = "sex", .texts = 2}}},
        {"category 2 of 2 of column 'sex' is NULL",
         {{.name = "age"}, {.name = "sex", .text = missing, .texts = 2}}},
        {"the columns have 2 features, but", {{.name = "age"}, {.name = "sex"}}}};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_dense(&data, 2, 3, x, NULL, SADDLE_BORROW, &error), error);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_refused(saddle_dataset_name_columns(data, 2, wrong[k].column, &label, &error), error,
                       SADDLE_BAD_INPUT, wrong[k].part);
    const saddle_column_names right[] = {{.name = "age"}, {.name = "sex", .text = sex, .texts = 2}};
    assert_ok(saddle_dataset_name_columns(data, 2, right, &label, &error), error);
    char *name = saddle_columns_feature_name(data->columns, 2);
    ck_assert_str_eq(name, "sex=m");
    free(name);
    double code[2];
    assert_ok(saddle_dataset_column(data, "sex", code, &error), error);
    ck_assert(code[0] == 0.0 && code[1] == 1.0);
    size_t count = 0;
    ck_assert_str_eq(saddle_columns_label_texts(data->columns, &count)[1], "m");
    ck_assert_uint_eq(count, 2);
    assert_refused(saddle_dataset_name_columns(data, 2, right, NULL, &error), error,
                   SADDLE_BAD_INPUT, "have names already");
    saddle_dataset_free(data);
}

TEST(the_comparison_sees_differences)
{
    static const char *const base[] = {"problem=quadratic", "iterations=3", NULL};
    saddle_plan *plan = test_plan(NULL, base);
    saddle_result *one = solve(plan);
    plan->start.seed = 2;
    saddle_result *other = solve(plan);
    ck_assert(!same_bits(one->x_mean, other->x_mean, one->x_dim * sizeof *one->x_mean));
    saddle_result_free(one);
    saddle_result_free(other);
    test_plan_free(plan);
}

/* ---- data sets --------------------------------------------------------------------------------- */

/* Rows with labels 1 and 2, many entries zero, and files with the same contents. */
typedef struct table {
    double x[ROWS * FEATURES];
    double label[ROWS];
    size_t row_start[ROWS + 1];
    uint32_t column[ROWS * FEATURES];
    double value[ROWS * FEATURES];
    char dense[PATH];  /* a CSV file */
    char sparse[PATH]; /* a LIBSVM file */
} table;

static void write_row(FILE *file, const table *t, size_t r, bool sparse)
{
    if (sparse)
        saddle_fprintf(file, "%g", t->label[r]);
    for (size_t k = 0; k < FEATURES; k++) {
        double x = t->x[r * FEATURES + k];
        if (!sparse)
            saddle_fprintf(file, "%.17g,", x);
        else if (x != 0.0)
            saddle_fprintf(file, " %zu:%.17g", k + 1, x);
    }
    if (!sparse)
        saddle_fprintf(file, "%g", t->label[r]);
    fputc('\n', file);
}

static void write_rows(const table *t, const char *path, size_t first, size_t count, bool sparse)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t r = first; r < first + count; r++)
        write_row(file, t, r, sparse);
    ck_assert_int_eq(fclose(file), 0);
}

static table *make_table(void)
{
    table *t = calloc(1, sizeof *t);
    ck_assert_ptr_nonnull(t);
    saddle_rng rng;
    saddle_rng_init(&rng, 77, SADDLE_RNG_TEST, 0, 0);
    size_t used = 0;
    for (size_t r = 0; r < ROWS; r++) {
        t->label[r] = saddle_rng_uniform(&rng) < 0.4 ? 2.0 : 1.0;
        for (size_t k = 0; k < FEATURES; k++) {
            /* The last column is never 0, so that a sparse file has all columns. */
            bool there = k + 1 == FEATURES || saddle_rng_uniform(&rng) < 0.5;
            double x = saddle_rng_normal(&rng) + 0.3 * t->label[r];
            if (!there)
                continue;
            t->x[r * FEATURES + k] = x;
            t->column[used] = (uint32_t)k;
            t->value[used++] = x;
        }
        t->row_start[r + 1] = used;
    }
    path_of(t->dense, "rows.csv");
    path_of(t->sparse, "rows.libsvm");
    write_rows(t, t->dense, 0, ROWS, false);
    write_rows(t, t->sparse, 0, ROWS, true);
    return t;
}

static saddle_dataset *dense_of(const table *t, size_t first, size_t count, saddle_ownership how)
{
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_dense(&data, count, FEATURES, t->x + first * FEATURES,
                                        t->label + first, how, &error),
              error);
    return data;
}

static saddle_dataset *sparse_of(const table *t, saddle_ownership how)
{
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_csr(&data, ROWS, FEATURES, t->row_start, t->column, t->value,
                                      t->label, how, &error),
              error);
    return data;
}

TEST(data_sets_are_what_was_given)
{
    table *t = make_table();
    table *kept = malloc(sizeof *kept);
    ck_assert_ptr_nonnull(kept);
    *kept = *t;
    saddle_dataset *from_file = NULL;
    assert_ok(saddle_dataset_load(&from_file, t->sparse, NULL, 1, &error), error);
    for (int how = SADDLE_COPY; how <= SADDLE_BORROW; how++) {
        saddle_dataset *dense = dense_of(t, 0, ROWS, (saddle_ownership)how);
        saddle_dataset *sparse = sparse_of(t, (saddle_ownership)how);
        ck_assert_uint_eq(dense->nonzeros, from_file->nonzeros);
        ck_assert_uint_eq(sparse->nonzeros, from_file->nonzeros);
        ck_assert(dense->rows == ROWS && dense->features == FEATURES && dense->column == NULL);
        ck_assert(sparse->rows == ROWS && sparse->features == FEATURES && sparse->dense == NULL);
        ck_assert_int_eq(dense->dense == t->x, how == SADDLE_BORROW);
        ck_assert_int_eq(sparse->value == t->value, how == SADDLE_BORROW);
        ck_assert_int_eq(sparse->column == t->column, how == SADDLE_BORROW);
        ck_assert_int_eq(sparse->row_start == t->row_start, how == SADDLE_BORROW);
        if (how == SADDLE_COPY)
            memset(t, 0, offsetof(table, dense));
        ck_assert(same_bits(dense->dense, kept->x, sizeof kept->x));
        ck_assert(same_bits(sparse->row_start, from_file->row_start, sizeof t->row_start));
        ck_assert(same_bits(sparse->column, from_file->column,
                            from_file->nonzeros * sizeof *sparse->column));
        ck_assert(same_bits(sparse->value, from_file->value,
                            from_file->nonzeros * sizeof *sparse->value));
        /* Labels are always copied. */
        memset(t->label, 0, sizeof t->label);
        ck_assert(same_bits(dense->label, kept->label, sizeof kept->label));
        ck_assert(same_bits(sparse->label, kept->label, sizeof kept->label));
        saddle_dataset_free(dense);
        saddle_dataset_free(sparse);
        *t = *kept;
    }
    saddle_dataset *unlabelled = NULL;
    assert_ok(saddle_dataset_from_dense(&unlabelled, 2, 3, t->x, NULL, SADDLE_BORROW, &error),
              error);
    ck_assert(unlabelled->label[0] == 0.0 && unlabelled->label[1] == 0.0);
    saddle_dataset_free(unlabelled);
    saddle_dataset_free(from_file);
    free(kept);
    free(t);
}

static void refuse_dense(size_t rows, size_t features, const double *x, const double *label,
                         const char *part)
{
    for (int how = SADDLE_COPY; how <= SADDLE_BORROW; how++) {
        saddle_dataset *data = (saddle_dataset *)&error;
        assert_refused(saddle_dataset_from_dense(&data, rows, features, x, label,
                                                 (saddle_ownership)how, &error),
                       error, SADDLE_BAD_INPUT, part);
        ck_assert_ptr_null(data);
    }
}

static void refuse_csr(const size_t row_start[3], const uint32_t column[3], const double value[3],
                       const char *part)
{
    static const double label[] = {1.0, 2.0};
    for (int how = SADDLE_COPY; how <= SADDLE_BORROW; how++) {
        saddle_dataset *data = (saddle_dataset *)&error;
        assert_refused(saddle_dataset_from_csr(&data, 2, 5, row_start, column, value, label,
                                               (saddle_ownership)how, &error),
                       error, SADDLE_BAD_INPUT, part);
        ck_assert_ptr_null(data);
    }
}

TEST(bad_arrays_are_refused)
{
    const double x[] = {1.0, 2.0, 3.0, 4.0, (double)NAN, 6.0};
    const double endless[] = {1.0, (double)-INFINITY};
    const double label[] = {1.0, (double)NAN};
    refuse_dense(0, 3, x, NULL, "0 rows of 3 features");
    refuse_dense(3, 0, x, NULL, "3 rows of 0 features");
    refuse_dense(1, (size_t)UINT32_MAX + 1, x, NULL, "at most 2^32 - 1 features");
    refuse_dense(2, 3, x, NULL, "row 1, column 1 is nan");
    refuse_dense(1, 2, endless, NULL, "row 0, column 1 is -inf");
    refuse_dense(2, 2, x, label, "the label of row 1 is nan");
    static const double one[] = {1.0, 2.0, 3.0};
    const double bad[] = {1.0, (double)INFINITY, 3.0};
    refuse_csr((size_t[]){1, 2, 3}, (uint32_t[]){0, 1, 2}, one, "row_start[0] is 1");
    refuse_csr((size_t[]){0, 3, 2}, (uint32_t[]){0, 1, 2}, one, "row_start[2] = 2 is below");
    /* A negative offset, converted; one beyond the entries that a row can have. */
    refuse_csr(
        (size_t[]){0, 3, SIZE_MAX}, (uint32_t[]){0, 1, 2}, one,
        "row_start[2] = 18446744073709551615 is more than 5 features above row_start[1] = 3");
    refuse_csr((size_t[]){0, 6, 6}, (uint32_t[]){0, 1, 2}, one, "row_start[1] = 6 is more than 5");
    refuse_csr((size_t[]){0, 2, 3}, (uint32_t[]){0, 5, 2}, one, "row 0: column 5");
    refuse_csr((size_t[]){0, 2, 3}, (uint32_t[]){3, 1, 2}, one, "row 0: column 1");
    refuse_csr((size_t[]){0, 1, 3}, (uint32_t[]){3, 2, 2}, one, "row 1: column 2");
    refuse_csr((size_t[]){0, 1, 3}, (uint32_t[]){3, 1, 2}, bad, "row 1, column 1 is inf");
}

/* ---- rows in plans ----------------------------------------------------------------------------- */

static const char *const problems[] = {"robust-logistic", "auc", "poisoning"};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static saddle_plan *data_plan(const char *problem)
{
    static const char *const base[] = {"agents=4", "topology=ring", "iterations=12",
                                       "trace-every=5", NULL};
    saddle_plan *plan = test_plan(NULL, base);
    assert_ok(saddle_plan_set(plan, "problem", problem, &error), error);
    return plan;
}

TEST_LOOP(rows_in_memory_are_rows_of_a_file, 0, PROBLEMS)
{
    table *t = make_table();
    table *kept = malloc(sizeof *kept);
    ck_assert_ptr_nonnull(kept);
    *kept = *t;
    for (int sparse = 0; sparse < 2; sparse++) {
        saddle_plan *file = data_plan(problems[_i]);
        file->problem.data = sparse ? t->sparse : t->dense;
        file->problem.partition = _i == 1 ? "label-skew:1" : "iid";
        for (int how = SADDLE_COPY; how <= SADDLE_BORROW; how++) {
            saddle_plan *memory = test_plan(file, NULL);
            saddle_dataset *data = sparse ? sparse_of(t, (saddle_ownership)how)
                                          : dense_of(t, 0, ROWS, (saddle_ownership)how);
            memory->problem.data = NULL;
            memory->problem.rows = data;
            assert_same_plans(file, memory);
            /* The instance converted labels to +1 and -1, but not in the caller's data. */
            ck_assert(same_bits(data->label, kept->label, sizeof kept->label));
            saddle_dataset_free(data);
            test_plan_free(memory);
        }
        test_plan_free(file);
    }
    ck_assert(same_bits(t, kept, sizeof *t));
    free(kept);
    free(t);
}

/* Each agent's own rows: the same as one file per agent, and as contiguous parts of one data set. */
TEST_LOOP(shards_in_memory_are_files_of_agents, 0, PROBLEMS)
{
    static const size_t part[PARTS] = {11, 20, 7, 22};
    table *t = make_table();
    char pattern[PATH];
    const saddle_dataset *shard[PARTS];
    saddle_dataset *made[PARTS];
    size_t first = 0;
    for (size_t i = 0; i < PARTS; i++) {
        char name[32];
        char path[PATH];
        saddle_snprintf(name, sizeof name, "part-%zu.csv", i);
        write_rows(t, path_of(path, name), first, part[i], false);
        shard[i] = made[i] = dense_of(t, first, part[i], i % 2 ? SADDLE_COPY : SADDLE_BORROW);
        first += part[i];
    }
    saddle_plan *files = data_plan(problems[_i]);
    saddle_plan *memory = test_plan(files, NULL);
    saddle_plan *whole = test_plan(files, NULL);
    files->problem.data = path_of(pattern, "part-%d.csv");
    memory->problem.shards = shard;
    memory->problem.shard_count = PARTS;
    whole->problem.data = t->dense;
    whole->problem.partition = "contiguous";
    whole->problem.samples = "11,20,7,22";
    assert_same_plans(files, memory);
    assert_same_plans(whole, memory);
    /* The first rows of each. */
    files->problem.samples = memory->problem.samples = "5,6,7,8";
    assert_same_plans(files, memory);
    memory->problem.samples = "5,6,8,8";
    refuse(memory, "--samples: 8 for agent 2");
    for (size_t i = 0; i < PARTS; i++)
        saddle_dataset_free(made[i]);
    test_plan_free(whole);
    test_plan_free(memory);
    test_plan_free(files);
    free(t);
}

TEST_LOOP(held_out_rows_in_memory_are_those_of_a_file, 1, PROBLEMS)
{
    table *t = make_table();
    char path[PATH];
    write_rows(t, path_of(path, "held-out.csv"), 40, 20, false);
    saddle_dataset *train = dense_of(t, 0, 40, SADDLE_BORROW);
    saddle_dataset *test = dense_of(t, 40, 20, SADDLE_BORROW);
    /* Robust logistic regression reports no outcomes. */
    saddle_plan *file = data_plan(problems[_i]);
    file->problem.rows = train;
    saddle_plan *memory = test_plan(file, NULL);
    file->problem.test_data = path;
    memory->problem.test_rows = test;
    saddle_result *one = solve(file);
    saddle_result *other = solve(memory);
    ck_assert_int_eq(strncmp(one->outcome[one->outcome_count - 1].name, "test_", 5), 0);
    assert_same(one, other);
    saddle_result_free(one);
    saddle_result_free(other);
    /* Rows with another number of features. */
    saddle_dataset *narrow = NULL;
    assert_ok(saddle_dataset_from_dense(&narrow, 10, 3, t->x, t->label, SADDLE_COPY, &error),
              error);
    memory->problem.test_rows = narrow;
    refuse(memory, "--test-data: 'data in memory' has 3 features, but the agents' data have 12");
    saddle_dataset_free(narrow);
    saddle_dataset_free(train);
    saddle_dataset_free(test);
    test_plan_free(memory);
    test_plan_free(file);
    free(t);
}

TEST(unused_rows_are_refused)
{
    static const double x[] = {1.0, 2.0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_dense(&data, 1, 2, x, NULL, SADDLE_BORROW, &error), error);
    saddle_plan *plan = data_plan("quadratic");
    plan->problem.rows = data;
    refuse(plan, "--data: problem quadratic generates its own samples");
    plan->problem.rows = NULL;
    plan->problem.test_rows = data;
    refuse(plan, "--test-data: problem quadratic is not made from data");
    /* One without a name. */
    test_instance made;
    test_instance_open(&made, OWN_PROBLEM, NULL);
    saddle_problem nameless = *made.problem;
    nameless.name = NULL;
    plan->problem.own = &nameless;
    refuse(plan, "agents of problem (unnamed); leave it out");
    plan->network.agents = 0;
    plan->problem.test_rows = NULL;
    plan->problem.rows = data;
    refuse(plan, "--data: problem (unnamed) generates its own samples");
    test_instance_close(&made);
    test_plan_free(plan);
    saddle_dataset_free(data);
}

/* ---- networks, points, sets -------------------------------------------------------------------- */

static saddle_plan *quadratic_plan(const char *const *more)
{
    static const char *const base[] = {"problem=quadratic", "x-dim=5",       "y-dim=4",
                                       "iterations=12",     "trace-every=5", NULL};
    saddle_plan *first = test_plan(NULL, base);
    saddle_plan *plan = test_plan(first, more);
    test_plan_free(first);
    return plan;
}

TEST(graphs_and_weights_in_memory_are_those_of_the_texts)
{
    static const char *const text[] = {"agents=6", "topology=grid:2x3", "mixing=metropolis", NULL};
    saddle_graph *graph = NULL;
    saddle_mixing *weights = NULL;
    assert_ok(saddle_graph_create(&graph, "grid:2x3", 6, 1, &error), error);
    assert_ok(saddle_mixing_create(&weights, graph, "metropolis", &error), error);
    saddle_plan *texts = quadratic_plan(text);
    saddle_plan *memory = quadratic_plan(NULL);
    memory->network.graph = graph;
    memory->network.mixing = "metropolis";
    assert_same_plans(texts, memory);
    memory->network.graph = NULL;
    memory->network.mixing = NULL;
    memory->network.weights = weights;
    assert_same_plans(texts, memory);
    memory->network.agents = 6;
    assert_same_plans(texts, memory);
    memory->network.agents = 7;
    refuse(memory, "--agents: 7 differs from the graph's 6");
    memory->network.weights = NULL;
    memory->network.graph = graph;
    refuse(memory, "--agents: 7 differs from the graph's 6");
    test_plan_free(memory);
    test_plan_free(texts);
    saddle_mixing_free(weights);
    saddle_graph_free(graph);
}

TEST(points_in_memory_are_those_of_the_rules)
{
    static const char *const text[] = {"init-x=constant:0.75", "init-y=constant:-3",
                                       "x-set=box:-1:0.5", "y-set=l2-ball:2", NULL};
    double x[] = {0.75, 0.75, 0.75, 0.75, 0.75};
    const double y[] = {-3.0, -3.0, -3.0, -3.0};
    saddle_plan *texts = quadratic_plan(text);
    saddle_plan *memory = test_plan(texts, NULL);
    memory->start.init_x = memory->start.init_y = NULL;
    memory->start.x = x;
    memory->start.x_length = 5;
    memory->start.y = y;
    memory->start.y_length = 4;
    assert_same_plans(texts, memory);
    /* One of the two points; the other by its rule. */
    memory->start.y = NULL;
    memory->start.init_y = "constant:-3";
    assert_same_plans(texts, memory);
    x[3] = (double)NAN;
    refuse(memory, "start.x: x[3] is nan; a starting point must be finite");
    test_plan_free(memory);
    test_plan_free(texts);
}

TEST(sets_in_memory_are_those_of_the_texts)
{
    static const char *const text[] = {"x-set=box:-1:0.5", "y-set=l1-ball:0.5",
                                       "regularizer=l1:0.1", NULL};
    saddle_set *x_set = NULL;
    saddle_set *y_set = NULL;
    saddle_set *small = NULL;
    saddle_regularizer *h = NULL;
    assert_ok(saddle_set_create(&x_set, "box:-1:0.5", 5, &error), error);
    assert_ok(saddle_set_create(&y_set, "l1-ball:0.5", 4, &error), error);
    assert_ok(saddle_set_create(&small, "box:-1:0.5", 3, &error), error);
    assert_ok(saddle_regularizer_create(&h, "l1:0.1", 5, &error), error);
    saddle_plan *texts = quadratic_plan(text);
    saddle_plan *memory = quadratic_plan(NULL);
    memory->problem.own_x_set = x_set;
    memory->problem.own_y_set = y_set;
    memory->problem.own_regularizer = h;
    saddle_result *one = solve(texts);
    saddle_result *other = solve(memory);
    assert_same(one, other);
    /* The plan of the result names the sets. */
    ck_assert_str_eq(other->plan.problem.x_set, one->plan.problem.x_set);
    ck_assert_str_eq(other->plan.problem.y_set, one->plan.problem.y_set);
    ck_assert_str_eq(other->plan.problem.regularizer, one->plan.problem.regularizer);
    saddle_result_free(one);
    saddle_result_free(other);
    memory->problem.own_x_set = small;
    refuse(memory, "--x-set: the set has dimension 3, but the variable has 5");
    memory->problem.own_x_set = NULL;
    memory->problem.own_y_set = small;
    refuse(memory, "--y-set: the set has dimension 3, but the variable has 4");
    test_plan_free(memory);
    test_plan_free(texts);
    saddle_regularizer_free(h);
    saddle_set_free(small);
    saddle_set_free(y_set);
    saddle_set_free(x_set);
}

/* ---- edges and weights ------------------------------------------------------------------------- */

/* A graph of 5 agents, edges and their ends in no particular order, and its file. */
enum { EDGES = 6 };
static const size_t edges[2 * EDGES] = {3, 1, 0, 1, 4, 2, 2, 3, 0, 4, 1, 4};

static const char *edge_file(char out[PATH])
{
    FILE *file = fopen(path_of(out, "edges"), "w");
    ck_assert_ptr_nonnull(file);
    for (size_t e = 0; e < EDGES; e++)
        saddle_fprintf(file, "%zu %zu\n", edges[2 * e], edges[2 * e + 1]);
    ck_assert_int_eq(fclose(file), 0);
    return out;
}

/* The weight of edge e; every row of the matrix sums to less than 1 without its diagonal. */
static double edge_weight(size_t e)
{
    return 0.1 + 0.03 * (double)e;
}

/* Fills in the matrix of these weights. */
static void fill_matrix(double matrix[25])
{
    memset(matrix, 0, 25 * sizeof *matrix);
    for (size_t e = 0; e < EDGES; e++) {
        matrix[edges[2 * e] * 5 + edges[2 * e + 1]] = edge_weight(e);
        matrix[edges[2 * e + 1] * 5 + edges[2 * e]] = edge_weight(e);
    }
    for (size_t i = 0; i < 5; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < 5; j++)
            sum += j != i ? matrix[i * 5 + j] : 0.0;
        matrix[i * 5 + i] = 1.0 - sum;
    }
}

static saddle_graph *edge_graph(void)
{
    saddle_graph *graph = NULL;
    assert_ok(saddle_graph_from_edges(&graph, 5, EDGES, edges, &error), error);
    return graph;
}

TEST(edges_in_memory_are_edges_of_a_file)
{
    char path[PATH];
    char text[PATH + 8];
    saddle_snprintf(text, sizeof text, "file:%s", edge_file(path));
    saddle_graph *read = NULL;
    saddle_graph *graph = edge_graph();
    assert_ok(saddle_graph_create(&read, text, 0, 1, &error), error);
    ck_assert_str_eq(graph->text, "edges");
    ck_assert(graph->agents == 5 && graph->edges == EDGES && graph->shape == read->shape);
    ck_assert(same_bits(graph->start, read->start, 6 * sizeof *graph->start));
    ck_assert(
        same_bits(graph->neighbour, read->neighbour, (size_t)2 * EDGES * sizeof *graph->neighbour));
    saddle_plan *texts = quadratic_plan(NULL);
    saddle_plan *memory = quadratic_plan(NULL);
    texts->network.topology = text;
    memory->network.graph = graph;
    assert_same_plans(texts, memory);
    test_plan_free(memory);
    test_plan_free(texts);
    saddle_graph_free(read);
    saddle_graph_free(graph);
    /* One agent needs no edge. */
    assert_ok(saddle_graph_from_edges(&graph, 1, 0, NULL, &error), error);
    ck_assert(graph->agents == 1 && graph->edges == 0);
    saddle_graph_free(graph);
}

TEST(bad_edges_are_refused)
{
    static const struct {
        size_t agents;
        size_t count;
        size_t edge[6];
        const char *part;
    } rows[] = {
        {0, 0, {0}, "a graph cannot have 0 agents"},
        {SIZE_MAX, 1, {0, 1}, "give a number from 1 to"},
        {3, 2, {0, 1, 1, 3}, "edge 1 links agents 1 and 3; give agents from 0 to 2"},
        {3, 2, {0, 1, SIZE_MAX, 2}, "edge 1 links agents 18446744073709551615 and 2"},
        {3, 3, {0, 1, 1, 2, 2, 2}, "edge 2 links agent 2 with itself"},
        {3, 3, {0, 1, 1, 2, 1, 0}, "edge 2, which links agents 1 and 0, is given twice"},
        {4, 2, {0, 1, 2, 3}, "the graph is not connected: 2 components: {0,1} {2,3}"},
        {2, 0, {0}, "the graph is not connected"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        saddle_graph *graph = (saddle_graph *)&error;
        assert_refused(
            saddle_graph_from_edges(&graph, rows[k].agents, rows[k].count, rows[k].edge, &error),
            error, SADDLE_BAD_INPUT, rows[k].part);
        ck_assert_ptr_null(graph);
    }
}

static void write_matrix(const char *path, const double matrix[25])
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t k = 0; k < 25; k++)
        saddle_fprintf(file, "%.17g%s", matrix[k], k % 5 == 4 ? "\n" : " ");
    ck_assert_int_eq(fclose(file), 0);
}

TEST(weights_in_memory_are_those_of_a_file)
{
    char path[PATH];
    char text[PATH + 8];
    double matrix[25];
    double weight[EDGES];
    fill_matrix(matrix);
    write_matrix(path_of(path, "matrix"), matrix);
    saddle_snprintf(text, sizeof text, "file:%s", path);
    for (size_t e = 0; e < EDGES; e++)
        weight[e] = edge_weight(e);
    saddle_graph *graph = edge_graph();
    saddle_mixing *read = NULL;
    saddle_mixing *made[2];
    assert_ok(saddle_mixing_create(&read, graph, text, &error), error);
    assert_ok(saddle_mixing_from_matrix(&made[0], graph, matrix, &error), error);
    assert_ok(saddle_mixing_from_edges(&made[1], graph, EDGES, edges, weight, &error), error);
    ck_assert_str_eq(made[0]->text, "matrix");
    ck_assert_str_eq(made[1]->text, "weights");
    saddle_plan *texts = quadratic_plan(NULL);
    texts->network.graph = graph;
    texts->network.mixing = text;
    for (size_t k = 0; k < 2; k++) {
        ck_assert(
            same_bits(made[k]->weight, read->weight, (size_t)2 * EDGES * sizeof *read->weight));
        ck_assert(same_bits(made[k]->self_weight, read->self_weight, 5 * sizeof *read->weight));
        assert_ok(saddle_mixing_check(made[k], &error), error);
        saddle_plan *memory = quadratic_plan(NULL);
        memory->network.weights = made[k];
        assert_same_plans(texts, memory);
        test_plan_free(memory);
        saddle_mixing_free(made[k]);
    }
    test_plan_free(texts);
    saddle_mixing_free(read);
    saddle_graph_free(graph);
}

static void refuse_entry(size_t i, size_t j, double value, const char *part)
{
    double matrix[25];
    saddle_graph *graph = edge_graph();
    saddle_mixing *mixing = (saddle_mixing *)&error;
    fill_matrix(matrix);
    matrix[i * 5 + j] = value;
    assert_refused(saddle_mixing_from_matrix(&mixing, graph, matrix, &error), error,
                   SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(mixing);
    saddle_graph_free(graph);
}

static void refuse_weights(size_t count, size_t at, size_t end, double value, const char *part)
{
    double weight[EDGES];
    size_t ends[2 * EDGES];
    saddle_graph *graph = edge_graph();
    saddle_mixing *mixing = (saddle_mixing *)&error;
    memcpy(ends, edges, sizeof ends);
    for (size_t e = 0; e < EDGES; e++)
        weight[e] = edge_weight(e);
    weight[at] = value;
    ends[2 * at] = end;
    assert_refused(saddle_mixing_from_edges(&mixing, graph, count, ends, weight, &error), error,
                   SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(mixing);
    saddle_graph_free(graph);
}

TEST(bad_weights_are_refused)
{
    refuse_entry(0, 1, 0.2, "the matrix: row 0 of the mixing matrix has");
    refuse_entry(0, 1, (double)NAN, "row 0 of the mixing matrix has nan in column 1, on an edge");
    refuse_entry(2, 2, (double)NAN, "row 2 of the mixing matrix has the diagonal entry nan");
    refuse_entry(2, 2, 0.0, "diagonal entry 0");
    refuse_entry(3, 3, 0.9, "row 3 of the mixing matrix sums to");
    refuse_entry(0, 2, 0.01, "row 0 has 0.01");
    refuse_entry(0, 2, (double)NAN, "row 0 has nan in column 2, but no edge links the two agents");
    refuse_weights(EDGES - 1, 0, edges[0], 0.1, "5 weights for a graph of 6 edges");
    refuse_weights(EDGES, 2, 0, 0.1,
                   "weight 2 is of an edge between agents 0 and 2, which the graph");
    refuse_weights(EDGES, 2, 7, 0.1, "agents 7 and 2");
    refuse_weights(EDGES, 5, 0, 0.1, "0 and 4, is 0.10000000000000001 and not its first");
    refuse_weights(EDGES, 1, edges[2], 0.0, "is 0; give every edge one positive weight");
    refuse_weights(EDGES, 1, edges[2], (double)NAN, "is nan");
    refuse_weights(EDGES, 1, edges[2], 0.95, "the weights: row");
    refuse_weights(EDGES, 1, edges[2], (double)INFINITY, "the weights: row");
}

/* ---- sets and regularizers of your own --------------------------------------------------------- */

/* Boxes of equal bounds are the box of the text, to the bit. */
TEST(a_box_of_equal_bounds_is_the_box_of_the_text)
{
    static const char *const text[] = {"x-set=box:-1:0.5", "regularizer=l1:0.1", "y-set=nonneg",
                                       NULL};
    static const char *const without[] = {"regularizer=l1:0.1", NULL};
    const double lower[] = {-1.0, -1.0, -1.0, -1.0, -1.0};
    const double upper[] = {0.5, 0.5, 0.5, 0.5, 0.5};
    const double zero[] = {0.0, 0.0, 0.0, 0.0};
    saddle_set *x_set = NULL;
    saddle_set *y_set = NULL;
    assert_ok(saddle_set_box(&x_set, 5, lower, upper, &error), error);
    assert_ok(saddle_set_box(&y_set, 4, zero, NULL, &error), error);
    double bound[2];
    ck_assert(saddle_set_uniform_bounds(x_set, &bound[0], &bound[1]));
    ck_assert(bound[0] == -1.0 && bound[1] == 0.5);
    ck_assert_str_eq(saddle_set_text(x_set), "box-per-coordinate");
    saddle_plan *texts = quadratic_plan(text);
    saddle_plan *memory = quadratic_plan(without);
    memory->problem.own_x_set = x_set;
    memory->problem.own_y_set = y_set;
    assert_same_plans(texts, memory);
    test_plan_free(memory);
    test_plan_free(texts);
    saddle_set_free(y_set);
    saddle_set_free(x_set);
}

/* Against manual clipping, corners, and the equivalent blocks. */
TEST(a_box_per_coordinate_clips_each)
{
    const double lower[] = {-1.0, (double)-INFINITY, 0.25, 2.0, -3.0};
    const double upper[] = {0.5, 1.0, (double)INFINITY, 2.0, -2.0};
    static const char *const text =
        "blocks:1*box:-1:0.5,1*box:-inf:1,1*box:0.25:inf,1*box:2:2,1*box:-3:-2";
    saddle_set *set = NULL;
    saddle_set *blocks = NULL;
    saddle_regularizer *h = NULL;
    saddle_prox *prox[2] = {NULL, NULL};
    assert_ok(saddle_set_box(&set, 5, lower, upper, &error), error);
    assert_ok(saddle_set_create(&blocks, text, 5, &error), error);
    assert_ok(saddle_regularizer_create(&h, "elastic-net:0.2:0.5", 5, &error), error);
    assert_ok(saddle_prox_create(&prox[0], set, h, &error), error);
    assert_ok(saddle_prox_create(&prox[1], blocks, h, &error), error);
    double *scratch = test_doubles(saddle_set_scratch(blocks));
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    for (int trial = 0; trial < 200; trial++) {
        double v[5];
        double p[5];
        double q[5];
        double away = 0.0;
        for (size_t k = 0; k < 5; k++)
            v[k] = p[k] = q[k] = 3.0 * saddle_rng_normal(&rng);
        saddle_set_project(set, p, scratch);
        for (size_t k = 0; k < 5; k++) {
            ck_assert(p[k] == fmin(fmax(v[k], lower[k]), upper[k]));
            away += (p[k] - v[k]) * (p[k] - v[k]);
        }
        ck_assert_double_eq_tol(saddle_set_distance(set, v, scratch), sqrt(away), 1e-14);
        memcpy(p, v, sizeof p);
        saddle_prox_apply(prox[0], 0.7, p, scratch);
        saddle_prox_apply(prox[1], 0.7, q, scratch);
        ck_assert(same_bits(p, q, sizeof p));
    }
    double v[5] = {0.0, (double)NAN, 0.0, (double)NAN, 0.0};
    saddle_set_project(set, v, scratch);
    ck_assert(isnan(v[1]) && isnan(v[3]) && v[2] == 0.25);
    double bound[2];
    saddle_set_range(set, &bound[0], &bound[1]);
    ck_assert(bound[0] == (double)-INFINITY && bound[1] == (double)INFINITY);
    ck_assert(!saddle_set_uniform_bounds(set, &bound[0], &bound[1]));
    ck_assert(saddle_set_norm_bound(set) == (double)INFINITY);
    free(scratch);
    saddle_prox_free(prox[0]);
    saddle_prox_free(prox[1]);
    saddle_regularizer_free(h);
    saddle_set_free(blocks);
    saddle_set_free(set);
    /* The farthest corner of [-1, 0.5] x [2, 2] x [-3, -2] is (-1, 2, -3). */
    assert_ok(
        saddle_set_box(&set, 3, (double[]){-1.0, 2.0, -3.0}, (double[]){0.5, 2.0, -2.0}, &error),
        error);
    ck_assert_double_eq_tol(saddle_set_norm_bound(set), sqrt(14.0), 1e-15);
    saddle_set_range(set, &bound[0], &bound[1]);
    ck_assert(bound[0] == -3.0 && bound[1] == 2.0);
    saddle_set_free(set);
}

static void refuse_box(double lower, double upper, const char *part)
{
    saddle_set *set = (saddle_set *)&error;
    assert_refused(saddle_set_box(&set, 2, (double[]){0.0, lower}, (double[]){1.0, upper}, &error),
                   error, SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(set);
}

TEST(bad_boxes_are_refused)
{
    refuse_box(1.0, 0.5, "the bounds 1 and 0.5 in coordinate 1");
    refuse_box((double)NAN, 0.5, "nan and 0.5");
    refuse_box(0.0, (double)NAN, "0 and nan");
    refuse_box((double)INFINITY, (double)INFINITY, "inf and inf");
    refuse_box((double)-INFINITY, (double)-INFINITY, "-inf and -inf");
    saddle_set *set = (saddle_set *)&error;
    assert_refused(saddle_set_box(&set, 0, NULL, NULL, &error), error, SADDLE_BAD_INPUT,
                   "has dimension 0");
    ck_assert_ptr_null(set);
}

/* [low, high]^n by options or, if there is one, by a context that counts releases. */
typedef struct own_interval {
    saddle_set base;
    double low;
    double high;
    const char *note;
} own_interval;

static const saddle_option own_low = SADDLE_REAL(SADDLE_OWN(own_interval, low, INSTANCE), "low",
                                                 "Own", "-1", -10.0, 10.0, "L", "Low.");
static const saddle_option own_high = SADDLE_REAL(SADDLE_OWN(own_interval, high, INSTANCE), "high",
                                                  "Own", "1", -10.0, 10.0, "H", "High.");
static const saddle_option own_note =
    SADDLE_TEXT(SADDLE_OWN(own_interval, note, INSTANCE), "note", "Own", "", "TEXT", "A text.");
static const saddle_option *const own_options[] = {&own_low, &own_high, &own_note, NULL};

static saddle_status own_init(void *set, saddle_error *why)
{
    const own_interval *self = set;
    return self->low <= self->high
               ? SADDLE_OK
               : saddle_fail(why, SADDLE_BAD_INPUT, "low: %g is above high", self->low);
}

static void own_project(const saddle_set *set, double *v, double *scratch)
{
    const own_interval *self = (const own_interval *)set;
    (void)scratch;
    for (size_t k = 0; k < set->term.dimension; k++)
        v[k] = v[k] < self->low ? self->low : v[k] > self->high ? self->high : v[k];
}

static void own_release(void *set)
{
    int *released = ((const saddle_set *)set)->term.context;
    if (released != NULL)
        ++*released;
}

static const saddle_set_class own_set = {.term = {.name = "own",
                                                  .options = own_options,
                                                  .size = sizeof(own_interval),
                                                  .init = own_init,
                                                  .release = own_release},
                                         .project = own_project,
                                         .l1_rule = SADDLE_PROX_SHRINK_PROJECT};

/* h(v) = weight sum |v_k|, by weights() or, with `shrinks`, by its prox. */
typedef struct own_l1 {
    saddle_regularizer base;
    double weight;
} own_l1;

static const saddle_option own_weight = SADDLE_REAL_ABOVE(
    SADDLE_OWN(own_l1, weight, INSTANCE), "weight", "Own", "0.5", 0.0, 10.0, "W", "Weight.");
static const saddle_option *const own_h_options[] = {&own_weight, NULL};

static double own_value(const saddle_regularizer *h, const double *v)
{
    /* Added in the order of the built-in one, so that rows can be compared bit by bit. */
    return ((const own_l1 *)h)->weight * saddle_norm1(h->term.dimension, v);
}

static saddle_weights own_weights(const saddle_regularizer *h)
{
    return (saddle_weights){.l1 = ((const own_l1 *)h)->weight};
}

static void own_shrink(const saddle_regularizer *h, double step, double *v)
{
    double cut = step * ((const own_l1 *)h)->weight;
    for (size_t k = 0; k < h->term.dimension; k++)
        v[k] = v[k] > cut ? v[k] - cut : v[k] < -cut ? v[k] + cut : 0.0 * v[k];
}

/* Boxes are products of intervals: the prox, then the projection. */
static saddle_prox_rule own_rule(const saddle_regularizer *h, const saddle_set *set)
{
    (void)h;
    return strcmp(set->term.kind->name, "box") == 0 ? SADDLE_PROX_SHRINK_PROJECT
                                                    : SADDLE_PROX_UNKNOWN;
}

static const saddle_regularizer_class own_by_weights = {
    .term = {.name = "own-l1", .options = own_h_options, .size = sizeof(own_l1)},
    .value = own_value,
    .weights = own_weights};
static const saddle_regularizer_class own_by_prox = {
    .term = {.name = "own-l1", .options = own_h_options, .size = sizeof(own_l1)},
    .value = own_value,
    .shrink = own_shrink,
    .rule = own_rule};

/* In a run they give the same bits as the equivalent built-in ones. */
TEST(sets_and_regularizers_of_your_own_run)
{
    static const char *const text[] = {"x-set=box:-0.5:0.75", "y-set=box:-1:1",
                                       "regularizer=l1:0.25", "gap=never",
                                       "algorithm=precision", NULL};
    saddle_plan *texts = quadratic_plan(text);
    saddle_plan *memory = test_plan(texts, NULL);
    saddle_set *x_set = NULL;
    saddle_set *y_set = NULL;
    saddle_regularizer *h[2] = {NULL, NULL};
    int released = 0;
    assert_ok(saddle_set_from_class(&x_set, &own_set, "high=0.75,low=-0.5,note=a:b", &released, 5,
                                    &error),
              error);
    assert_ok(saddle_set_from_class(&y_set, &own_set, NULL, NULL, 4, &error), error);
    ck_assert_str_eq(saddle_set_text(x_set), "own:high=0.75,low=-0.5,note=a:b");
    ck_assert_str_eq(x_set->term.argument, "high=0.75,low=-0.5,note=a:b");
    ck_assert_str_eq(((own_interval *)x_set)->note, "a:b");
    ck_assert_str_eq(saddle_set_text(y_set), "own");
    assert_ok(saddle_regularizer_from_class(&h[0], &own_by_weights, "weight=0.25", NULL, 5, &error),
              error);
    assert_ok(saddle_regularizer_from_class(&h[1], &own_by_prox, "weight=0.25", NULL, 5, &error),
              error);
    double lower;
    double upper;
    saddle_set_range(x_set, &lower, &upper);
    ck_assert(lower == (double)-INFINITY && upper == (double)INFINITY);
    ck_assert(saddle_set_norm_bound(x_set) == (double)INFINITY);
    ck_assert(!saddle_set_is_whole_space(x_set));
    for (size_t k = 0; k < 2; k++) {
        memory->problem.own_x_set = k == 0 ? x_set : NULL;
        memory->problem.own_y_set = y_set;
        memory->problem.own_regularizer = h[k];
        assert_same_plans(texts, memory);
    }
    /* A pair without an exact rule is refused. */
    saddle_prox *prox = (saddle_prox *)&error;
    assert_refused(saddle_prox_create(&prox, x_set, h[1], &error), error, SADDLE_UNSUPPORTED,
                   "--regularizer: no exact joint prox of 'own-l1:weight=0.25' and the set 'own:");
    ck_assert_ptr_null(prox);
    test_plan_free(memory);
    test_plan_free(texts);
    saddle_regularizer_free(h[0]);
    saddle_regularizer_free(h[1]);
    saddle_set_free(y_set);
    ck_assert_int_eq(released, 0);
    saddle_set_free(x_set);
    ck_assert_int_eq(released, 1);
}

static void refuse_set(const saddle_set_class *kind, const char *argument, const char *part)
{
    int released = 0;
    saddle_set *set = (saddle_set *)&error;
    assert_refused(saddle_set_from_class(&set, kind, argument, &released, 3, &error), error,
                   SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(set);
}

static void refuse_h(const saddle_regularizer_class *kind, const char *part)
{
    saddle_regularizer *h = (saddle_regularizer *)&error;
    assert_refused(saddle_regularizer_from_class(&h, kind, NULL, NULL, 3, &error), error,
                   SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(h);
}

TEST(bad_classes_and_options_are_refused)
{
    refuse_set(&own_set, "low=0,high=2,low=1", "low is given twice");
    refuse_set(&own_set, "low=2", "low: 2 is above high");
    refuse_set(&own_set, "low=11", "low: '11' is out of range");
    refuse_set(&own_set, "low=nan", "low: 'nan' is not a number");
    refuse_set(&own_set, "middle=0",
               "there is no option 'middle'; the options are: low, high, note");
    refuse_set(&own_set, "low", "'low' is not of the form name=value");
    saddle_set_class set = own_set;
    set.term.name = NULL;
    refuse_set(&set, NULL, "the set '(unnamed)' has no name; set it");
    set = own_set;
    set.term.size = sizeof(saddle_set) - 1;
    refuse_set(&set, NULL, "has no size of a struct that begins with saddle_set");
    set = own_set;
    set.project = NULL;
    refuse_set(&set, NULL, "the set 'own' has no project function; set it");
    set = own_set;
    set.term.options = NULL;
    set.term.init = NULL;
    refuse_set(&set, "low=0", "own takes no options, but 'low=0' was given");
    saddle_regularizer_class h = own_by_weights;
    h.weights = NULL;
    refuse_h(&h, "the regularizer 'own-l1' has no weights function or shrink function");
    h = own_by_weights;
    h.value = NULL;
    refuse_h(&h, "has no value function");
    h = own_by_weights;
    h.term.size = 8;
    refuse_h(&h, "has no size");
}

/* ---- user-defined problems and algorithms ------------------------------------------------------- */

TEST(solve_is_an_instance_and_a_run)
{
    saddle_plan *plan = test_instance_plan(OWN_PROBLEM, (const char *[]){"iterations=30", NULL});
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_result *solved = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    plan->problem.own = NULL;
    assert_ok(saddle_solve(test_own_problem(), plan, &solved, &error), error);
    ck_assert_ptr_null(plan->problem.own);
    assert_same(result, solved);
    ck_assert_uint_eq(solved->agents, 3);
    ck_assert_str_eq(solved->plan.problem.name, "own");
    ck_assert_int_eq(solved->stop, SADDLE_STOP_ITERATIONS);
    ck_assert(solved->rows[solved->row_count - 1].metric < solved->rows[0].metric);
    saddle_result_free(solved);
    /* The problem determines the number of agents. */
    plan->network.agents = 4;
    solved = (saddle_result *)&error;
    assert_refused(saddle_solve(test_own_problem(), plan, &solved, &error), error, SADDLE_BAD_INPUT,
                   "--agents: 4 differs from the 3 agents of problem own");
    ck_assert_ptr_null(solved);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

/* Gradient descent ascent with its own step option, for one agent alone. */
typedef struct walk {
    double step;
    uint64_t lap;
} walk;

static const saddle_option walk_step =
    SADDLE_REAL_ABOVE(SADDLE_OWN(walk, step, RUN), "walk-step", "Walk", "0.125", 0.0,
                      SADDLE_UNBOUNDED, "STEP", "Length of a step.");
static const saddle_option walk_lap =
    SADDLE_INTEGER(SADDLE_OWN(walk, lap, RUN), "walk-lap", "Walk", "auto", 0.0, SADDLE_UNBOUNDED,
                   "N", "Steps of a lap.");
static const saddle_option *const walk_options[] = {&walk_step, &walk_lap, NULL};
static walk walked;

static saddle_status walk_init(void *parameters, saddle_configuration *configuration,
                               saddle_error *why)
{
    (void)configuration;
    (void)why;
    walked = *(walk *)parameters;
    return SADDLE_OK;
}

static void walk_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters;
    *out = (saddle_layout){.published = problem->x_dim + problem->y_dim,
                           .scratch = problem->x_dim + problem->y_dim,
                           .rounds = 1};
}

static void walk_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

static void walk_on(saddle_agent *agent)
{
    const saddle_problem *p = agent->problem;
    const walk *self = agent->parameters;
    double *g = agent->scratch;
    saddle_batch all = {.count = p->samples[agent->id]};
    saddle_problem_gradient(p, agent->id, &all, agent->now, agent->now + p->x_dim, g, g + p->x_dim,
                            g + p->x_dim + p->y_dim);
    for (size_t k = 0; k < p->x_dim + p->y_dim; k++)
        agent->next[k] = agent->now[k] + (k < p->x_dim ? -self->step : self->step) * g[k];
    agent->ifo += p->samples[agent->id];
}

static void walk_view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}

static const saddle_phase walk_phases[] = {{"walk", .before = walk_on}, {.name = NULL}};

static const saddle_algorithm walk_algorithm = {.name = "walk",
                                                .options = walk_options,
                                                .size = sizeof(walk),
                                                .init = walk_init,
                                                .layout = walk_layout,
                                                .start = walk_start,
                                                .phases = walk_phases,
                                                .view = walk_view};

/* A user-defined algorithm runs, with the defaults of its own options. */
TEST(algorithms_in_memory_run)
{
    static const char *const more[] = {"iterations=2",
                                       "trace-every=1",
                                       "init=constant:0.5",
                                       "agents=1",
                                       "samples=3",
                                       "topology=complete",
                                       NULL};
    saddle_plan *plan = quadratic_plan(more);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    plan->algorithm.own = &walk_algorithm;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    ck_assert(walked.step == 0.125);
    ck_assert_uint_eq(walked.lap, UINT64_MAX);
    ck_assert_uint_eq(result->cost.ifo, 6);
    ck_assert_str_eq(result->plan.algorithm.name, "walk");
    ck_assert_str_eq(test_text(&result->plan, "walk-step"), "0.125");
    /* Two steps, computed by hand. */
    const saddle_problem *p = instance->problem;
    double z[9];
    double g[9];
    double *scratch = test_doubles(saddle_problem_scratch(p));
    saddle_batch all = {.count = 3};
    for (size_t k = 0; k < 9; k++)
        z[k] = 0.5;
    for (int step = 0; step < 2; step++) {
        saddle_problem_gradient(p, 0, &all, z, z + 5, g, g + 5, scratch);
        for (size_t k = 0; k < 9; k++)
            z[k] += (k < 5 ? -0.125 : 0.125) * g[k];
    }
    ck_assert(same_bits(result->x, z, 5 * sizeof *z));
    ck_assert(same_bits(result->y, z + 5, 4 * sizeof *z));
    free(scratch);
    saddle_result_free(result);
    /* Its options are set by name, like all others. */
    assert_ok(saddle_plan_set(plan, "walk-step", "0.25", &error), error);
    ck_assert_str_eq(plan->network.topology, "complete");
    assert_refused(saddle_plan_set(plan, "walk-step", "0", &error), error, SADDLE_BAD_INPUT,
                   "walk-step: '0' is out of range");
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    ck_assert(walked.step == 0.25);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

/* The model of a run with a user-defined algorithm can be used; that does not need the algorithm's options. */
TEST(models_of_an_algorithm_in_memory_are_used)
{
    char path[PATH];
    table *t = make_table();
    saddle_dataset *rows = dense_of(t, 0, ROWS, SADDLE_BORROW);
    saddle_plan *plan = data_plan("auc");
    saddle_predictor *predictor = NULL;
    double score[ROWS];
    double expected = 0.0;
    plan->problem.rows = rows;
    plan->algorithm.own = &walk_algorithm;
    assert_ok(saddle_plan_set(plan, "walk-step", "0.01", &error), error);
    saddle_result *result = solve(plan);
    assert_ok(saddle_result_save(result, path_of(path, "walk.npz"), &error), error);
    assert_ok(saddle_predictor_load(&predictor, path, NULL, &error), error);
    assert_ok(saddle_predictor_scores(predictor, rows, score, &error), error);
    /* x is the weights of the linear score, its bias, c1 and c2. */
    for (size_t k = 0; k < FEATURES; k++)
        expected += result->x_mean[k] * t->x[k];
    expected += result->x_mean[FEATURES] -
                0.5 * (result->x_mean[FEATURES + 1] + result->x_mean[FEATURES + 2]);
    ck_assert_double_eq_tol(score[0], expected, 1e-12);
    saddle_predictor_free(predictor);
    saddle_result_free(result);
    test_plan_free(plan);
    saddle_dataset_free(rows);
    free(t);
}

static saddle_status tuned_walk_init(void *parameters, saddle_configuration *configuration,
                                     saddle_error *why)
{
    if (!(configuration->steps.eta_x > 0.0))
        configuration->steps.eta_x = 0.05;
    return walk_init(parameters, configuration, why);
}

/* The result of a search has everything that was given: objects in memory, and the options of an
 * algorithm in memory, also in the file. */
TEST(a_tuned_plan_has_what_is_in_memory)
{
    static const saddle_option *const options[] = {&saddle_option_eta_x, &walk_step, &walk_lap,
                                                   NULL};
    char path[PATH];
    saddle_algorithm own = walk_algorithm;
    table *t = make_table();
    saddle_dataset *rows = dense_of(t, 0, ROWS, SADDLE_BORROW);
    saddle_plan *plan = data_plan("auc");
    saddle_instance *instance = NULL;
    saddle_tuning *tuning = NULL;
    double x0[FEATURES + 3];
    for (size_t k = 0; k < sizeof x0 / sizeof *x0; k++)
        x0[k] = 0.01 * (double)k;
    own.options = options;
    own.init = tuned_walk_init;
    plan->problem.rows = rows;
    plan->start.x = x0;
    plan->start.x_length = sizeof x0 / sizeof *x0;
    plan->algorithm.own = &own;
    plan->limits.iterations = 7;
    assert_ok(saddle_plan_set(plan, "walk-step", "0.01", &error), error);
    assert_ok(saddle_plan_set(plan, "threads", "1", &error), error);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    saddle_tune_inputs inputs = {.budget = 20000, .candidates = 3};
    assert_ok(saddle_tune(&tuning, instance, plan, &inputs, NULL, &error), error);
    ck_assert(tuning->plan.problem.rows == rows && tuning->plan.start.x == x0 &&
              tuning->plan.algorithm.own == &own);
    ck_assert_str_eq(test_text(&tuning->plan, "walk-step"), "0.01");
    /* Limits and engine are not part of the result. */
    ck_assert_uint_eq(tuning->plan.limits.iterations, 2000);
    ck_assert_uint_eq(tuning->plan.engine.threads, 0);
    tuning->plan.limits.iterations = plan->limits.iterations;
    tuning->plan.outputs.metric_tau = NAN;
    saddle_result *best = solve(&tuning->plan);
    saddle_result *direct = solve(plan);
    ck_assert(walked.step == 0.01);
    ck_assert_uint_eq(best->features, FEATURES);
    ck_assert(same_bits(best->x, direct->x, best->agents * best->x_dim * sizeof *best->x));
    saddle_result_free(best);
    saddle_result_free(direct);
    /* The file, together with the objects, is the same plan. */
    saddle_plan loaded;
    saddle_plan_defaults(&loaded, sizeof loaded);
    loaded.algorithm.own = &own;
    assert_ok(saddle_tuning_save(tuning, path_of(path, "walk.yaml"), &error), error);
    assert_ok(saddle_plan_load(&loaded, path, &error), error);
    ck_assert_str_eq(test_text(&loaded, "walk-step"), "0.01");
    ck_assert_str_eq(test_text(&loaded, "walk-lap"), "auto");
    saddle_plan_free(&loaded);
    saddle_tuning_free(tuning);
    saddle_instance_free(instance);
    test_plan_free(plan);
    saddle_dataset_free(rows);
    free(t);
}

/* A text that is NULL counts as not given, also for the engine. */
TEST(missing_texts_are_accepted)
{
    saddle_plan *plan = quadratic_plan(NULL);
    saddle_plan *without = test_plan(plan, NULL);
    without->engine.name = NULL;
    without->network.topology = NULL;
    without->network.mixing = NULL;
    without->algorithm.name = NULL;
    without->problem.regularizer = NULL;
    assert_same_plans(plan, without);
    test_plan_free(without);
    test_plan_free(plan);
}
