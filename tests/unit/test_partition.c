/* Partitions: every row at most once, the requested sizes, and a measurable skew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/data.h>

#include "support.h"

static saddle_dataset *make_data(size_t rows)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_generate(&data, rows, 10, 1, &error), error);
    return data;
}

static saddle_partition *split(const saddle_dataset *data, const char *text, size_t agents,
                               const char *samples, uint64_t seed)
{
    saddle_error error = {0};
    saddle_partition *partition = NULL;
    assert_ok(saddle_partition_create(&partition, data, text, agents, samples, seed, &error),
              error);
    ck_assert_uint_eq(partition->agents, agents);
    ck_assert_uint_eq(partition->start[0], 0);
    return partition;
}

static size_t size_of(const saddle_partition *partition, size_t agent)
{
    return partition->start[agent + 1] - partition->start[agent];
}

/* Asserts that no row occurs twice, all rows exist, and every agent has one. */
static void assert_disjoint(const saddle_partition *partition, size_t rows)
{
    char *seen = calloc(rows, 1);
    size_t wrong = 0;
    for (size_t i = 0; i < partition->agents; i++)
        wrong += partition->start[i + 1] <= partition->start[i];
    for (size_t k = 0; k < partition->start[partition->agents]; k++)
        wrong += partition->row[k] >= rows || seen[partition->row[k]]++ > 0;
    ck_assert_uint_eq(wrong, 0);
    free(seen);
}

TEST(rows_are_never_given_twice)
{
    static const char *const text[] = {"iid",          "contiguous",     "label-skew:0.01",
                                       "label-skew:1", "label-skew:100", "label-skew:1e-6"};
    static const struct {
        size_t agents;
        const char *samples;
        size_t total;   /* 0: see below */
        size_t each[3]; /* sizes of the first agents; 0: not fixed */
    } share[] = {{1, "auto", 997, {997}},
                 {5, "auto", 0, {0}},
                 {5, "100", 500, {0}},
                 {997, "auto", 997, {1}},
                 {3, "900,90,7", 997, {900, 90, 7}},
                 {3, "1,2,300", 303, {1, 2, 300}},
                 {5, NULL, 0, {0}}};
    saddle_dataset *data = make_data(997);
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        bool skewed = text[t][0] == 'l';
        for (size_t s = 0; s < sizeof share / sizeof *share; s++) {
            saddle_partition *partition =
                split(data, text[t], share[s].agents, share[s].samples, 7);
            assert_disjoint(partition, data->rows);
            size_t total = share[s].total != 0 ? share[s].total : 997;
            ck_assert_uint_eq(partition->start[share[s].agents], total);
            for (size_t i = 0; i < 3 && share[s].each[i] != 0; i++)
                ck_assert_uint_eq(size_of(partition, i), share[s].each[i]);
            for (size_t i = 0; !skewed && share[s].each[0] == 0 && i < share[s].agents; i++)
                /* The first agents get the remainder. */
                ck_assert_uint_eq(size_of(partition, i),
                                  total / share[s].agents + (i < total % share[s].agents));
            saddle_partition_free(partition);
        }
    }
    saddle_dataset_free(data);
}

TEST(contiguous_rows_are_in_order)
{
    saddle_dataset *data = make_data(23);
    saddle_partition *partition = split(data, "contiguous", 4, "auto", 1);
    for (size_t k = 0; k < 23; k++)
        ck_assert_uint_eq(partition->row[k], k);
    for (size_t i = 0; i <= 4; i++)
        ck_assert_uint_eq(partition->start[i], i < 4 ? 6 * i : 23);
    saddle_partition_free(partition);
    saddle_dataset_free(data);
}

TEST(iid_is_uniform_and_a_function_of_the_seed)
{
    enum { ROWS = 40, DRAWS = 4000 };
    saddle_dataset *data = make_data(ROWS);
    double first[ROWS] = {0};
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        saddle_partition *partition = split(data, "iid", 4, "5", seed);
        for (size_t k = 0; k < 5; k++)
            first[partition->row[k]] += 1.0;
        saddle_partition_free(partition);
    }
    double p = 5.0 / ROWS;
    for (size_t k = 0; k < ROWS; k++)
        assert_near(first[k], DRAWS * p, 5 * sqrt(DRAWS * p * (1 - p)));
    saddle_partition *a = split(data, "iid", 4, "auto", 3);
    saddle_partition *b = split(data, "iid", 4, "auto", 3);
    saddle_partition *c = split(data, "iid", 4, "auto", 4);
    ck_assert_mem_eq(a->row, b->row, ROWS * sizeof *a->row);
    ck_assert(memcmp(a->row, c->row, ROWS * sizeof *a->row) != 0);
    saddle_partition_free(a);
    saddle_partition_free(b);
    saddle_partition_free(c);
    saddle_dataset_free(data);
}

/* Returns the mean over agents of the squared deviation of their share of positives from the data's. */
static double skew_of(const saddle_dataset *data, const char *text, const char *samples)
{
    enum { AGENTS = 10, DRAWS = 20 };
    double mean = 0.0;
    for (size_t k = 0; k < data->rows; k++)
        mean += (data->label[k] > 0.0) / (double)data->rows;
    double sum = 0.0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        saddle_partition *partition = split(data, text, AGENTS, samples, seed);
        for (size_t i = 0; i < AGENTS; i++) {
            double positive = 0.0;
            for (size_t k = partition->start[i]; k < partition->start[i + 1]; k++)
                positive += data->label[partition->row[k]] > 0.0;
            double deviation = positive / (double)size_of(partition, i) - mean;
            sum += deviation * deviation / (AGENTS * DRAWS);
        }
        saddle_partition_free(partition);
    }
    return sum;
}

TEST(smaller_alpha_means_more_skew)
{
    static const char *const samples[] = {"auto", "200", "200,200,200,200,200,200,200,200,200,200"};
    saddle_dataset *data = make_data(4000);
    for (size_t s = 0; s < 3; s++) {
        double strong = skew_of(data, "label-skew:0.1", samples[s]);
        double medium = skew_of(data, "label-skew:1", samples[s]);
        double weak = skew_of(data, "label-skew:1000", samples[s]);
        double none = skew_of(data, "iid", samples[s]);
        ck_assert_msg(strong > 1.5 * medium && medium > 5 * weak, "'%s': %g %g %g", samples[s],
                      strong, medium, weak);
        /* Nearly no skew: what Dirichlet(1000) adds is about as large as the sampling error. */
        assert_at_most(weak, 3 * none);
    }
    saddle_dataset_free(data);
}

/* With given sizes and rows to spare, the mean mix is the data's and its variance Dirichlet's. */
TEST(mixes_have_the_moments_of_dirichlet)
{
    enum { DRAWS = 4000, EACH = 50 };
    double alpha = 0.5;
    saddle_dataset *data = make_data(2000);
    double p = 0.0;
    for (size_t k = 0; k < data->rows; k++)
        p += (data->label[k] > 0.0) / (double)data->rows;
    double mean = 0.0;
    double square = 0.0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        saddle_partition *partition = split(data, "label-skew:0.5", 2, "50,50", seed);
        double positive = 0.0;
        for (size_t k = 0; k < EACH; k++)
            positive += data->label[partition->row[k]] > 0.0;
        mean += positive / EACH / DRAWS;
        square += positive / EACH * positive / EACH / DRAWS;
        saddle_partition_free(partition);
    }
    /* Beta-binomial: p (1 - p) (1 + (EACH - 1) / (2 alpha + 1)) / EACH; the fourth moment of a
     * variable in [0, 1] bounds the error of the variance's estimate by its own size / sqrt. */
    double variance = p * (1 - p) * (1 + (EACH - 1) / (2 * alpha + 1)) / EACH;
    assert_near(mean, p, 5 * sqrt(variance / DRAWS));
    assert_near(square - mean * mean, variance, 5 * sqrt(variance / DRAWS));
    saddle_dataset_free(data);
}

TEST(impossible_partitions_are_refused)
{
    static const struct {
        const char *text;
        size_t agents;
        const char *samples;
        const char *part;
    } bad[] = {
        {"random", 2, "auto",
         "--partition: there is no rule 'random'; give iid, contiguous or label-skew"},
        {NULL, 2, "auto", "text is NULL"},
        {"label-skew", 2, "auto", "label-skew:ALPHA"},
        {"label-skew:", 2, "auto", "ALPHA must be"},
        {"label-skew:0", 2, "auto", "ALPHA must be"},
        {"label-skew:-1", 2, "auto", "ALPHA must be"},
        {"label-skew:nan", 2, "auto", "ALPHA must be"},
        {"iid", 0, "auto", "--agents: 0 is too few; give"},
        {"iid", 101, "auto", "--agents: 101 are too many for 100 rows"},
        {"iid", 3, "34", "needs 102 rows, but there are only 100"},
        {"contiguous", 2, "60,41", "needs 101 rows, but there are only 100"},
        {"iid", 2, "4294967295,2", "needs 4294967297 rows"},
        {"iid", 2, "4294967295", "but there are only 100"},
        {"iid", 2, "9223372036854775808", "is not valid"},
        {"iid", 2, "1,2,3", "has 3 numbers for 2 agents"},
        {"iid", 2, "1,", "--samples: '1,' is not valid"},
        {"iid", 2, "1,0", "--samples: '1,0' is not valid"},
        {"iid", 2, "0", "--samples: '0'"},
        {"iid", 2, "many", "--samples: 'many'"},
        {"iid", 2, "1.5", "--samples: '1.5'"},
    };
    saddle_dataset *data = make_data(100);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_error error = {0};
        saddle_partition *partition = (saddle_partition *)1;
        assert_refused(saddle_partition_create(&partition, data, bad[k].text, bad[k].agents,
                                               bad[k].samples, 0, &error),
                       error, SADDLE_BAD_INPUT, bad[k].part);
        ck_assert_ptr_null(partition);
    }
    saddle_dataset_free(data);
    data = make_data(2000);
    for (size_t k = 0; k < 2000; k++)
        data->label[k] = (double)k;
    saddle_error error = {0};
    saddle_partition *partition = NULL;
    assert_refused(saddle_partition_create(&partition, data, "label-skew:1", 2, "auto", 0, &error),
                   error, SADDLE_BAD_INPUT, "2000 different labels");
    saddle_dataset_free(data);
}
