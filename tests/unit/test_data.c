/* Data sets: finding them by name, generating, selecting, saving, and converting labels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saddle/data.h>

#include "core/elementary.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/text.h"
#include "data/dataset.h"
#include "support.h"

static void write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

static saddle_dataset *load(const char *name)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_load(&data, name, NULL, 3, &error), error);
    return data;
}

static size_t positives(const saddle_dataset *data)
{
    size_t count = 0;
    for (size_t k = 0; k < data->rows; k++)
        count += data->label[k] > 0.0;
    return count;
}

static void assert_equal_data(const saddle_dataset *a, const saddle_dataset *b)
{
    ck_assert_uint_eq(a->rows, b->rows);
    ck_assert_uint_eq(a->features, b->features);
    ck_assert_uint_eq(a->nonzeros, b->nonzeros);
    ck_assert_mem_eq(a->label, b->label, a->rows * sizeof *a->label);
    ck_assert_mem_eq(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start);
    ck_assert_mem_eq(a->column, b->column, a->nonzeros * sizeof *a->column);
    size_t wrong = 0;
    for (size_t k = 0; k < a->nonzeros; k++)
        wrong += !(saddle_entry_value(a, k) == saddle_entry_value(b, k));
    ck_assert_uint_eq(wrong, 0);
}

/* ---- the real files ---- */

TEST(real_files_have_their_published_sizes)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    if (saddle_test_data("a9a") == NULL) {
        saddle_test_skip("a9a is not in $SADDLE_DATA");
        return;
    }
    data = load("a9a");
    ck_assert_uint_eq(data->rows, 32561);
    ck_assert_uint_eq(data->features, 123);
    ck_assert_uint_eq(data->nonzeros, 451592);
    ck_assert_uint_eq(positives(data), 7841);
    saddle_data_options one = {.abi = SADDLE_ABI, .threads = 1};
    saddle_dataset *again = NULL;
    assert_ok(saddle_dataset_load(&again, "a9a", &one, 0, &error), error);
    assert_equal_data(data, again);
    saddle_dataset_free(again);
    saddle_dataset_free(data);
    data = load("a9a.t");
    ck_assert_uint_eq(data->rows, 16281);
    ck_assert_uint_eq(data->features, 122);
    saddle_dataset_free(data);
}

TEST(real_images_are_read_by_name)
{
    saddle_error error = {0};
    if (saddle_test_data("t10k-images-idx3-ubyte.gz") == NULL) {
        saddle_test_skip("MNIST is not in $SADDLE_DATA");
        return;
    }
    saddle_dataset *data = load("mnist.t");
    ck_assert_uint_eq(data->rows, 10000);
    ck_assert_uint_eq(data->features, 784);
    size_t outside = 0;
    for (size_t k = 0; k < data->rows * data->features; k++)
        outside += !(data->dense[k] >= 0.0 && data->dense[k] <= 1.0);
    ck_assert_uint_eq(outside, 0);
    size_t high = 0;
    for (size_t k = 0; k < data->rows; k++)
        high += data->label[k] >= 5.0;
    assert_ok(saddle_dataset_make_binary(data, NULL, &error), error);
    ck_assert_uint_eq(positives(data), high);
    saddle_dataset_free(data);
}

/* ---- finding files ---- */

static void assert_found(const char *name, const char *wanted)
{
    saddle_error error = {0};
    char *path = NULL;
    assert_ok(saddle_data_find(name, &path, &error), error);
    ck_assert_str_eq(path, wanted);
    saddle_free(path);
}

static void refuse_name(const char *name, const char *part)
{
    saddle_error error = {0};
    char *path = (char *)1;
    assert_refused(saddle_data_find(name, &path, &error), error, SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(path);
    saddle_dataset *data = (saddle_dataset *)1;
    assert_refused(saddle_dataset_load(&data, name, NULL, 0, &error), error, SADDLE_BAD_INPUT,
                   part);
    ck_assert_ptr_null(data);
}

TEST(names_are_looked_up_in_order)
{
    char home[4200];
    char file[4400];
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    saddle_snprintf(home, sizeof home, "%s/home", saddle_test_directory());
    ck_assert_int_eq(mkdir("given", 0700) | mkdir("home", 0700) | mkdir("home/saddle", 0700), 0);
    setenv("SADDLE_DATA", "given", 1);
    setenv("XDG_DATA_HOME", home, 1);
    refuse_name("a9a", "data fetch a9a");
    refuse_name("a9a", "not in given");
    refuse_name("a9a", home);
    saddle_snprintf(file, sizeof file, "%s/saddle/a9a", home);
    write_text(file, "1 1:1\n");
    assert_found("a9a", file);
    write_text("given/a9a", "1 1:1\n");
    assert_found("a9a", "given/a9a");
    /* A directory of that name is not a file. */
    ck_assert_int_eq(mkdir("a9a", 0700), 0);
    assert_found("a9a", "given/a9a");
    ck_assert_int_eq(rmdir("a9a"), 0);
    write_text("a9a", "1 1:1\n");
    assert_found("a9a", "a9a");
    /* MNIST's files; gzip'd ones are preferred. */
    write_text("given/train-images-idx3-ubyte", "");
    assert_found("mnist", "given/train-images-idx3-ubyte");
    write_text("given/train-images-idx3-ubyte.gz", "");
    assert_found("mnist", "given/train-images-idx3-ubyte.gz");
    write_text("given/t10k-images-idx3-ubyte", "");
    assert_found("mnist.t", "given/t10k-images-idx3-ubyte");
    /* The user's own files. */
    write_text("given/mine", "1 1:1\n");
    assert_found("mine", "given/mine");
}

TEST(unknown_names_are_explained)
{
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    unsetenv("SADDLE_DATA");
    setenv("HOME", "/nowhere", 1);
    unsetenv("XDG_DATA_HOME");
    refuse_name("nonsense", "a9a, a9a.t, mnist, mnist.t, synthetic");
    refuse_name("nonsense", "not in /nowhere/.local/share/saddle");
    refuse_name("mnits", "did you mean 'mnist'?");
    refuse_name("mnist", "data fetch mnist");
    refuse_name("./a9a", "No such file");
    refuse_name("", "no data set named");
    refuse_name(NULL, "the argument name is NULL");
    refuse_name("..", "directory");
    unsetenv("HOME");
    refuse_name("a9a", "HOME is not set");
}

TEST(data_directory_follows_xdg)
{
    saddle_error error = {0};
    char *path = NULL;
    setenv("HOME", "/home/u", 1);
    setenv("XDG_DATA_HOME", "/x", 1);
    assert_ok(saddle_data_directory(&path, &error), error);
    ck_assert_str_eq(path, "/x/saddle");
    saddle_free(path);
    static const char *const ignored[] = {"", "relative/path"};
    for (size_t k = 0; k < 2; k++) {
        setenv("XDG_DATA_HOME", ignored[k], 1);
        assert_ok(saddle_data_directory(&path, &error), error);
        ck_assert_str_eq(path, "/home/u/.local/share/saddle");
        saddle_free(path);
    }
    unsetenv("HOME");
    assert_refused(saddle_data_directory(&path, &error), error, SADDLE_BAD_INPUT, "HOME");
    ck_assert_ptr_null(path);
}

/* ---- the generator ---- */

TEST(synthetic_names_are_understood)
{
    saddle_error error = {0};
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    saddle_dataset *data = load("synthetic");
    ck_assert_uint_eq(data->rows, 32560);
    ck_assert_uint_eq(data->features, 123);
    saddle_dataset_free(data);
    data = load("synthetic:1e2:40");
    ck_assert_str_eq(data->name, "synthetic:1e2:40");
    ck_assert_uint_eq(data->rows, 100);
    ck_assert_uint_eq(data->features, 40);
    saddle_dataset_free(data);
    static const char *const bad[] = {"synthetic:",    "synthetic:0",     "synthetic:x",
                                      "synthetic:5:0", "synthetic:5:1.5", "synthetic:5:6:7",
                                      "synthetic:-1",  "synthetic:1:1"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_refused(saddle_dataset_load(&data, bad[k], NULL, 0, &error), error, SADDLE_BAD_INPUT,
                       "synthetic");
    assert_refused(saddle_dataset_generate(&data, 0, 0, 0, &error), error, SADDLE_BAD_INPUT,
                   "0 rows");
    /* A file of that name takes precedence. */
    write_text("synthetic", "7 1:1\n");
    data = load("synthetic");
    ck_assert_uint_eq(data->rows, 1);
    saddle_dataset_free(data);
}

TEST(generated_rows_depend_on_seed_and_number_only)
{
    saddle_error error = {0};
    saddle_dataset *small = NULL;
    saddle_dataset *large = NULL;
    saddle_dataset *other = NULL;
    assert_ok(saddle_dataset_generate(&small, 100, 0, 5, &error), error);
    assert_ok(saddle_dataset_generate(&large, 1000, 123, 5, &error), error);
    assert_ok(saddle_dataset_generate(&other, 100, 0, 6, &error), error);
    ck_assert_mem_eq(small->label, large->label, 100 * sizeof *small->label);
    ck_assert_mem_eq(small->row_start, large->row_start, 101 * sizeof *small->row_start);
    ck_assert_mem_eq(small->column, large->column, small->nonzeros * sizeof *small->column);
    ck_assert(memcmp(small->column, other->column, 1000 * sizeof *small->column) != 0);
    saddle_dataset_free(small);
    saddle_dataset_free(large);
    saddle_dataset_free(other);
}

/* Every row sets at most one feature of each of a9a's groups, and at least 11 in all. */
TEST(generated_rows_are_one_hot_by_group)
{
    static const uint32_t size[] = {5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41};
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_generate(&data, 20000, 0, 1, &error), error);
    double set[123] = {0};
    size_t wrong = 0;
    for (size_t row = 0; row < data->rows; row++) {
        size_t first = data->row_start[row];
        size_t last = data->row_start[row + 1];
        wrong += last - first < 11 || last - first > 14;
        int previous = -1;
        for (size_t k = first; k < last; k++) {
            int group = 0;
            for (uint32_t end = size[0]; data->column[k] >= end; end += size[group])
                group++;
            wrong += group <= previous;
            previous = group;
            set[data->column[k]] += 1.0 / 20000;
        }
    }
    ck_assert_uint_eq(wrong, 0);
    /* As in a9a: feature 72 a third, feature 73 two thirds; some missing, most from one country. */
    assert_near(set[71], 0.333, 0.017);
    assert_near(set[71] + set[72], 1.0, 1e-9);
    assert_near(set[82], 0.9, 0.03);
    assert_near((double)data->nonzeros / 20000, 13.87, 0.02);
    /* 24%, within five deviations of what the calibration's 16,384 rows and these 20,000 leave open. */
    assert_near((double)positives(data) / 20000, 0.24, 5 * sqrt(0.24 * 0.76 / 9000));
    saddle_dataset_free(data);
}

/* The probability that a positive row scores above a negative one, by sorting. */
struct scored {
    double score;
    double label;
};

static int by_score(const void *a, const void *b)
{
    double left = ((const struct scored *)a)->score;
    double right = ((const struct scored *)b)->score;
    return (left > right) - (left < right);
}

static double area_under_curve(struct scored *row, size_t count)
{
    qsort(row, count, sizeof *row, by_score);
    double below = 0.0;
    double above = 0.0;
    double positive = 0.0;
    for (size_t k = 0; k < count; k++) {
        below += row[k].label < 0.0;
        positive += row[k].label > 0.0;
        above += row[k].label > 0.0 ? below : 0.0;
    }
    return above / (below * positive);
}

/* Logistic regression with an intercept on the first rows, by plain gradient steps. */
static void regress(const saddle_dataset *data, size_t rows, int steps, double *weight)
{
    for (int step = 0; step < steps; step++) {
        double slope[124] = {0};
        for (size_t row = 0; row < rows; row++) {
            double score = weight[123];
            for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
                score += weight[data->column[k]];
            double miss = 1.0 / (1.0 + saddle_exp(-score)) - (data->label[row] > 0.0);
            for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
                slope[data->column[k]] += miss;
            slope[123] += miss;
        }
        for (size_t k = 0; k < 124; k++)
            weight[k] -= 0.5 * slope[k] / (double)rows;
    }
}

TEST(generated_labels_can_be_learned)
{
    enum { TRAIN = 8000, TEST = 8000 };
    saddle_error error = {0};
    for (uint64_t seed = 0; seed < 3; seed++) {
        saddle_dataset *data = NULL;
        assert_ok(saddle_dataset_generate(&data, TRAIN + TEST, 0, seed, &error), error);
        double weight[124] = {0};
        regress(data, TRAIN, 300, weight);
        struct scored *held_out = calloc(TEST, sizeof *held_out);
        for (size_t t = 0; t < TEST; t++) {
            size_t row = TRAIN + t;
            held_out[t].label = data->label[row];
            for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
                held_out[t].score += weight[data->column[k]];
        }
        assert_near(area_under_curve(held_out, TEST), 0.90, 0.05);
        free(held_out);
        saddle_dataset_free(data);
    }
}

TEST(generated_data_of_any_width_is_valid)
{
    static const size_t width[] = {2, 3, 5, 27, 28, 29, 122, 124, 5000};
    saddle_error error = {0};
    for (size_t w = 0; w < sizeof width / sizeof *width; w++) {
        saddle_dataset *data = NULL;
        assert_ok(saddle_dataset_generate(&data, 2000, width[w], 1, &error), error);
        ck_assert_uint_eq(data->features, width[w]);
        size_t wrong = 0;
        for (size_t row = 0; row < data->rows; row++) {
            wrong += data->row_start[row + 1] <= data->row_start[row];
            for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++) {
                wrong += data->column[k] >= width[w];
                wrong += k > data->row_start[row] && data->column[k] <= data->column[k - 1];
            }
        }
        ck_assert_uint_eq(wrong, 0);
        assert_near((double)positives(data) / 2000, 0.24, 5 * sqrt(0.24 * 0.76 / 1750));
        saddle_dataset_free(data);
    }
}

/* ---- saving and selecting ---- */

/* Returns sparse data with special numbers, an empty first row and unused last columns. */
static saddle_dataset *awkward(void)
{
    static const double value[] = {0.1,     1e-308, 4.9e-324, 1.7976931348623157e308,
                                   1.0 / 3, 1e15,   -7.0,     123456789012345680.0,
                                   1e22,    1e23,   2.5,      -0x1.fffffffffffffp-3};
    enum { VALUES = sizeof value / sizeof *value };
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_generate(&data, 60, 40, 2, &error), error);
    size_t dropped = data->row_start[1];
    data->nonzeros -= dropped;
    data->features = 50;
    memmove(data->column, data->column + dropped, data->nonzeros * sizeof *data->column);
    for (size_t row = 0; row < data->rows; row++) {
        data->row_start[row + 1] -= dropped;
        data->label[row] = value[(row * 5) % VALUES];
    }
    data->value = saddle_alloc_doubles(data->nonzeros);
    for (size_t k = 0; k < data->nonzeros; k++)
        data->value[k] = value[k % VALUES];
    return data;
}

TEST(saving_reads_back_equal)
{
    saddle_error error = {0};
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/saved", saddle_test_directory());
    saddle_dataset *data = awkward();
    assert_ok(saddle_dataset_save_libsvm(data, path, &error), error);
    saddle_dataset *again = load(path);
    assert_equal_data(again, data);
    saddle_dataset_free(again);
    assert_refused(saddle_dataset_save_libsvm(data, "/nowhere/x", &error), error, SADDLE_BAD_INPUT,
                   "/nowhere/x");
    data->value[7] = NAN;
    assert_refused(saddle_dataset_save_libsvm(data, path, &error), error, SADDLE_BAD_INPUT, "NaN");
    saddle_dataset_free(data);
}

TEST(dense_data_saves_as_sparse)
{
    saddle_error error = {0};
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/dense.csv", saddle_test_directory());
    write_text(path, "0.1,0,0,5\n0,0.25,0,-5\n");
    saddle_dataset *dense = load(path);
    saddle_snprintf(path, sizeof path, "%s/dense", saddle_test_directory());
    assert_ok(saddle_dataset_save_libsvm(dense, path, &error), error);
    saddle_dataset *sparse = load(path);
    ck_assert_uint_eq(sparse->features, 3);
    ck_assert_uint_eq(sparse->nonzeros, 2);
    ck_assert_mem_eq(sparse->label, dense->label, 2 * sizeof(double));
    ck_assert(sparse->value[0] == 0.1 && sparse->column[0] == 0);
    ck_assert(sparse->value[1] == 0.25 && sparse->column[1] == 1);
    saddle_dataset_free(sparse);
    saddle_dataset_free(dense);
}

TEST(selection_copies_rows)
{
    static const size_t row[] = {5, 0, 5, 9};
    saddle_error error = {0};
    char path[4200];
    saddle_dataset *data = NULL;
    saddle_dataset *part = NULL;
    assert_ok(saddle_dataset_generate(&data, 10, 0, 1, &error), error);
    assert_ok(saddle_dataset_select(&part, data, row, 4, &error), error);
    ck_assert_uint_eq(part->rows, 4);
    for (size_t k = 0; k < 4; k++) {
        size_t entries = data->row_start[row[k] + 1] - data->row_start[row[k]];
        ck_assert(part->label[k] == data->label[row[k]]);
        ck_assert_uint_eq(part->row_start[k + 1] - part->row_start[k], entries);
        ck_assert_mem_eq(part->column + part->row_start[k], data->column + data->row_start[row[k]],
                         entries * sizeof *data->column);
    }
    saddle_dataset_free(part);
    static const size_t beyond[] = {1, 10};
    assert_refused(saddle_dataset_select(&part, data, beyond, 2, &error), error, SADDLE_BAD_INPUT,
                   "row 10");
    ck_assert_ptr_null(part);
    saddle_dataset_free(data);
    saddle_snprintf(path, sizeof path, "%s/rows.csv", saddle_test_directory());
    write_text(path, "1,2,3\n4,0,6\n7,8,9\n");
    static const size_t last_first[] = {2, 1};
    static const double wanted[] = {7, 8, 4, 0};
    data = load(path);
    assert_ok(saddle_dataset_select(&part, data, last_first, 2, &error), error);
    ck_assert_mem_eq(part->dense, wanted, sizeof wanted);
    ck_assert_uint_eq(part->nonzeros, 3);
    ck_assert(part->label[0] == 9 && part->label[1] == 6);
    saddle_dataset_free(part);
    saddle_dataset_free(data);
}

/* Selection gives the same result with any number of threads, for sparse rows with and without values.
 * There are enough rows for five threads. */
TEST(selection_is_the_same_for_any_threads)
{
    enum { ROWS = 501, TAKEN = 80003 };
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    static size_t row[TAKEN];
    assert_ok(saddle_dataset_generate(&data, ROWS, 40, 3, &error), error);
    for (size_t k = 0; k < TAKEN; k++)
        row[k] = k * 7919 % ROWS;
    for (int valued = 0; valued < 2; valued++) {
        for (uint64_t threads = 1; threads < 6; threads++) {
            saddle_dataset *one = NULL;
            saddle_dataset *part = NULL;
            assert_ok(saddle_dataset_select(&one, data, row, TAKEN, &error), error);
            assert_ok(saddle_dataset_select_by(&part, data, row, TAKEN, threads, &error), error);
            assert_equal_data(part, one);
            ck_assert_int_eq(part->value != NULL, valued);
            size_t wrong = 0;
            for (size_t k = 0; k < TAKEN; k++)
                wrong += part->row_start[k + 1] - part->row_start[k] !=
                         data->row_start[row[k] + 1] - data->row_start[row[k]];
            ck_assert_uint_eq(wrong, 0);
            saddle_dataset_free(one);
            saddle_dataset_free(part);
        }
        if (valued == 0)
            data->value = saddle_alloc_doubles(data->nonzeros);
        for (size_t k = 0; valued == 0 && k < data->nonzeros; k++)
            data->value[k] = (double)k;
    }
    saddle_dataset_free(data);
}

/* Values that are all 1 are not stored; if a single one differs, all are stored, whichever thread reads it. */
TEST(ones_are_not_stored)
{
    enum { ROWS = 200 };
    saddle_error error = {0};
    char path[4200];
    char text[ROWS * 16];
    saddle_snprintf(path, sizeof path, "%s/ones", saddle_test_directory());
    for (size_t other = 0; other <= ROWS; other += 10) {
        text[0] = '\0';
        for (size_t row = 0; row < ROWS; row++)
            saddle_append(text, sizeof text, "1 1:1 %s", row == other ? "3:0.5\n" : "4:1\n");
        saddle_test_write(path, text);
        for (uint64_t threads = 1; threads < 8; threads += 3) {
            saddle_data_options options = {.abi = SADDLE_ABI, .threads = threads};
            saddle_dataset *data = NULL;
            assert_ok(saddle_dataset_load(&data, path, &options, 0, &error), error);
            ck_assert_int_eq(data->value != NULL, other < ROWS);
            for (size_t row = 0; row < ROWS; row++) {
                ck_assert_double_eq(saddle_entry_value(data, 2 * row), 1.0);
                ck_assert_double_eq(saddle_entry_value(data, 2 * row + 1),
                                    row == other ? 0.5 : 1.0);
            }
            saddle_dataset_free(data);
        }
    }
}

/* The distinct labels, few or many, are the same as found by sorting. */
TEST(distinct_labels_are_found)
{
    enum { COUNT = 3000 };
    static const uint64_t ranges[] = {1, 2, 10, 63, 64, 65, 500, 100000};
    double label[COUNT];
    double all[COUNT];
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        size_t expected = 0;
        for (size_t k = 0; k < COUNT; k++)
            label[k] = (double)saddle_rng_below(&rng, ranges[r]) - 7.0;
        for (size_t k = 0; k < COUNT; k++) {
            bool seen = false;
            for (size_t j = 0; j < expected && !seen; j++)
                seen = all[j] == label[k];
            if (!seen)
                all[expected++] = label[k];
        }
        ck_assert_uint_eq(saddle_labels_distinct(label, COUNT), expected);
        for (size_t k = 0; k < expected; k++) {
            bool found = false;
            for (size_t j = 0; j < expected && !found; j++)
                found = all[j] == label[k];
            ck_assert(found && (k == 0 || label[k - 1] < label[k]));
        }
    }
}

TEST(selection_of_mostly_zeros_is_sparse)
{
    static const size_t row[] = {1, 0};
    static const uint32_t column[] = {3, 1};
    static const double value[] = {-5, 2};
    saddle_error error = {0};
    char path[4200];
    saddle_dataset *part = NULL;
    saddle_snprintf(path, sizeof path, "%s/zeros.csv", saddle_test_directory());
    write_text(path, "0,2,0,0,1\n0,0,0,-5,0\n");
    saddle_dataset *data = load(path);
    assert_ok(saddle_dataset_select(&part, data, row, 2, &error), error);
    ck_assert_ptr_null(part->dense);
    ck_assert_uint_eq(part->nonzeros, 2);
    ck_assert_uint_eq(part->row_start[1], 1);
    ck_assert_uint_eq(part->row_start[2], 2);
    for (size_t k = 0; k < 2; k++) {
        ck_assert_uint_eq(part->column[k], column[k]);
        ck_assert_double_eq(part->value[k], value[k]);
    }
    ck_assert(part->label[0] == 0 && part->label[1] == 1);
    saddle_dataset_free(part);
    saddle_dataset_free(data);
    write_text(path, "0,2,0,0,1\n3,0,0,-5,0\n");
    data = load(path);
    assert_ok(saddle_dataset_select(&part, data, row, 2, &error), error);
    ck_assert_ptr_nonnull(part->dense);
    saddle_dataset_free(part);
    saddle_dataset_free(data);
}

/* ---- labels ---- */

/* Makes labels 0 .. count - 1, repeated, binary. If `part` is NULL, this must succeed. */
static void check_binary(size_t count, double offset, const char *positive, const char *wanted,
                         const char *part)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_generate(&data, 40, 4, 1, &error), error);
    double before[40];
    for (size_t k = 0; k < 40; k++)
        before[k] = data->label[k] = (double)(k % count) + offset;
    if (part != NULL) {
        assert_refused(saddle_dataset_make_binary(data, positive, &error), error, SADDLE_BAD_INPUT,
                       part);
        ck_assert_mem_eq(data->label, before, sizeof before);
    } else {
        assert_ok(saddle_dataset_make_binary(data, positive, &error), error);
        for (size_t k = 0; k < 40; k++)
            ck_assert(data->label[k] == (wanted[k % count] == '+' ? 1.0 : -1.0));
    }
    saddle_dataset_free(data);
}

TEST(labels_become_binary)
{
    check_binary(2, 0.0, NULL, "-+", NULL);
    check_binary(2, 1.0, "auto", "-+", NULL);
    check_binary(2, 1.0, "1", "+-", NULL);
    check_binary(10, 0.0, NULL, "-----+++++", NULL);
    check_binary(10, 0.0, "2,4,7", "--+-+--+--", NULL);
    check_binary(10, 0.0, "0-1,9,8.5-9.5", "++-------+", NULL);
    check_binary(4, -2.0, "-2--1", "++--", NULL);
    check_binary(4, 0.0, "1e0,30e-1", "-+-+", NULL);
}

TEST(unclear_labels_are_refused)
{
    check_binary(3, 0.0, NULL, NULL, "3 different labels (0, 1, 2)");
    check_binary(10, 1.0, NULL, NULL, "10 different labels (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)");
    check_binary(1, 0.0, NULL, NULL, "only 1 label (0)");
    check_binary(40, 0.5, NULL, NULL, "40 different labels (0.5, 1.5");
    check_binary(10, 0.0, "12", NULL, "'12' does not occur in the data; its labels are 0, 1");
    check_binary(10, 0.0, "0-9", NULL, "cover every row");
    static const char *const bad[] = {"", "x", "1,", "5-", "9-5", "1,,2", "nan", "-"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        check_binary(10, 0.0, bad[k], NULL, "neither a number nor a range");
}
