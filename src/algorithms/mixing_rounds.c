#include "algorithms/mixing_rounds.h"

#include <string.h>

#define REDUCTION 0.3
#define MOST_ROUNDS 100

/* Returns whether mixing uses all of M in every round. */
static bool is_constant(const saddle_instance *instance)
{
    const char *links = instance->plan->network.links;
    return (links == NULL || strcmp(links, "reliable") == 0) && instance->compression == NULL &&
           instance->churn == NULL;
}

void saddle_mixing_rounds_choose(saddle_mixing_rounds *out, const saddle_instance *instance)
{
    /* The last bits of eigenvalues depend on the machine; results must not. */
    double a = (double)(float)instance->spectrum.lambda_m;
    double gap = (double)(float)(1.0 - instance->spectrum.lambda2);
    double width = 1.0 - gap - a;
    *out = (saddle_mixing_rounds){.count = 1};
    if (!(width > 0.0) || !(gap > 0.0))
        return;
    double z = (1.0 - a + gap) / width;
    double before = 1.0;
    double now = z;
    for (; REDUCTION * now < 1.0 && out->count < MOST_ROUNDS; out->count++) {
        double next = 2.0 * z * now - before;
        before = now;
        now = next;
    }
    out->weight = is_constant(instance) ? 2.0 / (1.0 - a + gap) : 0.0;
    out->z2 = z * z;
}

void saddle_mixing_rounds_make(const saddle_mixing_rounds *rounds, const saddle_agent *agent,
                               size_t count, size_t more, double *last)
{
    saddle_agent_mix(agent, 0, count, agent->next);
    saddle_agent_mix(agent, count, count + more, agent->next + count);
    if (rounds->weight == 0.0)
        return;
    double w = 1.0;
    for (unsigned r = 0; r < agent->round; r++)
        w = 1.0 / (1.0 - w / ((r == 0 ? 2.0 : 4.0) * rounds->z2));
    for (size_t k = 0; k < 2 * count; k++) {
        double now = agent->now[k];
        double mixed = now + rounds->weight * (agent->next[k] - now);
        agent->next[k] = agent->round == 0 ? mixed : last[k] + w * (mixed - last[k]);
        last[k] = now;
    }
}
