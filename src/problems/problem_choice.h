/* A kind of problem by its name, or from the shared object at a path. */
#ifndef SADDLE_PROBLEMS_PROBLEM_CHOICE_H
#define SADDLE_PROBLEMS_PROBLEM_CHOICE_H

#include "files/plugin.h"

/* A zeroed struct has no kind and needs no release. */
typedef struct saddle_problem_choice {
    const saddle_problem_class
        *kind; /* its options are those that have a setting: a plug-in's have not */
    saddle_plugin_object *plugin; /* NULL: built in */
    saddle_problem_class loaded;  /* what `kind` points to for a plug-in */
} saddle_problem_choice;

/* Find or load what a text names. Release it after every problem made from it. */
saddle_status saddle_problem_choose(saddle_problem_choice *out, const char *text,
                                    saddle_error *error);
void saddle_problem_release(saddle_problem_choice *choice);

/* Fill the struct of a plug-in's options from the text; it lives as long as the choice. */
saddle_status saddle_problem_read_options(const saddle_problem_choice *choice, void *options,
                                          saddle_error *error);
/* Free a problem of saddle_problem_make(), or another in saddle_alloc() memory. NULL is allowed. */
void saddle_problem_free(saddle_problem *problem);
/* Make a problem: zeros that begin with a copy of what its class's instances have in common, completed by
 * init(). Free with saddle_problem_free(). */
saddle_status saddle_problem_make(const saddle_problem_choice *choice, saddle_problem **out,
                                  const saddle_problem_inputs *inputs, saddle_error *error);

#endif
