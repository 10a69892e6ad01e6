/* A run at work, for the files of this folder. */
#ifndef SADDLE_RUN_RUN_H
#define SADDLE_RUN_RUN_H

#include <saddle/run.h>

#include "checkpoint/checkpoint.h"
#include "engines/engine.h"
#include "graph/link_model.h"
#include "instance/algorithm_choice.h"
#include "instance/instance.h"
#include "observe/observer.h"
#include "observe/outcomes.h"
#include "observe/trace.h"

/* COLUMN>=NUMBER and the like. */
typedef struct saddle_stop_condition {
    char column[sizeof((saddle_outcome_column *)0)->name];
    size_t place; /* among the columns of the trace, then outcomes */
    bool upper;   /* whether the bound is one from above */
    bool strict;
    double bound;
} saddle_stop_condition;

/* Rules that end a run by what is measured. */
typedef struct saddle_stop_rules {
    saddle_stop_condition when;
    bool outcomes; /* whether they need outcomes */
    size_t on;     /* the outcome of stop-after */
} saddle_stop_rules;

typedef struct saddle_run_state {
    saddle_run_info info;
    const saddle_hooks *hooks; /* never NULL */
    saddle_plan given;         /* the plan of this run; owned */
    saddle_algorithm_choice *choice;
    saddle_instance *pooled; /* for a centralized algorithm; owned */
    void *parameters;
    saddle_layout layout;
    saddle_link_model *link_model; /* NULL: none */
    saddle_engine *engine;
    saddle_observer *observer;
    saddle_trace_writer *trace;
    saddle_outcomes *outcomes; /* NULL: the problem has none */
    saddle_result *result;
    uint64_t trace_every;
    uint64_t trace_ifo; /* a trace point also every this many IFO calls; 0: no */
    uint64_t last_check;
    unsigned level; /* of compressed messages: the highest that a warning was about */
    saddle_stop_rules rules;
    saddle_resumption resumed;        /* where the run resumes from */
    saddle_checkpoint_writer *writer; /* NULL: no checkpoints */
    saddle_row row; /* the last one; after advance() that of the present iteration */
    double outcome[SADDLE_MOST_OUTCOME_COLUMNS]; /* its outcomes; NaN: not measured */
    double seconds;                              /* spent iterating, as all processes know */
    double unshared;                             /* more of them, which only this process knows */
    saddle_run_times times;
    double begin;     /* when this process began */
    bool interrupted; /* whether a process was, as all know */
    bool alone;       /* whether no other run shares the plan */
} saddle_run_state;

/* Learn how a step went in all processes. */
static inline saddle_status saddle_run_agree(const saddle_run_state *r, saddle_status status,
                                             saddle_error *error)
{
    return saddle_world_agree(r->info.network->world, status, error);
}

/* Call the warning hook. */
void saddle_run_warn(const saddle_run_state *r, const char *message);

/* saddle_run(); `alone`: options of the plan that this run does not use are reported. Runs of
 * other algorithms that share the plan may use them. */
saddle_status saddle_run_of_several(const saddle_instance *instance, const saddle_plan *plan,
                                    bool alone, const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error);

/* ---- setup.c ---- */

/* Copies a plan to r->given. A budget of IFO calls alone ends a run whose iterations are not
 * given. */
saddle_status saddle_run_take_plan(saddle_run_state *r, const saddle_plan *plan,
                                   saddle_error *error);
/* Bring agents and observer to where the run begins. Collective. */
saddle_status saddle_run_prepare(saddle_run_state *r, saddle_error *error);
/* Free everything but the result. */
void saddle_run_release(saddle_run_state *r);

/* What the engine is made from, but for a state to resume from. */
saddle_engine_inputs saddle_run_engine_inputs(const saddle_run_state *r);

/* Trace points of a run when the user does not say. */
#define SADDLE_DEFAULT_POINTS 200

/* ---- link_checks.c ---- */

/* Refuse links and churn that the algorithm cannot run on. */
saddle_status saddle_run_check_links(const saddle_run_state *r, saddle_error *error);

/* ---- run_memory.c ---- */

/* Refuse a run that cannot fit, before memory is taken for it. */
saddle_status saddle_run_check_memory(const saddle_run_state *r, saddle_error *error);

/* ---- effective.c ---- */

/* Fill in result->plan: the settings that matter to this run, with nothing left automatic. */
saddle_status saddle_run_effective(saddle_run_state *r, saddle_error *error);

/* ---- limits.c ---- */

/* Processes tell each other the time spent and whether one was interrupted, so that all decide
 * alike. */
void saddle_run_share_progress(saddle_run_state *r);
/* Why the run must end at the present iteration, or -1. */
int saddle_run_stop_reason(const saddle_run_state *r, uint64_t iteration, const saddle_cost *cost);
/* How far the engine may go before the loop looks again. */
saddle_limits saddle_run_limits(const saddle_run_state *r, uint64_t iteration, uint64_t target,
                                uint64_t ifo_target, const saddle_cost *cost);

/* ---- stop_rules.c ---- */

/* Read stop-when, stop-after and stop-on. */
saddle_status saddle_run_read_rules(saddle_run_state *r, saddle_error *error);
/* Find their columns, once outcomes are known. */
saddle_status saddle_run_resolve_rules(saddle_run_state *r, saddle_error *error);
/* Returns whether a row with these outcomes is better than the best of the rows before it, of
 * which there are `row`. */
bool saddle_run_gains(const saddle_run_state *r, size_t row, const double *outcomes);
/* Why the run ends at r->row, which has not been recorded yet; `stop`: for no reason of theirs. */
int saddle_run_apply_rules(const saddle_run_state *r, int stop);

/* ---- points.c ---- */

/* Measure into r->row. Sets *diverged when the metric or a loss is not finite. */
saddle_status saddle_run_measure(saddle_run_state *r, bool *diverged, saddle_error *error);
/* Measure the first row. A start where the losses are not finite is refused before anything is
 * written. */
saddle_status saddle_run_measure_start(saddle_run_state *r, saddle_error *error);
/* Measure the outcomes of r->row, at the ends of a run and where they are wanted at every row. */
saddle_status saddle_run_evaluate(saddle_run_state *r, bool last, saddle_error *error);
/* Check the state, if it is time to, and record r->row, unless nothing has moved since the last
 * row: a run may be interrupted while it measures. */
saddle_status saddle_run_record(saddle_run_state *r, bool last, saddle_error *error);
/* Make the present iterate, of which a row has just been measured, the result's solution. */
void saddle_run_keep_solution(saddle_run_state *r);

/* ---- compressed_run.c ---- */

/* Refuse to compress the messages of an algorithm that has no table of fields. */
saddle_status saddle_run_check_compression(const saddle_run_state *r, saddle_error *error);
/* Warn when compressed messages do not keep up. Collective. */
void saddle_run_warn_of_replicas(saddle_run_state *r);
/* Name the mixing rate as the cause of a divergence that has no other. */
void saddle_run_name_rate(const saddle_run_state *r, const saddle_fault *fault);

/* ---- divergence.c ---- */

/* The first agent with an entry that is not finite, or else the one with the largest entry.
 * Collective. */
saddle_status saddle_run_locate(saddle_run_state *r, saddle_fault *fault, saddle_error *error);
/* Writes to the result, and to `fault`, what is not finite where no agent's iterate is so large
 * that it explains it. Collective. */
saddle_status saddle_run_explain(saddle_run_state *r, saddle_fault *fault, saddle_error *error);
/* Refuse a starting point whose entries are so large that the losses there are not finite, and
 * name what makes them so. */
saddle_status saddle_run_refuse_start(const saddle_run_state *r, saddle_error *error);
/* Returns whether the metric, just measured, grows without bound. */
bool saddle_run_runs_away(const saddle_run_state *r);
/* End with SADDLE_STOP_DIVERGED; what diverged is found now if it is not known yet. */
saddle_status saddle_run_diverge(saddle_run_state *r, saddle_fault *fault, saddle_error *error);

/* ---- outputs.c ---- */

/* Open the files that this process writes. */
saddle_status saddle_run_open_files(saddle_run_state *r, saddle_error *error);
/* Record the rows that a resumed run has already. */
saddle_status saddle_run_recall_rows(saddle_run_state *r, saddle_error *error);
/* Write the last row of the result to the trace. One that cannot be written does not end the
 * run. */
saddle_status saddle_run_write_row(saddle_run_state *r, saddle_error *error);
/* Write the model. What goes wrong here costs the file alone. */
void saddle_run_save_model(saddle_run_state *r);
/* Close the files, and tell all processes whether they are complete. */
void saddle_run_close_files(saddle_run_state *r, saddle_status outcome);

/* ---- what can be said about a run without making it: setup.c ---- */

typedef struct saddle_forecast {
    saddle_plan plan;  /* the effective one; owned by the caller, freed with saddle_plan_free() */
    uint64_t most_ifo; /* IFO calls that an iteration, or the start, makes at most */
    bool feasible;     /* whether every iterate is sure to be in X and Y */
} saddle_forecast;

/* What refuses a run refuses here, and no IFO call is made. */
saddle_status saddle_run_forecast(const saddle_instance *instance, const saddle_plan *plan,
                                  saddle_forecast *out, saddle_error *error);

#endif
