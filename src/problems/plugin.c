/*
 * Shared objects as problems. All that can be known to be wrong is refused before any code of the
 * object is called: a path that cannot be read, a file that is no shared object or has symbols
 * that nobody defines, one without a plug-in in it, and one built for another binary interface.
 */
#include "problems/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/status.h"

#define SYMBOL "saddle_plugin"

struct saddle_plugin_object {
    char *path;          /* PATH, then OPTIONS, in one block */
    const char *options; /* into that block */
    void *handle;
    const saddle_plugin_class *exported; /* in the object */
    saddle_problem_class kind;
};

bool saddle_plugin_named(const char *text)
{
    return memchr(text, '/', strcspn(text, ":")) != NULL;
}

static saddle_status split_text(saddle_plugin_object *plugin, const char *text, saddle_error *error)
{
    size_t length = strcspn(text, ":");
    plugin->path = saddle_strdup(text);
    if (plugin->path == NULL)
        return saddle_no_memory(error, "the plug-in");
    plugin->options = plugin->path + length + (text[length] == ':' ? 1 : 0);
    plugin->path[length] = '\0';
    return SADDLE_OK;
}

/* Refuse what the loader would wait for or describe in its own words. */
static saddle_status check_file(const char *path, saddle_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "cannot read the plug-in '%s': %s; give the path of a shared object",
                           path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the plug-in '%s' is no regular file; give the path of a shared object",
                           path);
    return SADDLE_OK;
}

static saddle_status load(saddle_plugin_object *plugin, saddle_error *error)
{
    const char *path = plugin->path;
    plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin->handle == NULL) {
        const char *reason = dlerror();
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the plug-in '%s' cannot be loaded (%s); give a shared object, built with "
            "-shared -fPIC and linked to all it calls",
            path, reason != NULL ? reason : "no reason given");
    }
    plugin->exported = dlsym(plugin->handle, SYMBOL);
    if (plugin->exported == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the plug-in '%s' exports no symbol " SYMBOL
                           "; define the one that <saddle/plugin.h> declares",
                           path);
    return SADDLE_OK;
}

/* The number comes first: nothing else has a known place when it differs. */
static saddle_status check_exported(const saddle_plugin_object *plugin, saddle_error *error)
{
    const saddle_plugin_class *exported = plugin->exported;
    if (exported->abi == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           SYMBOL " of the plug-in '%s' has no ABI number; set .abi = "
                                  "SADDLE_PLUGIN_ABI",
                           plugin->path);
    if (exported->abi != SADDLE_PLUGIN_ABI)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the plug-in '%s' was built for plug-in ABI %u, but this is %u; build it "
            "again with the headers of saddle %s",
            plugin->path, (unsigned)exported->abi, SADDLE_PLUGIN_ABI, saddle_version());
    if (exported->name == NULL || *exported->name == '\0' || exported->create == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           SYMBOL " of the plug-in '%s' has no %s; set .name and .create",
                           plugin->path, exported->create == NULL ? "create function" : "name");
    return SADDLE_OK;
}

saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text, saddle_error *error)
{
    static const saddle_option *const no_options[] = {NULL};
    *out = NULL;
    saddle_plugin_object *plugin = saddle_alloc(1, sizeof *plugin);
    if (plugin == NULL)
        return saddle_no_memory(error, "the plug-in");
    saddle_status status = split_text(plugin, text, error);
    SADDLE_THEN(status, check_file(plugin->path, error));
    SADDLE_THEN(status, load(plugin, error));
    SADDLE_THEN(status, check_exported(plugin, error));
    if (status != SADDLE_OK) {
        saddle_plugin_close(plugin);
        return status;
    }
    plugin->kind = (saddle_problem_class){
        .name = plugin->exported->name,
        .summary = plugin->exported->summary != NULL ? plugin->exported->summary : "a plug-in",
        .needs_data = plugin->exported->needs_data != 0,
        .options = no_options};
    *out = plugin;
    return SADDLE_OK;
}

void saddle_plugin_close(saddle_plugin_object *plugin)
{
    if (plugin == NULL)
        return;
    if (plugin->handle != NULL)
        dlclose(plugin->handle);
    saddle_free(plugin->path);
    saddle_free(plugin);
}

const saddle_problem_class *saddle_plugin_kind(const saddle_plugin_object *plugin)
{
    return &plugin->kind;
}

const saddle_plugin_class *saddle_plugin_exported(const saddle_plugin_object *plugin)
{
    return plugin->exported;
}

saddle_status saddle_plugin_instance(const saddle_plugin_object *plugin, saddle_problem **out,
                                     const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_error said = {.message = ""};
    saddle_problem *problem = NULL;
    *out = NULL;
    if (plugin->exported->needs_data != 0 && plugin->exported->local_data == 0 &&
        inputs->world->ranks > 1)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "problem: '%s' wants the data of all agents, which are in %zu "
                           "processes; use the engine threads, or have it read the shards of "
                           "inputs->world->here alone and set .local_data = 1",
                           plugin->path, inputs->world->ranks);
    saddle_status status = plugin->exported->create(&problem, plugin->options, inputs, &said);
    if (status != SADDLE_OK)
        return saddle_fail(error, status, "the plug-in '%s': %s", plugin->path,
                           *said.message != '\0'
                               ? said.message
                               : "its create function failed and gave no reason; have it call "
                                 "saddle_fail");
    if (problem == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the create function of the plug-in '%s' made nothing; have it set *out "
                           "or return a failure",
                           plugin->path);
    if (problem->agents != inputs->agents) {
        size_t agents = problem->agents;
        saddle_problem_free(problem);
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the plug-in '%s' made a problem for %zu agents, but there are %zu; give "
            "%zu as agents or have it obey inputs->agents",
            plugin->path, agents, inputs->agents, agents);
    }
    if (problem->name == NULL)
        problem->name = plugin->exported->name;
    *out = problem;
    return SADDLE_OK;
}
