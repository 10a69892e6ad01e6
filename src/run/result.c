/* The result of a run: rows, means and copies; and the model that is saved of it. */
#include "run/result.h"

#include "core/vector.h"
#include "core/world.h"
#include "data/columns.h"
#include "instance/plan.h"
#include "instance/same_run.h"
#include "run/model_file.h"
#include "run/plan_files.h"

const char *saddle_stop_text(saddle_stop stop)
{
    static const char *const text[] = {
        [SADDLE_STOP_ITERATIONS] = "all iterations done",
        [SADDLE_STOP_TOLERANCE] = "gap at or below the tolerance",
        [SADDLE_STOP_IFO] = "IFO budget spent",
        [SADDLE_STOP_ROUNDS] = "budget of rounds spent",
        [SADDLE_STOP_SECONDS] = "time budget spent",
        [SADDLE_STOP_NETWORK_SECONDS] = "budget of simulated seconds spent",
        [SADDLE_STOP_CONDITION] = "the condition of stop-when holds",
        [SADDLE_STOP_NO_GAIN] = "no gain for stop-after trace points",
        [SADDLE_STOP_STALLED] = "stalled at its gradient noise",
        [SADDLE_STOP_OSCILLATES] = "x and y oscillate",
        [SADDLE_STOP_INTERRUPTED] = "interrupted",
        [SADDLE_STOP_DIVERGED] = "diverged"};
    return (size_t)stop < sizeof text / sizeof *text ? text[stop] : "unknown";
}

/* Allocates the memory of the means and copies of a result whose sizes are set. */
static void take_copies(saddle_result *result, bool scaled, saddle_allocator *allocator)
{
    result->here = saddle_allocator_block(allocator, result->local, sizeof *result->here);
    result->x_mean = saddle_allocator_block(allocator, result->x_dim, sizeof(double));
    result->y_mean = saddle_allocator_block(allocator, result->y_dim, sizeof(double));
    result->x = saddle_allocator_block(allocator, result->local, result->x_dim * sizeof(double));
    result->y = saddle_allocator_block(allocator, result->local, result->y_dim * sizeof(double));
    result->disagreement = saddle_allocator_block(allocator, result->agents, sizeof(double));
    if (scaled) {
        result->mean = saddle_allocator_block(allocator, result->features, sizeof(double));
        result->deviation = saddle_allocator_block(allocator, result->features, sizeof(double));
    }
}

static void set_sizes(saddle_result *result, const saddle_instance *instance)
{
    result->agents = instance->problem->agents;
    result->local = instance->world->local;
    result->x_dim = instance->problem->x_dim;
    result->y_dim = instance->problem->y_dim;
    result->features = instance->features;
}

double saddle_result_bytes(const saddle_instance *instance)
{
    saddle_result result;
    saddle_allocator allocator = {.count_only = true};
    set_sizes(&result, instance);
    take_copies(&result, instance->mean != NULL, &allocator);
    return allocator.bytes + saddle_block_bytes(1, sizeof result);
}

saddle_status saddle_result_create(saddle_result **out, const saddle_instance *instance,
                                   saddle_error *error)
{
    *out = NULL;
    saddle_allocator allocator = {0};
    saddle_result *result = saddle_alloc(1, sizeof *result);
    SADDLE_TRY(saddle_check_memory(result, "the result", error));
    set_sizes(result, instance);
    take_copies(result, instance->mean != NULL, &allocator);
    if (allocator.failed) {
        saddle_result_free(result);
        return saddle_no_memory(error, "the result");
    }
    memcpy(result->here, instance->world->here, result->local * sizeof *result->here);
    result->columns = saddle_columns_share(instance->columns);
    if (instance->mean != NULL) {
        memcpy(result->mean, instance->mean, result->features * sizeof *result->mean);
        memcpy(result->deviation, instance->deviation,
               result->features * sizeof *result->deviation);
    }
    *out = result;
    return SADDLE_OK;
}

void saddle_result_free(saddle_result *result)
{
    if (result == NULL)
        return;
    saddle_free(result->rows);
    saddle_free(result->outcomes);
    saddle_free(result->x_mean);
    saddle_free(result->y_mean);
    saddle_free(result->here);
    saddle_free(result->x);
    saddle_free(result->y);
    saddle_free(result->disagreement);
    saddle_plan_free(&result->plan);
    saddle_free(result->title);
    saddle_free(result->checkpoint);
    saddle_columns_free(result->columns);
    saddle_free(result->mean);
    saddle_free(result->deviation);
    saddle_free(result);
}

/* Returns an array of `count` blocks with capacity for one more; the capacity doubles whenever
 * the count reaches a power of two. Returns NULL if memory is short; the array is then
 * unchanged. */
static void *grow(void *array, size_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    void *larger = saddle_alloc(count == 0 ? 1 : 2 * count, bytes);
    if (larger != NULL && count > 0)
        memcpy(larger, array, count * bytes);
    if (larger != NULL)
        saddle_free(array);
    return larger;
}

saddle_status saddle_result_append(saddle_result *result, const saddle_row *row,
                                   const double *outcomes, saddle_error *error)
{
    size_t count = result->row_count;
    size_t width = result->outcome_count;
    saddle_row *rows = grow(result->rows, count, sizeof *rows);
    result->rows = rows != NULL ? rows : result->rows;
    double *values = grow(result->outcomes, count, width * sizeof *values);
    result->outcomes = values != NULL ? values : result->outcomes;
    if (rows == NULL || values == NULL)
        return saddle_no_memory(error, "the trace");
    rows[count] = *row;
    memcpy(values + count * width, outcomes, width * sizeof *values);
    result->row_count++;
    return SADDLE_OK;
}

void saddle_result_measure_disagreement(saddle_result *result, const saddle_world *world)
{
    size_t x_dim = result->x_dim;
    size_t y_dim = result->y_dim;
    for (size_t k = 0; k < result->local; k++)
        result->disagreement[result->here[k]] =
            saddle_distance2(x_dim, result->x + k * x_dim, result->x_mean) +
            saddle_distance2(y_dim, result->y + k * y_dim, result->y_mean);
    saddle_world_fill(world, 1, result->disagreement);
}

double saddle_result_goal(const saddle_result *result)
{
    double tolerance = result->plan.limits.tolerance;
    return tolerance > 0.0 ? tolerance : SADDLE_SOLVED_GAP;
}

double saddle_result_outcome(const saddle_result *result, const char *column)
{
    for (size_t k = 0; k < result->outcome_count; k++)
        if (strcmp(result->outcome[k].name, column) == 0)
            return result->outcomes[result->solution_row * result->outcome_count + k];
    return (double)NAN;
}

double saddle_result_row_bytes(double count, size_t outcomes)
{
    size_t room = 2;
    while ((double)room < count)
        room *= 2;
    size_t bytes = outcomes * sizeof(double);
    /* When the capacity doubles for the last time, the old rows exist until they are copied. */
    return saddle_block_bytes(room, sizeof(saddle_row)) +
           saddle_block_bytes(room / 2, sizeof(saddle_row)) + saddle_block_bytes(room, bytes) +
           saddle_block_bytes(room / 2, bytes);
}

double saddle_result_write_bytes(const saddle_instance *instance)
{
    return saddle_block_bytes(instance->problem->x_dim, sizeof(double)) +
           saddle_block_bytes(instance->problem->y_dim, sizeof(double));
}

/* The effects of settings that do not affect the model. */
#define NOT_IN_MODEL                                                            \
    (SADDLE_EFFECTS(ENGINE) | SADDLE_EFFECTS(OUTPUT) | SADDLE_EFFECTS(RECORD) | \
     SADDLE_EFFECTS(METRIC))

/* Returns all settings that have a value and can change the result, as "name: value" lines, to be
 * freed with free(); NULL if memory is short. No value contains a line break. */
static char *settings_text(const saddle_plan *plan)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        const char *value = SADDLE_PLAN_TEXT(plan, option);
        if (*value != '\0' && !saddle_effect_in(option, NOT_IN_MODEL))
            saddle_fprintf(out, "%s: %s\n", option->name, value);
    }
    bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* All agents' copies of x or y: from the memory of this process, or messages from others, in the order of
 * agents. Those of x are fetched before those of y. */
typedef struct copies {
    const saddle_world *world;
    double *own; /* of the agents in this process */
    size_t dim;
    size_t next; /* number of copies that have been fetched */
} copies;

static void fetch_copy(void *context, size_t agent, double *out)
{
    copies *c = context;
    size_t home = c->world->home[agent];
    c->next = agent + 1;
    if (home == c->world->rank)
        memcpy(out, c->own + saddle_world_place(c->world, agent) * c->dim, c->dim * sizeof *out);
    else
        c->world->transfer(c->world, home, c->world->rank, c->dim * sizeof *out, out);
}

/* Makes the model of a result, which borrows the vectors of the result. */
static saddle_status describe(saddle_saved_model **out, const saddle_result *result,
                              saddle_error *error)
{
    const saddle_plan *plan = &result->plan;
    saddle_saved_model *model = *out = saddle_alloc(1, sizeof *model);
    SADDLE_TRY(saddle_check_memory(model, "the model", error));
    char *settings = settings_text(plan);
    char *columns = result->columns != NULL ? saddle_columns_print(result->columns, false) : NULL;
    *model = (saddle_saved_model){.agents = result->agents,
                                  .x_dim = result->x_dim,
                                  .y_dim = result->y_dim,
                                  .features = result->features,
                                  .iteration = result->rows[result->solution_row].iteration,
                                  .x_mean = result->x_mean,
                                  .y_mean = result->y_mean,
                                  .x = result->x,
                                  .y = result->y,
                                  .borrowed = true,
                                  .problem = saddle_strdup(plan->problem.name),
                                  .algorithm = saddle_strdup(plan->algorithm.name),
                                  .version = saddle_strdup(saddle_version()),
                                  .settings = saddle_strdup(settings),
                                  .columns = saddle_strdup(columns),
                                  .mean = result->mean,
                                  .deviation = result->deviation};
    free(settings);
    free(columns);
    if (model->problem != NULL && model->algorithm != NULL && model->version != NULL &&
        model->settings != NULL && (model->columns != NULL || result->columns == NULL))
        return SADDLE_OK;
    saddle_saved_model_free(model);
    *out = NULL;
    return saddle_no_memory(error, "the model's settings");
}

/* Sends the copies of this process to process 0. */
static void send_copies(const copies *c)
{
    for (size_t k = 0; k < c->world->local; k++)
        c->world->transfer(c->world, c->world->rank, 0, c->dim * sizeof *c->own,
                           c->own + k * c->dim);
}

/* Receives the copies that were not fetched because the file could not be written. */
static void receive_rest(copies *c, double *buffer)
{
    while (c->next < c->world->agents)
        fetch_copy(c, c->next, buffer);
}

saddle_status saddle_result_write(saddle_result *result, const saddle_world *world,
                                  const char *path, saddle_error *error)
{
    copies x = {.world = world, .own = result->x, .dim = result->x_dim};
    copies y = {.world = world, .own = result->y, .dim = result->y_dim};
    saddle_status status = SADDLE_OK;
    if (world->rank == 0) {
        saddle_saved_model *model;
        status = describe(&model, result, error);
        SADDLE_THEN(status, saddle_saved_model_write(model, fetch_copy, &x, &y, path, error));
        saddle_saved_model_free(model);
        receive_rest(&x, result->x_mean);
        receive_rest(&y, result->y_mean);
    } else {
        send_copies(&x);
        send_copies(&y);
    }
    return saddle_world_agree(world, status, error);
}

saddle_status saddle_result_save_own(const saddle_result *result, const char *path,
                                     saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_saved_model_free_at) saddle_saved_model *model = NULL;
    SADDLE_TRY(describe(&model, result, error));
    model->agents = 1;
    model->x_mean = model->x;
    model->y_mean = model->y;
    return saddle_saved_model_write(model, NULL, NULL, NULL, path, error);
}

saddle_status saddle_result_model(const saddle_result *result, saddle_saved_model **out,
                                  saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, result);
    if (result->local < result->agents)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "this process has the copies of only %zu of %zu agents; set "
                           "outputs.model of the plan, so that the run writes all of them",
                           result->local, result->agents);
    return describe(out, result, error);
}

saddle_status saddle_result_save(const saddle_result *result, const char *path, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_saved_model_free_at) saddle_saved_model *model = NULL;
    SADDLE_REQUIRE(error, result, path);
    /* The model that a run started from may be replaced. */
    saddle_plan plan = result->plan;
    plan.outputs.model = path;
    SADDLE_TRY(saddle_plan_keep_inputs(&plan, path, error));
    SADDLE_TRY(saddle_result_model(result, &model, error));
    return saddle_saved_model_save(model, path, error);
}
