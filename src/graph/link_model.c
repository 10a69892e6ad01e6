#include "graph/link_model.h"

#include "graph/reading.h"

#define EXAMPLE "latency:0.02,bandwidth:125000,compute:1e-6"

enum { LATENCY, BANDWIDTH, COMPUTE, COSTS };
static const char *const cost_name[COSTS] = {"latency", "bandwidth", "compute"};

/* NaN: not given. */
typedef struct costs {
    double value[COSTS];
} costs;

static costs no_costs(void)
{
    return (costs){{(double)NAN, (double)NAN, (double)NAN}};
}

/* Returns the cost that a word of `length` letters names; COSTS when there is none. */
static size_t find_cost(const char *word, size_t length)
{
    size_t k = 0;
    while (k < COSTS &&
           (strlen(cost_name[k]) != length || strncmp(cost_name[k], word, length) != 0))
        k++;
    return k;
}

/* Parses a cost. */
static saddle_status set_cost(costs *to, size_t cost, const char *text, saddle_error *error)
{
    static const char *const range[COSTS] = {
        "a number of seconds, 0 or more", "a number of bytes per second above 0",
        "the seconds of a gradient evaluation (IFO call), 0 or more"};
    double value;
    if (!isnan(to->value[cost]))
        return saddle_refuse(error, "%s is given twice; leave one out", cost_name[cost]);
    if (!saddle_parse_real(text, &value) || !(value >= 0.0) || (cost == BANDWIDTH && value <= 0.0))
        return saddle_refuse(error, "%s must be %s (got '%s')%s", cost_name[cost], range[cost],
                             SADDLE_EXCERPT(text),
                             cost == BANDWIDTH ? "; leave it out for links without a limit" : "");
    to->value[cost] = value;
    return SADDLE_OK;
}

/* ---- the same costs for all ---- */

bool saddle_link_model_is_file(const char *text)
{
    size_t length = strcspn(text, ":");
    return text[length] != ':' || find_cost(text, length) == COSTS;
}

/* Parses "latency:0.02,compute:1e-6". */
static saddle_status read_uniform(costs *out, const char *text, saddle_error *error)
{
    size_t piece;
    for (const char *at; (at = saddle_next_item(&text, &piece)) != NULL;) {
        char value[64] = "";
        size_t name = strcspn(at, ":,");
        size_t cost = find_cost(at, name);
        if (at[name] != ':' || cost == COSTS)
            return saddle_refuse(error,
                                 "'%s' is not latency:SECONDS, bandwidth:BYTES_PER_SECOND or "
                                 "compute:SECONDS_PER_IFO; write it as in " EXAMPLE,
                                 saddle_excerpt_of(at, at + piece).text);
        size_t length = piece - name - 1;
        if (length < sizeof value)
            memcpy(value, at + name + 1, length);
        SADDLE_TRY(set_cost(out, cost, length < sizeof value ? value : at, error));
    }
    return SADDLE_OK;
}

/* ---- a file ---- */

#define FORM "a line begins with `default`, `agent I` or `edge I J`"

typedef struct reading {
    const saddle_graph *graph;
    saddle_link_model *model;
    costs fallback;
    bool has_fallback;
} reading;

/* Reads the remaining pairs of a line, at least one. `allowed` has a bit for each cost. */
static saddle_status read_pairs(saddle_line_reader *in, unsigned allowed, costs *out,
                                saddle_error *error)
{
    const char *kinds = allowed == 1U << COMPUTE        ? "compute S"
                        : (allowed >> COMPUTE) % 2 == 0 ? "latency S or bandwidth B"
                                                        : "latency S, bandwidth B or compute S";
    size_t pairs = 0;
    const char *word;
    *out = no_costs();
    for (; (word = saddle_line_reader_field(in, " \t")) != NULL; pairs++) {
        size_t cost = find_cost(word, strlen(word));
        if (cost == COSTS || (allowed >> cost) % 2 == 0)
            return saddle_line_reader_refuse(
                in, word, error, "'%s' %s; give %s", SADDLE_EXCERPT(word),
                cost == COSTS ? "is unknown" : "is not allowed in this line", kinds);
        const char *number = saddle_line_reader_field(in, " \t");
        saddle_error said = {.message = ""};
        if (number == NULL)
            return saddle_line_reader_refuse(in, in->rest, error,
                                             "the line ends after %s; a number must follow", word);
        if (set_cost(out, cost, number, &said) != SADDLE_OK)
            return saddle_line_reader_refuse(in, number, error, "%s", said.message);
    }
    if (pairs == 0)
        return saddle_line_reader_refuse(in, in->rest, error, "the line ends without %s", kinds);
    return SADDLE_OK;
}

/* Reads "agent I compute S". */
static saddle_status read_agent_line(reading *r, saddle_line_reader *in, saddle_error *error)
{
    size_t i = 0;
    costs own;
    const char *word = in->rest;
    SADDLE_TRY(saddle_read_agent(in, r->graph->agents, FORM, &i, error));
    if (!isnan(r->model->compute[i]))
        return saddle_line_reader_refuse(in, word, error,
                                         "agent %zu already has a line; remove one of the two", i);
    SADDLE_TRY(read_pairs(in, 1U << COMPUTE, &own, error));
    r->model->compute[i] = own.value[COMPUTE];
    return SADDLE_OK;
}

/* Reads "edge I J latency S bandwidth B". */
static saddle_status read_edge_line(reading *r, saddle_line_reader *in, saddle_error *error)
{
    size_t agent[2];
    size_t link = 0;
    costs own;
    saddle_link_model *m = r->model;
    const char *word = in->rest;
    SADDLE_TRY(saddle_read_link(in, r->graph, FORM, agent, &link, error));
    size_t back = saddle_graph_position(r->graph, agent[1], agent[0]);
    if (!isnan(m->latency[link]) || !isnan(m->bandwidth[link]))
        return saddle_line_reader_refuse(
            in, word, error, "the edge %zu %zu already has a line; remove one of the two", agent[0],
            agent[1]);
    SADDLE_TRY(read_pairs(in, 1U << LATENCY | 1U << BANDWIDTH, &own, error));
    m->latency[link] = m->latency[back] = own.value[LATENCY];
    m->bandwidth[link] = m->bandwidth[back] = own.value[BANDWIDTH];
    return SADDLE_OK;
}

static saddle_status read_line(saddle_line_reader *in, void *context, saddle_error *error)
{
    reading *r = context;
    const char *word = saddle_line_reader_field(in, " \t");
    if (strcmp(word, "agent") == 0)
        return read_agent_line(r, in, error);
    if (strcmp(word, "edge") == 0)
        return read_edge_line(r, in, error);
    if (strcmp(word, "default") != 0)
        return saddle_line_reader_refuse(in, word, error,
                                         "'%s' does not begin a line of a link model; begin lines "
                                         "with default, agent I or edge I J",
                                         SADDLE_EXCERPT(word));
    if (r->has_fallback)
        return saddle_line_reader_refuse(in, word, error,
                                         "there is already a default; remove one of the two");
    r->has_fallback = true;
    return read_pairs(in, (1U << COSTS) - 1, &r->fallback, error);
}

static saddle_status read_file(saddle_link_model *model, const char *path,
                               const saddle_graph *graph, costs *fallback, saddle_error *error)
{
    reading r = {.graph = graph, .model = model, .fallback = no_costs()};
    SADDLE_TRY(saddle_read_lines(path, "the path of a link model or a text such as " EXAMPLE,
                                 read_line, &r, error));
    *fallback = r.fallback;
    return SADDLE_OK;
}

/* ---- the model ---- */

/* Allocates an array of numbers that are not given; NULL when memory is short. */
static double *take_array(size_t count)
{
    double *value = saddle_alloc_doubles(count);
    for (size_t k = 0; value != NULL && k < count; k++)
        value[k] = (double)NAN;
    return value;
}

/* Sets the numbers that are not given. */
static void fill(double *value, size_t count, double with)
{
    for (size_t k = 0; k < count; k++)
        if (isnan(value[k]))
            value[k] = with;
}

/* Sets costs that have no own value to the value for all, or else to no cost. */
static void complete(saddle_link_model *m, const saddle_graph *graph, costs all)
{
    size_t links = 2 * graph->edges;
    fill(&all.value[LATENCY], 1, 0.0);
    fill(&all.value[BANDWIDTH], 1, (double)INFINITY);
    fill(&all.value[COMPUTE], 1, 0.0);
    fill(m->latency, links, all.value[LATENCY]);
    fill(m->bandwidth, links, all.value[BANDWIDTH]);
    fill(m->compute, graph->agents, all.value[COMPUTE]);
    m->default_compute = all.value[COMPUTE];
}

saddle_status saddle_link_model_create(saddle_link_model **out, const char *text,
                                       const saddle_graph *graph, saddle_error *error)
{
    costs all = no_costs();
    *out = NULL;
    saddle_link_model *m = saddle_alloc(1, sizeof *m);
    SADDLE_TRY(saddle_check_memory(m, "the link model", error));
    m->compute = take_array(graph->agents);
    m->latency = take_array(2 * graph->edges);
    m->bandwidth = take_array(2 * graph->edges);
    saddle_status status = SADDLE_OK;
    if (m->compute == NULL || m->latency == NULL || m->bandwidth == NULL)
        status = saddle_no_memory(error, "the link model");
    else if (saddle_link_model_is_file(text))
        status = read_file(m, text, graph, &all, error);
    else
        status = read_uniform(&all, text, error);
    if (status != SADDLE_OK) {
        saddle_link_model_free(m);
        return saddle_in_field("--link-model", status, error);
    }
    complete(m, graph, all);
    *out = m;
    return SADDLE_OK;
}

void saddle_link_model_free(saddle_link_model *m)
{
    if (m == NULL)
        return;
    saddle_free(m->compute);
    saddle_free(m->latency);
    saddle_free(m->bandwidth);
    saddle_free(m);
}
