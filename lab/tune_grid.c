/*
 * Candidates of a search: the default, and a grid around a centre.
 *
 * Every saddle_search among the algorithm's options is one axis of the grid; its points are the half decades
 * k = low .. high. A value is the centre's times 10^(k/2), rounded to three digits so that it is short to type; k = 0
 * is the centre's value itself, to the last bit. Every option with listed values is another axis, whose points are
 * their indices k = 0 .. high.
 *
 * The centre is the default, unless that comes from a paper's worst-case rule and is more than a decade away from the
 * practical step (GDA's eta_x can be six decades below): a grid around such a value would not contain a good one, and
 * the search would not be fair to the method.
 */
#include "lab/tune.h"

#include "core/compare.h"
#include "core/rng.h"
#include "instance/plan_plugins.h"
#include "instance/unused_options.h"

/* The most axes; an algorithm has a handful of step sizes. */
#define MOST_AXES 16
/* The most points of a grid. */
#define MOST_POINTS ((size_t)1 << 20)

/* An axis: a search, or listed values. */
typedef struct axis {
    const saddle_search *search;
    const saddle_tune_axis *listed; /* NULL: it is a search */
    int low;                        /* of the search, narrowed to the ranges of the options */
    size_t side;                    /* number of points along it */
} axis;

typedef struct grid {
    saddle_tuning *tuning;
    const saddle_tune_space *space;
    size_t axes;
    axis axis[MOST_AXES];
    size_t points;
    size_t all; /* the points and, if it is not one of them, the default */
} grid;

/* 10^(k/2), from exact powers of ten and one square root. */
static double factor(int k)
{
    double power = 1.0;
    int whole = k / 2;
    for (int j = 0; j < (whole < 0 ? -whole : whole); j++)
        power *= 10.0;
    double root = k % 2 == 0 ? 1.0 : sqrt(10.0);
    return k < 0 ? 1.0 / (power * root) : power * root;
}

/* Writes the option's value at k; false if it is out of range. */
static bool value_at(const saddle_option *option, const saddle_plan *base, int k,
                     char out[SADDLE_TUNE_TEXT])
{
    if (k == 0) {
        saddle_snprintf(out, SADDLE_TUNE_TEXT, "%s", SADDLE_PLAN_TEXT(base, option));
        return true;
    }
    double value;
    saddle_snprintf(out, SADDLE_TUNE_TEXT, "%.3g", saddle_plan_number(base, option) * factor(k));
    if (!saddle_parse_real(out, &value))
        return false;
    saddle_snprintf(out, SADDLE_TUNE_TEXT, "%.15g", value); /* 1580 rather than 1.58e+03 */
    bool above = option->above_minimum ? value > option->minimum : value >= option->minimum;
    return above && value <= option->maximum;
}

/* Whether an option is held at its value. */
static bool held(const saddle_tuning *tuning, const char *name)
{
    if (tuning->hold != NULL && strcmp(tuning->hold, "all") == 0)
        return true;
    const char *rest = tuning->hold;
    size_t length;
    for (const char *word; (word = saddle_next_item(&rest, &length)) != NULL;)
        if (strlen(name) == length && strncmp(word, name, length) == 0)
            return true;
    return false;
}

/* Whether an option is varied around its value: it has a search, a number to start from and no
 * listed values, has an effect, and is neither held nor given in the text of a plug-in. */
static bool searched(const saddle_tuning *tuning, const saddle_option *option,
                     const saddle_plan *base)
{
    double value = saddle_plan_number(base, option);
    char reason[128];
    const saddle_option *with = option->used_with.option;
    if ((with == NULL || saddle_tune_listed(tuning->listed, with) == NULL) &&
        saddle_option_lacks_companion(base, tuning->choice->algorithm, option, reason))
        return false;
    return option->search != NULL && isfinite(value) && value != 0.0 &&
           saddle_tune_listed(tuning->listed, option) == NULL && !held(tuning, option->name) &&
           !saddle_plugin_text_has(tuning->choice->text, option->name);
}

/* Whether all options of a search are in their ranges at k. */
static bool allowed(const grid *g, const saddle_search *search, int k)
{
    char text[SADDLE_TUNE_TEXT];
    size_t own = g->tuning->option_count - g->tuning->listed->count;
    for (size_t j = 0; j < own; j++)
        if (g->tuning->option[j]->search == search &&
            !value_at(g->tuning->option[j], &g->space->centre, k, text))
            return false;
    return true;
}

/* Lists the options that candidates differ in: those of the algorithm that are searched, then the listed ones. */
static saddle_status list_options(saddle_tuning *tuning, const saddle_plan *base,
                                  saddle_error *error)
{
    const saddle_option *const *options = tuning->choice->algorithm->options;
    const saddle_tune_axes *listed = tuning->listed;
    size_t most = listed->count;
    while (options[most - listed->count] != NULL)
        most++;
    saddle_free(tuning->option);
    tuning->option_count = 0;
    tuning->option = saddle_alloc(most, sizeof *tuning->option);
    SADDLE_TRY(saddle_check_memory(tuning->option, "the candidates", error));
    for (const saddle_option *const *option = options; *option != NULL; option++)
        if (searched(tuning, *option, base))
            tuning->option[tuning->option_count++] = *option;
    for (size_t k = 0; k < listed->count; k++)
        tuning->option[tuning->option_count++] = listed->axis[k].option;
    if (tuning->option_count > 0)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_UNSUPPORTED,
                       "%s has no step sizes left to search; choose another algorithm",
                       tuning->algorithm->name);
}

/* Adds the axes of listed values, those of problems or those of algorithms. */
static void add_listed(grid *g, saddle_option_stage stage)
{
    const saddle_tune_axes *listed = g->tuning->listed;
    for (size_t k = 0; k < listed->count; k++)
        if (listed->axis[k].option->stage == stage)
            g->axis[g->axes++] = (axis){.listed = &listed->axis[k], .side = listed->axis[k].count};
}

/* The axis along which an option varies; those of listed values come first. NULL: none. */
static axis *axis_of(grid *g, const saddle_option *option)
{
    for (axis *a = g->axis; a < g->axis + g->axes; a++)
        if (a->listed != NULL ? a->listed->option == option : a->search == option->search)
            return a;
    return NULL;
}

/* Adds the axes of the algorithm's searches. */
static void add_searches(grid *g)
{
    size_t own = g->tuning->option_count - g->tuning->listed->count;
    for (size_t j = 0; j < own && g->axes < MOST_AXES; j++) {
        const saddle_search *search = g->tuning->option[j]->search;
        if (axis_of(g, g->tuning->option[j]) != NULL)
            continue;
        int low = 0;
        int high = 0;
        while (low > search->low && allowed(g, search, low - 1))
            low--;
        while (high < search->high && allowed(g, search, high + 1))
            high++;
        g->axis[g->axes++] = (axis){.search = search, .low = low, .side = (size_t)(high - low) + 1};
    }
}

/* Whether two values of an option are equal: different texts may be the same number. */
static bool same_value(const char *a, const char *b)
{
    double x;
    double y;
    return strcmp(a, b) == 0 || (saddle_parse_real(a, &x) && saddle_parse_real(b, &y) && x == y);
}

/* Whether the default is a point of the grid. */
static bool has_default(const grid *g)
{
    for (size_t j = 0; j < g->tuning->option_count; j++) {
        const saddle_option *option = g->tuning->option[j];
        const saddle_tune_axis *listed = saddle_tune_listed(g->tuning->listed, option);
        const char *value = SADDLE_PLAN_TEXT(&g->space->forecast.plan, option);
        bool found =
            listed == NULL && strcmp(value, SADDLE_PLAN_TEXT(&g->space->centre, option)) == 0;
        for (size_t k = 0; listed != NULL && k < listed->count; k++)
            found = found || same_value(listed->value[k], value);
        if (!found)
            return false;
    }
    return true;
}

/* Makes the grid. Axes of problem options come first, so that points in ascending order change
 * the problem least often. */
static saddle_status make_grid(grid *g, saddle_tuning *tuning, const saddle_tune_space *space,
                               saddle_error *error)
{
    SADDLE_TRY(list_options(tuning, &space->centre, error));
    *g = (grid){.tuning = tuning, .space = space, .points = 1};
    add_listed(g, SADDLE_STAGE_INSTANCE);
    add_listed(g, SADDLE_STAGE_RUN);
    add_searches(g);
    for (size_t a = 0; a < g->axes; a++) {
        if (g->axis[a].side > MOST_POINTS / g->points)
            return saddle_refuse(error,
                                 "--search: the grid has more than %zu points; list fewer values, "
                                 "or hold step sizes",
                                 MOST_POINTS);
        g->points *= g->axis[a].side;
    }
    g->all = g->points + !has_default(g);
    return SADDLE_OK;
}

/* Moves a step that the user did not give to the practical one, if it is far from it. */
static void recentre(double *centre, double given, double practical)
{
    double ratio = practical / *centre;
    if (!isnan(given) || !(ratio > 10.0 || ratio < 0.1))
        return;
    char text[SADDLE_TUNE_TEXT];
    saddle_snprintf(text, sizeof text, "%.3g", practical);
    saddle_parse_real(text, centre);
}

saddle_status saddle_tune_centre(saddle_tune_space *space, saddle_error *error)
{
    /* Use default steps, not those of the given plan: most algorithms with eta-x read neither
     * nu, eta, tau and alpha nor their rule, and what an algorithm does not read must not move
     * its grid. */
    saddle_plan defaults;
    saddle_steps steps;
    saddle_plan_defaults(&defaults, sizeof defaults);
    SADDLE_TRY(saddle_instance_steps(space->instance, &defaults, &steps, error));
    SADDLE_TRY(saddle_plan_copy(&space->centre, &space->forecast.plan, error));
    recentre(&space->centre.steps.eta_x, space->plan->steps.eta_x, steps.nu / steps.tau);
    recentre(&space->centre.steps.eta_y, space->plan->steps.eta_y, steps.eta * steps.alpha);
    return SADDLE_OK;
}

saddle_status saddle_tune_grid_size(saddle_tuning *tuning, const saddle_tune_space *space,
                                    size_t *out, saddle_error *error)
{
    grid g;
    SADDLE_TRY(make_grid(&g, tuning, space, error));
    *out = g.all;
    return SADDLE_OK;
}

/* Writes a point's values to a candidate. */
static void write_point(grid *g, size_t candidate, size_t point)
{
    int k[MOST_AXES] = {0};
    for (size_t a = g->axes; a-- > 0; point /= g->axis[a].side)
        k[a] = g->axis[a].low + (int)(point % g->axis[a].side);
    saddle_tuning *tuning = g->tuning;
    char(*value)[SADDLE_TUNE_TEXT] = tuning->value + candidate * tuning->option_count;
    for (size_t j = 0; j < tuning->option_count; j++) {
        const axis *a = axis_of(g, tuning->option[j]);
        if (a != NULL && a->listed != NULL)
            saddle_snprintf(value[j], SADDLE_TUNE_TEXT, "%s", a->listed->value[k[a - g->axis]]);
        else if (a != NULL)
            value_at(tuning->option[j], &g->space->centre, k[a - g->axis], value[j]);
    }
}

/* Whether the candidate that was just written is the default. */
static bool is_default(const saddle_tuning *tuning)
{
    for (size_t j = 0; j < tuning->option_count; j++)
        if (!same_value(saddle_tuning_value(tuning, tuning->candidates, j),
                        saddle_tuning_value(tuning, 0, j)))
            return false;
    return true;
}

/* Whether the candidate that was just written is as safe to run as the default. */
static saddle_status try_candidate(const grid *g, bool *good, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan own = {.settings = NULL};
    saddle_forecast forecast = {0};
    const saddle_forecast *base = &g->space->forecast;
    saddle_status status = saddle_plan_copy(&own, g->space->plan, error);
    SADDLE_THEN(status, saddle_tune_apply(g->tuning, g->tuning->candidates, &own, error));
    if (status == SADDLE_OK) {
        status = saddle_run_forecast(g->space->instance, &own, &forecast, error);
        *good = status == SADDLE_OK && (forecast.feasible || !base->feasible) &&
                forecast.most_ifo <= base->most_ifo;
        /* A combination that the algorithm refuses is not a candidate. */
        if (status == SADDLE_BAD_INPUT || status == SADDLE_UNSUPPORTED)
            status = SADDLE_OK;
    }
    saddle_plan_free(&forecast.plan);
    return status;
}

/* Takes the default, and points in the order of `order` until there are `most` candidates; taken
 * points are moved to the front. */
static saddle_status take_points(grid *g, size_t *order, size_t most, saddle_error *error)
{
    saddle_tuning *tuning = g->tuning;
    saddle_status status = SADDLE_OK;
    for (size_t j = 0; j < tuning->option_count; j++)
        saddle_snprintf(tuning->value[j], SADDLE_TUNE_TEXT, "%s",
                        SADDLE_PLAN_TEXT(&g->space->forecast.plan, tuning->option[j]));
    tuning->candidates = 1;
    for (size_t p = 0; status == SADDLE_OK && p < g->points && tuning->candidates < most; p++) {
        bool good = false;
        write_point(g, tuning->candidates, order[p]);
        if (is_default(tuning))
            continue;
        status = try_candidate(g, &good, error);
        order[tuning->candidates - 1] = order[p];
        tuning->candidates += status == SADDLE_OK && good;
    }
    /* Sort, so that each problem is made once per rung. */
    if (status == SADDLE_OK && tuning->listed->changes_problem) {
        qsort(order, tuning->candidates - 1, sizeof *order, saddle_compare_sizes);
        for (size_t c = 1; c < tuning->candidates; c++)
            write_point(g, c, order[c - 1]);
    }
    return status;
}

saddle_status saddle_tune_choose(saddle_tuning *tuning, const saddle_tune_space *space, size_t most,
                                 saddle_error *error)
{
    grid g;
    SADDLE_TRY(make_grid(&g, tuning, space, error));
    most = most < g.all ? most : g.all;
    SADDLE_OWNED size_t *order = saddle_alloc(g.points, sizeof *order);
    tuning->value = saddle_alloc(most * tuning->option_count, sizeof *tuning->value);
    if (order == NULL || tuning->value == NULL)
        return saddle_no_memory(error, "the candidates");
    for (size_t p = 0; p < g.points; p++)
        order[p] = p;
    saddle_rng rng;
    saddle_rng_init(&rng, space->instance->seed, SADDLE_RNG_TUNE, 0, 0);
    if (most < g.all)
        saddle_rng_shuffle(&rng, order, g.points);
    return take_points(&g, order, most, error);
}

saddle_status saddle_tune_apply(const saddle_tuning *tuning, size_t candidate, saddle_plan *plan,
                                saddle_error *error)
{
    for (size_t j = 0; candidate > 0 && j < tuning->option_count; j++)
        SADDLE_TRY(saddle_plan_set(plan, tuning->option[j]->name,
                                   saddle_tuning_value(tuning, candidate, j), error));
    return SADDLE_OK;
}
