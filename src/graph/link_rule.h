/*
 * How links behave in a simulation: which messages of a round arrive, and with which weights they are
 * mixed.
 *
 *     reliable | agreed:P | agreed-burst:P:LENGTH | gossip | sequence:TOPOLOGY,... | schedule:FILE
 *     lossy:P | burst:P:LENGTH | delay:K[:P]      each of these optionally followed by :I-J
 *     replay:FILE
 *
 * With those of the first line, both ends of an edge know whether it works in a round, so the weights of
 * every round are symmetric and doubly stochastic. With the others, a message is lost or late in one
 * direction, and its sender does not know; a replay repeats what agents have logged (replay.h). With
 * I-J, nothing that agent I sends arrives at agent J, which the agents detect after a while.
 */
#pragma once

#include <saddle/graph.h>

#include "graph/edges.h"
#include "graph/replay.h"

typedef enum saddle_link_kind {
    SADDLE_LINKS_RELIABLE, /* every message arrives */
    SADDLE_LINKS_AGREED,   /* edges fail at random */
    SADDLE_LINKS_GOSSIP,   /* a random maximal matching, weight 1/2 */
    SADDLE_LINKS_SEQUENCE, /* a sequence of topologies */
    SADDLE_LINKS_SCHEDULE, /* the edges that work are read from a file */
    SADDLE_LINKS_LOSSY,    /* messages are lost at random */
    SADDLE_LINKS_DELAY,    /* messages are late at random */
    SADDLE_LINKS_REPLAY    /* messages are lost and late as in logs */
} saddle_link_kind;

typedef struct saddle_link_rule {
    saddle_link_kind kind;
    double loss;      /* the long-run share of messages, or edges, that fail */
    double burst;     /* mean rounds of a failure; 0: rounds are independent */
    uint64_t delay;   /* the most rounds that a message is late */
    double late;      /* the share of messages that are late */
    size_t dead_from; /* the dead direction; both ends equal: none */
    size_t dead_to;
    uint64_t patience;    /* rounds without a message after which a direction counts as dead */
    const char *tail;     /* what follows the first colon; borrowed from the text */
    size_t steps;         /* graphs of a sequence, or changes of a schedule */
    saddle_graph **graph; /* of a sequence */
    double *weight; /* of a sequence: per step M_ij at the position of j in the union; 0: no edge */
    double *self_weight; /* of a sequence: per step M_ii */
    uint64_t *from;      /* of a schedule: the first round of each step */
    /* Of a schedule: per step and position in the graph, whether the edge works. */
    unsigned char *works;
    saddle_replay replay;
    double least_self_weight; /* of any agent in any round */
} saddle_link_rule;

/* Parses a text, which must outlive the rule. NULL on failure; free with saddle_link_rule_free(). */
saddle_status saddle_link_rule_create(saddle_link_rule **out, const char *text,
                                      saddle_error *error);
/* Frees a rule. NULL is allowed. */
void saddle_link_rule_free(saddle_link_rule *rule);

/* Builds the graphs of a sequence and their union. If `agents` is 0, the first topology that determines
 * the number decides, or `otherwise`. */
saddle_status saddle_link_rule_union(saddle_link_rule *rule, size_t agents, size_t otherwise,
                                     uint64_t seed, saddle_graph **out, saddle_error *error);
/* Completes a rule once the network is known. `mixing` is on the graph of all edges; the graphs of a
 * sequence are weighted by its rule. */
saddle_status saddle_link_rule_complete(saddle_link_rule *rule, const saddle_mixing *mixing,
                                        saddle_error *error);

/* Returns whether a message may fail in one direction without its sender knowing. */
static inline bool saddle_link_rule_one_sided(const saddle_link_rule *rule)
{
    return rule->kind == SADDLE_LINKS_LOSSY || rule->kind == SADDLE_LINKS_DELAY ||
           rule->kind == SADDLE_LINKS_REPLAY;
}

/* Returns the step of a sequence or schedule in a round; `steps` for a schedule that has not begun. */
size_t saddle_link_rule_step(const saddle_link_rule *rule, uint64_t round);
/* Finds the round *from from which on to the end of a run of `rounds` the edges of a schedule never connect
 * all agents, even taken together, and describes the components. `out` is empty if there is none. */
saddle_status saddle_link_rule_parted(const saddle_link_rule *rule, const saddle_graph *graph,
                                      uint64_t rounds, uint64_t *from,
                                      char out[SADDLE_COMPONENTS_TEXT], saddle_error *error);
