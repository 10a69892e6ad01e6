/* Options that several algorithms share, so that each is described once. */
#ifndef SADDLE_ALGORITHMS_STEP_OPTIONS_H
#define SADDLE_ALGORITHMS_STEP_OPTIONS_H

#include <saddle/plan.h>

extern const saddle_option saddle_option_steps;
extern const saddle_option saddle_option_nu;
extern const saddle_option saddle_option_eta;
extern const saddle_option saddle_option_tau;
extern const saddle_option saddle_option_alpha;
extern const saddle_option saddle_option_q;
extern const saddle_option saddle_option_batch;
extern const saddle_option saddle_option_sampling;
extern const saddle_option saddle_option_eta_x;
extern const saddle_option saddle_option_eta_y;
extern const saddle_option saddle_option_epsilon;
extern const saddle_option saddle_option_c_gamma;
extern const saddle_option saddle_option_c_epsilon;

/* All of them, NULL-terminated: they fill saddle_plan::steps. */
extern const saddle_option *const saddle_step_options[];

#endif
