#include "instance/unused_options.h"

#include "algorithms/algorithms.h"
#include "core/world.h"
#include "data/scale.h"
#include "instance/instance.h"
#include "instance/plan_entries.h"
#include "instance/plan_plugins.h"

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

/* ---- why an option is not used --------------------------------------------------------------- */

/* The size of a reason. */
#define REASON 512

/* Appends item k to a list such as "precision, gda and prox-dsgda". */
static void append_item(char out[REASON], size_t k, size_t count, const char *item)
{
    saddle_append(out, REASON, "%s%s", k == 0 ? "" : k + 1 < count ? ", " : " and ", item);
}

/* Returns why an option for reading data has no effect on files of these formats, such as "not used
 * by LIBSVM and IDX files"; NULL if it may have one or is not such an option. */
static const char *reason_unread(const saddle_option *option, unsigned formats, char out[REASON])
{
    static const char *const name[] = {"", "LIBSVM", "CSV", "IDX", "NumPy"};
    size_t listed = 0;
    if (option->formats == 0 || (option->formats & formats) != 0)
        return NULL;
    if (formats == 0)
        return "not used by data that are not read from a file";
    saddle_snprintf(out, REASON, "not used by ");
    for (unsigned k = 0; k < sizeof name / sizeof *name; k++)
        if ((formats & SADDLE_FORMAT_BIT(k)) != 0)
            append_item(out, listed++, (size_t)__builtin_popcount(formats), name[k]);
    saddle_append(out, REASON, " files");
    return out;
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

/* Returns whether the problem of an instance does not use an option. */
static bool is_idle(const saddle_instance *instance, const saddle_option *option)
{
    const saddle_problem_class *kind = instance->kind;
    unsigned users = option->users & (SADDLE_USERS_DATA | SADDLE_USERS_SIGNS |
                                      SADDLE_USERS_CLASSES | SADDLE_USERS_NAMED);
    if ((option->users & SADDLE_USERS_WEIGHTS) != 0)
        return instance->problem->counts_rows;
    if (is_of_problem(option))
        return kind == NULL || !saddle_option_in(kind->options, option);
    if (kind == NULL)
        return users != 0; /* the caller's own problem has other options */
    return ((users & SADDLE_USERS_DATA) != 0 && !kind->needs_data) ||
           ((users & SADDLE_USERS_SIGNS) != 0 && kind->labels != SADDLE_LABELS_SIGNS) ||
           ((users & SADDLE_USERS_CLASSES) != 0 && kind->labels != SADDLE_LABELS_CLASSES);
}

bool saddle_option_lacks_companion(const saddle_plan *plan, const saddle_algorithm *algorithm,
                                   const saddle_option *option, char out[128])
{
    const saddle_companion *with = &option->used_with;
    if (with->option == NULL || saddle_entry_of(plan, with->option) == NULL ||
        (algorithm != NULL && saddle_option_of_algorithm(with->option) &&
         !saddle_option_in(algorithm->options, with->option)))
        return false;
    const char *value = SADDLE_PLAN_TEXT(plan, with->option);
    const char *rule = algorithm != NULL ? saddle_automatic_rule(algorithm, with->option) : "";
    if (strcmp(value, "auto") == 0 && *rule != '\0')
        value = rule;
    bool begins = false;
    saddle_snprintf(out, 128, "%s used with --%s ", with->without ? "not" : "only",
                    with->option->name);
    for (const char *word = with->beginning; *word != '\0';) {
        size_t length = strcspn(word, "|");
        const char *next = word + length + (word[length] == '|');
        const char *between = *next == '\0' ? "" : strchr(next, '|') != NULL ? ", " : " or ";
        begins = begins || strncmp(value, word, length) == 0;
        saddle_append(out, 128, "%.*s%s", (int)length, word, between);
        word = next;
    }
    return begins == with->without;
}

/* Returns how many of the algorithms are centralized. */
static size_t count_centralized(const saddle_algorithm *const *algorithm, size_t count)
{
    size_t centralized = 0;
    for (size_t k = 0; k < count; k++)
        centralized += algorithm[k]->traits.centralized;
    return centralized;
}

/* Returns why an option of the network has no effect on runs of these algorithms, or of some of
 * them; NULL if it may have one. */
static const char *reason_silent(const saddle_option *option, const saddle_instance *instance,
                                 const saddle_algorithm *const *algorithm, size_t count,
                                 char out[REASON])
{
    unsigned of_network = SADDLE_USERS_NETWORK | SADDLE_USERS_MESSAGES | SADDLE_USERS_TOPOLOGY;
    size_t silent = count_centralized(algorithm, count);
    size_t listed = 0;
    /* A topology may determine the number of agents, and so how rows are divided. */
    if (silent == 0 || (option->users & of_network) == 0 ||
        ((option->users & SADDLE_USERS_TOPOLOGY) != 0 &&
         saddle_topology_sets_agents(instance->plan->network.topology)))
        return NULL;
    if (silent == count)
        return "not used by centralized algorithms, which do not communicate";
    if ((option->users & SADDLE_USERS_MESSAGES) == 0)
        return NULL;
    saddle_snprintf(out, REASON, "not used by ");
    for (size_t k = 0; k < count; k++)
        if (algorithm[k]->traits.centralized)
            append_item(out, listed++, silent, algorithm[k]->name);
    saddle_append(out, REASON, ", which %s not communicate", silent == 1 ? "does" : "do");
    return out;
}

/* Returns why an option of the plan has no effect on runs of these algorithms, or of some of them;
 * NULL if it may have one. */
static const char *reason_unused(const saddle_plan *plan, const saddle_option *option,
                                 const saddle_instance *instance,
                                 const saddle_algorithm *const *algorithm, size_t count,
                                 char out[REASON])
{
    bool idle = is_idle(instance, option);
    bool of_algorithms = count > 0 && saddle_option_of_algorithm(option);
    const char *reason = NULL;
    for (size_t k = 0; k < count; k++)
        if (saddle_option_in(algorithm[k]->options, option)) {
            if (!saddle_option_lacks_companion(plan, algorithm[k], option, out))
                return NULL;
            reason = out;
        }
    if (reason == NULL && !idle && !of_algorithms &&
        saddle_option_lacks_companion(plan, NULL, option, out))
        reason = out;
    if (reason == NULL && instance->kind != NULL && instance->kind->needs_data)
        reason = reason_unread(option, formats_read(instance, option), out);
    if (reason == NULL && (option->users & SADDLE_USERS_PROCESSES) != 0 &&
        instance->world->ranks == 1)
        reason = "not used by a single process";
    if (reason == NULL)
        reason = reason_silent(option, instance, algorithm, count, out);
    if (reason != NULL)
        return reason;
    saddle_snprintf(out, REASON, "not used by ");
    for (size_t k = 0; of_algorithms && k < count; k++)
        append_item(out, k, count, algorithm[k]->name);
    if (!of_algorithms)
        saddle_append(out, REASON, "problem %s", saddle_shown_name(instance->problem->name));
    return of_algorithms || idle ? out : NULL;
}

/* ---- warnings -------------------------------------------------------------------------------- */

/* Warns that an option has no effect, if there is a reason and the option was given. */
static void warn(const saddle_plan *plan, const saddle_option *option, const char *reason,
                 saddle_warning *warning, void *context)
{
    if (reason != NULL && saddle_plan_given(plan, option))
        saddle_warn(warning, context, "--%s: %s", option->name, reason);
}

void saddle_report_unread(const saddle_plan *plan, unsigned formats, saddle_warning *warning,
                          void *context)
{
    char text[REASON];
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        warn(plan, option, reason_unread(option, formats, text), warning, context);
    }
}

void saddle_report_unused(const saddle_plan *plan, const saddle_instance *instance,
                          const saddle_algorithm *const *algorithm, size_t count,
                          saddle_warning *warning, void *context)
{
    char text[REASON];
    char other[SADDLE_VALUE_SIZE];
    /* Unless --scale is given, columns that are not scaled have one unit, and to PRECISION-auto units do not matter. */
    bool harmless =
        !SADDLE_GIVEN(plan, problem.scale) && count == 1 && algorithm[0] == &saddle_precision_auto;
    if (instance->parts->unscaled[0] != '\0' && !harmless)
        saddle_warn(warning, context, "--data: %s", instance->parts->unscaled);
    saddle_report_choices(plan, instance, algorithm, count, warning, context);
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        const char *reason = reason_unused(plan, option, instance, algorithm, count, text);
        warn(plan, option, reason, warning, context);
        if (option->home == SADDLE_HOME_OWN && saddle_plan_given(plan, option) &&
            saddle_plan_text_overrides(plan, option, other))
            saddle_warn(warning, context, "--%s: not used, because '%.300s' gives it, too",
                        option->name, other);
    }
}

void saddle_report_scale(saddle_dataset *data, saddle_warning *warning, void *context)
{
    char text[SADDLE_SCALE_TEXT] = "";
    saddle_world *world = NULL;
    saddle_column_statistics statistics = {.features = 0};
    SADDLE_OWNED bool *left = saddle_alloc(data->features, sizeof *left);
    if (left != NULL && saddle_world_alone(&world, 1, NULL) == SADDLE_OK &&
        saddle_statistics_find(&statistics, world, &data, data->features, true, NULL) == SADDLE_OK)
        saddle_scale_warning(&statistics, left, data->columns,
                             "runs scale columns, unless --scale is none", text);
    if (text[0] != '\0')
        saddle_warn(warning, context, "%s", text);
    saddle_statistics_free(&statistics);
    saddle_world_free(world);
}
