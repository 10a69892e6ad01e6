/* Fingerprints of networks and data, by SHA-256. */
#include "instance/fingerprint.h"

#include <unistd.h>

#include "core/sha256.h"
#include "core/vector.h"
#include "data/columns.h"
#include "files/path_list.h"
#include "instance/same_run.h"

/* ---- single objects -------------------------------------------------------------------------- */

/* Returns the first 64 bits of a sum. */
static uint64_t end_sum(saddle_sha256 *sum)
{
    unsigned char digest[SADDLE_SHA256_BYTES];
    uint64_t bits;
    saddle_sha256_end(sum, digest);
    memcpy(&bits, digest, sizeof bits);
    return bits;
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

/* Adds what the text of links does not show: the weights of a sequence, and the contents of a schedule or a
 * log. */
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
    for (size_t k = 0; k < links->replay.count; k++) {
        const saddle_replay_event *at = &links->replay.event[k];
        const uint64_t event[] = {at->which, at->round, at->rounds};
        saddle_sha256_add(sum, event, sizeof event);
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

static void sum_column(saddle_sha256 *sum, const saddle_column *column)
{
    const double fill[] = {column->kind, column->filled ? column->fill : NAN};
    saddle_sha256_add(sum, fill, sizeof fill);
    saddle_sha256_add(sum, column->name, column->name != NULL ? strlen(column->name) + 1 : 0);
    for (size_t k = 0; k < column->texts; k++)
        saddle_sha256_add(sum, column->text[k], strlen(column->text[k]) + 1);
}

/* Adds the names and categories of columns, which options such as --groups refer to. */
static void sum_columns(saddle_sha256 *sum, const saddle_columns *columns)
{
    if (columns == NULL)
        return;
    sum_column(sum, &columns->label);
    for (size_t k = 0; k < columns->count; k++)
        sum_column(sum, &columns->column[k]);
}

const char *saddle_graph_contents(const saddle_instance *e, saddle_sha256 *sum)
{
    sum_graph(sum, e->graph);
    return e->graph->text;
}

const char *saddle_mixing_contents(const saddle_instance *e, saddle_sha256 *sum)
{
    sum_mixing(sum, e->mixing);
    return e->mixing->text;
}

const char *saddle_links_contents(const saddle_instance *e, saddle_sha256 *sum)
{
    sum_links(sum, e->links, e->graph);
    return e->plan->network.links;
}

const char *saddle_churn_contents(const saddle_instance *e, saddle_sha256 *sum)
{
    sum_churn(sum, e->churn);
    return e->plan->network.churn;
}

const char *saddle_data_contents(const saddle_instance *e, saddle_sha256 *sum)
{
    if (e->parts->data == NULL)
        return NULL;
    sum_data(sum, e->parts->data);
    sum_columns(sum, e->parts->data->columns);
    return e->parts->data->name;
}

/* ---- an instance ----------------------------------------------------------------------------- */

/* Fills a point with different numbers of both signs: v[k] = size * a number in [-1, 1). */
static void fill_probe(size_t dimension, double size, double *v)
{
    for (size_t k = 0; k < dimension; k++) {
        uint64_t bits = (k + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 11;
        v[k] = size * ((double)bits * 0x1p-52 - 1.0);
    }
}

/* Adds value and gradient of an agent of a problem that is not made from data, at the start and at
 * points of X and Y around it. The start alone does not tell data apart: the logistic loss at 0 is
 * log 2 for all of them. `memory` has saddle_fingerprint_doubles(). */
static void sum_functions(saddle_sha256 *sum, const saddle_instance *e, size_t i, double *memory)
{
    static const double size[] = {0.0, 0.01, -1.0};
    const saddle_problem *problem = e->problem;
    const saddle_batch all = {.count = problem->samples[i]};
    size_t both = problem->x_dim + problem->y_dim;
    double *x = memory;
    double *y = x + problem->x_dim;
    double *gradient = x + both;
    double *scratch = gradient + both;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        fill_probe(both, size[k], x);
        saddle_axpy(problem->x_dim, 1.0, e->x0, x);
        saddle_axpy(problem->y_dim, 1.0, e->y0, y);
        saddle_set_project(e->x_set, x, scratch);
        saddle_set_project(e->y_set, y, scratch);
        double value = saddle_problem_value(problem, i, x, y, scratch);
        saddle_problem_gradient(problem, i, &all, x, y, gradient, gradient + problem->x_dim,
                                scratch);
        saddle_sha256_add(sum, &value, sizeof value);
        saddle_sha256_add(sum, gradient, both * sizeof *gradient);
    }
}

/* Computes the fingerprint of an agent's rows or, without data, of its functions. */
static uint64_t sum_agent(const saddle_instance *e, size_t i, double *memory)
{
    const uint64_t head[] = {i, e->problem->samples[i]};
    saddle_sha256 sum;
    saddle_sha256_begin(&sum);
    saddle_sha256_add(&sum, head, sizeof head);
    if (e->parts->shard != NULL)
        sum_data(&sum, e->parts->shard[i]);
    else
        sum_functions(&sum, e, i, memory);
    return end_sum(&sum);
}

/* Adds the results of the sets and h on a few points, which reveal bounds and contexts that are
 * not in their texts. */
static bool sum_sets(saddle_sha256 *sum, const saddle_instance *e)
{
    static const double size[] = {1e-3, -1e-3, 1.0, -1.0, 1e3, -1e3, 1e9, -1e9};
    size_t x_dim = e->problem->x_dim;
    size_t y_dim = e->problem->y_dim;
    SADDLE_OWNED double *v = saddle_alloc_doubles(saddle_larger(x_dim, y_dim));
    SADDLE_OWNED double *x_scratch = saddle_alloc_doubles(saddle_prox_scratch(e->x_prox));
    SADDLE_OWNED double *y_scratch = saddle_alloc_doubles(saddle_set_scratch(e->y_set));
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
    return good;
}

/* Adds the fingerprint of what all agents share: network, sets, start and held-out rows. */
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
    sum_columns(&sum, e->columns);
    if (e->held_out != NULL)
        sum_data(&sum, e->held_out);
    *out += end_sum(&sum);
    return good;
}

size_t saddle_fingerprint_doubles(const saddle_instance *e)
{
    size_t sets = saddle_larger(saddle_set_scratch(e->x_set), saddle_set_scratch(e->y_set));
    return 2 * (e->problem->x_dim + e->problem->y_dim) +
           saddle_larger(saddle_problem_scratch(e->problem), sets);
}

saddle_status saddle_fingerprint_instance(const saddle_instance *e, uint64_t *out,
                                          saddle_error *error)
{
    *out = e->parts->fingerprint;
    if (*out != 0)
        return SADDLE_OK;
    double *memory = saddle_alloc_doubles(saddle_fingerprint_doubles(e));
    bool good = memory != NULL;
    /* The fingerprints are added up, so that the result does not depend on which process holds
     * which agent. */
    for (size_t k = 0; good && k < e->world->local; k++)
        *out += sum_agent(e, e->world->here[k], memory);
    if (good && e->world->rank == 0)
        good = sum_common(e, out);
    saddle_free(memory);
    saddle_status status = good ? SADDLE_OK : saddle_no_memory(error, "the data's fingerprint");
    status = saddle_world_agree(e->world, status, error);
    if (status == SADDLE_OK)
        e->world->add_words(e->world, 1, (int64_t *)(void *)out);
    e->parts->fingerprint = status == SADDLE_OK ? *out : 0;
    return status;
}

saddle_status saddle_fingerprint_run(const saddle_instance *e, const saddle_link_model *model,
                                     uint64_t *out, saddle_error *error)
{
    saddle_sha256 sum;
    size_t links = 2 * e->graph->edges;
    SADDLE_TRY(saddle_fingerprint_instance(e, out, error));
    if (model == NULL)
        return SADDLE_OK;
    saddle_sha256_begin(&sum);
    saddle_sha256_add(&sum, &model->default_compute, sizeof model->default_compute);
    saddle_sha256_add(&sum, model->compute, e->graph->agents * sizeof *model->compute);
    saddle_sha256_add(&sum, model->latency, links * sizeof *model->latency);
    saddle_sha256_add(&sum, model->bandwidth, links * sizeof *model->bandwidth);
    *out += end_sum(&sum);
    return SADDLE_OK;
}

/* ---- several processes ----------------------------------------------------------------------- */

saddle_status saddle_same_contents(const saddle_instance *e, const saddle_world *world,
                                   const char *option, saddle_contents *contents,
                                   saddle_error *error)
{
    saddle_sha256 sum;
    if (world->ranks == 1)
        return SADDLE_OK;
    saddle_sha256_begin(&sum);
    const char *text = contents(e, &sum);
    uint64_t own = end_sum(&sum);
    uint64_t first = own;
    world->share(world, 0, sizeof first, &first);
    if (own == first || text == NULL)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--%s: '%.300s' differs between processes: its contents in process %zu "
                         "are not those in process 0; copy one file to all machines%s",
                         option, text, world->rank,
                         strcmp(option, "data") == 0
                             ? ", or give each agent its own file, such as part-%d.csv"
                             : "");
}

void saddle_append_inputs(const saddle_plan *plan, char *out, size_t size)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        bool own = option->home == SADDLE_HOME_OWN && option->files != SADDLE_FILES_NONE &&
                   option->files != SADDLE_FILES_OUTPUT;
        bool code = option->files == SADDLE_FILES_CODE;
        bool model = SADDLE_IS_FIELD(option, network.link_model);
        bool made = option->home == SADDLE_HOME_PLAN && option->stage == SADDLE_STAGE_INSTANCE;
        if (option->kind != SADDLE_OPTION_TEXT || !saddle_plan_given(plan, option) ||
            (!made && !model && !own && !code))
            continue;
        const char *value = SADDLE_PLAN_TEXT(plan, option);
        saddle_path_list files = {.count = 0};
        saddle_path_list_add_rule(&files, option->name, value);
        bool file = files.count > 0;
        saddle_path_list_release(&files);
        if (file || (code && strchr(value, '/') != NULL) ||
            option->effect == SADDLE_EFFECT_SOURCE || access(value, F_OK) == 0)
            saddle_append(out, size, "%s --%s %.200s", *out == '\0' ? "" : ",", option->name,
                          value);
    }
}
