/* The plan of a checkpoint's run: displaying it, and copying it into the plan of the run that resumes. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint/checkpoint.h"
#include "core/float_mode.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/world.h"
#include "files/file.h"
#include "files/plugin.h"
#include "graph/link_model.h"
#include "instance/plan.h"

/* Appends a piece of a setting's value, with the path of a plug-in replaced by the first digits of its
 * file's SHA-256. */
static void print_piece(FILE *out, const char *text, size_t length)
{
    char piece[PATH_MAX];
    unsigned char sum[SADDLE_SHA256_BYTES];
    saddle_snprintf(piece, sizeof piece, "%.*s", (int)length, text);
    if (length >= sizeof piece || !saddle_plugin_named(piece) || !saddle_plugin_sum(piece, sum)) {
        fwrite(text, 1, length, out);
        return;
    }
    fputs("plug-in ", out);
    for (size_t k = 0; k < 8; k++)
        saddle_fprintf(out, "%02x", sum[k]);
    fputs(piece + strcspn(piece, ":"), out);
}

/* Returns the value of an option whose file's contents count, not its path. NULL when memory is short. */
static char *file_value(const char *path)
{
    unsigned char sum[SADDLE_SHA256_BYTES];
    FILE *file;
    size_t bytes;
    if (saddle_reading_open_regular(&file, path, "the path of a text file", &bytes, NULL) !=
        SADDLE_OK)
        return saddle_strdup(path);
    bool good = saddle_sha256_file(fileno(file), bytes, sum);
    fclose(file);
    return good ? saddle_format(SADDLE_FILE_VALUE "%02x%02x%02x%02x%02x%02x%02x%02x", sum[0],
                                sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7])
                : NULL;
}

char *saddle_checkpoint_value(const saddle_option *option, const char *text)
{
    char *printed = NULL;
    size_t bytes;
    if (option->home == SADDLE_HOME_PLAN && *text != '\0' &&
        (option->offset == offsetof(saddle_plan, network.churn) ||
         (option->offset == offsetof(saddle_plan, network.link_model) &&
          saddle_link_model_is_file(text))))
        return file_value(text);
    if (!option->no_path_in_file || strchr(text, '/') == NULL)
        return saddle_strdup(text);
    FILE *out = open_memstream(&printed, &bytes);
    if (out == NULL)
        return NULL;
    /* A set of blocks, such as blocks:2*./mine.so,*none, can contain a plug-in. */
    for (size_t length; *text != '\0'; text += length) {
        length = strcspn(text, ",*");
        print_piece(out, text, length);
        if (text[length] != '\0')
            fputc(text[length++], out);
    }
    char *value = fclose(out) == 0 ? saddle_strdup(printed) : NULL;
    free(printed);
    return value;
}

/* Fails if a checkpoint names a plug-in that the caller does not: it is code, and the checkpoint may
 * come from anyone. */
static saddle_status refuse_plugin(const saddle_checkpoint *c, const char *name, const char *text,
                                   saddle_error *error)
{
    return saddle_fail(
        error, SADDLE_BAD_INPUT,
        "%s: '%.300s' is of a run with the plug-in %.200s, and plug-ins are not loaded "
        "because a file names them; if you trust it, give %.200s as the %s",
        name, c->path, text, text, name);
}

/* Returns whether a path is a file, existing or not, in a directory or below it, without other hard links. */
static bool lies_below(const char *path, const char *directory)
{
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (saddle_dead_link(path) != NULL || (there && S_ISREG(status.st_mode) && status.st_nlink > 1))
        return false;
    char *parent = saddle_directory_of(path);
    char *place = there ? realpath(path, NULL) : parent != NULL ? realpath(parent, NULL) : NULL;
    char *home = realpath(directory, NULL);
    size_t length = home != NULL ? strlen(home) : 0;
    bool below = place != NULL && home != NULL && strncmp(place, home, length) == 0 &&
                 (place[length] == '/' || (place[length] == '\0' && !there));
    free(home);
    free(place);
    saddle_free(parent);
    return below;
}

/* Fails if resuming would overwrite a file because a checkpoint, which may come from anyone, names it.
 * Files in the checkpoint's own directory are allowed. */
static saddle_status check_outputs(const saddle_checkpoint *c, const saddle_plan *plan,
                                   saddle_error *error)
{
    char *directory = saddle_directory_of(c->path);
    saddle_status status = saddle_check_memory(directory, "a path", error);
    for (size_t k = 0; status == SADDLE_OK && k < c->number.settings; k++) {
        const char *name = c->setting[k].name;
        const char *given = c->setting[k].given;
        const saddle_option *option = saddle_plan_find(plan, name);
        if (option == NULL || given == NULL || *given == '\0' ||
            option->effect != SADDLE_EFFECT_OUTPUT || option->values == NULL ||
            strcmp(option->values, "@FILE") != 0 || saddle_plan_given(plan, option))
            continue;
        if (!lies_below(given, directory))
            status = saddle_fail(
                error, SADDLE_BAD_INPUT,
                "%s: '%.300s' lies outside the directory of the checkpoint '%.300s', or is a link; "
                "a resumed run writes such a file only if you name it again: set %s to this path, "
                "or to another one",
                name, given, c->path, name);
    }
    saddle_free(directory);
    return status;
}

/* Copies settings that were given to the checkpoint's run and are not given in the plan. `to_run`: fail
 * for plug-ins. */
static saddle_status take_settings(const saddle_checkpoint *c, saddle_plan *plan, bool to_run,
                                   saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < c->number.settings; k++) {
        const char *name = c->setting[k].name;
        const saddle_option *option = saddle_plan_find(plan, name);
        if (option == NULL || c->setting[k].given == NULL || saddle_plan_given(plan, option))
            continue;
        bool checkpoint = option->home == SADDLE_HOME_PLAN &&
                          option->offset == offsetof(saddle_plan, outputs.checkpoint);
        /* The plan has or will get the object itself; if not, it is refused later. */
        if (to_run && strcmp(c->setting[k].given, SADDLE_IN_MEMORY) == 0)
            continue;
        if (to_run && option->no_path_in_file && strchr(c->setting[k].given, '/') != NULL)
            return refuse_plugin(c, name, c->setting[k].given, error);
        if (option->effect != SADDLE_EFFECT_ENGINE && !checkpoint)
            status = saddle_plan_set(plan, name, c->setting[k].given, error);
    }
    return status;
}

/* Creates an empty plan to copy settings into. */
static saddle_status open_plan(saddle_plan *plan, saddle_error *error)
{
    saddle_plan defaults;
    saddle_plan_defaults(&defaults, sizeof defaults);
    return saddle_plan_copy(plan, &defaults, error);
}

saddle_status saddle_checkpoint_examine(const char *path, saddle_checkpoint_info *out,
                                        saddle_plan *plan, saddle_error *error)
{
    SADDLE_REQUIRE(error, path, out);
    saddle_checkpoint *c = NULL;
    memset(out, 0, sizeof *out);
    if (plan != NULL)
        saddle_plan_defaults(plan, sizeof *plan);
    saddle_status status = saddle_checkpoint_open(&c, path, error);
    SADDLE_THEN_IF(status, plan != NULL, open_plan(plan, error));
    SADDLE_THEN_IF(status, plan != NULL, take_settings(c, plan, false, error));
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

saddle_status saddle_checkpoint_check_memory(const saddle_checkpoint *c,
                                             const saddle_run_info *info, saddle_error *error)
{
    for (size_t k = 0; k < c->number.settings; k++) {
        const char *name = c->setting[k].name;
        const saddle_option *option = saddle_plan_find(info->plan, name);
        if (option == NULL || c->setting[k].given == NULL ||
            strcmp(c->setting[k].given, SADDLE_IN_MEMORY) != 0)
            continue;
        const saddle_plan *plan =
            option->stage == SADDLE_STAGE_INSTANCE ? info->network->plan : info->given;
        if (!saddle_plan_in_memory(plan, option) && !saddle_plan_given(plan, option))
            return saddle_fail(
                error, SADDLE_BAD_INPUT,
                "%s: the run of the checkpoint '%.300s' had this in memory; such a run "
                "can only be resumed from C, with the same object in the plan",
                name, c->path);
    }
    return SADDLE_OK;
}

saddle_status saddle_resume_directory(const saddle_resumption *r, saddle_plan *plan,
                                      saddle_error *error)
{
    if (r->from == NULL || plan->outputs.checkpoint != NULL)
        return SADDLE_OK;
    char *directory = saddle_directory_of(r->from->path);
    saddle_status status = directory != NULL ? saddle_plan_set(plan, "checkpoint", directory, error)
                                             : saddle_no_memory(error, "a checkpoint's path");
    saddle_free(directory);
    return status;
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

saddle_status saddle_plan_resume(saddle_plan *plan, const saddle_world *world, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan);
    SADDLE_TRY(saddle_plan_check_size(plan, error));
    saddle_resumption r = {.from = NULL};
    saddle_world *alone = NULL;
    if (world == NULL)
        SADDLE_TRY(saddle_world_alone(&alone, 0, error));
    world = world != NULL ? world : alone;
    saddle_status status = saddle_resume_open(&r, plan, world, error);
    SADDLE_THEN_IF(status, r.from != NULL, take_over(&r, plan, world, error));
    saddle_resume_close(&r);
    saddle_world_free(alone);
    return status;
}
