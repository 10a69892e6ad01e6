/* What `saddle run` prints: a header, rows or a progress line, a summary. */
#ifndef SADDLE_CLI_RUN_DISPLAY_H
#define SADDLE_CLI_RUN_DISPLAY_H

#include "cli.h"
#include "lab/paths.h"

/* What is shown of a run. */
typedef struct run_display {
    const saddle_problem_class *kind; /* what is solved */
    const char *problem;              /* as the user names it */
    bool quiet;                       /* neither header nor summary is printed */
    bool table;                       /* rows are printed */
    cli_meter meter;                  /* for a terminal */
    char resumed[LAB_PATH];           /* the checkpoint it began from; "": none */
    uint64_t start;                   /* the iteration it began at */
    uint64_t trace_every;             /* iterations between rows */
    uint64_t stride;                  /* rows between printed ones */
    uint64_t ifo_stride;              /* IFO calls between them; 0: the stride counts */
    uint64_t seen;                    /* rows so far */
    uint64_t printed;                 /* iteration of the last printed row; UINT64_MAX: none */
    uint64_t printed_ifo;             /* its IFO calls */
} run_display;

/* "  NAME        TEXT", wrapped. */
void cli_print_field(const char *name, const char *format, ...) SADDLE_PRINTF(2, 3);
/* Hooks of a run that is shown. The display must outlive it. */
saddle_hooks run_display_hooks(run_display *d);
/* Print the summary and return the exit code. */
int run_display_end(run_display *d, const saddle_result *result);
/* Print the object of --json; `report` is the page that was written, or NULL. */
void run_display_json(const run_display *d, const cli_command *command,
                      const saddle_instance *instance, const saddle_result *result,
                      const char *report);

#endif
