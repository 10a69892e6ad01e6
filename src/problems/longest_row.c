/* Numbers that agents find out together: each looks at its own rows, and numbers are compared. */
#include "problems/longest_row.h"

#include <math.h>

#include "data/rows.h"

double saddle_longest_row(const saddle_problem_inputs *inputs)
{
    const saddle_world *world = inputs->world;
    double most = 0.0;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = inputs->shard[world->here[k]];
        for (size_t row = 0; row < data->rows; row++)
            most = fmax(most, sqrt(saddle_row_norm2(data, row)));
    }
    world->largest(world, 1, &most);
    return most;
}
