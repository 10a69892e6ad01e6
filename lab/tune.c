/*
 * Successive halving over the candidates of tune_grid.c.
 *
 * K candidates make rungs of c_0 = K, c_{r+1} = ceil(c_r / 2), ..., 2 evaluations. With M IFO calls of the budget left,
 * rung r allots to each of its evaluations
 *
 *   b_r = floor( M 2^r / sum_{s >= r} c_s 2^s ),
 *
 * at least twice as many as rung r - 1, because calls that an evaluation does not use are distributed again. A run
 * stops after the iteration in which it reaches --max-ifo, so it is stopped at b_r - w + 1, where w is the largest cost
 * of an iteration. The budget is never exceeded.
 *
 * Every decision follows from the settings and from the values of earlier evaluations. Evaluations that are in the log
 * are taken from there, and the rest follows as it would have.
 */
#include "lab/tune.h"

#include "core/compare.h"
#include "core/float_mode.h"
#include "core/sizes.h"
#include "files/file.h"
#include "instance/plan.h"
#include "instance/plan_plugins.h"
#include "run/result.h"
#include "run/run.h"

/* The allotment of the first rung covers at least this many of the most expensive iterations. */
#define LEAST_ITERATIONS 5
/* The most candidates if the caller gives no number. */
#define AUTO_CANDIDATES 128

/* A run whose objective grows by this factor is diverging. */
#define RUNAWAY 10.0

/* The state of a search. */
typedef struct search {
    saddle_tune_space space;
    const saddle_tune_inputs *inputs;
    const saddle_tune_hooks *hooks;
    saddle_tune_instances instances;
    bool warned; /* the warnings of an evaluation were passed to the hook */
    saddle_tuning *tuning;
    saddle_tune_log log;
    size_t *active; /* candidates of the current rung, in the order of their numbers */
    size_t active_count;
} search;

/* The status of a step, agreed on by all processes. */
static saddle_status agree(const search *s, saddle_status status, saddle_error *error)
{
    return saddle_world_agree(s->space.instance->world, status, error);
}

/* ---- the schedule -------------------------------------------------------------------------- */

/* Computes c_0, c_1, ...; returns their number. */
static size_t make_field(size_t candidates, size_t field[SADDLE_TUNE_MOST_RUNGS])
{
    size_t rungs = 0;
    for (size_t c = candidates; rungs < SADDLE_TUNE_MOST_RUNGS; c = (c + 1) / 2) {
        field[rungs++] = c;
        if (c <= 2)
            break;
    }
    return rungs;
}

/* sum over s >= rung of c_s 2^(s - rung) */
static uint64_t weight_from(const size_t *field, size_t rungs, size_t rung)
{
    uint64_t sum = 0;
    for (size_t s = rung; s < rungs; s++)
        sum += (uint64_t)field[s] << (s - rung);
    return sum;
}

/* The smallest budget for `candidates` candidates; UINT64_MAX if it overflows. */
static uint64_t least_budget(const search *s, size_t candidates)
{
    size_t field[SADDLE_TUNE_MOST_RUNGS];
    size_t rungs = make_field(candidates, field);
    uint64_t weight = weight_from(field, rungs, 0) * LEAST_ITERATIONS;
    uint64_t most = s->space.forecast.most_ifo;
    return weight > 0 && most <= UINT64_MAX / weight ? weight * most : UINT64_MAX;
}

/* Decides the number of candidates: as given, or as many as the budget allows. */
static saddle_status count_candidates(search *s, size_t *out, saddle_error *error)
{
    size_t points = 0;
    SADDLE_TRY(saddle_tune_grid_size(s->tuning, &s->space, &points, error));
    size_t wanted = s->inputs->candidates;
    size_t count = wanted > 0 ? wanted : AUTO_CANDIDATES;
    count = count < points ? count : points;
    if (wanted == 0)
        while (count > 2 && least_budget(s, count) > s->tuning->budget)
            count--;
    saddle_tuning *t = s->tuning;
    t->points = points;
    t->least_allotment = LEAST_ITERATIONS * s->space.forecast.most_ifo;
    t->affordable = 1;
    while (t->affordable < SADDLE_TUNE_MOST_CANDIDATES &&
           least_budget(s, t->affordable + 1) <= t->budget)
        t->affordable++;
    size_t enough = points < SADDLE_TUNE_FEW ? points : SADDLE_TUNE_FEW;
    t->recommended_budget = wanted == 0 && count < enough ? least_budget(s, enough) : 0;
    *out = count;
    return SADDLE_OK;
}

static saddle_status choose_candidates(search *s, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    size_t count = 0;
    SADDLE_TRY(count_candidates(s, &count, error));
    if (least_budget(s, count) > t->budget)
        return saddle_refuse(
            error,
            "a budget of %" PRIu64
            " IFO calls is too small for %zu candidate%s of %s; give at least %" PRIu64,
            t->budget, count, SADDLE_PLURAL(count), t->algorithm->name, least_budget(s, count));
    SADDLE_TRY(saddle_tune_choose(t, &s->space, count, error));
    t->rungs = make_field(t->candidates, t->field);
    return SADDLE_OK;
}

/* ---- evaluations --------------------------------------------------------------------------- */

/* The plan of a candidate's run of at most `allotment` IFO calls, which writes nothing. */
static saddle_status trial_plan(const search *s, const saddle_trial *trial, saddle_plan *out,
                                saddle_error *error)
{
    saddle_plan defaults;
    saddle_plan_defaults(&defaults, sizeof defaults);
    SADDLE_TRY(saddle_plan_copy(out, s->space.plan, error));
    out->limits = defaults.limits;
    out->limits.iterations = SADDLE_UNLIMITED_ITERATIONS;
    out->limits.max_ifo = trial->allotment - s->space.forecast.most_ifo + 1;
    out->outputs = defaults.outputs;
    out->outputs.trace_every = UINT64_C(1) << 53;
    out->outputs.gap = SADDLE_GAP_NEVER;
    out->outputs.gap_parts = saddle_tune_is_attained(s->tuning);
    /* The same tau for all: with its own, a candidate could shrink the metric by a large tau. */
    out->outputs.metric_tau = s->space.forecast.plan.outputs.metric_tau;
    out->outputs.metric_direction = s->space.forecast.plan.outputs.metric_direction;
    return saddle_tune_apply(s->tuning, trial->candidate, out, error);
}

/* Whether a candidate failed: it diverged or is diverging. An outcome has no scale to tell the latter; what is
 * attained may be 0 at the start, so the metric tells it. */
static bool is_lost(const search *s, const saddle_result *result, double value)
{
    double start = saddle_tune_value(s->tuning, result, 0);
    if (saddle_tune_is_outcome(s->tuning->objective.name))
        return result->stop == SADDLE_STOP_DIVERGED || isnan(value);
    if (saddle_tune_is_attained(s->tuning))
        return result->stop == SADDLE_STOP_DIVERGED ||
               (!(value <= start) &&
                !(result->rows[result->row_count - 1].metric <= RUNAWAY * result->rows[0].metric));
    return result->stop == SADDLE_STOP_DIVERGED ||
           !(value <= start + (RUNAWAY - 1.0) * fabs(start));
}

/* Runs a candidate. If the run was interrupted, *interrupted is set and the trial is invalid. */
static saddle_status evaluate(search *s, saddle_trial *trial, bool *interrupted,
                              saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *result = NULL;
    saddle_hooks hooks = {.context = s->hooks->context,
                          .progress = s->hooks->progress,
                          .warning = s->warned ? NULL : s->hooks->warning,
                          .interrupt = s->hooks->interrupt};
    const saddle_instance *instance = NULL;
    s->warned = true;
    saddle_status status =
        saddle_tune_instance(&s->instances, s->tuning, trial->candidate, &instance, error);
    SADDLE_THEN(status, agree(s, trial_plan(s, trial, &plan, error), error));
    SADDLE_THEN(status, saddle_run_of_several(instance, &plan, false, &hooks, &result, error));
    if (status == SADDLE_OK) {
        const saddle_row *row = &result->rows[result->row_count - 1];
        double value = saddle_tune_value(s->tuning, result, result->row_count - 1);
        *interrupted = result->stop == SADDLE_STOP_INTERRUPTED;
        /* An interrupted run says nothing about the candidate. */
        trial->diverged = !*interrupted && is_lost(s, result, value);
        trial->value = trial->diverged ? (double)INFINITY : value;
        trial->ifo = result->cost.ifo;
        trial->iterations =
            result->stop == SADDLE_STOP_DIVERGED ? result->fault.iteration : row->iteration;
        if (trial->ifo > trial->allotment)
            status = saddle_fail(error, SADDLE_CHECK_FAILED,
                                 "an iteration of %s made more than the %" PRIu64
                                 " IFO calls that it declares as its maximum",
                                 s->tuning->algorithm->name, s->space.forecast.most_ifo);
    }
    /* An iterate that cannot be measured counts as diverged, at the full cost of the allotment. */
    if (status == SADDLE_NUMERIC) {
        trial->diverged = true;
        trial->value = (double)INFINITY;
        trial->ifo = trial->allotment;
        status = SADDLE_OK;
    }
    trial->cost = saddle_tune_cost(s->tuning, trial);
    return status;
}

/* Takes an evaluation from the log; *taken is false if the log has no more. */
static saddle_status take_logged(const search *s, saddle_trial *trial, bool *taken,
                                 saddle_error *error)
{
    size_t k = s->tuning->trial_count;
    *taken = k < s->log.count;
    if (!*taken)
        return SADDLE_OK;
    const saddle_trial *logged = &s->log.trials[k];
    if (logged->rung != trial->rung || logged->candidate != trial->candidate ||
        logged->allotment != trial->allotment)
        return saddle_refuse(
            error,
            "'%s': evaluation %zu does not belong to this search; start again in another directory",
            s->log.path, k + 1);
    *trial = *logged;
    return SADDLE_OK;
}

/* ---- rungs --------------------------------------------------------------------------------- */

/* Makes all evaluations of a rung; ends early, with SADDLE_OK, if interrupted. */
static saddle_status run_rung(search *s, size_t rung, bool *interrupted, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    uint64_t allotment = (t->budget - t->spent) / weight_from(t->field, t->rungs, rung);
    for (size_t k = 0; k < s->active_count; k++) {
        saddle_trial trial = {.rung = rung, .candidate = s->active[k], .allotment = allotment};
        bool taken = false;
        saddle_status status = take_logged(s, &trial, &taken, error);
        SADDLE_THEN_IF(status, !taken, evaluate(s, &trial, interrupted, error));
        if (status != SADDLE_OK || *interrupted)
            return status;
        if (!taken)
            SADDLE_TRY(agree(s, saddle_tune_log_write(&s->log, t, &trial, error), error));
        t->trials[t->trial_count++] = trial;
        t->spent += trial.ifo;
        t->resumed += taken;
        if (!taken && s->hooks->trial != NULL)
            s->hooks->trial(s->hooks->context, t, &trial);
    }
    return SADDLE_OK;
}

/* Keeps the better half of a rung for the next; the default always stays. */
static saddle_status halve(search *s, size_t rung, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    SADDLE_OWNED saddle_trial *sorted = saddle_alloc(s->active_count, sizeof *sorted);
    SADDLE_TRY(saddle_check_memory(sorted, "a rung", error));
    memcpy(sorted, t->trials + t->trial_count - s->active_count, s->active_count * sizeof *sorted);
    qsort(sorted, s->active_count, sizeof *sorted, saddle_trial_order);
    if (s->hooks->rung != NULL)
        s->hooks->rung(s->hooks->context, t, &sorted[0]);
    if (rung + 1 < t->rungs) {
        s->active_count = t->field[rung + 1];
        bool has_default = false;
        for (size_t k = 0; k < s->active_count; k++) {
            s->active[k] = sorted[k].candidate;
            has_default = has_default || sorted[k].candidate == 0;
        }
        if (!has_default)
            s->active[s->active_count - 1] = 0;
        qsort(s->active, s->active_count, sizeof *s->active, saddle_compare_sizes);
    }
    return SADDLE_OK;
}

static saddle_status run_rungs(search *s, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    saddle_status status = SADDLE_OK;
    bool interrupted = false;
    s->active_count = t->candidates;
    for (size_t k = 0; k < t->candidates; k++)
        s->active[k] = k;
    for (size_t rung = 0; status == SADDLE_OK && rung < t->rungs; rung++) {
        status = run_rung(s, rung, &interrupted, error);
        if (status != SADDLE_OK || interrupted)
            break;
        status = agree(s, halve(s, rung, error), error);
    }
    t->finished = status == SADDLE_OK && !interrupted;
    return status == SADDLE_OK ? saddle_tuning_rank(t, error) : status;
}

/* ---- begin and end ------------------------------------------------------------------------- */

/* Allocates all evaluations. */
static saddle_status allocate_trials(search *s, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    size_t trials = 0;
    for (size_t r = 0; r < t->rungs; r++)
        trials += t->field[r];
    t->trials = saddle_alloc(trials, sizeof *t->trials);
    t->ranking = saddle_alloc(t->candidates, sizeof *t->ranking);
    s->active = saddle_alloc(t->candidates, sizeof *s->active);
    if (t->trials == NULL || t->ranking == NULL || s->active == NULL)
        return saddle_no_memory(error, "the search");
    return SADDLE_OK;
}

static saddle_status look_ahead(search *s, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    const saddle_problem *problem = s->space.instance->problem;
    saddle_status status = saddle_algorithm_choose(&t->choice, s->space.plan,
                                                   s->space.instance->compression, NULL, error);
    t->algorithm = t->choice != NULL ? t->choice->algorithm : NULL;
    SADDLE_THEN(status,
                saddle_tune_read_search(t, s->inputs->search, s->space.plan,
                                        &s->space.instance->parts->choice, s->hooks, error));
    SADDLE_THEN(status, saddle_tune_read_hold(t, s->inputs->hold, s->space.plan, error));
    SADDLE_THEN(status,
                saddle_run_forecast(s->space.instance, s->space.plan, &s->space.forecast, error));
    SADDLE_THEN(status, saddle_tune_centre(&s->space, error));
    SADDLE_TRY(agree(s, status, error));
    status = saddle_tune_objective(&t->objective, s->space.instance, s->inputs->objective, error);
    SADDLE_THEN(status, saddle_tune_check_objective(t, s->space.instance, error));
    SADDLE_TRY(agree(s, status, error));
    t->budget = s->inputs->budget > 0
                    ? s->inputs->budget
                    : SADDLE_TUNE_PASSES * saddle_sizes_sum(problem->agents, problem->samples);
    if (s->inputs->candidates == 1 || s->inputs->candidates > SADDLE_TUNE_MOST_CANDIDATES)
        return saddle_refuse(
            error,
            "--candidates: %zu is too few or too many; give 2 to %d, or 0 for an automatic number",
            s->inputs->candidates, SADDLE_TUNE_MOST_CANDIDATES);
    return SADDLE_OK;
}

static saddle_status prepare(search *s, saddle_error *error)
{
    saddle_status status = look_ahead(s, error);
    SADDLE_THEN(status, choose_candidates(s, error));
    SADDLE_THEN(status, allocate_trials(s, error));
    status = agree(s, status, error);
    SADDLE_THEN(status, saddle_tune_log_open(&s->log, &s->space, s->tuning, s->inputs, error));
    return status;
}

/* The given plan with the best candidate's values; settings that cannot change the result of a
 * search are at their defaults. */
static saddle_status best_plan(search *s, saddle_error *error)
{
    saddle_tuning *t = s->tuning;
    char metric_tau[SADDLE_REAL_SIZE];
    saddle_print_real(s->space.forecast.plan.outputs.metric_tau, 15, metric_tau);
    /* Separate settings, because the given ones may include options of the calling program. */
    saddle_plan fields = *s->space.plan;
    fields.settings = NULL;
    SADDLE_TRY(saddle_plan_copy(&t->plan, &fields, error));
    SADDLE_TRY(saddle_plan_load_plugins(&t->plan, error));
    for (size_t k = 0; k < saddle_plan_option_count(&t->plan); k++) {
        const saddle_option *option = saddle_plan_option(&t->plan, k);
        if (saddle_effect_in(option, SADDLE_TUNE_IGNORED))
            saddle_plan_reset(&t->plan, option);
        else if (saddle_plan_given(s->space.plan, option))
            SADDLE_TRY(saddle_plan_set(&t->plan, option->name,
                                       SADDLE_PLAN_TEXT(s->space.plan, option), error));
    }
    SADDLE_TRY(saddle_plan_set(&t->plan, "algorithm", t->choice->text, error));
    SADDLE_TRY(saddle_plan_set(&t->plan, "metric-tau", metric_tau, error));
    for (size_t j = 0; j < t->option_count; j++)
        SADDLE_TRY(saddle_plan_set(&t->plan, t->option[j]->name,
                                   saddle_tuning_value(t, t->ranking[0], j), error));
    return SADDLE_OK;
}

/* Begins a search. */
static saddle_status open_search(search *s, saddle_plan *plan, const saddle_plan *given,
                                 saddle_error *error)
{
    saddle_status status =
        saddle_plan_copy(plan, given != NULL ? given : &s->space.instance->parts->given, error);
    SADDLE_THEN(status, saddle_plan_load_plugins(plan, error));
    s->space.plan = plan;
    s->tuning = saddle_alloc(1, sizeof *s->tuning);
    SADDLE_THEN(status, saddle_check_memory(s->tuning, "the search", error));
    return agree(s, status, error);
}

/* Frees everything of a search except its result. */
static void close_search(search *s, saddle_plan *plan)
{
    saddle_tune_log_close(&s->log);
    saddle_plan_free(&s->space.forecast.plan);
    saddle_plan_free(&s->space.centre);
    saddle_instance_free(s->instances.made);
    saddle_free(s->active);
    saddle_plan_free(plan);
}

saddle_status saddle_tune(saddle_tuning **out, const saddle_instance *instance,
                          const saddle_plan *given, const saddle_tune_inputs *inputs,
                          const saddle_tune_hooks *hooks, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, instance);
    static const saddle_tune_inputs no_inputs = {.budget = 0};
    static const saddle_tune_hooks no_hooks = {.context = NULL};
    saddle_plan plan;
    search s = {.space = {.instance = instance},
                .instances = {.given = instance},
                .inputs = inputs != NULL ? inputs : &no_inputs,
                .hooks = hooks != NULL ? hooks : &no_hooks};
    saddle_tune_hooks silent = {.interrupt = s.hooks->interrupt};
    /* Only process 0 calls hooks. */
    if (instance->world->rank > 0)
        s.hooks = &silent;
    saddle_status status = open_search(&s, &plan, given, error);
    SADDLE_THEN(status, prepare(&s, error));
    if (status == SADDLE_OK && s.hooks->begin != NULL)
        s.hooks->begin(s.hooks->context, s.tuning);
    SADDLE_THEN(status, run_rungs(&s, error));
    SADDLE_THEN(status, best_plan(&s, error));
    status = agree(&s, status, error);
    close_search(&s, &plan);
    if (status == SADDLE_OK)
        *out = s.tuning;
    else
        saddle_tuning_free(s.tuning);
    return status;
}

saddle_status saddle_tune_least_budget(const saddle_instance *instance, const saddle_plan *plan,
                                       const saddle_tune_inputs *inputs, uint64_t *out,
                                       saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, instance, plan, inputs, out);
    saddle_plan own;
    static const saddle_tune_hooks no_hooks = {.context = NULL};
    search s = {.space = {.instance = instance}, .inputs = inputs, .hooks = &no_hooks};
    size_t count = 0;
    saddle_status status = open_search(&s, &own, plan, error);
    SADDLE_THEN(status, look_ahead(&s, error));
    SADDLE_THEN(status, count_candidates(&s, &count, error));
    if (status == SADDLE_OK)
        *out = least_budget(&s, count);
    close_search(&s, &own);
    saddle_tuning_free(s.tuning);
    return status;
}
