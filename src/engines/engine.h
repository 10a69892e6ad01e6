/*
 * Engines run the agents and deliver their messages.
 *
 * Every engine, with any number of threads, gives the same bits for the same seed.
 */
#pragma once

#include <signal.h>

#include <saddle/algorithm.h>
#include <saddle/row.h>

#include "core/base.h"
#include "engines/module.h"

/* The inputs of an engine. All borrowed for its lifetime. */
typedef struct saddle_engine_inputs {
    const saddle_instance *instance;            /* the instance that it runs on */
    const saddle_problem *const *problem;       /* per agent; NULL: all have the instance's */
    const saddle_algorithm *algorithm;          /* the vertex program */
    const void *parameters;                     /* of the vertex program */
    const struct saddle_link_model *link_model; /* costs of simulated time; NULL: no clocks */
    unsigned threads;                           /* 0: as many processors as pay off */
    bool pin;                                   /* whether each thread stays on one processor */
    double row_clip;                            /* of the noise on gradients; 0: none */
    double row_noise;                           /* see row_noise.h */
    size_t scratch;                             /* doubles of scratch that the tasks below need */
    uint64_t iteration;                         /* where to begin: 0, or that of the states below */
    /* Fills agent->next, agent->kept, agent->ifo and agent->clock with the state after `iteration`
     * iterations; NULL: use the algorithm's start. Called once for every agent of this process, by one
     * thread. */
    void (*restore)(void *context, saddle_agent *agent);
    /* Returns the record that save_links() wrote for an agent of this process or a neighbour of one;
     * NULL if links have no state. */
    const uint64_t *(*link_record)(void *context, size_t agent);
    void *restore_context; /* passed to both */
} saddle_engine_inputs;

/* When advance() returns. */
typedef struct saddle_limits {
    uint64_t iterations;        /* at most this many more */
    uint64_t max_ifo;           /* as soon as this many IFO calls are made; 0: no limit */
    uint64_t ifo_budget;        /* divided equally as saddle_agent.ifo_limit; 0: no limit */
    double max_network_seconds; /* as soon as an agent's clock shows this; 0: no limit */
    double deadline;            /* on saddle_clock_seconds(); 0: none */
    const volatile sig_atomic_t *interrupt; /* as soon as it is not 0; NULL: none */
} saddle_limits;

typedef struct saddle_engine saddle_engine;

/* Which agents are present under churn. */
typedef struct saddle_members {
    const unsigned char *counted; /* per agent: in the largest component; NULL: all are */
    size_t count;                 /* of those */
    size_t present;
    size_t components;
    size_t events; /* that have not happened yet */
} saddle_members;

/* A task for one agent. It may use agent->scratch and runs on the thread of the agent's worker. */
typedef void saddle_agent_task(void *context, saddle_agent *agent);
/* Computes an agent's contribution to a mean over agents. */
typedef void saddle_agent_term(void *context, saddle_agent *agent, double *out);

/* What an engine may measure where the state is. Means are over the agents. */
typedef enum saddle_measurement_kind {
    SADDLE_MEASURE_ITERATES, /* means of (x, y); the next two are measured there */
    SADDLE_MEASURE_SURVEY,   /* means of the gradients in x and of the losses of samples */
    SADDLE_MEASURE_DISTANCE, /* means of squared distances of x and of y */
    SADDLE_MEASURE_SIZE,     /* the mean of |x_i|^2 + |y_i|^2 */
    SADDLE_MEASURE_OUTSIDE,  /* a number that is 0 only if all x and y are in their sets */
    SADDLE_MEASURE_SUM,      /* means of a field minus its estimate */
    SADDLE_MEASURE_SUM_SIZE  /* the mean of |field|^2 + |what is kept of its estimate|^2 */
} saddle_measurement_kind;

typedef struct saddle_measurement {
    saddle_measurement_kind kind;
    const saddle_field *field;
} saddle_measurement;

/* A kind of engine, chosen by name. */
typedef struct saddle_engine_class {
    const char *name;          /* such as "threads" */
    const char *summary;       /* one line */
    saddle_module_name module; /* what it opens when it is used; no name: nothing */
    /* Finds the participating processes and places the agents of a graph on them; without a graph
     * (NULL), only finds the processes. NULL: there is only this process. */
    saddle_status (*connect)(const struct saddle_engine_class *engine, saddle_world **out,
                             const saddle_graph *graph, saddle_error *error);
    /* Sets after how many seconds of silence a process counts as stopped and the job ends, and the
     * checkpoint that the message names (NULL: none has been written). Returns false when stopped
     * processes cannot be noticed. NULL: there is only this process. */
    bool (*watch)(const saddle_world *world, double stall_seconds, const char *checkpoint);
    /* Creates the agents and brings them to t = 0. */
    saddle_status (*create)(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error);
    /* Returns the bytes that create() allocates in this process, without communicating with the others. */
    double (*bytes)(const saddle_engine_inputs *inputs);
    void (*destroy)(saddle_engine *engine);
    /* Runs iterations until a limit or a fault. Reports the fault of the lowest agent in the first
     * faulty iteration, in all processes, which all stop after the same iteration. */
    void (*advance)(saddle_engine *engine, const saddle_limits *limits, saddle_fault *fault);
    /* Returns the number of iterations done. */
    uint64_t (*iteration)(const saddle_engine *engine);
    /* Computes the costs so far, of all agents of all processes. Collective. */
    void (*cost)(const saddle_engine *engine, saddle_cost *out);
    /* Runs a task for every agent of this process, in parallel. */
    void (*for_each)(saddle_engine *engine, saddle_agent_task *task, void *context);
    /* Computes out[k] = (1/m) times the sum, in the order of their numbers, of the agents'
     * contributions; under churn, over those of saddle_members::counted. */
    void (*mean)(saddle_engine *engine, size_t size, saddle_agent_term *term, void *context,
                 double *out);
    /* Optional. Computes in `out` what mean() would, with the same bits, without copying the state.
     * Returns false if it cannot. */
    bool (*measure)(saddle_engine *engine, const saddle_measurement *what, double *out);
    /* For links with running sums (running_sums.h): computes by how much an entry of an agent's sum
     * differs at most from the estimate that it tracks, and by how much its weight differs from 1. */
    void (*defect)(const saddle_engine *engine, const saddle_agent *agent,
                   const saddle_field *field, double *sum, double *weight);
    /* Returns by how many levels at most agents have lowered, or should have lowered, the mixing rate of
     * compressed messages (replicas.h). Collective. */
    unsigned (*level)(const saddle_engine *engine);
    /* Finds a direction that an agent has found dead since the last call: nothing that *from sent
     * arrived at *to. Returns false when there is none. NULL: the engine does not look for them.
     * Collective. */
    bool (*dead_direction)(saddle_engine *engine, size_t *from, size_t *to);
    /* Determines which agents are present; NULL: always all. */
    void (*membership)(const saddle_engine *engine, saddle_members *out);
    /* Writes the links' state of an agent of this process: saddle_links_words() words. */
    void (*save_links)(const saddle_engine *engine, const saddle_agent *agent, uint64_t *words);
} saddle_engine_class;

/* The first field of every engine. */
struct saddle_engine {
    const saddle_engine_class *kind; /* its functions */
};

/* The built-in engines. */
extern const saddle_engine_class saddle_threads_engine;
extern const saddle_engine_class saddle_mpi_engine;
extern const saddle_engine_class saddle_cuda_engine;
extern const saddle_engine_class saddle_cuda_host_engine;

/* Finds an engine by name; fails with a list of all for an unknown name. */
saddle_status saddle_engine_find(const saddle_engine_class **out, const char *name,
                                 saddle_error *error);

/*
 * Connects to the participating processes.
 * @param[out] out    NULL on failure. Free with saddle_world_free().
 * @param      graph  whose agents are placed. NULL: a world without agents, in which processes only
 *                    agree on things, such as how a program ends.
 */
saddle_status saddle_engine_connect(const saddle_engine_class *engine, saddle_world **out,
                                    const saddle_graph *graph, saddle_error *error);
/* Calls saddle_engine_class.watch() if there is one. */
bool saddle_engine_watch(const saddle_engine_class *engine, const saddle_world *world,
                         double stall_seconds, const char *checkpoint);
