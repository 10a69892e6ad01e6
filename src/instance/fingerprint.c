/* Fingerprints of networks and data, by SHA-256. */
#include "instance/fingerprint.h"

#include <string.h>

#include "core/memory.h"
#include "core/sha256.h"
#include "core/status.h"

/* ---- single objects -------------------------------------------------------------------------- */

/* Stores the first 64 bits of a sum; returns true, for the functions that end with it. */
static bool end_sum(saddle_sha256 *sum, uint64_t *out)
{
    unsigned char digest[SADDLE_SHA256_BYTES];
    saddle_sha256_end(sum, digest);
    memcpy(out, digest, sizeof *out);
    return true;
}

static void sum_graph(saddle_sha256 *sum, const saddle_graph *graph)
{
    saddle_sha256_add(sum, &graph->agents, sizeof graph->agents);
    saddle_sha256_add(sum, graph->start, (graph->agents + 1) * sizeof *graph->start);
    saddle_sha256_add(sum, graph->neighbour, 2 * graph->edges * sizeof *graph->neighbour);
}

static void sum_mixing(saddle_sha256 *sum, const saddle_mixing *mixing)
{
    const saddle_graph *graph = mixing->graph;
    sum_graph(sum, graph);
    saddle_sha256_add(sum, mixing->weight, 2 * graph->edges * sizeof *mixing->weight);
    saddle_sha256_add(sum, mixing->self_weight, graph->agents * sizeof *mixing->self_weight);
}

/* Adds what the text of links does not show: the weights of a sequence, and the contents of a
 * schedule. */
static void sum_links(saddle_sha256 *sum, const saddle_link_rule *links, const saddle_graph *graph)
{
    size_t width = 2 * graph->edges;
    if (links == NULL)
        return;
    if (links->kind == SADDLE_LINKS_SEQUENCE)
        saddle_sha256_add(sum, links->weight, links->steps * width * sizeof *links->weight);
    if (links->kind == SADDLE_LINKS_SCHEDULE && links->steps > 0) {
        saddle_sha256_add(sum, links->from, links->steps * sizeof *links->from);
        saddle_sha256_add(sum, links->works, links->steps * width);
    }
}

static void sum_churn(saddle_sha256 *sum, const saddle_churn *churn)
{
    for (size_t k = 0; churn != NULL && k < churn->count; k++) {
        const uint64_t event[] = {churn->event[k].round, churn->event[k].kind,
                                  churn->event[k].which};
        saddle_sha256_add(sum, event, sizeof event);
    }
}

static void sum_data(saddle_sha256 *sum, const saddle_dataset *data)
{
    const uint64_t shape[] = {data->rows, data->features, data->nonzeros};
    saddle_sha256_add(sum, shape, sizeof shape);
    saddle_sha256_add(sum, data->label, data->rows * sizeof *data->label);
    saddle_sha256_add(sum, data->row_start, (data->rows + 1) * sizeof *data->row_start);
    saddle_sha256_add(sum, data->column, data->nonzeros * sizeof *data->column);
    if (data->value != NULL)
        saddle_sha256_add(sum, data->value, data->nonzeros * sizeof *data->value);
    saddle_sha256_add(sum, data->dense, data->rows * data->features * sizeof *data->dense);
}

bool saddle_fingerprint_graph(const saddle_graph *graph, uint64_t *out)
{
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    sum_graph(&sum, graph);
    return end_sum(&sum, out);
}

bool saddle_fingerprint_mixing(const saddle_mixing *mixing, uint64_t *out)
{
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    sum_mixing(&sum, mixing);
    return end_sum(&sum, out);
}

bool saddle_fingerprint_links(const saddle_link_rule *links, const saddle_graph *graph,
                              uint64_t *out)
{
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    sum_links(&sum, links, graph);
    return end_sum(&sum, out);
}

bool saddle_fingerprint_churn(const saddle_churn *churn, uint64_t *out)
{
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    sum_churn(&sum, churn);
    return end_sum(&sum, out);
}

bool saddle_fingerprint_data(const saddle_dataset *data, uint64_t *out)
{
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    sum_data(&sum, data);
    return end_sum(&sum, out);
}

/* ---- an instance ----------------------------------------------------------------------------- */

/* Computes the fingerprint of an agent's rows or, for a problem that is not made from data, of
 * its loss at the start. */
static bool sum_agent(const saddle_instance *e, size_t i, double *scratch, uint64_t *out)
{
    const saddle_problem *problem = e->problem;
    const uint64_t head[] = {i, problem->samples[i]};
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    saddle_sha256_add(&sum, head, sizeof head);
    if (e->parts->shard != NULL) {
        sum_data(&sum, e->parts->shard[i]);
    } else {
        double value = saddle_problem_value(problem, i, e->x0, e->y0, scratch);
        saddle_sha256_add(&sum, &value, sizeof value);
    }
    return end_sum(&sum, out);
}

/* Fills a point with different numbers of both signs: v[k] = size * a number in [-1, 1). */
static void fill_probe(size_t dimension, double size, double *v)
{
    for (size_t k = 0; k < dimension; k++) {
        uint64_t bits = (k + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 11;
        v[k] = size * ((double)bits * 0x1p-52 - 1.0);
    }
}

/* Adds the results of the sets and h on a few points, which reveal bounds and contexts that are
 * not in their texts. */
static bool sum_sets(saddle_sha256 *sum, const saddle_instance *e)
{
    static const double size[] = {1e-3, -1e-3, 1.0, -1.0, 1e3, -1e3, 1e9, -1e9};
    size_t x_dim = e->problem->x_dim;
    size_t y_dim = e->problem->y_dim;
    double *v = saddle_alloc_doubles(x_dim > y_dim ? x_dim : y_dim);
    double *x_scratch = saddle_alloc_doubles(saddle_prox_scratch(e->x_prox));
    double *y_scratch = saddle_alloc_doubles(saddle_set_scratch(e->y_set));
    bool good = v != NULL && x_scratch != NULL && y_scratch != NULL;
    for (size_t k = 0; good && k < sizeof size / sizeof *size; k++) {
        fill_probe(x_dim, size[k], v);
        double h = saddle_regularizer_value(e->regularizer, v);
        saddle_sha256_add(sum, &h, sizeof h);
        saddle_prox_apply(e->x_prox, 1.0, v, x_scratch);
        saddle_sha256_add(sum, v, x_dim * sizeof *v);
        fill_probe(y_dim, size[k], v);
        saddle_set_project(e->y_set, v, y_scratch);
        saddle_sha256_add(sum, v, y_dim * sizeof *v);
    }
    saddle_free(v);
    saddle_free(x_scratch);
    saddle_free(y_scratch);
    return good;
}

/* Computes the fingerprint of what all agents share: network, sets, start and held-out rows. */
static bool sum_common(const saddle_instance *e, uint64_t *out)
{
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    bool good = sum_sets(&sum, e);
    sum_mixing(&sum, e->mixing);
    sum_links(&sum, e->links, e->graph);
    sum_churn(&sum, e->churn);
    saddle_sha256_add(&sum, e->x0, e->problem->x_dim * sizeof *e->x0);
    saddle_sha256_add(&sum, e->y0, e->problem->y_dim * sizeof *e->y0);
    if (e->held_out != NULL)
        sum_data(&sum, e->held_out);
    return end_sum(&sum, out) && good;
}

saddle_status saddle_fingerprint_instance(const saddle_instance *e, uint64_t *out,
                                          saddle_error *error)
{
    double *scratch = saddle_alloc_doubles(saddle_problem_scratch(e->problem));
    uint64_t part = 0;
    bool good = scratch != NULL;
    *out = 0;
    /* The fingerprints are added up, so that the result does not depend on which process holds
     * which agent. */
    for (size_t k = 0; good && k < e->world->local; k++) {
        good = sum_agent(e, e->world->here[k], scratch, &part);
        *out += part;
    }
    if (good && e->world->rank == 0) {
        good = sum_common(e, &part);
        *out += part;
    }
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
                       "%s: '%.300s' differs between processes: its contents in process %zu are "
                       "not those in process 0; copy one file to all machines%s",
                       option, text, world->rank,
                       strcmp(option, "data") == 0
                           ? ", or give each agent its own file, such as part-%d.csv"
                           : "");
}
