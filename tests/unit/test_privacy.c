/*
 * What docs/privacy.md says that a neighbour can read, and what one dishonest agent can do.
 *
 * The listener of these tests is one of five agents on a complete graph, on a9a (needed in $SADDLE_DATA).
 * It has only the messages x, y, p, d of all agents, the mixing matrix and the problem's formula. From
 * (8),
 *     v_{t+1} - v_t = p_{i,t+1} - sum_j M_ij p_{j,t}
 * and the same for u, which it adds up from v_0 = p_0 and u_0 = d_0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/saddle.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

enum { AGENTS = 5, SAMPLES = 200, FEATURES = 123, VICTIM = 3 };

/* Every row of a9a has one of these two features, which is public knowledge about the columns. */
enum { FEMALE = 71, MALE = 72 };

/* Defaults of the problem: V(y) = (lambda1/2) |n y - 1|^2 with lambda1 = 1/n^2; g(x) = 1e-3 sum 10 x^2/(1 + 10 x^2). */
static double slope_of_g(double x)
{
    return 2e-3 * 10.0 * x / ((1.0 + 10.0 * x * x) * (1.0 + 10.0 * x * x));
}

/* ---- the listener -------------------------------------------------------------------------------- */

typedef struct listener {
    test_rig rig;
    test_state before, after;         /* the messages of two rounds; their v and u are not used */
    double v[FEATURES], u[SAMPLES];   /* the victim's estimates, as added up by the listener */
    double dv[FEATURES], du[SAMPLES]; /* their change in the last round */
} listener;

static void listen_from_the_start(listener *l, const char *batch, const char *q)
{
    const char *more[] = {"data=a9a",    "agents=5", "topology=complete",
                          "samples=200", "nu=0.1",   "eta=0.1",
                          batch,         q,          NULL};
    *l = (listener){.v = {0}};
    test_rig_open(&l->rig, LOGISTIC_BOX_SPARSE, "precision", more, 1, NULL, NULL);
    const saddle_problem *problem = l->rig.target.problem;
    ck_assert_uint_eq(problem->x_dim, FEATURES);
    ck_assert_uint_eq(problem->y_dim, SAMPLES);
    test_state_make(&l->before, problem);
    test_state_make(&l->after, problem);
    test_state_copy(&l->rig, &l->after);
    memcpy(l->v, l->after.p + (size_t)VICTIM * FEATURES, sizeof l->v);
    memcpy(l->u, l->after.d + (size_t)VICTIM * SAMPLES, sizeof l->u);
}

static void stop_listening(listener *l)
{
    test_state_free(&l->before);
    test_state_free(&l->after);
    test_rig_close(&l->rig);
}

/* Computes sum_j M_ij of a field at the victim. */
static void mix(const saddle_mixing *mixing, size_t dim, const double *field, double *out)
{
    const saddle_graph *graph = mixing->graph;
    for (size_t k = 0; k < dim; k++) {
        out[k] = mixing->self_weight[VICTIM] * field[VICTIM * dim + k];
        for (size_t n = graph->start[VICTIM]; n < graph->start[VICTIM + 1]; n++)
            out[k] += mixing->weight[n] * field[graph->neighbour[n] * dim + k];
    }
}

static void take_change(const saddle_mixing *mixing, size_t dim, const double *before,
                        const double *after, double *change, double *sum)
{
    mix(mixing, dim, before, change);
    for (size_t k = 0; k < dim; k++) {
        change[k] = after[VICTIM * dim + k] - change[k];
        sum[k] += change[k];
    }
}

static void hear_a_round(listener *l)
{
    test_state last = l->before;
    l->before = l->after;
    l->after = last;
    ck_assert_int_eq(test_rig_advance(&l->rig, 1).kind, SADDLE_FAULT_NONE);
    test_state_copy(&l->rig, &l->after);
    const saddle_mixing *mixing = l->rig.target.mixing;
    take_change(mixing, FEATURES, l->before.p, l->after.p, l->dv, l->v);
    take_change(mixing, SAMPLES, l->before.d, l->after.d, l->du, l->u);
    /* The listener's estimates are right. */
    assert_at_most(test_farthest(FEATURES, l->v, l->after.v + (size_t)VICTIM * FEATURES), 1e-12);
    assert_at_most(test_farthest(SAMPLES, l->u, l->after.u + (size_t)VICTIM * SAMPLES), 1e-12);
}

/* Computes the change of v without that of g: a sum of rows of the mini-batch. */
static void find_sum_of_rows(const listener *l, double *out)
{
    const double *x0 = l->before.x + (size_t)VICTIM * FEATURES;
    const double *x1 = l->after.x + (size_t)VICTIM * FEATURES;
    for (size_t k = 0; k < FEATURES; k++)
        out[k] = l->dv[k] - (slope_of_g(x1[k]) - slope_of_g(x0[k]));
}

/* ---- the true rows, for comparison ----------------------------------------------------------------- */

static const saddle_dataset *private_data(const listener *l)
{
    return l->rig.target.parts->shard[VICTIM];
}

/* Row j times its label. */
static void true_row(const listener *l, size_t j, int *out)
{
    const saddle_dataset *data = private_data(l);
    memset(out, 0, FEATURES * sizeof *out);
    for (size_t k = data->row_start[j]; k < data->row_start[j + 1]; k++)
        out[data->column[k]] = data->label[j] > 0.0 ? 1 : -1;
}

static bool is_true_row(const listener *l, size_t j, const int *guess)
{
    int row[FEATURES];
    true_row(l, j, row);
    return memcmp(row, guess, sizeof row) == 0;
}

/* ---- mini-batches of one row --------------------------------------------------------------------- */

TEST(a_batch_of_one_shows_its_row)
{
    enum { ROUNDS = 46 };
    if (saddle_test_data("a9a") == NULL) {
        saddle_test_skip("a9a is not in $SADDLE_DATA");
        return;
    }
    listener l;
    listen_from_the_start(&l, "batch=1", "q=2");
    int read = 0;
    for (int t = 0; t < ROUNDS; t += 2) {
        hear_a_round(&l);
        double sum[FEATURES];
        find_sum_of_rows(&l, sum);
        bool found = false;
        for (size_t j = 0; j < SAMPLES; j++) {
            int row[FEATURES];
            true_row(&l, j, row);
            bool same = true;
            for (size_t k = 0; k < FEATURES; k++)
                same = same && (row[k] != 0) == (fabs(sum[k]) > 1e-13);
            found = found || same;
        }
        read += found;
        hear_a_round(&l);
    }
    saddle_fprintf(stdout, "batch 1: the features of a row in %d of %d steps\n", read, ROUNDS / 2);
    ck_assert_int_eq(read, ROUNDS / 2);
    stop_listening(&l);
}

/* ---- larger mini-batches, in the step after a refresh --------------------------------------------- */

/*
 * After a refresh, u contains all losses, l_j = n u_j + n (n y_j - 1) / n. In the next round the entries
 * of a mini-batch S change with their losses, and losses determine slopes: s = 1 - exp(-l). So all numbers
 * of
 *     sum of rows = - sum over S of (y_j' s_j' - y_j s_j) / |S| b_j a_j
 * are known except b_j a_j, whose entries are 0 or all 1 or all -1. Each entry is a sum of some of the
 * known numbers; which ones is found by sorting the sums of each half.
 */
typedef struct subset {
    double sum;
    uint32_t members;
} subset;

enum { MOST_BATCH = 56 };

static int by_sum(const void *a, const void *b)
{
    double x = ((const subset *)a)->sum;
    double y = ((const subset *)b)->sum;
    return (x > y) - (x < y);
}

static subset *subsets_of(size_t count, const double *number)
{
    subset *all = calloc((size_t)1 << count, sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (size_t k = 0; k < count; k++)
        for (size_t s = 0; s < (size_t)1 << k; s++)
            all[s | (size_t)1 << k] = (subset){.sum = all[s].sum + number[k],
                                               .members = all[s].members | (uint32_t)1 << k};
    qsort(all, (size_t)1 << count, sizeof *all, by_sum);
    return all;
}

/* The sums of all subsets of numbers, as sums of two halves. */
typedef struct halves {
    size_t low_bits, high_bits;
    subset *low, *high;
} halves;

static halves halves_of(size_t count, const double *number)
{
    halves h = {.low_bits = count / 2, .high_bits = count - count / 2};
    h.low = subsets_of(h.low_bits, number);
    h.high = subsets_of(h.high_bits, number + h.low_bits);
    return h;
}

static void halves_free(halves *h)
{
    free(h->low);
    free(h->high);
}

/* Returns the members of the subset whose sum is nearest to `wanted`. */
static uint64_t nearest(const halves *h, double wanted)
{
    size_t a = 0;
    size_t b = ((size_t)1 << h->high_bits) - 1;
    double best = INFINITY;
    uint64_t members = 0;
    while (a < (size_t)1 << h->low_bits) {
        double off = h->low[a].sum + h->high[b].sum - wanted;
        if (fabs(off) < best) {
            best = fabs(off);
            members = h->low[a].members | (uint64_t)h->high[b].members << h->low_bits;
        }
        if (off > 0.0 && b > 0)
            b--;
        else
            a++;
    }
    return members;
}

/* Finds the samples of the mini-batch and the known numbers; returns how many. */
static size_t find_numbers(const listener *l, const double *loss, size_t *sample, double *number)
{
    const double *y0 = l->before.y + (size_t)VICTIM * SAMPLES;
    const double *y1 = l->after.y + (size_t)VICTIM * SAMPLES;
    double change[SAMPLES];
    size_t count = 0;
    for (size_t j = 0; j < SAMPLES; j++) {
        change[j] = l->du[j] + (y1[j] - y0[j]); /* lambda1 n^2 = 1 */
        if (fabs(change[j]) > 1e-14 && count < MOST_BATCH)
            sample[count++] = j;
    }
    for (size_t k = 0; k < count; k++) {
        size_t j = sample[k];
        double next = loss[j] + change[j] * (double)count;
        number[k] = (y0[j] * -expm1(-loss[j]) - y1[j] * -expm1(-next)) / (double)count;
    }
    return count;
}

/* Returns how many rows of the mini-batch the listener reads exactly, including the label. */
static size_t read_rows(const listener *l, const double *loss)
{
    size_t sample[MOST_BATCH];
    double number[MOST_BATCH];
    int row[MOST_BATCH][FEATURES] = {{0}};
    size_t count = find_numbers(l, loss, sample, number);
    double sum[FEATURES];
    find_sum_of_rows(l, sum);
    /* sum over S of b_j number_j: each row has one of the two features. With (1 + b_j)/2 it is the sum
     * of a subset. */
    double total = 0.0;
    for (size_t k = 0; k < count; k++)
        total += number[k];
    halves h = halves_of(count, number);
    uint64_t positive = nearest(&h, 0.5 * (sum[FEMALE] + sum[MALE] + total));
    halves_free(&h);
    for (size_t k = 0; k < count; k++)
        number[k] = positive >> k & 1 ? number[k] : -number[k];
    h = halves_of(count, number);
    for (size_t f = 0; f < FEATURES; f++) {
        uint64_t members = nearest(&h, sum[f]);
        for (size_t k = 0; k < count; k++)
            row[k][f] = (members >> k & 1 ? 1 : 0) * (positive >> k & 1 ? 1 : -1);
    }
    halves_free(&h);
    size_t read = 0;
    for (size_t k = 0; k < count; k++)
        read += is_true_row(l, sample[k], row[k]);
    return read;
}

static void find_losses(const listener *l, double *loss)
{
    double n = SAMPLES;
    const double *y = l->after.y + (size_t)VICTIM * SAMPLES;
    for (size_t j = 0; j < SAMPLES; j++)
        loss[j] = n * (l->u[j] + (n * y[j] - 1.0) / n);
}

/* Returns how many of the rows in `rounds` mini-batches are read. */
static size_t rows_read(int batch, int rounds)
{
    listener l;
    char text[32];
    saddle_snprintf(text, sizeof text, "batch=%d", batch);
    listen_from_the_start(&l, text, "q=2");
    size_t read = 0;
    for (int t = 0; t < rounds; t++) {
        double loss[SAMPLES];
        find_losses(&l, loss);
        hear_a_round(&l);
        read += read_rows(&l, loss);
        hear_a_round(&l);
    }
    stop_listening(&l);
    saddle_fprintf(stdout, "batch %d: %zu of %d rows in %d steps\n", batch, read, batch * rounds,
                   rounds);
    return read;
}

TEST(small_batches_show_their_rows)
{
    if (saddle_test_data("a9a") == NULL) {
        saddle_test_skip("a9a is not in $SADDLE_DATA");
        return;
    }
    const char *further = getenv("SADDLE_PRIVACY_BATCH");
    if (further != NULL)
        rows_read((int)strtol(further, NULL, 10), 5);
    ck_assert_uint_eq(rows_read(8, 10), 80);
    ck_assert_uint_eq(rows_read(24, 5), 120);
}

/* ---- every refresh ------------------------------------------------------------------------------- */

/* With any mini-batch, the listener knows the loss of every sample at x after each refresh. */
TEST(a_refresh_shows_all_losses)
{
    if (saddle_test_data("a9a") == NULL) {
        saddle_test_skip("a9a is not in $SADDLE_DATA");
        return;
    }
    listener l;
    listen_from_the_start(&l, "batch=100", "q=4");
    for (int t = 0; t < 8; t++)
        hear_a_round(&l);
    double loss[SAMPLES];
    find_losses(&l, loss);
    const double *x = l.after.x + (size_t)VICTIM * FEATURES;
    for (size_t j = 0; j < SAMPLES; j++) {
        int row[FEATURES];
        double margin = 0.0;
        true_row(&l, j, row);
        for (size_t k = 0; k < FEATURES; k++)
            margin += row[k] * x[k];
        assert_near(loss[j], log1p(exp(-margin)), 1e-11);
    }
    stop_listening(&l);
}

/* ---- a dishonest agent ---------------------------------------------------------------------------- */

/*
 * Ten agents with f_i = |x - a_i|^2 / 2 + 0.1 x'y - |y|^2 / 2, whose solution is x = mean(a) / 1.01.
 * Agent 7 adds 1000 (x - target) to its gradient.
 */
enum { LIARS_PEERS = 10 };
static const double target[2] = {-40.0, 25.0};

static void pulled_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                            const double *x, const double *y, double *gx, double *gy,
                            double *scratch)
{
    (void)batch;
    (void)scratch;
    bool lies = problem->name[0] == 'l' && agent == 7;
    for (size_t k = 0; k < 2; k++) {
        gx[k] = x[k] - (double)agent / LIARS_PEERS + 0.1 * y[k];
        gx[k] += lies ? 1000.0 * (x[k] - target[k]) : 0.0;
        gy[k] = 0.1 * x[k] - y[k];
    }
}

static double pulled_value(const saddle_problem *problem, size_t agent, const double *x,
                           const double *y, double *scratch)
{
    (void)problem;
    (void)scratch;
    double sum = 0.0;
    for (size_t k = 0; k < 2; k++) {
        double off = x[k] - (double)agent / LIARS_PEERS;
        sum += 0.5 * off * off + 0.1 * x[k] * y[k] - 0.5 * y[k] * y[k];
    }
    return sum;
}

/* Solves it, which succeeds, and returns the solution. */
static void solve(const char *name, double *x)
{
    static const size_t samples[LIARS_PEERS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const saddle_problem problem = {.name = name,
                                    .x_dim = 2,
                                    .y_dim = 2,
                                    .agents = LIARS_PEERS,
                                    .samples = samples,
                                    .gradient = pulled_gradient,
                                    .value = pulled_value};
    saddle_plan plan;
    saddle_result *result;
    saddle_error error = {.message = ""};
    saddle_plan_defaults(&plan, sizeof plan);
    plan.network.topology = "ring";
    plan.limits.iterations = 150000;
    plan.steps.tau = 500.0;
    plan.steps.alpha = 1.0;
    assert_ok(saddle_solve(&problem, &plan, &result, &error), error);
    memcpy(x, result->x_mean, 2 * sizeof *x);
    saddle_result_free(result);
}

TEST(a_liar_moves_the_result_anywhere)
{
    double x[2];
    solve("honest", x);
    for (size_t k = 0; k < 2; k++)
        assert_near(x[k], 0.45 / 1.01, 1e-6);
    solve("lying", x);
    saddle_fprintf(stdout, "a liar's target (%g, %g), the result (%.3f, %.3f)\n", target[0],
                   target[1], x[0], x[1]);
    for (size_t k = 0; k < 2; k++)
        assert_near(x[k], target[k], 0.5);
}
