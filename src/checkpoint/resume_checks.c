/* Resuming from a checkpoint: checking that it belongs to the run. */
#include "checkpoint/checkpoint.h"
#include "instance/fingerprint.h"
#include "instance/instance.h"

/* Returns whether a setting may differ between a checkpoint and the run that resumes from it. */
static bool may_change(const saddle_option *option, const saddle_algorithm *algorithm)
{
    /* A limit on IFO calls can cut inner loops short. */
    bool cuts = SADDLE_IS_FIELD(option, limits.max_ifo) && algorithm->respects_limit;
    return option->effect == SADDLE_EFFECT_LENGTH && !cuts;
}

/* Refuses a setting that differs, and says how to restore it. */
static saddle_status refuse_setting(const saddle_checkpoint *c, const saddle_plan *plan,
                                    const saddle_difference *d, saddle_error *error)
{
    const char *name = d->option->name;
    const char *here = d->value_here;
    const char *there = d->value_there;
    size_t before = strlen(SADDLE_FILE_VALUE);
    if (strstr(here, SADDLE_PLUGIN_VALUE) != NULL)
        return saddle_refuse(error,
                             "--%s: '%.200s' is not what the run of the checkpoint '%s' used: that "
                             "was '%.100s', this is '%.100s' (the first digits of the file's "
                             "SHA-256 and the options); give the same object with the same options",
                             name, SADDLE_PLAN_TEXT(plan, d->option), c->path, there, here);
    if (strncmp(here, SADDLE_FILE_VALUE, before) == 0 &&
        strncmp(there, SADDLE_FILE_VALUE, before) == 0)
        return saddle_refuse(error,
                             "--%s: '%.200s' has changed since the run of the checkpoint '%s': its "
                             "SHA-256 begins with %.16s now, and with %.16s then; restore it",
                             name, SADDLE_PLAN_TEXT(plan, d->option), c->path, here + before,
                             there + before);
    return saddle_refuse(error,
                         "a resumed run cannot change --%s: it is %s%.100s%s in the checkpoint "
                         "'%s' and %s%.100s%s here; give the same value, or leave it out",
                         name, *there == '\0' ? "not given" : "'", there, *there == '\0' ? "" : "'",
                         c->path, *here == '\0' ? "not given" : "'", here,
                         *here == '\0' ? "" : "'");
}

/* Fails if the checkpoint's run had an object in memory, such as rows, that this run does not have. */
static saddle_status check_memory(const saddle_checkpoint *c, const saddle_run_info *info,
                                  saddle_error *error)
{
    for (size_t k = 0; k < c->settings.count; k++) {
        const saddle_setting *setting = &c->settings.setting[k];
        const saddle_option *option = saddle_plan_find(info->plan, setting->name);
        if (option == NULL || setting->given == NULL ||
            strcmp(setting->given, SADDLE_IN_MEMORY) != 0)
            continue;
        const saddle_plan *plan =
            option->stage == SADDLE_STAGE_INSTANCE ? info->network->plan : info->given;
        if (!saddle_plan_in_memory(plan, option) && !saddle_plan_given(plan, option))
            return saddle_refuse(
                error,
                "--%s: the run of the checkpoint '%.300s' had this in memory; such a run can only "
                "be resumed from C or Python, where the same object is given again",
                setting->name, c->path);
    }
    return SADDLE_OK;
}

/* Fails if the checkpoint's run had a setting that this run does not have. */
static saddle_status check_known(const saddle_checkpoint *c, const saddle_plan *plan,
                                 saddle_error *error)
{
    for (size_t k = 0; k < c->settings.count; k++)
        if (saddle_plan_find(plan, c->settings.setting[k].name) == NULL)
            return saddle_refuse(error,
                                 "the checkpoint '%s' belongs to another run: %s is '%.100s' "
                                 "there, and this one has no such setting; give the options that "
                                 "the checkpoint records, or leave them out",
                                 c->path, c->settings.setting[k].name,
                                 c->settings.setting[k].effective);
    return SADDLE_OK;
}

/* Returns whether a run chose the value of a setting, rather than leaving it to be found from the data. */
static bool is_chosen(const saddle_recorded *recorded, const char *name)
{
    const char *given = saddle_recorded_find(recorded, name)->given;
    return given != NULL && strcmp(given, "auto") != 0;
}

/* Compares the settings that one of the runs chose, or all others. */
static saddle_status check_settings(const saddle_checkpoint *c, const saddle_run_info *info,
                                    bool chosen, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_recorded_free) saddle_recorded own = {.count = 0};
    SADDLE_TRY(
        saddle_record_settings(&own, info->plan, info->given, info->network->plan, true, error));
    saddle_difference d = {.options = info->plan,
                           .here = {&own, saddle_recorded_value},
                           .there = {&c->settings, saddle_recorded_value},
                           .may_differ = SADDLE_EFFECTS(SOURCE) | SADDLE_EFFECTS(OUTPUT) |
                                         SADDLE_EFFECTS(ENGINE)};
    while (saddle_next_difference(&d)) {
        const char *name = d.option->name;
        if ((is_chosen(&own, name) || is_chosen(&c->settings, name)) == chosen &&
            !may_change(d.option, info->algorithm))
            return refuse_setting(c, info->plan, &d, error);
    }
    return SADDLE_OK;
}

/* Compares what the settings do not show: the contents of the data, the network and other files. */
static saddle_status check_contents(const saddle_checkpoint *c, const saddle_resuming_run *run,
                                    saddle_error *error)
{
    char files[512] = "";
    if (c->number.data == run->number->data)
        return SADDLE_OK;
    saddle_append_inputs(run->info->given, files, sizeof files);
    return saddle_refuse(
        error,
        "the data, or the network, sets, start or a plug-in's files, have changed since the run of "
        "the checkpoint '%s' (their fingerprint is %016" PRIx64 " there and %016" PRIx64
        " here); %s%s",
        c->path, c->number.data, run->number->data,
        files[0] != '\0' ? "these must be as they were then:" : "give the same objects", files);
}

/* Compares all sizes. */
static saddle_status check_numbers(const saddle_checkpoint *c, const saddle_resuming_run *run,
                                   saddle_error *error)
{
    const saddle_checkpoint_numbers *n = &c->number;
    const saddle_checkpoint_numbers *wanted = run->number;
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
            return saddle_refuse(error,
                                 "the checkpoint '%s' belongs to another run: it has %" PRIu64
                                 " %s, but this run has %" PRIu64,
                                 c->path, size[k].there, size[k].name, size[k].here);
    if (n->solution != wanted->solution)
        return saddle_refuse(
            error, "--stop-after: the run of the checkpoint '%s' kept %s best solution; %s",
            c->path, n->solution > 0 ? "its" : "no",
            n->solution > 0 ? "give a number above 0, or leave it out" : "leave it out");
    return SADDLE_OK;
}

/* Checks that the checkpoint can give what the resuming run asks for. */
static saddle_status check_plan(const saddle_checkpoint *c, const saddle_plan *plan,
                                saddle_error *error)
{
    if (plan->limits.iterations < c->number.iteration)
        return saddle_refuse(error,
                             "--iterations: the checkpoint '%s' is already at iteration %" PRIu64
                             "; give at least %" PRIu64 " (got %" PRIu64 ")",
                             c->path, c->number.iteration, c->number.iteration,
                             plan->limits.iterations);
    return SADDLE_OK;
}

saddle_status saddle_resume_check(const saddle_checkpoint *c, const saddle_resuming_run *wanted,
                                  saddle_error *error)
{
    if (strcmp(c->version, saddle_version()) != 0)
        return saddle_refuse(error,
                             "the checkpoint '%s' is of saddle %.40s, but this is %s, which may "
                             "give different results; resume it with that version",
                             c->path, c->version, saddle_version());
    SADDLE_TRY(check_memory(c, wanted->info, error));
    SADDLE_TRY(check_settings(c, wanted->info, true, error));
    SADDLE_TRY(check_known(c, wanted->info->plan, error));
    /* The other settings and the sizes may follow from the data. */
    SADDLE_TRY(check_contents(c, wanted, error));
    SADDLE_TRY(check_settings(c, wanted->info, false, error));
    SADDLE_TRY(check_numbers(c, wanted, error));
    return check_plan(c, wanted->info->plan, error);
}
