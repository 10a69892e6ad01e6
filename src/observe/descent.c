#include "observe/descent.h"

#include "core/vector.h"
#include "observe/boundary.h"
#include "observe/group_norms.h"
#include "observe/hessian.h"
#include "observe/whitening.h"
#include "sets/set.h"

/* The most points that are tried along a direction of L-BFGS, and along the metric's own. */
#define TRIES 5
#define METRIC_TRIES 60
/* The most points that are tried to find the length of the first step. */
#define PROBES 4
/* A step is accepted if it makes this part of the decrease that the slope predicts. */
#define SUFFICIENT 1e-4
/* Decreases of less than this part of f + h are rounding errors. */
#define ROUNDING 1e-15
/* How many times less than its matrix the curvature of f may be, if nothing is added to the matrix. */
#define OTHER_CURVATURE 1e3

size_t saddle_descent_scratch(const saddle_prox *prox)
{
    size_t n = saddle_set_dimension(saddle_prox_set(prox));
    return (SADDLE_SEARCH_VECTORS + 2 * SADDLE_SEARCH_PAIRS) * n + saddle_prox_scratch(prox) +
           (saddle_hessian_size(n) > 0 ? saddle_whitening_scratch(n) : 0);
}

static saddle_descent_state begin(const saddle_descent *given, double *x, double *scratch)
{
    size_t n = saddle_set_dimension(saddle_prox_set(given->prox));
    saddle_descent_state s = {.given = given,
                              .h = saddle_prox_regularizer(given->prox),
                              .n = n,
                              .left = given->evaluations,
                              .length = 1.0,
                              .x = x,
                              .g = scratch,
                              .next = scratch + n,
                              .next_g = scratch + 2 * n,
                              .slope = scratch + 3 * n,
                              .direction = scratch + 4 * n,
                              .normal = scratch + 5 * n,
                              .bend = scratch + 6 * n};
    for (size_t k = 0; k < SADDLE_SEARCH_PAIRS; k++) {
        s.move[k] = scratch + (SADDLE_SEARCH_VECTORS + 2 * k) * n;
        s.change[k] = s.move[k] + n;
    }
    s.scratch = scratch + (SADDLE_SEARCH_VECTORS + 2 * SADDLE_SEARCH_PAIRS) * n;
    s.followed = saddle_can_follow(&s);
    if (given->matrix != NULL) {
        s.white = s.scratch + saddle_prox_scratch(given->prox);
        s.factored = s.white + n;
        s.factor = s.factored + n;
        memset(s.factored, 0, n * sizeof *s.factored);
        s.factored_damping = -1.0; /* not factored yet */
    }
    if (!s.h->is_zero && saddle_regularizer_kind(s.h)->weights != NULL)
        s.weight = saddle_regularizer_kind(s.h)->weights(s.h);
    s.group_weight = saddle_group_weight(s.h, &s.group_size);
    /* The slope of a group at 0 that a bound holds back is not followed. */
    if (s.group_weight > 0.0 && saddle_set_kind(saddle_prox_set(given->prox)) != &saddle_set_none)
        s.followed = false;
    return s;
}

/* Returns f + h at a point. */
static double total_at(saddle_descent_state *s, const double *x)
{
    s->left--;
    return s->given->value(s->given->context, x) + saddle_regularizer_value(s->h, x);
}

/* Returns the size of differences of f + h that are rounding errors. */
static double rounding_of(const saddle_descent_state *s)
{
    return ROUNDING * fabs(s->total);
}

/* Returns whether what was found is not a small part of what can be. */
static bool is_known(const saddle_descent_state *s)
{
    return s->most <= fmax(s->given->unknown * (s->start - s->total), s->given->ignored);
}

/* Returns whether the search is done: it has no evaluations left, or is at its goal. A first number of them is for any
 * search; more are for one that has found little, while that may be a small part of what is left. */
static bool is_done(const saddle_descent_state *s, double goal)
{
    double found = s->start - s->total;
    if (s->left <= 0 || !(s->total >= goal))
        return true;
    if (s->left > s->given->evaluations - s->given->least)
        return false;
    return found > s->given->plenty || is_known(s);
}

/* ---- L-BFGS on free coordinates ------------------------------------------------------------- */

/* Returns the side of 0 on which coordinate k may be at the next point, or 0 if it does not matter: with an l1 term,
 * points of one orthant. */
static double side(const saddle_descent_state *s, size_t k)
{
    if (s->weight.l1 == 0.0)
        return 0.0;
    return s->x[k] != 0.0 ? copysign(1.0, s->x[k]) : -copysign(1.0, s->slope[k]);
}

/* Computes the slope of f + h; it is 0 where the coordinate cannot move downhill. */
static void find_slope(saddle_descent_state *s)
{
    for (size_t k = 0; k < s->n; k++) {
        double l1 = s->weight.l1;
        double smooth = s->g[k] + s->weight.l2 * s->x[k];
        double right = smooth + (s->x[k] < 0.0 ? -l1 : l1);
        double left = smooth + (s->x[k] > 0.0 ? l1 : -l1);
        s->slope[k] = right < 0.0 ? right : left > 0.0 ? left : 0.0;
    }
    saddle_add_group_slopes(s);
    for (size_t k = 0; k < s->n; k++)
        if (s->given->metric[k] == 0.0)
            s->slope[k] = 0.0;
    /* A bound holds back the coordinates that a projected move leaves where they are. */
    for (size_t k = 0; k < s->n; k++)
        s->next[k] = s->slope[k] == 0.0 ? s->x[k]
                                        : s->x[k] - copysign(fmax(1.0, fabs(s->x[k])), s->slope[k]);
    saddle_piece f;
    for (size_t i = 0; i < saddle_find_piece(s, i, &f); i++) {
        if (saddle_set_kind(f.set)->separable)
            saddle_set_project(f.set, s->next + f.offset, s->scratch);
        for (size_t k = f.offset; k < saddle_piece_end(&f); k++)
            if (s->next[k] == s->x[k])
                s->slope[k] = 0.0;
        saddle_follow_boundary(s, &f);
    }
    saddle_add_group_bends(s);
}

/* Returns the sum of a b over the coordinates that are free. */
static double free_dot(const saddle_descent_state *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        sum += s->slope[k] != 0.0 ? a[k] * b[k] : 0.0;
    return sum;
}

/* Sets the length of steps along the slope to that of the last pair. */
static void find_length(saddle_descent_state *s)
{
    if (s->given->matrix != NULL)
        return;
    for (size_t p = s->pairs; p-- > 0;)
        if (s->product[p] > 0.0) {
            s->length = s->product[p] / saddle_inverse_square(s, s->change[p]);
            return;
        }
}

/* Makes a slope a move. */
static void into_metric(const saddle_descent_state *s, double *d)
{
    for (size_t k = 0; k < s->n; k++)
        d[k] = s->slope[k] != 0.0 ? s->length * d[k] : 0.0;
    saddle_apply_inverse(s, d);
    saddle_make_tangent(s, d);
}

/* Computes the direction by the two loops of Nocedal (Math. Comp. 35, 1980). */
static void find_direction(saddle_descent_state *s)
{
    double factor[SADDLE_SEARCH_PAIRS];
    double *d = s->direction;
    for (size_t k = 0; k < s->n; k++)
        d[k] = -s->slope[k];
    for (size_t p = s->pairs; p-- > 0;) {
        s->product[p] = free_dot(s, s->move[p], s->change[p]);
        factor[p] = 0.0;
        if (!(s->product[p] > 0.0))
            continue;
        factor[p] = free_dot(s, s->move[p], d) / s->product[p];
        saddle_axpy(s->n, -factor[p], s->change[p], d);
    }
    find_length(s);
    into_metric(s, d);
    for (size_t p = 0; p < s->pairs; p++)
        if (s->product[p] > 0.0)
            saddle_axpy(s->n, factor[p] - free_dot(s, s->change[p], d) / s->product[p], s->move[p],
                        d);
    saddle_make_tangent(s, d);
    if (saddle_hold_balls(s))
        saddle_make_tangent(s, d);
    /* Uphill, or across 0 against the slope: the metric's own direction. */
    if (free_dot(s, d, s->slope) < 0.0)
        return;
    s->pairs = 0;
    for (size_t k = 0; k < s->n; k++)
        d[k] = -s->slope[k];
    into_metric(s, d);
    if (saddle_hold_balls(s))
        saddle_make_tangent(s, d);
}

/* Computes the point at a length along the direction, within X and the orthant of x. */
static void go(saddle_descent_state *s, double length)
{
    for (size_t k = 0; k < s->n; k++) {
        s->next[k] = s->x[k];
        if (s->slope[k] == 0.0)
            continue;
        s->next[k] += length * s->direction[k];
        if (side(s, k) * s->next[k] < 0.0)
            s->next[k] = 0.0;
    }
    saddle_stop_groups_at_zero(s);
    saddle_move_into_simplices(s);
    saddle_set_project(saddle_prox_set(s->given->prox), s->next, s->scratch);
}

/* Returns the decrease that the slope predicts for the move to `next`; negative. */
static double predicted(const saddle_descent_state *s)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        sum += s->slope[k] * (s->next[k] - s->x[k]);
    return sum;
}

/* Finds the length of the first step, whose unit, that of f, is not known before: the one that fits the change of the
 * gradient along it. */
static void probe(saddle_descent_state *s)
{
    int left = s->left;
    double ratio = 0.0;
    find_slope(s);
    for (int tries = 0; tries < PROBES && !(ratio > 0.5 && ratio < 2.0); tries++) {
        find_direction(s);
        go(s, 1.0);
        ratio = 1e-4;
        if (isfinite(total_at(s, s->next))) {
            s->given->gradient(s->given->context, s->next_g);
            double along = 0.0;
            for (size_t k = 0; k < s->n; k++) {
                s->next_g[k] -= s->g[k];
                along += s->next_g[k] * (s->next[k] - s->x[k]);
            }
            double square = saddle_inverse_square(s, s->next_g);
            ratio = square > 0.0 ? fabs(along) / square / s->length : 1e8;
        }
        s->length *= fmin(fmax(ratio, 1e-8), 1e8);
    }
    /* How many there are depends on the unit and must not shorten the search. */
    s->left = left;
}

/* Moves along the direction, shortened by the parabola through what is known until the decrease is sufficient;
 * returns whether it was found. */
static bool search_line(saddle_descent_state *s)
{
    double length = saddle_longest_move(s);
    for (int tries = 0; s->left > 0 && tries < (s->pairs == 0 ? METRIC_TRIES : TRIES); tries++) {
        go(s, length);
        double slope = predicted(s);
        if (!(fabs(slope) > 0.0))
            break;
        /* A long move along the boundary of a ball, or out of it, may lead uphill. */
        if (!(slope < 0.0)) {
            length *= 0.1;
            continue;
        }
        double total = total_at(s, s->next);
        /* A move to a bound may be too short to be seen. */
        double rounding = -slope <= rounding_of(s) ? rounding_of(s) : 0.0;
        if (total <= s->total + SUFFICIENT * slope + rounding) {
            s->total = total;
            saddle_damp(s, tries > 0);
            return true;
        }
        double bend = total - s->total - slope;
        double part = isfinite(bend) && bend > 0.0 ? -0.5 * slope / bend : 1e-3;
        length *= fmin(fmax(part, s->given->matrix != NULL ? 0.1 : 1e-10), 0.5);
    }
    return false;
}

/* Replaces x by the next point and remembers the pair. The oldest pair goes. */
static void accept(saddle_descent_state *s)
{
    if (s->pairs == SADDLE_SEARCH_PAIRS) {
        double *oldest[] = {s->move[0], s->change[0]};
        memmove(s->move, s->move + 1, (SADDLE_SEARCH_PAIRS - 1) * sizeof *s->move);
        memmove(s->change, s->change + 1, (SADDLE_SEARCH_PAIRS - 1) * sizeof *s->change);
        s->move[SADDLE_SEARCH_PAIRS - 1] = oldest[0];
        s->change[SADDLE_SEARCH_PAIRS - 1] = oldest[1];
        s->pairs--;
    }
    double *move = s->move[s->pairs];
    double *change = s->change[s->pairs++];
    for (size_t k = 0; k < s->n; k++) {
        move[k] = s->next[k] - s->x[k];
        change[k] = s->next_g[k] - s->g[k] + (s->weight.l2 + s->bend[k]) * move[k];
    }
    saddle_change_group_slopes(s, change);
    saddle_remove_normals(s, change);
    memcpy(s->x, s->next, s->n * sizeof *s->x);
    memcpy(s->g, s->next_g, s->n * sizeof *s->g);
}

/* Finds how much can be left: a convex function decreases by at most the slope times the way to its minimum. That is
 * assumed to be no longer than the way to the reference and from there to the minimum of a parabola that is lower by
 * the gain. The curvature says the same, but may have changed. */
static void find_most(saddle_descent_state *s)
{
    for (size_t k = 0; k < s->n; k++)
        s->next[k] = s->x[k] - s->given->reference[k];
    double gain = fmax(s->given->gain, s->start - s->total);
    double way2 = saddle_move_square(s, s->next) + 2.0 * s->length * gain;
    for (size_t k = 0; k < s->n; k++)
        way2 += s->length * s->bend[k] * s->x[k] * s->x[k];
    double square = saddle_inverse_square(s, s->slope);
    s->most = sqrt(square * way2);
    if (s->given->matrix != NULL && s->factored_damping == 0.0)
        s->most = fmin(s->most, OTHER_CURVATURE * 0.5 * square);
}

static void quasi_newton(saddle_descent_state *s, double goal)
{
    if (s->given->matrix == NULL)
        probe(s);
    for (;;) {
        find_slope(s);
        saddle_whiten(s);
        find_most(s);
        if (is_done(s, goal))
            return;
        find_direction(s);
        double ahead = -free_dot(s, s->direction, s->slope);
        double found = s->start - s->total;
        s->at_rest = s->followed && !(ahead > fmax(s->given->negligible, rounding_of(s)));
        if (s->given->matrix != NULL && found > s->given->plenty)
            s->at_rest = s->at_rest || ahead <= s->given->precise * found;
        if (s->at_rest)
            return;
        if (!search_line(s)) {
            if (s->pairs == 0)
                return;
            s->pairs = 0;
            saddle_damp(s, true);
            continue;
        }
        s->given->gradient(s->given->context, s->next_g);
        accept(s);
    }
}

/* ---- proximal gradient steps ---------------------------------------------------------------- */

/* Makes a proximal step of this length; returns whether f + h decreases as much as a function of curvature 1/length
 * must. *moved receives the squared length of the move. */
static bool step(saddle_descent_state *s, double length, double *moved)
{
    memcpy(s->next, s->x, s->n * sizeof *s->x);
    saddle_axpy(s->n, -length, s->g, s->next);
    saddle_prox_apply(s->given->prox, length, s->next, s->scratch);
    *moved = saddle_distance2(s->n, s->next, s->x);
    double total = total_at(s, s->next);
    if (!(*moved > 0.0) || !(total <= s->total - 0.1 * *moved / length))
        return false;
    s->total = total;
    return true;
}

/* Returns the length of a first proximal step: that of the last pair, if there is one. */
static double first_length(const saddle_descent_state *s)
{
    if (s->pairs == 0)
        return 1.0;
    const double *move = s->move[s->pairs - 1];
    double along = saddle_dot(s->n, move, s->change[s->pairs - 1]);
    return along > 0.0 ? saddle_norm2(s->n, move) / along : 1.0;
}

static void proximal_steps(saddle_descent_state *s, double goal)
{
    double length = first_length(s);
    double most = s->most; /* at the last point that was accepted */
    while (!is_done(s, goal)) {
        double moved;
        bool good = step(s, length, &moved);
        double way2 = saddle_distance2(s->n, s->next, s->given->reference);
        s->most = fmin(most, sqrt(moved * way2) / length);
        if (!(moved / length > s->given->negligible))
            return;
        if (!good) {
            length *= 0.125;
            continue;
        }
        most = s->most;
        s->given->gradient(s->given->context, s->next_g);
        double along = 0.0;
        for (size_t k = 0; k < s->n; k++)
            along += (s->next_g[k] - s->g[k]) * (s->next[k] - s->x[k]);
        length = along > 0.0 ? moved / along : 8.0 * length;
        memcpy(s->x, s->next, s->n * sizeof *s->x);
        memcpy(s->g, s->next_g, s->n * sizeof *s->g);
    }
}

saddle_decrease saddle_descend(const saddle_descent *descent, double *x, double *scratch)
{
    saddle_descent_state s = begin(descent, x, scratch);
    s.total = total_at(&s, x);
    s.start = s.total + descent->before;
    s.most = INFINITY;
    if (!isfinite(s.total))
        return (saddle_decrease){.start = s.total, .found = (double)NAN, .left = INFINITY};
    double start = s.total;
    descent->gradient(descent->context, s.g);
    double goal = s.start - descent->enough;
    bool smooth =
        s.h->is_zero || saddle_regularizer_kind(s.h)->weights != NULL || s.group_weight > 0.0;
    if (smooth) {
        int later = s.followed ? 0 : s.left / 2;
        s.left -= later;
        quasi_newton(&s, goal);
        s.left += later;
    }
    /* Also where L-BFGS found no way down. */
    if (!is_done(&s, goal) && !s.at_rest)
        proximal_steps(&s, goal);
    return (saddle_decrease){.start = start,
                             .found = fmax(s.start - s.total, 0.0),
                             .left = s.most,
                             .known = is_known(&s)};
}
