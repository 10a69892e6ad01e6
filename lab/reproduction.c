#include "lab/reproduction.h"

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "lab/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which experiments ------------------------------------------------------------------------ */

/* Whether a word of `only` matches an experiment. */
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

/* Refuses a word of `only` that matches no experiment. */
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
            saddle_append(names, sizeof names, "%s%s", k > 0 ? ", " : "", list[k].name);
        }
        if (!known)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "only: '%.*s' is not an experiment; the experiments are %s",
                               (int)length, word, names);
        word += length + (word[length] == ',');
    }
    return SADDLE_OK;
}

static saddle_status add_part(reproduction *r, const paper_experiment *e, bool chosen,
                              saddle_error *error)
{
    reproduction_part *part = &r->part[r->parts++];
    part->experiment = e;
    part->chosen = chosen;
    part->trace = (saddle_trace **)saddle_alloc(e->count * r->runs.seeds, sizeof *part->trace);
    return part->trace != NULL ? SADDLE_OK : saddle_no_memory(error, "the traces");
}

saddle_status saddle_reproduction_choose(reproduction *r, const char *only, saddle_error *error)
{
    saddle_status status = check_only(only, error);
    if (status != SADDLE_OK)
        return status;
    const paper_experiment *list = saddle_paper_experiments(&r->experiments);
    r->part = calloc(r->experiments, sizeof *r->part);
    if (r->part == NULL)
        return saddle_no_memory(error, "the experiments");
    for (size_t k = 0; k < r->experiments; k++) {
        bool chosen = is_chosen(only, list[k].name);
        SADDLE_TRY(add_part(r, &list[k], chosen, error));
        r->runs.runs += chosen ? list[k].count * r->runs.seeds : 0;
    }
    return SADDLE_OK;
}

void saddle_reproduction_drop_missing(reproduction *r)
{
    size_t kept = 0;
    for (size_t p = 0; p < r->parts; p++) {
        if (r->part[p].trace[0] != NULL)
            r->part[kept++] = r->part[p];
        else
            saddle_free((void *)r->part[p].trace);
    }
    r->parts = kept;
}

void saddle_reproduction_release(reproduction *r)
{
    for (size_t p = 0; p < r->parts; p++) {
        const reproduction_part *part = &r->part[p];
        size_t count = part->experiment->count * r->runs.seeds;
        for (size_t k = 0; part->bound != NULL && k < count; k++)
            saddle_trace_free(part->bound[k]);
        for (size_t k = 0; part->trace != NULL && k < count; k++)
            saddle_trace_free(part->trace[k]);
        free(part->theorem);
        free((void *)part->bound);
        saddle_free((void *)part->trace);
    }
    free(r->part);
    saddle_claims_list_release(&r->claims);
}

/* ---- data ------------------------------------------------------------------------------------- */

/* Whether the directory has a claims.json whose head contains `what`. */
static bool records(const reproduction *r, const char *what)
{
    char path[LAB_PATH];
    char head[512] = "";
    saddle_snprintf(path, sizeof path, "%s/claims.json", r->runs.directory);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    bool found = fread(head, 1, sizeof head - 1, f) > 0 && strstr(head, what) != NULL;
    fclose(f);
    return found;
}

/* The paper's data sets, and how claims.json records that results are from them. */
static const struct {
    experiment_data data;
    const char *name;
    const char *recorded;
} real_data[] = {{EXPERIMENT_A9A, "a9a", "\"a9a\": \"file\""},
                 {EXPERIMENT_MNIST, "mnist", "\"mnist\": \"file\""}};
#define REAL_DATA (sizeof real_data / sizeof *real_data)

/* Whether built-in data replace the k-th data set in a chosen experiment. */
static bool is_replaced(const reproduction *r, size_t k)
{
    bool used = false;
    for (size_t p = 0; p < r->parts; p++)
        used = used || (r->part[p].chosen && r->part[p].experiment->data == real_data[k].data);
    return used && saddle_paper_data_is_substitute(real_data[k].data);
}

saddle_status saddle_reproduction_check_overwriting(const reproduction *r, saddle_error *error)
{
    const char *directory = r->runs.directory;
    if (r->runs.quick && records(r, "\"quick\": false"))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "output: '%.200s' holds results of full runs, which short runs would "
                           "overwrite; give another directory",
                           directory);
    for (size_t k = 0; k < REAL_DATA; k++)
        if (is_replaced(r, k) && records(r, real_data[k].recorded))
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "output: '%.200s' holds results on %s, which is not found now: "
                               "results on built-in data would overwrite them; set SADDLE_DATA to "
                               "its directory, or give another output",
                               directory, real_data[k].name);
    return SADDLE_OK;
}

const char *saddle_reproduction_substitute(const reproduction *r, size_t k, const char **data)
{
    for (size_t j = 0; j < REAL_DATA; j++)
        if (is_replaced(r, j) && k-- == 0) {
            *data = saddle_paper_data(real_data[j].data);
            return real_data[j].name;
        }
    return NULL;
}

/* ---- theorems --------------------------------------------------------------------------------- */

/* Evaluates a theorem for a series with one seed. */
static saddle_status evaluate(const reproduction *r, const paper_experiment *e,
                              const experiment_series *series, size_t seed, saddle_theory *theory,
                              double *c_epsilon, saddle_error *error)
{
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_status status = saddle_experiment_runs_plan(&plan, &r->runs, e, series, error);
    plan.start.seed = seed;
    SADDLE_THEN(status, saddle_instance_create(&instance, &plan, error));
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

/* Compares one run with a theorem; *why receives the reason if the theorem does not apply. */
static saddle_status check_run(reproduction *r, reproduction_part *part, size_t s, size_t seed,
                               theorem_check *v, const char **why, saddle_error *error)
{
    size_t index = s * r->runs.seeds + seed;
    const saddle_trace *trace = part->trace[index];
    saddle_theory theory;
    double c_epsilon;
    saddle_status status = evaluate(r, part->experiment, &part->experiment->series[s], seed + 1,
                                    &theory, &c_epsilon, error);
    if (status != SADDLE_OK || trace == NULL || !saddle_theorem_applies(&theory, v->plus, why))
        return status;
    theorem_bound bound = saddle_theorem_bound_of(&theory, v->plus, c_epsilon);
    saddle_theorem_add_trace(v, &bound, trace);
    return saddle_derive_bound(&part->bound[index], trace, &bound, v->plus, error);
}

/* Compares the series with their theorems. */
static saddle_status check_theorems(reproduction *r, reproduction_part *part, saddle_error *error)
{
    const paper_experiment *e = part->experiment;
    theorem_check *v = part->theorem = calloc(e->count, sizeof *v);
    part->bound = calloc(e->count * r->runs.seeds, sizeof *part->bound);
    saddle_status status = SADDLE_OK;
    if (v == NULL || part->bound == NULL)
        return saddle_no_memory(error, "the theorems");
    for (size_t s = 0; status == SADDLE_OK && s < e->count; s++) {
        v[s].plus = strcmp(e->series[s].algorithm, "precision+") == 0;
        for (size_t k = 0; status == SADDLE_OK && k < r->runs.seeds; k++)
            status = check_run(r, part, s, k, &v[s], &part->why_not[s], error);
        r->violated = r->violated || (v[s].seeds > 0 && saddle_theorem_violated(&v[s]));
    }
    return status;
}

/* Fills in the result of a theorem's test. */
static void measure_theorem(claims_measurement *m, const reproduction_part *part)
{
    const paper_experiment *e = part->experiment;
    const experiment_series *series =
        saddle_paper_series(e, m->test->series, strlen(m->test->series));
    size_t s = (size_t)(series - e->series);
    const theorem_check *v = &part->theorem[s];
    m->levels = 1;
    if (v->seeds > 0) {
        m->level[0].state = saddle_theorem_violated(v)     ? STATE_FALSE
                            : saddle_theorem_is_vacuous(v) ? STATE_SILENT
                                                           : STATE_TRUE;
        saddle_theorem_describe(v, m->numbers, sizeof m->numbers);
    } else {
        saddle_snprintf(m->numbers, sizeof m->numbers, "no guarantee here: %s",
                        part->why_not[s] != NULL ? part->why_not[s] : "");
    }
}

/* ---- experiments ------------------------------------------------------------------------------ */

/* The part with an experiment's traces; NULL: there is none. */
static const reproduction_part *part_of(const reproduction *r, const char *experiment)
{
    for (size_t p = 0; p < r->parts; p++)
        if (strcmp(r->part[p].experiment->name, experiment) == 0)
            return &r->part[p];
    return NULL;
}

saddle_status saddle_reproduction_decide(reproduction *r, saddle_error *error)
{
    size_t count;
    const paper_test *list = saddle_paper_tests(&count);
    SADDLE_TRY(saddle_claims_list_make(&r->claims, count, r->runs.seeds, error));
    for (size_t k = 0; k < count; k++) {
        const reproduction_part *part = part_of(r, list[k].experiment);
        if (part == NULL)
            continue;
        claims_measurement *m = &r->claims.measurement[r->claims.tests++];
        saddle_claims_measure(m, &list[k], part->experiment,
                              (const saddle_trace *const *)part->trace, r->runs.seeds);
        if (list[k].kind == TEST_THEOREM)
            measure_theorem(m, part);
    }
    saddle_claims_decide(&r->claims);
    return SADDLE_OK;
}

/* Makes the runs of a chosen part, or finds those of another one, which is left out without
 * them. */
static saddle_status gather(reproduction *r, reproduction_part *part, bool *there,
                            saddle_error *error)
{
    if (!part->chosen) {
        *there = saddle_experiment_runs_find(&r->runs, part->experiment, part->trace);
        return SADDLE_OK;
    }
    saddle_status status =
        saddle_experiment_runs_make(&r->runs, part->experiment, part->trace, error);
    *there = status == SADDLE_OK && !*r->runs.interrupt;
    return status;
}

saddle_status saddle_reproduction_run(reproduction *r, reproduction_part *part, bool *there,
                                      saddle_error *error)
{
    *there = false;
    saddle_status status = gather(r, part, there, error);
    SADDLE_THEN_IF(status, *there,
                   saddle_derive_columns(part->experiment, part->trace, r->runs.seeds, error));
    if (status != SADDLE_OK || !*there)
        return status;
    return strcmp(part->experiment->name, "theorem") == 0 ? check_theorems(r, part, error)
                                                          : SADDLE_OK;
}
