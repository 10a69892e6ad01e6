/* What a card computes in a run; its memory: how much it is, taking it, and the tables that are copied to it once. */
#ifndef SADDLE_ENGINES_CUDA_TABLES_H
#define SADDLE_ENGINES_CUDA_TABLES_H

#include "algorithms/device_steps.h"
#include "engines/cuda/card.h"
#include "engines/local_agents.h"
#include "problems/device_problem.h"

/* Describes the algorithm and the problem of a run, or refuses what there is no code for. */
saddle_status saddle_card_describe(const saddle_local *local, saddle_device_steps *steps,
                                   saddle_device_problem *problem, saddle_error *error);

/* What tables are made from. */
typedef struct saddle_card_inputs {
    const saddle_card_module *module;
    saddle_card *card;
    const saddle_local *local;
    const saddle_device_steps *steps;
    const saddle_device_problem *problem;
} saddle_card_inputs;

/* Fills in a plan and takes its memory. Fails if it does not fit, before anything is taken. */
saddle_status saddle_card_prepare(saddle_card_plan *out, const saddle_card_inputs *inputs,
                                  saddle_error *error);

#endif
