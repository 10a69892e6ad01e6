/*
 * Linear regression that is robust to a shift of the distribution: an adversary weights the
 * samples, with a penalty on the chi-square divergence of its weights from equal ones (Namkoong,
 * Duchi, NeurIPS 2016 and 2017, in the penalized form).
 *
 *   per sample  f_ij(x, y) = m n_i y_ij l(a_ij'w + v - b_ij) - (W / 2N) |N y - 1|^2
 *   per slot    f_ij(x, y) = n y_j l(a_ij'w + v - b_ij) - (W / 2n) |n y - 1|^2
 *   l(r)        = r^2 / 2, or Huber's: r^2 / 2 for |r| <= D, D |r| - D^2 / 2 beyond
 *
 * where x = (w, v), Y is the probability simplex and robust.h says which entries y has. If W is so
 * large that no weight is 0, eliminating y leaves
 *   mean L + (1 / 2W) variance of L,
 * over the losses of all samples or, with equal local sizes, over L_j, the mean over agents of their
 * loss in slot j. W -> infinity gives least squares, W -> 0 the worst sample or slot only. The mean
 * of m independent losses has 1/m of their variance: per slot, robustness fades with more agents.
 */
#include "problems/problems.h"

#include "core/compare.h"
#include "core/sizes.h"
#include "data/rows.h"
#include "problems/robust.h"
#include "problems/scored.h"

#define GROUP "Problem robust-regression"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)
#define OWN_OF_HUBER(field) OWN(field), .used_with = {&loss, "huber", false}

typedef struct choices {
    int loss;          /* SQUARE or HUBER */
    double delta;      /* NaN: automatic */
    double divergence; /* NaN: automatic */
    int weights_per;   /* PER_AUTO, PER_SAMPLE or PER_SLOT */
} choices;

/* The choices of --weights-per. */
enum { PER_AUTO, PER_SAMPLE, PER_SLOT };

/* The choices of --loss. */
enum { SQUARE, HUBER };

static const saddle_option loss =
    SADDLE_CHOICE(OWN(loss), "loss", GROUP, "square", "square|huber", "LOSS",
                  "Loss of a residual r.\n"
                  "square: r^2/2.\n"
                  "huber: the same up to --huber-delta and linear beyond it, which limits the "
                  "influence of outliers.");
static const saddle_option weights_per = SADDLE_CHOICE(
    OWN(weights_per), "weights-per", GROUP, "auto", "auto|sample|slot", "WHAT",
    "What has a weight y of its own.\n"
    "sample: every sample of every agent. The problem is that of all rows in one place, whatever "
    "the number of agents. Messages contain one number per sample of all agents.\n"
    "slot: the j-th samples of all agents share a weight. Messages are shorter, but the adversary "
    "sees only means over agents: with more agents, the result approaches least squares.\n"
    "auto: sample if all agents together have at most 10,000 samples.");
static const saddle_option *const options[] = {
    &loss,
    &(const saddle_option)SADDLE_REAL_ABOVE(OWN_OF_HUBER(delta), "huber-delta", GROUP, "auto", 0.0,
                                            SADDLE_UNBOUNDED, "D",
                                            "Residual at which Huber's loss becomes linear. auto: "
                                            "the standard deviation of the labels."),
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(divergence), "divergence", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "W",
        "Weight of the penalty on unequal sample weights. The penalty is their chi-square "
        "divergence from equal weights: the smaller W, the more the samples with the largest "
        "losses count. auto: the variance of the labels."),
    &weights_per, NULL};

/* The largest number of samples for which each has its own weight by default: messages of 80 kB. */
#define MOST_OWN_WEIGHTS 10000

/* The default tau as a multiple of the trace of the Hessian in x plus |H_xy|^2 / mu. */
#define TAU_SHARE 0.5

/* Sums over all agents' rows. */
typedef struct totals {
    double rows;
    double label; /* b */
    double norm2; /* |a|^2 + 1 */
} totals;

static void total_term(void *context, size_t agent, double *out)
{
    const saddle_robust *self = context;
    const saddle_dataset *data = self->shard[agent];
    totals *t = (totals *)(void *)out;
    *t = (totals){.rows = (double)data->rows};
    for (size_t row = 0; row < data->rows; row++) {
        t->label += data->label[row];
        t->norm2 += saddle_row_norm2(data, row) + 1.0;
    }
}

static void spread_term(void *context, size_t agent, double *out)
{
    const saddle_robust *self = context;
    const saddle_dataset *data = self->shard[agent];
    out[0] = 0.0;
    for (size_t row = 0; row < data->rows; row++) {
        double distance = data->label[row] - self->mean_label;
        out[0] += distance * distance;
    }
}

/* Returns the largest |b| over all rows. Collective. */
static double largest_label(const saddle_problem_inputs *inputs)
{
    const saddle_world *world = inputs->world;
    double most = 0.0;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = inputs->shard[world->here[k]];
        for (size_t row = 0; row < data->rows; row++)
            most = fmax(most, fabs(data->label[row]));
    }
    world->largest(world, 1, &most);
    return most;
}

/* Starts with w = 0, v = the mean label and equal weights. From v = 0, labels far from 0 have such losses that a few
 * samples get all the weight. */
static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const saddle_robust *self = problem->self;
    (void)seed;
    memset(x, 0, problem->x_dim * sizeof *x);
    x[problem->x_dim - 1] = self->mean_label;
    for (size_t k = 0; k < problem->y_dim; k++)
        y[k] = 1.0 / (double)problem->y_dim;
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_robust *self = made;
    choices *chosen = inputs->options;
    size_t total = (size_t)saddle_sizes_sum(inputs->agents, inputs->samples);
    size_t most = saddle_sizes_largest(inputs->agents, inputs->samples);
    if (chosen->weights_per == PER_AUTO)
        chosen->weights_per = total <= MOST_OWN_WEIGHTS ? PER_SAMPLE : PER_SLOT;
    /* One agent's samples are its slots, and y has more structure then. */
    bool own = chosen->weights_per == PER_SAMPLE && inputs->agents > 1;
    if (chosen->weights_per == PER_SLOT && inputs->agents > 1)
        self->problem.note =
            "--weights-per: with more than 10000 samples, agents share one weight per slot, and "
            "the more agents, the closer the result is to least squares; sample gives every sample "
            "its own weight, with longer messages";
    self->loss = chosen->loss == HUBER ? SADDLE_ROBUST_HUBER : SADDLE_ROBUST_SQUARE;
    self->shard = inputs->shard;
    self->intercept = true;
    self->curvature = 1.0;
    self->weight = (double)(own ? total : most);
    return own ? saddle_robust_own_weights(self, inputs, error) : SADDLE_OK;
}

/* Computes the scale of the labels, from which automatic options follow, and that of the rows,
 * from all agents' data. */
static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    saddle_robust *self = problem->self;
    choices *chosen = inputs->options;
    totals t = {.rows = 0.0};
    SADDLE_TRY(saddle_world_sum(inputs->world, sizeof t / sizeof(double), total_term, self, &t.rows,
                                error));
    double spread = 0.0;
    self->mean_label = t.label / t.rows;
    SADDLE_TRY(saddle_world_sum(inputs->world, 1, spread_term, self, &spread, error));
    double variance = spread > 0.0 ? spread / t.rows : 1.0;
    if (isnan(chosen->delta))
        chosen->delta = sqrt(variance);
    if (isnan(chosen->divergence))
        chosen->divergence = variance;
    self->delta = chosen->delta;
    self->lambda1 = chosen->divergence / self->weight;
    self->row_norm = sqrt(saddle_largest_norm2(inputs, NULL) + 1.0);
    self->most_label = largest_label(inputs);
    problem->sample_cost = saddle_row_cost(inputs, 1);
    problem->tau = TAU_SHARE * (t.norm2 / t.rows) * (1.0 + variance / chosen->divergence);
    return saddle_robust_prepare(self, inputs, (size_t)self->weight, error);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

enum { RMSE, MAE, R2, WORST_TENTH, MEASURES };

static saddle_status measure(size_t rows, double *prediction, const double *label, double *out,
                             saddle_error *error)
{
    (void)error;
    double mean = 0.0;
    double spread = 0.0;
    double square = 0.0;
    double size = 0.0;
    double worst = 0.0;
    size_t tenth = (rows + 9) / 10;
    for (size_t k = 0; k < rows; k++)
        mean += label[k] / (double)rows;
    for (size_t k = 0; k < rows; k++) {
        double residual = prediction[k] - label[k];
        spread += (label[k] - mean) * (label[k] - mean);
        square += residual * residual;
        size += fabs(residual);
        prediction[k] = residual * residual;
    }
    if (!isnan(square))
        qsort(prediction, rows, sizeof *prediction, saddle_compare_reals_down);
    for (size_t k = 0; k < tenth; k++)
        worst += prediction[k];
    out[RMSE] = sqrt(square / (double)rows);
    out[MAE] = size / (double)rows;
    out[R2] = spread > 0.0 ? 1.0 - square / spread : (double)NAN;
    out[WORST_TENTH] = isnan(square) ? (double)NAN : sqrt(worst / (double)tenth);
    return SADDLE_OK;
}

/* Finding the largest residuals needs all of them in one process. */
static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    static const char *const name[MEASURES] = {"rmse", "mae", "r2", "worst_tenth_rmse"};
    const saddle_robust *self = problem->self;
    double found[MEASURES];
    *count = 0;
    SADDLE_TRY(saddle_measure_scores(saddle_robust_scores, measure, self->shard, problem, rows, x,
                                     y, MEASURES, found, error));
    for (size_t k = 0; k < MEASURES; k++)
        out[k] = (saddle_outcome){name[k], found[k], k == R2 ? SADDLE_LARGER : SADDLE_SMALLER};
    *count = MEASURES;
    return SADDLE_OK;
}

const saddle_problem_class saddle_robust_regression = {
    .name = "robust-regression",
    .summary = "linear regression with adversarial sample weights, with square or Huber loss",
    .needs_data = true,
    .scaling = SADDLE_ROWS_CENTRED,
    .labels = SADDLE_LABELS_REAL,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(saddle_robust),
    .init = init,
    .join = join,
    .common = {.y_set = "simplex",
               .add_samples = saddle_robust_add_samples,
               .add_rows = saddle_robust_add_rows,
               .add_common = saddle_robust_add_common,
               .response_solve = saddle_robust_response,
               .response_value = saddle_robust_value,
               .constants = saddle_robust_constants,
               .outcomes = outcomes,
               /* Predictions and labels. */
               .outcome_bytes = 2 * sizeof(double),
               .scores = saddle_robust_scores,
               .linear = saddle_robust_linear,
               .start = start,
               .device = saddle_robust_device,
               .release = saddle_robust_release},
};
