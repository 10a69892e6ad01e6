/*
 * Every problem fulfils the contract of <saddle/problem.h>.
 *
 * Everything is recomputed here: values in extended precision from the raw data and the formulas of the
 * problems' descriptions, gradients by central differences of those, the rest from definitions. The
 * quadratic's coefficients are private to it, so there the gradients themselves are examined: they must be
 * affine with a symmetric matrix, and values must be their integral.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instances.h"
#include "observe/response.h"
#include "problems/evaluate.h"
#include "problems/mdp.h"
#include "problems/problems.h"
#include "support.h"

/* One instance with memory for points and gradients. */
typedef struct bench {
    test_instance instance;
    const saddle_problem *problem;
    const saddle_set *x_set;
    const saddle_set *y_set;
    double *x[2];
    double *y[2];
    double *gx[3];
    double *gy[3];
    double *scratch;
    saddle_rng rng;
} bench;

static void bench_open(bench *b, int which)
{
    test_instance_open(&b->instance, which, NULL);
    b->problem = b->instance.problem;
    b->x_set = b->instance.made->x_set;
    b->y_set = b->instance.made->y_set;
    for (int k = 0; k < 2; k++) {
        b->x[k] = test_doubles(b->problem->x_dim);
        b->y[k] = test_doubles(b->problem->y_dim);
    }
    for (int k = 0; k < 3; k++) {
        b->gx[k] = test_doubles(b->problem->x_dim);
        b->gy[k] = test_doubles(b->problem->y_dim);
    }
    b->scratch = test_doubles(saddle_problem_scratch(b->problem) + saddle_set_scratch(b->x_set) +
                              saddle_set_scratch(b->y_set));
    saddle_rng_init(&b->rng, 17, SADDLE_RNG_TEST, (uint64_t)which, 0);
}

static void bench_close(bench *b)
{
    for (int k = 0; k < 2; k++) {
        free(b->x[k]);
        free(b->y[k]);
    }
    for (int k = 0; k < 3; k++) {
        free(b->gx[k]);
        free(b->gy[k]);
    }
    free(b->scratch);
    test_instance_close(&b->instance);
}

/* Two random points of X x Y. */
static void draw(bench *b)
{
    for (int k = 0; k < 2; k++) {
        test_point(&b->rng, b->x_set, b->x[k]);
        test_point(&b->rng, b->y_set, b->y[k]);
    }
}

/* gx[slot], gy[slot] = mean gradient over a batch at point 0 or 1. */
static void gradient_at(bench *b, size_t agent, const saddle_batch *batch, int point, int slot)
{
    saddle_problem_gradient(b->problem, agent, batch, b->x[point], b->y[point], b->gx[slot],
                            b->gy[slot], b->scratch);
}

static saddle_batch everything(const bench *b, size_t agent)
{
    return (saddle_batch){.index = NULL, .count = b->problem->samples[agent]};
}

static double norm2(size_t count, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sum;
}

static double distance2(size_t count, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* ---- values in extended precision ------------------------------------------------------------ */

static long double entry(const saddle_dataset *data, size_t row, size_t column)
{
    if (data->dense != NULL)
        return data->dense[row * data->features + column];
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        if (data->column[k] == column)
            return saddle_entry_value(data, k);
    return 0.0L;
}

/*
 * F_i of robust-logistic:
 * (1/n_i) sum_j w y_j log(1 + exp(-b a'x)) - (lambda1/2) |n y - 1|^2
 *                                          + lambda2 sum_k c x_k^2 / (1 + c x_k^2)
 */
static long double logistic_value(const bench *b, size_t agent, const long double *x,
                                  const long double *y)
{
    const saddle_plan *plan = b->instance.plan;
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    long double n = (long double)b->problem->y_dim;
    long double lambda1 = isnan(test_number(plan, "lambda1"))
                              ? 1.0L / (n * n)
                              : (long double)test_number(plan, "lambda1");
    long double lambda2 = test_number(plan, "lambda2");
    long double c = test_number(plan, "g-curvature");
    bool simplex = strcmp(test_text(plan, "weights"), "simplex") == 0;
    long double loss = 0.0L;
    for (size_t j = 0; j < data->rows; j++) {
        long double dot = 0.0L;
        for (size_t k = 0; k < data->features; k++)
            dot += entry(data, j, k) * x[k];
        loss += (simplex ? n : 1.0L) * y[j] * log1pl(expl(-(long double)data->label[j] * dot));
    }
    long double dual = 0.0L;
    for (size_t k = 0; k < b->problem->y_dim; k++)
        dual += (n * y[k] - 1.0L) * (n * y[k] - 1.0L);
    long double g = 0.0L;
    for (size_t k = 0; k < b->problem->x_dim; k++)
        g += c * x[k] * x[k] / (1.0L + c * x[k] * x[k]);
    return loss / (long double)data->rows - lambda1 / 2.0L * dual + lambda2 * g;
}

/* Returns the share of positives in what F averages over: the mean over agents of their shares. */
static long double positive_share(const bench *b)
{
    long double mean = 0.0L;
    for (size_t i = 0; i < b->problem->agents; i++) {
        const saddle_dataset *data = b->instance.made->parts->shard[i];
        long double positives = 0.0L;
        for (size_t j = 0; j < data->rows; j++)
            positives += data->label[j] > 0.0 ? 1.0L : 0.0L;
        mean += positives / (long double)data->rows;
    }
    return mean / (long double)b->problem->agents;
}

/* Computes a layer of `outputs` units, out = in W + b; returns where the next layer's weights begin. */
static const long double *slow_layer(const long double *w, size_t inputs, const long double *in,
                                     size_t outputs, long double *out)
{
    for (size_t o = 0; o < outputs; o++) {
        out[o] = w[inputs * outputs + o];
        for (size_t k = 0; k < inputs; k++)
            out[o] += in[k] * w[k * outputs + o];
    }
    return w + (inputs + 1) * outputs;
}

/* Returns whether every row of every agent has `column` = 1 - `of`. */
static bool opposite(const bench *b, size_t column, size_t of)
{
    for (size_t i = 0; i < b->problem->agents; i++)
        for (size_t j = 0; j < b->problem->samples[i]; j++) {
            const saddle_dataset *data = b->instance.made->parts->shard[i];
            if (entry(data, j, column) != 1.0L - entry(data, j, of))
                return false;
        }
    return true;
}

/* Returns whether a feature is hidden from the model of an instance of fair: the sensitive one, or its opposite. */
static bool is_hidden(const bench *b, size_t feature)
{
    if (strcmp(b->problem->name, "fair") != 0)
        return false;
    size_t column = (size_t)test_number(b->instance.plan, "sensitive") - 1;
    return feature == column || opposite(b, feature, column);
}

/* Returns the score of a row: linear, or tanh layers of 3 and 2 units. Sets *centers to c1, c2. */
static long double slow_score(const bench *b, const saddle_dataset *data, size_t row,
                              const long double *w, const long double **centers)
{
    long double in[64];
    long double h;
    size_t inputs = data->features;
    ck_assert_uint_le(inputs, 64);
    for (size_t k = 0; k < inputs; k++)
        in[k] = is_hidden(b, k) ? 0.0L : entry(data, row, k);
    if (strcmp(test_text(b->instance.plan, "score"), "linear") != 0)
        for (size_t outputs = 3; outputs >= 2; outputs--) {
            long double out[3];
            w = slow_layer(w, inputs, in, outputs, out);
            for (size_t o = 0; o < outputs; o++)
                in[o] = tanhl(out[o]);
            inputs = outputs;
        }
    *centers = slow_layer(w, inputs, in, 1, &h);
    return h;
}

/*
 * F_i of auc: the mean of (1-r) (h-c1)^2 [b=1] + r (h-c2)^2 [b=-1]
 *             + 2 (1+y) (r h [b=-1] - (1-r) h [b=1]) - r (1-r) y^2
 */
static long double auc_value(const bench *b, size_t agent, const long double *x,
                             const long double *y)
{
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    long double r = positive_share(b);
    long double sum = 0.0L;
    for (size_t j = 0; j < data->rows; j++) {
        const long double *c;
        long double h = slow_score(b, data, j, x, &c);
        if (data->label[j] > 0.0)
            sum += (1.0L - r) * ((h - c[0]) * (h - c[0]) - 2.0L * (1.0L + y[0]) * h);
        else
            sum += r * ((h - c[1]) * (h - c[1]) + 2.0L * (1.0L + y[0]) * h);
    }
    return sum / (long double)data->rows - r * (1.0L - r) * y[0] * y[0];
}

/*
 * F_i of fair: the mean over samples of
 * -log p_b + W sum_c (y_c (2S - 1) - y_c^2) p_c, less (R/2) |y|^2, p the softmax of two linear scores
 * with biases, or of 0 and a network's, that do not see the sensitive feature or its opposite.
 */
static long double fair_value(const bench *b, size_t agent, const long double *x,
                              const long double *y)
{
    const saddle_plan *plan = b->instance.plan;
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    size_t column = (size_t)test_number(plan, "sensitive") - 1;
    long double weight = test_number(plan, "fairness");
    long double ridge = isnan(test_number(plan, "fairness-ridge"))
                            ? 0.0L
                            : (long double)test_number(plan, "fairness-ridge");
    long double z[2][60] = {{0.0L}};
    bool linear = strcmp(test_text(plan, "score"), "linear") == 0;
    const long double *unused;
    ck_assert_uint_le(data->rows, 60);
    for (size_t j = 0; !linear && j < data->rows; j++)
        z[1][j] = slow_score(b, data, j, x, &unused);
    for (size_t k = 0; k <= data->features; k++) {
        if (!linear || (k < data->features && is_hidden(b, k)))
            continue;
        for (size_t j = 0; j < data->rows; j++)
            for (size_t c = 0; c < 2; c++)
                z[c][j] += (k < data->features ? entry(data, j, k) : 1.0L) *
                           x[c * (data->features + 1) + k];
    }
    long double sum = 0.0L;
    for (size_t j = 0; j < data->rows; j++) {
        long double both = expl(z[0][j]) + expl(z[1][j]);
        long double s = 2.0L * entry(data, j, column) - 1.0L;
        sum -= logl(expl(z[data->label[j] > 0.0][j]) / both);
        for (size_t c = 0; c < 2; c++)
            sum += weight * (y[c] * s - y[c] * y[c]) * expl(z[c][j]) / both;
    }
    return sum / (long double)data->rows - ridge / 2.0L * (y[0] * y[0] + y[1] * y[1]);
}

/* Returns the group of a row in the two instances of group-dro: by agent, or by feature 2 and label. */
static size_t slow_group(const bench *b, size_t agent, size_t row)
{
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    if (b->instance.which == GROUP_DRO_MLP_DENSE)
        return agent;
    return (entry(data, row, 1) != 0.0L ? 2U : 0U) + (data->label[row] > 0.0 ? 1U : 0U);
}

/* F_i of group-dro: the sum over the agent's rows of m / N_g y_g log(1 + exp(-b h)), less
 * (mu/2) |y - 1/G|^2, with N_g counted over all agents. */
static long double group_dro_value(const bench *b, size_t agent, const long double *x,
                                   const long double *y)
{
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    size_t groups = b->problem->y_dim;
    long double size[4] = {0.0L};
    ck_assert_uint_eq(groups, 4);
    for (size_t i = 0; i < b->problem->agents; i++)
        for (size_t j = 0; j < b->problem->samples[i]; j++)
            size[slow_group(b, i, j)] += 1.0L;
    long double sum = 0.0L;
    for (size_t j = 0; j < data->rows; j++) {
        const long double *unused;
        size_t g = slow_group(b, agent, j);
        long double h = slow_score(b, data, j, x, &unused);
        sum += (long double)b->problem->agents / size[g] * y[g] *
               log1pl(expl(-(long double)data->label[j] * h));
    }
    for (size_t g = 0; g < groups; g++)
        sum -= (long double)test_number(b->instance.plan, "group-ridge") / 2.0L *
               (y[g] - 1.0L / (long double)groups) * (y[g] - 1.0L / (long double)groups);
    return sum;
}

static size_t largest(const bench *b)
{
    size_t most = 0;
    for (size_t i = 0; i < b->problem->agents; i++)
        most = b->problem->samples[i] > most ? b->problem->samples[i] : most;
    return most;
}

/*
 * F_i of robust-regression: (1/n_i) sum_j n y_j l(a'w + v - b) - (W / 2n) |n y - 1|^2, or with one weight
 * per sample (1/n_i) sum_j m n_i y_ij l(a'w + v - b) - (W / 2N) |N y - 1|^2, W the labels' variance unless
 * given.
 */
static long double regression_value(const bench *b, size_t agent, const long double *x,
                                    const long double *y)
{
    const saddle_plan *plan = b->instance.plan;
    long double n = (long double)b->problem->y_dim;
    long double delta = strcmp(test_text(plan, "loss"), "huber") == 0
                            ? (long double)test_number(plan, "huber-delta")
                            : (long double)INFINITY;
    long double rows = 0.0L;
    long double sum[2] = {0.0L};
    for (size_t i = 0; i < b->problem->agents; i++)
        for (size_t j = 0; j < b->problem->samples[i]; j++) {
            long double label = b->instance.made->parts->shard[i]->label[j];
            rows += 1.0L;
            sum[0] += label;
            sum[1] += label * label;
        }
    long double weight = isnan(test_number(plan, "divergence"))
                             ? sum[1] / rows - sum[0] * sum[0] / (rows * rows)
                             : (long double)test_number(plan, "divergence");
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    bool slots = strcmp(test_text(plan, "weights-per"), "slot") == 0;
    ck_assert(n == (slots ? (long double)largest(b) : rows));
    long double factor =
        slots ? n / (long double)data->rows : (long double)b->problem->agents; /* m n_i / n_i */
    const long double *own = y;
    for (size_t i = 0; !slots && i < agent; i++)
        own += b->problem->samples[i];
    long double value = 0.0L;
    for (size_t j = 0; j < data->rows; j++) {
        long double r = x[data->features] - (long double)data->label[j];
        for (size_t k = 0; k < data->features; k++)
            r += entry(data, j, k) * x[k];
        value += factor * own[j] *
                 (fabsl(r) <= delta ? r * r / 2.0L : delta * fabsl(r) - delta * delta / 2.0L);
    }
    for (size_t k = 0; k < b->problem->y_dim; k++)
        value -= weight / (2.0L * n) * (n * y[k] - 1.0L) * (n * y[k] - 1.0L);
    return value;
}

/* F_i of poisoning: -(1/n_i) sum_j log(1 + exp(-b (w'(a + x) + v))) - (ridge/2) (|w|^2 + v^2), x at
 * the poisoned agents of the two instances only: 0 and 1 of the sparse one, 1 and 3 of the other. */
static long double poisoning_value(const bench *b, size_t agent, const long double *x,
                                   const long double *y)
{
    const saddle_dataset *data = b->instance.made->parts->shard[agent];
    bool poisoned = data->dense != NULL ? agent % 2 == 1 : agent < 2;
    long double ridge = test_number(b->instance.plan, "ridge");
    long double sum = 0.0L;
    for (size_t j = 0; j < data->rows; j++) {
        long double score = y[data->features];
        for (size_t k = 0; k < data->features; k++)
            score += y[k] * (entry(data, j, k) + (poisoned ? x[k] : 0.0L));
        sum -= log1pl(expl(-(long double)data->label[j] * score)) / (long double)data->rows;
    }
    for (size_t k = 0; k <= data->features; k++)
        sum -= ridge / 2.0L * y[k] * y[k];
    return sum;
}

static long double own_value(const bench *b, size_t agent, const long double *x,
                             const long double *y)
{
    long double sum = 0.0L;
    for (size_t j = 0; j < b->problem->samples[agent]; j++)
        sum += test_own_value(agent, j, x, y);
    return sum / (long double)b->problem->samples[agent];
}

/*
 * F_i of policy-evaluation, (1/n_i) sum_j delta c - c^2 / 2 - (rho / 2) |y|^2: c, the slope of V(s)
 * along y, comes from carrying the derivative with respect to the step through the network.
 */
static long double policy_network(const saddle_mdp *mdp, size_t hidden, size_t state,
                                  const long double *x, const long double *along,
                                  long double *slope)
{
    size_t features = mdp->shape.features;
    size_t bias = hidden * features;
    size_t second = bias + hidden;
    long double sum = x[second + hidden];
    long double change = along[second + hidden];
    for (size_t k = 0; k < hidden; k++) {
        long double z = x[bias + k];
        long double dz = along[bias + k];
        for (size_t c = 0; c < features; c++) {
            z += x[k * features + c] * mdp->feature[state * features + c];
            dz += along[k * features + c] * mdp->feature[state * features + c];
        }
        long double t = tanhl(z);
        sum += x[second + k] * t;
        change += along[second + k] * t + x[second + k] * dz / (coshl(z) * coshl(z));
    }
    *slope = change;
    return sum;
}

static long double policy_value(const bench *b, size_t agent, const long double *x,
                                const long double *y)
{
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(b->problem);
    const saddle_plan *plan = b->instance.plan;
    size_t hidden = (size_t)test_number(plan, "mdp-hidden");
    long double gamma = test_number(plan, "discount");
    long double rho = test_number(plan, "dual-ridge");
    long double sum = 0.0L;
    for (size_t j = 0; j < b->problem->samples[agent]; j++) {
        long double c;
        long double unused;
        size_t s = mdp->state[j];
        long double here = policy_network(mdp, hidden, s, x, y, &c);
        long double next = policy_network(mdp, hidden, mdp->state[j + 1], x, y, &unused);
        size_t which = (agent * mdp->shape.states + s) * SADDLE_MDP_ACTIONS + mdp->action[j];
        sum += (mdp->reward[which] + gamma * next - here) * c - 0.5L * c * c;
    }
    long double dual = 0.0L;
    for (size_t k = 0; k < b->problem->y_dim; k++)
        dual += y[k] * y[k];
    return sum / (long double)b->problem->samples[agent] - 0.5L * rho * dual;
}

typedef long double slow_value(const bench *b, size_t agent, const long double *x,
                               const long double *y);

/* Returns the independent value function of an instance; NULL for the quadratic. */
static slow_value *slow_value_of(const bench *b)
{
    if (strcmp(b->problem->name, "robust-logistic") == 0)
        return logistic_value;
    if (strcmp(b->problem->name, "policy-evaluation") == 0)
        return policy_value;
    if (strcmp(b->problem->name, "auc") == 0)
        return auc_value;
    if (strcmp(b->problem->name, "fair") == 0)
        return fair_value;
    if (strcmp(b->problem->name, "robust-regression") == 0)
        return regression_value;
    if (strcmp(b->problem->name, "group-dro") == 0)
        return group_dro_value;
    if (strcmp(b->problem->name, "poisoning") == 0)
        return poisoning_value;
    return strcmp(b->problem->name, "own") == 0 ? own_value : NULL;
}

static void widen(size_t count, const double *from, long double *to)
{
    for (size_t k = 0; k < count; k++)
        to[k] = from[k];
}

/* Compares grad F_i at point 0 in gx[0], gy[0] with central differences of the slow value. */
static void compare_slopes(bench *b, size_t agent, slow_value *value)
{
    size_t x_dim = b->problem->x_dim;
    size_t y_dim = b->problem->y_dim;
    long double *z = calloc(x_dim + y_dim, sizeof *z);
    ck_assert_ptr_nonnull(z);
    widen(x_dim, b->x[0], z);
    widen(y_dim, b->y[0], z + x_dim);
    long double here = value(b, agent, z, z + x_dim);
    assert_near(saddle_problem_value(b->problem, agent, b->x[0], b->y[0], b->scratch), (double)here,
                1e-13 * (1.0 + fabs((double)here)));
    const long double h = 0x1p-20L;
    double x_size = test_largest(x_dim, b->gx[0]);
    double y_size = test_largest(y_dim, b->gy[0]);
    for (size_t k = 0; k < x_dim + y_dim; k++) {
        long double kept = z[k];
        z[k] = kept + h;
        long double above = value(b, agent, z, z + x_dim);
        z[k] = kept - h;
        long double below = value(b, agent, z, z + x_dim);
        z[k] = kept;
        double slope = (double)((above - below) / (2.0L * h));
        double found = k < x_dim ? b->gx[0][k] : b->gy[0][k - x_dim];
        assert_near(found, slope, 1e-10 * (k < x_dim ? x_size : y_size));
    }
    free(z);
}

TEST_LOOP(gradients_are_slopes_of_the_formula, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    slow_value *value = slow_value_of(&b);
    for (int round = 0; value != NULL && round < 3; round++) {
        draw(&b);
        for (size_t i = 0; i < b.problem->agents; i++) {
            saddle_batch all = everything(&b, i);
            gradient_at(&b, i, &all, 0, 0);
            compare_slopes(&b, i, value);
        }
    }
    bench_close(&b);
}

/* ---- the quadratic, from its gradients ------------------------------------------------------- */

/* The gradient over a batch at z = (x, y), x and y part one after another. */
static void stacked_gradient(bench *b, size_t agent, const saddle_batch *batch, const double *z,
                             double *out)
{
    saddle_problem_gradient(b->problem, agent, batch, z, z + b->problem->x_dim, out,
                            out + b->problem->x_dim, b->scratch);
}

/* Computes the Hessian (dim x dim) of a batch's mean function, column by column; exact for a quadratic. */
static void hessian_of(bench *b, size_t agent, const saddle_batch *batch, double *hessian)
{
    size_t dim = b->problem->x_dim + b->problem->y_dim;
    double *z = test_doubles(dim);
    double *origin = test_doubles(dim);
    stacked_gradient(b, agent, batch, z, origin);
    for (size_t k = 0; k < dim; k++) {
        z[k] = 1.0;
        stacked_gradient(b, agent, batch, z, hessian + k * dim);
        for (size_t r = 0; r < dim; r++)
            hessian[k * dim + r] -= origin[r];
        z[k] = 0.0;
    }
    free(origin);
    free(z);
}

/* Checks that the gradient is affine with a symmetric matrix, so that it is the gradient of a quadratic. */
static void check_affine(bench *b, size_t agent, const saddle_batch *batch)
{
    size_t x_dim = b->problem->x_dim;
    size_t dim = x_dim + b->problem->y_dim;
    double *hessian = test_doubles(dim * dim);
    double *z = test_doubles(dim);
    double *origin = test_doubles(dim);
    double *here = test_doubles(dim);
    hessian_of(b, agent, batch, hessian);
    stacked_gradient(b, agent, batch, z, origin);
    memcpy(z, b->x[0], x_dim * sizeof *z);
    memcpy(z + x_dim, b->y[0], b->problem->y_dim * sizeof *z);
    stacked_gradient(b, agent, batch, z, here);
    for (size_t r = 0; r < dim; r++) {
        double sum = origin[r];
        for (size_t k = 0; k < dim; k++) {
            sum += hessian[k * dim + r] * z[k];
            assert_near(hessian[k * dim + r], hessian[r * dim + k], 1e-13 * 10.0);
        }
        assert_near(here[r], sum, 1e-12 * (1.0 + test_largest(dim, here)));
    }
    free(here);
    free(origin);
    free(z);
    free(hessian);
}

TEST_LOOP(the_quadratic_is_quadratic, QUADRATIC_CONVEX_ODD, OWN_PROBLEM)
{
    bench b;
    bench_open(&b, _i);
    if (strcmp(b.problem->name, "quadratic") == 0) {
        size_t x_dim = b.problem->x_dim;
        size_t y_dim = b.problem->y_dim;
        draw(&b);
        for (size_t i = 0; i < b.problem->agents; i++) {
            for (uint32_t j = 0; j < b.problem->samples[i]; j++) {
                saddle_batch one = {.index = &j, .count = 1};
                check_affine(&b, i, &one);
            }
            /* F_i is the integral of its gradient; for a quadratic, the midpoint rule is exact. */
            saddle_batch all = everything(&b, i);
            double before = saddle_problem_value(b.problem, i, b.x[0], b.y[0], b.scratch);
            double after = saddle_problem_value(b.problem, i, b.x[1], b.y[1], b.scratch);
            double *middle = test_doubles(x_dim + y_dim);
            for (size_t k = 0; k < x_dim; k++)
                middle[k] = 0.5 * (b.x[0][k] + b.x[1][k]);
            for (size_t k = 0; k < y_dim; k++)
                middle[x_dim + k] = 0.5 * (b.y[0][k] + b.y[1][k]);
            saddle_problem_gradient(b.problem, i, &all, middle, middle + x_dim, b.gx[0], b.gy[0],
                                    b.scratch);
            double integral = 0.0;
            for (size_t k = 0; k < x_dim; k++)
                integral += b.gx[0][k] * (b.x[1][k] - b.x[0][k]);
            for (size_t k = 0; k < y_dim; k++)
                integral += b.gy[0][k] * (b.y[1][k] - b.y[0][k]);
            assert_near(after - before, integral, 1e-12 * (1.0 + fabs(after) + fabs(before)));
            free(middle);
        }
    }
    bench_close(&b);
}

/* gx[slot], gy[slot] = network gradient at (x, y). */
static void network_gradient(bench *b, const double *x, const double *y, int slot)
{
    size_t m = b->problem->agents;
    memset(b->gx[slot], 0, b->problem->x_dim * sizeof(double));
    memset(b->gy[slot], 0, b->problem->y_dim * sizeof(double));
    for (size_t i = 0; i < m; i++) {
        saddle_batch all = everything(b, i);
        saddle_problem_gradient(b->problem, i, &all, x, y, b->gx[2], b->gy[2], b->scratch);
        for (size_t k = 0; k < b->problem->x_dim; k++)
            b->gx[slot][k] += b->gx[2][k] / (double)m;
        for (size_t k = 0; k < b->problem->y_dim; k++)
            b->gy[slot][k] += b->gy[2][k] / (double)m;
    }
}

static double network_value(bench *b, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < b->problem->agents; i++)
        sum += saddle_problem_value(b->problem, i, x, y, b->scratch);
    return sum / (double)b->problem->agents;
}

TEST_LOOP(the_known_saddle_is_a_saddle, QUADRATIC_CONVEX_ODD, QUADRATIC_BALL)
{
    bench b;
    bench_open(&b, _i);
    if (b.problem->solution != NULL) {
        size_t x_dim = b.problem->x_dim;
        size_t y_dim = b.problem->y_dim;
        double *x = test_doubles(x_dim);
        double *y = test_doubles(y_dim);
        double *response = test_doubles(y_dim);
        ck_assert(b.problem->solution(b.problem, x, y));
        network_gradient(&b, x, y, 0);
        assert_at_most(test_largest(x_dim, b.gx[0]), 1e-13);
        assert_at_most(test_largest(y_dim, b.gy[0]), 1e-13);
        saddle_set *plane = NULL;
        saddle_error error = {.message = ""};
        assert_ok(saddle_set_create(&plane, "none", y_dim, &error), error);
        double base = network_value(&b, x, y);
        for (int round = 0; round < 10; round++) {
            draw(&b);
            /* No y is better for the maximizer than y*, and Q(x) >= Q(x*), where Q(x) = F(x, y*(x)) is
             * at least F(x, y) for every y. */
            ck_assert(network_value(&b, x, b.y[0]) <= base + 1e-12);
            ck_assert(
                b.problem->response_solve(b.problem, b.x[0], NULL, plane, response, b.scratch));
            double primal = network_value(&b, b.x[0], response);
            ck_assert(primal >= base - 1e-12);
            ck_assert(primal >= network_value(&b, b.x[0], b.y[0]) - 1e-12);
            network_gradient(&b, b.x[0], response, 0);
            assert_at_most(test_largest(y_dim, b.gy[0]), 1e-12);
        }
        ck_assert(b.problem->response_solve(b.problem, x, NULL, plane, response, b.scratch));
        assert_at_most(test_farthest(y_dim, response, y), 1e-13);
        saddle_set_free(plane);
        free(response);
        free(y);
        free(x);
    }
    bench_close(&b);
}

TEST(the_nonconvex_quadratic_is_not_convex)
{
    for (int which = QUADRATIC_CONVEX_ODD; which <= QUADRATIC_NONCONVEX; which++) {
        bench b;
        bench_open(&b, which);
        double lowest = INFINITY;
        saddle_batch all = everything(&b, 0);
        for (int round = 0; round < 200; round++) {
            draw(&b);
            memcpy(b.y[1], b.y[0], b.problem->y_dim * sizeof(double));
            gradient_at(&b, 0, &all, 0, 0);
            gradient_at(&b, 0, &all, 1, 1);
            double along = 0.0;
            for (size_t k = 0; k < b.problem->x_dim; k++)
                along += (b.gx[1][k] - b.gx[0][k]) * (b.x[1][k] - b.x[0][k]);
            lowest = fmin(lowest, along / distance2(b.problem->x_dim, b.x[0], b.x[1]));
        }
        ck_assert(which == QUADRATIC_CONVEX_ODD ? lowest > 0.0 : lowest < 0.0);
        bench_close(&b);
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Draws a batch of `count` samples of the agent, perhaps repeated. */
static void draw_batch(bench *b, size_t agent, size_t count, uint32_t *index)
{
    for (size_t k = 0; k < count; k++)
        index[k] = (uint32_t)saddle_rng_below(&b->rng, b->problem->samples[agent]);
}

enum { MOST = 600 };

TEST_LOOP(a_batch_is_the_mean_of_its_samples, 0, INSTANCES)
{
    static const size_t sizes[] = {1, 2, 7, 300, MOST};
    bench b;
    bench_open(&b, _i);
    size_t x_dim = b.problem->x_dim;
    size_t y_dim = b.problem->y_dim;
    for (size_t i = 0; i < b.problem->agents; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes + 1; s++) {
            uint32_t index[MOST];
            saddle_batch batch = {.index = index};
            if (s == sizeof sizes / sizeof *sizes) {
                batch = everything(&b, i); /* index NULL: all of them */
            } else {
                batch.count = sizes[s];
                draw_batch(&b, i, sizes[s], index);
            }
            draw(&b);
            gradient_at(&b, i, &batch, 0, 0);
            memset(b.gx[1], 0, x_dim * sizeof(double));
            memset(b.gy[1], 0, y_dim * sizeof(double));
            for (size_t k = 0; k < batch.count; k++) {
                uint32_t sample = batch.index != NULL ? batch.index[k] : (uint32_t)k;
                saddle_batch one = {.index = &sample, .count = 1};
                gradient_at(&b, i, &one, 0, 2);
                for (size_t c = 0; c < x_dim; c++)
                    b.gx[1][c] += b.gx[2][c] / (double)batch.count;
                for (size_t c = 0; c < y_dim; c++)
                    b.gy[1][c] += b.gy[2][c] / (double)batch.count;
            }
            assert_at_most(test_farthest(x_dim, b.gx[0], b.gx[1]),
                           1e-13 * (1.0 + test_largest(x_dim, b.gx[1])));
            assert_at_most(test_farthest(y_dim, b.gy[0], b.gy[1]),
                           1e-13 * (1.0 + test_largest(y_dim, b.gy[1])));
        }
    bench_close(&b);
}

/* Computes the difference between points 1 and 0 into (gx, gy)[slot], by one function or by two gradients. */
static void difference_by(bench *b, const saddle_problem *problem, size_t agent,
                          const saddle_batch *batch, int slot)
{
    saddle_problem_difference(problem, agent, batch, b->x[1], b->y[1], b->x[0], b->y[0],
                              b->gx[slot], b->gy[slot], b->scratch);
}

TEST_LOOP(differences_are_differences, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < b.problem->agents; i++) {
            uint32_t index[300];
            saddle_batch batch = {.index = index, .count = round == 0 ? 1 : 300};
            draw_batch(&b, i, batch.count, index);
            draw(&b);
            gradient_at(&b, i, &batch, 1, 0);
            gradient_at(&b, i, &batch, 0, 1);
            for (size_t k = 0; k < b.problem->x_dim; k++)
                b.gx[0][k] -= b.gx[1][k];
            for (size_t k = 0; k < b.problem->y_dim; k++)
                b.gy[0][k] -= b.gy[1][k];
            double size = 1.0 + test_largest(b.problem->x_dim, b.gx[0]) +
                          test_largest(b.problem->y_dim, b.gy[0]);
            difference_by(&b, b.problem, i, &batch, 1);
            assert_at_most(test_farthest(b.problem->x_dim, b.gx[0], b.gx[1]), 1e-13 * size);
            assert_at_most(test_farthest(b.problem->y_dim, b.gy[0], b.gy[1]), 1e-13 * size);
        }
    bench_close(&b);
}

/* A problem that declares y_curvature changes gy only in the entries of the batch; the rest is linear. */
TEST_LOOP(declared_structure_holds, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    const saddle_problem *problem = b.problem;
    for (size_t i = 0; problem->y_curvature > 0.0 && i < problem->agents; i++) {
        uint32_t index[3];
        saddle_batch batch = {.index = index, .count = 3, .repeats = true};
        draw_batch(&b, i, batch.count, index);
        draw(&b);
        for (size_t k = 0; k < problem->y_dim; k++)
            b.gy[0][k] = 1e300;
        saddle_request r = {.kind = SADDLE_REQUEST_BATCH_DIFFERENCE,
                            .batch = batch,
                            .x = b.x[1],
                            .y = b.y[1],
                            .x0 = b.x[0],
                            .y0 = b.y[0],
                            .gx = b.gx[0],
                            .gy = b.gy[0]};
        saddle_evaluate(problem, i, &r, b.scratch);
        difference_by(&b, problem, i, &batch, 1);
        ck_assert_mem_eq(b.gx[0], b.gx[1], problem->x_dim * sizeof(double));
        for (size_t k = 0; k < problem->y_dim; k++) {
            bool drawn = k == index[0] || k == index[1] || k == index[2];
            double linear = -problem->y_curvature * (b.y[1][k] - b.y[0][k]);
            ck_assert((b.gy[0][k] == 1e300) == !drawn);
            ck_assert(b.gy[1][k] == (drawn ? b.gy[0][k] + linear : linear));
        }
    }
    bench_close(&b);
}

/* Computes the sample variance in two passes, the mean first, which is left in gx[0], gy[0]. */
static double two_pass_variance(bench *b, size_t agent, const saddle_batch *batch)
{
    gradient_at(b, agent, batch, 0, 0);
    double sum = 0.0;
    for (size_t k = 0; k < batch->count; k++) {
        saddle_batch one = {.index = &batch->index[k], .count = 1};
        gradient_at(b, agent, &one, 0, 1);
        sum += distance2(b->problem->x_dim, b->gx[1], b->gx[0]) +
               distance2(b->problem->y_dim, b->gy[1], b->gy[0]);
    }
    return batch->count > 1 ? sum / (double)(batch->count - 1) : 0.0;
}

TEST_LOOP(variances_are_sample_variances, 0, INSTANCES)
{
    static const size_t sizes[] = {1, 2, 9, 300};
    bench b;
    bench_open(&b, _i);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t i = 0; i < b.problem->agents; i++) {
            uint32_t index[300];
            saddle_batch batch = {.index = index, .count = sizes[s]};
            draw_batch(&b, i, batch.count, index);
            draw(&b);
            double expected = two_pass_variance(&b, i, &batch);
            double size = 1.0 + norm2(b.problem->x_dim, b.gx[0]) + norm2(b.problem->y_dim, b.gy[0]);
            double found = saddle_problem_gradient_variance(b.problem, i, &batch, b.x[0], b.y[0],
                                                            b.gx[1], b.gy[1], b.scratch);
            assert_near(found, expected, 1e-12 * (expected + size));
            if (batch.count == 1)
                ck_assert(found == 0.0);
            assert_at_most(test_farthest(b.problem->x_dim, b.gx[0], b.gx[1]), 1e-13 * size);
            assert_at_most(test_farthest(b.problem->y_dim, b.gy[0], b.gy[1]), 1e-13 * size);
        }
    bench_close(&b);
}

/* ---- best responses -------------------------------------------------------------------------- */

typedef struct ascent {
    bench *b;
    const double *x;
} ascent;

static void ascent_gradient(void *context, const double *y, double *gradient)
{
    ascent *a = context;
    network_gradient(a->b, a->x, y, 0);
    memcpy(gradient, a->b->gy[0], a->b->problem->y_dim * sizeof *gradient);
}

/* Computes y*(x) with the problem's function; false when it has no closed form over this set. */
static bool closed_response(bench *b, const saddle_set *y_set, const double *x, double *y)
{
    const saddle_problem *problem = b->problem;
    if (problem->response_solve == NULL)
        return false;
    double *mean = test_doubles(problem->response_size);
    double *own = test_doubles(problem->response_size);
    for (size_t i = 0; problem->response_size > 0 && i < problem->agents; i++) {
        saddle_problem_statistic(problem, i, x, own, b->scratch);
        for (size_t k = 0; k < problem->response_size; k++)
            mean[k] += own[k] / (double)problem->agents;
    }
    bool solved = problem->response_solve(problem, x, mean, y_set, y, b->scratch);
    free(own);
    free(mean);
    return solved;
}

/* A survey gives the gradient in x and the statistic, and values from the mean statistic are the means
 * of the agents' values. */
TEST_LOOP(surveys_agree_with_their_parts, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    const saddle_problem *problem = b.problem;
    size_t size = problem->response_size;
    double *own = test_doubles(size);
    double *mean = test_doubles(size);
    double *surveyed = test_doubles(size);
    draw(&b);
    double value = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        saddle_batch all = everything(&b, i);
        value +=
            saddle_problem_value(problem, i, b.x[0], b.y[0], b.scratch) / (double)problem->agents;
        saddle_request r = {.kind = SADDLE_REQUEST_SURVEY,
                            .batch = all,
                            .x = b.x[0],
                            .y = b.y[0],
                            .gx = b.gx[1],
                            .statistic = size > 0 ? surveyed : NULL};
        saddle_evaluate(problem, i, &r, b.scratch);
        gradient_at(&b, i, &all, 0, 0);
        ck_assert_mem_eq(b.gx[0], b.gx[1], problem->x_dim * sizeof(double));
        if (size == 0)
            continue;
        saddle_problem_statistic(problem, i, b.x[0], own, b.scratch);
        ck_assert_mem_eq(own, surveyed, size * sizeof *own);
        for (size_t k = 0; k < size; k++)
            mean[k] += own[k] / (double)problem->agents;
    }
    if (problem->response_value != NULL) {
        double found = problem->response_value(problem, b.x[0], mean, b.y[0], b.scratch);
        assert_near(found, value, 1e-12 * (1.0 + fabs(value)));
    }
    free(surveyed);
    free(mean);
    free(own);
    bench_close(&b);
}

/* Checks that y is feasible and no feasible direction ascends: <grad_y F(x, y), z - y> <= 0 over Y. */
static void check_optimal(bench *b, const saddle_set *y_set, const double *x, const double *y,
                          double tolerance)
{
    size_t y_dim = b->problem->y_dim;
    double *z = test_doubles(y_dim);
    double *scratch = test_doubles(saddle_set_scratch(y_set));
    assert_at_most(saddle_set_distance(y_set, y, scratch), tolerance);
    network_gradient(b, x, y, 0);
    double size = 1.0 + sqrt(norm2(y_dim, b->gy[0]));
    for (int round = 0; round < 100; round++) {
        for (size_t k = 0; k < y_dim; k++)
            z[k] = y[k] + (round % 2 == 0 ? 0.01 : 3.0) * saddle_rng_normal(&b->rng);
        saddle_set_project(y_set, z, scratch);
        double along = 0.0;
        for (size_t k = 0; k < y_dim; k++)
            along += b->gy[0][k] * (z[k] - y[k]);
        assert_at_most(along, tolerance * size * (1.0 + sqrt(distance2(y_dim, z, y))));
    }
    free(scratch);
    free(z);
}

TEST_LOOP(best_responses_are_best, 0, INSTANCES)
{
    static const char *const sets[] = {NULL, "none", "simplex", "l2-ball:0.5", "box:0:0.3"};
    bench b;
    bench_open(&b, _i);
    size_t y_dim = b.problem->y_dim;
    double *closed = test_doubles(y_dim);
    double *generic = test_doubles(y_dim);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        saddle_error error = {.message = ""};
        saddle_set *y_set = NULL;
        const char *text = sets[s] != NULL ? sets[s] : saddle_set_text(b.y_set);
        assert_ok(saddle_set_create(&y_set, text, y_dim, &error), error);
        double *scratch = test_doubles(saddle_maximize_scratch(y_dim) + saddle_set_scratch(y_set));
        double step = 1.0;
        draw(&b);
        ascent context = {.b = &b, .x = b.x[0]};
        memset(generic, 0, y_dim * sizeof *generic);
        double last =
            saddle_maximize(y_set, ascent_gradient, &context, 1e-12, &step, generic, scratch);
        assert_at_most(last, 1e-12);
        check_optimal(&b, y_set, b.x[0], generic, 1e-9);
        if (closed_response(&b, y_set, b.x[0], closed)) {
            check_optimal(&b, y_set, b.x[0], closed, 1e-12);
            assert_at_most(test_farthest(y_dim, closed, generic),
                           1e-9 * (1.0 + test_largest(y_dim, closed)));
        }
        free(scratch);
        saddle_set_free(y_set);
    }
    free(generic);
    free(closed);
    bench_close(&b);
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Draws points where the curvature of a sample is largest: a large y, x near zero, a move along the
 * sample's gradient in x. */
static void draw_steep(bench *b, size_t agent, const saddle_batch *one)
{
    size_t x_dim = b->problem->x_dim;
    size_t y_dim = b->problem->y_dim;
    for (size_t k = 0; k < x_dim; k++)
        b->x[0][k] = 0.01 * saddle_rng_normal(&b->rng);
    for (size_t k = 0; k < y_dim; k++)
        b->y[0][k] = 10.0 * saddle_rng_normal(&b->rng);
    saddle_set_project(b->x_set, b->x[0], b->scratch);
    saddle_set_project(b->y_set, b->y[0], b->scratch);
    gradient_at(b, agent, one, 0, 0);
    double size = sqrt(norm2(x_dim, b->gx[0]));
    for (size_t k = 0; k < x_dim; k++)
        b->x[1][k] = b->x[0][k] - 0.01 * b->gx[0][k] / (size > 0.0 ? size : 1.0);
    saddle_set_project(b->x_set, b->x[1], b->scratch);
    memcpy(b->y[1], b->y[0], y_dim * sizeof(double));
}

TEST_LOOP(constants_bound_what_they_say, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    saddle_constants constants = b.instance.made->constants;
    size_t x_dim = b.problem->x_dim;
    size_t y_dim = b.problem->y_dim;
    /* The constants that the problem knows; the others are estimates, not bounds. */
    saddle_constants known = {.lipschitz = 0.0};
    saddle_error error = {.message = ""};
    if (b.problem->constants != NULL)
        assert_ok(b.problem->constants(b.problem, b.x_set, b.y_set, &known, &error), error);
    ck_assert(constants.lipschitz > 0.0);
    ck_assert(constants.strong_concavity > 0.0);
    if (known.strong_concavity > 0.0)
        ck_assert(constants.strong_concavity == known.strong_concavity);
    ck_assert_int_eq(constants.estimated, !(known.lipschitz > 0.0 && known.strong_concavity > 0.0));
    ck_assert_int_eq(constants.has_primal_bound, known.has_primal_bound);
    double steepest = 0.0;
    for (int round = 0; b.problem->constants != NULL && round < 400; round++) {
        size_t i = (size_t)saddle_rng_below(&b.rng, b.problem->agents);
        uint32_t index;
        draw_batch(&b, i, 1, &index);
        saddle_batch one = {.index = &index, .count = 1};
        draw(&b);
        /* Points close together see the curvature at a point, distant ones its mean. */
        for (size_t k = 0; round % 2 == 0 && k < x_dim; k++)
            b.x[1][k] = b.x[0][k] + 1e-3 * (b.x[1][k] - b.x[0][k]);
        for (size_t k = 0; round % 2 == 0 && k < y_dim; k++)
            b.y[1][k] = b.y[0][k] + 1e-3 * (b.y[1][k] - b.y[0][k]);
        if (round % 4 == 3)
            draw_steep(&b, i, &one);
        difference_by(&b, b.problem, i, &one, 0);
        double moved = sqrt(distance2(x_dim, b.x[0], b.x[1]) + distance2(y_dim, b.y[0], b.y[1]));
        double changed = sqrt(norm2(x_dim, b.gx[0]) + norm2(y_dim, b.gy[0]));
        if (known.lipschitz > 0.0)
            assert_at_most(changed, known.lipschitz * moved * (1.0 + 1e-10));
        steepest = fmax(steepest, moved > 0.0 ? changed / moved : 0.0);

        memcpy(b.x[1], b.x[0], x_dim * sizeof(double));
        saddle_batch all = everything(&b, i);
        difference_by(&b, b.problem, i, &all, 0);
        double along = 0.0;
        for (size_t k = 0; k < y_dim; k++)
            along += b.gy[0][k] * (b.y[1][k] - b.y[0][k]);
        assert_at_most(along,
                       -known.strong_concavity * distance2(y_dim, b.y[0], b.y[1]) * (1.0 - 1e-9));
        if (constants.has_primal_bound && closed_response(&b, b.y_set, b.x[0], b.y[0]))
            ck_assert(network_value(&b, b.x[0], b.y[0]) >= constants.primal_bound - 1e-12);
    }
    if (getenv("SADDLE_TEST_VERBOSE") != NULL)
        saddle_fprintf(stdout, "%s: L = %g, steepest seen %g\n", b.instance.label,
                       constants.lipschitz, steepest);
    /* A bound many times too high would make the theory's steps useless without any other test noticing. */
    if (known.lipschitz > 0.0 && x_dim > 1)
        ck_assert_msg(steepest * 5.0 >= constants.lipschitz, "L = %g, steepest seen %g",
                      constants.lipschitz, steepest);
    bench_close(&b);
}

/* ---- bad instances --------------------------------------------------------------------------- */

static void nothing(const saddle_problem *problem, size_t agent, const saddle_part *part,
                    double *scratch)
{
    (void)problem, (void)agent, (void)part, (void)scratch;
}

static bool no_response(const saddle_problem *problem, const double *x, const double *statistic,
                        const saddle_set *y_set, double *y, double *scratch)
{
    (void)problem, (void)x, (void)statistic, (void)y_set, (void)y, (void)scratch;
    return false;
}

TEST(incomplete_instances_are_refused)
{
    static const size_t none[3] = {6, 0, 9};
    saddle_error error = {.message = ""};
    saddle_problem p = *test_own_problem();
    assert_ok(saddle_problem_check(&p, &error), error);
    p.gradient = NULL;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "gradient");
    p = *test_own_problem();
    p.value = NULL;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "value");
    p.add_samples = nothing;
    assert_ok(saddle_problem_check(&p, &error), error);
    p.response_solve = no_response;
    p.response_size = 2;
    assert_ok(saddle_problem_check(&p, &error), error);
    p = *test_own_problem();
    p.response_solve = no_response;
    p.response_size = 2;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "no statistic");
    p = *test_own_problem();
    p.y_dim = 0;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "0 (y)");
    p = *test_own_problem();
    p.samples = NULL;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "samples");
    p.samples = none;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "agent 1");
    static const double no_curvature[] = {-1.0, NAN, INFINITY};
    double number = 0.0;
    p = *test_own_problem();
    p.shared_size = 1;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "but no shared");
    p.shared = &number;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "but no share()");
    p = *test_own_problem();
    for (size_t k = 0; k < sizeof no_curvature / sizeof *no_curvature; k++) {
        p.y_curvature = no_curvature[k];
        assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT,
                       "it must be a number, 0 or above");
        saddle_problem costly = *test_own_problem();
        costly.sample_cost = no_curvature[k];
        assert_refused(saddle_problem_check(&costly, &error), error, SADDLE_BAD_INPUT,
                       "sample_cost");
    }
    /* Entry j of y belongs to sample j: no agent has more samples than y has entries. */
    p.y_curvature = 1.0;
    size_t *samples = calloc(p.agents, sizeof *samples);
    ck_assert_ptr_nonnull(samples);
    for (size_t i = 0; i < p.agents; i++)
        samples[i] = p.y_dim;
    p.samples = samples;
    assert_ok(saddle_problem_check(&p, &error), error);
    samples[1] = p.y_dim + 1;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "but agent 1 has");
    samples[1] = p.y_dim;
    p.response_size = p.y_dim - 1;
    assert_refused(saddle_problem_check(&p, &error), error, SADDLE_BAD_INPUT, "but agent 0 has");
    free(samples);
    p = *test_own_problem();
    p.samples = none;
    saddle_plan *plan = test_plan(NULL, NULL);
    plan->problem.own = &p;
    assert_plan_refused(plan, "agent 1");
}

TEST(bad_quadratics_are_refused)
{
    static const struct {
        const char *assignment[4];
        const char *part;
    } bad[] = {
        {{"problem=quadratic", "mu=4", "lipschitz=11.9"}, "11.9"},
        {{"problem=quadratic", "agents=3", "samples=5,6"}, "5,6"},
        {{"problem=quadratic", "agents=3", "samples=5,0,6"}, "5,0,6"},
        {{"problem=quadratic", "agents=3", "samples=5,6,7,8"}, "5,6,7,8"},
        {{"problem=quadratic", "samples=1.5"}, "1.5"},
        {{"problem=quadratic", "samples="}, "''"},
        {{"problem=quadratic", "data=synthetic"}, "data:"},
        {{"problem=cubic"}, "cubic"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_plan *plan = test_plan(NULL, bad[k].assignment);
        assert_plan_refused(plan, bad[k].part);
    }
}

/* ---- the gradient check ---------------------------------------------------------------------- */

TEST_LOOP(the_gradient_check_passes_right_problems, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    saddle_error error = {.message = ""};
    saddle_gradient_check found;
    assert_ok(saddle_problem_check_gradient(b.problem, b.x_set, b.y_set, 3, 1, &found, &error),
              error);
    assert_at_most(found.x_error, 1e-8);
    assert_at_most(found.y_error, 1e-8);
    assert_at_most(found.difference_error, 1e-12);
    assert_at_most(found.variance_error, 1e-9);
    assert_at_most(found.batch_error, 1e-12);
    saddle_gradient_check again;
    assert_ok(saddle_problem_check_gradient(b.problem, b.x_set, b.y_set, 3, 1, &again, &error),
              error);
    ck_assert(again.x_error == found.x_error && again.y_error == found.y_error);
    bench_close(&b);
}

/* Errors in gradients, built on the right functions of an instance. */
enum { SIGN, DOUBLE, ONE_COORDINATE, NAN_GRADIENT, NAN_VALUE, Y_PART, BATCH_SUM, WRONGS };

typedef struct liar {
    const saddle_problem *right;
    int wrong;
} liar;

static void lie(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const liar *self = problem->self;
    saddle_problem_gradient(self->right, agent, batch, x, y, gx, gy, scratch);
    for (size_t k = 0; k < problem->x_dim; k++) {
        if (self->wrong == SIGN)
            gx[k] = -gx[k];
        if (self->wrong == DOUBLE)
            gx[k] *= 2.0;
    }
    /* The error is only at the last agent, which the check must name. */
    if (self->wrong == ONE_COORDINATE && agent + 1 == problem->agents)
        gx[problem->x_dim - 1] += 1e-3;
    if (self->wrong == NAN_GRADIENT)
        gx[0] = NAN;
    for (size_t k = 0; self->wrong == Y_PART && k < problem->y_dim; k++)
        gy[k] *= 0.5;
    for (size_t k = 0; self->wrong == BATCH_SUM && k < problem->x_dim; k++)
        gx[k] *= (double)batch->count / (double)problem->samples[agent];
}

static double lie_value(const saddle_problem *problem, size_t agent, const double *x,
                        const double *y, double *scratch)
{
    const liar *self = problem->self;
    return self->wrong == NAN_VALUE ? NAN : saddle_problem_value(self->right, agent, x, y, scratch);
}

TEST_LOOP(the_gradient_check_catches_wrong_gradients, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    saddle_error error = {.message = ""};
    for (int wrong = 0; wrong < WRONGS; wrong++) {
        liar self = {.right = b.problem, .wrong = wrong};
        saddle_problem p = *b.problem;
        p.self = &self;
        p.add_samples = NULL;
        p.scratch = saddle_problem_scratch(b.problem);
        p.gradient = lie;
        p.value = lie_value;
        p.response_solve = NULL;
        p.response_value = NULL;
        saddle_gradient_check found;
        assert_ok(saddle_problem_check_gradient(&p, b.x_set, b.y_set, 2, 3, &found, &error), error);
        if (wrong == SIGN || wrong == DOUBLE)
            ck_assert_msg(found.x_error > 0.4, "x error %g", found.x_error);
        if (wrong == ONE_COORDINATE) {
            ck_assert_msg(found.x_error > 1e-6, "x error %g", found.x_error);
            ck_assert_uint_eq(found.agent, p.agents - 1);
        }
        if (wrong == NAN_GRADIENT || wrong == NAN_VALUE)
            ck_assert(isinf(found.x_error));
        if (wrong == NAN_VALUE || wrong == Y_PART)
            ck_assert_msg(found.y_error > 0.4, "y error %g", found.y_error);
        if (wrong == Y_PART)
            assert_at_most(found.x_error, 1e-8);
        if (wrong == BATCH_SUM && p.samples[0] > 1)
            ck_assert_msg(found.batch_error > 0.4, "batch error %g", found.batch_error);
    }
    bench_close(&b);
}

/* Errors in add_samples(). */
enum { NO_DIFFERENCE, NAN_DIFFERENCE, WRONG_SQUARE, OVERWRITES, PART_WRONGS };

static void lie_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const liar *self = problem->self;
    if (self->wrong == OVERWRITES && part->gx != NULL)
        memset(part->gx, 0, problem->x_dim * sizeof(double));
    if (self->wrong == NO_DIFFERENCE && part->x0 != NULL)
        return;
    self->right->add_samples(self->right, agent, part, scratch);
    /* Not in the last entry, so that a running maximum could lose it. */
    if (self->wrong == NAN_DIFFERENCE && part->x0 != NULL)
        part->gx[0] = NAN;
    if (self->wrong == WRONG_SQUARE && part->square != NULL)
        *part->square = 1.0 + 2.0 * *part->square;
}

static void right_common(const saddle_problem *problem, const saddle_part *part)
{
    const saddle_problem *right = ((const liar *)problem->self)->right;
    if (right->add_common != NULL)
        right->add_common(right, part);
}

TEST_LOOP(the_gradient_check_catches_wrong_batch_functions, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    saddle_error error = {.message = ""};
    for (int wrong = 0; b.problem->add_samples != NULL && wrong < PART_WRONGS; wrong++) {
        liar self = {.right = b.problem, .wrong = wrong};
        saddle_gradient_check found;
        saddle_problem p = *b.problem;
        p.self = &self;
        p.add_samples = lie_samples;
        p.add_common = right_common;
        assert_ok(saddle_problem_check_gradient(&p, b.x_set, b.y_set, 2, 3, &found, &error), error);
        if (wrong == NO_DIFFERENCE)
            ck_assert_msg(found.difference_error > 0.05, "error %g", found.difference_error);
        if (wrong == NAN_DIFFERENCE)
            ck_assert_msg(isinf(found.difference_error), "error %g", found.difference_error);
        if (wrong == WRONG_SQUARE && p.samples[0] > 1)
            ck_assert_msg(found.variance_error > 0.05, "error %g", found.variance_error);
        if (wrong == OVERWRITES && p.samples[0] > 1)
            ck_assert_msg(found.batch_error > 0.05, "error %g", found.batch_error);
        assert_at_most(found.x_error, 1e-8);
    }
    bench_close(&b);
}

TEST(the_gradient_check_refuses_nonsense)
{
    bench b;
    bench_open(&b, OWN_PROBLEM);
    saddle_error error = {.message = ""};
    saddle_gradient_check found;
    assert_refused(saddle_problem_check_gradient(b.problem, b.x_set, b.y_set, 0, 1, &found, &error),
                   error, SADDLE_BAD_INPUT, "at least 1 point (got 0)");
    assert_refused(saddle_problem_check_gradient(b.problem, b.y_set, b.x_set, 1, 1, &found, &error),
                   error, SADDLE_BAD_INPUT, "dimensions 3 and 2");
    bench_close(&b);
}
