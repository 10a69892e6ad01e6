/*
 * A published method as a plug-in: DM-HSGD (Xian, Huang, Zhang, Huang, "A Faster Decentralized
 * Algorithm for Nonconvex Minimax Problems", NeurIPS 2021), gradient tracking of estimates with
 * hybrid momentum, here with proximal steps and one round per iteration. At agent i:
 *
 *   x+ = prox of eta_x h over X at  sum_j M_ij x_j - eta_x p
 *   y+ = projection onto Y of       sum_j M_ij y_j + eta_y d
 *   (v, u)+ = g(x+, y+) + (1 - beta) ((v, u) - g(x, y)),   g = mean gradient over a mini-batch
 *   p+ = sum_j M_ij p_j + v+ - v,   d+ = sum_j M_ij d_j + u+ - u
 *
 * from p = v and d = u, the gradients over all samples at the start. beta = 1 is Prox-GT-SGDA's
 * estimate; without beta and with refreshes it would be PRECISION's.
 *
 *   cc -shared -fPIC hybrid_momentum.c $(pkg-config --cflags saddle) -o libhybrid_momentum.so
 *   saddle run --algorithm ./libhybrid_momentum.so --beta 0.2
 */
#include <math.h>
#include <string.h>

#include <saddle/saddle.h>

typedef struct parameters {
    saddle_steps steps;
    double beta;
} parameters;

static const saddle_search beta_search = {.name = "beta", .low = -2, .high = 1};
static const saddle_option beta =
    SADDLE_STEP(SADDLE_OWN(parameters, beta, RUN), "beta", "Hybrid momentum", "0.1", 1.0,
                &beta_search, "B", "Weight of the newest mini-batch in the estimates.");
static const saddle_option *const options[] = {&saddle_option_eta_x, &saddle_option_eta_y,
                                               &saddle_option_batch, &beta, NULL};
static const saddle_automatic automatic[] = {SADDLE_AUTOMATIC(saddle_option_eta_x, "nu/tau"),
                                             SADDLE_AUTOMATIC(saddle_option_eta_y, "eta alpha"),
                                             {.option = NULL}};

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    c->steps.eta_x = isnan(c->steps.eta_x) ? c->steps.nu / c->steps.tau : c->steps.eta_x;
    c->steps.eta_y = isnan(c->steps.eta_y) ? c->steps.eta * c->steps.alpha : c->steps.eta_y;
    ((parameters *)out)->steps = c->steps;
    return SADDLE_OK;
}

/* Published: (x, y) | (p, d). Kept: (v, u). Work: g(x, y) | g(x+, y+) | mixed (x, y), then (v, u)+. */
static void layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = 1;
    saddle_layout_add(out, "(x, y)", both, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "(p, d)", both, SADDLE_FIELD_SUM, 0);
    out->kept = both;
    out->work = 3 * both;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    memcpy(agent->next, x0, x_dim * sizeof *x0);
    memcpy(agent->next + x_dim, y0, (both - x_dim) * sizeof *y0);
    saddle_batch all = {.count = agent->problem->samples[agent->id]};
    saddle_agent_request(agent, all, agent->next, agent->kept);
    saddle_agent_evaluate(agent);
    memcpy(agent->next + both, agent->kept, both * sizeof *agent->next);
}

static void move(saddle_agent *agent)
{
    const saddle_steps *s = &((const parameters *)agent->parameters)->steps;
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    const double *p = agent->now + both;
    double *z = agent->work + 2 * both;
    saddle_agent_mix(agent, 0, both, z);
    saddle_agent_descend(agent, s->eta_x, z, p, agent->next, agent->scratch);
    saddle_agent_ascend(agent, s->eta_y, z + x_dim, p + x_dim, agent->next + x_dim, agent->scratch);
    saddle_agent_check_finite(agent, "(x, y)", both, agent->next);
    saddle_batch batch = saddle_agent_draw(agent, agent->iteration + 1, s->batch, false);
    saddle_agent_request(agent, batch, agent->now, agent->work);
}

/* The same batch at the new point. */
static void estimate(saddle_agent *agent)
{
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    saddle_agent_request(agent, agent->request.batch, agent->next, agent->work + both);
}

static void track(saddle_agent *agent)
{
    double keep = 1.0 - ((const parameters *)agent->parameters)->beta;
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    const double *g = agent->work; /* at (x, y); that at (x+, y+) follows */
    double *v1 = agent->work + 2 * both;
    for (size_t k = 0; k < both; k++)
        v1[k] = g[both + k] + keep * (agent->kept[k] - g[k]);
    saddle_agent_track(agent, both, both, v1, agent->kept, agent->next + both);
}

static void view(const saddle_agent *agent, saddle_view *out)
{
    size_t x_dim = agent->problem->x_dim;
    *out = (saddle_view){
        .x = agent->now, .y = agent->now + x_dim, .v = agent->kept, .u = agent->kept + x_dim};
}

static const saddle_phase phases[] = {{"move", .before = move},
                                      {"estimate", .before = estimate},
                                      {"track", .before = track},
                                      {.name = NULL}};

static const saddle_algorithm dm_hsgd = {
    .name = "hybrid-momentum",
    .title = "Hybrid momentum",
    .summary = "gradient tracking of mini-batch estimates with hybrid momentum",
    .options = options,
    .automatic = automatic,
    .size = sizeof(parameters),
    .traits =
        {.x_set = true, .y_set = true, .regularizer = true, .stochastic = true, .feasible = true},
    .init = init,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view};

const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .algorithm = &dm_hsgd};
