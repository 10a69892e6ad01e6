/* Figures and the page of a reproduction. */
#ifndef SADDLE_DRAW_REPRODUCTION_DRAWING_H
#define SADDLE_DRAW_REPRODUCTION_DRAWING_H

#include "lab/reproduction.h"

/* Whether a series is drawn: not if it has the default steps and the search had chosen these. */
bool reproduction_is_drawn(const reproduction *r, const reproduction_part *part, size_t s);
/* Draw figures/NAME.svg, .png and .pdf, NAME-slopes where slopes were fitted, and the networks of the part;
 * its claims must be decided. */
saddle_status reproduction_draw(const reproduction *r, const reproduction_part *part,
                                saddle_error *error);
/* Write report.html. */
saddle_status reproduction_write_page(const reproduction *r, saddle_error *error);

#endif
