/* Stages of an instance: the starting point, given in memory or by a rule (zeros, constant:V,
 * normal:S, file:PATH), and projected onto X and Y. */
#include "instance/instance.h"

#include "core/rng.h"
#include "core/vector.h"
#include "files/npz.h"

/* One of the two variables. */
typedef struct variable {
    const char *name;   /* "x" */
    const char *option; /* "--init-x" */
    const char *rule;   /* NULL: the problem's start, or the default rule */
    const double *own;  /* the point in memory; NULL: use the rule */
    size_t length;      /* length of `own` */
    const char *array;  /* its name in a model file */
    const saddle_set *set;
    uint64_t stream;
    double *out;
} variable;

static saddle_status read_file(const variable *v, const char *path, saddle_error *error)
{
    SADDLE_OWNED double *values = NULL;
    size_t rank;
    size_t shape[2];
    SADDLE_TRY(saddle_numpy_read(path, v->array, &values, &rank, shape, error));
    size_t dimension = saddle_set_dimension(v->set);
    size_t length = shape[0] * shape[1];
    if (length == dimension)
        memcpy(v->out, values, dimension * sizeof *values);
    else
        return saddle_refuse(error,
                             "'%s': %s has %zu %s, but %s of this problem has %zu; use the model "
                             "of a run with the same problem and sizes",
                             path, v->array, length, length == 1 ? "entry" : "entries", v->name,
                             dimension);
    return SADDLE_OK;
}

/* Fills in v->out by a rule. */
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
        return saddle_refuse(error,
                             "%s: '%s' is not a starting point; give zeros, constant:V, normal:S "
                             "(S at least 0) or file:PATH",
                             option, rule);
    }
    return SADDLE_OK;
}

static saddle_status make_one(const variable *v, const saddle_problem *problem, uint64_t seed,
                              saddle_error *error)
{
    const char *rule = v->rule != NULL ? v->rule : SADDLE_DEFAULT_INIT;
    bool suits = problem->start != NULL;
    size_t dimension = saddle_set_dimension(v->set);
    if (v->own != NULL && v->length != dimension)
        return saddle_refuse(
            error,
            "start.%s: %s_length is %zu, but %s of this problem has %zu entries; give that many",
            v->name, v->name, v->length, v->name, dimension);
    /* Otherwise v->out already contains the problem's start. */
    if (v->own != NULL)
        memcpy(v->out, v->own, dimension * sizeof *v->out);
    else if (!suits || v->rule != NULL)
        SADDLE_TRY(saddle_in_field(v->option, apply_rule(v, v->option, rule, seed, error), error));
    size_t bad = saddle_first_nonfinite(dimension, v->out);
    if (bad < dimension && v->own != NULL)
        return saddle_refuse(error, "start.%s: %s[%zu] is %g; a starting point must be finite",
                             v->name, v->name, bad, v->out[bad]);
    if (bad < dimension && suits && v->rule == NULL)
        return saddle_refuse(
            error, "start() of problem %s sets %s[%zu] = %g; a starting point must be finite",
            saddle_shown_name(problem->name), v->name, bad, v->out[bad]);
    if (bad < dimension)
        return saddle_refuse(error, "%s: '%s' gives %s[%zu] = %g; a starting point must be finite",
                             v->option, rule, v->name, bad, v->out[bad]);
    SADDLE_OWNED double *scratch = saddle_alloc_doubles(saddle_set_scratch(v->set));
    SADDLE_TRY(saddle_check_memory(scratch, "the starting point", error));
    saddle_set_project(v->set, v->out, scratch);
    return SADDLE_OK;
}

/* Records in the settings which points are in memory; for init only if both are. */
static saddle_status record_memory(saddle_plan *plan, saddle_error *error)
{
    if (plan->start.x != NULL)
        plan->start.init_x = SADDLE_IN_MEMORY;
    if (plan->start.y != NULL)
        plan->start.init_y = SADDLE_IN_MEMORY;
    if (plan->start.x != NULL && plan->start.y != NULL)
        plan->start.init = SADDLE_IN_MEMORY;
    return saddle_plan_refresh(plan, error);
}

/* Makes the starting point. */
saddle_status saddle_stage_start(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    saddle_plan *plan = &parts->plan;
    parts->x0 = saddle_alloc_doubles(e->problem->x_dim);
    parts->y0 = saddle_alloc_doubles(e->problem->y_dim);
    e->x0 = parts->x0;
    e->y0 = parts->y0;
    if (parts->x0 == NULL || parts->y0 == NULL)
        return saddle_no_memory(error, "the starting point");
    SADDLE_TRY(record_memory(plan, error));
    if (e->world->rank > 0)
        return SADDLE_OK;
    const char *both = plan->start.init;
    bool x_alone = plan->start.init_x != NULL;
    bool y_alone = plan->start.init_y != NULL;
    variable x = {.name = "x",
                  .option = x_alone ? "--init-x" : "--init",
                  .rule = x_alone ? plan->start.init_x : both,
                  .own = plan->start.x,
                  .length = plan->start.x_length,
                  .array = "xbar",
                  .set = e->x_set,
                  .stream = 0,
                  .out = parts->x0};
    variable y = {.name = "y",
                  .option = y_alone ? "--init-y" : "--init",
                  .rule = y_alone ? plan->start.init_y : both,
                  .own = plan->start.y,
                  .length = plan->start.y_length,
                  .array = "ybar",
                  .set = e->y_set,
                  .stream = 1,
                  .out = parts->y0};
    if (e->problem->start != NULL)
        e->problem->start(e->problem, e->seed, parts->x0, parts->y0);
    SADDLE_TRY(make_one(&x, e->problem, e->seed, error));
    return make_one(&y, e->problem, e->seed, error);
}

/* Distributes the starting point of process 0 to all processes. */
saddle_status saddle_stage_share_start(saddle_instance *e, saddle_error *error)
{
    (void)error;
    struct saddle_instance_parts *parts = e->parts;
    e->world->share(e->world, 0, e->problem->x_dim * sizeof *parts->x0, parts->x0);
    e->world->share(e->world, 0, e->problem->y_dim * sizeof *parts->y0, parts->y0);
    return SADDLE_OK;
}
