/**
 * @file world.h
 * @brief The processes that share the agents of a run, and their collective operations.
 *
 * Each process holds the data and the state of some of the agents, and knows of the other agents
 * only what they publish. A world records which process holds which agents. It also carries the
 * communication that is not part of an algorithm: the sums of a trace point, the agreement on when
 * to stop, and the rows that one process writes to a file. A single process that holds all agents
 * is a world of one. Problems in plug-ins receive the world; most need only `here`.
 *
 * All functions of a world except saddle_world_has() and saddle_world_place() are collective: every
 * process calls them in the same order and with the same sizes.
 */
#ifndef SADDLE_WORLD_H
#define SADDLE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/** The processes that share the agents. */
typedef struct saddle_world saddle_world;
struct saddle_world {
    size_t rank;        /**< The rank of this process, from 0. Rank 0 writes the files. */
    size_t ranks;       /**< Number of processes. */
    size_t agents;      /**< Number of agents in all processes. */
    size_t local;       /**< Number of agents in this process; at least 1 unless `agents` is 0. */
    const size_t *here; /**< The numbers of the agents in this process, ascending. */
    const size_t *home; /**< The rank that holds each agent. */

    /** Replaces words[k] by its sum over all processes. */
    void (*add_words)(const saddle_world *world, size_t count, int64_t *words);
    /** Replaces values[k], which must not be NaN, by its maximum over all processes. */
    void (*largest)(const saddle_world *world, size_t count, double *values);
    /** Copies the block of process `from` to all processes. */
    void (*share)(const saddle_world *world, size_t from, size_t bytes, void *block);
    /** Copies the block of process `from` to process `to`, in the order of calls. Only these two
     * need to call it. */
    void (*transfer)(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block);
    /** Number of processes on this machine, including this one; 0 counts as 1. */
    size_t ranks_on_machine;
    const struct saddle_world_class *kind; /**< Internal. */
};

/** Computes an agent's contribution to a sum. Called in the process that holds the agent. */
typedef void saddle_world_term(void *context, size_t agent, double *out);

/** Returns whether an agent is in this process. */
SADDLE_API bool saddle_world_has(const saddle_world *world, size_t agent);
/** Returns the index in world->here of an agent that is in this process. */
SADDLE_API size_t saddle_world_place(const saddle_world *world, size_t agent);

/**
 * Makes all processes agree on the outcome of a step. Returns SADDLE_OK if the step succeeded in
 * all of them. Otherwise every process gets the status and error of the lowest rank that failed;
 * the message names the rank unless all failed. Call it after every step that can fail in only some
 * processes: otherwise the rest wait for ever.
 */
SADDLE_API saddle_status saddle_world_agree(const saddle_world *world, saddle_status status,
                                            saddle_error *error);
/** Computes out[k] as the sum of all agents' contributions, in the order of their numbers. The
 * result has the same bits in every process and for any number of processes. */
SADDLE_API saddle_status saddle_world_sum(const saddle_world *world, size_t size,
                                          saddle_world_term *term, void *context, double *out,
                                          saddle_error *error);
/** Distributes every agent's numbers, `width` doubles per agent, to all processes. Each process
 * fills in those of its own agents before the call. For a few numbers per agent, not for
 * vectors. */
SADDLE_API void saddle_world_fill(const saddle_world *world, size_t width, double *numbers);

/** The exit code of a job that ends because a process does not respond. */
#define SADDLE_EXIT_STALLED 5

/**
 * Loads the module libsaddle-mpi.so, and with it MPI, and initializes MPI with MPI_THREAD_MULTIPLE,
 * unless the program has already done so, which must be with at least MPI_THREAD_FUNNELED. Signal
 * dispositions stay as they are. The engine `mpi` calls this when an instance is made;
 * call it yourself only to know the rank earlier. Only the thread that initialized MPI may use a
 * world of several processes.
 *
 * If all processes have MPI_THREAD_MULTIPLE, a thread in each watches the others from the first
 * instance until MPI_Finalize(). When a process has not responded for stall-seconds, it prints
 * which one and ends the job by MPI_Abort() with SADDLE_EXIT_STALLED. Otherwise a run warns that
 * nothing watches. Returns SADDLE_UNSUPPORTED if the module is not installed or cannot be loaded.
 * @param[out] rank  the rank of this process, from 0.
 */
SADDLE_API saddle_status saddle_mpi_init(size_t *rank, saddle_error *error);
/**
 * Finalizes MPI if it is initialized. A program that uses the engine `mpi` calls it last, unless it
 * initialized MPI itself and also finalizes it. Does nothing if that engine was not used.
 * @param failed  whether this process ends with an error. The other processes may not know of it:
 *                if they do not end within seconds, MPI is not finalized, and mpirun then ends them
 *                because this process exits without MPI_Finalize().
 */
SADDLE_API void saddle_mpi_finalize(bool failed);

#endif
