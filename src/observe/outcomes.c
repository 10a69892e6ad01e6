#include "observe/outcomes.h"

#include "algorithms/layout.h"
#include "core/outcome_name.h"
#include "core/world.h"

/* The statistics of an outcome over agents, in the order of saddle_statistic. */
enum { LEAST, MEAN, LARGEST, SPREAD };

struct saddle_outcomes {
    saddle_outcomes_inputs in;
    bool known;    /* whether the columns are known */
    size_t train;  /* number of outcomes on the agents' data */
    size_t test;   /* number of outcomes on held-out rows */
    double *model; /* per agent of this process: x and y, and those of one more */
    double *value; /* per agent of the network: SADDLE_MOST_OUTCOMES numbers */
};

/* ---- outcomes of a problem -------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return name != NULL && *name != '\0' && name[strspn(name, allowed)] == '\0' &&
           strlen(name) <= SADDLE_OUTCOME_NAME;
}

static saddle_status check(const saddle_problem *problem, const saddle_outcome *out, size_t count,
                           saddle_error *error)
{
    if (count > SADDLE_MOST_OUTCOMES)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "outcomes() of problem %.200s gives %zu outcomes; at most %d are "
                           "possible",
                           saddle_shown_name(problem->name), count, SADDLE_MOST_OUTCOMES);
    for (size_t k = 0; k < count; k++) {
        if (!is_name(out[k].name))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "outcomes() of problem %.200s calls outcome %zu '%.80s'; use at "
                               "most %d letters, digits and _",
                               saddle_shown_name(problem->name), k,
                               out[k].name != NULL ? out[k].name : "", SADDLE_OUTCOME_NAME);
        for (size_t j = 0; j < k; j++)
            if (strcmp(out[j].name, out[k].name) == 0)
                return saddle_fail(error, SADDLE_CHECK_FAILED,
                                   "outcomes() of problem %.200s calls two outcomes '%s'; give "
                                   "them different names",
                                   saddle_shown_name(problem->name), out[k].name);
    }
    return SADDLE_OK;
}

saddle_status saddle_outcomes_of(const saddle_problem *problem, const saddle_outcome_rows *rows,
                                 const double *x, const double *y, saddle_outcome *out,
                                 size_t *count, saddle_error *error)
{
    saddle_error said = {.message = ""};
    *count = 0;
    saddle_status status =
        saddle_pass_on(error, problem->outcomes(problem, rows, x, y, out, count, &said), &said,
                       "problem", problem->name);
    SADDLE_THEN(status, check(problem, out, *count, error));
    if (status != SADDLE_OK)
        *count = 0;
    return status;
}

/* ---- creating and freeing --------------------------------------------------------------------- */

static size_t model_size(const saddle_instance *instance)
{
    return instance->problem->x_dim + instance->problem->y_dim;
}

static void take_blocks(saddle_outcomes *o, const saddle_instance *network,
                        const saddle_instance *instance, saddle_allocator *allocator)
{
    o->model = saddle_allocator_block(allocator, instance->world->local + 1,
                                      model_size(instance) * sizeof(double));
    o->value = saddle_allocator_block(allocator, network->problem->agents,
                                      SADDLE_MOST_OUTCOMES * sizeof(double));
}

double saddle_outcomes_bytes(const saddle_instance *network, const saddle_instance *instance,
                             bool per_agent)
{
    saddle_outcomes o;
    saddle_allocator allocator = {.count_only = true};
    if (per_agent)
        take_blocks(&o, network, instance, &allocator);
    return allocator.bytes + saddle_block_bytes(1, sizeof o);
}

saddle_status saddle_outcomes_create(saddle_outcomes **out, const saddle_outcomes_inputs *inputs,
                                     saddle_error *error)
{
    *out = NULL;
    saddle_outcomes *o = saddle_alloc(1, sizeof *o);
    SADDLE_TRY(saddle_check_memory(o, "the outcomes", error));
    saddle_allocator allocator = {0};
    o->in = *inputs;
    if (inputs->per_agent)
        take_blocks(o, inputs->network, inputs->instance, &allocator);
    if (allocator.failed) {
        saddle_outcomes_free(o);
        return saddle_no_memory(error, "the outcomes");
    }
    *out = o;
    return SADDLE_OK;
}

void saddle_outcomes_free(saddle_outcomes *o)
{
    if (o == NULL)
        return;
    saddle_free(o->model);
    saddle_free(o->value);
    saddle_free(o);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Returns the number of columns of an outcome. */
static size_t columns_each(const saddle_outcomes *o)
{
    return o->in.per_agent ? 1 + SPREAD : 1;
}

void saddle_outcomes_recall(saddle_outcomes *o, const saddle_outcome_column *column, size_t count)
{
    size_t first = count / columns_each(o);
    memcpy(o->in.result->outcome, column, count * sizeof *column);
    o->in.result->outcome_count = count;
    o->train = 0;
    while (o->train < first &&
           saddle_outcome_name_of(column[o->train].name).rows == SADDLE_ROWS_TRAIN)
        o->train++;
    o->test = first - o->train;
    o->known = true;
}

/* The outcomes on the agents' data, or on held-out rows. */
typedef struct finding {
    saddle_measured_rows rows;
    saddle_outcome outcome[SADDLE_MOST_OUTCOMES];
    size_t count;
} finding;

/* Names the columns after the first measurement. */
static void name_columns(const saddle_outcomes *o, const finding *train, const finding *test)
{
    size_t first = train->count + test->count;
    for (size_t k = 0; k < first; k++) {
        const finding *f = k < train->count ? train : test;
        const saddle_outcome *outcome = &f->outcome[k < train->count ? k : k - train->count];
        for (size_t s = 0; s < columns_each(o); s++) {
            size_t place = s == 0 ? k : first + SPREAD * k + s - 1;
            saddle_outcome_column *column = &o->in.result->outcome[place];
            saddle_outcome_name_write(column->name, sizeof column->name, f->rows, outcome->name,
                                      (saddle_statistic)s);
            column->better = outcome->better;
        }
    }
}

/* Shares the outcomes on the held-out rows, which only process 0 has. */
static void learn_columns(saddle_outcomes *o, const finding *train, const finding *test)
{
    const saddle_world *world = o->in.network->world;
    o->train = train->count;
    o->test = test->count;
    o->known = true;
    if (world->rank == 0)
        name_columns(o, train, test);
    world->share(world, 0, sizeof o->test, &o->test);
    world->share(world, 0, sizeof o->in.result->outcome, o->in.result->outcome);
    o->in.result->outcome_count = (o->train + o->test) * columns_each(o);
}

/* Checks that a measurement has the outcomes of the first one. `from` is the first column. */
static saddle_status check_names(const saddle_outcomes *o, const finding *f, size_t from,
                                 size_t count, saddle_error *error)
{
    bool same = f->count == count;
    for (size_t k = 0; same && k < count; k++)
        same = strcmp(saddle_outcome_name_of(o->in.result->outcome[from + k].name).measure,
                      f->outcome[k].name) == 0;
    if (same)
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_CHECK_FAILED,
        "outcomes() of the problem gives other outcomes than the first time; give the "
        "same names in the same order");
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void model_task(void *context, saddle_agent *agent)
{
    const saddle_outcomes *o = context;
    const saddle_problem *problem = o->in.instance->problem;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    double *model = o->model + saddle_world_place(o->in.instance->world, agent->id) *
                                   model_size(o->in.instance);
    memcpy(model, view.x, problem->x_dim * sizeof *model);
    memcpy(model + problem->x_dim, view.y, problem->y_dim * sizeof *model);
}

/* Returns the model of an agent of the network; a centralized algorithm has one for all agents. */
static double *model_of(const saddle_outcomes *o, size_t agent)
{
    const saddle_world *world = o->in.instance->world;
    size_t place = o->in.instance->copies > 1       ? 0
                   : saddle_world_has(world, agent) ? saddle_world_place(world, agent)
                                                    : world->local;
    return o->model + place * model_size(o->in.instance);
}

/* Measures an agent's model on some rows. */
static saddle_status measure_agent(saddle_outcomes *o, size_t agent,
                                   const saddle_outcome_rows *rows, size_t from, size_t count,
                                   saddle_error *error)
{
    const saddle_problem *problem = o->in.instance->problem;
    const double *model = model_of(o, agent);
    finding f = {.rows = from == 0 ? SADDLE_ROWS_TRAIN : SADDLE_ROWS_TEST};
    saddle_status status = saddle_outcomes_of(problem, rows, model, model + problem->x_dim,
                                              f.outcome, &f.count, error);
    SADDLE_THEN(status, check_names(o, &f, from, count, error));
    for (size_t k = 0; status == SADDLE_OK && k < count; k++)
        o->value[agent * SADDLE_MOST_OUTCOMES + k] = f.outcome[k].value;
    return status;
}

/* Measures every agent's model on its own rows, or on the rows of all agents that count if the problem
 * does not say which rows are whose. */
static saddle_status measure_own(saddle_outcomes *o, const saddle_members *members,
                                 saddle_error *error)
{
    const saddle_world *world = o->in.network->world;
    saddle_dataset *const *shard = o->in.shard;
    size_t bytes = model_size(o->in.network) * sizeof *o->model;
    saddle_status status = SADDLE_OK;
    for (size_t i = 0; i < world->agents; i++) {
        if (shard == NULL) {
            world->share(world, world->home[i], bytes, model_of(o, i));
            /* Collective, so call it whatever failed before. */
            saddle_outcome_rows rows = {.counted = members->counted};
            saddle_status one = measure_agent(o, i, &rows, 0, o->train, error);
            status = status == SADDLE_OK ? one : status;
        } else if (status == SADDLE_OK && saddle_world_has(world, i)) {
            saddle_outcome_rows rows = {.held_out = shard[i]};
            status = measure_agent(o, i, &rows, 0, o->train, error);
        }
    }
    saddle_world_fill(world, SADDLE_MOST_OUTCOMES, o->value);
    return status;
}

/* Measures every agent's model on the held-out rows, which process 0 has. */
static saddle_status measure_held_out(saddle_outcomes *o, saddle_error *error)
{
    const saddle_world *world = o->in.network->world;
    size_t bytes = model_size(o->in.network) * sizeof *o->model;
    saddle_outcome_rows rows = {.held_out = o->in.network->held_out};
    saddle_status status = SADDLE_OK;
    for (size_t i = 0; i < world->agents; i++) {
        if (world->home[i] != 0 && (world->rank == 0 || saddle_world_has(world, i)))
            world->transfer(world, world->home[i], 0, bytes, model_of(o, i));
        if (world->rank == 0 && status == SADDLE_OK)
            status = measure_agent(o, i, &rows, o->train, o->test, error);
    }
    return status;
}

/* Computes the minimum, mean and maximum over the agents that count and have this outcome. */
static void spread_over_agents(const saddle_outcomes *o, const saddle_members *members,
                               size_t count, double *out)
{
    for (size_t k = 0; k < count; k++, out += SPREAD) {
        double sum = 0.0;
        size_t defined = 0;
        out[LEAST] = out[MEAN] = out[LARGEST] = (double)NAN;
        for (size_t i = 0; i < o->in.network->problem->agents; i++) {
            double value = o->value[i * SADDLE_MOST_OUTCOMES + k];
            if (isnan(value) || (members->counted != NULL && !members->counted[i]))
                continue;
            out[LEAST] = fmin(out[LEAST], value);
            out[LARGEST] = fmax(out[LARGEST], value);
            sum += value;
            defined++;
        }
        if (defined > 0)
            out[MEAN] = sum / (double)defined;
    }
}

static saddle_status measure_agents(saddle_outcomes *o, const saddle_members *members, double *out,
                                    saddle_error *error)
{
    o->in.engine->kind->for_each(o->in.engine, model_task, o);
    saddle_status status = measure_own(o, members, error);
    spread_over_agents(o, members, o->train, out);
    if (o->test == 0)
        return status;
    saddle_error why;
    saddle_status held_out = measure_held_out(o, status == SADDLE_OK ? error : &why);
    spread_over_agents(o, members, o->test, out + SPREAD * o->train);
    return status == SADDLE_OK ? held_out : status;
}

saddle_status saddle_outcomes_measure(saddle_outcomes *o, const double *x, const double *y,
                                      double *out, saddle_error *error)
{
    const saddle_instance *e = o->in.network;
    const saddle_problem *problem = o->in.instance->problem;
    finding train = {.rows = SADDLE_ROWS_TRAIN};
    finding test = {.rows = SADDLE_ROWS_TEST};
    saddle_members members = {.counted = NULL};
    if (o->in.instance->churn != NULL)
        o->in.engine->kind->membership(o->in.engine, &members);
    saddle_outcome_rows own = {.counted = members.counted};
    saddle_outcome_rows held_out = {.held_out = e->held_out};
    saddle_status status =
        saddle_outcomes_of(problem, &own, x, y, train.outcome, &train.count, error);
    SADDLE_THEN_IF(status, e->held_out != NULL,
                   saddle_outcomes_of(problem, &held_out, x, y, test.outcome, &test.count, error));
    SADDLE_THEN_IF(status, o->known, check_names(o, &train, 0, o->train, error));
    SADDLE_THEN_IF(status, o->known && e->held_out != NULL,
                   check_names(o, &test, o->train, o->test, error));
    SADDLE_TRY(saddle_world_agree(e->world, status, error));
    if (!o->known)
        learn_columns(o, &train, &test);
    size_t first = o->train + o->test;
    for (size_t k = 0; k < first; k++)
        out[k] = k < o->train ? train.outcome[k].value : test.outcome[k - o->train].value;
    if (o->in.per_agent)
        status = measure_agents(o, &members, out + first, error);
    e->world->share(e->world, 0, o->in.result->outcome_count * sizeof *out, out);
    return status;
}
