#include "draw/network_drawing.h"

#include "draw/gnuplot.h"
#include "draw/network_layout.h"
#include "files/file.h"

/* Agents are numbered up to this many of them; drawings on a page are smaller. */
#define MOST_NUMBERED 64
#define MOST_NUMBERED_ON_PAGE 40
/* Side of a drawing in pixels. */
#define SIDE 560

/* Radius of an agent in pixels, smaller if there are many. */
static double radius(size_t agents)
{
    double r = 0.11 * (double)SIDE / sqrt((double)agents);
    return fmin(18.0, fmax(1.5, r));
}

/* Darkness of the edges, fainter if there are many. */
static double edge_darkness(const saddle_graph *graph)
{
    return fmin(0.7, fmax(0.08, 120.0 / (double)(graph->edges + 120)));
}

/* ---- colours of distances ---- */

/* Cividis, which is read alike by all eyes; dark is near. */
#define SHADES 5
static const unsigned shades[SHADES] = {0x00224e, 0x434e6c, 0x7d7c78, 0xbcae6c, 0xfee838};

/* The colour of a distance, by its logarithm. */
static unsigned shade_of(double distance, double low, double high)
{
    double place = high > low ? log(fmax(distance, low) / low) / log(high / low)
                              : (distance > 0.0 ? 1.0 : 0.0);
    double step = fmin(fmax(place, 0.0), 1.0) * (SHADES - 1);
    size_t k = step < SHADES - 2 ? (size_t)step : SHADES - 2;
    unsigned colour = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double from = (double)((shades[k] >> shift) & 0xFF);
        double to = (double)((shades[k + 1] >> shift) & 0xFF);
        colour = (colour << 8) | (unsigned)(from + (step - (double)k) * (to - from) + 0.5);
    }
    return colour;
}

/* Black or white, whichever is read better on a colour. */
static unsigned colour_on(unsigned colour)
{
    static const double weight[] = {0.2126, 0.7152, 0.0722};
    double light = 0.0;
    for (int k = 0; k < 3; k++) {
        double channel = (double)((colour >> (16 - 8 * k)) & 0xFF) / 255.0;
        light += weight[k] *
                 (channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4));
    }
    /* Where the contrasts with black and with white are the same. */
    return light > 0.179 ? 0x000000 : 0xFFFFFF;
}

/* Call for every edge once. */
#define FOR_EDGES(graph, i, j, k)                                             \
    for (size_t i = 0; i < (graph)->agents; i++)                              \
        for (size_t k = (graph)->start[i], j; k < (graph)->start[i + 1]; k++) \
            if ((j = (graph)->neighbour[k]) > i)

/* ---- graphviz ------------------------------------------------------------------------------ */

static saddle_status write_dot(const saddle_graph *graph, const network_layout *at,
                               const char *path, saddle_error *error)
{
    saddle_output file;
    SADDLE_TRY(saddle_output_open(&file, path, error));
    FILE *f = file.stream;
    fputs("// Positions are fixed: neato -n2 draws them as they are.\n"
          "graph network {\n    node [shape=circle fixedsize=true width=0.3];\n",
          f);
    for (size_t i = 0; i < graph->agents; i++)
        saddle_fprintf(f, "    %zu [pos=\"%.1f,%.1f\"];\n", i, 400.0 * at->x[i], 400.0 * at->y[i]);
    FOR_EDGES(graph, i, j, k)
    saddle_fprintf(f, "    %zu -- %zu;\n", i, j);
    fputs("}\n", f);
    return saddle_output_commit(&file, error);
}

/* ---- gnuplot ------------------------------------------------------------------------------- */

static void write_network(FILE *f, const saddle_graph *graph, const network_layout *at)
{
    fputs("$edges << EOD\n", f);
    FOR_EDGES(graph, i, j, k)
    saddle_fprintf(f, "%.5f %.5f\n%.5f %.5f\n\n", at->x[i], at->y[i], at->x[j], at->y[j]);
    fputs("EOD\n$agents << EOD\n", f);
    for (size_t i = 0; i < graph->agents; i++)
        saddle_fprintf(f, "%.5f %.5f %zu\n", at->x[i], at->y[i], i);
    double size = 1.12 * radius(graph->agents) / SIDE;
    fputs("EOD\nunset border\nunset xtics\nunset ytics\nunset key\nset xrange [-0.06:1.06]\n"
          "set yrange [-0.06:1.06]\nset size ratio -1\nplot ",
          f);
    if (graph->edges > 0)
        saddle_fprintf(f, "$edges using 1:2 with lines lw 1.1 lc rgb '#%02x333333', ",
                       (unsigned)(255.0 * (1.0 - edge_darkness(graph))));
    /* A white rim separates an agent from the edges that pass behind it. */
    saddle_fprintf(f,
                   "$agents using 1:2:(%.5f) with circles fs solid noborder fc rgb '#ffffff', "
                   "$agents using 1:2:(%.5f) with circles fs solid noborder fc rgb '#0072b2'",
                   1.2 * size, size);
    if (graph->agents <= MOST_NUMBERED)
        saddle_fprintf(f, ", $agents using 1:2:3 with labels font ',%d' tc rgb '#ffffff'",
                       graph->agents <= 24 ? 9 : 7);
    fputc('\n', f);
}

saddle_status network_draw(const saddle_graph *graph, const char *path, saddle_error *error)
{
    SADDLE_OWNED_BY(network_layout_release) network_layout at = {.agents = 0};
    gnuplot_kind kind;
    FILE *script;
    SADDLE_TRY(gnuplot_kind_of("drawing", path, GNUPLOT_DOT, &kind, error));
    SADDLE_TRY(network_layout_make(&at, graph, error));
    if (kind == GNUPLOT_DOT)
        return write_dot(graph, &at, path, error);
    SADDLE_TRY(gnuplot_open(&script, error));
    gnuplot_terminal(script, kind, SIDE, SIDE);
    write_network(script, graph, &at);
    return gnuplot_save(script, path, error);
}

/* ---- a page -------------------------------------------------------------------------------- */

/* Radius of an agent where the drawing is 100 wide: most agents do not touch the one next to them. */
static double page_radius(const network_layout *at)
{
    double sum = 0.0;
    for (size_t i = 0; i < at->agents; i++) {
        double nearest = 1.0;
        for (size_t j = 0; j < at->agents; j++)
            if (j != i)
                nearest = fmin(nearest, hypot(at->x[i] - at->x[j], at->y[i] - at->y[j]));
        sum += nearest;
    }
    double m = (double)at->agents;
    return fmax(0.5, fmin(fmin(6.0, 16.0 / sqrt(m)), 42.0 * sum / m));
}

static void write_agent(const network_svg *n, FILE *stream, size_t i, const network_layout *at,
                        double r)
{
    double x = 100.0 * at->x[i];
    double y = 100.0 - 100.0 * at->y[i];
    unsigned shade = n->distance != NULL ? shade_of(n->distance[i], n->low, n->high) : 0;
    saddle_fprintf(stream, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", x, y, r);
    if (n->distance != NULL)
        saddle_fprintf(stream, " style=\"fill:#%06x\"><title>agent %zu: %.3g</title></circle>\n",
                       shade, i, n->distance[i]);
    else
        saddle_fprintf(stream, "><title>agent %zu</title></circle>\n", i);
    if (n->graph->agents > MOST_NUMBERED_ON_PAGE)
        return;
    saddle_fprintf(stream, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.2f\"", x, y, 1.1 * r);
    if (n->distance != NULL)
        saddle_fprintf(stream, " style=\"fill:#%06x\"", colour_on(shade));
    saddle_fprintf(stream, ">%zu</text>\n", i);
}

/* Open an <svg> element that is as high as the layout needs. */
static void open_svg(const network_svg *n, FILE *stream, const network_layout *at)
{
    double low = 1.0;
    double high = 0.0;
    for (size_t i = 0; i < n->graph->agents; i++) {
        low = fmin(low, at->y[i]);
        high = fmax(high, at->y[i]);
    }
    saddle_fprintf(stream,
                   "<svg class=\"network\" viewBox=\"-7 %.2f 114 %.2f\" role=\"img\" "
                   "aria-label=\"network of %zu agent%s and %zu edge%s%s\">\n",
                   93.0 - 100.0 * high, 14.0 + 100.0 * (high - low), n->graph->agents,
                   SADDLE_PLURAL(n->graph->agents), n->graph->edges, SADDLE_PLURAL(n->graph->edges),
                   n->distance != NULL ? ", agents coloured by their distance from consensus" : "");
}

saddle_status network_write_svg(const network_svg *n, FILE *stream, saddle_error *error)
{
    network_layout at;
    const saddle_graph *graph = n->graph;
    SADDLE_TRY(network_layout_make(&at, graph, error));
    double r = page_radius(&at);
    open_svg(n, stream, &at);
    if (n->repeated) {
        saddle_fprintf(stream, "<use href=\"#%s\"/>\n", n->edges);
    } else {
        saddle_fprintf(stream, "<path id=\"%s\" class=\"edges\" stroke-opacity=\"%.2f\" d=\"",
                       n->edges, edge_darkness(graph));
        FOR_EDGES(graph, i, j, k)
        saddle_fprintf(stream, "M%.2f %.2fL%.2f %.2f", 100.0 * at.x[i], 100.0 - 100.0 * at.y[i],
                       100.0 * at.x[j], 100.0 - 100.0 * at.y[j]);
        fputs("\"/>\n", stream);
    }
    for (size_t i = 0; i < graph->agents; i++)
        write_agent(n, stream, i, &at, r);
    fputs("</svg>\n", stream);
    network_layout_release(&at);
    return SADDLE_OK;
}

/* ---- of a run ------------------------------------------------------------------------------ */

saddle_status network_of_trace(saddle_graph **out, const saddle_trace *trace, saddle_error *error)
{
    const char *topology = saddle_trace_setting(trace, "topology");
    uint64_t agents = 0;
    uint64_t seed = 0;
    *out = NULL;
    if (*topology == '\0' ||
        !saddle_parse_integer(saddle_trace_setting(trace, "agents"), &agents) ||
        !saddle_parse_integer(saddle_trace_setting(trace, "seed"), &seed))
        return saddle_refuse(error,
                             "'%.300s' does not record the topology, agents and seed of its run",
                             trace->path);
    return saddle_graph_create(out, topology, (size_t)agents, seed, error);
}
