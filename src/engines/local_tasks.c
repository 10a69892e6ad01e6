/* Tasks of all agents between iterations, and means over them. */
#include "engines/local_agents.h"

#include "core/vector.h"
#include "core/world.h"

typedef struct task_job {
    saddle_local *e;
    saddle_agent_task *task;
    void *context;
} task_job;

static void run_tasks(void *context, unsigned worker)
{
    task_job *job = context;
    saddle_agent_range own = saddle_local_range(job->e, worker);
    for (size_t i = own.first; i < own.last; i++)
        job->task(job->context,
                  saddle_local_lend(job->e, worker, i, job->e->parity, job->e->iteration));
}

void saddle_local_for_each(saddle_engine *base, saddle_agent_task *task, void *context)
{
    task_job job = {.e = (saddle_local *)base, .task = task, .context = context};
    saddle_thread_pool_run(job.e->pool, run_tasks, &job);
}

typedef struct mean_job {
    saddle_local *e;
    saddle_agent_term *term;
    void *context;
    size_t size;
    double *out;
    saddle_members members;
} mean_job;

/* Computes an agent's contribution, 0 if the agent does not count. */
static void take_term(const mean_job *job, saddle_agent *agent, double *out)
{
    if (job->members.counted == NULL || job->members.counted[agent->id])
        job->term(job->context, agent, out);
    else
        memset(out, 0, job->size * sizeof *out);
}

/* Blocks of agents contribute in parallel. With one process, each worker then adds up its coordinates
 * agent by agent; with several, the world does. */
static void run_mean(void *context, unsigned worker)
{
    mean_job *job = context;
    saddle_local *e = job->e;
    const saddle_world *world = e->inputs.instance->world;
    unsigned pool = saddle_thread_pool_size(e->pool);
    size_t low = job->size * worker / pool;
    size_t high = job->size * (worker + 1) / pool;
    size_t stride = saddle_whole_lines(job->size);
    size_t rows = e->mean_room / stride;
    size_t at = 0;
    memset(job->out + low, 0, (high - low) * sizeof *job->out);
    for (size_t begin = 0; begin < world->agents; begin += rows) {
        size_t count = world->agents - begin < rows ? world->agents - begin : rows;
        size_t past = at;
        while (past < e->agents && world->here[past] < begin + count)
            past++;
        for (size_t k = at + worker; k < past; k += pool)
            take_term(job, saddle_local_lend(e, worker, k, e->parity, e->iteration),
                      e->mean_terms + (world->here[k] - begin) * stride);
        at = past;
        saddle_thread_pool_barrier(e->pool, worker);
        for (size_t k = 0; world->ranks == 1 && k < count; k++)
            saddle_axpy(high - low, 1.0, e->mean_terms + k * stride + low, job->out + low);
        if (world->ranks > 1 && worker == 0)
            world->kind->add_terms(world, begin, count, job->size, stride, e->mean_terms, job->out);
        saddle_thread_pool_barrier(e->pool, worker);
    }
    if (worker == 0)
        world->kind->join(world, job->size, job->out);
    saddle_thread_pool_barrier(e->pool, worker);
    saddle_scale(high - low, 1.0 / (double)job->members.count, job->out + low);
}

void saddle_local_mean(saddle_engine *base, size_t size, saddle_agent_term *term, void *context,
                       double *out)
{
    mean_job job = {
        .e = (saddle_local *)base, .term = term, .context = context, .size = size, .out = out};
    saddle_local_membership(base, &job.members);
    saddle_thread_pool_run(job.e->pool, run_mean, &job);
}
