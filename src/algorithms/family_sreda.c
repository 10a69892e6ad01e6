#include "algorithms/family_sreda.h"

#include <math.h>
#include <string.h>

#include "algorithms/descent_ascent.h"
#include "algorithms/sampling.h"
#include "algorithms/step_options.h"
#include "core/settings.h"
#include "core/vector.h"

#define GROUP "SREDA"
/* Without a rule from the theory: accuracy, and ascent steps of the maximizer. */
#define PRACTICAL_EPSILON 0.1
#define PRACTICAL_STEPS 10.0

static const saddle_option maximizer_steps = SADDLE_INTEGER(
    "maximizer-steps", GROUP, "auto", 1.0, 0x1p32, "M",
    "Most ascent steps on y in one iteration. auto: 10; with --steps theory the paper's multiple "
    "of kappa.");

static const saddle_option maximizer_output =
    SADDLE_CHOICE("maximizer-output", GROUP, "random", "random|last", "WHICH",
                  "Which of the maximizer's iterates goes on: one drawn uniformly, as in the "
                  "paper, or the last.");

static const saddle_option refresh_batch =
    SADDLE_INTEGER("refresh-batch", GROUP, "auto", 1.0, 0x1p32, "N",
                   "Samples of a refresh. auto: all, as for finite sums in the paper.");

static const saddle_option initial_epochs =
    SADDLE_INTEGER("initial-epochs", GROUP, "auto", 0.0, 0x1p32, "N",
                   "Most epochs of the maximization over y before the first iteration. auto: 100 "
                   "for sreda, 0 for sreda-boost.");

static const saddle_option initial_accuracy =
    SADDLE_REAL_ABOVE("initial-accuracy", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "Z",
                      "Gradient mapping at which that maximization ends. auto: epsilon / kappa, or "
                      "epsilon where kappa is not known.");

const saddle_option *const saddle_sreda_options[] = {&saddle_option_steps,
                                                     &saddle_option_eta_x,
                                                     &saddle_option_eta_y,
                                                     &saddle_option_epsilon,
                                                     &saddle_option_q,
                                                     &saddle_option_batch,
                                                     &refresh_batch,
                                                     &maximizer_steps,
                                                     &maximizer_output,
                                                     &saddle_option_sampling,
                                                     &initial_epochs,
                                                     &initial_accuracy,
                                                     NULL};

typedef struct parameters {
    saddle_two_steps steps; /* first: shared with the other gradient-stepping methods */
    double epsilon;
    bool normalized;
    bool random; /* s is drawn; otherwise s = m */
    uint64_t q;
    uint64_t m;
    uint64_t refresh; /* S1 */
    uint64_t initial; /* most epochs of the initial solve */
    double accuracy;  /* zeta */
} parameters;

/* Where things are at one agent; pointers into its memory. */
typedef struct parts {
    size_t x_dim, y_dim;
    const double *x, *y; /* now; y may be the result of the initial solve */
    double *x1, *y1;     /* next */
    double *v, *u;       /* kept */
    double *solved;      /* scratch: y_0 after the initial solve */
    double *before;      /* scratch: the maximizer's last iterate */
    double *dx, *dy;     /* scratch: differences */
    double *rest;        /* scratch for the problem and the sets */
} parts;

/* ---- parameters ---------------------------------------------------------------------------- */

static uint64_t given_or(const saddle_settings *settings, const char *name, double other)
{
    if (!saddle_settings_auto(settings, name))
        return saddle_settings_integer(settings, name);
    return other < 0x1p53 ? (uint64_t)other : UINT64_C(1) << 53;
}

/*
 * q, S2 and m. The paper's for finite sums: q = ceil(sqrt(N) / kappa), S2 = ceil(3687/76 kappa q).
 * In practice S2 = ceil(sqrt(N)), and a refresh after about sqrt(N) recursive steps.
 */
static void choose_periods(parameters *p, const saddle_settings *settings, double samples,
                           double kappa, double paper_steps, bool theory)
{
    double root = ceil(sqrt(samples));
    p->m = given_or(settings, "maximizer-steps", theory ? paper_steps : PRACTICAL_STEPS);
    double period = theory ? ceil(sqrt(samples) / kappa) : ceil(root / ((double)p->m + 1.0));
    p->q = given_or(settings, "q", fmax(period, 1.0));
    double batch = theory ? ceil(3687.0 / 76.0 * kappa * (double)p->q) : root;
    p->steps.batch = given_or(settings, "batch", batch);
    p->refresh = given_or(settings, "refresh-batch", samples);
    if ((double)p->steps.batch > samples)
        p->steps.batch = (uint64_t)samples;
    if ((double)p->refresh > samples)
        p->refresh = (uint64_t)samples;
}

saddle_status saddle_sreda_create(void **out, const saddle_algorithm_inputs *inputs,
                                  const saddle_sreda_rules *paper, saddle_error *error)
{
    const saddle_settings *settings = inputs->settings;
    double kappa = inputs->constants.lipschitz / inputs->constants.strong_concavity;
    bool known = kappa > 0.0 && isfinite(kappa);
    bool theory = known && strcmp(saddle_settings_text(settings, "steps"), "theory") == 0;
    saddle_status status =
        saddle_two_steps_create(out, sizeof(parameters), inputs, theory ? paper->eta_x : 0.0,
                                theory ? paper->eta_y : 0.0, error);
    if (status != SADDLE_OK)
        return status;
    parameters *p = *out;
    choose_periods(p, settings, (double)inputs->problem->samples[0], kappa, paper->steps, theory);
    p->normalized = paper->normalized;
    p->random = strcmp(saddle_settings_text(settings, "maximizer-output"), "random") == 0;
    p->epsilon = saddle_settings_auto(settings, "epsilon")
                     ? PRACTICAL_EPSILON
                     : saddle_settings_real(settings, "epsilon");
    p->initial = given_or(settings, "initial-epochs", (double)paper->initial);
    p->accuracy = saddle_settings_auto(settings, "initial-accuracy")
                      ? p->epsilon / (known ? kappa : 1.0)
                      : saddle_settings_real(settings, "initial-accuracy");
    return SADDLE_OK;
}

saddle_status saddle_sreda_resolve(const void *parameters_, saddle_settings *settings,
                                   saddle_error *error)
{
    const parameters *p = parameters_;
    const struct {
        const char *name;
        double value;
    } used[] = {{"epsilon", p->epsilon},           {"q", (double)p->q},
                {"batch", (double)p->steps.batch}, {"refresh-batch", (double)p->refresh},
                {"maximizer-steps", (double)p->m}, {"initial-epochs", (double)p->initial},
                {"initial-accuracy", p->accuracy}};
    saddle_status status = saddle_two_steps_resolve(parameters_, settings, error);
    for (size_t k = 0; status == SADDLE_OK && k < sizeof used / sizeof *used; k++)
        status = saddle_settings_fill(settings, used[k].name, used[k].value, error);
    return status;
}

/* ---- memory -------------------------------------------------------------------------------- */

uint64_t saddle_sreda_most_ifo(const void *parameters_, const saddle_problem *problem)
{
    /* A refresh of the initial solve and one more, each followed by recursive steps: one, two. */
    const parameters *p = parameters_;
    return 2 * saddle_one_pass(problem) + 6 * p->steps.batch;
}

void saddle_sreda_layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    out->published = problem->x_dim + problem->y_dim;
    out->kept = problem->x_dim + problem->y_dim;
    out->scratch = problem->x_dim + 3 * problem->y_dim;
    out->rounds = 0;
}

static void find_parts(const saddle_agent *agent, parts *out)
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

void saddle_sreda_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

void saddle_sreda_view(const saddle_agent *agent, saddle_view *out)
{
    parts at;
    find_parts(agent, &at);
    *out = (saddle_view){.x = at.x, .y = at.y, .v = at.v, .u = at.u};
}

/* ---- the steps ----------------------------------------------------------------------------- */

/* (v, u) += mean over S2 samples of grad f(x1, y1) - grad f(x0, y0) */
static void follow(saddle_agent *agent, const parts *at, saddle_purpose purpose, uint64_t number,
                   const double *x1, const double *y1, const double *x0, const double *y0)
{
    const parameters *p = agent->parameters;
    saddle_batch batch =
        saddle_draw(agent, purpose, number, (size_t)p->steps.batch, p->steps.replacement);
    saddle_problem_difference(agent->problem, agent->id, &batch, x1, y1, x0, y0, at->dx, at->dy,
                              at->rest);
    saddle_axpy(at->x_dim, 1.0, at->dx, at->v);
    saddle_axpy(at->y_dim, 1.0, at->dy, at->u);
    agent->ifo += 2 * batch.count;
}

/* (v, u) = mean gradient over `count` samples at (x, y) */
static void refresh(saddle_agent *agent, const parts *at, size_t count, const double *x,
                    const double *y)
{
    saddle_batch batch = saddle_draw(agent, SADDLE_RNG_REFRESH, agent->iteration, count, false);
    saddle_problem_gradient(agent->problem, agent->id, &batch, x, y, at->v, at->u, at->rest);
    agent->ifo += batch.count;
}

/* Projected SARAH on y from y_0, at x_0. */
static void solve_initially(saddle_agent *agent, parts *at)
{
    const parameters *p = agent->parameters;
    memcpy(at->solved, at->y, at->y_dim * sizeof *at->solved);
    for (uint64_t epoch = 0; epoch < p->initial; epoch++) {
        refresh(agent, at, agent->problem->samples[agent->id], at->x, at->solved);
        for (uint64_t t = 0; t < p->m; t++) {
            memcpy(at->before, at->solved, at->y_dim * sizeof *at->before);
            saddle_ascend(agent, p->steps.eta_y, at->before, at->u, at->solved, at->rest);
            double moved = sqrt(saddle_distance2(at->y_dim, at->solved, at->before));
            /* At t = 0 this is the gradient mapping of the full gradient; a NaN ends it, too. */
            if (t == 0 && !(moved > p->accuracy * p->steps.eta_y)) {
                memcpy(at->solved, at->before, at->y_dim * sizeof *at->solved);
                at->y = at->solved;
                return;
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
}

/* x_{k+1} = x_k - eta_k v */
static void descend(saddle_agent *agent, const parts *at)
{
    const parameters *p = agent->parameters;
    double size = sqrt(saddle_norm2(at->x_dim, at->v));
    double step = p->steps.eta_x;
    if (p->normalized && size > 2.0 * p->epsilon)
        step *= 2.0 * p->epsilon / size;
    saddle_descend(agent, step, at->x, at->v, at->x1, at->rest);
}

/* s: which of the maximizer's iterates goes on. */
static uint64_t pick(const saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    saddle_rng rng;
    if (!p->random)
        return p->m;
    saddle_rng_init(&rng, agent->seed, SADDLE_RNG_PICK, agent->id, agent->iteration);
    return 1 + saddle_rng_below(&rng, p->m);
}

static void maximize(saddle_agent *agent, const parts *at)
{
    const parameters *p = agent->parameters;
    uint64_t last = pick(agent);
    uint64_t first_draw = agent->iteration * (p->m + 1);
    memcpy(at->y1, at->y, at->y_dim * sizeof *at->y1);
    follow(agent, at, SADDLE_RNG_BATCH, first_draw, at->x1, at->y1, at->x, at->y);
    for (uint64_t t = 1; t <= last; t++) {
        memcpy(at->before, at->y1, at->y_dim * sizeof *at->before);
        saddle_ascend(agent, p->steps.eta_y, at->before, at->u, at->y1, at->rest);
        follow(agent, at, SADDLE_RNG_BATCH, first_draw + t, at->x1, at->y1, at->x1, at->before);
        if (saddle_out_of_calls(agent))
            break;
    }
}

void saddle_sreda_step(saddle_agent *agent, unsigned round)
{
    (void)round;
    const parameters *p = agent->parameters;
    parts at;
    find_parts(agent, &at);
    if (agent->iteration == 0)
        solve_initially(agent, &at);
    if (agent->iteration % p->q == 0)
        refresh(agent, &at, (size_t)p->refresh, at.x, at.y);
    descend(agent, &at);
    maximize(agent, &at);
    saddle_watch(agent, "x", at.x_dim, at.x1);
    saddle_watch(agent, "y", at.y_dim, at.y1);
    saddle_watch(agent, "v (x-gradient)", at.x_dim, at.v);
    saddle_watch(agent, "u (y-gradient)", at.y_dim, at.u);
}
