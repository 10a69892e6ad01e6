/* `saddle checkpoint`: describes a checkpoint, or all checkpoints in a directory. */
#include <sys/stat.h>

#include "cli.h"

/* Describes a checkpoint. If it is valid and *plan is still empty, its plan goes there. */
static saddle_status show(const char *path, saddle_plan *plan)
{
    char bytes[CLI_NUMBER];
    char time[CLI_NUMBER];
    saddle_error error;
    saddle_checkpoint_info info;
    saddle_plan found;
    saddle_status status = saddle_checkpoint_examine(path, &info, &found, &error);
    cli_print("%s\n  ", path);
    if (status == SADDLE_OK)
        cli_print("valid: iteration %llu, %zu trace point%s, %s, %s, saddle %s\n",
                  (unsigned long long)info.iteration, info.rows, SADDLE_PLURAL(info.rows),
                  cli_duration(info.seconds, time), saddle_bytes_text((double)info.bytes, bytes),
                  info.version);
    else
        cli_wrap(2, 2, "%s", error.message);
    if (status == SADDLE_OK && plan->settings == NULL)
        *plan = found;
    else
        saddle_plan_free(&found);
    return status;
}

/* Describes all checkpoints of a directory, newest first; *newest is the status of the first. */
static saddle_status show_all(const char *directory, saddle_plan *plan, saddle_status *newest,
                              saddle_error *error)
{
    for (size_t age = 0;; age++) {
        SADDLE_MALLOCED char *path = NULL;
        SADDLE_TRY(saddle_checkpoint_find(&path, directory, age, error));
        if (path == NULL && age == 0)
            return saddle_refuse(error, "there is no checkpoint in '%s'", directory);
        if (path == NULL)
            return SADDLE_OK;
        saddle_status status = show(path, plan);
        if (age == 0)
            *newest = status;
    }
}

/* Prints the options that were given, as they would be typed. */
static void print_settings(const saddle_plan *plan)
{
    cli_print("\nOptions of the run:\n");
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (saddle_plan_given(plan, option))
            cli_print("  --%s %s\n", option->name, SADDLE_PLAN_TEXT(plan, option));
    }
}

static int run(const cli_arguments *arguments)
{
    const char *path = arguments->operand[0];
    saddle_error error;
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    saddle_status newest = SADDLE_OK;
    struct stat there;
    saddle_status status = SADDLE_OK;
    if (stat(path, &there) != 0)
        status = saddle_refuse(
            &error, "'%s' does not exist; give a checkpoint or a directory of checkpoints", path);
    else if (S_ISDIR(there.st_mode))
        status = show_all(path, &plan, &newest, &error);
    else
        newest = show(path, &plan);
    if (plan.settings != NULL)
        print_settings(&plan);
    return status == SADDLE_OK ? cli_exit_code(newest) : cli_fail(&error);
}

const cli_command cli_checkpoint = {
    .name = "checkpoint",
    .operands = "PATH",
    .summary = "describe a checkpoint, or all checkpoints in a directory",
    .details = "Shows the progress and the options of the run, and checks every byte of each file. "
               "`saddle run --resume PATH` continues from there. The exit status is 2 if the "
               "newest checkpoint is damaged.",
    .values = "@FILE",
    .run = run,
};
