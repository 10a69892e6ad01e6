/* The output of `saddle run`: a header, rows or a progress line, a summary. */
#pragma once

#include "cli.h"
#include "draw/trace_list.h"

/* The display of a run. */
typedef struct run_display {
    const saddle_problem_class *kind; /* the class of the problem */
    const saddle_plan *given;         /* the plan as the user gave it */
    bool scores;                      /* whether its model scores rows */
    bool quiet;                       /* print neither header nor summary */
    bool table;                       /* print rows */
    bool gaps;                        /* some rows before the last one have a gap */
    cli_meter meter;                  /* for a terminal */
    char resumed[TRACE_PATH];         /* the checkpoint that the run resumed from; "": none */
    uint64_t start;                   /* the first iteration */
    uint64_t stride;                  /* print every stride-th row */
    uint64_t ifo_stride;              /* or a row every this many IFO calls; 0: use the stride */
    uint64_t seen;                    /* rows so far */
    uint64_t printed;                 /* iteration of the last printed row; UINT64_MAX: none */
    uint64_t printed_ifo;             /* its IFO calls */
} run_display;

/* Hooks of a run that is displayed. The display must outlive the run. */
saddle_hooks run_display_hooks(run_display *d);
/* Prints the last row and the summary, and returns the exit code. */
int run_display_end(run_display *d, const saddle_result *result);
/* Prints the summary of a run; `scores`: its model scores rows. */
void run_display_summary(const saddle_result *result, bool scores);
/* Returns whether the reason why a run ended comes with a remedy, in result->remedy. */
bool run_display_is_advised(const saddle_result *result);
/* Writes what to try if a run has not solved its problem: "raise --iterations, or try --algorithm precision". */
void run_display_remedy(const saddle_result *result, char *out, size_t size);
/* Prints the object of --json; `report` is the page that was written, or NULL. */
void run_display_json(const run_display *d, const cli_command *command,
                      const saddle_instance *instance, const saddle_result *result,
                      const char *report);
