/* The plan of a checkpoint's run: displaying it, and copying it into the plan of the run that resumes. */
#include <sys/stat.h>

#include "checkpoint/checkpoint.h"
#include "core/float_mode.h"
#include "core/world.h"
#include "files/file.h"
#include "instance/plan.h"
#include "instance/plan_plugins.h"

/* Returns whether a path is a file, existing or not, in a directory or below it, without other hard links. */
static bool lies_below(const char *path, const char *directory)
{
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (saddle_unwritable(path) != NULL ||
        (there && S_ISREG(status.st_mode) && status.st_nlink > 1))
        return false;
    SADDLE_OWNED char *parent = saddle_directory_of(path);
    SADDLE_MALLOCED char *place = there            ? realpath(path, NULL)
                                  : parent != NULL ? realpath(parent, NULL)
                                                   : NULL;
    SADDLE_MALLOCED char *home = realpath(directory, NULL);
    size_t length = home != NULL ? strlen(home) : 0;
    bool below = place != NULL && home != NULL && strncmp(place, home, length) == 0 &&
                 (place[length] == '/' || (place[length] == '\0' && !there));
    return below;
}

/* Returns the option of a setting that was given to the checkpoint's run and is not given in the plan; NULL
 * for other settings. */
static const saddle_option *taken(const saddle_setting *setting, const saddle_plan *plan)
{
    const saddle_option *option = saddle_plan_find(plan, setting->name);
    return option != NULL && setting->given != NULL && !saddle_plan_given(plan, option) ? option
                                                                                        : NULL;
}

/* Fails if resuming would overwrite a file because a checkpoint, which may come from anyone, names it.
 * Files in the checkpoint's own directory are allowed. */
static saddle_status check_outputs(const saddle_checkpoint *c, const saddle_plan *plan,
                                   saddle_error *error)
{
    SADDLE_OWNED char *directory = saddle_directory_of(c->path);
    SADDLE_TRY(saddle_check_memory(directory, "a path", error));
    for (size_t k = 0; k < c->settings.count; k++) {
        const saddle_setting *s = &c->settings.setting[k];
        const saddle_option *option = taken(s, plan);
        bool file = option != NULL && option->files == SADDLE_FILES_OUTPUT;
        if (file && *s->given != '\0' && !lies_below(s->given, directory))
            return saddle_refuse(error,
                                 "--%s: '%.300s' lies outside the directory of the checkpoint "
                                 "'%.300s', or is a link; a resumed run writes such a file only if "
                                 "you name it again: set --%s to this path, or to another one",
                                 s->name, s->given, c->path, s->name);
    }
    return SADDLE_OK;
}

/* Gives a plug-in that the plan names the options that the checkpoint's run gave it, unless they are given. */
static saddle_status restore_plugin(const saddle_setting *setting, saddle_plan *plan,
                                    saddle_error *error)
{
    const saddle_option *option = saddle_plan_find(plan, setting->name);
    if (option == NULL || option->files != SADDLE_FILES_CODE || setting->given == NULL ||
        !saddle_recorded_plugin_is(setting->effective, SADDLE_PLAN_TEXT(plan, option)))
        return SADDLE_OK;
    return saddle_plan_restore_plugin(plan, option, setting->given, error);
}

/* Copies the settings of a checkpoint's run. `to_run`: load the plug-ins that the plan names, and fail for
 * others, which are code, because the checkpoint may come from anyone. */
static saddle_status take_settings(const saddle_checkpoint *c, saddle_plan *plan, bool to_run,
                                   saddle_error *error)
{
    SADDLE_TRY(to_run ? saddle_plan_load_plugins(plan, error) : SADDLE_OK);
    for (size_t k = 0; k < c->settings.count; k++) {
        const saddle_setting *s = &c->settings.setting[k];
        const saddle_option *option = taken(s, plan);
        if (to_run && option == NULL)
            SADDLE_TRY(restore_plugin(s, plan, error));
        /* The plan has or will get an object in memory itself; if not, it is refused later. */
        if (option == NULL || (to_run && strcmp(s->given, SADDLE_IN_MEMORY) == 0))
            continue;
        if (to_run && option->files == SADDLE_FILES_CODE && strchr(s->given, '/') != NULL)
            return saddle_refuse(
                error,
                "--%s: '%.300s' is of a run with the plug-in %.200s, and plug-ins are not loaded "
                "because a file names them; if you trust it, give %.200s as --%s",
                s->name, c->path, s->given, s->given, s->name);
        if (option->effect != SADDLE_EFFECT_ENGINE && !SADDLE_IS_FIELD(option, outputs.checkpoint))
            SADDLE_TRY(saddle_plan_set(plan, s->name, s->given, error));
    }
    return SADDLE_OK;
}

/* Adds the own options of a plug-in, which is not loaded, to the text that names it. */
static saddle_status show_own(const saddle_checkpoint *c, saddle_plan *plan, saddle_error *error)
{
    for (size_t j = 0; j < c->settings.count; j++)
        for (size_t k = 0; k < c->settings.count; k++) {
            const saddle_setting *plugin = &c->settings.setting[j];
            const saddle_setting *own = &c->settings.setting[k];
            const saddle_option *option = saddle_plan_find(plan, plugin->name);
            if (option == NULL || option->files != SADDLE_FILES_CODE || own->given == NULL ||
                saddle_plan_find(plan, own->name) != NULL ||
                !saddle_plugin_text_has(plugin->effective, own->name))
                continue;
            SADDLE_OWNED char *text = saddle_format(":%s=%s", own->name, own->given);
            SADDLE_TRY(saddle_check_memory(text, "the settings", error));
            SADDLE_TRY(saddle_plan_restore_plugin(plan, option, text, error));
        }
    return SADDLE_OK;
}

saddle_status saddle_checkpoint_examine(const char *path, saddle_checkpoint_info *out,
                                        saddle_plan *plan, saddle_error *error)
{
    SADDLE_REQUIRE(error, path, out);
    saddle_checkpoint *c = NULL;
    saddle_plan defaults;
    memset(out, 0, sizeof *out);
    saddle_plan_defaults(&defaults, sizeof defaults);
    if (plan != NULL)
        *plan = defaults;
    saddle_status status = saddle_checkpoint_open(&c, path, error);
    SADDLE_THEN_IF(status, plan != NULL, saddle_plan_copy(plan, &defaults, error));
    SADDLE_THEN_IF(status, plan != NULL, take_settings(c, plan, false, error));
    SADDLE_THEN_IF(status, plan != NULL, show_own(c, plan, error));
    if (status == SADDLE_OK) {
        *out = (saddle_checkpoint_info){.iteration = c->number.iteration,
                                        .bytes = c->bytes,
                                        .seconds = c->number.seconds,
                                        .rows = (size_t)c->number.rows,
                                        .agents = (size_t)c->number.agents};
        saddle_snprintf(out->version, sizeof out->version, "%s", c->version);
        if (plan != NULL)
            plan->size = SADDLE_PLAN_SHOWN;
    } else if (plan != NULL) {
        saddle_plan_free(plan);
    }
    saddle_checkpoint_close(c);
    return status;
}

saddle_status saddle_resume_directory(const saddle_resumption *r, saddle_plan *plan,
                                      saddle_error *error)
{
    if (r->from == NULL || plan->outputs.checkpoint != NULL)
        return SADDLE_OK;
    SADDLE_OWNED char *directory = saddle_directory_of(r->from->path);
    return directory != NULL ? saddle_plan_set(plan, "checkpoint", directory, error)
                             : saddle_no_memory(error, "a checkpoint's path");
}

/* Replaces a plan by its copy, completed by the settings of a resumption's checkpoint and its directory
 * for further checkpoints. Collective. */
static saddle_status take_over(const saddle_resumption *r, saddle_plan *plan,
                               const saddle_world *world, saddle_error *error)
{
    saddle_plan with;
    saddle_status status = saddle_plan_copy(&with, plan, error);
    SADDLE_THEN_IF(status, world->rank == 0, check_outputs(r->from, &with, error));
    SADDLE_THEN(status, take_settings(r->from, &with, true, error));
    SADDLE_THEN(status, saddle_resume_directory(r, &with, error));
    status = saddle_world_agree(world, status, error);
    if (status == SADDLE_OK) {
        saddle_plan_free(plan);
        *plan = with;
    } else {
        saddle_plan_free(&with);
    }
    return status;
}

SADDLE_RELEASES(saddle_world, saddle_world_free)

saddle_status saddle_plan_resume(saddle_plan *plan, const saddle_world *world, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan);
    SADDLE_TRY(saddle_plan_check_size(plan, error));
    SADDLE_OWNED_BY(saddle_world_free_at) saddle_world *alone = NULL;
    SADDLE_OWNED_BY(saddle_resume_close) saddle_resumption r = {.from = NULL};
    if (world == NULL)
        SADDLE_TRY(saddle_world_alone(&alone, 0, error));
    world = world != NULL ? world : alone;
    SADDLE_TRY(saddle_resume_open(&r, plan, world, error));
    return r.from != NULL ? take_over(&r, plan, world, error) : SADDLE_OK;
}
