/*
 * What runs the agents and carries their messages.
 *
 * Every engine, with any number of threads, gives the same bits for the same seed.
 */
#ifndef SADDLE_ENGINES_ENGINE_H
#define SADDLE_ENGINES_ENGINE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/algorithm.h>
#include <saddle/row.h>

/* What an engine is made from. All borrowed for its lifetime. */
typedef struct saddle_engine_inputs {
    const saddle_instance *instance;            /* What it runs on. */
    const saddle_algorithm *algorithm;          /* The vertex program. */
    const void *parameters;                     /* Of the vertex program. */
    const struct saddle_link_model *link_model; /* What time costs; NULL: no clocks. */
    unsigned threads;                           /* 0: as many processors as pay off. */
    bool pin;                                   /* Whether each thread stays on one processor. */
    size_t scratch;                             /* Doubles of scratch the tasks below need. */
    uint64_t iteration; /* Where to begin: 0, or that of the states below. */
    /* Fill agent->next, agent->kept, agent->ifo and agent->clock with the state after `iteration` iterations;
     * NULL: the algorithm's start. Called once for every agent here, by one thread. */
    void (*restore)(void *context, saddle_agent *agent);
    /* The record that save_links() made of an agent here or of a neighbour of one; NULL where they
     * remember nothing. */
    const uint64_t *(*link_record)(void *context, size_t agent);
    void *restore_context; /* Handed to both. */
} saddle_engine_inputs;

/* When advance() shall return. */
typedef struct saddle_limits {
    uint64_t iterations;        /* At most this many more. */
    uint64_t max_ifo;           /* As soon as this many IFO calls are made; 0: no limit. */
    uint64_t ifo_budget;        /* Shared out equally as saddle_agent.ifo_limit; 0: no limit. */
    double max_network_seconds; /* As soon as an agent's clock shows this; 0: no limit. */
    double deadline;            /* On saddle_clock_seconds(); 0: none. */
    const volatile sig_atomic_t *interrupt; /* As soon as it is not 0; NULL: none. */
} saddle_limits;

/* An engine at work. */
typedef struct saddle_engine saddle_engine;

/* Who is present under churn. */
typedef struct saddle_members {
    const unsigned char *
        counted; /* per agent: whether it is in the largest component; NULL: all agents are there */
    size_t count; /* of those */
    size_t present;
    size_t components;
} saddle_members;

/* Something to do for one agent, on whichever thread runs it, with agent->scratch to use. */
typedef void saddle_agent_task(void *context, saddle_agent *agent);
/* An agent's contribution to a mean over agents. */
typedef void saddle_agent_term(void *context, saddle_agent *agent, double *out);

/* A kind of engine that can be asked for by name. */
typedef struct saddle_engine_class {
    const char *name;    /* Such as "threads". */
    const char *summary; /* One line. */
    /* Find the processes that take part and place the agents of a graph on them; with no graph
     * (NULL), the processes alone. NULL: there is this process only. */
    saddle_status (*connect)(saddle_world **out, const saddle_graph *graph, saddle_error *error);
    /* Set how many seconds a process may be silent before it counts as stopped and the job ends,
     * and the checkpoint that the message names (NULL: none has been written). Returns false when
     * stopped processes go unnoticed. NULL: there is this process only. */
    bool (*watch)(const saddle_world *world, double stall_seconds, const char *checkpoint);
    /* Make the agents and bring them to t = 0. */
    saddle_status (*create)(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error);
    /* Bytes that create() takes in this process, without any exchange with the others. */
    double (*bytes)(const saddle_engine_inputs *inputs);
    /* Free it. */
    void (*destroy)(saddle_engine *engine);
    /* Run iterations until a limit or a fault; the lowest faulty agent of the first faulty
     * iteration is reported, in all processes, which all leave after the same iteration. */
    void (*advance)(saddle_engine *engine, const saddle_limits *limits, saddle_fault *fault);
    /* Iterations done so far. */
    uint64_t (*iteration)(const saddle_engine *engine);
    /* Costs so far, of all agents of all processes. Collective. */
    void (*cost)(const saddle_engine *engine, saddle_cost *out);
    /* Do something for every agent of this process, in parallel. */
    void (*for_each)(saddle_engine *engine, saddle_agent_task *task, void *context);
    /* out[k] = (1/m) sum over agents, in the order of their numbers, of their contributions; under churn, over those of
     * saddle_members::counted. */
    void (*mean)(saddle_engine *engine, size_t size, saddle_agent_term *term, void *context,
                 double *out);
    /* Where links carry a sum of an agent of this process (running_sums.h): by how much an entry of it differs at most from the
     * estimate that it tracks, and by how much its weight differs from 1. */
    void (*defect)(const saddle_engine *engine, const saddle_agent *agent,
                   const saddle_field *field, double *sum, double *weight);
    /* By how many levels agents have lowered, or should have lowered, the mixing rate of compressed messages at most
     * (replicas.h). Collective. */
    unsigned (*level)(const saddle_engine *engine);
    /* A direction between agents that one of them has found dead since the last call: nothing that *from sent arrived at *to. False:
     * there is none. NULL: none is looked for. Collective. */
    bool (*dead_direction)(saddle_engine *engine, size_t *from, size_t *to);
    /* Who is present; NULL: all are, always. */
    void (*membership)(const saddle_engine *engine, saddle_members *out);
    /* Write what links remember of an agent of this process: saddle_links_words() words. */
    void (*save_links)(const saddle_engine *engine, const saddle_agent *agent, uint64_t *words);
} saddle_engine_class;

/* First field of every engine. */
struct saddle_engine {
    const saddle_engine_class *kind; /* Its functions. */
};

/* The engine of a name; an unknown name is refused with the list. */
saddle_status saddle_engine_find(const saddle_engine_class **out, const char *name,
                                 saddle_error *error);

/*
 * Meet the processes that take part.
 * @param[out] out    NULL on failure. Free with saddle_world_free().
 * @param      graph  whose agents are placed; NULL: a world without agents, in which processes only
 *                    agree on things, such as how a program ends.
 */
saddle_status saddle_engine_connect(const saddle_engine_class *engine, saddle_world **out,
                                    const saddle_graph *graph, saddle_error *error);
/* Call saddle_engine_class.watch() where there is one. */
bool saddle_engine_watch(const saddle_engine_class *engine, const saddle_world *world,
                         double stall_seconds, const char *checkpoint);

#endif
