/*
 * The steps of an iteration of PRECISION, or of prox_sgda.c, for one block of threads, as loops that its threads share.
 * A C compiler makes plain loops of them. Every sum is computed by one thread in the order of the engine `threads`, so
 * the bits are the same.
 *
 *   draw        the batch of an agent and an iteration
 *   target      (3) or (4) of precision.c for an agent, if it is more than clipping
 *   move        (3) to (6) for a tile of coordinates; mixes p and d
 *   difference  (7) between refreshes, and (8), for an agent
 *   gradient    that over a batch, for an agent
 *   rows        losses and slopes of some of an agent's rows, at a refresh
 *   columns     sums over the rows of a part, one per column
 *   settle      (7) where estimates are new gradients, and (8), for a tile of coordinates
 *
 *   answer      (7) and (8) for a tile of coordinates, if the problem itself computes the gradients
 *
 *   schedule    r and c of precision_plus.c, and the samples of a refresh, for an agent
 *   estimate    difference, or gradient over these samples and their variance, for an agent
 *
 * An iteration is move and difference; move, rows, columns and settle; in prox_sgda.c, move, gradient and settle; move
 * and answer, if the problem computes gradients; or, in precision_plus.c, schedule, move, estimate and settle.
 * Measurements are norm, for an agent; and mean, for a block of entries, in a survey after rows, columns and slope.
 * Nothing that a step writes is read by another block of it.
 */
#ifndef SADDLE_ENGINES_CUDA_KERNELS_H
#define SADDLE_ENGINES_CUDA_KERNELS_H

#include "engines/cuda/card_difference.h"
#include "engines/cuda/card_move.h"
#include "engines/cuda/card_refresh.h"
#include "engines/cuda/card_schedule.h"
#include "engines/cuda/card_sum.h"
#include "engines/cuda/card_target.h"

#endif
