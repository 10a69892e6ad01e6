#include "engines/clipper.h"

#include "algorithms/layout.h"
#include "core/vector.h"

void saddle_clipper_take(saddle_clipper *c, size_t messages, saddle_allocator *allocator)
{
    size_t row = c->layout->published;
    c->row = saddle_allocator_block(allocator, messages, row * sizeof *c->row);
    c->distance = saddle_allocator_block(allocator, messages, sizeof *c->distance);
    c->read = saddle_allocator_block(allocator, messages, sizeof *c->read);
}

/* Returns the number `rank` of the distances, from 0, the largest first. */
static double ranked(const double *distance, size_t count, size_t rank)
{
    for (size_t k = 0; k < count; k++) {
        size_t larger = 0;
        size_t same = 0;
        for (size_t n = 0; n < count; n++) {
            larger += distance[n] > distance[k];
            same += distance[n] == distance[k];
        }
        if (larger <= rank && rank < larger + same)
            return distance[k];
    }
    return 0.0;
}

SADDLE_KERNEL static void pull(size_t count, double scale, const double *restrict own,
                               const double *restrict other, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = own[k] + scale * (other[k] - own[k]);
}

/* Clips a field of the messages of an agent with `degree` neighbours. `first`: see saddle_clipper_collect(). */
static void clip_field(saddle_clipper *c, const saddle_agent *agent, size_t first, size_t degree,
                       const double *const *rows, const saddle_field *field)
{
    const double *own = agent->now + field->offset;
    double *distance = c->distance + first;
    for (size_t k = 0; k < degree; k++) {
        distance[k] = saddle_distance2(field->length, rows[k] + field->offset, own);
        if (isnan(distance[k]))
            distance[k] = INFINITY;
    }
    double radius = c->rule->liars > 0 ? ranked(distance, degree, c->rule->liars)
                                       : c->rule->radius * c->rule->radius;
    for (size_t k = 0; k < degree; k++) {
        double *row = c->row + (first + k) * c->layout->published;
        if (distance[k] <= radius && isfinite(distance[k]))
            continue;
        if (c->read[first + k] != row)
            memcpy(row, rows[k], c->layout->published * sizeof *row);
        c->read[first + k] = row;
        if (isfinite(distance[k]))
            pull(field->length, sqrt(radius / distance[k]), own, rows[k] + field->offset,
                 row + field->offset);
        else
            memcpy(row + field->offset, own, field->length * sizeof *row);
    }
}

void saddle_clipper_collect(saddle_clipper *c, saddle_agent *agent, size_t first,
                            const double *const *rows, unsigned round)
{
    for (size_t k = 0; k < agent->degree; k++)
        c->read[first + k] = rows[k];
    for (size_t f = 0; f < c->layout->fields; f++)
        if (saddle_field_is_sent(&c->layout->field[f], round))
            clip_field(c, agent, first, agent->degree, rows, &c->layout->field[f]);
    agent->neighbour = c->read + first;
}
