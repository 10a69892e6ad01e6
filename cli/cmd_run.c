/* `saddle run`: one algorithm on one problem, from options to trace, model and summary. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "draw/report.h"

/* About so many rows are printed of a run. */
#define SHOWN_ROWS 21

static const saddle_option *const own[] = {&cli_option_config, &cli_option_quiet,
                                           &cli_option_report, NULL};
static const char *const library[] = {CLI_PROBLEM, CLI_NETWORK,     CLI_ALGORITHM,
                                      CLI_START,   CLI_STOPPING,    CLI_ENGINE,
                                      CLI_OUTPUT,  CLI_CHECKPOINTS, NULL};

/* What the hooks need. */
typedef struct display {
    const saddle_problem_class *kind; /* what is solved */
    const char *problem;              /* as the user names it */
    bool quiet;
    bool table;           /* rows are printed */
    cli_meter meter;      /* for a terminal */
    uint64_t trace_every; /* iterations between rows */
    uint64_t stride;      /* rows between printed ones */
    uint64_t seen;        /* rows so far */
    uint64_t printed;     /* iteration of the last printed row; UINT64_MAX: none */
} display;

/* ---- the header ---------------------------------------------------------------------------- */

static void print_field(const char *name, const char *text)
{
    printf("  %-10s  ", name);
    cli_wrap(stdout, text, 14, 14, cli_width(STDOUT_FILENO));
}

/* Smallest and largest of ceil(sqrt(n_i)) as "20" or "20-25". */
static void default_batch(const saddle_problem *problem, char *out, size_t size)
{
    size_t low = SIZE_MAX;
    size_t high = 0;
    for (size_t i = 0; i < problem->agents; i++) {
        size_t batch = (size_t)ceil(sqrt((double)problem->samples[i]));
        low = batch < low ? batch : low;
        high = batch > high ? batch : high;
    }
    if (low == high)
        snprintf(out, size, "%zu", low);
    else
        snprintf(out, size, "%zu-%zu", low, high);
}

static void print_algorithm(const saddle_run_info *info)
{
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s:", info->algorithm->name);
    for (const saddle_option *const *option = info->algorithm->options; *option != NULL; option++) {
        const char *name = (*option)->name;
        const char *value = saddle_settings_value(info->plan->settings, *option);
        char batch[64];
        if (strcmp(name, "batch") == 0 && strcmp(value, "auto") == 0) {
            default_batch(info->instance->problem, batch, sizeof batch);
            value = batch;
        }
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s",
                                     option == info->algorithm->options ? "" : ",", name, value);
    }
    print_field("algorithm", text);
}

static void print_samples(const saddle_run_info *info, const saddle_problem_class *kind)
{
    const saddle_problem *problem = info->instance->problem;
    size_t low = SIZE_MAX;
    size_t high = 0;
    size_t sum = 0;
    for (size_t i = 0; i < problem->agents; i++) {
        size_t n = problem->samples[i];
        low = n < low ? n : low;
        high = n > high ? n : high;
        sum += n;
    }
    char text[512];
    char each[64];
    if (low == high)
        snprintf(each, sizeof each, "%zu per agent", low);
    else
        snprintf(each, sizeof each, "%zu to %zu per agent", low, high);
    bool data = kind->needs_data;
    snprintf(text, sizeof text, "%.200s%s%zu samples, %s%s%.100s",
             data ? info->plan->problem.data : "", data ? ", " : "", sum, each,
             data ? ", partition " : "", data ? info->plan->problem.partition : "");
    print_field("data", text);
}

/* When the run will stop. */
static void print_stops(const saddle_plan *plan)
{
    char text[256];
    int used =
        snprintf(text, sizeof text, "%llu iterations", (unsigned long long)plan->limits.iterations);
    size_t at = (size_t)used;
    if (plan->limits.tolerance > 0.0)
        at += (size_t)snprintf(text + at, sizeof text - at, " or metric <= %.15g",
                               plan->limits.tolerance);
    if (plan->limits.max_ifo > 0)
        at += (size_t)snprintf(text + at, sizeof text - at, " or %llu IFO calls",
                               (unsigned long long)plan->limits.max_ifo);
    if (plan->limits.max_rounds > 0)
        at += (size_t)snprintf(text + at, sizeof text - at, " or %llu rounds",
                               (unsigned long long)plan->limits.max_rounds);
    if (plan->limits.max_seconds > 0.0)
        snprintf(text + at, sizeof text - at, " or %.15g seconds", plan->limits.max_seconds);
    print_field("stops at", text);
}

/* The starting point, of x and y apart where they differ. */
static void print_start(const saddle_plan *plan)
{
    const char *x = plan->start.init_x != NULL ? plan->start.init_x : "auto";
    const char *y = plan->start.init_y != NULL ? plan->start.init_y : "auto";
    unsigned long long seed = plan->start.seed;
    char text[512];
    if (strcmp(x, y) == 0)
        snprintf(text, sizeof text, "%.200s, seed %llu", x, seed);
    else
        snprintf(text, sizeof text, "x %.200s, y %.200s, seed %llu", x, y, seed);
    print_field("start", text);
}

static void print_header(const saddle_run_info *info, const saddle_problem_class *kind)
{
    const saddle_instance *e = info->instance;
    const saddle_plan *plan = info->plan;
    char text[512];
    printf("saddle %s\n", saddle_version());
    snprintf(text, sizeof text, "%s: x in R^%zu, y in R^%zu", e->problem->name, e->problem->x_dim,
             e->problem->y_dim);
    print_field("problem", text);
    print_samples(info, kind);
    print_field("X", saddle_set_text(e->x_set));
    print_field("Y", saddle_set_text(e->y_set));
    print_field("h", saddle_regularizer_text(e->regularizer));
    snprintf(text, sizeof text,
             "%zu agents, topology %.150s, %zu edges, mixing %.150s, spectral "
             "gap %.4g",
             e->problem->agents, plan->network.topology, e->graph->edges, plan->network.mixing,
             e->spectrum.gap);
    print_field("network", text);
    print_algorithm(info);
    print_start(plan);
    print_stops(plan);
    if (info->resumed != NULL) {
        snprintf(text, sizeof text, "from iteration %llu, %.400s", (unsigned long long)info->start,
                 info->resumed);
        print_field("goes on", text);
    }
}

/* ---- the hooks ----------------------------------------------------------------------------- */

static void on_begin(void *context, const saddle_run_info *info)
{
    display *d = context;
    d->meter.iterations = info->plan->limits.iterations;
    d->trace_every = info->plan->outputs.trace_every;
    uint64_t points = d->trace_every > 0 ? info->plan->limits.iterations / d->trace_every + 1 : 1;
    d->stride = (points + SHOWN_ROWS - 1) / SHOWN_ROWS;
    if (d->quiet)
        return;
    print_header(info, d->kind);
    if (d->table)
        printf("\n%9s %11s %8s %8s %11s %11s %10s\n", "iteration", "ifo", "rounds", "seconds",
               "loss", "primal", "metric");
    if (!cli_flush() && cli_reader_gone())
        cli_interrupt();
}

static void print_row(display *d, const saddle_row *row)
{
    d->printed = row->iteration;
    printf("%9llu %11llu %8llu %8.3f %11.5g %11.5g %10.3e\n", (unsigned long long)row->iteration,
           (unsigned long long)row->cost.ifo, (unsigned long long)row->cost.rounds, row->seconds,
           row->loss, row->primal, row->metric);
    /* Nobody is left to print for: end, with the trace in order. */
    if (!cli_flush() && cli_reader_gone())
        cli_interrupt();
}

static void on_row(void *context, const saddle_row *row)
{
    display *d = context;
    d->meter.metric = row->metric;
    if (d->table && d->seen % d->stride == 0)
        print_row(d, row);
    d->seen++;
    if (!d->quiet)
        cli_meter_show(&d->meter, row->iteration, row->seconds);
}

static void on_progress(void *context, uint64_t iteration, double seconds)
{
    const display *d = context;
    if (!d->quiet)
        cli_meter_show(&d->meter, iteration, seconds);
}

static void on_warning(void *context, const char *message)
{
    (void)context;
    cli_warn("%s", message);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* What to change in an algorithm whose run diverged, by the steps it has and by the variable that is
 * farther off. Once an entry is not finite, all others soon are not, and it does not show which step
 * began. */
static const char *advice(const char *algorithm, const saddle_fault *fault)
{
    static const struct {
        const char *option;
        const char *in_x;
        const char *in_y;
        const char *in_both;
    } known[] = {
        {"nu", "lower --nu or raise --tau", "lower --alpha or --eta",
         "lower --nu and --eta, or raise --tau and lower --alpha"},
        {"eta-x", "lower --eta-x", "lower --eta-y", "lower --eta-x and --eta-y"},
        {"ppa-lipschitz", "raise --ppa-lipschitz", "raise --ppa-lipschitz",
         "raise --ppa-lipschitz"},
    };
    bool in_y = *fault->variable == 'y';
    const saddle_algorithm *found = NULL;
    if (saddle_algorithm_find(&found, algorithm, NULL) != SADDLE_OK)
        return "take smaller steps";
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (const saddle_option *const *option = found->options; *option != NULL; option++)
            if (strcmp((*option)->name, known[k].option) == 0)
                return !isfinite(fault->value) ? known[k].in_both
                       : in_y                  ? known[k].in_y
                                               : known[k].in_x;
    return "take smaller steps";
}

void cli_report_divergence(const saddle_result *result, const char *prefix)
{
    const saddle_fault *fault = &result->fault;
    const char *why = "";
    if (fault->kind == SADDLE_FAULT_RUNAWAY)
        why = "so large that the metric grows without bound: ";
    else if (isfinite(fault->value))
        why = "so large that the loss is not finite: ";
    cli_say("%sdiverged at iteration %llu: agent %zu, variable %s[%zu] is %s%.3g; %s", prefix,
            (unsigned long long)fault->iteration, fault->agent, fault->variable, fault->index, why,
            fault->value, advice(result->plan.algorithm.name, fault));
}

/* "accuracy 0.849, gap 0.18" */
static void print_outcomes(const char *title, const saddle_outcome *outcome, size_t count)
{
    char text[1024] = "";
    size_t used = 0;
    for (size_t k = 0; k < count && used < sizeof text; k++) {
        char number[CLI_NUMBER] = "not defined";
        if (!isnan(outcome[k].value))
            snprintf(number, sizeof number, "%.6g", outcome[k].value);
        int wrote = snprintf(text + used, sizeof text - used, "%s%s %s", k == 0 ? "" : ", ",
                             outcome[k].name, number);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (count > 0)
        print_field(title, text);
}

static void print_summary(const saddle_result *result)
{
    const saddle_row *row = &result->rows[result->row_count - 1];
    char text[512];
    char bytes[CLI_NUMBER];
    char time[CLI_NUMBER];
    printf("\nSummary\n");
    print_field("ended", saddle_stop_text(result->stop));
    if (result->stop == SADDLE_STOP_DIVERGED)
        print_field("", "what follows is the last row before it");
    snprintf(text, sizeof text,
             "%llu iterations, %llu IFO calls, %llu rounds, %llu messages, %s sent, %s",
             (unsigned long long)row->iteration, (unsigned long long)row->cost.ifo,
             (unsigned long long)row->cost.rounds, (unsigned long long)row->cost.messages,
             saddle_bytes_text((double)row->cost.bytes, bytes), cli_duration(row->seconds, time));
    print_field("cost", text);
    snprintf(text, sizeof text, "%.10g   (primal %.10g)", row->loss, row->primal);
    print_field("loss", text);
    snprintf(text, sizeof text,
             "%.6e = %.4e x stationarity + %.4e x consensus + %.4e y consensus + %.4e y gap",
             row->metric, row->x_stationarity, row->x_consensus, row->y_consensus, row->y_gap);
    print_field("metric", text);
    print_outcomes("worth", result->train, result->train_count);
    print_outcomes("held out", result->test, result->test_count);
    const char *trace = result->plan.outputs.trace;
    const char *model = result->plan.outputs.model;
    if (trace != NULL)
        print_field("trace", trace);
    if (result->checkpoint != NULL)
        print_field("checkpoint", result->checkpoint);
    if (model != NULL && result->stop == SADDLE_STOP_DIVERGED)
        print_field("model", "not written: the run diverged");
    else if (model != NULL)
        print_field("model", result->saved ? model : "not written");
    if (result->output_error.status != SADDLE_OK)
        print_field("lost", result->output_error.message);
}

static int conclude(display *d, const saddle_result *result)
{
    cli_progress_clear();
    const saddle_row *last = &result->rows[result->row_count - 1];
    if (d->table && d->printed != last->iteration)
        print_row(d, last);
    if (result->stop == SADDLE_STOP_DIVERGED)
        cli_report_divergence(result, "");
    if (!d->quiet)
        print_summary(result);
    if (result->stop == SADDLE_STOP_DIVERGED)
        return CLI_DIVERGED;
    if (result->stop == SADDLE_STOP_INTERRUPTED && result->checkpoint != NULL)
        cli_say("interrupted; `saddle run%s%s --resume %s` goes on",
                strchr(d->problem, '/') != NULL ? " --problem " : "",
                strchr(d->problem, '/') != NULL ? d->problem : "", result->plan.outputs.checkpoint);
    if (result->output_error.status != SADDLE_OK)
        return cli_fail(&result->output_error);
    if (result->stop == SADDLE_STOP_INTERRUPTED)
        return cli_reader_gone() ? CLI_FAILED : CLI_INTERRUPTED;
    return CLI_OK;
}

/* The run's trace with its outcomes, if they were written and all of them, as a page. */
static saddle_status write_report(const saddle_result *result, const char *path,
                                  saddle_error *error)
{
    const char *outcomes = result->plan.outputs.outcomes;
    saddle_trace *trace = NULL;
    saddle_trace *other = NULL;
    saddle_status status = saddle_result_trace(result, &trace, error);
    if (status == SADDLE_OK && outcomes != NULL && result->output_error.status == SADDLE_OK)
        status = saddle_trace_read(&other, outcomes, error);
    if (status == SADDLE_OK && other != NULL)
        status = saddle_trace_join(trace, other, error);
    const saddle_trace *const list[] = {trace};
    report_section section = {.traces = 1, .trace = list};
    report_page page = {.sections = 1, .section = &section};
    if (status == SADDLE_OK)
        status = report_write(&page, path, error);
    saddle_trace_free(other);
    saddle_trace_free(trace);
    return status;
}

/* Refuse, before the work begins, what would fail at its end. */
static saddle_status check_outputs(const cli_arguments *arguments, saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    const cli_common *common = arguments->own;
    const struct {
        const char *option;
        const char *path;
        bool stream;
    } output[] = {{"--trace", plan->outputs.trace, true},
                  {"--outcomes", plan->outputs.outcomes, true},
                  {"--model", plan->outputs.model, false},
                  {"--report", common->report, false}};
    size_t count = sizeof output / sizeof *output;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < count; k++) {
        status = cli_check_output(output[k].option, output[k].path, output[k].stream, error);
        for (size_t j = 0; status == SADDLE_OK && j < k; j++)
            status = cli_check_distinct(output[k].option, output[k].path, output[j].option,
                                        output[j].path, error);
        if (status == SADDLE_OK)
            status = cli_check_inputs(output[k].option, output[k].path, arguments, error);
    }
    if (status == SADDLE_OK && plan->outputs.checkpoint != NULL)
        status = cli_check_directory("--checkpoint", plan->outputs.checkpoint, error);
    return status;
}

/*
 * When a process of an MPI job dies, whoever started the job names it and tells the others to end:
 * they cannot write a checkpoint any more, but they can say how to go on. Two of them, for the one
 * that died may be the first.
 */
static void prepare_last_words(const saddle_plan *plan)
{
    size_t rank;
    if (strcmp(plan->engine.name, "mpi") != 0 || saddle_mpi_init(&rank, NULL) != SADDLE_OK ||
        rank > 1)
        return;
    const char *directory = plan->outputs.checkpoint;
    char text[900];
    if (directory != NULL)
        snprintf(
            text, sizeof text,
            "rank %zu is told to end; if another rank has failed, the job goes on from its last "
            "checkpoint with --checkpoint %.500s --resume",
            rank, directory);
    else
        snprintf(text, sizeof text,
                 "rank %zu is told to end; if another rank has failed, the job must start anew: it "
                 "keeps no checkpoint to resume from",
                 rank);
    cli_last_words(text);
}

static int run(const cli_arguments *given)
{
    cli_arguments arguments = *given;
    saddle_plan *plan = &arguments.plan;
    const cli_common *common = arguments.own;
    saddle_error error;
    const saddle_algorithm *algorithm;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    bool terminal = isatty(STDOUT_FILENO) && cli_has_progress();
    display d = {.quiet = common->quiet,
                 .table = !common->quiet && !terminal,
                 .meter = {.label = ""},
                 .stride = 1,
                 .printed = UINT64_MAX};
    saddle_status status = saddle_plan_copy(plan, &given->plan, &error);
    status = cli_agree(status, &error);
    if (status == SADDLE_OK)
        status = saddle_plan_resume(plan, cli_company(), &error);
    if (status == SADDLE_OK)
        status = saddle_algorithm_find(&algorithm, plan->algorithm.name, &error);
    if (status == SADDLE_OK && cli_leads())
        status = check_outputs(&arguments, &error);
    status = cli_agree(status, &error);
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, plan, &error);
    if (status == SADDLE_OK) {
        cli_warn_unused(plan, instance, &algorithm, 1);
        d.kind = instance->kind;
        d.problem = plan->problem.name;
        prepare_last_words(plan);
        saddle_hooks hooks = {.context = &d,
                              .begin = on_begin,
                              .row = on_row,
                              .progress = on_progress,
                              .warning = on_warning,
                              .interrupt = cli_catch_interrupts()};
        status = saddle_run(instance, plan, &hooks, &result, &error);
        /* How it ended is known here: a signal from now on only clears away. */
        cli_last_words("");
    }
    int code = status == SADDLE_OK ? conclude(&d, result) : cli_fail(&error);
    if (status == SADDLE_OK && common->report != NULL) {
        status = cli_leads() ? write_report(result, common->report, &error) : SADDLE_OK;
        if (cli_agree(status, &error) != SADDLE_OK)
            code = cli_fail(&error);
        else if (!common->quiet)
            print_field("report", common->report);
    }
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_plan_free(plan);
    return code;
}

const cli_command cli_run = {
    .name = "run",
    .operands = "",
    .summary = "solve a problem with one algorithm",
    .details =
        "Prints a progress line on a terminal and a table of rows otherwise, then a summary. With "
        "no option at all it runs PRECISION on the paper's problem with built-in data and 5 "
        "agents. Ctrl-C ends a run cleanly; a second one kills it. A trace or a model that cannot "
        "be "
        "written any more does not end a run: it is told, and the exit code is 1. With "
        "--checkpoint DIR nothing "
        "is "
        "lost when a run ends before its time: `saddle run --resume DIR` goes on where it was and "
        "comes to the same bits as if it had not ended, with the options of that run and on any "
        "number of threads. Its --iterations and budgets may be given anew.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(cli_common),
    .run = run,
};
