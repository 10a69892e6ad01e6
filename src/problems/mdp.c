/*
 * If P and r are the policy's transition matrix and mean reward, the value solves the linear system
 * V = r + gamma P V. The stationary distribution, d = P'd with sum 1, solves (I - P' + 11') d = 1.
 */
#include "problems/mdp.h"

#include "core/dense.h"
#include "core/memory_limits.h"
#include "core/rng.h"
#include "core/vector.h"

#define REMEDY "use fewer states"

/* The parameter of the Dirichlet distribution of successors: below 1, so that a few are likely. */
#define SUCCESSOR_SHAPE 0.2
/* The probability of a transition to a uniformly drawn state. */
#define WANDERING 0.05
/* Random streams: that of all agents, and those of an agent, which have its number. */
#define COMMON_STREAM UINT64_MAX
enum { PROCESS_DRAW, TRAJECTORY_DRAW, REWARD_DRAW };

static void draw_dirichlet(saddle_rng *rng, size_t count, double shape, double *out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = saddle_rng_gamma(rng, shape);
    double sum = saddle_sum(count, out);
    for (size_t k = 0; k < count; k++)
        out[k] = sum > 0.0 ? out[k] / sum : 1.0 / (double)count;
}

/* Draws everything except D_i; the reward of every agent in this process becomes R. */
static void draw_process(saddle_mdp *mdp, size_t local, uint64_t seed)
{
    size_t states = mdp->shape.states;
    size_t features = mdp->shape.features;
    size_t pairs = states * SADDLE_MDP_ACTIONS;
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_INSTANCE, COMMON_STREAM, PROCESS_DRAW);
    for (size_t k = 0; k < states * features; k++)
        mdp->feature[k] = saddle_rng_normal(&rng);
    for (size_t s = 0; s < states; s++)
        draw_dirichlet(&rng, SADDLE_MDP_ACTIONS, 1.0, mdp->policy + s * SADDLE_MDP_ACTIONS);
    for (size_t k = 0; k < pairs; k++) {
        double *next = mdp->transition + k * states;
        draw_dirichlet(&rng, states, SUCCESSOR_SHAPE, next);
        for (size_t s = 0; s < states; s++)
            next[s] = (1.0 - WANDERING) * next[s] + WANDERING / (double)states;
    }
    /* The reward is linear in the features, plus a small term for the action. */
    for (size_t s = 0; s < states; s++) {
        const double *feature = mdp->feature + s * features;
        double linear = saddle_sum(features, feature) / sqrt((double)features);
        for (size_t a = 0; a < SADDLE_MDP_ACTIONS; a++)
            mdp->reward[s * SADDLE_MDP_ACTIONS + a] = linear + 0.5 * saddle_rng_normal(&rng);
    }
    for (size_t i = 1; i < local; i++)
        memcpy(mdp->reward + i * pairs, mdp->reward, pairs * sizeof *mdp->reward);
}

static void draw_rewards(saddle_mdp *mdp, const saddle_world *world, uint64_t seed)
{
    size_t pairs = mdp->shape.states * SADDLE_MDP_ACTIONS;
    for (size_t i = 0; i < world->local; i++) {
        saddle_rng rng;
        mdp->row[world->here[i]] = i;
        saddle_rng_init(&rng, seed, SADDLE_RNG_INSTANCE, world->here[i], REWARD_DRAW);
        for (size_t k = 0; k < pairs; k++)
            mdp->reward[i * pairs + k] += saddle_rng_normal(&rng);
    }
}

/* Returns a number drawn with the given probabilities. */
static uint32_t draw_index(saddle_rng *rng, size_t count, const double *probability)
{
    double left = saddle_rng_uniform(rng);
    size_t k = 0;
    while (k + 1 < count && left >= probability[k])
        left -= probability[k++];
    return (uint32_t)k;
}

static void draw_trajectory(saddle_mdp *mdp, uint64_t seed)
{
    size_t states = mdp->shape.states;
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_INSTANCE, COMMON_STREAM, TRAJECTORY_DRAW);
    mdp->state[0] = (uint32_t)saddle_rng_below(&rng, states);
    for (size_t t = 0; t < mdp->shape.length; t++) {
        size_t s = mdp->state[t];
        mdp->action[t] = draw_index(&rng, SADDLE_MDP_ACTIONS, mdp->policy + s * SADDLE_MDP_ACTIONS);
        size_t pair = s * SADDLE_MDP_ACTIONS + mdp->action[t];
        mdp->state[t + 1] = draw_index(&rng, states, mdp->transition + pair * states);
    }
}

/* The context of reward_term(). */
typedef struct mean {
    const saddle_mdp *mdp;
    const double *weight; /* NULL: all agents count the same */
} mean;

static void reward_term(void *context, size_t agent, double *out)
{
    const mean *of = context;
    size_t pairs = of->mdp->shape.states * SADDLE_MDP_ACTIONS;
    memcpy(out, of->mdp->reward + of->mdp->row[agent] * pairs, pairs * sizeof *out);
    if (of->weight != NULL)
        saddle_scale(pairs, of->weight[agent], out);
}

/* Computes P (states x states) and the mean reward, both under the policy; `total` is the sum of the
 * rewards of all agents, whose weights add up to `agents`. */
static void follow_policy(const saddle_mdp *mdp, const double *total, double agents, double *chain,
                          double *reward)
{
    size_t states = mdp->shape.states;
    size_t pairs = states * SADDLE_MDP_ACTIONS;
    memset(chain, 0, states * states * sizeof *chain);
    memset(reward, 0, states * sizeof *reward);
    for (size_t k = 0; k < pairs; k++) {
        size_t s = k / SADDLE_MDP_ACTIONS;
        reward[s] += mdp->policy[k] * total[k] / agents;
        saddle_axpy(states, mdp->policy[k], mdp->transition + k * states, chain + s * states);
    }
}

/* Solves V = r + gamma P V, and the equations of the stationary distribution; `total` is the sum of
 * rewards, `chain` scratch for 2 states^2 doubles. */
static bool solve(const saddle_mdp *mdp, const double *total, double agents, double *chain,
                  double *value, double *visits)
{
    size_t states = mdp->shape.states;
    double *matrix = chain + states * states;
    follow_policy(mdp, total, agents, chain, value);
    for (size_t k = 0; k < states * states; k++)
        matrix[k] = (k / states == k % states ? 1.0 : 0.0) - mdp->shape.discount * chain[k];
    bool solved = saddle_solve_dense(states, matrix, value);
    for (size_t r = 0; visits != NULL && r < states; r++) {
        for (size_t c = 0; c < states; c++)
            matrix[r * states + c] = 1.0 + (r == c ? 1.0 : 0.0) - chain[c * states + r];
        visits[r] = 1.0;
    }
    return (visits == NULL || saddle_solve_dense(states, matrix, visits)) && solved;
}

saddle_status saddle_mdp_solve(const saddle_mdp *mdp, const saddle_world *world,
                               const double *weight, double *value, double *visits,
                               saddle_error *error)
{
    size_t states = mdp->shape.states;
    size_t pairs = states * SADDLE_MDP_ACTIONS;
    mean of = {.mdp = mdp, .weight = weight};
    double agents = weight == NULL ? (double)mdp->shape.agents : 0.0;
    for (size_t i = 0; weight != NULL && i < mdp->shape.agents; i++)
        agents += weight[i];
    double *total = saddle_alloc_doubles(pairs);
    double *chain = NULL;
    saddle_status status = saddle_check_memory(total, "the decision process", error);
    status = saddle_world_agree(world, status, error);
    SADDLE_THEN(status, saddle_world_sum(world, pairs, reward_term, &of, total, error));
    SADDLE_THEN(status,
                saddle_need_check_one(saddle_block_bytes(2 * states * states, sizeof(double)),
                                      "the exact values of the states", REMEDY, error));
    if (status == SADDLE_OK)
        chain = saddle_alloc_doubles(2 * states * states);
    SADDLE_THEN(status, saddle_check_memory(chain, "the decision process", error));
    bool solved = status == SADDLE_OK && solve(mdp, total, agents, chain, value, visits);
    saddle_free(chain);
    saddle_free(total);
    if (status == SADDLE_OK && !solved)
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the exact values of the decision process could not be computed; give "
                           "another seed");
    return status;
}

static void take_tables(saddle_mdp *mdp, const saddle_world *world, saddle_allocator *allocator)
{
    size_t states = mdp->shape.states;
    size_t pairs = states * SADDLE_MDP_ACTIONS;
    mdp->row = saddle_allocator_block(allocator, world->agents, sizeof *mdp->row);
    mdp->state = saddle_allocator_block(allocator, 2 * mdp->shape.length + 1, sizeof *mdp->state);
    mdp->feature = saddle_allocator_block(
        allocator, states * (mdp->shape.features + 1) + pairs * (world->local + states + 1),
        sizeof *mdp->feature);
}

static saddle_status allocate(saddle_mdp *mdp, const saddle_world *world, saddle_error *error)
{
    size_t states = mdp->shape.states;
    size_t pairs = states * SADDLE_MDP_ACTIONS;
    saddle_allocator allocator = {.count_only = true};
    take_tables(mdp, world, &allocator);
    SADDLE_TRY(saddle_need_check_one(allocator.bytes, "the decision process", REMEDY, error));
    allocator.count_only = false;
    take_tables(mdp, world, &allocator);
    if (allocator.failed)
        return saddle_no_memory(error, "the decision process");
    mdp->action = mdp->state + mdp->shape.length + 1;
    mdp->reward = mdp->feature + states * mdp->shape.features;
    mdp->transition = mdp->reward + world->local * pairs;
    mdp->policy = mdp->transition + pairs * states;
    mdp->visits = mdp->policy + pairs;
    return SADDLE_OK;
}

saddle_status saddle_mdp_create(saddle_mdp **out, const saddle_mdp_shape *shape,
                                const saddle_world *world, uint64_t seed, saddle_error *error)
{
    *out = NULL;
    saddle_mdp *mdp = saddle_alloc(1, sizeof *mdp);
    SADDLE_TRY(saddle_check_memory(mdp, "the decision process", error));
    mdp->shape = *shape;
    saddle_status status = allocate(mdp, world, error);
    if (status != SADDLE_OK) {
        saddle_mdp_free(mdp);
        return status;
    }
    draw_process(mdp, world->local, seed);
    draw_rewards(mdp, world, seed);
    draw_trajectory(mdp, seed);
    *out = mdp;
    return SADDLE_OK;
}

void saddle_mdp_free(saddle_mdp *mdp)
{
    if (mdp == NULL)
        return;
    saddle_free(mdp->feature);
    saddle_free(mdp->row);
    saddle_free(mdp->state);
    saddle_free(mdp);
}
