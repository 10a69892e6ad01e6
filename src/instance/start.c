/* Starting points: zeros, constant:V, normal:S, file:PATH, projected onto X and Y. */
#include "instance/experiment.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/status.h"
#include "core/text.h"
#include "core/vector.h"
#include "files/npz.h"

/* One of the two variables. */
typedef struct variable {
    const char *name;   /* "x" */
    const char *option; /* "init-x" */
    const char *array;  /* its name in a model file */
    const saddle_set *set;
    uint64_t stream;
    double *out;
} variable;

static saddle_status read_file(const variable *v, const char *path, saddle_error *error)
{
    double *values = NULL;
    size_t rank;
    size_t shape[2];
    saddle_status status = saddle_numpy_read(path, v->array, &values, &rank, shape, error);
    if (status != SADDLE_OK)
        return status;
    size_t dimension = saddle_set_dimension(v->set);
    size_t length = shape[0] * shape[1];
    if (length == dimension)
        memcpy(v->out, values, dimension * sizeof *values);
    else
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "'%s': %s has %zu entries, but %s of this problem has %zu; use the "
                             "model of a run with the same problem and sizes",
                             path, v->array, length, v->name, dimension);
    saddle_free(values);
    return status;
}

/* Fill v->out by a rule. */
static saddle_status apply_rule(const variable *v, const char *option, const char *rule,
                                uint64_t seed, saddle_error *error)
{
    size_t dimension = saddle_set_dimension(v->set);
    if (strncmp(rule, "file:", 5) == 0 && rule[5] != '\0')
        return read_file(v, rule + 5, error);
    saddle_fields fields;
    double number = 0.0;
    bool split = saddle_split(&fields, rule);
    bool one = split && fields.count == 2 && saddle_parse_real(fields.field[1], &number);
    if (split && fields.count == 1 && strcmp(fields.field[0], "zeros") == 0) {
        memset(v->out, 0, dimension * sizeof *v->out);
    } else if (one && strcmp(fields.field[0], "constant") == 0) {
        for (size_t k = 0; k < dimension; k++)
            v->out[k] = number;
    } else if (one && strcmp(fields.field[0], "normal") == 0 && number >= 0.0) {
        saddle_rng rng;
        saddle_rng_init(&rng, seed, SADDLE_RNG_INIT, v->stream, 0);
        for (size_t k = 0; k < dimension; k++)
            v->out[k] = number * saddle_rng_normal(&rng);
    } else {
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "--%s: '%s' is no starting point; give zeros, constant:V, normal:S (S at "
            "least 0) or file:PATH",
            option, rule);
    }
    return SADDLE_OK;
}

static saddle_status make_one(const saddle_settings *settings, const variable *v, bool own,
                              saddle_error *error)
{
    const char *option = saddle_settings_auto(settings, v->option) ? "init" : v->option;
    const char *rule = saddle_settings_auto(settings, option)
                           ? SADDLE_DEFAULT_INIT
                           : saddle_settings_text(settings, option);
    size_t dimension = saddle_set_dimension(v->set);
    /* The problem's own start, if it has one, is there already. */
    if (!own || !saddle_settings_auto(settings, option)) {
        uint64_t seed = saddle_settings_integer(settings, "seed");
        saddle_status status = apply_rule(v, option, rule, seed, error);
        if (status != SADDLE_OK)
            return status;
    }
    size_t bad = saddle_first_nonfinite(dimension, v->out);
    if (bad < dimension)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--%s: '%s' makes %s[%zu] = %g; a starting point must be finite", option,
                           rule, v->name, bad, v->out[bad]);
    double *scratch = saddle_alloc_doubles(saddle_set_scratch(v->set));
    if (scratch == NULL)
        return saddle_no_memory(error, "the starting point");
    saddle_set_project(v->set, v->out, scratch);
    saddle_free(scratch);
    return SADDLE_OK;
}

/* x0 and y0 as this process sees them. */
static saddle_status make_both(saddle_experiment *e, saddle_error *error)
{
    variable x = {.name = "x",
                  .option = "init-x",
                  .array = "xbar",
                  .set = e->x_set,
                  .stream = 0,
                  .out = e->x0};
    variable y = {.name = "y",
                  .option = "init-y",
                  .array = "ybar",
                  .set = e->y_set,
                  .stream = 1,
                  .out = e->y0};
    bool own = e->problem->start != NULL;
    if (own)
        e->problem->start(e->problem, saddle_settings_integer(e->settings, "seed"), e->x0, e->y0);
    saddle_status status = make_one(e->settings, &x, own, error);
    if (status == SADDLE_OK)
        status = make_one(e->settings, &y, own, error);
    return status;
}

saddle_status saddle_make_start(saddle_experiment *e, saddle_error *error)
{
    const saddle_world *world = e->world;
    e->x0 = saddle_alloc_doubles(e->problem->x_dim);
    e->y0 = saddle_alloc_doubles(e->problem->y_dim);
    saddle_status status = SADDLE_OK;
    if (e->x0 == NULL || e->y0 == NULL)
        status = saddle_no_memory(error, "the starting point");
    else if (world->rank == 0)
        status = make_both(e, error);
    status = saddle_world_agree(world, status, error);
    if (status != SADDLE_OK)
        return status;
    world->share(world, 0, e->problem->x_dim * sizeof *e->x0, e->x0);
    world->share(world, 0, e->problem->y_dim * sizeof *e->y0, e->y0);
    return SADDLE_OK;
}
