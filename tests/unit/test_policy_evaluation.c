/*
 * policy-evaluation beyond what is tested for every problem: its decision process, its outcomes against
 * slow versions from the definitions, its starting point, and what it refuses.
 */
#include <stdlib.h>
#include <string.h>

#include "core/dense.h"
#include "core/rng.h"
#include "instances.h"
#include "problems/mdp.h"
#include "problems/problems.h"
#include "support.h"

/* ---- dense systems --------------------------------------------------------------------------- */

TEST(systems_are_solved)
{
    enum { N = 23 };
    double matrix[N * N];
    double kept[N * N];
    double right[N];
    double answer[N];
    saddle_rng rng;
    saddle_rng_init(&rng, 4, SADDLE_RNG_TEST, 0, 0);
    for (int k = 0; k < N * N; k++)
        kept[k] = matrix[k] = saddle_rng_normal(&rng);
    /* The first pivot is not on the diagonal. */
    kept[0] = matrix[0] = 0.0;
    for (int r = 0; r < N; r++) {
        answer[r] = saddle_rng_normal(&rng);
        right[r] = 0.0;
    }
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++)
            right[r] += kept[r * N + c] * answer[c];
    ck_assert(saddle_solve_dense(N, matrix, right));
    assert_at_most(test_farthest(N, right, answer), 1e-11);
}

/* A = B B' with the first rows of B those of the identity times 2, so that rows of A begin with zeros. */
TEST(positive_definite_systems_are_solved)
{
    enum { N = 20 };
    double b[N][N] = {{0.0}};
    double factor[N * (N + 1) / 2];
    double right[N] = {0.0};
    double answer[N];
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    for (size_t r = 0; r < N; r++) {
        answer[r] = saddle_rng_normal(&rng);
        b[r][r] = 2.0;
        for (size_t c = 5; r >= 5 && c < N; c++)
            b[r][c] += saddle_rng_normal(&rng);
    }
    double *entry = factor;
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < N; c++) {
            double sum = 0.0;
            for (size_t k = 0; k < N; k++)
                sum += b[r][k] * b[c][k];
            right[r] += sum * answer[c];
            if (c <= r)
                *entry++ = sum;
        }
    ck_assert(saddle_factor_dense(N, factor));
    saddle_solve_lower(N, factor, right);
    saddle_solve_upper(N, factor, right);
    assert_at_most(test_farthest(N, right, answer), 1e-11);
}

TEST(singular_systems_are_refused)
{
    double indefinite[3] = {1.0, 2.0, 3.0};
    double nan[3] = {1.0, NAN, 9.0};
    ck_assert(!saddle_factor_dense(2, indefinite));
    ck_assert(!saddle_factor_dense(2, nan));
    double equal_rows[4] = {1.0, 2.0, 1.0, 2.0};
    double not_finite[4] = {1.0, 0.0, 0.0, NAN};
    double right[2] = {1.0, 1.0};
    ck_assert(!saddle_solve_dense(2, equal_rows, right));
    ck_assert(!saddle_solve_dense(2, not_finite, right));
}

/* ---- the process ----------------------------------------------------------------------------- */

static const char *const some[] = {"problem=policy-evaluation",
                                   "agents=3",
                                   "samples=40,25,40",
                                   "mdp-states=6",
                                   "mdp-features=3",
                                   "mdp-hidden=4",
                                   "discount=0.8",
                                   "dual-ridge=0.05",
                                   NULL};

static saddle_instance *open_with(const char *const *first, const char *const *more)
{
    saddle_error error = {.message = ""};
    saddle_plan *base = test_plan(NULL, first);
    saddle_plan *plan = test_plan(base, more);
    saddle_instance *instance = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    test_plan_free(plan);
    test_plan_free(base);
    return instance;
}

/* Returns the probability of s -> s' under the policy. */
static long double chance(const saddle_mdp *mdp, size_t s, size_t next)
{
    long double sum = 0.0L;
    for (size_t a = 0; a < SADDLE_MDP_ACTIONS; a++) {
        size_t pair = s * SADDLE_MDP_ACTIONS + a;
        sum += (long double)mdp->policy[pair] * mdp->transition[pair * mdp->shape.states + next];
    }
    return sum;
}

/* Agents count weight[i] times; NULL: once. */
static long double mean_reward(const saddle_mdp *mdp, const size_t *weight, size_t s)
{
    long double sum = 0.0L;
    long double total = 0.0L;
    for (size_t i = 0; i < mdp->shape.agents; i++) {
        long double w = weight != NULL ? (long double)weight[i] : 1.0L;
        total += w;
        for (size_t a = 0; a < SADDLE_MDP_ACTIONS; a++)
            sum += w * mdp->policy[s * SADDLE_MDP_ACTIONS + a] *
                   mdp->reward[(i * mdp->shape.states + s) * SADDLE_MDP_ACTIONS + a];
    }
    return sum / total;
}

enum { MOST_STATES = 20 };

/* Computes values by iterating V = r + gamma P V, and visits by iterating a distribution. */
static void iterate(const saddle_mdp *mdp, const size_t *weight, long double *value,
                    long double *visits)
{
    size_t states = mdp->shape.states;
    for (size_t s = 0; s < states; s++) {
        value[s] = 0.0L;
        visits[s] = 1.0L / (long double)states;
    }
    for (int round = 0; round < 2000; round++) {
        long double new_value[MOST_STATES];
        long double new_visits[MOST_STATES] = {0.0L};
        for (size_t s = 0; s < states; s++) {
            new_value[s] = mean_reward(mdp, weight, s);
            for (size_t next = 0; next < states; next++) {
                new_value[s] += mdp->shape.discount * chance(mdp, s, next) * value[next];
                new_visits[next] += chance(mdp, s, next) * visits[s];
            }
        }
        memcpy(value, new_value, states * sizeof *value);
        memcpy(visits, new_visits, states * sizeof *visits);
    }
}

TEST(values_and_visits_are_fixed_points)
{
    saddle_instance *e = open_with(some, NULL);
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(e->problem);
    long double value[MOST_STATES];
    long double visits[MOST_STATES];
    iterate(mdp, NULL, value, visits);
    for (size_t s = 0; s < mdp->shape.states; s++) {
        assert_near(e->problem->shared[mdp->shape.agents + s], (double)value[s], 1e-12);
        assert_near(mdp->visits[s], (double)visits[s], 1e-13);
    }
    saddle_instance_free(e);
}

TEST(the_trajectory_follows_the_process)
{
    enum { LENGTH = 50000, STATES = 4 };
    static const char *const more[] = {"samples=50000", "mdp-states=4", "agents=2", NULL};
    saddle_instance *e = open_with(some, more);
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(e->problem);
    ck_assert_uint_eq(mdp->shape.length, LENGTH);
    double seen[STATES][SADDLE_MDP_ACTIONS][STATES] = {{{0.0}}};
    for (size_t t = 0; t < LENGTH; t++)
        seen[mdp->state[t]][mdp->action[t]][mdp->state[t + 1]] += 1.0;
    for (size_t s = 0; s < STATES; s++)
        for (size_t a = 0; a < SADDLE_MDP_ACTIONS; a++)
            for (size_t next = 0; next < STATES; next++) {
                size_t pair = s * SADDLE_MDP_ACTIONS + a;
                double expected =
                    mdp->visits[s] * mdp->policy[pair] * mdp->transition[pair * STATES + next];
                /* Correlation along the trajectory widens the binomial deviation; 6 times it is enough. */
                double deviation = sqrt(expected / LENGTH) + 1.0 / LENGTH;
                assert_near(seen[s][a][next] / LENGTH, expected, 6.0 * deviation);
            }
    saddle_instance_free(e);
}

TEST(rewards_are_private_and_the_rest_is_shared)
{
    saddle_instance *e = open_with(some, NULL);
    saddle_instance *fewer = open_with(some, (const char *const[]){"agents=1", "samples=40", NULL});
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(e->problem);
    const saddle_mdp *one = saddle_policy_evaluation_mdp(fewer->problem);
    size_t pairs = mdp->shape.states * SADDLE_MDP_ACTIONS;
    for (size_t k = 0; k < pairs; k++) {
        ck_assert(mdp->reward[k] != mdp->reward[pairs + k]);
        ck_assert(mdp->reward[k] != mdp->reward[2 * pairs + k]);
        /* An agent's reward does not depend on the other agents. */
        ck_assert(mdp->reward[k] == one->reward[k]);
    }
    ck_assert_mem_eq(mdp->state, one->state, 41 * sizeof *mdp->state);
    saddle_instance_free(fewer);
    saddle_instance_free(e);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

enum { HIDDEN = 4, FEATURES = 3, DIM = HIDDEN * (FEATURES + 2) + 1 };

/* Computes V(s) from the formula. */
static long double slow_network(const saddle_mdp *mdp, size_t s, const long double *x)
{
    long double sum = x[DIM - 1];
    for (size_t k = 0; k < HIDDEN; k++) {
        long double z = x[(size_t)HIDDEN * FEATURES + k];
        for (size_t c = 0; c < FEATURES; c++)
            z += x[k * FEATURES + c] * mdp->feature[s * FEATURES + c];
        sum += x[HIDDEN * FEATURES + HIDDEN + k] * tanhl(z);
    }
    return sum;
}

/* Computes its gradient by extrapolated central differences. */
static void slow_slopes(const saddle_mdp *mdp, size_t s, long double *x, long double *g)
{
    for (size_t k = 0; k < DIM; k++) {
        long double kept = x[k];
        long double slope[2];
        for (int half = 0; half < 2; half++) {
            long double h = half == 0 ? 0x1p-10L : 0x1p-11L;
            x[k] = kept + h;
            long double above = slow_network(mdp, s, x);
            x[k] = kept - h;
            slope[half] = (above - slow_network(mdp, s, x)) / (2.0L * h);
        }
        x[k] = kept;
        g[k] = (4.0L * slope[1] - slope[0]) / 3.0L;
    }
}

/* max over y of 2 e'y - y'(G + rho I) y by conjugate gradients: e'(G + rho I)^-1 e. */
static long double slow_projected(long double (*matrix)[DIM], const long double *e)
{
    long double y[DIM] = {0.0L};
    long double r[DIM];
    long double p[DIM];
    memcpy(r, e, sizeof r);
    memcpy(p, e, sizeof p);
    for (int round = 0; round < 4 * DIM; round++) {
        long double ap[DIM];
        long double pap = 0.0L;
        long double rr = 0.0L;
        for (size_t k = 0; k < DIM; k++) {
            ap[k] = 0.0L;
            for (size_t c = 0; c < DIM; c++)
                ap[k] += matrix[k][c] * p[c];
            pap += p[k] * ap[k];
            rr += r[k] * r[k];
        }
        if (rr == 0.0L || pap == 0.0L)
            break;
        long double after = 0.0L;
        for (size_t k = 0; k < DIM; k++) {
            y[k] += rr / pap * p[k];
            r[k] -= rr / pap * ap[k];
            after += r[k] * r[k];
        }
        for (size_t k = 0; k < DIM; k++)
            p[k] = r[k] + after / rr * p[k];
    }
    long double sum = 0.0L;
    for (size_t k = 0; k < DIM; k++)
        sum += e[k] * y[k];
    return sum;
}

/* The mean over the samples of the agents that count. */
static long double slow_mspbe(const saddle_instance *instance, const unsigned char *counted,
                              long double *x)
{
    const saddle_problem *problem = instance->problem;
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(problem);
    long double matrix[DIM][DIM] = {{0.0L}};
    long double e[DIM] = {0.0L};
    size_t agents = 0;
    for (size_t i = 0; i < problem->agents; i++)
        agents += counted[i];
    for (size_t i = 0; i < problem->agents; i++)
        for (size_t j = 0; counted[i] && j < problem->samples[i]; j++) {
            long double weight = 1.0L / ((long double)agents * (long double)problem->samples[i]);
            size_t s = mdp->state[j];
            size_t which = (i * mdp->shape.states + s) * SADDLE_MDP_ACTIONS + mdp->action[j];
            long double delta = mdp->reward[which] +
                                mdp->shape.discount * slow_network(mdp, mdp->state[j + 1], x) -
                                slow_network(mdp, s, x);
            long double g[DIM];
            slow_slopes(mdp, s, x, g);
            for (size_t r = 0; r < DIM; r++) {
                e[r] += weight * delta * g[r];
                for (size_t c = 0; c < DIM; c++)
                    matrix[r][c] += weight * g[r] * g[c];
            }
        }
    for (size_t r = 0; r < DIM; r++)
        matrix[r][r] += test_number(instance->plan, "dual-ridge");
    return slow_projected(matrix, e);
}

TEST(outcomes_are_what_they_say)
{
    saddle_instance *instance = open_with(some, NULL);
    const saddle_problem *problem = instance->problem;
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(problem);
    ck_assert_uint_eq(problem->x_dim, DIM);
    long double value[MOST_STATES];
    long double visits[MOST_STATES];
    iterate(mdp, NULL, value, visits);
    static const unsigned char everybody[] = {1, 1, 1};
    static const unsigned char two[] = {1, 0, 1};
    saddle_outcome_rows rows_of_two = {.counted = two};
    saddle_error error = {.message = ""};
    saddle_rng rng;
    saddle_rng_init(&rng, 9, SADDLE_RNG_TEST, 0, 0);
    for (int round = 0; round < 3; round++) {
        double x[DIM];
        long double wide[DIM];
        size_t count = 0;
        saddle_outcome found[SADDLE_MOST_OUTCOMES];
        saddle_outcome of_two[SADDLE_MOST_OUTCOMES];
        for (size_t k = 0; k < DIM; k++)
            wide[k] = x[k] = saddle_rng_normal(&rng);
        ck_assert_uint_eq(test_outcomes(problem, NULL, x, x, found), 2);
        ck_assert_str_eq(found[0].name, "mspbe");
        ck_assert_str_eq(found[1].name, "value_error");
        double mspbe = (double)slow_mspbe(instance, everybody, wide);
        assert_near(found[0].value, mspbe, 1e-9 * mspbe);
        assert_ok(problem->outcomes(problem, &rows_of_two, x, x, of_two, &count, &error), error);
        ck_assert_uint_eq(count, 2);
        mspbe = (double)slow_mspbe(instance, two, wide);
        assert_near(of_two[0].value, mspbe, 1e-9 * mspbe);
        ck_assert(fabs(of_two[0].value - found[0].value) > 1e-6 * mspbe);
        long double sum = 0.0L;
        for (size_t s = 0; s < mdp->shape.states; s++) {
            long double miss = slow_network(mdp, s, wide) - value[s];
            sum += visits[s] * miss * miss;
        }
        assert_near(found[1].value, (double)sqrtl(sum), 1e-12 * (double)sqrtl(sum));
        saddle_dataset rows = {.rows = 1};
        ck_assert_uint_eq(test_outcomes(problem, &rows, x, x, found), 0);
    }
    saddle_instance_free(instance);
}

/* The root mean square of V_x - V, with V for agents that count weight[i] times. */
static double slow_value_error(const saddle_mdp *mdp, const size_t *weight, const double *x)
{
    long double value[MOST_STATES];
    long double visits[MOST_STATES];
    long double wide[DIM];
    long double sum = 0.0L;
    iterate(mdp, weight, value, visits);
    for (size_t k = 0; k < DIM; k++)
        wide[k] = x[k];
    for (size_t s = 0; s < mdp->shape.states; s++) {
        long double miss = slow_network(mdp, s, wide) - value[s];
        sum += visits[s] * miss * miss;
    }
    return (double)sqrtl(sum);
}

/* The exact value is that of the mean reward which the run learns, and mspbe is twice its loss. */
TEST_LOOP(outcomes_are_those_of_the_agents_that_count, 0, 4)
{
    static const char *const weights[] = {"agent-weights=equal", "agent-weights=by-size"};
    static const size_t rewards[][3] = {{1, 0, 1}, {50, 0, 7}, {1, 1, 1}, {50, 20, 7}};
    bool churn = _i < 2;
    const char *more[] = {weights[_i % 2],
                          "samples=50,20,7",
                          "topology=complete",
                          "iterations=40",
                          "trace-every=40",
                          churn ? "churn=churn.txt" : NULL,
                          NULL};
    const char *setting[MOST_SETTINGS];
    size_t count = 0;
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "10 leave 1\n");
    for (size_t k = 0; some[k] != NULL; k++)
        setting[count++] = some[k];
    for (size_t k = 0; k == 0 || more[k - 1] != NULL; k++)
        setting[count++] = more[k];
    saddle_result *result = test_solve(NULL, setting);
    saddle_instance *e = open_with(some, (const char *const[]){"samples=50,20,7", NULL});
    const saddle_mdp *mdp = saddle_policy_evaluation_mdp(e->problem);
    const double *found = result->outcomes + (result->row_count - 1) * result->outcome_count;
    double expected = slow_value_error(mdp, rewards[_i], result->x_mean);
    assert_near(found[1], expected, 1e-9 * expected);
    double primal = result->rows[result->row_count - 1].primal;
    assert_near(found[0], 2.0 * primal, 1e-6 * primal);
    saddle_instance_free(e);
    saddle_result_free(result);
}

TEST_LOOP(the_default_run_makes_both_fall, 0, 3)
{
    const char *seed[] = {"seed=1", "seed=2", "seed=3"};
    static const char *const plain[] = {"problem=policy-evaluation", NULL};
    saddle_instance *e = open_with(plain, (const char *const[]){seed[_i], NULL});
    const saddle_problem *problem = e->problem;
    saddle_error error = {.message = ""};
    saddle_outcome before[SADDLE_MOST_OUTCOMES];
    saddle_outcome after[SADDLE_MOST_OUTCOMES];
    saddle_result *result = NULL;
    test_outcomes(problem, NULL, e->x0, e->y0, before);
    assert_ok(saddle_run(e, NULL, NULL, &result, &error), error);
    test_outcomes(problem, NULL, result->x_mean, result->y_mean, after);
    assert_at_most(after[0].value, 0.2 * before[0].value);
    assert_at_most(after[1].value, 0.8 * before[1].value);
    saddle_result_free(result);
    saddle_instance_free(e);
}

/* ---- start and refusals ---------------------------------------------------------------------- */

TEST(starts_follow_the_seed)
{
    saddle_instance *e = open_with(some, NULL);
    double x[3][DIM];
    double y[DIM];
    const uint64_t seed[3] = {1, 1, 2};
    for (int k = 0; k < 3; k++) {
        memset(y, 0xff, sizeof y);
        e->problem->start(e->problem, seed[k], x[k], y);
        ck_assert(test_largest(DIM, y) == 0.0);
        assert_at_most(test_largest(DIM, x[k]), 10.0);
    }
    ck_assert_mem_eq(x[0], x[1], sizeof x[0]);
    ck_assert(test_farthest(DIM, x[0], x[2]) > 0.01);
    /* No two hidden units start alike. */
    ck_assert(test_farthest(FEATURES, x[0], x[0] + FEATURES) > 0.01);
    saddle_instance_free(e);
}

TEST(bad_sizes_are_refused)
{
    static const struct {
        const char *name, *value, *part;
    } option[] = {{"mdp-states", "0", "'0'"},   {"mdp-states", "1001", "'1001'"},
                  {"mdp-features", "0", "'0'"}, {"mdp-hidden", "33", "'33'"},
                  {"discount", "1", "'1'"},     {"discount", "-0.1", "'-0.1'"},
                  {"dual-ridge", "0", "'0'"},   {"dual-ridge", "nan", "'nan'"}};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, some);
    for (size_t k = 0; k < sizeof option / sizeof *option; k++)
        assert_refused(saddle_plan_set(plan, option[k].name, option[k].value, &error), error,
                       SADDLE_BAD_INPUT, option[k].part);
    test_plan_free(plan);
    static const char *const wrong[][2] = {
        {"samples=5,6", "5,6"}, {"samples=0", "'0'"}, {"data=synthetic", "policy-evaluation"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        saddle_plan *base = test_plan(NULL, some);
        plan = test_plan(base, (const char *const[]){wrong[k][0], NULL});
        assert_plan_refused(plan, wrong[k][1]);
        test_plan_free(base);
    }
}
