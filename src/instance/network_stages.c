/* Stages of an instance: comparing plans, the graph, placing agents, links, weights and their
 * spectrum. */
#include "core/elementary.h"
#include "files/pattern.h"
#include "instance/instance.h"
#include "instance/same_run.h"

saddle_status saddle_stage_compare_plans(saddle_instance *e, saddle_error *error)
{
    return saddle_compare_plans(e->parts->processes, e->plan, error);
}

/* Returns whether two graphs have the same edges. */
static bool same_graph(const saddle_graph *a, const saddle_graph *b)
{
    return a == b || (a->agents == b->agents && a->edges == b->edges &&
                      memcmp(a->start, b->start, (a->agents + 1) * sizeof *a->start) == 0 &&
                      memcmp(a->neighbour, b->neighbour, 2 * a->edges * sizeof *a->neighbour) == 0);
}

/* Sets the number of agents to the number of files, if each agent has a file and neither the
 * plan nor the network says how many there are. A file may exist only on the machine of its
 * agent. Collective. */
saddle_status saddle_stage_count_files(saddle_instance *e, saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    size_t files = 0;
    if (plan->network.agents != 0 || plan->network.graph != NULL || plan->network.weights != NULL ||
        plan->problem.own != NULL || plan->problem.rows != NULL || plan->problem.shards != NULL ||
        !saddle_is_pattern(plan->problem.data) ||
        saddle_topology_sets_agents(plan->network.topology))
        return SADDLE_OK;
    saddle_status status = saddle_data_count_files(plan->problem.data, &files, error);
    double most = (double)files;
    e->parts->processes->largest(e->parts->processes, 1, &most);
    if (status == SADDLE_OK && most == 0.0)
        status = saddle_no_first_file(plan->problem.data, error);
    plan->network.agents = (uint64_t)most;
    return saddle_in_field("--data", status, error);
}

saddle_status saddle_stage_read_links(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = &e->parts->plan;
    const char *text = plan->network.links != NULL ? plan->network.links : "reliable";
    saddle_status status =
        saddle_in_field("--links", saddle_link_rule_create(&e->parts->links, text, error), error);
    e->links = e->parts->links;
    if (status == SADDLE_OK && plan->network.inexact != SADDLE_INEXACT_NO &&
        (!saddle_link_rule_one_sided(e->links) || e->links->kind == SADDLE_LINKS_REPLAY))
        return saddle_refuse(error,
                             "--inexact: applies only to lossy, burst and delay links, but these "
                             "are %.200s; leave --inexact out, or set --links to one of those",
                             text);
    if (status != SADDLE_OK || plan->network.churn == NULL)
        return status;
    if (plan->network.inexact != SADDLE_INEXACT_NO)
        return saddle_refuse(error, "--churn: agents can come and go only with exact links; leave "
                                    "--inexact or --churn out");
    if (e->links->kind != SADDLE_LINKS_RELIABLE && !saddle_link_rule_one_sided(e->links))
        return saddle_refuse(error,
                             "--churn: agents can come and go with links reliable, lossy, burst "
                             "and delay (got links %.200s); change the links or leave --churn out",
                             text);
    return status;
}

saddle_status saddle_stage_read_compression(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = &e->parts->plan;
    const char *text = plan->network.compress != NULL ? plan->network.compress : "none";
    saddle_compression *rule = &e->parts->compression;
    SADDLE_TRY(saddle_in_field(
        "--compress", saddle_compression_read(rule, text, plan->network.mixing_rate, error),
        error));
    e->sent = rule->fraction > 0.0 ? rule->fraction : 1.0;
    if (rule->kind == SADDLE_COMPRESS_NONE)
        return SADDLE_OK;
    e->compression = rule;
    if (e->links->kind != SADDLE_LINKS_RELIABLE)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--compress: compressed messages contain only changes, so an agent that "
                           "misses one would have a wrong copy of its neighbour's state from then "
                           "on; use reliable links (these are %.200s) or leave --compress out",
                           plan->network.links);
    if (plan->network.churn != NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--compress: an agent that leaves or joins would have wrong copies of "
                           "its neighbours; leave --compress or --churn out");
    return SADDLE_OK;
}

saddle_status saddle_stage_read_clipping(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = &e->parts->plan;
    const char *text = plan->network.clip_mixing != NULL ? plan->network.clip_mixing : "none";
    saddle_clip_rule *rule = &e->parts->clipping;
    bool used;
    SADDLE_TRY(
        saddle_in_field("--clip-mixing", saddle_clip_rule_read(rule, text, &used, error), error));
    if (!used)
        return SADDLE_OK;
    e->clipping = rule;
    if (e->links->kind != SADDLE_LINKS_RELIABLE || e->compression != NULL ||
        plan->network.churn != NULL)
        return saddle_refuse(error,
                             "--clip-mixing: messages are clipped only on reliable links (peers: "
                             "without deadline), without --compress and --churn; leave "
                             "--clip-mixing or the others out");
    return saddle_in_field("--clip-mixing", saddle_clip_rule_check(rule, e->graph, error), error);
}

/* Makes the union of a sequence's graphs, which replaces the topology. */
static saddle_status unite_sequence(saddle_instance *e, size_t agents, saddle_error *error)
{
    const saddle_plan *plan = &e->parts->plan;
    if (plan->network.graph != NULL)
        return saddle_refuse(
            error, "--links: %.200s already name the topologies; leave out the graph in memory",
            plan->network.links);
    return saddle_in_field("--links",
                           saddle_link_rule_union(e->parts->links, agents, SADDLE_DEFAULT_AGENTS,
                                                  e->seed, &e->parts->graph, error),
                           error);
}

saddle_status saddle_stage_graph(saddle_instance *e, saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    const saddle_problem *own = plan->problem.own;
    size_t agents = (size_t)plan->network.agents;
    if (plan->network.weights != NULL && plan->network.graph != NULL &&
        !same_graph(plan->network.graph, plan->network.weights->graph))
        return saddle_refuse(error, "graph and weights are both given, but the weights are on "
                                    "another graph; leave the graph out");
    if (plan->network.weights != NULL)
        plan->network.graph = plan->network.weights->graph;
    if (own != NULL && agents != 0 && agents != own->agents)
        return saddle_refuse(
            error, "--agents: %zu differs from the %zu agent%s of problem %s; leave it out", agents,
            own->agents, SADDLE_PLURAL(own->agents), saddle_shown_name(own->name));
    if (own != NULL)
        agents = own->agents;
    e->graph = plan->network.graph;
    if (e->graph != NULL && agents != 0 && agents != e->graph->agents)
        return saddle_refuse(error, "--agents: %zu differs from the graph's %zu; leave it out",
                             agents, e->graph->agents);
    saddle_status status = SADDLE_OK;
    if (e->links->kind == SADDLE_LINKS_SEQUENCE) {
        SADDLE_TRY(unite_sequence(e, agents, error));
        e->graph = e->parts->graph;
        plan->network.topology = e->graph->text;
    } else if (e->graph == NULL) {
        if (agents == 0 && !saddle_topology_sets_agents(plan->network.topology))
            agents = SADDLE_DEFAULT_AGENTS;
        status =
            saddle_graph_create(&e->parts->graph, plan->network.topology, agents, e->seed, error);
        status = saddle_in_field("--topology", status, error);
        e->graph = e->parts->graph;
    } else {
        plan->network.topology = e->graph->text;
    }
    if (status == SADDLE_OK)
        plan->network.agents = e->graph->agents;
    return status;
}

saddle_status saddle_stage_place_agents(saddle_instance *e, saddle_error *error)
{
    SADDLE_TRY(saddle_engine_connect(e->parts->engine, &e->parts->world, e->graph, error));
    e->world = e->parts->world;
    return SADDLE_OK;
}

saddle_status saddle_stage_mixing(saddle_instance *e, saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    saddle_error unknown = {.message = ""};
    e->mixing = plan->network.weights;
    saddle_status status = SADDLE_OK;
    if (e->mixing == NULL) {
        status = saddle_mixing_create(&e->parts->mixing, e->graph, plan->network.mixing, error);
        status = saddle_in_field("--mixing", status, error);
        e->mixing = e->parts->mixing;
    } else {
        plan->network.mixing = e->mixing->text;
    }
    if (status != SADDLE_OK)
        return status;
    status = saddle_mixing_spectrum(e->mixing, &e->spectrum, &unknown);
    if (status == SADDLE_NUMERIC) {
        /* A run continues without the spectrum, because only the theory needs it. */
        e->spectrum = (saddle_spectrum){.lambda2 = NAN, .lambda_m = NAN, .lambda = NAN, .gap = NAN};
        e->spectrum.method = "unknown";
        return SADDLE_OK;
    }
    if (status != SADDLE_OK && error != NULL)
        *error = unknown;
    return status;
}

saddle_status saddle_stage_complete_links(saddle_instance *e, saddle_error *error)
{
    return saddle_in_field("--links", saddle_link_rule_complete(e->parts->links, e->mixing, error),
                           error);
}

saddle_status saddle_stage_read_churn(saddle_instance *e, saddle_error *error)
{
    const char *churn = e->plan->network.churn;
    if (churn == NULL)
        return SADDLE_OK;
    saddle_status status = saddle_churn_read(&e->parts->churn, churn, e->graph, error);
    e->churn = e->parts->churn;
    return saddle_in_field("--churn", status, error);
}

double saddle_instance_least_self_weight(const saddle_instance *e)
{
    return e->links != NULL ? e->links->least_self_weight
                            : saddle_mixing_min_self_weight(e->mixing);
}

/* Distributes the eigenvalues of process 0, because step sizes depend on them; drops the last
 * bits, which may differ from run to run in LAPACK. */
saddle_status saddle_stage_share_spectrum(saddle_instance *e, saddle_error *error)
{
    (void)error;
    saddle_spectrum *spectrum = &e->spectrum;
    double *const number[] = {&spectrum->lambda2, &spectrum->lambda_m, &spectrum->lambda,
                              &spectrum->gap};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        *number[k] = saddle_round_significant(*number[k]);
        e->world->share(e->world, 0, sizeof *number[k], number[k]);
    }
    return SADDLE_OK;
}
