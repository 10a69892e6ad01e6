/*
 * Your own algorithm: decentralized gradient descent ascent. Agent i moves from the average of its
 * neighbours' iterates along the gradient over all its samples:
 *
 *   x_i+ = prox of eta_x h over X at  sum_j M_ij x_j - eta_x grad_x F_i(x_i, y_i)
 *   y_i+ = projection onto Y of       sum_j M_ij y_j + eta_y grad_y F_i(x_i, y_i)
 *
 * In C, set plan.algorithm.own as in main() below. As a plug-in, give its path:
 *   cc -shared -fPIC own_algorithm.c $(pkg-config --cflags saddle) -o libown_algorithm.so
 *   saddle run --algorithm ./libown_algorithm.so --eta-x 0.02
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/saddle.h>

/* Parameters, the same for all agents. */
typedef struct parameters {
    double eta_x;
    double eta_y;
} parameters;

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    parameters *p = out;
    (void)error;
    /* Steps that are not given are NaN; storing the values in use records them in the trace. */
    if (isnan(c->steps.eta_x))
        c->steps.eta_x = 0.01;
    if (isnan(c->steps.eta_y))
        c->steps.eta_y = 0.1;
    p->eta_x = c->steps.eta_x;
    p->eta_y = c->steps.eta_y;
    return SADDLE_OK;
}

/* x and y are published to the neighbours. The work memory has the gradient, which one phase leaves
 * to the next, and the mixed iterate. */
static void layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    out->rounds = 1;
    saddle_layout_add(out, "x", problem->x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    out->work = 2 * (problem->x_dim + problem->y_dim);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

/* Requests the gradient of F_i, which the engine computes before the next phase. */
static void estimate(saddle_agent *agent)
{
    saddle_batch all = {.count = agent->problem->samples[agent->id]};
    saddle_agent_request(agent, all, agent->now, agent->work);
}

static void move(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    const double *gradient = agent->work;
    double *mixed = agent->work + both;
    saddle_agent_mix(agent, 0, both, mixed);
    saddle_agent_descend(agent, p->eta_x, mixed, gradient, agent->next, agent->scratch);
    saddle_agent_ascend(agent, p->eta_y, mixed + x_dim, gradient + x_dim, agent->next + x_dim,
                        agent->scratch);
    saddle_agent_check_finite(agent, "(x, y)", both, agent->next);
}

static void view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}

static const saddle_phase phases[] = {
    {"estimate", .before = estimate}, {"move", .before = move}, {.name = NULL}};
/* The plan's options that it reads. Its own options would fill in its parameters. */
static const saddle_option *const options[] = {&saddle_option_eta_x, &saddle_option_eta_y, NULL};

static const saddle_algorithm dgda = {
    .name = "dgda",
    .title = "DGDA",
    .summary = "full local gradients from averaged iterates",
    .options = options,
    .size = sizeof(parameters),
    .traits = {.x_set = true, .y_set = true, .regularizer = true, .feasible = true},
    .init = init,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view};

const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .algorithm = &dgda};

int main(void)
{
    saddle_plan plan;
    saddle_result *result;
    saddle_error error;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.problem.name = "quadratic";
    plan.network.topology = "ring";
    plan.algorithm.own = &dgda;
    plan.limits.iterations = 2000;
    if (saddle_solve(NULL, &plan, &result, &error) != SADDLE_OK) {
        fprintf(stderr, "own_algorithm: %s\n", error.message);
        return EXIT_FAILURE;
    }
    saddle_row last = result->rows[result->row_count - 1];
    saddle_result_free(result);
    /* The mean converges to the saddle point; constant steps keep the agents a little apart. */
    printf("mean: stationarity %.3g, best response %.3g; consensus %.17g\n", last.x_stationarity,
           last.y_gap, last.x_consensus + last.y_consensus);
    return last.x_stationarity + last.y_gap < 1e-9 ? EXIT_SUCCESS : EXIT_FAILURE;
}
