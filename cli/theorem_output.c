/* Prints guarantees beside measurements. */
#include <math.h>
#include <stdio.h>

#include "json_output.h"
#include "result_tables.h"

/* The measurements at one number of iterations, over all seeds. */
typedef struct point_means {
    double iterations, metric, bound;
    double worst; /* the largest metric of a seed, as a multiple of its bound */
} point_means;

static point_means means_of(const theorem_check *v, size_t p)
{
    const theorem_point *point = &v->point[p];
    const double *const value[] = {point->average, point->average_bound, point->average_excess};
    statistics_mean over[3];
    for (size_t k = 0; k < 3; k++)
        over[k] = saddle_statistics_summarize(value[k], v->measured, THEOREM_CONFIDENCE);
    return (point_means){point->iterations, over[0].mean, over[1].mean, over[2].most + 1.0};
}

/* Prints the measured means beside their bounds. */
static void print_theorem_points(const theorem_check *v)
{
    cli_table *table = cli_table_create("rrrr");
    cli_table_words(table, "T", "mean metric", "bound", "worst seed");
    for (size_t p = 0; p < THEOREM_POINTS; p++) {
        point_means m = means_of(v, p);
        cli_table_add(table, "%.0f", m.iterations);
        cli_table_add(table, "%.4g", m.metric);
        cli_table_add(table, "%.4g", m.bound);
        cli_table_add(table, "%.3g of the bound", m.worst);
    }
    cli_table_print(table);
    if (saddle_theorem_is_vacuous(v))
        cli_print(
            "The bound is vacuous: after this few iterations it is above the initial metric.\n");
}

/* Prints which seeds were left out, and whether sigma^2 was a bound. */
static void print_theorem_notes(const theorem_check *v)
{
    if (v->failed[0] != '\0')
        cli_print("The metric of %s is not finite.\n", v->failed);
    if (v->unguaranteed > 0)
        cli_wrap(0, 0, "%zu seed%s no guarantee and %s left out: %s.", v->unguaranteed,
                 v->unguaranteed == 1 ? " has" : "s have", v->unguaranteed == 1 ? "was" : "were",
                 v->why);
    if (v->variance_share == 0.0)
        return;
    cli_wrap(
        0, 0,
        "Refreshes used the exact gamma (--gamma exact) and a sigma^2 of %g times the largest "
        "variance at the start. At the end the variance was %s%.3g of that%s.",
        THEOREM_MARGIN, v->variance_share <= 1.0 ? "at most " : "", v->variance_share,
        v->variance_share <= 1.0
            ? ""
            : ": the assumption of the theorem does not hold, so the comparison proves nothing");
}

void cli_print_theorem(const theorem_check *v)
{
    size_t seeds = v->seeds + v->unguaranteed;
    cli_print("\n%s, means over ", v->plus ? "PRECISION+" : "PRECISION");
    if (v->measured < seeds)
        cli_print("%zu of ", v->measured);
    cli_print("%zu seed%s: ", seeds, seeds == 1 ? "" : "s");
    if (saddle_theorem_violated(v))
        cli_print("the bound is VIOLATED\n");
    else
        cli_print("not contradicted, the bound is %.3g times the measured mean\n",
                  saddle_theorem_ratio(v));
    if (v->measured > 0)
        print_theorem_points(v);
    print_theorem_notes(v);
}

void cli_json_theorem(saddle_json *j, const theorem_check *v)
{
    saddle_json_put(j, "{ algorithm %s seeds %zu not_finite %zu without_guarantee %zu",
                    v->plus ? "precision+" : "precision", v->seeds, v->seeds - v->measured,
                    v->unguaranteed);
    saddle_json_put(j, "variance_share %g violated %d vacuous %d ratio %g points [",
                    v->variance_share > 0.0 ? v->variance_share : (double)NAN,
                    saddle_theorem_violated(v), saddle_theorem_is_vacuous(v),
                    saddle_theorem_ratio(v));
    for (size_t p = 0; p < THEOREM_POINTS && v->measured > 0; p++) {
        point_means m = means_of(v, p);
        saddle_json_put(j, "{ iterations %g mean_metric %g mean_metric_bound %g worst_seed %g }",
                        m.iterations, m.metric, m.bound, m.worst);
    }
    saddle_json_put(j, "] }");
}
