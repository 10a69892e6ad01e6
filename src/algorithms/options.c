#include "algorithms/options.h"

#include <float.h>

#define GROUP "Algorithm"

const saddle_option saddle_option_steps = {
    .name = "steps",
    .group = GROUP,
    .kind = SADDLE_OPTION_CHOICE,
    .fallback = "practical",
    .choices = "practical|theory",
    .metavar = "RULE",
    .help = "Where step sizes that are not given come from: 'practical' uses the paper's "
            "nu = eta = 0.1 and the defaults below, 'theory' the bounds of its Theorem 1."};

const saddle_option saddle_option_nu = {
    .name = "nu",
    .group = GROUP,
    .kind = SADDLE_OPTION_REAL,
    .fallback = "auto",
    .minimum = 0.0,
    .above_minimum = true,
    .maximum = 1.0,
    .metavar = "STEP",
    .help = "Step from x towards its proximal point. auto: 0.1, or the smallest M_ii if that is "
            "less, which keeps every iterate feasible."};

const saddle_option saddle_option_eta = {
    .name = "eta",
    .group = GROUP,
    .kind = SADDLE_OPTION_REAL,
    .fallback = "auto",
    .minimum = 0.0,
    .above_minimum = true,
    .maximum = 1.0,
    .metavar = "STEP",
    .help = "Step from y towards its projected point. auto: as for --nu."};

const saddle_option saddle_option_tau = {
    .name = "tau",
    .group = GROUP,
    .kind = SADDLE_OPTION_REAL,
    .fallback = "auto",
    .minimum = 0.0,
    .above_minimum = true,
    .maximum = DBL_MAX,
    .metavar = "WEIGHT",
    .help = "Weight of the proximal term in x: the gradient step is 1/tau. auto: 1."};

const saddle_option saddle_option_alpha = {.name = "alpha",
                                           .group = GROUP,
                                           .kind = SADDLE_OPTION_REAL,
                                           .fallback = "auto",
                                           .minimum = 0.0,
                                           .above_minimum = true,
                                           .maximum = DBL_MAX,
                                           .metavar = "STEP",
                                           .help = "Gradient step in y. auto: 1."};

const saddle_option saddle_option_q = {
    .name = "q",
    .group = GROUP,
    .kind = SADDLE_OPTION_INTEGER,
    .fallback = "auto",
    .minimum = 1.0,
    .maximum = 0x1p53,
    .metavar = "N",
    .help = "A refresh every N iterations. auto: ceil(sqrt(n)), n the largest local size."};

const saddle_option saddle_option_batch = {
    .name = "batch",
    .group = GROUP,
    .kind = SADDLE_OPTION_INTEGER,
    .fallback = "auto",
    .minimum = 1.0,
    .maximum = 0x1p32,
    .metavar = "N",
    .help = "Samples of a mini-batch at every agent (all of them where it has fewer). "
            "auto: ceil(sqrt(n_i))."};

const saddle_option saddle_option_sampling = {
    .name = "sampling",
    .group = GROUP,
    .kind = SADDLE_OPTION_CHOICE,
    .fallback = "without-replacement",
    .choices = "without-replacement|with-replacement",
    .metavar = "HOW",
    .help = "How a mini-batch is drawn. A refresh is always without replacement."};
