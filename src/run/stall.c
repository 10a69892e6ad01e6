/* Runs that stall at the noise of their gradient estimates, or whose x and y go round: src/algorithms/noise.h. */
#include "algorithms/algorithms.h"
#include "algorithms/family.h"
#include "algorithms/layout.h"
#include "algorithms/noise.h"
#include "core/sizes.h"
#include "instance/plan.h"
#include "instance/unused_options.h"
#include "run/run.h"

/* An error that is this part of the movement is most of it. */
#define MOST 0.5
/* An error that is this part does not keep x and y where they are. */
#define LITTLE 0.25
/* Movement becomes smaller if it falls below this part of what it was after a quarter to a half of the iterations. */
#define SMALLER 0.7
/* A run whose metric, a sum of squares, is this part of the first one only moves by rounding. */
#define ROUNDING 1e-16

/* The numbers of an agent: w times its error, its movement, what that was before, the squared distance from where it
 * was then, and the sum of squared movements since. */
enum { ERROR, MOVEMENT, BEFORE, NET, PATH, WIDTH };

static void read_numbers(const saddle_run_state *r, const saddle_agent *agent, double *found)
{
    static const int kept[WIDTH] = {[ERROR] = NOISE_ERROR,
                                    [MOVEMENT] = NOISE_MOVEMENT,
                                    [BEFORE] = NOISE_BEFORE,
                                    [NET] = NOISE_NET,
                                    [PATH] = NOISE_PATH};
    saddle_view view;
    saddle_agent_view(r->info.algorithm, agent, &view);
    for (size_t k = 0; k < WIDTH; k++)
        found[k] = view.noise != NULL ? view.noise[kept[k]] : 0.0;
}

static void read_task(void *context, saddle_agent *agent)
{
    const saddle_run_search *s = context;
    read_numbers(s->run, agent, s->found + agent->id * WIDTH);
}

/* Returns why agents with these numbers stay where they are: SADDLE_STOP_STALLED, SADDLE_STOP_OSCILLATES, or, if they
 * do not, SADDLE_STOP_ITERATIONS. PRECISION-auto has no PATH: its steps are measured, and it is seen to stall only. */
static saddle_stop reason(const double *found, size_t agents)
{
    double sum[WIDTH] = {0.0};
    for (size_t k = 0; k < agents * WIDTH; k++)
        sum[k % WIDTH] += found[k];
    bool noisy = sum[ERROR] > MOST * sum[MOVEMENT];
    bool stays = sum[NET] < sum[PATH] || (noisy && sum[PATH] == 0.0);
    bool quiet = sum[ERROR] <= LITTLE * sum[MOVEMENT];
    if (!(sum[BEFORE] > 0.0) || !(sum[MOVEMENT] > SMALLER * sum[BEFORE]) || !stays)
        return SADDLE_STOP_ITERATIONS;
    return noisy ? SADDLE_STOP_STALLED : quiet ? SADDLE_STOP_OSCILLATES : SADDLE_STOP_ITERATIONS;
}

/* ---- the remedy ------------------------------------------------------------------------------ */

/* Returns whether the algorithm has an option. */
static bool has(const saddle_run_state *r, const saddle_option *option)
{
    return saddle_option_in(r->info.algorithm->options, option);
}

/* Appends the options that were given, either steps or all others, with their defaults. */
static void append_defaults(const saddle_run_state *r, bool steps, char *out, size_t size)
{
    static const saddle_option *const step[] = {&saddle_option_nu,    &saddle_option_eta,
                                                &saddle_option_tau,   &saddle_option_alpha,
                                                &saddle_option_share, NULL};
    for (const saddle_option *const *o = r->info.algorithm->options; *o != NULL; o++)
        if (saddle_option_in(step, *o) == steps && saddle_plan_given(&r->given, *o))
            saddle_append(out, size, " --%s %s", (*o)->name, (*o)->fallback);
}

/* Appends a mini-batch of at least q samples, with q at most sqrt(n), or, if that holds, four times as many. */
static void append_batch(const saddle_run_state *r, char *out, size_t size)
{
    const saddle_problem *problem = r->info.instance->problem;
    const saddle_steps *now = &r->result->plan.steps;
    double n = (double)saddle_sizes_largest(problem->agents, problem->samples);
    double root = ceil(sqrt(n));
    double batch = now->batch > 0 ? (double)now->batch : root;
    char why[128];
    bool has_q =
        has(r, &saddle_option_q) &&
        !saddle_option_lacks_companion(&r->given, r->info.algorithm, &saddle_option_q, why);
    double q = has_q && now->q > 0 ? fmin((double)now->q, root) : root;
    bool small = batch < q;
    batch = fmin(n, small ? q : 4.0 * batch);
    saddle_append(out, size, " --batch %.0f", batch);
    if (has_q)
        saddle_append(out, size, " --q %.0f", small ? q : fmax(1.0, ceil(q / 4.0)));
}

/* Returns whether --noise-share is larger than its default. */
static bool is_share_raised(const saddle_run_state *r)
{
    double value;
    double usual;
    memcpy(&value, (const char *)r->parameters + saddle_option_noise.offset, sizeof value);
    return saddle_parse_real(saddle_option_noise.fallback, &usual) && value > usual;
}

/* Writes what to change; "" if all that could be is automatic. */
static void name_remedy(const saddle_run_state *r, char *out, size_t size)
{
    static const char begin[] = "try";
    const saddle_option *refresh = &saddle_option_refresh_size;
    bool measures = has(r, &saddle_option_noise);
    saddle_append(out, size, begin);
    if (measures && is_share_raised(r))
        saddle_append(out, size, " --noise-share %s", saddle_option_noise.fallback);
    else if (has(r, &saddle_option_c_gamma))
        append_defaults(r, false, out, size);
    else if (has(r, refresh) && saddle_plan_given(&r->given, refresh))
        saddle_append(out, size, " --refresh-size %s", refresh->fallback);
    else if (!measures)
        append_batch(r, out, size);
    if (strcmp(out, begin) == 0)
        append_defaults(r, true, out, size);
    if (strcmp(out, begin) == 0)
        *out = '\0';
}

/* ---- the stall ------------------------------------------------------------------------------- */

double saddle_run_stall_bytes(size_t agents)
{
    return saddle_block_bytes(agents, WIDTH * sizeof(double));
}

saddle_stop saddle_run_find_own_stall(const saddle_run_state *r, const saddle_agent *agent,
                                      char *remedy, size_t size)
{
    double found[WIDTH];
    read_numbers(r, agent, found);
    saddle_stop why = found[PATH] > 0.0 ? reason(found, 1) : SADDLE_STOP_ITERATIONS;
    if (why == SADDLE_STOP_STALLED)
        name_remedy(r, remedy, size);
    return why;
}

saddle_status saddle_run_find_stall(saddle_run_state *r, saddle_error *error)
{
    saddle_result *result = r->result;
    size_t agents = r->info.instance->world->agents;
    SADDLE_OWNED double *found = NULL;
    bool by_limit = result->stop != SADDLE_STOP_TOLERANCE &&
                    result->stop != SADDLE_STOP_CONDITION && result->stop != SADDLE_STOP_NO_GAIN &&
                    result->stop != SADDLE_STOP_INTERRUPTED;
    if (!by_limit || result->row_count == 0 || r->row.gap <= saddle_result_goal(result) ||
        r->row.metric <= ROUNDING * result->rows[0].metric)
        return SADDLE_OK;
    SADDLE_TRY(saddle_run_search_agents(r, read_task, WIDTH, &found, error));
    saddle_stop why = reason(found, agents);
    if (why == SADDLE_STOP_STALLED)
        name_remedy(r, result->remedy, sizeof result->remedy);
    else if (why == SADDLE_STOP_OSCILLATES)
        SADDLE_TRY(saddle_run_name_steps(r, &(saddle_fault){.variable = "y"}, result->remedy,
                                         sizeof result->remedy, error));
    result->stop = result->remedy[0] != '\0' ? why : result->stop;
    return SADDLE_OK;
}
