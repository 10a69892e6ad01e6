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
    char *name;       /* of a plug-in with options: walk-step=0.1. NULL: that of the algorithm */
    char *title;      /* the same: Walk, step 0.1 */
    saddle_plugin_object *plugin; /* NULL: not a plug-in */
    /* What `algorithm` points to for a plug-in, with the options of the plan alone and the name and title above,
     * and for an algorithm without a table of options, with an empty one. */
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
/* What saddle_plan::algorithm.name is with the values of a plug-in's own options. To be freed with
 * saddle_free(); NULL when memory is short. */
char *saddle_algorithm_effective(const saddle_algorithm_choice *choice, const void *parameters);
/* Fill the fields of a plug-in's own options in its parameters, which live at most as long as the choice;
 * options of other algorithms have settings. */
saddle_status saddle_algorithm_read_options(const saddle_algorithm_choice *choice, void *parameters,
                                            saddle_error *error);

#endif
