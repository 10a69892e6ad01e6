#include "algorithms/mixing_rounds.h"
#include "core/base.h"

#define REDUCTION 0.3
#define MOST_ROUNDS 100
/* By which factor FastMix reduces differences if K is not given, and at how many eigenvalues this is computed. */
#define FAST_REDUCTION 0.5
#define EIGENVALUES 64
/* Eigenvalues are known up to rounding. */
#define ROUNDING 1e-9

bool saddle_links_are_constant(const saddle_instance *instance)
{
    const char *links = instance->plan->network.links;
    return links == NULL || strcmp(links, "reliable") == 0;
}

bool saddle_mixing_is_constant(const saddle_instance *instance)
{
    return saddle_links_are_constant(instance) && instance->compression == NULL &&
           instance->churn == NULL && instance->clipping == NULL;
}

bool saddle_mixing_may_be_negative(const saddle_instance *instance)
{
    return !(instance->spectrum.lambda_m >= -ROUNDING) || !saddle_mixing_is_constant(instance);
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
    out->weight = saddle_mixing_is_constant(instance) ? 2.0 / (1.0 - a + gap) : 0.0;
    out->z2 = z * z;
}

void saddle_mixing_rounds_set(saddle_mixing_rounds *out, const saddle_instance *instance,
                              uint64_t count)
{
    saddle_mixing_rounds_choose(out, instance);
    out->count = (unsigned)count;
    if (count == 1)
        out->weight = 0.0;
    double z = sqrt(out->z2);
    double before = 1.0;
    out->reduction = z;
    for (uint64_t r = 1; r < count; r++) {
        double next = 2.0 * z * out->reduction - before;
        before = out->reduction;
        out->reduction = next;
    }
}

/* Returns what K rounds of FastMix leave of differences between agents, for eigenvalues from a to b. */
static double left_by_fast(unsigned count, double momentum, double a, double b)
{
    double most = 0.0;
    for (int k = 0; k <= EIGENVALUES; k++) {
        double eigenvalue = a + (b - a) * k / EIGENVALUES;
        double before = 1.0;
        double now = 1.0;
        for (unsigned r = 0; r < count; r++) {
            double next = before + momentum * (eigenvalue * now - before);
            before = now;
            now = next;
        }
        most = fmax(most, fabs(now));
    }
    return most;
}

void saddle_mixing_rounds_set_fast(saddle_mixing_rounds *out, const saddle_instance *instance,
                                   uint64_t count)
{
    bool halved = saddle_mixing_may_be_negative(instance);
    double b = (double)(float)instance->spectrum.lambda2;
    b = halved ? 0.5 * (1.0 + b) : fmax(b, 0.0);
    double root = sqrt(1.0 - b * b);
    double momentum = 1.0 + (1.0 - root) / (1.0 + root);
    *out = (saddle_mixing_rounds){.count = (unsigned)count, .weight = halved ? 0.5 : 1.0};
    out->momentum = momentum;
    if (!(b >= 0.0) || !(b < 1.0) || !saddle_mixing_is_constant(instance))
        out->weight = out->momentum = 0.0;
    if (count > 0)
        return;
    out->count = 1;
    while (out->momentum > 0.0 && out->count < MOST_ROUNDS &&
           !(left_by_fast(out->count, momentum, 0.0, b) <= FAST_REDUCTION))
        out->count++;
}

void saddle_mixing_round(const saddle_mixing_rounds *rounds, const saddle_agent *agent, unsigned r,
                         size_t offset, size_t count, double *last, double *out)
{
    saddle_agent_mix(agent, offset, count, out);
    if (rounds->weight == 0.0)
        return;
    const double *u = agent->now + offset;
    double w = rounds->momentum > 0.0 ? rounds->momentum : 1.0;
    for (unsigned k = 0; k < r && rounds->momentum == 0.0; k++) {
        double before = w;
        w = 1.0 / (1.0 - w / ((k == 0 ? 2.0 : 4.0) * rounds->z2));
        if (k > 0 && w == before)
            break; /* w decreases to a limit, soon reached */
    }
    if (r == 0)
        memcpy(last, u, count * sizeof *last);
    bool first = r == 0 && rounds->momentum == 0.0;
    for (size_t k = 0; k < count; k++) {
        double mixed = u[k] + rounds->weight * (out[k] - u[k]);
        out[k] = first ? mixed : last[k] + w * (mixed - last[k]);
        last[k] = u[k];
    }
}

void saddle_mixing_rounds_make(const saddle_mixing_rounds *rounds, const saddle_agent *agent,
                               size_t count, size_t more, double *last)
{
    saddle_mixing_round(rounds, agent, agent->round, 0, count, last, agent->next);
    saddle_mixing_round(rounds, agent, agent->round, count, count, last + count,
                        agent->next + count);
    saddle_agent_mix(agent, 2 * count, more, agent->next + 2 * count);
}
