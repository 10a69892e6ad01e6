/* A box with separate bounds for every coordinate, given in memory: lower_k <= x_k <= upper_k. */
#include "sets/kernel.h"
#include "sets/set.h"

typedef struct coordinate_box {
    saddle_set base;
    double *lower; /* owned, possibly -inf */
    double *upper; /* owned, possibly inf */
} coordinate_box;

/* The arguments of saddle_set_box(); NULL: no bound. */
typedef struct given_bounds {
    const double *lower;
    const double *upper;
} given_bounds;

/* Copies the bounds; each interval must contain a finite number. */
static saddle_status init(void *self, saddle_error *error)
{
    coordinate_box *box = self;
    saddle_term *term = &box->base.term;
    const given_bounds *given = term->context;
    box->lower = saddle_alloc_doubles(term->dimension);
    box->upper = saddle_alloc_doubles(term->dimension);
    if (box->lower == NULL || box->upper == NULL)
        return saddle_no_memory(error, "a set");
    for (size_t k = 0; k < term->dimension; k++) {
        double lower = given->lower != NULL ? given->lower[k] : -INFINITY;
        double upper = given->upper != NULL ? given->upper[k] : INFINITY;
        if (!(lower <= upper) || lower == INFINITY || upper == -INFINITY)
            return saddle_refuse(
                error,
                "the box has the bounds %g and %g in coordinate %zu; the lower bound must be at "
                "most the upper one, with a finite number between them",
                lower, upper, k);
        box->lower[k] = lower;
        box->upper[k] = upper;
    }
    term->context = NULL;
    return SADDLE_OK;
}

static void release(void *self)
{
    coordinate_box *box = self;
    saddle_free(box->lower);
    saddle_free(box->upper);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
static void project(const saddle_set *set, double *v, double *scratch)
{
    const coordinate_box *box = (const coordinate_box *)set;
    (void)scratch;
    /* Written so that NaN stays NaN. */
    for (size_t k = 0; k < set->term.dimension; k++)
        v[k] = v[k] < box->lower[k] ? box->lower[k] : v[k] > box->upper[k] ? box->upper[k] : v[k];
}

static void range(const saddle_set *set, double *lower, double *upper)
{
    const coordinate_box *box = (const coordinate_box *)set;
    *lower = box->lower[0];
    *upper = box->upper[0];
    for (size_t k = 1; k < set->term.dimension; k++) {
        *lower = fmin(*lower, box->lower[k]);
        *upper = fmax(*upper, box->upper[k]);
    }
}

static bool uniform_bounds(const saddle_set *set, double *lower, double *upper)
{
    const coordinate_box *box = (const coordinate_box *)set;
    range(set, lower, upper);
    for (size_t k = 0; k < set->term.dimension; k++)
        if (box->lower[k] != *lower || box->upper[k] != *upper)
            return false;
    return true;
}

/* Returns the norm of the farthest corner. */
static double norm_bound(const saddle_set *set)
{
    const coordinate_box *box = (const coordinate_box *)set;
    double sum = 0.0;
    for (size_t k = 0; k < set->term.dimension; k++) {
        double most = fmax(fabs(box->lower[k]), fabs(box->upper[k]));
        sum += most * most;
    }
    return sqrt(sum);
}

static const saddle_set_class kind = {
    .term = {.name = "box-per-coordinate",
             .size = sizeof(coordinate_box),
             .init = init,
             .release = release},
    .project = project,
    .range = range,
    .norm_bound = norm_bound,
    .uniform_bounds = uniform_bounds,
    .separable = true,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
};

saddle_status saddle_set_box(saddle_set **out, size_t dimension, const double *lower,
                             const double *upper, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    given_bounds given = {lower, upper};
    return saddle_set_from_class(out, &kind, NULL, &given, dimension, error);
}
