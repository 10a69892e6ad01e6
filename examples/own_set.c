/*
 * Your own constraint set: the half space  x_1 + ... + x_n <= b,  a budget for the sum of all
 * entries. The projection subtracts the excess equally from all entries.
 *
 * In C, set plan.problem.own_x_set as in main() below. As a plug-in, give its path:
 *   cc -shared -fPIC own_set.c $(pkg-config --cflags saddle) -o libown_set.so
 *   saddle run --x-set ./libown_set.so:b=2
 */
#include <stdio.h>
#include <stdlib.h>

#include <saddle/saddle.h>

typedef struct half_space {
    saddle_set base; /* first */
    double b;
} half_space;

static const saddle_option b_option =
    SADDLE_REAL(SADDLE_OWN(half_space, b, INSTANCE), "b", "Half space", "1", -SADDLE_UNBOUNDED,
                SADDLE_UNBOUNDED, "B", "The largest sum of the entries.");
static const saddle_option *const options[] = {&b_option, NULL};

static double sum(size_t count, const double *v)
{
    double total = 0.0;
    for (size_t k = 0; k < count; k++)
        total += v[k];
    return total;
}

static void project(const saddle_set *set, double *v, double *scratch)
{
    const half_space *self = (const half_space *)set;
    double excess = (sum(set->term.dimension, v) - self->b) / (double)set->term.dimension;
    (void)scratch;
    /* Not `excess > 0`, so that NaN does not count as feasible. */
    for (size_t k = 0; !(excess <= 0.0) && k < set->term.dimension; k++)
        v[k] -= excess;
}

static const saddle_set_class half_space_class = {
    .term = {.name = "half-space",
             .synopsis = "half-space:b=B",
             .summary = "x_1 + ... + x_n at most B; O(n)",
             .options = options,
             .size = sizeof(half_space)},
    .project = project,
};

const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .set = &half_space_class};

/* Returns the largest sum of any agent's x. */
static double largest_sum(const saddle_result *result)
{
    double most = sum(result->x_dim, result->x);
    for (size_t i = 1; i < result->local; i++) {
        double own = sum(result->x_dim, result->x + i * result->x_dim);
        most = own > most ? own : most;
    }
    return most;
}

static saddle_status solve(saddle_set **set, saddle_plan *plan, saddle_result **result,
                           saddle_error *error)
{
    plan->problem.name = "quadratic";
    saddle_status status = saddle_plan_set(plan, "x-dim", "6", error);
    if (status == SADDLE_OK)
        status = saddle_set_from_class(set, &half_space_class, "b=-2", NULL, 6, error);
    if (status != SADDLE_OK)
        return status;
    plan->problem.own_x_set = *set;
    return saddle_solve(NULL, plan, result, error);
}

int main(void)
{
    saddle_plan plan;
    saddle_set *set = NULL;
    saddle_result *result = NULL;
    saddle_error error;
    saddle_plan_defaults(&plan, sizeof plan);
    int code = EXIT_FAILURE;
    if (solve(&set, &plan, &result, &error) != SADDLE_OK) {
        fprintf(stderr, "own_set: %s\n", error.message);
    } else {
        printf("largest sum %.12f, metric %.3g\n", largest_sum(result),
               result->rows[result->row_count - 1].metric);
        code = largest_sum(result) <= -2.0 + 1e-9 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    saddle_result_free(result);
    saddle_set_free(set);
    saddle_plan_free(&plan);
    return code;
}
