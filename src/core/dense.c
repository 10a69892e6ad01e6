#include "core/dense.h"

#include "core/vector.h"

static void swap_rows(size_t n, double *a, double *b)
{
    for (size_t k = 0; k < n; k++) {
        double kept = a[k];
        a[k] = b[k];
        b[k] = kept;
    }
}

/* Swaps the row with the largest entry of a column, at or below the diagonal, up to the diagonal. */
static bool pivot(size_t n, size_t column, double *matrix, double *right)
{
    size_t best = column;
    for (size_t r = column + 1; r < n; r++)
        if (fabs(matrix[r * n + column]) > fabs(matrix[best * n + column]))
            best = r;
    if (best != column) {
        swap_rows(n - column, matrix + best * n + column, matrix + column * n + column);
        swap_rows(1, right + best, right + column);
    }
    double size = fabs(matrix[column * n + column]);
    return size > 0.0 && isfinite(size);
}

/* Returns the number of zeros that a row begins with, before its last entry. */
static size_t leading_zeros(size_t row, const double *entries)
{
    size_t k = 0;
    while (k < row && entries[k] == 0.0)
        k++;
    return k;
}

bool saddle_factor_dense(size_t n, double *packed)
{
    double *row = packed;
    for (size_t i = 0; i < n; row += ++i) {
        const double *above = packed;
        size_t first = leading_zeros(i, row);
        for (size_t j = 0; j < i; above += ++j)
            if (j >= first)
                row[j] = (row[j] - saddle_dot(j - first, row + first, above + first)) / above[j];
        double square = row[i] - saddle_norm2(i - first, row + first);
        if (!(square > 0.0) || !isfinite(square))
            return false;
        row[i] = sqrt(square);
    }
    return true;
}

void saddle_solve_lower(size_t n, const double *packed, double *right)
{
    for (size_t i = 0; i < n; packed += ++i)
        right[i] = (right[i] - saddle_dot(i, packed, right)) / packed[i];
}

void saddle_solve_upper(size_t n, const double *packed, double *right)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = packed + saddle_triangle_size(i);
        right[i] /= row[i];
        saddle_axpy(i, -right[i], row, right);
    }
}

bool saddle_solve_dense(size_t n, double *matrix, double *right)
{
    for (size_t c = 0; c < n; c++) {
        const double *top = matrix + c * n;
        if (!pivot(n, c, matrix, right))
            return false;
        for (size_t r = c + 1; r < n; r++) {
            double factor = matrix[r * n + c] / top[c];
            saddle_axpy(n - c - 1, -factor, top + c + 1, matrix + r * n + c + 1);
            right[r] -= factor * right[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        const double *row = matrix + c * n;
        right[c] = (right[c] - saddle_dot(n - c - 1, row + c + 1, right + c + 1)) / row[c];
    }
    return true;
}
