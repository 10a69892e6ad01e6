/*
 * The gap, against excesses over optima that are computed here: least squares with columns in different units,
 *
 *     f_ij(x, y) = factor (1/2 (a_ij'x - b_ij)^2 + y c'x - mu/2 y^2 + constant),
 *
 * so that Q(x) is a quadratic function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "core/rng.h"
#include "instances.h"
#include "support.h"

enum { AGENTS = 3, ROWS = 20, DIM = 6 };
static const double MU = 0.5;

typedef struct squares {
    saddle_problem problem;
    size_t samples[AGENTS];
    double a[AGENTS][ROWS][DIM];
    double b[AGENTS][ROWS];
    double c[DIM];
    double unit[DIM]; /* what a column is multiplied by */
    double factor, constant;
    double x[DIM]; /* the start for any seed but 1; the reference is 0 */
    double y;
    double low, high; /* bounds of x before units */
    double radius;    /* of the ball of all x, in units; 0: none */
    double l1;
    char set[DIM * 80];
} squares;

/* The number of calls of gradient() after which one, or all, return NaN; 0: never. */
static size_t nan_after;
static bool nan_once;
static size_t calls_made;

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const squares *s = problem->self;
    (void)scratch;
    double product = 0.0;
    for (size_t k = 0; k < DIM; k++)
        product += s->unit[k] * s->c[k] * x[k];
    for (size_t k = 0; k < DIM; k++)
        gx[k] = s->factor * y[0] * s->unit[k] * s->c[k];
    gy[0] = s->factor * (product - MU * y[0]);
    for (size_t q = 0; q < batch->count; q++) {
        size_t j = saddle_batch_sample(batch, q);
        double r = -s->b[agent][j];
        for (size_t k = 0; k < DIM; k++)
            r += s->a[agent][j][k] * s->unit[k] * x[k];
        for (size_t k = 0; k < DIM; k++)
            gx[k] += s->factor * r * s->a[agent][j][k] * s->unit[k] / (double)batch->count;
    }
    calls_made++;
    if (nan_after > 0 && --nan_after == 0) {
        nan_after = nan_once ? 0 : 1;
        gx[0] = (double)NAN;
    }
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const squares *s = problem->self;
    (void)scratch;
    double product = 0.0;
    double sum = 0.0;
    for (size_t k = 0; k < DIM; k++)
        product += s->unit[k] * s->c[k] * x[k];
    for (size_t j = 0; j < ROWS; j++) {
        double r = -s->b[agent][j];
        for (size_t k = 0; k < DIM; k++)
            r += s->a[agent][j][k] * s->unit[k] * x[k];
        sum += 0.5 * r * r / ROWS;
    }
    return s->factor * (sum + y[0] * product - 0.5 * MU * y[0] * y[0] + s->constant);
}

static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const squares *s = problem->self;
    for (size_t k = 0; k < DIM; k++)
        x[k] = seed == 1 ? 0.0 : s->x[k] / s->unit[k];
    y[0] = seed == 1 ? 0.0 : s->y;
}

/* Draws an instance with columns that are alike, in units from 1e-3 to 1e3, and a start at some distance. */
static void draw(squares *s, uint64_t seed)
{
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_TEST, 0, 0);
    *s = (squares){.problem = {.name = "squares",
                               .self = s,
                               .x_dim = DIM,
                               .y_dim = 1,
                               .agents = AGENTS,
                               .samples = s->samples,
                               .gradient = gradient,
                               .value = value,
                               .start = start},
                   .samples = {ROWS, ROWS, ROWS},
                   .factor = 1.0,
                   .low = -INFINITY,
                   .high = INFINITY};
    double alike = 3.0 * saddle_rng_uniform(&rng);
    double far = pow(10.0, 1.0 - 4.0 * saddle_rng_uniform(&rng));
    for (size_t k = 0; k < DIM; k++) {
        s->c[k] = saddle_rng_normal(&rng);
        s->unit[k] = pow(10.0, 6.0 * saddle_rng_uniform(&rng) - 3.0);
        s->x[k] = far * saddle_rng_normal(&rng);
    }
    s->y = saddle_rng_normal(&rng);
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            double common = alike * saddle_rng_normal(&rng);
            for (size_t k = 0; k < DIM; k++)
                s->a[i][j][k] = common + saddle_rng_normal(&rng);
            s->b[i][j] = 1.0 + s->a[i][j][0] - 0.5 * s->a[i][j][3] + saddle_rng_normal(&rng);
        }
}

/* Computes Q without units, factor and constant: x'Hx/2 - g'x + rest. */
static double quadratic(const squares *s, double H[DIM][DIM], double g[DIM])
{
    double rest = 0.0;
    for (size_t k = 0; k < DIM; k++) {
        g[k] = 0.0;
        for (size_t l = 0; l < DIM; l++)
            H[k][l] = s->c[k] * s->c[l] / MU;
    }
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            const double *a = s->a[i][j];
            rest += 0.5 * s->b[i][j] * s->b[i][j] / (AGENTS * ROWS);
            for (size_t k = 0; k < DIM; k++) {
                g[k] += a[k] * s->b[i][j] / (AGENTS * ROWS);
                for (size_t l = 0; l < DIM; l++)
                    H[k][l] += a[k] * a[l] / (AGENTS * ROWS);
            }
        }
    return rest;
}

/* Q + h at a point given without units. */
static double primal(const squares *s, const double *x)
{
    double H[DIM][DIM];
    double g[DIM];
    double q = quadratic(s, H, g);
    for (size_t k = 0; k < DIM; k++) {
        q += s->l1 / s->unit[k] * fabs(x[k]) - g[k] * x[k];
        for (size_t l = 0; l < DIM; l++)
            q += 0.5 * x[k] * H[k][l] * x[l];
    }
    return q;
}

/* The smallest Q + h over the box, by minimizing one coordinate after another. */
static double least(const squares *s)
{
    double H[DIM][DIM];
    double g[DIM];
    double x[DIM] = {0};
    quadratic(s, H, g);
    for (int sweep = 0; sweep < 100000; sweep++)
        for (size_t k = 0; k < DIM; k++) {
            double slope = -g[k];
            for (size_t l = 0; l < DIM; l++)
                slope += H[k][l] * x[l];
            double v = x[k] - slope / H[k][k];
            double shrink = s->l1 / s->unit[k] / H[k][k];
            v = v > shrink ? v - shrink : v < -shrink ? v + shrink : 0.0;
            x[k] = fmin(fmax(v, s->low), s->high);
        }
    return primal(s, x);
}

/* Projects a point that is given without units onto the ball. */
static void into_ball(const squares *s, double *x)
{
    double square = 0.0;
    for (size_t k = 0; k < DIM; k++)
        square += x[k] / s->unit[k] * x[k] / s->unit[k];
    for (size_t k = 0; k < DIM && square > s->radius * s->radius; k++)
        x[k] *= s->radius / sqrt(square);
}

/* Computes the minimum of Q + multiplier |x|^2 / 2, with |x| in units, by elimination; the result has none. Returns
 * |x|. */
static double solve_with(const squares *s, double multiplier, double *x)
{
    double H[DIM][DIM];
    quadratic(s, H, x);
    for (size_t k = 0; k < DIM; k++)
        H[k][k] += multiplier / s->unit[k] / s->unit[k];
    for (size_t k = 0; k < DIM; k++)
        for (size_t r = k + 1; r < DIM; r++) {
            double factor = H[r][k] / H[k][k];
            for (size_t l = k; l < DIM; l++)
                H[r][l] -= factor * H[k][l];
            x[r] -= factor * x[k];
        }
    double square = 0.0;
    for (size_t k = DIM; k-- > 0;) {
        for (size_t l = k + 1; l < DIM; l++)
            x[k] -= H[k][l] * x[l];
        x[k] /= H[k][k];
        square += x[k] / s->unit[k] * x[k] / s->unit[k];
    }
    return sqrt(square);
}

/* The smallest Q over the ball: the multiplier of its constraint is found by bisection. */
static double least_in_ball(const squares *s)
{
    double x[DIM];
    double low = 1e-20;
    double high = 1e20;
    bool inside = solve_with(s, 0.0, x) <= s->radius;
    while (!inside && high / low > 1.0 + 1e-14) {
        double middle = sqrt(low * high);
        *(solve_with(s, middle, x) > s->radius ? &low : &high) = middle;
    }
    if (!inside)
        solve_with(s, high, x);
    return primal(s, x);
}

/* The point where a run starts, without units, in X. */
static void start_of(const squares *s, double *x)
{
    for (size_t k = 0; k < DIM; k++)
        x[k] = fmin(fmax(s->x[k], s->low), s->high);
    if (s->radius > 0.0)
        into_ball(s, x);
}

/* Writes X in the problem's units. */
static const char *set_of(squares *s)
{
    if (s->radius > 0.0) {
        saddle_snprintf(s->set, sizeof s->set, "x-set=l2-ball:%.17g", s->radius);
        return s->set;
    }
    size_t used = (size_t)saddle_snprintf(s->set, sizeof s->set, "x-set=blocks:");
    for (size_t k = 0; k < DIM; k++)
        used +=
            (size_t)saddle_snprintf(s->set + used, sizeof s->set - used, "%s1*box:%.17g:%.17g",
                                    k > 0 ? "," : "", s->low / s->unit[k], s->high / s->unit[k]);
    return s->set;
}

/* Measures the gap at the start. */
static saddle_result *measure(squares *s)
{
    char h[64];
    saddle_snprintf(h, sizeof h, "regularizer=l1:%.17g", s->l1);
    return test_solve(&s->problem,
                      (const char *[]){set_of(s), h, "iterations=0", "seed=7", "gap=end",
                                       "topology=path", "algorithm=gt-gda", NULL});
}

/* Instances with no bounds, bounds, and an l1 term. */
static void draw_kind(squares *s, int number)
{
    draw(s, 100U + (unsigned)number);
    if (number % 3 == 1) {
        s->low = 0.0;
        s->high = 0.4;
    }
    /* One weight for all coordinates: with their units alike. */
    if (number % 3 == 2) {
        s->l1 = 0.3;
        for (size_t k = 0; k < DIM; k++)
            s->unit[k] = 1.0;
    }
}

/* The gap of x is a lower bound of the excess and at least a tenth of it; so is the scale of what 0 leaves to gain. */
TEST_LOOP(bounds_the_excess, 0, 60)
{
    squares s;
    draw_kind(&s, _i);
    double x[DIM];
    static const double zero[DIM];
    double best = least(&s);
    start_of(&s, x);
    double excess = primal(&s, x) - best;
    double gain = primal(&s, zero) - best;
    saddle_result *result = measure(&s);
    assert_near(result->rows[0].primal, primal(&s, x), 1e-9 * (1.0 + fabs(primal(&s, x))));
    assert_at_most(result->gap.x, excess + 1e-10 * (1.0 + excess));
    assert_at_most(0.1 * excess, result->gap.x + 1e-12);
    assert_at_most(result->gap.scale, gain + 1e-10);
    assert_at_most(0.1 * gain, result->gap.scale);
    saddle_result_free(result);
}

/* So does it in a ball, whether its boundary is far or near. */
TEST_LOOP(bounds_the_excess_in_a_ball, 0, 60)
{
    squares s;
    draw(&s, 500U + (unsigned)_i);
    for (size_t k = 0; k < DIM; k++)
        s.unit[k] = pow(s.unit[k], _i < 20 ? 1.0 / 3.0 : 1.0);
    s.radius = _i % 2 == 0 ? 0.3 : 30.0;
    double x[DIM];
    double best = least_in_ball(&s);
    start_of(&s, x);
    double excess = primal(&s, x) - best;
    saddle_result *result = measure(&s);
    assert_near(result->rows[0].primal, primal(&s, x), 1e-9 * (1.0 + fabs(primal(&s, x))));
    assert_at_most(result->gap.x, excess + 1e-9 * (1.0 + excess));
    assert_at_most(0.1 * excess, result->gap.x + 1e-12);
    saddle_result_free(result);
}

/* So does it along a column that varies by 1e-9 of its mean: in coordinates without the mean, the excess is known. */
TEST_LOOP(finds_what_a_nearly_constant_column_gives, 0, 12)
{
    squares s;
    draw(&s, 700U + (unsigned)_i);
    memset(s.c, 0, sizeof s.c);
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            s.a[i][j][4] *= 1e-3;
            s.a[i][j][5] = 1.0;
        }
    for (size_t k = 0; k < DIM; k++)
        s.unit[k] = 1.0;
    double x[DIM];
    solve_with(&s, 0.0, x);
    double best = primal(&s, x);
    x[4] = 0.0;
    double excess = primal(&s, x) - best;
    memcpy(s.x, x, sizeof x);
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < ROWS; j++)
            s.a[i][j][4] += 1e6;
    saddle_result *result = measure(&s);
    assert_near(result->rows[0].primal, best + excess, 1e-9 * (1.0 + best));
    assert_at_most(result->gap.x, excess + 1e-9);
    /* A search ends above the level at which a run would be called solved. */
    assert_at_most(fmin(0.1 * excess, SADDLE_SOLVED_GAP * result->gap.scale), result->gap.x);
    if (excess > 10.0 * SADDLE_SOLVED_GAP * result->gap.scale)
        ck_assert(result->rows[0].gap > SADDLE_SOLVED_GAP);
    saddle_result_free(result);
}

/* The smallest Q + h of group-l2:weight:2 in the problem's units, by proximal gradient steps. */
static double least_of_groups(const squares *s, double weight)
{
    double H[DIM][DIM];
    double g[DIM];
    double x[DIM] = {0};
    double trace = 0.0;
    quadratic(s, H, g);
    for (size_t k = 0; k < DIM; k++) {
        trace += H[k][k] * s->unit[k] * s->unit[k];
        for (size_t l = 0; l < DIM; l++)
            H[k][l] *= s->unit[k] * s->unit[l];
    }
    for (int step = 0; step < 1000000; step++) {
        double next[DIM];
        for (size_t k = 0; k < DIM; k++) {
            next[k] = x[k] + g[k] * s->unit[k] / trace;
            for (size_t l = 0; l < DIM; l++)
                next[k] -= H[k][l] * x[l] / trace;
        }
        for (size_t k = 0; k < DIM; k += 2) {
            double norm = sqrt(next[k] * next[k] + next[k + 1] * next[k + 1]);
            double kept = norm > weight / trace ? 1.0 - weight / trace / norm : 0.0;
            x[k] = kept * next[k];
            x[k + 1] = kept * next[k + 1];
        }
    }
    double h = 0.0;
    for (size_t k = 0; k < DIM; k += 2)
        h += weight * sqrt(x[k] * x[k] + x[k + 1] * x[k + 1]);
    for (size_t k = 0; k < DIM; k++)
        x[k] *= s->unit[k];
    return primal(s, x) + h;
}

/* And with a regularizer of groups, some of which are 0. */
TEST_LOOP(bounds_the_excess_with_groups, 0, 16)
{
    squares s;
    char h[64];
    draw(&s, 800U + (unsigned)_i);
    double weight = pow(10.0, -0.5 * (double)(_i % 4));
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < ROWS; j++)
            s.a[i][j][4] += _i % 3 == 0 ? 20.0 : 0.0;
    for (size_t k = 0; k < DIM; k++) {
        s.unit[k] = pow(s.unit[k], 1.0 / 3.0);
        s.x[k] = _i % 2 == 0 ? 0.0 : 1e-2 * s.x[k];
    }
    double best = least_of_groups(&s, weight);
    double start = primal(&s, s.x);
    for (size_t k = 0; k < DIM; k += 2)
        start += weight * hypot(s.x[k] / s.unit[k], s.x[k + 1] / s.unit[k + 1]);
    saddle_snprintf(h, sizeof h, "regularizer=group-l2:%.17g:2", weight);
    saddle_result *result = test_solve(
        &s.problem, (const char *[]){h, "iterations=0", "seed=7", "gap=end", "topology=path",
                                     "tolerance=1e-9", "algorithm=gt-gda", NULL});
    assert_near(result->rows[0].primal, start, 1e-9 * (1.0 + start));
    assert_at_most(result->gap.x, start - best + 1e-9 * (1.0 + best));
    assert_at_most(0.5 * (start - best), result->gap.x + 1e-9);
    saddle_result_free(result);
}

static void plain_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                           const double *x, const double *y, double *gx, double *gy,
                           double *scratch)
{
    (void)problem, (void)agent, (void)batch, (void)scratch;
    gx[0] = x[0];
    gy[0] = 1.0 - y[0];
}

static double plain_value(const saddle_problem *problem, size_t agent, const double *x,
                          const double *y, double *scratch)
{
    (void)problem, (void)agent, (void)scratch;
    return 0.5 * x[0] * x[0] + y[0] - 0.5 * y[0] * y[0];
}

/* The reference, x = 0, is the solution, and y gains 1/2 there: a thousandth of that is the scale. */
TEST(the_scale_is_what_y_gains_if_x_gains_nothing)
{
    static const size_t samples[AGENTS] = {1, 1, 1};
    const saddle_problem plain = {.name = "plain",
                                  .x_dim = 1,
                                  .y_dim = 1,
                                  .agents = AGENTS,
                                  .samples = samples,
                                  .gradient = plain_gradient,
                                  .value = plain_value};
    saddle_result *result =
        test_solve(&plain, (const char *[]){"iterations=0", "init=zeros", "gap=end",
                                            "topology=path", "algorithm=gt-gda", NULL});
    assert_near(result->gap.scale, 0.5e-3, 1e-9);
    assert_near(result->rows[0].gap, 1000.0, 1e-3);
    saddle_result_free(result);
}

/* Writes rows with features that are 0 or 1 at random, and a last one that is constant. Labels are a given number; NaN:
 * 1 and -1 in turn, where the first feature often tells which. */
static void write_rows(const char *path, size_t rows, size_t features, double constant,
                       double label)
{
    saddle_rng rng;
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, 1, 0);
    for (size_t j = 0; j < rows; j++) {
        saddle_fprintf(f, "%g", isnan(label) ? (j % 2 == 0 ? 1.0 : -1.0) : label);
        for (size_t k = 1; k < features; k++)
            if (saddle_rng_uniform(&rng) < (k > 1 || j % 2 == 0 ? 0.05 : 0.7))
                saddle_fprintf(f, " %zu:1", k);
        saddle_fprintf(f, " %zu:%g\n", features, constant);
    }
    ck_assert_int_eq(fclose(f), 0);
}

/* With a column of 1e6, default steps learn next to nothing while the centres of auc are at their best. The gap must
 * see at least a tenth of what another algorithm gains, in dimensions without a matrix of curvature. */
TEST(a_large_column_does_not_hide_the_rest)
{
    saddle_test_enter_directory();
    write_rows("rows.libsvm", 90, 1100, 1e6, (double)NAN);
    const char *setting[] = {"problem=auc", "data=rows.libsvm",    "scale=none",
                             "agents=3",    "iterations=600",      "topology=path",
                             "gap=end",     "algorithm=precision", NULL};
    saddle_result *stuck = test_solve(NULL, setting);
    setting[7] = "algorithm=precision-auto";
    saddle_result *good = test_solve(NULL, setting);
    const saddle_row *last = &stuck->rows[stuck->row_count - 1];
    double excess = last->primal - good->rows[good->row_count - 1].primal;
    ck_assert(excess > 0.01);
    assert_at_most(0.1 * excess, stuck->gap.x);
    ck_assert(last->gap > SADDLE_SOLVED_GAP);
    saddle_result_free(stuck);
    saddle_result_free(good);
}

/* The scale belongs to the problem: agents of equal sizes have the same one, whichever rows are theirs. */
TEST_LOOP(the_scale_does_not_depend_on_who_has_which_rows, 0, 5)
{
    double least = INFINITY;
    double most = 0.0;
    saddle_test_enter_directory();
    saddle_rng rng;
    saddle_rng_init(&rng, (uint64_t)_i, SADDLE_RNG_TEST, 2, 0);
    FILE *f = fopen("rows.libsvm", "w");
    ck_assert_ptr_nonnull(f);
    for (size_t j = 0; j < 600; j++) {
        double row[8];
        for (size_t k = 0; k < 8; k++)
            row[k] = pow(saddle_rng_normal(&rng), 5.0);
        saddle_fprintf(f, "%d", row[0] + row[1] + 3.0 * saddle_rng_normal(&rng) > 0.0 ? 1 : -1);
        for (size_t k = 0; k < 8; k++)
            saddle_fprintf(f, " %zu:%g", k + 1, row[k]);
        saddle_fprintf(f, "\n");
    }
    ck_assert_int_eq(fclose(f), 0);
    for (int seed = 1; seed <= 6; seed++) {
        char text[16];
        saddle_snprintf(text, sizeof text, "seed=%d", seed);
        saddle_result *result = test_solve(
            NULL, (const char *[]){"problem=group-dro", "groups=label", "data=rows.libsvm",
                                   "scale=none", "agents=3", "topology=path", "gap=end",
                                   "algorithm=precision", "iterations=1", text, NULL});
        least = fmin(least, result->gap.scale);
        most = fmax(most, result->gap.scale);
        saddle_result_free(result);
    }
    assert_at_most(most, 1.05 * least);
}

/* Labels that are all alike leave nothing to learn from the start: it is solved. */
TEST_LOOP(nothing_to_learn_is_solved, 0, 6)
{
    static const double label[] = {0.0, 5.0, 1234567.8};
    saddle_test_enter_directory();
    write_rows("rows.libsvm", 47, 6, 1.0, label[_i % 3]);
    saddle_result *result = test_solve(
        NULL,
        (const char *[]){"problem=robust-regression", "data=rows.libsvm", "agents=3",
                         "topology=path", "gap=end", _i < 3 ? "divergence=auto" : "divergence=1e9",
                         "scale=none", "algorithm=precision", "iterations=1000", NULL});
    assert_at_most(result->rows[result->row_count - 1].gap, SADDLE_SOLVED_GAP);
    ck_assert(result->gap.scale > 0.0);
    saddle_result_free(result);
}

/* Units of the coordinates, a factor and an added constant change nothing but rounding errors. */
TEST_LOOP(does_not_depend_on_units, 0, 8)
{
    squares s;
    draw_kind(&s, 3 * _i + _i % 2);
    saddle_result *one = measure(&s);
    double gap = one->rows[0].gap;
    for (size_t k = 0; k < DIM; k++)
        s.unit[k] = k % 2 == 0 ? 1.0 : 1e-4;
    s.factor = _i % 4 < 2 ? 1e-5 : 3e4;
    /* The best y is the same. */
    saddle_result *other = measure(&s);
    assert_near(other->rows[0].gap, gap, 1e-6 * gap);
    assert_near(other->gap.scale, s.factor * one->gap.scale, 1e-6 * other->gap.scale);
    s.constant = 100.0;
    saddle_result *moved = measure(&s);
    assert_near(moved->rows[0].gap, gap, 1e-6 * gap);
    saddle_result_free(one);
    saddle_result_free(other);
    saddle_result_free(moved);
}

/* What y lacks is mu/2 |y - y*|^2. */
TEST_LOOP(measures_y, 0, 4)
{
    squares s;
    draw_kind(&s, 3 * _i);
    double x[DIM];
    double product = 0.0;
    start_of(&s, x);
    for (size_t k = 0; k < DIM; k++)
        product += s.c[k] * x[k];
    double off = s.y - product / MU;
    saddle_result *result = measure(&s);
    assert_near(result->gap.y, 0.5 * MU * off * off, 1e-9 * (1.0 + off * off));
    assert_near(result->rows[0].gap * result->gap.scale,
                result->gap.x + result->gap.y + result->gap.agents, 1e-9 * result->gap.scale);
    assert_at_most(result->gap.agents, 1e-9 * result->gap.scale);
    saddle_result_free(result);
}

/* What agents lack: the one whose x is furthest from the mean, in the metric of the samples' gradients, and the one
 * whose y is. */
TEST_LOOP(measures_disagreement, 0, 6)
{
    squares s;
    draw(&s, 300U + (unsigned)_i);
    for (size_t k = 0; k < DIM; k++)
        s.unit[k] = 1.0;
    saddle_result *result =
        test_solve(&s.problem, (const char *[]){"gap=end", "iterations=7", "seed=7",
                                                "topology=path", "algorithm=prox-dsgda", "nu=0.05",
                                                "eta=0.05", "tau=30", "alpha=0.1", NULL});
    const saddle_row *last = &result->rows[result->row_count - 1];
    double y_lost[AGENTS];
    double x_lost[AGENTS];
    size_t y_far = 0;
    double loss = 0.0;
    for (size_t i = 0; i < AGENTS; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < AGENTS; j++)
            sum += value(&s.problem, j, result->x_mean, result->y + i, NULL) / AGENTS;
        y_lost[i] = fabs(sum - last->loss);
        x_lost[i] = fabs(primal(&s, result->x + i * DIM) - last->primal);
        if (fabs(result->y[i] - result->y_mean[0]) > fabs(result->y[y_far] - result->y_mean[0]))
            y_far = i;
        loss += value(&s.problem, i, result->x_mean, result->y_mean, NULL) / AGENTS;
    }
    assert_near(last->loss, loss, 1e-9 * (1.0 + fabs(loss)));
    ck_assert(result->gap.agents > 0.0);
    double x_part = result->gap.agents - y_lost[y_far];
    bool found = false;
    for (size_t i = 0; i < AGENTS; i++)
        found = found || fabs(x_part - x_lost[i]) <= 1e-9 * (1.0 + fabs(last->primal));
    ck_assert(found);
    saddle_result_free(result);
}

/* A run that ends by the tolerance is solved: the true excess is at most ten times as large. One that ends above it
 * says so. */
TEST_LOOP(tolerance_is_kept, 0, 6)
{
    squares s;
    draw_kind(&s, _i);
    double tolerance = _i % 2 == 0 ? 1e-3 : 1e-5;
    char text[64];
    char h[64];
    char step[64];
    saddle_snprintf(text, sizeof text, "tolerance=%g", tolerance);
    saddle_snprintf(h, sizeof h, "regularizer=l1:%.17g", s.l1);
    for (size_t k = 0; k < DIM; k++)
        s.unit[k] = _i % 4 < 2 ? 1.0 : 0.01 + 0.3 * (double)k;
    double H[DIM][DIM];
    double g[DIM];
    double trace = 0.0;
    quadratic(&s, H, g);
    for (size_t k = 0; k < DIM; k++)
        trace += H[k][k] * s.unit[k] * s.unit[k];
    saddle_snprintf(step, sizeof step, "eta-x=%g", 0.3 / trace);
    double best = least(&s);
    saddle_result *result = test_solve(
        &s.problem, (const char *[]){set_of(&s), h, "gap=end", text, "iterations=100000", "seed=7",
                                     "topology=path", "algorithm=gt-gda", step, "eta-y=0.5", NULL});
    const saddle_row *last = &result->rows[result->row_count - 1];
    double x[DIM];
    for (size_t k = 0; k < DIM; k++)
        x[k] = result->x_mean[k] * s.unit[k];
    double excess = (primal(&s, x) - best) / result->gap.scale;
    ck_assert(!isnan(last->gap));
    ck_assert_int_eq(result->stop == SADDLE_STOP_TOLERANCE, last->gap <= tolerance);
    if (result->stop == SADDLE_STOP_TOLERANCE)
        assert_at_most(excess, 10.0 * tolerance);
    if (_i < 2)
        ck_assert_int_eq(result->stop, SADDLE_STOP_TOLERANCE);
    saddle_result_free(result);
}

static void count_warnings(void *context, const char *message)
{
    if (strstr(message, " was not measured: an entry of gradient() of agent ") != NULL)
        ++*(size_t *)context;
}

/* A gap whose search met a NaN is not given, and the run says so. */
TEST(a_nan_in_the_search_is_reported)
{
    squares s;
    draw_kind(&s, 0);
    size_t warnings = 0;
    size_t without = 0;
    saddle_hooks hooks = {.context = &warnings, .warning = count_warnings};
    saddle_error error = {.message = ""};
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"gap=end", "iterations=0", "seed=7", "topology=path",
                                         "threads=1", "algorithm=precision", NULL});
    plan->problem.own = &s.problem;
    for (size_t calls = 1000; calls < 1060; calls += 20) {
        saddle_instance *instance = NULL;
        saddle_result *result = NULL;
        assert_ok(saddle_instance_create(&instance, plan, &error), error);
        nan_after = calls;
        saddle_status status = saddle_run(instance, plan, &hooks, &result, &error);
        nan_after = 0;
        assert_ok(status, error);
        without += isnan(result->rows[result->row_count - 1].gap) ? 1U : 0U;
        saddle_result_free(result);
        saddle_instance_free(instance);
    }
    ck_assert_uint_eq(without, 3);
    ck_assert_uint_eq(warnings, 3);
    test_plan_free(plan);
}

/* Neither is a single NaN overlooked, whatever it was computed for: a row, the metric, the curvature or a step. */
TEST(a_single_nan_is_noticed)
{
    squares s;
    draw_kind(&s, 0);
    saddle_error error = {.message = ""};
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"gap=end", "iterations=0", "seed=7", "topology=path",
                                         "threads=1", "algorithm=precision", NULL});
    plan->problem.own = &s.problem;
    nan_once = true;
    size_t most = 1;
    for (size_t call = 0; call <= most; call += call < 20 ? 1 : 7) {
        size_t warnings = 0;
        saddle_hooks hooks = {.context = &warnings, .warning = count_warnings};
        saddle_instance *instance = NULL;
        saddle_result *result = NULL;
        assert_ok(saddle_instance_create(&instance, plan, &error), error);
        nan_after = call;
        calls_made = 0;
        saddle_status status = saddle_run(instance, plan, &hooks, &result, &error);
        nan_after = 0;
        most = call == 0 ? calls_made : most;
        bool ended = status != SADDLE_OK || result->stop == SADDLE_STOP_DIVERGED;
        bool empty = !ended && isnan(result->rows[result->row_count - 1].gap);
        ck_assert_msg(call == 0 || ended || (empty && warnings == 1), "call %zu of %zu", call,
                      most);
        saddle_result_free(result);
        saddle_instance_free(instance);
    }
    ck_assert_uint_gt(most, 100);
    nan_once = false;
    test_plan_free(plan);
}

/* The bits depend on neither threads nor on interruptions. */
TEST(is_reproducible)
{
    const char *setting[] = {"problem=auc",
                             "data=synthetic:600",
                             "agents=4",
                             "topology=ring",
                             "iterations=300",
                             "trace-every=20",
                             "tolerance=1e-2",
                             "gap=end",
                             "threads=1",
                             "algorithm=precision",
                             NULL,
                             NULL};
    saddle_test_enter_directory();
    saddle_result *one = test_solve(NULL, setting);
    ck_assert(!isnan(one->rows[one->row_count - 1].gap));
    setting[8] = "threads=3";
    saddle_result *three = test_solve(NULL, setting);
    test_assert_same_result(three, one, "threads");
    saddle_result_free(three);
    setting[4] = "iterations=130";
    setting[10] = "checkpoint=points";
    saddle_result_free(test_solve(NULL, setting));
    setting[4] = "iterations=300";
    setting[10] = "resume=points";
    saddle_result *resumed = test_solve(NULL, setting);
    test_assert_same_result(resumed, one, "resumed");
    saddle_result_free(resumed);
    saddle_result_free(one);
}
