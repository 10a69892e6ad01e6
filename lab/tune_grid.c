/*
 * Candidates of a search: the default, and a log grid around a centre.
 *
 * Every saddle_search among the algorithm's options is one axis of the grid; its points
 * are the half decades k = low .. high. A value is the centre's times 10^(k/2), rounded to three
 * digits, so that an answer is short to type; k = 0 is the centre's own value to the last bit.
 *
 * The centre is the default, unless that comes from a paper's worst-case rule and lies more than a
 * decade from the practical step (GDA's eta_x can be six decades below): a grid around such a value
 * would never see a good one, and the search would not be fair to the method.
 */
#include "lab/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/status.h"
#include "core/text.h"

/* The most axes: an algorithm has a handful of step sizes. */
#define MOST_AXES 16
/* The most points of a grid that are numbered. */
#define MOST_POINTS ((size_t)1 << 20)

typedef struct axis {
    const saddle_search *search;
    int low; /* the search's, narrowed to what the options' ranges allow */
    int high;
} axis;

typedef struct grid {
    size_t axes;
    axis axis[MOST_AXES];
    size_t points;
} grid;

/* 10^(k/2) by exact powers of ten, and one root. */
static double factor(int k)
{
    double power = 1.0;
    int whole = k / 2;
    for (int j = 0; j < (whole < 0 ? -whole : whole); j++)
        power *= 10.0;
    double root = k % 2 == 0 ? 1.0 : sqrt(10.0);
    return k < 0 ? 1.0 / (power * root) : power * root;
}

/* The option's value at k; false when it is out of range. */
static bool value_at(const saddle_option *option, const saddle_settings *base, int k,
                     char out[SADDLE_TUNE_TEXT])
{
    if (k == 0) {
        saddle_snprintf(out, SADDLE_TUNE_TEXT, "%s", saddle_settings_value(base, option));
        return true;
    }
    double value;
    saddle_snprintf(out, SADDLE_TUNE_TEXT, "%.3g",
                    saddle_settings_number(base, option) * factor(k));
    if (!saddle_parse_real(out, &value))
        return false;
    saddle_snprintf(out, SADDLE_TUNE_TEXT, "%.15g", value); /* 1580 rather than 1.58e+03 */
    bool above = option->above_minimum ? value > option->minimum : value >= option->minimum;
    return above && value <= option->maximum;
}

/* Whether an option is among those that keep their value. */
static bool held(const saddle_tuning *tuning, const char *name)
{
    for (const char *word = tuning->hold; word != NULL;) {
        size_t length = strcspn(word, ",");
        if (strlen(name) == length && strncmp(word, name, length) == 0)
            return true;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    return false;
}

/* Whether an option is searched: it has a search, a number to start from, and is not held. */
static bool searched(const saddle_tuning *tuning, const saddle_option *option,
                     const saddle_settings *base)
{
    double value = saddle_settings_number(base, option);
    return option->search != NULL && isfinite(value) && value != 0.0 && !held(tuning, option->name);
}

/* Whether all options of an axis are in their ranges at k. */
static bool allowed(const saddle_tuning *tuning, const saddle_settings *base,
                    const saddle_search *search, int k)
{
    char text[SADDLE_TUNE_TEXT];
    for (size_t j = 0; j < tuning->option_count; j++)
        if (tuning->option[j]->search == search && !value_at(tuning->option[j], base, k, text))
            return false;
    return true;
}

static bool has_axis(const grid *g, const saddle_search *search)
{
    for (size_t a = 0; a < g->axes; a++)
        if (g->axis[a].search == search)
            return true;
    return false;
}

static saddle_status list_options(saddle_tuning *tuning, const saddle_settings *base,
                                  saddle_error *error)
{
    const saddle_algorithm *algorithm = tuning->algorithm;
    size_t count = 0;
    for (const saddle_option *const *option = algorithm->options; *option != NULL; option++)
        count += searched(tuning, *option, base);
    if (count == 0)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s has no step sizes left to search; choose another algorithm",
                           algorithm->name);
    saddle_free(tuning->option);
    tuning->option_count = 0;
    tuning->option = saddle_alloc(count, sizeof *tuning->option);
    if (tuning->option == NULL)
        return saddle_no_memory(error, "the candidates");
    for (const saddle_option *const *option = algorithm->options; *option != NULL; option++)
        if (searched(tuning, *option, base))
            tuning->option[tuning->option_count++] = *option;
    return SADDLE_OK;
}

static saddle_status make_grid(grid *g, saddle_tuning *tuning, const saddle_settings *base,
                               saddle_error *error)
{
    SADDLE_TRY(list_options(tuning, base, error));
    *g = (grid){.points = 1};
    for (size_t j = 0; j < tuning->option_count && g->axes < MOST_AXES; j++) {
        const saddle_search *search = tuning->option[j]->search;
        if (has_axis(g, search))
            continue;
        axis *a = &g->axis[g->axes++];
        *a = (axis){.search = search};
        while (a->low > search->low && allowed(tuning, base, search, a->low - 1))
            a->low--;
        while (a->high < search->high && allowed(tuning, base, search, a->high + 1))
            a->high++;
        size_t side = (size_t)(a->high - a->low) + 1;
        g->points = side <= MOST_POINTS / g->points ? g->points * side : MOST_POINTS;
    }
    return SADDLE_OK;
}

/* Move a step that the user left to a rule to the practical one, if it is far from there. */
static saddle_status recentre(saddle_settings *centre, const saddle_option *option, double given,
                              double practical, saddle_error *error)
{
    if (!isnan(given))
        return SADDLE_OK;
    double ratio = practical / saddle_settings_number(centre, option);
    if (!(ratio > 10.0 || ratio < 0.1))
        return SADDLE_OK;
    char text[SADDLE_TUNE_TEXT];
    saddle_snprintf(text, sizeof text, "%.3g", practical);
    return saddle_settings_set(centre, option->name, text, error);
}

saddle_status saddle_tune_centre(saddle_settings **out, const saddle_instance *instance,
                                 const saddle_plan *plan, const saddle_forecast *forecast,
                                 saddle_error *error)
{
    /* Not the given plan's: most algorithms that have eta-x read neither nu, eta, tau and alpha nor their
     * rule, and what an algorithm does not read must not move its grid. */
    saddle_plan defaults;
    saddle_steps steps;
    saddle_plan_defaults(&defaults, sizeof defaults);
    SADDLE_TRY(saddle_instance_steps(instance, &defaults, &steps, error));
    saddle_status status = saddle_settings_copy(out, forecast->plan.settings, error);
    SADDLE_THEN(status, recentre(*out, &saddle_option_eta_x, plan->steps.eta_x,
                                 steps.nu / steps.tau, error));
    SADDLE_THEN(status, recentre(*out, &saddle_option_eta_y, plan->steps.eta_y,
                                 steps.eta * steps.alpha, error));
    return status;
}

/* Whether the centre is another point than the default. */
static bool centre_moved(const saddle_tuning *tuning, const saddle_settings *base,
                         const saddle_settings *centre)
{
    for (size_t j = 0; j < tuning->option_count; j++)
        if (strcmp(saddle_settings_value(base, tuning->option[j]),
                   saddle_settings_value(centre, tuning->option[j])) != 0)
            return true;
    return false;
}

saddle_status saddle_tune_grid_size(saddle_tuning *tuning, const saddle_forecast *forecast,
                                    const saddle_settings *centre, size_t *out, saddle_error *error)
{
    grid g;
    saddle_status status = make_grid(&g, tuning, centre, error);
    if (status == SADDLE_OK)
        *out = g.points + centre_moved(tuning, forecast->plan.settings, centre);
    return status;
}

/* The half decades of a point along all axes; false for the default itself. */
static bool locate(const grid *g, size_t point, int k[MOST_AXES])
{
    bool other = false;
    for (size_t a = g->axes; a-- > 0;) {
        size_t side = (size_t)(g->axis[a].high - g->axis[a].low) + 1;
        k[a] = g->axis[a].low + (int)(point % side);
        point /= side;
        other = other || k[a] != 0;
    }
    return other;
}

/* Write a point's values into the place of the next candidate. */
static void place(saddle_tuning *tuning, const grid *g, const int k[MOST_AXES],
                  const saddle_settings *base)
{
    char(*value)[SADDLE_TUNE_TEXT] = tuning->value + tuning->candidates * tuning->option_count;
    for (size_t j = 0; j < tuning->option_count; j++)
        for (size_t a = 0; a < g->axes; a++)
            if (g->axis[a].search == tuning->option[j]->search)
                value_at(tuning->option[j], base, k[a], value[j]);
}

/* Whether the candidate that was just placed can be run as safely as the default. */
static saddle_status try_candidate(const saddle_tuning *tuning, const saddle_instance *instance,
                                   const saddle_plan *plan, const saddle_forecast *base, bool *good,
                                   saddle_error *error)
{
    saddle_plan own;
    saddle_forecast forecast = {0};
    saddle_status status = saddle_plan_copy(&own, plan, error);
    SADDLE_THEN(status, saddle_tune_apply(tuning, tuning->candidates, &own, error));
    if (status == SADDLE_OK) {
        status = saddle_run_forecast(instance, &own, &forecast, error);
        *good = status == SADDLE_OK && (forecast.feasible || !base->feasible) &&
                forecast.most_ifo <= base->most_ifo;
        /* A combination that the algorithm refuses is no candidate. */
        if (status == SADDLE_BAD_INPUT || status == SADDLE_UNSUPPORTED)
            status = SADDLE_OK;
    }
    saddle_plan_free(&forecast.plan);
    saddle_plan_free(&own);
    return status;
}

saddle_status saddle_tune_choose(saddle_tuning *tuning, const saddle_instance *instance,
                                 const saddle_plan *plan, const saddle_forecast *forecast,
                                 const saddle_settings *centre, size_t most, saddle_error *error)
{
    grid g;
    saddle_status status = make_grid(&g, tuning, centre, error);
    if (status != SADDLE_OK)
        return status;
    bool moved = centre_moved(tuning, forecast->plan.settings, centre);
    most = most < g.points + moved ? most : g.points + moved;
    size_t *order = saddle_alloc(g.points, sizeof *order);
    tuning->value = saddle_alloc(most * tuning->option_count, sizeof *tuning->value);
    if (order == NULL || tuning->value == NULL) {
        saddle_free(order);
        return saddle_no_memory(error, "the candidates");
    }
    for (size_t p = 0; p < g.points; p++)
        order[p] = p;
    saddle_rng rng;
    saddle_rng_init(&rng, instance->seed, SADDLE_RNG_TUNE, 0, 0);
    if (most < g.points + moved)
        saddle_rng_shuffle(&rng, order, g.points);

    int k[MOST_AXES] = {0};
    place(tuning, &g, k, forecast->plan.settings);
    tuning->candidates = 1;
    for (size_t p = 0; status == SADDLE_OK && p < g.points && tuning->candidates < most; p++) {
        bool good = locate(&g, order[p], k) || moved;
        if (!good)
            continue;
        place(tuning, &g, k, centre);
        status = try_candidate(tuning, instance, plan, forecast, &good, error);
        tuning->candidates += status == SADDLE_OK && good;
    }
    saddle_free(order);
    return status;
}

saddle_status saddle_tune_apply(const saddle_tuning *tuning, size_t candidate, saddle_plan *plan,
                                saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t j = 0; status == SADDLE_OK && candidate > 0 && j < tuning->option_count; j++)
        status = saddle_plan_set(plan, tuning->option[j]->name,
                                 saddle_tuning_value(tuning, candidate, j), error);
    return status;
}
