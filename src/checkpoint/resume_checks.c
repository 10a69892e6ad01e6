/* Resuming from a checkpoint: checking that it belongs to the run. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "instance/instance.h"

/* Returns whether a setting may differ between a checkpoint and the run that resumes from it. */
static bool may_change(const saddle_option *option, const saddle_algorithm *algorithm)
{
    /* A limit on IFO calls can cut inner loops short. */
    if (option->home == SADDLE_HOME_PLAN && option->offset == offsetof(saddle_plan, limits.max_ifo))
        return !algorithm->respects_limit;
    return option->effect != SADDLE_EFFECT_RESULT && option->effect != SADDLE_EFFECT_RECORD &&
           option->effect != SADDLE_EFFECT_METRIC;
}

/* Returns whether two texts are the same value of an option. */
static bool same_value(const saddle_option *option, const char *own, const char *other)
{
    double a;
    double b;
    if (strcmp(own, other) == 0)
        return true;
    if (option->kind != SADDLE_OPTION_REAL && option->kind != SADDLE_OPTION_INTEGER)
        return false;
    return saddle_parse_real(own, &a) && saddle_parse_real(other, &b) && a == b;
}

/* Compares a setting of a checkpoint with the run's value `own`, in the form that checkpoints compare. */
static saddle_status check_setting(const saddle_checkpoint *c,
                                   const saddle_checkpoint_setting *setting,
                                   const saddle_run_info *info, const saddle_option *option,
                                   const char *own, saddle_error *error)
{
    if (may_change(option, info->algorithm) || same_value(option, own, setting->effective))
        return SADDLE_OK;
    if (option->no_path_in_file && strstr(own, "plug-in ") != NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%.200s' is not what the run of the checkpoint '%s' used: that was "
                           "'%.100s', this is '%.100s' (the first digits of the file's SHA-256 "
                           "and the options); give the same object with the same options",
                           setting->name, SADDLE_PLAN_TEXT(info->plan, option), c->path,
                           setting->effective, own);
    if (strncmp(own, SADDLE_FILE_VALUE, strlen(SADDLE_FILE_VALUE)) == 0 &&
        strncmp(setting->effective, SADDLE_FILE_VALUE, strlen(SADDLE_FILE_VALUE)) == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%.200s' has changed since the run of the checkpoint '%s': its "
                           "SHA-256 begins with %.16s now, and with %.16s then; restore it",
                           setting->name, SADDLE_PLAN_TEXT(info->plan, option), c->path,
                           own + strlen(SADDLE_FILE_VALUE),
                           setting->effective + strlen(SADDLE_FILE_VALUE));
    bool none_there = *setting->effective == '\0';
    bool none_here = *own == '\0';
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "a resumed run cannot change %s: it is %s%.100s%s in the checkpoint '%s' "
                       "and %s%.100s%s here; give the same value, or leave it out",
                       setting->name, none_there ? "not given" : "'", setting->effective,
                       none_there ? "" : "'", c->path, none_here ? "not given" : "'", own,
                       none_here ? "" : "'");
}

/* Compares the settings that one of the runs was given or, if not `given`, the others, which may
 * follow from those. */
static saddle_status check_settings(const saddle_checkpoint *c, const saddle_run_info *info,
                                    bool given, saddle_error *error)
{
    const saddle_plan *effective = info->plan;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < c->number.settings; k++) {
        const saddle_checkpoint_setting *setting = &c->setting[k];
        const saddle_option *option = saddle_plan_find(effective, setting->name);
        if (option == NULL)
            return saddle_fail(
                error, SADDLE_BAD_INPUT,
                "the checkpoint '%s' belongs to another run: %s is '%.100s' there, and "
                "this one has no such setting; give the options that the checkpoint "
                "records, or leave them out",
                c->path, setting->name, setting->effective);
        bool chosen = setting->given != NULL || saddle_plan_given(info->given, option);
        if (chosen != given)
            continue;
        char *own = saddle_checkpoint_value(option, SADDLE_PLAN_TEXT(effective, option));
        status = own != NULL ? check_setting(c, setting, info, option, own, error)
                             : saddle_no_memory(error, "a checkpoint");
        saddle_free(own);
    }
    return status;
}

/* Appends the given files that the fingerprint depends on, such as " data people.csv, links
 * schedule:links.txt". */
static void list_files(const saddle_run_info *info, char *out, size_t size)
{
    const saddle_plan *plan = info->given;
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (option->home != SADDLE_HOME_PLAN || option->stage != SADDLE_STAGE_INSTANCE ||
            option->kind != SADDLE_OPTION_TEXT || !saddle_plan_given(plan, option))
            continue;
        const char *value = SADDLE_PLAN_TEXT(plan, option);
        bool file = strncmp(value, "file:", 5) == 0 || strncmp(value, "schedule:", 9) == 0;
        if (file || option->effect == SADDLE_EFFECT_SOURCE || access(value, F_OK) == 0)
            saddle_append(out, size, "%s %s %.200s", *out == '\0' ? "" : ",", option->name, value);
    }
}

/* Compares what the settings do not show: the data, and all sizes. */
static saddle_status check_numbers(const saddle_checkpoint *c, const saddle_resuming_run *run,
                                   saddle_error *error)
{
    const saddle_checkpoint_numbers *n = &c->number;
    const saddle_checkpoint_numbers *wanted = run->number;
    char files[512] = "";
    const struct {
        const char *name;
        uint64_t there;
        uint64_t here;
    } size[] = {{"agents", n->agents, wanted->agents},
                {"entries of x", n->x_dim, wanted->x_dim},
                {"entries of y", n->y_dim, wanted->y_dim},
                {"published numbers per agent", n->published, wanted->published},
                {"kept numbers per agent", n->kept, wanted->kept},
                {"numbers of the observer", n->memory, wanted->memory},
                {"numbers of links", n->links, wanted->links}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        if (size[k].there != size[k].here)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "the checkpoint '%s' belongs to another run: it has %" PRIu64
                               " %s, but this run has %" PRIu64,
                               c->path, size[k].there, size[k].name, size[k].here);
    if (n->solution != wanted->solution)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "stop-after: the run of the checkpoint '%s' kept %s best solution; %s",
                           c->path, n->solution > 0 ? "its" : "no",
                           n->solution > 0 ? "give a number above 0, or leave it out"
                                           : "leave it out");
    if (n->data != wanted->data) {
        list_files(run->info, files, sizeof files);
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the checkpoint '%s' belongs to a run with other data, or another network, sets or "
            "start (their fingerprint is %016" PRIx64 " there and %016" PRIx64 " here); %s%s",
            c->path, n->data, wanted->data,
            files[0] != '\0' ? "these must be as they were then:" : "give the same objects", files);
    }
    return SADDLE_OK;
}

/* Checks that the checkpoint can give what the resuming run asks for. */
static saddle_status check_plan(const saddle_checkpoint *c, const saddle_plan *plan,
                                saddle_error *error)
{
    if (plan->limits.iterations < c->number.iteration)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "iterations: the checkpoint '%s' is already at iteration %" PRIu64
                           "; give at least %" PRIu64 " (got %" PRIu64 ")",
                           c->path, c->number.iteration, c->number.iteration,
                           plan->limits.iterations);
    return SADDLE_OK;
}

saddle_status saddle_resume_check(const saddle_checkpoint *c, const saddle_resuming_run *wanted,
                                  saddle_error *error)
{
    if (strcmp(c->version, saddle_version()) != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the checkpoint '%s' is of saddle %.40s, but this is %s, which may give "
                           "different results; resume it with that version",
                           c->path, c->version, saddle_version());
    saddle_status status = saddle_checkpoint_check_memory(c, wanted->info, error);
    SADDLE_THEN(status, check_settings(c, wanted->info, true, error));
    SADDLE_THEN(status, check_settings(c, wanted->info, false, error));
    SADDLE_THEN(status, check_numbers(c, wanted, error));
    SADDLE_THEN(status, check_plan(c, wanted->info->plan, error));
    return status;
}
