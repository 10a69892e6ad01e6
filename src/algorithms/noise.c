/*
 * A run stalls at the noise of its gradient estimates if errors of estimates make up most of the movement, the movement
 * does not become smaller, and x and y stay where they are. If errors are a small part, x and y go round: the steps are
 * too long. As in measured_batches.c, errors and movement are in the units of the steps: with the steps s in x and
 * a in y and variances E of the errors of v and u, an agent's error is s E_x + a E_y, of which about the part w = 1/m +
 * 2/q is in its tracker, q being the iterations for which errors last, and its movement is |x+ - x|^2 / s + |y+ - y|^2
 * / a, without mixing.
 *
 * Errors of recursive estimates are known at refreshes: where an agent does not measure them, half of the squared
 * change of the estimate is the mean of the variances of the old error and of the new one; the change of the iteration
 * before is subtracted, because that much changes without errors. Estimates over a fresh mini-batch change by twice
 * their variance in every iteration, and those that remember the part 1 - beta of their error by 2 beta of it, so q = 1
 * / beta. All are means over about three refreshes, or iterations that are looked at.
 *
 * x and y stay where they are if their squared distance from an earlier point is less than the sum of squared movements
 * since then. Independent movements add up to this sum, and to 2 q - 1 times as much if they last for q iterations;
 * movements that go the same way add up to much more. No copy of the point is kept: the squares of a few sums of its
 * coordinates with random signs are its squared length in the mean.
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
/* The number of refreshes from one time that the movement is taken to the next, at least. */
#define APART 4.0
/* Squared movements of this part of the point's squared length are rounding. */
#define ROUNDING 1e-28
/* Iterations from one projection of the point to the next, at least, so that they cost little. */
#define PLACE_EVERY 64.0

/* Returns random bits: the signs of 64 coordinates. */
static uint64_t signs(size_t agent, size_t k)
{
    uint64_t z = ((uint64_t)agent << 40 | k) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Adds the coordinates of a variable, in the units of the steps, to the sums in turn. */
static void project(size_t agent, size_t first, size_t count, double step, const double *v,
                    double *place)
{
    double sum[SADDLE_NOISE_PLACES] = {0.0};
    uint64_t bits = 0;
    for (size_t k = 0; k < count; k++) {
        bits = k % 64 == 0 ? signs(agent, first + k) : bits >> 1;
        sum[k % SADDLE_NOISE_PLACES] += (bits & 1U) != 0 ? v[k] : -v[k];
    }
    for (size_t j = 0; j < SADDLE_NOISE_PLACES; j++)
        place[j] += sum[j] / sqrt(step);
}

/* Measures how far the agent has come since NOISE_BEFORE; `taken` says that a point is remembered. */
static void follow_place(double *numbers, bool taken, double correlation,
                         const saddle_noise_point *at)
{
    double now = (double)at->iteration;
    double size = 0.0;
    double place[SADDLE_NOISE_PLACES] = {0.0};
    if (at->x == NULL || (!taken && now < numbers[NOISE_PLACED] + PLACE_EVERY))
        return;
    project(at->agent, 0, at->x_dim, at->x_step, at->x, place);
    project(at->agent, at->x_dim, at->y_dim, at->y_step, at->y, place);
    double *halfway = numbers + NOISE_PLACE_HALFWAY;
    double *before = numbers + NOISE_PLACE_BEFORE;
    numbers[NOISE_PLACED] = now;
    numbers[NOISE_NET] = 0.0;
    for (size_t j = 0; j < SADDLE_NOISE_PLACES; j++) {
        before[j] = taken ? halfway[j] : before[j];
        halfway[j] = taken ? place[j] : halfway[j];
        numbers[NOISE_NET] += (place[j] - before[j]) * (place[j] - before[j]);
        size += place[j] * place[j];
    }
    if (numbers[NOISE_MOVEMENT] <= ROUNDING * size)
        numbers[NOISE_NET] = INFINITY;
    numbers[NOISE_PATH] =
        correlation * numbers[NOISE_MOVEMENT] * (now - 0.25 * numbers[NOISE_NEXT]);
}

/* Takes in errors that last for `span` iterations, and movements of which so many go the same way. */
static void take(double *numbers, double error, double span, double correlation,
                 const saddle_noise_point *at)
{
    double share = fmin(1.0, 1.0 / (double)at->agents + 2.0 / span);
    double now = (double)at->iteration;
    saddle_learn(&numbers[NOISE_ERROR], share * error, LEARN);
    saddle_learn(&numbers[NOISE_MOVEMENT], numbers[NOISE_SUM] / fmax(1.0, numbers[NOISE_COUNT]),
                 LEARN);
    numbers[NOISE_SUM] = numbers[NOISE_COUNT] = 0.0;
    numbers[NOISE_LEARNED] += 1.0;
    /* The mean of a movement that has ended is still large after one refresh. */
    bool taken =
        numbers[NOISE_NEXT] > 0.0 && now >= numbers[NOISE_NEXT] && numbers[NOISE_LEARNED] >= APART;
    if (numbers[NOISE_NEXT] == 0.0) {
        numbers[NOISE_NEXT] = APART * now;
    } else if (taken) {
        numbers[NOISE_LEARNED] = 0.0;
        numbers[NOISE_BEFORE] = numbers[NOISE_HALFWAY];
        numbers[NOISE_HALFWAY] = numbers[NOISE_MOVEMENT];
        numbers[NOISE_NEXT] = 2.0 * now;
    }
    follow_place(numbers, taken, correlation, at);
}

void saddle_noise_sample(double *numbers, double error, double span, const saddle_noise_point *at)
{
    take(numbers, error, span, 2.0 * span - 1.0, at);
}

void saddle_noise_refresh(double *numbers, double error, const saddle_noise_point *at)
{
    take(numbers, error, fmax(1.0, numbers[NOISE_COUNT]), 1.0, at);
}

void saddle_noise_compare(double *numbers, double change, const saddle_noise_point *at)
{
    bool recursive = numbers[NOISE_COUNT] > 1.0;
    saddle_noise_refresh(numbers, recursive ? 0.5 * fmax(0.0, change - numbers[NOISE_STEP]) : 0.0,
                         at);
}
