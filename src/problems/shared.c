/* Functions that the built-in problems share: common terms, constants, and sums over all agents'
 * rows. */
#include "problems/problems.h"

#include "core/vector.h"
#include "data/rows.h"
#include "problems/sensitive.h"

/* gy -= weight (y - y0) */
SADDLE_KERNEL static void add_ridge_difference(size_t count, double weight,
                                               const double *restrict y, const double *restrict y0,
                                               double *restrict gy)
{
    for (size_t k = 0; k < count; k++)
        gy[k] -= weight * (y[k] - y0[k]);
}

void saddle_add_ridge(const saddle_problem *problem, double ridge, const saddle_part *part)
{
    double weight = part->scale * ridge;
    if (part->gy != NULL && part->y0 != NULL)
        add_ridge_difference(problem->y_dim, weight, part->y, part->y0, part->gy);
    else if (part->gy != NULL)
        saddle_axpy(problem->y_dim, -weight, part->y, part->gy);
    if (part->value != NULL)
        *part->value -= 0.5 * weight * saddle_norm2(problem->y_dim, part->y);
}

double saddle_block_norm(double xx, double xy, double yy)
{
    return 0.5 * (xx + yy) + sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy);
}

saddle_status saddle_bound_primal(saddle_constants *out, double bound, const saddle_set *y_set,
                                  double entry, double tolerance, saddle_error *error)
{
    size_t n = saddle_set_dimension(y_set);
    SADDLE_OWNED double *y = saddle_alloc_doubles(n + saddle_set_scratch(y_set));
    SADDLE_TRY(saddle_check_memory(y, "a bound of the objective", error));
    for (size_t k = 0; k < n; k++)
        y[k] = entry;
    if (saddle_set_distance(y_set, y, y + n) <= tolerance) {
        out->primal_bound = bound;
        out->has_primal_bound = 1;
    }
    return SADDLE_OK;
}

double saddle_largest_norm2(const saddle_problem_inputs *inputs, const saddle_sensitive *sensitive)
{
    const saddle_world *world = inputs->world;
    double most = 0.0;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = inputs->shard[world->here[k]];
        for (size_t row = 0; row < data->rows; row++)
            most = fmax(most, sensitive == NULL ? saddle_row_norm2(data, row)
                                                : saddle_visible_norm2(sensitive, data, row));
    }
    world->largest(world, 1, &most);
    return most;
}

/* The cost of a row besides the products: the loss, its slope and loading the row. Every entry
 * costs 3 more to load. */
#define ROW_OVERHEAD 60.0

double saddle_row_cost(const saddle_problem_inputs *inputs, size_t columns)
{
    const saddle_world *world = inputs->world;
    int64_t found[] = {0, 0}; /* entries and rows */
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = inputs->shard[world->here[k]];
        found[0] += (int64_t)(data->dense != NULL ? data->rows * data->features
                                                  : data->row_start[data->rows]);
        found[1] += (int64_t)data->rows;
    }
    world->add_words(world, 2, found);
    return ROW_OVERHEAD + (3.0 + (double)columns) * (double)found[0] / (double)found[1];
}

/* The context of agent_sums(). */
typedef struct counting {
    saddle_outcome_counter *count;
    const saddle_problem *problem;
    const saddle_outcome_rows *rows;
    size_t size; /* numbers */
    const double *x, *y;
    double *scratch;
} counting;

static void agent_sums(void *context, size_t agent, double *out)
{
    const counting *c = context;
    if (saddle_outcome_counts(c->rows, agent))
        c->count(c->problem, NULL, agent, c->x, c->y, out, c->scratch);
    else
        memset(out, 0, c->size * sizeof *out);
}

saddle_status saddle_outcome_sums(double **out, size_t size, saddle_outcome_counter *count,
                                  const saddle_problem *problem, const saddle_outcome_rows *rows,
                                  const double *x, const double *y, saddle_error *error)
{
    *out = NULL;
    double *sums = saddle_alloc_doubles(size + saddle_problem_scratch(problem));
    saddle_status status = saddle_check_memory(sums, "the outcomes", error);
    if (rows->held_out == NULL)
        status = saddle_world_agree(problem->world, status, error);
    if (sums != NULL && status == SADDLE_OK) {
        counting c = {.count = count,
                      .problem = problem,
                      .rows = rows,
                      .size = size,
                      .x = x,
                      .y = y,
                      .scratch = sums + size};
        if (rows->held_out != NULL)
            count(problem, rows->held_out, 0, x, y, sums, c.scratch);
        else
            status = saddle_world_sum(problem->world, size, agent_sums, &c, sums, error);
    }
    if (status == SADDLE_OK)
        *out = sums;
    else
        saddle_free(sums);
    return status;
}
