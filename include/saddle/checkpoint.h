/**
 * @file checkpoint.h
 * @brief Checkpoints: a run's whole state in a file, from which it goes on bit for bit.
 *
 * The settings `checkpoint` and `checkpoint-every` make a run write them, `resume` makes it go on
 * from one:
 *
 *     saddle_settings_set(settings, "resume", "my-checkpoints", &error);
 *     saddle_settings_resume(settings, NULL, &error);   // the settings of the run that wrote it
 *     saddle_experiment_create(&experiment, settings, NULL, &error);
 *     saddle_experiment_run(experiment, NULL, NULL, &result, &error);
 *
 * A checkpoint does not say how many threads or processes ran the agents, or which engine did: any
 * other can go on from it.
 */
#ifndef SADDLE_CHECKPOINT_H
#define SADDLE_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include <saddle/plan.h>
#include <saddle/status.h>
#include <saddle/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a checkpoint says of itself. */
typedef struct saddle_checkpoint_info {
    uint64_t iteration; /**< Where the run goes on. */
    uint64_t bytes;     /**< Size of the file. */
    double seconds;     /**< Spent iterating so far. */
    size_t rows;        /**< Rows of the trace so far. */
    size_t agents;      /**< m; 1 for a centralized algorithm. */
    char version[32];   /**< Of the library that wrote it. */
} saddle_checkpoint_info;

/**
 * Where a checkpoint of a directory is.
 * @param[out] path  free it; NULL when there are not so many, or on failure.
 * @param      age   0: the newest, 1: the one before it, ... by their names; they are not opened.
 */
SADDLE_API saddle_status saddle_checkpoint_find(char **path, const char *directory, size_t age,
                                                saddle_error *error);
/** The newest whole checkpoint of a directory, every byte of it checked. SADDLE_BAD_INPUT, with the
 * reason, when there is none. Free the result. */
SADDLE_API saddle_status saddle_checkpoint_newest(char **path, const char *directory,
                                                  saddle_error *error);
/**
 * Check every byte of a checkpoint and say what it is. What is torn, damaged, of another format or
 * no checkpoint at all is refused with the reason.
 * @param[out] plan  the plan of the run that wrote it; NULL: not wanted. Free with saddle_plan_free().
 */
SADDLE_API saddle_status saddle_checkpoint_examine(const char *path, saddle_checkpoint_info *out,
                                                   saddle_plan *plan, saddle_error *error);

/**
 * Take over the plan of the run that is to be resumed: whatever was given to it and is not given in
 * `plan`, and its directory for further checkpoints. The engine and its threads are not taken over.
 * Nothing happens when plan->outputs.resume asks for nothing.
 * @param plan   replaced on success.
 * @param world  the processes of the run, whose rank 0 reads the checkpoint and tells the others;
 *               collective. NULL: this one is alone.
 */
SADDLE_API saddle_status saddle_plan_resume(saddle_plan *plan, const saddle_world *world,
                                            saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
