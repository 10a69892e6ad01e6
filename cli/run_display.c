#include "run_display.h"

#include "core/outcome_name.h"
#include "core/sizes.h"
#include "data/columns.h"
#include "instance/instance.h"
#include "instance/unused_options.h"
#include "problems/groups.h"

/* The number of rows that are printed, approximately. */
#define SHOWN_ROWS 21

/* ---- the header ---------------------------------------------------------------------------- */

/* Writes the smallest and largest of ceil(sqrt(n_i)) as "20" or "20-25". */
static void default_batch(const saddle_problem *problem, char *out, size_t size)
{
    double least = (double)saddle_sizes_smallest(problem->agents, problem->samples);
    double most = (double)saddle_sizes_largest(problem->agents, problem->samples);
    size_t low = (size_t)ceil(sqrt(least));
    size_t high = (size_t)ceil(sqrt(most));
    if (low == high)
        saddle_snprintf(out, size, "%zu", low);
    else
        saddle_snprintf(out, size, "%zu-%zu", low, high);
}

static void print_algorithm(const saddle_run_info *info)
{
    char text[1024];
    const char *before = ":";
    saddle_snprintf(text, sizeof text, "%s", info->algorithm->name);
    if (info->because != NULL)
        saddle_append(text, sizeof text, " (because of --%s)", info->because);
    for (const saddle_option *const *option = info->algorithm->options; *option != NULL; option++) {
        const char *name = (*option)->name;
        const char *value = SADDLE_PLAN_TEXT(info->plan, *option);
        char batch[64];
        double number = 0.0;
        if (*option == &saddle_option_batch && strcmp(value, "auto") == 0) {
            default_batch(info->instance->problem, batch, sizeof batch);
            value = batch;
        }
        char reason[128];
        if (*value == '\0' ||
            saddle_option_lacks_companion(info->plan, info->algorithm, *option, reason))
            continue;
        saddle_append(text, sizeof text, "%s %s ", before, name);
        before = ",";
        if ((*option)->kind == SADDLE_OPTION_REAL && saddle_parse_real(value, &number))
            saddle_append(text, sizeof text, "%.6g", number);
        else
            saddle_append(text, sizeof text, "%s", value);
    }
    cli_print_field("algorithm", "%s", text);
}

/* Appends the positive labels, as texts if the file has texts. */
static void append_positive(char *text, size_t size, const saddle_run_info *info)
{
    size_t count = 0;
    const char *positive = info->plan->problem.positive;
    const char *const *label = saddle_columns_label_texts(info->network->columns, &count);
    uint64_t number = 0;
    bool single = label != NULL && saddle_parse_integer(positive, &number) && number < count;
    saddle_append(text, size, "positive label %.100s", single ? label[number] : positive);
}

/* Prints the problem with its dimensions and settings, except the values of groups, which have
 * their own line. */
static void print_problem(const saddle_run_info *info, const saddle_problem_class *kind)
{
    char text[1024];
    char reason[128];
    const saddle_problem *problem = info->instance->problem;
    const saddle_plan *plan = info->plan;
    saddle_snprintf(text, sizeof text, "%s: x in R^%zu, y in R^%zu", problem->name, problem->x_dim,
                    problem->y_dim);
    const char *before = "; ";
    for (const saddle_option *const *option = kind->options; *option != NULL; option++) {
        if (saddle_option_lacks_companion(plan, NULL, *option, reason) ||
            *option == &saddle_group_values_option)
            continue;
        saddle_append(text, sizeof text, "%s%s %.100s", before, (*option)->name,
                      SADDLE_PLAN_TEXT(plan, *option));
        before = ", ";
    }
    if (kind->needs_data && kind->labels == SADDLE_LABELS_SIGNS) {
        saddle_append(text, sizeof text, "%s", before);
        append_positive(text, sizeof text, info);
    }
    cli_print_field("problem", "%s", text);
}

static void print_samples(const saddle_run_info *info, const saddle_problem_class *kind)
{
    const saddle_problem *problem = info->instance->problem;
    size_t low = saddle_sizes_smallest(problem->agents, problem->samples);
    size_t high = saddle_sizes_largest(problem->agents, problem->samples);
    uint64_t sum = saddle_sizes_sum(problem->agents, problem->samples);
    char each[64];
    if (low == high)
        saddle_snprintf(each, sizeof each, "%zu per agent", low);
    else
        saddle_snprintf(each, sizeof each, "%zu to %zu per agent", low, high);
    bool data = kind->needs_data;
    bool shared_out = data && !saddle_data_is_divided(info->network);
    bool by_size = info->instance->plan->problem.agent_weights == SADDLE_WEIGHTS_BY_SIZE;
    const saddle_columns *columns = info->network->columns;
    const char *label = columns != NULL && columns->named ? columns->label.name : NULL;
    cli_print_field("data", "%s%s%" PRIu64 " sample%s, %s%s%s%s%.100s%s",
                    data ? info->plan->problem.data : "", data ? ", " : "", sum, SADDLE_PLURAL(sum),
                    each, shared_out ? ", partition " : "",
                    shared_out ? info->plan->problem.partition : "",
                    label != NULL && *label != '\0' ? ", label " : "", label != NULL ? label : "",
                    by_size ? "; agents weighted by size" : "");
}

/* Prints which columns were scaled, if any. */
static void print_scale(const saddle_instance *instance)
{
    char text[SADDLE_SCALE_TEXT];
    saddle_scale_text(instance, text);
    if (text[0] != '\0')
        cli_print_field("scaled",
                        "%s (--scale none leaves them); X, Y and h apply to scaled columns", text);
}

/* Prints the stopping rules. */
static void print_stops(const saddle_plan *plan)
{
    char text[256] = "";
    if (plan->limits.iterations < SADDLE_UNLIMITED_ITERATIONS || plan->limits.max_ifo == 0)
        saddle_append(text, sizeof text, " or %" PRIu64 " iteration%s", plan->limits.iterations,
                      SADDLE_PLURAL(plan->limits.iterations));
    if (plan->limits.tolerance > 0.0)
        saddle_append(text, sizeof text, " or gap <= %.15g", plan->limits.tolerance);
    if (plan->limits.max_ifo > 0)
        saddle_append(text, sizeof text, " or %" PRIu64 " IFO call%s", plan->limits.max_ifo,
                      SADDLE_PLURAL(plan->limits.max_ifo));
    if (plan->limits.max_rounds > 0)
        saddle_append(text, sizeof text, " or %" PRIu64 " round%s", plan->limits.max_rounds,
                      SADDLE_PLURAL(plan->limits.max_rounds));
    if (plan->limits.max_seconds > 0.0)
        saddle_append(text, sizeof text, " or %.15g seconds", plan->limits.max_seconds);
    if (plan->limits.max_network_seconds > 0.0)
        saddle_append(text, sizeof text, " or %.15g simulated seconds",
                      plan->limits.max_network_seconds);
    if (plan->limits.stop_when != NULL)
        saddle_append(text, sizeof text, " or %.100s", plan->limits.stop_when);
    if (plan->limits.stop_after > 0)
        saddle_append(text, sizeof text, " or %" PRIu64 " trace point%s without improvement",
                      plan->limits.stop_after, SADDLE_PLURAL(plan->limits.stop_after));
    cli_print_field("stops at", "%s", text + strlen(" or "));
    if (plan->limits.tolerance > 0.0)
        cli_print_field(
            "",
            "(--tolerance is about the gap; for the metric, as until 0.2, give --stop-when "
            "'metric<=%.15g')",
            plan->limits.tolerance);
}

/* Prints the starting point, separately for x and y if they differ. */
static void print_start(const saddle_plan *plan)
{
    const char *x = plan->start.init_x != NULL ? plan->start.init_x : "auto";
    const char *y = plan->start.init_y != NULL ? plan->start.init_y : "auto";
    if (strcmp(x, y) == 0)
        cli_print_field("start", "%s, seed %" PRIu64, x, plan->start.seed);
    else
        cli_print_field("start", "x %s, y %s, seed %" PRIu64, x, y, plan->start.seed);
}

/* Prints the groups in the order of the outcomes group_1_accuracy, ..., if the problem has
 * groups by columns. */
static void print_groups(const saddle_plan *plan)
{
    const char *values = SADDLE_PLAN_TEXT(plan, &saddle_group_values_option);
    if (*values != '\0' && strcmp(values, "auto") != 0)
        cli_print_field("groups", "%s: %s", SADDLE_PLAN_TEXT(plan, &saddle_groups_option), values);
}

/* Prints the network and how messages travel in it. */
static void print_network(const saddle_run_info *info)
{
    static const char *const inexact[] = {
        [SADDLE_INEXACT_NO] = "",
        [SADDLE_INEXACT_OWN] = ", inexact: own (the solution will be wrong)",
        [SADDLE_INEXACT_STALE] = ", inexact: stale (the solution will be wrong)"};
    const saddle_instance *e = info->instance;
    const saddle_plan *plan = info->plan;
    cli_print_field("network", "%zu agent%s, topology %s, %zu edge%s, mixing %s, spectral gap %.4g",
                    e->problem->agents, SADDLE_PLURAL(e->problem->agents), plan->network.topology,
                    e->graph->edges, SADDLE_PLURAL(e->graph->edges), plan->network.mixing,
                    e->spectrum.gap);
    if (strcmp(plan->network.links, "reliable") != 0)
        cli_print_field("links", "%s%s", plan->network.links, inexact[plan->network.inexact]);
    if (plan->network.link_model != NULL)
        cli_print_field("link model", "%s", plan->network.link_model);
    if (e->churn != NULL)
        cli_print_field("churn", "%s", plan->network.churn);
    if (e->compression != NULL)
        cli_print_field("messages", "%s, mixing rate %g%s", plan->network.compress,
                        info->mixing_rate, e->compression->backs_off ? " or less" : "");
}

static void print_header(const saddle_run_info *info, const saddle_problem_class *kind)
{
    const saddle_instance *e = info->instance;
    const saddle_plan *plan = info->plan;
    cli_print("saddle %s\n", saddle_version());
    print_problem(info, kind);
    print_samples(info, kind);
    print_scale(info->network);
    print_groups(plan);
    cli_print_field("X", "%s", saddle_set_text(e->x_set));
    cli_print_field("Y", "%s", saddle_set_text(e->y_set));
    cli_print_field("h", "%s", saddle_regularizer_text(e->regularizer));
    if (info->algorithm->traits.centralized)
        cli_print_field("network", "none: %s is centralized", info->algorithm->name);
    else
        print_network(info);
    print_algorithm(info);
    print_start(plan);
    print_stops(plan);
    if (info->resumed != NULL)
        cli_print_field("resumed", "from iteration %" PRIu64 ", %s", info->start, info->resumed);
}

/* ---- the hooks ----------------------------------------------------------------------------- */

static void on_begin(void *context, const saddle_run_info *info)
{
    run_display *d = context;
    d->meter.iterations = info->plan->limits.iterations;
    d->start = info->start;
    if (info->resumed != NULL)
        saddle_snprintf(d->resumed, sizeof d->resumed, "%s", info->resumed);
    uint64_t every = info->plan->outputs.trace_every;
    uint64_t points = every > 0 ? info->plan->limits.iterations / every + 1 : 1;
    d->stride = (points + SHOWN_ROWS - 1) / SHOWN_ROWS;
    d->ifo_stride = d->meter.iterations < SADDLE_UNLIMITED_ITERATIONS
                        ? 0
                        : info->plan->limits.max_ifo / (SHOWN_ROWS - 1);
    if (d->quiet)
        return;
    print_header(info, d->kind);
    const saddle_plan *plan = info->plan;
    const char *when = plan->limits.stop_when;
    d->gaps = plan->limits.tolerance > 0.0 || plan->outputs.gap == SADDLE_GAP_ALWAYS ||
              (when != NULL && strncmp(when, "gap", 3) == 0);
    if (d->table)
        cli_print("\n%9s %11s %8s %8s %11s %11s %10s%s\n", "iteration", "ifo", "rounds", "seconds",
                  "loss", "primal", "metric", d->gaps ? "       gap" : "");
    cli_flush_or_stop();
}

/* Whether a row is printed: every stride-th one or, if their number is not known, at equal
 * distances in IFO calls. */
static bool is_shown(const run_display *d, const saddle_row *row)
{
    if (d->ifo_stride == 0)
        return d->seen % d->stride == 0;
    return d->seen == 0 || row->cost.ifo >= d->printed_ifo + d->ifo_stride;
}

static void print_row(run_display *d, const saddle_row *row)
{
    d->printed = row->iteration;
    d->printed_ifo = row->cost.ifo;
    char gap[CLI_NUMBER] = "";
    if (d->gaps && isnan(row->gap))
        saddle_snprintf(gap, sizeof gap, " %9s", "-");
    else if (d->gaps)
        saddle_snprintf(gap, sizeof gap, " %9.2e", row->gap);
    cli_print("%9llu %11llu %8llu %8.3f %11.5g %11.5g %10.3e%s\n",
              (unsigned long long)row->iteration, (unsigned long long)row->cost.ifo,
              (unsigned long long)row->cost.rounds, row->seconds, row->loss, row->primal,
              row->metric, gap);
    cli_flush_or_stop();
}

static void on_row(void *context, const saddle_row *row)
{
    run_display *d = context;
    if (d->table && is_shown(d, row))
        print_row(d, row);
    d->seen++;
    cli_meter_row(&d->meter, row);
}

static void on_progress(void *context, uint64_t iteration, double seconds)
{
    run_display *d = context;
    cli_meter_progress(&d->meter, iteration, seconds);
    if (d->table)
        cli_stop_without_reader();
}

static void on_warning(void *context, const char *message)
{
    (void)context;
    cli_warn("%s", message);
}

saddle_hooks run_display_hooks(run_display *d)
{
    return (saddle_hooks){.context = d,
                          .begin = on_begin,
                          .row = on_row,
                          .progress = on_progress,
                          .warning = on_warning,
                          .interrupt = cli_catch_interrupts()};
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Prints the command that resumes the run. A checkpoint cannot name a plug-in or files to
 * overwrite, so the command must. */
static void say_how_to_resume(const run_display *d, const saddle_plan *plan)
{
    char plugins[1024] = "";
    char outputs[1024] = "";
    for (size_t k = 0; k < saddle_plan_option_count(d->given); k++) {
        const saddle_option *option = saddle_plan_option(d->given, k);
        const char *value = SADDLE_PLAN_TEXT(d->given, option);
        if (option->files == SADDLE_FILES_CODE && strchr(value, '/') != NULL)
            saddle_append(plugins, sizeof plugins, " --%s %s", option->name, value);
    }
    const char *const output[][2] = {{"trace", plan->outputs.trace},
                                     {"model", plan->outputs.model}};
    for (size_t k = 0; k < sizeof output / sizeof *output; k++)
        if (output[k][1] != NULL)
            saddle_append(outputs, sizeof outputs, " --%s %s", output[k][0], output[k][1]);
    cli_say("interrupted; `saddle run%s --resume %s%s` continues", plugins,
            plan->outputs.checkpoint, outputs);
}

/* Warns if a limit ended the run before its tolerance was reached. */
static void warn_of_tolerance(const saddle_result *result, double gap)
{
    char remedy[128];
    bool by_limit = result->stop != SADDLE_STOP_TOLERANCE &&
                    result->stop != SADDLE_STOP_CONDITION && result->stop != SADDLE_STOP_NO_GAIN;
    if (!(result->plan.limits.tolerance > 0.0) || !by_limit)
        return;
    run_display_remedy(result, remedy, sizeof remedy);
    cli_warn("--tolerance: %.15g was not reached, the gap is %.6g; %s",
             result->plan.limits.tolerance, gap, remedy);
}

int run_display_end(run_display *d, const saddle_result *result)
{
    cli_progress_clear();
    const saddle_row *last = &result->rows[result->row_count - 1];
    if (d->table && d->printed != last->iteration)
        print_row(d, last);
    if (result->stop == SADDLE_STOP_DIVERGED)
        cli_report_divergence(result, "");
    if (!d->quiet)
        run_display_summary(result, d->scores);
    if (result->stop == SADDLE_STOP_DIVERGED)
        return CLI_DIVERGED;
    if (result->stop == SADDLE_STOP_INTERRUPTED && result->checkpoint != NULL)
        say_how_to_resume(d, &result->plan);
    if (result->output_error.status != SADDLE_OK)
        return cli_fail(&result->output_error);
    if (result->stop == SADDLE_STOP_INTERRUPTED)
        return cli_reader_gone() ? CLI_FAILED : CLI_INTERRUPTED;
    bool unmet = result->plan.limits.stop_when != NULL && result->stop != SADDLE_STOP_CONDITION;
    if (unmet)
        cli_warn("the condition %s was not met", result->plan.limits.stop_when);
    warn_of_tolerance(result, last->gap);
    return unmet ? CLI_UNMET : CLI_OK;
}
