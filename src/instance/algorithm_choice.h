/* The algorithm that a plan or a text names: the caller's own, a built-in one, or a plug-in's. */
#pragma once

#include <saddle/plan.h>

#include "files/plugin.h"
#include "graph/compression.h"

typedef struct saddle_algorithm_choice {
    const saddle_algorithm *algorithm;
    const char *text; /* a name, or PATH:OPTIONS: saddle_plan::algorithm.name or what auto means */
    const char *because; /* the option that decided against precision-auto; NULL: none */
    char *owned;         /* the memory of the text */
    char *completed;     /* the text with a plug-in's options that are given in the plan */
    char *name;  /* for a plug-in with options, such as walk-step=0.1; NULL: the algorithm's */
    char *title; /* for a plug-in with options, such as "Walk, step 0.1" */
    saddle_plugin_object *plugin; /* NULL: not a plug-in */
    /* What `algorithm` points to for a plug-in (with the name and title above) and for an algorithm
     * without a table of options (with an empty one). */
    saddle_algorithm loaded;
} saddle_algorithm_choice;

/* Finds an algorithm by its name, or loads it from the shared object that a text names. Free with
 * saddle_algorithm_release() after all its runs. */
saddle_status saddle_algorithm_open(saddle_algorithm_choice **out, const char *text,
                                    saddle_error *error);
/*
 * Finds the algorithm of a plan, like saddle_algorithm_open(). If the plan leaves it open, it is `recorded`, that of
 * the checkpoint from which a run resumes; without one (NULL) it is precision-auto, except that it is precision
 *
 * - if an option is given that precision has and precision-auto does not,
 * - if the compression (NULL: none) sends only some entries: the measured steps of precision-auto are too long for
 *   that to hold the agents together.
 */
saddle_status saddle_algorithm_choose(saddle_algorithm_choice **out, const saddle_plan *plan,
                                      const saddle_compression *compression, const char *recorded,
                                      saddle_error *error);
/* Cuts the next algorithm off a list such as gda,./mine.so:a=1,b=2: text after a comma that contains =
 * belongs to the plug-in before it. */
char *saddle_algorithm_next(char **rest);
/* Frees a choice. NULL is allowed. */
void saddle_algorithm_release(saddle_algorithm_choice *choice);
/* Returns saddle_plan::algorithm.name with the values of all of a plug-in's own options. Free
 * with saddle_free(); NULL if memory is short. */
char *saddle_algorithm_effective(const saddle_algorithm_choice *choice, const void *parameters);
/* Fills in a plug-in's own options in its parameters, whose texts live as long as the choice.
 * Does nothing for other algorithms, whose options are settings. */
saddle_status saddle_algorithm_read_options(const saddle_algorithm_choice *choice, void *parameters,
                                            saddle_error *error);
