/*
 * How often a run is measured if trace-every is not given.
 *
 * A run has between FEWEST and MOST trace points, as many as cost at most SHARE of its iterations, at equal
 * distances. Cost is counted as doubles that are read: of samples, and of the vectors that agents mix and average.
 * It depends only on sizes, so that the points are the same on every machine.
 *
 * Runs that are compared, and rules that stop a run by its measurements, need more: their points are DENSE per run.
 * Between trace points, saddle_run_watch() looks for divergence DENSE times per run.
 */
#include "algorithms/sampling.h"
#include "core/sizes.h"
#include "instance/unused_options.h"
#include "problems/evaluate.h"
#include "run/run.h"

#define FEWEST 20
#define MOST 200
#define SHARE 0.2
#define DENSE SADDLE_DENSE_POINTS
/* The least number of iterations between two watches, each of which costs up to a twentieth of an iteration. */
#define LEAST_WATCH 4

/* The gradients over all samples that the search for y*(xbar) takes if the problem has no closed form: 280 to 390 with
 * poisoning. */
#define SEARCH_PASSES 300
/* The passes that outcomes cost: scores of all rows and, for auc, sorting them. */
#define OUTCOME_PASSES 4
/* How often measuring reads an iterate: means, distances, checks. */
#define ITERATE_READS 4

/* ---- costs ----------------------------------------------------------------------------------- */

/* The samples of an average iteration, of all agents. */
typedef struct usage {
    double rows;      /* samples read; at least */
    double ifo;       /* gradient evaluations; at most, except in inner loops */
    double refreshes; /* the share of the IFO calls that single iterations make, at refreshes */
} usage;

static usage samples_per_iteration(const saddle_run_state *r)
{
    const saddle_algorithm *a = r->info.algorithm;
    const saddle_problem *problem = r->info.instance->problem;
    const saddle_steps *steps = &r->info.steps;
    double all = (double)saddle_sizes_sum(problem->agents, problem->samples);
    double batch = 0.0;
    for (size_t i = 0; i < problem->agents; i++)
        batch +=
            (double)(a->traits.stochastic ? saddle_batch_size(problem->samples[i], steps->batch)
                                          : problem->samples[i]);
    if (!saddle_option_in(a->options, &saddle_option_q))
        return (usage){.rows = batch, .ifo = batch};
    /* Recursive estimates: a refresh, then differences at two points. PRECISION+ chooses how many samples a refresh
     * has, and q may follow from that. */
    bool adaptive = saddle_option_in(a->options, &saddle_option_c_gamma);
    double q = steps->q > 0 ? (double)steps->q : fmax(all / batch, 1.0);
    double ifo = (q - 1.0) * 2.0 * batch + all;
    return (usage){.rows = ((q - 1.0) * batch + (adaptive ? batch : all)) / q,
                   .ifo = ifo / q,
                   .refreshes = q > 1.0 ? all / ifo : 0.0};
}

double saddle_iteration_cost(const saddle_run_state *r)
{
    const saddle_layout *layout = &r->layout;
    double agents = (double)r->info.instance->problem->agents;
    double spans = agents + 2.0 * (double)r->info.network->graph->edges;
    return samples_per_iteration(r).rows * saddle_sample_cost(r->info.network->problem) +
           (double)layout->rounds * spans * (double)layout->published +
           agents * (double)layout->kept;
}

double saddle_measure_cost(const saddle_run_state *r)
{
    const saddle_instance *e = r->info.instance;
    const saddle_problem *problem = e->problem;
    const saddle_dataset *held_out = r->info.network->held_out;
    double all = (double)saddle_sizes_sum(problem->agents, problem->samples);
    bool closed = problem->response_solve != NULL && e->churn == NULL;
    bool values = problem->response_value != NULL && e->churn == NULL;
    /* The gradient in x, the statistic and F(xbar, ybar) in one pass; Q(xbar). */
    double passes = (values ? 1.0 : 2.0) + (closed ? 0.0 : SEARCH_PASSES);
    double rows = passes * all;
    /* Counted even if outcomes are measured only with a trace, so that a trace has the points of a run without. */
    if (problem->outcomes != NULL && r->given.outputs.outcomes != SADDLE_OUTCOMES_ENDS)
        rows += OUTCOME_PASSES * (all + (held_out != NULL ? (double)held_out->rows : 0.0));
    return rows * saddle_sample_cost(r->info.network->problem) +
           ITERATE_READS * (double)problem->agents *
               ((double)problem->x_dim + (double)problem->y_dim);
}

/* The fewest and most evaluations of the objective in the search that measures the gap, unless it is about to be
 * called small; the passes over the samples that one takes. */
#define FEWEST_EVALUATIONS 8
#define MOST_EVALUATIONS 20
#define EVALUATION_PASSES 2.0

int saddle_gap_evaluations(const saddle_run_state *r)
{
    const saddle_problem *problem = r->info.instance->problem;
    double all = (double)saddle_sizes_sum(problem->agents, problem->samples);
    double pass = all * saddle_sample_cost(r->info.network->problem);
    double iterating = (double)r->row.iteration * saddle_iteration_cost(r);
    double allowed = SHARE * iterating / (EVALUATION_PASSES * pass);
    return (int)fmin(fmax(allowed, FEWEST_EVALUATIONS), MOST_EVALUATIONS);
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Returns 5, 50, 500 ... for numbers of 2, 3, 4 ... digits; 1 for those of one digit. */
static uint64_t round_unit(uint64_t number)
{
    uint64_t unit = 1;
    for (uint64_t power = 10; power <= number; power *= 10)
        unit = power / 2;
    return unit;
}

/* Returns the distance of points in a run of some iterations if `allowed` points are not too many, as a round number
 * where possible. */
static uint64_t choose_distance(uint64_t iterations, double allowed)
{
    /* The largest with which there still are FEWEST points. */
    uint64_t widest = iterations >= FEWEST ? (iterations - 1) / (FEWEST - 2) : 1;
    if (allowed < FEWEST)
        return widest / round_unit(widest) * round_unit(widest);
    uint64_t gaps = allowed < MOST ? (uint64_t)allowed - 1 : MOST - 1;
    uint64_t narrowest = iterations / gaps + (iterations % gaps != 0);
    narrowest = narrowest > 0 ? narrowest : 1;
    if (narrowest > widest)
        return widest;
    uint64_t unit = round_unit(narrowest);
    uint64_t round = (narrowest + unit - 1) / unit * unit;
    return round <= widest ? round : narrowest;
}

/* Returns the distance of points in IFO calls. A refresh passes many at once, so there are more of them. */
static uint64_t choose_ifo_distance(uint64_t max_ifo, double allowed, double refreshes)
{
    double gaps = fmin(fmax(floor(allowed), FEWEST), MOST) - 1.0;
    double wanted = fmin(gaps / (1.0 - refreshes), MOST - 1.0);
    return max_ifo == 0 ? 0 : (uint64_t)ceil((double)max_ifo / wanted);
}

/* Returns the number of iterations, unless IFO calls or a measurement end the run. */
static uint64_t most_iterations(const saddle_run_state *r)
{
    uint64_t iterations = r->given.limits.iterations;
    uint64_t rounds = r->given.limits.max_rounds;
    if (rounds == 0 || r->layout.rounds == 0)
        return iterations;
    return rounds / r->layout.rounds < iterations ? rounds / r->layout.rounds : iterations;
}

/* Whether measurements can end the run. */
static bool has_stop_rule(const saddle_run_state *r)
{
    const saddle_plan *plan = &r->given;
    return plan->limits.tolerance > 0.0 || plan->limits.stop_when != NULL ||
           plan->limits.stop_after > 0;
}

static void choose_dense(saddle_run_state *r)
{
    uint64_t iterations = r->given.limits.iterations;
    r->trace_every = iterations >= DENSE ? iterations / DENSE : 1;
    r->trace_ifo = r->given.limits.max_ifo / DENSE;
}

/* Takes the distances of the run that is resumed. */
static bool resume_points(saddle_run_state *r)
{
    if (r->trace_every == 0)
        saddle_parse_integer(saddle_resume_setting(&r->resumed, "trace-every"), &r->trace_every);
    if (r->trace_every == 0)
        r->trace_every = 1;
    r->trace_ifo = r->resumed.from->number.trace_ifo;
    return !saddle_resume_was_given(&r->resumed, "trace-every");
}

void saddle_run_choose_points(saddle_run_state *r)
{
    uint64_t most = most_iterations(r);
    uint64_t max_ifo = r->given.limits.max_ifo;
    usage samples = samples_per_iteration(r);
    double expected = (double)most;
    if (max_ifo > 0)
        expected = fmin(expected, (double)max_ifo / samples.ifo);
    r->trace_every = r->given.outputs.trace_every;
    bool automatic = r->trace_every == 0;
    if (r->resumed.from != NULL) {
        automatic = resume_points(r) && automatic;
    } else if (automatic && (has_stop_rule(r) || r->given.outputs.compared)) {
        choose_dense(r);
    } else if (automatic) {
        double allowed = SHARE * expected * saddle_iteration_cost(r) / saddle_measure_cost(r);
        r->trace_every = choose_distance(most, allowed);
        r->trace_ifo = choose_ifo_distance(max_ifo, allowed, samples.refreshes);
    }
    /* The number of rows of stop-after has a meaning only if their distances are equal. */
    r->early_points = automatic && has_stop_rule(r) && r->given.limits.stop_after == 0 && r->alone;
    r->watch_every = (uint64_t)fmax(expected / DENSE, LEAST_WATCH);
    /* Points that are given are all that is looked at, unless none of them is within the run. */
    bool given = !automatic && (double)r->trace_every < expected;
    if (!r->alone || given || r->trace_every <= r->watch_every)
        r->watch_every = UINT64_MAX;
}

uint64_t saddle_run_next_watch(const saddle_run_state *r)
{
    return (saddle_observer_watched(r->observer) / r->watch_every + 1) * r->watch_every;
}

/* The run ends at most this share of its iterations after a stop rule holds. */
#define EARLY_SHARE 20

void saddle_run_next_point(const saddle_run_state *r, uint64_t *iteration, uint64_t *ifo)
{
    uint64_t last = r->row.iteration;
    uint64_t point = last / r->trace_every;
    if (r->trace_ifo > 0 && r->row.cost.ifo / r->trace_ifo > point)
        point = r->row.cost.ifo / r->trace_ifo;
    *iteration = (point + 1) * r->trace_every;
    *ifo = r->trace_ifo > 0 ? (point + 1) * r->trace_ifo : UINT64_MAX;
    uint64_t early = last + (last >= EARLY_SHARE ? last / EARLY_SHARE : 1);
    if (r->early_points && early < *iteration)
        *iteration = early;
}
