/*
 * Several rounds of mixing in an iteration, by which agents on a slow network stay close to each other. Rounds 0 to
 * K - 2 replace the published numbers u by a polynomial in M of degree K - 1 that is applied to them, Chebyshev's:
 *
 *   u_1     = N u_0,   N = g M + (1 - g) I,   g = 2 / (2 - a - b)
 *   u_{r+1} = w_r N u_r + (1 - w_r) u_{r-1},  w_1 = 1 / (1 - 1 / (2 z^2)),  w_{r+1} = 1 / (1 - w_r / (4 z^2))
 *
 * where [a, b] contains the eigenvalues of M other than 1, and z = (2 - a - b) / (b - a). Means over agents stay as
 * they are, and r rounds divide differences between agents by c_r or more, where c_0 = 1, c_1 = z and
 * c_{r+1} = 2 z c_r - c_{r-1}: K grows like 1 / sqrt(1 - lambda). Weights can be negative, so iterates may leave their
 * sets. Where messages may be lost, late or compressed, or agents come and go, M is not the same in all rounds; then
 * the polynomial is M^(K-1). The last round is left to the algorithm.
 *
 * With --mixing-rounds K the polynomial has degree K, and the last round belongs to it. FastMix (Ye, Zhou, Luo, Zhang,
 * "Decentralized Accelerated Proximal Gradient Descent", NeurIPS 2020) has the constant w = 1 + h in all rounds,
 * h = (1 - sqrt(1 - b^2)) / (1 + sqrt(1 - b^2)), and u_{-1} = u_0. It needs a >= 0 and is no contraction for small K.
 */
#pragma once

#include <saddle/algorithm.h>

typedef struct saddle_mixing_rounds {
    unsigned count;   /* K */
    double weight;    /* g; 0: the polynomial is a power of M */
    double z2;        /* z^2 */
    double momentum;  /* w of FastMix; 0: Chebyshev's */
    double reduction; /* c_K, with saddle_mixing_rounds_set() */
} saddle_mixing_rounds;

/* Returns whether all messages arrive in every round. */
bool saddle_links_are_constant(const saddle_instance *instance);
/* Returns whether mixing uses all of M in every round. */
bool saddle_mixing_is_constant(const saddle_instance *instance);
/* Returns whether an eigenvalue of M is negative, in some round or as far as is known; then those of (I + M) / 2 are
 * not. */
bool saddle_mixing_may_be_negative(const saddle_instance *instance);

/* Chooses the smallest K with c_K >= 1 / 0.3, at most 100; 1 if the spectrum is unknown. */
void saddle_mixing_rounds_choose(saddle_mixing_rounds *out, const saddle_instance *instance);

/* Sets a polynomial of degree `count`: M itself for 1. */
void saddle_mixing_rounds_set(saddle_mixing_rounds *out, const saddle_instance *instance,
                              uint64_t count);
/* Sets FastMix with K = count; 0: with the smallest K that at least halves differences between agents. */
void saddle_mixing_rounds_set_fast(saddle_mixing_rounds *out, const saddle_instance *instance,
                                   uint64_t count);
/* Makes round r for `count` numbers of the span at `offset`, which have one kind: out = u_{r+1}. `last` keeps u_{r-1}
 * from round to round; it is not used by powers of M. */
void saddle_mixing_round(const saddle_mixing_rounds *rounds, const saddle_agent *agent, unsigned r,
                         size_t offset, size_t count, double *last, double *out);

/* Makes round agent->round < K - 1 for a span of `count` iterates and as many sums. `more` sums after these are mixed
 * by M, which keeps positive numbers positive. `last` keeps the 2 count numbers of u_{r-1} from round to round. */
void saddle_mixing_rounds_make(const saddle_mixing_rounds *rounds, const saddle_agent *agent,
                               size_t count, size_t more, double *last);
