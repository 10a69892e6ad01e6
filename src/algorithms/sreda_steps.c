#include "algorithms/sreda_steps.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/sampling.h"
#include "algorithms/step_options.h"
#include "core/sizes.h"
#include "core/vector.h"

#define GROUP "SREDA"
/* Defaults without `--steps theory`: steps as multiples of 1 / tau and alpha, accuracy, and
 * ascent steps of the maximizer. */
#define X_SHARE 0.3
#define Y_SHARE 0.1
#define PRACTICAL_EPSILON 0.1
#define PRACTICAL_EPOCHS 3
#define PRACTICAL_STEPS 10.0

/* The choices of --maximizer-output. */
enum { RANDOM, LAST };

static const saddle_option maximizer_steps = SADDLE_INTEGER(
    SADDLE_OWN(saddle_sreda_parameters, m, RUN), "maximizer-steps", GROUP, "auto", 1.0, 0x1p32, "M",
    "Maximum number of ascent steps in y per iteration. auto: 10. With --steps theory, where kappa "
    "= L / mu: ceil(1024 kappa) for SREDA, ceil(104 kappa) - 1 for SREDA-Boost.");

static const saddle_option maximizer_output =
    SADDLE_CHOICE(SADDLE_OWN(saddle_sreda_parameters, output, RUN), "maximizer-output", GROUP,
                  "random", "random|last", "WHICH",
                  "Which of the ascent points of an iteration becomes the next y.\n"
                  "random: one drawn uniformly, as in the SREDA paper.\n"
                  "last: the last.");

static const saddle_option refresh_batch = SADDLE_INTEGER(
    SADDLE_OWN(saddle_sreda_parameters, refresh, RUN), "refresh-batch", GROUP, "auto", 1.0, 0x1p32,
    "N",
    "Samples in a refresh. auto: all, as the SREDA paper does for a finite number of samples.");

const saddle_option saddle_option_initial_epochs = SADDLE_INTEGER(
    SADDLE_OWN(saddle_sreda_parameters, initial, RUN), "initial-epochs", GROUP, "auto", 0.0, 0x1p32,
    "N", "Maximum number of epochs of maximizing over y before the first iteration.");

#define ACCURACY                                        \
    SADDLE_OWN(saddle_sreda_parameters, accuracy, RUN), \
        .used_with = {&saddle_option_initial_epochs, "0", true}
static const saddle_option initial_accuracy =
    SADDLE_REAL_ABOVE(ACCURACY, "initial-accuracy", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "Z",
                      "Norm of the gradient mapping at which the initial maximization over y ends. "
                      "auto: epsilon / kappa, where kappa = L / mu, or epsilon if kappa is not "
                      "known. Here epsilon is 0.1 unless --epsilon is given.");

#define COMMON                                                                          \
    &saddle_option_steps, &saddle_option_eta_x, &saddle_option_eta_y, &saddle_option_q, \
        &saddle_option_batch, &refresh_batch, &maximizer_steps, &maximizer_output,      \
        &saddle_option_sampling, &saddle_option_initial_epochs, &initial_accuracy, NULL
const saddle_option *const saddle_sreda_options[] = {&saddle_option_epsilon, COMMON};
const saddle_option *const saddle_sreda_boost_options[] = {COMMON};

/* Pointers to the variables of one agent, in its memory. */
typedef struct variables {
    size_t x_dim, y_dim;
    const double *x, *y; /* now; y may be the result of the initial solve */
    double *x1, *y1;     /* next */
    double *v, *u;       /* kept */
    double *solved;      /* scratch: y_0 after the initial solve */
    double *before;      /* scratch: the maximizer's last iterate */
    double *dx, *dy;     /* scratch: differences */
    double *rest;        /* scratch for the problem and the sets */
} variables;

/* ---- parameters ---------------------------------------------------------------------------- */

/* Converts the number of a rule to an integer of at most 2^53. */
static uint64_t whole(double number)
{
    return number < 0x1p53 ? (uint64_t)number : UINT64_C(1) << 53;
}

/*
 * Chooses q, S2 and m. The paper's rule for finite sums is q = ceil(sqrt(N) / kappa) and
 * S2 = ceil(3687/76 kappa q); the practical rule is S2 = ceil(sqrt(N)), with a refresh after about
 * sqrt(N) recursive steps.
 */
static void choose_periods(saddle_sreda_parameters *p, const saddle_steps *given, double samples,
                           double kappa, double paper_steps, bool theory)
{
    double root = ceil(sqrt(samples));
    if (p->m == 0)
        p->m = whole(theory ? paper_steps : PRACTICAL_STEPS);
    double period = theory ? ceil(sqrt(samples) / kappa) : ceil(root / ((double)p->m + 1.0));
    p->q = given->q > 0 ? given->q : whole(fmax(period, 1.0));
    double batch = theory ? ceil(3687.0 / 76.0 * kappa * (double)p->q) : root;
    p->steps.batch = given->batch > 0 ? given->batch : whole(batch);
    if (p->refresh == 0)
        p->refresh = whole(samples);
    if ((double)p->steps.batch > samples)
        p->steps.batch = (uint64_t)samples;
    if ((double)p->refresh > samples)
        p->refresh = (uint64_t)samples;
}

void saddle_sreda_configure(saddle_sreda_parameters *p, saddle_configuration *c,
                            const saddle_sreda_rules *paper)
{
    const saddle_constants *constants = &c->instance->constants;
    double kappa = constants->lipschitz / constants->strong_concavity;
    bool known = kappa > 0.0 && isfinite(kappa);
    bool theory = saddle_wants_theory(c);
    bool target = paper->normalized && (theory || !isnan(c->given->epsilon));
    saddle_step_pair practical = {X_SHARE / c->steps.tau, Y_SHARE * c->steps.alpha};
    saddle_step_pair rule = {paper->eta_x, paper->eta_y};
    saddle_two_steps_configure(&p->steps, c, practical, rule);
    choose_periods(p, c->given, (double)c->instance->problem->samples[0], kappa, paper->steps,
                   theory);
    p->normalized = target;
    p->epsilon = target && !isnan(c->given->epsilon) ? c->given->epsilon : PRACTICAL_EPSILON;
    if (p->initial == UINT64_MAX)
        p->initial =
            theory || paper->initial < PRACTICAL_EPOCHS ? paper->initial : PRACTICAL_EPOCHS;
    if (isnan(p->accuracy))
        p->accuracy = p->epsilon / (known ? kappa : 1.0);
    if (target)
        c->steps.epsilon = p->epsilon;
    c->steps.q = p->q;
    /* A batch that was given is recorded as given, even if it exceeds the number of samples. */
    if (c->given->batch == 0)
        c->steps.batch = p->steps.batch;
}

/* ---- memory -------------------------------------------------------------------------------- */

uint64_t saddle_sreda_most_ifo(const void *parameters_, const saddle_problem *problem)
{
    /* The refresh of the initial solve and one more, followed by one and by two recursive steps. */
    const saddle_sreda_parameters *p = parameters_;
    return 2 * saddle_sizes_sum(problem->agents, problem->samples) + 6 * p->steps.batch;
}

void saddle_sreda_layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    out->rounds = 0;
    saddle_plain_fields(problem, out);
    out->kept = problem->x_dim + problem->y_dim;
    out->scratch = problem->x_dim + 3 * problem->y_dim;
}

static void find_variables(const saddle_agent *agent, variables *out)
{
    out->x_dim = agent->problem->x_dim;
    out->y_dim = agent->problem->y_dim;
    out->x = agent->now;
    out->y = agent->now + out->x_dim;
    out->x1 = agent->next;
    out->y1 = agent->next + out->x_dim;
    out->v = agent->kept;
    out->u = agent->kept + out->x_dim;
    out->solved = agent->scratch;
    out->before = out->solved + out->y_dim;
    out->dx = out->before + out->y_dim;
    out->dy = out->dx + out->x_dim;
    out->rest = out->dy + out->y_dim;
}

void saddle_sreda_view(const saddle_agent *agent, saddle_view *out)
{
    variables at;
    find_variables(agent, &at);
    *out = (saddle_view){.x = at.x, .y = at.y, .v = at.v, .u = at.u};
}

/* ---- the steps ----------------------------------------------------------------------------- */

/* (v, u) += mean over S2 samples of grad f(x1, y1) - grad f(x0, y0) */
static void follow(saddle_agent *agent, const variables *at, saddle_purpose purpose,
                   uint64_t number, const double *x1, const double *y1, const double *x0,
                   const double *y0)
{
    const saddle_sreda_parameters *p = agent->parameters;
    saddle_request change = {
        .kind = SADDLE_REQUEST_DIFFERENCE,
        .batch = saddle_draw(agent, purpose, number, (size_t)p->steps.batch, p->steps.replacement),
        .x = x1,
        .y = y1,
        .x0 = x0,
        .y0 = y0,
        .gx = at->dx,
        .gy = at->dy};
    saddle_agent_evaluate_now(agent, &change, at->rest);
    saddle_axpy(at->x_dim, 1.0, at->dx, at->v);
    saddle_axpy(at->y_dim, 1.0, at->dy, at->u);
}

/* (v, u) = mean gradient over `count` samples at (x, y) */
static void refresh(saddle_agent *agent, const variables *at, size_t count, const double *x,
                    const double *y)
{
    saddle_request fresh = {
        .kind = SADDLE_REQUEST_GRADIENT,
        .batch = saddle_draw(agent, SADDLE_RNG_REFRESH, agent->iteration, count, false),
        .x = x,
        .y = y,
        .gx = at->v,
        .gy = at->u};
    saddle_agent_evaluate_now(agent, &fresh, at->rest);
}

/* Runs projected SARAH on y from y_0, at x_0. Returns whether (v, u) is the exact gradient at
 * (x_0, y_0) at the end. */
static bool solve_initially(saddle_agent *agent, variables *at)
{
    const saddle_sreda_parameters *p = agent->parameters;
    memcpy(at->solved, at->y, at->y_dim * sizeof *at->solved);
    for (uint64_t epoch = 0; epoch < p->initial; epoch++) {
        refresh(agent, at, agent->problem->samples[agent->id], at->x, at->solved);
        for (uint64_t t = 0; t < p->m; t++) {
            memcpy(at->before, at->solved, at->y_dim * sizeof *at->before);
            saddle_agent_ascend(agent, p->steps.eta_y, at->before, at->u, at->solved, at->rest);
            double moved = sqrt(saddle_distance2(at->y_dim, at->solved, at->before));
            /* At t = 0 this is the gradient mapping of the full gradient. NaN also ends the
             * loop. */
            if (t == 0 && !(moved > p->accuracy * p->steps.eta_y)) {
                memcpy(at->solved, at->before, at->y_dim * sizeof *at->solved);
                at->y = at->solved;
                return true;
            }
            follow(agent, at, SADDLE_RNG_PILOT, epoch * p->m + t, at->x, at->solved, at->x,
                   at->before);
            if (saddle_out_of_calls(agent))
                break;
        }
        if (saddle_out_of_calls(agent))
            break;
    }
    at->y = at->solved;
    return false;
}

/* x_{k+1} = x_k - eta_k v */
static void descend(saddle_agent *agent, const variables *at)
{
    const saddle_sreda_parameters *p = agent->parameters;
    double size = sqrt(saddle_norm2(at->x_dim, at->v));
    double step = p->steps.eta_x;
    if (p->normalized && size > 2.0 * p->epsilon)
        step *= 2.0 * p->epsilon / size;
    saddle_agent_descend(agent, step, at->x, at->v, at->x1, at->rest);
}

/* Returns s, the index of the maximizer's iterate that the next iteration uses. */
static uint64_t pick(const saddle_agent *agent)
{
    const saddle_sreda_parameters *p = agent->parameters;
    saddle_rng rng;
    if (p->output == LAST)
        return p->m;
    saddle_rng_init(&rng, agent->seed, SADDLE_RNG_PICK, agent->id, agent->iteration);
    return 1 + saddle_rng_below(&rng, p->m);
}

static void maximize(saddle_agent *agent, const variables *at)
{
    const saddle_sreda_parameters *p = agent->parameters;
    uint64_t last = pick(agent);
    uint64_t first_draw = agent->iteration * (p->m + 1);
    memcpy(at->y1, at->y, at->y_dim * sizeof *at->y1);
    follow(agent, at, SADDLE_RNG_BATCH, first_draw, at->x1, at->y1, at->x, at->y);
    for (uint64_t t = 1; t <= last; t++) {
        memcpy(at->before, at->y1, at->y_dim * sizeof *at->before);
        saddle_agent_ascend(agent, p->steps.eta_y, at->before, at->u, at->y1, at->rest);
        follow(agent, at, SADDLE_RNG_BATCH, first_draw + t, at->x1, at->y1, at->x1, at->before);
        if (saddle_out_of_calls(agent))
            break;
    }
}

static void iterate(saddle_agent *agent)
{
    const saddle_sreda_parameters *p = agent->parameters;
    variables at;
    find_variables(agent, &at);
    bool exact = agent->iteration == 0 && solve_initially(agent, &at);
    if (agent->iteration % p->q == 0 && !exact)
        refresh(agent, &at, (size_t)p->refresh, at.x, at.y);
    descend(agent, &at);
    maximize(agent, &at);
    saddle_plain_check(agent);
    saddle_agent_check_finite(agent, "v (x-gradient)", at.x_dim, at.v);
    saddle_agent_check_finite(agent, "u (y-gradient)", at.y_dim, at.u);
}

const saddle_phase saddle_sreda_phases[] = {{"iterate", .before = iterate}, {.name = NULL}};
