#include "algorithms/family.h"

#include "algorithms/longest_step.h"
#include "algorithms/noise.h"
#include "algorithms/step_options.h"
#include "core/vector.h"
#include "sets/set.h"

#define GROUP "Estimators"
#define OWN(field) SADDLE_OWN(saddle_family, estimator.field, RUN)
/* The same, used by some estimators. */
#define OWN_OF(field, names) OWN(field), .used_with = {&saddle_option_estimator, names, false}
#define OWN_UNLESS_MEASURED(field) \
    OWN(field), .used_with = {&saddle_option_estimator, "plus|kalman", true}

static const saddle_search beta_search = {.name = "beta", .low = -2, .high = 2};

const saddle_option saddle_option_estimator = SADDLE_CHOICE(
    OWN(kind), "estimator", GROUP, "auto", "auto|storm|sarah|page|grace|sgd|plus|kalman", "NAME",
    "How gradients are estimated.\n"
    "storm: recursive momentum, of weight --beta-x and --beta-y.\n"
    "sarah: differences, and refreshes every --q estimates (SPIDER).\n"
    "page: differences, and refreshes with probability --refresh-probability.\n"
    "grace: recursive momentum, and refreshes as for page.\n"
    "sgd: from the newest mini-batch alone.\n"
    "plus: differences and refreshes, of sizes that each agent measures, as for "
    "PRECISION+.\n"
    "kalman: the same, and recursive momentum of measured weights.");
const saddle_option saddle_option_beta_x =
    SADDLE_STEP(OWN_OF(beta_x, "storm|grace"), "beta-x", GROUP, "auto", 1.0, &beta_search, "BETA",
                "Weight of the newest mini-batch in estimates of the gradient in x. auto: 0.1.");
const saddle_option saddle_option_beta_y =
    SADDLE_STEP(OWN_OF(beta_y, "storm|grace"), "beta-y", GROUP, "auto", 1.0, &beta_search, "BETA",
                "The same for y. auto: 0.1.");
const saddle_option saddle_option_probability = SADDLE_REAL_ABOVE(
    OWN_OF(probability, "page|grace"), "refresh-probability", GROUP, "auto", 0.0, 1.0, "P",
    "Probability with which all agents refresh their estimates in an iteration. auto: |S| / (|S| + "
    "R), where R is the size of a refresh.");
const saddle_option saddle_option_refresh_size =
    SADDLE_INTEGER(OWN_OF(refresh, "sarah|page|grace"), "refresh-size", GROUP, "auto", 1.0, 0x1p32,
                   "N", "Samples in a refresh at each agent. auto: all.");
const saddle_option saddle_option_first_batch =
    SADDLE_INTEGER(OWN_UNLESS_MEASURED(first), "first-batch", GROUP, "auto", 1.0, 0x1p32, "N",
                   "Samples in the first estimates at each agent. auto: all.");

/* ---- parameters ------------------------------------------------------------------------------ */

saddle_status saddle_family_check_rule(const saddle_configuration *c, bool paper_known,
                                       saddle_error *error)
{
    if (c->given->rule == SADDLE_STEPS_PAPER && !paper_known)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--steps: the values of the experiments with this algorithm are not "
                           "known; use practical instead of paper");
    if (c->given->rule == SADDLE_STEPS_THEORY)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--steps: the constants in the theorem of this algorithm are not known; "
                           "use practical%s instead of theory",
                           paper_known ? " or paper" : "");
    return SADDLE_OK;
}

saddle_status saddle_family_choose_steps(saddle_two_steps *steps, saddle_configuration *c,
                                         saddle_step_pair paper, uint64_t batch,
                                         saddle_error *error)
{
    SADDLE_TRY(saddle_family_check_rule(c, paper.x > 0.0, error));
    c->steps.batch = batch;
    if (c->given->rule == SADDLE_STEPS_PRACTICAL)
        return saddle_damped_steps_init(steps, c, error);
    saddle_two_steps_configure(steps, c, paper, paper);
    return SADDLE_OK;
}

/* Returns whether the polynomial of M must not have negative eigenvalues. */
static bool must_be_nonnegative(const saddle_family *p)
{
    return p->strategy == SADDLE_EXACT_DIFFUSION || p->strategy == SADDLE_EXTRA ||
           p->strategy == SADDLE_TRACKING_TWICE || p->strategy == SADDLE_LOCAL_STEPS;
}

saddle_status saddle_family_init(saddle_family *p, const saddle_preset *paper,
                                 saddle_configuration *c, saddle_error *error)
{
    static const saddle_estimator general = {.kind = 0};
    bool by_paper = c->given->rule == SADDLE_STEPS_PAPER;
    if (p->estimator.kind == SADDLE_ESTIMATE_AUTO)
        p->estimator.kind = paper->estimator.kind;
    saddle_estimator_configure(&p->estimator, by_paper ? &paper->estimator : &general, c);
    SADDLE_TRY(saddle_family_choose_steps(&p->steps, c, paper->steps, p->estimator.batch, error));
    if (c->instance->clipping != NULL &&
        (p->estimator.refresh > 0 || !saddle_estimator_is_recursive(&p->estimator)))
        return saddle_fail(
            error, SADDLE_UNSUPPORTED,
            "--clip-mixing: the noise of these estimates stays, and clipped trackers "
            "drift; use precision, gt-gda, dgda-vr, dream, vrlm or prox-dsgda, with "
            "refreshes of all samples");
    c->steps.q = p->estimator.q;
    p->estimator.x_step = p->steps.eta_x;
    p->estimator.y_step = p->steps.eta_y;
    p->steps.rounds = p->steps.rounds > 0 ? p->steps.rounds : 1;
    if (p->mixing.count == 0)
        saddle_mixing_rounds_set(&p->mixing, c->instance, p->steps.rounds);
    double reduction = p->mixing.reduction;
    p->share = must_be_nonnegative(p) && p->mixing.weight > 0.0 && p->mixing.momentum == 0.0
                   ? reduction / (reduction + 1.0)
                   : 1.0;
    p->gain = c->instance->sent;
    bool one_vector = p->strategy == SADDLE_EXACT_DIFFUSION || p->strategy == SADDLE_EXTRA;
    p->halved = one_vector && p->mixing.weight == 0.0 && saddle_mixing_may_be_negative(c->instance);
    return SADDLE_OK;
}

/* ---- state ----------------------------------------------------------------------------------- */

/* Returns the number of vectors in the kept state: before those of mixing, and before the numbers of noise.h. */
static size_t own_vectors(const saddle_family *p)
{
    return p->strategy >= SADDLE_LOCAL_STEPS ? 4 : 3;
}

static size_t vectors(const saddle_family *p)
{
    return own_vectors(p) + (p->mixing.count > 1 || p->mixing.weight > 0.0 ? 4U : 0U);
}

saddle_vectors saddle_vectors_of(const saddle_agent *agent)
{
    const saddle_family *p = agent->parameters;
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    double *noise = agent->kept + vectors(p) * both;
    return (saddle_vectors){.x_dim = agent->problem->x_dim,
                            .both = both,
                            .estimate = agent->kept,
                            .point = agent->kept + both,
                            .dual = agent->kept + 2 * both,
                            .own = agent->kept + 3 * both,
                            .begun = agent->kept + own_vectors(p) * both,
                            .noise = noise,
                            .estimated = noise + SADDLE_NOISE_NUMBERS,
                            .next = agent->next,
                            .next_p = agent->next + both,
                            .g = agent->work,
                            .h = agent->work + both,
                            .new_point =
                                agent->work + (2 + saddle_estimator_vectors(&p->estimator)) * both};
}

/* Returns the estimate of an iteration. */
static saddle_estimation estimation_of(const saddle_agent *agent, const saddle_vectors *at)
{
    return (saddle_estimation){.point = at->point,
                               .new_point = at->new_point,
                               .estimate = at->estimate,
                               .kept = at->estimated,
                               .g = at->g,
                               .h = at->h,
                               .next = agent->iteration + 1,
                               .noise = at->noise};
}

/* Returns how many of the `both` entries of the estimate have a tracker. */
static size_t tracked(const saddle_family *p, size_t x_dim, size_t both)
{
    bool none = p->strategy == SADDLE_EXACT_DIFFUSION || p->strategy == SADDLE_EXTRA ||
                p->strategy == SADDLE_OPERATOR;
    return none ? 0 : p->strategy == SADDLE_MULTIPLIERS ? x_dim : both;
}

/* Returns the number of rounds of an iteration. */
static unsigned rounds_of(const saddle_family *p)
{
    return (p->strategy == SADDLE_TRACKING_TWICE ? 2 : 1) * p->mixing.count;
}

void saddle_family_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    const saddle_family *p = parameters;
    unsigned rounds = p->mixing.count;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = rounds_of(p);
    saddle_plain_fields(problem, out);
    size_t count = tracked(p, problem->x_dim, both);
    if (count > 0)
        saddle_layout_add(out, "p", problem->x_dim, SADDLE_FIELD_SUM, 0);
    if (count == both)
        saddle_layout_add(out, "d", problem->y_dim, SADDLE_FIELD_SUM, problem->x_dim);
    else if (count > 0)
        saddle_layout_add(out, "E", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    if (p->strategy == SADDLE_TRACKING_TWICE) {
        out->field[0].first_round = out->field[1].first_round = rounds;
        out->field[2].last_round = out->field[3].last_round = rounds - 1;
    }
    out->kept = vectors(p) * both + SADDLE_NOISE_NUMBERS + saddle_estimator_kept(&p->estimator);
    out->work = (3 + saddle_estimator_vectors(&p->estimator)) * both;
}

void saddle_family_view(const saddle_agent *agent, saddle_view *out)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    *out = (saddle_view){.x = at.point,
                         .y = at.point + at.x_dim,
                         .v = at.estimate,
                         .u = at.estimate + at.x_dim,
                         .noise = p->strategy < SADDLE_LOCAL_STEPS ? at.noise : NULL};
}

void saddle_family_step(const saddle_agent *agent, const double *w, const double *estimate,
                        const double *e, double *out)
{
    const saddle_two_steps *steps = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    if (out != w)
        memcpy(out, w, both * sizeof *out);
    saddle_axpy(x_dim, -steps->eta_x, estimate, out);
    saddle_axpy(both - x_dim, steps->eta_y, estimate + x_dim, out + x_dim);
    if (e == NULL)
        return;
    saddle_axpy(x_dim, -steps->eta_x, e, out);
    saddle_axpy(both - x_dim, -steps->eta_y, e + x_dim, out + x_dim);
}

void saddle_family_project(const saddle_agent *agent, double *w)
{
    const saddle_two_steps *steps = agent->parameters;
    saddle_prox_apply(agent->x_prox, steps->eta_x, w, agent->scratch);
    saddle_set_project(agent->y_set, w + agent->problem->x_dim, agent->scratch);
}

void saddle_project_sets(const saddle_agent *agent, double *w)
{
    saddle_set_project(saddle_prox_set(agent->x_prox), w, agent->scratch);
    saddle_set_project(agent->y_set, w + agent->problem->x_dim, agent->scratch);
}

void saddle_family_begin(const saddle_agent *agent, const double *x0, const double *y0, double *w)
{
    memcpy(w, x0, agent->problem->x_dim * sizeof *w);
    memcpy(w + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *w);
    if (agent->iteration > 0)
        saddle_project_sets(agent, w);
}

/* Publishes what the last point and the estimate give. */
static void publish(const saddle_agent *agent)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    if (p->strategy == SADDLE_EXACT_DIFFUSION)
        saddle_family_step(agent, at.point, at.estimate, at.dual, at.next);
    else
        memcpy(at.next, at.point, at.both * sizeof *at.next);
}

void saddle_family_start(saddle_agent *agent, const double *x0, const double *y0)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    memset(agent->kept, 0, (vectors(p) * at.both + SADDLE_NOISE_NUMBERS) * sizeof *agent->kept);
    saddle_family_begin(agent, x0, y0, at.point);
    const saddle_estimation first = estimation_of(agent, &at);
    saddle_estimator_start(&p->estimator, agent, &first);
    publish(agent);
    size_t count = tracked(p, at.x_dim, at.both);
    memcpy(at.next_p, at.estimate, count * sizeof *at.next_p);
    for (size_t k = count; k < at.both && count > 0; k++)
        at.next_p[k] = 0.0;
}

/* ---- strategies ------------------------------------------------------------------------------ */

void saddle_family_mix(const saddle_agent *agent, unsigned r, size_t offset, size_t count,
                       double *out)
{
    const saddle_family *p = agent->parameters;
    double *begun = saddle_vectors_of(agent).begun + 2 * offset;
    if (p->mixing.count > 1 && r == 0)
        memcpy(begun, agent->now + offset, count * sizeof *begun);
    saddle_mixing_round(&p->mixing, agent, r, offset, count, begun + count, out);
    for (size_t k = 0; k < count && p->halved; k++)
        out[k] = 0.5 * (agent->now[offset + k] + out[k]);
    for (size_t k = 0; k < count && p->share < 1.0 && r + 1 == p->mixing.count; k++)
        out[k] = begun[k] + p->share * (out[k] - begun[k]);
}

static bool is_last_round(const saddle_agent *agent)
{
    return agent->round + 1 == rounds_of(agent->parameters);
}

/* All return whether the new point is known. */
static bool move_tracking(const saddle_agent *agent)
{
    const saddle_vectors at = saddle_vectors_of(agent);
    bool last = is_last_round(agent);
    saddle_family_mix(agent, agent->round, 0, at.both, last ? at.new_point : at.next);
    saddle_family_mix(agent, agent->round, at.both, at.both, at.next_p);
    if (last)
        saddle_family_step(agent, at.new_point, at.next_p, NULL, at.new_point);
    return last;
}

static bool move_twice(const saddle_agent *agent)
{
    const saddle_vectors at = saddle_vectors_of(agent);
    unsigned rounds = ((const saddle_family *)agent->parameters)->mixing.count;
    unsigned r = agent->round;
    bool last = is_last_round(agent);
    if (r < rounds) {
        saddle_family_mix(agent, r, at.both, at.both, at.next_p);
        if (r + 1 == rounds)
            saddle_family_step(agent, at.point, at.next_p, NULL, at.next);
        else
            memcpy(at.next, agent->now, at.both * sizeof *at.next);
        return false;
    }
    memcpy(at.next_p, agent->now + at.both, at.both * sizeof *at.next_p);
    saddle_family_mix(agent, r - rounds, 0, at.both, last ? at.new_point : at.next);
    return last;
}

/* Multipliers, of which E follows p in the span. */
static bool move_multipliers(const saddle_agent *agent)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    bool last = is_last_round(agent);
    saddle_family_mix(agent, agent->round, 0, at.both, last ? at.new_point : at.next);
    saddle_family_mix(agent, agent->round, at.both, at.x_dim, at.next_p);
    saddle_family_mix(agent, agent->round, at.both + at.x_dim, at.both - at.x_dim,
                      at.next_p + at.x_dim);
    if (!last)
        return false;
    const double *y = at.point + at.x_dim;
    const double *dual =
        p->mixing.count > 1 ? at.begun + 2 * (at.both + at.x_dim) : agent->now + at.both + at.x_dim;
    saddle_axpy(at.x_dim, -p->steps.eta_x, at.next_p, at.new_point);
    double *new_y = at.new_point + at.x_dim;
    double *new_dual = at.next_p + at.x_dim;
    for (size_t k = 0; k < at.both - at.x_dim; k++) {
        double slope = at.estimate[at.x_dim + k] - (new_dual[k] - dual[k]);
        new_dual[k] = dual[k] + p->multiplier / p->steps.eta_y * (new_y[k] - y[k]);
        new_y[k] += p->steps.eta_y * slope;
    }
    return true;
}

/* Exact diffusion, of n in the span, and EXTRA, of w. */
static bool move_one_vector(const saddle_agent *agent)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    bool last = is_last_round(agent);
    double *z = last ? at.new_point : at.next;
    saddle_family_mix(agent, agent->round, 0, at.both, z);
    if (!last)
        return false;
    const double *begun = p->mixing.count > 1 ? at.begun : agent->now;
    for (size_t k = 0; k < at.both; k++)
        at.dual[k] +=
            p->gain * (begun[k] - z[k]) / (k < at.x_dim ? p->steps.eta_x : p->steps.eta_y);
    if (p->strategy == SADDLE_EXTRA)
        saddle_family_step(agent, z, at.estimate, at.dual, z);
    return true;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void move(saddle_agent *agent)
{
    static bool (*const by_strategy[])(const saddle_agent *) = {
        [SADDLE_EXACT_DIFFUSION] = move_one_vector,
        [SADDLE_EXTRA] = move_one_vector,
        [SADDLE_TRACKING] = move_tracking,
        [SADDLE_TRACKING_TWICE] = move_twice,
        [SADDLE_MULTIPLIERS] = move_multipliers};
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    if (!by_strategy[p->strategy](agent))
        return;
    saddle_family_project(agent, at.new_point);
    saddle_agent_check_finite(agent, "x", at.x_dim, at.new_point);
    saddle_agent_check_finite(agent, "y", at.both - at.x_dim, at.new_point + at.x_dim);
    const saddle_estimation new = estimation_of(agent, &at);
    saddle_estimator_begin(&p->estimator, agent, &new);
}

static void look_back(saddle_agent *agent)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    const saddle_estimation new = estimation_of(agent, &at);
    if (is_last_round(agent))
        saddle_estimator_continue(&p->estimator, agent, &new);
}

/* Follows the noise of estimates: noise.h. Those of storm remember 1 - beta of their error: half of the squared change
 * is beta times its variance. */
static void follow_noise(const saddle_agent *agent, const saddle_vectors *at)
{
    const saddle_family *p = agent->parameters;
    size_t x_dim = at->x_dim;
    size_t y_dim = at->both - x_dim;
    uint64_t next = agent->iteration + 1;
    bool recursive = saddle_estimator_is_recursive(&p->estimator);
    if (!recursive && next % SADDLE_NOISE_EVERY != 0)
        return;
    bool storm = p->estimator.kind == SADDLE_ESTIMATE_STORM;
    double beta_x = storm ? p->estimator.beta_x : 1.0;
    double beta_y = storm ? p->estimator.beta_y : 1.0;
    const saddle_noise_point point = {.iteration = next,
                                      .agent = agent->id,
                                      .agents = agent->agents,
                                      .x_dim = x_dim,
                                      .y_dim = y_dim,
                                      .x = at->new_point,
                                      .y = at->new_point + x_dim,
                                      .x_step = p->steps.eta_x,
                                      .y_step = p->steps.eta_y};
    saddle_noise_move(at->noise,
                      saddle_distance2(x_dim, at->new_point, at->point) / p->steps.eta_x +
                          saddle_distance2(y_dim, at->new_point + x_dim, at->point + x_dim) /
                              p->steps.eta_y);
    bool refreshes = saddle_estimator_compares(&p->estimator, agent, next);
    if (recursive && !refreshes && !saddle_estimator_compares(&p->estimator, agent, next + 1))
        return;
    double in_x = p->steps.eta_x * saddle_distance2(x_dim, at->g, at->estimate);
    double in_y = p->steps.eta_y * saddle_distance2(y_dim, at->g + x_dim, at->estimate + x_dim);
    double change = in_x + in_y;
    if (!recursive)
        saddle_noise_sample(at->noise, 0.5 * (in_x / beta_x + in_y / beta_y),
                            1.0 / fmin(beta_x, beta_y), &point);
    else if (refreshes)
        saddle_noise_compare(at->noise, change, &point);
    else
        at->noise[NOISE_STEP] = change;
}

static void estimate(saddle_agent *agent)
{
    const saddle_family *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    if (!is_last_round(agent))
        return;
    const saddle_estimation new = estimation_of(agent, &at);
    saddle_estimator_finish(&p->estimator, agent, &new);
    if (saddle_estimator_has_noise(&p->estimator))
        follow_noise(agent, &at);
    size_t count = tracked(p, at.x_dim, at.both);
    for (size_t k = 0; k < count; k++)
        at.next_p[k] += at.g[k] - at.estimate[k];
    memcpy(at.estimate, at.g, at.both * sizeof *at.g);
    memcpy(at.point, at.new_point, at.both * sizeof *at.point);
    publish(agent);
}

const saddle_phase saddle_family_phases[] = {{"move", .before = move},
                                             {"look back", .before = look_back},
                                             {"estimate", .before = estimate},
                                             {.name = NULL}};
