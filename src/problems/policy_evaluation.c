/*
 * The value of a policy for agents whose rewards are private: the mean squared projected Bellman
 * error of a nonlinear value function, in primal-dual form (H.-T. Wai, M. Hong, Z. Yang, Z. Wang,
 * K. Tang, "Variance reduced policy evaluation with smooth function approximation", NeurIPS 2019).
 *
 * All agents see the same transitions (s, a, s') of one trajectory; only agent i sees its reward
 * r = R_i(s, a). With V_x the value function, g = grad V_x(s) and the temporal difference
 *   delta = r + gamma V_x(s') - V_x(s),
 *
 *   f_ij(x, y) = delta y'g - 1/2 (y'g)^2 - (rho / 2) |y|^2,
 *
 * so that with e and G the means of delta g and gg' over samples and agents
 *   y*(x) = (G + rho I)^-1 e,   Q(x) = 1/2 e'(G + rho I)^-1 e,
 * half the projected Bellman error of the mean reward. With rho > 0 it is defined even if G is
 * singular, and F_i is strongly concave with mu = rho. F(x, 0) = 0, hence Q >= 0.
 *
 * V_x(s) = sum_k w_k tanh(W_k'p + b_k) + o has one hidden layer over the state's features p, and
 * x = (W, b, w, o). With t_k the tanh, d_k = 1 - t_k^2, and y = (W~, b~, w~, o~) in the same way,
 *   g      = (w_k d_k p,  w_k d_k,  t_k,  1)
 *   c      = y'g = sum_k (w_k d_k q_k + w~_k t_k) + o~,   q_k = W~_k'p + b~_k
 *   grad c = (h_k p,  h_k,  d_k q_k,  0),   h_k = d_k (w~_k - 2 w_k t_k q_k)
 *   grad_x f = c (gamma g(s') - g(s)) + (delta - c) grad c
 *   grad_y f = (delta - c) g - rho y
 * A sample's gradient costs two evaluations of the network and O(dim x) more.
 */
#include "problems/problems.h"

#include "core/dense.h"
#include "core/elementary.h"
#include "core/rng.h"
#include "core/sizes.h"
#include "core/vector.h"
#include "problems/mdp.h"

#define GROUP "Problem policy-evaluation"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)

typedef struct choices {
    uint64_t states;
    uint64_t features;
    uint64_t hidden;
    double discount;
    double ridge;
} choices;

static const saddle_option *const options[] = {
    &(const saddle_option)SADDLE_INTEGER(OWN(states), "mdp-states", GROUP, "20", 1.0, 1000.0, "N",
                                         "Number of states of the Markov decision process."),
    &(const saddle_option)SADDLE_INTEGER(OWN(features), "mdp-features", GROUP, "4", 1.0, 32.0, "N",
                                         "Number of features of a state."),
    &(const saddle_option)SADDLE_INTEGER(
        OWN(hidden), "mdp-hidden", GROUP, "8", 1.0, 32.0, "N",
        "Number of hidden tanh units in the neural network that is the value function."),
    &(const saddle_option)SADDLE_REAL(OWN(discount), "discount", GROUP, "0.9", 0.0, 0.999, "GAMMA",
                                      "Discount factor of future rewards."),
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(ridge), "dual-ridge", GROUP, "0.1", 0.0, SADDLE_UNBOUNDED, "RHO",
        "Weight of the term -(RHO/2) |y|^2, which makes F strongly concave in y."),
    NULL};

typedef struct instance {
    saddle_problem problem; /* first: shares the address of the instance */
    saddle_mdp *mdp;
    size_t hidden;
    /* Offsets of b, w and o in x, y and gradients; W comes first, unit by unit. */
    size_t bias, second, offset;
    double ridge;
} instance;

static const double *features_of(const instance *self, size_t state)
{
    return self->mdp->feature + state * self->mdp->shape.features;
}

/* out[k] = W_k'p + b_k */
static void first_layer(const instance *self, const double *x, const double *p, double *out)
{
    size_t features = self->mdp->shape.features;
    for (size_t k = 0; k < self->hidden; k++)
        out[k] = saddle_dot(features, x + k * features, p) + x[self->bias + k];
}

/* Returns V(s) and computes t; scratch: `hidden` doubles. tanh z = 2 / (1 + exp(-2 z)) - 1. */
static double evaluate(const instance *self, const double *x, size_t state, double *t,
                       double *scratch)
{
    first_layer(self, x, features_of(self, state), scratch);
    saddle_scale(self->hidden, 2.0, scratch);
    saddle_logistic(self->hidden, scratch, NULL, t);
    for (size_t k = 0; k < self->hidden; k++)
        t[k] = 2.0 * t[k] - 1.0;
    return saddle_dot(self->hidden, x + self->second, t) + x[self->offset];
}

/* Returns y'g and computes q at a state, given its t. */
static double along(const instance *self, const double *x, const double *y, size_t state,
                    const double *t, double *q)
{
    const double *w = x + self->second;
    double sum = y[self->offset];
    first_layer(self, y, features_of(self, state), q);
    for (size_t k = 0; k < self->hidden; k++)
        sum += w[k] * (1.0 - t[k] * t[k]) * q[k] + y[self->second + k] * t[k];
    return sum;
}

static double reward_of(const instance *self, size_t agent, size_t sample)
{
    const saddle_mdp *mdp = self->mdp;
    size_t pair = mdp->state[sample] * (size_t)SADDLE_MDP_ACTIONS + mdp->action[sample];
    return mdp->reward[mdp->row[agent] * mdp->shape.states * SADDLE_MDP_ACTIONS + pair];
}

/* A sample at (x, y). */
typedef struct sample {
    const double *p, *p_next; /* features of s and s' */
    double *t, *t_next, *q;   /* hidden each */
    double delta;             /* temporal difference */
    double c;                 /* y'g */
} sample;

/* Evaluates a sample; scratch: 4 hidden doubles, which contain t, t_next and q. q and c are not
 * set if y is NULL. */
static sample evaluate_sample(const instance *self, size_t agent, size_t j, const double *x,
                              const double *y, double *scratch)
{
    size_t s = self->mdp->state[j];
    size_t next = self->mdp->state[j + 1];
    sample at = {.p = features_of(self, s),
                 .p_next = features_of(self, next),
                 .t = scratch,
                 .t_next = scratch + self->hidden,
                 .q = scratch + 2 * self->hidden};
    double *rest = scratch + 3 * self->hidden;
    double value = evaluate(self, x, s, at.t, rest);
    double value_next = evaluate(self, x, next, at.t_next, rest);
    at.delta = reward_of(self, agent, j) + self->mdp->shape.discount * value_next - value;
    at.c = y != NULL ? along(self, x, y, s, at.t, at.q) : 0.0;
    return at;
}

/* gx += weight times the sample's gradient in x. */
static void add_x(const instance *self, const sample *at, double weight, const double *x,
                  const double *y, double *gx)
{
    size_t features = self->mdp->shape.features;
    double discount = self->mdp->shape.discount;
    double c = weight * at->c;
    double rest = weight * (at->delta - at->c);
    for (size_t k = 0; k < self->hidden; k++) {
        double t = at->t[k];
        double w = x[self->second + k];
        double d = 1.0 - t * t;
        double d_next = 1.0 - at->t_next[k] * at->t_next[k];
        double here = rest * d * (y[self->second + k] - 2.0 * w * t * at->q[k]) - c * w * d;
        double next = c * discount * w * d_next;
        saddle_axpy(features, here, at->p, gx + k * features);
        saddle_axpy(features, next, at->p_next, gx + k * features);
        gx[self->bias + k] += here + next;
        gx[self->second + k] += rest * d * at->q[k] + c * (discount * at->t_next[k] - t);
    }
    gx[self->offset] += c * (discount - 1.0);
}

/* gy += weight times the sample's gradient in y, without the ridge. */
static void add_y(const instance *self, const sample *at, double weight, const double *x,
                  double *gy)
{
    size_t features = self->mdp->shape.features;
    double rest = weight * (at->delta - at->c);
    for (size_t k = 0; k < self->hidden; k++) {
        double t = at->t[k];
        double slope = rest * x[self->second + k] * (1.0 - t * t);
        saddle_axpy(features, slope, at->p, gy + k * features);
        gy[self->bias + k] += slope;
        gy[self->second + k] += rest * t;
    }
    gy[self->offset] += rest;
}

/* Returns |gradient|^2 of a sample; `g` is scratch for the gradient. */
static double sample_square(const instance *self, const sample *at, const saddle_part *part,
                            double *g)
{
    size_t dim = self->problem.x_dim;
    memset(g, 0, 2 * dim * sizeof *g);
    add_x(self, at, 1.0, part->x, part->y, g);
    add_y(self, at, 1.0, part->x, g + dim);
    return saddle_norm2(2 * dim, g);
}

/*
 * Adds a sample to the statistic. G and e need the gradients g of V at the states, which depend
 * only on x, and two numbers per state that the agent knows: the share of its samples that start
 * there, and the sum of their delta / n_i.
 */
static void add_statistic(const instance *self, size_t j, double delta, const saddle_part *part)
{
    size_t s = self->mdp->state[j];
    part->statistic[s] += part->scale;
    part->statistic[self->mdp->shape.states + s] += part->scale * delta;
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = problem->self;
    for (size_t k = 0; k < part->batch.count; k++) {
        size_t j = saddle_batch_sample(&part->batch, k);
        sample at = evaluate_sample(self, agent, j, part->x, part->y, scratch);
        if (part->gx != NULL)
            add_x(self, &at, part->scale, part->x, part->y, part->gx);
        if (part->gy != NULL)
            add_y(self, &at, part->scale, part->x, part->gy);
        if (part->square != NULL)
            *part->square +=
                part->scale * sample_square(self, &at, part, scratch + 4 * self->hidden);
        if (part->value != NULL)
            *part->value += part->scale * at.c * (at.delta - 0.5 * at.c);
        if (part->statistic != NULL)
            add_statistic(self, j, at.delta, part);
        if (part->x0 == NULL || part->gx == NULL || part->gy == NULL)
            continue;
        at = evaluate_sample(self, agent, j, part->x0, part->y0, scratch);
        add_x(self, &at, -part->scale, part->x0, part->y0, part->gx);
        add_y(self, &at, -part->scale, part->x0, part->gy);
    }
}

static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    saddle_add_ridge(problem, ((const instance *)problem->self)->ridge, part);
}

/* ---- best response -------------------------------------------------------------------------- */

/* Computes g at a state; scratch: 2 hidden doubles. */
static void value_gradient(const instance *self, const double *x, size_t state, double *g,
                           double *scratch)
{
    size_t features = self->mdp->shape.features;
    const double *p = features_of(self, state);
    evaluate(self, x, state, scratch, scratch + self->hidden);
    for (size_t k = 0; k < self->hidden; k++) {
        double t = scratch[k];
        double slope = x[self->second + k] * (1.0 - t * t);
        for (size_t c = 0; c < features; c++)
            g[k * features + c] = slope * p[c];
        g[self->bias + k] = slope;
        g[self->second + k] = t;
    }
    g[self->offset] = 1.0;
}

/* matrix = G + rho I, right = e, from the mean statistic; scratch: dim + 2 hidden doubles. */
static void normal_equations(const instance *self, const double *x, const double *statistic,
                             double *matrix, double *right, double *scratch)
{
    size_t dim = self->problem.y_dim;
    size_t states = self->mdp->shape.states;
    double *g = scratch;
    memset(matrix, 0, dim * dim * sizeof *matrix);
    memset(right, 0, dim * sizeof *right);
    for (size_t s = 0; s < states; s++) {
        double share = statistic[s];
        if (share == 0.0)
            continue;
        value_gradient(self, x, s, g, scratch + dim);
        for (size_t r = 0; r < dim; r++)
            saddle_axpy(dim, share * g[r], g, matrix + r * dim);
        saddle_axpy(dim, statistic[states + s], g, right);
    }
    for (size_t r = 0; r < dim; r++)
        matrix[r * dim + r] += self->ridge;
}

static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    if (!saddle_set_is_whole_space(y_set))
        return false;
    size_t dim = problem->y_dim;
    normal_equations(problem->self, x, statistic, scratch, y, scratch + dim * dim);
    return saddle_solve_dense(dim, scratch, y);
}

/* ---- outcomes ------------------------------------------------------------------------------- */

/* problem->shared has how much every agent counts, and then the exact value of every state for
 * their mean reward. */
static double *exact_values(const saddle_problem *problem)
{
    return problem->shared + problem->agents;
}

/* Computes an agent's contribution to the mean statistic. */
static void mean_term(const saddle_problem *problem, const saddle_dataset *held_out, size_t agent,
                      const double *x, const double *y, double *sums, double *scratch)
{
    (void)held_out;
    (void)y;
    saddle_problem_statistic(problem, agent, x, sums, scratch);
    saddle_scale(problem->response_size, problem->shared[agent] / (double)problem->agents, sums);
}

/* Returns e'(G + rho I)^-1 e, given the mean statistic; `right` has 2 dim entries. */
static double projected_error(const instance *self, const double *x, const double *mean,
                              double *right, double *scratch)
{
    size_t dim = self->problem.y_dim;
    double *response = right + dim;
    normal_equations(self, x, mean, scratch, right, scratch + dim * dim);
    memcpy(response, right, dim * sizeof *response);
    return saddle_solve_dense(dim, scratch, response) ? saddle_dot(dim, right, response) : NAN;
}

/* Returns the root mean square of V_x - V over the stationary distribution; scratch: 2 hidden
 * doubles. */
static double value_error(const saddle_problem *problem, const double *x, double *scratch)
{
    const instance *self = problem->self;
    const saddle_mdp *mdp = self->mdp;
    const double *exact = exact_values(problem);
    double sum = 0.0;
    for (size_t s = 0; s < mdp->shape.states; s++) {
        double miss = evaluate(self, x, s, scratch, scratch + self->hidden) - exact[s];
        sum += mdp->visits[s] * miss * miss;
    }
    return sqrt(sum);
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const instance *self = problem->self;
    double *mean;
    *count = 0;
    if (rows->held_out != NULL)
        return SADDLE_OK;
    SADDLE_TRY(
        saddle_outcome_sums(&mean, problem->response_size, mean_term, problem, rows, x, y, error));
    double counted = 0.0;
    for (size_t i = 0; i < problem->agents; i++)
        counted += saddle_outcome_counts(rows, i) ? problem->shared[i] : 0.0;
    saddle_scale(problem->response_size, (double)problem->agents / counted, mean);
    double *right = mean + problem->response_size;
    double *scratch = right + 2 * problem->y_dim;
    out[0] =
        (saddle_outcome){"mspbe", projected_error(self, x, mean, right, scratch), SADDLE_SMALLER};
    out[1] = (saddle_outcome){"value_error", value_error(problem, x, scratch), SADDLE_SMALLER};
    saddle_free(mean);
    *count = 2;
    return SADDLE_OK;
}

/* ---- the instance --------------------------------------------------------------------------- */

/* mu is known, L is not: the curvature grows with x and y. */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)x_set;
    (void)error;
    out->strong_concavity = ((const instance *)problem->self)->ridge;
    if (saddle_set_is_whole_space(y_set)) {
        out->primal_bound = 0.0;
        out->has_primal_bound = true;
    }
    return SADDLE_OK;
}

/* Random weights of the usual size, so that hidden units differ and are not saturated. */
static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const instance *self = problem->self;
    size_t features = self->mdp->shape.features;
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_INIT, 0, 0);
    memset(x, 0, problem->x_dim * sizeof *x);
    memset(y, 0, problem->y_dim * sizeof *y);
    for (size_t k = 0; k < self->hidden * features; k++)
        x[k] = saddle_rng_normal(&rng) / sqrt((double)features);
    for (size_t k = 0; k < self->hidden; k++)
        x[self->second + k] = saddle_rng_normal(&rng) / sqrt((double)self->hidden);
}

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_mdp_free(self->mdp);
    saddle_free(problem->shared);
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    const choices *chosen = inputs->options;
    saddle_mdp_shape shape = {.states = (size_t)chosen->states,
                              .features = (size_t)chosen->features,
                              .agents = inputs->agents,
                              .length = saddle_sizes_largest(inputs->agents, inputs->samples),
                              .discount = chosen->discount};
    size_t dim = (size_t)chosen->hidden * (shape.features + 2) + 1;
    self->hidden = (size_t)chosen->hidden;
    self->bias = self->hidden * shape.features;
    self->second = self->bias + self->hidden;
    self->offset = self->second + self->hidden;
    self->ridge = chosen->ridge;
    self->problem.x_dim = dim;
    self->problem.y_dim = dim;
    self->problem.response_size = 2 * shape.states;
    /* A sample and its gradient; the normal equations and their solution. */
    self->problem.scratch = 4 * self->hidden + dim * dim + 3 * dim;
    self->problem.sample_cost = (double)(6 * dim + 60 * self->hidden);
    /* G grows with the number of hidden units. PRECISION converges even with four times this
     * alpha, but without variance reduction y then fluctuates with the batches. */
    self->problem.alpha = 2.5 / (2.0 + (double)self->hidden);
    self->problem.shared_size = inputs->agents + shape.states;
    self->problem.shared = saddle_alloc_doubles(self->problem.shared_size);
    SADDLE_TRY(saddle_check_memory(self->problem.shared, "the decision process", error));
    return saddle_mdp_create(&self->mdp, &shape, inputs->world, inputs->seed, error);
}

static saddle_status share(saddle_problem *problem, const double *weight, saddle_error *error)
{
    const instance *self = problem->self;
    memcpy(problem->shared, weight, problem->agents * sizeof *weight);
    return saddle_mdp_solve(self->mdp, problem->world, weight, exact_values(problem), NULL, error);
}

static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    const instance *self = problem->self;
    for (size_t i = 0; i < inputs->agents; i++)
        problem->shared[i] = inputs->weight != NULL ? inputs->weight[i] : 1.0;
    return saddle_mdp_solve(self->mdp, inputs->world, inputs->weight, exact_values(problem),
                            self->mdp->visits, error);
}

const saddle_mdp *saddle_policy_evaluation_mdp(const saddle_problem *problem)
{
    return ((const instance *)problem->self)->mdp;
}

const saddle_problem_class saddle_policy_evaluation = {
    .name = "policy-evaluation",
    .summary = "value function of a policy, learned by agents that know only their own rewards",
    .needs_data = false,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.tau = 3.0,
               .share = share,
               .add_samples = add_samples,
               .add_common = add_common,
               .response_solve = response_solve,
               .constants = constants,
               .outcomes = outcomes,
               .start = start,
               .release = release},
};
