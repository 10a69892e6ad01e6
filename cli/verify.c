/* Theorems 1 and 2 against measurements: the inequalities are in verify.h. */
#include "verify.h"

#include <math.h>

bool verify_applies(const saddle_theory *theory, bool plus, const char **why)
{
    if (theory->estimated)
        *why = "L or mu is an estimate, not a bound";
    else if (isnan(theory->gap))
        *why = "no lower bound of Q is known for this problem over these sets";
    else if (!(theory->rate > 0.0))
        *why = "a coefficient of the descent is not positive";
    else if (plus && !(theory->rate_plus > 0.0))
        *why = "C2' is not positive; raise --c-gamma";
    else
        return true;
    return false;
}

verify_bound verify_bound_of(const saddle_theory *theory, bool plus, double c_epsilon)
{
    return (verify_bound){.gap = theory->gap,
                          .rate = plus ? theory->rate_plus : theory->rate,
                          .level = plus ? theory->error_factor * theory->epsilon / c_epsilon : 0.0};
}

/* What the mean metric of the first T iterations may be. */
static double mean_bound_at(const verify_bound *bound, double T)
{
    return bound->gap / (bound->rate * (T + 1.0)) + bound->level;
}

/* What the potential may be after T iterations with this sum of metrics. */
static double potential_bound_at(const verify_bound *bound, double T, double start, double sum)
{
    return start - bound->rate * sum + T * bound->level;
}

/* The sum of the metric over the iterations before trace point k, by trace points before it. */
static double metric_sum(const double *iteration, const double *metric, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j < k; j++)
        sum += metric[j];
    return k > 0 ? sum * (iteration[k] / (double)k) : 0.0;
}

void verify_mean(size_t rows, const double *iteration, const double *metric, double *mean)
{
    double sum = 0.0;
    for (size_t k = 0; k < rows; sum += metric[k++])
        mean[k] = iteration[k] > 0.0 ? sum / (double)k : (double)NAN;
}

void verify_allowed(const verify_bound *bound, size_t rows, const double *iteration,
                    const double *metric, const double *potential, double *mean_bound,
                    double *potential_bound)
{
    double sum = 0.0;
    for (size_t k = 0; k < rows; sum += metric[k++]) {
        double T = iteration[k];
        double stride = k > 0 ? T / (double)k : 0.0;
        mean_bound[k] = k > 0 ? mean_bound_at(bound, T) : (double)NAN;
        potential_bound[k] = potential_bound_at(bound, T, potential[0], stride * sum);
    }
}

void verify_add(verify *v, const verify_bound *bound, size_t rows, const double *iteration,
                const double *metric, const double *potential)
{
    if (v->seeds == VERIFY_MOST_SEEDS || rows < 2)
        return;
    size_t place = rows - 1;
    for (size_t p = VERIFY_POINTS; p-- > 0; place /= 10) {
        verify_point *point = &v->point[p];
        size_t k = place > 0 ? place : 1;
        double T = iteration[k];
        double sum = metric_sum(iteration, metric, k);
        point->iterations = T;
        point->average[v->seeds] = sum / T;
        point->average_bound[v->seeds] = mean_bound_at(bound, T);
        point->average_excess[v->seeds] =
            point->average[v->seeds] / point->average_bound[v->seeds] - 1.0;
        point->potential[v->seeds] = potential[k];
        point->potential_bound[v->seeds] = potential_bound_at(bound, T, potential[0], sum);
        point->potential_excess[v->seeds] =
            (potential[k] - point->potential_bound[v->seeds]) / bound->gap;
    }
    v->seeds++;
}

/* Whether numbers that should be at most 0 in the mean are not; NaN counts as not. */
static bool positive(const double *excess, size_t count)
{
    statistics_mean s = statistics_summarize(excess, count, VERIFY_CONFIDENCE);
    if (count < 2)
        return !(s.mean <= 0.0);
    return !(s.low <= 0.0);
}

bool verify_violated(const verify *v)
{
    for (size_t p = 0; p < VERIFY_POINTS; p++)
        if (positive(v->point[p].average_excess, v->seeds) ||
            positive(v->point[p].potential_excess, v->seeds))
            return true;
    return false;
}

static double mean_of(const double *value, size_t count)
{
    return statistics_summarize(value, count, VERIFY_CONFIDENCE).mean;
}

void verify_print(const verify *v)
{
    cli_table *table = cli_table_create("rrrrrr");
    const char *const heading[] = {"T", "mean metric", "bound", "potential", "bound", "worst seed"};
    for (size_t k = 0; k < sizeof heading / sizeof *heading; k++)
        cli_table_add(table, "%s", heading[k]);
    for (size_t p = 0; p < VERIFY_POINTS; p++) {
        const verify_point *point = &v->point[p];
        statistics_mean excess =
            statistics_summarize(point->average_excess, v->seeds, VERIFY_CONFIDENCE);
        cli_table_add(table, "%.0f", point->iterations);
        cli_table_add(table, "%.4g", mean_of(point->average, v->seeds));
        cli_table_add(table, "%.4g", mean_of(point->average_bound, v->seeds));
        cli_table_add(table, "%.5g", mean_of(point->potential, v->seeds));
        cli_table_add(table, "%.5g", mean_of(point->potential_bound, v->seeds));
        cli_table_add(table, "%.3g of the bound", excess.most + 1.0);
    }
    printf("\nTheorem %d (%s), means over %zu seed%s: %s\n", v->plus ? 2 : 1,
           v->plus ? "PRECISION+" : "PRECISION", v->seeds, v->seeds == 1 ? "" : "s",
           verify_violated(v) ? "VIOLATED" : "respected");
    cli_table_print(table);
}

void verify_describe(const verify *v, char *out, size_t size)
{
    const verify_point *last = &v->point[VERIFY_POINTS - 1];
    snprintf(out, size,
             "T = %.0f, %zu seeds: mean metric %.4g, bound %.4g; potential %.4g, bound %.4g",
             last->iterations, v->seeds, mean_of(last->average, v->seeds),
             mean_of(last->average_bound, v->seeds), mean_of(last->potential, v->seeds),
             mean_of(last->potential_bound, v->seeds));
}
