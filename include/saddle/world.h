/**
 * @file world.h
 * @brief The processes that share the agents of a run, and what they tell each other beside the
 * agents' messages.
 *
 * Every process holds some agents: their data, their state, and nothing of the others' but what these
 * publish. A world says which process holds which agents, and carries what is not part of an algorithm:
 * the sums of a trace point, agreement on when to stop, and the rows that one process writes to a file.
 * One process that holds all agents is a world, too. Problems of plug-ins see it; most need only `here`.
 *
 * All functions of a world but saddle_world_has() and saddle_world_place() are collective: every process
 * calls them, in the same order and with the same sizes.
 */
#ifndef SADDLE_WORLD_H
#define SADDLE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The processes that share the agents. */
typedef struct saddle_world saddle_world;
struct saddle_world {
    size_t rank;        /**< This process, from 0. Rank 0 writes the files. */
    size_t ranks;       /**< How many there are. */
    size_t agents;      /**< Agents of them all. */
    size_t local;       /**< Agents of this process: at least 1, unless there are none at all. */
    const size_t *here; /**< Their numbers, ascending. */
    const size_t *home; /**< The rank of every agent. */

    /** words[k] becomes its sum over processes. */
    void (*add_words)(const saddle_world *world, size_t count, int64_t *words);
    /** values[k], which must not be NaN, becomes its largest over processes. */
    void (*largest)(const saddle_world *world, size_t count, double *values);
    /** All processes get the block of process `from`. */
    void (*share)(const saddle_world *world, size_t from, size_t bytes, void *block);
    /** Process `to` gets the block of process `from`, in the order of calls. Called by these two; the
     * others need not. */
    void (*carry)(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block);
    /** Processes on this machine, this one among them; 0 counts as 1. */
    size_t together;
    const struct saddle_world_class *kind; /**< The library's. */
};

/** An agent's contribution to a sum. Called where the agent is. */
typedef void saddle_world_term(void *context, size_t agent, double *out);

/** Whether an agent is in this process. */
SADDLE_API bool saddle_world_has(const saddle_world *world, size_t agent);
/** The place of an agent of this process among world->here. */
SADDLE_API size_t saddle_world_place(const saddle_world *world, size_t agent);

/**
 * Learn how a step went everywhere: SADDLE_OK when it went well in all processes; otherwise the status
 * and error of the lowest rank that failed, the same in all of them, which names the rank unless
 * all failed. Whatever can fail in one
 * process alone ends with this, lest the others wait for ever.
 */
SADDLE_API saddle_status saddle_world_agree(const saddle_world *world, saddle_status status,
                                            saddle_error *error);
/** out[k] = sum over agents, in the order of their numbers, of their contributions; the same bits in
 * every process and in every world. */
SADDLE_API saddle_status saddle_world_sum(const saddle_world *world, size_t size,
                                          saddle_world_term *term, void *context, double *out,
                                          saddle_error *error);
/** All processes get every agent's numbers: `width` doubles per agent, filled in for those here. For
 * a few numbers per agent, never for vectors. */
SADDLE_API void saddle_world_fill(const saddle_world *world, size_t width, double *numbers);

/** The exit code of a job that ends because a process does not respond. */
#define SADDLE_EXIT_STALLED 5

/**
 * Initialise MPI for MPI_THREAD_MULTIPLE, unless the program has done so, with at least
 * MPI_THREAD_FUNNELED. The engine `mpi` does this when an instance is made; call it only to know the rank
 * earlier. Worlds of several processes are for the thread that initialised MPI.
 *
 * With MPI_THREAD_MULTIPLE in all processes, a thread of each notices processes that are stopped (the
 * option stall-seconds), from the first instance until MPI_Finalize(): it prints which, and ends the job
 * by MPI_Abort() with SADDLE_EXIT_STALLED. With less, a run warns that it cannot.
 * @param[out] rank  this process, from 0. SADDLE_UNSUPPORTED in a build without MPI.
 */
SADDLE_API saddle_status saddle_mpi_init(size_t *rank, saddle_error *error);
/**
 * Finalize MPI if it is at work: the last thing that a program does with the engine `mpi`, unless
 * it initialised MPI itself and will finalize it itself. Does nothing without MPI.
 * @param failed  whether this process ends with an error. Others may not know: if they do not end,
 *                too, within seconds, MPI is left as it is, and ending without it makes whoever
 *                started the job end them.
 */
SADDLE_API void saddle_mpi_finalize(bool failed);

#ifdef __cplusplus
}
#endif
#endif
