/* Fingerprints of networks and data, by OpenSSL's SHA-256. */
#include "instance/fingerprint.h"

#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "core/memory.h"
#include "core/status.h"

/* ---- one thing ------------------------------------------------------------------------------- */

static bool begin_sum(EVP_MD_CTX *sum)
{
    return sum != NULL && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1;
}

static bool sum_block(EVP_MD_CTX *sum, const void *block, size_t count, size_t size)
{
    return block == NULL || EVP_DigestUpdate(sum, block, count * size) == 1;
}

static bool end_sum(EVP_MD_CTX *sum, uint64_t *out)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (EVP_DigestFinal_ex(sum, digest, NULL) != 1)
        return false;
    memcpy(out, digest, sizeof *out);
    return true;
}

static bool sum_graph(EVP_MD_CTX *sum, const saddle_graph *graph)
{
    return sum_block(sum, &graph->agents, 1, sizeof graph->agents) &&
           sum_block(sum, graph->start, graph->agents + 1, sizeof *graph->start) &&
           sum_block(sum, graph->neighbour, 2 * graph->edges, sizeof *graph->neighbour);
}

static bool sum_mixing(EVP_MD_CTX *sum, const saddle_mixing *mixing)
{
    const saddle_graph *graph = mixing->graph;
    return sum_graph(sum, graph) &&
           sum_block(sum, mixing->weight, 2 * graph->edges, sizeof *mixing->weight) &&
           sum_block(sum, mixing->self_weight, graph->agents, sizeof *mixing->self_weight);
}

static bool sum_data(EVP_MD_CTX *sum, const saddle_dataset *data)
{
    const uint64_t shape[] = {data->rows, data->features, data->nonzeros};
    bool sparse = data->dense == NULL;
    return sum_block(sum, shape, 1, sizeof shape) &&
           sum_block(sum, data->label, data->rows, sizeof *data->label) &&
           sum_block(sum, data->row_start, data->rows + 1, sizeof *data->row_start) &&
           sum_block(sum, data->column, data->nonzeros, sizeof *data->column) &&
           sum_block(sum, data->value, sparse ? data->nonzeros : 0, sizeof *data->value) &&
           sum_block(sum, data->dense, data->rows * data->features, sizeof *data->dense);
}

bool saddle_fingerprint_graph(const saddle_graph *graph, uint64_t *out)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    bool good = begin_sum(sum) && sum_graph(sum, graph) && end_sum(sum, out);
    EVP_MD_CTX_free(sum);
    return good;
}

bool saddle_fingerprint_mixing(const saddle_mixing *mixing, uint64_t *out)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    bool good = begin_sum(sum) && sum_mixing(sum, mixing) && end_sum(sum, out);
    EVP_MD_CTX_free(sum);
    return good;
}

bool saddle_fingerprint_data(const saddle_dataset *data, uint64_t *out)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    bool good = begin_sum(sum) && sum_data(sum, data) && end_sum(sum, out);
    EVP_MD_CTX_free(sum);
    return good;
}

/* ---- an instance ------------------------------------------------------------------------------ */

/* An agent's samples; of a problem that is not made from data its loss at the start. */
static bool sum_agent(EVP_MD_CTX *sum, const saddle_instance *e, size_t i, double *scratch)
{
    const saddle_problem *problem = e->problem;
    const uint64_t head[] = {i, problem->samples[i]};
    if (!sum_block(sum, head, 1, sizeof head))
        return false;
    if (e->parts->shard != NULL)
        return sum_data(sum, e->parts->shard[i]);
    double value = problem->value(problem, i, e->x0, e->y0, scratch);
    return sum_block(sum, &value, 1, sizeof value);
}

/* What all agents have in common: network, start and held-out rows. */
static bool sum_common(EVP_MD_CTX *sum, const saddle_instance *e)
{
    return sum_mixing(sum, e->mixing) && sum_block(sum, e->x0, e->problem->x_dim, sizeof *e->x0) &&
           sum_block(sum, e->y0, e->problem->y_dim, sizeof *e->y0) &&
           (e->held_out == NULL || sum_data(sum, e->held_out));
}

saddle_status saddle_fingerprint_instance(const saddle_instance *e, uint64_t *out,
                                          saddle_error *error)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    double *scratch = saddle_alloc_doubles(saddle_problem_scratch(e->problem));
    uint64_t part = 0;
    bool good = scratch != NULL;
    *out = 0;
    /* Parts are added, in whatever order, so that it does not matter who holds what. */
    for (size_t k = 0; good && k < e->world->local; k++) {
        good =
            begin_sum(sum) && sum_agent(sum, e, e->world->here[k], scratch) && end_sum(sum, &part);
        *out += part;
    }
    if (good && e->world->rank == 0) {
        good = begin_sum(sum) && sum_common(sum, e) && end_sum(sum, &part);
        *out += part;
    }
    EVP_MD_CTX_free(sum);
    saddle_free(scratch);
    saddle_status status = good ? SADDLE_OK : saddle_no_memory(error, "the data's fingerprint");
    status = saddle_world_agree(e->world, status, error);
    if (status == SADDLE_OK)
        e->world->add_words(e->world, 1, (int64_t *)(void *)out);
    return status;
}

/* ---- several processes ----------------------------------------------------------------------- */

saddle_status saddle_same_contents(const saddle_world *world, const char *option, const char *text,
                                   bool taken, uint64_t fingerprint, saddle_error *error)
{
    uint64_t first = fingerprint;
    world->share(world, 0, sizeof first, &first);
    if (!taken)
        return saddle_no_memory(error, "a fingerprint");
    if (fingerprint == first)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: '%.300s' is not the same everywhere: its contents at process %zu are "
                       "not those at process 0; copy one file to all machines",
                       option, text, world->rank);
}
