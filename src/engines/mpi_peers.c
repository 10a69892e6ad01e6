#include "engines/mpi_job.h"

#include <stdint.h>
#include <string.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"

/* The most processes that an error message lists. */
#define LISTED 4

/* What a process tells the others about itself. Different versions must understand each other here, so
 * neither the size nor the first three fields ever change. */
typedef struct peer {
    uint32_t abi;
    char version[60];
    char host[60];
    int32_t thread_level;
} peer;

_Static_assert(sizeof(peer) == 128, "other versions expect this size");

static peer *peers; /* one per rank; NULL before they were compared; never freed */

static void describe(peer *out)
{
    size_t rank;
    size_t ranks;
    memset(out, 0, sizeof *out);
    out->abi = SADDLE_ABI;
    out->thread_level = (int32_t)saddle_mpi->begin(&rank, &ranks);
    saddle_snprintf(out->version, sizeof out->version, "%s", saddle_version());
    saddle_mpi->host(sizeof out->host, out->host);
}

static bool same_version(const peer *a, const peer *b)
{
    return a->abi == b->abi && memcmp(a->version, b->version, sizeof a->version) == 0;
}

/* Every process has the same table and reaches the same result. */
static saddle_status compare_versions(const peer *table, size_t ranks, saddle_error *error)
{
    char list[640] = "";
    size_t different = 0;
    for (size_t r = 0; r < ranks; r++) {
        bool differs = !same_version(&table[r], &table[0]);
        different += differs;
        if (r == 0 || (differs && different <= LISTED))
            saddle_append(list, sizeof list, "%srank %zu on %s has %s (ABI %u)", r > 0 ? ", " : "",
                          r, table[r].host, table[r].version, (unsigned)table[r].abi);
    }
    if (different == 0)
        return SADDLE_OK;
    if (different > LISTED)
        saddle_append(list, sizeof list, " and %zu more differ", different - LISTED);
    return saddle_refuse(
        error,
        "--engine: the processes of this job run different versions of saddle: %s; "
        "install the same version on all hosts",
        list);
}

saddle_status saddle_mpi_compare_peers(const saddle_world *world, saddle_error *error)
{
    peer own;
    if (peers != NULL)
        return SADDLE_OK;
    peer *table = saddle_alloc(world->ranks, sizeof *table);
    saddle_status status = saddle_check_memory(table, "the list of processes", error);
    status = saddle_world_agree(world, status, error);
    if (status == SADDLE_OK && table != NULL) {
        describe(&own);
        saddle_mpi->gather(saddle_mpi_group(world), sizeof own, &own, table);
        for (size_t r = 0; r < world->ranks; r++)
            table[r].version[sizeof own.version - 1] = table[r].host[sizeof own.host - 1] = '\0';
        status = compare_versions(table, world->ranks, error);
    }
    if (status == SADDLE_OK)
        peers = table;
    else
        saddle_free(table);
    return status;
}

const char *saddle_mpi_host(size_t rank)
{
    return peers[rank].host;
}

bool saddle_mpi_all_multiple(size_t ranks)
{
    for (size_t r = 0; r < ranks; r++)
        if (peers[r].thread_level < SADDLE_TRANSPORT_ALL)
            return false;
    return true;
}
