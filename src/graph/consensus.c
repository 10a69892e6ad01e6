/* Average consensus. Symmetric doubly stochastic weights keep the mean and shrink the spread. */
#include "graph/consensus.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"

/* Agreement, relative to the size of the numbers. */
#define AGREEMENT 1e-15
/* Below this, a spread that has stopped shrinking is rounding. */
#define ROUNDING 1e-12
/* Rounds without a smaller spread that count as having stopped. */
#define PATIENCE 50
#define MOST_ROUNDS 1000000

static double mixed(const saddle_mixing *mixing, size_t agent, const double *value)
{
    const saddle_graph *graph = mixing->graph;
    double sum = mixing->self_weight[agent] * value[agent];
    for (size_t k = graph->start[agent]; k < graph->start[agent + 1]; k++)
        sum += mixing->weight[k] * value[graph->neighbour[k]];
    return sum;
}

static void range_of(size_t count, const double *value, double *least, double *most)
{
    *least = value[0];
    *most = value[0];
    for (size_t i = 1; i < count; i++) {
        *least = fmin(*least, value[i]);
        *most = fmax(*most, value[i]);
    }
}

saddle_status saddle_consensus_mean(const saddle_mixing *mixing, double *value, double *mean,
                                    size_t *rounds, saddle_error *error)
{
    size_t agents = mixing->graph->agents;
    double *next = saddle_alloc_doubles(agents);
    if (next == NULL)
        return saddle_no_memory(error, "the agents' average");
    double least;
    double most;
    double closest = INFINITY;
    size_t waited = 0;
    size_t round = 0;
    saddle_status status = SADDLE_OK;
    for (;; round++) {
        range_of(agents, value, &least, &most);
        double size = fmax(fabs(least), fabs(most));
        waited = most - least < closest ? 0 : waited + 1;
        closest = fmin(closest, most - least);
        if (most - least <= AGREEMENT * size)
            break;
        if (waited > PATIENCE && most - least <= ROUNDING * size)
            break;
        if (round == MOST_ROUNDS) {
            status = saddle_fail(error, SADDLE_NUMERIC,
                                 "agents still differ by %g after %zu rounds of averaging; use a "
                                 "better connected topology",
                                 most - least, round);
            break;
        }
        for (size_t i = 0; i < agents; i++)
            next[i] = mixed(mixing, i, value);
        memcpy(value, next, agents * sizeof *value);
    }
    saddle_free(next);
    if (status != SADDLE_OK)
        return status;
    *mean = least;
    if (rounds != NULL)
        *rounds = round;
    return SADDLE_OK;
}
