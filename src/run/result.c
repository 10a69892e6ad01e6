/* The result of a run: rows, means and copies; and saving them as NumPy files. */
#include "run/result.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/float_mode.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/vector.h"
#include "core/world.h"
#include "data/columns.h"
#include "files/npz.h"
#include "instance/plan.h"

const char *saddle_stop_text(saddle_stop stop)
{
    switch (stop) {
    case SADDLE_STOP_ITERATIONS:
        return "all iterations done";
    case SADDLE_STOP_TOLERANCE:
        return "metric at or below the tolerance";
    case SADDLE_STOP_IFO:
        return "IFO budget spent";
    case SADDLE_STOP_ROUNDS:
        return "budget of rounds spent";
    case SADDLE_STOP_SECONDS:
        return "time budget spent";
    case SADDLE_STOP_NETWORK_SECONDS:
        return "budget of simulated seconds spent";
    case SADDLE_STOP_CONDITION:
        return "the condition of stop-when holds";
    case SADDLE_STOP_NO_GAIN:
        return "no gain for stop-after trace points";
    case SADDLE_STOP_INTERRUPTED:
        return "interrupted";
    case SADDLE_STOP_DIVERGED:
        return "diverged";
    }
    return "unknown";
}

/* Allocates the memory of the means and copies of a result whose sizes are set. */
static void take_copies(saddle_result *result, saddle_allocator *allocator)
{
    result->here = saddle_allocator_block(allocator, result->local, sizeof *result->here);
    result->x_mean = saddle_allocator_block(allocator, result->x_dim, sizeof(double));
    result->y_mean = saddle_allocator_block(allocator, result->y_dim, sizeof(double));
    result->x = saddle_allocator_block(allocator, result->local, result->x_dim * sizeof(double));
    result->y = saddle_allocator_block(allocator, result->local, result->y_dim * sizeof(double));
    result->disagreement = saddle_allocator_block(allocator, result->agents, sizeof(double));
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
    take_copies(&result, &allocator);
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
    take_copies(result, &allocator);
    if (allocator.failed) {
        saddle_result_free(result);
        return saddle_no_memory(error, "the result");
    }
    memcpy(result->here, instance->world->here, result->local * sizeof *result->here);
    result->columns = saddle_columns_share(instance->columns);
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

/* Returns whether a setting does not affect the model, as those of the engine. */
static bool changes_nothing(const saddle_option *option)
{
    return option->effect == SADDLE_EFFECT_ENGINE || option->effect == SADDLE_EFFECT_OUTPUT ||
           option->effect == SADDLE_EFFECT_RECORD || option->effect == SADDLE_EFFECT_METRIC;
}

/* Returns all settings that have a value and can change the result, as "name: value" lines; NULL
 * if memory is short. No value contains a line break. */
static char *settings_text(const saddle_plan *plan)
{
    size_t bytes = 1;
    size_t count = saddle_plan_option_count(plan);
    for (size_t k = 0; k < count; k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        bytes += strlen(option->name) + strlen(SADDLE_PLAN_TEXT(plan, option)) + sizeof ": \n";
    }
    char *text = saddle_alloc(bytes, 1);
    char *end = text;
    for (size_t k = 0; text != NULL && k < count; k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        const char *value = SADDLE_PLAN_TEXT(plan, option);
        if (*value != '\0' && !changes_nothing(option))
            end +=
                saddle_snprintf(end, bytes - (size_t)(end - text), "%s: %s\n", option->name, value);
    }
    return text;
}

/* The source of all agents' copies: the memory of this process, or messages from others. First
 * the rows of x, then those of y are fetched, in the order of agents. */
typedef struct copies {
    const saddle_world *world;
    const saddle_result *result;
    size_t x_next; /* number of rows of x that have been fetched */
    size_t y_next; /* number of rows of y that have been fetched */
} copies;

static void fetch_copy(const copies *c, size_t agent, size_t dim, const double *own, double *out)
{
    size_t home = c->world->home[agent];
    if (home == c->world->rank)
        memcpy(out, own + saddle_world_place(c->world, agent) * dim, dim * sizeof *out);
    else
        c->world->transfer(c->world, home, c->world->rank, dim * sizeof *out, out);
}

static void fetch_x(void *context, size_t row, double *out)
{
    copies *c = context;
    c->x_next = row + 1;
    fetch_copy(c, row, c->result->x_dim, c->result->x, out);
}

static void fetch_y(void *context, size_t row, double *out)
{
    copies *c = context;
    c->y_next = row + 1;
    fetch_copy(c, row, c->result->y_dim, c->result->y, out);
}

static saddle_status write_model(copies *c, const char *path, saddle_error *error)
{
    const saddle_result *result = c->result;
    uint64_t iterations = result->rows[result->solution_row].iteration;
    uint64_t format = SADDLE_MODEL_FORMAT;
    uint64_t features = result->features;
    char *settings = settings_text(&result->plan);
    char *columns = result->columns != NULL ? saddle_columns_print(result->columns, false) : NULL;
    if (settings == NULL || (columns == NULL && result->columns != NULL)) {
        saddle_free(settings);
        return saddle_no_memory(error, "the model's settings");
    }
    const saddle_array arrays[] = {
        {.name = "format", .kind = SADDLE_ARRAY_WORD, .rank = 0, .data = &format},
        {.name = "xbar",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 1,
         .shape = {result->x_dim},
         .data = result->x_mean},
        {.name = "ybar",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 1,
         .shape = {result->y_dim},
         .data = result->y_mean},
        {.name = "x",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 2,
         .shape = {result->agents, result->x_dim},
         .fetch = fetch_x,
         .context = c},
        {.name = "y",
         .kind = SADDLE_ARRAY_REAL,
         .rank = 2,
         .shape = {result->agents, result->y_dim},
         .fetch = fetch_y,
         .context = c},
        {.name = "iteration", .kind = SADDLE_ARRAY_WORD, .rank = 0, .data = &iterations},
        {.name = "problem",
         .kind = SADDLE_ARRAY_TEXT,
         .rank = 0,
         .data = result->plan.problem.name},
        {.name = "algorithm",
         .kind = SADDLE_ARRAY_TEXT,
         .rank = 0,
         .data = result->plan.algorithm.name},
        {.name = "version", .kind = SADDLE_ARRAY_TEXT, .rank = 0, .data = saddle_version()},
        {.name = "features", .kind = SADDLE_ARRAY_WORD, .rank = 0, .data = &features},
        {.name = "settings", .kind = SADDLE_ARRAY_TEXT, .rank = 0, .data = settings},
        {.name = "columns", .kind = SADDLE_ARRAY_TEXT, .rank = 0, .data = columns},
    };
    size_t count = sizeof arrays / sizeof *arrays - (columns == NULL);
    size_t length = strlen(path);
    bool record = length >= 4 && strcmp(path + length - 4, ".npy") == 0;
    saddle_status status = record ? saddle_npy_write_record(path, arrays, count, error)
                                  : saddle_npz_write(path, arrays, count, error);
    saddle_free(settings);
    free(columns);
    return status;
}

/* Sends the copies of this process to process 0: x of all its agents, then y. */
static void send_copies(const saddle_world *world, const saddle_result *result)
{
    for (size_t k = 0; k < result->local; k++)
        world->transfer(world, world->rank, 0, result->x_dim * sizeof(double),
                        result->x + k * result->x_dim);
    for (size_t k = 0; k < result->local; k++)
        world->transfer(world, world->rank, 0, result->y_dim * sizeof(double),
                        result->y + k * result->y_dim);
}

/* Receives the copies that were not fetched because the file could not be written; x_mean and
 * y_mean of the result serve as buffers. */
static void receive_rest(copies *c, double *x, double *y)
{
    for (size_t i = c->x_next; i < c->result->agents; i++)
        fetch_x(c, i, x);
    for (size_t i = c->y_next; i < c->result->agents; i++)
        fetch_y(c, i, y);
}

saddle_status saddle_result_write(saddle_result *result, const saddle_world *world,
                                  const char *path, saddle_error *error)
{
    copies c = {.world = world, .result = result};
    saddle_status status = SADDLE_OK;
    if (world->rank == 0) {
        status = write_model(&c, path, error);
        receive_rest(&c, result->x_mean, result->y_mean);
    } else {
        send_copies(world, result);
    }
    return saddle_world_agree(world, status, error);
}

saddle_status saddle_result_save(const saddle_result *result, const char *path, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, result, path);
    if (result->local < result->agents)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "this process has the copies of only %zu of %zu agents; set "
                           "outputs.model of the plan, so that the run writes all of them",
                           result->local, result->agents);
    saddle_world *world = NULL;
    SADDLE_TRY(saddle_world_alone(&world, result->agents, error));
    copies c = {.world = world, .result = result};
    saddle_status status = write_model(&c, path, error);
    saddle_world_free(world);
    return status;
}
