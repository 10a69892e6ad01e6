#include <saddle/algorithm.h>
#include <saddle/problem.h>
#include <sodium/utils.h>

#include "core/sha256.h"
#include "instance/plan.h"
#include "instance/same_run.h"
#include "lab/peer_reader.h"

/* The most iterations between two checkpoints: neighbours keep the messages of that many. */
enum { MOST_REPEAT = 100000 };
/* The seconds that a round can wait for a neighbour. */
#define LEAST_DEADLINE 0.001
#define MOST_DEADLINE 3600.0

saddle_status peer_check_address(const peer_reader *in, const saddle_yaml_entry *entry,
                                 size_t length)
{
    return saddle_is_endpoint(entry->value, length)
               ? SADDLE_OK
               : peer_refuse(
                     in, entry,
                     "'%.*s' is not an address; write tcp://HOST:PORT, with a port from 1 to "
                     "65535, or ipc:// and a short path",
                     (int)(length < 200 ? length : 200), entry->value);
}

/* Reads the number of "agent-N"; false for other names. */
static bool agent_number(const char *name, uint64_t *out)
{
    static const char prefix[] = "agent-";
    size_t length = sizeof prefix - 1;
    return strncmp(name, prefix, length) == 0 && saddle_parse_integer(name + length, out);
}

/* Reads "tcp://HOST:PORT KEY" or "none KEY". */
static saddle_status read_member(const peer_reader *in, const saddle_yaml_entry *entry,
                                 saddle_member *member)
{
    size_t length = strcspn(entry->value, " ");
    const char *key = entry->value + length + strspn(entry->value + length, " ");
    size_t bytes = 0;
    bool none = length == 4 && strncmp(entry->value, "none", length) == 0;
    bool dials = strncmp(entry->value, "tcp://", 6) == 0 || strncmp(entry->value, "ipc://", 6) == 0;
    if (!(none || dials) || length + 1 > SADDLE_ENDPOINT_SIZE)
        return peer_refuse(
            in, entry,
            "'%s' is not an address and a public key; write tcp://HOST:PORT, or none for "
            "an agent that only dials others, a space, and the key that keygen printed",
            SADDLE_EXCERPT(entry->value));
    if (strlen(key) != (size_t)2 * SADDLE_KEY_BYTES ||
        sodium_hex2bin(member->key, SADDLE_KEY_BYTES, key, strlen(key), NULL, &bytes, NULL) != 0 ||
        bytes != SADDLE_KEY_BYTES)
        return peer_refuse(in, entry,
                           "'%s' is not a public key of 64 hexadecimal digits; keygen prints one",
                           SADDLE_EXCERPT(key));
    if (none)
        return SADDLE_OK;
    SADDLE_TRY(peer_check_address(in, entry, length));
    if (strncmp(entry->value, "tcp://*:", 8) == 0)
        return peer_refuse(
            in, entry,
            "nobody can dial '%.*s'; write the host's name or number here, and * only as "
            "listen of an agent's file",
            (int)length, entry->value);
    char *endpoint = saddle_alloc(length + 1, 1);
    SADDLE_TRY(saddle_check_memory(endpoint, "the network", in->error));
    memcpy(endpoint, entry->value, length);
    member->endpoint = endpoint;
    return SADDLE_OK;
}

/* Fields of the plan whose options peers do not have yet. */
#define FIELD(member) offsetof(saddle_plan, member)
static const size_t later[] = {FIELD(network.links),     FIELD(network.inexact),
                               FIELD(network.churn),     FIELD(network.link_model),
                               FIELD(limits.tolerance),  FIELD(limits.max_ifo),
                               FIELD(limits.max_rounds), FIELD(limits.max_seconds),
                               FIELD(limits.stop_when),  FIELD(limits.max_network_seconds),
                               FIELD(limits.stop_after), FIELD(limits.stop_on),
                               FIELD(problem.test_data), FIELD(problem.labels)};

static bool is_later(const saddle_option *option)
{
    size_t k = 0;
    while (k < sizeof later / sizeof *later && later[k] != option->offset)
        k++;
    return option->home == SADDLE_HOME_PLAN && k < sizeof later / sizeof *later;
}

/* Returns why an option cannot be in a network file; NULL if it can. */
static const char *why_not(const saddle_option *option, const char *value)
{
    if (SADDLE_IS_FIELD(option, network.agents))
        return "the lines agent-0, agent-1, ... say how many there are";
    if (is_later(option))
        return "peers do not have it yet";
    if (option->effect != SADDLE_EFFECT_RESULT && option->effect != SADDLE_EFFECT_LENGTH &&
        option->effect != SADDLE_EFFECT_SOURCE)
        return "it does not decide what is computed";
    if (option->files != SADDLE_FILES_NONE && option->files != SADDLE_FILES_DATA &&
        (strchr(value, '/') != NULL || strstr(value, "file:") != NULL))
        return "peers cannot use plug-ins or other files yet";
    return NULL;
}

/* Reads the iterations between two checkpoints: all agents have the same, as it says how many messages each keeps for
 * the others. */
static saddle_status read_repeat(const peer_reader *in, const saddle_yaml_entry *entry)
{
    uint64_t *repeat = &in->out->repeat;
    if (saddle_parse_integer(entry->value, repeat) && *repeat > 0 && *repeat <= MOST_REPEAT)
        return SADDLE_OK;
    return peer_refuse(
        in, entry,
        "'%s' is not a number of iterations from 1 to %d; all agents save their state "
        "after as many, such as 50",
        SADDLE_EXCERPT(entry->value), MOST_REPEAT);
}

/* Reads the seconds that a round waits for a neighbour. Messages that are late count as lost: the links are those of
 * --links lossy, with no losses of their own. */
static saddle_status read_deadline(const peer_reader *in, const saddle_yaml_entry *entry)
{
    double *deadline = &in->out->deadline;
    if (!saddle_parse_real(entry->value, deadline) || !(*deadline >= LEAST_DEADLINE) ||
        !(*deadline <= MOST_DEADLINE))
        return peer_refuse(in, entry, "deadline: '%s' is not a number of seconds from %g to %g",
                           SADDLE_EXCERPT(entry->value), LEAST_DEADLINE, MOST_DEADLINE);
    return saddle_plan_set(&in->out->plan, "links", "lossy:0", in->error);
}

static saddle_status read_option(const peer_reader *in, const saddle_yaml_entry *entry)
{
    saddle_plan *plan = &in->out->plan;
    saddle_error why = {.message = ""};
    const saddle_option *option = saddle_plan_find(plan, entry->name);
    if (strcmp(entry->name, "deadline") == 0)
        return read_deadline(in, entry);
    if (in->with->problem != NULL && option != NULL &&
        (SADDLE_IS_FIELD(option, problem.name) || SADDLE_IS_FIELD(option, problem.data)))
        return peer_refuse(in, entry, "%s: this agent has a problem of its own; remove the line",
                           entry->name);
    if (option != NULL && SADDLE_IS_FIELD(option, outputs.checkpoint_every))
        return read_repeat(in, entry);
    const char *reason = option != NULL ? why_not(option, entry->value) : NULL;
    if (reason != NULL)
        return peer_refuse(in, entry, "%s: %s; remove the line", entry->name, reason);
    saddle_status status = saddle_plan_set(plan, entry->name, entry->value, &why);
    return status == SADDLE_OK ? status : peer_refuse(in, entry, "%s", why.message);
}

static saddle_status read_members(const peer_reader *in, const saddle_yaml *yaml, size_t agents)
{
    peer_files *out = in->out;
    uint64_t number;
    out->member = saddle_alloc(agents, sizeof *out->member);
    SADDLE_OWNED bool *read = saddle_alloc(agents, sizeof *read);
    SADDLE_TRY(saddle_check_memory(out->member, "the network", in->error));
    SADDLE_TRY(saddle_check_memory(read, "the network", in->error));
    out->plan.network.agents = agents;
    for (size_t k = 0; k < yaml->count; k++) {
        const saddle_yaml_entry *entry = &yaml->entry[k];
        if (!agent_number(entry->name, &number))
            continue;
        if (number >= agents)
            return peer_refuse(in, entry, "%s: there are %zu agents, numbered from 0", entry->name,
                               agents);
        if (read[number])
            return peer_refuse(in, entry, "%s: agent %zu has two lines; remove one of them",
                               entry->name, (size_t)number);
        read[number] = true;
        SADDLE_TRY(read_member(in, entry, &out->member[number]));
        for (size_t i = 0; i < k; i++) {
            uint64_t other;
            if (agent_number(yaml->entry[i].name, &other) && other < agents && other != number &&
                memcmp(out->member[other].key, out->member[number].key, SADDLE_KEY_BYTES) == 0)
                return peer_refuse(in, entry,
                                   "agents %zu and %zu have the same key; each needs its own",
                                   (size_t)other, (size_t)number);
        }
    }
    return SADDLE_OK;
}

/* Reads "0-1,1-2,...". */
static saddle_status read_edges(const peer_reader *in)
{
    const char *rest = in->edges->value;
    const char *item;
    size_t length;
    size_t count = 0;
    SADDLE_OWNED size_t *edge = saddle_alloc(strlen(rest) + 2, sizeof *edge);
    SADDLE_TRY(saddle_check_memory(edge, "the network", in->error));
    while ((item = saddle_next_item(&rest, &length)) != NULL) {
        uint64_t end[2];
        item += strspn(item, " ");
        size_t dash = strcspn(item, "-,");
        if (!saddle_parse_integer_in(item, dash, &end[0]) || item[dash] != '-' ||
            !saddle_parse_integer_in(item + dash + 1, strcspn(item + dash + 1, ","), &end[1]))
            return peer_refuse(in, in->edges, "'%s' is not a list of edges such as [0-1, 1-2]",
                               SADDLE_EXCERPT(in->edges->value));
        edge[2 * count] = (size_t)end[0];
        edge[2 * count++ + 1] = (size_t)end[1];
    }
    saddle_error why = {.message = ""};
    saddle_status status = saddle_graph_from_edges(
        &in->out->graph, (size_t)in->out->plan.network.agents, count, edge, &why);
    return status == SADDLE_OK ? status : peer_refuse(in, in->edges, "edges: %s", why.message);
}

/* Makes the graph, which must connect every agent with one that can be dialled. */
static saddle_status make_graph(const peer_reader *in)
{
    peer_files *out = in->out;
    const saddle_plan *plan = &out->plan;
    if (in->edges != NULL && SADDLE_GIVEN(plan, network.topology))
        return peer_refuse(in, in->edges, "edges and topology are both given; remove one of them");
    if (in->edges != NULL)
        SADDLE_TRY(read_edges(in));
    else
        SADDLE_TRY(saddle_in_field("--topology",
                                   saddle_graph_create(&out->graph, plan->network.topology,
                                                       (size_t)plan->network.agents,
                                                       plan->start.seed, in->error),
                                   in->error));
    out->plan.network.graph = out->graph;
    for (size_t i = 0; i < out->graph->agents; i++)
        for (size_t k = out->graph->start[i]; k < out->graph->start[i + 1]; k++)
            if (out->member[i].endpoint == NULL &&
                out->member[out->graph->neighbour[k]].endpoint == NULL)
                return saddle_refuse(in->error,
                                     "'%s': agents %zu and %zu are neighbours, and neither has an "
                                     "address; give one of them",
                                     in->path, i, out->graph->neighbour[k]);
    return SADDLE_OK;
}

static int compare_names(const void *a, const void *b)
{
    const saddle_yaml_entry *const *x = a;
    const saddle_yaml_entry *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Computes the fingerprint of all lines, in the order of their names. */
static saddle_status take_fingerprint(const peer_reader *in, const saddle_yaml *yaml)
{
    unsigned char sum[SADDLE_SHA256_BYTES];
    saddle_sha256 state;
    SADDLE_OWNED const saddle_yaml_entry **list = saddle_alloc(yaml->count, sizeof(void *));
    SADDLE_TRY(saddle_check_memory(list, "the network", in->error));
    for (size_t k = 0; k < yaml->count; k++)
        list[k] = &yaml->entry[k];
    qsort(list, yaml->count, sizeof(void *), compare_names);
    saddle_sha256_begin(&state);
    for (size_t k = 0; k < yaml->count; k++) {
        saddle_sha256_add(&state, list[k]->name, strlen(list[k]->name) + 1);
        saddle_sha256_add(&state, list[k]->value, strlen(list[k]->value) + 1);
    }
    saddle_sha256_end(&state, sum);
    memcpy(in->out->fingerprint, sum, sizeof in->out->fingerprint);
    return SADDLE_OK;
}

/* Fails if no problem or algorithm has the name that was given, or if it is not one for agents: the neighbours are not
 * waited for. */
static saddle_status check_names(const peer_reader *in)
{
    const saddle_plan *plan = &in->out->plan;
    const saddle_problem_class *problem;
    const saddle_algorithm *algorithm = NULL;
    if (SADDLE_GIVEN(plan, problem.name))
        SADDLE_TRY(saddle_in_field(
            "--problem", saddle_problem_find(&problem, plan->problem.name, in->error), in->error));
    if (SADDLE_GIVEN(plan, algorithm.name))
        SADDLE_TRY(saddle_in_field(
            "--algorithm", saddle_algorithm_find(&algorithm, plan->algorithm.name, in->error),
            in->error));
    if (algorithm == NULL || !algorithm->traits.centralized)
        return SADDLE_OK;
    return saddle_refuse(in->error,
                         "--algorithm: %s is centralized: it needs all data in one process; give "
                         "one for agents, such as precision-auto",
                         algorithm->name);
}

/* Refuses lines that cannot be together. */
static saddle_status check_options(const peer_reader *in)
{
    const saddle_plan *plan = &in->out->plan;
    bool deadline = in->out->deadline > 0.0;
    bool repeat = in->out->repeat > 0;
    bool compresses = plan->network.compress != NULL && strcmp(plan->network.compress, "none") != 0;
    bool clips =
        plan->network.clip_mixing != NULL && strcmp(plan->network.clip_mixing, "none") != 0;
    const struct {
        bool together;
        const char *one;
        const char *other;
        const char *why;
    } pair[] = {
        {deadline && compresses, "compress", "deadline",
         "compressed messages contain only changes, so an agent that misses a late one would have "
         "a wrong copy of its neighbour's state from then on"},
        {repeat && compresses, "compress", "checkpoint-every",
         "checkpoints do not have the copies of neighbours' states that compressed messages "
         "change"},
        {deadline && clips, "clip-mixing", "deadline",
         "messages that contain sums of earlier ones are not clipped"},
        {repeat && plan->privacy.row_noise > 0.0, "row-noise", "checkpoint-every",
         "an agent that comes back would send the same gradients with other noise"},
        {deadline && plan->privacy.row_noise > 0.0, "row-noise", "deadline",
         "agents that begin anew without one that is gone use batches a second time"}};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++)
        if (pair[k].together)
            return saddle_refuse(in->error, "'%s': %s; remove the line '%s' or '%s'", in->path,
                                 pair[k].why, pair[k].one, pair[k].other);
    return SADDLE_OK;
}
static saddle_status take_network(peer_reader *in, const saddle_yaml *yaml)
{
    size_t agents = 0;
    uint64_t number;
    for (size_t k = 0; k < yaml->count; k++)
        agents += agent_number(yaml->entry[k].name, &number);
    if (agents < 2 || agents > SADDLE_MOST_PEERS)
        return saddle_refuse(in->error,
                             "'%s' has %zu line%s agent-N; a network has 2 to %d agents, one line "
                             "for each",
                             in->path, agents, SADDLE_PLURAL(agents), SADDLE_MOST_PEERS);
    SADDLE_TRY(read_members(in, yaml, agents));
    for (size_t k = 0; k < yaml->count; k++) {
        const saddle_yaml_entry *entry = &yaml->entry[k];
        if (strcmp(entry->name, "edges") == 0)
            in->edges = entry;
        else if (!agent_number(entry->name, &number))
            SADDLE_TRY(read_option(in, entry));
    }
    SADDLE_TRY(check_options(in));
    SADDLE_TRY(check_names(in));
    SADDLE_TRY(take_fingerprint(in, yaml));
    return make_graph(in);
}

saddle_status peer_network_read(peer_files *out, const char *path, const saddle_peer_options *with,
                                saddle_error *error)
{
    peer_reader in = {.path = path, .out = out, .with = with, .error = error};
    saddle_yaml yaml = {.count = 0};
    saddle_status status = saddle_yaml_read(&yaml, path, error);
    SADDLE_THEN(status, take_network(&in, &yaml));
    saddle_yaml_free(&yaml);
    return status;
}
