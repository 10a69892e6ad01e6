/* Deciding claims from traces: the rules are in claims.h. */

#include <math.h>
#include <string.h>

#include "lab/claim_texts.h"

/* Levels of CLAIM_SLOPE_EPSILON: half decades of the start's metric, from .. to. */
#define FIRST_HALF_DECADE 2
#define LAST_HALF_DECADE 16
/* CLAIM_SLOPE_TIME: the first iteration that counts, and the ratio of neighbouring ones. */
#define FIRST_ITERATION 10.0
#define ITERATION_RATIO 1.25

/* Fractions of the start's metric, as negative powers of ten. */
static const int decade[CLAIMS_LEVELS] = {1, 2, 3, 4, 6, 8};

typedef enum result { NOTHING, WON, LOST, TIED } result;

/* ---- costs ---------------------------------------------------------------------------------- */

double saddle_claims_fraction(size_t k)
{
    return pow(10.0, -(double)decade[k]);
}

static bool diverged(const saddle_trace *trace)
{
    return trace->end != NULL && strcmp(trace->end, saddle_stop_text(SADDLE_STOP_DIVERGED)) == 0;
}

/* The cost of row k, where rows + 0 stands for never. */
static claims_cost cost_at(const saddle_trace *trace, const char *name, size_t k)
{
    const double *cost = saddle_trace_column(trace, name);
    if (k < trace->rows)
        return (claims_cost){.low = k > 0 ? cost[k - 1] : 0.0, .high = cost[k]};
    double spent = trace->rows > 0 ? cost[trace->rows - 1] : 0.0;
    return (claims_cost){.low = diverged(trace) ? (double)INFINITY : spent,
                         .high = (double)INFINITY};
}

claims_cost saddle_claims_reach(const saddle_trace *trace, const char *cost, double level)
{
    const double *metric = saddle_trace_column(trace, "metric");
    size_t k = 0;
    while (k < trace->rows && !(metric[k] <= level))
        k++;
    return cost_at(trace, cost, k);
}

claims_cost saddle_claims_settle(const saddle_trace *trace, const char *cost, double limit,
                                 double distance)
{
    const double *loss = saddle_trace_column(trace, "loss");
    size_t k = trace->rows;
    if (!diverged(trace))
        while (k > 0 && fabs(loss[k - 1] - limit) <= distance)
            k--;
    return cost_at(trace, cost, k);
}

/* Whether costs a and b say that a is at most b / factor. */
static result compare(claims_cost a, claims_cost b, double factor)
{
    if (isinf(a.high) && isinf(b.high))
        return NOTHING;
    if (factor * a.high <= b.low)
        return WON;
    return factor * a.low >= b.high ? LOST : TIED;
}

/* ---- levels --------------------------------------------------------------------------------- */

/* The experiment as a claim sees it. */
typedef struct view {
    const paper_claim *claim;
    const paper_experiment *experiment;
    const saddle_trace *const *trace;
    size_t seeds;
    claims_chain chain;
} view;

static bool usable(const saddle_trace *trace)
{
    return trace != NULL && trace->rows > 0;
}

/* Whether all runs that a seed needs are there. */
static bool complete(const view *v, size_t seed)
{
    bool good = usable(v->trace[seed]);
    for (size_t s = 0; s < v->chain.count; s++)
        good = good && usable(v->chain.trace[s][seed]);
    return good;
}

static double start_of(const view *v, size_t seed, const char *column)
{
    return saddle_trace_column(v->trace[seed], column)[0];
}

double saddle_claims_loss_limit(const paper_experiment *e, const saddle_trace *const *trace,
                                size_t seeds, size_t seed)
{
    double least = (double)INFINITY;
    double limit = NAN;
    for (size_t s = 0; s < e->count; s++) {
        const saddle_trace *run = trace[s * seeds + seed];
        if (!usable(run) || diverged(run))
            continue;
        double metric = saddle_trace_column(run, "metric")[run->rows - 1];
        if (metric < least) {
            least = metric;
            limit = saddle_trace_column(run, "loss")[run->rows - 1];
        }
    }
    return limit;
}

static claims_cost cost_of(const view *v, const saddle_trace *trace, size_t seed, double fraction)
{
    const paper_claim *c = v->claim;
    if (strcmp(c->quantity, "loss") != 0)
        return saddle_claims_reach(trace, c->cost, fraction * start_of(v, seed, "metric"));
    double limit = saddle_claims_loss_limit(v->experiment, v->trace, v->seeds, seed);
    return saddle_claims_settle(trace, c->cost, limit,
                                fraction * fabs(start_of(v, seed, "loss") - limit));
}

/* The same, by the best series of the algorithm where an experiment compares tuned algorithms. */
static claims_cost best_cost(const view *v, size_t place, size_t seed, double fraction)
{
    const paper_experiment *e = v->experiment;
    claims_cost best = cost_of(v, v->chain.trace[place][seed], seed, fraction);
    for (size_t s = 0; e->tuning > 0 && s < e->count; s++) {
        const saddle_trace *trace = v->trace[s * v->seeds + seed];
        if (strcmp(e->series[s].algorithm, v->chain.series[place]->algorithm) != 0 ||
            !usable(trace))
            continue;
        claims_cost cost = cost_of(v, trace, seed, fraction);
        best.low = fmin(best.low, cost.low);
        best.high = fmin(best.high, cost.high);
    }
    return best;
}

static result judge_order(const view *v, const claims_cost *cost)
{
    size_t won = 0;
    size_t lost = 0;
    size_t nothing = 0;
    for (size_t s = 0; s + 1 < v->chain.count; s++) {
        result r = compare(cost[s], cost[s + 1], v->claim->factor);
        won += r == WON;
        lost += r == LOST;
        nothing += r == NOTHING;
    }
    if (nothing + 1 == v->chain.count)
        return NOTHING;
    return lost > 0 ? LOST : won + nothing + 1 == v->chain.count ? WON : TIED;
}

static result judge_alike(const view *v, const claims_cost *cost)
{
    claims_cost least = cost[0];
    claims_cost most = cost[0];
    for (size_t s = 1; s < v->chain.count; s++) {
        least.low = fmin(least.low, cost[s].low);
        least.high = fmin(least.high, cost[s].high);
        most.low = fmax(most.low, cost[s].low);
        most.high = fmax(most.high, cost[s].high);
    }
    if (isinf(least.high))
        return NOTHING;
    if (most.high <= v->claim->factor * least.low)
        return WON;
    return most.low > v->claim->factor * least.high ? LOST : TIED;
}

/* The ratio of costs that is shown, as a logarithm; NaN when nothing can be said. */
static double log_ratio(const view *v, const claims_cost *cost, claims_level *level)
{
    claims_cost first = cost[0];
    claims_cost last = cost[v->chain.count - 1];
    for (size_t s = 1; v->claim->kind == CLAIM_ALIKE && s < v->chain.count; s++) {
        first = cost[s].high < first.high ? cost[s] : first;
        last = cost[s].high > last.high ? cost[s] : last;
    }
    double over = isinf(last.high) ? last.low : last.high;
    double under = isinf(first.high) ? first.low : first.high;
    if ((isinf(last.high) && isinf(first.high)) || isinf(over) || isinf(under) || !(under > 0.0))
        return NAN;
    level->at_least = level->at_least || isinf(last.high);
    level->at_most = level->at_most || isinf(first.high);
    return log(over / under);
}

static void judge_level(claims_level *level, const view *v)
{
    double ratio[CLAIMS_MOST_SEEDS] = {0.0};
    size_t ratios = 0;
    for (size_t r = 0; r < v->seeds && r < CLAIMS_MOST_SEEDS; r++) {
        if (!complete(v, r))
            continue;
        claims_cost cost[EXPERIMENT_MOST_SERIES] = {{0.0, 0.0}};
        for (size_t s = 0; s < v->chain.count; s++)
            cost[s] = best_cost(v, s, r, level->level);
        result judged = v->claim->kind == CLAIM_ALIKE ? judge_alike(v, cost) : judge_order(v, cost);
        level->won += judged == WON;
        level->lost += judged == LOST;
        level->tied += judged == TIED;
        double value = judged == NOTHING ? NAN : log_ratio(v, cost, level);
        if (!isnan(value))
            ratio[ratios++] = value;
    }
    level->log_ratio = saddle_statistics_summarize(ratio, ratios, CLAIMS_CONFIDENCE);
}

static claim_verdict judge_levels(claims_outcome *out, const view *v)
{
    size_t holds = 0;
    size_t fails = 0;
    size_t open = 0;
    out->levels = CLAIMS_LEVELS;
    for (size_t k = 0; k < CLAIMS_LEVELS; k++) {
        claims_level *level = &out->level[k];
        level->level = saddle_claims_fraction(k);
        judge_level(level, v);
        saddle_claims_describe_level(out->numbers, level);
        size_t said = level->won + level->lost + level->tied;
        if (k < CLAIMS_FIRST_DECIDING || said == 0)
            continue;
        holds += level->won == said;
        fails += level->lost == said;
        open += level->won != said && level->lost != said;
    }
    if (fails > 0 && holds > 0)
        saddle_claims_describe_halves(out);
    if (fails > 0)
        return CLAIM_FAILS;
    return open == 0 && holds > 0 ? CLAIM_HOLDS : CLAIM_UNDECIDED;
}

/* ---- whole curves ---------------------------------------------------------------------------- */

/* The mean of log(metric of b / metric of a) over iterations that both traced. */
static double mean_log_ratio(const saddle_trace *a, const saddle_trace *b)
{
    const double *when[2] = {saddle_trace_column(a, "iteration"),
                             saddle_trace_column(b, "iteration")};
    const double *metric[2] = {saddle_trace_column(a, "metric"), saddle_trace_column(b, "metric")};
    double sum = 0.0;
    size_t count = 0;
    for (size_t j = 0, k = 0; j < a->rows && k < b->rows;) {
        if (when[0][j] == when[1][k]) {
            sum += log(metric[1][k] / metric[0][j]);
            count++;
        }
        bool behind = when[0][j] <= when[1][k];
        k += when[1][k] <= when[0][j];
        j += behind;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* Whether every curve is below the next, seed by seed. */
static claim_verdict judge_curves(claims_outcome *out, const view *v)
{
    claims_level *all = &out->level[0];
    double ratio[CLAIMS_MOST_SEEDS] = {0.0};
    size_t seeds = 0;
    for (size_t r = 0; r < v->seeds && r < CLAIMS_MOST_SEEDS; r++) {
        if (!complete(v, r))
            continue;
        size_t below = 0;
        size_t above = 0;
        for (size_t s = 0; s + 1 < v->chain.count; s++) {
            double mean = mean_log_ratio(v->chain.trace[s][r], v->chain.trace[s + 1][r]);
            below += mean > 0.0;
            above += mean < 0.0;
        }
        all->won += below + 1 == v->chain.count;
        all->lost += above > 0;
        all->tied += above == 0 && below + 1 < v->chain.count;
        ratio[seeds++] =
            mean_log_ratio(v->chain.trace[0][r], v->chain.trace[v->chain.count - 1][r]);
    }
    out->levels = 1;
    all->log_ratio = saddle_statistics_summarize(ratio, seeds, CLAIMS_CONFIDENCE);
    saddle_claims_describe_level(out->numbers, all);
    if (seeds == 0 || (all->won < seeds && all->lost < seeds))
        return CLAIM_UNDECIDED;
    return all->won == seeds ? CLAIM_HOLDS : CLAIM_FAILS;
}

/* ---- slopes --------------------------------------------------------------------------------- */

static void add_point(claims_line *l, double x, double y)
{
    if (l->count < CLAIMS_MOST_POINTS && x > 0.0 && y > 0.0 && isfinite(x) && isfinite(y)) {
        l->x[l->count] = log(x);
        l->y[l->count++] = log(y);
    }
}

static void points_of_values(claims_line *l, const view *v, size_t seed)
{
    for (size_t s = 0; s < v->chain.count; s++) {
        claims_cost cost =
            saddle_claims_reach(v->chain.trace[s][seed], v->claim->cost, v->claim->level);
        add_point(l, v->chain.series[s]->value, cost.high);
    }
    /* One that did not get there would bend the line. */
    if (l->count < v->chain.count)
        l->count = 0;
}

static void points_of_epsilon(claims_line *l, const view *v, size_t seed)
{
    const saddle_trace *trace = v->chain.trace[0][seed];
    for (int k = FIRST_HALF_DECADE; k <= LAST_HALF_DECADE; k++) {
        double level = start_of(v, seed, "metric") * pow(10.0, -0.5 * k);
        add_point(l, 1.0 / level, saddle_claims_reach(trace, v->claim->cost, level).high);
    }
}

static void points_of_time(claims_line *l, const view *v, size_t seed)
{
    const saddle_trace *trace = v->chain.trace[0][seed];
    const double *iteration = saddle_trace_column(trace, "iteration");
    const double *metric = saddle_trace_column(trace, "metric");
    double least = (double)INFINITY;
    double next = FIRST_ITERATION;
    for (size_t k = 0; k < trace->rows; k++) {
        least = fmin(least, metric[k]);
        if (iteration[k] < next)
            continue;
        add_point(l, iteration[k], least);
        next = iteration[k] * ITERATION_RATIO;
    }
}

static void find_points(claims_line *l, const view *v, size_t seed)
{
    l->count = 0;
    if (!complete(v, seed))
        return;
    if (v->claim->kind == CLAIM_SLOPE_VALUE)
        points_of_values(l, v, seed);
    else if (v->claim->kind == CLAIM_SLOPE_EPSILON)
        points_of_epsilon(l, v, seed);
    else
        points_of_time(l, v, seed);
}

static claim_verdict judge_slope(claims_outcome *out, const view *v)
{
    double slope[CLAIMS_MOST_SEEDS] = {0.0};
    size_t slopes = 0;
    for (size_t r = 0; r < v->seeds && r < CLAIMS_MOST_SEEDS; r++) {
        claims_line l;
        find_points(&l, v, r);
        slopes += l.count >= 3 && saddle_statistics_slope(l.x, l.y, l.count, &slope[slopes]);
    }
    out->slope = saddle_statistics_summarize(slope, slopes, CLAIMS_CONFIDENCE);
    if (slopes == 0) {
        CLAIMS_APPEND(out->numbers, "too few levels were reached to fit a slope");
        return CLAIM_UNDECIDED;
    }
    CLAIMS_APPEND(out->numbers, "slope %.3f", out->slope.mean);
    if (slopes > 1)
        CLAIMS_APPEND(out->numbers, ", 95%% interval %.3f to %.3f", out->slope.low,
                      out->slope.high);
    CLAIMS_APPEND(out->numbers, " over %zu seed%s; theory: at most %g", slopes,
                  slopes == 1 ? "" : "s", v->claim->bound);
    if (out->slope.high <= v->claim->bound + CLAIMS_TOLERANCE)
        return CLAIM_HOLDS;
    return out->slope.low > v->claim->bound + CLAIMS_TOLERANCE ? CLAIM_FAILS : CLAIM_UNDECIDED;
}

/* ---- claims --------------------------------------------------------------------------------- */

static void read_chain(view *v)
{
    for (const char *word = v->claim->series; *word != '\0';) {
        size_t length = strcspn(word, " ");
        const experiment_series *series = saddle_paper_series(v->experiment, word, length);
        if (series != NULL && v->chain.count < EXPERIMENT_MOST_SERIES) {
            v->chain.series[v->chain.count] = series;
            v->chain.trace[v->chain.count++] =
                v->trace + (size_t)(series - v->experiment->series) * v->seeds;
        }
        word += length + (word[length] == ' ');
    }
}

void saddle_claims_decide(claims_outcome *out, const paper_claim *c, const paper_experiment *e,
                          const saddle_trace *const *trace, size_t seeds)
{
    view v = {.claim = c, .experiment = e, .trace = trace, .seeds = seeds};
    read_chain(&v);
    *out =
        (claims_outcome){.claim = c, .experiment = e, .seeds = seeds, .verdict = CLAIM_UNDECIDED};
    if (v.chain.count == 0)
        return;
    saddle_claims_state(out, &v.chain);
    if (c->kind == CLAIM_FASTER || c->kind == CLAIM_ALIKE)
        out->verdict = judge_levels(out, &v);
    else
        out->verdict = c->kind == CLAIM_BELOW ? judge_curves(out, &v) : judge_slope(out, &v);
}

void saddle_claims_points(claims_line *out, const paper_claim *c, const paper_experiment *e,
                          const saddle_trace *const *trace, size_t seeds, size_t seed)
{
    view v = {.claim = c, .experiment = e, .trace = trace, .seeds = seeds};
    read_chain(&v);
    out->count = 0;
    if (v.chain.count > 0)
        find_points(out, &v, seed);
}
