/*
 * Costs of computing and of messages in simulated seconds: the option link-model.
 *
 * Either "latency:SECONDS,bandwidth:BYTES_PER_SECOND,compute:SECONDS_PER_IFO", any of the three, the same
 * for all agents and links, or the path of a file with lines
 *
 *     default latency S bandwidth B compute C
 *     agent I compute C
 *     edge I J latency S bandwidth B
 *
 * in any order, each with one or more of its pairs. An edge is two links, one in each direction, each with
 * the full bandwidth. What is not given is taken from `default`; what `default` does not give costs
 * nothing.
 */
#pragma once

#include <saddle/graph.h>

typedef struct saddle_link_model {
    double *compute; /* of each agent: seconds of an IFO call */
    /* Per entry k of the graph's neighbour lists, for messages from neighbour[k] to the list's agent: */
    double *latency;        /* seconds */
    double *bandwidth;      /* bytes per second, or infinity */
    double default_compute; /* seconds of an IFO call where one agent has the data of all */
} saddle_link_model;

/* Parses the option link-model. Free with saddle_link_model_free(). */
saddle_status saddle_link_model_create(saddle_link_model **out, const char *text,
                                       const saddle_graph *graph, saddle_error *error);
/* Frees a model. NULL is allowed. */
void saddle_link_model_free(saddle_link_model *model);
/* Returns whether a text is the path of a file. */
bool saddle_link_model_is_file(const char *text);

/* Returns the seconds from the sending of a message over link k to its arrival. */
static inline double saddle_link_seconds(const saddle_link_model *model, size_t k, double bytes)
{
    return model->latency[k] + bytes / model->bandwidth[k];
}
