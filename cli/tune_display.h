/* The output of `saddle tune`: what is searched, progress, and the best candidates. */
#pragma once

#include "cli.h"
#include "validation.h"

/* The display of a search. */
typedef struct tune_display {
    bool quiet;
    const validation *rows; /* rows of the search, if the objective is an outcome */
} tune_display;

/* Capacity for the options of a candidate. */
#define TUNE_SETTINGS 1024
/* The options of a candidate, such as "--eta-x 0.1 --eta-y 0.3". */
const char *tune_settings_text(const saddle_tuning *tuning, size_t candidate,
                               char out[TUNE_SETTINGS]);
/* Hooks of a search that is displayed. The display must outlive the search. */
saddle_tune_hooks tune_display_hooks(tune_display *d, const volatile sig_atomic_t *interrupt);
/* Prints the best few candidates, and the default settings wherever they rank. */
void tune_print_ranking(const saddle_tuning *tuning);
