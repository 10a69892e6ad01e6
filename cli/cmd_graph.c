/* `saddle graph`: shows degrees, diameter and spectrum of a topology, and draws it. */
#include "cli.h"
#include "core/compare.h"
#include "draw/gnuplot.h"
#include "draw/network_drawing.h"
#include "json_output.h"
#include "run/plan_files.h"

/* The most different degrees for which a histogram is printed. */
#define MOST_DEGREES 16

typedef struct options {
    cli_common common;
    const char *save;
    const char *draw;
} options;

static const saddle_option *const own[] = {
    CLI_FILES(OUTPUT, options, save, "save", SADDLE_OUTPUT_HEADING, "", "PATH",
              "Write the edges, one `i j` line each. --topology file:PATH reads the file."),
    CLI_FILES(OUTPUT, options, draw, "draw", SADDLE_OUTPUT_HEADING, "", "FILE",
              "Draw the network into a .svg, .png, .pdf or .dot file. The first three need "
              "gnuplot, .dot is "
              "for graphviz. Grids are drawn as grids, rings and small networks as circles, "
              "others so that "
              "distances in the picture are close to those in the graph."),
    &cli_option_json, NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(network.agents), CLI_FIELDS(network.mixing),
                       CLI_FIELDS(start.seed));

/* The properties of a network that are shown. */
typedef struct network {
    saddle_graph *graph;   /* owned */
    saddle_mixing *mixing; /* owned */
    saddle_spectrum spectrum;
    size_t diameter;
    size_t *degree; /* ascending; owned */
    double mean_degree;
} network;

static saddle_status count_degrees(network *n, saddle_error *error)
{
    const saddle_graph *graph = n->graph;
    n->degree = saddle_alloc(graph->agents, sizeof *n->degree);
    if (n->degree == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the degrees of %zu agents",
                           graph->agents);
    for (size_t i = 0; i < graph->agents; i++)
        n->degree[i] = graph->start[i + 1] - graph->start[i];
    qsort(n->degree, graph->agents, sizeof *n->degree, saddle_compare_sizes);
    n->mean_degree = 2.0 * (double)graph->edges / (double)graph->agents;
    return SADDLE_OK;
}

/* The end of the range of agents that have the degree of agent k. */
static size_t same_degree(const size_t *degree, size_t count, size_t k)
{
    size_t end = k + 1;
    while (end < count && degree[end] == degree[k])
        end++;
    return end;
}

/* Prints the number of agents of each degree, if there are few different degrees. */
static void print_histogram(const size_t *degree, size_t count)
{
    size_t different = 1;
    for (size_t k = 1; k < count; k++)
        different += degree[k] != degree[k - 1];
    if (different < 2 || different > MOST_DEGREES)
        return;
    cli_table *table = cli_table_create("rr");
    cli_table_words(table, "degree", "agents");
    for (size_t k = 0; k < count;) {
        size_t end = same_degree(degree, count, k);
        cli_table_add(table, "%zu", degree[k]);
        cli_table_add(table, "%zu", end - k);
        k = end;
    }
    putchar('\n');
    cli_table_print(table);
}

static void print_graph(const network *n, const options *chosen)
{
    size_t count = n->graph->agents;
    cli_print("  topology       %s\n", n->graph->text);
    cli_print("  agents         %zu\n", count);
    cli_print("  edges          %zu\n", n->graph->edges);
    cli_print("  degrees        min %zu, mean %.4g, max %zu\n", n->degree[0], n->mean_degree,
              n->degree[count - 1]);
    cli_print("  diameter       %zu\n", n->diameter);
    cli_print("  mixing         %s\n", n->mixing->text);
    cli_print("  min M_ii       %.10g\n", saddle_mixing_min_self_weight(n->mixing));
    cli_print("  eigenvalues    of M: second largest %.10g, smallest %.10g\n", n->spectrum.lambda2,
              n->spectrum.lambda_m);
    cli_print("  lambda         %.10g (second largest in absolute value)\n", n->spectrum.lambda);
    cli_print("  spectral gap   %.10g\n", n->spectrum.gap);
    cli_print("  computed by    %s\n", n->spectrum.method);
    print_histogram(n->degree, count);
    if (chosen->save != NULL)
        cli_print("\n  edge list written to %s\n", chosen->save);
    if (chosen->draw != NULL)
        cli_print("\n  drawing written to %s\n", chosen->draw);
}

static void print_json(const network *n, const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    size_t count = n->graph->agents;
    saddle_json j;
    cli_json_begin(&j, arguments->command);
    cli_json_given(&j, arguments);
    saddle_json_put(&j, "topology %s agents %zu edges %zu", n->graph->text, count, n->graph->edges);
    saddle_json_put(&j, "degrees { min %zu mean %g max %zu counts [", n->degree[0], n->mean_degree,
                    n->degree[count - 1]);
    for (size_t k = 0; k < count; k = same_degree(n->degree, count, k))
        saddle_json_put(&j, "{ degree %zu agents %zu }", n->degree[k],
                        same_degree(n->degree, count, k) - k);
    saddle_json_put(&j, "] } diameter %zu mixing %s min_self_weight %g", n->diameter,
                    n->mixing->text, saddle_mixing_min_self_weight(n->mixing));
    saddle_json_put(&j, "lambda_2 %g lambda_m %g lambda %g spectral_gap %g eigenvalues_by %s",
                    n->spectrum.lambda2, n->spectrum.lambda_m, n->spectrum.lambda, n->spectrum.gap,
                    n->spectrum.method);
    saddle_json_put(&j, "files { edges %s drawing %s }", chosen->save, chosen->draw);
    cli_json_end(&j);
}

/* Refuses, before the work begins, outputs that would fail at its end. */
static saddle_status check_outputs(const cli_arguments *arguments, saddle_error *error)
{
    const options *chosen = arguments->own;
    const char *list = chosen->save;
    const char *picture = chosen->draw;
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_status status = cli_check_output("--save", list, false, error);
    SADDLE_THEN_IF(status, picture != NULL,
                   gnuplot_kind_of("--draw", picture, GNUPLOT_DOT, NULL, error));
    SADDLE_THEN(status, cli_check_output("--draw", picture, false, error));
    SADDLE_THEN_IF(status, chosen->common.json, cli_check_not_stdout("--save", list, error));
    SADDLE_THEN_IF(status, chosen->common.json, cli_check_not_stdout("--draw", picture, error));
    SADDLE_TRY(status);
    saddle_plan_add_outputs(&arguments->plan, &outputs);
    saddle_plan_add_inputs(&arguments->plan, &inputs);
    saddle_path_list_add_rule(&inputs, "the topology", arguments->operand[0]);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

static void release(network *n)
{
    saddle_free(n->degree);
    saddle_mixing_free(n->mixing);
    saddle_graph_free(n->graph);
}

static int run(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    const saddle_plan *plan = &arguments->plan;
    const char *topology = arguments->operand[0];
    size_t agents = (size_t)plan->network.agents;
    if (agents == 0 && !saddle_topology_sets_agents(topology))
        agents = SADDLE_DEFAULT_AGENTS;
    saddle_error error;
    SADDLE_OWNED_BY(release) network n = {.graph = NULL};
    CLI_TRY(check_outputs(arguments, &error));
    CLI_TRY(saddle_in_field(
        "TOPOLOGY", saddle_graph_create(&n.graph, topology, agents, plan->start.seed, &error),
        &error));
    CLI_TRY(saddle_mixing_create(&n.mixing, n.graph, plan->network.mixing, &error));
    CLI_TRY(saddle_mixing_spectrum(n.mixing, &n.spectrum, &error));
    CLI_TRY(saddle_graph_diameter(n.graph, &n.diameter, &error));
    if (chosen->save != NULL)
        CLI_TRY(saddle_graph_save(n.graph, chosen->save, &error));
    if (chosen->draw != NULL)
        CLI_TRY(network_draw(n.graph, chosen->draw, &error));
    CLI_TRY(count_degrees(&n, &error));
    if (chosen->common.json)
        print_json(&n, arguments);
    else
        print_graph(&n, chosen);
    return CLI_OK;
}

const cli_command cli_graph = {
    .name = "graph",
    .operands = "TOPOLOGY",
    .summary = "show degrees, diameter and spectral gap of a network, or draw it",
    .details = "TOPOLOGY is one of `saddle topologies`, such as er:0.6 or ring. lambda is the "
               "second largest absolute eigenvalue of the mixing matrix, and the spectral gap is 1 "
               "- lambda: the larger it is, the faster agents reach consensus.",
    .values = "@TOPOLOGY",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
