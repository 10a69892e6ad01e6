/* How a batch is divided into parts, for a processor and for a graphics card. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "core/device_code.h"

/* The smallest part, in samples and in the unit of sample_cost; and the work that one more part
 * must save for every entry of its sums, because these have to be added up. */
#define SADDLE_PART_SAMPLES 32.0
#define SADDLE_PART_WORK 20000.0
#define SADDLE_PART_WORK_PER_ENTRY 128.0
/* The largest number of parts of a batch. */
enum { SADDLE_MOST_PARTS = 64 };

/* Returns the largest number of parts of `count` samples with `sums` sums that pays off; it never
 * decreases as batches grow. */
SADDLE_BOTH uint64_t saddle_worth_parts(double count, double cost, double sums)
{
    double most =
        fmin(fmin(count / SADDLE_PART_SAMPLES, count * cost / SADDLE_PART_WORK),
             fmin(1.0 + count * cost / (SADDLE_PART_WORK_PER_ENTRY * sums), SADDLE_MOST_PARTS));
    return most >= 2.0 ? (uint64_t)most : 1;
}

/* Returns the samples of each of these parts but the last: whole cache lines, so that two workers never
 * write to the same line. */
SADDLE_BOTH uint64_t saddle_part_rows(uint64_t count, uint64_t parts)
{
    return parts == 1 ? count : ((count + parts - 1) / parts + 7) / 8 * 8;
}
