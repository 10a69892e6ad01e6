/* The options of PRECISION-auto. */
#include "algorithms/algorithms.h"
#include "algorithms/precision_auto.h"
#include "algorithms/step_options.h"

#define GROUP "PRECISION-auto"

static const saddle_search noise_search = {.name = "noise-share", .low = -2, .high = 2};
static const saddle_search share_search = {.name = "step-share", .low = -2, .high = 2};

const saddle_option saddle_option_noise =
    SADDLE_STEP(SADDLE_OWN(saddle_auto_parameters, noise, RUN), "noise-share", GROUP, "0.3",
                SADDLE_UNBOUNDED, &noise_search, "SHARE",
                "The largest variance of the error of gradient estimates, relative to the squared "
                "movement. Smaller: more samples, and fewer iterations.");

const saddle_option saddle_option_share = SADDLE_STEP(
    SADDLE_OWN(saddle_auto_parameters, share, RUN), "step-share", GROUP, "0.1", 1.0, &share_search,
    "SHARE",
    "Steps in x times the curvature that was measured along the path. Smaller: shorter steps.");

const saddle_option saddle_option_hessian = SADDLE_CHOICE(
    SADDLE_OWN(saddle_auto_parameters, hessian, RUN), "hessian", GROUP, "auto",
    "auto|full|diagonal|none", "KIND",
    "What is measured of the Hessian in x before the run, by sums over all agents: all entries, "
    "the diagonal or nothing. auto: all, up to 1024 columns and without a regularizer.");

static const saddle_option without = SADDLE_CHOICE(
    SADDLE_OWN(saddle_auto_parameters, without, RUN), "without", GROUP, "none",
    "none|extrapolation|mixing|bound", "PART",
    "Switches a part off, to see what it does: the extrapolation in y, the rounds that "
    "only mix, or the bound of steps after the gradient has grown.");

const saddle_option *const saddle_auto_options[] = {&saddle_option_nu,
                                                    &saddle_option_eta,
                                                    &saddle_option_alpha,
                                                    &saddle_option_noise,
                                                    &saddle_option_share,
                                                    &saddle_option_hessian,
                                                    &without,
                                                    NULL};
