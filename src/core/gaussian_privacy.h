/*
 * What noise on gradients guarantees: the accounting of differential privacy.
 *
 * A gradient is the mean over b rows of vectors of norm at most C, plus normal noise of deviation `noise` C / b in each
 * entry. Replacing one row changes the mean by at most 2 C / b, so the Renyi divergence of order a between what is seen
 * with either row is at most e(a) = 2 a / noise^2 (Mironov 2017). If the b rows are drawn without replacement from n,
 * and nobody else knows which, it is at most the e'(a) of Wang, Balle, Kasiviswanathan 2019, theorem 9: with q = b / n,
 *
 *   (a - 1) e'(a) = log(1 + q^2 C(a,2) min(4 (exp(e(2)) - 1), 2 exp(e(2)))
 *                         + sum_{j=3..a} 2 q^j C(a,j) exp((j - 1) e(j))),   a = 2, 3, ...
 *
 * Divergences of independent noise add up over gradients, whatever is computed from those before. T of them are
 * (epsilon, delta)-differentially private for the least epsilon over a of
 *
 *   T e'(a) + log((a - 1) / a) - (log delta + log a) / (a - 1)             (Canonne, Kamath, Steinke 2020)
 *
 * This is about real numbers; rounding of doubles is not accounted for.
 */
#pragma once

#include "core/base.h"

/* Returns epsilon for `count` gradients, each over a share q in (0, 1] of the rows; infinite without noise. */
double saddle_gaussian_epsilon(double noise, double share, double count, double delta);
/* Returns the Renyi divergence e'(order), order >= 2. */
double saddle_gaussian_divergence(double noise, double share, unsigned order);
