/*
 * Links that do not deliver every message of every round: what they remember, and what they do before and after a
 * round of an agent.
 *
 * Everything random is a function of the seed, the edge and the round, so that it is the same for any number of threads
 * and processes. Rounds are counted over all iterations.
 */
#ifndef SADDLE_ENGINES_LINK_STATE_H
#define SADDLE_ENGINES_LINK_STATE_H

#include <saddle/algorithm.h>

#include "core/memory.h"
#include "engines/membership.h"
#include "engines/running_sums.h"
#include "graph/link_rule.h"

/* Agents are meant by their position in world->here, messages to them by their position in `start`. */
typedef struct saddle_link_state {
    const saddle_instance *instance;
    const saddle_link_rule *rule;
    const saddle_layout *layout;
    saddle_inexact inexact;
    size_t agents;          /* of this process */
    size_t messages;        /* to them, in a round in which every edge is used */
    size_t stride;          /* doubles of a row of published state */
    const size_t *start;    /* of each agent's messages; borrowed */
    const double **read;    /* per message: what the agent reads in its place in this round */
    const double **arrived; /* per message: what arrived in this round; NULL: nothing */
    double *weight;         /* per message: of this round */
    size_t kinds;           /* of messages: rounds of an iteration may send different fields */
    size_t kind[2 * SADDLE_MOST_FIELDS]; /* where a message of each begins in the span */
    uint64_t
        *used; /* per message and kind: 1 + the round of the newest that was used; 0: none was */
    unsigned char *failing; /* per message: whether a burst lasts; NULL: there are none */
    uint64_t number;        /* of the present round */
    uint64_t sent;          /* messages so far, where not every edge is used in every round */
    uint64_t bytes;         /* of them */
    /* Gossip. */
    size_t *pair;    /* the two ends of every edge of the network */
    size_t *order;   /* numbers of edges */
    size_t *partner; /* per agent of the network: its own number where it has none in this round */
    /* Running sums. */
    saddle_running_sums sums; /* no fields: sums are mixed like iterates */
    double *self_weight;      /* per agent; `weight` has those of its neighbours */
    double *kept;             /* per agent: z and phi, a stride apart */
    double *received;         /* per message: r_ij, a stride apart */
    double *mixed;            /* per agent: see saddle_agent::mixed */
    size_t mixed_stride;      /* doubles between two agents' */
    saddle_membership members;
    /* Late messages: rows of published state of the last rounds. */
    size_t window;        /* rounds that are kept; 0: none */
    size_t sources;       /* agents here, then ghosts */
    const size_t *source; /* per message: its sender; borrowed */
    const double *halo;   /* the rows of ghosts; borrowed */
    bool begun;           /* whether the halo holds the rows of the last round */
    double *past; /* per slot and source, `stride` apart; round t is in slot t mod (window + 1) */
    /* --inexact stale. */
    double *stale; /* per message: the last row that arrived, `stride` apart */
} saddle_link_state;

/* Whether links need a state: all but reliable ones do, and those with churn. */
static inline bool saddle_link_state_needed(const saddle_instance *instance)
{
    return instance->links != NULL &&
           (instance->links->kind != SADDLE_LINKS_RELIABLE || instance->churn != NULL);
}
/* Whether running sums carry an agent's sums, if it has any, and agents have maps of who takes part. */
static inline bool saddle_link_state_has_maps(const saddle_instance *instance)
{
    return instance->links != NULL &&
           (instance->churn != NULL || (saddle_link_rule_one_sided(instance->links) &&
                                        instance->plan->network.inexact == SADDLE_INEXACT_NO));
}
/* Find the sizes of what it holds; returns the doubles of a row of published state, of which the last `extra` are left
 * free. */
size_t saddle_link_state_measure(saddle_link_state *state, const saddle_instance *instance,
                                 const saddle_layout *layout, size_t extra);
/* Take memory for `messages` to the agents here, from `sources`; complete only without claim->failed. */
void saddle_link_state_take(saddle_link_state *state, size_t messages, size_t sources,
                            saddle_claim *claim);
/* Free what it holds. */
void saddle_link_state_clear(saddle_link_state *state);
/* The parts of a row of published state that are sent in a round; `block` has room for SADDLE_MOST_BLOCKS_SENT. */
typedef struct saddle_row_block {
    size_t offset;
    size_t length;
} saddle_row_block;
enum { SADDLE_MOST_BLOCKS_SENT = 2 * SADDLE_MOST_FIELDS + 1 };
size_t saddle_link_state_blocks(const saddle_link_state *state, const saddle_layout *layout,
                                unsigned round, saddle_row_block *block);
/* Doubles that count as sent: all of them, but of a map its hash. */
size_t saddle_link_state_length(const saddle_link_state *state, const saddle_layout *layout,
                                unsigned round);

/* Whether not every edge is used in every round, so that messages are counted as they are sent. */
static inline bool saddle_link_state_counts(const saddle_link_state *state)
{
    saddle_link_kind kind = state->rule->kind;
    return kind == SADDLE_LINKS_GOSSIP || kind == SADDLE_LINKS_SEQUENCE ||
           kind == SADDLE_LINKS_SCHEDULE;
}

/* Before a round, by one thread: what concerns all agents. */
void saddle_link_state_begin(saddle_link_state *state, uint64_t iteration, unsigned round);
/* Point agent i, whose neighbours' rows are `rows`, at what it reads in a round, with the weights of that round. */
void saddle_link_state_collect(saddle_link_state *state, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round);
/* Whether the agent leaves out its phases in this round, because it is gone or begins anew. */
static inline bool saddle_link_state_idle(const saddle_link_state *state, size_t i)
{
    return state->members.entries > 0 && state->members.stage[i] != SADDLE_AGENT_ACTIVE;
}
/* After the last phase of a round: complete what neighbours will read in the next. */
void saddle_link_state_publish(saddle_link_state *state, saddle_agent *agent, size_t i,
                               unsigned round);
/* Complete the row of agent i at the start of a run. */
void saddle_link_state_start(saddle_link_state *state, saddle_agent *agent, size_t i);
/* 1 + the round of the newest message at position k that was used; 0: none was. */
uint64_t saddle_link_state_newest(const saddle_link_state *state, size_t k);
/* What has arrived at agent i from agent j of the kind of this round's messages, the newest that was not used; NULL: nothing. `sent` receives
 * 1 + the round in which it was sent. */
const double *saddle_link_state_arrived(saddle_link_state *state, size_t k, size_t i, size_t j,
                                        const double *row, uint64_t number, size_t kind,
                                        uint64_t *sent);
/* Whether the message at position k of the present round was used in it. */
bool saddle_link_state_in_time(const saddle_link_state *state, size_t k);
/* The most rounds since a message to an agent here was used, after a number of rounds; 0: all were used in the last. */
uint64_t saddle_link_state_age(const saddle_link_state *state, uint64_t rounds);
/* See saddle_engine_class::defect. */
void saddle_link_state_defect(const saddle_link_state *state, const saddle_agent *agent, size_t i,
                              const saddle_field *field, double *sum, double *weight);
/* ---- membership.c ----------------------------------------------------------------------------- */

/* Find the sizes of maps, which are at `at` in a row. */
void saddle_membership_measure(saddle_membership *members, const saddle_instance *instance,
                               const saddle_layout *layout, size_t at);
void saddle_membership_take(saddle_link_state *state, saddle_claim *claim);
void saddle_membership_clear(saddle_membership *members);
/* Make the first map of agent i. */
void saddle_membership_start(saddle_link_state *state, saddle_agent *agent, size_t i);
/* The weights of agent i's neighbours from now on, by the map of a row. */
void saddle_membership_weigh(saddle_link_state *state, saddle_agent *agent, size_t i,
                             const double *row);
/* The same as saddle_link_state_collect() and _publish(), where there are maps. */
void saddle_membership_collect(saddle_link_state *state, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round, size_t kind);
void saddle_membership_publish(saddle_link_state *state, saddle_agent *agent, size_t i,
                               unsigned round, unsigned next_round);

/* ---- link_record.c --------------------------------------------------------------------------- */

/* Words of an agent's record in a checkpoint; 0 with reliable links. */
size_t saddle_link_record_words(const saddle_instance *instance, const saddle_layout *layout,
                                size_t agent);
/* Write the record of agent i, whose row of published state is `row`, or read it. */
void saddle_link_record_save(saddle_link_state *state, size_t i, double *row, uint64_t *words);
void saddle_link_record_load(saddle_link_state *state, size_t i, double *row,
                             const uint64_t *words);
/* Read what is needed of a neighbour in another process, which is a source behind the agents here. */
void saddle_link_record_load_ghost(saddle_link_state *state, size_t source, size_t agent,
                                   const uint64_t *words);

/* ---- link_draws.c ---------------------------------------------------------------------------- */

/* Whether a message k to agent i from agent j is lost in a round; advances its burst. */
bool saddle_link_fails(saddle_link_state *state, size_t k, size_t i, size_t j, uint64_t round);
/* By how many rounds the message of a round is late. */
uint64_t saddle_link_delay(const saddle_link_state *state, size_t i, size_t j, uint64_t round);
/* Draw the pairs of a round of gossip; returns how many there are. */
size_t saddle_link_match(saddle_link_state *state, uint64_t round);

#endif
