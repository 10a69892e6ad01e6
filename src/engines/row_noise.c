#include "engines/row_noise.h"

#include "core/rng.h"
#include "core/vector.h"
#include "problems/evaluate.h"

size_t saddle_row_noise_scratch(const saddle_problem *problem)
{
    return saddle_problem_scratch(problem) + problem->x_dim + problem->y_dim;
}

/* Adds normal noise of a deviation. */
static void add_noise(saddle_rng *rng, double deviation, size_t count, double *out)
{
    for (size_t k = 0; k < count; k++)
        out[k] += deviation * saddle_rng_normal(rng);
}

void saddle_noisy_gradient(const saddle_agent *agent, saddle_request *request, double *scratch)
{
    const saddle_problem *p = agent->problem;
    const saddle_row_noise *with = agent->row_noise;
    double count = (double)request->batch.count;
    double *gx = scratch + saddle_problem_scratch(p);
    double *gy = gx + p->x_dim;
    memset(request->gx, 0, p->x_dim * sizeof *gx);
    memset(request->gy, 0, p->y_dim * sizeof *gy);
    for (size_t k = 0; k < request->batch.count; k++) {
        uint32_t row = (uint32_t)saddle_batch_sample(&request->batch, k);
        saddle_request one = *request;
        one.batch = (saddle_batch){.index = &row, .count = 1};
        one.gx = gx;
        one.gy = gy;
        saddle_evaluate(p, agent->id, &one, scratch);
        double norm = sqrt(saddle_norm2(p->x_dim, gx) + saddle_norm2(p->y_dim, gy));
        double scale = (norm > with->clip ? with->clip / norm : 1.0) / count;
        saddle_axpy(p->x_dim, scale, gx, request->gx);
        saddle_axpy(p->y_dim, scale, gy, request->gy);
    }
    saddle_rng rng;
    saddle_rng_init(&rng, with->seed, SADDLE_RNG_NOISE, agent->id, agent->ifo);
    add_noise(&rng, with->noise * with->clip / count, p->x_dim, request->gx);
    add_noise(&rng, with->noise * with->clip / count, p->y_dim, request->gy);
}
