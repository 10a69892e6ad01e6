/*
 * Mixing matrices: symmetric, doubly stochastic, positive exactly on the edges and the diagonal. weight_of() has
 * the formulas of the rules.
 *
 * A weight is computed once per pair of degrees, the same from both ends, so M is symmetric to the bit.
 * Weights are rounded so that mixing preserves the mean of what agents track in spite of rounding errors:
 *
 *   - to multiples of 2^-53, whose sums up to 1 are exact in doubles. M_ii, 1 minus the others, is
 *     exact as well, and rows and columns sum to exactly 1;
 *   - to 40 significant bits. A product with all 53 bits of 1/3, for example, is usually rounded to
 *     what the real 1/3 would give, so that in effect rows would not sum to 1.
 *
 * Otherwise the mean would move by a fraction of a rounding error in every iteration, always in the same
 * direction. The 40 bits also hide the differences between machines' LAPACK in the last bits of
 * eigenvalues.
 */
#include "core/elementary.h"
#include "core/float_mode.h"
#include "core/registry.h"
#include "graph/reading.h"
#include "graph/spectrum.h"

/* The largest violation of M's properties that is accepted. */
static const double TOLERANCE = 1e-12;
/* Weights are multiples of this. */
static const double UNIT = 0x1p-53;

static size_t degree(const saddle_graph *graph, size_t i)
{
    return graph->start[i + 1] - graph->start[i];
}

/* Neumaier's compensated sum of agent i's weights, so that a hub's many small ones are not lost. */
static double sum_weights(const saddle_graph *graph, const double *weight, size_t i)
{
    double sum = 0.0;
    double lost = 0.0;
    for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
        double next = sum + weight[k];
        lost += fabs(sum) >= fabs(weight[k]) ? (sum - next) + weight[k] : (weight[k] - next) + sum;
        sum = next;
    }
    return sum + lost;
}

/* Rounds the weights of edges, and gives the rest to the diagonal. */
static void complete(saddle_mixing *mixing)
{
    for (size_t k = 0; k < 2 * mixing->graph->edges; k++) {
        double units = rint(saddle_round_significant(mixing->weight[k]) / UNIT);
        /* No weight becomes 0; NaN stays NaN. */
        mixing->weight[k] = UNIT * (units < 1.0 ? 1.0 : units);
    }
    for (size_t i = 0; i < mixing->graph->agents; i++)
        mixing->self_weight[i] = 1.0 - sum_weights(mixing->graph, mixing->weight, i);
}

/* ---- rules ---- */

typedef enum rule_kind {
    LAPLACIAN,
    METROPOLIS,
    LAZY_METROPOLIS,
    MAX_DEGREE,
    BEST_CONSTANT,
    GIVEN
} rule_kind;

/* The numbers of a graph that weights depend on, besides the degrees of an edge's ends. */
typedef struct graph_numbers {
    double second;  /* lambda_2(L) */
    double largest; /* lambda_max(L) */
    size_t degree;  /* d_max */
} graph_numbers;

static saddle_status find_numbers(rule_kind kind, const saddle_graph *graph, graph_numbers *out,
                                  saddle_error *error)
{
    for (size_t i = 0; i < graph->agents; i++)
        out->degree = saddle_larger(out->degree, degree(graph, i));
    if (kind != LAPLACIAN && kind != BEST_CONSTANT)
        return SADDLE_OK;
    return saddle_laplacian_ends(graph, SADDLE_SPECTRUM_AUTO,
                                 kind == BEST_CONSTANT ? &out->second : NULL, &out->largest, error);
}

/* Returns M_ij of an edge; `larger` is the larger degree of i and j. */
static double weight_of(rule_kind kind, const graph_numbers *n, size_t larger)
{
    switch (kind) {
    case LAPLACIAN:
        return 2.0 / (3.0 * n->largest);
    case METROPOLIS:
        return 1.0 / (1.0 + (double)larger);
    case LAZY_METROPOLIS: /* Olshevsky, SIAM J. Control Optim. 55, 2017 */
        return 1.0 / (2.0 * (double)larger);
    case MAX_DEGREE:
        return 1.0 / (1.0 + (double)n->degree);
    case BEST_CONSTANT: /* Xiao and Boyd, Syst. Control Lett. 53, 2004 */
        return 2.0 / (n->second + n->largest);
    case GIVEN:
        break;
    }
    return 0.0;
}

static saddle_status weigh_edges(saddle_mixing *mixing, rule_kind kind, saddle_error *error)
{
    const saddle_graph *graph = mixing->graph;
    graph_numbers numbers = {0};
    SADDLE_TRY(find_numbers(kind, graph, &numbers, error));
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            mixing->weight[k] =
                weight_of(kind, &numbers,
                          saddle_larger(degree(graph, i), degree(graph, graph->neighbour[k])));
    complete(mixing);
    for (size_t i = 0; kind == BEST_CONSTANT && i < graph->agents; i++)
        if (!(mixing->self_weight[i] > TOLERANCE))
            return saddle_refuse(error,
                                 "--mixing: 'best-constant' on topology '%s' gives agent %zu the "
                                 "self-weight %.6g, which must be positive; use metropolis",
                                 graph->text, i, mixing->self_weight[i]);
    return SADDLE_OK;
}

/* Checks a given matrix with saddle_mixing_check(). Messages call it `what` and mention `how` it was read. */
static saddle_status check_given(const saddle_mixing *mixing, const char *what, const char *how,
                                 saddle_error *error)
{
    saddle_error found = {.message = ""};
    saddle_status status = saddle_mixing_check(mixing, &found);
    if (status == SADDLE_CHECK_FAILED)
        return saddle_refuse(error, "%s%s: %s", what, how, found.message);
    if (status != SADDLE_OK && error != NULL)
        *error = found;
    return status;
}

/*
 * Completes a given matrix, which is rarely exact. It must have M's properties to within 1e-12; then its
 * off-diagonal halves are averaged and rounded and its diagonal is recomputed, so that it is as accurate
 * as those of the other rules.
 */
static saddle_status complete_given(saddle_mixing *mixing, const char *what, saddle_error *error)
{
    const saddle_graph *graph = mixing->graph;
    SADDLE_TRY(check_given(mixing, what, "", error));
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
            size_t j = graph->neighbour[k];
            if (i < j) {
                size_t back = saddle_graph_position(graph, j, i);
                double mean = 0.5 * (mixing->weight[k] + mixing->weight[back]);
                mixing->weight[k] = mean;
                mixing->weight[back] = mean;
            }
        }
    complete(mixing);
    return check_given(mixing, what, ", its weights rounded to 40 bits", error);
}

static saddle_status weigh_file(saddle_mixing *mixing, const char *path, saddle_error *error)
{
    SADDLE_OWNED char *what = saddle_format("'%s'", path);
    SADDLE_TRY(saddle_check_memory(what, "the mixing weights", error));
    SADDLE_TRY(saddle_matrix_read(mixing->graph, path, TOLERANCE, mixing->weight,
                                  mixing->self_weight, error));
    return complete_given(mixing, what, error);
}

/* ---- registry ---- */

typedef struct rule {
    saddle_network_info info;
    rule_kind kind;
} rule;

#define RULE(...) &(const rule){__VA_ARGS__}.info
static const saddle_network_info *const rules[] = {
    RULE({"laplacian",
          "M = I - 2/(3 lambda_max) L, as in the PRECISION paper; eigenvalues in [1/3, 1]"},
         LAPLACIAN),
    RULE({"metropolis", "M_ij = 1 / (1 + the larger degree of i and j)"}, METROPOLIS),
    RULE(
        {"lazy-metropolis", "M_ij = 1 / (2 * the larger degree of i and j); eigenvalues in [0, 1]"},
        LAZY_METROPOLIS),
    RULE({"max-degree", "M_ij = 1 / (1 + the largest degree in the network)"}, MAX_DEGREE),
    RULE({"best-constant",
          "M_ij = 2 / (lambda_2 + lambda_max), the equal weights with the largest spectral gap"},
         BEST_CONSTANT),
    RULE({"file:PATH",
          "matrix read from a file: one row per line, entries separated by spaces or commas"},
         GIVEN),
};

#undef RULE

enum { RULES = sizeof rules / sizeof *rules };

const saddle_network_info *const *saddle_mixing_list(size_t *count)
{
    *count = RULES;
    return rules;
}

static saddle_status find_rule(const char *text, const rule **out, saddle_error *error)
{
    const void *found;
    SADDLE_TRY(saddle_registry_find(&found, "mixing rule", text, rules, RULES, error));
    *out = found;
    const char *path = strchr(text, ':');
    if ((*out)->kind == GIVEN && (path == NULL || path[1] == '\0'))
        return saddle_refuse(error, "--mixing: '%s' is not of the form %s", text,
                             (*out)->info.synopsis);
    return SADDLE_OK;
}

/* ---- public ---- */

static saddle_status weigh(saddle_mixing *mixing, rule_kind kind, saddle_error *error)
{
    if (kind == GIVEN)
        SADDLE_TRY(weigh_file(mixing, strchr(mixing->text, ':') + 1, error));
    else if (mixing->graph->agents == 1)
        mixing->self_weight[0] = 1.0;
    else
        SADDLE_TRY(weigh_edges(mixing, kind, error));
    return saddle_mixing_check(mixing, error);
}

/* Creates weights of 0 on a graph. */
static saddle_status open_mixing(saddle_mixing **out, const saddle_graph *graph, const char *text,
                                 saddle_error *error)
{
    saddle_mixing *mixing = saddle_alloc(1, sizeof *mixing);
    *out = mixing;
    SADDLE_TRY(saddle_check_memory(mixing, "the mixing weights", error));
    mixing->graph = graph;
    mixing->text = saddle_strdup(text);
    mixing->weight = saddle_alloc_doubles(2 * graph->edges);
    mixing->self_weight = saddle_alloc_doubles(graph->agents);
    if (mixing->text == NULL || mixing->weight == NULL || mixing->self_weight == NULL)
        return saddle_no_memory(error, "the mixing weights");
    return SADDLE_OK;
}

/* On success passes on the complete weights; otherwise frees them. */
static saddle_status close_mixing(saddle_mixing *mixing, saddle_mixing **out, saddle_status status)
{
    if (status == SADDLE_OK)
        *out = mixing;
    else
        saddle_mixing_free(mixing);
    return status;
}

saddle_status saddle_mixing_create(saddle_mixing **out, const saddle_graph *graph, const char *text,
                                   saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, graph, text);
    const rule *kind = NULL;
    saddle_mixing *mixing;
    SADDLE_TRY(find_rule(text, &kind, error));
    saddle_status status = open_mixing(&mixing, graph, text, error);
    SADDLE_THEN(status, weigh(mixing, kind->kind, error));
    return close_mixing(mixing, out, status);
}

/* Reads row i of a dense matrix. */
static saddle_status take_row(saddle_mixing *mixing, size_t i, const double *row,
                              saddle_error *error)
{
    const saddle_graph *graph = mixing->graph;
    size_t k = graph->start[i];
    for (size_t j = 0; j < graph->agents; j++) {
        if (j == i)
            mixing->self_weight[i] = row[j];
        else if (k < graph->start[i + 1] && graph->neighbour[k] == j)
            mixing->weight[k++] = row[j];
        else if (!(fabs(row[j]) <= TOLERANCE))
            return saddle_refuse(error,
                                 "the matrix: row %zu has %.17g in column %zu, but no edge links "
                                 "the two agents; it must be 0",
                                 i, row[j], j);
    }
    return SADDLE_OK;
}

saddle_status saddle_mixing_from_matrix(saddle_mixing **out, const saddle_graph *graph,
                                        const double *matrix, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, graph, matrix);
    saddle_mixing *mixing;
    saddle_status status = open_mixing(&mixing, graph, "matrix", error);
    for (size_t i = 0; status == SADDLE_OK && i < graph->agents; i++)
        status = take_row(mixing, i, matrix + i * graph->agents, error);
    SADDLE_THEN(status, complete_given(mixing, "the matrix", error));
    return close_mixing(mixing, out, status);
}

/* Sets the weight of edge e at both of its ends. */
static saddle_status take_weight(saddle_mixing *mixing, size_t e, size_t a, size_t b, double weight,
                                 saddle_error *error)
{
    const saddle_graph *graph = mixing->graph;
    size_t agents = graph->agents;
    size_t at_a = a < agents && b < agents ? saddle_graph_position(graph, a, b) : SIZE_MAX;
    if (at_a == SIZE_MAX)
        return saddle_refuse(
            error,
            "weight %zu is of an edge between agents %zu and %zu, which the graph does not have", e,
            a, b);
    if (mixing->weight[at_a] != 0.0 || !(weight > 0.0))
        return saddle_refuse(error,
                             "weight %zu, of the edge between agents %zu and %zu, is %.17g%s; give "
                             "every edge one positive weight",
                             e, a, b, weight,
                             mixing->weight[at_a] != 0.0 ? " and not its first" : "");
    mixing->weight[at_a] = weight;
    mixing->weight[saddle_graph_position(graph, b, a)] = weight;
    return SADDLE_OK;
}

saddle_status saddle_mixing_from_edges(saddle_mixing **out, const saddle_graph *graph, size_t count,
                                       const size_t *edge, const double *weight,
                                       saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, graph);
    if (count > 0)
        SADDLE_REQUIRE(error, edge, weight);
    if (count != graph->edges)
        return saddle_refuse(error, "%zu weight%s for a graph of %zu edge%s; give one for each",
                             count, SADDLE_PLURAL(count), graph->edges,
                             SADDLE_PLURAL(graph->edges));
    saddle_mixing *mixing;
    saddle_status status = open_mixing(&mixing, graph, "weights", error);
    for (size_t e = 0; status == SADDLE_OK && e < count; e++)
        status = take_weight(mixing, e, edge[2 * e], edge[2 * e + 1], weight[e], error);
    for (size_t i = 0; status == SADDLE_OK && i < graph->agents; i++)
        mixing->self_weight[i] = 1.0 - sum_weights(graph, mixing->weight, i);
    SADDLE_THEN(status, complete_given(mixing, "the weights", error));
    return close_mixing(mixing, out, status);
}

void saddle_mixing_free(saddle_mixing *mixing)
{
    if (mixing == NULL)
        return;
    saddle_free(mixing->text);
    saddle_free(mixing->weight);
    saddle_free(mixing->self_weight);
    saddle_free(mixing);
}

/* Checks that row i is positive and symmetric and sums to 1. By symmetry, columns then also sum to 1. */
static saddle_status check_row(const saddle_mixing *mixing, size_t i, saddle_error *error)
{
    const saddle_graph *graph = mixing->graph;
    if (!(mixing->self_weight[i] > 0.0))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "row %zu of the mixing matrix has the diagonal entry %.17g; it must be "
                           "positive",
                           i, mixing->self_weight[i]);
    for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
        size_t j = graph->neighbour[k];
        if (!(mixing->weight[k] > 0.0))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "row %zu of the mixing matrix has %.17g in column %zu, on an edge; "
                               "it must be positive",
                               i, mixing->weight[k], j);
        double across = mixing->weight[saddle_graph_position(graph, j, i)];
        if (!(fabs(mixing->weight[k] - across) <= TOLERANCE))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "row %zu of the mixing matrix has %.17g in column %zu, but row %zu "
                               "has %.17g in column %zu; it must be symmetric",
                               i, mixing->weight[k], j, j, across, i);
    }
    double sum = sum_weights(graph, mixing->weight, i) + mixing->self_weight[i];
    if (!(fabs(sum - 1.0) <= TOLERANCE))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "row %zu of the mixing matrix sums to %.17g; it must sum to 1", i, sum);
    return SADDLE_OK;
}

saddle_status saddle_mixing_check(const saddle_mixing *mixing, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, mixing);
    saddle_status status = SADDLE_OK;
    for (size_t i = 0; i < mixing->graph->agents && status == SADDLE_OK; i++)
        status = check_row(mixing, i, error);
    return status;
}

double saddle_mixing_min_self_weight(const saddle_mixing *mixing)
{
    double least = mixing->self_weight[0];
    for (size_t i = 1; i < mixing->graph->agents; i++)
        least = fmin(least, mixing->self_weight[i]);
    return least;
}
