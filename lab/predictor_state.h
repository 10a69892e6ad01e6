/* A saved model in memory, for predictor.c, which loads it, and predictor_use.c. */
#pragma once

#include <saddle/lab.h>

#include "instance/plan.h"
#include "problems/problem_choice.h"

struct saddle_predictor {
    char *path;
    saddle_plan plan; /* of the run that made the model */
    size_t agents;
    /* Without copies. Its settings are cut into pieces, and its y is NaN for a problem whose y belongs to
     * samples. */
    saddle_saved_model *model;
    saddle_dataset *row;    /* one row of zeros, a substitute for an agent's samples */
    saddle_dataset **shard; /* the row, repeated for every agent */
    size_t *samples;        /* 1, for every agent */
    saddle_graph *graph;
    saddle_mixing *mixing;
    saddle_world *world;
    saddle_problem_choice choice;
    saddle_problem_inputs inputs;
    void *options;           /* the problem class's options struct */
    double *class_label;     /* of the problem's classes */
    saddle_columns *columns; /* of the training data; NULL: they had no names */
    saddle_problem *problem;
};
SADDLE_RELEASES(saddle_predictor, saddle_predictor_free)
