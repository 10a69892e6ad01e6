#include "core/dense.h"

#include <math.h>

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
