/* The state of a run, and the functions by which the files of this folder work on it. */
#pragma once

#include <saddle/peer.h>
#include <saddle/run.h>

#include "checkpoint/checkpoint.h"
#include "engines/engine.h"
#include "graph/link_model.h"
#include "instance/algorithm_choice.h"
#include "instance/instance.h"
#include "observe/observer.h"
#include "observe/outcomes.h"
#include "observe/trace.h"

/* A condition such as COLUMN>=NUMBER. */
typedef struct saddle_stop_condition {
    char column[sizeof((saddle_outcome_column *)0)->name];
    size_t place; /* index of the column: those of the trace, then outcomes */
    bool upper;   /* whether the number is an upper bound */
    bool strict;
    double bound;
} saddle_stop_condition;

/* Rules that end a run depending on its measurements. */
typedef struct saddle_stop_rules {
    saddle_stop_condition when;
    double gap;    /* the largest gap at which one ends the run; 0: none does */
    bool outcomes; /* whether they need outcomes at every trace point */
    size_t on;     /* index of the outcome of stop-after */
} saddle_stop_rules;

typedef struct saddle_run_objective saddle_run_objective;

typedef struct saddle_run_state {
    saddle_run_info info;
    const saddle_hooks *hooks; /* never NULL */
    saddle_plan given;         /* the plan of this run; owned */
    saddle_algorithm_choice *choice;
    saddle_instance *pooled;         /* for a centralized algorithm; owned */
    saddle_run_objective *objective; /* NULL: it does not change during the run */
    void *parameters;
    saddle_layout layout;
    saddle_link_model *link_model; /* NULL: none */
    saddle_engine *engine;
    saddle_observer *observer;
    saddle_lines trace;        /* without a stream: no trace is written by this process */
    saddle_outcomes *outcomes; /* NULL: the problem has none */
    saddle_result *result;
    uint64_t trace_every; /* iterations between two trace points */
    uint64_t trace_ifo;   /* IFO calls after which there is one at the latest; 0: any number */
    bool early_points;    /* whether there are more early in the run, for a stop rule */
    uint64_t watch_every; /* iterations between two calls of saddle_run_watch() */
    bool grows;           /* whether it has seen growing iterates */
    bool gap_failed;      /* whether a gap could not be measured */
    bool last;            /* whether the limits end the run at the trace point being measured */
    uint64_t last_check;
    unsigned level; /* of compressed messages: the highest level that was warned of */
    saddle_stop_rules rules;
    saddle_resumption resumed;        /* where the run resumes from */
    saddle_checkpoint_writer *writer; /* NULL: no checkpoints */
    saddle_row row; /* the last row; after advance() that of the present iteration */
    double outcome[SADDLE_MOST_OUTCOME_COLUMNS]; /* its outcomes; NaN: not measured */
    double seconds;                              /* time spent iterating, known to all processes */
    double unshared;                             /* further time, known only to this process */
    saddle_run_times times;
    double begin;     /* when this process began */
    bool interrupted; /* whether a process was interrupted, known to all */
    bool alone;       /* whether no other run shares the plan */
} saddle_run_state;

/* Makes all processes agree on the outcome of a step: saddle_world_agree(). */
static inline saddle_status saddle_run_agree(const saddle_run_state *r, saddle_status status,
                                             saddle_error *error)
{
    return saddle_world_agree(r->info.network->world, status, error);
}

/* Calls the warning hook with a formatted message. */
#define saddle_run_warn(r, ...) saddle_warn((r)->hooks->warning, (r)->hooks->context, __VA_ARGS__)

/* Does what saddle_run() does. Warns of options of the plan that this run does not use only if
 * `alone`: runs of other algorithms that share the plan may use them. */
saddle_status saddle_run_of_several(const saddle_instance *instance, const saddle_plan *plan,
                                    bool alone, const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error);

/* ---- own_run.c: a run in which this process knows only its own agent ---- */

/* The outputs of the agent, and what it reports. */
typedef struct saddle_own_outputs {
    const char *trace; /* NULL: none */
    const char *model; /* NULL: none */
    const char *copy;  /* a second model; NULL: none */
    uint64_t every;    /* iterations between rows; 0: automatic */
    void (*row)(void *context, const saddle_own_row *row); /* NULL: none */
    void *context;
} saddle_own_outputs;

/*
 * Runs a plan on an instance whose world has one agent in each process. All processes set up together; then each goes
 * through the iterations with messages of neighbours only, measures what it can measure alone, and writes its own
 * files. `warning` may be NULL. Ends early when processes cannot communicate any more (saddle_world_check()), with that
 * reason.
 */
saddle_status saddle_run_own(const saddle_instance *instance, const saddle_plan *plan,
                             const saddle_own_outputs *outputs, saddle_warning *warning,
                             void *context, saddle_error *error);

/* ---- setup.c ---- */

/* Copies a plan to r->given. If iterations are not given but a budget of IFO calls is,
 * iterations become unlimited. */
saddle_status saddle_run_take_plan(saddle_run_state *r, const saddle_plan *plan,
                                   saddle_error *error);
/* Does everything before the first iteration: makes the engine, its agents and the observer.
 * Collective. */
saddle_status saddle_run_prepare(saddle_run_state *r, saddle_error *error);
/* Resets the step sizes that an algorithm does not read, so that its automatic steps do not depend on them. */
void saddle_run_reset_unread(const saddle_algorithm *algorithm, saddle_plan *plan);
/* Frees everything except the result. */
void saddle_run_release(saddle_run_state *r);

/* Returns whether a trace or checkpoint records the run's fingerprint, or is compared with it. */
bool saddle_run_is_identified(const saddle_run_state *r);
/* Returns the inputs of the engine, without a state to resume from. */
saddle_engine_inputs saddle_run_engine_inputs(const saddle_run_state *r);

/* ---- guarantee.c ---- */

/* Warns if the theory's steps, which are PRECISION's, have no guarantee in this run. */
void saddle_run_warn_of_no_guarantee(const saddle_run_state *r);

/* ---- trace_grid.c ---- */

/* How often a run looks for divergence, and the trace points of a run that is compared or has a stop rule. */
#define SADDLE_DENSE_POINTS 200

/* Chooses how often to measure: sets trace_every, trace_ifo, early_points and watch_every. */
void saddle_run_choose_points(saddle_run_state *r);
/* Finds the next trace point after r->row: it is reached with these iterations or these IFO calls. */
void saddle_run_next_point(const saddle_run_state *r, uint64_t *iteration, uint64_t *ifo);
/* Returns the iteration of the next saddle_run_watch(). */
uint64_t saddle_run_next_watch(const saddle_run_state *r);
/* Return the approximate cost of an average iteration, and of measuring a trace point with its outcomes, in doubles
 * that are read. */
double saddle_iteration_cost(const saddle_run_state *r);
double saddle_measure_cost(const saddle_run_state *r);
/* Returns the evaluations of the objective in a search for the gap of r->row: more after more iterations. */
int saddle_gap_evaluations(const saddle_run_state *r);

/* ---- objective.c ---- */

/* Makes the objective of a run whose agents leave and join; NULL if the problem does not depend on
 * who is present. */
saddle_status saddle_run_objective_create(saddle_run_objective **out,
                                          const saddle_instance *network, saddle_error *error);
/* Returns the bytes of the copies that are made once the network falls apart. */
double saddle_run_objective_bytes(const saddle_run_objective *objective);
/* Frees an objective. NULL is allowed. */
void saddle_run_objective_free(saddle_run_objective *objective);
/* Returns the instance with this objective, and the problem of every agent. Borrowed. */
const saddle_instance *saddle_run_objective_instance(const saddle_run_objective *objective);
const saddle_problem *const *saddle_run_objective_problems(const saddle_run_objective *objective);
/* Computes it for the state after `iteration` iterations, of `rounds` rounds each. Collective. */
saddle_status saddle_run_objective_begin(saddle_run_objective *objective, uint64_t iteration,
                                         unsigned rounds, saddle_error *error);
/* Applies the events that take effect in the engine's next iteration. Collective. */
saddle_status saddle_run_objective_advance(saddle_run_objective *objective, saddle_engine *engine,
                                           unsigned rounds, saddle_error *error);
/* Returns after how many iterations it must be called again. */
uint64_t saddle_run_objective_left(const saddle_run_objective *objective, uint64_t iteration,
                                   unsigned rounds);

/* ---- link_checks.c ---- */

/* Returns whether every agent is a process at its owner's. */
bool saddle_run_is_between_owners(const saddle_run_state *r);
/* Refuses links, churn and compression that the algorithm does not support. */
saddle_status saddle_run_check_links(const saddle_run_state *r, saddle_error *error);
/* Refuses noise on gradients in runs for which its accounting would not hold; says what it guarantees. */
saddle_status saddle_run_check_privacy(const saddle_run_state *r, saddle_error *error);
void saddle_run_warn_of_privacy(const saddle_run_state *r);
/* Warns if compressed messages cannot follow the iterates. Collective. */
void saddle_run_warn_of_replicas(saddle_run_state *r);
/* Warns if churn leaves the network in several parts. */
void saddle_run_warn_of_components(const saddle_run_state *r);
/* Warns if a run ends worse than it began. */
saddle_status saddle_run_warn_of_growth(const saddle_run_state *r, saddle_error *error);
/* Names the mixing rate as the cause of a divergence that has no other cause. */
void saddle_run_name_rate(const saddle_run_state *r, const saddle_fault *fault);
/* Warns of events of churn and changes of a schedule that come after the last iteration. */
void saddle_run_warn_of_late_events(const saddle_run_state *r);
/* Warns of a schedule that leaves the agents disconnected in half of the run or more, up to its end. */
saddle_status saddle_run_warn_of_separation(const saddle_run_state *r, saddle_error *error);

/* ---- run_memory.c ---- */

/* Refuses a run that needs more memory than there is, before it is allocated. */
saddle_status saddle_run_check_memory(const saddle_run_state *r, saddle_error *error);

/* ---- effective_plan.c ---- */

/* Fill in result->plan, the settings that matter to this run with nothing left automatic, and result->untuned. */
saddle_status saddle_run_effective(saddle_run_state *r, saddle_error *error);

/* ---- stop_rules.c ---- */

/* Parses stop-when, stop-after and stop-on. */
saddle_status saddle_run_read_rules(saddle_run_state *r, saddle_error *error);
/* Finds their columns, once the outcomes are known. */
saddle_status saddle_run_resolve_rules(saddle_run_state *r, saddle_error *error);
/* Returns whether a row with these outcomes is better than each of the first `row` rows. */
bool saddle_run_gains(const saddle_run_state *r, size_t row, const double *outcomes);
/* Returns why the run ends at r->row, which has not been recorded yet; `stop` if no rule ends
 * it. */
int saddle_run_apply_rules(const saddle_run_state *r, int stop);

/* ---- trace_points.c ---- */

/* Measures r->row. Sets *diverged if the metric or a loss is not finite. */
saddle_status saddle_run_measure(saddle_run_state *r, bool *diverged, saddle_error *error);
/* Measures the gap of r->row if this is the last row or every row has one; otherwise only if it is
 * compared with the level at which a rule ends the run. */
void saddle_run_measure_gap(saddle_run_state *r, bool last);
/* Measures the first row. Refuses a start at which the losses are not finite, before any file is
 * written. */
saddle_status saddle_run_measure_start(saddle_run_state *r, saddle_error *error);
/* Fails with the reason why the starting point, or a gradient there, is not finite. Collective. */
saddle_status saddle_run_explain_start(saddle_run_state *r, saddle_error *error);
/* Measures the outcomes of r->row, if they are measured at every row or this is the first or the
 * last. */
saddle_status saddle_run_evaluate(saddle_run_state *r, bool last, saddle_error *error);
/* Runs the self-checks, if they are due after `iteration` iterations or this is the end. */
saddle_status saddle_run_check(saddle_run_state *r, uint64_t iteration, bool last,
                               saddle_error *error);
/* Checks the state, if a self-check is due, and records r->row. Does not record an iteration
 * twice: a run may be interrupted while it measures. */
saddle_status saddle_run_record(saddle_run_state *r, bool last, saddle_error *error);
/* Makes the present iterate, whose row has just been measured, the result's solution. */
void saddle_run_keep_solution(saddle_run_state *r);

/* ---- divergence.c ---- */

/* What the task of saddle_run_search_agents() gets. */
typedef struct saddle_run_search {
    const saddle_run_state *run;
    double *found; /* `width` numbers per agent */
} saddle_run_search;

/* Lets a task record some numbers of every agent, and distributes them to all processes. Free them
 * with saddle_free(), even after a failure. Collective. */
saddle_status saddle_run_search_agents(const saddle_run_state *r, saddle_agent_task *task,
                                       size_t width, double **out, saddle_error *error);

/* Finds the first agent with an entry that is not finite, otherwise the agent with the largest
 * entry. Collective. */
saddle_status saddle_run_locate(saddle_run_state *r, saddle_fault *fault, saddle_error *error);
/* Records in the result and in `fault` what is not finite, unless an agent's iterate is so large
 * that it explains it. Collective. */
saddle_status saddle_run_explain(saddle_run_state *r, saddle_fault *fault, saddle_error *error);
/* Refuses a starting point whose entries are so large that the losses are not finite, and names
 * the option to change. */
saddle_status saddle_run_refuse_start(const saddle_run_state *r, saddle_error *error);
/* Looks for divergence between trace points, by the size of the iterates. If it grows, the metric decides. Leaves
 * r->row as it was unless the run has diverged. Collective. */
saddle_status saddle_run_watch(saddle_run_state *r, bool *diverged, saddle_error *error);
/* Returns whether the metric, just measured, grows without bound. */
bool saddle_run_runs_away(const saddle_run_state *r);
/* Ends the run with SADDLE_STOP_DIVERGED; finds what diverged if it is not known yet. */
saddle_status saddle_run_diverge(saddle_run_state *r, saddle_fault *fault, saddle_error *error);

/* ---- remedy.c ---- */

/* Writes which steps to change if they are too long; without automatic steps, those of the variable of a fault that is
 * farther off, or of both if its value is not finite. Collective. */
saddle_status saddle_run_name_steps(const saddle_run_state *r, const saddle_fault *fault, char *out,
                                    size_t size, saddle_error *error);

/* ---- stall.c ---- */

/* Changes result->stop to SADDLE_STOP_STALLED or SADDLE_STOP_OSCILLATES, and names the remedy, if a limit ends a run to
 * which this applies. Collective. */
saddle_status saddle_run_find_stall(saddle_run_state *r, saddle_error *error);
/* Returns one of these two, if it applies to one agent alone, and otherwise SADDLE_STOP_ITERATIONS; writes the remedy
 * of a stall. */
saddle_stop saddle_run_find_own_stall(const saddle_run_state *r, const saddle_agent *agent,
                                      char *remedy, size_t size);
/* Returns the number of bytes that it takes. */
double saddle_run_stall_bytes(size_t agents);

/* ---- trace_points.c: files ---- */

/* Opens the files that this process writes. */
saddle_status saddle_run_open_files(saddle_run_state *r, saddle_error *error);
/* Records the rows that a resumed run already has. */
saddle_status saddle_run_recall_rows(saddle_run_state *r, saddle_error *error);
/* Writes the model. A failure to write does not end the run. */
void saddle_run_save_model(saddle_run_state *r);
/* Closes the files, and tells all processes whether they are complete. */
void saddle_run_close_files(saddle_run_state *r, saddle_status outcome);

/* ---- setup.c: properties of a run that can be found without making it ---- */

typedef struct saddle_forecast {
    saddle_plan plan;  /* the effective plan; free with saddle_plan_free() */
    uint64_t most_ifo; /* largest number of IFO calls of an iteration or of the start */
    bool feasible;     /* whether every iterate is guaranteed to be in X and Y */
    /* saddle_run_info::fingerprint; 0 unless saddle_fingerprint_instance() was called before */
    uint64_t fingerprint;
} saddle_forecast;

/* Fails if a run would be refused; makes no IFO call. */
saddle_status saddle_run_forecast(const saddle_instance *instance, const saddle_plan *plan,
                                  saddle_forecast *out, saddle_error *error);
