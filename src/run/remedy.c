/* Which steps to change if they are too long: those that were given become automatic ones, which are stable on most
 * problems; if there are none, steps become ten times shorter. */
#include "algorithms/algorithms.h"
#include "instance/plan.h"
#include "instance/unused_options.h"
#include "run/run.h"

/* Automatic steps: a copy of the plan without the steps that were given, and what the algorithm chooses with it. */
typedef struct automatic {
    saddle_plan plan;
    void *parameters; /* NULL: not known */
} automatic;

/* An option of the length of steps. */
typedef struct step {
    const saddle_option *option;
    bool raise; /* a larger number is a shorter step */
} step;

/* Lists end with an option of NULL. */
static const step steps_in_x[] = {
    {&saddle_option_tau, true},    {&saddle_option_share, false},
    {&saddle_option_eta_x, false}, {&saddle_option_ppa_lipschitz, true},
    {&saddle_option_nu, false},    {NULL, false}};
static const step steps_in_y[] = {{&saddle_option_alpha, false},
                                  {&saddle_option_eta, false},
                                  {&saddle_option_eta_y, false},
                                  {&saddle_option_ppa_lipschitz_y, true},
                                  {NULL, false}};

/* Returns the first step from `s` on that the algorithm has; its option is NULL if there is none. */
static const step *next_step(const saddle_run_state *r, const step *s)
{
    while (s->option != NULL && !saddle_option_in(r->info.algorithm->options, s->option))
        s++;
    return s;
}

static double value_of(const step *s, const saddle_plan *plan, const void *parameters)
{
    const char *from = s->option->home == SADDLE_HOME_OWN ? parameters : (const char *)plan;
    double value;
    memcpy(&value, from + s->option->offset, sizeof value);
    return value;
}

/* ---- automatic steps ------------------------------------------------------------------------- */

/* Makes the steps of a list automatic in a plan. Returns whether any was given. */
static bool reset(const saddle_run_state *r, const step *list, saddle_plan *plan)
{
    bool any = false;
    for (const step *s = next_step(r, list); s->option != NULL; s = next_step(r, s + 1))
        if (saddle_plan_given(&r->given, s->option)) {
            saddle_plan_reset(plan, s->option);
            any = true;
        }
    return any;
}

/* Lets the algorithm choose the steps that were given; that it refuses to is no failure. Collective. */
static saddle_status choose_automatic(const saddle_run_state *r, automatic *out,
                                      saddle_error *error)
{
    const saddle_algorithm *a = r->info.algorithm;
    saddle_configuration c = {.instance = r->info.instance, .given = &out->plan.steps};
    bool in_x = reset(r, steps_in_x, &out->plan);
    bool in_y = reset(r, steps_in_y, &out->plan);
    saddle_run_reset_unread(a, &out->plan);
    if ((!in_x && !in_y) || r->choice->plugin != NULL || r->given.algorithm.own != NULL)
        return SADDLE_OK;
    void *parameters = saddle_alloc(1, a->size);
    saddle_status status = saddle_check_memory(parameters, "the algorithm's parameters", NULL);
    status = saddle_run_agree(r, status, NULL);
    if (status == SADDLE_OK) {
        saddle_plan_read_own(&out->plan, a->options, parameters);
        status = saddle_instance_steps(r->info.network, &out->plan, &c.steps, NULL);
    }
    SADDLE_THEN(status, a->init(parameters, &c, NULL));
    if (status == SADDLE_OK) {
        out->plan.steps = c.steps;
        out->parameters = parameters;
        return SADDLE_OK;
    }
    saddle_free(parameters);
    return status == SADDLE_NO_MEMORY ? saddle_no_memory(error, "automatic steps") : SADDLE_OK;
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Returns a number with two significant digits, as ceil(), floor() or round() choose the second. */
static double rounded(double value, double (*round_)(double))
{
    double unit = pow(10.0, floor(log10(value)) - 1.0);
    return round_(round(1e6 * value / unit) / 1e6) * unit;
}

/* Appends "lower --alpha from 2.7 to 0.27". */
static void append_step(const step *s, double value, double shorter, char *out, size_t size)
{
    saddle_append(out, size, "%s%s --%s", *out != '\0' ? " and " : "", s->raise ? "raise" : "lower",
                  s->option->name);
    if (value > 0.0 && isfinite(value))
        saddle_append(out, size, " from %g to %g", rounded(value, round),
                      rounded(shorter, s->raise ? ceil : floor));
}

/* Appends the steps of a list that are longer than automatic ones. */
static void append_longer(const saddle_run_state *r, const automatic *a, const step *list,
                          char *out, size_t size)
{
    for (const step *s = next_step(r, list); s->option != NULL; s = next_step(r, s + 1)) {
        double value = value_of(s, &r->result->plan, r->parameters);
        double shorter = value_of(s, &a->plan, a->parameters);
        if (s->raise ? value < shorter : value > shorter)
            append_step(s, value, shorter, out, size);
    }
}

/* Appends the first step of a list that the algorithm has. */
static void append_first(const saddle_run_state *r, const step *list, char *out, size_t size)
{
    const step *s = next_step(r, list);
    if (s->option == NULL)
        return;
    double value = value_of(s, &r->result->plan, r->parameters);
    append_step(s, value, s->raise ? 10.0 * value : value / 10.0, out, size);
}

saddle_status saddle_run_name_steps(const saddle_run_state *r, const saddle_fault *fault, char *out,
                                    size_t size, saddle_error *error)
{
    automatic a = {.parameters = NULL};
    saddle_status status = saddle_run_agree(r, saddle_plan_copy(&a.plan, &r->given, error), error);
    SADDLE_THEN(status, choose_automatic(r, &a, error));
    if (a.parameters != NULL) {
        append_longer(r, &a, steps_in_x, out, size);
        append_longer(r, &a, steps_in_y, out, size);
        if (r->info.algorithm->release != NULL)
            r->info.algorithm->release(a.parameters);
        saddle_free(a.parameters);
    }
    saddle_plan_free(&a.plan);
    /* Once an entry is not finite all others soon are not, so it does not show which step is to blame. */
    bool y = *fault->variable == 'y';
    bool either = !isfinite(fault->value);
    bool named = *out != '\0';
    if (!named && (!y || either))
        append_first(r, steps_in_x, out, size);
    if (!named && (y || either))
        append_first(r, steps_in_y, out, size);
    if (*out == '\0')
        saddle_append(out, size, "take smaller steps");
    bool precision = strstr(out, "--tau") != NULL || strstr(out, "--alpha") != NULL;
    if (precision && r->info.algorithm != &saddle_precision_auto)
        saddle_append(out, size, ", or try --algorithm precision-auto, which needs no steps");
    return status;
}
