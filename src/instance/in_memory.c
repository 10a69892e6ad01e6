/* Which objects of a plan are in the caller's memory, instead of named by an option. */
#include "instance/plan.h"

#include <stddef.h>
#include <string.h>

/* The field of an option, and that of the object that replaces it. */
static const struct {
    size_t option;
    size_t object;
} pairs[] = {
    {offsetof(saddle_plan, problem.name), offsetof(saddle_plan, problem.own)},
    {offsetof(saddle_plan, problem.data), offsetof(saddle_plan, problem.own)},
    {offsetof(saddle_plan, problem.data), offsetof(saddle_plan, problem.rows)},
    {offsetof(saddle_plan, problem.data), offsetof(saddle_plan, problem.shards)},
    {offsetof(saddle_plan, problem.test_data), offsetof(saddle_plan, problem.test_rows)},
    {offsetof(saddle_plan, problem.x_set), offsetof(saddle_plan, problem.own_x_set)},
    {offsetof(saddle_plan, problem.y_set), offsetof(saddle_plan, problem.own_y_set)},
    {offsetof(saddle_plan, problem.regularizer), offsetof(saddle_plan, problem.own_regularizer)},
    {offsetof(saddle_plan, network.topology), offsetof(saddle_plan, network.graph)},
    {offsetof(saddle_plan, network.topology), offsetof(saddle_plan, network.weights)},
    {offsetof(saddle_plan, network.mixing), offsetof(saddle_plan, network.weights)},
    {offsetof(saddle_plan, start.init_x), offsetof(saddle_plan, start.x)},
    {offsetof(saddle_plan, start.init_y), offsetof(saddle_plan, start.y)},
    {offsetof(saddle_plan, algorithm.name), offsetof(saddle_plan, algorithm.own)},
};

bool saddle_plan_in_memory(const saddle_plan *plan, const saddle_option *option)
{
    for (size_t k = 0; option->home == SADDLE_HOME_PLAN && k < sizeof pairs / sizeof *pairs; k++) {
        const void *object;
        memcpy(&object, (const char *)plan + pairs[k].object, sizeof object);
        if (pairs[k].option == option->offset && object != NULL)
            return true;
    }
    return false;
}
