/* Tests claims on traces, by the rules in claims.h. */

#include <math.h>
#include <string.h>

#include "lab/claim_texts.h"
#include "lab/metric_levels.h"

/* Levels of TEST_SLOPE_EPSILON: half decades below the initial metric, from .. to. */
#define FIRST_HALF_DECADE 2
#define LAST_HALF_DECADE 16
/* TEST_SLOPE_TIME: the first iteration that is shown, and the ratio of successive ones. */
#define FIRST_ITERATION 10.0
#define ITERATION_RATIO 1.25
/* A mean over T iterations falls at most like 1/T: exponents up to this much above -1 count as -1. */
#define TIME_MARGIN 0.005

/* A level of the loss must be at least this many times the uncertainty of its limit. */
#define LOSS_MARGIN 10.0

/* The levels, as negative powers of ten. */
static const int decade[CLAIMS_LEVELS] = {1, 2, 3, 4, 6, 8};

/* The `low` of a cost at the first point, which no other precedes. */
#define AT_START (-(double)INFINITY)

typedef enum result { NOTHING, WON, LOST, TIED } result;

/* ---- costs ---------------------------------------------------------------------------------- */

double saddle_claims_level(size_t k)
{
    return pow(10.0, -(double)decade[k]);
}

static bool diverged(const saddle_trace *trace)
{
    return trace->end != NULL && strcmp(trace->end, saddle_stop_text(SADDLE_STOP_DIVERGED)) == 0;
}

/* The cost of row k; the number of rows means never. */
static claims_cost cost_at(const saddle_trace *trace, const char *name, size_t k)
{
    const double *cost = saddle_trace_column(trace, name);
    if (k < trace->rows)
        return (claims_cost){.low = k > 0 ? cost[k - 1] : AT_START, .high = cost[k]};
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

/* The cost from which a column stays within `distance` of `limit`. */
static claims_cost settle(const saddle_trace *trace, const char *cost, const char *column,
                          double limit, double distance)
{
    const double *value = saddle_trace_column(trace, column);
    size_t k = saddle_levels_settled(value, trace->rows, limit, distance);
    return cost_at(trace, cost, diverged(trace) ? trace->rows : k);
}

claims_cost saddle_claims_stay(const saddle_trace *trace, const char *cost, double level)
{
    return settle(trace, cost, "metric", 0.0, level);
}

claims_cost saddle_claims_settle(const saddle_trace *trace, const char *cost, double limit,
                                 double distance)
{
    return settle(trace, cost, "loss", limit, distance);
}

/* Whether cost a is at most b / factor. */
static result compare(claims_cost a, claims_cost b, double factor)
{
    /* Neither reached the level, or both started there. */
    if ((isinf(a.high) && isinf(b.high)) || (a.low == AT_START && b.low == AT_START))
        return NOTHING;
    if (factor * a.high <= b.low)
        return WON;
    return factor * a.low >= b.high ? LOST : TIED;
}

/* ---- levels --------------------------------------------------------------------------------- */

/* An experiment as a test sees it. */
typedef struct view {
    const paper_test *test;
    const paper_experiment *experiment;
    const saddle_trace *const *trace;
    size_t seeds;
    claims_chain chain;
} view;

static bool usable(const saddle_trace *trace)
{
    return trace != NULL && trace->rows > 0;
}

/* Whether all runs of a seed that the test needs exist. */
static bool complete(const view *v, size_t seed)
{
    bool good = true;
    for (size_t s = 0; s < v->chain.count; s++)
        good = good && usable(v->chain.trace[s][seed]);
    return good;
}

/* The run of a seed that ended with the smallest metric, or NULL. */
static const saddle_trace *best_end(const paper_experiment *e, const saddle_trace *const *trace,
                                    size_t seeds, size_t seed)
{
    double least = (double)INFINITY;
    const saddle_trace *best = NULL;
    for (size_t s = 0; s < e->count; s++) {
        const saddle_trace *run = trace[s * seeds + seed];
        if (!usable(run) || diverged(run))
            continue;
        double metric = saddle_trace_column(run, "metric")[run->rows - 1];
        if (metric < least) {
            least = metric;
            best = run;
        }
    }
    return best;
}

static double final_loss(const saddle_trace *run)
{
    return saddle_trace_column(run, "loss")[run->rows - 1];
}

double saddle_claims_loss_limit(const paper_experiment *e, const saddle_trace *const *trace,
                                size_t seeds, size_t seed)
{
    const saddle_trace *best = best_end(e, trace, seeds, seed);
    return best != NULL ? final_loss(best) : NAN;
}

/* How far the loss still moved in the second half of the run that defines its limit: the
 * uncertainty of the limit. */
static double drift(const saddle_trace *run)
{
    const double *loss = saddle_trace_column(run, "loss");
    double most = 0.0;
    for (size_t k = run->rows / 2; k < run->rows; k++)
        most = fmax(most, fabs(loss[k] - final_loss(run)));
    return most;
}

static claims_cost cost_of(const view *v, const saddle_trace *trace, size_t seed, double level)
{
    const paper_test *t = v->test;
    if (strcmp(t->quantity, "loss") != 0)
        return saddle_claims_stay(trace, t->cost, level);
    const saddle_trace *best = best_end(v->experiment, v->trace, v->seeds, seed);
    /* Where the limit is not known well enough, no run reaches the level. */
    if (best == NULL || LOSS_MARGIN * drift(best) > level)
        return (claims_cost){.low = 0.0, .high = (double)INFINITY};
    return saddle_claims_settle(trace, t->cost, final_loss(best), level);
}

/* The same for the best series of the algorithm, if the experiment compares tuned algorithms. */
static claims_cost best_cost(const view *v, size_t index, size_t seed, double level)
{
    const paper_experiment *e = v->experiment;
    claims_cost best = cost_of(v, v->chain.trace[index][seed], seed, level);
    for (size_t s = 0; e->tuning > 0 && s < e->count; s++) {
        const saddle_trace *trace = v->trace[s * v->seeds + seed];
        if (strcmp(e->series[s].algorithm, v->chain.series[index]->algorithm) != 0 ||
            !usable(trace))
            continue;
        claims_cost cost = cost_of(v, trace, seed, level);
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
        result r = compare(cost[s], cost[s + 1], v->test->factor);
        won += r == WON;
        lost += r == LOST;
        nothing += r == NOTHING;
    }
    if (nothing + 1 == v->chain.count)
        return NOTHING;
    if (lost > 0)
        return LOST;
    return won + nothing + 1 == v->chain.count ? WON : TIED;
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
    if (isinf(least.high) || most.low == AT_START)
        return NOTHING;
    if (most.high <= v->test->factor * least.low)
        return WON;
    return most.low > v->test->factor * least.high ? LOST : TIED;
}

/* The logarithm of the ratio of costs that is shown; NaN if it is unknown. */
static double log_ratio(const view *v, const claims_cost *cost, claims_level *level)
{
    claims_cost first = cost[0];
    claims_cost last = cost[v->chain.count - 1];
    for (size_t s = 1; v->test->kind == TEST_ALIKE && s < v->chain.count; s++) {
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
        result judged = v->test->kind == TEST_ALIKE ? judge_alike(v, cost) : judge_order(v, cost);
        level->won += judged == WON;
        level->lost += judged == LOST;
        level->tied += judged == TIED;
        double value = judged == NOTHING ? NAN : log_ratio(v, cost, level);
        if (!isnan(value))
            ratio[ratios++] = value;
    }
    level->log_ratio = saddle_statistics_summarize(ratio, ratios, CLAIMS_CONFIDENCE);
}

static claims_state state_of(const claims_level *level, size_t seeds)
{
    size_t said = level->won + level->lost + level->tied;
    if (said == 0 || (2 * said < seeds && level->lost == 0))
        return STATE_SILENT;
    if (said < CLAIMS_FEWEST_SEEDS || 2 * said < seeds)
        return STATE_OPEN;
    return level->won == said ? STATE_TRUE : level->lost == said ? STATE_FALSE : STATE_OPEN;
}

static void judge_levels(claims_measurement *out, const view *v)
{
    out->levels = CLAIMS_LEVELS;
    for (size_t k = 0; k < CLAIMS_LEVELS; k++) {
        out->level[k].level = saddle_claims_level(k);
        judge_level(&out->level[k], v);
        out->level[k].state = state_of(&out->level[k], v->seeds);
    }
}

/* ---- curves ---------------------------------------------------------------------------------- */

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
static void judge_curves(claims_measurement *out, const view *v)
{
    claims_level *all = &out->level[0];
    double ratio[CLAIMS_MOST_SEEDS] = {0.0};
    size_t seeds = 0;
    for (size_t r = 0; r < v->seeds && r < CLAIMS_MOST_SEEDS; r++) {
        /* A curve with a metric that is not finite counts as missing. */
        double whole = complete(v, r) ? mean_log_ratio(v->chain.trace[0][r],
                                                       v->chain.trace[v->chain.count - 1][r])
                                      : NAN;
        if (!isfinite(whole))
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
        ratio[seeds++] = whole;
    }
    out->levels = 1;
    all->log_ratio = saddle_statistics_summarize(ratio, seeds, CLAIMS_CONFIDENCE);
    all->state = state_of(all, v->seeds);
    saddle_claims_describe_level(out->numbers, CLAIMS_TEXT, all);
}

/* ---- slopes --------------------------------------------------------------------------------- */

static void add_point(claims_line *l, double x, double y)
{
    if (l->count < CLAIMS_MOST_POINTS && x > 0.0 && y > 0.0 && isfinite(x) && isfinite(y)) {
        l->x[l->count] = log(x);
        l->y[l->count++] = log(y);
    }
}

/* Points of the test's cost or, with `ifo`, of the IFO calls. */
static void points_of_values(claims_line *l, const view *v, size_t seed, bool ifo)
{
    for (size_t s = 0; s < v->chain.count; s++) {
        claims_cost cost = saddle_claims_stay(v->chain.trace[s][seed], ifo ? "ifo" : v->test->cost,
                                              v->test->level);
        add_point(l, v->chain.series[s]->value, cost.high);
    }
    /* A series that did not reach the level would distort the line. */
    if (l->count < v->chain.count)
        l->count = 0;
}

static void points_of_epsilon(claims_line *l, const view *v, size_t seed)
{
    const saddle_trace *trace = v->chain.trace[0][seed];
    double start = saddle_trace_column(trace, "metric")[0];
    for (int k = FIRST_HALF_DECADE; k <= LAST_HALF_DECADE; k++) {
        double level = start * pow(10.0, -0.5 * k);
        add_point(l, 1.0 / level, saddle_claims_stay(trace, v->test->cost, level).high);
    }
}

/* Points of the mean metric over T iterations; the line is fitted to the second half of the run. */
static void points_of_time(claims_line *l, const view *v, size_t seed)
{
    const saddle_trace *trace = v->chain.trace[0][seed];
    const double *iteration = saddle_trace_column(trace, "iteration");
    const double *metric = saddle_trace_column(trace, "metric");
    double sum = 0.0;
    double next = FIRST_ITERATION;
    for (size_t k = 1; k < trace->rows; k++) {
        sum += metric[k] * (iteration[k] - iteration[k - 1]);
        if (iteration[k] < next)
            continue;
        l->fitted_from += 2.0 * iteration[k] < iteration[trace->rows - 1];
        add_point(l, iteration[k], sum / iteration[k]);
        next = iteration[k] * ITERATION_RATIO;
    }
}

static void find_points(claims_line *l, const view *v, size_t seed, bool ifo)
{
    l->count = l->fitted_from = 0;
    if (v->chain.count == 0 || !complete(v, seed))
        return;
    if (v->test->kind == TEST_SLOPE_VALUE)
        points_of_values(l, v, seed, ifo);
    else if (v->test->kind == TEST_SLOPE_EPSILON)
        points_of_epsilon(l, v, seed);
    else
        points_of_time(l, v, seed);
}

static statistics_mean fit_slopes(const view *v, bool ifo)
{
    double slope[CLAIMS_MOST_SEEDS] = {0.0};
    size_t slopes = 0;
    for (size_t r = 0; r < v->seeds && r < CLAIMS_MOST_SEEDS; r++) {
        claims_line l;
        find_points(&l, v, r, ifo);
        size_t first = l.fitted_from;
        slopes += l.count >= first + 3 && saddle_statistics_slope(l.x + first, l.y + first,
                                                                  l.count - first, &slope[slopes]);
    }
    return saddle_statistics_summarize(slope, slopes, CLAIMS_CONFIDENCE);
}

static void append_slope(char *text, const statistics_mean *slope)
{
    CLAIMS_APPEND(text, "%.3f", slope->mean);
    if (slope->count > 1)
        CLAIMS_APPEND(text, " (%.3f to %.3f)", slope->low, slope->high);
}

static void judge_slope(claims_measurement *out, const view *v)
{
    bool value = v->test->kind == TEST_SLOPE_VALUE;
    claims_level *all = &out->level[0];
    out->levels = 1;
    out->slope = fit_slopes(v, false);
    if (out->slope.count == 0) {
        CLAIMS_APPEND(out->numbers, "too few levels were reached to fit an exponent");
        return;
    }
    CLAIMS_APPEND(out->numbers, "exponent ");
    append_slope(out->numbers, &out->slope);
    if (value) {
        out->ifo_slope = fit_slopes(v, true);
        CLAIMS_APPEND(out->numbers, "; of IFO calls, including refresh 0, ");
        append_slope(out->numbers, &out->ifo_slope);
    }
    CLAIMS_APPEND(out->numbers, "; theory: at most %g", v->test->bound);
    /* A single seed has no interval. */
    double low = out->slope.count > 1 ? out->slope.low : out->slope.mean;
    double margin = v->test->kind == TEST_SLOPE_TIME ? TIME_MARGIN : 0.0;
    all->state = low <= v->test->bound + margin ? STATE_TRUE : STATE_FALSE;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void read_chain(view *v)
{
    for (const char *word = v->test->series; *word != '\0';) {
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

void saddle_claims_measure(claims_measurement *out, const paper_test *t, const paper_experiment *e,
                           const saddle_trace *const *trace, size_t seeds)
{
    view v = {.test = t, .experiment = e, .trace = trace, .seeds = seeds};
    read_chain(&v);
    *out = (claims_measurement){.test = t, .experiment = e};
    saddle_claims_write_statement(out, &v.chain);
    if (v.chain.count == 0 || t->kind == TEST_THEOREM)
        return;
    if (t->kind == TEST_FASTER || t->kind == TEST_ALIKE)
        judge_levels(out, &v);
    else if (t->kind == TEST_BELOW)
        judge_curves(out, &v);
    else
        judge_slope(out, &v);
}

void saddle_claims_points(claims_line *out, const paper_test *t, const paper_experiment *e,
                          const saddle_trace *const *trace, size_t seeds, size_t seed)
{
    view v = {.test = t, .experiment = e, .trace = trace, .seeds = seeds};
    read_chain(&v);
    find_points(out, &v, seed, false);
}
