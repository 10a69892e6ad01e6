/*
 * Checkpoints of a run: when they are written, and how a run resumes from one.
 *
 * A checkpoint is taken between two calls of the engine's advance(), before anything is measured at that
 * iteration, so its trace rows are those of earlier iterations. A run that resumes measures where the
 * original run would have.
 *
 * Rank 0 accesses the files. Agents' records are sent one at a time, in the order of agents: to rank 0
 * when a checkpoint is written, and from rank 0 to the agents' ranks when a run resumes.
 */
#pragma once

#include <saddle/run.h>

#include "checkpoint/checkpoint_file.h"
#include "core/base.h"
#include "instance/instance.h"
#include "observe/observer.h"

/* Returns the numbers that must be equal in a run and in the checkpoints that it resumes from: sizes,
 * and the fingerprint of the run, which does not depend on the placement of the agents. */
saddle_checkpoint_numbers saddle_checkpoint_measure(const saddle_run_info *info);

/* ---- state of the links: checkpoint_links.c -------------------------------------------------- */

/* Returns the number of 64-bit words in the links' state of all agents. */
uint64_t saddle_checkpoint_link_words(const saddle_run_info *info, const saddle_layout *layout);
/* The same of one agent, and the largest of them. */
size_t saddle_checkpoint_agent_words(const saddle_run_info *info, size_t agent);
size_t saddle_checkpoint_most_link_words(const saddle_run_info *info);
/* Sends the links' state of agent i, which is `agent` if it is in this process, to rank 0, which writes
 * it if `writer` is not NULL. `words` has capacity for it. Collective. */
void saddle_checkpoint_put_links(const saddle_run_info *info, saddle_engine *engine,
                                 const saddle_agent *agent, size_t i, uint64_t *words,
                                 saddle_checkpoint_stream *writer);

/* ---- directories: checkpoint_directory.c --------------------------------------------------- */

/* Returns the path of the checkpoint of an iteration; the caller frees it. */
char *saddle_checkpoint_path(const char *directory, uint64_t iteration);
/* Returns whether a file's name, without directories, is that of a checkpoint. */
bool saddle_is_checkpoint_name(const char *file);
/* Returns whether two paths name the same directory. */
bool saddle_same_directory(const char *a, const char *b);
/* Removes all checkpoints of a directory and what unfinished ones left, except the two given; either may be NULL. */
void saddle_checkpoint_prune(const char *directory, const char *newest, const char *older);

/* ---- resuming: resume.c ---------------------------------------------------------------------- */

/* A run that resumes. Zeroed: one that starts from the beginning. */
typedef struct saddle_resumption {
    saddle_checkpoint *from; /* NULL: nothing to resume from */
    char *refused;           /* why the newest checkpoint was skipped; NULL: it was not */
    const saddle_world *world;
    saddle_allocator allocator; /* of the blocks below */
    double *memory;             /* the observer's */
    saddle_row *rows;           /* of the trace so far */
    double *outcomes;           /* their outcomes */
    double *solution;           /* means of the best solution */
    uint64_t *record;           /* of this process's agents, in their order */
    size_t record_size;         /* 64-bit words of each */
    uint64_t *links;            /* the state of all agents' links; NULL: there is none */
    size_t *link_start;         /* where that of each agent begins */
} saddle_resumption;

/* ---- resume_checks.c ---- */

/* The run that a checkpoint must belong to. NULL: any. */
typedef struct saddle_resuming_run {
    const saddle_run_info *info;
    const saddle_checkpoint_numbers *number;
} saddle_resuming_run;

/* Checks that a checkpoint belongs to a run, by its version, settings, sizes and data. */
saddle_status saddle_resume_check(const saddle_checkpoint *c, const saddle_resuming_run *wanted,
                                  saddle_error *error);

/* ---- resume.c ---- */

/* Finds the checkpoint that the plan's `resume` names, and checks it as far as possible without the run.
 * Collective. */
saddle_status saddle_resume_open(saddle_resumption *out, const saddle_plan *plan,
                                 const saddle_world *world, saddle_error *error);
/* Sets the plan's directory for further checkpoints to that of the resumed one, unless the plan names one. */
saddle_status saddle_resume_directory(const saddle_resumption *resumption, saddle_plan *plan,
                                      saddle_error *error);
/* Fails if the checkpoint is of another run; otherwise reads the rest of it. Collective. */
saddle_status saddle_resume_load(saddle_resumption *resumption, const saddle_run_info *info,
                                 saddle_error *error);
/* Returns the bytes that a resumption takes until saddle_resume_forget(), in a process with `local` agents. */
double saddle_resume_bytes(const saddle_resumption *resumption, size_t local);
/* Returns the effective value of a setting of the checkpoint's run; "" when there is none. */
const char *saddle_resume_setting(const saddle_resumption *resumption, const char *name);
/* Returns whether that run was given the setting, rather than choosing it. */
bool saddle_resume_was_given(const saddle_resumption *resumption, const char *name);
/* Implements saddle_engine_inputs::link_record. */
const uint64_t *saddle_resume_links(void *resumption, size_t agent);
/* Restores an agent's state. Implements saddle_engine_inputs::restore. */
void saddle_resume_agent(void *resumption, saddle_agent *agent);
/* Copies the best solution so far, if the checkpoint has one, into the result. */
void saddle_resume_solution(const saddle_resumption *resumption, saddle_result *result);
/* Frees everything except the checkpoint's head. */
void saddle_resume_forget(saddle_resumption *resumption);
/* Frees everything. */
void saddle_resume_close(saddle_resumption *resumption);

/* ---- writing: checkpoint_writer.c --------------------------------------------------------------------- */

/* Writes the checkpoints of a run. */
typedef struct saddle_checkpoint_writer saddle_checkpoint_writer;

/* The contents of a checkpoint besides the agents. Borrowed for the call. */
typedef struct saddle_checkpoint_moment {
    double seconds;
    uint64_t last_check;
    uint64_t trace_ifo;
    const saddle_observer *observer;
    const saddle_result *result;
} saddle_checkpoint_moment;

/* Prepares the directory. *out is NULL when no checkpoints are wanted. Collective. */
saddle_status saddle_checkpoint_writer_create(saddle_checkpoint_writer **out,
                                              const saddle_run_info *info, saddle_engine *engine,
                                              const saddle_resumption *resumption,
                                              saddle_error *error);
/* Returns the bytes that a writer takes. */
double saddle_checkpoint_writer_bytes(const saddle_run_info *info, const saddle_layout *layout);
/* Frees a writer. NULL is allowed. */
void saddle_checkpoint_writer_free(saddle_checkpoint_writer *writer);
/* Limits the next advance() to end where a checkpoint is due. */
void saddle_checkpoint_writer_limit(const saddle_checkpoint_writer *writer, saddle_limits *limits);
/* Writes a checkpoint if one is due, and always at the end of the run. Returns SADDLE_IO if it could not
 * be written; the last one is kept. The failure is reported once until writing succeeds again, and
 * always at the end. Collective. */
saddle_status saddle_checkpoint_write_due(saddle_checkpoint_writer *writer,
                                          const saddle_checkpoint_moment *moment, bool last,
                                          saddle_error *error);
/* Returns the path of the newest checkpoint; NULL: none yet. Borrowed. */
const char *saddle_checkpoint_writer_newest(const saddle_checkpoint_writer *writer);
