/*
 * The agents of one process on a pool of threads: common to all engines.
 *
 * Every agent's published span exists twice, for the last round and for the next. A round reads one and
 * writes the other, so that neighbours are read in place and no agent waits for another inside a round.
 * Workers own contiguous ranges of agents and meet at a barrier after each round. What an agent computes
 * does not depend on its worker, so the bits are the same for any number of threads.
 *
 * Neighbours in other processes are ghosts: rows that an exchange fills in before a round reads them.
 * Unless rounds are divided, agents without ghosts as neighbours run while messages are in transit; a
 * divided round begins after they have arrived.
 */
#pragma once

#include <stdatomic.h>

#include "engines/engine.h"

#include "engines/agent.h"
#include "engines/crew.h"
#include "engines/links.h"
#include "engines/row_noise.h"
#include "engines/thread_pool.h"
#include "problems/evaluate.h"

/* Some blocks of an agent's x and some of its y. */
typedef struct saddle_block_share {
    saddle_range x;
    saddle_range y;
} saddle_block_share;

/* The private state of a worker, padded so that two workers never share a cache line. */
typedef struct saddle_worker {
    saddle_helpers helpers; /* must be first, so that both have the same address */
    struct saddle_local *local;
    unsigned number;
    double *scratch;
    uint64_t *mark;
    saddle_block_share *share; /* per agent: what the worker does of a divided phase's blocks */
    saddle_fault fault;        /* the first fault of its agents in this run of iterations */
    uint64_t fault_iteration;  /* its iteration */
    uint64_t ifo;              /* IFO calls of its agents */
    _Alignas(SADDLE_ALIGNMENT) uint64_t ifo_after[2]; /* the same after an iteration, by parity */
    double clock_after[2]; /* the latest of its agents' clocks after an iteration, by parity */
    bool
        has_request[2]; /* whether an agent of it has one in a divided round, by parity of phases */
} saddle_worker;

/* Exchanges spans with other processes. Called by worker 0 only. */
typedef struct saddle_exchange saddle_exchange;
struct saddle_exchange {
    /* Starts sending what a round publishes: the spans of a parity, as the last round left them. */
    void (*send)(saddle_exchange *exchange, unsigned parity, unsigned round);
    /* Waits until the ghosts have arrived and what was sent may be overwritten. */
    void (*receive)(saddle_exchange *exchange);
};

/* What the agents of this process have spent up to an iteration. */
typedef struct saddle_iteration_log {
    uint64_t ifo;
    double network_seconds; /* the latest clock; NaN without clocks */
} saddle_iteration_log;

/* The requests of all agents of this process. */
typedef struct saddle_gathered {
    saddle_gradient_requests list; /* the arrays below, as the problem sees them, and its results */
    size_t *agent;
    size_t *start;
    size_t *sample;
    double *x;
    double *y;
} saddle_gathered;

/* Agents are identified by their index in world->here. */
typedef struct saddle_local {
    saddle_engine base;
    saddle_engine_inputs inputs;
    saddle_layout layout;
    saddle_blocks blocks;    /* of the problem's coordinates */
    saddle_allocator memory; /* of all that follows, except the pool */
    saddle_thread_pool *pool;
    saddle_worker *worker;
    size_t agents; /* of this process */
    saddle_agent *agent;
    size_t stride;   /* doubles between two agents' spans */
    double *span[2]; /* published spans; parity says which one is `now` */
    saddle_links links;
    saddle_row_noise row_noise; /* of all agents' gradients */
    saddle_exchange *exchange;  /* NULL: none */
    double *kept;
    size_t kept_stride;
    bool divided;  /* each phase may be divided among all workers */
    bool dividing; /* it is, with as many workers as there are now */
    bool gathered; /* saddle_problem::gradients evaluates the requests of all agents at once */
    size_t areas;  /* of work: per agent if divided or gathered, otherwise per worker */
    double *work;
    size_t work_stride;
    uint32_t *index;
    size_t index_stride;
    /* If rounds are divided: */
    double *sums; /* of each agent's blocks of coordinates */
    size_t sums_stride;
    saddle_request_division *division; /* of each agent's request */
    double *partials;                  /* of each agent's request */
    size_t partials_stride;
    saddle_gathered requests; /* if they are gathered */
    uint64_t iteration;
    unsigned parity;
    uint64_t ifo;           /* IFO calls so far, of all agents of all processes */
    uint64_t *timed;        /* per agent: IFO calls that its clock includes; NULL without clocks */
    double network_seconds; /* the latest clock of all processes; NaN without clocks */
    bool oracle;
    double *oracle_mean;
    double *mean_terms; /* contributions of a block of agents to a mean */
    size_t mean_room;   /* its capacity in doubles */
    /* The current run of iterations. */
    const saddle_limits *limits;
    saddle_iteration_log *log;    /* per iteration; NULL: not wanted */
    uint64_t done;                /* iterations done; written by worker 0 */
    atomic_uint_fast64_t stop_at; /* iteration after which all workers stop; UINT64_MAX: none */
    atomic_uint_fast64_t
        pause_at;     /* iteration after which the number of workers changes; UINT64_MAX: none */
    saddle_crew crew; /* how many workers run; worker 0's */
    bool recruits;    /* that number follows the machine; otherwise all do */
    uint64_t todo;    /* iterations of the present job, at most */
    uint64_t counted; /* IFO calls of the first worker with agents when the crew was told */
    bool ended;       /* the run is complete; written by worker 0 */
} saddle_local;

/* The first fault of a run of iterations. */
typedef struct saddle_first_fault {
    saddle_fault fault; /* kind SADDLE_FAULT_NONE: no fault */
    uint64_t iteration; /* the engine's count before the faulty iteration */
} saddle_first_fault;

/* ---- memory: local_memory.c ------------------------------------------------------------------ */

/* Returns how many workers have enough work in an iteration of this process's agents, at least one and at
 * most one per agent. `published` is the doubles of an agent's span. */
size_t saddle_worker_count(const saddle_instance *instance, size_t published);
/* Returns whether rounds that may be divided are, with this number of workers. */
bool saddle_local_divides(const saddle_local *local, size_t workers);
/* Computes all sizes without allocating anything. Returns the number of workers. */
size_t saddle_local_measure(saddle_local *local, const saddle_engine_inputs *inputs,
                            unsigned processors);
/* Allocates the memory of agents, links and workers; the pool must exist. Returns false if memory is short. */
bool saddle_local_allocate(saddle_local *local);
/* Returns the bytes that saddle_local_make() allocates. */
double saddle_local_bytes(const saddle_engine_inputs *inputs, unsigned processors);
/* Frees the contents of `local`, but not `local` itself. */
void saddle_local_clear(saddle_local *local);

/* ---- local_agents.c -------------------------------------------------------------------------- */

/* Creates the agents of this process, without initialising them. `processors` is how many this process
 * can use. After a failure, call saddle_local_clear(). */
saddle_status saddle_local_make(saddle_local *local, const saddle_engine_inputs *inputs,
                                unsigned processors, saddle_error *error);
/* Initialises the agents: to the algorithm's start, or to their restored state. */
void saddle_local_start(saddle_local *local);

/* The agents of a worker: first, first + 1, ..., last - 1. */
typedef struct saddle_agent_range {
    size_t first;
    size_t last;
} saddle_agent_range;
/* Returns the agents that a worker owns. */
saddle_agent_range saddle_local_range(const saddle_local *local, unsigned worker);
/* One round of an iteration. */
typedef struct saddle_round {
    uint64_t iteration;
    unsigned number;  /* in the iteration, from 0 */
    unsigned parity;  /* of the spans that it reads */
    uint64_t allowed; /* IFO calls that each agent may add in the iteration; 0: no limit */
} saddle_round;
/* Lends a worker's memory to an agent and points the agent at the current spans. */
saddle_agent *saddle_local_lend(saddle_local *local, unsigned worker, size_t i, unsigned parity,
                                uint64_t iteration);
/* Records a worker's first fault; its agents come in the order of their numbers. */
void saddle_local_note_fault(saddle_local *local, unsigned worker, const saddle_agent *agent,
                             uint64_t iteration);
/* Prepares an agent for a round and points it at what it reads; called by its worker before the first phase. */
void saddle_local_enter(saddle_local *local, unsigned worker, size_t i, const saddle_round *round);
/* Completes what an agent's neighbours will read, and records its costs and faults; called by its worker after
 * the last phase. */
void saddle_local_leave(saddle_local *local, unsigned worker, size_t i, const saddle_round *round);

/* ---- links with a state (link_state.h): local_links.c; for others these return at once ---------- */

/* Does what links do before a round and before anything is sent for it; called by every worker. */
void saddle_local_begin_round(saddle_local *local, unsigned worker, const saddle_round *round);
/* Returns whether an agent skips the phases of the round that it has entered. */
static inline bool saddle_local_idle(const saddle_local *local, size_t i)
{
    return local->links.changing && saddle_link_state_idle(&local->links.state, i);
}
/* Waits until the ghosts have arrived, if there is an exchange. Called by every worker. */
void saddle_local_receive(saddle_local *local, unsigned worker, const saddle_round *round);
/* Prepares the links' state before agents are initialised. */
void saddle_local_prepare_links(saddle_local *local);
/* Completes the links' state of agent i after it was initialised. */
void saddle_local_start_links(saddle_local *local, saddle_agent *agent, size_t i);
/* Sets the age of messages, and corrects the costs for messages that are or are not sent. Collective. */
void saddle_local_link_costs(const saddle_local *local, saddle_cost *cost);
/* Restores the links' state of restored agents. */
void saddle_local_restore_links(saddle_local *local);

/* Determines which blocks of all agents each worker does in divided rounds. */
void saddle_divide_blocks(saddle_local *local);
/* Does one round of all agents, with each phase divided among the workers: divided_round.c. Called by
 * every worker. */
void saddle_divided_round(saddle_local *local, unsigned worker, const saddle_round *round);

/* Allocates memory for the requests of all agents of this process. */
void saddle_gathered_take(saddle_local *local, saddle_allocator *allocator);
/* Does one round of all agents, whose requests are evaluated together after each phase: gathered_round.c.
 * Called by every worker. */
void saddle_gathered_round(saddle_local *local, unsigned worker, const saddle_round *round);

/* Returns the IFO calls of the agents of this process. */
uint64_t saddle_local_ifo(const saddle_local *local);

/* Runs iterations until a limit or a fault. With `log`, one entry per iteration, faults do not end it,
 * and what the agents of this process have spent is recorded after each iteration. */
void saddle_local_run(saddle_local *local, const saddle_limits *limits, saddle_iteration_log *log,
                      saddle_first_fault *first);

/* ---- simulated time: clocks.c ----------------------------------------------------------------- */

/* An agent's clock is sent after what it publishes, at the end of its span. */
static inline size_t saddle_clock_offset(const saddle_local *local)
{
    return local->stride - 1;
}

/* Initialises the clocks of all agents, or restores them. */
void saddle_clocks_start(saddle_local *local);
/* Advances the clocks of a worker's agents after a round. Returns the latest. */
double saddle_clocks_advance(saddle_local *local, unsigned worker, const saddle_round *round);
/* Returns the latest clock of this process's agents; NaN without clocks. */
double saddle_clocks_latest(const saddle_local *local);

/* Functions for engines whose first field is a saddle_local. */
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
#define SADDLE_LOCAL_FUNCTIONS                                                                   \
    .iteration = saddle_local_iteration, .cost = saddle_local_cost,                              \
    .for_each = saddle_local_for_each, .mean = saddle_local_mean, .defect = saddle_local_defect, \
    .level = saddle_local_level, .save_links = saddle_local_save_links,                          \
    .membership = saddle_local_membership, .dead_direction = saddle_local_dead_direction
