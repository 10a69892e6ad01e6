#include "instance/unused_options.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
#include "data/scale.h"
#include "instance/instance.h"
#include "instance/plan.h"

bool saddle_option_in(const saddle_option *const *table, const saddle_option *option)
{
    for (; *table != NULL; table++)
        if (*table == option)
            return true;
    return false;
}

static bool is_of_problem(const saddle_option *option)
{
    size_t count;
    const saddle_problem_class *const *problem = saddle_problem_list(&count);
    for (size_t k = 0; k < count; k++)
        if (saddle_option_in(problem[k]->options, option))
            return true;
    return false;
}

bool saddle_option_of_algorithm(const saddle_option *option)
{
    size_t count;
    const saddle_algorithm *const *algorithm = saddle_algorithm_list(&count);
    for (size_t k = 0; k < count; k++)
        if (saddle_option_in(algorithm[k]->options, option))
            return true;
    return false;
}

/* ---- options for reading data ---------------------------------------------------------------- */

/* Returns a text such as "not used by LIBSVM and IDX files". */
static const char *unread_text(unsigned formats, char out[128])
{
    static const char *const name[] = {"", "LIBSVM", "CSV", "IDX", "NumPy"};
    if (formats == 0)
        return "not used by data that are not read from a file";
    saddle_snprintf(out, 128, "not used by");
    for (unsigned k = 0; k < sizeof name / sizeof *name; k++) {
        unsigned before = formats & (SADDLE_FORMAT_BIT(k) - 1);
        unsigned after = formats >> (k + 1);
        if ((formats & SADDLE_FORMAT_BIT(k)) != 0)
            saddle_append(out, 128, "%s %s", before == 0 ? "" : after == 0 ? " and" : ",", name[k]);
    }
    saddle_append(out, 128, " files");
    return out;
}

/* Returns why an option for reading data has no effect on files of these formats; NULL if it may
 * have one or is not such an option. */
static const char *reason_unread(const saddle_option *option, unsigned formats, char out[128])
{
    return option->formats != 0 && (option->formats & formats) == 0 ? unread_text(formats, out)
                                                                    : NULL;
}

void saddle_report_unread(const saddle_plan *plan, unsigned formats, saddle_unused_warning *warning,
                          void *context)
{
    char text[128];
    char message[256];
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        const char *reason = reason_unread(option, formats, text);
        if (reason == NULL || !saddle_plan_given(plan, option))
            continue;
        saddle_snprintf(message, sizeof message, "%s: %s", option->name, reason);
        warning(context, message);
    }
}

/* Returns the formats of an instance's data that an option may apply to; one that names a file
 * applies only to the agents' rows. */
static unsigned formats_read(const saddle_instance *instance, const saddle_option *option)
{
    unsigned formats = instance->parts->formats;
    if (instance->held_out != NULL && option->effect != SADDLE_EFFECT_SOURCE)
        formats |= instance->held_out->formats;
    return formats;
}

/* ---- all options ----------------------------------------------------------------------------- */

/* Returns whether the problem of an instance does not use an option. */
static bool is_idle(const saddle_instance *instance, const saddle_option *option)
{
    const saddle_problem_class *kind = instance->kind;
    unsigned users = option->users & (SADDLE_USERS_DATA | SADDLE_USERS_SIGNS |
                                      SADDLE_USERS_CLASSES | SADDLE_USERS_NAMED);
    if (is_of_problem(option))
        return kind == NULL || !saddle_option_in(kind->options, option);
    if (kind == NULL)
        return users != 0; /* the caller's own problem has other options */
    return ((users & SADDLE_USERS_DATA) != 0 && !kind->needs_data) ||
           ((users & SADDLE_USERS_SIGNS) != 0 && kind->labels != SADDLE_LABELS_SIGNS) ||
           ((users & SADDLE_USERS_CLASSES) != 0 && kind->labels != SADDLE_LABELS_CLASSES);
}

bool saddle_option_lacks_companion(const saddle_plan *plan, const saddle_option *option,
                                   char out[128])
{
    char name[32];
    if (option->used_with == NULL)
        return false;
    int length = (int)strcspn(option->used_with, "!=");
    bool without = option->used_with[length] == '!';
    const char *beginning = option->used_with + length + (without ? 2 : 1);
    saddle_snprintf(name, sizeof name, "%.*s", length, option->used_with);
    saddle_snprintf(out, 128, "%s used with %s %s", without ? "not" : "only", name, beginning);
    const saddle_option *other = saddle_plan_find(plan, name);
    bool begins =
        other != NULL && strncmp(SADDLE_PLAN_TEXT(plan, other), beginning, strlen(beginning)) == 0;
    return other != NULL && begins == without;
}

/* Returns a text such as "precision and prox-dsgda". */
static const char *join(const saddle_algorithm *const *algorithm, size_t count, char out[256])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t k = 0; k < count && used < 256; k++)
        used += (size_t)saddle_snprintf(out + used, 256 - used, "%s%s",
                                        k == 0           ? ""
                                        : k + 1 == count ? " and "
                                                         : ", ",
                                        algorithm[k]->name);
    return out;
}

/* Returns whether no algorithm of a list communicates. */
static bool all_centralized(const saddle_algorithm *const *algorithm, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!algorithm[k]->traits.centralized)
            return false;
    return count > 0;
}

/* Returns why an option of the plan has no effect on runs of these algorithms; NULL if it may
 * have one. */
static const char *reason_unused(const saddle_option *option, const saddle_instance *instance,
                                 const saddle_algorithm *const *algorithm, size_t count,
                                 char text[128])
{
    unsigned of_network = SADDLE_USERS_NETWORK | SADDLE_USERS_MESSAGES | SADDLE_USERS_TOPOLOGY;
    if (instance->kind != NULL && instance->kind->needs_data) {
        const char *unread = reason_unread(option, formats_read(instance, option), text);
        if (unread != NULL)
            return unread;
    }
    if ((option->users & SADDLE_USERS_PROCESSES) != 0 && instance->world->ranks == 1)
        return "not used by a single process";
    /* A topology may determine the number of agents, and so how rows are divided. */
    if ((option->users & SADDLE_USERS_TOPOLOGY) != 0 &&
        saddle_topology_sets_agents(instance->plan->network.topology))
        return NULL;
    return (option->users & of_network) != 0 && all_centralized(algorithm, count)
               ? "not used by centralized algorithms, which do not communicate"
               : NULL;
}

/* Warns that the centralized ones among several algorithms do not use an option of the network. */
static void report_partly_unused(const saddle_option *option,
                                 const saddle_algorithm *const *algorithm, size_t count,
                                 saddle_unused_warning *warning, void *context)
{
    size_t found = 0;
    char names[256];
    char message[512];
    const saddle_algorithm **centralized = saddle_alloc(count, sizeof *centralized);
    for (size_t a = 0; centralized != NULL && a < count; a++)
        if (algorithm[a]->traits.centralized)
            centralized[found++] = algorithm[a];
    if ((option->users & SADDLE_USERS_MESSAGES) != 0 && found > 0 && found < count) {
        saddle_snprintf(message, sizeof message, "%s: not used by %s, which %s not communicate",
                        option->name, join(centralized, found, names), found == 1 ? "does" : "do");
        warning(context, message);
    }
    saddle_free((void *)centralized);
}

void saddle_report_unused(const saddle_plan *plan, const saddle_instance *instance,
                          const saddle_algorithm *const *algorithm, size_t count,
                          saddle_unused_warning *warning, void *context)
{
    char names[256];
    char text[128];
    char message[512];
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        bool used = false;
        for (size_t a = 0; a < count; a++)
            used = used || saddle_option_in(algorithm[a]->options, option);
        bool of_algorithms = count > 0 && saddle_option_of_algorithm(option);
        const char *reason = reason_unused(option, instance, algorithm, count, text);
        if (!is_idle(instance, option) && saddle_option_lacks_companion(plan, option, text))
            reason = text;
        if (saddle_plan_given(plan, option))
            report_partly_unused(option, algorithm, count, warning, context);
        if (!saddle_plan_given(plan, option) || used ||
            (!of_algorithms && reason == NULL && !is_idle(instance, option)))
            continue;
        if (reason != NULL)
            saddle_snprintf(message, sizeof message, "%s: %s", option->name, reason);
        else if (of_algorithms)
            saddle_snprintf(message, sizeof message, "%s: not used by %s", option->name,
                            join(algorithm, count, names));
        else
            saddle_snprintf(message, sizeof message, "%s: not used by problem %s", option->name,
                            saddle_shown_name(instance->problem->name));
        warning(context, message);
    }
}

void saddle_report_large_values(const saddle_dataset *data, saddle_unused_warning *warning,
                                void *context)
{
    char text[SADDLE_SCALE_TEXT];
    if (saddle_scale_warning_of(data, text, NULL) == SADDLE_OK && text[0] != '\0')
        warning(context, text);
}

void saddle_report_scale(const saddle_instance *instance, saddle_unused_warning *warning,
                         void *context)
{
    char message[SADDLE_SCALE_TEXT + 8];
    if (instance->parts->unscaled[0] == '\0')
        return;
    saddle_snprintf(message, sizeof message, "data: %s", instance->parts->unscaled);
    warning(context, message);
}
