/*
 * The agents of one process on a pool of threads: what all engines share.
 *
 * Every agent's published span exists twice, for the last round and for the next; a round reads the
 * one and writes the other, so that neighbours are read in place and no agent waits for another
 * inside a round. Workers own contiguous ranges of agents and meet at a barrier after each round.
 * What an agent computes does not depend on the worker that runs it: the bits are the same for any number of
 * threads.
 *
 * Neighbours in other processes are ghosts: rows that an exchange fills in before a round reads them.
 * Where rounds are not divided, agents without a ghost among their neighbours step while messages are on their way; a divided round
 * begins when they have arrived.
 */
#ifndef SADDLE_ENGINES_LOCAL_AGENTS_H
#define SADDLE_ENGINES_LOCAL_AGENTS_H

#include <stdatomic.h>

#include "engines/engine.h"

#include "algorithms/agent.h"
#include "core/memory.h"
#include "engines/links.h"
#include "engines/thread_pool.h"

/* What a worker has to itself. Padded so that two workers never share a cache line. */
typedef struct saddle_worker {
    saddle_helpers helpers; /* first: the two addresses are one */
    struct saddle_local *local;
    unsigned number;
    double *scratch;
    uint64_t *mark;
    saddle_fault fault;       /* the first of its agents' in this run of iterations */
    uint64_t fault_iteration; /* when */
    uint64_t ifo;             /* IFO calls of its agents */
    _Alignas(SADDLE_ALIGNMENT) uint64_t ifo_after[2]; /* the same after an iteration, by parity */
    double clock_after[2]; /* the latest of its agents' clocks after an iteration, likewise */
    bool asks[2]; /* whether its agents have requests in a divided round, by parity of the phase */
} saddle_worker;

/* Carries spans between processes. Called by worker 0 only. */
typedef struct saddle_exchange saddle_exchange;
struct saddle_exchange {
    /* Begin to send what a round publishes: spans of a parity, as they were left by the last. */
    void (*send)(saddle_exchange *exchange, unsigned parity, unsigned round);
    /* Wait until the ghosts are there and what was sent may be overwritten. */
    void (*receive)(saddle_exchange *exchange);
};

/* What the agents here have spent after an iteration. */
typedef struct saddle_iteration_log {
    uint64_t ifo;
    double network_seconds; /* the latest clock; NaN: there are no clocks */
} saddle_iteration_log;

/* The requests of all agents here at once, and their answers. */
typedef struct saddle_gathered {
    saddle_gradient_requests list; /* the arrays below, as the problem sees them */
    size_t *agent;
    size_t *start;
    size_t *sample;
    double *x;
    double *y;
    double *gx;
    double *gy;
} saddle_gathered;

/* Agents are meant by their position in world->here. */
typedef struct saddle_local {
    saddle_engine base;
    saddle_engine_inputs inputs;
    saddle_layout layout;
    saddle_thread_pool *pool;
    saddle_worker *worker;
    size_t agents; /* of this process */
    saddle_agent *agent;
    size_t stride;   /* doubles between two agents' spans */
    double *span[2]; /* published spans; parity says which one is `now` */
    saddle_links links;
    saddle_exchange *exchange; /* NULL: none */
    double *kept;
    size_t kept_stride;
    bool
        divided; /* all workers share out each phase; otherwise each runs whole rounds of its agents */
    bool
        gathered; /* the requests of all agents are answered at once, by saddle_problem::gradients */
    size_t
        areas; /* of work memory: one for each agent where rounds are divided or requests gathered,
                     otherwise for each worker */
    double *work;
    size_t work_stride;
    uint32_t *index;
    size_t index_stride;
    double *sums; /* of each agent's blocks of coordinates, where rounds are divided */
    size_t sums_stride;
    double *partials; /* of each agent's request, likewise */
    size_t partials_stride;
    saddle_gathered requests; /* where they are gathered */
    uint64_t iteration;
    unsigned parity;
    uint64_t ifo; /* IFO calls so far, of all agents of all processes */
    uint64_t
        *timed; /* IFO calls of each agent that its clock includes; NULL: there are no clocks */
    double network_seconds; /* the latest clock, of all processes; NaN: there are no clocks */
    bool oracle;
    double *oracle_mean;
    double *mean_terms; /* contributions of a block of agents to a mean */
    size_t mean_room;   /* doubles of it */
    /* A run of iterations. */
    const saddle_limits *limits;
    saddle_iteration_log *log;    /* of each iteration, where wanted */
    uint64_t done;                /* iterations of it; written by worker 0 */
    atomic_uint_fast64_t stop_at; /* iteration after which all workers leave; UINT64_MAX: none */
} saddle_local;

/* The first fault of a run of iterations. */
typedef struct saddle_first_fault {
    saddle_fault fault; /* kind SADDLE_FAULT_NONE: there was none */
    uint64_t iteration; /* the engine's count before the iteration that made it */
} saddle_first_fault;

/* ---- memory: local_memory.c ------------------------------------------------------------------ */

/* Computes all sizes without allocating anything. Returns the number of workers. */
size_t saddle_local_measure(saddle_local *local, const saddle_engine_inputs *inputs,
                            unsigned processors);
/* Allocates the memory of agents, links and workers; the pool must exist. Returns false if there is not enough memory. */
bool saddle_local_allocate(saddle_local *local);
/* Bytes that saddle_local_make() takes. */
double saddle_local_bytes(const saddle_engine_inputs *inputs, unsigned processors);
/* Free what it holds, but not `local` itself. */
void saddle_local_clear(saddle_local *local);

/* ---- local_agents.c -------------------------------------------------------------------------- */

/* Make the agents of this process, without bringing them to their start. `processors` are those
 * that this process may count on. On failure saddle_local_clear() is still to be called. */
saddle_status saddle_local_make(saddle_local *local, const saddle_engine_inputs *inputs,
                                unsigned processors, saddle_error *error);
/* Bring the agents to where they begin: at the algorithm's start, or where they once were. */
void saddle_local_start(saddle_local *local);

/* The agents of a worker: first, first + 1, ..., last - 1. */
typedef struct saddle_agent_range {
    size_t first;
    size_t last;
} saddle_agent_range;
saddle_agent_range saddle_local_range(const saddle_local *local, unsigned worker);
/* Lend a worker's memory to an agent and point it at the current spans. */
saddle_agent *saddle_local_lend(saddle_local *local, unsigned worker, size_t i, unsigned parity,
                                uint64_t iteration);
/* Keep a worker's first fault; its agents come in the order of their numbers. */
void saddle_local_note_fault(saddle_local *local, unsigned worker, const saddle_agent *agent,
                             uint64_t iteration);

/* ---- links that have a state (link_state.h): local_links.c; the others return at once ---------- */

/* Before a round, and before anything is sent for it. Called by every worker. */
void saddle_local_begin_round(saddle_local *local, unsigned worker, uint64_t iteration,
                              unsigned round);
/* Before the first phase of an agent's round and after the last. */
void saddle_local_collect(saddle_local *local, size_t i, unsigned parity, unsigned round);
/* Whether an agent leaves out the phases of the round that it has collected for. */
static inline bool saddle_local_idle(const saddle_local *local, size_t i)
{
    return local->links.changing && saddle_link_state_idle(&local->links.state, i);
}
void saddle_local_publish(saddle_local *local, size_t i, unsigned round);
/* Wait until the ghosts are there, where there is an exchange. Called by every worker. */
void saddle_local_receive(saddle_local *local, unsigned worker, uint64_t iteration, unsigned round);
/* Before agents begin, and when agent i has. */
void saddle_local_prepare_links(saddle_local *local);
void saddle_local_start_links(saddle_local *local, saddle_agent *agent, size_t i);
/* The most rounds since any agent used a message of a neighbour; NaN with reliable links. Collective. */
double saddle_local_age(const saddle_local *local);
/* Add what was not sent, because of who was there, to the costs. Collective. */
void saddle_local_count_messages(const saddle_local *local, saddle_cost *cost);
/* Bring the links of agents that were restored to where they were. */
void saddle_local_restore_links(saddle_local *local);

/* One round of all agents, each phase shared out between the workers: divided_round.c. Called by every worker. */
void saddle_divided_round(saddle_local *local, unsigned worker, unsigned parity, uint64_t iteration,
                          unsigned round, uint64_t allowed);

/* Memory for the requests of all agents here. */
void saddle_gathered_take(saddle_local *local, saddle_claim *claim);
void saddle_gathered_free(saddle_gathered *gathered);
/* One round of all agents, whose requests are answered together after each phase: gathered_round.c. Called by every
 * worker. */
void saddle_gathered_round(saddle_local *local, unsigned worker, unsigned parity,
                           uint64_t iteration, unsigned round, uint64_t allowed);

/* IFO calls of the agents of this process. */
uint64_t saddle_local_ifo(const saddle_local *local);

/* Run iterations until a limit or a fault. With `log`, a place per iteration, no fault ends it, and
 * what the agents here have spent is noted after each iteration. */
void saddle_local_run(saddle_local *local, const saddle_limits *limits, saddle_iteration_log *log,
                      saddle_first_fault *first);

/* ---- simulated time: clocks.c ----------------------------------------------------------------- */

/* An agent's clock travels behind what it publishes, at the end of its span. */
static inline size_t saddle_clock_offset(const saddle_local *local)
{
    return local->stride - 1;
}

/* Set the clocks of all agents at the start, or as they were restored. */
void saddle_clocks_start(saddle_local *local);
/* Advance the clocks of a worker's agents, which have done a round. Returns the latest of them. */
double saddle_clocks_advance(saddle_local *local, unsigned worker, unsigned parity, unsigned round);
/* The latest clock of the agents here; NaN: there are no clocks. */
double saddle_clocks_latest(const saddle_local *local);

/* Functions of an engine whose first field is a saddle_local. */
uint64_t saddle_local_iteration(const saddle_engine *engine);
void saddle_local_cost(const saddle_engine *engine, saddle_cost *out);
void saddle_local_for_each(saddle_engine *engine, saddle_agent_task *task, void *context);
void saddle_local_mean(saddle_engine *engine, size_t size, saddle_agent_term *term, void *context,
                       double *out);
void saddle_local_defect(const saddle_engine *engine, const saddle_agent *agent,
                         const saddle_field *field, double *sum, double *weight);
unsigned saddle_local_level(const saddle_engine *engine);
bool saddle_local_dead_direction(saddle_engine *engine, size_t *from, size_t *to);
void saddle_local_membership(const saddle_engine *engine, saddle_members *out);
void saddle_local_save_links(const saddle_engine *engine, const saddle_agent *agent,
                             uint64_t *words);

#endif
