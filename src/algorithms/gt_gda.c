/*
 * GT-GDA at agent i: gradient tracking with full local gradients, K ascents in y for one descent in
 * x (Tsaknakis, Hong, Liu, "Decentralized Min-Max Optimization: Formulations, Algorithms and
 * Applications in Network Poisoning Attack", ICASSP 2020).
 *
 *   for k = 0 .. K-1, from y^0 = y_t:
 *     u+ = grad_y F_i(x_t, y^k),      d+ = sum_j M_ij d_j + u+ - u
 *     y^{k+1} = projection onto Y of  sum_j M_ij y_j^k + eta_y d+
 *   y_{t+1} = y^K
 *   v+ = grad_x F_i(x_t, y_{t+1}),    p+ = sum_j M_ij p_j + v+ - v
 *   x_{t+1} = prox of (eta_x h) over X at  sum_j M_ij x_{j,t} - eta_x p+
 *
 * Start: p = v = 0, d = u = 0, so that the first trackers are the local gradients. An agent that
 * starts anew because others have left or joined begins with p = v and d = u at its point, which
 * neighbours average before it moves.
 *
 * The paper constrains x or y, not both, and has no h; the proximal step handles all of these and
 * reduces to the paper's step without them. Bringing y close to its best response takes on the
 * order of L / mu ascents, and the guarantee requires steps that are small in terms of L, mu and
 * lambda. Here K and the steps are options; auto is eta_x = nu / tau and eta_y = eta alpha, as for
 * PRECISION, and K = 2.
 *
 * Cost of an iteration: K + 1 rounds, (K + 1) n_i IFO calls. An ascent sends (y, d), the descent
 * (x, p).
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/step_options.h"
#include "core/sizes.h"

typedef struct parameters {
    saddle_two_steps steps;
    uint64_t ascents; /* K */
} parameters;

static const saddle_option ascents_option =
    SADDLE_INTEGER(SADDLE_OWN(parameters, ascents, RUN), "ascents", "GT-GDA", "2", 1.0, 1e6, "K",
                   "Ascent rounds in y per descent round in x. The algorithm's convergence theorem "
                   "needs a number of the order of L / mu.");

static const saddle_option *const options[] = {&saddle_option_eta_x, &saddle_option_eta_y,
                                               &ascents_option, NULL};

/* One of x and y with its tracker and the gradient it last followed. */
typedef struct side {
    size_t dim;
    size_t field;     /* offset of its iterate in the span; its tracker follows */
    double *gradient; /* kept: v | u */
} side;

static side x_side(const saddle_agent *agent)
{
    const saddle_problem *problem = agent->problem;
    return (side){.dim = problem->x_dim, .field = 2 * problem->y_dim, .gradient = agent->kept};
}

static side y_side(const saddle_agent *agent)
{
    const saddle_problem *problem = agent->problem;
    return (side){.dim = problem->y_dim, .field = 0, .gradient = agent->kept + problem->x_dim};
}

static uint64_t most_ifo(const void *parameters_, const saddle_problem *problem)
{
    const parameters *p = parameters_;
    return (p->ascents + UINT64_C(1)) * saddle_sizes_sum(problem->agents, problem->samples);
}

static void layout(const void *parameters_, const saddle_problem *problem, saddle_layout *out)
{
    const parameters *p = parameters_;
    unsigned descent = (unsigned)p->ascents;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = descent + 1;
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "d", problem->y_dim, SADDLE_FIELD_SUM, problem->x_dim);
    saddle_layout_add(out, "x", problem->x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "p", problem->x_dim, SADDLE_FIELD_SUM, 0);
    out->field[0].last_round = out->field[1].last_round = descent - 1;
    out->field[2].first_round = out->field[3].first_round = descent;
    out->kept = both;
    out->work = both;
    out->scratch = saddle_larger(problem->x_dim, problem->y_dim);
}

/* Requests the gradient of F_i at a point. */
static void request_gradient(saddle_agent *agent, const double *x, const double *y)
{
    agent->request = (saddle_request){.kind = SADDLE_REQUEST_GRADIENT,
                                      .batch = {.count = agent->problem->samples[agent->id]},
                                      .x = x,
                                      .y = y,
                                      .gx = agent->work,
                                      .gy = agent->work + agent->problem->x_dim};
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    side x = x_side(agent);
    side y = y_side(agent);
    memset(agent->next, 0, 2 * (x.dim + y.dim) * sizeof *agent->next);
    memset(agent->kept, 0, (x.dim + y.dim) * sizeof *agent->kept);
    memcpy(agent->next + x.field, x0, x.dim * sizeof *x0);
    memcpy(agent->next + y.field, y0, y.dim * sizeof *y0);
    if (agent->iteration == 0)
        return;
    request_gradient(agent, x0, y0);
    saddle_agent_evaluate(agent);
    memcpy(agent->kept, agent->work, (x.dim + y.dim) * sizeof *agent->kept);
    memcpy(agent->next + x.field + x.dim, x.gradient, x.dim * sizeof *x0);
    memcpy(agent->next + y.field + y.dim, y.gradient, y.dim * sizeof *y0);
}

static void estimate(saddle_agent *agent)
{
    request_gradient(agent, agent->now + x_side(agent).field, agent->now + y_side(agent).field);
}

/* Tracks the gradient, then steps along the tracker from the mixed iterate. The other variable
 * does not move. */
static void track_and_move(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    bool ascent = agent->round < p->ascents;
    side x = x_side(agent);
    side y = y_side(agent);
    const side *moving = ascent ? &y : &x;
    const side *resting = ascent ? &x : &y;
    const double *gradient = ascent ? agent->work + x.dim : agent->work;
    double *iterate = agent->next + moving->field;
    double *tracker = iterate + moving->dim;
    double *mixed = agent->scratch;
    double *rest = mixed + (x.dim > y.dim ? x.dim : y.dim);

    memcpy(agent->next + resting->field, agent->now + resting->field,
           2 * resting->dim * sizeof *agent->next);
    saddle_agent_track(agent, moving->field + moving->dim, moving->dim, gradient, moving->gradient,
                       tracker);
    saddle_agent_mix(agent, moving->field, moving->dim, mixed);
    if (ascent)
        saddle_agent_ascend(agent, p->steps.eta_y, mixed, tracker, iterate, rest);
    else
        saddle_agent_descend(agent, p->steps.eta_x, mixed, tracker, iterate, rest);
    saddle_agent_check_finite(agent, ascent ? "y" : "x", moving->dim, iterate);
}

static const saddle_phase phases[] = {
    {"estimate", .before = estimate}, {"track and move", .before = track_and_move}, {.name = NULL}};

static void view(const saddle_agent *agent, saddle_view *out)
{
    side x = x_side(agent);
    side y = y_side(agent);
    *out = (saddle_view){
        .x = agent->now + x.field, .y = agent->now + y.field, .v = x.gradient, .u = y.gradient};
}

const saddle_algorithm saddle_gt_gda = {
    .name = "gt-gda",
    .title = "GT-GDA",
    .look = {"#56b4e9", "#8fd0f7", "8 5"},
    .summary = "gradient tracking with full gradients; several ascent steps per descent step",
    .citation = "Tsaknakis, Hong, Liu, ICASSP 2020",
    .options = options,
    .automatic = saddle_damped_steps,
    .size = sizeof(parameters),
    .traits = {SADDLE_PROXIMAL, .feasible = true, .settles = true,
               .assumes = "F strongly concave in y, with Lipschitz gradients; M with lambda < 1 "
                          "and the same steps at all agents. The paper has X or Y, not both, and "
                          "no h: the rest is an addition.",
               .ifo = "(K + 1) n_i", .rounds = "K + 1",
               .message = "2 dim y (K rounds), 2 dim x (1 round)", .samples = "O(m n eps^-2)",
               .communication = "O(eps^-2)"},
    .init = saddle_damped_full_init,
    .most_ifo = most_ifo,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view,
};
