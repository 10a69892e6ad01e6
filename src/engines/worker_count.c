#include "engines/worker_count.h"

/* The doubles that a worker should process in an iteration; a barrier costs about a tenth of that. */
#define LEAST_WORK 1e4
/* The samples that an agent uses in most iterations, if it has as many. */
#define USUAL_BATCH 128
#define MOST_WORKERS 1024

size_t saddle_worker_count(const saddle_instance *instance, size_t published)
{
    const saddle_problem *problem = instance->problem;
    size_t agents = instance->world->local;
    double doubles = 0.0;
    for (size_t k = 0; k < agents; k++) {
        size_t i = instance->world->here[k];
        size_t degree = instance->graph->start[i + 1] - instance->graph->start[i];
        size_t batch = problem->samples[i] < USUAL_BATCH ? problem->samples[i] : USUAL_BATCH;
        /* An agent mixes spans and reads samples, each at most as long as x. */
        doubles +=
            (double)published * (double)(degree + 2) + (double)batch * (double)problem->x_dim;
    }
    double workers = doubles / LEAST_WORK;
    return workers < MOST_WORKERS ? (size_t)workers + 1 : MOST_WORKERS;
}
