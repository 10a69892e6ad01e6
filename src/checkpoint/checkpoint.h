/*
 * Checkpoints of a run: when they are written, and how a run resumes from one.
 *
 * A checkpoint is taken between two calls of the engine's advance(), before anything is measured
 * at that iteration: its rows are those of earlier iterations. The run that resumes from it measures
 * where the other one would have done.
 *
 * Rank 0 has the files. Agents' records travel in the order of agents, one at a time, to rank 0
 * when a checkpoint is written, and from it to their homes when a run goes on.
 */
#ifndef SADDLE_CHECKPOINT_CHECKPOINT_H
#define SADDLE_CHECKPOINT_CHECKPOINT_H

#include <saddle/run.h>

#include "checkpoint/checkpoint_file.h"
#include "instance/instance.h"
#include "observe/observer.h"

/* Fill in the numbers that must be equal in a run and in the checkpoints that it resumes from:
 * sizes, and a fingerprint of the data, the same for any placement of the agents. Collective. */
saddle_status saddle_checkpoint_measure(const saddle_run_info *info, saddle_checkpoint_numbers *out,
                                        saddle_error *error);

/* Refuse a checkpoint of a run that had an object in memory, such as rows, which this run does not have. */
saddle_status saddle_checkpoint_check_memory(const saddle_checkpoint *checkpoint,
                                             const saddle_run_info *info, saddle_error *error);

/* The value of a setting as checkpoints compare it: of a plug-in the contents of its file, not the path. To be
 * freed with saddle_free(); NULL when memory is short. */
char *saddle_checkpoint_value(const saddle_option *option, const char *text);

/* ---- what links remember: checkpoint_links.c ------------------------------------------------- */

/* Words of what links remember of all agents, and of the agent with the most. */
uint64_t saddle_checkpoint_link_words(const saddle_run_info *info, const saddle_layout *layout);
size_t saddle_checkpoint_most_link_words(const saddle_run_info *info);
/* Bring what links remember of agent i, which is `agent` where it is here, to rank 0, which writes it if `writer` is not
 * NULL. `words` has room for it. Collective. */
void saddle_checkpoint_put_links(const saddle_run_info *info, saddle_engine *engine,
                                 const saddle_agent *agent, size_t i, uint64_t *words,
                                 saddle_checkpoint_stream *writer);

/* ---- directories: checkpoint_directory.c --------------------------------------------------- */

/* Room for a directory's name with that of a checkpoint in it. */
char *saddle_checkpoint_path(const char *directory, uint64_t iteration);
/* Whether a file's name, without directories, is that of a checkpoint. */
bool saddle_is_checkpoint_name(const char *file);
/* Whether two names are those of one directory. */
bool saddle_same_directory(const char *a, const char *b);
/* Remove all checkpoints of a directory and what is left of unfinished ones, but for those two;
 * either may be NULL. */
void saddle_checkpoint_prune(const char *directory, const char *newest, const char *older);

/* ---- going on: resume.c -------------------------------------------------------------------- */

/* A run that goes on. Zeroed: one that begins at its start. */
typedef struct saddle_resumption {
    saddle_checkpoint *from; /* NULL: nothing to go on from */
    char *refused;           /* why the newest checkpoint was passed over; NULL: it was not */
    const saddle_world *world;
    double *memory;     /* the observer's */
    saddle_row *rows;   /* of the trace so far */
    double *outcomes;   /* their outcomes */
    double *solution;   /* means of the best solution */
    uint64_t *record;   /* of the agents here, in their order */
    size_t record_size; /* words of each */
    uint64_t **links;   /* per agent: what links remember of it; NULL where it is not needed */
} saddle_resumption;

/* Find what the plan's `resume` asks for, and check it as far as that is possible without the
 * run. Collective. */
saddle_status saddle_resume_open(saddle_resumption *out, const saddle_plan *plan,
                                 const saddle_world *world, saddle_error *error);
/* Name the directory of what is resumed for further checkpoints, unless the plan names one. */
saddle_status saddle_resume_directory(const saddle_resumption *resumption, saddle_plan *plan,
                                      saddle_error *error);
/* Refuse a checkpoint of another run, and read the rest of it. Collective. */
saddle_status saddle_resume_load(saddle_resumption *resumption, const saddle_run_info *info,
                                 saddle_error *error);
/* Bytes that this takes until saddle_resume_forget(), in a process with so many agents. */
double saddle_resume_bytes(const saddle_resumption *resumption, size_t local);
/* The iterations between two of its trace points. */
uint64_t saddle_resume_trace_every(const saddle_resumption *resumption);
/* At which of them outcomes are measured. */
saddle_outcome_points saddle_resume_outcomes(const saddle_resumption *resumption);
/* Read what links remember, for the agents here and their neighbours: checkpoint_links.c. Collective. */
saddle_status saddle_resume_load_links(saddle_resumption *resumption, const saddle_run_info *info,
                                       saddle_error *error);
/* See saddle_engine_inputs::link_record, with the resumption. */
const uint64_t *saddle_resume_links(void *resumption, size_t agent);
/* Bring an agent to where it was: saddle_engine_inputs::restore, with the resumption. */
void saddle_resume_agent(void *resumption, saddle_agent *agent);
/* Copy the best solution so far, if the checkpoint has one, into the result. */
void saddle_resume_solution(const saddle_resumption *resumption, saddle_result *result);
/* Free what it holds but the checkpoint's head. */
void saddle_resume_forget(saddle_resumption *resumption);
/* Free what it holds. */
void saddle_resume_close(saddle_resumption *resumption);

/* ---- writing: checkpoint_writer.c --------------------------------------------------------------------- */

/* Writes the checkpoints of a run. */
typedef struct saddle_checkpoint_writer saddle_checkpoint_writer;

/* What a checkpoint holds besides the agents. Borrowed for the call. */
typedef struct saddle_checkpoint_moment {
    double seconds;
    uint64_t last_check;
    uint64_t trace_ifo;
    const saddle_observer *observer;
    const saddle_result *result;
} saddle_checkpoint_moment;

/* Make the directory ready. *out is NULL, too, when no checkpoints are asked for. Collective. */
saddle_status saddle_checkpoint_writer_create(saddle_checkpoint_writer **out,
                                              const saddle_run_info *info, saddle_engine *engine,
                                              const saddle_resumption *resumption,
                                              saddle_error *error);
/* Bytes that a writer takes. */
double saddle_checkpoint_writer_bytes(const saddle_run_info *info, const saddle_layout *layout);
/* Free. NULL is allowed. */
void saddle_checkpoint_writer_free(saddle_checkpoint_writer *writer);
/* Let advance() end where a checkpoint is due. */
void saddle_checkpoint_writer_limit(const saddle_checkpoint_writer *writer, saddle_limits *limits);
/* Write a checkpoint if one is due, as always at the run's end. SADDLE_IO: it could not be written,
 * and the last one is still there; said once until it works again, and always at the end.
 * Collective. */
saddle_status saddle_checkpoint_write_due(saddle_checkpoint_writer *writer,
                                          const saddle_checkpoint_moment *moment, bool last,
                                          saddle_error *error);
/* The newest checkpoint; NULL: none yet. Borrowed. */
const char *saddle_checkpoint_writer_newest(const saddle_checkpoint_writer *writer);

#endif
