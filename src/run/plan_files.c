#include "run/plan_files.h"

#include <string.h>
#include <sys/stat.h>

#include <saddle/data.h>

#include "checkpoint/checkpoint.h"
#include "core/memory.h"
#include "core/status.h"
#include "data/readers.h"
#include "files/pattern.h"
#include "files/plugin.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Adds a data file, and the label file next to it if there is one. */
static void add_data_file(const char *option, const char *path, saddle_path_list *inputs)
{
    char *labels = NULL;
    saddle_path_list_add(inputs, option, path);
    if (saddle_idx_find_labels(path, &labels, NULL) == SADDLE_NO_MEMORY)
        inputs->short_of_memory = true;
    saddle_path_list_add(inputs, "labels", labels);
    saddle_free(labels);
}

/* Adds those of the agents' files part-0, part-1, ... that are on this machine. */
static void add_parts(const char *option, const char *pattern, saddle_path_list *inputs)
{
    struct stat status;
    bool there = saddle_pattern_check(pattern, NULL) == SADDLE_OK;
    for (size_t agent = 0; there; agent++) {
        char *part = saddle_pattern_name(pattern, agent);
        if (part == NULL)
            inputs->short_of_memory = true;
        there = part != NULL && stat(part, &status) == 0;
        if (there)
            add_data_file(option, part, inputs);
        saddle_free(part);
    }
}

void saddle_data_add_inputs(const char *option, const char *name, saddle_path_list *inputs)
{
    char *path = NULL;
    struct stat status;
    if (name == NULL || (strncmp(name, "synthetic", 9) == 0 && stat(name, &status) != 0))
        return;
    add_parts(option, name, inputs);
    /* A name that is not a file is refused when it is used. */
    saddle_status found = saddle_data_find(name, &path, NULL);
    if (found == SADDLE_OK)
        add_data_file(option, path, inputs);
    inputs->short_of_memory = inputs->short_of_memory || found == SADDLE_NO_MEMORY;
    saddle_free(path);
}

/* Adds the file of a starting point, unless it is also the plan's model: replacing the model
 * that a run starts from is allowed. */
static void add_start(const char *option, const char *rule, const saddle_plan *plan,
                      saddle_path_list *inputs)
{
    saddle_path_list_add_rule(inputs, option, rule);
    if (plan->outputs.model != NULL && inputs->count > 0 &&
        inputs->entry[inputs->count - 1].option == option &&
        saddle_same_file(inputs->entry[inputs->count - 1].path, plan->outputs.model))
        saddle_free(inputs->entry[--inputs->count].path);
}

/* Adds the checkpoint that is resumed: a file, or all checkpoints of a directory. */
static void add_checkpoints(const char *option, const char *place, saddle_path_list *inputs)
{
    char *path = NULL;
    struct stat status;
    if (place == NULL || stat(place, &status) != 0)
        return;
    if (!S_ISDIR(status.st_mode))
        saddle_path_list_add(inputs, option, place);
    for (size_t age = 0; S_ISDIR(status.st_mode); age++) {
        saddle_status found = saddle_checkpoint_find(&path, place, age, NULL);
        inputs->short_of_memory = inputs->short_of_memory || found == SADDLE_NO_MEMORY;
        if (found != SADDLE_OK || path == NULL)
            break;
        saddle_path_list_add(inputs, option, path);
        saddle_free(path);
    }
}

void saddle_plan_add_inputs(const saddle_plan *plan, saddle_path_list *inputs)
{
    saddle_data_add_inputs("data", plan->problem.data, inputs);
    saddle_data_add_inputs("test-data", plan->problem.test_data, inputs);
    add_parts("labels", plan->problem.labels != NULL ? plan->problem.labels : "", inputs);
    saddle_path_list_add(inputs, "labels", plan->problem.labels);
    saddle_path_list_add_rule(inputs, "topology", plan->network.topology);
    saddle_path_list_add_rule(inputs, "mixing", plan->network.mixing);
    if (plan->network.links != NULL && strncmp(plan->network.links, "schedule:", 9) == 0)
        saddle_path_list_add(inputs, "links", plan->network.links + 9);
    add_start("init", plan->start.init, plan, inputs);
    add_start("init-x", plan->start.init_x, plan, inputs);
    add_start("init-y", plan->start.init_y, plan, inputs);
    saddle_plugin_add_paths(inputs, "problem", plan->problem.name);
    saddle_plugin_add_paths(inputs, "algorithm", plan->algorithm.name);
    saddle_plugin_add_paths(inputs, "x-set", plan->problem.x_set);
    saddle_plugin_add_paths(inputs, "y-set", plan->problem.y_set);
    saddle_plugin_add_paths(inputs, "regularizer", plan->problem.regularizer);
    add_checkpoints("resume", plan->outputs.resume, inputs);
    add_checkpoints("checkpoint", plan->outputs.checkpoint, inputs);
}

/* ---- outputs --------------------------------------------------------------------------------- */

void saddle_plan_add_outputs(const saddle_plan *plan, saddle_path_list *outputs)
{
    saddle_path_list_add(outputs, "trace", plan->outputs.trace);
    saddle_path_list_add(outputs, "model", plan->outputs.model);
}

saddle_status saddle_plan_check_names(const saddle_plan *plan, saddle_error *error)
{
    const struct {
        const char *option;
        const char *path;
    } output[] = {{"trace", plan->outputs.trace}, {"model", plan->outputs.model}};
    for (size_t k = 0; k < sizeof output / sizeof *output; k++)
        if (plan->outputs.checkpoint != NULL && output[k].path != NULL &&
            saddle_is_checkpoint_name(saddle_file_name(output[k].path)))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "%s: '%.300s' has the name of a checkpoint; give another name",
                               output[k].option, output[k].path);
    return SADDLE_OK;
}
