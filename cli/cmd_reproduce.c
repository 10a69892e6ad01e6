/*
 * `saddle reproduce`: the paper's experiments, its claims about them, and checks of its theory.
 *
 * The experiments and claims are the tables of lab/paper_experiments.c. Runs whose trace is
 * finished are not made again, so that the same command continues after an interrupt.
 */
#include <string.h>

#include "cli.h"
#include "core/print.h"
#include "core/status.h"
#include "draw/reproduction_drawing.h"
#include "files/file.h"
#include "lab/experiment_runs.h"
#include "lab/paths.h"
#include "result_tables.h"
#include "run/plan_files.h"

#define GROUP "Reproduction"
/* The defaults of --seeds. */
#define DEFAULT_SEEDS 10
#define QUICK_SEEDS 2

typedef struct options {
    cli_common common;
    const char *only; /* NULL: all */
    bool quick;
    uint64_t seeds; /* 0: automatic */
    const char *output;
} options;

static const saddle_option only_option =
    SADDLE_TEXT(SADDLE_OWN(options, only, RUN), "only", GROUP, "", "A,B,...",
                "Run only these experiments. The beginning of a name, such as steps, stands for "
                "all experiments whose names begin with it. Not given: all.");
static const saddle_option quick_option =
    SADDLE_FLAG(SADDLE_OWN(options, quick, RUN), "quick", GROUP, "no",
                "Make short runs with few samples and 2 seeds. This takes under a minute and shows "
                "that everything works.");
static const saddle_option seeds_option =
    SADDLE_INTEGER(SADDLE_OWN(options, seeds, RUN), "seeds", GROUP, "auto", 1, CLAIMS_MOST_SEEDS,
                   "K", "Repeat with seeds 1, 2, ..., K. auto: 10, or 2 with --quick.");
static const saddle_option output_option =
    SADDLE_TEXT(SADDLE_OWN(options, output, RUN), "output", GROUP, "saddle-reproduce", "DIR",
                "Directory for traces, figures, claims and report. It is created if missing. Runs "
                "that are already finished there are not repeated.");

static const saddle_option *const own[] = {&only_option,   &quick_option,     &seeds_option,
                                           &output_option, &cli_option_quiet, NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(engine.threads));

/* The state of the command. */
typedef struct work {
    reproduction result;
    cli_meter meter; /* of the current run */
    bool quiet;
    bool undrawn; /* a figure could not be drawn, and a warning was printed */
    DIR *held;    /* the output directory, held until the command ends */
} work;

/* ---- progress --------------------------------------------------------------------------------- */

static void on_trial(void *context, const char *label, const saddle_tuning *tuning,
                     const saddle_trial *trial)
{
    const work *w = context;
    if (!w->quiet)
        cli_progress("%srung %zu/%zu  %.0f%% of %.3g IFO calls", label, trial->rung + 1,
                     tuning->rungs, 100.0 * (double)tuning->spent / (double)tuning->budget,
                     (double)tuning->budget);
}

static saddle_hooks on_begin(void *context, const char *label)
{
    work *w = context;
    cli_progress_clear();
    w->meter = (cli_meter){.label = label, .run = label, .hidden = w->quiet};
    return cli_meter_hooks(&w->meter, w->result.runs.interrupt);
}

static void on_end(void *context, const char *label, const saddle_result *result)
{
    const work *w = context;
    cli_progress_clear();
    if (!w->quiet)
        cli_report_run(label, &result->rows[result->row_count - 1], result->stop);
}

/* ---- experiments ------------------------------------------------------------------------------ */

static void print_theorems(const reproduction_part *part)
{
    for (size_t s = 0; part->theorem != NULL && s < part->experiment->count; s++)
        if (part->theorem[s].seeds > 0)
            cli_print_theorem(&part->theorem[s]);
}

static saddle_status run_part(work *w, reproduction_part *part, saddle_error *error)
{
    bool there;
    if (part->chosen && !w->quiet) {
        char text[CLAIMS_TEXT];
        saddle_experiment_describe(&w->result.runs, part->experiment, text, sizeof text);
        cli_print("%s: %s\n", part->experiment->name, text);
        cli_flush();
    }
    saddle_status status = saddle_reproduction_run(&w->result, part, &there, error);
    cli_progress_clear();
    if (status != SADDLE_OK || !there || !part->chosen)
        return status;
    if (!w->quiet)
        print_theorems(part);
    saddle_error undrawn;
    if (!w->undrawn && reproduction_draw(&w->result, part, &undrawn) != SADDLE_OK) {
        cli_warn("no figures: %s", undrawn.message);
        w->undrawn = true;
    }
    return SADDLE_OK;
}

/* Warns about built-in data that replace the paper's. */
static void warn_of_substitutes(const work *w)
{
    const char *data;
    const char *name;
    for (size_t k = 0; (name = saddle_reproduction_substitute(&w->result, k, &data)) != NULL; k++)
        cli_warn("%s WAS NOT FOUND: built-in data '%s' replace it, and the results are not the "
                 "paper's; `saddle data fetch %s` downloads it",
                 name, data, name);
}

/* Prints how many runs were made and how many existed. */
static void print_end(const work *w)
{
    size_t there = w->result.runs.runs - w->result.runs.made;
    if (there == 0)
        cli_print(w->result.runs.runs == 1 ? "\n%zu run made" : "\nall %zu runs made",
                  w->result.runs.runs);
    else if (w->result.runs.made == 0)
        cli_print("\nno run made, all %zu existed", w->result.runs.runs);
    else
        cli_print("\n%zu of %zu runs made, the other %zu existed", w->result.runs.made,
                  w->result.runs.runs, there);
    cli_print("; claims.md, report.html, figures and traces are in %s\n", w->result.runs.directory);
}

/* Prints the claims of the paper, or ours, with their verdicts; nothing if there are none. */
static void print_claims_of(const claims_list *list, bool ours, const char *heading)
{
    size_t count = 0;
    for (size_t k = 0; k < list->claims; k++) {
        const claims_outcome *o = &list->outcome[k];
        char text[CLAIMS_TEXT];
        char verdict[CLAIMS_VERDICT];
        if (saddle_claim_is_ours(o->claim) != ours)
            continue;
        if (count++ == 0)
            cli_print("\n%s\n", heading);
        saddle_snprintf(text, sizeof text, "%s (%s): %s", o->claim->says,
                        saddle_claim_source(o->claim), saddle_claims_verdict_text(o, verdict));
        cli_print("%4zu. ", k + 1);
        cli_wrap(stdout, text, 6, 6, cli_width(1));
    }
}

static void print_claims(const reproduction *r)
{
    print_claims_of(&r->claims, false, "what the paper says, and what was measured");
    print_claims_of(&r->claims, true, "what we add");
}

static int conclude(work *w)
{
    saddle_error error;
    if (*w->result.runs.interrupt) {
        cli_say("interrupted; the same command continues from '%s'", w->result.runs.directory);
        return CLI_INTERRUPTED;
    }
    saddle_reproduction_drop_missing(&w->result);
    if (saddle_reproduction_decide(&w->result, &error) != SADDLE_OK ||
        saddle_reproduction_save(&w->result, &error) != SADDLE_OK ||
        reproduction_write_page(&w->result, &error) != SADDLE_OK)
        return cli_fail(&error);
    print_claims(&w->result);
    warn_of_substitutes(w);
    if (!w->quiet)
        print_end(w);
    return w->result.violated ? CLI_CHECK_FAILED : CLI_OK;
}

/* Refuses results that would overwrite the data. Runs check their own files. */
static saddle_status check_files(const work *w, saddle_error *error)
{
    static const char *const file[] = {"claims.md", "claims.json", "claims.csv",
                                       "costs.csv", "ends.csv",    "report.html"};
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        char path[LAB_PATH];
        saddle_snprintf(path, sizeof path, "%s/%s", w->result.runs.directory, file[k]);
        saddle_path_list_add(&outputs, "output", path);
    }
    saddle_data_add_inputs("a9a", "a9a", &inputs);
    saddle_data_add_inputs("mnist", "mnist", &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

static saddle_status prepare(work *w, const char *only, saddle_error *error)
{
    saddle_status status = saddle_reproduction_choose(&w->result, only, error);
    SADDLE_THEN(status, cli_check_directory("--output", w->result.runs.directory, error));
    SADDLE_THEN(status, check_files(w, error));
    SADDLE_THEN(status, saddle_reproduction_check_overwriting(&w->result, error));
    SADDLE_THEN(status, saddle_make_directory("output", w->result.runs.directory, error));
    SADDLE_THEN(status, saddle_lock_directory(&w->held, w->result.runs.directory, "output", error));
    char figures[LAB_PATH];
    saddle_snprintf(figures, sizeof figures, "%s/figures", w->result.runs.directory);
    SADDLE_THEN(status, saddle_make_directory("output", figures, error));
    return status;
}

static int run(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    saddle_error error;
    size_t seeds = chosen->quick ? QUICK_SEEDS : DEFAULT_SEEDS;
    if (chosen->seeds > 0)
        seeds = (size_t)chosen->seeds;
    work w = {.result.runs = {.directory = chosen->output,
                              .threads = arguments->plan.engine.threads,
                              .seeds = seeds,
                              .quick = chosen->quick,
                              .hooks = {&w, on_trial, on_begin, on_end}},
              .quiet = chosen->common.quiet};
    saddle_status status = prepare(&w, chosen->only != NULL ? chosen->only : "", &error);
    if (status == SADDLE_OK) {
        warn_of_substitutes(&w);
        w.result.runs.interrupt = cli_catch_interrupts();
    }
    for (size_t p = 0; status == SADDLE_OK && p < w.result.parts && !*w.result.runs.interrupt; p++)
        status = run_part(&w, &w.result.part[p], &error);
    int code = status == SADDLE_OK ? conclude(&w) : cli_fail(&error);
    saddle_reproduction_release(&w.result);
    saddle_unlock_directory(w.held);
    return code;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .operands = "",
    .summary = "repeat the PRECISION paper's experiments and check its claims",
    .details =
        "Repeats the experiments of the PRECISION paper on a9a and MNIST (or on built-in data, "
        "with a warning, if these are not found), with its settings taken as literally as "
        "possible. Then runs experiments of Saddle: every algorithm with the best steps and "
        "batches found by a search with the same budget for each, and networks that lose messages "
        "or have slow links (docs/networks.md). Decides each of the paper's claims by fixed rules "
        "(docs/reproduction.md), estimates how the cost grows with the accuracy (the exponents of "
        "the complexity), draws the figures, and compares the theorems' bounds with measurements. "
        "After an interrupt, the same command "
        "continues; with --only, claims and report also cover the other experiments that are "
        "finished in the directory. The exit status is 4 if a theorem's bound is violated; a claim "
        "that does not hold is a result, not an error.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
