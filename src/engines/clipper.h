/*
 * Clipped mixing: an agent moves what a neighbour sent towards its own state before it mixes it, so that a neighbour
 * which lies can pull it only so far. For each field z that is sent, agent i reads
 *
 *   z_i + min(1, r / |z_j - z_i|) (z_j - z_i)      in the place of z_j
 *
 * (ClippedGossip; He, Karimireddy, Jaggi, arXiv 2202.01545). The radius r is given, or, with `liars:F`, the F+1-th
 * largest of the distances |z_j - z_i| over the neighbours of the agent, as in the program of the paper's authors with
 * F = 1: a liar then pulls no farther than some honest neighbour. What is not finite is replaced by z_i.
 *
 * The sum over agents is not conserved when something is clipped.
 */
#pragma once

#include <saddle/algorithm.h>

#include "core/base.h"
#include "graph/clip_rule.h"

/* Messages are numbered as in saddle_links::start, agents as in world->here. */
typedef struct saddle_clipper {
    const saddle_clip_rule *rule; /* NULL: nothing is clipped */
    const saddle_layout *layout;
    double *row;         /* per message: what the agent reads if something of it is clipped */
    double *distance;    /* per message: the squared distance of a field */
    const double **read; /* per message */
} saddle_clipper;

/* Asks for the memory of a clipper whose rule and layout are set. */
void saddle_clipper_take(saddle_clipper *clipper, size_t messages, saddle_allocator *allocator);
/* Points an agent, whose neighbours' rows are `rows` and whose messages begin at `first`, at what it reads. */
void saddle_clipper_collect(saddle_clipper *clipper, saddle_agent *agent, size_t first,
                            const double *const *rows, unsigned round);
