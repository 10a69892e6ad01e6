#include "run/plan_files.h"

#include <sys/stat.h>

#include <saddle/data.h>

#include "checkpoint/checkpoint.h"
#include "core/sha256.h"
#include "data/dataset.h"
#include "data/readers.h"
#include "files/file.h"
#include "files/pattern.h"
#include "files/plugin.h"
#include "instance/plan.h"
#include "run/model_file.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Adds a data file, and the label file next to it if there is one. */
static void add_data_file(const char *what, const char *path, saddle_path_list *inputs)
{
    char *labels = NULL;
    saddle_path_list_add(inputs, what, path);
    if (saddle_idx_find_labels(path, &labels, NULL) == SADDLE_NO_MEMORY)
        inputs->short_of_memory = true;
    saddle_path_list_add(inputs, "--labels", labels);
    saddle_free(labels);
}

/* Adds those of the agents' files part-0, part-1, ... that are on this machine. */
static void add_parts(const char *what, const char *pattern, saddle_path_list *inputs)
{
    struct stat status;
    bool there = saddle_pattern_check(pattern, NULL) == SADDLE_OK;
    for (size_t agent = 0; there; agent++) {
        char *part = saddle_pattern_name(pattern, agent);
        if (part == NULL)
            inputs->short_of_memory = true;
        there = part != NULL && stat(part, &status) == 0;
        if (there)
            add_data_file(what, part, inputs);
        saddle_free(part);
    }
}

void saddle_data_add_inputs(const char *what, const char *name, saddle_path_list *inputs)
{
    char *path = NULL;
    if (*name == '\0' || saddle_data_is_generated(name))
        return;
    add_parts(what, name, inputs);
    /* A name that is not a file is refused when it is used. */
    saddle_status found = saddle_data_find(name, &path, NULL);
    if (found == SADDLE_OK)
        add_data_file(what, path, inputs);
    inputs->short_of_memory = inputs->short_of_memory || found == SADDLE_NO_MEMORY;
    saddle_free(path);
}

/* Adds the file of a starting point, unless it is also the plan's model: replacing the model
 * that a run starts from is allowed. */
static void add_start(const char *what, const char *rule, const saddle_plan *plan,
                      saddle_path_list *inputs)
{
    size_t before = inputs->count;
    saddle_path_list_add_rule(inputs, what, rule);
    while (plan->outputs.model != NULL && inputs->count > before &&
           saddle_same_file(inputs->entry[inputs->count - 1].path, plan->outputs.model))
        saddle_free(inputs->entry[--inputs->count].path);
}

/* Adds the checkpoint that is resumed: a file, or all checkpoints of a directory. */
static void add_checkpoints(const char *what, const char *place, saddle_path_list *inputs)
{
    char *path = NULL;
    struct stat status;
    if (stat(place, &status) != 0)
        return;
    if (!S_ISDIR(status.st_mode))
        saddle_path_list_add(inputs, what, place);
    for (size_t age = 0; S_ISDIR(status.st_mode); age++) {
        saddle_status found = saddle_checkpoint_find(&path, place, age, NULL);
        inputs->short_of_memory = inputs->short_of_memory || found == SADDLE_NO_MEMORY;
        if (found != SADDLE_OK || path == NULL)
            break;
        saddle_path_list_add(inputs, what, path);
        saddle_free(path);
    }
}

/* Adds the values in PATH:name=value,name=value, whatever they are: the options of a plug-in may name files. */
static void add_own_values(const char *option, const char *text, saddle_path_list *inputs)
{
    while ((text = strchr(text, '=')) != NULL) {
        text++;
        char *value = saddle_format("%.*s", (int)strcspn(text, ","), text);
        if (value == NULL) {
            inputs->short_of_memory = true;
            return;
        }
        add_parts(option, value, inputs);
        saddle_path_list_add(inputs, option, value);
        saddle_free(value);
    }
}

/* Adds the files that the value of an option names. */
static void add_inputs(const saddle_option *option, const char *value, const saddle_plan *plan,
                       saddle_path_list *inputs)
{
    char what[80];
    saddle_snprintf(what, sizeof what, "--%s", option->name);
    switch (option->files) {
    case SADDLE_FILES_INPUT:
        add_parts(what, value, inputs);
        saddle_path_list_add(inputs, what, value);
        break;
    case SADDLE_FILES_DATA:
        saddle_data_add_inputs(what, value, inputs);
        break;
    case SADDLE_FILES_RULE:
        saddle_path_list_add_rule(inputs, what, value);
        break;
    case SADDLE_FILES_START:
        add_start(what, value, plan, inputs);
        break;
    case SADDLE_FILES_CODE:
        saddle_plugin_add_paths(inputs, what, value);
        add_own_values(what, value, inputs);
        break;
    case SADDLE_FILES_CHECKPOINT:
        add_checkpoints(what, value, inputs);
        break;
    case SADDLE_FILES_NONE:
    case SADDLE_FILES_OUTPUT:
        break;
    }
}

void saddle_plan_add_inputs(const saddle_plan *plan, saddle_path_list *inputs)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        add_inputs(option, SADDLE_PLAN_TEXT(plan, option), plan, inputs);
    }
}

saddle_status saddle_plan_keep_inputs(const saddle_plan *plan, const char *path,
                                      saddle_error *error)
{
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_path_list_add(&outputs, "path", path);
    saddle_plan_add_inputs(plan, &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

/* Adds the contents of a file to a hash; a path that is not a regular file has none. */
static void add_contents(const char *path, saddle_sha256 *sum)
{
    unsigned char digest[SADDLE_SHA256_BYTES];
    FILE *file = NULL;
    size_t bytes;
    if (saddle_reading_open_regular(&file, path, "the path of a file", &bytes, NULL) != SADDLE_OK)
        return;
    if (saddle_sha256_file(fileno(file), bytes, digest))
        saddle_sha256_add(sum, digest, sizeof digest);
    fclose(file);
}

saddle_status saddle_plan_add_contents(const saddle_plan *plan, uint64_t *fingerprint,
                                       saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_path_list_release) saddle_path_list files = {.count = 0};
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (option->home == SADDLE_HOME_OWN || option->files == SADDLE_FILES_CODE)
            add_inputs(option, SADDLE_PLAN_TEXT(plan, option), plan, &files);
    }
    if (files.count > 0) {
        unsigned char digest[SADDLE_SHA256_BYTES];
        uint64_t bits;
        saddle_sha256 sum;
        saddle_sha256_begin(&sum);
        for (size_t k = 0; k < files.count; k++)
            add_contents(files.entry[k].path, &sum);
        saddle_sha256_end(&sum, digest);
        memcpy(&bits, digest, sizeof bits);
        *fingerprint += bits;
    }
    return files.short_of_memory ? saddle_no_memory(error, "the paths of files") : SADDLE_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

void saddle_plan_add_outputs(const saddle_plan *plan, saddle_path_list *outputs)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        char what[80];
        saddle_snprintf(what, sizeof what, "--%s", option->name);
        if (option->files == SADDLE_FILES_OUTPUT)
            saddle_path_list_add(outputs, what, SADDLE_PLAN_TEXT(plan, option));
    }
}

saddle_status saddle_plan_check_names(const saddle_plan *plan, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_path_list_release) saddle_path_list outputs = {.count = 0};
    SADDLE_TRY(saddle_model_check_name(plan->outputs.model, error));
    if (plan->outputs.checkpoint != NULL)
        saddle_plan_add_outputs(plan, &outputs);
    if (outputs.short_of_memory)
        return saddle_no_memory(error, "the paths of files");
    for (size_t k = 0; k < outputs.count; k++)
        if (saddle_is_checkpoint_name(saddle_file_name(outputs.entry[k].path)))
            return saddle_refuse(error,
                                 "%s: '%.300s' has the name of a checkpoint; give another name",
                                 outputs.entry[k].what, outputs.entry[k].path);
    return SADDLE_OK;
}
