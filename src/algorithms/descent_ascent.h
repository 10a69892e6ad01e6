/*
 * Functions shared by the algorithms that step along gradients instead of towards proximal points:
 *
 *   x+ = prox of (eta_x h) over X at  x - eta_x gx,   y+ = projection onto Y of  y + eta_y gy
 */
#pragma once

#include <saddle/algorithm.h>

/* The first member of the parameters of such an algorithm. */
typedef struct saddle_two_steps {
    double eta_x;
    double eta_y;
    uint64_t batch;   /* size of a mini-batch; 0: ceil(sqrt(n_i)) */
    bool replacement; /* mini-batches with replacement */
    uint64_t rounds;  /* of mixing per iteration; 0: automatic, until configured */
} saddle_two_steps;

/* --mixing-rounds; the two steps are the first member of the parameters. */
extern const saddle_option saddle_option_mixing_rounds;
/* The most rounds that it allows. */
#define SADDLE_MOST_MIXING 1e6

/* Step sizes in x and y. */
typedef struct saddle_step_pair {
    double x;
    double y;
} saddle_step_pair;

/* Returns whether steps that are not given follow the method's paper: with --steps theory, if L
 * and mu are known. */
bool saddle_wants_theory(const saddle_configuration *configuration);

/*
 * Completes the steps and records them in the configuration. Steps that are not given are `theory`,
 * the rule of the method's paper, if saddle_wants_theory(); otherwise `practical`, fractions of the
 * problem's 1 / tau and alpha that were measured on all problems (docs/decisions.md).
 */
void saddle_two_steps_configure(saddle_two_steps *steps, saddle_configuration *configuration,
                                saddle_step_pair practical, saddle_step_pair theory);

/* These functions and saddle_two_steps_move() need the two steps as the first member of the parameters.
 * For saddle_algorithm's init and automatic, if the method's paper has no rule, so that it does not read
 * --steps: the damped steps of PRECISION, or full ones. All but saddle_full_steps_init() shorten them to what is
 * stable (longest_step.h). */
saddle_status saddle_damped_steps_init(void *parameters, saddle_configuration *c,
                                       saddle_error *error);
#define SADDLE_DAMPED_STEPS                                                         \
    SADDLE_AUTOMATIC(saddle_option_eta_x, "nu/tau, or less if that is not stable"), \
        SADDLE_AUTOMATIC(saddle_option_eta_y, "eta alpha")
extern const saddle_automatic saddle_damped_steps[];
saddle_status saddle_full_batch_init(void *parameters, saddle_configuration *c,
                                     saddle_error *error);
extern const saddle_automatic saddle_full_batch_steps[];
saddle_status saddle_full_steps_init(void *parameters, saddle_configuration *c,
                                     saddle_error *error);
extern const saddle_automatic saddle_full_steps[];
/* Damped steps for gradients over all samples. */
saddle_status saddle_damped_full_init(void *parameters, saddle_configuration *c,
                                      saddle_error *error);

/* For saddle_algorithm's layout, start and view, if the span is (x, y) and is sent in every
 * round. */
void saddle_plain_fields(const saddle_problem *problem, saddle_layout *out);
void saddle_plain_start(saddle_agent *agent, const double *x0, const double *y0);
void saddle_plain_view(const saddle_agent *agent, saddle_view *out);

/* (x+, y+) with `factor` times the steps of the parameters, from (x, y) at `from` along (gx, gy) at `g`. */
void saddle_two_steps_move(const saddle_agent *agent, double factor, const double *from,
                           const double *g, double *out, double *scratch);
/* Ends the run if (x, y) in agent->next is not finite. */
void saddle_plain_check(saddle_agent *agent);
/* Returns whether an inner loop must end because the agent's share of a budget is spent. */
bool saddle_out_of_calls(const saddle_agent *agent);
