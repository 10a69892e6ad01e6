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

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compare.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/status.h"
#include "core/text.h"

/* The most axes; an algorithm has a handful of step sizes. */
#define MOST_AXES 16
/* The most points of a grid. */
#define MOST_POINTS ((size_t)1 << 20)

typedef struct axis {
    const saddle_search *search;    /* NULL: the values are listed */
    const saddle_tune_axis *listed; /* NULL: they are not listed */
    int low;                        /* of the search, narrowed to the ranges of the options */
    int high;
} axis;

typedef struct grid {
    size_t axes;
    axis axis[MOST_AXES];
    size_t points;
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
 * listed values, and is not held. */
static bool searched(const saddle_tuning *tuning, const saddle_option *option,
                     const saddle_plan *base)
{
    double value = saddle_plan_number(base, option);
    return option->search != NULL && isfinite(value) && value != 0.0 &&
           saddle_tune_listed(tuning->listed, option) == NULL && !held(tuning, option->name);
}

/* Whether all options of an axis are in their ranges at k. */
static bool allowed(const saddle_tuning *tuning, const saddle_plan *base,
                    const saddle_search *search, int k)
{
    char text[SADDLE_TUNE_TEXT];
    for (size_t j = 0; j < tuning->option_count; j++)
        if (tuning->option[j]->search == search &&
            saddle_tune_listed(tuning->listed, tuning->option[j]) == NULL &&
            !value_at(tuning->option[j], base, k, text))
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

static saddle_status list_options(saddle_tuning *tuning, const saddle_plan *base,
                                  saddle_error *error)
{
    const saddle_option *const *options = saddle_algorithm_options(tuning->choice);
    const saddle_tune_axes *listed = tuning->listed;
    size_t count = listed->count;
    for (const saddle_option *const *option = options; *option != NULL; option++)
        count += searched(tuning, *option, base);
    if (count == 0)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s has no step sizes left to search; choose another algorithm",
                           tuning->algorithm->name);
    saddle_free(tuning->option);
    tuning->option_count = 0;
    tuning->option = saddle_alloc(count, sizeof *tuning->option);
    SADDLE_TRY(saddle_check_memory(tuning->option, "the candidates", error));
    for (const saddle_option *const *option = options; *option != NULL; option++)
        if (searched(tuning, *option, base))
            tuning->option[tuning->option_count++] = *option;
    for (size_t k = 0; k < listed->count; k++)
        tuning->option[tuning->option_count++] = listed->axis[k].option;
    return SADDLE_OK;
}

/* Adds the axes of listed values, those of problems or those of algorithms. */
static void add_listed(grid *g, const saddle_tune_axes *listed, saddle_option_stage stage)
{
    for (size_t k = 0; k < listed->count; k++)
        if (listed->axis[k].option->stage == stage)
            g->axis[g->axes++] =
                (axis){.listed = &listed->axis[k], .high = (int)listed->axis[k].count - 1};
}

/* Adds the axes of the algorithm's searches. */
static void add_searches(grid *g, const saddle_tuning *tuning, const saddle_plan *base)
{
    size_t own = tuning->option_count - tuning->listed->count;
    for (size_t j = 0; j < own && g->axes < MOST_AXES; j++) {
        const saddle_search *search = tuning->option[j]->search;
        if (has_axis(g, search))
            continue;
        axis *a = &g->axis[g->axes++];
        *a = (axis){.search = search};
        while (a->low > search->low && allowed(tuning, base, search, a->low - 1))
            a->low--;
        while (a->high < search->high && allowed(tuning, base, search, a->high + 1))
            a->high++;
    }
}

/* Makes the grid. Axes of problem options come first, so that points in ascending order change
 * the problem least often. */
static saddle_status make_grid(grid *g, saddle_tuning *tuning, const saddle_plan *base,
                               saddle_error *error)
{
    SADDLE_TRY(list_options(tuning, base, error));
    *g = (grid){.points = 1};
    add_listed(g, tuning->listed, SADDLE_STAGE_INSTANCE);
    add_listed(g, tuning->listed, SADDLE_STAGE_RUN);
    add_searches(g, tuning, base);
    for (size_t a = 0; a < g->axes; a++) {
        size_t side = (size_t)(g->axis[a].high - g->axis[a].low) + 1;
        if (side > MOST_POINTS / g->points)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "search: the grid has more than %zu points; list fewer values, or "
                               "hold step sizes",
                               MOST_POINTS);
        g->points *= side;
    }
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

saddle_status saddle_tune_centre(saddle_plan *out, const saddle_instance *instance,
                                 const saddle_plan *plan, const saddle_forecast *forecast,
                                 saddle_error *error)
{
    /* Use default steps, not those of the given plan: most algorithms with eta-x read neither
     * nu, eta, tau and alpha nor their rule, and what an algorithm does not read must not move
     * its grid. */
    saddle_plan defaults;
    saddle_steps steps;
    saddle_plan_defaults(&defaults, sizeof defaults);
    SADDLE_TRY(saddle_instance_steps(instance, &defaults, &steps, error));
    SADDLE_TRY(saddle_plan_copy(out, &forecast->plan, error));
    recentre(&out->steps.eta_x, plan->steps.eta_x, steps.nu / steps.tau);
    recentre(&out->steps.eta_y, plan->steps.eta_y, steps.eta * steps.alpha);
    return SADDLE_OK;
}

/* Whether two values of an option are equal: different texts may be the same number. */
static bool same_value(const char *a, const char *b)
{
    double x;
    double y;
    return strcmp(a, b) == 0 || (saddle_parse_real(a, &x) && saddle_parse_real(b, &y) && x == y);
}

/* Whether the default is a point of the grid. */
static bool has_default(const grid *g, const saddle_tuning *tuning, const saddle_plan *base,
                        const saddle_plan *centre)
{
    size_t own = tuning->option_count - tuning->listed->count;
    for (size_t j = 0; j < own; j++)
        if (strcmp(SADDLE_PLAN_TEXT(base, tuning->option[j]),
                   SADDLE_PLAN_TEXT(centre, tuning->option[j])) != 0)
            return false;
    for (size_t a = 0; a < g->axes; a++) {
        const saddle_tune_axis *listed = g->axis[a].listed;
        bool found = listed == NULL;
        for (size_t k = 0; !found && k < listed->count; k++)
            found = same_value(listed->value[k], SADDLE_PLAN_TEXT(base, listed->option));
        if (!found)
            return false;
    }
    return true;
}

/* The most candidates. */
static size_t most_candidates(const grid *g, const saddle_tuning *tuning, const saddle_plan *base,
                              const saddle_plan *centre)
{
    return g->points + !has_default(g, tuning, base, centre);
}

saddle_status saddle_tune_grid_size(saddle_tuning *tuning, const saddle_forecast *forecast,
                                    const saddle_plan *centre, size_t *out, saddle_error *error)
{
    grid g;
    saddle_status status = make_grid(&g, tuning, centre, error);
    if (status == SADDLE_OK)
        *out = most_candidates(&g, tuning, &forecast->plan, centre);
    return status;
}

/* Computes the indices of a point along all axes. */
static void locate(const grid *g, size_t point, int k[MOST_AXES])
{
    for (size_t a = g->axes; a-- > 0;) {
        size_t side = (size_t)(g->axis[a].high - g->axis[a].low) + 1;
        k[a] = g->axis[a].low + (int)(point % side);
        point /= side;
    }
}

/* Writes the default's values to candidate 0. */
static void write_default(saddle_tuning *tuning, const saddle_plan *base)
{
    for (size_t j = 0; j < tuning->option_count; j++)
        saddle_snprintf(tuning->value[j], SADDLE_TUNE_TEXT, "%s",
                        SADDLE_PLAN_TEXT(base, tuning->option[j]));
}

/* Writes a point's values to a candidate. */
static void write_point(saddle_tuning *tuning, size_t candidate, const grid *g, size_t point,
                        const saddle_plan *base)
{
    int k[MOST_AXES] = {0};
    locate(g, point, k);
    char(*value)[SADDLE_TUNE_TEXT] = tuning->value + candidate * tuning->option_count;
    for (size_t j = 0; j < tuning->option_count; j++) {
        const saddle_option *option = tuning->option[j];
        const saddle_tune_axis *listed = saddle_tune_listed(tuning->listed, option);
        for (size_t a = 0; a < g->axes; a++)
            if (listed != NULL && g->axis[a].listed == listed)
                saddle_snprintf(value[j], SADDLE_TUNE_TEXT, "%s", listed->value[k[a]]);
            else if (listed == NULL && g->axis[a].search == option->search)
                value_at(option, base, k[a], value[j]);
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
        /* A combination that the algorithm refuses is not a candidate. */
        if (status == SADDLE_BAD_INPUT || status == SADDLE_UNSUPPORTED)
            status = SADDLE_OK;
    }
    saddle_plan_free(&forecast.plan);
    saddle_plan_free(&own);
    return status;
}

/* Takes points in the order of `order` until there are `most` candidates; taken points are moved
 * to the front. */
static saddle_status take_points(saddle_tuning *tuning, const saddle_instance *instance,
                                 const saddle_plan *plan, const saddle_forecast *forecast,
                                 const saddle_plan *centre, const grid *g, size_t *order,
                                 size_t most, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    write_default(tuning, &forecast->plan);
    tuning->candidates = 1;
    for (size_t p = 0; status == SADDLE_OK && p < g->points && tuning->candidates < most; p++) {
        bool good = false;
        write_point(tuning, tuning->candidates, g, order[p], centre);
        if (is_default(tuning))
            continue;
        status = try_candidate(tuning, instance, plan, forecast, &good, error);
        order[tuning->candidates - 1] = order[p];
        tuning->candidates += status == SADDLE_OK && good;
    }
    /* Sort, so that each problem is made once per rung. */
    if (status == SADDLE_OK && tuning->listed->changes_problem) {
        qsort(order, tuning->candidates - 1, sizeof *order, saddle_compare_sizes);
        for (size_t c = 1; c < tuning->candidates; c++)
            write_point(tuning, c, g, order[c - 1], centre);
    }
    return status;
}

saddle_status saddle_tune_choose(saddle_tuning *tuning, const saddle_instance *instance,
                                 const saddle_plan *plan, const saddle_forecast *forecast,
                                 const saddle_plan *centre, size_t most, saddle_error *error)
{
    grid g;
    SADDLE_TRY(make_grid(&g, tuning, centre, error));
    size_t all = most_candidates(&g, tuning, &forecast->plan, centre);
    most = most < all ? most : all;
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
    if (most < all)
        saddle_rng_shuffle(&rng, order, g.points);
    saddle_status status =
        take_points(tuning, instance, plan, forecast, centre, &g, order, most, error);
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
