#include "lab/peer_files.h"

#include <sodium/utils.h>

#include "files/file.h"
#include "instance/plan.h"
#include "lab/key_file.h"
#include "lab/peer_reader.h"
#include "run/plan_files.h"

/* Seconds of silence after which a run ends. */
#define PATIENCE 60.0

/* Returns a path relative to the directory of a file; freed by the caller, NULL if memory is short. */
static char *beside(const char *file, const char *path)
{
    SADDLE_OWNED char *directory = saddle_directory_of(file);
    if (directory == NULL)
        return NULL;
    return *path == '/' ? saddle_strdup(path) : saddle_format("%s/%s", directory, path);
}

/* The values of an agent.yml. */
enum { NETWORK, AGENT, KEY, DATA, LISTEN, MODEL, TRACE, LOG, SAVED, EVERY, THREADS, WAIT, NAMES };
static const char *const names[NAMES] = {"network",    "agent", "key",     "data",
                                         "listen",     "model", "trace",   "log",
                                         "checkpoint", "every", "threads", "patience"};

/* Finds the values; those that are not given are NULL. */
static saddle_status list_values(const peer_reader *in, const saddle_yaml *yaml,
                                 const saddle_yaml_entry *value[NAMES])
{
    for (size_t k = 0; k < yaml->count; k++) {
        const saddle_yaml_entry *entry = &yaml->entry[k];
        size_t n = 0;
        while (n < NAMES && strcmp(entry->name, names[n]) != 0)
            n++;
        if (n == NAMES)
            return saddle_fail_at(in->error, in->path, entry->name_line, entry->name_column,
                                  "an agent's file has no '%s'%s", SADDLE_EXCERPT(entry->name),
                                  saddle_suggest(entry->name, names, NAMES).text);
        value[n] = entry;
    }
    for (size_t n = 0; n <= KEY; n++)
        if (value[n] == NULL)
            return saddle_refuse(in->error,
                                 "'%s' has no '%s'; an agent's file has at least the lines "
                                 "network, agent and key",
                                 in->path, names[n]);
    for (size_t n = 0; n < NAMES; n++)
        if (value[n] != NULL && *value[n]->value == '\0')
            return peer_refuse(in, value[n], "%s: there is no value; give one, or remove the line",
                               names[n]);
    return SADDLE_OK;
}

/* Takes the agent's number, and its data. */
static saddle_status take_agent(const peer_reader *in, const saddle_yaml_entry *const value[NAMES])
{
    peer_files *out = in->out;
    saddle_plan *plan = &out->plan;
    uint64_t self;
    bool own = SADDLE_GIVEN(plan, problem.data) && strcmp(plan->problem.data, "own") == 0;
    if (!saddle_parse_integer(value[AGENT]->value, &self) || self >= plan->network.agents)
        return peer_refuse(in, value[AGENT],
                           "agent: '%s' is not the number of one of the %zu agents",
                           SADDLE_EXCERPT(value[AGENT]->value), (size_t)plan->network.agents);
    out->self = (size_t)self;
    plan->problem.own = in->with->problem;
    if (own != (out->data != NULL))
        return saddle_refuse(in->error,
                             own ? "'%s' has no 'data', but the network file says that each agent "
                                   "has its own; add the line data: FILE"
                                 : "'%s' has 'data', but the network file does not have the line "
                                   "'data: own'; change one of them",
                             in->path);
    if (!own)
        return SADDLE_OK;
    /* A file that cannot be read is found out before the neighbours are waited for. */
    FILE *file;
    size_t bytes;
    SADDLE_TRY(saddle_reading_open_regular(&file, out->data, "the file of this agent's rows",
                                           &bytes, in->error));
    fclose(file);
    /* The text is the same for all agents; each has another file. */
    plan->problem.own_file = out->data;
    return saddle_plan_set(plan, "data", "agent-%d", in->error);
}

static saddle_status take_rest(const peer_reader *in, const saddle_yaml_entry *const value[NAMES])
{
    peer_files *out = in->out;
    out->patience = PATIENCE;
    if (value[LISTEN] != NULL)
        SADDLE_TRY(peer_check_address(in, value[LISTEN], strlen(value[LISTEN]->value)));
    if (value[SAVED] != NULL && out->repeat == 0)
        return peer_refuse(
            in, value[SAVED],
            "the network file does not say how often agents save their state; agree on a "
            "line such as 'checkpoint-every: 50' there, or remove this one");
    if (value[LOG] != NULL && out->deadline <= 0.0)
        return peer_refuse(in, value[LOG],
                           "log: without a deadline in the network file, every message is used in "
                           "its round; remove the line");
    if (value[WAIT] != NULL &&
        (!saddle_parse_real(value[WAIT]->value, &out->patience) || !(out->patience >= 1.0)))
        return peer_refuse(in, value[WAIT], "patience: '%s' is not a number of seconds, at least 1",
                           SADDLE_EXCERPT(value[WAIT]->value));
    if (out->patience < 2.0 * out->deadline)
        return saddle_refuse(in->error,
                             "'%s': with a deadline of %g seconds, patience must be at least %g "
                             "(got %g)",
                             in->path, out->deadline, 2.0 * out->deadline, out->patience);
    if (value[EVERY] != NULL &&
        (!saddle_parse_integer(value[EVERY]->value, &out->every) || out->every == 0))
        return peer_refuse(in, value[EVERY],
                           "every: '%s' is not a number of iterations, at least 1",
                           SADDLE_EXCERPT(value[EVERY]->value));
    if (value[THREADS] != NULL)
        SADDLE_TRY(saddle_plan_set(&out->plan, "threads", value[THREADS]->value, in->error));
    return SADDLE_OK;
}

/* Fails if an output would overwrite an input, such as the secret key. */
static saddle_status check_paths(const peer_reader *in, const char *network, const char *key)
{
    const peer_files *out = in->out;
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_path_list_add(&outputs, "model", out->model);
    saddle_path_list_add(&outputs, "trace", out->trace);
    saddle_path_list_add(&outputs, "log", out->log);
    saddle_path_list_add(&inputs, "the agent", in->path);
    saddle_path_list_add(&inputs, "network", network);
    saddle_path_list_add(&inputs, "key", key);
    saddle_path_list_add(&inputs, "data", out->data);
    saddle_plan_add_inputs(&out->plan, &inputs);
    return saddle_path_lists_check(&outputs, &inputs, in->error);
}

static saddle_status take_values(const peer_reader *in, const saddle_yaml_entry *const value[NAMES])
{
    peer_files *out = in->out;
    SADDLE_OWNED char *network = beside(in->path, value[NETWORK]->value);
    SADDLE_OWNED char *key = beside(in->path, value[KEY]->value);
    bool good = network != NULL && key != NULL;
    char **const path[] = {&out->data, &out->model, &out->trace, &out->log, &out->checkpoint};
    static const int of[] = {DATA, MODEL, TRACE, LOG, SAVED};
    const char *data = in->with->data;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        if (of[k] == DATA && data != NULL)
            good = (out->data = saddle_strdup(data)) != NULL && good;
        else if (value[of[k]] != NULL)
            good = (*path[k] = beside(in->path, value[of[k]]->value)) != NULL && good;
    if (value[LISTEN] != NULL)
        good = (out->listen = saddle_strdup(value[LISTEN]->value)) != NULL && good;
    if (!good)
        return saddle_no_memory(in->error, "an agent's file");
    /* Nobody measures the gap, which needs all agents. This also gives the plan its list of options. */
    SADDLE_TRY(saddle_plan_set(&out->plan, "gap", "never", in->error));
    SADDLE_TRY(peer_network_read(out, network, in->with, in->error));
    SADDLE_TRY(take_agent(in, value));
    SADDLE_TRY(take_rest(in, value));
    SADDLE_TRY(check_paths(in, network, key));
    return saddle_key_read(key, out->secret_key, in->error);
}

saddle_status peer_files_read(peer_files *out, const char *path, const saddle_peer_options *with,
                              saddle_error *error)
{
    peer_reader in = {.path = path, .out = out, .with = with, .error = error};
    saddle_yaml yaml = {.count = 0};
    const saddle_yaml_entry *value[NAMES] = {NULL};
    memset(out, 0, sizeof *out);
    saddle_plan_defaults(&out->plan, sizeof out->plan);
    saddle_status status = saddle_yaml_read(&yaml, path, error);
    SADDLE_THEN(status, list_values(&in, &yaml, value));
    SADDLE_THEN(status, take_values(&in, value));
    saddle_yaml_free(&yaml);
    return status;
}

void peer_files_free(peer_files *files)
{
    sodium_memzero(files->secret_key, sizeof files->secret_key);
    for (size_t i = 0; files->member != NULL && i < files->plan.network.agents; i++)
        saddle_free((void *)(uintptr_t)files->member[i].endpoint);
    saddle_free(files->member);
    saddle_free(files->listen);
    saddle_free(files->data);
    saddle_free(files->model);
    saddle_free(files->trace);
    saddle_free(files->log);
    saddle_free(files->checkpoint);
    saddle_store_close(files->store);
    saddle_graph_free(files->graph);
    saddle_plan_free(&files->plan);
}
