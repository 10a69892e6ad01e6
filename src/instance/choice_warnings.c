/* Warnings about choices that Saddle made because the user left an option out, and that may not be
 * what the user means with these data. Each is one line that begins with the option. */
#include "core/sizes.h"
#include "instance/instance.h"
#include "instance/unused_options.h"

/* Agents are very unequal if the largest has at least this many times the samples of the
 * smallest. */
#define VERY_UNEQUAL 3
/* A warning lists at most this many agents. */
#define MOST_AGENTS 5

/* Returns whether the user has chosen the value of the option whose name begins a note. */
static bool is_chosen(const saddle_plan *plan, const char *note)
{
    const char *name = note + strspn(note, "-");
    size_t length = strcspn(name, ":");
    if (strncmp(name, "x-set", length) == 0 && plan->problem.own_x_set != NULL)
        return true;
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return saddle_plan_given(plan, option);
    }
    return false;
}

static void report_unequal_sizes(const saddle_plan *plan, const saddle_problem *problem,
                                 saddle_warning *warning, void *context)
{
    size_t least = saddle_sizes_smallest(problem->agents, problem->samples);
    size_t most = saddle_sizes_largest(problem->agents, problem->samples);
    if (problem->counts_rows || most / VERY_UNEQUAL < least ||
        SADDLE_GIVEN(plan, problem.agent_weights))
        return;
    saddle_warn(warning, context,
                "--agent-weights: agents have %zu to %zu samples and count the same, so a sample "
                "of the smallest counts %.3g times as much as one of the largest; by-size gives "
                "all samples the same weight",
                least, most, (double)most / (double)least);
}

/* The labels 0 to 9 are taken for digits, as in MNIST; those of the user may be grades. */
static void report_digits(const saddle_plan *plan, const saddle_instance *instance,
                          saddle_warning *warning, void *context)
{
    const char *positive = instance->plan->problem.positive;
    bool images = (instance->parts->formats & SADDLE_FORMAT_BIT(SADDLE_FORMAT_IDX)) != 0;
    bool signs = instance->kind != NULL && instance->kind->needs_data &&
                 instance->kind->labels == SADDLE_LABELS_SIGNS;
    if (signs && !images && positive != NULL && strcmp(positive, "5-9") == 0 &&
        !SADDLE_GIVEN(plan, problem.positive))
        saddle_warn(warning, context,
                    "--positive: the data have the labels 0 to 9, of which 5 to 9 are taken as "
                    "positive; give the positive ones");
}

/* Returns whether one of the algorithms draws mini-batches, from an agent's samples or from all. */
static bool use_batches(const saddle_algorithm *const *algorithm, size_t count, bool centralized)
{
    for (size_t k = 0; k < count; k++)
        if (algorithm[k]->traits.stochastic && algorithm[k]->traits.centralized == centralized)
            return true;
    return false;
}

static void report_small_agents(uint64_t batch, const saddle_problem *problem,
                                saddle_warning *warning, void *context)
{
    char list[128] = "";
    size_t found = 0;
    size_t most = 0;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < problem->agents; i++) {
        size_t samples = problem->samples[i];
        if (samples >= batch)
            continue;
        if (found++ < MOST_AGENTS)
            saddle_append(list, sizeof list, "%s%zu", found > 1 ? ", " : "", i);
        least = samples < least ? samples : least;
        most = samples > most ? samples : most;
    }
    if (found == 0)
        return;
    if (found > MOST_AGENTS)
        saddle_append(list, sizeof list, " and %zu more", found - MOST_AGENTS);
    char range[64];
    saddle_snprintf(range, sizeof range, least < most ? "%zu to %zu" : "%zu", least, most);
    saddle_warn(warning, context,
                "--batch: agent%s %s %s only %s sample%s, fewer than %llu, and use%s all of them",
                SADDLE_PLURAL(found), list, found == 1 ? "has" : "have", range, SADDLE_PLURAL(most),
                (unsigned long long)batch, found == 1 ? "s" : "");
}

void saddle_report_choices(const saddle_plan *plan, const saddle_instance *instance,
                           const saddle_algorithm *const *algorithm, size_t count,
                           saddle_warning *warning, void *context)
{
    const saddle_problem *problem = instance->problem;
    if (problem->note != NULL && !is_chosen(plan, problem->note))
        saddle_warn(warning, context, "%s", problem->note);
    report_digits(plan, instance, warning, context);
    report_unequal_sizes(plan, problem, warning, context);
    if (use_batches(algorithm, count, false))
        report_small_agents(plan->steps.batch, problem, warning, context);
    uint64_t all = saddle_sizes_sum(problem->agents, problem->samples);
    if (use_batches(algorithm, count, true) && plan->steps.batch > all)
        saddle_warn(warning, context,
                    "--batch: there are only %llu samples, fewer than %llu, and a centralized "
                    "algorithm uses all of them",
                    (unsigned long long)all, (unsigned long long)plan->steps.batch);
}
