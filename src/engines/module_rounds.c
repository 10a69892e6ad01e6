/*
 * Messages between neighbours: persistent requests, which are started in every round, on a communicator with
 * the graph of processes.
 */
#include "engines/module_mpi.h"

#include <stdlib.h>

enum { TAG_ROUND = 1 };

struct saddle_channels {
    const saddle_peers *all;
    MPI_Comm comm; /* over the graph of processes; MPI_COMM_NULL: not open */
    int *rank;     /* of every peer, then its weight; only used by saddle_mpi_open_channels() */
    MPI_Aint *published; /* per peer: offsets in bytes of the spans that it reads */
    /* Per round and peer: ghosts and spans. They outlive the requests that use them, because some
     * versions of MPI need that. */
    MPI_Datatype *type;
    MPI_Request *request; /* per parity, round and peer: receive and send */
    MPI_Request *flying;  /* those of the current round */
    MPI_Status *status;   /* of them */
};

void saddle_mpi_close_channels(saddle_channels *c)
{
    if (c == NULL)
        return;
    if (c->comm != MPI_COMM_NULL) {
        size_t types = 2 * (size_t)c->all->rounds * c->all->peers;
        for (size_t k = 0; k < 2 * types; k++)
            MPI_Request_free(&c->request[k]);
        for (size_t k = 0; k < types; k++)
            MPI_Type_free(&c->type[k]);
        MPI_Comm_free(&c->comm);
    }
    free(c->rank);
    free(c->published);
    free(c->type);
    free(c->request);
    free(c->status);
    free(c);
}

saddle_channels *saddle_mpi_make_channels(const saddle_peers *all)
{
    saddle_channels *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    size_t types = 2 * (size_t)all->rounds * all->peers;
    size_t spans = 0;
    for (size_t k = 0; k < all->peers; k++)
        spans += all->peer[k].spans;
    c->all = all;
    c->comm = MPI_COMM_NULL;
    c->rank = calloc(2 * all->peers + 1, sizeof *c->rank);
    c->published = calloc(spans + 1, sizeof *c->published);
    c->type = calloc(types + 1, sizeof *c->type);
    c->request = calloc(2 * types + 1, sizeof *c->request);
    c->status = calloc(2 * all->peers + 1, sizeof *c->status);
    if (c->rank == NULL || c->published == NULL || c->type == NULL || c->request == NULL ||
        c->status == NULL) {
        saddle_mpi_close_channels(c);
        return NULL;
    }
    for (size_t k = 0; k < spans; k++)
        c->published[k] = (MPI_Aint)(all->published[k] * all->stride * sizeof(double));
    return c;
}

/* Returns the index of the first type, or request, of a round. */
static size_t first_of(const saddle_channels *c, unsigned round)
{
    return 2 * (size_t)round * c->all->peers;
}

/* Returns the type of what a row sends in a round, from its first block on. */
static MPI_Datatype message_type(const saddle_round_blocks *message)
{
    enum { MOST = sizeof message->block / sizeof *message->block };
    int ones[MOST];
    MPI_Aint place[MOST];
    MPI_Datatype run[MOST];
    MPI_Datatype type;
    for (size_t k = 0; k < message->count; k++) {
        size_t offset = message->block[k].offset - message->block[0].offset;
        ones[k] = 1;
        place[k] = (MPI_Aint)(offset * sizeof(double));
        run[k] = saddle_mpi_run_of(message->block[k].length, MPI_DOUBLE);
    }
    if (message->count == 1)
        return run[0];
    MPI_Type_create_struct((int)message->count, ones, place, run, &type);
    for (size_t k = 0; k < message->count; k++)
        MPI_Type_free(&run[k]);
    return type;
}

/* Creates the types of what is exchanged with the peers in a round: per peer, ghosts and spans. */
static void make_types(const saddle_channels *c, unsigned round)
{
    MPI_Datatype message = message_type(&c->all->message[round]);
    MPI_Datatype *type = c->type + first_of(c, round);
    for (size_t k = 0; k < c->all->peers; k++) {
        const saddle_peer *to = &c->all->peer[k];
        MPI_Type_create_hvector((int)to->ghosts, 1, (MPI_Aint)(c->all->stride * sizeof(double)),
                                message, &type[2 * k]);
        MPI_Type_create_hindexed_block((int)to->spans, 1, c->published + to->span, message,
                                       &type[2 * k + 1]);
        MPI_Type_commit(&type[2 * k]);
        MPI_Type_commit(&type[2 * k + 1]);
    }
    MPI_Type_free(&message);
}

static MPI_Request *requests_of(const saddle_channels *c, unsigned parity, unsigned round)
{
    return c->request + first_of(c, parity * c->all->rounds + round);
}

/* Creates the requests of one round and parity: per peer, a receive and a send. */
static void make_requests(const saddle_channels *c, unsigned parity, unsigned round)
{
    const saddle_peers *all = c->all;
    const MPI_Datatype *type = c->type + first_of(c, round);
    MPI_Request *request = requests_of(c, parity, round);
    size_t offset = all->message[round].count > 0 ? all->message[round].block[0].offset : 0;
    for (size_t k = 0; k < all->peers; k++) {
        const saddle_peer *to = &all->peer[k];
        MPI_Recv_init(all->halo + to->ghost * all->stride + offset, 1, type[2 * k], to->rank,
                      TAG_ROUND, c->comm, &request[2 * k]);
        MPI_Send_init(all->span[parity] + offset, 1, type[2 * k + 1], to->rank, TAG_ROUND, c->comm,
                      &request[2 * k + 1]);
    }
}

void saddle_mpi_open_channels(saddle_channels *c, saddle_group *g)
{
    const saddle_peers *all = c->all;
    int *weight = c->rank + all->peers;
    for (size_t k = 0; k < all->peers; k++) {
        c->rank[k] = all->peer[k].rank;
        weight[k] = (int)all->peer[k].spans;
    }
    MPI_Dist_graph_create_adjacent(g->comm, (int)all->peers, c->rank, weight, (int)all->peers,
                                   c->rank, weight, MPI_INFO_NULL, 0, &c->comm);
    for (unsigned round = 0; round < all->rounds; round++) {
        make_types(c, round);
        for (unsigned parity = 0; parity < 2; parity++)
            make_requests(c, parity, round);
    }
}

void saddle_mpi_start_round(saddle_channels *c, unsigned parity, unsigned round)
{
    c->flying = requests_of(c, parity, round);
    MPI_Startall((int)(2 * c->all->peers), c->flying);
}

void saddle_mpi_wait_for_round(saddle_channels *c)
{
    MPI_Waitall((int)(2 * c->all->peers), c->flying, c->status);
}
