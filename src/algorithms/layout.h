/* Functions on an algorithm and its layout, for engines, runs and observers. */
#pragma once

#include <saddle/algorithm.h>

/* Calls the algorithm's layout() with a zeroed struct. */
void saddle_algorithm_layout(const saddle_algorithm *algorithm, const void *parameters,
                             const saddle_problem *problem, saddle_layout *out);
/* Returns SADDLE_CHECK_FAILED for a layout that contradicts itself or view(). */
saddle_status saddle_layout_check(const saddle_algorithm *algorithm, const void *parameters,
                                  const saddle_problem *problem, const saddle_layout *layout,
                                  saddle_error *error);
/* Calls the algorithm's view(); pointers that it does not set are NULL. */
void saddle_agent_view(const saddle_algorithm *algorithm, const saddle_agent *agent,
                       saddle_view *out);
/* Returns saddle_algorithm::most_ifo(), or its default if the algorithm has none. */
uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem);
/* Finds the doubles of the span that are sent in a round, from the first to the last. */
void saddle_layout_message(const saddle_layout *layout, unsigned round, size_t *offset,
                           size_t *count);

/* Returns whether there is a field of kind SADDLE_FIELD_SUM. */
bool saddle_layout_has_sums(const saddle_layout *layout);
/* Returns the number of a round of an iteration, counted over all iterations. */
static inline uint64_t saddle_round_number(const saddle_layout *layout, uint64_t iteration,
                                           unsigned round)
{
    return iteration * layout->rounds + round;
}
/* Returns the length of the longest field. */
size_t saddle_layout_longest(const saddle_layout *layout);

/* Returns whether a field is sent in a round. */
static inline bool saddle_field_is_sent(const saddle_field *field, unsigned round)
{
    return round >= field->first_round && round <= field->last_round;
}

/* Returns entry k of the estimate that a sum tracks at an agent. */
static inline double saddle_field_estimate(const saddle_field *field, const saddle_agent *agent,
                                           size_t k)
{
    double kept = agent->kept[field->estimate + k];
    return field->shift != 0.0 ? kept - field->shift * agent->now[field->shift_offset + k] : kept;
}
