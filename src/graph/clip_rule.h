/* How agents clip what they receive: the text of the option clip-mixing. */
#pragma once

#include <saddle/graph.h>

#include "core/base.h"

typedef struct saddle_clip_rule {
    size_t
        liars; /* neighbours of an agent that may lie: the radius is the next largest distance; 0: it is given */
    double radius;
} saddle_clip_rule;

/* Parses the option clip-mixing; *used: whether anything is clipped. */
saddle_status saddle_clip_rule_read(saddle_clip_rule *out, const char *text, bool *used,
                                    saddle_error *error);
/* Refuses a rule that leaves an agent of a graph without a neighbour that it believes. */
saddle_status saddle_clip_rule_check(const saddle_clip_rule *rule, const saddle_graph *graph,
                                     saddle_error *error);
