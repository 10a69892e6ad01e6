/*
 * A family of methods: one strategy x one estimator (estimators.h) x one mixing (mixing_rounds.h). At agent i, with
 * w = (x, y), g = (v, -u), one step for x and another for y, and P the prox of (step h) over X and the projection
 * onto Y:
 *
 *   tracking         w+ = P(M w - step p),   p = M s;   s+ = p + g+ - g                  sends (w, s)
 *   tracking-twice   p = M s;   w+ = P(M (w - step p));   s+ = p + g+ - g                sends s, then w - step p
 *   exact-diffusion  z = M n;   e+ = e + (n - z) / step;   w+ = P(z);
 *                    n+ = w+ - step (g+ + e+)                                            sends n
 *   extra            z = M w;   e+ = e + (w - z) / step;   w+ = P(z - step (g + e+))     sends w
 *   multipliers      x by tracking;   y+ = P(M y + step (u - M E + E));
 *                    E+ = E + (rho / step) (M y - y)                                     sends (x, y, s, E)
 *
 * M stands for sum_j M_ij over the agent and its neighbours. Start: s = g, e = E = 0, n = w - step g. The sum of s over
 * agents is that of g, and the sums of e and E stay 0. tracking is the semi-ATC form of gradient tracking,
 * tracking-twice its ATC form. exact-diffusion and extra send one vector for each of x and y, half of what tracking
 * sends. They need eigenvalues of M that are not negative and therefore use (I + M) / 2 where one may be.
 *
 * If compressed messages contain a share F of their entries, exact-diffusion and extra add F (n - z) / step to e. What
 * agents know of each other is about 1 / F rounds old, and without the factor n would swing more and more, however
 * small the mixing rate gamma: for an eigenvalue c of I - M, differences d between agents nearly follow
 * d'' = -gamma c (2 - 1 / F) d' - gamma c d, with the factor d'' = -gamma c F d' - gamma c F d.
 *
 * With K rounds of mixing, a Chebyshev polynomial of M takes the place of M. For exact-diffusion, extra, tracking-twice
 * and local steps it is (c_K P_K(M) + I) / (c_K + 1), whose eigenvalues are not negative. The first two need that; for
 * the others, an eigenvalue -r limits steps times curvature to (1 - r)^2 / (2 r^2) or, summed over local steps,
 * (1 - r^2) / r: 0.02 and 0.4 for P_2 on a ring of 20.
 *
 * A method is a file with its equations that fills in a saddle_preset.
 */
#pragma once

#include "algorithms/descent_ascent.h"
#include "algorithms/estimators.h"
#include "algorithms/mixing_rounds.h"

/* In the order of DAMA's --strategy, which has the first three. */
typedef enum saddle_strategy {
    SADDLE_EXACT_DIFFUSION,
    SADDLE_EXTRA,
    SADDLE_TRACKING,
    SADDLE_TRACKING_TWICE,
    SADDLE_MULTIPLIERS,
    /* Of files with their own phases, which share the state: */
    SADDLE_LOCAL_STEPS, /* K-GT-Minimax */
    SADDLE_OPERATOR     /* OADSVI */
} saddle_strategy;

/* The parameters of every method of the family. */
typedef struct saddle_family {
    saddle_two_steps steps;
    int strategy;      /* a saddle_strategy */
    double multiplier; /* rho */
    saddle_estimator estimator;
    saddle_mixing_rounds mixing;
    bool halved;  /* (I + M) / 2 takes the place of M */
    double gain;  /* F of compressed messages, or 1 */
    double share; /* 1, or c_K / (c_K + 1) for a polynomial without negative eigenvalues */
} saddle_family;

/* The kind of estimator, and the values of --steps paper; what is 0 follows the general rules, except for steps, which
 * are not known. */
typedef struct saddle_preset {
    saddle_step_pair steps;
    saddle_estimator estimator;
} saddle_preset;

/* Own options of the estimators. */
extern const saddle_option saddle_option_estimator;
extern const saddle_option saddle_option_beta_x;
extern const saddle_option saddle_option_beta_y;
extern const saddle_option saddle_option_probability;
extern const saddle_option saddle_option_refresh_size;
extern const saddle_option saddle_option_first_batch;

/* Options of methods that leave the estimator to the user. */
#define SADDLE_ESTIMATOR_OPTIONS                                                              \
    &saddle_option_estimator, &saddle_option_beta_x, &saddle_option_beta_y, &saddle_option_q, \
        &saddle_option_probability, &saddle_option_refresh_size

/* Options that all methods of the family have, and how they choose them with --steps practical. */
#define SADDLE_FAMILY_OPTIONS                                                               \
    &saddle_option_steps, &saddle_option_eta_x, &saddle_option_eta_y, &saddle_option_batch, \
        &saddle_option_sampling, &saddle_option_mixing_rounds, &saddle_option_first_batch
#define SADDLE_FAMILY_PRACTICAL               \
    SADDLE_DAMPED_STEPS,                      \
        SADDLE_AUTOMATIC(saddle_option_batch, \
                         "ceil(sqrt(n) / 4), but at least 2, where n is the largest n_i")
#define SADDLE_FAMILY_RULES(x_step, y_step, batch)                                              \
    SADDLE_AUTOMATIC(saddle_option_eta_x,                                                       \
                     "nu/tau, or less if that is not stable; with --steps paper " x_step),      \
        SADDLE_AUTOMATIC(saddle_option_eta_y, "eta alpha; with --steps paper " y_step),         \
        SADDLE_AUTOMATIC(saddle_option_batch,                                                   \
                         "ceil(sqrt(n) / 4), but at least 2, where n is the largest n_i; with " \
                         "--steps paper " batch)

/* Refuses --steps theory, and --steps paper if the paper's values are not known. */
saddle_status saddle_family_check_rule(const saddle_configuration *c, bool paper_known,
                                       saddle_error *error);
/* Chooses the steps of a method whose paper's values are `paper`; 0: they are not known. */
saddle_status saddle_family_choose_steps(saddle_two_steps *steps, saddle_configuration *c,
                                         saddle_step_pair paper, uint64_t batch,
                                         saddle_error *error);
/* Completes the parameters, whose strategy is set. */
saddle_status saddle_family_init(saddle_family *family, const saddle_preset *paper,
                                 saddle_configuration *c, saddle_error *error);

/* Fields of saddle_algorithm that all methods have in common, and traits. */
#define SADDLE_FAMILY                                                                            \
    .size = sizeof(saddle_family), .layout = saddle_family_layout, .start = saddle_family_start, \
    .phases = saddle_family_phases, .view = saddle_family_view
#define SADDLE_FAMILY_TRAITS SADDLE_PROXIMAL, .stochastic = true, .feasible = true

/* The functions of SADDLE_FAMILY. */
void saddle_family_layout(const void *parameters, const saddle_problem *problem,
                          saddle_layout *out);
void saddle_family_start(saddle_agent *agent, const double *x0, const double *y0);
void saddle_family_view(const saddle_agent *agent, saddle_view *out);

/* An agent's vectors, each of x_dim + y_dim doubles. */
typedef struct saddle_vectors {
    size_t x_dim, both;
    double *estimate;      /* kept: (v, u) */
    double *point;         /* kept: (x, y) */
    double *dual;          /* kept: e, or of the algorithm */
    double *own;           /* kept, with strategies of other files */
    double *begun;         /* kept, with rounds of mixing: u_0 and u_{r-1} of what is published */
    double *noise;         /* kept: the numbers of noise.h */
    double *estimated;     /* kept: of the estimator */
    double *next, *next_p; /* published */
    double *g, *h;         /* work; h is followed by more of the estimator */
    double *new_point;     /* work */
} saddle_vectors;

/* Returns pointers to the vectors of an agent. */
saddle_vectors saddle_vectors_of(const saddle_agent *agent);
/* Makes round r of mixing for `count` numbers of one kind at an offset of the span. */
void saddle_family_mix(const saddle_agent *agent, unsigned r, size_t offset, size_t count,
                       double *out);
extern const saddle_phase saddle_family_phases[];

/* out = w - step (g + e), where g = (v, -u) and `estimate` is (v, u); e NULL: 0. The family is the first member of the
 * parameters, here and below, or its two steps. */
void saddle_family_step(const saddle_agent *agent, const double *w, const double *estimate,
                        const double *e, double *out);
/* P, in place. */
void saddle_family_project(const saddle_agent *agent, double *w);
/* Projects onto X and Y. */
void saddle_project_sets(const saddle_agent *agent, double *w);
/* Stores where an agent starts. What neighbours have sent, from which it starts anew, may lie outside of X and Y. */
void saddle_family_begin(const saddle_agent *agent, const double *x0, const double *y0, double *w);
