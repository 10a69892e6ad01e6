/* The networks of a report: drawings whose agents are coloured by their disagreement in the result of a run. */
#include "draw/network_drawing.h"
#include "draw/report_section.h"

/* Networks of more agents are not drawn on a page, nor are more drawings of one section. */
#define MOST_DRAWN 400
#define MOST_DRAWINGS 8

/* The drawings of a section: one for each group of runs whose first trace lists the disagreement, and one for each
 * network besides. */
typedef struct gallery {
    size_t count;
    const saddle_trace *trace[MOST_DRAWINGS];
    size_t group[MOST_DRAWINGS];
    size_t original[MOST_DRAWINGS]; /* the first drawing of the same network: it holds the edges */
    size_t coloured;
    double low, high; /* the ends of the colours */
    bool cut;         /* whether there would be more drawings */
} gallery;

/* How many agents the network of a run has that can be drawn; 0: none. */
static size_t drawable_agents(const saddle_trace *trace)
{
    uint64_t agents = 0;
    bool known = saddle_parse_integer(saddle_trace_setting(trace, "agents"), &agents);
    return known && agents <= MOST_DRAWN && *saddle_trace_setting(trace, "topology") != '\0'
               ? (size_t)agents
               : 0;
}

/* Whether a trace says how far each agent of its network is from consensus. A centralized algorithm has one
 * model, which has nothing to agree with. */
static bool is_coloured(const saddle_trace *trace)
{
    return trace->agents > 1 && trace->agents == drawable_agents(trace);
}

/* The first drawing of a trace's network; the next free place: there is none. */
static size_t find_original(const gallery *y, const saddle_trace *trace)
{
    static const char *const name[] = {"topology", "agents", "seed"};
    for (size_t k = 0; k < y->count; k++) {
        size_t same = 0;
        for (size_t s = 0; s < sizeof name / sizeof *name; s++)
            same += strcmp(saddle_trace_setting(y->trace[k], name[s]),
                           saddle_trace_setting(trace, name[s])) == 0;
        if (same == sizeof name / sizeof *name)
            return k;
    }
    return y->count;
}

/* Choose the drawings: groups with colours first, so that a network without any is drawn only if it has to be. */
static void choose_drawings(gallery *y, const report_section *r)
{
    *y = (gallery){.count = 0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < r->g->groups; k++) {
            const saddle_trace *trace = r->trace[r->g->group[k].first];
            size_t original = find_original(y, trace);
            bool coloured = is_coloured(trace);
            if (drawable_agents(trace) == 0 || coloured != (pass == 0) ||
                (!coloured && original < y->count))
                continue;
            y->cut = y->cut || y->count == MOST_DRAWINGS;
            if (y->count == MOST_DRAWINGS)
                continue;
            y->trace[y->count] = trace;
            y->group[y->count] = k;
            y->original[y->count++] = original;
            y->coloured += coloured;
        }
}

/* Widen the colours to the agents' disagreement at the end of a run and its mean at every row. */
static void widen(gallery *y, const saddle_trace *trace)
{
    const double *in_x = saddle_trace_column(trace, "x_consensus");
    const double *in_y = saddle_trace_column(trace, "y_consensus");
    for (size_t k = 0; in_x != NULL && in_y != NULL && k < trace->rows; k++) {
        double mean = (in_x[k] + in_y[k]) / (double)trace->agents;
        y->high = isfinite(mean) ? fmax(y->high, mean) : y->high;
    }
    for (size_t i = 0; i < trace->agents; i++) {
        double distance = trace->disagreement[i];
        y->high = fmax(y->high, distance);
        y->low = distance > 0.0 ? fmin(y->low, distance) : y->low;
    }
}

/* Choose the colours of all drawings: from agreement to the largest disagreement during any of the
 * runs. They span at least a decade, lest agents that are all as far look different, and at most
 * sixteen, because smaller distances are rounding. */
static void choose_colours(gallery *y)
{
    y->low = (double)INFINITY;
    for (size_t k = 0; k < y->count; k++)
        if (is_coloured(y->trace[k]))
            widen(y, y->trace[k]);
    y->low = fmax(fmin(y->low, 0.1 * y->high), 1e-16 * y->high);
}

/* The agents that are farthest from consensus and nearest to it. */
static void write_extremes(FILE *f, const saddle_trace *trace)
{
    const double *distance = trace->disagreement;
    size_t far = 0;
    size_t near = 0;
    for (size_t i = 1; i < trace->agents; i++) {
        far = distance[i] > distance[far] ? i : far;
        near = distance[i] < distance[near] ? i : near;
    }
    if (!(distance[far] > 0.0))
        fputs(" All agents agree exactly.", f);
    else
        report_put(f,
                   " Farthest: agent %zu, <span class=\"whole\">%.2g</span>; nearest: agent %zu, "
                   "<span class=\"whole\">%.2g</span>.",
                   far, distance[far], near, distance[near]);
}

/* What the colours mean. */
static void write_legend(FILE *f, const gallery *y)
{
    fputs("<p class=\"soft\">Agents are coloured by the squared distance of their results from "
          "consensus, |x<sub>i</sub> &minus; x&#772;|&sup2; + |y<sub>i</sub> &minus; "
          "y&#772;|&sup2;, from agreement to the largest disagreement during the runs:</p>\n",
          f);
    if (y->high > 0.0)
        report_put(f,
                   "<p class=\"colours\"><span class=\"whole\">%.2g</span><span class=\"ramp\" "
                   "role=\"img\" aria-label=\"colours from dark to bright\"></span><span "
                   "class=\"whole\">%.2g</span></p>\n",
                   y->low, y->high);
}

static saddle_status write_drawing(const report_section *r, const gallery *y, size_t k,
                                   saddle_error *error)
{
    const saddle_trace *trace = y->trace[k];
    bool coloured = is_coloured(trace);
    char edges[64];
    saddle_graph *graph = NULL;
    if (network_of_trace(&graph, trace, NULL) != SADDLE_OK ||
        graph->agents != drawable_agents(trace)) {
        report_put(r->f,
                   "<p class=\"soft\">The network %s cannot be made again: its file is gone or "
                   "has changed.</p>\n",
                   saddle_trace_setting(trace, "topology"));
        saddle_graph_free(graph);
        return SADDLE_OK;
    }
    saddle_snprintf(edges, sizeof edges, "edges-%zu-%zu", r->place, y->original[k]);
    fputs("<figure>\n", r->f);
    saddle_status status =
        network_write_svg(&(network_svg){.graph = graph,
                                         .distance = coloured ? trace->disagreement : NULL,
                                         .low = y->low,
                                         .high = y->high,
                                         .edges = edges,
                                         .repeated = y->original[k] < k},
                          r->f, error);
    fputs("<figcaption>", r->f);
    if (coloured)
        report_label(r, "", y->group[k], "");
    report_put(r->f, "<span class=\"soft\">%s%s, %zu agent%s, %zu edge%s, seed %s.",
               coloured ? ": " : "", saddle_trace_setting(trace, "topology"), graph->agents,
               SADDLE_PLURAL(graph->agents), graph->edges, SADDLE_PLURAL(graph->edges),
               saddle_trace_setting(trace, "seed"));
    if (coloured)
        write_extremes(r->f, trace);
    fputs("</span></figcaption>\n</figure>\n", r->f);
    saddle_graph_free(graph);
    return status;
}

/* Name the groups whose agents cannot be coloured although they have models of their own. */
static void write_missing(const report_section *r)
{
    size_t named = 0;
    for (size_t k = 0; k < r->g->groups; k++) {
        const saddle_trace *trace = r->trace[r->g->group[k].first];
        if (drawable_agents(trace) < 2 || trace->agents > 0)
            continue;
        report_put(r->f, named++ == 0 ? "<p class=\"soft\">Not coloured: %s" : ", %s",
                   r->g->group[k].label);
    }
    if (named > 0)
        fputs(". The trace does not list the agents' distances from consensus: the run is not "
              "over, failed or diverged, or an earlier version wrote it.</p>\n",
              r->f);
}

saddle_status report_networks(const report_section *r, saddle_error *error)
{
    gallery y;
    choose_drawings(&y, r);
    choose_colours(&y);
    if (y.count == 0)
        return SADDLE_OK;
    report_put(r->f, "<div class=\"card\">\n<h3>Network%s</h3>\n<div class=\"networks\">\n",
               y.coloured > 0 ? " and disagreement" : "");
    for (size_t k = 0; k < y.count; k++)
        SADDLE_TRY(write_drawing(r, &y, k, error));
    fputs("</div>\n", r->f);
    if (y.coloured > 0)
        write_legend(r->f, &y);
    write_missing(r);
    if (y.cut)
        report_put(r->f, "<p class=\"soft\">The first %zu are drawn.</p>\n", y.count);
    fputs("</div>\n", r->f);
    return SADDLE_OK;
}
