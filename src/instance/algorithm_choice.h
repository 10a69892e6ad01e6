/* The algorithm that a plan or a text names: the caller's own, a built-in one, or a plug-in's. */
#ifndef SADDLE_INSTANCE_ALGORITHM_CHOICE_H
#define SADDLE_INSTANCE_ALGORITHM_CHOICE_H

#include <saddle/plan.h>

#include "files/plugin.h"

/* The most options of the plan that an algorithm reads. */
#define SADDLE_MOST_PLAN_OPTIONS 32

typedef struct saddle_algorithm_choice {
    const saddle_algorithm *algorithm;
    const char *text; /* what saddle_plan::algorithm.name is for it: a name, or PATH:OPTIONS */
    char *owned;      /* memory of the text */
    saddle_plugin_object *plugin; /* NULL: not a plug-in */
    /* What `algorithm` points to for a plug-in, with the options of the plan alone, and for an algorithm
     * without a table of options, with an empty one. */
    saddle_algorithm loaded;
    const saddle_option *option[SADDLE_MOST_PLAN_OPTIONS + 1];
} saddle_algorithm_choice;

/* Find an algorithm by its name, or load the shared object that a text names. Free with
 * saddle_algorithm_release(), after every run of it. */
saddle_status saddle_algorithm_open(saddle_algorithm_choice **out, const char *text,
                                    saddle_error *error);
/* The algorithm of a plan. */
saddle_status saddle_algorithm_choose(saddle_algorithm_choice **out, const saddle_plan *plan,
                                      saddle_error *error);
/* NULL is allowed. */
void saddle_algorithm_release(saddle_algorithm_choice *choice);
/* Fill the fields of a plug-in's own options in its parameters, which live at most as long as the choice;
 * options of other algorithms have settings. */
saddle_status saddle_algorithm_read_options(const saddle_algorithm_choice *choice, void *parameters,
                                            saddle_error *error);

#endif
