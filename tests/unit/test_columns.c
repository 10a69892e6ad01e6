/* Columns of CSV files: encodings, features by name, and columns as text. */
#include <stdlib.h>
#include <string.h>

#include <saddle/data.h>

#include "core/memory.h"
#include "core/print.h"
#include "data/columns.h"
#include "support.h"

static const char people[] = "color,age,label\nred,3,yes\nblue,0,no\nred,,yes\n\"a\"\"b\",5,no\n";

static saddle_dataset *load(const saddle_data_options *how)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    saddle_data_options options = *how;
    options.abi = SADDLE_ABI;
    saddle_test_enter_directory();
    saddle_test_write("p.csv", people);
    assert_ok(saddle_dataset_load(&data, "p.csv", &options, 0, &error), error);
    return data;
}

/* Asserts that the rows, as a dense matrix, are as defined. */
static void assert_rows(const saddle_dataset *data, size_t rows, size_t features,
                        const double *wanted)
{
    ck_assert_uint_eq(data->rows, rows);
    ck_assert_uint_eq(data->features, features);
    for (size_t k = 0; k < features; k++) {
        char number[24];
        double value[8];
        saddle_error error = {0};
        saddle_snprintf(number, sizeof number, "%zu", k + 1);
        assert_ok(saddle_dataset_column(data, number, value, &error), error);
        for (size_t row = 0; row < rows; row++)
            ck_assert_double_eq(value[row], wanted[row * features + k]);
    }
}

TEST(texts_become_features)
{
    saddle_dataset *data = load(&(saddle_data_options){.missing = SADDLE_MISSING_IMPUTE});
    /* Features: color=a"b, color=blue, color=red, age; the mean age is 8/3. */
    static const double hot[] = {0, 0, 1, 3, 0, 1, 0, 0, 0, 0, 1, 8.0 / 3.0, 1, 0, 0, 5};
    assert_rows(data, 4, 4, hot);
    ck_assert_ptr_null(data->dense);
    ck_assert_uint_eq(data->nonzeros, 7);
    ck_assert_uint_eq(data->imputed, 1);
    ck_assert_mem_eq(data->label, ((const double[]){1, 0, 1, 0}), 4 * sizeof(double));
    double value[4];
    saddle_error error = {0};
    assert_ok(saddle_dataset_column(data, "color", value, &error), error);
    ck_assert_mem_eq(value, ((const double[]){2, 1, 2, 0}), sizeof value);
    assert_ok(saddle_dataset_column(data, "color=red", value, &error), error);
    ck_assert_mem_eq(value, ((const double[]){1, 0, 1, 0}), sizeof value);
    assert_ok(saddle_dataset_column(data, "age", value, &error), error);
    ck_assert_mem_eq(value, ((const double[]){3, 0, 8.0 / 3.0, 5}), sizeof value);
    assert_refused(saddle_dataset_column(data, "color=green", value, &error), error,
                   SADDLE_BAD_INPUT, "'color=green' is not a feature");
    assert_refused(saddle_dataset_column(data, "5", value, &error), error, SADDLE_BAD_INPUT,
                   "a number from 1 to 4, or the name");
    saddle_dataset_free(data);

    data = load(&(saddle_data_options){.missing = SADDLE_MISSING_DROP, .categories = SADDLE_CODES});
    assert_rows(data, 3, 2, (const double[]){2, 3, 1, 0, 0, 5});
    ck_assert_uint_eq(data->dropped, 1);
    assert_ok(saddle_dataset_column(data, "color", value, &error), error);
    ck_assert_mem_eq(value, ((const double[]){2, 1, 0}), 3 * sizeof(double));
    /* Selections of a data set keep the names, and outlive it. */
    saddle_dataset *part = NULL;
    assert_ok(saddle_dataset_select(&part, data, (const size_t[]){2, 1}, 2, &error), error);
    saddle_dataset_free(data);
    assert_ok(saddle_dataset_column(part, "color", value, &error), error);
    ck_assert_mem_eq(value, ((const double[]){0, 1}), 2 * sizeof(double));
    saddle_dataset_free(part);
}

TEST(one_text_is_one_feature)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    saddle_test_enter_directory();
    saddle_test_write("o.csv", "color,label\nred,1\nred,0\n");
    assert_ok(saddle_dataset_load(&data, "o.csv", NULL, 0, &error), error);
    assert_rows(data, 2, 1, (const double[]){1, 1});
    double value[2];
    assert_ok(saddle_dataset_column(data, "color", value, &error), error);
    ck_assert_mem_eq(value, ((const double[]){0, 0}), sizeof value);
    saddle_dataset_free(data);
}

/* Of two texts that are equally frequent, the first is chosen; sums of two files are added. */
TEST(columns_are_merged)
{
    saddle_error error = {0};
    saddle_columns *a = NULL;
    saddle_columns *b = NULL;
    assert_ok(saddle_columns_parse(&a,
                                   "names\tcodes\nnone\tl\t\t0\t0\ntext\tc\t\t3\t0\tred\t3\n"
                                   "number\tn\t\t2\t5\n",
                                   &error),
              error);
    assert_ok(saddle_columns_parse(&b,
                                   "names\tcodes\nnone\tl\t\t0\t0\nnumber\tn\t\t1\t7\n"
                                   "text\tc\t\t4\t0\tblue\t3\tred\t1\n",
                                   &error),
              error);
    assert_ok(saddle_columns_merge(a, b, &error), error);
    assert_ok(saddle_columns_settle(a, SADDLE_ONE_HOT, true, &error), error);
    ck_assert_uint_eq(a->features, 3);
    ck_assert_double_eq(a->column[0].fill, 1.0);
    ck_assert_double_eq(a->column[1].fill, 4.0);
    size_t count;
    const char *const *text = saddle_columns_texts(a, 0, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(text[0], "blue");
    ck_assert_str_eq(text[1], "red");
    b->column[1].times[1] = 1;
    b->column[1].kind = SADDLE_COLUMN_NUMBER;
    assert_refused(saddle_columns_merge(a, b, &error), error, SADDLE_BAD_INPUT,
                   "holds numbers, but text in the files before");
    saddle_columns_free(a);
    saddle_columns_free(b);
}

TEST(columns_survive_as_text)
{
    saddle_error error = {0};
    static const char text[] =
        "names\tone-hot\ntext\tl\\\\\t\t4\t0\ta\\tb\t3\tc\\nd\t1\n"
        "number\tx\t0.10000000000000001\t7\t1e300\ntext\ty\t1\t2\t0\tp\t1\tq\t1\n";
    saddle_columns *columns = NULL;
    assert_ok(saddle_columns_parse(&columns, text, &error), error);
    ck_assert_str_eq(columns->label.name, "l\\");
    ck_assert_str_eq(columns->label.text[0], "a\tb");
    ck_assert_str_eq(columns->label.text[1], "c\nd");
    ck_assert_uint_eq(columns->features, 3);
    ck_assert_double_eq(columns->column[0].fill, 0.1);
    char *again = saddle_columns_print(columns, true);
    saddle_columns *twice = NULL;
    assert_ok(saddle_columns_parse(&twice, again, &error), error);
    char *third = saddle_columns_print(twice, true);
    ck_assert_str_eq(again, third);
    char *bare = saddle_columns_print(columns, false);
    ck_assert_ptr_null(strstr(bare, "1e+300"));
    ck_assert_ptr_null(strstr(bare, "1e300"));
    free(again);
    free(third);
    free(bare);
    saddle_columns_free(columns);
    saddle_columns_free(twice);
}

TEST(malformed_columns_are_refused)
{
#define HEAD "names\tcodes\nnone\tl\t\t0\t0\n"
    static const char *const bad[] = {
        "",
        "names\tcodes\n",
        HEAD,
        "name\tcodes\nnone\tl\t\t0\t0\nnumber\tx\t\t0\t0\n",
        "names\tcold\nnone\tl\t\t0\t0\nnumber\tx\t\t0\t0\n",
        HEAD "number\tx\t\t0\n",
        HEAD "number\tx\t\t0\tnan\n",
        HEAD "number\tx\tinf\t0\t0\n",
        HEAD "number\tx\t\t-1\t0\n",
        HEAD "number\tx\\y\t\t0\t0\n",
        HEAD "number\tx\\\t\t0\t0\n",
        HEAD "number\tx\t\t0\t0\ta\t1\n",
        HEAD "text\tx\t\t0\t0\n",
        HEAD "text\tx\t\t0\t0\ta\n",
        HEAD "text\tx\t\t0\t0\tb\t1\ta\t1\n",
        HEAD "text\tx\t\t0\t0\ta\t1\ta\t1\n",
        HEAD "text\tx\t2\t0\t0\ta\t1\tb\t1\n",
        HEAD "text\tx\t0.5\t0\t0\ta\t1\tb\t1\n",
        HEAD "letter\tx\t\t0\t0\n",
        HEAD "\n",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_error error = {0};
        saddle_columns *columns = (saddle_columns *)1;
        assert_refused(saddle_columns_parse(&columns, bad[k], &error), error, SADDLE_BAD_INPUT,
                       "the columns is damaged");
        ck_assert_ptr_null(columns);
    }
}
