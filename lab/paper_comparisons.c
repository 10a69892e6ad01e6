/* The paper's comparisons of algorithms, tested on any runs; see paper_comparisons.h. */
#include "lab/paper_comparisons.h"

#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "lab/trace_groups.h"

/* The experiment that results refer to, because the runs themselves are not kept. */
static const paper_experiment these_runs = {.name = "", .title = "These runs"};

/* The runs as an experiment with a series for each algorithm of the paper. */
typedef struct runs {
    experiment_series series[EXPERIMENT_MOST_SERIES];
    paper_experiment experiment;
    size_t seeds;
    const char *seed[CLAIMS_MOST_SEEDS];
    const saddle_trace *trace[EXPERIMENT_MOST_SERIES * CLAIMS_MOST_SEEDS];
} runs;

static bool has_costs(const saddle_trace *trace)
{
    static const char *const name[] = {"iteration", "ifo", "rounds", "metric"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++)
        if (saddle_trace_column(trace, name[k]) == NULL)
            return false;
    return true;
}

/* The index of a trace's seed among all seeds; CLAIMS_MOST_SEEDS if there are too many. */
static size_t index_of_seed(runs *r, const saddle_trace *trace)
{
    const char *seed = saddle_trace_setting(trace, "seed");
    size_t k = 0;
    while (k < r->seeds && strcmp(r->seed[k], seed) != 0)
        k++;
    if (k == r->seeds && k < CLAIMS_MOST_SEEDS)
        r->seed[r->seeds++] = seed;
    return k;
}

/* Whether an algorithm's runs differ only in their seed. Otherwise it is not clear which of them
 * to compare. */
static bool is_one_group(const trace_groups *g, const char *algorithm)
{
    size_t groups = 0;
    for (size_t k = 0; k < g->groups; k++)
        groups += g->group[k].algorithm != NULL && strcmp(g->group[k].algorithm, algorithm) == 0;
    return groups == 1;
}

/* Adds a series of an algorithm's runs, if some of them can be compared with the first trace. */
static void add_series(runs *r, const experiment_series *series, const saddle_trace *const *trace,
                       size_t count, const trace_groups *g)
{
    size_t index = r->experiment.count;
    bool some = false;
    if (!is_one_group(g, series->algorithm))
        return;
    for (size_t k = 0; k < count; k++) {
        const char *algorithm = saddle_trace_setting(trace[k], "algorithm");
        size_t seed = CLAIMS_MOST_SEEDS;
        if (strcmp(algorithm, series->algorithm) == 0 &&
            saddle_trace_same_instance(g, trace[0], trace[k]) && has_costs(trace[k]))
            seed = index_of_seed(r, trace[k]);
        if (seed == CLAIMS_MOST_SEEDS)
            continue;
        r->trace[index * CLAIMS_MOST_SEEDS + seed] = trace[k];
        some = true;
    }
    if (some)
        r->series[r->experiment.count++] = *series;
}

/* Moves the traces together, to trace[s * seeds + r]. */
static void pack(runs *r)
{
    for (size_t s = 0; s < r->experiment.count; s++)
        memmove((void *)(r->trace + s * r->seeds), (const void *)(r->trace + s * CLAIMS_MOST_SEEDS),
                r->seeds * sizeof(*r->trace));
}

/* Whether there are runs for both sides of a test. */
static bool can_be_decided(const runs *r, const paper_test *t)
{
    for (const char *word = t->series; *word != '\0';) {
        size_t length = strcspn(word, " ");
        if (saddle_paper_series(&r->experiment, word, length) == NULL)
            return false;
        word += length + (word[length] == ' ');
    }
    return true;
}

static void decide(claims_list *out, const runs *r, const paper_test *list, size_t count)
{
    out->seeds = r->seeds;
    for (size_t k = 0; k < count; k++)
        if (can_be_decided(r, &list[k]))
            saddle_claims_measure(&out->measurement[out->tests++], &list[k], &r->experiment,
                                  r->trace, r->seeds);
    for (size_t k = 0; k < out->tests; k++)
        out->measurement[k].experiment = &these_runs;
    saddle_claims_decide(out);
}

saddle_status saddle_paper_comparisons_make(claims_list *out, const saddle_trace *const *trace,
                                            size_t count, saddle_error *error)
{
    size_t tests;
    size_t algorithms;
    const paper_test *list = saddle_paper_comparison_tests(&tests);
    const experiment_series *series = saddle_paper_algorithms(&algorithms);
    trace_groups g = {.groups = 0};
    runs *r = calloc(1, sizeof *r);
    saddle_status status = saddle_claims_list_make(out, tests, 0, error);
    SADDLE_THEN_IF(status, r == NULL, saddle_no_memory(error, "the claims"));
    SADDLE_THEN(status, saddle_trace_groups_make(&g, trace, count, error));
    if (status == SADDLE_OK && r != NULL) {
        r->experiment = these_runs;
        r->experiment.series = r->series;
        for (size_t k = 0; k < algorithms; k++)
            add_series(r, &series[k], trace, count, &g);
        pack(r);
        decide(out, r, list, tests);
    }
    saddle_trace_groups_release(&g);
    free(r);
    if (status != SADDLE_OK)
        saddle_claims_list_release(out);
    return status;
}
