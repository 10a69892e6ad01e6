/*
 * A run stalls at the noise of its gradient estimates if errors of estimates make up most of the movement, and the
 * movement does not become smaller. As in measured_batches.c, both are in the units of the steps: with the steps s in x
 * and a in y and variances E of the errors of v and u, an agent's error is s E_x + a E_y, of which about the part
 * w = 1/m + 2/q is in its tracker, and its movement is |x+ - x|^2 / s + |y+ - y|^2 / a, without mixing.
 *
 * Errors are known at refreshes: where an agent does not measure them, half of the squared change of the estimate is
 * the mean of the variances of the old error and of the new one; the change of the iteration before is subtracted,
 * because that much changes without errors. Both numbers are means over about three refreshes.
 *
 * An error that is most of the movement is not enough: differences over mini-batches have errors in proportion to the
 * movement, and both may decrease together. A movement that does not decrease is not enough, because a path may be
 * long.
 */
#include "algorithms/noise.h"

#include <math.h>
#include <stdbool.h>

#include "algorithms/measured_batches.h"

/* The weight of the newest refresh in the means. */
#define LEARN 0.3
/* The number of refreshes after which the movement is taken for the first time. */
#define FIRST 4.0

void saddle_noise_refresh(double *numbers, double error, size_t agents, uint64_t iteration)
{
    double q = fmax(1.0, numbers[NOISE_COUNT]);
    double share = fmin(1.0, 1.0 / (double)agents + 2.0 / q);
    saddle_learn(&numbers[NOISE_ERROR], share * error, LEARN);
    saddle_learn(&numbers[NOISE_MOVEMENT], numbers[NOISE_SUM] / q, LEARN);
    numbers[NOISE_SUM] = numbers[NOISE_COUNT] = 0.0;
    double now = (double)iteration;
    if (numbers[NOISE_NEXT] == 0.0) {
        numbers[NOISE_NEXT] = FIRST * now;
    } else if (now >= numbers[NOISE_NEXT]) {
        numbers[NOISE_BEFORE] = numbers[NOISE_HALFWAY];
        numbers[NOISE_HALFWAY] = numbers[NOISE_MOVEMENT];
        numbers[NOISE_NEXT] = 2.0 * now;
    }
}

void saddle_noise_compare(double *numbers, double change, size_t agents, uint64_t iteration)
{
    bool recursive = numbers[NOISE_COUNT] > 1.0;
    saddle_noise_refresh(numbers, recursive ? 0.5 * fmax(0.0, change - numbers[NOISE_STEP]) : 0.0,
                         agents, iteration);
}
