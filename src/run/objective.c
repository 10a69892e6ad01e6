/*
 * The objective of a run whose agents leave and join: the mean over the agents that are present or,
 * if the network has fallen apart, over those of a component.
 *
 * A problem in which agents have weights, or with numbers that depend on who is present
 * (saddle_problem::share), is copied for the run (problems/weighted.c), once for each component. The
 * run brings the copies up to date between iterations, where the events of churn take effect. The
 * engine learns of the same events at the beginning of the next iteration. Agents near an event start
 * over at once; the others continue until they hear of it, and their estimates are mixtures of both
 * objectives until then, but saddle_algorithm::start() computes them anew.
 */
#include "run/run.h"

struct saddle_run_objective {
    /* The network's, with the problem of the component that is measured. */
    saddle_instance instance;
    const saddle_problem *of; /* the problem without weights; borrowed */
    bool by_size;
    size_t most; /* the most components that the network falls into */
    saddle_presence presence;
    saddle_allocator memory;
    size_t *edge;                     /* of the presence */
    saddle_problem **problem;         /* per component; the first one is measured */
    const saddle_problem **per_agent; /* one of these */
    double *weight;                   /* per agent, within its component; 1 for an absent one */
    double *within;                   /* scratch: the same within one component, 0 elsewhere */
    unsigned char *member;            /* scratch: whether an agent is in that component */
};

/* Returns the problem without weights, if it or its weights depend on who is present; otherwise
 * NULL. */
static const saddle_problem *dependent(const saddle_instance *network)
{
    const struct saddle_instance_parts *parts = network->parts;
    const saddle_problem *own = network->plan->problem.own;
    const saddle_problem *of = own != NULL ? own : parts->problem;
    return of->share != NULL || parts->weighted != NULL ? of : NULL;
}

/* Returns the most components that the network falls into during a run; 0: memory is short. */
static size_t most_components(const saddle_run_objective *o)
{
    const saddle_churn *churn = o->presence.churn;
    saddle_allocator memory = {.count = 0};
    saddle_presence p;
    saddle_presence_take(&p, churn, o->instance.graph, o->edge, &memory);
    size_t most = memory.failed ? 0 : saddle_larger(1, p.components);
    for (size_t k = 0; most > 0 && k < churn->count; k++)
        if (saddle_presence_advance(&p, churn->event[k].round))
            most = saddle_larger(most, p.components);
    saddle_allocator_free(&memory);
    return most;
}

saddle_status saddle_run_objective_create(saddle_run_objective **out,
                                          const saddle_instance *network, saddle_error *error)
{
    *out = NULL;
    const saddle_problem *of = network->churn != NULL ? dependent(network) : NULL;
    if (of == NULL)
        return SADDLE_OK;
    const saddle_graph *graph = network->graph;
    saddle_run_objective *o = saddle_alloc(1, sizeof *o);
    SADDLE_TRY(saddle_check_memory(o, "the objective", error));
    saddle_allocator *memory = &o->memory;
    o->instance = *network;
    o->of = of;
    o->by_size = network->parts->weighted != NULL;
    o->edge = saddle_allocator_block(memory, 2 * graph->edges, sizeof *o->edge);
    o->problem = saddle_allocator_block(memory, graph->agents, sizeof *o->problem);
    o->per_agent = saddle_allocator_block(memory, graph->agents, sizeof *o->per_agent);
    o->weight = saddle_allocator_block(memory, graph->agents, sizeof *o->weight);
    o->within = saddle_allocator_block(memory, graph->agents, sizeof *o->within);
    o->member = saddle_allocator_block(memory, graph->agents, 1);
    if (!memory->failed)
        saddle_number_edges(graph, o->edge);
    saddle_presence_take(&o->presence, network->churn, graph, o->edge, memory);
    o->most = memory->failed ? 0 : most_components(o);
    saddle_status status = o->most == 0 ? saddle_no_memory(error, "the objective") : SADDLE_OK;
    SADDLE_THEN(status, saddle_weighted_create(&o->problem[0], of, o->weight, error));
    if (status != SADDLE_OK) {
        saddle_run_objective_free(o);
        return status;
    }
    o->instance.problem = o->problem[0];
    for (size_t i = 0; i < graph->agents; i++)
        o->per_agent[i] = o->problem[0];
    *out = o;
    return SADDLE_OK;
}

double saddle_run_objective_bytes(const saddle_run_objective *o)
{
    return (double)(o->most - 1) * saddle_weighted_bytes(o->of);
}

void saddle_run_objective_free(saddle_run_objective *o)
{
    if (o == NULL)
        return;
    for (size_t k = 0; !o->memory.failed && k < o->instance.graph->agents; k++)
        saddle_problem_free(o->problem[k]);
    saddle_allocator_free(&o->memory);
    saddle_free(o);
}

const saddle_instance *saddle_run_objective_instance(const saddle_run_objective *o)
{
    return &o->instance;
}

const saddle_problem *const *saddle_run_objective_problems(const saddle_run_objective *o)
{
    return o->per_agent;
}

/* Makes and fills in the k-th problem, that of a component. Collective. */
static saddle_status count_component(saddle_run_objective *o, size_t component, size_t k,
                                     saddle_error *error)
{
    size_t agents = o->of->agents;
    saddle_status status = SADDLE_OK;
    if (o->problem[k] == NULL)
        status = saddle_weighted_create(&o->problem[k], o->of, o->weight, error);
    SADDLE_TRY(saddle_world_agree(o->instance.world, status, error));
    for (size_t i = 0; i < agents; i++)
        o->member[i] = o->presence.component[i] == component;
    saddle_weigh_agents(agents, o->of->samples, o->by_size, o->member, o->within);
    for (size_t i = 0; i < agents; i++)
        if (o->member[i]) {
            o->weight[i] = o->within[i];
            o->per_agent[i] = o->problem[k];
        }
    return saddle_weighted_share(o->problem[k], o->within, error);
}

/* Brings the problems up to date with the presence. Collective. */
static saddle_status count_present(saddle_run_objective *o, saddle_error *error)
{
    size_t others = 0;
    saddle_status status = SADDLE_OK;
    for (size_t i = 0; i < o->of->agents; i++) {
        o->weight[i] = 1.0;
        o->per_agent[i] = o->problem[0];
    }
    for (size_t c = 1; status == SADDLE_OK && c <= o->presence.components; c++)
        status = count_component(o, c, c == o->presence.largest ? 0 : ++others, error);
    SADDLE_THEN_IF(status, o->of->constants != NULL && !o->instance.constants.estimated,
                   saddle_instance_take_constants(&o->instance, error));
    return saddle_world_agree(o->instance.world, status, error);
}

saddle_status saddle_run_objective_begin(saddle_run_objective *o, uint64_t iteration,
                                         unsigned rounds, saddle_error *error)
{
    if (iteration > 0)
        saddle_presence_advance(&o->presence, (iteration - 1) * rounds);
    return count_present(o, error);
}

static void give_problem(void *context, saddle_agent *agent)
{
    const saddle_run_objective *o = context;
    agent->problem = o->per_agent[agent->id];
}

saddle_status saddle_run_objective_advance(saddle_run_objective *o, saddle_engine *engine,
                                           unsigned rounds, saddle_error *error)
{
    if (!saddle_presence_advance(&o->presence, engine->kind->iteration(engine) * rounds))
        return SADDLE_OK;
    saddle_status status = count_present(o, error);
    if (status == SADDLE_OK)
        engine->kind->for_each(engine, give_problem, o);
    return status;
}

uint64_t saddle_run_objective_left(const saddle_run_objective *o, uint64_t iteration,
                                   unsigned rounds)
{
    const saddle_presence *p = &o->presence;
    if (p->next == p->churn->count || rounds == 0)
        return UINT64_MAX;
    uint64_t round = p->churn->event[p->next].round;
    return round / rounds + (round % rounds > 0 ? 1 : 0) - iteration;
}
