#include "algorithms/sampling.h"

size_t saddle_batch_size(size_t samples, uint64_t batch)
{
    size_t size = batch > 0 ? (size_t)batch : (size_t)ceil(sqrt((double)samples));
    return size < samples ? size : samples;
}

saddle_batch saddle_draw(saddle_agent *agent, saddle_purpose purpose, uint64_t iteration,
                         size_t count, bool replacement)
{
    size_t samples = agent->problem->samples[agent->id];
    saddle_batch batch = {.index = agent->index, .count = count, .repeats = replacement};
    if (count >= samples && !replacement) {
        batch.index = NULL;
        batch.count = samples;
        return batch;
    }
    saddle_rng rng;
    saddle_rng_init(&rng, agent->seed, purpose, agent->id, iteration);
    if (replacement) {
        for (size_t k = 0; k < count; k++)
            agent->index[k] = (uint32_t)saddle_rng_below(&rng, samples);
    } else {
        saddle_rng_choose(&rng, samples, count, agent->index, agent->mark);
    }
    return batch;
}

saddle_batch saddle_agent_draw(saddle_agent *agent, uint64_t iteration, uint64_t count,
                               bool replacement)
{
    size_t size = saddle_batch_size(agent->problem->samples[agent->id], count);
    return saddle_draw(agent, SADDLE_RNG_BATCH, iteration, size, replacement);
}
