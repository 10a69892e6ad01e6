/*
 * A round for a problem that evaluates the requests of all agents at once (saddle_problem::gradients).
 *
 * Workers do the phases of their own agents. After each phase worker 0, the thread that called the
 * library, lists the requests of all agents, lets the problem evaluate them, and distributes the results.
 * The bits are those of gradient().
 */
#include "engines/local_agents.h"

#include "core/vector.h"

void saddle_gathered_take(saddle_local *e, saddle_allocator *allocator)
{
    const saddle_instance *instance = e->inputs.instance;
    const saddle_problem *problem = instance->problem;
    saddle_gathered *g = &e->requests;
    size_t points = 2 * e->agents; /* a difference has two */
    size_t samples = 0;
    for (size_t k = 0; k < e->agents; k++)
        samples += 2 * problem->samples[instance->world->here[k]];
    g->agent = saddle_allocator_block(allocator, points, sizeof *g->agent);
    g->start = saddle_allocator_block(allocator, points + 1, sizeof *g->start);
    g->sample = saddle_allocator_block(allocator, samples, sizeof *g->sample);
    g->x = saddle_allocator_block(allocator, points, problem->x_dim * sizeof(double));
    g->y = saddle_allocator_block(allocator, points, problem->y_dim * sizeof(double));
    g->list = (saddle_gradient_requests){
        .agent = g->agent, .start = g->start, .sample = g->sample, .x = g->x, .y = g->y};
    g->list.gx = saddle_allocator_block(allocator, points, problem->x_dim * sizeof(double));
    g->list.gy = saddle_allocator_block(allocator, points, problem->y_dim * sizeof(double));
}

/* Returns whether the problem evaluates a request together with others. */
static bool is_gathered(const saddle_request *r)
{
    return r->kind == SADDLE_REQUEST_GRADIENT || r->kind == SADDLE_REQUEST_DIFFERENCE;
}

static void add_point(saddle_gathered *g, const saddle_agent *agent, const double *x,
                      const double *y)
{
    size_t k = g->list.count++;
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    const saddle_batch *batch = &agent->request.batch;
    size_t *sample = g->sample + g->start[k];
    g->agent[k] = agent->id;
    g->start[k + 1] = g->start[k] + batch->count;
    for (size_t s = 0; s < batch->count; s++)
        sample[s] = saddle_batch_sample(batch, s);
    memcpy(g->x + k * x_dim, x, x_dim * sizeof *x);
    memcpy(g->y + k * y_dim, y, y_dim * sizeof *y);
}

/* Computes out = the gradient at point k; for a difference, minus the one at the next point. */
static void take_result(size_t size, const double *gradients, size_t k, bool difference,
                        double *out)
{
    memset(out, 0, size * sizeof *out);
    saddle_axpy(size, 1.0, gradients + k * size, out);
    if (difference)
        saddle_axpy(size, -1.0, gradients + (k + 1) * size, out);
}

static void evaluate_requests(saddle_local *e)
{
    saddle_gathered *g = &e->requests;
    const saddle_problem *problem = e->inputs.instance->problem;
    g->list.count = 0;
    g->start[0] = 0; /* the problem may have modified the list of the last round */
    for (size_t i = 0; i < e->agents; i++) {
        const saddle_request *r = &e->agent[i].request;
        if (is_gathered(r))
            add_point(g, &e->agent[i], r->x, r->y);
        if (r->kind == SADDLE_REQUEST_DIFFERENCE)
            add_point(g, &e->agent[i], r->x0, r->y0);
    }
    if (g->list.count > 0)
        problem->gradients(problem, &g->list);
    size_t k = 0;
    for (size_t i = 0; i < e->agents; i++) {
        saddle_request *r = &e->agent[i].request;
        bool difference = r->kind == SADDLE_REQUEST_DIFFERENCE;
        if (!is_gathered(r)) {
            saddle_agent_evaluate(&e->agent[i]);
            continue;
        }
        take_result(problem->x_dim, g->list.gx, k, difference, r->gx);
        take_result(problem->y_dim, g->list.gy, k, difference, r->gy);
        k += difference ? 2 : 1;
        e->agent[i].ifo += saddle_request_ifo(r);
        r->kind = SADDLE_REQUEST_NONE;
    }
}

void saddle_gathered_round(saddle_local *e, unsigned worker, const saddle_round *round)
{
    saddle_agent_range own = saddle_local_range(e, worker);
    saddle_local_receive(e, worker, round);
    for (size_t i = own.first; i < own.last; i++) {
        saddle_local_lend(e, worker, i, round->parity, round->iteration)->round = round->number;
        saddle_local_enter(e, worker, i, round);
    }
    for (const saddle_phase *phase = e->inputs.algorithm->phases; phase->name != NULL; phase++) {
        for (size_t i = own.first; i < own.last; i++)
            if (!saddle_local_idle(e, i))
                saddle_agent_phase(phase, &e->agent[i]);
        saddle_thread_pool_barrier(e->pool, worker);
        if (worker == 0)
            evaluate_requests(e);
        saddle_thread_pool_barrier(e->pool, worker);
    }
    for (size_t i = own.first; i < own.last; i++)
        saddle_local_leave(e, worker, i, round);
}
