/* Gradient descent ascent with full gradients or mini-batches: what GDA and SGDA share. */
#ifndef SADDLE_ALGORITHMS_FAMILY_GDA_H
#define SADDLE_ALGORITHMS_FAMILY_GDA_H

#include "algorithms/descent_ascent.h"

typedef struct saddle_gda_parameters {
    saddle_two_steps steps;
    bool full; /* all samples in every iteration */
} saddle_gda_parameters;

/* Parameters with the steps of Lin, Jin, Jordan 2020 where none are given. */
void saddle_gda_configure(saddle_gda_parameters *parameters, saddle_configuration *configuration,
                          bool full);

/* For saddle_algorithm's layout, start, phases and view. */
void saddle_gda_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out);
void saddle_gda_start(saddle_agent *agent, const double *x0, const double *y0);
extern const saddle_phase saddle_gda_phases[];
void saddle_gda_view(const saddle_agent *agent, saddle_view *out);

#endif
