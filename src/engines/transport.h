/*
 * How the processes of a job communicate: the functions of the module of an engine. None fails, except for
 * lack of memory where that is said: a transport that cannot go on ends the job with a message.
 */
#pragma once

#include "core/world.h"
#include "engines/link_state.h"
#include "engines/module.h"

/* What calls by threads a transport allows, in this process. */
typedef enum saddle_transport_state {
    SADDLE_TRANSPORT_OVER,   /* none: it has ended */
    SADDLE_TRANSPORT_SINGLE, /* only by programs with one thread */
    SADDLE_TRANSPORT_FUNNEL, /* only by the thread that began it */
    SADDLE_TRANSPORT_ALL,    /* by several threads at once */
} saddle_transport_state;

/* All processes of the job, with messages that never mix with those of another group. */
typedef struct saddle_group saddle_group;

/* A world whose processes communicate by a group. */
typedef struct saddle_group_world {
    saddle_world base;
    saddle_group *group;
} saddle_group_world;

/* What is exchanged with a neighbouring process in every round. */
typedef struct saddle_peer {
    int rank;
    size_t ghost;  /* its first ghost */
    size_t ghosts; /* number of its ghosts */
    size_t span;   /* first of the agents that it reads, in saddle_peers::published */
    size_t spans;  /* number of these */
} saddle_peer;

/* A round's message of one agent: these blocks of its row. */
typedef struct saddle_round_blocks {
    size_t count;
    saddle_row_block
        block[SADDLE_MOST_BLOCKS_SENT + 1]; /* the last one is the clock, if there are clocks */
} saddle_round_blocks;

/* What all neighbouring processes exchange in all rounds. */
typedef struct saddle_peers {
    size_t peers;
    saddle_peer *peer;
    size_t *published; /* per peer: the rows, of those in this process, that it reads */
    unsigned rounds;
    saddle_round_blocks *message; /* per round */
    double *span[2];              /* the rows of this process, per parity */
    double *halo;                 /* the ghosts' rows */
    size_t stride;                /* doubles from one row to the next */
} saddle_peers;

/* Prepared messages of all rounds. */
typedef struct saddle_channels saddle_channels;

typedef struct saddle_transport {
    saddle_module module;

    /* Begins communication, unless it has begun; the first two are set unless it is over. */
    saddle_transport_state (*begin)(size_t *rank, size_t *ranks);
    /* Returns whether it has begun and not ended. */
    bool (*running)(void);
    /* Ends communication. Collective. */
    void (*end)(void);
    /* Calls a function before communication ends, whichever code ends it. */
    void (*before_end)(void (*function)(void));
    /* Ends all processes of the job. */
    void (*abort)(int code);
    /* Writes the name of this machine. */
    void (*host)(size_t size, char *out);

    /* Makes a group. Collective. */
    saddle_group *(*group)(void);
    /* Prepares a group for sums over agents; false if memory is short. */
    bool (*reserve)(saddle_group *group, size_t agents);
    /* Frees a group. Collective unless communication has ended. */
    void (*free)(saddle_group *group);
    /* Returns the number of processes on this machine. Collective. */
    size_t (*on_machine)(saddle_group *group);
    /* Returns whether all processes have called this; call it again until they have. NULL: a group that always
     * exists. */
    bool (*arrived)(saddle_group *group);

    /* Gives all processes the blocks of all, in the order of ranks. Collective. */
    void (*gather)(saddle_group *group, size_t bytes, const void *own, void *all);
    /* The functions of a saddle_group_world. */
    void (*add_words)(const saddle_world *world, size_t count, int64_t *words);
    void (*largest)(const saddle_world *world, size_t count, double *values);
    void (*share)(const saddle_world *world, size_t from, size_t bytes, void *block);
    void (*transfer)(const saddle_world *world, size_t from, size_t to, size_t bytes, void *block);
    void (*add_terms)(const saddle_world *world, size_t first, size_t count, size_t size,
                      size_t stride, double *terms, double *sum);
    void (*join)(const saddle_world *world, size_t size, double *sum);

    /* Sends a message that is only a number, without waiting. */
    void (*signal)(saddle_group *group, int to, int tag);
    /* Takes such a message; false when there is none, or none yet: see `polls`. */
    bool (*poll)(saddle_group *group, int *from, int *tag);
    /* Polls in vain after which there is none. */
    int polls;

    /* Prepares for messages between neighbours; NULL if memory is short. Borrows `peers`. */
    saddle_channels *(*channels)(const saddle_peers *peers);
    /* Opens them. Collective. */
    void (*open)(saddle_channels *channels, saddle_group *group);
    /* Starts a round: sends the spans of a parity, and receives ghosts. */
    void (*start)(saddle_channels *channels, unsigned parity, unsigned round);
    /* Waits for all messages of it. */
    void (*wait)(saddle_channels *channels);
    /* Closes and frees channels, which need not be open. NULL is allowed. Collective. */
    void (*close)(saddle_channels *channels);

    /*
     * Divides the vertices of a graph into parts of about the same size with few edges between them, by one of
     * the methods 0, 1, ...; false when there is no such method or it fails. NULL: there is no method.
     * The neighbours of vertex i are neighbour[start[i]], ..., neighbour[start[i + 1] - 1].
     */
    bool (*partition)(unsigned method, size_t vertices, const size_t *start,
                      const size_t *neighbour, size_t parts, size_t *part);
} saddle_transport;
