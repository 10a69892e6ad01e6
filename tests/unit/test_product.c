/* Products of dense matrices: every version against the explicit sums, to the last bit. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/product.h"
#include "core/rng.h"
#include "core/vector.h"
#include "instances.h"
#include "support.h"

/* Lists the versions that this processor can run. */
static size_t versions(saddle_product_adder *version[4])
{
    size_t count = 0;
    version[count++] = saddle_add_product;
    version[count++] = saddle_add_product_plain;
#ifdef SADDLE_X86_VECTORS
    if (saddle_vector_bits() >= 256)
        version[count++] = saddle_add_product_avx2;
    if (saddle_vector_bits() >= 512)
        version[count++] = saddle_add_product_avx512;
#endif
    return count;
}

static double *normals(size_t count, saddle_rng *rng)
{
    double *v = test_doubles(count);
    for (size_t k = 0; k < count; k++)
        v[k] = saddle_rng_normal(rng);
    return v;
}

/* Returns a contiguous matrix, stored by rows or by columns. */
static saddle_matrix matrix(const double *at, size_t rows, size_t columns, bool by_rows)
{
    return by_rows ? saddle_by_rows(at, columns) : saddle_transposed(at, rows);
}

static double entry(saddle_matrix m, size_t i, size_t k)
{
    return m.at[i * m.row + k * m.column];
}

/* c += a b, entry by entry in ascending order. */
static void add_slowly(saddle_product_size size, saddle_matrix a, saddle_matrix b, double *c)
{
    for (size_t i = 0; i < size.rows; i++)
        for (size_t j = 0; j < size.columns; j++)
            for (size_t k = 0; k < size.depth; k++)
                c[i * size.columns + j] += entry(a, i, k) * entry(b, k, j);
}

/* Entries of c + a b in long double, within the bound of a sum of depth + 1 terms. */
static void check_values(saddle_product_size size, saddle_matrix a, saddle_matrix b,
                         const double *before, const double *c)
{
    for (size_t i = 0; i < size.rows; i++)
        for (size_t j = 0; j < size.columns; j++) {
            long double sum = before[i * size.columns + j];
            long double sizes = fabsl(sum);
            for (size_t k = 0; k < size.depth; k++) {
                long double term = (long double)entry(a, i, k) * entry(b, k, j);
                sum += term;
                sizes += fabsl(term);
            }
            assert_near(c[i * size.columns + j], (double)sum,
                        (double)(size.depth + 1) * DBL_EPSILON * (double)sizes);
        }
}

static void check_size(saddle_product_size size, bool a_by_rows, bool b_by_rows, saddle_rng *rng)
{
    size_t entries = size.rows * size.columns;
    size_t bytes = entries * sizeof(double);
    double *left = normals(size.rows * size.depth, rng);
    double *right = normals(size.depth * size.columns, rng);
    double *before = normals(entries, rng);
    double *expected = test_doubles(entries);
    saddle_matrix a = matrix(left, size.rows, size.depth, a_by_rows);
    saddle_matrix b = matrix(right, size.depth, size.columns, b_by_rows);
    memcpy(expected, before, bytes);
    add_slowly(size, a, b, expected);
    check_values(size, a, b, before, expected);

    saddle_product_adder *version[4];
    size_t count = versions(version);
    for (size_t v = 0; v < count; v++) {
        double *c = test_doubles(entries);
        memcpy(c, before, bytes);
        version[v](size, a, b, c);
        ck_assert_msg(memcmp(c, expected, bytes) == 0, "version %zu, %zu x %zu x %zu", v, size.rows,
                      size.columns, size.depth);
        free(c);
    }
    free(left);
    free(right);
    free(before);
    free(expected);
}

TEST(products_are_right_to_the_last_bit)
{
    /* Around the sizes of tiles, panels and groups. */
    static const size_t rows[] = {1, 2, 3, 4, 7, 8, 9, 45, 129};
    static const size_t columns[] = {1, 5, 7, 8, 9, 15, 16, 17, 64};
    static const size_t depth[] = {1, 2, 64, 127, 128, 129, 300};
    saddle_rng rng;
    saddle_rng_init(&rng, 11, SADDLE_RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            for (size_t k = 0; k < sizeof depth / sizeof *depth; k++) {
                saddle_product_size size = {rows[i], columns[j], depth[k]};
                size_t layout = (i + j + k) % 4;
                check_size(size, layout % 2 == 0, layout / 2 == 0, &rng);
            }
    for (size_t layout = 0; layout < 4; layout++)
        check_size((saddle_product_size){261, 43, 259}, layout % 2 == 0, layout / 2 == 0, &rng);
}

TEST(products_of_nothing_change_nothing)
{
    saddle_product_adder *version[4];
    size_t count = versions(version);
    for (size_t v = 0; v < count; v++) {
        double c[6] = {1, 2, 3, 4, 5, 6};
        static const double expected[6] = {1, 2, 3, 4, 5, 6};
        static const double some[6] = {7, 7, 7, 7, 7, 7};
        version[v]((saddle_product_size){2, 3, 0}, saddle_by_rows(some, 0), saddle_by_rows(some, 3),
                   c);
        version[v]((saddle_product_size){0, 3, 2}, saddle_by_rows(some, 2), saddle_by_rows(some, 3),
                   c);
        version[v]((saddle_product_size){3, 0, 2}, saddle_by_rows(some, 2), saddle_by_rows(some, 0),
                   c);
        ck_assert_mem_eq(c, expected, sizeof c);
    }
}

/* A NaN in a affects its row of c, one in b its column, and nothing else. */
TEST(nan_stays_in_its_row_or_column)
{
    enum { ROWS = 21, COLUMNS = 19, DEPTH = 130, ROW = 20, COLUMN = 18, AT = 129 };
    saddle_rng rng;
    saddle_rng_init(&rng, 12, SADDLE_RNG_TEST, 0, 0);
    double *a = normals((size_t)ROWS * DEPTH, &rng);
    double *b = normals((size_t)DEPTH * COLUMNS, &rng);
    a[ROW * DEPTH + AT] = NAN;
    b[AT * COLUMNS + COLUMN] = NAN;
    saddle_product_adder *version[4];
    size_t count = versions(version);
    for (size_t v = 0; v < count; v++) {
        double c[ROWS * COLUMNS] = {0.0};
        version[v]((saddle_product_size){ROWS, COLUMNS, DEPTH}, saddle_by_rows(a, DEPTH),
                   saddle_by_rows(b, COLUMNS), c);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                ck_assert_int_eq(isnan(c[i * COLUMNS + j]) != 0, i == ROW || j == COLUMN);
    }
    free(a);
    free(b);
}
