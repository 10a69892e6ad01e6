/* The weighted average over neighbours, in blocks that stay in the first-level cache. */
#include <saddle/algorithm.h>

#include "core/vector.h"

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
