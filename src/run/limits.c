/* When a run ends, and how far the engine advances before it returns to the loop. */
#include <math.h>

#include "core/clock.h"
#include "run/run.h"

/* Seconds between two calls of the progress hook. */
#define PROGRESS_SECONDS 0.2

void saddle_run_share_progress(saddle_run_state *r)
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

int saddle_run_stop_reason(const saddle_run_state *r, uint64_t iteration, const saddle_cost *cost)
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

saddle_limits saddle_run_limits(const saddle_run_state *r, uint64_t iteration, uint64_t target,
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
