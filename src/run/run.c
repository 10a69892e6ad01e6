/* The run's loop: advance, measure, check, record; and the limits at which it ends. */
#include "run/run.h"

#include "core/clock.h"
#include "core/float_mode.h"
#include "run/result.h"

/* Seconds between two calls of the progress hook. */
#define PROGRESS_SECONDS 0.2

/* ---- limits ------------------------------------------------------------------------------- */

/* Distributes the time spent, and whether a process was interrupted, so that all processes
 * decide alike. Collective. */
static void share_progress(saddle_run_state *r)
{
    const saddle_world *world = r->info.instance->world;
    bool own = r->hooks->interrupt != NULL && *r->hooks->interrupt != 0;
    double most[] = {own ? 1.0 : 0.0, r->unshared};
    world->largest(world, sizeof most / sizeof *most, most);
    r->interrupted = most[0] > 0.0;
    r->seconds += most[1];
    r->times.iterating += most[1];
    r->unshared = 0.0;
}

/* Returns why the run must end at the present iteration, or -1. */
static int stop_reason(const saddle_run_state *r, uint64_t iteration, const saddle_cost *cost)
{
    uint64_t max_rounds = r->given.limits.max_rounds;
    uint64_t rounds = r->layout.rounds;
    if (r->interrupted)
        return SADDLE_STOP_INTERRUPTED;
    if (r->given.limits.max_ifo > 0 && cost->ifo >= r->given.limits.max_ifo)
        return SADDLE_STOP_IFO;
    if (max_rounds > 0 && rounds > 0 && cost->rounds + rounds > max_rounds)
        return SADDLE_STOP_ROUNDS;
    if (r->given.limits.max_seconds > 0.0 && r->seconds >= r->given.limits.max_seconds)
        return SADDLE_STOP_SECONDS;
    if (r->given.limits.max_network_seconds > 0.0 &&
        cost->network_seconds >= r->given.limits.max_network_seconds)
        return SADDLE_STOP_NETWORK_SECONDS;
    if (iteration >= r->given.limits.iterations)
        return SADDLE_STOP_ITERATIONS;
    return -1;
}

/* Returns the number of iterations until the budget of rounds is spent. */
static uint64_t rounds_left(const saddle_run_state *r, const saddle_cost *cost)
{
    if (r->given.limits.max_rounds == 0 || r->layout.rounds == 0)
        return UINT64_MAX;
    return (r->given.limits.max_rounds - cost->rounds) / r->layout.rounds;
}

/* Returns how far the engine may advance before it returns to the loop. */
static saddle_limits limits_until(const saddle_run_state *r, uint64_t iteration, uint64_t target,
                                  uint64_t ifo_target, const saddle_cost *cost)
{
    uint64_t last = r->given.limits.iterations;
    uint64_t left = rounds_left(r, cost);
    double now = saddle_clock_seconds();
    saddle_limits limits = {
        .iterations = target < last ? target - iteration : last - iteration,
        .max_ifo = r->given.limits.max_ifo,
        .ifo_budget = r->given.limits.max_ifo,
        .max_network_seconds = r->given.limits.max_network_seconds,
        .deadline = now + PROGRESS_SECONDS,
        .interrupt = r->hooks->interrupt,
    };
    if (left < limits.iterations)
        limits.iterations = left;
    if (r->objective != NULL) {
        left = saddle_run_objective_left(r->objective, iteration, r->layout.rounds);
        limits.iterations = left < limits.iterations ? left : limits.iterations;
    }
    /* Only the budget itself may cut inner loops short: trace points must not change the
     * iterates. */
    if (ifo_target < limits.max_ifo)
        limits.max_ifo = ifo_target;
    if (r->given.limits.max_seconds > 0.0)
        limits.deadline = fmin(limits.deadline, now + r->given.limits.max_seconds - r->seconds);
    if (r->writer != NULL)
        saddle_checkpoint_writer_limit(r->writer, &limits);
    return limits;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static saddle_status begin(saddle_run_state *r, saddle_error *error)
{
    SADDLE_TRY(saddle_run_prepare(r, error));
    share_progress(r);
    if (r->resumed.from == NULL)
        SADDLE_TRY(saddle_run_measure_start(r, error));
    saddle_status status = saddle_run_resolve_rules(r, error);
    SADDLE_THEN(status, saddle_run_open_files(r, error));
    status = saddle_run_agree(r, status, error);
    SADDLE_THEN_IF(status, r->resumed.from != NULL,
                   saddle_run_agree(r, saddle_run_recall_rows(r, error), error));
    if (status == SADDLE_OK && r->hooks->begin != NULL)
        r->hooks->begin(r->hooks->context, &r->info);
    return status;
}

/* Writes a checkpoint if one is due. A failure to write does not end the run, because the
 * previous one still exists. */
static void write_checkpoint(saddle_run_state *r, bool last)
{
    saddle_error error = {.message = ""};
    const saddle_checkpoint_moment moment = {.seconds = r->seconds,
                                             .last_check = r->last_check,
                                             .trace_ifo = r->trace_ifo,
                                             .observer = r->observer,
                                             .result = r->result};
    if (r->writer != NULL &&
        saddle_checkpoint_write_due(r->writer, &moment, last, &error) != SADDLE_OK)
        saddle_run_warn(r, "no checkpoint: %s%s", error.message,
                        last ? "" : "; the run continues without it");
}

/* Warns of the directions of links that agents have found dead. */
static void warn_of_dead_directions(const saddle_run_state *r)
{
    const saddle_engine_class *kind = r->engine->kind;
    size_t from;
    size_t to;
    while (kind->dead_direction != NULL && kind->dead_direction(r->engine, &from, &to))
        saddle_run_warn(r,
                        "--links: nothing from agent %zu arrived at agent %zu for %llu rounds; "
                        "their edge is removed, and the agents start anew without it",
                        from, to, (unsigned long long)r->info.instance->links->patience);
}

/* Advances to the next trace point, watch or stop, and calls the progress hook in between. Sets
 * *point if a row is due. */
static saddle_status advance(saddle_run_state *r, saddle_fault *fault, int *stop, bool *point,
                             saddle_error *error)
{
    uint64_t iteration = r->engine->kind->iteration(r->engine);
    uint64_t watch = saddle_run_next_watch(r);
    uint64_t due;
    uint64_t ifo_target;
    saddle_run_next_point(r, &due, &ifo_target);
    uint64_t target = watch < due ? watch : due;
    saddle_cost cost;
    for (;;) {
        r->engine->kind->cost(r->engine, &cost);
        share_progress(r);
        *stop = stop_reason(r, iteration, &cost);
        if (fault->kind == SADDLE_FAULT_NONE)
            write_checkpoint(r, *stop >= 0);
        *point = *stop >= 0 || iteration >= due || cost.ifo >= ifo_target;
        if (*point || iteration >= target || fault->kind != SADDLE_FAULT_NONE)
            return SADDLE_OK;
        if (r->objective != NULL)
            SADDLE_TRY(
                saddle_run_objective_advance(r->objective, r->engine, r->layout.rounds, error));
        saddle_limits limits = limits_until(r, iteration, target, ifo_target, &cost);
        double now = saddle_clock_seconds();
        r->engine->kind->advance(r->engine, &limits, fault);
        r->unshared += saddle_clock_seconds() - now;
        warn_of_dead_directions(r);
        iteration = r->engine->kind->iteration(r->engine);
        if (r->hooks->progress != NULL)
            r->hooks->progress(r->hooks->context, iteration, r->seconds + r->unshared);
    }
}

static saddle_status stalled(const saddle_fault *fault, saddle_error *error)
{
    return saddle_fail(error, SADDLE_CHECK_FAILED,
                       "self-check at iteration %llu: the problem's add_samples() computes "
                       "differences of exactly zero for agent %zu's %s, although its gradients at "
                       "the two points differ",
                       (unsigned long long)fault->iteration, fault->agent, fault->variable);
}

/* Returns why the run ends at r->row, or -1, as far as this does not depend on outcomes. `stop`
 * is the reason by its limits. */
static int reached(saddle_run_state *r, int stop)
{
    saddle_members members = {.events = 0};
    if (r->info.instance->churn != NULL)
        r->engine->kind->membership(r->engine, &members);
    /* The solution is that of the agents that are present at the end, so wait for the last
     * event. */
    if (members.events == 0)
        saddle_run_measure_gap(r, false);
    double tolerance = r->given.limits.tolerance;
    if (members.events == 0 && tolerance > 0.0 && r->row.gap <= tolerance)
        stop = SADDLE_STOP_TOLERANCE;
    return r->rules.outcomes ? stop : saddle_run_apply_rules(r, stop);
}

/* Handles a failed self-check, and ends the run, if values that are not finite are the cause: they fail the check
 * of the trackers, which is not the algorithm's fault. */
static saddle_status blame_values(saddle_run_state *r, saddle_status status, bool *ended,
                                  saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    if (status != SADDLE_CHECK_FAILED || saddle_observer_sums_are_finite(r->observer))
        return status;
    *ended = true;
    return r->engine->kind->iteration(r->engine) == 0 ? saddle_run_explain_start(r, error)
                                                      : saddle_run_diverge(r, &fault, error);
}

/* Records r->row; sets *ended if it is the last one. */
static saddle_status record_point(saddle_run_state *r, int stop, bool *ended, saddle_error *error)
{
    *ended = stop >= 0;
    if (*ended) {
        r->result->stop = (saddle_stop)stop;
        saddle_run_measure_gap(r, true);
        SADDLE_TRY(saddle_run_find_stall(r, error));
    }
    return blame_values(r, saddle_run_record(r, *ended, error), ended, error);
}

/* Measures the present iteration and records it. `stop` is the reason to end by the limits, or -1. */
static saddle_status measure_point(saddle_run_state *r, int stop, bool *ended, saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    bool diverged = false;
    r->last = stop >= 0 && stop != SADDLE_STOP_INTERRUPTED;
    saddle_status status = saddle_run_measure(r, &diverged, error);
    if (status == SADDLE_OK && (diverged || saddle_run_runs_away(r))) {
        *ended = true;
        return saddle_run_diverge(r, &fault, error);
    }
    stop = reached(r, stop);
    SADDLE_THEN(status, saddle_run_evaluate(r, stop >= 0, error));
    SADDLE_THEN(status, record_point(r, saddle_run_apply_rules(r, stop), ended, error));
    return status;
}

/* Watches and checks the state between two trace points, or before one is measured. */
static saddle_status watch_point(saddle_run_state *r, bool *ended, saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    uint64_t iteration = r->engine->kind->iteration(r->engine);
    if (iteration < saddle_run_next_watch(r))
        return SADDLE_OK;
    SADDLE_TRY(saddle_run_watch(r, ended, error));
    return *ended ? saddle_run_diverge(r, &fault, error)
                  : blame_values(r, saddle_run_check(r, iteration, false, error), ended, error);
}

static saddle_status loop(saddle_run_state *r, saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    saddle_cost cost;
    saddle_status status = SADDLE_OK;
    bool ended = false;
    r->engine->kind->cost(r->engine, &cost);
    share_progress(r);
    int stop = stop_reason(r, 0, &cost);
    if (r->resumed.from == NULL)
        status = record_point(r, saddle_run_apply_rules(r, reached(r, stop)), &ended, error);
    while (status == SADDLE_OK && !ended) {
        bool point;
        SADDLE_TRY(advance(r, &fault, &stop, &point, error));
        if (fault.kind == SADDLE_FAULT_STALLED)
            return stalled(&fault, error);
        if (fault.kind == SADDLE_FAULT_DEVICE)
            return saddle_fail(
                error, SADDLE_UNSUPPORTED,
                "--engine: the graphics card failed after iteration %llu (%s); resume "
                "the run from its last checkpoint",
                (unsigned long long)fault.iteration, fault.variable);
        if (fault.kind != SADDLE_FAULT_NONE)
            return saddle_run_diverge(r, &fault, error);
        saddle_run_warn_of_replicas(r);
        status = watch_point(r, &ended, error);
        SADDLE_THEN_IF(status, point && !ended, measure_point(r, stop, &ended, error));
    }
    return status;
}

/* ---- the end -------------------------------------------------------------------------------- */

static saddle_status conclude(saddle_run_state *r, saddle_error *error)
{
    saddle_result *result = r->result;
    result->gap = *saddle_observer_gap(r->observer);
    SADDLE_TRY(saddle_run_warn_of_growth(r, error));
    saddle_run_warn_of_components(r);
    if (r->given.limits.stop_after == 0) {
        saddle_run_keep_solution(r);
        result->solution_row = result->row_count - 1;
    }
    r->engine->kind->cost(r->engine, &result->cost);
    const char *newest = r->writer != NULL ? saddle_checkpoint_writer_newest(r->writer) : NULL;
    result->checkpoint = saddle_strdup(newest);
    return newest == NULL ? SADDLE_OK
                          : saddle_check_memory(result->checkpoint, "the checkpoint's path", error);
}

saddle_status saddle_run_of_several(const saddle_instance *instance, const saddle_plan *plan,
                                    bool alone, const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    static const saddle_hooks no_hooks = {.context = NULL};
    saddle_run_state r = {.info = {.network = instance, .instance = instance, .given = &r.given},
                          .hooks = hooks != NULL ? hooks : &no_hooks,
                          .times = {.setup = instance->times},
                          .begin = saddle_clock_seconds(),
                          .alone = alone};
    /* Only process 0 calls hooks. */
    saddle_hooks silent = {.interrupt = r.hooks->interrupt};
    if (instance->world->rank > 0)
        r.hooks = &silent;
    saddle_status status = saddle_run_take_plan(&r, plan != NULL ? plan : instance->plan, error);
    status = saddle_run_agree(&r, status, error);
    SADDLE_THEN(status, begin(&r, error));
    SADDLE_THEN(status, loop(&r, error));
    SADDLE_THEN(status, conclude(&r, error));
    status = saddle_run_agree(&r, status, error);
    if (status == SADDLE_OK) {
        saddle_result_measure_disagreement(r.result, r.info.instance->world);
        saddle_run_save_model(&r);
    }
    saddle_run_close_files(&r, status);
    r.times.rest = saddle_clock_seconds() - r.begin - r.times.iterating - r.times.measuring;
    if (status == SADDLE_OK) {
        r.result->times = r.times;
        *out = r.result;
    } else {
        saddle_result_free(r.result);
    }
    saddle_run_release(&r);
    return status;
}

saddle_status saddle_run(const saddle_instance *instance, const saddle_plan *plan,
                         const saddle_hooks *hooks, saddle_result **out, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, instance);
    return saddle_run_of_several(instance, plan, true, hooks, out, error);
}

saddle_status saddle_solve(const saddle_problem *problem, const saddle_plan *plan,
                           saddle_result **out, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, plan);
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan with = {.settings = NULL};
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *instance = NULL;
    SADDLE_TRY(saddle_plan_copy(&with, plan, error));
    if (problem != NULL)
        with.problem.own = problem;
    SADDLE_TRY(saddle_instance_create(&instance, &with, error));
    return saddle_run(instance, &with, NULL, out, error);
}
