/*
 * The stored form u + c y of an estimate of the y-gradient.
 *
 * If a problem declares y_curvature = c, its gradient in y is -c y plus a function of x and of the
 * batch's entries of y. A recursive step then changes u by -c (y+ - y), and by something else only
 * in the batch's entries. PRECISION and PRECISION+ therefore store w = u + c y instead of u: w
 * changes only in those entries, and the pass over memory need not touch it. Equation (8) for y is
 *
 *   d+ = sum_j M_ij d_j + w+ - w - c (y+ - y).
 *
 * Between refreshes the pass that moves y adds everything but w+ - w.
 */
#pragma once

#include "algorithms/precision_steps.h"

/* Equation (8) for some coordinates of y after a refresh, whose u+ is in gy. */
void saddle_shifted_refresh(const saddle_agent *agent, double c, const saddle_range *y);
/* Equation (8) for the batch's entries among some coordinates of y, after the pass that moved y. The
 * change of w is in gy. An entry that is in the batch twice is updated once. */
void saddle_shifted_update(const saddle_agent *agent, const saddle_batch *batch,
                           const saddle_range *y);
