/* What one agent does in a round: its phases, what they ask of the problem, and mixing. */
#include "algorithms/agent.h"

#include "core/sizes.h"
#include "core/vector.h"
#include "problems/evaluate.h"

#define BLOCK 512

SADDLE_KERNEL static void mix_block(const saddle_agent *agent, size_t offset, size_t count,
                                    double *restrict out)
{
    const double *own = agent->now + offset;
    double weight = agent->self_weight;
    for (size_t k = 0; k < count; k++)
        out[k] = weight * own[k];
    for (size_t j = 0; j < agent->degree; j++) {
        const double *other = agent->neighbour[j] + offset;
        weight = agent->weight[j];
        for (size_t k = 0; k < count; k++)
            out[k] += weight * other[k];
    }
}

void saddle_agent_mix(const saddle_agent *agent, size_t offset, size_t count, double *out)
{
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t length = count - begin < BLOCK ? count - begin : BLOCK;
        mix_block(agent, offset + begin, length, out + begin);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

void saddle_agent_evaluate(saddle_agent *agent)
{
    saddle_evaluate(agent->problem, agent->id, &agent->request, agent->scratch);
    agent->ifo += saddle_request_ifo(&agent->request);
    agent->request.kind = SADDLE_REQUEST_NONE;
}

void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round)
{
    agent->round = round;
    for (const saddle_phase *phase = algorithm->phases; phase->name != NULL; phase++) {
        phase->run(agent);
        saddle_agent_evaluate(agent);
    }
}

uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem)
{
    if (algorithm->most_ifo != NULL)
        return algorithm->most_ifo(parameters, problem);
    return 2 * saddle_sizes_sum(problem->agents, problem->samples);
}

void saddle_agent_view(const saddle_algorithm *algorithm, const saddle_agent *agent,
                       saddle_view *out)
{
    *out = (saddle_view){.x = NULL};
    algorithm->view(agent, out);
}
