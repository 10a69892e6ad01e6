/*
 * Robust logistic regression: the paper's experiment (Liu, Zhang, Lu, Liu 2023, section 4).
 *
 *   f_ij(x, y) = w y_j l_ij(x) - V(y) + g(x)
 *   l_ij(x)    = log(1 + exp(-b_ij a_ij' x))
 *   V(y)       = (lambda1 / 2) |n y - 1|^2
 *   g(x)       = lambda2 sum_k c x_k^2 / (1 + c x_k^2)        (the paper's alpha is c here)
 *
 * with y as in robust.h:
 *
 *   weights `box`      the paper's form: w = 1, Y = [0, 10]^n
 *   weights `simplex`  the usual distributionally robust form: w = n, Y the probability simplex
 */
#include "problems/problems.h"

#include "core/sizes.h"
#include "data/dataset.h"
#include "data/rows.h"
#include "problems/robust.h"

#define GROUP "Problem robust-logistic"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)

typedef struct choices {
    double lambda1; /* NaN: automatic */
    double lambda2;
    double curvature;
    int weights; /* BOX or SIMPLEX */
} choices;

/* The choices of --weights. */
enum { BOX, SIMPLEX };

static const saddle_option *const options[] = {
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(lambda1), "lambda1", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "W",
        "Weight of the penalty V(y) = (lambda1/2) |n y - 1|^2. It pulls every sample weight y_j "
        "towards 1/n, where n is the largest number of samples of an agent. auto: 1/n^2."),
    &(const saddle_option)SADDLE_REAL(
        OWN(lambda2), "lambda2", GROUP, "1e-3", 0.0, SADDLE_UNBOUNDED, "W",
        "Weight of the nonconvex regularizer g(x); see --g-curvature."),
    &(const saddle_option)SADDLE_REAL_ABOVE(OWN(curvature), "g-curvature", GROUP, "10", 0.0,
                                            SADDLE_UNBOUNDED, "C",
                                            "C in the regularizer g(x) = lambda2 sum_k C x_k^2 / "
                                            "(1 + C x_k^2). The PRECISION paper calls it alpha."),
    &(const saddle_option)SADDLE_CHOICE(
        OWN(weights), "weights", GROUP, "box", "box|simplex", "FORM",
        "How y weights the loss of sample j.\n"
        "box: by y_j, with Y = [0,10]^n, as in the PRECISION paper.\n"
        "simplex: by n y_j, with Y the probability simplex: the usual form of distributionally "
        "robust optimization."),
    NULL};

typedef struct instance {
    saddle_robust robust; /* first: shares the address of the instance */
    bool simplex;         /* the losses are weighted by n y_j */
} instance;

/* The smallest default tau, for a regularizer that is weak or absent. */
#define TAU_LEAST 1e-3

/*
 * F is isotropic in y, so alpha = 1/mu reaches the maximizer in one step. In x, with weights of
 * order 1/n (box), the curvature 2 lambda2 c of the regularizer sets the scale; five times it is
 * safe. On the simplex the losses have their full weight: |H_xx| + |H_xy|^2 / mu of F bounds the
 * curvature of Q.
 */
static double suitable_tau(const instance *self)
{
    const saddle_robust *robust = &self->robust;
    double n = (double)robust->problem.y_dim;
    double square = robust->row_norm * robust->row_norm;
    if (self->simplex)
        return fmax(square / 4.0 + square / (robust->lambda1 * n * n), TAU_LEAST);
    return fmax(10.0 * robust->lambda2 * robust->curvature, TAU_LEAST);
}

/* Returns whether the data are neither generated nor those of the paper: a9a and the images of
 * MNIST. */
static bool is_users_data(const saddle_problem_inputs *inputs)
{
    const saddle_world *world = inputs->world;
    bool images = world->local > 0 && (inputs->shard[world->here[0]]->formats &
                                       SADDLE_FORMAT_BIT(SADDLE_FORMAT_IDX)) != 0;
    return !images && !inputs->scoring && !saddle_data_is_known(inputs->data);
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    saddle_robust *robust = &self->robust;
    choices *chosen = inputs->options;
    size_t most = saddle_sizes_largest(inputs->agents, inputs->samples);
    double n = (double)most;
    if (isnan(chosen->lambda1))
        chosen->lambda1 = 1.0 / (n * n);
    self->simplex = chosen->weights == SIMPLEX;
    robust->loss = SADDLE_ROBUST_LOGISTIC;
    robust->lambda1 = chosen->lambda1;
    robust->lambda2 = chosen->lambda2;
    robust->curvature = chosen->curvature;
    robust->weight = self->simplex ? n : 1.0;
    robust->problem.y_set = self->simplex ? "simplex" : "box:0:10";
    if (is_users_data(inputs))
        robust->problem.note =
            "--x-set: the default box:0:10, as in the PRECISION paper, allows no negative "
            "coefficients; none allows all";
    return saddle_robust_prepare(robust, inputs, most, error);
}

static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    (void)error;
    instance *self = problem->self;
    self->robust.row_norm = sqrt(saddle_largest_norm2(inputs, NULL));
    problem->sample_cost = saddle_row_cost(inputs, 1);
    problem->tau = suitable_tau(self);
    return SADDLE_OK;
}

const saddle_problem_class saddle_robust_logistic = {
    .name = "robust-logistic",
    .summary =
        "logistic regression with adversarial sample weights: the problem of the PRECISION paper",
    .needs_data = true,
    .scaling = SADDLE_ROWS_DIVIDED,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.x_set = "box:0:10",
               .add_samples = saddle_robust_add_samples,
               .add_rows = saddle_robust_add_rows,
               .add_common = saddle_robust_add_common,
               .response_solve = saddle_robust_response,
               .response_value = saddle_robust_value,
               .constants = saddle_robust_constants,
               .scores = saddle_robust_scores,
               .linear = saddle_robust_linear,
               .device = saddle_robust_device},
};
