/*
 * `saddle reproduce`: the paper's experiments, its claims about them, and checks of its theory.
 *
 * The experiments and claims are the tables of experiments.c; whatever a finished trace says is not
 * computed again, so that the same command goes on after an interrupt.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "draw/reproduction_drawing.h"
#include "files/file.h"
#include "lab/experiment_runs.h"
#include "result_tables.h"

#define GROUP "Reproduction"
/* Seeds when the user does not say. */
#define DEFAULT_SEEDS 5
#define QUICK_SEEDS 2

typedef struct options {
    cli_common common;
    const char *only; /* NULL: all */
    bool quick;
    uint64_t seeds; /* 0: automatic */
    const char *output;
} options;

static const saddle_option only_option = {
    SADDLE_OWN(options, only, RUN),
    .name = "only",
    .group = GROUP,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "",
    .metavar = "A,B,...",
    .help = "Make these experiments alone; the first part of a name, such as steps, stands for all "
            "that begin with it. Not given: all."};
static const saddle_option quick_option = {
    SADDLE_OWN(options, quick, RUN),
    .name = "quick",
    .group = GROUP,
    .kind = SADDLE_OPTION_FLAG,
    .fallback = "no",
    .help = "Shorter runs, fewer samples, 2 seeds: under a minute, to see that it works."};
static const saddle_option seeds_option = {
    SADDLE_OWN(options, seeds, RUN),
    .name = "seeds",
    .group = GROUP,
    .kind = SADDLE_OPTION_INTEGER,
    .fallback = "auto",
    .minimum = 1,
    .maximum = CLAIMS_MOST_SEEDS,
    .metavar = "K",
    .help = "Repeat with seeds 1, 2, ..., K. auto: 5, or 2 with --quick."};
static const saddle_option output_option = {
    SADDLE_OWN(options, output, RUN),
    .name = "output",
    .group = GROUP,
    .kind = SADDLE_OPTION_TEXT,
    .fallback = "saddle-reproduce",
    .metavar = "DIR",
    .help = "Where traces, figures, claims and the report go; made when missing. What is finished "
            "there is not made again."};
static const saddle_option quiet_option = {SADDLE_OWN(options, common.quiet, RUN),
                                           .name = "quiet",
                                           .group = CLI_OUTPUT,
                                           .kind = SADDLE_OPTION_FLAG,
                                           .fallback = "no",
                                           .help = "Print only the claims, warnings and errors."};

static const saddle_option *const own[] = {&only_option,   &quick_option, &seeds_option,
                                           &output_option, &quiet_option, NULL};
static const char *const library[] = {"threads", NULL};

/* The work. */
typedef struct work {
    experiment_runs runs;
    cli_meter meter; /* of the run at hand */
    bool quiet;
    reproduction result;
    bool violated; /* a theorem's bound */
    bool undrawn;  /* a figure could not be drawn, which was said */
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
    return cli_meter_hooks(&w->meter, w->runs.interrupt);
}

static void on_end(void *context, const char *label, const saddle_result *result)
{
    const work *w = context;
    cli_progress_clear();
    if (!w->quiet)
        cli_report_run(label, &result->rows[result->row_count - 1], result->stop);
}

/* ---- which experiments ------------------------------------------------------------------------ */

/* Whether a word of --only stands for an experiment. */
static bool stands_for(const char *word, size_t length, const char *name)
{
    return strncmp(word, name, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

static bool is_chosen(const char *only, const char *name)
{
    bool chosen = *only == '\0';
    for (const char *word = only; *word != '\0';) {
        size_t length = strcspn(word, ",");
        chosen = chosen || (length > 0 && stands_for(word, length, name));
        word += length + (word[length] == ',');
    }
    return chosen;
}

/* Refuse a word of --only that stands for nothing. */
static saddle_status check_only(const char *only, saddle_error *error)
{
    size_t count;
    const paper_experiment *list = saddle_paper_experiments(&count);
    for (const char *word = only; *word != '\0';) {
        size_t length = strcspn(word, ",");
        bool known = false;
        char names[1024] = "";
        for (size_t k = 0; k < count; k++) {
            known = known || (length > 0 && stands_for(word, length, list[k].name));
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k > 0 ? ", " : "",
                     list[k].name);
        }
        if (!known)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "--only: '%.*s' is no experiment; there are %s", (int)length, word,
                               names);
        word += length + (word[length] == ',');
    }
    return SADDLE_OK;
}

/* Room for all experiments, whether they were chosen or are to be found finished. */
static saddle_status choose(work *w, const char *only, saddle_error *error)
{
    reproduction *r = &w->result;
    const paper_experiment *list = saddle_paper_experiments(&r->experiments);
    size_t claims;
    saddle_paper_claims(&claims);
    r->part = calloc(r->experiments, sizeof *r->part);
    /* Besides those of the table, one for each theorem. */
    r->claim = calloc(claims + 2, sizeof *r->claim);
    if (r->part == NULL || r->claim == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the experiments");
    for (size_t k = 0; k < r->experiments; k++) {
        bool chosen = is_chosen(only, list[k].name);
        saddle_status status = saddle_reproduction_add(r, &list[k], chosen, error);
        if (status != SADDLE_OK)
            return status;
        w->runs.runs += chosen ? list[k].count * r->seeds : 0;
    }
    return SADDLE_OK;
}

/* Leave out the experiments that were neither chosen nor finished before. */
static void drop_missing(reproduction *r)
{
    size_t kept = 0;
    for (size_t p = 0; p < r->parts; p++) {
        if (r->part[p].trace[0] != NULL)
            r->part[kept++] = r->part[p];
        else
            free((void *)r->part[p].trace);
    }
    r->parts = kept;
}

/* The paper's data, and how claims.json says that results are of them. */
static const struct {
    experiment_data data;
    const char *name;
    const char *said;
} real_data[] = {{EXPERIMENT_A9A, "a9a", "\"a9a\": \"file\""},
                 {EXPERIMENT_MNIST, "mnist", "\"mnist\": \"file\""}};
#define REAL_DATA (sizeof real_data / sizeof *real_data)

/* Whether built-in data stand in for the k-th of them in an experiment that was chosen. */
static bool is_replaced(const work *w, size_t k)
{
    bool used = false;
    for (size_t p = 0; p < w->result.parts; p++)
        used = used || (w->result.part[p].chosen &&
                        w->result.part[p].experiment->data == real_data[k].data);
    return used && saddle_paper_data_is_substitute(real_data[k].data);
}

/* Results are the work of minutes: lesser ones, of the same names, do not take their place. */
static saddle_status check_overwriting(const work *w, saddle_error *error)
{
    const char *directory = w->result.directory;
    if (w->result.quick && saddle_reproduction_said(&w->result, "\"quick\": false"))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--output: '%.200s' holds results of a run without --quick, which "
                           "would be overwritten; give another directory",
                           directory);
    for (size_t k = 0; k < REAL_DATA; k++)
        if (is_replaced(w, k) && saddle_reproduction_said(&w->result, real_data[k].said))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "--output: '%.200s' holds results on %s, which is not here now: "
                               "those on built-in data would overwrite them; say by SADDLE_DATA "
                               "where it is, or give another directory",
                               directory, real_data[k].name);
    return SADDLE_OK;
}

/* ---- theorems --------------------------------------------------------------------------------- */

/* What a theorem says about a series with one seed. */
static saddle_status evaluate(const work *w, const paper_experiment *e,
                              const experiment_series *series, size_t seed, saddle_theory *theory,
                              double *c_epsilon, saddle_error *error)
{
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_status status = saddle_experiment_runs_plan(&plan, &w->runs, e, series, error);
    plan.start.seed = seed;
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK) {
        double epsilon = plan.steps.epsilon;
        *c_epsilon = plan.steps.c_epsilon;
        status = saddle_theory_evaluate(instance, plan.steps.tau, isnan(epsilon) ? 0.1 : epsilon,
                                        *c_epsilon, plan.steps.c_gamma, theory, error);
    }
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

/* Compare one run with a theorem; `why` says why not, where the theorem says nothing. */
static saddle_status check_run(work *w, reproduction_part *part, size_t s, size_t seed,
                               theorem_check *v, const char **why, saddle_error *error)
{
    size_t place = s * w->result.seeds + seed;
    const saddle_trace *trace = part->trace[place];
    saddle_theory theory;
    double c_epsilon;
    saddle_status status = evaluate(w, part->experiment, &part->experiment->series[s], seed + 1,
                                    &theory, &c_epsilon, error);
    if (status != SADDLE_OK || trace == NULL || !saddle_theorem_applies(&theory, v->plus, why))
        return status;
    theorem_bound bound = saddle_theorem_bound_of(&theory, v->plus, c_epsilon);
    saddle_theorem_add(v, &bound, trace->rows, saddle_trace_column(trace, "iteration"),
                       saddle_trace_column(trace, "metric"),
                       saddle_trace_column(trace, "potential"));
    return saddle_derive_bound(&part->bound[place], trace, &bound, v->plus, error);
}

/* What became of a theorem. */
static void add_theorem(work *w, const paper_experiment *e, const paper_claim *statement,
                        const theorem_check *v, const char *why)
{
    claims_outcome *o = &w->result.claim[w->result.claims++];
    *o = (claims_outcome){.claim = statement, .experiment = e, .seeds = v->seeds};
    snprintf(o->statement, sizeof o->statement,
             "%s: mean metric and potential respect the bounds of Theorem %d with its steps",
             e->title, v->plus ? 2 : 1);
    bool violated = v->seeds > 0 && saddle_theorem_violated(v);
    o->verdict = v->seeds == 0 ? CLAIM_UNDECIDED : violated ? CLAIM_FAILS : CLAIM_HOLDS;
    w->violated = w->violated || violated;
    if (v->seeds > 0)
        saddle_theorem_describe(v, o->numbers, sizeof o->numbers);
    else
        snprintf(o->numbers, sizeof o->numbers, "it promises nothing here: %s", why);
}

/* Compare the series with their theorems and add the claims. */
static saddle_status check_theorems(work *w, reproduction_part *part, saddle_error *error)
{
    static const char says[] = "Theorems 1 and 2 bound metric and potential";
    static const paper_claim theorem[] = {
        {.experiment = "theorem", .source = "theorem 1", .theme = says},
        {.experiment = "theorem", .source = "theorem 2", .theme = says}};
    const paper_experiment *e = part->experiment;
    theorem_check *v = calloc(e->count, sizeof *v);
    part->bound = calloc(e->count * w->result.seeds, sizeof *part->bound);
    saddle_status status = SADDLE_OK;
    if (v == NULL || part->bound == NULL) {
        saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the theorems");
        status = SADDLE_NO_MEMORY;
    }
    for (size_t s = 0; status == SADDLE_OK && s < e->count; s++) {
        const char *why = "";
        v[s].plus = strcmp(e->series[s].algorithm, "precision+") == 0;
        for (size_t k = 0; status == SADDLE_OK && k < w->result.seeds; k++)
            status = check_run(w, part, s, k, &v[s], &why, error);
        if (status != SADDLE_OK)
            break;
        add_theorem(w, e, &theorem[s], &v[s], why);
        if (!w->quiet && part->chosen && v[s].seeds > 0)
            cli_print_theorem(&v[s]);
    }
    free(v);
    return status;
}

/* ---- experiments ------------------------------------------------------------------------------ */

static void decide_claims(work *w, const reproduction_part *part)
{
    size_t count;
    const paper_claim *list = saddle_paper_claims(&count);
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k].experiment, part->experiment->name) == 0)
            saddle_claims_decide(&w->result.claim[w->result.claims++], &list[k], part->experiment,
                                 (const saddle_trace *const *)part->trace, w->result.seeds);
}

/* Make the runs of a part, or find those of one that was not chosen: without them it is left out. */
static saddle_status gather_part(work *w, reproduction_part *part, bool *there, saddle_error *error)
{
    const paper_experiment *e = part->experiment;
    if (!part->chosen) {
        *there = saddle_experiment_runs_find(&w->runs, e, part->trace);
        return SADDLE_OK;
    }
    if (!w->quiet) {
        printf("%s: %s\n", e->name, e->source);
        cli_flush();
    }
    saddle_status status = saddle_experiment_runs_make(&w->runs, e, part->trace, error);
    cli_progress_clear();
    *there = status == SADDLE_OK && !*w->runs.interrupt;
    return status;
}

static saddle_status run_part(work *w, reproduction_part *part, saddle_error *error)
{
    const paper_experiment *e = part->experiment;
    bool there = false;
    saddle_status status = gather_part(w, part, &there, error);
    if (status == SADDLE_OK && there)
        status = saddle_derive_columns(e, part->trace, w->result.seeds, error);
    if (status != SADDLE_OK || !there)
        return status;
    if (strcmp(e->name, "theorem") == 0)
        status = check_theorems(w, part, error);
    else
        decide_claims(w, part);
    saddle_error undrawn;
    if (status == SADDLE_OK && part->chosen && !w->undrawn &&
        reproduction_draw(&w->result, part, &undrawn) != SADDLE_OK) {
        cli_warn("no figures: %s", undrawn.message);
        w->undrawn = true;
    }
    return status;
}

/* Say loudly which data are not the paper's. */
static void warn_of_substitutes(const work *w)
{
    for (size_t k = 0; k < REAL_DATA; k++)
        if (is_replaced(w, k))
            cli_warn("%s IS NOT HERE: built-in data '%s' stand in for it, and results are not the "
                     "paper's; `saddle data fetch %s` downloads it",
                     real_data[k].name, saddle_paper_data(real_data[k].data), real_data[k].name);
}

/* How much of the work there was to do. */
static void print_end(const work *w)
{
    size_t there = w->runs.runs - w->runs.made;
    if (there == 0)
        printf("\nall %zu runs made", w->runs.runs);
    else if (w->runs.made == 0)
        printf("\nno run made, all %zu were there", w->runs.runs);
    else
        printf("\n%zu of %zu runs made, the other %zu %s there", w->runs.made, w->runs.runs, there,
               there == 1 ? "was" : "were");
    printf("; claims.md, report.html, figures and traces are in %s\n", w->result.directory);
}

static int conclude(work *w)
{
    saddle_error error;
    if (*w->runs.interrupt) {
        fprintf(stderr, "saddle: interrupted; the same command goes on from '%s'\n",
                w->result.directory);
        return CLI_INTERRUPTED;
    }
    drop_missing(&w->result);
    if (saddle_reproduction_save(&w->result, &error) != SADDLE_OK ||
        reproduction_write_page(&w->result, &error) != SADDLE_OK)
        return cli_fail(&error);
    cli_print_claims(&w->result);
    warn_of_substitutes(w);
    if (!w->quiet)
        print_end(w);
    return w->violated ? CLI_CHECK_FAILED : CLI_OK;
}

static saddle_status prepare(work *w, const char *only, saddle_error *error)
{
    saddle_status status = check_only(only, error);
    if (status == SADDLE_OK)
        status = cli_check_directory("--output", w->result.directory, error);
    if (status == SADDLE_OK)
        status = choose(w, only, error);
    if (status == SADDLE_OK)
        status = check_overwriting(w, error);
    if (status == SADDLE_OK)
        status = saddle_make_directory("--output", w->result.directory, error);
    char *figures = NULL;
    if (status == SADDLE_OK && asprintf(&figures, "%s/figures", w->result.directory) < 0)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a path");
    if (status == SADDLE_OK)
        status = saddle_make_directory("--output", figures, error);
    free(figures);
    return status;
}

static int run(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    saddle_error error;
    size_t seeds = chosen->quick ? QUICK_SEEDS : DEFAULT_SEEDS;
    if (chosen->seeds > 0)
        seeds = (size_t)chosen->seeds;
    work w = {.runs = {.directory = chosen->output,
                       .threads = arguments->plan.engine.threads,
                       .seeds = seeds,
                       .quick = chosen->quick,
                       .hooks = {&w, on_trial, on_begin, on_end}},
              .quiet = chosen->common.quiet,
              .result = {.directory = chosen->output, .seeds = seeds, .quick = chosen->quick}};
    saddle_status status = prepare(&w, chosen->only != NULL ? chosen->only : "", &error);
    if (status == SADDLE_OK) {
        warn_of_substitutes(&w);
        w.runs.interrupt = cli_catch_interrupts();
    }
    for (size_t p = 0; status == SADDLE_OK && p < w.result.parts && !*w.runs.interrupt; p++)
        status = run_part(&w, &w.result.part[p], &error);
    int code = status == SADDLE_OK ? conclude(&w) : cli_fail(&error);
    saddle_reproduction_release(&w.result);
    return code;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .operands = "",
    .summary = "run the paper's experiments, check its claims, draw its figures",
    .details =
        "Runs the experimental section of the PRECISION paper on a9a and MNIST (built-in data "
        "where "
        "they are not found, with a warning), with nu = eta = 0.1 as there; tau and alpha, which "
        "it "
        "does not give, are searched for each algorithm with the same number of IFO calls. Then "
        "decides every claim by rules fixed beforehand (docs/reproduction.md), fits the exponents "
        "of the complexity, and compares the theorems' bounds with measurements. The same command "
        "goes on where an earlier one stopped; with --only, claims and report cover the other "
        "experiments, too, that are finished in the directory. Exit status 4 if a theorem's bound "
        "is violated; a "
        "claim that does not hold is a result.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
