#include "observe/whitening.h"

#include "core/dense.h"
#include "core/vector.h"
#include "observe/group_norms.h"

/* The multiple of the diagonal that is added is 0 at first. These are its bounds, the least after a step that was too
 * long, and how it changes. A matrix that rounding has made singular gets little more than the rounding errors: its
 * flattest directions, such as a column that hardly varies around a large mean, are the ones to be found. */
#define LEAST_DAMPING 1e-9
#define MOST_DAMPING 1e2
#define SOME_DAMPING 1e-7
#define ROUNDING 1e-14
#define MORE_DAMPING 8.0
#define LESS_DAMPING 0.125
/* The inverse is renewed if the curvature of a boundary has changed a diagonal entry by this part. */
#define CHANGED 0.2

size_t saddle_whitening_scratch(size_t n)
{
    return saddle_triangle_size(n) + 2 * n;
}

/* Returns the diagonal entry that a coordinate is to have; 0: it is not free. */
static double diagonal_at(const saddle_descent_state *s, size_t k)
{
    return s->slope[k] != 0.0 ? saddle_metric_at(s, k) : 0.0;
}

static bool is_adapted(const saddle_descent_state *s)
{
    if (s->damping != s->factored_damping)
        return false;
    for (size_t k = 0; k < s->n; k++) {
        double wanted = diagonal_at(s, k);
        if (!(fabs(s->factored[k] - wanted) <= CHANGED * fmin(wanted, s->factored[k])))
            return false;
    }
    return true;
}

/* Copies the matrix of the free coordinates; the others have the identity's rows. */
static void copy_matrix(saddle_descent_state *s)
{
    const double *from = s->given->matrix;
    double *to = s->factor;
    saddle_find_inverse_norms(s, s->white);
    for (size_t k = 0; k < s->n; from += k + 1, to += k + 1, k++) {
        s->factored[k] = diagonal_at(s, k);
        for (size_t c = 0; c < k; c++)
            to[c] = s->factored[k] > 0.0 && s->factored[c] > 0.0
                        ? saddle_group_entry(s, s->white, k, c, from[c])
                        : 0.0;
        to[k] = s->factored[k] > 0.0 ? s->factored[k] + s->damping * from[k] : 1.0;
    }
}

void saddle_whiten(saddle_descent_state *s)
{
    if (s->given->matrix == NULL || is_adapted(s))
        return;
    for (;;) {
        copy_matrix(s);
        s->factored_damping = s->damping;
        if (saddle_factor_dense(s->n, s->factor) || !(s->damping < MOST_DAMPING))
            return;
        s->damping = s->least_damping = fmax(s->damping * MORE_DAMPING, ROUNDING);
    }
}

void saddle_damp(saddle_descent_state *s, bool more)
{
    double less = s->damping * LESS_DAMPING;
    s->damping = more ? fmin(fmax(s->damping * MORE_DAMPING, SOME_DAMPING), MOST_DAMPING)
                 : less > LEAST_DAMPING ? less
                                        : s->least_damping;
}

void saddle_apply_inverse(const saddle_descent_state *s, double *v)
{
    if (s->given->matrix != NULL) {
        saddle_solve_lower(s->n, s->factor, v);
        saddle_solve_upper(s->n, s->factor, v);
        return;
    }
    for (size_t k = 0; k < s->n; k++)
        v[k] = s->slope[k] != 0.0 ? v[k] / saddle_metric_at(s, k) : 0.0;
}

double saddle_inverse_square(const saddle_descent_state *s, const double *v)
{
    double sum = 0.0;
    if (s->given->matrix != NULL) {
        for (size_t k = 0; k < s->n; k++)
            s->white[k] = s->slope[k] != 0.0 ? v[k] : 0.0;
        saddle_solve_lower(s->n, s->factor, s->white);
        return saddle_norm2(s->n, s->white);
    }
    for (size_t k = 0; k < s->n; k++)
        sum += s->slope[k] != 0.0 ? v[k] * v[k] / saddle_metric_at(s, k) : 0.0;
    return sum;
}

double saddle_move_square(const saddle_descent_state *s, const double *move)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        sum += (1.0 + s->factored_damping) * s->given->metric[k] * move[k] * move[k];
    const double *row = s->given->matrix;
    for (size_t k = 0; row != NULL && k < s->n; row += ++k)
        sum += 2.0 * move[k] * saddle_dot(k, row, move);
    return fmax(sum, 0.0);
}
