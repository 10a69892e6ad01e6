/*
 * What computing and messages cost in simulated seconds: the option link-model.
 *
 * Either "latency:SECONDS,bandwidth:BYTES_PER_SECOND,compute:SECONDS_PER_IFO", any of the three, for all agents and
 * links alike, or the path of a file with lines
 *
 *     default latency S bandwidth B compute C
 *     agent I compute C
 *     edge I J latency S bandwidth B
 *
 * in any order, each with one or more of its pairs. An edge is two links, one in each direction, each with the whole
 * bandwidth. What is not given is that of `default`; what that does not give is free.
 */
#ifndef SADDLE_GRAPH_LINK_MODEL_H
#define SADDLE_GRAPH_LINK_MODEL_H

#include <saddle/graph.h>

typedef struct saddle_link_model {
    double *compute; /* of each agent: seconds of an IFO call */
    /* Of each entry k of the graph's lists, for messages from neighbour[k] to the agent that the list is of: */
    double *latency;        /* seconds */
    double *bandwidth;      /* bytes per second, or infinity */
    double default_compute; /* seconds of an IFO call where one agent has the data of all */
} saddle_link_model;

/* Read what link-model says. Free with saddle_link_model_free(). */
saddle_status saddle_link_model_create(saddle_link_model **out, const char *text,
                                       const saddle_graph *graph, saddle_error *error);
/* Free. NULL is allowed. */
void saddle_link_model_free(saddle_link_model *model);
/* Whether a text is the path of a file. */
bool saddle_link_model_is_file(const char *text);

/* Seconds from the sending of a message over link k to its arrival. */
static inline double saddle_link_seconds(const saddle_link_model *model, size_t k, double bytes)
{
    return model->latency[k] + bytes / model->bandwidth[k];
}

#endif
