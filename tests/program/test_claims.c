/*
 * Claims tested on artificial traces: which hold, which do not, which cannot be decided; and the tables
 * of experiments, which must be consistent.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "lab/claims.h"
#include "lab/theorem_check.h"
#include "lab/trace_build.h"
#include "support.h"

#define ROWS 400
#define SEEDS CLAIMS_FEWEST_SEEDS
#define SERIES 4

/* A trace that owns its numbers. */
typedef struct made {
    saddle_trace trace;
    char *column[5];
    double *value[5];
    double numbers[5][ROWS];
} made;

static char names[5][16] = {"iteration", "ifo", "rounds", "loss", "metric"};
static char done[] = "all iterations done";

/* A trace with `calls` IFO calls and one round per row. */
static void make(made *m, double calls)
{
    memset(m, 0, sizeof *m);
    for (size_t c = 0; c < 5; c++) {
        m->column[c] = names[c];
        m->value[c] = m->numbers[c];
    }
    m->trace = (saddle_trace){
        .columns = 5, .column = m->column, .value = m->value, .rows = ROWS, .end = done};
    for (size_t k = 0; k < ROWS; k++) {
        m->numbers[0][k] = (double)k;
        m->numbers[1][k] = calls * (double)(k + 1);
        m->numbers[2][k] = (double)k;
    }
}

/* Sets the metric to 10^(-rate k), never below `least`; the loss approaches 5 with it. */
static void fall(made *m, double rate, double least)
{
    for (size_t k = 0; k < ROWS; k++) {
        m->numbers[4][k] = fmax(least, pow(10.0, -rate * (double)k));
        m->numbers[3][k] = 5.0 - 2.0 * m->numbers[4][k];
    }
}

static const experiment_series series[SERIES] = {{"a", "Alpha", "one", "", 100.0, true, NULL},
                                                 {"b", "Beta", "two", "", 400.0, true, NULL},
                                                 {"c", "Gamma", "three", "", 1600.0, true, NULL},
                                                 {"d", "Delta", "two", "", 6400.0, false, NULL}};
static made runs[SERIES][SEEDS];
static const saddle_trace *traces[SERIES * SEEDS];
static paper_experiment four;
static claims_measurement made_test;
static claims_outcome outcome;

/* Makes all runs alike: rate 0.05, 10 calls per row. */
static void reset(void)
{
    four = (paper_experiment){.name = "e", .title = "Test", .count = SERIES, .series = series};
    for (size_t s = 0; s < SERIES; s++)
        for (size_t r = 0; r < SEEDS; r++) {
            make(&runs[s][r], 10.0);
            fall(&runs[s][r], 0.05, 0.0);
            traces[s * SEEDS + r] = &runs[s][r].trace;
        }
}

static void shape(size_t s, double rate, double least)
{
    for (size_t r = 0; r < SEEDS; r++)
        fall(&runs[s][r], rate, least);
}

/* Returns the verdict on a claim with one test. */
static claim_verdict decide(paper_test t)
{
    claims_list list = {.seeds = SEEDS, .tests = 1, .measurement = &made_test, .outcome = &outcome};
    t.claim = "fewer-samples";
    t.cost = t.cost != NULL ? t.cost : "ifo";
    t.quantity = t.quantity != NULL ? t.quantity : "metric";
    saddle_claims_measure(&made_test, &t, &four, traces, SEEDS);
    saddle_claims_decide(&list);
    ck_assert_uint_eq(list.claims, 1);
    return outcome.whole.verdict;
}

static claim_verdict faster(const char *which, double factor)
{
    return decide((paper_test){.kind = TEST_FASTER, .series = which, .factor = factor});
}

/* ---- costs ---- */

START_TEST(costs_lie_between_trace_points)
{
    reset();
    const saddle_trace *trace = traces[0];
    /* 10^(-0.05 k) <= 0.1 first at k = 20. */
    claims_cost cost = saddle_claims_reach(trace, "ifo", 0.1000001);
    assert_near(cost.low, 200.0, 0.0);
    assert_near(cost.high, 210.0, 0.0);
    cost = saddle_claims_reach(trace, "rounds", 0.1000001);
    assert_near(cost.low, 19.0, 0.0);
    assert_near(cost.high, 20.0, 0.0);
    /* There is no row before the start. */
    cost = saddle_claims_reach(trace, "ifo", 2.0);
    ck_assert(isinf(cost.low) && cost.low < 0.0);
    assert_near(cost.high, 10.0, 0.0);
}
END_TEST

START_TEST(what_is_never_reached_costs_more_than_was_spent)
{
    reset();
    shape(0, 0.05, 0.01);
    claims_cost cost = saddle_claims_reach(traces[0], "ifo", 0.001);
    assert_near(cost.low, 10.0 * ROWS, 0.0);
    ck_assert(isinf(cost.high));
    char end[64];
    saddle_snprintf(end, sizeof end, "%s", saddle_stop_text(SADDLE_STOP_DIVERGED));
    runs[0][0].trace.end = end;
    ck_assert(isinf(saddle_claims_reach(traces[0], "ifo", 0.001).low));
    ck_assert(isinf(saddle_claims_settle(traces[0], "ifo", 5.0, 10.0).low));
    runs[0][1].numbers[4][50] = NAN;
    assert_near(saddle_claims_reach(traces[1], "ifo", 0.1000001).high, 210.0, 0.0);
}
END_TEST

START_TEST(the_metric_must_stay)
{
    reset();
    /* 10^(-0.05 k) is at 1e-1 from row 20 on, except for one row. */
    runs[0][0].numbers[4][50] = 0.2;
    claims_cost cost = saddle_claims_stay(traces[0], "rounds", 0.1000001);
    assert_near(cost.low, 50.0, 0.0);
    assert_near(cost.high, 51.0, 0.0);
    assert_near(saddle_claims_reach(traces[0], "rounds", 0.1000001).high, 20.0, 0.0);
    assert_near(saddle_claims_stay(traces[1], "rounds", 0.1000001).high, 20.0, 0.0);
    runs[0][1].numbers[4][70] = NAN;
    assert_near(saddle_claims_stay(traces[1], "rounds", 0.1000001).high, 71.0, 0.0);
    /* Beta reaches the levels first, and leaves them. */
    shape(1, 0.1, 0.0);
    for (size_t r = 0; r < SEEDS; r++)
        runs[1][r].numbers[4][ROWS - 1] = 0.5;
    ck_assert_int_eq(faster("c b", 1.0), CLAIM_HOLDS);
}
END_TEST

START_TEST(the_loss_must_stay)
{
    reset();
    double *loss = runs[0][0].numbers[3];
    for (size_t k = 0; k < ROWS; k++)
        loss[k] = k == 3 || k >= 100 ? 1.0 : 2.0;
    claims_cost cost = saddle_claims_settle(traces[0], "rounds", 1.0, 0.5);
    assert_near(cost.low, 99.0, 0.0);
    assert_near(cost.high, 100.0, 0.0);
    loss[ROWS - 1] = 2.0;
    ck_assert(isinf(saddle_claims_settle(traces[0], "rounds", 1.0, 0.5).high));
}
END_TEST

/* ---- order ---- */

START_TEST(faster_holds)
{
    reset();
    shape(1, 0.02, 0.0);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS);
    for (size_t k = 0; k < CLAIMS_LEVELS; k++) {
        ck_assert_uint_eq(made_test.level[k].won, SEEDS);
        /* Costs are 10 (20 j + 1) and 10 (50 j + 1), or a row later if the power rounds up. */
        double j = -log10(saddle_claims_level(k));
        assert_near(exp(made_test.level[k].log_ratio.mean), (50.0 * j + 1.0) / (20.0 * j + 1.0),
                    0.06);
    }
    ck_assert_str_eq(made_test.statement, "Alpha against Beta, IFO calls by the metric");
    char text[CLAIMS_TEXT] = "";
    saddle_claims_describe_level(text, sizeof text, &made_test.level[1]);
    ck_assert_ptr_nonnull(strstr(text, "x (2."));
    ck_assert_ptr_nonnull(strstr(text, "5 of 5"));
    ck_assert_int_eq(faster("a b", 2.0), CLAIM_HOLDS);
    ck_assert_int_eq(faster("a b", 3.0), CLAIM_FAILS);
    ck_assert_ptr_nonnull(strstr(made_test.statement, "3 times fewer"));
}
END_TEST

START_TEST(faster_fails)
{
    reset();
    shape(0, 0.02, 0.0);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_FAILS);
    ck_assert_uint_eq(made_test.level[2].lost, SEEDS);
    ck_assert_uint_eq(made_test.level[2].won, 0);
    ck_assert_int_eq(made_test.level[2].state, STATE_FALSE);
}
END_TEST

START_TEST(one_seed_that_disagrees_leaves_it_open)
{
    reset();
    shape(1, 0.02, 0.0);
    fall(&runs[1][2], 0.2, 0.0);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_UNDECIDED);
    ck_assert_uint_eq(made_test.level[1].won, SEEDS - 1);
    ck_assert_uint_eq(made_test.level[1].lost, 1);
}
END_TEST

START_TEST(too_few_seeds_decide_nothing)
{
    reset();
    shape(1, 0.02, 0.0);
    for (size_t s = 0; s < SERIES; s++)
        traces[s * SEEDS] = NULL;
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_UNDECIDED);
    ck_assert_uint_eq(made_test.level[1].won, SEEDS - 1);
}
END_TEST

START_TEST(what_trace_points_cannot_tell_apart_is_open)
{
    reset();
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_UNDECIDED);
    ck_assert_uint_eq(made_test.level[1].tied, SEEDS);
}
END_TEST

static void assert_verdict(const char *wanted)
{
    char text[CLAIMS_VERDICT];
    ck_assert_str_eq(saddle_claims_verdict_text(&outcome, text), wanted);
}

START_TEST(a_claim_can_hold_from_a_level_down)
{
    reset();
    shape(1, 0.02, 0.0);
    /* Beta is first at a tenth, and late after that. */
    for (size_t r = 0; r < SEEDS; r++)
        for (size_t k = 1; k < ROWS; k++)
            runs[1][r].numbers[4][k] = fmin(runs[1][r].numbers[4][k], 0.05);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS_BELOW);
    ck_assert_uint_eq(made_test.level[0].lost, SEEDS);
    assert_verdict("holds from 1e-02 down");
}
END_TEST

START_TEST(a_claim_can_hold_down_to_a_level)
{
    reset();
    shape(0, 0.05, 5e-4);
    shape(1, 0.02, 0.0);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS_ABOVE);
    ck_assert_uint_eq(made_test.level[2].won, SEEDS);
    ck_assert_uint_eq(made_test.level[3].lost, SEEDS);
    ck_assert(made_test.level[3].at_most);
    assert_verdict("holds down to 1e-03 only");
}
END_TEST

START_TEST(levels_never_reached_decide_nothing)
{
    reset();
    shape(0, 0.05, 5e-4);
    shape(1, 0.02, 5e-4);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS);
    ck_assert_int_eq(made_test.level[3].state, STATE_SILENT);
    shape(0, 0.05, 0.5);
    shape(1, 0.02, 0.5);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_UNTESTED);
    assert_verdict("not tested: no run got there");
}
END_TEST

/* Lets two seeds of a series get further than 5e-4, where all others end. */
static void two_seeds_get_further(size_t s)
{
    reset();
    shape(0, 0.05, 5e-4);
    shape(1, 0.02, 5e-4);
    for (size_t r = 0; r < 2; r++)
        fall(&runs[s][r], 0.05 - 0.02 * (double)s, 0.0);
}

START_TEST(few_seeds_may_contradict_but_not_confirm)
{
    two_seeds_get_further(0);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS);
    ck_assert_uint_eq(made_test.level[3].won, 2);
    ck_assert_int_eq(made_test.level[3].state, STATE_SILENT);
    two_seeds_get_further(1);
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS_ABOVE);
    ck_assert_uint_eq(made_test.level[3].lost, 2);
    ck_assert_int_eq(made_test.level[3].state, STATE_OPEN);
    assert_verdict("holds down to 1e-03, finer levels not decided");
}
END_TEST

START_TEST(levels_reached_at_the_start_decide_nothing)
{
    reset();
    shape(1, 0.02, 0.0);
    for (size_t s = 0; s < 2; s++)
        for (size_t r = 0; r < SEEDS; r++)
            for (size_t k = 0; k < ROWS; k++)
                runs[s][r].numbers[4][k] *= 0.05;
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS);
    ck_assert_int_eq(made_test.level[0].state, STATE_SILENT);
    ck_assert_int_eq(made_test.level[1].state, STATE_TRUE);
    ck_assert_int_eq(decide((paper_test){.kind = TEST_ALIKE, .series = "a b", .factor = 9.0}),
                     CLAIM_HOLDS);
    ck_assert_int_eq(made_test.level[0].state, STATE_SILENT);
}
END_TEST

/* Returns the verdict on a claim with two tests in these states from 1e-1 on: . not reached, T true, F
 * false, o open. */
static claim_verdict decide_both(bool apart, const char *first, const char *second)
{
    claims_measurement two[2];
    claims_list list = {.seeds = SEEDS, .tests = 2, .measurement = two, .outcome = &outcome};
    static const paper_test test = {.claim = "fewer-samples"};
    static const paper_experiment place[2] = {{.name = "here"}, {.name = "there"}};
    const char *const text[2] = {first, second};
    memset(two, 0, sizeof two);
    for (size_t j = 0; j < 2; j++) {
        two[j].test = &test;
        two[j].experiment = &place[apart ? j : 0];
        two[j].levels = strlen(text[j]);
        for (size_t k = 0; k < two[j].levels; k++)
            two[j].level[k].state = text[j][k] == 'T'   ? STATE_TRUE
                                    : text[j][k] == 'F' ? STATE_FALSE
                                    : text[j][k] == 'o' ? STATE_OPEN
                                                        : STATE_SILENT;
    }
    saddle_claims_decide(&list);
    ck_assert_uint_eq(list.claims, 1);
    ck_assert_uint_eq(outcome.count, 2);
    return outcome.whole.verdict;
}

static claim_verdict together(const char *first, const char *second)
{
    return decide_both(false, first, second);
}

START_TEST(a_single_level_is_named)
{
    ck_assert_int_eq(together("T.....", "......"), CLAIM_HOLDS);
    assert_verdict("holds at 1e-01, the only level reached");
    ck_assert_int_eq(together(".FT...", "......"), CLAIM_HOLDS_BELOW);
    assert_verdict("holds at 1e-03, the finest level reached");
    ck_assert_int_eq(together("TF....", "......"), CLAIM_HOLDS_ABOVE);
    assert_verdict("holds at 1e-01 only");
    ck_assert_int_eq(together("To....", "......"), CLAIM_HOLDS_ABOVE);
    assert_verdict("holds at 1e-01, finer levels not decided");
    ck_assert_int_eq(together("TTo...", "......"), CLAIM_HOLDS_ABOVE);
    assert_verdict("holds down to 1e-02, finer levels not decided");
    ck_assert_int_eq(together(".T", "TT"), CLAIM_HOLDS);
    assert_verdict("holds");
    ck_assert_int_eq(together("T", "T"), CLAIM_HOLDS); /* tests without levels */
    assert_verdict("holds");
    ck_assert_int_eq(decide_both(true, "T.....", ".T...."), CLAIM_DIFFERS);
    assert_verdict("here: holds at 1e-01, the only level reached; there: holds at 1e-02, the only "
                   "level reached");
}
END_TEST

START_TEST(experiments_may_differ)
{
    ck_assert_int_eq(decide_both(true, "TTT...", ".TT..."), CLAIM_HOLDS);
    ck_assert_uint_eq(outcome.parts, 2);
    ck_assert_int_eq(decide_both(true, "FTTT..", "oTT..."), CLAIM_HOLDS_BELOW);
    assert_near(outcome.whole.level, 1e-2, 1e-17);
    ck_assert_int_eq(decide_both(true, "FTTT..", "TTT..."), CLAIM_DIFFERS);
    assert_verdict("here: holds from 1e-02 down; there: holds");
    ck_assert_int_eq(decide_both(true, "FTTT..", "FFTT.."), CLAIM_DIFFERS);
    assert_verdict("here: holds from 1e-02 down; there: holds from 1e-03 down");
    ck_assert_int_eq(decide_both(true, "FF....", "F....."), CLAIM_FAILS);
    /* Levels that one of them never reached do not count for it. */
    ck_assert_int_eq(decide_both(true, "FFT...", "FF...."), CLAIM_DIFFERS);
    assert_verdict("here: holds at 1e-03, the finest level reached; there: does not hold");
    ck_assert_int_eq(decide_both(true, "TTT...", "......"), CLAIM_DIFFERS);
    assert_verdict("here: holds; there: not tested: no run got there");
}
END_TEST

START_TEST(a_claim_needs_all_its_tests)
{
    ck_assert_int_eq(together("TTT...", ".TT..."), CLAIM_HOLDS);
    ck_assert_int_eq(together("TTT...", "FFF..."), CLAIM_FAILS);
    ck_assert_int_eq(together("TTTT..", "FoTT.."), CLAIM_HOLDS_BELOW);
    assert_near(outcome.whole.level, 1e-3, 1e-18);
    ck_assert_int_eq(together("FTTTTT", ".TTTFT"), CLAIM_HOLDS_BELOW);
    assert_near(outcome.whole.level, 1e-8, 1e-23);
    ck_assert_int_eq(together("TTTF..", "TToF.."), CLAIM_HOLDS_ABOVE);
    assert_near(outcome.whole.level, 1e-2, 1e-17);
    ck_assert_int_eq(together("oTo...", "TTT..."), CLAIM_HOLDS_PARTLY);
    ck_assert_int_eq(together("oo....", "oo...."), CLAIM_UNDECIDED);
    ck_assert_int_eq(together("oF....", "To...."), CLAIM_FAILS);
    ck_assert_int_eq(together("FTF...", "TTT..."), CLAIM_HOLDS_PARTLY);
    assert_verdict("holds at some levels only");
    ck_assert_int_eq(together("......", "......"), CLAIM_UNTESTED);
    ck_assert_int_eq(together("T", "T"), CLAIM_HOLDS);
    ck_assert_int_eq(together("T", "F"), CLAIM_FAILS);
}
END_TEST

START_TEST(chance_is_stated)
{
    claims_measurement two[2];
    const paper_test first = {.kind = TEST_FASTER, .factor = 1.0};
    const paper_test alike = {.kind = TEST_ALIKE, .factor = 1.5};
    const paper_test not_much_later = {.kind = TEST_FASTER, .factor = 0.5};
    memset(two, 0, sizeof two);
    two[0].test = two[1].test = &first;
    two[0].levels = two[1].levels = CLAIMS_LEVELS;
    two[0].level[0].won = two[0].level[1].lost = two[1].level[5].tied = 10;
    two[1].level[4].won = 3; /* too few to count */
    two[0].level[0].state = STATE_TRUE;
    two[0].level[1].state = STATE_FALSE;
    two[1].level[5].state = STATE_OPEN;
    double chance;
    claims_list list = {.seeds = 10, .tests = 2, .measurement = two};
    ck_assert_uint_eq(saddle_claims_comparisons(&list, &chance), 3);
    assert_near(chance, 3.0 / 512.0, 1e-15);
    char text[CLAIMS_TEXT] = "";
    saddle_claims_describe_chance(text, sizeof text, &list);
    ck_assert_ptr_nonnull(
        strstr(text, "of the 3 such tests at levels made here, at most 0.0059 would be decided"));
    /* In tests of similarity, no series is first. */
    two[0].test = &alike;
    two[1].test = &not_much_later;
    ck_assert_uint_eq(saddle_claims_comparisons(&list, &chance), 0);
}
END_TEST

START_TEST(a_run_cut_short_proves_nothing)
{
    reset();
    shape(1, 0.02, 0.0);
    for (size_t r = 0; r < SEEDS; r++)
        runs[1][r].trace.rows = 20; /* before Alpha gets to 1e-2 */
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_UNDECIDED);
    traces[SEEDS] = NULL; /* Beta with the first seed */
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_UNDECIDED);
    ck_assert_uint_eq(made_test.level[1].tied, SEEDS - 1);
}
END_TEST

START_TEST(chains_need_every_link)
{
    reset();
    shape(1, 0.03, 0.0);
    shape(2, 0.02, 0.0);
    ck_assert_int_eq(faster("a b c", 1.0), CLAIM_HOLDS);
    ck_assert_int_eq(faster("a c b", 1.0), CLAIM_FAILS);
}
END_TEST

START_TEST(an_algorithm_is_as_good_as_its_best_series)
{
    reset();
    shape(1, 0.02, 0.0);
    shape(3, 0.2, 0.0); /* the same algorithm as Beta */
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_HOLDS);
    four.tuning = 1;
    ck_assert_int_eq(faster("a b", 1.0), CLAIM_FAILS);
}
END_TEST

START_TEST(losses_are_compared_by_their_distance)
{
    reset();
    shape(1, 0.02, 0.0);
    paper_test c = {.kind = TEST_FASTER, .series = "a b", .factor = 1.0, .quantity = "loss"};
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    c.series = "b a";
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
    /* A limit that still moves by 2e-5 in the second half decides nothing at 1e-4 and below. */
    for (size_t s = 0; s < SERIES; s++)
        for (size_t r = 0; r < SEEDS; r++)
            runs[s][r].numbers[3][ROWS / 2 + 1] += 2e-5;
    c.series = "a b";
    decide(c);
    ck_assert_int_eq(made_test.level[2].state, STATE_TRUE);
    ck_assert_int_eq(made_test.level[3].state, STATE_SILENT);
    ck_assert_int_eq(made_test.level[5].state, STATE_SILENT);
}
END_TEST

START_TEST(links_that_nobody_reaches_are_left_out)
{
    reset();
    shape(1, 0.02, 5e-3);
    shape(2, 0.01, 5e-3);
    ck_assert_int_eq(faster("a b c", 1.0), CLAIM_HOLDS);
}
END_TEST

START_TEST(curves_are_compared_where_both_were_traced)
{
    paper_test c = {.kind = TEST_BELOW, .series = "a b c", .factor = 1.0};
    reset();
    shape(1, 0.0499, 0.0);
    shape(2, 0.0498, 0.0);
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    /* The mean of 10^(0.0002 k) over k = 0 .. ROWS - 1, in the geometric sense. */
    assert_near(made_test.level[0].log_ratio.mean, log(10.0) * 0.0002 * (ROWS - 1) / 2.0, 1e-12);
    /* Rows of other iterations do not count: Gamma traced odd ones, with another metric. */
    for (size_t r = 0; r < SEEDS; r++)
        for (size_t k = 0; k < ROWS; k++) {
            runs[2][r].numbers[0][k] = (double)(2 * k + 1);
            runs[2][r].numbers[4][k] = pow(10.0, -0.0498 * (double)(2 * k + 1));
        }
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    c.series = "c b a";
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
    c.series = "a b";
    fall(&runs[1][1], 0.06, 0.0);
    ck_assert_int_eq(decide(c), CLAIM_UNDECIDED);
    ck_assert_uint_eq(made_test.level[0].lost, 1);
}
END_TEST

START_TEST(alike)
{
    reset();
    shape(1, 0.045, 0.0);
    paper_test c = {.kind = TEST_ALIKE, .series = "a b c", .factor = 1.5, .cost = "rounds"};
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    shape(2, 0.02, 0.0);
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
}
END_TEST

/* ---- slopes ---- */

/* Sets rounds so that metric 0.5 is reached at row `k`. */
static void reach_at(size_t s, size_t row)
{
    for (size_t r = 0; r < SEEDS; r++)
        for (size_t k = 0; k < ROWS; k++)
            runs[s][r].numbers[4][k] = k < row ? 1.0 : 0.5;
}

START_TEST(growth_with_the_value)
{
    paper_test c = {.kind = TEST_SLOPE_VALUE,
                    .series = "a b c d",
                    .cost = "rounds",
                    .level = 0.5,
                    .bound = 0.5};
    reset();
    for (size_t s = 0; s < SERIES; s++)
        reach_at(s, (size_t)sqrt(series[s].value));
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    assert_near(made_test.slope.mean, 0.5, 1e-12);
    static claims_line line;
    saddle_claims_points(&line, &c, &four, traces, SEEDS, 0);
    ck_assert_uint_eq(line.count, SERIES);
    for (size_t s = 0; s < SERIES; s++) {
        assert_near(line.x[s], log(series[s].value), 1e-15);
        assert_near(line.y[s], 0.5 * line.x[s], 1e-12);
    }
    for (size_t s = 0; s < SERIES; s++)
        reach_at(s, (size_t)(series[s].value / 20.0));
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
    assert_near(made_test.slope.mean, 1.0, 1e-12);
    /* 10 (1 + k) calls at row k, of which 10 at the start. */
    ck_assert(made_test.ifo_slope.mean < 1.0 && made_test.ifo_slope.mean > 0.8);
    ck_assert_ptr_nonnull(strstr(made_test.numbers, "; of IFO calls, including refresh 0, 0."));
    reach_at(3, ROWS);
    ck_assert_int_eq(decide(c), CLAIM_UNTESTED);
    saddle_claims_points(&line, &c, &four, traces, SEEDS, 0);
    ck_assert_uint_eq(line.count, 0);
}
END_TEST

START_TEST(a_slope_is_above_a_bound_if_its_interval_is)
{
    paper_test c = {.kind = TEST_SLOPE_VALUE,
                    .series = "a b c d",
                    .cost = "rounds",
                    .level = 0.5,
                    .bound = 0.5};
    reset();
    const double power[SEEDS] = {0.2, 0.3, 0.5, 0.6, 0.65};
    for (size_t s = 0; s < SERIES; s++)
        for (size_t r = 0; r < SEEDS; r++)
            for (size_t k = 0; k < ROWS; k++)
                runs[s][r].numbers[4][k] = (double)k < pow(series[s].value, power[r]) ? 1.0 : 0.5;
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    ck_assert(made_test.slope.low < 0.4);
    c.bound = floor(100.0 * made_test.slope.low) / 100.0;
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
}
END_TEST

START_TEST(growth_with_accuracy_and_time)
{
    reset();
    /* The metric is 1/k, and its mean over T iterations about log(T) / T: at the end T^-0.8. */
    for (size_t r = 0; r < SEEDS; r++)
        for (size_t k = 0; k < ROWS; k++)
            runs[0][r].numbers[4][k] = 1.0 / (k > 0 ? (double)k : 1.0);
    paper_test c = {.kind = TEST_SLOPE_TIME, .series = "a", .bound = -1.0};
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
    static claims_line line;
    saddle_claims_points(&line, &c, &four, traces, SEEDS, 0);
    for (size_t k = 0; k < line.count; k++) {
        double sum = 0.0;
        double last = exp(line.x[k]);
        for (size_t j = 1; (double)j < last + 0.5; j++)
            sum += 1.0 / (double)j;
        assert_near(line.y[k], log(sum / last), 1e-12);
        ck_assert_int_eq(k < line.fitted_from, 2.0 * last < (double)(ROWS - 1));
    }
    size_t first = line.fitted_from;
    double chord =
        (line.y[line.count - 1] - line.y[first]) / (line.x[line.count - 1] - line.x[first]);
    assert_near(made_test.slope.mean, chord, 0.01);
    /* The sum of 1/k^2.5 is bounded. */
    for (size_t r = 0; r < SEEDS; r++)
        for (size_t k = 0; k < ROWS; k++)
            runs[0][r].numbers[4][k] = pow(k > 0 ? (double)k : 1.0, -2.5);
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    /* Reaching a metric of 1/E takes E rounds. */
    for (size_t r = 0; r < SEEDS; r++)
        for (size_t k = 0; k < ROWS; k++)
            runs[0][r].numbers[4][k] = 1.0 / (k > 0 ? (double)k : 1.0);
    c = (paper_test){.kind = TEST_SLOPE_EPSILON, .series = "a", .cost = "rounds", .bound = 1.0};
    ck_assert_int_eq(decide(c), CLAIM_HOLDS);
    assert_near(made_test.slope.mean, 1.0, 0.03); /* rounds are integers */
    c.bound = 0.5;
    ck_assert_int_eq(decide(c), CLAIM_FAILS);
}
END_TEST

/* ---- theorems ---- */

/* The metric is 5 at the start and `level` after it; its sum may be 20. */
static void theorem(theorem_check *v, double level)
{
    const saddle_theory theory = {.precision = {.holds = true, .total = 20.0}};
    double iteration[101];
    double metric[101];
    for (size_t k = 0; k <= 100; k++) {
        iteration[k] = (double)k / 5.0;
        metric[k] = k == 0 ? 5.0 : level;
    }
    memset(v, 0, sizeof *v);
    const theorem_bound bound = saddle_theorem_bound_of(&theory, false, 1.0);
    for (int r = 0; r < 3; r++)
        saddle_theorem_add(v, &bound, "7", 101, iteration, metric);
}

START_TEST(bounds_that_hold_and_that_do_not)
{
    static theorem_check v;
    theorem(&v, 0.9);
    ck_assert_uint_eq(v.seeds, 3);
    double mean = (5.0 + 99.0 * 0.9) / 100.0;
    assert_near(v.point[THEOREM_POINTS - 1].iterations, 20.0, 0.0);
    assert_near(v.point[THEOREM_POINTS - 1].average[0], mean, 1e-12);
    assert_near(v.point[THEOREM_POINTS - 1].average_bound[0], 1.0, 1e-12);
    assert_near(saddle_theorem_ratio(&v), 1.0 / mean, 1e-12);
    ck_assert(!saddle_theorem_violated(&v));
    ck_assert(!saddle_theorem_is_vacuous(&v));
    theorem(&v, 0.97);
    ck_assert(saddle_theorem_violated(&v));
    /* A bound that already holds at the start shows nothing. */
    theorem(&v, 0.9);
    v.start[0] = v.start[1] = v.start[2] = 0.9;
    ck_assert(saddle_theorem_is_vacuous(&v));
}
END_TEST

/* A seed whose metric is not finite violates the bound and is named; the numbers are those of the others. */
START_TEST(metrics_that_are_not_finite)
{
    static theorem_check v;
    static const double broken[] = {NAN, INFINITY};
    const theorem_bound bound = {.total = 20.0};
    double iteration[] = {0, 1, 2};
    char text[512];
    for (size_t k = 0; k < 2; k++) {
        double metric[] = {5.0, 0.5, broken[k]};
        theorem(&v, 0.9);
        saddle_theorem_add(&v, &bound, "12", 3, iteration, metric);
        saddle_theorem_add(&v, &bound, "13", 3, iteration, metric);
        ck_assert_uint_eq(v.seeds, 5);
        ck_assert_uint_eq(v.measured, 3);
        ck_assert(saddle_theorem_violated(&v));
        assert_near(saddle_theorem_ratio(&v), 100.0 / (5.0 + 99.0 * 0.9), 1e-12);
        saddle_theorem_describe(&v, text, sizeof text);
        ck_assert_str_eq(text, "T = 20, 3 seeds: mean metric 0.941, bound 1, 1.06 times as large; "
                               "the metric of seed 12, 13 is not finite");
        memset(&v, 0, sizeof v);
        saddle_theorem_add(&v, &bound, "12", 3, iteration, metric);
        ck_assert(saddle_theorem_violated(&v));
        saddle_theorem_describe(&v, text, sizeof text);
        ck_assert_str_eq(text, "the metric of seed 12 is not finite");
    }
}
END_TEST

/* A run that diverged has failed, however small the metric was at its last trace point. */
START_TEST(runs_that_diverged)
{
    static theorem_check v;
    const theorem_bound bound = {.total = 20.0};
    saddle_trace *trace =
        saddle_trace_create("r.csv", "0", saddle_stop_text(SADDLE_STOP_DIVERGED), 2);
    ck_assert(saddle_trace_add_entry(trace, "seed", "4"));
    for (size_t c = 0; c < 2; c++) {
        double *column = saddle_trace_add_column(trace, c == 0 ? "iteration" : "metric");
        column[0] = 0.0;
        column[1] = 1.0;
    }
    saddle_theorem_add_trace(&v, &bound, trace);
    ck_assert_str_eq(v.failed, "seed 4");
    ck_assert(saddle_theorem_violated(&v));
    saddle_trace_free(trace);
}
END_TEST

START_TEST(bounds_at_every_trace_point)
{
    const saddle_theory theory = {.precision = {.total = 6.0},
                                  .precision_plus = {.total = 3.0, .level = 8.0},
                                  .epsilon = 0.1};
    const double iteration[] = {0, 2, 4};
    const double metric[] = {3, 1, 7};
    double mean_bound[3];
    theorem_bound bound = saddle_theorem_bound_of(&theory, false, 2.0);
    saddle_theorem_allowed(&bound, 3, iteration, mean_bound);
    ck_assert(isnan(mean_bound[0]));
    assert_near(saddle_theorem_mean_metric(metric, 1), 3.0, 1e-15);
    assert_near(saddle_theorem_mean_metric(metric, 2), (2 * 3 + 2 * 1) / 4.0, 1e-15);
    assert_near(mean_bound[2], 6.0 / 4.0, 1e-15);
    bound = saddle_theorem_bound_of(&theory, true, 2.0); /* level 8 0.1 / 2 */
    saddle_theorem_allowed(&bound, 3, iteration, mean_bound);
    assert_near(mean_bound[2], 3.0 / 4.0 + 0.4, 1e-14);
}
END_TEST

START_TEST(trivial_bounds_prove_nothing)
{
    const char *why = NULL;
    saddle_theory t = {
        .value_gap = 1.0, .precision = {.holds = true}, .precision_plus = {.holds = true}};
    ck_assert(saddle_theorem_applies(&t, true, &why));
    t.precision_plus.holds = false;
    ck_assert(saddle_theorem_applies(&t, false, &why));
    ck_assert(!saddle_theorem_applies(&t, true, &why));
    ck_assert_ptr_nonnull(strstr(why, "c-gamma"));
    t.value_gap = NAN;
    ck_assert(!saddle_theorem_applies(&t, false, &why));
    t = (saddle_theory){.value_gap = 1.0, .precision = {.holds = true}, .estimated = true};
    ck_assert(!saddle_theorem_applies(&t, false, &why));
}
END_TEST

/* ---- tables ---- */

START_TEST(tests_name_what_there_is)
{
    size_t experiments;
    size_t tests;
    size_t claims;
    const paper_experiment *list = saddle_paper_experiments(&experiments);
    const paper_test *all = saddle_paper_tests(&tests);
    const paper_claim *sentence = saddle_paper_claims(&claims);
    ck_assert_uint_gt(tests, 50);
    for (size_t k = 0; k < tests; k++) {
        const paper_experiment *e = NULL;
        for (size_t j = 0; j < experiments; j++)
            if (strcmp(list[j].name, all[k].experiment) == 0)
                e = &list[j];
        ck_assert_msg(e != NULL, "no experiment %s", all[k].experiment);
        const paper_claim *claim = saddle_paper_claim(all[k].claim);
        ck_assert_msg(claim != NULL, "no claim %s", all[k].claim);
        /* Our own experiments decide no claim of the paper. */
        ck_assert_msg(!e->ours || saddle_claim_is_ours(claim), "%s, %s", e->name, claim->name);
        size_t words = 0;
        for (const char *word = all[k].series; *word != '\0'; words++) {
            size_t length = strcspn(word, " ");
            ck_assert_msg(saddle_paper_series(e, word, length) != NULL, "%s has no series %s",
                          e->name, word);
            word += length + (word[length] == ' ');
        }
        bool chain = all[k].kind <= TEST_BELOW;
        ck_assert_uint_ge(words, chain ? 2 : 1);
        ck_assert(!chain || all[k].factor >= 0.5);
    }
    /* Every claim has tests, one after another in the order of the claims. */
    size_t next = 0;
    for (size_t c = 0; c < claims; c++) {
        size_t first = next;
        size_t parts = 0;
        for (; next < tests && strcmp(all[next].claim, sentence[c].name) == 0; next++)
            parts += next == first || strcmp(all[next].experiment, all[next - 1].experiment) != 0;
        ck_assert_uint_le(parts, CLAIMS_MOST_PARTS);
        ck_assert_msg(next > first, "no test of %s", sentence[c].name);
    }
    ck_assert_uint_eq(next, tests);
    /* Each algorithm that the comparisons name exists once. */
    size_t compared;
    const experiment_series *algorithm = saddle_paper_algorithms(&compared);
    for (size_t k = 0; k < compared; k++) {
        ck_assert_str_eq(algorithm[k].name, algorithm[k].algorithm);
        for (size_t j = 0; j < k; j++)
            ck_assert_str_ne(algorithm[j].algorithm, algorithm[k].algorithm);
    }
    for (size_t j = 0; j < experiments; j++) {
        ck_assert_uint_le(list[j].count, EXPERIMENT_MOST_SERIES);
        ck_assert_uint_gt(list[j].count, 0);
    }
}
END_TEST

Suite *saddle_test_suite(void)
{
    Suite *suite = suite_create("claims");
    TCase *tests = tcase_create("claims");
    tcase_add_test(tests, costs_lie_between_trace_points);
    tcase_add_test(tests, what_is_never_reached_costs_more_than_was_spent);
    tcase_add_test(tests, the_metric_must_stay);
    tcase_add_test(tests, the_loss_must_stay);
    tcase_add_test(tests, faster_holds);
    tcase_add_test(tests, faster_fails);
    tcase_add_test(tests, one_seed_that_disagrees_leaves_it_open);
    tcase_add_test(tests, too_few_seeds_decide_nothing);
    tcase_add_test(tests, what_trace_points_cannot_tell_apart_is_open);
    tcase_add_test(tests, a_claim_can_hold_from_a_level_down);
    tcase_add_test(tests, a_claim_can_hold_down_to_a_level);
    tcase_add_test(tests, levels_never_reached_decide_nothing);
    tcase_add_test(tests, few_seeds_may_contradict_but_not_confirm);
    tcase_add_test(tests, levels_reached_at_the_start_decide_nothing);
    tcase_add_test(tests, a_claim_needs_all_its_tests);
    tcase_add_test(tests, a_single_level_is_named);
    tcase_add_test(tests, experiments_may_differ);
    tcase_add_test(tests, chance_is_stated);
    tcase_add_test(tests, a_run_cut_short_proves_nothing);
    tcase_add_test(tests, chains_need_every_link);
    tcase_add_test(tests, an_algorithm_is_as_good_as_its_best_series);
    tcase_add_test(tests, losses_are_compared_by_their_distance);
    tcase_add_test(tests, links_that_nobody_reaches_are_left_out);
    tcase_add_test(tests, curves_are_compared_where_both_were_traced);
    tcase_add_test(tests, alike);
    tcase_add_test(tests, growth_with_the_value);
    tcase_add_test(tests, a_slope_is_above_a_bound_if_its_interval_is);
    tcase_add_test(tests, growth_with_accuracy_and_time);
    tcase_add_test(tests, bounds_that_hold_and_that_do_not);
    tcase_add_test(tests, metrics_that_are_not_finite);
    tcase_add_test(tests, runs_that_diverged);
    tcase_add_test(tests, bounds_at_every_trace_point);
    tcase_add_test(tests, trivial_bounds_prove_nothing);
    tcase_add_test(tests, tests_name_what_there_is);
    suite_add_tcase(suite, tests);
    return suite;
}
