/* The figures and the report of a reproduction. */
#ifndef SADDLE_DRAW_REPRODUCTION_DRAWING_H
#define SADDLE_DRAW_REPRODUCTION_DRAWING_H

#include "lab/reproduction.h"

/* Whether a series is drawn. A series with default steps is not, if the search chose the same
 * steps. */
bool reproduction_is_drawn(const reproduction *r, const reproduction_part *part, size_t s);
/* Draws figures/NAME.svg, .png and .pdf, NAME-slopes if slopes were fitted, and the networks of
 * the part. Its claims must be decided. */
saddle_status reproduction_draw(const reproduction *r, const reproduction_part *part,
                                saddle_error *error);
/* Writes report.html. */
saddle_status reproduction_write_page(const reproduction *r, saddle_error *error);

#endif
