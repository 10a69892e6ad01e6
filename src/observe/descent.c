#include "observe/descent.h"

#include <math.h>
#include <string.h>

#include "core/vector.h"
#include "sets/set.h"

/* The number of pairs of moves and changes of the gradient that L-BFGS keeps. */
#define PAIRS 8
/* The most points that are tried along a direction of L-BFGS; along the metric's own there is no limit. */
#define TRIES 5
/* The most points that are tried to find the length of the first step. */
#define PROBES 4
/* A step is accepted if it makes this part of the decrease that the slope predicts. */
#define SUFFICIENT 1e-4

typedef struct search {
    const saddle_descent *given;
    const saddle_regularizer *h;
    saddle_weights weight; /* of h, if it is separable */
    size_t n;
    bool separable; /* X is a product of intervals */
    int left;       /* evaluations */
    int pause;      /* how many are left when progress is looked at */
    double looked;  /* f + h when it last was */
    double start;   /* f + h at the first point */
    double total;   /* f + h at x */
    double *x, *g;
    double *next, *next_g;
    double *slope;     /* the gradient of f + h along free coordinates; 0 elsewhere */
    double *direction; /* where the search looks for the next point */
    double *move[PAIRS], *change[PAIRS];
    double product[PAIRS]; /* of both, along free coordinates; 0: not used */
    size_t pairs;
    double length;   /* of steps along the slope, in the metric */
    double *scratch; /* of the prox */
} search;

static bool is_separable_set(const saddle_set *set)
{
    if (saddle_set_kind(set) != &saddle_set_blocks)
        return saddle_set_kind(set)->separable;
    size_t count;
    const saddle_set_block *block = saddle_set_block_list(set, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_separable_set(block[i].set))
            return false;
    return true;
}

size_t saddle_descent_scratch(const saddle_prox *prox)
{
    size_t n = saddle_set_dimension(saddle_prox_set(prox));
    return (5 + 2 * PAIRS) * n + saddle_prox_scratch(prox);
}

static search begin(const saddle_descent *given, double *x, double *scratch)
{
    size_t n = saddle_set_dimension(saddle_prox_set(given->prox));
    search s = {.given = given,
                .h = saddle_prox_regularizer(given->prox),
                .n = n,
                .separable = is_separable_set(saddle_prox_set(given->prox)),
                .left = given->evaluations,
                .length = 1.0,
                .x = x,
                .g = scratch,
                .next = scratch + n,
                .next_g = scratch + 2 * n,
                .slope = scratch + 3 * n,
                .direction = scratch + 4 * n};
    for (size_t k = 0; k < PAIRS; k++) {
        s.move[k] = scratch + (5 + 2 * k) * n;
        s.change[k] = s.move[k] + n;
    }
    s.scratch = scratch + (5 + 2 * PAIRS) * n;
    if (!s.h->is_zero && saddle_regularizer_kind(s.h)->weights != NULL)
        s.weight = saddle_regularizer_kind(s.h)->weights(s.h);
    return s;
}

/* Returns f + h at a point. */
static double total_at(search *s, const double *x)
{
    s->left--;
    return s->given->value(s->given->context, x) + saddle_regularizer_value(s->h, x);
}

/* Returns whether the search may go on: it has evaluations left, and is neither at its goal nor out of progress. */
static bool goes_on(search *s, double goal)
{
    if (s->left <= 0 || !(s->total >= goal))
        return false;
    if (s->left > s->pause)
        return true;
    bool little = s->looked - s->total < 0.1 * (s->start - s->total);
    s->looked = s->total;
    s->pause = s->left - s->given->least;
    return !little && s->start - s->total <= s->given->plenty;
}

/* ---- L-BFGS on free coordinates ------------------------------------------------------------- */

/* Returns the side of 0 on which coordinate k may be at the next point, or 0 if it does not matter: with an l1 term,
 * points of one orthant. */
static double side(const search *s, size_t k)
{
    if (s->weight.l1 == 0.0)
        return 0.0;
    return s->x[k] != 0.0 ? copysign(1.0, s->x[k]) : -copysign(1.0, s->slope[k]);
}

/* Computes the slope of f + h; it is 0 where the coordinate cannot move downhill. */
static void find_slope(search *s)
{
    for (size_t k = 0; k < s->n; k++) {
        double l1 = s->weight.l1;
        double smooth = s->g[k] + s->weight.l2 * s->x[k];
        double right = smooth + (s->x[k] < 0.0 ? -l1 : l1);
        double left = smooth + (s->x[k] > 0.0 ? l1 : -l1);
        s->slope[k] = right < 0.0 ? right : left > 0.0 ? left : 0.0;
        if (s->given->metric[k] == 0.0)
            s->slope[k] = 0.0;
    }
    if (!s->separable)
        return;
    /* A bound holds back the coordinates that a projected move leaves where they are. */
    for (size_t k = 0; k < s->n; k++)
        s->next[k] = s->slope[k] == 0.0 ? s->x[k]
                                        : s->x[k] - copysign(fmax(1.0, fabs(s->x[k])), s->slope[k]);
    saddle_set_project(saddle_prox_set(s->given->prox), s->next, s->scratch);
    for (size_t k = 0; k < s->n; k++)
        if (s->next[k] == s->x[k])
            s->slope[k] = 0.0;
}

/* Returns the sum of a b over the coordinates that are free. */
static double free_dot(const search *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        sum += s->slope[k] != 0.0 ? a[k] * b[k] : 0.0;
    return sum;
}

/* Returns the sum of v^2 / metric over the coordinates that are free. */
static double free_square(const search *s, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        sum += s->slope[k] != 0.0 ? v[k] * v[k] / s->given->metric[k] : 0.0;
    return sum;
}

/* Sets the length of steps along the slope to that of the last pair. */
static void find_length(search *s)
{
    for (size_t p = s->pairs; p-- > 0;)
        if (s->product[p] > 0.0) {
            s->length = s->product[p] / free_square(s, s->change[p]);
            return;
        }
}

/* Computes the direction by the two loops of Nocedal (Math. Comp. 35, 1980). */
static void find_direction(search *s)
{
    double factor[PAIRS];
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
    for (size_t k = 0; k < s->n; k++)
        d[k] = s->slope[k] != 0.0 ? s->length * d[k] / s->given->metric[k] : 0.0;
    for (size_t p = 0; p < s->pairs; p++)
        if (s->product[p] > 0.0)
            saddle_axpy(s->n, factor[p] - free_dot(s, s->change[p], d) / s->product[p], s->move[p],
                        d);
    /* Uphill, or across 0 against the slope: the metric's own direction. */
    if (free_dot(s, d, s->slope) < 0.0)
        return;
    s->pairs = 0;
    for (size_t k = 0; k < s->n; k++)
        d[k] = s->slope[k] != 0.0 ? -s->length * s->slope[k] / s->given->metric[k] : 0.0;
}

/* Computes the point at a length along the direction, within X and the orthant of x. */
static void go(search *s, double length)
{
    for (size_t k = 0; k < s->n; k++) {
        s->next[k] = s->x[k];
        if (s->slope[k] == 0.0)
            continue;
        s->next[k] += length * s->direction[k];
        if (side(s, k) * s->next[k] < 0.0)
            s->next[k] = 0.0;
    }
    saddle_set_project(saddle_prox_set(s->given->prox), s->next, s->scratch);
}

/* Returns the decrease that the slope predicts for the move to `next`; negative. */
static double predicted(const search *s)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n; k++)
        sum += s->slope[k] * (s->next[k] - s->x[k]);
    return sum;
}

/* Finds the length of the first step, whose unit, that of f, is not known before: the one that fits the change of the
 * gradient along it. */
static void probe(search *s)
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
            double square = free_square(s, s->next_g);
            ratio = square > 0.0 ? fabs(along) / square / s->length : 1e8;
        }
        s->length *= fmin(fmax(ratio, 1e-8), 1e8);
    }
    /* How many there are depends on the unit and must not shorten the search. */
    s->left = left;
}

/* Moves along the direction, shortened by the parabola through what is known until the decrease is sufficient;
 * returns whether it was found. */
static bool search_line(search *s)
{
    double length = 1.0;
    for (int tries = 0; s->left > 0 && (tries < TRIES || s->pairs == 0); tries++) {
        go(s, length);
        double slope = predicted(s);
        double total = total_at(s, s->next);
        if (slope < 0.0 && total <= s->total + SUFFICIENT * slope) {
            s->total = total;
            return true;
        }
        double bend = total - s->total - slope;
        double part = isfinite(bend) && bend > 0.0 ? -0.5 * slope / bend : 1e-3;
        length *= fmin(fmax(part, 1e-10), 0.5);
        if (!(slope < 0.0))
            break;
    }
    return false;
}

/* Replaces x by the next point and remembers the pair. The oldest pair goes. */
static void accept(search *s)
{
    if (s->pairs == PAIRS) {
        double *oldest[] = {s->move[0], s->change[0]};
        memmove(s->move, s->move + 1, (PAIRS - 1) * sizeof *s->move);
        memmove(s->change, s->change + 1, (PAIRS - 1) * sizeof *s->change);
        s->move[PAIRS - 1] = oldest[0];
        s->change[PAIRS - 1] = oldest[1];
        s->pairs--;
    }
    double *move = s->move[s->pairs];
    double *change = s->change[s->pairs++];
    for (size_t k = 0; k < s->n; k++) {
        move[k] = s->next[k] - s->x[k];
        change[k] = s->next_g[k] - s->g[k] + s->weight.l2 * move[k];
    }
    memcpy(s->x, s->next, s->n * sizeof *s->x);
    memcpy(s->g, s->next_g, s->n * sizeof *s->g);
}

static void quasi_newton(search *s, double goal)
{
    probe(s);
    while (goes_on(s, goal)) {
        find_slope(s);
        find_direction(s);
        if (!(-free_dot(s, s->direction, s->slope) > s->given->negligible))
            return;
        if (!search_line(s)) {
            if (s->pairs == 0)
                return;
            s->pairs = 0;
            continue;
        }
        s->given->gradient(s->given->context, s->next_g);
        accept(s);
    }
}

/* ---- proximal gradient steps ---------------------------------------------------------------- */

/* Makes a proximal step of this length; returns whether f + h decreases as much as a function of curvature 1/length
 * must. *moved receives the squared length of the move. */
static bool step(search *s, double length, double *moved)
{
    memcpy(s->next, s->x, s->n * sizeof *s->x);
    saddle_axpy(s->n, -length, s->g, s->next);
    saddle_prox_apply(s->given->prox, length, s->next, s->scratch);
    *moved = saddle_distance2(s->n, s->next, s->x);
    double total = total_at(s, s->next);
    if (!(total <= s->total - 0.1 * *moved / length))
        return false;
    s->total = total;
    return true;
}

/* Returns the length of a first proximal step: that of the last pair, if there is one. */
static double first_length(const search *s)
{
    if (s->pairs == 0)
        return 1.0;
    const double *move = s->move[s->pairs - 1];
    double along = saddle_dot(s->n, move, s->change[s->pairs - 1]);
    return along > 0.0 ? saddle_norm2(s->n, move) / along : 1.0;
}

static void proximal_steps(search *s, double goal)
{
    double length = first_length(s);
    while (goes_on(s, goal)) {
        double moved;
        bool good = step(s, length, &moved);
        if (!(moved / length > s->given->negligible))
            return;
        if (!good) {
            length *= 0.125;
            continue;
        }
        s->given->gradient(s->given->context, s->next_g);
        double along = 0.0;
        for (size_t k = 0; k < s->n; k++)
            along += (s->next_g[k] - s->g[k]) * (s->next[k] - s->x[k]);
        length = along > 0.0 ? moved / along : 8.0 * length;
        memcpy(s->x, s->next, s->n * sizeof *s->x);
        memcpy(s->g, s->next_g, s->n * sizeof *s->g);
    }
}

double saddle_descend(const saddle_descent *descent, double *x, double *start, double *scratch)
{
    search s = begin(descent, x, scratch);
    s.total = total_at(&s, x);
    *start = s.total;
    s.start = s.total;
    s.looked = s.total;
    s.pause = s.left - descent->least;
    if (!isfinite(s.total))
        return (double)NAN;
    descent->gradient(descent->context, s.g);
    double goal = *start - descent->enough;
    bool smooth = s.h->is_zero || saddle_regularizer_kind(s.h)->weights != NULL;
    if (smooth) {
        int later = s.separable ? 0 : s.left / 4;
        s.left -= later;
        quasi_newton(&s, goal);
        s.left += later;
    }
    if (!smooth || !s.separable)
        proximal_steps(&s, goal);
    return *start - s.total;
}
