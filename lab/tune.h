/* The parts of a search for good options, for the files of this directory. */
#pragma once

#include <saddle/lab.h>

#include "core/base.h"
#include "files/file.h"
#include "instance/same_run.h"
#include "run/run.h"

/* ---- options with listed values, and the problems that they make: tune_search.c ---- */

/* The most options with listed values. */
#define SADDLE_TUNE_MOST_LISTED 8

typedef struct saddle_tune_axis {
    const saddle_option *option;
    size_t count;
    char (*value)[SADDLE_TUNE_TEXT];
} saddle_tune_axis;

typedef struct saddle_tune_axes {
    size_t count;
    saddle_tune_axis axis[SADDLE_TUNE_MOST_LISTED];
    bool changes_problem; /* whether one of them is an option of the problem */
} saddle_tune_axes;

/* Reads saddle_tune_inputs::search. `hooks` may be NULL. */
saddle_status saddle_tune_read_search(saddle_tuning *tuning, const char *text,
                                      const saddle_plan *plan, const saddle_problem_choice *problem,
                                      const saddle_tune_hooks *hooks, saddle_error *error);
/* Reads the list of options that are not searched; refuses a word that is not an option, and an
 * option with listed values. */
saddle_status saddle_tune_read_hold(saddle_tuning *tuning, const char *text,
                                    const saddle_plan *plan, saddle_error *error);
/* The listed values of an option, or NULL. */
const saddle_tune_axis *saddle_tune_listed(const saddle_tune_axes *axes,
                                           const saddle_option *option);
/* Frees the axes. NULL is allowed. */
void saddle_tune_axes_free(saddle_tune_axes *axes);

/* The instance of the default settings, and that of the last candidate with another problem. */
typedef struct saddle_tune_instances {
    const saddle_instance *given;
    saddle_instance *made; /* NULL: none yet. To be freed */
    size_t candidate;      /* the candidate that it belongs to */
} saddle_tune_instances;

/* The instance that a candidate runs on, until the next call. Collective. */
saddle_status saddle_tune_instance(saddle_tune_instances *list, const saddle_tuning *tuning,
                                   size_t candidate, const saddle_instance **out,
                                   saddle_error *error);

/* ---- candidates: tune_grid.c ---- */

/* What candidates are chosen for. */
typedef struct saddle_tune_space {
    const saddle_instance *instance;
    const saddle_plan *plan;  /* of the search */
    saddle_forecast forecast; /* of the default */
    saddle_plan centre;       /* of the grid */
} saddle_tune_space;

/*
 * Chooses the candidates: number 0 is the default, the others are points of the grid, all of them
 * or a seeded choice of `most` in total. Candidates that share a problem have consecutive numbers.
 * Points at which a value is out of its option's range, or at which iterates might leave X or Y
 * although the default's cannot, are left out. Fills in option, option_count, candidates and value.
 */
saddle_status saddle_tune_choose(saddle_tuning *tuning, const saddle_tune_space *space, size_t most,
                                 saddle_error *error);
/* Fills in the plan around which the grid lies: the default, or practical steps if a paper's rule
 * is far from them. */
saddle_status saddle_tune_centre(saddle_tune_space *space, saddle_error *error);
/* The most candidates: the default and the points of the grid. */
saddle_status saddle_tune_grid_size(saddle_tuning *tuning, const saddle_tune_space *space,
                                    size_t *out, saddle_error *error);
/* Sets the values of a candidate in a plan; number 0 leaves it unchanged. */
saddle_status saddle_tune_apply(const saddle_tuning *tuning, size_t candidate, saddle_plan *plan,
                                saddle_error *error);

/* ---- the objective: tune_result.c ---- */

/* Whether a name is not a column that every trace has. NULL: the metric. */
bool saddle_tune_is_outcome(const char *objective);
/* Finds the column that the inputs name. Collective; it may fail in one process only. */
saddle_status saddle_tune_objective(saddle_outcome_column *out, const saddle_instance *instance,
                                    const char *name, saddle_error *error);
/* Refuses an objective that cannot compare the candidates: losses and metrics of different
 * problems are not comparable, and an outcome on training rows prefers the problem that fits
 * them most closely. */
saddle_status saddle_tune_check_objective(const saddle_tuning *tuning,
                                          const saddle_instance *instance, saddle_error *error);
/* Whether the objective is what is attained for certain: Q(xbar) and what y and the agents lack. It is the gap times
 * its scale, up to the smallest Q, which is the same for all candidates. */
bool saddle_tune_is_attained(const saddle_tuning *tuning);
/* The value of the objective in a row of a result; what agents lack is measured in the last one. */
double saddle_tune_value(const saddle_tuning *tuning, const saddle_result *result, size_t row);
/* The cost to minimize: the trial's value or minus it; infinite if it diverged. */
double saddle_tune_cost(const saddle_tuning *tuning, const saddle_trial *trial);

/* ---- the log: tune_log.c ---- */

/* The effects of settings that cannot change the result of a search: threads, limits, outputs. */
#define SADDLE_TUNE_IGNORED                                                     \
    (SADDLE_EFFECTS(ENGINE) | SADDLE_EFFECTS(LENGTH) | SADDLE_EFFECTS(OUTPUT) | \
     SADDLE_EFFECTS(RECORD))

/* The log of evaluations, and those that it had before. */
typedef struct saddle_tune_log {
    const char *path;     /* NULL: no log. Borrowed */
    saddle_lines lines;   /* in process 0 */
    saddle_trial *trials; /* read from the file */
    size_t count;
} saddle_tune_log;

/* Opens a log; an incomplete line at its end is cut off. Process 0 has the file; all get its
 * evaluations. Collective. */
saddle_status saddle_tune_log_open(saddle_tune_log *log, const saddle_tune_space *space,
                                   const saddle_tuning *tuning, const saddle_tune_inputs *inputs,
                                   saddle_error *error);
/* Appends an evaluation. If this process has the file, it is on disk when this returns. */
saddle_status saddle_tune_log_write(saddle_tune_log *log, const saddle_tuning *tuning,
                                    const saddle_trial *trial, saddle_error *error);
/* Closes the log. Safe on a zeroed struct. */
void saddle_tune_log_close(saddle_tune_log *log);

/* ---- the result: tune_result.c ---- */

/* For qsort() of trials: the better value first, then the smaller candidate number. */
int saddle_trial_order(const void *a, const void *b);
/* Orders the candidates by the rung they reached, then by their values. */
saddle_status saddle_tuning_rank(saddle_tuning *tuning, saddle_error *error);
SADDLE_RELEASES(saddle_tuning, saddle_tuning_free)
