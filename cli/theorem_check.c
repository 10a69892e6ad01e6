/* Compares guarantees with measurements; the inequality is in theorem_check.h. */
#include "theorem_check.h"

#include <math.h>
#include <string.h>

#include "core/print.h"

bool saddle_theorem_applies(const saddle_theory *theory, bool plus, const char **why)
{
    const saddle_guarantee *g = plus ? &theory->precision_plus : &theory->precision;
    if (theory->estimated)
        *why = "L or mu is an estimate, not a bound";
    else if (isnan(theory->value_gap))
        *why = "no lower bound of Q is known for this problem and these sets";
    else if (!g->holds)
        *why = "--c-gamma is too small for these steps; raise it";
    else
        return true;
    return false;
}

theorem_bound saddle_theorem_bound_of(const saddle_theory *theory, bool plus, double c_epsilon)
{
    const saddle_guarantee *g = plus ? &theory->precision_plus : &theory->precision;
    return (theorem_bound){.total = g->total, .level = g->level * theory->epsilon / c_epsilon};
}

/* The bound on the mean metric of the first T iterations. */
static double mean_bound_at(const theorem_bound *bound, double T)
{
    return bound->total / T + bound->level;
}

double saddle_theorem_mean_metric(const double *metric, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j < k; j++)
        sum += metric[j];
    return sum / (double)k;
}

/* Adds a run whose metric is not finite. */
static void add_failed(theorem_check *v, const char *seed)
{
    size_t used = strlen(v->failed);
    saddle_snprintf(v->failed + used, sizeof v->failed - used, used == 0 ? "seed %s" : ", %s",
                    seed);
    v->seeds++;
}

void saddle_theorem_add(theorem_check *v, const theorem_bound *bound, const char *seed, size_t rows,
                        const double *iteration, const double *metric)
{
    if (v->seeds == THEOREM_MOST_SEEDS || rows < 2)
        return;
    if (!isfinite(saddle_theorem_mean_metric(metric, rows))) {
        add_failed(v, seed);
        return;
    }
    size_t row = rows - 1;
    for (size_t p = THEOREM_POINTS; p-- > 0; row /= 10) {
        theorem_point *point = &v->point[p];
        size_t k = row > 0 ? row : 1;
        double average = saddle_theorem_mean_metric(metric, k);
        double allowed = mean_bound_at(bound, iteration[k]);
        point->iterations = iteration[k];
        point->average[v->measured] = average;
        point->average_bound[v->measured] = allowed;
        point->average_excess[v->measured] = average / allowed - 1.0;
    }
    v->start[v->measured++] = metric[0];
    v->seeds++;
}

void saddle_theorem_add_trace(theorem_check *v, const theorem_bound *bound,
                              const saddle_trace *trace)
{
    const char *seed = saddle_trace_setting(trace, "seed");
    if (trace->end != NULL && strcmp(trace->end, saddle_stop_text(SADDLE_STOP_DIVERGED)) == 0)
        add_failed(v, seed);
    else
        saddle_theorem_add(v, bound, seed, trace->rows, saddle_trace_column(trace, "iteration"),
                           saddle_trace_column(trace, "metric"));
}

/* Whether the mean of numbers that should be at most 0 is positive; NaN counts as positive. */
static bool positive(const double *excess, size_t count)
{
    statistics_mean s = saddle_statistics_summarize(excess, count, THEOREM_CONFIDENCE);
    if (count < 2)
        return !(s.mean <= 0.0);
    return !(s.low <= 0.0);
}

bool saddle_theorem_violated(const theorem_check *v)
{
    if (v->failed[0] != '\0')
        return true;
    for (size_t p = 0; p < THEOREM_POINTS; p++)
        if (positive(v->point[p].average_excess, v->measured))
            return true;
    return false;
}

static double mean_of(const double *value, size_t count)
{
    return saddle_statistics_summarize(value, count, THEOREM_CONFIDENCE).mean;
}

double saddle_theorem_ratio(const theorem_check *v)
{
    const theorem_point *last = &v->point[THEOREM_POINTS - 1];
    return mean_of(last->average_bound, v->measured) / mean_of(last->average, v->measured);
}

bool saddle_theorem_is_vacuous(const theorem_check *v)
{
    const theorem_point *last = &v->point[THEOREM_POINTS - 1];
    return !(mean_of(last->average_bound, v->measured) < mean_of(v->start, v->measured));
}
