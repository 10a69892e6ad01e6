/*
 * Your own regularizer:  h(x) = w sum_k max(x_k, 0),  a price on positive entries. Its prox
 * subtracts step * w from every positive entry, but not below 0.
 *
 * In C, set plan.problem.own_regularizer as in main() below. As a plug-in, give its path:
 *   cc -shared -fPIC own_regularizer.c $(pkg-config --cflags saddle) -o libown_regularizer.so
 *   saddle run --regularizer ./libown_regularizer.so:w=0.1
 */
#include <stdio.h>
#include <stdlib.h>

#include <saddle/saddle.h>

typedef struct price {
    saddle_regularizer base; /* first */
    double w;
} price;

static const saddle_option w_option =
    SADDLE_REAL(SADDLE_OWN(price, w, INSTANCE), "w", "Price", "1", 0.0, SADDLE_UNBOUNDED, "W",
                "The price per unit of a positive entry.");
static const saddle_option *const options[] = {&w_option, NULL};

static double value(const saddle_regularizer *regularizer, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < regularizer->term.dimension; k++)
        sum += v[k] > 0.0 ? v[k] : 0.0 * v[k]; /* not 0.0, so that NaN stays NaN */
    return ((const price *)regularizer)->w * sum;
}

static void shrink(const saddle_regularizer *regularizer, double step, double *v)
{
    double cut = step * ((const price *)regularizer)->w;
    for (size_t k = 0; k < regularizer->term.dimension; k++)
        if (v[k] > 0.0)
            v[k] = v[k] > cut ? v[k] - cut : 0.0;
}

/* The minimum over a box is the unconstrained minimum, clipped, because h separates into
 * coordinates. */
static saddle_prox_rule rule(const saddle_regularizer *regularizer, const saddle_set *set)
{
    double lower;
    double upper;
    (void)regularizer;
    return saddle_set_uniform_bounds(set, &lower, &upper) ? SADDLE_PROX_SHRINK_PROJECT
                                                          : SADDLE_PROX_UNKNOWN;
}

static const saddle_regularizer_class price_class = {
    .term = {.name = "price",
             .synopsis = "price:w=W",
             .summary = "W sum_k max(x_k, 0); O(n)",
             .options = options,
             .size = sizeof(price)},
    .value = value,
    .shrink = shrink,
    .rule = rule,
};

const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .regularizer = &price_class};

/* Returns the largest entry of any agent's x; with a high price none is above 0. */
static double largest_entry(const saddle_result *result)
{
    double most = result->x[0];
    for (size_t k = 1; k < result->local * result->x_dim; k++)
        most = result->x[k] > most ? result->x[k] : most;
    return most;
}

static saddle_status solve(saddle_regularizer **regularizer, saddle_plan *plan,
                           saddle_result **result, saddle_error *error)
{
    plan->problem.name = "quadratic";
    saddle_status status = saddle_plan_set(plan, "x-dim", "6", error);
    if (status == SADDLE_OK)
        status = saddle_regularizer_from_class(regularizer, &price_class, "w=100", NULL, 6, error);
    if (status != SADDLE_OK)
        return status;
    plan->problem.own_regularizer = *regularizer;
    return saddle_solve(NULL, plan, result, error);
}

int main(void)
{
    saddle_plan plan;
    saddle_regularizer *regularizer = NULL;
    saddle_result *result = NULL;
    saddle_error error;
    saddle_plan_defaults(&plan, sizeof plan);
    int code = EXIT_FAILURE;
    if (solve(&regularizer, &plan, &result, &error) != SADDLE_OK) {
        fprintf(stderr, "own_regularizer: %s\n", error.message);
    } else {
        printf("largest entry %.3g, metric %.3g\n", largest_entry(result),
               result->rows[result->row_count - 1].metric);
        code = largest_entry(result) <= 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    saddle_result_free(result);
    saddle_regularizer_free(regularizer);
    saddle_plan_free(&plan);
    return code;
}
