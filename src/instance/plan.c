/* Plans: defaults, setting options from text, loading and copying. */
#include "instance/plan.h"

#include <string.h>

#include <saddle/algorithm.h>

#include "algorithms/step_options.h"
#include "core/float_mode.h"
#include "core/option_value.h"
#include "core/status.h"
#include "instance/plan_options.h"

void saddle_plan_defaults_for(saddle_plan *plan, size_t size, uint32_t abi)
{
    memset(plan, 0, size);
    plan->size = size;
    plan->abi = abi;
    /* The program was compiled with other headers: every call refuses this plan. */
    if (size != sizeof *plan)
        return;
    const saddle_option *const *const table[] = {saddle_plan_options(), saddle_step_options};
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        for (const saddle_option *const *option = table[t]; *option != NULL; option++)
            saddle_option_default(*option, plan);
}

void saddle_plan_free(saddle_plan *plan)
{
    if (plan == NULL || (plan->size != sizeof *plan && plan->size != SADDLE_PLAN_SHOWN))
        return;
    saddle_settings_free(plan->settings);
    /* Its texts are freed: every later call refuses this plan. */
    memset(plan, 0, sizeof *plan);
}

saddle_status saddle_plan_check_size(const saddle_plan *plan, saddle_error *error)
{
    if (plan->size == sizeof *plan && plan->abi == SADDLE_ABI)
        return SADDLE_OK;
    if (plan->size == SADDLE_PLAN_SHOWN)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "a plan from saddle_checkpoint_examine() is for inspection only; set "
                           "outputs.resume of your own plan");
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "the plan has %zu bytes and ABI %u, but saddle %s expects %zu and %u; call "
                       "saddle_plan_defaults(&plan, sizeof plan), compiled with its headers",
                       plan->size, (unsigned)plan->abi, saddle_version(), sizeof *plan, SADDLE_ABI);
}

/* Adds the options of the caller's own algorithm to the settings. */
static saddle_status add_own_options(saddle_plan *plan, saddle_error *error)
{
    return plan->algorithm.own != NULL && plan->algorithm.own->options != NULL
               ? saddle_settings_add(plan->settings, plan->algorithm.own->options, error)
               : SADDLE_OK;
}

/* Makes the settings if there are none yet. */
static saddle_status open_settings(saddle_plan *plan, saddle_error *error)
{
    saddle_status status = saddle_plan_check_size(plan, error);
    SADDLE_THEN_IF(status, plan->settings == NULL, saddle_settings_create(&plan->settings, error));
    return status == SADDLE_OK ? add_own_options(plan, error) : status;
}

saddle_status saddle_plan_set(saddle_plan *plan, const char *name, const char *text,
                              saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan, name, text);
    saddle_status status = open_settings(plan, error);
    SADDLE_THEN(status, saddle_settings_set(plan->settings, name, text, error));
    if (status == SADDLE_OK) {
        const saddle_option *option = saddle_settings_find(plan->settings, name);
        if (option->home == SADDLE_HOME_PLAN)
            saddle_settings_write_one(plan->settings, option, plan);
    }
    return status;
}

saddle_status saddle_plan_reset(saddle_plan *plan, const saddle_option *option, saddle_error *error)
{
    saddle_status status = saddle_settings_reset(plan->settings, option, error);
    if (status == SADDLE_OK && option->home == SADDLE_HOME_PLAN)
        saddle_settings_write_one(plan->settings, option, plan);
    return status;
}

saddle_status saddle_plan_load(saddle_plan *plan, const char *path, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan, path);
    saddle_status status = open_settings(plan, error);
    /* Fields that were assigned directly count as given and are not overwritten by the file. */
    SADDLE_THEN(status, saddle_settings_read(plan->settings, SADDLE_HOME_PLAN, plan, true, error));
    SADDLE_THEN(status, saddle_settings_load(plan->settings, path, error));
    if (plan->settings != NULL)
        saddle_settings_write(plan->settings, SADDLE_HOME_PLAN, plan);
    return status;
}

saddle_status saddle_plan_copy(saddle_plan *out, const saddle_plan *plan, saddle_error *error)
{
    SADDLE_REQUIRE(error, out, plan);
    saddle_status status = saddle_plan_check_size(plan, error);
    if (status != SADDLE_OK) {
        saddle_plan_defaults(out, sizeof *out);
        return status;
    }
    *out = *plan;
    out->settings = NULL;
    status = plan->settings != NULL ? saddle_settings_copy(&out->settings, plan->settings, error)
                                    : saddle_settings_create(&out->settings, error);
    SADDLE_THEN(status, add_own_options(out, error));
    SADDLE_THEN(status, saddle_settings_read(out->settings, SADDLE_HOME_PLAN, plan, true, error));
    if (status == SADDLE_OK)
        saddle_settings_write(out->settings, SADDLE_HOME_PLAN, out);
    else
        saddle_plan_free(out);
    return status;
}

saddle_status saddle_plan_refresh(saddle_plan *plan, saddle_error *error)
{
    saddle_status status =
        saddle_settings_read(plan->settings, SADDLE_HOME_PLAN, plan, false, error);
    if (status == SADDLE_OK)
        saddle_settings_write(plan->settings, SADDLE_HOME_PLAN, plan);
    return status;
}

void saddle_plan_take_stage(saddle_plan *plan, const saddle_plan *from, saddle_option_stage stage)
{
    for (const saddle_option *const *option = saddle_plan_options(); *option != NULL; option++)
        if ((*option)->stage == stage)
            memcpy((char *)plan + (*option)->offset, saddle_option_field(*option, from),
                   saddle_option_bytes(*option));
}

bool saddle_plan_given(const saddle_plan *plan, size_t offset)
{
    for (const saddle_option *const *option = saddle_plan_options(); *option != NULL; option++)
        if ((*option)->offset == offset)
            return saddle_settings_given(plan->settings, *option);
    return false;
}

saddle_data_options saddle_plan_data_options(const saddle_plan *plan)
{
    return (saddle_data_options){
        .abi = SADDLE_ABI,
        .format = plan->problem.format,
        .header = plan->problem.header,
        .label_column = plan->problem.label_column,
        .labels = plan->problem.labels,
        .categories = plan->problem.categories,
        .missing = plan->problem.missing,
        .category_columns = plan->problem.category_columns,
        .drop_columns = plan->problem.drop_columns,
        .threads = plan->engine.threads,
    };
}
